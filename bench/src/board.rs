//! What Plenary adds to one board: time and processor time, cold as a command
//! and warm through a server, beside the same requests made bare.

use std::process::Command;
use std::time::{Duration, Instant};

use clap::Args;

use crate::Outcome;
use crate::figures::{Samples, millis};
use crate::plenary::Place;
use crate::process::to_the_end;
use crate::scripted::{Pace, Scripted};

#[derive(Args)]
pub struct Board {
    /// Boards of each kind, at each speed
    #[arg(long, default_value_t = 20)]
    rounds: usize,
    /// Only at the first speed, which shows what a start costs
    #[arg(long)]
    fast: bool,
}

const SPEEDS: [(&str, Pace); 2] = [
    (
        "as fast as possible, 150 tokens",
        Pace { tokens_per_second: 0, tokens: 150, first_ms: 0, stamped: false },
    ),
    (
        "80 tokens/s, 150 tokens, the first after 100 ms",
        Pace { tokens_per_second: 80, tokens: 150, first_ms: 100, stamped: false },
    ),
];

impl Board {
    pub async fn run(self) -> Outcome<()> {
        let speeds = if self.fast { &SPEEDS[..1] } else { &SPEEDS[..] };
        for &(name, pace) in speeds {
            println!("{name}; {} boards of each kind; ms, median (p10 to p90)", self.rounds);
            measure(pace, self.rounds).await?;
        }
        Ok(())
    }
}

/// Wall time of each board, and processor time of all of them.
#[derive(Default)]
struct Taken {
    walls: Vec<Duration>,
    cpu: Duration,
}

async fn measure(pace: Pace, rounds: usize) -> Outcome<()> {
    let scripted = Scripted::start(pace)?;
    let place = Place::new(&scripted.url)?;
    let served = Place::new(&scripted.url)?;
    let plenary = served.serve()?;
    // The first board of a store, and the first through a server, pay for its making.
    to_the_end(&mut place.ask()?)?;
    plenary.api.board().await?;

    let (mut ask, mut bare, mut serve) = (Taken::default(), Taken::default(), Taken::default());
    // In turn, so that whatever else the machine does falls on all alike.
    for _ in 0..rounds {
        let start = Instant::now();
        ask.cpu += to_the_end(&mut place.ask()?)?.1;
        ask.walls.push(start.elapsed());

        let start = Instant::now();
        bare.cpu += to_the_end(&mut bare_command(&scripted.url, 1)?)?.1;
        bare.walls.push(start.elapsed());

        let (start, cpu) = (Instant::now(), plenary.process.cpu()?);
        plenary.api.board().await?;
        serve.walls.push(start.elapsed());
        serve.cpu += plenary.process.cpu()?.saturating_sub(cpu);
    }
    let warm = warm(&scripted.url, rounds)?;

    row("bare, a process each", &bare, rounds, None);
    row("plenary ask", &ask, rounds, Some(&bare));
    row("bare, one process", &warm, rounds, None);
    row("plenary serve, REST + SSE", &serve, rounds, Some(&warm));
    Ok(())
}

fn bare_command(url: &str, rounds: usize) -> Outcome<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["bare", "--url", url, "--rounds", &rounds.to_string()]);
    Ok(command)
}

/// Many boards in one process, so that its start is not counted. The first one
/// makes the connections, as the first through the server did.
fn warm(url: &str, rounds: usize) -> Outcome<Taken> {
    let (printed, cpu) = to_the_end(&mut bare_command(url, rounds + 1)?)?;
    let (_, start) = to_the_end(&mut bare_command(url, 1)?)?;
    let walls = printed.lines().skip(1).map(|line| line.parse().map(Duration::from_micros));
    Ok(Taken { walls: walls.collect::<Result<_, _>>()?, cpu: cpu.saturating_sub(start) })
}

fn row(name: &str, taken: &Taken, rounds: usize, peer: Option<&Taken>) {
    let walls = Samples::of_millis(&taken.walls);
    let cpu = millis(taken.cpu) / rounds as f64;
    let against = peer.map(|peer| {
        let peer_wall = Samples::of_millis(&peer.walls).median();
        let peer_cpu = millis(peer.cpu) / rounds as f64;
        format!(
            "  {:+.1} ms, ×{:.2}; cpu ×{:.2}",
            walls.median() - peer_wall,
            walls.median() / peer_wall,
            cpu / peer_cpu
        )
    });
    println!("  {name:<26} wall {walls}  cpu {cpu:.1} each{}", against.unwrap_or_default());
}
