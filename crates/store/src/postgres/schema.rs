//! The tables, and who may work with them.
//!
//! Nodes of several versions work on one database while it is upgraded. So each migration
//! says the oldest one that a program has to know to live with the tables after it. A
//! program that knows too little does not start; and a migration that a living node could
//! not live with is not carried out. One that nobody could ask, because it slept beyond its
//! lease, learns of it when it renews that.
//!
//! A migration that only adds (a table, an index, a column with a default or without a
//! value, a function under a new name) needs no more than the one before. One that changes
//! or takes away what an older program uses needs itself.

use futures::FutureExt;
use plenary_engine::ports::StoreError;
use sqlx::{Connection, PgConnection};

use super::failure::{failure, unreachable};

struct Migration {
    version: i64,
    /// Programs that know this version can live with the tables.
    needs: i64,
    sql: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, needs: 1, sql: include_str!("../../migrations/postgres/0001_log.sql") },
    Migration {
        version: 2,
        needs: 1,
        sql: include_str!("../../migrations/postgres/0002_label.sql"),
    },
    Migration { version: 3, needs: 1, sql: include_str!("../../migrations/postgres/0003_now.sql") },
];

/// The newest that this program knows.
pub(super) const KNOWN: i64 = newest(MIGRATIONS);

const fn newest(known: &[Migration]) -> i64 {
    match known.last() {
        Some(last) => last.version,
        None => 0,
    }
}

/// Any number, as long as nobody else on the database takes the same.
const LOCK: i64 = 0x0070_6c65_6e61_7279;

/// What the tables are, and which version a program has to know.
type Standing = (i64, i64);

/// Makes or renews the tables, once, however many nodes start together. Where they are as
/// they should be nothing is written, so that the rights to do so are not needed.
pub(super) async fn prepare(connection: &mut PgConnection, shown: &str) -> Result<(), StoreError> {
    prepare_for(MIGRATIONS, connection, shown).await
}

async fn prepare_for(
    known: &[Migration],
    connection: &mut PgConnection,
    shown: &str,
) -> Result<(), StoreError> {
    fits_server(connection, shown).await?;
    if let Some((version, needs)) = standing(connection).await.map_err(failure)? {
        if needs > newest(known) {
            return Err(too_old(version, newest(known)));
        }
        if version >= newest(known) {
            return Ok(());
        }
    }
    let mut change = connection.begin().await.map_err(failure)?;
    let migrated = migrate(known, &mut change, shown).await;
    match migrated {
        Ok(()) => change.commit().await.map_err(failure),
        Err(error) => {
            change.rollback().await.ok();
            Err(error)
        }
    }
}

/// What we rely on: PostgreSQL 15, UTF-8.
async fn fits_server(connection: &mut PgConnection, shown: &str) -> Result<(), StoreError> {
    let (version, encoding): (i32, String) = sqlx::query_as(
        "select current_setting('server_version_num')::int, current_setting('server_encoding')",
    )
    .fetch_one(connection)
    .await
    .map_err(|error| unreachable(shown, error))?;
    if version < 150_000 {
        return Err(StoreError::NotWritten(format!(
            "the database {shown} is on PostgreSQL {}; Plenary needs 15 or later",
            version / 10_000
        )));
    }
    if encoding != "UTF8" {
        return Err(StoreError::NotWritten(format!(
            "the database {shown} keeps text as {encoding}; create it with encoding UTF8"
        )));
    }
    Ok(())
}

async fn standing(connection: &mut PgConnection) -> Result<Option<Standing>, sqlx::Error> {
    // Not by `to_regclass`, which within a transaction goes by what was known at its
    // beginning.
    let there: bool = sqlx::query_scalar(
        "select exists (
             select 1 from pg_class
             where relname = 'plenary_schema' and pg_table_is_visible(pg_class.oid))",
    )
    .fetch_one(&mut *connection)
    .await?;
    if !there {
        return Ok(None);
    }
    let standing: (Option<i64>, Option<i64>) =
        sqlx::query_as("select max(version), max(needs) from plenary_schema")
            .fetch_one(connection)
            .await?;
    Ok(standing.0.zip(standing.1))
}

fn too_old(version: i64, known: i64) -> StoreError {
    StoreError::Unreadable(format!(
        "the database was upgraded by a newer version of Plenary (its tables are at version {version}, this program knows {known}); install that version or a later one"
    ))
}

/// This program can live with the tables, by a condition on whatever it writes of itself:
/// `$1` is what it knows.
pub(super) const FITS: &str = "not exists (select 1 from plenary_schema where needs > $1)";

/// Why nothing was written under that condition.
pub(super) async fn unfit(pool: &super::Pool) -> StoreError {
    let standing = pool.ask(|connection| standing(connection).boxed()).await;
    match standing {
        Ok(standing) => too_old(standing.map_or(0, |(version, _)| version), KNOWN),
        Err(error) => error,
    }
}

async fn migrate(
    known: &[Migration],
    change: &mut PgConnection,
    shown: &str,
) -> Result<(), StoreError> {
    sqlx::query("select pg_advisory_xact_lock($1)")
        .bind(LOCK)
        .execute(&mut *change)
        .await
        .map_err(failure)?;
    // Another node may have done it while this one waited.
    let (version, _) = standing(change).await.map_err(failure)?.unwrap_or((0, 0));
    if version == 0 {
        is_empty(change, shown).await?;
        sqlx::raw_sql(
            "create table plenary_schema (
                 version bigint primary key,
                 needs bigint not null,
                 at timestamptz not null default now())",
        )
        .execute(&mut *change)
        .await
        .map_err(|error| unreachable(shown, error))?;
    }
    for migration in known.iter().filter(|migration| migration.version > version) {
        if version > 0 {
            nobody_is_left_behind(change, migration).await?;
        }
        sqlx::raw_sql(migration.sql).execute(&mut *change).await.map_err(failure)?;
        sqlx::query("insert into plenary_schema (version, needs) values ($1, $2)")
            .bind(migration.version)
            .bind(migration.needs)
            .execute(&mut *change)
            .await
            .map_err(failure)?;
    }
    Ok(())
}

/// Our tables have plain names, so they are not put among somebody else's.
async fn is_empty(change: &mut PgConnection, shown: &str) -> Result<(), StoreError> {
    let others: Vec<String> = sqlx::query_scalar(
        "select c.relname::text from pg_class c
         where c.relnamespace = to_regnamespace(current_schema()::text) and c.relkind in ('r', 'p')
         order by 1 limit 3",
    )
    .fetch_all(change)
    .await
    .map_err(failure)?;
    match others.is_empty() {
        true => Ok(()),
        false => Err(StoreError::NotWritten(format!(
            "the database {shown} contains other tables ({}); give Plenary its own database",
            others.join(", ")
        ))),
    }
}

async fn nobody_is_left_behind(
    change: &mut PgConnection,
    migration: &Migration,
) -> Result<(), StoreError> {
    let behind: Vec<String> = sqlx::query_scalar(
        "select coalesce(address, id) || coalesce(' (' || program || ')', '') from node
         where schema < $1 and lease_until > clock_timestamp() order by since, id",
    )
    .bind(migration.needs)
    .fetch_all(change)
    .await
    .map_err(failure)?;
    match behind.is_empty() {
        true => Ok(()),
        false => Err(StoreError::InUse(format!(
            "nodes of an older version are still running and could not use this version's tables; \
             stop them first: {}",
            behind.join(", ")
        ))),
    }
}

#[cfg(test)]
mod tests;
