//! What has happened to stored agents. A shipped event is never edited.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::agent::{Agent, AgentId};

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    AgentAdded {
        agent: Arc<Agent>,
    },
    /// The whole agent as it is now, also when nothing has changed: whoever repeats a
    /// request by its key finds what the first one did.
    AgentEdited {
        agent: Arc<Agent>,
    },
    AgentRemoved {
        id: AgentId,
    },
}

impl Event {
    pub fn name(&self) -> &'static str {
        match self {
            Event::AgentAdded { .. } => "agentAdded",
            Event::AgentEdited { .. } => "agentEdited",
            Event::AgentRemoved { .. } => "agentRemoved",
        }
    }
}
