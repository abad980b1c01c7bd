//! A server that sends the same bytes to whoever asks, and does nothing else.

use std::process::Command;

use axum::Router;
use axum::body::Bytes;
use axum::routing::get;
use clap::Args;
use tokio::net::TcpListener;

use crate::Outcome;
use crate::process::Process;

#[derive(Args)]
pub struct Same {
    /// Bytes of each answer
    #[arg(long)]
    bytes: usize,
}

/// In a process of its own, as Plenary is.
pub fn start(bytes: usize) -> Outcome<(Process, String)> {
    let mut command = Command::new(std::env::current_exe()?);
    Process::start_server(command.args(["same", "--bytes", &bytes.to_string()]))
}

impl Same {
    pub async fn run(self) -> Outcome<()> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("listens on http://{}", listener.local_addr()?);
        let body = Bytes::from(vec![b'x'; self.bytes]);
        let router = Router::new().route("/", get(move || std::future::ready(body.clone())));
        Ok(axum::serve(listener, router).await?)
    }
}
