//! A store in a database, to be copied from or to.

use async_trait::async_trait;
use plenary_domain::SessionId;
use plenary_engine::ports::StoreError;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use super::failure::{failure, unreachable};
use super::pool::connect;
use super::text::{given, kept};
use super::{Address, schema};
use crate::copy::{Portable, Removed, Whole, json as parsed};
use crate::rows::unsigned;
use crate::words;

struct Database(PgConnection);

pub(crate) async fn source(address: &Address) -> Result<Box<dyn Portable>, StoreError> {
    target(address).await
}

/// Its tables are made where there are none.
pub(crate) async fn target(address: &Address) -> Result<Box<dyn Portable>, StoreError> {
    let shown = address.shown();
    let connected = connect(&address.options()).await;
    let mut connection = connected.map_err(|error| unreachable(&shown, error))?;
    schema::prepare(&mut connection, &shown).await?;
    Ok(Box::new(Database(connection)))
}

/// The session is `$1`.
const READ: &str = "
    select (to_jsonb(s) - 'id' - 'owner')::text,
        (select coalesce(jsonb_agg(to_jsonb(e) - 'stream_id' order by version), '[]')
            from event e where stream_id = $1)::text,
        (select coalesce(jsonb_agg(to_jsonb(a) - 'stream_id' order by call_id, number), '[]')
            from attempt a where stream_id = $1)::text,
        (select coalesce(jsonb_agg(to_jsonb(d) - 'stream_id' order by call_id), '[]')
            from draft d where stream_id = $1)::text,
        (select coalesce(jsonb_agg(to_jsonb(i) - 'stream_id' order by principal, key), '[]')
            from idempotency i where stream_id = $1)::text
    from stream s where id = $1";

/// The session is `$1`, the rows are `$2`.
const WRITE: [&str; 6] = [
    "insert into stream select (jsonb_populate_record(null::stream,
         $2::text::jsonb || jsonb_build_object('id', $1::uuid))).*",
    "insert into event select (jsonb_populate_record(null::event,
         one || jsonb_build_object('stream_id', $1::uuid))).*
     from jsonb_array_elements($2::text::jsonb) as rows (one)",
    "insert into attempt select (jsonb_populate_record(null::attempt,
         one || jsonb_build_object('stream_id', $1::uuid))).*
     from jsonb_array_elements($2::text::jsonb) as rows (one)",
    "insert into draft select (jsonb_populate_record(null::draft,
         one || jsonb_build_object('stream_id', $1::uuid))).*
     from jsonb_array_elements($2::text::jsonb) as rows (one)",
    "insert into idempotency select (jsonb_populate_record(null::idempotency,
         one || jsonb_build_object('stream_id', $1::uuid))).*
     from jsonb_array_elements($2::text::jsonb) as rows (one)",
    "insert into search select $1, (one ->> 'version')::bigint, (one ->> 'part')::bigint,
         (one ->> 'words')::tsvector
     from jsonb_array_elements($2::text::jsonb) as rows (one)",
];

#[async_trait]
impl Portable for Database {
    async fn secret(&mut self) -> Result<Vec<u8>, StoreError> {
        let secret = sqlx::query_scalar("select bytes from secret").fetch_one(&mut self.0).await;
        secret.map_err(failure)
    }

    async fn sessions(&mut self) -> Result<Vec<(SessionId, u64)>, StoreError> {
        let rows: Vec<(Uuid, i64)> = sqlx::query_as("select id, version from stream order by id")
            .fetch_all(&mut self.0)
            .await
            .map_err(failure)?;
        Ok(rows.into_iter().map(|(id, version)| (SessionId(id), unsigned(version))).collect())
    }

    async fn removed(&mut self) -> Result<Vec<Removed>, StoreError> {
        let rows: Vec<(Uuid, Option<String>, Option<String>)> = sqlx::query_as(
            "select id, kind, name from removed left join name on stream_id = id order by id",
        )
        .fetch_all(&mut self.0)
        .await
        .map_err(failure)?;
        let removed = |(id, kind, name): (Uuid, Option<String>, Option<String>)| Removed {
            id: SessionId(id),
            named: kind.zip(name.map(given)),
        };
        Ok(rows.into_iter().map(removed).collect())
    }

    async fn read(&mut self, id: SessionId) -> Result<Option<Whole>, StoreError> {
        let row: Option<(String, String, String, String, String)> =
            sqlx::query_as(READ).bind(id.0).fetch_optional(&mut self.0).await.map_err(failure)?;
        let Some((row, events, attempts, drafts, keys)) = row else { return Ok(None) };
        let value = |text: &str| parsed(text).map(|value| each(value, &|text| given(text)));
        Ok(Some(Whole {
            row: value(&row)?,
            events: value(&events)?,
            attempts: value(&attempts)?,
            drafts: value(&drafts)?,
            keys: value(&keys)?,
        }))
    }

    async fn last_position(&mut self) -> Result<i64, StoreError> {
        sqlx::query_scalar(
            "select case when is_called then last_value else 0 end from event_position",
        )
        .fetch_one(&mut self.0)
        .await
        .map_err(failure)
    }

    async fn is_in_use(&mut self) -> Result<bool, StoreError> {
        sqlx::query_scalar(
            "select exists (select 1 from node where lease_until > clock_timestamp())",
        )
        .fetch_one(&mut self.0)
        .await
        .map_err(failure)
    }

    async fn set_secret(&mut self, secret: Vec<u8>) -> Result<(), StoreError> {
        let set = sqlx::query("update secret set bytes = $1").bind(secret);
        set.execute(&mut self.0).await.map(drop).map_err(failure)
    }

    async fn replace(
        &mut self,
        id: SessionId,
        whole: &Whole,
        words: &[(u64, String)],
    ) -> Result<(), StoreError> {
        let indexed = words.iter().flat_map(|(version, text)| {
            let parts = words::for_tsvectors(text).into_iter().enumerate();
            parts.map(
                move |(part, words)| json!({ "version": version, "part": part, "words": words }),
            )
        });
        let indexed = indexed.collect::<Value>();
        let Whole { row, events, attempts, drafts, keys } = whole;
        let mut change = self.0.begin().await.map_err(failure)?;
        sqlx::query("delete from stream where id = $1")
            .bind(id.0)
            .execute(&mut *change)
            .await
            .map_err(failure)?;
        let values = [row, events, attempts, drafts, keys, &indexed];
        for (statement, value) in WRITE.into_iter().zip(values) {
            let value = each(value.clone(), &|text| kept(&text).into_owned());
            sqlx::query(statement)
                .bind(id.0)
                .bind(value.to_string())
                .execute(&mut *change)
                .await
                .map_err(failure)?;
        }
        sqlx::query(
            "insert into name select kind, name, id from stream where id = $1 and name is not null
             on conflict do nothing",
        )
        .bind(id.0)
        .execute(&mut *change)
        .await
        .map_err(failure)?;
        change.commit().await.map_err(failure)
    }

    async fn remove(&mut self, removed: &Removed) -> Result<(), StoreError> {
        let mut change = self.0.begin().await.map_err(failure)?;
        for statement in [
            "delete from stream where id = $1",
            "insert into removed values ($1) on conflict do nothing",
        ] {
            sqlx::query(statement)
                .bind(removed.id.0)
                .execute(&mut *change)
                .await
                .map_err(failure)?;
        }
        if let Some((kind, name)) = &removed.named {
            sqlx::query("insert into name values ($1, $2, $3) on conflict do nothing")
                .bind(kind)
                .bind(kept(name).into_owned())
                .bind(removed.id.0)
                .execute(&mut *change)
                .await
                .map_err(failure)?;
        }
        change.commit().await.map_err(failure)
    }

    async fn set_last_position(&mut self, position: i64) -> Result<(), StoreError> {
        let last = self.last_position().await?;
        if position <= last {
            return Ok(());
        }
        let set = sqlx::query("select setval('event_position', $1)").bind(position);
        set.execute(&mut self.0).await.map(drop).map_err(failure)
    }

    async fn close(self: Box<Self>) {
        self.0.close().await.ok();
    }
}

/// The value with each text in it changed.
fn each(value: Value, change: &dyn Fn(String) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(text)),
        Value::Array(all) => all.into_iter().map(|one| each(one, change)).collect(),
        Value::Object(all) => all.into_iter().map(|(key, one)| (key, each(one, change))).collect(),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    }
}
