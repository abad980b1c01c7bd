//! Steps in order: they open, feed, wait for and harvest the other forms.
//!
//! A definition is read out of YAML or JSON, checked as a whole, and copied into the
//! run's first event. From then on every value is worked out once, when its step begins,
//! and stands in the log: a restart, a takeover or a reader works nothing out again.

mod apply;
mod begin;
mod calls;
mod check;
pub(crate) mod cron;
mod definition;
mod event;
mod expression;
mod foresight;
mod fork;
pub mod gives;
mod grants;
mod graph;
mod kinds;
mod plan;
mod problem;
mod read;
mod rehearsal;
mod report;
mod schema;
mod scope;
mod seat;
mod settle;
mod signal;
mod size;
#[cfg(test)]
mod tests;
mod time;
mod veil;
mod yaml;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value};

pub use check::{Checked, check, nesting};
pub use definition::{
    Approve, AtDeadline, Budget, Definition, Foreach, Input, Kind, Missed, Need, OnFailure, Output,
    Overlap, Repeat, Retry, Step, Trigger, Type, Wait,
};
pub use event::{Copied, Decision, Doing, End, Ending, Event, Forked, MayNote, Place, Seat, Took};
pub use foresight::{Asks, Counts, Foreseen, ForeseenStep, Span, Whom, foresee};
pub use fork::Again;
pub use graph::mermaid;
pub use kinds::Act;
pub use problem::{Problem, Severity};
pub use rehearsal::{Fault, Rehearsed, rehearse};
pub use schema::schema;
pub(crate) use settle::CLOCK;
pub(crate) use signal::written;
pub use signal::{AT, BY, NUMBER, Signal, is_among, is_of_rooms, matches, resumes, room_of};
pub(crate) use size::too_large;

use crate::budget::{Allowance, Claim};
use crate::call::{Ask, Call, Outcome};
use crate::errand::Errand;
use crate::form::{Form, Moment, Report, Ruling};
use crate::ids::{CallId, ModelName, Nonce, SessionId};
use crate::ledger::{Ledger, Usage};
use crate::reject::{Reject, Wrong};

// ---------------------------------------------------------------------------
// State

#[derive(Clone, PartialEq, Debug)]
pub struct State {
    pub run: SessionId,
    pub definition: Arc<Definition>,
    /// The file as it was written.
    pub source: Arc<str>,
    pub inputs: Arc<Map<String, Value>>,
    pub title: String,
    pub starter: String,
    pub parent: Option<SessionId>,
    /// The run that this one goes on from, and the step from which on it is its own.
    pub forked: Option<(SessionId, String)>,
    pub began_at: Timestamp,
    /// When the last thing happened.
    pub changed_at: Timestamp,
    /// Steps that have begun or were settled without; what is missing waits.
    pub steps: BTreeMap<Place, Arc<StepRun>>,
    pub cancel: Option<Cancel>,
    /// Rooms that the run has opened and that end with it when it is cancelled.
    opened: BTreeSet<String>,
    /// Those that are being ended.
    pub stopping: BTreeSet<String>,
    /// Openings that nobody wants any more, by who wanted them. They may have been carried
    /// out: each is carried through, so that what it has opened can be ended.
    called_off: BTreeMap<Place, Opening>,
    /// What sessions may spend that the run has opened or is about to, by their ids.
    granted: BTreeMap<String, (Place, Allowance)>,
    /// Sessions of which the run knows what they took.
    counted: BTreeSet<String>,
    /// Questions that were broken off and have not said yet what they took.
    cut: BTreeMap<CallId, Cut>,
    pub ledger: Ledger,
    /// The code around quotations.
    code: Nonce,
    /// What has happened in it is left out, because whoever looks may not know of it yet.
    pub is_veiled: bool,
    pub stage: Stage,
}

/// A question that was put to a seat: by which model it answers, and tokens that it reads.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Cut {
    model: ModelName,
    seat: String,
    read: u64,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Stage {
    Running,
    /// Nothing but `finally` is under way, and that not longer than this.
    Finally {
        ending: Ending,
        until: Timestamp,
    },
    Ended {
        ending: Ending,
        at: Timestamp,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub struct Cancel {
    pub by: String,
    pub reason: String,
    pub at: Timestamp,
}

#[derive(Clone, PartialEq, Debug)]
pub struct StepRun {
    pub began_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// What it does, with every value worked out; `None` where it came to nothing.
    pub doing: Option<Arc<Doing>>,
    pub status: Status,
    /// The session that it has opened, the last of several.
    pub session: Option<String>,
    /// What its questions and sessions took so far.
    pub spent: Usage,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Status {
    Running(Running),
    Done(Arc<Value>),
    Skipped { why: String },
    Failed { why: String, output: Arc<Value> },
    Cancelled { why: String },
}

/// How far a step is that is under way.
#[derive(Clone, PartialEq, Debug)]
pub enum Running {
    Act(Acting),
    Sleep,
    Wait,
    Approve { decided: Vec<Decided> },
    Foreach,
    Repeat { rounds: Vec<Value> },
}

#[derive(Clone, PartialEq, Debug)]
pub struct Acting {
    /// Which attempt this is, from 1.
    pub tries: u32,
    pub attempt_at: Timestamp,
    /// Sessions that earlier attempts have opened.
    pub sessions: u32,
    /// An attempt was given up whose opening may have been carried out.
    pub gave_up: bool,
    pub attempt: Attempt,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Attempt {
    /// Who answers, and what they see, is looked up.
    Looking,
    /// A seat is asked. Who has not voted on everything is asked once more.
    Asking { seat: Arc<Seat>, asked: u32, so_far: Value },
    /// It is done, with what the seat has answered.
    Doing { answer: Option<Value> },
    /// The session that was opened is waited for.
    Watching { session: String },
    /// The next attempt begins then.
    Pausing { until: Timestamp },
}

/// An opening that may be under way, or done without the run having heard of it.
#[derive(Clone, PartialEq, Debug)]
struct Opening {
    call: CallId,
    errand: Errand,
    /// What it opens, where the id is known before.
    session: String,
}

/// What a person has decided.
#[derive(Clone, PartialEq, Debug)]
pub struct Decided {
    pub by: String,
    pub decision: Decision,
    pub reason: String,
    pub fields: Map<String, Value>,
    pub at: Timestamp,
}

// ---------------------------------------------------------------------------
// Command

#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    Begin(Box<Begin>),
    /// Who decides is who gives the command.
    Decide {
        place: Place,
        decision: Decision,
        reason: String,
        fields: Map<String, Value>,
    },
    Cancel {
        reason: String,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub struct Begin {
    /// The session that the run will be.
    pub run: SessionId,
    /// YAML or JSON.
    pub source: String,
    pub inputs: Map<String, Value>,
    /// Who starts it, where that is not who asks.
    pub starter: Option<String>,
    pub parent: Option<SessionId>,
    pub fork: Option<Forked>,
    /// What it may spend at most, whatever its file says: its share of another run's budget.
    pub most: Allowance,
}

// ---------------------------------------------------------------------------
// The rules

impl Form for State {
    const KIND: &'static str = "workflow";
    const STATUSES: &'static [&'static str] = &["running", "done", "failed", "cancelled"];
    type Command = Command;
    type Event = Event;

    fn decide(state: Option<&Self>, command: Command, moment: &Moment) -> Ruling<Event> {
        let Some(state) = state else {
            return match command {
                Command::Begin(begin) => State::begin(*begin, moment),
                Command::Decide { .. } | Command::Cancel { .. } => {
                    Err(Reject::Unknown("There is no such run.".into()))
                }
            };
        };
        match command {
            Command::Begin(_) => Err(state.not_now("This run has already started.")),
            Command::Decide { place, decision, reason, fields } => {
                let decided = Decided {
                    by: moment.actor.clone(),
                    decision,
                    reason: reason.trim().to_owned(),
                    fields,
                    at: moment.at,
                };
                let events = state.hear(&place, decided)?;
                Ok(state.go_on(events, moment.at))
            }
            Command::Cancel { reason } => state.cancel(reason, moment),
        }
    }

    fn settle(&self, call: &CallId, outcome: Outcome, moment: &Moment) -> Ruling<Event> {
        let events = self.settled(call, outcome, moment.at)?;
        Ok(self.go_on(events, moment.at))
    }

    fn stop(&self, moment: &Moment) -> Ruling<Event> {
        self.cancel(String::new(), moment)
    }

    fn out_of_time(&self, moment: &Moment) -> Ruling<Event> {
        match &self.stage {
            Stage::Running => Ok(self.run_out_of_time(moment.at)),
            Stage::Finally { .. } | Stage::Ended { .. } => Err(Reject::Stale),
        }
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

    fn ask(&self, call: &CallId) -> Option<Ask> {
        self.question(call)
    }

    fn errand(&self, call: &CallId) -> Option<Errand> {
        self.errand_of(call)
    }

    fn claim(&self, call: &CallId) -> Claim {
        Claim { seat: self.seat_of(call), ..Claim::default() }
    }

    fn is_listed(&self, event: &Event) -> bool {
        self.is_open_about(event)
    }

    fn searchable(&self, event: &Event) -> String {
        if self.is_open_about(event) { event.searchable() } else { String::new() }
    }
}

/// What a file says, or everything that is wrong with it.
pub fn sound(source: &str) -> Result<Definition, Reject> {
    let Checked { definition, problems } = check(source);
    definition.ok_or_else(|| Reject::Invalid(wrong(problems)))
}

/// What is wrong with a file, as fields of a request are.
pub fn wrong(problems: Vec<Problem>) -> Vec<Wrong> {
    let errors = problems.into_iter().filter(|problem| problem.severity == Severity::Error);
    let wrong = errors.map(|problem| {
        let Problem { line, column, message, path, .. } = problem;
        Wrong::new(path, format!("line {line}, column {column}: {message}"))
    });
    wrong.collect()
}

impl State {
    fn begin(begin: Begin, moment: &Moment) -> Ruling<Event> {
        let Begin { run, source, inputs, starter, parent, fork, most } = begin;
        let mut definition = sound(&source)?;
        definition.spend_at_most(most);
        let inputs = definition.fill(&inputs).map_err(Reject::Invalid)?;
        // What another file does not have any more is not taken over.
        let forked = fork.map(|mut fork| {
            fork.steps.retain(|copied| definition.step(copied.place.id()).is_some());
            fork
        });
        let mut event = Event::Begun {
            run,
            title: definition.name.clone(),
            definition: Arc::new(definition),
            source: source.into(),
            inputs,
            starter: starter.unwrap_or_else(|| moment.actor.clone()),
            parent,
            forked,
            nonce: moment.nonce.clone(),
            at: moment.at,
        };
        let Some(mut state) = State::opened_by(&event) else { return Ok(vec![]) };
        state.title = state.worked_out_title();
        if let Event::Begun { title, .. } = &mut event {
            title.clone_from(&state.title);
        }
        let mut events = vec![event];
        events.extend(state.go_on(vec![], moment.at));
        Ok(events)
    }

    fn cancel(&self, reason: String, moment: &Moment) -> Ruling<Event> {
        match &self.stage {
            Stage::Running => {
                let (by, at) = (moment.actor.clone(), moment.at);
                let reason = reason.trim().to_owned();
                Ok(self.go_on(vec![Event::CancelAsked { by, reason, at }], at))
            }
            Stage::Finally { .. } => Err(self.not_now("This run is already ending.")),
            Stage::Ended { .. } => Err(self.not_now("This run has ended.")),
        }
    }

    /// What steps have done outside, by name, with the values that they did it with.
    pub fn deeds(&self) -> impl Iterator<Item = (&'static str, &Map<String, Value>)> {
        let done = self.acts().filter(|(step, ..)| matches!(step.status, Status::Done(_)));
        done.map(|(_, act, with, _)| (act, with))
    }

    /// What steps may have done outside and do not know of, by name, with the values and
    /// the key that they did it with: it is under way, or it was given up.
    pub fn ventures(&self) -> impl Iterator<Item = (&'static str, &Map<String, Value>, String)> {
        let open = self.acts().filter(|(step, ..)| !matches!(step.status, Status::Done(_)));
        open.map(|(_, act, with, place)| (act, with, self.first_key(place)))
    }

    fn acts(&self) -> impl Iterator<Item = (&StepRun, &'static str, &Map<String, Value>, &Place)> {
        self.steps.iter().filter_map(|(place, step)| match step.doing.as_deref()? {
            Doing::Act { act, with } => Some((&**step, act.name(), with, place)),
            Doing::Sleep { .. }
            | Doing::Wait { .. }
            | Doing::Approve { .. }
            | Doing::Foreach { .. }
            | Doing::Repeat {} => None,
        })
    }

    /// The key under which a step does what it does, unless it has opened sessions before.
    fn first_key(&self, place: &Place) -> String {
        format!("{}/{place}", self.run)
    }

    /// Everybody who is or was asked to decide something, each once.
    pub fn persons(&self) -> Vec<String> {
        let mut people: Vec<String> = vec![];
        for step in self.steps.values() {
            let Some(Doing::Approve { who, .. }) = step.doing.as_deref() else { continue };
            people.extend(
                who.iter().filter(|name| !people.contains(name)).cloned().collect::<Vec<_>>(),
            );
        }
        people
    }

    /// What can be done with the run now, by the names of the interface.
    pub fn allowed(&self) -> Vec<&'static str> {
        let mut allowed = vec![];
        if self.stage == Stage::Running {
            allowed.push("cancel");
        }
        if !self.waits_for().is_empty() {
            allowed.push("approve");
        }
        allowed.push("fork");
        allowed
    }

    pub fn status_of(&self, place: &Place) -> Option<&Status> {
        self.steps.get(place).map(|step| &step.status)
    }

    fn not_now(&self, message: &str) -> Reject {
        let (state, message) = (self.status(), message.to_owned());
        Reject::NotNow { state, message, allowed: self.allowed() }
    }
}
