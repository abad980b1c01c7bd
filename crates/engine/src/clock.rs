//! The real clock.

use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use plenary_domain::Timestamp;

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
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let millis = since.map_or(0, |since| since.as_millis());
        Timestamp::from_millisecond(millis as i64).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    fn ticks(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}
