//! A client of the REST interface: inside this process, or over the net.

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, header};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use serde::de::DeserializeOwned;
use serde_json::Value;
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
    Remote { client: reqwest::Client, base: String, token: Option<String> },
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

type Bytes = BoxStream<'static, Result<bytes::Bytes, String>>;

impl Api {
    pub fn inside(router: Router) -> Self {
        Api { transport: Transport::Inside(router), agent: None }
    }

    pub fn remote(base: &str, token: Option<String>) -> Result<Self, ApiError> {
        plenary_providers::install_tls();
        let client = reqwest::Client::builder().no_proxy().build();
        let client = client.map_err(|error| ApiError::new("unreachable", error.to_string()))?;
        let base = base.trim_end_matches('/').to_owned();
        Ok(Api { transport: Transport::Remote { client, base, token }, agent: None })
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
        let (_, bytes) = self.send(Method::GET, path, None, Some(after)).await?;
        let mut decoder = Decoder::default();
        let events = bytes
            .map_ok(move |chunk| futures::stream::iter(decoder.push(&chunk)).map(Ok))
            .try_flatten()
            .map_err(|problem: String| ApiError::new("unreachable", problem));
        Ok(events.boxed())
    }

    async fn json(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, ApiError> {
        let (_, bytes) = self.send(method, path, body, None).await?;
        let whole = collect(bytes).await?;
        serde_json::from_slice(&whole).map_err(|_| not_plenary())
    }

    /// The whole answer, good or bad, to a request with headers of its own.
    pub async fn exchange(&self, request: Outgoing<'_>) -> Result<(u16, Value), ApiError> {
        let (status, bytes) = self.transport.send(request).await?;
        let whole = collect(bytes).await?;
        Ok((status, serde_json::from_slice(&whole).map_err(|_| not_plenary())?))
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        after: Option<u64>,
    ) -> Result<(u16, Bytes), ApiError> {
        let after = after.map(|after| ("last-event-id", after.to_string()));
        let agent = self.agent.clone().map(|token| ("agent-token", token));
        let headers = after.into_iter().chain(agent).collect();
        let (status, bytes) = self.transport.send(Outgoing { method, path, body, headers }).await?;
        if status < 400 {
            return Ok((status, bytes));
        }
        let whole = collect(bytes).await?;
        let body: Value = serde_json::from_slice(&whole).map_err(|_| not_plenary())?;
        Err(problem(&body))
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
        let Outgoing { method, path, body, headers } = request;
        let body = body.map(Value::to_string);
        match self {
            Transport::Inside(router) => inside(router, method, path, body, headers).await,
            Transport::Remote { client, base, token } => {
                let mut request = client.request(method, format!("{base}{path}"));
                if let Some(body) = body {
                    request = request.header(header::CONTENT_TYPE, "application/json").body(body);
                }
                for (name, value) in headers {
                    request = request.header(name, value);
                }
                if let Some(token) = token {
                    request = request.bearer_auth(token);
                }
                let response = request.send().await.map_err(|_| {
                    let mut error = ApiError::new(
                        "unreachable",
                        format!("no Plenary server answers at {base}"),
                    );
                    error.hint =
                        Some("Start one with `plenary serve`, or leave out --server.".into());
                    error
                })?;
                let status = response.status().as_u16();
                Ok((status, response.bytes_stream().map_err(|error| error.to_string()).boxed()))
            }
        }
    }
}

async fn inside(
    router: &Router,
    method: Method,
    path: &str,
    body: Option<String>,
    headers: Vec<(&'static str, String)>,
) -> Result<(u16, Bytes), ApiError> {
    let mut request = Request::builder().method(method).uri(path);
    request = request.header(header::CONTENT_TYPE, "application/json");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let body = body.map_or_else(Body::empty, Body::from);
    let request =
        request.body(body).map_err(|error| ApiError::new("internal", error.to_string()))?;
    let response = match router.clone().oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    let status = response.status().as_u16();
    let bytes = response.into_body().into_data_stream().map_err(|error| error.to_string());
    Ok((status, bytes.boxed()))
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
    whole.await.map_err(|problem| ApiError::new("unreachable", problem))
}

fn data<T: DeserializeOwned>(mut reply: Value) -> Result<T, ApiError> {
    serde_json::from_value(reply["data"].take()).map_err(|_| not_plenary())
}

fn not_plenary() -> ApiError {
    ApiError::new("unreachable", "the answer does not come from a Plenary server")
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
