//! Calls of a board: their ids, and what becomes of their outcomes.

use super::verdict::{self, Headings, Verdict};
use super::{
    Advisor, ContributionId, Event, FailedTry, SeatId, Sitter, Standing, State, Synthesis,
};
use crate::call::{Answer, Failed, FailureKind, Heard, Outcome};
use crate::form::{Form, Moment, Ruling};
use crate::ids::{CallId, ModelName};
use crate::limits;
use crate::reject::Reject;
use crate::spoken;

const UNSHAPED: &str = "The verdict did not follow the four sections.";

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
        self.contribution().call()
    }

    pub(super) fn is_person(&self) -> bool {
        matches!(self.seat.sitter, Sitter::Person { .. })
    }
}

impl ContributionId {
    /// Logs of boards without a follow-up name no round.
    fn named(&self, what: &str) -> CallId {
        let seat = CallId::new(what).of(self.seat.0);
        let call = if self.round == 1 { seat } else { seat.of(self.round) };
        call.nth(self.asked)
    }

    /// The call that brings, or brought, it.
    pub fn call(&self) -> CallId {
        self.named("advisor")
    }
}

pub fn deadline_call(advisor: &Advisor) -> CallId {
    advisor.contribution().named("deadline")
}

impl Synthesis {
    /// The call that brings this synthesis.
    pub fn call_id(&self) -> CallId {
        CallId::new("synthesis").of(self.number).nth(self.tries)
    }

    /// What its model wrote without the four headings, before it was asked for the shape.
    pub(super) fn unshaped(&self) -> Option<&FailedTry> {
        let own = |one: &&FailedTry| {
            one.model == self.model && one.failure.kind == FailureKind::Malformed
        };
        self.failed.last().filter(own)
    }

    /// A model is asked for the shape once; the record of that has to find room too.
    fn can_be_put_in_order(&self) -> bool {
        self.unshaped().is_none() && self.tries + 1 < limits::SYNTHESIS_TRIES
    }

    fn failed(&self, failed: Failed, next: Option<ModelName>, moment: &Moment) -> Event {
        let Failed { failure, partial } = failed;
        let (number, nonce) = (self.number, moment.nonce.clone());
        Event::SynthesisFailed { number, failure, partial, next, nonce }
    }
}

/// Each round has its own.
pub fn grace_call(round: u32) -> CallId {
    let grace = CallId::new("grace");
    if round == 1 { grace } else { grace.of(round) }
}

pub fn called(id: &CallId) -> Option<Called> {
    let seat = |text: &str| text.parse().ok().map(SeatId);
    let number = |text: &str| text.parse().ok();
    let (what, of) = id.read();
    Some(match (what, of.as_slice()) {
        ("grace", [] | [_]) => Called::Grace,
        ("advisor", [of] | [of, _]) => Called::Advisor(seat(of)?),
        ("deadline", [of] | [of, _]) => Called::Deadline(seat(of)?),
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
                let advisor = self.advisor(seat).filter(|advisor| !advisor.is_person());
                let advisor = advisor.ok_or(Reject::Stale)?;
                let own = advisor.current().find(|(id, _)| id.call() == *call);
                self.settle_advisor(advisor, own.ok_or(Reject::Stale)?, outcome, moment)
            }
            Called::Deadline(_) | Called::BallotDeadline(..) | Called::Grace
                if outcome != Outcome::Elapsed =>
            {
                Err(Reject::Stale)
            }
            Called::Ballot(number, seat) => self.settle_ballot(call, (number, seat), outcome),
            Called::BallotDeadline(number, seat) => {
                self.stands_due(call)?;
                let late = Failed::late("No votes arrived in time.");
                Ok(vec![State::ballot_failed(number, seat, late)])
            }
            Called::Deadline(seat) => {
                self.stands_due(call)?;
                let Failed { failure, partial } = Failed::late("No reply arrived in time.");
                let event = Event::AdvisorFailed { seat, asked: None, failure, partial };
                Ok(self.with_what_follows(event, moment))
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
        (id, standing): (ContributionId, &Standing),
        outcome: Outcome,
        moment: &Moment,
    ) -> Ruling<Event> {
        let seat = advisor.seat.id;
        let asked = Some(id.asked).filter(|_| id != advisor.contribution());
        let brief = self.brief(id.round);
        let event = match standing.hear(spoken::own(outcome.as_prose(), &self.nonce))? {
            Heard::Answered(answer) => match brief.sole.then(|| brief.read(&answer)) {
                Some(Err(problem)) => {
                    let Failed { failure, partial } =
                        Failed::of(answer, FailureKind::Malformed, problem);
                    Event::AdvisorFailed { seat, asked, failure, partial }
                }
                Some(Ok(_)) | None => Event::AdvisorAnswered { seat, asked, answer },
            },
            Heard::Failed(Failed { failure, partial }) => {
                Event::AdvisorFailed { seat, asked, failure, partial }
            }
            Heard::HandedBack(partial, usage) => {
                return Ok(vec![Event::AdvisorStopped { seat, asked, partial, usage }]);
            }
        };
        Ok(self.with_what_follows(event, moment))
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
            Heard::Failed(failed) => return Ok(self.synthesis_broke(synthesis, failed, moment)),
            Heard::HandedBack(partial, usage) => {
                return Ok(vec![Event::SynthesisStopped { number, partial, usage }]);
            }
        };
        let brief = self.brief(synthesis.round);
        let (verdict, unshaped) = match brief.read(&answer) {
            Ok(verdict) if verdict.headings == Headings::Missing => {
                (Some(verdict), UNSHAPED.into())
            }
            Ok(verdict) => return Ok(self.synthesized(synthesis, verdict, answer, moment)),
            Err(problem) => (None, problem),
        };
        if synthesis.can_be_put_in_order() {
            let failed = Failed::of(answer, FailureKind::Malformed, unshaped);
            let same = synthesis.model.clone();
            return Ok(vec![synthesis.failed(failed, Some(same), moment)]);
        }
        match verdict {
            Some(verdict) => Ok(self.synthesized(synthesis, verdict, answer, moment)),
            // What does not follow the schema is of no use to whoever asked for it.
            None => {
                let failed = Failed::of(answer, FailureKind::Malformed, unshaped);
                Ok(vec![synthesis.failed(failed, self.next_synthesizer(synthesis), moment)])
            }
        }
    }

    /// What follows when everybody has answered: a synthesis, or on a board of one its
    /// answer as the verdict.
    pub(super) fn conclude(&self, moment: &Moment) -> Vec<Event> {
        let brief = self.brief(self.round());
        let mut began = self.begin_synthesis(None, None, moment);
        let answer = self.asked_now().find_map(|advisor| advisor.standing.done());
        let Some(answer) = answer.filter(|_| brief.sole) else { return vec![began] };
        let Ok(verdict) = brief.read(answer) else { return vec![began] };
        let number = self.syntheses.len() as u32 + 1;
        if let (Event::SynthesisBegan { model, .. }, Some(own)) =
            (&mut began, self.asked_now().find_map(|advisor| self.model_of(advisor.seat.id)))
        {
            *model = own;
        }
        // The words of the answer, whose spending is counted.
        let answer =
            Answer { attempts: 0, cut: answer.cut, ..Answer::by_person(answer.text.clone()) };
        vec![began, Event::Synthesized { number, verdict, answer }]
    }

    fn synthesized(
        &self,
        synthesis: &Synthesis,
        verdict: Verdict,
        answer: Answer,
        moment: &Moment,
    ) -> Vec<Event> {
        let ballot = self.after_synthesis(synthesis, &verdict, moment);
        let synthesized = Event::Synthesized { number: synthesis.number, verdict, answer };
        [synthesized].into_iter().chain(ballot).collect()
    }

    /// The next model takes over, unless this one has written and could only not put its
    /// words in order: they stand as they came.
    fn synthesis_broke(
        &self,
        synthesis: &Synthesis,
        failed: Failed,
        moment: &Moment,
    ) -> Vec<Event> {
        let is_free = self.brief(synthesis.round).schema.is_none();
        let Some(unshaped) = synthesis.unshaped().filter(|_| is_free) else {
            let next = self.next_synthesizer(synthesis);
            return vec![synthesis.failed(failed, next, moment)];
        };
        let (verdict, text) = (verdict::read(&unshaped.text), unshaped.text.clone());
        let answer = Answer { attempts: 0, ..Answer::by_person(text) };
        let broke = synthesis.failed(failed, Some(synthesis.model.clone()), moment);
        let taken = self.synthesized(synthesis, verdict, answer, moment);
        [broke].into_iter().chain(taken).collect()
    }

    /// The next model that has not been tried.
    fn next_synthesizer(&self, synthesis: &Synthesis) -> Option<ModelName> {
        let tried = |model: &&ModelName| {
            **model == synthesis.model || synthesis.failed.iter().any(|f| f.model == **model)
        };
        if synthesis.tries >= limits::SYNTHESIS_TRIES {
            return None;
        }
        self.synthesizers.iter().find(|model| !tried(model)).cloned()
    }
}
