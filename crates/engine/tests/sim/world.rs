//! What all nodes of a run share: one store, one time, one chance.
//!
//! Whatever a node asks of the outside parks here, before it happens and again before
//! its answer arrives. The run decides which of those that are parked goes on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use futures::StreamExt;
use futures::channel::{mpsc, oneshot};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use plenary_domain::{CallId, SessionId, Timestamp};
use plenary_engine::Engine;
use plenary_engine::ports::Clock;
use plenary_engine::testkit::Memory;

use super::conduct::Conduct;
use super::record::Record;

/// Splitmix: a run is told by one number.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Chance(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, most: usize) -> usize {
        (self.next() % most.max(1) as u64) as usize
    }

    pub fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }
}

pub type World = Arc<Shared>;

pub struct Shared(Mutex<Inner>);

pub struct Inner {
    pub chance: Chance,
    pub memory: Memory,
    pub now_ms: u64,
    parked: Vec<Parked>,
    sleepers: Vec<Sleeper>,
    /// Requests to models that are open: which node asks for which call.
    pub streams: BTreeMap<u64, Stream>,
    pub next_stream: u64,
    pub faults: bool,
    /// Of what went wrong while it ran.
    pub violations: Vec<String>,
    /// How often each call of a session was ended by an append.
    pub ended: BTreeMap<(SessionId, CallId), u32>,
    /// Every session as it was at each version.
    pub record: Record,
    pub conduct: Conduct,
    pub trace: Vec<String>,
    /// Whoever wants to hear of changes, and does not always.
    listeners: Vec<(u64, mpsc::UnboundedSender<SessionId>)>,
    /// For how long machines were suspended: the clock that only goes forward stood still.
    pub suspended_ms: BTreeMap<u64, u64>,
    /// Nodes that others can ask what is said there, by their addresses.
    pub engines: BTreeMap<String, Weak<Engine>>,
    /// Words that readers heard of calls at another node.
    pub heard: usize,
    /// Nodes in which something may go on, and for how many turns they are looked at.
    stirred: BTreeMap<u64, u8>,
}

impl Inner {
    /// Tells of a change, but for one in four.
    pub fn tell(&mut self, session: SessionId) {
        for (node, listener) in std::mem::take(&mut self.listeners) {
            let lost = self.chance.one_in(4);
            if lost || listener.unbounded_send(session).is_ok() {
                self.stir(node);
                self.listeners.push((node, listener));
            }
        }
    }

    /// A node's clock that only goes forward.
    pub fn ticks(&self, node: u64) -> u64 {
        self.now_ms - self.suspended_ms.get(&node).copied().unwrap_or(0)
    }

    /// Something has come to this node.
    pub fn stir(&mut self, node: u64) {
        self.stirred.insert(node, TURNS);
    }

    /// Whether something may go on in this node.
    pub fn is_stirred(&mut self, node: u64) -> bool {
        let Some(turns) = self.stirred.get_mut(&node) else { return false };
        *turns -= 1;
        if *turns == 0 {
            self.stirred.remove(&node);
        }
        true
    }

    /// Whether this node waits for the store to answer, perhaps about this session.
    pub fn asks_about(&self, node: u64, session: SessionId) -> bool {
        let waits = self.parked.iter().filter(|parked| parked.node == node && parked.is_store);
        let mut waits = waits.filter(|parked| !parked.go.is_canceled());
        waits.any(|parked| parked.about.is_none_or(|about| about == session))
    }

    pub fn violate(&mut self, problem: String) {
        self.violations.push(problem);
    }
}

/// For how many turns a node goes on that something has come to.
const TURNS: u8 = 3;

pub struct Stream {
    pub node: u64,
    pub session: SessionId,
    pub call: CallId,
    pub epoch: u64,
    pub since_ms: u64,
    /// The same by the node's own clock.
    pub since_ticks: u64,
}

struct Parked {
    node: u64,
    /// It is the store that is waited for.
    is_store: bool,
    about: Option<SessionId>,
    go: oneshot::Sender<Fate>,
}

/// What becomes of something that was parked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Goes,
    Fails,
}

struct Sleeper {
    node: u64,
    until_ms: u64,
    wake: oneshot::Sender<()>,
}

pub fn new(seed: u64) -> World {
    Arc::new(Shared(Mutex::new(Inner {
        chance: Chance::new(seed),
        memory: Memory::default(),
        now_ms: 0,
        parked: vec![],
        sleepers: vec![],
        streams: BTreeMap::new(),
        next_stream: 0,
        faults: true,
        engines: BTreeMap::new(),
        heard: 0,
        violations: vec![],
        ended: BTreeMap::new(),
        record: Record::default(),
        conduct: Conduct::default(),
        trace: vec![],
        listeners: vec![],
        suspended_ms: BTreeMap::new(),
        stirred: BTreeMap::new(),
    })))
}

impl Shared {
    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    pub fn note(&self, what: String) {
        let mut inner = self.lock();
        let now = inner.now_ms;
        inner.trace.push(format!("{now:>6} {what}"));
    }

    /// One time in so many, while there are faults.
    pub fn is_unlucky(&self, in_so_many: usize) -> bool {
        let mut inner = self.lock();
        inner.faults && inner.chance.one_in(in_so_many)
    }

    pub fn listen(&self, node: u64) -> BoxStream<'static, SessionId> {
        let (tell, told) = mpsc::unbounded();
        self.lock().listeners.push((node, tell));
        told.boxed()
    }

    /// Waits until the run lets it go on.
    pub async fn park(&self, node: u64) -> Fate {
        self.wait(node, false, None).await
    }

    /// The same for something that is asked of the store.
    pub async fn park_at_store(&self, node: u64, about: Option<SessionId>) -> Fate {
        self.wait(node, true, about).await
    }

    async fn wait(&self, node: u64, is_store: bool, about: Option<SessionId>) -> Fate {
        let (go, went) = oneshot::channel();
        self.lock().parked.push(Parked { node, is_store, about, go });
        went.await.unwrap_or(Fate::Goes)
    }

    /// Lets one of those go on that are parked by these nodes. False: there is none.
    pub fn let_go(&self, nodes: &[u64], fails: usize) -> bool {
        let mut inner = self.lock();
        inner.parked.retain(|parked| !parked.go.is_canceled());
        let places: Vec<usize> = (0..inner.parked.len())
            .filter(|place| nodes.contains(&inner.parked[*place].node))
            .collect();
        if places.is_empty() {
            return false;
        }
        let chosen = places[inner.chance.below(places.len())];
        let parked = inner.parked.remove(chosen);
        inner.stir(parked.node);
        let fails = inner.faults && fails > 0 && inner.chance.one_in(fails);
        drop(inner);
        let _ = parked.go.send(if fails { Fate::Fails } else { Fate::Goes });
        true
    }

    /// The time of the next that sleeps.
    pub fn next_ms(&self) -> Option<u64> {
        let mut inner = self.lock();
        inner.sleepers.retain(|sleeper| !sleeper.wake.is_canceled());
        inner.sleepers.iter().map(|sleeper| sleeper.until_ms).min()
    }

    pub fn advance(&self, to_ms: u64) {
        let mut inner = self.lock();
        inner.now_ms = inner.now_ms.max(to_ms);
        inner.memory.now_ms = inner.now_ms;
        let now = inner.now_ms;
        let (over, asleep) = std::mem::take(&mut inner.sleepers)
            .into_iter()
            .partition::<Vec<_>, _>(|sleeper| sleeper.until_ms <= now);
        inner.sleepers = asleep;
        over.iter().for_each(|sleeper| inner.stir(sleeper.node));
        drop(inner);
        for sleeper in over {
            let _ = sleeper.wake.send(());
        }
    }
}

/// One node's view of the time.
pub struct SimClock {
    pub world: World,
    pub node: u64,
}

const EPOCH_MS: u64 = 1_800_000_000_000;

pub fn wall(ms: u64) -> Timestamp {
    Timestamp::from_millisecond((EPOCH_MS + ms) as i64).unwrap()
}

impl SimClock {
    fn until(&self, until_ms: u64) -> BoxFuture<'static, ()> {
        let mut inner = self.world.lock();
        if until_ms <= inner.now_ms {
            return Box::pin(std::future::ready(()));
        }
        let (wake, woken) = oneshot::channel();
        inner.sleepers.push(Sleeper { node: self.node, until_ms, wake });
        Box::pin(async move {
            let _ = woken.await;
        })
    }
}

impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        wall(self.world.lock().now_ms)
    }

    fn ticks(&self) -> u64 {
        self.world.lock().ticks(self.node)
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        let now = self.world.lock().now_ms;
        self.until(now + time.as_millis() as u64)
    }

    fn sleep_until(&self, until: Timestamp) -> BoxFuture<'static, ()> {
        self.until((until.as_millisecond() as u64).saturating_sub(EPOCH_MS))
    }

    fn chance(&self) -> u128 {
        u128::from(self.world.lock().chance.next()) << 64
    }

    fn new_id(&self) -> SessionId {
        SessionId(uuid::Uuid::from_u128(u128::from(self.world.lock().chance.next())))
    }
}
