//! What a run wants done now.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::begin::later;
use super::definition::Kind;
use super::event::{Doing, Place};
use super::kinds::Act;
use super::signal::{NUMBER, Signal};
use super::{Acting, Attempt, Running, Stage, State, Status, StepRun};
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
    /// `finally` has.
    FinallyLate,
}

impl Attempt {
    /// What an attempt begins with.
    pub(super) fn first(act: Act, with: &serde_json::Map<String, serde_json::Value>) -> Attempt {
        match act {
            Act::Ask => Attempt::Looking,
            Act::WhiteboardPost | Act::WhiteboardAnnotate | Act::WhiteboardVote
                if with.contains_key("ask") =>
            {
                Attempt::Looking
            }
            Act::WhiteboardPost
            | Act::WhiteboardAnnotate
            | Act::WhiteboardVote
            | Act::Boardroom
            | Act::Discussion
            | Act::WhiteboardOpen
            | Act::WhiteboardRegister
            | Act::WhiteboardTransition
            | Act::WhiteboardConflicts
            | Act::WhiteboardSummarize
            | Act::WhiteboardArchive
            | Act::CouncilOpen
            | Act::CouncilPost
            | Act::CouncilRead
            | Act::CouncilClose
            | Act::Workflow
            | Act::Http
            | Act::Write => Attempt::Doing { answer: None },
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
                want(id, work, what);
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

    /// The session that a step is about to open: whoever opens it derives the same id.
    pub(super) fn to_open(&self, place: &Place) -> Option<SessionId> {
        let step = self.steps.get(place)?;
        let Status::Running(Running::Act(acting)) = &step.status else { return None };
        let is_opening = matches!(acting.attempt, Attempt::Doing { .. });
        let opens = is_opening && self.act(place)?.0.is_awaited();
        opens.then(|| SessionId::derived(&self.key(place, acting), step.began_at))
    }

    /// What a session may spend that a step opens: the step's own budget, and no more than
    /// is left of the run's.
    fn left(&self, place: &Place) -> Option<Value> {
        let own = self.definition.step(place.id()).and_then(|step| step.budget).unwrap_or_default();
        let most = self.ledger.budget().map(|budget| budget.most).unwrap_or_default();
        let spent = self.ledger.counted();
        let tokens = most.tokens.map(|tokens| tokens.saturating_sub(spent.tokens));
        let cost = most.cost.map(|cost| (cost - spent.cost).max(0.0));
        let tokens = tokens.into_iter().chain(own.tokens).min();
        let cost = cost.into_iter().chain(own.usd).reduce(f64::min);
        (tokens.is_some() || cost.is_some()).then(|| json!({ "tokens": tokens, "cost": cost }))
    }

    /// The one errand of a step that has an effect. Its key is the same for all attempts,
    /// because one that was given up may have been carried out.
    fn deed(&self, place: &Place) -> Option<Errand> {
        let step = self.steps.get(place)?;
        let Status::Running(Running::Act(acting)) = &step.status else { return None };
        let Attempt::Doing { answer } = &acting.attempt else { return None };
        let (act, with) = self.act(place)?;
        let key = self.key(place, acting);
        let mut with = with.clone();
        if let Some(answer) = answer {
            with.insert("answer".into(), answer.clone());
        }
        let name = act.name();
        Some(match act {
            Act::Http => Errand::Request { with, key },
            Act::Write => Errand::Write { with, key },
            Act::Boardroom | Act::Discussion => {
                with.extend(self.left(place).map(|left| ("budget".to_owned(), left)));
                Errand::Open { act: name, with, key, at: step.began_at }
            }
            // It may outlive the run, and is given what its step says and nothing else.
            Act::CouncilOpen => {
                let own = self.definition.step(place.id()).and_then(|step| step.budget);
                let own = own.map(|own| json!({ "tokens": own.tokens, "cost": own.usd }));
                with.extend(own.map(|own| ("budget".to_owned(), own)));
                Errand::Tell { act: name, with, key }
            }
            Act::Workflow => Errand::Open { act: name, with, key, at: step.began_at },
            Act::Ask
            | Act::WhiteboardOpen
            | Act::WhiteboardRegister
            | Act::WhiteboardPost
            | Act::WhiteboardAnnotate
            | Act::WhiteboardVote
            | Act::WhiteboardTransition
            | Act::WhiteboardConflicts
            | Act::WhiteboardSummarize
            | Act::WhiteboardArchive
            | Act::CouncilPost
            | Act::CouncilRead
            | Act::CouncilClose => Errand::Tell { act: name, with, key },
        })
    }
}
