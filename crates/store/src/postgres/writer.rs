//! Writing: what waits is gathered, and goes to the database as one statement, which is one
//! transaction. Sessions are spread over a few lanes, each with a connection of its own, so
//! that one commit need not wait for the other; one session's writes keep their order.

use std::sync::Arc;
use std::time::{Duration, Instant};

use plenary_domain::{SessionId, limits};
use plenary_engine::ports::StoreError;
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection, PgConnection};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::counts::Counts;
use super::failure::{failure, failure_before, is_collision, is_elsewhere, is_lost};
use super::jobs::{Answer, Job, Op};
use super::notices::Notices;
use super::pool::{ANSWER_WAIT, CLOSE_WAIT, CONNECT_WAIT, too_late};

const LANES: usize = 3;
/// Bytes that one statement takes, beside a write that has more by itself.
const GATHERED_BYTES: usize = 16 * 1024 * 1024;
/// How often a write is tried that was in another's way.
const TRIES: u32 = 5;
/// A connection that was not used for so long is asked for a sign of life before something
/// is written, so that what never left is not in doubt.
const SILENCE: Duration = Duration::from_secs(2);

pub(super) struct Writer {
    lanes: Vec<mpsc::Sender<Waiting>>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

struct Waiting {
    session: SessionId,
    /// A job as JSON.
    body: String,
    reply: oneshot::Sender<Result<Vec<Answer>, StoreError>>,
}

impl Writer {
    pub(super) fn start(
        options: &PgConnectOptions,
        notices: &Notices,
        counts: &Arc<Counts>,
    ) -> Writer {
        let lanes = (0..LANES).map(|_| {
            let (queue, waiting) = mpsc::channel(limits::WRITES_WAITING);
            let lane = Lane {
                options: options.clone(),
                connection: None,
                used_at: Instant::now(),
                notices: notices.clone(),
                counts: counts.clone(),
            };
            (queue, tokio::spawn(lane.work(waiting)))
        });
        let (lanes, tasks): (_, Vec<_>) = lanes.unzip();
        Writer { lanes, tasks: Mutex::new(tasks) }
    }

    /// Returns once it is durable. It is carried out even if the caller stops waiting.
    pub(super) async fn write(
        &self,
        session: SessionId,
        ops: Vec<Op<'_>>,
    ) -> Result<Vec<Answer>, StoreError> {
        let body = serde_json::to_string(&Job { session: session.0, ops })
            .map_err(|error| StoreError::NotWritten(error.to_string()))?;
        let (reply, answer) = oneshot::channel();
        let lane = &self.lanes[session.0.as_u128() as usize % LANES];
        lane.send(Waiting { session, body, reply }).await.map_err(|_| closed())?;
        answer.await.map_err(|_| StoreError::Failed("its writer has ended".into()))?
    }

    /// The same with one thing to do.
    pub(super) async fn write_one(
        &self,
        session: SessionId,
        op: Op<'_>,
    ) -> Result<Answer, StoreError> {
        let answer = self.write(session, vec![op]).await?.pop();
        answer.ok_or_else(|| StoreError::Unreadable("an answer that is empty".into()))
    }

    /// Carries out what waits, and ends.
    pub(super) async fn close(&self) {
        let mut tasks = self.tasks.lock().await;
        for lane in &self.lanes {
            let (reply, _) = oneshot::channel();
            let end = Waiting { session: SessionId(uuid::Uuid::nil()), body: String::new(), reply };
            lane.send(end).await.ok();
        }
        for task in tasks.drain(..) {
            task.await.ok();
        }
    }
}

fn closed() -> StoreError {
    StoreError::NotWritten("it has been closed".into())
}

struct Lane {
    options: PgConnectOptions,
    connection: Option<PgConnection>,
    used_at: Instant,
    notices: Notices,
    counts: Arc<Counts>,
}

impl Lane {
    async fn work(mut self, mut queue: mpsc::Receiver<Waiting>) {
        let mut waiting = Vec::with_capacity(limits::WRITES_GATHERED);
        while queue.recv_many(&mut waiting, limits::WRITES_GATHERED).await > 0 {
            let mut jobs = waiting.drain(..).peekable();
            while jobs.peek().is_some() {
                let mut bytes = 0;
                let mut group = vec![];
                while let Some(job) = jobs.next_if(|job| {
                    bytes += job.body.len();
                    group.is_empty() || bytes <= GATHERED_BYTES
                }) {
                    match job.body.is_empty() {
                        true => queue.close(),
                        false => group.push(job),
                    }
                }
                self.commit(group).await;
            }
        }
        if let Some(connection) = self.connection {
            timeout(CLOSE_WAIT, connection.close()).await.ok();
        }
    }

    async fn commit(&mut self, group: Vec<Waiting>) {
        match self.together(&group).await {
            Ok(answers) => self.answer(group, answers),
            // One bad write must not spoil the others: each stands for itself.
            Err(Broken::Refused(_)) if group.len() > 1 => {
                for job in group {
                    self.commit_one(job).await;
                }
            }
            Err(Broken::Refused(error)) if is_collision(&error) => {
                for job in group {
                    self.commit_one(job).await;
                }
            }
            Err(broken) => {
                let error = broken.into_error();
                group.into_iter().for_each(|job| drop(job.reply.send(Err(error.clone()))));
            }
        }
    }

    async fn commit_one(&mut self, job: Waiting) {
        let job = [job];
        let mut outcome = self.together(&job).await;
        for _ in 1..TRIES {
            match &outcome {
                Err(Broken::Refused(error)) if is_collision(error) => {
                    outcome = self.together(&job).await;
                }
                Ok(_) | Err(_) => break,
            }
        }
        match outcome {
            Ok(answers) => self.answer(job.into(), answers),
            Err(broken) => {
                let error = broken.into_error();
                let [job] = job;
                job.reply.send(Err(error)).ok();
            }
        }
    }

    fn answer(&self, group: Vec<Waiting>, answers: Vec<Vec<Answer>>) {
        for (job, answers) in group.into_iter().zip(answers) {
            let written = |answer: &Answer| matches!(answer, Answer::Written { .. });
            let removed = |answer: &Answer| matches!(answer, Answer::Done);
            if answers.iter().any(|answer| written(answer) || removed(answer)) {
                self.notices.tell(job.session);
            }
            // Nobody listens when the caller has stopped waiting.
            job.reply.send(Ok(answers)).ok();
        }
    }

    /// All of these or none.
    async fn together(&mut self, group: &[Waiting]) -> Result<Vec<Vec<Answer>>, Broken> {
        if group.is_empty() {
            return Ok(vec![]);
        }
        let bodies: Vec<&str> = group.iter().map(|job| job.body.as_str()).collect();
        let jobs = format!("[{}]", bodies.join(","));
        let mut connection = self.ready().await.map_err(Broken::Before)?;
        let answered = timeout(
            ANSWER_WAIT,
            sqlx::query_scalar("select plenary_write_1($1::text::jsonb)::text")
                .bind(jobs)
                .fetch_one(&mut connection),
        )
        .await;
        let answers: String = match answered {
            Err(_) => return Err(Broken::TooLate),
            Ok(Ok(answers)) => answers,
            Ok(Err(error)) if is_lost(&error) => return Err(Broken::InDoubt(error)),
            // It told of an error, so it has rolled back.
            Ok(Err(error)) => {
                if !is_elsewhere(&error) {
                    self.keep(connection);
                }
                return Err(Broken::Refused(error));
            }
        };
        self.keep(connection);
        serde_json::from_str(&answers).map_err(|error| Broken::Unreadable(error.to_string()))
    }

    fn keep(&mut self, connection: PgConnection) {
        self.connection = Some(connection);
        self.used_at = Instant::now();
    }

    /// A connection that lives, as far as one can know.
    async fn ready(&mut self) -> Result<PgConnection, sqlx::Error> {
        if let Some(mut connection) = self.connection.take() {
            if self.used_at.elapsed() < SILENCE {
                return Ok(connection);
            }
            if let Ok(Ok(())) = timeout(CONNECT_WAIT, connection.ping()).await {
                return Ok(connection);
            }
        }
        self.counts.connect(&self.options).await
    }
}

enum Broken {
    /// Nothing was sent.
    Before(sqlx::Error),
    /// It was rolled back.
    Refused(sqlx::Error),
    /// It may have been carried out, now or in a moment.
    InDoubt(sqlx::Error),
    TooLate,
    Unreadable(String),
}

impl Broken {
    fn into_error(self) -> StoreError {
        let error = match self {
            Broken::Before(error) | Broken::Refused(error) => failure_before(error),
            Broken::InDoubt(error) => failure(error),
            Broken::TooLate => too_late(),
            Broken::Unreadable(problem) => StoreError::Unreadable(problem),
        };
        tracing::error!(%error, "a write failed");
        error
    }
}
