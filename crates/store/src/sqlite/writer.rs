//! The one writer: gathers what waits into one transaction, so that many writes
//! share one wait for the disk.

use std::sync::Arc;

use async_trait::async_trait;
use plenary_domain::limits;
use plenary_engine::ports::StoreError;
use sqlx::SqliteConnection;
use tokio::sync::{Mutex, Notify, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::batch::Batch;
use super::failure::{closed, failure, failure_before};
use super::nodes::Nodes;
use super::place::Place;

/// One write, as plain data. It may be run a second time after a rollback, so it
/// keeps nothing from an earlier run.
#[async_trait]
pub(crate) trait Write: Send + Sync + 'static {
    type Answer: Send;

    async fn run(&self, batch: &mut Batch) -> Result<Self::Answer, sqlx::Error>;
}

/// The way to the writer task.
pub(crate) struct Writer {
    queue: mpsc::Sender<Box<dyn Job>>,
    closing: Arc<Notify>,
    task: Mutex<Option<JoinHandle<Result<(), sqlx::Error>>>>,
}

impl Writer {
    pub(crate) fn start(
        connection: SqliteConnection,
        place: Arc<Place>,
        nodes: Arc<Nodes>,
    ) -> Writer {
        let (queue, waiting) = mpsc::channel(limits::WRITES_WAITING);
        let closing = Arc::new(Notify::new());
        let batch = Batch::new(connection, place, nodes);
        let task = tokio::spawn(work(batch, waiting, closing.clone()));
        Writer { queue, closing, task: Mutex::new(Some(task)) }
    }

    /// Returns once the write is on the disk. It is carried out even if the
    /// caller stops waiting.
    pub(crate) async fn write<W: Write>(&self, write: W) -> Result<W::Answer, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Pending { write, answer: None, reply });
        self.queue.send(job).await.map_err(|_| closed())?;
        answer.await.map_err(|_| StoreError::Failed("its writer has ended".into()))?
    }

    /// Carries out what waits, moves the log into the database file, and ends.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        self.closing.notify_one();
        // Held while waiting, so that a second caller waits as well.
        let mut task = self.task.lock().await;
        match task.as_mut() {
            None => Ok(()),
            Some(work) => {
                let outcome = work.await;
                *task = None;
                outcome.map_err(|_| closed())?.map_err(failure)
            }
        }
    }
}

async fn work(
    mut batch: Batch,
    mut waiting: mpsc::Receiver<Box<dyn Job>>,
    closing: Arc<Notify>,
) -> Result<(), sqlx::Error> {
    let mut group = Vec::with_capacity(limits::WRITES_GATHERED);
    loop {
        tokio::select! {
            count = waiting.recv_many(&mut group, limits::WRITES_GATHERED) => match count {
                0 => break,
                _ => commit(&mut batch, &mut group).await,
            },
            // What waits already is still received; nothing new gets in.
            () = closing.notified() => waiting.close(),
        }
    }
    batch.close().await
}

async fn commit(batch: &mut Batch, group: &mut Vec<Box<dyn Job>>) {
    let outcome = together(batch, group).await;
    match outcome {
        Err(Broken::InJob(_)) if group.len() > 1 => {
            // One bad write must not spoil the others: each stands for itself.
            for mut job in group.drain(..) {
                let outcome = together(batch, std::slice::from_mut(&mut job)).await;
                job.answer(outcome.map_err(Broken::into_error));
            }
        }
        outcome => {
            let outcome = outcome.map_err(Broken::into_error);
            for job in group.drain(..) {
                job.answer(outcome.clone());
            }
        }
    }
}

enum Broken {
    /// Before the first statement.
    Before(StoreError),
    InJob(sqlx::Error),
    /// What is in the log by then may count after a crash, though it was rolled back.
    AtCommit(sqlx::Error),
}

impl Broken {
    fn into_error(self) -> StoreError {
        let error = match self {
            Broken::Before(error) => error,
            Broken::InJob(error) => failure_before(error),
            Broken::AtCommit(error) => failure(error),
        };
        tracing::error!(%error, "a write was rolled back");
        error
    }
}

/// All of these or none. The transaction's own statements are given by hand,
/// because SQLite ends a transaction by itself when the disk is full, and
/// sqlx's count of open transactions would then be wrong for good.
async fn together(batch: &mut Batch, jobs: &mut [Box<dyn Job>]) -> Result<(), Broken> {
    let outcome = run(batch, jobs).await;
    if outcome.is_err() {
        batch.forget();
        if let Err(error) = batch.execute("rollback").await {
            tracing::debug!(%error, "there was nothing left to roll back");
        }
    }
    outcome
}

async fn run(batch: &mut Batch, jobs: &mut [Box<dyn Job>]) -> Result<(), Broken> {
    let in_place = batch.place.check().map_err(StoreError::NotWritten);
    in_place.map_err(Broken::Before)?;
    let begun = batch.execute("begin immediate").await;
    begun.map_err(|error| Broken::Before(failure_before(error)))?;
    for job in jobs {
        job.run(batch).await.map_err(Broken::InJob)?;
    }
    batch.flush().await.map_err(Broken::InJob)?;
    batch.execute("commit").await.map_err(Broken::AtCommit)
}

/// A write of any kind, waiting in the queue.
#[async_trait]
trait Job: Send {
    async fn run(&mut self, batch: &mut Batch) -> Result<(), sqlx::Error>;
    fn answer(self: Box<Self>, outcome: Result<(), StoreError>);
}

struct Pending<W: Write> {
    write: W,
    answer: Option<W::Answer>,
    reply: oneshot::Sender<Result<W::Answer, StoreError>>,
}

#[async_trait]
impl<W: Write> Job for Pending<W> {
    async fn run(&mut self, batch: &mut Batch) -> Result<(), sqlx::Error> {
        self.answer = Some(self.write.run(batch).await?);
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), StoreError>) {
        let Pending { answer, reply, .. } = *self;
        let answer = outcome.and_then(|()| answer.ok_or_else(closed));
        // Nobody listens when the caller has stopped waiting.
        reply.send(answer).ok();
    }
}

#[cfg(test)]
mod tests;
