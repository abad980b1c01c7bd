//! Settings: `plenary.toml`, then the environment, then flags.

mod effects;
pub mod layers;
mod workflows;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use plenary_domain::names::check_line;
use plenary_domain::{ModelName, limits};
use plenary_engine::ports::StoreError;
use plenary_providers::{
    CommandConfig, Kind, LocalModel, OtlpConfig, Output, OutsideConfig, PRESETS, ProviderConfig,
    Secret, discover, shown_address,
};
use plenary_server::settings::{NewPrice, NewTiers};
use plenary_server::{Price, Prices, Tiers};
use plenary_store::postgres::Address;
use serde::Deserialize;

use crate::serving::{self, Serving};
use crate::settings::{Kept, with_kept};
use crate::trust::Trusted;
use crate::{offers, weights};
use layers::Ignored;

const FILE: &str = "plenary.toml";
const LISTEN: &str = "127.0.0.1:7171";

/// What the program goes by.
pub struct Config {
    /// The files that were read.
    pub files: Vec<PathBuf>,
    /// What was left out of them.
    pub ignored: Option<Ignored>,
    pub home: PathBuf,
    /// Where the log is, where it is not in `home`. It is shown without its password.
    pub database: Option<Address>,
    pub listen: String,
    pub tokens: Vec<String>,
    pub hosts: Vec<String>,
    /// Pages of elsewhere that may use the server.
    pub origins: Vec<String>,
    /// A server to use in place of a store of one's own. It may hold a password:
    /// [`Config::shown_server`] is for people, models and files.
    pub server: Option<String>,
    pub providers: Vec<ProviderConfig>,
    pub tiers: Tiers,
    pub prices: Prices,
    /// The interface as files, for whoever works on it.
    pub web_folder: Option<PathBuf>,
    pub serving: Serving,
    /// What workflows may reach.
    pub outside: OutsideConfig,
    /// Where traces go, from a server.
    pub traces: Option<OtlpConfig>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    home: Option<PathBuf>,
    database_url: Option<String>,
    database_listen_url: Option<String>,
    listen: Option<String>,
    tokens: Option<Vec<String>>,
    hosts: Option<Vec<String>>,
    allowed_origins: Option<Vec<String>>,
    server: Option<String>,
    embedded: Option<bool>,
    web_folder: Option<PathBuf>,
    /// Of the prices.
    currency: Option<String>,
    #[serde(default)]
    providers: BTreeMap<String, Provider>,
    #[serde(default)]
    serve: serving::Written,
    #[serde(default)]
    workflows: workflows::Written,
    #[serde(default)]
    tiers: TierModels,
    /// By `provider/model`.
    #[serde(default)]
    prices: BTreeMap<String, ModelPrice>,
}

#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct TierModels {
    fast: Option<String>,
    balanced: Option<String>,
    strong: Option<String>,
}

impl TierModels {
    /// These, and what was set while the program ran where these say nothing.
    fn over(self, kept: NewTiers) -> TierModels {
        TierModels {
            fast: self.fast.or(kept.fast),
            balanced: self.balanced.or(kept.balanced),
            strong: self.strong.or(kept.strong),
        }
    }
}

/// The same of prices.
fn over(
    written: BTreeMap<String, ModelPrice>,
    kept: BTreeMap<String, NewPrice>,
) -> BTreeMap<String, ModelPrice> {
    let price = |NewPrice { input, output, cached }| ModelPrice { input, output, cached };
    let kept = kept.into_iter().map(|(model, kept)| (model, price(kept)));
    kept.chain(written).collect()
}

/// For a million tokens.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelPrice {
    input: f64,
    output: f64,
    /// Of tokens that the provider had in its cache; they cost like others without it.
    cached: Option<f64>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Provider {
    /// The provider's own name, where that is a kind.
    kind: Option<String>,
    url: Option<String>,
    key_env: Option<String>,
    models: Option<Models>,
    num_ctx: Option<u32>,
    window_tokens: Option<NonZeroU32>,
    preset: Option<String>,
    /// Whether a preset's program loads the user's own settings and MCP servers.
    user_settings: Option<bool>,
    program: Option<String>,
    args: Option<Vec<String>>,
    output: Option<String>,
    env: Option<Vec<String>>,
    folder: Option<PathBuf>,
    folders: Option<Vec<PathBuf>>,
    timeout_seconds: Option<u64>,
}

/// Names; for the local engine, names with their files.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Models {
    Names(Vec<String>),
    Files(BTreeMap<String, PathBuf>),
}

impl Config {
    /// Reads the user's own file and the one in the working directory. A mistake in
    /// one that counts is said with its place.
    pub fn load(env: &dyn Fn(&str) -> Option<String>) -> Result<Config, String> {
        let directories = directories();
        let own = directories.as_ref().map(|dirs| dirs.config_dir().join(FILE));
        let usual_home = directories.map(|dirs| dirs.data_dir().to_path_buf());
        let trusted = Trusted::read(usual_home.as_deref())?;
        let layers = layers::read(own.as_deref(), layers::local(), &trusted)?;
        let settings = layers.settings;
        let set = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        let home = set("PLENARY_HOME").map(PathBuf::from).or(settings.home).or(usual_home);
        let home = home.and_then(|home| std::path::absolute(home).ok());
        let home = home.ok_or("no data folder found; set PLENARY_HOME")?;
        let kept = Kept::read(&home)?;
        let mut inside = offers::pulled(&home);
        if embedded(env, settings.embedded)? {
            inside.push(weights::embedded(&home));
        }
        let providers = providers(settings.providers, &with_kept(&kept, env), inside)?;
        let currency = set("PLENARY_CURRENCY").or(settings.currency);
        let hosts = set("PLENARY_HOSTS").map(|text| listed(&text)).or(settings.hosts);
        let allowed = set("PLENARY_ALLOWED_ORIGINS").map(|text| listed(&text));
        let allowed = allowed.or(settings.allowed_origins);
        Ok(Config {
            database: database(
                set("PLENARY_DATABASE_URL").or(settings.database_url),
                set("PLENARY_DATABASE_LISTEN_URL").or(settings.database_listen_url),
            )?,
            listen: set("PLENARY_LISTEN").or(settings.listen).unwrap_or_else(|| LISTEN.into()),
            tokens: tokens(set("PLENARY_TOKEN"), settings.tokens)?,
            hosts: hosts.unwrap_or_default(),
            origins: origins(
                "PLENARY_ALLOWED_ORIGINS (`allowed_origins`)",
                &allowed.unwrap_or_default(),
            )?,
            server: named_server(set("PLENARY_SERVER").or(settings.server))?,
            serving: settings.serve.settle(&set)?,
            outside: settings.workflows.settle(env)?,
            traces: None,
            tiers: tiers(settings.tiers.over(kept.tiers), &set)?,
            prices: prices(over(settings.prices, kept.prices), currency, &providers)?,
            web_folder: web_folder(
                set("PLENARY_WEB_FOLDER").map(PathBuf::from).or(settings.web_folder),
            )?,
            providers,
            home,
            files: layers.files,
            ignored: layers.ignored,
        })
    }

    pub fn shown_server(&self) -> Option<String> {
        self.server.as_deref().map(shown_address)
    }

    /// Where everything is kept, if not in the data folder: a server, or a database.
    pub fn shown_elsewhere(&self) -> Option<String> {
        self.shown_server().or_else(|| self.database.as_ref().map(Address::shown))
    }

    /// The address to listen on; one that others can reach needs a token.
    pub fn address(&self) -> Result<SocketAddr, String> {
        let with_port = match self.listen.parse::<u16>() {
            Ok(port) => format!("127.0.0.1:{port}"),
            Err(_) => self.listen.replacen("localhost", "127.0.0.1", 1),
        };
        let address: SocketAddr = with_port.parse().map_err(|_| {
            format!(
                "{:?} is not an address to listen on; write one such as 127.0.0.1:7171",
                self.listen
            )
        })?;
        if !address.ip().is_loopback() && self.tokens.is_empty() {
            return Err(format!(
                "others can reach {address}, so an access token is required: set PLENARY_TOKEN"
            ));
        }
        Ok(address)
    }
}

/// The address of a server. What serves speaks plain HTTP, so a scheme may be left out.
pub fn server(written: &str) -> Result<String, String> {
    let written = written.trim();
    let url = match written.contains("://") {
        true => written.to_owned(),
        false => format!("http://{written}"),
    };
    let parsed = reqwest::Url::parse(&url).ok();
    let is_web = |url: &reqwest::Url| matches!(url.scheme(), "http" | "https") && url.has_host();
    match parsed.filter(is_web) {
        Some(_) => Ok(url.trim_end_matches('/').to_owned()),
        None => {
            Err(format!("{written:?} is not a server address; write one such as 127.0.0.1:7171"))
        }
    }
}

fn named_server(written: Option<String>) -> Result<Option<String>, String> {
    let named = written.as_deref().map(server).transpose();
    named.map_err(|problem| format!("`server` (PLENARY_SERVER): {problem}"))
}

/// The user's own directories, which no file of a working directory can move.
pub fn directories() -> Option<directories::ProjectDirs> {
    directories::ProjectDirs::from("", "", "plenary")
}

fn listed(text: &str) -> Vec<String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

/// Origins as browsers name them. One that is never named would let nobody in.
pub fn origins(place: &str, written: &[String]) -> Result<Vec<String>, String> {
    let origin = |text: &String| {
        let url = reqwest::Url::parse(text.trim()).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = url.filter(|url| url.path() == "/" && url.query().is_none());
        let url = url.filter(|url| url.username().is_empty() && url.fragment().is_none());
        url.map(|url| url.origin().ascii_serialization()).ok_or_else(|| {
            format!("{place} has {text:?}; write an origin, such as http://localhost:3000")
        })
    };
    written.iter().map(origin).collect()
}

/// An empty token would let everybody in who sends none.
fn tokens(variable: Option<String>, written: Option<Vec<String>>) -> Result<Vec<String>, String> {
    let (place, tokens) = match variable {
        Some(text) => ("PLENARY_TOKEN", text.split(',').map(str::to_owned).collect()),
        None => ("`tokens`", written.unwrap_or_default()),
    };
    let tokens: Vec<String> = tokens.iter().map(|token| token.trim().to_owned()).collect();
    match tokens.iter().any(String::is_empty) {
        true => Err(format!(
            "{place} has an empty token; use a long random one (`openssl rand -hex 20`), or leave \
             it out"
        )),
        false => Ok(tokens),
    }
}

/// The embedded model can be switched off, for those who never want to fall back
/// on it unawares.
fn embedded(env: &dyn Fn(&str) -> Option<String>, written: Option<bool>) -> Result<bool, String> {
    match env("PLENARY_EMBEDDED").as_deref().map(str::trim) {
        None | Some("") => Ok(written.unwrap_or(true)),
        Some("on" | "true" | "1") => Ok(true),
        Some("off" | "false" | "0") => Ok(false),
        Some(other) => Err(format!("PLENARY_EMBEDDED is {other:?}; write on or off")),
    }
}

fn web_folder(given: Option<PathBuf>) -> Result<Option<PathBuf>, String> {
    match given {
        Some(folder) if !folder.join("index.html").is_file() => Err(format!(
            "`web_folder` (PLENARY_WEB_FOLDER) is {}, which has no index.html; give the folder of \
             a built web page",
            folder.display()
        )),
        given => Ok(given),
    }
}

/// Where the log is, if not in the data folder, and where notices are heard. What is wrong
/// is said without the URL, which may hold a password.
pub fn database(url: Option<String>, listening: Option<String>) -> Result<Option<Address>, String> {
    let Some(url) = url else { return Ok(None) };
    let told = |name: &str, error: StoreError| match error {
        StoreError::NotWritten(problem) => format!("{name}: {problem}"),
        error => format!("{name}: {error}"),
    };
    let address = Address::of(url.trim())
        .map_err(|error| told("PLENARY_DATABASE_URL (`database_url`)", error))?;
    match listening {
        None => Ok(Some(address)),
        Some(url) => address
            .listening_at(url.trim())
            .map(Some)
            .map_err(|error| told("PLENARY_DATABASE_LISTEN_URL (`database_listen_url`)", error)),
    }
}

/// Those in the file first, then those that the environment shows, then what was pulled
/// and the embedded model.
fn providers(
    written: BTreeMap<String, Provider>,
    env: &dyn Fn(&str) -> Option<String>,
    inside: Vec<LocalModel>,
) -> Result<Vec<ProviderConfig>, String> {
    let mut all = vec![];
    for (name, settings) in written {
        let wrong = |problem: String| format!("[providers.{name}]: {problem}");
        if name.is_empty() || name.contains('/') || name.len() > limits::PROVIDER_NAME_BYTES {
            let most = limits::PROVIDER_NAME_BYTES;
            return Err(wrong(format!(
                "a provider's name must have 1 to {most} bytes and no slash"
            )));
        }
        check_line(&name).map_err(|problem| wrong(format!("the name {problem}")))?;
        all.push(provider(&name, settings, env).map_err(wrong)?);
    }
    // Models of this process come behind everything that was connected.
    let mut found = discover(env);
    match all.iter_mut().find(|known: &&mut ProviderConfig| known.kind == Kind::Local) {
        Some(local) => {
            let is_new = |model: &LocalModel| local.local.iter().all(|own| own.name != model.name);
            let new: Vec<LocalModel> = inside.into_iter().filter(is_new).collect();
            local.local.extend(new);
        }
        None if inside.is_empty() => {}
        None => found.push(ProviderConfig::local("local", inside)),
    }
    for found in found {
        if !all.iter().any(|known: &ProviderConfig| known.name == found.name) {
            all.push(found);
        }
    }
    Ok(all)
}

/// Settings in tables that have a variable.
const NESTED: [&str; 9] = [
    "PLENARY_TIERS__FAST",
    "PLENARY_TIERS__BALANCED",
    "PLENARY_TIERS__STRONG",
    "PLENARY_SERVE__CONNECTIONS",
    "PLENARY_SERVE__SOCKET_CLIENTS",
    "PLENARY_SERVE__MCP_SESSIONS",
    "PLENARY_SERVE__DRAIN_SECONDS",
    "PLENARY_SERVE__PROXIES",
    "PLENARY_SERVE__ADDRESS",
];

/// A variable that looks like one of these and is none is a slip: nobody would read it.
pub fn check_variables(names: impl IntoIterator<Item = String>) -> Result<(), String> {
    let is_strange = |name: &String| {
        name.starts_with("PLENARY_") && name.contains("__") && !NESTED.contains(&name.as_str())
    };
    match names.into_iter().find(is_strange) {
        None => Ok(()),
        Some(name) => Err(format!("there is no setting {name}; there are {}", NESTED.join(", "))),
    }
}

/// A tier that is set to nothing is a slip: without it a model is chosen anyway.
fn tiers(written: TierModels, set: &dyn Fn(&str) -> Option<String>) -> Result<Tiers, String> {
    let tier = |name: &str, written: Option<String>| {
        let variable = format!("PLENARY_TIERS__{}", name.to_uppercase());
        match set(&variable).or(written) {
            Some(model) if model.trim().is_empty() => {
                Err(format!("[tiers]: `{name}` is empty; name a model, or remove it"))
            }
            other => Ok(other),
        }
    };
    Ok(Tiers {
        fast: tier("fast", written.fast)?,
        balanced: tier("balanced", written.balanced)?,
        strong: tier("strong", written.strong)?,
    })
}

fn prices(
    written: BTreeMap<String, ModelPrice>,
    currency: Option<String>,
    providers: &[ProviderConfig],
) -> Result<Prices, String> {
    let currency = currency.unwrap_or_else(|| Prices::default().currency);
    if currency.len() != 3 || !currency.bytes().all(|letter| letter.is_ascii_uppercase()) {
        return Err(format!("`currency` is {currency:?}; write a code such as USD or EUR"));
    }
    let mut models = BTreeMap::new();
    for (name, price) in written {
        let wrong = |problem: &str| format!("[prices.{name:?}]: {problem}");
        let model = ModelName(name.clone());
        if model.parts().0.is_empty() || model.parts().1.is_empty() {
            return Err(wrong("write the model's full name, as `provider/model`"));
        }
        let ModelPrice { input, output, cached } = price;
        for (field, money) in [("input", Some(input)), ("output", Some(output)), ("cached", cached)]
        {
            if let Some(money) = money.filter(|money| !money.is_finite() || *money < 0.0) {
                let problem = format!("`{field}` is {money}; write the price of a million tokens");
                return Err(wrong(&problem));
            }
        }
        models.insert(model, Price { input, output, cached });
    }
    let local = providers.iter().filter(|provider| provider.kind == Kind::Local);
    Ok(Prices { currency, models, free: local.map(|provider| provider.name.clone()).collect() })
}

fn provider(
    name: &str,
    settings: Provider,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<ProviderConfig, String> {
    let kind: Kind = settings.kind.as_deref().unwrap_or(name).parse()?;
    if settings.folders.is_some() && kind != Kind::Command {
        return Err("`folders` is only for kind = \"command\"".into());
    }
    let mut config = match kind {
        Kind::Command => command(name, &settings)?,
        Kind::Local => {
            if settings.window_tokens.is_some() {
                return Err(
                    "a local model's context window cannot be set; remove `window_tokens`".into()
                );
            }
            let files = match settings.models {
                Some(Models::Files(files)) => files,
                Some(Models::Names(_)) => {
                    return Err("write models = { name = \"path.gguf\" }".into());
                }
                None => BTreeMap::new(),
            };
            let model = |(name, path)| LocalModel { name, path, note: None };
            return Ok(ProviderConfig::local(name, files.into_iter().map(model).collect()));
        }
        Kind::Ollama | Kind::OpenAi | Kind::Anthropic | Kind::Gemini => {
            if settings.program.is_some() || settings.preset.is_some() {
                return Err("`program` and `preset` are only for kind = \"command\"".into());
            }
            ProviderConfig::new(name, kind)
        }
    };
    if let Some(url) = &settings.url {
        config = config.at(url);
    }
    if let Some(variable) = settings.key_env {
        config.key = env(&variable).map(|key| Secret::new(&key));
        config.key_env = Some(variable);
    }
    match settings.models {
        Some(Models::Names(names)) => config.models = Some(names),
        Some(Models::Files(_)) => return Err("write models = [\"name\", …]".into()),
        None => {}
    }
    config.num_ctx = settings.num_ctx;
    config.window_tokens = settings.window_tokens.map(NonZeroU32::get);
    Ok(config)
}

fn command(name: &str, settings: &Provider) -> Result<ProviderConfig, String> {
    let (mut command, models) = match (&settings.preset, &settings.program) {
        (Some(preset), _) => {
            let own = settings.user_settings.unwrap_or(false);
            CommandConfig::preset(preset, own).ok_or_else(|| {
                format!("there is no preset {preset:?}; available: {}", PRESETS.join(", "))
            })?
        }
        (None, Some(program)) => {
            (CommandConfig::new(program, &[], Output::Text), vec!["default".to_owned()])
        }
        (None, None) => return Err("a command needs `program` or `preset`".into()),
    };
    if settings.user_settings.is_some() && settings.preset.is_none() {
        return Err("`user_settings` needs `preset`".into());
    }
    if let Some(program) = &settings.program {
        command.program.clone_from(program);
    }
    if let Some(args) = &settings.args {
        command.args.clone_from(args);
    }
    if let Some(output) = &settings.output {
        command.output = output.parse()?;
    }
    command.env = settings.env.clone().unwrap_or_default();
    command.folder.clone_from(&settings.folder);
    command.folders.clone_from(&settings.folders);
    if let Some(seconds) = settings.timeout_seconds {
        command.limit_ms = Duration::from_secs(seconds).as_millis() as u64;
    }
    let mut config = ProviderConfig::command(name, command);
    config.models = Some(models);
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a file says about models, with one variable set.
    fn settled(text: &str, variable: (&str, &str)) -> Result<(Tiers, Prices), String> {
        let env = |name: &str| (name == variable.0).then(|| variable.1.to_owned());
        let file: File = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        let providers = providers(file.providers, &env, vec![])?;
        Ok((tiers(file.tiers, &env)?, prices(file.prices, file.currency, &providers)?))
    }

    /// Whoever adds a setting with a variable names it in both.
    #[test]
    fn the_variables_that_are_described_are_those_that_are_read() {
        let told = include_str!("../../../docs/configuration.md");
        let words = told.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let told: Vec<&str> = words.filter(|word| word.contains("__")).collect();
        for name in NESTED {
            assert!(told.contains(&name), "{name} is not described");
        }
        assert_eq!(check_variables(told.iter().map(|name| (*name).to_owned())), Ok(()));
        assert!(check_variables(["PLENARY_TIERS__FST".to_owned()]).is_err());
    }

    #[test]
    fn a_server_is_named_with_or_without_a_scheme() {
        let wrong = |text: &str| {
            Err(format!("{text:?} is not a server address; write one such as 127.0.0.1:7171"))
        };
        for (written, expected) in [
            ("127.0.0.1:7171", Ok("http://127.0.0.1:7171".to_owned())),
            ("localhost:7171/", Ok("http://localhost:7171".to_owned())),
            (" [::1]:7171 ", Ok("http://[::1]:7171".to_owned())),
            ("https://plenary.example/", Ok("https://plenary.example".to_owned())),
            ("", wrong("")),
            ("http://", wrong("http://")),
            ("ftp://plenary.example", wrong("ftp://plenary.example")),
            ("no where", wrong("no where")),
        ] {
            assert_eq!(server(written), expected, "{written:?}");
        }
    }

    #[test]
    fn tiers_and_prices_are_read() {
        let text = r#"
            currency = "EUR"
            [tiers]
            fast = "openai/m1"
            strong = "m2"
            [prices."openai/m1"]
            input = 0.15
            output = 1
            cached = 0.075
            [providers.mine]
            kind = "local"
        "#;
        let expected_tiers = Tiers {
            fast: Some("openai/m1".into()),
            balanced: Some("m3".into()),
            strong: Some("m2".into()),
        };
        let price = Price { input: 0.15, output: 1.0, cached: Some(0.075) };
        let expected_prices = Prices {
            currency: "EUR".into(),
            models: [(ModelName::new("openai", "m1"), price)].into(),
            free: vec!["mine".into()],
        };
        let found = settled(text, ("PLENARY_TIERS__BALANCED", "m3"));
        assert_eq!(found, Ok((expected_tiers, expected_prices)));
        assert_eq!(settled("", ("", "")), Ok(Default::default()));
    }

    #[test]
    fn what_is_wrong_is_named_by_its_setting() {
        for (text, expected) in [
            ("tiers.fast = ' '", "[tiers]: `fast` is empty; name a model, or remove it"),
            ("currency = 'dollars'", "`currency` is \"dollars\"; write a code such as USD or EUR"),
            (
                "prices.'a/b' = { input = -0.5, output = 1 }",
                "[prices.\"a/b\"]: `input` is -0.5; write the price of a million tokens",
            ),
            (
                "prices.'a/b' = { input = 1, output = inf }",
                "[prices.\"a/b\"]: `output` is inf; write the price of a million tokens",
            ),
            (
                "prices.'a/b' = { input = nan, output = 1 }",
                "[prices.\"a/b\"]: `input` is NaN; write the price of a million tokens",
            ),
            (
                "prices.'a/b' = { input = 1, output = 1, cached = -1 }",
                "[prices.\"a/b\"]: `cached` is -1; write the price of a million tokens",
            ),
            ("prices.'a/b' = { input = 1 }", "missing field `output`"),
            (
                "prices.b = { input = 1, output = 1 }",
                "[prices.\"b\"]: write the model's full name, as `provider/model`",
            ),
            (
                "providers.openai.folders = ['/srv']",
                "[providers.openai]: `folders` is only for kind = \"command\"",
            ),
            (
                "providers.x = { kind = 'command', program = 'x', user_settings = true }",
                "[providers.x]: `user_settings` needs `preset`",
            ),
            (
                "providers.x = { kind = 'command', preset = 'x' }",
                "[providers.x]: there is no preset \"x\"; available: claude, codex, gemini, \
                 opencode",
            ),
            (
                "providers.local.window_tokens = 9000",
                "[providers.local]: a local model's context window cannot be set; remove \
                 `window_tokens`",
            ),
        ] {
            assert_eq!(settled(text, ("", "")), Err(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_folder_without_a_page_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let given = folder.path().to_path_buf();
        let refused = web_folder(Some(given.clone())).unwrap_err();
        assert!(refused.ends_with("give the folder of a built web page"), "{refused}");
        std::fs::write(given.join("index.html"), "").unwrap();
        assert_eq!(web_folder(Some(given.clone())), Ok(Some(given)));
        assert_eq!(web_folder(None), Ok(None));
    }

    #[test]
    fn a_command_gets_its_folders_and_a_window() {
        let text = "providers.claude = { kind = 'command', preset = 'claude', \
                    folders = ['~/work'], window_tokens = 200000 }";
        let file: File = toml::from_str(text).unwrap();
        let found = providers(file.providers, &|_| None, vec![]).unwrap();
        let folders = found[0].command.as_ref().unwrap().folders.clone();
        assert_eq!((folders, found[0].window_tokens), (Some(vec!["~/work".into()]), Some(200_000)));
    }

    #[test]
    fn an_origin_is_written_as_browsers_name_it() {
        let check = |written: &str, expected: Option<&str>| {
            let found = origins("PLACE", &[written.to_owned()]).ok();
            assert_eq!(found, expected.map(|origin| vec![origin.to_owned()]), "{written}");
        };
        check("http://localhost:3000", Some("http://localhost:3000"));
        check(" HTTPS://Desk.Example:443/ ", Some("https://desk.example"));
        check("http://[::1]:80", Some("http://[::1]"));
        for wrong in ["*", "null", "", "localhost:3000", "desk.example", "file:///", "http://a/b"] {
            check(wrong, None);
        }
        check("http://user@a", None);
        let problem = origins("PLACE", &["*".to_owned()]).unwrap_err();
        assert_eq!(problem, "PLACE has \"*\"; write an origin, such as http://localhost:3000");
    }
}
