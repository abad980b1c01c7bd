//! `plenary discuss`

mod follow;
mod person;
mod seats;
pub mod steer;
mod table;
mod timeline;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use self::follow::{Followed, From, Show};
use self::seats::Seats;
use self::table::{Discussion, Status};
use super::ask::{Document, Output};
use super::budget::Limit;
use super::render::Paper;
use super::{exit, given, usage};
use crate::api::{Api, ApiError};
use crate::config::Config;
use crate::reach::Reach;
use crate::signals::Interrupt;
use crate::terminal::{self, clean};
use crate::way::Way;
use crate::{context, weights};

#[derive(Args)]
pub struct Discuss {
    /// What to discuss; `-` reads it from standard input
    #[arg(value_name = "TOPIC")]
    topic: String,
    /// The format; deliberation by default
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<FormatName>,
    /// Who leads: an agent's id or name; AGENT=MODEL uses another model, or makes up an agent of
    /// that name
    #[arg(long, value_name = "AGENT[=MODEL]", conflicts_with = "lead_as")]
    facilitator: Option<String>,
    /// Lead it yourself, under this name: you choose who speaks, what they are asked, and when to
    /// conclude
    #[arg(long, value_name = "NAME")]
    lead_as: Option<String>,
    /// A participant: an agent's id or name; AGENT=MODEL uses another model, or makes up an agent
    /// of that name; ROLE is participant, observer or devil_advocate (repeatable)
    #[arg(long = "with", value_name = "AGENT[=MODEL][:ROLE]")]
    with: Vec<String>,
    /// A person who takes part (repeatable)
    #[arg(long = "person", value_name = "NAME[:ROLE]")]
    persons: Vec<String>,
    /// Maximum rounds; the facilitator may conclude earlier. 5 by default
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
    /// The model for everyone who has none of their own
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// A file to attach: text, Markdown, code or PDF (repeatable)
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    limit: Limit,
    /// Its name in lists; taken from the topic by default
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The project it belongs to
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Only save a draft: show its estimate and how to start it
    #[arg(long)]
    draft: bool,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatName {
    Brainstorm,
    Review,
    Deliberation,
}

impl FormatName {
    fn id(self) -> &'static str {
        match self {
            FormatName::Brainstorm => "brainstorm",
            FormatName::Review => "review",
            FormatName::Deliberation => "deliberation",
        }
    }
}

impl Discuss {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        let person = || self.lead_as.as_ref().map(|name| json!({ "person": name }));
        let leader = self.facilitator.as_deref().map(seats::cast).or_else(person);
        let mut seats = Seats::read(leader, &self.with, &self.persons)?;
        seats.limit(&self.limit)?;
        let body = self.body()?;
        self.output.check()?;
        if self.draft {
            let reach = Reach::open(&config, "plenary discuss").await?;
            let mut way = Way::new(&config, "plenary discuss", reach);
            let drafted = self.prepare(&mut way, &mut seats, body).await;
            way.close().await;
            return drafted;
        }
        let reach = Reach::host(&config, "plenary discuss").await?;
        reach.note_resumed();
        let mut way = Way::new(&config, "plenary discuss", reach);
        let code = self.hold(&mut way, &mut seats, body).await;
        way.close().await;
        code
    }

    async fn hold(
        &self,
        way: &mut Way<'_>,
        seats: &mut Seats,
        body: Value,
    ) -> Result<u8, ApiError> {
        let interrupt = Interrupt::listen()?;
        let discussion = create(way, seats, body).await?;
        to_the_end(way, interrupt, discussion, From::Start, &self.output).await
    }

    async fn prepare(
        &self,
        way: &mut Way<'_>,
        seats: &mut Seats,
        body: Value,
    ) -> Result<u8, ApiError> {
        let draft = create(way, seats, body).await?;
        let api = way.api();
        let path = format!("/api/discussions/{}", draft.id);
        if self.output.is_plain() {
            let estimate = api.get(&format!("{path}/estimate")).await?;
            terminal::note_styled(&Paper::of(&std::io::stderr()).header(&draft));
            terminal::note_styled(&Paper::of(&std::io::stderr()).estimate(&estimate));
            terminal::say(&draft.id);
            terminal::note(&format!("  → plenary sessions start {}", draft.id));
        }
        write(api, &path, &self.output).await?;
        Ok(exit::DONE)
    }

    fn body(&self) -> Result<Value, ApiError> {
        let files: Result<Vec<Value>, String> =
            self.files.iter().map(|path| context::read(path)).collect();
        let files = files.map_err(usage)?;
        Ok(given([
            ("topic", json!(super::text(&self.topic)?)),
            ("format", json!(self.format.map(FormatName::id))),
            ("model", json!(self.model)),
            ("maxRounds", json!(self.rounds)),
            ("budget", json!(self.limit.body()?)),
            ("name", json!(self.name)),
            ("project", json!(self.project)),
            ("context", json!(Some(files).filter(|files| !files.is_empty()))),
            ("start", json!((!self.draft).then_some(true))),
        ]))
    }
}

async fn create(
    way: &mut Way<'_>,
    seats: &mut Seats,
    mut body: Value,
) -> Result<Discussion, ApiError> {
    seats.find_agents(way.api()).await?;
    seats.sit(&mut body);
    way.post("/api/discussions", &body).await.map_err(|error| seats.name_in(error))
}

/// Follows a discussion until it rests and prints it as asked for. The exit code
/// says how it ended.
async fn to_the_end(
    way: &mut Way<'_>,
    interrupt: Interrupt,
    discussion: Discussion,
    from: From,
    output: &Output,
) -> Result<u8, ApiError> {
    let path = format!("/api/discussions/{}", discussion.id);
    let quiet = output.is_document();
    let show = Show::of(quiet);
    let followed = follow::follow(way, interrupt, discussion, show, from).await?;
    if !quiet && followed.discussion.status == Status::Concluded {
        let paper = Paper::of(&std::io::stdout());
        terminal::say_styled(&paper.conclusion(&followed.discussion, paper.wraps));
    }
    way.carry_out(async |api| write(api, &path, output).await).await?;
    Ok(end(&followed, quiet))
}

async fn write(api: &Api, path: &str, output: &Output) -> Result<(), ApiError> {
    match output.document() {
        Some(Document::Json) => {
            let mut whole: Value = api.get(path).await?;
            whole["transcript"] = json!(table::transcript(api, path, 0).await?);
            output.put(&serde_json::to_string_pretty(&whole).unwrap_or_default())
        }
        Some(Document::Markdown) => {
            output.put(&api.text(&format!("{path}/export?format=markdown")).await?)
        }
        None => Ok(()),
    }
}

/// The last word, and the exit code.
fn end(followed: &Followed, quiet: bool) -> u8 {
    let discussion = &followed.discussion;
    let resume = format!("plenary sessions resume {}", discussion.id);
    let rests = |how: &str| {
        terminal::note(&format!("{how} Next: {}", timeline::due(discussion)));
        terminal::note(&format!("Resume: {resume}"));
        exit::INTERRUPTED
    };
    match discussion.status {
        Status::Concluded => {
            if !quiet {
                terminal::note_styled(&Paper::of(&std::io::stderr()).footer(discussion));
            }
            let seats = discussion.participants.iter().chain([&discussion.moderator]);
            let models = seats.filter_map(|seat| seat.model.as_deref());
            if let Some(note) = models.into_iter().find_map(weights::note) {
                terminal::note(note);
            }
            exit::DONE
        }
        Status::Paused => rests("Paused."),
        Status::Stopped => rests("Stopped; what has arrived is kept."),
        Status::Failed | Status::Draft | Status::Active | Status::Pausing => {
            let why = discussion.problem.as_deref().unwrap_or("The discussion stopped.");
            terminal::complain(&clean(why), Some(&resume));
            if followed.unreachable { exit::NO_MODEL } else { exit::FAILED }
        }
    }
}

/// `plenary sessions show` of a discussion.
pub async fn show(api: &Api, id: &str, output: &Output) -> Result<u8, ApiError> {
    let path = format!("/api/discussions/{id}");
    if output.is_plain() {
        let discussion: Discussion = api.get(&path).await?;
        let paper = Paper::of(&std::io::stdout());
        terminal::say_styled(&paper.header(&discussion));
        for entry in table::entries(api, &path, 0).await? {
            terminal::say_styled(&paper.entry(&discussion, &entry));
        }
        if discussion.conclusion.is_some() {
            terminal::say_styled(&paper.conclusion(&discussion, true));
        }
        if let Some(problem) = &discussion.problem {
            terminal::say(&format!("{}\n", clean(problem)));
        }
        let due = discussion.step.as_ref().map(|_| format!(" · {}", timeline::due(&discussion)));
        let status = discussion.status.name();
        terminal::say(&format!("{status}{}", due.unwrap_or_default()));
        terminal::note_styled(&Paper::of(&std::io::stderr()).footer(&discussion));
    }
    write(api, &path, output).await?;
    Ok(exit::DONE)
}
