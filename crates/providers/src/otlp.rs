//! Hands traces to a collector, by OpenTelemetry's own protocol: OTLP over HTTP, as JSON.
//!
//! The id of a trace is that of its session, so that all nodes agree on it. Nothing that
//! somebody said is in a span. A call never waits for this: what does not fit into the queue
//! is dropped, and so is what the collector does not take; both are counted.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use plenary_domain::{CallId, SessionId, Timestamp, limits};
use plenary_engine::{CallEnding, Span, Spanned, TraceCounts, Traces};
use reqwest::Client;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::config::Secret;

/// Where traces go, as OpenTelemetry's variables say it.
#[derive(Clone, Debug)]
pub struct OtlpConfig {
    /// With the path.
    url: String,
    headers: Vec<(String, Secret)>,
    service: String,
}

impl OtlpConfig {
    /// `None` where no collector is named.
    pub fn of(env: &dyn Fn(&str) -> Option<String>) -> Result<Option<OtlpConfig>, String> {
        let set = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        let base = || {
            let base = set("OTEL_EXPORTER_OTLP_ENDPOINT")?;
            Some(format!("{}/v1/traces", base.trim().trim_end_matches('/')))
        };
        let Some(url) = set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").or_else(base) else {
            return Ok(None);
        };
        let protocol = set("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL");
        let protocol = protocol.or_else(|| set("OTEL_EXPORTER_OTLP_PROTOCOL"));
        if protocol.as_deref() == Some("grpc") {
            return Err("OTEL_EXPORTER_OTLP_PROTOCOL is grpc; traces are sent over HTTP only: \
                        set http/json, and the collector's port for it (4318)"
                .to_owned());
        }
        let headers = set("OTEL_EXPORTER_OTLP_TRACES_HEADERS");
        let headers = headers.or_else(|| set("OTEL_EXPORTER_OTLP_HEADERS")).unwrap_or_default();
        let pairs = headers.split(',').filter_map(|pair| pair.split_once('='));
        let headers = pairs
            .map(|(name, value)| (name.trim().to_owned(), Secret::new(&decoded(value.trim()))));
        let service = set("OTEL_SERVICE_NAME").unwrap_or_else(|| "plenary".to_owned());
        Ok(Some(OtlpConfig { url, headers: headers.collect(), service }))
    }

    fn client(&self) -> Result<Client, String> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let wrong = || format!("OTEL_EXPORTER_OTLP_HEADERS: {name:?} cannot be sent");
            let known = HeaderName::try_from(name.as_str()).map_err(|_| wrong())?;
            let mut value = HeaderValue::try_from(value.expose()).map_err(|_| wrong())?;
            value.set_sensitive(true);
            headers.insert(known, value);
        }
        let wait = Duration::from_millis(limits::SPANS_MS);
        let client = crate::client_builder().timeout(wait).default_headers(headers).build();
        client.map_err(|error| error.to_string())
    }
}

/// Values of headers come as in a URL: `Basic%20abc`.
fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut out = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let code = part.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok());
        match code {
            Some(code) => {
                out.push(code);
                out.extend(&part.as_bytes()[2..]);
            }
            None => {
                out.push(b'%');
                out.extend(part.as_bytes());
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

pub struct Otlp {
    queue: mpsc::Sender<Span>,
    counts: Arc<Counts>,
    over: watch::Sender<bool>,
    task: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Counts {
    exported: AtomicU64,
    dropped: AtomicU64,
}

impl Otlp {
    /// `node` is told with every trace.
    pub fn start(config: &OtlpConfig, node: &str, version: &str) -> Result<Otlp, String> {
        let (queue, waiting) = mpsc::channel(limits::SPANS_WAITING);
        let (over, is_over) = watch::channel(false);
        let counts = Arc::new(Counts::default());
        let about = [
            ("service.name", config.service.as_str()),
            ("service.version", version),
            ("service.instance.id", node),
        ];
        let collector = Collector {
            client: config.client()?,
            url: config.url.clone(),
            resource: json!({ "attributes": about.map(|(key, value)| text(key, value)) }),
            scope: json!({ "name": "plenary", "version": version }),
            counts: counts.clone(),
            is_failing: false,
        };
        let task = Mutex::new(Some(tokio::spawn(collector.work(waiting, is_over))));
        Ok(Otlp { queue, counts, over, task })
    }

    /// Hands on what waits, but not for long.
    pub async fn close(&self) {
        self.over.send_replace(true);
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            timeout(Duration::from_millis(limits::SPANS_LAST_MS), task).await.ok();
        }
    }
}

impl Traces for Otlp {
    fn note(&self, span: Span) {
        if self.queue.try_send(span).is_err() {
            self.counts.dropped.fetch_add(1, Relaxed);
        }
    }

    fn counts(&self) -> TraceCounts {
        let exported = self.counts.exported.load(Relaxed);
        TraceCounts { exported, dropped: self.counts.dropped.load(Relaxed) }
    }
}

struct Collector {
    client: Client,
    url: String,
    resource: Value,
    scope: Value,
    counts: Arc<Counts>,
    is_failing: bool,
}

impl Collector {
    async fn work(mut self, mut queue: mpsc::Receiver<Span>, mut over: watch::Receiver<bool>) {
        let pause = Duration::from_millis(limits::SPANS_PAUSE_MS);
        let mut spans = Vec::new();
        let mut is_over = false;
        while !is_over || !queue.is_empty() {
            tokio::select! {
                _ = over.wait_for(|over| *over), if !is_over => is_over = true,
                count = queue.recv_many(&mut spans, limits::SPANS_AT_ONCE) => {
                    if count == 0 {
                        return;
                    }
                }
            }
            // What comes within a while goes together.
            if !is_over && timeout(pause, over.wait_for(|over| *over)).await.is_ok() {
                is_over = true;
            }
            while spans.len() < limits::SPANS_AT_ONCE
                && let Ok(span) = queue.try_recv()
            {
                spans.push(span);
            }
            if !spans.is_empty() {
                self.send(&std::mem::take(&mut spans)).await;
            }
        }
    }

    async fn send(&mut self, spans: &[Span]) {
        let body: Vec<Value> = spans.iter().map(span).collect();
        let scope = json!({ "scope": self.scope, "spans": body });
        let body =
            json!({ "resourceSpans": [{ "resource": self.resource, "scopeSpans": [scope] }] });
        let sent = self.client.post(&self.url).json(&body).send().await;
        let sent = sent.and_then(|response| response.error_for_status());
        let count = spans.len() as u64;
        match sent {
            Ok(_) => self.counts.exported.fetch_add(count, Relaxed),
            Err(error) => {
                // The address may hold a password.
                let error = error.without_url();
                if !self.is_failing {
                    tracing::warn!(%error, "traces could not be sent to the collector");
                }
                self.is_failing = true;
                self.counts.dropped.fetch_add(count, Relaxed);
                return;
            }
        };
        self.is_failing = false;
    }
}

/// By the protocol's JSON mapping: ids in hex, 64-bit numbers as text, enums as numbers.
fn span(span: &Span) -> Value {
    const INTERNAL: u8 = 1;
    const CLIENT: u8 = 3;
    const ERROR: u8 = 2;
    let root = root(span.session);
    let mut body = json!({
        "traceId": span.session.0.simple().to_string(),
        "startTimeUnixNano": nanoseconds(span.began),
        "endTimeUnixNano": nanoseconds(span.ended),
    });
    let (more, attributes) = match &span.what {
        Spanned::Opened { kind } => {
            let own = json!({ "spanId": root, "name": kind, "kind": INTERNAL });
            (own, vec![text("gen_ai.conversation.id", &span.session.to_string())])
        }
        Spanned::Call { call, model, usage, requests, ending } => {
            let (provider, name) = model.parts();
            let mut attributes = vec![
                text("gen_ai.operation.name", "chat"),
                text("gen_ai.provider.name", known(provider)),
                text("gen_ai.request.model", name),
                text("gen_ai.conversation.id", &span.session.to_string()),
                text("plenary.call", &call.0),
                number("plenary.requests", u64::from(*requests)),
            ];
            let used = [
                ("gen_ai.usage.input_tokens", usage.input_tokens),
                ("gen_ai.usage.output_tokens", usage.output_tokens),
            ];
            attributes.extend(used.iter().filter_map(|(key, used)| Some(number(key, (*used)?))));
            let mut own = json!({
                "spanId": own_id(span, call),
                "parentSpanId": root,
                "name": format!("chat {name}"),
                "kind": CLIENT,
            });
            let error = match ending {
                CallEnding::Answered => None,
                CallEnding::Failed(kind) => serde_json::to_value(kind).ok(),
                CallEnding::Dropped => Some("cancelled".into()),
            };
            if let Some(error) = error.as_ref().and_then(Value::as_str) {
                attributes.push(text("error.type", error));
                own["status"] = json!({ "code": ERROR });
            }
            (own, attributes)
        }
    };
    body["attributes"] = attributes.into();
    if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
        body.extend(more);
    }
    body
}

/// The span on which all of a session hang: the random half of its id, whichever node asks.
fn root(session: SessionId) -> String {
    session.0.simple().to_string()[16..].to_owned()
}

/// Another one for each time that a call is begun, wherever.
fn own_id(span: &Span, call: &CallId) -> String {
    let about = format!("{}/{call}/{}", span.session, nanoseconds(span.began));
    let digest = ring::digest::digest(&ring::digest::SHA256, about.as_bytes());
    digest.as_ref()[..8].iter().fold(String::new(), |id, byte| format!("{id}{byte:02x}"))
}

/// What the conventions call a provider; others go by the names that they were given.
fn known(provider: &str) -> &str {
    match provider {
        "gemini" => "gcp.gemini",
        other => other,
    }
}

fn nanoseconds(at: Timestamp) -> String {
    at.as_nanosecond().to_string()
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn number(key: &str, value: u64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}
