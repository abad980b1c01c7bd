//! This process as one that drives sessions: its lease, what it wakes for, and the look
//! round for what nobody goes on with.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use futures::StreamExt;
use plenary_domain::{SessionId, Timestamp, limits};
use tokio::sync::Notify;

use crate::engine::{Engine, EngineError};
use crate::ports::{Clock, NodeRow, StoreError};
use crate::session::{Held, Role, Session};
use crate::submit::through;

pub(crate) struct Node {
    pub name: String,
    /// Where other nodes reach it.
    pub address: OnceLock<String>,
    /// Goes on with whatever waits, not only with what it was asked for.
    is_resident: AtomicBool,
    /// Until when the lease holds for sure, on the clock that only goes forward.
    lease_until: AtomicU64,
    /// Counts leases that ran out, and the end: calls that began before have to end.
    pub term: AtomicU64,
    pub term_over: Notify,
    wakes: Mutex<Wakes>,
    heart: Arc<Notify>,
    beats: OnceLock<()>,
    is_following: AtomicBool,
    is_renewing: AtomicBool,
    is_taking_over: AtomicBool,
    /// It will end soon: nothing is taken over any more.
    is_draining: AtomicBool,
    /// It was shut down: nothing is gone on with any more.
    is_over: AtomicBool,
    over: Notify,
    /// Sessions that this version of the program cannot read; looking again helps nobody.
    unreadable: Mutex<BTreeSet<SessionId>>,
    /// What the last look on the beat has left to the others.
    left_to_others: Mutex<BTreeSet<SessionId>>,
}

#[derive(Default)]
struct Wakes {
    /// Of sessions that this node has to remember itself, one for each.
    known: BTreeMap<SessionId, Timestamp>,
    in_order: BTreeSet<(Timestamp, SessionId)>,
    /// The first of those that only wait for a time, as far as is known.
    asleep: Option<Timestamp>,
}

impl Wakes {
    fn set(&mut self, id: SessionId, at: Option<Timestamp>) {
        let before = match at {
            Some(at) => self.known.insert(id, at),
            None => self.known.remove(&id),
        };
        if let Some(before) = before {
            self.in_order.remove(&(before, id));
        }
        self.in_order.extend(at.map(|at| (at, id)));
    }

    fn take_due(&mut self, now: Timestamp) -> Vec<SessionId> {
        let due = self.in_order.iter().take_while(|(at, _)| *at <= now).map(|(_, id)| *id);
        let due: Vec<SessionId> = due.collect();
        due.iter().for_each(|id| self.set(*id, None));
        due
    }
}

impl Node {
    pub fn new(chance: u128) -> Self {
        Node {
            name: uuid::Uuid::from_u128(chance).to_string(),
            address: OnceLock::new(),
            is_resident: AtomicBool::default(),
            lease_until: AtomicU64::default(),
            term: AtomicU64::default(),
            term_over: Notify::new(),
            wakes: Mutex::default(),
            heart: Arc::default(),
            beats: OnceLock::new(),
            is_following: AtomicBool::default(),
            is_renewing: AtomicBool::default(),
            is_taking_over: AtomicBool::default(),
            is_draining: AtomicBool::default(),
            is_over: AtomicBool::default(),
            over: Notify::new(),
            unreadable: Mutex::default(),
            left_to_others: Mutex::default(),
        }
    }

    pub fn wake(&self) {
        self.heart.notify_one();
    }

    /// From now on nothing is woken, looked for or taken over.
    pub fn end(&self) {
        self.is_over.store(true, Relaxed);
        self.over.notify_waiters();
    }

    /// Calls that have begun end, whoever holds their sessions. Whoever calls this has these
    /// step down.
    pub fn end_term(&self) {
        self.term.fetch_add(1, Relaxed);
        self.term_over.notify_waiters();
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Relaxed)
    }

    fn unreadable(&self) -> MutexGuard<'_, BTreeSet<SessionId>> {
        self.unreadable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn left_to_others(&self) -> MutexGuard<'_, BTreeSet<SessionId>> {
        self.left_to_others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wakes(&self) -> MutexGuard<'_, Wakes> {
        self.wakes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session will only wait until then. Whoever looks round finds it by its row.
    fn sleeps_until(&self, wake_at: Timestamp) {
        let mut wakes = self.wakes();
        if wakes.asleep.is_none_or(|first| wake_at < first) {
            wakes.asleep = Some(wake_at);
        }
    }

    fn first_wake(&self) -> Option<Timestamp> {
        let wakes = self.wakes();
        let known = wakes.in_order.first().map(|(at, _)| *at);
        known.into_iter().chain(wakes.asleep).min()
    }
}

impl Engine {
    /// The name under which this process drives sessions.
    pub fn node(&self) -> &str {
        &self.node.name
    }

    /// Leaves what others leave behind to others from now on, and says so to whoever asks.
    /// What it drives goes on until it is shut down.
    pub async fn drain(&self) {
        if self.node.is_draining.swap(true, Relaxed) {
            return;
        }
        if let Err(error) = self.unless_silent(self.store.drain(&self.node.name)).await {
            tracing::warn!(%error, "other nodes could not be told that this one will end");
        }
    }

    /// What a node says last is not worth waiting long for: when its lease ends, others know.
    pub(crate) async fn unless_silent(
        &self,
        said: impl Future<Output = Result<(), StoreError>>,
    ) -> Result<(), StoreError> {
        tokio::select! {
            said = said => said,
            () = self.clock.sleep(Duration::from_millis(limits::LAST_WORDS_MS)) => {
                Err(StoreError::Failed("it does not respond in time".into()))
            }
        }
    }

    pub fn is_draining(&self) -> bool {
        self.node.is_draining.load(Relaxed) || self.node.is_over()
    }

    /// Is over when this node is shut down, for requests that wait: they say then what there
    /// is, before their connections are closed. One that comes later is not told, or whoever
    /// asks again at once would be told again and again.
    pub fn ended(&self) -> impl Future<Output = ()> + Send {
        self.node.over.notified()
    }

    /// Goes on with every session in which something is due, and from now on with those
    /// that others leave behind. Returns how many there were.
    pub async fn resume_all(self: &Arc<Self>) -> Result<usize, EngineError> {
        self.node.is_resident.store(true, Relaxed);
        self.keep_beating();
        self.ensure_lease().await?;
        self.take_over_all(false).await
    }

    /// Whatever waits and nobody else has, some after the others: other nodes look at the
    /// same time, and get theirs. In shares, because somebody else may look a little later,
    /// what falls to the others is left to them once. Returns how many waited.
    async fn take_over_all(self: &Arc<Self>, in_shares: bool) -> Result<usize, EngineError> {
        let (mut after, mut count) = (None, 0);
        let mut shares = None;
        loop {
            let now = self.clock.now();
            let waiting = self.store.waiting(&self.node.name, now, after, limits::WAITING).await?;
            // Another may have gone to sleep since that was read.
            if let Some(wake_at) = waiting.wake_at {
                self.node.sleeps_until(wake_at);
            }
            after = waiting.sessions.last().copied();
            let found = waiting.sessions.len();
            count += found;
            let mut left = waiting.sessions;
            left.retain(|id| !self.drives(*id) && !self.node.unreadable().contains(id));
            if in_shares && !left.is_empty() {
                let shares = match &mut shares {
                    Some(shares) => shares,
                    none => none.insert(Shares::of(&self.node.name, self.store.nodes().await?)),
                };
                let before = self.node.left_to_others();
                left.retain(|id| before.contains(id) || shares.takes(*id));
            }
            for some in left.chunks(limits::TAKEN_OVER) {
                if self.is_draining() {
                    return Ok(count);
                }
                self.take_over_some(some).await?;
            }
            if found < limits::WAITING as usize {
                let left = shares.map(|shares| shares.left);
                *self.node.left_to_others() = left.unwrap_or_default();
                return Ok(count);
            }
        }
    }

    async fn try_to_take_over(self: &Arc<Self>, id: SessionId) {
        let engine = self.clone();
        self.unless_broken(id, async move { engine.take_over(id).await }).await;
    }

    /// One that cannot go on must not keep the others from it, whatever it does.
    pub(crate) async fn unless_broken(
        &self,
        id: SessionId,
        work: impl Future<Output = Result<(), EngineError>> + Send + 'static,
    ) {
        if let Err(error) = through(work).await {
            tracing::error!(session = %id, %error, "a session could not go on");
            self.note_if_unreadable(id, &error);
        }
    }

    fn note_if_unreadable(&self, id: SessionId, error: &EngineError) -> bool {
        let is_unreadable = matches!(error, EngineError::Store(StoreError::Unreadable(_)));
        if is_unreadable {
            self.node.unreadable().insert(id);
        }
        is_unreadable
    }

    /// Comes back to a session at this time, or need not. One in which calls run is in
    /// memory until then; of one that only waits the row says it, where somebody looks at
    /// rows.
    pub(crate) fn come_back(self: &Arc<Self>, id: SessionId, at: Option<Timestamp>, runs: bool) {
        let remembers = runs || !self.node.is_resident.load(Relaxed);
        self.node.wakes().set(id, at.filter(|_| remembers));
        let Some(at) = at else { return };
        if !remembers {
            self.node.sleeps_until(at);
        }
        self.node.wake();
        self.keep_beating();
    }

    /// Renews the lease when half of it is over. Nothing is begun without one.
    pub(crate) async fn ensure_lease(self: &Arc<Self>) -> Result<(), EngineError> {
        let half = self.node.lease_until.load(Relaxed).saturating_sub(limits::LEASE_MS / 2);
        if self.clock.ticks() < half || self.node.is_over() {
            return Ok(());
        }
        self.renew().await?;
        self.keep_beating();
        Ok(())
    }

    async fn renew(&self) -> Result<(), EngineError> {
        // Counted from before it is asked for: for others it ends later than here.
        let until = self.clock.ticks() + limits::LEASE_MS - limits::LEASE_MARGIN_MS;
        let lease = Duration::from_millis(limits::LEASE_MS);
        let address = self.node.address.get().map(String::as_str);
        self.store.renew(&self.node.name, address, lease).await?;
        self.node.lease_until.fetch_max(until, Relaxed);
        Ok(())
    }

    pub(crate) fn keep_beating(self: &Arc<Self>) {
        self.node.beats.get_or_init(|| {
            let (weak, clock) = (Arc::downgrade(self), self.clock.clone());
            tokio::spawn(beat(weak, clock, self.node.heart.clone()));
            if self.store.is_shared() {
                tokio::spawn(listen(Arc::downgrade(self), self.store.changes()));
            }
        });
    }

    /// Whatever the time asks for.
    fn look_round(self: &Arc<Self>, on_the_beat: bool) {
        if self.node.is_over() {
            return;
        }
        let now = self.clock.now();
        let (due, asleep) = {
            let mut wakes = self.node.wakes();
            (wakes.take_due(now), wakes.asleep.take_if(|at| *at <= now).is_some())
        };
        for id in due {
            let engine = self.clone();
            tokio::spawn(async move { engine.try_to_take_over(id).await });
        }
        if self.store.is_shared() && self.clock.ticks() >= self.node.lease_until.load(Relaxed) {
            self.lose_lease();
        }
        if on_the_beat {
            self.unless_busy(
                |node| &node.is_renewing,
                |engine| async move { engine.renew().await },
            );
            self.unless_busy(
                |node| &node.is_following,
                |engine| async move { engine.look().await },
            );
        }
        // Whoever was only asked for one thing does not meddle with the rest.
        let is_resident = self.node.is_resident.load(Relaxed) && !self.is_draining();
        if is_resident && (on_the_beat || asleep) {
            self.unless_busy(
                |node| &node.is_taking_over,
                // Of what has slept until now the others need not know.
                |engine| async move { engine.take_over_all(!asleep).await.map(drop) },
            );
        }
    }

    /// Does something beside, unless it is being done already. Taking over much must not
    /// keep the lease from being renewed, nor readers from what others write.
    fn unless_busy<F: Future<Output = Result<(), EngineError>> + Send + 'static>(
        self: &Arc<Self>,
        busy: fn(&Node) -> &AtomicBool,
        work: impl FnOnce(Arc<Engine>) -> F,
    ) {
        if busy(&self.node).swap(true, Relaxed) {
            return;
        }
        let done = Done { engine: self.clone(), busy };
        let work = work(self.clone());
        tokio::spawn(async move {
            if let Err(error) = work.await {
                tracing::warn!(%error, "this node could not look for sessions to take over");
            }
            drop(done);
        });
    }

    /// Others may think this node gone, so nothing of it may go on.
    fn lose_lease(self: &Arc<Self>) {
        let ids: Vec<SessionId> = self.sessions().keys().copied().collect();
        if !ids.iter().any(|id| self.drives(*id)) {
            return;
        }
        tracing::warn!("the lease is over: what this node drives is left to others");
        self.node.end_term();
        for id in ids {
            let engine = self.clone();
            tokio::spawn(async move { engine.hold(id).await.step_down() });
        }
    }

    async fn look(self: &Arc<Self>) -> Result<(), EngineError> {
        self.follow_others().await?;
        // What did not come to its end, because the store or a rule failed.
        let ids: Vec<SessionId> = self.sessions().keys().copied().collect();
        ids.into_iter().for_each(|id| self.look_at_if_owed(id));
        Ok(())
    }

    /// Sessions that this node drives at this moment.
    pub fn driving(&self) -> usize {
        let is_secret =
            |session: &Session| session.shown().is_some_and(|shown| shown.room.is_secret());
        let is_driven = |session: &&Arc<Session>| match session.work.try_lock() {
            _ if is_secret(session) => false,
            Ok(work) => work.role != Role::Following,
            // Somebody is at it. That alone must not show: it may be a blind post.
            Err(_) => session.shown().is_some_and(|shown| !shown.room.due().is_empty()),
        };
        self.sessions().values().filter(is_driven).count()
    }

    /// How long the lease of this node holds for sure; none where it never had to drive.
    pub fn lease_left(&self) -> Duration {
        let until = self.node.lease_until.load(Relaxed);
        Duration::from_millis(until.saturating_sub(self.clock.ticks()))
    }

    pub(crate) fn drives(&self, id: SessionId) -> bool {
        let session = self.sessions().get(&id).cloned();
        // Whoever has the lock is at it.
        session.is_some_and(|session| {
            session.work.try_lock().map_or(true, |work| work.role != Role::Following)
        })
    }

    /// Takes in what others wrote to sessions that are in use here.
    async fn follow_others(self: &Arc<Self>) -> Result<(), EngineError> {
        if !self.store.is_shared() {
            return Ok(());
        }
        let known: Vec<(SessionId, u64)> = self
            .sessions()
            .iter()
            .map(|(id, session)| (*id, session.shown().map_or(0, |shown| shown.version)))
            .collect();
        let ids: Vec<SessionId> = known.iter().map(|(id, _)| *id).collect();
        let now = self.store.versions(&ids).await?;
        for (id, version) in known {
            match now.iter().find(|(other, _)| *other == id) {
                Some((_, newest)) if *newest <= version => {}
                Some(_) => self.look_at(id),
                None => {
                    let engine = self.clone();
                    tokio::spawn(async move { engine.hold(id).await.forget_if_removed().await });
                }
            }
        }
        Ok(())
    }

    /// Follows one session's log to its end, and does what is due.
    pub(crate) fn look_at(self: &Arc<Self>, id: SessionId) {
        let engine = self.clone();
        tokio::spawn(async move {
            let mut held = engine.hold(id).await;
            let is_behind = engine.store.is_shared() || held.session.shown().is_none();
            if is_behind && let Err(error) = held.load().await {
                tracing::warn!(session = %id, %error, "a session could not be followed");
                // A later version has written to it, and can go on with it.
                if engine.note_if_unreadable(id, &error.into()) {
                    return held.give_back().await;
                }
            }
            held.work.unsettled = true;
            held.reconcile().await;
        });
    }

    pub(crate) fn look_at_if_unsettled(self: &Arc<Self>, held: &Held) {
        if held.work.unsettled && held.work.role != Role::Following {
            self.look_at(held.id());
        }
    }

    fn look_at_if_owed(self: &Arc<Self>, id: SessionId) {
        let Some(session) = self.sessions().get(&id).cloned() else { return };
        let owed = session.work.try_lock().is_ok_and(|work| {
            let is_in_doubt = work.version > 0 && session.shown().is_none();
            let is_left = work.unsettled || !work.owed.is_empty();
            is_in_doubt || work.role != Role::Following && is_left
        });
        if owed {
            self.look_at(id);
        }
    }
}

/// Which of the living nodes a session falls to: all of them come to the same one.
struct Shares {
    others: Vec<String>,
    own: String,
    /// To the others.
    left: BTreeSet<SessionId>,
}

impl Shares {
    fn of(own: &str, nodes: Vec<NodeRow>) -> Self {
        let lives = |node: &NodeRow| node.lease_left_ms > 0 && !node.draining && node.name != own;
        let others = nodes.into_iter().filter(lives).map(|node| node.name).collect();
        Shares { others, own: own.to_owned(), left: BTreeSet::new() }
    }

    fn takes(&mut self, id: SessionId) -> bool {
        let lot = |node: &String| {
            let mut hasher = DefaultHasher::new();
            (node, id.0.as_u128()).hash(&mut hasher);
            hasher.finish()
        };
        let own = lot(&self.own);
        let is_ours = self.others.iter().all(|other| lot(other) < own);
        if !is_ours {
            self.left.insert(id);
        }
        is_ours
    }
}

/// Says that something is done, also when it panicked.
struct Done {
    engine: Arc<Engine>,
    busy: fn(&Node) -> &AtomicBool,
}

impl Drop for Done {
    fn drop(&mut self) {
        (self.busy)(&self.engine.node).store(false, Relaxed);
    }
}

/// Looks round whenever something is due, and from time to time anyway.
async fn beat(engine: Weak<Engine>, clock: Arc<dyn Clock>, heart: Arc<Notify>) {
    let mut beat_at = clock.ticks() + limits::BEAT_MS;
    loop {
        let Some(wake_at) = engine.upgrade().map(|engine| engine.node.first_wake()) else { return };
        let woken = async {
            match wake_at {
                Some(at) => clock.sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        let left = beat_at.saturating_sub(clock.ticks());
        let on_the_beat = tokio::select! {
            biased;
            () = heart.notified() => continue,
            () = woken => false,
            () = clock.sleep(Duration::from_millis(left)) => true,
        };
        if on_the_beat {
            beat_at = clock.ticks() + limits::BEAT_MS;
        }
        let Some(engine) = engine.upgrade() else { return };
        engine.look_round(on_the_beat);
        // What is looked for meanwhile must not be looked for again at once.
        tokio::task::yield_now().await;
    }
}

/// Follows sessions that others write to as soon as one hears of it.
async fn listen(engine: Weak<Engine>, mut changes: futures::stream::BoxStream<'static, SessionId>) {
    while let Some(id) = changes.next().await {
        let Some(engine) = engine.upgrade() else { return };
        engine.order_moved.notify_one();
        if engine.sessions().contains_key(&id) {
            engine.look_at(id);
        }
    }
}
