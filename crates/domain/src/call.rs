//! What a session wants done outside, and what came of it.
//!
//! `due` names the calls that should be under way; the engine makes them and
//! brings each outcome back as an ordinary command.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ids::{CallId, ModelName};
use crate::limits;

/// A call that should be under way now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    pub id: CallId,
    pub work: Work,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Work {
    /// Ask a model. The words are rendered by `Room::ask` when the call starts.
    Ask,
    /// Come back at this time.
    Sleep { until: Timestamp },
}

/// One request to a model.
#[derive(Clone, PartialEq, Debug)]
pub struct Ask {
    pub model: ModelName,
    pub system: String,
    pub messages: Vec<Message>,
    pub shape: Shape,
    pub patience: Patience,
    /// For a command-line agent; other models have no use for it.
    pub workspace: Option<Workspace>,
}

/// Where a command-line agent works, and what it may use there.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Workspace {
    /// The folder that it runs in, as the provider's own configuration allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Tools that it may use, by the names that the program knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
}

/// What the answer must look like. The words of the prompt ask for it; a provider
/// that can hold a model to it does so as well.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    Free,
    /// One JSON value that follows this JSON schema.
    Json(serde_json::Value),
    /// Markdown under these headings of level two, each once and in this order.
    Headings(&'static [&'static str]),
}

impl Ask {
    pub fn schema(&self) -> Option<&serde_json::Value> {
        match &self.shape {
            Shape::Json(schema) => Some(schema),
            Shape::Free | Shape::Headings(_) => None,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    pub speaker: Speaker,
    pub text: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Speaker {
    User,
    Assistant,
}

/// How long a call may take, and how much it may bring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patience {
    pub first_piece_ms: u64,
    pub idle_ms: u64,
    pub answer_ms: u64,
    pub answer_bytes: usize,
    /// Tokens asked of providers that can be told a maximum.
    pub answer_tokens: u32,
    /// Requests made for this call, the first included.
    pub attempts: u32,
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            first_piece_ms: limits::FIRST_PIECE_MS,
            idle_ms: limits::IDLE_MS,
            answer_ms: limits::ANSWER_MS,
            answer_bytes: limits::ANSWER_BYTES,
            answer_tokens: limits::ANSWER_TOKENS,
            attempts: limits::ATTEMPTS,
        }
    }
}

/// What came of a call. At most one outcome per call id enters the log.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    Answered(Answer),
    Failed {
        failure: Failure,
        partial: String,
    },
    /// The call was no longer due and was cancelled; this is what had arrived.
    Stopped {
        partial: String,
    },
    /// The sleep is over.
    Elapsed,
}

/// A whole, non-empty answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    pub text: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    #[serde(default)]
    pub usage: Usage,
    #[serde(default)]
    pub timing: Timing,
    /// Requests that it took, the last one included.
    #[serde(default = "one")]
    pub attempts: u32,
}

fn one() -> u32 {
    1
}

/// Tokens, where the wire says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
}

impl Usage {
    /// What is unknown on both sides stays unknown.
    pub fn plus(self, other: Usage) -> Usage {
        let sum = |left: Option<u64>, right: Option<u64>| match (left, right) {
            (None, None) => None,
            (left, right) => Some(left.unwrap_or(0).saturating_add(right.unwrap_or(0))),
        };
        Usage {
            input_tokens: sum(self.input_tokens, other.input_tokens),
            output_tokens: sum(self.output_tokens, other.output_tokens),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Timing {
    /// From the start of the call to the first text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_text_ms: Option<u64>,
    /// From the start of the call to its end, waiting between attempts included.
    #[serde(default)]
    pub latency_ms: u64,
}

/// Why a call brought no answer, in words for a person.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    pub kind: FailureKind,
    pub message: String,
    #[serde(default = "one")]
    pub attempts: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FailureKind {
    /// The whole answer took too long.
    TimedOut,
    /// The stream went silent.
    Idle,
    /// The model or its provider declined to answer.
    Refused,
    /// Too many requests, also after waiting.
    RateLimited,
    /// The prompt does not fit the model, or the answer passed its limit.
    TooLong,
    /// The model ended without a word.
    Empty,
    /// A key, a name or a setting is wrong.
    Misconfigured,
    /// The provider could not be reached, or broke off.
    Unreachable,
    /// The answer does not have the form that was asked for.
    Malformed,
    /// Plenary itself failed.
    Internal,
}

impl FailureKind {
    pub fn words(self) -> &'static str {
        match self {
            FailureKind::TimedOut => "timed out",
            FailureKind::Idle => "went silent",
            FailureKind::Refused => "refused",
            FailureKind::RateLimited => "rate limited",
            FailureKind::TooLong => "too long",
            FailureKind::Empty => "empty answer",
            FailureKind::Misconfigured => "misconfigured",
            FailureKind::Unreachable => "unreachable",
            FailureKind::Malformed => "not in the form asked for",
            FailureKind::Internal => "internal error",
        }
    }
}
