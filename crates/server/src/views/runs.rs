//! Runs of workflows, as a graph and a timeline show them.

use plenary_clerk::Clerk;
use plenary_clerk::runs::DecisionName;
use plenary_domain::workflow::{
    Decided, Decision, Doing, Input, Kind, Place, Running, Severity, Stage, State, Status, Step,
    StepRun,
};
use plenary_domain::{Report, SessionId, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{UsageView, usage};

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunView {
    id: Uuid,
    /// The number of the last event, as the live events count.
    version: u64,
    /// What the workflow is called.
    workflow: String,
    /// The newest version of it that is stored, where the run keeps to an earlier one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    newer_version: Option<u32>,
    title: String,
    status: RunStatus,
    /// Why it ended so, if it did not end well.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reason: Option<String>,
    starter: String,
    /// The run that this one is a step of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    parent: Option<Uuid>,
    /// The run that this one goes on from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    forked_from: Option<ForkedFrom>,
    began_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    ended_at: Option<Timestamp>,
    #[schema(value_type = Object)]
    inputs: Map<String, Value>,
    /// What it gave back, when it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Object>)]
    outputs: Option<Map<String, Value>>,
    /// The people whose decision is awaited.
    waits_for: Vec<String>,
    /// In the order of the file; what stands in an item or a round comes after the step
    /// around it.
    steps: Vec<RunStepView>,
    /// What its questions took, and the sessions that it opened, when those had ended.
    usage: UsageView,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cost: Option<f64>,
    allowed: Vec<&'static str>,
    next: Vec<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForkedFrom {
    run: Uuid,
    step: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    Running,
    Done,
    Failed,
    Cancelled,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunStepStatus {
    Waiting,
    Running,
    Done,
    Skipped,
    Failed,
    Cancelled,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunStepView {
    /// Means this step in this run: its id, with the item or round around it.
    place: String,
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    label: Option<String>,
    /// What it does, by the word of the file.
    kind: &'static str,
    /// Where it stands in the file.
    line: u32,
    /// It stands in `finally`. Absent where it is false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    is_finally: bool,
    /// The steps that it needs.
    needs: Vec<String>,
    status: RunStepStatus,
    /// Why it is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    began_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    ended_at: Option<Timestamp>,
    /// Which attempt is under way, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tries: Option<u32>,
    /// Its values, worked out. Secrets are only named.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Object>)]
    input: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Value>,
    /// The session that it has opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    session: Option<Uuid>,
    /// Of a `foreach`: how many of its items have ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    items: Option<ItemsView>,
    /// Of a `repeat`: the round that is under way, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    round: Option<u32>,
    /// What a person is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    approval: Option<ApprovalView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    usage: Option<UsageView>,
}

#[derive(Serialize, ToSchema)]
pub struct ItemsView {
    ended: u32,
    total: u32,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalView {
    /// Who may decide.
    who: Vec<String>,
    /// How many have to approve.
    need: u32,
    #[serde(skip_serializing_if = "Value::is_null")]
    #[schema(required = false)]
    show: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    #[schema(required = false)]
    evidence: Value,
    /// What is to be filled in.
    fields: Vec<InputView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    deadline: Option<Timestamp>,
    decided: Vec<DecidedView>,
    leads_to: LeadsTo,
}

/// What follows from each answer, in words.
#[derive(Serialize, ToSchema)]
pub struct LeadsTo {
    approved: String,
    rejected: String,
    changes: String,
}

#[derive(Serialize, ToSchema)]
pub struct DecidedView {
    by: String,
    decision: DecisionName,
    reason: String,
    at: Timestamp,
}

#[derive(Serialize, ToSchema)]
pub struct InputView {
    name: String,
    #[serde(rename = "type")]
    takes: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schema(required = false)]
    description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    default: Option<Value>,
    required: bool,
}

impl From<&Input> for InputView {
    fn from(input: &Input) -> Self {
        InputView {
            name: input.name.clone(),
            takes: input.takes.name(),
            description: input.description.clone(),
            default: input.default.clone(),
            required: input.required,
        }
    }
}

/// Something that is wrong with a file, or may go wrong.
#[derive(Serialize, ToSchema)]
pub struct ProblemView {
    severity: SeverityName,
    line: u32,
    column: u32,
    path: String,
    message: String,
    /// Names that look alike.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    near: Vec<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = ProblemSeverity)]
pub enum SeverityName {
    Error,
    Warning,
}

impl From<&plenary_domain::workflow::Problem> for ProblemView {
    fn from(problem: &plenary_domain::workflow::Problem) -> Self {
        ProblemView {
            severity: match problem.severity {
                Severity::Error => SeverityName::Error,
                Severity::Warning => SeverityName::Warning,
            },
            line: problem.line,
            column: problem.column,
            path: problem.path.clone(),
            message: problem.message.clone(),
            near: problem.near.clone(),
        }
    }
}

pub fn run(
    id: SessionId,
    version: u64,
    state: &State,
    newer_version: Option<u32>,
    clerk: &Clerk,
) -> RunView {
    let (ended_at, ending) = match &state.stage {
        Stage::Ended { ending, at } => (Some(*at), Some(ending)),
        Stage::Running | Stage::Finally { .. } => (None, None),
    };
    let status = match ending.map(|ending| ending.status) {
        None => RunStatus::Running,
        Some(plenary_domain::workflow::End::Done) => RunStatus::Done,
        Some(plenary_domain::workflow::End::Failed) => RunStatus::Failed,
        Some(plenary_domain::workflow::End::Cancelled) => RunStatus::Cancelled,
    };
    let reason = ending.map(|ending| ending.reason.clone());
    RunView {
        id: id.0,
        version,
        workflow: state.definition.name.clone(),
        newer_version,
        title: state.title.clone(),
        status,
        reason: reason.filter(|reason| !reason.is_empty()),
        starter: state.starter.clone(),
        parent: state.parent.map(|parent| parent.0),
        forked_from: state
            .forked
            .as_ref()
            .map(|(run, step)| ForkedFrom { run: run.0, step: step.clone() }),
        began_at: state.began_at,
        ended_at,
        inputs: (*state.inputs).clone(),
        outputs: ending.map(|ending| ending.outputs.clone()).filter(|all| !all.is_empty()),
        waits_for: state.waits_for(),
        steps: steps(state),
        usage: usage(state.ledger.total()),
        cost: clerk.sum(&state.ledger),
        allowed: state.allowed(),
        next: state.next(),
    }
}

fn steps(state: &State) -> Vec<RunStepView> {
    let mut all = vec![];
    for (list, is_finally) in [(&state.definition.steps, false), (&state.definition.finally, true)]
    {
        for step in list {
            add(&mut all, state, step, Place::top(&step.id), is_finally);
        }
    }
    all
}

/// A step, and after it those of its items and rounds that have begun.
fn add(all: &mut Vec<RunStepView>, state: &State, step: &Step, place: Place, is_finally: bool) {
    all.push(view(state, step, &place, is_finally));
    for number in 1..=begun(state, step, &place) {
        for inner in step.inner() {
            let inside = place.inside(number, &inner.id);
            if state.steps.contains_key(&inside) {
                add(all, state, inner, inside, is_finally);
            }
        }
    }
}

/// How many items or rounds of a step there are so far.
fn begun(state: &State, step: &Step, place: &Place) -> u32 {
    let inner = || step.inner().first().map(|inner| inner.id.clone()).unwrap_or_default();
    match (&step.kind, state.steps.get(place).and_then(|run| run.doing.as_deref())) {
        (Kind::Foreach(_), Some(Doing::Foreach { items })) => items.len() as u32,
        (Kind::Foreach(_) | Kind::Repeat(_), _) => {
            let is_there = |number: &u32| {
                let prefix = format!("{place}/{number}/");
                state.steps.keys().any(|other| other.0.starts_with(&prefix)) && !inner().is_empty()
            };
            (1..).take_while(is_there).count() as u32
        }
        (
            Kind::Act { .. }
            | Kind::Set { .. }
            | Kind::Sleep { .. }
            | Kind::Wait(_)
            | Kind::Approve(_),
            _,
        ) => 0,
    }
}

fn view(state: &State, step: &Step, place: &Place, is_finally: bool) -> RunStepView {
    let run = state.steps.get(place);
    let (status, reason) = standing(run.map(|run| &run.status));
    let running = run.and_then(|run| match &run.status {
        Status::Running(running) => Some(running),
        Status::Done(_)
        | Status::Skipped { .. }
        | Status::Failed { .. }
        | Status::Cancelled { .. } => None,
    });
    let tries = running.and_then(|running| match running {
        Running::Act(acting) => Some(acting.tries),
        Running::Sleep
        | Running::Wait
        | Running::Approve { .. }
        | Running::Foreach
        | Running::Repeat { .. } => None,
    });
    let round = running.and_then(|running| match running {
        Running::Repeat { rounds } => Some(rounds.len() as u32 + 1),
        Running::Act(_)
        | Running::Sleep
        | Running::Wait
        | Running::Approve { .. }
        | Running::Foreach => None,
    });
    let spent = run.map(|run| run.spent).filter(|spent| !spent.is_unknown());
    RunStepView {
        place: place.to_string(),
        id: step.id.clone(),
        label: step.label.clone(),
        kind: step.kind_name(),
        line: step.line,
        is_finally,
        needs: step.needs.iter().map(|need| need.step.clone()).collect(),
        status,
        reason,
        began_at: run.map(|run| run.began_at),
        ended_at: run.and_then(|run| run.ended_at),
        tries,
        input: run.and_then(|run| input(run)),
        output: run.and_then(|run| output(&run.status)),
        session: run.and_then(|run| run.session.as_ref()?.parse().ok()),
        items: run.and_then(|run| items(state, step, run, place)),
        round,
        approval: run.and_then(|run| approval(state, step, run, place)),
        usage: spent.map(usage),
    }
}

fn standing(status: Option<&Status>) -> (RunStepStatus, Option<String>) {
    let Some(status) = status else { return (RunStepStatus::Waiting, None) };
    let (_, why) = status.words();
    let name = match status {
        Status::Running(_) => RunStepStatus::Running,
        Status::Done(_) => RunStepStatus::Done,
        Status::Skipped { .. } => RunStepStatus::Skipped,
        Status::Failed { .. } => RunStepStatus::Failed,
        Status::Cancelled { .. } => RunStepStatus::Cancelled,
    };
    (name, why.map(str::to_owned))
}

fn input(run: &StepRun) -> Option<Value> {
    match run.doing.as_deref()? {
        Doing::Act { with, .. } => Some(Value::Object(with.clone())),
        Doing::Sleep { until } => Some(serde_json::json!({ "until": until.to_string() })),
        Doing::Wait { all, signals, until } => {
            let list = if *all { "all" } else { "any" };
            let until = until.map(|until| until.to_string());
            Some(serde_json::json!({ list: signals, "until": until }))
        }
        Doing::Foreach { items } => Some(serde_json::json!({ "in": items })),
        Doing::Approve { .. } | Doing::Repeat {} => None,
    }
}

fn output(status: &Status) -> Option<Value> {
    match status {
        Status::Done(output) => Some((**output).clone()),
        Status::Failed { output, .. } => Some((**output).clone()).filter(|value| !value.is_null()),
        Status::Running(_) | Status::Skipped { .. } | Status::Cancelled { .. } => None,
    }
}

fn items(state: &State, step: &Step, run: &StepRun, place: &Place) -> Option<ItemsView> {
    let Some(Doing::Foreach { items }) = run.doing.as_deref() else { return None };
    let total = items.len() as u32;
    let is_ended = |number: &u32| {
        let ended = |inner: &Step| {
            let status = state.status_of(&place.inside(*number, &inner.id));
            status.is_some_and(|status| !matches!(status, Status::Running(_)))
        };
        step.inner().iter().all(ended)
    };
    let ended = match run.status {
        Status::Done(_) => total,
        Status::Running(_)
        | Status::Skipped { .. }
        | Status::Failed { .. }
        | Status::Cancelled { .. } => (1..=total).filter(is_ended).count() as u32,
    };
    Some(ItemsView { ended, total })
}

fn approval(state: &State, step: &Step, run: &StepRun, place: &Place) -> Option<ApprovalView> {
    let Some(Doing::Approve { who, need, show, evidence, until, .. }) = run.doing.as_deref() else {
        return None;
    };
    let Kind::Approve(approve) = &step.kind else { return None };
    let decided = match &run.status {
        Status::Running(Running::Approve { decided }) => decided.as_slice(),
        Status::Running(_)
        | Status::Done(_)
        | Status::Skipped { .. }
        | Status::Failed { .. }
        | Status::Cancelled { .. } => &[],
    };
    Some(ApprovalView {
        who: who.clone(),
        need: *need,
        show: show.clone(),
        evidence: evidence.clone(),
        fields: approve.fields.iter().map(InputView::from).collect(),
        deadline: *until,
        decided: decided.iter().map(decision).collect(),
        leads_to: leads_to(state, place),
    })
}

fn decision(decided: &Decided) -> DecidedView {
    let Decided { by, decision, reason, at, .. } = decided.clone();
    DecidedView { by, decision: decision.into(), reason, at }
}

fn leads_to(state: &State, place: &Place) -> LeadsTo {
    let all = state.leads_to(place);
    let to = |wanted: Decision| {
        let found = all.iter().find(|(decision, _)| *decision == wanted);
        found.map(|(_, leads)| leads.clone()).unwrap_or_default()
    };
    LeadsTo {
        approved: to(Decision::Approved),
        rejected: to(Decision::Rejected),
        changes: to(Decision::Changes),
    }
}
