//! Load → decide → append → apply → publish, and then whatever is due.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use plenary_domain::room::{self, Command, Event, Input};
use plenary_domain::{CallId, Outcome, Reject, SessionId, Timestamp, limits};

use tokio::task::JoinHandle;

use crate::engine::{Engine, EngineError, Room, Snapshot, Workings, nonce};
use crate::line::Place;
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

/// What became of a command that was not refused.
pub(crate) enum Committed {
    /// There was nothing to do.
    Nothing,
    /// Its last event has this version.
    Written(u64),
    /// An earlier request with the same key did it.
    Repeated(IdempotentAnswer),
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
        let step = Step { command, attempt: None };
        let committed = self.commit(id, &room, &mut work, &by, vec![step]).await;
        if work.version > 0 {
            let kind = work.state.as_ref().map(|room| room.summary().kind);
            if kind.is_some_and(room::is_session) {
                self.meter.sessions_opened.fetch_add(1, Relaxed);
            }
            self.reconcile(id, &room, &mut work).await;
        }
        let snapshot = work.snapshot(id);
        drop(work);
        drop(room);
        self.forget_if_idle(id);
        match committed? {
            // Another request with the same key was first.
            Committed::Repeated(first) => {
                let snapshot = self.get(first.session).await?;
                Ok(Snapshot { written: Some(first.version), ..snapshot })
            }
            Committed::Written(version) => {
                let snapshot = snapshot.ok_or(EngineError::NotFound(id))?;
                Ok(Snapshot { written: Some(version), ..snapshot })
            }
            Committed::Nothing => Err(EngineError::NotFound(id)),
        }
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
        let answer = room.line.join(by, command);
        let mut work = room.work.lock().await;
        let answer = self.work_off(id, &room, &mut work, answer).await;
        drop(work);
        drop(room);
        self.forget_if_idle(id);
        match answer? {
            Place::Here(snapshot) => Ok(snapshot),
            Place::Elsewhere(other) => self.get(other).await,
        }
    }

    pub(crate) fn standing(
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
        let earlier = self.store.idempotent(&wanted.principal, &wanted.key).await?;
        earlier.map(|earlier| wanted.compare(earlier)).transpose()
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
    pub(crate) async fn commit(
        self: &Arc<Self>,
        id: SessionId,
        room: &Arc<Room>,
        work: &mut Workings,
        by: &By,
        steps: Vec<Step>,
    ) -> Result<Committed, EngineError> {
        for _ in 0..limits::DECISIONS {
            let at = self.clock.now();
            let mut state = work.state.as_deref().cloned();
            let events = decide(&mut state, by, &steps, at)?;
            let Some(state) = state.filter(|_| !events.is_empty()) else {
                return Ok(Committed::Nothing);
            };
            let append = self.append_of(id, work, by, &steps, &state, events, at);
            let given = Given::of(&append);
            match self.store.append(append).await? {
                Appended::Written { version, positions } => {
                    work.state = Some(Arc::new(state));
                    if work.version == 0 {
                        work.epoch = Some(1);
                    }
                    work.version = version;
                    let stored = given.stored(id, version, positions);
                    stored.for_each(|event| self.publish(room, event));
                    return Ok(Committed::Written(version));
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
                    let Some(wanted) = &by.idempotency else {
                        return Err(EngineError::KeyReused);
                    };
                    return wanted.compare(earlier).map(Committed::Repeated);
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
    pub(crate) fn append_of(
        &self,
        id: SessionId,
        work: &Workings,
        by: &By,
        steps: &[Step],
        state: &room::Room,
        events: Vec<NewEvent>,
        at: Timestamp,
    ) -> Append {
        let summary = state.summary();
        Append {
            session: id,
            expected: work.version,
            epoch: work.epoch,
            kind: summary.kind,
            name: summary.name,
            project: summary.project,
            imported: summary.imported,
            title: summary.title,
            status: summary.status,
            active: summary.active,
            waits_for: summary.waits_for,
            actor: by.actor.clone(),
            at,
            events,
            attempts: steps.iter().filter_map(|step| step.attempt.clone()).collect(),
            idempotency: by.idempotency.clone(),
            owner: (work.version == 0).then(|| self.owner.clone()),
        }
    }

    pub(crate) fn publish(&self, room: &Room, event: StoredEvent) {
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

impl Idempotency {
    /// The answer to an earlier request with this key, if it was the same request.
    pub(crate) fn compare(
        &self,
        earlier: IdempotentAnswer,
    ) -> Result<IdempotentAnswer, EngineError> {
        match earlier.request_hash == self.request_hash {
            true => Ok(earlier),
            false => Err(EngineError::KeyReused),
        }
    }
}

/// Carries work through whatever becomes of its caller. A request whose client has
/// gone is dropped where it waits; dropped between the log and what follows from
/// it, it would leave calls running that are not due any more.
pub(crate) async fn through<T: Send + 'static>(
    work: impl Future<Output = Result<T, EngineError>> + Send + 'static,
) -> Result<T, EngineError> {
    tokio::spawn(work).await.unwrap_or_else(|error| {
        Err(StoreError::Failed(format!("a command did not come to its end: {error}")).into())
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

/// Events as they were given to the log, to be published once they are in it.
pub(crate) struct Given {
    kind: &'static str,
    actor: String,
    at: Timestamp,
    events: Vec<NewEvent>,
}

impl Given {
    pub fn of(append: &Append) -> Given {
        let Append { kind, actor, at, events, .. } = append;
        Given { kind, actor: actor.clone(), at: *at, events: events.clone() }
    }

    /// The events as they are stored; the last one has this version.
    pub fn stored(
        self,
        session: SessionId,
        version: u64,
        positions: Vec<Option<u64>>,
    ) -> impl Iterator<Item = StoredEvent> {
        let first = version + 1 - self.events.len() as u64;
        let places = (first..).zip(positions);
        self.events.into_iter().zip(places).map(move |(event, (version, position))| StoredEvent {
            session,
            kind: self.kind.to_owned(),
            version,
            position,
            name: event.name.to_owned(),
            actor: self.actor.clone(),
            payload: event.payload,
            at: self.at,
        })
    }
}

/// The events of all steps; the state goes along with them. When there are several
/// steps, those that have become stale are passed over. A step that is refused
/// changes nothing, but what those before it did stays in the state.
pub(crate) fn decide(
    state: &mut Option<room::Room>,
    by: &By,
    steps: &[Step],
    at: Timestamp,
) -> Result<Vec<NewEvent>, EngineError> {
    let mut all = vec![];
    for step in steps {
        let (actor, command) = (by.actor.clone(), step.command.clone());
        let input = Input { at, nonce: nonce(), actor, command };
        match room::decide(state.as_ref(), input) {
            Ok(events) => {
                for event in &events {
                    room::apply(state, event, at);
                    all.push(encode(state.as_ref(), event)?);
                }
            }
            Err(Reject::Stale) if steps.len() > 1 => {}
            Err(reject) => return Err(EngineError::Rejected(reject)),
        }
    }
    Ok(all)
}
