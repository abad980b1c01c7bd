//! Proof that a caller is an agent of a room, holds a seat of it, opened it, or was
//! invited to it.
//!
//! Each is a code made from the store's secret, the session and what it is for. It can
//! be made again and compared, so none is stored, logged or exported. What is made anew
//! is made with the next number; the log has the number.

use std::sync::{Arc, Weak};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use futures::future::BoxFuture;
use plenary_clerk::ClerkError;
use plenary_clerk::identity::{self, Caller, PersonsSeat, Proofs, Proven, Standing};
use plenary_clerk::{boardrooms, runs, whiteboards};
use plenary_domain::whiteboard::{Role, Shown};
use plenary_domain::{AgentName, SessionId};
use plenary_engine::{By, Engine, EngineError, Snapshot};
use ring::hmac;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::App;
use crate::auth::Stands;
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

/// Who asks, with the token that they show, not yet compared.
#[derive(Clone)]
pub struct Asking {
    standing: Standing,
    token: Option<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for Asking {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Ok(Stands(standing)) = Stands::from_request_parts(parts, state).await;
        let Some(given) = parts.headers.get(HEADER) else {
            return Ok(Asking { standing, token: None });
        };
        // Also for whoever may do without one: it was meant to say something.
        let token = given
            .to_str()
            .ok()
            .filter(|token| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()));
        let wrong = || {
            let message = "Agent-Token must be visible ASCII characters without spaces.";
            Problem::new(Code::InvalidHeader, message)
        };
        let token = Some(token.ok_or_else(wrong)?.to_owned());
        Ok(Asking { standing, token })
    }
}

impl Asking {
    /// What the token proves in this session.
    pub async fn proven(&self, app: &App, session: SessionId) -> Result<Proven, Problem> {
        match &self.token {
            Some(given) => Ok(proven(&app.engine, session, given).await?),
            None => Ok(Proven::Nothing),
        }
    }

    /// The session as the caller sees it, from this seat where one is named.
    pub async fn sees(
        &self,
        app: &App,
        session: SessionId,
        seat: Option<u8>,
    ) -> Result<Snapshot, Problem> {
        let proven = self.proven(app, session).await?;
        let seen = boardrooms::seen(app.engine.get(session).await?, &proven, seat)?;
        Ok(runs::seen(&app.clerk, seen, (&self.standing, &proven)).await?)
    }

    /// The one who asks for a change of this session.
    pub async fn about(self, app: &App, session: SessionId, by: By) -> Result<Caller, Problem> {
        let proven = self.proven(app, session).await?;
        Ok(Caller { session, by, standing: self.standing, proven })
    }
}

/// Tells the clerk what a token proves.
pub struct Tokens(pub Weak<Engine>);

impl Proofs for Tokens {
    fn proven(
        &self,
        session: SessionId,
        token: String,
    ) -> BoxFuture<'_, Result<Proven, ClerkError>> {
        Box::pin(async move {
            match self.0.upgrade() {
                Some(engine) => Ok(proven(&engine, session, &token).await?),
                None => Ok(Proven::Stranger),
            }
        })
    }
}

async fn proven(
    engine: &Arc<Engine>,
    session: SessionId,
    given: &str,
) -> Result<Proven, EngineError> {
    let room = engine.get(session).await?.room;
    if let Some((name, _)) = given.rsplit_once('.') {
        let agent = AgentName(name.to_owned());
        if is(engine, session, &Proof::Agent(&agent, room.renewals(&agent)), given).await? {
            return Ok(Proven::Agent(agent));
        }
    }
    if is(engine, session, &Proof::Opener, given).await? {
        return Ok(Proven::Opener);
    }
    for person in identity::persons(&room) {
        if is(engine, session, &Proof::Seat(&person.id, &person.name), given).await? {
            return Ok(Proven::Seat(person));
        }
    }
    Ok(Proven::Stranger)
}

/// What whoever registers under this name shows besides it.
pub async fn shown(
    app: &App,
    caller: &Caller,
    (agent, role): (&AgentName, Role),
    invitation: Option<&str>,
) -> Result<Shown, Problem> {
    if caller.proven == Proven::Agent(agent.clone()) {
        return Ok(Shown::Token);
    }
    let session = caller.session;
    let newest = whiteboards::board(&app.engine.get(session).await?)?.invitation();
    let (Some(given), Some(newest)) = (invitation, newest) else { return Ok(Shown::Nothing) };
    if is(&app.engine, session, &Proof::Invited(agent, role), given).await? {
        return Ok(Shown::Personal);
    }
    // Older ones too, so that whoever has one is told that it was replaced.
    for made in (0..=newest).rev() {
        if is(&app.engine, session, &Proof::Invitation(made), given).await? {
            return Ok(Shown::Invitation(made));
        }
    }
    Ok(Shown::Other)
}

/// What a person shows to speak for their seat.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeatToken {
    /// The seat: an advisor's number, or a participant's id.
    seat: String,
    /// The person's name.
    person: String,
    /// Hand it to that person, who sends it as `Agent-Token`.
    seat_token: String,
}

/// One for each person's seat.
pub async fn seat_tokens(app: &App, snapshot: &Snapshot) -> Result<Vec<SeatToken>, Problem> {
    let mut tokens = vec![];
    for PersonsSeat { id, name } in identity::persons(&snapshot.room) {
        let seat_token = code(app, snapshot.id, &Proof::Seat(&id, &name)).await?;
        tokens.push(SeatToken { seat: id, person: name, seat_token });
    }
    Ok(tokens)
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

/// The code for this, after a name and a dot.
pub async fn code(app: &App, session: SessionId, proof: &Proof<'_>) -> Result<String, Problem> {
    Ok(made(&app.engine, session, proof).await?)
}

async fn made(
    engine: &Engine,
    session: SessionId,
    proof: &Proof<'_>,
) -> Result<String, EngineError> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, &engine.secret().await?);
    let code = hmac::sign(&key, &proof.message(session));
    let code: String = code.as_ref()[..CODE_BYTES].iter().map(|b| format!("{b:02x}")).collect();
    Ok(format!("{}.{code}", proof.name()))
}

async fn is(
    engine: &Engine,
    session: SessionId,
    proof: &Proof<'_>,
    given: &str,
) -> Result<bool, EngineError> {
    Ok(crate::auth::same(given, &made(engine, session, proof).await?))
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
