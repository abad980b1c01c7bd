//! What a provider is, before anybody has tried to reach it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use plenary_domain::limits;

use crate::redact;

pub(crate) const OPENROUTER_URL: &str = "https://openrouter.ai/api/v1";

#[derive(Clone, Debug)]
pub struct ProviderConfig {
    /// The part of a model's name before the slash.
    pub name: String,
    pub kind: Kind,
    /// The base URL; empty for a command.
    pub url: String,
    pub key: Option<Secret>,
    /// Where the key comes from, for messages that tell what to check.
    pub key_env: Option<String>,
    /// A fixed list of models, which then are not asked for.
    pub models: Option<Vec<String>>,
    /// Ollama's context window. Without it Ollama takes the model's default, and
    /// cuts off the start of a longer prompt without a word.
    pub num_ctx: Option<u32>,
    /// How much its models take, prompt and answer together, where that is known.
    pub window_tokens: Option<u32>,
    /// Set for `Kind::Command`, and for it only.
    pub command: Option<CommandConfig>,
    /// Set for `Kind::Local`, and for it only.
    pub local: Vec<LocalModel>,
}

/// A model that runs inside this process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalModel {
    pub name: String,
    /// A GGUF file.
    pub path: PathBuf,
    /// What a person should know about it.
    pub note: Option<String>,
}

impl ProviderConfig {
    /// A provider over HTTP, at its vendor's usual address.
    pub fn new(name: &str, kind: Kind) -> Self {
        ProviderConfig {
            name: name.to_owned(),
            kind,
            url: kind.usual_url().to_owned(),
            key: None,
            key_env: None,
            models: None,
            num_ctx: None,
            window_tokens: None,
            command: None,
            local: vec![],
        }
    }

    /// A command-line agent.
    pub fn command(name: &str, command: CommandConfig) -> Self {
        ProviderConfig { command: Some(command), ..ProviderConfig::new(name, Kind::Command) }
    }

    /// Models inside this process.
    pub fn local(name: &str, models: Vec<LocalModel>) -> Self {
        ProviderConfig { local: models, ..ProviderConfig::new(name, Kind::Local) }
    }

    /// Tokens that its models take, prompt and answer together, where that is set.
    pub(crate) fn set_window(&self) -> Option<u32> {
        match self.kind {
            Kind::Local => None,
            // What Ollama is told wins over what somebody thinks of it.
            Kind::Ollama => self.num_ctx.or(self.window_tokens),
            Kind::OpenAi | Kind::Anthropic | Kind::Gemini | Kind::Command => self.window_tokens,
        }
    }

    /// The same where nobody has said anything.
    pub(crate) fn usual_window(&self) -> u32 {
        match self.kind {
            Kind::Local => limits::LOCAL_LEAST_TOKENS as u32,
            Kind::Ollama => limits::OLLAMA_WINDOW_TOKENS,
            Kind::OpenAi | Kind::Anthropic | Kind::Gemini | Kind::Command => limits::WINDOW_TOKENS,
        }
    }

    /// Whose models they are, by the address.
    pub(crate) fn vendor(&self) -> Option<&'static str> {
        let vendors = [
            (Kind::OpenAi.usual_url(), "openai"),
            (Kind::Anthropic.usual_url(), "anthropic"),
            (Kind::Gemini.usual_url(), "gemini"),
            (OPENROUTER_URL, "openrouter"),
        ];
        vendors.into_iter().find(|(url, _)| self.url == *url).map(|(_, vendor)| vendor)
    }

    /// The address as it may be shown.
    pub fn shown_url(&self) -> String {
        redact::address(&self.url)
    }

    #[must_use]
    pub fn at(mut self, url: &str) -> Self {
        self.url = url.trim().trim_end_matches('/').to_owned();
        self
    }

    #[must_use]
    pub fn with_key(mut self, key: Secret, env: &str) -> Self {
        self.key = Some(key);
        self.key_env = Some(env.to_owned());
        self
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Ollama,
    /// OpenAI, and all servers that speak its chat completions.
    OpenAi,
    Anthropic,
    Gemini,
    Command,
    Local,
}

impl Kind {
    /// As it stands in the configuration and in reports.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Ollama => "ollama",
            Kind::OpenAi => "openai",
            Kind::Anthropic => "anthropic",
            Kind::Gemini => "gemini",
            Kind::Command => "command",
            Kind::Local => "local",
        }
    }

    pub fn usual_url(self) -> &'static str {
        match self {
            Kind::Ollama => "http://127.0.0.1:11434",
            Kind::OpenAi => "https://api.openai.com/v1",
            Kind::Anthropic => "https://api.anthropic.com",
            Kind::Gemini => "https://generativelanguage.googleapis.com",
            Kind::Command | Kind::Local => "",
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let all =
            [Kind::Ollama, Kind::OpenAi, Kind::Anthropic, Kind::Gemini, Kind::Command, Kind::Local];
        let found = all.into_iter().find(|kind| kind.word() == word);
        found.ok_or_else(|| {
            format!(
                "`{word}` is not a kind of provider; available: ollama, openai, anthropic, \
                     gemini, command and local"
            )
        })
    }
}

/// A key. It can be sent to its provider and nowhere else.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(key: &str) -> Self {
        Secret(key.trim().to_owned())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// A program that reads a prompt and prints an answer.
#[derive(Clone, Debug)]
pub struct CommandConfig {
    pub program: String,
    /// `{model}` stands for the model's name, `{prompt}` for the prompt. The model
    /// `default` leaves out the argument with `{model}` and the flag before it.
    /// Without `{prompt}` the prompt goes to the program's standard input.
    /// `{tools}` stands for the tools that an agent may use, with commas; without
    /// any, its argument is left out in the same way as that with `{model}`.
    /// `{tool-names}` stands for the same without rules in brackets, and for an
    /// empty argument when there are none. `{system}` stands for the role, which then
    /// is no part of the prompt, and `{private}` for a folder that is made for the
    /// call.
    pub args: Vec<String>,
    pub output: Output,
    /// Names of environment variables that the program gets besides the harmless
    /// ones, as the user lists them. A name that ends in `*` stands for all that
    /// begin so.
    pub env: Vec<String>,
    /// Those that its preset passes on, likewise.
    pub usual: Vec<String>,
    /// Variables that it gets with these values, with places as in `args`.
    pub set: Vec<(String, String)>,
    /// Files that are put into the call's own folder, with places as in `args`.
    pub files: Vec<(String, String)>,
    /// What a person does who is not signed in, as a sentence without its end.
    pub login: Option<&'static str>,
    /// The folder that it works in; one that is made for each call when none is
    /// given.
    pub folder: Option<PathBuf>,
    /// Folders in which an agent may choose to work instead, with all below them.
    /// Without a list it is the folder in which this process was started.
    pub folders: Option<Vec<PathBuf>>,
    pub limit_ms: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// All that is printed is the answer.
    Text,
    /// One JSON object per line, in a form that `agents` knows.
    JsonLines,
}

impl FromStr for Output {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "text" => Ok(Output::Text),
            "json-lines" => Ok(Output::JsonLines),
            _ => Err(format!("`{word}` is not a kind of output; available: text and json-lines")),
        }
    }
}

impl CommandConfig {
    pub fn new(program: &str, args: &[&str], output: Output) -> Self {
        CommandConfig {
            program: program.to_owned(),
            args: args.iter().map(|one| (*one).to_owned()).collect(),
            output,
            env: Vec::new(),
            usual: Vec::new(),
            set: Vec::new(),
            files: Vec::new(),
            login: None,
            folder: None,
            folders: None,
            limit_ms: limits::COMMAND_MS,
        }
    }

    /// The variables that it gets besides the harmless ones.
    pub fn variables(&self) -> impl Iterator<Item = &String> {
        self.usual.iter().chain(&self.env)
    }
}
