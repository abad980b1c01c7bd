//! What is common to the four wires: a name for each kind of frame.

mod anthropic;
mod gemini;
mod ollama;
mod openai;

use serde_json::Value;

pub(crate) use anthropic::Anthropic;
pub(crate) use gemini::Gemini;
pub(crate) use ollama::Ollama;
pub(crate) use openai::OpenAi;

/// One vendor's way of saying things.
pub(crate) trait Wire: Send + Sync {
    fn content_type(&self) -> &'static str;

    /// What comes before the first token.
    fn open(&self, out: &mut String, about: &About);

    fn token(&self, out: &mut String, about: &mut About, voice: Voice, text: &str);

    /// The proper end.
    fn close(&self, out: &mut String, about: &About, ending: Ending);

    /// The answer in one piece, on a wire where it comes so unless a stream is asked for.
    fn whole(&self, _about: &About, _text: &str) -> Option<Value> {
        None
    }

    /// An error after status 200.
    fn error(&self, out: &mut String, overloaded: bool);

    /// An error as status and body.
    fn status(&self, trouble: Trouble, model: &str) -> (u16, String);

    fn models(&self, names: &[String]) -> Value;

    /// All text that the request holds.
    fn prompt(&self, body: &Value) -> String;

    fn schema<'a>(&self, body: &'a Value) -> Option<&'a Value>;
}

/// The answer that frames are written for.
pub(crate) struct About {
    pub model: String,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// The voice of the last token, and how many times it has changed.
    pub voice: Option<Voice>,
    pub block: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    Text,
    Reasoning,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Stop,
    Length,
    Refusal,
    Filtered,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    Unauthorized,
    NoSuchModel,
    ContextOverflow,
    RateLimited,
    OutOfQuota,
    Overloaded,
    ServerError,
}

/// A text as a JSON string, quotes included.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The texts found at the end of `path` in every item of a list, one per line.
fn texts(items: &Value, path: &[&str]) -> String {
    let mut all = String::new();
    for item in items.as_array().into_iter().flatten() {
        gather(path.iter().fold(item, |value, name| &value[*name]), &mut all);
    }
    all
}

/// Every string under a value.
fn gather(value: &Value, all: &mut String) {
    match value {
        Value::String(text) => {
            all.push_str(text);
            all.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, all)),
        Value::Object(fields) => fields.values().for_each(|item| gather(item, all)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
