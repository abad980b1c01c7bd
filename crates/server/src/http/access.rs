//! How a browser comes in: with a token once, and by a cookie from then on.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::routes::{Routes, routes};
use super::sessions::Empty;
use crate::App;
use crate::auth::{self, Access, Source, Tries};
use crate::error::{Problem, ReadProblems, WriteProblems};
use crate::idempotency::Change;
use crate::listen::Peer;
use crate::views::{Reply, reply};

pub fn routes() -> Routes {
    Routes::new().routes(routes!(get, enter, leave))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessView {
    /// This server wants a token.
    token_wanted: bool,
    /// The caller may use this server: it has shown its token, or needs none.
    admitted: bool,
}

/// Whether this server wants a token, and whether the caller has shown one. Needs none
/// itself.
#[utoipa::path(get, path = "/api/access", tag = "access",
    responses((status = 200, body = Reply<AccessView>), ReadProblems))]
async fn get(Extension(access): Extension<Arc<Access>>, headers: HeaderMap) -> impl IntoResponse {
    let admitted = access.caller(&Method::GET, &headers).is_ok();
    reply(AccessView { token_wanted: access.wants_token(), admitted })
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAccess {
    /// The value of PLENARY_TOKEN.
    token: String,
}

/// Exchanges a token for a cookie, so that a browser need not keep the token. It counts
/// for the server's own pages only, and ends when the token changes.
#[utoipa::path(post, path = "/api/access", tag = "access",
    request_body = NewAccess,
    responses((status = 200, body = Reply<AccessView>), WriteProblems))]
async fn enter(
    State(app): State<App>,
    Extension(access): Extension<Arc<Access>>,
    Extension(tries): Extension<Arc<Tries>>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    Change { body, .. }: Change<NewAccess>,
) -> Result<Response, Problem> {
    let view = AccessView { token_wanted: access.wants_token(), admitted: true };
    if !access.wants_token() {
        return Ok(reply(view).into_response());
    }
    let clock = app.engine.clock();
    clock.sleep(tries.pause(clock.ticks())).await;
    let from = Source::of(peer.as_deref(), &access.proxies, &headers);
    tries.take(from, clock.ticks(), || access.place(&body.token))?;
    Ok(with_cookie(view, auth::give(&body.token, &headers)))
}

/// Makes the browser forget the cookie.
#[utoipa::path(delete, path = "/api/access", tag = "access",
    responses((status = 200, body = Reply<AccessView>), WriteProblems))]
async fn leave(
    Extension(access): Extension<Arc<Access>>,
    headers: HeaderMap,
    Change { body: Empty {}, .. }: Change<Empty>,
) -> Response {
    // A token that came with this very request still counts.
    let admitted = access.prove(auth::bearer(&headers)).is_ok();
    let view = AccessView { token_wanted: access.wants_token(), admitted };
    with_cookie(view, auth::forget(&headers))
}

fn with_cookie(view: AccessView, cookie: Option<HeaderValue>) -> Response {
    let mut response = reply(view).into_response();
    response.headers_mut().extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    response
}
