//! OpenAI's newer wire, `POST /v1/responses`: server-sent events with names, in which
//! an answer is a list of items, each opened and repeated as a whole at its end.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{About, Call, Ending, OpenAi, Tool, Trouble, Voice, Wire, gather, items, texts};

pub(crate) struct Responses;

fn event(out: &mut String, name: &str, mut data: Value) {
    data["type"] = name.into();
    let _ = write!(out, "event: {name}\ndata: {data}\n\n");
}

fn response(about: &About, status: &str) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 1_767_225_600, "status": status,
        "model": about.model, "error": null, "incomplete_details": null,
        "output": about.items, "usage": null,
    })
}

fn item_id(about: &About) -> String {
    format!("item_{}", about.block)
}

/// The item of a voice, with what it has said.
fn item(about: &About, voice: Voice, status: &str) -> Value {
    match voice {
        Voice::Text => {
            let part = json!({"type": "output_text", "text": about.said, "annotations": []});
            let content = if about.said.is_empty() { json!([]) } else { json!([part]) };
            json!({
                "id": item_id(about), "type": "message", "role": "assistant", "status": status,
                "content": content,
            })
        }
        Voice::Reasoning => {
            let part = json!({"type": "summary_text", "text": about.said});
            let summary = if about.said.is_empty() { json!([]) } else { json!([part]) };
            json!({"id": item_id(about), "type": "reasoning", "summary": summary})
        }
    }
}

fn added(out: &mut String, about: &About, item: &Value) {
    let data = json!({"output_index": about.block, "item": item});
    event(out, "response.output_item.added", data);
}

fn done(out: &mut String, about: &mut About, item: Value) {
    let data = json!({"output_index": about.block, "item": item});
    event(out, "response.output_item.done", data);
    about.items.push(item);
    about.block += 1;
    about.said.clear();
}

fn end_voice(out: &mut String, about: &mut About) {
    let Some(voice) = about.voice.take() else {
        return;
    };
    let (name, place) = match voice {
        Voice::Text => ("response.output_text.done", "content_index"),
        Voice::Reasoning => ("response.reasoning_summary_text.done", "summary_index"),
    };
    let data = json!({
        "item_id": item_id(about), "output_index": about.block, place: 0, "text": about.said,
    });
    event(out, name, data);
    let item = item(about, voice, "completed");
    done(out, about, item);
}

impl Wire for Responses {
    fn content_type(&self) -> &'static str {
        "text/event-stream; charset=utf-8"
    }

    fn open(&self, out: &mut String, about: &About) {
        let created = json!({"response": response(about, "in_progress")});
        event(out, "response.created", created);
    }

    fn token(&self, out: &mut String, about: &mut About, voice: Voice, text: &str) {
        let (part, delta, place, empty) = match voice {
            Voice::Text => (
                "response.content_part.added",
                "response.output_text.delta",
                "content_index",
                json!({"type": "output_text", "text": "", "annotations": []}),
            ),
            Voice::Reasoning => (
                "response.reasoning_summary_part.added",
                "response.reasoning_summary_text.delta",
                "summary_index",
                json!({"type": "summary_text", "text": ""}),
            ),
        };
        if about.voice != Some(voice) {
            end_voice(out, about);
            about.voice = Some(voice);
            added(out, about, &item(about, voice, "in_progress"));
            let data = json!({
                "item_id": item_id(about), "output_index": about.block, place: 0, "part": empty,
            });
            event(out, part, data);
        }
        about.said.push_str(text);
        let data = json!({
            "item_id": item_id(about), "output_index": about.block, place: 0, "delta": text,
        });
        event(out, delta, data);
    }

    fn call(&self, out: &mut String, about: &mut About, call: &Call) {
        end_voice(out, about);
        let mut item = json!({
            "id": item_id(about), "type": "function_call", "status": "in_progress",
            "call_id": call.id, "name": call.tool.name, "arguments": "",
        });
        if let Some(space) = &call.tool.space {
            item["namespace"] = space.as_str().into();
        }
        added(out, about, &item);
        item["status"] = "completed".into();
        item["arguments"] = call.arguments.to_string().into();
        let data = json!({
            "item_id": item_id(about), "output_index": about.block, "arguments": item["arguments"],
        });
        event(out, "response.function_call_arguments.done", data);
        done(out, about, item);
    }

    fn close(&self, out: &mut String, about: &mut About, ending: Ending) {
        if ending == Ending::Refusal {
            let part = json!({"type": "refusal", "refusal": "I'm sorry, I can't help with that."});
            let item = json!({
                "id": item_id(about), "type": "message", "role": "assistant",
                "status": "completed", "content": [part],
            });
            added(out, about, &item);
            done(out, about, item);
        }
        end_voice(out, about);
        let (status, reason) = match ending {
            Ending::Stop | Ending::Called | Ending::Refusal => ("completed", None),
            Ending::Length => ("incomplete", Some("max_output_tokens")),
            Ending::Filtered => ("incomplete", Some("content_filter")),
        };
        let mut response = response(about, status);
        if let Some(reason) = reason {
            response["incomplete_details"] = json!({ "reason": reason });
        }
        response["usage"] = json!({
            "input_tokens": about.input_tokens, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": about.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": about.input_tokens + about.output_tokens,
        });
        event(out, &format!("response.{status}"), json!({ "response": response }));
    }

    fn error(&self, out: &mut String, overloaded: bool) {
        let (code, message) = match overloaded {
            true => ("server_is_overloaded", "The engine is currently overloaded."),
            false => ("server_error", "The server had an error while processing your request."),
        };
        let mut response = response(&About::default(), "failed");
        response["error"] = json!({"code": code, "message": message});
        event(out, "response.failed", json!({ "response": response }));
    }

    fn status(&self, trouble: Trouble, model: &str) -> (u16, String) {
        OpenAi.status(trouble, model)
    }

    fn models(&self, names: &[String]) -> Value {
        OpenAi.models(names)
    }

    fn prompt(&self, body: &Value) -> String {
        let mut all = String::new();
        gather(&body["instructions"], &mut all);
        all + &texts(&body["input"], &["content"]) + &texts(&body["input"], &["output"])
    }

    fn tools(&self, body: &Value) -> Vec<Tool> {
        let in_space = |space: &Value| {
            let within = items(&space["tools"]).filter_map(|tool| Tool::named(&tool["name"]));
            let space = space["name"].as_str().map(str::to_owned);
            within.map(|tool| Tool { space: space.clone(), ..tool }).collect::<Vec<_>>()
        };
        let tools = items(&body["tools"]).flat_map(|tool| match tool["type"].as_str() {
            Some("namespace") => in_space(tool),
            Some("function") => Tool::named(&tool["name"]).into_iter().collect(),
            _ => Vec::new(),
        });
        tools.collect()
    }

    fn results(&self, body: &Value) -> Vec<Value> {
        let outputs = items(&body["input"]).filter(|item| item["type"] == "function_call_output");
        outputs.map(|item| item["output"].clone()).collect()
    }

    fn schema<'a>(&self, body: &'a Value) -> Option<&'a Value> {
        body["text"]["format"].get("schema")
    }
}
