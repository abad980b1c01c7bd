//! Errands of sessions: what a step of a workflow means, carried out by the same requests
//! that people make. Each is given under the key that its session derives, so that given
//! twice it is carried out once.

mod open;
mod seat;
mod tell;
mod wait;

use std::sync::{Arc, Weak};

use futures::future::BoxFuture;
use plenary_domain::workflow::State;
use plenary_domain::workflow::gives::Ended;
use plenary_domain::{
    AgentName, Errand, Failure, FailureKind, Reject, Room, SessionId, Usage, limits, room,
};
use plenary_engine::ports::{
    ErrandError, Errands, Idempotency, Outside, ProviderReport, ProviderState, StoreError,
};
use plenary_engine::{By, EngineError, Snapshot};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::identity::{self, Caller, Proven, Standing};
use crate::{Clerk, ClerkError, Result, councils, shelves, whiteboards};

/// Carries out errands for the engine of a clerk.
pub struct Messenger(Weak<Clerk>);

impl Messenger {
    /// The engine has the messenger, and the clerk the engine: it must not keep the clerk.
    pub fn of(clerk: &Arc<Clerk>) -> Arc<Self> {
        Arc::new(Messenger(Arc::downgrade(clerk)))
    }
}

impl Errands for Messenger {
    fn run(
        &self,
        session: SessionId,
        errand: Errand,
    ) -> BoxFuture<'static, Result<Value, ErrandError>> {
        let clerk = self.0.upgrade();
        Box::pin(async move {
            let gone = || ErrandError::Later("the program is ending".into());
            let clerk = clerk.ok_or_else(gone)?;
            let run = Run::of(&clerk, session).await.map_err(why)?;
            let is_of_models = matches!(errand, Errand::Look { .. } | Errand::Open { .. });
            match run.carry_out(errand).await {
                Err(ErrandError::Failed(failure))
                    if is_of_models && run.may_pass(&failure).await =>
                {
                    Err(ErrandError::Passing(failure))
                }
                brought => brought,
            }
        })
    }
}

/// A session that has sent for something, as it stood when it did.
struct Run<'a> {
    clerk: &'a Arc<Clerk>,
    snapshot: Snapshot,
}

impl<'a> Run<'a> {
    async fn of(clerk: &'a Arc<Clerk>, session: SessionId) -> Result<Self> {
        Ok(Run { clerk, snapshot: clerk.engine.get(session).await? })
    }

    async fn carry_out(&self, errand: Errand) -> Result<Value, ErrandError> {
        match errand {
            Errand::Look { act, with } => self.look(act, &with).await,
            Errand::Open { act, with, key, at } => self.open(act, with, &key, at).await,
            Errand::Tell { act, with, key } => self.tell(act, with, &key).await,
            Errand::Watch { session, .. } => self.watch(&session).await,
            Errand::Await { all, signals, since, taken } => {
                self.wait(all, &signals, since, &taken).await
            }
            Errand::Stop { session } => self.end(&session).await,
            outward @ (Errand::Request { .. } | Errand::Write { .. }) => {
                let outside = self.outside().await?;
                outside.run(outward).await.map_err(ErrandError::Failed)
            }
        }
    }

    /// Whether a model was not found, while a provider that may list it in a moment did not.
    async fn may_pass(&self, failure: &Failure) -> bool {
        if !matches!(failure.kind, FailureKind::Unreachable | FailureKind::Misconfigured) {
            return false;
        }
        let passes = |report: &ProviderReport| {
            matches!(report.state, ProviderState::Unusable { passes: true, .. })
        };
        self.clerk.engine.models().catalog().await.iter().any(passes)
    }

    /// What the operator has set to be reached, for runs that the operator has started or
    /// that are of a workflow which the operator has stored. Others would reach it by a file
    /// of their own.
    async fn outside(&self) -> Result<&Arc<dyn Outside>, ErrandError> {
        let refused = |problem: &str| failed(FailureKind::Misconfigured, problem);
        let run = self.state()?;
        let stored = shelves::is_stored(self.clerk, &run.definition.name, &run.source).await;
        let is_own = Standing { is_agent: false, ..self.standing() }.operates("go outside").is_ok();
        if !is_own && !stored.map_err(why)? {
            return Err(refused(
                "Requests, files and secrets are only for workflows that the operator has saved.",
            ));
        }
        let none = || refused("Requests and files are not allowed here.");
        self.clerk.outside.as_ref().ok_or_else(none)
    }

    fn state(&self) -> Result<&State, ErrandError> {
        let run = self.snapshot.room.workflow();
        run.ok_or_else(|| failed(FailureKind::Internal, "This is not a run."))
    }

    /// Whoever started the run asks, under a key that lasts.
    fn by(&self, key: &str) -> By {
        by(&self.snapshot, key)
    }

    fn standing(&self) -> Standing {
        // A run acts by what it has registered and opened, and not with an operator's power.
        Standing { principal: self.snapshot.opened_by.to_string(), is_agent: true }
    }

    fn caller(&self, session: SessionId, key: &str, proven: Proven) -> Caller {
        Caller { session, by: self.by(key), standing: self.standing(), proven }
    }

    /// The room of this kind that somebody means, by its name or its id.
    async fn room(&self, kind: &str, written: &str) -> Result<Snapshot> {
        let engine = &self.clerk.engine;
        let id = match written.parse::<SessionId>() {
            Ok(id) => id,
            Err(_) => engine.named(kind, written).await?,
        };
        let room = engine.get(id).await?;
        match room.room.kind() == kind {
            true => Ok(room),
            false => Err(EngineError::NotFound(id).into()),
        }
    }

    async fn board(&self, with: &Map<String, Value>) -> Result<Snapshot> {
        self.room(whiteboards::KIND, text(with, "board")).await
    }

    async fn council(&self, with: &Map<String, Value>) -> Result<Snapshot> {
        self.room(councils::KIND, text(with, "council")).await
    }

    /// As whom the run acts in a room: as an agent that it has registered there, or whose
    /// token it was given.
    async fn proven(
        &self,
        room: &Snapshot,
        agent: &AgentName,
        with: &Map<String, Value>,
    ) -> Result<Proven, ErrandError> {
        if let Some(token) = self.token(with).await? {
            let proofs = self.clerk.proofs.get().ok_or_else(|| {
                failed(FailureKind::Misconfigured, "It is not known whose token this is.")
            })?;
            return proofs.proven(room.id, token).await.map_err(why);
        }
        match self.speaks_for(room, agent).await.map_err(why)? {
            true => Ok(Proven::Agent(agent.clone())),
            false => Ok(Proven::Nothing),
        }
    }

    /// The secret that stands in place of a token, or the token itself.
    async fn token(&self, with: &Map<String, Value>) -> Result<Option<String>, ErrandError> {
        match with.get("token") {
            None => Ok(None),
            Some(Value::String(token)) => Ok(Some(token.clone())),
            Some(named) => {
                let name = named.get("secret").and_then(Value::as_str).unwrap_or_default();
                let secret = self.outside().await?.secret(name);
                let part = |part: &str| named.get(part).and_then(Value::as_str).unwrap_or_default();
                let missing = || {
                    let problem = format!("The secret {name:?} is not set.");
                    failed(FailureKind::Misconfigured, problem)
                };
                let secret = secret.ok_or_else(missing)?;
                Ok(Some(format!("{}{secret}{}", part("before"), part("after"))))
            }
        }
    }

    /// What this run has done outside, and those that it goes on from: their rooms are its
    /// own.
    async fn deeds(&self) -> Result<Vec<Deed>> {
        let (mut deeds, mut run) = (vec![], self.snapshot.clone());
        for _ in 0..limits::FORKS_DEEP {
            let Some(state) = run.room.workflow() else { break };
            let leader = leader(state);
            let deed = |act, with: &Map<String, Value>, venture| Deed {
                act,
                with: with.clone(),
                leader: leader.clone(),
                venture,
            };
            deeds.extend(state.deeds().map(|(act, with)| deed(act, with, None)));
            let ventures = state.ventures();
            deeds.extend(ventures.map(|(act, with, key)| deed(act, with, Some(by(&run, &key)))));
            let Some((earlier, _)) = &state.forked else { break };
            run = match self.clerk.engine.get(*earlier).await {
                // It was removed; what it has done cannot be told.
                Err(EngineError::NotFound(_)) => break,
                earlier => earlier?,
            };
        }
        Ok(deeds)
    }

    /// Whether the run has brought this agent into the room.
    async fn speaks_for(&self, room: &Snapshot, agent: &AgentName) -> Result<bool> {
        for Deed { act, with, leader, venture } in self.deeds().await? {
            let (field, who) = match act {
                "whiteboard.open" => ("board_id", leader),
                "whiteboard.register" => ("board", agent_of(&with, "agent")),
                "council.post" => ("council", agent_of(&with, "as")),
                _ => continue,
            };
            if who != *agent || !self.is_room(room, text(&with, field)).await? {
                continue;
            }
            // What is under way may be done already: then the room has its key.
            let Some(by) = venture else { return Ok(true) };
            let by = match act {
                "council.post" => identity::by(by, room.id, agent),
                _ => identity::claimed(by, room.id, agent),
            };
            if self.clerk.engine.repeated(&by).await?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the room is called so. A store that fails says nothing about that.
    async fn is_room(&self, room: &Snapshot, written: &str) -> Result<bool> {
        match self.room(room.room.kind(), written).await {
            Ok(there) => Ok(there.id == room.id),
            Err(ClerkError::Engine(EngineError::NotFound(_) | EngineError::Unnamed { .. })) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// The same run as it stands now.
    async fn as_of_now(&self) -> Result<Run<'a>> {
        Run::of(self.clerk, self.snapshot.id).await
    }

    /// Ends a session that the run has opened. One that has ended is ended.
    async fn end(&self, session: &str) -> Result<Value, ErrandError> {
        let Ok(id) = session.parse::<SessionId>() else { return Ok(Value::Null) };
        let key = format!("{}/end/{session}", self.snapshot.id);
        let room = match self.clerk.engine.get(id).await {
            Err(EngineError::NotFound(_)) => return Ok(Value::Null),
            room => room.map_err(|error| why(error.into()))?,
        };
        let ended = match &*room.room {
            Room::Whiteboard(_) => self.close_board(room.clone(), &key).await,
            Room::Council(_) => {
                let new = councils::CouncilClosing { summary: cancelled() };
                let caller = self.caller(id, &key, Proven::Opener);
                councils::close(self.clerk, caller, new).await.map(|_| ())
            }
            Room::Boardroom(_) | Room::Discussion(_) | Room::Workflow(_) => {
                let stop = self.clerk.engine.submit(id, self.by(&key), room::Command::Stop);
                stop.await.map(|_| ()).map_err(ClerkError::from)
            }
            Room::Library(_) | Room::Signals(_) | Room::Shelf(_) | Room::Boards(_) => Ok(()),
        };
        match ended.map_err(why) {
            // Whatever is in the way of ending it will be in the way again.
            Ok(()) | Err(ErrandError::Failed(_)) => {
                match self.clerk.engine.get(id).await {
                    Ok(room) => Ok(Ended::early(&room.room).told()),
                    Err(EngineError::NotFound(_)) => Ok(Value::Null),
                    // What it took is told by whoever can read it.
                    Err(error) => Err(of_engine(error)),
                }
            }
            Err(later) => Err(later),
        }
    }

    /// A board is archived from its last phase only, so it goes through those before it.
    async fn close_board(&self, mut room: Snapshot, key: &str) -> Result<()> {
        loop {
            let board = whiteboards::board(&room)?;
            let Some(next) = board.phase().next().last() else { return Ok(()) };
            let proven = Proven::Agent(board.opened_by().clone());
            let caller = self.caller(room.id, &format!("{key}/{}", next.name()), proven);
            let (target_phase, note) = ((*next).into(), cancelled());
            let new = whiteboards::Move { target_phase, note };
            (room, _) = whiteboards::transition(self.clerk, caller, new).await?;
        }
    }

    async fn watch(&self, session: &str) -> Result<Value, ErrandError> {
        let id = session.parse::<SessionId>();
        let id = id.map_err(|_| failed(FailureKind::Internal, "There is no such session."))?;
        let engine = &self.clerk.engine;
        let mut changes = engine.changes(id);
        loop {
            let room = match engine.get(id).await {
                Err(EngineError::NotFound(_)) => {
                    return Err(failed(FailureKind::Refused, "The session was removed."));
                }
                room => room.map_err(|error| why(error.into()))?,
            };
            match Ended::of(&room.room) {
                Some(mut ended) => {
                    if let Ok(given) = &mut ended.given {
                        given["id"] = Value::String(session.to_owned());
                    }
                    return Ok(ended.told());
                }
                None => changes.next().await,
            }
        }
    }
}

/// What a run has done in a room, and as whom it led boards then.
struct Deed {
    act: &'static str,
    with: Map<String, Value>,
    leader: AgentName,
    /// By whom and under which key it may have been done, where that is not known.
    venture: Option<By>,
}

fn by(run: &Snapshot, key: &str) -> By {
    By {
        actor: run.opened_by.to_string(),
        idempotency: Some(Idempotency {
            principal: format!("run {}", run.id),
            key: key.to_owned(),
            request_hash: String::new(),
            lasting: true,
        }),
    }
}

/// Whether somebody else was first to have this name in a room, which may have been another
/// step of the same run.
fn is_name_lost(error: &ClerkError) -> bool {
    matches!(error, ClerkError::NotYourAgent { .. } | ClerkError::Refused(Reject::Forbidden(_)))
}

/// As whom a run leads the boards that it opens.
fn leader(run: &State) -> AgentName {
    AgentName(run.definition.name.clone())
}

fn cancelled() -> Option<String> {
    Some("The workflow that opened this was cancelled.".to_owned())
}

fn text<'a>(with: &'a Map<String, Value>, field: &str) -> &'a str {
    with.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn own(with: &Map<String, Value>, field: &str) -> Option<String> {
    with.get(field).and_then(Value::as_str).map(str::to_owned)
}

fn agent_of(with: &Map<String, Value>, field: &str) -> AgentName {
    AgentName(text(with, field).to_owned())
}

/// A request from the fields of a step. What a step may say, the rules have looked at;
/// what stands in lists and maps is looked at here.
fn request<T: DeserializeOwned>(fields: Value) -> Result<T, ErrandError> {
    serde_json::from_value(fields)
        .map_err(|error| failed(FailureKind::Misconfigured, sentence(&error.to_string())))
}

fn failed(kind: FailureKind, message: impl Into<String>) -> ErrandError {
    let (message, usage) = (message.into(), Usage::default());
    ErrandError::Failed(Failure { kind, message, attempts: 1, usage })
}

fn sentence(words: &str) -> String {
    let mut letters = words.trim_end_matches('.').chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

/// Why an errand failed, by what can help.
fn why(error: ClerkError) -> ErrandError {
    let (kind, message) = match error {
        ClerkError::Engine(error) => return of_engine(error),
        ClerkError::Refused(reject) | ClerkError::Agents(reject) | ClerkError::Boards(reject) => {
            of_reject(reject)
        }
        ClerkError::NoModel(none) => (FailureKind::Unreachable, none.problem),
        ClerkError::WrongToken => {
            (FailureKind::Misconfigured, "The token is not valid there.".to_owned())
        }
        ClerkError::NoAgent => {
            let words = "The run has not registered this agent there, and has no token for it.";
            (FailureKind::Misconfigured, words.to_owned())
        }
        ClerkError::NotYourAgent { agent, .. } => {
            let words = format!("The name {agent} is someone else's there; give its token.");
            (FailureKind::Misconfigured, words)
        }
        ClerkError::NotYours { kind, verb, .. } => {
            (FailureKind::Refused, format!("Only the person who opened the {kind} can {verb} it."))
        }
        ClerkError::NotYourSeat | ClerkError::OtherSeat(_) | ClerkError::NotOperator(_) => {
            (FailureKind::Refused, "A run may not do this.".to_owned())
        }
        ClerkError::NotKept(problem) => (FailureKind::Internal, problem),
        ClerkError::Unreadable(what) => {
            (FailureKind::Internal, format!("The {what} was saved but cannot be read back."))
        }
    };
    failed(kind, message)
}

fn of_engine(error: EngineError) -> ErrandError {
    match error {
        EngineError::Rejected(reject) => {
            let (kind, message) = of_reject(reject);
            failed(kind, message)
        }
        EngineError::NotFound(_) => failed(FailureKind::Misconfigured, "There is no such session."),
        EngineError::Unnamed { kind, name } => {
            failed(FailureKind::Misconfigured, format!("There is no {kind} called {name:?}."))
        }
        EngineError::Taken(name) => {
            failed(FailureKind::Misconfigured, format!("The name {name:?} is taken."))
        }
        EngineError::KeyReused | EngineError::Broken(_) => {
            failed(FailureKind::Internal, sentence(&error.to_string()))
        }
        EngineError::Busy | EngineError::Contended => ErrandError::Later(error.to_string()),
        EngineError::Store(store) => match store {
            StoreError::Damaged(_) => failed(FailureKind::Internal, sentence(&store.to_string())),
            // A later version has written it, and can go on with this run as well.
            StoreError::Unreadable(_)
            | StoreError::InUse(_)
            | StoreError::Failed(_)
            | StoreError::NotWritten(_)
            | StoreError::Fenced => ErrandError::Later(store.to_string()),
        },
    }
}

fn of_reject(reject: Reject) -> (FailureKind, String) {
    match reject {
        Reject::Invalid(wrong) => {
            let all = wrong.iter().map(|one| format!("`{}` {}", one.field, one.problem));
            (FailureKind::Misconfigured, sentence(&all.collect::<Vec<_>>().join("; ")))
        }
        Reject::NotNow { message, .. } => (FailureKind::Refused, message),
        Reject::Unknown(message)
        | Reject::Forbidden(message)
        | Reject::NotInvited(message)
        | Reject::Taken(message) => (FailureKind::Misconfigured, message),
        Reject::Stale => (FailureKind::Refused, "It is too late for that.".to_owned()),
    }
}
