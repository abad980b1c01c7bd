//! `plenary mcp`
//!
//! Agents start one such process each, on the same data folder. The first to come
//! holds the folder and serves it; the others go through that one. When it ends,
//! whichever is called next takes the folder over and repeats the request. A
//! `plenary serve` that starts later asks the holder for the folder, by a signal.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use axum::http::Method;
use clap::Args;
use futures::future::BoxFuture;
use plenary_domain::limits;
use plenary_engine::SystemClock;
use plenary_engine::ports::Clock;
use plenary_server::mcp::{self, Door, Reply, Request};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Mutex;

use super::serve::interrupted;
use super::{exit, usage};
use crate::api::{Api, ApiError, Outgoing};
use crate::config::Config;
use crate::reach::Reach;
use crate::{log, terminal};

const COMMAND: &str = "plenary mcp";

#[derive(Args)]
pub struct Mcp {}

/// Asks the `plenary mcp` that holds the folder for it. False: another one holds it.
pub fn ask_to_hand_over(config: &Config) -> bool {
    // Nobody: it has been let go meanwhile.
    let Some(holder) = plenary_store::holder(&config.home) else { return true };
    let process = i32::try_from(holder.pid).ok().and_then(Pid::from_raw);
    let ours = holder.command == COMMAND && holder.url.is_some();
    ours && process.is_some_and(|process| kill_process(process, Signal::USR1).is_ok())
}

impl Mcp {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        log::start().map_err(usage)?;
        if std::io::stdin().is_terminal() {
            terminal::note(
                "Speaking MCP on standard input and output. Agents start this command themselves, \
                 for example: claude mcp add plenary -- plenary mcp",
            );
        }
        let way = Arc::new(Way {
            config,
            clock: SystemClock::default(),
            reached: Mutex::default(),
            given: AtomicU64::new(0),
        });
        // What is unfinished goes on now, not with the first call. Why it may not be
        // possible is told to whoever calls.
        let early = tokio::spawn({
            let way = way.clone();
            async move {
                let _ = way.reach().await;
            }
        });
        let giving = tokio::spawn({
            let way = way.clone();
            async move { way.hand_over_when_asked().await }
        });
        mcp::serve_stdio(way.clone(), interrupted()).await;
        giving.abort();
        let _ = early.await;
        way.let_go().await;
        Ok(exit::DONE)
    }
}

/// The way to the REST interface, found anew whenever it is lost.
struct Way {
    config: Config,
    clock: SystemClock,
    reached: Mutex<Option<Reach>>,
    /// Until then the folder is left to the server that asked for it.
    given: AtomicU64,
}

impl Door for Way {
    fn call(&self, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(self.carry_out(request))
    }

    fn ticks(&self) -> u64 {
        self.clock.ticks()
    }

    fn place(&self) -> Option<String> {
        Some(match (self.config.shown_server(), &self.config.database) {
            (Some(server), _) => format!("the server at {server}"),
            (None, Some(database)) => format!("the database {}", database.shown()),
            (None, None) => format!("the data folder {}", self.config.home.display()),
        })
    }
}

impl Way {
    /// Tries again while nobody holds the folder or its holder has just gone. A
    /// change comes with a key, so that it is made once.
    async fn carry_out(&self, request: Request) -> Reply {
        let began = self.clock.ticks();
        loop {
            let error = match self.attempt(&request).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let passes = matches!(error.code.as_str(), "unreachable" | "in-use");
            if !passes || self.clock.ticks() - began > limits::HANDOVER_MS {
                return Err(told(&error));
            }
            self.clock.sleep(Duration::from_millis(limits::HANDOVER_PAUSE_MS)).await;
        }
    }

    async fn attempt(&self, request: &Request) -> Result<(u16, Value), ApiError> {
        let (api, here) = self.reach().await?;
        let outgoing = Outgoing {
            method: Method::from_bytes(request.method.as_bytes()).unwrap_or_default(),
            path: &request.path,
            body: request.body.as_ref(),
            headers: request.headers(),
        };
        let reply = api.exchange(outgoing).await;
        if self.config.server.is_some() {
            return reply;
        }
        // 401: another one listens there now. 503: it is about to end.
        let lost = match &reply {
            Err(_) | Ok((401 | 503, _)) => true,
            Ok(_) => false,
        };
        if !lost {
            return reply;
        }
        let mut reached = self.reached.lock().await;
        match (reached.as_ref().is_some_and(Reach::is_here), here) {
            // It was not handed over: the store itself has failed.
            (true, true) => return reply,
            (false, true) => {}
            (_, false) => *reached = None,
        }
        drop(reached);
        let gone =
            || ApiError::new("unreachable", "The process that held the data folder has ended.");
        reply.and_then(|_| Err(gone()))
    }

    async fn reach(&self) -> Result<(Api, bool), ApiError> {
        let mut reached = self.reached.lock().await;
        let reach = match reached.take() {
            Some(reach) => reach,
            None => self.find().await?,
        };
        let reach = reached.insert(reach);
        Ok((reach.api.clone(), reach.is_here()))
    }

    async fn find(&self) -> Result<Reach, ApiError> {
        if self.clock.ticks() < self.given.load(Relaxed) {
            let taking = || ApiError::new("in-use", "A server is taking over the data folder.");
            return Reach::through(&self.config)?.ok_or_else(taking);
        }
        Reach::stay(&self.config, COMMAND).await
    }

    async fn hand_over_when_asked(&self) {
        let Ok(mut asked) = signal(SignalKind::user_defined1()) else { return };
        while asked.recv().await.is_some() {
            self.given.store(self.clock.ticks() + limits::HANDOVER_MS / 3, Relaxed);
            self.let_go().await;
        }
    }

    async fn let_go(&self) {
        if let Some(reach) = self.reached.lock().await.take() {
            reach.close().await;
        }
    }
}

fn told(error: &ApiError) -> Value {
    let mut told = json!({ "code": error.code, "message": error.message });
    if let Some(hint) = &error.hint {
        told["hint"] = json!(hint);
    }
    told
}
