//! Proof that a caller is an agent of a room.
//!
//! Whoever registers gets a token made from the store's secret, the session and the
//! name. It can be made again and compared, so none is stored, logged or exported.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use plenary_domain::{AgentName, SessionId, Viewer};
use plenary_engine::By;
use ring::hmac;
use utoipa::IntoParams;

use crate::App;
use crate::error::{Code, Problem};

const HEADER: &str = "agent-token";
/// Bytes of the code in a token.
const CODE_BYTES: usize = 20;

/// The header by which an agent shows who it is, for the OpenAPI document.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[allow(dead_code, reason = "it stands in the OpenAPI document only")]
pub struct AgentHeader {
    /// The `agentToken` that registering, opening or a first post returned. The
    /// request then acts, or looks, as that agent.
    #[param(rename = "Agent-Token", nullable = false, pattern = "^[!-~]+$")]
    token: Option<String>,
}

/// A token that somebody has sent, not yet compared.
pub struct AgentToken(Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for AgentToken {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let given = parts.headers.get(HEADER);
        // One that is no text is no token of ours.
        Ok(AgentToken(given.map(|given| given.to_str().unwrap_or("?").to_owned())))
    }
}

impl AgentToken {
    /// The agent as which the caller looks at a session.
    pub async fn viewer(&self, app: &App, session: SessionId) -> Result<Viewer, Problem> {
        let Some(token) = &self.0 else { return Ok(Viewer::Outsider) };
        let found = found(app, session, token).await?;
        found.map(Viewer::Agent).ok_or_else(wrong_token)
    }

    /// The agent as which the caller acts.
    pub async fn agent(&self, app: &App, session: SessionId) -> Result<AgentName, Problem> {
        match self.viewer(app, session).await? {
            Viewer::Agent(agent) => Ok(agent),
            Viewer::Outsider => Err(Problem::new(
                Code::NotYourAgent,
                "This needs the token of an agent that is registered here.",
            )
            .hint(
                "Register first; then send the `agentToken` that came back as the header \
                 `Agent-Token`.",
            )),
        }
    }

    /// Makes sure that the caller is this agent.
    pub async fn prove(
        &self,
        app: &App,
        session: SessionId,
        agent: &AgentName,
    ) -> Result<(), Problem> {
        match self.viewer(app, session).await? {
            Viewer::Agent(proved) if proved == *agent => Ok(()),
            Viewer::Agent(proved) => Err(Problem::new(
                Code::NotYourAgent,
                format!("The token is {proved}'s, not {agent}'s."),
            )),
            Viewer::Outsider => Err(not_yours(agent)),
        }
    }
}

pub fn not_yours(agent: &AgentName) -> Problem {
    Problem::new(Code::NotYourAgent, format!("{agent} is somebody else's name here.")).hint(
        "Send the token that registering returned, as the header `Agent-Token` (over MCP as \
         `agent_token`), or choose another name.",
    )
}

fn wrong_token() -> Problem {
    Problem::new(Code::NotYourAgent, "This agent token does not belong to this session.")
        .hint("A token is for the board or council that gave it, as it was given.")
}

/// The token of an agent in one session.
pub async fn token(app: &App, session: SessionId, agent: &AgentName) -> Result<String, Problem> {
    let key = key(app).await?;
    let code = hmac::sign(&key, &message(session, agent));
    let code: String = code.as_ref()[..CODE_BYTES].iter().map(|b| format!("{b:02x}")).collect();
    Ok(format!("{agent}.{code}"))
}

async fn found(app: &App, session: SessionId, given: &str) -> Result<Option<AgentName>, Problem> {
    let Some((name, _)) = given.rsplit_once('.') else { return Ok(None) };
    let agent = AgentName(name.to_owned());
    let right = token(app, session, &agent).await?;
    Ok(crate::auth::same(given, &right).then_some(agent))
}

async fn key(app: &App) -> Result<hmac::Key, Problem> {
    let secret = app.engine.secret().await?;
    Ok(hmac::Key::new(hmac::HMAC_SHA256, &secret))
}

fn message(session: SessionId, agent: &AgentName) -> Vec<u8> {
    let mut message = b"plenary agent ".to_vec();
    message.extend_from_slice(session.0.as_bytes());
    message.extend_from_slice(agent.0.as_bytes());
    message
}

/// The same request, made by this agent of this session: what it keys and what the
/// record says are the agent's own. Two agents that choose the same key learn nothing
/// of each other, also when they have the same name in different places.
pub fn by(by: By, session: SessionId, agent: &AgentName) -> By {
    keyed(by, agent, &format!("as {agent} in {session}"))
}

/// The same request, made by whoever wants to be this agent. Keys are kept apart from
/// those of the agent itself, or anybody could try out which ones it has used.
pub fn claimed(by: By, session: SessionId, agent: &AgentName) -> By {
    keyed(by, agent, &format!("wants to be {agent} in {session}"))
}

/// The same request, which opens a place where this agent will be.
pub fn opened(by: By, agent: &AgentName) -> By {
    keyed(by, agent, &format!("opens as {agent}"))
}

fn keyed(by: By, agent: &AgentName, how: &str) -> By {
    let idempotency = by.idempotency.map(|mut idempotency| {
        idempotency.principal = format!("{} {how}", idempotency.principal);
        idempotency
    });
    By { actor: agent.0.clone(), idempotency }
}
