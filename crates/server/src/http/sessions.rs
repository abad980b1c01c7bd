//! Sessions of every form.

use axum::extract::State;
use axum::response::IntoResponse;
use plenary_domain::limits;
use plenary_engine::ports::ListQuery;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::session_id;
use crate::App;
use crate::error::{Code, Problem, ReadProblems};
use crate::idempotency::{Path, Query};
use crate::views::{Reply, SessionView, page, reply};

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(get))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Filter {
    /// Only this form.
    #[param(nullable = false)]
    pub kind: Option<String>,
    /// Only what belongs to this project.
    #[param(nullable = false)]
    pub project: Option<String>,
    #[param(nullable = false)]
    pub status: Option<String>,
    /// Only what runs, or only what does not.
    #[param(nullable = false)]
    pub active: Option<bool>,
    /// Full-text search: every word must occur, the last one may be a beginning.
    #[param(nullable = false)]
    pub q: Option<String>,
    /// Rows of a page.
    #[param(minimum = 1, maximum = 200, nullable = false)]
    pub limit: Option<u32>,
    /// `meta.next` of the page before.
    #[param(format = "uuid", nullable = false)]
    pub cursor: Option<String>,
}

/// Everything, newest first, with full-text search.
#[utoipa::path(get, path = "/api/sessions", tag = "sessions", params(Filter),
    responses((status = 200, body = Reply<Vec<SessionView>>), ReadProblems))]
async fn list(
    State(app): State<App>,
    Query(filter): Query<Filter>,
) -> Result<impl IntoResponse, Problem> {
    show(&app, filter).await
}

pub async fn show(app: &App, filter: Filter) -> Result<impl IntoResponse + use<>, Problem> {
    let limit = filter.limit.unwrap_or(limits::PAGE);
    if limit == 0 || limit > limits::PAGE_MOST {
        let most = limits::PAGE_MOST;
        let problem = format!("`limit` must be from 1 to {most}.");
        return Err(Problem::new(Code::InvalidQuery, problem));
    }
    let cursor = filter.cursor.as_ref().map(|cursor| cursor.parse()).transpose();
    let before = cursor.map_err(|_| {
        Problem::new(Code::InvalidQuery, "`cursor` must be `meta.next` of an earlier page.")
    })?;
    let Filter { kind, project, status, active, q: words, .. } = filter;
    let query = ListQuery { kind, project, status, active, words, limit, before };
    let found = app.engine.list(query).await?;
    let rows: Vec<SessionView> = found.rows.into_iter().map(SessionView::from).collect();
    Ok(page(rows, found.total, limit, found.next.map(|id| id.to_string())))
}

/// What the list knows about one session.
#[utoipa::path(get, path = "/api/sessions/{id}", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The session.")),
    responses((status = 200, body = Reply<SessionView>), ReadProblems))]
async fn get(State(app): State<App>, Path(id): Path<String>) -> Result<impl IntoResponse, Problem> {
    let row = app.engine.row(session_id(&id)?).await?;
    Ok(reply(SessionView::from(row)))
}

/// A command without arguments.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Empty {}
