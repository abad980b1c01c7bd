//! One shape for every form. The engine knows this file and none of the forms.
//!
//! All of it is made from one list: a further form stands there, and in its own folder.

use std::ops::Deref;

use jiff::Timestamp;

use crate::budget::{Allowance, Amount, Budget, Claim, Need, Shortage, Taken, time_call};
use crate::call::{Ask, Call, FailureKind, Outcome};
use crate::errand::Errand;
use crate::form::{Form, Moment, Report};
use crate::ids::{CallId, Nonce};
use crate::ledger::Ledger;
use crate::limits;
use crate::prices::Noted;
use crate::reject::{Reject, Wrong, name, settled};
use crate::{
    boardroom, boards, council, discussion, library, shelf, signals, whiteboard, workflow,
};

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

/// A kind of sessions and a status in which nobody may know that something runs there: what
/// `Room::is_secret` says, for lists that have no rooms.
pub const SECRET: (&str, &str) = ("whiteboard", "blind");

macro_rules! rooms {
    (
        sessions { $($session:ident),* }
        apart { $($apart:ident),* }
        $($Form:ident in $form:ident: $State:ty,)*
    ) => {
        /// A session's state. `None` stands for a session that is not open yet.
        // There is one per session, behind a pointer that all share.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, PartialEq, Debug)]
        pub enum Room {
            $($Form($State),)*
        }

        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, PartialEq, Debug)]
        pub enum Command {
            /// A call has ended. Every form takes this one.
            Settle { call: CallId, outcome: Outcome },
            /// What the session may spend from now on. Every form takes this one that asks
            /// models.
            Allow { budget: Budget, prices: Noted },
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

            fn own_due(&self) -> Vec<Call> {
                match self {
                    $(Room::$Form(state) => state.due(),)*
                }
            }

            fn own_ask(&self, call: &CallId) -> Option<Ask> {
                match self {
                    $(Room::$Form(state) => state.ask(call),)*
                }
            }

            /// What an errand is that `due` named.
            pub fn errand(&self, call: &CallId) -> Option<Errand> {
                match self {
                    $(Room::$Form(state) => state.errand(call),)*
                }
            }

            fn claim(&self, call: &CallId) -> Claim {
                match self {
                    $(Room::$Form(state) => state.claim(call),)*
                }
            }

            /// Whether nobody may know that something runs here.
            pub fn is_secret(&self) -> bool {
                match self {
                    $(Room::$Form(state) => state.is_secret(),)*
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

        fn rule(
            room: Option<&Room>,
            command: Command,
            moment: &Moment,
        ) -> Result<Vec<Event>, Reject> {
            match (room, command) {
                (None, Command::Settle { .. }) => Err(Reject::Stale),
                (None, Command::Stop | Command::Allow { .. }) => Err(no_session()),
                $(
                    (Some(Room::$Form(state)), Command::Allow { budget, prices }) => {
                        events(state.allow(budget, prices), Event::$Form)
                    }
                    (Some(Room::$Form(state)), Command::Settle { call, outcome: Outcome::Elapsed })
                        if call == time_call() =>
                    {
                        events(state.out_of_time(moment), Event::$Form)
                    }
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
                    other => return Err(format!("there is no kind of session {other:?}")),
                };
                decoded.map_err(|error| error.to_string())
            }
        }
    };
}

rooms! {
    sessions { boardroom, whiteboard, council, discussion, workflow }
    apart { library, signals, shelf, boards }
    Boardroom in boardroom: boardroom::State,
    Whiteboard in whiteboard: whiteboard::State,
    Council in council: council::State,
    Discussion in discussion: Box<discussion::State>,
    Workflow in workflow: Box<workflow::State>,
    Library in library: library::State,
    Signals in signals: signals::State,
    Shelf in shelf: Box<shelf::State>,
    Boards in boards: boards::State,
}

pub fn decide(room: Option<&Room>, input: Input) -> Result<Vec<Event>, Reject> {
    let Input { at, nonce, actor, command } = input;
    let moment = &Moment { at, nonce, actor };
    let is_spent = room.is_some_and(|room| command.says_that_all_is_spent(room));
    let is_limited = room.is_none() || matches!(command, Command::Allow { .. });
    let mut events = rule(room, command, moment)?;
    let stops =
        is_spent && room.and_then(|room| room.ledger()).is_some_and(Ledger::stops_when_spent);
    if !is_limited && !stops {
        return Ok(events);
    }
    let mut after = room.cloned();
    events.iter().for_each(|event| apply(&mut after, event, at));
    match after {
        Some(after) if is_limited => after.can_begin()?,
        // One that only waits for others has nothing to stop.
        Some(after) if !after.is_over() => {
            events.extend(rule(Some(&after), Command::Stop, moment).unwrap_or_default());
        }
        Some(_) | None => {}
    }
    Ok(events)
}

impl Command {
    fn says_that_all_is_spent(&self, room: &Room) -> bool {
        let Command::Settle { call, outcome } = self else { return false };
        match outcome {
            Outcome::Failed { failure, .. } => {
                failure.kind == FailureKind::OutOfBudget && room.is_spent(call)
            }
            Outcome::Elapsed => *call == time_call(),
            Outcome::Answered(_) | Outcome::Stopped { .. } | Outcome::Brought(_) => false,
        }
    }
}

/// Whether a room of this kind is what people call a session.
pub fn is_session(kind: &str) -> bool {
    !APART.contains(&kind)
}

impl Room {
    /// The calls that should be under way now.
    pub fn due(&self) -> Vec<Call> {
        let mut due = self.own_due();
        let is_waited_for = !due.is_empty() || !self.waits_for().is_empty();
        due.extend(self.ledger().filter(|_| is_waited_for).and_then(Ledger::time));
        due
    }

    /// The words of a call that `due` named, within what it may spend.
    pub fn ask(&self, call: &CallId) -> Option<Ask> {
        let mut ask = self.own_ask(call)?;
        if let Some(ledger) = self.ledger().filter(|_| self.is_bounded(call)) {
            ledger.fit(&mut ask, &self.claim(call));
        }
        Some(ask)
    }

    /// Whether a call has to keep to a limit on tokens or money, or on its seat's time.
    pub fn is_bounded(&self, call: &CallId) -> bool {
        let budget = self.ledger().and_then(Ledger::budget).map(|budget| budget.most.spendable());
        let seat = || self.claim(call).seat.map(|(_, allowance)| allowance);
        [budget, seat()].into_iter().flatten().any(|most| most != Allowance::default())
    }

    /// What has to be kept for a call before it is made, or why there is no room for it.
    /// `held` is kept for others; `taken` is what the call has spent already.
    pub fn reserve(
        &self,
        call: &CallId,
        ask: &Ask,
        held: Amount,
        taken: Taken,
    ) -> Result<Amount, Shortage> {
        let Some(ledger) = self.ledger() else { return Ok(Amount::default()) };
        let claim = self.claim(call);
        ledger.admit(&Need::of(ask, &claim).after(ledger, taken), held)
    }

    /// What a call under way may take at most.
    pub fn reservation(&self, call: &CallId) -> Amount {
        let (Some(ledger), Some(ask)) = (self.ledger(), self.ask(call)) else {
            return Amount::default();
        };
        ledger.reservation(&Need::of(&ask, &self.claim(call)))
    }

    /// Whether the session itself, and not only a seat, has no room for this call.
    fn is_spent(&self, call: &CallId) -> bool {
        let (Some(ledger), Some(ask)) = (self.ledger(), self.ask(call)) else { return false };
        let claim = Claim { seat: None, ..self.claim(call) };
        ledger.admit(&Need::of(&ask, &claim), Amount::default()).is_err()
    }

    /// Whether what it may spend is enough to begin with, and can be kept to.
    fn can_begin(&self) -> Result<(), Reject> {
        let reserve = |call: &Call| {
            // Words are rendered only where something depends on them.
            let ask = self.is_bounded(&call.id).then(|| self.ask(&call.id)).flatten()?;
            Some(self.reserve(&call.id, &ask, Amount::default(), Taken::default()))
        };
        let bounded: Vec<_> = self.own_due().iter().filter_map(reserve).collect();
        let shortages = bounded.iter().filter_map(|reserved| reserved.as_ref().err());
        let mut shortages: Vec<&Shortage> = shortages.collect();
        shortages.sort_by_key(|shortage| !matches!(shortage, Shortage::Price(_)));
        match shortages.first() {
            Some(shortage @ Shortage::Price(_)) => {
                let problem = format!("{} Give it in tokens.", shortage.in_words());
                Err(Reject::Invalid(vec![Wrong::new("budget.cost", problem)]))
            }
            Some(Shortage::Room(problem) | Shortage::Seat(problem))
                if shortages.len() == bounded.len() =>
            {
                Err(Reject::Invalid(vec![Wrong::new("budget", problem)]))
            }
            Some(Shortage::Room(_) | Shortage::Seat(_)) | None => Ok(()),
        }
    }

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
                Reject::Unknown(format!("This session is a {kind}; it does not support that."))
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
        let problem = format!("there is no {given:?}; available: {}", known.join(", "));
        Reject::Invalid(vec![Wrong::new(field, problem)])
    })
}

/// A title that somebody gives a session in place of its own; a blank one is none.
pub fn label(title: &str) -> Result<Option<String>, Reject> {
    let title = title.trim();
    if title.is_empty() {
        return Ok(None);
    }
    let mut wrong = vec![];
    name(&mut wrong, "title", title, limits::LABEL_BYTES);
    settled(wrong)?;
    Ok(Some(title.to_owned()))
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
