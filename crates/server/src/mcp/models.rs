//! Models as tools.

use super::row::Row;

pub const ROWS: [Row; 1] = [Row {
    title: "List models",
    description: "Lists the models that can be used now, as `provider/model`. Use it before \
                  boardroom_convene when particular models are wanted; a board can be convened \
                  without it.",
    items: "models",
    next: &[
        "Give any of these names to boardroom_convene, in `models`, `advisors` or `synthesizer`.",
    ],
    ..Row::get("models_list", "/api/models")
}];
