//! One call of a tool: arguments become a request, its reply an answer.

use plenary_domain::Wrong;
use plenary_domain::reject::told;
use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use super::Request;
use super::names::{camel, in_words, nearest, rename, snake};
use super::row::Row;
use super::schema::{Argument, Place, Shape};
use super::tokens::{Agent, Agents};

/// What a tool answers: its structured content, or an error of the same shape as
/// REST's.
pub type Answer = Result<Value, Value>;

/// Who calls, and which agents it may act as.
pub struct Caller<'a> {
    pub name: String,
    pub agents: &'a Agents,
}

/// Builds the request. Whatever the route itself can judge is left to it, so that
/// a wrong argument is told in the same words everywhere.
pub fn request(
    row: &Row,
    shape: &Shape,
    arguments: &JsonObject,
    caller: &Caller<'_>,
) -> Result<Request, Value> {
    let wrong = wrong(shape, arguments);
    if !wrong.is_empty() {
        return Err(invalid(&wrong));
    }
    let (mut path, mut query) = (row.path.to_owned(), String::new());
    let sent = row.sent.iter().map(|(name, value)| ((*name).to_owned(), Value::Bool(*value)));
    let mut body: Map<String, Value> = sent.collect();
    for argument in &shape.arguments {
        let Some(value) = arguments.get(&argument.name).filter(|value| !value.is_null()) else {
            continue;
        };
        match argument.place {
            Place::Path => {
                let value = encode(&word(value).unwrap_or_default());
                path = path.replace(&format!("{{{}}}", argument.wire), &value);
            }
            Place::Query => {
                let value = encode(&word(value).unwrap_or_default());
                let start = if query.is_empty() { '?' } else { '&' };
                query.push_str(&format!("{start}{}={value}", argument.wire));
            }
            Place::Body => {
                body.insert(argument.wire.clone(), rename(value.clone(), camel));
            }
            Place::Key | Place::Token | Place::Agent => {}
        }
    }
    let text = |place| given(shape, arguments, place);
    let held = || caller.agents.token(&acting(row, arguments, caller)?);
    let agent_token = text(Place::Token).or_else(held);
    if let Some(agent) = text(Place::Agent) {
        prove(&agent, agent_token.as_deref())?;
    }
    Ok(Request {
        method: row.method.name(),
        path: path + &query,
        body: row.method.changes().then_some(Value::Object(body)),
        agent_token,
        // Made once per call, so that whoever carries it out may try twice.
        idempotency_key: row
            .method
            .changes()
            .then(|| text(Place::Key).unwrap_or_else(|| uuid::Uuid::new_v4().to_string())),
        caller: caller.name.clone(),
    })
}

/// A name alone proves nothing, and a token is its own agent's only. Whether the
/// token is right is for the route to say.
fn prove(agent: &str, token: Option<&str>) -> Result<(), Value> {
    let message = match token.map(|token| token.rsplit_once('.').map(|(name, _)| name)) {
        Some(Some(name)) if name == agent => return Ok(()),
        Some(_) => format!("The agent_token is not {agent}'s."),
        None => format!("This MCP session did not register {agent} here."),
    };
    Err(json!({
        "code": "not-your-agent",
        "message": message,
        "hint": "Register first (whiteboard_register), or pass the agent_token that registering \
                 returned. A session acts by itself as the agents that it registered.",
    }))
}

/// Reads the reply, and keeps the token of an agent that was registered.
pub fn answer(
    row: &Row,
    shape: &Shape,
    arguments: &JsonObject,
    caller: &Caller<'_>,
    (status, mut reply): (u16, Value),
) -> Answer {
    if status >= 400 {
        return Err(error(row, &reply["error"]));
    }
    let data = reply["data"].take();
    remember(row, arguments, caller, &data);
    let mut answer = match rename(data, snake) {
        Value::Object(fields) if shape.output["properties"].get(row.items).is_none() => fields,
        list => {
            let meta = &reply["meta"];
            let parts = [("total", meta["total"].clone()), ("next_cursor", meta["next"].clone())];
            let parts = parts.into_iter().filter(|(_, value)| !value.is_null());
            let parts = parts.map(|(name, value)| (name.to_owned(), value));
            [(row.items.to_owned(), list)].into_iter().chain(parts).collect()
        }
    };
    answer.retain(|field, _| row.keeps(field));
    if !row.next.is_empty() {
        answer.insert("next".into(), json!(row.next));
    }
    Ok(Value::Object(answer))
}

/// REST's error, with the names that the tool has.
fn error(row: &Row, error: &Value) -> Value {
    let named = |field: &str| {
        let renamed = row.renamed.iter().find(|(from, _)| *from == field);
        renamed.map_or_else(|| snake(field), |(_, to)| (*to).to_owned())
    };
    let mut error = error.clone();
    for key in ["message", "hint"] {
        if let Some(Value::String(text)) = error.get_mut(key) {
            let renamed = row.renamed.iter().fold(in_words(text), |text, (from, to)| {
                text.replace(&format!("`{from}`"), &format!("`{to}`"))
            });
            *text = renamed;
        }
    }
    for field in error.get_mut("fields").and_then(Value::as_array_mut).into_iter().flatten() {
        field["field"] = named(field["field"].as_str().unwrap_or_default()).into();
        field["problem"] = in_words(field["problem"].as_str().unwrap_or_default()).into();
    }
    error
}

/// The arguments that no route could judge: unknown ones, and those of the address.
fn wrong(shape: &Shape, arguments: &JsonObject) -> Vec<(String, String)> {
    let mut wrong = vec![];
    for name in arguments.keys() {
        if shape.arguments.iter().any(|known| known.name == *name) {
            continue;
        }
        let known = || shape.arguments.iter().map(|known| known.name.as_str());
        let problem = match nearest(name, known()) {
            Some(near) => format!("there is no such argument; did you mean `{near}`?"),
            None => {
                let all: Vec<&str> = known().collect();
                format!("there is no such argument; there are {}", all.join(", "))
            }
        };
        wrong.push((name.clone(), problem));
    }
    for argument in &shape.arguments {
        let value = arguments.get(&argument.name).filter(|value| !value.is_null());
        if let Some(problem) = problem(argument, value) {
            wrong.push((argument.name.clone(), problem));
        }
    }
    wrong
}

fn problem(argument: &Argument, value: Option<&Value>) -> Option<String> {
    // The route names a field of its body itself.
    if argument.place == Place::Body {
        return None;
    }
    let Some(value) = value else {
        return argument.required.then(|| format!("missing field `{}`", argument.name));
    };
    let text = word(value);
    match argument.place {
        Place::Path => text
            .is_none_or(|text| matches!(text.trim(), "" | "." | ".."))
            .then(|| "must be a text that is not empty".into()),
        Place::Query => text.is_none().then(|| "must be a text, a number, true or false".into()),
        Place::Key | Place::Token | Place::Agent => {
            let printable = |text: &str| text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
            let fits = |text: &str| argument.place == Place::Agent || printable(text);
            (!value.as_str().is_some_and(fits)).then(|| "must be a printable text".into())
        }
        Place::Body => None,
    }
}

fn invalid(wrong: &[(String, String)]) -> Value {
    let wrong = wrong.iter().map(|(field, problem)| Wrong::new(field, problem));
    let (message, wrong) = told(wrong);
    let fields: Vec<Value> = wrong
        .iter()
        .map(|Wrong { field, problem }| json!({ "field": field, "problem": problem }))
        .collect();
    json!({ "code": "invalid-input", "message": message, "fields": fields })
}

fn given(shape: &Shape, arguments: &JsonObject, place: Place) -> Option<String> {
    let argument = shape.arguments.iter().find(|argument| argument.place == place)?;
    arguments.get(&argument.name)?.as_str().map(str::to_owned)
}

/// The agent that a call names, where the place is an argument of it.
fn acting(row: &Row, arguments: &JsonObject, caller: &Caller<'_>) -> Option<Agent> {
    let acts = row.acts?;
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).map(str::to_owned);
    let name = if acts.name.is_empty() { Some(String::new()) } else { text(acts.name) };
    let (place, name) = (text(acts.place)?, name?);
    Some(Agent { caller: caller.name.clone(), place, name })
}

fn remember(row: &Row, arguments: &JsonObject, caller: &Caller<'_>, data: &Value) {
    let Some(token) = data["agentToken"].as_str() else { return };
    if let Some(agent) = acting(row, arguments, caller) {
        caller.agents.remember(agent, token);
    }
}

/// A plain value as an address has it.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

pub fn encode(text: &str) -> String {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
