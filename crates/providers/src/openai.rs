//! The chat completions of OpenAI, which many other servers speak too.

use std::borrow::Cow;

use plenary_domain::ledger::nano_usd;
use plenary_domain::{Ask, Message, Price, Usage};
use plenary_engine::ports::{Ending, Piece};
use reqwest::header::HeaderName;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::config::{ProviderConfig, Secret};
use crate::facts::{self, Fact, Listed, lenient};
use crate::http::{Decode, Out, Wire, Without, Wrong};
use crate::lines::Framing;
use crate::{ollama, prompt};

/// OpenAI itself, whose newer models turn `max_tokens` down. Other servers may pass
/// over the newer field in silence, so they get it only when they ask for it.
const VENDOR: &str = "https://api.openai.com/";

pub(crate) struct OpenAi;

impl Wire for OpenAi {
    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn request(&self, config: &ProviderConfig, ask: &Ask, without: Without) -> (String, Value) {
        let mut body = json!({
            "model": ask.model.parts().1,
            "messages": ollama::messages(ask, without, said),
            "stream": true,
        });
        if !without.usage {
            body["stream_options"] = json!({"include_usage": true});
        }
        if let Some(schema) = ask.schema().filter(|_| !without.schema) {
            body["response_format"] = json!({
                "type": "json_schema",
                "json_schema": {
                    "name": "answer", "schema": schema, "strict": prompt::is_strict(schema),
                },
            });
        }
        let new = without.old_cap || config.url.starts_with(VENDOR);
        let field = if new { "max_completion_tokens" } else { "max_tokens" };
        body[field] = prompt::answer_cap(ask, without).into();
        if let Some(temperature) = prompt::temperature(ask, without) {
            body["temperature"] = temperature.into();
        }
        (format!("{}/chat/completions", config.url), body)
    }

    fn headers(&self, key: Option<&Secret>) -> Vec<(HeaderName, String)> {
        ollama::bearer(key)
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::new(Chunks::default())
    }

    fn models_url(&self, config: &ProviderConfig) -> String {
        format!("{}/models", config.url)
    }

    fn models(&self, body: &[u8]) -> serde_json::Result<Vec<Listed>> {
        #[derive(Deserialize)]
        struct List {
            data: Vec<Model>,
        }
        let list: List = serde_json::from_slice(body)?;
        let mut models = list.data;
        // The list has no order of its own; newer models tend to be better.
        models.sort_by_key(|model| std::cmp::Reverse(model.created));
        Ok(models.into_iter().filter(|model| chats(&model.id)).map(Model::listed).collect())
    }
}

fn said(message: &Message) -> Value {
    let role = ollama::role(message.speaker);
    if message.images.is_empty() {
        return json!({"role": role, "content": message.text});
    }
    let shown = message.images.iter().map(|image| {
        let url = format!("data:{};base64,{}", image.media_type.name(), image.data);
        json!({"type": "image_url", "image_url": {"url": url}})
    });
    let parts = shown.chain([json!({"type": "text", "text": message.text})]);
    json!({"role": role, "content": parts.collect::<Vec<_>>()})
}

/// A model in the lists of many servers. Each says how much it takes by a word of its own.
#[derive(Deserialize)]
struct Model {
    id: String,
    #[serde(default, deserialize_with = "lenient")]
    created: Option<i64>,
    #[serde(default, deserialize_with = "lenient")]
    owned_by: Option<String>,
    /// OpenRouter and others.
    #[serde(default, deserialize_with = "lenient")]
    context_length: Option<u64>,
    /// Groq.
    #[serde(default, deserialize_with = "lenient")]
    context_window: Option<u64>,
    /// vLLM.
    #[serde(default, deserialize_with = "lenient")]
    max_model_len: Option<u64>,
    /// LM Studio.
    #[serde(default, deserialize_with = "lenient")]
    loaded_context_length: Option<u64>,
    /// Mistral.
    #[serde(default, deserialize_with = "lenient")]
    max_context_length: Option<u64>,
    /// llama.cpp.
    #[serde(default, deserialize_with = "lenient")]
    meta: Option<Meta>,
    /// Of OpenRouter, in US dollars for one token or one request.
    #[serde(default, deserialize_with = "lenient")]
    pricing: Option<Pricing>,
    #[serde(default, deserialize_with = "lenient")]
    top_provider: Option<Top>,
    #[serde(default, deserialize_with = "lenient")]
    architecture: Option<Architecture>,
    /// Mistral.
    #[serde(default, deserialize_with = "lenient")]
    capabilities: Option<Capabilities>,
}

/// What OpenRouter's models take.
#[derive(Deserialize)]
struct Architecture {
    input_modalities: Vec<String>,
}

#[derive(Deserialize)]
struct Capabilities {
    vision: bool,
}

#[derive(Deserialize)]
struct Meta {
    n_ctx: Option<u64>,
}

#[derive(Deserialize)]
struct Pricing {
    prompt: String,
    completion: String,
    request: Option<String>,
    input_cache_read: Option<String>,
}

/// The one that OpenRouter takes first.
#[derive(Deserialize)]
struct Top {
    context_length: Option<u64>,
}

impl Model {
    fn listed(self) -> Listed {
        let windows = [
            self.meta.and_then(|meta| meta.n_ctx),
            self.max_model_len,
            self.loaded_context_length,
            self.context_length,
            self.context_window,
            self.max_context_length,
        ];
        let first = self.top_provider.and_then(|top| top.context_length).unwrap_or(u64::MAX);
        let told = windows.into_iter().flatten().next().map(|tokens| tokens.min(first));
        let window_tokens = facts::window(told);
        let price = self.pricing.and_then(|pricing| pricing.price());
        let takes = self.architecture.map(|one| one.input_modalities.iter().any(|m| m == "image"));
        let looks = takes.or(self.capabilities.map(|one| one.vision));
        Listed {
            // Earlier ones list how much a model was made for, and not what it has.
            more: window_tokens.is_none() && self.owned_by.as_deref() == Some("llamacpp"),
            fact: Fact { window_tokens, price, looks },
            name: self.id,
        }
    }
}

impl Pricing {
    /// Where each request costs something too, its tokens do not tell the price.
    fn price(&self) -> Option<Price> {
        let number = |text: &String| text.parse::<f64>().ok();
        let is_by_token = self.request.as_ref().and_then(number).unwrap_or(0.0) == 0.0;
        let (input, output) = (number(&self.prompt)?, number(&self.completion)?);
        let cached = self.input_cache_read.as_ref().and_then(number);
        facts::price(input, output, cached).filter(|_| is_by_token)
    }
}

/// Whether a model of this name holds conversations, as far as a name can tell.
pub(crate) fn chats(name: &str) -> bool {
    const OTHERS: [&str; 16] = [
        "embed",
        "whisper",
        "tts",
        "dall-e",
        "moderation",
        "transcribe",
        "realtime",
        "audio",
        "image",
        "sora",
        "rerank",
        "davinci",
        "babbage",
        "computer-use",
        "-instruct-0914",
        "bge-",
    ];
    let name = name.to_lowercase();
    !OTHERS.iter().any(|other| name.contains(other))
}

/// Whether OpenAI itself answers for a model of this name at `/chat/completions`. Some it lists
/// answer at `/responses` alone, and the oldest take no messages at all.
pub(crate) fn is_at_completions(name: &str) -> bool {
    const ELSEWHERE: [&str; 4] = ["codex", "pro", "research", "instruct"];
    !name.split(|letter: char| !letter.is_alphanumeric()).any(|word| ELSEWHERE.contains(&word))
}

/// The finish reason comes before the usage, so the end waits for `[DONE]`.
#[derive(Default)]
struct Chunks {
    finish: Option<Finish>,
    refusal: String,
}

enum Finish {
    Stop,
    Length,
    Filtered,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    usage: Option<Tokens>,
    timings: Option<Timings>,
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    delta: Option<Delta>,
    #[serde(borrow)]
    finish_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    refusal: Option<String>,
}

#[derive(Deserialize)]
struct Tokens {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
    completion_tokens_details: Option<Details>,
    /// OpenRouter's, in US dollars.
    cost: Option<f64>,
}

#[derive(Default, Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
}

/// What llama.cpp tells beside the usage.
#[derive(Deserialize)]
struct Timings {
    cache_n: Option<u64>,
}

impl Decode for Chunks {
    fn frame(&mut self, data: &[u8], out: &mut Out) -> Result<(), Wrong> {
        if data == b"[DONE]" {
            // Without a finish reason it is still the server's word for the end.
            out.over = Some(self.finished()?.unwrap_or(Ending::Whole));
            return Ok(());
        }
        let chunk: Chunk = serde_json::from_slice(data)?;
        if chunk.error.is_some() {
            return Err(Wrong::Reported);
        }
        for choice in chunk.choices.into_iter().flatten() {
            if let Some(delta) = choice.delta {
                out.reasoning(delta.reasoning_content.or(delta.reasoning));
                out.text(delta.content);
                self.refusal.push_str(&delta.refusal.unwrap_or_default());
            }
            self.finish = match choice.finish_reason.as_deref() {
                Some("length") => Some(Finish::Length),
                Some("content_filter") => Some(Finish::Filtered),
                Some(_) => Some(Finish::Stop),
                None => self.finish.take(),
            };
        }
        let cached = chunk.timings.and_then(|timings| timings.cache_n);
        if let Some(usage) = chunk.usage {
            let read = usage.prompt_tokens_details.unwrap_or_default();
            let written = usage.completion_tokens_details.unwrap_or_default();
            out.pieces.push_back(Piece::Usage(Usage {
                input_tokens: usage.prompt_tokens,
                cached_tokens: read.cached_tokens.or(cached),
                output_tokens: usage.completion_tokens,
                reasoning_tokens: written.reasoning_tokens,
                cost_nano_usd: usage.cost.and_then(nano_usd),
            }));
        } else if cached.is_some() {
            let usage = Usage { cached_tokens: cached, ..Usage::default() };
            out.pieces.push_back(Piece::Usage(usage));
        }
        Ok(())
    }

    fn finished(&mut self) -> Result<Option<Ending>, Wrong> {
        match &self.finish {
            _ if !self.refusal.is_empty() => Err(Wrong::Refused(std::mem::take(&mut self.refusal))),
            Some(Finish::Length) => Ok(Some(Ending::Cut)),
            Some(Finish::Filtered) => {
                Err(Wrong::Refused("the provider's filter stopped it".to_owned()))
            }
            Some(Finish::Stop) => Ok(Some(Ending::Whole)),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use plenary_domain::{ModelName, Patience, Shape};

    use super::*;
    use crate::config::Kind;

    #[test]
    fn only_openai_itself_gets_the_cap_by_its_newer_name_at_once() {
        let ask = Ask {
            model: ModelName::new("openai", "m1"),
            system: String::new(),
            messages: vec![],
            shape: Shape::Free,
            patience: Patience { answer_tokens: 700, ..Patience::default() },
            temperature: None,
            workspace: None,
        };
        for (url, field) in [
            ("https://api.openai.com/v1", "max_completion_tokens"),
            ("https://openrouter.ai/api/v1", "max_tokens"),
            ("https://api.openai.com.example.org/v1", "max_tokens"),
        ] {
            let config = ProviderConfig::new("openai", Kind::OpenAi).at(url);
            let (_, body) = OpenAi.request(&config, &ask, Without::default());
            let expected = json!({"model": "m1", "messages": [], "stream": true,
                "stream_options": {"include_usage": true}, field: 700});
            assert_eq!(body, expected, "{url}");
        }
    }

    #[test]
    fn what_is_told_beside_the_tokens_is_counted() {
        let all = Usage {
            input_tokens: Some(120),
            cached_tokens: Some(100),
            output_tokens: Some(9),
            reasoning_tokens: Some(5),
            cost_nano_usd: Some(1_420),
        };
        let llama = Usage { reasoning_tokens: None, cost_nano_usd: None, ..all };
        for (frame, expected) in [
            (
                r#"{"usage":{"prompt_tokens":120,"completion_tokens":9,"cost":0.00000142,
                    "prompt_tokens_details":{"cached_tokens":100},
                    "completion_tokens_details":{"reasoning_tokens":5}}}"#,
                all,
            ),
            (
                r#"{"usage":{"prompt_tokens":120,"completion_tokens":9},
                    "timings":{"cache_n":100,"prompt_n":20}}"#,
                llama,
            ),
        ] {
            let mut out = Out::default();
            assert!(Chunks::default().frame(frame.as_bytes(), &mut out).is_ok());
            assert_eq!(out.pieces.pop_back(), Some(Piece::Usage(expected)));
        }
    }

    #[test]
    fn only_models_that_chat_are_listed_newest_first() {
        let list = json!({"data": [
            {"id": "gpt-4o", "created": 1}, {"id": "text-embedding-3-large", "created": 2},
            {"id": "gpt-5", "created": 3}, {"id": "whisper-1"}, {"id": "gpt-4o-mini-tts"},
            {"id": "dall-e-3"}, {"id": "omni-moderation-latest"}, {"id": "local"},
        ]});
        let models = OpenAi.models(list.to_string().as_bytes()).unwrap();
        let names: Vec<&str> = models.iter().map(|model| model.name.as_str()).collect();
        assert_eq!(names, ["gpt-5", "gpt-4o", "local"]);
    }

    #[test]
    fn of_openais_own_models_those_are_listed_that_it_answers_for_here() {
        for name in ["gpt-5.1", "gpt-5-mini", "gpt-4o-2024-11-20", "o3", "chatgpt-4o-latest"] {
            assert!(is_at_completions(name), "{name}");
        }
        for name in [
            "gpt-5.1-codex-mini",
            "codex-mini-latest",
            "gpt-5-pro-2025-10-06",
            "o1-pro",
            "o4-mini-deep-research",
            "gpt-3.5-turbo-instruct",
        ] {
            assert!(!is_at_completions(name), "{name}");
        }
    }

    #[test]
    fn servers_say_how_much_a_model_takes_each_by_its_own_word() {
        let price = Price { input: 0.15, output: 0.6, cached: Some(0.075) };
        let pricing = json!({"prompt": "0.00000015", "completion": "0.0000006", "image": "0",
            "request": "0", "input_cache_read": "0.000000075"});
        let by_request = json!({"prompt": "0.000003", "completion": "0.000015", "request": "0.01"});
        let auto = json!({"prompt": "-1", "completion": "-1"});
        for (said, window, price, more) in [
            (
                json!({"context_length": 131_072, "pricing": pricing,
                "top_provider": {"context_length": 65_536, "max_completion_tokens": null}}),
                Some(65_536),
                Some(price),
                false,
            ),
            (json!({"context_length": 8_192, "pricing": by_request}), Some(8_192), None, false),
            (json!({"context_length": 2_000_000, "pricing": auto}), Some(2_000_000), None, false),
            (json!({"max_model_len": 40_960}), Some(40_960), None, false),
            (json!({"context_window": 131_072}), Some(131_072), None, false),
            (
                json!({"owned_by": "llamacpp", "meta": {"n_ctx": 5_632, "n_ctx_train": 32_768}}),
                Some(5_632),
                None,
                false,
            ),
            (json!({"owned_by": "llamacpp", "meta": {"n_ctx_train": 32_768}}), None, None, true),
            (json!({"owned_by": "llamacpp", "meta": null}), None, None, true),
            (json!({"owned_by": "openai"}), None, None, false),
            // Nonsense says nothing, and spoils nothing.
            (
                json!({"context_length": "long", "max_model_len": -1, "meta": [], "pricing": "cheap",
                "created": "today", "top_provider": 7}),
                None,
                None,
                false,
            ),
        ] {
            let mut item = said;
            item["id"] = "m1".into();
            let listed = OpenAi.models(json!({"data": [item]}).to_string().as_bytes()).unwrap();
            let fact = Fact { window_tokens: window, price, looks: None };
            assert_eq!(listed, [Listed { name: "m1".into(), fact, more }], "{item}");
        }
    }
}
