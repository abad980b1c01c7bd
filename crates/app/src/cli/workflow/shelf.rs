//! Stored workflows: store, list, show, remove.

use std::path::PathBuf;

use clap::Args;
use plenary_domain::workflow::{self, Checked};
use serde::Deserialize;
use serde_json::{Value, json};

use super::runs::with;
use super::shown::minute;
use super::which::short;
use super::{count, read, tell};
use crate::api::{ApiError, encode};
use crate::cli::{agreed, exit, print_json};
use crate::config::Config;
use crate::terminal::{self, Ink, clean, line};

/// Characters of a description, a default and a reason in a line.
const DESCRIPTION: usize = 60;
const DEFAULT: usize = 60;
const REASON: usize = 80;

#[derive(Args)]
pub struct Store {
    /// YAML or JSON; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print only JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub struct List {
    /// Print only JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub struct Show {
    /// The name of a saved workflow
    #[arg(value_name = "NAME")]
    name: String,
    /// Print only the file, as it was saved
    #[arg(long, conflicts_with = "json")]
    source: bool,
    /// Print only JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub struct Remove {
    /// The name of a saved workflow
    #[arg(value_name = "NAME")]
    name: String,
    /// Remove it without asking
    #[arg(long)]
    yes: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored {
    name: String,
    description: String,
    version: u32,
    stored_at: String,
    stored_by: String,
    inputs: Vec<Input>,
    #[serde(default)]
    next_at: Option<String>,
    runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Whole {
    #[serde(flatten)]
    stored: Stored,
    versions: Vec<Version>,
}

#[derive(Deserialize)]
struct Version {
    number: u32,
    by: String,
    at: String,
}

#[derive(Deserialize)]
struct Input {
    name: String,
    #[serde(rename = "type")]
    takes: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    default: Option<Value>,
    required: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    #[serde(default)]
    run: Option<String>,
    status: String,
    #[serde(default)]
    reason: String,
    started_by: String,
    starter: String,
    version: u32,
    at: String,
}

impl Store {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        let source = read(&self.file)?;
        let Checked { definition, problems } = workflow::check(&source);
        if definition.is_none() || !self.json {
            tell(&self.file.display().to_string(), &source, &problems);
        }
        if definition.is_none() {
            terminal::note(&count(&problems));
            return Ok(exit::FAILED);
        }
        with(&config, async |api| {
            let whole: Value = api.post("/api/workflows", &json!({ "source": source })).await?;
            if self.json {
                print_json(&whole);
                return Ok(exit::DONE);
            }
            let stored: Stored = parsed(whole)?;
            let name = clean(&stored.name);
            terminal::say(&format!("Saved {name}, version {}", stored.version));
            if let Some(next) = &stored.next_at {
                terminal::say(&format!("Next run: {}, if a server is running", utc(next)));
            }
            terminal::note(&format!("  → {}", stored.command()));
            Ok(exit::DONE)
        })
        .await
    }
}

impl List {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        with(&config, async |api| {
            let all: Value = api.get("/api/workflows").await?;
            if self.json {
                print_json(&all);
                return Ok(exit::DONE);
            }
            let all: Vec<Stored> = parsed(all)?;
            for stored in &all {
                terminal::say(stored.line().trim_end());
            }
            if all.is_empty() {
                terminal::note("No saved workflows. Save one: plenary workflow store FILE");
            }
            Ok(exit::DONE)
        })
        .await
    }
}

impl Show {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        with(&config, async |api| {
            let path = format!("/api/workflows/{}", encode(&self.name));
            let whole: Value = api.get(&path).await?;
            if self.source {
                terminal::say_document(whole["source"].as_str().unwrap_or_default().trim_end());
            } else if self.json {
                print_json(&whole);
            } else {
                parsed::<Whole>(whole)?.show();
            }
            Ok(exit::DONE)
        })
        .await
    }
}

impl Remove {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        with(&config, async |api| {
            let path = format!("/api/workflows/{}", encode(&self.name));
            let stored: Stored = parsed(api.get(&path).await?)?;
            if !self.yes && !stored.may_be_removed()? {
                terminal::note("Nothing was removed.");
                return Ok(exit::FAILED);
            }
            api.delete(&path).await?;
            terminal::say("Removed. Its runs continue.");
            Ok(exit::DONE)
        })
        .await
    }
}

impl Stored {
    /// Its version, how its runs went, and when the next one is.
    fn line(&self) -> String {
        let Stored { name, version, description, .. } = self;
        let next = self.next_at.as_deref().map(|at| format!("next {}", utc(at)));
        let description = line(description, DESCRIPTION);
        format!(
            "{:<24}  v{version:<3}  {:<26}  {:<26}  {description}",
            clean(name),
            self.went(),
            next.unwrap_or_default(),
        )
    }

    /// `last done, 4 of 5 done`
    fn went(&self) -> String {
        let Some(last) = self.runs.first() else { return "no runs yet".to_owned() };
        let count = |wanted: fn(&Run) -> bool| self.runs.iter().filter(|run| wanted(run)).count();
        let ended = count(|run| matches!(run.status.as_str(), "done" | "failed" | "cancelled"));
        let done = count(|run| run.status == "done");
        let last = clean(&last.status);
        match ended {
            0 => format!("last {last}"),
            ended => format!("last {last}, {done} of {ended} done"),
        }
    }

    /// How it is run.
    fn command(&self) -> String {
        let needed = self.inputs.iter().filter(|input| input.required && input.default.is_none());
        let needed: String =
            needed.map(|input| format!(" --input {}=…", clean(&input.name))).collect();
        format!("plenary workflow run {}{needed}", clean(&self.name))
    }

    fn may_be_removed(&self) -> Result<bool, ApiError> {
        let question = format!(
            "Remove the workflow {:?} (version {})? Nothing starts it any more; its runs continue.",
            clean(&self.name),
            self.version
        );
        agreed(&question, "remove it", "Check it with `plenary workflow show`, then add --yes.")
    }
}

impl Whole {
    fn show(&self) {
        let Whole { stored, versions } = self;
        let ink = Ink::of(&std::io::stdout());
        let (at, by) = (utc(&stored.stored_at), clean(&stored.stored_by));
        let name = ink.bold(&clean(&stored.name));
        terminal::say_styled(&format!("{name}  version {}, saved {at} by {by}", stored.version));
        if !stored.description.is_empty() {
            terminal::say(&stored.description);
        }
        if let Some(next) = &stored.next_at {
            terminal::say(&format!("Next run: {}", utc(next)));
        }
        if !stored.inputs.is_empty() {
            terminal::say("\nInputs");
        }
        stored.inputs.iter().for_each(|input| terminal::say(&input.line()));
        match stored.runs.is_empty() {
            true => terminal::say("\nNo runs yet"),
            false => terminal::say(&format!("\nRuns ({})", stored.went())),
        }
        stored.runs.iter().for_each(|run| terminal::say(&run.line()));
        if versions.len() > 1 {
            terminal::say("\nVersions");
            for Version { number, by, at } in versions {
                terminal::say(&format!("  {number:<4}  {}  {by}", utc(at)));
            }
        }
        terminal::note(&format!("  → {}", stored.command()));
    }
}

impl Input {
    fn line(&self) -> String {
        let Input { name, takes, description, default, required } = self;
        let usual = match default {
            Some(default) => format!(", default {}", line(&default.to_string(), DEFAULT)),
            None if *required => ", required".to_owned(),
            None => String::new(),
        };
        let about = if description.is_empty() { String::new() } else { format!(": {description}") };
        format!("  {name} ({takes}{usual}){about}")
    }
}

impl Run {
    fn line(&self) -> String {
        let Run { run, status, reason, started_by, starter, version, at } = self;
        let id = run.as_deref().map(short).unwrap_or("-");
        let by = if started_by == "person" { starter } else { started_by };
        let reason = match reason.is_empty() {
            true => String::new(),
            false => format!(": {}", line(reason, REASON)),
        };
        format!("  {id:<8}  {}  v{version:<3}  by {by}  {status}{reason}", utc(at))
    }
}

/// A time as all lists show it.
fn utc(time: &str) -> String {
    format!("{} UTC", minute(time))
}

fn parsed<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ApiError> {
    serde_json::from_value(value).map_err(|error| {
        ApiError::new("unexpected", format!("cannot read the server's response: {error}"))
    })
}
