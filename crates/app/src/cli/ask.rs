//! `plenary ask`

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use plenary_domain::boardroom::own::standard;
use plenary_domain::boardroom::preset;
use serde_json::{Map, Value, json};

use super::board::Board;
use super::budget::Limit;
use super::follow::{self, Ending, Followed, Show};
use super::render::{self, Paper};
use super::{exit, sessions, time, usage};
use crate::api::{Api, ApiError};
use crate::config::Config;
use crate::reach::Reach;
use crate::signals::Interrupt;
use crate::terminal::Ink;
use crate::way::Way;
use crate::{context, terminal, weights};

/// What a board has from when it was convened.
const SETUP: [&str; 18] = [
    "preset",
    "board",
    "advisors",
    "models",
    "systems",
    "synthesizer",
    "synthesis_prompt",
    "temperatures",
    "output_tokens",
    "tries",
    "language",
    "quorum",
    "grace",
    "ballot",
    "open_answers",
    "files",
    "budget",
    "estimate",
];

#[derive(Args)]
pub struct Ask {
    /// The question; `-` reads it from standard input
    #[arg(value_name = "PROMPT", required_unless_present = "preset")]
    prompt: Option<String>,
    /// Ask a follow-up to a board that is done; `@critic …` asks one advisor
    #[arg(long, value_name = "SESSION", conflicts_with_all = SETUP)]
    follow_up: Option<String>,
    /// A sample question: microservices-vs-monolith, ai-in-hiring, remote-first,
    /// open-source-the-product, rewrite-in-rust
    #[arg(long, value_name = "NAME", conflicts_with = "prompt")]
    preset: Option<String>,
    /// The board: classic-triad, devils-court, full-board, peer-review, a saved one, or the path of
    /// a board file
    #[arg(long, value_name = "NAME|FILE")]
    board: Option<String>,
    /// An advisor, in place of a board; the role can be your own. ROLE=@AGENT seats an agent,
    /// ROLE=person seats you (repeatable)
    #[arg(long = "advisor", value_name = "ROLE[=MODEL]", conflicts_with = "board")]
    advisors: Vec<String>,
    /// A model to seat advisors with, in turn (repeatable)
    #[arg(long = "model", value_name = "MODEL")]
    models: Vec<String>,
    /// A system prompt in place of the role's; @FILE reads it from a file (repeatable)
    #[arg(long = "system", value_name = "ROLE=TEXT")]
    systems: Vec<String>,
    /// The model that writes the verdict
    #[arg(long, value_name = "MODEL")]
    synthesizer: Option<String>,
    /// Instruction for the verdict, in place of the board's; @FILE reads it from a file
    #[arg(long, value_name = "TEXT")]
    synthesis_prompt: Option<String>,
    /// Temperature, from 0 to 2; ROLE=T for one advisor (repeatable)
    #[arg(long = "temperature", value_name = "[ROLE=]T")]
    temperatures: Vec<String>,
    /// Tokens per answer; ROLE=N for one advisor (repeatable)
    #[arg(long = "output-tokens", value_name = "[ROLE=]N")]
    output_tokens: Vec<String>,
    /// Ask each model for this many answers at once; ROLE=N for one advisor (repeatable)
    #[arg(long = "tries", value_name = "[ROLE=]N")]
    tries: Vec<String>,
    /// The language to answer in
    #[arg(long, value_name = "LANGUAGE")]
    language: Option<String>,
    /// Minimum answers: the verdict is written once this many are in …
    #[arg(long, value_name = "N")]
    quorum: Option<usize>,
    /// … and the rest have had this much longer: 20s, 2m
    #[arg(long, value_name = "TIME", requires = "quorum")]
    grace: Option<String>,
    /// Let the advisors vote on each point of the verdict: accept, reject or defer
    #[arg(long)]
    ballot: bool,
    /// Show people the other answers before they give their own
    #[arg(long)]
    open_answers: bool,
    /// A file to attach: text, code, PDF or image (repeatable)
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    limit: Limit,
    /// Only show the estimate; ask no one
    #[arg(long, conflicts_with_all = ["markdown", "output"])]
    estimate: bool,
    #[command(flatten)]
    output: Output,
}

/// What is printed, and where to.
#[derive(Args)]
pub struct Output {
    /// Print only the session, as JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print only the session, as Markdown
    #[arg(long)]
    markdown: bool,
    /// Write it to a file (Markdown unless --json)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Document {
    Json,
    Markdown,
}

impl Ask {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        self.output.check()?;
        if let Some(session) = &self.follow_up {
            let body = json!({ "prompt": self.question()? });
            let reach = Reach::host(&config, "plenary ask").await?;
            let mut way = Way::new(&config, "plenary ask", reach);
            let code = match sessions::board(way.api(), session, "asked a follow-up").await {
                Ok(path) => {
                    to_the_end(&mut way, &format!("{path}/follow-up"), &body, &self.output).await
                }
                Err(error) => Err(error),
            };
            way.close().await;
            return code;
        }
        let body = self.body()?;
        if self.estimate {
            let reach = Reach::open(&config, "plenary ask").await?;
            let foreseen = self.foresee(&reach.api, &body).await;
            reach.close().await;
            return foreseen;
        }
        let reach = Reach::host(&config, "plenary ask").await?;
        reach.note_resumed();
        let mut way = Way::new(&config, "plenary ask", reach);
        let code = to_the_end(&mut way, "/api/boardrooms", &body, &self.output).await;
        way.close().await;
        code
    }

    async fn foresee(&self, api: &Api, body: &Value) -> Result<u8, ApiError> {
        let path = "/api/boardrooms/estimate";
        if self.output.json {
            super::print_json(&api.post(path, body).await?);
        } else {
            let paper = Paper { ink: Ink::none(), ..Paper::of(&std::io::stdout()) };
            terminal::say(&paper.estimate(&api.post(path, body).await?));
        }
        Ok(exit::DONE)
    }

    fn body(&self) -> Result<Value, ApiError> {
        let mut body = Map::new();
        body.insert("prompt".into(), json!(self.question()?));
        let systems = self.systems()?;
        let settings = self.settings()?;
        let names_seats = settings.iter().any(|setting| setting.role.is_some());
        let is_plain = self.advisors.is_empty() && systems.is_empty() && !names_seats;
        if is_plain && !self.limit.names_seats() {
            match self.board.as_deref() {
                Some(path) if is_path(path) => {
                    let text = std::fs::read_to_string(path)
                        .map_err(|error| usage(format!("cannot read {path}: {error}")))?;
                    body.insert("boardFile".into(), json!(text));
                }
                Some(board) => {
                    body.insert("board".into(), json!(board));
                }
                None => {}
            }
        } else {
            body.insert("advisors".into(), json!(self.seats(&systems, &settings)?));
        }
        for setting in settings.iter().filter(|setting| setting.role.is_none()) {
            body.insert(setting.field.into(), setting.value.clone());
        }
        if let Some(language) = &self.language {
            body.insert("language".into(), json!(language));
        }
        if !self.models.is_empty() {
            body.insert("models".into(), json!(self.models));
        }
        if let Some(synthesizer) = &self.synthesizer {
            body.insert("synthesizer".into(), json!(synthesizer));
        }
        if let Some(prompt) = &self.synthesis_prompt {
            body.insert("synthesisPrompt".into(), json!(text_or_file(prompt)?));
        }
        if let Some(need) = self.quorum {
            let mut quorum = json!({ "need": need });
            if let Some(grace) = &self.grace {
                quorum["graceSeconds"] = json!(time::seconds(grace)?);
            }
            body.insert("quorum".into(), quorum);
        }
        if self.ballot {
            body.insert("ballot".into(), json!(true));
        }
        if let Some(budget) = self.limit.body()? {
            body.insert("budget".into(), budget);
        }
        if self.open_answers {
            body.insert("openAnswers".into(), json!(true));
        }
        if !self.files.is_empty() {
            let files: Result<Vec<Value>, String> =
                self.files.iter().map(|path| context::read(path)).collect();
            body.insert("context".into(), json!(files.map_err(usage)?));
        }
        Ok(Value::Object(body))
    }

    fn question(&self) -> Result<String, ApiError> {
        if let Some(name) = &self.preset {
            let found = preset::PROMPTS.iter().find(|prompt| prompt.id == name);
            let names = || preset::PROMPTS.map(|prompt| prompt.id).join(", ");
            return found.map(|prompt| prompt.text.to_owned()).ok_or_else(|| {
                usage(format!("there is no sample question {name:?}; available: {}", names()))
            });
        }
        match self.prompt.as_deref() {
            Some(text) => super::text(text),
            None => Ok(String::new()),
        }
    }

    /// The advisors that were named, or those of the board, with their prompts.
    fn seats(
        &self,
        systems: &[(String, String)],
        settings: &[Setting],
    ) -> Result<Vec<Value>, ApiError> {
        let mut seats = vec![];
        if self.advisors.is_empty() {
            let id = self.board.as_deref().unwrap_or("classic-triad");
            let board = preset::board(id).ok_or_else(|| {
                let problem = format!("flags cannot change the seats of {id}; make a copy of it");
                ApiError { hint: Some(format!("plenary boards copy {id}")), ..usage(problem) }
            })?;
            seats.extend(board.roles.iter().map(|role| json!({ "role": role.id() })));
        }
        seats.extend(self.advisors.iter().map(|written| advisor(written)));
        for (role, prompt) in systems {
            set(&mut seats, "--system", role, "systemPrompt", &json!(prompt))?;
        }
        for Setting { flag, field, role, value } in settings {
            if let Some(role) = role {
                set(&mut seats, flag, role, field, value)?;
            }
        }
        let is_meant = |seat: &Value, name: &str| seat["role"] == role_id(name);
        self.limit.sit(&mut seats, is_meant)?;
        Ok(seats)
    }

    /// How models are asked, all of them or those of one role.
    fn settings(&self) -> Result<Vec<Setting>, ApiError> {
        settings(&self.temperatures, &self.output_tokens, &self.tries)
    }

    fn systems(&self) -> Result<Vec<(String, String)>, ApiError> {
        systems(&self.systems)
    }
}

/// A seat as `ROLE[=WHO]` says.
pub fn advisor(written: &str) -> Value {
    let (role, who) = written.split_once('=').unwrap_or((written, ""));
    let mut seat = json!({ "role": role_id(role) });
    match (who.split_once(':').unwrap_or((who, "")), who.strip_prefix('@')) {
        (_, Some(agent)) => seat["agent"] = json!(agent),
        (("", _), _) => {}
        (("person", ""), _) => seat["person"] = json!("you"),
        (("person", name), _) => seat["person"] = json!(name),
        _ => seat["model"] = json!(who),
    }
    seat
}

/// What `--temperature`, `--output-tokens` and `--tries` say.
pub fn settings(
    temperatures: &[String],
    output_tokens: &[String],
    tries: &[String],
) -> Result<Vec<Setting>, ApiError> {
    let mut all = vec![];
    for (flag, field, given) in [
        ("--temperature", "temperature", temperatures),
        ("--output-tokens", "outputTokens", output_tokens),
        ("--tries", "tries", tries),
    ] {
        for written in given {
            let (role, number) = match written.split_once('=') {
                Some((role, number)) => (Some(role_id(role)), number),
                None => (None, written.as_str()),
            };
            let value = match field {
                "temperature" => number.trim().parse::<f64>().ok().map(|number| json!(number)),
                _ => number.trim().parse::<u32>().ok().map(|number| json!(number)),
            };
            let value = value.ok_or_else(|| usage(format!("{flag} {written}: not a number")))?;
            all.push(Setting { flag, field, role, value });
        }
    }
    Ok(all)
}

/// What `--system ROLE=TEXT` says.
pub fn systems(written: &[String]) -> Result<Vec<(String, String)>, ApiError> {
    let read = |written: &String| {
        let (role, text) = written
            .split_once('=')
            .ok_or_else(|| usage(format!("--system {written}: write ROLE=TEXT")))?;
        Ok((role_id(role), text_or_file(text)?))
    };
    written.iter().map(read).collect()
}

/// A text as it is written, or that of `@FILE`.
fn text_or_file(written: &str) -> Result<String, ApiError> {
    match written.strip_prefix('@') {
        Some(path) => std::fs::read_to_string(path)
            .map_err(|error| usage(format!("cannot read {path}: {error}"))),
        None => Ok(written.to_owned()),
    }
}

/// One value of a flag that is for all models, or for those of one role.
pub struct Setting {
    pub flag: &'static str,
    pub field: &'static str,
    pub role: Option<String>,
    pub value: Value,
}

/// Gives every seat of a role a value.
pub fn set(
    seats: &mut [Value],
    flag: &str,
    role: &str,
    field: &str,
    value: &Value,
) -> Result<(), ApiError> {
    let mut held = seats.iter_mut().filter(|seat| seat["role"] == role).peekable();
    if held.peek().is_none() {
        return Err(usage(format!("{flag} {role}=…: no advisor has the role {role}")));
    }
    held.for_each(|seat| seat[field] = value.clone());
    Ok(())
}

/// One of the six by its id, as people write it; else a role of one's own, by its name.
pub fn role_id(text: &str) -> String {
    let standard = standard(text);
    standard.map_or_else(|| text.trim().to_owned(), |role| role.id().to_owned())
}

/// Whether a board is named by where its file is.
pub fn is_path(written: &str) -> bool {
    let end = Path::new(written).extension().and_then(|end| end.to_str());
    written.contains(std::path::is_separator) || matches!(end, Some("toml" | "json"))
}

/// Gives a command that sets a board in motion, follows the board and prints it as
/// asked for. The exit code says how it ended.
pub async fn to_the_end(
    way: &mut Way<'_>,
    path: &str,
    body: &Value,
    output: &Output,
) -> Result<u8, ApiError> {
    let interrupt = Interrupt::listen()?;
    let board: Board = way.post(path, body).await?;
    // What had been said before this command was given is known already.
    let known = board.settled().collect();
    finish(way, interrupt, board, known, output).await
}

/// The same for a board that was under way. Whoever holds the folder goes on with it, so
/// that it may be over before it is asked for; all of it is shown.
pub async fn rejoin(way: &mut Way<'_>, path: &str, output: &Output) -> Result<u8, ApiError> {
    let interrupt = Interrupt::listen()?;
    let board = match way.post(&format!("{path}/resume"), &json!({})).await {
        Err(error) if error.code == "not-now" => {
            way.carry_out(async |api| api.get::<Board>(path).await).await?
        }
        other => other?,
    };
    finish(way, interrupt, board, BTreeSet::new(), output).await
}

/// The same for votes: the ballot may be over with them, and is shown then.
pub async fn vote(
    way: &mut Way<'_>,
    path: &str,
    body: &Value,
    output: &Output,
) -> Result<u8, ApiError> {
    let interrupt = Interrupt::listen()?;
    let board: Board = way.post(path, body).await?;
    let mut known: BTreeSet<String> = board.settled().collect();
    let last = board.syntheses.last().and_then(|last| last.votes.settled(last.number));
    if let Some(ballot) = last {
        known.remove(&ballot);
    }
    finish(way, interrupt, board, known, output).await
}

async fn finish(
    way: &mut Way<'_>,
    interrupt: Interrupt,
    board: Board,
    known: BTreeSet<String>,
    output: &Output,
) -> Result<u8, ApiError> {
    let show = output.show();
    let followed = follow::follow(way, interrupt, board, known, show).await?;
    let id = &followed.board.id;
    way.carry_out(async |api| output.write(api, id).await).await?;
    Ok(conclude(&followed, show))
}

impl Output {
    fn show(&self) -> Show {
        match (
            self.is_document(),
            terminal::redraws(&std::io::stdout()) && std::io::stdin().is_terminal(),
        ) {
            (true, _) => Show::Nothing,
            (false, true) => Show::Panes,
            (false, false) => Show::Plain,
        }
    }

    /// A file that cannot be written is better known before anything is paid for.
    pub fn check(&self) -> Result<(), ApiError> {
        let Some(file) = &self.output else { return Ok(()) };
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let shown = file.display();
        match folder {
            _ if file.is_dir() => {
                Err(super::usage(format!("{shown} is a folder; name a file in it")))
            }
            Some(folder) if !folder.is_dir() => {
                Err(super::usage(format!("cannot write {shown}: there is no such folder")))
            }
            _ => Ok(()),
        }
    }

    /// Neither JSON nor Markdown nor a file was asked for.
    pub fn is_plain(&self) -> bool {
        self.document().is_none()
    }

    /// Standard output is for a document, and nothing else.
    pub fn is_document(&self) -> bool {
        (self.json || self.markdown) && self.output.is_none()
    }

    /// What is to be written out.
    pub fn document(&self) -> Option<Document> {
        match (self.json, self.markdown || self.output.is_some()) {
            (true, _) => Some(Document::Json),
            (false, true) => Some(Document::Markdown),
            (false, false) => None,
        }
    }

    pub async fn write(&self, api: &Api, id: &str) -> Result<(), ApiError> {
        let path = format!("/api/boardrooms/{id}");
        let text = match self.document() {
            Some(Document::Json) => {
                let board: Value = api.get(&path).await?;
                serde_json::to_string_pretty(&board).unwrap_or_default()
            }
            Some(Document::Markdown) => api.text(&format!("{path}/export?format=markdown")).await?,
            None => return Ok(()),
        };
        self.put(&text)
    }

    /// What is there in both forms, as it was asked for.
    pub fn print(&self, json: &Value, markdown: &str) -> Result<(), ApiError> {
        match self.json {
            true => self.put(&serde_json::to_string_pretty(json).unwrap_or_default()),
            false => self.put(markdown),
        }
    }

    pub fn put(&self, text: &str) -> Result<(), ApiError> {
        match &self.output {
            Some(file) => write_file(file, text),
            None => {
                terminal::say_document(text.trim_end());
                Ok(())
            }
        }
    }
}

/// Writes a file, and says where it is.
pub fn write_file(path: &Path, text: &str) -> Result<(), ApiError> {
    let text = format!("{}\n", text.trim_end());
    std::fs::write(path, text)
        .map_err(|error| usage(format!("cannot write {}: {error}", path.display())))?;
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    terminal::note(&format!("Written to {}", whole.display()));
    Ok(())
}

fn conclude(followed: &Followed, show: Show) -> u8 {
    let board = &followed.board;
    let id = &board.id;
    match followed.ending {
        Ending::Interrupted => {
            terminal::note(&format!(
                "Stopped; what has arrived is kept. Resume: plenary sessions resume {id}"
            ));
            return exit::INTERRUPTED;
        }
        Ending::Awaiting => {
            if let Some(how) = super::ballot::how_to_vote(board) {
                terminal::note(&how);
                return exit::DONE;
            }
            let seat = board.waiting().map_or(0, |advisor| advisor.id);
            terminal::note(&format!(
                "The board is waiting for a reply: plenary sessions reply {id} --advisor {seat} \
                 \"…\""
            ));
            return exit::DONE;
        }
        Ending::Over => {}
    }
    if show == Show::Panes {
        terminal::note(&render::footer(board));
    }
    let models = board.advisors.iter().filter_map(|advisor| advisor.model.as_deref());
    if let Some(note) = models.into_iter().find_map(weights::note) {
        terminal::note(note);
    }
    match board.status.as_str() {
        "closed" => exit::DONE,
        _ => {
            let why = board.failure.as_deref().unwrap_or("The board was stopped.");
            terminal::complain(
                &terminal::clean(why),
                Some(&format!("plenary sessions resume {id}")),
            );
            let failures = board.advisors.iter().filter_map(|a| a.said.error.as_ref());
            let kinds: Vec<&str> = failures.map(|error| error.kind.as_str()).collect();
            let unreachable = kinds.len() == board.advisors.len()
                && kinds.iter().all(|kind| *kind == "unreachable");
            if unreachable { exit::NO_MODEL } else { exit::FAILED }
        }
    }
}
