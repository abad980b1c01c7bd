//! A run that is tried out: models, rooms, hosts and people say what a case has written
//! down, and the clock goes to whatever is due next. It is the run's own rules that are
//! driven; nothing here decides anything.

pub(crate) mod case;
mod compare;
pub(crate) mod given;
mod outside;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use self::case::{Approval, Case, Coming, Reply};
use self::outside::order;
use super::event::{Doing, Event, Place};
use super::problem::{At, Problem, Severity};
use super::signal::{AT, NUMBER, Signal, is_of_rooms};
use super::{Begin, Command, Running, Stage, State, Status, check};
use crate::budget::Allowance;
use crate::call::{Call, Outcome, Work};
use crate::form::{Form, Moment, Ruling};
use crate::ids::{CallId, Nonce, SessionId};
use crate::limits;
use crate::names;
use crate::reject::Reject;

/// What came of one case.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rehearsed {
    pub name: String,
    pub line: u32,
    pub column: u32,
    /// It holds where this is empty.
    pub faults: Vec<Fault>,
    /// How far the clock was moved.
    pub clock_ms: u64,
    /// Steps that ended, with every item and round.
    pub steps: usize,
}

/// What does not hold, and where the case says that it should.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    pub line: u32,
    pub column: u32,
    /// What it is about: `outputs.decision`, `steps.propose/2/post`.
    pub path: String,
    pub message: String,
    /// Lines that would help, as they would stand in the case.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub add: Vec<String>,
}

impl Rehearsed {
    pub fn holds(&self) -> bool {
        self.faults.is_empty()
    }
}

impl Fault {
    fn of(at: At, path: &str, message: impl Into<String>) -> Self {
        let At { line, column } = at;
        Fault { line, column, path: path.to_owned(), message: message.into(), add: vec![] }
    }
}

/// Tries out every case of a file; or says everything that is wrong with the file.
pub fn rehearse(text: &str) -> Result<Vec<Rehearsed>, Vec<Problem>> {
    let (checked, cases) = check::look(text);
    if checked.problems.iter().any(|problem| problem.severity == Severity::Error) {
        return Err(checked.problems);
    }
    Ok(cases.iter().map(|case| Rehearsal::play(text, case)).collect())
}

/// A run, and what of the case has not happened yet.
struct Rehearsal<'a> {
    case: &'a Case,
    state: State,
    now: Timestamp,
    /// How many of the replies under a key were given.
    taken: BTreeMap<String, usize>,
    /// What is said to each attempt.
    said: BTreeMap<String, Reply>,
    came: Vec<Signal>,
    signals: Vec<&'a Coming<Signal>>,
    approvals: Vec<&'a Coming<Approval>>,
    is_cancelled: bool,
    /// Posts of each agent and of each council.
    posts: BTreeMap<String, u32>,
    faults: Vec<Fault>,
    /// Steps for which the case has no reply.
    missing: Vec<Place>,
}

impl<'a> Rehearsal<'a> {
    fn play(text: &str, case: &'a Case) -> Rehearsed {
        let now = Timestamp::UNIX_EPOCH;
        let begin = Begin {
            run: SessionId(Uuid::nil()),
            source: text.to_owned(),
            inputs: case.inputs.clone(),
            starter: None,
            parent: None,
            fork: None,
            most: Allowance::default(),
        };
        let moment = moment(now, &case.starter);
        let begun = State::decide(None, Command::Begin(Box::new(begin)), &moment);
        let state = begun.as_ref().ok().and_then(|events| {
            events.iter().fold(None, |state, event| State::apply(state, event, now))
        });
        let mut rehearsed = Rehearsed {
            name: case.name.clone(),
            line: case.at.line,
            column: case.at.column,
            faults: vec![],
            clock_ms: 0,
            steps: 0,
        };
        let Some(state) = state else {
            let why = begun.err().map_or(String::new(), |reject| words(&reject));
            rehearsed.faults.push(Fault::of(case.at, "", format!("the run did not start: {why}")));
            return rehearsed;
        };
        let mut rehearsal = Rehearsal {
            case,
            state,
            now,
            taken: BTreeMap::new(),
            said: BTreeMap::new(),
            came: vec![],
            signals: case.signals.iter().collect(),
            approvals: case.approvals.iter().collect(),
            is_cancelled: false,
            posts: BTreeMap::new(),
            faults: vec![],
            missing: vec![],
        };
        rehearsal.go();
        rehearsed.faults = rehearsal.judged();
        rehearsed.clock_ms = rehearsal.elapsed_ms();
        rehearsed.steps = rehearsal.state.steps.values().filter(|s| s.ended_at.is_some()).count();
        rehearsed
    }

    /// Until nothing happens any more, or the case cannot say how it goes on.
    fn go(&mut self) {
        for _ in 0..limits::REHEARSAL_MOVES {
            if !self.faults.is_empty() {
                return;
            }
            // People take longer than machines, unless they wait for a certain step.
            if self.happens(true) || self.outside() || self.happens(false) || self.ring() {
                continue;
            }
            if !self.missing.is_empty() || !self.move_clock() {
                return;
            }
        }
        let message = format!("the run did not end after {} moves", limits::REHEARSAL_MOVES);
        self.faults.push(Fault::of(self.case.at, "", message));
    }

    /// What went wrong on the way counts first: without it the rest means nothing.
    fn judged(&mut self) -> Vec<Fault> {
        let missing = std::mem::take(&mut self.missing);
        let missing: Vec<Fault> = missing.iter().map(|place| self.ask_for(place)).collect();
        let mut faults = std::mem::take(&mut self.faults);
        faults.extend(missing);
        if faults.is_empty() {
            faults = compare::faults(self.case, &self.state);
        }
        faults.sort_by_key(|fault| (fault.line, fault.column));
        let more = faults.len().saturating_sub(limits::CASE_FAULTS);
        faults.truncate(limits::CASE_FAULTS);
        if let Some(last) = faults.last_mut().filter(|_| more > 0) {
            last.message = format!("{}; and {more} more failed", last.message);
        }
        faults
    }

    fn elapsed_ms(&self) -> u64 {
        let ms = self.now.as_millisecond() - Timestamp::UNIX_EPOCH.as_millisecond();
        u64::try_from(ms).unwrap_or(0)
    }

    fn take(&mut self, ruling: Ruling<Event>) -> Result<(), Reject> {
        let events = ruling?;
        events.iter().for_each(|event| self.state.take(event, self.now));
        Ok(())
    }

    fn settle(&mut self, call: &CallId, outcome: Outcome) {
        let ruling = self.state.settle(call, outcome, &moment(self.now, "rehearsal"));
        if let Err(reject) = self.take(ruling) {
            let message = format!("{call} was not accepted: {}", words(&reject));
            self.faults.push(Fault::of(self.case.at, "", message));
        }
    }

    // -----------------------------------------------------------------------
    // What happens by itself

    /// Whether it is time for it; `at_once` asks for what follows on a step.
    fn is_due<T>(&self, coming: &Coming<T>, at_once: bool) -> bool {
        let has_ended = |step: &str| {
            let mut found = self.state.steps.iter().filter(|(place, _)| means(step, place));
            found.any(|(_, step)| step.ended_at.is_some())
        };
        let is_time = coming.at_ms <= self.elapsed_ms();
        is_time
            && match coming.after.as_deref() {
                Some(step) => at_once && has_ended(step),
                None => !at_once,
            }
    }

    /// Somebody hears of it. What counts each time has a number and a time.
    fn comes(&mut self, mut signal: Signal) {
        let name = signal.get("signal").and_then(Value::as_str).unwrap_or_default();
        if !is_of_rooms(name) || name == "council-posted" {
            signal.insert(NUMBER.into(), (self.came.len() + 1).into());
            signal.insert(AT.into(), self.now.to_string().into());
        }
        self.came.push(signal);
    }

    fn happens(&mut self, at_once: bool) -> bool {
        if let Some(first) = self.signals.iter().position(|coming| self.is_due(coming, at_once)) {
            let coming = self.signals.remove(first);
            self.comes(coming.what.clone());
            return true;
        }
        let found = self.approvals.iter().enumerate().find_map(|(number, coming)| {
            let due = self.is_due(coming, at_once).then(|| self.wants(&coming.what)).flatten();
            due.map(|place| (number, place))
        });
        if let Some((number, place)) = found {
            let coming = self.approvals.remove(number);
            self.decide(coming, place);
            return true;
        }
        self.cancel(at_once)
    }

    /// Where a decision is waited for, if anywhere.
    fn wants(&self, approval: &Approval) -> Option<Place> {
        let waiting = self.state.steps.iter().filter_map(|(place, step)| {
            let is_meant = means(&approval.step, place);
            let Some(Doing::Approve { who, .. }) = step.doing.as_deref() else { return None };
            let is_open = matches!(step.status, Status::Running(Running::Approve { .. }));
            (is_meant && is_open).then_some((place, who))
        });
        let is = |name: &String| names::are_same(name, &approval.by);
        // Who has decided already means the next round.
        let is_open = |(place, who): &(&Place, &Vec<String>)| {
            !who.iter().any(is) || self.state.asked(place).iter().any(is)
        };
        let found = waiting.filter(is_open).map(|(place, _)| place);
        found.min_by(|a, b| order(a).cmp(&order(b))).cloned()
    }

    fn decide(&mut self, coming: &Coming<Approval>, place: Place) {
        let Approval { by, decision, reason, fields, .. } = &coming.what;
        let (reason, fields) = (reason.clone(), fields.clone());
        let path = format!("approvals.{place}");
        let command = Command::Decide { place, decision: *decision, reason, fields };
        let ruling = State::decide(Some(&self.state), command, &moment(self.now, by));
        if let Err(reject) = self.take(ruling) {
            let message = format!("what {by} decided was refused: {}", words(&reject));
            self.faults.push(Fault::of(coming.place, &path, message));
        }
    }

    fn cancel(&mut self, at_once: bool) -> bool {
        let Some(coming) = self.case.cancel.as_ref().filter(|_| !self.is_cancelled) else {
            return false;
        };
        if self.state.stage != Stage::Running || !self.is_due(coming, at_once) {
            return false;
        }
        self.is_cancelled = true;
        let by = coming.what.by.as_deref().unwrap_or(&self.case.starter);
        let command = Command::Cancel { reason: coming.what.reason.clone() };
        let ruling = State::decide(Some(&self.state), command, &moment(self.now, by));
        if let Err(reject) = self.take(ruling) {
            let message = format!("the run was not cancelled: {}", words(&reject));
            self.faults.push(Fault::of(coming.place, "cancel", message));
        }
        true
    }

    // -----------------------------------------------------------------------
    // The clock

    /// What is due at this time.
    fn ring(&mut self) -> bool {
        let due = self.state.due().into_iter().find_map(|Call { id, work }| match work {
            Work::Sleep { until } if until <= self.now => Some(id),
            Work::Sleep { .. } | Work::Ask | Work::Errand => None,
        });
        if !self.missing.is_empty() {
            return false;
        }
        due.is_some_and(|call| {
            self.settle(&call, Outcome::Elapsed);
            true
        })
    }

    fn move_clock(&mut self) -> bool {
        if matches!(self.state.stage, Stage::Ended { .. }) {
            return false;
        }
        let sleeps = self.state.due().into_iter().filter_map(|call| match call.work {
            Work::Sleep { until } => Some(until),
            Work::Ask | Work::Errand => None,
        });
        let signals = self.signals.iter().map(|coming| coming.at_ms);
        let approvals = self.approvals.iter().map(|coming| coming.at_ms);
        let cancel = self.case.cancel.iter().map(|coming| coming.at_ms);
        let coming = signals.chain(approvals).chain(cancel).map(offset);
        let next = sleeps.chain(coming).filter(|at| *at > self.now).min();
        next.is_some_and(|at| {
            self.now = at;
            true
        })
    }
}

/// Whether a step that is named by its id or its place stands at this one.
fn means(name: &str, place: &Place) -> bool {
    *place.0 == *name || place.id() == name
}

fn words(reject: &Reject) -> String {
    match reject {
        Reject::Invalid(wrong) => {
            let wrong = wrong.iter().map(|wrong| format!("{} {}", wrong.field, wrong.problem));
            wrong.collect::<Vec<_>>().join("; ")
        }
        Reject::NotNow { message, .. }
        | Reject::Unknown(message)
        | Reject::Forbidden(message)
        | Reject::NotInvited(message)
        | Reject::Taken(message) => message.clone(),
        Reject::Stale => "it is not due".to_owned(),
    }
}

fn moment(at: Timestamp, actor: &str) -> Moment {
    Moment { at, nonce: Nonce("c0de".into()), actor: actor.to_owned() }
}

fn offset(ms: u64) -> Timestamp {
    super::begin::later(Timestamp::UNIX_EPOCH, ms)
}
