//! Errors in the words of tools. The routes speak of addresses and headers; an agent
//! knows tools and arguments.

use rmcp::model::JsonObject;
use serde_json::Value;

use super::names::{in_words, snake};
use super::row::Row;
use super::rows;

/// The code of an error about who is calling.
pub const NOT_YOURS: &str = "not-your-agent";

/// The route's error, with the names that the tool has.
pub fn error(error: &Value, row: &Row, arguments: &JsonObject, keeps: bool) -> Value {
    let mut error = error.clone();
    if let Some(Value::String(message)) = error.get_mut("message") {
        *message = sentence(row, message);
    }
    for field in error.get_mut("fields").and_then(Value::as_array_mut).into_iter().flatten() {
        field["field"] = argument(row, field["field"].as_str().unwrap_or_default()).into();
        field["problem"] = sentence(row, field["problem"].as_str().unwrap_or_default()).into();
    }
    let hint = hint(row, &error, arguments, keeps);
    if let Some(fields) = error.as_object_mut() {
        fields.remove("hint");
        fields.extend(hint.map(|hint| ("hint".to_owned(), hint.into())));
    }
    error
}

/// How to show that an agent is one's own.
pub fn whose(row: &Row, agent: &str, keeps: bool) -> String {
    let given_by = row.acts.map_or("registering", |acts| acts.given_by);
    let how = if keeps { "" } else { ", with every call" };
    format!(
        "If {agent} is yours, send the agent_token that {given_by} returned for it{how}; otherwise \
         act under your own name."
    )
}

/// What to do about it, by the error's code; else what the route says, as far as a tool
/// can do it.
fn hint(row: &Row, error: &Value, arguments: &JsonObject, keeps: bool) -> Option<String> {
    let told = error["hint"].as_str();
    match error["code"].as_str().unwrap_or_default() {
        NOT_YOURS => {
            let name = row.acts.and_then(|acts| arguments.get(acts.name)?.as_str());
            Some(whose(row, name.unwrap_or("the agent"), keeps))
        }
        "not-now" if error["state"].is_string() => Some(possible(row, error)),
        "unauthorized" => Some(
            "The user must set PLENARY_TOKEN, in this MCP server's environment, to the Plenary \
             server's access token."
                .to_owned(),
        ),
        _ => {
            let parts = told?.split_inclusive(". ").filter_map(in_tools);
            let said = parts.map(|part| sentence(row, &part)).collect::<String>();
            Some(said.trim_end().to_owned()).filter(|said| !said.is_empty())
        }
    }
}

/// What the state allows, as tools. What none of them does is for people.
fn possible(row: &Row, error: &Value) -> String {
    let state = error["state"].as_str().unwrap_or("so");
    let noun = row.name.split('_').next().unwrap_or_default();
    let allowed = error["allowed"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut tools: Vec<&str> = vec![];
    for action in allowed {
        let verb = action.split(' ').next().unwrap_or_default();
        let names = [format!("{noun}_{verb}"), format!("session_{verb}")];
        let tool = rows().find(|row| names.iter().any(|name| name == row.name));
        tools.extend(tool.map(|tool| tool.name).filter(|name| !tools.contains(name)));
    }
    match tools.is_empty() {
        true => format!("It is {state}; you can read it, but no tool can change it now."),
        false => format!("It is {state}; possible now: {}.", tools.join(", ")),
    }
}

/// A sentence with each route's tool in the place of the route; none when it speaks of
/// what no tool does.
fn in_tools(sentence: &str) -> Option<String> {
    let mut out = sentence.to_owned();
    for row in rows() {
        let route = format!("{} {}", row.method.name(), row.path);
        // `/api/whiteboards` is the beginning of other routes.
        let ends = |rest: &str| !rest.starts_with(['/', '?', '{']);
        while let Some(at) = out.find(&route).filter(|at| ends(&out[at + route.len()..])) {
            out.replace_range(at..at + route.len(), row.name);
        }
    }
    let foreign = ["/api", "/docs", "header", "Authorization", "`plenary ", " --"];
    (!foreign.iter().any(|word| out.contains(word))).then_some(out)
}

/// A sentence with the arguments' names in it.
fn sentence(row: &Row, text: &str) -> String {
    let renamed = row.renamed.iter().fold(text.to_owned(), |text, (from, to)| {
        text.replace(&format!("`{from}`"), &format!("`{to}`"))
    });
    let renamed = renamed.replace("Idempotency-Key", "idempotency_key");
    in_words(&renamed.replace("`meta.next`", "`next_cursor`"))
}

fn argument(row: &Row, field: &str) -> String {
    let renamed = row.renamed.iter().find(|(from, _)| *from == field);
    renamed.map_or_else(|| snake(field), |(_, to)| (*to).to_owned())
}

#[cfg(test)]
mod tests {
    use super::in_tools;

    #[test]
    fn a_route_becomes_its_tool_and_what_has_none_is_left_out() {
        for (said, expected) in [
            ("List them with GET /api/whiteboards.", Some("List them with whiteboard_list.")),
            ("List them with GET /api/agents.", Some("List them with agents_list.")),
            ("Copy it with POST /api/agents and its id as `copyOf`.", None),
            ("Make room with DELETE /api/agents/{id}.", None),
            ("`plenary doctor` says more.", None),
            ("Try again.", Some("Try again.")),
        ] {
            assert_eq!(in_tools(said).as_deref(), expected, "{said}");
        }
    }
}
