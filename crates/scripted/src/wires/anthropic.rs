//! Anthropic's wire: server-sent events with names.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{About, Call, Ending, Tool, Trouble, Voice, Wire, gather, items, quoted, texts};

pub(crate) struct Anthropic;

fn event(out: &mut String, name: &str, data: &Value) {
    let _ = write!(out, "event: {name}\ndata: {data}\n\n");
}

fn stop_block(out: &mut String, about: &About) {
    let stop = json!({"type": "content_block_stop", "index": about.block});
    event(out, "content_block_stop", &stop);
}

impl Wire for Anthropic {
    fn content_type(&self) -> &'static str {
        "text/event-stream; charset=utf-8"
    }

    fn open(&self, out: &mut String, about: &About) {
        let start = json!({"type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "content": [],
            "model": about.model, "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": about.input_tokens, "output_tokens": 1},
        }});
        event(out, "message_start", &start);
        event(out, "ping", &json!({"type": "ping"}));
    }

    fn token(&self, out: &mut String, about: &mut About, voice: Voice, text: &str) {
        if about.voice != Some(voice) {
            if about.voice.is_some() {
                stop_block(out, about);
                about.block += 1;
            }
            about.voice = Some(voice);
            let block = match voice {
                Voice::Text => json!({"type": "text", "text": ""}),
                Voice::Reasoning => json!({"type": "thinking", "thinking": "", "signature": ""}),
            };
            let start = json!({"type": "content_block_start", "index": about.block, "content_block": block});
            event(out, "content_block_start", &start);
        }
        let delta = match voice {
            Voice::Text => format!("{{\"type\":\"text_delta\",\"text\":{}}}", quoted(text)),
            Voice::Reasoning => {
                format!("{{\"type\":\"thinking_delta\",\"thinking\":{}}}", quoted(text))
            }
        };
        let _ = write!(
            out,
            "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":{},\"delta\":{delta}}}\n\n",
            about.block,
        );
    }

    fn call(&self, out: &mut String, about: &mut About, call: &Call) {
        if about.voice.take().is_some() {
            stop_block(out, about);
            about.block += 1;
        }
        let block = json!({"type": "tool_use", "id": call.id, "name": call.tool.name, "input": {}});
        let start =
            json!({"type": "content_block_start", "index": about.block, "content_block": block});
        event(out, "content_block_start", &start);
        let delta = json!({"type": "input_json_delta", "partial_json": call.arguments.to_string()});
        let delta = json!({"type": "content_block_delta", "index": about.block, "delta": delta});
        event(out, "content_block_delta", &delta);
        stop_block(out, about);
    }

    fn close(&self, out: &mut String, about: &mut About, ending: Ending) {
        if about.voice.is_some() {
            stop_block(out, about);
        }
        let reason = match ending {
            Ending::Stop => "end_turn",
            Ending::Called => "tool_use",
            Ending::Length => "max_tokens",
            Ending::Refusal | Ending::Filtered => "refusal",
        };
        let delta = json!({
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": null},
            "usage": {"output_tokens": about.output_tokens},
        });
        event(out, "message_delta", &delta);
        event(out, "message_stop", &json!({"type": "message_stop"}));
    }

    fn error(&self, out: &mut String, overloaded: bool) {
        let error = match overloaded {
            true => json!({"type": "overloaded_error", "message": "Overloaded"}),
            false => json!({"type": "api_error", "message": "Internal server error"}),
        };
        event(out, "error", &json!({"type": "error", "error": error}));
    }

    fn status(&self, trouble: Trouble, model: &str) -> (u16, String) {
        let (status, kind, message) = match trouble {
            Trouble::Unauthorized => (401, "authentication_error", "invalid x-api-key".to_owned()),
            Trouble::NoSuchModel => (404, "not_found_error", format!("model: {model}")),
            Trouble::ContextOverflow => (
                400,
                "invalid_request_error",
                "prompt is too long: 212458 tokens > 200000 maximum".to_owned(),
            ),
            Trouble::RateLimited => (
                429,
                "rate_limit_error",
                "This request would exceed your organization's rate limit of 40,000 input tokens per minute.".to_owned(),
            ),
            Trouble::OutOfQuota => (
                400,
                "invalid_request_error",
                "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.".to_owned(),
            ),
            Trouble::Overloaded => (529, "overloaded_error", "Overloaded".to_owned()),
            Trouble::ServerError => (500, "api_error", "Internal server error".to_owned()),
        };
        let body = json!({
            "type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1",
        });
        (status, body.to_string())
    }

    fn models(&self, names: &[String]) -> Value {
        let models = names.iter().map(|name| {
            json!({"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"})
        });
        json!({
            "data": models.collect::<Vec<_>>(), "has_more": false,
            "first_id": names.first(), "last_id": names.last(),
        })
    }

    fn prompt(&self, body: &Value) -> String {
        let mut all = String::new();
        gather(&body["system"], &mut all);
        all + &texts(&body["messages"], &["content"])
    }

    fn tools(&self, body: &Value) -> Vec<Tool> {
        items(&body["tools"]).filter_map(|tool| Tool::named(&tool["name"])).collect()
    }

    fn results(&self, body: &Value) -> Vec<Value> {
        let blocks = items(&body["messages"]).flat_map(|message| items(&message["content"]));
        let results = blocks.filter(|block| block["type"] == "tool_result");
        results.map(|block| block["content"].clone()).collect()
    }

    fn schema<'a>(&self, body: &'a Value) -> Option<&'a Value> {
        body["output_config"]["format"].get("schema")
    }
}
