//! A session in memory: it follows its log, and while this node drives it, its calls run
//! here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use plenary_domain::room::{self, Event};
use plenary_domain::{Amount, CallId, SessionId, Timestamp, limits};
use tokio::sync::OwnedMutexGuard;
use tokio::task::JoinHandle;

use crate::engine::{Engine, EngineError, Snapshot};
use crate::line::Line;
use crate::live::Live;
use crate::ports::{StoreError, StoredEvent};
use crate::submit::{Step, contained};

/// A session that somebody works on, reads along, or that has calls under way.
pub(crate) struct Session {
    pub live: Live,
    /// Commands that wait for whoever has the lock.
    pub line: Line,
    /// The session as it stands, for whoever only wants to look.
    shown: Mutex<Option<Snapshot>>,
    /// What another node's calls say is being heard.
    pub is_relayed: AtomicBool,
    /// Commands to one session are decided one after the other.
    pub work: Arc<tokio::sync::Mutex<Workings>>,
}

#[derive(Default)]
pub(crate) struct Workings {
    pub state: Option<Arc<room::Room>>,
    pub version: u64,
    opened_by: Arc<str>,
    pub role: Role,
    pub running: BTreeMap<CallId, Task>,
    /// Calls that were cut off, by a restart or because they are not due any more: what they
    /// had said is handed in, unless they are asked again before that.
    pub cut_off: BTreeSet<CallId>,
    /// What runs may not be what is due.
    pub unsettled: bool,
    /// Partial texts of calls that were cancelled, until the log has them.
    pub owed: Vec<Step>,
}

/// A call that runs here.
pub(crate) struct Task {
    pub handle: JoinHandle<()>,
    pub kind: Kind,
    /// What is kept for it of the session's budget, if there is one.
    pub reserved: Amount,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Ask,
    Errand,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Role {
    /// Takes in what is in the log.
    #[default]
    Following,
    /// Makes what is due as well, and writes what comes of it under this epoch.
    Driving { epoch: u64 },
}

impl Role {
    pub fn epoch(self) -> Option<u64> {
        match self {
            Role::Following => None,
            Role::Driving { epoch } => Some(epoch),
        }
    }
}

/// An event of the log, with when it was written and by whom.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub event: Event,
    pub version: u64,
    pub at: Timestamp,
    pub actor: String,
}

/// An event as it is stored, and as it is understood.
pub(crate) struct Entry {
    pub event: Event,
    pub stored: Arc<StoredEvent>,
}

impl Entry {
    pub fn read(stored: StoredEvent) -> Result<Entry, StoreError> {
        let event = Event::decode(&stored.kind, &stored.payload).map_err(|problem| {
            StoreError::Unreadable(format!("event {}: {problem}", stored.name))
        })?;
        Ok(Entry { event, stored: Arc::new(stored) })
    }

    pub fn recorded(&self) -> Recorded {
        let StoredEvent { version, at, actor, .. } = &*self.stored;
        let (event, actor) = (self.event.clone(), actor.clone());
        Recorded { event, version: *version, at: *at, actor }
    }
}

impl Session {
    pub fn new() -> Self {
        let (shown, is_relayed, work) = Default::default();
        Session { live: Live::new(), line: Line::default(), shown, is_relayed, work }
    }

    pub fn shown(&self) -> Option<Snapshot> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn show(&self, snapshot: Option<Snapshot>) {
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = snapshot;
    }
}

/// A session whose lock this is. Fields are dropped in this order: the session before
/// the seat, which then finds that nobody holds it.
pub(crate) struct Held {
    pub work: OwnedMutexGuard<Workings>,
    pub session: Arc<Session>,
    pub seat: Seat,
}

/// Lets go of a session when the last one leaves it.
pub(crate) struct Seat {
    pub engine: Arc<Engine>,
    pub id: SessionId,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.engine.forget_if_idle(self.id);
    }
}

impl Engine {
    pub(crate) async fn hold(self: &Arc<Self>, id: SessionId) -> Held {
        let session = self.session(id);
        let work = session.work.clone().lock_owned().await;
        Held { work, session, seat: Seat { engine: self.clone(), id } }
    }

    /// `None`: somebody is at it.
    pub(crate) fn try_to_hold(self: &Arc<Self>, id: SessionId) -> Option<Held> {
        let session = self.session(id);
        let seat = Seat { engine: self.clone(), id };
        let work = session.work.clone().try_lock_owned().ok()?;
        Some(Held { work, session, seat })
    }
}

impl Held {
    pub fn engine(&self) -> &Arc<Engine> {
        &self.seat.engine
    }

    pub fn id(&self) -> SessionId {
        self.seat.id
    }

    /// The only way in which a session moves, whoever wrote the events. They follow on
    /// its version without a gap; `folded` is the state after them, if it is known.
    pub fn advance(&mut self, entries: &[Entry], folded: Option<room::Room>) {
        self.fold(entries, folded);
        // Whoever hears of an event and then looks must find it.
        self.session.show(self.snapshot().ok());
        self.tell(entries);
    }

    fn fold(&mut self, entries: &[Entry], folded: Option<room::Room>) {
        let Some(last) = entries.last() else { return };
        let state = folded.or_else(|| {
            let mut state = self.work.state.as_deref().cloned();
            for entry in entries {
                room::apply(&mut state, &entry.event, entry.stored.at);
            }
            state
        });
        if let Some(first) = entries.first().filter(|first| first.stored.version == 1) {
            self.work.opened_by = first.stored.actor.as_str().into();
        }
        self.work.version = last.stored.version;
        self.work.state = state.map(Arc::new);
        self.work.unsettled = true;
    }

    fn tell(&self, entries: &[Entry]) {
        for entry in entries {
            self.engine().publish(&self.session, entry.stored.clone());
        }
    }

    /// Follows the log to its end. A session shows only as a whole: of one that cannot be
    /// read to its end nothing does. Readers are told of the last page, and read what is
    /// missing before it by themselves.
    pub async fn load(&mut self) -> Result<(), StoreError> {
        let mut newest = vec![];
        let followed = loop {
            match self.load_page().await {
                Ok(page) => {
                    let last = page.len() < limits::EVENTS_PAGE as usize;
                    newest = if page.is_empty() { newest } else { page };
                    if last {
                        break Ok(());
                    }
                }
                Err(error) => break Err(error),
            }
        };
        self.session.show(self.snapshot().ok().filter(|_| followed.is_ok()));
        self.tell(&newest);
        followed
    }

    async fn load_page(&mut self) -> Result<Vec<Entry>, StoreError> {
        let store = &self.engine().store;
        let page = store.events(self.id(), self.work.version, limits::EVENTS_PAGE).await?;
        let entries = page.into_iter().map(Entry::read).collect::<Result<Vec<_>, _>>()?;
        let folded = contained(|| self.fold(&entries, None));
        folded.map_err(|error| StoreError::Unreadable(error.to_string()))?;
        Ok(entries)
    }

    pub fn snapshot(&self) -> Result<Snapshot, EngineError> {
        let room = self.work.state.clone().ok_or(EngineError::NotFound(self.id()))?;
        Ok(Snapshot {
            id: self.id(),
            version: self.work.version,
            room,
            opened_by: self.work.opened_by.clone(),
            written: None,
            recorded: vec![],
        })
    }

    /// Another node drives it, or none: nothing of it runs here any more.
    pub fn step_down(&mut self) {
        self.work.role = Role::Following;
        self.work.owed.clear();
        self.work.cut_off.clear();
        for (call, task) in std::mem::take(&mut self.work.running) {
            task.handle.abort();
            self.session.live.end(&call);
        }
        self.session.live.reserve(Amount::default());
    }

    /// Another node may be able to go on where this one is not.
    pub async fn give_back(&mut self) {
        let Some(epoch) = self.work.role.epoch() else { return };
        self.step_down();
        if let Err(error) = self.engine().store.release(self.id(), epoch).await {
            tracing::warn!(session = %self.id(), %error, "a session could not be given back");
        }
    }

    /// It may only have been on its way into the log when somebody looked.
    pub async fn forget_if_removed(&mut self) {
        let is_gone = self.engine().store.versions(&[self.id()]).await;
        if is_gone.is_ok_and(|versions| versions.is_empty()) {
            self.forget();
        }
    }

    /// It is not in the log any more.
    pub fn forget(&mut self) {
        self.step_down();
        *self.work = Workings::default();
        self.session.show(None);
        self.session.live.removed();
    }
}
