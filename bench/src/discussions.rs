//! Many discussions at once, each of five turns and a synthesis, in Plenary and in
//! the frameworks that one would otherwise take, against one scripted server.

mod bare;
mod prompts;
mod serve;
mod talk;

use std::process::Command;
use std::time::Duration;

use clap::Args;

use crate::Outcome;
use crate::held::{HEAD, Others, printed};
use crate::peers::{Peer, Python, Work, python};
use crate::scripted::Scripted;
pub use bare::BareTalk;
pub use prompts::Prompts;
use serve::Table;
pub use talk::Talk;

#[derive(Args)]
pub struct Discussions {
    /// Discussions at once, one measurement after the other
    #[arg(long, value_delimiter = ',', default_values_t = [1, 100, 1000])]
    at_once: Vec<usize>,
    /// Tokens per second of each answer
    #[arg(long, default_value_t = 50)]
    tps: u32,
    /// Tokens of each turn and of the synthesis; a decision has 34
    #[arg(long, default_value_t = 100)]
    tokens: usize,
    /// Seconds after which a measurement gives up
    #[arg(long, default_value_t = 900)]
    seconds: u64,
    /// Without AutoGen and LangGraph
    #[arg(long)]
    alone: bool,
    /// Without Plenary
    #[arg(long, conflicts_with = "alone")]
    peers: bool,
}

/// Whoever holds discussions.
enum Holder<'a> {
    Bare,
    Plenary,
    Peer(Peer, &'a Python),
}

impl Discussions {
    pub async fn run(self) -> Outcome<()> {
        let talk = Talk::usual(self.tps, self.tokens);
        let python = if self.alone { None } else { python() };
        let scripted = Scripted::run(&talk.arguments())?;
        let ideal = held_by_nobody(&scripted)?;
        println!(
            "{} calls at {} tokens/s: {:.3} s by the pace alone, {ideal:.3} s asked bare, one after the other",
            talk::CALLS,
            self.tps,
            talk.paced_seconds()
        );
        println!("{HEAD}");
        for &at_once in &self.at_once {
            for holder in self.holders(python.as_ref()) {
                self.measure(&scripted, at_once, &holder, ideal).await?;
            }
        }
        Ok(())
    }

    fn holders<'a>(&self, python: Option<&'a Python>) -> Vec<Holder<'a>> {
        let mut holders = vec![Holder::Bare];
        if !self.peers {
            holders.push(Holder::Plenary);
        }
        let peers = Peer::all().into_iter().flat_map(|peer| Some(Holder::Peer(peer, python?)));
        holders.extend(peers);
        holders
    }

    /// One line of the table.
    async fn measure(
        &self,
        scripted: &Scripted,
        at_once: usize,
        holder: &Holder<'_>,
        ideal: f64,
    ) -> Outcome<()> {
        let url = &scripted.url;
        let asked = scripted.requests().await?;
        let others = Others::watch(&scripted.process)?;
        let (held, cpu) = match holder {
            Holder::Bare => printed(&mut bare_command(url, at_once)?)?,
            Holder::Plenary => {
                let limit = Duration::from_secs(self.seconds);
                serve::hold(url, at_once, limit, Table::Usual).await?.with_cpu()
            }
            Holder::Peer(peer, python) => {
                let folder = tempfile::tempdir()?;
                let work = Work {
                    kind: "discussion",
                    url,
                    conclusion: talk::CONCLUSION,
                    at_once,
                    seconds: self.seconds,
                    folder: folder.path(),
                    also: &[],
                };
                printed(&mut python.command(*peer, &work))?
            }
        };
        let others = others.cores(&scripted.process, cpu)?;
        println!("{}", held.row(at_once, &holder.name(), ideal, others));
        if let Some(problem) = &held.first_problem {
            println!("  the first that failed: {problem}");
        }
        // Whoever asks less or more often is not measured by the same work.
        let calls = scripted.requests().await? - asked;
        let wanted = (at_once * talk::CALLS) as u64;
        if calls != wanted {
            println!("  {calls} calls in place of {wanted}");
        }
        Ok(())
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

/// Seconds of one discussion that is asked bare: what nobody can do without.
fn held_by_nobody(scripted: &Scripted) -> Outcome<f64> {
    let (held, _) = printed(&mut bare_command(&scripted.url, 1)?)?;
    held.seconds.first().copied().ok_or_else(|| "a bare discussion did not end".into())
}

fn bare_command(url: &str, at_once: usize) -> Outcome<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["bare-talk", "--url", url, "--at-once", &at_once.to_string()]);
    Ok(command)
}
