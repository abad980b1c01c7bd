//! What the operator sets while the program runs: keys, tiers, prices, and models that are
//! pulled. Whoever keeps it is behind a port; who may is said here.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use futures::future::BoxFuture;
use plenary_domain::{Reject, limits};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::agents::not_null;
use crate::identity::Standing;
use crate::{Clerk, ClerkError, Prices, Result, Tiers};

/// What may be set anew while others read it.
pub struct Live<T>(RwLock<Arc<T>>);

impl<T> Live<T> {
    pub fn now(&self) -> Arc<T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, new: T) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
    }
}

impl<T> From<T> for Live<T> {
    fn from(value: T) -> Self {
        Live(RwLock::new(Arc::new(value)))
    }
}

/// Keeps settings, and brings models.
pub trait Settings: Send + Sync {
    fn shown(&self) -> Result<Shown, Refusal>;
    /// A key of a provider, or none any more.
    fn key(&self, provider: &str, key: Option<&str>) -> Result<Counts, Refusal>;
    fn tiers(&self, tiers: NewTiers) -> Result<Counts, Refusal>;
    fn prices(&self, prices: NewPrices) -> Result<Counts, Refusal>;
    /// What could be pulled, given what can be asked already.
    fn offers(&self, ready: Vec<String>) -> BoxFuture<'_, Offers>;
    fn pull(&self, new: NewPull) -> BoxFuture<'_, Result<Pull, Refusal>>;
    /// Those that run, and those that have ended since the program began, the latest first.
    fn pulls(&self) -> Vec<Pull>;
    /// Ends one; what has come stays, and another one goes on from there.
    fn stop(&self, id: &str) -> Option<Pull>;
}

/// What counts from now on.
pub struct Counts {
    pub tiers: Tiers,
    pub prices: Prices,
}

/// Why something could not be set.
#[derive(Debug)]
pub enum Refusal {
    Wrong {
        field: &'static str,
        problem: String,
    },
    /// There is nothing of this name.
    Unknown(String),
    /// It could not be kept.
    Failed(String),
}

impl From<Refusal> for ClerkError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Wrong { field, problem } => ClerkError::wrong(field, problem),
            Refusal::Unknown(what) => ClerkError::Refused(Reject::Unknown(what)),
            Refusal::Failed(problem) => ClerkError::NotKept(problem),
        }
    }
}

/// What is set. Keys are never shown.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = Settings)]
pub struct Shown {
    pub keys: Vec<KeyShown>,
    pub tiers: TiersShown,
    /// Of the prices.
    pub currency: String,
    /// For a million tokens, by `provider/model`, as they were set while it ran.
    pub prices: BTreeMap<String, NewPrice>,
}

/// A provider that takes a key.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = ProviderKey)]
pub struct KeyShown {
    pub provider: String,
    /// The environment variable that is looked at first.
    pub variable: String,
    /// Where its key comes from. `environment` goes before what is set here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub from: Option<KeptIn>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum KeptIn {
    /// A variable or a file of the operator.
    Environment,
    /// Set while the program ran, and kept in the data folder.
    Settings,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, ToSchema)]
#[schema(as = TierSettings)]
pub struct TiersShown {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub fast: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub balanced: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub strong: Option<String>,
}

/// A key, which is kept and never shown again.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewKey {
    #[schema(min_length = 1, max_length = 4096)]
    pub key: String,
}

/// Models for the tiers. What is left out is chosen by its name.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTiers {
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, min_length = 1, max_length = 300)]
    pub fast: Option<String>,
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, min_length = 1, max_length = 300)]
    pub balanced: Option<String>,
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, min_length = 1, max_length = 300)]
    pub strong: Option<String>,
}

/// Prices, in place of those that were set before.
#[derive(Clone, Default, PartialEq, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPrices {
    /// By `provider/model`.
    pub prices: BTreeMap<String, NewPrice>,
}

/// For a million tokens.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPrice {
    #[schema(minimum = 0)]
    pub input: f64,
    #[schema(minimum = 0)]
    pub output: f64,
    /// Of tokens that the provider had in its cache; they cost like others without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 0)]
    pub cached: Option<f64>,
}

/// What a machine could use: what it has, and what suits it.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Offers {
    /// This program can run models itself.
    pub engine: bool,
    pub machine: MachineShown,
    /// Files that other tools have brought onto this machine, from small to large.
    pub found: Vec<FoundModel>,
    /// What can be downloaded by its name, from small to large.
    pub downloads: Vec<Download>,
    pub suggestion: Suggestion,
}

#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Machine)]
pub struct MachineShown {
    pub memory_bytes: u64,
    /// Free where models are kept.
    pub disk_bytes: u64,
    pub cores: usize,
}

#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
pub struct FoundModel {
    /// As a pull takes it, and what it would be called: `local/NAME`.
    pub name: String,
    pub bytes: u64,
    /// Who has brought it: `LM Studio`.
    pub by: String,
}

#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Download {
    /// As a pull takes it.
    pub name: String,
    /// About how much there is to load.
    pub bytes: u64,
    pub licence: String,
    pub good_for: String,
    /// Whether memory and disk have room for it.
    pub fits: bool,
}

/// What to begin with, and why.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    pub kind: SuggestionKind,
    /// `ready`: a model as `provider/model`. `found`, `download` and `small`: as a pull takes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub model: Option<String>,
    /// A sentence for a person.
    pub message: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum SuggestionKind {
    Ready,
    Found,
    Download,
    Small,
    /// Nothing can be run here; a provider has to be connected.
    Connect,
}

/// A model to be pulled: a name of the offers, or `hf:ORG/REPO[@REVISION][:QUANTIZATION]`.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPull {
    #[schema(min_length = 1, max_length = 300)]
    pub model: String,
}

#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pull {
    pub id: String,
    /// As it was asked for.
    pub model: String,
    pub state: PullState,
    pub bytes: u64,
    /// Of all, once that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub total_bytes: Option<u64>,
    /// When it is done: under which name it can be asked, as `local/NAME`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub name: Option<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub problem: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub hint: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum PullState {
    Running,
    Done,
    Failed,
    Stopped,
}

const WHAT: &str = "see and change its settings";

fn port<'a>(clerk: &'a Clerk, standing: &Standing) -> Result<&'a dyn Settings> {
    standing.operates(WHAT)?;
    let none = || Reject::Forbidden("This server's settings cannot be changed.".to_owned());
    clerk.settings.as_deref().ok_or_else(|| none().into())
}

pub fn show(clerk: &Clerk, standing: &Standing) -> Result<Shown> {
    Ok(port(clerk, standing)?.shown()?)
}

pub fn set_key(
    clerk: &Clerk,
    standing: &Standing,
    provider: &str,
    key: Option<&str>,
) -> Result<Shown> {
    let port = port(clerk, standing)?;
    if let Some(problem) = key.and_then(wrong_key) {
        return Err(ClerkError::wrong("key", problem));
    }
    counts(clerk, port.key(provider, key)?);
    Ok(port.shown()?)
}

/// A key is one word. The problem never repeats it.
fn wrong_key(key: &str) -> Option<String> {
    let key = key.trim();
    let most = limits::KEY_BYTES;
    if key.is_empty() {
        return Some("must not be empty".to_owned());
    }
    if key.len() > most {
        return Some(format!("has more than {most} bytes"));
    }
    let is_word = key.bytes().all(|byte| byte.is_ascii_graphic());
    (!is_word).then(|| "contains characters that no key has; copy it again".to_owned())
}

pub fn set_tiers(clerk: &Clerk, standing: &Standing, new: NewTiers) -> Result<Shown> {
    let port = port(clerk, standing)?;
    for (field, model) in
        [("fast", &new.fast), ("balanced", &new.balanced), ("strong", &new.strong)]
    {
        let fits = |model: &String| {
            !model.trim().is_empty() && model.chars().count() <= limits::TIER_MODEL_CHARS
        };
        if model.as_ref().is_some_and(|model| !fits(model)) {
            let most = limits::TIER_MODEL_CHARS;
            let problem = format!("name a model in up to {most} characters, or leave it out");
            return Err(ClerkError::wrong(field, problem));
        }
    }
    counts(clerk, port.tiers(new)?);
    Ok(port.shown()?)
}

pub fn set_prices(clerk: &Clerk, standing: &Standing, new: NewPrices) -> Result<Shown> {
    let port = port(clerk, standing)?;
    counts(clerk, port.prices(new)?);
    Ok(port.shown()?)
}

fn counts(clerk: &Clerk, Counts { tiers, prices }: Counts) {
    clerk.tiers.set(tiers);
    clerk.prices.set(prices);
}

pub async fn offers(clerk: &Clerk, standing: &Standing) -> Result<Offers> {
    let port = port(clerk, standing)?;
    let ready = crate::models::described(clerk).await.into_iter().map(|model| model.name.0);
    Ok(port.offers(ready.collect()).await)
}

pub async fn pull(clerk: &Clerk, standing: &Standing, new: NewPull) -> Result<Pull> {
    Ok(port(clerk, standing)?.pull(new).await?)
}

pub fn pulls(clerk: &Clerk, standing: &Standing) -> Result<Vec<Pull>> {
    Ok(port(clerk, standing)?.pulls())
}

pub fn one_pull(clerk: &Clerk, standing: &Standing, id: &str) -> Result<Pull> {
    let all = pulls(clerk, standing)?;
    all.into_iter().find(|pull| pull.id == id).ok_or_else(|| no_pull(id))
}

pub fn stop_pull(clerk: &Clerk, standing: &Standing, id: &str) -> Result<Pull> {
    port(clerk, standing)?.stop(id).ok_or_else(|| no_pull(id))
}

fn no_pull(id: &str) -> ClerkError {
    Reject::Unknown(format!("There is no download {id}.")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_word() {
        assert_eq!(wrong_key("sk-abc_123"), None);
        assert_eq!(wrong_key(" sk \n").map(|_| ()), None);
        for wrong in ["", "  ", "two words", "line\nbreak", "schlüssel", &"x".repeat(5_000)] {
            let problem = wrong_key(wrong).unwrap();
            assert!(wrong.trim().is_empty() || !problem.contains(wrong), "{problem}");
        }
    }
}
