//! One shape for every form. The engine knows this file and none of the forms.
//!
//! All of it is made from one list: a further form stands there, and in its own folder.

use std::ops::Deref;

use jiff::Timestamp;

use crate::call::{Ask, Call, Outcome};
use crate::form::{Form, Moment, Report};
use crate::ids::{CallId, Nonce};
use crate::limits;
use crate::reject::{Reject, Wrong};
use crate::{boardroom, council, discussion, library, whiteboard};

pub use crate::form::{Happened, Progress};

/// A command with everything that the rules may not make themselves.
#[derive(Clone, PartialEq, Debug)]
pub struct Input {
    pub at: Timestamp,
    pub nonce: Nonce,
    /// Who gives it, which has been proved.
    pub actor: String,
    pub command: Command,
}

/// What lists and searches know about a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Summary {
    pub kind: &'static str,
    pub name: Option<String>,
    pub project: Option<String>,
    pub title: String,
    pub status: &'static str,
    /// Something is due: after a restart the engine goes on with it by itself.
    pub active: bool,
    pub waits_for: Vec<String>,
    pub imported: bool,
}

macro_rules! rooms {
    (
        sessions { $($session:ident),* }
        apart { $($apart:ident),* }
        $($Form:ident in $form:ident: $State:ty,)*
    ) => {
        /// A session's state. `None` stands for a session that is not open yet.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Room {
            $($Form($State),)*
        }

        #[derive(Clone, PartialEq, Debug)]
        pub enum Command {
            /// A call has ended. Every form takes this one.
            Settle { call: CallId, outcome: Outcome },
            /// Ends whatever runs, at once. Every form takes this one too.
            Stop,
            $($Form($form::Command),)*
        }

        /// What has happened. The log holds these and nothing else.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Event {
            $($Form($form::Event),)*
        }

        /// The kinds of sessions, each with every status that one can have.
        pub const KINDS: [(&str, &[&str]); [$(stringify!($session)),*].len()] =
            [$(($session::State::KIND, $session::State::STATUSES)),*];

        /// Kinds of rooms that are no sessions. Lists, searches and counts of sessions
        /// leave them out, and nothing that takes a session takes them.
        pub const APART: [&str; [$(stringify!($apart)),*].len()] = [$($apart::State::KIND),*];

        impl Deref for Room {
            type Target = dyn Report;

            fn deref(&self) -> &(dyn Report + 'static) {
                match self {
                    $(Room::$Form(state) => {
                        let state: &$form::State = state;
                        state
                    })*
                }
            }
        }

        impl Room {
            $(pub fn $form(&self) -> Option<&$form::State> {
                if let Room::$Form(state) = self { Some(state) } else { None }
            })*

            pub fn kind(&self) -> &'static str {
                match self {
                    $(Room::$Form(_) => $form::State::KIND,)*
                }
            }

            /// The calls that should be under way now.
            pub fn due(&self) -> Vec<Call> {
                match self {
                    $(Room::$Form(state) => state.due(),)*
                }
            }

            /// The words of a call that `due` named.
            pub fn ask(&self, call: &CallId) -> Option<Ask> {
                match self {
                    $(Room::$Form(state) => state.ask(call),)*
                }
            }

            /// Whether everybody may know of this event; `self` is the state after it.
            pub fn is_listed(&self, event: &Event) -> bool {
                match (self, event) {
                    $((Room::$Form(state), Event::$Form(event)) => state.is_listed(event),)*
                    (_, $(Event::$Form(_))|*) => false,
                }
            }

            /// The words that a search may find from this event on.
            pub fn searchable(&self, event: &Event) -> String {
                match (self, event) {
                    $((Room::$Form(state), Event::$Form(event)) => state.searchable(event),)*
                    (_, $(Event::$Form(_))|*) => String::new(),
                }
            }
        }

        pub fn decide(room: Option<&Room>, input: Input) -> Result<Vec<Event>, Reject> {
            let Input { at, nonce, actor, command } = input;
            let moment = &Moment { at, nonce, actor };
            match (room, command) {
                (None, Command::Settle { .. }) => Err(Reject::Stale),
                (None, Command::Stop) => Err(no_session()),
                $(
                    (Some(Room::$Form(state)), Command::Settle { call, outcome }) => {
                        events(state.settle(&call, outcome, moment), Event::$Form)
                    }
                    (Some(Room::$Form(state)), Command::Stop) => {
                        events(state.stop(moment), Event::$Form)
                    }
                    (None | Some(Room::$Form(_)), Command::$Form(command)) => {
                        let state = room.and_then(Room::$form);
                        events(<$form::State>::decide(state, command, moment), Event::$Form)
                    }
                )*
                (Some(room), $(Command::$Form(_))|*) => Err(room.takes_no_such_thing()),
            }
        }

        /// `at` is when the event was written.
        pub fn apply(room: &mut Option<Room>, event: &Event, at: Timestamp) {
            match (&mut *room, event) {
                $(
                    (None, Event::$Form(event)) => {
                        let opened = <$form::State>::open(event, at);
                        *room = opened.map(|state| Room::$Form(state.into()));
                    }
                    (Some(Room::$Form(state)), Event::$Form(event)) => state.take(event, at),
                )*
                (Some(_), $(Event::$Form(_))|*) => {}
            }
        }

        impl Event {
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Event::$Form(_) => $form::State::KIND,)*
                }
            }

            /// The event's name, as the log and live readers know it.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Event::$Form(event) => event.name(),)*
                }
            }

            /// The event as JSON, as the log keeps it.
            pub fn encode(&self) -> Result<String, serde_json::Error> {
                match self {
                    $(Event::$Form(event) => serde_json::to_string(event),)*
                }
            }

            pub fn decode(kind: &str, payload: &str) -> Result<Event, String> {
                let decoded = match kind {
                    $($form::State::KIND => serde_json::from_str(payload).map(Event::$Form),)*
                    other => return Err(format!("no form is called {other:?}")),
                };
                decoded.map_err(|error| error.to_string())
            }
        }
    };
}

rooms! {
    sessions { boardroom, whiteboard, council, discussion }
    apart { library }
    Boardroom in boardroom: boardroom::State,
    Whiteboard in whiteboard: whiteboard::State,
    Council in council: council::State,
    Discussion in discussion: Box<discussion::State>,
    Library in library: library::State,
}

/// Whether a room of this kind is what people call a session.
pub fn is_session(kind: &str) -> bool {
    !APART.contains(&kind)
}

impl Room {
    pub fn summary(&self) -> Summary {
        Summary {
            kind: self.kind(),
            name: self.called().map(str::to_owned),
            project: self.project().map(str::to_owned),
            title: self.title(),
            status: self.status(),
            active: !self.due().is_empty(),
            waits_for: self.waits_for(),
            imported: self.is_imported(),
        }
    }

    fn takes_no_such_thing(&self) -> Reject {
        match self.kind() {
            kind if is_session(kind) => {
                Reject::Unknown(format!("This session is a {kind}; it does not take that."))
            }
            // It is no session, and whoever takes it for one is told so.
            _ => no_session(),
        }
    }
}

pub(crate) fn no_session() -> Reject {
    Reject::Unknown("There is no such session.".into())
}

fn events<E>(decided: Result<Vec<E>, Reject>, wrap: fn(E) -> Event) -> Result<Vec<Event>, Reject> {
    decided.map(|events| events.into_iter().map(wrap).collect())
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
