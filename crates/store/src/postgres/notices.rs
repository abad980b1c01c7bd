//! Tells other nodes which sessions have changed, and hears it from them.
//!
//! Told after the commit, by a statement of its own, many at a time: NOTIFY within the
//! transaction makes all commits of a database wait for each other. A notice may be lost;
//! whoever follows a session looks at versions from time to time.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Once, Weak};
use std::time::Duration;

use futures::FutureExt;
use futures::stream::BoxStream;
use plenary_domain::SessionId;
use sqlx::Executor;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::sync::{broadcast, mpsc};
use tokio::time::timeout;
use uuid::Uuid;

use super::counts::Counts;
use super::pool::{CONNECT_WAIT, Pool};

const CHANNEL: &str = "plenary_changes";
/// Sessions of one notice, which may have 8,000 bytes.
const TOLD_AT_ONCE: usize = 200;
/// Notices that a slow listener may be behind with.
const HEARD: usize = 4_096;
/// After so long without a word the connection is asked for a sign of life.
const SILENCE: Duration = Duration::from_secs(10);
/// Before one that failed is made again.
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub(super) struct Notices {
    changed: mpsc::Sender<SessionId>,
    ears: Arc<Ears>,
}

struct Ears {
    /// Who speaks: one does not listen to oneself.
    sender: Uuid,
    heard: broadcast::Sender<SessionId>,
    listening: Once,
    options: PgConnectOptions,
    counts: Arc<Counts>,
}

impl Notices {
    pub(super) fn start(
        sender: Uuid,
        pool: Arc<Pool>,
        options: PgConnectOptions,
        counts: Arc<Counts>,
    ) -> Notices {
        let (changed, to_tell) = mpsc::channel(HEARD);
        tokio::spawn(tell(sender, to_tell, pool));
        let heard = broadcast::channel(HEARD).0;
        let listening = Once::new();
        Notices { changed, ears: Arc::new(Ears { sender, heard, listening, options, counts }) }
    }

    /// A session has changed. Where too many have, some are not told of.
    pub(super) fn tell(&self, session: SessionId) {
        self.changed.try_send(session).ok();
    }

    /// What others tell. Whoever asks first makes the connection.
    pub(super) fn heard(&self) -> BoxStream<'static, SessionId> {
        self.ears.listening.call_once(|| {
            let ears = &self.ears;
            let (options, counts) = (ears.options.clone(), ears.counts.clone());
            tokio::spawn(listen(Arc::downgrade(ears), options, counts));
        });
        let heard = self.ears.heard.subscribe();
        Box::pin(futures::stream::unfold(heard, |mut heard| async move {
            loop {
                match heard.recv().await {
                    Ok(session) => return Some((session, heard)),
                    Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return None,
                }
            }
        }))
    }
}

async fn tell(sender: Uuid, mut to_tell: mpsc::Receiver<SessionId>, pool: Arc<Pool>) {
    let mut changed = vec![];
    while to_tell.recv_many(&mut changed, TOLD_AT_ONCE).await > 0 {
        let each: BTreeSet<SessionId> = changed.drain(..).collect();
        let notice = each.iter().fold(sender.simple().to_string(), |notice, session| {
            notice + &session.0.simple().to_string()
        });
        let told = pool
            .ask(|connection| {
                let notify = sqlx::query("select pg_notify($1, $2)");
                notify.bind(CHANNEL).bind(notice.clone()).execute(connection).boxed()
            })
            .await;
        if let Err(error) = told {
            tracing::debug!(%error, "a notice was not sent");
        }
    }
}

async fn listen(ears: Weak<Ears>, options: PgConnectOptions, counts: Arc<Counts>) {
    while ears.strong_count() > 0 {
        let heard = hear(&ears, &options, &counts).await;
        counts.listening.store(false, Relaxed);
        if let Err(error) = heard {
            tracing::debug!(%error, "the connection for notices was lost");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Until the connection fails.
async fn hear(
    ears: &Weak<Ears>,
    options: &PgConnectOptions,
    counts: &Counts,
) -> Result<(), sqlx::Error> {
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(CONNECT_WAIT)
        .max_lifetime(None)
        .idle_timeout(None)
        .connect_lazy_with(options.clone());
    let listener = PgListener::connect_with(&pool).await;
    counts.note(listener.is_ok());
    let mut listener = listener?;
    listener.listen(CHANNEL).await?;
    counts.listening.store(true, Relaxed);
    loop {
        let notice = timeout(SILENCE, listener.try_recv()).await;
        let Some(ears) = ears.upgrade() else { return Ok(()) };
        match notice {
            Ok(Ok(Some(notice))) => ears.hear(notice.payload()),
            Ok(Ok(None)) => return Ok(()),
            Ok(Err(error)) => return Err(error),
            Err(_) => {
                let lives = timeout(CONNECT_WAIT, listener.execute("select 1")).await;
                lives.map_err(|_| sqlx::Error::PoolTimedOut)??;
            }
        }
    }
}

impl Ears {
    fn hear(&self, notice: &str) {
        let mut ids = notice.as_bytes().chunks(32).map(|id| Uuid::try_parse_ascii(id).ok());
        if ids.next().flatten() == Some(self.sender) {
            return;
        }
        for session in ids.flatten().map(SessionId) {
            // Nobody listening is no error.
            self.heard.send(session).ok();
        }
    }
}
