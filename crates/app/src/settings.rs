//! What the operator sets while the program runs: where it is kept, and how models are pulled
//! beside everything else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use plenary_domain::{ModelName, limits};
use plenary_providers::{Found, has_local, key_variables};
use plenary_server::settings::{
    Counts, Download, FoundModel, KeptIn, KeyShown, MachineShown, NewPrice, NewPrices, NewPull,
    NewTiers, Offers, Pull, PullState, Refusal, Settings, Shown, Suggestion, SuggestionKind,
    TiersShown,
};
use serde::{Deserialize, Serialize};
use tokio::task::AbortHandle;

use crate::choice::{self, Choice};
use crate::config::Config;
use crate::current::Current;
use crate::offers::{OFFERS, Offer};
use crate::private::Private;
use crate::pulling::{self, Target};
use crate::weights;

const FILE: &str = "settings.json";
/// Pulls that are told of after they have ended.
const TOLD: usize = 20;

/// What was set, as it is kept.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Kept {
    /// By the environment variable in which it is looked for first.
    pub keys: BTreeMap<String, String>,
    pub tiers: NewTiers,
    /// By `provider/model`.
    pub prices: BTreeMap<String, NewPrice>,
}

impl Kept {
    pub fn read(home: &Path) -> Result<Kept, String> {
        let file = file(home);
        file.read().map_err(|trouble| format!("{} {trouble}", file.path().display()))
    }
}

fn file(home: &Path) -> Private {
    Private::new(home, FILE)
}

pub fn place(home: &Path) -> PathBuf {
    file(home).path().to_owned()
}

/// The operator's way to all of it.
pub struct Operator {
    home: PathBuf,
    current: Arc<Current>,
    pulls: Arc<Mutex<Vec<Running>>>,
}

struct Running {
    pull: Pull,
    task: Option<AbortHandle>,
}

impl Operator {
    pub fn new(home: &Path, current: Arc<Current>) -> Operator {
        Operator { home: home.to_owned(), current, pulls: Arc::default() }
    }

    fn config(&self) -> Result<Config, Refusal> {
        Config::load(&|name| std::env::var(name).ok()).map_err(Refusal::Failed)
    }

    /// Keeps a change, and lets it count.
    fn change(&self, change: impl FnOnce(&mut Kept)) -> Result<Counts, Refusal> {
        let file = file(&self.home);
        let failed = |problem: String| Refusal::Failed(problem);
        file.change(change)
            .map_err(|trouble| failed(format!("{} {trouble}.", file.path().display())))?;
        let config = self.current.renew().map_err(failed)?;
        Ok(Counts { tiers: config.tiers, prices: config.prices })
    }

    fn running(&self) -> MutexGuard<'_, Vec<Running>> {
        self.pulls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Settings for Operator {
    fn shown(&self) -> Result<Shown, Refusal> {
        let config = self.config()?;
        let kept = Kept::read(&self.home).map_err(Refusal::Failed)?;
        let keys = key_variables(&config.providers).into_iter().map(|(provider, variable)| {
            let set = std::env::var(&variable).is_ok_and(|key| !key.trim().is_empty());
            let from = match (set, kept.keys.contains_key(&variable)) {
                (true, _) => Some(KeptIn::Environment),
                (false, true) => Some(KeptIn::Settings),
                (false, false) => None,
            };
            KeyShown { provider, variable, from }
        });
        let tiers = config.tiers;
        Ok(Shown {
            keys: keys.collect(),
            tiers: TiersShown { fast: tiers.fast, balanced: tiers.balanced, strong: tiers.strong },
            currency: config.prices.currency,
            prices: kept.prices,
        })
    }

    fn key(&self, provider: &str, key: Option<&str>) -> Result<Counts, Refusal> {
        let all = key_variables(&self.config()?.providers);
        let Some((_, variable)) = all.iter().find(|(name, _)| name == provider) else {
            let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
            let names = names.join(", ");
            return Err(Refusal::Unknown(format!(
                "There is no provider {provider} that takes a key; available: {names}."
            )));
        };
        if key.is_some() && std::env::var(variable).is_ok_and(|set| !set.trim().is_empty()) {
            let problem = format!(
                "{variable} is set in the server's environment and takes precedence; unset it \
                 there first"
            );
            return Err(Refusal::Wrong { field: "key", problem });
        }
        self.change(|kept| match key {
            Some(key) => drop(kept.keys.insert(variable.clone(), key.trim().to_owned())),
            None => drop(kept.keys.remove(variable)),
        })
    }

    fn tiers(&self, tiers: NewTiers) -> Result<Counts, Refusal> {
        let before = Kept::read(&self.home).map_err(Refusal::Failed)?.tiers;
        let counts = self.change(|kept| kept.tiers = tiers.clone())?;
        let now = &counts.tiers;
        // What the file or a variable says goes before, and whoever sets another should know.
        for (field, wanted, now) in [
            ("fast", &tiers.fast, &now.fast),
            ("balanced", &tiers.balanced, &now.balanced),
            ("strong", &tiers.strong, &now.strong),
        ] {
            if let Some(now) = now.as_ref().filter(|_| wanted.is_some() && now != wanted) {
                let problem = format!(
                    "plenary.toml or a variable sets it to {now} and takes precedence; change it \
                     there"
                );
                self.change(|kept| kept.tiers = before)?;
                return Err(Refusal::Wrong { field, problem });
            }
        }
        Ok(counts)
    }

    fn prices(&self, NewPrices { prices }: NewPrices) -> Result<Counts, Refusal> {
        for (name, price) in &prices {
            let full = ModelName(name.clone());
            let (provider, model) = full.parts();
            if provider.is_empty() || model.is_empty() {
                let problem = format!("{name:?} is not a full name; write provider/model");
                return Err(Refusal::Wrong { field: "prices", problem });
            }
            let NewPrice { input, output, cached } = *price;
            let amounts = [Some(input), Some(output), cached];
            if amounts.into_iter().flatten().any(|money| !money.is_finite() || money < 0.0) {
                let problem = format!("{name}: write the price of a million tokens");
                return Err(Refusal::Wrong { field: "prices", problem });
            }
        }
        self.change(|kept| kept.prices = prices)
    }

    fn offers(&self, ready: Vec<String>) -> BoxFuture<'_, Offers> {
        let home = self.home.clone();
        // It reads folders and heads of files.
        let seen = tokio::task::spawn_blocking(move || pulling::seen(&home, ready));
        Box::pin(async move {
            let seen = seen.await.unwrap_or_else(|_| choice::Seen::nothing(pulling::machine()));
            let machine = seen.machine;
            let downloads = OFFERS.iter().map(|offer| Download {
                name: offer.name.to_owned(),
                bytes: offer.bytes(),
                licence: offer.licence.to_owned(),
                good_for: offer.good_for.to_owned(),
                fits: choice::fits(offer.bytes(), machine)
                    && choice::suits_disk(offer.bytes(), machine),
            });
            let small = Download {
                name: weights::NAME.to_owned(),
                bytes: weights::BYTES,
                licence: "Apache-2.0".to_owned(),
                good_for: weights::GOOD_FOR.to_owned(),
                fits: choice::suits_disk(weights::BYTES, machine),
            };
            let found = |found: &Found| FoundModel {
                name: found.name.clone(),
                bytes: found.bytes,
                by: found.by.to_owned(),
            };
            Offers {
                engine: has_local(),
                machine: MachineShown {
                    memory_bytes: machine.memory,
                    disk_bytes: machine.disk,
                    cores: machine.cores,
                },
                found: seen.found.iter().map(found).collect(),
                downloads: [small].into_iter().chain(downloads).collect(),
                suggestion: suggestion(&choice::choose(&seen), machine),
            }
        })
    }

    fn pull(&self, NewPull { model }: NewPull) -> BoxFuture<'_, Result<Pull, Refusal>> {
        Box::pin(async move {
            let home = self.home.clone();
            let found = tokio::task::spawn_blocking(move || pulling::found(&home)).await;
            let target = Target::meant(&model, &found.unwrap_or_default())
                .map_err(|problem| Refusal::Wrong { field: "model", problem })?;
            self.begin(model, target)
        })
    }

    fn pulls(&self) -> Vec<Pull> {
        self.running().iter().rev().map(|running| running.pull.clone()).collect()
    }

    fn stop(&self, id: &str) -> Option<Pull> {
        let mut all = self.running();
        let running = all.iter_mut().find(|running| running.pull.id == id)?;
        if let Some(task) = running.task.take() {
            task.abort();
            running.pull.state = PullState::Stopped;
        }
        Some(running.pull.clone())
    }
}

impl Operator {
    fn begin(&self, model: String, target: Target) -> Result<Pull, Refusal> {
        let mut all = self.running();
        let is_running = |running: &&Running| running.task.is_some();
        if let Some(same) = all.iter().filter(is_running).find(|one| one.pull.model == model) {
            return Ok(same.pull.clone());
        }
        if all.iter().filter(is_running).count() >= limits::PULLS {
            let problem = format!(
                "{} models are being downloaded already; wait for one to finish",
                limits::PULLS
            );
            return Err(Refusal::Wrong { field: "model", problem });
        }
        let id = uuid::Uuid::now_v7().simple().to_string();
        let pull = Pull {
            id: id.clone(),
            model,
            state: PullState::Running,
            bytes: 0,
            total_bytes: None,
            name: None,
            problem: None,
            hint: None,
        };
        let (home, current, pulls) = (self.home.clone(), self.current.clone(), self.pulls.clone());
        let task = tokio::spawn(async move {
            let note = |change: &mut dyn FnMut(&mut Running)| {
                let mut all = pulls.lock().unwrap_or_else(PoisonError::into_inner);
                all.iter_mut().find(|one| one.pull.id == id).into_iter().for_each(change);
            };
            let mut tell = |bytes: u64, total: u64| {
                note(&mut |one| (one.pull.bytes, one.pull.total_bytes) = (bytes, Some(total)));
            };
            let brought = target.bring(&home, None, &mut tell).await;
            let brought = brought.and_then(|brought| {
                current.renew().map_err(pulling::Trouble::plain)?;
                Ok(brought)
            });
            note(&mut |one| {
                one.task = None;
                match &brought {
                    Ok(brought) => {
                        one.pull.state = PullState::Done;
                        one.pull.name = Some(format!("local/{}", brought.name));
                        one.pull.bytes = one.pull.total_bytes.unwrap_or(one.pull.bytes);
                    }
                    Err(trouble) => {
                        one.pull.state = PullState::Failed;
                        one.pull.problem = Some(trouble.message.clone());
                        one.pull.hint.clone_from(&trouble.hint);
                    }
                }
            });
        });
        let over = all.iter().filter(|running| running.task.is_none()).count();
        if over > TOLD
            && let Some(oldest) = all.iter().position(|running| running.task.is_none())
        {
            all.remove(oldest);
        }
        all.push(Running { pull: pull.clone(), task: Some(task.abort_handle()) });
        Ok(pull)
    }
}

fn suggestion(choice: &Choice, machine: choice::Machine) -> Suggestion {
    let (kind, model) = match choice {
        Choice::Ready(model) => (SuggestionKind::Ready, Some(model.clone())),
        Choice::Adopt(found) => (SuggestionKind::Found, Some(found.name.clone())),
        Choice::Download(Offer { name, .. }) => {
            (SuggestionKind::Download, Some((*name).to_owned()))
        }
        Choice::Small(_) => (SuggestionKind::Small, Some(weights::NAME.to_owned())),
        Choice::NoEngine => (SuggestionKind::Connect, None),
    };
    Suggestion { kind, model, message: choice.told(machine) }
}

/// The environment, and the keys that were set beside it.
pub fn with_kept<'a>(
    kept: &'a Kept,
    env: &'a dyn Fn(&str) -> Option<String>,
) -> impl Fn(&str) -> Option<String> + 'a {
    move |name| {
        let set = env(name).filter(|value| !value.trim().is_empty());
        set.or_else(|| kept.keys.get(name).cloned())
    }
}
