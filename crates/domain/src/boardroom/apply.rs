//! What each event does to a board. Total: any event is taken in any state.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::ballot::{Cast, PaperStanding};
use super::{
    Advisor, Event, FailedTry, Imported, Seat, SeatId, Sitter, Span, Stage, Standing, State,
    Stopping, Synthesis, SynthesisStanding, Wait, Written,
};
use crate::call::Failure;
use crate::ids::{CallId, ModelName};
use crate::ledger::Ledger;

impl State {
    /// `written` is when the event was.
    pub(super) fn convened(event: &Event, written: Timestamp) -> Option<State> {
        let Event::Convened { prompt, context, seats, synthesizers, quorum, ballot, nonce, at } =
            event
        else {
            return None;
        };
        Some(State {
            title: crate::room::title(prompt),
            prompt: prompt.clone(),
            context: context.clone(),
            advisors: seats.iter().map(|seat| Advisor::asked(seat, written)).collect(),
            synthesizers: synthesizers.clone(),
            quorum: *quorum,
            ballot: *ballot,
            stage: Stage::Answering(quorum.map_or(Wait::All, Wait::Quorum)),
            syntheses: vec![],
            convened_at: *at,
            imported: None,
            ledger: Ledger::default(),
            overtaken: BTreeMap::new(),
            nonce: nonce.clone(),
        })
    }
}

impl Span {
    fn from(at: Timestamp) -> Option<Span> {
        Some(Span { started_at: at, ended_at: None })
    }
}

/// What has ended before keeps its end.
fn end(span: &mut Option<Span>, at: Timestamp) {
    if let Some(span) = span {
        span.ended_at.get_or_insert(at);
    }
}

impl Advisor {
    fn asked(seat: &Seat, at: Timestamp) -> Advisor {
        let (seat, standing) = (seat.clone(), Standing::Asked);
        Advisor { seat, asked: 1, standing, span: Span::from(at) }
    }

    fn stop(&mut self, why: Stopping, at: Timestamp) {
        end(&mut self.span, at);
        self.standing.stop(why, self.is_person());
    }
}

impl State {
    pub(super) fn follow(&mut self, event: &Event, at: Timestamp) {
        self.note_spending(event);
        match event {
            Event::Convened { .. } => {}
            Event::AdvisorAnswered { seat, answer } => {
                self.stand(*seat, Standing::Done(answer.clone()), at);
            }
            Event::AdvisorFailed { seat, failure, partial } => {
                let (failure, partial) = (failure.clone(), partial.clone());
                self.stand(*seat, Standing::Failed { failure, partial }, at);
            }
            Event::AdvisorHalted { seat } => {
                let advisor = self.advisors.iter_mut().find(|a| a.seat.id == *seat);
                advisor.into_iter().for_each(|advisor| advisor.stop(Stopping::ByHand, at));
            }
            Event::AdvisorStopped { seat, partial: text, usage } => {
                let advisor = self.advisors.iter_mut().find(|a| a.seat.id == *seat);
                advisor.into_iter().for_each(|advisor| advisor.standing.hand_back(text, *usage));
            }
            Event::Overtaken { call, .. } => {
                self.overtaken.remove(call);
            }
            Event::AdvisorRetried { seat, model } => self.ask_again(*seat, model.as_ref(), at),
            Event::QuorumReached { until } => self.stage = Stage::Answering(Wait::Grace(*until)),
            Event::SynthesisBegan { number, model, instruction, basis, absent, .. } => {
                self.stop_awaited(Stopping::Late, at);
                self.stage = Stage::Synthesizing;
                self.syntheses.push(Synthesis {
                    number: *number,
                    tries: 1,
                    model: model.clone(),
                    instruction: instruction.clone(),
                    basis: basis.clone(),
                    absent: absent.clone(),
                    failed: vec![],
                    standing: SynthesisStanding::Asked,
                    span: Span::from(at),
                    ballot: None,
                });
            }
            Event::SynthesisFailed { failure, partial, next, .. } => {
                self.synthesis_failed(failure, partial, next.as_ref(), at);
            }
            Event::SynthesisStopped { number, partial: text, usage } => {
                let synthesis = self.syntheses.iter_mut().find(|s| s.number == *number);
                let hand_back = |s: &mut Synthesis| s.standing.hand_back(text, *usage);
                synthesis.into_iter().for_each(hand_back);
            }
            Event::Synthesized { verdict, answer, .. } => {
                if let Some(synthesis) = self.syntheses.last_mut() {
                    end(&mut synthesis.span, at);
                    let (verdict, answer) = (verdict.clone(), answer.clone());
                    synthesis.standing = SynthesisStanding::Done(Written { verdict, answer });
                }
                self.stage = Stage::Closed;
            }
            Event::BallotBegan { number, points, left_out, voters, .. } => {
                self.ballot_began(*number, (points, *left_out), voters);
            }
            Event::BallotSkipped { number, reason } => self.ballot_skipped(*number, reason),
            Event::BallotCast { number, seat, votes, answer } => {
                let (votes, answer) = (votes.clone(), answer.clone());
                self.paper_stands(*number, *seat, PaperStanding::Done(Cast { votes, answer }));
            }
            Event::BallotFailed { number, seat, failure, partial } => {
                let (failure, partial) = (failure.clone(), partial.clone());
                self.paper_stands(*number, *seat, PaperStanding::Failed { failure, partial });
            }
            Event::BallotStopped { number, seat, partial, usage } => {
                self.paper_handed_back(*number, *seat, (partial, *usage));
            }
            Event::BallotResumed { number, voters, .. } => self.ballot_resumed(*number, voters),
            Event::Stopped => {
                self.stop_awaited(Stopping::ByHand, at);
                self.stop_ballot();
                self.syntheses.iter_mut().for_each(|synthesis| end(&mut synthesis.span, at));
                if let (Stage::Synthesizing, Some(last)) = (&self.stage, self.syntheses.last_mut())
                {
                    last.standing.stop(Stopping::ByHand, false);
                }
                self.stage = Stage::Stopped;
            }
            Event::Failed { reason } => self.stage = Stage::Failed(reason.clone()),
            Event::Imported { from, at } => {
                self.advisors.iter_mut().for_each(|advisor| advisor.span = None);
                self.syntheses.iter_mut().for_each(|synthesis| synthesis.span = None);
                self.imported = Some(Imported { from: *from, at: *at });
            }
        }
    }

    /// What the event settles, whatever becomes of it, is spent.
    fn note_spending(&mut self, event: &Event) {
        let of_seat = |state: &State, seat| match &state.advisor(seat)?.seat.sitter {
            Sitter::Model(model) => Some(model.clone()),
            Sitter::Person { .. } => None,
        };
        let of_synthesis = |state: &State, number| Some(state.synthesis(number)?.model.clone());
        let (model, usage, answers) = match event {
            Event::AdvisorAnswered { seat, answer } => (of_seat(self, *seat), answer.usage, true),
            Event::AdvisorFailed { seat, failure, .. } => {
                (of_seat(self, *seat), failure.usage, false)
            }
            Event::AdvisorStopped { seat, usage, .. } => (of_seat(self, *seat), *usage, false),
            Event::Overtaken { call, usage, .. } => {
                (self.overtaken.get(call).cloned(), *usage, false)
            }
            Event::Synthesized { number, answer, .. } => {
                (of_synthesis(self, *number), answer.usage, true)
            }
            Event::SynthesisFailed { number, failure, .. } => {
                (of_synthesis(self, *number), failure.usage, false)
            }
            Event::SynthesisStopped { number, usage, .. } => {
                (of_synthesis(self, *number), *usage, false)
            }
            Event::BallotCast { seat, answer: Some(answer), .. } => {
                (of_seat(self, *seat), answer.usage, true)
            }
            Event::BallotFailed { seat, failure, .. } => {
                (of_seat(self, *seat), failure.usage, false)
            }
            Event::BallotStopped { seat, usage, .. } => (of_seat(self, *seat), *usage, false),
            Event::Convened { .. }
            | Event::AdvisorHalted { .. }
            | Event::AdvisorRetried { .. }
            | Event::QuorumReached { .. }
            | Event::SynthesisBegan { .. }
            | Event::BallotBegan { .. }
            | Event::BallotSkipped { .. }
            | Event::BallotCast { answer: None, .. }
            | Event::BallotResumed { .. }
            | Event::Stopped
            | Event::Failed { .. }
            | Event::Imported { .. } => return,
        };
        match model {
            Some(model) if answers => self.ledger.told(&model, usage),
            Some(model) => self.ledger.spent(&model, usage),
            None => {}
        }
    }

    /// A stopped call will hand back what it had although another try at it has begun.
    pub(super) fn overtake(&mut self, call: CallId, seat: SeatId) {
        let advisor = self.advisor(seat);
        if let Some(Sitter::Model(model)) = advisor.map(|advisor| &advisor.seat.sitter) {
            let model = model.clone();
            self.overtaken.insert(call, model);
        }
    }

    fn stand(&mut self, seat: SeatId, standing: Standing, at: Timestamp) {
        if let Some(advisor) = self.advisors.iter_mut().find(|a| a.seat.id == seat) {
            advisor.standing = standing;
            end(&mut advisor.span, at);
        }
    }

    fn stop_awaited(&mut self, why: Stopping, at: Timestamp) {
        self.advisors.iter_mut().for_each(|advisor| advisor.stop(why, at));
    }

    fn ask_again(&mut self, seat: SeatId, model: Option<&ModelName>, at: Timestamp) {
        self.supersede_ballot();
        let unheard = self.advisor(seat).filter(|advisor| advisor.standing.is_unheard());
        if let Some(call) = unheard.map(Advisor::call_id) {
            self.overtake(call, seat);
        }
        if let Some(advisor) = self.advisors.iter_mut().find(|a| a.seat.id == seat) {
            advisor.asked += 1;
            advisor.standing = Standing::Asked;
            advisor.span = Span::from(at);
            match (&mut advisor.seat.sitter, model) {
                (sitter, Some(model)) => *sitter = Sitter::Model(model.clone()),
                // A deadline that has passed once would fail the seat at once.
                (Sitter::Person { reply_by, .. }, None) => *reply_by = None,
                (Sitter::Model(_), None) => {}
            }
        }
        // Who asks an advisor again by hand wants its answer: no grace time that
        // has begun before cuts it. A quorum still to be reached counts it in.
        self.stage = match self.stage {
            Stage::Answering(Wait::Quorum(quorum)) => Stage::Answering(Wait::Quorum(quorum)),
            Stage::Answering(Wait::All | Wait::Grace(_))
            | Stage::Synthesizing
            | Stage::Balloting
            | Stage::Closed
            | Stage::Stopped
            | Stage::Failed(_) => Stage::Answering(Wait::All),
        };
    }

    fn synthesis_failed(
        &mut self,
        failure: &Failure,
        partial: &str,
        next: Option<&ModelName>,
        at: Timestamp,
    ) {
        let Some(synthesis) = self.syntheses.last_mut() else { return };
        let (failure, partial) = (failure.clone(), partial.to_owned());
        let Some(next) = next else {
            self.stage = Stage::Failed(format!("The synthesis failed: {}", failure.message));
            synthesis.standing = SynthesisStanding::Failed { failure, partial };
            end(&mut synthesis.span, at);
            return;
        };
        synthesis.failed.push(FailedTry { model: synthesis.model.clone(), failure });
        synthesis.model = next.clone();
        synthesis.tries += 1;
    }
}
