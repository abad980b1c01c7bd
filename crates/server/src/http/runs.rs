//! Runs of workflows: begin, follow, decide, cancel, fork.

use std::future::ready;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use plenary_clerk::runs::{self, Cancelling, KIND, NewDecision, NewFork, NewRun};
use plenary_clerk::shelves;
use plenary_domain::{Report, SessionId};
use plenary_engine::Snapshot;
use serde::Serialize;
use utoipa::ToSchema;

use super::boardrooms::export::{Format, FormatName};
use super::events::After;
use super::routes::{Routes, routes};
use super::session_id;
use super::sessions::{self, Empty, Filter};
use super::{MARKDOWN, document, file_stem, json_document};
use crate::App;
use crate::agents::{self, AgentHeader, Asking, SeatToken};
use crate::auth::Stands;
use crate::error::{Problem, ReadProblems, WriteProblems};
use crate::idempotency::{Change, Key, On, Path, Query};
use crate::kept::{Has, TagHeader, Unchanged};
use crate::live;
use crate::views::runs::RunView;
use crate::views::{self, Reply, SessionView, reply};

pub fn routes() -> Routes {
    Routes::new()
        .routes(routes!(list, begin))
        .routes(routes!(get))
        .routes(routes!(cancel))
        .routes(routes!(fork))
        .routes(routes!(approve))
        .routes(routes!(seats))
        .routes(routes!(export))
        .routes(routes!(events))
}

/// Runs, newest first.
#[utoipa::path(get, path = "/api/runs", tag = "runs", params(Filter),
    responses((status = 200, body = Reply<Vec<SessionView>>), ReadProblems))]
async fn list(State(app): State<App>, filter: Query<Filter>) -> Result<impl IntoResponse, Problem> {
    sessions::show(&app, Filter { kind: Some(KIND.to_owned()), ..filter.0 }).await
}

/// Begins a run of a file. Answers at once; follow the events, or get the run again.
#[utoipa::path(post, path = "/api/runs", tag = "runs", params(Key), request_body = NewRun,
    responses((status = 201, body = Reply<RunView>), WriteProblems))]
async fn begin(
    State(app): State<App>,
    Stands(standing): Stands,
    Change { by, body }: Change<NewRun>,
) -> Result<impl IntoResponse, Problem> {
    created(&app, &runs::begin(&app.clerk, (by, &standing), body).await?).await
}

/// A run with all its steps: what each does, its progress and its outcome.
#[utoipa::path(get, path = "/api/runs/{id}", tag = "runs",
    params(("id" = uuid::Uuid, Path, description = "The run."), AgentHeader, TagHeader),
    responses((status = 200, body = Reply<RunView>, headers(("ETag" = String, description = "Says what is in the answer, for `If-None-Match`."))),
        Unchanged, ReadProblems))]
async fn get(
    State(app): State<App>,
    Path(id): Path<String>,
    asking: Asking,
    has: Has,
) -> Result<Response, Problem> {
    let seen = asking.sees(&app, run_id(&app, &id).await?, None).await?;
    has.or(view(&app, &seen).await?)
}

/// Cancels a run: nothing but `finally` is done from now on, and the sessions that it has
/// opened end with it. For the person who started it, and the operator of the server.
#[utoipa::path(post, path = "/api/runs/{id}/cancel", tag = "runs",
    params(("id" = uuid::Uuid, Path, description = "The run."), Key),
    request_body = Cancelling,
    responses((status = 200, body = Reply<RunView>), WriteProblems))]
async fn cancel(asking: Asking, on: On<Cancelling>) -> Result<impl IntoResponse, Problem> {
    let caller = asking.about(&on.app, run_id(&on.app, &on.at).await?, on.by).await?;
    show(&on.app, &runs::cancel(&on.app.clerk, caller, on.body).await?).await
}

/// Begins a new run that takes over what was settled before a step of this one, so that
/// nothing is asked or paid for twice. For the person who started it, and the operator.
#[utoipa::path(post, path = "/api/runs/{id}/fork", tag = "runs",
    params(("id" = uuid::Uuid, Path, description = "The run."), Key),
    request_body = NewFork,
    responses((status = 201, body = Reply<RunView>), WriteProblems))]
async fn fork(asking: Asking, on: On<NewFork>) -> Result<impl IntoResponse, Problem> {
    let caller = asking.about(&on.app, run_id(&on.app, &on.at).await?, on.by).await?;
    created(&on.app, &runs::fork(&on.app.clerk, caller, on.body).await?).await
}

/// Decides on a step that is waiting for people. The person who decides sends the token that the
/// operator has given them; the operator may say for whom they decide.
#[utoipa::path(post, path = "/api/runs/{id}/steps/{step}/approve", tag = "runs",
    params(
        ("id" = uuid::Uuid, Path, description = "The run."),
        ("step" = String, Path, description = "The step's `place`."),
        AgentHeader, Key),
    request_body = NewDecision,
    responses((status = 200, body = Reply<RunView>), WriteProblems))]
async fn approve(
    asking: Asking,
    on: On<NewDecision, (String, String)>,
) -> Result<impl IntoResponse, Problem> {
    let (id, step) = on.at;
    let caller = asking.about(&on.app, run_id(&on.app, &id).await?, on.by).await?;
    show(&on.app, &runs::decide(&on.app.clerk, caller, step, on.body).await?).await
}

/// Tokens for everyone who is asked to decide, to pass on to them. For the operator of the server:
/// the person who started a run must not be able to approve it.
#[utoipa::path(post, path = "/api/runs/{id}/seats", tag = "runs",
    params(("id" = uuid::Uuid, Path, description = "The run."), Key),
    responses((status = 200, body = Reply<Seats>), WriteProblems))]
async fn seats(Stands(standing): Stands, on: On<Empty>) -> Result<impl IntoResponse, Problem> {
    standing.operates("hand out the tokens of people")?;
    let run = look(&on.app, &on.at).await?;
    Ok(reply(Seats { seat_tokens: agents::seat_tokens(&on.app, &run).await? }))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Seats {
    /// One for each person.
    seat_tokens: Vec<SeatToken>,
}

/// A run's record, as JSON or as Markdown to read.
#[utoipa::path(get, path = "/api/runs/{id}/export", tag = "runs",
    params(("id" = uuid::Uuid, Path, description = "The run."), AgentHeader, Format),
    responses(
        (status = 200, description = "The record.", content(
            (ExportedRun = "application/json"), (String = "text/markdown"))),
        ReadProblems))]
async fn export(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<Format>,
    asking: Asking,
) -> Result<Response, Problem> {
    let snapshot = asking.sees(&app, run_id(&app, &id).await?, None).await?;
    let (state, file) = (runs::run(&snapshot)?, file_stem(&app, &snapshot).await?);
    match query.format.unwrap_or(FormatName::Json) {
        FormatName::Markdown => Ok(document(MARKDOWN, &format!("{file}.md"), state.report(true))),
        FormatName::Json => {
            let exported = ExportedRun {
                format: "plenary.run",
                format_version: 1,
                source: state.source.to_string(),
                run: view(&app, &snapshot).await?,
            };
            json_document(&format!("{file}.json"), &exported)
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportedRun {
    /// Always `plenary.run`.
    format: &'static str,
    format_version: u32,
    /// The file as it was written.
    source: String,
    run: RunView,
}

/// Everything that happens in a run, live: each event with an `id`, and between them
/// answers as they are written (`delta`).
#[utoipa::path(get, path = "/api/runs/{id}/events", tag = "runs",
    params(("id" = uuid::Uuid, Path, description = "The run."), AgentHeader, After),
    responses((status = 200, body = String, content_type = "text/event-stream"), ReadProblems))]
async fn events(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<After>,
    asking: Asking,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let after = live::after(&headers, query.after)?.unwrap_or(0);
    let id = run_id(&app, &id).await?;
    let was_veiled = is_veiled(&app, &asking, id).await?;
    let frames = app.engine.watch(id, after).await?;
    let told = frames.then(move |frame| {
        let (app, asking) = (app.clone(), asking.clone());
        async move {
            // Whoever was told nothing comes back and is told all; whoever must not be told
            // any more comes back and is told nothing.
            let is_veiled = is_veiled(&app, &asking, id).await.unwrap_or(true);
            match (was_veiled, is_veiled) {
                (false, false) => Some(live::frame(frame)),
                (true, true) => Some(vec![]),
                (true, false) | (false, true) => None,
            }
        }
    });
    let told = told.take_while(|pieces| ready(pieces.is_some())).filter_map(ready);
    Ok(live::respond(told))
}

async fn is_veiled(app: &App, asking: &Asking, id: SessionId) -> Result<bool, Problem> {
    Ok(runs::run(&asking.sees(app, id, None).await?)?.is_veiled)
}

/// The id of a run. A session of another form is no run: what it hides must not be had by
/// this way.
async fn run_id(app: &App, text: &str) -> Result<SessionId, Problem> {
    Ok(app.clerk.row(session_id(text)?, KIND).await?.id)
}

async fn look(app: &App, text: &str) -> Result<Snapshot, Problem> {
    Ok(app.engine.get(run_id(app, text).await?).await?)
}

/// A new run, and where it is.
pub async fn created(app: &App, begun: &Snapshot) -> Result<impl IntoResponse + use<>, Problem> {
    let place = [(header::LOCATION, format!("/api/runs/{}", begun.id))];
    Ok((StatusCode::CREATED, place, reply(view(app, begun).await?)))
}

async fn show(app: &App, snapshot: &Snapshot) -> Result<impl IntoResponse + use<>, Problem> {
    Ok(reply(view(app, snapshot).await?))
}

async fn view(app: &App, snapshot: &Snapshot) -> Result<RunView, Problem> {
    let state = runs::run(snapshot)?;
    let newer = shelves::newer(&app.clerk, &state.definition.name, &state.source).await?;
    Ok(views::runs::run(snapshot.id, snapshot.version, state, newer, &app.clerk))
}
