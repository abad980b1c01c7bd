//! A long-lived thread with a charter and members.
//!
//! Members with a model answer what is addressed to them, one after the other;
//! everybody else posts by themselves. A council is open until it is closed.

mod addressed;
mod apply;
mod check;
mod event;
mod markdown;
mod prompt;
mod report;
mod settle;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use event::Event;
pub use markdown::markdown;

use crate::budget::{Allowance, Budget, Claim};
use crate::call::{Ask, Call, Failure, Outcome, Usage, Work};
use crate::form::{Form, Moment, Report, Ruling};
use crate::ids::{CallId, ModelName, Nonce};
use crate::ledger::Ledger;
use crate::limits;
use crate::prices::Noted;
use crate::reject::{Reject, renewed};
use crate::seated::Seated;

// ---------------------------------------------------------------------------
// State

#[derive(Clone, PartialEq, Debug)]
pub struct State {
    pub name: String,
    pub charter: Arc<str>,
    pub members: Arc<[Member]>,
    /// Whoever was a member and is none any more.
    pub former: Vec<Former>,
    /// What the opener has changed since.
    pub changes: Vec<Arc<Change>>,
    pub project: Option<String>,
    pub opened_by: Option<String>,
    pub opened_at: Timestamp,
    /// Numbered from 1 without a gap. Shared, because a thread may be long and
    /// every command is decided on a copy.
    pub posts: Vec<Arc<Post>>,
    /// Turns that ended without a post.
    pub silences: Vec<Arc<Silence>>,
    /// Everybody who has posted by themselves.
    pub senders: BTreeSet<String>,
    /// How often the token of a sender was made anew.
    renewals: BTreeMap<String, u32>,
    pub stage: Stage,
    pub ledger: Ledger,
    /// The last post that each model has taken in.
    read: BTreeMap<String, u64>,
    /// The code around quotations: the nonce of the first turn.
    code: Option<Nonce>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Stage {
    Open {
        /// Nobody is at it only when nobody owes an answer.
        turn: Option<Turn>,
        /// By the age of the post, then in member order: the first is next.
        owed: Vec<Debt>,
    },
    Closed {
        summary: Option<String>,
        by: Option<String>,
        at: Timestamp,
    },
}

/// An answer that is being written, to all posts up to `upto`.
#[derive(Clone, PartialEq, Debug)]
pub struct Turn {
    pub member: String,
    pub upto: u64,
    nonce: Nonce,
}

/// A member, by its place, that has yet to answer a post.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Debt {
    pub sequence: u64,
    pub member: usize,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    pub name: String,
    /// Who has none posts by themselves: a person, or an agent from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    /// What it may spend in this council.
    #[serde(default, skip_serializing_if = "Allowance::is_none")]
    pub budget: Allowance,
    /// Who speaks there by the model, and how it is asked.
    #[serde(default, skip_serializing_if = "Seated::is_plain")]
    pub seated: Seated,
}

/// A member that was removed. The name stays what it was, a model's or a person's: what
/// was said under it must not become somebody else's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Former {
    pub name: String,
    pub had_model: bool,
}

/// What was changed while the council was open.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    /// The last post before it.
    pub after: u64,
    /// There is a new charter.
    pub charter: bool,
    pub added: Vec<String>,
    pub removed: Vec<String>,
    pub at: Timestamp,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Post {
    pub sequence: u64,
    pub sender: String,
    pub body: Arc<str>,
    pub reply_to: Option<u64>,
    /// 0 from outside; an answer is one deeper than what it answers.
    pub depth: u8,
    /// Members that this post makes answer.
    pub addressed: Vec<String>,
    /// Members that it meant as well, but that a bound keeps from answering.
    pub left_out: Vec<String>,
    /// The turn that brought this answer.
    pub upto: Option<u64>,
    /// The model that wrote the answer.
    pub model: Option<ModelName>,
    /// The answer reached a limit on its length.
    pub cut: bool,
    /// What the answer took.
    pub usage: Usage,
    pub at: Timestamp,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Silence {
    pub member: String,
    pub upto: u64,
    /// The model that was asked.
    pub model: Option<ModelName>,
    pub why: Why,
    pub usage: Usage,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Why {
    /// The answer said nothing.
    Passed {
        text: String,
    },
    Failed {
        failure: Failure,
        partial: String,
    },
    /// `partial` is `None` until the cancelled call has handed its text back.
    Stopped {
        partial: Option<String>,
    },
}

// ---------------------------------------------------------------------------
// Command

#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    Open(Open),
    Post {
        sender: String,
        /// The caller has shown the sender's token. A name that nobody has posted
        /// under needs none: the first post claims it.
        proved: bool,
        body: String,
        reply_to: Option<u64>,
    },
    Change(Changing),
    /// By the operator of the server.
    RenewToken {
        sender: String,
    },
    Close {
        summary: Option<String>,
        by: Option<String>,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub struct Open {
    pub name: String,
    pub charter: String,
    pub members: Vec<Member>,
    pub project: Option<String>,
    pub by: Option<String>,
    /// Of its members' models, as far as they are known.
    pub prices: Noted,
    pub budget: Option<Budget>,
}

/// Whoever is removed goes before whoever is added comes: to change a member, do both.
#[derive(Clone, PartialEq, Debug)]
pub struct Changing {
    pub charter: Option<String>,
    pub add: Vec<Member>,
    pub remove: Vec<String>,
    /// Of the new members' models, as far as they are known.
    pub prices: Noted,
}

// ---------------------------------------------------------------------------
// The rules

impl Form for State {
    const KIND: &'static str = "council";
    const STATUSES: &'static [&'static str] = &["open", "closed"];
    type Command = Command;
    type Event = Event;

    fn decide(state: Option<&Self>, command: Command, moment: &Moment) -> Ruling<Event> {
        let Some(state) = state else {
            return match command {
                Command::Open(open) => check::open(open, moment.at),
                Command::Post { .. }
                | Command::Change(_)
                | Command::RenewToken { .. }
                | Command::Close { .. } => Err(Reject::Unknown("There is no such council.".into())),
            };
        };
        match command {
            Command::Open(_) => Err(state.not_now("This council has already been opened.")),
            Command::Post { sender, proved, .. } if !proved && state.is_claimed(&sender) => {
                Err(Reject::Forbidden(format!("{sender} is someone else's name here.")))
            }
            Command::Post { sender, body, reply_to, .. } => {
                state.post(sender, body, reply_to, moment)
            }
            Command::Change(changing) => state.change(changing, moment),
            Command::RenewToken { sender } => state.renew_token(sender, moment.at),
            Command::Close { summary, by } => state.close(summary, by, moment.at),
        }
    }

    fn settle(&self, call: &CallId, outcome: Outcome, moment: &Moment) -> Ruling<Event> {
        self.ended(call, outcome, moment)
    }

    /// Drops the answer that is being written and those that are owed.
    fn stop(&self, _: &Moment) -> Ruling<Event> {
        self.is_open()?;
        match self.turn() {
            Some(_) => Ok(vec![Event::Stopped]),
            None => Err(self.not_now("No one is answering.")),
        }
    }

    fn open(event: &Event, _: Timestamp) -> Option<State> {
        State::opened(event)
    }

    fn take(&mut self, event: &Event, at: Timestamp) {
        self.follow(event);
        let timed = |member: &&Member| member.budget.time_ms.is_some();
        let busy = self.turn().and_then(|turn| self.member(&turn.member)).filter(timed);
        let busy: Vec<String> = busy.map(|member| member.name.clone()).into_iter().collect();
        self.ledger.at_work(&busy, at);
    }

    fn due(&self) -> Vec<Call> {
        let call = |turn: &Turn| Call { id: turn.call_id(), work: Work::Ask };
        self.turn().map(call).into_iter().collect()
    }

    fn ask(&self, call: &CallId) -> Option<Ask> {
        let turn = self.turn().filter(|turn| turn.call_id() == *call)?;
        prompt::answer(self, turn)
    }

    fn claim(&self, call: &CallId) -> Claim {
        let turn = self.turn().filter(|turn| turn.call_id() == *call);
        let member = turn.and_then(|turn| self.member(&turn.member));
        let seat = member.map(|member| (member.name.clone(), member.budget));
        Claim { seat, ..Claim::default() }
    }

    fn allow(&self, budget: Budget, prices: Noted) -> Ruling<Event> {
        self.is_open()?;
        let noted = self.ledger.unnoted(prices).map(Event::Priced);
        Ok(noted.into_iter().chain([Event::Budgeted(budget.checked()?)]).collect())
    }

    /// The answer that is being written is broken off, and nobody owes another. The next
    /// post from outside has the whole time again.
    fn out_of_time(&self, moment: &Moment) -> Ruling<Event> {
        self.is_open()?;
        let stopped = self.turn().map(|_| Event::Stopped);
        Ok([Event::TimeOver { at: moment.at }].into_iter().chain(stopped).collect())
    }

    fn searchable(&self, event: &Event) -> String {
        event.searchable()
    }
}

impl Turn {
    /// The call that brings this answer.
    pub fn call_id(&self) -> CallId {
        settle::call_id(&self.member, self.upto)
    }
}

impl State {
    /// What can be done with the council now, by the names of the interface.
    pub fn allowed(&self) -> Vec<&'static str> {
        let candidates = match &self.stage {
            Stage::Open { turn, .. } => {
                vec![
                    ("post", self.has_room()),
                    ("stop", turn.is_some()),
                    ("change", self.can_change()),
                    ("close", true),
                ]
            }
            Stage::Closed { .. } => vec![],
        };
        let possible = candidates.into_iter().filter_map(|(name, is)| is.then_some(name));
        possible.chain(["export"]).collect()
    }

    pub fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.name == name)
    }

    /// Somebody has posted under this name: from now on it is theirs.
    pub fn is_claimed(&self, name: &str) -> bool {
        self.senders.contains(name)
    }

    /// How often the token of this sender was made anew.
    pub fn renewals(&self, sender: &str) -> u32 {
        self.renewals.get(sender).copied().unwrap_or(0)
    }

    /// Who is writing an answer.
    pub fn answering(&self) -> Option<&str> {
        self.turn().map(|turn| turn.member.as_str())
    }

    /// Who owes an answer to which post, the next in turn first.
    pub fn owing(&self) -> Vec<(&str, u64)> {
        let named =
            |debt: &Debt| Some((self.members.get(debt.member)?.name.as_str(), debt.sequence));
        self.owed().iter().filter_map(named).collect()
    }

    /// At most `limit` posts with a sequence greater than `since`.
    pub fn posts_after(&self, since: u64, limit: usize) -> &[Arc<Post>] {
        let from = usize::try_from(since).unwrap_or(usize::MAX).min(self.posts.len());
        &self.posts[from..from.saturating_add(limit).min(self.posts.len())]
    }

    fn post_at(&self, sequence: u64) -> Option<&Post> {
        let place = usize::try_from(sequence).ok()?.checked_sub(1)?;
        self.posts.get(place).map(|post| post.as_ref())
    }

    fn last_sequence(&self) -> u64 {
        self.posts.len() as u64
    }

    fn has_room(&self) -> bool {
        self.posts.len() < limits::COUNCIL_POSTS
    }

    fn can_change(&self) -> bool {
        self.changes.len() < limits::COUNCIL_CHANGES
    }

    fn turn(&self) -> Option<&Turn> {
        match &self.stage {
            Stage::Open { turn, .. } => turn.as_ref(),
            Stage::Closed { .. } => None,
        }
    }

    fn owed(&self) -> &[Debt] {
        match &self.stage {
            Stage::Open { owed, .. } => owed,
            Stage::Closed { .. } => &[],
        }
    }

    fn not_now(&self, message: &str) -> Reject {
        Reject::NotNow {
            state: self.status(),
            message: message.to_owned(),
            allowed: self.allowed(),
        }
    }

    fn is_open(&self) -> Result<(), Reject> {
        match self.stage {
            Stage::Open { .. } => Ok(()),
            Stage::Closed { .. } => Err(self.not_now("This council is closed.")),
        }
    }

    fn post(
        &self,
        sender: String,
        body: String,
        reply_to: Option<u64>,
        moment: &Moment,
    ) -> Ruling<Event> {
        self.is_open()?;
        if !self.has_room() {
            return Err(self.not_now("This council has the maximum number of posts."));
        }
        check::post(self, &sender, &body, reply_to)?;
        let sequence = self.last_sequence() + 1;
        let audience = self.addressed_from_outside(&sender, &body);
        let first = audience.addressed.first().filter(|_| self.turn().is_none());
        let turn = first.map(|member| Event::TurnBegan {
            member: member.clone(),
            upto: sequence,
            nonce: moment.nonce.clone(),
        });
        let posted = Event::Posted {
            sequence,
            sender,
            body: Arc::from(body),
            reply_to,
            addressed: audience.addressed,
            left_out: audience.left_out,
            at: moment.at,
        };
        Ok([posted].into_iter().chain(turn).collect())
    }

    /// An answer of a removed member that is under way is dropped, with what it owed; the
    /// next in turn begins.
    fn change(&self, changing: Changing, moment: &Moment) -> Ruling<Event> {
        self.is_open()?;
        if !self.can_change() {
            return Err(self.not_now("This council has been changed the maximum number of times."));
        }
        let Changing { charter, add, remove, prices } = check::change(self, changing)?;
        let charter = charter.filter(|charter| **charter != *self.charter).map(Arc::from);
        if charter.is_none() && add.is_empty() && remove.is_empty() {
            return Ok(vec![]);
        }
        let stays = |name: &str| !remove.iter().any(|removed| removed == name);
        let next = match self.answering().is_some_and(|member| !stays(member)) {
            true => self.owing().into_iter().find(|(member, _)| stays(member)),
            false => None,
        };
        let turn = next.map(|(member, _)| Event::TurnBegan {
            member: member.to_owned(),
            upto: self.last_sequence(),
            nonce: moment.nonce.clone(),
        });
        let noted = self.ledger.unnoted(prices).map(Event::Priced);
        let changed = Event::Changed { charter, added: add.into(), removed: remove, at: moment.at };
        Ok([changed].into_iter().chain(noted).chain(turn).collect())
    }

    fn renew_token(&self, sender: String, at: Timestamp) -> Ruling<Event> {
        if !self.is_claimed(&sender) {
            return Err(Reject::Unknown(format!("No one has posted here as {sender}.")));
        }
        self.is_open()?;
        let generation = renewed(self.renewals(&sender))?;
        Ok(vec![Event::TokenRenewed { sender, generation, at }])
    }

    fn close(&self, summary: Option<String>, by: Option<String>, at: Timestamp) -> Ruling<Event> {
        self.is_open()?;
        let (summary, by) = (check::said(summary), check::said(by));
        check::close(summary.as_deref(), by.as_deref())?;
        Ok(vec![Event::Closed { summary, by, at }])
    }
}
