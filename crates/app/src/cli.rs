//! The command line. One file per noun.

mod agents;
mod ask;
mod ballot;
mod board;
mod boards;
mod budget;
mod council;
mod discuss;
mod doctor;
mod estimate;
mod follow;
mod list;
mod markdown;
mod mcp;
mod me;
mod models;
mod nodes;
#[cfg(feature = "pages")]
mod pages;
mod panes;
mod render;
mod serve;
mod sessions;
mod store;
mod time;
mod trust;
mod whiteboard;
mod words;
mod workflow;

use std::io::{IsTerminal, Read};

use clap::{Parser, Subcommand};
use serde_json::Value;

use crate::api::ApiError;
use crate::config::{self, Config};
use crate::terminal;

/// For whoever types the program's name and nothing else.
const START: &str = "Start here:
  plenary models pull           Choose a model, if none is connected
  plenary ask \"Tea or coffee?\"  Ask a board
  plenary serve                 Serve the web page at http://127.0.0.1:7171";

/// Models, agents and people deliberate, and the record is kept.
#[derive(Parser)]
#[command(name = "plenary", version, max_term_width = 100, after_help = START)]
pub struct Arguments {
    /// Use this server instead of a local store [env: PLENARY_SERVER]
    #[arg(long, global = true, value_name = "URL", value_parser = config::server)]
    server: Option<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Put a question to a board of advisors
    Ask(ask::Ask),
    /// Hold a discussion, led by a facilitator
    Discuss(discuss::Discuss),
    /// Decide on a whiteboard, in phases: blind, read, validate, debate, resolve
    Whiteboard(whiteboard::Whiteboard),
    /// Talk in a long-lived thread with a charter and members
    Council(council::Council),
    /// Write, check and run workflows: steps that use the other four forms
    Workflow(workflow::Workflow),
    /// Manage agents: who they are, and which model they use
    Agents(agents::Agents),
    /// Manage boards: their advisors, roles and models
    Boards(boards::Boards),
    /// List, read, steer and export sessions
    Sessions(sessions::Sessions),
    /// Show which models are available, and why others are not
    Models(models::Models),
    /// Trust the plenary.toml in this folder, so that all its settings apply
    Trust(trust::Trust),
    /// Check, back up or copy the store
    Store(store::Store),
    /// List the nodes that share this store, and how many sessions each one runs
    Nodes(nodes::Nodes),
    /// Check configuration, store and providers, and say how to fix problems
    Doctor(doctor::Doctor),
    /// Serve the web page, REST, live events and MCP on one port
    Serve(serve::Serve),
    /// Speak MCP on standard input and output, for agents
    Mcp(mcp::Mcp),
    /// Print completions for a shell
    #[cfg(feature = "pages")]
    #[command(hide = true)]
    Completions(pages::Completions),
    /// Write the manual pages
    #[cfg(feature = "pages")]
    #[command(name = "__manual", hide = true)]
    Manual(pages::Manual),
}

/// Exit codes of the program.
pub mod exit {
    pub const DONE: u8 = 0;
    pub const FAILED: u8 = 1;
    pub const USAGE: u8 = 2;
    pub const NO_MODEL: u8 = 3;
    pub const INTERRUPTED: u8 = 130;
}

pub async fn run(arguments: Arguments) -> u8 {
    let env = |name: &str| std::env::var(name).ok();
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let config = config::check_variables(names).and_then(|()| Config::load(&env));
    let config = config.map(|mut config| {
        config.server = arguments.server.clone().or(config.server.take());
        config
    });
    let config = match (config, &arguments.command) {
        (Ok(config), _) => config,
        // A file that is not trusted yet cannot keep one from looking at it.
        (Err(_), Command::Trust(trust)) => {
            return trust.run().unwrap_or_else(|error| report(&error, Noun::Sessions));
        }
        // The doctor looks at a broken configuration too.
        (Err(problem), Command::Doctor(_)) => return doctor::broken(&problem),
        (Err(problem), _) => {
            terminal::complain(&problem, None);
            return exit::USAGE;
        }
    };
    // These two tell it themselves.
    let tells = matches!(arguments.command, Command::Doctor(_) | Command::Trust(_));
    if let Some(ignored) = config.ignored.as_ref().filter(|_| !tells) {
        terminal::complain(&ignored.problem(), Some(ignored.hint()));
    }
    let noun = match &arguments.command {
        Command::Whiteboard(_) => Noun::Whiteboard,
        Command::Council(_) => Noun::Council,
        Command::Agents(_) => Noun::Agents,
        Command::Boards(_) => Noun::Boards,
        Command::Discuss(_) => Noun::Discuss,
        Command::Ask(_) => Noun::Ask,
        Command::Workflow(_) => Noun::Workflow,
        Command::Sessions(_)
        | Command::Models(_)
        | Command::Trust(_)
        | Command::Store(_)
        | Command::Nodes(_)
        | Command::Doctor(_)
        | Command::Serve(_)
        | Command::Mcp(_) => Noun::Sessions,
        #[cfg(feature = "pages")]
        Command::Completions(_) | Command::Manual(_) => Noun::Sessions,
    };
    let result = match arguments.command {
        Command::Ask(ask) => ask.run(config).await,
        Command::Discuss(discuss) => discuss.run(config).await,
        Command::Whiteboard(whiteboard) => whiteboard.run(config).await,
        Command::Council(council) => council.run(config).await,
        Command::Workflow(workflow) => workflow.run(config).await,
        Command::Agents(agents) => agents.run(config).await,
        Command::Boards(boards) => boards.run(config).await,
        Command::Sessions(sessions) => sessions.run(config).await,
        Command::Models(models) => models.run(config).await,
        Command::Trust(trust) => trust.run(),
        Command::Store(store) => store.run(config).await,
        Command::Nodes(nodes) => nodes.run(config).await,
        Command::Doctor(doctor) => doctor.run(config).await,
        Command::Serve(serve) => serve.run(config).await,
        Command::Mcp(mcp) => mcp.run(config).await,
        #[cfg(feature = "pages")]
        Command::Completions(completions) => Ok(completions.run()),
        #[cfg(feature = "pages")]
        Command::Manual(manual) => manual.run(),
    };
    let code = result.unwrap_or_else(|error| report(&error, noun));
    match terminal::lost() {
        Some(problem) if code == exit::DONE => {
            terminal::complain(&format!("cannot write to standard output: {problem}"), None);
            exit::FAILED
        }
        _ => code,
    }
}

/// What a command is about, for the words of its errors.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Noun {
    Ask,
    Sessions,
    Whiteboard,
    Council,
    Agents,
    Boards,
    Discuss,
    Workflow,
}

impl Noun {
    /// The command that lists them.
    fn name(self) -> &'static str {
        match self {
            Noun::Ask | Noun::Sessions | Noun::Discuss => "sessions",
            Noun::Whiteboard => "whiteboard",
            Noun::Council => "council",
            Noun::Agents => "agents",
            Noun::Boards => "boards",
            Noun::Workflow => "workflow",
        }
    }
}

/// Says what was wrong, and chooses the exit code for it.
fn report(error: &ApiError, noun: Noun) -> u8 {
    terminal::complain(&words::message(error, noun), None);
    // One wrong field is named in the message already.
    if error.fields.len() > 1 {
        for (field, problem) in &error.fields {
            let field = words::flag(field, noun).unwrap_or_else(|| field.clone());
            terminal::note(&format!("  {field}: {problem}"));
        }
    }
    if let Some(hint) = words::hint(error, noun) {
        terminal::note(&format!("  → {hint}"));
    }
    match error.code.as_str() {
        "no-model" => exit::NO_MODEL,
        "usage" | "invalid-input" | "not-found" => exit::USAGE,
        _ => exit::FAILED,
    }
}

/// Wrong usage that only shows after parsing.
fn usage(message: impl Into<String>) -> ApiError {
    ApiError::new("usage", message)
}

/// Asks a person, and nobody else. Where there is none, the hint says what to do.
fn agreed(question: &str, whether: &str, hint: &str) -> Result<bool, ApiError> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        let problem = format!("cannot ask whether to {whether}: this is not a terminal");
        return Err(ApiError { hint: Some(hint.to_owned()), ..usage(problem) });
    }
    terminal::prompt(&format!("{question} [y/N] "));
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    read.map_err(|error| usage(format!("cannot read the answer: {error}")))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// A text as it was given; `-` reads it from standard input.
fn text(given: &str) -> Result<String, ApiError> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map_err(|error| usage(format!("cannot read standard input: {error}")))?;
    Ok(text)
}

/// A body with those fields that were given.
fn given<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let given = fields.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(given.map(|(name, value)| (name.to_owned(), value)).collect())
}

fn print_json(value: &Value) {
    terminal::say_document(&serde_json::to_string_pretty(value).unwrap_or_default());
}
