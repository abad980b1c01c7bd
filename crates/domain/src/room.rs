//! One shape for every form. The engine knows this file and none of the forms.

use crate::boardroom;
use crate::call::{Ask, Call, Outcome};
use crate::ids::{CallId, Nonce};
use crate::reject::Reject;
use jiff::Timestamp;

/// A session's state. `None` stands for a session that is not open yet.
#[derive(Clone, PartialEq, Debug)]
pub enum Room {
    Boardroom(boardroom::State),
}

/// A command with everything that the rules may not make themselves.
#[derive(Clone, PartialEq, Debug)]
pub struct Input {
    pub at: Timestamp,
    pub nonce: Nonce,
    pub command: Command,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    /// A call has ended. Every form takes this one.
    Settle {
        call: CallId,
        outcome: Outcome,
    },
    Boardroom(boardroom::Command),
}

/// What has happened. The log holds these and nothing else.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    Boardroom(boardroom::Event),
}

/// What lists and searches know about a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Summary {
    pub kind: &'static str,
    /// Means this session among those of its kind, for ever. It is given when the
    /// session opens and does not change.
    pub name: Option<String>,
    /// What the session belongs to; given once, like the name.
    pub project: Option<String>,
    pub title: String,
    pub status: &'static str,
    /// Something is due: after a restart the engine goes on with it by itself.
    pub active: bool,
}

impl Room {
    pub fn summary(&self) -> Summary {
        let active = !self.due().is_empty();
        match self {
            Room::Boardroom(state) => Summary {
                kind: "boardroom",
                name: None,
                project: None,
                title: state.title.clone(),
                status: state.status(),
                active,
            },
        }
    }

    /// The calls that should be under way now.
    pub fn due(&self) -> Vec<Call> {
        match self {
            Room::Boardroom(state) => boardroom::due(state),
        }
    }

    /// The words of a call that `due` named.
    pub fn ask(&self, call: &CallId) -> Option<Ask> {
        match self {
            Room::Boardroom(state) => boardroom::ask(state, call),
        }
    }

    /// Whether an event that has just been applied may be seen among those of all
    /// sessions. While a room is blind, not even the number of its events may be.
    pub fn is_listed(&self, event: &Event) -> bool {
        match (self, event) {
            (Room::Boardroom(_), Event::Boardroom(_)) => true,
        }
    }

    /// The words that a search should find from an event on that has just been
    /// applied. The room says it, because they may be those of earlier events.
    pub fn searchable(&self, event: &Event) -> String {
        match (self, event) {
            (Room::Boardroom(_), Event::Boardroom(event)) => event.searchable(),
        }
    }
}

pub fn decide(room: Option<&Room>, input: Input) -> Result<Vec<Event>, Reject> {
    let Input { at, nonce, command } = input;
    let form = match (room, command) {
        (None, Command::Settle { .. }) => return Err(Reject::Stale),
        (Some(Room::Boardroom(_)), Command::Settle { call, outcome }) => {
            boardroom::Command::Settle { call, outcome }
        }
        (_, Command::Boardroom(command)) => command,
    };
    let state = room.map(|Room::Boardroom(state)| state);
    let events = boardroom::decide(state, form, at, nonce)?;
    Ok(events.into_iter().map(Event::Boardroom).collect())
}

pub fn apply(room: &mut Option<Room>, event: &Event) {
    match event {
        Event::Boardroom(event) => {
            let state = room.take().map(|Room::Boardroom(state)| state);
            *room = boardroom::apply(state, event).map(Room::Boardroom);
        }
    }
}

impl Event {
    /// The event's name, as the log and live readers know it.
    pub fn name(&self) -> &'static str {
        match self {
            Event::Boardroom(event) => event.name(),
        }
    }

    /// The event as JSON, as the log keeps it.
    pub fn encode(&self) -> Result<String, serde_json::Error> {
        match self {
            Event::Boardroom(event) => serde_json::to_string(event),
        }
    }

    pub fn decode(kind: &str, payload: &str) -> Result<Event, String> {
        match kind {
            "boardroom" => serde_json::from_str(payload)
                .map(Event::Boardroom)
                .map_err(|error| error.to_string()),
            other => Err(format!("no form is called {other:?}")),
        }
    }
}
