//! A run in a few words: how far it is, what came of it, what can be done now.

use serde_json::Value;

use super::definition::Step;
use super::event::{Doing, Place};
use super::{Running, Stage, State, Status, StepRun};
use crate::form::{Happened, Progress, Report};
use crate::ledger::Ledger;
use crate::record::{Code, Document, Saying, Words, line};

/// What is said of a run to whoever may not know yet what happens in it.
const VEILED: &str = "hidden while a whiteboard it posts to is blind";

impl Report for State {
    fn status(&self) -> &'static str {
        match &self.stage {
            Stage::Running | Stage::Finally { .. } => "running",
            Stage::Ended { ending, .. } => ending.status.name(),
        }
    }

    fn title(&self) -> String {
        self.title.clone()
    }

    fn waits_for(&self) -> Vec<String> {
        let mut people: Vec<String> = vec![];
        for name in self.steps.keys().flat_map(|place| self.asked(place)) {
            if !people.contains(&name) {
                people.push(name);
            }
        }
        people
    }

    fn is_over(&self) -> bool {
        let is_clear = self.stopping.is_empty() && self.called_off.is_empty();
        matches!(self.stage, Stage::Ended { .. }) && is_clear
    }

    /// The steps of the file, each once.
    fn progress(&self) -> Progress {
        let all: Vec<&Step> =
            self.definition.steps.iter().chain(&self.definition.finally).collect();
        let ended = |step: &&&Step| {
            let status = self.status_of(&Place::top(&step.id));
            status.is_some_and(|status| !matches!(status, Status::Running(_)))
        };
        let (done, total) = (all.iter().filter(ended).count() as u32, all.len() as u32);
        let people = self.waits_for();
        let message = match (&self.stage, people.as_slice()) {
            (Stage::Running | Stage::Finally { .. }, _) if self.is_veiled => VEILED.to_owned(),
            (Stage::Ended { ending, .. }, _) if ending.reason.is_empty() => {
                ending.status.name().to_owned()
            }
            (Stage::Ended { ending, .. }, _) => {
                format!("{}: {}", ending.status.name(), ending.reason)
            }
            (Stage::Running | Stage::Finally { .. }, []) => format!("{done} of {total} steps"),
            (Stage::Running | Stage::Finally { .. }, people) => {
                format!("{done} of {total} steps; waiting for {}", people.join(", "))
            }
        };
        Progress { done, total, message }
    }

    fn happened(&self) -> Happened {
        let ended = self.steps.values().filter(|step| step.ended_at.is_some()).count() as u64;
        Happened { status: self.status(), said: ended, waits_for: self.waits_for() }
    }

    fn ledger(&self) -> Option<&Ledger> {
        Some(&self.ledger)
    }

    /// The outputs; with `full` every step.
    fn report(&self, full: bool) -> String {
        let mut out = Document::default();
        if full {
            out.heading(1, line!("{}", Words(&self.title)));
        }
        match &self.stage {
            Stage::Ended { ending, .. } => {
                for (name, value) in &ending.outputs {
                    out.paragraph(line!("{}:", Code(name)));
                    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    out.quote(&text);
                }
                if !ending.reason.is_empty() {
                    out.note(line!("{}", Saying(&ending.reason)));
                }
            }
            Stage::Running | Stage::Finally { .. } => {
                out.note(line!("Still running. {}", Saying(&self.progress().message)));
            }
        }
        for (place, step) in self.steps.iter().filter(|_| full) {
            let (status, why) = words(&step.status);
            let decided = decided(step);
            match why.or(decided.as_deref()) {
                Some(why) => out.item(line!("{}: {}. {}", Code(&place.0), status, Saying(why))),
                None => out.item(line!("{}: {}", Code(&place.0), status)),
            }
        }
        if full { out.text() } else { out.brief() }
    }

    fn next(&self) -> Vec<String> {
        let mut next = vec![];
        if self.is_veiled {
            next.push("Check again when the whiteboard it posts to is no longer blind.".into());
        }
        for (place, people) in self.steps.keys().map(|place| (place, self.asked(place))) {
            if !people.is_empty() {
                next.push(format!("Approve or reject `{place}`, as {}.", people.join(" or ")));
            }
        }
        if self.stage == Stage::Running && !self.is_veiled {
            next.push("Cancel it.".into());
        }
        next
    }
}

/// Who has approved a step that is done, and what they said.
fn decided(step: &StepRun) -> Option<String> {
    let (Some(Doing::Approve { .. }), Status::Done(output)) = (step.doing.as_deref(), &step.status)
    else {
        return None;
    };
    let text = |field: &str| output.get(field).and_then(Value::as_str).unwrap_or_default();
    let people = output.get("by").and_then(Value::as_array).into_iter().flatten();
    let people: Vec<&str> = people.filter_map(Value::as_str).collect();
    let by = format!("{} by {}", text("decision"), people.join(", "));
    Some(match text("reason") {
        "" => by,
        reason => format!("{by}: {reason}"),
    })
}

/// The word for a status, and why.
pub(super) fn words(status: &Status) -> (&'static str, Option<&str>) {
    match status {
        Status::Running(Running::Approve { .. }) => ("running", Some("waiting for a person")),
        Status::Running(Running::Wait) => ("running", Some("waiting for a signal")),
        Status::Running(
            Running::Act(_) | Running::Sleep | Running::Foreach | Running::Repeat { .. },
        ) => ("running", None),
        Status::Done(_) => ("done", None),
        Status::Skipped { why } => ("skipped", Some(why)),
        Status::Failed { why, .. } => ("failed", Some(why)),
        Status::Cancelled { why } => ("cancelled", Some(why)),
    }
}

impl Status {
    /// The word for it, and why it is so.
    pub fn words(&self) -> (&'static str, Option<&str>) {
        words(self)
    }
}
