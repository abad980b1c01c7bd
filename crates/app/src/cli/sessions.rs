//! `plenary sessions`

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde::Deserialize;
use serde_json::{Value, json};

use super::ask::{self, Output};
use super::board::Board;
use super::list::Listing;
use super::{exit, given, render, usage};
use crate::api::{Api, ApiError, encode};
use crate::config::Config;
use crate::reach::Reach;
use crate::terminal::{self, clean, duration, line};
use crate::tokens::{Kept, Place};

#[derive(Args)]
pub struct Sessions {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List sessions of every form, newest first
    List {
        /// Only this form
        #[arg(long, value_parser = ["boardroom", "whiteboard", "council"])]
        kind: Option<String>,
        #[command(flatten)]
        list: Listing,
    },
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
    /// The session's id, its beginning or end, a board's or council's name, or `last`
    #[arg(value_name = "SESSION")]
    id: String,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Json,
    Markdown,
}

impl Sessions {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        let kept = Kept::new(&config);
        let reach = Reach::open(&config, "plenary sessions").await?;
        let result = self.command.run(&reach.api, &kept).await;
        reach.close().await;
        result
    }
}

impl Command {
    async fn run(self, api: &Api, kept: &Kept) -> Result<u8, ApiError> {
        match self {
            Command::List { kind, list } => {
                let empty = "No sessions. Begin one: plenary ask \"…\"";
                list.run(api, kind.as_deref(), empty).await
            }
            Command::Show { which, output } => {
                let session = which.find(api).await?;
                match session.form() {
                    Form::Boardroom => show(api, &session.path(), &output).await,
                    Form::Named => session.report(api, &output).await,
                }
            }
            Command::Export { which, format, output } => {
                let session = which.find(api).await?;
                let format = match format {
                    Format::Json => "json",
                    Format::Markdown => "markdown",
                };
                let text = session.export(api, kept, format).await?;
                match output {
                    Some(file) => ask::write_file(&file, &text)?,
                    None => terminal::say(text.trim_end()),
                }
                Ok(exit::DONE)
            }
            Command::Import { file } => import(api, &file).await,
            Command::Replay { which } => {
                let session = which.find(api).await?;
                replay(&session.export(api, kept, "json").await?)
            }
            Command::Stop { which } => {
                let id = which.find(api).await?.id;
                api.post::<Value>(&format!("/api/sessions/{id}/stop"), &json!({})).await?;
                terminal::say("Stopped.");
                Ok(exit::DONE)
            }
            Command::Remove { which } => {
                let session = which.find(api).await?;
                api.delete(&format!("/api/sessions/{}", session.id)).await?;
                kept.forget(session.place())?;
                terminal::say("Removed.");
                Ok(exit::DONE)
            }
            Command::Resume { which, output } => {
                let path = format!("{}/resume", which.board(api, "resumed").await?);
                ask::to_the_end(api, &path, &json!({}), &output).await
            }
            Command::Synthesize { which, model, instruction, output } => {
                let path = which.board(api, "synthesized").await?;
                // A board at rest gets a further synthesis, a running one its first.
                let board: Board = api.get(&path).await?;
                let command = if board.is_over() { "resynthesize" } else { "synthesize" };
                let path = format!("{path}/{command}");
                let body = given([("model", json!(model)), ("instruction", json!(instruction))]);
                ask::to_the_end(api, &path, &body, &output).await
            }
            Command::Retry { which, advisor, model, output } => {
                let path = which.board(api, "retried").await?;
                let path = format!("{path}/advisors/{advisor}/retry");
                ask::to_the_end(api, &path, &given([("model", json!(model))]), &output).await
            }
            Command::Reply { which, text, advisor, output } => {
                let path = format!("{}/reply", which.board(api, "replied to").await?);
                let body = given([("text", json!(text)), ("advisor", json!(advisor))]);
                ask::to_the_end(api, &path, &body, &output).await
            }
        }
    }
}

/// A session of any form, as lists show it.
#[derive(Clone, Deserialize)]
struct Session {
    id: String,
    kind: String,
    name: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Boardroom,
    /// A whiteboard or a council: it goes by its name.
    Named,
}

impl Which {
    /// The address of a boardroom; the other forms have commands of their own.
    async fn board(&self, api: &Api, done: &str) -> Result<String, ApiError> {
        let session = self.find(api).await?;
        let Session { kind, name, .. } = &session;
        match session.form() {
            Form::Boardroom => Ok(session.path()),
            Form::Named => {
                let name = name.as_deref().unwrap_or_default();
                Err(ApiError {
                    hint: Some(format!("plenary {kind} --help says what can be done with it.")),
                    ..usage(format!("{name} is a {kind}; only a boardroom can be {done}"))
                })
            }
        }
    }

    /// A name, or a part of the id, will do when it means only one.
    async fn find(&self, api: &Api) -> Result<Session, ApiError> {
        let wanted = self.id.trim().to_lowercase();
        if wanted.len() == 36 && wanted.parse::<uuid::Uuid>().is_ok() {
            return api.get(&format!("/api/sessions/{wanted}")).await;
        }
        let sessions: Vec<Session> = api.get("/api/sessions?limit=200").await?;
        let named = |session: &&Session| session.name.as_ref() == Some(&wanted);
        let is_part =
            |session: &&Session| session.id.starts_with(&wanted) || session.id.ends_with(&wanted);
        let mut found: Vec<&Session> = match wanted.as_str() {
            "last" => sessions.iter().take(1).collect(),
            _ => sessions.iter().filter(named).collect(),
        };
        if found.is_empty() {
            found = sessions.iter().filter(is_part).collect();
        }
        match found.as_slice() {
            [session] => Ok((*session).clone()),
            [] => {
                Err(usage(format!("there is no session {:?}; see plenary sessions list", self.id)))
            }
            _ => Err(usage(format!("{:?} fits several sessions; give more of the id", self.id))),
        }
    }
}

impl Session {
    fn form(&self) -> Form {
        if self.kind == "boardroom" { Form::Boardroom } else { Form::Named }
    }

    fn path(&self) -> String {
        let id = self.name.as_ref().unwrap_or(&self.id);
        format!("/api/{}s/{}", self.kind, encode(id))
    }

    fn place(&self) -> Place<'_> {
        Place { kind: &self.kind, room: self.name.as_deref().unwrap_or(&self.id) }
    }

    /// As the only agent of this user's that is there, else as an outsider.
    async fn export(&self, api: &Api, kept: &Kept, format: &str) -> Result<String, ApiError> {
        let agents = kept.all(self.place())?;
        let token = match agents.as_slice() {
            [one] => Some(one.token.clone()),
            _ => None,
        };
        let path = format!("{}/export?format={format}", self.path());
        api.with_agent(token).text(&path).await
    }

    /// What anybody may know of it, in the form's own words.
    async fn report(&self, api: &Api, output: &Output) -> Result<u8, ApiError> {
        let report: Value = api.get(&format!("/api/sessions/{}?detail=full", self.id)).await?;
        let text = |value: &Value| clean(value.as_str().unwrap_or_default());
        output.print(&report, &text(&report["result"]))?;
        if output.is_plain() {
            terminal::say(&format!("\n{}", text(&report["progress"]["message"])));
            let (kind, name) = (&self.kind, self.name.as_deref().unwrap_or_default());
            let more = if kind == "council" { "read" } else { "state" };
            terminal::note(&format!("  → plenary {kind} {more} {name}"));
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

fn replay(exported: &str) -> Result<u8, ApiError> {
    let exported: Value = serde_json::from_str(exported)
        .map_err(|error| ApiError::new("internal", error.to_string()))?;
    // A council's record is its thread.
    if let Some(posts) = exported["thread"]["posts"].as_array() {
        for post in posts {
            let text = |key: &str| line(post[key].as_str().unwrap_or_default(), 70);
            let number = post["sequence"].as_u64().unwrap_or_default();
            terminal::say(&format!("{number:>5}  {}  {}", text("sender"), text("body")));
        }
        return Ok(exit::DONE);
    }
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
            &data["topic"],
            &data["content"]["title"],
            &data["body"],
            &data["choice"],
            &data["to"],
            &data["agent"],
        ]
        .into_iter()
        .find_map(Value::as_str)
        .unwrap_or_default();
        let text: String = line(text, 70);
        let post = [&data["id"], &data["post"]].into_iter().find_map(Value::as_str);
        let post = post.map(|post| format!(" {}", clean(post))).unwrap_or_default();
        terminal::say(format!("{since:>10}  {kind}{seat}{post}  {text}").trim_end());
    }
    Ok(exit::DONE)
}
