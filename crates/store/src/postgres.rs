//! The log on PostgreSQL: any number of processes on one database.

mod address;
mod counts;
mod failure;
mod jobs;
mod notices;
mod pool;
pub(crate) mod portable;
mod reads;
mod schema;
mod text;
mod writer;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use futures::FutureExt;
use futures::stream::BoxStream;
use plenary_domain::{CallId, SessionId, Timestamp, limits};
use plenary_engine::ports::{
    Append, Appended, AttemptEnd, AttemptRow, Driver, IdempotentAnswer, Label, ListPage, ListQuery,
    NodeRow, SessionRow, Store, StoreError, StoreFigures, StoredEvent, Waiting,
};
use sqlx::Connection;

use counts::Counts;
use failure::unreachable;
use jobs::{Answer, Op};
use notices::Notices;
use pool::{Pool, connect};
use writer::Writer;

pub use address::Address;

/// Connections for everything but appends, which have their own.
const READERS: usize = 8;
/// Rows that `check` writes to in turn.
const BEATS: i64 = 16;
const MS_PER_DAY: i64 = 24 * 3_600_000;
/// By how much clocks may differ before it is worth a word.
const CLOCK_OFF_MS: u64 = 5_000;

/// Opens the log in a database, making its tables when there are none. Any number of
/// processes may have it open.
pub async fn open(address: &Address) -> Result<PostgresStore, StoreError> {
    let options = address.options();
    let shown = address.shown();
    let mut connection = connect(&options).await.map_err(|error| unreachable(&shown, error))?;
    schema::prepare(&mut connection, &shown).await?;
    connection.close().await.ok();
    let counts = Arc::new(Counts::default());
    let pool = Arc::new(Pool::new(options.clone(), READERS, counts.clone()));
    let secret = reads::secret(&pool).await?;
    let (sender, now_ms): (_, i64) = pool
        .ask(|connection| {
            let asked = "select gen_random_uuid(),
                (extract(epoch from clock_timestamp()) * 1000)::bigint";
            sqlx::query_as(asked).fetch_one(connection).boxed()
        })
        .await?;
    let here = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let off_ms = i64::try_from(here.as_millis()).unwrap_or(i64::MAX).saturating_sub(now_ms);
    if off_ms.unsigned_abs() > CLOCK_OFF_MS {
        tracing::warn!(
            off_ms,
            "this machine's clock and the database's do not agree: deadlines come at wrong times, \
             and nodes more than a minute apart show no live text of each other"
        );
    }
    let notices = Notices::start(sender, pool.clone(), address.listening(), counts.clone());
    let writer = Writer::start(&options, &notices, &counts);
    let beats = AtomicI64::default();
    Ok(PostgresStore { writer, pool, notices, counts, secret, beats, is_shared: true })
}

/// The log of all sessions in one database.
pub struct PostgresStore {
    writer: Writer,
    pool: Arc<Pool>,
    notices: Notices,
    counts: Arc<Counts>,
    secret: [u8; 32],
    beats: AtomicI64,
    is_shared: bool,
}

impl PostgresStore {
    /// As if no other process wrote: a test that moves the clock by hand would otherwise
    /// move it past its own lease.
    #[cfg(feature = "testkit")]
    pub fn alone(self) -> PostgresStore {
        PostgresStore { is_shared: false, ..self }
    }

    /// Carries out what waits to be written, and lets the connections go. Later requests
    /// fail.
    pub async fn close(&self) {
        self.writer.close().await;
        self.pool.close().await;
    }

    /// Old keys are looked for while the log grows.
    fn sweep(&self, appended: &[Appended], at: Timestamp) {
        let turn = |position: &u64| position.is_multiple_of(limits::IDEMPOTENCY_SWEEP_EVENTS);
        let is_time = appended.iter().any(|appended| match appended {
            Appended::Written { positions, .. } => positions.iter().flatten().any(turn),
            _ => false,
        });
        if !is_time {
            return;
        }
        let pool = self.pool.clone();
        let before_ms = at.as_millisecond() - limits::IDEMPOTENCY_DAYS * MS_PER_DAY;
        tokio::spawn(async move {
            let (kept, swept) = (limits::IDEMPOTENCY_KEPT, limits::IDEMPOTENCY_SWEPT);
            if let Err(error) = reads::forget_old_answers(&pool, before_ms, kept, swept).await {
                tracing::debug!(%error, "old keys were not looked for");
            }
        });
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn append(&self, append: Append) -> Result<Appended, StoreError> {
        let appended = self.append_all(vec![append]).await?.pop();
        appended.ok_or_else(|| StoreError::Unreadable("an answer that is empty".into()))
    }

    async fn append_all(&self, appends: Vec<Append>) -> Result<Vec<Appended>, StoreError> {
        let Some(first) = appends.first() else { return Ok(vec![]) };
        if appends.iter().any(|append| append.events.is_empty()) {
            return Err(StoreError::NotWritten("an append needs an event".into()));
        }
        // One after the other in one transaction: one lane has them all.
        if appends.iter().any(|append| append.session != first.session) {
            return Err(StoreError::NotWritten("a chain has one session".into()));
        }
        let (session, at) = (first.session, first.at);
        let ops = appends.iter().map(Op::append).collect();
        let answers = self.writer.write(session, ops).await?;
        let appended: Vec<Appended> =
            answers.into_iter().map(Answer::appended).collect::<Result<_, _>>()?;
        self.sweep(&appended, at);
        Ok(appended)
    }

    async fn named(&self, kind: &str, name: &str) -> Result<Option<SessionId>, StoreError> {
        reads::named(&self.pool, kind, name).await
    }

    async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
        reads::session(&self.pool, id).await
    }

    async fn events(
        &self,
        id: SessionId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        reads::events(&self.pool, id, after, limit).await
    }

    async fn events_of_all(&self, after: u64, limit: u32) -> Result<Vec<StoredEvent>, StoreError> {
        reads::events_of_all(&self.pool, after, limit).await
    }

    async fn position(&self) -> Result<u64, StoreError> {
        reads::position(&self.pool).await
    }

    async fn list(&self, query: ListQuery) -> Result<ListPage, StoreError> {
        reads::list(&self.pool, &query).await
    }

    async fn label(&self, id: SessionId, label: Label) -> Result<bool, StoreError> {
        reads::label(&self.pool, id, label).await
    }

    async fn remove(&self, id: SessionId) -> Result<bool, StoreError> {
        match self.writer.write_one(id, Op::Remove).await? {
            Answer::Done => Ok(true),
            Answer::Gone => Ok(false),
            other => Err(other.is_odd()),
        }
    }

    fn is_shared(&self) -> bool {
        self.is_shared
    }

    fn changes(&self) -> BoxStream<'static, SessionId> {
        self.notices.heard()
    }

    async fn versions(&self, ids: &[SessionId]) -> Result<Vec<(SessionId, u64)>, StoreError> {
        reads::versions(&self.pool, ids).await
    }

    async fn renew(
        &self,
        node: &str,
        address: Option<&str>,
        lease: Duration,
    ) -> Result<(), StoreError> {
        reads::renew(&self.pool, node, address, lease).await
    }

    async fn driver(&self, id: SessionId) -> Result<Option<Driver>, StoreError> {
        reads::driver(&self.pool, id).await
    }

    async fn drain(&self, node: &str) -> Result<(), StoreError> {
        reads::drain(&self.pool, node).await
    }

    async fn retire(&self, node: &str) -> Result<(), StoreError> {
        reads::retire(&self.pool, node).await
    }

    async fn nodes(&self) -> Result<Vec<NodeRow>, StoreError> {
        reads::nodes(&self.pool).await
    }

    async fn waiting(
        &self,
        node: &str,
        now: Timestamp,
        after: Option<SessionId>,
        limit: u32,
    ) -> Result<Waiting, StoreError> {
        reads::waiting(&self.pool, node, now, after, limit).await
    }

    async fn release(&self, id: SessionId, epoch: u64) -> Result<(), StoreError> {
        reads::release(&self.pool, id, epoch).await
    }

    async fn claim(
        &self,
        node: &str,
        ids: &[SessionId],
    ) -> Result<Vec<(SessionId, u64)>, StoreError> {
        reads::claim(&self.pool, node, ids).await
    }

    async fn begin_attempt(
        &self,
        id: SessionId,
        epoch: u64,
        call: &CallId,
        ended: Option<AttemptEnd>,
    ) -> Result<u32, StoreError> {
        let begin = Op::begin(epoch, call, ended.as_ref());
        match self.writer.write_one(id, begin).await? {
            Answer::Begun { number } => Ok(number),
            Answer::Fenced => Err(StoreError::Fenced),
            other => Err(other.is_odd()),
        }
    }

    async fn attempts(&self, id: SessionId) -> Result<Vec<AttemptRow>, StoreError> {
        reads::attempts(&self.pool, id).await
    }

    async fn save_draft(
        &self,
        id: SessionId,
        epoch: u64,
        call: &CallId,
        text: &str,
    ) -> Result<(), StoreError> {
        self.writer.write_one(id, Op::draft(epoch, call, text)).await?.held()
    }

    async fn end_attempt(
        &self,
        id: SessionId,
        epoch: u64,
        end: AttemptEnd,
    ) -> Result<(), StoreError> {
        self.writer.write_one(id, Op::end(epoch, &end)).await?.held()
    }

    async fn drafts(&self, id: SessionId) -> Result<Vec<(CallId, String)>, StoreError> {
        reads::drafts(&self.pool, id).await
    }

    async fn idempotent(
        &self,
        principal: &str,
        key: &str,
    ) -> Result<Option<IdempotentAnswer>, StoreError> {
        reads::idempotent(&self.pool, principal, key).await
    }

    async fn secret(&self) -> Result<[u8; 32], StoreError> {
        Ok(self.secret)
    }

    fn figures(&self) -> StoreFigures {
        let idle = self.pool.idle_count();
        StoreFigures {
            connects: self.counts.connects.load(Relaxed),
            connect_failures: self.counts.failures.load(Relaxed),
            busy: READERS.saturating_sub(self.pool.free_places()) as u64,
            idle: idle as u64,
            listening: self.counts.listening.load(Relaxed),
        }
    }

    async fn check(&self) -> Result<(), StoreError> {
        let number = self.beats.fetch_add(1, Relaxed).rem_euclid(BEATS);
        reads::beat(&self.pool, number).await
    }
}
