//! One prompt, N advisors in parallel, each from a role; then a synthesis.
//!
//! Stages: answering → synthesizing → balloting, where a board has the ballot → closed.
//! A peer review will stand between the first two, as a further stage.

mod apply;
pub mod ballot;
mod check;
mod estimate;
mod event;
mod import;
mod markdown;
pub mod preset;
mod prompt;
mod report;
mod role;
mod settle;
#[cfg(test)]
mod tests;
mod verdict;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub use crate::quote::ContextFile;
pub use ballot::{Ballot, Choice, Point, Section, Vote, Voter};
pub use estimate::foresee;
pub use event::Event;
pub use markdown::markdown;
pub use role::Role;
pub use verdict::{HEADINGS, Headings, Verdict};

pub use crate::call::Stopping;
use crate::call::{Answer, Ask, Call, Failure, Life, Outcome, Work};
use settle::{Called, called, deadline_call, grace_call};

use crate::form::{Form, Moment, Report, Ruling};
use crate::ids::{CallId, ModelName, Nonce, SessionId};
use crate::ledger::Ledger;
use crate::limits;
use crate::reject::Reject;

// ---------------------------------------------------------------------------
// State

#[derive(Clone, PartialEq, Debug)]
pub struct State {
    pub title: String,
    pub prompt: Arc<str>,
    pub context: Arc<[ContextFile]>,
    pub advisors: Vec<Advisor>,
    /// Who may synthesize: the chosen model, then those that take over.
    pub synthesizers: Vec<ModelName>,
    pub quorum: Option<Quorum>,
    /// Whether the advisors vote on the points of each synthesis.
    pub ballot: bool,
    pub stage: Stage,
    /// Numbered from 1; the last one is the current one.
    pub syntheses: Vec<Synthesis>,
    pub convened_at: Timestamp,
    /// Held elsewhere, and taken over from a record.
    pub imported: Option<Imported>,
    pub ledger: Ledger,
    /// Stopped calls that were asked for again before they could hand back what they
    /// had, by the models that they ask.
    overtaken: BTreeMap<CallId, ModelName>,
    /// The code around quotations.
    nonce: Nonce,
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
    pub role: Role,
    pub sitter: Sitter,
    /// Replaces the role's system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
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

#[derive(Clone, PartialEq, Debug)]
pub struct Advisor {
    pub seat: Seat,
    /// How often this advisor was asked by hand, from 1.
    pub asked: u32,
    pub standing: Standing,
    /// The last time that it was asked. A record from elsewhere has no times.
    pub span: Option<Span>,
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
    /// Which try this is; each failure begins a new one, with the next model.
    pub tries: u32,
    pub model: ModelName,
    pub instruction: Option<String>,
    pub basis: Vec<SeatId>,
    pub absent: Vec<Absent>,
    /// Models that were tried before this one.
    pub failed: Vec<FailedTry>,
    pub standing: SynthesisStanding,
    pub span: Option<Span>,
    /// The votes on it; none before it is done, nor on a board without a ballot.
    pub ballot: Option<Ballot>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct FailedTry {
    pub model: ModelName,
    pub failure: Failure,
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

#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    Convene(Convene),
    /// Takes over the record of a board that was held elsewhere.
    Import {
        from: Option<SessionId>,
        events: Vec<Event>,
    },
    /// Stops one advisor; the others go on, and the synthesis does without it.
    StopAdvisor {
        seat: SeatId,
    },
    /// Begins the synthesis now, with the answers that are there.
    Synthesize {
        model: Option<ModelName>,
        instruction: Option<String>,
    },
    /// Adds a synthesis to a board that is at rest.
    Resynthesize {
        model: Option<ModelName>,
        instruction: Option<String>,
    },
    /// Asks one advisor again.
    Retry {
        seat: SeatId,
        model: Option<ModelName>,
    },
    /// Goes on with a ballot that was stopped; else asks every advisor again that has
    /// no answer, then goes on.
    Resume,
    /// A person's own answer.
    Reply {
        seat: SeatId,
        text: String,
    },
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
                | Command::Resume
                | Command::Reply { .. }
                | Command::CastBallot { .. } => {
                    Err(Reject::Unknown("There is no such board.".into()))
                }
            };
        };
        match command {
            Command::Convene(_) | Command::Import { .. } => {
                Err(state.not_now("This board has been convened already."))
            }
            Command::StopAdvisor { seat } => state.stop_advisor(seat, moment),
            Command::Synthesize { model, instruction } => match state.stage {
                Stage::Synthesizing => Err(state.not_now("A synthesis is being written already.")),
                Stage::Balloting => Err(state.not_now(ballot::VOTING)),
                Stage::Closed => Err(state.not_now(
                    "The synthesis is there already; ask for another one with `resynthesize`.",
                )),
                Stage::Answering(_) | Stage::Stopped | Stage::Failed(_) => {
                    state.synthesize(model, instruction, moment)
                }
            },
            Command::Resynthesize { model, instruction } => match state.stage {
                Stage::Synthesizing => Err(state.not_now("A synthesis is being written already.")),
                Stage::Balloting => Err(state.not_now(ballot::VOTING)),
                Stage::Answering(_) => Err(state.not_now("The advisors are still answering.")),
                Stage::Closed | Stage::Stopped | Stage::Failed(_) => {
                    state.synthesize(model, instruction, moment)
                }
            },
            Command::Retry { seat, model } => state.retry(seat, model),
            Command::Resume => state.resume(moment),
            Command::Reply { seat, text } => state.reply(seat, text, moment),
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
                let mut calls: Vec<Call> = self.advisors.iter().filter_map(advisor_due).collect();
                if let Wait::Grace(until) = wait {
                    calls.push(Call { id: grace_call(), work: Work::Sleep { until: *until } });
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
                prompt::ballot(self, synthesis.held()?, self.advisor(seat)?)
            }
            Called::Deadline(_) | Called::BallotDeadline(..) | Called::Grace => None,
        }
    }

    fn searchable(&self, event: &Event) -> String {
        event.searchable()
    }
}

const FULL: &str = "This board has as many syntheses as it can keep.";

/// Saturates: a record from elsewhere may say any time.
fn later(at: Timestamp, ms: u64) -> Timestamp {
    let ms = i64::try_from(ms).unwrap_or(i64::MAX);
    at.checked_add(SignedDuration::from_millis(ms)).unwrap_or(Timestamp::MAX)
}

impl Advisor {
    fn can_be_asked_again(&self) -> bool {
        !self.standing.is_asked() && self.asked <= limits::RETRIES_BY_HAND
    }
}

impl State {
    /// What can be done with the board now, by the names of the interface.
    pub fn allowed(&self) -> Vec<&'static str> {
        let synthesizable = !self.answered().is_empty() && self.has_room();
        let retriable = self.advisors.iter().any(Advisor::can_be_asked_again) && self.has_room();
        let missing = |advisor: &Advisor| advisor.standing.done().is_none();
        let resumable = self.can_resume_ballot()
            || synthesizable
            || retriable && self.advisors.iter().any(|a| missing(a) && a.can_be_asked_again());
        let awaited = |advisor: &Advisor| {
            matches!(advisor.seat.sitter, Sitter::Person { .. }) && advisor.standing.is_asked()
        };
        let candidates = match self.stage {
            Stage::Answering(_) => vec![
                ("stop", true),
                ("synthesize", synthesizable),
                ("retry", retriable),
                ("reply", self.advisors.iter().any(awaited)),
            ],
            Stage::Synthesizing => vec![("stop", true)],
            Stage::Balloting => {
                vec![("stop", true), ("ballot", !self.awaited_voters().is_empty())]
            }
            Stage::Closed => vec![("resynthesize", synthesizable), ("retry", retriable)],
            Stage::Stopped | Stage::Failed(_) => vec![
                ("resume", resumable),
                ("synthesize", synthesizable),
                ("resynthesize", synthesizable),
                ("retry", retriable),
            ],
        };
        let possible = candidates.into_iter().filter_map(|(name, is)| is.then_some(name));
        possible.chain(["export"]).collect()
    }

    pub fn advisor(&self, seat: SeatId) -> Option<&Advisor> {
        self.advisors.iter().find(|advisor| advisor.seat.id == seat)
    }

    fn synthesis(&self, number: u32) -> Option<&Synthesis> {
        self.syntheses.iter().find(|synthesis| synthesis.number == number)
    }

    /// An advisor's name on this board: the role, numbered where two share it.
    pub fn label(&self, seat: SeatId) -> String {
        let Some(advisor) = self.advisor(seat) else { return String::new() };
        let role = advisor.seat.role;
        let same: Vec<SeatId> = self
            .advisors
            .iter()
            .filter(|other| other.seat.role == role)
            .map(|other| other.seat.id)
            .collect();
        match same.iter().position(|id| *id == seat) {
            Some(place) if same.len() > 1 => format!("{} {}", role.name(), place + 1),
            _ => role.name().to_owned(),
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
        self.advisors
            .iter()
            .filter(|advisor| advisor.standing.done().is_some())
            .map(|advisor| advisor.seat.id)
            .collect()
    }

    fn has_room(&self) -> bool {
        self.syntheses.len() < limits::SYNTHESES
    }

    fn is_awaited(&self) -> bool {
        self.advisors.iter().any(|advisor| advisor.standing.is_asked())
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
        self.advisors
            .iter()
            .filter_map(|advisor| Some(Absent { seat: advisor.seat.id, why: why(advisor)? }))
            .collect()
    }

    fn stop_advisor(&self, seat: SeatId, moment: &Moment) -> Ruling<Event> {
        match self.known(seat)?.standing {
            Standing::Asked => Ok(self.with_follow_up(Event::AdvisorHalted { seat }, moment)),
            Standing::Done(_) => Err(self.not_now("This advisor has answered already.")),
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
            absent: self.absent(),
            nonce: moment.nonce.clone(),
        }
    }

    fn retry(&self, seat: SeatId, model: Option<ModelName>) -> Ruling<Event> {
        let advisor = self.known(seat)?;
        check::model_field(model.as_ref())?;
        if self.stage == Stage::Synthesizing {
            return Err(self.not_now("The synthesis is being written; stop it or wait for it."));
        }
        if self.stage == Stage::Balloting {
            return Err(self.not_now(ballot::VOTING));
        }
        if advisor.standing.is_asked() {
            return Err(self.not_now("This advisor is being asked already."));
        }
        if !advisor.can_be_asked_again() {
            return Err(self.not_now("This advisor has been asked too often."));
        }
        // A synthesis will follow the answer.
        if !self.has_room() {
            return Err(self.not_now(FULL));
        }
        Ok(vec![Event::AdvisorRetried { seat, model }])
    }

    fn resume(&self, moment: &Moment) -> Ruling<Event> {
        if !matches!(self.stage, Stage::Stopped | Stage::Failed(_)) {
            return Err(self.not_now("The board has not been stopped."));
        }
        if let Some(resumed) = self.resumed_ballot(moment) {
            return Ok(vec![resumed]);
        }
        let missing: Vec<Event> = self
            .advisors
            .iter()
            .filter(|advisor| advisor.standing.done().is_none())
            .filter(|advisor| advisor.can_be_asked_again())
            .map(|advisor| Event::AdvisorRetried { seat: advisor.seat.id, model: None })
            .collect();
        if missing.is_empty() || !self.has_room() {
            return self.synthesize(None, None, moment);
        }
        Ok(missing)
    }

    fn reply(&self, seat: SeatId, text: String, moment: &Moment) -> Ruling<Event> {
        let advisor = self.known(seat)?;
        check::reply(&text)?;
        match (&advisor.seat.sitter, &self.stage) {
            (Sitter::Model(_), _) => Err(self.not_now("A model sits there, not a person.")),
            (Sitter::Person { .. }, Stage::Answering(_)) if advisor.standing.is_asked() => {
                let answer = Answer::by_person(text);
                Ok(self.with_follow_up(Event::AdvisorAnswered { seat, answer }, moment))
            }
            (Sitter::Person { .. }, _) => Err(self.not_now("No reply is awaited from this seat.")),
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
    fn with_follow_up(&self, event: Event, moment: &Moment) -> Vec<Event> {
        let mut after = self.clone();
        after.take(&event, moment.at);
        let Stage::Answering(wait) = &after.stage else { return vec![event] };
        let answered = after.answered().len();
        let follow = match wait {
            _ if !after.is_awaited() && answered == 0 => {
                Some(Event::Failed { reason: "No advisor answered.".into() })
            }
            _ if !after.is_awaited() => Some(after.begin_synthesis(None, None, moment)),
            Wait::Quorum(quorum) if answered >= quorum.need => {
                Some(Event::QuorumReached { until: later(moment.at, quorum.grace_ms) })
            }
            Wait::Quorum(_) | Wait::All | Wait::Grace(_) => None,
        };
        [event].into_iter().chain(follow).collect()
    }
}

fn advisor_due(advisor: &Advisor) -> Option<Call> {
    if !advisor.standing.is_asked() {
        return None;
    }
    match &advisor.seat.sitter {
        Sitter::Model(_) => Some(Call { id: advisor.call_id(), work: Work::Ask }),
        Sitter::Person { reply_by, .. } => {
            reply_by.map(|until| Call { id: deadline_call(advisor), work: Work::Sleep { until } })
        }
    }
}
