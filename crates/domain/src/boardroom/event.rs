//! What has happened on a board. A shipped event is never edited.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Absent, ContextFile, Quorum, Seat, SeatId, Verdict};
use crate::call::{Answer, Failure};
use crate::ids::{ModelName, Nonce, SessionId};

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    Convened {
        prompt: Arc<str>,
        context: Arc<[ContextFile]>,
        seats: Vec<Seat>,
        synthesizers: Vec<ModelName>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quorum: Option<Quorum>,
        nonce: Nonce,
        at: Timestamp,
    },
    AdvisorAnswered {
        seat: SeatId,
        answer: Answer,
    },
    AdvisorFailed {
        seat: SeatId,
        failure: Failure,
        partial: String,
    },
    /// One was stopped by hand. What it had said follows.
    AdvisorHalted {
        seat: SeatId,
    },
    /// What a stopped advisor had said.
    AdvisorStopped {
        seat: SeatId,
        partial: String,
    },
    AdvisorRetried {
        seat: SeatId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<ModelName>,
    },
    QuorumReached {
        until: Timestamp,
    },
    SynthesisBegan {
        number: u32,
        model: ModelName,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instruction: Option<String>,
        basis: Vec<SeatId>,
        absent: Vec<Absent>,
        nonce: Nonce,
    },
    /// With `next`, that model takes over.
    SynthesisFailed {
        number: u32,
        failure: Failure,
        partial: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<ModelName>,
        nonce: Nonce,
    },
    /// What a stopped synthesizer had written.
    SynthesisStopped {
        number: u32,
        partial: String,
    },
    Synthesized {
        number: u32,
        verdict: Verdict,
        answer: Answer,
    },
    Stopped,
    Failed {
        reason: String,
    },
    Imported {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<SessionId>,
        at: Timestamp,
    },
}

impl Event {
    pub fn name(&self) -> &'static str {
        match self {
            Event::Convened { .. } => "convened",
            Event::AdvisorAnswered { .. } => "advisorAnswered",
            Event::AdvisorFailed { .. } => "advisorFailed",
            Event::AdvisorHalted { .. } => "advisorHalted",
            Event::AdvisorStopped { .. } => "advisorStopped",
            Event::AdvisorRetried { .. } => "advisorRetried",
            Event::QuorumReached { .. } => "quorumReached",
            Event::SynthesisBegan { .. } => "synthesisBegan",
            Event::SynthesisFailed { .. } => "synthesisFailed",
            Event::SynthesisStopped { .. } => "synthesisStopped",
            Event::Synthesized { .. } => "synthesized",
            Event::Stopped => "stopped",
            Event::Failed { .. } => "failed",
            Event::Imported { .. } => "imported",
        }
    }

    pub(crate) fn searchable(&self) -> String {
        match self {
            Event::Convened { prompt, .. } => prompt.to_string(),
            Event::AdvisorAnswered { answer, .. } => answer.text.clone(),
            Event::Synthesized { verdict, .. } => verdict.text.clone(),
            Event::AdvisorFailed { .. }
            | Event::AdvisorHalted { .. }
            | Event::AdvisorStopped { .. }
            | Event::AdvisorRetried { .. }
            | Event::QuorumReached { .. }
            | Event::SynthesisBegan { .. }
            | Event::SynthesisFailed { .. }
            | Event::SynthesisStopped { .. }
            | Event::Stopped
            | Event::Failed { .. }
            | Event::Imported { .. } => String::new(),
        }
    }
}
