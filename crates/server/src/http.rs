//! One file per noun. Each begins with its routes.

mod boardrooms;
mod councils;
mod events;
mod health;
mod models;
mod sessions;
mod whiteboards;

use axum::extract::DefaultBodyLimit;
use plenary_domain::{SessionId, limits};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::error::{Code, Problem};
use crate::{App, Document};

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Document::openapi())
        .merge(boardrooms::routes())
        .merge(whiteboards::routes())
        .merge(councils::routes())
        .merge(sessions::routes())
        .merge(events::routes())
        .merge(models::routes())
        .merge(health::routes())
        .layer(DefaultBodyLimit::max(limits::BODY_BYTES))
}

/// An id from a path. One that no session can have is one that no session has.
fn session_id(text: &str) -> Result<SessionId, Problem> {
    text.parse().map_err(|_| Problem::no_such_session(text))
}

/// A number of the query that must lie between two others.
fn within(name: &str, given: u32, least: u32, most: u32) -> Result<u32, Problem> {
    if (least..=most).contains(&given) {
        return Ok(given);
    }
    let problem = format!("`{name}` must be from {least} to {most}.");
    Err(Problem::new(Code::InvalidQuery, problem))
}
