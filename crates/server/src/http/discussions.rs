//! Discussions: draft, start, steer, take part, read.

mod export;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use plenary_clerk::discussions::{
    self, DiscussionEdit, FormatName, Interjection, KIND, NewDiscussion, NewModerator, NewSeat,
    PersonsDecision, RoleName, SeatReply, state,
};
use plenary_clerk::identity;
use plenary_domain::discussion::{self, Command, SeatId};
use plenary_domain::{SessionId, limits, room};
use plenary_engine::{By, EngineError, Snapshot};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::events::After;
use super::routes::{Routes, routes};
use super::sessions::{self, Empty, Filter};
use super::{session_id, within};
use crate::App;
use crate::agents::{self, AgentHeader, Asking, SeatToken};
use crate::error::{Problem, ReadProblems, WriteProblems};
use crate::idempotency::{Change, Key, On, Path, Query};
use crate::kept::{Has, TagHeader, Unchanged};
use crate::live;
use crate::views::conversations::{ConversationView, DiscussionRow, Stand};
use crate::views::discussions::{DiscussionView, EntryView, EstimateView};
use crate::views::{Nothing, Reply, page, reply};

pub fn routes() -> Routes {
    Routes::new()
        .routes(routes!(presets))
        .routes(routes!(list, create))
        .routes(routes!(estimate_new))
        .routes(routes!(get, edit, remove))
        .routes(routes!(change_moderator))
        .routes(routes!(add_participant))
        .routes(routes!(remove_participant))
        .routes(routes!(start))
        .routes(routes!(pause))
        .routes(routes!(resume))
        .routes(routes!(stop))
        .routes(routes!(conclude))
        .routes(routes!(interject))
        .routes(routes!(answer))
        .routes(routes!(decide))
        .routes(routes!(estimate))
        .routes(routes!(transcript))
        .routes(routes!(export::export))
        .routes(routes!(events))
}

#[derive(Serialize, ToSchema)]
pub struct DiscussionPresets {
    formats: Vec<FormatView>,
    roles: Vec<DiscussionRoleView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FormatView {
    id: FormatName,
    /// What everybody in the room is told.
    instruction: &'static str,
    /// Who leads when nobody is named.
    moderator_id: &'static str,
    /// Who takes part when nobody is named.
    participants: Vec<UsualParticipant>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsualParticipant {
    agent_id: &'static str,
    role: RoleName,
}

#[derive(Serialize, ToSchema)]
pub struct DiscussionRoleView {
    id: RoleName,
    speaks: bool,
    instruction: &'static str,
}

/// Formats with who leads and takes part by default, and roles.
#[utoipa::path(get, path = "/api/discussions/presets", tag = "discussions",
    responses((status = 200, body = Reply<DiscussionPresets>), ReadProblems))]
async fn presets() -> impl IntoResponse {
    let usual =
        |(agent_id, role): (_, discussion::Role)| UsualParticipant { agent_id, role: role.into() };
    let format = |format: discussion::Format| FormatView {
        id: format.into(),
        instruction: format.instruction(),
        moderator_id: format.usual_facilitator(),
        participants: format.usual_participants().map(usual).into(),
    };
    let role = |role: discussion::Role| DiscussionRoleView {
        id: role.into(),
        speaks: role.speaks(),
        instruction: role.instruction(),
    };
    reply(DiscussionPresets {
        formats: discussion::Format::ALL.map(format).into(),
        roles: discussion::Role::ALL.map(role).into(),
    })
}

/// Discussions, newest first.
#[utoipa::path(get, path = "/api/discussions", tag = "discussions", params(Filter),
    responses((status = 200, body = Reply<Vec<DiscussionRow>>), ReadProblems))]
async fn list(State(app): State<App>, filter: Query<Filter>) -> Result<impl IntoResponse, Problem> {
    let filter = Filter { kind: Some(KIND.to_owned()), ..filter.0 };
    let (found, limit) = sessions::find(&app, filter).await?;
    let mut rows = vec![];
    for row in found.rows {
        match app.engine.get(row.id).await {
            Ok(now) => rows.push(DiscussionRow::new(row, state(&now)?)),
            // It was removed meanwhile.
            Err(EngineError::NotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(page(rows, found.total, limit, found.next.map(|id| id.to_string())))
}

/// Creates a discussion: a draft, or with `start` one that starts at once.
#[utoipa::path(post, path = "/api/discussions", tag = "discussions", params(Key),
    request_body = NewDiscussion,
    responses((status = 201, body = Reply<SeatedDiscussion>), WriteProblems))]
async fn create(
    State(app): State<App>,
    Change { by, body }: Change<NewDiscussion>,
) -> Result<impl IntoResponse, Problem> {
    created(&app, &discussions::create(&app.clerk, None, by, body).await?).await
}

/// What a discussion would take that is yet to be created. Nothing is created; what would
/// be wrong with it is answered as creating would.
#[utoipa::path(post, path = "/api/discussions/estimate", tag = "discussions",
    request_body = NewDiscussion,
    responses((status = 200, body = Reply<EstimateView>), WriteProblems))]
async fn estimate_new(
    State(app): State<App>,
    Change { body, .. }: Change<NewDiscussion>,
) -> Result<impl IntoResponse, Problem> {
    let estimate = discussions::estimate_new(&app.clerk, body).await?;
    Ok(reply(EstimateView::new(&estimate, &app.clerk.prices.now().currency)))
}

/// A discussion, and what its persons need.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeatedDiscussion {
    #[serde(flatten)]
    discussion: DiscussionView,
    /// One for each person, to be handed to them, for whoever opened the discussion. They
    /// are not shown again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    seat_tokens: Vec<SeatToken>,
}

/// A new discussion, and where it is.
async fn created(app: &App, opened: &Snapshot) -> Result<impl IntoResponse + use<>, Problem> {
    let place = [(header::LOCATION, format!("/api/discussions/{}", opened.id))];
    let seat_tokens = agents::seat_tokens(app, opened).await?;
    let discussion = view(app, opened)?;
    Ok((StatusCode::CREATED, place, reply(SeatedDiscussion { discussion, seat_tokens })))
}

/// A discussion, and what was said last.
#[derive(Serialize, ToSchema)]
pub struct RecentDiscussion {
    #[serde(flatten)]
    discussion: DiscussionView,
    /// One with the last messages, or none in a draft.
    sessions: Vec<ConversationView>,
}

/// A discussion as it is now: who takes part, what is in progress, the conclusion, and the
/// last messages.
#[utoipa::path(get, path = "/api/discussions/{id}", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), TagHeader),
    responses((status = 200, body = Reply<RecentDiscussion>, headers(("ETag" = String, description = "Says what is in the answer, for `If-None-Match`."))),
        Unchanged, ReadProblems))]
async fn get(
    State(app): State<App>,
    Path(id): Path<String>,
    has: Has,
) -> Result<Response, Problem> {
    let now = app.engine.get(session_id(&id)?).await?;
    let state = state(&now)?;
    let before = state.transcript.len().saturating_sub(limits::RECENT_MESSAGES);
    let recent = ConversationView::new(now.id, state, &state.transcript[before..]);
    let discussion = view(&app, &now)?;
    has.or(RecentDiscussion { discussion, sessions: recent.into_iter().collect() })
}

/// Changes what is given, all or nothing. A status is reached by the command that leads
/// there: `active` starts or resumes, `paused` pauses, `concluded` concludes.
#[utoipa::path(patch, path = "/api/discussions/{id}", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), Key),
    request_body = DiscussionEdit,
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn edit(on: On<DiscussionEdit>) -> Result<impl IntoResponse, Problem> {
    let id = session_id(&on.at)?;
    show(&on.app, &discussions::edit(&on.app.clerk, id, on.by, on.body).await?)
}

/// Permanently removes a discussion and its record. For the person who opened it, and the operator
/// of the server.
#[utoipa::path(delete, path = "/api/discussions/{id}", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion.")),
    responses((status = 200, body = Reply<Nothing>), WriteProblems))]
async fn remove(asking: Asking, on: On<Empty>) -> Result<impl IntoResponse, Problem> {
    let id = discussion_id(&on.app, &on.at).await?;
    let caller = asking.about(&on.app, id, on.by).await?;
    identity::remove(&on.app.clerk, &caller).await?;
    Ok(reply(Nothing {}))
}

/// Another facilitator, in a draft.
#[utoipa::path(patch, path = "/api/discussions/{id}/moderator", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), Key),
    request_body = NewModerator,
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn change_moderator(on: On<NewModerator>) -> Result<impl IntoResponse, Problem> {
    let snapshot =
        discussions::change_moderator(&on.app.clerk, session_id(&on.at)?, on.by, on.body).await?;
    show(&on.app, &snapshot)
}

/// One more who takes part, in a draft.
#[utoipa::path(post, path = "/api/discussions/{id}/participants", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), Key),
    request_body = NewSeat,
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn add_participant(on: On<NewSeat>) -> Result<impl IntoResponse, Problem> {
    let snapshot =
        discussions::add_participant(&on.app.clerk, session_id(&on.at)?, on.by, on.body).await?;
    show(&on.app, &snapshot)
}

/// One less, in a draft.
#[utoipa::path(delete, path = "/api/discussions/{id}/participants/{participant}",
    tag = "discussions",
    params(
        ("id" = uuid::Uuid, Path, description = "The discussion."),
        ("participant" = String, Path, description = "The participant's id."),
        Key),
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn remove_participant(on: On<Empty, (String, String)>) -> Result<impl IntoResponse, Problem> {
    let (id, participant) = on.at;
    submit(&on.app, &id, on.by, Command::RemoveParticipant(SeatId(participant))).await
}

/// Starts a draft: the facilitator opens.
#[utoipa::path(post, path = "/api/discussions/{id}/start", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), Key),
    responses((status = 200, body = Reply<SeatedDiscussion>), WriteProblems))]
async fn start(asking: Asking, on: On<Empty>) -> Result<impl IntoResponse, Problem> {
    let caller = asking.about(&on.app, session_id(&on.at)?, on.by).await?;
    let started = discussions::start(&on.app.clerk, caller.session, caller.by.clone()).await?;
    let seat_tokens = match caller.may(&started, false) {
        true => agents::seat_tokens(&on.app, &started).await?,
        false => vec![],
    };
    Ok(reply(SeatedDiscussion { discussion: view(&on.app, &started)?, seat_tokens }))
}

/// Pauses after the current step.
#[utoipa::path(post, path = "/api/discussions/{id}/pause", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), Key),
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn pause(on: On<Empty>) -> Result<impl IntoResponse, Problem> {
    submit(&on.app, &on.at, on.by, Command::Pause).await
}

/// Continues with exactly the step that was due.
#[utoipa::path(post, path = "/api/discussions/{id}/resume", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), Key),
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn resume(on: On<Empty>) -> Result<impl IntoResponse, Problem> {
    submit(&on.app, &on.at, on.by, Command::Resume).await
}

/// Stops at once: the call in progress is ended, and what has arrived is kept. It
/// can be resumed or concluded later.
#[utoipa::path(post, path = "/api/discussions/{id}/stop", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), Key),
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn stop(on: On<Empty>) -> Result<impl IntoResponse, Problem> {
    let id = discussion_id(&on.app, &on.at).await?;
    show(&on.app, &on.app.engine.submit(id, on.by, room::Command::Stop).await?)
}

/// Goes to the conclusion now, with what has been said.
#[utoipa::path(post, path = "/api/discussions/{id}/conclude", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), Key),
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn conclude(on: On<Empty>) -> Result<impl IntoResponse, Problem> {
    submit(&on.app, &on.at, on.by, Command::Conclude).await
}

/// Adds a person's remark between turns. The step in progress does not see it; later ones do.
#[utoipa::path(post, path = "/api/discussions/{id}/interject", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), AgentHeader, Key),
    request_body = Interjection,
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn interject(asking: Asking, on: On<Interjection>) -> Result<impl IntoResponse, Problem> {
    let caller = asking.about(&on.app, session_id(&on.at)?, on.by).await?;
    show(&on.app, &discussions::interject(&on.app.clerk, caller, on.body).await?)
}

/// A person's turn, or the conclusion of a person who leads: by that person, the person who opened
/// the discussion, or the operator of the server.
#[utoipa::path(post, path = "/api/discussions/{id}/reply", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), AgentHeader, Key),
    request_body = SeatReply,
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn answer(asking: Asking, on: On<SeatReply>) -> Result<impl IntoResponse, Problem> {
    let caller = asking.about(&on.app, session_id(&on.at)?, on.by).await?;
    show(&on.app, &discussions::reply(&on.app.clerk, caller, on.body).await?)
}

/// The decision of a person who leads: who speaks next and what they are asked, or
/// that it is time to conclude. By that person, the person who opened the discussion, or the
/// operator of the server.
#[utoipa::path(post, path = "/api/discussions/{id}/decide", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), AgentHeader, Key),
    request_body = PersonsDecision,
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn decide(asking: Asking, on: On<PersonsDecision>) -> Result<impl IntoResponse, Problem> {
    let caller = asking.about(&on.app, session_id(&on.at)?, on.by).await?;
    show(&on.app, &discussions::decide(&on.app.clerk, caller, on.body).await?)
}

/// What the discussion may take: from the shortest course to all rounds.
#[utoipa::path(get, path = "/api/discussions/{id}/estimate", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion.")),
    responses((status = 200, body = Reply<EstimateView>), ReadProblems))]
async fn estimate(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<impl IntoResponse, Problem> {
    let estimate = discussions::estimate(&app.clerk, session_id(&id)?).await?;
    Ok(reply(EstimateView::new(&estimate, &app.clerk.prices.now().currency)))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TranscriptPage {
    /// Only entries after this number.
    #[param(minimum = 0, maximum = 1_000_000_000, nullable = false)]
    since: Option<u32>,
    /// Entries of a page.
    #[param(minimum = 1, maximum = 200, nullable = false)]
    limit: Option<u32>,
}

#[derive(Serialize, ToSchema)]
pub struct Transcript {
    /// The same as messages, for clients that know no entries.
    #[serde(flatten)]
    stand: Stand,
    entries: Vec<EntryView>,
    /// Give it as `since` to read on.
    since: u32,
    /// There are more than this page holds.
    more: bool,
}

/// What has been said: decisions, turns, interjections, and what was broken off.
#[utoipa::path(get, path = "/api/discussions/{id}/transcript", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), TranscriptPage),
    responses((status = 200, body = Reply<Transcript>), ReadProblems))]
async fn transcript(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(page): Query<TranscriptPage>,
) -> Result<impl IntoResponse, Problem> {
    let limit = within("limit", page.limit.unwrap_or(limits::PAGE_MOST), 1, limits::PAGE_MOST)?;
    let since = page.since.unwrap_or(0);
    let now = app.engine.get(session_id(&id)?).await?;
    let state = state(&now)?;
    let rest = state.transcript.get(since as usize..).unwrap_or_default();
    let shown = &rest[..rest.len().min(limit as usize)];
    Ok(reply(Transcript {
        stand: Stand::new(now.id, state, shown),
        entries: shown.iter().map(|entry| EntryView::new(state, entry, &app.clerk)).collect(),
        since: shown.last().map_or(since, |entry| entry.number),
        more: shown.len() < rest.len(),
    }))
}

/// Everything that happens in a discussion, live. `id` is the version; a reader
/// that comes with `Last-Event-ID` gets everything after it, then live. Between
/// durable events come `delta`, `reasoning`, `retrying` and `waiting` frames
/// without an id.
#[utoipa::path(get, path = "/api/discussions/{id}/events", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), After),
    responses((status = 200, body = String, content_type = "text/event-stream"), ReadProblems))]
async fn events(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<After>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let after = live::after(&headers, query.after)?.unwrap_or(0);
    let frames = app.engine.watch(discussion_id(&app, &id).await?, after).await?;
    Ok(live::respond(frames.map(live::frame)))
}

/// The id of a discussion. A session of another form is none.
async fn discussion_id(app: &App, text: &str) -> Result<SessionId, Problem> {
    Ok(app.clerk.row(session_id(text)?, KIND).await?.id)
}

async fn submit(
    app: &App,
    id: &str,
    by: By,
    command: Command,
) -> Result<axum::Json<Reply<DiscussionView>>, Problem> {
    show(app, &discussions::submit(&app.clerk, session_id(id)?, by, command).await?)
}

fn show(app: &App, snapshot: &Snapshot) -> Result<axum::Json<Reply<DiscussionView>>, Problem> {
    Ok(reply(view(app, snapshot)?))
}

fn view(app: &App, snapshot: &Snapshot) -> Result<DiscussionView, Problem> {
    let running = |call: &_| app.engine.underway(snapshot.id, call);
    let stand = (snapshot.id, snapshot.version);
    Ok(DiscussionView::new(stand, state(snapshot)?, &running, &app.clerk))
}
