//! Which model somebody means: by its name, by a tier, or whichever is there.

use plenary_domain::agent::Tier;
use plenary_domain::{ModelName, models};
use plenary_engine::ports::{ProviderReport, ProviderState};

use super::available;
use crate::App;
use crate::error::{Code, Problem};
use crate::tiers;

/// Looks names up, and asks the providers at most once.
pub(crate) struct Names<'a> {
    app: &'a App,
    catalog: Option<(Vec<ProviderReport>, Vec<ModelName>)>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(app: &'a App) -> Self {
        Names { app, catalog: None }
    }

    /// Whether the providers have been asked.
    pub(crate) fn listed(&self) -> bool {
        self.catalog.is_some()
    }

    pub(crate) async fn one(&mut self, field: &str, written: &str) -> Result<ModelName, Problem> {
        let found = self.find(written).await;
        found.map_err(|problem| Problem::invalid([(field.to_owned(), problem)]))
    }

    pub(crate) async fn find(&mut self, written: &str) -> Result<ModelName, String> {
        let providers = self.app.engine.models().providers();
        if let Ok(full) = models::resolve(written, &providers, &[]) {
            return Ok(full);
        }
        let (_, available) = self.catalog().await;
        models::resolve(written, &providers, available)
    }

    /// The model that a tier means now: the one that was set, else the one whose name
    /// fits best.
    pub(crate) async fn tier(&mut self, tier: Tier) -> Result<ModelName, Problem> {
        let Some(written) = self.app.tiers.of(tier).map(str::to_owned) else {
            let available = self.available().await?;
            let found = models::of_tier(tier, available).or(available.first());
            return found.cloned().ok_or_else(|| no_model(&[]));
        };
        self.find(&written).await.map_err(|problem| {
            let setting = tiers::setting(tier);
            // What `resolve` says may be a question already.
            let end = if problem.ends_with('?') { "" } else { "." };
            let message = format!("The tier `{}` cannot be used: {problem}{end}", tier.name());
            Problem::new(Code::NoModel, message).hint(format!(
                "Mend {setting}, or take it away: then a model is chosen by its name."
            ))
        })
    }

    /// Whichever is there; those who ask from different places are spread over all.
    pub(crate) async fn any(&mut self, place: usize) -> Result<ModelName, Problem> {
        let all = self.available().await?;
        all.iter().cycle().nth(place % all.len().max(1)).cloned().ok_or_else(|| no_model(&[]))
    }

    /// At least one model, or what to do to get one.
    pub(crate) async fn available(&mut self) -> Result<&[ModelName], Problem> {
        let (catalog, available) = self.catalog().await;
        if available.is_empty() { Err(no_model(catalog)) } else { Ok(available) }
    }

    async fn catalog(&mut self) -> &(Vec<ProviderReport>, Vec<ModelName>) {
        if self.catalog.is_none() {
            let catalog = self.app.engine.models().catalog().await;
            let available = available(&catalog);
            self.catalog = Some((catalog, available));
        }
        self.catalog.get_or_insert_default()
    }
}

fn no_model(catalog: &[ProviderReport]) -> Problem {
    let whys: Vec<String> = catalog
        .iter()
        .filter_map(|provider| match &provider.state {
            ProviderState::Unusable { problem, .. } => {
                Some(format!("{}: {problem}", provider.name))
            }
            ProviderState::Ready { .. } => None,
        })
        .collect();
    let message = match whys.is_empty() {
        true => "No model can be reached.".to_owned(),
        false => format!("No model can be reached. {}", whys.join(" ")),
    };
    Problem::new(Code::NoModel, message).hint(
        "Start Ollama and pull a model, or set OPENAI_API_KEY, ANTHROPIC_API_KEY, \
         GEMINI_API_KEY or OPENROUTER_API_KEY. `plenary doctor` says more.",
    )
}
