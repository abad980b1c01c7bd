//! What has happened on a board. A shipped event is never edited.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    Absent, Addressed, Brief, ContextFile, ContributionId, Point, Quorum, Seat, SeatId, Terms,
    Verdict, Vote, Voter,
};
use crate::budget::Budget;
use crate::call::{Answer, Failure, Usage};
use crate::ids::{CallId, ModelName, Nonce, SessionId};
use crate::prices::Noted;

/// The first event's nonce is the code of the board. Those of the others were codes of
/// single calls in earlier versions, and count for nothing any more.
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
        #[serde(default, skip_serializing_if = "is_off")]
        ballot: bool,
        #[serde(default, skip_serializing_if = "is_off")]
        open_answers: bool,
        #[serde(default, skip_serializing_if = "Terms::is_plain")]
        terms: Terms,
        #[serde(default, skip_serializing_if = "Brief::is_empty")]
        brief: Arc<Brief>,
        nonce: Nonce,
        at: Timestamp,
    },
    /// What models cost that have come to the board.
    Priced(Noted),
    /// What the board may spend.
    Budgeted(Budget),
    /// The time that it may take is over.
    TimeOver {
        at: Timestamp,
    },
    AdvisorAnswered {
        seat: SeatId,
        /// Which of the answers that were asked for at once; the last, where it is not said.
        #[serde(rename = "try", default, skip_serializing_if = "Option::is_none")]
        asked: Option<u32>,
        answer: Answer,
    },
    AdvisorFailed {
        seat: SeatId,
        #[serde(rename = "try", default, skip_serializing_if = "Option::is_none")]
        asked: Option<u32>,
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
        #[serde(rename = "try", default, skip_serializing_if = "Option::is_none")]
        asked: Option<u32>,
        partial: String,
        #[serde(default, skip_serializing_if = "Usage::is_unknown")]
        usage: Usage,
    },
    /// What a stopped call had brought that was asked for again before it could hand it
    /// back.
    Overtaken {
        call: CallId,
        partial: String,
        #[serde(default, skip_serializing_if = "Usage::is_unknown")]
        usage: Usage,
    },
    AdvisorRetried {
        seat: SeatId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<ModelName>,
    },
    /// One of its answers to the last question counts, and no other.
    AdvisorPicked {
        seat: SeatId,
        #[serde(rename = "try")]
        asked: u32,
    },
    /// A further question to some or all of the seats, which begins a round.
    FollowedUp {
        round: u32,
        prompt: Arc<str>,
        asked: Vec<Addressed>,
        #[serde(default, skip_serializing_if = "Brief::is_empty")]
        brief: Arc<Brief>,
        at: Timestamp,
    },
    /// What the conversation until now is known by to whoever holds it elsewhere: one that
    /// is known by the same goes on here.
    Threaded {
        key: String,
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
        /// Of those, which answers, where it is not simply the last of each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        contributions: Vec<ContributionId>,
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
        #[serde(default, skip_serializing_if = "Usage::is_unknown")]
        usage: Usage,
    },
    Synthesized {
        number: u32,
        verdict: Verdict,
        answer: Answer,
    },
    /// The advisors vote on these points; what is beyond the limit is left out.
    BallotBegan {
        number: u32,
        points: Vec<Point>,
        #[serde(default, skip_serializing_if = "is_none_left")]
        left_out: u32,
        voters: Vec<Voter>,
        nonce: Nonce,
    },
    /// The synthesis has no points to vote on.
    BallotSkipped {
        number: u32,
        reason: String,
    },
    /// A model's answer stands beside the votes that were read from it; a person has
    /// none.
    BallotCast {
        number: u32,
        seat: SeatId,
        votes: Vec<Vote>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<Answer>,
    },
    BallotFailed {
        number: u32,
        seat: SeatId,
        failure: Failure,
        partial: String,
    },
    /// One was passed over by hand. What it had written follows.
    BallotHalted {
        number: u32,
        seat: SeatId,
    },
    /// What a stopped advisor had written of its votes.
    BallotStopped {
        number: u32,
        seat: SeatId,
        partial: String,
        #[serde(default, skip_serializing_if = "Usage::is_unknown")]
        usage: Usage,
    },
    /// Those whose ballots were stopped are asked again.
    BallotResumed {
        number: u32,
        voters: Vec<Voter>,
        nonce: Nonce,
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

fn is_off(is: &bool) -> bool {
    !is
}

fn is_none_left(count: &u32) -> bool {
    *count == 0
}

impl Event {
    pub fn name(&self) -> &'static str {
        match self {
            Event::Convened { .. } => "convened",
            Event::Priced(_) => "priced",
            Event::Budgeted(_) => "budgeted",
            Event::TimeOver { .. } => "timeOver",
            Event::AdvisorAnswered { .. } => "advisorAnswered",
            Event::AdvisorFailed { .. } => "advisorFailed",
            Event::AdvisorHalted { .. } => "advisorHalted",
            Event::AdvisorStopped { .. } => "advisorStopped",
            Event::Overtaken { .. } => "overtaken",
            Event::AdvisorRetried { .. } => "advisorRetried",
            Event::AdvisorPicked { .. } => "advisorPicked",
            Event::FollowedUp { .. } => "followedUp",
            Event::Threaded { .. } => "threaded",
            Event::QuorumReached { .. } => "quorumReached",
            Event::SynthesisBegan { .. } => "synthesisBegan",
            Event::SynthesisFailed { .. } => "synthesisFailed",
            Event::SynthesisStopped { .. } => "synthesisStopped",
            Event::Synthesized { .. } => "synthesized",
            Event::BallotBegan { .. } => "ballotBegan",
            Event::BallotSkipped { .. } => "ballotSkipped",
            Event::BallotCast { .. } => "ballotCast",
            Event::BallotFailed { .. } => "ballotFailed",
            Event::BallotHalted { .. } => "ballotHalted",
            Event::BallotStopped { .. } => "ballotStopped",
            Event::BallotResumed { .. } => "ballotResumed",
            Event::Stopped => "stopped",
            Event::Failed { .. } => "failed",
            Event::Imported { .. } => "imported",
        }
    }

    /// Requests that were made for what it settles.
    pub(super) fn requests(&self) -> u32 {
        match self {
            Event::AdvisorAnswered { answer, .. }
            | Event::Synthesized { answer, .. }
            | Event::BallotCast { answer: Some(answer), .. } => answer.attempts,
            Event::AdvisorFailed { failure, .. }
            | Event::SynthesisFailed { failure, .. }
            | Event::BallotFailed { failure, .. } => failure.attempts,
            Event::Convened { .. }
            | Event::Priced(_)
            | Event::Budgeted(_)
            | Event::TimeOver { .. }
            | Event::AdvisorHalted { .. }
            | Event::AdvisorStopped { .. }
            | Event::Overtaken { .. }
            | Event::AdvisorRetried { .. }
            | Event::AdvisorPicked { .. }
            | Event::FollowedUp { .. }
            | Event::Threaded { .. }
            | Event::QuorumReached { .. }
            | Event::SynthesisBegan { .. }
            | Event::SynthesisStopped { .. }
            | Event::BallotBegan { .. }
            | Event::BallotSkipped { .. }
            | Event::BallotCast { answer: None, .. }
            | Event::BallotHalted { .. }
            | Event::BallotStopped { .. }
            | Event::BallotResumed { .. }
            | Event::Stopped
            | Event::Failed { .. }
            | Event::Imported { .. } => 1,
        }
    }

    pub(crate) fn searchable(&self) -> String {
        match self {
            Event::Convened { prompt, .. } | Event::FollowedUp { prompt, .. } => prompt.to_string(),
            Event::AdvisorAnswered { answer, .. } => answer.text.clone(),
            Event::Synthesized { verdict, .. } => verdict.text.clone(),
            Event::BallotCast { votes, .. } => {
                votes.iter().map(|vote| vote.reason.as_str()).collect::<Vec<_>>().join("\n")
            }
            Event::Priced(_)
            | Event::Budgeted(_)
            | Event::TimeOver { .. }
            | Event::AdvisorFailed { .. }
            | Event::AdvisorHalted { .. }
            | Event::AdvisorStopped { .. }
            | Event::Overtaken { .. }
            | Event::AdvisorRetried { .. }
            | Event::AdvisorPicked { .. }
            | Event::Threaded { .. }
            | Event::QuorumReached { .. }
            | Event::SynthesisBegan { .. }
            | Event::SynthesisFailed { .. }
            | Event::SynthesisStopped { .. }
            | Event::BallotBegan { .. }
            | Event::BallotSkipped { .. }
            | Event::BallotFailed { .. }
            | Event::BallotHalted { .. }
            | Event::BallotStopped { .. }
            | Event::BallotResumed { .. }
            | Event::Stopped
            | Event::Failed { .. }
            | Event::Imported { .. } => String::new(),
        }
    }
}
