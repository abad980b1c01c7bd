//! Many boards at once on one server, each with a live reader: how much later a
//! token arrives than it was sent, beside the same streams read bare.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use clap::Args;
use serde::Deserialize;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::figures::{Samples, megabytes};
use crate::frames::{self, micros_now, stamps};
use crate::plenary::{Api, MODEL, PROMPT, Place};
use crate::scripted::{Pace, Scripted};
use crate::watch::{Spent, Watch};
use crate::{Outcome, bare};

const ADVISORS: usize = 3;

#[derive(Args)]
pub struct Load {
    /// Boards at once
    #[arg(long, default_value_t = 500)]
    boards: usize,
    /// Tokens per second of each answer
    #[arg(long, default_value_t = 50)]
    tps: u32,
    /// Tokens of each answer
    #[arg(long, default_value_t = 500)]
    tokens: usize,
    /// Time to the first token, in which all boards are convened
    #[arg(long, default_value_t = 1500)]
    first_ms: u64,
    /// Only Plenary or only the bare streams, for a profiler
    #[arg(long)]
    only: Option<Only>,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Only {
    Plenary,
    Bare,
}

impl Load {
    pub async fn run(self) -> Outcome<()> {
        let streams = self.boards * ADVISORS;
        println!(
            "{} boards at once, {streams} answers of {} tokens at {} tokens/s: {} tokens/s in all",
            self.boards,
            self.tokens,
            self.tps,
            streams * self.tps as usize
        );
        if self.only != Some(Only::Plenary) {
            self.bare(streams).await?;
        }
        if self.only != Some(Only::Bare) {
            self.plenary().await?;
        }
        Ok(())
    }

    fn scripted(&self) -> Outcome<Scripted> {
        Scripted::start(Pace {
            tokens_per_second: self.tps,
            tokens: self.tokens,
            first_ms: self.first_ms,
            stamped: true,
        })
    }

    /// The limit: the bench reads the answers itself.
    async fn bare(&self, streams: usize) -> Outcome<()> {
        let scripted = self.scripted()?;
        let client = bare::client()?;
        let watch = Watch::start(&[&scripted.process])?;
        let mut readers = JoinSet::new();
        for _ in 0..streams {
            let (client, url) = (client.clone(), scripted.url.clone());
            readers.spawn(async move { read_bare(&client, &url).await });
        }
        let mut delays = vec![];
        while let Some(read) = readers.join_next().await {
            delays.extend(read??);
        }
        let spent = watch.read(&[&scripted.process])?;
        println!("bare streams, {:.1} s", spent.wall.as_secs_f64());
        tell_delays(delays);
        println!(
            "  cores: scripted {:.2}, bench {:.2}, others on this machine {:.2}",
            spent.cores(1),
            spent.cores(0),
            spent.others()
        );
        Ok(())
    }

    async fn plenary(&self) -> Outcome<()> {
        let scripted = self.scripted()?;
        let place = Place::new(&scripted.url)?;
        let plenary = place.serve()?;
        let processes = [&scripted.process, &plenary.process];
        let idle = plenary.process.memory()?;
        let gate = Arc::new(Gate::new(self.boards));
        let watch = Watch::start(&processes)?;
        let mut readers = JoinSet::new();
        for _ in 0..self.boards {
            let (api, gate) = (plenary.api.clone(), gate.clone());
            readers.spawn(async move { read_board(&api, &gate).await });
        }
        let convened = tokio::select! {
            () = gate.convened.all() => watch.read(&processes)?,
            Some(ended) = readers.join_next() => return Err(ended?.err().unwrap_or("a board ended early".into())),
        };
        gate.answered.all().await;
        let answered = watch.read(&processes)?;
        let mut delays = vec![];
        while let Some(read) = readers.join_next().await {
            delays.extend(read??);
        }
        let whole = watch.read(&processes)?;
        let memory = plenary.process.memory()?;

        let boards = self.boards as f64;
        println!("through plenary serve, {:.1} s", whole.wall.as_secs_f64());
        tell_delays(delays);
        let seconds = |spent: &Spent| spent.wall.as_secs_f64();
        println!(
            "  cores while advisors answer: plenary {:.2}, scripted {:.2}, bench {:.2}, others {:.2}",
            answered.cores(2),
            answered.cores(1),
            answered.cores(0),
            answered.others()
        );
        let tokens = boards * ((ADVISORS + 1) * self.tokens) as f64;
        println!(
            "  plenary: {:.1} cpu s in all, {:.1} µs per token; memory {:.0} MB idle, {:.0} MB peak",
            whole.cpu[2].as_secs_f64(),
            whole.cpu[2].as_secs_f64() * 1e6 / tokens,
            megabytes(idle.now_kb),
            megabytes(memory.peak_kb)
        );
        println!(
            "  boards/s: {:.0} convened, {:.1} closed; readers that fell behind: {}",
            boards / seconds(&convened),
            boards / seconds(&whole),
            plenary.api.metric("resyncs_total").await?
        );
        Ok(())
    }
}

async fn read_bare(client: &reqwest::Client, url: &str) -> Outcome<Vec<u64>> {
    let mut delays = vec![];
    let mut answer = bare::stream(client, url, MODEL, "You are an advisor.", PROMPT).await?;
    let complete = answer.each(|frame| {
        let now = micros_now();
        let data = frames::data(frame).unwrap_or_default();
        let text = bare::content(data).unwrap_or_default();
        delays.extend(stamps(&text).map(|sent| now.saturating_sub(sent)));
        data == "[DONE]"
    });
    match complete.await? {
        true => Ok(delays),
        false => Err("a bare answer was cut".into()),
    }
}

/// The delays of all advisors' tokens, in microseconds. Syntheses have no stamps.
async fn read_board(api: &Api, gate: &Gate) -> Outcome<Vec<u64>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Delta {
        call_id: String,
        offset: usize,
        text: String,
    }
    let id = api.convene(None).await?;
    gate.convened.one();
    let mut delays = vec![];
    // Bytes by call: after a resync the text so far comes again.
    let mut heard: HashMap<String, usize> = HashMap::new();
    let mut events = api.follow(&id).await?;
    let complete = events.each(|frame| {
        let now = micros_now();
        match frames::name(frame) {
            Some("delta") => {
                let data = frames::data(frame).unwrap_or_default();
                let Ok(delta) = serde_json::from_str::<Delta>(data) else { return false };
                let heard = heard.entry(delta.call_id).or_default();
                let new = delta.text.get(heard.saturating_sub(delta.offset)..).unwrap_or_default();
                delays.extend(stamps(new).map(|sent| now.saturating_sub(sent)));
                *heard = delta.offset + delta.text.len();
                false
            }
            Some("synthesisBegan") => {
                gate.answered.one();
                false
            }
            Some("synthesized") => true,
            _ => false,
        }
    });
    match complete.await? {
        true => Ok(delays),
        false => Err("the events of a board ended before its synthesis".into()),
    }
}

fn tell_delays(micros: Vec<u64>) {
    let delays = Samples::new(micros.into_iter().map(|micros| micros as f64 / 1000.0).collect());
    println!(
        "  {} tokens came, ms after they were sent: p50 {:.1}, p90 {:.1}, p99 {:.1}, max {:.1}",
        delays.len(),
        delays.median(),
        delays.at(0.9),
        delays.at(0.99),
        delays.at(1.0)
    );
}

/// What all boards come to: all are convened, all advisors have answered.
struct Gate {
    convened: Count,
    answered: Count,
}

impl Gate {
    fn new(boards: usize) -> Self {
        Gate { convened: Count::new(boards), answered: Count::new(boards) }
    }
}

struct Count {
    missing: AtomicUsize,
    complete: Notify,
}

impl Count {
    fn new(missing: usize) -> Self {
        Count { missing: AtomicUsize::new(missing), complete: Notify::new() }
    }

    fn one(&self) {
        if self.missing.fetch_sub(1, SeqCst) == 1 {
            self.complete.notify_one();
        }
    }

    async fn all(&self) {
        self.complete.notified().await;
    }
}
