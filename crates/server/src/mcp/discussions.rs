//! Discussions as tools.

use super::row::{Effect, Row};

pub const ROWS: [Row; 1] = [Row {
    title: "Start a discussion",
    description: "Has several agents discuss a topic turn by turn, led by a facilitator who asks \
                  the questions, picks who speaks next and writes the conclusion. Use it when \
                  views should meet and answer each other; boardroom_convene is quicker when \
                  separate opinions will do. It returns at once with an `id`; call session_wait \
                  with it to get the conclusion. `topic` alone will do: who leads and takes part \
                  is then chosen to suit the format. agents_list names the agents that are there.",
    effect: Effect { reads_only: false, destroys: false, repeats: false, reaches_out: true },
    hidden: &["start"],
    sent: &[("start", true)],
    // A handle: what comes later is told by session_wait.
    kept: &["id", "name", "status", "max_rounds", "seat_tokens"],
    next: &[
        "Call session_wait with this id to get the conclusion when it is there.",
        "Call session_get with this id at any time to see how far it is.",
    ],
    ..Row::post("discussion_start", "/api/discussions")
}];
