//! What a person sees who has not answered yet: how far the others are, and not what they
//! say. This file is the only place that says so; whoever shows no seat sees all.

use std::borrow::Cow;

use super::{Advisor, Event, SeatId, Standing, State};
use crate::call::Answer;

impl State {
    /// Whether this seat's reply is awaited on a board that wants it unswayed.
    pub fn hides_from(&self, seat: SeatId) -> bool {
        let is_awaited = |advisor: &Advisor| advisor.is_person() && advisor.standing.is_asked();
        !self.open_answers && self.advisor(seat).is_some_and(is_awaited)
    }

    /// The board as it is seen from this seat: until it has answered, without what was
    /// said since its question was put.
    pub fn seen_from(&self, seat: SeatId) -> Cow<'_, State> {
        if !self.hides_from(seat) {
            return Cow::Borrowed(self);
        }
        let mut seen = self.clone();
        let round = self.round();
        for other in seen.advisors.iter_mut().filter(|advisor| advisor.seat.id != seat) {
            if other.round == round {
                other.standing.silence();
            }
            other.earlier.retain(|earlier| earlier.id.round < round);
            other.picked.retain(|picked| picked.round < round);
        }
        seen.syntheses.retain(|synthesis| synthesis.round < round);
        seen.veiled_for = Some(seat);
        Cow::Owned(seen)
    }

    /// The seat whose picture this is, when it has not answered. No call is its own.
    pub fn veiled_for(&self) -> Option<SeatId> {
        self.veiled_for
    }

    /// Whether words of this advisor are left out of the picture.
    pub fn is_veiled(&self, seat: SeatId) -> bool {
        let is_other = self.veiled_for.is_some_and(|own| own != seat);
        is_other && self.asked_now().any(|advisor| advisor.seat.id == seat)
    }
}

impl Standing {
    fn silence(&mut self) {
        match self {
            Standing::Asked => {}
            Standing::Done(answer) => answer.silence(),
            Standing::Failed { partial, .. } => partial.clear(),
            Standing::Stopped { partial, .. } => {
                partial.iter_mut().for_each(String::clear);
            }
        }
    }
}

impl Answer {
    fn silence(&mut self) {
        self.text.clear();
        self.reasoning.clear();
    }
}

impl Event {
    /// The event as it is told to this seat while its reply is awaited.
    pub fn veiled_for(mut self, own: SeatId) -> Event {
        match &mut self {
            Event::AdvisorAnswered { seat, answer, .. } if *seat != own => answer.silence(),
            Event::AdvisorFailed { seat, partial, .. }
            | Event::AdvisorStopped { seat, partial, .. }
                if *seat != own =>
            {
                partial.clear();
            }
            Event::Overtaken { partial, .. }
            | Event::SynthesisFailed { partial, .. }
            | Event::SynthesisStopped { partial, .. }
            | Event::BallotFailed { partial, .. }
            | Event::BallotStopped { partial, .. } => partial.clear(),
            Event::Synthesized { verdict, answer, .. } => {
                verdict.text.clear();
                answer.silence();
            }
            Event::BallotBegan { points, .. } => {
                points.iter_mut().for_each(|point| point.text.clear());
            }
            Event::BallotCast { votes, answer, .. } => {
                votes.clear();
                answer.iter_mut().for_each(Answer::silence);
            }
            Event::AdvisorAnswered { .. }
            | Event::AdvisorFailed { .. }
            | Event::AdvisorStopped { .. }
            | Event::Convened { .. }
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
            | Event::BallotSkipped { .. }
            | Event::BallotHalted { .. }
            | Event::BallotResumed { .. }
            | Event::Stopped
            | Event::Failed { .. }
            | Event::Imported { .. } => {}
        }
        self
    }
}
