#![allow(clippy::expect_used, clippy::print_stdout, reason = "a tool that a person runs")]

//! Measures the embedded model, and holds it to its shapes:
//! `cargo run --release -p plenary -p plenary-providers --features plenary/local
//!  --example local -- PATH.gguf [COUNT]`
//!
//! Beside a llama.cpp server that has the same file, in turn, with `--beside URL [ROUNDS]`
//! after the path; `scripts/llama-bench` starts one.

use std::time::Instant;

use futures::StreamExt;
use futures::future::join_all;
use plenary_domain::{Ask, Message, ModelName, Patience, Shape, Speaker};
use plenary_engine::ports::{Models, Piece};
use plenary_providers::{Kind, LocalModel, ProviderConfig, Providers};

const HEADINGS: [&str; 4] =
    ["Consensus", "Points of Agreement", "Points of Divergence", "Recommendation"];

fn main() {
    let path = std::env::args().nth(1).expect("the path of a GGUF file");
    if std::env::args().nth(2).as_deref() == Some("--beside") {
        let url = std::env::args().nth(3).expect("the address of a llama.cpp server");
        let rounds = std::env::args().nth(4).map_or(3, |n| n.parse().expect("a number"));
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        return runtime.block_on(beside(path.into(), &url, rounds));
    }
    let count: usize = std::env::args().nth(2).map_or(30, |n| n.parse().expect("a number"));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(run(path.into(), count));
}

async fn run(path: std::path::PathBuf, count: usize) {
    let model = LocalModel { name: "m".into(), path, note: None };
    let providers = Providers::new(vec![ProviderConfig::local("local", vec![model])]);
    answer(&providers, free(0)).await;
    for together in [1, 3, 6] {
        let (alone, alone_s) = timed(async {
            let mut tokens = 0;
            for n in 0..together {
                tokens += answer(&providers, free(n)).await.tokens;
            }
            tokens
        })
        .await;
        let (batch, batch_s) = timed(async {
            let answers = (0..together).map(|n| answer(&providers, free(n)));
            join_all(answers).await.iter().map(|answer| answer.tokens).sum::<u64>()
        })
        .await;
        let (alone, batch) = (alone as f64 / alone_s, batch as f64 / batch_s);
        println!(
            "{together} answers: {alone:.0} tokens/s one after the other, {batch:.0} together ({:.2}×)",
            batch / alone
        );
    }
    decisions(&providers, count).await;
    syntheses(&providers, count).await;
}

/// The same questions to both, in turn, so that whatever else the machine does is shared.
async fn beside(path: std::path::PathBuf, url: &str, rounds: usize) {
    plenary_providers::install_tls();
    let model = LocalModel { name: "m".into(), path, note: None };
    let server = ProviderConfig::new("server", Kind::OpenAi).at(&format!("{url}/v1"));
    let providers = Providers::new(vec![ProviderConfig::local("local", vec![model]), server]);
    // The processor time is what can be compared on a machine that others use too.
    let server_pid = std::env::var("SERVER_PID").expect("SERVER_PID");
    let answer_tokens = std::env::var("TOKENS").map_or(128, |n| n.parse().expect("a number"));
    let pace = async |model: &str, together: usize, round: usize| {
        let asked = (0..together).map(|n| {
            let mut ask = free(n + round);
            ask.model = ModelName(model.into());
            ask.messages[0].text =
                format!("{} (Question {round}.{together})", ask.messages[0].text);
            ask.patience.answer_tokens = answer_tokens;
            answer(&providers, ask)
        });
        let process = if model == "local/m" { "self".to_owned() } else { server_pid.clone() };
        let before = used(&process);
        let (said, seconds) = timed(join_all(asked)).await;
        let tokens = said.iter().map(|said| said.tokens).sum::<u64>() as f64;
        Pace { tokens: tokens / seconds, for_cpu: tokens / (used(&process) - before) }
    };
    for model in ["local/m", "server/m"] {
        pace(model, 1, 1_000).await;
    }
    for together in [1, 3, 6] {
        let mut ratios = vec![];
        for round in 0..rounds {
            let own = pace("local/m", together, round).await;
            let other = pace("server/m", together, round).await;
            println!(
                "{together} at once: {:.1} tokens/s, the server {:.1}; {:.1} and {:.1} for each \
                 second of processor time",
                own.tokens, other.tokens, own.for_cpu, other.for_cpu
            );
            ratios.push((own.tokens / other.tokens, own.for_cpu / other.for_cpu));
        }
        let median = |mut all: Vec<f64>| {
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        println!(
            "{together} at once, medians: ×{:.2} by the clock, ×{:.2} by processor time",
            median(ratios.iter().map(|ratio| ratio.0).collect()),
            median(ratios.iter().map(|ratio| ratio.1).collect())
        );
    }
    // A long prompt that another one begins with: to be read once.
    let long = "The minutes say that it was discussed at length, and nobody agreed. ".repeat(40);
    for model in ["local/m", "server/m"] {
        let asks = (0..3).map(|n| {
            let mut ask = ask("You are an advisor.", &format!("{long} What now? {n}"), Shape::Free);
            ask.model = ModelName(model.into());
            ask.patience.answer_tokens = 32;
            answer(&providers, ask)
        });
        let (_, seconds) = timed(join_all(asks)).await;
        println!("3 with the same 600 tokens before them: {seconds:.1} s ({model})");
    }
}

struct Pace {
    tokens: f64,
    for_cpu: f64,
}

/// Seconds of processor time that a process has used.
fn used(process: &str) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("a process");
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |n: usize| fields[n].parse::<f64>().expect("ticks");
    (ticks(11) + ticks(12)) / 100.0
}

async fn timed<T>(work: impl Future<Output = T>) -> (T, f64) {
    let start = Instant::now();
    (work.await, start.elapsed().as_secs_f64())
}

/// A facilitator's decision: always JSON, always an allowed id.
async fn decisions(providers: &Providers, count: usize) {
    let schema = serde_json::json!({"type": "object", "properties": {
        "decision": {"enum": ["continue", "synthesize"]},
        "nextParticipantId": {"enum": ["ada", "grace", "linus"]},
        "question": {"type": "string", "minLength": 10, "maxLength": 160},
        "reasoning": {"type": "string", "minLength": 10, "maxLength": 160},
    }});
    let mut good = 0;
    for n in 0..count {
        let topic = TOPICS[n % TOPICS.len()];
        let user = format!(
            "Topic: {topic} Ada, Grace and Linus take part. Who speaks next, and what do you ask?"
        );
        let said =
            answer(providers, ask("You lead a discussion.", &user, Shape::Json(schema.clone())))
                .await;
        let value: serde_json::Value = serde_json::from_str(&said.text).unwrap_or_default();
        let id = value["nextParticipantId"].as_str().unwrap_or_default();
        let asks = value["question"].as_str().is_some_and(|q| q.trim().len() >= 5);
        good += usize::from(["ada", "grace", "linus"].contains(&id) && asks && said.ended);
    }
    println!("{good} of {count} decisions are lawful");
}

async fn syntheses(providers: &Providers, count: usize) {
    let (mut good, mut repeating) = (0, 0);
    for n in 0..count {
        let topic = TOPICS[n % TOPICS.len()];
        let user = format!(
            "Question: {topic}\n\nAdvocate: Yes. It saves time and people like it.\n\nCritic: No. \
             It costs more than it seems, and nobody has measured it.\n\nWrite the synthesis."
        );
        let system = "You report what advisors said, under four headings.";
        let said = answer(providers, ask(system, &user, Shape::Headings(&HEADINGS))).await;
        good += usize::from(said.ended && is_whole(&said.text));
        repeating += usize::from(repeats(&said.text));
        if n == 0 {
            println!("--- the first one\n{}---", said.text);
        }
    }
    println!(
        "{good} of {count} syntheses have four headings with text, {repeating} repeat themselves"
    );
}

fn is_whole(text: &str) -> bool {
    let mut rest = text;
    for heading in HEADINGS {
        let Some((before, after)) = rest.split_once(&format!("## {heading}\n")) else {
            return false;
        };
        if heading != HEADINGS[0] && before.trim().len() < 16 {
            return false;
        }
        rest = after;
    }
    rest.trim().len() >= 16
}

/// The same eight words three times.
fn repeats(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let same = |at: usize| words.windows(8).filter(|w| *w == &words[at..at + 8]).count();
    (0..words.len().saturating_sub(8)).any(|at| same(at) >= 3)
}

const TOPICS: [&str; 5] = [
    "Should we write tests first?",
    "Should a small shop sell online?",
    "Is remote work good for a team of ten?",
    "Should the city close its centre to cars?",
    "Should we rewrite our service in Rust?",
];

fn free(n: usize) -> Ask {
    let roles = ["an advocate", "a critic", "an analyst", "an expert", "a sceptic", "a teacher"];
    let system =
        format!("You are {} on a board of advisors. Answer in a few sentences.", roles[n % 6]);
    ask(&system, TOPICS[n % TOPICS.len()], Shape::Free)
}

fn ask(system: &str, user: &str, shape: Shape) -> Ask {
    Ask {
        model: ModelName("local/m".into()),
        system: system.into(),
        messages: vec![Message::new(Speaker::User, user)],
        shape,
        patience: Patience::default(),
        temperature: None,
        workspace: None,
    }
}

struct Said {
    text: String,
    tokens: u64,
    ended: bool,
}

async fn answer(providers: &Providers, ask: Ask) -> Said {
    let mut said = Said { text: String::new(), tokens: 0, ended: false };
    let mut pieces = providers.ask(ask, "bench".into());
    while let Some(piece) = pieces.next().await {
        match piece {
            Ok(Piece::Text(text)) => said.text += &text,
            Ok(Piece::Usage(usage)) => said.tokens = usage.output_tokens.unwrap_or(0),
            Ok(Piece::End(_)) => said.ended = true,
            Ok(
                Piece::Reasoning(_) | Piece::Waiting { .. } | Piece::Retrying { .. } | Piece::Busy,
            ) => {}
            Err(error) => println!("{error}"),
        }
    }
    said
}
