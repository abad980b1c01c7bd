//! Sessions of every form as tools.

use super::row::{Effect, Row, Run};

const ID: (&str, &str) = ("id", "The session's id, from the tool that began it.");

pub const ROWS: [Row; 3] = [
    Row {
        title: "Get a session",
        description: "Tells how far a session of any kind is, what came of it so far (`result`, \
                      Markdown) and what can be done next. `detail: full` gives the whole record, \
                      with every advisor's answer. It does not wait: use session_wait for that.",
        described: &[
            ID,
            ("detail", "`brief` (the default) gives the synthesis, `full` the whole record."),
        ],
        ..Row::get("session_get", "/api/sessions/{id}")
    },
    Row {
        title: "Wait for a session",
        description: "Waits until a session is over and then gives its result, or gives where it \
                      stands when the time is over. Use it after a tool that began a session. \
                      While `over` is false, call it again. Giving up the wait stops nothing.",
        described: &[
            ID,
            (
                "seconds",
                "How long to wait at most: 50 by default, below the usual time limit of clients.",
            ),
        ],
        hidden: &["seen"],
        run: Run::Wait,
        ..Row::get("session_wait", "/api/sessions/{id}/wait")
    },
    Row {
        title: "Stop a session",
        description: "Stops a running session at once; what has arrived is kept. Use it only when \
                      the result is not wanted any more: a session ends by itself.",
        described: &[ID],
        effect: Effect { reads_only: false, destroys: true, repeats: true, reaches_out: false },
        ..Row::post("session_stop", "/api/sessions/{id}/stop")
    },
];
