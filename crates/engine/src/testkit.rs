//! A clock that tests move by hand, so that no test sleeps; a store in memory.

mod memory;

pub use memory::{Memory, MemoryStore};

use std::ops::{RangeBounds, RangeInclusive};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::BoxFuture;
use plenary_domain::Timestamp;
use tokio::sync::Notify;

use crate::ports::Clock;

/// Stands still until `advance` moves it.
#[derive(Default)]
pub struct ManualClock {
    inner: Mutex<Inner>,
    fell_asleep: Notify,
}

#[derive(Default)]
struct Inner {
    now_ms: u64,
    /// How far the wall clock was set forward or back.
    set_ms: i64,
    sleepers: Vec<Sleeper>,
}

struct Sleeper {
    until: Until,
    wake: oneshot::Sender<()>,
}

#[derive(Clone, Copy)]
enum Until {
    Ticks(u64),
    Wall(i64),
}

impl Inner {
    fn wall_ms(&self) -> i64 {
        // An arbitrary day, so that records made in tests look like records.
        let epoch_ms = 1_800_000_000_000;
        epoch_ms + self.now_ms as i64 + self.set_ms
    }

    fn left(&self, until: Until) -> Duration {
        Duration::from_millis(match until {
            Until::Ticks(until) => until.saturating_sub(self.now_ms),
            Until::Wall(until) => u64::try_from(until - self.wall_ms()).unwrap_or(0),
        })
    }

    /// Those that sleep for a time in this range, counted from now.
    fn asleep(&self, range: impl RangeBounds<Duration>) -> usize {
        let wanted = |sleeper: &&Sleeper| {
            !sleeper.wake.is_canceled() && range.contains(&self.left(sleeper.until))
        };
        self.sleepers.iter().filter(wanted).count()
    }
}

impl ManualClock {
    /// Moves the time on and wakes whoever slept until then.
    pub fn advance(&self, time: Duration) {
        self.change(|inner| inner.now_ms += time.as_millis() as u64);
    }

    /// Somebody sets the wall clock; no time passes.
    pub fn set_forward(&self, time: Duration) {
        self.change(|inner| inner.set_ms += time.as_millis() as i64);
    }

    pub fn set_back(&self, time: Duration) {
        self.change(|inner| inner.set_ms -= time.as_millis() as i64);
    }

    fn change(&self, change: impl FnOnce(&mut Inner)) {
        let mut inner = self.lock();
        change(&mut inner);
        let (over, asleep) = std::mem::take(&mut inner.sleepers)
            .into_iter()
            .partition::<Vec<_>, _>(|sleeper| inner.left(sleeper.until).is_zero());
        inner.sleepers = asleep;
        drop(inner);
        for sleeper in over {
            let _ = sleeper.wake.send(());
        }
    }

    /// How many sleep for at least this long from now.
    pub fn sleepers(&self, at_least: Duration) -> usize {
        self.lock().asleep(at_least..)
    }

    /// Returns when so many sleep for a time in this range, counted from now.
    pub async fn until_asleep(&self, count: usize, range: RangeInclusive<Duration>) {
        loop {
            let fell_asleep = self.fell_asleep.notified();
            if self.lock().asleep(range.clone()) >= count {
                return;
            }
            fell_asleep.await;
        }
    }

    fn sleeper(&self, until: impl FnOnce(&Inner) -> Until) -> BoxFuture<'static, ()> {
        let mut inner = self.lock();
        let until = until(&inner);
        if inner.left(until).is_zero() {
            return Box::pin(std::future::ready(()));
        }
        let (wake, woken) = oneshot::channel();
        inner.sleepers.push(Sleeper { until, wake });
        drop(inner);
        self.fell_asleep.notify_waiters();
        Box::pin(async move {
            let _ = woken.await;
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        let now = self.lock().wall_ms();
        Timestamp::from_millisecond(now).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    fn ticks(&self) -> u64 {
        self.lock().now_ms
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.sleeper(|inner| Until::Ticks(inner.now_ms + time.as_millis() as u64))
    }

    fn sleep_until(&self, until: Timestamp) -> BoxFuture<'static, ()> {
        self.sleeper(|_| Until::Wall(until.as_millisecond()))
    }
}
