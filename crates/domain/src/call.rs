//! What a session wants done outside, and what came of it.
//!
//! `due` names the calls that should be under way; the engine makes them and
//! brings each outcome back as an ordinary command.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ids::{CallId, ModelName};
use crate::limits;
use crate::reject::Reject;

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
    /// Where parts of the text end, in bytes, that will begin later prompts of the same
    /// seat too. A provider that caches prompts is told of them.
    pub joints: Vec<usize>,
}

impl Message {
    pub fn new(speaker: Speaker, text: impl Into<String>) -> Self {
        Message { speaker, text: text.into(), joints: vec![] }
    }

    /// Adds a part that will stand in the same place in later prompts.
    pub fn keep(&mut self, part: &str) {
        self.text.push_str(part);
        self.joints.push(self.text.len());
    }
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

/// A call that brought no answer, and the text that it had.
#[derive(Clone, PartialEq, Debug)]
pub struct Failed {
    pub failure: Failure,
    pub partial: String,
}

impl Failed {
    pub fn new(
        kind: FailureKind,
        message: impl Into<String>,
        attempts: u32,
        partial: String,
    ) -> Self {
        Failed { failure: Failure { kind, message: message.into(), attempts }, partial }
    }

    /// A person who was given so much time said nothing.
    pub fn late(message: &str) -> Self {
        Failed::new(FailureKind::TimedOut, message, 1, String::new())
    }

    pub fn wordless(attempts: u32) -> Self {
        let message = "The model ended without a word.";
        Failed::new(FailureKind::Empty, message, attempts, String::new())
    }
}

impl Outcome {
    /// How a call ended that is still wanted. It was not for anybody to stop, and is no
    /// sleep.
    pub fn ended(self) -> Result<Result<Answer, Failed>, Reject> {
        match self {
            Outcome::Answered(answer) => Ok(Ok(answer)),
            Outcome::Failed { failure, partial } => Ok(Err(Failed { failure, partial })),
            Outcome::Stopped { .. } | Outcome::Elapsed => Err(Reject::Stale),
        }
    }

    /// What the call had brought, however it ended.
    pub fn text(self) -> String {
        match self {
            Outcome::Answered(answer) => answer.text,
            Outcome::Failed { partial, .. } | Outcome::Stopped { partial } => partial,
            Outcome::Elapsed => String::new(),
        }
    }

    /// An answer without a word is a failure, whatever the provider calls it.
    fn worded(self) -> Outcome {
        match self {
            Outcome::Answered(answer) if answer.text.trim().is_empty() => {
                let Failed { failure, partial } = Failed::wordless(answer.attempts);
                Outcome::Failed { failure, partial }
            }
            Outcome::Answered(_)
            | Outcome::Failed { .. }
            | Outcome::Stopped { .. }
            | Outcome::Elapsed => self,
        }
    }
}

/// What becomes of something that is asked for: of a model by a call, or of a person.
#[derive(Clone, PartialEq, Debug)]
pub enum Life<T> {
    Asked,
    Done(T),
    Failed {
        failure: Failure,
        partial: String,
    },
    /// `partial` is `None` until the cancelled call has handed its text back.
    Stopped {
        why: Stopping,
        partial: Option<String>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopping {
    ByHand,
    /// What it was for began without it.
    Late,
}

/// What a call brings into the life that it is of.
pub enum Heard {
    Answered(Answer),
    Failed(Failed),
    /// What a stopped call had said.
    HandedBack(String),
}

impl<T> Life<T> {
    pub fn is_asked(&self) -> bool {
        matches!(self, Life::Asked)
    }

    pub fn done(&self) -> Option<&T> {
        match self {
            Life::Done(done) => Some(done),
            Life::Asked | Life::Failed { .. } | Life::Stopped { .. } => None,
        }
    }

    /// Stopped, and its call has not handed back what it had.
    pub fn is_unheard(&self) -> bool {
        matches!(self, Life::Stopped { partial: None, .. })
    }

    /// A person has no call that could hand a partial text back.
    pub fn stop(&mut self, why: Stopping, is_person: bool) {
        if self.is_asked() {
            *self = Life::Stopped { why, partial: is_person.then(String::new) };
        }
    }

    pub fn hand_back(&mut self, text: &str) {
        if let Life::Stopped { partial: partial @ None, .. } = self {
            *partial = Some(text.to_owned());
        }
    }

    /// What the outcome of its call brings: an end of what is asked for, or, once, what
    /// was stopped had said.
    pub fn hear(&self, outcome: Outcome) -> Result<Heard, Reject> {
        let outcome = outcome.worded();
        match self {
            Life::Asked => Ok(match outcome.ended()? {
                Ok(answer) => Heard::Answered(answer),
                Err(failed) => Heard::Failed(failed),
            }),
            Life::Stopped { partial: None, .. } => Ok(Heard::HandedBack(outcome.text())),
            Life::Stopped { partial: Some(_), .. } | Life::Done(_) | Life::Failed { .. } => {
                Err(Reject::Stale)
            }
        }
    }
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

impl Answer {
    /// What a person said.
    pub fn by_person(text: String) -> Self {
        Answer {
            text,
            reasoning: String::new(),
            usage: Usage::default(),
            timing: Timing::default(),
            attempts: 1,
        }
    }
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
