//! The processes that work on one log.

use axum::extract::State;
use axum::response::IntoResponse;
use plenary_clerk::nodes::{self, NodeShown};

use super::routes::{Routes, routes};
use crate::App;
use crate::auth::Stands;
use crate::error::{Problem, ReadProblems};
use crate::views::{Reply, reply};

pub fn routes() -> Routes {
    Routes::new().routes(routes!(list))
}

/// The nodes that drive sessions, the oldest first: those that live, and those of the last
/// hour that ended without a word. For the operator of the server.
#[utoipa::path(get, path = "/api/nodes", tag = "nodes",
    responses((status = 200, body = Reply<Vec<NodeShown>>), ReadProblems))]
async fn list(
    State(app): State<App>,
    Stands(standing): Stands,
) -> Result<impl IntoResponse, Problem> {
    Ok(reply(nodes::list(&app.clerk, &standing).await?))
}
