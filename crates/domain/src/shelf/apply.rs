//! What events make of a stored workflow.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::event::{Event, How};
use super::{Life, Listening, Run, Skipped, Stage, State, Stop, Ticking, Triggers, Version};
use crate::limits;
use crate::workflow::cron::{self, Cron};
use crate::workflow::{Definition, Trigger};

impl State {
    pub(super) fn opened_by(event: &Event) -> Option<State> {
        let Event::Stored { version, source, definition, nonce, by, at } = event else {
            return None;
        };
        let newest = Arc::new(Version {
            number: *version,
            source: source.clone(),
            definition: definition.clone(),
            by: by.clone(),
            at: *at,
        });
        Some(State {
            name: definition.name.clone(),
            stage: Stage::Stored(Triggers::of(definition, None, *at)),
            newest,
            earlier: VecDeque::new(),
            runs: BTreeMap::new(),
            skipped: None,
            last: 0,
            deliveries: VecDeque::new(),
            code: nonce.clone(),
        })
    }

    pub(super) fn follow(&mut self, event: &Event) {
        match event {
            Event::Stored { .. } => self.stored(event),
            Event::Removed { by, at } => {
                let before = self.stage.triggers().clone();
                self.stage = Stage::Removed { by: by.clone(), at: *at, before };
            }
            Event::Triggered { number, version, how, inputs, starter, key, at } => {
                self.passed(how);
                self.last = *number;
                // What was decided on a version names one that is kept.
                let version = self.version(Some(*version)).unwrap_or(&self.newest).clone();
                let run = Run {
                    number: *number,
                    version,
                    how: how.clone(),
                    starter: starter.clone(),
                    key: key.clone(),
                    at: *at,
                    stop: Stop::No,
                    life: Life::Pending { inputs: Arc::new(inputs.clone()) },
                };
                self.runs.insert(*number, Arc::new(run));
            }
            Event::Skipped { how, why, at } => {
                self.passed(how);
                self.skipped = Some(Skipped { how: how.clone(), why: why.clone(), at: *at });
            }
            Event::Missed { until, .. } => self.ticked(*until),
            Event::Opened { number, run, .. } => {
                self.change(*number, |own| own.life = Life::Running { run: *run });
            }
            Event::StartFailed { number, why, at } => {
                let life = Life::Failed { why: why.clone(), at: *at };
                self.change(*number, |run| run.life = life);
            }
            Event::Dropped { number, why, at } => {
                let life = Life::Dropped { why: why.clone(), at: *at };
                self.change(*number, |run| run.life = life);
            }
            Event::StopAsked { number, .. } => self.change(*number, |run| run.stop = Stop::Asked),
            Event::StopTried { number, .. } => self.change(*number, |run| run.stop = Stop::Tried),
            Event::RunEnded { number, run, status, reason, at } => {
                let reason = reason.clone();
                let life = Life::Ended { run: *run, status: *status, reason, at: *at };
                self.change(*number, |run| run.life = life);
            }
            Event::ListenFailed { again_at, .. } => {
                if let Some(listening) = self.listening() {
                    listening.failed = listening.failed.saturating_add(1);
                    listening.again_at = Some(*again_at);
                }
            }
            Event::ListenAgain { .. } => {
                if let Some(listening) = self.listening() {
                    listening.again_at = None;
                }
            }
        }
        self.forget();
    }

    fn stored(&mut self, event: &Event) {
        let Some(State { newest, .. }) = State::opened_by(event) else { return };
        let mut before = self.stage.triggers().clone();
        if self.is_removed() {
            before.pass_over(newest.at);
        }
        self.stage = Stage::Stored(Triggers::of(&newest.definition, Some(&before), newest.at));
        self.earlier.push_back(std::mem::replace(&mut self.newest, newest));
        while self.earlier.len() >= limits::VERSIONS_KEPT {
            self.earlier.pop_front();
        }
    }

    fn change(&mut self, number: u64, change: impl FnOnce(&mut Run)) {
        if let Some(run) = self.runs.get_mut(&number) {
            change(Arc::make_mut(run));
        }
    }

    /// A trigger was taken, whatever came of it, and is not taken again.
    fn passed(&mut self, how: &How) {
        match how {
            How::Cron { due_at } => self.ticked(*due_at),
            How::Signal { sent_at, .. } => {
                if let Some(listening) = self.listening() {
                    listening.took(*sent_at);
                }
            }
            How::Webhook { id } => {
                self.deliveries.push_back(id.clone());
                if self.deliveries.len() > limits::DELIVERIES_KEPT {
                    self.deliveries.pop_front();
                }
            }
            How::Person { .. } => {}
        }
    }

    fn ticked(&mut self, until: Timestamp) {
        if let Stage::Stored(Triggers { cron: Some(ticking), .. }) = &mut self.stage {
            ticking.next_at = ticking.next(until);
        }
    }

    fn listening(&mut self) -> Option<&mut Listening> {
        match &mut self.stage {
            Stage::Stored(triggers) => triggers.signal.as_mut(),
            Stage::Removed { .. } => None,
        }
    }

    /// Of what is over only the last runs are kept.
    fn forget(&mut self) {
        let told = self.runs.keys().rev().nth(limits::RUNS_TOLD - 1);
        if let Some(first) = told.copied() {
            self.runs.retain(|number, run| *number >= first || !run.is_over());
        }
    }
}

impl Stage {
    fn triggers(&self) -> &Triggers {
        match self {
            Stage::Stored(triggers) | Stage::Removed { before: triggers, .. } => triggers,
        }
    }
}

impl Triggers {
    /// What came until now, while the workflow was removed, starts nothing.
    fn pass_over(&mut self, now: Timestamp) {
        if let Some(ticking) = &mut self.cron {
            let passed = ticking.next_at.is_some_and(|next| next < now);
            ticking.next_at = if passed { ticking.next(now) } else { ticking.next_at };
        }
        if let Some(listening) = &mut self.signal {
            listening.since = listening.since.map(|since| since.max(now));
        }
    }

    /// One that is as it was before goes on where it was: what has come and was not taken
    /// yet is not lost by a new version.
    fn of(definition: &Definition, before: Option<&Triggers>, at: Timestamp) -> Triggers {
        let mut triggers = Triggers { cron: None, signal: None, webhook: false };
        for trigger in &definition.on {
            match trigger {
                Trigger::Cron { at: cron, zone, overlap, missed } => {
                    let (cron, zone) = (cron.clone(), zone.clone());
                    let (overlap, missed) = (*overlap, *missed);
                    let mut own = Ticking { cron, zone, overlap, missed, next_at: None };
                    let same = before.and_then(|before| before.cron.as_ref());
                    let same =
                        same.filter(|same| (&same.cron, &same.zone) == (&own.cron, &own.zone));
                    own.next_at = same.map_or_else(|| own.next(at), |same| same.next_at);
                    triggers.cron = Some(own);
                }
                Trigger::Signal { matching } => {
                    let same = before.and_then(|before| before.signal.as_ref());
                    let same = same.filter(|same| same.matching == *matching).cloned();
                    triggers.signal = Some(same.unwrap_or_else(|| Listening {
                        matching: matching.clone(),
                        since: Some(at),
                        taken: 0,
                        failed: 0,
                        again_at: None,
                    }));
                }
                Trigger::Webhook { .. } => triggers.webhook = true,
            }
        }
        triggers
    }
}

impl Ticking {
    fn next(&self, after: Timestamp) -> Option<Timestamp> {
        Cron::read(&self.cron).ok()?.next(&cron::zone(&self.zone)?, after)
    }
}

impl Listening {
    fn took(&mut self, sent_at: Option<Timestamp>) {
        self.taken += 1;
        self.failed = 0;
        self.since = sent_at.map(|at| at.checked_add(SignedDuration::from_nanos(1)).unwrap_or(at));
    }
}
