//! What is there now, by provider, and for what is not, why not.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use plenary_domain::{FailureKind, limits};
use plenary_engine::ports::{ModelError, ProviderReport, ProviderState};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::command;
use crate::config::{Kind, ProviderConfig};
use crate::failure;
use crate::http::{self, Http};

/// A provider that failed is soon asked again: somebody may be starting it.
const FAILURE_FRESH: Duration = Duration::from_secs(2);

/// The last report of each provider, believed for a while. The lock also makes
/// callers who come together share one listing.
pub(crate) struct Catalog {
    slots: Vec<Mutex<Option<(Instant, ProviderReport)>>>,
}

impl Catalog {
    pub(crate) fn new(providers: usize) -> Self {
        let slots = (0..providers).map(|_| Mutex::default()).collect();
        Catalog { slots }
    }

    pub(crate) async fn reports(
        &self,
        configs: &[Arc<ProviderConfig>],
        http: &Http,
    ) -> Vec<ProviderReport> {
        let pairs = self.slots.iter().zip(configs);
        let reports = pairs.map(|(slot, config)| async move {
            let mut slot = slot.lock().await;
            if let Some((at, report)) = &*slot
                && at.elapsed() < believed(report)
            {
                return report.clone();
            }
            let report = report(config, http).await;
            *slot = Some((Instant::now(), report.clone()));
            report
        });
        join_all(reports).await
    }
}

fn believed(report: &ProviderReport) -> Duration {
    match report.state {
        ProviderState::Ready { .. } => Duration::from_millis(limits::CATALOG_FRESH_MS),
        ProviderState::Unusable { .. } => FAILURE_FRESH,
    }
}

async fn report(config: &ProviderConfig, http: &Http) -> ProviderReport {
    let place = match (config.kind, &config.command) {
        (Kind::Local, _) => "this process".to_owned(),
        (_, Some(command)) => command.program.clone(),
        (_, None) => config.shown_url(),
    };
    let there = config.local.iter().filter(|model| model.path.is_file());
    let notes = there.filter_map(|model| model.note.clone());
    ProviderReport {
        name: config.name.clone(),
        kind: config.kind.word(),
        place,
        state: state(config, http).await,
        note: notes.reduce(|all, note| format!("{all} {note}")),
    }
}

async fn state(config: &ProviderConfig, http: &Http) -> ProviderState {
    if config.kind == Kind::Local {
        return local_state(config);
    }
    let Some(wire) = http::wire(config.kind) else {
        return command::state(config);
    };
    if let Some(models) = &config.models {
        return ProviderState::Ready { models: models.clone() };
    }
    let limit = Duration::from_millis(limits::CATALOG_MS);
    let listed = timeout(limit, http.models(config, wire)).await;
    let listed = listed.unwrap_or_else(|_| {
        let seconds = limits::CATALOG_MS / 1000;
        let message = format!("{} did not list its models within {seconds} s.", config.name);
        Err(failure::retry(FailureKind::TimedOut, message))
    });
    match listed {
        Ok(models) if models.is_empty() => ProviderState::Unusable {
            problem: format!("{} has no models.", config.name),
            hint: no_models_hint(config),
        },
        Ok(models) => ProviderState::Ready { models },
        Err(error) => {
            ProviderState::Unusable { problem: error.to_string(), hint: hint(config, &error) }
        }
    }
}

/// Which of its files are there, and whether they can be run here.
fn local_state(config: &ProviderConfig) -> ProviderState {
    let unusable = |problem: &str, hint: &str| ProviderState::Unusable {
        problem: problem.to_owned(),
        hint: hint.to_owned(),
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
            problem: format!("The weights of {} are not on this machine yet.", model.name),
            hint: format!(
                "Get them with `plenary models pull`, or put the file at {}.",
                model.path.display()
            ),
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
            format!("Check OLLAMA_HOST; it leads to {url}.")
        }
        (FailureKind::Misconfigured, _) => {
            format!("Check {key}, and that {url} is the right address.")
        }
        (FailureKind::RateLimited, _) => {
            "Wait a while, or look at the limits of the account.".to_owned()
        }
        (
            FailureKind::Idle
            | FailureKind::Refused
            | FailureKind::OutOfCredit
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
