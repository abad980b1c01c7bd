//! A clock that tests move by hand, so that no test sleeps.

use std::ops::RangeInclusive;
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
    sleepers: Vec<(u64, oneshot::Sender<()>)>,
}

impl ManualClock {
    /// Moves the time on and wakes whoever slept until then.
    pub fn advance(&self, time: Duration) {
        let mut inner = self.lock();
        inner.now_ms += time.as_millis() as u64;
        let now = inner.now_ms;
        let (over, asleep) = std::mem::take(&mut inner.sleepers)
            .into_iter()
            .partition::<Vec<_>, _>(|(until, _)| *until <= now);
        inner.sleepers = asleep;
        drop(inner);
        for (_, wake) in over {
            let _ = wake.send(());
        }
    }

    /// How many sleep for at least this long from now.
    pub fn sleepers(&self, at_least: Duration) -> usize {
        let inner = self.lock();
        let from = inner.now_ms + at_least.as_millis() as u64;
        inner.sleepers.iter().filter(|(until, wake)| *until >= from && !wake.is_canceled()).count()
    }

    /// Returns when so many sleep for a time in this range, counted from now.
    pub async fn until_asleep(&self, count: usize, range: RangeInclusive<Duration>) {
        loop {
            let fell_asleep = self.fell_asleep.notified();
            let asleep = {
                let inner = self.lock();
                let left = |until: u64| Duration::from_millis(until.saturating_sub(inner.now_ms));
                let wanted = |(until, wake): &&(u64, oneshot::Sender<()>)| {
                    !wake.is_canceled() && range.contains(&left(*until))
                };
                inner.sleepers.iter().filter(wanted).count()
            };
            if asleep >= count {
                return;
            }
            fell_asleep.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        // An arbitrary day, so that records made in tests look like records.
        let epoch_ms = 1_800_000_000_000;
        let now = epoch_ms + self.lock().now_ms as i64;
        Timestamp::from_millisecond(now).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    fn ticks(&self) -> u64 {
        self.lock().now_ms
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        let mut inner = self.lock();
        if time.is_zero() {
            return Box::pin(std::future::ready(()));
        }
        let (wake, woken) = oneshot::channel();
        let until = inner.now_ms + time.as_millis() as u64;
        inner.sleepers.push((until, wake));
        drop(inner);
        self.fell_asleep.notify_waiters();
        Box::pin(async move {
            let _ = woken.await;
        })
    }
}
