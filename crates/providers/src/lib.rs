//! The models that can be reached: four wires over HTTP, and command-line agents.
//!
//! This crate must not know the log, a form of deliberation, or the server. It
//! does not wait for slow models and does not ask twice: patience and retries are
//! the engine's. A status code of a provider means something in `failure` only.

mod agents;
mod anthropic;
mod catalog;
mod command;
mod config;
mod discover;
mod failure;
mod gemini;
mod http;
mod lines;
#[cfg(feature = "local")]
mod local;
mod ollama;
mod openai;
mod plain;
mod processes;
mod prompt;
mod wait;
mod workspace;

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, StreamExt as _};
use plenary_domain::{Ask, FailureKind, ModelName, limits};
use plenary_engine::ports::{ModelError, Models, Piece, ProviderReport};

pub use command::find_program;
pub use config::{CommandConfig, Kind, LocalModel, Output, ProviderConfig, Secret};
pub use discover::discover;

/// Chooses the cryptography of every TLS connection of this process. Calling it
/// again changes nothing.
pub fn install_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// All configured providers behind the engine's port.
pub struct Providers {
    configs: Vec<Arc<ProviderConfig>>,
    http: Arc<http::Http>,
    catalog: catalog::Catalog,
    #[cfg(feature = "local")]
    local: local::Local,
}

/// Whether this program holds the engine of the embedded model.
pub fn has_local() -> bool {
    cfg!(feature = "local")
}

#[cfg(feature = "local")]
use local::processor_fits;

#[cfg(not(feature = "local"))]
fn processor_fits() -> bool {
    true
}

impl Providers {
    /// A later provider of the same name replaces an earlier one.
    pub fn new(configs: Vec<ProviderConfig>) -> Self {
        let mut kept: Vec<Arc<ProviderConfig>> = Vec::new();
        for config in configs {
            let config = Arc::new(config);
            match kept.iter_mut().find(|other| other.name == config.name) {
                Some(other) => *other = config,
                None => kept.push(config),
            }
        }
        Providers {
            catalog: catalog::Catalog::new(kept.len()),
            http: Arc::new(http::Http::new()),
            configs: kept,
            #[cfg(feature = "local")]
            local: local::Local::default(),
        }
    }

    fn unknown(&self, provider: &str) -> ModelError {
        let names: Vec<&str> = self.configs.iter().map(|one| one.name.as_str()).collect();
        ModelError::Final {
            kind: FailureKind::Misconfigured,
            message: match names.is_empty() {
                true => format!("There is no provider `{provider}`; none is configured."),
                false => {
                    format!("There is no provider `{provider}`; there are: {}.", names.join(", "))
                }
            },
        }
    }
}

impl Providers {
    #[cfg(feature = "local")]
    fn ask_local(
        &self,
        config: &ProviderConfig,
        ask: Ask,
    ) -> BoxStream<'static, Result<Piece, ModelError>> {
        let model = config.local.iter().find(|model| model.name == ask.model.parts().1);
        self.local.ask(model, ask)
    }

    #[cfg(not(feature = "local"))]
    fn ask_local(
        &self,
        _: &ProviderConfig,
        _: Ask,
    ) -> BoxStream<'static, Result<Piece, ModelError>> {
        let message = "This program was built without the embedded model.".to_owned();
        stream::iter([Err(failure::last(FailureKind::Misconfigured, message))]).boxed()
    }
}

impl Models for Providers {
    fn providers(&self) -> Vec<String> {
        self.configs.iter().map(|config| config.name.clone()).collect()
    }

    fn window_tokens(&self, model: &ModelName) -> u32 {
        let config = self.configs.iter().find(|one| one.name == model.parts().0);
        config.map_or(limits::WINDOW_TOKENS, |config| config.window())
    }

    fn ask(&self, ask: Ask, request_id: String) -> BoxStream<'static, Result<Piece, ModelError>> {
        let (provider, _) = ask.model.parts();
        let Some(config) = self.configs.iter().find(|one| one.name == provider) else {
            return stream::iter([Err(self.unknown(provider))]).boxed();
        };
        if config.kind == Kind::Local {
            return self.ask_local(config, ask);
        }
        match http::wire(config.kind) {
            Some(wire) => {
                http::ask(self.http.clone(), wire, config.clone(), ask, request_id).boxed()
            }
            None => command::ask(config.clone(), ask).boxed(),
        }
    }

    fn catalog(&self) -> BoxFuture<'_, Vec<ProviderReport>> {
        Box::pin(self.catalog.reports(&self.configs, &self.http))
    }
}
