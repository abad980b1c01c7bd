//! What is said of models beside their names: how much they take, and what they cost.
//! Whoever says it may be wrong, so that nothing here keeps a list from being read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use futures::stream::{self, StreamExt as _};
use plenary_domain::{ModelName, Price, Timestamp, limits};
use plenary_engine::SystemClock;
use plenary_engine::ports::Clock as _;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use crate::config::{Kind, ProviderConfig};
use crate::http::{Http, Wire};

const MILLION: f64 = 1e6;
/// Digits of a price that are worth keeping: one for each token brings others by
/// arithmetic.
const DIGITS: f64 = 1e9;
/// Models of one server that are asked about at the same time.
const AT_ONCE: usize = 8;

#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fact {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_tokens: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Whether it takes images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looks: Option<bool>,
}

impl Fact {
    pub(crate) fn is_nothing(&self) -> bool {
        *self == Fact::default()
    }
}

/// A model in its provider's list.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Listed {
    pub name: String,
    pub fact: Fact,
    /// The server can be asked for its window, which the list does not say.
    pub more: bool,
}

impl Listed {
    pub(crate) fn bare(name: String) -> Self {
        Listed { name, ..Listed::default() }
    }
}

/// A number of tokens that a window may have.
pub(crate) fn window(tokens: Option<u64>) -> Option<u32> {
    let sound = limits::WINDOW_LEAST_TOKENS..=limits::WINDOW_MOST_TOKENS;
    tokens.and_then(|tokens| u32::try_from(tokens).ok()).filter(|tokens| sound.contains(tokens))
}

/// From what one token costs.
pub(crate) fn price(input: f64, output: f64, cached: Option<f64>) -> Option<Price> {
    let of_million = |one: f64| (one * MILLION * DIGITS).round() / DIGITS;
    let cached = cached.map(of_million);
    let price = Price { input: of_million(input), output: of_million(output), cached };
    price.is_money().then_some(price)
}

/// A field that counts only where it is as expected.
pub(crate) fn lenient<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    Ok(serde_json::from_value(Value::deserialize(from)?).ok())
}

/// What providers have said of their models since this process began.
#[derive(Default)]
pub(crate) struct Book(RwLock<BTreeMap<ModelName, (Fact, Timestamp)>>, AtomicU64);

impl Book {
    /// What a provider lists takes the place of what it listed before; what it said
    /// when it was asked for more stays. One that lists nothing is away, and says nothing.
    pub(crate) fn note(&self, provider: &str, listed: &[Listed]) {
        if listed.is_empty() {
            return;
        }
        let now = SystemClock::default().now();
        let mut book = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let asked: BTreeSet<&str> =
            listed.iter().filter(|one| one.more).map(|one| one.name.as_str()).collect();
        book.retain(|name, _| name.parts().0 != provider || asked.contains(name.parts().1));
        let facts = listed.iter().filter(|one| !one.fact.is_nothing()).take(limits::MODELS_KNOWN);
        book.extend(facts.map(|one| (ModelName::new(provider, &one.name), (one.fact, now))));
        self.1.fetch_add(1, Relaxed);
    }

    fn learn(&self, model: ModelName, fact: Fact) {
        if !fact.is_nothing() {
            let mut book = self.0.write().unwrap_or_else(PoisonError::into_inner);
            book.insert(model, (fact, SystemClock::default().now()));
            self.1.fetch_add(1, Relaxed);
        }
    }

    /// How often something was written into it.
    pub(crate) fn count(&self) -> u64 {
        self.1.load(Relaxed)
    }

    pub(crate) fn of(
        &self,
        config: &ProviderConfig,
        model: &ModelName,
    ) -> Option<(Fact, Timestamp)> {
        let book = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let latest = || match config.kind {
            // The default version of a model.
            Kind::Ollama => book.get(&ModelName(format!("{}:latest", model.0))),
            Kind::OpenAi | Kind::Anthropic | Kind::Gemini | Kind::Command | Kind::Local => None,
        };
        book.get(model).or_else(latest).copied()
    }
}

/// Asks for what the list did not say. Nobody waits for it, so it may come late, or not
/// at all.
pub(crate) async fn learn(
    config: &ProviderConfig,
    (http, wire): (&Http, &dyn Wire),
    listed: Vec<Listed>,
    book: &Book,
) {
    let limit = Duration::from_millis(limits::CATALOG_MS);
    let name = |listed: &Listed| ModelName::new(&config.name, &listed.name);
    let asked = async {
        match config.kind {
            Kind::Ollama => {
                let running =
                    http.told(config, wire, &format!("{}/api/ps", config.url), None).await;
                let (running, url) =
                    (&running.unwrap_or_default(), &format!("{}/api/show", config.url));
                let each = stream::iter(listed).map(|one: Listed| async move {
                    let body = json!({ "model": one.name });
                    let shown = http.told(config, wire, url, Some(&body)).await;
                    let shown = shown?;
                    let window_tokens = ollama_window(&shown, running, &one.name);
                    let looks = ollama_looks(&shown);
                    book.learn(name(&one), Fact { window_tokens, looks, price: None });
                    Some(())
                });
                each.buffer_unordered(AT_ONCE).for_each(|_| async {}).await;
            }
            Kind::OpenAi => {
                let root = config.url.trim_end_matches("/v1");
                let props = http.told(config, wire, &format!("{root}/props"), None).await;
                let tokens = props.and_then(|told| {
                    told.pointer("/default_generation_settings/n_ctx").and_then(Value::as_u64)
                });
                let fact = Fact { window_tokens: window(tokens), ..Fact::default() };
                listed.iter().for_each(|one| book.learn(name(one), fact));
            }
            Kind::Anthropic | Kind::Gemini | Kind::Command | Kind::Local => {}
        }
    };
    // What has come by then is noted.
    let _ = tokio::time::timeout(limit, asked).await;
}

/// Newer versions say what a model can do.
fn ollama_looks(shown: &Value) -> Option<bool> {
    let all = shown["capabilities"].as_array()?;
    Some(all.iter().any(|capability| capability == "vision"))
}

/// What Ollama gives a model unless it is told: the model's own setting, else what it has
/// loaded it with, and never more than the model was made for. A small window of a loaded
/// model may be the wish of somebody else's request, and is not believed.
fn ollama_window(shown: &Value, running: &Value, model: &str) -> Option<u32> {
    let parameters = shown["parameters"].as_str().unwrap_or_default();
    let set = parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx"));
    let set = set.and_then(|number| number.trim().parse().ok());
    let loaded = running["models"].as_array().into_iter().flatten();
    let loaded = loaded.filter(|one| one["name"] == model || one["model"] == model);
    let loaded = loaded.filter_map(|one| one["context_length"].as_u64()).next();
    let loaded = loaded.filter(|tokens| *tokens > u64::from(limits::OLLAMA_WINDOW_TOKENS));
    let info = shown["model_info"].as_object();
    let made = info.into_iter().flatten().find(|(key, _)| key.ends_with(".context_length"));
    let made = made.and_then(|(_, tokens)| tokens.as_u64()).unwrap_or(u64::MAX);
    window(set.or(loaded).map(|tokens: u64| tokens.min(made)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollama_takes_what_is_set_for_the_model_and_what_it_was_made_for() {
        let shown = |parameters: &str, made: u64| json!({ "parameters": parameters, "model_info": { "llama.context_length": made } });
        let running =
            |tokens: u64| json!({ "models": [{ "name": "m:latest", "context_length": tokens }] });
        let none = Value::Null;
        for (shown, running, expected) in [
            (shown("stop    \"<s>\"\nnum_ctx    8192", 131_072), &none, Some(8_192)),
            (shown("num_ctx 65536", 32_768), &none, Some(32_768)),
            (shown("temperature 1", 131_072), &running(32_768), Some(32_768)),
            (shown("", 131_072), &running(2_048), None),
            (shown("", 131_072), &none, None),
            (shown("num_ctx many", 131_072), &none, None),
            (Value::Null, &none, None),
        ] {
            assert_eq!(ollama_window(&shown, running, "m:latest"), expected, "{shown}");
        }
    }

    #[test]
    fn a_newer_list_takes_the_place_of_an_older_one_but_not_an_absent_one() {
        let config = ProviderConfig::new("lab", Kind::OpenAi);
        let book = Book::default();
        let listed = |name: &str, tokens| {
            let fact = Fact { window_tokens: Some(tokens), ..Fact::default() };
            Listed { fact, ..Listed::bare(name.into()) }
        };
        let window = |name: &str| {
            let said = book.of(&config, &ModelName::new("lab", name));
            said.and_then(|(fact, _)| fact.window_tokens)
        };
        book.note("lab", &[listed("a", 1_000), listed("b", 2_000)]);
        book.note("other", &[listed("a", 9_000)]);
        book.note("lab", &[]);
        assert_eq!(["a", "b"].map(window), [Some(1_000), Some(2_000)]);
        book.note("lab", &[listed("b", 3_000)]);
        assert_eq!(["a", "b"].map(window), [None, Some(3_000)]);
    }

    #[test]
    fn nonsense_is_neither_a_window_nor_a_price() {
        assert_eq!(window(Some(131_072)), Some(131_072));
        assert_eq!([None, Some(0), Some(1), Some(u64::MAX)].map(window), [None; 4]);
        let cheap = Price { input: 0.15, output: 0.6, cached: Some(0.075) };
        assert_eq!(price(0.000_000_15, 0.000_000_6, Some(0.000_000_075)), Some(cheap));
        assert_eq!(price(-1.0, -1.0, None), None);
        assert_eq!(price(f64::NAN, 0.0, None), None);
    }
}
