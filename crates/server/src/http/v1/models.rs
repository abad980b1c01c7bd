//! What can be asked: boards, and the models behind them.

use axum::Json;
use axum::extract::State;
use plenary_clerk::conversations::{self, Offer, PROVIDER};
use serde::Serialize;
use utoipa::ToSchema;

use super::problem::Faults;
use crate::App;
use crate::error::{Code, Problem};
use crate::http::routes::{Routes, routes};
use crate::idempotency::Path;

pub fn routes() -> Routes {
    Routes::new().routes(routes!(list)).routes(routes!(get))
}

#[derive(Serialize, ToSchema)]
pub struct OpenAiModels {
    object: &'static str,
    data: Vec<OpenAiModel>,
}

#[derive(Serialize, ToSchema)]
pub struct OpenAiModel {
    /// `plenary/…` for a board, `provider/model` for a model.
    id: String,
    object: &'static str,
    /// Nobody says when a model was made.
    created: u64,
    owned_by: String,
    /// What people call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    name: Option<String>,
}

impl From<Offer> for OpenAiModel {
    fn from(offer: Offer) -> Self {
        let id = offer.id();
        let (owned_by, name) = match offer {
            Offer::Board { name, .. } => (PROVIDER.to_owned(), Some(name)),
            Offer::Model(model) => (model.parts().0.to_owned(), None),
        };
        OpenAiModel { id, object: "model", created: 0, owned_by, name }
    }
}

/// Boards, then the models behind them.
#[utoipa::path(get, path = "/v1/models", tag = "v1",
    responses((status = 200, body = OpenAiModels), Faults))]
async fn list(State(app): State<App>) -> Result<Json<OpenAiModels>, Problem> {
    let data = conversations::offers(&app.clerk).await?.into_iter().map(OpenAiModel::from);
    Ok(Json(OpenAiModels { object: "list", data: data.collect() }))
}

/// One of them. Its id holds a slash.
#[utoipa::path(get, path = "/v1/models/{*model}", tag = "v1",
    params(("model" = String, Path, description = "The id of a board or a model.")),
    responses((status = 200, body = OpenAiModel), Faults))]
async fn get(State(app): State<App>, Path(id): Path<String>) -> Result<Json<OpenAiModel>, Problem> {
    let found = conversations::offer(&app.clerk, &id).await?;
    let offer = found.map_err(|why| {
        Problem::new(Code::NotFound, format!("There is no such model: {why}.")).field("model", why)
    })?;
    Ok(Json(offer.into()))
}
