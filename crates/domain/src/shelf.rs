//! One stored workflow: its versions, what starts runs of it, and how these end. It is a
//! room of the common shape, so that what starts a run survives a restart and is taken
//! once: a time is a sleep, a signal is waited for, a run is opened under a key.
//!
//! A run is a session of its own. What is said here of it is what a list shows, and what
//! has to be known so that runs keep out of each other's way.

mod apply;
mod calls;
mod event;
mod settle;
mod start;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value};

pub use event::{Event, How};

use crate::call::{Call, Outcome};
use crate::errand::Errand;
use crate::form::{Form, Moment, Progress, Report, Ruling};
use crate::ids::{CallId, Nonce, SessionId};
use crate::limits;
use crate::reject::{Reject, Wrong, settled, text};
use crate::room::no_session;
use crate::workflow::{self, Definition, End, Missed, Overlap, Signal, too_large};

/// There is one room of this kind for each name of a stored workflow.
pub const KIND: &str = State::KIND;

// ---------------------------------------------------------------------------
// State

#[derive(Clone, PartialEq, Debug)]
pub struct State {
    pub name: String,
    pub newest: Arc<Version>,
    /// Those before it that are kept, the oldest first.
    pub earlier: VecDeque<Arc<Version>>,
    pub stage: Stage,
    /// All that have not ended, and the last ones of those that have, by number.
    pub runs: BTreeMap<u64, Arc<Run>>,
    /// The last trigger that started nothing.
    pub skipped: Option<Skipped>,
    /// The number of the last run that was to begin.
    last: u64,
    /// Deliveries that were taken, the oldest first.
    deliveries: VecDeque<String>,
    /// The keys of its runs begin with it.
    code: Nonce,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Version {
    /// From 1.
    pub number: u32,
    /// The file as it was written.
    pub source: Arc<str>,
    pub definition: Arc<Definition>,
    pub by: String,
    pub at: Timestamp,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Stage {
    Stored(Triggers),
    /// How far the triggers had come is kept: nothing is taken again if it comes back.
    Removed {
        by: String,
        at: Timestamp,
        before: Triggers,
    },
}

/// What starts runs of the newest version, and how far each has come.
#[derive(Clone, PartialEq, Debug)]
pub struct Triggers {
    pub cron: Option<Ticking>,
    pub signal: Option<Listening>,
    pub webhook: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Ticking {
    cron: String,
    zone: String,
    overlap: Overlap,
    missed: Missed,
    /// `None` if it never comes again.
    pub next_at: Option<Timestamp>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Listening {
    pub matching: Signal,
    /// What was sent before this has been taken. `None` once something has come that is so
    /// from then on.
    since: Option<Timestamp>,
    /// Signals that were taken.
    taken: u64,
    /// Times in a row that it has failed.
    failed: u32,
    /// It has failed, and goes on then.
    again_at: Option<Timestamp>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    pub number: u64,
    pub version: Arc<Version>,
    pub how: How,
    pub starter: String,
    /// What `one_per` comes to.
    pub key: Option<String>,
    pub at: Timestamp,
    pub stop: Stop,
    pub life: Life,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Life {
    /// It begins as soon as nothing is in its way.
    Pending {
        inputs: Arc<Map<String, Value>>,
    },
    Running {
        run: SessionId,
    },
    Ended {
        run: SessionId,
        status: End,
        reason: String,
        at: Timestamp,
    },
    /// It could not begin.
    Failed {
        why: String,
        at: Timestamp,
    },
    /// It was given up before it began.
    Dropped {
        why: String,
        at: Timestamp,
    },
}

/// Whether a run makes room for another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    No,
    Asked,
    Tried,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Skipped {
    pub how: How,
    pub why: String,
    pub at: Timestamp,
}

impl Run {
    /// The session, as soon as it is known.
    pub fn session(&self) -> Option<SessionId> {
        match (&self.life, &self.how) {
            (Life::Running { run } | Life::Ended { run, .. }, _) => Some(*run),
            (
                Life::Pending { .. } | Life::Failed { .. } | Life::Dropped { .. },
                How::Person { run, .. },
            ) => Some(*run),
            (
                Life::Pending { .. } | Life::Failed { .. } | Life::Dropped { .. },
                How::Cron { .. } | How::Signal { .. } | How::Webhook { .. },
            ) => None,
        }
    }

    /// Nothing more will happen to it.
    pub fn is_over(&self) -> bool {
        match self.life {
            Life::Pending { .. } | Life::Running { .. } => false,
            Life::Ended { .. } | Life::Failed { .. } | Life::Dropped { .. } => true,
        }
    }

    /// The word for how it is, and why.
    pub fn status(&self) -> (&'static str, &str) {
        match &self.life {
            Life::Pending { .. } => ("waiting", ""),
            Life::Running { .. } => ("running", ""),
            Life::Ended { status, reason, .. } => (status.name(), reason),
            Life::Failed { why, .. } => ("failed", why),
            Life::Dropped { why, .. } => ("cancelled", why),
        }
    }
}

impl State {
    pub fn is_removed(&self) -> bool {
        matches!(self.stage, Stage::Removed { .. })
    }

    /// A version that is kept; the newest when none is named.
    pub fn version(&self, number: Option<u32>) -> Option<&Arc<Version>> {
        let Some(number) = number else { return Some(&self.newest) };
        self.versions().find(|version| version.number == number)
    }

    /// All versions that are kept, the newest first.
    pub fn versions(&self) -> impl Iterator<Item = &Arc<Version>> {
        [&self.newest].into_iter().chain(self.earlier.iter().rev())
    }

    /// The last runs, the newest first.
    pub fn last_runs(&self) -> impl Iterator<Item = &Arc<Run>> {
        self.runs.values().rev().take(limits::RUNS_TOLD)
    }

    /// The next time of the cron trigger.
    pub fn next_at(&self) -> Option<Timestamp> {
        self.triggers()?.cron.as_ref()?.next_at
    }

    /// Of the last runs that ended or could not begin, the part that was done.
    pub fn success_rate(&self) -> Option<f64> {
        let succeeded = self.last_runs().filter_map(|run| match &run.life {
            Life::Ended { status, .. } => Some(*status == End::Done),
            Life::Failed { .. } => Some(false),
            Life::Pending { .. } | Life::Running { .. } | Life::Dropped { .. } => None,
        });
        let succeeded: Vec<bool> = succeeded.collect();
        let done = succeeded.iter().filter(|done| **done).count();
        (!succeeded.is_empty()).then(|| done as f64 / succeeded.len() as f64)
    }

    /// `None` as long as it is removed.
    pub fn triggers(&self) -> Option<&Triggers> {
        match &self.stage {
            Stage::Stored(triggers) => Some(triggers),
            Stage::Removed { .. } => None,
        }
    }

    fn not_now(&self, message: impl Into<String>) -> Reject {
        let allowed = if self.is_removed() { vec!["store"] } else { vec!["store", "remove"] };
        Reject::NotNow { state: self.status(), message: message.into(), allowed }
    }
}

// ---------------------------------------------------------------------------
// Command

#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    /// A file, YAML or JSON. The first one opens the room.
    Store {
        source: String,
    },
    Remove,
    /// Somebody starts a run.
    Start {
        /// The session that it will be.
        run: SessionId,
        inputs: Map<String, Value>,
        starter: String,
        /// The newest, unless it is given.
        version: Option<u32>,
    },
    /// Something came to the webhook whose signature was proved.
    Deliver {
        id: String,
        body: Value,
    },
}

// ---------------------------------------------------------------------------
// The rules

impl Form for State {
    const KIND: &'static str = "shelf";
    const STATUSES: &'static [&'static str] = &["stored", "removed"];
    type Command = Command;
    type Event = Event;

    fn decide(state: Option<&Self>, command: Command, moment: &Moment) -> Ruling<Event> {
        match (state, command) {
            (state, Command::Store { source }) => store(state, source, moment),
            (None, Command::Remove | Command::Start { .. } | Command::Deliver { .. }) => {
                Err(no_workflow())
            }
            (Some(state), Command::Remove) => state.remove(moment),
            (Some(state), Command::Start { run, inputs, starter, version }) => {
                state.start(run, &inputs, starter, version, moment)
            }
            (Some(state), Command::Deliver { id, body }) => state.deliver(id, &body, moment.at),
        }
    }

    fn settle(&self, call: &CallId, outcome: Outcome, moment: &Moment) -> Ruling<Event> {
        self.settled(call, outcome, moment.at)
    }

    /// Its runs are sessions, which are stopped by themselves.
    fn stop(&self, _: &Moment) -> Ruling<Event> {
        Err(no_session())
    }

    fn open(event: &Event, _: Timestamp) -> Option<Self> {
        State::opened_by(event)
    }

    fn take(&mut self, event: &Event, _: Timestamp) {
        self.follow(event);
    }

    fn due(&self) -> Vec<Call> {
        self.calls().into_iter().map(|wanted| wanted.call).collect()
    }

    fn errand(&self, call: &CallId) -> Option<Errand> {
        self.errand_of(call)
    }

    /// Stored workflows are found among themselves, and their runs among sessions.
    fn is_listed(&self, _: &Event) -> bool {
        false
    }
}

fn no_workflow() -> Reject {
    Reject::Unknown("There is no such workflow.".into())
}

fn store(state: Option<&State>, source: String, moment: &Moment) -> Ruling<Event> {
    if state.is_some_and(|state| !state.is_removed() && *state.newest.source == *source) {
        return Ok(vec![]);
    }
    let definition = workflow::sound(&source)?;
    if let Some(state) = state.filter(|state| state.name != definition.name) {
        let problem = format!("is not the name of this workflow, {:?}", state.name);
        return Err(Reject::Invalid(vec![Wrong::new("name", problem)]));
    }
    Ok(vec![Event::Stored {
        version: state.map_or(0, |state| state.newest.number) + 1,
        source: source.into(),
        definition: Arc::new(definition),
        nonce: moment.nonce.clone(),
        by: moment.actor.clone(),
        at: moment.at,
    }])
}

impl State {
    /// Nothing starts a run any more. What may have begun is seen to its end.
    fn remove(&self, moment: &Moment) -> Ruling<Event> {
        if self.is_removed() {
            return Err(no_workflow());
        }
        let at = moment.at;
        let why = "the workflow was removed";
        let mut events = vec![Event::Removed { by: moment.actor.clone(), at }];
        let waiting = self.waiting().into_iter();
        events.extend(waiting.map(|number| Event::Dropped { number, why: why.into(), at }));
        Ok(events)
    }

    fn deliver(&self, id: String, body: &Value, at: Timestamp) -> Ruling<Event> {
        let triggers = self.triggers().ok_or_else(no_workflow)?;
        if !triggers.webhook {
            return Err(Reject::Unknown("This workflow has no webhook.".into()));
        }
        let mut wrong = vec![];
        text(&mut wrong, "id", &id, limits::DELIVERY_ID_BYTES);
        wrong.extend(too_large(body).map(|why| Wrong::new("body", why)));
        settled(wrong)?;
        // Whoever sends a delivery sends it again until it is answered.
        if self.deliveries.contains(&id) {
            return Ok(vec![]);
        }
        if self.is_full() {
            return Err(self.full());
        }
        let none = Map::new();
        let fields = body.as_object().unwrap_or(&none);
        Ok(self.trigger(How::Webhook { id }, "a webhook", fields, Overlap::Skip, at))
    }
}

/// It is no session: what there is to tell stands in the state.
impl Report for State {
    fn status(&self) -> &'static str {
        match self.stage {
            Stage::Stored(_) => "stored",
            Stage::Removed { .. } => "removed",
        }
    }

    fn title(&self) -> String {
        self.name.clone()
    }

    fn called(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn is_over(&self) -> bool {
        self.calls().is_empty()
    }

    fn progress(&self) -> Progress {
        Progress { done: 0, total: 0, message: String::new() }
    }

    fn report(&self, _: bool) -> String {
        String::new()
    }

    fn next(&self) -> Vec<String> {
        vec![]
    }
}
