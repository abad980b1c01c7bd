//! Sessions of every form as tools.

use rmcp::model::JsonObject;
use serde_json::Value;

use super::row::{Acts, Effect, Next, Row, Run};

const ID: (&str, &str) = ("id", "The session's id.");

pub const ROWS: [Row; 4] = [
    Row {
        title: "List sessions",
        description: "Lists sessions of every kind, newest first; `q` searches their text.",
        hidden: &["project", "active", "waiting", "pinned", "facts"],
        described: &[("cursor", "`next_cursor` of the previous page.")],
        items: "sessions",
        next: Next::Words(&["Call session_get with an id."]),
        ..Row::get("sessions_list", "/api/sessions")
    },
    Row {
        title: "Get a session",
        description: "Shows a session's progress and its outcome (`result`, Markdown). It does not \
                      wait.",
        described: &[
            ID,
            ("detail", "`full` returns the whole record, page by page."),
            ("agent_token", "The `seat_token` of a person, to see what they may see."),
        ],
        acts: Some(Acts { name: "", place: "id", given_by: "boardroom_convene" }),
        next: Next::Made(next),
        typed: true,
        pages: true,
        ..Row::get("session_get", "/api/sessions/{id}")
    },
    Row {
        title: "Wait for a session",
        description: "Waits until a session is over, or something happens (a phase, a post, a turn, \
                      a question to a person), or the time is up. While `over` is false, call it \
                      again with the `seen` of the last answer. Giving up stops nothing.",
        described: &[
            ID,
            ("seconds", "How long to wait at most; 50 by default, which suits most clients."),
            ("seen", "`seen` of the last answer: what happened since is returned at once."),
            ("agent_token", "As in session_get."),
        ],
        acts: Some(Acts { name: "", place: "id", given_by: "boardroom_convene" }),
        next: Next::Made(next),
        typed: true,
        run: Run::Wait,
        ..Row::get("session_wait", "/api/sessions/{id}/wait")
    },
    Row {
        title: "Stop a session",
        description: "Stops a running session at once: calls in progress are cut off, what has \
                      arrived is kept. Only if the result is no longer wanted.",
        described: &[ID, ("agent_token", "Of a whiteboard's leader.")],
        acts: Some(Acts { name: "", place: "id", given_by: "whiteboard_open" }),
        // The answers that were being written are lost.
        effect: Effect { destroys: true, repeats: true },
        next: Next::Made(next),
        typed: true,
        ..Row::post("session_stop", "/api/sessions/{id}/stop")
    },
];

/// What can be done with a session by these tools. The route speaks of more, which is
/// for people.
fn next(report: &JsonObject) -> Vec<String> {
    let text = |field: &str| report.get(field).and_then(Value::as_str).unwrap_or_default();
    let mut next = vec![];
    let awaited: Vec<&str> = report
        .get("waits_for")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if !awaited.is_empty() {
        next.push(format!("{} must reply; that is for a person to do.", awaited.join(", ")));
    }
    if report.get("over") != Some(&Value::Bool(true)) {
        next.push("Call session_wait with this id and this `seen` to keep waiting.".to_owned());
    }
    match text("kind") {
        "whiteboard" => next.push(format!(
            "Call whiteboard_state with board_id {:?} to see it as one of its agents.",
            text("name")
        )),
        "council" => next.push(format!("Call council_read with council {:?}.", text("name"))),
        _ => {}
    }
    next.push("Call session_get with `detail: full` for the whole record.".to_owned());
    next
}
