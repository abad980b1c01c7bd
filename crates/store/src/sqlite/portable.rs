//! A store in a folder, to be copied from or to.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use plenary_domain::SessionId;
use plenary_engine::ports::StoreError;
use serde_json::json;
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use uuid::Uuid;

use super::append::VERSION_BITS;
use super::failure::failure;
use super::{DATABASE_FILE, SqliteStore, found, reading, writing};
use crate::copy::{Portable, Removed, Whole, json as parsed};
use crate::lock::{Holder, holder};
use crate::rows::{signed, unsigned};

struct Folder {
    connection: SqliteConnection,
    path: PathBuf,
    /// Keeps others away from a folder that is written to.
    held: Option<SqliteStore>,
}

pub(crate) async fn source(folder: &Path) -> Result<Box<dyn Portable>, StoreError> {
    if !found::is_there(folder)? {
        return Err(StoreError::NotWritten(format!("there is no store in {}", folder.display())));
    }
    let connection = reading(&folder.join(DATABASE_FILE)).connect().await.map_err(failure)?;
    Ok(Box::new(Folder { connection, path: folder.to_owned(), held: None }))
}

pub(crate) async fn target(folder: &Path, holder: Holder) -> Result<Box<dyn Portable>, StoreError> {
    let held = super::open(folder, holder).await?;
    let connection = writing(&folder.join(DATABASE_FILE)).connect().await.map_err(failure)?;
    Ok(Box::new(Folder { connection, path: folder.to_owned(), held: Some(held) }))
}

const READ: &str = "
    select json_object('kind', kind, 'name', name, 'project', project, 'title', title,
            'label', label, 'pinned', json(iif(pinned, 'true', 'false')), 'status', status, 'active', json(iif(active, 'true', 'false')),
            'waits_for', waits_for, 'imported', json(iif(imported, 'true', 'false')),
            'version', version, 'epoch', epoch, 'wake_at', wake_at,
            'created_at', created_at, 'updated_at', updated_at),
        (select json_group_array(json_object('version', version,
                'position', iif(position > 0, position, null), 'type', type, 'actor', actor,
                'payload', payload, 'at', at))
            from (select * from event where stream_id = ?1 order by version)),
        (select json_group_array(json_object('call_id', call_id, 'number', number,
                'epoch', epoch, 'state', state, 'input_tokens', input_tokens,
                'output_tokens', output_tokens, 'cached_tokens', cached_tokens,
                'reasoning_tokens', reasoning_tokens, 'cost_nano_usd', cost_nano_usd))
            from (select * from attempt where stream_id = ?1 order by call_id, number)),
        (select json_group_array(json_object('call_id', call_id, 'text', text))
            from (select * from draft where stream_id = ?1 order by call_id)),
        (select json_group_array(json_object('principal', principal, 'key', key,
                'request_hash', request_hash, 'first', coalesce(first, max(1, version - 63)),
                'version', version, 'at', at, 'lasting', json(iif(lasting, 'true', 'false'))))
            from (select * from idempotency where stream_id = ?1 order by principal, key))
    from stream where id = ?1";

/// The session is `?1`, the rows are `?2`.
const WRITE: [&str; 5] = [
    "insert into stream (id, kind, name, project, title, label, pinned, status, active,
         waits_for, imported, version, epoch, wake_at, created_at, updated_at)
     values (?1, ?2 ->> 'kind', ?2 ->> 'name', ?2 ->> 'project', ?2 ->> 'title', ?2 ->> 'label',
         ?2 ->> 'pinned', ?2 ->> 'status',
         ?2 ->> 'active', ?2 ->> 'waits_for', ?2 ->> 'imported', ?2 ->> 'version', ?2 ->> 'epoch',
         ?2 ->> 'wake_at', ?2 ->> 'created_at', ?2 ->> 'updated_at')",
    // An event without a position has a number below those of all others.
    "insert into event (position, stream_id, version, type, actor, payload, at)
     select coalesce(value ->> 'position',
             (select min(0, coalesce(min(position), 0)) from event)
                 - row_number() over (order by key)),
         ?1, value ->> 'version', value ->> 'type', value ->> 'actor', value ->> 'payload',
         value ->> 'at'
     from json_each(?2)",
    "insert into attempt (stream_id, call_id, number, epoch, state, input_tokens, output_tokens,
         cached_tokens, reasoning_tokens, cost_nano_usd)
     select ?1, value ->> 'call_id', value ->> 'number', value ->> 'epoch', value ->> 'state',
         value ->> 'input_tokens', value ->> 'output_tokens', value ->> 'cached_tokens',
         value ->> 'reasoning_tokens', value ->> 'cost_nano_usd'
     from json_each(?2)",
    "insert into draft (stream_id, call_id, text)
     select ?1, value ->> 'call_id', value ->> 'text' from json_each(?2)",
    "insert into idempotency (principal, key, request_hash, stream_id, first, version, at, lasting)
     select value ->> 'principal', value ->> 'key', value ->> 'request_hash', ?1,
         value ->> 'first', value ->> 'version', value ->> 'at', value ->> 'lasting'
     from json_each(?2)",
];

/// The session is `?1`, the rows are `?2`.
const WORDS: &str = "
    insert into search (rowid, words)
    select ((select number from stream where id = ?1) << ?3) | (value ->> 'version'),
        value ->> 'words'
    from json_each(?2)";

impl Folder {
    async fn forget(&mut self, id: SessionId) -> Result<(), sqlx::Error> {
        sqlx::query(
            "delete from search where rowid in (
                 select docs.id from search_docsize as docs
                 join stream on number = docs.id >> ?2 where stream.id = ?1)",
        )
        .bind(id.0)
        .bind(VERSION_BITS)
        .execute(&mut self.connection)
        .await?;
        let delete = sqlx::query("delete from stream where id = ?").bind(id.0);
        delete.execute(&mut self.connection).await.map(drop)
    }

    async fn write(
        &mut self,
        id: SessionId,
        whole: &Whole,
        words: &[(u64, String)],
    ) -> Result<(), sqlx::Error> {
        self.forget(id).await?;
        let Whole { row, events, attempts, drafts, keys } = whole;
        for (statement, value) in WRITE.into_iter().zip([row, events, attempts, drafts, keys]) {
            sqlx::query(statement)
                .bind(id.0)
                .bind(value.to_string())
                .execute(&mut self.connection)
                .await?;
        }
        let indexed = words
            .iter()
            .filter(|(version, words)| !words.is_empty() && signed(*version) >> VERSION_BITS == 0);
        let indexed = indexed.map(|(version, words)| json!({ "version": version, "words": words }));
        sqlx::query(WORDS)
            .bind(id.0)
            .bind(indexed.collect::<serde_json::Value>().to_string())
            .bind(VERSION_BITS)
            .execute(&mut self.connection)
            .await
            .map(drop)
    }

    async fn put_away(&mut self, removed: &Removed) -> Result<(), sqlx::Error> {
        self.forget(removed.id).await?;
        let (kind, name) = removed.named.clone().unzip();
        sqlx::query("insert into removed (id, kind, name) values (?, ?, ?) on conflict do nothing")
            .bind(removed.id.0)
            .bind(kind)
            .bind(name)
            .execute(&mut self.connection)
            .await
            .map(drop)
    }

    async fn execute(&mut self, statement: &'static str) -> Result<(), StoreError> {
        sqlx::query(statement).execute(&mut self.connection).await.map(drop).map_err(failure)
    }

    async fn end(&mut self, outcome: Result<(), sqlx::Error>) -> Result<(), StoreError> {
        match outcome {
            Ok(()) => self.execute("commit").await,
            Err(error) => {
                self.execute("rollback").await.ok();
                Err(failure(error))
            }
        }
    }
}

#[async_trait]
impl Portable for Folder {
    async fn secret(&mut self) -> Result<Vec<u8>, StoreError> {
        let secret = sqlx::query_scalar("select bytes from secret");
        secret.fetch_one(&mut self.connection).await.map_err(failure)
    }

    async fn sessions(&mut self) -> Result<Vec<(SessionId, u64)>, StoreError> {
        let rows: Vec<(Uuid, i64)> = sqlx::query_as("select id, version from stream order by id")
            .fetch_all(&mut self.connection)
            .await
            .map_err(failure)?;
        Ok(rows.into_iter().map(|(id, version)| (SessionId(id), unsigned(version))).collect())
    }

    async fn removed(&mut self) -> Result<Vec<Removed>, StoreError> {
        let rows: Vec<(Uuid, Option<String>, Option<String>)> =
            sqlx::query_as("select id, kind, name from removed order by id")
                .fetch_all(&mut self.connection)
                .await
                .map_err(failure)?;
        let removed = rows.into_iter();
        Ok(removed
            .map(|(id, kind, name)| Removed { id: SessionId(id), named: kind.zip(name) })
            .collect())
    }

    async fn read(&mut self, id: SessionId) -> Result<Option<Whole>, StoreError> {
        let row: Option<(String, String, String, String, String)> = sqlx::query_as(READ)
            .bind(id.0)
            .fetch_optional(&mut self.connection)
            .await
            .map_err(failure)?;
        let Some((row, events, attempts, drafts, keys)) = row else { return Ok(None) };
        Ok(Some(Whole {
            row: parsed(&row)?,
            events: parsed(&events)?,
            attempts: parsed(&attempts)?,
            drafts: parsed(&drafts)?,
            keys: parsed(&keys)?,
        }))
    }

    async fn last_position(&mut self) -> Result<i64, StoreError> {
        sqlx::query_scalar(
            "select coalesce((select seq from sqlite_sequence where name = 'event'), 0)",
        )
        .fetch_one(&mut self.connection)
        .await
        .map_err(failure)
    }

    /// What is written to is held by this process alone.
    async fn is_in_use(&mut self) -> Result<bool, StoreError> {
        Ok(self.held.is_none() && holder(&self.path).is_some())
    }

    async fn set_secret(&mut self, secret: Vec<u8>) -> Result<(), StoreError> {
        let set = sqlx::query("update secret set bytes = ?").bind(secret);
        set.execute(&mut self.connection).await.map(drop).map_err(failure)
    }

    async fn replace(
        &mut self,
        id: SessionId,
        whole: &Whole,
        words: &[(u64, String)],
    ) -> Result<(), StoreError> {
        self.execute("begin immediate").await?;
        let written = self.write(id, whole, words).await;
        self.end(written).await
    }

    async fn remove(&mut self, removed: &Removed) -> Result<(), StoreError> {
        self.execute("begin immediate").await?;
        let written = self.put_away(removed).await;
        self.end(written).await
    }

    async fn set_last_position(&mut self, position: i64) -> Result<(), StoreError> {
        // The table has no row before the first event, and then nothing was given.
        let set = sqlx::query("update sqlite_sequence set seq = max(seq, ?) where name = 'event'");
        set.bind(position).execute(&mut self.connection).await.map(drop).map_err(failure)
    }

    async fn close(self: Box<Self>) {
        self.connection.close().await.ok();
        if let Some(held) = self.held {
            held.close().await.ok();
        }
    }
}
