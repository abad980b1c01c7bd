//! Models as tools.

use super::row::{Next, Row};

pub const ROWS: [Row; 1] = [Row {
    title: "List models",
    description: "Lists the models that can be used now, as `provider/model`. Only needed if you \
                  want particular models.",
    items: "models",
    next: Next::Words(&[
        "Give these names to boardroom_convene, discussion_start or council_open.",
    ]),
    ..Row::get("models_list", "/api/models")
}];
