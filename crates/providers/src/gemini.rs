//! Gemini's wire: server-sent events, each a whole response object.

use std::borrow::Cow;

use plenary_domain::{Ask, Message, Speaker, Usage};
use plenary_engine::ports::{Ending, Piece};
use reqwest::header::HeaderName;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::config::{ProviderConfig, Secret};
use crate::facts::{self, Fact, Listed, lenient};
use crate::http::{Decode, Out, Wire, Without, Wrong};
use crate::lines::Framing;
use crate::openai;
use crate::prompt;

pub(crate) struct Gemini;

impl Wire for Gemini {
    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn request(&self, config: &ProviderConfig, ask: &Ask, without: Without) -> (String, Value) {
        let contents: Vec<Value> = ask
            .messages
            .iter()
            .map(|one| json!({"role": role(one.speaker), "parts": parts(one)}))
            .collect();
        let mut body = json!({ "contents": contents });
        let system = match without.schema {
            true => prompt::system_with_schema(ask),
            false => ask.system.clone(),
        };
        if !system.is_empty() {
            body["systemInstruction"] = json!({"parts": [{"text": system}]});
        }
        if let Some(schema) = ask.schema().filter(|_| !without.schema) {
            body["generationConfig"] = json!({
                "responseMimeType": "application/json", "responseJsonSchema": schema,
            });
        }
        body["generationConfig"]["maxOutputTokens"] = prompt::answer_cap(ask, without).into();
        if let Some(temperature) = prompt::temperature(ask, without) {
            body["generationConfig"]["temperature"] = temperature.into();
        }
        let model = path_segment(ask.model.parts().1);
        let url = format!("{}/v1beta/models/{model}:streamGenerateContent?alt=sse", config.url);
        (url, body)
    }

    /// The key goes into a header: a URL ends up in logs.
    fn headers(&self, key: Option<&Secret>) -> Vec<(HeaderName, String)> {
        let name = HeaderName::from_static("x-goog-api-key");
        let key = key.map(|key| (name, key.expose().to_owned()));
        key.into_iter().collect()
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::new(Responses)
    }

    fn models_url(&self, config: &ProviderConfig) -> String {
        format!("{}/v1beta/models?pageSize=1000", config.url)
    }

    fn models(&self, body: &[u8]) -> serde_json::Result<Vec<Listed>> {
        #[derive(Deserialize)]
        struct List {
            models: Vec<Model>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Model {
            name: String,
            #[serde(default)]
            supported_generation_methods: Vec<String>,
            #[serde(default, deserialize_with = "lenient")]
            input_token_limit: Option<u64>,
        }
        let list: List = serde_json::from_slice(body)?;
        let answers = |model: &Model| {
            let methods = &model.supported_generation_methods;
            // Those that speak or draw have it too, and answer with nothing else.
            methods.iter().any(|method| method == "generateContent") && openai::chats(&model.name)
        };
        let models = list.models.into_iter().filter(answers);
        let listed = |model: Model| {
            let fact = Fact {
                window_tokens: facts::window(model.input_token_limit),
                price: None,
                looks: None,
            };
            Listed { fact, ..Listed::bare(model.name.trim_start_matches("models/").to_owned()) }
        };
        Ok(models.map(listed).collect())
    }
}

fn parts(message: &Message) -> Vec<Value> {
    let shown = message.images.iter().map(
        |image| json!({"inlineData": {"mimeType": image.media_type.name(), "data": image.data}}),
    );
    shown.chain([json!({"text": message.text})]).collect()
}

fn role(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::User => "user",
        Speaker::Assistant => "model",
    }
}

/// A model's name as one segment of a path: it must not reach another address.
fn path_segment(name: &str) -> String {
    let mut segment = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                segment.push(byte.into());
            }
            other => segment.push_str(&format!("%{other:02X}")),
        }
    }
    segment
}

struct Responses;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response<'a> {
    #[serde(borrow)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(borrow)]
    prompt_feedback: Option<Feedback<'a>>,
    usage_metadata: Option<Tokens>,
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    content: Option<Content>,
    #[serde(borrow)]
    finish_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Content {
    parts: Option<Vec<Part>>,
}

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
    #[serde(default)]
    thought: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback<'a> {
    #[serde(borrow)]
    block_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    prompt_token_count: Option<u64>,
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
    cached_content_token_count: Option<u64>,
}

impl Decode for Responses {
    fn frame(&mut self, data: &[u8], out: &mut Out) -> Result<(), Wrong> {
        let response: Response = serde_json::from_slice(data)?;
        if response.error.is_some() {
            return Err(Wrong::Reported);
        }
        let mut finish = None;
        for candidate in response.candidates.into_iter().flatten() {
            let parts = candidate.content.and_then(|content| content.parts);
            for part in parts.into_iter().flatten() {
                match part.thought {
                    true => out.reasoning(part.text),
                    false => out.text(part.text),
                }
            }
            finish = candidate.finish_reason;
        }
        let blocked = response.prompt_feedback.and_then(|one| one.block_reason);
        // The count stands in every response; only the last one is of interest.
        if finish.is_some() || blocked.is_some() {
            count(response.usage_metadata, out);
        }
        match (blocked.as_deref(), finish.as_deref()) {
            (Some(reason), _) => Err(Wrong::Refused(format!("the prompt was blocked ({reason})"))),
            (None, Some("STOP")) => {
                out.over = Some(Ending::Whole);
                Ok(())
            }
            (None, Some("MAX_TOKENS")) => {
                out.over = Some(Ending::Cut);
                Ok(())
            }
            (None, Some(reason)) => Err(Wrong::Refused(format!("it stopped with {reason}"))),
            (None, None) => Ok(()),
        }
    }
}

fn count(tokens: Option<Tokens>, out: &mut Out) {
    let Some(tokens) = tokens else {
        return;
    };
    let written = [tokens.candidates_token_count, tokens.thoughts_token_count];
    out.pieces.push_back(Piece::Usage(Usage {
        input_tokens: tokens.prompt_token_count,
        cached_tokens: tokens.cached_content_token_count,
        output_tokens: written.into_iter().flatten().reduce(|one, other| one + other),
        reasoning_tokens: tokens.thoughts_token_count,
        cost_nano_usd: None,
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_that_answer_in_words_are_listed() {
        let model = |name: &str, method: &str| {
            let name = format!("models/{name}");
            json!({"name": name, "supportedGenerationMethods": [method]})
        };
        let list = json!({"models": [
            model("gemini-2.5-flash", "generateContent"),
            model("gemini-2.5-flash-preview-tts", "generateContent"),
            model("gemini-2.5-flash-image", "generateContent"),
            model("gemini-embedding-001", "embedContent"),
        ]});
        let models = Gemini.models(list.to_string().as_bytes()).unwrap();
        let names: Vec<&str> = models.iter().map(|model| model.name.as_str()).collect();
        assert_eq!(names, ["gemini-2.5-flash"]);
    }

    #[test]
    fn what_came_from_a_cache_is_counted_apart() {
        let mut out = Out::default();
        let frame = r#"{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{
            "promptTokenCount":120,"cachedContentTokenCount":100,"candidatesTokenCount":4,
            "thoughtsTokenCount":5}}"#;
        assert!(Responses.frame(frame.as_bytes(), &mut out).is_ok());
        let expected = Usage {
            input_tokens: Some(120),
            cached_tokens: Some(100),
            output_tokens: Some(9),
            reasoning_tokens: Some(5),
            ..Usage::default()
        };
        assert_eq!(out.pieces.pop_back(), Some(Piece::Usage(expected)));
    }
}
