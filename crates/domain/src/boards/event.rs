//! What has happened to saved boards. A shipped event is never edited.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::board::Board;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    BoardAdded {
        board: Arc<Board>,
    },
    /// The whole board as it is now, also when nothing has changed: whoever repeats a
    /// request by its key finds what the first one did.
    BoardEdited {
        board: Arc<Board>,
    },
    BoardRemoved {
        name: String,
    },
}

impl Event {
    pub fn name(&self) -> &'static str {
        match self {
            Event::BoardAdded { .. } => "boardAdded",
            Event::BoardEdited { .. } => "boardEdited",
            Event::BoardRemoved { .. } => "boardRemoved",
        }
    }
}
