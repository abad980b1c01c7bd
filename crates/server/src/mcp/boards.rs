//! Saved boards as tools.

use super::row::{Next, Row};

pub const ROWS: [Row; 1] = [Row {
    title: "List boards",
    description: "Lists the boards that can be convened, built-in and saved, with who sits on each.",
    described: &[],
    items: "boards",
    next: Next::Words(&["Convene one with boardroom_convene and its `name` as `board`."]),
    ..Row::get("boards_list", "/api/boards")
}];
