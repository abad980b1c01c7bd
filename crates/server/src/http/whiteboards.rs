//! Whiteboards: open, register, post, annotate, vote, move on, read, archive.

mod admission;
mod export;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use plenary_domain::whiteboard::{
    self, AnnotationId, Command, Content, Note, Phase, PostId, Shown,
};
use plenary_domain::{AgentName, SessionId, Viewer, limits, room, view};
use plenary_engine::{By, Snapshot};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::events::After;
use super::routes::{Routes, routes};
use super::sessions::{self, Filter};
use super::within;
use crate::App;
use crate::agents::{self, AgentHeader, AgentToken, Proof};
use crate::auth::Standing;
use crate::error::{Code, Problem, ReadProblems, WriteProblems};
use crate::idempotency::{Change, Key, Path, Query};
use crate::live;
use crate::views::whiteboards::{
    self as views, AdmissionName, AgentView, AnnotationType, BoardRole, ConflictView, FindingName,
    Part, PhaseName, PostType, PostView, SeverityName, VisibilityName, VoteName, WhiteboardSummary,
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

const KIND: &str = "whiteboard";

/// Whiteboards, newest first.
#[utoipa::path(get, path = "/api/whiteboards", tag = "whiteboards", params(Filter),
    responses((status = 200, body = Reply<Vec<SessionView>>), ReadProblems))]
async fn list(
    State(app): State<App>,
    Query(filter): Query<Filter>,
) -> Result<impl IntoResponse, Problem> {
    sessions::show(&app, Filter { kind: Some(KIND.to_owned()), ..filter }).await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewWhiteboard {
    /// The board's name, for ever: small letters, digits, dots, dashes, underscores.
    #[schema(pattern = "^[a-z0-9][a-z0-9._-]{0,79}$")]
    board_id: String,
    /// The question to be decided.
    #[schema(min_length = 1, max_length = 4096)]
    topic: String,
    /// Your name here. You are registered as facilitator.
    #[schema(pattern = "^[A-Za-z0-9][A-Za-z0-9._@-]{0,79}$")]
    opened_by: String,
    /// The project that it belongs to; lists filter by it.
    #[serde(default)]
    #[schema(max_length = 200)]
    project: Option<String>,
    /// With `invited`, whoever wants to lead needs the invitation that comes back, and
    /// after the blind phase everybody a personal one; `open` lets anybody register.
    #[serde(default)]
    admission: Option<AdmissionName>,
    /// `own-and-related` hides, while the debate goes on, annotations and votes on
    /// posts that one has neither written nor acted on.
    #[serde(default)]
    debate_visibility: Option<VisibilityName>,
    /// At the end of a phase's time the board goes on by itself.
    #[serde(default)]
    deadlines: Option<Deadlines>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Deadlines {
    /// Seconds that the phase lasts at most.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 7_776_000)]
    blind_seconds: Option<u32>,
    #[serde(default)]
    #[schema(minimum = 1, maximum = 7_776_000)]
    read_seconds: Option<u32>,
    #[serde(default)]
    #[schema(minimum = 1, maximum = 7_776_000)]
    validate_seconds: Option<u32>,
    #[serde(default)]
    #[schema(minimum = 1, maximum = 7_776_000)]
    debate_seconds: Option<u32>,
    #[serde(default)]
    #[schema(minimum = 1, maximum = 7_776_000)]
    resolve_seconds: Option<u32>,
}

impl Deadlines {
    fn list(&self) -> Vec<whiteboard::Deadline> {
        let given = [
            (Phase::Blind, self.blind_seconds),
            (Phase::Read, self.read_seconds),
            (Phase::Validate, self.validate_seconds),
            (Phase::Debate, self.debate_seconds),
            (Phase::Resolve, self.resolve_seconds),
        ];
        given
            .into_iter()
            .filter_map(|(phase, seconds)| {
                let after_ms = u64::from(seconds?) * 1000;
                Some(whiteboard::Deadline { phase, after_ms })
            })
            .collect()
    }
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
    standing: Standing,
    Change { by, body }: Change<NewWhiteboard>,
) -> Result<impl IntoResponse, Problem> {
    let opener = AgentName(body.opened_by);
    let open = whiteboard::Open {
        name: body.board_id,
        topic: body.topic,
        project: body.project,
        by: opener.clone(),
        principal: standing.principal().map(str::to_owned),
        admission: body.admission.unwrap_or(AdmissionName::Open).into(),
        debate: body.debate_visibility.unwrap_or(VisibilityName::Full).into(),
        deadlines: body.deadlines.map(|deadlines| deadlines.list()).unwrap_or_default(),
    };
    let command = room::Command::Whiteboard(Command::Open(open));
    let opened = app.engine.open(agents::opened(by, &opener), command).await?;
    let place = [(header::LOCATION, format!("/api/whiteboards/{}", board(&opened)?.name()))];
    let mut you = registered(&app, &opened, &opener, 0).await?;
    // What was made anew since is not for whoever repeats an old request.
    if board(&opened)?.invitation().is_some() {
        you.invitation = Some(agents::code(&app, opened.id, &Proof::Invitation(0)).await?);
    }
    Ok((StatusCode::CREATED, place, reply(you)))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAgent {
    /// Your name on this board.
    #[schema(pattern = "^[A-Za-z0-9][A-Za-z0-9._@-]{0,79}$")]
    agent_name: String,
    /// `facilitator` and `operator` may also move the board from phase to phase.
    role: BoardRole,
    /// What you know about.
    #[serde(default)]
    #[schema(max_length = 300)]
    domain: Option<String>,
    /// On a board to which one is invited: the code that you were given. Specialists need
    /// none in the blind phase.
    #[serde(default)]
    #[schema(max_length = 200)]
    invitation: Option<String>,
}

/// Registers an agent. A second time with the same role and domain changes nothing;
/// it needs the agent's token.
#[utoipa::path(post, path = "/api/whiteboards/{board}/agents", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), AgentHeader, Key),
    request_body = NewAgent,
    responses((status = 200, body = Reply<Registered>), WriteProblems))]
async fn register(
    State(app): State<App>,
    Path(name): Path<String>,
    token: AgentToken,
    Change { by, body }: Change<NewAgent>,
) -> Result<impl IntoResponse, Problem> {
    let id = app.engine.named(KIND, &name).await?;
    let agent = AgentName(body.agent_name);
    let by = agents::claimed(by, id, &agent);
    // Whoever repeats their own request comes without the answer, so without a token.
    let repeated = app.engine.repeated(&by).await?;
    let now = app.engine.get(id).await?;
    let (state, role) = (board(&now)?, body.role.into());
    let shown = token.shown(&app, id, state, (&agent, role), body.invitation.as_deref()).await?;
    if repeated.is_none() {
        // Whoever may not come in is not told who is in.
        state.admit(&agent, role, shown)?;
        if state.member(&agent).is_some() {
            token.prove(&app, id, &agent).await?;
        }
    }
    let command = Command::Register { agent: agent.clone(), role, domain: body.domain, shown };
    let snapshot = app.engine.submit(id, by, room::Command::Whiteboard(command)).await?;
    // Two that come at once: the log says who was first.
    if repeated.is_none() && snapshot.written.is_none() {
        token.prove(&app, id, &agent).await?;
    }
    // What was made anew since is not for whoever repeats an old request.
    let renewals = if shown == Shown::Token { board(&snapshot)?.renewals(&agent) } else { 0 };
    Ok(reply(registered(&app, &snapshot, &agent, renewals).await?))
}

async fn registered(
    app: &App,
    snapshot: &Snapshot,
    agent: &AgentName,
    renewals: u32,
) -> Result<Registered, Problem> {
    let viewer = Viewer::Agent(agent.clone());
    let glance = view::glance(board(snapshot)?, &viewer);
    let member = glance.viewer.ok_or_else(|| agents::not_yours(agent))?;
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

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewPost {
    /// What kind of post.
    #[serde(rename = "type")]
    kind: PostType,
    /// The point in one line.
    #[schema(min_length = 1, max_length = 300)]
    title: String,
    /// The reasons, with evidence.
    #[schema(min_length = 1, max_length = 65536)]
    body: String,
    /// The file that this is about.
    #[serde(default)]
    #[schema(max_length = 500)]
    target_file: Option<String>,
    /// Lines (`12-40`) or a symbol of that file.
    #[serde(default)]
    #[schema(max_length = 500)]
    target_location: Option<String>,
    /// How bad it is, where that applies.
    #[serde(default)]
    severity: Option<SeverityName>,
    /// Findings that several posts may speak of.
    #[serde(default)]
    #[schema(max_items = 64)]
    finding_refs: Vec<String>,
    /// Files that would have to change too.
    #[serde(default)]
    #[schema(max_items = 64)]
    cascade_targets: Vec<String>,
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

/// Posts. In the blind phase nobody else sees it before the board goes to read.
#[utoipa::path(post, path = "/api/whiteboards/{board}/posts", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), AgentHeader, Key),
    request_body = NewPost,
    responses((status = 200, body = Reply<Written>), WriteProblems))]
async fn post(
    State(app): State<App>,
    Path(name): Path<String>,
    token: AgentToken,
    Change { by, body }: Change<NewPost>,
) -> Result<impl IntoResponse, Problem> {
    let content = Content {
        kind: body.kind.into(),
        title: body.title,
        body: body.body,
        target_file: body.target_file,
        target_location: body.target_location,
        severity: body.severity.map(Into::into),
        finding_refs: body.finding_refs,
        cascade_targets: body.cascade_targets,
    };
    let acting = Acting::on(&app, &name, &token, by).await?;
    acting.write(|agent| Command::Post { agent, content }, None).await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAnnotation {
    /// The post, as `author/number`.
    post_id: String,
    /// `validation` in validate; `challenge`, `corroboration`, `rebuttal` (by the
    /// author) and `withdrawal` in debate; `resolution` in debate and resolve.
    #[serde(rename = "type")]
    kind: AnnotationType,
    /// May be empty in a withdrawal.
    #[serde(default)]
    #[schema(max_length = 65536)]
    body: String,
    /// Of a validation.
    #[serde(default)]
    result: Option<FindingName>,
    /// The challenge that a resolution settles, a rebuttal answers, or its challenger
    /// withdraws.
    #[serde(default)]
    challenge_id: Option<String>,
}

impl NewAnnotation {
    fn note(&self) -> Result<Note, Problem> {
        let challenge = self.challenge_id.clone().map(AnnotationId);
        let wrong =
            |field: &str, problem: &str| Problem::invalid([(field.to_owned(), problem.to_owned())]);
        let only = "belongs to a validation only";
        if self.result.is_some() && self.kind != AnnotationType::Validation {
            return Err(wrong("result", only));
        }
        let note = match (self.kind, challenge) {
            (AnnotationType::Validation, None) => {
                let missing = "a validation needs a result: confirmed, refuted or inconclusive";
                let result = self.result.ok_or_else(|| wrong("result", missing))?;
                Note::Validation { result: result.into() }
            }
            (AnnotationType::Challenge, None) => Note::Challenge,
            (AnnotationType::Corroboration, None) => Note::Corroboration,
            (AnnotationType::Rebuttal, challenge) => Note::Rebuttal { challenge },
            (AnnotationType::Withdrawal, challenge) => Note::Withdrawal { challenge },
            (AnnotationType::Resolution, Some(challenge)) => Note::Resolution { challenge },
            (AnnotationType::Resolution, None) => {
                return Err(wrong("challengeId", "a resolution names the challenge it settles"));
            }
            (
                AnnotationType::Validation
                | AnnotationType::Challenge
                | AnnotationType::Corroboration,
                Some(_),
            ) => {
                let problem = "belongs to a rebuttal, a withdrawal or a resolution";
                return Err(wrong("challengeId", problem));
            }
        };
        Ok(note)
    }
}

/// Annotates a post of another, or answers for one's own.
#[utoipa::path(post, path = "/api/whiteboards/{board}/annotations", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), AgentHeader, Key),
    request_body = NewAnnotation,
    responses((status = 200, body = Reply<Written>), WriteProblems))]
async fn annotate(
    State(app): State<App>,
    Path(name): Path<String>,
    token: AgentToken,
    Change { by, body }: Change<NewAnnotation>,
) -> Result<impl IntoResponse, Problem> {
    let note = body.note()?;
    let post = PostId(body.post_id);
    let (on, text) = (post.clone(), body.body);
    let command = |agent| Command::Annotate { agent, post: on, note, body: text };
    let acting = Acting::on(&app, &name, &token, by).await?;
    acting.write(command, Some(post)).await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewVote {
    /// The post, as `author/number`.
    post_id: String,
    /// Your choice.
    vote: VoteName,
    /// Why, for the record.
    #[serde(default)]
    #[schema(max_length = 65536)]
    reason: Option<String>,
}

/// Votes on a post of another, in debate. A second vote replaces the first.
#[utoipa::path(post, path = "/api/whiteboards/{board}/votes", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), AgentHeader, Key),
    request_body = NewVote,
    responses((status = 200, body = Reply<Written>), WriteProblems))]
async fn vote(
    State(app): State<App>,
    Path(name): Path<String>,
    token: AgentToken,
    Change { by, body }: Change<NewVote>,
) -> Result<impl IntoResponse, Problem> {
    let post = PostId(body.post_id);
    let choice = body.vote.into();
    let (on, reason) = (post.clone(), body.reason);
    let command = |agent| Command::Vote { agent, post: on, choice, reason };
    let acting = Acting::on(&app, &name, &token, by).await?;
    acting.write(command, Some(post)).await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Move {
    /// blind → read → validate → debate → resolve → archived; read → debate and
    /// validate → resolve may be skipped to.
    target_phase: PhaseName,
    /// Why, for the record.
    #[serde(default)]
    #[schema(max_length = 65536)]
    note: Option<String>,
}

/// Moves the board on. For facilitators and operators.
#[utoipa::path(post, path = "/api/whiteboards/{board}/transition", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), AgentHeader, Key),
    request_body = Move,
    responses((status = 200, body = Reply<WhiteboardSummary>), WriteProblems))]
async fn transition(
    State(app): State<App>,
    Path(name): Path<String>,
    token: AgentToken,
    Change { by, body }: Change<Move>,
) -> Result<impl IntoResponse, Problem> {
    let (to, note) = (body.target_phase.into(), body.note);
    let acting = Acting::on(&app, &name, &token, by).await?;
    let viewer = acting.viewer();
    let snapshot = acting.submit(|agent| Command::Transition { agent, to, note }).await?;
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
}

/// The board as you may see it. With an agent token: as that agent.
#[utoipa::path(get, path = "/api/whiteboards/{board}", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), Reading, AgentHeader),
    responses((status = 200, body = Reply<WhiteboardView>), ReadProblems))]
async fn state(
    State(app): State<App>,
    Path(name): Path<String>,
    token: AgentToken,
    Query(query): Query<Reading>,
) -> Result<impl IntoResponse, Problem> {
    let bodies = query.detail == Some(sessions::DetailName::Full);
    let (from, limit) = window(query.cursor.as_deref(), query.limit)?;
    let (snapshot, viewer) = look(&app, &name, &token).await?;
    let part = Part { bodies, from, limit };
    Ok(reply(views::whiteboard(snapshot.id, &view::board(board(&snapshot)?, &viewer), part)))
}

/// Counts, tallies, what survives and what is open; no bodies.
#[utoipa::path(get, path = "/api/whiteboards/{board}/summary", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), AgentHeader),
    responses((status = 200, body = Reply<WhiteboardSummary>), ReadProblems))]
async fn summarize(
    State(app): State<App>,
    Path(name): Path<String>,
    token: AgentToken,
) -> Result<impl IntoResponse, Problem> {
    let (snapshot, viewer) = look(&app, &name, &token).await?;
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
    token: AgentToken,
    Query(query): Query<Window>,
) -> Result<impl IntoResponse, Problem> {
    let (from, limit) = window(query.cursor.as_deref(), query.limit)?;
    let (snapshot, _) = look(&app, &name, &token).await?;
    let found = view::board_conflicts(board(&snapshot)?)?;
    let shown = found.iter().skip(from).take(limit).map(views::conflict).collect::<Vec<_>>();
    let next = (from + limit < found.len()).then(|| (from + limit).to_string());
    Ok(page(shown, found.len() as u64, limit as u32, next))
}

/// Everything that you may see happen on a board, live. `id` counts what you see; a
/// reader that comes with `Last-Event-ID` gets everything after it, then live. What
/// was hidden comes when it may be seen.
#[utoipa::path(get, path = "/api/whiteboards/{board}/events", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), After, AgentHeader),
    responses((status = 200, body = String, content_type = "text/event-stream"), ReadProblems))]
async fn events(
    State(app): State<App>,
    Path(name): Path<String>,
    token: AgentToken,
    Query(query): Query<After>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let after = live::after(&headers, query.after)?.unwrap_or(0);
    let id = app.engine.named(KIND, &name).await?;
    // Before the token is compared: one that is made anew meanwhile is not overlooked.
    let before = app.engine.get(id).await?;
    let viewer = token.viewer(&app, id).await?;
    let renewals = match &viewer {
        Viewer::Agent(agent) => before.room.renewals(agent),
        Viewer::Outsider => 0,
    };
    // From the first one on: what this viewer has seen is counted, not what happened.
    let frames = app.engine.watch(id, 0).await?;
    Ok(live::respond(live::seen(app.engine.clone(), frames, (viewer, renewals), after)))
}

/// One agent's request on one board.
struct Acting<'a> {
    app: &'a App,
    id: SessionId,
    by: By,
    agent: AgentName,
}

impl<'a> Acting<'a> {
    async fn on(
        app: &'a App,
        name: &str,
        token: &AgentToken,
        by: By,
    ) -> Result<Acting<'a>, Problem> {
        let id = app.engine.named(KIND, name).await?;
        let agent = token.agent(app, id).await?;
        Ok(Acting { app, id, by: agents::by(by, id, &agent), agent })
    }

    fn viewer(&self) -> Viewer {
        Viewer::Agent(self.agent.clone())
    }

    async fn submit(self, command: impl FnOnce(AgentName) -> Command) -> Result<Snapshot, Problem> {
        let command = room::Command::Whiteboard(command(self.agent));
        Ok(self.app.engine.submit(self.id, self.by, command).await?)
    }

    /// Adds to a post, or makes one.
    async fn write(
        self,
        command: impl FnOnce(AgentName) -> Command,
        post: Option<PostId>,
    ) -> Result<axum::Json<Reply<Written>>, Problem> {
        let (app, viewer) = (self.app, self.viewer());
        let snapshot = self.submit(command).await?;
        // The event itself says what was written, also by an earlier request with
        // the same key.
        let (written, annotation) = match snapshot.written {
            Some(version) => written(app, snapshot.id, version).await?,
            None => (None, None),
        };
        let state = board(&snapshot)?;
        let post = written.or(post);
        let seen = post.and_then(|post| view::post(state, &viewer, &post));
        let seen = seen.ok_or_else(|| Problem::new(Code::NotFound, "There is no such post."))?;
        let glance = view::glance(state, &viewer);
        Ok(reply(Written {
            board_id: glance.name.to_owned(),
            phase: glance.phase.into(),
            post_id: seen.post.id.0.clone(),
            annotation_id: annotation.map(|id| id.0),
            post: views::post(&seen, false),
            allowed: glance.allowed,
            next: glance.next,
        }))
    }
}

async fn written(
    app: &App,
    id: SessionId,
    version: u64,
) -> Result<(Option<PostId>, Option<AnnotationId>), Problem> {
    let stored = app.engine.event(id, version).await?;
    let event = serde_json::from_str::<whiteboard::Event>(&stored.payload);
    Ok(match event {
        Ok(whiteboard::Event::Posted { id, .. }) => (Some(id), None),
        Ok(whiteboard::Event::Annotated { id, post, .. }) => (Some(post), Some(id)),
        Ok(whiteboard::Event::Voted { post, .. }) => (Some(post), None),
        Ok(
            whiteboard::Event::Opened { .. }
            | whiteboard::Event::Registered { .. }
            | whiteboard::Event::InvitationRenewed { .. }
            | whiteboard::Event::Invited { .. }
            | whiteboard::Event::TokenRenewed { .. }
            | whiteboard::Event::Transitioned { .. },
        )
        | Err(_) => (None, None),
    })
}

async fn look(app: &App, name: &str, token: &AgentToken) -> Result<(Snapshot, Viewer), Problem> {
    let id = app.engine.named(KIND, name).await?;
    let viewer = token.viewer(app, id).await?;
    Ok((app.engine.get(id).await?, viewer))
}

fn board(snapshot: &Snapshot) -> Result<&whiteboard::State, Problem> {
    snapshot.room.whiteboard().ok_or_else(|| Problem::no_such_session(snapshot.id))
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
