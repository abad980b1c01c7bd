//! For whoever watches over the server.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::header;
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
    let mut routes =
        routes.routes(routes!(healthz)).routes(routes!(readyz)).routes(routes!(metrics));
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
                Err(StoreError::Failed("the disk does not answer".into()).into())
            }
        };
        *last = Some((clock.ticks(), found.clone()));
        found
    }
}

/// Counters for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "health",
    responses((status = 200, body = String, content_type = "text/plain"), ReadProblems))]
async fn metrics(State(app): State<App>) -> impl IntoResponse {
    let meter = &app.engine.meter;
    let mut text = String::new();
    let mut line = |name: &str, kind: &str, help: &str, value: u64| {
        let _ = writeln!(text, "# HELP plenary_{name} {help}\n# TYPE plenary_{name} {kind}");
        let _ = writeln!(text, "plenary_{name} {value}");
    };
    let opened = meter.sessions_opened.load(Relaxed);
    line("sessions_opened_total", "counter", "Sessions opened.", opened);
    let loaded = app.engine.loaded() as u64;
    line("sessions_loaded", "gauge", "Sessions held in memory.", loaded);
    line("events_total", "counter", "Events appended.", meter.events.load(Relaxed));
    line("attempts_total", "counter", "Requests to models.", meter.attempts.load(Relaxed));
    line("calls_running", "gauge", "Calls under way.", meter.calls_running.load(Relaxed));
    line("deltas_total", "counter", "Deltas sent to live readers.", meter.deltas.load(Relaxed));
    line("readers", "gauge", "Live readers.", meter.readers.load(Relaxed));
    line("resyncs_total", "counter", "Readers that fell behind.", meter.resyncs.load(Relaxed));
    let _ = writeln!(
        text,
        "# HELP plenary_failures_total Calls that failed.\n# TYPE plenary_failures_total counter"
    );
    for (kind, count) in meter.failures() {
        let kind = kind.words();
        let _ = writeln!(text, "plenary_failures_total{{kind=\"{kind}\"}} {count}");
    }
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}
