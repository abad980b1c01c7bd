//! A stored agent: who somebody is, and by which model it speaks.
//!
//! A room that seats an agent takes a copy: what is edited later changes no
//! session that has begun.

mod builtin;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::budget::Allowance;
use crate::call::Workspace;
use crate::discussion::Format;
use crate::ids::ModelName;
use crate::models::distance;
use crate::names::are_same;

pub use builtin::{built_in, usual_persona};

/// How many near matches an error lists.
const NEAR: usize = 5;

/// A short name in small letters, made from the agent's name once: `the-socratic`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentId(pub String);

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    pub id: AgentId,
    pub name: String,
    /// One line for lists.
    pub description: String,
    /// The system prompt, as it is given to the model.
    pub persona: Arc<str>,
    #[serde(default)]
    pub model: ModelChoice,
    /// Made to lead discussions.
    #[serde(default)]
    pub facilitator: bool,
    /// Ships with the program; it cannot be changed or removed, only copied.
    #[serde(default)]
    pub built_in: bool,
    /// Formats that it suits best. Guidance: it may take part in any.
    #[serde(default)]
    pub formats: Vec<Format>,
    #[serde(default)]
    pub bounds: Bounds,
    /// For command-line agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Workspace>,
}

/// By which model an agent speaks. It is settled when the agent takes a seat.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ModelChoice {
    /// Whichever is there; several such agents are spread over several models.
    #[default]
    Any,
    Tier(Tier),
    Model(ModelName),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Tier {
    Fast,
    Balanced,
    Strong,
}

impl Tier {
    pub const ALL: [Tier; 3] = [Tier::Fast, Tier::Balanced, Tier::Strong];

    pub fn name(self) -> &'static str {
        match self {
            Tier::Fast => "fast",
            Tier::Balanced => "balanced",
            Tier::Strong => "strong",
        }
    }
}

/// What one agent may take in one session. `None` means the room's own limit.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bounds {
    /// Time for one turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_ms: Option<u64>,
    /// Tokens of one answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Tokens that it may use in all, those that it reads included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_cost: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ms: Option<u64>,
}

impl Bounds {
    pub fn budget(&self) -> Allowance {
        let Bounds { budget_tokens: tokens, budget_cost: cost, budget_ms: time_ms, .. } = *self;
        Allowance { tokens, cost, time_ms }
    }

    #[must_use]
    pub fn with_budget(self, Allowance { tokens, cost, time_ms }: Allowance) -> Self {
        Bounds { budget_tokens: tokens, budget_cost: cost, budget_ms: time_ms, ..self }
    }
}

/// The agent that somebody means, by its id or its name, whatever the case. The
/// error says which ones are near.
pub fn find(agents: &[Arc<Agent>], written: &str) -> Result<Arc<Agent>, String> {
    let wanted = written.trim().to_lowercase();
    let by_id = agents.iter().find(|agent| agent.id.0 == wanted);
    let by_name = || agents.iter().find(|agent| are_same(&agent.name, written));
    by_id.or_else(by_name).cloned().ok_or_else(|| {
        let near = near(agents, &wanted);
        match near.is_empty() {
            true => format!("there is no agent {written:?}"),
            false => format!("there is no agent {written:?}; did you mean {}?", near.join(", ")),
        }
    })
}

fn near(agents: &[Arc<Agent>], wanted: &str) -> Vec<String> {
    let length = wanted.chars().count();
    let score = |agent: &Arc<Agent>| {
        let name = agent.name.to_lowercase();
        let near = distance(wanted, &agent.id.0).min(distance(wanted, &name));
        // `socratic` means `the-socratic`, and so does `socrates`, by a word of it.
        let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let near = words.map(|word| distance(wanted, word)).chain([near]).min().unwrap_or(near);
        let part = length > 2 && (agent.id.0.contains(wanted) || name.contains(wanted));
        (part || near <= length / 3).then(|| (near, agent.id.0.clone()))
    };
    let mut scored: Vec<(usize, String)> = agents.iter().filter_map(score).collect();
    scored.sort();
    scored.into_iter().take(NEAR).map(|(_, id)| id).collect()
}
