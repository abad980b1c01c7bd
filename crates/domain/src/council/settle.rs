//! What becomes of a member's answer.

use jiff::Timestamp;

use super::addressed::Audience;
use super::{Debt, Event, Silence, State, Turn, Why};
use crate::call::{Answer, Failed, Outcome};
use crate::form::{Moment, Ruling};
use crate::ids::CallId;
use crate::limits;
use crate::reject::Reject;
use crate::spoken;

impl State {
    pub(super) fn ended(&self, call: &CallId, outcome: Outcome, moment: &Moment) -> Ruling<Event> {
        match self.turn().filter(|turn| turn.call_id() == *call) {
            Some(turn) => self.settle_turn(turn, outcome, moment),
            None => self.settle_cut_off(call, outcome),
        }
    }

    fn settle_turn(&self, turn: &Turn, outcome: Outcome, moment: &Moment) -> Ruling<Event> {
        let (member, upto) = (turn.member.clone(), turn.upto);
        let ended = outcome.ended()?;
        let event = match spoken::heard(&turn.member, &turn.nonce, limits::POST_BYTES, ended) {
            Ok(answer) if spoken::says_nothing(&answer.text) => {
                Event::Passed { member, upto, text: answer.text, usage: answer.usage }
            }
            Ok(answer) => self.answered(turn, answer, moment.at),
            Err(Failed { failure, partial }) => {
                Event::AnswerFailed { member, upto, failure, partial }
            }
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
            | Event::Priced(_)
            | Event::Budgeted(_)
            | Event::TimeOver { .. }
            | Event::Posted { .. }
            | Event::Changed { .. }
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
    fn settle_cut_off(&self, call: &CallId, outcome: Outcome) -> Ruling<Event> {
        let of_call = |silence: &&Silence| {
            matches!(silence.why, Why::Stopped { partial: None })
                && *call == call_id(&silence.member, silence.upto)
        };
        let silences = self.silences.iter().rev().map(|silence| silence.as_ref());
        let Silence { member, upto, .. } =
            silences.into_iter().find(of_call).ok_or(Reject::Stale)?;
        let (partial, usage) = outcome.handed_back();
        let (member, partial) = (member.clone(), spoken::within(partial, limits::POST_BYTES));
        Ok(vec![Event::AnswerStopped { member, upto: *upto, partial, usage }])
    }
}

pub fn call_id(member: &str, upto: u64) -> CallId {
    CallId::new("answer").of(member).of(upto)
}
