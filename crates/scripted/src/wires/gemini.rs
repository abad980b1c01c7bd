//! Gemini's wire: server-sent events, each a whole response object.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{About, Call, Ending, Tool, Trouble, Voice, Wire, items, quoted, texts};

pub(crate) struct Gemini;

fn error(code: u16, status: &str, message: &str) -> Value {
    json!({"error": {"code": code, "message": message, "status": status}})
}

impl Wire for Gemini {
    fn content_type(&self) -> &'static str {
        "text/event-stream"
    }

    fn open(&self, _out: &mut String, _about: &About) {}

    fn token(&self, out: &mut String, about: &mut About, voice: Voice, text: &str) {
        let thought = match voice {
            Voice::Text => "",
            Voice::Reasoning => ",\"thought\":true",
        };
        let _ = write!(
            out,
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":{}{thought}}}],\"role\":\"model\"}},\"index\":0}}],\"usageMetadata\":{{\"promptTokenCount\":{}}},\"modelVersion\":{}}}\r\n\r\n",
            quoted(text),
            about.input_tokens,
            quoted(&about.model),
        );
    }

    fn call(&self, out: &mut String, about: &mut About, call: &Call) {
        let part = json!({"functionCall": {
            "id": call.id, "name": call.tool.name, "args": call.arguments,
        }});
        let chunk = json!({
            "candidates": [{"content": {"parts": [part], "role": "model"}, "index": 0}],
            "modelVersion": about.model,
        });
        let _ = write!(out, "data: {chunk}\r\n\r\n");
    }

    fn close(&self, out: &mut String, about: &mut About, ending: Ending) {
        let usage = json!({
            "promptTokenCount": about.input_tokens, "candidatesTokenCount": about.output_tokens,
            "totalTokenCount": about.input_tokens + about.output_tokens,
        });
        let last = match ending {
            Ending::Refusal => json!({
                "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": usage,
            }),
            Ending::Stop | Ending::Called | Ending::Length | Ending::Filtered => {
                let reason = match ending {
                    Ending::Length => "MAX_TOKENS",
                    Ending::Filtered => "SAFETY",
                    Ending::Stop | Ending::Called | Ending::Refusal => "STOP",
                };
                json!({
                    "candidates": [{
                        "content": {"parts": [{"text": ""}], "role": "model"},
                        "finishReason": reason, "index": 0,
                    }],
                    "usageMetadata": usage, "modelVersion": about.model,
                })
            }
        };
        let _ = write!(out, "data: {last}\r\n\r\n");
    }

    fn error(&self, out: &mut String, overloaded: bool) {
        let error = match overloaded {
            true => error(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
            false => error(500, "INTERNAL", "An internal error has occurred. Please retry."),
        };
        let _ = write!(out, "data: {error}\r\n\r\n");
    }

    fn status(&self, trouble: Trouble, model: &str) -> (u16, String) {
        let (code, status, message) = match trouble {
            Trouble::Unauthorized => (
                400,
                "INVALID_ARGUMENT",
                "API key not valid. Please pass a valid API key.".to_owned(),
            ),
            Trouble::NoSuchModel => (
                404,
                "NOT_FOUND",
                format!("models/{model} is not found for API version v1beta, or is not supported for generateContent."),
            ),
            Trouble::ContextOverflow => (
                400,
                "INVALID_ARGUMENT",
                "The input token count (1200311) exceeds the maximum number of tokens allowed (1048576).".to_owned(),
            ),
            Trouble::RateLimited | Trouble::OutOfQuota => (
                429,
                "RESOURCE_EXHAUSTED",
                "You exceeded your current quota, please check your plan and billing details.".to_owned(),
            ),
            Trouble::Overloaded => (
                503,
                "UNAVAILABLE",
                "The model is overloaded. Please try again later.".to_owned(),
            ),
            Trouble::ServerError => (
                500,
                "INTERNAL",
                "An internal error has occurred. Please retry.".to_owned(),
            ),
        };
        (code, error(code, status, &message).to_string())
    }

    fn models(&self, names: &[String]) -> Value {
        let models = names.iter().map(|name| {
            json!({
                "name": format!("models/{name}"), "displayName": name,
                "inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536,
                "supportedGenerationMethods":
                    if name.contains("embedding") { ["embedContent"] } else { ["generateContent"] },
            })
        });
        json!({ "models": models.collect::<Vec<_>>() })
    }

    fn prompt(&self, body: &Value) -> String {
        let system = std::slice::from_ref(&body["systemInstruction"]);
        texts(&system.into(), &["parts"]) + &texts(&body["contents"], &["parts"])
    }

    fn tools(&self, body: &Value) -> Vec<Tool> {
        let declared = items(&body["tools"]).flat_map(|tool| items(&tool["functionDeclarations"]));
        declared.filter_map(|tool| Tool::named(&tool["name"])).collect()
    }

    fn results(&self, body: &Value) -> Vec<Value> {
        let parts = items(&body["contents"]).flat_map(|content| items(&content["parts"]));
        parts.filter_map(|part| part["functionResponse"].get("response").cloned()).collect()
    }

    fn schema<'a>(&self, body: &'a Value) -> Option<&'a Value> {
        body["generationConfig"].get("responseJsonSchema")
    }
}
