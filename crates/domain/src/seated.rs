//! Whoever sits anywhere: what goes with a model in a seat, in every form alike.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::agent::{Agent, AgentId};
use crate::call::{Ask, Workspace};
use crate::limits;
use crate::reject::Wrong;

/// Who speaks by a model, and how it is asked. A copy: what is edited later changes no
/// session that has begun.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Seated {
    /// The stored agent that this is a copy of, and what it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Who it is, said to the model.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub persona: Arc<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Tokens of one answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u32>,
    /// Time for one answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_ms: Option<u64>,
    /// For command-line agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Workspace>,
}

impl Seated {
    /// A copy of a stored agent.
    pub fn of(agent: &Agent) -> Self {
        Seated {
            agent: Some(agent.id.clone()),
            name: agent.name.clone(),
            persona: agent.persona.clone(),
            temperature: agent.bounds.temperature,
            output_tokens: agent.bounds.output_tokens,
            turn_ms: agent.bounds.turn_ms,
            workspace: agent.workspace.clone(),
        }
    }

    /// A model as it is, and nobody in particular.
    pub fn is_plain(&self) -> bool {
        *self == Seated::default()
    }

    /// The same with what a seat says of its own in place of what the agent has.
    #[must_use]
    pub fn with(self, temperature: Option<f64>, output_tokens: Option<u32>) -> Self {
        Seated {
            temperature: temperature.or(self.temperature),
            output_tokens: output_tokens.or(self.output_tokens),
            ..self
        }
    }

    /// A system prompt of the room, after who it is.
    pub fn system(&self, words: &str) -> String {
        let parts = [self.persona.trim(), words.trim()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    /// A request as it is asked here.
    #[must_use]
    pub fn asked(&self, mut ask: Ask) -> Ask {
        ask.temperature = self.temperature;
        ask.workspace.clone_from(&self.workspace);
        ask.patience.answer_tokens = self.output_tokens.unwrap_or(ask.patience.answer_tokens);
        ask.patience.answer_ms = self.turn_ms.unwrap_or(ask.patience.answer_ms);
        ask
    }

    pub(crate) fn check(&self, wrong: &mut Vec<Wrong>, field: impl Fn(&str) -> String) {
        check_settings(wrong, field, self.temperature, self.output_tokens);
    }
}

/// What a seat may say of how its model is asked.
pub(crate) fn check_settings(
    wrong: &mut Vec<Wrong>,
    field: impl Fn(&str) -> String,
    temperature: Option<f64>,
    output_tokens: Option<u32>,
) {
    let most = limits::TEMPERATURE_MOST;
    if temperature.is_some_and(|given| !(0.0..=most).contains(&given)) {
        wrong.push(Wrong::new(field("temperature"), format!("must be from 0 to {most}")));
    }
    let (least, most) = (limits::OUTPUT_TOKENS_LEAST, limits::OUTPUT_TOKENS_MOST);
    if output_tokens.is_some_and(|given| !(least..=most).contains(&given)) {
        let problem = format!("must be from {least} to {most} tokens");
        wrong.push(Wrong::new(field("outputTokens"), problem));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::built_in;
    use crate::call::{Patience, Shape};
    use crate::ids::ModelName;

    #[test]
    fn a_copy_says_who_it_is_before_what_the_room_says() {
        let agent = &built_in()[0];
        let seated = Seated::of(agent);
        assert_eq!(
            seated.system("Find risks."),
            format!("{}\n\nFind risks.", agent.persona.trim())
        );
        assert_eq!(Seated::default().system(" Find risks.\n"), "Find risks.");
        assert!(Seated::default().is_plain() && !seated.is_plain());
    }

    #[test]
    fn what_a_seat_says_goes_before_what_the_agent_has() {
        let agent =
            Seated { temperature: Some(0.9), output_tokens: Some(100), ..Seated::default() };
        let ask = Ask {
            model: ModelName::new("m", "1"),
            system: String::new(),
            messages: vec![],
            shape: Shape::Free,
            patience: Patience::default(),
            temperature: None,
            workspace: None,
        };
        let asked = agent.clone().with(Some(0.0), None).asked(ask.clone());
        assert_eq!((asked.temperature, asked.patience.answer_tokens), (Some(0.0), 100));
        assert_eq!(Seated::default().asked(ask.clone()), ask);
    }
}
