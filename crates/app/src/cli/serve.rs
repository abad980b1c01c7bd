//! `plenary serve`

use std::net::IpAddr;

use clap::Args;
use plenary_server::Access;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::{exit, usage};
use crate::api::ApiError;
use crate::config::Config;
use crate::reach;
use crate::terminal;

#[derive(Args)]
pub struct Serve {
    /// Address to listen on [env: PLENARY_LISTEN] [default: 127.0.0.1:7171]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
}

impl Serve {
    pub async fn run(self, mut config: Config) -> Result<u8, ApiError> {
        start_log();
        if let Some(listen) = self.listen {
            config.listen = listen;
        }
        let address = config.address().map_err(usage)?;
        let local_token = uuid::Uuid::new_v4().simple().to_string();
        let access = Access {
            hosts: hosts(&config, address.ip()),
            tokens: config.tokens.clone(),
            local_token: Some(local_token.clone()),
            inside: false,
        };
        // The folder before the port: a second server is told who has the first.
        let own = reach::open(config, "plenary serve").await?;
        let listener = TcpListener::bind(address)
            .await
            .map_err(|error| usage(format!("{address} cannot be listened on: {error}")))?;
        let address = listener.local_addr().map_err(|error| usage(error.to_string()))?;
        let engine = &own.app.engine;
        let failed =
            |error: &dyn std::fmt::Display| ApiError::new("store-failed", error.to_string());
        let resumed = engine.resume_all().await.map_err(|error| failed(&error))?;
        // Other commands on this machine reach it on the loopback, whatever it listens on.
        let reached = match address.ip() {
            ip if ip.is_unspecified() => format!("http://127.0.0.1:{}", address.port()),
            _ => format!("http://{address}"),
        };
        own.store.announce(&reached, &local_token).map_err(|error| failed(&error))?;
        terminal::say(&format!("Plenary listens on http://{address}"));
        if resumed > 0 {
            terminal::say(&format!("{resumed} unfinished sessions go on"));
        }
        let router = plenary_server::router(own.app.clone(), access);
        let served = plenary_server::serve(listener, router, interrupted()).await;
        engine.shut_down().await;
        own.store.close().await.map_err(|error| failed(&error))?;
        served.map_err(|error| failed(&error))?;
        Ok(exit::DONE)
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

async fn interrupted() {
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

fn start_log() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("PLENARY_LOG");
    let filter = filter.unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    let colours = terminal::colours(&std::io::stderr());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(colours)
        .with_writer(std::io::stderr)
        .init();
}
