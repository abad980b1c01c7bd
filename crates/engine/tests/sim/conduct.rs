//! How a node has to behave, by what the store has told it and by its own clock.

use std::collections::BTreeMap;

use plenary_domain::{CallId, SessionId, limits};

use super::record::Record;
use super::world::{Inner, Stream};

type Begun = (SessionId, CallId, u32);

#[derive(Default)]
pub struct Conduct {
    nodes: BTreeMap<u64, Standing>,
    /// Of each attempt its epoch, and which version was known to whoever began it.
    attempts: BTreeMap<Begun, (u64, u64)>,
}

#[derive(Default)]
struct Standing {
    /// By its own clock.
    lease_until_ms: u64,
    /// It has been told to shut down.
    is_leaving: bool,
    /// The last version of each session that it was told.
    known: BTreeMap<SessionId, u64>,
    /// The last epoch of each session of which it was told that it is over.
    fenced: BTreeMap<SessionId, u64>,
}

impl Conduct {
    fn of(&mut self, node: u64) -> &mut Standing {
        self.nodes.entry(node).or_default()
    }

    pub fn renewed(&mut self, node: u64, until_ms: u64) {
        let lease = &mut self.of(node).lease_until_ms;
        *lease = until_ms.max(*lease);
    }

    pub fn leaves(&mut self, node: u64) {
        self.of(node).is_leaving = true;
    }

    pub fn learned(&mut self, node: u64, session: SessionId, version: u64) {
        let known = self.of(node).known.entry(session).or_default();
        *known = version.max(*known);
    }

    pub fn known(&mut self, node: u64, session: SessionId) -> u64 {
        self.of(node).known.get(&session).copied().unwrap_or(0)
    }

    pub fn fenced(&mut self, node: u64, session: SessionId, epoch: u64) {
        let fenced = self.of(node).fenced.entry(session).or_default();
        *fenced = epoch.max(*fenced);
    }

    pub fn began(&mut self, begun: Begun, epoch: u64, known: u64) {
        self.attempts.insert(begun, (epoch, known));
    }

    /// Whoever shuts down takes up nothing more.
    pub fn claims(&mut self, node: u64) -> Option<String> {
        self.of(node).is_leaving.then(|| format!("n{node} takes sessions up and shuts down"))
    }

    /// A model is asked only for what was due by what the node knew; the epoch under which
    /// it is.
    pub fn asks(&mut self, node: u64, begun: &Begun, record: &Record) -> (u64, Option<String>) {
        let (session, call, _) = begun;
        let (epoch, known) = self.attempts.get(begun).copied().unwrap_or_default();
        let is_due = record.is_due(*session, call, known);
        let problem = || format!("n{node} asks for {call} of {session}, which it knows is not due");
        (epoch, (!is_due).then(problem))
    }
}

/// Nobody pays for what is another's. Nodes are looked at when each has done what it can.
pub fn look(inner: &mut Inner, awake: &[u64], is_shared: bool) {
    let is_wrong = |stream: &&Stream| {
        let Some(standing) = inner.conduct.nodes.get(&stream.node) else { return false };
        // It looks at the clock with every beat, and may begin something in between.
        let looked_ms = standing.lease_until_ms.max(stream.since_ticks) + limits::BEAT_MS;
        let is_over = looked_ms < inner.ticks(stream.node);
        let fenced = standing.fenced.get(&stream.session).copied().unwrap_or(0);
        // Whoever is told so may have to wait for the session's lock.
        let is_fenced = fenced >= stream.epoch && !inner.asks_about(stream.node, stream.session);
        awake.contains(&stream.node) && (is_shared && is_over || is_fenced)
    };
    let wrong = inner.streams.values().find(is_wrong);
    let problem = wrong.map(|stream| {
        let Stream { node, session, call, epoch, .. } = stream;
        format!("n{node} pays for {call} of {session} in epoch {epoch}, which is over for it")
    });
    inner.violations.extend(problem.filter(|_| inner.violations.is_empty()));
}
