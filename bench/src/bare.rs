//! The four requests of a board, made with an HTTP client and nothing else: what
//! a script would do that needs no record, no live readers and no retries.

use std::time::{Duration, Instant};

use clap::Args;
use futures::future::try_join_all;
use plenary_domain::boardroom::preset;
use reqwest::Client;
use serde::Deserialize;
use serde_json::json;

use crate::Outcome;
use crate::frames::{Frames, data};
use crate::plenary::{MODEL, PROMPT};
use crate::scripted::HEADINGS;

#[derive(Args)]
pub struct Bare {
    /// Where the scripted model server is
    #[arg(long)]
    url: String,
    #[arg(long, default_value_t = 1)]
    rounds: usize,
}

impl Bare {
    /// Prints the microseconds that each board took.
    pub async fn run(self) -> Outcome<()> {
        let client = client()?;
        for _ in 0..self.rounds {
            println!("{}", board(&client, &self.url).await?.as_micros());
        }
        Ok(())
    }
}

pub fn client() -> Outcome<Client> {
    Ok(Client::builder().no_proxy().http1_only().tcp_nodelay(true).build()?)
}

async fn board(client: &Client, url: &str) -> Outcome<Duration> {
    let start = Instant::now();
    let roles = preset::board("classic-triad").ok_or("the preset is gone")?.roles;
    let advisors = roles.iter().map(|role| ask(client, url, MODEL, role.system_prompt(), PROMPT));
    let answers = try_join_all(advisors).await?;
    let system = format!("Write a synthesis under {}", HEADINGS.join(", "));
    ask(client, url, MODEL, &system, &answers.join("\n\n")).await?;
    Ok(start.elapsed())
}

pub async fn ask(
    client: &Client,
    url: &str,
    model: &str,
    system: &str,
    user: &str,
) -> Outcome<String> {
    let mut text = String::new();
    let mut frames = stream(client, url, model, system, user).await?;
    frames
        .each(|frame| {
            let Some(data) = data(frame) else { return false };
            text.push_str(&content(data).unwrap_or_default());
            data == "[DONE]"
        })
        .await?;
    match text.is_empty() {
        true => Err("the scripted server said nothing".into()),
        false => Ok(text),
    }
}

/// One answer on the wire of OpenAI.
pub async fn stream(
    client: &Client,
    url: &str,
    model: &str,
    system: &str,
    user: &str,
) -> Outcome<Frames> {
    let body = json!({
        "model": model,
        "messages": [
            { "role": "system", "content": system },
            { "role": "user", "content": user },
        ],
        "stream": true,
    });
    let url = format!("{url}/v1/chat/completions");
    Frames::new(client.post(url).json(&body).send().await?)
}

/// The text of one chunk.
pub fn content(data: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Chunk {
        choices: Vec<Choice>,
    }
    #[derive(Deserialize)]
    struct Choice {
        delta: Delta,
    }
    #[derive(Deserialize)]
    struct Delta {
        content: Option<String>,
    }
    let chunk: Chunk = serde_json::from_str(data).ok()?;
    chunk.choices.into_iter().next()?.delta.content
}
