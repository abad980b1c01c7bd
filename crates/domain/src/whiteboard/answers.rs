//! How a model that sits at a board is asked, and what its answer has to look like, for
//! seats of the board itself and steps of workflows alike.

use serde_json::{Value, json};

use super::told::{MayNote, clipped};
use crate::ids::Nonce;
use crate::limits;
use crate::quote::{named, quoted, quoting};

pub(crate) const POSTS: &[&str] = &["proposal", "claim", "concern", "informational"];
pub(crate) const SEVERITIES: &[&str] = &["critical", "high", "medium", "low"];
pub(crate) const VOTES: &[&str] = &["accept", "reject", "defer"];
pub(crate) const RESULTS: &[&str] = &["confirmed", "refuted", "inconclusive"];

/// Who is asked, and how words of others stand in what it reads.
pub(crate) fn standing(persona: &str, name: &str, code: &Nonce) -> String {
    let (quoting, name) = (quoting(code), named(name));
    let own = if persona.is_empty() { String::new() } else { format!("{persona}\n\n") };
    format!("{own}You are {name}, and take part in a whiteboard. What stands on it will {quoting}")
}

/// The board as the one who is asked sees it, and then what is asked.
pub(crate) fn question(view: &str, ask: &str, code: &Nonce) -> String {
    let board = quoted("the board as you see it", view, code);
    format!("{board}\n{ask}")
}

pub(crate) fn with_schema(prompt: &str, schema: &Value) -> String {
    let prompt = prompt.trim_end();
    format!("{prompt}\n\nAnswer with JSON that follows this schema, and nothing else:\n{schema}")
}

pub(crate) fn object(fields: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": fields, "required": required })
}

/// A map with one list in it.
pub(crate) fn list(name: &str, item: Value) -> Value {
    object(json!({ name: { "type": "array", "items": item } }), &[name])
}

pub(crate) fn text() -> Value {
    json!({ "type": "string" })
}

/// What need not be there can be nothing: who has to fill it in makes it up.
pub(crate) fn perhaps() -> Value {
    json!({ "type": ["string", "null"] })
}

pub(crate) fn one_of(known: &[&str]) -> Value {
    let known = known.iter().map(|word| Value::from(*word));
    json!({ "enum": known.chain([Value::Null]).collect::<Vec<_>>() })
}

/// A title as a model wrote it, as far as a title may go: a small model may not find its end.
pub(crate) fn title(written: &str) -> String {
    match written.trim() {
        written if written.len() <= limits::POST_TITLE_BYTES => written.to_owned(),
        long => clipped(long, limits::POST_TITLE_BYTES - " […]".len()),
    }
}

/// The fields of a post.
pub(crate) fn post() -> Value {
    json!({
        "title": text(), "body": text(),
        "type": { "enum": POSTS },
        "target_file": perhaps(), "target_location": perhaps(),
        "severity": one_of(SEVERITIES),
    })
}

/// An annotation that the board would take, where it is known which those are: a small
/// model that is held to the schema cannot name a post that is not there, and cannot
/// challenge where facts are checked.
pub(crate) fn note(may: &[MayNote]) -> Value {
    let mut kinds: Vec<Value> = may.iter().map(noted).collect();
    if kinds.len() == 1 { kinds.remove(0) } else { json!({ "anyOf": kinds }) }
}

fn noted(may: &MayNote) -> Value {
    let mut fields = json!({ "post": { "enum": may.posts }, "type": { "enum": [may.kind] } });
    let mut required = vec!["post", "type", "body"];
    if !may.challenges.is_empty() {
        fields["challenge"] = json!({ "enum": may.challenges });
        required.push("challenge");
    }
    if may.kind == "validation" {
        fields["result"] = json!({ "enum": RESULTS });
        required.push("result");
    }
    fields["body"] = text();
    object(fields, &required)
}

/// A vote on one of these posts, or on any where none is named.
pub(crate) fn vote(posts: &[String]) -> Value {
    let post = if posts.is_empty() { text() } else { json!({ "enum": posts }) };
    object(
        json!({ "post": post, "vote": { "enum": VOTES }, "reason": perhaps() }),
        &["post", "vote"],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_cut_where_titles_end() {
        assert_eq!(title(" Use a queue "), "Use a queue");
        let whole = "é".repeat(limits::POST_TITLE_BYTES / 2);
        assert_eq!(title(&whole), whole);
        let long = title(&"é".repeat(limits::POST_TITLE_BYTES));
        assert!(long.len() <= limits::POST_TITLE_BYTES && long.ends_with(" […]"), "{long}");
    }
}
