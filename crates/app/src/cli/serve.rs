//! `plenary serve`

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use clap::Args;
use plenary_domain::limits;
use plenary_engine::SystemClock;
use plenary_engine::ports::Clock;
use plenary_providers::OtlpConfig;
use plenary_server::Access;

use super::{exit, usage};
use crate::api::{self, ApiError};
use crate::config::Config;
use crate::held::Held;
use crate::signals::Interrupt;
use crate::{log, serving, terminal};

const COMMAND: &str = "plenary serve";

#[derive(Args)]
pub struct Serve {
    /// Address to listen on [env: PLENARY_LISTEN] [default: 127.0.0.1:7171]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// A page from another origin that may use the server, such as http://localhost:3000
    /// (repeatable) [env: PLENARY_ALLOWED_ORIGINS]
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
}

impl Serve {
    pub async fn run(self, mut config: Config) -> Result<u8, ApiError> {
        log::start().map_err(usage)?;
        if let Some(listen) = self.listen {
            config.listen = listen;
        }
        if !self.allow_origin.is_empty() {
            let given = &self.allow_origin;
            config.origins = crate::config::origins("--allow-origin", given).map_err(usage)?;
        }
        config.traces = traces();
        let address = config.address().map_err(usage)?;
        let access = Access {
            hosts: hosts(&config, address.ip()),
            tokens: config.tokens.clone(),
            origins: config.origins.clone(),
            ..Access::default()
        };
        let mut interrupt = Interrupt::listen()?;
        serving::raise_files();
        if let Some(shortage) = config.serving.shortage() {
            terminal::note(&shortage);
        }
        let drain = config.serving.drain;
        let held = take(&config, address, access).await?;
        log::of_node(held.own.app.engine.node());
        tracing::info!(address = %held.address, version = env!("CARGO_PKG_VERSION"), "listening");
        terminal::say(&format!("Plenary listens on http://{}", held.address));
        if held.resumed > 0 {
            terminal::say(&format!("Resumed {} unfinished sessions", held.resumed));
        }
        interrupt.recv().await;
        held.own.app.engine.drain().await;
        tracing::info!("this node was told to end");
        // A second signal does not wait.
        tokio::select! {
            () = interrupt.recv() => {}
            () = tokio::time::sleep(drain) => {}
        }
        held.release().await?;
        Ok(exit::DONE)
    }
}

/// Where traces go. Variables that are meant for other programs do not keep a server from
/// starting.
fn traces() -> Option<OtlpConfig> {
    OtlpConfig::of(&|name| std::env::var(name).ok()).unwrap_or_else(|problem| {
        terminal::complain(&problem, Some("No traces are sent."));
        None
    })
}

/// Takes the folder, from an agent's `plenary mcp` too: that one goes through this
/// server from then on.
async fn take(config: &Config, address: SocketAddr, access: Access) -> Result<Held, ApiError> {
    let clock = SystemClock::default();
    let began = clock.ticks();
    loop {
        let error = match Held::take(config, COMMAND, address, access.clone()).await {
            Ok(held) => return Ok(held),
            Err(error) => error,
        };
        if error.code != "in-use" {
            return Err(error);
        }
        let late = clock.ticks() - began > limits::HANDOVER_MS;
        if late || !super::mcp::ask_to_hand_over(config) {
            return Err(held_by_another(config, error));
        }
        clock.sleep(Duration::from_millis(limits::HANDOVER_PAUSE_MS)).await;
    }
}

/// Who has the folder, where it is served, and how to go on.
fn held_by_another(config: &Config, error: ApiError) -> ApiError {
    let Some(holder) = plenary_store::holder(&config.home) else { return error };
    match holder.url.filter(|_| !api::is_suspended(holder.pid)) {
        Some(url) if holder.command == COMMAND => ApiError {
            message: format!(
                "the data folder {} is already served by process {} ({COMMAND}), at {url}",
                config.home.display(),
                holder.pid
            ),
            hint: Some(
                "Use that server, or stop it first. A second one needs its own folder and port: \
                 PLENARY_HOME=FOLDER plenary serve --listen 127.0.0.1:0"
                    .into(),
            ),
            ..error
        },
        Some(_) => {
            ApiError { hint: Some("Start the server when that process has ended.".into()), ..error }
        }
        None => error,
    }
}

/// On the loopback only names of the loopback are answered to; elsewhere a token
/// is demanded anyway, and the names are the operator's to restrict. Commands on
/// this machine come by the loopback in any case.
fn hosts(config: &Config, ip: IpAddr) -> Vec<String> {
    let mut hosts = config.hosts.clone();
    if ip.is_loopback() || !hosts.is_empty() {
        hosts.extend(["localhost", "127.0.0.1", "::1"].map(str::to_owned));
        hosts.push(ip.to_string());
    }
    hosts
}

/// Resolves when this process is told to end.
pub async fn interrupted() {
    match Interrupt::listen() {
        Ok(mut interrupt) => interrupt.recv().await,
        Err(_) => std::future::pending().await,
    }
}
