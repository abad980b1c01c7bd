//! One shape for every form. The engine knows this file and none of the forms.

use crate::boardroom;
use crate::call::{Ask, Call, Outcome};
use crate::council;
use crate::discussion;
use crate::form::Moment;
use crate::ids::{AgentName, CallId, ModelName, Nonce};
use crate::library;
use crate::limits;
use crate::reject::{Reject, Wrong};
use crate::view::{self, Viewer};
use crate::whiteboard;
use jiff::Timestamp;

/// A session's state. `None` stands for a session that is not open yet.
#[derive(Clone, PartialEq, Debug)]
pub enum Room {
    Boardroom(boardroom::State),
    Whiteboard(whiteboard::State),
    Council(council::State),
    Discussion(Box<discussion::State>),
    Library(library::State),
}

/// A command with everything that the rules may not make themselves.
#[derive(Clone, PartialEq, Debug)]
pub struct Input {
    pub at: Timestamp,
    pub nonce: Nonce,
    /// Who gives it, which has been proved.
    pub actor: String,
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
    Whiteboard(whiteboard::Command),
    Council(council::Command),
    Discussion(discussion::Command),
    Library(library::Command),
}

/// What has happened. The log holds these and nothing else.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    Boardroom(boardroom::Event),
    Whiteboard(whiteboard::Event),
    Council(council::Event),
    Discussion(discussion::Event),
    Library(library::Event),
}

/// Kinds of rooms that are no sessions. Lists, searches and counts of sessions leave
/// them out, and nothing that takes a session takes them.
pub const APART: [&str; 1] = [library::KIND];

/// The kinds of sessions, each with every status that one can have.
pub const KINDS: [(&str, &[&str]); 4] = [
    ("boardroom", &boardroom::STATUSES),
    ("whiteboard", &whiteboard::STATUSES),
    ("council", &council::STATUSES),
    ("discussion", &discussion::STATUSES),
];

/// Whether a room of this kind is what people call a session.
pub fn is_session(kind: &str) -> bool {
    !APART.contains(&kind)
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
    /// People whose reply is awaited.
    pub waits_for: Vec<String>,
    /// Taken over from a record of elsewhere; said once, like the name.
    pub imported: bool,
}

/// How far a session is, in steps and in a sentence.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Progress {
    pub done: u32,
    pub total: u32,
    pub message: String,
}

/// What whoever waits for a session wants to hear of besides its end: a phase, a post, a
/// turn, a question to a person. Two that differ mean that something has happened.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Happened {
    status: &'static str,
    said: u64,
    waits_for: Vec<String>,
}

impl Room {
    pub fn boardroom(&self) -> Option<&boardroom::State> {
        if let Room::Boardroom(state) = self { Some(state) } else { None }
    }

    pub fn whiteboard(&self) -> Option<&whiteboard::State> {
        if let Room::Whiteboard(state) = self { Some(state) } else { None }
    }

    pub fn council(&self) -> Option<&council::State> {
        if let Room::Council(state) = self { Some(state) } else { None }
    }

    pub fn library(&self) -> Option<&library::State> {
        if let Room::Library(state) = self { Some(state) } else { None }
    }

    pub fn discussion(&self) -> Option<&discussion::State> {
        if let Room::Discussion(state) = self { Some(state) } else { None }
    }

    /// How often the token of this agent was made anew.
    pub fn renewals(&self, agent: &AgentName) -> u32 {
        match self {
            Room::Whiteboard(state) => state.renewals(agent),
            Room::Council(state) => state.renewals(&agent.0),
            // No agent registers there.
            Room::Boardroom(_) | Room::Discussion(_) | Room::Library(_) => 0,
        }
    }

    pub fn summary(&self) -> Summary {
        let active = !self.due().is_empty();
        let waits_for = self.waits_for();
        match self {
            Room::Boardroom(state) => Summary {
                kind: "boardroom",
                name: None,
                project: None,
                title: state.title.clone(),
                status: state.status(),
                active,
                waits_for,
                imported: state.imported.is_some(),
            },
            Room::Whiteboard(state) => Summary {
                kind: "whiteboard",
                name: Some(state.name.clone()),
                project: state.project.clone(),
                title: title(&state.topic),
                status: state.phase.name(),
                active,
                waits_for,
                imported: false,
            },
            Room::Council(state) => Summary {
                kind: "council",
                name: Some(state.name.clone()),
                project: state.project.clone(),
                title: title(&state.charter),
                status: state.status(),
                active,
                waits_for,
                imported: false,
            },
            Room::Discussion(state) => Summary {
                kind: "discussion",
                name: None,
                project: state.project.clone(),
                title: title(&state.name),
                status: state.status(),
                active,
                waits_for,
                imported: false,
            },
            Room::Library(_) => Summary {
                kind: library::KIND,
                name: Some(library::NAME.to_owned()),
                project: None,
                title: String::new(),
                status: "open",
                active,
                waits_for,
                imported: false,
            },
        }
    }

    fn waits_for(&self) -> Vec<String> {
        match self {
            Room::Boardroom(state) => state.waits_for(),
            Room::Discussion(state) => state.waits_for(),
            // Nobody is waited for there: who wants to say something says it.
            Room::Whiteboard(_) | Room::Council(_) | Room::Library(_) => vec![],
        }
    }

    /// The calls that should be under way now.
    pub fn due(&self) -> Vec<Call> {
        match self {
            Room::Boardroom(state) => boardroom::due(state),
            Room::Whiteboard(state) => whiteboard::due(state),
            Room::Council(state) => council::due(state),
            Room::Discussion(state) => discussion::due(state),
            Room::Library(_) => vec![],
        }
    }

    /// The words of a call that `due` named.
    pub fn ask(&self, call: &CallId) -> Option<Ask> {
        match self {
            Room::Boardroom(state) => boardroom::ask(state, call),
            Room::Whiteboard(_) | Room::Library(_) => None,
            Room::Council(state) => council::ask(state, call),
            Room::Discussion(state) => discussion::ask(state, call),
        }
    }

    /// Nothing more will happen unless somebody asks for it.
    pub fn is_over(&self) -> bool {
        match self {
            Room::Boardroom(state) => state.is_over(),
            Room::Whiteboard(state) => state.is_over(),
            Room::Council(state) => state.is_over(),
            Room::Discussion(state) => state.is_over(),
            Room::Library(_) => true,
        }
    }

    pub fn progress(&self) -> Progress {
        match self {
            Room::Boardroom(state) => state.progress(),
            Room::Whiteboard(state) => state.progress(),
            Room::Council(state) => state.progress(),
            Room::Discussion(state) => state.progress(),
            Room::Library(_) => Progress { done: 0, total: 0, message: String::new() },
        }
    }

    /// As far as anybody may know: what is hidden on a board has not happened yet.
    pub fn happened(&self) -> Happened {
        let (status, said) = match self {
            // One waits for the synthesis; answers and stages on the way are its progress.
            Room::Boardroom(_) | Room::Library(_) => ("", 0),
            Room::Whiteboard(state) => {
                let seen = view::board(state, &Viewer::Outsider);
                (seen.phase.name(), seen.told)
            }
            Room::Council(state) => {
                (state.status(), (state.posts.len() + state.silences.len()) as u64)
            }
            Room::Discussion(state) => (state.status(), state.turns().into()),
        };
        Happened { status, said, waits_for: self.waits_for() }
    }

    /// What came of it so far as anybody may see it, as Markdown; with `full` the
    /// whole record.
    pub fn report(&self, full: bool) -> String {
        match self {
            Room::Boardroom(state) => state.report(full),
            Room::Whiteboard(state) => whiteboard::madr(&view::board(state, &Viewer::Outsider)),
            Room::Council(state) => state.report(full),
            Room::Discussion(state) => state.report(full),
            Room::Library(_) => String::new(),
        }
    }

    /// How long each answer took, by model, as far as the record says.
    pub fn measured(&self) -> Vec<(&ModelName, u64)> {
        match self {
            Room::Boardroom(state) => state.measured(),
            Room::Whiteboard(_) | Room::Council(_) | Room::Library(_) => vec![],
            Room::Discussion(state) => state.measured(),
        }
    }

    /// What can be done now, as sentences.
    pub fn next(&self) -> Vec<String> {
        match self {
            Room::Boardroom(state) => state.next(),
            Room::Whiteboard(state) => view::glance(state, &Viewer::Outsider).next,
            Room::Council(state) => state.next(),
            Room::Discussion(state) => state.next(),
            Room::Library(_) => vec![],
        }
    }
}

pub fn decide(room: Option<&Room>, input: Input) -> Result<Vec<Event>, Reject> {
    let Input { at, nonce, actor, command } = input;
    let moment = &Moment { at, nonce, actor };
    let no_session = || Reject::Unknown("There is no such session.".into());
    match (room, own(room, command)?) {
        (None | Some(Room::Boardroom(_)), Command::Boardroom(command)) => {
            let state = room.and_then(Room::boardroom);
            events(boardroom::decide(state, command, moment), Event::Boardroom)
        }
        (None | Some(Room::Whiteboard(_)), Command::Whiteboard(command)) => {
            let state = room.and_then(Room::whiteboard);
            events(whiteboard::decide(state, command, moment), Event::Whiteboard)
        }
        (None | Some(Room::Council(_)), Command::Council(command)) => {
            let state = room.and_then(Room::council);
            events(council::decide(state, command, moment), Event::Council)
        }
        (None | Some(Room::Discussion(_)), Command::Discussion(command)) => {
            let state = room.and_then(Room::discussion);
            events(discussion::decide(state, command, moment), Event::Discussion)
        }
        (None | Some(Room::Library(_)), Command::Library(command)) => {
            events(library::decide(room.and_then(Room::library), command, moment), Event::Library)
        }
        // The library is no session, and whoever takes it for one is told so.
        (None, Command::Settle { .. } | Command::Stop) | (Some(Room::Library(_)), _) => {
            Err(no_session())
        }
        (Some(room), _) => {
            let kind = room.summary().kind;
            Err(Reject::Unknown(format!("This session is a {kind}; it does not take that.")))
        }
    }
}

/// What every form takes, as the form's own command.
fn own(room: Option<&Room>, command: Command) -> Result<Command, Reject> {
    Ok(match (room, command) {
        (None | Some(Room::Library(_)), Command::Settle { .. }) => return Err(Reject::Stale),
        (Some(Room::Boardroom(_)), Command::Settle { call, outcome }) => {
            Command::Boardroom(boardroom::Command::Settle { call, outcome })
        }
        (Some(Room::Whiteboard(_)), Command::Settle { call, outcome }) => {
            Command::Whiteboard(whiteboard::Command::Settle { call, outcome })
        }
        (Some(Room::Council(_)), Command::Settle { call, outcome }) => {
            Command::Council(council::Command::Settle { call, outcome })
        }
        (Some(Room::Discussion(_)), Command::Settle { call, outcome }) => {
            Command::Discussion(discussion::Command::Settle { call, outcome })
        }
        (Some(Room::Boardroom(_)), Command::Stop) => Command::Boardroom(boardroom::Command::Stop),
        (Some(Room::Whiteboard(state)), Command::Stop) => return Err(state.nothing_to_stop()),
        (Some(Room::Council(_)), Command::Stop) => Command::Council(council::Command::Stop),
        (Some(Room::Discussion(_)), Command::Stop) => {
            Command::Discussion(discussion::Command::Stop)
        }
        (_, command) => command,
    })
}

fn events<E>(decided: Result<Vec<E>, Reject>, wrap: fn(E) -> Event) -> Result<Vec<Event>, Reject> {
    decided.map(|events| events.into_iter().map(wrap).collect())
}

/// `at` is when the event was written.
pub fn apply(room: &mut Option<Room>, event: &Event, at: Timestamp) {
    *room = match (room.take(), event) {
        (Some(Room::Boardroom(state)), Event::Boardroom(event)) => {
            boardroom::apply(Some(state), event, at).map(Room::Boardroom)
        }
        (None, Event::Boardroom(event)) => boardroom::apply(None, event, at).map(Room::Boardroom),
        (Some(Room::Whiteboard(state)), Event::Whiteboard(event)) => {
            whiteboard::apply(Some(state), event).map(Room::Whiteboard)
        }
        (None, Event::Whiteboard(event)) => whiteboard::apply(None, event).map(Room::Whiteboard),
        (Some(Room::Council(state)), Event::Council(event)) => {
            council::apply(Some(state), event).map(Room::Council)
        }
        (None, Event::Council(event)) => council::apply(None, event).map(Room::Council),
        (Some(Room::Discussion(state)), Event::Discussion(event)) => {
            discussion::apply(Some(*state), event).map(Box::new).map(Room::Discussion)
        }
        (None, Event::Discussion(event)) => {
            discussion::apply(None, event).map(Box::new).map(Room::Discussion)
        }
        (Some(Room::Library(state)), Event::Library(event)) => {
            library::apply(Some(state), event).map(Room::Library)
        }
        (None, Event::Library(event)) => library::apply(None, event).map(Room::Library),
        (
            Some(room),
            Event::Boardroom(_)
            | Event::Whiteboard(_)
            | Event::Council(_)
            | Event::Discussion(_)
            | Event::Library(_),
        ) => Some(room),
    };
}

/// The kind and the status that a list is asked for. A value that nothing can have is
/// refused: an empty list would say that there is nothing.
pub fn filter(
    kind: Option<&str>,
    status: Option<&str>,
) -> Result<(Option<&'static str>, Option<&'static str>), Reject> {
    let kinds = KINDS.map(|(kind, _)| kind);
    let kind = kind.map(|kind| one_of("kind", kind, &kinds)).transpose()?;
    let is_meant = |name: &str| kind.is_none_or(|kind| kind == name);
    let mut statuses: Vec<&str> = vec![];
    for status in KINDS.into_iter().filter(|(name, _)| is_meant(name)).flat_map(|(_, all)| all) {
        if !statuses.contains(status) {
            statuses.push(status);
        }
    }
    let status = status.map(|status| one_of("status", status, &statuses)).transpose()?;
    Ok((kind, status))
}

fn one_of(field: &str, given: &str, known: &[&'static str]) -> Result<&'static str, Reject> {
    let found = known.iter().find(|name| name.eq_ignore_ascii_case(given.trim()));
    found.copied().ok_or_else(|| {
        let problem = format!("there is no {given:?}; there are {}", known.join(", "));
        Reject::Invalid(vec![Wrong::new(field, problem)])
    })
}

/// A title for lists: the first line that says something, cut to size.
pub(crate) fn title(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if line.chars().count() <= limits::TITLE_CHARS {
        return line.to_owned();
    }
    let mut short: String = line.chars().take(limits::TITLE_CHARS - 1).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

impl Event {
    /// The event's name, as the log and live readers know it.
    pub fn name(&self) -> &'static str {
        match self {
            Event::Boardroom(event) => event.name(),
            Event::Whiteboard(event) => event.name(),
            Event::Council(event) => event.name(),
            Event::Discussion(event) => event.name(),
            Event::Library(event) => event.name(),
        }
    }

    /// The event as JSON, as the log keeps it.
    pub fn encode(&self) -> Result<String, serde_json::Error> {
        match self {
            Event::Boardroom(event) => serde_json::to_string(event),
            Event::Whiteboard(event) => serde_json::to_string(event),
            Event::Council(event) => serde_json::to_string(event),
            Event::Discussion(event) => serde_json::to_string(event),
            Event::Library(event) => serde_json::to_string(event),
        }
    }

    pub fn decode(kind: &str, payload: &str) -> Result<Event, String> {
        let decoded = match kind {
            "boardroom" => serde_json::from_str(payload).map(Event::Boardroom),
            "whiteboard" => serde_json::from_str(payload).map(Event::Whiteboard),
            "council" => serde_json::from_str(payload).map(Event::Council),
            "discussion" => serde_json::from_str(payload).map(Event::Discussion),
            library::KIND => serde_json::from_str(payload).map(Event::Library),
            other => return Err(format!("no form is called {other:?}")),
        };
        decoded.map_err(|error| error.to_string())
    }
}
