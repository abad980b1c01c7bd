//! Saved boards: list, add, copy, edit, remove, export, import.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use plenary_clerk::boards::{self, BoardChanges, BoardImport, FileFormat, NewSavedBoard};
use plenary_domain::board::Board;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::document;
use super::routes::{Routes, routes};
use super::sessions::Empty;
use crate::App;
use crate::error::{Problem, ReadProblems, WriteProblems};
use crate::idempotency::{Change, Key, On, Path, Query};
use crate::views::boards::SavedBoardView;
use crate::views::{Nothing, Reply, reply};

pub fn routes() -> Routes {
    Routes::new()
        .routes(routes!(list, add))
        .routes(routes!(import))
        .routes(routes!(get, edit, remove))
        .routes(routes!(export))
}

/// Boards that can be convened: built-in ones first, then by name.
#[utoipa::path(get, path = "/api/boards", tag = "boards",
    responses((status = 200, body = Reply<Vec<SavedBoardView>>), ReadProblems))]
async fn list(State(app): State<App>) -> Result<impl IntoResponse, Problem> {
    let boards = boards::all(&app.clerk).await?;
    let views: Vec<SavedBoardView> =
        boards.iter().map(|board| SavedBoardView::new(board, None)).collect();
    Ok(reply(views))
}

/// One board, by its name, with what it needs that is not here.
#[utoipa::path(get, path = "/api/boards/{name}", tag = "boards",
    params(("name" = String, Path, description = "The board's name.")),
    responses((status = 200, body = Reply<SavedBoardView>), ReadProblems))]
async fn get(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<impl IntoResponse, Problem> {
    let board = boards::find(&app.clerk, &name).await?;
    Ok(reply(whole(&app, &board).await?))
}

/// Saves a board, or a copy of one.
#[utoipa::path(post, path = "/api/boards", tag = "boards", params(Key),
    request_body = NewSavedBoard,
    responses((status = 201, body = Reply<SavedBoardView>), WriteProblems))]
async fn add(
    State(app): State<App>,
    Change { by, body }: Change<NewSavedBoard>,
) -> Result<impl IntoResponse, Problem> {
    let board = boards::add(&app.clerk, by, body).await?;
    created(&app, &board).await
}

/// Saves a board from the text of its file. Every fault of the file is named.
#[utoipa::path(post, path = "/api/boards/import", tag = "boards", params(Key),
    request_body = BoardImport,
    responses((status = 201, body = Reply<SavedBoardView>), WriteProblems))]
async fn import(
    State(app): State<App>,
    Change { by, body }: Change<BoardImport>,
) -> Result<impl IntoResponse, Problem> {
    let board = boards::import(&app.clerk, by, body).await?;
    created(&app, &board).await
}

async fn created(app: &App, board: &Board) -> Result<impl IntoResponse + use<>, Problem> {
    let place = [(header::LOCATION, format!("/api/boards/{}", board.name))];
    Ok((StatusCode::CREATED, place, reply(whole(app, board).await?)))
}

async fn whole(app: &App, board: &Board) -> Result<SavedBoardView, Problem> {
    let missing = boards::missing(&app.clerk, board).await?;
    Ok(SavedBoardView::new(board, Some(missing)))
}

/// Changes what is given and nothing else; `null` clears a field, and `seats` are given as
/// a whole. Built-in boards cannot be changed: make a copy. Sessions that were
/// convened from it stay as they are.
#[utoipa::path(patch, path = "/api/boards/{name}", tag = "boards",
    params(("name" = String, Path, description = "The board's name."), Key),
    request_body = BoardChanges,
    responses((status = 200, body = Reply<SavedBoardView>), WriteProblems))]
async fn edit(on: On<BoardChanges>) -> Result<impl IntoResponse, Problem> {
    let board = boards::edit(&on.app.clerk, on.at, on.by, on.body).await?;
    Ok(reply(whole(&on.app, &board).await?))
}

/// Removes a board. Sessions that were convened from it keep what it said.
#[utoipa::path(delete, path = "/api/boards/{name}", tag = "boards",
    params(("name" = String, Path, description = "The board's name."), Key),
    responses((status = 200, body = Reply<Nothing>), WriteProblems))]
async fn remove(on: On<Empty>) -> Result<impl IntoResponse, Problem> {
    boards::remove(&on.app.clerk, on.at, on.by).await?;
    Ok(reply(Nothing {}))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct BoardFileFormat {
    /// `toml` when absent.
    #[param(nullable = false, inline)]
    format: Option<BoardFileFormatName>,
}

#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum BoardFileFormatName {
    Toml,
    Json,
}

/// A board as one file to keep and review, with the agents that sit on it. It can be
/// imported, and asked from as it is.
#[utoipa::path(get, path = "/api/boards/{name}/export", tag = "boards",
    params(("name" = String, Path, description = "The board's name."), BoardFileFormat),
    responses(
        (status = 200, description = "The file.", content(
            (String = "application/toml"), (Object = "application/json"))),
        ReadProblems))]
async fn export(
    State(app): State<App>,
    Path(name): Path<String>,
    Query(query): Query<BoardFileFormat>,
) -> Result<Response, Problem> {
    let (format, kind, end) = match query.format.unwrap_or(BoardFileFormatName::Toml) {
        BoardFileFormatName::Toml => (FileFormat::Toml, "application/toml", "toml"),
        BoardFileFormatName::Json => (FileFormat::Json, "application/json", "json"),
    };
    let (name, text) = boards::export(&app.clerk, &name, format).await?;
    Ok(document(kind, &format!("{name}.{end}"), text))
}
