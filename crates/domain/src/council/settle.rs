//! What becomes of a member's answer.

use jiff::Timestamp;

use super::addressed::Audience;
use super::{Debt, Event, Silence, State, Turn, Why};
use crate::call::{Answer, Outcome};
use crate::form::Moment;
use crate::ids::CallId;
use crate::limits;
use crate::reject::Reject;
use crate::spoken;

impl State {
    pub(super) fn ended(
        &self,
        call: &CallId,
        outcome: Outcome,
        moment: &Moment,
    ) -> Result<Vec<Event>, Reject> {
        match self.turn().filter(|turn| turn.call_id() == *call) {
            Some(turn) => self.settle_turn(turn, outcome, moment),
            None => self.settle_cut_off(call, outcome),
        }
    }

    fn settle_turn(
        &self,
        turn: &Turn,
        outcome: Outcome,
        moment: &Moment,
    ) -> Result<Vec<Event>, Reject> {
        let (member, upto) = (turn.member.clone(), turn.upto);
        if matches!(outcome, Outcome::Stopped { .. } | Outcome::Elapsed) {
            return Err(Reject::Stale);
        }
        let event = match spoken::heard(&turn.member, &turn.nonce, limits::POST_BYTES, outcome) {
            Ok(answer) if spoken::says_nothing(&answer.text) => {
                Event::Passed { member, upto, text: answer.text, usage: answer.usage }
            }
            Ok(answer) => self.answered(turn, answer, moment.at),
            Err((failure, partial)) => Event::AnswerFailed { member, upto, failure, partial },
        };
        let next = self.turn_after(turn, &event, moment);
        Ok([event].into_iter().chain(next).collect())
    }

    fn answered(&self, turn: &Turn, answer: Answer, at: Timestamp) -> Event {
        let depth_of = |debt: &Debt| self.post_at(debt.sequence).map_or(0, |post| post.depth);
        let settled = self.owed().iter().filter(|debt| self.is_settled_by(turn, debt));
        let deepest = settled.clone().map(depth_of).max().unwrap_or(0);
        let depth = deepest.saturating_add(1);
        let Audience { addressed, left_out } =
            self.addressed_by_model(&turn.member, &answer.text, depth);
        Event::Answered {
            member: turn.member.clone(),
            upto: turn.upto,
            sequence: self.last_sequence() + 1,
            answer,
            reply_to: settled.map(|debt| debt.sequence).max(),
            depth,
            addressed,
            left_out,
            at,
        }
    }

    /// Whoever is next once the turn has ended with this event.
    fn turn_after(&self, turn: &Turn, event: &Event, moment: &Moment) -> Option<Event> {
        let (addressed, upto) = match event {
            Event::Answered { addressed, sequence, .. } => (addressed.first(), *sequence),
            Event::Opened { .. }
            | Event::Posted { .. }
            | Event::TurnBegan { .. }
            | Event::Passed { .. }
            | Event::AnswerFailed { .. }
            | Event::AnswerStopped { .. }
            | Event::Stopped
            | Event::TokenRenewed { .. }
            | Event::Closed { .. } => (None, self.last_sequence()),
        };
        let waiting = self.owed().iter().find(|debt| !self.is_settled_by(turn, debt));
        let waiting = waiting.and_then(|debt| self.members.get(debt.member)).map(|m| &m.name);
        let member = waiting.or(addressed)?.clone();
        Some(Event::TurnBegan { member, upto, nonce: moment.nonce.clone() })
    }

    fn is_settled_by(&self, turn: &Turn, debt: &Debt) -> bool {
        let own = self.members.get(debt.member).is_some_and(|member| member.name == turn.member);
        own && debt.sequence <= turn.upto
    }

    /// A call that a stop or the closing cut off hands back what had been said,
    /// once, whatever became of it meanwhile.
    fn settle_cut_off(&self, call: &CallId, outcome: Outcome) -> Result<Vec<Event>, Reject> {
        let of_call = |silence: &&Silence| {
            matches!(silence.why, Why::Stopped { partial: None })
                && *call == call_id(&silence.member, silence.upto)
        };
        let silences = self.silences.iter().rev().map(|silence| silence.as_ref());
        let Silence { member, upto, .. } =
            silences.into_iter().find(of_call).ok_or(Reject::Stale)?;
        let partial = within(spoken::text_of(outcome));
        Ok(vec![Event::AnswerStopped { member: member.clone(), upto: *upto, partial }])
    }
}

pub fn call_id(member: &str, upto: u64) -> CallId {
    CallId(format!("answer/{member}/{upto}"))
}

fn within(text: String) -> String {
    spoken::within(text, limits::POST_BYTES)
}
