//! The order of events over all sessions, for readers on one of several nodes.
//!
//! A node hears of its own events as it writes them, and not of those that others write to
//! sessions it has nothing to do with; and its own may stand behind some that are not
//! settled yet. So where others write too, one task reads the order from the store, for all
//! readers of this node and only while there are any.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Weak};
use std::time::Duration;

use plenary_domain::limits;
use tokio::sync::Notify;

use crate::engine::{Engine, News};
use crate::ports::{Clock, StoreError, StoredEvent};

/// How soon the order is looked at again when something has happened, doubled each time
/// that nothing new stands in it.
const SOON_MS: u64 = 10;

impl Engine {
    /// Begins to follow the order, where others write too.
    pub(crate) fn follow_order(self: &Arc<Self>) {
        if !self.store.is_shared() {
            return;
        }
        self.keep_beating();
        self.order_followed.get_or_init(|| {
            let (weak, clock) = (Arc::downgrade(self), self.clock.clone());
            tokio::spawn(follow(weak, clock, self.order_moved.clone()));
        });
        self.order_moved.notify_one();
    }

    /// Tells readers of all sessions of an event, in its turn.
    pub(crate) fn tell_all(&self, event: Arc<StoredEvent>) {
        let Some(position) = event.position else { return };
        let is_long = event.payload.len() > limits::NEWS_BYTES;
        // Nobody reading is no error.
        let _ = self.all.send(if is_long { News::At(position) } else { News::Event(event) });
    }

    /// Hands out what has come after a position; the last position that was.
    async fn tell_order(&self, after: Option<u64>) -> Result<u64, StoreError> {
        let Some(mut after) = after else {
            // Whoever has read less than this reads on by itself.
            let position = self.store.position().await?;
            let _ = self.all.send(News::At(position));
            return Ok(position);
        };
        loop {
            let page = self.store.events_of_all(after, limits::READER_PAGE).await?;
            let is_last = page.len() < limits::READER_PAGE as usize;
            for event in page {
                after = event.position.unwrap_or(after);
                self.tell_all(Arc::new(event));
            }
            if is_last {
                return Ok(after);
            }
        }
    }
}

async fn follow(engine: Weak<Engine>, clock: Arc<dyn Clock>, moved: Arc<Notify>) {
    let mut told = None;
    let mut pause_ms = SOON_MS;
    loop {
        let Some(here) = engine.upgrade() else { return };
        let is_read = here.all.receiver_count() > 0;
        if is_read {
            let before = told;
            match here.tell_order(told).await {
                Ok(position) => told = Some(position),
                Err(error) => tracing::debug!(%error, "the order of events could not be read"),
            }
            if told != before {
                pause_ms = SOON_MS;
            }
        } else {
            told = None;
        }
        // What this node has written itself is on its way.
        let is_owed = told.is_some_and(|told| told < here.told.load(Relaxed));
        pause_ms = if is_owed { SOON_MS } else { (pause_ms * 2).min(limits::NEWS_MS) };
        drop(here);
        let pause = async {
            match is_read {
                true => clock.sleep(Duration::from_millis(pause_ms)).await,
                false => std::future::pending().await,
            }
        };
        tokio::select! {
            () = moved.notified() => pause_ms = SOON_MS,
            () = pause => {}
        }
    }
}
