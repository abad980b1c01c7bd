//! Which model somebody means: by its name, by a tier, or whichever is there.

use std::collections::BTreeSet;

use plenary_domain::agent::Tier;
use plenary_domain::{ModelName, Quote, models};
use plenary_engine::ports::{ProviderReport, ProviderState, Window};

use crate::{Clerk, ClerkError, Result, tiers};

/// No model can be used: why, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoModel {
    pub problem: String,
    pub remedy: String,
}

/// All models that can be used now, in the catalog's order.
pub async fn all(clerk: &Clerk) -> Vec<ModelName> {
    available(&clerk.engine.models().catalog().await)
}

/// What is known of a model.
pub struct Described {
    pub name: ModelName,
    /// It is asked where nobody has named any.
    pub is_usual: bool,
    pub window: Option<Window>,
    pub quote: Option<Quote>,
}

/// The same, with what is known of each. Whoever looks at models waits a moment for that.
pub async fn described(clerk: &Clerk) -> Vec<Described> {
    let all = all(clerk).await;
    let usual: BTreeSet<ModelName> = models::usual(&all).into_iter().collect();
    let known = clerk.engine.models();
    known.learned().await;
    let described = |name: ModelName| Described {
        is_usual: usual.contains(&name),
        window: known.known(&name).window,
        quote: clerk.quote(&name),
        name,
    };
    all.into_iter().map(described).collect()
}

/// The model that each tier means now.
pub async fn of_tiers(clerk: &Clerk) -> Vec<(Tier, Result<ModelName, NoModel>)> {
    let mut names = Names::new(clerk);
    let mut all = vec![];
    for tier in Tier::ALL {
        all.push((tier, names.tier(tier).await));
    }
    all
}

/// A model that a person named, in full.
pub(crate) async fn named(clerk: &Clerk, written: Option<String>) -> Result<Option<ModelName>> {
    let Some(written) = written else { return Ok(None) };
    let found = Names::new(clerk).find(&written).await;
    found.map(Some).map_err(|problem| ClerkError::wrong("model", problem))
}

/// What somebody wrote in place of a model's name.
pub(crate) enum Meant {
    Model(ModelName),
    Tier(Tier),
}

/// Stands in where a name could not be found. Nothing is opened with it.
pub(crate) fn unknown() -> ModelName {
    ModelName::new("unknown", "unknown")
}

/// Looks names up, and asks the providers at most once.
pub(crate) struct Names<'a> {
    clerk: &'a Clerk,
    catalog: Option<(Vec<ProviderReport>, Vec<ModelName>)>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(clerk: &'a Clerk) -> Self {
        Names { clerk, catalog: None }
    }

    /// Whether the providers have been asked.
    pub(crate) fn listed(&self) -> bool {
        self.catalog.is_some()
    }

    /// The model of this name, or the one that a word for a tier means now.
    pub(crate) async fn find(&mut self, written: &str) -> Result<ModelName, String> {
        match self.meant(written).await? {
            Meant::Model(model) => Ok(model),
            Meant::Tier(tier) => self.tier(tier).await.map_err(|none| none.problem),
        }
    }

    pub(crate) async fn meant(&mut self, written: &str) -> Result<Meant, String> {
        match self.resolve(written).await {
            Ok(model) => Ok(Meant::Model(model)),
            Err(problem) => {
                let (_, available) = self.catalog().await;
                models::called_tier(written, available).map(Meant::Tier).ok_or(problem)
            }
        }
    }

    async fn resolve(&mut self, written: &str) -> Result<ModelName, String> {
        let providers = self.clerk.engine.models().providers();
        if let Ok(full) = models::resolve(written, &providers, &[]) {
            // Its window and its price are wanted before anything is opened with it.
            self.clerk.engine.models().meet(&full).await;
            let is_missing = self.clerk.engine.models().lacks(&full).await;
            if !is_missing {
                return Ok(full);
            }
            let (_, available) = self.catalog().await;
            return Err(models::missing(&full, available));
        }
        let (_, available) = self.catalog().await;
        models::resolve(written, &providers, available)
    }

    /// The model that a tier means now: the one that was set, else the one whose name
    /// fits best.
    pub(crate) async fn tier(&mut self, tier: Tier) -> Result<ModelName, NoModel> {
        let Some(written) = self.clerk.tiers.now().of(tier).map(str::to_owned) else {
            let available = self.available().await?;
            let found = models::of_tier(tier, &available).or(available.first());
            return found.cloned().ok_or_else(|| no_model(&[]));
        };
        self.resolve(&written).await.map_err(|problem| {
            let setting = tiers::setting(tier);
            // What `resolve` says may be a question already.
            let end = if problem.ends_with('?') { "" } else { "." };
            NoModel {
                problem: format!("The tier `{}` cannot be used: {problem}{end}", tier.name()),
                remedy: format!("Fix {setting}, or remove it: then a model is chosen by name."),
            }
        })
    }

    /// Whichever is there; those who ask from different places are spread over all.
    pub(crate) async fn any(&mut self, place: usize) -> Result<ModelName, NoModel> {
        let all = self.available().await?;
        all.iter().cycle().nth(place % all.len().max(1)).cloned().ok_or_else(|| no_model(&[]))
    }

    /// At least one model that may sit where nobody has named any, or what to do to get one.
    pub(crate) async fn available(&mut self) -> Result<Vec<ModelName>, NoModel> {
        let (catalog, available) = self.catalog().await;
        if available.is_empty() { Err(no_model(catalog)) } else { Ok(models::usual(available)) }
    }

    async fn catalog(&mut self) -> &(Vec<ProviderReport>, Vec<ModelName>) {
        if self.catalog.is_none() {
            let catalog = self.clerk.engine.models().catalog().await;
            let available = available(&catalog);
            self.catalog = Some((catalog, available));
        }
        self.catalog.get_or_insert_default()
    }
}

fn no_model(catalog: &[ProviderReport]) -> NoModel {
    let whys: Vec<String> = catalog
        .iter()
        .filter_map(|provider| match &provider.state {
            ProviderState::Unusable { problem, .. } => {
                Some(format!("{}: {problem}", provider.name))
            }
            ProviderState::Ready { .. } => None,
        })
        .collect();
    let problem = match whys.is_empty() {
        true => "No model is available.".to_owned(),
        false => format!("No model is available. {}", whys.join(" ")),
    };
    let remedy = "Start Ollama and pull a model, or set OPENAI_API_KEY, ANTHROPIC_API_KEY, \
                  GEMINI_API_KEY or OPENROUTER_API_KEY. `plenary doctor` says what is missing.";
    NoModel { problem, remedy: remedy.to_owned() }
}

/// All models of all providers that are ready, in the catalog's order.
fn available(catalog: &[ProviderReport]) -> Vec<ModelName> {
    let mut names = vec![];
    for provider in catalog {
        match &provider.state {
            ProviderState::Ready { models } => {
                names.extend(models.iter().map(|model| ModelName::new(&provider.name, model)));
            }
            ProviderState::Unusable { .. } => {}
        }
    }
    names
}
