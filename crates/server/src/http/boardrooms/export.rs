//! A board as a document, and back.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use plenary_clerk::boardrooms;
use plenary_domain::boardroom::{self, Command};
use plenary_domain::{SessionId, Timestamp, limits, room};
use plenary_engine::ports::StoredEvent;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{Convened, created};
use crate::App;
use crate::agents::{AgentHeader, Asking};
use crate::error::{Problem, ReadProblems, WriteProblems};
use crate::http::{MARKDOWN, document, file_stem, json_document, session_id};
use crate::idempotency::{Change, Key, Path, Query};
use crate::live;
use crate::views::Reply;
use crate::views::boardrooms::BoardroomView;

const FORMAT: &str = "plenary.boardroom";
const FORMAT_VERSION: u32 = 1;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Format {
    /// `json` when absent.
    #[param(nullable = false, inline)]
    pub format: Option<FormatName>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SeenFormat {
    /// `json` when absent.
    #[param(nullable = false, inline)]
    format: Option<FormatName>,
    /// As the person on this seat sees it. A seat's token does the same and wins.
    #[param(minimum = 1, maximum = 16, nullable = false)]
    seat: Option<u8>,
}

#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FormatName {
    Json,
    Markdown,
}

/// A board's whole record. `boardroom` is for reading; `events` is what an
/// import goes by.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Exported {
    /// Always `plenary.boardroom`.
    format: &'static str,
    format_version: u32,
    exported_at: Timestamp,
    boardroom: BoardroomView,
    events: Vec<ExportedEvent>,
}

#[derive(Serialize, ToSchema)]
pub struct ExportedEvent {
    version: u64,
    at: Timestamp,
    actor: String,
    /// An object with a `type`.
    #[schema(value_type = Object)]
    event: Value,
}

/// What an import reads of an export; the rest may be there.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Import {
    /// Must be `plenary.boardroom`.
    #[schema(pattern = "^plenary\\.boardroom$")]
    format: String,
    #[schema(minimum = 1, maximum = 1)]
    format_version: u32,
    #[serde(default)]
    boardroom: Option<ImportedFrom>,
    #[schema(min_items = 1)]
    events: Vec<ImportedEvent>,
}

#[derive(Deserialize, ToSchema)]
pub struct ImportedFrom {
    id: uuid::Uuid,
}

#[derive(Deserialize, ToSchema)]
pub struct ImportedEvent {
    #[schema(value_type = Object)]
    event: Value,
}

/// A board as JSON, which can be imported again, or as Markdown to read. A seat whose
/// reply is awaited gets it without the words of the others.
#[utoipa::path(get, path = "/api/boardrooms/{id}/export", tag = "boardrooms",
    params(("id" = uuid::Uuid, Path, description = "The board."), SeenFormat, AgentHeader),
    responses(
        (status = 200, description = "The record.", content(
            (Exported = "application/json"), (String = "text/markdown"))),
        ReadProblems))]
pub async fn export(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<SeenFormat>,
    asking: Asking,
) -> Result<Response, Problem> {
    let id = session_id(&id)?;
    let snapshot = asking.sees(&app, id, super::super::seat(query.seat)?).await?;
    let state = boardrooms::board(&snapshot)?;
    let file = file_stem(&app, &snapshot).await?;
    match query.format.unwrap_or(FormatName::Json) {
        FormatName::Markdown => {
            Ok(document(MARKDOWN, &format!("{file}.md"), boardroom::markdown(state)))
        }
        FormatName::Json => {
            let events = app.engine.events(id).await?.into_iter();
            let events = events.map(|event| live::as_seen(state, event)).map(exported);
            let exported = Exported {
                format: FORMAT,
                format_version: FORMAT_VERSION,
                exported_at: app.engine.clock().now(),
                boardroom: super::view(&app, &snapshot)?,
                events: events.collect(),
            };
            json_document(&format!("{file}.json"), &exported)
        }
    }
}

pub fn exported(event: StoredEvent) -> ExportedEvent {
    ExportedEvent {
        version: event.version,
        at: event.at,
        actor: event.actor,
        event: serde_json::from_str(&event.payload).unwrap_or_default(),
    }
}

/// Takes over a board that was exported here or elsewhere, under a new id.
#[utoipa::path(post, path = "/api/boardrooms/import", tag = "boardrooms",
    request_body = Import,
    params(Key),
    responses((status = 201, body = Reply<Convened>), WriteProblems))]
pub async fn import(
    State(app): State<App>,
    Change { by, body }: Change<Import>,
) -> Result<impl IntoResponse, Problem> {
    let mut wrong = vec![];
    if body.format != FORMAT {
        // The rest is another form's, and nothing of it would fit.
        let problem = format!("must be {FORMAT:?}: only boards can be imported");
        return Err(Problem::invalid([("format".to_owned(), problem)]));
    }
    if body.format_version != FORMAT_VERSION {
        wrong.push(("formatVersion".to_owned(), format!("must be {FORMAT_VERSION}")));
    }
    if body.events.len() > limits::IMPORT_EVENTS {
        let most = limits::IMPORT_EVENTS;
        wrong.push(("events".to_owned(), format!("at most {most} can be imported")));
        // They are not read one by one to be named one by one.
        return Err(Problem::invalid(wrong));
    }
    let mut events = vec![];
    for (place, imported) in body.events.into_iter().enumerate() {
        match serde_json::from_value(imported.event) {
            Ok(event) => events.push(event),
            Err(error) => wrong.push((format!("events[{place}].event"), error.to_string())),
        }
    }
    if !wrong.is_empty() {
        return Err(Problem::invalid(wrong));
    }
    let from = body.boardroom.map(|boardroom| SessionId(boardroom.id));
    let command = room::Command::Boardroom(Command::Import { from, events });
    let opened = app.engine.open(by, command).await?;
    created(&app, &opened).await
}
