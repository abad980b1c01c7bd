//! Where commands are carried out: on a store of one's own, through the server
//! that holds it, or on a server elsewhere.

use std::sync::Arc;

use plenary_engine::ports::{Clock, StoreError};
use plenary_engine::{Engine, SystemClock};
use plenary_providers::Providers;
use plenary_server::{Access, App};
use plenary_store::{Holder, SqliteStore};

use crate::api::{Api, ApiError};
use crate::config::Config;
use crate::terminal;

pub struct Reach {
    pub api: Api,
    /// Set when this process holds the store itself.
    pub own: Option<Own>,
}

pub struct Own {
    pub app: App,
    pub store: Arc<SqliteStore>,
}

impl Reach {
    /// `command` names this process to others that want the same data folder.
    pub async fn open(config: Config, command: &str) -> Result<Reach, ApiError> {
        if let Some(server) = &config.server {
            let token = config.tokens.first().cloned();
            return Ok(Reach { api: Api::remote(server, token)?, own: None });
        }
        if let Some(holder) = plenary_store::holder(&config.home)
            && let Some(url) = holder.url
        {
            let process = holder.pid;
            terminal::note(&format!("(through the server at {url}, process {process})"));
            return Ok(Reach { api: Api::remote(&url, holder.token)?, own: None });
        }
        let own = open(&config, command).await?;
        let router = plenary_server::router(own.app.clone(), Access::inside());
        Ok(Reach { api: Api::inside(router), own: Some(own) })
    }

    /// Lets go of the store, so that the next command finds it free and tidy.
    pub async fn close(self) {
        if let Some(own) = self.own
            && let Err(error) = own.store.close().await
        {
            terminal::complain(&error.to_string(), None);
        }
    }
}

pub async fn open(config: &Config, command: &str) -> Result<Own, ApiError> {
    let clock = Arc::new(SystemClock::default());
    let holder = Holder { command: command.to_owned(), since: clock.now() };
    let store = plenary_store::open(&config.home, holder).await.map_err(store_error)?;
    let store = Arc::new(store);
    let models = Arc::new(Providers::new(config.providers.clone()));
    let engine = Engine::new(store.clone(), models, clock);
    Ok(Own { app: App { engine }, store })
}

fn store_error(error: StoreError) -> ApiError {
    let mut problem = ApiError::new("store-failed", error.to_string());
    if let StoreError::InUse(_) = error {
        problem.code = "in-use".into();
        problem.hint = Some(
            "Start `plenary serve` first to use the folder from several places at once: \
             every command, and every agent's `plenary mcp`, then goes through it."
                .into(),
        );
    }
    problem
}
