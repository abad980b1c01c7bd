//! A board as a model, for programs that speak with OpenAI: it is convened by what they
//! send, and answers with the verdict.

mod chat;
mod input;
mod models;
mod problem;
mod relay;
mod responses;

use std::collections::BTreeMap;

use axum::http::HeaderMap;
use axum::response::Response;
use plenary_clerk::boardrooms::NewQuorum;
use plenary_clerk::budgets::NewBudget;
use plenary_clerk::conversations::{self, Conversation, Settings};
use plenary_domain::{SessionId, Usage, limits};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::routes::Routes;
use crate::App;
use crate::error::{Code, Problem};
use plenary_engine::By;
pub use problem::{FaultBody, in_shape};
use relay::Relay;

/// Where the session is told, and where it may be given to go on with.
pub const SESSION: &str = "x-plenary-session";
/// The same among a request's metadata.
const METADATA: &str = "plenary_session";

pub fn routes() -> Routes {
    Routes::new().merge(models::routes()).merge(chat::routes()).merge(responses::routes())
}

/// The board that a conversation goes on with, for the OpenAPI document.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[allow(dead_code, reason = "it stands in the OpenAPI document only")]
pub struct Session {
    /// The board to continue the conversation with. Without it the board is found by the messages
    /// before the last one.
    #[param(rename = "x-plenary-session", nullable = false)]
    session: Option<uuid::Uuid>,
}

/// What is no parameter of OpenAI's.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = OpenAiExtension)]
pub struct Own {
    /// The board that the conversation goes on with.
    session: Option<uuid::Uuid>,
    /// What follows counts when a board is convened.
    budget: Option<NewBudget>,
    /// Models to seat round-robin; those available, if there is none.
    models: Option<Vec<String>>,
    /// Who writes the synthesis.
    synthesizer: Option<String>,
    quorum: Option<NewQuorum>,
}

impl From<Own> for Settings {
    fn from(own: Own) -> Self {
        let Own { session: _, budget, models, synthesizer, quorum } = own;
        Settings { budget, models, synthesizer, quorum }
    }
}

pub type Metadata = BTreeMap<String, String>;

/// The session that a request names: in its header, its own field or its metadata.
fn session(headers: &HeaderMap, own: Option<&Own>, metadata: Option<&Metadata>) -> Named {
    let header = headers.get(SESSION).map(|value| value.to_str().unwrap_or("?").to_owned());
    let own = own.and_then(|own| own.session).map(|id| id.to_string());
    let named = header.or(own).or_else(|| metadata?.get(METADATA).cloned());
    named.map(|text| super::session_id(&text)).transpose()
}

type Named = Result<Option<SessionId>, Problem>;

/// Asks, and follows what comes of it.
async fn ask(app: App, by: By, conversation: Conversation) -> Result<Relay, Problem> {
    let actor = by.actor.clone();
    let (model, words) = (conversation.model.clone(), conversation.words());
    let taken = conversations::ask(&app.clerk, by, conversation).await;
    let taken = taken.map_err(|error| unknown_model(error.into()))?;
    Relay::follow(app, actor, taken, (model, words)).await
}

/// A wrong name is told as OpenAI tells it.
fn unknown_model(problem: Problem) -> Problem {
    let said = problem.said();
    match said.fields.as_slice() {
        [("model", why)] => {
            let message = format!("This model cannot be used: {why}.");
            Problem::new(Code::NotFound, message).field("model", *why)
        }
        _ => problem,
    }
}

/// What a request brought, and under which session.
fn metadata(given: Option<Metadata>, id: SessionId) -> Metadata {
    let mut all = given.unwrap_or_default();
    all.insert(METADATA.to_owned(), id.to_string());
    all
}

fn with_session(mut response: Response, id: SessionId) -> Response {
    if let Ok(value) = id.to_string().parse() {
        response.headers_mut().insert(SESSION, value);
    }
    response
}

/// Tokens of all calls, as chat completions count them.
fn counted(usage: Usage) -> Value {
    let (input, output) = (usage.input_tokens.unwrap_or(0), usage.output_tokens.unwrap_or(0));
    json!({
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input + output,
        "prompt_tokens_details": { "cached_tokens": usage.cached_tokens.unwrap_or(0) },
        "completion_tokens_details": { "reasoning_tokens": usage.reasoning_tokens.unwrap_or(0) },
    })
}

/// What a parameter gives for the verdict, if a board can keep to it.
fn answer_tokens(
    wrong: &mut Vec<(String, String)>,
    parameter: &str,
    tokens: Option<u32>,
) -> Option<u32> {
    let (least, most) = (limits::OUTPUT_TOKENS_LEAST, limits::OUTPUT_TOKENS_MOST);
    if tokens.is_some_and(|tokens| !(least..=most).contains(&tokens)) {
        wrong.push((parameter.to_owned(), format!("must be from {least} to {most}")));
    }
    tokens
}

/// What OpenAI has and a board has not.
fn unsupported(parameter: &str) -> (String, String) {
    (parameter.to_owned(), "is not supported by boards".to_owned())
}
