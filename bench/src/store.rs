//! The store alone: events per second in commits of their own and in shared
//! ones, beside the rate at which the same disk can be waited for, or, where
//! `PLENARY_DATABASE_URL` names a database, beside `pgbench` on it.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use plenary_domain::{SessionId, Timestamp};
use plenary_engine::ports::{Append, Appended, NewEvent, Store as Log};
use plenary_store::{Holder, postgres};
use uuid::Uuid;

use crate::Outcome;
use crate::figures::Samples;

#[derive(Args)]
pub struct Store {
    /// Times that everything is measured
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds for each measurement
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// A folder on the disk to measure; a temporary one when absent
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// Sessions that write at the same time.
const SESSIONS: [usize; 4] = [1, 16, 64, 512];

impl Store {
    pub async fn run(self) -> Outcome<()> {
        if let Ok(url) = std::env::var("PLENARY_DATABASE_URL") {
            return self.on_database(&url).await;
        }
        let folder = match &self.folder {
            Some(parent) => tempfile::tempdir_in(parent)?,
            None => tempfile::tempdir()?,
        };
        let holder = Holder { command: "bench".into(), since: Timestamp::UNIX_EPOCH };
        let store = Arc::new(plenary_store::open(&folder.path().join("home"), holder).await?);
        let time = Duration::from_secs_f64(self.seconds);
        let (mut added, mut overwritten) = (vec![], vec![]);
        let mut rates: [Vec<f64>; SESSIONS.len()] = Default::default();
        for _ in 0..self.rounds {
            added.push(disk(folder.path(), time, false)?);
            overwritten.push(disk(folder.path(), time, true)?);
            for (sessions, rates) in SESSIONS.iter().zip(&mut rates) {
                rates.push(events(store.clone(), *sessions, time).await?);
            }
        }
        store.close().await?;
        println!("per second, median (p10 to p90) of {} rounds", self.rounds);
        println!("  4 KB added and waited for     {}", Samples::new(added));
        let waits = Samples::new(overwritten);
        println!("  4 KB overwritten, waited for  {waits}");
        let mut single = None;
        for (sessions, rates) in SESSIONS.iter().zip(rates) {
            let rates = Samples::new(rates);
            let alone = *single.get_or_insert(rates.median());
            println!(
                "  events, {sessions:>3} sessions at once  {rates}  ×{:.2} of the disk's waits, ×{:.1} of single commits",
                rates.median() / waits.median(),
                rates.median() / alone
            );
        }
        Ok(())
    }
}

impl Store {
    /// As many clients of `pgbench`, each adding a row of the same size in a transaction of
    /// its own, in turn with sessions that each add an event.
    async fn on_database(self, url: &str) -> Outcome<()> {
        let store = Arc::new(postgres::open(&postgres::Address::of(url)?).await?);
        let time = Duration::from_secs_f64(self.seconds);
        println!("per second, median (p10 to p90) of {} rounds", self.rounds);
        for sessions in SESSIONS {
            let (mut ours, mut bare) = (vec![], vec![]);
            for _ in 0..self.rounds {
                ours.push(events(store.clone(), sessions, time).await?);
                // More connections than that a server seldom has.
                bare.push(pgbench(url, sessions.min(64), time)?);
            }
            let (ours, bare) = (Samples::new(ours), Samples::new(bare));
            println!(
                "  events, {sessions:>3} sessions at once  {ours}  pgbench {bare}  ×{:.2}",
                ours.median() / bare.median()
            );
        }
        store.close().await;
        Ok(())
    }
}

pub fn pgbench(url: &str, clients: usize, time: Duration) -> Outcome<f64> {
    let table = "create table if not exists bench_row (id bigserial primary key, text text)";
    std::process::Command::new("psql").args(["--quiet", "--command", table, url]).output()?;
    let script = tempfile::NamedTempFile::new()?;
    let row = "x".repeat(250);
    std::fs::write(script.path(), format!("insert into bench_row (text) values ('{row}');\n"))?;
    let (clients, seconds) = (clients.to_string(), time.as_secs().max(1).to_string());
    let ran = std::process::Command::new("pgbench")
        .args(["--no-vacuum", "--protocol=prepared", "--jobs=2", "--client", &clients])
        .args(["--time", &seconds, "--file"])
        .arg(script.path())
        .arg(url)
        .output()?;
    let told = String::from_utf8_lossy(&ran.stdout);
    let rate = told.lines().find_map(|line| line.strip_prefix("tps = "));
    let rate = rate.and_then(|rate| rate.split(' ').next()?.parse().ok());
    rate.ok_or_else(|| format!("pgbench failed: {}", String::from_utf8_lossy(&ran.stderr)).into())
}

/// How often the disk can be waited for. Blocks that are added change the file's
/// length too; SQLite's write-ahead log, once it has grown, is overwritten.
fn disk(folder: &Path, time: Duration, overwrite: bool) -> Outcome<f64> {
    const BLOCKS: usize = 1024;
    const BLOCK: [u8; 4096] = [7; 4096];
    let mut file = File::create(folder.join("blocks"))?;
    if overwrite {
        (0..BLOCKS).try_for_each(|_| file.write_all(&BLOCK))?;
        file.sync_all()?;
    }
    let (start, mut count) = (Instant::now(), 0);
    while start.elapsed() < time {
        if overwrite && count % BLOCKS == 0 {
            file.rewind()?;
        }
        file.write_all(&BLOCK)?;
        file.sync_data()?;
        count += 1;
    }
    Ok(count as f64 / start.elapsed().as_secs_f64())
}

async fn events(store: Arc<dyn Log>, sessions: usize, time: Duration) -> Outcome<f64> {
    let start = Instant::now();
    let writers: Vec<_> =
        (0..sessions).map(|_| tokio::spawn(write(store.clone(), start + time))).collect();
    let mut count = 0;
    for writer in writers {
        count += writer.await??;
    }
    Ok(count as f64 / start.elapsed().as_secs_f64())
}

async fn write(store: Arc<dyn Log>, until: Instant) -> Outcome<u64> {
    let session = SessionId(Uuid::now_v7());
    let mut count = 0;
    while Instant::now() < until {
        match store.append(append(session, count)).await? {
            Appended::Written { version, .. } => count = version,
            other => return Err(format!("an append was refused: {other:?}").into()),
        }
    }
    Ok(count)
}

/// An answer of a model, of about a paragraph.
fn append(session: SessionId, expected: u64) -> Append {
    let text = "Weigh the cost of waiting against the cost of being wrong. ".repeat(4);
    Append {
        session,
        expected,
        epoch: None,
        kind: "boardroom",
        name: None,
        project: None,
        title: "What should we do first?".into(),
        status: "open",
        active: true,
        waits_for: vec![],
        imported: false,
        actor: "bench".into(),
        at: Timestamp::UNIX_EPOCH,
        events: vec![NewEvent {
            name: "answered",
            payload: format!("{{\"text\":\"{text}\"}}"),
            search: text,
            listed: true,
        }],
        attempts: vec![],
        idempotency: None,
        driver: None,
        wake_at: None,
    }
}
