//! Workflows as tools.

use super::row::{Acts, Next, Row};

pub const ROWS: [Row; 4] = [
    Row {
        title: "Run a workflow",
        description: "Runs a saved workflow (`workflow`), or a file (`source`, YAML): steps that \
                      use boards, discussions, whiteboards and councils. Returns an `id` at once: \
                      call session_wait with it.",
        hidden: &["starter"],
        // A handle: what comes later is told by session_wait and workflow_status.
        kept: &["id", "workflow", "title", "status"],
        next: Next::Words(&["Call session_wait with this id, and workflow_status for its steps."]),
        typed: true,
        ..Row::post("workflow_run", "/api/runs")
    },
    Row {
        title: "Get a run of a workflow",
        description: "Shows a run's progress, step by step: status and reason, input and output, \
                      whom it is waiting for, the sessions it opened. It does not wait.",
        described: &[("id", "The run's id.")],
        ..Row::get("workflow_status", "/api/runs/{id}")
    },
    Row {
        title: "Decide on a step",
        description: "Approves, rejects or asks for changes to a step that is waiting for people, \
                      as a person whose token you were given. Rejecting needs a `reason`.",
        described: &[
            ("id", "The run's id."),
            ("step", "The step's `place`, as workflow_status has it."),
            ("agent_token", "The token of the person who decides."),
        ],
        acts: Some(Acts { name: "", place: "id", given_by: "the operator of the server" }),
        hidden: &["by"],
        kept: &["id", "status", "waits_for", "next"],
        ..Row::post("workflow_approve", "/api/runs/{id}/steps/{step}/approve")
    },
    Row {
        title: "Send a signal",
        description: "Sends a signal to the workflow steps that wait for it. Steps it matches \
                      continue; `nearly` names those that expect other fields.",
        next: Next::Words(&["Call workflow_status with the `run` of a wait that it matched."]),
        ..Row::post("workflow_signal", "/api/signals")
    },
];
