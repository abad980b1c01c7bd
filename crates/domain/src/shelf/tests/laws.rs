//! Whatever happens in whatever order, a trigger starts one run, runs keep out of each
//! other's way, and whatever was accepted comes to its end.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::story::{Shelf, failed, file, id};
use crate::call::{Outcome, Work};
use crate::errand::Errand;
use crate::form::Form;
use crate::shelf::{Command, Event, How, Life, State, Stop};
use crate::workflow::matches;

/// The world around: signals that were sent, and runs that were opened under their keys.
struct World {
    shelf: Shelf,
    source: String,
    sent: Vec<(Timestamp, u64, Value)>,
    opened: BTreeMap<String, u128>,
    people: u128,
    /// Nothing may wait for what is in its way.
    skips: bool,
}

fn source(overlap: u8, missed: bool, one_per: bool) -> String {
    let overlap = ["skip", "queue", "replace"][overlap as usize % 3];
    let missed = if missed { "latest" } else { "skip" };
    let one_per = if one_per { "one_per: '{{ inputs.k }}'" } else { "" };
    file(&format!(
        "inputs: {{ k: {{ type: string, default: x }} }}\n{one_per}\non:\n  \
         cron: {{ at: '*/10 * * * *', overlap: {overlap}, missed: {missed} }}\n  \
         signal: {{ name: built }}\n  webhook: {{ secret: HOOK }}"
    ))
}

impl World {
    /// Signals that were sent since then, as whoever listens would bring them.
    fn came(&self, since: Timestamp, wanted: &crate::workflow::Signal) -> Vec<Value> {
        let came = self.sent.iter().filter(|(at, _, _)| *at >= since);
        let came = came.map(|(_, _, signal)| signal.clone());
        came.filter(|signal| signal.as_object().is_some_and(|s| matches(wanted, s))).collect()
    }

    /// A call comes to a good end. `false`: it cannot yet.
    fn go(&mut self, call: &str) -> bool {
        let shelf = &mut self.shelf;
        if let Some(until) = shelf.sleeps_until(call) {
            shelf.at = shelf.at.max(until);
            shelf.settle(call, Outcome::Elapsed).expect("a sleep that is due can be over");
            return true;
        }
        let brought = match shelf.errand(call).expect("an errand that is due is known") {
            Errand::Open { key, with, .. } => {
                let run = with.get("run").and_then(Value::as_str);
                let run = run.map(|run| run.parse::<uuid::Uuid>().unwrap().as_u128());
                let fresh = run.unwrap_or(1_000 + self.opened.len() as u128);
                let run = *self.opened.entry(key).or_insert(fresh);
                json!({ "id": id(run).to_string() })
            }
            Errand::Watch { .. } => json!({ "status": "done", "given": { "Ok": {} } }),
            Errand::Stop { .. } => Value::Null,
            Errand::Await { signals, since, .. } => {
                let came = self.came(since, &signals[0]);
                if came.is_empty() {
                    return false;
                }
                Value::Array(came)
            }
            other => panic!("{other:?}"),
        };
        self.shelf.bring(call, brought);
        true
    }

    fn send(&mut self, key: &str) {
        let number = self.sent.len() as u64 + 1;
        let last = self.sent.last().map(|(at, _, _)| *at + SignedDuration::from_nanos(1));
        let at = last.map_or(self.shelf.at, |last| last.max(self.shelf.at));
        let signal =
            json!({ "signal": "built", "k": key, "_number": number, "_at": at.to_string() });
        self.sent.push((at, number, signal));
    }

    /// Something happens. What is not possible now is refused and changes nothing.
    fn happen(&mut self, what: u8, which: u8) {
        let key = ["x", "y", "z"][which as usize % 3];
        let due = self.shelf.due();
        let call = due.get(which as usize % due.len().max(1)).cloned();
        match (what % 12, call) {
            (0, _) => self.send(key),
            (1, _) => {
                let id = format!("msg_{}", which % 8);
                let _ = self.shelf.deliver(&id, json!({ "k": key }));
            }
            (2, _) => {
                self.people += u128::from(which % 4);
                let _ = self.shelf.start(self.people, json!({ "k": key }));
            }
            // Clocks are set back, too.
            (3, _) if which < 40 => self.shelf.at -= SignedDuration::from_mins(which.into()),
            (3, _) => self.shelf.at += SignedDuration::from_mins(which.into()),
            (4, _) if which < 60 => {
                let _ = self.shelf.tell(Command::Remove);
            }
            (4, _) => {
                let source = format!("{}# {}\n", self.source, which % 3);
                self.shelf.tell(Command::Store { source }).unwrap();
            }
            (5, Some(call)) => {
                let _ = self.shelf.settle(&call, failed("It went wrong."));
            }
            (6, _) => {
                // Late outcomes of calls that are not due any more.
                for call in ["open/1", "watch/1", "stop/2", "await/1/0#1", "cron/1/0", "nonsense"] {
                    if !due.iter().any(|due| due == call) {
                        let late = self.shelf.settle(call, Outcome::Brought(json!({})));
                        assert!(late.is_err(), "{call}");
                    }
                }
            }
            (_, Some(call)) => {
                self.go(&call);
            }
            (_, None) => {}
        }
    }

    /// What holds in every state.
    fn lawful(&self) -> Result<(), TestCaseError> {
        let state = &self.shelf.state;
        let due = state.due();
        let ids: BTreeSet<&str> = due.iter().map(|call| call.id.0.as_str()).collect();
        prop_assert_eq!(ids.len(), due.len(), "calls have ids of their own");
        for call in &due {
            let is_known = match call.work {
                Work::Errand => state.errand(&call.id).is_some(),
                Work::Sleep { .. } => true,
                Work::Ask => false,
            };
            prop_assert!(is_known, "{call:?}");
        }
        self.keep_apart(state)?;
        self.each_once()?;
        // Whatever has not ended is under way, or waits for one before it.
        for run in state.runs.values() {
            let has = |what: &str| ids.contains(format!("{what}/{}", run.number).as_str());
            match &run.life {
                Life::Pending { .. } => {
                    let waits = state.runs.range(..run.number).any(|(_, other)| {
                        !other.is_over() && (other.key == run.key || other.how.name() == "cron")
                    });
                    prop_assert!(has("open") || waits, "{run:?}");
                }
                Life::Running { .. } => {
                    prop_assert!(has("watch"));
                    prop_assert_eq!(has("stop"), run.stop == Stop::Asked);
                }
                Life::Ended { .. } | Life::Failed { .. } | Life::Dropped { .. } => {
                    prop_assert!(!has("open") && !has("watch") && !has("stop"));
                }
            }
        }
        let starts = ids
            .iter()
            .any(|call| ["cron", "await", "listen"].contains(&call.split('/').next().unwrap()));
        prop_assert_eq!(starts, !state.is_removed());
        Ok(())
    }

    /// Of those that may have begun, none are for one key, and the clock started one.
    fn keep_apart(&self, state: &State) -> Result<(), TestCaseError> {
        let waiting = state.waiting();
        let may_wait = |number: &u64| !self.skips && state.runs[number].how.name() == "cron";
        prop_assert!(waiting.iter().all(may_wait), "{waiting:?} were to be refused");
        let begun =
            state.runs.values().filter(|run| !run.is_over() && !waiting.contains(&run.number));
        let (mut keys, mut cron) = (BTreeSet::new(), 0);
        for run in begun {
            if let Some(key) = &run.key {
                prop_assert!(keys.insert(key.clone()), "two at a time for {key}");
            }
            cron += u32::from(run.how.name() == "cron");
        }
        prop_assert!(cron <= 1, "the clock has started two at a time");
        Ok(())
    }

    /// Each trigger is taken once, and each run begins and ends once.
    fn each_once(&self) -> Result<(), TestCaseError> {
        let (mut taken, mut begun, mut ended) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut sessions = BTreeSet::new();
        for event in &self.shelf.log {
            match event {
                Event::Triggered { how, .. } | Event::Skipped { how, .. } => {
                    let name = match how {
                        How::Cron { due_at } => format!("cron {due_at}"),
                        How::Signal { number, .. } => format!("signal {number:?}"),
                        How::Webhook { id } => format!("webhook {id}"),
                        How::Person { run, .. } => format!("person {run}"),
                    };
                    prop_assert!(taken.insert(name.clone()), "{name} was taken twice");
                }
                Event::Opened { number, run, .. } => {
                    prop_assert!(
                        begun.insert(*number) && sessions.insert(*run),
                        "{number} begins twice"
                    );
                }
                Event::RunEnded { number, .. } => {
                    prop_assert!(begun.contains(number) && ended.insert(*number));
                }
                Event::StartFailed { number, .. } | Event::Dropped { number, .. } => {
                    prop_assert!(!begun.contains(number) && ended.insert(*number));
                }
                Event::Stored { .. }
                | Event::Removed { .. }
                | Event::Missed { .. }
                | Event::StopAsked { .. }
                | Event::StopTried { .. }
                | Event::ListenFailed { .. }
                | Event::ListenAgain { .. } => {}
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn any_order_of_events_is_lawful_and_comes_to_an_end(
        overlap in any::<u8>(), missed in any::<bool>(), one_per in any::<bool>(),
        happens in prop::collection::vec((any::<u8>(), any::<u8>()), 0..60),
    ) {
        let (source, skips) = (source(overlap, missed, one_per), overlap.is_multiple_of(3));
        let (shelf, opened) = (Shelf::of(&source), BTreeMap::new());
        let mut world = World { shelf, source, sent: vec![], opened, people: 0, skips };
        world.lawful()?;
        for (what, which) in happens {
            world.happen(what, which);
            world.lawful()?;
        }
        // Every signal that was sent while it was stored is taken in the end.
        if !world.shelf.state.is_removed() {
            for _ in 0..100 {
                let due = world.shelf.due();
                let listens = due.iter().find(|call| call.starts_with("await/") || call.starts_with("listen/"));
                if !world.go(listens.expect("it listens")) {
                    break;
                }
            }
            let since = world.shelf.due().iter().find_map(|call| match world.shelf.errand(call) {
                Some(Errand::Await { since, .. }) => Some(since),
                Some(_) | None => None,
            });
            prop_assert!(since.is_some_and(|since| world.sent.iter().all(|(at, _, _)| *at < since)));
            world.shelf.tell(Command::Remove).unwrap();
        }
        // Once it is removed, good outcomes lead to the end of all that was accepted.
        for _ in 0..500 {
            let Some(call) = world.shelf.due().first().cloned() else { break };
            prop_assert!(world.go(&call));
            world.lawful()?;
        }
        prop_assert!(world.shelf.due().is_empty());
        prop_assert!(world.shelf.state.runs.values().all(|run| run.is_over()));
    }
}
