//! What asking a board as a model adds: the time to the first piece and to the end, beside
//! the board's own interface and the bare requests.

use std::time::{Duration, Instant};

use clap::Args;
use futures::future::try_join_all;
use plenary_domain::boardroom::preset;
use reqwest::Client;
use serde_json::{Value, json};

use crate::figures::Samples;
use crate::frames::{Frames, data, name};
use crate::plenary::{Api, MODEL, PROMPT, Place, is_synthesis};
use crate::scripted::{HEADINGS, Pace, Scripted};
use crate::{Outcome, bare};

#[derive(Args)]
pub struct V1 {
    /// Boards of each kind, at each speed
    #[arg(long, default_value_t = 20)]
    rounds: usize,
}

const SPEEDS: [(&str, Pace); 2] = [
    (
        "as fast as possible, 150 tokens",
        Pace { tokens_per_second: 0, tokens: 150, first_ms: 0, stamped: false },
    ),
    (
        "80 tokens/s, 150 tokens, the first after 100 ms",
        Pace { tokens_per_second: 80, tokens: 150, first_ms: 100, stamped: false },
    ),
];

impl V1 {
    pub async fn run(self) -> Outcome<()> {
        for (speed, pace) in SPEEDS {
            println!("{speed}; {} boards of each kind; ms, median (p10 to p90)", self.rounds);
            measure(pace, self.rounds).await?;
        }
        Ok(())
    }
}

/// When something came, counted from the request.
struct Board {
    /// Anything at all.
    piece: Duration,
    /// A word of an advisor.
    word: Duration,
    end: Duration,
}

async fn measure(pace: Pace, rounds: usize) -> Outcome<()> {
    let scripted = Scripted::start(pace)?;
    let place = Place::new(&scripted.url)?;
    let plenary = place.serve()?;
    let client = bare::client()?;
    let (mut bare, mut rest, mut v1) = (vec![], vec![], vec![]);
    // In turn, so that whatever else the machine does falls on all alike. The first of each
    // makes the connections and the store, and does not count.
    for round in 0..=rounds {
        let taken = [
            requests(&client, &scripted.url).await?,
            boardroom(&plenary.api).await?,
            completion(&plenary.api).await?,
        ];
        if round > 0 {
            let [one, two, three] = taken;
            bare.push(one);
            rest.push(two);
            v1.push(three);
        }
    }
    row("bare requests", &bare, None);
    row("POST /api/boardrooms + SSE", &rest, Some(&bare));
    row("/v1/chat/completions", &v1, Some(&bare));
    Ok(())
}

/// The four requests of a board with an HTTP client alone.
async fn requests(client: &Client, url: &str) -> Outcome<Board> {
    let start = Instant::now();
    let roles = preset::board("classic-triad").ok_or("the preset is gone")?.roles;
    let advisors = roles.iter().map(|role| said(client, url, role.system_prompt(), PROMPT, start));
    let answers = try_join_all(advisors).await?;
    let word = answers.iter().map(|(_, first)| *first).min().unwrap_or_default();
    let system = format!("Write a synthesis under {}", HEADINGS.join(", "));
    let texts: Vec<String> = answers.into_iter().map(|(text, _)| text).collect();
    said(client, url, &system, &texts.join("\n\n"), start).await?;
    Ok(Board { piece: word, word, end: start.elapsed() })
}

/// An answer, and when its first word came.
async fn said(
    client: &Client,
    url: &str,
    system: &str,
    user: &str,
    start: Instant,
) -> Outcome<(String, Duration)> {
    let (mut text, mut first) = (String::new(), None);
    let mut frames = bare::stream(client, url, MODEL, system, user).await?;
    frames
        .each(|frame| {
            let Some(data) = data(frame) else { return false };
            let words = bare::content(data).unwrap_or_default();
            if !words.is_empty() {
                first.get_or_insert_with(|| start.elapsed());
                text.push_str(&words);
            }
            data == "[DONE]"
        })
        .await?;
    Ok((text, first.ok_or("the scripted server said nothing")?))
}

/// A board by its own interface.
async fn boardroom(api: &Api) -> Outcome<Board> {
    let start = Instant::now();
    let id = api.convene(None).await?;
    let piece = start.elapsed();
    let mut word = None;
    let is_over = |frame: &str| {
        if name(frame) == Some("delta") {
            word.get_or_insert_with(|| start.elapsed());
        }
        is_synthesis(frame)
    };
    match api.follow(&id).await?.each(is_over).await? {
        // An answer that was there before its reader had no pieces any more.
        true => Ok(Board { piece, word: word.unwrap_or(start.elapsed()), end: start.elapsed() }),
        false => Err("the events of a board ended before its synthesis".into()),
    }
}

/// The same board as a model.
async fn completion(api: &Api) -> Outcome<Board> {
    let start = Instant::now();
    let model = format!("bench/{MODEL}");
    let body = json!({
        "model": "plenary/classic-triad", "stream": true,
        "messages": [{ "role": "user", "content": PROMPT }],
        "plenary": { "models": [model], "synthesizer": model },
    });
    let request = api.client.post(format!("{}/v1/chat/completions", api.url)).json(&body);
    let (mut piece, mut word) = (None, None);
    let is_over = |frame: &str| {
        let Some(data) = data(frame) else { return false };
        piece.get_or_insert_with(|| start.elapsed());
        if word.is_none() && is_said(data) {
            word = Some(start.elapsed());
        }
        data == "[DONE]"
    };
    if !Frames::new(request.send().await?)?.each(is_over).await? {
        return Err("a completion ended before its end".into());
    }
    let (piece, word) = piece.zip(word).ok_or("a completion without words")?;
    Ok(Board { piece, word, end: start.elapsed() })
}

/// Whether a chunk has words of an advisor, and not only who speaks.
fn is_said(data: &str) -> bool {
    let chunk: Value = serde_json::from_str(data).unwrap_or_default();
    let said = chunk["choices"][0]["delta"]["reasoning_content"].as_str().unwrap_or_default();
    !said.trim().is_empty() && !said.trim().starts_with("**")
}

type Moment = fn(&Board) -> Duration;

const MOMENTS: [(&str, Moment); 3] = [
    ("first piece", |board| board.piece),
    ("first word", |board| board.word),
    ("end", |board| board.end),
];

fn row(kind: &str, boards: &[Board], peer: Option<&[Board]>) {
    println!("  {kind}");
    for (part, of) in MOMENTS {
        let samples =
            |boards: &[Board]| Samples::of_millis(&boards.iter().map(of).collect::<Vec<_>>());
        let own = samples(boards);
        let added = peer.map(|peer| {
            let peer = samples(peer).median();
            format!("  {:+.1} ms, ×{:.2}", own.median() - peer, own.median() / peer)
        });
        println!("    {part:<12} {own}{}", added.unwrap_or_default());
    }
}
