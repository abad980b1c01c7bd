//! What has happened on a whiteboard. A shipped event is never edited.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{AnnotationId, Choice, Content, Deadline, Note, Phase, PostId, Role, Visibility};
use crate::ids::AgentName;

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
            Event::Posted { .. } => "posted",
            Event::Annotated { .. } => "annotated",
            Event::Voted { .. } => "voted",
            Event::Transitioned { .. } => "transitioned",
        }
    }

    /// The event without its words: enough to say who may see it.
    pub(crate) fn outline(mut self) -> Event {
        match &mut self {
            Event::Opened { topic, .. } => *topic = String::new(),
            Event::Registered { domain, .. } => *domain = None,
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
            Event::Transitioned { note, .. } => *note = None,
        }
        self
    }
}
