//! Known agents, and how each is started for an opinion.
//!
//! They get no tools, or can only read. By default none loads settings, hooks,
//! instructions or MCP servers of the user's: those are meant for other work, and
//! may start this very program again. The login is kept. Each is told its role as
//! its system prompt, by a file, because arguments can be read by everybody on the
//! machine and are bounded.

use crate::config::{CommandConfig, Output};

/// Ways out to the network, which a company may prescribe.
const NETWORK: &[&str] = &[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
];
const AMAZON: &str = "AWS_*";
const GOOGLE: &[&str] = &[
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_PROJECT_ID",
    "GOOGLE_CLOUD_LOCATION",
];
const SYSTEM: (&str, &str) = ("system.md", "{system}");

/// How one agent is started. What is `alone` is left out when the user's own
/// settings are wanted.
struct Preset {
    program: &'static str,
    args: &'static [&'static str],
    alone: &'static [&'static str],
    rest: &'static [&'static str],
    /// Of the program's variables, those that say whom it speaks to. Those by which
    /// a session tells its own children that they are inside it are not among them.
    env: &'static [&'static [&'static str]],
    set: &'static [(&'static str, &'static str)],
    set_alone: &'static [(&'static str, &'static str)],
    files: &'static [(&'static str, &'static str)],
    models: &'static [&'static str],
    login: &'static str,
}

const CLAUDE: Preset = Preset {
    program: "claude",
    args: &["-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"],
    alone: &["--setting-sources", "", "--strict-mcp-config"],
    rest: &[
        "--tools",
        "{tool-names}",
        "--allowedTools",
        "{tools}",
        "--no-session-persistence",
        "--system-prompt-file",
        "{private}/system.md",
        "--model",
        "{model}",
    ],
    env: &[
        &[
            "ANTHROPIC_*",
            "CLAUDE_CONFIG_DIR",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_*",
            "CLAUDE_CODE_SKIP_*",
            "CLAUDE_CODE_CLIENT_*",
            "CLAUDE_CODE_DISABLE_*",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
            "CLOUD_ML_REGION",
            "VERTEX_*",
            AMAZON,
            "AZURE_*",
        ],
        GOOGLE,
        NETWORK,
    ],
    set: &[("DISABLE_AUTOUPDATER", "1")],
    set_alone: &[],
    files: &[SYSTEM],
    models: &["default", "opus", "sonnet", "haiku"],
    login: "Run `claude` and sign in with /login, or set ANTHROPIC_API_KEY",
};

const CODEX: Preset = Preset {
    program: "codex",
    args: &["exec", "--json", "--skip-git-repo-check", "--sandbox", "read-only", "--ephemeral"],
    // Plugins, hooks and skills lie beside the settings. Who does not want the vendor to
    // be told of each run has said so in the settings that are left out here.
    alone: &[
        "--ignore-user-config",
        "--ignore-rules",
        "-c",
        "features.plugins=false",
        "-c",
        "features.hooks=false",
        "-c",
        "skills.include_instructions=false",
        "-c",
        "analytics.enabled=false",
    ],
    rest: &["-c", "model_instructions_file={private}/system.md", "--model", "{model}", "-"],
    env: &[
        &[
            "OPENAI_API_KEY",
            "OPENAI_ORGANIZATION",
            "OPENAI_PROJECT",
            "AZURE_OPENAI_API_KEY",
            "CODEX_HOME",
            "CODEX_API_KEY",
            "CODEX_CA_CERTIFICATE",
            AMAZON,
        ],
        NETWORK,
    ],
    set: &[],
    set_alone: &[],
    files: &[SYSTEM],
    models: &["default"],
    login: "Run `codex login`, or set CODEX_API_KEY",
};

/// What the user has set is loaded, but this wins over it.
const GEMINI_SETTINGS: &str = r#"{
  "hooksConfig": { "enabled": false },
  "tools": { "core": [] },
  "general": { "enableAutoUpdate": false }
}
"#;

const GEMINI: Preset = Preset {
    program: "gemini",
    args: &["--output-format", "stream-json", "--skip-trust"],
    // There are no servers and no extensions of these names.
    alone: &["--allowed-mcp-server-names", "none", "--extensions", "none"],
    rest: &["--model", "{model}"],
    env: &[
        &[
            "GEMINI_API_KEY",
            "GEMINI_CLI_HOME",
            "GOOGLE_API_KEY",
            "GOOGLE_GEMINI_BASE_URL",
            "GOOGLE_VERTEX_BASE_URL",
            "GOOGLE_GENAI_*",
        ],
        GOOGLE,
        NETWORK,
    ],
    set: &[("GEMINI_SYSTEM_MD", "{private}/system.md")],
    set_alone: &[("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "{private}/settings.json")],
    files: &[SYSTEM, ("settings.json", GEMINI_SETTINGS)],
    models: &["default"],
    login: "Run `gemini` and sign in, or set GEMINI_API_KEY",
};

const OPENCODE: Preset = Preset {
    program: "opencode",
    args: &["run", "--format", "json", "--agent", "plenary", "--title", "Plenary"],
    alone: &["--pure"],
    rest: &["--model", "{model}"],
    env: &[
        &[
            "OPENAI_API_KEY",
            "ANTHROPIC_API_KEY",
            "GEMINI_API_KEY",
            "GOOGLE_GENERATIVE_AI_API_KEY",
            "OPENROUTER_API_KEY",
            "OPENCODE_API_KEY",
            "OPENCODE_CONFIG",
            AMAZON,
        ],
        GOOGLE,
        NETWORK,
    ],
    set: &[
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        (
            "OPENCODE_CONFIG_CONTENT",
            r#"{"agent":{"plenary":{"mode":"primary","prompt":"{file:{private}/system.md}","tools":{"*":false}}}}"#,
        ),
    ],
    // The login lies in the data folder and stays.
    set_alone: &[
        ("XDG_CONFIG_HOME", "{private}"),
        ("OPENCODE_DISABLE_PROJECT_CONFIG", "1"),
        ("OPENCODE_DISABLE_CLAUDE_CODE", "1"),
    ],
    files: &[SYSTEM],
    models: &["default"],
    login: "Run `opencode auth login`, or set the key of the model's vendor",
};

/// The names that [`CommandConfig::preset`] knows.
pub const PRESETS: [&str; 4] = ["claude", "codex", "gemini", "opencode"];

impl CommandConfig {
    /// A known agent, as `preset = "claude"` in the configuration, and its models.
    /// Claude gets the tools that an agent names: these and no others are there, and
    /// need no leave. `user_settings` lets the program load the user's own.
    pub fn preset(name: &str, user_settings: bool) -> Option<(CommandConfig, Vec<String>)> {
        let preset = match name {
            "claude" => CLAUDE,
            "codex" => CODEX,
            "gemini" => GEMINI,
            "opencode" => OPENCODE,
            _ => return None,
        };
        let (alone, set_alone) = match user_settings {
            true => (&[][..], &[][..]),
            false => (preset.alone, preset.set_alone),
        };
        let owned = |one: &&str| (*one).to_owned();
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let args: Vec<&str> = [preset.args, alone, preset.rest].concat();
        let mut command = CommandConfig::new(preset.program, &args, Output::JsonLines);
        command.usual = preset.env.concat().iter().map(owned).collect();
        command.set = preset.set.iter().chain(set_alone).map(pair).collect();
        command.files = preset.files.iter().map(pair).collect();
        command.login = Some(preset.login);
        Some((command, preset.models.iter().map(owned).collect()))
    }
}
