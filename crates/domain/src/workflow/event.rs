//! What has happened in a run. A shipped event is never edited.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::definition::{AtDeadline, Definition};
use super::kinds::Act;
use super::signal::Signal;
use crate::budget::Allowance;
use crate::call::{Answer, Failure, Usage};
use crate::ids::{CallId, ModelName, Nonce, SessionId};
use crate::prices::Noted;
use crate::seated::Seated;
pub use crate::whiteboard::told::MayNote;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// The definition is copied here and never changes.
    Begun {
        run: SessionId,
        definition: Arc<Definition>,
        /// The file as it was written.
        source: Arc<str>,
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        inputs: Map<String, Value>,
        title: String,
        starter: String,
        /// The run that this one is a step of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<SessionId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        forked: Option<Forked>,
        nonce: Nonce,
        at: Timestamp,
    },
    /// The step is under way; what it does is worked out once and for all.
    StepBegan {
        place: Place,
        doing: Doing,
        at: Timestamp,
    },
    /// The step has opened a session, and waits for its end from now on.
    SessionOpened {
        place: Place,
        session: String,
        at: Timestamp,
    },
    /// What was about to be opened when nobody wanted it any more was not.
    NotOpened {
        place: Place,
        at: Timestamp,
    },
    /// The session that the step is about to open may spend this much.
    Granted {
        place: Place,
        most: Allowance,
        at: Timestamp,
    },
    /// It is known who answers, and what that seat sees.
    SeatFound {
        place: Place,
        seat: Seat,
        at: Timestamp,
    },
    Answered {
        place: Place,
        answer: Answer,
        at: Timestamp,
    },
    /// A person has decided, which is not yet the end where more have to.
    Decided {
        place: Place,
        by: String,
        decision: Decision,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        fields: Map<String, Value>,
        at: Timestamp,
    },
    RoundEnded {
        place: Place,
        round: u32,
        output: Value,
        at: Timestamp,
    },
    /// An attempt has failed, and there will be another.
    AttemptFailed {
        place: Place,
        failure: Failure,
        again_at: Timestamp,
        at: Timestamp,
    },
    AttemptBegan {
        place: Place,
        at: Timestamp,
    },
    StepDone {
        place: Place,
        output: Value,
        at: Timestamp,
    },
    StepSkipped {
        place: Place,
        why: String,
        at: Timestamp,
    },
    StepFailed {
        place: Place,
        why: String,
        /// What there is all the same: the items of a `foreach`.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        output: Value,
        /// How its last attempt failed, if it came to one. One that the clock has ended had
        /// no attempts of its own to tell of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
        at: Timestamp,
    },
    StepCancelled {
        place: Place,
        why: String,
        at: Timestamp,
    },
    CancelAsked {
        by: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
        at: Timestamp,
    },
    /// What a question took that was broken off.
    CutOff {
        call: CallId,
        #[serde(default, skip_serializing_if = "Usage::is_unknown")]
        usage: Usage,
    },
    /// What a session took that a step has opened, when it has ended.
    SessionSpent {
        session: String,
        took: Took,
    },
    /// A session that the run had opened was ended with it.
    SessionEnded {
        session: String,
        at: Timestamp,
    },
    /// Nothing but `finally` is under way from now on.
    FinallyBegan {
        ending: Ending,
        until: Timestamp,
        at: Timestamp,
    },
    Ended {
        ending: Ending,
        at: Timestamp,
    },
}

/// What a session took, by model, and the prices that it went by.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Took {
    pub models: BTreeMap<ModelName, Usage>,
    pub prices: Noted,
}

/// A step in a run: its id, with the item or round around it: `propose/2/post`. The state
/// has thousands of them and is copied for every decision, so that a copy shares the text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Place(pub Arc<str>);

impl Place {
    pub fn top(id: &str) -> Self {
        Place(id.into())
    }

    /// A step in the item or round of this number, from 1.
    pub fn inside(&self, number: u32, id: &str) -> Self {
        Place(format!("{self}/{number}/{id}").into())
    }

    /// The id of the step.
    pub fn id(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// The step of the file's first level that it stands in, or is.
    pub fn outermost(&self) -> &str {
        self.0.split('/').next().unwrap_or_default()
    }

    /// The `foreach` or `repeat` around it, and in which item or round it stands.
    pub fn around(&self) -> Option<(Place, u32)> {
        let (outer, _) = self.0.rsplit_once('/')?;
        let (outer, number) = outer.rsplit_once('/')?;
        Some((Place(outer.into()), number.parse().ok()?))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a step does, with every value worked out.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Doing {
    Act {
        act: Act,
        with: Map<String, Value>,
    },
    Sleep {
        until: Timestamp,
    },
    Wait {
        all: bool,
        signals: Vec<Signal>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    Approve {
        who: Vec<String>,
        need: u32,
        #[serde(default, skip_serializing_if = "Value::is_null")]
        show: Value,
        #[serde(default, skip_serializing_if = "Value::is_null")]
        evidence: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
        at_deadline: AtDeadline,
    },
    /// The items are fixed here.
    Foreach {
        items: Vec<Value>,
    },
    Repeat {},
}

/// Who answers a question, and what they see.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Seat {
    pub model: ModelName,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub system: String,
    /// What the seat may see, as text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub view: String,
    /// Posts that it is to vote on, or may annotate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub posts: Vec<String>,
    /// What it may write about posts, where it is asked for that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<MayNote>,
    /// Of the model, as far as they are known.
    #[serde(default, skip_serializing_if = "is_unpriced")]
    pub prices: Noted,
    /// The stored agent that answers, and how it is asked.
    #[serde(default, skip_serializing_if = "Seated::is_plain")]
    pub seated: Seated,
}

fn is_unpriced(prices: &Noted) -> bool {
    prices.models.is_empty()
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    Approved,
    Rejected,
    Changes,
}

impl Decision {
    pub fn name(self) -> &'static str {
        match self {
            Decision::Approved => "approved",
            Decision::Rejected => "rejected",
            Decision::Changes => "changes",
        }
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ending {
    pub status: End,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub outputs: Map<String, Value>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum End {
    Done,
    Failed,
    Cancelled,
}

impl End {
    pub fn name(self) -> &'static str {
        match self {
            End::Done => "done",
            End::Failed => "failed",
            End::Cancelled => "cancelled",
        }
    }
}

/// The run that this one goes on from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Forked {
    pub run: SessionId,
    pub from: String,
    /// What had been settled there and is taken over.
    pub steps: Vec<Copied>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Copied {
    pub place: Place,
    /// `None` for one that was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
}

impl Event {
    /// The event's name, as the log and live readers know it.
    pub fn name(&self) -> &'static str {
        match self {
            Event::Begun { .. } => "begun",
            Event::StepBegan { .. } => "stepBegan",
            Event::SessionOpened { .. } => "sessionOpened",
            Event::NotOpened { .. } => "notOpened",
            Event::Granted { .. } => "granted",
            Event::SeatFound { .. } => "seatFound",
            Event::Answered { .. } => "answered",
            Event::Decided { .. } => "decided",
            Event::RoundEnded { .. } => "roundEnded",
            Event::AttemptFailed { .. } => "attemptFailed",
            Event::AttemptBegan { .. } => "attemptBegan",
            Event::StepDone { .. } => "stepDone",
            Event::StepSkipped { .. } => "stepSkipped",
            Event::StepFailed { .. } => "stepFailed",
            Event::StepCancelled { .. } => "stepCancelled",
            Event::CancelAsked { .. } => "cancelAsked",
            Event::CutOff { .. } => "cutOff",
            Event::SessionSpent { .. } => "sessionSpent",
            Event::SessionEnded { .. } => "sessionEnded",
            Event::FinallyBegan { .. } => "finallyBegan",
            Event::Ended { .. } => "ended",
        }
    }

    /// Words that full-text search should find.
    pub fn searchable(&self) -> String {
        match self {
            Event::Begun { title, definition, .. } => {
                format!("{title}\n{}\n{}", definition.name, definition.description)
            }
            Event::Answered { answer, .. } => answer.text.clone(),
            Event::Decided { reason, .. } | Event::CancelAsked { reason, .. } => reason.clone(),
            Event::StepBegan { .. }
            | Event::SessionOpened { .. }
            | Event::NotOpened { .. }
            | Event::Granted { .. }
            | Event::SeatFound { .. }
            | Event::RoundEnded { .. }
            | Event::AttemptFailed { .. }
            | Event::AttemptBegan { .. }
            | Event::StepDone { .. }
            | Event::StepSkipped { .. }
            | Event::StepFailed { .. }
            | Event::StepCancelled { .. }
            | Event::CutOff { .. }
            | Event::SessionSpent { .. }
            | Event::SessionEnded { .. }
            | Event::FinallyBegan { .. }
            | Event::Ended { .. } => String::new(),
        }
    }
}
