//! The real clock.

use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use plenary_domain::{Timestamp, limits};

use crate::ports::Clock;

pub struct SystemClock {
    started: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        SystemClock { started: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        wall()
    }

    fn ticks(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }

    fn sleep_until(&self, until: Timestamp) -> BoxFuture<'static, ()> {
        Box::pin(in_pieces(until, wall, tokio::time::sleep))
    }
}

fn wall() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis());
    Timestamp::from_millisecond(millis as i64).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Timers run on a clock that nobody can set and that stands still while the machine
/// is suspended, so the other one is looked at again after each piece.
async fn in_pieces<S: Future<Output = ()>>(
    until: Timestamp,
    now: impl Fn() -> Timestamp,
    sleep: impl Fn(Duration) -> S,
) {
    loop {
        let left = until.as_millisecond().saturating_sub(now().as_millisecond());
        match u64::try_from(left) {
            Ok(0) | Err(_) => return,
            Ok(left) => sleep(Duration::from_millis(left.min(limits::CLOCK_LOOK_MS))).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testkit::ManualClock;

    const LOOK: Duration = Duration::from_millis(limits::CLOCK_LOOK_MS);
    const HOUR: Duration = Duration::from_secs(3_600);

    /// Somebody who sleeps for an hour, and the clock to which they sleep.
    fn asleep() -> (Arc<ManualClock>, tokio::task::JoinHandle<()>) {
        let clock = Arc::new(ManualClock::default());
        let until = clock.now() + HOUR;
        let sleeper = clock.clone();
        let asleep = tokio::spawn(async move {
            in_pieces(until, || sleeper.now(), |time| sleeper.sleep(time)).await;
        });
        (clock, asleep)
    }

    #[tokio::test]
    async fn a_clock_that_is_set_forward_ends_a_sleep_with_its_piece() {
        let (clock, asleep) = asleep();
        clock.until_asleep(1, LOOK..=LOOK).await;
        clock.set_forward(HOUR * 2);
        clock.advance(LOOK);
        asleep.await.unwrap();
    }

    #[tokio::test]
    async fn a_clock_that_is_set_back_prolongs_a_sleep() {
        let (clock, asleep) = asleep();
        clock.until_asleep(1, LOOK..=LOOK).await;
        clock.set_back(HOUR);
        // Longer than it would have slept.
        clock.advance(HOUR + LOOK);
        clock.until_asleep(1, LOOK..=LOOK).await;
        assert!(!asleep.is_finished());
        clock.advance(HOUR);
        asleep.await.unwrap();
    }

    #[tokio::test]
    async fn the_last_piece_is_as_long_as_what_is_left() {
        let (clock, asleep) = asleep();
        clock.until_asleep(1, LOOK..=LOOK).await;
        let second = Duration::from_secs(1);
        clock.advance(HOUR - second);
        clock.until_asleep(1, second..=second).await;
        clock.advance(second);
        asleep.await.unwrap();
    }
}
