//! Answers that go out packed, to whoever takes that.
//!
//! Only what is read is packed, and only where the whole of it is there: a stream of live
//! events, which must not wait for more of itself, has no length and goes out as it is. No
//! answer to a `GET` holds a token, a code or a key: those are in answers to writes, which are
//! never packed, so that no length tells of a secret beside words that somebody else chose.

use std::io::Write;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use plenary_domain::limits;

use crate::error::Problem;
use crate::web::takes_gzip;

/// Kinds of answers that become much smaller.
const KINDS: [&str; 3] = ["application/json", "text/markdown", "text/plain"];

pub async fn pack(request: Request, next: impl AsyncFnOnce(Request) -> Response) -> Response {
    let is_read = request.method() == Method::GET;
    let takes = takes_gzip(request.headers());
    let mut response = next(request).await;
    if !is_read || !is_worth_it(&response) {
        return response;
    }
    let vary = HeaderValue::from_static("accept-encoding");
    response.headers_mut().append(header::VARY, vary);
    if !takes {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    match packed(body).await {
        Ok(body) => {
            parts.headers.remove(header::CONTENT_LENGTH);
            let gzip = HeaderValue::from_static("gzip");
            parts.headers.insert(header::CONTENT_ENCODING, gzip);
            weaken_tag(&mut parts.headers);
            Response::from_parts(parts, Body::from(body))
        }
        Err(()) => Problem::internal().into_response(),
    }
}

fn is_worth_it(response: &Response) -> bool {
    let headers = response.headers();
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    let length = response.body().size_hint().exact();
    response.status() == StatusCode::OK
        && KINDS.contains(&kind.trim())
        && !headers.contains_key(header::CONTENT_ENCODING)
        && length.is_some_and(|length| length >= limits::PACKED_BYTES)
}

async fn packed(body: Body) -> Result<Bytes, ()> {
    let plain = to_bytes(body, usize::MAX).await.map_err(drop)?;
    if plain.len() < limits::PACKED_APART_BYTES {
        return gzip(&plain);
    }
    // Nobody else should wait for it.
    tokio::task::spawn_blocking(move || gzip(&plain)).await.map_err(drop)?
}

fn gzip(plain: &[u8]) -> Result<Bytes, ()> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 4), Compression::fast());
    encoder.write_all(plain).map_err(drop)?;
    encoder.finish().map(Bytes::from).map_err(drop)
}

/// The same view in other bytes: its tag says no more than that.
fn weaken_tag(headers: &mut HeaderMap) {
    let strong = headers.get(header::ETAG).filter(|tag| tag.as_bytes().starts_with(b"\""));
    let weak = strong.and_then(|tag| tag.to_str().ok()).map(|tag| format!("W/{tag}"));
    if let Some(weak) = weak.and_then(|weak| HeaderValue::try_from(weak).ok()) {
        headers.insert(header::ETAG, weak);
    }
}
