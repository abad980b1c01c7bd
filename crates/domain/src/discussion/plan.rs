//! What comes next: after the start, after a turn, after a decision, after a rest.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::estimate::{DENSE_TOKEN_BYTES, TOKEN_BYTES};
use super::{
    Choice, Decided, Entry, Event, How, Participant, Said, Seat, SeatId, Sitter, Spoken, Stage,
    State, Step, What, Why,
};
use crate::budget::{Amount, Claim, Follows, Need, Shortage};
use crate::call::{FailureKind, Timing, Usage};
use crate::form::Moment;
use crate::ids::ModelName;
use crate::limits;

/// Asked at the opening when the facilitator asks nothing that can be read.
pub const FIRST_QUESTION: &str = "What is your view of the topic, and what matters most in it?";
/// Asked later in the same case.
pub const NEXT_QUESTION: &str = "Where do you agree with what has been said, where not, and what \
    is still missing?";
pub(super) const NO_ROOM: &str = "The budget does not cover another turn.";

fn reply_by(seat: &Seat, at: Timestamp) -> Option<Timestamp> {
    match seat.sitter {
        Sitter::Person { reply_within_ms } => {
            let ms = i64::try_from(reply_within_ms?).unwrap_or(i64::MAX);
            Some(at.checked_add(SignedDuration::from_millis(ms)).unwrap_or(Timestamp::MAX))
        }
        Sitter::Model { .. } => None,
    }
}

impl State {
    /// Participants that may be asked: they speak, and have tokens left.
    pub fn speakers(&self) -> Vec<&Participant> {
        let can = |p: &&Participant| p.role.speaks() && self.affords(&p.seat);
        self.participants.iter().filter(can).collect()
    }

    fn may_speak(&self, id: &SeatId) -> bool {
        self.speakers().iter().any(|participant| participant.seat.id == *id)
    }

    /// Whether the seat's budget and the discussion's have room for one more call, and for
    /// the conclusion after it.
    pub(super) fn affords(&self, seat: &Seat) -> bool {
        self.shortage(seat).is_none()
    }

    /// Why there is no room for one more call of this seat.
    pub(super) fn shortage(&self, seat: &Seat) -> Option<Shortage> {
        let model = seat.model()?;
        let claim = self.claim_of(seat);
        if self.ledger.budget().is_none() && claim.seat.iter().all(|(_, own)| own.is_none()) {
            return None;
        }
        let (reads, writes) = (self.dense_tokens(seat), limits::BUDGET_ANSWER_TOKENS);
        let need = Need { model, reads, writes, taken: Amount::default(), claim: &claim };
        self.ledger.admit(&need, Amount::default()).err()
    }

    /// What a call of this seat stands for, while a conclusion has to follow.
    pub(super) fn claim_of(&self, seat: &Seat) -> Claim {
        let concludes = |model: &ModelName| Follows {
            model: model.clone(),
            reads: self.dense_tokens(&self.facilitator),
        };
        let follows = self.facilitator.model().map(concludes);
        Claim { seat: Some((seat.id.0.clone(), seat.budget())), calls: 1, follows }
    }

    /// Tokens of the seat's next prompt, at most about so many.
    fn dense_tokens(&self, seat: &Seat) -> u64 {
        self.prompt_tokens(seat).saturating_mul(TOKEN_BYTES) / DENSE_TOKEN_BYTES
    }

    /// Whoever comes after the last speaker, in the order of the seats.
    pub(super) fn next_in_turn(&self) -> Option<&Participant> {
        let last = self.transcript.iter().rev().find_map(|entry| match &entry.said {
            Said::Turn { speaker, .. } => Some(speaker),
            Said::Decision(_)
            | Said::Interjection { .. }
            | Said::Cut { .. }
            | Said::SynthesisFailed { .. } => None,
        });
        let place = last.and_then(|last| self.participants.iter().position(|p| p.seat.id == *last));
        let from = place.map_or(0, |place| place + 1);
        let can = |p: &&Participant| self.may_speak(&p.seat.id);
        let (before, after) = self.participants.split_at(from.min(self.participants.len()));
        after.iter().chain(before).find(can)
    }

    /// A step that has not been begun yet, as the next try at it.
    fn step_for(&self, what: What, moment: &Moment) -> Step {
        let tries = self.begun.get(&what.call()).map_or(1, |tries| tries.saturating_add(1));
        let nonce = self.code.as_ref().unwrap_or(&moment.nonce).clone();
        let mut step = Step { what, tries, reply_by: None, nonce };
        step.reply_by = self.seat_of(&step).and_then(|seat| reply_by(seat, moment.at));
        step
    }

    /// The step is next. A discussion that is to pause rests before it.
    fn go_on(&self, what: What, moment: &Moment) -> Event {
        let step = self.step_for(what, moment);
        match self.stage {
            Stage::Pausing(_) => Event::Paused { next: step, at: moment.at },
            Stage::Draft
            | Stage::Active(_)
            | Stage::Paused(_)
            | Stage::Stopped(_)
            | Stage::Failed { .. }
            | Stage::Concluded(_) => Event::Began { step, at: moment.at },
        }
    }

    /// The same step once more, with the whole time that a person has for it, unless
    /// rounds or budget are others by now.
    pub(super) fn begin_again(&self, step: &Step, moment: &Moment) -> Vec<Event> {
        let goes_on = match &step.what {
            What::Opening | What::Evaluation { .. } => false,
            What::Turn { speaker, .. } => self.may_speak(speaker),
            What::Synthesis { why: Why::Rounds, .. } => self.turns() >= self.max_rounds,
            What::Synthesis { why: Why::Decided | Why::Budget | Why::Asked, .. } => true,
        };
        if !goes_on {
            return self.choose_next(moment);
        }
        vec![self.go_on(step.what.clone(), moment)]
    }

    /// The facilitator writes the conclusion now.
    pub(super) fn begin_synthesis(&self, why: Why, moment: &Moment) -> Event {
        let what = What::Synthesis { by: self.facilitator.id.clone(), why };
        Event::Began { step: self.step_for(what, moment), at: moment.at }
    }

    /// After a turn, which stands in the transcript by now.
    pub(super) fn after_turn(&self, moment: &Moment) -> Vec<Event> {
        let Some(why) = self.nobody_answers() else { return self.choose_next(moment) };
        let turn = self.turns();
        let what = if turn < self.max_rounds {
            What::Evaluation { turn }
        } else {
            What::Synthesis { by: self.facilitator.id.clone(), why: Why::Rounds }
        };
        vec![Event::Failed { why, next: self.step_for(what, moment), at: moment.at }]
    }

    /// Nobody is at it: the facilitator says how to go on, if anything is left to say.
    pub(super) fn choose_next(&self, moment: &Moment) -> Vec<Event> {
        let turn = self.turns();
        if turn >= self.max_rounds {
            let note = match self.max_rounds {
                1 => "The only round is over.".to_owned(),
                all => format!("All {all} rounds are over."),
            };
            return self.by_rule(turn, note, Why::Rounds, moment);
        }
        if self.speakers().is_empty() {
            return self.by_rule(turn, NO_ROOM.to_owned(), Why::Budget, moment);
        }
        if self.affords(&self.facilitator) {
            let what = if turn == 0 { What::Opening } else { What::Evaluation { turn } };
            return vec![self.go_on(what, moment)];
        }
        let note = "The facilitator's budget is spent, so the next in turn speaks.";
        let decided = self.in_turn(turn, How::Rule, note.to_owned());
        let event = Event::Decided { decided: decided.clone(), at: moment.at };
        self.then(event, |state| state.after_decision(&decided, moment))
    }

    pub(super) fn by_rule(&self, turn: u32, note: String, why: Why, moment: &Moment) -> Vec<Event> {
        let decided = Decided {
            turn,
            decision: Choice::Synthesize,
            next: None,
            question: None,
            reasoning: String::new(),
            how: How::Rule,
            note: Some(note),
            raw: None,
            usage: Usage::default(),
            timing: Timing::default(),
            condensed: 0,
        };
        let what = What::Synthesis { by: self.facilitator.id.clone(), why };
        vec![Event::Decided { decided, at: moment.at }, self.go_on(what, moment)]
    }

    /// The next in turn, with a question that fits always.
    pub(super) fn in_turn(&self, turn: u32, how: How, note: String) -> Decided {
        let next = self.next_in_turn().map(|participant| participant.seat.id.clone());
        let decision = if next.is_some() { Choice::Continue } else { Choice::Synthesize };
        let question = next.is_some().then(|| usual_question(turn).to_owned());
        Decided {
            turn,
            decision,
            next,
            question,
            reasoning: String::new(),
            how,
            note: Some(note),
            raw: None,
            usage: Usage::default(),
            timing: Timing::default(),
            condensed: 0,
        }
    }

    /// What a decision makes next. It may have used up what the turn would need.
    pub(super) fn after_decision(&self, decided: &Decided, moment: &Moment) -> Vec<Event> {
        let by = self.facilitator.id.clone();
        let what = match (decided.decision, &decided.next) {
            (Choice::Continue, Some(next)) if self.may_speak(next) => What::Turn {
                turn: self.turns() + 1,
                speaker: next.clone(),
                question: decided.question.clone().unwrap_or_default(),
            },
            (Choice::Continue, _) => {
                return self.by_rule(decided.turn, NO_ROOM.to_owned(), Why::Budget, moment);
            }
            (Choice::Synthesize, _) => match decided.how {
                How::Parsed | How::Repaired | How::Person => {
                    What::Synthesis { by, why: Why::Decided }
                }
                // Only for want of somebody who could speak.
                How::Fallback | How::Rule => What::Synthesis { by, why: Why::Budget },
            },
        };
        vec![self.go_on(what, moment)]
    }

    /// After a model could not write the synthesis: the next model does that has been
    /// tried less often than the facilitator's, and when there is none left the
    /// discussion has failed.
    pub(super) fn after_failed_synthesis(&self, why: Why, failure: &str, moment: &Moment) -> Event {
        let failures = |seat: &Seat| {
            let of = |entry: &&Arc<Entry>| match &entry.said {
                Said::SynthesisFailed { by, .. } => {
                    self.seat(by).is_some_and(|other| other.model() == seat.model())
                }
                Said::Decision(_)
                | Said::Turn { .. }
                | Said::Interjection { .. }
                | Said::Cut { .. } => false,
            };
            self.transcript.iter().filter(of).count()
        };
        let most = failures(&self.facilitator);
        let untried = |seat: &&Seat| !seat.is_person() && failures(seat) < most;
        // An observer's model stays silent here too.
        let speakers = self.participants.iter().filter(|participant| participant.role.speaks());
        match speakers.map(|participant| participant.seat.as_ref()).find(untried) {
            Some(seat) => self.go_on(What::Synthesis { by: seat.id.clone(), why }, moment),
            None => {
                let what = What::Synthesis { by: self.facilitator.id.clone(), why };
                let why = format!("No model could write the conclusion. {failure}");
                Event::Failed { why, next: self.step_for(what, moment), at: moment.at }
            }
        }
    }

    /// Why going on would bring nothing: since it was last resumed, everybody who may be
    /// asked has failed, and for a reason that somebody has to mend.
    fn nobody_answers(&self) -> Option<String> {
        let recent = self.transcript.get(self.resumed_at..).unwrap_or_default();
        let last = |id: &SeatId| {
            recent.iter().rev().find_map(|entry| match &entry.said {
                Said::Turn { speaker, spoken, .. } if speaker == id => Some(spoken),
                Said::Turn { .. }
                | Said::Decision(_)
                | Said::Interjection { .. }
                | Said::Cut { .. }
                | Said::SynthesisFailed { .. } => None,
            })
        };
        let lasting = |participant: &&Participant| match last(&participant.seat.id)? {
            Spoken::Failed { failure, .. } if !may_pass(failure.kind) => {
                Some(failure.message.as_str())
            }
            Spoken::Failed { .. } | Spoken::Words(_) => None,
        };
        let mut whys: Vec<&str> = self.speakers().iter().map(lasting).collect::<Option<_>>()?;
        whys.dedup();
        (!whys.is_empty()).then(|| format!("No participant can answer. {}", whys.join(" ")))
    }
}

/// Whether a failure may be gone the next time, with nobody's help.
fn may_pass(kind: FailureKind) -> bool {
    match kind {
        FailureKind::Misconfigured | FailureKind::OutOfCredit => false,
        FailureKind::TimedOut
        | FailureKind::Idle
        | FailureKind::Refused
        | FailureKind::RateLimited
        | FailureKind::OutOfBudget
        | FailureKind::TooLong
        | FailureKind::PromptTooLong
        | FailureKind::Empty
        | FailureKind::ProviderError
        | FailureKind::Unreachable
        | FailureKind::Malformed
        | FailureKind::Internal => true,
    }
}

pub fn usual_question(turn: u32) -> &'static str {
    if turn == 0 { FIRST_QUESTION } else { NEXT_QUESTION }
}
