//! Socket.IO, for clients that steer and follow discussions that way.
//!
//! Like MCP it is a client of the REST interface and no second way in: a command
//! becomes a request through the `Door`. What happens in discussions is read from the
//! log by each client's own reader, as event streams do: a client that is slow keeps
//! nobody waiting, and misses nothing as long as it lives.

mod command;
mod guests;
mod handshake;
mod news;
mod session;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use plenary_domain::limits;
use plenary_engine::Engine;
use socketioxide::handler::ConnectHandler;
use socketioxide::{ParserConfig, SocketIo};
use tokio::sync::mpsc;

use crate::auth::Access;
use crate::error::Problem;
use crate::mcp::Door;
use command::Ear;
use guests::{Guest, Guests};
use handshake::Handshake;
use news::News;
use session::Session;

const PATHS: [&str; 2] = ["/socket.io/", "/socket.io"];

/// Whether whoever asks there proves itself in its first packet.
pub fn is_handshake(path: &str) -> bool {
    PATHS.contains(&path)
}

/// What all clients share.
struct Hall {
    door: Arc<dyn Door>,
    engine: Arc<Engine>,
    access: Arc<Access>,
    news: News,
}

pub fn routes(
    door: Arc<dyn Door>,
    engine: Arc<Engine>,
    access: Arc<Access>,
    clients: usize,
) -> Router {
    let (service, io) = SocketIo::builder()
        .connect_timeout(Duration::from_millis(limits::SOCKET_CONNECT_MS))
        .max_payload(limits::SOCKET_BYTES as u64)
        .ws_max_message_size(limits::SOCKET_BYTES)
        .ws_max_frame_size(limits::SOCKET_BYTES)
        .max_buffer_size(limits::SOCKET_PACKETS)
        // No command has anything binary.
        .with_parser(ParserConfig::common().max_incoming_binaries(0))
        .build_svc();
    let route = |router: Router, path| router.route_service(path, service.clone());
    let library = PATHS.into_iter().fold(Router::new(), route);
    let guests = Guests::new(clients, library.clone());
    let hall = Arc::new(Hall { door, engine, access, news: News::default() });
    let admit = move |handshake: Handshake| admit(hall.clone(), handshake);
    io.ns("/", (async || {}).with(admit));
    let received = move |request: Request, next: Next| guests.clone().receive(request, next);
    library.layer(middleware::from_fn(received))
}

/// Everything is set up before the client hears that it is connected, so that nothing
/// is lost which it says or causes at once.
async fn admit(hall: Arc<Hall>, handshake: Handshake) -> Result<(), Problem> {
    let caller = handshake.caller(&hall.access)?;
    let scope = handshake.scope()?;
    if let Some(guest) = handshake.socket.req_parts().extensions.get::<Arc<Guest>>() {
        guest.prove()?;
    }
    let after = hall.engine.position().await?;
    let (say, said) = mpsc::channel(limits::SOCKET_COMMANDS);
    handshake.socket.on_fallback(Ear(say));
    let socket = Arc::downgrade(&handshake.socket);
    tokio::spawn(Session { hall, socket, caller, scope, met: false }.run(after, said));
    Ok(())
}
