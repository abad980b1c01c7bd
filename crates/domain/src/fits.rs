//! Whether a value follows a JSON schema, as far as answers of models need it: types,
//! what has to be there, choices, sizes, and parts of the schema that are named elsewhere
//! in it. What else a schema says is for whoever wrote the prompt.

use serde_json::{Map, Value};

/// How deep parts of a schema may name each other.
const DEPTH: usize = 32;
/// Places at which JSON is looked for in an answer.
const PLACES: usize = 64;

/// The first JSON in a text that follows the schema, as it stands there.
pub(crate) fn fitting<'a>(text: &'a str, schema: &Value) -> Result<(&'a str, Value), String> {
    let mut why = "there is no JSON in the answer".to_owned();
    let begins = text.match_indices(['{', '[']).map(|(at, _)| at);
    let whole = std::iter::once(text.len() - text.trim_start().len());
    for at in whole.chain(begins).take(PLACES) {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else { continue };
        match misfit(&value, schema) {
            None => return Ok((&text[at..at + values.byte_offset()], value)),
            Some(problem) => why = problem,
        }
    }
    Err(format!("The answer does not have the form asked for: {why}."))
}

/// The same as a value.
pub(crate) fn json_of(text: &str, schema: &Value) -> Result<Value, String> {
    fitting(text, schema).map(|(_, value)| value)
}

/// The first thing that is wrong, with where it is.
pub(crate) fn misfit(value: &Value, schema: &Value) -> Option<String> {
    look(value, schema, schema, "", DEPTH)
}

fn look(value: &Value, schema: &Value, root: &Value, path: &str, depth: usize) -> Option<String> {
    let rules = schema.as_object()?;
    let depth = depth.checked_sub(1)?;
    let place = if path.is_empty() { "the answer" } else { path };
    let list =
        |name: &str| rules.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if let Some(types) = rules.get("type") {
        let types = types.as_array().map_or_else(|| std::slice::from_ref(types), Vec::as_slice);
        if !types.iter().filter_map(Value::as_str).any(|name| is_of(value, name)) {
            return Some(format!("{place} is not of type {}", names(types)));
        }
    }
    if rules.contains_key("enum") && !list("enum").contains(value) {
        return Some(format!("{place} is none of {}", names(list("enum"))));
    }
    if rules.get("const").is_some_and(|only| only != value) {
        return Some(format!("{place} is not what it has to be"));
    }
    if let Some(problem) = sizes(value, rules) {
        return Some(format!("{place} {problem}"));
    }
    if let Some(target) = rules.get("$ref").and_then(Value::as_str) {
        let target = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer))?;
        if let Some(problem) = look(value, target, root, path, depth) {
            return Some(problem);
        }
    }
    let fits = |schema: &Value| look(value, schema, root, path, depth).is_none();
    let fitting = |name: &str| list(name).iter().filter(|schema| fits(schema)).count();
    if rules.contains_key("anyOf") && fitting("anyOf") == 0
        || rules.contains_key("oneOf") && fitting("oneOf") != 1
    {
        return Some(format!("{place} is not one of what it may be"));
    }
    for schema in list("allOf") {
        if let Some(problem) = look(value, schema, root, path, depth) {
            return Some(problem);
        }
    }
    match value {
        Value::Array(items) => {
            let schema = rules.get("items")?;
            (0..).zip(items).find_map(|(number, item): (usize, _)| {
                look(item, schema, root, &format!("{path}[{number}]"), depth)
            })
        }
        Value::Object(map) => fields(map, rules, root, path, depth),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn fields(
    map: &Map<String, Value>,
    rules: &Map<String, Value>,
    root: &Value,
    path: &str,
    depth: usize,
) -> Option<String> {
    let inner =
        |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let required = rules.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !map.contains_key(name) {
            return Some(format!("`{}` is missing", inner(name)));
        }
    }
    let known = rules.get("properties").and_then(Value::as_object);
    for (name, value) in map {
        if let Some(names) = rules.get("propertyNames") {
            let name = Value::String(name.clone());
            if let Some(problem) = look(&name, names, root, &inner("…"), depth) {
                return Some(problem);
            }
        }
        let schema =
            known.and_then(|known| known.get(name)).or_else(|| rules.get("additionalProperties"));
        match schema {
            Some(Value::Bool(false)) => {
                return Some(format!("`{}` was not asked for", inner(name)));
            }
            Some(schema) => {
                if let Some(problem) = look(value, schema, root, &inner(name), depth) {
                    return Some(problem);
                }
            }
            None => {}
        }
    }
    None
}

fn sizes(value: &Value, rules: &Map<String, Value>) -> Option<&'static str> {
    let number = |name: &str| rules.get(name).and_then(Value::as_f64);
    let below = |size: f64, name: &str| number(name).is_some_and(|least| size < least);
    let above = |size: f64, name: &str| number(name).is_some_and(|most| size > most);
    let (size, least, most) = match value {
        Value::Number(_) => {
            let size = value.as_f64()?;
            if number("exclusiveMinimum").is_some_and(|least| size <= least) {
                return Some("is too small");
            }
            (size, "minimum", "maximum")
        }
        Value::String(text) => (text.chars().count() as f64, "minLength", "maxLength"),
        Value::Array(items) => (items.len() as f64, "minItems", "maxItems"),
        Value::Object(map) => (map.len() as f64, "minProperties", "maxProperties"),
        Value::Null | Value::Bool(_) => return None,
    };
    match (below(size, least), above(size, most)) {
        (true, _) => Some("is too small"),
        (_, true) => Some("is too large"),
        (false, false) => None,
    }
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

fn names(values: &[Value]) -> String {
    let name = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    values.iter().take(20).map(name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(value: Value, expected: Option<&str>) {
        let schema = json!({
            "type": "object", "required": ["votes"], "additionalProperties": false,
            "properties": {
                "votes": { "type": "array", "minItems": 1, "items": { "$ref": "#/definitions/vote" } },
                "note": { "type": ["string", "null"], "maxLength": 3 },
            },
            "definitions": { "vote": { "enum": ["accept", "reject"] } },
        });
        assert_eq!(misfit(&value, &schema).as_deref(), expected, "{value}");
    }

    #[test]
    fn what_does_not_fit_is_told_with_its_place() {
        check(json!({ "votes": ["accept"], "note": null }), None);
        check(json!([]), Some("the answer is not of type object"));
        check(json!({}), Some("`votes` is missing"));
        check(json!({ "votes": [] }), Some("votes is too small"));
        check(json!({ "votes": ["accept", "maybe"] }), Some("votes[1] is none of accept, reject"));
        check(json!({ "votes": ["accept"], "note": "long" }), Some("note is too large"));
        check(json!({ "votes": ["accept"], "more": 1 }), Some("`more` was not asked for"));
    }

    #[test]
    fn a_schema_that_names_itself_comes_to_an_end() {
        let schema = json!({ "$ref": "#", "items": { "$ref": "#" } });
        let mut value = json!([]);
        for _ in 0..100 {
            value = json!([value]);
        }
        assert_eq!(misfit(&value, &schema), None);
    }
}
