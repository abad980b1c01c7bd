//! What was expected, beside what came.

use serde_json::Value;

use super::Fault;
use super::case::{Case, ExpectStep};
use super::given::flow;
use crate::form::Report;
use crate::workflow::event::{Doing, Place};
use crate::workflow::problem::At;
use crate::workflow::yaml::{Data, Node};
use crate::workflow::{Stage, State, Status, StepRun};

/// Characters of a value that are shown with a difference.
const SHOWN: usize = 160;

pub(super) fn faults(case: &Case, state: &State) -> Vec<Fault> {
    let mut faults = vec![];
    let expect = &case.expect;
    let (reason, outputs) = match &state.stage {
        Stage::Ended { ending, .. } => (ending.reason.as_str(), Some(&ending.outputs)),
        Stage::Running | Stage::Finally { .. } => ("", None),
    };
    if let Some(node) = &expect.status {
        let before = faults.len();
        compare(node, &state.status().into(), "status", &mut faults);
        let why = if reason.is_empty() { waiting(state) } else { Some(reason.to_owned()) };
        if let (Some(fault), Some(why)) = (faults.get_mut(before), why) {
            fault.message = format!("{} ({why})", fault.message);
        }
    }
    if let Some(node) = &expect.reason {
        compare(node, &reason.into(), "reason", &mut faults);
    }
    for (name, step) in &expect.steps {
        steps(name, step, state, &mut faults);
    }
    for (name, node) in &expect.outputs {
        let path = format!("outputs.{name}");
        match outputs.and_then(|outputs| outputs.get(name)) {
            Some(found) => compare(node, found, &path, &mut faults),
            None => {
                let message = format!("nothing arrived, expected {}", shown(&node.json()));
                faults.push(Fault::of(node.at, &path, message));
            }
        }
    }
    faults
}

/// What a run waits for that goes on by nobody in the case.
pub(super) fn waiting(state: &State) -> Option<String> {
    let waits = state.steps.iter().filter_map(|(place, step)| {
        let people = state.asked(place);
        match (people.as_slice(), step.status.words()) {
            ([], (_, Some(why))) if matches!(step.status, Status::Running(_)) => {
                Some(format!("`{place}` {why}"))
            }
            ([], _) => None,
            (people, _) => Some(format!("`{place}` is waiting for {}", people.join(", "))),
        }
    });
    let waits: Vec<String> = waits.take(5).collect();
    (!waits.is_empty()).then(|| waits.join("; "))
}

/// All steps that are meant: one place, or every item and round of an id.
fn steps(name: &str, expected: &ExpectStep, state: &State, faults: &mut Vec<Fault>) {
    let is_meant = |place: &Place| *place.0 == *name || place.id() == name;
    let mut found: Vec<(&str, Option<&StepRun>)> = state
        .steps
        .iter()
        .filter(|(place, _)| is_meant(place))
        .map(|(place, step)| (&*place.0, Some(&**step)))
        .collect();
    if found.is_empty() {
        found.push((name, None));
    }
    for (place, step) in found {
        let path = format!("steps.{place}");
        let (status, why) = step.map_or(("waiting", None), |step| step.status.words());
        if let Some(node) = &expected.status {
            let before = faults.len();
            compare(node, &status.into(), &path, faults);
            if let (Some(fault), Some(why)) = (faults.get_mut(before), why) {
                fault.message = format!("{} ({why})", fault.message);
            }
        }
        if let Some(node) = &expected.reason {
            compare(node, &why.unwrap_or_default().into(), &format!("{path}.reason"), faults);
        }
        let input = step.and_then(|step| step.doing.as_deref()).map(input).unwrap_or_default();
        for (field, node) in &expected.input {
            let found = input.get(field).cloned().unwrap_or_default();
            compare(node, &found, &format!("{path}.input.{field}"), faults);
        }
        if let Some(node) = &expected.output {
            let output = match step.map(|step| &step.status) {
                Some(Status::Done(output) | Status::Failed { output, .. }) => (**output).clone(),
                Some(Status::Running(_) | Status::Skipped { .. } | Status::Cancelled { .. })
                | None => Value::Null,
            };
            compare(node, &output, &format!("{path}.output"), faults);
        }
    }
}

/// What a step was given, with everything worked out.
fn input(doing: &Doing) -> Value {
    match doing {
        Doing::Act { with, .. } => Value::Object(with.clone()),
        Doing::Sleep { .. }
        | Doing::Wait { .. }
        | Doing::Approve { .. }
        | Doing::Foreach { .. }
        | Doing::Repeat {} => serde_json::to_value(doing).unwrap_or_default(),
    }
}

/// The one key of a map that says that a part is enough.
fn part(node: &Node) -> Option<&Node> {
    match &node.data {
        Data::Map(entries) => match entries.as_slice() {
            [(key, part)] if key.name == "contains" => Some(part),
            _ => None,
        },
        Data::Null | Data::Bool(_) | Data::Number(_) | Data::Text(_) | Data::List(_) => None,
    }
}

fn compare(node: &Node, found: &Value, path: &str, faults: &mut Vec<Fault>) {
    if let Some(part) = part(node) {
        if !contains(part, found) {
            let (part, found) = (shown(&part.json()), shown(found));
            let message = format!("expected it to contain {part}, found {found}");
            faults.push(Fault::of(node.at, path, message));
        }
        return;
    }
    match (&node.data, found) {
        (Data::Map(entries), Value::Object(map)) => {
            for (key, node) in entries {
                let path = format!("{path}.{}", key.name);
                match map.get(&key.name) {
                    Some(found) => compare(node, found, &path, faults),
                    None => faults.push(missing(key.at, &path, node)),
                }
            }
            for (name, value) in map {
                if !entries.iter().any(|(key, _)| key.name == *name) {
                    let path = format!("{path}.{name}");
                    let message = format!("not expected: {}", shown(value));
                    faults.push(Fault::of(node.at, &path, message));
                }
            }
        }
        (Data::List(nodes), Value::Array(items)) => {
            for (number, node) in nodes.iter().enumerate() {
                let path = format!("{path}[{number}]");
                match items.get(number) {
                    Some(found) => compare(node, found, &path, faults),
                    None => faults.push(missing(node.at, &path, node)),
                }
            }
            for (number, item) in items.iter().enumerate().skip(nodes.len()) {
                let message = format!("not expected: {}", shown(item));
                faults.push(Fault::of(node.at, &format!("{path}[{number}]"), message));
            }
        }
        (_, found) => {
            let expected = node.json();
            if !is_same(&expected, found) {
                let message = difference(&expected, found);
                faults.push(Fault::of(node.at, path, message));
            }
        }
    }
}

fn missing(at: At, path: &str, node: &Node) -> Fault {
    Fault::of(at, path, format!("missing, expected {}", shown(&node.json())))
}

fn is_same(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Null, Value::Null) => true,
        (_, _) => false,
    }
}

fn contains(part: &Node, found: &Value) -> bool {
    match found {
        Value::String(text) => part.text().is_some_and(|part| text.contains(part)),
        Value::Array(items) => items.iter().any(|item| holds(part, item)),
        Value::Object(map) => match &part.data {
            Data::Map(entries) => entries
                .iter()
                .all(|(key, node)| map.get(&key.name).is_some_and(|found| holds(node, found))),
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::Text(_) | Data::List(_) => false,
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn holds(node: &Node, found: &Value) -> bool {
    let mut faults = vec![];
    compare(node, found, "", &mut faults);
    faults.is_empty()
}

/// Long texts are shown from where they begin to differ.
fn difference(expected: &Value, found: &Value) -> String {
    if let (Value::String(a), Value::String(b)) = (expected, found)
        && (a.chars().count() > SHOWN || b.chars().count() > SHOWN)
    {
        let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
        let from = same.saturating_sub(20);
        let tail = |text: &str| {
            let tail: String = text.chars().skip(from).collect();
            let dots = if from > 0 { "…" } else { "" };
            shown(&format!("{dots}{tail}").into())
        };
        return format!(
            "differs at character {}: expected {}, found {}",
            same + 1,
            tail(a),
            tail(b)
        );
    }
    format!("expected {}, found {}", shown(expected), shown(found))
}

pub(super) fn shown(value: &Value) -> String {
    let text = flow(value);
    match text.chars().count() > SHOWN {
        true => format!("{}…", text.chars().take(SHOWN).collect::<String>()),
        false => text,
    }
}
