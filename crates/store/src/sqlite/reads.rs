//! Reading the log. Readers have connections of their own and never wait for
//! the writer.

use std::collections::HashMap;

use plenary_domain::room::SECRET;
use plenary_domain::{CallId, SessionId, Timestamp};
use plenary_engine::ports::{
    AttemptRow, ListPage, ListQuery, SessionRow, StoreError, StoredEvent, Waiting,
};
use sqlx::{Connection, QueryBuilder, Sqlite, SqliteConnection, SqlitePool};
use uuid::Uuid;

use super::append::VERSION_BITS;
use super::failure::failure;
use crate::rows::{self, signed, unsigned};
use crate::words;

pub(super) async fn named(
    pool: &SqlitePool,
    kind: &str,
    name: &str,
) -> Result<Option<SessionId>, StoreError> {
    let id: Option<Uuid> = sqlx::query_scalar("select id from stream where kind = ? and name = ?")
        .bind(kind)
        .bind(name)
        .fetch_optional(pool)
        .await
        .map_err(failure)?;
    Ok(id.map(SessionId))
}

pub(super) async fn session(
    pool: &SqlitePool,
    id: SessionId,
) -> Result<Option<SessionRow>, StoreError> {
    QueryBuilder::<Sqlite>::new(rows::SESSION)
        .push(" where id = ")
        .push_bind(id.0)
        .build_query_as()
        .fetch_optional(pool)
        .await
        .map_err(failure)?
        .map(rows::session)
        .transpose()
}

/// The node that drives a session, or drove it.
pub(super) async fn owner(pool: &SqlitePool, id: SessionId) -> Result<Option<String>, StoreError> {
    let owner = sqlx::query_scalar("select owner from stream where id = ?").bind(id.0);
    let owner: Option<Option<String>> = owner.fetch_optional(pool).await.map_err(failure)?;
    Ok(owner.flatten())
}

/// How many sessions each node drives, those left out of which nobody may know that.
pub(super) async fn driving(readers: &SqlitePool) -> Result<HashMap<String, u64>, StoreError> {
    let counted: Vec<(String, i64)> = sqlx::query_as(
        "select owner, count(*) from stream
         where active = 1 and owner is not null and not (kind = ? and status = ?) group by owner",
    )
    .bind(SECRET.0)
    .bind(SECRET.1)
    .fetch_all(readers)
    .await
    .map_err(failure)?;
    Ok(counted.into_iter().map(|(owner, count)| (owner, unsigned(count))).collect())
}

pub(super) async fn versions(
    pool: &SqlitePool,
    ids: &[SessionId],
) -> Result<Vec<(SessionId, u64)>, StoreError> {
    let mut versions = vec![];
    for id in ids {
        let version: Option<i64> = sqlx::query_scalar("select version from stream where id = ?")
            .bind(id.0)
            .fetch_optional(pool)
            .await
            .map_err(failure)?;
        versions.extend(version.map(|version| (*id, unsigned(version))));
    }
    Ok(versions)
}

/// `others` are the nodes that live beside this one. They are in the same process, so that
/// none dies alone.
pub(super) async fn waiting(
    pool: &SqlitePool,
    others: &str,
    now: Timestamp,
    after: Option<SessionId>,
    limit: u32,
) -> Result<Waiting, StoreError> {
    let due: Vec<Uuid> = sqlx::query_scalar(
        "select id from stream
         where (owner is null or owner not in (select value from json_each(?1)))
             and id in (
                 select id from stream where active = 1 and wake_at is null and id > ?3
                 union select id from stream where active = 1 and wake_at <= ?2 and id > ?3
                 union select stream_id from draft where stream_id > ?3)
         order by id limit ?4",
    )
    .bind(others)
    .bind(now.as_millisecond())
    .bind(after.map_or(Uuid::nil(), |after| after.0))
    .bind(limit)
    .fetch_all(pool)
    .await
    .map_err(failure)?;
    let wake_at: Option<i64> = sqlx::query_scalar(
        "select wake_at from stream
         where active = 1 and wake_at > ?2
             and (owner is null or owner not in (select value from json_each(?1)))
         order by wake_at limit 1",
    )
    .bind(others)
    .bind(now.as_millisecond())
    .fetch_optional(pool)
    .await
    .map_err(failure)?;
    Ok(Waiting {
        sessions: due.into_iter().map(SessionId).collect(),
        wake_at: wake_at.and_then(|at| Timestamp::from_millisecond(at).ok()),
    })
}

pub(super) async fn events(
    pool: &SqlitePool,
    id: SessionId,
    after: u64,
    limit: u32,
) -> Result<Vec<StoredEvent>, StoreError> {
    sqlx::query_as(rows::EVENTS)
        .bind(id.0)
        .bind(signed(after))
        .bind(limit)
        .fetch_all(pool)
        .await
        .map_err(failure)?
        .into_iter()
        .map(rows::event)
        .collect()
}

pub(super) async fn events_of_all(
    pool: &SqlitePool,
    after: u64,
    limit: u32,
) -> Result<Vec<StoredEvent>, StoreError> {
    sqlx::query_as(
        "select stream_id, kind, event.version, position, type, actor, payload, at
         from event join stream on stream.id = stream_id
         where position > ? order by position limit ?",
    )
    .bind(signed(after))
    .bind(limit)
    .fetch_all(pool)
    .await
    .map_err(failure)?
    .into_iter()
    .map(rows::event)
    .collect()
}

pub(super) async fn position(pool: &SqlitePool) -> Result<u64, StoreError> {
    sqlx::query_scalar("select coalesce(max(position), 0) from event where position > 0")
        .fetch_one(pool)
        .await
        .map(unsigned)
        .map_err(failure)
}

pub(super) async fn secret(pool: &SqlitePool) -> Result<[u8; 32], StoreError> {
    let bytes: Vec<u8> =
        sqlx::query_scalar("select bytes from secret").fetch_one(pool).await.map_err(failure)?;
    rows::secret(bytes)
}

pub(super) async fn attempts(
    pool: &SqlitePool,
    id: SessionId,
) -> Result<Vec<AttemptRow>, StoreError> {
    sqlx::query_as(rows::ATTEMPTS)
        .bind(id.0)
        .fetch_all(pool)
        .await
        .map_err(failure)?
        .into_iter()
        .map(rows::attempt)
        .collect()
}

pub(super) async fn drafts(
    pool: &SqlitePool,
    id: SessionId,
) -> Result<Vec<(CallId, String)>, StoreError> {
    let rows: Vec<(String, String)> =
        sqlx::query_as("select call_id, text from draft where stream_id = ? order by call_id")
            .bind(id.0)
            .fetch_all(pool)
            .await
            .map_err(failure)?;
    Ok(rows.into_iter().map(|(call, text)| (CallId(call), text)).collect())
}

/// The page and the total are of one moment: both are read in one transaction.
pub(super) async fn list(pool: &SqlitePool, query: &ListQuery) -> Result<ListPage, StoreError> {
    let mut connection = pool.acquire().await.map_err(failure)?;
    let mut moment = connection.begin().await.map_err(failure)?;
    let total = count(&mut moment, query).await.map_err(failure)?;
    let found = page(&mut moment, query).await.map_err(failure)?;
    moment.commit().await.map_err(failure)?;

    let rows = found.into_iter().map(rows::session).collect::<Result<_, StoreError>>()?;
    Ok(rows::page(rows, query.limit, total))
}

async fn count(connection: &mut SqliteConnection, query: &ListQuery) -> Result<i64, sqlx::Error> {
    let mut select = QueryBuilder::<Sqlite>::new("select count(*) from stream where true");
    push_filter(&mut select, query);
    select.build_query_scalar().fetch_one(connection).await
}

/// One row more than asked for tells whether there is a next page.
async fn page(
    connection: &mut SqliteConnection,
    query: &ListQuery,
) -> Result<Vec<rows::SessionTuple>, sqlx::Error> {
    let mut select = QueryBuilder::<Sqlite>::new(rows::SESSION);
    select.push(" where true");
    push_filter(&mut select, query);
    if let Some(before) = query.before {
        select.push(" and id < ").push_bind(before.0);
    }
    select.push(" order by id desc limit ").push_bind(i64::from(query.limit) + 1);
    select.build_query_as().fetch_all(connection).await
}

fn push_filter(select: &mut QueryBuilder<Sqlite>, query: &ListQuery) {
    if let Some(kind) = &query.kind {
        select.push(" and kind = ").push_bind(kind);
    }
    for kind in &query.without {
        select.push(" and kind <> ").push_bind(kind);
    }
    if let Some(project) = &query.project {
        select.push(" and project = ").push_bind(project);
    }
    if let Some(status) = &query.status {
        select.push(" and status = ").push_bind(status);
    }
    if let Some(active) = query.active {
        select.push(if active {
            " and active = 1 and not (kind = "
        } else {
            " and (not active or kind = "
        });
        select.push_bind(SECRET.0).push(" and status = ").push_bind(SECRET.1).push(")");
    }
    match query.waiting {
        Some(true) => drop(select.push(" and waits_for <> '[]'")),
        Some(false) => drop(select.push(" and waits_for = '[]'")),
        None => {}
    }
    if let Some(pinned) = query.pinned {
        select.push(" and pinned = ").push_bind(pinned);
    }
    let words = words::for_fts5(query.words.as_deref().unwrap_or_default());
    if words.is_empty() {
        return;
    }
    // A session matches when each word has a row of it; the words need not stand
    // in the same event.
    let count = words.len() as i64;
    select
        .push(" and number in (select stream from (select distinct word.key, search.rowid >> ")
        .push_bind(VERSION_BITS)
        .push(" as stream from json_each(")
        .push_bind(serde_json::Value::from(words).to_string())
        .push(") as word cross join search where search.words match word.value)")
        .push(" group by stream having count(*) = ")
        .push_bind(count)
        .push(")");
}
