//! The calls of the same graphs, made with an HTTP client and nothing else.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use futures::future::{join_all, try_join_all};
use reqwest::Client;
use tokio::sync::Semaphore;

use super::graph::{ITEMS, JOINER, MEMBER, MEMBERS, PARALLEL, STAGES};
use crate::Outcome;
use crate::bare::{ask, client};
use crate::held::Held;
use crate::process::{own_cpu, own_memory};

/// Prints what came of it as JSON.
#[derive(Args)]
pub struct BareGraph {
    #[arg(long)]
    url: String,
    #[arg(long)]
    at_once: usize,
    /// The run of many steps
    #[arg(long)]
    long: bool,
}

impl BareGraph {
    pub async fn run(self) -> Outcome<()> {
        let client = client()?;
        let (start, cpu, before) = (Instant::now(), own_cpu()?, own_memory()?);
        let each = (0..self.at_once).map(|_| {
            let (client, url, is_long) = (client.clone(), self.url.clone(), self.long);
            tokio::spawn(async move {
                match is_long {
                    true => long(client, url).await,
                    false => many(&client, &url).await,
                }
            })
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

async fn many(client: &Client, url: &str) -> Outcome<Duration> {
    let start = Instant::now();
    let mut joined = String::new();
    for _ in 0..STAGES {
        let members = MEMBERS.map(|_| ask(client, url, MEMBER, "You answer.", &joined));
        let said = try_join_all(members).await?.join(" ");
        joined = ask(client, url, JOINER, "You join.", &said).await?;
    }
    match joined.contains("(stage 5)") {
        true => Ok(start.elapsed()),
        false => Err(format!("a wrong conclusion: {joined}").into()),
    }
}

async fn long(client: Client, url: String) -> Outcome<Duration> {
    let start = Instant::now();
    let places = Arc::new(Semaphore::new(PARALLEL));
    let each = (0..ITEMS).map(|item| {
        let (client, url, places) = (client.clone(), url.clone(), places.clone());
        tokio::spawn(async move {
            let _place = places.acquire_owned().await?;
            let first = format!("What of {item}?");
            let said = ask(&client, &url, MEMBER, "You answer.", &first).await?;
            ask(&client, &url, JOINER, "You join.", &said).await
        })
    });
    for ended in join_all(each).await {
        ended??;
    }
    Ok(start.elapsed())
}
