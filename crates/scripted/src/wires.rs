//! What is common to the wires: a name for each kind of frame.

mod anthropic;
mod gemini;
mod ollama;
mod openai;
mod responses;

use serde_json::Value;

pub(crate) use anthropic::Anthropic;
pub(crate) use gemini::Gemini;
pub(crate) use ollama::Ollama;
pub(crate) use openai::OpenAi;
pub(crate) use responses::Responses;

/// One vendor's way of saying things.
pub(crate) trait Wire: Send + Sync {
    fn content_type(&self) -> &'static str;

    /// What comes before the first token.
    fn open(&self, out: &mut String, about: &About);

    fn token(&self, out: &mut String, about: &mut About, voice: Voice, text: &str);

    /// A tool is called; what was said before is over.
    fn call(&self, out: &mut String, about: &mut About, call: &Call);

    /// The proper end.
    fn close(&self, out: &mut String, about: &mut About, ending: Ending);

    /// The answer in one piece, on a wire where it comes so unless a stream is asked for.
    fn whole(&self, _about: &About, _text: &str, _call: Option<&Call>) -> Option<Value> {
        None
    }

    /// An error after status 200.
    fn error(&self, out: &mut String, overloaded: bool);

    /// An error as status and body.
    fn status(&self, trouble: Trouble, model: &str) -> (u16, String);

    fn models(&self, names: &[String]) -> Value;

    /// All text that the request holds.
    fn prompt(&self, body: &Value) -> String;

    /// The tools that the request offers.
    fn tools(&self, body: &Value) -> Vec<Tool>;

    /// What the tools said that were called so far, in that order.
    fn results(&self, body: &Value) -> Vec<Value>;

    fn schema<'a>(&self, body: &'a Value) -> Option<&'a Value>;
}

/// The answer that frames are written for.
#[derive(Default)]
pub(crate) struct About {
    pub model: String,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// The voice of the last token, and how many times it has changed.
    pub voice: Option<Voice>,
    pub block: usize,
    /// What was said in that voice, and what came before: some wires repeat both.
    pub said: String,
    pub items: Vec<Value>,
}

/// A tool on offer.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    pub name: String,
    /// The group that it was offered in, on the wire that has groups.
    pub space: Option<String>,
}

impl Tool {
    fn named(name: &Value) -> Option<Tool> {
        Some(Tool { name: name.as_str()?.to_owned(), space: None })
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub id: String,
    pub tool: Tool,
    pub arguments: Value,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    Text,
    Reasoning,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Stop,
    Called,
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

/// The items of a list, none if it is no list.
fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The functions on offer, as OpenAI and Ollama list them.
fn functions(body: &Value) -> Vec<Tool> {
    items(&body["tools"]).filter_map(|tool| Tool::named(&tool["function"]["name"])).collect()
}

/// What stands in messages of tools, as OpenAI and Ollama have them.
fn from_tools(body: &Value) -> Vec<Value> {
    let messages = items(&body["messages"]).filter(|message| message["role"] == "tool");
    messages.map(|message| message["content"].clone()).collect()
}

/// The texts found at the end of `path` in every item of a list, one per line.
fn texts(list: &Value, path: &[&str]) -> String {
    let mut all = String::new();
    for item in items(list) {
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
