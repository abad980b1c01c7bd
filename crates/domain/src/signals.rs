//! What was sent under one name, for whoever waits for it. It is a room of the common
//! shape in which nothing is ever due: waits and triggers read it.
//!
//! Signals that rooms give by themselves stand in no such room.

mod event;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

pub use event::Event;

use crate::call::{Call, Outcome};
use crate::form::{Form, Moment, Progress, Report, Ruling};
use crate::ids::CallId;
use crate::limits;
use crate::names::check_room_name;
use crate::reject::{Reject, Wrong, settled};
use crate::room::no_session;
use crate::workflow::{self, Signal, is_of_rooms};

/// There is one room of this kind for each name of a signal.
pub const KIND: &str = State::KIND;

// ---------------------------------------------------------------------------
// State

#[derive(Clone, PartialEq, Debug)]
pub struct State {
    pub name: String,
    /// The newest, in the order in which they came. It is never empty.
    sent: VecDeque<Sent>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Sent {
    /// From 1; no number comes twice under one name.
    pub number: u64,
    pub fields: Map<String, Value>,
    pub by: String,
    /// Later than that of any before it.
    pub at: Timestamp,
}

impl State {
    /// What has come since a moment and is still kept, the oldest first. Beside its
    /// fields each has the name, and what tells it from others: `_number`, `_at`, `_by`.
    pub fn came(&self, since: Timestamp) -> Vec<Signal> {
        self.sent.iter().filter(|sent| sent.at >= since).map(|sent| self.signal(sent)).collect()
    }

    /// All that are kept, the oldest first.
    pub fn sent(&self) -> impl DoubleEndedIterator<Item = &Sent> {
        self.sent.iter()
    }

    fn signal(&self, sent: &Sent) -> Signal {
        let mut signal = sent.fields.clone();
        signal.insert("signal".into(), self.name.clone().into());
        signal.insert(workflow::NUMBER.into(), sent.number.into());
        signal.insert(workflow::AT.into(), sent.at.to_string().into());
        signal.insert(workflow::BY.into(), sent.by.clone().into());
        signal
    }
}

// ---------------------------------------------------------------------------
// Command

#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    Send { name: String, fields: Map<String, Value> },
}

// ---------------------------------------------------------------------------
// The rules

impl Form for State {
    const KIND: &'static str = "signals";
    const STATUSES: &'static [&'static str] = &["open"];
    type Command = Command;
    type Event = Event;

    /// The first signal of a name opens its room.
    fn decide(state: Option<&Self>, command: Command, moment: &Moment) -> Ruling<Event> {
        match command {
            Command::Send { name, fields } => send(state, name, fields, moment),
        }
    }

    fn settle(&self, _: &CallId, _: Outcome, _: &Moment) -> Ruling<Event> {
        Err(Reject::Stale)
    }

    fn stop(&self, _: &Moment) -> Ruling<Event> {
        Err(no_session())
    }

    fn open(event: &Event, at: Timestamp) -> Option<Self> {
        let Event::Sent { name, .. } = event;
        let mut state = State { name: name.clone(), sent: VecDeque::new() };
        state.take(event, at);
        Some(state)
    }

    fn take(&mut self, event: &Event, _: Timestamp) {
        match event {
            Event::Sent { number, fields, by, at, .. } => {
                let (fields, by) = (fields.clone(), by.clone());
                self.sent.push_back(Sent { number: *number, fields, by, at: *at });
                self.forget(*at);
            }
        }
    }

    fn due(&self) -> Vec<Call> {
        vec![]
    }

    /// Signals are found by who waits for them, and nowhere else.
    fn is_listed(&self, _: &Event) -> bool {
        false
    }
}

impl State {
    /// What nobody can wait for any more is not kept, nor more than so many.
    fn forget(&mut self, now: Timestamp) {
        let longest = SignedDuration::from_millis(limits::WAIT_MOST_MS as i64);
        let is_old = |sent: &Sent| now.duration_since(sent.at) > longest;
        while self.sent.len() > limits::SIGNALS_KEPT || self.sent.front().is_some_and(is_old) {
            self.sent.pop_front();
        }
    }
}

fn send(
    state: Option<&State>,
    name: String,
    fields: Map<String, Value>,
    moment: &Moment,
) -> Ruling<Event> {
    let mut wrong = vec![];
    wrong.extend(check_signal_name(&name).err().map(|problem| Wrong::new("name", problem)));
    if let Some(state) = state.filter(|state| state.name != name) {
        wrong.push(Wrong::new("name", format!("is not the signal of this room, {:?}", state.name)));
    }
    check_fields(&fields, &mut wrong);
    settled(wrong)?;
    let last = state.and_then(|state| state.sent.back());
    let number = last.map_or(0, |last| last.number) + 1;
    let at = last.map_or(moment.at, |last| after(last.at).max(moment.at));
    Ok(vec![Event::Sent { name, number, fields, by: moment.actor.clone(), at }])
}

/// The next moment. Each signal has one of its own, whatever the clock says: who has
/// taken all up to one can go on after it and misses none.
fn after(at: Timestamp) -> Timestamp {
    at.checked_add(SignedDuration::from_nanos(1)).unwrap_or(at)
}

/// What a signal may be called that somebody sends.
pub fn check_signal_name(name: &str) -> Result<(), String> {
    if is_of_rooms(name) {
        return Err(format!("`{name}` is sent by sessions themselves; it cannot be sent by hand"));
    }
    check_room_name(name).map_err(str::to_owned)
}

fn check_fields(fields: &Map<String, Value>, wrong: &mut Vec<Wrong>) {
    let (count, most) = (fields.len(), limits::SIGNAL_FIELDS);
    if count > most {
        wrong.push(Wrong::new("fields", format!("are {count}; at most {most} are allowed")));
    }
    let size = serde_json::to_string(fields).map_or(usize::MAX, |text| text.len());
    let most = limits::SIGNAL_BYTES;
    if size > most {
        wrong.push(Wrong::new("fields", format!("are {size} bytes; at most {most} are allowed")));
    }
    for (key, value) in fields.iter().take(limits::SIGNAL_FIELDS) {
        let problem = key_problem(key).or_else(|| value_problem(value));
        wrong.extend(problem.map(|problem| Wrong::new(format!("fields.{key}"), problem)));
    }
}

fn key_problem(key: &str) -> Option<String> {
    let most = limits::ROOM_NAME_BYTES;
    match key {
        "" => Some("has no name".into()),
        "signal" => Some("is the name of the signal, and cannot be one of its fields".into()),
        key if key.starts_with('_') => Some("starts with `_`, which is reserved".into()),
        key if key.len() > most => Some(format!("has a name longer than {most} bytes")),
        _ => None,
    }
}

/// Waits compare what is written, so a value has to be something that can be.
fn value_problem(value: &Value) -> Option<String> {
    match value {
        Value::String(_) | Value::Number(_) | Value::Bool(_) => None,
        Value::Null | Value::Array(_) | Value::Object(_) => {
            Some("must be a string, a number, true or false".into())
        }
    }
}

/// It is no session, so there is nothing to tell.
impl Report for State {
    fn status(&self) -> &'static str {
        "open"
    }

    fn title(&self) -> String {
        String::new()
    }

    fn called(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn is_over(&self) -> bool {
        true
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
