//! Sessions of every form.

use std::pin::pin;
use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use plenary_clerk::budgets::{self, NewBudget};
use plenary_clerk::identity::{self, NewLabel, Proven, Standing};
use plenary_clerk::runs;
use plenary_domain::room;
use plenary_domain::{SessionId, limits};
use plenary_engine::Snapshot;
use plenary_engine::ports::{ListPage, ListQuery};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::routes::{Routes, routes};
use super::{session_id, within};
use crate::App;
use crate::agents::{AgentHeader, Asking};
use crate::error::{Code, Problem, ReadProblems, WriteProblems};
use crate::idempotency::{Key, On, Path, Query};
use crate::kept::{Has, TagHeader, Unchanged};
use crate::views::facts::facts;
use crate::views::{Nothing, Reply, SessionReport, SessionView, page, reply};

pub fn routes() -> Routes {
    Routes::new()
        .routes(routes!(list))
        .routes(routes!(overview))
        .routes(routes!(get, label, remove))
        .routes(routes!(wait))
        .routes(routes!(stop))
        .routes(routes!(allow))
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Filter {
    /// Only this form: `boardroom`, `whiteboard`, `council` or `discussion`.
    #[param(nullable = false)]
    pub kind: Option<String>,
    /// Only what belongs to this project.
    #[param(nullable = false)]
    pub project: Option<String>,
    /// Only this status: a board's phase, `open`, `closed`, `answering` and so on. One
    /// that nothing can have is refused, with those that there are.
    #[param(nullable = false)]
    pub status: Option<String>,
    /// Only what runs, or only what does not.
    #[param(nullable = false)]
    pub active: Option<bool>,
    /// Only what waits for a person's reply, or only what does not.
    #[param(nullable = false)]
    pub waiting: Option<bool>,
    /// Only what is pinned, or only what is not.
    #[param(nullable = false)]
    pub pinned: Option<bool>,
    /// Full-text search: every word must occur, the last one may be a beginning.
    #[param(nullable = false)]
    pub q: Option<String>,
    /// Include each session's progress and outcome.
    #[param(nullable = false)]
    pub facts: Option<bool>,
    /// Results per page.
    #[param(minimum = 1, maximum = 200, nullable = false)]
    pub limit: Option<u32>,
    /// `meta.next` of the page before.
    #[param(format = "uuid", nullable = false)]
    pub cursor: Option<String>,
}

/// Everything, newest first, with full-text search.
#[utoipa::path(get, path = "/api/sessions", tag = "sessions", params(Filter),
    responses((status = 200, body = Reply<Vec<SessionView>>), ReadProblems))]
async fn list(State(app): State<App>, filter: Query<Filter>) -> Result<impl IntoResponse, Problem> {
    show(&app, filter.0).await
}

pub async fn show(app: &App, filter: Filter) -> Result<impl IntoResponse + use<>, Problem> {
    let words = filter.q.clone();
    let with_facts = filter.facts == Some(true);
    let (found, limit) = find(app, filter).await?;
    let mut rows = Vec::with_capacity(found.rows.len());
    for row in found.rows {
        let id = row.id;
        let mut view = SessionView::from(row);
        // One that was removed meanwhile has no facts.
        if with_facts && let Ok(snapshot) = seen_by_all(app, id).await {
            view.facts = Some(facts(&app.clerk, &snapshot.room, words.as_deref()));
        }
        rows.push(view);
    }
    Ok(page(rows, found.total, limit, found.next.map(|id| id.to_string())))
}

/// What goes on, each list newest first.
#[derive(Serialize, ToSchema)]
pub struct Overview {
    /// What waits for a person's reply.
    waiting: Vec<SessionView>,
    /// What runs by itself.
    running: Vec<SessionView>,
    /// What does neither.
    recent: Vec<SessionView>,
}

/// What goes on, in one answer: what waits for somebody, what runs, and what was lately.
#[utoipa::path(get, path = "/api/overview", tag = "sessions", params(TagHeader),
    responses((status = 200, body = Reply<Overview>, headers(("ETag" = String, description = "Says what is in the answer, for `If-None-Match`."))),
        Unchanged, ReadProblems))]
async fn overview(State(app): State<App>, has: Has) -> Result<Response, Problem> {
    let some = async |waiting, active| {
        let limit = Some(limits::OVERVIEW);
        let filter = Filter { waiting: Some(waiting), active, limit, ..Filter::default() };
        let (found, _) = find(&app, filter).await?;
        Ok::<_, Problem>(found.rows.into_iter().map(SessionView::from).collect())
    };
    has.or(Overview {
        waiting: some(true, None).await?,
        running: some(false, Some(true)).await?,
        recent: some(false, Some(false)).await?,
    })
}

/// A session as everybody may see it.
async fn seen_by_all(app: &App, id: SessionId) -> Result<Snapshot, Problem> {
    let nobody = Standing { principal: String::new(), is_agent: true };
    let snapshot = app.engine.get(id).await?;
    Ok(runs::seen(&app.clerk, snapshot, (&nobody, &Proven::Nothing)).await?)
}

/// A page, and how many rows it may have.
pub async fn find(app: &App, filter: Filter) -> Result<(ListPage, u32), Problem> {
    let limit = within("limit", filter.limit.unwrap_or(limits::PAGE), 1, limits::PAGE_MOST)?;
    let cursor = filter.cursor.as_ref().map(|cursor| cursor.parse()).transpose();
    let before = cursor.map_err(|_| {
        Problem::new(Code::InvalidQuery, "`cursor` must be the `meta.next` of an earlier page.")
    })?;
    let (kind, status) = room::filter(filter.kind.as_deref(), filter.status.as_deref())
        .map_err(Problem::in_query)?;
    let (kind, status) = (kind.map(str::to_owned), status.map(str::to_owned));
    let Filter { project, active, waiting, pinned, q: words, .. } = filter;
    let without = room::APART.map(str::to_owned).to_vec();
    let query =
        ListQuery { kind, without, project, status, active, waiting, pinned, words, limit, before };
    Ok((app.engine.list(query).await?, limit))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Detail {
    /// `full` gives the whole record in `result`.
    #[param(nullable = false, inline)]
    detail: Option<DetailName>,
}

#[derive(Clone, Copy, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DetailName {
    Brief,
    Full,
}

/// One session of any kind: its progress, its outcome, what can be done now.
#[utoipa::path(get, path = "/api/sessions/{id}", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The session."), Detail, AgentHeader,
        TagHeader),
    responses((status = 200, body = Reply<SessionReport>, headers(("ETag" = String, description = "Says what is in the answer, for `If-None-Match`."))),
        Unchanged, ReadProblems))]
async fn get(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<Detail>,
    asking: Asking,
    has: Has,
) -> Result<Response, Problem> {
    let full = query.detail == Some(DetailName::Full);
    has.or(report(&app, &asking, session(&app, &id).await?, full).await?)
}

/// More than any `seen` has.
const SEEN_CHARS: usize = 64;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Wait {
    /// How long to wait, at most.
    #[param(minimum = 0, maximum = 600, nullable = false)]
    seconds: Option<u32>,
    /// `seen` of an earlier answer: anything new since then ends the wait.
    #[param(nullable = false, max_length = 64)]
    seen: Option<String>,
}

/// Waits until the session is over, or its progress is not as it was `seen`, or the
/// time is over. Waiting sets nothing in motion, and giving up stops nothing.
#[utoipa::path(get, path = "/api/sessions/{id}/wait", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The session."), Wait, AgentHeader),
    responses((status = 200, body = Reply<SessionReport>), ReadProblems))]
async fn wait(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<Wait>,
    asking: Asking,
) -> Result<impl IntoResponse, Problem> {
    let seconds = query.seconds.unwrap_or(limits::WAIT_SECONDS);
    let seconds = within("seconds", seconds, 0, limits::WAIT_MOST_SECONDS)?;
    if query.seen.as_ref().is_some_and(|seen| seen.chars().count() > SEEN_CHARS) {
        let problem = "`seen` must come from an earlier answer.";
        return Err(Problem::new(Code::InvalidQuery, problem));
    }
    let id = session(&app, &id).await?;
    let mut ended = pin!(app.engine.ended());
    let mut changes = app.engine.changes(id);
    let mut time = app.engine.clock().sleep(Duration::from_secs(seconds.into()));
    loop {
        let report = report(&app, &asking, id, false).await?;
        if report.is_news_to(query.seen.as_deref()) {
            return Ok(reply(report));
        }
        tokio::select! {
            () = &mut time => return Ok(reply(report)),
            () = &mut ended => return Ok(reply(report)),
            () = changes.next() => {}
        }
    }
}

/// Stops what runs at once and keeps what has arrived. A run of a workflow is stopped by
/// whoever started it, and the operator of the server; what seats of a whiteboard are asked
/// by those who lead it.
#[utoipa::path(post, path = "/api/sessions/{id}/stop", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The session."), AgentHeader, Key),
    responses((status = 200, body = Reply<SessionReport>), WriteProblems))]
async fn stop(asking: Asking, on: On<Empty>) -> Result<impl IntoResponse, Problem> {
    let id = session(&on.app, &on.at).await?;
    let caller = asking.about(&on.app, id, on.by).await?;
    let stopped = identity::stop(&on.app.clerk, caller).await?;
    Ok(reply(SessionReport::new(
        &on.app.clerk,
        on.app.engine.row(stopped.id).await?,
        &stopped,
        false,
    )))
}

/// Sets what a session may spend from now on, also one that has spent what it had. For
/// whoever opened it, and the operator of the server.
#[utoipa::path(post, path = "/api/sessions/{id}/budget", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The session."), AgentHeader, Key),
    request_body = NewBudget,
    responses((status = 200, body = Reply<SessionReport>), WriteProblems))]
async fn allow(asking: Asking, on: On<NewBudget>) -> Result<impl IntoResponse, Problem> {
    let id = session(&on.app, &on.at).await?;
    let caller = asking.about(&on.app, id, on.by).await?;
    let allowed = budgets::allow(&on.app.clerk, caller, on.body).await?;
    Ok(reply(SessionReport::new(
        &on.app.clerk,
        on.app.engine.row(allowed.id).await?,
        &allowed,
        false,
    )))
}

/// Gives a session another title, or its original one again, and pins it or not. The record
/// does not change. For the person who opened it, and the operator of the server.
#[utoipa::path(patch, path = "/api/sessions/{id}", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The session."), AgentHeader),
    request_body = NewLabel,
    responses((status = 200, body = Reply<SessionView>), WriteProblems))]
async fn label(asking: Asking, on: On<NewLabel>) -> Result<impl IntoResponse, Problem> {
    let id = session(&on.app, &on.at).await?;
    let caller = asking.about(&on.app, id, on.by).await?;
    Ok(reply(SessionView::from(identity::label(&on.app.clerk, &caller, on.body).await?)))
}

/// Permanently removes a session of any kind and its record. What runs is ended, and its
/// name cannot be reused. For the person who opened it, and the operator of the server.
#[utoipa::path(delete, path = "/api/sessions/{id}", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The session."), AgentHeader),
    responses((status = 200, body = Reply<Nothing>), WriteProblems))]
async fn remove(asking: Asking, on: On<Empty>) -> Result<impl IntoResponse, Problem> {
    let id = session(&on.app, &on.at).await?;
    let caller = asking.about(&on.app, id, on.by).await?;
    identity::remove(&on.app.clerk, &caller).await?;
    Ok(reply(Nothing {}))
}

/// The id of a session of any form. What is stored as a room and is no session, such
/// as the agents, cannot be looked at, stopped or removed by this way.
async fn session(app: &App, text: &str) -> Result<SessionId, Problem> {
    let id = session_id(text)?;
    let row = app.engine.row(id).await?;
    if room::is_session(&row.kind) { Ok(id) } else { Err(Problem::no_such_session(id)) }
}

async fn report(
    app: &App,
    asking: &Asking,
    id: SessionId,
    full: bool,
) -> Result<SessionReport, Problem> {
    let snapshot = asking.sees(app, id, None).await?;
    Ok(SessionReport::new(&app.clerk, app.engine.row(id).await?, &snapshot, full))
}

/// A command without arguments.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Empty {}
