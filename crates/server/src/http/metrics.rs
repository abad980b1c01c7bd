//! Figures of this node, for Prometheus. Whoever may read them must not learn from them that
//! somebody posted blindly: what counts events counts listed ones, and notices of other nodes
//! are not counted at all.

use std::fmt::{Display, Write};
use std::sync::atomic::Ordering::Relaxed;

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use plenary_engine::Engine;

use super::routes::{Routes, routes};
use crate::App;
use crate::error::ReadProblems;

pub fn routes() -> Routes {
    Routes::new().routes(routes!(metrics))
}

/// Figures of this node for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "health",
    responses((status = 200, body = String, content_type = "text/plain"), ReadProblems))]
async fn metrics(State(app): State<App>) -> impl IntoResponse {
    let mut page = Page::default();
    work(&mut page, &app.engine);
    node(&mut page, &app.engine);
    database(&mut page, &app.engine);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], page.0)
}

/// What sessions, models and readers do.
fn work(page: &mut Page, engine: &Engine) {
    let meter = &engine.meter;
    page.counter("sessions_opened_total", "Sessions opened.", meter.sessions_opened.load(Relaxed));
    page.gauge("sessions_loaded", "Sessions held in memory.", engine.loaded());
    page.counter("events_total", "Events appended.", meter.events.load(Relaxed));
    page.counter("attempts_total", "Requests to models.", meter.attempts.load(Relaxed));
    page.gauge("calls_running", "Calls under way.", meter.calls_running.load(Relaxed));
    page.counter("deltas_total", "Deltas sent to live readers.", meter.deltas.load(Relaxed));
    page.gauge("readers", "Live readers.", meter.readers.load(Relaxed));
    page.counter("resyncs_total", "Readers that fell behind.", meter.resyncs.load(Relaxed));
    let traces = engine.trace_counts();
    page.counter("spans_exported_total", "Spans handed to the collector.", traces.exported);
    let dropped = "Spans that the collector did not get.";
    page.counter("spans_dropped_total", dropped, traces.dropped);
    page.head("failures_total", "counter", "Calls that failed.");
    for (kind, count) in meter.failures() {
        page.line("failures_total", &[("kind", kind.words())], count);
    }
}

/// This process as one of those that work on the store.
fn node(page: &mut Page, engine: &Engine) {
    page.head("node_info", "gauge", "This node and the version of its program.");
    let version = env!("CARGO_PKG_VERSION");
    page.line("node_info", &[("node", engine.node()), ("version", version)], 1);
    page.gauge("node_sessions", "Sessions that this node drives.", engine.driving());
    let left = format!("{:.3}", engine.lease_left().as_secs_f64());
    page.gauge("node_lease_seconds", "How long the lease of this node still holds.", left);
    let draining = u8::from(engine.is_draining());
    page.gauge("node_draining", "1 while this node is shutting down.", draining);
    let meter = &engine.meter;
    let taken = "Sessions that this node took up from the store.";
    page.counter("takeovers_total", taken, meter.takeovers.load(Relaxed));
    let fenced = "Writes refused because another node had the session.";
    page.counter("fenced_total", fenced, meter.fenced.load(Relaxed));
}

/// Its connections to the database. A store in a folder has none.
fn database(page: &mut Page, engine: &Engine) {
    let figures = engine.store_figures();
    page.counter("database_connects_total", "Connections made.", figures.connects);
    let failures = "Connections that could not be made.";
    page.counter("database_connect_failures_total", failures, figures.connect_failures);
    page.head("database_connections", "gauge", "Connections for questions.");
    page.line("database_connections", &[("state", "busy")], figures.busy);
    page.line("database_connections", &[("state", "idle")], figures.idle);
    let listening = u8::from(figures.listening);
    page.gauge("database_listening", "1 while notices of other nodes arrive.", listening);
}

/// In Prometheus's own format. No label here holds what would have to be escaped.
#[derive(Default)]
struct Page(String);

impl Page {
    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.head(name, "counter", help);
        self.line(name, &[], value);
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, "gauge", help);
        self.line(name, &[], value);
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP plenary_{name} {help}\n# TYPE plenary_{name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> =
            labels.iter().map(|(label, value)| format!("{label}=\"{value}\"")).collect();
        let labels = match labels.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", labels.join(",")),
        };
        let _ = writeln!(self.0, "plenary_{name}{labels} {value}");
    }
}
