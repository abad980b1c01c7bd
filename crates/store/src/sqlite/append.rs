//! Adding to the log, and taking a session out of it.

use async_trait::async_trait;
use plenary_domain::SessionId;
use plenary_engine::ports::{Append, Appended, AttemptEnd, Idempotency, IdempotentAnswer};
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};
use uuid::Uuid;

use super::rows::{signed, state_name, unsigned};
use super::writer::Write;

/// Rows of one insert. One statement is kept prepared for each number of rows.
const ROWS: usize = 32;

/// Bits of a search row's id that hold the event's version.
pub(super) const VERSION_BITS: u32 = 24;

#[async_trait]
impl Write for Append {
    type Answer = Appended;

    async fn run(&self, connection: &mut SqliteConnection) -> Result<Appended, sqlx::Error> {
        if let Some(idempotency) = &self.idempotency
            && let Some(answer) = earlier_answer(&mut *connection, idempotency).await?
        {
            return Ok(Appended::Repeated(answer));
        }
        let standing = standing(connection, self.session).await?;
        if let Some(refusal) = refusal(self, standing.as_ref()) {
            return Ok(refusal);
        }
        let number = match &standing {
            None => match open(connection, self).await? {
                None => return Ok(Appended::Gone),
                Some(number) => number,
            },
            Some(standing) => {
                advance(connection, self).await?;
                standing.number
            }
        };
        let first_position = insert_events(connection, self).await?;
        let retitled = standing.is_none_or(|standing| standing.title != self.title);
        insert_words(connection, self, number, retitled).await?;
        for end in &self.attempts {
            end_attempt(connection, self.session, end).await?;
            drop_draft(connection, self.session, end).await?;
        }
        let version = self.expected + self.events.len() as u64;
        if let Some(idempotency) = &self.idempotency {
            keep_answer(connection, self, idempotency, version).await?;
        }
        Ok(Appended::Written {
            version,
            first_position,
        })
    }
}

/// How a session stands before an append.
struct Standing {
    number: i64,
    version: u64,
    epoch: u64,
    title: String,
}

async fn standing(
    connection: &mut SqliteConnection,
    session: SessionId,
) -> Result<Option<Standing>, sqlx::Error> {
    let row: Option<(i64, i64, i64, String)> =
        sqlx::query_as("select number, version, epoch, title from stream where id = ?")
            .bind(session.0)
            .fetch_optional(connection)
            .await?;
    Ok(row.map(|(number, version, epoch, title)| Standing {
        number,
        version: unsigned(version),
        epoch: unsigned(epoch),
        title,
    }))
}

/// Losing the session weighs more than being late: a driver that was replaced
/// must not decide again.
fn refusal(append: &Append, standing: Option<&Standing>) -> Option<Appended> {
    match standing {
        None if append.expected > 0 => Some(Appended::Gone),
        None => None,
        Some(standing) if append.epoch.is_some_and(|epoch| epoch != standing.epoch) => {
            Some(Appended::Fenced)
        }
        Some(standing) if append.expected != standing.version => Some(Appended::Conflict {
            version: standing.version,
        }),
        Some(_) => None,
    }
}

/// The new session's number, or `None` for an id that was removed.
async fn open(
    connection: &mut SqliteConnection,
    append: &Append,
) -> Result<Option<i64>, sqlx::Error> {
    sqlx::query_scalar(
        "insert into stream
             (id, kind, title, status, active, version, epoch, owner, created_at, updated_at)
         select ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9
         where not exists (select 1 from removed where id = ?1)
         returning number",
    )
    .bind(append.session.0)
    .bind(append.kind)
    .bind(&append.title)
    .bind(append.status)
    .bind(append.active)
    .bind(append.events.len() as i64)
    .bind(i64::from(append.owner.is_some()))
    .bind(&append.owner)
    .bind(append.at.as_millisecond())
    .fetch_optional(connection)
    .await
}

async fn advance(connection: &mut SqliteConnection, append: &Append) -> Result<(), sqlx::Error> {
    sqlx::query(
        "update stream
         set version = version + ?2, title = ?3, status = ?4, active = ?5, updated_at = ?6
         where id = ?1",
    )
    .bind(append.session.0)
    .bind(append.events.len() as i64)
    .bind(&append.title)
    .bind(append.status)
    .bind(append.active)
    .bind(append.at.as_millisecond())
    .execute(connection)
    .await?;
    Ok(())
}

/// The position of the first event. Positions of one append have no gap: nobody
/// else writes while its transaction is open.
async fn insert_events(
    connection: &mut SqliteConnection,
    append: &Append,
) -> Result<u64, sqlx::Error> {
    let mut last = 0;
    let mut version = signed(append.expected);
    for events in append.events.chunks(ROWS) {
        let mut insert = QueryBuilder::<Sqlite>::new(
            "insert into event (stream_id, version, type, actor, payload, at) ",
        );
        insert.push_values(events, |mut row, event| {
            version += 1;
            row.push_bind(append.session.0)
                .push_bind(version)
                .push_bind(event.name)
                .push_bind(&append.actor)
                .push_bind(&event.payload)
                .push_bind(append.at.as_millisecond());
        });
        last = insert
            .build()
            .execute(&mut *connection)
            .await?
            .last_insert_rowid();
    }
    Ok(unsigned(last + 1 - append.events.len() as i64))
}

async fn insert_words(
    connection: &mut SqliteConnection,
    append: &Append,
    number: i64,
    retitled: bool,
) -> Result<(), sqlx::Error> {
    let row_of_title = number << VERSION_BITS;
    if retitled && append.expected > 0 {
        sqlx::query("delete from search where rowid = ?")
            .bind(row_of_title)
            .execute(&mut *connection)
            .await?;
    }
    let title = retitled.then_some((row_of_title, append.title.as_str()));
    let rows: Vec<(i64, &str)> = title
        .into_iter()
        .chain(words_of_events(append, row_of_title))
        .filter(|(_, words)| !words.is_empty())
        .collect();
    for rows in rows.chunks(ROWS) {
        let mut insert = QueryBuilder::<Sqlite>::new("insert into search (rowid, words) ");
        insert.push_values(rows, |mut row, (rowid, words)| {
            row.push_bind(*rowid).push_bind(*words);
        });
        insert.build().execute(&mut *connection).await?;
    }
    Ok(())
}

/// Events past the bits that a row's id has for them are kept and not indexed.
fn words_of_events(append: &Append, row_of_title: i64) -> impl Iterator<Item = (i64, &str)> {
    (append.expected + 1..1 << VERSION_BITS)
        .zip(&append.events)
        .map(move |(version, event)| (row_of_title | signed(version), event.search.as_str()))
}

/// Says how an attempt ended. One that was never begun is passed over.
pub(super) async fn end_attempt(
    connection: &mut SqliteConnection,
    session: SessionId,
    end: &AttemptEnd,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "update attempt set state = ?4, input_tokens = ?5, output_tokens = ?6
         where stream_id = ?1 and call_id = ?2 and number = ?3",
    )
    .bind(session.0)
    .bind(&end.call.0)
    .bind(end.number)
    .bind(state_name(end.state))
    .bind(end.usage.input_tokens.map(signed))
    .bind(end.usage.output_tokens.map(signed))
    .execute(connection)
    .await?;
    Ok(())
}

async fn drop_draft(
    connection: &mut SqliteConnection,
    session: SessionId,
    end: &AttemptEnd,
) -> Result<(), sqlx::Error> {
    sqlx::query("delete from draft where stream_id = ? and call_id = ?")
        .bind(session.0)
        .bind(&end.call.0)
        .execute(connection)
        .await?;
    Ok(())
}

async fn earlier_answer(
    connection: &mut SqliteConnection,
    idempotency: &Idempotency,
) -> Result<Option<IdempotentAnswer>, sqlx::Error> {
    answer_for(connection, &idempotency.principal, &idempotency.key).await
}

/// What an earlier request with this key was answered.
pub(super) async fn answer_for(
    connection: &mut SqliteConnection,
    principal: &str,
    key: &str,
) -> Result<Option<IdempotentAnswer>, sqlx::Error> {
    let row: Option<(String, Uuid, i64)> = sqlx::query_as(
        "select request_hash, stream_id, version from idempotency where principal = ? and key = ?",
    )
    .bind(principal)
    .bind(key)
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|(request_hash, id, version)| IdempotentAnswer {
        request_hash,
        session: SessionId(id),
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
        "insert into idempotency (principal, key, request_hash, stream_id, version, at)
         values (?, ?, ?, ?, ?, ?)",
    )
    .bind(&idempotency.principal)
    .bind(&idempotency.key)
    .bind(&idempotency.request_hash)
    .bind(append.session.0)
    .bind(signed(version))
    .bind(append.at.as_millisecond())
    .execute(connection)
    .await?;
    Ok(())
}

/// Takes a session out of the log with everything of it. False: there was none.
pub(super) struct Remove(pub(super) SessionId);

#[async_trait]
impl Write for Remove {
    type Answer = bool;

    async fn run(&self, connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
        // Events, attempts, drafts and idempotency rows go by their foreign keys.
        let number: Option<i64> =
            sqlx::query_scalar("delete from stream where id = ? returning number")
                .bind(self.0.0)
                .fetch_optional(&mut *connection)
                .await?;
        let Some(number) = number else {
            return Ok(false);
        };
        sqlx::query("delete from search where rowid between ? and ?")
            .bind(number << VERSION_BITS)
            .bind(((number + 1) << VERSION_BITS) - 1)
            .execute(&mut *connection)
            .await?;
        sqlx::query("insert into removed (id) values (?)")
            .bind(self.0.0)
            .execute(connection)
            .await?;
        Ok(true)
    }
}
