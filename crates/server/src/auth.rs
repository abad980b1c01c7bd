//! Who may come in. A token proves the caller where tokens are set; Host and
//! Origin are checked so that a web page cannot reach a loopback server.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::{Code, Problem};
use crate::socket;

/// What the server demands of a caller.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Any one of these; none means that no token is needed.
    pub tokens: Vec<String>,
    /// Also accepted, for commands on the same machine. Not a demand by itself.
    pub local_token: Option<String>,
    /// Names under which the server may be addressed; empty means any.
    pub hosts: Vec<String>,
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

pub async fn check(
    State(access): State<Arc<Access>>,
    mut request: Request,
    next: Next,
) -> Response {
    match admit(&access, request.headers(), request.uri().path()) {
        Ok(Some(principal)) => {
            request.extensions_mut().insert(principal);
        }
        Ok(None) => {}
        Err(problem) => return problem.into_response(),
    }
    next.run(request).await
}

/// `None` for whoever proves itself later.
fn admit(access: &Access, headers: &HeaderMap, path: &str) -> Result<Option<Principal>, Problem> {
    if !access.inside {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let host = host.unwrap_or_default();
        check_host(access, host)?;
        check_origin(headers, host)?;
    }
    // A page cannot set headers of a websocket: its token comes in the first packet.
    if socket::is_handshake(path) {
        return Ok(None);
    }
    // Whoever watches over the server needs no token to see that it lives.
    if matches!(path, "/healthz" | "/readyz") {
        return Ok(Some(Principal("local".into())));
    }
    access.prove(bearer(headers)).map(Some)
}

/// The token that a request carries.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    value.strip_prefix("Bearer ")
}

impl Access {
    /// Who comes with this token.
    pub fn prove(&self, given: Option<&str>) -> Result<Principal, Problem> {
        let is_local = |given| self.local_token.as_deref().is_some_and(|local| same(given, local));
        if self.inside || self.tokens.is_empty() || given.is_some_and(is_local) {
            return Ok(Principal("local".into()));
        }
        let known = given.and_then(|given| self.tokens.iter().position(|token| same(given, token)));
        match known {
            Some(place) => Ok(Principal(format!("token-{}", place + 1))),
            None => Err(Problem::new(Code::Unauthorized, "This server wants a token.")
                .hint("Send `Authorization: Bearer …` with the value of PLENARY_TOKEN.")),
        }
    }
}

/// Takes the same time wherever the first difference is.
pub fn same(left: &str, right: &str) -> bool {
    left.len() == right.len()
        && left.bytes().zip(right.bytes()).fold(0, |diff, (l, r)| diff | (l ^ r)) == 0
}

fn check_host(access: &Access, host: &str) -> Result<(), Problem> {
    let name = host_name(host);
    if access.hosts.is_empty() || access.hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
    {
        return Ok(());
    }
    Err(Problem::new(Code::ForbiddenHost, "This server is not addressed by that name.")
        .hint("Use 127.0.0.1 or localhost, or add the name to `hosts` in plenary.toml."))
}

/// A browser names the page that asks. Only our own pages may.
fn check_origin(headers: &HeaderMap, host: &str) -> Result<(), Problem> {
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let own = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    if own.is_some_and(|(_, origin_host)| origin_host.eq_ignore_ascii_case(host)) {
        return Ok(());
    }
    Err(Problem::new(Code::ForbiddenOrigin, "A page from elsewhere may not use this server."))
}

/// The name without the port: `localhost:7171`, `[::1]:7171`.
fn host_name(host: &str) -> &str {
    if let Some((name, _)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return name;
    }
    host.split_once(':').map_or(host, |(name, _)| name)
}
