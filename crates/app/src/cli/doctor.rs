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
    bad("configuration", problem, "Mend the file, or move it away to use the defaults.");
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
                good("configuration", "no plenary.toml; the defaults are used");
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
                    Some(_) => "docs/many-nodes.md says how to set a database up.",
                    None => "Check the folder's owner, its rights and the disk.",
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
                "Is the disk full, or was the folder removed? A server's log says more, and \
                 `plenary store check` looks through what is stored.",
            ),
        }
        // Where a server was named, only its operator is told.
        if let (Some(_), Ok(nodes)) = (&config.database, reach.api.get("/api/nodes").await) {
            good("nodes", &counted(nodes));
        }
        let providers: Vec<Value> = reach.api.get("/api/providers").await?;
        reach.close().await;
        let mut models = 0;
        for provider in &providers {
            let text = |key: &str| terminal::clean(provider[key].as_str().unwrap_or_default());
            let name = format!("provider {}", text("name"));
            let count = provider["models"].as_array().map_or(0, Vec::len);
            models += count;
            match (provider["ready"] == true, count) {
                (true, 0) => bad(&name, "it answers, but has no models", "Pull or add one."),
                (true, _) => good(&name, &format!("{count} models at {}", text("place"))),
                (false, _) => bad(&name, &text("problem"), &text("hint")),
            }
        }
        if models == 0 {
            bad("models", "none can be used, so no board can be convened", words::NO_MODEL);
            return Ok(exit::NO_MODEL);
        }
        Ok(exit::DONE)
    }
}

fn counted(nodes: Vec<Value>) -> String {
    match nodes.iter().filter(|node| node["state"] == "live").count() {
        0 => "none is running; `plenary serve` starts one".to_owned(),
        1 => "1 is running".to_owned(),
        many => format!("{many} are running"),
    }
}

fn good(what: &str, found: &str) {
    terminal::say(&format!("ok    {what}: {found}"));
}

fn bad(what: &str, problem: &str, hint: &str) {
    terminal::say(&format!("wrong {what}: {problem}\n      → {hint}"));
}
