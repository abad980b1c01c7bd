//! Counters that operators read. They cost an atomic addition each.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use plenary_domain::FailureKind;

#[derive(Default)]
pub struct Meter {
    pub sessions_opened: AtomicU64,
    pub events: AtomicU64,
    pub attempts: AtomicU64,
    pub calls_running: AtomicU64,
    pub deltas: AtomicU64,
    pub readers: AtomicU64,
    pub resyncs: AtomicU64,
    /// Sessions that this node took up from the store.
    pub takeovers: AtomicU64,
    /// Writes that were refused because another node had the session.
    pub fenced: AtomicU64,
    failures: [AtomicU64; FAILURES.len()],
}

pub const FAILURES: [FailureKind; 14] = [
    FailureKind::TimedOut,
    FailureKind::Idle,
    FailureKind::Refused,
    FailureKind::RateLimited,
    FailureKind::OutOfCredit,
    FailureKind::OutOfBudget,
    FailureKind::PromptTooLong,
    FailureKind::TooLong,
    FailureKind::Empty,
    FailureKind::Misconfigured,
    FailureKind::Unreachable,
    FailureKind::ProviderError,
    FailureKind::Malformed,
    FailureKind::Internal,
];

impl Meter {
    pub fn failed(&self, kind: FailureKind) {
        if let Some(place) = FAILURES.iter().position(|known| *known == kind) {
            self.failures[place].fetch_add(1, Relaxed);
        }
    }

    pub fn failures(&self) -> impl Iterator<Item = (FailureKind, u64)> + '_ {
        FAILURES.iter().copied().zip(self.failures.iter().map(|count| count.load(Relaxed)))
    }
}

/// Counts something while it exists.
pub struct Counted<'a>(&'a AtomicU64);

impl<'a> Counted<'a> {
    pub fn new(count: &'a AtomicU64) -> Self {
        count.fetch_add(1, Relaxed);
        Counted(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}
