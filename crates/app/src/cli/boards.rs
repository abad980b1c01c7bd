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
    /// List boards, built-in ones first
    List {
        /// Print only JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a board, and what it needs that is missing here
    Show(Which),
    /// Save a board
    Add {
        /// Its name: lowercase letters, digits, dots, dashes, underscores
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        values: Values,
        /// Print only JSON
        #[arg(long)]
        json: bool,
    },
    /// Change one of your boards; what you leave out stays as it is
    Edit {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        values: Values,
        /// A field to clear (repeatable)
        #[arg(long, value_name = "WHAT")]
        clear: Vec<Clear>,
    },
    /// Copy a board, for example a built-in one
    Copy {
        #[command(flatten)]
        which: Which,
        /// The copy's name; "…-copy" by default
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        #[command(flatten)]
        values: Values,
    },
    /// Remove one of your boards; past sessions keep their own copy
    Remove(Which),
    /// Export a board to a file that you can keep and review
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
    /// Import a board from a file
    Import {
        /// The file; `-` reads it from standard input
        #[arg(value_name = "FILE")]
        file: String,
        /// A name other than the file's
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Replace a board of the same name
        #[arg(long)]
        replace: bool,
        /// Print only JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
struct Which {
    /// The board's name
    #[arg(value_name = "BOARD")]
    board: String,
    /// Print only JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Values {
    /// Its title; the name by default
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// One line, shown in lists
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// An advisor: MODEL, @AGENT, a tier (fast, balanced, strong), person or person:NAME; the role
    /// can be your own (repeatable)
    #[arg(long = "advisor", value_name = "ROLE[=WHO]")]
    advisors: Vec<String>,
    /// A system prompt in place of the role's; @FILE reads it from a file (repeatable)
    #[arg(long = "system", value_name = "ROLE=TEXT", requires = "advisors")]
    systems: Vec<String>,
    /// Initials for a custom role, two letters (repeatable)
    #[arg(long = "initials", value_name = "ROLE=XY", requires = "advisors")]
    initials: Vec<String>,
    /// Colour for a custom role: #00897b (repeatable)
    #[arg(long = "colour", value_name = "ROLE=COLOUR", requires = "advisors")]
    colours: Vec<String>,
    /// Symbol for a custom role (repeatable)
    #[arg(long = "glyph", value_name = "ROLE=SIGN", requires = "advisors")]
    glyphs: Vec<String>,
    /// Temperature, from 0 to 2; ROLE=T for one advisor (repeatable)
    #[arg(long = "temperature", value_name = "[ROLE=]T", requires = "advisors")]
    temperatures: Vec<String>,
    /// Tokens per answer; ROLE=N for one advisor (repeatable)
    #[arg(long = "output-tokens", value_name = "[ROLE=]N", requires = "advisors")]
    output_tokens: Vec<String>,
    /// Ask each model for this many answers at once; ROLE=N for one advisor (repeatable)
    #[arg(long = "tries", value_name = "[ROLE=]N", requires = "advisors")]
    tries: Vec<String>,
    /// The model or tier that writes the verdict
    #[arg(long, value_name = "MODEL")]
    synthesizer: Option<String>,
    /// Instruction for the verdict; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    synthesis_prompt: Option<String>,
    /// Minimum answers: the verdict is written once this many are in …
    #[arg(long, value_name = "N")]
    quorum: Option<usize>,
    /// … and the rest have had this much longer: 20s, 2m
    #[arg(long, value_name = "TIME", requires = "quorum")]
    grace: Option<String>,
    /// Let the advisors vote on each point of the verdict
    #[arg(long)]
    ballot: bool,
    /// Show people the other answers before they give their own
    #[arg(long)]
    open_answers: bool,
    /// The language to answer in
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
                which.print(&board, &format!("Changed {}.", word(&board, "name")));
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
                            usage(format!("cannot write {}: {error}", path.display()))
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
                        .map_err(|error| usage(format!("cannot read {path}: {error}")))?,
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
            let hint = "Add --replace to replace it, or --name NAME to save it under another name.";
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
            return Err(usage("--budget ROLE=AMOUNT needs an --advisor of that role"));
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
        terminal::note("All of these are built in. Save your own: plenary boards add NAME");
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
    terminal::say(&format!("Saved {name}."));
    lacks(board);
    terminal::note(&format!("  → plenary ask --board {name} \"…\""));
}

fn lacks(board: &Value) {
    for missing in board["missing"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        terminal::note(&format!("  Missing here: {}", clean(missing)));
    }
}

fn show(board: &Value) {
    let built_in = if board["isBuiltIn"] == true { ", built-in" } else { "" };
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
        format!("{need}, then {grace} s for the rest")
    });
    let rows = [
        ("verdict", Some(who(synthesis)).filter(|_| synthesis.is_object())),
        ("minimum", quorum),
        ("votes", yes("ballot")),
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
        number("outputTokens", "tokens per answer"),
        number("tries", "tries"),
        prompt.map(|_| "custom prompt".to_owned()),
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
