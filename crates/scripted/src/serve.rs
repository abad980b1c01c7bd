//! The server: it tells the wires apart, chooses a reply and keeps records.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::Response;
use axum::serve::ListenerExt;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::canned;
use crate::record::{Log, Open, Recorded};
use crate::rules::Rules;
use crate::script::{Fault, Gate, Script};
use crate::steps;
use crate::stream::{self, Words};
use crate::told::Told;
use crate::wires::{About, Anthropic, Gemini, Ollama, OpenAi, Responses, Tool, Trouble, Wire};

/// Waiting for something that does not come ends after this time.
const WAIT: Duration = Duration::from_secs(20);

/// A running server. It stops listening when it is dropped.
pub struct Scripted {
    address: SocketAddr,
    log: Log,
    serving: JoinHandle<io::Result<()>>,
}

impl Scripted {
    /// Serves on a free port of the loopback interface.
    pub async fn start(script: Script) -> io::Result<Scripted> {
        Scripted::listen("127.0.0.1:0", script).await
    }

    pub async fn listen(address: &str, script: Script) -> io::Result<Scripted> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let listener = listener.tap_io(|connection| {
            let _ = connection.set_nodelay(true);
        });
        let log = Log::new();
        let desk =
            Arc::new(Desk { told: Mutex::new(Told::new(&script)), script, log: log.clone() });
        let router =
            Router::new().fallback(handle).layer(DefaultBodyLimit::disable()).with_state(desk);
        let serving = tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Scripted { address, log, serving })
    }

    /// Such as `http://127.0.0.1:40123`, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The chat requests so far, in the order of their arrival.
    pub fn requests(&self) -> Vec<Recorded> {
        self.log.records()
    }

    /// The greatest number of chat requests that were in flight at once.
    pub fn in_flight_most(&self) -> usize {
        self.log.stats().in_flight_most
    }

    pub fn in_flight(&self) -> usize {
        self.log.stats().in_flight
    }

    /// How often the models were listed.
    pub fn listings(&self) -> usize {
        self.log.stats().listings
    }

    /// Waits until the requests are as wanted, or 20 seconds are over, and returns
    /// them either way.
    pub async fn wait_until(&self, wanted: impl Fn(&[Recorded]) -> bool) -> Vec<Recorded> {
        let mut changes = self.log.changes();
        let satisfied = async {
            while !wanted(&self.log.records()) {
                if changes.changed().await.is_err() {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(WAIT, satisfied).await;
        self.log.records()
    }

    /// Waits until so many requests have arrived.
    pub async fn wait_for_requests(&self, count: usize) -> Vec<Recorded> {
        self.wait_until(|requests| requests.len() >= count).await
    }

    /// Waits until so many requests have ended, in whatever way.
    pub async fn wait_for_ended(&self, count: usize) -> Vec<Recorded> {
        let ended = |requests: &[Recorded]| {
            let ended = requests.iter().filter(|request| request.ended_at.is_some());
            ended.count() >= count
        };
        self.wait_until(ended).await
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

struct Desk {
    script: Script,
    told: Mutex<Told>,
    log: Log,
}

async fn handle(
    State(desk): State<Arc<Desk>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let path = uri.path();
    let anthropic = headers.contains_key("anthropic-version");
    match (method.as_str(), path) {
        ("GET", "/__requests") => json_response(200, &desk.log.briefs()),
        ("GET", "/__bodies") => json_response(200, &desk.log.bodies()),
        ("GET", "/__stats") => {
            let stats = desk.log.stats();
            let stats = json!({
                "count": stats.count, "inFlight": stats.in_flight,
                "inFlightMost": stats.in_flight_most, "listings": stats.listings,
            });
            json_response(200, &stats)
        }
        ("POST", "/__script") => desk.script(&body),
        ("POST", "/__release") => desk.release(&body),
        ("POST", "/__reached") => desk.reached(&body).await,
        ("GET", "/api/version") => json_response(200, &json!({"version": "0.13.0"})),
        ("GET", "/api/tags") => desk.list(&Ollama, &headers).await,
        ("GET", "/v1/models") if anthropic => desk.list(&Anthropic, &headers).await,
        ("GET", "/v1/models") => desk.list(&OpenAi, &headers).await,
        ("GET", "/v1beta/models") => desk.list(&Gemini, &headers).await,
        ("POST", "/api/chat") => desk.chat(&Ollama, path, &headers, &body).await,
        ("POST", "/v1/chat/completions") => desk.chat(&OpenAi, path, &headers, &body).await,
        ("POST", "/v1/responses") => desk.chat(&Responses, path, &headers, &body).await,
        ("POST", "/v1/messages") => desk.chat(&Anthropic, path, &headers, &body).await,
        ("POST", path) if path.ends_with(":streamGenerateContent") => {
            desk.chat(&Gemini, path, &headers, &body).await
        }
        ("POST", "/api/show") => desk.show(&body),
        ("GET", path) if desk.script.pages.contains_key(path) => {
            json_response(200, &desk.script.pages[path])
        }
        _ => respond(404, "text/plain", Body::from("404 page not found")),
    }
}

/// The models of a list, whatever the wire calls it.
fn items(list: &mut Value) -> impl Iterator<Item = &mut Value> {
    let lists = list.as_object_mut().into_iter().flat_map(|list| list.values_mut());
    lists.filter_map(Value::as_array_mut).flatten()
}

impl Desk {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn script(&self, body: &Bytes) -> Response {
        match Rules::read(body) {
            Ok(rules) => {
                self.told().replace(&rules);
                json_response(200, &json!({}))
            }
            Err(wrong) => json_response(400, &json!({"error": wrong})),
        }
    }

    fn gate(&self, body: &Bytes) -> Result<(Gate, Value), Box<Response>> {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let Some(name) = body["name"].as_str() else {
            let wrong = "give the name of a hold, as {\"name\": \"…\"}";
            return Err(Box::new(json_response(400, &json!({"error": wrong}))));
        };
        match self.told().gate(name) {
            Ok(gate) => Ok((gate, body)),
            Err(wrong) => Err(Box::new(json_response(404, &json!({"error": wrong})))),
        }
    }

    fn release(&self, body: &Bytes) -> Response {
        match self.gate(body) {
            Ok((gate, _)) => {
                gate.release();
                json_response(200, &json!({}))
            }
            Err(response) => *response,
        }
    }

    async fn reached(&self, body: &Bytes) -> Response {
        let (gate, body) = match self.gate(body) {
            Ok(found) => found,
            Err(response) => return *response,
        };
        let answers = usize::try_from(body["answers"].as_u64().unwrap_or(1)).unwrap_or(1);
        match tokio::time::timeout(WAIT, gate.reached(answers)).await {
            Ok(()) => json_response(200, &json!({})),
            Err(_) => {
                let wrong = format!("fewer than {answers} answers came to it in {WAIT:?}");
                json_response(408, &json!({"error": wrong}))
            }
        }
    }

    async fn list(&self, wire: &'static dyn Wire, headers: &HeaderMap) -> Response {
        let number = self.log.listed();
        let planned = self.script.listing.as_ref().filter(|(_, first)| number <= *first);
        let fault = match (planned, self.admits(headers)) {
            (Some((fault, _)), _) => Some(fault),
            (None, false) => Some(&Fault::Unauthorized),
            (None, true) => None,
        };
        if let Some(fault) = fault
            && let Some(response) = refuse(wire, fault, "").await
        {
            return response;
        }
        let mut list = wire.models(&self.script.models);
        for (name, item) in self.script.models.iter().zip(items(&mut list)) {
            let about = self.script.about.get(name).and_then(Value::as_object);
            let fields = item.as_object_mut().zip(about);
            fields.into_iter().for_each(|(item, about)| item.extend(about.clone()));
        }
        json_response(200, &list)
    }

    fn show(&self, body: &Bytes) -> Response {
        let asked: Value = serde_json::from_slice(body).unwrap_or_default();
        let about = asked["model"].as_str().and_then(|name| self.script.about.get(name));
        match about {
            Some(about) => json_response(200, about),
            None => json_response(404, &json!({"error": "model not found"})),
        }
    }

    async fn chat(
        &self,
        wire: &'static dyn Wire,
        path: &str,
        headers: &HeaderMap,
        bytes: &Bytes,
    ) -> Response {
        let Ok(body) = serde_json::from_slice::<Value>(bytes) else {
            return wrong("the body is not JSON");
        };
        let asked = Asked::read(wire, path, &body);
        let mut open = self.record(path, headers, body, &asked, bytes.len());
        let mut reply = self.told().choose(&asked.model, &asked.prompt, !asked.tools.is_empty());
        if !self.admits(headers) {
            reply.fault = Some(Fault::Unauthorized);
        }
        if let Some(fault) = &reply.fault
            && let Some(response) = refuse(wire, fault, &asked.model).await
        {
            open.complete = true;
            return response;
        }
        let call = match steps::next(&reply.steps, &asked.tools, &asked.results).transpose() {
            Ok(call) => call,
            Err(why) => {
                open.complete = true;
                return wrong(&why);
            }
        };
        let text = match (&reply.text, &call) {
            (_, Some(_)) => reply.before_call(asked.results.len()),
            (Some(text), None) => text.clone(),
            (None, None) => canned::text(&asked.prompt, asked.schema.as_ref()),
        };
        let words = Words::of(&reply, &text);
        let (input_tokens, output_tokens) =
            reply.usage.unwrap_or((asked.prompt.len() as u64 / 4, words.len() as u64));
        let about = About { model: asked.model, input_tokens, output_tokens, ..About::default() };
        // Faults in the middle of an answer are for streams.
        if !asked.streamed
            && let Some(answer) = wire.whole(&about, &words.aloud(), call.as_ref())
        {
            tokio::time::sleep(reply.due(words.len().saturating_sub(1))).await;
            open.complete = true;
            return json_response(200, &answer);
        }
        let body = Body::from_stream(stream::answer(wire, about, reply, words, call, open));
        respond(200, wire.content_type(), body)
    }

    fn record(
        &self,
        path: &str,
        headers: &HeaderMap,
        body: Value,
        asked: &Asked,
        bytes: usize,
    ) -> Open {
        let text = |value: &header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into();
        let record = Recorded {
            path: path.to_owned(),
            headers: headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect(),
            body,
            model: asked.model.clone(),
            prompt: asked.prompt.clone(),
            result: asked.results.last().cloned(),
            request_id: headers.get("x-client-request-id").map(text),
            received_at: SystemTime::now(),
            ended_at: None,
            dropped: false,
        };
        self.log.begin(record, bytes)
    }

    fn admits(&self, headers: &HeaderMap) -> bool {
        let Some(key) = &self.script.key else {
            return true;
        };
        let has = |name: &str, value: &str| headers.get(name).is_some_and(|found| found == value);
        has("authorization", &format!("Bearer {key}"))
            || has("x-api-key", key)
            || has("x-goog-api-key", key)
    }
}

/// What a request says, in whichever wire's words.
struct Asked {
    model: String,
    prompt: String,
    schema: Option<Value>,
    streamed: bool,
    tools: Vec<Tool>,
    results: Vec<Value>,
}

impl Asked {
    fn read(wire: &dyn Wire, path: &str, body: &Value) -> Asked {
        Asked {
            model: model_of(path, body),
            prompt: wire.prompt(body),
            schema: wire.schema(body).cloned(),
            streamed: body["stream"] == true,
            tools: wire.tools(body),
            results: wire.results(body),
        }
    }
}

/// A request that cannot be answered as the script wants it.
fn wrong(why: &str) -> Response {
    json_response(400, &json!({"error": {"message": why}}))
}

fn model_of(path: &str, body: &Value) -> String {
    let named = path.rsplit('/').next().and_then(|last| last.split_once(':'));
    match (body["model"].as_str(), named) {
        (Some(model), _) => model.to_owned(),
        (None, Some((model, _))) => model.to_owned(),
        (None, None) => String::new(),
    }
}

/// The faults that come in place of a stream.
async fn refuse(wire: &dyn Wire, fault: &Fault, model: &str) -> Option<Response> {
    let (trouble, retry_after) = match fault {
        Fault::Silent => std::future::pending().await,
        Fault::WebPage => {
            let page = "<!doctype html><html><body>Welcome to the portal.</body></html>";
            return Some(respond(200, "text/html", Body::from(page)));
        }
        Fault::Status { code, body, retry_after } => {
            let response = respond(*code, "application/json", Body::from(body.clone()));
            return Some(with_retry_after(response, retry_after.as_deref()));
        }
        Fault::Unauthorized => (Trouble::Unauthorized, None),
        Fault::NoSuchModel => (Trouble::NoSuchModel, None),
        Fault::ContextOverflow => (Trouble::ContextOverflow, None),
        Fault::RateLimited { retry_after } => (Trouble::RateLimited, *retry_after),
        Fault::OutOfQuota => (Trouble::OutOfQuota, None),
        Fault::Overloaded => (Trouble::Overloaded, None),
        Fault::ServerError => (Trouble::ServerError, None),
        Fault::ErrorAfter { .. }
        | Fault::OverloadedAfter { .. }
        | Fault::CutAfter { .. }
        | Fault::EndAfter { .. }
        | Fault::StallAfter { .. }
        | Fault::BadUtf8After { .. }
        | Fault::HugeLineAfter { .. }
        | Fault::Empty
        | Fault::Length
        | Fault::Refusal
        | Fault::FilteredAfter { .. } => return None,
    };
    let (code, body) = wire.status(trouble, model);
    let response = respond(code, "application/json", Body::from(body));
    let seconds = retry_after.map(|seconds| seconds.to_string());
    Some(with_retry_after(response, seconds.as_deref()))
}

fn with_retry_after(mut response: Response, retry_after: Option<&str>) -> Response {
    if let Some(value) = retry_after.and_then(|text| text.parse().ok()) {
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

fn json_response(code: u16, body: &Value) -> Response {
    respond(code, "application/json", Body::from(body.to_string()))
}

fn respond(code: u16, content_type: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let content_type = header::HeaderValue::from_static(content_type);
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}
