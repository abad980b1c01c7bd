//! For whoever watches over the server.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::response::IntoResponse;
use plenary_domain::limits;
use plenary_engine::ports::StoreError;
use tokio::sync::Mutex;

use super::routes::{Routes, routes};
use crate::App;
use crate::error::{Code, Problem, ReadProblems};
use crate::views::{Nothing, Reply, reply};

pub fn routes() -> Routes {
    let routes = Routes::new();
    let mut routes = routes.routes(routes!(healthz)).routes(routes!(readyz));
    routes.router = routes.router.layer(Extension(Arc::new(Ready::default())));
    routes
}

/// The process lives.
#[utoipa::path(get, path = "/healthz", tag = "health",
    responses((status = 200, body = Reply<Nothing>), ReadProblems))]
async fn healthz() -> impl IntoResponse {
    reply(Nothing {})
}

/// The store takes what it is given: something was written to it within the last second.
/// A node that will end soon is not ready, so that no new requests are sent to it; those that
/// come are still answered.
#[utoipa::path(get, path = "/readyz", tag = "health",
    responses((status = 200, body = Reply<Nothing>), ReadProblems))]
async fn readyz(
    State(app): State<App>,
    Extension(ready): Extension<Arc<Ready>>,
) -> Result<impl IntoResponse, Problem> {
    if app.engine.is_draining() {
        return Err(Problem::new(Code::Draining, "This node is shutting down.")
            .hint("Send requests to another node."));
    }
    // Anybody may ask, so the reason stays in the log.
    let ready = ready.check(&app).await;
    ready.map_err(|problem| problem.hint("The server's log says why."))?;
    Ok(reply(Nothing {}))
}

/// The last look at the store, and when it was. Anybody may ask, so all who ask within
/// a while share one write.
#[derive(Default)]
struct Ready(Mutex<Option<(u64, Result<(), Problem>)>>);

impl Ready {
    async fn check(&self, app: &App) -> Result<(), Problem> {
        let mut last = self.0.lock().await;
        let clock = app.engine.clock();
        if let Some((at, found)) = &*last
            && clock.ticks().saturating_sub(*at) < limits::READY_FRESH_MS
        {
            return found.clone();
        }
        let found = tokio::select! {
            found = app.engine.check() => found.map_err(Problem::from),
            () = clock.sleep(Duration::from_millis(limits::READY_MS)) => {
                Err(StoreError::Failed("it does not respond in time".into()).into())
            }
        };
        *last = Some((clock.ticks(), found.clone()));
        found
    }
}
