//! The JSON schema (draft-07) by which editors help with a file. It is made from the
//! table that the check reads. It says less than the check, and nothing else.

use serde_json::{Map, Value, json};

use super::definition::Type;
use super::kinds::{Field, SPECS, Spec, Takes};
use super::rehearsal::case::{DECISIONS, RUN_STATUSES, STEP_STATUSES};
use crate::limits;

pub fn schema() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Plenary workflow",
        "type": "object",
        "required": ["name", "steps"],
        "additionalProperties": false,
        "properties": {
            "name": { "type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,79}$" },
            "description": { "type": "string" },
            "title": { "type": "string", "description": "A template for the title of each run." },
            "inputs": { "$ref": "#/definitions/inputs" },
            "steps": { "$ref": "#/definitions/steps" },
            "finally": { "$ref": "#/definitions/steps", "description": "Always runs, at the end." },
            "outputs": { "type": "object", "propertyNames": { "$ref": "#/definitions/id" } },
            "on": triggers(),
            "one_per": { "type": "string", "description": "Runs with the same value go one at a time." },
            "budget": object(&[], json!({
                "tokens": { "type": "integer", "minimum": 1 },
                "usd": { "type": "number", "exclusiveMinimum": 0 },
                "time": { "$ref": "#/definitions/time" },
            })),
            "cases": {
                "type": "array",
                "maxItems": limits::CASES,
                "description": "What `plenary workflow test` checks.",
                "items": case(),
            },
        },
        "definitions": {
            "id": { "type": "string", "pattern": "^[a-z][a-z0-9_]*$" },
            "time": { "type": "string", "pattern": "^\\s*([0-9]+(ms|s|m|min|h|d)\\s*)+$" },
            "expression": { "type": "string", "pattern": "\\{\\{|\\{%" },
            "condition": { "anyOf": [
                { "type": "boolean" },
                { "type": "string", "pattern": "^\\s*\\{\\{[\\s\\S]*\\}\\}\\s*$" },
            ] },
            "inputs": {
                "type": "object",
                "propertyNames": { "$ref": "#/definitions/id" },
                "additionalProperties": { "anyOf": [
                    { "enum": Type::NAMES },
                    object(&["type"], json!({
                        "type": { "enum": Type::NAMES },
                        "description": { "type": "string" },
                        "default": {},
                        "required": { "type": "boolean" },
                    })),
                ] },
            },
            "steps": {
                "type": "object",
                "minProperties": 1,
                "propertyNames": { "$ref": "#/definitions/id" },
                "additionalProperties": { "$ref": "#/definitions/step" },
            },
            "signal": {
                "type": "object",
                "required": ["signal"],
                "additionalProperties": { "type": ["string", "number", "boolean"] },
            },
            "step": step(),
        },
    })
}

fn case() -> Value {
    let name = json!({ "type": ["string", "number"] });
    let time = json!({ "$ref": "#/definitions/time" });
    let scalar = json!({ "type": ["string", "number", "boolean"] });
    object(
        &["name", "expect"],
        json!({
            "name": name,
            "inputs": { "type": "object" },
            "starter": { "type": ["string", "number"], "description": "Who starts the run." },
            "answers": {
                "type": "object",
                "description": "By step, or by place such as `propose/2/post`: what a model says, \
                                or what the step returns. A list has one entry per call; `fails` \
                                is a failure, `hangs` never returns.",
            },
            "signals": { "type": "array", "items": {
                "type": "object",
                "required": ["signal"],
                "properties": { "at": time, "after": name },
                "additionalProperties": scalar,
            } },
            "approvals": { "type": "array", "items": object(&["step", "by", "decision"], json!({
                "step": name, "by": name, "decision": { "enum": DECISIONS },
                "reason": name, "fields": { "type": "object" }, "at": time, "after": name,
            })) },
            "cancel": object(&[], json!({ "at": time, "after": name, "by": name, "reason": name })),
            "expect": object(&[], json!({
                "status": { "enum": RUN_STATUSES },
                "reason": {},
                "steps": { "type": "object", "additionalProperties": { "anyOf": [
                    { "enum": STEP_STATUSES },
                    object(&[], json!({
                        "status": { "enum": STEP_STATUSES },
                        "reason": {},
                        "input": { "type": "object" },
                        "output": {},
                    })),
                ] } },
                "outputs": { "type": "object" },
            })),
        }),
    )
}

fn triggers() -> Value {
    object(
        &[],
        json!({
            "cron": object(&["at"], json!({
                "at": { "type": "string", "description": "Five fields, such as `0 9 * * 1`." },
                "zone": { "type": "string" },
                "overlap": { "enum": ["skip", "queue", "replace"] },
                "missed": { "enum": ["skip", "latest"] },
            })),
            "webhook": object(&["secret"], json!({ "secret": { "type": "string" } })),
            "signal": { "type": "object", "required": ["name"] },
        }),
    )
}

fn step() -> Value {
    let mut properties = Map::new();
    for spec in &SPECS {
        properties.insert(spec.name.to_owned(), act(spec));
    }
    let own = json!({
        "label": { "type": "string", "description": "A name for people." },
        "needs": { "anyOf": [
            { "type": "string" },
            { "type": "array", "items": { "type": "string" } },
            { "type": "object", "additionalProperties": { "enum": ["done", "any"] } },
        ] },
        "when": { "$ref": "#/definitions/condition" },
        "retry": object(&["times"], json!({
            "times": { "type": "integer", "minimum": 1, "maximum": limits::STEP_RETRIES },
            "wait": { "$ref": "#/definitions/time" },
        })),
        "timeout": { "$ref": "#/definitions/time" },
        "deadline": { "$ref": "#/definitions/time" },
        "budget": object(&[], json!({
            "tokens": { "type": "integer", "minimum": 1 },
            "usd": { "type": "number", "exclusiveMinimum": 0 },
        })),
        "on_failure": { "type": "string", "description": "stop, continue, or a step to run then." },
        "steps": { "$ref": "#/definitions/steps" },
        "set": { "description": "A value for later steps." },
        "sleep": { "anyOf": [
            { "$ref": "#/definitions/time" },
            { "$ref": "#/definitions/expression" },
        ] },
        "wait": object(&[], json!({
            "all": { "type": "array", "minItems": 1, "items": { "$ref": "#/definitions/signal" } },
            "any": { "type": "array", "minItems": 1, "items": { "$ref": "#/definitions/signal" } },
            "timeout": { "$ref": "#/definitions/time" },
        })),
        "approve": object(&["who"], json!({
            "who": { "anyOf": [
                { "type": "array", "minItems": 1, "items": { "type": "string" } },
                { "$ref": "#/definitions/expression" },
            ] },
            "need": { "type": "integer", "minimum": 1, "maximum": limits::APPROVERS },
            "not_starter": { "type": "boolean" },
            "show": {},
            "evidence": {},
            "fields": { "$ref": "#/definitions/inputs" },
            "deadline": { "$ref": "#/definitions/time" },
            "at_deadline": { "enum": ["reject", "approve"] },
        })),
        "foreach": object(&["in"], json!({
            "in": { "anyOf": [
                { "type": "array", "maxItems": limits::ITEMS },
                { "$ref": "#/definitions/expression" },
            ] },
            "as": { "$ref": "#/definitions/id" },
            "parallel": { "type": "integer", "minimum": 1, "maximum": limits::PARALLEL_MOST },
            "on_failure": { "enum": ["stop", "continue"] },
        })),
        "repeat": object(&["until", "max"], json!({
            "until": { "$ref": "#/definitions/condition" },
            "max": { "type": "integer", "minimum": 1, "maximum": limits::REPEATS },
            "at_max": { "enum": ["go_on", "fail"] },
        })),
    });
    properties.extend(own.as_object().cloned().unwrap_or_default());
    let kinds = SPECS.iter().map(|spec| spec.name).chain(super::kinds::OWN);
    let kinds: Vec<Value> = kinds.map(|name| json!({ "required": [name] })).collect();
    json!({
        "type": "object",
        "additionalProperties": false,
        "oneOf": kinds,
        "properties": properties,
    })
}

fn act(spec: &Spec) -> Value {
    let required: Vec<&str> =
        spec.fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    let fields = spec.fields.iter().map(|field| (field.name.to_owned(), takes(field)));
    let mut schema = object(&required, Value::Object(fields.collect()));
    schema["description"] = spec.about.into();
    schema
}

fn takes(field: &Field) -> Value {
    let literal = match field.takes {
        Takes::Text | Takes::Token => json!({ "type": ["string", "number"] }),
        Takes::Number { least, most } => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        Takes::Flag => json!({ "type": "boolean" }),
        Takes::OneOf(known) => json!({ "enum": known }),
        Takes::List => json!({ "type": "array" }),
        Takes::Map | Takes::Headers => json!({ "type": "object" }),
        Takes::Anything => return json!({ "description": field.about }),
        Takes::Time => json!({ "$ref": "#/definitions/time" }),
    };
    let expression = json!({ "$ref": "#/definitions/expression" });
    match field.takes {
        Takes::Text | Takes::Token => {
            let mut literal = literal;
            literal["description"] = field.about.into();
            literal
        }
        Takes::Number { .. }
        | Takes::Flag
        | Takes::OneOf(_)
        | Takes::List
        | Takes::Map
        | Takes::Headers
        | Takes::Anything
        | Takes::Time => {
            json!({ "anyOf": [literal, expression], "description": field.about })
        }
    }
}

fn object(required: &[&str], properties: Value) -> Value {
    let mut schema = json!({
        "type": "object", "additionalProperties": false, "properties": properties,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}
