//! Which models can be used now.

use axum::extract::State;
use axum::response::IntoResponse;
use plenary_clerk::agents::TierName;
use plenary_clerk::mirror;
use plenary_clerk::models;
use plenary_domain::{Quote, Source, Timestamp};
use plenary_engine::ports::{ProviderReport, ProviderState, Window};
use serde::{Deserialize, Serialize};
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
    /// Takes its turn on seats for which nobody names a model.
    automatic: bool,
    /// How much it takes, where somebody says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    window: Option<WindowView>,
    /// What it costs, where somebody says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    price: Option<PriceView>,
}

mirror! {
    /// Who says it: the operator's settings go before the provider, and that before a list
    /// that was imported. What is embedded runs inside the program.
    #[serde(rename_all = "camelCase")]
    #[schema(as = KnownFrom)]
    SourceName = Source { Settings, Embedded, Provider, Import }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ModelWindow)]
pub struct WindowView {
    /// Prompt and answer together.
    tokens: u32,
    source: SourceName,
    /// The day on which it was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = Date)]
    said_on: Option<String>,
}

/// For a million tokens.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ModelPrice)]
pub struct PriceView {
    input: f64,
    output: f64,
    /// Of tokens that the provider had in its cache; they cost like others without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cached: Option<f64>,
    currency: String,
    source: SourceName,
    /// The day on which it was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = Date)]
    said_on: Option<String>,
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

/// Every model that can be used now, with what is known of it and who says so.
#[utoipa::path(get, path = "/api/models", tag = "models",
    responses((status = 200, body = Reply<Vec<ModelView>>), ReadProblems))]
async fn models(State(app): State<App>) -> impl IntoResponse {
    let window = |window: Window| WindowView {
        tokens: window.tokens,
        source: window.source.into(),
        said_on: window.said_at.map(date),
    };
    let price = |Quote { price, source, said_at }: Quote| PriceView {
        input: price.input,
        output: price.output,
        cached: price.cached,
        currency: app.clerk.prices.now().currency.clone(),
        source: source.into(),
        said_on: said_at.map(date),
    };
    let views = models::described(&app.clerk).await.into_iter().map(|model| ModelView {
        provider: model.name.parts().0.to_owned(),
        automatic: model.is_usual,
        name: model.name.0,
        window: model.window.map(window),
        price: model.quote.map(price),
    });
    reply(views.collect::<Vec<_>>())
}

/// A day, in UTC.
fn date(at: Timestamp) -> String {
    at.strftime("%F").to_string()
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
        let configured = app.clerk.tiers.now().of(tier).is_some();
        TierView { tier: tier.into(), model, configured, problem, hint }
    });
    reply(views.collect::<Vec<_>>())
}

impl From<ProviderReport> for ProviderView {
    fn from(report: ProviderReport) -> Self {
        let (ready, models, problem, hint) = match report.state {
            ProviderState::Ready { models } => (true, models, None, None),
            ProviderState::Unusable { problem, hint, .. } => {
                (false, vec![], Some(problem), Some(hint))
            }
        };
        let (name, kind, place, note) = (report.name, report.kind, report.place, report.note);
        ProviderView { name, kind, place, ready, models, problem, hint, note }
    }
}
