//! A request as plain words, for models that take nothing else.

use plenary_domain::{Ask, Message, Speaker};
use serde_json::Value;

use crate::http::Without;

/// The whole request as one text, or all of it but the system prompt.
pub(crate) fn flat(ask: &Ask, with_system: bool) -> String {
    let mut text = if with_system { system_with_schema(ask) } else { String::new() };
    if !text.is_empty() {
        text.push_str("\n\n---\n\n");
    }
    match ask.messages.as_slice() {
        [one] => text.push_str(&one.text),
        many => many.iter().for_each(|message| labelled(message, &mut text)),
    }
    text
}

fn labelled(message: &Message, text: &mut String) {
    let who = match message.speaker {
        Speaker::User => "User",
        Speaker::Assistant => "You, earlier",
    };
    text.push_str(&format!("{who}:\n{}\n\n", message.text));
}

/// The system prompt, with the schema in words if there is one.
pub(crate) fn system_with_schema(ask: &Ask) -> String {
    match ask.schema() {
        Some(schema) => format!(
            "{}\n\nAnswer with one JSON value that follows this JSON schema, and with nothing else:\n{schema}",
            ask.system
        ),
        None => ask.system.clone(),
    }
}

/// The most tokens of the answer: a part of what the room asks for, where the server
/// has turned down more.
pub(crate) fn answer_cap(ask: &Ask, without: Without) -> u32 {
    (ask.patience.answer_tokens >> (2 * without.quarters)).max(1)
}

/// How freely the model is to choose its words, unless the server has turned that down.
pub(crate) fn temperature(ask: &Ask, without: Without) -> Option<f64> {
    ask.temperature.filter(|_| !without.temperature)
}

/// The schema with every object closed, as the strict forms want it.
pub(crate) fn closed(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let mut fields: serde_json::Map<String, Value> =
                fields.iter().map(|(name, value)| (name.clone(), closed(value))).collect();
            if fields.get("type").is_some_and(|kind| kind == "object") {
                fields.entry("additionalProperties").or_insert(Value::Bool(false));
            }
            Value::Object(fields)
        }
        Value::Array(items) => items.iter().map(closed).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
    }
}

/// Whether every object names all its properties as required and allows no other:
/// what OpenAI's strict mode insists on.
pub(crate) fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            let object = fields.get("type").is_some_and(|kind| kind == "object");
            let required = |name: &String| {
                let list = fields.get("required").and_then(Value::as_array);
                list.is_some_and(|list| list.iter().any(|one| one == name))
            };
            let properties = fields.get("properties").and_then(Value::as_object);
            let named = properties.is_some_and(|all| all.keys().all(required));
            let shut = fields.get("additionalProperties") == Some(&Value::Bool(false));
            (!object || (named && shut)) && fields.values().all(is_strict)
        }
        Value::Array(items) => items.iter().all(is_strict),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}
