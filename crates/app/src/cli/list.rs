//! Lists of sessions, of one form or of all.

use clap::Args;
use serde_json::Value;

use super::board::status_word;
use super::{exit, print_json};
use crate::api::{Api, ApiError, encode};
use crate::terminal::{self, clean};

#[derive(Args, Clone)]
pub struct Listing {
    /// Only sessions that contain all these words
    #[arg(value_name = "WORDS")]
    words: Vec<String>,
    /// Only this status, as lists show it, such as stopped, done or archived
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// Only this project
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// How many
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
    limit: u32,
    /// Print only JSON
    #[arg(long)]
    json: bool,
}

impl Listing {
    /// Prints sessions of every form, or of one, by their ids.
    pub async fn run(self, api: &Api, kind: Option<&str>, empty: &str) -> Result<u8, ApiError> {
        self.print(api, kind, empty, by_id).await
    }

    /// Prints those of a form that goes by names. `empty` says how to begin one.
    pub async fn named(self, api: &Api, kind: &str, empty: &str) -> Result<u8, ApiError> {
        self.print(api, Some(kind), empty, by_name).await
    }

    async fn print(
        self,
        api: &Api,
        kind: Option<&str>,
        empty: &str,
        line: fn(&Value) -> String,
    ) -> Result<u8, ApiError> {
        let (mut rows, mut total) = (vec![], 0);
        for (kind, status) in self.statuses(kind) {
            let query = self.query(kind, status);
            let mut page = api.page(&format!("/api/sessions?{query}")).await?;
            total += page["meta"]["total"].as_u64().unwrap_or(0);
            if let Value::Array(found) = page["data"].take() {
                rows.extend(found);
            }
        }
        rows.sort_by_key(|row| std::cmp::Reverse(text(row, "createdAt")));
        rows.truncate(self.limit as usize);
        if self.json {
            print_json(&Value::Array(rows));
            return Ok(exit::DONE);
        }
        for row in &rows {
            terminal::say(&line(row));
        }
        let filtered = !self.words.is_empty() || self.status.is_some() || self.project.is_some();
        if rows.is_empty() && filtered {
            terminal::note("No sessions match.");
        } else if rows.is_empty() {
            terminal::note(empty);
        } else if total > rows.len() as u64 {
            terminal::note(&format!("{} of {total}; show more with --limit", rows.len()));
        }
        Ok(exit::DONE)
    }

    /// What to ask for, by kind and status: boards call some of them otherwise than they are
    /// shown.
    fn statuses<'a>(&'a self, kind: Option<&'a str>) -> Vec<(Option<&'a str>, Option<&'a str>)> {
        match (kind, self.status.as_deref()) {
            (None, Some("done")) => vec![(None, Some("done")), (Some("boardroom"), Some("closed"))],
            (Some("boardroom"), Some("done")) => vec![(kind, Some("closed"))],
            (_, Some("writing the verdict")) => vec![(kind, Some("synthesizing"))],
            (_, Some("voting")) => vec![(kind, Some("balloting"))],
            (_, status) => vec![(kind, status)],
        }
    }

    fn query(&self, kind: Option<&str>, status: Option<&str>) -> String {
        let words = self.words.join(" ");
        let given = [
            ("kind", kind),
            ("q", Some(words.as_str()).filter(|words| !words.is_empty())),
            ("status", status),
            ("project", self.project.as_deref()),
        ];
        let mut query = format!("limit={}", self.limit);
        for (name, value) in given {
            if let Some(value) = value {
                query.push_str(&format!("&{name}={}", encode(value)));
            }
        }
        query
    }
}

fn by_name(row: &Value) -> String {
    let (name, status) = (text(row, "name"), text(row, "status"));
    format!("{name:<24}  {}  {status:<9} {}", when(row), text(row, "title"))
}

fn by_id(row: &Value) -> String {
    let (id, name, title) = (text(row, "id"), text(row, "name"), text(row, "title"));
    let short = id.get(24..).unwrap_or(&id);
    let title = if name.is_empty() { title } else { format!("{name} · {title}") };
    let title = if row["imported"] == true { format!("(imported) {title}") } else { title };
    let title = if row["pinned"] == true { format!("(pinned) {title}") } else { title };
    let kind = text(row, "kind");
    let status = status_word(&kind, &text(row, "status"));
    format!("{short}  {}  {kind:<10}  {status:<12}  {title}", when(row))
}

fn when(row: &Value) -> String {
    text(row, "createdAt").get(..16).unwrap_or_default().replace('T', " ")
}

fn text(row: &Value, key: &str) -> String {
    clean(row[key].as_str().unwrap_or_default())
}
