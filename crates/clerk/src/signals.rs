//! Signals that somebody sends, for whoever waits for them.

use plenary_domain::signals::{self, Command, Event};
use plenary_domain::workflow::{Doing, Running, Signal, Status, matches};
use plenary_domain::{Room, SessionId, Timestamp, limits, room};
use plenary_engine::ports::ListQuery;
use plenary_engine::{By, EngineError};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{Clerk, Result, runs};

#[derive(Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewSignal {
    /// What the signal is called.
    #[schema(pattern = "^[a-z0-9][a-z0-9._-]{0,79}$")]
    pub name: String,
    /// Fields that waits compare and triggers take as inputs: words, numbers, true and false.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub fields: Map<String, Value>,
}

/// A signal that was sent, and who waits for it.
pub struct Sent {
    /// Which it was under its name.
    pub number: u64,
    pub matched: Vec<Waiting>,
    pub nearly: Vec<Waiting>,
}

/// A step that waits.
pub struct Waiting {
    pub run: SessionId,
    pub step: String,
    /// What it wants to be otherwise.
    pub differs: Vec<String>,
}

/// Sends a signal.
pub async fn send(clerk: &Clerk, by: By, new: NewSignal) -> Result<Sent> {
    let mut signal = new.fields.clone();
    signal.insert("signal".into(), new.name.clone().into());
    // Those that wait are looked at first: what has resumed does not wait any more.
    let (matched, nearly) = waiting(clerk, &signal).await?;
    let number = submit(clerk, by, new).await?;
    Ok(Sent { number, matched, nearly })
}

async fn submit(clerk: &Clerk, by: By, new: NewSignal) -> Result<u64> {
    let NewSignal { name, fields } = new;
    for _ in 0..limits::DECISIONS {
        let command = Command::Send { name: name.clone(), fields: fields.clone() };
        let command = room::Command::Signals(command);
        let sent = match clerk.engine.named(signals::KIND, &name).await {
            Ok(id) => clerk.engine.submit(id, by.clone(), command).await,
            Err(EngineError::Unnamed { .. }) => clerk.engine.open(by.clone(), command).await,
            Err(error) => return Err(error.into()),
        };
        match sent {
            // Somebody else has opened it in the same moment.
            Err(EngineError::Taken(_)) => {}
            sent => {
                let number = sent?.recorded.last().map(|last| match &last.event {
                    room::Event::Signals(Event::Sent { number, .. }) => *number,
                    room::Event::Boardroom(_)
                    | room::Event::Whiteboard(_)
                    | room::Event::Council(_)
                    | room::Event::Discussion(_)
                    | room::Event::Workflow(_)
                    | room::Event::Shelf(_)
                    | room::Event::Boards(_)
                    | room::Event::Library(_) => 0,
                });
                return Ok(number.unwrap_or(0));
            }
        }
    }
    Err(EngineError::Contended.into())
}

/// Steps that wait for this, and those that wait for one of its name that differs.
async fn waiting(clerk: &Clerk, signal: &Signal) -> Result<(Vec<Waiting>, Vec<Waiting>)> {
    let query = ListQuery {
        kind: Some(runs::KIND.to_owned()),
        active: Some(true),
        limit: limits::SIGNAL_RUNS,
        ..ListQuery::default()
    };
    let (mut matched, mut nearly) = (vec![], vec![]);
    for row in clerk.engine.list(query).await?.rows {
        let Ok(snapshot) = clerk.engine.get(row.id).await else { continue };
        let Ok(run) = runs::run(&snapshot) else { continue };
        for (place, step) in &run.steps {
            let (Status::Running(Running::Wait), Some(Doing::Wait { signals, .. })) =
                (&step.status, step.doing.as_deref())
            else {
                continue;
            };
            // A wait may name several signals; it is told of by the one that is nearest.
            let named = signals.iter().filter(|one| one.get("signal") == signal.get("signal"));
            let Some(differs) = named.map(|one| differing(one, signal)).min_by_key(Vec::len) else {
                continue;
            };
            let list = if differs.is_empty() { &mut matched } else { &mut nearly };
            list.push(Waiting { run: row.id, step: place.to_string(), differs });
        }
    }
    Ok((matched, nearly))
}

/// What a wait wants to be otherwise.
fn differing(wanted: &Signal, signal: &Signal) -> Vec<String> {
    let is_other = |key: &&String| {
        let only = |of: &Signal| {
            let value = of.get(*key).cloned();
            value.map(|value| Map::from_iter([((*key).clone(), value)]))
        };
        !only(wanted).zip(only(signal)).is_some_and(|(a, b)| matches(&a, &b))
    };
    wanted.keys().filter(is_other).cloned().collect()
}

/// Where what was sent under this name is kept.
pub(crate) async fn room(clerk: &Clerk, signal: &Signal) -> Result<SessionId> {
    let name = signal.get("signal").and_then(Value::as_str).unwrap_or_default();
    Ok(clerk.engine.named(signals::KIND, name).await?)
}

pub(crate) fn came(room: &Room, since: Timestamp) -> Vec<Signal> {
    room.signals().map(|signals| signals.came(since)).unwrap_or_default()
}
