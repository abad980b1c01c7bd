//! Where commands are carried out: on a store of one's own, through the server
//! that holds it, or on a server elsewhere.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use plenary_engine::ports::{Clock, Outside, StoreError};
use plenary_engine::{Engine, SystemClock};
use plenary_providers::{Gateway, Keeping, Otlp, Providers};
use plenary_server::settings::Settings;
use plenary_server::{Access, App, Clerk};
use plenary_store::{Holder, HolderInfo, Log, postgres};

use crate::api::{self, Api, ApiError, Process};
use crate::config::Config;
use crate::current::Current;
use crate::held::Held;
use crate::settings::Operator;
use crate::{pdf, prices, terminal};

/// How long a command waits for another one that has the folder for a moment.
const PATIENCE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(50);

pub struct Reach {
    pub api: Api,
    held: Holding,
}

/// What this process holds of the data folder, or uses of the database.
enum Holding {
    Nothing,
    Store(Own),
    /// And serves it to other commands meanwhile.
    Served(Box<Held>),
}

pub struct Own {
    pub app: App,
    pub log: Log,
    traces: Option<Arc<Otlp>>,
}

impl Own {
    /// Lets go. What this process drove goes on where the store is used next, or is used
    /// already.
    pub async fn close(&self) -> Result<(), StoreError> {
        if let Log::Database(_) = self.log {
            self.app.engine.shut_down().await;
        }
        if let Some(traces) = &self.traces {
            traces.close().await;
        }
        self.log.close().await
    }
}

impl Reach {
    /// `command` names this process to others that want the same data folder. One
    /// that has it for a moment is waited for.
    pub async fn open(config: &Config, command: &str) -> Result<Reach, ApiError> {
        let began = std::time::Instant::now();
        loop {
            if let Some(reach) = through(config, true)? {
                return Ok(reach);
            }
            match open(config, command).await {
                Ok(own) => {
                    let router = plenary_server::router(own.app.clone(), Access::inside());
                    return Ok(Reach { api: Api::inside(router), held: Holding::Store(own) });
                }
                Err(error) if error.code == "in-use" && began.elapsed() < PATIENCE => {
                    tokio::time::sleep(PAUSE).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// For a command that stays: where nobody serves the folder, it does, so that
    /// others are not kept out and what is unfinished goes on.
    pub async fn stay(config: &Config, command: &str) -> Result<Reach, ApiError> {
        if let Some(reach) = through(config, false)? {
            return Ok(reach);
        }
        // A database is open to all: nobody has to be let in, and what others have left is
        // for those that serve.
        if config.database.is_some() {
            return Reach::open(config, command).await;
        }
        // Nobody asked this process to listen, so whoever comes needs the token.
        let nobody = uuid::Uuid::new_v4().simple().to_string();
        let access = Access { tokens: vec![nobody], ..Access::default() };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let held = Held::take(config, command, address, access).await?;
        let api = Api::inside(plenary_server::router(held.own.app.clone(), Access::inside()));
        Ok(Reach { api, held: Holding::Served(Box::new(held)) })
    }

    /// The same, where another command that has the folder for a moment is waited for.
    pub async fn host(config: &Config, command: &str) -> Result<Reach, ApiError> {
        let began = std::time::Instant::now();
        loop {
            if let Some(reach) = through(config, true)? {
                return Ok(reach);
            }
            match Reach::stay(config, command).await {
                Err(error) if error.code == "in-use" && began.elapsed() < PATIENCE => {
                    tokio::time::sleep(PAUSE).await;
                }
                other => return other,
            }
        }
    }

    /// Tells of sessions that were cut off earlier and go on in this process.
    pub fn note_resumed(&self) {
        let resumed = match &self.held {
            Holding::Nothing | Holding::Store(_) => 0,
            Holding::Served(held) => held.resumed,
        };
        match resumed {
            0 => {}
            1 => terminal::note("(1 interrupted session is continuing)"),
            many => terminal::note(&format!("({many} interrupted sessions are continuing)")),
        }
    }

    /// Through the server that was named, or the one that holds the folder, if any.
    pub fn through(config: &Config) -> Result<Option<Reach>, ApiError> {
        through(config, false)
    }

    /// This process carries out what it asks for, and nobody goes on with it after.
    pub fn is_here(&self) -> bool {
        match self.held {
            Holding::Nothing => false,
            Holding::Store(_) | Holding::Served(_) => true,
        }
    }

    /// Lets go of the store, so that the next command finds it free and tidy.
    pub async fn close(self) {
        let closed = match self.held {
            Holding::Nothing => return,
            Holding::Store(own) => own.close().await.map_err(|error| error.to_string()),
            Holding::Served(held) => held.release().await.map_err(|error| error.message),
        };
        if let Err(problem) = closed {
            terminal::complain(&problem, None);
        }
    }
}

/// The server that was named, or the one that holds the folder.
fn through(config: &Config, tell: bool) -> Result<Option<Reach>, ApiError> {
    let holder = || plenary_store::holder(&config.home).filter(|_| config.database.is_none());
    let api = match (&config.server, holder()) {
        (Some(server), _) => Api::remote(server, config.tokens.first().cloned(), None)?,
        (None, Some(HolderInfo { url: Some(url), token, pid, command, .. })) => {
            if tell {
                terminal::note(&format!("(through the server at {url}, process {pid})"));
            }
            let folder = config.home.display().to_string();
            Api::remote(&url, token, Some(Process { pid, command, folder }))?
        }
        (None, Some(HolderInfo { url: None, .. }) | None) => return Ok(None),
    };
    Ok(Some(Reach { api, held: Holding::Nothing }))
}

pub async fn open(config: &Config, command: &str) -> Result<Own, ApiError> {
    let clock = Arc::new(SystemClock::default());
    let opened = match &config.database {
        Some(address) => postgres::open(address).await.map(|store| Log::Database(Arc::new(store))),
        None => {
            let holder = Holder { command: command.to_owned(), since: clock.now() };
            let store = plenary_store::open(&config.home, holder).await;
            store.map(|store| Log::Folder(Arc::new(store)))
        }
    };
    let log = opened.map_err(|error| store_error(config, &error))?;
    if let Some(told) = log.told() {
        terminal::complain(told, Some("Check what is left with `plenary store check`."));
    }
    let mut keeping = Keeping::by_this_program();
    keeping.places.push(config.home.clone());
    let models = Providers::new(config.providers.clone()).with_sheet(prices::place(&config.home));
    let models = Arc::new(Current::new(models.keeping(keeping), &config.home));
    let settings: Arc<dyn Settings> = Arc::new(Operator::new(&config.home, models.clone()));
    let engine = Engine::new(log.store(), models, clock);
    let traces = traces(config, &engine)?;
    let (tiers, prices) = (config.tiers.clone(), config.prices.clone());
    let outside = Some(outside(config));
    let settings = Some(settings);
    let pdf: Option<plenary_server::ReadPdf> = Some(pdf::text);
    let mut app = App::new(Clerk { outside, settings, pdf, ..Clerk::new(engine, tiers, prices) });
    app.web_folder = config.web_folder.as_deref().map(Arc::from);
    app.capacity = config.serving.capacity();
    Ok(Own { app, log, traces })
}

fn traces(config: &Config, engine: &Engine) -> Result<Option<Arc<Otlp>>, ApiError> {
    let Some(to) = &config.traces else { return Ok(None) };
    let started = Otlp::start(to, engine.node(), env!("CARGO_PKG_VERSION"));
    let traces = Arc::new(started.map_err(|problem| ApiError::new("usage", problem))?);
    engine.trace(traces.clone());
    Ok(Some(traces))
}

/// What workflows reach beyond the program.
fn outside(config: &Config) -> Arc<dyn Outside> {
    Arc::new(Gateway::new(config.outside.clone()))
}

fn store_error(config: &Config, error: &StoreError) -> ApiError {
    let mut problem = ApiError::new("store-failed", error.to_string());
    match error {
        StoreError::InUse(_) if config.database.is_some() => {}
        StoreError::InUse(_) => {
            let holder = plenary_store::holder(&config.home).map(|holder| holder.pid);
            problem.code = "in-use".into();
            problem.hint = Some(match holder.filter(|pid| api::is_suspended(*pid)) {
                Some(pid) => format!("It is suspended. {}", api::go_on_or_end(pid)),
                None => "To use the folder from several places at once, start `plenary serve` \
                         first: every command, and every agent's `plenary mcp`, then goes through \
                         it."
                .into(),
            });
        }
        StoreError::Damaged(_) => {
            problem.hint = Some(format!(
                "Keep a copy of {} as it is, and restore a backup: see docs/store.md. `plenary \
                 store check` says more.",
                config.home.display()
            ));
        }
        StoreError::Failed(_)
        | StoreError::NotWritten(_)
        | StoreError::Unreadable(_)
        | StoreError::Fenced => {}
    }
    problem
}
