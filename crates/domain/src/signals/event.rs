//! What was sent. A shipped event is never edited.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    Sent {
        name: String,
        number: u64,
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        fields: Map<String, Value>,
        by: String,
        at: Timestamp,
    },
}

impl Event {
    pub fn name(&self) -> &'static str {
        match self {
            Event::Sent { .. } => "sent",
        }
    }
}
