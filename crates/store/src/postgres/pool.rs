//! Connections that are lent for one question each.
//!
//! sqlx's own pool asks each connection for a sign of life when it is given back, without a
//! limit: behind a network that swallows everything all of its places would be taken for
//! ever. This one gives back what has answered and drops the rest.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use plenary_engine::ports::StoreError;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::counts::Counts;
use super::failure::{failure, is_elsewhere, is_lost};

/// How long a connection may take to come about, and an answer to come.
pub(super) const CONNECT_WAIT: Duration = Duration::from_secs(10);
pub(super) const ANSWER_WAIT: Duration = Duration::from_secs(15);
/// How long a database is waited for that need not be told.
pub(super) const CLOSE_WAIT: Duration = Duration::from_secs(2);

pub(super) struct Pool {
    options: PgConnectOptions,
    places: Semaphore,
    idle: Mutex<Vec<PgConnection>>,
    counts: Arc<Counts>,
}

impl Pool {
    pub(super) fn new(options: PgConnectOptions, places: usize, counts: Arc<Counts>) -> Pool {
        Pool { options, places: Semaphore::new(places), idle: Mutex::default(), counts }
    }

    pub(super) fn free_places(&self) -> usize {
        self.places.available_permits()
    }

    pub(super) fn idle_count(&self) -> usize {
        self.idle().len()
    }

    /// Asks something, again on another connection where one turns out to be dead: what is
    /// asked here may be asked twice.
    pub(super) async fn ask<T>(
        &self,
        question: impl for<'c> Fn(&'c mut PgConnection) -> BoxFuture<'c, Result<T, sqlx::Error>> + Send,
    ) -> Result<T, StoreError> {
        let _place = self.place().await?;
        loop {
            let idle = self.idle().pop();
            let (mut connection, is_fresh) = match idle {
                Some(connection) => (connection, false),
                None => (self.counts.connect(&self.options).await.map_err(failure)?, true),
            };
            let answer = timeout(ANSWER_WAIT, question(&mut connection)).await;
            match answer.map_err(|_| too_late())? {
                Err(error) if is_lost(&error) && !is_fresh => continue,
                Err(error) if is_lost(&error) || is_elsewhere(&error) => {
                    return Err(failure(error));
                }
                Err(error) => {
                    self.idle().push(connection);
                    return Err(failure(error));
                }
                Ok(answer) => {
                    self.idle().push(connection);
                    return Ok(answer);
                }
            }
        }
    }

    pub(super) async fn close(&self) {
        self.places.close();
        let idle = std::mem::take(&mut *self.idle());
        let closing = idle.into_iter().map(|one| timeout(CLOSE_WAIT, one.close()));
        join_all(closing).await;
    }

    async fn place(&self) -> Result<SemaphorePermit<'_>, StoreError> {
        let place = timeout(ANSWER_WAIT, self.places.acquire()).await.map_err(|_| too_late())?;
        place.map_err(|_| closed())
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<PgConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) async fn connect(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    let connected = timeout(CONNECT_WAIT, options.connect()).await;
    connected.unwrap_or_else(|_| Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())))
}

pub(super) fn too_late() -> StoreError {
    StoreError::Failed("the database did not respond in time".into())
}

/// Whoever reads now may have written before.
pub(super) fn closed() -> StoreError {
    StoreError::Failed("it has been closed".into())
}
