//! Lists of prices and windows that people keep together, in the form of LiteLLM's
//! `model_prices_and_context_window.json`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use plenary_domain::{ModelName, Timestamp, limits};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::config::{Kind, ProviderConfig};
use crate::facts::{self, Fact};

/// What the list itself has as an example.
const SAMPLE: &str = "sample_spec";
/// Kinds of models that talk.
const TALKS: [&str; 3] = ["chat", "completion", "responses"];

/// Whoever shows a view again wants to know whether prices are as before, and nobody imports
/// some that often.
const LOOK: Duration = Duration::from_secs(1);

/// What was taken from such a list.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sheet {
    /// How old the list is, as far as that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_at: Option<Timestamp>,
    #[serde(default)]
    pub models: BTreeMap<String, Entry>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Who offers the model.
    vendor: String,
    #[serde(flatten)]
    pub fact: Fact,
}

/// What was left out of a list, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LeftOut {
    /// They do something else than talk.
    pub silent: usize,
    /// They say neither a price nor a window, or what no price and no window can be.
    pub unclear: usize,
}

impl Sheet {
    /// Reads a list as people publish it.
    pub fn read(text: &[u8], said_at: Timestamp) -> Result<(Sheet, LeftOut), String> {
        let most = limits::PRICE_LIST_BYTES;
        if text.len() > most {
            return Err(format!("it is larger than {} MB", most / 1024 / 1024));
        }
        let all: Map<String, Value> = serde_json::from_slice(text)
            .map_err(|error| format!("it is not a JSON object: {error}"))?;
        let (mut models, mut left_out) = (BTreeMap::new(), LeftOut::default());
        for (name, entry) in all.iter().filter(|(name, _)| *name != SAMPLE) {
            let silent = entry["mode"].as_str().is_some_and(|mode| !TALKS.contains(&mode));
            let fact = fact(entry);
            if silent {
                left_out.silent += 1;
            } else if fact.is_nothing() || name.len() > limits::MODEL_NAME_BYTES {
                left_out.unclear += 1;
            } else {
                let vendor = entry["litellm_provider"].as_str().unwrap_or_default().to_owned();
                models.insert(name.clone(), Entry { vendor, fact });
            }
        }
        if models.is_empty() {
            return Err("it has no model with a price or a context window".to_owned());
        }
        if models.len() > limits::MODELS_KNOWN {
            return Err(format!("it has more than {} models", limits::MODELS_KNOWN));
        }
        Ok((Sheet { said_at: Some(said_at), models }, left_out))
    }

    /// What it says of a model of this provider. A name alone may be anybody's: it counts
    /// at the vendor's own address only.
    fn of(&self, config: &ProviderConfig, model: &ModelName) -> Option<Fact> {
        match config.kind {
            // Whoever runs a model says how much it takes; whoever pays a subscription
            // does not pay for tokens.
            Kind::Ollama | Kind::Command | Kind::Local => return None,
            Kind::OpenAi | Kind::Anthropic | Kind::Gemini => {}
        }
        let (provider, name) = model.parts();
        let vendor = config.vendor();
        let named = self.models.get(&format!("{}/{name}", vendor.unwrap_or(provider)));
        let bare = self.models.get(name).filter(|entry| vendor == Some(entry.vendor.as_str()));
        named.or(bare).map(|entry| entry.fact)
    }
}

fn fact(entry: &Value) -> Fact {
    let cost = |field: &str| entry[field].as_f64();
    let tokens = |field: &str| entry[field].as_u64();
    let price = cost("input_cost_per_token").zip(cost("output_cost_per_token"));
    let cached = cost("cache_read_input_token_cost");
    Fact {
        window_tokens: facts::window(tokens("max_input_tokens").or(tokens("max_tokens"))),
        price: price.and_then(|(input, output)| facts::price(input, output, cached)),
        looks: None,
    }
}

/// The sheet in the data folder. Another process may put one there, or take it away.
pub(crate) struct Kept {
    path: PathBuf,
    read: Mutex<Read>,
}

#[derive(Default)]
struct Read {
    looked: Option<Instant>,
    /// When the file was changed that was read.
    changed: Option<SystemTime>,
    sheet: Arc<Sheet>,
    /// How often it was not as before.
    count: u64,
}

impl Kept {
    pub(crate) fn at(path: PathBuf) -> Self {
        Kept { path, read: Mutex::default() }
    }

    pub(crate) fn of(
        &self,
        config: &ProviderConfig,
        model: &ModelName,
    ) -> Option<(Fact, Option<Timestamp>)> {
        let sheet = self.now(Duration::ZERO).sheet.clone();
        sheet.of(config, model).map(|fact| (fact, sheet.said_at))
    }

    /// How often it was not as before, as far as was looked lately.
    pub(crate) fn count(&self) -> u64 {
        self.now(LOOK).count
    }

    /// It is looked for unless somebody has lately, and read when it has changed. One that
    /// cannot be read says nothing.
    fn now(&self, lately: Duration) -> MutexGuard<'_, Read> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.looked.is_some_and(|looked| looked.elapsed() < lately) {
            return read;
        }
        read.looked = Some(Instant::now());
        let about = fs::metadata(&self.path).ok();
        let changed = about.as_ref().and_then(|about| about.modified().ok());
        if read.changed != changed {
            let most = limits::PRICE_LIST_BYTES as u64;
            let text =
                about.filter(|about| about.len() <= most).and_then(|_| fs::read(&self.path).ok());
            let sheet = text.and_then(|text| serde_json::from_slice(&text).ok());
            read.changed = changed;
            read.sheet = Arc::new(sheet.unwrap_or_default());
            read.count += 1;
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use plenary_domain::Price;

    use super::*;

    const LIST: &str = r#"{
        "sample_spec": {"max_tokens": "set to max output tokens", "input_cost_per_token": 0.0},
        "gpt-5-mini": {"litellm_provider": "openai", "mode": "chat", "max_input_tokens": 272000,
            "max_tokens": 128000, "input_cost_per_token": 2.5e-07, "output_cost_per_token": 2e-06,
            "cache_read_input_token_cost": 2.5e-08},
        "openrouter/z-ai/glm-4.6": {"litellm_provider": "openrouter", "mode": "chat",
            "max_tokens": 202800, "input_cost_per_token": 4e-07, "output_cost_per_token": 1.75e-06},
        "text-embedding-3-small": {"litellm_provider": "openai", "mode": "embedding",
            "input_cost_per_token": 2e-08, "output_cost_per_token": 0.0},
        "gpt-nothing": {"litellm_provider": "openai", "mode": "chat"},
        "gpt-broken": {"litellm_provider": "openai", "max_input_tokens": -1,
            "input_cost_per_token": "free", "output_cost_per_token": 1.0},
        "gpt-odd": 7
    }"#;

    fn sheet() -> Sheet {
        let (sheet, left_out) = Sheet::read(LIST.as_bytes(), Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(left_out, LeftOut { silent: 1, unclear: 3 });
        sheet
    }

    #[test]
    fn a_list_is_read_and_kept_as_it_says() {
        let sheet = sheet();
        let names: Vec<&String> = sheet.models.keys().collect();
        assert_eq!(names, ["gpt-5-mini", "openrouter/z-ai/glm-4.6"]);
        let text = serde_json::to_string(&sheet).unwrap();
        assert_eq!(serde_json::from_str::<Sheet>(&text).unwrap(), sheet);
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for (text, problem) in [
            ("<html>", "it is not a JSON object: expected value at line 1 column 1"),
            (
                "[]",
                "it is not a JSON object: invalid type: sequence, expected a map at line 1 column \
                 0",
            ),
            ("{}", "it has no model with a price or a context window"),
        ] {
            assert_eq!(
                Sheet::read(text.as_bytes(), Timestamp::UNIX_EPOCH),
                Err(problem.to_owned())
            );
        }
        let long = " ".repeat(limits::PRICE_LIST_BYTES + 1);
        let refused = Sheet::read(long.as_bytes(), Timestamp::UNIX_EPOCH);
        assert_eq!(refused, Err("it is larger than 16 MB".to_owned()));
    }

    #[test]
    fn a_bare_name_counts_at_its_vendors_own_address_only() {
        let mini = Fact {
            window_tokens: Some(272_000),
            price: Some(Price { input: 0.25, output: 2.0, cached: Some(0.025) }),
            looks: None,
        };
        let glm = Fact {
            window_tokens: Some(202_800),
            price: Some(Price { input: 0.4, output: 1.75, cached: None }),
            looks: None,
        };
        let openai = ProviderConfig::new("work", Kind::OpenAi);
        let local = ProviderConfig::new("openai", Kind::OpenAi).at("http://127.0.0.1:8080/v1");
        let router =
            ProviderConfig::new("openrouter", Kind::OpenAi).at("https://openrouter.ai/api/v1");
        let through =
            ProviderConfig::new("openrouter", Kind::OpenAi).at("https://proxy.example/v1");
        let ollama = ProviderConfig::new("openrouter", Kind::Ollama);
        for (config, name, expected) in [
            (&openai, "gpt-5-mini", Some(mini)),
            (&openai, "gpt-5", None),
            (&local, "gpt-5-mini", None),
            (&router, "gpt-5-mini", None),
            (&router, "z-ai/glm-4.6", Some(glm)),
            (&through, "z-ai/glm-4.6", Some(glm)),
            (&openai, "z-ai/glm-4.6", None),
            (&ollama, "z-ai/glm-4.6", None),
        ] {
            let found = sheet().of(config, &ModelName::new(&config.name, name));
            assert_eq!(found, expected, "{} {name}", config.url);
        }
    }
}
