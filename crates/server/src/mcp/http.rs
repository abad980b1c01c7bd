//! MCP over streamable HTTP, behind the same checks as everything else.

mod held;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header;
use axum::middleware::{self, Next};
use axum::routing::any_service;
use futures::FutureExt;
use futures::future::BoxFuture;
use plenary_domain::limits;
use plenary_engine::Engine;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tower::ServiceExt;

use super::{Door, Reply, Server};
use crate::auth::{Access, Principal};
use crate::error;
use held::Sessions;

pub fn routes(door: Arc<dyn Door>, access: &Access, most_sessions: usize) -> Router {
    let server = Server::new(door);
    let mut sessions = SessionConfig::default();
    sessions.keep_alive = Some(Duration::from_millis(limits::MCP_IDLE_MS));
    let mut manager = LocalSessionManager::default();
    manager.session_config = sessions;
    let manager = Arc::new(manager);
    let config = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(limits::BODY_BYTES)
        .with_allowed_hosts(access.hosts.clone())
        .with_allowed_origins(origins(access));
    let service = StreamableHttpService::new(
        move || Ok(server.for_another_session()),
        manager.clone(),
        config,
    );
    let sessions = Sessions::new(most_sessions, manager);
    let bounded = move |request: Request, next: Next| sessions.clone().receive(request, next);
    Router::new().route("/mcp", any_service(service)).layer(middleware::from_fn(bounded))
}

/// Our own check compares Origin with Host and goes first. The protocol's library
/// gets the same names, so that it refuses nothing which that one let in; where any
/// name will do, there is no list that it could go by.
fn origins(access: &Access) -> Vec<String> {
    if access.hosts.is_empty() {
        return vec![];
    }
    let bracketed = |host: &String| match host.contains(':') {
        true => format!("[{host}]"),
        false => host.clone(),
    };
    let both = |host: String| [format!("http://{host}:*"), format!("https://{host}:*")];
    let own = access.hosts.iter().map(bracketed).flat_map(both);
    own.chain(access.origins.iter().cloned()).collect()
}

/// The REST interface in this process, without the check of tokens, which whoever
/// comes here has passed.
pub struct Inside {
    rest: Router,
    engine: Arc<Engine>,
}

impl Inside {
    pub fn new(rest: Router, engine: Arc<Engine>) -> Self {
        Inside { rest, engine }
    }
}

impl Door for Inside {
    fn call(&self, request: super::Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            let mut inner = Request::builder().method(request.method).uri(&request.path);
            inner = inner.header(header::CONTENT_TYPE, "application/json");
            for (name, value) in request.headers() {
                inner = inner.header(name, value);
            }
            let body = request.body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
            let mut inner = inner.body(body).map_err(|error| failed(&error.to_string()))?;
            inner.extensions_mut().insert(Principal(request.caller));
            let answered = AssertUnwindSafe(self.rest.clone().oneshot(inner)).catch_unwind().await;
            let response = match answered {
                Ok(Ok(response)) => response,
                Ok(Err(never)) => match never {},
                Err(panic) => error::panicked(panic),
            };
            let status = response.status().as_u16();
            let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await;
            let bytes = bytes.map_err(|error| failed(&error.to_string()))?;
            let reply = serde_json::from_slice(&bytes);
            Ok((status, reply.map_err(|error| failed(&error.to_string()))?))
        })
    }

    fn ticks(&self) -> u64 {
        self.engine.clock().ticks()
    }
}

fn failed(problem: &str) -> Value {
    tracing::error!(problem, "a request inside failed");
    json!({ "code": "internal", "message": "Plenary hit an internal error." })
}
