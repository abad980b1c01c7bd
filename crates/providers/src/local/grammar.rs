//! Grammars that hold the local model to the shape that was asked for.

use std::fmt::Write;

use serde_json::Value;

/// Longest string, when the schema gives no length.
const STRING_CHARS: u64 = 400;
/// Most elements of an array, when the schema gives no number.
const ARRAY_ITEMS: u64 = 8;
/// Schemas nested deeper than this are refused.
const DEPTH: usize = 12;

/// Text under each heading: one or two lines of one or two sentences, without
/// the marks of headings and quotations. A sentence ends where the model ends it,
/// and at the latest after a few lines' worth of letters.
pub fn headings(headings: &[&str]) -> String {
    let parts: Vec<String> = headings
        .iter()
        .enumerate()
        .map(|(place, heading)| {
            let gap = if place == 0 { "" } else { "\\n" };
            format!("\"{gap}## {heading}\\n\\n\" body")
        })
        .collect();
    format!(
        "root ::= {}\n\
         body ::= line line?\n\
         line ::= \"- \"? sentence (\" \" sentence)? \"\\n\"\n\
         sentence ::= [^\\n#*<>`.!?:\\-\\x20\\t] [^\\n#<>`.!?]{{16,220}} [.!?]\n",
        parts.join(" ")
    )
}

/// A JSON value that follows a schema. Properties come in the schema's order,
/// all of them: a model that may leave one out does.
pub fn json(schema: &Value) -> Result<String, String> {
    let mut grammar = Grammar { rules: String::new(), count: 0 };
    let root = grammar.value(schema, DEPTH)?;
    Ok(format!(
        "root ::= {root}\n{}\
         char ::= [^\"\\\\\\x00-\\x1f] | \"\\\\\" [\"\\\\/bfnrt]\n\
         integer ::= \"-\"? (\"0\" | [1-9] [0-9]{{0,14}})\n\
         number ::= integer (\".\" [0-9]{{1,6}})?\n",
        grammar.rules
    ))
}

struct Grammar {
    rules: String,
    count: usize,
}

impl Grammar {
    fn rule(&mut self, body: &str) -> String {
        self.count += 1;
        let name = format!("r{}", self.count);
        let _ = writeln!(self.rules, "{name} ::= {body}");
        name
    }

    fn value(&mut self, schema: &Value, depth: usize) -> Result<String, String> {
        if depth == 0 {
            return Err("The schema is nested too deeply for the local model.".into());
        }
        if let Some(value) = schema.get("const") {
            return Ok(literal(value));
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            let all: Vec<String> = values.iter().map(literal).collect();
            return Ok(self.rule(&all.join(" | ")));
        }
        let any = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
        if let Some(schemas) = any {
            let all: Result<Vec<String>, String> =
                schemas.iter().map(|schema| self.value(schema, depth - 1)).collect();
            return Ok(self.rule(&all?.join(" | ")));
        }
        match schema.get("type") {
            Some(Value::Array(types)) => {
                let all: Result<Vec<String>, String> = types
                    .iter()
                    .map(|one| {
                        let mut schema = schema.clone();
                        schema["type"] = one.clone();
                        self.value(&schema, depth - 1)
                    })
                    .collect();
                Ok(self.rule(&all?.join(" | ")))
            }
            Some(Value::String(name)) => self.typed(name, schema, depth),
            _ => Err("A schema for the local model must name a type everywhere.".into()),
        }
    }

    fn typed(&mut self, name: &str, schema: &Value, depth: usize) -> Result<String, String> {
        let number = |key: &str| schema.get(key).and_then(Value::as_u64);
        match name {
            "object" => self.object(schema, depth),
            "array" => {
                let items = schema.get("items").ok_or("An array's `items` must be given.")?;
                let item = self.value(items, depth - 1)?;
                let least = number("minItems").unwrap_or(0);
                let most = number("maxItems").unwrap_or(ARRAY_ITEMS).max(least).max(1);
                let further = format!("(\", \" {item}){{{},{}}}", least.max(1) - 1, most - 1);
                let filled = format!("{item} {further}");
                let body = if least == 0 { format!("({filled})?") } else { filled };
                Ok(self.rule(&format!("\"[\" {body} \"]\"")))
            }
            "string" => {
                let least = number("minLength").unwrap_or(1);
                let most = number("maxLength").unwrap_or(STRING_CHARS).max(least);
                Ok(self.rule(&format!("\"\\\"\" char{{{least},{most}}} \"\\\"\"")))
            }
            "integer" => Ok("integer".into()),
            "number" => Ok("number".into()),
            "boolean" => Ok(self.rule("\"true\" | \"false\"")),
            "null" => Ok(self.rule("\"null\"")),
            other => Err(format!("The local model does not support schemas of type {other:?}.")),
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Result<String, String> {
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut parts = vec![];
        for (name, schema) in properties.into_iter().flatten() {
            let value = self.value(schema, depth - 1)?;
            let key = literal(&Value::from(name.as_str()));
            parts.push(format!("{key} \": \" {value}"));
        }
        let body = parts.join(" \", \" ");
        Ok(self.rule(&format!("\"{{\" {body} \"}}\"")))
    }
}

/// A JSON value, word for word, as a grammar writes it.
fn literal(value: &Value) -> String {
    let json = value.to_string().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{json}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: Value, expected: &str) {
        let grammar = json(&schema).unwrap_or_else(|problem| problem);
        assert!(grammar.contains(expected), "{expected}\nis not in\n{grammar}");
    }

    #[test]
    fn schemas_become_grammars() {
        check(
            serde_json::json!({"type": "string", "maxLength": 9}),
            r#"r1 ::= "\"" char{1,9} "\"""#,
        );
        check(serde_json::json!({"enum": ["a", "b\"c"]}), r#"r1 ::= "\"a\"" | "\"b\\\"c\"""#);
        check(serde_json::json!({"type": ["integer", "null"]}), "integer | r1");
        check(
            serde_json::json!({"type": "object", "properties": {"n": {"type": "integer"}}}),
            r#"r1 ::= "{" "\"n\"" ": " integer "}""#,
        );
        check(
            serde_json::json!({"type": "array", "items": {"type": "number"}, "minItems": 2}),
            r#"r1 ::= "[" number (", " number){1,7} "]""#,
        );
        check(serde_json::json!({}), "must name a type");
        check(serde_json::json!({"type": "date"}), "does not support schemas of type");
    }
}
