//! A run that goes on from a step of another one: what it takes over, and what it does again.

use serde_json::{Map, Value};

use super::check;
use super::definition::{Definition, Kind};
use super::event::{Copied, Doing, Place};
use super::problem;
use super::{State, Status, StepRun};
use crate::reject::Reject;

/// Something that a run has done, and one that goes on from it would do again.
pub struct Again<'a> {
    /// The step, without the items and rounds around it.
    pub step: &'a str,
    pub act: &'static str,
    pub with: &'a Map<String, Value>,
    /// What it gave, if it came to that.
    pub output: Option<&'a Value>,
}

impl State {
    /// What is taken over into a run that goes on from this step of this one: what was
    /// settled and does not depend on it.
    pub fn before(&self, from: &str) -> Result<Vec<Copied>, Reject> {
        let steps = &self.definition.steps;
        if !steps.iter().any(|step| step.id == from) {
            let near = problem::near(from, steps.iter().map(|step| step.id.as_str()));
            let near =
                near.first().map_or(String::new(), |near| format!(" Did you mean {near:?}?"));
            return Err(Reject::Unknown(format!("There is no step {from:?} to fork from.{near}")));
        }
        let is_later = self.later_than(from);
        let copied = self.steps.iter().filter_map(|(place, step)| {
            let outer = self.steps.get(&Place::top(place.outermost()))?;
            let is_settled = matches!(outer.status, Status::Done(_) | Status::Skipped { .. });
            let is_main = steps.iter().any(|step| step.id == place.outermost());
            if is_later(place.outermost()) || !is_settled || !is_main {
                return None;
            }
            let output = match &step.status {
                Status::Done(output) => Some((**output).clone()),
                Status::Skipped { .. } => None,
                Status::Running(_) | Status::Failed { .. } | Status::Cancelled { .. } => {
                    return None;
                }
            };
            Some(Copied { place: place.clone(), output })
        });
        Ok(copied.collect())
    }

    /// What this run has done from this step on, and one of this file would do again, in
    /// the order in which it was begun.
    pub fn again(&self, from: &str, definition: &Definition) -> Vec<Again<'_>> {
        let is_later = self.later_than(from);
        let mut steps: Vec<(&Place, &StepRun)> =
            self.steps.iter().map(|(place, step)| (place, &**step)).collect();
        steps.sort_by_key(|(_, step)| step.began_at);
        let again = steps.into_iter().filter_map(|(place, step)| {
            let Doing::Act { act, with } = step.doing.as_deref()? else { return None };
            let kind = definition.step(place.id()).map(|step| &step.kind);
            let is_same = matches!(kind, Some(Kind::Act { act: other, .. }) if other == act);
            let output = match &step.status {
                Status::Done(output) => Some(&**output),
                Status::Running(_)
                | Status::Skipped { .. }
                | Status::Failed { .. }
                | Status::Cancelled { .. } => None,
            };
            let step = place.outermost();
            let again = Again { step, act: act.name(), with, output };
            (is_same && is_later(step)).then_some(again)
        });
        again.collect()
    }

    /// The step that has opened this room.
    pub fn opener_of(&self, room: &str) -> Option<&str> {
        let opened = |(place, step): (&Place, &StepRun)| match &step.status {
            Status::Done(output) if output.get("id").and_then(Value::as_str) == Some(room) => {
                self.act(place).filter(|(act, _)| act.opens())
            }
            Status::Done(_)
            | Status::Running(_)
            | Status::Skipped { .. }
            | Status::Failed { .. }
            | Status::Cancelled { .. } => None,
        };
        let found = self.steps.iter().find(|(place, step)| opened((place, step)).is_some());
        found.map(|(place, _)| place.outermost())
    }

    /// Whether a step is this one or depends on it.
    fn later_than(&self, from: &str) -> impl Fn(&str) -> bool {
        let before = check::all_before(&self.definition.steps);
        let from = from.to_owned();
        move |id| *id == from || before.get(id).is_some_and(|before| before.contains(&*from))
    }
}
