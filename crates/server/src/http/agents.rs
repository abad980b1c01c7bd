//! Stored agents: list, add, copy, edit, remove.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use plenary_clerk::agents::{self, AgentChanges, NewStoredAgent};
use plenary_domain::agent::Agent;
use plenary_domain::limits;
use serde::Deserialize;
use utoipa::IntoParams;

use super::routes::{Routes, routes};
use super::sessions::{DetailName, Empty};
use super::within;
use crate::App;
use crate::error::{Problem, ReadProblems, WriteProblems};
use crate::idempotency::{Change, Key, On, Path, Query};
use crate::views::agents::StoredAgent;
use crate::views::{Nothing, Reply, page, reply};

pub fn routes() -> Routes {
    Routes::new().routes(routes!(list, add)).routes(routes!(get, edit, remove))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AgentFilter {
    /// Only those who lead discussions, or only the others.
    #[param(nullable = false)]
    facilitator: Option<bool>,
    /// Only built-in ones, or only the others.
    #[param(nullable = false)]
    built_in: Option<bool>,
    /// Words that must all occur in the name or the description.
    #[param(nullable = false)]
    q: Option<String>,
    /// `full` gives the personas too.
    #[param(nullable = false, inline)]
    detail: Option<DetailName>,
    /// Results per page.
    #[param(minimum = 1, maximum = 200, nullable = false)]
    limit: Option<u32>,
    /// `meta.next` of the page before.
    #[param(nullable = false)]
    cursor: Option<String>,
}

/// Agents that can be seated: built-in ones first, then by name.
#[utoipa::path(get, path = "/api/agents", tag = "agents", params(AgentFilter),
    responses((status = 200, body = Reply<Vec<StoredAgent>>), ReadProblems))]
async fn list(
    State(app): State<App>,
    Query(filter): Query<AgentFilter>,
) -> Result<impl IntoResponse, Problem> {
    let limit = within("limit", filter.limit.unwrap_or(limits::PAGE), 1, limits::PAGE_MOST)?;
    let agents = agents::all(&app.clerk).await?;
    let fits: Vec<&Arc<Agent>> = agents.iter().filter(|agent| filter.fits(agent)).collect();
    let after = filter.cursor.as_deref().map(|cursor| place(&agents, cursor));
    let mut rest = fits
        .iter()
        .filter(|agent| after.as_ref().is_none_or(|after| place(&agents, &agent.name) > *after));
    let rows: Vec<&Arc<Agent>> = rest.by_ref().take(limit as usize).copied().collect();
    let next = rest.next().and(rows.last()).map(|agent| agent.name.to_lowercase());
    let full = filter.detail == Some(DetailName::Full);
    let views: Vec<StoredAgent> = rows.iter().map(|agent| StoredAgent::new(agent, full)).collect();
    Ok(page(views, fits.len() as u64, limit, next))
}

impl AgentFilter {
    fn fits(&self, agent: &Agent) -> bool {
        let text = format!("{} {} {}", agent.id, agent.name, agent.description).to_lowercase();
        let words = self.q.as_deref().unwrap_or_default().to_lowercase();
        self.facilitator.is_none_or(|is| is == agent.facilitator)
            && self.built_in.is_none_or(|is| is == agent.built_in)
            && words.split_whitespace().all(|word| text.contains(word))
    }
}

/// Where a name stands in lists. It need not be an agent's any more: a page goes on
/// although its last agent was removed meanwhile.
fn place(agents: &[Arc<Agent>], name: &str) -> (usize, String) {
    let name = name.to_lowercase();
    let built_in = agents.iter().take_while(|agent| agent.built_in);
    let count = built_in.clone().count();
    let nth = built_in.into_iter().position(|agent| agent.name.to_lowercase() == name);
    (nth.unwrap_or(count), name)
}

/// One agent, by its id or its name.
#[utoipa::path(get, path = "/api/agents/{id}", tag = "agents",
    params(("id" = String, Path, description = "The agent's id or name.")),
    responses((status = 200, body = Reply<StoredAgent>), ReadProblems))]
async fn get(State(app): State<App>, Path(id): Path<String>) -> Result<impl IntoResponse, Problem> {
    Ok(reply(StoredAgent::new(&*agents::find(&app.clerk, &id).await?, true)))
}

/// Adds an agent, or a copy of one.
#[utoipa::path(post, path = "/api/agents", tag = "agents", params(Key),
    request_body = NewStoredAgent,
    responses((status = 201, body = Reply<StoredAgent>), WriteProblems))]
async fn add(
    State(app): State<App>,
    Change { by, body }: Change<NewStoredAgent>,
) -> Result<impl IntoResponse, Problem> {
    let agent = agents::add(&app.clerk, by, body).await?;
    let place = [(header::LOCATION, format!("/api/agents/{}", agent.id))];
    Ok((StatusCode::CREATED, place, reply(StoredAgent::new(&agent, true))))
}

/// Changes what is given and nothing else; `null` clears a field. Agents that ship
/// with Plenary cannot be changed: make a copy.
#[utoipa::path(patch, path = "/api/agents/{id}", tag = "agents",
    params(("id" = String, Path, description = "The agent's id or name."), Key),
    request_body = AgentChanges,
    responses((status = 200, body = Reply<StoredAgent>), WriteProblems))]
async fn edit(on: On<AgentChanges>) -> Result<impl IntoResponse, Problem> {
    let agent = agents::edit(&on.app.clerk, on.at, on.by, on.body).await?;
    Ok(reply(StoredAgent::new(&agent, true)))
}

/// Removes an agent. Sessions that it took part in keep their copy of it.
#[utoipa::path(delete, path = "/api/agents/{id}", tag = "agents",
    params(("id" = String, Path, description = "The agent's id or name."), Key),
    responses((status = 200, body = Reply<Nothing>), WriteProblems))]
async fn remove(on: On<Empty>) -> Result<impl IntoResponse, Problem> {
    agents::remove(&on.app.clerk, on.at, on.by).await?;
    Ok(reply(Nothing {}))
}
