//! Plenary as its users have it: the program, and its REST interface.

use std::process::{Command, Stdio};

use reqwest::Client;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::frames::{self, Frames};
use crate::process::{self, Process};
use crate::{Outcome, bare};

/// The scripted server answers to any name.
pub const MODEL: &str = "scripted";
pub const PROMPT: &str =
    "Should we split our billing system into services, or keep it whole for another year?";

/// A folder with a configuration and a store.
pub struct Place {
    folder: TempDir,
}

impl Place {
    /// One whose only provider is the scripted server at `url`.
    pub fn new(url: &str) -> Outcome<Place> {
        let folder = tempfile::tempdir()?;
        let config = format!("[providers.bench]\nkind = \"openai\"\nurl = \"{url}/v1\"\n");
        // The user's own file: one in the working directory would have to be trusted.
        let own = folder.path().join("config/plenary");
        std::fs::create_dir_all(&own)?;
        std::fs::write(own.join("plenary.toml"), config)?;
        Ok(Place { folder })
    }

    pub fn home(&self) -> std::path::PathBuf {
        self.folder.path().join("home")
    }

    /// `plenary` with these arguments, in this folder and with its own store.
    pub fn command(&self, arguments: &[&str]) -> Outcome<Command> {
        let mut command = Command::new(process::plenary()?);
        command.args(arguments).current_dir(self.folder.path()).env("PLENARY_HOME", self.home());
        command.env("XDG_CONFIG_HOME", self.folder.path().join("config"));
        for set in ["PLENARY_SERVER", "PLENARY_TOKEN", "PLENARY_LISTEN", "PLENARY_HOSTS"] {
            command.env_remove(set);
        }
        Ok(command)
    }

    pub fn ask(&self) -> Outcome<Command> {
        let model = format!("bench/{MODEL}");
        self.command(&["ask", PROMPT, "--model", &model, "--synthesizer", &model])
    }

    pub fn serve(&self) -> Outcome<Plenary> {
        let mut command = self.command(&["serve", "--listen", "127.0.0.1:0"])?;
        let (process, url) = Process::start_server(command.stderr(Stdio::inherit()))?;
        Ok(Plenary { process, api: Api { client: bare::client()?, url } })
    }
}

/// A running `plenary serve`.
pub struct Plenary {
    pub process: Process,
    pub api: Api,
}

#[derive(Clone)]
pub struct Api {
    pub client: Client,
    pub url: String,
}

impl Api {
    /// Convenes a board of three and returns its id. A key makes it safe to try
    /// again when no answer came.
    pub async fn convene(&self, key: Option<&str>) -> Outcome<String> {
        let model = format!("bench/{MODEL}");
        let body = json!({ "prompt": PROMPT, "models": [model], "synthesizer": model });
        let mut request = self.client.post(format!("{}/api/boardrooms", self.url)).json(&body);
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let response = request.send().await?;
        let status = response.status();
        let reply: Value = response.json().await?;
        match reply["data"]["id"].as_str() {
            Some(id) => Ok(id.to_owned()),
            None => Err(format!("a board was not convened: {status} {}", reply["error"]).into()),
        }
    }

    pub async fn follow(&self, id: &str) -> Outcome<Frames> {
        let url = format!("{}/api/boardrooms/{id}/events", self.url);
        Frames::new(self.client.get(url).send().await?)
    }

    /// Convenes a board and reads along until its synthesis is there.
    pub async fn board(&self) -> Outcome<()> {
        let id = self.convene(None).await?;
        let synthesized = self.follow(&id).await?.each(is_synthesis).await?;
        match synthesized {
            true => Ok(()),
            false => Err("the events of a board ended before its synthesis".into()),
        }
    }

    /// How many sessions are in this state, by the list's own count.
    pub async fn count(&self, filter: &str) -> Outcome<u64> {
        let url = format!("{}/api/sessions?limit=1&{filter}", self.url);
        let page: Value = self.client.get(url).send().await?.error_for_status()?.json().await?;
        page["meta"]["total"].as_u64().ok_or_else(|| "a list without a total".into())
    }

    /// A counter of `/metrics`.
    pub async fn metric(&self, name: &str) -> Outcome<u64> {
        let text = self.client.get(format!("{}/metrics", self.url)).send().await?.text().await?;
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("plenary_{name} ")));
        let value = line.and_then(|value| value.trim().parse().ok());
        value.ok_or_else(|| format!("there is no metric {name}").into())
    }
}

pub fn is_synthesis(frame: &str) -> bool {
    frames::name(frame) == Some("synthesized")
}
