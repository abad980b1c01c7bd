//! One request to a host that is allowed.
//!
//! Its name is looked up once. The addresses that come back are checked, and the
//! connection is made to one of these: whoever answers for the name cannot say one thing
//! to the check and another to the connection. So there is a client for each request, and
//! no proxy, which would look the name up for itself.

use std::future::{self, Future};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use plenary_domain::{Failure, FailureKind, limits};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, redirect, retry};

use super::hosts::{self, Target};
use super::{OutsideConfig, failure};
use crate::failure::{presentable, tls};
use crate::tls::client_builder;

/// A longer one says nothing that anybody knows.
const CONTENT_TYPE_BYTES: usize = 256;
const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// Headers that say how the request itself is sent, or where to.
const OURS: [&str; 12] = [
    "host",
    "content-length",
    IDEMPOTENCY_KEY,
    "transfer-encoding",
    "connection",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "upgrade",
    "expect",
];

/// Where a name leads.
pub(super) type Resolver =
    Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Request {
    /// `GET`, `POST`, `PUT`, `PATCH` or `DELETE`.
    pub method: &'static str,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Sent along, so that whoever gets it twice can tell.
    pub key: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Response {
    pub status: u16,
    pub content_type: Option<String>,
    pub body: Vec<u8>,
}

#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// For the name, and then for the connection.
    pub connect: Duration,
    pub whole: Duration,
    /// Of what is sent, and of what comes back.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connect: Duration::from_millis(limits::HTTP_CONNECT_MS),
            whole: Duration::from_millis(limits::HTTP_MS),
            bytes: limits::HTTP_BYTES,
        }
    }
}

pub(super) fn by_the_system() -> Resolver {
    Arc::new(|name| {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    })
}

pub(super) async fn send(
    config: &OutsideConfig,
    resolver: &Resolver,
    limits: Limits,
    request: Request,
) -> Result<Response, Failure> {
    let target = hosts::target(config, &request.url)?;
    let method = method(request.method)?;
    let headers = headers(&request)?;
    if request.body.len() > limits.bytes {
        let most = limits.bytes / 1024;
        let message = format!("A request can send at most {most} KiB.");
        return Err(failure(FailureKind::TooLong, message));
    }
    let exchange = async {
        let addresses = addresses(&target, resolver, limits).await?;
        let client = client(&target, addresses, limits)?;
        let sent = client.request(method, target.url.clone()).headers(headers).body(request.body);
        let answer = sent.send().await.map_err(|error| unsent(&target, &error))?;
        read(&target, answer, limits).await
    };
    within(limits.whole, exchange).await.unwrap_or_else(|| {
        let seconds = limits.whole.as_secs();
        let message = format!("{} took longer than {seconds} seconds to answer.", shown(&target));
        Err(failure(FailureKind::TimedOut, message))
    })
}

fn method(word: &str) -> Result<Method, Failure> {
    match word {
        "GET" => Ok(Method::GET),
        "POST" => Ok(Method::POST),
        "PUT" => Ok(Method::PUT),
        "PATCH" => Ok(Method::PATCH),
        "DELETE" => Ok(Method::DELETE),
        other => Err(wrong(format!("The method {} is not supported.", presentable(other)))),
    }
}

/// What the workflow sends along, and our key.
fn headers(request: &Request) -> Result<HeaderMap, Failure> {
    let size = |(name, value): &(String, String)| name.len() + value.len();
    let bytes: usize = request.headers.iter().map(size).sum();
    if request.headers.len() > limits::HEADERS || bytes > limits::HEADER_BYTES {
        return Err(wrong(format!(
            "A request can have at most {} headers, {} KiB together.",
            limits::HEADERS,
            limits::HEADER_BYTES / 1024
        )));
    }
    let mut headers = HeaderMap::new();
    for (written, value) in &request.headers {
        let shown = presentable(written);
        let name = HeaderName::from_bytes(written.as_bytes())
            .map_err(|_| wrong(format!("`{shown}` is not a valid header name.")))?;
        if OURS.contains(&name.as_str()) {
            return Err(wrong(format!("Plenary sets the header `{shown}` itself; leave it out.")));
        }
        // What it holds may be a secret, so it is not repeated.
        let mut value = HeaderValue::from_str(value).map_err(|_| {
            wrong(format!(
                "The header `{shown}` contains a line break or another control character."
            ))
        })?;
        value.set_sensitive(true);
        headers.append(name, value);
    }
    let key = HeaderValue::from_str(&request.key).map_err(|_| {
        failure(FailureKind::Internal, "The key of this request cannot be sent.".into())
    })?;
    headers.insert(IDEMPOTENCY_KEY, key);
    Ok(headers)
}

/// Where the request goes, checked.
async fn addresses(
    target: &Target,
    resolver: &Resolver,
    limits: Limits,
) -> Result<Vec<SocketAddr>, Failure> {
    let found = match target.literal() {
        Some(address) => vec![address],
        None => {
            let Some(found) = within(limits.connect, resolver(target.host().to_owned())).await
            else {
                let message = format!("Looking up {} took too long.", shown(target));
                return Err(failure(FailureKind::TimedOut, message));
            };
            found.unwrap_or_default()
        }
    };
    if found.is_empty() {
        let message =
            format!("The host {} was not found; check the address and the network.", shown(target));
        return Err(failure(FailureKind::Unreachable, message));
    }
    target.check(&found)?;
    Ok(found.into_iter().map(|address| SocketAddr::new(address, target.port)).collect())
}

fn client(target: &Target, addresses: Vec<SocketAddr>, limits: Limits) -> Result<Client, Failure> {
    let client = client_builder()
        .dns_resolver(Arc::new(Checked(addresses)))
        .no_proxy()
        .redirect(redirect::Policy::none())
        // The key says that it is the same request; who asks again is the workflow's rule.
        .retry(retry::never())
        .connect_timeout(limits.connect)
        .pool_max_idle_per_host(0)
        .user_agent(concat!("plenary/", env!("CARGO_PKG_VERSION")))
        .build();
    client.map_err(|_| {
        let message = format!("Could not set up a connection to {}.", shown(target));
        failure(FailureKind::Internal, message)
    })
}

/// Has one answer, whatever it is asked.
struct Checked(Vec<SocketAddr>);

impl Resolve for Checked {
    fn resolve(&self, _: Name) -> Resolving {
        let addresses: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(future::ready(Ok(addresses)))
    }
}

async fn read(
    target: &Target,
    mut answer: reqwest::Response,
    limits: Limits,
) -> Result<Response, Failure> {
    let status = answer.status().as_u16();
    let content_type = answer.headers().get(CONTENT_TYPE);
    let content_type = content_type.filter(|value| value.len() <= CONTENT_TYPE_BYTES);
    let content_type = content_type.and_then(|value| value.to_str().ok()).map(str::to_owned);
    let mut body = Vec::new();
    let cut = |_| {
        let message = format!("{} broke off in the middle of its answer.", shown(target));
        failure(FailureKind::Unreachable, message)
    };
    while let Some(chunk) = answer.chunk().await.map_err(cut)? {
        if body.len() + chunk.len() > limits.bytes {
            let most = limits.bytes / 1024;
            let message = format!("{} answered with more than {most} KiB.", shown(target));
            return Err(failure(FailureKind::TooLong, message));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Response { status, content_type, body })
}

/// The request could not be sent, or nothing came back.
fn unsent(target: &Target, error: &reqwest::Error) -> Failure {
    let host = shown(target);
    if let Some(reason) = tls(error) {
        let reason = presentable(&reason);
        return wrong(format!(
            "Could not make a secure connection to {host} ({reason}); check whether the address \
             should begin with http:// or https://, and the certificate."
        ));
    }
    if error.is_builder() {
        return wrong(format!("The address at {host} cannot be used; check it."));
    }
    if error.is_timeout() {
        let message =
            format!("{host} did not accept the connection in time; check it and the network.");
        return failure(FailureKind::TimedOut, message);
    }
    let message = match error.is_connect() {
        true => format!("Could not connect to {host}; check that it is running, and the network."),
        false => format!("{host} closed the connection before it answered."),
    };
    failure(FailureKind::Unreachable, message)
}

fn shown(target: &Target) -> String {
    presentable(&target.named.to_string())
}

fn wrong(message: String) -> Failure {
    failure(FailureKind::Misconfigured, message)
}

/// `None` when the time is over.
async fn within<T>(limit: Duration, doing: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(limit, doing).await.ok()
}
