//! Who sits somewhere: a model by its name or tier, or a stored agent, in every form alike.

use std::sync::Arc;

use plenary_domain::agent::{self, Agent, ModelChoice, Tier};
use plenary_domain::{Allowance, ModelName, Seated};

use crate::models::{self, Names, NoModel};
use crate::{Clerk, Result, agents};

/// Who is wanted, as it was written.
#[derive(Clone, Copy, Default)]
pub(crate) struct Wanted<'a> {
    /// A model; `@name` means a stored agent.
    pub model: Option<&'a str>,
    pub tier: Option<Tier>,
    pub agent: Option<&'a str>,
    pub temperature: Option<f64>,
    pub output_tokens: Option<u32>,
}

/// Who that is here.
pub(crate) struct Found {
    pub model: ModelName,
    pub seated: Seated,
    /// What the agent may spend, where it is one.
    pub budget: Allowance,
}

impl Found {
    /// Stands in where nobody could be found. Nothing is opened with it.
    pub(crate) fn nobody() -> Self {
        let (seated, budget) = (Seated::default(), Allowance::default());
        Found { model: models::unknown(), seated, budget }
    }
}

/// A field of the request, and what is wrong with it.
pub(crate) type Fault = (&'static str, String);

/// Looks up who is meant, and asks providers and library at most once.
pub(crate) struct Sitters<'a> {
    clerk: &'a Clerk,
    pub names: Names<'a>,
    /// Agents that go before stored ones of that name.
    brought: Vec<Arc<Agent>>,
    stored: Option<Vec<Arc<Agent>>>,
}

impl<'a> Sitters<'a> {
    pub(crate) fn new(clerk: &'a Clerk, brought: Vec<Arc<Agent>>) -> Self {
        Sitters { clerk, names: Names::new(clerk), brought, stored: None }
    }

    pub(crate) fn clerk(&self) -> &'a Clerk {
        self.clerk
    }

    /// Who is meant. `pool` has the models for whoever names none, in turn; without one it
    /// is whichever is there. The outer error says that there is no model at all.
    pub(crate) async fn find(
        &mut self,
        wanted: Wanted<'_>,
        place: usize,
        pool: &[ModelName],
    ) -> Result<Result<Found, Fault>, NoModel> {
        let called = wanted.model.and_then(|model| model.trim().strip_prefix('@'));
        let (agent, model) = match (wanted.agent, called) {
            (Some(_), Some(_)) => return Ok(Err(("agent", TWO.into()))),
            (agent, None) => (agent, wanted.model),
            (None, called) => (called, None),
        };
        if model.is_some() && wanted.tier.is_some() {
            return Ok(Err(("tier", "give either a model or a tier, not both".into())));
        }
        let agent = match agent {
            Some(written) => match self.agent(written).await {
                Ok(agent) => Some(agent),
                Err(problem) => return Ok(Err(("agent", problem))),
            },
            None => None,
        };
        let own = match (model, wanted.tier, &agent) {
            (Some(written), _, _) => match self.names.find(written).await {
                Ok(model) => return Ok(self.seat(model, agent, wanted)),
                Err(problem) => return Ok(Err(("model", problem))),
            },
            (None, Some(tier), _) => ModelChoice::Tier(tier),
            (None, None, Some(agent)) => agent.model.clone(),
            (None, None, None) => ModelChoice::Any,
        };
        let model = match own {
            ModelChoice::Model(model) => match self.names.find(&model.0).await {
                Ok(model) => model,
                Err(problem) => {
                    let problem = format!("uses a model that is not available: {problem}");
                    return Ok(Err(("agent", problem)));
                }
            },
            ModelChoice::Tier(tier) => self.names.tier(tier).await?,
            ModelChoice::Any if pool.is_empty() => self.names.any(place).await?,
            ModelChoice::Any => pool[place % pool.len()].clone(),
        };
        Ok(self.seat(model, agent, wanted))
    }

    fn seat(
        &self,
        model: ModelName,
        agent: Option<Arc<Agent>>,
        wanted: Wanted<'_>,
    ) -> Result<Found, Fault> {
        let settings = [
            ("temperature", wanted.temperature.is_some()),
            ("outputTokens", wanted.output_tokens.is_some()),
        ];
        let said = settings.into_iter().find(|(_, said)| *said);
        if let (Some((field, _)), false) = (said, self.clerk.engine.models().is_adjustable(&model))
        {
            let problem = format!("{model} is a command-line agent, which does not take this");
            return Err((field, problem));
        }
        let seated = agent.as_deref().map(Seated::of).unwrap_or_default();
        let budget = agent.map(|agent| agent.bounds.budget()).unwrap_or_default();
        let seated = seated.with(wanted.temperature, wanted.output_tokens);
        Ok(Found { model, seated, budget })
    }

    /// A stored agent, or one that was brought along.
    pub(crate) async fn agent(&mut self, written: &str) -> Result<Arc<Agent>, String> {
        let brought = self.brought.iter().find(|agent| agent.id.0 == written);
        if let Some(agent) = brought {
            return Ok(agent.clone());
        }
        if self.stored.is_none() {
            let all = agents::all(self.clerk).await;
            self.stored = Some(all.map_err(|_| "the saved agents cannot be read".to_owned())?);
        }
        agent::find(self.stored.as_deref().unwrap_or_default(), written)
    }
}

const TWO: &str = "give one agent, either here or as the model";
