//! `plenary doctor`

use clap::Args;
use serde_json::Value;

use super::{exit, words};
use crate::api::ApiError;
use crate::config::Config;
use crate::reach::Reach;
use crate::terminal;

#[derive(Args)]
pub struct Doctor {}

/// A configuration that cannot be read ends the examination.
pub fn broken(problem: &str) -> u8 {
    bad("configuration", problem, "Correct what is named there; nothing else is read until then.");
    exit::FAILED
}

impl Doctor {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        for file in &config.files {
            good("configuration", &file.display().to_string());
        }
        match &config.ignored {
            Some(ignored) => bad("configuration", &ignored.problem(), ignored.hint()),
            None if config.files.is_empty() => {
                good("configuration", "no plenary.toml; using the defaults");
            }
            None => {}
        }
        match config.address() {
            Ok(address) => good("address", &format!("`plenary serve` listens on {address}")),
            Err(problem) => bad("address", &problem, "Only `plenary serve` needs it."),
        }
        let place = match (config.shown_server(), &config.database) {
            (Some(server), _) => format!("on the server at {server}"),
            (None, Some(database)) => format!("the database {}", database.shown()),
            (None, None) => config.home.display().to_string(),
        };
        let reach = match Reach::open(&config, "plenary doctor").await {
            Ok(reach) => reach,
            Err(error) => {
                let hint = error.hint.as_deref();
                let hint = hint.unwrap_or(match config.database {
                    Some(_) => "See docs/many-nodes.md for how to set up a database.",
                    None => "Check the folder's owner and permissions, and the disk.",
                });
                bad("store", &error.message, hint);
                return Ok(exit::FAILED);
            }
        };
        match reach.api.get::<Value>("/readyz").await {
            Ok(_) => good("store", &place),
            Err(error) => bad(
                "store",
                &error.message,
                "Is the disk full, or was the folder removed? See the server's log, or run \
                 `plenary store check`.",
            ),
        }
        // Where a server was named, only its operator is told.
        if let (Some(_), Ok(nodes)) = (&config.database, reach.api.get("/api/nodes").await) {
            good("nodes", &counted(nodes));
        }
        let providers: Vec<Value> = reach.api.get("/api/providers").await?;
        reach.close().await;
        let models = examine(&providers);
        if models == 0 {
            bad("models", "none available, so no board can be convened", words::NO_MODEL);
            return Ok(exit::NO_MODEL);
        }
        Ok(exit::DONE)
    }
}

/// Tells of each provider, and counts their models.
fn examine(providers: &[Value]) -> usize {
    let count = |provider: &Value| provider["models"].as_array().map_or(0, Vec::len);
    let models: usize = providers.iter().map(count).sum();
    for provider in providers {
        let text = |key: &str| terminal::clean(provider[key].as_str().unwrap_or_default());
        let name = format!("provider {}", text("name"));
        let place = match text("kind").as_str() {
            "local" => "in this program".to_owned(),
            _ => format!("at {}", text("place")),
        };
        // These two are looked for whether anybody wants them or not.
        let is_usual = matches!(text("kind").as_str(), "ollama" | "local");
        match (provider["ready"] == true, count(provider)) {
            (true, 0) => bad(&name, "connected, but it has no models yet", "Download or add one."),
            (true, 1) => good(&name, &format!("1 model {place}")),
            (true, many) => good(&name, &format!("{many} models {place}")),
            (false, _) if is_usual && models > 0 => {
                minor(&name, &text("problem"), &text("hint"));
            }
            (false, _) => bad(&name, &text("problem"), &text("hint")),
        }
    }
    models
}

fn counted(nodes: Vec<Value>) -> String {
    match nodes.iter().filter(|node| node["state"] == "live").count() {
        0 => "none running; start one with `plenary serve`".to_owned(),
        1 => "1 running".to_owned(),
        many => format!("{many} running"),
    }
}

fn good(what: &str, found: &str) {
    terminal::say(&format!("ok    {what}: {found}"));
}

/// Something that is not there, and that nobody may miss.
fn minor(what: &str, problem: &str, hint: &str) {
    terminal::say(&format!("note  {what}: {problem}\n      → {hint}"));
}

fn bad(what: &str, problem: &str, hint: &str) {
    terminal::say(&format!("error {what}: {problem}\n      → {hint}"));
}
