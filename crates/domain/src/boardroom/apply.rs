//! What each event does to a board. Total: any event is taken in any state.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::ballot::{Cast, PaperStanding};
use super::{
    Advisor, Contribution, ContributionId, Event, FailedTry, Imported, Seat, SeatId, Sitter, Span,
    Stage, Standing, State, Stopping, Synthesis, SynthesisStanding, Wait, Written, seat_name,
};
use crate::call::{Answer, Failure};
use crate::ids::{CallId, ModelName};
use crate::ledger::{Ended, Ledger, Settled};
use crate::limits;

impl State {
    /// `written` is when the event was.
    pub(super) fn convened(event: &Event, written: Timestamp) -> Option<State> {
        let Event::Convened {
            prompt,
            context,
            seats,
            synthesizers,
            quorum,
            ballot,
            open_answers,
            terms,
            brief,
            nonce,
            at,
        } = event
        else {
            return None;
        };
        let mut ledger = Ledger::default();
        ledger.begin(written);
        let mut state = State {
            title: crate::room::title(prompt),
            prompt: prompt.clone(),
            context: context.clone(),
            brief: brief.clone(),
            advisors: seats.iter().map(|seat| Advisor::asked(seat, written)).collect(),
            synthesizers: synthesizers.clone(),
            quorum: *quorum,
            ballot: *ballot,
            open_answers: *open_answers,
            terms: terms.clone(),
            stage: Stage::Answering(quorum.map_or(Wait::All, Wait::Quorum)),
            follow_ups: vec![],
            syntheses: vec![],
            convened_at: *at,
            imported: None,
            ledger,
            overtaken: BTreeMap::new(),
            thread: None,
            nonce: nonce.clone(),
            veiled_for: None,
        };
        state.note_time(written);
        Some(state)
    }
}

/// Who made a call.
enum Whose<'a> {
    Seat(SeatId),
    Synthesis(u32),
    Call(&'a CallId),
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
        let mut advisor = Advisor {
            seat: seat.clone(),
            round: 1,
            asked: 1,
            batch: 1,
            standing: Standing::Asked,
            span: Span::from(at),
            earlier: vec![],
            picked: vec![],
        };
        advisor.ask_for_more(at);
        advisor
    }

    /// What it has said until now stays, and it is asked anew.
    pub(super) fn begin(&mut self, round: u32, at: Timestamp) {
        self.set_aside(at);
        self.asked = if self.round == round { self.asked + 1 } else { 1 };
        self.round = round;
        // Whoever asks again wants what comes of it.
        self.picked.retain(|picked| picked.round != round);
        self.batch = 1;
    }

    fn set_aside(&mut self, at: Timestamp) {
        let standing = std::mem::replace(&mut self.standing, Standing::Asked);
        let (id, sitter) = (self.contribution(), self.seat.sitter.clone());
        let span = std::mem::replace(&mut self.span, Span::from(at));
        self.earlier.push(Contribution { id, sitter, standing, span });
    }

    /// The other answers that it is asked for at once. It is known by now who sits there.
    pub(super) fn ask_for_more(&mut self, at: Timestamp) {
        let most = if self.is_person() { 1 } else { self.seat.tries.clamp(1, limits::TRIES) };
        while self.batch < most {
            self.set_aside(at);
            self.asked += 1;
            self.batch += 1;
        }
    }

    fn stop(&mut self, why: Stopping, at: Timestamp) {
        let is_person = self.is_person();
        for (standing, span) in self.current_mut() {
            if standing.is_asked() {
                end(span, at);
            }
            standing.stop(why, is_person);
        }
    }

    fn current_mut(&mut self) -> impl Iterator<Item = (&mut Standing, &mut Option<Span>)> {
        let (round, before) = (self.round, self.asked.saturating_sub(self.batch));
        let is_of = move |one: &&mut Contribution| one.id.round == round && one.id.asked > before;
        let earlier = self.earlier.iter_mut().filter(is_of);
        let earlier = earlier.map(|one| (&mut one.standing, &mut one.span));
        earlier.chain([(&mut self.standing, &mut self.span)])
    }

    /// One of the answers that it is asked for; the last, where it is not said.
    fn one_mut(&mut self, asked: Option<u32>) -> Option<(&mut Standing, &mut Option<Span>)> {
        let Some(asked) = asked.filter(|asked| *asked != self.asked) else {
            return Some((&mut self.standing, &mut self.span));
        };
        let id = ContributionId { asked, ..self.contribution() };
        let one = self.earlier.iter_mut().find(|one| one.id == id)?;
        Some((&mut one.standing, &mut one.span))
    }
}

impl State {
    pub(super) fn follow(&mut self, event: &Event, at: Timestamp) {
        let was_at_rest = self.is_at_rest();
        self.note_spending(event);
        self.move_on(event, at);
        if was_at_rest && !self.is_at_rest() {
            self.ledger.begin(at);
        }
        self.note_time(at);
    }

    /// Whose time is limited and runs.
    fn note_time(&mut self, at: Timestamp) {
        let papers = self.balloting().map(|(_, held)| held.papers.as_slice()).unwrap_or_default();
        let votes = |seat| papers.iter().any(|p| p.seat == seat && p.standing.is_asked());
        let timed = self.advisors.iter().filter(|advisor| advisor.seat.budget.time_ms.is_some());
        let busy = timed.filter(|one| one.awaits_model() || votes(one.seat.id));
        let busy: Vec<String> = busy.map(|advisor| seat_name(advisor.seat.id)).collect();
        self.ledger.at_work(&busy, at);
    }

    fn is_at_rest(&self) -> bool {
        match self.stage {
            Stage::Closed | Stage::Stopped | Stage::Failed(_) => true,
            Stage::Answering(_) | Stage::Synthesizing | Stage::Balloting => false,
        }
    }

    fn move_on(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::Convened { .. } => {}
            Event::Priced(prices) => self.ledger.note(prices),
            Event::Budgeted(budget) => self.ledger.allow(*budget),
            Event::TimeOver { .. } => self.ledger.time_is_over(),
            Event::AdvisorAnswered { seat, asked, answer } => {
                self.stand((*seat, *asked), Standing::Done(answer.clone()), at);
            }
            Event::AdvisorFailed { seat, asked, failure, partial } => {
                let (failure, partial) = (failure.clone(), partial.clone());
                self.stand((*seat, *asked), Standing::Failed { failure, partial }, at);
            }
            Event::AdvisorPicked { seat, asked } => {
                if let Some(advisor) = self.advisors.iter_mut().find(|a| a.seat.id == *seat) {
                    let picked = ContributionId { asked: *asked, ..advisor.contribution() };
                    advisor.picked.retain(|other| other.round != picked.round);
                    advisor.picked.push(picked);
                }
            }
            Event::AdvisorHalted { seat } => {
                let advisor = self.advisors.iter_mut().find(|a| a.seat.id == *seat);
                advisor.into_iter().for_each(|advisor| advisor.stop(Stopping::ByHand, at));
            }
            Event::AdvisorStopped { seat, asked, partial: text, usage } => {
                let advisor = self.advisors.iter_mut().find(|a| a.seat.id == *seat);
                let one = advisor.and_then(|advisor| advisor.one_mut(*asked));
                one.into_iter().for_each(|(standing, _)| standing.hand_back(text, *usage));
            }
            Event::Overtaken { call, partial: text, usage } => {
                self.overtaken.remove(call);
                let mut earlier = self.advisors.iter_mut().flat_map(|a| &mut a.earlier);
                if let Some(earlier) = earlier.find(|earlier| earlier.id.call() == *call) {
                    earlier.standing.hand_back(text, *usage);
                }
                self.paper_overtaken(call, *usage);
            }
            Event::AdvisorRetried { seat, model } => self.ask_again(*seat, model.as_ref(), at),
            Event::FollowedUp { round, prompt, asked, brief, at: put_at } => {
                self.followed_up((*round, prompt, brief), asked, *put_at, at);
            }
            Event::Threaded { key } => self.thread = Some(key.clone()),
            Event::QuorumReached { until } => self.stage = Stage::Answering(Wait::Grace(*until)),
            Event::SynthesisBegan {
                number,
                model,
                instruction,
                basis,
                contributions,
                absent,
                ..
            } => {
                self.stop_awaited(Stopping::Late, at);
                self.thread = None;
                self.stage = Stage::Synthesizing;
                let named = |seat: &SeatId| self.advisor(*seat).map(Advisor::contribution);
                let basis = match contributions.is_empty() {
                    true => basis.iter().filter_map(named).collect(),
                    false => contributions.clone(),
                };
                self.syntheses.push(Synthesis {
                    number: *number,
                    round: self.round(),
                    tries: 1,
                    model: model.clone(),
                    instruction: instruction.clone(),
                    basis,
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
            Event::BallotHalted { number, seat } => self.paper_halted(*number, *seat),
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
                for advisor in &mut self.advisors {
                    advisor.span = None;
                    advisor.earlier.iter_mut().for_each(|earlier| earlier.span = None);
                }
                self.syntheses.iter_mut().for_each(|synthesis| synthesis.span = None);
                self.imported = Some(Imported { from: *from, at: *at });
            }
        }
    }

    /// What the event settles, whatever becomes of it, is spent.
    fn note_spending(&mut self, event: &Event) {
        let (whose, usage, ended, text) = match event {
            Event::AdvisorAnswered { seat, answer, .. } => {
                (Whose::Seat(*seat), answer.usage, Ended::Answered, &answer.text)
            }
            Event::AdvisorFailed { seat, failure, partial, .. } => {
                (Whose::Seat(*seat), failure.usage, Ended::Failed(failure.kind), partial)
            }
            Event::AdvisorStopped { seat, usage, partial, .. } => {
                (Whose::Seat(*seat), *usage, Ended::Stopped, partial)
            }
            Event::Overtaken { call, usage, partial } => {
                (Whose::Call(call), *usage, Ended::Stopped, partial)
            }
            // The words of an earlier try, whose spending is counted.
            Event::Synthesized { answer: Answer { attempts: 0, .. }, .. } => return,
            Event::Synthesized { number, answer, .. } => {
                (Whose::Synthesis(*number), answer.usage, Ended::Answered, &answer.text)
            }
            Event::SynthesisFailed { number, failure, partial, .. } => {
                (Whose::Synthesis(*number), failure.usage, Ended::Failed(failure.kind), partial)
            }
            Event::SynthesisStopped { number, usage, partial } => {
                (Whose::Synthesis(*number), *usage, Ended::Stopped, partial)
            }
            Event::BallotCast { seat, answer: Some(answer), .. } => {
                (Whose::Seat(*seat), answer.usage, Ended::Answered, &answer.text)
            }
            Event::BallotFailed { seat, failure, partial, .. } => {
                (Whose::Seat(*seat), failure.usage, Ended::Failed(failure.kind), partial)
            }
            Event::BallotStopped { seat, usage, partial, .. } => {
                (Whose::Seat(*seat), *usage, Ended::Stopped, partial)
            }
            Event::Convened { .. }
            | Event::Priced(_)
            | Event::Budgeted(_)
            | Event::TimeOver { .. }
            | Event::AdvisorHalted { .. }
            | Event::AdvisorRetried { .. }
            | Event::AdvisorPicked { .. }
            | Event::FollowedUp { .. }
            | Event::Threaded { .. }
            | Event::QuorumReached { .. }
            | Event::SynthesisBegan { .. }
            | Event::BallotBegan { .. }
            | Event::BallotSkipped { .. }
            | Event::BallotCast { answer: None, .. }
            | Event::BallotHalted { .. }
            | Event::BallotResumed { .. }
            | Event::Stopped
            | Event::Failed { .. }
            | Event::Imported { .. } => return,
        };
        let (seat, model, read) = match whose {
            Whose::Seat(seat) => (Some(seat), self.model_of(seat), self.question_tokens()),
            Whose::Synthesis(number) => {
                let model = self.synthesis(number).map(|synthesis| synthesis.model.clone());
                (None, model, self.synthesis_reads())
            }
            Whose::Call(call) => (None, self.overtaken.get(call).cloned(), self.question_tokens()),
        };
        let Some(model) = model else { return };
        let seat = seat.map(seat_name);
        let (seat, written_bytes, requests) = (seat.as_deref(), text.len(), event.requests());
        let model = &model;
        self.ledger.settle(Settled { model, seat, usage, ended, requests, read, written_bytes });
    }

    pub(super) fn model_of(&self, seat: SeatId) -> Option<ModelName> {
        match &self.advisor(seat)?.seat.sitter {
            Sitter::Model(model) => Some(model.clone()),
            Sitter::Person { .. } => None,
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

    /// What an advisor had said when it was stopped comes later, if it has not come yet.
    pub(super) fn overtake_unheard(&mut self, seat: SeatId) {
        let current = self.advisor(seat).into_iter().flat_map(Advisor::current);
        let unheard = current.filter(|(_, standing)| standing.is_unheard());
        let calls: Vec<CallId> = unheard.map(|(id, _)| id.call()).collect();
        calls.into_iter().for_each(|call| self.overtake(call, seat));
    }

    /// What the synthesis of a question waits for that was put to so many.
    pub(super) fn wait_for(&self, asked: usize) -> Wait {
        self.quorum.filter(|quorum| quorum.need <= asked).map_or(Wait::All, Wait::Quorum)
    }

    fn stand(&mut self, (seat, asked): (SeatId, Option<u32>), now: Standing, at: Timestamp) {
        let advisor = self.advisors.iter_mut().find(|a| a.seat.id == seat);
        if let Some((standing, span)) = advisor.and_then(|advisor| advisor.one_mut(asked)) {
            *standing = now;
            end(span, at);
        }
    }

    fn stop_awaited(&mut self, why: Stopping, at: Timestamp) {
        self.advisors.iter_mut().for_each(|advisor| advisor.stop(why, at));
    }

    fn ask_again(&mut self, seat: SeatId, model: Option<&ModelName>, at: Timestamp) {
        self.supersede_ballot();
        self.thread = None;
        self.overtake_unheard(seat);
        let round = self.round();
        if let Some(advisor) = self.advisors.iter_mut().find(|a| a.seat.id == seat) {
            advisor.begin(round, at);
            match (&mut advisor.seat.sitter, model) {
                (sitter, Some(model)) => *sitter = Sitter::Model(model.clone()),
                // A deadline that has passed once would fail the seat at once.
                (Sitter::Person { reply_by, .. }, None) => *reply_by = None,
                (Sitter::Model(_), None) => {}
            }
            advisor.ask_for_more(at);
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
            self.stage =
                Stage::Failed(format!("The verdict could not be written: {}", failure.message));
            synthesis.standing = SynthesisStanding::Failed { failure, partial };
            end(&mut synthesis.span, at);
            return;
        };
        let model = synthesis.model.clone();
        synthesis.failed.push(FailedTry { model, failure, text: partial });
        synthesis.model = next.clone();
        synthesis.tries += 1;
    }
}
