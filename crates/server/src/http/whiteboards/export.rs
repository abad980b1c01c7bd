//! A board's record: archived, as JSON, as a decision record.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use plenary_clerk::whiteboards::{self, BoardClosing, Move, PhaseName, board};
use plenary_domain::view::{self, Lens};
use plenary_domain::whiteboard;
use plenary_domain::{Event, SessionId, Timestamp, Viewer, limits};
use plenary_engine::Snapshot;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{asked, look};
use crate::App;
use crate::agents::{AgentHeader, Asking};
use crate::error::{Code, Problem, ReadProblems, WriteProblems};
use crate::http::boardrooms::export::{Format, FormatName};
use crate::http::{MARKDOWN, document, file_stem, json_document};
use crate::idempotency::{Key, On, Path, Query};
use crate::views::whiteboards::{self as views, Part, WhiteboardSummary, WhiteboardView};
use crate::views::{Reply, reply};

/// A board's record as the caller may see it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportedBoard {
    /// Always `plenary.whiteboard`.
    format: &'static str,
    format_version: u32,
    board: WhiteboardView,
    summary: WhiteboardSummary,
    events: Vec<SeenEvent>,
}

#[derive(Serialize, ToSchema)]
pub struct SeenEvent {
    /// Counts what the caller sees.
    number: u64,
    at: Timestamp,
    actor: String,
    /// An object with a `type`.
    #[schema(value_type = Object)]
    event: Value,
}

/// The end of a board.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Archived {
    board_id: String,
    session_id: uuid::Uuid,
    /// The final tally.
    summary: WhiteboardSummary,
    /// The decision record (MADR), in Markdown.
    record: String,
    /// The whole record as JSON; absent when it is large: `GET …/export` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    export: Option<ExportedBoard>,
    next: Vec<String>,
}

/// Archives a board that is in resolve: the final tally and its record. For
/// facilitators and operators. The same as moving it to `archived`.
#[utoipa::path(post, path = "/api/whiteboards/{board}/archive", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), AgentHeader, Key),
    request_body = BoardClosing,
    responses((status = 200, body = Reply<Archived>), WriteProblems))]
pub async fn archive(asking: Asking, on: On<BoardClosing>) -> Result<impl IntoResponse, Problem> {
    let caller = asked(&on.app, &on.at, asking, on.by).await?;
    let end = Move { target_phase: PhaseName::Archived, note: on.body.note };
    let (snapshot, viewer) = whiteboards::transition(&on.app.clerk, caller, end).await?;
    let exported = exported(&on.app, &snapshot, viewer.clone()).await?;
    let bytes: usize = exported.events.iter().map(|seen| seen.event.to_string().len()).sum();
    let seen = view::board(board(&snapshot)?, &viewer);
    Ok(reply(Archived {
        board_id: on.at,
        session_id: snapshot.id.0,
        summary: views::summary(&seen),
        record: whiteboard::madr(&seen),
        export: (bytes <= limits::ARCHIVE_BYTES).then_some(exported),
        next: seen.next,
    }))
}

/// A board's record as you see it: JSON, or Markdown as a decision record (MADR).
#[utoipa::path(get, path = "/api/whiteboards/{board}/export", tag = "whiteboards",
    params(("board" = String, Path, description = "The board's name."), Format, AgentHeader),
    responses(
        (status = 200, description = "The record.", content(
            (ExportedBoard = "application/json"), (String = "text/markdown"))),
        ReadProblems))]
pub async fn export(
    State(app): State<App>,
    Path(name): Path<String>,
    asking: Asking,
    Query(query): Query<Format>,
) -> Result<Response, Problem> {
    let (snapshot, viewer) = look(&app, &name, asking).await?;
    let file = file_stem(&app, &snapshot).await?;
    match query.format.unwrap_or(FormatName::Json) {
        FormatName::Markdown => {
            let record = whiteboard::madr(&view::board(board(&snapshot)?, &viewer));
            Ok(document(MARKDOWN, &format!("{file}.md"), record))
        }
        FormatName::Json => {
            json_document(&format!("{file}.json"), &exported(&app, &snapshot, viewer).await?)
        }
    }
}

async fn exported(
    app: &App,
    snapshot: &Snapshot,
    viewer: Viewer,
) -> Result<ExportedBoard, Problem> {
    let seen = view::board(board(snapshot)?, &viewer);
    let whole = Part { bodies: true, from: 0, limit: usize::MAX, since: None };
    let board = views::whiteboard(&app.clerk, snapshot.id, &seen, whole);
    let summary = views::summary(&seen);
    let events = seen_events(app, snapshot.id, viewer.clone()).await?;
    Ok(ExportedBoard { format: "plenary.whiteboard", format_version: 1, board, summary, events })
}

async fn seen_events(app: &App, id: SessionId, viewer: Viewer) -> Result<Vec<SeenEvent>, Problem> {
    let mut lens = Lens::new(viewer);
    let mut seen = vec![];
    for stored in app.engine.events(id).await? {
        let unreadable = |problem: String| Problem::new(Code::Internal, problem);
        let event = Event::decode(&stored.kind, &stored.payload).map_err(unreadable)?;
        for (number, stored) in lens.pass(event, stored) {
            let event = serde_json::from_str(&stored.payload)
                .map_err(|error| unreadable(error.to_string()))?;
            seen.push(SeenEvent { number, at: stored.at, actor: stored.actor, event });
        }
    }
    Ok(seen)
}
