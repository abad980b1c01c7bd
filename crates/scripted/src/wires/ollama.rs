//! Ollama's own wire: one JSON object per line.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{
    About, Call, Ending, Tool, Trouble, Voice, Wire, from_tools, functions, quoted, texts,
};

pub(crate) struct Ollama;

const MADE_AT: &str = "2026-01-01T00:00:00.000000Z";

impl Wire for Ollama {
    fn content_type(&self) -> &'static str {
        "application/x-ndjson"
    }

    fn open(&self, _out: &mut String, _about: &About) {}

    fn token(&self, out: &mut String, about: &mut About, voice: Voice, text: &str) {
        let message = match voice {
            Voice::Text => format!("\"content\":{}", quoted(text)),
            Voice::Reasoning => format!("\"content\":\"\",\"thinking\":{}", quoted(text)),
        };
        let _ = writeln!(
            out,
            "{{\"model\":{},\"created_at\":\"{MADE_AT}\",\"message\":{{\"role\":\"assistant\",{message}}},\"done\":false}}",
            quoted(&about.model),
        );
    }

    fn call(&self, out: &mut String, about: &mut About, call: &Call) {
        let function = json!({"name": call.tool.name, "arguments": call.arguments});
        let line = json!({
            "model": about.model, "created_at": MADE_AT, "done": false,
            "message": {"role": "assistant", "content": "", "tool_calls": [{"function": function}]},
        });
        let _ = writeln!(out, "{line}");
    }

    fn close(&self, out: &mut String, about: &mut About, ending: Ending) {
        let reason = match ending {
            Ending::Length => "length",
            Ending::Stop | Ending::Called | Ending::Refusal | Ending::Filtered => "stop",
        };
        let last = json!({
            "model": about.model, "created_at": MADE_AT,
            "message": {"role": "assistant", "content": ""},
            "done": true, "done_reason": reason,
            "total_duration": 5_000_000_000_u64, "load_duration": 1_000_000,
            "prompt_eval_count": about.input_tokens, "prompt_eval_duration": 200_000_000,
            "eval_count": about.output_tokens, "eval_duration": 4_000_000_000_u64,
        });
        let _ = writeln!(out, "{last}");
    }

    fn error(&self, out: &mut String, overloaded: bool) {
        let text = match overloaded {
            true => "server busy, please try again.  maximum pending requests exceeded",
            false => "an error was encountered while running the model: unexpected EOF",
        };
        let _ = writeln!(out, "{}", json!({ "error": text }));
    }

    fn status(&self, trouble: Trouble, model: &str) -> (u16, String) {
        let (code, text) = match trouble {
            Trouble::Unauthorized => (401, "unauthorized".to_owned()),
            Trouble::NoSuchModel => (404, format!("model '{model}' not found")),
            Trouble::ContextOverflow => {
                (400, "the input length exceeds the context length".to_owned())
            }
            Trouble::RateLimited => (429, "too many requests".to_owned()),
            Trouble::OutOfQuota => {
                (402, "you've reached your usage limit, please upgrade to continue".to_owned())
            }
            Trouble::Overloaded => (
                503,
                "server busy, please try again.  maximum pending requests exceeded".to_owned(),
            ),
            Trouble::ServerError => {
                (500, "llama runner process has terminated: exit status 2".to_owned())
            }
        };
        (code, json!({ "error": text }).to_string())
    }

    fn models(&self, names: &[String]) -> Value {
        let models = names.iter().map(|name| {
            json!({
                "name": name, "model": name, "modified_at": MADE_AT, "size": 2_019_393_189_u64,
                "digest": "a80c4f17acd55265feec403c7aef86be0c25983ab279d83f3bcd3abbcb5b8b72",
                "details": {"format": "gguf", "family": "llama", "parameter_size": "3.2B"},
            })
        });
        json!({ "models": models.collect::<Vec<_>>() })
    }

    fn prompt(&self, body: &Value) -> String {
        texts(&body["messages"], &["content"])
    }

    fn tools(&self, body: &Value) -> Vec<Tool> {
        functions(body)
    }

    fn results(&self, body: &Value) -> Vec<Value> {
        from_tools(body)
    }

    fn schema<'a>(&self, body: &'a Value) -> Option<&'a Value> {
        body.get("format").filter(|format| format.is_object())
    }
}
