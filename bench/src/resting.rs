//! What sessions cost a node that nothing happens in: those that sleep until a far time, and
//! those that are over. Memory and processor time of a node that nobody asks anything, how
//! long its look round takes in the store, and lists; on SQLite and, where
//! `PLENARY_DATABASE_URL` names a server on which databases may be made, on PostgreSQL.

use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{StreamExt as _, TryStreamExt as _};
use plenary_domain::{
    AgentName, Ask, ModelName, Noted, Timestamp, council, limits, room, whiteboard,
};
use plenary_engine::ports::{Clock as _, ModelError, Models, Piece, ProviderReport};
use plenary_engine::{By, Engine, SystemClock};
use plenary_store::{Holder, Log, postgres};

use crate::figures::{Samples, megabytes, millis};
use crate::nodes::database;
use crate::plenary::{Api, Place};
use crate::process::Process;
use crate::{Outcome, bare};

#[derive(Args)]
pub struct Resting {
    /// Sessions that sleep
    #[arg(long, default_value_t = 10_000)]
    idle: usize,
    /// Sessions that are over
    #[arg(long, default_value_t = 100_000)]
    finished: usize,
    /// Seconds for which a node is left alone
    #[arg(long, default_value_t = 20.0)]
    seconds: f64,
}

const AT_ONCE: usize = 64;
const DAY_MS: u64 = 24 * 3_600_000;
/// Times that each question is asked.
const ASKED: usize = 30;

/// Nobody is asked anything.
struct Nobody;

impl Models for Nobody {
    fn ask(&self, _: Ask, _: String) -> BoxStream<'static, Result<Piece, ModelError>> {
        stream::pending().boxed()
    }

    fn providers(&self) -> Vec<String> {
        vec![]
    }

    fn window_tokens(&self, _: &ModelName) -> u32 {
        8_192
    }

    fn catalog(&self) -> BoxFuture<'_, Vec<ProviderReport>> {
        Box::pin(async { vec![] })
    }
}

impl Resting {
    pub async fn run(self) -> Outcome<()> {
        println!("a node with nothing to do, left alone for {} s", self.seconds);
        println!("{:43} MB  cpu ms/s  look ms  list ms  kind=  active=  words", "sessions");
        self.measure(None).await?;
        if let Ok(server) = std::env::var("PLENARY_DATABASE_URL") {
            let url = database(&server, "plenary_bench_resting")?;
            self.measure(Some(url)).await?;
        }
        Ok(())
    }

    async fn measure(&self, url: Option<String>) -> Outcome<()> {
        let place = Place::new("http://127.0.0.1:1")?;
        // One of each, so that a list is a list.
        self.fill(&place, url.as_deref(), 0..1, 0..1).await?;
        self.row(&place, url.as_deref(), 1, 1).await?;
        self.fill(&place, url.as_deref(), 1..self.idle, 0..0).await?;
        self.row(&place, url.as_deref(), self.idle, 1).await?;
        self.fill(&place, url.as_deref(), 0..0, 1..self.finished).await?;
        self.row(&place, url.as_deref(), self.idle, self.finished).await
    }

    /// Through the engine, so that they are what they would be.
    async fn fill(
        &self,
        place: &Place,
        url: Option<&str>,
        idle: std::ops::Range<usize>,
        finished: std::ops::Range<usize>,
    ) -> Outcome<()> {
        let store = open(place, url).await?;
        let engine = Engine::new(store.store(), Arc::new(Nobody), Arc::new(SystemClock::default()));
        let sleeping = idle.map(|nth| {
            let engine = engine.clone();
            async move { engine.open(By::actor("bench"), sleeps(nth)).await.map(drop) }
        });
        stream::iter(sleeping).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
        let closing = finished.map(|nth| {
            let engine = engine.clone();
            async move {
                let id = engine.open(By::actor("bench"), talk(nth)).await?.id;
                let close = council::Command::Close { summary: Some("Done.".into()), by: None };
                let close = room::Command::Council(close);
                engine.submit(id, By::actor("bench"), close).await.map(drop)
            }
        });
        stream::iter(closing).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
        engine.shut_down().await;
        Ok(store.close().await?)
    }

    async fn row(
        &self,
        place: &Place,
        url: Option<&str>,
        idle: usize,
        finished: usize,
    ) -> Outcome<()> {
        let look = look(place, url).await?;
        let mut command = place.command(&["serve", "--listen", "127.0.0.1:0"])?;
        match url {
            Some(url) => command.env("PLENARY_DATABASE_URL", url),
            None => command.env_remove("PLENARY_DATABASE_URL"),
        };
        let (node, address) = Process::start_server(command.stderr(Stdio::inherit()))?;
        let api = Api { client: bare::client()?, url: address };
        api.count("").await?;
        let before = node.cpu()?;
        tokio::time::sleep(Duration::from_secs_f64(self.seconds)).await;
        let cpu = node.cpu()?.saturating_sub(before);
        let memory = node.memory()?.now_kb;
        let name = match url {
            Some(_) => "PostgreSQL",
            None => "SQLite",
        };
        print!(
            "  {name:<10} {idle:>6} asleep, {finished:>7} over       {:7.0} {:9.2} {look:8.2}",
            megabytes(memory),
            millis(cpu) / self.seconds
        );
        for filter in ["limit=50", "limit=50&kind=council", "limit=50&active=true", "q=talk+17"] {
            print!(" {:8.2}", list(&api, filter).await?);
        }
        println!();
        node.stop()
    }
}

async fn open(place: &Place, url: Option<&str>) -> Outcome<Log> {
    Ok(match url {
        Some(url) => {
            let address = postgres::Address::of(url)?;
            Log::Database(Arc::new(postgres::open(&address).await?))
        }
        None => {
            let holder = Holder { command: "bench".into(), since: Timestamp::UNIX_EPOCH };
            Log::Folder(Arc::new(plenary_store::open(&place.home(), holder).await?))
        }
    })
}

/// What a node asks the store with every beat to find what is left behind, in milliseconds.
async fn look(place: &Place, url: Option<&str>) -> Outcome<f64> {
    let store = open(place, url).await?;
    let (log, clock) = (store.store(), SystemClock::default());
    let mut times = vec![];
    for _ in 0..ASKED {
        let start = Instant::now();
        log.waiting("bench", clock.now(), None, limits::WAITING).await?;
        times.push(start.elapsed());
    }
    store.close().await?;
    Ok(Samples::of_millis(&times).median())
}

async fn list(api: &Api, filter: &str) -> Outcome<f64> {
    let mut times = vec![];
    for _ in 0..ASKED {
        let start = Instant::now();
        let url = format!("{}/api/sessions?{filter}", api.url);
        api.client.get(url).send().await?.error_for_status()?.bytes().await?;
        times.push(start.elapsed());
    }
    Ok(Samples::of_millis(&times).median())
}

fn sleeps(nth: usize) -> room::Command {
    room::Command::Whiteboard(whiteboard::Command::Open(whiteboard::Open {
        name: format!("board-{nth}"),
        topic: "Which one?".into(),
        project: None,
        by: AgentName("chair".into()),
        principal: None,
        admission: whiteboard::Admission::Open,
        debate: whiteboard::Visibility::Full,
        deadlines: vec![whiteboard::Deadline {
            phase: whiteboard::Phase::Blind,
            after_ms: 80 * DAY_MS,
        }],
        seats: vec![],
        prices: Noted::default(),
        budget: None,
    }))
}

fn talk(nth: usize) -> room::Command {
    room::Command::Council(council::Command::Open(council::Open {
        name: format!("talk-{nth}"),
        charter: format!("What to do about talk {nth}."),
        members: vec![],
        project: None,
        by: None,
        prices: Default::default(),
        budget: None,
    }))
}
