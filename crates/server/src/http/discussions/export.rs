//! A discussion as a document.

use axum::extract::State;
use axum::response::Response;
use plenary_clerk::discussions;
use plenary_domain::{Timestamp, discussion};
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;
use crate::error::{Problem, ReadProblems};
use crate::http::boardrooms::export::{ExportedEvent, Format, FormatName, exported};
use crate::http::{MARKDOWN, document, file_stem, json_document, session_id};
use crate::idempotency::{Path, Query};
use crate::views::discussions::{DiscussionView, EntryView};

/// A discussion's whole record. `discussion` and `transcript` are for reading,
/// `events` is the log.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportedDiscussion {
    /// Always `plenary.discussion`.
    format: &'static str,
    format_version: u32,
    exported_at: Timestamp,
    discussion: DiscussionView,
    transcript: Vec<EntryView>,
    events: Vec<ExportedEvent>,
}

/// A discussion as JSON, or as Markdown to read.
#[utoipa::path(get, path = "/api/discussions/{id}/export", tag = "discussions",
    params(("id" = uuid::Uuid, Path, description = "The discussion."), Format),
    responses(
        (status = 200, description = "The record.", content(
            (ExportedDiscussion = "application/json"), (String = "text/markdown"))),
        ReadProblems))]
pub async fn export(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<Format>,
) -> Result<Response, Problem> {
    let id = session_id(&id)?;
    let snapshot = app.engine.get(id).await?;
    let state = discussions::state(&snapshot)?;
    let file = file_stem(&app, &snapshot).await?;
    match query.format.unwrap_or(FormatName::Json) {
        FormatName::Markdown => {
            Ok(document(MARKDOWN, &format!("{file}.md"), discussion::markdown(state)))
        }
        FormatName::Json => {
            let transcript = state.transcript.iter();
            let exported = ExportedDiscussion {
                format: "plenary.discussion",
                format_version: 1,
                exported_at: app.engine.clock().now(),
                discussion: super::view(&app, &snapshot)?,
                transcript: transcript
                    .map(|entry| EntryView::new(state, entry, &app.clerk))
                    .collect(),
                events: app.engine.events(id).await?.into_iter().map(exported).collect(),
            };
            json_document(&format!("{file}.json"), &exported)
        }
    }
}
