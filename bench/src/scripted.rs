//! The scripted model server, in a process of its own.

use std::io::Write as _;
use std::process::Command;
use std::time::Duration;

use clap::Args;
use plenary_scripted::{Reply, Script, When};

use crate::process::Process;
use crate::{Outcome, bare};

/// The headings of a synthesis. One without them would be asked for again.
pub const HEADINGS: [&str; 4] =
    ["## Consensus", "## Points of Agreement", "## Points of Divergence", "## Recommendation"];

/// How answers come.
#[derive(Args, Clone, Copy)]
pub struct Pace {
    /// 0 is as fast as possible
    #[arg(long)]
    pub tokens_per_second: u32,
    #[arg(long)]
    pub tokens: usize,
    #[arg(long)]
    pub first_ms: u64,
    /// Each token of an advisor tells when it was sent
    #[arg(long)]
    pub stamped: bool,
}

impl Pace {
    pub fn script(self) -> Script {
        let paced = |reply: Reply| {
            let first = Duration::from_millis(self.first_ms);
            reply.tokens_per_second(self.tokens_per_second).first_token(first)
        };
        let advice = paced(Reply::canned().tokens(self.tokens));
        let advice = if self.stamped { advice.stamp() } else { advice };
        let headings = HEADINGS.map(|heading| format!("{heading}\n\nYes.")).join("\n\n");
        let spaces = headings.matches(' ').count();
        let filler = " more".repeat(self.tokens.saturating_sub(spaces + 1));
        let synthesis = paced(Reply::text(&format!("{headings}{filler}")));
        Script::new(advice).when(When::says(HEADINGS[3]), synthesis)
    }
}

pub struct Scripted {
    pub process: Process,
    pub url: String,
}

impl Scripted {
    pub fn start(pace: Pace) -> Outcome<Scripted> {
        let mut arguments = vec![
            "scripted".to_owned(),
            format!("--tokens-per-second={}", pace.tokens_per_second),
            format!("--tokens={}", pace.tokens),
            format!("--first-ms={}", pace.first_ms),
        ];
        if pace.stamped {
            arguments.push("--stamped".to_owned());
        }
        Scripted::run(&arguments)
    }

    /// This program as one of its own hidden commands, which serves a script.
    pub fn run(arguments: &[String]) -> Outcome<Scripted> {
        let mut command = Command::new(std::env::current_exe()?);
        let (process, url) = Process::start_server(command.args(arguments))?;
        Ok(Scripted { process, url })
    }

    /// Chat requests that have come so far.
    pub async fn requests(&self) -> Outcome<u64> {
        let stats = bare::client()?.get(format!("{}/__stats", self.url)).send().await?;
        let stats: serde_json::Value = stats.json().await?;
        stats["count"].as_u64().ok_or_else(|| "the scripted server does not count".into())
    }
}

/// Serves a script until this process is ended.
pub async fn serve(script: Script) -> Outcome<()> {
    let server = plenary_scripted::Scripted::start(script).await?;
    println!("{}", server.url());
    std::io::stdout().flush()?;
    std::future::pending().await
}
