//! The OpenAI-compatible wire: server-sent events that end in `[DONE]`.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{
    About, Call, Ending, Tool, Trouble, Voice, Wire, from_tools, functions, quoted, texts,
};

pub(crate) struct OpenAi;

fn chunk(out: &mut String, about: &About, delta: &str, finish: &str) {
    let _ = write!(
        out,
        "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1767225600,\"model\":{},\"choices\":[{{\"index\":0,\"delta\":{delta},\"logprobs\":null,\"finish_reason\":{finish}}}]}}\n\n",
        quoted(&about.model),
    );
}

fn called(call: &Call) -> Value {
    let function = json!({"name": call.tool.name, "arguments": call.arguments.to_string()});
    json!({"index": 0, "id": call.id, "type": "function", "function": function})
}

fn usage(about: &About) -> Value {
    json!({
        "prompt_tokens": about.input_tokens, "completion_tokens": about.output_tokens,
        "total_tokens": about.input_tokens + about.output_tokens,
    })
}

impl Wire for OpenAi {
    fn content_type(&self) -> &'static str {
        "text/event-stream; charset=utf-8"
    }

    fn open(&self, out: &mut String, about: &About) {
        chunk(out, about, "{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null}", "null");
    }

    fn token(&self, out: &mut String, about: &mut About, voice: Voice, text: &str) {
        let name = match voice {
            Voice::Text => "content",
            Voice::Reasoning => "reasoning_content",
        };
        chunk(out, about, &format!("{{\"{name}\":{}}}", quoted(text)), "null");
    }

    fn call(&self, out: &mut String, about: &mut About, call: &Call) {
        chunk(out, about, &json!({"tool_calls": [called(call)]}).to_string(), "null");
    }

    fn close(&self, out: &mut String, about: &mut About, ending: Ending) {
        let finish = match ending {
            Ending::Stop => "\"stop\"",
            Ending::Called => "\"tool_calls\"",
            Ending::Length => "\"length\"",
            Ending::Filtered => "\"content_filter\"",
            Ending::Refusal => {
                chunk(out, about, "{\"refusal\":\"I'm sorry, I can't help with that.\"}", "null");
                "\"stop\""
            }
        };
        chunk(out, about, "{}", finish);
        let usage = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_767_225_600,
            "model": about.model, "choices": [], "usage": usage(about),
        });
        let _ = write!(out, "data: {usage}\n\ndata: [DONE]\n\n");
    }

    fn whole(&self, about: &About, text: &str, call: Option<&Call>) -> Option<Value> {
        let mut message = json!({"role": "assistant", "content": text, "refusal": null});
        let mut finish = "stop";
        if let Some(call) = call {
            message["tool_calls"] = json!([called(call)]);
            finish = "tool_calls";
        }
        Some(json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1_767_225_600,
            "model": about.model, "usage": usage(about),
            "choices": [{
                "index": 0, "logprobs": null, "finish_reason": finish, "message": message,
            }],
        }))
    }

    fn error(&self, out: &mut String, overloaded: bool) {
        let error = match overloaded {
            true => json!({"error": {
                "message": "The engine is currently overloaded, please try again later",
                "type": "overloaded_error", "param": null, "code": null,
            }}),
            false => json!({"error": {
                "message": "The server had an error while processing your request. Sorry about that!",
                "type": "server_error", "param": null, "code": null,
            }}),
        };
        let _ = write!(out, "data: {error}\n\n");
    }

    fn status(&self, trouble: Trouble, model: &str) -> (u16, String) {
        let (status, message, kind, code) = match trouble {
            Trouble::Unauthorized => (
                401,
                "Incorrect API key provided: sk-wrong**************************key1. You can find your API key at https://platform.openai.com/account/api-keys.".to_owned(),
                "invalid_request_error",
                json!("invalid_api_key"),
            ),
            Trouble::NoSuchModel => (
                404,
                format!("The model `{model}` does not exist or you do not have access to it."),
                "invalid_request_error",
                json!("model_not_found"),
            ),
            Trouble::ContextOverflow => (
                400,
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 120034 tokens. Please reduce the length of the messages.".to_owned(),
                "invalid_request_error",
                json!("context_length_exceeded"),
            ),
            Trouble::RateLimited => (
                429,
                format!("Rate limit reached for {model} in organization org-1 on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s."),
                "requests",
                json!("rate_limit_exceeded"),
            ),
            Trouble::OutOfQuota => (
                429,
                "You exceeded your current quota, please check your plan and billing details.".to_owned(),
                "insufficient_quota",
                json!("insufficient_quota"),
            ),
            Trouble::Overloaded => (
                503,
                "The engine is currently overloaded, please try again later".to_owned(),
                "server_error",
                Value::Null,
            ),
            Trouble::ServerError => (
                500,
                "The server had an error while processing your request. Sorry about that!".to_owned(),
                "server_error",
                Value::Null,
            ),
        };
        let body =
            json!({"error": {"message": message, "type": kind, "param": null, "code": code}});
        (status, body.to_string())
    }

    fn models(&self, names: &[String]) -> Value {
        let models = names.iter().map(|name| {
            json!({"id": name, "object": "model", "created": 1_686_935_002, "owned_by": "openai"})
        });
        json!({"object": "list", "data": models.collect::<Vec<_>>()})
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
        body["response_format"]["json_schema"].get("schema")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_not_streamed_is_one_object() {
        let about =
            About { model: "m".to_owned(), input_tokens: 3, output_tokens: 2, ..About::default() };
        let expected = json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1_767_225_600,
            "model": "m",
            "choices": [{
                "index": 0, "finish_reason": "stop", "logprobs": null,
                "message": {"role": "assistant", "content": "Yes, but", "refusal": null},
            }],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
        });
        assert_eq!(OpenAi.whole(&about, "Yes, but", None), Some(expected));
    }
}
