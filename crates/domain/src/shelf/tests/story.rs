//! A stored workflow under test, told what a room would tell it. After each command the
//! log is read again from its beginning, as after a restart, and has to come to the same.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::call::{Failure, FailureKind, Outcome, Usage, Work};
use crate::errand::Errand;
use crate::form::{Form, Moment};
use crate::ids::{CallId, Nonce, SessionId};
use crate::reject::Reject;
use crate::shelf::{Command, Event, State};

pub struct Shelf {
    pub state: State,
    pub log: Vec<Event>,
    pub at: Timestamp,
}

pub fn at(written: &str) -> Timestamp {
    written.parse().unwrap()
}

pub fn map(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

pub fn id(number: u128) -> SessionId {
    SessionId(Uuid::from_u128(number))
}

pub fn failed(message: &str) -> Outcome {
    let (kind, message) = (FailureKind::Refused, message.to_owned());
    let failure = Failure { kind, message, attempts: 1, usage: Usage::default() };
    Outcome::Failed { failure, partial: String::new() }
}

/// A file of this name with this beside its one step.
pub fn file(more: &str) -> String {
    format!("name: tea\n{more}\nsteps: {{ a: {{ set: 1 }} }}\n")
}

pub fn moment(at: Timestamp) -> Moment {
    Moment { at, nonce: Nonce("c0de".into()), actor: "ann".into() }
}

fn fold(log: &[Event]) -> Option<State> {
    log.iter().fold(None, |state, event| State::apply(state, event, Timestamp::UNIX_EPOCH))
}

impl Shelf {
    /// Stored on the first of January.
    #[track_caller]
    pub fn of(source: &str) -> Shelf {
        let at = at("2026-01-01T00:00:00Z");
        let command = Command::Store { source: source.to_owned() };
        let log = State::decide(None, command, &moment(at)).unwrap();
        let state = fold(&log).expect("the first event opens it");
        Shelf { state, log, at }
    }

    fn take(&mut self, events: Vec<Event>) {
        for event in &events {
            self.state.take(event, self.at);
            let kept = serde_json::to_string(event).unwrap();
            assert_eq!(serde_json::from_str::<Event>(&kept).as_ref().ok(), Some(event), "{kept}");
        }
        self.log.extend(events);
        assert_eq!(fold(&self.log).as_ref(), Some(&self.state), "a restart comes to the same");
    }

    /// What comes of a command, by the names of the events.
    pub fn tell(&mut self, command: Command) -> Result<Vec<&'static str>, Reject> {
        let events = State::decide(Some(&self.state), command, &moment(self.at))?;
        let names = events.iter().map(Event::name).collect();
        self.take(events);
        Ok(names)
    }

    pub fn settle(&mut self, call: &str, outcome: Outcome) -> Result<Vec<&'static str>, Reject> {
        let events = self.state.settle(&CallId(call.to_owned()), outcome, &moment(self.at))?;
        let names = events.iter().map(Event::name).collect();
        self.take(events);
        Ok(names)
    }

    #[track_caller]
    pub fn bring(&mut self, call: &str, value: Value) -> Vec<&'static str> {
        let due = self.due();
        let names = self.settle(call, Outcome::Brought(value));
        names.unwrap_or_else(|reject| panic!("{call}: {reject:?}; due: {due:?}"))
    }

    pub fn start(&mut self, run: u128, inputs: Value) -> Result<Vec<&'static str>, Reject> {
        let (inputs, starter) = (map(inputs), "ben".to_owned());
        self.tell(Command::Start { run: id(run), inputs, starter, version: None })
    }

    pub fn deliver(&mut self, id: &str, body: Value) -> Result<Vec<&'static str>, Reject> {
        self.tell(Command::Deliver { id: id.to_owned(), body })
    }

    #[track_caller]
    pub fn opened(&mut self, number: u64) {
        let run = json!({ "id": id(number.into()).to_string() });
        assert_eq!(self.bring(&format!("open/{number}"), run), ["opened"]);
    }

    #[track_caller]
    pub fn ended(&mut self, number: u64, status: &str) {
        let call = format!("watch/{number}");
        let given = match status {
            "done" => json!({ "Ok": { "status": "done", "outputs": {} } }),
            _ => json!({ "Err": format!("the run has {status}") }),
        };
        assert_eq!(self.bring(&call, json!({ "status": status, "given": given })), ["runEnded"]);
    }

    /// The clock comes to the time of the cron trigger, and so much later it is noticed.
    #[track_caller]
    pub fn tick(&mut self, late_s: i64) -> Vec<&'static str> {
        let call = self.due().into_iter().find(|call| call.starts_with("cron/"));
        let next = self.state.next_at().expect("it has a next time");
        self.at = self.at.max(next + SignedDuration::from_secs(late_s));
        self.settle(&call.expect("a time is waited for"), Outcome::Elapsed).unwrap()
    }

    pub fn due(&self) -> Vec<String> {
        self.state.due().into_iter().map(|call| call.id.0).collect()
    }

    pub fn sleeps_until(&self, call: &str) -> Option<Timestamp> {
        let due = self.state.due().into_iter().find(|due| due.id.0 == call)?;
        match due.work {
            Work::Sleep { until } => Some(until),
            Work::Ask | Work::Errand => None,
        }
    }

    pub fn errand(&self, call: &str) -> Option<Errand> {
        self.state.errand(&CallId(call.to_owned()))
    }

    /// Number and status of each run that is kept.
    pub fn runs(&self) -> Vec<(u64, &'static str)> {
        self.state.runs.values().map(|run| (run.number, run.status().0)).collect()
    }
}
