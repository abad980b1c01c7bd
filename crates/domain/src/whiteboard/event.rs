//! What has happened on a whiteboard. A shipped event is never edited.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    Admission, AnnotationId, Choice, Content, Deadline, Note, Phase, PostId, Role, Seat, Task,
    Visibility,
};
use crate::budget::Budget;
use crate::call::{Failure, Usage};
use crate::ids::{AgentName, CallId, Nonce};
use crate::prices::Noted;
use crate::seated::Seated;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// Whoever opens a board is registered as its facilitator.
    Opened {
        name: String,
        topic: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project: Option<String>,
        by: AgentName,
        /// As whom they came in, where that is not the operator of the server.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        principal: Option<String>,
        #[serde(default, skip_serializing_if = "Admission::is_open")]
        admission: Admission,
        #[serde(default)]
        debate: Visibility,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        deadlines: Vec<Deadline>,
        at: Timestamp,
    },
    Registered {
        agent: AgentName,
        role: Role,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        domain: Option<String>,
        at: Timestamp,
    },
    /// The board's invitation was made anew: earlier ones do not count any more.
    InvitationRenewed {
        generation: u32,
        by: AgentName,
        at: Timestamp,
    },
    /// A leader lets a newcomer in, by name and in this role.
    Invited {
        agent: AgentName,
        role: Role,
        by: AgentName,
        at: Timestamp,
    },
    /// The operator of the server made an agent's token anew: earlier ones do not
    /// count any more.
    TokenRenewed {
        agent: AgentName,
        generation: u32,
        at: Timestamp,
    },
    Posted {
        id: PostId,
        author: AgentName,
        content: Content,
        at: Timestamp,
    },
    Annotated {
        id: AnnotationId,
        post: PostId,
        by: AgentName,
        note: Note,
        body: String,
        at: Timestamp,
    },
    Voted {
        post: PostId,
        by: AgentName,
        choice: Choice,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        at: Timestamp,
    },
    /// A model or a stored agent sits there as a specialist from now on, or anew: then it
    /// is asked again for what it has failed at. The first one's nonce is the code around
    /// quotations.
    Seated {
        agent: AgentName,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        domain: Option<String>,
        seat: Seat,
        nonce: Nonce,
        by: AgentName,
        at: Timestamp,
    },
    /// What the models of its seats cost.
    Priced(Noted),
    /// What its seats may spend.
    Budgeted(Budget),
    /// The time that its seats had for their answers is over.
    TimeOver {
        at: Timestamp,
    },
    /// A question to a seat was answered. What it put on the board stands before it.
    Answered {
        call: CallId,
        agent: AgentName,
        task: Task,
        #[serde(default)]
        usage: Usage,
        attempts: u32,
        bytes: u64,
        /// What the board did not take of it, and why.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<String>,
        at: Timestamp,
    },
    AnswerFailed {
        call: CallId,
        agent: AgentName,
        task: Task,
        failure: Failure,
        partial: String,
        at: Timestamp,
    },
    /// What a seat had said that was stopped, by hand or because the board went on.
    AnswerStopped {
        call: CallId,
        agent: AgentName,
        partial: String,
        #[serde(default, skip_serializing_if = "Usage::is_unknown")]
        usage: Usage,
        at: Timestamp,
    },
    /// Nobody is asked any more before the board goes on, or somebody is seated.
    Stopped {
        at: Timestamp,
    },
    /// Without `by` it was the clock. To `archived` is the end.
    Transitioned {
        to: Phase,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<AgentName>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        at: Timestamp,
    },
}

impl Event {
    pub fn name(&self) -> &'static str {
        match self {
            Event::Opened { .. } => "opened",
            Event::Registered { .. } => "registered",
            Event::InvitationRenewed { .. } => "invitationRenewed",
            Event::Invited { .. } => "invited",
            Event::TokenRenewed { .. } => "tokenRenewed",
            Event::Posted { .. } => "posted",
            Event::Annotated { .. } => "annotated",
            Event::Voted { .. } => "voted",
            Event::Seated { .. } => "seated",
            Event::Priced(_) => "priced",
            Event::Budgeted(_) => "budgeted",
            Event::TimeOver { .. } => "timeOver",
            Event::Answered { .. } => "answered",
            Event::AnswerFailed { .. } => "answerFailed",
            Event::AnswerStopped { .. } => "answerStopped",
            Event::Stopped { .. } => "stopped",
            Event::Transitioned { .. } => "transitioned",
        }
    }

    /// The event without its words: enough to say who may see it.
    pub(crate) fn outline(mut self) -> Event {
        match &mut self {
            Event::Opened { topic, .. } => *topic = String::new(),
            Event::Registered { domain, .. } => *domain = None,
            Event::InvitationRenewed { .. }
            | Event::Invited { .. }
            | Event::TokenRenewed { .. } => {}
            Event::Posted { content, .. } => {
                *content = Content {
                    kind: content.kind,
                    title: String::new(),
                    body: String::new(),
                    target_file: None,
                    target_location: None,
                    severity: None,
                    finding_refs: vec![],
                    cascade_targets: vec![],
                }
            }
            Event::Annotated { body, .. } => *body = String::new(),
            Event::Voted { reason, .. } => *reason = None,
            Event::Seated { domain, seat, .. } => {
                *domain = None;
                seat.seated = Seated::default();
            }
            Event::Answered { left_out, .. } => left_out.clear(),
            Event::AnswerFailed { failure, partial, .. } => {
                failure.message = String::new();
                *partial = String::new();
            }
            Event::AnswerStopped { partial, .. } => *partial = String::new(),
            Event::Priced(_)
            | Event::Budgeted(_)
            | Event::TimeOver { .. }
            | Event::Stopped { .. } => {}
            Event::Transitioned { note, .. } => *note = None,
        }
        self
    }
}
