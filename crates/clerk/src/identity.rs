//! Who asks, and what they may do to what is not theirs by an agent's token: delete it,
//! rename it, close it, reply for a person, make a lost token anew. This file is the only place that
//! says so.

use std::fmt::Display;

use futures::future::BoxFuture;
use plenary_domain::boardroom::Sitter;
use plenary_domain::{AgentName, Room, SessionId, Viewer, room};
use plenary_engine::ports::{Label, SessionRow};
use plenary_engine::{By, Snapshot};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{Clerk, ClerkError, Result, whiteboards};

/// Who asks for a change of one session.
#[derive(Clone, Debug)]
pub struct Caller {
    pub session: SessionId,
    pub by: By,
    pub standing: Standing,
    pub proven: Proven,
}

/// What a caller has proven to be in a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Proven {
    /// Nothing was shown.
    Nothing,
    /// Something was shown that proves nothing there.
    Stranger,
    Agent(AgentName),
    /// Whoever opened the session.
    Opener,
    Seat(PersonsSeat),
}

/// Tells what a token proves, to whoever must not know how that is told.
pub trait Proofs: Send + Sync {
    fn proven(&self, session: SessionId, token: String) -> BoxFuture<'_, Result<Proven>>;
}

/// A person's seat, by its id in tokens, and the person's name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PersonsSeat {
    pub id: String,
    pub name: String,
}

/// The seats that persons hold, also the one of a person who leads.
pub fn persons(room: &Room) -> Vec<PersonsSeat> {
    let person =
        |id: &dyn Display, name: &str| PersonsSeat { id: id.to_string(), name: name.into() };
    match room {
        Room::Boardroom(state) => {
            let seats = state.advisors.iter().map(|advisor| &advisor.seat);
            let persons = seats.filter_map(|seat| match &seat.sitter {
                Sitter::Person { name, .. } => Some(person(&seat.id.0, name)),
                Sitter::Model(_) => None,
            });
            persons.collect()
        }
        Room::Discussion(state) => {
            let seats = state.participants.iter().map(|participant| &participant.seat);
            let persons = seats.chain([&state.facilitator]).filter(|seat| seat.is_person());
            persons.map(|seat| person(&seat.id.0, &seat.name)).collect()
        }
        // Whoever is asked to decide: one person may be asked in several steps.
        Room::Workflow(state) => {
            state.persons().iter().map(|name| person(&"approver", name)).collect()
        }
        Room::Whiteboard(_)
        | Room::Council(_)
        | Room::Library(_)
        | Room::Signals(_)
        | Room::Shelf(_)
        | Room::Boards(_) => vec![],
    }
}

impl Proven {
    /// The agent as which the caller looks at a session.
    pub fn viewer(&self) -> Result<Viewer> {
        match self {
            Proven::Nothing => Ok(Viewer::Outsider),
            Proven::Agent(agent) => Ok(Viewer::Agent(agent.clone())),
            Proven::Stranger | Proven::Opener | Proven::Seat(_) => Err(ClerkError::WrongToken),
        }
    }

    /// The agent as which the caller acts.
    pub fn agent(&self) -> Result<AgentName> {
        match self.viewer()? {
            Viewer::Agent(agent) => Ok(agent),
            Viewer::Outsider => Err(ClerkError::NoAgent),
        }
    }

    /// Makes sure that the caller is this agent.
    pub fn prove(&self, agent: &AgentName) -> Result<()> {
        let proven = match self.viewer()? {
            Viewer::Agent(proven) if proven == *agent => return Ok(()),
            Viewer::Agent(proven) => Some(proven),
            Viewer::Outsider => None,
        };
        Err(ClerkError::NotYourAgent { agent: agent.clone(), proven })
    }
}

impl Caller {
    /// Makes sure that the caller opened the session, or is the operator.
    pub(crate) fn owns(&self, snapshot: &Snapshot, verb: &'static str) -> Result<()> {
        let by_token = match &*snapshot.room {
            Room::Whiteboard(board) => Some(Proven::Agent(board.opened_by().clone())),
            Room::Council(_) => Some(Proven::Opener),
            // Nobody has a token for having opened one of these.
            Room::Workflow(_)
            | Room::Boardroom(_)
            | Room::Discussion(_)
            | Room::Library(_)
            | Room::Signals(_)
            | Room::Shelf(_)
            | Room::Boards(_) => None,
        };
        if self.standing.owns(snapshot, by_token.as_ref() == Some(&self.proven)) {
            return Ok(());
        }
        let by_token = by_token.is_some();
        Err(ClerkError::NotYours { kind: snapshot.room.summary().kind, verb, by_token })
    }

    /// The seat for which the caller speaks, when that is one's own; `None` for whoever
    /// may speak for anybody: the opener and the operator.
    pub(crate) fn seat(&self, snapshot: &Snapshot) -> Result<Option<PersonsSeat>> {
        let own = match &self.proven {
            Proven::Nothing => None,
            Proven::Seat(own) => Some(own.clone()),
            Proven::Stranger | Proven::Agent(_) | Proven::Opener => {
                return Err(ClerkError::WrongToken);
            }
        };
        match self.may(snapshot, own.is_some()) {
            true => Ok(own),
            false => Err(ClerkError::NotYourSeat),
        }
    }

    /// Whether the caller may do what is for the opener and the operator, or for somebody
    /// whose token was shown.
    pub fn may(&self, snapshot: &Snapshot, has_shown: bool) -> bool {
        self.standing.may(opener(snapshot), has_shown)
    }
}

/// As whom the opener came in. A whiteboard's events have agents for actors; it says so
/// itself.
fn opener(snapshot: &Snapshot) -> Option<&str> {
    match &*snapshot.room {
        Room::Whiteboard(board) => board.principal(),
        Room::Boardroom(_)
        | Room::Council(_)
        | Room::Discussion(_)
        | Room::Workflow(_)
        | Room::Library(_)
        | Room::Signals(_)
        | Room::Shelf(_)
        | Room::Boards(_) => Some(&snapshot.opened_by),
    }
}

/// Stops what runs in a session. Anybody may, but for a run of a workflow, which has more
/// to it than what it says, and a whiteboard, of which only those who lead it may know that
/// something runs.
pub async fn stop(clerk: &Clerk, caller: Caller) -> Result {
    let snapshot = clerk.engine.get(caller.session).await?;
    match &*snapshot.room {
        Room::Workflow(_) => caller.owns(&snapshot, "stop")?,
        Room::Whiteboard(_) => whiteboards::leads(&caller, &snapshot)?,
        Room::Boardroom(_)
        | Room::Council(_)
        | Room::Discussion(_)
        | Room::Library(_)
        | Room::Signals(_)
        | Room::Shelf(_)
        | Room::Boards(_) => {}
    }
    Ok(clerk.engine.submit(caller.session, caller.by, room::Command::Stop).await?)
}

/// Removes a session for good, if the caller may.
pub async fn remove(clerk: &Clerk, caller: &Caller) -> Result<()> {
    caller.owns(&clerk.engine.get(caller.session).await?, "delete")?;
    Ok(clerk.engine.remove(caller.session).await?)
}

/// Says how lists show a session, if the caller may: it is so for everybody.
pub async fn label(clerk: &Clerk, caller: &Caller, new: NewLabel) -> Result<SessionRow> {
    if new.title.is_none() && new.pinned.is_none() {
        let problem = "is missing: send a title, or whether the session is pinned";
        return Err(ClerkError::wrong("title", problem));
    }
    let title = new.title.as_deref().map(room::label).transpose()?;
    caller.owns(&clerk.engine.get(caller.session).await?, "rename or pin")?;
    Ok(clerk.engine.label(caller.session, Label { title, pinned: new.pinned }).await?)
}

/// How lists show a session.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewLabel {
    /// In place of the session's own title; an empty one gives that back.
    #[schema(max_length = 400)]
    pub title: Option<String>,
    /// Lists can be asked for what is pinned.
    pub pinned: Option<bool>,
}

/// The same request, made by this agent of this session: what it keys and what the
/// record says are the agent's own. Two agents that choose the same key learn nothing
/// of each other, also when they have the same name in different places.
pub(crate) fn by(by: By, session: SessionId, agent: &AgentName) -> By {
    keyed(by, agent, &format!("as {agent} in {session}"))
}

/// The same request, made by whoever wants to be this agent. Keys are kept apart from
/// those of the agent itself, or anybody could try out which ones it has used.
pub(crate) fn claimed(by: By, session: SessionId, agent: &AgentName) -> By {
    keyed(by, agent, &format!("wants to be {agent} in {session}"))
}

/// The same request, which opens a place where this agent will be.
pub(crate) fn opened(by: By, agent: &AgentName) -> By {
    keyed(by, agent, &format!("opens as {agent}"))
}

fn keyed(by: By, agent: &AgentName, how: &str) -> By {
    let idempotency = by.idempotency.map(|mut idempotency| {
        idempotency.principal = format!("{} {how}", idempotency.principal);
        idempotency
    });
    By { actor: agent.0.clone(), idempotency }
}

/// Principals that are the operator of the server: whoever needs no token or uses the
/// one of this machine, and whoever has the first of the tokens.
const OPERATORS: [&str; 2] = ["local", "token-1"];

/// How a caller stands, whatever session it is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Standing {
    pub principal: String,
    /// Agents act by the tokens that were handed to them, also where whoever runs them
    /// is the operator.
    pub is_agent: bool,
}

impl Standing {
    fn is_operator(&self) -> bool {
        !self.is_agent && OPERATORS.contains(&self.principal.as_str())
    }

    /// Makes sure that the operator of the server asks.
    pub fn operates(&self, what: &'static str) -> Result<()> {
        if self.is_operator() { Ok(()) } else { Err(ClerkError::NotOperator(what)) }
    }

    /// Whether a session is the caller's, who may have shown the token of its opener, or the
    /// caller the operator.
    pub(crate) fn owns(&self, snapshot: &Snapshot, has_shown: bool) -> bool {
        // What somebody's agent has begun is theirs, and that of all their agents.
        let is_run = matches!(&*snapshot.room, Room::Workflow(_));
        let is_theirs = is_run && *snapshot.opened_by == self.agents();
        self.may(opener(snapshot), has_shown || is_theirs)
    }

    /// As whom the caller's agents open what is not to be taken for the caller's own.
    pub(crate) fn agents(&self) -> String {
        format!("agent of {}", self.principal)
    }

    /// Whether the caller may do what is for the opener of a session, or for somebody
    /// whose token was shown, or for the operator. `opener` came in as that principal.
    fn may(&self, opener: Option<&str>, has_shown: bool) -> bool {
        // The operator's own sessions are not an agent's because the operator runs it.
        let is_opener = opener == Some(&self.principal) && self.principal().is_some();
        has_shown || is_opener || self.is_operator()
    }

    /// The caller by name, where that tells them from the operator.
    pub(crate) fn principal(&self) -> Option<&str> {
        let is_own = !self.principal.is_empty() && !OPERATORS.contains(&self.principal.as_str());
        is_own.then_some(self.principal.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `o` the operator; `y` may, `-` may not.
    const TABLE: &str = "
        caller        nobody's local's token-1's token-2's token-3's shown
        local         o        o       o         o         o         y
        token-1       o        o       o         o         o         y
        token-2       -        -       -         y         -         y
        token-3       -        -       -         -         y         y
        nobody        -        -       -         -         -         y
        local/mcp     -        -       -         -         -         y
        token-1/mcp   -        -       -         -         -         y
        token-2/mcp   -        -       -         y         -         y
        token-3/mcp   -        -       -         -         y         y
        nobody/mcp    -        -       -         -         -         y
    ";

    #[test]
    fn everybody_may_what_the_table_says() {
        let mut rows = TABLE.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let mut rows = rows.by_ref().filter(|row| !row.is_empty());
        let head = rows.next().unwrap_or_default();
        let mut seen = 0;
        for row in rows {
            let (name, is_agent) = match row[0].split_once('/') {
                Some((name, _)) => (name, true),
                None => (row[0], false),
            };
            let principal = if name == "nobody" { "" } else { name }.to_owned();
            let standing = Standing { principal, is_agent };
            for (whose, expected) in head.iter().zip(&row).skip(1) {
                let (opener, shown) = match *whose {
                    "shown" => (None, true),
                    "nobody's" => (None, false),
                    other => (other.strip_suffix("'s"), false),
                };
                let may = standing.may(opener, shown);
                assert_eq!(may, *expected != "-", "{} and {whose}", row[0]);
                assert_eq!(standing.is_operator(), row[1] == "o", "{}", row[0]);
                seen += 1;
            }
        }
        assert_eq!(seen, 60);
    }

    /// A session without a known opener is not that of a caller without a name.
    #[test]
    fn no_name_means_nobody() {
        let standing = Standing { principal: String::new(), is_agent: false };
        assert!(!standing.may(Some(""), false));
        assert_eq!(standing.principal(), None);
    }

    #[test]
    fn nothing_but_an_agents_own_token_proves_the_agent() {
        let (ann, bob) = (AgentName("ann".into()), AgentName("bob".into()));
        let seat = PersonsSeat { id: "1".into(), name: "ann".into() };
        let is_somebody_else =
            |proven| Err(ClerkError::NotYourAgent { agent: ann.clone(), proven });
        for (proven, expected) in [
            (Proven::Agent(ann.clone()), Ok(())),
            (Proven::Agent(bob.clone()), is_somebody_else(Some(bob))),
            (Proven::Nothing, is_somebody_else(None)),
            (Proven::Stranger, Err(ClerkError::WrongToken)),
            (Proven::Opener, Err(ClerkError::WrongToken)),
            (Proven::Seat(seat), Err(ClerkError::WrongToken)),
        ] {
            let found = proven.prove(&ann);
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{proven:?}");
        }
    }
}
