//! Invitations to a board, and tokens that were lost.

use axum::response::IntoResponse;
use plenary_clerk::whiteboards::{self, BoardRole, KIND, NewInvitation, board};
use plenary_domain::AgentName;
use plenary_domain::whiteboard::Command;
use serde::Serialize;
use utoipa::ToSchema;

use super::{Registered, asked, registered};
use crate::agents::{self, AgentHeader, Asking, Proof};
use crate::auth::Stands;
use crate::error::{Problem, WriteProblems};
use crate::http::sessions::Empty;
use crate::idempotency::{Key, On};
use crate::views::{Reply, reply};

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Invitation {
    board_id: String,
    /// For whom it is; absent for the board's own, which is for all who may lead.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    invited: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    role: Option<BoardRole>,
    /// To be handed over, and given as `invitation` when registering.
    invitation: String,
}

/// Invites someone by name, who can then register in that role, also after the blind
/// phase; for facilitators and operators. Without a name: renews the board's invitation,
/// for whoever opened it, in the blind phase.
#[utoipa::path(post, path = "/api/whiteboards/{board}/invitations", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), AgentHeader, Key),
    request_body = NewInvitation,
    responses((status = 200, body = Reply<Invitation>), WriteProblems))]
pub async fn invite(asking: Asking, on: On<NewInvitation>) -> Result<impl IntoResponse, Problem> {
    let caller = asked(&on.app, &on.at, asking, on.by).await?;
    let (snapshot, invited) = whiteboards::invite(&on.app.clerk, caller, on.body).await?;
    let proof = match &invited {
        Some((agent, role)) => Proof::Invited(agent, *role),
        None => Proof::Invitation(board(&snapshot)?.invitation().unwrap_or_default()),
    };
    let invitation = agents::code(&on.app, snapshot.id, &proof).await?;
    let (invited, role) = invited.map(|(agent, role)| (agent.0, BoardRole::from(role))).unzip();
    Ok(reply(Invitation { board_id: on.at, invited, role, invitation }))
}

/// Renews the token of an agent: earlier ones are refused from now on. For the operator
/// of the server.
#[utoipa::path(post, path = "/api/whiteboards/{board}/agents/{agent}/token", tag = "whiteboards",
    params(
        ("board" = String, Path, description = "The board's name."),
        ("agent" = String, Path, description = "The agent's name."),
        Key),
    responses((status = 200, body = Reply<Registered>), WriteProblems))]
pub async fn renew_token(
    Stands(standing): Stands,
    on: On<Empty, (String, String)>,
) -> Result<impl IntoResponse, Problem> {
    standing.operates("renew tokens")?;
    let id = on.app.engine.named(KIND, &on.at.0).await?;
    let agent = AgentName(on.at.1);
    let command = Command::RenewToken { agent: agent.clone() };
    let snapshot = whiteboards::submit(&on.app.clerk, id, on.by, command).await?;
    let renewals = board(&snapshot)?.renewals(&agent);
    Ok(reply(registered(&on.app, &snapshot, &agent, renewals).await?))
}
