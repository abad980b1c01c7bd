//! Views of sessions that a caller may have already, or that were written lately.
//!
//! Every view says by a tag what is in it, and whoever shows that tag is not sent it again.
//! The tag is made from the view's own bytes and from nothing else: it tells nobody more
//! than the view does.
//!
//! What is the same for everybody is kept as it was written, until the session, the words
//! under way, or what is known of prices is not as it was. Views of one agent or one seat
//! are written anew each time.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Mutex, PoisonError, Weak};

use axum::body::{Body, Bytes};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use plenary_domain::room::Room;
use plenary_domain::{SessionId, limits};
use plenary_engine::Snapshot;
use ring::digest::{SHA256, digest};
use serde::Serialize;
use utoipa::{IntoParams, IntoResponses};

use crate::App;
use crate::error::{Code, Problem};
use crate::views::reply;
use crate::views::whiteboards::Part;

/// For the OpenAPI document.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[allow(dead_code, reason = "it stands in the OpenAPI document only")]
pub struct TagHeader {
    /// The `ETag` of an earlier answer, or several: if nothing has changed since, the answer
    /// is 304, and empty.
    #[param(rename = "If-None-Match", nullable = false)]
    tags: Option<String>,
}

/// For the OpenAPI document.
#[derive(IntoResponses)]
#[allow(dead_code, reason = "it stands in the OpenAPI document only")]
pub enum Unchanged {
    /// The view is as it was when it had the tag in `If-None-Match`.
    #[response(status = 304)]
    Unchanged,
}

/// The tags that a caller has: `If-None-Match`.
pub struct Has(Option<HeaderValue>);

impl<S: Send + Sync> FromRequestParts<S> for Has {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Has(parts.headers.get(header::IF_NONE_MATCH).cloned()))
    }
}

impl Has {
    fn has(&self, tag: &HeaderValue) -> bool {
        let given = self.0.as_ref().map_or(&b""[..], HeaderValue::as_bytes);
        let tag = tag.as_bytes();
        given.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).any(|one| {
            one == b"*" || one == tag || one.strip_prefix(b"W/").is_some_and(|one| one == tag)
        })
    }

    /// A view, unless the caller has it.
    pub fn or(&self, data: impl Serialize) -> Result<Response, Problem> {
        Ok(Written::new(data)?.answer(self))
    }
}

/// A view as it is sent.
#[derive(Clone)]
struct Written {
    tag: HeaderValue,
    body: Bytes,
}

impl Written {
    fn new(data: impl Serialize) -> Result<Self, Problem> {
        let broken = |error: String| Problem::new(Code::Internal, error);
        let body = serde_json::to_vec(&reply(data).0).map_err(|error| broken(error.to_string()))?;
        let mut tag = String::from("\"");
        for byte in &digest(&SHA256, &body).as_ref()[..16] {
            tag.push_str(&format!("{byte:02x}"));
        }
        tag.push('"');
        let tag = HeaderValue::try_from(tag).map_err(|error| broken(error.to_string()))?;
        Ok(Written { tag, body: body.into() })
    }

    fn answer(self, has: &Has) -> Response {
        let mut response = match has.has(&self.tag) {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => {
                let mut response = Response::new(Body::from(self.body));
                let kind = HeaderValue::from_static("application/json");
                response.headers_mut().insert(header::CONTENT_TYPE, kind);
                response
            }
        };
        let headers = response.headers_mut();
        headers.insert(header::ETAG, self.tag);
        // Browsers may keep it, and ask each time whether it still holds.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
        response
    }
}

/// What is kept of a session.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Which {
    Boardroom,
    Whiteboard(Part),
}

#[derive(Default)]
pub struct Kept(Mutex<HashMap<(SessionId, Which), Shown>>);

/// A view, and what it was made of.
struct Shown {
    of: Made,
    written: Written,
}

struct Made {
    room: Weak<Room>,
    said: u64,
    learnings: u64,
}

impl Made {
    /// To be asked before the view is made: what changes meanwhile is then seen by the next.
    fn now(app: &App, snapshot: &Snapshot) -> Self {
        Made {
            room: std::sync::Arc::downgrade(&snapshot.room),
            said: app.engine.said(snapshot.id),
            learnings: app.engine.models().learnings(),
        }
    }

    fn is(&self, other: &Made) -> bool {
        self.room.ptr_eq(&other.room)
            && self.said == other.said
            && self.learnings == other.learnings
    }
}

impl Kept {
    /// A view that everybody may see as it is, unless the caller has it.
    pub fn or<T: Serialize>(
        app: &App,
        snapshot: &Snapshot,
        which: Which,
        has: &Has,
        view: impl FnOnce() -> Result<T, Problem>,
    ) -> Result<Response, Problem> {
        let (kept, place) = (&app.kept.0, (snapshot.id, which));
        let of = Made::now(app, snapshot);
        let lock = || kept.lock().unwrap_or_else(PoisonError::into_inner);
        let before = lock().get(&place).filter(|one| one.of.is(&of)).map(|one| one.written.clone());
        if let Some(written) = before {
            return Ok(written.answer(has));
        }
        let written = Written::new(view()?)?;
        if written.body.len() <= limits::KEPT_VIEW_BYTES {
            let mut kept = lock();
            if kept.len() >= limits::KEPT_VIEWS && !kept.contains_key(&place) {
                kept.clear();
            }
            kept.insert(place, Shown { of, written: written.clone() });
        }
        Ok(written.answer(has))
    }
}
