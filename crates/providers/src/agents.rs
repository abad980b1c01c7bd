//! The JSON lines that command-line agents print.
//!
//! Three forms are understood side by side, because their lines cannot be taken
//! for each other: `claude -p --output-format stream-json`, `codex exec --json`,
//! and a plain `{"text": …}` / `{"error": …}`.

use std::borrow::Cow;

use plenary_domain::Usage;
use plenary_engine::ports::Piece;
use serde::Deserialize;
use serde_json::Value;

use crate::http::Out;

#[derive(Default)]
pub(crate) struct Agent {
    spoke: bool,
    /// Deltas have come since the last whole message, which repeats them.
    streamed: bool,
    failure: Option<String>,
    /// An error that the agent may yet get over, such as a lost connection.
    trouble: Option<String>,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    text: Option<String>,
    reasoning: Option<String>,
    error: Option<Value>,
    event: Option<Event>,
    message: Option<Value>,
    item: Option<Item>,
    usage: Option<Tokens>,
    result: Option<Value>,
    #[serde(default)]
    is_error: bool,
}

#[derive(Deserialize)]
struct Event {
    delta: Option<Delta>,
}

#[derive(Deserialize)]
struct Delta {
    text: Option<String>,
    thinking: Option<String>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
    message: Option<String>,
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl Agent {
    /// Lines that are not JSON are ignored: programs print warnings among them.
    pub(crate) fn line(&mut self, line: &[u8], out: &mut Out) {
        let Ok(line) = serde_json::from_slice::<Line>(line) else {
            return;
        };
        match line.kind.as_deref() {
            Some("stream_event") => self.delta(line.event, out),
            Some("assistant") => self.whole_message(line.message.as_ref(), out),
            Some("result") => self.result(line, out),
            Some("item.completed") => self.item(line.item, out),
            Some("turn.completed") => count(line.usage, out),
            Some("turn.failed") => self.failure = Some(words(line.error.as_ref())),
            Some("error") => {
                let told = line.error.as_ref().or(line.message.as_ref());
                self.trouble = Some(words(told));
            }
            Some(_) => {}
            None => {
                out.reasoning(line.reasoning);
                self.say(line.text, out);
                count(line.usage, out);
                if let Some(error) = &line.error {
                    self.failure = Some(words(Some(error)));
                }
            }
        }
    }

    /// What went wrong, when all lines are read.
    pub(crate) fn failure(&mut self) -> Option<String> {
        let trouble = self.trouble.take().filter(|_| !self.spoke);
        self.failure.take().or(trouble)
    }

    /// The reason to give when the program failed and said nothing better.
    pub(crate) fn last_words(&mut self) -> Option<String> {
        self.failure.take().or(self.trouble.take())
    }

    fn say(&mut self, text: Option<String>, out: &mut Out) {
        self.spoke |= text.as_ref().is_some_and(|text| !text.is_empty());
        out.text(text);
    }

    fn delta(&mut self, event: Option<Event>, out: &mut Out) {
        if let Some(delta) = event.and_then(|event| event.delta) {
            self.streamed |= delta.text.is_some() || delta.thinking.is_some();
            out.reasoning(delta.thinking);
            self.say(delta.text, out);
        }
    }

    fn whole_message(&mut self, message: Option<&Value>, out: &mut Out) {
        if std::mem::take(&mut self.streamed) {
            return;
        }
        let blocks = message.and_then(|message| message["content"].as_array());
        for block in blocks.into_iter().flatten() {
            out.reasoning(block["thinking"].as_str().map(str::to_owned));
            self.say(block["text"].as_str().map(str::to_owned), out);
        }
    }

    fn result(&mut self, line: Line, out: &mut Out) {
        let text = words(line.result.as_ref());
        if line.is_error {
            self.failure = Some(text);
        } else if !self.spoke {
            self.say(Some(text), out);
        }
        count(line.usage, out);
    }

    fn item(&mut self, item: Option<Item>, out: &mut Out) {
        let Some(item) = item else {
            return;
        };
        match item.kind.as_deref() {
            Some("agent_message") => {
                if self.spoke {
                    out.text(Some("\n\n".to_owned()));
                }
                self.say(item.text, out);
            }
            Some("reasoning") => out.reasoning(item.text),
            Some("error") => self.trouble = item.message.or(item.text),
            _ => {}
        }
    }
}

/// The words of an error, which may be a text or an object with a message.
fn words(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(value) => match value["message"].as_str() {
            Some(text) => text.to_owned(),
            None => value.to_string(),
        },
        None => String::new(),
    }
}

fn count(tokens: Option<Tokens>, out: &mut Out) {
    let Some(tokens) = tokens else {
        return;
    };
    let read =
        [tokens.input_tokens, tokens.cache_creation_input_tokens, tokens.cache_read_input_tokens];
    out.pieces.push_back(Piece::Usage(Usage {
        input_tokens: read.into_iter().flatten().reduce(|one, other| one + other),
        output_tokens: tokens.output_tokens,
    }));
}
