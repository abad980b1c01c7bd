//! Responses: the newer way to ask the same.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, stream};
use plenary_clerk::Clerk;
use plenary_clerk::conversations::Conversation;
use plenary_domain::{SessionId, Usage};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::input::{Content, Heard, Wrong};
use super::problem::{Fault, Faults};
use super::relay::{Ended, Piece, Relay};
use super::{Metadata, Own, Session, answer_tokens, metadata, session, unsupported, with_session};
use crate::App;
use crate::error::{Code, Problem};
use crate::http::routes::{Routes, routes};
use crate::idempotency::{Change, Key};
use crate::live;

pub fn routes() -> Routes {
    Routes::new().routes(routes!(respond))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OpenAiResponseRequest)]
#[allow(dead_code, reason = "what is ignored is taken so that clients may send it")]
pub struct Request {
    /// A board (`plenary/classic-triad`) or a model (`ollama/llama3.2`).
    model: String,
    input: Input,
    /// How to answer.
    instructions: Option<String>,
    stream: Option<bool>,
    /// The response that this one continues: its board is asked.
    previous_response_id: Option<String>,
    /// Tokens of the verdict, at most.
    max_output_tokens: Option<u32>,
    text: Option<TextOptions>,
    /// `plenary_session` names the board that the conversation goes on with.
    metadata: Option<Metadata>,
    plenary: Option<Own>,
    /// Refused where it demands a call.
    tool_choice: Option<Value>,
    /// Refused when true.
    background: Option<bool>,
    /// Refused.
    conversation: Option<Value>,
    /// Refused.
    prompt: Option<Value>,
    /// Refused.
    top_logprobs: Option<u32>,
    /// Ignored: a board calls no tools, and a model may always answer without one.
    tools: Option<Value>,
    /// Ignored, like the rest.
    parallel_tool_calls: Option<Value>,
    max_tool_calls: Option<Value>,
    include: Option<Value>,
    reasoning: Option<Value>,
    temperature: Option<Value>,
    top_p: Option<Value>,
    truncation: Option<Value>,
    store: Option<Value>,
    stream_options: Option<Value>,
    service_tier: Option<Value>,
    user: Option<Value>,
    prompt_cache_key: Option<Value>,
    prompt_cache_retention: Option<Value>,
    safety_identifier: Option<Value>,
}

#[derive(Deserialize, ToSchema)]
#[serde(untagged, expecting = "must be a string or a list of messages")]
#[schema(as = OpenAiInput)]
pub enum Input {
    Text(String),
    Items(Vec<Item>),
}

/// A message. What else a response has brought may be sent back, and is passed over.
#[derive(Deserialize, ToSchema)]
#[schema(as = OpenAiItem)]
pub struct Item {
    r#type: Option<String>,
    role: Option<String>,
    content: Option<Content>,
}

#[derive(Deserialize, ToSchema)]
#[schema(as = OpenAiTextOptions)]
pub struct TextOptions {
    format: Option<Format>,
}

#[derive(Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schema(as = OpenAiTextFormat)]
pub enum Format {
    Text,
    JsonObject,
    /// The verdict follows this schema, or there is none.
    JsonSchema {
        schema: Value,
    },
}

/// Asks a board as if it were a model: it is convened, or continues from an earlier response,
/// and its verdict is the answer. What the advisors say is the summary of its reasoning,
/// one part for each. Disconnecting before the end stops what the request started.
#[utoipa::path(post, path = "/v1/responses", tag = "v1",
    request_body = Request,
    params(Key, Session),
    responses(
        (status = 200, content((Value = "application/json"), (String = "text/event-stream")),
            headers(("x-plenary-session" = String, description = "The board."))),
        Faults))]
async fn respond(
    State(app): State<App>,
    headers: HeaderMap,
    Change { by, body }: Change<Request>,
) -> Result<Response, Problem> {
    let stream = body.stream.unwrap_or(false);
    let mut told = Told {
        head: json!({
            "object": "response",
            "created_at": app.engine.clock().now().as_second(),
            "model": body.model,
            "instructions": body.instructions,
            "max_output_tokens": body.max_output_tokens,
            "previous_response_id": body.previous_response_id,
            "parallel_tool_calls": false, "tool_choice": "auto", "tools": [],
            "temperature": null, "top_p": null, "error": null, "incomplete_details": null,
        }),
        key: String::new(),
        sequence: 0,
    };
    let given = body.metadata.clone();
    let conversation = body.heard(&app.clerk, &headers).await?;
    let relay = super::ask(app, by, conversation).await?;
    let id = relay.id;
    told.key = format!("{}_{}", id.0.simple(), relay.round);
    told.head["id"] = format!("resp_{}", told.key).into();
    told.head["metadata"] = json!(metadata(given, id));
    let response = match stream {
        true => live::respond(told.stream(relay)),
        false => match relay.ended().await {
            Ok(ended) => Json(told.whole(&ended)).into_response(),
            Err(fault) => fault.into_response(),
        },
    };
    Ok(with_session(response, id))
}

/// The session in the id of an earlier response.
fn earlier(id: &str) -> Result<SessionId, Problem> {
    let session = id.strip_prefix("resp_").and_then(|rest| rest.split_once('_'));
    let session = session.and_then(|(session, _)| session.parse::<uuid::Uuid>().ok());
    session.map(SessionId).ok_or_else(|| {
        let message = format!("There is no response {id}.");
        Problem::new(Code::NotFound, message).field("previous_response_id", "is not known here")
    })
}

impl Request {
    async fn heard(self, clerk: &Clerk, headers: &HeaderMap) -> Result<Conversation, Problem> {
        let mut wrong = self.unsupported();
        let named = session(headers, self.plenary.as_ref(), self.metadata.as_ref())?;
        let previous = self.previous_response_id.as_deref().map(earlier).transpose()?;
        let mut heard = Heard::default();
        heard.instructions.extend(self.instructions);
        match self.input {
            Input::Text(text) => {
                let content = Some(Content::Text(text));
                heard.take(clerk, &mut wrong, "input", ("user", content)).await;
            }
            Input::Items(items) => {
                for (place, item) in items.into_iter().enumerate() {
                    let Item { r#type, role, content } = item;
                    let is_message = r#type.as_deref().is_none_or(|kind| kind == "message");
                    let (Some(role), true) = (role, is_message) else { continue };
                    heard
                        .take(clerk, &mut wrong, &format!("input[{place}]"), (&role, content))
                        .await;
                }
            }
        }
        heard.check(&mut wrong, "input");
        let answer_tokens = answer_tokens(&mut wrong, "max_output_tokens", self.max_output_tokens);
        if !wrong.is_empty() {
            return Err(Problem::invalid(wrong));
        }
        let schema = self.text.and_then(|text| text.format).and_then(|format| match format {
            Format::Text => None,
            Format::JsonObject => Some(json!({ "type": "object" })),
            Format::JsonSchema { schema } => Some(schema),
        });
        Ok(Conversation {
            model: self.model,
            instructions: heard.instructions(),
            turns: heard.turns,
            schema,
            answer_tokens,
            session: previous.or(named),
            settings: self.plenary.unwrap_or_default().into(),
        })
    }

    fn unsupported(&self) -> Wrong {
        let is_given = |value: &Option<Value>| value.as_ref().is_some_and(|value| !value.is_null());
        let demands = |choice: &Value| !matches!(choice.as_str(), Some("auto" | "none"));
        let demands =
            self.tool_choice.as_ref().filter(|choice| !choice.is_null()).is_some_and(demands);
        [
            ("background", self.background == Some(true)),
            ("conversation", is_given(&self.conversation)),
            ("prompt", is_given(&self.prompt)),
            ("top_logprobs", self.top_logprobs.is_some_and(|count| count > 0)),
            ("tool_choice", demands),
        ]
        .into_iter()
        .filter(|(_, is_asked_for)| *is_asked_for)
        .map(|(name, _)| unsupported(name))
        .collect()
    }
}

/// What stands in every answer, and how many events there were.
struct Told {
    head: Value,
    /// Of which the ids of all parts are made.
    key: String,
    sequence: u64,
}

/// How far the stream is.
#[derive(Default)]
struct Shown {
    /// The parts of the reasoning, and whether it has ended.
    thoughts: Vec<String>,
    is_thought: bool,
    is_begun: bool,
    content: String,
}

impl Told {
    fn reasoning(&self, thoughts: &[String]) -> Value {
        let parts: Vec<Value> =
            thoughts.iter().map(|text| json!({ "type": "summary_text", "text": text })).collect();
        json!({ "id": format!("rs_{}", self.key), "type": "reasoning", "summary": parts })
    }

    fn message(&self, content: Option<&str>, status: &str) -> Value {
        let parts: Vec<Value> = content.into_iter().map(text_part).collect();
        json!({
            "id": format!("msg_{}", self.key), "type": "message", "role": "assistant",
            "status": status, "content": parts,
        })
    }

    fn response(&self, status: &str, output: Vec<Value>, usage: Option<Usage>) -> Value {
        let mut response = self.head.clone();
        response["status"] = status.into();
        response["output"] = output.into();
        response["usage"] = usage.map_or(Value::Null, counted);
        response
    }

    fn whole(&self, ended: &Ended) -> Value {
        let status = if ended.cut { "incomplete" } else { "completed" };
        let thoughts = (!ended.thoughts.is_empty()).then(|| self.reasoning(&ended.thoughts));
        let output = thoughts.into_iter().chain([self.message(Some(&ended.content), status)]);
        let mut response = self.response(status, output.collect(), Some(ended.usage));
        if ended.cut {
            response["incomplete_details"] = json!({ "reason": "max_output_tokens" });
        }
        response
    }

    fn failed(&self, fault: &Fault) -> Value {
        let mut response = self.response("failed", vec![], None);
        let view = fault.view();
        response["error"] = json!({ "code": view.code(), "message": view.message() });
        response
    }

    fn stream(
        mut self,
        relay: Relay,
    ) -> impl futures::Stream<Item = live::Pieces> + Send + 'static {
        let response = self.response("in_progress", vec![], None);
        let first = vec![
            self.event("response.created", json!({ "response": response })),
            self.event("response.in_progress", json!({ "response": response })),
        ];
        let told = (self, relay, Shown::default());
        let rest = stream::unfold(told, |(mut told, mut relay, mut shown)| async move {
            let frames = match relay.next().await? {
                Piece::Thought { part, text } => told.think(&mut shown, part, &text),
                Piece::Content(text) => told.say(&mut shown, &text),
                Piece::End(Ok(ended)) => told.end(&mut shown, &ended),
                Piece::End(Err(fault)) => {
                    let response = told.failed(&fault);
                    vec![told.event("response.failed", json!({ "response": response }))]
                }
            };
            Some((frames, (told, relay, shown)))
        });
        stream::iter([first]).chain(rest)
    }

    fn think(&mut self, shown: &mut Shown, part: usize, text: &str) -> Vec<Bytes> {
        let mut frames = vec![];
        if shown.thoughts.is_empty() {
            let item = self.reasoning(&[]);
            let added = json!({ "output_index": 0, "item": item });
            frames.push(self.event("response.output_item.added", added));
        }
        if part >= shown.thoughts.len() {
            frames.extend(self.thought(shown));
            shown.thoughts.push(String::new());
            let part = json!({ "type": "summary_text", "text": "" });
            let added = self.of_thought(shown, json!({ "part": part }));
            frames.push(self.event("response.reasoning_summary_part.added", added));
        }
        if let Some(last) = shown.thoughts.last_mut() {
            last.push_str(text);
        }
        let delta = self.of_thought(shown, json!({ "delta": text }));
        frames.push(self.event("response.reasoning_summary_text.delta", delta));
        frames
    }

    /// The part of the reasoning that has ended.
    fn thought(&mut self, shown: &Shown) -> Vec<Bytes> {
        let Some(text) = shown.thoughts.last() else { return vec![] };
        let done = self.of_thought(shown, json!({ "text": text }));
        let part = json!({ "type": "summary_text", "text": text });
        let part = self.of_thought(shown, json!({ "part": part }));
        vec![
            self.event("response.reasoning_summary_text.done", done),
            self.event("response.reasoning_summary_part.done", part),
        ]
    }

    fn of_thought(&self, shown: &Shown, mut what: Value) -> Value {
        what["item_id"] = format!("rs_{}", self.key).into();
        what["output_index"] = 0.into();
        what["summary_index"] = shown.thoughts.len().saturating_sub(1).into();
        what
    }

    /// The reasoning has ended, and the message begins.
    fn begin(&mut self, shown: &mut Shown) -> Vec<Bytes> {
        let mut frames = vec![];
        if shown.is_begun {
            return frames;
        }
        shown.is_begun = true;
        if !shown.thoughts.is_empty() && !shown.is_thought {
            shown.is_thought = true;
            frames.extend(self.thought(shown));
            let item = self.reasoning(&shown.thoughts);
            let done = json!({ "output_index": 0, "item": item });
            frames.push(self.event("response.output_item.done", done));
        }
        let item = self.message(None, "in_progress");
        let added = json!({ "output_index": shown.place(), "item": item });
        frames.push(self.event("response.output_item.added", added));
        let added = self.of_message(shown, json!({ "part": text_part("") }));
        frames.push(self.event("response.content_part.added", added));
        frames
    }

    fn say(&mut self, shown: &mut Shown, text: &str) -> Vec<Bytes> {
        let mut frames = self.begin(shown);
        shown.content.push_str(text);
        let delta = self.of_message(shown, json!({ "delta": text, "logprobs": [] }));
        frames.push(self.event("response.output_text.delta", delta));
        frames
    }

    fn end(&mut self, shown: &mut Shown, ended: &Ended) -> Vec<Bytes> {
        let mut frames = self.begin(shown);
        let text = shown.content.clone();
        let done = self.of_message(shown, json!({ "text": text, "logprobs": [] }));
        frames.push(self.event("response.output_text.done", done));
        let part = self.of_message(shown, json!({ "part": text_part(&text) }));
        frames.push(self.event("response.content_part.done", part));
        let response = self.whole(ended);
        let item = self.message(Some(&text), response["status"].as_str().unwrap_or_default());
        let done = json!({ "output_index": shown.place(), "item": item });
        frames.push(self.event("response.output_item.done", done));
        let name = if ended.cut { "response.incomplete" } else { "response.completed" };
        frames.push(self.event(name, json!({ "response": response })));
        frames
    }

    fn of_message(&self, shown: &Shown, mut what: Value) -> Value {
        what["item_id"] = format!("msg_{}", self.key).into();
        what["output_index"] = shown.place().into();
        what["content_index"] = 0.into();
        what
    }

    fn event(&mut self, name: &str, mut what: Value) -> Bytes {
        what["type"] = name.into();
        what["sequence_number"] = self.sequence.into();
        self.sequence += 1;
        Bytes::from(format!("event: {name}\ndata: {what}\n\n"))
    }
}

impl Shown {
    /// Where the message stands among what came out.
    fn place(&self) -> usize {
        usize::from(!self.thoughts.is_empty())
    }
}

fn text_part(text: &str) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
}

/// Tokens of all calls, as responses count them.
fn counted(usage: Usage) -> Value {
    let (input, output) = (usage.input_tokens.unwrap_or(0), usage.output_tokens.unwrap_or(0));
    json!({
        "input_tokens": input,
        "input_tokens_details": { "cached_tokens": usage.cached_tokens.unwrap_or(0) },
        "output_tokens": output,
        "output_tokens_details": { "reasoning_tokens": usage.reasoning_tokens.unwrap_or(0) },
        "total_tokens": input + output,
    })
}
