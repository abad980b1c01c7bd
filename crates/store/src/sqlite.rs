//! The log on SQLite: one process, one writer, many readers.

mod append;
mod batch;
mod drive;
mod failure;
mod reads;
mod rows;
mod words;
mod writer;

use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use plenary_domain::{CallId, SessionId, limits};
use plenary_engine::ports::{
    Append, Appended, AttemptEnd, AttemptRow, IdempotentAnswer, ListPage, ListQuery, SessionRow,
    Store, StoreError, StoredEvent,
};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, SqlSafeStr, SqliteConnection, SqlitePool};

use crate::lock::{Holder, Lock, open_private};
use drive::{BeginAttempt, Check, Claim, SaveDraft};
use failure::{closed, failure, migration_failure};
use writer::Writer;

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

const MS_PER_DAY: i64 = 24 * 3_600_000;

/// Opens the log in a data folder, making both when they are not there, and
/// keeps other processes away from the folder until the store is closed or
/// dropped. A dropped store may still be writing what had been given to it;
/// versions and epochs, not the lock, keep the log right.
pub async fn open(folder: &Path, holder: Holder) -> Result<SqliteStore, StoreError> {
    make_folder(folder)?;
    let lock = take_lock(folder, &holder).await?;
    let file = folder.join(DATABASE_FILE);
    if !file.is_file() {
        make_private(&file)?;
    }
    let mut connection = writing(&file).connect().await.map_err(failure)?;
    migrations().run_direct(None, &mut connection, false).await.map_err(migration_failure)?;
    forget_old_answers(&mut connection, &holder).await.map_err(failure)?;

    let readers = SqlitePoolOptions::new()
        .max_connections(READERS)
        .test_before_acquire(false)
        .max_lifetime(None)
        .idle_timeout(None)
        .connect_lazy_with(options(&file).read_only(true));
    Ok(SqliteStore { writer: Writer::start(connection), readers, lock: Mutex::new(Some(lock)) })
}

/// The log of all sessions in one data folder.
pub struct SqliteStore {
    writer: Writer,
    readers: SqlitePool,
    /// Given back by `close`, or when the store is dropped.
    lock: Mutex<Option<Lock>>,
}

impl SqliteStore {
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

    async fn remove(&self, id: SessionId) -> Result<bool, StoreError> {
        self.writer.write(append::Remove(id)).await
    }

    async fn claim(
        &self,
        owner: &str,
        id: Option<SessionId>,
    ) -> Result<Vec<(SessionId, u64)>, StoreError> {
        self.writer.write(Claim { owner: owner.to_owned(), session: id }).await
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
        reads::secret(&self.readers).await
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.writer.write(Check).await?;
        // The lock's file, because it is ours alone: opening the database's file
        // beside SQLite and closing it would give SQLite's own locks away.
        let file = self.with_lock(|lock| Ok(lock.file()))?;
        tokio::task::spawn_blocking(move || file.sync_all())
            .await
            .map_err(io::Error::other)
            .flatten()
            .map_err(|error| StoreError::Failed(format!("the disk does not answer: {error}")))
    }
}

fn needs_an_event(append: &Append) -> Result<(), StoreError> {
    match append.events.is_empty() {
        true => Err(StoreError::Failed("an append needs an event".into())),
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
        StoreError::Failed(format!("the data folder {} cannot be made: {error}", folder.display()))
    })
}

/// SQLite makes its other files with the rights of this one. It is left alone
/// once it is there: closing it beside SQLite would give SQLite's locks away.
fn make_private(file: &Path) -> Result<(), StoreError> {
    match open_private(file) {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(StoreError::Failed(format!("{} cannot be opened: {error}", file.display())))
        }
    }
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
        .disable_statement_logging()
}

fn writing(file: &Path) -> SqliteConnectOptions {
    options(file)
        .create_if_missing(true)
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
        migration(5, "imported", include_str!("../migrations/sqlite/0005_imported.sql")),
    ])
}

fn migration(version: i64, name: &'static str, sql: &'static str) -> Migration {
    Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
}

async fn forget_old_answers(
    connection: &mut SqliteConnection,
    holder: &Holder,
) -> Result<(), sqlx::Error> {
    sqlx::query("delete from idempotency where at < ?")
        .bind(holder.since.as_millisecond() - limits::IDEMPOTENCY_DAYS * MS_PER_DAY)
        .execute(connection)
        .await?;
    Ok(())
}
