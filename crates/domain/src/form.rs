//! The shape that every form of deliberation has. `room.rs` is made from it.

#[cfg(test)]
pub(crate) mod story;

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::budget::{Budget, Claim};
use crate::call::{Ask, Call, Outcome};
use crate::errand::Errand;
use crate::ids::{AgentName, CallId, ModelName, Nonce};
use crate::ledger::Ledger;
use crate::prices::Noted;
use crate::reject::Reject;

/// What the rules may not make themselves: when a command is decided, a few random
/// characters, and who gave it, which has been proved before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moment {
    pub at: Timestamp,
    pub nonce: Nonce,
    pub actor: String,
}

/// What the rules make of a command: what happens, or why it does not.
pub type Ruling<Event> = Result<Vec<Event>, Reject>;

/// The rules of a form. It is implemented by the form's state.
pub trait Form: Report + Sized {
    const KIND: &'static str;
    /// Every status, for filters of lists.
    const STATUSES: &'static [&'static str];
    type Command;
    type Event: Serialize + DeserializeOwned;

    /// `None` stands for a session that is not open yet.
    fn decide(state: Option<&Self>, command: Self::Command, moment: &Moment)
    -> Ruling<Self::Event>;

    /// A call has ended.
    fn settle(&self, call: &CallId, outcome: Outcome, moment: &Moment) -> Ruling<Self::Event>;

    /// Ends whatever runs, at once.
    fn stop(&self, moment: &Moment) -> Ruling<Self::Event>;

    /// What an event makes of nothing; `None` unless it opens a session. `at` is when it
    /// was written.
    fn open(event: &Self::Event, at: Timestamp) -> Option<Self>;

    /// What an event does to a session. Total: any event is taken in any state.
    fn take(&mut self, event: &Self::Event, at: Timestamp);

    fn apply(state: Option<Self>, event: &Self::Event, at: Timestamp) -> Option<Self> {
        let Some(mut state) = state else { return Self::open(event, at) };
        state.take(event, at);
        Some(state)
    }

    /// The calls that should be under way now.
    fn due(&self) -> Vec<Call>;

    /// The words of a call that `due` named.
    fn ask(&self, _call: &CallId) -> Option<Ask> {
        None
    }

    /// What an errand is that `due` named.
    fn errand(&self, _call: &CallId) -> Option<Errand> {
        None
    }

    /// What a call stands for that asks for room in a budget.
    fn claim(&self, _call: &CallId) -> Claim {
        Claim::default()
    }

    /// The session may spend this from now on; these are the prices of its models.
    fn allow(&self, _budget: Budget, _prices: Noted) -> Ruling<Self::Event> {
        Err(Reject::Unknown("A run's budget is set when it starts and cannot be changed.".into()))
    }

    /// The time that the session has is over.
    fn out_of_time(&self, _: &Moment) -> Ruling<Self::Event> {
        Err(Reject::Stale)
    }

    /// Whether nobody may know that something runs there, so that nothing tells or counts
    /// it.
    fn is_secret(&self) -> bool {
        false
    }

    /// Whether everybody may know of this event, in lists and in the stream of all
    /// sessions. `self` is the state after it.
    fn is_listed(&self, _event: &Self::Event) -> bool {
        true
    }

    /// The words that a search may find from this event on. What was hidden is found
    /// from the moment when all can read it.
    fn searchable(&self, _event: &Self::Event) -> String {
        String::new()
    }
}

/// What a session of any form tells of itself.
pub trait Report {
    fn status(&self) -> &'static str;

    fn title(&self) -> String;

    /// Means this session among those of its kind, for ever. It is given when the
    /// session opens and does not change.
    fn called(&self) -> Option<&str> {
        None
    }

    /// What the session belongs to; given once, like the name.
    fn project(&self) -> Option<&str> {
        None
    }

    /// Taken over from a record of elsewhere; said once, like the name.
    fn is_imported(&self) -> bool {
        false
    }

    /// People whose reply is awaited.
    fn waits_for(&self) -> Vec<String> {
        vec![]
    }

    /// Nothing more will happen unless somebody asks for it.
    fn is_over(&self) -> bool;

    fn progress(&self) -> Progress;

    /// As far as anybody may know: what is hidden on a board has not happened yet.
    fn happened(&self) -> Happened {
        Happened { status: "", said: 0, waits_for: self.waits_for() }
    }

    /// What came of it so far as anybody may see it, as Markdown; with `full` the
    /// whole record.
    fn report(&self, full: bool) -> String;

    /// How long each answer took, by model, as far as the record says.
    fn measured(&self) -> Vec<(&ModelName, u64)> {
        vec![]
    }

    /// What it has spent, where models are asked at all.
    fn ledger(&self) -> Option<&Ledger> {
        None
    }

    /// The same, as far as anybody may know of it.
    fn accounts(&self) -> Option<&Ledger> {
        self.ledger()
    }

    /// The models that sit there, where models are asked at all.
    fn seated(&self) -> Vec<ModelName> {
        vec![]
    }

    /// What can be done now, as sentences.
    fn next(&self) -> Vec<String>;

    /// How often the token of this agent was made anew.
    fn renewals(&self, _agent: &AgentName) -> u32 {
        0
    }
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
    pub(crate) status: &'static str,
    pub(crate) said: u64,
    pub(crate) waits_for: Vec<String>,
}
