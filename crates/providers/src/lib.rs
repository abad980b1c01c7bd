//! The models that can be reached: four wires over HTTP, and command-line agents. And what
//! workflows may reach: servers and folders that the operator names.
//!
//! This crate must not know the log, a form of deliberation, or the server. It
//! does not wait for slow models and does not ask twice: patience and retries are
//! the engine's. A status code of a provider means something in `failure` only.

mod agents;
mod anthropic;
mod catalog;
mod client;
mod command;
mod config;
mod discover;
mod facts;
mod failure;
mod fit;
mod found;
mod gemini;
mod gguf;
mod http;
mod hub;
mod images;
mod keeper;
mod lines;
#[cfg(feature = "local")]
mod local;
mod memory;
mod ollama;
mod openai;
mod otlp;
mod outside;
mod plain;
mod presets;
mod private;
mod processes;
mod prompt;
mod redact;
mod sheet;
mod start;
mod tls;
mod wait;
mod workspace;

use std::path::PathBuf;
use std::sync::Arc;

use fit::Fit;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, StreamExt as _};
use plenary_domain::{Ask, FailureKind, ModelName, Quote, Source, limits};
use plenary_engine::ports::{Known, ModelError, Models, Piece, ProviderReport, Window};

pub use config::{CommandConfig, Kind, LocalModel, Output, ProviderConfig, Secret};
pub use discover::{discover, key_variables};
pub use facts::Fact;
pub use found::{Found, Places, name_of as model_name};
pub use gguf::{Head, size as model_bytes};
pub use hub::{Hub, HubError, Pulled, Wanted, Which, free_bytes};
pub use keeper::{KEEPER, keep};
pub use memory::machine_bytes;
pub use otlp::{Otlp, OtlpConfig};
pub use outside::{AllowedHost, Gateway, OutsideConfig, SecretConfig};
pub use presets::PRESETS;
pub use redact::address as shown_address;
pub use sheet::{Entry, LeftOut, Sheet};
pub use start::find_program;
pub use tls::{client_builder, install_tls};

/// How command-line agents are held, so that they end with this process.
#[derive(Clone, Debug)]
pub struct Keeping {
    /// The program that becomes a keeper when its first argument is [`KEEPER`].
    /// Without one an agent is killed with its call, but outlives a process that is
    /// killed itself.
    pub keeper: Option<PathBuf>,
    /// Where folders for single calls may be made, best first.
    pub places: Vec<PathBuf>,
}

impl Default for Keeping {
    /// Without a keeper, in the usual places.
    fn default() -> Self {
        Keeping { keeper: None, places: private::usual_places() }
    }
}

impl Keeping {
    /// For a program that calls [`keep`] when it is started with [`KEEPER`].
    pub fn by_this_program() -> Self {
        // The running file itself, also after it was replaced by a newer one.
        let running = PathBuf::from("/proc/self/exe");
        let keeper = match running.exists() {
            true => Some(running),
            false => std::env::current_exe().ok(),
        };
        Keeping { keeper, ..Keeping::default() }
    }
}

/// All configured providers behind the engine's port.
pub struct Providers {
    configs: Vec<Arc<ProviderConfig>>,
    keeping: Arc<Keeping>,
    http: Arc<http::Http>,
    catalog: catalog::Catalog,
    sheet: Option<Arc<sheet::Kept>>,
    redactor: Arc<redact::Redactor>,
    heads: gguf::Heads,
    #[cfg(feature = "local")]
    local: Arc<local::Local>,
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
            sheet: None,
            http: Arc::new(http::Http::default()),
            keeping: Arc::default(),
            redactor: Arc::new(redact::Redactor::of(kept.iter().map(Arc::as_ref))),
            configs: kept,
            heads: gguf::Heads::default(),
            #[cfg(feature = "local")]
            local: Arc::default(),
        }
    }

    /// The same with other providers. A model that is in memory stays there.
    #[must_use]
    pub fn with(&self, configs: Vec<ProviderConfig>) -> Self {
        Providers {
            sheet: self.sheet.clone(),
            keeping: self.keeping.clone(),
            #[cfg(feature = "local")]
            local: self.local.clone(),
            ..Providers::new(configs)
        }
    }

    /// Takes prices and windows from the sheet in this file too, where nobody else says
    /// them.
    #[must_use]
    pub fn with_sheet(mut self, path: PathBuf) -> Self {
        self.sheet = Some(Arc::new(sheet::Kept::at(path)));
        self
    }

    /// Holds command-line agents in this way, and ends first what those of a process
    /// that has died have left behind.
    #[must_use]
    pub fn keeping(mut self, keeping: Keeping) -> Self {
        if self.configs.iter().any(|config| config.kind == Kind::Command) {
            processes::end_orphans();
            private::remove_orphans(&keeping.places);
        }
        self.keeping = Arc::new(keeping);
        self
    }

    fn config(&self, model: &ModelName) -> Option<&Arc<ProviderConfig>> {
        self.configs.iter().find(|config| config.name == model.parts().0)
    }

    fn unknown(&self, provider: &str) -> ModelError {
        let names: Vec<&str> = self.configs.iter().map(|one| one.name.as_str()).collect();
        ModelError::Final {
            kind: FailureKind::Misconfigured,
            message: match names.is_empty() {
                true => format!("There is no provider `{provider}`; none is set up."),
                false => {
                    format!("There is no provider `{provider}`; available: {}.", names.join(", "))
                }
            },
        }
    }
}

impl Providers {
    /// What a model inside this process takes, by its file and this machine's memory.
    fn local_window(&self, config: &ProviderConfig, model: &ModelName) -> Option<u32> {
        let file = config.local.iter().find(|local| local.name == model.parts().1)?;
        let head = self.heads.of(&file.path)?;
        Some(memory::Room::of(&file.path, &head).window as u32)
    }

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
        let usual = || self.config(model).map(|config| config.usual_window());
        let known = self.known(model).window.map(|window| window.tokens);
        known.or_else(usual).unwrap_or(limits::WINDOW_TOKENS)
    }

    fn is_adjustable(&self, model: &ModelName) -> bool {
        self.config(model).is_none_or(|config| config.kind != Kind::Command)
    }

    fn known(&self, model: &ModelName) -> Known {
        let Some(config) = self.config(model) else { return Known::default() };
        let said = self.catalog.said(config, model);
        let said = said.map(|(fact, at)| (fact, Source::Provider, Some(at)));
        let listed = self.sheet.as_ref().and_then(|sheet| sheet.of(config, model));
        let listed = listed.map(|(fact, at)| (fact, Source::Import, at));
        let mut told = [said, listed].into_iter().flatten();
        let window = |tokens, source, said_at| Window { tokens, source, said_at };
        let own = config.set_window().map(|tokens| window(tokens, Source::Settings, None));
        let embedded = || {
            let tokens = self.local_window(config, model)?;
            Some(window(tokens, Source::Embedded, None))
        };
        let others = told.clone().find_map(|(fact, source, at)| {
            fact.window_tokens.map(|tokens| window(tokens, source, at))
        });
        Known {
            window: own.or_else(embedded).or(others),
            price: told.find_map(|(fact, source, said_at)| {
                fact.price.map(|price| Quote { price, source, said_at })
            }),
        }
    }

    fn learnings(&self) -> u64 {
        self.catalog.count() + self.sheet.as_ref().map_or(0, |sheet| sheet.count())
    }

    fn ask(&self, ask: Ask, request_id: String) -> BoxStream<'static, Result<Piece, ModelError>> {
        let Some(config) = self.config(&ask.model) else {
            return stream::iter([Err(self.unknown(ask.model.parts().0))]).boxed();
        };
        let said = self.catalog.said(config, &ask.model).and_then(|(fact, _)| fact.looks);
        let looks = images::looks(config, said, ask.model.parts().1) != Some(false);
        let ask = if looks { ask } else { images::described(ask) };
        if config.kind == Kind::Local {
            return self.ask_local(config, ask);
        }
        let fit = self.known(&ask.model).window.map(|window| Fit::new(&ask, window.tokens));
        if let Some(refused) = fit.as_ref().and_then(Fit::refused) {
            return stream::iter([Err(refused)]).boxed();
        }
        let pieces = match http::wire(config.kind) {
            Some(wire) => {
                http::ask(self.http.clone(), wire, config.clone(), ask, request_id).boxed()
            }
            None => command::ask(config.clone(), self.keeping.clone(), ask).boxed(),
        };
        let pieces = match fit {
            Some(fit) => {
                pieces.map(move |piece| piece.map_err(|error| fit.explained(error))).boxed()
            }
            None => pieces,
        };
        redact::stream(self.redactor.clone(), pieces)
    }

    fn catalog(&self) -> BoxFuture<'_, Vec<ProviderReport>> {
        Box::pin(async {
            let reports = self.catalog.reports(&self.configs, &self.http).await;
            reports.into_iter().map(|report| self.redactor.report(report)).collect()
        })
    }

    fn learned(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.catalog.learned())
    }

    fn meet<'a>(&'a self, model: &'a ModelName) -> BoxFuture<'a, ()> {
        Box::pin(async {
            let Known { window, price } = self.known(model);
            let place = self.configs.iter().position(|config| config.name == model.parts().0);
            if let Some(place) = place.filter(|_| window.is_none() || price.is_none()) {
                self.catalog.meet(place, &self.configs[place], &self.http).await;
            }
        })
    }

    fn lacks<'a>(&'a self, model: &'a ModelName) -> BoxFuture<'a, bool> {
        Box::pin(async {
            let (provider, name) = model.parts();
            let place = self.configs.iter().position(|config| config.name == provider);
            let Some(place) = place else { return false };
            self.catalog.lacks(place, &self.configs[place], &self.http, name).await
        })
    }
}
