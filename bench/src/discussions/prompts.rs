//! How much of each prompt of a discussion its model has been sent before, as the prompts
//! themselves tell, and as a llama.cpp server tells that is sent the same ones.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use super::serve;
use super::talk::{CALLS, Talk};
use crate::{Outcome, bare};

/// Who takes part; anybody else is the facilitator.
const PARTICIPANTS: [&str; 2] = ["Ann", "Bob"];
const LIMIT: Duration = Duration::from_secs(60);

#[derive(Args)]
pub struct Prompts {
    /// Tokens of each turn
    #[arg(long, default_value_t = 150)]
    tokens: usize,
    /// A llama.cpp server that is sent the same prompts, one after the other
    #[arg(long, value_name = "URL")]
    llama: Option<String>,
}

impl Prompts {
    pub async fn run(self) -> Outcome<()> {
        let talk = Talk { tokens_per_second: 0, tokens: self.tokens };
        let scripted = plenary_scripted::Scripted::start(talk.script()).await?;
        let held = serve::hold(&scripted.url(), 1, LIMIT).await?;
        if let Some(problem) = held.first_problem {
            return Err(problem.into());
        }
        let asked: Vec<Value> = scripted.requests().into_iter().map(|one| one.body).collect();
        if asked.len() != CALLS {
            return Err(format!("{} calls in place of {CALLS}", asked.len()).into());
        }
        println!("| seat | bytes | as the one before | of it | of this one | tokens | cached | |");
        println!("|---|---|---|---|---|---|---|---|");
        let mut before: BTreeMap<&str, String> = BTreeMap::new();
        let (mut all, mut later) = (Tokens::default(), Tokens::default());
        for body in &asked {
            let (seat, prompt) = (seat(body), words(body));
            let tokens = match &self.llama {
                Some(url) => tokens(url, body).await?,
                None => Tokens::default(),
            };
            let again = before.insert(seat, prompt.clone());
            all.add(&tokens);
            let same = again.as_ref().map_or(0, |earlier| {
                prompt.bytes().zip(earlier.bytes()).take_while(|(one, other)| one == other).count()
            });
            if again.is_some() {
                later.add(&tokens);
            }
            let (bytes, earlier) = (prompt.len(), again.map_or(0, |earlier| earlier.len()));
            let (of_it, of_this) = (percent(same, earlier), percent(same, bytes));
            let Tokens { sent, cached } = tokens;
            let part = percent(cached, sent);
            println!(
                "| {seat} | {bytes} | {same} | {of_it} | {of_this} | {sent} | {cached} | {part} |"
            );
        }
        for (which, sum) in [("all", all), ("all but each seat's first", later)] {
            let part = percent(sum.cached, sum.sent);
            let read = sum.sent - sum.cached;
            println!("{which}: {} tokens, {} cached ({part}), {read} read", sum.sent, sum.cached);
        }
        Ok(())
    }
}

#[derive(Default)]
struct Tokens {
    sent: usize,
    cached: usize,
}

impl Tokens {
    fn add(&mut self, other: &Tokens) {
        self.sent += other.sent;
        self.cached += other.cached;
    }
}

fn seat(body: &Value) -> &'static str {
    let system = body["messages"][0]["content"].as_str().unwrap_or_default();
    let is = |name: &&&str| system.starts_with(&format!("You are {name},"));
    PARTICIPANTS.iter().find(is).copied().unwrap_or("Chair")
}

fn words(body: &Value) -> String {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    messages.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// Sends a prompt once more, for one token of an answer.
async fn tokens(url: &str, body: &Value) -> Outcome<Tokens> {
    let request = json!({ "messages": body["messages"], "max_tokens": 1 });
    let url = format!("{url}/v1/chat/completions");
    let reply = bare::client()?.post(url).json(&request).send().await?.error_for_status()?;
    let reply: Value = reply.json().await?;
    let count = |name: &str| usize::try_from(reply["timings"][name].as_u64()?).ok();
    let (Some(cached), Some(read)) = (count("cache_n"), count("prompt_n")) else {
        return Err(format!("the server does not say what it read: {reply}").into());
    };
    Ok(Tokens { sent: cached + read, cached })
}

fn percent(part: usize, whole: usize) -> String {
    (part * 100).checked_div(whole).map(|percent| format!("{percent} %")).unwrap_or_default()
}
