//! Socket.IO, for clients that steer and follow discussions that way.
//!
//! Like MCP it is a client of the REST interface and no second way in: a command
//! becomes a request through the `Door`. What happens in discussions is read from the
//! log by each client's own reader, as event streams do: a client that is slow keeps
//! nobody waiting, and misses nothing as long as it lives.

mod command;
mod handshake;
mod news;
mod session;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use plenary_domain::limits;
use plenary_engine::Engine;
use socketioxide::handler::ConnectHandler;
use socketioxide::{ParserConfig, SocketIo};
use tokio::sync::{Semaphore, mpsc};

use crate::auth::Access;
use crate::error::{Code, Problem};
use crate::mcp::Door;
use command::Ear;
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

pub fn routes(door: Arc<dyn Door>, engine: Arc<Engine>, access: Arc<Access>) -> Router {
    let (service, io) = SocketIo::builder()
        .connect_timeout(Duration::from_millis(limits::SOCKET_CONNECT_MS))
        .max_payload(limits::SOCKET_BYTES as u64)
        .ws_max_message_size(limits::SOCKET_BYTES)
        .ws_max_frame_size(limits::SOCKET_BYTES)
        .max_buffer_size(limits::SOCKET_PACKETS)
        // No command has anything binary.
        .with_parser(ParserConfig::common().max_incoming_binaries(0))
        .build_svc();
    let hall = Arc::new(Hall { door, engine, access, news: News::default() });
    let admit = move |handshake: Handshake| admit(hall.clone(), handshake);
    io.ns("/", (async || {}).with(admit));
    let places = Arc::new(Semaphore::new(limits::SOCKETS));
    let bounded = move |request: Request, next: Next| place(places.clone(), request, next);
    let route = |router: Router, path| router.route_service(path, service.clone());
    PATHS.into_iter().fold(Router::new(), route).layer(middleware::from_fn(bounded))
}

/// Refuses to begin more than the limit. The place lives in the first request, which
/// the library keeps as long as the client.
async fn place(places: Arc<Semaphore>, mut request: Request, next: Next) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let begins = !query.split('&').any(|part| part.starts_with("sid="));
    if begins {
        let Ok(place) = places.try_acquire_owned() else {
            return Problem::new(Code::Busy, "Too many Socket.IO clients are connected.")
                .hint("Close some, or try again later.")
                .into_response();
        };
        request.extensions_mut().insert(Arc::new(place));
    }
    next.run(request).await
}

/// Everything is set up before the client hears that it is connected, so that nothing
/// is lost which it says or causes at once.
async fn admit(hall: Arc<Hall>, handshake: Handshake) -> Result<(), Problem> {
    let caller = handshake.caller(&hall.access)?;
    let scope = handshake.scope()?;
    let after = hall.engine.position().await?;
    let (say, said) = mpsc::channel(limits::SOCKET_COMMANDS);
    handshake.socket.on_fallback(Ear(say));
    let socket = Arc::downgrade(&handshake.socket);
    tokio::spawn(Session { hall, socket, caller, scope, met: false }.run(after, said));
    Ok(())
}
