//! Boardrooms: convene, follow, stop, synthesize, export.

pub mod export;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use plenary_clerk::boardrooms::{
    self, Answer, KIND, NewBallot, NewBoardroom, NewFollowUp, NewPick, NewSynthesis, Retry,
    RoleName, board, numbered,
};
use plenary_clerk::identity;
use plenary_domain::boardroom::{Command, Role, preset};
use plenary_domain::{SessionId, room};
use plenary_engine::{By, Snapshot};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::routes::{Routes, routes};
use super::sessions::{self, Empty, Filter};
use super::{seat, session_id};
use crate::App;
use crate::agents::{self, AgentHeader, Asking, SeatToken};
use crate::error::{Problem, ReadProblems, WriteProblems};
use crate::idempotency::{Change, Key, On, Path, Query};
use crate::kept::{Has, Kept, TagHeader, Unchanged, Which};
use crate::live;
use crate::views::boardrooms::{self as shown, BoardroomView};
use crate::views::discussions::EstimateView;
use crate::views::{Beside, Nothing, Reply, SessionView, reply};

pub fn routes() -> Routes {
    Routes::new()
        .routes(routes!(presets))
        .routes(routes!(list, convene))
        .routes(routes!(export::import))
        .routes(routes!(estimate))
        .routes(routes!(get, remove))
        .routes(routes!(stop))
        .routes(routes!(resume))
        .routes(routes!(synthesize))
        .routes(routes!(resynthesize))
        .routes(routes!(retry))
        .routes(routes!(pick))
        .routes(routes!(follow_up))
        .routes(routes!(stop_advisor))
        .routes(routes!(answer))
        .routes(routes!(cast))
        .routes(routes!(open_ballot))
        .routes(routes!(export::export))
        .routes(routes!(events))
}

#[derive(Serialize, ToSchema)]
pub struct Presets {
    roles: Vec<RoleView>,
    boards: Vec<BoardView>,
    prompts: Vec<PromptView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RoleView {
    id: RoleName,
    name: &'static str,
    colour: &'static str,
    perspective: &'static str,
    system_prompt: &'static str,
}

#[derive(Serialize, ToSchema)]
pub struct BoardView {
    id: &'static str,
    name: &'static str,
    roles: Vec<RoleName>,
}

#[derive(Serialize, ToSchema)]
pub struct PromptView {
    id: &'static str,
    name: &'static str,
    text: &'static str,
}

/// Roles with their colours, boards, and prompts to begin with.
#[utoipa::path(get, path = "/api/boardrooms/presets", tag = "boardrooms",
    responses((status = 200, body = Reply<Presets>), ReadProblems))]
async fn presets() -> impl IntoResponse {
    let role = |role: Role| RoleView {
        id: role.into(),
        name: role.name(),
        colour: role.colour(),
        perspective: role.perspective(),
        system_prompt: role.system_prompt(),
    };
    let board = |board: preset::Board| BoardView {
        id: board.id,
        name: board.name,
        roles: board.roles.iter().copied().map(RoleName::from).collect(),
    };
    let prompt = |p: preset::Prompt| PromptView { id: p.id, name: p.name, text: p.text };
    reply(Presets {
        roles: Role::ALL.map(role).into(),
        boards: preset::BOARDS.map(board).into(),
        prompts: preset::PROMPTS.map(prompt).into(),
    })
}

/// Boards, newest first.
#[utoipa::path(get, path = "/api/boardrooms", tag = "boardrooms", params(Filter),
    responses((status = 200, body = Reply<Vec<SessionView>>), ReadProblems))]
async fn list(State(app): State<App>, filter: Query<Filter>) -> Result<impl IntoResponse, Problem> {
    sessions::show(&app, Filter { kind: Some(KIND.to_owned()), ..filter.0 }).await
}

/// Convenes a board: every advisor is asked at once, and a synthesis follows; with
/// `ballot`, the advisors then vote on its points.
/// Answers at once; follow the events, or get the board again.
#[utoipa::path(post, path = "/api/boardrooms", tag = "boardrooms",
    request_body = NewBoardroom,
    params(Key),
    responses((status = 201, body = Reply<Convened>), WriteProblems))]
async fn convene(
    State(app): State<App>,
    Change { by, body }: Change<NewBoardroom>,
) -> Result<impl IntoResponse, Problem> {
    created(&app, &boardrooms::convene(&app.clerk, None, by, body).await?).await
}

/// What a board would take that is yet to be convened. Nothing is created; what would be
/// wrong with it is answered as convening would.
#[utoipa::path(post, path = "/api/boardrooms/estimate", tag = "boardrooms",
    request_body = NewBoardroom,
    responses((status = 200, body = Reply<EstimateView>), WriteProblems))]
async fn estimate(
    State(app): State<App>,
    Change { body, .. }: Change<NewBoardroom>,
) -> Result<impl IntoResponse, Problem> {
    let estimate = boardrooms::estimate(&app.clerk, body).await?;
    Ok(reply(EstimateView::new(&estimate, &app.clerk.prices.now().currency)))
}

/// From where a board is looked at.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Seen {
    /// As the person on this seat sees it: until they have answered, without the words of
    /// the others. A seat's token does the same and wins.
    #[param(minimum = 1, maximum = 16, nullable = false)]
    seat: Option<u8>,
}

/// A board as it is now, with the text so far of answers in progress.
#[utoipa::path(get, path = "/api/boardrooms/{id}", tag = "boardrooms",
    params(("id" = uuid::Uuid, Path, description = "The board."), Seen, AgentHeader, TagHeader),
    responses((status = 200, body = Reply<BoardroomView>, headers(("ETag" = String, description = "Says what is in the answer, for `If-None-Match`."))),
        Unchanged, ReadProblems))]
async fn get(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<Seen>,
    asking: Asking,
    has: Has,
) -> Result<Response, Problem> {
    let snapshot = asking.sees(&app, session_id(&id)?, seat(query.seat)?).await?;
    match board(&snapshot)?.veiled_for() {
        Some(_) => has.or(view(&app, &snapshot)?),
        None => Kept::or(&app, &snapshot, Which::Boardroom, &has, || view(&app, &snapshot)),
    }
}

/// Permanently removes a board and its record. For the person who opened it, and the operator of
/// the server.
#[utoipa::path(delete, path = "/api/boardrooms/{id}", tag = "boardrooms",
    params(("id" = uuid::Uuid, Path, description = "The board.")),
    responses((status = 200, body = Reply<Nothing>), WriteProblems))]
async fn remove(asking: Asking, on: On<Empty>) -> Result<impl IntoResponse, Problem> {
    let id = board_id(&on.app, &on.at).await?;
    let caller = asking.about(&on.app, id, on.by).await?;
    identity::remove(&on.app.clerk, &caller).await?;
    Ok(reply(Nothing {}))
}

/// Stops every call at once and keeps what has arrived. No synthesis follows.
#[utoipa::path(post, path = "/api/boardrooms/{id}/stop", tag = "boardrooms",
    params(("id" = uuid::Uuid, Path, description = "The board."), Key),
    responses((status = 200, body = Reply<BoardroomView>), WriteProblems))]
async fn stop(on: On<Empty>) -> Result<impl IntoResponse, Problem> {
    let id = board_id(&on.app, &on.at).await?;
    show(&on.app, &on.app.engine.submit(id, on.by, room::Command::Stop).await?)
}

/// Asks again those who have not answered, on a board that was stopped or failed.
#[utoipa::path(post, path = "/api/boardrooms/{id}/resume", tag = "boardrooms",
    params(("id" = uuid::Uuid, Path, description = "The board."), Key),
    responses((status = 200, body = Reply<BoardroomView>), WriteProblems))]
async fn resume(on: On<Empty>) -> Result<impl IntoResponse, Problem> {
    show(&on.app, &boardrooms::resume(&on.app.clerk, session_id(&on.at)?, on.by).await?)
}

/// Begins the synthesis now, with the answers that are there; who has not
/// finished is stopped.
#[utoipa::path(post, path = "/api/boardrooms/{id}/synthesize", tag = "boardrooms",
    params(("id" = uuid::Uuid, Path, description = "The board."), Key),
    request_body = NewSynthesis,
    responses((status = 200, body = Reply<BoardroomView>), WriteProblems))]
async fn synthesize(on: On<NewSynthesis>) -> Result<impl IntoResponse, Problem> {
    let snapshot =
        boardrooms::synthesize(&on.app.clerk, session_id(&on.at)?, on.by, on.body).await?;
    show(&on.app, &snapshot)
}

/// Adds a synthesis to a board at rest. Earlier ones are kept.
#[utoipa::path(post, path = "/api/boardrooms/{id}/resynthesize", tag = "boardrooms",
    params(("id" = uuid::Uuid, Path, description = "The board."), Key),
    request_body = NewSynthesis,
    responses((status = 200, body = Reply<BoardroomView>), WriteProblems))]
async fn resynthesize(on: On<NewSynthesis>) -> Result<impl IntoResponse, Problem> {
    let snapshot =
        boardrooms::resynthesize(&on.app.clerk, session_id(&on.at)?, on.by, on.body).await?;
    show(&on.app, &snapshot)
}

/// Asks one advisor again; a new synthesis follows. One that is being asked makes way for
/// another model.
#[utoipa::path(post, path = "/api/boardrooms/{id}/advisors/{advisor}/retry", tag = "boardrooms",
    params(
        ("id" = uuid::Uuid, Path, description = "The board."),
        ("advisor" = u8, Path, minimum = 1, maximum = 16, description = "The seat's number."),
        Key),
    request_body = Retry,
    responses((status = 200, body = Reply<BoardroomView>), WriteProblems))]
async fn retry(on: On<Retry, (String, String)>) -> Result<impl IntoResponse, Problem> {
    let place = (session_id(&on.at.0)?, numbered(&on.at.1));
    show(&on.app, &boardrooms::retry(&on.app.clerk, place, on.by, on.body).await?)
}

/// Takes one of an advisor's answers to the last question, and none of its others, for
/// whatever is made from now on. Syntheses that are there stay: ask for another one with
/// `resynthesize`.
#[utoipa::path(post, path = "/api/boardrooms/{id}/advisors/{advisor}/pick", tag = "boardrooms",
    params(
        ("id" = uuid::Uuid, Path, description = "The board."),
        ("advisor" = u8, Path, minimum = 1, maximum = 16, description = "The seat's number."),
        Key),
    request_body = NewPick,
    responses((status = 200, body = Reply<BoardroomView>), WriteProblems))]
async fn pick(on: On<NewPick, (String, String)>) -> Result<impl IntoResponse, Problem> {
    let place = (session_id(&on.at.0)?, numbered(&on.at.1));
    show(&on.app, &boardrooms::pick(&on.app.clerk, place, on.by, on.body).await?)
}

/// Puts a further question to the same seats, or to some of them: each has its own earlier
/// answers and the last verdict before it. The answers are a round of their own, with a
/// synthesis of their own; what was said before stays.
#[utoipa::path(post, path = "/api/boardrooms/{id}/follow-up", tag = "boardrooms",
    params(("id" = uuid::Uuid, Path, description = "The board."), Key),
    request_body = NewFollowUp,
    responses((status = 200, body = Reply<BoardroomView>), WriteProblems))]
async fn follow_up(on: On<NewFollowUp>) -> Result<impl IntoResponse, Problem> {
    let snapshot =
        boardrooms::follow_up(&on.app.clerk, session_id(&on.at)?, on.by, on.body).await?;
    show(&on.app, &snapshot)
}

/// Stops one advisor and keeps what it has said so far. The others continue; after the last of them
/// the verdict is written without it, and a board where no one has answered fails.
/// In a ballot it is passed over, be it a model or a person, and the tally goes without it.
#[utoipa::path(post, path = "/api/boardrooms/{id}/advisors/{advisor}/stop", tag = "boardrooms",
    params(
        ("id" = uuid::Uuid, Path, description = "The board."),
        ("advisor" = u8, Path, minimum = 1, maximum = 16, description = "The seat's number."),
        Key),
    responses((status = 200, body = Reply<BoardroomView>), WriteProblems))]
async fn stop_advisor(on: On<Empty, (String, String)>) -> Result<impl IntoResponse, Problem> {
    let seat = numbered(&on.at.1);
    submit(&on.app, &on.at.0, on.by, Command::StopAdvisor { seat }).await
}

/// A person's own answer as an advisor: by that person, the person who opened the board, or the
/// operator of the server.
#[utoipa::path(post, path = "/api/boardrooms/{id}/reply", tag = "boardrooms",
    params(("id" = uuid::Uuid, Path, description = "The board."), AgentHeader, Key),
    request_body = Answer,
    responses((status = 200, body = Reply<BoardroomView>), WriteProblems))]
async fn answer(asking: Asking, on: On<Answer>) -> Result<impl IntoResponse, Problem> {
    let caller = asking.about(&on.app, session_id(&on.at)?, on.by).await?;
    let proven = caller.proven.clone();
    let answered = boardrooms::answer(&on.app.clerk, caller, on.body).await?;
    show(&on.app, &boardrooms::seen(answered, &proven, None)?)
}

/// A person's own votes as an advisor, during the vote: by that person, the person who opened the
/// board, or the operator of the server.
#[utoipa::path(post, path = "/api/boardrooms/{id}/ballot", tag = "boardrooms",
    params(("id" = uuid::Uuid, Path, description = "The board."), AgentHeader, Key),
    request_body = NewBallot,
    responses((status = 200, body = Reply<BoardroomView>), WriteProblems))]
async fn cast(asking: Asking, on: On<NewBallot>) -> Result<impl IntoResponse, Problem> {
    let caller = asking.about(&on.app, session_id(&on.at)?, on.by).await?;
    let proven = caller.proven.clone();
    let voted = boardrooms::cast(&on.app.clerk, caller, on.body).await?;
    show(&on.app, &boardrooms::seen(voted, &proven, None)?)
}

/// Puts the last synthesis of a closed board to the vote, where it has not been voted on.
#[utoipa::path(post, path = "/api/boardrooms/{id}/ballot/open", tag = "boardrooms",
    params(("id" = uuid::Uuid, Path, description = "The board."), Key),
    responses((status = 200, body = Reply<BoardroomView>), WriteProblems))]
async fn open_ballot(on: On<Empty>) -> Result<impl IntoResponse, Problem> {
    submit(&on.app, &on.at, on.by, Command::OpenBallot).await
}

/// Everything that happens on a board, live. `id` is the version; a reader that
/// comes with `Last-Event-ID` gets everything after it, then live. Between
/// durable events come `delta`, `reasoning`, `retrying` and `waiting` frames
/// without an id. To a seat whose reply is awaited, events are told without the words of
/// the others, and their `delta` frames not at all.
#[utoipa::path(get, path = "/api/boardrooms/{id}/events", tag = "boardrooms",
    params(("id" = uuid::Uuid, Path, description = "The board."), SeenAfter, AgentHeader),
    responses((status = 200, body = String, content_type = "text/event-stream"), ReadProblems))]
async fn events(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<SeenAfter>,
    asking: Asking,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let after = live::after(&headers, query.after)?.unwrap_or(0);
    let id = board_id(&app, &id).await?;
    let seat = boardrooms::looking(&asking.proven(&app, id).await?, seat(query.seat)?)?;
    let frames = app.engine.watch(id, after).await?;
    Ok(match seat {
        Some(seat) => live::respond(live::from_seat(app.engine.clone(), id, seat, frames)),
        None => live::respond(frames.map(live::frame)),
    })
}

/// Where a reader left off, and from where the board is looked at.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SeenAfter {
    /// Everything after this id; `Last-Event-ID` does the same and wins.
    #[param(nullable = false)]
    after: Option<u64>,
    /// As it is told to the person on this seat. A seat's token does the same and wins.
    #[param(minimum = 1, maximum = 16, nullable = false)]
    seat: Option<u8>,
}

/// The id of a board. A session of another form is no board: what it hides must not
/// be had by this way.
async fn board_id(app: &App, text: &str) -> Result<SessionId, Problem> {
    Ok(app.clerk.row(session_id(text)?, KIND).await?.id)
}

/// A board that was convened, and what its persons need.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Convened {
    #[serde(flatten)]
    board: BoardroomView,
    /// One for each person, to be handed to them. They are not shown again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    seat_tokens: Vec<SeatToken>,
}

/// A new board, and where it is.
async fn created(app: &App, opened: &Snapshot) -> Result<impl IntoResponse + use<>, Problem> {
    let place = [(header::LOCATION, format!("/api/boardrooms/{}", opened.id))];
    let seat_tokens = agents::seat_tokens(app, opened).await?;
    let board = view(app, opened)?;
    Ok((StatusCode::CREATED, place, reply(Convened { board, seat_tokens })))
}

async fn submit(
    app: &App,
    id: &str,
    by: By,
    command: Command,
) -> Result<Json<Reply<BoardroomView>>, Problem> {
    show(app, &boardrooms::submit(&app.clerk, session_id(id)?, by, command).await?)
}

fn show(app: &App, snapshot: &Snapshot) -> Result<Json<Reply<BoardroomView>>, Problem> {
    Ok(reply(view(app, snapshot)?))
}

fn view(app: &App, snapshot: &Snapshot) -> Result<BoardroomView, Problem> {
    let state = board(snapshot)?;
    let running = |call: &_| match state.veiled_for().is_some() {
        true => None,
        false => app.engine.underway(snapshot.id, call),
    };
    let reserved = app.engine.reserved(snapshot.id);
    let beside = Beside { running: &running, clerk: &app.clerk, ledger: &state.ledger, reserved };
    Ok(shown::view(snapshot.id, snapshot.version, state, &beside))
}
