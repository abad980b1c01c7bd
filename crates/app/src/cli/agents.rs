//! `plenary agents`

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Map, Value, json};

use super::{exit, print_json, text, time, usage};
use crate::api::{Api, ApiError, encode};
use crate::config::Config;
use crate::reach::Reach;
use crate::rounded::{self, count};
use crate::terminal::{self, clean};

#[derive(Args)]
pub struct Agents {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List agents, built-in ones first
    List {
        /// Only facilitators
        #[arg(long)]
        facilitators: bool,
        /// Print only JSON
        #[arg(long)]
        json: bool,
    },
    /// Show an agent, with its persona
    Show(Which),
    /// Add an agent
    Add {
        /// Its name; the id is made from it
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        values: Values,
        /// Print only JSON
        #[arg(long)]
        json: bool,
    },
    /// Change one of your agents; what you leave out stays as it is
    Edit {
        #[command(flatten)]
        which: Which,
        /// A new name; the id stays the same
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        #[command(flatten)]
        values: Values,
        /// It cannot lead discussions
        #[arg(long, conflicts_with = "facilitator")]
        no_facilitator: bool,
        /// A field to clear (repeatable)
        #[arg(long, value_name = "WHAT")]
        clear: Vec<Clear>,
    },
    /// Copy an agent, for example a built-in one
    Copy {
        #[command(flatten)]
        which: Which,
        /// The copy's name; "… (copy)" by default
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        #[command(flatten)]
        values: Values,
    },
    /// Remove one of your agents; sessions it took part in keep their own copy
    Remove(Which),
}

#[derive(Args)]
struct Which {
    /// The agent's id or name
    #[arg(value_name = "AGENT")]
    agent: String,
    /// Print only JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Values {
    /// Its persona, sent to the model; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", conflicts_with = "persona_file")]
    persona: Option<String>,
    /// A file that contains the persona
    #[arg(long, value_name = "FILE")]
    persona_file: Option<PathBuf>,
    /// One line, shown in lists
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// The model it uses; any model by default
    #[arg(long, value_name = "MODEL", conflicts_with = "tier")]
    model: Option<String>,
    /// A tier, in place of one model
    #[arg(long, value_name = "TIER")]
    tier: Option<Tier>,
    /// It can lead discussions
    #[arg(long)]
    facilitator: bool,
    /// A format it is best for (repeatable)
    #[arg(long = "format", value_name = "FORMAT")]
    formats: Vec<Format>,
    /// Time per turn: 90s, 5m
    #[arg(long, value_name = "TIME")]
    turn: Option<String>,
    /// Tokens per answer
    #[arg(long, value_name = "N")]
    output_tokens: Option<u32>,
    /// Tokens per session
    #[arg(long, value_name = "N")]
    budget_tokens: Option<u64>,
    /// Cost per session, in the currency of the prices
    #[arg(long, value_name = "AMOUNT")]
    budget_cost: Option<f64>,
    /// Time per session: 90s, 5m
    #[arg(long, value_name = "TIME")]
    budget_time: Option<String>,
    /// The folder a command-line agent works in: a full path, or one that starts with ~/
    #[arg(long, value_name = "DIR")]
    folder: Option<String>,
    /// A tool that a command-line agent may use (repeatable)
    #[arg(long = "tool", value_name = "NAME")]
    tools: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Tier {
    Fast,
    Balanced,
    Strong,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Brainstorm,
    Review,
    Deliberation,
}

#[derive(Clone, Copy, ValueEnum)]
enum Clear {
    Description,
    Model,
    Tier,
    Formats,
    Turn,
    OutputTokens,
    BudgetTokens,
    BudgetCost,
    BudgetTime,
    Folder,
    Tools,
}

impl Agents {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        let reach = Reach::open(&config, "plenary agents").await?;
        let result = self.command.run(&reach.api).await;
        reach.close().await;
        result
    }
}

impl Command {
    async fn run(self, api: &Api) -> Result<u8, ApiError> {
        match self {
            Command::List { facilitators, json } => list(api, facilitators, json).await?,
            Command::Show(which) => {
                let agent: Value = api.get(&which.path()).await?;
                if which.json {
                    print_json(&agent);
                } else {
                    show(&agent);
                }
            }
            Command::Add { name, values, json } => {
                let mut body = values.body()?;
                body.insert("name".into(), json!(name));
                added(&api.post("/api/agents", &body.into()).await?, json);
            }
            Command::Edit { which, name, values, no_facilitator, clear } => {
                let mut body = values.body()?;
                body.extend(name.map(|name| ("name".into(), json!(name))));
                if no_facilitator {
                    body.insert("isFacilitator".into(), json!(false));
                }
                clear.into_iter().for_each(|what| what.from(&mut body));
                let edited = api.patch(&which.path(), &body.into()).await;
                let agent: Value = edited.map_err(|error| which.copy_instead(error))?;
                which.print(&agent, &format!("Changed {}.", word(&agent, "id")));
            }
            Command::Copy { which, name, values } => {
                let mut body = values.body()?;
                body.extend(name.map(|name| ("name".into(), json!(name))));
                body.insert("copyOf".into(), json!(which.agent));
                added(&api.post("/api/agents", &body.into()).await?, which.json);
            }
            Command::Remove(which) => {
                let removed = api.delete(&which.path()).await;
                removed.map_err(|error| which.copy_instead(error))?;
                which.print(&json!({}), "Removed.");
            }
        }
        Ok(exit::DONE)
    }
}

impl Which {
    fn path(&self) -> String {
        format!("/api/agents/{}", encode(&self.agent))
    }

    fn print(&self, agent: &Value, line: &str) {
        if self.json {
            print_json(agent);
        } else {
            terminal::say(line);
        }
    }

    /// One that ships with Plenary is not changed; what can be done has a command.
    fn copy_instead(&self, error: ApiError) -> ApiError {
        if error.code != "not-now" {
            return error;
        }
        let agent = match self.agent.contains(' ') {
            true => format!("{:?}", self.agent),
            false => self.agent.clone(),
        };
        ApiError { hint: Some(format!("plenary agents copy {agent} --name NAME")), ..error }
    }
}

impl Values {
    /// A body with what was given.
    fn body(self) -> Result<Map<String, Value>, ApiError> {
        let persona =
            match (&self.persona, &self.persona_file) {
                (Some(given), _) => Some(text(given)?),
                (None, Some(file)) => {
                    let read = std::fs::read_to_string(file);
                    Some(read.map_err(|error| {
                        usage(format!("cannot read {}: {error}", file.display()))
                    })?)
                }
                (None, None) => None,
            };
        let turn = self.turn.as_deref().map(time::whole_seconds).transpose()?;
        let budget_time = self.budget_time.as_deref().map(time::whole_seconds).transpose()?;
        let mut workspace = Map::new();
        workspace.extend(self.folder.map(|folder| ("folder".into(), json!(folder))));
        if !self.tools.is_empty() {
            workspace.insert("tools".into(), json!(self.tools));
        }
        let formats: Vec<String> = self.formats.iter().map(name).collect();
        let all = [
            ("persona", json!(persona)),
            ("description", json!(self.description)),
            ("model", json!(self.model)),
            ("tier", json!(self.tier.as_ref().map(name))),
            ("isFacilitator", json!(self.facilitator.then_some(true))),
            ("formats", json!(Some(formats).filter(|formats| !formats.is_empty()))),
            ("turnSeconds", json!(turn)),
            ("outputTokens", json!(self.output_tokens)),
            ("budgetTokens", json!(self.budget_tokens)),
            ("budgetCost", json!(self.budget_cost)),
            ("budgetSeconds", json!(budget_time)),
            ("workspace", json!(Some(workspace).filter(|place| !place.is_empty()))),
        ];
        let given = all.into_iter().filter(|(_, value)| !value.is_null());
        Ok(given.map(|(field, value)| (field.to_owned(), value)).collect())
    }
}

impl Clear {
    fn from(self, body: &mut Map<String, Value>) {
        let field = match self {
            Clear::Description => "description",
            Clear::Model => "model",
            Clear::Tier => "tier",
            Clear::Formats => "formats",
            Clear::Turn => "turnSeconds",
            Clear::OutputTokens => "outputTokens",
            Clear::BudgetTokens => "budgetTokens",
            Clear::BudgetCost => "budgetCost",
            Clear::BudgetTime => "budgetSeconds",
            Clear::Folder | Clear::Tools => {
                let place = body.entry("workspace").or_insert_with(|| json!({}));
                place[name(&self)] = Value::Null;
                return;
            }
        };
        body.insert(field.to_owned(), Value::Null);
    }
}

/// The word that stands for a value on the command line, and in JSON too.
fn name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

async fn list(api: &Api, facilitators: bool, json: bool) -> Result<(), ApiError> {
    let mut agents: Vec<Value> = vec![];
    let filter = if facilitators { "&facilitator=true" } else { "" };
    let mut cursor = String::new();
    loop {
        let mut page = api.page(&format!("/api/agents?limit=200{filter}{cursor}")).await?;
        if let Value::Array(rows) = page["data"].take() {
            agents.extend(rows);
        }
        match page["meta"]["next"].as_str() {
            Some(next) => cursor = format!("&cursor={}", encode(next)),
            None => break,
        }
    }
    if json {
        print_json(&agents.into());
        return Ok(());
    }
    let widest = |cell: fn(&Value) -> String| {
        agents.iter().map(|agent| cell(agent).chars().count()).max().unwrap_or(0)
    };
    let (ids, models) = (widest(|agent| word(agent, "id")), widest(model));
    for agent in &agents {
        let leads = if agent["isFacilitator"] == true { "leads" } else { "" };
        let (id, model, about) = (word(agent, "id"), model(agent), word(agent, "description"));
        let about = if about.is_empty() { word(agent, "name") } else { about };
        let line = format!("{id:<ids$}  {leads:<5}  {model:<models$}  {about}");
        terminal::say(line.trim_end());
    }
    if agents.iter().all(|agent| agent["isBuiltIn"] == true) {
        terminal::note("All of these are built in. Add your own: plenary agents add NAME");
    }
    Ok(())
}

fn added(agent: &Value, json: bool) {
    if json {
        print_json(agent);
        return;
    }
    let (name, id) = (word(agent, "name"), word(agent, "id"));
    terminal::say(&format!("Added {name} as {id}."));
    terminal::note(&format!("  → plenary agents show {id}"));
}

/// `50,000 tokens, 0.50 in money, 5 min`.
fn budget(agent: &Value) -> String {
    let tokens = agent["budgetTokens"].as_u64().map(|tokens| format!("{} tokens", count(tokens)));
    let cost = agent["budgetCost"].as_f64();
    let cost = cost.map(|cost| format!("{} in money", rounded::money(cost, None)));
    let time = agent["budgetSeconds"].as_u64().map(|s| rounded::duration(s.saturating_mul(1000)));
    [tokens, cost, time].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn show(agent: &Value) {
    let built_in = if agent["isBuiltIn"] == true { ", built-in" } else { "" };
    terminal::say(&format!("{} ({}{built_in})", word(agent, "name"), word(agent, "id")));
    let about = word(agent, "description");
    if !about.is_empty() {
        terminal::say(&about);
    }
    let words = |list: &Value| {
        let words = list.as_array().into_iter().flatten().filter_map(Value::as_str);
        words.map(clean).collect::<Vec<_>>().join(", ")
    };
    let number = |key: &str, unit: &str| agent[key].as_u64().map(|n| format!("{n} {unit}"));
    let leads = (agent["isFacilitator"] == true).then(|| "discussions".to_owned());
    let workspace = &agent["workspace"];
    let rows = [
        ("model", Some(model(agent))),
        ("leads", leads),
        ("suits", Some(words(&agent["formats"]))),
        ("turn", number("turnSeconds", "s")),
        ("answer", number("outputTokens", "tokens")),
        ("budget", Some(budget(agent)).filter(|parts| !parts.is_empty())),
        ("folder", workspace["folder"].as_str().map(clean)),
        ("tools", Some(words(&workspace["tools"]))),
    ];
    terminal::say("");
    for (name, value) in rows {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            terminal::say(&format!("{name:<7} {value}"));
        }
    }
    terminal::say(&format!("\n{}", word(agent, "persona").trim_end()));
}

fn model(agent: &Value) -> String {
    match (agent["model"].as_str(), agent["tier"].as_str()) {
        (Some(model), _) => clean(model),
        (None, Some(tier)) => clean(tier),
        (None, None) => "any".to_owned(),
    }
}

fn word(agent: &Value, key: &str) -> String {
    clean(agent[key].as_str().unwrap_or_default())
}
