//! Adding to the log, and taking a session out of it.

use async_trait::async_trait;
use plenary_domain::{SessionId, Timestamp, limits};
use plenary_engine::ports::{Append, Appended, AttemptEnd, Idempotency, IdempotentAnswer, Label};
use sqlx::SqliteConnection;
use uuid::Uuid;

use super::batch::{Batch, EventToInsert};
use super::writer::Write;
use crate::rows::{LABEL, names, position, signed, state_name, unsigned};

const MS_PER_DAY: i64 = 24 * 3_600_000;

/// Bits of a search row's id that hold the event's version.
pub(super) const VERSION_BITS: u32 = 24;

#[async_trait]
impl Write for Append {
    type Answer = Appended;

    async fn run(&self, batch: &mut Batch) -> Result<Appended, sqlx::Error> {
        if let Some(Idempotency { principal, key, .. }) = &self.idempotency
            && let Some(answer) = answer_for(&mut batch.connection, principal, key).await?
        {
            return Ok(Appended::Repeated(answer));
        }
        let place = match place(batch, self).await? {
            Ok(place) => place,
            Err(refusal) => return Ok(refusal),
        };
        let positions = insert_events(batch, self, place.number).await?;
        if place.retitled {
            insert_title(batch, self, place.number).await?;
        }
        for end in &self.attempts {
            end_call(&mut batch.connection, self.session, end).await?;
        }
        let version = self.expected + self.events.len() as u64;
        if let Some(idempotency) = &self.idempotency {
            keep_answer(&mut batch.connection, self, idempotency, version).await?;
        }
        let turn = |position: &u64| position.is_multiple_of(limits::IDEMPOTENCY_SWEEP_EVENTS);
        if positions.iter().flatten().any(turn) {
            forget_old_answers(&mut batch.connection, self.at).await?;
        }
        Ok(Appended::Written { version, positions, epoch: place.epoch })
    }
}

/// Appends that follow on each other, up to the first that is refused.
pub(super) struct Chain(pub(super) Vec<Append>);

#[async_trait]
impl Write for Chain {
    type Answer = Vec<Appended>;

    async fn run(&self, batch: &mut Batch) -> Result<Vec<Appended>, sqlx::Error> {
        let mut answers = Vec::with_capacity(self.0.len());
        for append in &self.0 {
            let answer = append.run(batch).await?;
            let written = matches!(answer, Appended::Written { .. });
            answers.push(answer);
            if !written {
                break;
            }
        }
        Ok(answers)
    }
}

/// Where an append goes.
struct Place {
    number: i64,
    retitled: bool,
    /// Under which the append's driver has the session now.
    epoch: Option<u64>,
}

impl Place {
    fn of(append: &Append, (number, epoch, driver): Row, retitled: bool) -> Place {
        let drives = append.driver.is_some() && driver == append.driver;
        Place { number, retitled, epoch: drives.then(|| unsigned(epoch)) }
    }
}

/// A session's number, epoch and driver.
type Row = (i64, i64, Option<String>);

/// Opens the session or moves it forward, or says why not. The ordinary case of
/// each is one statement; only what it refuses is looked at more closely.
async fn place(batch: &mut Batch, append: &Append) -> Result<Result<Place, Appended>, sqlx::Error> {
    let others = batch.nodes.others(append.driver.as_deref().unwrap_or_default());
    let connection = &mut batch.connection;
    let (row, retitled) = match append.expected {
        0 => (open(connection, append).await?, true),
        _ => (advance(connection, append, &others).await?, false),
    };
    if let Some(row) = row {
        return Ok(Ok(Place::of(append, row, retitled)));
    }
    let standing = standing(connection, append.session).await?;
    if standing.is_none() && append.expected == 0 {
        let gone = was_removed(connection, append.session).await?;
        return Ok(Err(if gone { Appended::Gone } else { Appended::Taken }));
    }
    if let Some(refusal) = refusal(append, standing) {
        return Ok(Err(refusal));
    }
    // Nothing stands against it, so it was the title that did not match.
    rename(connection, append).await?;
    let row = advance(connection, append, &others).await?;
    Ok(row.map(|row| Place::of(append, row, true)).ok_or(Appended::Gone))
}

/// Version and epoch of a session.
async fn standing(
    connection: &mut SqliteConnection,
    session: SessionId,
) -> Result<Option<(u64, u64)>, sqlx::Error> {
    let row: Option<(i64, i64)> = sqlx::query_as("select version, epoch from stream where id = ?")
        .bind(session.0)
        .fetch_optional(connection)
        .await?;
    Ok(row.map(|(version, epoch)| (unsigned(version), unsigned(epoch))))
}

async fn was_removed(
    connection: &mut SqliteConnection,
    session: SessionId,
) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("select exists (select 1 from removed where id = ?)")
        .bind(session.0)
        .fetch_one(connection)
        .await
}

/// Losing the session weighs more than being late: a driver that was replaced
/// must not decide again.
fn refusal(append: &Append, standing: Option<(u64, u64)>) -> Option<Appended> {
    match standing {
        None => Some(Appended::Gone),
        Some((_, epoch)) if append.epoch.is_some_and(|held| held != epoch) => {
            Some(Appended::Fenced)
        }
        Some((version, _)) if append.expected != version => Some(Appended::Conflict { version }),
        Some(_) => None,
    }
}

/// `None`: the id or the name is in use, or was before its session was removed.
async fn open(
    connection: &mut SqliteConnection,
    append: &Append,
) -> Result<Option<Row>, sqlx::Error> {
    sqlx::query_as(
        "insert into stream
             (id, kind, title, status, active, version, epoch, owner, created_at, updated_at,
              name, project, waits_for, imported, wake_at)
         select ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10, ?11, ?12, ?13, ?14
         where not exists (select 1 from removed where id = ?1)
             and not exists (select 1 from removed where kind = ?2 and name = ?10)
         on conflict do nothing
         returning number, epoch, owner",
    )
    .bind(append.session.0)
    .bind(append.kind)
    .bind(&append.title)
    .bind(append.status)
    .bind(append.active)
    .bind(append.events.len() as i64)
    .bind(i64::from(append.driver.is_some()))
    .bind(&append.driver)
    .bind(append.at.as_millisecond())
    .bind(&append.name)
    .bind(&append.project)
    .bind(names(&append.waits_for))
    .bind(append.imported)
    .bind(append.wake_at.map(|at| at.as_millisecond()))
    .fetch_optional(connection)
    .await
}

/// `None`: it is not there, stands elsewhere, is held by another driver, or has another
/// title. Whoever drives it says who does from now on; somebody else gets it if it is
/// free, under an epoch of their own.
async fn advance(
    connection: &mut SqliteConnection,
    append: &Append,
    others: &str,
) -> Result<Option<Row>, sqlx::Error> {
    // Everybody may read the time, and it would tell of an event that is not listed.
    let seen = append.events.iter().any(|event| event.listed);
    let changed_at = seen.then_some(append.at);
    sqlx::query_as(
        "update stream
         set version = version + ?5, status = ?6, active = ?7,
             updated_at = coalesce(?8, updated_at), waits_for = ?9, wake_at = ?10,
             owner = case
                 when ?3 is not null then ?11
                 when ?11 is null then owner
                 when owner in (select value from json_each(?12)) then owner
                 else ?11 end,
             epoch = epoch + (?3 is null and ?11 is not null
                 and (owner is null or owner not in (select value from json_each(?12))))
         where id = ?1 and version = ?2 and epoch = coalesce(?3, epoch) and title = ?4
         returning number, epoch, owner",
    )
    .bind(append.session.0)
    .bind(signed(append.expected))
    .bind(append.epoch.map(signed))
    .bind(&append.title)
    .bind(append.events.len() as i64)
    .bind(append.status)
    .bind(append.active)
    .bind(changed_at.map(|at| at.as_millisecond()))
    .bind(names(&append.waits_for))
    .bind(append.wake_at.map(|at| at.as_millisecond()))
    .bind(&append.driver)
    .bind(others)
    .fetch_optional(connection)
    .await
}

async fn rename(connection: &mut SqliteConnection, append: &Append) -> Result<(), sqlx::Error> {
    sqlx::query("update stream set title = ?2 where id = ?1")
        .bind(append.session.0)
        .bind(&append.title)
        .execute(connection)
        .await?;
    Ok(())
}

/// The position of each event.
async fn insert_events(
    batch: &mut Batch,
    append: &Append,
    number: i64,
) -> Result<Vec<Option<u64>>, sqlx::Error> {
    let mut positions = Vec::with_capacity(append.events.len());
    for (version, event) in (signed(append.expected) + 1..).zip(&append.events) {
        let place = batch
            .insert_event(EventToInsert {
                session: append.session,
                version,
                name: event.name,
                actor: append.actor.clone(),
                payload: event.payload.clone(),
                at_ms: append.at.as_millisecond(),
                listed: event.listed,
            })
            .await?;
        positions.push(position(place));
        // A version past the bits that there are for it is kept and not found.
        if version >> VERSION_BITS == 0 {
            let row = number << VERSION_BITS | version;
            batch.insert_words(row, &event.search).await?;
        }
    }
    Ok(positions)
}

async fn insert_title(batch: &mut Batch, append: &Append, number: i64) -> Result<(), sqlx::Error> {
    let row = number << VERSION_BITS;
    if append.expected > 0 {
        batch.flush().await?;
        sqlx::query("delete from search where rowid = ?")
            .bind(row)
            .execute(&mut batch.connection)
            .await?;
    }
    batch.insert_words(row, &append.title).await
}

/// Says how an attempt ended. One that was never begun is passed over, and one that has
/// ended stays as it ended.
pub(super) async fn end_attempt(
    connection: &mut SqliteConnection,
    session: SessionId,
    end: &AttemptEnd,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "update attempt set state = ?4, input_tokens = ?5, output_tokens = ?6,
             cached_tokens = ?7, reasoning_tokens = ?8, cost_nano_usd = ?9
         where stream_id = ?1 and call_id = ?2 and number = ?3 and state = 'begun'",
    )
    .bind(session.0)
    .bind(&end.call.0)
    .bind(end.number)
    .bind(state_name(end.state))
    .bind(end.usage.input_tokens.map(signed))
    .bind(end.usage.output_tokens.map(signed))
    .bind(end.usage.cached_tokens.map(signed))
    .bind(end.usage.reasoning_tokens.map(signed))
    .bind(end.usage.cost_nano_usd.map(signed))
    .execute(connection)
    .await?;
    Ok(())
}

/// Ends a call's last attempt, and with it the partial text.
pub(super) async fn end_call(
    connection: &mut SqliteConnection,
    session: SessionId,
    end: &AttemptEnd,
) -> Result<(), sqlx::Error> {
    end_attempt(connection, session, end).await?;
    sqlx::query("delete from draft where stream_id = ? and call_id = ?")
        .bind(session.0)
        .bind(&end.call.0)
        .execute(connection)
        .await?;
    Ok(())
}

/// What an earlier request with this key was answered.
pub(super) async fn answer_for(
    connection: &mut SqliteConnection,
    principal: &str,
    key: &str,
) -> Result<Option<IdempotentAnswer>, sqlx::Error> {
    let row: Option<(String, Uuid, Option<i64>, i64)> = sqlx::query_as(
        "select request_hash, stream_id, first, version from idempotency
         where principal = ? and key = ?",
    )
    .bind(principal)
    .bind(key)
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|(request_hash, id, first, version)| IdempotentAnswer {
        request_hash,
        session: SessionId(id),
        // A row of an earlier version: the events before may be another request's.
        first: unsigned(first.unwrap_or(version - limits::EVENTS_OF_ONE as i64 + 1).max(1)),
        version: unsigned(version),
    }))
}

async fn keep_answer(
    connection: &mut SqliteConnection,
    append: &Append,
    idempotency: &Idempotency,
    version: u64,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "insert into idempotency
             (principal, key, request_hash, stream_id, first, version, at, lasting)
         values (?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(&idempotency.principal)
    .bind(&idempotency.key)
    .bind(&idempotency.request_hash)
    .bind(append.session.0)
    .bind(signed(append.expected + 1))
    .bind(signed(version))
    .bind(append.at.as_millisecond())
    .bind(idempotency.lasting)
    .execute(connection)
    .await?;
    Ok(())
}

/// Keys go by age and by number, while the log grows and never because of a start: a
/// clock that is days ahead for a while must not make a repeated request a second one.
async fn forget_old_answers(
    connection: &mut SqliteConnection,
    now: Timestamp,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "delete from idempotency where (principal, key) in (
             select principal, key from idempotency
             where at < ?1 and not lasting
                 and at < (select at from idempotency order by at desc limit 1 offset ?2 - 1)
             order by at limit ?3)",
    )
    .bind(now.as_millisecond() - limits::IDEMPOTENCY_DAYS * MS_PER_DAY)
    .bind(limits::IDEMPOTENCY_KEPT)
    .bind(limits::IDEMPOTENCY_SWEPT)
    .execute(connection)
    .await?;
    Ok(())
}

/// Takes a session out of the log with everything of it. False: there was none.
pub(super) struct Remove(pub(super) SessionId);

#[async_trait]
impl Write for Remove {
    type Answer = bool;

    async fn run(&self, batch: &mut Batch) -> Result<bool, sqlx::Error> {
        batch.flush().await?;
        // Events, attempts, drafts and idempotency rows go by their foreign keys.
        let row: Option<(i64, String, Option<String>)> =
            sqlx::query_as("delete from stream where id = ? returning number, kind, name")
                .bind(self.0.0)
                .fetch_optional(&mut batch.connection)
                .await?;
        let Some((number, kind, name)) = row else {
            return Ok(false);
        };
        sqlx::query("delete from search where rowid between ? and ?")
            .bind(number << VERSION_BITS)
            .bind(((number + 1) << VERSION_BITS) - 1)
            .execute(&mut batch.connection)
            .await?;
        sqlx::query("insert into removed (id, kind, name) values (?, ?, ?)")
            .bind(self.0.0)
            .bind(kind)
            .bind(name)
            .execute(&mut batch.connection)
            .await?;
        Ok(true)
    }
}

/// Gives a session another title, or its own again, and pins it or not. False: there is none.
pub(super) struct Relabel(pub(super) SessionId, pub(super) Label);

#[async_trait]
impl Write for Relabel {
    type Answer = bool;

    async fn run(&self, batch: &mut Batch) -> Result<bool, sqlx::Error> {
        let Relabel(id, label) = self;
        let number: Option<i64> = sqlx::query_scalar(
            "update stream set pinned = coalesce(?2, pinned), label = iif(?3, ?4, label)
             where id = ?1 returning number",
        )
        .bind(id.0)
        .bind(label.pinned)
        .bind(label.title.is_some())
        .bind(label.title.clone().flatten())
        .fetch_optional(&mut batch.connection)
        .await?;
        let (Some(number), Some(title)) = (number, &label.title) else {
            return Ok(number.is_some());
        };
        batch.flush().await?;
        let row = number << VERSION_BITS | LABEL;
        sqlx::query("delete from search where rowid = ?")
            .bind(row)
            .execute(&mut batch.connection)
            .await?;
        batch.insert_words(row, title.as_deref().unwrap_or_default()).await?;
        Ok(true)
    }
}
