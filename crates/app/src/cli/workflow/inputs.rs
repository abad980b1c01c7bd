//! Inputs of a run and fields of a decision, as they are typed.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Args;
use plenary_domain::workflow::{Definition, Type};
use serde_json::{Map, Value};

use crate::api::ApiError;
use crate::cli::{text, usage};

#[derive(Args)]
pub struct Inputs {
    /// An input; VALUE can be `@FILE`, or `-` for standard input (repeatable)
    #[arg(long = "input", value_name = "NAME=VALUE")]
    inputs: Vec<String>,
}

/// What each input takes, as far as that is known.
#[derive(Clone, Default)]
pub struct Types(BTreeMap<String, Type>);

impl From<&Definition> for Types {
    fn from(definition: &Definition) -> Self {
        Types(definition.inputs.iter().map(|input| (input.name.clone(), input.takes)).collect())
    }
}

impl Types {
    /// Of inputs or fields as a server lists them.
    pub fn listed(inputs: &Value) -> Types {
        let types = inputs.as_array().into_iter().flatten().filter_map(|input| {
            let takes = serde_json::from_value(input["type"].clone()).ok()?;
            Some((input["name"].as_str()?.to_owned(), takes))
        });
        Types(types.collect())
    }
}

impl Inputs {
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    /// Values by the types that the file gives its inputs.
    pub fn read(&self, known: &Types) -> Result<Value, ApiError> {
        let is_read = |written: &&String| written.ends_with("=-");
        if self.inputs.iter().filter(is_read).count() > 1 {
            return Err(usage("only one --input can come from standard input"));
        }
        let mut inputs = Map::new();
        for written in &self.inputs {
            let (name, value) = pair("--input", written)?;
            let value = match value.strip_prefix('@') {
                Some(file) => content(name, Path::new(file))?,
                None => text(value)?,
            };
            let value = typed(value, known.0.get(name).copied());
            if inputs.insert(name.to_owned(), value).is_some() {
                return Err(usage(format!("--input {name} is given twice")));
            }
        }
        Ok(Value::Object(inputs))
    }
}

fn content(name: &str, file: &Path) -> Result<String, ApiError> {
    let read = std::fs::read_to_string(file);
    read.map_err(|error| usage(format!("--input {name}: cannot read {}: {error}", file.display())))
}

/// What was typed, as its type: a text is a text, all else is JSON where it can be, and a
/// list may be written with commas.
fn typed(written: String, takes: Option<Type>) -> Value {
    let json = || serde_json::from_str::<Value>(&written).ok();
    match takes {
        Some(Type::String) => Value::String(written),
        Some(Type::Array) => json().filter(Value::is_array).unwrap_or_else(|| {
            let words = written.split(',').map(str::trim).filter(|word| !word.is_empty());
            words.map(|word| Value::String(word.to_owned())).collect()
        }),
        Some(Type::Number | Type::Integer | Type::Boolean | Type::Object | Type::Any) | None => {
            json().unwrap_or(Value::String(written))
        }
    }
}

fn pair<'a>(flag: &str, written: &'a str) -> Result<(&'a str, &'a str), ApiError> {
    let wrong = || usage(format!("{flag} must be NAME=VALUE, not {written:?}"));
    let (name, value) = written.split_once('=').ok_or_else(wrong)?;
    if name.trim().is_empty() { Err(wrong()) } else { Ok((name.trim(), value)) }
}

pub fn pairs(flag: &str, written: &[String], known: &Types) -> Result<Value, ApiError> {
    let mut all = Map::new();
    for written in written {
        let (name, value) = pair(flag, written)?;
        let takes = known.0.get(name).copied();
        all.insert(name.to_owned(), typed(value.to_owned(), takes));
    }
    Ok(Value::Object(all))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn inputs_are_read_by_their_types() {
        for (written, takes, expected) in [
            ("24", Some(Type::String), json!("24")),
            ("24", Some(Type::Integer), json!(24)),
            ("true", Some(Type::Boolean), json!(true)),
            ("a, b", Some(Type::Array), json!(["a", "b"])),
            ("24", Some(Type::Array), json!(["24"])),
            ("[1, 2]", Some(Type::Array), json!([1, 2])),
            ("{\"a\": 1}", Some(Type::Object), json!({ "a": 1 })),
            ("24", None, json!(24)),
            ("some words", None, json!("some words")),
        ] {
            assert_eq!(typed(written.to_owned(), takes), expected, "{written} as {takes:?}");
        }
    }
}
