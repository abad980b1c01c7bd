//! The JSON lines that command-line agents print.
//!
//! Five forms are understood side by side, because their lines cannot be taken
//! for each other: `claude -p --output-format stream-json`, `codex exec --json`,
//! `gemini --output-format stream-json`, `opencode run --format json`, and a plain
//! `{"text": …}` / `{"error": …}`.

use std::borrow::Cow;
use std::time::Duration;

use plenary_domain::Usage;
use plenary_domain::ledger::nano_usd;
use plenary_engine::ports::Piece;
use serde::Deserialize;
use serde_json::Value;

use crate::http::Out;

#[derive(Default)]
pub(crate) struct Agent {
    spoke: bool,
    /// Something other than text came since the last words: what is said next
    /// stands by itself.
    gap: bool,
    /// Deltas have come since the last whole message, which repeats them.
    streamed: bool,
    /// The words of these deltas.
    told: String,
    /// The words of a message that Claude gave up in the middle, to ask for it anew.
    abandoned: Option<String>,
    failure: Option<String>,
    /// An error that the agent may yet get over, such as a lost connection.
    trouble: Option<String>,
    /// It has asked its vendor again by itself.
    asked_again: bool,
    /// What the steps of an agent that counts each by itself have used, and the step
    /// under way.
    steps: Usage,
    step: Usage,
    /// The answer has reached the model's output limit. Whatever comes afterwards is
    /// no part of it: Claude has its model go on by itself, up to three times.
    cut: bool,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    subtype: Option<Cow<'a, str>>,
    text: Option<String>,
    reasoning: Option<String>,
    error: Option<Value>,
    event: Option<Event>,
    message: Option<Value>,
    item: Option<Item>,
    usage: Option<Tokens>,
    total_cost_usd: Option<f64>,
    result: Option<Value>,
    #[serde(default)]
    is_error: bool,
    #[serde(default)]
    is_api_error_message: bool,
    retry_delay_ms: Option<f64>,
    role: Option<Cow<'a, str>>,
    content: Option<Value>,
    status: Option<Cow<'a, str>>,
    stats: Option<Tokens>,
    part: Option<Part>,
    stop_reason: Option<Cow<'a, str>>,
    parent_tool_use_id: Option<Cow<'a, str>>,
    abandoned_blocks: Option<Value>,
}

#[derive(Deserialize)]
struct Event {
    delta: Option<Delta>,
    content_block: Option<Block>,
    message: Option<Message>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Message {
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Delta {
    text: Option<String>,
    thinking: Option<String>,
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    /// Codex's, and Gemini's.
    #[serde(alias = "cached")]
    cached_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    reasoning_output_tokens: Option<u64>,
    output_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    thinking_tokens: Option<u64>,
}

/// A part of what opencode says.
#[derive(Deserialize)]
struct Part {
    text: Option<String>,
    reason: Option<String>,
    tokens: Option<StepTokens>,
    /// In US dollars.
    cost: Option<f64>,
}

#[derive(Deserialize)]
struct StepTokens {
    input: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
    cache: Option<CacheTokens>,
}

#[derive(Deserialize)]
struct CacheTokens {
    read: Option<u64>,
    write: Option<u64>,
}

impl Agent {
    /// Lines that are not JSON are ignored: programs print warnings among them. One
    /// that brings no words is a sign of life.
    pub(crate) fn line(&mut self, line: &[u8], out: &mut Out) {
        if self.cut {
            return;
        }
        let Ok(line) = serde_json::from_slice::<Line>(line) else {
            return;
        };
        let before = out.pieces.len();
        self.read(line, out);
        if out.pieces.len() == before {
            out.pieces.push_back(Piece::Busy);
        }
    }

    fn read(&mut self, line: Line, out: &mut Out) {
        match line.kind.as_deref() {
            Some("stream_event") => {
                // An agent of the agent's has limits of its own.
                let own = line.parent_tool_use_id.is_none();
                self.event(line.event, own, out);
                if line.abandoned_blocks.is_some() {
                    self.streamed = false;
                    self.abandoned = Some(std::mem::take(&mut self.told));
                }
            }
            Some("assistant") => self.whole_message(&line, out),
            Some("system") if line.subtype.as_deref() == Some("api_retry") => {
                self.asked_again = true;
                retrying(&line, out);
            }
            // Tools were used.
            Some("user" | "tool_use" | "tool_result") => self.gap = true,
            Some("result") => self.result(line, out),
            Some("item.completed") => self.item(line.item, out),
            Some("turn.completed") => count(line.usage, None, out),
            Some("turn.failed") => self.turn_failed(words(line.error.as_ref())),
            Some("error") => self.error(words(line.error.as_ref().or(line.message.as_ref())), out),
            Some("message") if line.role.as_deref() == Some("assistant") => {
                self.say(line.content.as_ref().and_then(Value::as_str).map(str::to_owned), out);
            }
            Some("text") => {
                self.gap = true;
                self.say(line.part.and_then(|part| part.text), out);
            }
            Some("reasoning") => out.reasoning(line.part.and_then(|part| part.text)),
            Some("step_finish") => self.step(line.part, out),
            Some(_) => {}
            None => {
                out.reasoning(line.reasoning);
                self.say(line.text, out);
                count(line.usage, None, out);
                if let Some(error) = &line.error {
                    self.failure = Some(words(Some(error)));
                }
            }
        }
    }

    /// Whether the answer was cut at the model's output limit. Nothing is read after
    /// that.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut
    }

    /// A program that has asked again by itself, and in vain, need not be started again.
    pub(crate) fn has_asked_again(&self) -> bool {
        self.asked_again
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
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return;
        };
        if std::mem::take(&mut self.gap) && self.spoke {
            out.text(Some("\n\n".to_owned()));
        }
        self.spoke = true;
        out.text(Some(text));
    }

    fn event(&mut self, event: Option<Event>, own: bool, out: &mut Out) {
        let Some(event) = event else {
            return;
        };
        self.message(event.message, event.usage, out);
        let block = event.content_block.and_then(|block| block.kind);
        self.gap |= block.is_some_and(|kind| kind != "text" && !kind.ends_with("thinking"));
        if let Some(delta) = event.delta {
            self.streamed |= delta.text.is_some() || delta.thinking.is_some();
            if let Some(text) = &delta.text {
                self.gap |= self.abandoned.take().is_some();
                self.told.push_str(text);
            }
            out.reasoning(delta.thinking);
            self.say(delta.text, out);
            self.cut |= own && delta.stop_reason.as_deref() == Some("max_tokens");
        }
    }

    /// Claude tells what each message takes; the result has the sum, if it comes to it.
    fn message(&mut self, begun: Option<Message>, told: Option<Tokens>, out: &mut Out) {
        let begun = begun.and_then(|message| message.usage);
        if begun.is_some() {
            self.steps = self.steps.plus(std::mem::take(&mut self.step));
        }
        if let Some(tokens) = begun.or(told) {
            self.step = self.step.then(used(&tokens));
            out.pieces.push_back(Piece::Usage(self.steps.plus(self.step)));
        }
    }

    fn whole_message(&mut self, line: &Line, out: &mut Out) {
        // The words of an error are no answer; they come again as the result.
        if line.is_api_error_message || line.error.is_some() {
            return;
        }
        if std::mem::take(&mut self.streamed) {
            self.told.clear();
            return;
        }
        let blocks = line.message.as_ref().and_then(|message| message["content"].as_array());
        for block in blocks.into_iter().flatten() {
            self.gap |= block["type"].as_str().is_some_and(|kind| kind.ends_with("tool_use"));
            out.reasoning(block["thinking"].as_str().map(str::to_owned));
            if let Some(text) = block["text"].as_str() {
                let text = self.untold(text).to_owned();
                self.say(Some(text), out);
            }
        }
    }

    /// What is new in a text that may stand for one that was given up. One that
    /// begins otherwise stands by itself, for what has been said cannot be unsaid.
    fn untold<'a>(&mut self, text: &'a str) -> &'a str {
        let Some(told) = self.abandoned.take() else {
            return text;
        };
        text.strip_prefix(&told).unwrap_or_else(|| {
            self.gap = true;
            text
        })
    }

    /// Claude's has the whole text, Gemini's a status. Gemini tells the reason of a
    /// failure there or in a line before.
    fn result(&mut self, line: Line, out: &mut Out) {
        if line.is_error {
            self.failure = Some(words(line.result.as_ref()));
        } else if line.status.as_deref() == Some("error") {
            let reason = line.error.as_ref().map(|error| words(Some(error)));
            self.failure = reason.or(self.trouble.take()).or(Some(String::new()));
        } else if !self.spoke && line.result.is_some() {
            self.say(Some(words(line.result.as_ref())), out);
        }
        count(line.usage.or(line.stats), line.total_cost_usd, out);
        self.cut |= line.stop_reason.as_deref() == Some("max_tokens");
    }

    fn item(&mut self, item: Option<Item>, out: &mut Out) {
        let Some(item) = item else {
            return;
        };
        match item.kind.as_deref() {
            Some("agent_message") => {
                self.gap = true;
                self.say(item.text, out);
            }
            Some("reasoning") => out.reasoning(item.text),
            // Those of the kind `error` are warnings, such as of a model that the
            // program does not know. They are no reason for anything.
            _ => {}
        }
    }

    /// Codex asks its vendor again by itself, and tells of that as of an error.
    fn error(&mut self, words: String, out: &mut Out) {
        if let Some(rest) = words.strip_prefix("Reconnecting...") {
            let reason = rest.split_once('(').map_or(rest, |(_, reason)| reason);
            let reason = reason.trim().trim_end_matches(')').to_owned();
            out.pieces.push_back(Piece::Retrying { reason, wait: Duration::ZERO });
            self.asked_again = true;
        }
        // Gemini has done so as well, without a word, when it tells of this.
        self.asked_again |= words.starts_with("Model stream ended");
        self.trouble = Some(words);
    }

    fn turn_failed(&mut self, words: String) {
        self.cut |= words.ends_with("reason: max_output_tokens");
        self.failure = Some(words);
    }

    fn step(&mut self, part: Option<Part>, out: &mut Out) {
        let Some(part) = part else {
            return;
        };
        self.cut |= part.reason.as_deref() == Some("length");
        let Some(tokens) = part.tokens else {
            return;
        };
        let cache = tokens.cache.map(|cache| [cache.read, cache.write]).unwrap_or_default();
        let step = Usage {
            input_tokens: sum([tokens.input, cache[0], cache[1]]),
            cached_tokens: cache[0],
            output_tokens: sum([tokens.output, tokens.reasoning]),
            reasoning_tokens: tokens.reasoning,
            cost_nano_usd: stated(part.cost),
        };
        self.steps = self.steps.plus(step);
        out.pieces.push_back(Piece::Usage(self.steps));
    }
}

fn sum<const N: usize>(parts: [Option<u64>; N]) -> Option<u64> {
    parts.into_iter().flatten().reduce(|one, other| one.saturating_add(other))
}

/// Claude asks its vendor again by itself, for minutes.
fn retrying(line: &Line, out: &mut Out) {
    let wait = line.retry_delay_ms.filter(|wait| wait.is_finite() && *wait >= 0.0);
    let reason = words(line.error.as_ref()).replace('_', " ");
    out.pieces.push_back(Piece::Retrying {
        reason,
        wait: Duration::from_millis(wait.unwrap_or_default() as u64),
    });
}

/// The words of an error, which may be a text or an object with a message.
fn words(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(value) => {
            let places = [&value["message"], &value["data"]["message"], &value["name"]];
            let text = places.into_iter().find_map(Value::as_str);
            text.map_or_else(|| value.to_string(), str::to_owned)
        }
        None => String::new(),
    }
}

fn count(tokens: Option<Tokens>, dollars: Option<f64>, out: &mut Out) {
    let cost_nano_usd = stated(dollars);
    let usage = tokens.as_ref().map(used).unwrap_or_default();
    let usage = Usage { cost_nano_usd, ..usage };
    if !usage.is_unknown() {
        out.pieces.push_back(Piece::Usage(usage));
    }
}

/// An agent that does not know a price says that it is nothing.
fn stated(dollars: Option<f64>) -> Option<u64> {
    dollars.filter(|dollars| *dollars > 0.0).and_then(nano_usd)
}

/// Claude counts what its cache has beside the input, the others within it.
fn used(tokens: &Tokens) -> Usage {
    let read =
        [tokens.input_tokens, tokens.cache_creation_input_tokens, tokens.cache_read_input_tokens];
    let thought = tokens.output_tokens_details.as_ref().and_then(|details| details.thinking_tokens);
    Usage {
        input_tokens: sum(read),
        cached_tokens: tokens.cache_read_input_tokens.or(tokens.cached_input_tokens),
        output_tokens: tokens.output_tokens,
        reasoning_tokens: tokens.reasoning_output_tokens.or(thought),
        cost_nano_usd: None,
    }
}
