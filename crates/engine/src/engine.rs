//! The engine's parts, and the questions that change nothing.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plenary_domain::{CallId, Nonce, Reject, SessionId, limits, room};
use thiserror::Error;
use tokio::sync::{OnceCell, broadcast};
use tokio::task::JoinHandle;

use crate::line::Line;
use crate::live::{Live, Underway};
use crate::measured::Measured;
use crate::meter::Meter;
use crate::names::Names;
use crate::ports::{
    Clock, ListPage, ListQuery, Models, SessionRow, Store, StoreError, StoredEvent,
};
use crate::submit::through;

pub struct Engine {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) models: Arc<dyn Models>,
    pub(crate) clock: Arc<dyn Clock>,
    pub meter: Meter,
    /// This process, as the owner of the sessions that it drives.
    pub(crate) owner: String,
    pub(crate) all: broadcast::Sender<Arc<StoredEvent>>,
    pub(crate) names: Names,
    pub(crate) measured: Measured,
    secret: OnceCell<[u8; 32]>,
    rooms: Mutex<HashMap<SessionId, Arc<Room>>>,
    /// Rooms that nobody holds, the one used last at the end.
    idle: Mutex<VecDeque<SessionId>>,
}

/// A session that somebody works on, reads along, or that has calls under way.
pub(crate) struct Room {
    pub live: Live,
    /// Commands that wait for whoever has the lock.
    pub line: Line,
    /// Commands to one session are decided one after the other.
    pub work: tokio::sync::Mutex<Workings>,
}

#[derive(Default)]
pub(crate) struct Workings {
    pub state: Option<Arc<room::Room>>,
    pub version: u64,
    /// Set while this process drives the session.
    pub epoch: Option<u64>,
    pub running: HashMap<CallId, JoinHandle<()>>,
}

/// A session as it stands.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub id: SessionId,
    pub version: u64,
    pub room: Arc<room::Room>,
    /// The version that the request's own events ended at, also when an earlier
    /// request with the same key wrote them. `None`: it wrote nothing.
    pub written: Option<u64>,
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
    /// Others changed the session each time before this command could.
    #[error("the session is being changed by others; try again")]
    Contended,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Engine {
    pub fn new(store: Arc<dyn Store>, models: Arc<dyn Models>, clock: Arc<dyn Clock>) -> Arc<Self> {
        let (all, _) = broadcast::channel(limits::LIVE_FRAMES_ALL);
        Arc::new(Engine {
            store,
            models,
            clock,
            meter: Meter::default(),
            owner: uuid::Uuid::new_v4().to_string(),
            all,
            names: Names::default(),
            measured: Measured::default(),
            secret: OnceCell::new(),
            rooms: Mutex::default(),
            idle: Mutex::default(),
        })
    }

    pub fn models(&self) -> &dyn Models {
        &*self.models
    }

    pub fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// A session as it stands, without setting anything in motion.
    pub async fn get(self: &Arc<Self>, id: SessionId) -> Result<Snapshot, EngineError> {
        let engine = self.clone();
        through(async move { engine.get_now(id).await }).await
    }

    async fn get_now(&self, id: SessionId) -> Result<Snapshot, EngineError> {
        let room = self.room(id);
        let mut work = room.work.lock().await;
        let loaded = self.load(id, &mut work).await;
        let snapshot = work.snapshot(id);
        drop(work);
        drop(room);
        self.forget_if_idle(id);
        loaded?;
        snapshot.ok_or(EngineError::NotFound(id))
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
        let recent = self.rooms().get(&id).and_then(|room| room.live.event_at(version));
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

    pub async fn check(&self) -> Result<(), EngineError> {
        Ok(self.store.check().await?)
    }

    /// Sessions that are in use: somebody works on them, reads along, or they have
    /// calls under way.
    pub fn loaded(&self) -> usize {
        self.rooms().values().filter(|room| Arc::strong_count(room) > 1).count()
    }

    /// What a call has brought so far; `None` unless it is under way here.
    pub fn underway(&self, id: SessionId, call: &CallId) -> Option<Underway> {
        let room = self.rooms().get(&id).cloned()?;
        room.live.underway(call)
    }

    pub(crate) fn room(&self, id: SessionId) -> Arc<Room> {
        let new = || {
            let work = tokio::sync::Mutex::new(Workings::default());
            Arc::new(Room { live: Live::new(), line: Line::default(), work })
        };
        self.rooms().entry(id).or_insert_with(new).clone()
    }

    /// Lets go of a room that nobody holds, but for the few that were used last:
    /// many agents that take turns on a board would have it folded from its log
    /// each time. Whoever works on a room, reads along or runs a call of it holds
    /// it, so nobody can miss what another one publishes.
    pub(crate) fn forget_if_idle(&self, id: SessionId) {
        let mut rooms = self.rooms();
        let Some(room) = rooms.get(&id).filter(|room| Arc::strong_count(room) == 1) else { return };
        // One that is not in the log, or never was read.
        if room.work.try_lock().is_ok_and(|work| work.state.is_none()) {
            rooms.remove(&id);
            return;
        }
        room.live.forget_events_but(limits::IDLE_EVENTS);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|other| *other != id);
        idle.push_back(id);
        if idle.len() > limits::IDLE_SESSIONS
            && let Some(oldest) = idle.pop_front()
            && rooms.get(&oldest).is_some_and(|room| Arc::strong_count(room) == 1)
        {
            rooms.remove(&oldest);
        }
    }

    pub(crate) fn rooms(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Room>>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings a room up to the end of its log.
    pub(crate) async fn load(&self, id: SessionId, work: &mut Workings) -> Result<(), StoreError> {
        let mut page = self.store.events(id, work.version, limits::EVENTS_PAGE).await?;
        if page.is_empty() {
            return Ok(());
        }
        let mut state = work.state.take().map(|state| (*state).clone());
        let result = loop {
            let last = page.len() < limits::EVENTS_PAGE as usize;
            if let Err(error) = fold(&mut state, &mut work.version, page) {
                break Err(error);
            }
            if last {
                break Ok(());
            }
            page = match self.store.events(id, work.version, limits::EVENTS_PAGE).await {
                Ok(page) => page,
                Err(error) => break Err(error),
            };
        };
        work.state = state.map(Arc::new);
        result
    }
}

fn fold(
    state: &mut Option<room::Room>,
    version: &mut u64,
    events: Vec<StoredEvent>,
) -> Result<(), StoreError> {
    for stored in events {
        let event = room::Event::decode(&stored.kind, &stored.payload).map_err(|problem| {
            StoreError::Unreadable(format!("event {}: {problem}", stored.name))
        })?;
        room::apply(state, &event, stored.at);
        *version = stored.version;
    }
    Ok(())
}

impl Workings {
    pub fn snapshot(&self, id: SessionId) -> Option<Snapshot> {
        let room = self.state.clone()?;
        Some(Snapshot { id, version: self.version, room, written: None })
    }
}

/// Random characters for one decision.
pub(crate) fn nonce() -> Nonce {
    let mut text = uuid::Uuid::new_v4().simple().to_string();
    text.truncate(12);
    Nonce(text)
}
