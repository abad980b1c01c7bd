//! A board as a file: the same keys in TOML, which people review, and in JSON.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};

use super::file::{FORMAT, VERSION};
use super::{Board, Seat};
use crate::agent::{Agent, ModelChoice};
use crate::budget::{Allowance, WhenSpent};
use crate::limits;

/// Fields in the order in which people read them.
#[derive(Default)]
struct Fields(Vec<(&'static str, Out)>);

enum Out {
    One(Value),
    /// A table of its own, or in braces within another.
    Table(Fields),
    Within(Fields),
    List(Vec<Fields>),
}

/// The board as pretty JSON.
pub fn json(board: &Board) -> String {
    format!("{}\n", serde_json::to_string_pretty(&tree(board)).unwrap_or_default())
}

/// The board as TOML. Prompts stand as they are, over as many lines as they have.
pub fn toml(board: &Board) -> String {
    let name = &board.name;
    let mut out = format!("# A board of Plenary: plenary ask --board ./{name}.toml \"…\"\n");
    let tree = tree(board);
    plain(&mut out, &tree);
    for (name, value) in &tree.0 {
        match value {
            Out::One(_) | Out::Within(_) => {}
            Out::Table(fields) => {
                out.push_str(&format!("\n[{name}]\n"));
                plain(&mut out, fields);
            }
            Out::List(items) => {
                for fields in items {
                    out.push_str(&format!("\n[[{name}]]\n"));
                    plain(&mut out, fields);
                }
            }
        }
    }
    out
}

/// The fields that are no tables of their own.
fn plain(out: &mut String, fields: &Fields) {
    for (name, value) in &fields.0 {
        match value {
            Out::One(value) => out.push_str(&format!("{name} = {}\n", one(value))),
            Out::Within(inner) => {
                let part = |(name, value): &(&str, Out)| match value {
                    Out::One(value) => format!("{name} = {}", one(value)),
                    Out::Table(_) | Out::Within(_) | Out::List(_) => String::new(),
                };
                let parts: Vec<String> = inner.0.iter().map(part).collect();
                out.push_str(&format!("{name} = {{ {} }}\n", parts.join(", ")));
            }
            Out::Table(_) | Out::List(_) => {}
        }
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            match value {
                Out::One(value) => map.serialize_entry(name, value)?,
                Out::Table(fields) | Out::Within(fields) => map.serialize_entry(name, fields)?,
                Out::List(items) => map.serialize_entry(name, items)?,
            }
        }
        map.end()
    }
}

impl Fields {
    fn put(&mut self, name: &'static str, value: Value) {
        if !value.is_null() {
            self.0.push((name, Out::One(value)));
        }
    }

    fn text(&mut self, name: &'static str, text: &str) {
        self.put(name, json!(Some(text).filter(|text| !text.is_empty())));
    }

    fn model(&mut self, choice: &ModelChoice) {
        match choice {
            ModelChoice::Any => {}
            ModelChoice::Tier(tier) => self.put("tier", json!(tier.name())),
            ModelChoice::Model(model) => self.put("model", json!(model)),
        }
    }

    fn allowance(of: Allowance) -> Self {
        let mut out = Fields::default();
        out.put("tokens", json!(of.tokens));
        out.put("cost", json!(of.cost));
        out.put("seconds", json!(of.time_ms.map(|ms| ms / 1000)));
        out
    }
}

fn one(value: &Value) -> String {
    match value {
        Value::String(text) if text.contains('\n') => format!("\"\"\"\n{}\"\"\"", escaped(text)),
        Value::String(text) => format!("\"{}\"", escaped(text).replace('"', "\\\"")),
        other => other.to_string(),
    }
}

/// Fit to stand between three quotes: the text that is read is the text that was written.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let many = text.contains('\n');
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' if many => out.push_str("\\\""),
            '\n' | '\t' => out.push(c),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// All that a board says.
fn tree(board: &Board) -> Fields {
    let mut out = Fields::default();
    out.put(FORMAT, json!(VERSION));
    out.put("name", json!(board.name));
    out.text("title", &board.title);
    out.text("description", &board.description);
    out.put("language", json!(board.language));
    out.put("ballot", json!(board.ballot.then_some(true)));
    out.put("open_answers", json!(board.open_answers.then_some(true)));
    if let Some(quorum) = board.quorum {
        let mut inner = Fields::default();
        inner.put("need", json!(quorum.need));
        match quorum.grace_ms {
            limits::GRACE_MS => {}
            ms if ms % 1000 == 0 => inner.put("grace_seconds", json!(ms / 1000)),
            ms => inner.put("grace_seconds", json!(ms as f64 / 1000.0)),
        }
        out.0.push(("quorum", Out::Table(inner)));
    }
    if let Some(budget) = board.budget {
        let mut inner = Fields::allowance(budget.most);
        inner.put("currency", json!(board.currency));
        let stops = budget.when_spent == WhenSpent::Stop;
        inner.put("when_spent", json!(stops.then_some("stop")));
        out.0.push(("budget", Out::Table(inner)));
    }
    let synthesis = &board.synthesis;
    if !synthesis.is_plain() {
        let mut inner = Fields::default();
        inner.model(&synthesis.model);
        inner.put("temperature", json!(synthesis.temperature));
        inner.put("output_tokens", json!(synthesis.output_tokens));
        inner.put("prompt", json!(synthesis.prompt));
        out.0.push(("synthesis", Out::Table(inner)));
    }
    out.0.push(("seats", Out::List(board.seats.iter().map(seat).collect())));
    if !board.agents.is_empty() {
        out.0.push(("agents", Out::List(board.agents.iter().map(|one| agent(one)).collect())));
    }
    out
}

fn seat(seat: &Seat) -> Fields {
    let mut out = Fields::default();
    match &seat.own {
        None => out.put("role", json!(seat.role.id())),
        Some(own) => {
            out.put("role", json!(own.name));
            out.text("initials", &own.initials);
            out.text("colour", &own.colour);
            out.text("glyph", &own.glyph);
        }
    }
    out.put("agent", json!(seat.agent));
    out.model(&seat.model);
    out.put("person", json!(seat.person));
    out.put("reply_within_seconds", json!(seat.reply_within_seconds));
    out.put("temperature", json!(seat.temperature));
    out.put("output_tokens", json!(seat.output_tokens));
    out.put("tries", json!(seat.tries));
    if !seat.budget.is_none() {
        out.0.push(("budget", Out::Within(Fields::allowance(seat.budget))));
    }
    out.put("prompt", json!(seat.prompt));
    out
}

/// Without what only the operator can give it, wherever it sits: a folder, tools, money.
fn agent(agent: &Agent) -> Fields {
    let mut out = Fields::default();
    out.put("id", json!(agent.id));
    out.put("name", json!(agent.name));
    out.text("description", &agent.description);
    out.model(&agent.model);
    out.put("turn_seconds", json!(agent.bounds.turn_ms.map(|ms| ms / 1000)));
    out.put("output_tokens", json!(agent.bounds.output_tokens));
    out.put("temperature", json!(agent.bounds.temperature));
    out.put("persona", json!(agent.persona));
    out
}
