//! `plenary boards`

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use plenary_domain::boardroom::own::standard;
use serde_json::{Map, Value, json};

use super::ask::{self, Setting};
use super::budget::Limit;
use super::{exit, print_json, text, time, usage};
use crate::api::{Api, ApiError, encode};
use crate::config::Config;
use crate::reach::Reach;
use crate::terminal::{self, clean};

#[derive(Args)]
pub struct Boards {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List boards: those that ship with Plenary first, then yours
    List {
        /// Print JSON, and nothing else
        #[arg(long)]
        json: bool,
    },
    /// Show one, and what it needs that is not here
    Show(Which),
    /// Save one
    Add {
        /// What it is called: small letters, digits, dots, dashes, underscores
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        values: Values,
        /// Print JSON, and nothing else
        #[arg(long)]
        json: bool,
    },
    /// Change one of yours: what is given, and nothing else
    Edit {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        values: Values,
        /// What it should not have any more (repeat)
        #[arg(long, value_name = "WHAT")]
        clear: Vec<Clear>,
    },
    /// Save a copy of one, such as of one that ships with Plenary
    Copy {
        #[command(flatten)]
        which: Which,
        /// What the copy is called, if not "…-copy"
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        #[command(flatten)]
        values: Values,
    },
    /// Remove one of yours; sessions convened from it keep what it said
    Remove(Which),
    /// Write one out as a file to keep and review
    Export {
        /// The board's name
        #[arg(value_name = "BOARD")]
        board: String,
        /// Write JSON instead of TOML
        #[arg(long)]
        json: bool,
        /// Write it to a file
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Save a board from its file
    Import {
        /// The file; `-` reads it from standard input
        #[arg(value_name = "FILE")]
        file: String,
        /// Another name than the file says
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Replace a board of that name
        #[arg(long)]
        replace: bool,
        /// Print JSON, and nothing else
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
struct Which {
    /// The board's name
    #[arg(value_name = "BOARD")]
    board: String,
    /// Print JSON, and nothing else
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Values {
    /// What people read, if not the name
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// One line for lists
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// An advisor: MODEL, @AGENT, a tier (fast, balanced, strong), person or person:NAME; the
    /// role may be your own (repeat)
    #[arg(long = "advisor", value_name = "ROLE[=WHO]")]
    advisors: Vec<String>,
    /// A system prompt instead of the role's own; @FILE reads it from a file (repeat)
    #[arg(long = "system", value_name = "ROLE=TEXT", requires = "advisors")]
    systems: Vec<String>,
    /// Two letters for a role of your own (repeat)
    #[arg(long = "initials", value_name = "ROLE=XY", requires = "advisors")]
    initials: Vec<String>,
    /// A colour for a role of your own: #00897b (repeat)
    #[arg(long = "colour", value_name = "ROLE=COLOUR", requires = "advisors")]
    colours: Vec<String>,
    /// A sign for a role of your own (repeat)
    #[arg(long = "glyph", value_name = "ROLE=SIGN", requires = "advisors")]
    glyphs: Vec<String>,
    /// How freely models choose their words, from 0 to 2; ROLE=T for one of them (repeat)
    #[arg(long = "temperature", value_name = "[ROLE=]T", requires = "advisors")]
    temperatures: Vec<String>,
    /// Tokens of one answer; ROLE=N for one advisor (repeat)
    #[arg(long = "output-tokens", value_name = "[ROLE=]N", requires = "advisors")]
    output_tokens: Vec<String>,
    /// Ask each model for this many answers at once; ROLE=N for one advisor (repeat)
    #[arg(long = "tries", value_name = "[ROLE=]N", requires = "advisors")]
    tries: Vec<String>,
    /// Who writes the synthesis: a model or a tier
    #[arg(long, value_name = "MODEL")]
    synthesizer: Option<String>,
    /// Said before what every synthesis is told; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    synthesis_prompt: Option<String>,
    /// Synthesize when this many have answered …
    #[arg(long, value_name = "N")]
    quorum: Option<usize>,
    /// … and the others have had this much longer: 20s, 2m
    #[arg(long, value_name = "TIME", requires = "quorum")]
    grace: Option<String>,
    /// Let the advisors vote on each point of the synthesis
    #[arg(long)]
    ballot: bool,
    /// Let people see what the others say before they have answered themselves
    #[arg(long)]
    open_answers: bool,
    /// The language that all answer in
    #[arg(long, value_name = "LANGUAGE")]
    language: Option<String>,
    #[command(flatten)]
    limit: Limit,
}

#[derive(Clone, Copy, ValueEnum)]
enum Clear {
    Title,
    Description,
    Synthesis,
    Quorum,
    Ballot,
    OpenAnswers,
    Language,
    Budget,
}

impl Boards {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        let reach = Reach::open(&config, "plenary boards").await?;
        let result = self.command.run(&reach.api).await;
        reach.close().await;
        result
    }
}

impl Command {
    async fn run(self, api: &Api) -> Result<u8, ApiError> {
        match self {
            Command::List { json } => list(api, json).await?,
            Command::Show(which) => {
                let board: Value = api.get(&which.path()).await?;
                if which.json {
                    print_json(&board);
                } else {
                    show(&board);
                }
            }
            Command::Add { name, values, json } => {
                let mut body = values.body()?;
                body.insert("name".into(), json!(name));
                saved(&api.post("/api/boards", &body.into()).await?, json);
            }
            Command::Edit { which, values, clear } => {
                let mut body = values.body()?;
                clear.into_iter().for_each(|what| what.from(&mut body));
                let edited = api.patch(&which.path(), &body.into()).await;
                let board: Value = edited.map_err(|error| which.copy_instead(error))?;
                which.print(&board, &format!("{} is changed.", word(&board, "name")));
                if !which.json {
                    lacks(&board);
                }
            }
            Command::Copy { which, name, values } => {
                let mut body = values.body()?;
                body.extend(name.map(|name| ("name".into(), json!(name))));
                body.insert("copyOf".into(), json!(which.board));
                saved(&api.post("/api/boards", &body.into()).await?, which.json);
            }
            Command::Remove(which) => {
                let removed = api.delete(&which.path()).await;
                removed.map_err(|error| which.copy_instead(error))?;
                which.print(&json!({}), "Removed.");
            }
            Command::Export { board, json, output } => {
                let format = if json { "json" } else { "toml" };
                let path = format!("/api/boards/{}/export?format={format}", encode(&board));
                let file = api.text(&path).await?;
                match output {
                    Some(path) => {
                        let written = std::fs::write(&path, &file);
                        written.map_err(|error| {
                            usage(format!("{} cannot be written: {error}", path.display()))
                        })?;
                        terminal::note(&format!("Written to {}.", path.display()));
                    }
                    None => terminal::say(file.trim_end()),
                }
            }
            Command::Import { file, name, replace, json } => {
                let text = match file.as_str() {
                    "-" => text("-")?,
                    path => std::fs::read_to_string(path)
                        .map_err(|error| usage(format!("{path} cannot be read: {error}")))?,
                };
                let mut body = json!({ "file": text, "replace": replace });
                if let Some(name) = name {
                    body["name"] = json!(name);
                }
                let imported = api.post("/api/boards/import", &body).await;
                saved(&imported.map_err(replace_or_rename)?, json);
            }
        }
        Ok(exit::DONE)
    }
}

impl Which {
    fn path(&self) -> String {
        format!("/api/boards/{}", encode(&self.board))
    }

    fn print(&self, board: &Value, line: &str) {
        if self.json {
            print_json(board);
        } else {
            terminal::say(line);
        }
    }

    /// One that ships with Plenary is not changed; what can be done has a command.
    fn copy_instead(&self, error: ApiError) -> ApiError {
        if error.code != "not-now" {
            return error;
        }
        let hint = format!("plenary boards copy {} --name NAME", self.board);
        ApiError { hint: Some(hint), ..error }
    }
}

/// A file whose board is here already can be taken in all the same.
fn replace_or_rename(error: ApiError) -> ApiError {
    match error.code == "taken" {
        true => {
            let hint = "Add --replace to replace it, or --name NAME to save it under another.";
            ApiError { hint: Some(hint.to_owned()), ..error }
        }
        false => error,
    }
}

impl Values {
    /// A body with what was given.
    fn body(self) -> Result<Map<String, Value>, ApiError> {
        let mut body = Map::new();
        if !self.advisors.is_empty() {
            body.insert("seats".into(), json!(self.seats()?));
        } else if self.limit.names_seats() {
            return Err(usage("--budget ROLE=AMOUNT belongs to an --advisor"));
        }
        body.extend(self.title.map(|title| ("title".into(), json!(title))));
        body.extend(self.description.map(|about| ("description".into(), json!(about))));
        body.extend(self.language.map(|language| ("language".into(), json!(language))));
        let mut synthesis = Map::new();
        if let Some(written) = self.synthesizer {
            let field = if is_tier(&written) { "tier" } else { "model" };
            synthesis.insert(field.into(), json!(written));
        }
        if let Some(prompt) = self.synthesis_prompt {
            synthesis.insert("prompt".into(), json!(text(&prompt)?));
        }
        if !synthesis.is_empty() {
            body.insert("synthesis".into(), synthesis.into());
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
        if self.open_answers {
            body.insert("openAnswers".into(), json!(true));
        }
        body.extend(self.limit.body()?.map(|budget| ("budget".into(), budget)));
        Ok(body)
    }

    fn seats(&self) -> Result<Vec<Value>, ApiError> {
        let mut seats: Vec<Value> = self.advisors.iter().map(|one| advisor(one)).collect();
        for (role, prompt) in ask::systems(&self.systems)? {
            ask::set(&mut seats, "--system", &role, "systemPrompt", &json!(prompt))?;
        }
        for (flag, field, given) in [
            ("--initials", "initials", &self.initials),
            ("--colour", "colour", &self.colours),
            ("--glyph", "glyph", &self.glyphs),
        ] {
            for written in given {
                let (role, value) = written
                    .split_once('=')
                    .ok_or_else(|| usage(format!("{flag} {written}: write ROLE=…")))?;
                ask::set(&mut seats, flag, role.trim(), field, &json!(value.trim()))?;
            }
        }
        let given = ask::settings(&self.temperatures, &self.output_tokens, &self.tries)?;
        for Setting { flag, field, role, value } in given {
            match role {
                Some(role) => ask::set(&mut seats, flag, &role, field, &value)?,
                None => {
                    let models = seats.iter_mut().filter(|seat| seat.get("person").is_none());
                    models.for_each(|seat| seat[field] = value.clone());
                }
            }
        }
        let is_meant = |seat: &Value, name: &str| seat["role"] == ask::role_id(name);
        self.limit.sit(&mut seats, is_meant)?;
        Ok(seats)
    }
}

/// A seat as `ROLE[=WHO]` says; here a tier may sit there too.
fn advisor(written: &str) -> Value {
    let mut seat = ask::advisor(written);
    if let Some(tier) = seat["model"].as_str().filter(|model| is_tier(model)) {
        seat = json!({ "role": seat["role"], "tier": tier });
    }
    seat
}

fn is_tier(written: &str) -> bool {
    matches!(written, "fast" | "balanced" | "strong")
}

impl Clear {
    fn from(self, body: &mut Map<String, Value>) {
        let (field, value) = match self {
            Clear::Title => ("title", Value::Null),
            Clear::Description => ("description", Value::Null),
            Clear::Synthesis => ("synthesis", Value::Null),
            Clear::Quorum => ("quorum", Value::Null),
            Clear::Ballot => ("ballot", json!(false)),
            Clear::OpenAnswers => ("openAnswers", json!(false)),
            Clear::Language => ("language", Value::Null),
            Clear::Budget => ("budget", Value::Null),
        };
        body.insert(field.to_owned(), value);
    }
}

async fn list(api: &Api, json: bool) -> Result<(), ApiError> {
    let boards: Vec<Value> = api.get("/api/boards").await?;
    if json {
        print_json(&boards.into());
        return Ok(());
    }
    let widest = boards.iter().map(|board| word(board, "name").chars().count()).max().unwrap_or(0);
    for board in &boards {
        let about = word(board, "description");
        let about = if about.is_empty() { roles(board) } else { about };
        terminal::say(format!("{:<widest$}  {about}", word(board, "name")).trim_end());
    }
    if boards.iter().all(|board| board["isBuiltIn"] == true) {
        terminal::note("All of them ship with Plenary. Save your own: plenary boards add NAME");
    }
    Ok(())
}

fn roles(board: &Value) -> String {
    let seats = board["seats"].as_array().into_iter().flatten();
    seats.map(role).collect::<Vec<_>>().join(", ")
}

fn role(seat: &Value) -> String {
    match seat["ownRole"]["name"].as_str() {
        Some(own) => clean(own),
        None => {
            let written = word(seat, "role");
            standard(&written).map_or(written, |role| role.name().to_owned())
        }
    }
}

fn saved(board: &Value, json: bool) {
    if json {
        print_json(board);
        return;
    }
    let name = word(board, "name");
    terminal::say(&format!("{name} is saved."));
    lacks(board);
    terminal::note(&format!("  → plenary ask --board {name} \"…\""));
}

fn lacks(board: &Value) {
    for missing in board["missing"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        terminal::note(&format!("  Missing here: {}", clean(missing)));
    }
}

fn show(board: &Value) {
    let built_in = if board["isBuiltIn"] == true { ", ships with Plenary" } else { "" };
    terminal::say(&format!("{} ({}{built_in})", word(board, "title"), word(board, "name")));
    let about = word(board, "description");
    if !about.is_empty() {
        terminal::say(&about);
    }
    terminal::say("");
    let seats = board["seats"].as_array().into_iter().flatten();
    let rows: Vec<(String, String)> = seats.map(|seat| (role(seat), who(seat))).collect();
    let widest = rows.iter().map(|(role, _)| role.chars().count()).max().unwrap_or(0);
    for (role, who) in rows {
        terminal::say(format!("  {role:<widest$}  {who}").trim_end());
    }
    terminal::say("");
    let yes = |key: &str| (board[key] == true).then(|| "yes".to_owned());
    let synthesis = &board["synthesis"];
    let quorum = board["quorum"]["need"].as_u64().map(|need| {
        let grace = board["quorum"]["graceSeconds"].as_f64().unwrap_or_default();
        format!("{need}, then {grace} s for the others")
    });
    let rows = [
        ("synthesis", Some(who(synthesis)).filter(|_| synthesis.is_object())),
        ("quorum", quorum),
        ("ballot", yes("ballot")),
        ("open answers", yes("openAnswers")),
        ("language", board["language"].as_str().map(clean)),
        ("budget", Some(spends(&board["budget"])).filter(|spends| !spends.is_empty())),
    ];
    for (name, value) in rows {
        if let Some(value) = value {
            terminal::say(&format!("{name:<12} {value}"));
        }
    }
    lacks(board);
}

/// Who sits there, and how they are asked, in a few words.
fn who(seat: &Value) -> String {
    let text = |key: &str| seat[key].as_str().map(clean);
    let number =
        |key: &str, words: &str| seat[key].as_f64().map(|number| format!("{words} {number}"));
    let sits = [
        text("agent").map(|agent| format!("@{agent}")),
        text("person").map(|person| format!("person {person}")),
        text("model"),
        text("tier").map(|tier| format!("tier {tier}")),
    ];
    let sits = sits.into_iter().flatten().collect::<Vec<_>>().join(" by ");
    let sits = if sits.is_empty() { "any model".to_owned() } else { sits };
    let prompt = seat["systemPrompt"].as_str().or(seat["prompt"].as_str());
    let parts = [
        Some(sits),
        number("temperature", "temperature"),
        number("outputTokens", "output tokens"),
        number("tries", "tries"),
        prompt.map(|_| "prompt of its own".to_owned()),
        Some(spends(&seat["budget"])).filter(|spends| !spends.is_empty()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn spends(budget: &Value) -> String {
    let currency = budget["currency"].as_str().unwrap_or_default();
    let tokens = budget["tokens"].as_u64().map(|tokens| format!("{tokens} tokens"));
    let cost = budget["cost"].as_f64().map(|cost| format!("{cost} {currency}").trim().to_owned());
    let time = budget["seconds"].as_f64().map(|seconds| format!("{seconds} s"));
    [tokens, cost, time].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn word(value: &Value, key: &str) -> String {
    clean(value[key].as_str().unwrap_or_default())
}
