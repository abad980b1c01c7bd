//! Load → decide → append → advance, and then whatever is due.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use plenary_domain::room::{self, Command, Event, Input};
use plenary_domain::{CallId, Outcome, Reject, SessionId, Timestamp, Work, limits};

use crate::drive::Running;
use crate::engine::{Engine, EngineError, Snapshot};
use crate::line::Place;
use crate::ports::{
    Append, Appended, AttemptEnd, Idempotency, IdempotentAnswer, NewEvent, StoreError, StoredEvent,
};
use crate::session::{Entry, Held, Recorded, Role, Task};

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
    /// These are its events.
    Written(Vec<Recorded>),
    /// An earlier request with the same key did it.
    Repeated(IdempotentAnswer),
}

/// A command, and the ends of the attempts that brought it.
#[derive(Clone)]
pub(crate) struct Step {
    pub command: Command,
    pub attempt: Option<AttemptEnd>,
}

impl Step {
    /// Whether it is the end of this call.
    pub fn is_of(&self, of: &CallId) -> bool {
        matches!(&self.command, Command::Settle { call, .. } if call == of)
    }
}

impl Engine {
    /// Opens a session with the command that its form opens with.
    pub async fn open(self: &Arc<Self>, by: By, command: Command) -> Result<Snapshot, EngineError> {
        self.open_as(self.clock.new_id(), by, command).await
    }

    /// Opens a session under this id. One that is there already is left as it is and
    /// returned: whoever derives an id may ask twice.
    pub async fn open_as(
        self: &Arc<Self>,
        id: SessionId,
        by: By,
        command: Command,
    ) -> Result<Snapshot, EngineError> {
        let engine = self.clone();
        through(async move { engine.open_now(id, by, command).await }).await
    }

    async fn open_now(
        self: &Arc<Self>,
        id: SessionId,
        by: By,
        command: Command,
    ) -> Result<Snapshot, EngineError> {
        if let Some(earlier) = self.repeated(&by).await? {
            return Ok(earlier);
        }
        if self.is_full() {
            return Err(EngineError::Busy);
        }
        let mut held = self.hold(id).await;
        self.ensure_lease().await?;
        let step = Step { command, attempt: None };
        let committed = match held.work.version {
            0 => held.commit(&by, vec![step]).await,
            _ => Ok(Committed::Nothing),
        };
        if held.work.version > 0 {
            held.reconcile().await;
        }
        let snapshot = held.snapshot();
        drop(held);
        match committed {
            // Another request with the same key was first.
            Ok(Committed::Repeated(first)) => self.as_of(first).await,
            Ok(Committed::Written(recorded)) => {
                let snapshot = snapshot?;
                if room::is_session(snapshot.room.summary().kind) {
                    self.meter.sessions_opened.fetch_add(1, Relaxed);
                    self.trace_opening(id, snapshot.room.summary().kind, &recorded);
                }
                Ok(snapshot.with(recorded))
            }
            Ok(Committed::Nothing) => snapshot,
            // It was there, and the rules do not open it a second time.
            Err(EngineError::Rejected(_)) if snapshot.is_ok() => snapshot,
            Err(error) => Err(error),
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
        // Whoever stands in the line may be carried out by another, so nothing may fail
        // from there on.
        self.ensure_lease().await?;
        // Held until the lock is: one that nobody holds may be forgotten, with its line.
        let session = self.session(id);
        let answer = session.line.join(by, command)?;
        let mut held = self.hold(id).await;
        drop(session);
        let answer = held.work_off(answer).await;
        drop(held);
        match answer? {
            Place::Here(snapshot) => Ok(snapshot),
            Place::Elsewhere(earlier) => self.as_of(earlier).await,
        }
    }

    /// The session that a request with the same key has opened or changed before.
    pub async fn repeated(self: &Arc<Self>, by: &By) -> Result<Option<Snapshot>, EngineError> {
        match self.earlier(by).await? {
            Some(earlier) => Ok(Some(self.as_of(earlier).await?)),
            None => Ok(None),
        }
    }

    /// The session that a request has changed before, with what it recorded then.
    async fn as_of(self: &Arc<Self>, earlier: IdempotentAnswer) -> Result<Snapshot, EngineError> {
        let IdempotentAnswer { session, first, version, .. } = earlier;
        let snapshot = self.get(session).await?;
        let count = version.saturating_sub(first).saturating_add(1);
        let events = self.store.events(session, first - 1, count as u32).await?;
        let mut recorded = vec![];
        for stored in events {
            recorded.push(Entry::read(stored)?.recorded());
        }
        // One request writes under one name at one time.
        let last = recorded.last().map(|last: &Recorded| (last.at, last.actor.clone()));
        recorded.retain(|one| last.as_ref() == Some(&(one.at, one.actor.clone())));
        Ok(Snapshot { written: Some(version), recorded, ..snapshot })
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
        Running { id, epoch, call, .. }: &Running,
        outcome: Outcome,
        attempt: Option<AttemptEnd>,
    ) -> Result<(), EngineError> {
        let mut held = self.hold(*id).await;
        // A task that was aborted while it ran goes on to its next wait, and this
        // lock may be free. Its call is not its own any more: its text has been
        // handed in, or another node has the session.
        let own = |task: &Task| Some(task.handle.id()) == tokio::task::try_id();
        if !held.work.running.get(call).is_some_and(own) {
            return Ok(());
        }
        // Whoever has lost the session has lost the call, also where the rest is not known.
        if held.work.role.epoch() != Some(*epoch) {
            held.step_down();
            return Ok(());
        }
        let command = Command::Settle { call: call.clone(), outcome };
        let task = held.work.running.remove(call);
        let step = Step { command, attempt };
        let settled = match held.commit(&By::actor(ENGINE), vec![step.clone()]).await {
            Ok(Committed::Written(_)) | Err(EngineError::NotFound(_)) => Ok(()),
            Ok(_) | Err(EngineError::Rejected(_)) => {
                held.let_end(&[step]).await.map_err(EngineError::from)
            }
            Err(error) => Err(error),
        };
        match settled {
            Ok(()) => {}
            Err(EngineError::Store(StoreError::Fenced)) => {
                tracing::warn!(session = %id, %call, "another node has this call");
            }
            Err(error) => {
                // Still this task's call: it tries again to hand its outcome in.
                held.work.running.extend(task.map(|task| (call.clone(), task)));
                return Err(error);
            }
        }
        held.session.live.end(call);
        held.work.unsettled = true;
        held.reconcile().await;
        Ok(())
    }

    /// Removes a session, whatever it is doing.
    pub async fn remove(self: &Arc<Self>, id: SessionId) -> Result<(), EngineError> {
        let engine = self.clone();
        through(async move { engine.remove_now(id).await }).await
    }

    async fn remove_now(self: &Arc<Self>, id: SessionId) -> Result<(), EngineError> {
        let mut held = self.hold(id).await;
        let removed = self.store.remove(id).await?;
        self.names.forget(id);
        held.forget();
        if removed { Ok(()) } else { Err(EngineError::NotFound(id)) }
    }
}

/// Who writes what comes of calls.
pub(crate) const ENGINE: &str = "engine";

impl Held {
    /// Decides the steps one after the other and appends what comes of them in
    /// one transaction. The session moves when that is durable, and not before.
    pub async fn commit(&mut self, by: &By, steps: Vec<Step>) -> Result<Committed, EngineError> {
        for _ in 0..limits::DECISIONS {
            let mut state = self.work.state.as_deref().cloned();
            // What is applied now and what is read again later have the same time.
            let at = self.engine().clock.now();
            let events = match (self.decide(&mut state, by, &steps, at), state) {
                (Ok(events), Some(state)) if !events.is_empty() => Ok((events, state)),
                (Ok(_), _) => Err(Ok(Committed::Nothing)),
                (Err(error), _) => Err(Err(error)),
            };
            let (events, state) = match events {
                Ok(decided) => decided,
                // Nothing is written that would show that others were here meanwhile.
                Err(_) if self.catch_up().await? => continue,
                Err(answer) => return answer,
            };
            let new = events.iter().map(|(new, _)| new);
            let append = contained(|| self.append_of(by, &steps, &state, new, at))?;
            let given = Given::of(&append, events.into_iter().map(|(_, event)| event).collect());
            let appended = self.engine().store.append(append).await;
            match appended.inspect_err(|error| self.doubt(error))? {
                Appended::Written { version, positions, epoch } => {
                    let entries = given.entries(self.id(), version, positions);
                    self.take_role(epoch);
                    self.engine().count(&entries);
                    self.advance(&entries, Some(state));
                    return Ok(Committed::Written(entries.iter().map(Entry::recorded).collect()));
                }
                Appended::Conflict { .. } => self.load().await?,
                Appended::Fenced => {
                    self.engine().meter.fenced.fetch_add(1, Relaxed);
                    self.step_down();
                    self.load().await?;
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
                // Another node has removed it: whatever is due by what is remembered here
                // would be begun again and again, and could never be settled.
                Appended::Gone => {
                    self.forget();
                    return Err(EngineError::NotFound(self.id()));
                }
                Appended::Taken => {
                    return Err(EngineError::Taken(state.summary().name.unwrap_or_default()));
                }
            }
        }
        Err(EngineError::Contended)
    }

    /// Takes in what others wrote, where there may be others. False: nothing new.
    pub async fn catch_up(&mut self) -> Result<bool, StoreError> {
        if !self.engine().store.is_shared() {
            return Ok(false);
        }
        let before = self.work.version;
        self.load().await?;
        Ok(self.work.version != before)
    }

    /// What was to be written may be in the log all the same: whoever looks reads it.
    pub fn doubt(&self, error: &StoreError) {
        if !matches!(error, StoreError::NotWritten(_)) {
            self.session.show(None);
        }
    }

    /// After an append that named this node as the driver, or did not.
    pub fn take_role(&mut self, epoch: Option<u64>) {
        self.work.role = match (epoch, self.work.role) {
            (Some(epoch), _) => Role::Driving { epoch },
            // Set free with that append; calls that run are still handed in.
            (None, role) if !self.work.running.is_empty() => role,
            (None, _) => Role::Following,
        };
    }

    pub fn append_of<'a>(
        &self,
        by: &By,
        steps: &[Step],
        state: &room::Room,
        events: impl Iterator<Item = &'a NewEvent>,
        at: Timestamp,
    ) -> Append {
        let (engine, summary) = (self.engine(), state.summary());
        let due = state.due();
        let later = |work: &Work| match work {
            Work::Ask | Work::Errand => None,
            Work::Sleep { until } => Some(*until).filter(|until| *until > at),
        };
        let is_due = due.iter().any(|call| later(&call.work).is_none());
        let drives = is_due || !self.work.running.is_empty();
        let wake_at = due.iter().filter_map(|call| later(&call.work)).min();
        let wake_at = wake_at.filter(|_| !is_due);
        Append {
            session: self.id(),
            expected: self.work.version,
            epoch: self.work.role.epoch(),
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
            events: events.cloned().collect(),
            attempts: steps.iter().filter_map(|step| step.attempt.clone()).collect(),
            idempotency: by.idempotency.clone(),
            driver: drives.then(|| engine.node.name.clone()),
            wake_at,
        }
    }

    /// The events of all steps; the state goes along with them. When there are several
    /// steps, those that have become stale are passed over. A step that is refused
    /// changes nothing; what those before it did stays in the state, and so does a part
    /// of one whose rules failed.
    pub fn decide(
        &self,
        state: &mut Option<room::Room>,
        by: &By,
        steps: &[Step],
        at: Timestamp,
    ) -> Result<Vec<(NewEvent, Event)>, EngineError> {
        let (engine, mut all) = (self.engine(), vec![]);
        for step in steps {
            let (actor, command) = (by.actor.clone(), step.command.clone());
            let input = || Input { at, nonce: engine.nonce(), actor, command };
            match contained(|| decided(state, input()))? {
                Ok(events) => all.extend(events),
                Err(EngineError::Rejected(Reject::Stale)) if steps.len() > 1 => {}
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }
}

fn decided(
    state: &mut Option<room::Room>,
    input: Input,
) -> Result<Vec<(NewEvent, Event)>, EngineError> {
    let at = input.at;
    let events = room::decide(state.as_ref(), input).map_err(EngineError::Rejected)?;
    let mut all = Vec::with_capacity(events.len());
    for event in events {
        room::apply(state, &event, at);
        all.push((encode(state.as_ref(), &event)?, event));
    }
    Ok(all)
}

/// A rule that panics must take nobody along who waits beside it, nor leave a session
/// with nobody to go on with it.
pub(crate) fn contained<T>(rule: impl FnOnce() -> T) -> Result<T, EngineError> {
    catch_unwind(AssertUnwindSafe(rule)).map_err(|panic| EngineError::Broken(words(&*panic)))
}

/// What a panic says.
pub(crate) fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

impl Snapshot {
    pub(crate) fn with(self, recorded: Vec<Recorded>) -> Snapshot {
        let written = recorded.last().map(|last| last.version);
        Snapshot { written, recorded, ..self }
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

/// Events as they were given to the log, to be told of once they are in it.
pub(crate) struct Given {
    kind: &'static str,
    actor: String,
    at: Timestamp,
    events: Vec<(NewEvent, Event)>,
}

impl Given {
    pub fn of(append: &Append, events: Vec<Event>) -> Given {
        let Append { kind, actor, at, events: new, .. } = append;
        let events = new.iter().cloned().zip(events).collect();
        Given { kind, actor: actor.clone(), at: *at, events }
    }

    /// The events as they are stored; the last one has this version.
    pub fn entries(
        self,
        session: SessionId,
        version: u64,
        positions: Vec<Option<u64>>,
    ) -> Vec<Entry> {
        let first = version + 1 - self.events.len() as u64;
        let places = (first..).zip(positions);
        let entry =
            |((new, event), (version, position)): ((NewEvent, Event), (u64, Option<u64>))| {
                let stored = Arc::new(StoredEvent {
                    session,
                    kind: self.kind.to_owned(),
                    version,
                    position,
                    name: new.name.to_owned(),
                    actor: self.actor.clone(),
                    payload: new.payload,
                    at: self.at,
                });
                Entry { event, stored }
            };
        self.events.into_iter().zip(places).map(entry).collect()
    }
}
