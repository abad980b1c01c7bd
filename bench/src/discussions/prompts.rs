//! How much of each prompt of a discussion its model has been sent before, as the prompts
//! themselves tell, and as a llama.cpp server tells that is sent the same ones.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use super::serve::{self, AGENTS, Table};
use super::talk::{FACILITATOR, Talk};
use crate::{Outcome, bare};

const LIMIT: Duration = Duration::from_secs(120);

#[derive(Args)]
pub struct Prompts {
    /// Tokens of each turn
    #[arg(long, default_value_t = 150)]
    tokens: usize,
    /// Three agents of the program discuss for so many turns, in place of two with a name
    /// each for five
    #[arg(long, value_name = "TURNS")]
    agents: Option<usize>,
    /// A llama.cpp server that is sent the same prompts, one after the other
    #[arg(long, value_name = "URL")]
    llama: Option<String>,
}

impl Prompts {
    pub async fn run(self) -> Outcome<()> {
        let asked = self.hold().await?;
        println!(
            "| seat | bytes | sent before, from the start | in any order | tokens | cached | |"
        );
        println!("|---|---|---|---|---|---|---|");
        let (mut before, mut known): (Vec<String>, BTreeSet<String>) = Default::default();
        let mut seats: BTreeMap<String, usize> = BTreeMap::new();
        let (mut all, mut later) = (Tokens::default(), Tokens::default());
        for body in &asked {
            let (seat, prompt) = (seat(body), words(body));
            let tokens = match &self.llama {
                Some(url) => tokens(url, body).await?,
                None => Tokens::default(),
            };
            all.add(&tokens);
            let times = seats.entry(seat.clone()).or_default();
            if *times > 0 {
                later.add(&tokens);
            }
            *times += 1;
            let same = before.iter().map(|earlier| in_common(earlier, &prompt)).max();
            let (bytes, same, most) = (prompt.len(), same.unwrap_or(0), seen(&prompt, &known));
            let (start, order) = (percent(same, bytes), percent(most, bytes));
            let Tokens { sent, cached } = tokens;
            let part = percent(cached, sent);
            println!("| {seat} | {bytes} | {start} | {order} | {sent} | {cached} | {part} |");
            known.extend(parts(&prompt).map(str::to_owned));
            before.push(prompt);
        }
        for (which, sum) in [("all", all), ("all but each seat's first", later)] {
            let part = percent(sum.cached, sum.sent);
            let read = sum.sent - sum.cached;
            println!("{which}: {} tokens, {} cached ({part}), {read} read", sum.sent, sum.cached);
        }
        Ok(())
    }

    /// Holds the discussion with scripted models; what they were asked.
    async fn hold(&self) -> Outcome<Vec<Value>> {
        let usual = Talk::usual(0, self.tokens);
        let (talk, table) = match self.agents {
            None => (usual, Table::Usual),
            Some(turns) => {
                let speakers = AGENTS.map(str::to_owned).to_vec();
                (Talk { turns, speakers, ..usual }, Table::Agents { turns })
            }
        };
        let scripted = plenary_scripted::Scripted::start(talk.script()).await?;
        let held = serve::hold(&scripted.url(), 1, LIMIT, table).await?;
        if let Some(problem) = held.first_problem {
            return Err(problem.into());
        }
        let asked: Vec<Value> = scripted.requests().into_iter().map(|one| one.body).collect();
        if asked.len() != talk.calls() {
            return Err(format!("{} calls in place of {}", asked.len(), talk.calls()).into());
        }
        Ok(asked)
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

/// Whoever leads has a model of its own; whoever takes part is named by the last question.
fn seat(body: &Value) -> String {
    let leads = body["model"].as_str().is_some_and(|model| model.ends_with(FACILITATOR));
    let prompt = words(body);
    let asked = prompt.rsplit_once(" question to ").and_then(|(_, to)| to.split_once(">>>"));
    match (leads, asked) {
        (false, Some((name, _))) => name.to_owned(),
        (true, _) | (false, None) => "Chair".to_owned(),
    }
}

fn words(body: &Value) -> String {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    messages.iter().map(text).collect::<Vec<_>>().join("\n\n")
}

fn in_common(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}

/// Paragraphs, of which a quotation is one.
fn parts(prompt: &str) -> impl Iterator<Item = &str> {
    prompt.split_inclusive("\n\n")
}

/// Bytes of the paragraphs that have been sent before: no order of them could have more of
/// the prompt in a cache.
fn seen(prompt: &str, known: &BTreeSet<String>) -> usize {
    parts(prompt).filter(|part| known.contains(*part)).map(str::len).sum()
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
