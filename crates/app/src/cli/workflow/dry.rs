//! `plenary workflow run --dry`: what a run would take.

use serde::Deserialize;
use serde_json::Value;

use crate::api::{Api, ApiError};
use crate::cli::{exit, print_json};
use crate::rounded;
use crate::terminal::{self, clean};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Foresight {
    calls: Range,
    input_tokens: Range,
    output_tokens: Range,
    #[serde(default)]
    cost: Option<Range>,
    currency: String,
    rooms: Range,
    requests: Range,
    files: Range,
    people: Range,
    waits: Range,
    notes: Vec<String>,
}

#[derive(Clone, Copy, Deserialize)]
struct Range {
    typical: f64,
    most: f64,
}

pub async fn show(api: &Api, body: &Value, json: bool) -> Result<u8, ApiError> {
    let whole: Value = api.post("/api/workflows/estimate", body).await?;
    if json {
        print_json(&whole);
        return Ok(exit::DONE);
    }
    let foreseen: Foresight = serde_json::from_value(whole).map_err(|error| {
        ApiError::new("unexpected", format!("cannot read the server's response: {error}"))
    })?;
    for row in foreseen.rows() {
        terminal::say(&row);
    }
    for note in &foreseen.notes {
        terminal::say(&clean(note));
    }
    Ok(exit::DONE)
}

/// A line of the table: what it is, typically and at most.
struct Row(&'static str, String, String);

impl Foresight {
    /// A table. What there can be none of is left out, but for what is asked of models.
    fn rows(&self) -> Vec<String> {
        let count = |name: &'static str, range: Range| {
            Row(name, rounded::about(range.typical), rounded::about(range.most))
        };
        let mut rows = vec![
            Row("", "typically".to_owned(), "at most".to_owned()),
            count("calls", self.calls),
            count("tokens in", self.input_tokens),
            count("tokens out", self.output_tokens),
        ];
        rows.extend(self.cost.map(|cost| {
            let money = |amount| rounded::money(amount, Some(&self.currency));
            Row("cost", money(cost.typical), money(cost.most))
        }));
        let others = [
            ("sessions opened", self.rooms),
            ("decisions by people", self.people),
            ("sleeps and waits", self.waits),
            ("HTTP requests", self.requests),
            ("files written", self.files),
        ];
        let is_there = |(_, range): &(&'static str, Range)| range.most > 0.0;
        rows.extend(others.into_iter().filter(is_there).map(|(name, range)| count(name, range)));
        let widest = |of: fn(&Row) -> &str| rows.iter().map(|row| of(row).len()).max();
        let first = widest(|row| &row.1).unwrap_or(0);
        let second = widest(|row| &row.2).unwrap_or(0);
        let line = |Row(name, typical, most): &Row| {
            format!("{name:<18}  {typical:>first$}  {most:>second$}")
        };
        rows.iter().map(line).collect()
    }
}
