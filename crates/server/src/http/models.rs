//! Which models can be used now.

use axum::extract::State;
use axum::response::IntoResponse;
use plenary_clerk::agents::TierName;
use plenary_clerk::models;
use plenary_domain::ModelName;
use plenary_engine::ports::{ProviderReport, ProviderState};
use serde::Serialize;
use utoipa::ToSchema;

use super::routes::{Routes, routes};
use crate::App;
use crate::error::ReadProblems;
use crate::views::{Reply, reply};

pub fn routes() -> Routes {
    Routes::new().routes(routes!(models)).routes(routes!(providers)).routes(routes!(tiers))
}

#[derive(Serialize, ToSchema)]
pub struct ModelView {
    /// `provider/model`, as other routes take it.
    name: String,
    provider: String,
}

#[derive(Serialize, ToSchema)]
pub struct ProviderView {
    name: String,
    kind: &'static str,
    /// Where it is looked for.
    place: String,
    ready: bool,
    models: Vec<String>,
    /// Why it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    problem: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    hint: Option<String>,
    /// What to know before relying on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    note: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct TierView {
    tier: TierName,
    /// The model that it means now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    model: Option<String>,
    /// Whether the model was set; otherwise it was chosen by its name.
    configured: bool,
    /// Why it means none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    problem: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    hint: Option<String>,
}

/// Every model that can be used now.
#[utoipa::path(get, path = "/api/models", tag = "models",
    responses((status = 200, body = Reply<Vec<ModelView>>), ReadProblems))]
async fn models(State(app): State<App>) -> impl IntoResponse {
    let view = |name: ModelName| ModelView { provider: name.parts().0.to_owned(), name: name.0 };
    reply(models::all(&app.clerk).await.into_iter().map(view).collect::<Vec<_>>())
}

/// The providers that were looked for, and why some cannot be used.
#[utoipa::path(get, path = "/api/providers", tag = "models",
    responses((status = 200, body = Reply<Vec<ProviderView>>), ReadProblems))]
async fn providers(State(app): State<App>) -> impl IntoResponse {
    let catalog = app.engine.models().catalog().await;
    reply(catalog.into_iter().map(ProviderView::from).collect::<Vec<_>>())
}

/// The model that each tier means now.
#[utoipa::path(get, path = "/api/tiers", tag = "models",
    responses((status = 200, body = Reply<Vec<TierView>>), ReadProblems))]
async fn tiers(State(app): State<App>) -> impl IntoResponse {
    let found = models::of_tiers(&app.clerk).await.into_iter();
    let views = found.map(|(tier, found)| {
        let (model, problem, hint) = match found {
            Ok(model) => (Some(model.0), None, None),
            Err(none) => (None, Some(none.problem), Some(none.remedy)),
        };
        let configured = app.clerk.tiers.of(tier).is_some();
        TierView { tier: tier.into(), model, configured, problem, hint }
    });
    reply(views.collect::<Vec<_>>())
}

impl From<ProviderReport> for ProviderView {
    fn from(report: ProviderReport) -> Self {
        let (ready, models, problem, hint) = match report.state {
            ProviderState::Ready { models } => (true, models, None, None),
            ProviderState::Unusable { problem, hint } => (false, vec![], Some(problem), Some(hint)),
        };
        let (name, kind, place, note) = (report.name, report.kind, report.place, report.note);
        ProviderView { name, kind, place, ready, models, problem, hint, note }
    }
}
