//! Load → decide → append → apply → publish, and then whatever is due.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use plenary_domain::room::{self, Command, Event, Input};
use plenary_domain::{CallId, Outcome, Reject, SessionId, limits};

use tokio::task::JoinHandle;

use crate::engine::{Engine, EngineError, Room, Snapshot, Workings, nonce};
use crate::ports::{
    Append, Appended, AttemptEnd, Idempotency, IdempotentAnswer, NewEvent, StoreError, StoredEvent,
};

/// Who submits a command, and whether it may arrive twice.
#[derive(Clone, Debug)]
pub struct By {
    pub actor: String,
    pub idempotency: Option<Idempotency>,
}

impl By {
    pub fn actor(actor: impl Into<String>) -> Self {
        By { actor: actor.into(), idempotency: None }
    }
}

/// A command, and the ends of the attempts that brought it.
pub(crate) struct Step {
    pub command: Command,
    pub attempt: Option<AttemptEnd>,
}

impl Engine {
    /// Opens a session with the command that its form opens with.
    pub async fn open(self: &Arc<Self>, by: By, command: Command) -> Result<Snapshot, EngineError> {
        let engine = self.clone();
        through(async move { engine.open_now(by, command).await }).await
    }

    async fn open_now(self: &Arc<Self>, by: By, command: Command) -> Result<Snapshot, EngineError> {
        if let Some(earlier) = self.repeated(&by).await? {
            return Ok(earlier);
        }
        if self.loaded() >= limits::SESSIONS {
            return Err(EngineError::Busy);
        }
        let id = SessionId(uuid::Uuid::now_v7());
        let room = self.room(id);
        let mut work = room.work.lock().await;
        let result = self.work(id, &room, &mut work, &by, command).await;
        if work.version > 0 {
            self.meter.sessions_opened.fetch_add(1, Relaxed);
        }
        drop(work);
        drop(room);
        self.forget_if_idle(id);
        result
    }

    /// Gives a command to an open session.
    pub async fn submit(
        self: &Arc<Self>,
        id: SessionId,
        by: By,
        command: Command,
    ) -> Result<Snapshot, EngineError> {
        let engine = self.clone();
        through(async move { engine.submit_now(id, by, command).await }).await
    }

    async fn submit_now(
        self: &Arc<Self>,
        id: SessionId,
        by: By,
        command: Command,
    ) -> Result<Snapshot, EngineError> {
        let room = self.room(id);
        let mut work = room.work.lock().await;
        let result = self.submit_loaded(id, &room, &mut work, &by, command).await;
        drop(work);
        drop(room);
        self.forget_if_idle(id);
        result
    }

    async fn submit_loaded(
        self: &Arc<Self>,
        id: SessionId,
        room: &Arc<Room>,
        work: &mut Workings,
        by: &By,
        command: Command,
    ) -> Result<Snapshot, EngineError> {
        if work.state.is_none() {
            self.load(id, work).await?;
        }
        if work.state.is_none() {
            return Err(EngineError::NotFound(id));
        }
        // Looked up here, where a repeat has waited for the first to be done.
        match self.earlier(by).await? {
            Some(earlier) if earlier.session == id => {
                return self.standing(id, work, Some(earlier.version));
            }
            Some(earlier) => return self.get(earlier.session).await,
            None => {}
        }
        self.work(id, room, work, by, command).await
    }

    async fn work(
        self: &Arc<Self>,
        id: SessionId,
        room: &Arc<Room>,
        work: &mut Workings,
        by: &By,
        command: Command,
    ) -> Result<Snapshot, EngineError> {
        let step = Step { command, attempt: None };
        let before = work.version;
        let written = match self.commit(id, room, work, by, vec![step]).await? {
            // The answer to the first request. This room is locked here already.
            Some(repeated) if repeated.session != id => return self.get(repeated.session).await,
            Some(repeated) => Some(repeated.version),
            None => Some(work.version).filter(|version| *version > before),
        };
        self.reconcile(id, room, work).await;
        self.standing(id, work, written)
    }

    fn standing(
        &self,
        id: SessionId,
        work: &Workings,
        written: Option<u64>,
    ) -> Result<Snapshot, EngineError> {
        let snapshot = work.snapshot(id).ok_or(EngineError::NotFound(id))?;
        Ok(Snapshot { written, ..snapshot })
    }

    /// The session that a request with the same key has opened or changed before.
    pub async fn repeated(self: &Arc<Self>, by: &By) -> Result<Option<Snapshot>, EngineError> {
        match self.earlier(by).await? {
            Some(earlier) => {
                let snapshot = self.get(earlier.session).await?;
                Ok(Some(Snapshot { written: Some(earlier.version), ..snapshot }))
            }
            None => Ok(None),
        }
    }

    async fn earlier(&self, by: &By) -> Result<Option<IdempotentAnswer>, EngineError> {
        let Some(wanted) = &by.idempotency else { return Ok(None) };
        match self.store.idempotent(&wanted.principal, &wanted.key).await? {
            Some(earlier) if earlier.request_hash == wanted.request_hash => Ok(Some(earlier)),
            Some(_) => Err(EngineError::KeyReused),
            None => Ok(None),
        }
    }

    /// Brings the outcome of a call back in. The caller's own handle is taken
    /// out first: a call that has ended must not be cancelled by what follows.
    pub(crate) async fn settle(
        self: &Arc<Self>,
        id: SessionId,
        room: &Arc<Room>,
        call: CallId,
        outcome: Outcome,
        attempt: Option<AttemptEnd>,
    ) -> Result<(), EngineError> {
        let mut work = room.work.lock().await;
        // A task that was aborted while it ran goes on to its next wait, and this
        // lock may be free. Its call is not its own any more: its text has been
        // handed in, or another driver has the session.
        let own = |running: &JoinHandle<()>| Some(running.id()) == tokio::task::try_id();
        if !work.running.get(&call).is_some_and(own) {
            return Ok(());
        }
        let by = By::actor("engine");
        let command = Command::Settle { call: call.clone(), outcome };
        let handle = work.running.remove(&call);
        let committed =
            self.commit(id, room, &mut work, &by, vec![Step { command, attempt }]).await;
        match committed {
            Ok(_) | Err(EngineError::Rejected(_) | EngineError::NotFound(_)) => {}
            Err(EngineError::Store(StoreError::Fenced)) => {
                tracing::warn!(session = %id, %call, "another driver has this call");
                room.live.end(&call);
                return Ok(());
            }
            Err(error) => {
                // Still this task's call: it tries again to hand its outcome in.
                work.running.extend(handle.map(|handle| (call, handle)));
                return Err(error);
            }
        }
        room.live.end(&call);
        self.reconcile(id, room, &mut work).await;
        Ok(())
    }

    /// Decides the steps one after the other and appends what comes of them in
    /// one transaction. Nothing is applied or published before it is durable.
    /// Returns what an earlier request with the same key did.
    pub(crate) async fn commit(
        self: &Arc<Self>,
        id: SessionId,
        room: &Arc<Room>,
        work: &mut Workings,
        by: &By,
        steps: Vec<Step>,
    ) -> Result<Option<IdempotentAnswer>, EngineError> {
        for _ in 0..limits::DECISIONS {
            let at = self.clock.now();
            let (state, events) = decide(work.state.as_deref(), &steps, at)?;
            let Some(state) = state.filter(|_| !events.is_empty()) else { return Ok(None) };
            let append = self.append_of(id, work, by, &steps, &state, events, at);
            let stored = append.events.clone();
            match self.store.append(append).await? {
                Appended::Written { version, positions } => {
                    work.state = Some(Arc::new(state));
                    let first_version = version + 1 - stored.len() as u64;
                    if work.version == 0 {
                        work.epoch = Some(1);
                    }
                    work.version = version;
                    let kind = work.state.as_ref().map(|s| s.summary().kind).unwrap_or_default();
                    let places = (first_version..).zip(positions);
                    for (event, (version, position)) in stored.into_iter().zip(places) {
                        let event = StoredEvent {
                            session: id,
                            kind: kind.to_owned(),
                            version,
                            position,
                            name: event.name.to_owned(),
                            actor: by.actor.clone(),
                            payload: event.payload,
                            at,
                        };
                        self.publish(room, event);
                    }
                    return Ok(None);
                }
                Appended::Conflict { .. } => self.load(id, work).await?,
                Appended::Fenced => {
                    // Another process drives it now; its calls are not ours any more.
                    work.epoch = None;
                    for (call, handle) in work.running.drain() {
                        handle.abort();
                        room.live.end(&call);
                    }
                    self.load(id, work).await?;
                    // Anybody may give a command, but only the driver an outcome.
                    if steps.iter().any(|step| matches!(step.command, Command::Settle { .. })) {
                        return Err(StoreError::Fenced.into());
                    }
                }
                Appended::Repeated(earlier) => {
                    let wanted = by.idempotency.as_ref().map(|wanted| &wanted.request_hash);
                    if wanted != Some(&earlier.request_hash) {
                        return Err(EngineError::KeyReused);
                    }
                    return Ok(Some(earlier));
                }
                Appended::Gone => return Err(EngineError::NotFound(id)),
                Appended::Taken => {
                    return Err(EngineError::Taken(state.summary().name.unwrap_or_default()));
                }
            }
        }
        Err(EngineError::Contended)
    }

    #[allow(clippy::too_many_arguments)]
    fn append_of(
        &self,
        id: SessionId,
        work: &Workings,
        by: &By,
        steps: &[Step],
        state: &room::Room,
        events: Vec<NewEvent>,
        at: plenary_domain::Timestamp,
    ) -> Append {
        let summary = state.summary();
        Append {
            session: id,
            expected: work.version,
            epoch: work.epoch,
            kind: summary.kind,
            name: summary.name,
            project: summary.project,
            title: summary.title,
            status: summary.status,
            active: summary.active,
            actor: by.actor.clone(),
            at,
            events,
            attempts: steps.iter().filter_map(|step| step.attempt.clone()).collect(),
            idempotency: by.idempotency.clone(),
            owner: (work.version == 0).then(|| self.owner.clone()),
        }
    }

    fn publish(&self, room: &Room, event: StoredEvent) {
        let event = Arc::new(event);
        room.live.event(event.clone());
        // Everybody may read the counter and the events of all sessions, so neither
        // may tell of what is posted blindly.
        if event.position.is_some() {
            self.meter.events.fetch_add(1, Relaxed);
            // Nobody reading is no error.
            let _ = self.all.send(event);
        }
    }

    /// Removes a session, whatever it is doing.
    pub async fn remove(self: &Arc<Self>, id: SessionId) -> Result<(), EngineError> {
        let engine = self.clone();
        through(async move { engine.remove_now(id).await }).await
    }

    async fn remove_now(&self, id: SessionId) -> Result<(), EngineError> {
        let room = self.room(id);
        let mut work = room.work.lock().await;
        let removed = self.store.remove(id).await?;
        self.names.forget(id);
        work.running.drain().for_each(|(_, handle)| handle.abort());
        *work = Workings::default();
        room.live.removed();
        drop(work);
        drop(room);
        self.forget_if_idle(id);
        if removed { Ok(()) } else { Err(EngineError::NotFound(id)) }
    }
}

/// Carries work through whatever becomes of its caller. A request whose client has
/// gone is dropped where it waits; dropped between the log and what follows from
/// it, it would leave calls running that are not due any more.
pub(crate) async fn through<T: Send + 'static>(
    work: impl Future<Output = Result<T, EngineError>> + Send + 'static,
) -> Result<T, EngineError> {
    tokio::spawn(work).await.unwrap_or_else(|error| {
        Err(StoreError::Failed(format!("a command was not carried through: {error}")).into())
    })
}

/// An event as the log takes it, with the state right after it: a later event of
/// the same decision may lift what this one still has to keep to.
fn encode(state: Option<&room::Room>, event: &Event) -> Result<NewEvent, EngineError> {
    let payload = event.encode().map_err(|error| {
        StoreError::Failed(format!("an event could not be written as JSON: {error}"))
    })?;
    Ok(NewEvent {
        name: event.name(),
        payload,
        search: state.map(|room| room.searchable(event)).unwrap_or_default(),
        listed: state.is_some_and(|room| room.is_listed(event)),
    })
}

/// The state after all steps, and their events. When there are several steps,
/// those that have become stale are passed over.
fn decide(
    state: Option<&room::Room>,
    steps: &[Step],
    at: plenary_domain::Timestamp,
) -> Result<(Option<room::Room>, Vec<NewEvent>), EngineError> {
    let mut state = state.cloned();
    let mut all = vec![];
    for step in steps {
        let input = Input { at, nonce: nonce(), command: step.command.clone() };
        match room::decide(state.as_ref(), input) {
            Ok(events) => {
                for event in &events {
                    room::apply(&mut state, event);
                    all.push(encode(state.as_ref(), event)?);
                }
            }
            Err(Reject::Stale) if steps.len() > 1 => {}
            Err(reject) => return Err(EngineError::Rejected(reject)),
        }
    }
    Ok((state, all))
}
