//! From the OpenAPI document to the schemas of a tool.

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use super::names::{camel, snake};
use super::row::{Acts, Row};

/// A tool's arguments and where each goes, with the schemas of both directions.
pub struct Shape {
    pub arguments: Vec<Argument>,
    pub input: JsonObject,
    pub output: JsonObject,
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
}

const KEY: &str = "Makes the call safe to repeat: a second call with the same key changes \
                   nothing and gets the same answer. Leave it out unless you repeat calls yourself.";
const TOKEN: &str = "The agent's token, from its registration. Needed only where this MCP session \
                     did not register the agent itself.";
const AGENT: &str = "The agent that acts.";

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
        input.add(wire, Place::Body, schema.clone(), required);
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
        let schema = json!({ "type": "string", "minLength": 1, "maxLength": 200 });
        input.add("idempotencyKey", Place::Key, schema, false);
        input.describe("idempotency_key", KEY);
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
    let output = answer(document, operation, row);
    let (input_schema, output) = (closed(document, schema), closed(document, output));
    Some(Shape { arguments: input.arguments, input: input_schema, output })
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
        self.properties.insert(name.clone(), without_null(schema));
        self.arguments.push(Argument { name, wire: wire.to_owned(), place, required });
    }

    fn describe(&mut self, name: &str, words: &str) {
        if let Some(Value::Object(schema)) = self.properties.get_mut(name) {
            schema.insert("description".into(), words.into());
        }
    }
}

/// The schema of what a tool answers: always an object.
fn answer(document: &Value, operation: &Value, row: &Row) -> Value {
    let responses = &operation["responses"];
    let good = ["200", "201"].into_iter().find_map(|status| responses.get(status));
    let reply = good.map(|good| &good["content"]["application/json"]["schema"]);
    let reply = object(document, reply.unwrap_or(&Value::Null));
    let data = &reply["properties"]["data"];
    let mut schema = object(document, data);
    if !schema["properties"].is_object() {
        schema = json!({
            "type": "object",
            "properties": {
                (row.items): data,
                "total": {
                    "type": "integer", "minimum": 0,
                    "description": "All that match, whatever the page.",
                },
                "next_cursor": {
                    "type": "string",
                    "description": "Give it as `cursor` to get the next page; absent on the last one.",
                },
            },
            "required": [row.items],
        });
    }
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.retain(|field, _| row.keeps(&snake(field)));
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|field| field.as_str().is_some_and(|field| row.keeps(&snake(field))));
    }
    if !row.next.is_empty() {
        let next = json!({
            "type": "array", "items": { "type": "string" }, "description": "What can be done next.",
        });
        schema["properties"]["next"] = next;
        let mut required = schema["required"].as_array().cloned().unwrap_or_default();
        required.push(json!("next"));
        schema["required"] = required.into();
    }
    schema
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
    if !defs.is_empty() {
        whole["$defs"] = Value::Object(defs);
    }
    match whole {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// An argument that is not given is left out; that null means the same need not be
/// told to agents.
fn without_null(schema: Value) -> Value {
    let Value::Object(mut fields) = schema else { return schema };
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
    Value::Object(fields)
}

/// Takes out what is OpenAPI's and not JSON Schema's.
fn plain(schema: Value, wanted: &mut Vec<String>) -> Value {
    let Value::Object(fields) = schema else { return schema };
    let nullable = fields.get("nullable") == Some(&Value::Bool(true));
    let mut out = Map::new();
    for (key, value) in fields {
        let value = match (key.as_str(), value) {
            ("nullable" | "example" | "xml" | "externalDocs" | "discriminator", _) => continue,
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
    match nullable {
        true => json!({ "anyOf": [out, { "type": "null" }] }),
        false => Value::Object(out),
    }
}

const KNOWN_FORMATS: [&str; 6] = ["uuid", "date-time", "date", "uri", "email", "time"];
