//! `plenary sessions`

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::ask::{self, Output};
use super::board::Board;
use super::{exit, render, usage};
use crate::api::{Api, ApiError};
use crate::config::Config;
use crate::reach::Reach;
use crate::terminal::{self, clean, duration};

#[derive(Args)]
pub struct Sessions {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List sessions, newest first
    List(List),
    /// Show one, with all its answers
    Show {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        output: Output,
    },
    /// Write one as JSON, which can be imported, or Markdown
    Export {
        #[command(flatten)]
        which: Which,
        #[arg(long, value_enum, default_value = "json")]
        format: Format,
        /// Write to a file
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Take over a session from an exported JSON file
    Import {
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Show the record event by event
    Replay {
        #[command(flatten)]
        which: Which,
    },
    /// Go on with one that was stopped, failed or cut off
    Resume {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        output: Output,
    },
    /// Stop one that is running; what has arrived is kept
    Stop {
        #[command(flatten)]
        which: Which,
    },
    /// Write a further synthesis; earlier ones are kept
    Synthesize {
        #[command(flatten)]
        which: Which,
        /// Another model than the board's synthesizer
        #[arg(long, value_name = "MODEL")]
        model: Option<String>,
        /// What you ask of it: "for a board of directors", "in French"
        #[arg(long, value_name = "TEXT")]
        instruction: Option<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Ask one advisor again; a new synthesis follows
    Retry {
        #[command(flatten)]
        which: Which,
        /// The seat's number
        #[arg(value_name = "ADVISOR")]
        advisor: u8,
        /// Another model for this seat
        #[arg(long, value_name = "MODEL")]
        model: Option<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Give your own answer as an advisor
    Reply {
        #[command(flatten)]
        which: Which,
        #[arg(value_name = "TEXT")]
        text: String,
        /// The seat's number, when you hold several
        #[arg(long, value_name = "ADVISOR")]
        advisor: Option<u8>,
        #[command(flatten)]
        output: Output,
    },
    /// Remove one and its record for good
    Remove {
        #[command(flatten)]
        which: Which,
    },
}

#[derive(Args)]
struct Which {
    /// The session's id, its beginning or end, or `last`
    #[arg(value_name = "SESSION")]
    id: String,
}

#[derive(Args)]
struct List {
    /// Only those that hold all these words
    #[arg(value_name = "WORDS")]
    words: Vec<String>,
    /// Only this status: answering, synthesizing, closed, stopped, failed
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// How many
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
    limit: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Json,
    Markdown,
}

impl Sessions {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        let reach = Reach::open(config, "plenary sessions").await?;
        let result = self.command.run(&reach.api).await;
        reach.close().await;
        result
    }
}

impl Command {
    async fn run(self, api: &Api) -> Result<u8, ApiError> {
        match self {
            Command::List(list) => list.run(api).await,
            Command::Show { which, output } => show(api, &which.path(api).await?, &output).await,
            Command::Export { which, format, output } => {
                let path = which.path(api).await?;
                let format = match format {
                    Format::Json => "json",
                    Format::Markdown => "markdown",
                };
                let text = api.text(&format!("{path}/export?format={format}")).await?;
                match output {
                    Some(file) => ask::write_file(&file, &text)?,
                    None => terminal::say(text.trim_end()),
                }
                Ok(exit::DONE)
            }
            Command::Import { file } => import(api, &file).await,
            Command::Replay { which } => replay(api, &which.path(api).await?).await,
            Command::Stop { which } => {
                let path = which.path(api).await?;
                api.post::<Value>(&format!("{path}/stop"), &json!({})).await?;
                terminal::say("Stopped.");
                Ok(exit::DONE)
            }
            Command::Remove { which } => {
                api.delete(&which.path(api).await?).await?;
                terminal::say("Removed.");
                Ok(exit::DONE)
            }
            Command::Resume { which, output } => {
                let path = format!("{}/resume", which.path(api).await?);
                ask::to_the_end(api, &path, &json!({}), &output).await
            }
            Command::Synthesize { which, model, instruction, output } => {
                let path = which.path(api).await?;
                // A board at rest gets a further synthesis, a running one its first.
                let board: Board = api.get(&path).await?;
                let command = if board.is_over() { "resynthesize" } else { "synthesize" };
                let path = format!("{path}/{command}");
                let body = given([("model", json!(model)), ("instruction", json!(instruction))]);
                ask::to_the_end(api, &path, &body, &output).await
            }
            Command::Retry { which, advisor, model, output } => {
                let path = format!("{}/advisors/{advisor}/retry", which.path(api).await?);
                ask::to_the_end(api, &path, &given([("model", json!(model))]), &output).await
            }
            Command::Reply { which, text, advisor, output } => {
                let path = format!("{}/reply", which.path(api).await?);
                let body = given([("text", json!(text)), ("advisor", json!(advisor))]);
                ask::to_the_end(api, &path, &body, &output).await
            }
        }
    }
}

/// A body with those fields that were given.
fn given<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let given = fields.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(given.map(|(name, value)| (name.to_owned(), value)).collect())
}

impl Which {
    /// The session's address. A part of the id will do when it names only one.
    async fn path(&self, api: &Api) -> Result<String, ApiError> {
        let wanted = self.id.trim().to_lowercase();
        if wanted.len() == 36 {
            return Ok(format!("/api/boardrooms/{wanted}"));
        }
        let page = api.page("/api/sessions?limit=200").await?;
        let ids: Vec<&str> = page["data"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|session| session["id"].as_str())
            .collect();
        let is_wanted = |id: &&&str| id.starts_with(&wanted) || id.ends_with(&wanted);
        let found: Vec<&&str> = match wanted.as_str() {
            "last" => ids.iter().take(1).collect(),
            _ => ids.iter().filter(is_wanted).collect(),
        };
        match found.as_slice() {
            [id] => Ok(format!("/api/boardrooms/{id}")),
            [] => {
                Err(usage(format!("there is no session {:?}; see plenary sessions list", self.id)))
            }
            _ => Err(usage(format!("{:?} fits several sessions; give more of the id", self.id))),
        }
    }
}

impl List {
    async fn run(self, api: &Api) -> Result<u8, ApiError> {
        let mut query = format!("limit={}", self.limit);
        if !self.words.is_empty() {
            query.push_str(&format!("&q={}", encode(&self.words.join(" "))));
        }
        if let Some(status) = &self.status {
            query.push_str(&format!("&status={}", encode(status)));
        }
        let page = api.page(&format!("/api/sessions?{query}")).await?;
        if self.json {
            let json = serde_json::to_string_pretty(&page["data"]).unwrap_or_default();
            terminal::say(&json);
            return Ok(exit::DONE);
        }
        let rows = page["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        for row in rows {
            let text = |key: &str| clean(row[key].as_str().unwrap_or_default());
            let (id, when) = (text("id"), text("createdAt"));
            let when = when.get(..16).unwrap_or_default().replace('T', " ");
            let short = id.get(24..).unwrap_or(&id);
            terminal::say(&format!("{short}  {when}  {:<13} {}", text("status"), text("title")));
        }
        let total = page["meta"]["total"].as_u64().unwrap_or(0);
        if rows.is_empty() && (!self.words.is_empty() || self.status.is_some()) {
            terminal::note("No session fits.");
        } else if rows.is_empty() {
            terminal::note("No sessions. Begin one: plenary ask \"…\"");
        } else if total > rows.len() as u64 {
            terminal::note(&format!("{} of {total}; see more with --limit", rows.len()));
        }
        Ok(exit::DONE)
    }
}

async fn show(api: &Api, path: &str, output: &Output) -> Result<u8, ApiError> {
    let board: Board = api.get(path).await?;
    if output.is_plain() {
        let styled = terminal::colours(&std::io::stdout());
        terminal::say(&format!("{}\n", clean(board.prompt.trim())));
        terminal::say(&render::whole(&board, styled));
        terminal::say(&format!("{} · {}", board.status, render::footer(&board)));
    }
    output.write(api, &board.id).await?;
    Ok(exit::DONE)
}

async fn import(api: &Api, file: &std::path::Path) -> Result<u8, ApiError> {
    let shown = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|error| usage(format!("{shown} cannot be read: {error}")))?;
    let body: Value = serde_json::from_str(&text)
        .map_err(|error| usage(format!("{shown} is no exported session: {error}")))?;
    let board: Board = api.post("/api/boardrooms/import", &body).await?;
    terminal::say(&format!("Imported as {}", board.id));
    Ok(exit::DONE)
}

async fn replay(api: &Api, path: &str) -> Result<u8, ApiError> {
    let exported = api.text(&format!("{path}/export?format=json")).await?;
    let exported: Value = serde_json::from_str(&exported)
        .map_err(|error| ApiError::new("internal", error.to_string()))?;
    let events = exported["events"].as_array().map(Vec::as_slice).unwrap_or_default();
    let time = |event: &Value| -> i64 {
        let at = event["at"].as_str().and_then(|at| at.parse::<jiff::Timestamp>().ok());
        at.map_or(0, |at| at.as_millisecond())
    };
    let start = events.first().map_or(0, time);
    for event in events {
        let since = duration((time(event) - start).max(0) as u64);
        let data = &event["event"];
        let kind = data["type"].as_str().unwrap_or_default();
        let seat = data["seat"].as_u64().map(|seat| format!(" advisor {seat}")).unwrap_or_default();
        let text = [
            &data["answer"]["text"],
            &data["prompt"],
            &data["failure"]["message"],
            &data["partial"],
        ]
        .into_iter()
        .find_map(Value::as_str)
        .unwrap_or_default();
        let line = clean(text.trim()).lines().next().unwrap_or_default().to_owned();
        let line: String = line.chars().take(70).collect();
        terminal::say(format!("{since:>10}  {kind}{seat}  {line}").trim_end());
    }
    Ok(exit::DONE)
}

/// For a query string.
fn encode(text: &str) -> String {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
