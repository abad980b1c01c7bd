//! What has happened in a council. A shipped event is never edited.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Member;
use crate::budget::Budget;
use crate::call::{Answer, Failure, Usage};
use crate::ids::Nonce;
use crate::prices::Noted;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    Opened {
        name: String,
        charter: Arc<str>,
        members: Arc<[Member]>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        at: Timestamp,
    },
    /// What the members' models cost.
    Priced(Noted),
    /// What the council may spend.
    Budgeted(Budget),
    /// The time that its members had for their answers is over.
    TimeOver {
        at: Timestamp,
    },
    /// Somebody posted by themselves.
    Posted {
        sequence: u64,
        sender: String,
        body: Arc<str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply_to: Option<u64>,
        addressed: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<String>,
        at: Timestamp,
    },
    /// The charter or the members are others from now on. Whoever was removed and added
    /// again is a member anew.
    Changed {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        charter: Option<Arc<str>>,
        #[serde(default, skip_serializing_if = "is_empty")]
        added: Arc<[Member]>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        removed: Vec<String>,
        at: Timestamp,
    },
    /// The member answers everything that it owes up to `upto`. The first turn's nonce is
    /// the code of the council; in earlier versions each turn had its own.
    TurnBegan {
        member: String,
        upto: u64,
        nonce: Nonce,
    },
    /// A member's answer, which is a post of its own.
    Answered {
        member: String,
        upto: u64,
        sequence: u64,
        answer: Answer,
        /// The newest post that it answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply_to: Option<u64>,
        depth: u8,
        addressed: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<String>,
        at: Timestamp,
    },
    /// The answer said nothing. It is no post.
    Passed {
        member: String,
        upto: u64,
        text: String,
        #[serde(default)]
        usage: Usage,
    },
    AnswerFailed {
        member: String,
        upto: u64,
        failure: Failure,
        partial: String,
    },
    /// What a stopped member had said.
    AnswerStopped {
        member: String,
        upto: u64,
        partial: String,
        #[serde(default, skip_serializing_if = "Usage::is_unknown")]
        usage: Usage,
    },
    Stopped,
    /// The operator of the server made a sender's token anew: earlier ones do not
    /// count any more.
    TokenRenewed {
        sender: String,
        generation: u32,
        at: Timestamp,
    },
    Closed {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        at: Timestamp,
    },
}

impl Event {
    pub fn name(&self) -> &'static str {
        match self {
            Event::Opened { .. } => "opened",
            Event::Priced(_) => "priced",
            Event::Budgeted(_) => "budgeted",
            Event::TimeOver { .. } => "timeOver",
            Event::Posted { .. } => "posted",
            Event::Changed { .. } => "changed",
            Event::TurnBegan { .. } => "turnBegan",
            Event::Answered { .. } => "answered",
            Event::Passed { .. } => "passed",
            Event::AnswerFailed { .. } => "answerFailed",
            Event::AnswerStopped { .. } => "answerStopped",
            Event::Stopped => "stopped",
            Event::TokenRenewed { .. } => "tokenRenewed",
            Event::Closed { .. } => "closed",
        }
    }

    /// The words of this event that a search should find.
    pub fn searchable(&self) -> String {
        match self {
            Event::Opened { name, charter, .. } => format!("{name}\n{charter}"),
            Event::Changed { charter, .. } => charter.as_deref().unwrap_or_default().to_owned(),
            Event::Posted { body, .. } => body.to_string(),
            Event::Answered { answer, .. } => answer.text.clone(),
            Event::Closed { summary, .. } => summary.clone().unwrap_or_default(),
            Event::Priced(_)
            | Event::Budgeted(_)
            | Event::TimeOver { .. }
            | Event::TurnBegan { .. }
            | Event::Passed { .. }
            | Event::AnswerFailed { .. }
            | Event::AnswerStopped { .. }
            | Event::Stopped
            | Event::TokenRenewed { .. } => String::new(),
        }
    }
}

fn is_empty(members: &Arc<[Member]>) -> bool {
    members.is_empty()
}
