//! Stored workflows: put on the shelf, taken down, started.

use std::collections::BTreeMap;
use std::sync::Arc;

use plenary_domain::shelf::{self, Command, Event, State};
use plenary_domain::workflow::{self, Checked, Definition, Trigger};
use plenary_domain::{Reject, SessionId, limits, room};
use plenary_engine::ports::ListQuery;
use plenary_engine::{By, EngineError, Snapshot};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::identity::Standing;
use crate::{Clerk, ClerkError, Result};

#[derive(Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewWorkflow {
    /// The file, as YAML or JSON, of 262,144 bytes at most. It says itself what it is called.
    pub source: String,
}

/// Everything that is wrong with a file, also where it and those on the shelf run each other.
pub async fn checked(clerk: &Clerk, source: &str) -> Result<Checked> {
    let Checked { definition, mut problems } = workflow::check(source);
    let Some(definition) = definition else { return Ok(Checked { definition, problems }) };
    let stored = all(clerk).await?;
    let stored = stored.iter().filter_map(|shelf| shelf.room.shelf());
    let others: BTreeMap<&str, &Definition> =
        stored.map(|shelf| (shelf.name.as_str(), &*shelf.newest.definition)).collect();
    // This one is what its name means from now on.
    let find = |name: &str| others.get(name).copied().filter(|_| *name != *definition.name);
    let circles = workflow::nesting(&definition, &find);
    let is_sound = circles.is_empty();
    problems.extend(circles);
    Ok(Checked { definition: Some(definition).filter(|_| is_sound), problems })
}

/// Stores a file: the first one under its name, or the next version.
pub async fn store(clerk: &Clerk, by: By, named: Option<&str>, new: NewWorkflow) -> Result {
    let inside = match workflow::check(&new.source).definition {
        Some(definition) => {
            let Checked { definition: sound, problems } = checked(clerk, &new.source).await?;
            if sound.is_none() {
                return Err(Reject::Invalid(workflow::wrong(problems)).into());
            }
            Some(definition.name)
        }
        None => None,
    };
    if let (Some(named), Some(inside)) = (named, &inside)
        && named != inside
    {
        let problem = format!("the file is called {inside:?}, not {named:?}");
        return Err(ClerkError::wrong("source", problem));
    }
    let name = inside.or_else(|| named.map(str::to_owned)).unwrap_or_default();
    for _ in 0..limits::DECISIONS {
        let command = room::Command::Shelf(Command::Store { source: new.source.clone() });
        let stored = match clerk.engine.named(shelf::KIND, &name).await {
            Ok(id) => clerk.engine.submit(id, by.clone(), command).await,
            Err(EngineError::Unnamed { .. }) => clerk.engine.open(by.clone(), command).await,
            Err(error) => return Err(error.into()),
        };
        match stored {
            // Somebody else has stored it in the same moment.
            Err(EngineError::Taken(_)) => {}
            stored => return Ok(stored?),
        }
    }
    Err(EngineError::Contended.into())
}

/// Takes a workflow off the shelf. Its runs go on.
pub async fn remove(clerk: &Clerk, name: &str, by: By) -> Result {
    let id = found(clerk, name).await?.id;
    submit(clerk, id, by, Command::Remove).await
}

/// Something came to the webhook of a workflow, whose signature was proven.
pub async fn deliver(clerk: &Clerk, name: &str, by: By, (id, body): (String, Value)) -> Result {
    let shelf = found(clerk, name).await?.id;
    submit(clerk, shelf, by, Command::Deliver { id, body }).await
}

async fn submit(clerk: &Clerk, id: SessionId, by: By, command: Command) -> Result {
    Ok(clerk.engine.submit(id, by, room::Command::Shelf(command)).await?)
}

/// What a run that somebody starts begins with.
pub(crate) struct Started {
    pub run: SessionId,
    pub source: Arc<str>,
}

/// Tells the shelf that somebody starts a run, so that those which must keep out of each
/// other's way do.
pub(crate) async fn start(
    clerk: &Clerk,
    name: &str,
    by: &By,
    (inputs, starter, version): (Map<String, Value>, Option<String>, Option<u32>),
) -> Result<Started> {
    let shelf = found(clerk, name).await?;
    let starter = starter.unwrap_or_else(|| by.actor.clone());
    let run = clerk.engine.clock().new_id();
    let command = Command::Start { run, inputs, starter, version };
    let started = submit(clerk, shelf.id, by.clone(), command).await?;
    // An earlier request with the same key may have started it.
    let run = started.recorded.iter().find_map(|recorded| match &recorded.event {
        room::Event::Shelf(Event::Triggered { how: shelf::How::Person { run, .. }, .. }) => {
            Some(*run)
        }
        _ => None,
    });
    let run = run.ok_or(ClerkError::Unreadable("run"))?;
    let state = shelf_of(&started)?;
    let version = state.runs.values().rev().find(|one| one.session() == Some(run));
    let source = version.map_or(&state.newest.source, |run| &run.version.source);
    Ok(Started { run, source: source.clone() })
}

/// The file of a stored workflow, the newest version unless another is named.
pub(crate) async fn source(clerk: &Clerk, name: &str, version: Option<u32>) -> Result<Arc<str>> {
    let shelf = found(clerk, name).await?;
    let state = shelf_of(&shelf)?;
    let version = state.version(version).ok_or_else(|| {
        let newest = state.newest.number;
        Reject::Unknown(format!("There is no such version; the newest is {newest}."))
    })?;
    Ok(version.source.clone())
}

/// Whether this is the file of a workflow on the shelf, in any version that is kept.
pub(crate) async fn is_stored(clerk: &Clerk, name: &str, source: &str) -> Result<bool> {
    match found(clerk, name).await {
        Ok(shelf) => Ok(shelf_of(&shelf)?.versions().any(|version| *version.source == *source)),
        Err(ClerkError::Refused(Reject::Unknown(_))) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The newest version of a workflow on the shelf, where this file is an earlier one.
pub async fn newer(clerk: &Clerk, name: &str, source: &str) -> Result<Option<u32>> {
    let shelf = match found(clerk, name).await {
        Err(ClerkError::Refused(Reject::Unknown(_))) => return Ok(None),
        shelf => shelf?,
    };
    let state = shelf_of(&shelf)?;
    let newest = &state.newest;
    let is_earlier = state.versions().any(|version| *version.source == *source);
    Ok((is_earlier && *newest.source != *source).then_some(newest.number))
}

/// A workflow that is on the shelf.
pub async fn found(clerk: &Clerk, name: &str) -> Result {
    let none = || Reject::Unknown(format!("There is no workflow called {name:?}.")).into();
    let id = match clerk.engine.named(shelf::KIND, name).await {
        Err(EngineError::Unnamed { .. }) => return Err(none()),
        id => id?,
    };
    let shelf = clerk.engine.get(id).await?;
    if shelf_of(&shelf)?.is_removed() { Err(none()) } else { Ok(shelf) }
}

/// All workflows on the shelf, by name.
pub async fn all(clerk: &Clerk) -> Result<Vec<Snapshot>> {
    let mut all = vec![];
    let mut before = None;
    loop {
        let query = ListQuery {
            kind: Some(shelf::KIND.to_owned()),
            status: Some("stored".to_owned()),
            limit: limits::PAGE_MOST,
            before,
            ..ListQuery::default()
        };
        let page = clerk.engine.list(query).await?;
        for row in page.rows {
            all.push(clerk.engine.get(row.id).await?);
        }
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    all.sort_by(|a, b| name(a).cmp(name(b)));
    Ok(all)
}

fn name(shelf: &Snapshot) -> &str {
    shelf.room.shelf().map(|state| state.name.as_str()).unwrap_or_default()
}

/// The secret by which deliveries to a workflow are signed, where it has a webhook and the
/// secret is set.
pub fn hook_secret(clerk: &Clerk, shelf: &Snapshot) -> Option<String> {
    let state = shelf_of(shelf).ok()?;
    let name = state.newest.definition.on.iter().find_map(|trigger| match trigger {
        Trigger::Webhook { secret } => Some(secret.clone()),
        Trigger::Cron { .. } | Trigger::Signal { .. } => None,
    });
    clerk.outside.as_ref()?.secret(&name?)
}

/// A session of another form is no shelf.
pub fn shelf_of(snapshot: &Snapshot) -> Result<&State> {
    let shelf = snapshot.room.shelf();
    shelf.ok_or(ClerkError::Engine(EngineError::NotFound(snapshot.id)))
}

/// Workflows may reach hosts, files and secrets that the operator allows, so that who
/// stores one for others to run, or for the clock, is the operator.
pub fn may_store(standing: &Standing) -> Result<()> {
    standing.operates("save workflows")
}
