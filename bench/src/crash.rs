//! Kills the server at random moments while boards are convened, starts it again
//! on the same folder, and at the end compares three accounts of what happened:
//! what callers were told, what the log holds, and what the models were asked.

mod accounts;

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use clap::Args;
use plenary_scripted::Scripted;
use tokio::time::sleep;

use crate::figures::Dice;
use crate::plenary::{Api, Place};
use crate::process::Process;
use crate::scripted::Pace;
use crate::{Outcome, bare};

#[derive(Args)]
pub struct Crash {
    /// Times that the server is killed
    #[arg(long, default_value_t = 100)]
    rounds: usize,
    /// The same seed kills at the same moments after each start
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Callers that convene boards without pause
    #[arg(long, default_value_t = 3)]
    callers: usize,
}

/// A server lives this long, counted from its start.
const LIFE_MS: (u64, u64) = (5, 400);
/// A pause of each caller, so that boards do not pile up faster than they close.
const PAUSE: Duration = Duration::from_millis(100);
/// Violations that are shown; more are only counted.
const SHOWN: usize = 20;
/// How long everything may take once nobody kills any more.
const PATIENCE: Duration = Duration::from_secs(120);

impl Crash {
    pub async fn run(self) -> Outcome<()> {
        // A board takes about 150 ms, so a kill may find it in any of its stages.
        let pace = Pace { tokens_per_second: 200, tokens: 12, first_ms: 10, stamped: false };
        let scripted = Scripted::start(pace.script()).await?;
        let place = Place::new(&scripted.url())?;
        let listen = free_address()?;
        let api = Api { client: bare::client()?, url: format!("http://{listen}") };
        let over = Arc::new(AtomicBool::new(false));
        let callers: Vec<_> = (0..self.callers)
            .map(|caller| tokio::spawn(convene(api.clone(), caller, over.clone())))
            .collect();

        let start = Instant::now();
        self.kill_again_and_again(&place, &listen).await?;
        let killing = start.elapsed();
        let last = serve(&place, &listen)?;
        over.store(true, SeqCst);
        let mut told = vec![];
        let mut tries = 0;
        for caller in callers {
            let (boards, asked) = caller.await??;
            told.extend(boards);
            tries += asked;
        }
        all_closed(&api).await?;
        last.stop()?;

        println!(
            "seed {}: killed {} times in {:.1} s",
            self.seed,
            self.rounds,
            killing.as_secs_f64()
        );
        println!(
            "  {} boards were acknowledged, for which callers asked {tries} times",
            told.len()
        );
        let violations = accounts::compare(&place.home(), &told, &scripted.requests()).await?;
        match violations.as_slice() {
            [] => {
                println!("  no violation");
                Ok(())
            }
            some => {
                let shown = some[..some.len().min(SHOWN)].join("\n  ");
                Err(format!("{} violations:\n  {shown}", some.len()).into())
            }
        }
    }

    async fn kill_again_and_again(&self, place: &Place, listen: &str) -> Outcome<()> {
        let mut dice = Dice(self.seed);
        for _ in 0..self.rounds {
            let server = serve(place, listen)?;
            sleep(Duration::from_millis(dice.between(LIFE_MS.0, LIFE_MS.1))).await;
            server.kill()?;
        }
        Ok(())
    }
}

fn free_address() -> Outcome<String> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    Ok(listener.local_addr()?.to_string())
}

fn serve(place: &Place, listen: &str) -> Outcome<Process> {
    // What a killed server complains of is no news.
    Process::start(place.command(&["serve", "--listen", listen])?.stderr(Stdio::null()))
}

/// Convenes boards until it is over. A request without an answer is made again
/// with the same key, so that each key stands for one board.
async fn convene(api: Api, caller: usize, over: Arc<AtomicBool>) -> Outcome<(Vec<String>, usize)> {
    let mut boards = vec![];
    let mut tries = 0;
    while !over.load(SeqCst) {
        let key = format!("caller-{caller}-{}", boards.len());
        let start = Instant::now();
        let id = loop {
            tries += 1;
            match api.convene(Some(&key)).await {
                Ok(id) => break id,
                Err(error) if start.elapsed() > PATIENCE => return Err(error),
                Err(_) => sleep(Duration::from_millis(10)).await,
            }
        };
        boards.push(id);
        sleep(PAUSE).await;
    }
    Ok((boards, tries))
}

async fn all_closed(api: &Api) -> Outcome<()> {
    let start = Instant::now();
    loop {
        match api.count("active=true").await {
            Ok(0) => return Ok(()),
            Ok(left) if start.elapsed() > PATIENCE => {
                return Err(format!("{left} boards do not come to an end").into());
            }
            Err(error) if start.elapsed() > PATIENCE => return Err(error),
            Ok(_) | Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}
