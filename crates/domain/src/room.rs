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
    /// Ends whatever runs, at once. Every form takes this one too.
    Stop,
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
    pub title: String,
    pub status: &'static str,
    /// Something is due: after a restart the engine goes on with it by itself.
    pub active: bool,
}

/// How far a session is, in steps and in a sentence.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Progress {
    pub done: u32,
    pub total: u32,
    pub message: String,
}

impl Room {
    pub fn summary(&self) -> Summary {
        let active = !self.due().is_empty();
        match self {
            Room::Boardroom(state) => Summary {
                kind: "boardroom",
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

    /// Nothing more will happen unless somebody asks for it.
    pub fn is_over(&self) -> bool {
        match self {
            Room::Boardroom(state) => state.is_over(),
        }
    }

    pub fn progress(&self) -> Progress {
        match self {
            Room::Boardroom(state) => state.progress(),
        }
    }

    /// What came of it so far, as Markdown; with `full` the whole record.
    pub fn report(&self, full: bool) -> String {
        match self {
            Room::Boardroom(state) => state.report(full),
        }
    }

    /// What can be done now, as sentences.
    pub fn next(&self) -> Vec<String> {
        match self {
            Room::Boardroom(state) => state.next(),
        }
    }
}

pub fn decide(room: Option<&Room>, input: Input) -> Result<Vec<Event>, Reject> {
    let Input { at, nonce, command } = input;
    let form = match (room, command) {
        (None, Command::Settle { .. }) => return Err(Reject::Stale),
        (None, Command::Stop) => return Err(Reject::Unknown("There is no such session.".into())),
        (Some(Room::Boardroom(_)), Command::Stop) => boardroom::Command::Stop,
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

    /// The words of this event that a search should find.
    pub fn searchable(&self) -> String {
        match self {
            Event::Boardroom(event) => event.searchable(),
        }
    }
}
