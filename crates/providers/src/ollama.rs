//! Ollama's own wire: one JSON object per line.

use plenary_domain::{Ask, Message as Said, Speaker, Usage};
use plenary_engine::ports::{Ending, Piece};
use reqwest::header::{AUTHORIZATION, HeaderName};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::config::{ProviderConfig, Secret};
use crate::facts::Listed;
use crate::http::{Decode, Out, Wire, Without, Wrong};
use crate::lines::Framing;
use crate::prompt;

/// In the names of models that cannot answer. Few people name their own models so.
const SILENT: [&str; 4] = ["embed", "minilm", "bge-", "rerank"];

pub(crate) struct Ollama;

impl Wire for Ollama {
    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn request(&self, config: &ProviderConfig, ask: &Ask, without: Without) -> (String, Value) {
        let mut body = json!({
            "model": ask.model.parts().1,
            "messages": messages(ask, without, said),
            "stream": true,
        });
        if let Some(schema) = ask.schema().filter(|_| !without.schema) {
            body["format"] = schema.clone();
        }
        if let Some(num_ctx) = config.num_ctx {
            body["options"]["num_ctx"] = num_ctx.into();
        }
        body["options"]["num_predict"] = prompt::answer_cap(ask, without).into();
        if let Some(temperature) = prompt::temperature(ask, without) {
            body["options"]["temperature"] = temperature.into();
        }
        (format!("{}/api/chat", config.url), body)
    }

    fn headers(&self, key: Option<&Secret>) -> Vec<(HeaderName, String)> {
        bearer(key)
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::new(Lines)
    }

    fn models_url(&self, config: &ProviderConfig) -> String {
        format!("{}/api/tags", config.url)
    }

    fn models(&self, body: &[u8]) -> serde_json::Result<Vec<Listed>> {
        #[derive(Deserialize)]
        struct Tags {
            models: Vec<Tag>,
        }
        #[derive(Deserialize)]
        struct Tag {
            name: String,
        }
        let tags: Tags = serde_json::from_slice(body)?;
        let chats = |tag: &Tag| {
            let name = tag.name.to_lowercase();
            !SILENT.iter().any(|word| name.contains(word))
        };
        let asked_for = |tag: Tag| Listed { more: true, ..Listed::bare(tag.name) };
        Ok(tags.models.into_iter().filter(chats).map(asked_for).collect())
    }
}

/// The key as most wires want it. A local server has none.
pub(crate) fn bearer(key: Option<&Secret>) -> Vec<(HeaderName, String)> {
    let key = key.map(|key| (AUTHORIZATION, format!("Bearer {}", key.expose())));
    key.into_iter().collect()
}

/// System prompt and messages in one list, as Ollama and OpenAI have them.
pub(crate) fn messages(ask: &Ask, without: Without, said: fn(&Said) -> Value) -> Vec<Value> {
    let system = match without.schema {
        true => prompt::system_with_schema(ask),
        false => ask.system.clone(),
    };
    let mut all = Vec::with_capacity(ask.messages.len() + 1);
    if !system.is_empty() {
        all.push(json!({"role": "system", "content": system}));
    }
    all.extend(ask.messages.iter().map(said));
    all
}

fn said(message: &Said) -> Value {
    let mut said = json!({"role": role(message.speaker), "content": message.text});
    if !message.images.is_empty() {
        said["images"] = message.images.iter().map(|image| image.data.as_str()).collect();
    }
    said
}

pub(crate) fn role(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
    }
}

struct Lines;

#[derive(Deserialize)]
struct Line<'a> {
    message: Option<Message>,
    #[serde(default)]
    done: bool,
    #[serde(borrow)]
    done_reason: Option<std::borrow::Cow<'a, str>>,
    prompt_eval_count: Option<u64>,
    eval_count: Option<u64>,
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
    thinking: Option<String>,
}

impl Decode for Lines {
    fn frame(&mut self, data: &[u8], out: &mut Out) -> Result<(), Wrong> {
        let line: Line = serde_json::from_slice(data)?;
        if line.error.is_some() {
            return Err(Wrong::Reported);
        }
        if line.message.is_none() && !line.done {
            return Err(Wrong::Garbled { incomplete: false });
        }
        if let Some(message) = line.message {
            out.reasoning(message.thinking);
            out.text(message.content);
        }
        if line.done {
            out.pieces.push_back(Piece::Usage(Usage {
                input_tokens: line.prompt_eval_count,
                output_tokens: line.eval_count,
                ..Usage::default()
            }));
            out.over = Some(match line.done_reason.as_deref() {
                Some("length") => Ending::Cut,
                Some(_) | None => Ending::Whole,
            });
        }
        Ok(())
    }
}
