//! A data folder that this process holds and serves to others.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;

use plenary_server::Access;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::api::ApiError;
use crate::config::Config;
use crate::peers;
use crate::reach::{self, Own};

pub struct Held {
    pub own: Own,
    /// Where it listens.
    pub address: SocketAddr,
    /// Unfinished sessions that go on.
    pub resumed: usize,
    over: oneshot::Sender<()>,
    serving: JoinHandle<std::io::Result<()>>,
}

impl Held {
    /// Takes the folder, goes on with what is unfinished, and tells the other
    /// commands of this machine where it listens. A local token is added to
    /// `access` for them.
    pub async fn take(
        config: &Config,
        command: &str,
        address: SocketAddr,
        access: Access,
    ) -> Result<Held, ApiError> {
        // The folder before the port: a second server is told who has the first.
        let own = reach::open(config, command).await?;
        let listener = match TcpListener::bind(address).await {
            Ok(listener) => listener,
            Err(error) => {
                own.close().await.map_err(|error| failed(&error))?;
                return Err(not_listening(address, &error));
            }
        };
        let address = listener.local_addr().map_err(|error| failed(&error))?;
        if config.database.is_some() {
            let engine = &own.app.engine;
            let secret = engine.secret().await.map_err(|error| failed(&error))?;
            let reached = peers::address(config, address);
            engine.join(Arc::new(peers::Ways::new(secret)), reached);
        }
        let resumed = own.app.engine.resume_all().await.map_err(|error| failed(&error))?;
        // Commands on this machine reach it on the loopback, whatever it listens on.
        let reached = match address.ip() {
            ip if ip.is_unspecified() => format!("http://127.0.0.1:{}", address.port()),
            _ => format!("http://{address}"),
        };
        let token = uuid::Uuid::new_v4().simple().to_string();
        own.log.announce(&reached, &token).map_err(|error| failed(&error))?;
        let proxies = config.serving.proxies.clone();
        let access = Access { local_token: Some(token), proxies, ..access };
        let router = plenary_server::router(own.app.clone(), access);
        let (over, ended) = oneshot::channel::<()>();
        let connections = own.app.capacity.connections;
        let serving = tokio::spawn(plenary_server::serve(listener, router, connections, async {
            let _ = ended.await;
        }));
        Ok(Held { own, address, resumed, over, serving })
    }

    /// Ends what runs, which goes on where the folder is taken next, or at other nodes:
    /// they get it before the last answer has been sent.
    pub async fn release(self) -> Result<(), ApiError> {
        self.own.app.engine.drain().await;
        self.own.app.engine.shut_down().await;
        let _ = self.over.send(());
        let served = self.serving.await;
        self.own.close().await.map_err(|error| failed(&error))?;
        match served {
            Ok(served) => served.map_err(|error| failed(&error)),
            Err(error) => Err(failed(&error)),
        }
    }
}

/// What is wrong with an address, and what would be right.
fn not_listening(address: SocketAddr, error: &std::io::Error) -> ApiError {
    let (problem, hint) = match error.kind() {
        ErrorKind::AddrInUse => (
            format!("{address} is taken: another program is listening there"),
            format!(
                "Choose another port with --listen ({}:0 picks a free one), or stop that program.",
                address.ip()
            ),
        ),
        ErrorKind::AddrNotAvailable => (
            format!("{address} is not an address of this machine"),
            format!("Listen on 127.0.0.1:{0}, or on 0.0.0.0:{0} for others too.", address.port()),
        ),
        ErrorKind::PermissionDenied => (
            format!("this user is not allowed to listen on {address}"),
            "Choose a port above 1023 with --listen.".to_owned(),
        ),
        _ => (
            format!("cannot listen on {address}: {error}"),
            "Choose another address with --listen.".to_owned(),
        ),
    };
    ApiError { hint: Some(hint), ..ApiError::new("usage", problem) }
}

fn failed(error: &dyn std::fmt::Display) -> ApiError {
    ApiError::new("store-failed", error.to_string())
}
