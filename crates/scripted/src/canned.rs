//! What the server says when its script gives no text.

use serde_json::{Map, Value};

/// The headings of a synthesis, with a sentence or two under each.
const SYNTHESIS: [(&str, &str); 4] = [
    ("## Consensus", "The advisors would go ahead, in small steps that can be taken back."),
    (
        "## Points of Agreement",
        "- The goal is worth the effort.\n- The first step should be cheap and measured.",
    ),
    ("## Points of Divergence", "- How fast to go: some would start now, some after a trial."),
    (
        "## Recommendation",
        "Start with a trial of two weeks, name one person who decides, and look at the numbers before the next step.",
    ),
];

const ADVICE: &str = "In short: yes, with care. The strongest reason for it is that waiting \
costs more than a small mistake. The strongest reason against it is that nobody has yet \
measured what it would replace. I would start with the part that is easiest to undo, agree \
beforehand on the number that would make us stop, and look again after two weeks.";

/// What advisors say to the points that they vote on, by the word of the vote.
const VOTES: [(&str, &str); 3] = [
    ("accept", "It says what I hold, and it can be undone."),
    ("reject", "It leaves out what it would cost us to be wrong."),
    ("defer", "Nobody has measured this yet, and a trial would tell."),
];
/// How far an advisor is along the votes where the others begin, so that a board is
/// not of one mind.
const MINDS: [(&str, usize); 3] =
    [("as the Advocate", 0), ("as the Critic", 1), ("as the Analyst", 2)];

/// A text that fits what the request asks for.
pub(crate) fn text(prompt: &str, schema: Option<&Value>) -> String {
    if let Some(ballot) = schema.and_then(|schema| ballot(prompt, schema)) {
        return ballot.to_string();
    }
    if let Some(schema) = schema {
        return example(schema, 0).to_string();
    }
    if SYNTHESIS.iter().all(|(heading, _)| prompt.contains(heading)) {
        let sections = SYNTHESIS.map(|(heading, text)| format!("{heading}\n\n{text}"));
        return sections.join("\n\n");
    }
    ADVICE.to_owned()
}

/// Votes on each field of a schema whose every field is a vote with a reason. All
/// accept the first; about the others an advisor's role decides.
fn ballot(prompt: &str, schema: &Value) -> Option<Value> {
    let fields = schema["properties"].as_object().filter(|fields| !fields.is_empty())?;
    let words: Vec<Value> = VOTES.iter().map(|(word, _)| Value::from(*word)).collect();
    let is_vote = |field: &Value| {
        let properties = &field["properties"];
        properties["vote"]["enum"].as_array() == Some(&words) && properties["reason"].is_object()
    };
    if !fields.values().all(is_vote) {
        return None;
    }
    let mind = MINDS.iter().find(|(role, _)| prompt.contains(role)).map_or(0, |(_, mind)| *mind);
    let vote = |name: &String| {
        let number: usize =
            name.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(1);
        let place = if number == 1 { 0 } else { (number / 2 + mind * (number - 1)) % VOTES.len() };
        let (vote, reason) = VOTES[place];
        (name.clone(), serde_json::json!({ "vote": vote, "reason": reason }))
    };
    Some(Value::Object(fields.keys().map(vote).collect()))
}

/// The nth word of filler.
pub(crate) fn filler(nth: usize) -> &'static str {
    const WORDS: [&str; 8] =
        ["One ", "could ", "say ", "more ", "about ", "this ", "in ", "time. "];
    WORDS[nth % WORDS.len()]
}

/// Some value that follows a schema of the plain kind: objects, arrays, enums,
/// strings, numbers and booleans.
fn example(schema: &Value, depth: usize) -> Value {
    if depth > 16 {
        return Value::Null;
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    if let Some(constant) = schema.get("const") {
        return constant.clone();
    }
    if let Some(first) = schema["anyOf"].get(0).or(schema["oneOf"].get(0)) {
        return example(first, depth + 1);
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.first().unwrap_or(&Value::Null),
        other => other,
    };
    match kind.as_str() {
        Some("object") | None => {
            let mut object = Map::new();
            for (name, of) in schema["properties"].as_object().into_iter().flatten() {
                object.insert(name.clone(), example(of, depth + 1));
            }
            Value::Object(object)
        }
        Some("array") => {
            let least = schema["minItems"].as_u64().unwrap_or(1).max(1);
            (0..least).map(|_| example(&schema["items"], depth + 1)).collect()
        }
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(Value::from(1)),
        Some("boolean") => Value::Bool(true),
        Some("null") => Value::Null,
        Some(_) => Value::from("A sentence for this field."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_synthesis_has_the_four_headings_that_were_asked_for() {
        let headings = SYNTHESIS.map(|(heading, _)| heading);
        let said = text(&format!("Write {}.", headings.join(", ")), None);
        let found: Vec<&str> = said.lines().filter(|line| line.starts_with('#')).collect();
        assert_eq!(found, headings);
        assert_eq!(text("Shall we?", None), ADVICE);
    }

    #[test]
    fn a_ballot_gets_votes_that_differ_by_role() {
        let vote = json!({"type": "object", "properties": {
            "vote": {"type": "string", "enum": ["accept", "reject", "defer"]},
            "reason": {"type": "string"},
        }});
        let properties = json!({"point1": vote, "point2": vote, "point3": vote});
        let schema = json!({"type": "object", "properties": properties});
        let votes = |role: &str| {
            let said: Value = serde_json::from_str(&text(role, Some(&schema))).unwrap();
            ["point1", "point2", "point3"].map(|point| said[point]["vote"].clone())
        };
        assert_eq!(votes("You sit as the Advocate."), ["accept", "reject", "reject"]);
        assert_eq!(votes("You sit as the Critic."), ["accept", "defer", "accept"]);
        assert_eq!(votes("You sit as the Analyst."), ["accept", "accept", "defer"]);
    }

    #[test]
    fn a_schema_gets_an_example() {
        let schema = json!({"type": "object", "properties": {
            "vote": {"enum": ["yes", "no"]},
            "points": {"type": "array", "minItems": 2, "items": {"type": "integer", "minimum": 3}},
            "why": {"type": ["string", "null"]},
            "sure": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
        }});
        let expected = json!({
            "vote": "yes", "points": [3, 3], "why": "A sentence for this field.", "sure": true,
        });
        assert_eq!(text("", Some(&schema)), expected.to_string());
    }
}
