//! What only some may do to a session: the words for the rule in `auth/standing.rs`.

use plenary_domain::{Room, SessionId};
use plenary_engine::Snapshot;
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;
use crate::agents::{self, AgentToken, PersonsSeat, Proof};
use crate::auth::Standing;
use crate::error::{Code, Problem};

/// Who asks, with whatever token they show.
pub struct Asking<'a> {
    pub app: &'a App,
    pub standing: &'a Standing,
    pub token: &'a AgentToken,
}

impl Asking<'_> {
    /// Removes a session for good, if the caller may.
    pub async fn remove(&self, id: SessionId) -> Result<(), Problem> {
        self.owns(&self.app.engine.get(id).await?, "delete").await?;
        Ok(self.app.engine.remove(id).await?)
    }

    /// Makes sure that the caller opened the session, or is the operator.
    pub async fn owns(&self, snapshot: &Snapshot, verb: &str) -> Result<(), Problem> {
        let has_shown = self.is_openers(snapshot).await?;
        if self.standing.may(opener(self.app, snapshot).await?.as_deref(), has_shown) {
            return Ok(());
        }
        let kind = snapshot.room.summary().kind;
        let message = format!(
            "Only whoever opened this {kind}, or the operator of this server, may {verb} it."
        );
        Err(Problem::new(Code::NotYours, message).hint(match &*snapshot.room {
            Room::Whiteboard(_) | Room::Council(_) => TOKEN,
            Room::Boardroom(_) | Room::Discussion(_) | Room::Library(_) => ACCESS,
        }))
    }

    /// The seat for which the caller speaks, when that is one's own; `None` for whoever
    /// may speak for anybody: the opener and the operator.
    pub async fn seat(
        &self,
        snapshot: &Snapshot,
        persons: &[PersonsSeat],
    ) -> Result<Option<PersonsSeat>, Problem> {
        let own = self.token.seat(self.app, snapshot.id, persons).await?.cloned();
        if self.standing.may(opener(self.app, snapshot).await?.as_deref(), own.is_some()) {
            return Ok(own);
        }
        let message = "Only the person whose seat it is, who opened this session and the operator \
                       of this server may speak for a person.";
        Err(Problem::new(Code::NotYours, message).hint(SEAT))
    }

    /// A token for each of these seats, for whoever may hand them out.
    pub async fn seat_tokens(
        &self,
        snapshot: &Snapshot,
        persons: Vec<PersonsSeat>,
    ) -> Result<Vec<SeatToken>, Problem> {
        match self.standing.may(opener(self.app, snapshot).await?.as_deref(), false) {
            true => seat_tokens(self.app, snapshot.id, persons).await,
            false => Ok(vec![]),
        }
    }

    async fn is_openers(&self, snapshot: &Snapshot) -> Result<bool, Problem> {
        match &*snapshot.room {
            Room::Whiteboard(board) => {
                let opener = board.opened_by();
                let proof = Proof::Agent(opener, board.renewals(opener));
                self.token.is(self.app, snapshot.id, &proof).await
            }
            Room::Council(_) => self.token.is(self.app, snapshot.id, &Proof::Opener).await,
            // Nobody has a token for having opened one of these.
            Room::Boardroom(_) | Room::Discussion(_) | Room::Library(_) => Ok(false),
        }
    }
}

const TOKEN: &str = "Send the `agentToken` that opening it returned as the header `Agent-Token` \
                     (over MCP as `agent_token`), or come in as whoever opened it.";
const ACCESS: &str = "Come in with the access token that it was opened with, or with the \
                      operator's.";
const SEAT: &str = "Send the person's `seatToken`, which whoever opened the session was given, as \
                    the header `Agent-Token`.";

/// Makes sure that the operator of the server asks.
pub fn operators(standing: &Standing, what: &str) -> Result<(), Problem> {
    if standing.is_operator() {
        return Ok(());
    }
    let message = format!("Only the operator of this server may {what}.");
    let hint = "The operator comes in with the first of the server's access tokens, or from the \
                machine itself, and not as an agent.";
    Err(Problem::new(Code::NotYours, message).hint(hint))
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

pub async fn seat_tokens(
    app: &App,
    session: SessionId,
    persons: Vec<PersonsSeat>,
) -> Result<Vec<SeatToken>, Problem> {
    let mut tokens = vec![];
    for PersonsSeat { id, name } in persons {
        let seat_token = agents::code(app, session, &Proof::Seat(&id, &name)).await?;
        tokens.push(SeatToken { seat: id, person: name, seat_token });
    }
    Ok(tokens)
}

/// As whom the opener came in. A whiteboard's events have agents for actors; it says so
/// itself.
async fn opener(app: &App, snapshot: &Snapshot) -> Result<Option<String>, Problem> {
    Ok(match &*snapshot.room {
        Room::Whiteboard(board) => board.principal().map(str::to_owned),
        Room::Boardroom(_) | Room::Council(_) | Room::Discussion(_) | Room::Library(_) => {
            Some(app.engine.event(snapshot.id, 1).await?.actor.clone())
        }
    })
}
