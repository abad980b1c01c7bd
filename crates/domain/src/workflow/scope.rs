//! Values, worked out where they stand.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::definition::Kind;
use super::event::{Doing, Place};
use super::expression::{self, is_template};
use super::size::too_large;
use super::{Running, Stage, State, Status};

impl State {
    /// A value with all its templates worked out. `path` is where it stands in the step.
    pub(super) fn work_out(
        &self,
        value: &Value,
        path: &str,
        lines: &BTreeMap<String, u32>,
        place: Option<&Place>,
        locals: &Map<String, Value>,
    ) -> Result<Value, String> {
        match value {
            Value::String(text) if is_template(text) => {
                let scope = self.scope(text, place, locals);
                expression::render(text, &scope).map_err(|error| match lines.get(path) {
                    Some(line) => format!("line {line}: {path}: {error}"),
                    None => format!("{path}: {error}"),
                })
            }
            Value::Array(items) => {
                let items = items.iter().enumerate().map(|(number, item)| {
                    self.work_out(item, &format!("{path}[{number}]"), lines, place, locals)
                });
                items.collect::<Result<Vec<_>, _>>().map(Value::Array)
            }
            Value::Object(map) => {
                let map = map.iter().map(|(key, value)| {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    Ok((key.clone(), self.work_out(value, &path, lines, place, locals)?))
                });
                map.collect::<Result<Map<_, _>, String>>().map(Value::Object)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(value.clone()),
        }
    }

    /// Whether a condition holds. Nothing but true and false is an answer.
    pub(super) fn holds(
        &self,
        text: &str,
        path: &str,
        lines: &BTreeMap<String, u32>,
        place: &Place,
        locals: &Map<String, Value>,
    ) -> Result<bool, String> {
        let value = Value::String(text.to_owned());
        match self.work_out(&value, path, lines, Some(place), locals)? {
            Value::Bool(holds) => Ok(holds),
            other => {
                let line = lines.get(path).map_or(String::new(), |line| format!("line {line}: "));
                let found = serde_json::to_string(&other).unwrap_or_default();
                let found: String = found.chars().take(80).collect();
                Err(format!("{line}{path}: this must be true or false, not {found}"))
            }
        }
    }

    /// What a template may name, as far as it names it: outputs can be large.
    fn scope(&self, text: &str, place: Option<&Place>, locals: &Map<String, Value>) -> Value {
        let named = expression::look(text).unwrap_or_default();
        let mut steps = Map::new();
        for path in &named.paths {
            if let Some(id) = path.strip_prefix("steps.").and_then(|rest| rest.split('.').next()) {
                steps.insert(id.to_owned(), self.output(id, place));
            }
        }
        let mut scope = self.locals(place);
        scope.extend(locals.clone());
        scope.insert("inputs".into(), Value::Object((*self.inputs).clone()));
        scope.insert("run".into(), self.run_told());
        scope.insert("steps".into(), Value::Object(steps));
        Value::Object(scope)
    }

    fn run_told(&self) -> Value {
        let id = self.run.to_string();
        let short = id.get(id.len().saturating_sub(8)..).unwrap_or_default();
        let mut run = json!({
            "id": id, "short": short, "name": self.definition.name, "starter": self.starter,
            "began_at": self.began_at.to_string(),
        });
        if let Stage::Finally { ending, .. } = &self.stage {
            run["status"] = ending.status.name().into();
            run["reason"] = ending.reason.clone().into();
        }
        run
    }

    /// The output of the step with this id that can be seen from this place. What was
    /// skipped, failed or cancelled has none.
    fn output(&self, id: &str, place: Option<&Place>) -> Value {
        let mut around = place.and_then(Place::around);
        loop {
            let candidate = match &around {
                Some((outer, number)) => outer.inside(*number, id),
                None => Place::top(id),
            };
            if let Some(step) = self.steps.get(&candidate) {
                return match &step.status {
                    Status::Done(output) => (**output).clone(),
                    Status::Running(_)
                    | Status::Skipped { .. }
                    | Status::Failed { .. }
                    | Status::Cancelled { .. } => Value::Null,
                };
            }
            let Some((outer, _)) = around else { return Value::Null };
            around = outer.around();
        }
    }

    /// The items and rounds around a place; the innermost counts.
    fn locals(&self, place: Option<&Place>) -> Map<String, Value> {
        let mut locals = Map::new();
        let mut around = place.and_then(Place::around);
        while let Some((outer, number)) = around {
            let step = self.steps.get(&outer);
            let kind = self.definition.step(outer.id()).map(|step| &step.kind);
            match (kind, step.and_then(|step| step.doing.as_deref())) {
                (Some(Kind::Foreach(foreach)), Some(Doing::Foreach { items })) => {
                    let item = items.get(number as usize - 1).cloned().unwrap_or_default();
                    locals.entry(foreach.name.clone()).or_insert(item);
                    locals.entry("index").or_insert(number.into());
                }
                (Some(Kind::Repeat(_)), Some(Doing::Repeat {})) => {
                    let rounds = match step.map(|step| &step.status) {
                        Some(Status::Running(Running::Repeat { rounds })) => rounds.clone(),
                        Some(_) | None => vec![],
                    };
                    locals.entry("round").or_insert(json!({ "number": number }));
                    locals.entry("rounds").or_insert(rounds.into());
                }
                (_, _) => {}
            }
            around = outer.around();
        }
        locals
    }

    /// What the run gives back.
    pub(super) fn outputs(&self) -> Result<Map<String, Value>, String> {
        let mut outputs = Map::new();
        for output in &self.definition.outputs {
            let path = format!("outputs.{}", output.name);
            let none = (BTreeMap::new(), Map::new());
            let value = self
                .work_out(&output.value, &path, &none.0, None, &none.1)
                .map_err(|error| format!("line {}: {error}", output.line))?;
            outputs.insert(output.name.clone(), value);
        }
        match too_large(&Value::Object(outputs.clone())) {
            Some(why) => Err(format!("outputs: {why}")),
            None => Ok(outputs),
        }
    }

    /// The title of the run; its name where there is none to be had.
    pub(super) fn worked_out_title(&self) -> String {
        let name = self.definition.name.clone();
        let Some(title) = self.definition.title.clone() else { return name };
        let none = (BTreeMap::new(), Map::new());
        match self.work_out(&Value::String(title), "title", &none.0, None, &none.1) {
            Ok(Value::String(title)) if !title.trim().is_empty() => crate::room::title(&title),
            Ok(_) | Err(_) => name,
        }
    }
}
