//! Discussions as tools.

use super::row::{Next, Row};

pub const ROWS: [Row; 1] = [Row {
    title: "Start a discussion",
    description: "Agents discuss a topic turn by turn, led by a facilitator who asks, picks who \
                  speaks next and concludes. Use it when views should answer each other. `topic` \
                  alone is enough; agents_list names who can be seated. Returns an `id` at once: \
                  call session_wait with it.",
    described: &[("facilitator", "Who leads, in place of moderator_id.")],
    hidden: &["start", "budgetTokens"],
    sent: &[("start", true)],
    // A handle: what comes later is told by session_wait.
    kept: &["id", "name", "status", "max_rounds", "seat_tokens"],
    next: Next::Words(&["Call session_wait with this id: it reports each turn, and the end."]),
    typed: true,
    ..Row::post("discussion_start", "/api/discussions")
}];
