//! What the driver of a session writes besides events: who drives it, which
//! calls it has begun, and what has come of them so far.

use async_trait::async_trait;
use plenary_domain::{CallId, SessionId};
use plenary_engine::ports::AttemptEnd;

use super::append::{end_attempt, end_call};
use super::batch::Batch;
use super::writer::Write;
use crate::rows::{signed, unsigned};

pub(super) struct Claim {
    pub(super) node: String,
    pub(super) sessions: Vec<SessionId>,
}

#[async_trait]
impl Write for Claim {
    type Answer = Vec<(SessionId, u64)>;

    async fn run(&self, batch: &mut Batch) -> Result<Self::Answer, sqlx::Error> {
        let others = batch.nodes.others(&self.node);
        let mut claimed = vec![];
        for session in &self.sessions {
            let epoch: Option<i64> = sqlx::query_scalar(
                "update stream set epoch = epoch + 1, owner = ?1
                 where id = ?2
                     and (owner is null or owner not in (select value from json_each(?3)))
                 returning epoch",
            )
            .bind(&self.node)
            .bind(session.0)
            .bind(&others)
            .fetch_optional(&mut batch.connection)
            .await?;
            claimed.extend(epoch.map(|epoch| (*session, unsigned(epoch))));
        }
        Ok(claimed)
    }
}

/// Sets one free, unless another driver has it.
pub(super) struct Release {
    pub(super) session: SessionId,
    pub(super) epoch: u64,
}

#[async_trait]
impl Write for Release {
    type Answer = ();

    async fn run(&self, batch: &mut Batch) -> Result<(), sqlx::Error> {
        sqlx::query("update stream set owner = null where id = ? and epoch = ?")
            .bind(self.session.0)
            .bind(signed(self.epoch))
            .execute(&mut batch.connection)
            .await?;
        Ok(())
    }
}

/// Sets free whatever a node drives.
pub(super) struct Retire {
    pub(super) node: String,
}

#[async_trait]
impl Write for Retire {
    type Answer = ();

    async fn run(&self, batch: &mut Batch) -> Result<(), sqlx::Error> {
        sqlx::query("update stream set owner = null where active = 1 and owner = ?")
            .bind(&self.node)
            .execute(&mut batch.connection)
            .await?;
        Ok(())
    }
}

/// The number of the attempt, or `None` for a driver that has lost the session.
pub(super) struct BeginAttempt {
    pub(super) session: SessionId,
    pub(super) epoch: u64,
    pub(super) call: CallId,
    pub(super) ended: Option<AttemptEnd>,
}

#[async_trait]
impl Write for BeginAttempt {
    type Answer = Option<u32>;

    async fn run(&self, batch: &mut Batch) -> Result<Option<u32>, sqlx::Error> {
        let number: Option<u32> = sqlx::query_scalar(
            "insert into attempt (stream_id, call_id, number, epoch, state)
             select ?1, ?2,
                 1 + coalesce(
                     (select max(number) from attempt where stream_id = ?1 and call_id = ?2), 0),
                 ?3, 'begun'
             from stream where id = ?1 and epoch = ?3
             returning number",
        )
        .bind(self.session.0)
        .bind(&self.call.0)
        .bind(signed(self.epoch))
        .fetch_optional(&mut batch.connection)
        .await?;
        if let (Some(number), Some(end)) = (number, &self.ended)
            // What ended is an earlier attempt, whatever the caller says.
            && (&end.call, end.number) != (&self.call, number)
        {
            end_attempt(&mut batch.connection, self.session, end).await?;
            if !end.usage.is_unknown() {
                sqlx::query(
                    "insert into draft (stream_id, call_id, text) values (?, ?, '')
                     on conflict (stream_id, call_id) do nothing",
                )
                .bind(self.session.0)
                .bind(&self.call.0)
                .execute(&mut batch.connection)
                .await?;
            }
        }
        Ok(number)
    }
}

/// False for a driver that has lost the session.
pub(super) struct EndAttempt {
    pub(super) session: SessionId,
    pub(super) epoch: u64,
    pub(super) end: AttemptEnd,
}

#[async_trait]
impl Write for EndAttempt {
    type Answer = bool;

    async fn run(&self, batch: &mut Batch) -> Result<bool, sqlx::Error> {
        let held: bool =
            sqlx::query_scalar("select exists (select 1 from stream where id = ? and epoch = ?)")
                .bind(self.session.0)
                .bind(signed(self.epoch))
                .fetch_one(&mut batch.connection)
                .await?;
        if held {
            end_call(&mut batch.connection, self.session, &self.end).await?;
        }
        Ok(held)
    }
}

/// False for a driver that has lost the session.
pub(super) struct SaveDraft {
    pub(super) session: SessionId,
    pub(super) epoch: u64,
    pub(super) call: CallId,
    pub(super) text: String,
}

#[async_trait]
impl Write for SaveDraft {
    type Answer = bool;

    async fn run(&self, batch: &mut Batch) -> Result<bool, sqlx::Error> {
        let saved = sqlx::query(
            "insert into draft (stream_id, call_id, text)
             select ?1, ?2, ?4 from stream where id = ?1 and epoch = ?3
             on conflict (stream_id, call_id) do update set text = excluded.text",
        )
        .bind(self.session.0)
        .bind(&self.call.0)
        .bind(signed(self.epoch))
        .bind(&self.text)
        .execute(&mut batch.connection)
        .await?;
        Ok(saved.rows_affected() > 0)
    }
}

/// Written for its own sake: to see that the store can be written.
pub(super) struct Beat;

#[async_trait]
impl Write for Beat {
    type Answer = ();

    async fn run(&self, batch: &mut Batch) -> Result<(), sqlx::Error> {
        sqlx::query("update beat set count = count + 1").execute(&mut batch.connection).await?;
        Ok(())
    }
}
