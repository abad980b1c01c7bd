//! All stored agents of one store. It is a room of the common shape in which nothing
//! is ever due, so that agents are written, raced for and kept as everything else is.
//!
//! Agents that ship with the program stand in no log; the rules count them in.

mod check;
mod event;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

pub(crate) use check::agent as check_agent;
pub use event::Event;

use crate::agent::{self, Agent, AgentId, Tier};
use crate::call::{Call, Outcome};
use crate::discussion::Format;
use crate::form::{Form, Moment, Progress, Report, Ruling};
use crate::ids::{CallId, ModelName};
use crate::limits;
use crate::reject::{Reject, Wrong, settled};
use crate::room::no_session;

/// There is one library in a store, of this kind and with this name.
pub const KIND: &str = State::KIND;
pub const NAME: &str = "agents";

// ---------------------------------------------------------------------------
// State

#[derive(Clone, PartialEq, Debug, Default)]
pub struct State {
    pub agents: BTreeMap<AgentId, Arc<Agent>>,
    /// Ids of agents that were removed. None of them is ever used again: old
    /// records may speak of them.
    pub removed: BTreeSet<AgentId>,
}

/// Every agent: those that ship with the program first, then the others by name.
pub fn all(state: Option<&State>) -> Vec<Arc<Agent>> {
    let mut stored: Vec<Arc<Agent>> =
        state.into_iter().flat_map(|state| state.agents.values().cloned()).collect();
    stored.sort_by_key(|agent| agent.name.to_lowercase());
    agent::built_in().iter().cloned().chain(stored).collect()
}

// ---------------------------------------------------------------------------
// Command

#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    Add {
        /// The agent whose values it begins with, by id or name.
        copy_of: Option<String>,
        given: Given,
    },
    Edit {
        agent: String,
        given: Given,
    },
    Remove {
        agent: String,
    },
}

/// Fields of an agent as somebody gave them: `None` where nothing was said, and
/// `Some(None)` where the field is to be cleared.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Given {
    pub name: Option<String>,
    pub description: Option<String>,
    pub persona: Option<String>,
    pub model: Option<Option<ModelName>>,
    pub tier: Option<Option<Tier>>,
    pub facilitator: Option<bool>,
    pub formats: Option<Vec<Format>>,
    pub turn_ms: Option<Option<u64>>,
    pub output_tokens: Option<Option<u32>>,
    pub temperature: Option<Option<f64>>,
    pub budget_tokens: Option<Option<u64>>,
    pub budget_cost: Option<Option<f64>>,
    pub budget_ms: Option<Option<u64>>,
    pub folder: Option<Option<String>>,
    pub tools: Option<Vec<String>>,
}

// ---------------------------------------------------------------------------
// The rules

impl Form for State {
    const KIND: &'static str = "library";
    const STATUSES: &'static [&'static str] = &["open"];
    type Command = Command;
    type Event = Event;

    /// A library that is not there yet is an empty one: its first agent opens it.
    fn decide(state: Option<&Self>, command: Command, _: &Moment) -> Ruling<Event> {
        let all = all(state);
        match command {
            Command::Add { copy_of, given } => add(state, &all, copy_of.as_deref(), given),
            Command::Edit { agent, given } => {
                let before = own(&all, &agent)?;
                let mut wrong = vec![];
                let after = check::onto(&mut wrong, (*before).clone(), given);
                check::agent(&mut wrong, &after, &all);
                settled(wrong)?;
                Ok(vec![Event::AgentEdited { agent: Arc::new(after) }])
            }
            Command::Remove { agent } => {
                let gone = own(&all, &agent)?;
                Ok(vec![Event::AgentRemoved { id: gone.id.clone() }])
            }
        }
    }

    fn settle(&self, _: &CallId, _: Outcome, _: &Moment) -> Ruling<Event> {
        Err(Reject::Stale)
    }

    fn stop(&self, _: &Moment) -> Ruling<Event> {
        Err(no_session())
    }

    fn open(event: &Event, at: Timestamp) -> Option<State> {
        State::apply(Some(State::default()), event, at)
    }

    fn take(&mut self, event: &Event, _: Timestamp) {
        match event {
            Event::AgentAdded { agent } | Event::AgentEdited { agent } => {
                self.agents.insert(agent.id.clone(), agent.clone());
            }
            Event::AgentRemoved { id } => {
                self.agents.remove(id);
                self.removed.insert(id.clone());
            }
        }
    }

    fn due(&self) -> Vec<Call> {
        vec![]
    }

    /// Personas are found among the agents and nowhere else.
    fn is_listed(&self, _: &Event) -> bool {
        false
    }
}

/// It is no session, so there is nothing to tell.
impl Report for State {
    fn status(&self) -> &'static str {
        "open"
    }

    fn title(&self) -> String {
        String::new()
    }

    fn called(&self) -> Option<&str> {
        Some(NAME)
    }

    fn is_over(&self) -> bool {
        true
    }

    fn progress(&self) -> Progress {
        Progress { done: 0, total: 0, message: String::new() }
    }

    fn report(&self, _: bool) -> String {
        String::new()
    }

    fn next(&self) -> Vec<String> {
        vec![]
    }
}

fn add(
    state: Option<&State>,
    all: &[Arc<Agent>],
    copy_of: Option<&str>,
    given: Given,
) -> Ruling<Event> {
    let mut wrong = vec![];
    let model = copy_of.map(|written| agent::find(all, written)).transpose();
    let model = model.unwrap_or_else(|problem| {
        wrong.push(Wrong::new("copyOf", problem));
        None
    });
    let base = match &model {
        Some(model) => {
            let name = check::copy_name(&model.name, all);
            Agent { name, built_in: false, ..(**model).clone() }
        }
        None => check::blank(),
    };
    let is_written = given.persona.is_some() || copy_of.is_some();
    let mut agent = check::onto(&mut wrong, base, given);
    if agent.facilitator && !is_written {
        agent.persona = agent::usual_persona(&agent.description);
    }
    agent.id = check::new_id(&agent.name, all, state);
    check::agent(&mut wrong, &agent, all);
    // What a copy would have brought is not missing besides.
    if copy_of.is_some() && model.is_none() {
        wrong.retain(|wrong| !check::is_missing(wrong, &agent));
    }
    settled(wrong)?;
    if state.is_some_and(|state| state.agents.len() >= limits::AGENTS) {
        let most = limits::AGENTS;
        return Err(Reject::NotNow {
            state: "full",
            message: format!("There are {most} agents, the maximum."),
            allowed: vec!["edit", "remove"],
        });
    }
    Ok(vec![Event::AgentAdded { agent: Arc::new(agent) }])
}

/// An agent that may be changed.
fn own(all: &[Arc<Agent>], written: &str) -> Result<Arc<Agent>, Reject> {
    let agent = agent::find(all, written).map_err(|problem| {
        let end = if problem.ends_with('?') { "" } else { "." };
        Reject::Unknown(problem.replacen("there", "There", 1) + end)
    })?;
    match agent.built_in {
        false => Ok(agent),
        true => Err(Reject::NotNow {
            state: "built in",
            message: format!(
                "{} is built in and cannot be changed or removed. Make a copy to edit.",
                agent.name
            ),
            allowed: vec!["copy"],
        }),
    }
}
