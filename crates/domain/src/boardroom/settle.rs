//! Calls of a board: their ids, and what becomes of their outcomes.

use jiff::Timestamp;

use super::verdict::{self, Headings};
use super::{Advisor, Event, SeatId, Stage, Standing, State, Synthesis, SynthesisStanding, Wait};
use crate::call::{Failure, FailureKind, Outcome};
use crate::ids::{CallId, ModelName, Nonce};
use crate::reject::Reject;

/// A call of this form, read from its id.
pub enum Called {
    Advisor { seat: SeatId, asked: u32 },
    Deadline { seat: SeatId, asked: u32 },
    Synthesis { number: u32, tries: u32 },
    Grace,
}

impl Advisor {
    /// The call that brings this advisor's answer.
    pub fn call_id(&self) -> CallId {
        CallId(format!("advisor/{}#{}", self.seat.id.0, self.asked))
    }
}

pub fn deadline_call(advisor: &Advisor) -> CallId {
    CallId(format!("deadline/{}#{}", advisor.seat.id.0, advisor.asked))
}

impl Synthesis {
    /// The call that brings this synthesis.
    pub fn call_id(&self) -> CallId {
        CallId(format!("synthesis/{}#{}", self.number, self.tries))
    }
}

pub fn grace_call() -> CallId {
    CallId("grace".into())
}

pub fn called(id: &CallId) -> Option<Called> {
    if *id == grace_call() {
        return Some(Called::Grace);
    }
    let (name, rest) = id.0.split_once('/')?;
    let (first, second) = rest.split_once('#')?;
    let second = second.parse().ok()?;
    match name {
        "advisor" => Some(Called::Advisor { seat: SeatId(first.parse().ok()?), asked: second }),
        "deadline" => Some(Called::Deadline { seat: SeatId(first.parse().ok()?), asked: second }),
        "synthesis" => Some(Called::Synthesis { number: first.parse().ok()?, tries: second }),
        _ => None,
    }
}

impl State {
    pub(super) fn settle(
        &self,
        call: &CallId,
        outcome: Outcome,
        at: Timestamp,
        nonce: Nonce,
    ) -> Result<Vec<Event>, Reject> {
        match called(call).ok_or(Reject::Stale)? {
            Called::Advisor { seat, asked } => {
                let advisor = self.advisor(seat).filter(|advisor| advisor.asked == asked);
                self.settle_advisor(advisor.ok_or(Reject::Stale)?, outcome, at, nonce)
            }
            Called::Deadline { seat, asked } => {
                let awaited = |advisor: &&Advisor| {
                    advisor.asked == asked && advisor.standing == Standing::Asked
                };
                self.advisor(seat).filter(awaited).ok_or(Reject::Stale)?;
                let failure = Failure {
                    kind: FailureKind::TimedOut,
                    message: "No reply came in time.".into(),
                    attempts: 1,
                };
                let event = Event::AdvisorFailed { seat, failure, partial: String::new() };
                Ok(self.with_follow_up(event, at, nonce))
            }
            Called::Synthesis { number, tries } => {
                let current = self.syntheses.last();
                let current = current.filter(|s| s.number == number && s.tries == tries);
                self.settle_synthesis(current.ok_or(Reject::Stale)?, outcome, nonce)
            }
            Called::Grace => match &self.stage {
                Stage::Answering(Wait::Grace(_)) => {
                    Ok(vec![self.begin_synthesis(None, None, nonce)])
                }
                Stage::Answering(Wait::All | Wait::Quorum(_))
                | Stage::Synthesizing
                | Stage::Closed
                | Stage::Stopped
                | Stage::Failed(_) => Err(Reject::Stale),
            },
        }
    }

    fn settle_advisor(
        &self,
        advisor: &Advisor,
        outcome: Outcome,
        at: Timestamp,
        nonce: Nonce,
    ) -> Result<Vec<Event>, Reject> {
        let seat = advisor.seat.id;
        match (&advisor.standing, outcome) {
            (Standing::Asked, Outcome::Answered(answer)) => {
                Ok(self.with_follow_up(Event::AdvisorAnswered { seat, answer }, at, nonce))
            }
            (Standing::Asked, Outcome::Failed { failure, partial }) => {
                let event = Event::AdvisorFailed { seat, failure, partial };
                Ok(self.with_follow_up(event, at, nonce))
            }
            (Standing::Stopped { partial: None, .. }, outcome) => {
                Ok(vec![Event::AdvisorStopped { seat, partial: text_of(outcome) }])
            }
            (Standing::Asked, Outcome::Stopped { .. } | Outcome::Elapsed)
            | (Standing::Stopped { partial: Some(_), .. }, _)
            | (Standing::Done(_) | Standing::Failed { .. }, _) => Err(Reject::Stale),
        }
    }

    fn settle_synthesis(
        &self,
        synthesis: &Synthesis,
        outcome: Outcome,
        nonce: Nonce,
    ) -> Result<Vec<Event>, Reject> {
        let number = synthesis.number;
        match (&synthesis.standing, outcome) {
            (SynthesisStanding::Asked, Outcome::Answered(answer)) => {
                let verdict = verdict::read(&answer.text);
                let again = self.next_synthesizer(synthesis, verdict.headings == Headings::Missing);
                match (verdict.headings, again) {
                    (Headings::Missing, Some(next)) => Ok(vec![Event::SynthesisFailed {
                        number,
                        failure: Failure {
                            kind: FailureKind::Malformed,
                            message: "The synthesis did not keep to the four headings.".into(),
                            attempts: answer.attempts,
                        },
                        partial: answer.text,
                        next: Some(next),
                        nonce,
                    }]),
                    (Headings::Missing, None) | (Headings::AsAsked | Headings::Repaired, _) => {
                        Ok(vec![Event::Synthesized { number, verdict, answer }])
                    }
                }
            }
            (SynthesisStanding::Asked, Outcome::Failed { failure, partial }) => {
                let next = self.next_synthesizer(synthesis, false);
                Ok(vec![Event::SynthesisFailed { number, failure, partial, next, nonce }])
            }
            (SynthesisStanding::Stopped { partial: None }, outcome) => {
                Ok(vec![Event::SynthesisStopped { number, partial: text_of(outcome) }])
            }
            (SynthesisStanding::Asked, Outcome::Stopped { .. } | Outcome::Elapsed)
            | (SynthesisStanding::Stopped { partial: Some(_) }, _)
            | (SynthesisStanding::Done { .. } | SynthesisStanding::Failed { .. }, _) => {
                Err(Reject::Stale)
            }
        }
    }

    /// The next model that has not been tried; `same_again` gives a lone model
    /// that merely missed the form a second chance.
    fn next_synthesizer(&self, synthesis: &Synthesis, same_again: bool) -> Option<ModelName> {
        let tried = |model: &&ModelName| {
            **model == synthesis.model || synthesis.failed.iter().any(|f| f.model == **model)
        };
        let fresh = self.synthesizers.iter().find(|model| !tried(model)).cloned();
        fresh.or_else(|| (same_again && synthesis.tries == 1).then(|| synthesis.model.clone()))
    }
}

fn text_of(outcome: Outcome) -> String {
    match outcome {
        Outcome::Answered(answer) => answer.text,
        Outcome::Failed { partial, .. } | Outcome::Stopped { partial } => partial,
        Outcome::Elapsed => String::new(),
    }
}
