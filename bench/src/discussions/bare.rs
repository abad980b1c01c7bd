//! The eleven calls of a discussion, made with an HTTP client and nothing else:
//! the limit, and what the pace of the models and this machine leave to nobody.

use std::time::{Duration, Instant};

use clap::Args;
use futures::future::join_all;
use reqwest::Client;

use super::talk::{CONCLUSION, FACILITATOR, PARTICIPANT, TURNS};
use crate::Outcome;
use crate::bare::{ask, client};
use crate::held::Held;
use crate::plenary::PROMPT;
use crate::process::{own_cpu, own_memory};

/// Prints what came of it as JSON.
#[derive(Args)]
pub struct BareTalk {
    #[arg(long)]
    url: String,
    #[arg(long)]
    at_once: usize,
}

impl BareTalk {
    pub async fn run(self) -> Outcome<()> {
        let client = client()?;
        let (start, cpu, before) = (Instant::now(), own_cpu()?, own_memory()?);
        let each = (0..self.at_once).map(|_| {
            let (client, url) = (client.clone(), self.url.clone());
            tokio::spawn(async move { discuss(&client, &url).await })
        });
        let mut seconds = vec![];
        for ended in join_all(each).await {
            seconds.push(ended??.as_secs_f64());
        }
        let held = Held {
            seconds,
            wall_seconds: start.elapsed().as_secs_f64(),
            cpu_seconds: (own_cpu()? - cpu).as_secs_f64(),
            before_kb: before.now_kb,
            peak_kb: own_memory()?.peak_kb,
            ..Held::default()
        };
        println!("{}", serde_json::to_string(&held)?);
        Ok(())
    }
}

async fn discuss(client: &Client, url: &str) -> Outcome<Duration> {
    let start = Instant::now();
    let mut transcript = PROMPT.to_owned();
    for _ in 0..TURNS {
        for (model, system) in [(FACILITATOR, "You lead."), (PARTICIPANT, "You take part.")] {
            let said = ask(client, url, model, system, &transcript).await?;
            transcript = format!("{transcript}\n\n{said}");
        }
    }
    let conclusion = ask(client, url, FACILITATOR, "You conclude.", &transcript).await?;
    match conclusion.contains(CONCLUSION) {
        true => Ok(start.elapsed()),
        false => Err(format!("a wrong conclusion: {conclusion}").into()),
    }
}
