//! Reading the log, and the few writes that belong to no session.

use std::borrow::Cow;
use std::time::Duration;

use futures::FutureExt;
use plenary_domain::room::SECRET;
use plenary_domain::{CallId, SessionId, Timestamp, limits};
use plenary_engine::ports::{
    AttemptRow, Driver, IdempotentAnswer, Label, ListPage, ListQuery, NodeRow, SessionRow,
    StoreError, StoredEvent, Waiting,
};
use sqlx::{Connection, PgConnection, Postgres, QueryBuilder};
use uuid::Uuid;

use super::pool::Pool;
use super::schema;
use super::text::{given, kept};
use crate::rows::{self, EventTuple, SessionTuple, signed, unsigned};
use crate::words;

/// What a node says of itself while versions are mixed.
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// No living node but `$1` drives it.
const FREE: &str = "(owner is null or owner = $1 or not exists (
    select 1 from node where node.id = owner and lease_until > clock_timestamp()))";

pub(super) async fn named(
    pool: &Pool,
    kind: &str,
    name: &str,
) -> Result<Option<SessionId>, StoreError> {
    let (kind, name) = (kind.to_owned(), kept(name).into_owned());
    let id: Option<Uuid> = pool
        .ask(|connection| {
            // A name outlives its session.
            sqlx::query_scalar(
                "select id from name join stream on id = stream_id
                 where name.kind = $1 and name.name = $2",
            )
            .bind(kind.clone())
            .bind(name.clone())
            .fetch_optional(connection)
            .boxed()
        })
        .await?;
    Ok(id.map(SessionId))
}

pub(super) async fn session(pool: &Pool, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
    let row: Option<SessionTuple> = pool
        .ask(|connection| {
            async move {
                QueryBuilder::<Postgres>::new(rows::SESSION)
                    .push(" where id = ")
                    .push_bind(id.0)
                    .build_query_as()
                    .fetch_optional(connection)
                    .await
            }
            .boxed()
        })
        .await?;
    row.map(session_of).transpose()
}

fn session_of(row: SessionTuple) -> Result<SessionRow, StoreError> {
    let row = rows::session(row)?;
    Ok(SessionRow {
        name: row.name.map(given),
        project: row.project.map(given),
        title: given(row.title),
        ..row
    })
}

fn event_of(row: EventTuple) -> Result<StoredEvent, StoreError> {
    let event = rows::event(row)?;
    Ok(StoredEvent { actor: given(event.actor), payload: given(event.payload), ..event })
}

pub(super) async fn versions(
    pool: &Pool,
    ids: &[SessionId],
) -> Result<Vec<(SessionId, u64)>, StoreError> {
    if ids.is_empty() {
        return Ok(vec![]);
    }
    let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let versions: Vec<(Uuid, i64)> = pool
        .ask(|connection| {
            sqlx::query_as("select id, version from stream where id = any($1)")
                .bind(ids.clone())
                .fetch_all(connection)
                .boxed()
        })
        .await?;
    Ok(versions.into_iter().map(|(id, version)| (SessionId(id), unsigned(version))).collect())
}

pub(super) async fn waiting(
    pool: &Pool,
    node: &str,
    now: Timestamp,
    after: Option<SessionId>,
    limit: u32,
) -> Result<Waiting, StoreError> {
    let (node, after) = (node.to_owned(), after.map_or(Uuid::nil(), |after| after.0));
    let now_ms = now.as_millisecond();
    let due = format!(
        "select id from stream
         where {FREE} and id in (
             select id from stream where active and wake_at is null and id > $3
             union select id from stream where active and wake_at <= $2 and id > $3
             union select stream_id from draft where stream_id > $3)
         order by id limit $4"
    );
    // What only waits for a time, and what is left behind when a node that is late with its
    // lease does not come back.
    let later = format!(
        "select least(
             (select wake_at from stream where active and wake_at > $2 and {FREE}
              order by wake_at limit 1),
             (select $2 + ceil(extract(epoch from min(lease_until) - clock_timestamp()) * 1000)::bigint
              from node
              where id <> $1 and lease_until > clock_timestamp()
                  and lease_until < clock_timestamp() + $3 * interval '1 millisecond'
                  and exists (select 1 from stream where owner = node.id)))"
    );
    let (due, later): (Vec<Uuid>, Option<i64>) = pool
        .ask(|connection| {
            let (due, later, node) = (due.clone(), later.clone(), node.clone());
            async move {
                let due = sqlx::query_scalar(sqlx::AssertSqlSafe(due))
                    .bind(node.clone())
                    .bind(now_ms)
                    .bind(after)
                    .bind(i64::from(limit))
                    .fetch_all(&mut *connection)
                    .await?;
                let later = sqlx::query_scalar(sqlx::AssertSqlSafe(later))
                    .bind(node)
                    .bind(now_ms)
                    .bind(signed(limits::LEASE_DOUBTED_MS))
                    .fetch_one(connection)
                    .await?;
                Ok((due, later))
            }
            .boxed()
        })
        .await?;
    Ok(Waiting {
        sessions: due.into_iter().map(SessionId).collect(),
        wake_at: later.and_then(|at| Timestamp::from_millisecond(at).ok()),
    })
}

pub(super) async fn claim(
    pool: &Pool,
    node: &str,
    ids: &[SessionId],
) -> Result<Vec<(SessionId, u64)>, StoreError> {
    let node = node.to_owned();
    let wanted: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let claim = format!(
        "with free as (
             select id from stream where id = any($2) and {FREE} order by id for no key update)
         update stream set epoch = epoch + 1, owner = $1
         from free where stream.id = free.id
         returning stream.id, epoch"
    );
    let mut claimed: Vec<(Uuid, i64)> = pool
        .ask(|connection| {
            sqlx::query_as(sqlx::AssertSqlSafe(claim.clone()))
                .bind(node.clone())
                .bind(wanted.clone())
                .fetch_all(connection)
                .boxed()
        })
        .await?;
    claimed.sort_unstable();
    Ok(claimed.into_iter().map(|(id, epoch)| (SessionId(id), unsigned(epoch))).collect())
}

pub(super) async fn release(pool: &Pool, id: SessionId, epoch: u64) -> Result<(), StoreError> {
    pool.ask(|connection| {
        sqlx::query("update stream set owner = null where id = $1 and epoch = $2")
            .bind(id.0)
            .bind(signed(epoch))
            .execute(connection)
            .boxed()
    })
    .await
    .map(drop)
}

pub(super) async fn renew(
    pool: &Pool,
    node: &str,
    address: Option<&str>,
    lease: Duration,
) -> Result<(), StoreError> {
    let (node, address) = (node.to_owned(), address.map(str::to_owned));
    let lease_ms = i64::try_from(lease.as_millis()).unwrap_or(i64::MAX);
    let renew = format!(
        "with gone as (
             delete from node where lease_until < clock_timestamp() - interval '1 hour')
         insert into node (id, lease_until, schema, address, program)
         select $2, clock_timestamp() + $3 * interval '1 millisecond', $1, $4, $5
         where {}
         on conflict (id) do update
         set lease_until = excluded.lease_until, address = excluded.address",
        schema::FITS
    );
    let renewed = pool
        .ask(|connection| {
            sqlx::query(sqlx::AssertSqlSafe(renew.clone()))
                .bind(schema::KNOWN)
                .bind(node.clone())
                .bind(lease_ms)
                .bind(address.clone())
                .bind(PROGRAM)
                .execute(connection)
                .boxed()
        })
        .await?;
    match renewed.rows_affected() {
        0 => Err(schema::unfit(pool).await),
        _ => Ok(()),
    }
}

pub(super) async fn driver(pool: &Pool, id: SessionId) -> Result<Option<Driver>, StoreError> {
    let found: Option<(String, Option<String>)> = pool
        .ask(|connection| {
            sqlx::query_as(
                "select node.id, address from stream join node on node.id = owner
                 where stream.id = $1 and lease_until > clock_timestamp()",
            )
            .bind(id.0)
            .fetch_optional(connection)
            .boxed()
        })
        .await?;
    Ok(found.map(|(node, address)| Driver { node, address }))
}

pub(super) async fn drain(pool: &Pool, node: &str) -> Result<(), StoreError> {
    let node = node.to_owned();
    pool.ask(|connection| {
        let drain = sqlx::query("update node set draining = true where id = $1");
        drain.bind(node.clone()).execute(connection).boxed()
    })
    .await
    .map(drop)
}

/// Name, since when, lease left, sessions, whether it drains, schema, program, address.
type NodeTuple = (String, i64, i64, i64, bool, i64, Option<String>, Option<String>);

pub(super) async fn nodes(pool: &Pool) -> Result<Vec<NodeRow>, StoreError> {
    let rows: Vec<NodeTuple> = pool
        .ask(|connection| {
            sqlx::query_as(
                "select id, (extract(epoch from since) * 1000)::bigint,
                     greatest(0, extract(epoch from lease_until - clock_timestamp()) * 1000)::bigint,
                     (select count(*) from stream
                      where owner = node.id and not (kind = $1 and status = $2)),
                     draining, schema, program, address
                 from node order by since, id",
            )
            .bind(SECRET.0)
            .bind(SECRET.1)
            .fetch_all(connection)
            .boxed()
        })
        .await?;
    let row =
        |(name, since_ms, left_ms, driving, draining, schema, program, address): NodeTuple| {
            NodeRow {
                name,
                since: Timestamp::from_millisecond(since_ms).unwrap_or_default(),
                lease_left_ms: unsigned(left_ms),
                driving: unsigned(driving),
                draining,
                schema: unsigned(schema),
                program,
                address,
            }
        };
    Ok(rows.into_iter().map(row).collect())
}

pub(super) async fn retire(pool: &Pool, node: &str) -> Result<(), StoreError> {
    let node = node.to_owned();
    pool.ask(|connection| {
        let node = node.clone();
        async move {
            let mut change = connection.begin().await?;
            for statement in [
                "delete from node where id = $1",
                "update stream set owner = null where id in (
                     select id from stream where owner = $1 order by id for no key update)",
            ] {
                sqlx::query(statement).bind(node.clone()).execute(&mut *change).await?;
            }
            change.commit().await
        }
        .boxed()
    })
    .await
}

pub(super) async fn events(
    pool: &Pool,
    id: SessionId,
    after: u64,
    limit: u32,
) -> Result<Vec<StoredEvent>, StoreError> {
    let events: Vec<EventTuple> = pool
        .ask(|connection| {
            sqlx::query_as(rows::EVENTS)
                .bind(id.0)
                .bind(signed(after))
                .bind(i64::from(limit))
                .fetch_all(connection)
                .boxed()
        })
        .await?;
    events.into_iter().map(event_of).collect()
}

/// Up to where the order is settled: see `plenary_settled_1`.
async fn settled(connection: &mut PgConnection) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("select plenary_settled_1()").fetch_one(connection).await
}

pub(super) async fn events_of_all(
    pool: &Pool,
    after: u64,
    limit: u32,
) -> Result<Vec<StoredEvent>, StoreError> {
    let events: Vec<EventTuple> = pool
        .ask(|connection| {
            async move {
                let settled = settled(connection).await?;
                sqlx::query_as(
                    "select stream_id, kind, event.version, position, type, actor, payload, at
                     from event join stream on stream.id = stream_id
                     where position > $1 and position <= $2 order by position limit $3",
                )
                .bind(signed(after))
                .bind(settled)
                .bind(i64::from(limit))
                .fetch_all(connection)
                .await
            }
            .boxed()
        })
        .await?;
    events.into_iter().map(event_of).collect()
}

pub(super) async fn position(pool: &Pool) -> Result<u64, StoreError> {
    let position: i64 = pool
        .ask(|connection| {
            async move {
                let settled = settled(connection).await?;
                sqlx::query_scalar(
                    "select coalesce(max(position), 0) from event where position <= $1",
                )
                .bind(settled)
                .fetch_one(connection)
                .await
            }
            .boxed()
        })
        .await?;
    Ok(unsigned(position))
}

pub(super) async fn attempts(pool: &Pool, id: SessionId) -> Result<Vec<AttemptRow>, StoreError> {
    let attempts = pool
        .ask(|connection| sqlx::query_as(rows::ATTEMPTS).bind(id.0).fetch_all(connection).boxed())
        .await?;
    let attempts = attempts.into_iter().map(rows::attempt);
    attempts
        .map(|row| row.map(|row| AttemptRow { call: CallId(given(row.call.0)), ..row }))
        .collect()
}

pub(super) async fn drafts(
    pool: &Pool,
    id: SessionId,
) -> Result<Vec<(CallId, String)>, StoreError> {
    let drafts: Vec<(String, String)> = pool
        .ask(|connection| {
            sqlx::query_as("select call_id, text from draft where stream_id = $1 order by call_id")
                .bind(id.0)
                .fetch_all(connection)
                .boxed()
        })
        .await?;
    Ok(drafts.into_iter().map(|(call, text)| (CallId(given(call)), given(text))).collect())
}

pub(super) async fn idempotent(
    pool: &Pool,
    principal: &str,
    key: &str,
) -> Result<Option<IdempotentAnswer>, StoreError> {
    let (principal, key) = (kept(principal).into_owned(), kept(key).into_owned());
    let row: Option<(String, Uuid, i64, i64)> = pool
        .ask(|connection| {
            sqlx::query_as(
                "select request_hash, stream_id, first, version from idempotency
                 where principal = $1 and key = $2",
            )
            .bind(principal.clone())
            .bind(key.clone())
            .fetch_optional(connection)
            .boxed()
        })
        .await?;
    Ok(row.map(|(request_hash, session, first, version)| IdempotentAnswer {
        request_hash: given(request_hash),
        session: SessionId(session),
        first: unsigned(first),
        version: unsigned(version),
    }))
}

/// See the same on SQLite: keys go by age and by number, while the log grows.
pub(super) async fn forget_old_answers(
    pool: &Pool,
    before_ms: i64,
    kept: u32,
    at_once: u32,
) -> Result<(), StoreError> {
    pool.ask(|connection| {
        sqlx::query(
            "delete from idempotency where (principal, key) in (
                 select principal, key from idempotency
                 where at < $1 and not lasting
                     and at < (select at from idempotency order by at desc limit 1 offset $2 - 1)
                 order by at limit $3)",
        )
        .bind(before_ms)
        .bind(i64::from(kept))
        .bind(i64::from(at_once))
        .execute(connection)
        .boxed()
    })
    .await
    .map(drop)
}

/// Says how lists show a session. The words of a given title are indexed beside those of its
/// own.
pub(super) async fn label(pool: &Pool, id: SessionId, label: Label) -> Result<bool, StoreError> {
    let title = label.title.as_ref().map(|title| title.as_deref().map(kept));
    let (retitles, title) = (title.is_some(), title.flatten().map(Cow::into_owned));
    let words = words::for_tsvectors(label.title.flatten().as_deref().unwrap_or_default());
    pool.ask(|connection| {
        let (title, words) = (title.clone(), words.clone());
        async move {
            let mut change = connection.begin().await?;
            let labelled = sqlx::query(
                "update stream set pinned = coalesce($2, pinned),
                     label = case when $3 then $4 else label end
                 where id = $1",
            )
            .bind(id.0)
            .bind(label.pinned)
            .bind(retitles)
            .bind(title)
            .execute(&mut *change)
            .await?;
            let is_there = labelled.rows_affected() > 0;
            if retitles && is_there {
                sqlx::query("delete from search where stream_id = $1 and version = $2")
                    .bind(id.0)
                    .bind(rows::LABEL)
                    .execute(&mut *change)
                    .await?;
                for (part, words) in (0_i64..).zip(words) {
                    sqlx::query("insert into search values ($1, $2, $3, $4::text::tsvector)")
                        .bind(id.0)
                        .bind(rows::LABEL)
                        .bind(part)
                        .bind(words)
                        .execute(&mut *change)
                        .await?;
                }
            }
            change.commit().await?;
            Ok(is_there)
        }
        .boxed()
    })
    .await
}

pub(super) async fn secret(pool: &Pool) -> Result<[u8; 32], StoreError> {
    let bytes: Vec<u8> = pool
        .ask(|connection| {
            sqlx::query_scalar("select bytes from secret").fetch_one(connection).boxed()
        })
        .await?;
    rows::secret(bytes)
}

pub(super) async fn beat(pool: &Pool, number: i64) -> Result<(), StoreError> {
    let beat = format!("update beat set count = count + 1 where number = $2 and {}", schema::FITS);
    let written = pool
        .ask(|connection| {
            sqlx::query(sqlx::AssertSqlSafe(beat.clone()))
                .bind(schema::KNOWN)
                .bind(number)
                .execute(connection)
                .boxed()
        })
        .await?;
    match written.rows_affected() {
        0 => Err(schema::unfit(pool).await),
        _ => Ok(()),
    }
}

/// The page and the total are of one moment.
pub(super) async fn list(pool: &Pool, query: &ListQuery) -> Result<ListPage, StoreError> {
    let query = query.clone();
    let (total, found) = pool
        .ask(|connection| {
            let query = query.clone();
            async move {
                let moment = "begin isolation level repeatable read read only";
                let mut moment = connection.begin_with(moment).await?;
                let total = count(&mut moment, &query).await?;
                let found = page(&mut moment, &query).await?;
                moment.commit().await?;
                Ok((total, found))
            }
            .boxed()
        })
        .await?;
    let found = found.into_iter().map(session_of).collect::<Result<_, StoreError>>()?;
    Ok(rows::page(found, query.limit, total))
}

async fn count(connection: &mut PgConnection, query: &ListQuery) -> Result<i64, sqlx::Error> {
    let mut select = QueryBuilder::<Postgres>::new("select count(*) from stream where true");
    push_filter(&mut select, query);
    select.build_query_scalar().fetch_one(connection).await
}

/// One row more than asked for tells whether there is a next page.
async fn page(
    connection: &mut PgConnection,
    query: &ListQuery,
) -> Result<Vec<SessionTuple>, sqlx::Error> {
    let mut select = QueryBuilder::<Postgres>::new(rows::SESSION);
    select.push(" where true");
    push_filter(&mut select, query);
    if let Some(before) = query.before {
        select.push(" and id < ").push_bind(before.0);
    }
    select.push(" order by id desc limit ").push_bind(i64::from(query.limit) + 1);
    select.build_query_as().fetch_all(connection).await
}

fn push_filter(select: &mut QueryBuilder<Postgres>, query: &ListQuery) {
    if let Some(kind) = &query.kind {
        select.push(" and kind = ").push_bind(kept(kind).into_owned());
    }
    for kind in &query.without {
        select.push(" and kind <> ").push_bind(kept(kind).into_owned());
    }
    if let Some(project) = &query.project {
        select.push(" and project = ").push_bind(kept(project).into_owned());
    }
    if let Some(status) = &query.status {
        select.push(" and status = ").push_bind(kept(status).into_owned());
    }
    if let Some(active) = query.active {
        select.push(if active {
            " and active and not (kind = "
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
    let words = words::for_tsquery(query.words.as_deref().unwrap_or_default());
    if words.is_empty() {
        return;
    }
    // A session matches when each word has a row of it; the words need not stand in the
    // same event.
    let count = words.len() as i64;
    select
        .push(" and id in (select stream_id from unnest(")
        .push_bind(words)
        .push("::text[]) with ordinality as asked (word, number)")
        .push(" cross join lateral (select distinct stream_id from search")
        .push(" where words @@ asked.word::tsquery) as found")
        .push(" group by stream_id having count(*) = ")
        .push_bind(count)
        .push(")");
}
