//! What a step gives in a rehearsal, where no room, model, host or disk is asked.

use serde_json::{Map, Value, json};

use crate::workflow::kinds::Act;

/// What a step gives, with what a case says of it put in. `session` names what it opens,
/// `number` counts what it writes.
pub(crate) fn given(
    act: Act,
    with: &Map<String, Value>,
    reply: Value,
    session: &str,
    number: u32,
) -> Value {
    let mut output = usual(act, with, session, number);
    let said = reply.as_object().cloned().unwrap_or_default();
    // What can be counted is counted, unless a case says otherwise.
    let count = |name: &str| said.get(name).and_then(Value::as_array).map(Vec::len);
    for (list, counted) in [("conflicts", "count"), ("posts", "last")] {
        if act.spec().open.contains(&list) {
            output[counted] = count(list).unwrap_or(0).into();
        }
    }
    if let Value::Object(output) = &mut output {
        output.extend(said);
    }
    output
}

fn usual(act: Act, with: &Map<String, Value>, session: &str, number: u32) -> Value {
    let field = |name: &str| with.get(name).cloned().unwrap_or_default();
    let board = || field("board");
    match act {
        Act::Ask => Value::Null,
        Act::Boardroom => json!({
            "id": session, "verdict": "", "points": [], "votes": [], "absent": [], "degraded": false,
        }),
        Act::Discussion => {
            json!({ "id": session, "status": "concluded", "conclusion": "", "rounds": 1 })
        }
        Act::WhiteboardOpen => {
            json!({ "id": field("board_id"), "board": field("board_id"), "phase": "blind" })
        }
        Act::WhiteboardRegister => {
            let role = with.get("role").cloned().unwrap_or_else(|| "specialist".into());
            json!({ "agent": field("agent"), "role": role, "domain": field("domain") })
        }
        Act::WhiteboardPost => {
            let answer = field("answer");
            let said =
                |name: &str| with.get(name).or(answer.get(name)).cloned().unwrap_or_default();
            let by = field("as").as_str().unwrap_or_default().to_owned();
            json!({
                "post": format!("{by}/{number}"), "title": said("title"), "body": said("body"),
                "type": said("type"), "target_file": said("target_file"),
                "target_location": said("target_location"), "severity": said("severity"),
            })
        }
        Act::WhiteboardAnnotate => match with.get("answer") {
            Some(answer) => json!({ "annotations": answer.get("annotations") }),
            None => json!({ "annotations": [some(with, &["post", "type", "body", "result"])] }),
        },
        Act::WhiteboardVote => match with.get("answer") {
            Some(answer) => {
                json!({ "votes": answer.get("votes"), "abstained": answer.get("abstained") })
            }
            None => json!({ "votes": [some(with, &["post", "vote", "reason"])], "abstained": [] }),
        },
        Act::WhiteboardTransition => json!({ "board": board(), "phase": field("to") }),
        Act::WhiteboardConflicts => json!({ "conflicts": [], "count": 0 }),
        Act::WhiteboardSummarize | Act::WhiteboardArchive => json!({
            "board": board(), "outcome": Value::Null, "decision": "", "tally": [], "dissent": [],
            "open": [], "posts": [],
        }),
        Act::CouncilOpen => json!({ "id": field("name"), "council": field("name") }),
        Act::CouncilPost => json!({ "council": field("council"), "sequence": number }),
        Act::CouncilRead => json!({ "posts": [], "last": 0 }),
        Act::CouncilClose => json!({ "council": field("council") }),
        Act::Workflow => json!({ "id": session, "status": "done", "outputs": {} }),
        Act::Http => json!({ "status": 200, "body": "", "json": Value::Null }),
        Act::Write => {
            let bytes = match with.get("text").and_then(Value::as_str) {
                Some(text) => text.len(),
                None => serde_json::to_string(&field("json")).map_or(0, |text| text.len()),
            };
            json!({ "path": field("path"), "bytes": bytes, "sha256": "0".repeat(64) })
        }
    }
}

fn some(with: &Map<String, Value>, names: &[&str]) -> Value {
    let field = |name: &&str| Some(((*name).to_owned(), with.get(*name)?.clone()));
    Value::Object(names.iter().filter_map(field).collect())
}

/// What everybody hears of it who waits for a signal.
pub(crate) fn heard(act: Act, with: &Map<String, Value>, output: &Value) -> Option<Value> {
    let field = |name: &str| with.get(name).cloned().unwrap_or_default();
    let out = |name: &str| output.get(name).cloned().unwrap_or_default();
    match act {
        Act::WhiteboardTransition => Some(
            json!({ "signal": "board-transitioned", "board": field("board"), "phase": field("to") }),
        ),
        Act::WhiteboardArchive => Some(
            json!({ "signal": "board-transitioned", "board": field("board"), "phase": "archived" }),
        ),
        Act::CouncilPost => Some(
            json!({ "signal": "council-posted", "council": field("council"), "sender": field("as") }),
        ),
        Act::Boardroom => Some(json!({ "signal": "boardroom-closed", "boardroom": out("id") })),
        Act::Discussion => {
            Some(json!({ "signal": "discussion-concluded", "discussion": out("id") }))
        }
        Act::Workflow => {
            Some(json!({ "signal": "workflow-ended", "run": out("id"), "status": out("status") }))
        }
        Act::Ask
        | Act::WhiteboardOpen
        | Act::WhiteboardRegister
        | Act::WhiteboardPost
        | Act::WhiteboardAnnotate
        | Act::WhiteboardVote
        | Act::WhiteboardConflicts
        | Act::WhiteboardSummarize
        | Act::CouncilOpen
        | Act::CouncilRead
        | Act::CouncilClose
        | Act::Http
        | Act::Write => None,
    }
}

/// A value of the kind that a schema asks for, for whoever has to write one.
pub(crate) fn sample(schema: &Value) -> Value {
    let list = |name: &str| schema.get(name).and_then(Value::as_array);
    if let Some(first) = list("enum").and_then(|known| known.first()) {
        return first.clone();
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => {
            let required = list("required").into_iter().flatten().filter_map(Value::as_str);
            let field = |name: &str| {
                let inner = schema.get("properties").and_then(|fields| fields.get(name));
                (name.to_owned(), inner.map_or_else(|| "…".into(), sample))
            };
            Value::Object(required.map(field).collect())
        }
        Some("array") => schema.get("items").map(sample).into_iter().collect(),
        Some("number" | "integer") => 1.into(),
        Some("boolean") => true.into(),
        Some("null") => Value::Null,
        Some(_) | None => "…".into(),
    }
}

/// A value as YAML in one line.
pub(crate) fn flow(value: &Value) -> String {
    match value {
        Value::Object(map) if map.is_empty() => "{}".to_owned(),
        Value::Object(map) => {
            let entries: Vec<String> =
                map.iter().map(|(key, value)| format!("{key}: {}", flow(value))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Value::String(text) if is_word(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

/// Whether YAML would take it for a text without quotes.
fn is_word(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '-';
    !["true", "false", "null"].contains(&text.to_lowercase().as_str())
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '…')
        && text.chars().all(|c| is_letter(c) || c == '…')
}
