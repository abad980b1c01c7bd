//! Signals: what workflows wait for.

use axum::extract::State;
use axum::response::IntoResponse;
use plenary_clerk::signals::{self, NewSignal, Waiting};
use serde::Serialize;
use utoipa::ToSchema;

use super::routes::{Routes, routes};
use crate::App;
use crate::error::{Problem, WriteProblems};
use crate::idempotency::{Change, Key};
use crate::views::{Reply, reply};

pub fn routes() -> Routes {
    Routes::new().routes(routes!(send))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SentSignal {
    name: String,
    /// Which it was under its name, from 1.
    number: u64,
    /// Steps that waited for it, all of which go on.
    matched: Vec<WaitingView>,
    /// Steps that wait for a signal of this name that differs.
    nearly: Vec<WaitingView>,
}

#[derive(Serialize, ToSchema)]
pub struct WaitingView {
    run: uuid::Uuid,
    step: String,
    /// The fields that would have to be others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    differs: Vec<String>,
}

/// Sends a signal. Every wait that it matches continues; those that begin later in a run
/// that had begun by now find it too.
#[utoipa::path(post, path = "/api/signals", tag = "signals", params(Key),
    request_body = NewSignal,
    responses((status = 200, body = Reply<SentSignal>), WriteProblems))]
async fn send(
    State(app): State<App>,
    Change { by, body }: Change<NewSignal>,
) -> Result<impl IntoResponse, Problem> {
    let name = body.name.clone();
    let sent = signals::send(&app.clerk, by, body).await?;
    let (matched, nearly) = (views(sent.matched), views(sent.nearly));
    Ok(reply(SentSignal { name, number: sent.number, matched, nearly }))
}

fn views(waiting: Vec<Waiting>) -> Vec<WaitingView> {
    let view = |Waiting { run, step, differs }| WaitingView { run: run.0, step, differs };
    waiting.into_iter().map(view).collect()
}
