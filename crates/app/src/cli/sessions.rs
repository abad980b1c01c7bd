//! `plenary sessions`

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde::Deserialize;
use serde_json::{Value, json};

use super::ask::{self, Document, Output};
use super::board::Board;
use super::budget::{self, Budget};
use super::discuss::steer::{Choice, Steer};
use super::list::Listing;
use super::me::Me;
use super::render::{self, Paper};
use super::{agreed, ballot, discuss, exit, given, usage, workflow};
use crate::api::{Api, ApiError, encode};
use crate::config::Config;
use crate::reach::Reach;
use crate::rounded::duration;
use crate::terminal::{self, clean, line};
use crate::tokens::{Kept, Place};
use crate::way::Way;

/// A session whose budget was set.
#[derive(Deserialize)]
struct Allowed {
    budget: Option<Budget>,
}

/// Characters of a title in a question.
const TITLE: usize = 60;

#[derive(Args)]
pub struct Sessions {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List sessions of every kind, newest first
    List {
        /// Only this kind
        #[arg(long, value_parser = ["boardroom", "discussion", "whiteboard", "council", "workflow"])]
        kind: Option<String>,
        #[command(flatten)]
        list: Listing,
    },
    /// Show a session, with all its answers
    Show {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        output: Output,
    },
    /// Export a session as JSON or Markdown; a board's JSON can be imported
    Export {
        #[command(flatten)]
        which: Which,
        #[arg(long, value_enum, default_value = "json")]
        format: Format,
        /// Write to a file
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Import a board from an exported JSON file
    Import {
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Show a session's record, event by event
    Replay {
        #[command(flatten)]
        which: Which,
    },
    /// Start a draft discussion
    Start {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        output: Output,
    },
    /// Pause a discussion after the current step
    Pause {
        #[command(flatten)]
        which: Which,
    },
    /// Resume a session that was paused, stopped, interrupted or failed; follow a running one
    Resume {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        output: Output,
    },
    /// Stop a running session; what has arrived is kept
    Stop {
        #[command(flatten)]
        which: Which,
        /// Stop only this advisor, by its number, or skip its votes; the others continue
        #[arg(long, value_name = "ADVISOR")]
        advisor: Option<u8>,
        #[command(flatten)]
        me: Me,
    },
    /// Set a session's budget, even if the old one is spent
    Budget {
        #[command(flatten)]
        which: Which,
        /// Money, tokens or time, such as 0.50usd, 20ktok, 90s (separate several with commas)
        #[arg(value_name = "AMOUNT")]
        amount: String,
        /// Stop when it runs out, instead of concluding from what there is
        #[arg(long)]
        stop_when_spent: bool,
        #[command(flatten)]
        me: Me,
    },
    /// Conclude a discussion now, from what has been said so far
    Conclude {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        output: Output,
    },
    /// Add a remark to a discussion, between turns
    Interject {
        #[command(flatten)]
        which: Which,
        /// What you say; `-` reads it from standard input
        #[arg(value_name = "TEXT")]
        text: String,
        /// Your name; Operator by default
        #[arg(long = "as", value_name = "NAME")]
        by: Option<String>,
    },
    /// Decide what comes next in a discussion you lead
    Decide {
        #[command(flatten)]
        which: Which,
        /// Who speaks next: an id, a name or a number from the list
        #[arg(long, value_name = "AGENT", required_unless_present = "end", requires = "question")]
        next: Option<String>,
        /// What they are asked
        #[arg(long, value_name = "TEXT", requires = "next")]
        question: Option<String>,
        /// Enough has been said: conclude
        #[arg(long, conflicts_with = "next")]
        end: bool,
        /// Why; visible to everyone
        #[arg(long, value_name = "TEXT")]
        reasoning: Option<String>,
        #[command(flatten)]
        seat: SeatProof,
        #[command(flatten)]
        output: Output,
    },
    /// Write another verdict of a board; earlier ones are kept
    Synthesize {
        #[command(flatten)]
        which: Which,
        /// Another model to write it; the board's own by default
        #[arg(long, value_name = "MODEL")]
        model: Option<String>,
        /// An instruction, such as "for a board of directors" or "in French"
        #[arg(long, value_name = "TEXT")]
        instruction: Option<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Ask one advisor of a board again; a new verdict follows
    Retry {
        #[command(flatten)]
        which: Which,
        /// The advisor's number
        #[arg(value_name = "ADVISOR")]
        advisor: u8,
        /// Another model for this advisor
        #[arg(long, value_name = "MODEL")]
        model: Option<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Pick one of an advisor's answers; from then on only that one counts
    Pick {
        #[command(flatten)]
        which: Which,
        /// The advisor's number
        #[arg(value_name = "ADVISOR")]
        advisor: u8,
        /// The number of the answer
        #[arg(value_name = "TRY")]
        number: u32,
    },
    /// Answer as an advisor on a board, or take your turn in a discussion
    Reply {
        #[command(flatten)]
        which: Which,
        /// What you say; `-` reads it from standard input
        #[arg(value_name = "TEXT")]
        text: String,
        /// Your advisor's number on a board, if you hold several seats
        #[arg(long, value_name = "ADVISOR")]
        advisor: Option<u8>,
        #[command(flatten)]
        seat: SeatProof,
        #[command(flatten)]
        output: Output,
    },
    /// Let the advisors vote on the verdict of a board that is done
    Ballot {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        output: Output,
    },
    /// Cast your votes on the points of a board's verdict
    Vote {
        #[command(flatten)]
        which: Which,
        /// A point's number with accept, reject or defer, and why (repeatable)
        #[arg(value_name = "POINT=VOTE[: REASON]", required = true)]
        votes: Vec<String>,
        /// Your advisor's number, if you hold several seats
        #[arg(long, value_name = "ADVISOR")]
        advisor: Option<u8>,
        #[command(flatten)]
        seat: SeatProof,
        #[command(flatten)]
        output: Output,
    },
    /// Rename a session, for everyone
    Rename {
        #[command(flatten)]
        which: Which,
        /// The new title; without it, the original one
        #[arg(value_name = "TITLE")]
        title: Option<String>,
        /// The token returned on opening it, if you did not open it
        #[arg(long, value_name = "TOKEN")]
        token: Option<String>,
    },
    /// Pin a session to the top of the lists on the web page
    Pin {
        #[command(flatten)]
        which: Which,
        /// Unpin it
        #[arg(long)]
        off: bool,
        /// The token returned on opening it, if you did not open it
        #[arg(long, value_name = "TOKEN")]
        token: Option<String>,
    },
    /// Permanently remove a session and its record
    Remove {
        #[command(flatten)]
        which: Which,
        /// Remove it without asking
        #[arg(long)]
        yes: bool,
        /// The token returned on opening it, if you did not open it
        #[arg(long, value_name = "TOKEN")]
        token: Option<String>,
    },
}

/// What shows that a seat is yours.
#[derive(Args)]
struct SeatProof {
    /// Your seat's token, if you did not open the session
    #[arg(id = "seat-token", long = "token", value_name = "TOKEN")]
    token: Option<String>,
}

#[derive(Args)]
struct Which {
    /// The session's id or its first or last characters, a whiteboard's or council's name, or
    /// `last`
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
        let mut reach = Reach::open(&config, "plenary sessions").await?;
        let lasting = match self.command.lasting() {
            Some(which) if reach.is_here() => which.find(&reach.api).await.ok(),
            _ => None,
        };
        let mut was_active = false;
        if let Some(session) = lasting.filter(|session| session.form() != Form::Named) {
            was_active = session.active;
            // It lasts, and others take part: they must get in meanwhile.
            reach.close().await;
            reach = Reach::host(&config, "plenary sessions").await?;
        }
        let token = self.command.token();
        let mut way = Way::new(&config, "plenary sessions", reach).with_agent(token);
        let result = self.command.run(&mut way, &kept, was_active).await;
        way.close().await;
        result
    }
}

impl Command {
    /// The session that this sets in motion, and stays with until it rests.
    fn lasting(&self) -> Option<&Which> {
        match self {
            Command::Start { which, .. }
            | Command::Resume { which, .. }
            | Command::Conclude { which, .. }
            | Command::Synthesize { which, .. }
            | Command::Retry { which, .. }
            | Command::Reply { which, .. }
            | Command::Ballot { which, .. }
            | Command::Vote { which, .. }
            | Command::Decide { which, .. } => Some(which),
            Command::List { .. }
            | Command::Show { .. }
            | Command::Export { .. }
            | Command::Import { .. }
            | Command::Replay { .. }
            | Command::Pause { .. }
            | Command::Stop { .. }
            | Command::Budget { .. }
            | Command::Pick { .. }
            | Command::Interject { .. }
            | Command::Rename { .. }
            | Command::Pin { .. }
            | Command::Remove { .. } => None,
        }
    }

    fn token(&self) -> Option<String> {
        match self {
            Command::Reply { seat, .. }
            | Command::Vote { seat, .. }
            | Command::Decide { seat, .. } => seat.token.clone(),
            Command::Remove { token, .. }
            | Command::Rename { token, .. }
            | Command::Pin { token, .. } => token.clone(),
            Command::Start { .. }
            | Command::Resume { .. }
            | Command::Conclude { .. }
            | Command::List { .. }
            | Command::Show { .. }
            | Command::Export { .. }
            | Command::Import { .. }
            | Command::Replay { .. }
            | Command::Pause { .. }
            | Command::Stop { .. }
            | Command::Budget { .. }
            | Command::Synthesize { .. }
            | Command::Retry { .. }
            | Command::Pick { .. }
            | Command::Ballot { .. }
            | Command::Interject { .. } => None,
        }
    }

    async fn run(self, way: &mut Way<'_>, kept: &Kept, was_active: bool) -> Result<u8, ApiError> {
        let api = &way.api().clone();
        match self {
            Command::List { kind, list } => {
                let begin = match kind.as_deref() {
                    Some("discussion") => "discuss \"…\"",
                    Some("workflow") => "workflow run FILE",
                    _ => "ask \"…\"",
                };
                let empty = format!("No sessions yet. Start one: plenary {begin}");
                list.run(api, kind.as_deref(), &empty).await
            }
            Command::Show { which, output } => {
                let session = which.find(api).await?;
                match session.form() {
                    Form::Boardroom => show(api, &session.path(), &output).await,
                    Form::Discussion => discuss::show(api, &session.id, &output).await,
                    Form::Run if output.is_plain() => workflow::show_run(api, &session.id).await,
                    Form::Run | Form::Named => session.report(api, &output).await,
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
                    None => terminal::say_document(text.trim_end()),
                }
                Ok(exit::DONE)
            }
            Command::Import { file } => import(api, &file).await,
            Command::Replay { which } => {
                let session = which.find(api).await?;
                replay(&session.export(api, kept, "json").await?)
            }
            Command::Stop { which, advisor: Some(advisor), me: _ } => {
                let path = which.board(api, "be stopped one advisor at a time").await?;
                let path = format!("{path}/advisors/{advisor}/stop");
                let board: Board = api.post(&path, &json!({})).await?;
                let status = board.status_word();
                terminal::say(&format!("Stopped advisor {advisor}; board status: {status}."));
                Ok(exit::DONE)
            }
            Command::Budget { which, amount, stop_when_spent, me } => {
                let body = budget::read(&[amount], stop_when_spent)?.unwrap_or(json!({}));
                let session = which.find(api).await?;
                let api = session.acting(api, kept, &me)?;
                let path = format!("/api/sessions/{}/budget", session.id);
                let session: Allowed = api.post(&path, &body).await?;
                let words = session.budget.map(|budget| budget.in_words());
                terminal::say(&words.unwrap_or_else(|| "No budget.".to_owned()));
                Ok(exit::DONE)
            }
            Command::Stop { which, advisor: None, me } => {
                let session = which.find(api).await?;
                if session.form() == Form::Discussion {
                    return session.steer(way).stop().await;
                }
                let (api, id) = (session.acting(api, kept, &me)?, &session.id);
                api.post::<Value>(&format!("/api/sessions/{id}/stop"), &json!({})).await?;
                terminal::say("Stopped.");
                Ok(exit::DONE)
            }
            Command::Rename { which, title, token: _ } => {
                let path = format!("/api/sessions/{}", which.find(api).await?.id);
                let body = json!({ "title": title.unwrap_or_default() });
                let renamed: Value = api.patch(&path, &body).await?;
                let title = clean(renamed["title"].as_str().unwrap_or_default());
                terminal::say(&format!("Renamed to {title:?}."));
                Ok(exit::DONE)
            }
            Command::Pin { which, off, token: _ } => {
                let path = format!("/api/sessions/{}", which.find(api).await?.id);
                api.patch::<Value>(&path, &json!({ "pinned": !off })).await?;
                terminal::say(if off { "Unpinned." } else { "Pinned." });
                Ok(exit::DONE)
            }
            Command::Remove { which, yes, token: _ } => {
                let session = which.find(api).await?;
                if !yes && !session.may_be_removed()? {
                    terminal::note("Nothing was removed.");
                    return Ok(exit::FAILED);
                }
                api.delete(&format!("/api/sessions/{}", session.id)).await?;
                kept.forget(session.place())?;
                terminal::say("Removed.");
                Ok(exit::DONE)
            }
            Command::Start { which, output } => {
                which.discussion(api, "started").await?.steer(way).start(&output).await
            }
            Command::Pause { which } => {
                which.discussion(api, "be paused").await?.steer(way).pause().await
            }
            Command::Conclude { which, output } => {
                which.discussion(api, "be concluded").await?.steer(way).conclude(&output).await
            }
            Command::Interject { which, text, by } => {
                let session = which.discussion(api, "take remarks").await?;
                session.steer(way).interject(&super::text(&text)?, by.as_deref()).await
            }
            Command::Decide { which, next, question, end: _, reasoning, seat: _, output } => {
                let choice = match (next, question) {
                    (Some(next), Some(question)) => Choice::Next { next, question },
                    (_, _) => Choice::End,
                };
                let session = which.discussion(api, "be led").await?;
                session.steer(way).decide(choice, reasoning.as_deref(), &output).await
            }
            Command::Resume { which, output } => {
                let mut session = which.find(api).await?;
                if session.form() == Form::Discussion {
                    session.active |= was_active;
                    return session.steer(way).resume(&output).await;
                }
                if session.form() == Form::Run {
                    return session.follow_run(way, kept, &output).await;
                }
                if session.form() == Form::Named {
                    let wanted = "a boardroom, a discussion or a run";
                    return Err(session.other(wanted, "be resumed"));
                }
                let path = session.path();
                if session.active || was_active {
                    return ask::rejoin(way, &path, &output).await;
                }
                ask::to_the_end(way, &format!("{path}/resume"), &json!({}), &output).await
            }
            Command::Synthesize { which, model, instruction, output } => {
                let path = which.board(api, "be synthesized").await?;
                // A board at rest gets a further synthesis, a running one its first.
                let board: Board = api.get(&path).await?;
                let command = if board.is_over() { "resynthesize" } else { "synthesize" };
                let path = format!("{path}/{command}");
                let body = given([("model", json!(model)), ("instruction", json!(instruction))]);
                ask::to_the_end(way, &path, &body, &output).await
            }
            Command::Retry { which, advisor, model, output } => {
                let path = which.board(api, "be retried").await?;
                let path = format!("{path}/advisors/{advisor}/retry");
                ask::to_the_end(way, &path, &given([("model", json!(model))]), &output).await
            }
            Command::Pick { which, advisor, number } => {
                let path = which.board(api, "be picked from").await?;
                let body = json!({ "try": number });
                let board: Value =
                    api.post(&format!("{path}/advisors/{advisor}/pick"), &body).await?;
                let seat = board["advisors"]
                    .as_array()
                    .and_then(|seats| seats.iter().find(|seat| seat["id"] == advisor));
                let name = seat.and_then(|seat| seat["name"].as_str()).unwrap_or_default();
                terminal::say(&format!("Picked answer {number} of {}.", clean(name)));
                if board["status"] == "closed" {
                    let id = board["id"].as_str().unwrap_or_default();
                    terminal::note(&format!("  → plenary sessions synthesize {id}"));
                }
                Ok(exit::DONE)
            }
            Command::Ballot { which, output } => {
                let path = which.board(api, "be voted on").await?;
                ask::to_the_end(way, &format!("{path}/ballot/open"), &json!({}), &output).await
            }
            Command::Vote { which, votes, advisor, seat: _, output } => {
                let votes = ballot::typed(&votes)?;
                let path = format!("{}/ballot", which.board(api, "be voted on").await?);
                let body = given([("votes", json!(votes)), ("advisor", json!(advisor))]);
                ask::vote(way, &path, &body, &output).await
            }
            Command::Reply { which, text, advisor, seat: _, output } => {
                let text = super::text(&text)?;
                let session = which.find(api).await?;
                if session.form() == Form::Discussion {
                    if advisor.is_some() {
                        let problem = "--advisor is for boards; in a discussion, take your turn \
                                       without it";
                        return Err(usage(problem));
                    }
                    return session.steer(way).reply(&text, &output).await;
                }
                if session.form() != Form::Boardroom {
                    return Err(session.other("a boardroom or a discussion", "be replied to"));
                }
                let path = format!("{}/reply", session.path());
                let body = given([("text", json!(text)), ("advisor", json!(advisor))]);
                ask::to_the_end(way, &path, &body, &output).await
            }
        }
    }
}

/// A session of any form, as lists show it.
#[derive(Clone, Deserialize)]
struct Session {
    id: String,
    kind: String,
    #[serde(default)]
    title: String,
    name: Option<String>,
    active: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Boardroom,
    Discussion,
    /// A whiteboard or a council: it goes by its name.
    Named,
    /// A run of a workflow.
    Run,
}

/// The address of the boardroom that is meant.
pub async fn board(api: &Api, written: &str, done: &str) -> Result<String, ApiError> {
    Which { id: written.to_owned() }.board(api, done).await
}

impl Which {
    /// The address of a boardroom; the other forms have commands of their own.
    async fn board(&self, api: &Api, done: &str) -> Result<String, ApiError> {
        self.find(api).await?.board(done)
    }

    async fn discussion(&self, api: &Api, done: &str) -> Result<Session, ApiError> {
        let session = self.find(api).await?;
        match session.form() {
            Form::Discussion => Ok(session),
            Form::Boardroom | Form::Named | Form::Run => Err(session.other("a discussion", done)),
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
            [] => Err(usage(format!(
                "there is no session {:?}; list them with `plenary sessions list`",
                self.id
            ))),
            _ => Err(usage(format!("{:?} matches several sessions; type more of the id", self.id))),
        }
    }
}

impl Session {
    fn form(&self) -> Form {
        match self.kind.as_str() {
            "boardroom" => Form::Boardroom,
            "discussion" => Form::Discussion,
            "workflow" => Form::Run,
            _ => Form::Named,
        }
    }

    fn board(&self, done: &str) -> Result<String, ApiError> {
        match self.form() {
            Form::Boardroom => Ok(self.path()),
            Form::Discussion | Form::Named | Form::Run => Err(self.other("a boardroom", done)),
        }
    }

    /// The command is for another form; says what this one has.
    fn other(&self, wanted: &str, done: &str) -> ApiError {
        let Session { kind, name, id, .. } = self;
        let hint = match self.form() {
            Form::Boardroom if self.active => format!("plenary sessions stop, synthesize {id}"),
            Form::Boardroom => format!("plenary sessions show, synthesize, retry {id}"),
            Form::Discussion if self.active => {
                format!("plenary sessions pause, stop, conclude, interject {id}")
            }
            Form::Discussion => format!("plenary sessions show, resume, conclude {id}"),
            Form::Run if self.active => format!("plenary workflow status, cancel, fork {id}"),
            Form::Run => format!("plenary workflow status, fork {id}"),
            Form::Named => format!("See plenary {kind} --help."),
        };
        let name = name.as_deref().unwrap_or(id);
        let what = self.what();
        let problem = usage(format!("{name} is a {what}; only {wanted} can {done}"));
        ApiError { hint: Some(hint), ..problem }
    }

    fn steer<'a, 'c>(&'a self, way: &'a mut Way<'c>) -> Steer<'a, 'c> {
        Steer { way, id: &self.id, was_active: self.active }
    }

    fn path(&self) -> String {
        let id = self.name.as_ref().unwrap_or(&self.id);
        match self.form() {
            Form::Run => format!("/api/runs/{}", encode(id)),
            Form::Boardroom | Form::Discussion | Form::Named => {
                format!("/api/{}s/{}", self.kind, encode(id))
            }
        }
    }

    /// What people call one of its kind.
    fn what(&self) -> &str {
        if self.form() == Form::Run { "run" } else { &self.kind }
    }

    /// Asks whether this is the one that is meant, because nothing brings it back.
    fn may_be_removed(&self) -> Result<bool, ApiError> {
        let (kind, title) = (self.what(), line(&self.title, TITLE));
        let id = self.id.get(24..).unwrap_or(&self.id);
        let question = format!("Permanently remove the {kind} {title:?} ({id}) and its record?");
        agreed(&question, "remove it", "Check it with `plenary sessions show`, then add --yes.")
    }

    fn place(&self) -> Place<'_> {
        Place { kind: &self.kind, room: self.name.as_deref().unwrap_or(&self.id) }
    }

    /// As the agent that is meant. On a whiteboard nobody acts without being one.
    fn acting(&self, api: &Api, kept: &Kept, me: &Me) -> Result<Api, ApiError> {
        if self.kind != "whiteboard" && !me.is_named() {
            return Ok(api.clone());
        }
        let found = me.find(kept, self.place())?;
        Ok(api.with_agent(found.and_then(|found| found.token)))
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

    /// To the end of a run, which is then written as it was asked for.
    async fn follow_run(
        &self,
        way: &mut Way<'_>,
        kept: &Kept,
        output: &Output,
    ) -> Result<u8, ApiError> {
        let Some(document) = output.document() else {
            return workflow::follow_run(way, &self.id, true).await;
        };
        let code = workflow::follow_run(way, &self.id, false).await?;
        let text = match document {
            Document::Json => {
                let run = way.carry_out(async |api| api.get::<Value>(&self.path()).await).await?;
                serde_json::to_string_pretty(&run).unwrap_or_default()
            }
            Document::Markdown => {
                way.carry_out(async |api| self.export(api, kept, "markdown").await).await?
            }
        };
        output.put(&text)?;
        Ok(code)
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
        let paper = Paper::of(&std::io::stdout());
        terminal::say(&format!("{}\n", paper.wrapped(&clean(board.prompt.trim()))));
        for further in board.rounds.iter().skip(1) {
            let question = format!("Question {}: {}", further.number, clean(further.prompt.trim()));
            terminal::say(&format!("{}\n", paper.wrapped(&question)));
        }
        terminal::say_styled(&render::whole(&board, paper));
        terminal::say(&format!("{} · {}", board.status_word(), render::footer(&board)));
    }
    output.write(api, &board.id).await?;
    Ok(exit::DONE)
}

async fn import(api: &Api, file: &std::path::Path) -> Result<u8, ApiError> {
    let shown = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|error| usage(format!("cannot read {shown}: {error}")))?;
    let body: Value = serde_json::from_str(&text)
        .map_err(|error| usage(format!("{shown} is not an exported board: {error}")))?;
    let board: Board = api.post("/api/boardrooms/import", &body).await?;
    terminal::say(&format!("Imported as {}", board.id));
    Ok(exit::DONE)
}

fn text_in<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
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
    let time_of = |at: &Value| -> i64 {
        let at = at.as_str().and_then(|at| at.parse::<jiff::Timestamp>().ok());
        at.map_or(0, |at| at.as_millisecond())
    };
    // A run's record is its steps.
    if let Some(steps) = exported["run"]["steps"].as_array() {
        let start = time_of(&exported["run"]["beganAt"]);
        let mut ended: Vec<&Value> =
            steps.iter().filter(|step| step["endedAt"].is_string()).collect();
        ended.sort_by_key(|step| time_of(&step["endedAt"]));
        for step in ended {
            let since = duration((time_of(&step["endedAt"]) - start).max(0) as u64);
            let (place, status) = (clean(text_in(step, "place")), clean(text_in(step, "status")));
            let reason = line(text_in(step, "reason"), 70);
            terminal::say(format!("{since:>10}  {status:<9}  {place}  {reason}").trim_end());
        }
        return Ok(exit::DONE);
    }
    let events = exported["events"].as_array().map(Vec::as_slice).unwrap_or_default();
    let time = |event: &Value| time_of(&event["at"]);
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
            &data["question"],
            &data["text"],
            &data["reasoning"],
            &data["why"],
            &data["reason"],
            &data["what"]["question"],
            &data["what"]["step"],
        ]
        .into_iter()
        .find_map(Value::as_str)
        .unwrap_or_default();
        let votes = data["votes"].as_array().map(|votes| {
            let vote = |vote: &Value| format!("{} {}", vote["point"], clean(text_in(vote, "vote")));
            votes.iter().map(vote).collect::<Vec<_>>().join(", ")
        });
        let text: String = line(votes.as_deref().unwrap_or(text), 70);
        let speaker =
            [&data["speaker"], &data["what"]["speaker"]].into_iter().find_map(Value::as_str);
        let speaker = speaker.map(|who| format!(" {}", clean(who))).unwrap_or_default();
        let post = [&data["id"], &data["post"]].into_iter().find_map(Value::as_str);
        let post = post.map(|post| format!(" {}", clean(post))).unwrap_or_default();
        terminal::say(format!("{since:>10}  {kind}{seat}{speaker}{post}  {text}").trim_end());
    }
    Ok(exit::DONE)
}
