//! Whiteboards: open, register, post, annotate, vote, move on, read, archive.

mod admission;
mod export;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use plenary_clerk::ClerkError;
use plenary_clerk::identity::Caller;
use plenary_clerk::whiteboards::{
    self, KIND, Move, NewAgent, NewAnnotation, NewBoardSeat, NewPost, NewVote, NewWhiteboard,
    PhaseName, board,
};
use plenary_domain::whiteboard::Shown;
use plenary_domain::{AgentName, Viewer, limits, view};
use plenary_engine::{By, Snapshot};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::events::After;
use super::routes::{Routes, routes};
use super::sessions::{self, Filter};
use super::within;
use crate::App;
use crate::agents::{self, AgentHeader, Asking, Proof};
use crate::auth::Stands;
use crate::error::{Code, Problem, ReadProblems, WriteProblems};
use crate::idempotency::{Change, Key, On, Path, Query};
use crate::kept::{Has, Kept, TagHeader, Unchanged, Which};
use crate::live;
use crate::views::whiteboards::{
    self as views, AgentView, ConflictView, Part, PostView, SeatView, WhiteboardSummary,
    WhiteboardView,
};
use crate::views::{Reply, SessionView, page, reply};

pub fn routes() -> Routes {
    Routes::new()
        .routes(routes!(list, open))
        .routes(routes!(state))
        .routes(routes!(register))
        .routes(routes!(admission::invite))
        .routes(routes!(admission::renew_token))
        .routes(routes!(seat))
        .routes(routes!(post))
        .routes(routes!(annotate))
        .routes(routes!(vote))
        .routes(routes!(transition))
        .routes(routes!(conflicts))
        .routes(routes!(summarize))
        .routes(routes!(export::archive))
        .routes(routes!(export::export))
        .routes(routes!(events))
}

/// Whiteboards, newest first.
#[utoipa::path(get, path = "/api/whiteboards", tag = "whiteboards", params(Filter),
    responses((status = 200, body = Reply<Vec<SessionView>>), ReadProblems))]
async fn list(State(app): State<App>, filter: Query<Filter>) -> Result<impl IntoResponse, Problem> {
    sessions::show(&app, Filter { kind: Some(KIND.to_owned()), ..filter.0 }).await
}

/// Who you are on a board from now on.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Registered {
    board_id: String,
    session_id: uuid::Uuid,
    #[serde(flatten)]
    agent: AgentView,
    phase: PhaseName,
    /// Proves that you are this agent: send it as `Agent-Token`. It is not shown
    /// again to others.
    agent_token: String,
    /// Of a board that you have opened with `admission: invited`: whoever registers with it
    /// in the blind phase may lead. Hand it to those alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    invitation: Option<String>,
    allowed: Vec<&'static str>,
    next: Vec<String>,
}

/// Opens a board in its blind phase, with you as facilitator.
#[utoipa::path(post, path = "/api/whiteboards", tag = "whiteboards", params(Key),
    request_body = NewWhiteboard,
    responses((status = 201, body = Reply<Registered>), WriteProblems))]
async fn open(
    State(app): State<App>,
    Stands(standing): Stands,
    Change { by, body }: Change<NewWhiteboard>,
) -> Result<impl IntoResponse, Problem> {
    let opener = AgentName(body.opened_by.clone());
    let opened = whiteboards::open(&app.clerk, None, (by, &standing), body).await?;
    let place = [(header::LOCATION, format!("/api/whiteboards/{}", board(&opened)?.name()))];
    let mut you = registered(&app, &opened, &opener, 0).await?;
    // What was made anew since is not for whoever repeats an old request.
    if board(&opened)?.invitation().is_some() {
        you.invitation = Some(agents::code(&app, opened.id, &Proof::Invitation(0)).await?);
    }
    Ok((StatusCode::CREATED, place, reply(you)))
}

/// Registers an agent. A second time with the same role and domain changes nothing;
/// it needs the agent's token.
#[utoipa::path(post, path = "/api/whiteboards/{board}/agents", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), AgentHeader, Key),
    request_body = NewAgent,
    responses((status = 200, body = Reply<Registered>), WriteProblems))]
async fn register(asking: Asking, on: On<NewAgent>) -> Result<impl IntoResponse, Problem> {
    let caller = asked(&on.app, &on.at, asking, on.by).await?;
    let (agent, role) = (AgentName(on.body.agent_name.clone()), on.body.role.into());
    let invitation = on.body.invitation.as_deref();
    let shown = agents::shown(&on.app, &caller, (&agent, role), invitation).await?;
    let snapshot = whiteboards::register(&on.app.clerk, caller, shown, on.body).await?;
    // What was made anew since is not for whoever repeats an old request.
    let renewals = if shown == Shown::Token { board(&snapshot)?.renewals(&agent) } else { 0 };
    Ok(reply(registered(&on.app, &snapshot, &agent, renewals).await?))
}

async fn registered(
    app: &App,
    snapshot: &Snapshot,
    agent: &AgentName,
    renewals: u32,
) -> Result<Registered, Problem> {
    let viewer = Viewer::Agent(agent.clone());
    let glance = view::glance(board(snapshot)?, &viewer);
    let not_yours = || ClerkError::NotYourAgent { agent: agent.clone(), proven: None };
    let member = glance.viewer.ok_or_else(not_yours)?;
    Ok(Registered {
        board_id: glance.name.to_owned(),
        session_id: snapshot.id.0,
        agent: views::agent(member),
        phase: glance.phase.into(),
        agent_token: agents::code(app, snapshot.id, &Proof::Agent(agent, renewals)).await?,
        invitation: None,
        allowed: glance.allowed,
        next: glance.next,
    })
}

/// What was written, and what can be done next.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Written {
    board_id: String,
    phase: PhaseName,
    post_id: String,
    /// Of an annotation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    annotation_id: Option<String>,
    /// The post as it stands, without bodies.
    post: PostView,
    allowed: Vec<&'static str>,
    next: Vec<String>,
}

/// Seats a model or a stored agent as a specialist, which then takes part by itself; for
/// facilitators and operators. One that sits there already is asked again for what it has
/// failed at, by this model.
#[utoipa::path(post, path = "/api/whiteboards/{board}/seats", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), AgentHeader, Key),
    request_body = NewBoardSeat,
    responses((status = 200, body = Reply<SeatView>), WriteProblems))]
async fn seat(asking: Asking, on: On<NewBoardSeat>) -> Result<impl IntoResponse, Problem> {
    let caller = asked(&on.app, &on.at, asking, on.by).await?;
    let name = AgentName(on.body.name.clone());
    let (snapshot, viewer) = whiteboards::seat(&on.app.clerk, caller, on.body).await?;
    let seen = view::board(board(&snapshot)?, &viewer);
    let own = seen.seats.iter().find(|seat| seat.sitter.name == name);
    Ok(reply(views::seat(own.ok_or(ClerkError::Unreadable("seat"))?)))
}

/// Posts. In the blind phase nobody else sees it before the board goes to read.
#[utoipa::path(post, path = "/api/whiteboards/{board}/posts", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), AgentHeader, Key),
    request_body = NewPost,
    responses((status = 200, body = Reply<Written>), WriteProblems))]
async fn post(asking: Asking, on: On<NewPost>) -> Result<impl IntoResponse, Problem> {
    let caller = asked(&on.app, &on.at, asking, on.by).await?;
    written(whiteboards::post(&on.app.clerk, caller, on.body).await?)
}

/// Annotates a post of another, or answers for one's own.
#[utoipa::path(post, path = "/api/whiteboards/{board}/annotations", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), AgentHeader, Key),
    request_body = NewAnnotation,
    responses((status = 200, body = Reply<Written>), WriteProblems))]
async fn annotate(asking: Asking, on: On<NewAnnotation>) -> Result<impl IntoResponse, Problem> {
    let caller = asked(&on.app, &on.at, asking, on.by).await?;
    written(whiteboards::annotate(&on.app.clerk, caller, on.body).await?)
}

/// Votes on a post of another, in debate. A second vote replaces the first.
#[utoipa::path(post, path = "/api/whiteboards/{board}/votes", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), AgentHeader, Key),
    request_body = NewVote,
    responses((status = 200, body = Reply<Written>), WriteProblems))]
async fn vote(asking: Asking, on: On<NewVote>) -> Result<impl IntoResponse, Problem> {
    let caller = asked(&on.app, &on.at, asking, on.by).await?;
    written(whiteboards::vote(&on.app.clerk, caller, on.body).await?)
}

/// Moves the board on. For facilitators and operators.
#[utoipa::path(post, path = "/api/whiteboards/{board}/transition", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), AgentHeader, Key),
    request_body = Move,
    responses((status = 200, body = Reply<WhiteboardSummary>), WriteProblems))]
async fn transition(asking: Asking, on: On<Move>) -> Result<impl IntoResponse, Problem> {
    let caller = asked(&on.app, &on.at, asking, on.by).await?;
    let (snapshot, viewer) = whiteboards::transition(&on.app.clerk, caller, on.body).await?;
    Ok(reply(views::summary(&view::board(board(&snapshot)?, &viewer))))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Reading {
    /// `full` gives bodies and reasons.
    #[param(nullable = false, inline)]
    detail: Option<sessions::DetailName>,
    /// Posts of a page.
    #[param(minimum = 1, maximum = 200, nullable = false)]
    limit: Option<u32>,
    /// `nextCursor` of the page before.
    #[param(nullable = false, pattern = "^[0-9]{1,9}$")]
    cursor: Option<String>,
    /// `version` of an earlier answer: only the posts that have changed since then, where
    /// that can be said (`changedSince`).
    #[param(minimum = 0, maximum = 1_000_000_000, nullable = false)]
    since: Option<u32>,
}

/// The board as you see it. With an agent token: as that agent.
#[utoipa::path(get, path = "/api/whiteboards/{board}", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), Reading, AgentHeader,
        TagHeader),
    responses((status = 200, body = Reply<WhiteboardView>, headers(("ETag" = String, description = "Says what is in the answer, for `If-None-Match`."))),
        Unchanged, ReadProblems))]
async fn state(
    State(app): State<App>,
    Path(name): Path<String>,
    asking: Asking,
    Query(query): Query<Reading>,
    has: Has,
) -> Result<Response, Problem> {
    let bodies = query.detail == Some(sessions::DetailName::Full);
    let (from, limit) = window(query.cursor.as_deref(), query.limit)?;
    let (snapshot, viewer) = look(&app, &name, asking).await?;
    let since =
        query.since.map(|since| within("since", since, 0, limits::SEQUENCE_MOST)).transpose()?;
    let part = Part { bodies, from, limit, since: since.map(u64::from) };
    let view = || -> Result<_, Problem> {
        let seen = view::board(board(&snapshot)?, &viewer);
        Ok(views::whiteboard(&app.clerk, snapshot.id, &seen, part))
    };
    match viewer {
        Viewer::Agent(_) => has.or(view()?),
        Viewer::Outsider => {
            let which = Which::Whiteboard(part);
            Kept::or(&app, &snapshot, which, &has, view)
        }
    }
}

/// Counts, tallies, what survives and what is open; no bodies.
#[utoipa::path(get, path = "/api/whiteboards/{board}/summary", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), AgentHeader),
    responses((status = 200, body = Reply<WhiteboardSummary>), ReadProblems))]
async fn summarize(
    State(app): State<App>,
    Path(name): Path<String>,
    asking: Asking,
) -> Result<impl IntoResponse, Problem> {
    let (snapshot, viewer) = look(&app, &name, asking).await?;
    Ok(reply(views::summary(&view::board(board(&snapshot)?, &viewer))))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Window {
    /// Conflicts of a page.
    #[param(minimum = 1, maximum = 200, nullable = false)]
    limit: Option<u32>,
    /// `meta.next` of the page before.
    #[param(nullable = false, pattern = "^[0-9]{1,9}$")]
    cursor: Option<String>,
}

/// Posts that get in each other's way: `direct_overlap`, `cascade_collision`,
/// `severity_disagreement`. Not in the blind phase. After 10,000 the search ends.
#[utoipa::path(get, path = "/api/whiteboards/{board}/conflicts", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), Window, AgentHeader),
    responses((status = 200, body = Reply<Vec<ConflictView>>), WriteProblems))]
async fn conflicts(
    State(app): State<App>,
    Path(name): Path<String>,
    asking: Asking,
    Query(query): Query<Window>,
) -> Result<impl IntoResponse, Problem> {
    let (from, limit) = window(query.cursor.as_deref(), query.limit)?;
    let (snapshot, _) = look(&app, &name, asking).await?;
    let found = view::board_conflicts(board(&snapshot)?)?;
    let shown = found.iter().skip(from).take(limit).map(views::conflict).collect::<Vec<_>>();
    let next = (from + limit < found.len()).then(|| (from + limit).to_string());
    Ok(page(shown, found.len() as u64, limit as u32, next))
}

/// Everything you can see happen on a board, live. `id` counts what you see; a
/// reader that comes with `Last-Event-ID` gets everything after it, then live. What
/// was hidden comes when it may be seen.
#[utoipa::path(get, path = "/api/whiteboards/{board}/events", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), After, AgentHeader),
    responses((status = 200, body = String, content_type = "text/event-stream"), ReadProblems))]
async fn events(
    State(app): State<App>,
    Path(name): Path<String>,
    asking: Asking,
    Query(query): Query<After>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let after = live::after(&headers, query.after)?.unwrap_or(0);
    let id = app.engine.named(KIND, &name).await?;
    // Before the token is compared: one that is made anew meanwhile is not overlooked.
    let before = app.engine.get(id).await?;
    let viewer = asking.proven(&app, id).await?.viewer()?;
    let renewals = match &viewer {
        Viewer::Agent(agent) => before.room.renewals(agent),
        Viewer::Outsider => 0,
    };
    // From the first one on: what this viewer has seen is counted, not what happened.
    let frames = app.engine.watch(id, 0).await?;
    Ok(live::respond(live::seen(app.engine.clone(), frames, (viewer, renewals), after)))
}

fn written(done: whiteboards::Written) -> Result<Json<Reply<Written>>, Problem> {
    let (state, viewer) = (board(&done.snapshot)?, done.viewer);
    let seen = view::post(state, &viewer, &done.post);
    let seen = seen.ok_or_else(whiteboards::no_such_post)?;
    let glance = view::glance(state, &viewer);
    Ok(reply(Written {
        board_id: glance.name.to_owned(),
        phase: glance.phase.into(),
        post_id: seen.post.id.0.clone(),
        annotation_id: done.annotation.map(|id| id.0),
        post: views::post(&seen, false),
        allowed: glance.allowed,
        next: glance.next,
    }))
}

/// The board that is named, and who asks for a change of it.
async fn asked(app: &App, name: &str, asking: Asking, by: By) -> Result<Caller, Problem> {
    asking.about(app, app.engine.named(KIND, name).await?, by).await
}

async fn look(app: &App, name: &str, asking: Asking) -> Result<(Snapshot, Viewer), Problem> {
    let id = app.engine.named(KIND, name).await?;
    let viewer = asking.proven(app, id).await?.viewer()?;
    Ok((app.engine.get(id).await?, viewer))
}

/// The first row and how many.
fn window(cursor: Option<&str>, limit: Option<u32>) -> Result<(usize, usize), Problem> {
    let limit = within("limit", limit.unwrap_or(limits::PAGE), 1, limits::PAGE_MOST)?;
    let number = |cursor: &str| {
        let digits = (1..=9).contains(&cursor.len()) && cursor.bytes().all(|b| b.is_ascii_digit());
        cursor.parse().ok().filter(|_| digits)
    };
    let from = match cursor {
        Some(cursor) => number(cursor).ok_or_else(|| {
            Problem::new(Code::InvalidQuery, "`cursor` must come from an earlier page.")
        })?,
        None => 0,
    };
    Ok((from, limit as usize))
}
