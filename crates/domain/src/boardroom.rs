//! One prompt, N advisors in parallel, each from a role; then a synthesis. A board goes on
//! with a further question to the same seats, which is a round of its own.
//!
//! Stages: answering → synthesizing → balloting, where a board has the ballot → closed.
//! A peer review will stand between the first two, as a further stage.

mod apply;
pub mod ballot;
mod brief;
mod check;
pub(crate) mod estimate;
mod event;
mod follow_up;
mod import;
mod markdown;
pub mod own;
pub mod preset;
mod prompt;
mod report;
mod role;
mod settle;
mod sight;
#[cfg(test)]
mod tests;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub use crate::quote::ContextFile;
pub use ballot::{Ballot, Choice, Point, Section, Vote, Voter};
pub use brief::Brief;
pub(crate) use check::language as check_language;
pub use estimate::foresee;
pub use event::Event;
pub use markdown::markdown;
pub use own::OwnRole;
pub use role::Role;
pub use verdict::{HEADINGS, Headings, Verdict};

use crate::budget::{Allowance, Budget, Claim, Follows, tokens_of};
pub use crate::call::Stopping;
use crate::call::{Answer, Ask, Call, Failure, Life, Outcome, Work};
use settle::{Called, called, deadline_call, grace_call};

use crate::form::{Form, Moment, Report, Ruling};
use crate::ids::{CallId, ModelName, Nonce, SessionId};
use crate::ledger::Ledger;
use crate::limits;
use crate::prices::Noted;
use crate::reject::{Reject, Wrong};
use crate::seated::Seated;

// ---------------------------------------------------------------------------
// State

#[derive(Clone, PartialEq, Debug)]
pub struct State {
    pub title: String,
    pub prompt: Arc<str>,
    pub context: Arc<[ContextFile]>,
    /// Of the first question.
    brief: Arc<Brief>,
    pub advisors: Vec<Advisor>,
    /// Who may synthesize: the chosen model, then those that take over.
    pub synthesizers: Vec<ModelName>,
    pub quorum: Option<Quorum>,
    /// Whether the advisors vote on the points of each synthesis.
    pub ballot: bool,
    /// Whether people see what the others have said before they have answered.
    pub open_answers: bool,
    pub terms: Terms,
    pub stage: Stage,
    /// The questions after the first, each of which began a round.
    pub follow_ups: Vec<FollowUp>,
    /// Numbered from 1; the last one is the current one.
    pub syntheses: Vec<Synthesis>,
    pub convened_at: Timestamp,
    /// Held elsewhere, and taken over from a record.
    pub imported: Option<Imported>,
    pub ledger: Ledger,
    /// Stopped calls that were asked for again before they could hand back what they
    /// had, by the models that they ask.
    overtaken: BTreeMap<CallId, ModelName>,
    /// What the conversation until now is known by to whoever holds it elsewhere.
    thread: Option<String>,
    /// The code around quotations.
    nonce: Nonce,
    /// The seat for which this is a picture without the words of the others.
    veiled_for: Option<SeatId>,
}

/// A further question to the board, or to some of it.
#[derive(Clone, PartialEq, Debug)]
pub struct FollowUp {
    /// From 2 on.
    pub round: u32,
    pub prompt: Arc<str>,
    pub seats: Vec<SeatId>,
    brief: Arc<Brief>,
    pub at: Timestamp,
}

/// Whom a follow-up asks; a person may have a time until which.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Addressed {
    pub seat: SeatId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_by: Option<Timestamp>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Imported {
    /// The board's id there, where the record says it.
    pub from: Option<SessionId>,
    pub at: Timestamp,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stage {
    Answering(Wait),
    Synthesizing,
    /// The advisors vote on the last synthesis.
    Balloting,
    Closed,
    Stopped,
    /// No advisor answered, or no synthesizer could.
    Failed(String),
}

/// What the synthesis waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wait {
    All,
    Quorum(Quorum),
    /// The quorum has answered; the others have until then.
    Grace(Timestamp),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Quorum {
    pub need: usize,
    pub grace_ms: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SeatId(pub u8);

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Seat {
    pub id: SeatId,
    /// `Generalist`, where it has a role of its own.
    pub role: Role,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnRole>,
    pub sitter: Sitter,
    /// Replaces the role's system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// What it may spend on this board.
    #[serde(default, skip_serializing_if = "Allowance::is_none")]
    pub budget: Allowance,
    /// Answers that it is asked for at once.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub tries: u32,
    /// Who speaks there by a model, and how it is asked.
    #[serde(default, skip_serializing_if = "Seated::is_plain")]
    pub seated: Seated,
}

fn one() -> u32 {
    1
}

fn is_one(count: &u32) -> bool {
    *count == 1
}

/// What holds for a whole board, from the saved one that it was convened from or from
/// whoever convened it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Terms {
    /// The saved board's name then. All that it said stands in the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    /// The language that all answer in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Who synthesizes, where the board says that, and how it is asked.
    #[serde(default, skip_serializing_if = "Seated::is_plain")]
    pub synthesizer: Seated,
}

impl Terms {
    pub(crate) fn is_plain(&self) -> bool {
        *self == Terms::default()
    }
}

/// Who sits there.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Sitter {
    Model(ModelName),
    Person {
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply_by: Option<Timestamp>,
    },
}

/// Who answers, and the last contribution of that seat.
#[derive(Clone, PartialEq, Debug)]
pub struct Advisor {
    pub seat: Seat,
    /// The round in which it was asked last, from 1.
    pub round: u32,
    /// How often this advisor was asked by hand in that round, from 1.
    pub asked: u32,
    /// How many answers it was asked for at once, the last of which is `asked`.
    pub batch: u32,
    pub standing: Standing,
    /// The last time that it was asked. A record from elsewhere has no times.
    pub span: Option<Span>,
    /// What came, or is to come, of it each time that it was asked before. Nothing leaves
    /// this list.
    pub earlier: Vec<Contribution>,
    /// Answers that were picked by hand, one in a round: what is made from then on takes
    /// that one and no other of the seat.
    pub picked: Vec<ContributionId>,
}

/// What came of it when an advisor was asked once.
#[derive(Clone, PartialEq, Debug)]
pub struct Contribution {
    pub id: ContributionId,
    /// Who sat there then.
    pub sitter: Sitter,
    pub standing: Standing,
    pub span: Option<Span>,
}

/// Means one contribution for ever: whose it is, in which round, and which try at it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct ContributionId {
    pub seat: SeatId,
    pub round: u32,
    #[serde(rename = "try")]
    pub asked: u32,
}

/// When something ran, by the times at which the events were written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    pub started_at: Timestamp,
    /// `None` while it is under way.
    pub ended_at: Option<Timestamp>,
}

pub type Standing = Life<Answer>;

#[derive(Clone, PartialEq, Debug)]
pub struct Synthesis {
    pub number: u32,
    /// The round whose answers it is made from.
    pub round: u32,
    /// Which try this is. One that was not in shape is followed by another of the same
    /// model, a failure by one of the next.
    pub tries: u32,
    pub model: ModelName,
    pub instruction: Option<String>,
    /// The contributions that it is made from.
    pub basis: Vec<ContributionId>,
    pub absent: Vec<Absent>,
    /// Tries before this one, with what each had written.
    pub failed: Vec<FailedTry>,
    pub standing: SynthesisStanding,
    pub span: Option<Span>,
    /// The votes on it; none before it is done, nor on a board without a ballot.
    pub ballot: Option<Ballot>,
}

impl Synthesis {
    /// Whose answers it is made from, each advisor once.
    pub fn seats(&self) -> BTreeSet<SeatId> {
        self.basis.iter().map(|id| id.seat).collect()
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct FailedTry {
    pub model: ModelName,
    pub failure: Failure,
    pub text: String,
}

pub type SynthesisStanding = Life<Written>;

/// A synthesis, and the answer that it was read from.
#[derive(Clone, PartialEq, Debug)]
pub struct Written {
    pub verdict: Verdict,
    pub answer: Answer,
}

/// An advisor whose answer a synthesis had to do without.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Absent {
    pub seat: SeatId,
    pub why: String,
}

// ---------------------------------------------------------------------------
// Command

// A command is moved a few times in its life; a box would cost more than its size.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    Convene(Convene),
    /// Takes over the record of a board that was held elsewhere.
    Import {
        from: Option<SessionId>,
        events: Vec<Event>,
    },
    /// Stops one advisor, or passes it over in a ballot. The others go on, and the
    /// synthesis, or the tally, does without it.
    StopAdvisor {
        seat: SeatId,
    },
    /// Begins the synthesis now, with the answers that are there.
    Synthesize {
        model: Option<ModelName>,
        instruction: Option<String>,
        prices: Noted,
    },
    /// Adds a synthesis to a board that is at rest.
    Resynthesize {
        model: Option<ModelName>,
        instruction: Option<String>,
        prices: Noted,
    },
    /// Asks one advisor again.
    Retry {
        seat: SeatId,
        model: Option<ModelName>,
        prices: Noted,
    },
    /// Puts a further question to these seats, or to those that it begins with the names
    /// of; to all, where none is named.
    FollowUp {
        prompt: String,
        seats: Vec<SeatId>,
        brief: Brief,
    },
    /// Notes what the conversation until now is known by elsewhere.
    Thread {
        key: String,
    },
    /// Goes on with a ballot that was stopped; else asks every advisor again that has
    /// no answer, then goes on.
    Resume,
    /// Takes one of the answers that a seat has given to the last question, and none of its
    /// others, for whatever is made from now on.
    Pick {
        seat: SeatId,
        asked: u32,
    },
    /// A person's own answer.
    Reply {
        seat: SeatId,
        text: String,
    },
    /// Puts the last synthesis of a closed board to the vote.
    OpenBallot,
    /// A person's own votes on the points of the synthesis.
    CastBallot {
        seat: SeatId,
        votes: Vec<Vote>,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub struct Convene {
    pub prompt: String,
    pub context: Vec<ContextFile>,
    pub seats: Vec<Seat>,
    pub synthesizers: Vec<ModelName>,
    pub quorum: Option<Quorum>,
    pub ballot: bool,
    /// Of its models, as far as they are known.
    pub prices: Noted,
    pub budget: Option<Budget>,
    pub open_answers: bool,
    pub terms: Terms,
    pub brief: Brief,
}

// ---------------------------------------------------------------------------
// The rules

impl Form for State {
    const KIND: &'static str = "boardroom";
    const STATUSES: &'static [&'static str] =
        &["answering", "synthesizing", "balloting", "closed", "stopped", "failed"];
    type Command = Command;
    type Event = Event;

    fn decide(state: Option<&Self>, command: Command, moment: &Moment) -> Ruling<Event> {
        let Some(state) = state else {
            return match command {
                Command::Convene(convene) => check::convene(convene, moment),
                Command::Import { from, events } => import::import(from, events, moment),
                Command::StopAdvisor { .. }
                | Command::Synthesize { .. }
                | Command::Resynthesize { .. }
                | Command::Retry { .. }
                | Command::FollowUp { .. }
                | Command::Thread { .. }
                | Command::Resume
                | Command::Pick { .. }
                | Command::Reply { .. }
                | Command::OpenBallot
                | Command::CastBallot { .. } => {
                    Err(Reject::Unknown("There is no such board.".into()))
                }
            };
        };
        match command {
            Command::Convene(_) | Command::Import { .. } => {
                Err(state.not_now("This board has already been convened."))
            }
            Command::StopAdvisor { seat } => state.stop_advisor(seat, moment),
            Command::Synthesize { model, instruction, prices } => match state.stage {
                Stage::Synthesizing => Err(state.not_now("A verdict is already being written.")),
                Stage::Balloting => Err(state.not_now(ballot::VOTING)),
                Stage::Closed => Err(state
                    .not_now("There is already a verdict; ask for another with `resynthesize`.")),
                Stage::Answering(_) | Stage::Stopped | Stage::Failed(_) => {
                    state.noting(prices, state.synthesize(model, instruction, moment))
                }
            },
            Command::Resynthesize { model, instruction, prices } => match state.stage {
                Stage::Synthesizing => Err(state.not_now("A verdict is already being written.")),
                Stage::Balloting => Err(state.not_now(ballot::VOTING)),
                Stage::Answering(_) => Err(state.not_now("The advisors are still answering.")),
                Stage::Closed | Stage::Stopped | Stage::Failed(_) => {
                    state.noting(prices, state.synthesize(model, instruction, moment))
                }
            },
            Command::Retry { seat, model, prices } => {
                state.noting(prices, state.retry(seat, model))
            }
            Command::FollowUp { prompt, seats, brief } => {
                state.follow_up(prompt, seats, brief, moment)
            }
            Command::Thread { key } => state.be_known_by(key),
            Command::Resume => state.resume(moment),
            Command::Pick { seat, asked } => state.pick(seat, asked),
            Command::Reply { seat, text } => state.reply(seat, text, moment),
            Command::OpenBallot => state.open_ballot(moment),
            Command::CastBallot { seat, votes } => state.cast(seat, votes),
        }
    }

    fn settle(&self, call: &CallId, outcome: Outcome, moment: &Moment) -> Ruling<Event> {
        self.ended(call, outcome, moment)
    }

    /// Stops every call; no synthesis follows.
    fn stop(&self, _: &Moment) -> Ruling<Event> {
        match self.stage {
            Stage::Answering(_) | Stage::Synthesizing | Stage::Balloting => {
                Ok(vec![Event::Stopped])
            }
            Stage::Stopped => Ok(vec![]),
            Stage::Closed | Stage::Failed(_) => Err(self.not_now("Nothing is running.")),
        }
    }

    fn open(event: &Event, at: Timestamp) -> Option<State> {
        State::convened(event, at)
    }

    fn take(&mut self, event: &Event, at: Timestamp) {
        self.follow(event, at);
    }

    fn due(&self) -> Vec<Call> {
        match &self.stage {
            Stage::Answering(wait) => {
                let mut calls: Vec<Call> = self.advisors.iter().flat_map(advisor_due).collect();
                if let Wait::Grace(until) = wait {
                    calls.push(Call {
                        id: grace_call(self.round()),
                        work: Work::Sleep { until: *until },
                    });
                }
                calls
            }
            Stage::Synthesizing => self
                .syntheses
                .last()
                .map(|synthesis| Call { id: synthesis.call_id(), work: Work::Ask })
                .into_iter()
                .collect(),
            Stage::Balloting => self.ballots_due(),
            Stage::Closed | Stage::Stopped | Stage::Failed(_) => vec![],
        }
    }

    fn ask(&self, call: &CallId) -> Option<Ask> {
        self.due().iter().find(|due| due.id == *call)?;
        match called(call)? {
            Called::Advisor(seat) => prompt::advisor(self, self.advisor(seat)?),
            Called::Synthesis(number) => Some(prompt::synthesis(self, self.synthesis(number)?)),
            Called::Ballot(number, seat) => {
                let synthesis = self.synthesis(number)?;
                prompt::ballot(self, synthesis, self.advisor(seat)?)
            }
            Called::Deadline(_) | Called::BallotDeadline(..) | Called::Grace => None,
        }
    }

    fn claim(&self, call: &CallId) -> Claim {
        let seat = |seat| Some((seat_name(seat), self.advisor(seat)?.seat.budget));
        match called(call) {
            Some(Called::Advisor(of)) => Claim {
                seat: seat(of),
                calls: self.advisors.iter().map(Advisor::awaited_of_model).sum(),
                follows: self
                    .synthesizers
                    .first()
                    .map(|model| Follows { model: model.clone(), reads: self.synthesis_reads() }),
            },
            Some(Called::Ballot(_, of)) => {
                Claim { seat: seat(of), calls: self.ballots_due().len() as u64, follows: None }
            }
            Some(
                Called::Synthesis(_)
                | Called::Deadline(_)
                | Called::BallotDeadline(..)
                | Called::Grace,
            )
            | None => Claim::default(),
        }
    }

    fn allow(&self, budget: Budget, prices: Noted) -> Ruling<Event> {
        self.noting(prices, budget.checked().map(|budget| vec![Event::Budgeted(budget)]))
    }

    /// Who has not answered by now is not waited for; a synthesis that is being written
    /// comes to its end.
    fn out_of_time(&self, moment: &Moment) -> Ruling<Event> {
        let over = Event::TimeOver { at: moment.at };
        let stops = self.ledger.stops_when_spent();
        let follow = match self.stage {
            Stage::Answering(_) | Stage::Balloting if stops => vec![],
            Stage::Answering(_) if self.answered().is_empty() => vec![Event::Stopped],
            Stage::Answering(_) => vec![self.begin_synthesis(None, None, moment)],
            // Who has not voted by now is passed over.
            Stage::Balloting => {
                let seats = self.advisors.iter().map(|advisor| advisor.seat.id);
                seats.filter_map(|seat| self.pass_over(seat)).collect()
            }
            Stage::Synthesizing | Stage::Closed | Stage::Stopped | Stage::Failed(_) => vec![],
        };
        Ok([over].into_iter().chain(follow).collect())
    }

    fn searchable(&self, event: &Event) -> String {
        event.searchable()
    }
}

/// A seat, as the ledger knows it.
fn seat_name(seat: SeatId) -> String {
    seat.0.to_string()
}

const FULL: &str = "This board has the maximum number of verdicts.";

/// Saturates: a record from elsewhere may say any time.
fn later(at: Timestamp, ms: u64) -> Timestamp {
    let ms = i64::try_from(ms).unwrap_or(i64::MAX);
    at.checked_add(SignedDuration::from_millis(ms)).unwrap_or(Timestamp::MAX)
}

impl Seat {
    pub fn part(&self) -> own::Part<'_> {
        own::Part { role: self.role, own: self.own.as_ref() }
    }

    pub fn role_name(&self) -> &str {
        self.part().name()
    }

    pub fn colour(&self) -> &str {
        self.part().colour()
    }
}

impl Advisor {
    fn awaits_model(&self) -> bool {
        self.is_asked() && !self.is_person()
    }

    /// Answers that a model is at.
    fn awaited_of_model(&self) -> u64 {
        let is_asked = |(_, standing): &(ContributionId, &Standing)| standing.is_asked();
        if self.is_person() { 0 } else { self.current().filter(is_asked).count() as u64 }
    }

    /// What it was asked for last, once or several times at once.
    pub fn current(&self) -> impl Iterator<Item = (ContributionId, &Standing)> {
        let (round, before) = (self.round, self.asked.saturating_sub(self.batch));
        let is_of = move |one: &&Contribution| one.id.round == round && one.id.asked > before;
        let earlier = self.earlier.iter().filter(is_of).map(|one| (one.id, &one.standing));
        earlier.chain([(self.contribution(), &self.standing)])
    }

    /// All that was said in the round in which it was asked last, the oldest first.
    pub fn of_round(&self) -> impl Iterator<Item = (ContributionId, &Standing)> {
        let earlier = self.earlier.iter().filter(|one| one.id.round == self.round);
        let earlier = earlier.map(|one| (one.id, &one.standing));
        earlier.chain([(self.contribution(), &self.standing)])
    }

    /// Somebody is at an answer of it.
    pub fn is_asked(&self) -> bool {
        self.current().any(|(_, standing)| standing.is_asked())
    }

    /// The answers that count: the one that was picked, else all that came of the last time.
    pub fn heard(&self) -> Vec<ContributionId> {
        if let Some(picked) = self.picked_in(self.round) {
            return vec![picked];
        }
        let done = self.current().filter(|(_, standing)| standing.done().is_some());
        done.map(|(id, _)| id).collect()
    }

    pub fn picked_in(&self, round: u32) -> Option<ContributionId> {
        self.picked.iter().copied().find(|picked| picked.round == round)
    }

    /// Whether there is one to choose among several.
    fn can_be_picked(&self) -> bool {
        self.of_round().filter(|(_, standing)| standing.done().is_some()).count() > 1
    }

    /// The name of its last contribution.
    pub fn contribution(&self) -> ContributionId {
        ContributionId { seat: self.seat.id, round: self.round, asked: self.asked }
    }

    /// In a later round than its last one it is asked for the first time.
    fn can_be_asked_again(&self, round: u32) -> bool {
        !self.is_asked() && !self.is_asked_out(round)
    }

    fn is_asked_out(&self, round: u32) -> bool {
        self.round == round && self.asked > limits::RETRIES_BY_HAND
    }
}

impl State {
    /// What can be done with the board now, by the names of the interface.
    pub fn allowed(&self) -> Vec<&'static str> {
        let synthesizable = !self.answered().is_empty() && self.has_room();
        let again = |advisor: &Advisor| advisor.can_be_asked_again(self.round());
        let retriable = self.advisors.iter().any(again) && self.has_room();
        let missing = |advisor: &Advisor| advisor.heard().is_empty() && again(advisor);
        let pickable = self.asked_now().any(Advisor::can_be_picked);
        let resumable =
            self.can_resume_ballot() || synthesizable || retriable && self.asked_now().any(missing);
        let follow_up = self.cannot_follow_up().is_none();
        let awaited = |advisor: &Advisor| {
            matches!(advisor.seat.sitter, Sitter::Person { .. }) && advisor.standing.is_asked()
        };
        let candidates = match self.stage {
            Stage::Answering(_) => vec![
                ("stop", true),
                ("synthesize", synthesizable),
                ("retry", retriable),
                ("pick", pickable),
                ("reply", self.advisors.iter().any(awaited)),
            ],
            Stage::Synthesizing => vec![("stop", true)],
            Stage::Balloting => {
                vec![("stop", true), ("ballot", !self.awaited_voters().is_empty())]
            }
            Stage::Closed => vec![
                ("resynthesize", synthesizable),
                ("retry", retriable),
                ("pick", pickable),
                ("followUp", follow_up),
                ("openBallot", self.points_to_vote_on().is_ok()),
            ],
            Stage::Stopped | Stage::Failed(_) => vec![
                ("resume", resumable),
                ("synthesize", synthesizable),
                ("resynthesize", synthesizable),
                ("retry", retriable),
                ("pick", pickable),
                ("followUp", follow_up),
            ],
        };
        let possible = candidates.into_iter().filter_map(|(name, is)| is.then_some(name));
        possible.chain(["export"]).collect()
    }

    pub fn advisor(&self, seat: SeatId) -> Option<&Advisor> {
        self.advisors.iter().find(|advisor| advisor.seat.id == seat)
    }

    /// What was answered in this contribution, whatever the advisor has said since.
    pub fn answer(&self, id: ContributionId) -> Option<&Answer> {
        let advisor = self.advisor(id.seat)?;
        if advisor.contribution() == id {
            return advisor.standing.done();
        }
        advisor.earlier.iter().find(|earlier| earlier.id == id)?.standing.done()
    }

    fn synthesis(&self, number: u32) -> Option<&Synthesis> {
        self.syntheses.iter().find(|synthesis| synthesis.number == number)
    }

    /// An advisor's name on this board: the role, numbered where two share it.
    pub fn label(&self, seat: SeatId) -> String {
        let Some(advisor) = self.advisor(seat) else { return String::new() };
        let name = advisor.seat.role_name();
        let same: Vec<SeatId> = self
            .advisors
            .iter()
            .filter(|other| other.seat.role_name() == name)
            .map(|other| other.seat.id)
            .collect();
        match same.iter().position(|id| *id == seat) {
            Some(place) if same.len() > 1 => format!("{name} {}", place + 1),
            _ => name.to_owned(),
        }
    }

    fn not_now(&self, message: &str) -> Reject {
        Reject::NotNow {
            state: self.status(),
            message: message.to_owned(),
            allowed: self.allowed(),
        }
    }

    fn answered(&self) -> Vec<SeatId> {
        self.asked_now()
            .filter(|advisor| !advisor.heard().is_empty())
            .map(|advisor| advisor.seat.id)
            .collect()
    }

    /// The answers that a synthesis takes now.
    fn heard(&self) -> Vec<ContributionId> {
        self.asked_now().flat_map(Advisor::heard).collect()
    }

    /// The same, where it is not simply the last of each seat.
    fn heard_otherwise(&self) -> Vec<ContributionId> {
        let heard = self.heard();
        let last = self.asked_now().filter(|advisor| advisor.standing.done().is_some());
        let last: Vec<ContributionId> = last.map(Advisor::contribution).collect();
        if heard == last { vec![] } else { heard }
    }

    /// Tokens of the question with its files, about.
    fn question_tokens(&self) -> u64 {
        let files: usize = self.context.iter().map(|file| file.text.len()).sum();
        let briefs = (1..=self.round()).map(|round| self.brief(round));
        let (images, more) = briefs.fold((0, 0), |(images, bytes), brief| {
            let files: usize = brief.files.iter().map(|file| file.text.len()).sum();
            (images + brief.images.len(), bytes + files)
        });
        tokens_of(self.asked_bytes() + files + more) + images as u64 * limits::IMAGE_TOKENS
    }

    /// Bytes of all questions and of the verdicts between them.
    fn asked_bytes(&self) -> usize {
        let further: usize = self.follow_ups.iter().map(|further| further.prompt.len()).sum();
        let instructions = self.brief(self.round()).instructions.as_ref().map_or(0, String::len);
        let verdicts = (1..=self.round()).filter_map(|round| self.verdict(round));
        self.prompt.len() + instructions + further + verdicts.map(str::len).sum::<usize>()
    }

    /// Tokens that a synthesis of the answers reads, about.
    fn synthesis_reads(&self) -> u64 {
        let heard = self.advisors.iter().flat_map(Advisor::heard);
        let answers = heard.filter_map(|id| self.answer(id));
        let bytes: usize = answers.map(|answer| answer.text.len()).sum();
        let tries: u64 = self.advisors.iter().map(|advisor| u64::from(advisor.batch)).sum();
        let seats = tries * limits::SYNTHESIS_SEAT_TOKENS;
        limits::SYNTHESIS_FRAME_TOKENS + seats + tokens_of(self.asked_bytes() + bytes)
    }

    fn has_room(&self) -> bool {
        self.syntheses.len() < limits::SYNTHESES
    }

    fn is_awaited(&self) -> bool {
        self.advisors.iter().any(Advisor::is_asked)
    }

    fn absent(&self) -> Vec<Absent> {
        let why = |advisor: &Advisor| match &advisor.standing {
            Standing::Done(_) => None,
            Standing::Asked | Standing::Stopped { why: Stopping::Late, .. } => {
                Some(match advisor.seat.sitter {
                    Sitter::Model(_) => "had not finished".to_owned(),
                    Sitter::Person { .. } => "had not replied".to_owned(),
                })
            }
            Standing::Failed { failure, .. } => Some(failure.kind.words().to_owned()),
            Standing::Stopped { why: Stopping::ByHand, .. } => Some("stopped".to_owned()),
        };
        self.asked_now()
            .filter(|advisor| advisor.heard().is_empty())
            .filter_map(|advisor| Some(Absent { seat: advisor.seat.id, why: why(advisor)? }))
            .collect()
    }

    /// What follows from a command that brings models, with their prices before it.
    fn noting(&self, prices: Noted, ruling: Ruling<Event>) -> Ruling<Event> {
        let noted = self.ledger.unnoted(prices).map(Event::Priced);
        Ok(noted.into_iter().chain(ruling?).collect())
    }

    fn stop_advisor(&self, seat: SeatId, moment: &Moment) -> Ruling<Event> {
        let advisor = self.known(seat)?;
        if let Some(passed_over) = self.pass_over(seat) {
            return Ok(vec![passed_over]);
        }
        if advisor.is_asked() {
            return Ok(self.with_what_follows(Event::AdvisorHalted { seat }, moment));
        }
        match advisor.standing {
            Standing::Asked | Standing::Done(_) => {
                Err(self.not_now("This advisor has already answered."))
            }
            Standing::Failed { .. } | Standing::Stopped { .. } => {
                Err(self.not_now("This advisor is not being asked."))
            }
        }
    }

    fn synthesize(
        &self,
        model: Option<ModelName>,
        instruction: Option<String>,
        moment: &Moment,
    ) -> Ruling<Event> {
        let instruction = instruction.filter(|text| !text.trim().is_empty());
        check::synthesis(model.as_ref(), instruction.as_deref())?;
        if self.answered().is_empty() {
            return Err(self.not_now("No advisor has answered yet."));
        }
        if !self.has_room() {
            return Err(self.not_now(FULL));
        }
        Ok(vec![self.begin_synthesis(model, instruction, moment)])
    }

    fn begin_synthesis(
        &self,
        model: Option<ModelName>,
        instruction: Option<String>,
        moment: &Moment,
    ) -> Event {
        let first = self.synthesizers.first().cloned();
        Event::SynthesisBegan {
            number: self.syntheses.len() as u32 + 1,
            model: model.or(first).unwrap_or_else(|| ModelName(String::new())),
            instruction,
            basis: self.answered(),
            contributions: self.heard_otherwise(),
            absent: self.absent(),
            nonce: moment.nonce.clone(),
        }
    }

    fn retry(&self, seat: SeatId, model: Option<ModelName>) -> Ruling<Event> {
        let advisor = self.known(seat)?;
        check::model_field(model.as_ref())?;
        if self.stage == Stage::Synthesizing {
            return Err(self.not_now("The verdict is being written; stop it or wait for it."));
        }
        if self.stage == Stage::Balloting {
            return Err(self.not_now(ballot::VOTING));
        }
        // The same command sent again is refused: by then that model sits there.
        let takes_over =
            matches!((self.model_of(seat), &model), (Some(now), Some(next)) if now != *next);
        if advisor.is_asked() && !takes_over {
            return Err(self.not_now("This advisor is already being asked."));
        }
        if advisor.is_asked_out(self.round()) {
            return Err(self.not_now("This advisor has been asked the maximum number of times."));
        }
        // A synthesis will follow the answer.
        if !self.has_room() {
            return Err(self.not_now(FULL));
        }
        let halted = advisor.is_asked().then_some(Event::AdvisorHalted { seat });
        Ok(halted.into_iter().chain([Event::AdvisorRetried { seat, model }]).collect())
    }

    fn resume(&self, moment: &Moment) -> Ruling<Event> {
        if !matches!(self.stage, Stage::Stopped | Stage::Failed(_)) {
            return Err(self.not_now("The board has not been stopped."));
        }
        if let Some(resumed) = self.resumed_ballot(moment) {
            return Ok(vec![resumed]);
        }
        let missing: Vec<Event> = self
            .asked_now()
            .filter(|advisor| advisor.heard().is_empty())
            .filter(|advisor| advisor.can_be_asked_again(self.round()))
            .map(|advisor| Event::AdvisorRetried { seat: advisor.seat.id, model: None })
            .collect();
        if missing.is_empty() || !self.has_room() {
            return self.synthesize(None, None, moment);
        }
        Ok(missing)
    }

    fn pick(&self, seat: SeatId, asked: u32) -> Ruling<Event> {
        let advisor = self.known(seat)?;
        match self.stage {
            Stage::Synthesizing => {
                return Err(self.not_now("The verdict is being written; stop it or wait for it."));
            }
            Stage::Balloting => return Err(self.not_now(ballot::VOTING)),
            Stage::Answering(_) | Stage::Closed | Stage::Stopped | Stage::Failed(_) => {}
        }
        self.could_pick(advisor, asked)
            .map_err(|problem| Reject::Invalid(vec![Wrong::new("try", problem)]))?;
        Ok(vec![Event::AdvisorPicked { seat, asked }])
    }

    /// What was said to an earlier question stands as it was taken then.
    fn could_pick(&self, advisor: &Advisor, asked: u32) -> Result<(), String> {
        let done = advisor.of_round().filter(|(_, standing)| standing.done().is_some());
        let tries: Vec<u32> = done.map(|(id, _)| id.asked).collect();
        if advisor.round != self.round() {
            return Err("this advisor was not asked the last question".into());
        }
        match tries.as_slice() {
            [] => Err("this advisor has not answered".into()),
            [_] => Err("there is only one answer".into()),
            tries if tries.contains(&asked) => Ok(()),
            tries => {
                let tries: Vec<String> = tries.iter().map(u32::to_string).collect();
                Err(format!("there is no such answer; available: {}", tries.join(", ")))
            }
        }
    }

    fn reply(&self, seat: SeatId, text: String, moment: &Moment) -> Ruling<Event> {
        let advisor = self.known(seat)?;
        check::reply(&text)?;
        match (&advisor.seat.sitter, &self.stage) {
            (Sitter::Model(_), _) => Err(self.not_now("This seat is a model's, not a person's.")),
            (Sitter::Person { .. }, Stage::Answering(_)) if advisor.standing.is_asked() => {
                let answer = Answer::by_person(text);
                let event = Event::AdvisorAnswered { seat, asked: None, answer };
                Ok(self.with_what_follows(event, moment))
            }
            (Sitter::Person { .. }, _) => {
                Err(self.not_now("This seat has not been asked for a reply."))
            }
        }
    }

    fn known(&self, seat: SeatId) -> Result<&Advisor, Reject> {
        self.advisor(seat).ok_or_else(|| {
            let seats = self.advisors.len();
            Reject::Unknown(format!(
                "This board has no advisor {}; its advisors are numbered 1 to {seats}.",
                seat.0
            ))
        })
    }

    /// The event, and what follows from it without anybody's doing.
    fn with_what_follows(&self, event: Event, moment: &Moment) -> Vec<Event> {
        let mut after = self.clone();
        after.take(&event, moment.at);
        let Stage::Answering(wait) = &after.stage else { return vec![event] };
        let answered = after.answered().len();
        let follow = match wait {
            _ if !after.is_awaited() && answered == 0 => {
                vec![Event::Failed { reason: "No advisor answered.".into() }]
            }
            _ if !after.is_awaited() => after.conclude(moment),
            Wait::Quorum(quorum) if answered >= quorum.need => {
                vec![Event::QuorumReached { until: later(moment.at, quorum.grace_ms) }]
            }
            Wait::Quorum(_) | Wait::All | Wait::Grace(_) => vec![],
        };
        [event].into_iter().chain(follow).collect()
    }
}

fn advisor_due(advisor: &Advisor) -> Vec<Call> {
    let asked = advisor.current().filter(|(_, standing)| standing.is_asked());
    let work = |(id, _): (ContributionId, &Standing)| match &advisor.seat.sitter {
        Sitter::Model(_) => Some(Call { id: id.call(), work: Work::Ask }),
        Sitter::Person { reply_by, .. } => {
            reply_by.map(|until| Call { id: deadline_call(advisor), work: Work::Sleep { until } })
        }
    };
    asked.filter_map(work).collect()
}
