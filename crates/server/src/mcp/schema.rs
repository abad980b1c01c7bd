//! From the OpenAPI document to the schemas of a tool.

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use super::names::{camel, in_words, snake};
use super::row::{Acts, Next, Row};

/// A tool's arguments and where each goes, with the schemas of both directions.
pub struct Shape {
    pub arguments: Vec<Argument>,
    pub input: JsonObject,
    /// Of a tool whose answer programs go on with.
    pub output: Option<JsonObject>,
    /// The route answers with a list, the tool with an object that holds it.
    pub lists: bool,
}

pub struct Argument {
    /// As the tool calls it.
    pub name: String,
    /// As the route calls it.
    pub wire: String,
    pub place: Place,
    pub required: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    Path,
    Query,
    Body,
    /// The header `Idempotency-Key`.
    Key,
    /// The header `Agent-Token`.
    Token,
    /// Known to the session only: whose token to send.
    Agent,
    /// Known to the tool only: where the page of a long text begins.
    From,
}

const KEY: &str = "Makes a repeat of this call harmless.";
const TOKEN: &str = "From registering; send it with every call.";
const AGENT: &str = "The agent that acts.";
const FROM: &str = "`next_from` of the previous page.";

/// `None` when the document has no such route.
pub fn shape(document: &Value, row: &Row) -> Option<Shape> {
    let method = row.method.name().to_lowercase();
    let operation = document.get("paths")?.get(row.path)?.get(&method)?;
    let mut input = Input { row, arguments: vec![], properties: Map::new() };
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let place = match parameter["in"].as_str() {
            Some("path") => Place::Path,
            Some("query") => Place::Query,
            // Headers are the handler's business.
            _ => continue,
        };
        let wire = parameter["name"].as_str().unwrap_or_default();
        let mut schema = parameter["schema"].clone();
        if let (Some(fields), Some(words)) = (schema.as_object_mut(), parameter.get("description"))
        {
            fields.insert("description".into(), words.clone());
        }
        input.add(wire, place, schema, parameter["required"] == true);
    }
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    let body = object(document, body);
    for (wire, schema) in body["properties"].as_object().into_iter().flatten() {
        let required = body["required"].as_array().is_some_and(|all| all.contains(&json!(wire)));
        input.add(wire, Place::Body, without(document, schema, row, wire), required);
    }
    if let Some(Acts { name, .. }) = row.acts {
        if !name.is_empty() && !input.arguments.iter().any(|argument| argument.name == name) {
            let acts = row.method.changes();
            input.add(&camel(name), Place::Agent, json!({ "type": "string" }), acts);
            input.describe(name, AGENT);
        }
        input.add("agentToken", Place::Token, json!({ "type": "string" }), false);
        input.describe("agent_token", TOKEN);
    }
    if row.method.changes() {
        input.add("idempotencyKey", Place::Key, json!({ "type": "string" }), false);
        input.describe("idempotency_key", KEY);
    }
    if row.pages {
        input.add("from", Place::From, json!({ "type": "integer", "minimum": 0 }), false);
        input.describe("from", FROM);
    }
    for (name, words) in row.described {
        input.describe(name, words);
    }
    let required: Vec<&str> =
        input.arguments.iter().filter(|a| a.required).map(|a| a.name.as_str()).collect();
    let schema = json!({
        "type": "object", "properties": input.properties, "required": required,
        "additionalProperties": false,
    });
    let data = data(document, operation);
    Some(Shape {
        arguments: input.arguments,
        input: closed(document, schema),
        output: row.typed.then(|| output(document, &data, row)),
        lists: !data["properties"].is_object(),
    })
}

/// A list without the parts of its items that are no arguments.
fn without(document: &Value, schema: &Value, row: &Row, wire: &str) -> Value {
    let part = |hidden: &&'static str| hidden.strip_prefix(wire)?.strip_prefix('.');
    let hidden: Vec<&str> = row.hidden.iter().filter_map(part).collect();
    let mut schema = schema.clone();
    if !hidden.is_empty() {
        let mut item = object(document, &schema["items"]);
        if let Some(fields) = item["properties"].as_object_mut() {
            fields.retain(|name, _| !hidden.contains(&name.as_str()));
        }
        schema["items"] = item;
    }
    schema
}

struct Input<'a> {
    row: &'a Row,
    arguments: Vec<Argument>,
    properties: JsonObject,
}

impl Input<'_> {
    fn add(&mut self, wire: &str, place: Place, schema: Value, required: bool) {
        if self.row.hidden.contains(&wire) {
            return;
        }
        let renamed = self.row.renamed.iter().find(|(from, _)| *from == wire);
        let name = renamed.map_or_else(|| snake(wire), |(_, to)| (*to).to_owned());
        self.properties.insert(name.clone(), schema);
        self.arguments.push(Argument { name, wire: wire.to_owned(), place, required });
    }

    fn describe(&mut self, name: &str, words: &str) {
        if let Some(Value::Object(schema)) = self.properties.get_mut(name) {
            schema.insert("description".into(), words.into());
        }
    }
}

/// The schema of what the route answers.
fn data(document: &Value, operation: &Value) -> Value {
    let responses = &operation["responses"];
    let good = ["200", "201"].into_iter().find_map(|status| responses.get(status));
    let reply = good.map(|good| &good["content"]["application/json"]["schema"]);
    let reply = object(document, reply.unwrap_or(&Value::Null));
    object(document, &reply["properties"]["data"])
}

/// The schema of a tool's answer: its own fields, and of what is inside them only
/// whether it is a text, a list or an object. Nobody makes more of it, and in full it
/// would be larger than all the rest.
fn output(document: &Value, data: &Value, row: &Row) -> JsonObject {
    let fields = data["properties"].as_object().into_iter().flatten();
    let kept = fields.map(|(name, schema)| (snake(name), schema)).filter(|(n, _)| row.keeps(n));
    let mut properties: JsonObject =
        kept.map(|(name, schema)| (name, outline(document, schema))).collect();
    let required = data["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut required: Vec<String> = required.map(snake).filter(|name| row.keeps(name)).collect();
    match row.next {
        Next::Route => {}
        Next::Words(_) | Next::Made(_) => {
            if properties.insert("next".into(), json!({ "type": "array" })).is_none() {
                required.push("next".into());
            }
        }
    }
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    schema.as_object().cloned().unwrap_or_default()
}

fn outline(document: &Value, schema: &Value) -> Value {
    match object(document, schema).get("type") {
        Some(Value::String(kind)) => json!({ "type": kind }),
        Some(_) | None => json!({}),
    }
}

/// An object's own fields, with references and parts put together.
fn object(document: &Value, schema: &Value) -> Value {
    if let Some(name) = schema["$ref"].as_str() {
        let found = name.strip_prefix('#').and_then(|pointer| document.pointer(pointer));
        return object(document, found.unwrap_or(&Value::Null));
    }
    let Some(parts) = schema["allOf"].as_array() else { return schema.clone() };
    let (mut properties, mut required) = (Map::new(), vec![]);
    for part in parts {
        let part = object(document, part);
        if let Value::Object(fields) = &part["properties"] {
            properties.extend(fields.clone());
        }
        required.extend(part["required"].as_array().cloned().unwrap_or_default());
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

/// A schema that stands by itself, in JSON Schema's words and with our names.
fn closed(document: &Value, schema: Value) -> JsonObject {
    let mut wanted = vec![];
    let mut whole = plain(schema, &mut wanted);
    let mut defs = Map::new();
    while let Some(name) = wanted.pop() {
        if defs.contains_key(&name) {
            continue;
        }
        let found = document["components"]["schemas"][&name].clone();
        let found = plain(found, &mut wanted);
        defs.insert(name, found);
    }
    while let Some(name) = defs.keys().find(|name| uses(name, &whole, &defs) == 1).cloned() {
        let Some(found) = defs.remove(&name) else { break };
        put_in(&mut whole, &name, &found);
        defs.values_mut().for_each(|schema| put_in(schema, &name, &found));
    }
    if !defs.is_empty() {
        whole["$defs"] = Value::Object(defs);
    }
    match whole {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// How often a definition is referred to. What is needed once stands where it is needed.
fn uses(name: &str, whole: &Value, defs: &JsonObject) -> usize {
    fn count(schema: &Value, target: &str) -> usize {
        match schema {
            Value::Object(fields) => {
                let here = fields.get("$ref").is_some_and(|found| found == target);
                usize::from(here) + fields.values().map(|inner| count(inner, target)).sum::<usize>()
            }
            Value::Array(parts) => parts.iter().map(|inner| count(inner, target)).sum(),
            _ => 0,
        }
    }
    let target = format!("#/$defs/{name}");
    count(whole, &target) + defs.values().map(|schema| count(schema, &target)).sum::<usize>()
}

/// Puts a definition in the place of the reference. What stands beside the reference,
/// such as its description, goes before what the definition says.
fn put_in(schema: &mut Value, name: &str, found: &Value) {
    match schema {
        Value::Object(fields) => {
            if fields.get("$ref").is_some_and(|target| *target == format!("#/$defs/{name}")) {
                fields.remove("$ref");
                for (key, value) in found.as_object().into_iter().flatten() {
                    fields.entry(key.clone()).or_insert_with(|| value.clone());
                }
                return;
            }
            fields.values_mut().for_each(|inner| put_in(inner, name, found));
        }
        Value::Array(parts) => parts.iter_mut().for_each(|inner| put_in(inner, name, found)),
        _ => {}
    }
}

/// An argument that is not given is left out; that null means the same need not be
/// told to agents.
fn without_null(mut fields: JsonObject) -> JsonObject {
    let null = json!({ "type": "null" });
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|one| *one != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            fields.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(parts)) = fields.get_mut("oneOf") {
        parts.retain(|part| *part != null);
        if let [Value::Object(only)] = parts.as_slice() {
            let only = only.clone();
            fields.remove("oneOf");
            fields.extend(only);
        }
    }
    fields
}

/// Takes out what is OpenAPI's and not JSON Schema's, and what need not be told
/// beforehand: who writes too much or too little is told so by the route.
fn plain(schema: Value, wanted: &mut Vec<String>) -> Value {
    let Value::Object(fields) = schema else { return schema };
    let mut out = Map::new();
    for (key, value) in without_null(fields) {
        let value = match (key.as_str(), value) {
            ("nullable" | "example" | "xml" | "externalDocs" | "discriminator", _)
            | ("minLength" | "maxLength" | "minItems" | "maxItems", _) => continue,
            ("required", Value::Array(names)) if names.is_empty() => continue,
            ("description", Value::String(words)) => in_words(&words).into(),
            // OpenAPI's names for the width of numbers; validators do not know them.
            ("format", Value::String(format)) if !KNOWN_FORMATS.contains(&format.as_str()) => {
                continue;
            }
            ("$ref", Value::String(target)) => {
                let name = target.rsplit('/').next().unwrap_or_default().to_owned();
                let target = format!("#/$defs/{name}");
                wanted.push(name);
                target.into()
            }
            ("properties", Value::Object(properties)) => properties
                .into_iter()
                .map(|(name, schema)| (snake(&name), plain(schema, wanted)))
                .collect::<Map<_, _>>()
                .into(),
            ("required", Value::Array(names)) => {
                names.iter().filter_map(Value::as_str).map(snake).collect()
            }
            ("items" | "additionalProperties" | "propertyNames" | "not", value) => {
                plain(value, wanted)
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(parts)) => {
                parts.into_iter().map(|part| plain(part, wanted)).collect()
            }
            (_, value) => value,
        };
        out.insert(key, value);
    }
    Value::Object(out)
}

const KNOWN_FORMATS: [&str; 6] = ["uuid", "date-time", "date", "uri", "email", "time"];
