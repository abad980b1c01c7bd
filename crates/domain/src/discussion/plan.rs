//! What comes next: after the start, after a turn, after a decision, after a rest.

use jiff::{SignedDuration, Timestamp};

use super::apply::is_same;
use super::{
    Choice, Decided, Estimate, Event, How, Participant, Said, Seat, Sitter, Spoken, Stage, State,
    Step, What, Why,
};
use crate::call::{Timing, Usage};
use crate::ids::Nonce;

/// Asked at the opening when the facilitator asks nothing that can be read.
pub const FIRST_QUESTION: &str = "What is your view of the topic, and what matters most in it?";
/// Asked later in the same case.
pub const NEXT_QUESTION: &str = "Where do you agree with what has been said, where not, and what \
    is still missing?";

pub fn opening(
    facilitator: &Seat,
    estimate: Option<Estimate>,
    at: Timestamp,
    nonce: Nonce,
) -> Vec<Event> {
    let reply_by = reply_by(facilitator, at);
    let step = Step { what: What::Opening, tries: 1, reply_by, nonce };
    vec![Event::Started { estimate, at }, Event::Began { step, at }]
}

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

    /// Whether the seat's budget has room for one more call. What the call will
    /// read is reserved before it is made.
    pub(super) fn affords(&self, seat: &Seat) -> bool {
        let Sitter::Model { bounds, .. } = &seat.sitter else { return true };
        let used = self.used.get(&seat.id).map_or(0, |used| used.tokens);
        let next = used.saturating_add(self.prompt_tokens(seat));
        bounds.budget_tokens.is_none_or(|budget| next <= budget)
    }

    /// Whether the discussion's own budget has room for this seat's next call.
    fn room_affords(&self, seat: &Seat) -> bool {
        let used: u64 = self.used.values().map(|used| used.tokens).sum();
        let next = used.saturating_add(self.prompt_tokens(seat));
        seat.is_person() || self.budget_tokens.is_none_or(|budget| next <= budget)
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
        let can = |p: &&Participant| p.role.speaks() && self.affords(&p.seat);
        let (before, after) = self.participants.split_at(from.min(self.participants.len()));
        after.iter().chain(before).find(can)
    }

    /// A step that has not been begun yet, as the next try at it.
    fn step_for(&self, what: What, at: Timestamp, nonce: Nonce) -> Step {
        let earlier = self.transcript.iter().filter(|entry| match &entry.said {
            Said::Cut { what: cut, .. } => is_same(cut, &what),
            Said::SynthesisFailed { .. } => matches!(what, What::Synthesis { .. }),
            Said::Decision(_) | Said::Turn { .. } | Said::Interjection { .. } => false,
        });
        let tries = earlier.count() as u32 + 1;
        let mut step = Step { what, tries, reply_by: None, nonce };
        step.reply_by = self.seat_of(&step).and_then(|seat| reply_by(seat, at));
        step
    }

    /// The step is next. A discussion that is to pause rests before it.
    fn go_on(&self, what: What, at: Timestamp, nonce: Nonce) -> Event {
        let step = self.step_for(what, at, nonce);
        match self.stage {
            Stage::Pausing(_) => Event::Paused { next: step, at },
            Stage::Draft
            | Stage::Active(_)
            | Stage::Paused(_)
            | Stage::Stopped(_)
            | Stage::Failed { .. }
            | Stage::Concluded(_) => Event::Began { step, at },
        }
    }

    /// The same step once more, with the whole time that a person has for it. A
    /// synthesis that was due because no round remained is not, when there are more
    /// rounds now.
    pub(super) fn begin_again(&self, step: &Step, at: Timestamp, nonce: Nonce) -> Event {
        let turns = self.turns();
        let what = match &step.what {
            What::Synthesis { why: Why::Rounds, .. } if turns < self.max_rounds => {
                What::Evaluation { turn: turns }
            }
            what => what.clone(),
        };
        Event::Began { step: self.step_for(what, at, nonce), at }
    }

    /// The facilitator writes the conclusion now.
    pub(super) fn begin_synthesis(&self, why: Why, at: Timestamp, nonce: Nonce) -> Event {
        let what = What::Synthesis { by: self.facilitator.id.clone(), why };
        Event::Began { step: self.step_for(what, at, nonce), at }
    }

    /// After a turn, which stands in the transcript by now.
    pub(super) fn after_turn(&self, at: Timestamp, nonce: Nonce) -> Vec<Event> {
        let turns = self.turns();
        let by = self.facilitator.id.clone();
        if let Some(why) = self.nobody_answers() {
            let what = if turns < self.max_rounds {
                What::Evaluation { turn: turns }
            } else {
                What::Synthesis { by, why: Why::Rounds }
            };
            return vec![Event::Failed { why, next: self.step_for(what, at, nonce), at }];
        }
        if turns >= self.max_rounds {
            let note = match self.max_rounds {
                1 => "The only round is over.".to_owned(),
                all => format!("All {all} rounds are over."),
            };
            return self.by_rule(turns, note, Why::Rounds, at, nonce);
        }
        let speakers = self.speakers();
        let dry = !speakers.iter().any(|participant| self.room_affords(&participant.seat));
        if dry {
            let note = "The budget has no room for another turn.".to_owned();
            return self.by_rule(turns, note, Why::Budget, at, nonce);
        }
        if self.affords(&self.facilitator) {
            return vec![self.go_on(What::Evaluation { turn: turns }, at, nonce)];
        }
        let note = "The facilitator's budget is spent: the next in turn speaks.";
        let decided = self.in_turn(turns, How::Rule, note.to_owned());
        let next = self.after_decision(&decided, at, nonce);
        vec![Event::Decided { decided, at }, next]
    }

    fn by_rule(
        &self,
        turn: u32,
        note: String,
        why: Why,
        at: Timestamp,
        nonce: Nonce,
    ) -> Vec<Event> {
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
        vec![Event::Decided { decided, at }, self.go_on(what, at, nonce)]
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

    /// What a decision makes next.
    pub(super) fn after_decision(&self, decided: &Decided, at: Timestamp, nonce: Nonce) -> Event {
        let what = match (decided.decision, &decided.next) {
            (Choice::Continue, Some(next)) => What::Turn {
                turn: self.turns() + 1,
                speaker: next.clone(),
                question: decided.question.clone().unwrap_or_default(),
            },
            (Choice::Synthesize, _) | (Choice::Continue, None) => {
                What::Synthesis { by: self.facilitator.id.clone(), why: Why::Decided }
            }
        };
        self.go_on(what, at, nonce)
    }

    /// After a model could not write the synthesis: the next model does, and when
    /// there is none left the discussion has failed.
    pub(super) fn after_failed_synthesis(
        &self,
        why: Why,
        failure: &str,
        at: Timestamp,
        nonce: Nonce,
    ) -> Event {
        let failed: Vec<&Seat> = self
            .transcript
            .iter()
            .filter_map(|entry| match &entry.said {
                Said::SynthesisFailed { by, .. } => self.seat(by).map(AsRef::as_ref),
                Said::Decision(_)
                | Said::Turn { .. }
                | Said::Interjection { .. }
                | Said::Cut { .. } => None,
            })
            .collect();
        let untried = |seat: &&Seat| {
            !seat.is_person() && !failed.iter().any(|other| other.model() == seat.model())
        };
        // An observer's model stays silent here too.
        let speakers = self.participants.iter().filter(|participant| participant.role.speaks());
        match speakers.map(|participant| participant.seat.as_ref()).find(untried) {
            Some(seat) => self.go_on(What::Synthesis { by: seat.id.clone(), why }, at, nonce),
            None => {
                let what = What::Synthesis { by: self.facilitator.id.clone(), why };
                let why = format!("No model could write the conclusion. {failure}");
                Event::Failed { why, next: self.step_for(what, at, nonce), at }
            }
        }
    }

    /// Why nobody seems to be there: as many failed turns in a row as there are
    /// speakers, or not one word in all rounds.
    fn nobody_answers(&self) -> Option<String> {
        let turns = self.transcript.iter().rev().filter_map(|entry| match &entry.said {
            Said::Turn { spoken, .. } => Some(spoken),
            Said::Decision(_)
            | Said::Interjection { .. }
            | Said::Cut { .. }
            | Said::SynthesisFailed { .. } => None,
        });
        let failures: Vec<&str> = turns
            .map_while(|spoken| match spoken {
                Spoken::Failed { failure, .. } => Some(failure.message.as_str()),
                Spoken::Words(_) => None,
            })
            .collect();
        let speakers = self.participants.iter().filter(|p| p.role.speaks()).count();
        let silent = failures.len() >= speakers.max(2);
        let never = failures.len() as u32 >= self.max_rounds;
        let last = failures.first().copied().unwrap_or_default();
        (silent || never).then(|| match failures.len() {
            1 => format!("The only turn failed. {last}"),
            many => format!("The last {many} turns failed. {last}"),
        })
    }
}

pub fn usual_question(turn: u32) -> &'static str {
    if turn == 0 { FIRST_QUESTION } else { NEXT_QUESTION }
}
