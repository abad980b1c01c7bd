//! Stored workflows: check, store, start, and what comes to their webhooks.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use plenary_clerk::estimates::{self, NewForesight};
use plenary_clerk::runs::{self, NewStoredRun};
use plenary_clerk::shelves::{self, NewWorkflow};
use plenary_domain::shelf::{How, Run, State as Shelf, Version};
use plenary_domain::workflow::{self, Checked, Definition, Step, Trigger};
use plenary_domain::{SessionId, Timestamp, limits};
use plenary_engine::By;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::routes::{Routes, routes};
use super::runs::created;
use super::sessions::Empty;
use crate::App;
use crate::auth::Stands;
use crate::error::{Code, Problem, ReadProblems, WriteProblems};
use crate::idempotency::{Change, Key, On, Path, Query};
use crate::views::runs::{InputView, ProblemView, RunView};
use crate::views::{Nothing, Reply, reply};

pub fn routes() -> Routes {
    Routes::new()
        .routes(routes!(list, store))
        .routes(routes!(check))
        .routes(routes!(estimate))
        .routes(routes!(get, put, remove))
        .routes(routes!(start))
        .routes(routes!(deliver))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowView {
    name: String,
    description: String,
    /// The newest.
    version: u32,
    stored_at: Timestamp,
    stored_by: String,
    inputs: Vec<InputView>,
    /// What starts it besides people.
    triggers: Vec<TriggerView>,
    /// When it starts by the clock, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next_at: Option<Timestamp>,
    /// Of its last runs that ended, the part that was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    success_rate: Option<f64>,
    /// The last ones, newest first.
    runs: Vec<StartedRun>,
}

#[derive(Serialize, ToSchema)]
pub struct TriggerView {
    /// `cron`, `webhook` or `signal`.
    by: &'static str,
    /// The times, or the signal.
    about: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartedRun {
    /// Absent of one that has not begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    run: Option<uuid::Uuid>,
    status: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    #[schema(required = false)]
    reason: String,
    /// `person`, `cron`, `signal` or `webhook`.
    started_by: &'static str,
    starter: String,
    version: u32,
    at: Timestamp,
}

/// A workflow with its file.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WholeWorkflow {
    #[serde(flatten)]
    workflow: WorkflowView,
    /// As it was written.
    source: String,
    /// The steps and their order, in the words of Mermaid.
    graph: String,
    /// The same steps, for a graph. Those of an earlier version, where one was asked for.
    outline: Vec<OutlineStep>,
    /// Those that are kept, newest first.
    versions: Vec<VersionView>,
}

/// A step as it stands in the file.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutlineStep {
    /// Means it in the file: `propose/post` stands in `propose`.
    place: String,
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    label: Option<String>,
    kind: &'static str,
    line: u32,
    needs: Vec<String>,
    /// It may be skipped. Absent where it is false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    conditional: bool,
    /// It stands in `finally`. Absent where it is false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    is_finally: bool,
}

#[derive(Serialize, ToSchema)]
pub struct VersionView {
    number: u32,
    by: String,
    at: Timestamp,
}

#[derive(Serialize, ToSchema)]
pub struct CheckedWorkflow {
    /// Nothing is wrong with it but for warnings.
    sound: bool,
    problems: Vec<ProblemView>,
    /// The rest only of a file that is sound.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    name: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    inputs: Vec<InputView>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    outline: Vec<OutlineStep>,
}

/// Stored workflows, by name.
#[utoipa::path(get, path = "/api/workflows", tag = "workflows",
    responses((status = 200, body = Reply<Vec<WorkflowView>>), ReadProblems))]
async fn list(State(app): State<App>) -> Result<impl IntoResponse, Problem> {
    let mut views = vec![];
    for shelf in shelves::all(&app.clerk).await? {
        views.push(as_it_stands(&app, view(shelves::shelf_of(&shelf)?)).await);
    }
    Ok(reply(views))
}

/// Stores a file under the name that it has, as its next version. For the operator of the
/// server: it may be started by the clock, and reach what the operator allows.
#[utoipa::path(post, path = "/api/workflows", tag = "workflows", params(Key),
    request_body = NewWorkflow,
    responses((status = 201, body = Reply<WholeWorkflow>), WriteProblems))]
async fn store(
    State(app): State<App>,
    Stands(standing): Stands,
    Change { by, body }: Change<NewWorkflow>,
) -> Result<impl IntoResponse, Problem> {
    shelves::may_store(&standing)?;
    let stored = shelves::store(&app.clerk, by, None, body).await?;
    let shelf = shelves::shelf_of(&stored)?;
    let whole = whole(shelf, &shelf.newest);
    let place = [(header::LOCATION, format!("/api/workflows/{}", whole.workflow.name))];
    Ok((StatusCode::CREATED, place, reply(whole)))
}

/// Everything that is wrong with a file, with line and column.
#[utoipa::path(post, path = "/api/workflows/check", tag = "workflows",
    request_body = NewWorkflow,
    responses((status = 200, body = Reply<CheckedWorkflow>), WriteProblems))]
async fn check(
    State(app): State<App>,
    Change { body, .. }: Change<NewWorkflow>,
) -> Result<impl IntoResponse, Problem> {
    let Checked { definition, problems } = shelves::checked(&app.clerk, &body.source).await?;
    Ok(reply(CheckedWorkflow {
        sound: definition.is_some(),
        problems: problems.iter().map(ProblemView::from).collect(),
        name: definition.as_ref().map(|definition| definition.name.clone()),
        inputs: definition.iter().flat_map(|one| one.inputs.iter().map(InputView::from)).collect(),
        outline: definition.as_ref().map(outline).unwrap_or_default(),
    }))
}

/// What a run would take: calls, tokens and cost, typically and at most.
#[utoipa::path(post, path = "/api/workflows/estimate", tag = "workflows",
    request_body = NewForesight,
    responses((status = 200, body = Reply<estimates::Foresight>), WriteProblems))]
async fn estimate(
    State(app): State<App>,
    Change { body, .. }: Change<NewForesight>,
) -> Result<impl IntoResponse, Problem> {
    Ok(reply(estimates::foresee(&app.clerk, body).await?))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Which {
    /// The file of this version, in place of the newest.
    #[param(minimum = 1, nullable = false)]
    version: Option<u32>,
}

/// A stored workflow with its file and its versions.
#[utoipa::path(get, path = "/api/workflows/{name}", tag = "workflows",
    params(("name" = String, Path, description = "The workflow's name."), Which),
    responses((status = 200, body = Reply<WholeWorkflow>), ReadProblems))]
async fn get(
    State(app): State<App>,
    Path(name): Path<String>,
    Query(which): Query<Which>,
) -> Result<impl IntoResponse, Problem> {
    let shelf = shelves::found(&app.clerk, &name).await?;
    let shelf = shelves::shelf_of(&shelf)?;
    let version = match which.version {
        None => &shelf.newest,
        Some(number) => shelf.versions().find(|one| one.number == number).ok_or_else(|| {
            let problem = format!("`{name}` has no version {number} that is kept.");
            Problem::new(Code::NotFound, problem)
        })?,
    };
    let found = whole(shelf, version);
    Ok(reply(WholeWorkflow { workflow: as_it_stands(&app, found.workflow).await, ..found }))
}

/// Stores the next version of a workflow, or its first. For the operator of the server.
#[utoipa::path(put, path = "/api/workflows/{name}", tag = "workflows",
    params(("name" = String, Path, description = "The workflow's name."), Key),
    request_body = NewWorkflow,
    responses((status = 200, body = Reply<WholeWorkflow>), WriteProblems))]
async fn put(Stands(standing): Stands, on: On<NewWorkflow>) -> Result<impl IntoResponse, Problem> {
    shelves::may_store(&standing)?;
    let stored = shelves::store(&on.app.clerk, on.by, Some(&on.at), on.body).await?;
    let shelf = shelves::shelf_of(&stored)?;
    Ok(reply(whole(shelf, &shelf.newest)))
}

/// Takes a workflow off the shelf: nothing starts it any more. Runs that have begun go on.
/// For the operator of the server.
#[utoipa::path(delete, path = "/api/workflows/{name}", tag = "workflows",
    params(("name" = String, Path, description = "The workflow's name.")),
    responses((status = 200, body = Reply<Nothing>), WriteProblems))]
async fn remove(Stands(standing): Stands, on: On<Empty>) -> Result<impl IntoResponse, Problem> {
    shelves::may_store(&standing)?;
    shelves::remove(&on.app.clerk, &on.at, on.by).await?;
    Ok(reply(Nothing {}))
}

/// Begins a run of a stored workflow.
#[utoipa::path(post, path = "/api/workflows/{name}/runs", tag = "workflows",
    params(("name" = String, Path, description = "The workflow's name."), Key),
    request_body = NewStoredRun,
    responses((status = 201, body = Reply<RunView>), WriteProblems))]
async fn start(on: On<NewStoredRun>) -> Result<impl IntoResponse, Problem> {
    let run = runs::begin_stored(&on.app.clerk, &on.at, on.by, on.body).await?;
    created(&on.app, &run).await
}

/// Something comes to the webhook of a workflow, signed as Standard Webhooks has it:
/// `webhook-id`, `webhook-timestamp` and `webhook-signature`. No token is needed. What comes
/// twice under one id counts once.
#[utoipa::path(post, path = "/hooks/{name}", tag = "workflows",
    params(("name" = String, Path, description = "The workflow's name.")),
    request_body(content = Object, content_type = "application/json"),
    responses((status = 200, body = Reply<Nothing>), WriteProblems))]
async fn deliver(
    State(app): State<App>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<impl IntoResponse, Problem> {
    let refused = || Problem::new(Code::Unauthorized, "The signature is wrong.");
    let now = app.engine.clock().now();
    // Who does not know the secret is not told which workflows there are.
    let shelf = shelves::found(&app.clerk, &name).await.map_err(|_| refused())?;
    let secret = shelves::hook_secret(&app.clerk, &shelf).ok_or_else(refused)?;
    let id = signed(&headers, &body, &secret, now).ok_or_else(refused)?;
    let body: Value = match body.is_empty() {
        true => Value::Object(Default::default()),
        false => serde_json::from_slice(&body).map_err(|error| {
            Problem::new(Code::InvalidJson, format!("The body is not JSON: {error}."))
        })?,
    };
    let by = By::actor("webhook");
    shelves::deliver(&app.clerk, &name, by, (id, body)).await?;
    Ok(reply(Nothing {}))
}

/// The id of a delivery whose signature is right and not old.
fn signed(headers: &HeaderMap, body: &[u8], secret: &str, now: Timestamp) -> Option<String> {
    use base64::Engine as _;
    let base64 = base64::engine::general_purpose::STANDARD;
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let (id, at) = (text("webhook-id")?, text("webhook-timestamp")?);
    let sent = Timestamp::from_second(at.parse().ok()?).ok()?;
    let age = now.duration_since(sent).abs();
    if age.as_millis() > i128::from(limits::HOOK_AGE_MS) {
        return None;
    }
    let key = match secret.strip_prefix("whsec_") {
        Some(encoded) => base64.decode(encoded).ok()?,
        None => secret.as_bytes().to_vec(),
    };
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &key);
    let message = [id.as_bytes(), b".", at.as_bytes(), b".", body].concat();
    let signatures = text("webhook-signature")?.split(' ');
    let mut right = signatures.filter_map(|one| base64.decode(one.strip_prefix("v1,")?).ok());
    right.any(|one| ring::hmac::verify(&key, &message, &one).is_ok()).then(|| id.to_owned())
}

fn view(shelf: &Shelf) -> WorkflowView {
    let Version { number, definition, by, at, .. } = &*shelf.newest;
    WorkflowView {
        name: shelf.name.clone(),
        description: definition.description.clone(),
        version: *number,
        stored_at: *at,
        stored_by: by.clone(),
        inputs: definition.inputs.iter().map(InputView::from).collect(),
        triggers: definition.on.iter().map(trigger).collect(),
        next_at: shelf.next_at(),
        success_rate: shelf.success_rate(),
        runs: shelf.last_runs().map(|run| started(run)).collect(),
    }
}

/// A shelf hears of the end of a run a little later.
async fn as_it_stands(app: &App, mut view: WorkflowView) -> WorkflowView {
    for run in view.runs.iter_mut().filter(|run| run.status == "running") {
        let Some(id) = run.run else { continue };
        let Ok(session) = app.engine.get(SessionId(id)).await else { continue };
        run.status = session.room.status();
    }
    view
}

fn started(run: &Run) -> StartedRun {
    let (status, reason) = run.status();
    StartedRun {
        run: run.session().map(|id| id.0),
        status,
        reason: reason.to_owned(),
        started_by: match run.how {
            How::Person { .. } => "person",
            How::Cron { .. } => "cron",
            How::Signal { .. } => "signal",
            How::Webhook { .. } => "webhook",
        },
        starter: run.starter.clone(),
        version: run.version.number,
        at: run.at,
    }
}

fn trigger(trigger: &Trigger) -> TriggerView {
    let (by, about) = match trigger {
        Trigger::Cron { at, zone, .. } => ("cron", format!("{at} {zone}")),
        Trigger::Webhook { .. } => ("webhook", String::new()),
        Trigger::Signal { matching } => {
            let name = matching.get("signal").and_then(Value::as_str).unwrap_or_default();
            ("signal", name.to_owned())
        }
    };
    TriggerView { by, about: about.trim().to_owned() }
}

/// Every step, and after it those in it.
fn outline(definition: &Definition) -> Vec<OutlineStep> {
    fn add(all: &mut Vec<OutlineStep>, step: &Step, around: &str, is_finally: bool) {
        let place = format!("{around}{}", step.id);
        let inside = format!("{place}/");
        all.push(OutlineStep {
            place,
            id: step.id.clone(),
            label: step.label.clone(),
            kind: step.kind_name(),
            line: step.line,
            needs: step.needs.iter().map(|need| need.step.clone()).collect(),
            conditional: step.when.is_some(),
            is_finally,
        });
        for inner in step.inner() {
            add(all, inner, &inside, is_finally);
        }
    }
    let mut all = vec![];
    for (steps, is_finally) in [(&definition.steps, false), (&definition.finally, true)] {
        for step in steps {
            add(&mut all, step, "", is_finally);
        }
    }
    all
}

fn whole(shelf: &Shelf, shown: &Version) -> WholeWorkflow {
    let version = |version: &std::sync::Arc<Version>| VersionView {
        number: version.number,
        by: version.by.clone(),
        at: version.at,
    };
    WholeWorkflow {
        workflow: view(shelf),
        source: shown.source.to_string(),
        graph: workflow::mermaid(&shown.definition),
        outline: outline(&shown.definition),
        versions: shelf.versions().map(version).collect(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The example of the specification of Standard Webhooks.
    #[test]
    fn a_delivery_is_known_by_its_signature() {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let body = br#"{"test": 2432232314}"#;
        let at = |second: i64| Timestamp::from_second(second).unwrap();
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
            ("webhook-timestamp", "1614265330"),
            ("webhook-signature", "v1,x v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
        ] {
            headers.insert(name, value.parse().unwrap());
        }
        let now = at(1_614_265_330);
        let id = Some("msg_p5jXN8AQM9LWM0D4loKWxJek".to_owned());
        assert_eq!(signed(&headers, body, secret, now), id);
        assert_eq!(signed(&headers, b"{}", secret, now), None);
        assert_eq!(signed(&headers, body, "another", now), None);
        assert_eq!(signed(&headers, body, secret, at(1_614_265_330 + 3600)), None);
    }
}
