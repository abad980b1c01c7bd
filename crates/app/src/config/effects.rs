//! What a file would do, in words, for whoever is to trust it.

use std::path::Path;

use plenary_providers::{CommandConfig, Kind, ProviderConfig, shown_address};

use super::{File, TierModels, origins, prices, provider, tiers, tokens};
use crate::serving;

impl File {
    /// Whether all of it could be used.
    pub fn check(self) -> Result<(), String> {
        tokens(None, self.tokens)?;
        origins("`allowed_origins`", &self.allowed_origins.unwrap_or_default())?;
        super::database(self.database_url, self.database_listen_url)?;
        tiers(self.tiers, &|_| None)?;
        self.workflows.settle(&|_| None)?;
        let providers = super::providers(self.providers, &|_| None, vec![])?;
        prices(self.prices, self.currency, &providers)?;
        super::web_folder(self.web_folder).map(drop)
    }

    /// One line for each thing, those that could do harm first.
    pub fn effects(self, folder: &Path) -> Result<Vec<String>, String> {
        let mut lines = vec![];
        for (name, settings) in self.providers {
            let config = provider(&name, settings, &|_| None)
                .map_err(|problem| format!("[providers.{name}]: {problem}"))?;
            let told = of_provider(&config, folder).into_iter();
            lines.extend(told.map(|line| format!("{line}  (providers.{name})")));
        }
        let told = self.workflows.effects()?.into_iter();
        lines.extend(told.map(|line| format!("{line}  (workflows)")));
        let mut add = |name: &str, line: String| lines.push(format!("{line}  ({name})"));
        if let Some(server) = self.server {
            let line = format!(
                "sends everything you do, and the token in PLENARY_TOKEN, to {}",
                shown_address(&server)
            );
            add("server", line);
        }
        if let Some(home) = self.home {
            add("home", format!("keeps records and the tokens of agents in {}", home.display()));
        }
        if let Some(database) = super::database(self.database_url, self.database_listen_url)? {
            add("database_url", format!("keeps records in the database {}", database.shown()));
        }
        if let Some(listen) = self.listen {
            add("listen", format!("lets `plenary serve` listen on {listen}"));
        }
        if let Some(tokens) = self.tokens {
            let words = match tokens.len() {
                1 => "the access token".to_owned(),
                many => format!("one of the {many} access tokens"),
            };
            add("tokens", format!("lets anyone in who has {words} it sets"));
        }
        if let Some(hosts) = self.hosts {
            add("hosts", format!("lets browsers address the server as {}", hosts.join(", ")));
        }
        if let Some(origins) = self.allowed_origins {
            let origins = origins.join(", ");
            add("allowed_origins", format!("lets pages from {origins} use the server as you"));
        }
        if let Some(folder) = self.web_folder {
            add("web_folder", format!("serves the web page from {}", folder.display()));
        }
        let set = [
            ("serve", self.serve != serving::Written::default()),
            ("tiers", self.tiers != TierModels::default()),
            ("prices", !self.prices.is_empty()),
            ("currency", self.currency.is_some()),
            ("embedded", self.embedded.is_some()),
        ];
        let set: Vec<&str> =
            set.into_iter().filter(|(_, set)| *set).map(|(name, _)| name).collect();
        if !set.is_empty() {
            lines.push(format!("sets {}", set.join(", ")));
        }
        Ok(lines)
    }
}

fn of_provider(config: &ProviderConfig, folder: &Path) -> Vec<String> {
    match (config.kind, &config.command) {
        (Kind::Command, Some(command)) => of_command(command, folder),
        (Kind::Local, _) => {
            let files = config.local.iter().map(|model| model.path.display().to_string());
            files.map(|file| format!("runs the model in {file}")).collect()
        }
        (
            Kind::Ollama | Kind::OpenAi | Kind::Anthropic | Kind::Gemini | Kind::Command,
            None | Some(_),
        ) => {
            let key = match &config.key_env {
                Some(variable) => format!("the key in {variable} and your prompts"),
                None => "your prompts".to_owned(),
            };
            vec![format!("sends {key} to {}", config.shown_url())]
        }
    }
}

fn of_command(command: &CommandConfig, folder: &Path) -> Vec<String> {
    let words = [&command.program].into_iter().chain(&command.args);
    let words: Vec<String> = words
        .map(|word| match word.contains(char::is_whitespace) || word.is_empty() {
            true => format!("{word:?}"),
            false => word.clone(),
        })
        .collect();
    // Whoever can change the one file can change the other.
    let is_beside = Path::new(&command.program).starts_with(folder);
    let later = if is_beside { " (which can change later without asking you again)" } else { "" };
    let mut lines = vec![format!("runs {}{later}", words.join(" "))];
    let seen: Vec<&str> = command.variables().map(String::as_str).collect();
    if !seen.is_empty() {
        lines.push(format!("lets that program see {}", seen.join(", ")));
    }
    let folders = command.folder.iter().chain(command.folders.iter().flatten());
    let folders: Vec<String> = folders.map(|folder| folder.display().to_string()).collect();
    if !folders.is_empty() {
        lines.push(format!("lets that program work in {}", folders.join(", ")));
    }
    lines
}
