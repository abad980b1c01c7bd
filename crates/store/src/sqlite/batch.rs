//! The writing connection, and rows that wait to be inserted many at a time.
//!
//! A statement costs more than its work: sqlx hands it to another thread and
//! back. No write looks at events or words, so those of a whole transaction can
//! share a few statements. Whoever deletes some of them flushes first.

use std::sync::Arc;

use plenary_domain::SessionId;
use sqlx::{Connection, QueryBuilder, Sqlite, SqliteConnection};

use super::nodes::Nodes;
use super::place::Place;

/// Rows of one insert. A statement is kept prepared for each number of rows.
const ROWS: usize = 32;

pub(super) struct Batch {
    pub(super) connection: SqliteConnection,
    pub(super) place: Arc<Place>,
    pub(super) nodes: Arc<Nodes>,
    /// With their numbers.
    events: Vec<(i64, EventToInsert)>,
    words: Vec<(i64, String)>,
    /// Known while nobody has rolled back: there is no other writer.
    next: Option<Next>,
}

/// The numbers that the next events get.
#[derive(Clone, Copy)]
struct Next {
    /// Upwards, a position each.
    listed: i64,
    /// Downwards from -1, where no reader of all looks. An unlisted event must not
    /// use up a position: the gap would tell of it.
    unlisted: i64,
}

pub(super) struct EventToInsert {
    pub(super) session: SessionId,
    pub(super) version: i64,
    pub(super) name: &'static str,
    pub(super) actor: String,
    pub(super) payload: String,
    pub(super) at_ms: i64,
    pub(super) listed: bool,
}

impl Batch {
    pub(super) fn new(connection: SqliteConnection, place: Arc<Place>, nodes: Arc<Nodes>) -> Batch {
        Batch { connection, place, nodes, events: Vec::new(), words: Vec::new(), next: None }
    }

    pub(super) async fn execute(&mut self, statement: &'static str) -> Result<(), sqlx::Error> {
        sqlx::query(statement).execute(&mut self.connection).await?;
        Ok(())
    }

    /// The event's number: of a listed one its position in the order of commits.
    pub(super) async fn insert_event(&mut self, event: EventToInsert) -> Result<i64, sqlx::Error> {
        let next = match self.next {
            Some(next) => next,
            None => next(&mut self.connection).await?,
        };
        let (number, next) = match event.listed {
            true => (next.listed, Next { listed: next.listed + 1, ..next }),
            false => (next.unlisted, Next { unlisted: next.unlisted - 1, ..next }),
        };
        self.next = Some(next);
        self.events.push((number, event));
        if self.events.len() == ROWS {
            self.flush_events().await?;
        }
        Ok(number)
    }

    pub(super) async fn insert_words(&mut self, row: i64, words: &str) -> Result<(), sqlx::Error> {
        if words.is_empty() {
            return Ok(());
        }
        self.words.push((row, words.to_owned()));
        if self.words.len() == ROWS {
            self.flush_words().await?;
        }
        Ok(())
    }

    /// Inserts what waits.
    pub(super) async fn flush(&mut self) -> Result<(), sqlx::Error> {
        self.flush_events().await?;
        self.flush_words().await
    }

    /// After a rollback nothing waits any more, and numbers are free again.
    pub(super) fn forget(&mut self) {
        self.events.clear();
        self.words.clear();
        self.next = None;
    }

    /// Moves the write-ahead log into the database file and closes it.
    pub(super) async fn close(mut self) -> Result<(), sqlx::Error> {
        self.execute("pragma wal_checkpoint(truncate)").await?;
        self.connection.close().await
    }

    async fn flush_events(&mut self) -> Result<(), sqlx::Error> {
        if self.events.is_empty() {
            return Ok(());
        }
        let mut insert = QueryBuilder::<Sqlite>::new(
            "insert into event (position, stream_id, version, type, actor, payload, at) ",
        );
        insert.push_values(self.events.drain(..), |mut row, (number, event)| {
            row.push_bind(number)
                .push_bind(event.session.0)
                .push_bind(event.version)
                .push_bind(event.name)
                .push_bind(event.actor)
                .push_bind(event.payload)
                .push_bind(event.at_ms);
        });
        insert.build().execute(&mut self.connection).await?;
        Ok(())
    }

    async fn flush_words(&mut self) -> Result<(), sqlx::Error> {
        if self.words.is_empty() {
            return Ok(());
        }
        let mut insert = QueryBuilder::<Sqlite>::new("insert into search (rowid, words) ");
        insert.push_values(self.words.drain(..), |mut row, (rowid, words)| {
            row.push_bind(rowid).push_bind(words);
        });
        insert.build().execute(&mut self.connection).await?;
        Ok(())
    }
}

/// Not one more than the greatest position in the table: that one may have been
/// removed, and readers have seen it. Nobody sees the numbers of unlisted events,
/// so those may come again.
async fn next(connection: &mut SqliteConnection) -> Result<Next, sqlx::Error> {
    let (last, least): (i64, i64) = sqlx::query_as(
        "select coalesce((select seq from sqlite_sequence where name = 'event'), 0),
             coalesce((select min(position) from event), 0)",
    )
    .fetch_one(connection)
    .await?;
    Ok(Next { listed: last + 1, unlisted: least.min(0) - 1 })
}
