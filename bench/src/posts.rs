//! Posts on one whiteboard that are on the disk, per second, from many agents at
//! once; beside it what the store alone makes of the same events in the same run.

pub mod agent;
mod limit;

use std::time::{Duration, Instant};

use clap::Args;
use futures::future::{join_all, try_join_all};
use serde_json::json;

use crate::Outcome;
use crate::figures::{Samples, millis};
use crate::plenary::{Place, Plenary};
use crate::process::{machine_cpu, own_cpu};
use agent::{Agent, Way};

#[derive(Args)]
pub struct Posts {
    /// Times that everything is measured, each time on new boards
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Posts of each measurement, shared among the agents; one agent may make 2,000
    #[arg(long, default_value_t = 1920)]
    posts: usize,
}

/// Agents that post at the same time.
const AGENTS: [usize; 3] = [1, 16, 64];
const WAYS: [Way; 2] = [Way::Rest, Way::Mcp];

impl Posts {
    pub async fn run(self) -> Outcome<()> {
        // No model is ever asked.
        let place = Place::new("http://127.0.0.1:1")?;
        let plenary = place.serve()?;
        let store = limit::open().await?;
        let mut rows: Vec<Row> = AGENTS.into_iter().map(Row::new).collect();
        let others = Others::begin(&plenary)?;
        for round in 0..self.rounds {
            for row in &mut rows {
                let each = self.posts / row.agents;
                row.limit.push(limit::rate(&store, row.agents, each).await?);
                for (way, measured) in WAYS.into_iter().zip(&mut row.ways) {
                    let board = format!("{}-{}-{round}", way.name().to_lowercase(), row.agents);
                    measured.add(measure(&plenary, way, &board, row.agents, each).await?);
                }
            }
        }
        println!(
            "posts on one board, per second; median (p10 to p90) of {} rounds of {}",
            self.rounds, self.posts
        );
        rows.into_iter().for_each(Row::print);
        println!("  {:.2} of the cores went to other programs", others.end(&plenary)?);
        Ok(())
    }
}

struct Row {
    agents: usize,
    limit: Vec<f64>,
    ways: [Measured; WAYS.len()],
}

/// Of several rounds.
#[derive(Default)]
struct Measured {
    rates: Vec<f64>,
    waits: Vec<Duration>,
    cores: Vec<f64>,
}

/// Of one round.
struct Round {
    rate: f64,
    waits: Vec<Duration>,
    /// That the server kept busy.
    cores: f64,
}

impl Row {
    fn new(agents: usize) -> Row {
        Row { agents, limit: vec![], ways: Default::default() }
    }

    fn print(self) {
        let limit = Samples::new(self.limit);
        println!("  {:>2} agents: the store alone  {limit}", self.agents);
        for (way, measured) in WAYS.into_iter().zip(self.ways) {
            let rates = Samples::new(measured.rates);
            let waits = Samples::of_millis(&measured.waits);
            println!(
                "    {:<4} {rates}  ×{:.2} of the store; ms per post p50 {:.1}, p99 {:.1}; server {:.2} cores",
                way.name(),
                rates.median() / limit.median(),
                waits.median(),
                waits.at(0.99),
                Samples::new(measured.cores).median(),
            );
        }
    }
}

impl Measured {
    fn add(&mut self, round: Round) {
        self.rates.push(round.rate);
        self.waits.extend(round.waits);
        self.cores.push(round.cores);
    }
}

async fn measure(
    plenary: &Plenary,
    way: Way,
    board: &str,
    agents: usize,
    each: usize,
) -> Outcome<Round> {
    let url = &plenary.api.url;
    let opening = json!({ "boardId": board, "topic": "How fast?", "openedBy": "chair" });
    let opened = plenary.api.client.post(format!("{url}/api/whiteboards")).json(&opening);
    opened.send().await?.error_for_status()?;
    let agents = (0..agents).map(|nth| Agent::register(way, url, board, nth));
    let agents = try_join_all(agents).await?;

    let (start, cpu) = (Instant::now(), plenary.process.cpu()?);
    let posting = join_all(agents.into_iter().map(|agent| tokio::spawn(agent.post(each)))).await;
    let (took, cpu) = (start.elapsed(), plenary.process.cpu()?.saturating_sub(cpu));
    let mut waits = vec![];
    for agent in posting {
        waits.extend(agent??);
    }
    let rate = waits.len() as f64 / took.as_secs_f64();
    Ok(Round { rate, waits, cores: millis(cpu) / millis(took) })
}

/// Processor time that neither this program nor the server took.
struct Others {
    start: Instant,
    machine: Duration,
    ours: Duration,
}

impl Others {
    fn begin(plenary: &Plenary) -> Outcome<Others> {
        let ours = own_cpu()? + plenary.process.cpu()?;
        Ok(Others { start: Instant::now(), machine: machine_cpu()?, ours })
    }

    fn end(self, plenary: &Plenary) -> Outcome<f64> {
        let ours = own_cpu()? + plenary.process.cpu()? - self.ours;
        let others = (machine_cpu()? - self.machine).saturating_sub(ours);
        Ok(millis(others) / millis(self.start.elapsed()))
    }
}
