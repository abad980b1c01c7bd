//! Anthropic's messages: server-sent events with a type in each.

use std::borrow::Cow;

use plenary_domain::{Ask, Message, Usage, limits};
use plenary_engine::ports::{Ending, Piece};
use reqwest::header::HeaderName;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::config::{ProviderConfig, Secret};
use crate::facts::{self, Fact, Listed, lenient};
use crate::http::{Decode, Out, Wire, Without, Wrong};
use crate::lines::Framing;
use crate::{ollama, prompt};

const VERSION: &str = "2023-06-01";
/// How many parts back the cache looks from a mark for what it has kept before.
const LOOKBACK: usize = 20;
/// Marks of a request, beside the one on the system prompt.
const MARKS: usize = 3;

pub(crate) struct Anthropic;

impl Wire for Anthropic {
    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn request(&self, config: &ProviderConfig, ask: &Ask, without: Without) -> (String, Value) {
        let lasting = ask.messages.iter().rposition(|one| !one.joints.is_empty());
        let messages: Vec<Value> = ask
            .messages
            .iter()
            .enumerate()
            .map(|(place, one)| {
                let content = content(one, lasting == Some(place));
                json!({"role": ollama::role(one.speaker), "content": content})
            })
            .collect();
        let mut body = json!({
            "model": ask.model.parts().1,
            "max_tokens": prompt::answer_cap(ask, without),
            "messages": messages,
            "stream": true,
        });
        // This wire has no more than 1, where others have 2.
        if let Some(temperature) = prompt::temperature(ask, without) {
            body["temperature"] = temperature.min(1.0).into();
        }
        let system = match without.schema {
            true => prompt::system_with_schema(ask),
            false => ask.system.clone(),
        };
        if !system.is_empty() {
            body["system"] = match lasting {
                Some(_) => json!([part(&system, true)]),
                None => system.into(),
            };
        }
        if let Some(schema) = ask.schema().filter(|_| !without.schema) {
            let schema = prompt::closed(schema);
            body["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
        }
        (format!("{}/v1/messages", config.url), body)
    }

    fn headers(&self, key: Option<&Secret>) -> Vec<(HeaderName, String)> {
        let version = (HeaderName::from_static("anthropic-version"), VERSION.to_owned());
        let key = key.map(|key| (HeaderName::from_static("x-api-key"), key.expose().to_owned()));
        [version].into_iter().chain(key).collect()
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::new(Events::default())
    }

    fn models_url(&self, config: &ProviderConfig) -> String {
        format!("{}/v1/models?limit=1000", config.url)
    }

    fn models(&self, body: &[u8]) -> serde_json::Result<Vec<Listed>> {
        #[derive(Deserialize)]
        struct List {
            data: Vec<Model>,
        }
        #[derive(Deserialize)]
        struct Model {
            id: String,
            #[serde(default, deserialize_with = "lenient")]
            max_input_tokens: Option<u64>,
        }
        let list: List = serde_json::from_slice(body)?;
        let listed = |model: Model| {
            let fact = Fact {
                window_tokens: facts::window(model.max_input_tokens),
                price: None,
                looks: None,
            };
            Listed { fact, ..Listed::bare(model.id) }
        };
        Ok(list.data.into_iter().map(listed).collect())
    }
}

/// A message in the parts that later requests have too, with marks where the cache should
/// keep what comes before. What it has kept it finds only at the ends of the same parts.
fn content(message: &Message, is_marked: bool) -> Value {
    let shown = message.images.iter().map(|image| {
        let kind = image.media_type.name();
        json!({"type": "image", "source": {
            "type": "base64", "media_type": kind, "data": image.data,
        }})
    });
    let mut parts: Vec<Value> = shown.collect();
    let Some((last, others)) = message.joints.split_last() else {
        if parts.is_empty() {
            return message.text.as_str().into();
        }
        parts.push(part(&message.text, false));
        return parts.into();
    };
    let ends = others.iter().take(limits::CACHE_PARTS).chain([last]);
    let count = others.len().min(limits::CACHE_PARTS) + 1;
    let mut from = 0;
    for (place, end) in ends.enumerate() {
        let back = count - 1 - place;
        let is_mark = back.is_multiple_of(LOOKBACK) && back / LOOKBACK < MARKS;
        let text = message.text.get(from..*end).unwrap_or_default();
        parts.push(part(text, is_marked && is_mark));
        from = *end;
    }
    let rest = message.text.get(from..).unwrap_or_default();
    // The wire takes no empty part.
    parts.extend((!rest.is_empty()).then(|| part(rest, false)));
    parts.into()
}

fn part(text: &str, is_marked: bool) -> Value {
    match is_marked {
        true => json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}),
        false => json!({"type": "text", "text": text}),
    }
}

/// The stop reason comes before the end, and so does the last of the usage.
#[derive(Default)]
struct Events {
    usage: Usage,
    stop: Option<Reason>,
}

enum Reason {
    Over(Ending),
    Refusal,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    message: Option<Started>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Started {
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    text: Option<String>,
    thinking: Option<String>,
    #[serde(borrow)]
    stop_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl Events {
    fn count(&mut self, tokens: &Tokens, out: &mut Out) {
        let cached = [tokens.cache_creation_input_tokens, tokens.cache_read_input_tokens];
        let cached: u64 = cached.into_iter().flatten().sum();
        self.usage = self.usage.then(Usage {
            input_tokens: tokens.input_tokens.map(|input| input + cached),
            cached_tokens: tokens.cache_read_input_tokens,
            output_tokens: tokens.output_tokens,
            ..Usage::default()
        });
        out.pieces.push_back(Piece::Usage(self.usage));
    }
}

impl Decode for Events {
    fn frame(&mut self, data: &[u8], out: &mut Out) -> Result<(), Wrong> {
        let event: Event = serde_json::from_slice(data)?;
        match &*event.kind {
            "content_block_delta" => {
                if let Some(delta) = event.delta {
                    out.reasoning(delta.thinking);
                    out.text(delta.text);
                }
            }
            "message_start" => {
                if let Some(tokens) = event.message.and_then(|message| message.usage) {
                    self.count(&tokens, out);
                }
            }
            "message_delta" => {
                if let Some(tokens) = event.usage {
                    self.count(&tokens, out);
                }
                let reason = event.delta.and_then(|delta| delta.stop_reason);
                self.stop = reason.map(|reason| match &*reason {
                    "max_tokens" | "model_context_window_exceeded" => Reason::Over(Ending::Cut),
                    "refusal" => Reason::Refusal,
                    _ => Reason::Over(Ending::Whole),
                });
            }
            "message_stop" => {
                out.over = Some(self.finished()?.unwrap_or(Ending::Whole));
            }
            "error" => return Err(Wrong::Reported),
            // Pings, the edges of blocks, and what is not invented yet.
            _ => {}
        }
        Ok(())
    }

    fn finished(&mut self) -> Result<Option<Ending>, Wrong> {
        match self.stop {
            Some(Reason::Over(ending)) => Ok(Some(ending)),
            Some(Reason::Refusal) => Err(Wrong::Refused(String::new())),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_from_a_cache_is_counted_apart() {
        let mut out = Out::default();
        let mut events = Events::default();
        let frames = [
            r#"{"type":"message_start","message":{"usage":{"input_tokens":5,
                "cache_creation_input_tokens":15,"cache_read_input_tokens":100,"output_tokens":1}}}"#,
            r#"{"type":"message_delta","delta":{},"usage":{"output_tokens":9}}"#,
        ];
        for frame in frames {
            assert!(events.frame(frame.as_bytes(), &mut out).is_ok());
        }
        let expected = Usage {
            input_tokens: Some(120),
            cached_tokens: Some(100),
            output_tokens: Some(9),

            ..Usage::default()
        };
        assert_eq!(out.pieces.pop_back(), Some(Piece::Usage(expected)));
    }
}
