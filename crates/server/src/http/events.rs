//! Live events of all sessions.

use std::future::ready;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use serde::Deserialize;
use utoipa::IntoParams;

use super::routes::{Routes, routes};
use crate::App;
use crate::error::{Problem, ReadProblems};
use crate::idempotency::Query;
use crate::live;

pub fn routes() -> Routes {
    Routes::new().routes(routes!(all))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct After {
    /// Everything after this id; `Last-Event-ID` does the same and wins.
    #[param(nullable = false)]
    pub after: Option<u64>,
}

/// Durable events of all sessions, live, in the order in which they were kept.
/// Without `Last-Event-ID` or `after` it begins with what comes next.
#[utoipa::path(get, path = "/api/events", tag = "events", params(After),
    responses((status = 200, body = String, content_type = "text/event-stream"), ReadProblems))]
async fn all(
    State(app): State<App>,
    Query(query): Query<After>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let after = match live::after(&headers, query.after)? {
        Some(after) => after,
        None => app.engine.position().await?,
    };
    let events = app.engine.watch_all(after).filter_map(|event| ready(live::any_event(event)));
    Ok(live::respond(events).into_response())
}
