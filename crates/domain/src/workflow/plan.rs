//! What follows: which steps begin, which are passed over, and when the run is over.
//!
//! It is asked after every event that a command makes, until nothing follows any more.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::begin::{Begun, later};
use super::definition::{Foreach, Kind, OnFailure, Repeat, Step};
use super::event::{Doing, End, Ending, Event, Place};
use super::size::too_large;
use super::{Running, Stage, State, Status};
use crate::limits;

/// The steps of a run, of an item or of a round.
#[derive(Clone, Copy)]
struct Block<'a> {
    /// The `foreach` or `repeat` around them, and in which item or round they stand.
    around: Option<(&'a Place, u32)>,
    steps: &'a [Step],
    /// A step that fails stops the others.
    stops: bool,
}

enum Standing {
    Next(Vec<Event>),
    /// Something is under way.
    Going,
    /// All have ended; the outputs by id.
    Done(Map<String, Value>),
    Failed(String),
}

/// How far an item is.
enum Course {
    Ahead,
    Begun,
    /// All of its steps have ended, some of them perhaps badly.
    Over {
        failed: bool,
    },
}

/// Steps of an item that have begun, and those of them that have ended.
#[derive(Clone, Copy, Default)]
struct Tally {
    begun: usize,
    ended: usize,
    failed: bool,
}

impl Block<'_> {
    fn place(&self, id: &str) -> Place {
        match self.around {
            Some((outer, number)) => outer.inside(number, id),
            None => Place::top(id),
        }
    }
}

impl State {
    /// These events, and whatever follows from them.
    pub(super) fn go_on(&self, events: Vec<Event>, at: Timestamp) -> Vec<Event> {
        let mut state = self.clone();
        events.iter().for_each(|event| state.follow(event));
        let mut all = events;
        loop {
            let next = state.plan(at);
            if next.is_empty() {
                return all;
            }
            next.iter().for_each(|event| state.follow(event));
            all.extend(next);
        }
    }

    fn plan(&self, at: Timestamp) -> Vec<Event> {
        let definition = self.definition.clone();
        match &self.stage {
            Stage::Ended { .. } => vec![],
            Stage::Running => {
                if let Some(cancel) = &self.cancel {
                    let reason = match cancel.reason.as_str() {
                        "" => format!("cancelled by {}", cancel.by),
                        reason => format!("cancelled by {}: {reason}", cancel.by),
                    };
                    return self.wind_up(End::Cancelled, reason, at);
                }
                let block = Block { around: None, steps: &definition.steps, stops: true };
                match self.standing(block, at) {
                    Standing::Next(events) => events,
                    Standing::Going => self.grants(at),
                    Standing::Failed(why) => self.wind_up(End::Failed, why, at),
                    Standing::Done(_) => match self.outputs() {
                        Ok(outputs) => {
                            let (status, reason) = (End::Done, String::new());
                            vec![self.ends(Ending { status, reason, outputs }, at)]
                        }
                        Err(why) => self.wind_up(End::Failed, why, at),
                    },
                }
            }
            Stage::Finally { ending, .. } => {
                let block = Block { around: None, steps: &definition.finally, stops: false };
                match self.standing(block, at) {
                    Standing::Next(events) => events,
                    Standing::Going => self.grants(at),
                    Standing::Failed(_) | Standing::Done(_) => {
                        vec![Event::Ended { ending: self.after_finally(ending), at }]
                    }
                }
            }
        }
    }

    /// A run whose `finally` failed is not done.
    pub(super) fn after_finally(&self, ending: &Ending) -> Ending {
        let failed = self.definition.finally.iter().find_map(|step| {
            match self.status_of(&Place::top(&step.id)) {
                Some(Status::Failed { why, .. }) => Some(format!("`{}` failed: {why}", step.id)),
                Some(
                    Status::Running(_)
                    | Status::Done(_)
                    | Status::Skipped { .. }
                    | Status::Cancelled { .. },
                )
                | None => None,
            }
        });
        match (ending.status, failed) {
            (End::Done, Some(reason)) => Ending { status: End::Failed, reason, ..ending.clone() },
            (End::Done | End::Failed | End::Cancelled, _) => ending.clone(),
        }
    }

    /// Whatever is under way is broken off, and the end begins.
    fn wind_up(&self, status: End, reason: String, at: Timestamp) -> Vec<Event> {
        let mut events = self.broken_off("", "the run ended", at);
        events.push(self.ends(Ending { status, reason, outputs: Map::new() }, at));
        events
    }

    /// The time that the budget gives is over.
    pub(super) fn run_out_of_time(&self, at: Timestamp) -> Vec<Event> {
        let why = "its time budget ran out".to_owned();
        self.go_on(self.wind_up(End::Failed, why, at), at)
    }

    fn ends(&self, ending: Ending, at: Timestamp) -> Event {
        match self.definition.finally.is_empty() {
            true => Event::Ended { ending, at },
            false => Event::FinallyBegan { ending, until: later(at, limits::FINALLY_MS), at },
        }
    }

    /// All that is under way in places that begin like this.
    pub(super) fn broken_off(&self, prefix: &str, why: &str, at: Timestamp) -> Vec<Event> {
        let running = self.steps.iter().filter(|(place, step)| {
            place.0.starts_with(prefix) && matches!(step.status, Status::Running(_))
        });
        let cancelled =
            |place: &Place| Event::StepCancelled { place: place.clone(), why: why.to_owned(), at };
        running.map(|(place, _)| cancelled(place)).collect()
    }

    fn standing(&self, block: Block<'_>, at: Timestamp) -> Standing {
        if let Some((step, why)) = self.unhandled(block) {
            let mut events = vec![];
            for other in block.steps {
                let place = block.place(&other.id);
                if matches!(self.status_of(&place), Some(Status::Running(_))) {
                    let why = format!("`{step}` failed");
                    events.extend(self.broken_off(&format!("{place}/"), &why, at));
                    events.push(Event::StepCancelled { place, why, at });
                }
            }
            return match events.is_empty() {
                true => Standing::Failed(format!("`{step}` failed: {why}")),
                false => Standing::Next(events),
            };
        }
        let (mut events, mut going, mut outputs) = (vec![], false, Map::new());
        for step in block.steps {
            let place = block.place(&step.id);
            match self.status_of(&place) {
                None => match self.ready(block, step, &place, at) {
                    Some(event) => events.push(event),
                    None => going = true,
                },
                Some(Status::Running(running)) => {
                    going = true;
                    events.extend(self.inside(step, &place, running, at));
                }
                Some(Status::Done(output)) => {
                    outputs.insert(step.id.clone(), (**output).clone());
                }
                Some(Status::Skipped { .. } | Status::Failed { .. } | Status::Cancelled { .. }) => {
                    outputs.insert(step.id.clone(), Value::Null);
                }
            }
        }
        match (events.is_empty(), going) {
            (false, _) => Standing::Next(events),
            (true, true) => Standing::Going,
            (true, false) => Standing::Done(outputs),
        }
    }

    /// A failure that is nobody's matter, and its step.
    fn unhandled<'a>(&self, block: Block<'a>) -> Option<(&'a str, String)> {
        block.steps.iter().filter(|_| block.stops).find_map(|step| {
            match (self.status_of(&block.place(&step.id)), &step.on_failure) {
                (Some(Status::Failed { why, .. }), OnFailure::Stop) => {
                    Some((step.id.as_str(), why.clone()))
                }
                (_, OnFailure::Stop | OnFailure::Continue | OnFailure::Step(_)) => None,
            }
        })
    }

    /// What becomes of a step that waits; `None` as long as it goes on waiting.
    fn ready(&self, block: Block<'_>, step: &Step, place: &Place, at: Timestamp) -> Option<Event> {
        let place = place.clone();
        let skipped =
            |why: &str| Event::StepSkipped { place: place.clone(), why: why.to_owned(), at };
        let failed = |why: String| Event::StepFailed {
            place: place.clone(),
            why,
            output: Value::Null,
            failure: None,
            at,
        };
        let mut blocked = None;
        for need in &step.needs {
            match self.status_of(&block.place(&need.step))? {
                Status::Running(_) => return None,
                Status::Failed { .. } if !need.any => {
                    blocked = Some(format!("`{}` failed", need.step))
                }
                Status::Cancelled { .. } if !need.any => {
                    blocked = Some(format!("`{}` was cancelled", need.step));
                }
                Status::Done(_)
                | Status::Skipped { .. }
                | Status::Failed { .. }
                | Status::Cancelled { .. } => {}
            }
        }
        let mut handled = block
            .steps
            .iter()
            .filter(|other| other.on_failure == OnFailure::Step(step.id.clone()))
            .peekable();
        let is_handler = handled.peek().is_some();
        let has_failed = |other: &Step| {
            matches!(self.status_of(&block.place(&other.id)), Some(Status::Failed { .. }))
        };
        if is_handler && !handled.any(has_failed) {
            return Some(skipped("nothing failed"));
        }
        if let Some(why) = blocked {
            return Some(Event::StepCancelled { place, why, at });
        }
        if self.steps.len() >= limits::EXPANDED_STEPS {
            return Some(failed(format!(
                "a run can have at most {} steps",
                limits::EXPANDED_STEPS
            )));
        }
        match step
            .when
            .as_ref()
            .map(|when| self.holds(when, "when", &step.lines, &place, &Map::new()))
        {
            Some(Ok(false)) => return Some(skipped("`when` is false")),
            Some(Err(why)) => return Some(failed(why)),
            Some(Ok(true)) | None => {}
        }
        Some(match self.doing(step, &place, at) {
            Ok(Begun::Doing(doing)) => Event::StepBegan { place, doing, at },
            Ok(Begun::Value(output)) => Event::StepDone { place, output, at },
            Err(why) => failed(why),
        })
    }

    /// What follows inside of a step that is under way.
    fn inside(&self, step: &Step, place: &Place, running: &Running, at: Timestamp) -> Vec<Event> {
        let doing = self.steps.get(place).and_then(|step| step.doing.as_deref());
        match (&step.kind, running, doing) {
            (Kind::Foreach(foreach), Running::Foreach, Some(Doing::Foreach { items })) => {
                self.items(foreach, place, items, at)
            }
            (Kind::Repeat(repeat), Running::Repeat { rounds }, _) => {
                self.round(step, repeat, place, rounds, at)
            }
            (_, _, _) => vec![],
        }
    }

    fn items(
        &self,
        foreach: &Foreach,
        place: &Place,
        items: &[Value],
        at: Timestamp,
    ) -> Vec<Event> {
        let block =
            |number| Block { around: Some((place, number)), steps: &foreach.steps, stops: true };
        let courses = self.courses(place, items.len(), foreach.steps.len());
        let (mut events, mut active, mut failed, mut waiting) = (vec![], 0, false, vec![]);
        for (number, course) in (1..).zip(&courses) {
            let block = block(number);
            match course {
                Course::Ahead => waiting.push(block),
                // What came of it is put together once, when all have ended.
                Course::Over { failed: badly } => {
                    failed |= *badly && self.unhandled(block).is_some();
                }
                Course::Begun => match self.standing(block, at) {
                    Standing::Next(next) => {
                        active += 1;
                        events.extend(next);
                    }
                    Standing::Going => active += 1,
                    Standing::Done(_) => {}
                    Standing::Failed(_) => failed = true,
                },
            }
        }
        let goes_on = foreach.go_on || !failed;
        let free = (foreach.parallel as usize).saturating_sub(active);
        for block in waiting.iter().filter(|_| goes_on).take(free) {
            if let Standing::Next(next) = self.standing(*block, at) {
                active += 1;
                events.extend(next);
            }
        }
        if !events.is_empty() || active > 0 {
            return events;
        }
        let told = (1..).zip(items).zip(courses);
        let told = told.map(|((number, item), course)| self.told(block(number), item, course, at));
        let (place, output) = (place.clone(), Value::Array(told.collect()));
        vec![match too_large(&output) {
            Some(why) => Event::StepFailed { place, why, output: Value::Null, failure: None, at },
            None if failed && !foreach.go_on => {
                let why = "an item failed".to_owned();
                Event::StepFailed { place, why, output, failure: None, at }
            }
            None => Event::StepDone { place, output, at },
        }]
    }

    /// How far each item is, without what came of it. One look at what has begun, because
    /// this is asked after every event.
    fn courses(&self, place: &Place, items: usize, steps: usize) -> Vec<Course> {
        let mut tallies = vec![Tally::default(); items];
        let inside = format!("{place}/");
        let begun = self.steps.range(Place(inside.as_str().into())..);
        for (other, step) in begun.take_while(|(other, _)| other.0.starts_with(&inside)) {
            let Some((number, id)) = other.0[inside.len()..].split_once('/') else { continue };
            let item = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let tally = item.and_then(|item| tallies.get_mut(item));
            let Some(tally) = tally.filter(|_| !id.contains('/')) else { continue };
            tally.begun += 1;
            match &step.status {
                Status::Running(_) => {}
                Status::Failed { .. } => {
                    tally.ended += 1;
                    tally.failed = true;
                }
                Status::Done(_) | Status::Skipped { .. } | Status::Cancelled { .. } => {
                    tally.ended += 1;
                }
            }
        }
        let course = |Tally { begun, ended, failed }| match begun {
            0 => Course::Ahead,
            _ if ended == steps => Course::Over { failed },
            _ => Course::Begun,
        };
        tallies.into_iter().map(course).collect()
    }

    /// What came of an item, where nothing more comes.
    fn told(&self, block: Block<'_>, item: &Value, course: Course, at: Timestamp) -> Value {
        let number = block.around.map_or(0, |(_, number)| number);
        let key = item.as_str().map_or_else(|| number.to_string(), str::to_owned);
        let (status, output, error) = match course {
            Course::Ahead => ("cancelled", Value::Null, "an earlier item failed".into()),
            Course::Begun | Course::Over { .. } => match self.standing(block, at) {
                Standing::Failed(why) => ("failed", Value::Null, why.into()),
                Standing::Done(outputs) => ("done", outputs.into(), Value::Null),
                Standing::Next(_) | Standing::Going => ("running", Value::Null, Value::Null),
            },
        };
        json!({ "key": key, "item": item, "status": status, "output": output, "error": error })
    }

    fn round(
        &self,
        step: &Step,
        repeat: &Repeat,
        place: &Place,
        rounds: &[Value],
        at: Timestamp,
    ) -> Vec<Event> {
        let number = rounds.len() as u32 + 1;
        let block = Block { around: Some((place, number)), steps: &repeat.steps, stops: true };
        let failed = |why: String| Event::StepFailed {
            place: place.clone(),
            why,
            output: Value::Null,
            failure: None,
            at,
        };
        let outputs = match self.standing(block, at) {
            Standing::Next(events) => return events,
            Standing::Going => return vec![],
            Standing::Failed(why) => return vec![failed(format!("round {number}: {why}"))],
            Standing::Done(outputs) => outputs,
        };
        let mut round = Value::Object(outputs);
        round["number"] = number.into();
        let rounds: Vec<Value> = rounds.iter().cloned().chain([round.clone()]).collect();
        let locals = Map::from_iter([
            ("round".to_owned(), round.clone()),
            ("rounds".to_owned(), rounds.clone().into()),
        ]);
        let ended =
            Event::RoundEnded { place: place.clone(), round: number, output: round.clone(), at };
        let output = json!({ "round": round, "rounds": rounds });
        if let Some(why) = too_large(&output) {
            return vec![failed(why)];
        }
        let is_last = number >= repeat.max;
        match self.holds(&repeat.until, "repeat.until", &step.lines, place, &locals) {
            Err(why) => vec![ended, failed(why)],
            Ok(false) if !is_last => vec![ended],
            Ok(false) if !repeat.go_on => {
                vec![ended, failed(format!("not finished in {number} rounds"))]
            }
            Ok(true | false) => vec![ended, Event::StepDone { place: place.clone(), output, at }],
        }
    }
}
