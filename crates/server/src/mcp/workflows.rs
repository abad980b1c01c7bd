//! Workflows as tools.

use super::row::{Acts, Next, Row};

pub const ROWS: [Row; 4] = [
    Row {
        title: "Run a workflow",
        description: "Runs a stored workflow (`workflow`), or a file (`source`, YAML): steps that \
                      open, feed, wait for and harvest boards, discussions, whiteboards and \
                      councils. Returns an `id` at once: call session_wait with it.",
        hidden: &["starter"],
        // A handle: what comes later is told by session_wait and workflow_status.
        kept: &["id", "workflow", "title", "status"],
        next: Next::Words(&["Call session_wait with this id, and workflow_status for its steps."]),
        typed: true,
        ..Row::post("workflow_run", "/api/runs")
    },
    Row {
        title: "Get a run of a workflow",
        description: "Tells how far a run is, step by step: status and reason, what each was given \
                      and gave, whom it waits for, the sessions that it opened. It does not wait.",
        described: &[("id", "The run's id.")],
        ..Row::get("workflow_status", "/api/runs/{id}")
    },
    Row {
        title: "Decide on a step",
        description: "Approves, rejects or asks for changes of a step that waits for people, as a \
                      person whose token you were given. Rejecting needs a `reason`.",
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
        description: "Sends a signal that steps of workflows wait for. All waits that it matches \
                      go on; `nearly` names those that want it otherwise.",
        next: Next::Words(&["Call workflow_status with the `run` of a wait that it matched."]),
        ..Row::post("workflow_signal", "/api/signals")
    },
];
