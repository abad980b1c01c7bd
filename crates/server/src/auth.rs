//! Who may come in. A token proves the caller where tokens are set, or the cookie that
//! a browser was given for one; Host and Origin are checked so that a web page cannot
//! reach a loopback server.

mod cookie;
mod origin;
mod tries;

use std::convert::Infallible;
use std::net::IpAddr;

use axum::body::HttpBody as _;
use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use axum::response::{IntoResponse, Response};
use plenary_clerk::identity::Standing;

use crate::error::{Code, Problem};
use crate::listen::Peer;
use crate::{node, socket, web};

pub use cookie::{forget, give};
pub use tries::{Source, Tries};

/// Where a browser comes in with a token.
pub const ADDRESS: &str = "/api/access";

/// What the server demands of a caller.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Any one of these; none means that no token is needed.
    pub tokens: Vec<String>,
    /// Also accepted, for commands on the same machine. Not a demand by itself.
    pub local_token: Option<String>,
    /// Names under which the server may be addressed; empty means any.
    pub hosts: Vec<String>,
    /// Pages of elsewhere that may use the server, as browsers name them:
    /// `http://localhost:3000`.
    pub origins: Vec<String>,
    /// Who may say in `X-Forwarded-For` where a request comes from, besides this machine.
    pub proxies: Vec<IpAddr>,
    /// For calls inside this process, which have no caller.
    pub inside: bool,
}

impl Access {
    /// For a router that is called in the same process and never listens.
    pub fn inside() -> Self {
        Access { inside: true, ..Access::default() }
    }
}

/// The caller, as the record knows them.
#[derive(Clone, Debug)]
pub struct Principal(pub String);

/// Set on requests that an agent makes through MCP. It takes power and gives none, so
/// anybody may set it.
pub const THROUGH: &str = "plenary-through";

/// How the caller stands, whatever session it is about.
pub struct Stands(pub Standing);

impl<S: Send + Sync> FromRequestParts<S> for Stands {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let principal = parts.extensions.get::<Principal>();
        let principal = principal.map_or_else(String::new, |principal| principal.0.clone());
        let is_agent = parts.headers.contains_key(THROUGH);
        Ok(Stands(Standing { principal, is_agent }))
    }
}

pub async fn check(
    access: &Access,
    request: Request,
    next: impl AsyncFnOnce(Request) -> Response,
) -> Response {
    let foreign = origin::allowed(access, request.headers()).cloned();
    let mut response = answer(access, request, next).await;
    if let Some(origin) = foreign {
        origin::let_read(&mut response, origin);
    }
    response
}

async fn answer(
    access: &Access,
    mut request: Request,
    next: impl AsyncFnOnce(Request) -> Response,
) -> Response {
    if origin::is_preflight(&request) && origin::allowed(access, request.headers()).is_some() {
        return match check_host(access, request.headers()) {
            Ok(()) => origin::preflight(request.headers()),
            Err(problem) => problem.into_response(),
        };
    }
    let admitted = admit(access, request.method(), request.uri().path(), request.headers());
    let admitted = admitted.and_then(|who| stand(access, &request, who));
    match admitted {
        Ok(Some(principal)) => {
            request.extensions_mut().insert(principal);
        }
        Ok(None) => {}
        Err(problem) => return problem.into_response(),
    }
    next(request).await
}

/// Whether the caller keeps its connection where there are too many: with a token, or
/// where none is wanted, by a request that has come whole. Who watches over the server
/// gets in as newcomers do.
fn stand(
    access: &Access,
    request: &Request,
    who: Option<Principal>,
) -> Result<Option<Principal>, Problem> {
    let Some(peer) = request.extensions().get::<Peer>() else { return Ok(who) };
    let has_proof = || access.caller(request.method(), request.headers()).is_ok();
    let is_known = !is_watch(request.uri().path())
        && (access.wants_token() || request.body().is_end_stream())
        && (who.is_some() || has_proof());
    if !is_known {
        peer.doubt();
        return Ok(who);
    }
    match (peer.prove(), &who) {
        (Err(problem), Some(_)) => Err(problem),
        // Everybody may have what this one asks for.
        (Err(_), None) | (Ok(()), _) => Ok(who),
    }
}

/// Whoever watches over the server needs no token to see that it lives.
fn is_watch(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz")
}

/// What comes to a webhook proves itself by its signature.
fn is_hook(method: &Method, path: &str) -> bool {
    *method == Method::POST && path.starts_with("/hooks/")
}

/// `None` for whoever proves itself later, or needs no proof.
fn admit(
    access: &Access,
    method: &Method,
    path: &str,
    headers: &HeaderMap,
) -> Result<Option<Principal>, Problem> {
    if node::is_between_nodes(path) {
        return Ok(None);
    }
    if !access.inside {
        // Load balancers ask by whatever name, and learn only whether the server is there.
        if !is_watch(path) {
            check_host(access, headers)?;
        }
        origin::check(access, headers)?;
    }
    // A page cannot set headers of a websocket: its token comes in the first packet.
    // The interface holds no data, and asks there whether a token is wanted.
    if socket::is_handshake(path) || web::is_page(method, path) || path == ADDRESS {
        return Ok(None);
    }
    if is_hook(method, path) {
        return Ok(None);
    }
    if is_watch(path) {
        return Ok(Some(Principal("local".into())));
    }
    access.caller(method, headers).map(Some)
}

/// The token that a request carries.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    value.strip_prefix("Bearer ")
}

impl Access {
    pub fn wants_token(&self) -> bool {
        !self.inside && !self.tokens.is_empty()
    }

    /// Who makes this request.
    pub fn caller(&self, method: &Method, headers: &HeaderMap) -> Result<Principal, Problem> {
        let given = bearer(headers);
        let place = match given {
            None if self.wants_token() => cookie::place(&self.tokens, headers),
            None | Some(_) => None,
        };
        let Some(place) = place else { return self.prove(given) };
        check_own(method, headers)?;
        Ok(principal(place))
    }

    /// Which of the tokens this is.
    pub fn place(&self, given: &str) -> Option<usize> {
        self.tokens.iter().position(|token| same(given, token))
    }

    /// Who comes with this token.
    pub fn prove(&self, given: Option<&str>) -> Result<Principal, Problem> {
        let is_local = |given| self.local_token.as_deref().is_some_and(|local| same(given, local));
        if self.inside || self.tokens.is_empty() || given.is_some_and(is_local) {
            return Ok(Principal("local".into()));
        }
        match given.and_then(|given| self.place(given)) {
            Some(place) => Ok(principal(place)),
            None => {
                let message = match given {
                    None => "An access token is required.",
                    Some(_) => "That is not this server's access token.",
                };
                Err(Problem::new(Code::Unauthorized, message)
                    .hint("Send `Authorization: Bearer …` with the value of PLENARY_TOKEN."))
            }
        }
    }
}

fn principal(place: usize) -> Principal {
    Principal(format!("token-{}", place + 1))
}

/// Takes the same time wherever the first difference is. An empty secret is none, and
/// proves nothing.
pub fn same(left: &str, right: &str) -> bool {
    !right.is_empty()
        && left.len() == right.len()
        && left.bytes().zip(right.bytes()).fold(0, |diff, (l, r)| diff | (l ^ r)) == 0
}

fn check_host(access: &Access, headers: &HeaderMap) -> Result<(), Problem> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let name = host_name(host.unwrap_or_default());
    if access.hosts.is_empty() || access.hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
    {
        return Ok(());
    }
    Err(Problem::new(Code::ForbiddenHost, "This server does not answer to that name.")
        .hint("Use 127.0.0.1 or localhost, or add the name to `hosts` in plenary.toml."))
}

/// A browser sends our cookie whatever page asks, if only that page has our host's name
/// and another port. So a request with a cookie must show that it comes from our own;
/// one that only reads, by a browser that does not say, is kept from others by
/// `SameSite`. A page of elsewhere that is let in shows a token.
fn check_own(method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    let told = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let reads = matches!(*method, Method::GET | Method::HEAD);
    let is_own = match told("sec-fetch-site") {
        Some("same-origin") => true,
        // Typed by the user, or opened by a link: nothing of the answer goes to a page.
        Some("none") => reads,
        Some(_) => reads && told("sec-fetch-mode") == Some("navigate"),
        None => match headers.contains_key(header::ORIGIN) {
            true => origin::is_own(headers),
            false => reads,
        },
    };
    if is_own {
        return Ok(());
    }
    Err(Problem::new(Code::ForbiddenOrigin, origin::FOREIGN).hint(
        "The sign-in cookie works only on the server's own pages; programs must send a \
               token.",
    ))
}

/// The name without the port: `localhost:7171`, `[::1]:7171`.
fn host_name(host: &str) -> &str {
    if let Some((name, _)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return name;
    }
    host.split_once(':').map_or(host, |(name, _)| name)
}
