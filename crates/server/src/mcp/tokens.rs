//! The agents that an MCP session may act as.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use plenary_domain::limits;

/// Tokens that were handed to this session, by caller, place and agent. One
/// session may hold several agents; another session holds none of them.
#[derive(Default)]
pub struct Agents {
    tokens: Mutex<BTreeMap<Agent, String>>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Agent {
    /// Who spoke when the agent was registered: a session's number is no proof.
    pub caller: String,
    /// The board or council where it is known.
    pub place: String,
    pub name: String,
}

impl Agents {
    pub fn token(&self, agent: &Agent) -> Option<String> {
        self.tokens().get(agent).cloned()
    }

    pub fn remember(&self, agent: Agent, token: &str) {
        let mut tokens = self.tokens();
        while tokens.len() >= limits::MCP_AGENTS && !tokens.contains_key(&agent) {
            tokens.pop_first();
        }
        tokens.insert(agent, token.to_owned());
    }

    fn tokens(&self) -> MutexGuard<'_, BTreeMap<Agent, String>> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
