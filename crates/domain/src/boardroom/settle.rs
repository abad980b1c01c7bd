//! Calls of a board: their ids, and what becomes of their outcomes.

use super::verdict::{self, Headings};
use super::{Advisor, Event, SeatId, Sitter, Standing, State, Synthesis, SynthesisStanding};
use crate::call::{Failure, FailureKind, Outcome};
use crate::form::{Form, Moment};
use crate::ids::{CallId, ModelName};
use crate::limits;
use crate::reject::Reject;

/// Whose call it is, read from its id. Which try it was, only the whole id says.
pub enum Called {
    Advisor(SeatId),
    Deadline(SeatId),
    Synthesis(u32),
    /// The votes of an advisor on a synthesis, and the time for a person's.
    Ballot(u32, SeatId),
    BallotDeadline(u32, SeatId),
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
    let (number, _) = rest.split_once('#')?;
    let on_synthesis = || {
        let (synthesis, seat) = number.split_once('/')?;
        Some((synthesis.parse().ok()?, SeatId(seat.parse().ok()?)))
    };
    match name {
        "advisor" => Some(Called::Advisor(SeatId(number.parse().ok()?))),
        "deadline" => Some(Called::Deadline(SeatId(number.parse().ok()?))),
        "synthesis" => Some(Called::Synthesis(number.parse().ok()?)),
        "ballot" => on_synthesis().map(|(synthesis, seat)| Called::Ballot(synthesis, seat)),
        "ballot-deadline" => {
            on_synthesis().map(|(synthesis, seat)| Called::BallotDeadline(synthesis, seat))
        }
        _ => None,
    }
}

impl State {
    pub(super) fn ended(
        &self,
        call: &CallId,
        outcome: Outcome,
        moment: &Moment,
    ) -> Result<Vec<Event>, Reject> {
        let outcome = heard(outcome);
        match called(call).ok_or(Reject::Stale)? {
            Called::Advisor(seat) => {
                let model = |advisor: &&Advisor| matches!(advisor.seat.sitter, Sitter::Model(_));
                let advisor = self.advisor(seat).filter(model);
                let advisor = advisor.filter(|advisor| advisor.call_id() == *call);
                self.settle_advisor(advisor.ok_or(Reject::Stale)?, outcome, moment)
            }
            Called::Deadline(_) | Called::BallotDeadline(..) | Called::Grace
                if outcome != Outcome::Elapsed =>
            {
                Err(Reject::Stale)
            }
            Called::Ballot(number, seat) => self.settle_ballot(call, (number, seat), outcome),
            Called::BallotDeadline(number, seat) => {
                self.stands_due(call)?;
                Ok(vec![State::ballot_late(number, seat)])
            }
            Called::Deadline(seat) => {
                self.stands_due(call)?;
                let failure = Failure {
                    kind: FailureKind::TimedOut,
                    message: "No reply came in time.".into(),
                    attempts: 1,
                };
                let event = Event::AdvisorFailed { seat, failure, partial: String::new() };
                Ok(self.with_follow_up(event, moment))
            }
            Called::Synthesis(number) => {
                let synthesis = self.synthesis(number).filter(|s| s.call_id() == *call);
                self.settle_synthesis(synthesis.ok_or(Reject::Stale)?, outcome, moment)
            }
            Called::Grace => {
                self.stands_due(call)?;
                Ok(vec![self.begin_synthesis(None, None, moment)])
            }
        }
    }

    fn stands_due(&self, call: &CallId) -> Result<(), Reject> {
        let is_due = self.due().iter().any(|due| due.id == *call);
        if is_due { Ok(()) } else { Err(Reject::Stale) }
    }

    fn settle_advisor(
        &self,
        advisor: &Advisor,
        outcome: Outcome,
        moment: &Moment,
    ) -> Result<Vec<Event>, Reject> {
        let seat = advisor.seat.id;
        match (&advisor.standing, outcome) {
            (Standing::Asked, Outcome::Answered(answer)) => {
                Ok(self.with_follow_up(Event::AdvisorAnswered { seat, answer }, moment))
            }
            (Standing::Asked, Outcome::Failed { failure, partial }) => {
                let event = Event::AdvisorFailed { seat, failure, partial };
                Ok(self.with_follow_up(event, moment))
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
        moment: &Moment,
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
                        nonce: moment.nonce.clone(),
                    }]),
                    (Headings::Missing, None) | (Headings::AsAsked | Headings::Repaired, _) => {
                        let ballot = self.after_synthesis(synthesis, &verdict, moment);
                        let synthesized = Event::Synthesized { number, verdict, answer };
                        Ok([synthesized].into_iter().chain(ballot).collect())
                    }
                }
            }
            (SynthesisStanding::Asked, Outcome::Failed { failure, partial }) => {
                let next = self.next_synthesizer(synthesis, false);
                Ok(vec![Event::SynthesisFailed {
                    number,
                    failure,
                    partial,
                    next,
                    nonce: moment.nonce.clone(),
                }])
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
        if synthesis.tries >= limits::SYNTHESIS_TRIES {
            return None;
        }
        let fresh = self.synthesizers.iter().find(|model| !tried(model)).cloned();
        fresh.or_else(|| (same_again && synthesis.tries == 1).then(|| synthesis.model.clone()))
    }
}

/// An answer without a word is a failure, whatever the provider calls it.
fn heard(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Answered(answer) if answer.text.trim().is_empty() => Outcome::Failed {
            failure: Failure {
                kind: FailureKind::Empty,
                message: "The model ended without a word.".into(),
                attempts: answer.attempts,
            },
            partial: String::new(),
        },
        Outcome::Answered(_)
        | Outcome::Failed { .. }
        | Outcome::Stopped { .. }
        | Outcome::Elapsed => outcome,
    }
}

pub fn text_of(outcome: Outcome) -> String {
    match outcome {
        Outcome::Answered(answer) => answer.text,
        Outcome::Failed { partial, .. } | Outcome::Stopped { partial } => partial,
        Outcome::Elapsed => String::new(),
    }
}
