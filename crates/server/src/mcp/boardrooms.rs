//! Boardrooms as tools.

use super::row::{Next, Row};

pub const ROWS: [Row; 1] = [Row {
    title: "Convene a boardroom",
    description: "Puts a question to several models at once, each in a role of its own (advocate, \
                  critic, …); a synthesis follows, and with `ballot` their votes on it. `prompt` \
                  alone will do. Returns an `id` at once: call session_wait with it.",
    described: &[("quorum", "How many answers suffice, and how long the others still have.")],
    // A handle: what comes later is told by session_wait.
    kept: &["id", "title", "status"],
    next: Next::Words(&["Call session_wait with this id to get the synthesis when it is there."]),
    typed: true,
    ..Row::post("boardroom_convene", "/api/boardrooms")
}];
