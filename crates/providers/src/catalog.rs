//! What is there now, by provider, and for what is not, why not.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use plenary_domain::{FailureKind, ModelName, Timestamp, limits};
use plenary_engine::ports::{ModelError, ProviderReport, ProviderState};
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::command;
use crate::config::{Kind, ProviderConfig};
use crate::facts::{self, Book, Fact, Listed};
use crate::failure;
use crate::http::{self, Http};
use crate::openai;

/// A provider that failed is soon asked again: somebody may be starting it.
const FAILURE_FRESH: Duration = Duration::from_secs(2);

/// The last report of each provider, believed for a while. The lock also makes
/// callers who come together share one listing.
pub(crate) struct Catalog {
    slots: Vec<Mutex<Option<(Instant, ProviderReport)>>>,
    /// Whether each provider has been asked for what it says of its models.
    met: Vec<Mutex<Met>>,
    /// Whether each has ever listed its models.
    seen: Vec<AtomicBool>,
    book: Arc<Book>,
    /// What is asked for beside the lists.
    learning: std::sync::Mutex<JoinSet<()>>,
}

#[derive(Clone, Copy, Default)]
enum Met {
    #[default]
    Never,
    /// In vain.
    Tried(Instant),
    Known,
}

impl Catalog {
    pub(crate) fn new(providers: usize) -> Self {
        let slots = (0..providers).map(|_| Mutex::default()).collect();
        let met = (0..providers).map(|_| Mutex::default()).collect();
        let seen = (0..providers).map(|_| AtomicBool::default()).collect();
        Catalog { slots, met, seen, book: Arc::default(), learning: std::sync::Mutex::default() }
    }

    /// Asks a provider once what it says of its models. Whoever waits for that wants to ask
    /// one of them something, so that it must not take long, and it is no list to choose
    /// from.
    pub(crate) async fn meet(&self, place: usize, config: &Arc<ProviderConfig>, http: &Arc<Http>) {
        let Some(met) = self.met.get(place).filter(|_| tells(config)) else { return };
        let mut met = met.lock().await;
        let fresh = Duration::from_millis(limits::CATALOG_FRESH_MS);
        match *met {
            Met::Known => return,
            Met::Tried(at) if at.elapsed() < fresh => return,
            Met::Tried(_) | Met::Never => {}
        }
        if self.is_listed(place).await {
            *met = Met::Known;
            return;
        }
        let limit = Duration::from_millis(limits::LEARN_MS);
        *met = match timeout(limit, self.report(place, config, http)).await {
            Ok(ProviderReport { state: ProviderState::Ready { .. }, .. }) => {
                self.learned().await;
                Met::Known
            }
            Ok(ProviderReport { state: ProviderState::Unusable { .. }, .. }) | Err(_) => {
                Met::Tried(Instant::now())
            }
        };
    }

    async fn is_listed(&self, place: usize) -> bool {
        let Some(slot) = self.slots.get(place) else { return false };
        let slot = slot.lock().await;
        slot.as_ref().is_some_and(|(_, report)| matches!(report.state, ProviderState::Ready { .. }))
    }

    /// What the lists, and what they led to, have said of a model.
    pub(crate) fn said(
        &self,
        config: &ProviderConfig,
        model: &ModelName,
    ) -> Option<(Fact, Timestamp)> {
        self.book.of(config, model)
    }

    /// How often the lists, or what they led to, have said something.
    pub(crate) fn count(&self) -> u64 {
        self.book.count()
    }

    /// Until nothing is asked for any more beside the lists, but not for long.
    pub(crate) async fn learned(&self) {
        let mut learning = std::mem::take(&mut *self.learning());
        let all = async { while learning.join_next().await.is_some() {} };
        let _ = timeout(Duration::from_millis(limits::LEARN_MS), all).await;
        learning.detach_all();
    }

    fn learning(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.learning.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a list that is still believed, and that is whole, has no such model. Before
    /// that is said it is listed anew: the model may be there by now.
    pub(crate) async fn lacks(
        &self,
        place: usize,
        config: &Arc<ProviderConfig>,
        http: &Arc<Http>,
        model: &str,
    ) -> bool {
        let Some(slot) = self.slots.get(place).filter(|_| lists_all(config, model)) else {
            return false;
        };
        let has = |report: &ProviderReport| match &report.state {
            ProviderState::Ready { models } => {
                models.iter().any(|name| name == model || *name == format!("{model}:latest"))
            }
            ProviderState::Unusable { .. } => true,
        };
        let mut slot = slot.lock().await;
        let listed = slot.as_ref().filter(|(at, report)| at.elapsed() < believed(report));
        // Only where nobody has to be asked it is listed for this alone.
        if listed.map_or(config.kind != Kind::Local, |(_, report)| has(report)) {
            return false;
        }
        let report = self.report(place, config, http).await;
        let lacks = !has(&report);
        *slot = Some((Instant::now(), report));
        lacks
    }

    pub(crate) async fn reports(
        &self,
        configs: &[Arc<ProviderConfig>],
        http: &Arc<Http>,
    ) -> Vec<ProviderReport> {
        let pairs = self.slots.iter().zip(configs).enumerate();
        let reports = pairs.map(|(place, (slot, config))| async move {
            let mut slot = slot.lock().await;
            if let Some((at, report)) = &*slot
                && at.elapsed() < believed(report)
            {
                return report.clone();
            }
            let report = self.report(place, config, http).await;
            *slot = Some((Instant::now(), report.clone()));
            report
        });
        join_all(reports).await
    }

    async fn report(
        &self,
        place: usize,
        config: &Arc<ProviderConfig>,
        http: &Arc<Http>,
    ) -> ProviderReport {
        let (mut report, listed) = report(config, http).await;
        match (&mut report.state, self.seen.get(place)) {
            (ProviderState::Ready { .. }, Some(seen)) => seen.store(true, Relaxed),
            // Whoever was there before is perhaps being started again.
            (ProviderState::Unusable { passes, .. }, Some(seen)) => *passes |= seen.load(Relaxed),
            (_, None) => {}
        }
        self.book.note(&config.name, &listed);
        let more: Vec<Listed> = listed.into_iter().filter(|one| one.more).collect();
        if let Some(wire) = http::wire(config.kind).filter(|_| !more.is_empty()) {
            let (config, http, book) = (config.clone(), http.clone(), self.book.clone());
            let mut learning = self.learning();
            while learning.try_join_next().is_some() {}
            learning.spawn(async move {
                facts::learn(&config, (&http, wire), more, &book).await;
            });
        }
        report
    }
}

/// Whether a list of this provider can say more than names.
fn tells(config: &ProviderConfig) -> bool {
    match config.kind {
        Kind::Ollama | Kind::Anthropic | Kind::Gemini => config.models.is_none(),
        Kind::OpenAi => config.models.is_none() && config.vendor() != Some("openai"),
        Kind::Command | Kind::Local => false,
    }
}

/// Whether the provider answers for no other models than those that it lists. Others have
/// further names for their models, or pass any name on.
fn lists_all(config: &ProviderConfig, model: &str) -> bool {
    let is_plain = !model.contains([':', '@', '~']);
    match config.kind {
        Kind::Ollama => config.models.is_none(),
        Kind::Local => true,
        Kind::OpenAi => {
            config.models.is_none() && config.vendor() == Some("openrouter") && is_plain
        }
        Kind::Anthropic | Kind::Gemini | Kind::Command => false,
    }
}

fn believed(report: &ProviderReport) -> Duration {
    match report.state {
        ProviderState::Ready { .. } => Duration::from_millis(limits::CATALOG_FRESH_MS),
        ProviderState::Unusable { .. } => FAILURE_FRESH,
    }
}

async fn report(config: &ProviderConfig, http: &Http) -> (ProviderReport, Vec<Listed>) {
    let place = match (config.kind, &config.command) {
        (Kind::Local, _) => "this process".to_owned(),
        (_, Some(command)) => command.program.clone(),
        (_, None) => config.shown_url(),
    };
    let there = config.local.iter().filter(|model| model.path.is_file());
    let notes = there.filter_map(|model| model.note.clone());
    let (state, listed) = state(config, http).await;
    let report = ProviderReport {
        name: config.name.clone(),
        kind: config.kind.word(),
        place,
        state,
        note: notes.reduce(|all, note| format!("{all} {note}")),
    };
    (report, listed)
}

async fn state(config: &ProviderConfig, http: &Http) -> (ProviderState, Vec<Listed>) {
    if config.kind == Kind::Local {
        return (local_state(config), vec![]);
    }
    let Some(wire) = http::wire(config.kind) else {
        return (command::state(config), vec![]);
    };
    if let Some(models) = &config.models {
        return (ProviderState::Ready { models: models.clone() }, vec![]);
    }
    let limit = Duration::from_millis(limits::CATALOG_MS);
    let listed = timeout(limit, http.models(config, wire)).await;
    let listed = listed.unwrap_or_else(|_| {
        let seconds = limits::CATALOG_MS / 1000;
        let message = format!("{} did not list its models within {seconds} s.", config.name);
        Err(failure::retry(FailureKind::TimedOut, message))
    });
    let listed = listed.map(|mut all| {
        if config.vendor() == Some("openai") {
            all.retain(|one| openai::is_at_completions(&one.name));
        }
        all
    });
    let (problem, hint, passes) = match listed {
        Ok(listed) if !listed.is_empty() => {
            let models = listed.iter().map(|one| one.name.clone()).collect();
            return (ProviderState::Ready { models }, listed);
        }
        Ok(_) => (format!("{} has no models.", config.name), no_models_hint(config), false),
        Err(error) => (error.to_string(), hint(config, &error), passes(&error)),
    };
    (ProviderState::Unusable { problem, hint, passes }, vec![])
}

/// Somebody is there who may answer in a moment. Where nobody is, somebody has to do
/// something first.
fn passes(error: &ModelError) -> bool {
    match error {
        ModelError::Retry { kind, .. } => *kind != FailureKind::Unreachable,
        ModelError::Final { .. } => false,
    }
}

/// Which of its files are there, and whether they can be run here.
fn local_state(config: &ProviderConfig) -> ProviderState {
    let unusable = |problem: &str, hint: &str| ProviderState::Unusable {
        problem: problem.to_owned(),
        hint: hint.to_owned(),
        passes: false,
    };
    if !crate::has_local() {
        return unusable(
            "This program was built without the embedded model.",
            "Build it with `make build` on a machine with a C++ compiler, cmake and libclang.",
        );
    }
    if !crate::processor_fits() {
        return unusable(
            "The embedded model needs a processor with AVX2, FMA and F16C.",
            "Connect another provider.",
        );
    }
    let there = config.local.iter().filter(|model| model.path.is_file());
    let models: Vec<String> = there.map(|model| model.name.clone()).collect();
    match (models.is_empty(), config.local.first()) {
        (false, _) => ProviderState::Ready { models },
        (true, Some(model)) => ProviderState::Unusable {
            problem: format!("The weights of {} are not on this machine.", model.name),
            hint: format!(
                "Download a model with `plenary models pull`, or put the file at {}.",
                model.path.display()
            ),
            passes: false,
        },
        (true, None) => unusable(
            "No model file is named.",
            "Name one: [providers.local] models = { name = \"path.gguf\" }.",
        ),
    }
}

fn no_models_hint(config: &ProviderConfig) -> String {
    match config.kind {
        Kind::Ollama => "Get one, for example with `ollama pull llama3.2`.".to_owned(),
        Kind::OpenAi | Kind::Anthropic | Kind::Gemini | Kind::Command | Kind::Local => {
            format!("Name them in plenary.toml: [providers.{}] models = [\"…\"].", config.name)
        }
    }
}

fn hint(config: &ProviderConfig, error: &ModelError) -> String {
    let (ModelError::Retry { kind, .. } | ModelError::Final { kind, .. }) = error;
    let key = config.key_env.as_deref().unwrap_or("the key in plenary.toml");
    let url = config.shown_url();
    match (kind, config.kind) {
        (FailureKind::Unreachable | FailureKind::TimedOut, Kind::Ollama) => format!(
            "Start Ollama with `ollama serve` (get it from https://ollama.com), or set OLLAMA_HOST if it is not at {url}."
        ),
        (FailureKind::Unreachable | FailureKind::TimedOut, _) => {
            format!("Check the network, and that {url} is the right address.")
        }
        (FailureKind::Misconfigured, Kind::Ollama) => {
            format!("Check OLLAMA_HOST; it points to {url}.")
        }
        (FailureKind::Misconfigured, _) => {
            format!("Check {key}, and that {url} is the right address.")
        }
        (FailureKind::RateLimited, _) => "Wait a while, or check your account's limits.".to_owned(),
        (
            FailureKind::Idle
            | FailureKind::Refused
            | FailureKind::OutOfCredit
            | FailureKind::OutOfBudget
            | FailureKind::PromptTooLong
            | FailureKind::TooLong
            | FailureKind::Empty
            | FailureKind::ProviderError
            | FailureKind::Malformed
            | FailureKind::Internal,
            _,
        ) => format!("Check that {url} is the right address."),
    }
}
