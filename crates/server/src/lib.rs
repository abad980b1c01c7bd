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

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use futures::FutureExt;
use plenary_engine::Engine;
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
        .with_state(app);
    let door: Arc<dyn mcp::Door> = Arc::new(mcp::http::Inside::new(rest.clone(), engine.clone()));
    let mcp = mcp::http::routes(door.clone(), &access, capacity.mcp_sessions);
    let socket = socket::routes(door, engine.clone(), access.clone(), capacity.socket_clients);
    let gate = Gate { engine, access, tries: Arc::default() };
    rest.merge(mcp).merge(socket).layer(axum::middleware::from_fn_with_state(gate, enter))
}

/// What stands before every route.
#[derive(Clone)]
struct Gate {
    engine: Arc<Engine>,
    access: Arc<Access>,
    tries: Arc<auth::Tries>,
}

/// Every request comes in by this. It is one layer, because the router copies all layers for
/// each request, and those inside of another once more.
async fn enter(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    let Gate { engine, access, tries } = gate;
    request.extensions_mut().insert(access.clone());
    request.extensions_mut().insert(tries);
    http::v1::in_shape(request, async |request| {
        let answered = auth::check(&access, request, async |request| {
            packed::pack(request, async |request| pace::keep(engine, &access, request, next).await)
                .await
        });
        let answered = AssertUnwindSafe(answered).catch_unwind().await;
        web::as_told(answered.unwrap_or_else(error::panicked))
    })
    .await
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
        description = "Models, agents and people deliberate, and the record is kept.",
        license(name = "MIT OR Apache-2.0")
    ),
    servers((url = "/")),
    components(schemas(error::ProblemBody, http::v1::FaultBody))
)]
pub(crate) struct Document;
