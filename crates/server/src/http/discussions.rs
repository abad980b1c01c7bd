//! Discussions: draft, start, steer, take part, read.

mod export;
mod seating;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use plenary_domain::discussion::{self, Command, Edit, Estimate, Measure, SeatId};
use plenary_domain::{ModelName, Reject, SessionId, limits, room};
use plenary_engine::{By, Latencies, Snapshot};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::events::After;
use super::owned::{self, Asking, SeatToken};
use super::sessions::{self, Empty, Filter};
use super::{session_id, within};
use crate::App;
use crate::agents::{AgentHeader, AgentToken, PersonsSeat};
use crate::auth::Standing;
use crate::error::{Code, Problem, ReadProblems, WriteProblems};
use crate::idempotency::{Change, Key, Path, Query};
use crate::live;
use crate::views::discussions::{
    ChoiceName, DiscussionView, EntryView, EstimateView, FormatName, RoleName,
};
use crate::views::{Nothing, Reply, SessionView, reply};

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
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

const KIND: &str = "discussion";

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
    responses((status = 200, body = Reply<Vec<SessionView>>), ReadProblems))]
async fn list(
    State(app): State<App>,
    Query(filter): Query<Filter>,
) -> Result<impl IntoResponse, Problem> {
    sessions::show(&app, Filter { kind: Some(KIND.to_owned()), ..filter }).await
}

/// Creates a discussion: a draft, or with `start` one that is under way.
#[utoipa::path(post, path = "/api/discussions", tag = "discussions", params(Key),
    request_body = seating::NewDiscussion,
    responses((status = 201, body = Reply<SeatedDiscussion>), WriteProblems))]
async fn create(
    State(app): State<App>,
    Change { by, body }: Change<seating::NewDiscussion>,
) -> Result<impl IntoResponse, Problem> {
    // The models may have gone since the first request.
    if let Some(earlier) = app.engine.repeated(&by).await? {
        return created(&app, &earlier).await;
    }
    let starts = body.starts();
    let mut create = seating::seat(&app, body).await?;
    if starts {
        create.start = Some(foreseen_new(&app, create.clone()).await.ok());
    }
    let command = room::Command::Discussion(Command::Create(Box::new(create)));
    created(&app, &app.engine.open(by, command).await?).await
}

/// What a discussion would take that is yet to be created. Nothing is created; what would
/// be wrong with it is answered as creating would.
#[utoipa::path(post, path = "/api/discussions/estimate", tag = "discussions",
    request_body = seating::NewDiscussion,
    responses((status = 200, body = Reply<EstimateView>), WriteProblems))]
async fn estimate_new(
    State(app): State<App>,
    Change { body, .. }: Change<seating::NewDiscussion>,
) -> Result<impl IntoResponse, Problem> {
    let start = body.starts().then_some(None);
    let create = discussion::Create { start, ..seating::seat(&app, body).await? };
    let estimate = foreseen_new(&app, create).await?;
    Ok(reply(EstimateView::new(&estimate, &app.prices)))
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
    let seat_tokens = owned::seat_tokens(app, opened.id, persons(state(opened)?)).await?;
    let discussion = view(app, opened)?;
    Ok((StatusCode::CREATED, place, reply(SeatedDiscussion { discussion, seat_tokens })))
}

/// The seats that persons hold, the facilitator's included.
fn persons(state: &discussion::State) -> Vec<PersonsSeat> {
    let seats = state.participants.iter().map(|participant| &participant.seat);
    let seats = seats.chain([&state.facilitator]).filter(|seat| seat.is_person());
    seats.map(|seat| PersonsSeat { id: seat.id.0.clone(), name: seat.name.clone() }).collect()
}

/// A discussion as it stands: who takes part, what is under way, the conclusion.
#[utoipa::path(get, path = "/api/discussions/{id}", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion.")),
    responses((status = 200, body = Reply<DiscussionView>), ReadProblems))]
async fn get(State(app): State<App>, Path(id): Path<String>) -> Result<impl IntoResponse, Problem> {
    show(&app, &app.engine.get(session_id(&id)?).await?)
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DiscussionEdit {
    #[serde(default)]
    #[schema(min_length = 1, max_length = 200)]
    name: Option<String>,
    /// In a draft only.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 65536)]
    topic: Option<String>,
    /// In a draft only.
    #[serde(default)]
    format: Option<FormatName>,
    /// Until the conclusion; not fewer than have begun.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 50)]
    max_rounds: Option<u32>,
}

/// Changes what is given. Status and conclusion are not written by hand: start,
/// pause, resume, stop and conclude are commands.
#[utoipa::path(patch, path = "/api/discussions/{id}", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), Key),
    request_body = DiscussionEdit,
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn edit(
    State(app): State<App>,
    Path(id): Path<String>,
    Change { by, body }: Change<DiscussionEdit>,
) -> Result<impl IntoResponse, Problem> {
    let edit = Edit {
        name: body.name,
        topic: body.topic,
        format: body.format.map(discussion::Format::from),
        max_rounds: body.max_rounds,
    };
    submit(&app, &id, by, Command::Edit(edit)).await
}

/// Removes a discussion and its record for good. For whoever opened it, and the operator of
/// the server.
#[utoipa::path(delete, path = "/api/discussions/{id}", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion.")),
    responses((status = 200, body = Reply<Nothing>), WriteProblems))]
async fn remove(
    State(app): State<App>,
    Path(id): Path<String>,
    standing: Standing,
    token: AgentToken,
    Change { body: Empty {}, .. }: Change<Empty>,
) -> Result<impl IntoResponse, Problem> {
    let id = discussion_id(&app, &id).await?;
    Asking { app: &app, standing: &standing, token: &token }.remove(id).await?;
    Ok(reply(Nothing {}))
}

/// Another facilitator, in a draft.
#[utoipa::path(patch, path = "/api/discussions/{id}/moderator", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), Key),
    request_body = seating::NewModerator,
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn change_moderator(
    State(app): State<App>,
    Path(id): Path<String>,
    Change { by, body }: Change<seating::NewModerator>,
) -> Result<impl IntoResponse, Problem> {
    if let Some(earlier) = app.engine.repeated(&by).await? {
        return show(&app, &earlier);
    }
    let now = app.engine.get(discussion_id(&app, &id).await?).await?;
    let seat = seating::moderator(&app, body, state(&now)?).await?;
    submit(&app, &id, by, Command::ChangeFacilitator(Box::new(seat))).await
}

/// One more who takes part, in a draft.
#[utoipa::path(post, path = "/api/discussions/{id}/participants", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), Key),
    request_body = seating::NewSeat,
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn add_participant(
    State(app): State<App>,
    Path(id): Path<String>,
    Change { by, body }: Change<seating::NewSeat>,
) -> Result<impl IntoResponse, Problem> {
    if let Some(earlier) = app.engine.repeated(&by).await? {
        return show(&app, &earlier);
    }
    let now = app.engine.get(discussion_id(&app, &id).await?).await?;
    let participant = seating::participant(&app, body, state(&now)?).await?;
    submit(&app, &id, by, Command::AddParticipant(Box::new(participant))).await
}

/// One less, in a draft.
#[utoipa::path(delete, path = "/api/discussions/{id}/participants/{participant}",
    tag = "discussions",
    params(
        ("id" = uuid::Uuid, Path, description = "The discussion."),
        ("participant" = String, Path, description = "The participant's id."),
        Key),
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn remove_participant(
    State(app): State<App>,
    Path((id, participant)): Path<(String, String)>,
    Change { by, body: Empty {} }: Change<Empty>,
) -> Result<impl IntoResponse, Problem> {
    submit(&app, &id, by, Command::RemoveParticipant(SeatId(participant))).await
}

/// Starts a draft: the facilitator opens.
#[utoipa::path(post, path = "/api/discussions/{id}/start", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), Key),
    responses((status = 200, body = Reply<SeatedDiscussion>), WriteProblems))]
async fn start(
    State(app): State<App>,
    Path(id): Path<String>,
    standing: Standing,
    token: AgentToken,
    Change { by, body: Empty {} }: Change<Empty>,
) -> Result<impl IntoResponse, Problem> {
    let id = session_id(&id)?;
    let now = app.engine.get(id).await?;
    let estimate = Some(foreseen(&app, state(&now)?).await);
    let command = room::Command::Discussion(Command::Start { estimate });
    let started = app.engine.submit(id, by, command).await?;
    let asking = Asking { app: &app, standing: &standing, token: &token };
    let seat_tokens = asking.seat_tokens(&started, persons(state(&started)?)).await?;
    Ok(reply(SeatedDiscussion { discussion: view(&app, &started)?, seat_tokens }))
}

/// Rests after the step under way.
#[utoipa::path(post, path = "/api/discussions/{id}/pause", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), Key),
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn pause(
    State(app): State<App>,
    Path(id): Path<String>,
    Change { by, body: Empty {} }: Change<Empty>,
) -> Result<impl IntoResponse, Problem> {
    submit(&app, &id, by, Command::Pause).await
}

/// Goes on with exactly the step that was due.
#[utoipa::path(post, path = "/api/discussions/{id}/resume", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), Key),
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn resume(
    State(app): State<App>,
    Path(id): Path<String>,
    Change { by, body: Empty {} }: Change<Empty>,
) -> Result<impl IntoResponse, Problem> {
    submit(&app, &id, by, Command::Resume).await
}

/// Stops at once: the call under way is ended, and what it has brought is kept. It
/// can be resumed or concluded later.
#[utoipa::path(post, path = "/api/discussions/{id}/stop", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), Key),
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn stop(
    State(app): State<App>,
    Path(id): Path<String>,
    Change { by, body: Empty {} }: Change<Empty>,
) -> Result<impl IntoResponse, Problem> {
    let id = discussion_id(&app, &id).await?;
    show(&app, &app.engine.submit(id, by, room::Command::Stop).await?)
}

/// Goes to the conclusion now, with what has been said.
#[utoipa::path(post, path = "/api/discussions/{id}/conclude", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), Key),
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn conclude(
    State(app): State<App>,
    Path(id): Path<String>,
    Change { by, body: Empty {} }: Change<Empty>,
) -> Result<impl IntoResponse, Problem> {
    submit(&app, &id, by, Command::Conclude).await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Interjection {
    #[schema(min_length = 1, max_length = 16384)]
    text: String,
    /// Who says it; `Organizer` when absent. The name of a person who has a seat is theirs.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 120)]
    by: Option<String>,
}

/// Adds a person's message between the turns. What is under way does not hear it;
/// everybody after it does.
#[utoipa::path(post, path = "/api/discussions/{id}/interject", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), AgentHeader, Key),
    request_body = Interjection,
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn interject(
    State(app): State<App>,
    Path(id): Path<String>,
    standing: Standing,
    token: AgentToken,
    Change { by, body }: Change<Interjection>,
) -> Result<impl IntoResponse, Problem> {
    let name = body.by.unwrap_or_else(|| "Organizer".to_owned());
    let now = app.engine.get(session_id(&id)?).await?;
    // Under the name of a person who sits there it would be read as theirs.
    let same = |person: &PersonsSeat| plenary_domain::names::are_same(&person.name, &name);
    if let Some(person) = persons(state(&now)?).into_iter().find(same) {
        let asking = Asking { app: &app, standing: &standing, token: &token };
        speaking(&asking, &id, Some(SeatId(person.id))).await?;
    }
    submit(&app, &id, by, Command::Interject { by: name, text: body.text }).await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SeatReply {
    #[schema(min_length = 1, max_length = 65536)]
    text: String,
    /// Whose seat; refused when it is somebody else's turn.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 120)]
    participant_id: Option<String>,
}

/// A person's turn, or the conclusion of a person who leads: by that person, whoever
/// opened the discussion, or the operator of the server.
#[utoipa::path(post, path = "/api/discussions/{id}/reply", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), AgentHeader, Key),
    request_body = SeatReply,
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn answer(
    State(app): State<App>,
    Path(id): Path<String>,
    standing: Standing,
    token: AgentToken,
    Change { by, body }: Change<SeatReply>,
) -> Result<impl IntoResponse, Problem> {
    let asking = Asking { app: &app, standing: &standing, token: &token };
    let seat = speaking(&asking, &id, body.participant_id.map(SeatId)).await?;
    submit(&app, &id, by, Command::Reply { seat, text: body.text }).await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PersonsDecision {
    decision: ChoiceName,
    /// Who speaks next; needed to continue.
    #[serde(default)]
    #[schema(max_length = 120)]
    next_participant_id: Option<String>,
    /// What they are asked; needed to continue.
    #[serde(default)]
    #[schema(max_length = 4096)]
    question: Option<String>,
    #[serde(default)]
    #[schema(max_length = 8192)]
    reasoning: Option<String>,
}

/// The decision of a person who leads: who speaks next and what they are asked, or
/// that it is time to conclude. By that person, whoever opened the discussion, or the
/// operator of the server.
#[utoipa::path(post, path = "/api/discussions/{id}/decide", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), AgentHeader, Key),
    request_body = PersonsDecision,
    responses((status = 200, body = Reply<DiscussionView>), WriteProblems))]
async fn decide(
    State(app): State<App>,
    Path(id): Path<String>,
    standing: Standing,
    token: AgentToken,
    Change { by, body }: Change<PersonsDecision>,
) -> Result<impl IntoResponse, Problem> {
    let asking = Asking { app: &app, standing: &standing, token: &token };
    let leads = state(&app.engine.get(session_id(&id)?).await?)?.facilitator.id.clone();
    speaking(&asking, &id, Some(leads)).await?;
    let command = Command::Decide {
        decision: body.decision.into(),
        next: body.next_participant_id.map(SeatId),
        question: body.question,
        reasoning: body.reasoning,
    };
    submit(&app, &id, by, command).await
}

/// The seat for which somebody speaks: the one that was named, or their own.
async fn speaking(
    asking: &Asking<'_>,
    id: &str,
    named: Option<SeatId>,
) -> Result<Option<SeatId>, Problem> {
    let snapshot = asking.app.engine.get(session_id(id)?).await?;
    let own = asking.seat(&snapshot, &persons(state(&snapshot)?)).await?;
    match (own, named) {
        (Some(own), Some(named)) if own.id != named.0 => {
            let message = format!("The token is for the seat of {}.", own.name);
            Err(Problem::new(Code::NotYours, message))
        }
        (Some(own), _) => Ok(Some(SeatId(own.id))),
        (None, named) => Ok(named),
    }
}

/// What the discussion may take: from the shortest course to all rounds.
#[utoipa::path(get, path = "/api/discussions/{id}/estimate", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion.")),
    responses((status = 200, body = Reply<EstimateView>), ReadProblems))]
async fn estimate(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<impl IntoResponse, Problem> {
    let now = app.engine.get(session_id(&id)?).await?;
    let estimate = foreseen(&app, state(&now)?).await;
    Ok(reply(EstimateView::new(&estimate, &app.prices)))
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
        entries: shown.iter().map(|entry| EntryView::new(state, entry)).collect(),
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
    let id = session_id(text)?;
    let row = app.engine.row(id).await?;
    if row.kind == KIND { Ok(id) } else { Err(Problem::no_such_session(id)) }
}

pub(crate) fn state(snapshot: &Snapshot) -> Result<&discussion::State, Problem> {
    snapshot.room.discussion().ok_or_else(|| Problem::no_such_session(snapshot.id))
}

async fn submit(
    app: &App,
    id: &str,
    by: By,
    command: Command,
) -> Result<axum::Json<Reply<DiscussionView>>, Problem> {
    let command = room::Command::Discussion(command);
    show(app, &app.engine.submit(session_id(id)?, by, command).await?)
}

fn show(app: &App, snapshot: &Snapshot) -> Result<axum::Json<Reply<DiscussionView>>, Problem> {
    Ok(reply(view(app, snapshot)?))
}

fn view(app: &App, snapshot: &Snapshot) -> Result<DiscussionView, Problem> {
    let running = |call: &_| app.engine.underway(snapshot.id, call);
    let stand = (snapshot.id, snapshot.version);
    Ok(DiscussionView::new(stand, state(snapshot)?, &running, &app.prices))
}

async fn foreseen_new(app: &App, create: discussion::Create) -> Result<Estimate, Reject> {
    let (at, latencies) = (app.engine.clock().now(), app.engine.latencies().await);
    let measured = |model: &ModelName| usual(&latencies, model);
    discussion::foresee(create, at, measured, |model| app.prices.of(model))
}

async fn foreseen(app: &App, state: &discussion::State) -> Estimate {
    let latencies = app.engine.latencies().await;
    state.foresee(|model| usual(&latencies, model), |model| app.prices.of(model))
}

/// The middle and the slow end of what was measured.
fn usual(latencies: &Latencies, model: &ModelName) -> Option<Measure> {
    let times = latencies.get(model)?;
    let at = |part: f64| times.get((times.len().saturating_sub(1) as f64 * part) as usize).copied();
    Some(Measure { low_ms: at(0.25)?, high_ms: at(0.9)? })
}
