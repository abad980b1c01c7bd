//! Reads per second of one session that is being written: a board whose models
//! answer, and a whiteboard on which agents post. Beside a server that only sends
//! as many bytes to the same readers.

mod limit;
mod reader;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use clap::Args;
use futures::future::{join_all, try_join_all};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use crate::Outcome;
use crate::figures::Samples;
use crate::frames;
use crate::plenary::{Place, Plenary};
use crate::posts::agent::{Agent, Way};
use crate::process::Process;
use crate::scripted::{Pace, Scripted};
use crate::watch::Watch;
use reader::Reader;

pub use limit::Same;

#[derive(Args)]
pub struct Reads {
    /// Clients that read the session again and again
    #[arg(long, default_value_t = 16)]
    readers: usize,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 4)]
    seconds: u64,
    /// Times that everything is measured
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Posts per second on the whiteboard, in all
    #[arg(long, default_value_t = 200)]
    posts: u32,
}

/// Agents that post on the whiteboard.
const AGENTS: u32 = 4;

/// Of several rounds.
#[derive(Default)]
struct Measured {
    rates: Vec<f64>,
    waits: Vec<Duration>,
    cores: Vec<f64>,
    others: Vec<f64>,
    /// Of one answer, on average.
    bytes: usize,
}

impl Reads {
    pub async fn run(self) -> Outcome<()> {
        let (mut board, mut whiteboard) = (Measured::default(), Measured::default());
        let (mut limits, mut writes) = ([Measured::default(), Measured::default()], vec![]);
        for round in 0..self.rounds {
            self.board(&mut board).await?;
            limit(&self, board.bytes, &mut limits[0]).await?;
            writes.extend(self.whiteboard(&mut whiteboard, round).await?);
            limit(&self, whiteboard.bytes, &mut limits[1]).await?;
        }
        println!(
            "reads per second of one session by {} clients, median (p10 to p90) of {} rounds of {} s",
            self.readers, self.rounds, self.seconds
        );
        let [board_limit, whiteboard_limit] = limits;
        let board_limit = board_limit.print("a server that only sends as many bytes", None);
        board.print("a board of three whose models answer", Some(board_limit));
        let limit = whiteboard_limit.print("a server that only sends as many bytes", None);
        let posts = format!("a whiteboard with {} posts/s", self.posts);
        whiteboard.print(&posts, Some(limit));
        let writes = Samples::of_millis(&writes);
        println!(
            "    {} posts were made meanwhile, ms each: p50 {:.1}, p99 {:.1}",
            writes.len(),
            writes.median(),
            writes.at(0.99)
        );
        Ok(())
    }

    /// A board whose advisors answer for longer than it is read.
    async fn board(&self, measured: &mut Measured) -> Outcome<()> {
        let tokens = 50 * (self.seconds as usize + 10);
        let pace = Pace { tokens_per_second: 50, tokens, first_ms: 0, stamped: false };
        let scripted = Scripted::start(pace)?;
        let place = Place::new(&scripted.url)?;
        let plenary = place.serve()?;
        let id = plenary.api.convene(None).await?;
        let began = |frame: &str| frames::name(frame) == Some("delta");
        plenary.api.follow(&id).await?.each(began).await?;
        self.read(&plenary.process, &plenary.api.url, &format!("/api/boardrooms/{id}"), measured)
            .await
    }

    /// How long each post took.
    async fn whiteboard(&self, measured: &mut Measured, round: usize) -> Outcome<Vec<Duration>> {
        // No model is ever asked.
        let place = Place::new("http://127.0.0.1:1")?;
        let plenary = place.serve()?;
        let url = &plenary.api.url;
        let name = format!("read-{round}");
        let opening = json!({ "boardId": name, "topic": "How fast?", "openedBy": "chair" });
        let opened = plenary.api.client.post(format!("{url}/api/whiteboards")).json(&opening);
        opened.send().await?.error_for_status()?;
        let over = Arc::new(AtomicBool::new(false));
        let posting = self.post(&plenary, &name, &over).await?;
        let path = format!("/api/whiteboards/{name}");
        self.read(&plenary.process, url, &path, measured).await?;
        over.store(true, Relaxed);
        let mut waits = vec![];
        for agent in join_all(posting).await {
            waits.extend(agent??);
        }
        Ok(waits)
    }

    /// Agents that post at a pace until it is over.
    async fn post(
        &self,
        plenary: &Plenary,
        board: &str,
        over: &Arc<AtomicBool>,
    ) -> Outcome<Vec<JoinHandle<Outcome<Vec<Duration>>>>> {
        let register = (0..AGENTS as usize)
            .map(|nth| Agent::register(Way::Rest, &plenary.api.url, board, nth));
        let agents = try_join_all(register).await?;
        let pause = Duration::from_secs(1) * AGENTS / self.posts.max(1);
        let post = |agent: Agent| {
            let over = over.clone();
            tokio::spawn(async move {
                let mut turn = interval(pause);
                turn.set_missed_tick_behavior(MissedTickBehavior::Skip);
                let mut waits = vec![];
                while !over.load(Relaxed) {
                    turn.tick().await;
                    waits.push(agent.post_timed(waits.len()).await?);
                }
                Ok(waits)
            })
        };
        Ok(agents.into_iter().map(post).collect())
    }

    /// Reads one address from all clients for the time that was given.
    async fn read(
        &self,
        process: &Process,
        url: &str,
        path: &str,
        measured: &mut Measured,
    ) -> Outcome<()> {
        let address = url.trim_start_matches("http://").parse()?;
        let readers =
            try_join_all((0..self.readers).map(|_| Reader::connect(address, path))).await?;
        let watch = Watch::start(&[process])?;
        let until = Instant::now() + Duration::from_secs(self.seconds);
        let reading = readers.into_iter().map(|reader| tokio::spawn(reader.read(until)));
        let (mut reads, mut bytes) = (0, 0);
        for reader in join_all(reading).await {
            let read = reader??;
            reads += read.waits.len();
            bytes += read.bytes;
            measured.waits.extend(read.waits);
        }
        let spent = watch.read(&[process])?;
        measured.rates.push(reads as f64 / spent.wall.as_secs_f64());
        measured.cores.push(spent.cores(1));
        measured.others.push(spent.others());
        measured.bytes = bytes / reads.max(1);
        Ok(())
    }
}

async fn limit(reads: &Reads, bytes: usize, measured: &mut Measured) -> Outcome<()> {
    let (process, url) = limit::start(bytes)?;
    reads.read(&process, &url, "/", measured).await
}

impl Measured {
    /// Returns the median, for whoever is measured against it.
    fn print(self, name: &str, limit: Option<f64>) -> f64 {
        let (rates, waits) = (Samples::new(self.rates), Samples::of_millis(&self.waits));
        let part = limit.map(|limit| format!("  ×{:.3} of that", rates.median() / limit));
        println!("  {name:<40} {rates}{}", part.unwrap_or_default());
        println!(
            "    {} bytes each; ms p50 {:.2}, p99 {:.2}; {:.0} µs of the server's processor time each; \
             cores: server {:.2}, others {:.2}",
            self.bytes,
            waits.median(),
            waits.at(0.99),
            Samples::new(self.cores.clone()).median() * 1e6 / rates.median().max(1.0),
            Samples::new(self.cores).median(),
            Samples::new(self.others).median(),
        );
        rates.median()
    }
}
