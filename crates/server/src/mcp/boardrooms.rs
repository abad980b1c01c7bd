//! Boardrooms as tools.

use super::row::{Next, Row, SETTLES};

pub const ROWS: [Row; 3] = [CONVENE, PICK, FOLLOW_UP];

const CONVENE: Row = Row {
    title: "Convene a boardroom",
    description: "Puts a question to several models at once, each in its own role (advocate, \
                  critic, …); a verdict follows, and with `ballot` their votes on it. `prompt` \
                  alone is enough. Returns an `id` at once: call session_wait with it.",
    described: &[
        ("board", "By name (boards_list); `classic-triad` by default."),
        ("models", "Models to seat in turn; by default those available."),
        ("ballot", "The advisors vote on its points."),
        ("quorum", "Minimum answers."),
        ("open_answers", "People see the other answers before they give theirs."),
    ],
    hidden: &[
        "boardFile",
        "temperature",
        "outputTokens",
        "language",
        "synthesisPrompt",
        // How a role of one's own looks is for whoever has a screen.
        "advisors.initials",
        "advisors.colour",
        "advisors.glyph",
    ],
    // A handle: what comes later is told by session_wait.
    kept: &["id", "title", "status", "seat_tokens"],
    next: WAIT,
    typed: true,
    ..Row::post("boardroom_convene", "/api/boardrooms")
};

const PICK: Row = Row {
    title: "Pick an answer",
    description: "Picks one of an advisor's answers (`tries`) for what follows.",
    described: &[("id", "The board's id."), ("advisor", "Its number."), ("try", "Which answer.")],
    kept: &["id", "title", "status"],
    effect: SETTLES,
    next: Next::Words(&["Call boardroom_follow_up to continue it."]),
    ..Row::post("boardroom_pick", "/api/boardrooms/{id}/advisors/{advisor}/pick")
};

const FOLLOW_UP: Row = Row {
    title: "Ask a board a follow-up",
    description: "Puts a further question to a board that is done: each advisor sees its own \
                  answers and the verdict so far.",
    described: &[
        ("id", "The board's id."),
        ("prompt", "The next question; `@critic …` asks one of them."),
    ],
    hidden: &["advisors"],
    kept: &["id", "title", "status"],
    next: WAIT,
    ..Row::post("boardroom_follow_up", "/api/boardrooms/{id}/follow-up")
};

const WAIT: Next =
    Next::Words(&["Call session_wait with this id to get the verdict when it is ready."]);
