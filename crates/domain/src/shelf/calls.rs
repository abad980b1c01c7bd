//! What a stored workflow wants done now.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::event::How;
use super::{Life, Listening, Run, State, Stop};
use crate::call::{Call, Work};
use crate::errand::Errand;
use crate::ids::{CallId, SessionId};
use crate::workflow::Act;

/// A call, and what it is for.
pub(super) struct Wanted {
    pub call: Call,
    pub what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// The time of the cron trigger has come.
    Tick(Timestamp),
    /// A signal is waited for that was not sent before this.
    Await(Timestamp),
    /// It is listened for again.
    Listen,
    Open(u64),
    Watch(u64, SessionId),
    Stop(u64, SessionId),
}

impl State {
    pub(super) fn calls(&self) -> Vec<Wanted> {
        let mut wanted: Vec<Wanted> = self.tick().into_iter().chain(self.listen()).collect();
        let waiting = self.waiting();
        for run in self.runs.values().filter(|run| !waiting.contains(&run.number)) {
            wanted.extend(run.calls());
        }
        wanted
    }

    fn tick(&self) -> Option<Wanted> {
        let until = self.next_at()?;
        let id = CallId::new("cron").of(self.newest.number).of(until.as_second());
        Some(Wanted { call: Call { id, work: Work::Sleep { until } }, what: What::Tick(until) })
    }

    /// What comes while no more runs can begin waits where it is.
    fn listen(&self) -> Option<Wanted> {
        let Listening { since, taken, failed, again_at, .. } = self.triggers()?.signal.as_ref()?;
        let since = since.filter(|_| !self.is_full())?;
        let id = |what: &str| CallId::new(what).of(self.newest.number).of(taken).nth(failed + 1);
        Some(match *again_at {
            Some(until) => {
                let call = Call { id: id("listen"), work: Work::Sleep { until } };
                Wanted { call, what: What::Listen }
            }
            None => {
                let call = Call { id: id("await"), work: Work::Errand };
                Wanted { call, what: What::Await(since) }
            }
        })
    }

    /// What an errand that `due` named is.
    pub(super) fn errand_of(&self, call: &CallId) -> Option<Errand> {
        let wanted = self.calls().into_iter().find(|wanted| wanted.call.id == *call)?;
        match wanted.what {
            What::Await(since) => {
                let signals = vec![self.triggers()?.signal.as_ref()?.matching.clone()];
                Some(Errand::Await { all: false, signals, since, taken: vec![] })
            }
            What::Open(number) => self.opening(self.runs.get(&number)?),
            What::Watch(_, run) => {
                Some(Errand::Watch { act: Act::Workflow.name(), session: run.to_string() })
            }
            What::Stop(_, run) => Some(Errand::Stop { session: run.to_string() }),
            What::Tick(_) | What::Listen => None,
        }
    }

    /// The key is the run's own for ever, so that it begins once.
    fn opening(&self, run: &Run) -> Option<Errand> {
        let Life::Pending { inputs } = &run.life else { return None };
        let (number, version) = (run.number, run.version.number);
        let mut with = Map::new();
        with.insert("name".into(), self.name.clone().into());
        with.insert("version".into(), version.into());
        with.insert("source".into(), (*run.version.source).into());
        with.insert("inputs".into(), Value::Object((**inputs).clone()));
        with.insert("starter".into(), run.starter.clone().into());
        match &run.how {
            How::Person { run, opener } => {
                with.insert("run".into(), json!(run));
                with.insert("opener".into(), opener.clone().into());
            }
            How::Cron { .. } | How::Signal { .. } | How::Webhook { .. } => {}
        }
        let key = format!("{}/shelf/{}/{version}/{number}", self.code.0, self.name);
        Some(Errand::Open { act: Act::Workflow.name(), with, key, at: run.at })
    }
}

impl Run {
    fn calls(&self) -> Vec<Wanted> {
        let want = |what: &str, meant: What| {
            let call = Call { id: CallId::new(what).of(self.number), work: Work::Errand };
            Wanted { call, what: meant }
        };
        match (&self.life, self.stop) {
            (Life::Pending { .. }, Stop::No | Stop::Asked | Stop::Tried) => {
                vec![want("open", What::Open(self.number))]
            }
            (Life::Running { run }, Stop::No | Stop::Tried) => {
                vec![want("watch", What::Watch(self.number, *run))]
            }
            (Life::Running { run }, Stop::Asked) => vec![
                want("watch", What::Watch(self.number, *run)),
                want("stop", What::Stop(self.number, *run)),
            ],
            (
                Life::Ended { .. } | Life::Failed { .. } | Life::Dropped { .. },
                Stop::No | Stop::Asked | Stop::Tried,
            ) => vec![],
        }
    }
}
