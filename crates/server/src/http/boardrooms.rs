//! Boardrooms: convene, follow, stop, synthesize, export.

pub mod ballot;
pub mod export;
pub mod seating;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use plenary_domain::boardroom::{Advisor, Command, Role, SeatId, Sitter, preset};
use plenary_domain::{ModelName, SessionId, room};
use plenary_engine::{By, Snapshot};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::events::After;
use super::owned::{self, Asking, SeatToken};
use super::session_id;
use super::sessions::{self, Empty, Filter};
use crate::App;
use crate::agents::{AgentHeader, AgentToken, PersonsSeat};
use crate::auth::Standing;
use crate::error::{Code, Problem, ReadProblems, WriteProblems};
use crate::idempotency::{Change, Key, Path, Query};
use crate::live;
use crate::views::{self, Beside, BoardroomView, Nothing, Reply, RoleName, SessionView, reply};

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(presets))
        .routes(routes!(list, convene))
        .routes(routes!(export::import))
        .routes(routes!(get, remove))
        .routes(routes!(stop))
        .routes(routes!(resume))
        .routes(routes!(synthesize))
        .routes(routes!(resynthesize))
        .routes(routes!(retry))
        .routes(routes!(stop_advisor))
        .routes(routes!(answer))
        .routes(routes!(ballot::cast))
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
async fn list(
    State(app): State<App>,
    Query(filter): Query<Filter>,
) -> Result<impl IntoResponse, Problem> {
    let kind = Some("boardroom".to_owned());
    sessions::show(&app, Filter { kind, ..filter }).await
}

/// Convenes a board: every advisor is asked at once, and a synthesis follows; with
/// `ballot`, the advisors then vote on its points.
/// Answers at once; follow the events, or get the board again.
#[utoipa::path(post, path = "/api/boardrooms", tag = "boardrooms",
    request_body = seating::NewBoardroom,
    params(Key),
    responses((status = 201, body = Reply<Convened>), WriteProblems))]
async fn convene(
    State(app): State<App>,
    Change { by, body }: Change<seating::NewBoardroom>,
) -> Result<impl IntoResponse, Problem> {
    if let Some(earlier) = app.engine.repeated(&by).await? {
        return created(&app, &earlier).await;
    }
    let convene = seating::seat(&app, body).await?;
    let opened = app.engine.open(by, room::Command::Boardroom(Command::Convene(convene))).await?;
    created(&app, &opened).await
}

/// A board as it stands, with the text so far of answers under way.
#[utoipa::path(get, path = "/api/boardrooms/{id}", tag = "boardrooms",
    params(("id" = uuid::Uuid, Path, description = "The board.")),
    responses((status = 200, body = Reply<BoardroomView>), ReadProblems))]
async fn get(State(app): State<App>, Path(id): Path<String>) -> Result<impl IntoResponse, Problem> {
    let snapshot = app.engine.get(session_id(&id)?).await?;
    show(&app, &snapshot)
}

/// Removes a board and its record for good. For whoever opened it, and the operator of
/// the server.
#[utoipa::path(delete, path = "/api/boardrooms/{id}", tag = "boardrooms",
    params(("id" = uuid::Uuid, Path, description = "The board.")),
    responses((status = 200, body = Reply<Nothing>), WriteProblems))]
async fn remove(
    State(app): State<App>,
    Path(id): Path<String>,
    standing: Standing,
    token: AgentToken,
    Change { body: Empty {}, .. }: Change<Empty>,
) -> Result<impl IntoResponse, Problem> {
    let id = board_id(&app, &id).await?;
    Asking { app: &app, standing: &standing, token: &token }.remove(id).await?;
    Ok(reply(Nothing {}))
}

/// Stops every call at once and keeps what has arrived. No synthesis follows.
#[utoipa::path(post, path = "/api/boardrooms/{id}/stop", tag = "boardrooms",
    params(("id" = uuid::Uuid, Path, description = "The board."), Key),
    responses((status = 200, body = Reply<BoardroomView>), WriteProblems))]
async fn stop(
    State(app): State<App>,
    Path(id): Path<String>,
    Change { by, body: Empty {} }: Change<Empty>,
) -> Result<impl IntoResponse, Problem> {
    let id = board_id(&app, &id).await?;
    let snapshot = app.engine.submit(id, by, room::Command::Stop).await?;
    show(&app, &snapshot)
}

/// Asks again whoever has no answer, on a board that was stopped or failed.
#[utoipa::path(post, path = "/api/boardrooms/{id}/resume", tag = "boardrooms",
    params(("id" = uuid::Uuid, Path, description = "The board."), Key),
    responses((status = 200, body = Reply<BoardroomView>), WriteProblems))]
async fn resume(
    State(app): State<App>,
    Path(id): Path<String>,
    Change { by, body: Empty {} }: Change<Empty>,
) -> Result<impl IntoResponse, Problem> {
    let id = board_id(&app, &id).await?;
    // One that was cut off by a crash has nothing to decide, only to go on with.
    if app.engine.row(id).await?.active {
        app.engine.resume(id).await?;
        let snapshot = app.engine.get(id).await?;
        return show(&app, &snapshot);
    }
    submit(&app, &id.to_string(), by, Command::Resume).await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewSynthesis {
    /// Another model than the board's synthesizer.
    #[serde(default)]
    #[schema(min_length = 1)]
    model: Option<String>,
    /// What the reader asks of it: "for a board of directors", "in French".
    #[serde(default)]
    #[schema(max_length = 8192)]
    instruction: Option<String>,
}

/// Begins the synthesis now, with the answers that are there; who has not
/// finished is stopped.
#[utoipa::path(post, path = "/api/boardrooms/{id}/synthesize", tag = "boardrooms",
    params(("id" = uuid::Uuid, Path, description = "The board."), Key),
    request_body = NewSynthesis,
    responses((status = 200, body = Reply<BoardroomView>), WriteProblems))]
async fn synthesize(
    State(app): State<App>,
    Path(id): Path<String>,
    Change { by, body }: Change<NewSynthesis>,
) -> Result<impl IntoResponse, Problem> {
    let model = seating::named(&app, body.model).await?;
    submit(&app, &id, by, Command::Synthesize { model, instruction: body.instruction }).await
}

/// Adds a synthesis to a board at rest. Earlier ones are kept.
#[utoipa::path(post, path = "/api/boardrooms/{id}/resynthesize", tag = "boardrooms",
    params(("id" = uuid::Uuid, Path, description = "The board."), Key),
    request_body = NewSynthesis,
    responses((status = 200, body = Reply<BoardroomView>), WriteProblems))]
async fn resynthesize(
    State(app): State<App>,
    Path(id): Path<String>,
    Change { by, body }: Change<NewSynthesis>,
) -> Result<impl IntoResponse, Problem> {
    let model = seating::named(&app, body.model).await?;
    submit(&app, &id, by, Command::Resynthesize { model, instruction: body.instruction }).await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Retry {
    /// Another model for this seat.
    #[serde(default)]
    #[schema(min_length = 1)]
    model: Option<String>,
}

/// Asks one advisor again; a new synthesis follows.
#[utoipa::path(post, path = "/api/boardrooms/{id}/advisors/{advisor}/retry", tag = "boardrooms",
    params(
        ("id" = uuid::Uuid, Path, description = "The board."),
        ("advisor" = u8, Path, minimum = 1, maximum = 16, description = "The seat's number."),
        Key),
    request_body = Retry,
    responses((status = 200, body = Reply<BoardroomView>), WriteProblems))]
async fn retry(
    State(app): State<App>,
    Path((id, advisor)): Path<(String, String)>,
    Change { by, body }: Change<Retry>,
) -> Result<impl IntoResponse, Problem> {
    let seat = numbered(&advisor);
    let model: Option<ModelName> = seating::named(&app, body.model).await?;
    submit(&app, &id, by, Command::Retry { seat, model }).await
}

/// Stops one advisor and keeps what it has said so far. The others go on; after the last
/// of them the synthesis begins without it, and a board where nobody has answered fails.
#[utoipa::path(post, path = "/api/boardrooms/{id}/advisors/{advisor}/stop", tag = "boardrooms",
    params(
        ("id" = uuid::Uuid, Path, description = "The board."),
        ("advisor" = u8, Path, minimum = 1, maximum = 16, description = "The seat's number."),
        Key),
    responses((status = 200, body = Reply<BoardroomView>), WriteProblems))]
async fn stop_advisor(
    State(app): State<App>,
    Path((id, advisor)): Path<(String, String)>,
    Change { by, body: Empty {} }: Change<Empty>,
) -> Result<impl IntoResponse, Problem> {
    submit(&app, &id, by, Command::StopAdvisor { seat: numbered(&advisor) }).await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Answer {
    /// The seat's number; needed when persons hold several.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 16)]
    advisor: Option<u8>,
    #[schema(min_length = 1, max_length = 65536)]
    text: String,
}

/// A person's own answer as an advisor: by that person, whoever opened the board, or the
/// operator of the server.
#[utoipa::path(post, path = "/api/boardrooms/{id}/reply", tag = "boardrooms",
    params(("id" = uuid::Uuid, Path, description = "The board."), AgentHeader, Key),
    request_body = Answer,
    responses((status = 200, body = Reply<BoardroomView>), WriteProblems))]
async fn answer(
    State(app): State<App>,
    Path(id): Path<String>,
    standing: Standing,
    token: AgentToken,
    Change { by, body }: Change<Answer>,
) -> Result<impl IntoResponse, Problem> {
    if let Some(earlier) = app.engine.repeated(&by).await? {
        return show(&app, &earlier);
    }
    let asking = Asking { app: &app, standing: &standing, token: &token };
    let seat = speaking(&asking, &id, body.advisor, seating::persons_seat).await?;
    submit(&app, &id, by, Command::Reply { seat, text: body.text }).await
}

/// Everything that happens on a board, live. `id` is the version; a reader that
/// comes with `Last-Event-ID` gets everything after it, then live. Between
/// durable events come `delta`, `reasoning`, `retrying` and `waiting` frames
/// without an id.
#[utoipa::path(get, path = "/api/boardrooms/{id}/events", tag = "boardrooms",
    params(("id" = uuid::Uuid, Path, description = "The board."), After),
    responses((status = 200, body = String, content_type = "text/event-stream"), ReadProblems))]
async fn events(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<After>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let after = live::after(&headers, query.after)?.unwrap_or(0);
    let frames = app.engine.watch(board_id(&app, &id).await?, after).await?;
    Ok(live::respond(frames.map(live::frame)))
}

/// A seat by its number. One that no seat can have is one that no seat has.
fn numbered(text: &str) -> SeatId {
    SeatId(text.parse().unwrap_or(0))
}

/// The id of a board. A session of another form is no board: what it hides must not
/// be had by this way.
async fn board_id(app: &App, text: &str) -> Result<SessionId, Problem> {
    let id = session_id(text)?;
    let row = app.engine.row(id).await?;
    if row.kind == "boardroom" { Ok(id) } else { Err(Problem::no_such_session(id)) }
}

fn board(snapshot: &Snapshot) -> Result<&plenary_domain::boardroom::State, Problem> {
    snapshot.room.boardroom().ok_or_else(|| Problem::no_such_session(snapshot.id))
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
    let seat_tokens = owned::seat_tokens(app, opened.id, persons(board(opened)?)).await?;
    let board = view(app, opened)?;
    Ok((StatusCode::CREATED, place, reply(Convened { board, seat_tokens })))
}

/// The seats that persons hold.
fn persons(state: &plenary_domain::boardroom::State) -> Vec<PersonsSeat> {
    let person = |advisor: &Advisor| match &advisor.seat.sitter {
        Sitter::Person { name, .. } => {
            Some(PersonsSeat { id: advisor.seat.id.0.to_string(), name: name.clone() })
        }
        Sitter::Model(_) => None,
    };
    state.advisors.iter().filter_map(person).collect()
}

/// The seat for which somebody speaks: the one that was named, or their own, or else the
/// one that is awaited.
async fn speaking(
    asking: &Asking<'_>,
    id: &str,
    named: Option<u8>,
    awaited: fn(&Snapshot) -> Result<SeatId, Problem>,
) -> Result<SeatId, Problem> {
    let snapshot = asking.app.engine.get(session_id(id)?).await?;
    let own = asking.seat(&snapshot, &persons(board(&snapshot)?)).await?;
    match (own, named) {
        (Some(own), Some(named)) if own.id != named.to_string() => {
            let message = format!("The token is for advisor {}, {}.", own.id, own.name);
            Err(Problem::new(Code::NotYours, message))
        }
        (Some(own), _) => Ok(numbered(&own.id)),
        (None, Some(named)) => Ok(SeatId(named)),
        (None, None) => awaited(&snapshot),
    }
}

async fn submit(
    app: &App,
    id: &str,
    by: By,
    command: Command,
) -> Result<Json<Reply<BoardroomView>>, Problem> {
    let command = room::Command::Boardroom(command);
    let snapshot = app.engine.submit(session_id(id)?, by, command).await?;
    show(app, &snapshot)
}

fn show(app: &App, snapshot: &Snapshot) -> Result<Json<Reply<BoardroomView>>, Problem> {
    Ok(reply(view(app, snapshot)?))
}

fn view(app: &App, snapshot: &Snapshot) -> Result<BoardroomView, Problem> {
    let state = board(snapshot)?;
    let running = |call: &_| app.engine.underway(snapshot.id, call);
    let beside = Beside { running: &running, prices: &app.prices };
    Ok(views::boardroom(snapshot.id, snapshot.version, state, &beside))
}
