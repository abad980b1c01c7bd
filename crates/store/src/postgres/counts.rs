//! What connections do, for whoever watches over a node.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use sqlx::PgConnection;
use sqlx::postgres::PgConnectOptions;

use super::pool;

#[derive(Default)]
pub(super) struct Counts {
    pub(super) connects: AtomicU64,
    pub(super) failures: AtomicU64,
    pub(super) listening: AtomicBool,
}

impl Counts {
    /// Connects, and counts it.
    pub(super) async fn connect(
        &self,
        options: &PgConnectOptions,
    ) -> Result<PgConnection, sqlx::Error> {
        let connected = pool::connect(options).await;
        self.note(connected.is_ok());
        connected
    }

    pub(super) fn note(&self, connected: bool) {
        let count = if connected { &self.connects } else { &self.failures };
        count.fetch_add(1, Relaxed);
    }
}
