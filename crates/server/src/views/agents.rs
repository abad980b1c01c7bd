//! Stored agents on the wire.

use plenary_clerk::agents::{DiscussionFormat, TierName};
use plenary_domain::Workspace;
use plenary_domain::agent::{Agent, ModelChoice};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoredAgent {
    id: String,
    name: String,
    /// One line for lists.
    description: String,
    /// Who the agent is, said to the model. Lists have it with `detail=full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    persona: Option<String>,
    /// The one model that it speaks by.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    model: Option<String>,
    /// How able its model should be. Without this and `model` it takes any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tier: Option<TierName>,
    /// Made to lead discussions.
    is_facilitator: bool,
    /// Ships with Plenary; it can be copied, not changed or removed.
    is_built_in: bool,
    /// Formats of discussions that it suits best.
    formats: Vec<DiscussionFormat>,
    /// Time for one turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    turn_seconds: Option<u64>,
    /// Tokens of one answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    output_tokens: Option<u32>,
    /// How freely its model chooses its words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    temperature: Option<f64>,
    /// Tokens that it may use in one session.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    budget_tokens: Option<u64>,
    /// Money that it may spend in one session.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    budget_cost: Option<f64>,
    /// Time for all its answers in one session.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    budget_seconds: Option<u64>,
    /// For command-line agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    workspace: Option<WorkspaceView>,
}

#[derive(Serialize, ToSchema)]
pub struct WorkspaceView {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    folder: Option<String>,
    tools: Vec<String>,
}

impl WorkspaceView {
    pub fn new(workspace: &Workspace) -> Self {
        WorkspaceView { folder: workspace.folder.clone(), tools: workspace.tools.clone() }
    }
}

impl StoredAgent {
    pub fn new(agent: &Agent, full: bool) -> Self {
        let (model, tier) = match &agent.model {
            ModelChoice::Any => (None, None),
            ModelChoice::Tier(tier) => (None, Some(TierName::from(*tier))),
            ModelChoice::Model(model) => (Some(model.0.clone()), None),
        };
        StoredAgent {
            id: agent.id.0.clone(),
            name: agent.name.clone(),
            description: agent.description.clone(),
            persona: full.then(|| agent.persona.to_string()),
            model,
            tier,
            is_facilitator: agent.facilitator,
            is_built_in: agent.built_in,
            formats: agent.formats.iter().copied().map(DiscussionFormat::from).collect(),
            turn_seconds: agent.bounds.turn_ms.map(|ms| ms / 1000),
            output_tokens: agent.bounds.output_tokens,
            temperature: agent.bounds.temperature,
            budget_tokens: agent.bounds.budget_tokens,
            budget_cost: agent.bounds.budget_cost,
            budget_seconds: agent.bounds.budget_ms.map(|ms| ms / 1000),
            workspace: agent.workspace.as_ref().map(WorkspaceView::new),
        }
    }
}
