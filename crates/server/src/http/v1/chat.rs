//! Chat completions: the messages convene a board or go on with it, and the verdict is the
//! answer.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use futures::stream;
use plenary_clerk::Clerk;
use plenary_clerk::conversations::Conversation;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::input::{Content, Heard, Wrong};
use super::problem::Faults;
use super::relay::{Ended, Piece, Relay};
use super::{
    Metadata, Own, Session, answer_tokens, counted, metadata, session, unsupported, with_session,
};
use crate::App;
use crate::error::Problem;
use crate::http::routes::{Routes, routes};
use crate::idempotency::{Change, Key};
use crate::live;

pub fn routes() -> Routes {
    Routes::new().routes(routes!(complete))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OpenAiChat)]
#[allow(dead_code, reason = "what is ignored is taken so that clients may send it")]
pub struct Request {
    /// A board (`plenary/classic-triad`) or a model (`ollama/llama3.2`).
    model: String,
    #[schema(min_items = 1)]
    messages: Vec<Message>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    /// Tokens of the verdict, at most. The older name of `max_completion_tokens`.
    max_tokens: Option<u32>,
    max_completion_tokens: Option<u32>,
    response_format: Option<Format>,
    /// Only 1.
    n: Option<u32>,
    /// `plenary_session` names the board that the conversation goes on with.
    metadata: Option<Metadata>,
    plenary: Option<Own>,
    /// Refused where it demands a call.
    tool_choice: Option<Value>,
    /// Refused where it demands a call.
    function_call: Option<Value>,
    /// Refused.
    stop: Option<Value>,
    /// Refused when true.
    logprobs: Option<bool>,
    /// Refused.
    top_logprobs: Option<u32>,
    /// Refused.
    audio: Option<Value>,
    /// Refused where it names more than text.
    modalities: Option<Vec<String>>,
    /// Ignored: a board calls no tools, and a model may always answer without one.
    tools: Option<Value>,
    /// Ignored, like the rest.
    functions: Option<Value>,
    parallel_tool_calls: Option<Value>,
    temperature: Option<Value>,
    top_p: Option<Value>,
    presence_penalty: Option<Value>,
    frequency_penalty: Option<Value>,
    logit_bias: Option<Value>,
    seed: Option<Value>,
    user: Option<Value>,
    store: Option<Value>,
    service_tier: Option<Value>,
    reasoning_effort: Option<Value>,
    verbosity: Option<Value>,
    prediction: Option<Value>,
    prompt_cache_key: Option<Value>,
    prompt_cache_retention: Option<Value>,
    safety_identifier: Option<Value>,
    web_search_options: Option<Value>,
}

#[derive(Deserialize, ToSchema)]
#[schema(as = OpenAiMessage)]
pub struct Message {
    /// `system`, `developer`, `user`, `assistant` or `tool`.
    role: String,
    content: Option<Content>,
}

#[derive(Deserialize, ToSchema)]
#[schema(as = OpenAiStreamOptions)]
pub struct StreamOptions {
    include_usage: Option<bool>,
}

#[derive(Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schema(as = OpenAiFormat)]
pub enum Format {
    Text,
    JsonObject,
    /// The verdict follows this schema, or there is none.
    JsonSchema {
        json_schema: Schema,
    },
}

#[derive(Deserialize, ToSchema)]
#[schema(as = OpenAiSchema)]
pub struct Schema {
    schema: Option<Value>,
}

impl Format {
    fn schema(self) -> Option<Value> {
        let any = || json!({ "type": "object" });
        match self {
            Format::Text => None,
            Format::JsonObject => Some(any()),
            Format::JsonSchema { json_schema } => Some(json_schema.schema.unwrap_or_else(any)),
        }
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = OpenAiCompletion)]
pub struct Completion {
    id: String,
    object: &'static str,
    /// Seconds since 1970.
    created: i64,
    model: String,
    choices: Vec<Choice>,
    /// Of all calls that the board has made for it.
    usage: Value,
    /// What was sent, and the session as `plenary_session`.
    metadata: Metadata,
}

#[derive(Serialize, ToSchema)]
#[schema(as = OpenAiChoice)]
pub struct Choice {
    index: u32,
    message: Answer,
    /// `stop`, or `length` for a verdict that reached a limit on its length.
    finish_reason: &'static str,
    logprobs: Option<Value>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = OpenAiAnswer)]
pub struct Answer {
    role: &'static str,
    content: String,
    /// What the advisors have said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reasoning_content: Option<String>,
    refusal: Option<String>,
}

/// Asks a board as if it were a model: it is convened, or continues where the messages
/// before the last one are a conversation with it, and its verdict is the answer. With
/// `stream`, what the advisors say comes as `reasoning_content`. Disconnecting before
/// the end stops what the request started.
#[utoipa::path(post, path = "/v1/chat/completions", tag = "v1",
    request_body = Request,
    params(Key, Session),
    responses(
        (status = 200, content(
            (Completion = "application/json"), (String = "text/event-stream")),
            headers(("x-plenary-session" = String, description = "The board."))),
        Faults))]
async fn complete(
    State(app): State<App>,
    headers: HeaderMap,
    Change { by, body }: Change<Request>,
) -> Result<Response, Problem> {
    let (stream, options) = (body.stream.unwrap_or(false), body.stream_options.as_ref());
    let with_usage = options.is_some_and(|options| options.include_usage == Some(true));
    let (model, given) = (body.model.clone(), body.metadata.clone());
    let conversation = body.heard(&app.clerk, &headers).await?;
    let created = app.engine.clock().now().as_second();
    let relay = super::ask(app, by, conversation).await?;
    let id = relay.id;
    let told = Told {
        id: format!("chatcmpl-{}-{}", id.0.simple(), relay.round),
        created,
        model,
        metadata: metadata(given, id),
        with_usage,
    };
    let response = match stream {
        true => live::respond(told.stream(relay)),
        false => match relay.ended().await {
            Ok(ended) => Json(told.whole(ended)).into_response(),
            Err(fault) => fault.into_response(),
        },
    };
    Ok(with_session(response, id))
}

impl Request {
    /// The conversation that it is, or every parameter that is wrong.
    async fn heard(self, clerk: &Clerk, headers: &HeaderMap) -> Result<Conversation, Problem> {
        let mut wrong = self.unsupported();
        let session = session(headers, self.plenary.as_ref(), self.metadata.as_ref())?;
        let mut heard = Heard::default();
        for (place, message) in self.messages.into_iter().enumerate() {
            let field = format!("messages[{place}]");
            heard.take(clerk, &mut wrong, &field, (&message.role, message.content)).await;
        }
        heard.check(&mut wrong, "messages");
        let newer = answer_tokens(&mut wrong, "max_completion_tokens", self.max_completion_tokens);
        let older = answer_tokens(&mut wrong, "max_tokens", self.max_tokens);
        if !wrong.is_empty() {
            return Err(Problem::invalid(wrong));
        }
        Ok(Conversation {
            model: self.model,
            instructions: heard.instructions(),
            turns: heard.turns,
            schema: self.response_format.and_then(Format::schema),
            answer_tokens: newer.or(older),
            session,
            settings: self.plenary.unwrap_or_default().into(),
        })
    }

    fn unsupported(&self) -> Wrong {
        let is_given = |value: &Option<Value>| match value {
            None | Some(Value::Null) => false,
            Some(Value::Array(items)) => !items.is_empty(),
            Some(_) => true,
        };
        let demands = |choice: &Option<Value>| match choice {
            None | Some(Value::Null) => false,
            Some(choice) => !matches!(choice.as_str(), Some("auto" | "none")),
        };
        let texts = self.modalities.iter().flatten().all(|modality| modality == "text");
        [
            ("n", self.n.is_some_and(|n| n != 1)),
            ("stop", is_given(&self.stop)),
            ("logprobs", self.logprobs == Some(true)),
            ("top_logprobs", self.top_logprobs.is_some_and(|count| count > 0)),
            ("audio", is_given(&self.audio)),
            ("modalities", !texts),
            ("tool_choice", demands(&self.tool_choice)),
            ("function_call", demands(&self.function_call)),
        ]
        .into_iter()
        .filter(|(_, is_asked_for)| *is_asked_for)
        .map(|(name, _)| unsupported(name))
        .collect()
    }
}

/// What stands in every answer.
struct Told {
    id: String,
    created: i64,
    model: String,
    metadata: Metadata,
    with_usage: bool,
}

impl Told {
    fn whole(self, ended: Ended) -> Completion {
        let finish_reason = finish_reason(&ended);
        let message = Answer {
            role: "assistant",
            reasoning_content: Some(ended.thoughts.join("\n\n")).filter(|all| !all.is_empty()),
            content: ended.content,
            refusal: None,
        };
        Completion {
            id: self.id,
            object: "chat.completion",
            created: self.created,
            model: self.model,
            choices: vec![Choice { index: 0, message, finish_reason, logprobs: None }],
            usage: counted(ended.usage),
            metadata: self.metadata,
        }
    }

    fn stream(self, relay: Relay) -> impl futures::Stream<Item = live::Pieces> + Send + 'static {
        let first = self.chunk(json!({ "role": "assistant", "content": "" }), None);
        let told = (self, relay, 0);
        let rest = stream::unfold(told, |(told, mut relay, mut part)| async move {
            let frames = match relay.next().await? {
                Piece::Thought { part: of, text } => {
                    let between = if of > part { "\n\n" } else { "" };
                    part = of;
                    let text = format!("{between}{text}");
                    vec![told.chunk(json!({ "reasoning_content": text }), None)]
                }
                Piece::Content(text) => vec![told.chunk(json!({ "content": text }), None)],
                Piece::End(Ok(ended)) => told.last(&ended),
                Piece::End(Err(fault)) => vec![data(&json!({ "error": fault.view() }))],
            };
            Some((frames, (told, relay, part)))
        });
        futures::StreamExt::chain(stream::iter([vec![first]]), rest)
    }

    fn chunk(&self, delta: Value, finish_reason: Option<&str>) -> Bytes {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish_reason });
        let mut chunk = self.frame(json!([choice]));
        if self.with_usage {
            chunk["usage"] = Value::Null;
        }
        data(&chunk)
    }

    fn last(&self, ended: &Ended) -> Vec<Bytes> {
        let mut frames = vec![self.chunk(json!({}), Some(finish_reason(ended)))];
        if self.with_usage {
            let mut chunk = self.frame(json!([]));
            chunk["usage"] = counted(ended.usage);
            frames.push(data(&chunk));
        }
        frames.push(Bytes::from_static(b"data: [DONE]\n\n"));
        frames
    }

    fn frame(&self, choices: Value) -> Value {
        json!({
            "id": self.id, "object": "chat.completion.chunk", "created": self.created,
            "model": self.model, "choices": choices, "metadata": self.metadata,
        })
    }
}

fn finish_reason(ended: &Ended) -> &'static str {
    if ended.cut { "length" } else { "stop" }
}

fn data(value: &Value) -> Bytes {
    Bytes::from(format!("data: {value}\n\n"))
}
