//! One call of a tool: arguments become a request, its reply an answer.

use plenary_domain::reject::told;
use plenary_domain::{Wrong, limits};
use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use super::names::{camel, nearest, rename, snake};
use super::row::{Next, Row};
use super::schema::{Argument, Place, Shape};
use super::tokens::{Agent, Agents};
use super::{Request, words};

/// What a tool answers: its structured content, or an error of the same shape as
/// REST's.
pub type Answer = Result<Value, Value>;

/// Who calls, and which agents it may act as.
pub struct Caller<'a> {
    pub name: String,
    pub agents: &'a Agents,
    /// Whether there is a session that keeps tokens until the next call. A protocol
    /// without sessions has none.
    pub keeps: bool,
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
            Place::Key | Place::Token | Place::Agent | Place::From => {}
        }
    }
    let text = |place| given(shape, arguments, place);
    let agent_token = token(row, shape, arguments, caller);
    if let Some(agent) = text(Place::Agent) {
        prove(row, &agent, agent_token.as_deref(), caller)?;
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

/// The token that is given, or else the one that the session holds.
fn token(row: &Row, shape: &Shape, arguments: &JsonObject, caller: &Caller<'_>) -> Option<String> {
    let held = || caller.agents.token(&acting(row, arguments, caller)?);
    given(shape, arguments, Place::Token).or_else(held)
}

/// A name alone proves nothing, and a token is its own agent's only. Whether the
/// token is right is for the route to say.
fn prove(row: &Row, agent: &str, token: Option<&str>, caller: &Caller<'_>) -> Result<(), Value> {
    let message = match token.map(|token| token.rsplit_once('.').map(|(name, _)| name)) {
        Some(Some(name)) if name == agent => return Ok(()),
        Some(_) => format!("The agent_token does not belong to {agent}."),
        None if caller.keeps => format!("This MCP session does not hold the token of {agent}."),
        None => {
            "agent_token is missing. This protocol has no sessions to keep it, so send it with \
                 every call."
                .to_owned()
        }
    };
    let hint = words::whose(row, agent, caller.keeps);
    Err(json!({ "code": words::NOT_YOURS, "message": message, "hint": hint }))
}

/// Reads the reply, and keeps the token of an agent that was registered.
pub fn answer(
    row: &Row,
    shape: &Shape,
    arguments: &JsonObject,
    caller: &Caller<'_>,
    mut reply: Value,
) -> Value {
    let data = reply["data"].take();
    let told = keep(row, shape, arguments, caller, &data);
    let mut answer = match rename(data, snake) {
        Value::Object(fields) if !shape.lists => fields,
        list => {
            let meta = &reply["meta"];
            let parts = [("total", meta["total"].clone()), ("next_cursor", meta["next"].clone())];
            let parts = parts.into_iter().filter(|(_, value)| !value.is_null());
            let parts = parts.map(|(name, value)| (name.to_owned(), value));
            [(row.items.to_owned(), list)].into_iter().chain(parts).collect()
        }
    };
    answer.retain(|field, _| row.keeps(field));
    let mut next: Vec<String> = match row.next {
        Next::Route => {
            let own = answer.get("next").and_then(Value::as_array).into_iter().flatten();
            own.filter_map(Value::as_str).map(str::to_owned).collect()
        }
        Next::Words(words) => words.iter().map(|words| (*words).to_owned()).collect(),
        Next::Made(make) => make(&answer),
    };
    shorten(&mut answer, &mut next, given_from(shape, arguments));
    next.extend(handed(&answer));
    next.splice(0..0, told);
    if !next.is_empty() {
        answer.insert("next".into(), json!(next));
    }
    Value::Object(answer)
}

/// What is for somebody else than the caller.
fn handed(answer: &JsonObject) -> Vec<String> {
    let mut told = vec![];
    if answer.contains_key("invitation") && answer.contains_key("agent_token") {
        told.push(
            "Give `invitation` to anyone else who should lead: they call whiteboard_register with \
             it."
            .to_owned(),
        );
    }
    let seats = answer.get("seat_tokens").and_then(Value::as_array).into_iter().flatten();
    told.extend(seats.filter_map(|seat| {
        let name = seat["person"].as_str()?;
        Some(format!("Give {name} their seat_token: it lets them, and no one else, reply."))
    }));
    told
}

/// Texts that may be long, and what is said when the rest has to be asked for.
fn shorten(answer: &mut JsonObject, next: &mut Vec<String>, from: usize) {
    let most = limits::MCP_TEXT_BYTES;
    if let Some(Value::String(record)) = answer.get("record")
        && record.len() > most
    {
        let id = answer.get("session_id").and_then(Value::as_str).unwrap_or_default();
        next.insert(
            0,
            format!(
                "The record is long: read it page by page with session_get, id {id:?} and \
                 `detail: full`, or as the linked resource."
            ),
        );
        answer.remove("record");
    }
    let Some(Value::String(result)) = answer.get_mut("result") else { return };
    let from = result.floor_char_boundary(from);
    let end = result.floor_char_boundary(from.saturating_add(most));
    let more = end < result.len();
    // A page ends with a line where there is one.
    let line = result[from..end].rfind('\n').filter(|_| more).map(|at| from + at + 1);
    let end = line.unwrap_or(end);
    *result = result[from..end].to_owned();
    if more {
        answer.insert("next_from".into(), json!(end));
        let rest = format!("`result` goes on: call session_get with the same detail, from {end}.");
        next.insert(0, rest);
    }
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
                format!("there is no such argument; available: {}", all.join(", "))
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
    let Some(value) = value else {
        return argument.required.then(|| "is missing".to_owned());
    };
    let text = word(value);
    match argument.place {
        Place::Path => text
            .is_none_or(|text| matches!(text.trim(), "" | "." | ".."))
            .then(|| "must be a non-empty string".into()),
        Place::Query => text.is_none().then(|| "must be a string, a number, true or false".into()),
        Place::Key | Place::Token | Place::Agent => {
            let printable = |text: &str| text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
            let fits = |text: &str| argument.place == Place::Agent || printable(text);
            (!value.as_str().is_some_and(fits)).then(|| "must be a printable string".into())
        }
        Place::From => value.as_u64().is_none().then(|| "must be the `next_from` of a page".into()),
        // What it must be like is for the route to say.
        Place::Body => None,
    }
}

fn invalid(wrong: &[(String, String)]) -> Value {
    let all = wrong.len();
    let (message, wrong) = told(wrong.iter().map(|(field, problem)| Wrong::new(field, problem)));
    let message = match wrong.as_slice() {
        [] | [_] => message,
        many => {
            let names: Vec<&str> = many.iter().map(|wrong| wrong.field.as_str()).collect();
            format!("{all} arguments are wrong or missing: {}.", names.join(", "))
        }
    };
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

fn given_from(shape: &Shape, arguments: &JsonObject) -> usize {
    let argument = shape.arguments.iter().find(|argument| argument.place == Place::From);
    let from = argument.and_then(|argument| arguments.get(&argument.name)?.as_u64());
    from.and_then(|from| usize::try_from(from).ok()).unwrap_or(0)
}

/// Keeps a token that came back, and says what to do with it to whoever did not send it.
fn keep(
    row: &Row,
    shape: &Shape,
    arguments: &JsonObject,
    caller: &Caller<'_>,
    data: &Value,
) -> Option<String> {
    let is_known = token(row, shape, arguments, caller).is_some();
    let (token, agent) = (data["agentToken"].as_str()?, acting(row, arguments, caller)?);
    let told = match (caller.keeps, agent.name.as_str()) {
        // Whoever opens a council has no name there.
        (true, "") => {
            "This MCP session can close the council. Keep agent_token for other sessions."
                .to_owned()
        }
        (false, "") => format!("Keep agent_token to close the council: agent_token = {token:?}."),
        (true, name) => format!(
            "This MCP session now acts as {name} automatically. Keep agent_token for other \
             sessions."
        ),
        (false, name) => format!(
            "Keep agent_token and send it with every call as {name}: agent_token = {token:?}. This \
             protocol has no sessions to keep it for you."
        ),
    };
    caller.agents.remember(agent, token);
    (!is_known).then_some(told)
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
