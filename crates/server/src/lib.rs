//! The ways in: REST, live events, MCP, Socket.IO, the page.
//!
//! This crate must not know SQL or a provider's wire, and holds no rule of any
//! form: a handler parses, asks the clerk, and shows.

mod agents;
mod auth;
mod error;
mod http;
mod idempotency;
mod kept;
mod listen;
mod live;
pub mod mcp;
pub mod node;
mod pace;
mod packed;
mod places;
mod socket;
mod views;
mod web;

use std::path::Path;
use std::sync::Arc;

use axum::{Extension, Router};
use plenary_engine::Engine;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::OpenApi;

pub use auth::Access;
pub use error::Code;
pub use listen::serve;
pub use places::Capacity;
use plenary_clerk::Messenger;
pub use plenary_clerk::attachments::ReadPdf;
pub use plenary_clerk::settings;
pub use plenary_clerk::{Clerk, Price, Prices, Tiers};

#[derive(Clone)]
pub struct App {
    /// The clerk's own, for what is only read.
    pub engine: Arc<Engine>,
    clerk: Arc<Clerk>,
    /// Where the interface is served from instead of the binary, by whoever works on it.
    pub web_folder: Option<Arc<Path>>,
    pub capacity: Capacity,
    kept: Arc<kept::Kept>,
}

impl App {
    pub fn new(clerk: Clerk) -> Self {
        let (engine, clerk) = (clerk.engine.clone(), Arc::new(clerk));
        let _ = clerk.proofs.set(Arc::new(agents::Tokens(Arc::downgrade(&engine))));
        engine.send(Messenger::of(&clerk));
        let kept = Arc::default();
        App { engine, clerk, web_folder: None, capacity: Capacity::default(), kept }
    }
}

/// Everything on one port. `access` says who may come in.
pub fn router(app: App, access: Access) -> Router {
    let (engine, capacity) = (app.engine.clone(), app.capacity);
    let access = Arc::new(access);
    let rest = http::routes()
        .merge(web::routes())
        .merge(node::routes())
        .fallback(web::fallback)
        .method_not_allowed_fallback(error::method_not_allowed)
        .with_state(app)
        .layer(Extension(access.clone()))
        .layer(Extension(Arc::new(auth::Tries::default())))
        .layer(CatchPanicLayer::custom(error::panicked));
    let door: Arc<dyn mcp::Door> = Arc::new(mcp::http::Inside::new(rest.clone(), engine.clone()));
    let mcp = mcp::http::routes(door.clone(), &access, capacity.mcp_sessions);
    let timed = (engine.clone(), access.clone());
    let socket = socket::routes(door, engine, access.clone(), capacity.socket_clients);
    rest.merge(mcp)
        .merge(socket)
        .layer(axum::middleware::from_fn(packed::pack))
        .layer(axum::middleware::from_fn_with_state(timed, pace::keep))
        .layer(axum::middleware::from_fn_with_state(access, auth::check))
        .layer(axum::middleware::map_response(web::as_told))
        .layer(CatchPanicLayer::custom(error::panicked))
        .layer(axum::middleware::from_fn(http::v1::in_shape))
}

/// The OpenAPI document, as `/api/openapi.json` serves it.
pub fn document() -> utoipa::openapi::OpenApi {
    http::description()
}

fn document_value() -> serde_json::Value {
    serde_json::to_value(document()).unwrap_or_default()
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Plenary",
        description = "Models, agents and people deliberate; the record is kept.",
        license(name = "MIT OR Apache-2.0")
    ),
    servers((url = "/")),
    components(schemas(error::ProblemBody, http::v1::FaultBody))
)]
pub(crate) struct Document;
