//! Names: REST speaks camelCase, tools speak snake_case.

use serde_json::Value;

/// `graceSeconds` → `grace_seconds`. Paths such as `advisors[0].systemPrompt` too.
pub fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

/// `grace_seconds` → `graceSeconds`.
pub fn camel(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut up = false;
    for letter in name.chars() {
        if letter == '_' && !out.is_empty() {
            up = true;
            continue;
        }
        out.push(if up { letter.to_ascii_uppercase() } else { letter });
        up = false;
    }
    out
}

/// Renames the fields of all objects in a value.
pub fn rename(value: Value, name: fn(&str) -> String) -> Value {
    match value {
        Value::Object(fields) => {
            let renamed = fields.into_iter().map(|(key, value)| (name(&key), rename(value, name)));
            Value::Object(renamed.collect())
        }
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| rename(item, name)).collect())
        }
        plain => plain,
    }
}

/// Renames the fields that a sentence quotes in backticks, and the header that is an
/// argument of tools.
pub fn in_words(sentence: &str) -> String {
    let is_field = |part: &str| {
        part.starts_with(|letter: char| letter.is_ascii_lowercase())
            && part.chars().all(|letter| letter.is_ascii_alphanumeric() || "[].".contains(letter))
    };
    let parts = sentence.split('`').enumerate().map(|(nth, part)| match nth % 2 == 1 {
        true if is_field(part) => snake(part),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`").replace("Idempotency-Key", "idempotency_key")
}

/// The known name that was probably meant.
pub fn nearest<'a>(written: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let written = snake(written).replace('-', "_");
    let scored = known.map(|name| (plenary_domain::models::distance(&written, name), name));
    let near = |(distance, name): &(usize, &str)| {
        *distance <= (written.len() / 3).max(1) || name.split('_').any(|part| part == written)
    };
    scored.filter(near).min().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wire: &str, tool: &str) {
        assert_eq!((snake(wire).as_str(), camel(tool).as_str()), (tool, wire));
    }

    #[test]
    fn names_go_both_ways() {
        check("prompt", "prompt");
        check("graceSeconds", "grace_seconds");
        check("advisors[0].systemPrompt", "advisors[0].system_prompt");
    }

    #[test]
    fn only_fields_are_renamed_in_a_sentence() {
        let sentence =
            "`quorum.graceSeconds`: Ask JohnDoe about `GET /api/openApi` or `camelCase`.";
        let renamed =
            "`quorum.grace_seconds`: Ask JohnDoe about `GET /api/openApi` or `camel_case`.";
        assert_eq!(in_words(sentence), renamed);
        assert_eq!(in_words("The same Idempotency-Key."), "The same idempotency_key.");
    }

    #[test]
    fn a_near_name_is_found() {
        let near = |written| nearest(written, ["prompt", "agent_name", "board_id"].into_iter());
        assert_eq!(near("promt"), Some("prompt"));
        assert_eq!(near("agentName"), Some("agent_name"));
        assert_eq!(near("board"), Some("board_id"));
        assert_eq!(near("colour"), None);
    }
}
