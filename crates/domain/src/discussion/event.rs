//! What has happened in a discussion. A shipped event is never edited.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Decided, Estimate, Format, Participant, Seat, SeatId, Step, Why};
use crate::budget::Budget;
use crate::call::{Answer, Failure, Usage};
use crate::ids::CallId;
use crate::prices::Noted;
use crate::quote::ContextFile;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    Created {
        name: String,
        topic: Arc<str>,
        format: Format,
        #[serde(default = "none", skip_serializing_if = "is_none")]
        context: Arc<[ContextFile]>,
        facilitator: Arc<Seat>,
        participants: Arc<[Participant]>,
        max_rounds: u32,
        /// Of earlier versions only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget_tokens: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project: Option<String>,
        at: Timestamp,
    },
    /// Holds what changed.
    Edited {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        topic: Option<Arc<str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<Format>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_rounds: Option<u32>,
        at: Timestamp,
    },
    FacilitatorChanged {
        facilitator: Arc<Seat>,
        at: Timestamp,
    },
    ParticipantAdded {
        participant: Participant,
        at: Timestamp,
    },
    ParticipantRemoved {
        seat: SeatId,
        at: Timestamp,
    },
    /// What the models of the seats cost.
    Priced(Noted),
    /// What the discussion may spend.
    Budgeted(Budget),
    /// The time that it may take is over.
    TimeOver {
        at: Timestamp,
    },
    Started {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        estimate: Option<Estimate>,
        at: Timestamp,
    },
    /// This step is under way from now on, and no other.
    Began {
        #[serde(flatten)]
        step: Step,
        at: Timestamp,
    },
    Decided {
        #[serde(flatten)]
        decided: Decided,
        at: Timestamp,
    },
    Spoke {
        turn: u32,
        speaker: SeatId,
        answer: Answer,
        #[serde(default)]
        condensed: u32,
        at: Timestamp,
    },
    TurnFailed {
        turn: u32,
        speaker: SeatId,
        failure: Failure,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        partial: String,
        #[serde(default)]
        condensed: u32,
        at: Timestamp,
    },
    /// What a step had brought that was broken off.
    CutOff {
        call: CallId,
        partial: String,
        #[serde(default, skip_serializing_if = "Usage::is_unknown")]
        usage: Usage,
    },
    SynthesisFailed {
        by: SeatId,
        failure: Failure,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        partial: String,
        at: Timestamp,
    },
    Interjected {
        by: String,
        text: String,
        at: Timestamp,
    },
    PauseAsked {
        at: Timestamp,
    },
    Paused {
        next: Step,
        at: Timestamp,
    },
    Resumed {
        at: Timestamp,
    },
    Stopped {
        next: Step,
        at: Timestamp,
    },
    ConcludeAsked {
        at: Timestamp,
    },
    Failed {
        why: String,
        next: Step,
        at: Timestamp,
    },
    Concluded {
        by: SeatId,
        why: Why,
        answer: Answer,
        #[serde(default)]
        condensed: u32,
        at: Timestamp,
    },
    /// Somebody has put other words in place of the conclusion.
    ConclusionEdited {
        by: String,
        text: String,
        at: Timestamp,
    },
}

fn none() -> Arc<[ContextFile]> {
    Arc::from([])
}

fn is_none(files: &Arc<[ContextFile]>) -> bool {
    files.is_empty()
}

impl Event {
    /// The event's name, as the log and live readers know it.
    pub fn name(&self) -> &'static str {
        match self {
            Event::Created { .. } => "created",
            Event::Edited { .. } => "edited",
            Event::FacilitatorChanged { .. } => "facilitatorChanged",
            Event::ParticipantAdded { .. } => "participantAdded",
            Event::ParticipantRemoved { .. } => "participantRemoved",
            Event::Priced(_) => "priced",
            Event::Budgeted(_) => "budgeted",
            Event::TimeOver { .. } => "timeOver",
            Event::Started { .. } => "started",
            Event::Began { .. } => "began",
            Event::Decided { .. } => "decided",
            Event::Spoke { .. } => "spoke",
            Event::TurnFailed { .. } => "turnFailed",
            Event::CutOff { .. } => "cutOff",
            Event::SynthesisFailed { .. } => "synthesisFailed",
            Event::Interjected { .. } => "interjected",
            Event::PauseAsked { .. } => "pauseAsked",
            Event::Paused { .. } => "paused",
            Event::Resumed { .. } => "resumed",
            Event::Stopped { .. } => "stopped",
            Event::ConcludeAsked { .. } => "concludeAsked",
            Event::Failed { .. } => "failed",
            Event::Concluded { .. } => "concluded",
            Event::ConclusionEdited { .. } => "conclusionEdited",
        }
    }

    /// Words that full-text search should find.
    pub fn searchable(&self) -> String {
        match self {
            Event::Created { name, topic, .. } => format!("{name}\n{topic}"),
            Event::Edited { name, topic, .. } => {
                let (name, topic) = (name.as_deref(), topic.as_deref());
                format!("{}\n{}", name.unwrap_or_default(), topic.unwrap_or_default())
            }
            Event::Decided { decided, .. } => {
                let question = decided.question.as_deref().unwrap_or_default();
                format!("{}\n{question}", decided.reasoning)
            }
            Event::Spoke { answer, .. } | Event::Concluded { answer, .. } => answer.text.clone(),
            Event::Interjected { text, .. } | Event::ConclusionEdited { text, .. } => text.clone(),
            Event::FacilitatorChanged { .. }
            | Event::ParticipantAdded { .. }
            | Event::ParticipantRemoved { .. }
            | Event::Priced(_)
            | Event::Budgeted(_)
            | Event::TimeOver { .. }
            | Event::Started { .. }
            | Event::Began { .. }
            | Event::TurnFailed { .. }
            | Event::CutOff { .. }
            | Event::SynthesisFailed { .. }
            | Event::PauseAsked { .. }
            | Event::Paused { .. }
            | Event::Resumed { .. }
            | Event::Stopped { .. }
            | Event::ConcludeAsked { .. }
            | Event::Failed { .. } => String::new(),
        }
    }
}
