//! What all nodes of a run share: one store, one time, one chance.
//!
//! Whatever a node asks of the outside parks here, before it happens and again before
//! its answer arrives. The run decides which of those that are parked goes on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures::StreamExt;
use futures::channel::{mpsc, oneshot};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use plenary_domain::{CallId, SessionId, Timestamp};
use plenary_engine::ports::Clock;
use plenary_engine::testkit::Memory;

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
    pub trace: Vec<String>,
    /// Whoever wants to hear of changes, and does not always.
    listeners: Vec<mpsc::UnboundedSender<SessionId>>,
}

impl Inner {
    /// Tells of a change, but for one in four.
    pub fn tell(&mut self, session: SessionId) {
        for listener in std::mem::take(&mut self.listeners) {
            let lost = self.chance.one_in(4);
            if lost || listener.unbounded_send(session).is_ok() {
                self.listeners.push(listener);
            }
        }
    }
}

pub struct Stream {
    pub node: u64,
    pub session: SessionId,
    pub call: CallId,
    pub since_ms: u64,
}

struct Parked {
    node: u64,
    go: oneshot::Sender<Fate>,
}

/// What becomes of something that was parked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Goes,
    Fails,
}

struct Sleeper {
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
        violations: vec![],
        ended: BTreeMap::new(),
        trace: vec![],
        listeners: vec![],
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

    pub fn listen(&self) -> BoxStream<'static, SessionId> {
        let (tell, told) = mpsc::unbounded();
        self.lock().listeners.push(tell);
        told.boxed()
    }

    /// Waits until the run lets it go on.
    pub async fn park(&self, node: u64) -> Fate {
        let (go, went) = oneshot::channel();
        self.lock().parked.push(Parked { node, go });
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
        drop(inner);
        for sleeper in over {
            let _ = sleeper.wake.send(());
        }
    }
}

/// One node's view of the time.
pub struct SimClock(pub World);

const EPOCH_MS: u64 = 1_800_000_000_000;

pub fn wall(ms: u64) -> Timestamp {
    Timestamp::from_millisecond((EPOCH_MS + ms) as i64).unwrap()
}

impl SimClock {
    fn until(&self, until_ms: u64) -> BoxFuture<'static, ()> {
        let mut inner = self.0.lock();
        if until_ms <= inner.now_ms {
            return Box::pin(std::future::ready(()));
        }
        let (wake, woken) = oneshot::channel();
        inner.sleepers.push(Sleeper { until_ms, wake });
        Box::pin(async move {
            let _ = woken.await;
        })
    }
}

impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        wall(self.0.lock().now_ms)
    }

    fn ticks(&self) -> u64 {
        self.0.lock().now_ms
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        let now = self.0.lock().now_ms;
        self.until(now + time.as_millis() as u64)
    }

    fn sleep_until(&self, until: Timestamp) -> BoxFuture<'static, ()> {
        self.until((until.as_millisecond() as u64).saturating_sub(EPOCH_MS))
    }

    fn chance(&self) -> u128 {
        u128::from(self.0.lock().chance.next()) << 64
    }

    fn new_id(&self) -> SessionId {
        SessionId(uuid::Uuid::from_u128(u128::from(self.0.lock().chance.next())))
    }
}
