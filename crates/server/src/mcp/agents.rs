//! Stored agents as tools.

use super::row::Row;

pub const ROWS: [Row; 1] = [Row {
    title: "List agents",
    description: "Lists the stored agents that can be seated, with what each is good at: those who \
                  lead discussions (`is_facilitator`) and those who take part. Some ship with \
                  Plenary, others were added by its user. `detail: full` gives their personas too, \
                  which are long.",
    described: &[("detail", "`brief` (the default) leaves the personas out, `full` gives them.")],
    items: "agents",
    next: &["Name an agent by its `id`, or by its `name`."],
    ..Row::get("agents_list", "/api/agents")
}];
