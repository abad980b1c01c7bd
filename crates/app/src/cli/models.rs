//! `plenary models`

mod pull;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use plenary_domain::prices::day;
use serde::Deserialize;
use serde_json::Value;

use super::{exit, usage};
use crate::api::ApiError;
use crate::config::Config;
use crate::prices;
use crate::reach::Reach;
use crate::rounded::{count, money};
use crate::terminal::{self, clean};
use pull::{Pull, Remove};

#[derive(Args)]
pub struct Models {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Download a model that runs inside Plenary
    Pull(Pull),
    /// Stop using a downloaded model
    Remove(Remove),
    /// Show what models cost, and where the prices come from
    Prices(Prices),
}

#[derive(Args)]
struct Prices {
    #[command(subcommand)]
    command: Option<PricesCommand>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum PricesCommand {
    /// Import prices and context windows from LiteLLM's model_prices_and_context_window.json
    Import { file: PathBuf },
    /// Remove the imported list
    Clear,
}

impl Models {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        match self.command {
            Some(Command::Pull(pull)) => return pull.run(&config).await,
            Some(Command::Remove(remove)) => return remove.run(&config),
            Some(Command::Prices(prices)) => return prices.run(config).await,
            None => {}
        }
        let reach = Reach::open(&config, "plenary models").await?;
        let providers: Vec<Value> = reach.api.get("/api/providers").await?;
        if self.json {
            terminal::say_document(&serde_json::to_string_pretty(&providers).unwrap_or_default());
        } else {
            print(&providers, &reach.api.get::<Vec<Model>>("/api/models").await?);
            print_tiers(&reach.api.get::<Vec<Value>>("/api/tiers").await?);
        }
        reach.close().await;
        let ready = providers.iter().any(|p| p["models"].as_array().is_some_and(|m| !m.is_empty()));
        Ok(if ready { exit::DONE } else { exit::NO_MODEL })
    }
}

/// Models that can be asked now, by their full names.
async fn ready(config: &Config) -> Result<Vec<String>, ApiError> {
    let reach = Reach::open(config, "plenary models").await?;
    let models: Vec<Model> = reach.api.get("/api/models").await?;
    reach.close().await;
    Ok(models.into_iter().map(|model| model.name).collect())
}

impl Prices {
    async fn run(self, config: Config) -> Result<u8, ApiError> {
        let wrong = |problem| ApiError::new("prices", problem);
        match &self.command {
            Some(_) if config.server.is_some() => {
                return Err(usage(
                    "import prices on the machine that runs the server, without --server",
                ));
            }
            Some(PricesCommand::Import { file }) => {
                let (sheet, left_out) = prices::import(&config.home, file).map_err(wrong)?;
                let taken = count(sheet.models.len() as u64);
                terminal::say(&format!("Imported prices and context windows for {taken} models."));
                let say = |left: usize, why: &str| {
                    if left > 0 {
                        terminal::say(&format!("Skipped {}: {why}.", count(left as u64)));
                    }
                };
                say(left_out.silent, "not chat models");
                say(left_out.unclear, "no price or context window found");
                return Ok(exit::DONE);
            }
            Some(PricesCommand::Clear) => {
                let was_there = prices::clear(&config.home).map_err(wrong)?;
                let said =
                    if was_there { "Removed the imported list." } else { "No list was imported." };
                terminal::say(said);
                return Ok(exit::DONE);
            }
            None => {}
        }
        let reach = Reach::open(&config, "plenary models prices").await?;
        let all: Vec<Value> = reach.api.get("/api/models").await?;
        reach.close().await;
        let priced = all.into_iter().filter(|model| model["price"].is_object());
        let priced: Vec<Value> = priced.collect();
        if self.json {
            terminal::say_document(&serde_json::to_string_pretty(&priced).unwrap_or_default());
            return Ok(exit::DONE);
        }
        if priced.is_empty() {
            terminal::say("No prices are known for the models available now.");
        }
        for model in priced.into_iter().filter_map(|model| serde_json::from_value(model).ok()) {
            let model: Model = model;
            let price = model.price.as_ref().map(|price| price.said(model.provider()));
            let name = clean(&model.name);
            terminal::say(&format!("{name}  {}", price.unwrap_or_default()));
        }
        if config.server.is_none() {
            let sheet = prices::imported(&config.home);
            let known = count(sheet.models.len() as u64);
            let at = sheet
                .said_at
                .map(|at| format!(", {}", day(at.to_zoned(TimeZone::UTC).date())))
                .unwrap_or_default();
            match sheet.models.is_empty() {
                true => {
                    terminal::say("No list was imported (`plenary models prices import FILE`).")
                }
                false => terminal::say(&format!("Imported list: {known} models{at}.")),
            }
        }
        Ok(exit::DONE)
    }
}

/// A model as the server tells of it.
#[derive(Deserialize)]
pub struct Model {
    name: String,
    window: Option<Window>,
    price: Option<Price>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Window {
    tokens: u64,
    source: String,
    said_on: Option<Date>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Price {
    input: f64,
    output: f64,
    cached: Option<f64>,
    currency: String,
    source: String,
    said_on: Option<Date>,
}

impl Model {
    fn provider(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }

    /// What is known of it, and who says so, as far as anybody but this program does.
    fn said(&self) -> Option<String> {
        let window = self.window.as_ref().map(|window| {
            let from = from(&window.source, self.provider(), window.said_on);
            format!("{} tokens of context ({from})", count(window.tokens))
        });
        let price = self.price.as_ref().map(|price| price.said(self.provider()));
        let told: Vec<String> = [window, price].into_iter().flatten().collect();
        (!told.is_empty()).then(|| told.join(", "))
    }
}

impl Price {
    /// `0.15 in, 0.60 out, 0.075 cached USD per million tokens (openrouter, 17 Nov 2026)`.
    fn said(&self, provider: &str) -> String {
        let from = from(&self.source, provider, self.said_on);
        if self.input == 0.0 && self.output == 0.0 {
            return format!("free ({from})");
        }
        let one = |amount: f64| if amount > 0.0 { money(amount, None) } else { "0".to_owned() };
        let cached = self.cached.map(|cached| format!(", {} cached", one(cached)));
        let (input, output, cached) =
            (one(self.input), one(self.output), cached.unwrap_or_default());
        format!(
            "{input} in, {output} out{cached} {} per million tokens ({from})",
            clean(&self.currency)
        )
    }
}

fn from(source: &str, provider: &str, said_on: Option<Date>) -> String {
    let who = match source {
        "settings" => "your settings".to_owned(),
        "provider" => clean(provider),
        "import" => "imported list".to_owned(),
        other => clean(other),
    };
    said_on.map_or_else(|| who.clone(), |on| format!("{who}, {}", day(on)))
}

/// Tiers that mean nothing because there is no model at all are not worth a line.
fn print_tiers(tiers: &[Value]) {
    if !tiers.iter().any(|tier| tier["model"].is_string() || tier["configured"] == true) {
        return;
    }
    terminal::say("Tiers:");
    for tier in tiers {
        let text = |key: &str| clean(tier[key].as_str().unwrap_or_default());
        let means = match (tier["model"].is_string(), tier["configured"] == true) {
            (true, true) => format!("{}  (set)", text("model")),
            (true, false) => text("model"),
            (false, _) => format!("{}\n            → {}", text("problem"), text("hint")),
        };
        terminal::say(&format!("  {:<9} {means}", text("tier")));
    }
}

fn print(providers: &[Value], known: &[Model]) {
    for provider in providers {
        let text = |key: &str| clean(provider[key].as_str().unwrap_or_default());
        let place = match text("kind").as_str() {
            "local" => "in this program".to_owned(),
            kind => format!("{kind} at {}", text("place")),
        };
        if provider["ready"] == true {
            terminal::say(&format!("{}  ({place})", text("name")));
            let models = provider["models"].as_array().map(Vec::as_slice).unwrap_or_default();
            for model in models {
                let name =
                    format!("{}/{}", text("name"), clean(model.as_str().unwrap_or_default()));
                let known = known.iter().find(|model| clean(&model.name) == name);
                let said = known.and_then(Model::said).map(|said| format!("  {said}"));
                terminal::say(&format!("  {name}{}", said.unwrap_or_default()));
            }
            if models.is_empty() {
                terminal::say("  no models yet");
            }
            if let Some(note) = provider["note"].as_str() {
                terminal::say(&format!("  {}", clean(note)));
            }
        } else {
            terminal::say(&format!("{}  ({place}) is not ready", text("name")));
            terminal::say(&format!("  {}", text("problem")));
            terminal::say(&format!("  → {}", text("hint")));
        }
    }
}
