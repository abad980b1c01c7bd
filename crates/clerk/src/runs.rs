//! Runs of workflows: begin, decide, cancel, go on from a step.

use std::collections::BTreeSet;
use std::sync::Arc;

use plenary_domain::budget::Allowance;
use plenary_domain::workflow::{
    self, Again, Begin, Checked, Command, Definition, Forked, OnFailure, Place, State, Step, gives,
};
use plenary_domain::{Reject, Room, SessionId, Wrong, limits, names, room};
use plenary_engine::{By, EngineError, Snapshot};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::identity::{Caller, Proven, Standing};
use crate::shelves::{self, Started};
use crate::{Clerk, ClerkError, Result, mirror, whiteboards};

pub const KIND: &str = "workflow";
/// Characters of the name of whoever starts a run.
const NAME_CHARS: usize = 120;

use workflow::Decision;

mirror! {
    #[serde(rename_all = "camelCase")]
    #[schema(as = ApprovalDecision)]
    DecisionName = Decision { Approved, Rejected, Changes }
}

#[derive(Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewRun {
    /// A saved workflow, by name.
    #[schema(min_length = 1, max_length = 80)]
    pub workflow: Option<String>,
    /// A version of the saved one; the newest by default.
    #[schema(minimum = 1)]
    pub version: Option<u32>,
    /// A file in place of a saved one, as YAML or JSON.
    #[schema(min_length = 1, max_length = 262_144)]
    pub source: Option<String>,
    /// Values for the inputs that the file names.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub inputs: Map<String, Value>,
    /// Who starts it, by the name that approvals know; by default the caller.
    #[schema(min_length = 1, max_length = 120)]
    pub starter: Option<String>,
}

#[derive(Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewStoredRun {
    /// Values for the inputs that the workflow names.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub inputs: Map<String, Value>,
    /// Who starts it, by the name that approvals know; by default the caller.
    #[schema(min_length = 1, max_length = 120)]
    pub starter: Option<String>,
    /// A version of it; the newest when absent.
    #[schema(minimum = 1)]
    pub version: Option<u32>,
}

#[derive(Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewFork {
    /// The step from which on the new run is its own. What was settled before it is
    /// taken over.
    #[schema(min_length = 1, max_length = 200)]
    pub from: String,
    /// Another file in place of the run's own.
    #[schema(min_length = 1, max_length = 262_144)]
    pub source: Option<String>,
    /// Inputs that are to be others than the run's.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub inputs: Map<String, Value>,
    /// Who starts it, by the name that approvals know; by default the caller.
    #[schema(min_length = 1, max_length = 120)]
    pub starter: Option<String>,
}

#[derive(Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewDecision {
    /// What is decided.
    pub decision: DecisionName,
    /// Who decides. Required from the operator of the server, who can decide for everyone; others
    /// send their own token.
    #[schema(min_length = 1, max_length = 120)]
    pub by: Option<String>,
    /// Needed to reject and to ask for changes.
    #[schema(max_length = 65536)]
    pub reason: Option<String>,
    /// What the step asks to be filled in.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub fields: Map<String, Value>,
}

#[derive(Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cancelling {
    #[schema(max_length = 65536)]
    pub reason: Option<String>,
}

/// A run as the caller sees it. Whoever does not own it sees nothing of what happens in it
/// as long as a board is blind on which it posts: what its seats write there is on its log
/// before it is on the board. Sessions of other forms are as they are.
pub async fn seen(
    clerk: &Clerk,
    snapshot: Snapshot,
    (standing, proven): (&Standing, &Proven),
) -> Result<Snapshot> {
    let Some(run) = snapshot.room.workflow() else { return Ok(snapshot) };
    let is_asked = matches!(proven, Proven::Seat(_));
    if is_asked || standing.owns(&snapshot, false) || !keeps_secrets(clerk, &snapshot).await? {
        return Ok(snapshot);
    }
    let room = Arc::new(Room::Workflow(Box::new(run.veiled())));
    Ok(Snapshot { room, version: 0, ..snapshot })
}

/// Whether a run may know something of a board that is blind now: by its own posts, by the
/// runs that it has opened, or by the one that it goes on from.
async fn keeps_secrets(clerk: &Clerk, snapshot: &Snapshot) -> Result<bool> {
    let mut seen = BTreeSet::new();
    let mut left = vec![snapshot.id];
    while let Some(id) = left.pop() {
        let run = match clerk.engine.get(id).await {
            // It was removed; what it has done cannot be told.
            Err(EngineError::NotFound(_)) => continue,
            run => run?,
        };
        let Some(state) = run.room.workflow().filter(|_| seen.insert(id)) else { continue };
        if state.has_yet_to_post() {
            return Ok(true);
        }
        for board in state.unopened_boards() {
            if whiteboards::is_blind(clerk, board).await? {
                return Ok(true);
            }
        }
        left.extend(state.runs().filter_map(|run| run.parse::<SessionId>().ok()));
        left.extend(state.forked.iter().map(|(earlier, _)| *earlier));
    }
    Ok(false)
}

/// Begins a run of a file or of a stored workflow.
pub async fn begin(clerk: &Clerk, (by, standing): (By, &Standing), new: NewRun) -> Result {
    let NewRun { workflow, version, source, inputs, starter } = new;
    let source = match (workflow, source) {
        (None, Some(source)) if version.is_none() => source,
        (Some(name), None) => {
            let new = NewStoredRun { inputs, starter, version };
            return begin_stored(clerk, &name, by, new).await;
        }
        (None, Some(_)) => {
            return Err(ClerkError::wrong("version", "is only for a saved workflow"));
        }
        (None, None) | (Some(_), Some(_)) => {
            let problem = "give the name of a saved workflow, or a file as `source`";
            return Err(ClerkError::wrong("workflow", problem));
        }
    };
    if let Some(earlier) = clerk.engine.repeated(&by).await? {
        return Ok(earlier);
    }
    // A file that an agent brings along is not the operator's, whoever runs the agent.
    let actor = if standing.is_agent { standing.agents() } else { by.actor };
    let by = By { actor, ..by };
    let id = clerk.engine.clock().new_id();
    let most = Allowance::default();
    let begin = Begin { run: id, source, inputs, starter, parent: None, fork: None, most };
    open(clerk, id, by, begin).await
}

/// Begins a run of a stored workflow.
pub async fn begin_stored(clerk: &Clerk, name: &str, by: By, new: NewStoredRun) -> Result {
    let NewStoredRun { inputs, starter, version } = new;
    check_starter(starter.as_deref())?;
    let asked = (inputs.clone(), starter.clone(), version);
    let Started { run, source } = shelves::start(clerk, name, &by, asked).await?;
    let source = source.to_string();
    let most = Allowance::default();
    let begin = Begin { run, source, inputs, starter, parent: None, fork: None, most };
    // The shelf has the key; whoever repeats the request comes to the same run.
    open(clerk, run, By::actor(by.actor), begin).await
}

/// Begins a run that is a step of another one, or that something else than a person
/// starts: the file is given, or that of a stored workflow is taken.
pub(crate) async fn begin_child(
    clerk: &Clerk,
    parent: &Snapshot,
    id: SessionId,
    by: By,
    with: Map<String, Value>,
) -> Result {
    let chosen = with.get("run").and_then(Value::as_str).and_then(|run| run.parse().ok());
    let id = chosen.unwrap_or(id);
    // A run that somebody has started is theirs, whether their request opens it or the shelf.
    let opener = match parent.room.shelf() {
        Some(_) => with.get("opener").and_then(Value::as_str).filter(|opener| !opener.is_empty()),
        None => None,
    };
    let by = By { actor: opener.map_or(by.actor, str::to_owned), ..by };
    if let Some(earlier) = clerk.opened(Some(id), &by).await? {
        return Ok(earlier);
    }
    let text = |field: &str| with.get(field).and_then(Value::as_str);
    let name = text("name").unwrap_or_default();
    let source = match text("source") {
        Some(source) => source.to_owned(),
        None => shelves::source(clerk, name, None).await?.to_string(),
    };
    let inputs = with.get("inputs").and_then(Value::as_object).cloned().unwrap_or_default();
    let starter = match parent.room.workflow() {
        Some(run) => Some(run.starter.clone()),
        None => text("starter").map(str::to_owned),
    };
    let parent = parent.room.workflow().map(|run| run.run);
    within_depth(clerk, parent).await?;
    let share = with.get("budget").and_then(|share| serde_json::from_value(share.clone()).ok());
    let most: Allowance = share.unwrap_or_default();
    open(clerk, id, by, Begin { run: id, source, inputs, starter, parent, fork: None, most }).await
}

/// Runs that run each other come to an end.
async fn within_depth(clerk: &Clerk, mut parent: Option<SessionId>) -> Result<()> {
    for _ in 1..limits::WORKFLOW_NESTING {
        let Some(id) = parent else { return Ok(()) };
        let run = clerk.engine.get(id).await?;
        parent = run.room.workflow().and_then(|run| run.parent);
    }
    match parent {
        None => Ok(()),
        Some(_) => {
            let most = limits::WORKFLOW_NESTING;
            let problem = format!("workflows run each other more than {most} levels deep");
            Err(ClerkError::wrong("name", problem))
        }
    }
}

async fn open(clerk: &Clerk, id: SessionId, by: By, begin: Begin) -> Result {
    check_starter(begin.starter.as_deref())?;
    // Another process, or this one before a crash, may have begun it.
    if clerk.opened(Some(id), &by).await?.is_none() {
        can_write(clerk, &begin.source)?;
    }
    let command = room::Command::Workflow(Command::Begin(Box::new(begin)));
    clerk.open(Some(id), by, command).await
}

/// A file that certainly cannot be written is known before anything is paid for. A step
/// that may be passed over, or whose failure is somebody's matter, is none of these.
fn can_write(clerk: &Clerk, source: &str) -> Result<()> {
    if !source.contains("write") {
        return Ok(());
    }
    let Checked { definition: Some(definition), .. } = workflow::check(source) else {
        return Ok(());
    };
    let problems = unwritable(clerk, &definition);
    let wrong: Vec<Wrong> = problems
        .into_iter()
        .filter(|(step, _)| step.when.is_none() && step.on_failure == OnFailure::Stop)
        .map(|(step, problem)| Wrong::new(format!("steps.{}.write.path", step.id), problem))
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(Reject::Invalid(wrong).into()) }
}

/// The steps that cannot write their files, and why.
pub(crate) fn unwritable<'a>(clerk: &Clerk, definition: &'a Definition) -> Vec<(&'a Step, String)> {
    let steps = definition.all_steps().into_iter();
    let found = steps.filter_map(|step| {
        let path = step.written()?;
        let problem = match &clerk.outside {
            Some(outside) => outside.may_write(&path).err()?.message,
            None => "Requests and files are not allowed here.".to_owned(),
        };
        Some((step, problem))
    });
    found.collect()
}

fn check_starter(starter: Option<&str>) -> Result<()> {
    let Some(name) = starter else { return Ok(()) };
    if name.chars().count() > NAME_CHARS {
        return Err(ClerkError::wrong("starter", format!("has more than {NAME_CHARS} characters")));
    }
    names::check_name(name).map_err(|problem| ClerkError::wrong("starter", problem))
}

/// A new run that takes over what was settled before a step of this one.
pub async fn fork(clerk: &Clerk, caller: Caller, new: NewFork) -> Result {
    if let Some(earlier) = clerk.engine.repeated(&caller.by).await? {
        return Ok(earlier);
    }
    let snapshot = clerk.engine.get(caller.session).await?;
    caller.owns(&snapshot, "fork")?;
    let run = run(&snapshot)?;
    let NewFork { from, source, inputs, starter } = new;
    let steps = run.before(&from)?;
    let mut all = (*run.inputs).clone();
    all.extend(inputs);
    let source = source.unwrap_or_else(|| run.source.to_string());
    if let Checked { definition: Some(definition), .. } = workflow::check(&source) {
        rewinds_nothing(clerk, run, &from, &definition).await?;
        // Inputs that another file does not have are not taken over.
        all.retain(|name, _| {
            let is_known = definition.inputs.iter().any(|input| input.name == *name);
            is_known || !run.inputs.contains_key(name)
        });
    }
    let id = clerk.engine.clock().new_id();
    let (fork, most) = (Some(Forked { run: snapshot.id, from, steps }), Allowance::default());
    let begin = Begin { run: id, source, inputs: all, starter, parent: None, fork, most };
    open(clerk, id, caller.by, begin).await
}

/// Rooms go on from where they are: what one does not take any more would fail in the new
/// run, when much of that is paid for.
async fn rewinds_nothing(
    clerk: &Clerk,
    run: &State,
    from: &str,
    definition: &Definition,
) -> Result<()> {
    let again = run.again(from, definition);
    let id_of = |value: &Value| value.get("id").and_then(Value::as_str).map(str::to_owned);
    let anew: Vec<String> = again.iter().filter_map(|one| id_of(one.output?)).collect();
    let mut seen = vec![];
    for Again { step, act, with, .. } in again {
        let (kind, field) = match act.split_once('.') {
            Some((kind @ ("whiteboard" | "council"), verb)) if verb != "open" => {
                (kind, if kind == "council" { "council" } else { "board" })
            }
            _ => continue,
        };
        let written = with.get(field).and_then(Value::as_str).unwrap_or_default();
        let id = match written.parse::<SessionId>() {
            Ok(id) => Ok(id),
            Err(_) => clerk.engine.named(kind, written).await,
        };
        // Only what is done first to a room meets it as it is now.
        let Ok(id) = id else { continue };
        if anew.contains(&id.to_string()) || seen.contains(&id) {
            continue;
        }
        seen.push(id);
        let Ok(room) = clerk.engine.get(id).await else { continue };
        if let Some(problem) = gives::refuses(&room.room, act, with) {
            let earlier = run.opener_of(&id.to_string());
            let earlier = earlier
                .map_or(String::new(), |step| format!("; fork from `{step}`, which opens another"));
            let problem = format!(
                "`{step}` cannot be done again: {problem}, and a fork does not rewind rooms{earlier}"
            );
            return Err(ClerkError::wrong("from", problem));
        }
    }
    Ok(())
}

/// A person decides. Nobody else decides for them but the operator of the server: whoever
/// started a run must not be able to approve it under another name.
pub async fn decide(clerk: &Clerk, caller: Caller, step: String, new: NewDecision) -> Result {
    let snapshot = clerk.engine.get(caller.session).await?;
    run(&snapshot)?;
    let by = match (&caller.proven, new.by) {
        (Proven::Seat(own), Some(named)) if !names::are_same(&own.name, &named) => {
            return Err(ClerkError::OtherSeat(own.name.clone()));
        }
        (Proven::Seat(own), _) => own.name.clone(),
        (Proven::Stranger | Proven::Agent(_) | Proven::Opener, _) => {
            return Err(ClerkError::WrongToken);
        }
        (Proven::Nothing, named) => {
            caller.standing.operates("decide for people")?;
            named.ok_or_else(|| ClerkError::wrong("by", "say who decides"))?
        }
    };
    let command = Command::Decide {
        place: Place(step.into()),
        decision: new.decision.into(),
        reason: new.reason.unwrap_or_default(),
        fields: new.fields,
    };
    let by = By { actor: by, ..caller.by };
    submit(clerk, caller.session, by, command).await
}

/// Cancels a run, for whoever started it and the operator.
pub async fn cancel(clerk: &Clerk, caller: Caller, new: Cancelling) -> Result {
    caller.owns(&clerk.engine.get(caller.session).await?, "cancel")?;
    let reason = new.reason.unwrap_or_default();
    if reason.len() > limits::REPLY_BYTES {
        let problem = format!("has more than {} bytes", limits::REPLY_BYTES);
        return Err(ClerkError::wrong("reason", problem));
    }
    let command = Command::Cancel { reason };
    submit(clerk, caller.session, caller.by, command).await
}

async fn submit(clerk: &Clerk, id: SessionId, by: By, command: Command) -> Result {
    Ok(clerk.engine.submit(id, by, room::Command::Workflow(command)).await?)
}

/// A session of another form is no run.
pub fn run(snapshot: &Snapshot) -> Result<&State> {
    let run = snapshot.room.workflow();
    run.ok_or(ClerkError::Engine(EngineError::NotFound(snapshot.id)))
}
