//! The chat completions of OpenAI, which many other servers speak too.

use std::borrow::Cow;

use plenary_domain::ledger::nano_usd;
use plenary_domain::{Ask, Usage};
use plenary_engine::ports::{Ending, Piece};
use reqwest::header::HeaderName;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::config::{ProviderConfig, Secret};
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
            "messages": ollama::messages(ask, without),
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

    fn models(&self, body: &[u8]) -> serde_json::Result<Vec<String>> {
        #[derive(Deserialize)]
        struct List {
            data: Vec<Model>,
        }
        #[derive(Deserialize)]
        struct Model {
            id: String,
            created: Option<i64>,
        }
        let list: List = serde_json::from_slice(body)?;
        let mut models = list.data;
        // The list has no order of its own; newer models tend to be better.
        models.sort_by_key(|model| std::cmp::Reverse(model.created));
        let names = models.into_iter().map(|model| model.id);
        Ok(names.filter(|name| chats(name)).collect())
    }
}

/// Whether a model of this name holds conversations, as far as a name can tell.
fn chats(name: &str) -> bool {
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
        assert_eq!(models, ["gpt-5", "gpt-4o", "local"]);
    }
}
