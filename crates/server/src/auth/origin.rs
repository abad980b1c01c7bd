//! Pages of other origins: which of them may use the server, and what a browser has to be
//! told so that it lets them.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use plenary_domain::limits;

use super::Access;
use crate::error::{Code, Problem};

const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, PATCH, PUT, DELETE");
/// Headers of an answer that a page may read besides the usual ones.
const READABLE: HeaderValue =
    HeaderValue::from_static("location, retry-after, content-disposition");

/// A page that is the server's own, or that the operator lets in. A browser names it.
pub fn check(access: &Access, headers: &HeaderMap) -> Result<(), Problem> {
    if headers.get(header::ORIGIN).is_none() || is_own(headers) {
        return Ok(());
    }
    match allowed(access, headers) {
        Some(_) => Ok(()),
        None => Err(Problem::new(Code::ForbiddenOrigin, FOREIGN)
            .hint("The operator can allow it with `allowed_origins` in plenary.toml.")),
    }
}

pub const FOREIGN: &str = "Pages from this origin are not allowed to use this server.";

/// Whether a browser says that one of our own pages asks.
pub fn is_own(headers: &HeaderMap) -> bool {
    let told = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let origin = told(header::ORIGIN).and_then(|origin| origin.split_once("://"));
    let host = told(header::HOST).unwrap_or_default();
    origin.is_some_and(|(_, name)| name.eq_ignore_ascii_case(host))
}

/// The page of elsewhere that is let in.
pub fn allowed<'a>(access: &Access, headers: &'a HeaderMap) -> Option<&'a HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    let name = origin.to_str().ok()?;
    access.origins.iter().any(|known| known.eq_ignore_ascii_case(name)).then_some(origin)
}

/// A browser's question whether a page may send a request, before it does.
pub fn is_preflight(request: &Request) -> bool {
    let asks = header::ACCESS_CONTROL_REQUEST_METHOD;
    request.method() == Method::OPTIONS && request.headers().contains_key(asks)
}

/// Any header may be sent: who the caller is shows in the request itself.
pub fn preflight(headers: &HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let told = response.headers_mut();
    told.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    told.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from(limits::ORIGIN_SECONDS));
    if let Some(wanted) = headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        told.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    response
}

/// The page may read this answer. Clients that always send credentials are told that they
/// may; our own cookie counts for our own pages all the same.
pub fn let_read(response: &mut Response, origin: HeaderValue) {
    let told = response.headers_mut();
    told.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    told.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
    told.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, READABLE);
    told.append(header::VARY, HeaderValue::from_static("origin"));
}
