//! The providers as they are set now: a key that was set, or a model that was pulled, can be
//! used without a restart.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use plenary_domain::{Ask, ModelName};
use plenary_engine::ports::{Known, ModelError, Models, Piece, ProviderReport};
use plenary_providers::Providers;

use crate::config::Config;
use crate::{offers, settings};

pub struct Current {
    providers: RwLock<Arc<Providers>>,
    home: PathBuf,
    read: Mutex<Stamp>,
    /// What was learned by providers that have been replaced, and how often they were.
    before: AtomicU64,
}

/// When what providers follow from was last changed, by this process or another one.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp([Option<SystemTime>; 2]);

impl Stamp {
    fn of(home: &Path) -> Stamp {
        let changed = |path: PathBuf| std::fs::metadata(path).ok()?.modified().ok();
        Stamp([changed(offers::folder(home)), changed(settings::place(home))])
    }
}

impl Current {
    pub fn new(providers: Providers, home: &Path) -> Current {
        Current {
            providers: RwLock::new(Arc::new(providers)),
            home: home.to_owned(),
            read: Mutex::new(Stamp::of(home)),
            before: AtomicU64::new(0),
        }
    }

    fn now(&self) -> Arc<Providers> {
        self.providers.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes over what the configuration says now. One that cannot be read changes nothing.
    pub fn renew(&self) -> Result<Config, String> {
        let stamp = Stamp::of(&self.home);
        let config = Config::load(&|name| std::env::var(name).ok())?;
        let new = Arc::new(self.now().with(config.providers.clone()));
        let mut providers = self.providers.write().unwrap_or_else(PoisonError::into_inner);
        self.before.fetch_add(1 + providers.learnings(), Relaxed);
        *providers = new;
        drop(providers);
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = stamp;
        Ok(config)
    }

    /// Another process may have pulled or removed a model, or set a key.
    fn renew_if_changed(&self) {
        let read = *self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if Stamp::of(&self.home) != read {
            let _ = self.renew();
        }
    }
}

impl Models for Current {
    fn ask(&self, ask: Ask, request_id: String) -> BoxStream<'static, Result<Piece, ModelError>> {
        self.now().ask(ask, request_id)
    }

    fn providers(&self) -> Vec<String> {
        self.now().providers()
    }

    fn window_tokens(&self, model: &ModelName) -> u32 {
        self.now().window_tokens(model)
    }

    fn is_adjustable(&self, model: &ModelName) -> bool {
        self.now().is_adjustable(model)
    }

    fn learnings(&self) -> u64 {
        let providers = self.providers.read().unwrap_or_else(PoisonError::into_inner);
        self.before.load(Relaxed) + providers.learnings()
    }

    fn known(&self, model: &ModelName) -> Known {
        self.now().known(model)
    }

    fn catalog(&self) -> BoxFuture<'_, Vec<ProviderReport>> {
        self.renew_if_changed();
        let now = self.now();
        Box::pin(async move { now.catalog().await })
    }

    fn learned(&self) -> BoxFuture<'_, ()> {
        let now = self.now();
        Box::pin(async move { now.learned().await })
    }

    fn meet<'a>(&'a self, model: &'a ModelName) -> BoxFuture<'a, ()> {
        let now = self.now();
        Box::pin(async move { now.meet(model).await })
    }

    fn lacks<'a>(&'a self, model: &'a ModelName) -> BoxFuture<'a, bool> {
        self.renew_if_changed();
        let now = self.now();
        Box::pin(async move { now.lacks(model).await })
    }
}
