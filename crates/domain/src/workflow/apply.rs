//! What each event makes of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::calls::ask_call;
use super::event::{Copied, Doing, Event, Place, Took};
use super::kinds::{Act, Does};
use super::{Acting, Attempt, Cancel, Cut, Decided, Running, Stage, State, Status, StepRun};
use crate::budget::{Allowance, Amount, Budget, WhenSpent, prompt_tokens};
use crate::call::Failure;
use crate::ids::ModelName;
use crate::ledger::{Ended, Ledger, Settled, Usage};

/// What a run may spend by its file: a question that has no room fails its step.
fn budgeted(budget: Option<super::Budget>, at: Timestamp) -> Ledger {
    let mut ledger = Ledger::default();
    if let Some(budget) = budget {
        let most = budget.allowance();
        ledger.allow(Budget { most, when_spent: WhenSpent::Conclude });
        ledger.begin(at);
    }
    ledger
}

impl State {
    pub(super) fn opened_by(event: &Event) -> Option<State> {
        let Event::Begun {
            run,
            definition,
            source,
            inputs,
            title,
            starter,
            parent,
            forked,
            nonce,
            at,
        } = event
        else {
            return None;
        };
        let copied = forked.iter().flat_map(|forked| &forked.steps);
        let steps = copied.map(|Copied { place, output }| {
            let status = match output {
                Some(output) => Status::Done(Arc::new(output.clone())),
                None => Status::Skipped { why: "it was skipped where this run comes from".into() },
            };
            let step = StepRun {
                began_at: *at,
                ended_at: Some(*at),
                doing: None,
                status,
                session: None,
                spent: Usage::default(),
            };
            (place.clone(), Arc::new(step))
        });
        Some(State {
            run: *run,
            definition: definition.clone(),
            source: source.clone(),
            inputs: Arc::new(inputs.clone()),
            title: title.clone(),
            starter: starter.clone(),
            parent: *parent,
            forked: forked.as_ref().map(|forked| (forked.run, forked.from.clone())),
            began_at: *at,
            changed_at: *at,
            steps: steps.collect(),
            cancel: None,
            opened: BTreeSet::new(),
            stopping: BTreeSet::new(),
            called_off: BTreeMap::new(),
            granted: BTreeMap::new(),
            counted: BTreeSet::new(),
            cut: BTreeMap::new(),
            ledger: budgeted(definition.budget, *at),
            code: nonce.clone(),
            is_veiled: false,
            stage: Stage::Running,
        })
    }

    pub(super) fn follow(&mut self, event: &Event) {
        match event {
            Event::Begun { .. } => {}
            Event::StepBegan { place, doing, at } => {
                let running = match doing {
                    Doing::Act { act, with } => Running::Act(Acting {
                        tries: 1,
                        attempt_at: *at,
                        sessions: 0,
                        gave_up: false,
                        attempt: Attempt::first(*act, with),
                    }),
                    Doing::Sleep { .. } => Running::Sleep,
                    Doing::Wait { .. } => Running::Wait,
                    Doing::Approve { .. } => Running::Approve { decided: vec![] },
                    Doing::Foreach { .. } => Running::Foreach,
                    Doing::Repeat {} => Running::Repeat { rounds: vec![] },
                };
                let step = StepRun {
                    began_at: *at,
                    ended_at: None,
                    doing: Some(Arc::new(doing.clone())),
                    status: Status::Running(running),
                    session: None,
                    spent: Usage::default(),
                };
                self.steps.insert(place.clone(), Arc::new(step));
                self.changed_at = *at;
            }
            Event::SessionOpened { place, session, at } => {
                let opening = self.called_off.remove(place);
                let asked_for = opening.as_ref().map(|opening| opening.session.clone());
                let asked_for = asked_for.or_else(|| Some(self.to_open(place)?.to_string()));
                if let Some(grant) = asked_for.and_then(|id| self.granted.remove(&id)) {
                    self.granted.insert(session.clone(), grant);
                }
                if let Some(step) = self.steps.get_mut(place) {
                    Arc::make_mut(step).session = Some(session.clone());
                }
                self.acting(place, *at, |acting| {
                    acting.sessions += 1;
                    acting.gave_up = false;
                    acting.attempt = Attempt::Watching { session: session.clone() };
                });
                if opening.is_some() {
                    self.unwanted(place, session);
                }
                self.changed_at = *at;
            }
            Event::NotOpened { place, at } => {
                self.called_off.remove(place);
                self.release(place);
                self.changed_at = *at;
            }
            Event::Granted { place, most, .. } => self.grant(place, *most),
            Event::SeatFound { place, seat, at } => {
                self.ledger.note(&seat.prices);
                self.acting(place, *at, |acting| {
                    let seat = Arc::new(seat.clone());
                    acting.attempt = Attempt::Asking { seat, asked: 1, so_far: Value::Null };
                });
            }
            Event::Answered { place, answer, at } => {
                self.account(place, (Ended::Answered, answer.usage), &answer.text);
                if let Some(next) = self.after_answer(place, answer) {
                    self.acting(place, *at, |acting| acting.attempt = next);
                }
            }
            Event::Decided { place, by, decision, reason, fields, at } => {
                let (by, reason, fields) = (by.clone(), reason.clone(), fields.clone());
                let one = Decided { by, decision: *decision, reason, fields, at: *at };
                self.running(place, *at, |running| {
                    if let Running::Approve { decided } = running {
                        decided.push(one);
                    }
                });
            }
            Event::RoundEnded { place, output, at, .. } => {
                self.running(place, *at, |running| {
                    if let Running::Repeat { rounds } = running {
                        rounds.push(output.clone());
                    }
                });
            }
            Event::AttemptFailed { place, failure, again_at, at } => {
                self.account_failed(place, Some(failure));
                self.let_go(place);
                // Whoever failed to open a session has opened none; the clock cannot tell.
                let is_late = failure.attempts == 0;
                self.acting(place, *at, |acting| {
                    acting.gave_up |= is_late && matches!(acting.attempt, Attempt::Doing { .. });
                    acting.attempt = Attempt::Pausing { until: *again_at };
                });
                self.release(place);
            }
            Event::AttemptBegan { place, at } => {
                let doing = self.steps.get(place).and_then(|step| step.doing.clone());
                self.acting(place, *at, |acting| {
                    acting.tries += 1;
                    acting.attempt_at = *at;
                    if let Some(Doing::Act { act, with }) = doing.as_deref() {
                        acting.attempt = Attempt::first(*act, with);
                    }
                });
            }
            Event::StepDone { place, output, at } => {
                self.keep_open(place, output);
                self.end(place, Status::Done(Arc::new(output.clone())), *at);
                self.release(place);
            }
            Event::StepSkipped { place, why, at } => {
                self.end(place, Status::Skipped { why: why.clone() }, *at);
            }
            Event::StepFailed { place, why, output, failure, at } => {
                self.account_failed(place, failure.as_ref());
                self.let_go(place);
                let is_late = failure.as_ref().is_some_and(|failure| failure.attempts == 0);
                if is_late || self.gave_up(place) {
                    self.call_off(place);
                }
                let (why, output) = (why.clone(), Arc::new(output.clone()));
                self.end(place, Status::Failed { why, output }, *at);
                self.release(place);
            }
            Event::StepCancelled { place, why, at } => {
                self.account_failed(place, None);
                self.let_go(place);
                self.call_off(place);
                self.end(place, Status::Cancelled { why: why.clone() }, *at);
                self.release(place);
            }
            Event::CancelAsked { by, reason, at } => {
                let (by, reason) = (by.clone(), reason.clone());
                self.cancel = Some(Cancel { by, reason, at: *at });
                self.stopping.extend(self.opened.iter().cloned());
                self.changed_at = *at;
            }
            Event::CutOff { call, usage } => {
                if let Some(Cut { model, seat, read }) = self.cut.remove(call) {
                    self.charge(&model, Some(&seat), (Ended::Stopped, *usage), read, 0);
                }
            }
            Event::SessionSpent { session, took } => self.absorb(session, took),
            Event::SessionEnded { session, at } => {
                self.stopping.remove(session);
                // Logs that are older than openings that are carried through.
                self.called_off.retain(|_, opening| opening.session != *session);
                self.granted.remove(session);
                self.promise();
                self.changed_at = *at;
            }
            Event::FinallyBegan { ending, until, at } => {
                self.stage = Stage::Finally { ending: ending.clone(), until: *until };
                // `finally` has a time of its own.
                self.ledger.time_is_over();
                self.changed_at = *at;
            }
            Event::Ended { ending, at } => {
                self.stage = Stage::Ended { ending: ending.clone(), at: *at };
                self.ledger.time_is_over();
                self.changed_at = *at;
            }
        }
    }

    fn running(&mut self, place: &Place, at: Timestamp, change: impl FnOnce(&mut Running)) {
        self.changed_at = at;
        let Some(step) = self.steps.get_mut(place) else { return };
        match &mut Arc::make_mut(step).status {
            Status::Running(running) => change(running),
            Status::Done(_)
            | Status::Skipped { .. }
            | Status::Failed { .. }
            | Status::Cancelled { .. } => {}
        }
    }

    fn acting(&mut self, place: &Place, at: Timestamp, change: impl FnOnce(&mut Acting)) {
        self.running(place, at, |running| {
            if let Running::Act(acting) = running {
                change(acting);
            }
        });
    }

    fn end(&mut self, place: &Place, status: Status, at: Timestamp) {
        let before = self.steps.get(place);
        let step = StepRun {
            began_at: before.map_or(at, |step| step.began_at),
            ended_at: Some(at),
            doing: before.and_then(|step| step.doing.clone()),
            status,
            session: before.and_then(|step| step.session.clone()),
            spent: before.map(|step| step.spent).unwrap_or_default(),
        };
        self.steps.insert(place.clone(), Arc::new(step));
        self.changed_at = at;
    }

    /// A room that a step has opened stays open, and ends with the run if it is cancelled.
    fn keep_open(&mut self, place: &Place, output: &Value) {
        let Some((act, with)) = self.act(place) else { return };
        let opens = matches!(act.spec().does, Does::Opens { .. });
        let keep = with.get("keep") == Some(&Value::Bool(true));
        let session = output.get("id").and_then(Value::as_str).map(str::to_owned);
        self.opened.extend(session.filter(|_| opens && !keep));
    }

    /// A session that is not waited for any more ends.
    fn let_go(&mut self, place: &Place) {
        let Some(Attempt::Watching { session }) = self.attempt(place) else { return };
        let session = session.clone();
        if !self.is_kept(place) {
            self.stopping.insert(session);
        }
    }

    /// What a step was about to open may be there already, and is not waited for.
    fn call_off(&mut self, place: &Place) {
        let opening = self.opening(place).filter(|_| !self.is_kept(place));
        self.called_off.extend(opening.map(|opening| (place.clone(), opening)));
    }

    /// An opening was carried through that had been called off. Rooms stay, as those of
    /// other steps do, unless the run was cancelled.
    fn unwanted(&mut self, place: &Place, session: &str) {
        let is_room = self.act(place).is_some_and(|(act, _)| !act.is_awaited());
        if is_room {
            self.opened.insert(session.to_owned());
        }
        if !is_room || self.cancel.is_some() {
            self.stopping.insert(session.to_owned());
        }
    }

    fn gave_up(&self, place: &Place) -> bool {
        let status = self.steps.get(place).map(|step| &step.status);
        matches!(status, Some(Status::Running(Running::Act(Acting { gave_up: true, .. }))))
    }

    /// What a session may spend is kept for it. A council is not waited for, and nobody
    /// tells what it takes: its share counts as spent.
    fn grant(&mut self, place: &Place, most: Allowance) {
        let Some(session) = self.to_open(place) else { return };
        if self.act(place).is_some_and(|(act, _)| !act.is_awaited()) {
            self.ledger.count(None, most.amount());
        }
        self.granted.insert(session.to_string(), (place.clone(), most));
        self.promise();
    }

    /// What a step keeps for a session comes back when that has ended, or was not opened.
    fn release(&mut self, place: &Place) {
        let is_open = self.called_off.contains_key(place) || self.gave_up(place);
        let stopping = &self.stopping;
        self.granted
            .retain(|session, (own, _)| own != place || is_open || stopping.contains(session));
        self.promise();
    }

    fn promise(&mut self) {
        let is_awaited = |place: &Place| self.act(place).is_some_and(|(act, _)| act.is_awaited());
        let kept = self.granted.values().filter(|(place, _)| is_awaited(place));
        let kept = kept.fold(Amount::default(), |sum, (_, most)| sum.plus(most.amount()));
        self.ledger.promise(kept);
    }

    fn is_kept(&self, place: &Place) -> bool {
        self.act(place).is_some_and(|(_, with)| with.get("keep") == Some(&Value::Bool(true)))
    }

    /// What a question took that did not come to an answer. One that was cut off will tell.
    fn account_failed(&mut self, place: &Place, failure: Option<&Failure>) {
        match failure.filter(|failure| failure.attempts > 0) {
            Some(failure) => {
                self.account(place, (Ended::Failed(failure.kind), failure.usage), "");
            }
            None => {
                let call = self.steps.get(place).map(|step| ask_call(place, step));
                let cut = self.asked_of(place);
                self.cut.extend(call.zip(cut));
            }
        }
    }

    fn account(&mut self, place: &Place, (ended, usage): (Ended, Usage), text: &str) {
        let Some(Cut { model, seat, read }) = self.asked_of(place) else { return };
        self.charge(&model, Some(&seat), (ended, usage), read, text.len());
        self.charge_step(place, usage);
    }

    /// The question that is put to somebody at this step.
    fn asked_of(&self, place: &Place) -> Option<Cut> {
        let Some(Attempt::Asking { seat, .. }) = self.attempt(place) else { return None };
        let call = self.steps.get(place).map(|step| ask_call(place, step))?;
        let read = self.question(&call).as_ref().map_or(0, prompt_tokens);
        Some(Cut { model: seat.model.clone(), seat: self.seat_name(place), read })
    }

    /// What a session took that a step has opened is the run's own.
    fn absorb(&mut self, session: &str, took: &Took) {
        // Logs of earlier versions tell it a second time where a session failed.
        if !self.counted.insert(session.to_owned()) {
            return;
        }
        self.ledger.note(&took.prices);
        for (model, usage) in &took.models {
            self.charge(model, None, (Ended::Stopped, *usage), 0, 0);
        }
        let of = |step: &&mut Arc<StepRun>| step.session.as_deref() == Some(session);
        if let Some(step) = self.steps.values_mut().find(of) {
            let all = took.models.values().fold(Usage::default(), |sum, one| sum.plus(*one));
            let step = Arc::make_mut(step);
            step.spent = step.spent.plus(all);
        }
    }

    fn charge_step(&mut self, place: &Place, usage: Usage) {
        if let Some(step) = self.steps.get_mut(place) {
            let step = Arc::make_mut(step);
            step.spent = step.spent.plus(usage);
        }
    }

    fn charge(
        &mut self,
        model: &ModelName,
        seat: Option<&str>,
        (ended, usage): (Ended, Usage),
        read: u64,
        written_bytes: usize,
    ) {
        let requests = 1;
        self.ledger.settle(Settled { model, seat, usage, ended, requests, read, written_bytes });
    }

    pub(super) fn attempt(&self, place: &Place) -> Option<&Attempt> {
        match &self.steps.get(place)?.status {
            Status::Running(Running::Act(acting)) => Some(&acting.attempt),
            Status::Running(_)
            | Status::Done(_)
            | Status::Skipped { .. }
            | Status::Failed { .. }
            | Status::Cancelled { .. } => None,
        }
    }

    /// What a step does outside.
    pub(super) fn act(&self, place: &Place) -> Option<(Act, &serde_json::Map<String, Value>)> {
        match self.steps.get(place)?.doing.as_deref()? {
            Doing::Act { act, with } => Some((*act, with)),
            Doing::Sleep { .. }
            | Doing::Wait { .. }
            | Doing::Approve { .. }
            | Doing::Foreach { .. }
            | Doing::Repeat {} => None,
        }
    }
}
