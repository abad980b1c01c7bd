//! Councils: open, post, read along, change, close.

use std::pin::pin;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use plenary_clerk::Clerk;
use plenary_clerk::councils::{
    self, CouncilChange, CouncilClosing, KIND, NewCouncil, NewCouncilPost, council,
};
use plenary_domain::council::{self, Command, Stage, Why};
use plenary_domain::{AgentName, ModelName, Report, SessionId, Timestamp, Usage, limits};
use plenary_engine::Snapshot;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::boardrooms::export::{Format, FormatName};
use super::events::After;
use super::routes::{Routes, routes};
use super::sessions::{self, Empty, Filter};
use super::{MARKDOWN, document, file_stem, json_document, within};
use crate::App;
use crate::agents::{self, AgentHeader, Asking, Proof};
use crate::auth::Stands;
use crate::error::{Problem, ReadProblems, WriteProblems};
use crate::idempotency::{Change, Key, On, Path, Query};
use crate::kept::{Has, TagHeader, Unchanged};
use crate::live;
use crate::views::budgets::{AllowanceView, BudgetView};
use crate::views::{Reply, SessionView, UsageView, reply, spent, usage};

pub fn routes() -> Routes {
    Routes::new()
        .routes(routes!(list, open))
        .routes(routes!(get, change))
        .routes(routes!(read, post))
        .routes(routes!(close))
        .routes(routes!(renew_token))
        .routes(routes!(export))
        .routes(routes!(events))
}

/// Councils, newest first.
#[utoipa::path(get, path = "/api/councils", tag = "councils", params(Filter),
    responses((status = 200, body = Reply<Vec<SessionView>>), ReadProblems))]
async fn list(State(app): State<App>, filter: Query<Filter>) -> Result<impl IntoResponse, Problem> {
    sessions::show(&app, Filter { kind: Some(KIND.to_owned()), ..filter.0 }).await
}

/// Opens a council.
#[utoipa::path(post, path = "/api/councils", tag = "councils", params(Key),
    request_body = NewCouncil,
    responses((status = 201, body = Reply<OpenedCouncil>), WriteProblems))]
async fn open(
    State(app): State<App>,
    Change { by, body }: Change<NewCouncil>,
) -> Result<impl IntoResponse, Problem> {
    created(&app, &councils::open(&app.clerk, None, by, body).await?).await
}

/// A council that was opened, by you.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenedCouncil {
    #[serde(flatten)]
    council: CouncilView,
    /// Proves that you opened it: send it as `Agent-Token` to change, close or delete it. It is
    /// no sender's.
    agent_token: String,
}

/// A new council, and where it is.
async fn created(app: &App, opened: &Snapshot) -> Result<impl IntoResponse + use<>, Problem> {
    let council = show(&app.clerk, opened)?;
    let place = [(header::LOCATION, format!("/api/councils/{}", council.council))];
    let agent_token = agents::code(app, opened.id, &Proof::Opener).await?;
    Ok((StatusCode::CREATED, place, reply(OpenedCouncil { council, agent_token })))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CouncilView {
    council: String,
    session_id: uuid::Uuid,
    charter: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    project: Option<String>,
    status: CouncilStatus,
    /// Said when it was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    summary: Option<String>,
    members: Vec<MemberView>,
    opened_at: Timestamp,
    /// What all answers took, also those that failed or were stopped.
    usage: UsageView,
    /// Of the same, by the prices that the council has noted, or as the providers say.
    /// Absent unless all of it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cost: Option<f64>,
    /// Of the costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    currency: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    budget: Option<BudgetView>,
    /// The number of the last event, as the live events count.
    version: u64,
    /// The sequence of the last post; 0 when there is none.
    last: u64,
    /// The member that is writing an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    answering: Option<String>,
    allowed: Vec<&'static str>,
    next: Vec<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CouncilStatus {
    Open,
    Closed,
}

#[derive(Serialize, ToSchema)]
pub struct MemberView {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    persona: Option<String>,
    /// What this member may spend.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    budget: Option<AllowanceView>,
}

/// A council without its posts.
#[utoipa::path(get, path = "/api/councils/{council}", tag = "councils",
    params(("council" = String, Path, description = "The council's name."), TagHeader),
    responses((status = 200, body = Reply<CouncilView>, headers(("ETag" = String, description = "Says what is in the answer, for `If-None-Match`."))),
        Unchanged, ReadProblems))]
async fn get(
    State(app): State<App>,
    Path(name): Path<String>,
    has: Has,
) -> Result<Response, Problem> {
    has.or(show(&app.clerk, &look(&app, &name).await?)?)
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CouncilPosted {
    council: String,
    sequence: u64,
    sender: String,
    /// Proves that you are this sender: send it as `Agent-Token` with the next post.
    agent_token: String,
    /// Members that will answer.
    addressed: Vec<String>,
    /// Members that were named too, and will not answer: a post makes five answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    left_out: Vec<String>,
    next: Vec<String>,
}

/// Posts. The members with a model that it addresses answer automatically, in turn.
#[utoipa::path(post, path = "/api/councils/{council}/posts", tag = "councils",
    params(("council" = String, Path, description = "The council's name."), AgentHeader, Key),
    request_body = NewCouncilPost,
    responses((status = 200, body = Reply<CouncilPosted>), WriteProblems))]
async fn post(asking: Asking, on: On<NewCouncilPost>) -> Result<impl IntoResponse, Problem> {
    let id = on.app.engine.named(KIND, &on.at).await?;
    let caller = asking.about(&on.app, id, on.by).await?;
    let posted = councils::post(&on.app.clerk, caller, on.body).await?;
    let (state, sender) = (council(&posted.snapshot)?, posted.sender);
    // What was made anew since is not for whoever repeats an old request.
    let renewals = if posted.proven { state.renewals(&sender.0) } else { 0 };
    Ok(reply(CouncilPosted {
        council: state.name.clone(),
        sequence: posted.post.sequence,
        sender: sender.0.clone(),
        agent_token: agents::code(&on.app, id, &Proof::Agent(&sender, renewals)).await?,
        addressed: posted.post.addressed.clone(),
        left_out: posted.post.left_out.clone(),
        next: state.next(),
    }))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Reading {
    /// Only posts after this sequence.
    #[param(minimum = 0, maximum = 1_000_000_000, nullable = false)]
    since: Option<u32>,
    /// Posts of a page.
    #[param(minimum = 1, maximum = 200, nullable = false)]
    limit: Option<u32>,
    /// How long to wait for a post when there is none yet.
    #[param(minimum = 0, maximum = 600, nullable = false)]
    wait_seconds: Option<u32>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CouncilPosts {
    council: String,
    status: CouncilStatus,
    posts: Vec<CouncilPostView>,
    /// Give it as `since` to read on.
    since: u64,
    /// There are more than this page holds.
    more: bool,
    /// Turns since then that ended without a post: passes and failures.
    silences: Vec<SilenceView>,
    /// What whoever opened it has changed since then.
    changes: Vec<ChangeView>,
    /// Of the costs, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    currency: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    answering: Option<String>,
    next: Vec<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CouncilPostView {
    sequence: u64,
    sender: String,
    body: String,
    /// The model that wrote it; absent where somebody posted by themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    model: Option<String>,
    /// The answer reached a limit on its length. Absent where it is false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    cut: bool,
    /// What an answer took.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    usage: Option<UsageView>,
    /// By the price that the session has noted, or as the provider says; absent where
    /// neither is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cost: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reply_to: Option<u64>,
    /// 0: somebody posted it; an answer is one deeper than what it answers.
    depth: u8,
    addressed: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    left_out: Vec<String>,
    at: Timestamp,
}

#[derive(Serialize, ToSchema)]
pub struct SilenceView {
    member: String,
    /// The last post that the turn took in.
    upto: u64,
    why: SilenceName,
    text: String,
    /// What the turn took all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    usage: Option<UsageView>,
    /// By the price that the session has noted, or as the provider says; absent where
    /// neither is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cost: Option<f64>,
}

#[derive(Serialize, ToSchema)]
pub struct ChangeView {
    /// The last post before it; 0 where there was none.
    after: u64,
    /// There is a new charter. Absent where there is none.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    charter: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    added: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    removed: Vec<String>,
    at: Timestamp,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SilenceName {
    Passed,
    Failed,
    Stopped,
}

/// Posts after a sequence. With `waitSeconds` an empty answer waits for the next post.
#[utoipa::path(get, path = "/api/councils/{council}/posts", tag = "councils",
    params(("council" = String, Path, description = "The council's name."), Reading),
    responses((status = 200, body = Reply<CouncilPosts>), ReadProblems))]
async fn read(
    State(app): State<App>,
    Path(name): Path<String>,
    Query(query): Query<Reading>,
) -> Result<impl IntoResponse, Problem> {
    let limit = within("limit", query.limit.unwrap_or(limits::COUNCIL_PAGE), 1, limits::PAGE_MOST)?;
    let most = limits::WAIT_MOST_SECONDS;
    let wait = within("waitSeconds", query.wait_seconds.unwrap_or(0), 0, most)?;
    let most = limits::SEQUENCE_MOST;
    let since = within("since", query.since.unwrap_or(0), 0, most)?.into();
    let mut snapshot = look(&app, &name).await?;
    if wait > 0 {
        let id = snapshot.id;
        let mut ended = pin!(app.engine.ended());
        let mut changes = app.engine.changes(id);
        let mut time = app.engine.clock().sleep(Duration::from_secs(wait.into()));
        loop {
            snapshot = app.engine.get(id).await?;
            if !waits(council(&snapshot)?, since) {
                break;
            }
            tokio::select! {
                () = &mut time => break,
                () = &mut ended => break,
                () = changes.next() => {}
            }
        }
    }
    Ok(reply(posts(&app.clerk, council(&snapshot)?, since, limit as usize)))
}

fn took(used: Usage) -> Option<UsageView> {
    (!used.is_unknown()).then(|| usage(used))
}

/// There is nothing to read, and there may be.
fn waits(state: &council::State, since: u64) -> bool {
    let open = matches!(state.stage, Stage::Open { .. });
    open && state.posts_after(since, 1).is_empty()
}

/// What an answer of this model cost, as far as that is known.
fn cost(
    clerk: &Clerk,
    state: &council::State,
    model: Option<&ModelName>,
    used: Usage,
) -> Option<f64> {
    clerk.cost(&state.ledger, model?, used)
}

fn posts(clerk: &Clerk, state: &council::State, since: u64, limit: usize) -> CouncilPosts {
    let page = state.posts_after(since, limit);
    let last = page.last().map_or(since, |post| post.sequence);
    let silences = state.silences.iter().filter(|silence| silence.upto > since);
    let silences: Vec<SilenceView> =
        silences.map(|silence| silent(clerk, state, silence)).collect();
    let posts: Vec<CouncilPostView> = page.iter().map(|post| shown(clerk, state, post)).collect();
    let mut costs = posts.iter().map(|post| post.cost).chain(silences.iter().map(|one| one.cost));
    CouncilPosts {
        council: state.name.clone(),
        status: status(state),
        currency: costs.any(|cost| cost.is_some()).then(|| clerk.currency(&state.ledger)),
        posts,
        since: last,
        more: !state.posts_after(last, 1).is_empty(),
        silences,
        changes: state
            .changes
            .iter()
            .filter(|change| change.after >= since)
            .map(|c| changed(c))
            .collect(),
        answering: state.answering().map(str::to_owned),
        next: state.next(),
    }
}

fn shown(clerk: &Clerk, state: &council::State, post: &council::Post) -> CouncilPostView {
    CouncilPostView {
        sequence: post.sequence,
        sender: post.sender.clone(),
        body: post.body.to_string(),
        model: post.model.as_ref().map(|model| model.0.clone()),
        cut: post.cut,
        usage: took(post.usage),
        cost: cost(clerk, state, post.model.as_ref(), post.usage),
        reply_to: post.reply_to,
        depth: post.depth,
        addressed: post.addressed.clone(),
        left_out: post.left_out.clone(),
        at: post.at,
    }
}

fn silent(clerk: &Clerk, state: &council::State, silence: &council::Silence) -> SilenceView {
    let (why, text) = match &silence.why {
        Why::Passed { text } => (SilenceName::Passed, text.clone()),
        Why::Failed { failure, .. } => (SilenceName::Failed, failure.message.clone()),
        Why::Stopped { partial } => (SilenceName::Stopped, partial.clone().unwrap_or_default()),
    };
    SilenceView {
        member: silence.member.clone(),
        upto: silence.upto,
        why,
        text,
        usage: took(silence.usage),
        cost: cost(clerk, state, silence.model.as_ref(), silence.usage),
    }
}

fn changed(change: &council::Change) -> ChangeView {
    ChangeView {
        after: change.after,
        charter: change.charter,
        added: change.added.clone(),
        removed: change.removed.clone(),
        at: change.at,
    }
}

/// Changes the charter or the members. A removed member's answer in progress is dropped. For the
/// person who opened the council, and the operator of the server.
#[utoipa::path(patch, path = "/api/councils/{council}", tag = "councils",
    params(("council" = String, Path, description = "The council's name."), AgentHeader, Key),
    request_body = CouncilChange,
    responses((status = 200, body = Reply<CouncilView>), WriteProblems))]
async fn change(asking: Asking, on: On<CouncilChange>) -> Result<impl IntoResponse, Problem> {
    let id = on.app.engine.named(KIND, &on.at).await?;
    let caller = asking.about(&on.app, id, on.by).await?;
    let changed = councils::change(&on.app.clerk, caller, on.body).await?;
    Ok(reply(show(&on.app.clerk, &changed)?))
}

/// Closes a council. An answer in progress is cut off. For the person who opened it,
/// and the operator of the server.
#[utoipa::path(post, path = "/api/councils/{council}/close", tag = "councils",
    params(("council" = String, Path, description = "The council's name."), AgentHeader, Key),
    request_body = CouncilClosing,
    responses((status = 200, body = Reply<CouncilView>), WriteProblems))]
async fn close(asking: Asking, on: On<CouncilClosing>) -> Result<impl IntoResponse, Problem> {
    let id = on.app.engine.named(KIND, &on.at).await?;
    let caller = asking.about(&on.app, id, on.by).await?;
    let closed = councils::close(&on.app.clerk, caller, on.body).await?;
    Ok(reply(show(&on.app.clerk, &closed)?))
}

/// Whose token was renewed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RenewedSender {
    council: String,
    sender: String,
    /// The new token. Earlier ones are refused from now on.
    agent_token: String,
}

/// Renews the token of a sender: earlier ones are refused from now on. For the operator
/// of the server.
#[utoipa::path(post, path = "/api/councils/{council}/agents/{agent}/token", tag = "councils",
    params(
        ("council" = String, Path, description = "The council's name."),
        ("agent" = String, Path, description = "The sender's name."),
        Key),
    responses((status = 200, body = Reply<RenewedSender>), WriteProblems))]
async fn renew_token(
    Stands(standing): Stands,
    on: On<Empty, (String, String)>,
) -> Result<impl IntoResponse, Problem> {
    standing.operates("renew tokens")?;
    let (council, sender) = on.at;
    let id = on.app.engine.named(KIND, &council).await?;
    let command = Command::RenewToken { sender: sender.clone() };
    let snapshot = councils::submit(&on.app.clerk, id, on.by, command).await?;
    let agent = AgentName(sender.clone());
    let proof = Proof::Agent(&agent, councils::council(&snapshot)?.renewals(&sender));
    let agent_token = agents::code(&on.app, id, &proof).await?;
    Ok(reply(RenewedSender { council, sender, agent_token }))
}

/// A council's record, as JSON or as Markdown to read.
#[utoipa::path(get, path = "/api/councils/{council}/export", tag = "councils",
    params(("council" = String, Path, description = "The council's name."), Format),
    responses(
        (status = 200, description = "The record.", content(
            (ExportedCouncil = "application/json"), (String = "text/markdown"))),
        ReadProblems))]
async fn export(
    State(app): State<App>,
    Path(name): Path<String>,
    Query(query): Query<Format>,
) -> Result<Response, Problem> {
    let snapshot = look(&app, &name).await?;
    let (state, file) = (council(&snapshot)?, file_stem(&app, &snapshot).await?);
    match query.format.unwrap_or(FormatName::Json) {
        FormatName::Markdown => {
            Ok(document(MARKDOWN, &format!("{file}.md"), council::markdown(state)))
        }
        FormatName::Json => {
            let exported = ExportedCouncil {
                format: "plenary.council",
                format_version: 1,
                council: show(&app.clerk, &snapshot)?,
                thread: posts(&app.clerk, state, 0, usize::MAX),
            };
            json_document(&format!("{file}.json"), &exported)
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportedCouncil {
    /// Always `plenary.council`.
    format: &'static str,
    format_version: u32,
    council: CouncilView,
    thread: CouncilPosts,
}

/// Everything that happens in a council, live: posts and turns with an `id`, and
/// between them the answers as they are written (`delta`).
#[utoipa::path(get, path = "/api/councils/{council}/events", tag = "councils",
    params(("council" = String, Path, description = "The council's name."), After),
    responses((status = 200, body = String, content_type = "text/event-stream"), ReadProblems))]
async fn events(
    State(app): State<App>,
    Path(name): Path<String>,
    Query(query): Query<After>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let after = live::after(&headers, query.after)?.unwrap_or(0);
    let id = app.engine.named(KIND, &name).await?;
    let frames = app.engine.watch(id, after).await?;
    Ok(live::respond(frames.map(live::frame)))
}

async fn look(app: &App, name: &str) -> Result<Snapshot, Problem> {
    let id: SessionId = app.engine.named(KIND, name).await?;
    Ok(app.engine.get(id).await?)
}

fn status(state: &council::State) -> CouncilStatus {
    match state.stage {
        Stage::Open { .. } => CouncilStatus::Open,
        Stage::Closed { .. } => CouncilStatus::Closed,
    }
}

fn show(clerk: &Clerk, snapshot: &Snapshot) -> Result<CouncilView, Problem> {
    let state = council(snapshot)?;
    let (cost, currency) = spent(clerk, &state.ledger);
    let summary = match &state.stage {
        Stage::Closed { summary, .. } => summary.clone(),
        Stage::Open { .. } => None,
    };
    let members = state.members.iter().map(|member| MemberView {
        name: member.name.clone(),
        model: member.model.as_ref().map(|model| model.0.clone()),
        persona: member.persona.clone(),
        budget: AllowanceView::of(member.budget),
    });
    Ok(CouncilView {
        council: state.name.clone(),
        session_id: snapshot.id.0,
        charter: state.charter.to_string(),
        project: state.project.clone(),
        status: status(state),
        summary,
        members: members.collect(),
        opened_at: state.opened_at,
        usage: usage(state.ledger.total()),
        cost,
        currency,
        budget: BudgetView::of(&state.ledger),
        version: snapshot.version,
        last: state.posts.len() as u64,
        answering: state.answering().map(str::to_owned),
        allowed: state.allowed(),
        next: state.next(),
    })
}
