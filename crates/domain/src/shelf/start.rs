//! Whether a run begins: what it is given, and what is in its way.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::event::{Event, How};
use super::{Life, Run, State, Stop, Version};
use crate::form::{Moment, Ruling};
use crate::ids::SessionId;
use crate::limits;
use crate::reject::{Reject, Wrong};
use crate::workflow::{Definition, Overlap, Type, written};

impl State {
    /// Somebody starts a run. Who asks for what cannot be now is told so, and nothing waits.
    pub(super) fn start(
        &self,
        run: SessionId,
        given: &Map<String, Value>,
        starter: String,
        version: Option<u32>,
        moment: &Moment,
    ) -> Ruling<Event> {
        // Whoever was not answered asks again.
        if self.runs.values().any(|other| other.session() == Some(run)) {
            return Ok(vec![]);
        }
        if self.is_removed() {
            return Err(self.not_now("This workflow has been removed."));
        }
        let version = self.version(version).ok_or_else(|| self.no_version(version))?;
        let inputs = version.definition.fill(given).map_err(Reject::Invalid)?;
        let key = version.definition.key(&inputs);
        let key = key.map_err(|why| Reject::Invalid(vec![Wrong::new("one_per", why)]))?;
        if self.is_full() {
            return Err(self.full());
        }
        let how = How::Person { run, opener: moment.actor.clone() };
        if let Some(other) = self.in_the_way(&how, key.as_deref()).first() {
            return Err(self.not_now(taken(other)));
        }
        Ok(vec![self.triggered(version, how, inputs, starter, key, moment.at)])
    }

    /// Something else starts a run, with as many of these fields as the workflow takes.
    pub(super) fn trigger(
        &self,
        how: How,
        starter: &str,
        fields: &Map<String, Value>,
        overlap: Overlap,
        at: Timestamp,
    ) -> Vec<Event> {
        let version = &self.newest;
        let (inputs, key) = match begins_with(&version.definition, fields) {
            Ok(found) => found,
            Err(why) => return vec![Event::Skipped { how, why, at }],
        };
        if self.is_full() {
            let why = too_many();
            return vec![Event::Skipped { how, why, at }];
        }
        let others = self.in_the_way(&how, key.as_deref());
        let mut events = vec![];
        match (others.as_slice(), overlap) {
            ([], Overlap::Skip | Overlap::Queue | Overlap::Replace) => {}
            ([other, ..], Overlap::Skip) => {
                let why = taken(other);
                return vec![Event::Skipped { how, why, at }];
            }
            ([_, ..], Overlap::Queue) => {
                if self.waiting().len() >= limits::RUNS_WAITING {
                    let why = format!("{} runs are already waiting.", limits::RUNS_WAITING);
                    return vec![Event::Skipped { how, why, at }];
                }
            }
            (others, Overlap::Replace) => events.extend(self.replaced(others, at)),
        }
        events.push(self.triggered(version, how, inputs, starter.to_owned(), key, at));
        events
    }

    /// What may have begun is told to end; what surely has not is given up.
    fn replaced(&self, others: &[&Run], at: Timestamp) -> Vec<Event> {
        let waiting = self.waiting();
        let others = others.iter().filter(|other| other.stop == Stop::No);
        let replaced = others.map(|other| {
            let number = other.number;
            match waiting.contains(&number) {
                true => Event::Dropped { number, why: "another took its place".into(), at },
                false => Event::StopAsked { number, at },
            }
        });
        replaced.collect()
    }

    fn triggered(
        &self,
        version: &Version,
        how: How,
        inputs: Map<String, Value>,
        starter: String,
        key: Option<String>,
        at: Timestamp,
    ) -> Event {
        let (number, version) = (self.last + 1, version.number);
        Event::Triggered { number, version, how, inputs, starter, key, at }
    }

    /// Runs that have not ended and beside which this one cannot be: those for the same
    /// key, and for one that the clock starts those that it has started.
    fn in_the_way(&self, how: &How, key: Option<&str>) -> Vec<&Run> {
        let excludes = |other: &&Run| {
            let is_same = key.is_some() && other.key.as_deref() == key;
            !other.is_over() && (is_same || (is_cron(how) && is_cron(&other.how)))
        };
        self.runs.values().map(|run| &**run).filter(excludes).collect()
    }

    /// Those that wait for one before them to end. None of them can have begun; all others
    /// that are pending can, and none of these comes to wait again.
    pub(super) fn waiting(&self) -> BTreeSet<u64> {
        let (mut keys, mut cron, mut waiting) = (BTreeSet::new(), false, BTreeSet::new());
        for run in self.runs.values().filter(|run| !run.is_over()) {
            let is_taken = run.key.as_ref().is_some_and(|key| !keys.insert(key));
            let is_ticking = is_cron(&run.how) && std::mem::replace(&mut cron, true);
            let is_pending = matches!(run.life, Life::Pending { .. });
            if is_pending && (is_taken || is_ticking) {
                waiting.insert(run.number);
            }
        }
        waiting
    }

    pub(super) fn is_full(&self) -> bool {
        let under_way = self.runs.values().filter(|run| !run.is_over()).count();
        under_way >= limits::RUNS_AT_ONCE
    }

    pub(super) fn full(&self) -> Reject {
        self.not_now(too_many())
    }

    fn no_version(&self, wanted: Option<u32>) -> Reject {
        let (wanted, newest) = (wanted.unwrap_or_default(), self.newest.number);
        Reject::Unknown(match (1..newest).contains(&wanted) {
            true => format!("Version {wanted} is no longer kept; the newest is {newest}."),
            false => format!("There is no version {wanted}; the newest is {newest}."),
        })
    }
}

fn is_cron(how: &How) -> bool {
    match how {
        How::Cron { .. } => true,
        How::Signal { .. } | How::Webhook { .. } | How::Person { .. } => false,
    }
}

fn too_many() -> String {
    format!("{} runs of this workflow are in progress, the maximum.", limits::RUNS_AT_ONCE)
}

fn taken(other: &Run) -> String {
    let run = match other.session() {
        Some(run) => format!("Run {run}"),
        None => format!("Run number {}, which is about to start,", other.number),
    };
    match &other.key {
        Some(key) => format!("{run} for {key:?} has not ended."),
        None => format!("{run} has not ended."),
    }
}

/// The inputs and the key of a run that is given these fields, or why there is none.
fn begins_with(
    definition: &Definition,
    fields: &Map<String, Value>,
) -> Result<(Map<String, Value>, Option<String>), String> {
    let given = definition.inputs.iter().filter_map(|input| {
        let value = fields.get(&input.name)?;
        Some((input.name.clone(), fitted(input.takes, value)))
    });
    let inputs = definition.fill(&given.collect()).map_err(|wrong| {
        let wrong = wrong.iter().map(|wrong| format!("`{}` {}", wrong.field, wrong.problem));
        format!("{}.", wrong.collect::<Vec<_>>().join("; "))
    })?;
    let key = definition.key(&inputs).map_err(|why| format!("`one_per`: {why}."))?;
    Ok((inputs, key))
}

/// Senders do not know types: what is written alike is the same, as it is in a wait.
fn fitted(takes: Type, value: &Value) -> Value {
    let read = match takes {
        Type::String => written(Some(value)).map(Value::String),
        Type::Number | Type::Integer | Type::Boolean => {
            value.as_str().and_then(|text| serde_json::from_str(text).ok())
        }
        Type::Array | Type::Object | Type::Any => None,
    };
    read.filter(|read| takes.takes(read)).unwrap_or_else(|| value.clone())
}
