//! The processes that work on one log. Only the operator is told of them: where they are
//! reached and how much they do is nobody else's business.

use plenary_domain::Timestamp;
use plenary_engine::ports::NodeRow;
use serde::Serialize;
use utoipa::ToSchema;

use crate::identity::Standing;
use crate::{Clerk, Result};

/// A process that drives sessions.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Node)]
pub struct NodeShown {
    /// Made anew whenever it starts.
    pub name: String,
    /// It is the one that answers.
    pub here: bool,
    pub state: NodeState,
    pub since: Timestamp,
    /// How long its lease still holds, unless it is renewed.
    pub lease_left_ms: u64,
    /// How many sessions it drives.
    pub sessions: u64,
    /// The version of its program.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub version: Option<String>,
    /// The newest change of the store's tables that its program knows.
    pub schema: u64,
    /// Where other nodes reach it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub address: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum NodeState {
    Live,
    /// It ends soon, and takes nothing over any more.
    Draining,
    /// Its lease has run out. Others take over what it drove.
    Gone,
}

pub async fn list(clerk: &Clerk, standing: &Standing) -> Result<Vec<NodeShown>> {
    standing.operates("see its nodes")?;
    let here = clerk.engine.node();
    Ok(clerk.engine.nodes().await?.into_iter().map(|node| shown(node, here)).collect())
}

fn shown(node: NodeRow, here: &str) -> NodeShown {
    let state = match (node.lease_left_ms, node.draining) {
        (0, _) => NodeState::Gone,
        (_, true) => NodeState::Draining,
        (_, false) => NodeState::Live,
    };
    NodeShown {
        here: node.name == here,
        state,
        since: node.since,
        lease_left_ms: node.lease_left_ms,
        sessions: node.driving,
        version: node.program,
        schema: node.schema,
        address: node.address,
        name: node.name,
    }
}
