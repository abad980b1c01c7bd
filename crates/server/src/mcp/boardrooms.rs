//! Boardrooms as tools.

use super::row::{Effect, Row};

pub const ROWS: [Row; 1] = [Row {
    title: "Convene a boardroom",
    description: "Puts one question to several advisors at once, each with a role of its own \
                  (advocate, critic, analyst, …), and has a synthesis written from their answers. \
                  Use it for decisions that deserve more than one view. It returns at once with \
                  an `id`; call session_wait with it to get the synthesis. `prompt` alone will do: \
                  the board is then the classic triad, with models that are there. With `ballot`, \
                  the advisors also vote on each point of the synthesis.",
    effect: Effect { reads_only: false, destroys: false, repeats: false, reaches_out: true },
    // A handle: what comes later is told by session_wait.
    kept: &["id", "title", "status", "seat_tokens"],
    next: &[
        "Call session_wait with this id to get the synthesis when it is there.",
        "Call session_get with this id at any time to see how far it is.",
    ],
    ..Row::post("boardroom_convene", "/api/boardrooms")
}];
