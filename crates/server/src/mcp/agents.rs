//! Stored agents as tools.

use super::row::{Next, Row};

pub const ROWS: [Row; 1] = [Row {
    title: "List agents",
    description: "Lists the saved agents that can be seated in a discussion, and what each is good \
                  at; those with `is_facilitator` lead.",
    described: &[
        ("detail", "`full` includes their personas, which are long."),
        ("cursor", "`next_cursor` of the previous page."),
    ],
    items: "agents",
    next: Next::Words(&["Name an agent by its `id`, or by its `name`."]),
    ..Row::get("agents_list", "/api/agents")
}];
