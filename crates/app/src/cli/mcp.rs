//! `plenary mcp`
//!
//! Agents start one such process each, on the same data folder. The first to come
//! holds the folder and serves it; the others go through that one. When it ends,
//! whichever is called next takes the folder over and repeats the request.

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use axum::http::Method;
use clap::Args;
use futures::future::BoxFuture;
use plenary_domain::limits;
use plenary_engine::SystemClock;
use plenary_engine::ports::Clock;
use plenary_server::mcp::{self, Door, Reply, Request};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::exit;
use super::serve::{interrupted, start_log};
use crate::api::{Api, ApiError, Outgoing};
use crate::config::Config;
use crate::reach::Reach;
use crate::terminal;

#[derive(Args)]
pub struct Mcp {}

impl Mcp {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        start_log();
        if std::io::stdin().is_terminal() {
            terminal::note(
                "Speaking MCP on standard input and output. An agent starts this by itself, \
                 for example: claude mcp add plenary -- plenary mcp",
            );
        }
        let way =
            Arc::new(Way { config, clock: SystemClock::default(), reached: Mutex::default() });
        // What is unfinished goes on now, not with the first call. Why it may not be
        // possible is told to whoever calls.
        let early = tokio::spawn({
            let way = way.clone();
            async move {
                let _ = way.reach().await;
            }
        });
        mcp::serve_stdio(way.clone(), interrupted()).await;
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
}

impl Door for Way {
    fn call(&self, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(self.carry_out(request))
    }

    fn ticks(&self) -> u64 {
        self.clock.ticks()
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
        if here || self.config.server.is_some() {
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
        *self.reached.lock().await = None;
        let gone =
            || ApiError::new("unreachable", "The process that holds the data folder is gone.");
        reply.and_then(|_| Err(gone()))
    }

    async fn reach(&self) -> Result<(Api, bool), ApiError> {
        let mut reached = self.reached.lock().await;
        let reach = match reached.take() {
            Some(reach) => reach,
            None => Reach::stay(&self.config, "plenary mcp").await?,
        };
        let reach = reached.insert(reach);
        Ok((reach.api.clone(), reach.is_here()))
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
