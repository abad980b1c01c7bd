//! A case as it stands in the file: what the world does, and what should come of it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::call::FailureKind;
use crate::workflow::event::Decision;
use crate::workflow::problem::At;
use crate::workflow::signal::Signal;
use crate::workflow::yaml::Node;

pub(crate) struct Case {
    pub name: String,
    pub at: At,
    /// Where answers stand, or would.
    pub answers_at: At,
    pub starter: String,
    pub inputs: Map<String, Value>,
    /// By a step's id or by its place; the place counts first.
    pub answers: BTreeMap<String, Replies>,
    pub signals: Vec<Coming<Signal>>,
    pub approvals: Vec<Coming<Approval>>,
    pub cancel: Option<Coming<Cancelling>>,
    pub expect: Expect,
}

pub(crate) enum Replies {
    /// The same each time.
    Always(Reply),
    /// One each time, in this order.
    InTurn(Vec<Reply>),
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Reply {
    /// What a model says, or what the step gives.
    Gives(Value),
    Fails {
        message: String,
        kind: FailureKind,
    },
    /// It never comes back: the clock goes on.
    Hangs,
}

/// Something that happens to a run by itself.
pub(crate) struct Coming<T> {
    pub place: At,
    /// So long after the run began.
    pub at_ms: u64,
    /// Not before this step, by id or place, has ended.
    pub after: Option<String>,
    pub what: T,
}

pub(crate) struct Approval {
    /// By id or by place.
    pub step: String,
    pub by: String,
    pub decision: Decision,
    pub reason: String,
    pub fields: Map<String, Value>,
}

pub(crate) struct Cancelling {
    pub by: Option<String>,
    pub reason: String,
}

#[derive(Default)]
pub(crate) struct Expect {
    pub status: Option<Node>,
    pub reason: Option<Node>,
    /// By id or by place.
    pub steps: Vec<(String, ExpectStep)>,
    pub outputs: Vec<(String, Node)>,
}

pub(crate) struct ExpectStep {
    pub status: Option<Node>,
    pub reason: Option<Node>,
    /// Fields that it was given, each with its whole value.
    pub input: Vec<(String, Node)>,
    pub output: Option<Node>,
}

/// How a failure is written.
pub(crate) const FAILURES: [(&str, FailureKind); 13] = [
    ("timed_out", FailureKind::TimedOut),
    ("idle", FailureKind::Idle),
    ("refused", FailureKind::Refused),
    ("rate_limited", FailureKind::RateLimited),
    ("out_of_credit", FailureKind::OutOfCredit),
    ("out_of_budget", FailureKind::OutOfBudget),
    ("prompt_too_long", FailureKind::PromptTooLong),
    ("empty", FailureKind::Empty),
    ("misconfigured", FailureKind::Misconfigured),
    ("unreachable", FailureKind::Unreachable),
    ("provider_error", FailureKind::ProviderError),
    ("malformed", FailureKind::Malformed),
    ("internal", FailureKind::Internal),
];

pub(crate) const RUN_STATUSES: [&str; 4] = ["running", "done", "failed", "cancelled"];
pub(crate) const STEP_STATUSES: [&str; 6] =
    ["waiting", "running", "done", "skipped", "failed", "cancelled"];
pub(crate) const DECISIONS: [&str; 3] = ["approved", "rejected", "changes"];
pub(crate) const OUTCOMES: [&str; 4] = ["accepted", "rejected", "tied", "undecided"];
