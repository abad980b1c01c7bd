//! Calls of a board: their ids, and what becomes of their outcomes.

use super::verdict::{self, Headings};
use super::{Advisor, Event, SeatId, Sitter, State, Synthesis};
use crate::call::{Failed, FailureKind, Heard, Outcome};
use crate::form::{Form, Moment, Ruling};
use crate::ids::{CallId, ModelName};
use crate::limits;
use crate::reject::Reject;
use crate::spoken;

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
        CallId::new("advisor").of(self.seat.id.0).nth(self.asked)
    }

    pub(super) fn is_person(&self) -> bool {
        matches!(self.seat.sitter, Sitter::Person { .. })
    }
}

pub fn deadline_call(advisor: &Advisor) -> CallId {
    CallId::new("deadline").of(advisor.seat.id.0).nth(advisor.asked)
}

impl Synthesis {
    /// The call that brings this synthesis.
    pub fn call_id(&self) -> CallId {
        CallId::new("synthesis").of(self.number).nth(self.tries)
    }

    fn failed(&self, failed: Failed, next: Option<ModelName>, moment: &Moment) -> Event {
        let Failed { failure, partial } = failed;
        let (number, nonce) = (self.number, moment.nonce.clone());
        Event::SynthesisFailed { number, failure, partial, next, nonce }
    }
}

pub fn grace_call() -> CallId {
    CallId::new("grace")
}

pub fn called(id: &CallId) -> Option<Called> {
    let seat = |text: &str| text.parse().ok().map(SeatId);
    let number = |text: &str| text.parse().ok();
    let (what, of) = id.read();
    Some(match (what, of.as_slice()) {
        ("grace", []) => Called::Grace,
        ("advisor", [of]) => Called::Advisor(seat(of)?),
        ("deadline", [of]) => Called::Deadline(seat(of)?),
        ("synthesis", [of]) => Called::Synthesis(number(of)?),
        ("ballot", [on, of]) => Called::Ballot(number(on)?, seat(of)?),
        ("ballot-deadline", [on, of]) => Called::BallotDeadline(number(on)?, seat(of)?),
        _ => return None,
    })
}

impl State {
    pub(super) fn ended(&self, call: &CallId, outcome: Outcome, moment: &Moment) -> Ruling<Event> {
        if self.overtaken.contains_key(call) {
            let (partial, usage) = outcome.handed_back();
            return Ok(vec![Event::Overtaken { call: call.clone(), partial, usage }]);
        }
        match called(call).ok_or(Reject::Stale)? {
            Called::Advisor(seat) => {
                let own = |a: &&Advisor| !a.is_person() && a.call_id() == *call;
                let advisor = self.advisor(seat).filter(own);
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
                let late = Failed::late("No votes came in time.");
                Ok(vec![State::ballot_failed(number, seat, late)])
            }
            Called::Deadline(seat) => {
                self.stands_due(call)?;
                let Failed { failure, partial } = Failed::late("No reply came in time.");
                let event = Event::AdvisorFailed { seat, failure, partial };
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
    ) -> Ruling<Event> {
        let seat = advisor.seat.id;
        let event = match advisor.standing.hear(spoken::own(outcome.as_prose(), &self.nonce))? {
            Heard::Answered(answer) => Event::AdvisorAnswered { seat, answer },
            Heard::Failed(Failed { failure, partial }) => {
                Event::AdvisorFailed { seat, failure, partial }
            }
            Heard::HandedBack(partial, usage) => {
                return Ok(vec![Event::AdvisorStopped { seat, partial, usage }]);
            }
        };
        Ok(self.with_follow_up(event, moment))
    }

    fn settle_synthesis(
        &self,
        synthesis: &Synthesis,
        outcome: Outcome,
        moment: &Moment,
    ) -> Ruling<Event> {
        let number = synthesis.number;
        let answer = match synthesis.standing.hear(spoken::own(outcome.as_prose(), &self.nonce))? {
            Heard::Answered(answer) => answer,
            Heard::Failed(failed) => {
                let next = self.next_synthesizer(synthesis, false);
                return Ok(vec![synthesis.failed(failed, next, moment)]);
            }
            Heard::HandedBack(partial, usage) => {
                return Ok(vec![Event::SynthesisStopped { number, partial, usage }]);
            }
        };
        let verdict = verdict::read(&answer.text);
        let is_missing = verdict.headings == Headings::Missing;
        if let Some(next) = self.next_synthesizer(synthesis, true).filter(|_| is_missing) {
            let message = "The synthesis did not keep to the four headings.";
            let failed = Failed::of(answer, FailureKind::Malformed, message);
            return Ok(vec![synthesis.failed(failed, Some(next), moment)]);
        }
        let ballot = self.after_synthesis(synthesis, &verdict, moment);
        let synthesized = Event::Synthesized { number, verdict, answer };
        Ok([synthesized].into_iter().chain(ballot).collect())
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
