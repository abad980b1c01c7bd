//! A client of the REST interface: inside this process, or over the net.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, header};
use futures::stream::BoxStream;
use futures::{Stream, StreamExt, TryStreamExt};
use plenary_domain::limits;
use plenary_providers::shown_address;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::sleep;
use tower::ServiceExt;

use crate::sse::{Decoder, ServerEvent};

#[derive(Clone)]
pub struct Api {
    transport: Transport,
    /// The token of the agent as which requests are made.
    agent: Option<String>,
}

#[derive(Clone)]
enum Transport {
    Inside(Router),
    Remote(Remote),
}

#[derive(Clone)]
struct Remote {
    client: reqwest::Client,
    base: String,
    token: Option<String>,
    holder: Option<Arc<Process>>,
}

/// A process of this machine that holds a data folder.
pub struct Process {
    pub pid: u32,
    pub command: String,
    pub folder: String,
}

/// Why a request was not carried out.
#[derive(Clone, Debug)]
pub struct ApiError {
    pub code: String,
    pub message: String,
    pub hint: Option<String>,
    pub fields: Vec<(String, String)>,
}

impl ApiError {
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        ApiError { code: code.into(), message: message.into(), hint: None, fields: vec![] }
    }
}

type Bytes = BoxStream<'static, Result<bytes::Bytes, ApiError>>;

impl Api {
    pub fn inside(router: Router) -> Self {
        Api { transport: Transport::Inside(router), agent: None }
    }

    /// A server; `holder` where it is the process that holds the data folder.
    pub fn remote(
        base: &str,
        token: Option<String>,
        holder: Option<Process>,
    ) -> Result<Self, ApiError> {
        let client = plenary_providers::client_builder().no_proxy().build();
        let client = client.map_err(|error| ApiError::new("unreachable", error.to_string()))?;
        let base = base.trim_end_matches('/').to_owned();
        let remote = Remote { client, base, token, holder: holder.map(Arc::new) };
        Ok(Api { transport: Transport::Remote(remote), agent: None })
    }

    /// The same way in, as an agent of a board or a council.
    pub fn with_agent(&self, token: Option<String>) -> Self {
        Api { transport: self.transport.clone(), agent: token }
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ApiError> {
        self.json(Method::GET, path, None).await.and_then(data)
    }

    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, ApiError> {
        self.json(Method::POST, path, Some(body)).await.and_then(data)
    }

    /// A change that is made once, however often it is sent with the same key.
    pub async fn post_once<T: DeserializeOwned>(
        &self,
        key: &str,
        path: &str,
        body: &Value,
    ) -> Result<T, ApiError> {
        let key = ("idempotency-key", key.to_owned());
        let (_, bytes) = self.send(Method::POST, path, Some(body), Some(key)).await?;
        parsed(bytes).await.and_then(data)
    }

    pub async fn patch<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<T, ApiError> {
        self.json(Method::PATCH, path, Some(body)).await.and_then(data)
    }

    pub async fn delete(&self, path: &str) -> Result<(), ApiError> {
        self.json(Method::DELETE, path, None).await.map(|_| ())
    }

    /// A page of a list, with its `meta`.
    pub async fn page(&self, path: &str) -> Result<Value, ApiError> {
        self.json(Method::GET, path, None).await
    }

    /// A body as text, such as an export.
    pub async fn text(&self, path: &str) -> Result<String, ApiError> {
        let (_, bytes) = self.send(Method::GET, path, None, None).await?;
        let whole = collect(bytes).await?;
        Ok(String::from_utf8_lossy(&whole).into_owned())
    }

    /// Server-sent events after an id.
    pub async fn events(
        &self,
        path: &str,
        after: u64,
    ) -> Result<BoxStream<'static, Result<ServerEvent, ApiError>>, ApiError> {
        let after = ("last-event-id", after.to_string());
        let (_, bytes) = self.send(Method::GET, path, None, Some(after)).await?;
        let mut decoder = Decoder::default();
        let events = bytes
            .map_ok(move |chunk| futures::stream::iter(decoder.push(&chunk)).map(Ok))
            .try_flatten();
        Ok(events.boxed())
    }

    async fn json(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, ApiError> {
        let (_, bytes) = self.send(method, path, body, None).await?;
        parsed(bytes).await
    }

    /// The whole answer, good or bad, to a request with headers of its own.
    pub async fn exchange(&self, request: Outgoing<'_>) -> Result<(u16, Value), ApiError> {
        let (status, bytes) = self.transport.send(request).await?;
        Ok((status, parsed(bytes).await?))
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        header: Option<(&'static str, String)>,
    ) -> Result<(u16, Bytes), ApiError> {
        let agent = self.agent.clone().map(|token| ("agent-token", token));
        let headers = header.into_iter().chain(agent).collect();
        let (status, bytes) = self.transport.send(Outgoing { method, path, body, headers }).await?;
        if status < 400 {
            return Ok((status, bytes));
        }
        Err(problem(&parsed(bytes).await?))
    }
}

/// A request that is about to be sent.
pub struct Outgoing<'a> {
    pub method: Method,
    pub path: &'a str,
    pub body: Option<&'a Value>,
    pub headers: Vec<(&'static str, String)>,
}

impl Transport {
    async fn send(&self, request: Outgoing<'_>) -> Result<(u16, Bytes), ApiError> {
        match self {
            Transport::Inside(router) => inside(router, request).await,
            Transport::Remote(remote) => remote.send(request).await,
        }
    }
}

impl Remote {
    async fn send(&self, outgoing: Outgoing<'_>) -> Result<(u16, Bytes), ApiError> {
        let Outgoing { method, path, body, headers } = outgoing;
        let mut request = self.client.request(method, format!("{}{path}", self.base));
        if let Some(body) = body {
            let request_body = body.to_string();
            request = request.header(header::CONTENT_TYPE, "application/json").body(request_body);
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let sent = self.patiently(limits::SILENCE_MS, request.send()).await?;
        let response = sent.map_err(|_| {
            let place = shown_address(&self.base);
            let mut error =
                ApiError::new("unreachable", format!("no Plenary server responds at {place}"));
            error.hint = Some("Start one with `plenary serve`, or leave out --server.".into());
            error
        })?;
        let status = response.status().as_u16();
        Ok((status, self.watched(response.bytes_stream()).boxed()))
    }

    /// The pieces of an answer. A stream may rightly be silent, but not for ever.
    fn watched(
        &self,
        bytes: impl Stream<Item = reqwest::Result<bytes::Bytes>> + Send + Unpin + 'static,
    ) -> impl Stream<Item = Result<bytes::Bytes, ApiError>> + Send + 'static {
        let read = |(remote, mut bytes): (Remote, _)| async move {
            let next = remote.patiently(limits::LOOK_AGAIN_MS, StreamExt::next(&mut bytes)).await?;
            let broken = |error: reqwest::Error| {
                ApiError::new("unreachable", error.without_url().to_string())
            };
            Ok(next.transpose().map_err(broken)?.map(|piece| (piece, (remote, bytes))))
        };
        futures::stream::try_unfold((self.clone(), bytes), read)
    }

    /// Waits for what may take long, for as long as the server shows that it lives.
    async fn patiently<T>(
        &self,
        silence_ms: u64,
        work: impl Future<Output = T>,
    ) -> Result<T, ApiError> {
        let mut work = pin!(work);
        let mut silence_ms = silence_ms;
        loop {
            let look = async {
                sleep(Duration::from_millis(silence_ms)).await;
                self.look().await
            };
            tokio::select! {
                done = &mut work => return Ok(done),
                lives = look => lives?,
            }
            silence_ms = limits::LOOK_AGAIN_MS;
        }
    }

    /// One that refuses the connection is left to the request itself to find out.
    async fn look(&self) -> Result<(), ApiError> {
        let probe = self.client.get(format!("{}/healthz", self.base));
        let probe = probe.timeout(Duration::from_millis(limits::LIFE_SIGN_MS));
        match probe.send().await {
            Err(error) if error.is_timeout() => Err(self.silent()),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn silent(&self) -> ApiError {
        match &self.holder {
            Some(holder) => holder.silent(),
            None => {
                let place = shown_address(&self.base);
                ApiError::new("unreachable", format!("the server at {place} is not responding"))
            }
        }
    }
}

impl Process {
    fn silent(&self) -> ApiError {
        let Process { pid, command, folder } = self;
        let why = if is_suspended(*pid) { "is suspended and" } else { "is" };
        let mut error = ApiError::new(
            "not-answering",
            format!(
                "Process {pid} ({command}), which holds the data folder {folder}, {why} not \
                 responding."
            ),
        );
        error.hint = Some(go_on_or_end(*pid));
        error
    }
}

/// What to do about a process that holds the folder and does nothing.
pub fn go_on_or_end(pid: u32) -> String {
    format!(
        "Let it continue with `kill -CONT {pid}`, which may still finish what you asked; or end it \
         with `kill -KILL {pid}` and try again. Everything recorded is kept either way."
    )
}

/// Where the system tells it.
pub fn is_suspended(pid: u32) -> bool {
    let told = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name in brackets may hold anything; the state follows it.
    let state = told.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    matches!(state, Some('T' | 't'))
}

async fn inside(router: &Router, outgoing: Outgoing<'_>) -> Result<(u16, Bytes), ApiError> {
    let Outgoing { method, path, body, headers } = outgoing;
    let mut request = Request::builder().method(method).uri(path);
    request = request.header(header::CONTENT_TYPE, "application/json");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
    let request =
        request.body(body).map_err(|error| ApiError::new("internal", error.to_string()))?;
    let response = match router.clone().oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    let status = response.status().as_u16();
    let broken = |error: axum::Error| ApiError::new("unreachable", error.to_string());
    Ok((status, response.into_body().into_data_stream().map_err(broken).boxed()))
}

/// For a part of a path or a query.
pub fn encode(text: &str) -> String {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

async fn collect(bytes: Bytes) -> Result<Vec<u8>, ApiError> {
    let whole = bytes.try_fold(vec![], |mut whole, chunk| async move {
        whole.extend_from_slice(&chunk);
        Ok(whole)
    });
    whole.await
}

async fn parsed(bytes: Bytes) -> Result<Value, ApiError> {
    serde_json::from_slice(&collect(bytes).await?).map_err(|_| not_plenary())
}

fn data<T: DeserializeOwned>(mut reply: Value) -> Result<T, ApiError> {
    serde_json::from_value(reply["data"].take()).map_err(|_| not_plenary())
}

fn not_plenary() -> ApiError {
    ApiError::new("unreachable", "this is not a Plenary server")
}

fn problem(body: &Value) -> ApiError {
    let error = &body["error"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let fields = error["fields"].as_array().into_iter().flatten();
    ApiError {
        code: text(&error["code"]),
        message: text(&error["message"]),
        hint: error["hint"].as_str().map(str::to_owned),
        fields: fields.map(|field| (text(&field["field"]), text(&field["problem"]))).collect(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn what_is_rightly_silent_is_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let (tell, looked) = oneshot::channel();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut heard = vec![0; 1024];
            let length = stream.read(&mut heard).await.unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
            tell.send(String::from_utf8_lossy(&heard[..length]).into_owned()).unwrap();
        });
        let Transport::Remote(remote) = Api::remote(&base, None, None).unwrap().transport else {
            unreachable!()
        };
        // Done only once somebody has looked whether the server lives.
        let heard = remote.patiently(1, looked).await.unwrap().unwrap();
        assert!(heard.starts_with("GET /healthz "), "{heard}");
    }
}
