//! What calls say that run at another node, for readers at this one.
//!
//! A session that is read here and driven elsewhere has one way to its driver, however
//! many read it. What comes is taken in as if it were said here, so that readers, late ones
//! too, get the same frames as there. Events still come from the log alone: a driver that
//! dies ends the way, and readers stay, hear of what the log gets, and then of what the
//! next driver's calls say.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering::AcqRel;
use std::sync::atomic::Ordering::Release;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::BoxStream;
use plenary_domain::{CallId, SessionId, Work, limits};
use tokio::sync::watch;

use crate::engine::{Engine, EngineError};
use crate::ports::{Clock, Said};
use crate::session::Session;
use crate::submit::contained;

impl Engine {
    /// Sees to it that readers of a session hear what its calls say, wherever they run.
    pub(crate) fn relay(self: &Arc<Self>, id: SessionId, session: &Arc<Session>) {
        let is_one_of_many = self.store.is_shared() && self.peers.get().is_some();
        if !is_one_of_many || session.is_relayed.swap(true, AcqRel) {
            return;
        }
        let relay = Relay {
            engine: Arc::downgrade(self),
            session: Arc::downgrade(session),
            id,
            clock: self.clock.clone(),
            changes: session.live.changes(),
            is_asking: false,
            upstream: None,
        };
        tokio::spawn(relay.run());
    }
}

/// It holds no session: one that nobody reads or works on can be let go of.
struct Relay {
    engine: Weak<Engine>,
    session: Weak<Session>,
    id: SessionId,
    clock: Arc<dyn Clock>,
    changes: watch::Receiver<()>,
    /// Some model should be under way, somewhere.
    is_asking: bool,
    upstream: Option<Upstream>,
}

struct Upstream {
    address: String,
    words: BoxStream<'static, Said>,
}

impl Relay {
    async fn run(mut self) {
        while self.look().await {
            self.listen().await;
        }
    }

    /// Finds the way to whoever drives the session. False: nobody reads it here any more.
    async fn look(&mut self) -> bool {
        self.changes.mark_unchanged();
        let Some((engine, session)) = self.here() else { return false };
        if !session.live.is_read() {
            session.live.forget_elsewhere(|_| false);
            session.is_relayed.store(false, Release);
            // Somebody may have come meanwhile who found it relayed.
            return session.live.is_read() && !session.is_relayed.swap(true, AcqRel);
        }
        // What cannot be read now is looked at again.
        let Ok(asked) = engine.asked(self.id).await else {
            self.is_asking = true;
            return true;
        };
        session.live.forget_elsewhere(|call| asked.contains(call));
        self.is_asking = !asked.is_empty();
        let driver = match self.is_asking {
            true => engine.store.driver(self.id).await.ok().flatten(),
            false => None,
        };
        let elsewhere = driver.filter(|driver| driver.node != engine.node.name);
        let address = elsewhere.and_then(|driver| driver.address);
        if address.as_ref() != self.upstream.as_ref().map(|upstream| &upstream.address) {
            self.upstream = address.zip(engine.peers.get()).map(|(address, peers)| {
                let words = peers.words(&address, self.id);
                Upstream { address, words }
            });
        }
        true
    }

    /// Takes in what comes, until it is time to look again.
    async fn listen(&mut self) {
        let mut beat = match self.is_asking {
            true => self.clock.sleep(Duration::from_millis(limits::BEAT_MS)),
            false => Box::pin(std::future::pending()),
        };
        loop {
            let words = async {
                match &mut self.upstream {
                    Some(upstream) => upstream.words.next().await,
                    None => std::future::pending().await,
                }
            };
            let said = tokio::select! {
                biased;
                changed = self.changes.changed() => match changed {
                    Ok(()) => return,
                    // Nobody has it in use any more.
                    Err(_) => return self.session = Weak::new(),
                },
                () = &mut beat => return,
                said = words => said,
            };
            let is_heard = match said {
                Some(said) => self.hear(said).await,
                None => false,
            };
            if !is_heard {
                self.upstream = None;
                let pause = Duration::from_millis(limits::RELAY_PAUSE_MS);
                return self.clock.sleep(pause).await;
            }
        }
    }

    /// False: something before it is missing, and has to be asked for again.
    async fn hear(&mut self, said: Said) -> bool {
        let Some((engine, session)) = self.here() else { return false };
        let call = match &said {
            Said::Delta(delta) => &delta.call,
            Said::Retrying(retrying) => &retrying.call,
            Said::Waiting(waiting) => &waiting.call,
        };
        // The log may be behind what is said, or already know how it ended.
        if !session.live.hears(call) {
            match engine.asked(self.id).await {
                Ok(asked) if asked.contains(call) => {}
                Ok(_) => return true,
                Err(_) => return false,
            }
        }
        match said {
            Said::Delta(delta) => session.live.hear(&delta),
            Said::Retrying(retrying) => {
                session.live.retrying(retrying);
                true
            }
            Said::Waiting(waiting) => {
                session.live.waiting(waiting);
                true
            }
        }
    }

    fn here(&self) -> Option<(Arc<Engine>, Arc<Session>)> {
        self.engine.upgrade().zip(self.session.upgrade())
    }
}

impl Engine {
    /// The questions to models that should be under way, by the newest event.
    async fn asked(self: &Arc<Self>, id: SessionId) -> Result<BTreeSet<CallId>, EngineError> {
        let snapshot = self.get(id).await?;
        let due = contained(|| snapshot.room.due())?;
        let asks = due.into_iter().filter(|call| matches!(call.work, Work::Ask));
        Ok(asks.map(|call| call.id).collect())
    }
}
