//! What a session wants done outside, and what came of it.
//!
//! `due` names the calls that should be under way; the engine makes them and
//! brings each outcome back as an ordinary command.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ids::{CallId, ModelName};
use crate::image::Image;
pub use crate::ledger::Usage;
use crate::limits;
use crate::reject::Reject;
use crate::{spoken, thinking};

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
    /// Anything else outside. What it is, `Room::errand` says when it starts.
    Errand,
}

/// One request to a model.
#[derive(Clone, PartialEq, Debug)]
pub struct Ask {
    pub model: ModelName,
    pub system: String,
    pub messages: Vec<Message>,
    pub shape: Shape,
    pub patience: Patience,
    /// How freely it chooses its words, from 0 on; the provider's own where nothing is said.
    pub temperature: Option<f64>,
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
    /// What is shown with the words, to a model that can look at it.
    pub images: Vec<Arc<Image>>,
}

impl Message {
    pub fn new(speaker: Speaker, text: impl Into<String>) -> Self {
        Message { speaker, text: text.into(), joints: vec![], images: vec![] }
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
    /// Tokens that every provider is told as the maximum.
    pub answer_tokens: u32,
    /// Requests made for this call, the first included.
    pub attempts: u32,
    /// Time that is left to the seat, for all of them.
    pub seat_ms: Option<u64>,
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
            seat_ms: None,
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
        /// What all its attempts took, as far as that is known.
        usage: Usage,
    },
    /// The sleep is over.
    Elapsed,
    /// What an errand came back with.
    Brought(serde_json::Value),
}

/// A call that brought no answer, and the text that it had.
#[derive(Clone, PartialEq, Debug)]
pub struct Failed {
    pub failure: Failure,
    pub partial: String,
}

impl Failed {
    /// An answer that is of no use.
    pub fn of(answer: Answer, kind: FailureKind, message: impl Into<String>) -> Self {
        let Answer { text: partial, attempts, usage, .. } = answer;
        Failed { failure: Failure { kind, message: message.into(), attempts, usage }, partial }
    }

    /// A person who was given so much time said nothing.
    pub fn late(message: &str) -> Self {
        Failed::of(Answer::by_person(String::new()), FailureKind::TimedOut, message)
    }

    fn wordless(answer: Answer) -> Self {
        let message = match answer.cut {
            true => "The model reached its length limit before writing anything.",
            false => "The model returned an empty answer.",
        };
        Failed::of(Answer { text: String::new(), ..answer }, FailureKind::Empty, message)
    }
}

impl Outcome {
    /// How a call ended that is still wanted. It was not for anybody to stop, and is no
    /// sleep.
    pub fn ended(self) -> Result<Result<Answer, Failed>, Reject> {
        match self {
            Outcome::Answered(answer) => Ok(Ok(answer)),
            Outcome::Failed { failure, partial } => Ok(Err(Failed { failure, partial })),
            Outcome::Stopped { .. } | Outcome::Elapsed | Outcome::Brought(_) => Err(Reject::Stale),
        }
    }

    /// What the call had brought and taken, however it ended.
    pub fn handed_back(self) -> (String, Usage) {
        match self {
            Outcome::Answered(answer) => (answer.text, answer.usage),
            Outcome::Failed { failure, partial } => (partial, failure.usage),
            Outcome::Stopped { partial, usage } => (partial, usage),
            Outcome::Elapsed | Outcome::Brought(_) => (String::new(), Usage::default()),
        }
    }

    /// An answer that is read as prose, without the thinking before it.
    pub fn as_prose(self) -> Outcome {
        match self {
            Outcome::Answered(answer) => Outcome::Answered(answer.without_thinking()),
            Outcome::Failed { .. }
            | Outcome::Stopped { .. }
            | Outcome::Elapsed
            | Outcome::Brought(_) => self,
        }
    }

    fn worded(self) -> Outcome {
        match self {
            Outcome::Answered(answer) => match answer.worded() {
                Ok(answer) => Outcome::Answered(answer),
                Err(Failed { failure, partial }) => Outcome::Failed { failure, partial },
            },
            Outcome::Failed { .. }
            | Outcome::Stopped { .. }
            | Outcome::Elapsed
            | Outcome::Brought(_) => self,
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
        usage: Usage,
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
    /// What a stopped call had said, and taken.
    HandedBack(String, Usage),
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
            let (partial, usage) = (is_person.then(String::new), Usage::default());
            *self = Life::Stopped { why, partial, usage };
        }
    }

    pub fn hand_back(&mut self, text: &str, used: Usage) {
        if let Life::Stopped { partial: partial @ None, usage, .. } = self {
            *partial = Some(text.to_owned());
            *usage = used;
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
            Life::Stopped { partial: None, .. } => {
                let (partial, usage) = outcome.handed_back();
                Ok(Heard::HandedBack(partial, usage))
            }
            Life::Stopped { partial: Some(_), .. } | Life::Done(_) | Life::Failed { .. } => {
                Err(Reject::Stale)
            }
        }
    }
}

/// A non-empty answer, whole unless it is marked as cut.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    pub text: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// It reached a limit on its length. What there is of it counts.
    #[serde(default, skip_serializing_if = "is_not")]
    pub cut: bool,
    /// Of all attempts.
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
            cut: false,
            usage: Usage::default(),
            timing: Timing::default(),
            attempts: 1,
        }
    }

    /// Thinking aloud before the answer is no part of it.
    pub fn without_thinking(mut self) -> Self {
        let (thought, said) = thinking::before_prose(&self.text);
        if said.len() == self.text.trim_start().len() {
            return self;
        }
        let (thought, said) = (thought.trim().to_owned(), said.trim_start().to_owned());
        if self.reasoning.is_empty() {
            self.reasoning = spoken::within(thought, limits::THINKING_BYTES);
        }
        self.text = said;
        self
    }

    /// An answer without a word is a failure, whatever the provider calls it.
    pub fn worded(self) -> Result<Answer, Failed> {
        if self.text.trim().is_empty() { Err(Failed::wordless(self)) } else { Ok(self) }
    }
}

fn one() -> u32 {
    1
}

fn is_not(is: &bool) -> bool {
    !is
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
    /// Of all attempts.
    #[serde(default, skip_serializing_if = "Usage::is_unknown")]
    pub usage: Usage,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FailureKind {
    /// The whole answer took too long.
    TimedOut,
    /// The stream stopped responding.
    Idle,
    /// The model or its provider declined to answer.
    Refused,
    /// Too many requests, also after waiting.
    RateLimited,
    /// The account with the provider has nothing left to spend.
    OutOfCredit,
    /// The session's budget, or the seat's, has no room for the call.
    OutOfBudget,
    /// The prompt does not fit the model.
    PromptTooLong,
    /// What a workflow sent, got or wrote passed its limit. Of earlier versions: the prompt
    /// did not fit, or the answer passed its limit.
    TooLong,
    /// The model returned an empty answer.
    Empty,
    /// A key, a name or a setting is wrong.
    Misconfigured,
    /// The provider could not be reached, or broke off.
    Unreachable,
    /// The provider was reached and answered with an error, or with nonsense.
    ProviderError,
    /// The answer does not have the form that was asked for.
    Malformed,
    /// Plenary itself failed.
    Internal,
}

impl FailureKind {
    /// Whether the provider may have read the prompt, and count it, although it says
    /// nothing of that.
    pub fn may_have_read(self) -> bool {
        match self {
            FailureKind::RateLimited
            | FailureKind::OutOfCredit
            | FailureKind::OutOfBudget
            | FailureKind::PromptTooLong
            | FailureKind::Misconfigured => false,
            FailureKind::TimedOut
            | FailureKind::Idle
            | FailureKind::Refused
            | FailureKind::TooLong
            | FailureKind::Empty
            | FailureKind::Unreachable
            | FailureKind::ProviderError
            | FailureKind::Malformed
            | FailureKind::Internal => true,
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            FailureKind::TimedOut => "timed out",
            FailureKind::Idle => "stopped responding",
            FailureKind::Refused => "refused",
            FailureKind::RateLimited => "rate limited",
            FailureKind::OutOfCredit => "out of credit",
            FailureKind::OutOfBudget => "out of budget",
            FailureKind::PromptTooLong => "prompt too long",
            FailureKind::TooLong => "too long",
            FailureKind::Empty => "empty answer",
            FailureKind::Misconfigured => "misconfigured",
            FailureKind::Unreachable => "unreachable",
            FailureKind::ProviderError => "provider error",
            FailureKind::Malformed => "in the wrong format",
            FailureKind::Internal => "internal error",
        }
    }
}
