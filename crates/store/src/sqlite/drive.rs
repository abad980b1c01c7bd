//! What the driver of a session writes besides events: who drives it, which
//! calls it has begun, and what has come of them so far.

use async_trait::async_trait;
use plenary_domain::{CallId, SessionId};
use plenary_engine::ports::AttemptEnd;
use uuid::Uuid;

use super::append::end_attempt;
use super::batch::Batch;
use super::rows::{signed, unsigned};
use super::writer::Write;

pub(super) struct Claim {
    pub(super) owner: String,
    pub(super) session: Option<SessionId>,
}

#[async_trait]
impl Write for Claim {
    type Answer = Vec<(SessionId, u64)>;

    async fn run(&self, batch: &mut Batch) -> Result<Self::Answer, sqlx::Error> {
        let claim = match self.session {
            Some(id) => sqlx::query_as(
                "update stream set epoch = epoch + 1, owner = ?1 where id = ?2
                 returning id, epoch",
            )
            .bind(&self.owner)
            .bind(id.0),
            None => sqlx::query_as(
                "update stream set epoch = epoch + 1, owner = ?1 where active = 1
                 returning id, epoch",
            )
            .bind(&self.owner),
        };
        let rows: Vec<(Uuid, i64)> = claim.fetch_all(&mut batch.connection).await?;
        let mut claimed: Vec<(SessionId, u64)> =
            rows.into_iter().map(|(id, epoch)| (SessionId(id), unsigned(epoch))).collect();
        claimed.sort_unstable();
        Ok(claimed)
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
        }
        Ok(number)
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
