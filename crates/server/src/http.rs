//! One file per noun. Each begins with its routes.

mod access;
pub mod agents;
mod boardrooms;
mod boards;
mod councils;
mod discussions;
mod events;
mod health;
mod limits;
mod metrics;
mod models;
mod nodes;
mod routes;
mod runs;
mod sessions;
mod settings;
mod signals;
pub mod v1;
mod whiteboards;
mod workflows;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use plenary_domain::{SessionId, limits::BODY_BYTES};
use plenary_engine::Snapshot;
use serde::Serialize;
use utoipa::openapi::{OpenApi as OpenApiDocument, PathItem};

use crate::App;
use crate::error::{Code, Problem};
use routes::Routes;

pub fn routes() -> Router<App> {
    all().router.layer(DefaultBodyLimit::max(BODY_BYTES))
}

/// What OpenAPI says of the routes.
pub fn description() -> OpenApiDocument {
    let mut document = all().document();
    name_operations(&mut document);
    // The router has a sign of its own for a part that holds slashes.
    let paths = std::mem::take(&mut document.paths.paths);
    let lawful = paths.into_iter().map(|(path, item)| (path.replace("{*", "{"), item));
    document.paths.paths = lawful.collect();
    document
}

fn all() -> Routes {
    Routes::new()
        .merge(boardrooms::routes())
        .merge(whiteboards::routes())
        .merge(councils::routes())
        .merge(discussions::routes())
        .merge(workflows::routes())
        .merge(runs::routes())
        .merge(signals::routes())
        .merge(agents::routes())
        .merge(boards::routes())
        .merge(sessions::routes())
        .merge(events::routes())
        .merge(models::routes())
        .merge(settings::routes())
        .merge(nodes::routes())
        .merge(access::routes())
        .merge(limits::routes())
        .merge(v1::routes())
        .merge(health::routes())
        .merge(metrics::routes())
}

/// Handlers of different nouns have the same names; in the document each has its own.
fn name_operations(document: &mut OpenApiDocument) {
    for item in document.paths.paths.values_mut() {
        let PathItem { get, put, post, delete, patch, .. } = item;
        for operation in [get, put, post, delete, patch].into_iter().flatten() {
            let noun = operation.tags.iter().flatten().next();
            if let (Some(noun), Some(name)) = (noun, &operation.operation_id) {
                operation.operation_id = Some(format!("{noun}_{name}"));
            }
        }
    }
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

/// The number of a seat in the query.
fn seat(given: Option<u8>) -> Result<Option<u8>, Problem> {
    let most = plenary_domain::limits::ADVISORS as u32;
    given.map(|seat| within("seat", seat.into(), 1, most).map(|_| seat)).transpose()
}

/// What a session's record is called as a file, without its ending: as somebody has called the
/// session, or by its own name, or by its title.
async fn file_stem(app: &App, snapshot: &Snapshot) -> Result<String, Problem> {
    let (id, room) = (snapshot.id, &snapshot.room);
    let title = app.engine.row(id).await?.title;
    if let Some(name) = room.called().filter(|_| title == room.title()) {
        return Ok(name.to_owned());
    }
    let stem = stem(&title);
    Ok(if stem.is_empty() { format!("{}-{id}", room.kind()) } else { stem })
}

/// A title as every system takes it in the name of a file, and every browser in a header.
fn stem(title: &str) -> String {
    let words = title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut stem = String::new();
    for word in words {
        if stem.len() + word.len() > FILE_BYTES {
            break;
        }
        stem.push_str(if stem.is_empty() { "" } else { "-" });
        stem.push_str(&word.to_ascii_lowercase());
    }
    stem
}

/// Bytes of a file's name, about.
const FILE_BYTES: usize = 60;

/// A document for a browser to keep.
fn document(kind: &'static str, file: &str, body: String) -> Response {
    let kept = format!("attachment; filename=\"{file}\"");
    ([(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, kept)], body)
        .into_response()
}

const MARKDOWN: &str = "text/markdown; charset=utf-8";

fn json_document(file: &str, value: &impl Serialize) -> Result<Response, Problem> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
    Ok(document("application/json", file, text))
}
