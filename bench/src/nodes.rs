//! Boards, discussions and posts per second on SQLite and on PostgreSQL with 1, 2 and 3
//! nodes, beside `pgbench`; and what it costs to be on another node: how late a token comes,
//! how soon a stop reaches the model, how soon what a killed node drove is taken over.
//!
//! `PLENARY_DATABASE_URL` names a server on which databases may be made.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use clap::Args;
use futures::future::try_join_all;
use serde_json::{Value, json};

use crate::Outcome;
use crate::bare;
use crate::figures::Samples;
use crate::frames::{self, micros_now, stamps};
use crate::plenary::{Api, MODEL, PROMPT, Place};
use crate::process::{Process, to_the_end};
use crate::scripted::{Pace, Scripted};

#[derive(Args)]
pub struct Nodes {
    /// Only these measurements: rates, delays, stops, takeover
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    /// Seconds for each measurement
    #[arg(long, default_value_t = 6.0)]
    seconds: f64,
    /// Clients at once
    #[arg(long, default_value_t = 24)]
    clients: usize,
    /// Sessions that a node drives when it is killed
    #[arg(long, default_value_t = 1_000)]
    driven: usize,
    /// Boards whose stop is measured, one after the other
    #[arg(long, default_value_t = 30)]
    stops: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    Rates,
    Delays,
    Stops,
    Takeover,
}

const FAST: Pace = Pace { tokens_per_second: 0, tokens: 30, first_ms: 0, stamped: false };
const SLOW: Pace = Pace { tokens_per_second: 50, tokens: 150, first_ms: 100, stamped: true };
/// Nobody answers before the measurement is over.
const SILENT: Pace = Pace { tokens_per_second: 1, tokens: 30, first_ms: 600_000, stamped: false };

/// Some nodes on one store.
struct Cluster {
    _place: Place,
    nodes: Vec<Process>,
    apis: Vec<Api>,
}

impl Cluster {
    fn start(scripted: &Scripted, count: usize, database: Option<&str>) -> Outcome<Cluster> {
        let place = Place::new(&scripted.url)?;
        let (mut nodes, mut apis) = (vec![], vec![]);
        for _ in 0..count {
            let mut command = place.command(&["serve", "--listen", "127.0.0.1:0"])?;
            match database {
                Some(url) => command.env("PLENARY_DATABASE_URL", url),
                None => command.env_remove("PLENARY_DATABASE_URL"),
            };
            let (node, url) = Process::start_server(command.stderr(Stdio::inherit()))?;
            nodes.push(node);
            apis.push(Api { client: bare::client()?, url });
        }
        Ok(Cluster { _place: place, nodes, apis })
    }

    fn at(&self, number: usize) -> Api {
        self.apis[number % self.apis.len()].clone()
    }
}

/// A database of its own on the server, so that one measurement leaves nothing to the next.
pub fn database(server: &str, name: &str) -> Outcome<String> {
    let (place, query) = server.split_once('?').map_or((server, None), |(p, q)| (p, Some(q)));
    let (host, _) = place.rsplit_once('/').ok_or("the URL of a database ends with its name")?;
    let sql = format!("drop database if exists {name} with (force)");
    to_the_end(Command::new("psql").args(["--quiet", "--command", &sql, server]))?;
    let sql = format!("create database {name} template template0 encoding 'UTF8'");
    to_the_end(Command::new("psql").args(["--quiet", "--command", &sql, server]))?;
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    Ok(format!("{host}/{name}{query}"))
}

impl Nodes {
    pub async fn run(self) -> Outcome<()> {
        let server = std::env::var("PLENARY_DATABASE_URL")
            .map_err(|_| "PLENARY_DATABASE_URL must name a server to make databases on")?;
        let wanted = |part: Part| self.only.is_empty() || self.only.contains(&part);
        if wanted(Part::Rates) {
            self.rates(&server).await?;
        }
        if wanted(Part::Delays) {
            self.delays(&server).await?;
        }
        if wanted(Part::Stops) {
            self.stops(&server).await?;
        }
        if wanted(Part::Takeover) {
            self.takeover(&server).await?;
        }
        Ok(())
    }

    async fn rates(&self, server: &str) -> Outcome<()> {
        let scripted = Scripted::start(FAST)?;
        println!("per second, {} clients over all nodes, {} s each", self.clients, self.seconds);
        println!("                     boards  discussions  posts");
        for count in 0..=3 {
            let url = match count {
                0 => None,
                _ => Some(database(server, &format!("plenary_bench_{count}"))?),
            };
            let cluster = Cluster::start(&scripted, count.max(1), url.as_deref())?;
            let boards = self.rate(&cluster, Work::Board).await?;
            let discussions = self.rate(&cluster, Work::Discussion).await?;
            let posts = self.rate(&cluster, Work::Post).await?;
            let store = match count {
                0 => "SQLite".to_owned(),
                _ => format!("PostgreSQL, {count} nodes"),
            };
            println!("  {store:<18} {boards:7.1} {discussions:12.1} {posts:6.0}");
        }
        let seconds = Duration::from_secs_f64(self.seconds);
        let bare = crate::store::pgbench(server, self.clients, seconds)?;
        println!("  pgbench, a row in each transaction: {bare:.0}");
        Ok(())
    }

    /// How much of this kind is done in each second.
    async fn rate(&self, cluster: &Cluster, work: Work) -> Outcome<f64> {
        let (done, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let start = Instant::now();
        let clients = (0..self.clients).map(|nth| {
            let (api, done, over) = (cluster.at(nth), done.clone(), over.clone());
            tokio::spawn(async move { work.repeat(&api, nth, &done, &over).await })
        });
        let clients: Vec<_> = clients.collect();
        tokio::time::sleep(Duration::from_secs_f64(self.seconds)).await;
        let rate = done.load(Relaxed) as f64 / start.elapsed().as_secs_f64();
        over.store(true, Relaxed);
        for client in clients {
            client.await??;
        }
        Ok(rate)
    }

    /// A board's driver is the node that it was convened at.
    async fn delays(&self, server: &str) -> Outcome<()> {
        let scripted = Scripted::start(SLOW)?;
        let url = database(server, "plenary_bench_delays")?;
        let cluster = Cluster::start(&scripted, 2, Some(&url))?;
        for (where_, reader) in [("at the node that drives", 0), ("at another node", 1)] {
            let boards = (0..20).map(|_| delays_of(cluster.at(0), cluster.at(reader)));
            let delays = try_join_all(boards).await?.concat();
            let delays = Samples::new(delays);
            println!(
                "a token's delay to a reader {where_}: p50 {:.1} ms, p99 {:.1} ms, {} tokens",
                delays.median(),
                delays.at(0.99),
                delays.len()
            );
        }
        Ok(())
    }

    async fn stops(&self, server: &str) -> Outcome<()> {
        let scripted = Scripted::start(SILENT)?;
        let url = database(server, "plenary_bench_stops")?;
        let cluster = Cluster::start(&scripted, 2, Some(&url))?;
        for (where_, node) in [("the node that drives", 0), ("another node", 1)] {
            let mut times = vec![];
            for _ in 0..self.stops {
                let id = cluster.at(0).convene(None).await?;
                in_flight(&scripted, 3).await?;
                let api = cluster.at(node);
                let start = Instant::now();
                let url = format!("{}/api/boardrooms/{id}/stop", api.url);
                let stop = async { Ok(api.client.post(url).json(&json!({})).send().await?) };
                let (stopped, ()) = tokio::try_join!(stop, in_flight(&scripted, 0))?;
                stopped.error_for_status()?;
                times.push(start.elapsed());
            }
            let times = Samples::of_millis(&times);
            println!(
                "a stop given to {where_} has dropped its three requests after {:.0} ms (p90 {:.0})",
                times.median(),
                times.at(0.9)
            );
        }
        Ok(())
    }

    async fn takeover(&self, server: &str) -> Outcome<()> {
        let scripted = Scripted::start(SILENT)?;
        let url = database(server, "plenary_bench_takeover")?;
        let mut cluster = Cluster::start(&scripted, 3, Some(&url))?;
        let one = json!({
            "prompt": PROMPT, "models": [format!("bench/{MODEL}")], "synthesizer": format!("bench/{MODEL}"),
            "advisors": [{ "role": "critic" }],
        });
        for many in (0..self.driven).collect::<Vec<_>>().chunks(50) {
            let api = cluster.at(0);
            try_join_all(many.iter().map(|_| open(&api, "boardrooms", &one))).await?;
        }
        in_flight(&scripted, self.driven as u64).await?;
        let asked = scripted.requests().await?;
        let start = Instant::now();
        cluster.nodes.remove(0).kill()?;
        let wanted = asked + self.driven as u64;
        let (mut first, limit) = (None, Duration::from_secs(120));
        while scripted.requests().await? < wanted {
            if first.is_none() && scripted.requests().await? > asked {
                first = Some(start.elapsed());
            }
            if start.elapsed() > limit {
                return Err("not all sessions were taken over within two minutes".into());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        println!(
            "{} sessions of a killed node: the first asked again after {:.1} s, the last after {:.1} s",
            self.driven,
            first.unwrap_or_default().as_secs_f64(),
            start.elapsed().as_secs_f64()
        );
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Work {
    Board,
    Discussion,
    Post,
}

impl Work {
    /// Does it again and again, until it is over.
    async fn repeat(
        self,
        api: &Api,
        client: usize,
        done: &AtomicUsize,
        over: &AtomicBool,
    ) -> Outcome<()> {
        let council = format!("bench-{client}");
        if let Work::Post = self {
            open(api, "councils", &json!({ "name": council, "charter": "Posts." })).await?;
        }
        // The first post brings the token by which its sender posts again.
        let mut token = None;
        for nth in 0.. {
            if over.load(Relaxed) {
                break;
            }
            match self {
                Work::Board => api.board().await?,
                Work::Discussion => discuss(api, client, nth).await?,
                Work::Post => {
                    let post = json!({ "sender": "bench", "body": format!("Post {nth}.") });
                    let path = format!("councils/{council}/posts");
                    let told = open_as(api, &path, &post, token.as_deref()).await?;
                    token = token.or_else(|| told["agentToken"].as_str().map(str::to_owned));
                }
            }
            done.fetch_add(1, Relaxed);
        }
        Ok(())
    }
}

async fn open(api: &Api, path: &str, body: &Value) -> Outcome<Value> {
    open_as(api, path, body, None).await
}

async fn open_as(api: &Api, path: &str, body: &Value, token: Option<&str>) -> Outcome<Value> {
    let url = format!("{}/api/{path}", api.url);
    let request = api.client.post(url).json(body);
    let request = match token {
        Some(token) => request.header("agent-token", token),
        None => request,
    };
    let response = request.send().await?;
    let status = response.status();
    let mut reply: Value = response.json().await?;
    match reply["data"].take() {
        Value::Null => Err(format!("{path}: {status} {}", reply["error"]).into()),
        data => Ok(data),
    }
}

async fn discuss(api: &Api, client: usize, nth: usize) -> Outcome<()> {
    let model = format!("bench/{MODEL}");
    let body = json!({
        "name": format!("discussion-{client}-{nth}"), "topic": PROMPT, "format": "deliberation",
        "facilitator": { "name": "Chair", "model": model },
        "participants": [{ "name": "Ann", "model": model, "role": "participant" }],
        "maxRounds": 2, "start": true,
    });
    let made = open(api, "discussions", &body).await?;
    let id = made["id"].as_str().ok_or("a discussion without an id")?;
    let url = format!("{}/api/discussions/{id}/events", api.url);
    let mut events = frames::Frames::new(api.client.get(url).send().await?)?;
    match events.each(|frame| frames::name(frame) == Some("concluded")).await? {
        true => Ok(()),
        false => Err("the events of a discussion ended before its conclusion".into()),
    }
}

/// How late each token of a board's advisors comes to a reader, in milliseconds.
async fn delays_of(driver: Api, reader: Api) -> Outcome<Vec<f64>> {
    let id = driver.convene(None).await?;
    let mut delays = vec![];
    let mut events = reader.follow(&id).await?;
    let mut is_first = true;
    events
        .each(|frame| {
            let now = micros_now();
            match frames::name(frame) {
                Some("delta") => {
                    // What had been said before the reader came is not late.
                    if !std::mem::take(&mut is_first) {
                        let late = |sent: u64| now.saturating_sub(sent) as f64 / 1000.0;
                        let text: Value = frames::data(frame)
                            .and_then(|data| serde_json::from_str(data).ok())
                            .unwrap_or_default();
                        let text = text["text"].as_str().unwrap_or_default().to_owned();
                        delays.extend(stamps(&text).map(late));
                    }
                    false
                }
                Some("synthesisBegan") => true,
                _ => false,
            }
        })
        .await?;
    Ok(delays)
}

/// Waits until the models have so many requests under way.
async fn in_flight(scripted: &Scripted, wanted: u64) -> Outcome<()> {
    let client = bare::client()?;
    let limit = Instant::now() + Duration::from_secs(60);
    loop {
        let stats = client.get(format!("{}/__stats", scripted.url)).send().await?;
        let stats: Value = stats.json().await?;
        if stats["inFlight"].as_u64() == Some(wanted) {
            return Ok(());
        }
        if Instant::now() > limit {
            return Err(format!("{wanted} requests under way were waited for: {stats}").into());
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
