//! Who answers a question of a run, and what that seat may see.

use std::sync::Arc;

use plenary_domain::agent::{Agent, ModelChoice, Tier};
use plenary_domain::workflow::gives;
use plenary_domain::{FailureKind, ModelName, Seated};
use plenary_engine::Snapshot;
use plenary_engine::ports::ErrandError;
use serde_json::{Map, Value, json};

use super::{Deed, Run, agent_of, failed, own, text, why};
use crate::identity::Proven;
use crate::models::Names;
use crate::{ClerkError, Result, agents, whiteboards};

impl Run<'_> {
    pub(super) async fn look(
        &self,
        act: &str,
        with: &Map<String, Value>,
    ) -> Result<Value, ErrandError> {
        match act {
            "ask" => self.whoever(with).await,
            _ => self.seated(act, with).await,
        }
    }

    /// Who is asked by name, by model or by tier; whoever is there, if nobody is named.
    async fn whoever(&self, with: &Map<String, Value>) -> Result<Value, ErrandError> {
        let mut names = Names::new(self.clerk);
        let mut seated = Seated::default();
        let (model, system) = match (own(with, "agent"), own(with, "model"), own(with, "tier")) {
            (Some(agent), _, _) => {
                let agent = agents::find(self.clerk, &agent).await.map_err(why)?;
                seated = bounded(&agent);
                (speaks_by(&mut names, &agent, 0).await?, agent.persona.to_string())
            }
            (None, Some(model), _) => (find(&mut names, &model).await?, String::new()),
            (None, None, Some(tier)) => {
                let tier = Tier::ALL.into_iter().find(|known| known.name() == tier);
                let model = names.tier(tier.unwrap_or(Tier::Balanced)).await;
                (model.map_err(|none| why(none.into()))?, String::new())
            }
            (None, None, None) => {
                let model = names.tier(Tier::Balanced).await;
                (model.map_err(|none| why(none.into()))?, String::new())
            }
        };
        let prices = self.clerk.noted([&model]);
        Ok(json!({ "model": model, "system": system, "prices": prices, "seated": seated }))
    }

    /// A seat at a whiteboard, with its own view of the board and nothing else.
    async fn seated(&self, act: &str, with: &Map<String, Value>) -> Result<Value, ErrandError> {
        let room = self.board(with).await.map_err(why)?;
        let agent = agent_of(with, "as");
        let proven = self.proven(&room, &agent, with).await?;
        if proven != Proven::Agent(agent.clone()) {
            return Err(why(match proven {
                Proven::Stranger => ClerkError::WrongToken,
                _ => ClerkError::NoAgent,
            }));
        }
        let (model, system, seated) = self.speaker(&room, with).await?;
        let board = whiteboards::board(&room).map_err(why)?;
        let posts = match act {
            "whiteboard.vote" => gives::votable(board, &agent),
            "whiteboard.annotate" => gives::standing_posts(board, &agent),
            _ => vec![],
        };
        let notes = match act {
            "whiteboard.annotate" => gives::annotatable(board, &agent),
            _ => vec![],
        };
        let view = gives::seen(board, &agent);
        let prices = self.clerk.noted([&model]);
        Ok(json!({
            "model": model, "system": system, "view": view, "posts": posts, "notes": notes,
            "prices": prices, "seated": seated,
        }))
    }

    /// The model that was named where the agent was registered; else the stored agent of
    /// that name; else whichever is there, others for other agents.
    async fn speaker(
        &self,
        room: &Snapshot,
        with: &Map<String, Value>,
    ) -> Result<(ModelName, String, Seated), ErrandError> {
        let agent = text(with, "as");
        let mut names = Names::new(self.clerk);
        let all = agents::all(self.clerk).await.map_err(why)?;
        let stored = all.iter().find(|one| one.id.0 == agent || one.name == agent);
        let persona = stored.map(|agent| agent.persona.to_string()).unwrap_or_default();
        let registered = self.registered(room).await.map_err(why)?;
        // Among those that the run has brought: how many others are there is not told.
        let place = registered.iter().position(|with| text(with, "agent") == agent).unwrap_or(0);
        let named = registered.iter().find(|with| {
            let is_named = !text(with, "model").is_empty();
            is_named && text(with, "agent") == agent
        });
        let model = match (named, stored) {
            (Some(with), _) => find(&mut names, text(with, "model")).await?,
            (None, Some(agent)) => speaks_by(&mut names, agent, place).await?,
            (None, None) => {
                let any = names.any(place).await;
                any.map_err(|none| why(none.into()))?
            }
        };
        let seated = stored.map(|agent| bounded(agent)).unwrap_or_default();
        Ok((model, persona, seated))
    }

    /// How the run has registered agents on this board, in the order in which they came.
    async fn registered(&self, room: &Snapshot) -> Result<Vec<Map<String, Value>>> {
        let board = whiteboards::board(room)?;
        let mut registered = vec![];
        for Deed { act, with, .. } in self.deeds().await? {
            if act == "whiteboard.register" && self.is_room(room, text(&with, "board")).await? {
                registered.push(with);
            }
        }
        registered.sort_by_key(|with| board.place(&agent_of(with, "agent")));
        Ok(registered)
    }
}

/// How a stored agent is asked by a run. Its persona is said apart, and what it may use on
/// this machine is not for whoever wrote the workflow to give it.
fn bounded(agent: &Agent) -> Seated {
    Seated { persona: Arc::from(""), workspace: None, ..Seated::of(agent) }
}

async fn find(names: &mut Names<'_>, written: &str) -> Result<ModelName, ErrandError> {
    let found = names.find(written).await;
    found.map_err(|problem| failed(FailureKind::Misconfigured, super::sentence(&problem)))
}

pub(super) async fn speaks_by(
    names: &mut Names<'_>,
    agent: &Arc<Agent>,
    place: usize,
) -> Result<ModelName, ErrandError> {
    let model = match &agent.model {
        ModelChoice::Model(model) => return find(names, &model.0).await,
        ModelChoice::Tier(tier) => names.tier(*tier).await,
        ModelChoice::Any => names.any(place).await,
    };
    model.map_err(|none| why(none.into()))
}
