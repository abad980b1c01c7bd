//! What becomes of a step's outcome, whether a model or a person brings it.

use super::decision::{self, Choices, Decision};
use super::plan::{NO_ROOM, usual_question};
use super::prompt;
use super::{Choice, Decided, Event, How, Said, SeatId, State, Step, What, Why, check};
use crate::budget::{Amount, Claim, Need};
use crate::call::{Answer, Failed, FailureKind, Outcome, Timing, Usage};
use crate::form::{Form, Moment, Ruling};
use crate::ids::CallId;
use crate::limits;
use crate::reject::Reject;
use crate::spoken;

/// What a person who leads has chosen.
pub struct Chosen {
    pub decision: Choice,
    pub next: Option<SeatId>,
    pub question: Option<String>,
    pub reasoning: Option<String>,
}

impl State {
    pub(super) fn ended(&self, call: &CallId, outcome: Outcome, moment: &Moment) -> Ruling<Event> {
        let Some(step) = self.under_way().filter(|step| step.call_id() == *call) else {
            return self.settle_cut_off(call, outcome);
        };
        let ended = match (self.awaited(), &outcome) {
            // Who was given no time limit has all the time there is.
            (Some(_), Outcome::Elapsed) if step.reply_by.is_some() => {
                Err(Failed::late("No reply arrived in time."))
            }
            (Some(_), _) => return Err(Reject::Stale),
            (None, _) => outcome.ended()?,
        };
        let is_spent = matches!(&ended, Err(failed) if self.is_spent(step, failed));
        let condensed = prompt::ask(self, step).map_or(0, |asked| asked.condensed);
        match &step.what {
            What::Opening => Ok(self.decided(0, ended, condensed, moment)),
            What::Evaluation { turn } if is_spent => {
                Ok(self.by_rule(*turn, NO_ROOM.to_owned(), Why::Budget, moment))
            }
            What::Evaluation { turn } => Ok(self.decided(*turn, ended, condensed, moment)),
            What::Turn { turn, speaker, .. } => {
                let name = self.seat(speaker).map(|seat| seat.name.clone()).unwrap_or_default();
                let (turn, speaker) = (*turn, speaker.clone());
                let event = match spoken::heard(&name, &step.nonce, limits::TURN_BYTES, ended) {
                    Ok(answer) => Event::Spoke { turn, speaker, answer, condensed, at: moment.at },
                    Err(Failed { failure, partial }) => Event::TurnFailed {
                        turn,
                        speaker,
                        failure,
                        partial,
                        condensed,
                        at: moment.at,
                    },
                };
                Ok(self.then(event, |state| match is_spent {
                    true => state.by_rule(turn, NO_ROOM.to_owned(), Why::Budget, moment),
                    false => state.after_turn(moment),
                }))
            }
            What::Synthesis { by, why } => {
                let (by, why) = (by.clone(), *why);
                match spoken::heard(&self.facilitator.name, &step.nonce, limits::TURN_BYTES, ended)
                {
                    Ok(answer) => {
                        Ok(vec![Event::Concluded { by, why, answer, condensed, at: moment.at }])
                    }
                    Err(Failed { failure, partial }) => {
                        let message = failure.message.clone();
                        let event = Event::SynthesisFailed { by, failure, partial, at: moment.at };
                        Ok(self.then(event, |state| {
                            vec![state.after_failed_synthesis(why, &message, moment)]
                        }))
                    }
                }
            }
        }
    }

    /// Whether the discussion itself, and not only the seat, had no room for the step.
    fn is_spent(&self, step: &Step, failed: &Failed) -> bool {
        if failed.failure.kind != FailureKind::OutOfBudget {
            return false;
        }
        let Some(asked) = prompt::ask(self, step) else { return false };
        let (mut ask, claim) = (asked.ask, Claim { seat: None, ..self.claim(&step.call_id()) });
        self.ledger.fit(&mut ask, &claim);
        self.ledger.admit(&Need::of(&ask, &claim), Amount::default()).is_err()
    }

    /// The event, and what follows from it.
    pub(super) fn then(&self, event: Event, next: impl FnOnce(&State) -> Vec<Event>) -> Vec<Event> {
        let mut after = self.clone();
        after.follow(&event);
        let next = next(&after);
        [event].into_iter().chain(next).collect()
    }

    fn decided(
        &self,
        turn: u32,
        ended: Result<Answer, Failed>,
        condensed: u32,
        moment: &Moment,
    ) -> Vec<Event> {
        let (decided, synthesis) = self.read(turn, ended);
        let decided = Decided { condensed, ..decided };
        let event = Event::Decided { decided: decided.clone(), at: moment.at };
        self.then(event, |state| match synthesis {
            Some(answer) => {
                let by = state.facilitator.id.clone();
                vec![Event::Concluded { by, why: Why::Decided, answer, condensed, at: moment.at }]
            }
            None => state.after_decision(&decided, moment),
        })
    }

    /// The decision in an answer, and the conclusion if it brings one. What cannot be
    /// read falls to the next in turn.
    fn read(&self, turn: u32, ended: Result<Answer, Failed>) -> (Decided, Option<Answer>) {
        let answer = match ended {
            Ok(answer) => answer,
            Err(Failed { failure, partial }) => {
                let raw = Some(partial).filter(|partial| !partial.is_empty()).map(within);
                let note = format!("The facilitator did not answer: {}", failure.message);
                let usage = failure.usage;
                let in_turn = self.in_turn(turn, How::Fallback, note);
                return (Decided { raw, usage, ..in_turn }, None);
            }
        };
        let (usage, timing) = (answer.usage, answer.timing);
        let read = self.with_choices(turn, |choices| decision::read(&answer.text, choices));
        let read = match read {
            Ok(read) => read,
            Err(why) => {
                let raw = Some(within(answer.text));
                let fallback = self.in_turn(turn, How::Fallback, why);
                return (Decided { raw, usage, timing, ..fallback }, None);
            }
        };
        let how = match read.how {
            decision::How::Parsed => How::Parsed,
            decision::How::Repaired => How::Repaired,
        };
        let mut synthesis = None;
        let (decision, next, question) = match read.decision {
            Decision::Continue { next, question } => {
                let question = question.unwrap_or_else(|| usual_question(turn).to_owned());
                (Choice::Continue, Some(SeatId(next)), Some(question))
            }
            Decision::Synthesize { synthesis: own } => {
                synthesis = own.and_then(|text| self.own_synthesis(&answer, text));
                (Choice::Synthesize, None, None)
            }
        };
        let note = (!read.mended.is_empty()).then(|| read.mended.join("; "));
        let raw = matches!(how, How::Repaired).then(|| within(answer.text));
        let reasoning = read.reasoning;
        let decided = Decided {
            turn,
            decision,
            next,
            question,
            reasoning,
            how,
            note,
            raw,
            usage,
            timing,
            condensed: 0,
        };
        (decided, synthesis)
    }

    /// A conclusion that came with the decision, which keeps what both took.
    fn own_synthesis(&self, whole: &Answer, text: String) -> Option<Answer> {
        let own = Answer {
            text,
            reasoning: String::new(),
            usage: Usage::default(),
            timing: Timing::default(),
            ..whole.clone()
        };
        let nonce = &self.under_way()?.nonce;
        // What is nothing but marks is asked for once more, as if it were not there.
        spoken::heard(&self.facilitator.name, nonce, limits::TURN_BYTES, Ok(own)).ok()
    }

    pub(super) fn with_choices<T>(&self, turn: u32, read: impl FnOnce(&Choices) -> T) -> T {
        let may_speak: Vec<&SeatId> = self.speakers().into_iter().map(|p| &p.seat.id).collect();
        let seats = self.participants.iter().map(|p| &p.seat).chain([&self.facilitator]);
        let (speakers, others): (Vec<_>, Vec<_>) = seats
            .map(|seat| (seat.id.0.as_str(), seat.name.as_str()))
            .partition(|(id, _)| may_speak.iter().any(|speaker| speaker.0 == *id));
        read(&Choices { speakers: &speakers, others: &others, may_synthesize: turn > 0 })
    }

    /// A step that a stop or a conclusion cut off hands back what had been said, once.
    fn settle_cut_off(&self, of: &CallId, outcome: Outcome) -> Ruling<Event> {
        let is_cut = self.transcript.iter().rev().any(
            |entry| matches!(&entry.said, Said::Cut { call, partial: None, .. } if call == of),
        );
        if !is_cut {
            return Err(Reject::Stale);
        }
        let (partial, usage) = outcome.handed_back();
        Ok(vec![Event::CutOff { call: of.clone(), partial: within(partial), usage }])
    }

    /// A person's turn, or the conclusion of a person who leads.
    pub(super) fn reply(
        &self,
        seat: Option<SeatId>,
        text: String,
        moment: &Moment,
    ) -> Ruling<Event> {
        let step = self.awaits(seat)?;
        match &step.what {
            What::Opening | What::Evaluation { .. } => Err(self.not_now(
                "The facilitator must decide who speaks next: use `decide`, not `reply`.",
            )),
            What::Turn { turn, speaker, .. } => {
                check::reply(&text)?;
                let (turn, speaker) = (*turn, speaker.clone());
                let event = Event::Spoke {
                    turn,
                    speaker,
                    answer: Answer::by_person(text),
                    condensed: 0,
                    at: moment.at,
                };
                Ok(self.then(event, |state| state.after_turn(moment)))
            }
            What::Synthesis { by, why } => {
                check::reply(&text)?;
                let (by, why) = (by.clone(), *why);
                Ok(vec![Event::Concluded {
                    by,
                    why,
                    answer: Answer::by_person(text),
                    condensed: 0,
                    at: moment.at,
                }])
            }
        }
    }

    /// The step that waits for a person, and for this one if a seat is named.
    fn awaits(&self, seat: Option<SeatId>) -> Result<&Step, Reject> {
        if let Some(unknown) = seat.as_ref().filter(|seat| self.seat(seat).is_none()) {
            return Err(Reject::Unknown(format!("No one here has the id {:?}.", unknown.0)));
        }
        let Some(step) = self.awaited() else {
            return Err(self.not_now("The discussion is not waiting for a person now."));
        };
        let awaited = self.seat_of(step);
        if let (Some(seat), Some(awaited)) = (&seat, awaited)
            && awaited.id != *seat
        {
            return Err(self.not_now(&format!("It is {}'s turn.", awaited.name)));
        }
        Ok(step)
    }

    pub(super) fn decide_by_hand(&self, chosen: Chosen, moment: &Moment) -> Ruling<Event> {
        let step = self.awaits(None)?;
        let turn = match &step.what {
            What::Opening => 0,
            What::Evaluation { turn } => *turn,
            What::Turn { .. } | What::Synthesis { .. } => {
                return Err(self.not_now("A reply is needed, not a decision: use `reply`."));
            }
        };
        let Chosen { decision, next, question, reasoning } = chosen;
        let mut wrong = vec![];
        check::decision(self, &mut wrong, turn, decision, next.as_ref(), question.as_deref());
        let reasoning = reasoning.unwrap_or_default();
        crate::reject::size(&mut wrong, "reasoning", &reasoning, limits::REASONING_BYTES);
        crate::reject::settled(wrong)?;
        let goes_on = decision == Choice::Continue;
        let decided = Decided {
            turn,
            decision,
            next: next.filter(|_| goes_on),
            question: question.filter(|_| goes_on),
            reasoning,
            how: How::Person,
            note: None,
            raw: None,
            usage: Usage::default(),
            timing: Timing::default(),
            condensed: 0,
        };
        let event = Event::Decided { decided: decided.clone(), at: moment.at };
        Ok(self.then(event, |state| state.after_decision(&decided, moment)))
    }
}

fn within(text: String) -> String {
    spoken::within(text, limits::TURN_BYTES)
}
