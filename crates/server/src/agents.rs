//! Proof that a caller is an agent of a room, holds a seat of it, opened it, or was
//! invited to it.
//!
//! Each is a code made from the store's secret, the session and what it is for. It can
//! be made again and compared, so none is stored, logged or exported. What is made anew
//! is made with the next number; the log has the number.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use plenary_domain::whiteboard::{self, Role, Shown};
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
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let Some(given) = parts.headers.get(HEADER) else { return Ok(AgentToken(None)) };
        // Also for whoever may do without one: it was meant to say something.
        let token = given
            .to_str()
            .ok()
            .filter(|token| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()));
        let wrong = || {
            let message = "Agent-Token must be visible ASCII characters without spaces.";
            Problem::new(Code::InvalidHeader, message)
        };
        token.map(|token| AgentToken(Some(token.to_owned()))).ok_or_else(wrong)
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
                 `Agent-Token`. One that was lost is renewed by the operator of this server.",
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

    /// What whoever registers under this name shows besides it.
    pub async fn shown(
        &self,
        app: &App,
        session: SessionId,
        board: &whiteboard::State,
        (agent, role): (&AgentName, Role),
        invitation: Option<&str>,
    ) -> Result<Shown, Problem> {
        if self.is(app, session, &Proof::Agent(agent, board.renewals(agent))).await? {
            return Ok(Shown::Token);
        }
        let (Some(given), Some(newest)) = (invitation, board.invitation()) else {
            return Ok(Shown::Nothing);
        };
        if is(app, session, &Proof::Invited(agent, role), given).await? {
            return Ok(Shown::Personal);
        }
        // Older ones too, so that whoever has one is told that it was replaced.
        for made in (0..=newest).rev() {
            if is(app, session, &Proof::Invitation(made), given).await? {
                return Ok(Shown::Invitation(made));
            }
        }
        Ok(Shown::Other)
    }

    /// Whose token it is, of these persons.
    pub async fn seat<'a>(
        &self,
        app: &App,
        session: SessionId,
        persons: &'a [PersonsSeat],
    ) -> Result<Option<&'a PersonsSeat>, Problem> {
        for person in persons {
            if self.is(app, session, &Proof::Seat(&person.id, &person.name)).await? {
                return Ok(Some(person));
            }
        }
        match &self.0 {
            Some(_) => Err(wrong_token()),
            None => Ok(None),
        }
    }

    /// Whether this is the code for that.
    pub async fn is(
        &self,
        app: &App,
        session: SessionId,
        proof: &Proof<'_>,
    ) -> Result<bool, Problem> {
        match &self.0 {
            Some(given) => is(app, session, proof, given).await,
            None => Ok(false),
        }
    }
}

/// A person's seat, by its id in tokens, and the person's name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PersonsSeat {
    pub id: String,
    pub name: String,
}

/// What a code can be for.
pub enum Proof<'a> {
    /// An agent, whose token was made anew so many times.
    Agent(&'a AgentName, u32),
    /// Whoever opened the session.
    Opener,
    /// A person on a seat, by its id and their name: whoever sits there later is somebody
    /// else.
    Seat(&'a str, &'a str),
    /// The invitation of a board, made anew so many times.
    Invitation(u32),
    /// Somebody who was invited by name.
    Invited(&'a AgentName, Role),
}

impl Proof<'_> {
    /// What stands before the code, for those who keep several.
    fn name(&self) -> &str {
        match self {
            Proof::Agent(agent, _) => &agent.0,
            Proof::Opener => "opener",
            Proof::Seat(seat, _) => seat,
            Proof::Invitation(_) | Proof::Invited(_, _) => "invitation",
        }
    }

    /// No two have the same: each begins with its kind and the session, and what
    /// follows is of a fixed or stated length but for one part at the end.
    fn message(&self, session: SessionId) -> Vec<u8> {
        let length;
        let (kind, parts): (&str, [&[u8]; 3]) = match self {
            Proof::Agent(agent, 0) => ("agent", [&[], &[], agent.0.as_bytes()]),
            Proof::Agent(agent, made) => {
                ("renewed agent", [&made.to_be_bytes(), &[], agent.0.as_bytes()])
            }
            Proof::Opener => ("opener", [&[], &[], &[]]),
            Proof::Seat(seat, person) => {
                length = (seat.len() as u64).to_be_bytes();
                ("seat", [&length, seat.as_bytes(), person.as_bytes()])
            }
            Proof::Invitation(made) => ("invitation", [&[], &[], &made.to_be_bytes()]),
            Proof::Invited(agent, Role::Specialist) => {
                ("specialist", [&[], &[], agent.0.as_bytes()])
            }
            Proof::Invited(agent, Role::Facilitator) => {
                ("facilitator", [&[], &[], agent.0.as_bytes()])
            }
            Proof::Invited(agent, Role::Operator) => ("operator", [&[], &[], agent.0.as_bytes()]),
        };
        let mut message = format!("plenary {kind} ").into_bytes();
        message.extend_from_slice(session.0.as_bytes());
        parts.iter().for_each(|part| message.extend_from_slice(part));
        message
    }
}

pub fn not_yours(agent: &AgentName) -> Problem {
    Problem::new(Code::NotYourAgent, format!("{agent} is somebody else's name here.")).hint(
        "Send the token that registering returned, as the header `Agent-Token` (over MCP as \
         `agent_token`), or choose another name.",
    )
}

fn wrong_token() -> Problem {
    Problem::new(Code::NotYourAgent, "This agent token does not belong to this session.").hint(
        "A token is for the board or council that gave it, as it was given last. One that was \
         lost is renewed by the operator of this server.",
    )
}

/// The code for this, after a name and a dot.
pub async fn code(app: &App, session: SessionId, proof: &Proof<'_>) -> Result<String, Problem> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, &app.engine.secret().await?);
    let code = hmac::sign(&key, &proof.message(session));
    let code: String = code.as_ref()[..CODE_BYTES].iter().map(|b| format!("{b:02x}")).collect();
    Ok(format!("{}.{code}", proof.name()))
}

async fn is(
    app: &App,
    session: SessionId,
    proof: &Proof<'_>,
    given: &str,
) -> Result<bool, Problem> {
    Ok(crate::auth::same(given, &code(app, session, proof).await?))
}

async fn found(app: &App, session: SessionId, given: &str) -> Result<Option<AgentName>, Problem> {
    let Some((name, _)) = given.rsplit_once('.') else { return Ok(None) };
    let agent = AgentName(name.to_owned());
    let renewals = app.engine.get(session).await?.room.renewals(&agent);
    Ok(is(app, session, &Proof::Agent(&agent, renewals), given).await?.then_some(agent))
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A code that is for one thing is for nothing else, however things are called.
    #[test]
    fn no_two_proofs_have_the_same_message() {
        let session = |text: &str| text.parse::<SessionId>().unwrap();
        let here = session("01890000-0000-7000-8000-000000000000");
        let there = session("01890000-0000-7000-8000-000000000001");
        let names = ["ann", "opener", "invitation", "1", "\0\0\0\u{1}ann", "renewed agent ann"];
        let mut messages = BTreeSet::new();
        let mut made = 0;
        for session in [here, there] {
            let mut add = |proof: Proof<'_>| {
                messages.insert(proof.message(session));
                made += 1;
            };
            add(Proof::Opener);
            (0..3).for_each(|times| add(Proof::Invitation(times)));
            for name in names {
                let agent = AgentName(name.to_owned());
                (0..3).for_each(|times| add(Proof::Agent(&agent, times)));
                names.iter().for_each(|person| add(Proof::Seat(name, person)));
                for role in [Role::Specialist, Role::Facilitator, Role::Operator] {
                    add(Proof::Invited(&agent, role));
                }
            }
        }
        assert_eq!(messages.len(), made);
    }

    /// Tokens that agents have from before must go on being theirs.
    #[test]
    fn the_first_token_of_an_agent_is_made_as_ever() {
        let session = SessionId(uuid::Uuid::from_bytes(*b"sixteen bytes, 1"));
        let message = Proof::Agent(&AgentName("ann".into()), 0).message(session);
        assert_eq!(message, b"plenary agent sixteen bytes, 1ann");
    }
}
