//! What has happened to a stored workflow and its runs. A shipped event is never edited.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::{Nonce, SessionId};
use crate::workflow::{Definition, End};

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// A version, as it was written and as it was read.
    Stored {
        version: u32,
        source: Arc<str>,
        definition: Arc<Definition>,
        /// That of the first version makes the keys of its runs ones that nobody can choose.
        nonce: Nonce,
        by: String,
        at: Timestamp,
    },
    Removed {
        by: String,
        at: Timestamp,
    },
    /// A run is to begin.
    Triggered {
        number: u64,
        version: u32,
        how: How,
        inputs: Map<String, Value>,
        starter: String,
        /// What `one_per` comes to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        at: Timestamp,
    },
    /// A trigger that started nothing.
    Skipped {
        how: How,
        why: String,
        at: Timestamp,
    },
    /// Times of the cron trigger, from the one and before the other, that nobody kept.
    Missed {
        from: Timestamp,
        until: Timestamp,
        at: Timestamp,
    },
    /// The run has begun.
    Opened {
        number: u64,
        run: SessionId,
        at: Timestamp,
    },
    /// It could not begin.
    StartFailed {
        number: u64,
        why: String,
        at: Timestamp,
    },
    /// It was given up before it began.
    Dropped {
        number: u64,
        why: String,
        at: Timestamp,
    },
    /// It is to end, because another takes its place.
    StopAsked {
        number: u64,
        at: Timestamp,
    },
    /// It was told to end, whether it could or not.
    StopTried {
        number: u64,
        at: Timestamp,
    },
    RunEnded {
        number: u64,
        run: SessionId,
        status: End,
        /// Why it was not done.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
        at: Timestamp,
    },
    /// Signals could not be listened for.
    ListenFailed {
        why: String,
        again_at: Timestamp,
        at: Timestamp,
    },
    ListenAgain {
        at: Timestamp,
    },
}

/// How a run was started.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum How {
    Cron {
        due_at: Timestamp,
    },
    /// `sent_at` is missing from what is so from then on, such as that a board has reached
    /// a phase: it starts one run.
    Signal {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        number: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sent_at: Option<Timestamp>,
    },
    /// The delivery's id.
    Webhook {
        id: String,
    },
    /// Somebody, under an id that was given with it.
    Person {
        run: SessionId,
        /// As whom they came in: the run is theirs, whoever opens it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        opener: String,
    },
}

impl How {
    /// The word for it.
    pub fn name(&self) -> &'static str {
        match self {
            How::Cron { .. } => "cron",
            How::Signal { .. } => "signal",
            How::Webhook { .. } => "webhook",
            How::Person { .. } => "person",
        }
    }
}

impl Event {
    /// The event's name, as the log and live readers know it.
    pub fn name(&self) -> &'static str {
        match self {
            Event::Stored { .. } => "stored",
            Event::Removed { .. } => "removed",
            Event::Triggered { .. } => "triggered",
            Event::Skipped { .. } => "skipped",
            Event::Missed { .. } => "missed",
            Event::Opened { .. } => "opened",
            Event::StartFailed { .. } => "startFailed",
            Event::Dropped { .. } => "dropped",
            Event::StopAsked { .. } => "stopAsked",
            Event::StopTried { .. } => "stopTried",
            Event::RunEnded { .. } => "runEnded",
            Event::ListenFailed { .. } => "listenFailed",
            Event::ListenAgain { .. } => "listenAgain",
        }
    }
}
