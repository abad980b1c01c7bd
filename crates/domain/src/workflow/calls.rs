//! What a run wants done now.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::begin::later;
use super::definition::Kind;
use super::event::{Doing, Place};
use super::kinds::{Act, Does};
use super::signal::{NUMBER, Signal};
use super::{Acting, Attempt, Opening, Running, Stage, State, Status, StepRun};
use crate::budget::{Allowance, Amount};
use crate::call::{Call, Work};
use crate::errand::Errand;
use crate::ids::{CallId, SessionId};

/// A call, and what it is for.
pub(super) struct Wanted {
    pub call: Call,
    pub what: What,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum What {
    Look(Place),
    Ask(Place),
    Do(Place),
    Watch(Place),
    Await(Place),
    /// A sleep is over.
    Wake(Place),
    /// The time of a wait or of an approval is over.
    TimeOver(Place),
    /// The next attempt begins.
    Again(Place),
    /// An attempt has taken too long.
    AttemptLate(Place),
    /// The whole step has.
    StepLate(Place),
    Stop(String),
    /// What this step was about to open, though nobody wants it any more.
    CalledOff(Place),
    /// `finally` has.
    FinallyLate,
}

impl Attempt {
    /// What an attempt begins with.
    pub(super) fn first(act: Act, with: &serde_json::Map<String, serde_json::Value>) -> Attempt {
        match act.is_asked(with) {
            true => Attempt::Looking,
            false => Attempt::Doing { answer: None },
        }
    }
}

fn call(what: &str, place: &Place, tries: u32) -> CallId {
    CallId::new(what).of(place).nth(tries)
}

/// The question of an attempt; a second one is another call.
pub(super) fn ask_call(place: &Place, step: &StepRun) -> CallId {
    match &step.status {
        Status::Running(Running::Act(Acting {
            tries,
            attempt: Attempt::Asking { asked, .. },
            ..
        })) if *asked > 1 => call("askAgain", place, *tries),
        Status::Running(Running::Act(acting)) => call("ask", place, acting.tries),
        Status::Running(_)
        | Status::Done(_)
        | Status::Skipped { .. }
        | Status::Failed { .. }
        | Status::Cancelled { .. } => call("ask", place, 0),
    }
}

impl State {
    pub(super) fn calls(&self) -> Vec<Wanted> {
        let mut wanted = vec![];
        for session in &self.stopping {
            let call = Call { id: CallId::new("stop").of(session), work: Work::Errand };
            wanted.push(Wanted { call, what: What::Stop(session.clone()) });
        }
        for (place, opening) in &self.called_off {
            let call = Call { id: opening.call.clone(), work: Work::Errand };
            wanted.push(Wanted { call, what: What::CalledOff(place.clone()) });
        }
        match &self.stage {
            Stage::Ended { .. } => return wanted,
            Stage::Finally { until, .. } => {
                let call = Call { id: CallId::new("finally"), work: Work::Sleep { until: *until } };
                wanted.push(Wanted { call, what: What::FinallyLate });
            }
            Stage::Running => {}
        }
        for (place, step) in &self.steps {
            if let Status::Running(running) = &step.status {
                self.calls_of(place, step, running, &mut wanted);
            }
        }
        wanted
    }

    fn calls_of(&self, place: &Place, step: &StepRun, running: &Running, wanted: &mut Vec<Wanted>) {
        let mut want = |id: CallId, work: Work, what: What| {
            wanted.push(Wanted { call: Call { id, work }, what });
        };
        let sleep = |until: Timestamp| Work::Sleep { until };
        let own = place.clone();
        match (running, step.doing.as_deref()) {
            (Running::Act(acting), _) => {
                let tries = acting.tries;
                let is_due = !self.waits_for_room(place);
                let (id, work, what) = match &acting.attempt {
                    Attempt::Looking => (call("look", place, tries), Work::Errand, What::Look(own)),
                    Attempt::Asking { .. } => (ask_call(place, step), Work::Ask, What::Ask(own)),
                    Attempt::Doing { .. } => {
                        (call("do", place, tries), Work::Errand, What::Do(own))
                    }
                    Attempt::Watching { .. } => {
                        (call("watch", place, tries), Work::Errand, What::Watch(own))
                    }
                    Attempt::Pausing { until } => {
                        (call("again", place, tries), sleep(*until), What::Again(own))
                    }
                };
                if is_due {
                    want(id, work, what);
                }
                let timeout_ms = self.definition.step(place.id()).and_then(|step| step.timeout_ms);
                if let (Some(ms), false) =
                    (timeout_ms, matches!(acting.attempt, Attempt::Pausing { .. }))
                {
                    let until = later(acting.attempt_at, ms);
                    want(
                        call("timeout", place, tries),
                        sleep(until),
                        What::AttemptLate(place.clone()),
                    );
                }
            }
            (Running::Sleep, Some(Doing::Sleep { until })) => {
                want(call("sleep", place, 1), sleep(*until), What::Wake(own));
            }
            (Running::Wait, Some(Doing::Wait { until, .. })) => {
                want(call("await", place, 1), Work::Errand, What::Await(own));
                if let Some(until) = until {
                    want(call("over", place, 1), sleep(*until), What::TimeOver(place.clone()));
                }
            }
            (Running::Approve { .. }, Some(Doing::Approve { until: Some(until), .. })) => {
                want(call("over", place, 1), sleep(*until), What::TimeOver(own));
            }
            (
                Running::Sleep
                | Running::Wait
                | Running::Approve { .. }
                | Running::Foreach
                | Running::Repeat { .. },
                _,
            ) => {}
        }
        if let Some(ms) = self.definition.step(place.id()).and_then(|step| step.deadline_ms) {
            want(
                call("late", place, 1),
                sleep(later(step.began_at, ms)),
                What::StepLate(place.clone()),
            );
        }
    }

    /// What an errand that `due` named is.
    pub(super) fn errand_of(&self, call: &CallId) -> Option<Errand> {
        let wanted = self.calls().into_iter().find(|wanted| wanted.call.id == *call)?;
        match wanted.what {
            What::Look(place) => {
                let (act, with) = self.act(&place)?;
                Some(Errand::Look { act: act.name(), with: with.clone() })
            }
            What::Do(place) => self.deed(&place),
            What::CalledOff(place) => Some(self.called_off.get(&place)?.errand.clone()),
            What::Watch(place) => match self.attempt(&place)? {
                Attempt::Watching { session } => {
                    let act = self.act(&place)?.0.name();
                    Some(Errand::Watch { act, session: session.clone() })
                }
                Attempt::Looking
                | Attempt::Asking { .. }
                | Attempt::Doing { .. }
                | Attempt::Pausing { .. } => None,
            },
            What::Await(place) => match self.steps.get(&place)?.doing.as_deref()? {
                Doing::Wait { all, signals, .. } => {
                    let (all, signals, since) = (*all, signals.clone(), self.began_at);
                    Some(Errand::Await { all, signals, since, taken: self.taken(&place) })
                }
                Doing::Act { .. }
                | Doing::Sleep { .. }
                | Doing::Approve { .. }
                | Doing::Foreach { .. }
                | Doing::Repeat {} => None,
            },
            What::Stop(session) => Some(Errand::Stop { session }),
            What::Ask(_)
            | What::Wake(_)
            | What::TimeOver(_)
            | What::Again(_)
            | What::AttemptLate(_)
            | What::StepLate(_)
            | What::FinallyLate => None,
        }
    }

    /// Signals that this wait has taken in earlier rounds. What is so from then on can be
    /// taken again.
    pub(super) fn taken(&self, place: &Place) -> Vec<Signal> {
        let earlier = self.steps.iter().filter(|(other, _)| self.is_same_wait(place, other));
        let outputs = earlier.filter_map(|(_, step)| match &step.status {
            Status::Done(output) => output.get("signals").and_then(Value::as_array),
            Status::Running(_)
            | Status::Skipped { .. }
            | Status::Failed { .. }
            | Status::Cancelled { .. } => None,
        });
        let signals = outputs.flatten().filter_map(Value::as_object);
        signals.filter(|signal| signal.contains_key(NUMBER)).cloned().collect()
    }

    /// Whether two places are one step in rounds of the same `repeat`. Items of a `foreach`
    /// wait each for itself.
    fn is_same_wait(&self, place: &Place, other: &Place) -> bool {
        if place.id() != other.id() {
            return false;
        }
        match (place.around(), other.around()) {
            (None, None) => true,
            (Some((outer, number)), Some((other, other_number))) => {
                let around = self.definition.step(outer.id()).map(|step| &step.kind);
                let is_round = matches!(around, Some(Kind::Repeat(_)));
                (is_round || number == other_number) && self.is_same_wait(&outer, &other)
            }
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    fn key(&self, place: &Place, acting: &Acting) -> String {
        match acting.sessions {
            0 => self.first_key(place),
            earlier => format!("{}#{}", self.first_key(place), earlier + 1),
        }
    }

    /// The session that a step is about to open: whoever opens one that is waited for
    /// derives the same id.
    pub(super) fn to_open(&self, place: &Place) -> Option<SessionId> {
        let step = self.steps.get(place)?;
        let Status::Running(Running::Act(acting)) = &step.status else { return None };
        let is_opening = matches!(acting.attempt, Attempt::Doing { .. }) || acting.gave_up;
        let opens = is_opening && self.act(place)?.0.opens();
        opens.then(|| SessionId::derived(&self.key(place, acting), step.began_at))
    }

    /// What a step is about to open, or has perhaps opened when it was given up.
    pub(super) fn opening(&self, place: &Place) -> Option<Opening> {
        // One that has no share yet has not begun.
        let session = self.to_open(place).filter(|_| !self.wants(place))?.to_string();
        let Status::Running(Running::Act(acting)) = &self.steps.get(place)?.status else {
            return None;
        };
        let errand = self.deed_of(place, acting, None)?;
        Some(Opening { call: call("do", place, acting.tries), errand, session })
    }

    /// What a session may spend that a step opens: its share of the run's budget, and no
    /// more than the step says; all that is left in logs that are older than shares.
    fn allowance(&self, place: &Place) -> Option<Value> {
        let granted = self.to_open(place).and_then(|id| self.granted.get(&id.to_string()));
        let left = || self.ledger.free(Amount::default()).filter(|_| self.spends(place));
        let share = granted.map(|(_, most)| *most).or_else(left).unwrap_or_default();
        let most = share.at_most(self.own_budget(place)).spendable();
        let Allowance { tokens, cost, .. } = most;
        (!most.is_none()).then(|| json!({ "tokens": tokens, "cost": cost }))
    }

    /// The one errand of a step that has an effect. Its key is the same for all attempts,
    /// because one that was given up may have been carried out.
    fn deed(&self, place: &Place) -> Option<Errand> {
        let step = self.steps.get(place)?;
        let Status::Running(Running::Act(acting)) = &step.status else { return None };
        let Attempt::Doing { answer } = &acting.attempt else { return None };
        self.deed_of(place, acting, answer.as_ref())
    }

    fn deed_of(&self, place: &Place, acting: &Acting, answer: Option<&Value>) -> Option<Errand> {
        let at = self.steps.get(place)?.began_at;
        let (act, with) = self.act(place)?;
        let key = self.key(place, acting);
        let mut with = with.clone();
        if let Some(answer) = answer {
            with.insert("answer".into(), answer.clone());
        }
        with.extend(self.allowance(place).map(|most| ("budget".to_owned(), most)));
        let name = act.name();
        Some(match act.spec().does {
            Does::Requests => Errand::Request { with, key },
            Does::Writes => Errand::Write { with, key },
            Does::Awaits => Errand::Open { act: name, with, key, at },
            Does::Tells | Does::Opens { .. } | Does::Nothing => {
                Errand::Tell { act: name, with, key }
            }
        })
    }
}
