//! What each event does to the library. Total: any event is taken in any state.

use super::{Event, State};

pub fn apply(state: Option<State>, event: &Event) -> Option<State> {
    let mut state = state.unwrap_or_default();
    match event {
        Event::AgentAdded { agent } | Event::AgentEdited { agent } => {
            state.agents.insert(agent.id.clone(), agent.clone());
        }
        Event::AgentRemoved { id } => {
            state.agents.remove(id);
            state.removed.insert(id.clone());
        }
    }
    Some(state)
}
