//! The log on SQLite: one process, one writer, many readers.

mod append;
mod batch;
mod drive;
mod failure;
mod found;
mod inspect;
mod nodes;
mod place;
pub(crate) mod portable;
mod reads;
mod wal;
mod writer;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use plenary_domain::{CallId, SessionId, Timestamp};
use plenary_engine::ports::{
    Append, Appended, AttemptEnd, AttemptRow, Driver, IdempotentAnswer, Label, ListPage, ListQuery,
    NodeRow, SessionRow, Store, StoreError, StoredEvent, Waiting,
};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, SqlSafeStr, SqlitePool};

use crate::lock::{Holder, LOCK_FILE, Lock};
use drive::{Beat, BeginAttempt, Claim, EndAttempt, Release, Retire, SaveDraft};
use failure::{closed, failure, migration_failure};
use nodes::Nodes;
use place::{Place, beside};
use writer::Writer;

pub use inspect::{Backup, Inspection, Words, backup, inspect};

const DATABASE_FILE: &str = "plenary.sqlite3";

/// Connections that read. Each has a thread of its own.
const READERS: u32 = 4;
/// How long one connection waits for another: only a foreign program, such as a
/// backup, can make it wait.
const BUSY_MS: u64 = 5_000;
/// Bytes of the write-ahead log that are kept for use after a checkpoint.
const WAL_BYTES: &str = "67108864";

/// Tries for the folder's lock: a process that only looks who holds it, or one
/// that is just ending, has it for a moment.
const LOCK_TRIES: u32 = 5;
const LOCK_PAUSE_MS: u64 = 20;

/// Opens the log in a data folder, making both when they are not there, and
/// keeps other processes away from the folder until the store is closed or
/// dropped. A dropped store may still be writing what had been given to it;
/// versions and epochs, not the lock, keep the log right.
pub async fn open(folder: &Path, holder: Holder) -> Result<SqliteStore, StoreError> {
    make_folder(folder)?;
    let lock = take_lock(folder, &holder).await?;
    let told = found::prepare(folder, holder.since).await?;
    let file = folder.join(DATABASE_FILE);
    let mut connection = writing(&file).connect().await.map_err(failure)?;
    migrations().run_direct(None, &mut connection, false).await.map_err(migration_failure)?;
    // Nothing of an earlier crash is left in the log: see `wal.rs`. On a full disk that
    // fails, and the store can still be read.
    let emptied = sqlx::query("pragma wal_checkpoint(truncate)").execute(&mut connection).await;
    if let Err(error) = emptied {
        tracing::warn!(%error, "the write-ahead log could not be emptied");
    }
    let readers = open_readers(&file).await.map_err(failure)?;
    let secret = reads::secret(&readers).await?;
    let files = [file.clone(), beside(&file, "-wal"), folder.join(LOCK_FILE)];
    let place = Place::of(files).map_err(|error| {
        StoreError::Failed(format!("cannot read the data folder {}: {error}", folder.display()))
    })?;
    let place = Arc::new(place);
    let nodes = Arc::new(Nodes::default());
    let writer = Writer::start(connection, place.clone(), nodes.clone());
    // The first write makes the log's name last, for which a file has to be opened.
    // Whether it succeeds is for whoever writes next to hear.
    writer.write(Beat).await.ok();
    let lock = Mutex::new(Some(lock));
    Ok(SqliteStore { writer, readers, nodes, place, secret, told, lock })
}

/// All at once and for good: where no file can be opened any more, what was written
/// must still be readable.
async fn open_readers(file: &Path) -> Result<SqlitePool, sqlx::Error> {
    let readers = SqlitePoolOptions::new()
        .max_connections(READERS)
        .test_before_acquire(false)
        .max_lifetime(None)
        .idle_timeout(None)
        .connect_lazy_with(reading(file));
    let open = (0..READERS).map(|_| async {
        let mut reader = readers.acquire().await?;
        // The log is opened by the first that is read.
        sqlx::query("select 1 from secret").execute(&mut *reader).await?;
        Ok::<_, sqlx::Error>(reader)
    });
    // Each is held until all are there, so that no two are the same one.
    futures::future::try_join_all(open).await?;
    Ok(readers)
}

/// The log of all sessions in one data folder.
pub struct SqliteStore {
    writer: Writer,
    readers: SqlitePool,
    nodes: Arc<Nodes>,
    place: Arc<Place>,
    /// Read once: whoever has written must get their token, whatever has happened since.
    secret: [u8; 32],
    told: Option<String>,
    /// Given back by `close`, or when the store is dropped.
    lock: Mutex<Option<Lock>>,
}

impl SqliteStore {
    /// What was wrong with the store when it was opened, in sentences for its user.
    pub fn told(&self) -> Option<&str> {
        self.told.as_deref()
    }

    /// Tells other processes where this one listens, and the token that lets
    /// them speak to it.
    pub fn announce(&self, url: &str, token: &str) -> Result<(), StoreError> {
        self.with_lock(|lock| lock.announce(url, token))
    }

    /// Carries out what waits to be written, moves the write-ahead log into the
    /// database file, and gives the folder back. Later writes fail.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.readers.close().await;
        let outcome = self.writer.close().await;
        self.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
        outcome
    }

    fn with_lock<T>(
        &self,
        act: impl FnOnce(&Lock) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match &*self.lock.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(lock) => act(lock),
            None => Err(closed()),
        }
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn append(&self, append: Append) -> Result<Appended, StoreError> {
        needs_an_event(&append)?;
        self.writer.write(append).await
    }

    async fn append_all(&self, appends: Vec<Append>) -> Result<Vec<Appended>, StoreError> {
        appends.iter().try_for_each(needs_an_event)?;
        self.writer.write(append::Chain(appends)).await
    }

    async fn named(&self, kind: &str, name: &str) -> Result<Option<SessionId>, StoreError> {
        reads::named(&self.readers, kind, name).await
    }

    async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
        reads::session(&self.readers, id).await
    }

    async fn events(
        &self,
        id: SessionId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        reads::events(&self.readers, id, after, limit).await
    }

    async fn events_of_all(&self, after: u64, limit: u32) -> Result<Vec<StoredEvent>, StoreError> {
        reads::events_of_all(&self.readers, after, limit).await
    }

    async fn position(&self) -> Result<u64, StoreError> {
        reads::position(&self.readers).await
    }

    async fn list(&self, query: ListQuery) -> Result<ListPage, StoreError> {
        reads::list(&self.readers, &query).await
    }

    async fn label(&self, id: SessionId, label: Label) -> Result<bool, StoreError> {
        self.writer.write(append::Relabel(id, label)).await
    }

    async fn remove(&self, id: SessionId) -> Result<bool, StoreError> {
        self.writer.write(append::Remove(id)).await
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn changes(&self) -> BoxStream<'static, SessionId> {
        Box::pin(futures::stream::pending())
    }

    async fn versions(&self, ids: &[SessionId]) -> Result<Vec<(SessionId, u64)>, StoreError> {
        reads::versions(&self.readers, ids).await
    }

    async fn renew(
        &self,
        node: &str,
        address: Option<&str>,
        lease: Duration,
    ) -> Result<(), StoreError> {
        self.nodes.renew(node, address, lease);
        Ok(())
    }

    async fn driver(&self, id: SessionId) -> Result<Option<Driver>, StoreError> {
        let owner = reads::owner(&self.readers, id).await?;
        Ok(owner.and_then(|owner| self.nodes.living(owner)))
    }

    async fn drain(&self, node: &str) -> Result<(), StoreError> {
        self.nodes.drain(node);
        Ok(())
    }

    async fn nodes(&self) -> Result<Vec<NodeRow>, StoreError> {
        let driving = reads::driving(&self.readers).await?;
        Ok(self.nodes.rows(&driving, migrations().iter().count() as u64))
    }

    async fn retire(&self, node: &str) -> Result<(), StoreError> {
        self.nodes.retire(node);
        self.writer.write(Retire { node: node.to_owned() }).await
    }

    async fn waiting(
        &self,
        node: &str,
        now: Timestamp,
        after: Option<SessionId>,
        limit: u32,
    ) -> Result<Waiting, StoreError> {
        reads::waiting(&self.readers, &self.nodes.others(node), now, after, limit).await
    }

    async fn release(&self, id: SessionId, epoch: u64) -> Result<(), StoreError> {
        self.writer.write(Release { session: id, epoch }).await
    }

    async fn claim(
        &self,
        node: &str,
        ids: &[SessionId],
    ) -> Result<Vec<(SessionId, u64)>, StoreError> {
        self.writer.write(Claim { node: node.to_owned(), sessions: ids.to_vec() }).await
    }

    async fn begin_attempt(
        &self,
        id: SessionId,
        epoch: u64,
        call: &CallId,
        ended: Option<AttemptEnd>,
    ) -> Result<u32, StoreError> {
        let begin = BeginAttempt { session: id, epoch, call: call.clone(), ended };
        self.writer.write(begin).await?.ok_or(StoreError::Fenced)
    }

    async fn attempts(&self, id: SessionId) -> Result<Vec<AttemptRow>, StoreError> {
        reads::attempts(&self.readers, id).await
    }

    async fn save_draft(
        &self,
        id: SessionId,
        epoch: u64,
        call: &CallId,
        text: &str,
    ) -> Result<(), StoreError> {
        let save = SaveDraft { session: id, epoch, call: call.clone(), text: text.to_owned() };
        match self.writer.write(save).await? {
            true => Ok(()),
            false => Err(StoreError::Fenced),
        }
    }

    async fn end_attempt(
        &self,
        id: SessionId,
        epoch: u64,
        end: AttemptEnd,
    ) -> Result<(), StoreError> {
        match self.writer.write(EndAttempt { session: id, epoch, end }).await? {
            true => Ok(()),
            false => Err(StoreError::Fenced),
        }
    }

    async fn drafts(&self, id: SessionId) -> Result<Vec<(CallId, String)>, StoreError> {
        reads::drafts(&self.readers, id).await
    }

    async fn idempotent(
        &self,
        principal: &str,
        key: &str,
    ) -> Result<Option<IdempotentAnswer>, StoreError> {
        let mut connection = self.readers.acquire().await.map_err(failure)?;
        append::answer_for(&mut connection, principal, key).await.map_err(failure)
    }

    async fn secret(&self) -> Result<[u8; 32], StoreError> {
        Ok(self.secret)
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.place.has_room().map_err(StoreError::Failed)?;
        self.writer.write(Beat).await
    }
}

fn needs_an_event(append: &Append) -> Result<(), StoreError> {
    match append.events.is_empty() {
        true => Err(StoreError::NotWritten("an append needs an event".into())),
        false => Ok(()),
    }
}

fn make_folder(folder: &Path) -> Result<(), StoreError> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder).map_err(|error| {
        StoreError::Failed(format!("cannot create the data folder {}: {error}", folder.display()))
    })
}

async fn take_lock(folder: &Path, holder: &Holder) -> Result<Lock, StoreError> {
    for _ in 1..LOCK_TRIES {
        match Lock::take(folder, holder) {
            Err(StoreError::InUse(_)) => {
                tokio::time::sleep(Duration::from_millis(LOCK_PAUSE_MS)).await;
            }
            outcome => return outcome,
        }
    }
    Lock::take(folder, holder)
}

fn options(file: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(file)
        .foreign_keys(true)
        .busy_timeout(Duration::from_millis(BUSY_MS))
        // A large sort must not need a file.
        .pragma("temp_store", "memory")
        .disable_statement_logging()
}

fn reading(file: &Path) -> SqliteConnectOptions {
    options(file).read_only(true)
}

fn writing(file: &Path) -> SqliteConnectOptions {
    options(file)
        .journal_mode(SqliteJournalMode::Wal)
        // Anything less loses acknowledged writes when the power goes.
        .synchronous(SqliteSynchronous::Full)
        .pragma("journal_size_limit", WAL_BYTES)
}

fn migrations() -> Migrator {
    Migrator::with_migrations(vec![
        migration(1, "log", include_str!("../migrations/sqlite/0001_log.sql")),
        migration(2, "names", include_str!("../migrations/sqlite/0002_names.sql")),
        migration(3, "secret", include_str!("../migrations/sqlite/0003_secret.sql")),
        migration(4, "waits_for", include_str!("../migrations/sqlite/0004_waits_for.sql")),
        migration(5, "beat", include_str!("../migrations/sqlite/0005_beat.sql")),
        migration(6, "imported", include_str!("../migrations/sqlite/0006_imported.sql")),
        migration(7, "wake", include_str!("../migrations/sqlite/0007_wake.sql")),
        migration(8, "lasting", include_str!("../migrations/sqlite/0008_lasting.sql")),
        migration(9, "spending", include_str!("../migrations/sqlite/0009_spending.sql")),
        migration(10, "label", include_str!("../migrations/sqlite/0010_label.sql")),
        migration(11, "now", include_str!("../migrations/sqlite/0011_now.sql")),
    ])
}

fn migration(version: i64, name: &'static str, sql: &'static str) -> Migration {
    Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
}
