//! Looks through a store without changing it, also while a server works on it, and
//! copies it.
//!
//! What is asked here is asked of a database that may be damaged: an error is a finding
//! too, and the next question is asked all the same.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use plenary_domain::{SessionId, limits};
use plenary_engine::ports::{StoreError, StoredEvent};
use sqlx::{ConnectOptions, Connection, SqlSafeStr, SqliteConnection};
use uuid::Uuid;

use super::append::VERSION_BITS;
use super::failure::failure;
use super::place::beside;
use super::{DATABASE_FILE, found, migrations, reading, wal};
use crate::lock::{holder, open_private};
use crate::rows::{self, signed, unsigned};

/// One look at everything in a store, as it is at one moment.
pub struct Inspection {
    connection: SqliteConnection,
    /// What is wrong with the files and the tables.
    pub problems: Vec<String>,
    /// Files that were kept aside when a damaged log was found.
    pub kept: Vec<PathBuf>,
}

/// A session's words in the index, by the version of the event; 0 is the title.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Words {
    pub session: SessionId,
    pub title: String,
    pub indexed: BTreeSet<u64>,
}

/// Opens the store of a data folder for looking. Nobody else has to let go of it. `None`:
/// there was never one.
pub async fn inspect(folder: &Path) -> Result<Option<Inspection>, StoreError> {
    if !found::is_there(folder)? {
        return Ok(None);
    }
    let file = folder.join(DATABASE_FILE);
    let mut problems = vec![];
    // A process that works on it has looked at the log when it began, and changes it.
    if holder(folder).is_none() {
        let log = wal::read(&beside(&file, "-wal")).map_err(|error| {
            StoreError::Failed(format!("the write-ahead log cannot be read: {error}"))
        })?;
        problems.extend(found::words(log));
    }
    let mut inspection = look(&file).await?;
    problems.append(&mut inspection.problems);
    Ok(Some(Inspection { problems, kept: found::kept(folder), ..inspection }))
}

async fn look(file: &Path) -> Result<Inspection, StoreError> {
    let mut connection = reading(file).connect().await.map_err(failure)?;
    // All questions are about one moment, whatever is written meanwhile.
    sqlx::query("begin").execute(&mut connection).await.map_err(failure)?;
    let mut inspection = Inspection { connection, problems: vec![], kept: vec![] };
    inspection.examine().await;
    Ok(inspection)
}

/// A question whose answers are what is wrong, in words.
struct Question {
    about: &'static str,
    sql: &'static str,
}

const QUESTIONS: &[Question] = &[
    Question {
        about: "references",
        sql: "select 'a row of ' || \"table\" || ' belongs to a session that is not there'
              from pragma_foreign_key_check",
    },
    Question {
        about: "versions",
        sql: "select 'session ' || lower(hex(id)) || ' stands at version ' || stream.version
                  || ', and its events are ' || count(event.version) || ' from '
                  || coalesce(min(event.version), 0) || ' to ' || coalesce(max(event.version), 0)
              from stream left join event on stream_id = id
              group by id
              having count(event.version) <> stream.version
                  or coalesce(min(event.version), 0) <> min(1, stream.version)
                  or coalesce(max(event.version), 0) <> stream.version",
    },
    Question {
        about: "positions",
        sql: "select 'position ' || position || ' was never given'
              from event where position = 0 or position >
                  (select coalesce(max(seq), 0) from sqlite_sequence where name = 'event')",
    },
    Question {
        about: "removed sessions",
        sql: "select 'session ' || lower(hex(id)) || ' is there, though it was removed'
              from stream where id in (select id from removed)",
    },
    Question {
        about: "the search index",
        // The last one is the title that somebody has given: see `rows::LABEL`.
        sql: "select 'it has words of event ' || (docs.id & 16777215) || ' of session '
                  || case when stream.id is null then 'number ' || (docs.id >> 24)
                      else lower(hex(stream.id)) end
                  || ', which is not there'
              from search_docsize as docs left join stream on number = docs.id >> 24
              where stream.id is null
                  or (docs.id & 16777215) > version and (docs.id & 16777215) <> 16777215",
    },
];

impl Inspection {
    /// Everything that SQL can answer.
    async fn examine(&mut self) {
        let most = limits::DAMAGE_TOLD;
        let told: Result<Vec<String>, _> =
            sqlx::query_scalar("pragma integrity_check").fetch_all(&mut self.connection).await;
        let wrong = told.map(|told| told.into_iter().filter(|one| one != "ok").take(most));
        self.note("the database file", wrong);
        let versions = self.unknown_versions().await;
        self.note("the tables", versions);
        for Question { about, sql } in QUESTIONS {
            let sql = format!("select * from ({sql}) limit {most}");
            let told = sqlx::query_scalar(sqlx::AssertSqlSafe(sql).into_sql_str())
                .fetch_all(&mut self.connection)
                .await;
            self.note(about, told);
        }
    }

    fn note(&mut self, about: &str, found: Result<impl IntoIterator<Item = String>, sqlx::Error>) {
        match found {
            Ok(found) => {
                self.problems.extend(found.into_iter().map(|one| format!("{about}: {one}")))
            }
            Err(error) => self.problems.push(format!("{about}: {}", failure(error))),
        }
    }

    async fn unknown_versions(&mut self) -> Result<Vec<String>, sqlx::Error> {
        let versions: Vec<i64> = sqlx::query_scalar("select version from _sqlx_migrations")
            .fetch_all(&mut self.connection)
            .await?;
        let known = migrations();
        let newer = versions.into_iter().filter(|version| !known.version_exists(*version));
        let told = |version| format!("version {version} is from a newer Plenary than this one");
        Ok(newer.map(told).collect())
    }

    /// Every session, in the order in which they were opened.
    pub async fn sessions(&mut self) -> Result<Vec<SessionId>, StoreError> {
        let ids: Vec<Uuid> = sqlx::query_scalar("select id from stream order by number")
            .fetch_all(&mut self.connection)
            .await
            .map_err(failure)?;
        Ok(ids.into_iter().map(SessionId).collect())
    }

    /// Events of a session after a version, in order, a page at a time.
    pub async fn events(
        &mut self,
        id: SessionId,
        after: u64,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        sqlx::query_as(rows::EVENTS)
            .bind(id.0)
            .bind(signed(after))
            .bind(limits::EVENTS_PAGE)
            .fetch_all(&mut self.connection)
            .await
            .map_err(failure)?
            .into_iter()
            .map(rows::event)
            .collect()
    }

    pub async fn words(&mut self, session: SessionId) -> Result<Words, StoreError> {
        let (number, title): (i64, String) =
            sqlx::query_as("select number, title from stream where id = ?")
                .bind(session.0)
                .fetch_one(&mut self.connection)
                .await
                .map_err(failure)?;
        let first = number << VERSION_BITS;
        let rows: Vec<i64> =
            sqlx::query_scalar("select id from search_docsize where id between ? and ?")
                .bind(first)
                .bind(((number + 1) << VERSION_BITS) - 1)
                .fetch_all(&mut self.connection)
                .await
                .map_err(failure)?;
        let indexed = rows.into_iter().map(|row| unsigned(row - first)).collect();
        Ok(Words { session, title, indexed })
    }
}

/// A copy of a store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Backup {
    pub bytes: u64,
    pub sessions: usize,
}

/// Copies the store of a data folder into one new file, as it is at one moment, also
/// while a server works on it. A file that is there already is left alone. The copy is
/// on the disk and has been looked through when this returns. `None`: there is no store.
pub async fn backup(folder: &Path, to: &Path) -> Result<Option<Backup>, StoreError> {
    let Some(mut source) = inspect(folder).await? else { return Ok(None) };
    if let Some(problem) = source.problems.first() {
        return Err(StoreError::Damaged(format!(
            "The store is damaged, so no backup was made: {problem}"
        )));
    }
    if to.exists() {
        return Err(exists(to));
    }
    let partial = beside(to, &format!(".partial-{}", std::process::id()));
    open_private(&partial).map_err(|error| cannot_write(to, &error))?;
    let placed = match copy(&mut source.connection, &partial).await {
        Ok(backup) => place(&partial, to).map(|()| Some(backup)),
        Err(error) => Err(error),
    };
    // After a rename it is gone already.
    fs::remove_file(&partial).ok();
    source.connection.close().await.map_err(failure)?;
    placed
}

async fn copy(from: &mut SqliteConnection, partial: &Path) -> Result<Backup, StoreError> {
    let path = partial
        .to_str()
        .ok_or_else(|| StoreError::Failed(format!("{} is not a UTF-8 path", partial.display())))?;
    sqlx::query("commit").execute(&mut *from).await.map_err(failure)?;
    sqlx::query("vacuum into ?").bind(path).execute(from).await.map_err(failure)?;
    found::sync(partial).map_err(|error| cannot_write(partial, &error))?;
    let mut copy = look(partial).await?;
    let sessions = copy.sessions().await?.len();
    copy.connection.close().await.map_err(failure)?;
    match copy.problems.first() {
        Some(problem) => Err(StoreError::Failed(format!("the copy is incomplete: {problem}"))),
        None => {
            let bytes = fs::metadata(partial).map_err(|error| cannot_write(partial, &error))?.len();
            Ok(Backup { bytes, sessions })
        }
    }
}

/// Gives a finished copy its name, unless something has that name by now.
fn place(partial: &Path, to: &Path) -> Result<(), StoreError> {
    let placed = fs::hard_link(partial, to).or_else(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Err(error),
        // Not every disk knows links.
        _ if to.exists() => Err(io::ErrorKind::AlreadyExists.into()),
        _ => fs::rename(partial, to),
    });
    placed.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => exists(to),
        _ => cannot_write(to, &error),
    })?;
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    found::sync(folder).map_err(|error| cannot_write(to, &error))
}

fn exists(file: &Path) -> StoreError {
    StoreError::NotWritten(format!(
        "{} already exists, and a backup never overwrites a file",
        file.display()
    ))
}

fn cannot_write(file: &Path, error: &io::Error) -> StoreError {
    StoreError::Failed(format!("{} cannot be written: {error}", file.display()))
}
