//! Runs: begin, look, decide, signal, cancel, fork.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use plenary_domain::workflow::{self, Checked};
use serde_json::{Value, json};

use super::inputs::{Inputs, Types, pairs};
use super::which::{Any, Which, short};
use super::{count, dry, read, shown, tell};
use crate::api::{Api, ApiError, encode};
use crate::cli::list::Listing;
use crate::cli::{exit, given, print_json, usage};
use crate::config::Config;
use crate::reach::Reach;
use crate::signals::Interrupt;
use crate::terminal::{self, clean};
use crate::way::Way;

const COMMAND: &str = "plenary workflow run";

#[derive(Args)]
pub struct Run {
    /// A file, `-` for standard input, or the name of a saved workflow
    #[arg(value_name = "FILE|NAME")]
    workflow: String,
    #[command(flatten)]
    inputs: Inputs,
    /// Your name, as approvals know it
    #[arg(long = "as", value_name = "NAME")]
    starter: Option<String>,
    /// A version of the saved workflow; the newest by default
    #[arg(long, value_name = "NUMBER")]
    version: Option<u32>,
    /// Only show the estimate; run nothing
    #[arg(long, conflicts_with_all = ["detach", "starter", "version"])]
    dry: bool,
    /// Only start it; a server, or the next command that keeps running, continues it
    #[arg(long)]
    detach: bool,
    /// Print only the run, as JSON, when it ends
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub struct Status {
    #[command(flatten)]
    which: Any,
    /// Follow it until it ends
    #[arg(long)]
    follow: bool,
    /// Print only JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub struct Approve {
    #[command(flatten)]
    which: Which,
    /// The step, as `status` names it; its id is enough if only one is waiting
    #[arg(value_name = "STEP")]
    step: String,
    /// Your name, as the step knows it
    #[arg(long = "as", value_name = "NAME")]
    by: Option<String>,
    /// Approve, reject or ask for changes; the last two need --reason
    #[arg(long, value_enum, default_value = "approved")]
    decision: Choice,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// A field that the step asks for (repeatable)
    #[arg(long = "field", value_name = "NAME=VALUE")]
    fields: Vec<String>,
    /// The token of the person who decides, if you are not the operator of the server
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Print only the run, as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Choice {
    Approved,
    Rejected,
    Changes,
}

impl Choice {
    fn name(self) -> &'static str {
        match self {
            Choice::Approved => "approved",
            Choice::Rejected => "rejected",
            Choice::Changes => "changes",
        }
    }
}

#[derive(Args)]
pub struct Signal {
    /// The signal's name
    #[arg(value_name = "NAME")]
    name: String,
    /// Fields that the waiting steps compare
    #[arg(value_name = "KEY=VALUE")]
    fields: Vec<String>,
    /// Print only JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub struct Cancel {
    #[command(flatten)]
    which: Which,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Print only the run, as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub struct Fork {
    #[command(flatten)]
    which: Which,
    /// The first step to run again
    #[arg(long, value_name = "STEP")]
    from: String,
    #[command(flatten)]
    inputs: Inputs,
    /// Use this file in place of the run's own
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Your name, as approvals know it
    #[arg(long = "as", value_name = "NAME")]
    starter: Option<String>,
    /// Only start it; a server, or the next command that keeps running, continues it
    #[arg(long)]
    detach: bool,
    /// Print only the run, as JSON, when it ends
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub struct Seats {
    #[command(flatten)]
    which: Which,
    /// Print only JSON
    #[arg(long)]
    json: bool,
}

/// What is run.
enum What {
    File { source: String, types: Types },
    Stored,
}

impl Run {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        let interrupt = Interrupt::listen()?;
        let what = match is_file(&self.workflow) {
            true => {
                let source = read(Path::new(&self.workflow))?;
                match sound(&self.workflow, &source) {
                    None => return Ok(exit::FAILED),
                    Some(types) => What::File { source, types },
                }
            }
            false => What::Stored,
        };
        if self.dry {
            return with(&config, async |api| self.foresee(api, &what).await).await;
        }
        let reach = Reach::stay(&config, COMMAND).await?;
        let mut way = Way::new(&config, COMMAND, reach);
        let result = self.begin(&mut way, interrupt, &what).await;
        way.close().await;
        result
    }

    async fn foresee(&self, api: &Api, what: &What) -> Result<u8, ApiError> {
        let inputs = self.inputs.read(&what.types(api, &self.workflow).await?)?;
        let named = match what {
            What::File { source, .. } => ("source", source.clone().into()),
            What::Stored => ("workflow", self.workflow.clone().into()),
        };
        dry::show(api, &given([named, ("inputs", inputs)]), self.json).await
    }

    async fn begin(
        &self,
        way: &mut Way<'_>,
        interrupt: Interrupt,
        what: &What,
    ) -> Result<u8, ApiError> {
        let types = way.carry_out(async |api| what.types(api, &self.workflow).await).await?;
        let (inputs, starter) = (self.inputs.read(&types)?, json!(self.starter));
        let begun: Value = match what {
            What::File { .. } if self.version.is_some() => {
                return Err(usage("--version is for saved workflows, not for files"));
            }
            What::File { source, .. } => {
                let source = source.clone().into();
                let body = given([("source", source), ("inputs", inputs), ("starter", starter)]);
                way.post("/api/runs", &body).await?
            }
            What::Stored => {
                let path = format!("/api/workflows/{}/runs", encode(&self.workflow));
                let version = json!(self.version);
                let body = given([("inputs", inputs), ("starter", starter), ("version", version)]);
                way.post(&path, &body).await?
            }
        };
        go_on(way, interrupt, begun, self.json, self.detach).await
    }
}

/// Stored workflows have names; a path, or what is called like a file, is none of them.
fn is_file(written: &str) -> bool {
    let called = |end: &str| written.ends_with(end);
    written == "-"
        || Path::new(written).is_file()
        || written.contains(['/', '\\'])
        || [".yaml", ".yml", ".json"].into_iter().any(called)
}

impl What {
    async fn types(&self, api: &Api, name: &str) -> Result<Types, ApiError> {
        match self {
            What::File { types, .. } => Ok(types.clone()),
            What::Stored => {
                let stored: Value = api.get(&format!("/api/workflows/{}", encode(name))).await?;
                Ok(Types::listed(&stored["inputs"]))
            }
        }
    }
}

/// What the inputs of a file take; `None` where it is not sound, which is then told.
fn sound(name: &str, source: &str) -> Option<Types> {
    let Checked { definition, problems } = workflow::check(source);
    if definition.is_none() {
        tell(name, source, &problems);
        terminal::note(&count(&problems));
    }
    definition.as_ref().map(Types::from)
}

async fn go_on(
    way: &mut Way<'_>,
    interrupt: Interrupt,
    begun: Value,
    json: bool,
    detach: bool,
) -> Result<u8, ApiError> {
    let id = begun["id"].as_str().unwrap_or_default().to_owned();
    if !detach {
        return shown::follow(way, interrupt, &id, shown::Telling::of(json)).await;
    }
    match json {
        true => print_json(&begun),
        false => terminal::say(&clean(&id)),
    }
    if way.is_here() && !json {
        goes_on(&id);
    }
    Ok(exit::DONE)
}

/// Said where this process has the store, and ends now.
fn goes_on(id: &str) {
    let id = clean(id);
    let id = short(&id);
    terminal::note(&format!("  → plenary workflow status {id} --follow"));
}

impl Status {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        if self.follow {
            let interrupt = Interrupt::listen()?;
            let reach = Reach::stay(&config, COMMAND).await?;
            let mut way = Way::new(&config, COMMAND, reach);
            let result = match way.carry_out(async |api| self.which.find(api).await).await {
                Ok(id) => {
                    shown::follow(&mut way, interrupt, &id, shown::Telling::of(self.json)).await
                }
                Err(error) => Err(error),
            };
            way.close().await;
            return result;
        }
        with(&config, async |api| {
            let id = self.which.find(api).await?;
            shown::show(api, &id, self.json).await
        })
        .await
    }
}

impl Approve {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        let reach = Reach::open(&config, "plenary workflow approve").await?;
        let result = self.decide(&reach).await;
        reach.close().await;
        result
    }

    async fn decide(&self, reach: &Reach) -> Result<u8, ApiError> {
        let path = self.which.path(&reach.api).await?;
        let asked = Asked::of(reach.api.get(&path).await?, &self.step);
        let fields = match self.fields.is_empty() {
            true => Value::Null,
            false => pairs("--field", &self.fields, &asked.types)?,
        };
        let body = given([
            ("decision", self.decision.name().into()),
            ("by", json!(self.by)),
            ("reason", json!(self.reason)),
            ("fields", fields),
        ]);
        let path = format!("{path}/steps/{}/approve", encode(&asked.place));
        let run: Value = reach.api.with_agent(self.token.clone()).post(&path, &body).await?;
        if self.json {
            print_json(&run);
            return Ok(exit::DONE);
        }
        let name = match self.decision {
            Choice::Approved => "approved",
            Choice::Rejected => "rejected",
            Choice::Changes => "changes asked for",
        };
        terminal::say(&format!("{}: {name}", clean(&asked.place)));
        if reach.is_here() && run["status"] == "running" {
            goes_on(run["id"].as_str().unwrap_or_default());
        }
        Ok(exit::DONE)
    }
}

/// The step that is decided on.
struct Asked {
    place: String,
    /// What its fields take.
    types: Types,
}

impl Asked {
    /// Its place, or its id where only one of that id waits for people.
    fn of(run: Value, written: &str) -> Asked {
        let steps = run["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
        let place = |step: &Value| step["place"].as_str().unwrap_or_default().to_owned();
        let waits = |step: &&Value| {
            step["status"] == "running" && step["approval"].is_object() && step["id"] == written
        };
        let waiting: Vec<&Value> = steps.iter().filter(waits).collect();
        let step = match (steps.iter().find(|step| place(step) == written), waiting.as_slice()) {
            (Some(step), _) => Some(step),
            (None, [one]) => Some(*one),
            (None, _) => None,
        };
        Asked {
            place: step.map_or(written.to_owned(), place),
            types: step.map(|step| Types::listed(&step["approval"]["fields"])).unwrap_or_default(),
        }
    }
}

impl Signal {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        let fields = pairs("a field of a signal", &self.fields, &Types::default())?;
        let body = json!({ "name": self.name, "fields": fields });
        with(&config, async |api| {
            let sent: Value = api.post("/api/signals", &body).await?;
            if self.json {
                print_json(&sent);
                return Ok(exit::DONE);
            }
            let list = |field: &str| sent[field].as_array().cloned().unwrap_or_default();
            let (matched, nearly) = (list("matched"), list("nearly"));
            terminal::say(&match matched.len() {
                0 => "Sent. No step is waiting for it.".to_owned(),
                1 => "Sent. 1 step continues:".to_owned(),
                many => format!("Sent. {many} steps continue:"),
            });
            for one in matched {
                terminal::say(&format!("  {}", waiting(&one)));
            }
            for one in nearly {
                let differs = one["differs"].as_array().into_iter().flatten();
                let differs: Vec<&str> = differs.filter_map(Value::as_str).collect();
                let differs = clean(&differs.join(", "));
                terminal::note(&format!(
                    "  {} is waiting for a different {differs}",
                    waiting(&one)
                ));
            }
            Ok(exit::DONE)
        })
        .await
    }
}

/// A step that waits, and the run that it is in.
fn waiting(one: &Value) -> String {
    let text = |field: &str| clean(one[field].as_str().unwrap_or_default());
    format!("{} of {}", text("step"), short(&text("run")))
}

impl Cancel {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        let body = given([("reason", json!(self.reason))]);
        with(&config, async |api| {
            let path = format!("{}/cancel", self.which.path(api).await?);
            shown::stands(api.post(&path, &body).await?, self.json)?;
            Ok(exit::DONE)
        })
        .await
    }
}

impl Fork {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        let interrupt = Interrupt::listen()?;
        let source = self.file.as_deref().map(read).transpose()?;
        let types = match (&self.file, &source) {
            (Some(file), Some(source)) => match sound(&file.display().to_string(), source) {
                None => return Ok(exit::FAILED),
                known => known,
            },
            _ => None,
        };
        let reach = Reach::stay(&config, COMMAND).await?;
        let mut way = Way::new(&config, COMMAND, reach);
        let result = self.begin(&mut way, interrupt, source, types).await;
        way.close().await;
        result
    }

    async fn begin(
        &self,
        way: &mut Way<'_>,
        interrupt: Interrupt,
        source: Option<String>,
        types: Option<Types>,
    ) -> Result<u8, ApiError> {
        let path = way.carry_out(async |api| self.which.path(api).await).await?;
        let types = match types {
            None if !self.inputs.is_empty() => {
                let export = format!("{path}/export?format=json");
                let text = way.carry_out(async |api| api.text(&export).await).await?;
                let exported: Value = serde_json::from_str(&text).unwrap_or_default();
                let own = workflow::check(exported["source"].as_str().unwrap_or_default());
                own.definition.as_ref().map(Types::from).unwrap_or_default()
            }
            known => known.unwrap_or_default(),
        };
        let body = given([
            ("from", self.from.clone().into()),
            ("source", json!(source)),
            ("inputs", self.inputs.read(&types)?),
            ("starter", json!(self.starter)),
        ]);
        let begun: Value = way.post(&format!("{path}/fork"), &body).await?;
        go_on(way, interrupt, begun, self.json, self.detach).await
    }
}

impl Seats {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        with(&config, async |api| {
            let path = format!("{}/seats", self.which.path(api).await?);
            let seats: Value = api.post(&path, &json!({})).await?;
            if self.json {
                print_json(&seats);
                return Ok(exit::DONE);
            }
            let tokens = seats["seatTokens"].as_array().map(Vec::as_slice).unwrap_or_default();
            for seat in tokens {
                let text = |field: &str| clean(seat[field].as_str().unwrap_or_default());
                terminal::say(&format!("{}  {}", text("person"), text("seatToken")));
            }
            if tokens.is_empty() {
                terminal::note("No one is being asked to decide.");
            }
            Ok(exit::DONE)
        })
        .await
    }
}

/// Lists runs, newest first.
pub async fn list(config: Config, listing: Listing) -> Result<u8, ApiError> {
    with(&config, async |api| {
        let empty = "No runs yet. Start one: plenary workflow run FILE";
        listing.clone().run(api, Some("workflow"), empty).await
    })
    .await
}

pub async fn with(
    config: &Config,
    work: impl AsyncFn(&Api) -> Result<u8, ApiError>,
) -> Result<u8, ApiError> {
    let reach = Reach::open(config, "plenary workflow").await?;
    let result = work(&reach.api).await;
    reach.close().await;
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_files() {
        for (written, expected) in [
            ("-", true),
            ("adr.yaml", true),
            ("flows/adr", true),
            ("adr", false),
            ("release.v2", false),
        ] {
            assert_eq!(is_file(written), expected, "{written}");
        }
    }
}
