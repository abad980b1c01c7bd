//! Many runs of one workflow at once, and one run of as many steps as a run may have, in
//! Plenary and in LangGraph, against one scripted server.

mod bare;
mod graph;

use std::process::Command;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use crate::Outcome;
use crate::held::{self, HEAD, Held, Others, printed};
use crate::peers::{Peer, Python, Work, python};
use crate::plenary::Api;
use crate::scripted::Scripted;
pub use bare::BareGraph;
pub use graph::Graph;
use graph::{ITEMS, Shape};

#[derive(Args)]
pub struct Workflows {
    /// Runs of 20 steps at once, one measurement after the other; 0 leaves them out
    #[arg(long, value_delimiter = ',', default_values_t = [1, 100, 1000])]
    at_once: Vec<usize>,
    /// Tokens per second of each answer; in the long run 2.5 times as many, and half as long
    #[arg(long, default_value_t = 20)]
    tps: u32,
    /// Tokens of each answer
    #[arg(long, default_value_t = 30)]
    tokens: usize,
    /// Seconds after which a measurement gives up
    #[arg(long, default_value_t = 900)]
    seconds: u64,
    /// Without the run of 2,000 steps
    #[arg(long)]
    no_long: bool,
    /// Without LangGraph
    #[arg(long)]
    alone: bool,
}

/// Whoever runs the graph.
enum Holder<'a> {
    Bare,
    Plenary,
    Peer(Peer, &'a Python),
}

/// What is run, and how often at once.
struct Measurement {
    shape: Shape,
    at_once: usize,
    seconds: u64,
    ideal: f64,
}

impl Workflows {
    pub async fn run(self) -> Outcome<()> {
        let python = if self.alone { None } else { python() };
        let many = self.at_once.iter().filter(|at_once| **at_once > 0);
        let many: Vec<_> = many.map(|at_once| (Shape::Many, *at_once)).collect();
        let long = if self.no_long { vec![] } else { vec![(Shape::Long, 1)] };
        let paced = |tokens_per_second, tokens| Graph { tokens_per_second, tokens };
        let slow = paced(self.tps, self.tokens);
        // What all items say has to fit into what one step may give.
        let fast = paced(5 * self.tps / 2, self.tokens / 2);
        for (all, graph) in [(many, slow), (long, fast)] {
            let Some((shape, _)) = all.first() else { continue };
            let scripted = Scripted::run(&graph.arguments())?;
            let (bare, _) = printed(&mut bare_command(&scripted.url, *shape, 1)?)?;
            let ideal = bare.seconds.first().copied().ok_or("a bare run did not end")?;
            println!("{}: {} calls, {ideal:.3} s asked bare", shape.words(), shape.calls());
            println!("{HEAD}");
            for (shape, at_once) in all {
                let seconds = self.seconds;
                Measurement { shape, at_once, seconds, ideal }.all(&scripted, &python).await?;
            }
        }
        Ok(())
    }
}

impl Measurement {
    async fn all(&self, scripted: &Scripted, python: &Option<Python>) -> Outcome<()> {
        let peers = Peer::graphs().into_iter();
        let peers = peers.flat_map(|peer| Some(Holder::Peer(peer, python.as_ref()?)));
        for holder in [Holder::Bare, Holder::Plenary].into_iter().chain(peers) {
            self.one(scripted, &holder).await?;
        }
        Ok(())
    }

    /// One line of the table.
    async fn one(&self, scripted: &Scripted, holder: &Holder<'_>) -> Outcome<()> {
        let (url, at_once) = (&scripted.url, self.at_once);
        let asked = scripted.requests().await?;
        let others = Others::watch(&scripted.process)?;
        let (held, cpu) = match holder {
            Holder::Bare => printed(&mut bare_command(url, self.shape, at_once)?)?,
            Holder::Plenary => self.serve(url).await?.with_cpu(),
            Holder::Peer(peer, python) => {
                let folder = tempfile::tempdir()?;
                let items = ITEMS.to_string();
                let work = Work {
                    kind: "workflow",
                    url,
                    conclusion: self.shape.conclusion(),
                    at_once,
                    seconds: self.seconds,
                    folder: folder.path(),
                    also: match self.shape {
                        Shape::Many => &[],
                        Shape::Long => &["--items", &items],
                    },
                };
                printed(&mut python.command(*peer, &work))?
            }
        };
        let others = others.cores(&scripted.process, cpu)?;
        println!("{}", held.row(at_once, &holder.name(), self.ideal, others));
        if let Some(problem) = &held.first_problem {
            println!("  the first that failed: {problem}");
        }
        // Whoever asks less or more often is not measured by the same work.
        let calls = scripted.requests().await? - asked;
        let wanted = (at_once * self.shape.calls()) as u64;
        if calls != wanted {
            println!("  {calls} calls in place of {wanted}");
        }
        Ok(())
    }

    async fn serve(&self, url: &str) -> Outcome<Held> {
        let (source, conclusion) = (self.shape.source(), self.shape.conclusion());
        let begin = |api: Api, _| begin(api, source.clone());
        let fault = |api: Api, id: String| fault(api, id, conclusion);
        let limit = Duration::from_secs(self.seconds);
        held::serve(url, self.at_once, limit, &["ended"], begin, fault).await
    }
}

impl Holder<'_> {
    fn name(&self) -> String {
        match self {
            Holder::Bare => "nobody: bare requests".to_owned(),
            Holder::Plenary => "Plenary".to_owned(),
            Holder::Peer(peer, _) => peer.name(),
        }
    }
}

/// Begins a run and returns its id.
async fn begin(api: Api, source: String) -> Outcome<String> {
    let url = format!("{}/api/runs", api.url);
    let response = api.client.post(url).json(&json!({ "source": source })).send().await?;
    let status = response.status();
    let reply: Value = response.json().await?;
    match reply["data"]["id"].as_str() {
        Some(id) => Ok(id.to_owned()),
        None => Err(format!("a run did not begin: {status} {}", reply["error"]).into()),
    }
}

/// What is wrong with how a run stands, as its record tells.
async fn fault(api: Api, id: String, conclusion: &str) -> Outcome<Option<String>> {
    let url = format!("{}/api/runs/{id}", api.url);
    let reply: Value = api.client.get(url).send().await?.error_for_status()?.json().await?;
    let run = &reply["data"];
    let right = run["status"] == "done" && run["outputs"].to_string().contains(conclusion);
    let (status, reason) = (&run["status"], &run["reason"]);
    Ok((!right).then(|| format!("{status}, {reason}, with {}", run["outputs"])))
}

fn bare_command(url: &str, shape: Shape, at_once: usize) -> Outcome<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["bare-graph", "--url", url, "--at-once", &at_once.to_string()]);
    if let Shape::Long = shape {
        command.arg("--long");
    }
    Ok(command)
}
