//! The engine's parts, and the questions that change nothing.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use plenary_domain::{Amount, CallId, Nonce, Reject, SessionId, limits, room};
use thiserror::Error;
use tokio::sync::{Notify, OnceCell, broadcast, watch};

use crate::gather::Turns;
use crate::live::Underway;
use crate::measured::Measured;
use crate::meter::Meter;
use crate::names::Names;
use crate::node::Node;
use crate::ports::{
    Clock, Errands, Label, ListPage, ListQuery, Models, NodeRow, Peers, SessionRow, Store,
    StoreError, StoreFigures, StoredEvent,
};
use crate::session::{Entry, Kind, Recorded, Session, Task};
use crate::trace::Traces;

pub struct Engine {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) models: Arc<dyn Models>,
    pub(crate) errands: OnceLock<Arc<dyn Errands>>,
    pub(crate) peers: OnceLock<Arc<dyn Peers>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) traces: OnceLock<Arc<dyn Traces>>,
    pub meter: Meter,
    pub(crate) turns: Arc<Turns>,
    pub(crate) node: Node,
    pub(crate) all: broadcast::Sender<News>,
    /// Tells that a session came to be.
    pub(crate) opened: watch::Sender<()>,
    /// The last position that readers of all sessions were told of.
    pub(crate) told: AtomicU64,
    /// Something may have come to the order over all sessions.
    pub(crate) order_moved: Arc<Notify>,
    pub(crate) order_followed: OnceLock<()>,
    pub(crate) names: Names,
    pub(crate) measured: Measured,
    secret: OnceCell<[u8; 32]>,
    sessions: Mutex<BTreeMap<SessionId, Arc<Session>>>,
    /// Sessions that nobody holds, the one used last at the end.
    idle: Mutex<VecDeque<SessionId>>,
}

/// A session as it stands.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub id: SessionId,
    pub version: u64,
    pub room: Arc<room::Room>,
    /// Whoever wrote its first event.
    pub opened_by: Arc<str>,
    /// The version that the request's own events ended at, also when an earlier
    /// request with the same key wrote them. `None`: it wrote nothing.
    pub written: Option<u64>,
    /// The request's own events, the last of which has the version `written`.
    pub recorded: Vec<Recorded>,
}

/// What readers of all sessions are told of an event: itself or, if it is long, only
/// where it stands. The line of one who does not read must not hold the answers of all.
#[derive(Clone)]
pub(crate) enum News {
    Event(Arc<StoredEvent>),
    At(u64),
}

impl News {
    pub fn position(&self) -> Option<u64> {
        match self {
            News::Event(event) => event.position,
            News::At(position) => Some(*position),
        }
    }
}

/// Named by what the caller can do next.
#[derive(Debug, Error)]
pub enum EngineError {
    #[error("the command was refused")]
    Rejected(Reject),
    #[error("there is no session {0}")]
    NotFound(SessionId),
    #[error("there is no {kind} called {name:?}")]
    Unnamed { kind: String, name: String },
    /// A session of the same kind has this name, or had it and was removed.
    #[error("the name {0:?} is taken")]
    Taken(String),
    /// The key was used for another request.
    #[error("this idempotency key was used for another request")]
    KeyReused,
    /// Too many sessions are running.
    #[error("too many sessions are running at once")]
    Busy,
    /// Others changed the session each time before this command could, or too many wait.
    #[error("the session is being changed by others; try again")]
    Contended,
    /// The rules themselves failed; nothing was changed.
    #[error("the command could not be decided: {0}")]
    Broken(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Engine {
    pub fn new(store: Arc<dyn Store>, models: Arc<dyn Models>, clock: Arc<dyn Clock>) -> Arc<Self> {
        let (all, _) = broadcast::channel(limits::LIVE_FRAMES_ALL);
        Arc::new(Engine {
            node: Node::new(clock.chance()),
            store,
            models,
            errands: OnceLock::new(),
            peers: OnceLock::new(),
            clock,
            traces: OnceLock::new(),
            meter: Meter::default(),
            turns: Arc::default(),
            all,
            opened: watch::Sender::new(()),
            told: AtomicU64::default(),
            order_moved: Arc::default(),
            order_followed: OnceLock::new(),
            names: Names::default(),
            measured: Measured::default(),
            secret: OnceCell::new(),
            sessions: Mutex::default(),
            idle: Mutex::default(),
        })
    }

    /// Who runs errands: somebody who needs an engine themselves. To be said before
    /// anything is gone on with; what is said later is not heard.
    pub fn send(&self, errands: Arc<dyn Errands>) {
        let _ = self.errands.set(errands);
    }

    /// How other nodes of the store are reached, and where they reach this one. To be said
    /// before anything is gone on with, like who runs errands.
    pub fn join(&self, peers: Arc<dyn Peers>, address: Option<String>) {
        let _ = self.peers.set(peers);
        if let Some(address) = address {
            let _ = self.node.address.set(address);
        }
    }

    pub fn models(&self) -> &dyn Models {
        &*self.models
    }

    pub fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// A session as it stands, without setting anything in motion. One that is in memory
    /// is looked at without a lock: it is never older than what its readers were told.
    pub async fn get(self: &Arc<Self>, id: SessionId) -> Result<Snapshot, EngineError> {
        let shown = self.sessions().get(&id).cloned().and_then(|session| session.shown());
        if let Some(snapshot) = shown
            && self.is_newest(&snapshot).await?
        {
            return Ok(snapshot);
        }
        let mut held = self.hold(id).await;
        held.load().await?;
        self.look_at_if_unsettled(&held);
        held.snapshot()
    }

    async fn is_newest(&self, snapshot: &Snapshot) -> Result<bool, EngineError> {
        if !self.store.is_shared() {
            return Ok(true);
        }
        let versions = self.store.versions(&[snapshot.id]).await?;
        Ok(versions.first().is_some_and(|(_, version)| *version == snapshot.version))
    }

    /// The session of this kind with this name.
    pub async fn named(&self, kind: &str, name: &str) -> Result<SessionId, EngineError> {
        if let Some(id) = self.names.get(kind, name) {
            return Ok(id);
        }
        let id = self
            .store
            .named(kind, name)
            .await?
            .ok_or_else(|| EngineError::Unnamed { kind: kind.to_owned(), name: name.to_owned() })?;
        self.names.keep(kind, name, id);
        Ok(id)
    }

    /// What lists know about a session.
    pub async fn row(&self, id: SessionId) -> Result<SessionRow, EngineError> {
        self.store.session(id).await?.ok_or(EngineError::NotFound(id))
    }

    /// Says how lists show a session.
    pub async fn label(&self, id: SessionId, label: Label) -> Result<SessionRow, EngineError> {
        if !self.store.label(id, label).await? {
            return Err(EngineError::NotFound(id));
        }
        self.row(id).await
    }

    pub async fn list(&self, query: ListQuery) -> Result<ListPage, EngineError> {
        Ok(self.store.list(query).await?)
    }

    pub async fn events(&self, id: SessionId) -> Result<Vec<StoredEvent>, EngineError> {
        let mut events: Vec<StoredEvent> = vec![];
        loop {
            let after = events.last().map_or(0, |event| event.version);
            let page = self.store.events(id, after, limits::EVENTS_PAGE).await?;
            let last = page.len() < limits::EVENTS_PAGE as usize;
            events.extend(page);
            if last {
                return Ok(events);
            }
        }
    }

    /// The event at one version of a session.
    pub async fn event(
        &self,
        id: SessionId,
        version: u64,
    ) -> Result<Arc<StoredEvent>, EngineError> {
        // Whoever has just written wants to know what.
        let recent = self.sessions().get(&id).and_then(|session| session.live.event_at(version));
        if let Some(event) = recent {
            return Ok(event);
        }
        let event = self.store.events(id, version.saturating_sub(1), 1).await?.pop();
        let event = event.filter(|event| event.version == version);
        event.map(Arc::new).ok_or(EngineError::NotFound(id))
    }

    pub async fn position(&self) -> Result<u64, EngineError> {
        Ok(self.store.position().await?)
    }

    /// Random bytes that stay the same as long as the log is there.
    pub async fn secret(&self) -> Result<[u8; 32], EngineError> {
        Ok(*self.secret.get_or_try_init(|| self.store.secret()).await?)
    }

    /// Every process that drives sessions of this log.
    pub async fn nodes(&self) -> Result<Vec<NodeRow>, EngineError> {
        Ok(self.store.nodes().await?)
    }

    pub fn store_figures(&self) -> StoreFigures {
        self.store.figures()
    }

    pub async fn check(&self) -> Result<(), EngineError> {
        Ok(self.store.check().await?)
    }

    /// Sessions that are in use: somebody works on them, reads along, or they have
    /// calls under way.
    pub fn loaded(&self) -> usize {
        // That somebody is asked there must not show; that somebody reads along may.
        let is_secret = |session: &Arc<Session>| {
            let is_secret = session.shown().is_some_and(|shown| shown.room.is_secret());
            is_secret && !session.live.is_read()
        };
        let is_held =
            |session: &&Arc<Session>| Arc::strong_count(session) > 1 && !is_secret(session);
        self.sessions().values().filter(is_held).count()
    }

    /// As many sessions ask models as may. Whoever only waits, sends for something or is
    /// read does not count; the few that somebody works on at this moment do.
    pub(crate) fn is_full(&self) -> bool {
        let sessions = self.sessions();
        let is_busy = |session: &&Arc<Session>| {
            let asks = |task: &Task| task.kind == Kind::Ask;
            session.work.try_lock().map_or(true, |work| work.running.values().any(asks))
        };
        sessions.len() >= limits::SESSIONS
            && sessions.values().filter(is_busy).count() >= limits::SESSIONS
    }

    /// What a call has brought so far; `None` unless it is under way here.
    pub fn underway(&self, id: SessionId, call: &CallId) -> Option<Underway> {
        let session = self.sessions().get(&id).cloned()?;
        session.live.underway(call)
    }

    /// What is kept of a session's budget for calls that are under way here.
    pub fn reserved(&self, id: SessionId) -> Amount {
        self.sessions().get(&id).map(|session| session.live.reserved()).unwrap_or_default()
    }

    /// Counts what the calls of a session have said: as long as it is the same, so is what
    /// is under way. Nothing is, for one that nobody has in use.
    pub fn said(&self, id: SessionId) -> u64 {
        self.sessions().get(&id).map_or(0, |session| session.live.said())
    }

    pub(crate) fn session(self: &Arc<Self>, id: SessionId) -> Arc<Session> {
        if self.store.is_shared() {
            self.keep_beating();
        }
        self.sessions().entry(id).or_insert_with(|| Arc::new(Session::new())).clone()
    }

    /// Lets go of a session that nobody holds, but for the few that were used last:
    /// many agents that take turns on a board would have it folded from its log
    /// each time. Whoever works on one, reads along or runs a call of it holds
    /// it, so nobody can miss what another one publishes.
    pub(crate) fn forget_if_idle(&self, id: SessionId) {
        let mut sessions = self.sessions();
        let is_idle = |session: &&Arc<Session>| Arc::strong_count(session) == 1;
        let Some(session) = sessions.get(&id).filter(is_idle) else { return };
        // One that is not in the log, or never was read.
        if session.shown().is_none() {
            sessions.remove(&id);
            return;
        }
        session.live.forget_events_but(limits::IDLE_EVENTS);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|other| *other != id);
        idle.push_back(id);
        if idle.len() > limits::IDLE_SESSIONS
            && let Some(oldest) = idle.pop_front()
            && sessions.get(&oldest).is_some_and(|session| is_idle(&session))
        {
            sessions.remove(&oldest);
        }
    }

    pub(crate) fn sessions(&self) -> MutexGuard<'_, BTreeMap<SessionId, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everybody may read the counter and the events of all sessions, so neither may tell
    /// of what is posted blindly.
    pub(crate) fn count(&self, entries: &[Entry]) {
        let listed = entries.iter().filter(|entry| entry.stored.position.is_some());
        self.meter.events.fetch_add(listed.count() as u64, Relaxed);
    }

    pub(crate) fn publish(&self, session: &Session, event: Arc<StoredEvent>) {
        session.live.event(event.clone());
        if event.version == 1 {
            self.opened.send_replace(());
        }
        let Some(position) = event.position else { return };
        // What is only read again was told before.
        if self.told.fetch_max(position, Relaxed) < position {
            match self.store.is_shared() {
                true => self.order_moved.notify_one(),
                false => self.tell_all(event),
            }
        }
    }

    /// Random characters for one decision.
    pub(crate) fn nonce(&self) -> Nonce {
        let mut text = format!("{:032x}", self.clock.chance());
        text.truncate(12);
        Nonce(text)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.order_moved.notify_one();
        self.node.wake();
    }
}
