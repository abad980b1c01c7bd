//! Tools that a model calls one after the other: which step is next is told by the
//! results that the request holds, so a conversation needs no memory here.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::script::Gate;
use crate::wires::{Call, Tool};

/// One call of a tool, with what the model says before it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Step {
    /// The tool's name. Programs put the name of its server before it, so the end of a
    /// name is enough.
    pub(crate) call: String,
    /// The arguments. A text `${STEP.FIELD}` is the field of that name in the result of
    /// the last step before this one that called STEP.
    #[serde(default = "nothing")]
    pub(crate) with: Value,
    #[serde(default)]
    pub(crate) text: String,
    /// Its text and its call wait until this name is released.
    pub(crate) hold: Option<String>,
    #[serde(skip)]
    pub(crate) gate: Option<Gate>,
}

impl Step {
    pub(crate) fn with_gate(&self, gates: &BTreeMap<String, Gate>) -> Step {
        let gate = self.hold.as_ref().and_then(|name| gates.get(name)).cloned();
        Step { gate, ..self.clone() }
    }
}

fn nothing() -> Value {
    Value::Object(serde_json::Map::new())
}

/// The call that is due when these results have come, or why it cannot be made; none
/// when all steps are done.
pub(crate) fn next(
    steps: &[Step],
    tools: &[Tool],
    results: &[Value],
) -> Option<Result<Call, String>> {
    let number = results.len();
    let step = steps.get(number)?;
    Some(found(step, tools).and_then(|tool| {
        let arguments = filled(&step.with, &steps[..number], results)?;
        Ok(Call { id: format!("call_{}", number + 1), tool, arguments })
    }))
}

fn found(step: &Step, tools: &[Tool]) -> Result<Tool, String> {
    let end = format!("_{}", step.call);
    let named = |tool: &&Tool| tool.name == step.call || tool.name.ends_with(&end);
    tools.iter().find(named).cloned().ok_or_else(|| {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        format!("no tool {:?} is on offer; there is {}", step.call, names.join(", "))
    })
}

/// The arguments with the values of earlier results in their places.
fn filled(with: &Value, before: &[Step], results: &[Value]) -> Result<Value, String> {
    match with {
        Value::String(text) => match place(text) {
            Some((step, field)) => taken(step, field, before, results),
            None => Ok(with.clone()),
        },
        Value::Array(items) => items.iter().map(|item| filled(item, before, results)).collect(),
        Value::Object(fields) => {
            let filled = |(name, value): (&String, &Value)| {
                Ok((name.clone(), filled(value, before, results)?))
            };
            fields.iter().map(filled).collect::<Result<_, String>>().map(Value::Object)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(with.clone()),
    }
}

fn place(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix("${")?.strip_suffix('}')?.split_once('.')
}

fn taken(step: &str, field: &str, before: &[Step], results: &[Value]) -> Result<Value, String> {
    let index = before.iter().rposition(|one| one.call == step);
    let result = index.and_then(|index| results.get(index));
    let result = result.ok_or_else(|| format!("no step before this one calls {step:?}"))?;
    within(result, field).ok_or_else(|| format!("the result of {step} has no {field:?}: {result}"))
}

/// The first field of this name. Programs wrap results in words and lists of their own,
/// and keep JSON as text, so it is looked for everywhere.
fn within(value: &Value, field: &str) -> Option<Value> {
    match value {
        Value::Object(fields) => {
            let inside = || fields.values().find_map(|value| within(value, field));
            fields.get(field).cloned().or_else(inside)
        }
        Value::Array(items) => items.iter().find_map(|item| within(item, field)),
        Value::String(text) => text.match_indices('{').find_map(|(at, _)| {
            let mut objects = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
            within(&objects.next()?.ok()?, field)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(with: Value, results: &[Value]) -> Result<Call, String> {
        let step = |call: &str, with| Step { call: call.to_owned(), with, ..Step::default() };
        let steps = [step("open", json!({})), step("post", with)];
        let tools = ["mcp__board__open", "mcp__board__post"];
        let tools = tools.map(|name| Tool { name: name.to_owned(), space: None });
        next(&steps, &tools, results).expect("steps are left")
    }

    #[test]
    fn a_value_is_found_however_a_program_wraps_the_result() {
        let with = json!({"token": "${open.token}", "list": ["${open.token}", "$5"], "n": 1});
        let expected = json!({"token": "t1", "list": ["t1", "$5"], "n": 1});
        for result in [
            json!({"token": "t1"}),
            json!("Wall time: {1} s\nOutput:\n{\"id\": 3, \"token\": \"t1\"}"),
            json!([{"type": "text", "text": "{\"board\": {\"token\": \"t1\"}}"}]),
        ] {
            let made = call(with.clone(), &[result]).unwrap();
            assert_eq!((made.arguments, made.id.as_str()), (expected.clone(), "call_2"));
            assert_eq!(made.tool.name, "mcp__board__post");
        }
    }

    #[test]
    fn what_cannot_be_called_is_said() {
        let missing = call(json!("${open.key}"), &[json!({"token": 1})]).unwrap_err();
        assert_eq!(missing, "the result of open has no \"key\": {\"token\":1}");
        let later = call(json!("${post.key}"), &[json!({})]).unwrap_err();
        assert_eq!(later, "no step before this one calls \"post\"");
        let step = Step { call: "vote".to_owned(), ..Step::default() };
        let tool = Tool { name: "devote".to_owned(), space: None };
        let unknown = next(&[step], &[tool], &[]).map(|call| call.unwrap_err());
        assert_eq!(unknown.as_deref(), Some("no tool \"vote\" is on offer; there is devote"));
    }

    #[test]
    fn after_the_last_step_nothing_is_called() {
        assert!(next(&[], &[], &[]).is_none());
    }
}
