//! Invitations to a board, and tokens that were lost.

use axum::extract::State;
use axum::response::IntoResponse;
use plenary_domain::AgentName;
use plenary_domain::room;
use plenary_domain::whiteboard::{Command, Role};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Acting, KIND, Registered, board, registered};
use crate::App;
use crate::agents::{self, AgentHeader, AgentToken, Proof};
use crate::auth::Standing;
use crate::error::{Problem, WriteProblems};
use crate::http::owned;
use crate::http::sessions::Empty;
use crate::idempotency::{Change, Key, Path};
use crate::views::whiteboards::BoardRole;
use crate::views::{Reply, reply};

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewInvitation {
    /// Who is to register, by the name that they will have. Without one the board's own
    /// invitation is renewed, and earlier ones are refused.
    #[serde(default)]
    #[schema(pattern = "^[A-Za-z0-9][A-Za-z0-9._@-]{0,79}$")]
    invite: Option<String>,
    /// The role in which they are to register: `specialist` when absent.
    #[serde(default)]
    role: Option<BoardRole>,
}

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

/// Invites somebody by name, who may then register in that role, also after the blind
/// phase; for facilitators and operators. Without a name: renews the board's invitation,
/// for whoever opened it, in the blind phase.
#[utoipa::path(post, path = "/api/whiteboards/{board}/invitations", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), AgentHeader, Key),
    request_body = NewInvitation,
    responses((status = 200, body = Reply<Invitation>), WriteProblems))]
pub async fn invite(
    State(app): State<App>,
    Path(name): Path<String>,
    token: AgentToken,
    Change { by, body }: Change<NewInvitation>,
) -> Result<impl IntoResponse, Problem> {
    if body.invite.is_none() && body.role.is_some() {
        let problem = "belongs to the name of whom you `invite`".to_owned();
        return Err(Problem::invalid([("role".to_owned(), problem)]));
    }
    let role = body.role.map_or(Role::Specialist, Role::from);
    let newcomer = body.invite.map(|invite| (AgentName(invite), role));
    let acting = Acting::on(&app, &name, &token, by).await?;
    let invited = newcomer.clone();
    let snapshot = acting.submit(|agent| Command::Invite { agent, newcomer }).await?;
    let proof = match &invited {
        Some((agent, role)) => Proof::Invited(agent, *role),
        None => Proof::Invitation(board(&snapshot)?.invitation().unwrap_or_default()),
    };
    let invitation = agents::code(&app, snapshot.id, &proof).await?;
    let (invited, role) = invited.map(|(agent, role)| (agent.0, BoardRole::from(role))).unzip();
    Ok(reply(Invitation { board_id: name, invited, role, invitation }))
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
    State(app): State<App>,
    Path((name, agent)): Path<(String, String)>,
    standing: Standing,
    Change { by, body: Empty {} }: Change<Empty>,
) -> Result<impl IntoResponse, Problem> {
    owned::operators(&standing, "renew tokens")?;
    let id = app.engine.named(KIND, &name).await?;
    let agent = AgentName(agent);
    let command = room::Command::Whiteboard(Command::RenewToken { agent: agent.clone() });
    let snapshot = app.engine.submit(id, by, command).await?;
    let renewals = board(&snapshot)?.renewals(&agent);
    Ok(reply(registered(&app, &snapshot, &agent, renewals).await?))
}
