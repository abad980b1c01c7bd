//! A step begins: everything that it needs is worked out, and looked at once more, since
//! what an expression comes to nobody could check before.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::definition::{Approve, Kind, Step};
use super::event::{Doing, Place};
use super::expression;
use super::kinds::{Act, Does, Field, Takes};
use super::signal::Signal;
use super::size::too_large;
use super::{State, time};
use crate::limits;
use crate::names;

/// What becomes of a step that may begin.
pub(super) enum Begun {
    Doing(Doing),
    /// It is done at once.
    Value(Value),
}

pub(super) fn later(at: Timestamp, ms: u64) -> Timestamp {
    let time = SignedDuration::from_millis(i64::try_from(ms).unwrap_or(i64::MAX));
    at.checked_add(time).unwrap_or(Timestamp::MAX)
}

impl State {
    pub(super) fn doing(&self, step: &Step, place: &Place, at: Timestamp) -> Result<Begun, String> {
        let none = Map::new();
        let work_out =
            |value: &Value, path: &str| self.work_out(value, path, &step.lines, Some(place), &none);
        let begun = match &step.kind {
            Kind::Set { value } => Begun::Value(work_out(value, "set")?),
            Kind::Act { act, with } => {
                let with = self.fields(*act, with, step, place)?;
                Begun::Doing(Doing::Act { act: *act, with })
            }
            Kind::Sleep { time } => {
                let time = match work_out(time, "sleep")? {
                    Value::String(text) => text,
                    other => other.to_string(),
                };
                let ms = time::duration(&time).map_err(|error| said(step, "sleep", &error))?;
                Begun::Doing(Doing::Sleep { until: later(at, ms) })
            }
            Kind::Wait(wait) => {
                let list = if wait.all { "all" } else { "any" };
                let signal = |(number, signal): (usize, &Signal)| {
                    let path = format!("wait.{list}[{number}]");
                    let value = work_out(&Value::Object(signal.clone()), &path)?;
                    let signal = value.as_object().cloned().unwrap_or_default();
                    let plain = |value: &Value| {
                        value.is_string() || value.is_number() || value.is_boolean()
                    };
                    match signal.iter().find(|(_, value)| !plain(value)) {
                        Some((key, _)) => Err(said(
                            step,
                            &path,
                            &format!("`{key}` is not a string, a number, true or false"),
                        )),
                        None => Ok(signal),
                    }
                };
                let signals =
                    wait.signals.iter().enumerate().map(signal).collect::<Result<_, _>>()?;
                let until = wait.timeout_ms.map(|ms| later(at, ms));
                Begun::Doing(Doing::Wait { all: wait.all, signals, until })
            }
            Kind::Approve(approve) => {
                let who = self.people(approve, step, work_out(&approve.who, "approve.who")?)?;
                Begun::Doing(Doing::Approve {
                    who,
                    need: approve.need,
                    show: work_out(&approve.show, "approve.show")?,
                    evidence: work_out(&approve.evidence, "approve.evidence")?,
                    until: approve.deadline_ms.map(|ms| later(at, ms)),
                    at_deadline: approve.at_deadline,
                })
            }
            Kind::Foreach(foreach) => match work_out(&foreach.items, "foreach.in")? {
                Value::Array(items) if items.len() > limits::ITEMS => {
                    let (len, most) = (items.len(), limits::ITEMS);
                    return Err(said(
                        step,
                        "foreach.in",
                        &format!("{len} items; at most {most} are allowed"),
                    ));
                }
                Value::Array(items) => Begun::Doing(Doing::Foreach { items }),
                _ => return Err(said(step, "foreach.in", "this must evaluate to a list")),
            },
            Kind::Repeat(_) => Begun::Doing(Doing::Repeat {}),
        };
        let value = match &begun {
            Begun::Doing(doing) => serde_json::to_value(doing).unwrap_or_default(),
            Begun::Value(value) => value.clone(),
        };
        match too_large(&value) {
            Some(why) => Err(format!("line {}: {why}", step.line)),
            None => Ok(begun),
        }
    }

    /// The fields of a step that does something outside.
    fn fields(
        &self,
        act: Act,
        given: &Map<String, Value>,
        step: &Step,
        place: &Place,
    ) -> Result<Map<String, Value>, String> {
        let spec = act.spec();
        let mut with = Map::new();
        for field in spec.fields {
            let Some(value) = given.get(field.name) else { continue };
            let path = format!("{}.{}", spec.name, field.name);
            let value = match field.takes {
                Takes::Token => match value.as_str().and_then(secret) {
                    Some(secret) => secret,
                    None => {
                        let worked_out =
                            self.work_out(value, &path, &step.lines, Some(place), &Map::new())?;
                        plain(worked_out).map_err(|error| said(step, &path, &error))?
                    }
                },
                Takes::Headers => self.headers(value, &path, step, place)?,
                Takes::Text
                | Takes::Number { .. }
                | Takes::Flag
                | Takes::OneOf(_)
                | Takes::List
                | Takes::Map
                | Takes::Anything
                | Takes::Time => {
                    self.work_out(value, &path, &step.lines, Some(place), &Map::new())?
                }
            };
            let value = taken(field, value).map_err(|error| said(step, &path, &error))?;
            with.insert(field.name.to_owned(), value);
        }
        self.suffix(act, &mut with);
        Ok(with)
    }

    fn headers(
        &self,
        value: &Value,
        path: &str,
        step: &Step,
        place: &Place,
    ) -> Result<Value, String> {
        let Value::Object(headers) = value else {
            return match self.work_out(value, path, &step.lines, Some(place), &Map::new())? {
                Value::Object(headers) => {
                    let header = |(name, value)| Ok((name, plain(value)?));
                    let headers = headers.into_iter().map(header).collect::<Result<_, String>>();
                    headers.map(Value::Object).map_err(|error| said(step, path, &error))
                }
                other => Ok(other),
            };
        };
        let headers = headers.iter().map(|(name, value)| {
            let path = format!("{path}.{name}");
            let value = match value.as_str().and_then(secret) {
                Some(secret) => secret,
                None => {
                    let worked_out =
                        self.work_out(value, &path, &step.lines, Some(place), &Map::new())?;
                    plain(worked_out).map_err(|error| said(step, &path, &error))?
                }
            };
            Ok((name.clone(), value))
        });
        headers.collect::<Result<Map<_, _>, String>>().map(Value::Object)
    }

    /// Rooms are not rewound with a run that goes on from another: those that it opens
    /// anew get names of their own.
    fn suffix(&self, act: Act, with: &mut Map<String, Value>) {
        let Does::Opens { named: field } = act.spec().does else { return };
        let id = self.run.to_string();
        let short = id.get(id.len().saturating_sub(8)..).unwrap_or_default();
        if let (Some(_), Some(Value::String(name))) = (&self.forked, with.get_mut(field))
            && !name.contains(short)
        {
            *name = format!("{name}-{short}");
        }
    }

    /// Those who may decide. Fewer than have to is a step that nobody could end.
    fn people(&self, approve: &Approve, step: &Step, who: Value) -> Result<Vec<String>, String> {
        let wrong = |message: &str| said(step, "approve.who", message);
        let Value::Array(names) = who else { return Err(wrong("this must be a list of people")) };
        let mut people: Vec<String> = vec![];
        for name in names {
            let Value::String(name) = name else { return Err(wrong("a name must be a string")) };
            names::check_name(&name).map_err(|error| wrong(&format!("{name:?} {error}")))?;
            let is_starter = approve.not_starter && names::are_same(&name, &self.starter);
            if !is_starter && !people.iter().any(|other| names::are_same(other, &name)) {
                people.push(name);
            }
        }
        if people.len() > limits::APPROVERS {
            return Err(wrong(&format!("there are more than {} people", limits::APPROVERS)));
        }
        match people.len() < approve.need as usize {
            true => {
                let (need, able) = (approve.need, people.len());
                let why = if approve.not_starter {
                    ", and the person who started the run is not one of them"
                } else {
                    ""
                };
                Err(wrong(&format!("{need} must approve, but only {able} can{why}")))
            }
            false => Ok(people),
        }
    }
}

fn said(step: &Step, path: &str, error: &str) -> String {
    let line = step.lines.get(path).copied().unwrap_or(step.line);
    format!("line {line}: {path}: {error}")
}

/// A secret is named in the log and never there: it is put in where it is sent.
fn secret(text: &str) -> Option<Value> {
    let (before, name, after) = expression::secret(text)?;
    Some(json!({ "secret": name, "before": before, "after": after }))
}

/// Nothing that an expression comes to may look like a secret that the file names: whoever
/// wrote it would choose which one is sent.
fn plain(value: Value) -> Result<Value, String> {
    match value {
        Value::Object(_) | Value::Array(_) => Err("this must evaluate to a string".into()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(value),
    }
}

/// A value as the field takes it.
fn taken(field: &Field, value: Value) -> Result<Value, String> {
    match (field.takes, &value) {
        (Takes::Text | Takes::Token, Value::String(text)) if text.trim().is_empty() => {
            Err("this evaluates to nothing".into())
        }
        (Takes::Text | Takes::Token, Value::String(_)) => Ok(value),
        (Takes::Token, Value::Object(_)) => Ok(value),
        (Takes::Text | Takes::Token, Value::Number(number)) => {
            Ok(Value::String(number.to_string()))
        }
        (Takes::Text | Takes::Token, _) => Err("this must evaluate to a string".into()),
        (Takes::Number { least, most }, value) => {
            let number =
                value.as_u64().filter(|n| (u64::from(least)..=u64::from(most)).contains(n));
            number.map(Value::from).ok_or_else(|| {
                format!("this must evaluate to a whole number from {least} to {most}")
            })
        }
        (Takes::Flag, Value::Bool(_)) => Ok(value),
        (Takes::Flag, _) => Err("this must evaluate to true or false".into()),
        (Takes::OneOf(known), Value::String(text)) if known.contains(&text.as_str()) => Ok(value),
        (Takes::OneOf(known), _) => {
            Err(format!("this must evaluate to one of {}", known.join(", ")))
        }
        (Takes::List, Value::Array(_)) | (Takes::Map | Takes::Headers, Value::Object(_)) => {
            Ok(value)
        }
        (Takes::List, _) => Err("this must evaluate to a list".into()),
        (Takes::Map | Takes::Headers, _) => Err("this must evaluate to a map".into()),
        (Takes::Time, Value::String(text)) => time::duration(text).map(Value::from),
        (Takes::Time, _) => Err("this must evaluate to a time such as `90s`".into()),
        (Takes::Anything, _) => Ok(value),
    }
}
