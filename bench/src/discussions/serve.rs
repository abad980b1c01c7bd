//! The same discussions in a running `plenary serve`, over REST.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::held::Held;
use super::talk::{CONCLUSION, FACILITATOR, PARTICIPANT, TURNS};
use crate::Outcome;
use crate::frames::{self, Frames};
use crate::plenary::{Api, PROMPT, Place};

/// The events by which a discussion comes to rest.
const ENDS: [&str; 3] = ["concluded", "stopped", "failed"];

/// Who discusses.
#[derive(Clone, Copy)]
pub enum Table {
    /// Two with names and roles and nothing else, and somebody who leads, for five turns.
    Usual,
    /// Three agents of the program, and one of those who lead, for so many turns.
    Agents { turns: usize },
}

/// The agents, as they take turns.
pub const AGENTS: [&str; 3] = ["engineer", "product-thinker", "skeptic"];

impl Table {
    fn body(self) -> Value {
        let model = |name: &str| format!("bench/{name}");
        match self {
            Table::Usual => json!({
                "facilitator": { "name": "Chair", "model": model(FACILITATOR) },
                "participants": [
                    { "name": "Ann", "model": model(PARTICIPANT), "role": "participant" },
                    { "name": "Bob", "model": model(PARTICIPANT), "role": "devil_advocate" },
                ],
                "maxRounds": TURNS,
            }),
            Table::Agents { turns } => json!({
                "facilitator": { "agentId": "the-impartial-chair", "model": model(FACILITATOR) },
                "participants": AGENTS.map(|id| json!({ "agentId": id, "model": model(PARTICIPANT) })),
                "maxRounds": turns,
            }),
        }
    }
}

/// Starts all at once, and reads the events of all of them on one connection.
pub async fn hold(url: &str, at_once: usize, limit: Duration, table: Table) -> Outcome<Held> {
    let place = Place::new(url)?;
    let plenary = place.serve()?;
    let api = &plenary.api;
    let mut events = Frames::new(api.client.get(format!("{}/api/events", api.url)).send().await?)?;
    let (before, cpu) = (plenary.process.memory()?, plenary.process.cpu()?);
    let start = Instant::now();

    let begin = |nth: usize| {
        let api = api.clone();
        tokio::spawn(async move { (Instant::now(), begin(&api, nth, table).await) })
    };
    let begun: Vec<_> = (0..at_once).map(begin).collect();
    let mut ended: HashMap<String, Instant> = HashMap::new();
    let all = events.each(|frame| {
        if let Some(id) = ended_session(frame) {
            ended.insert(id, Instant::now());
        }
        ended.len() == at_once
    });
    // What has ended by then is counted either way.
    let _ = timeout(limit, all).await;

    let mut held = Held {
        wall_seconds: start.elapsed().as_secs_f64(),
        cpu_seconds: (plenary.process.cpu()? - cpu).as_secs_f64(),
        before_kb: before.now_kb,
        peak_kb: plenary.process.memory()?.peak_kb,
        ..Held::default()
    };
    for one in begun {
        let (began, id) = one.await?;
        let id = match id {
            Ok(id) => id,
            Err(problem) => {
                held.failed(problem.to_string());
                continue;
            }
        };
        match (ended.get(&id), fault(api, &id).await?) {
            (Some(end), None) => held.seconds.push((*end - began).as_secs_f64()),
            (Some(_), Some(fault)) => held.failed(fault),
            (None, _) => held.unfinished += 1,
        }
    }
    Ok(held)
}

/// Makes and starts a discussion, and returns its id.
async fn begin(api: &Api, nth: usize, table: Table) -> Outcome<String> {
    let mut body = table.body();
    body["name"] = json!(format!("discussion-{nth}"));
    body["topic"] = json!(PROMPT);
    body["format"] = json!("deliberation");
    body["start"] = json!(true);
    let url = format!("{}/api/discussions", api.url);
    let response = api.client.post(url).json(&body).send().await?;
    let status = response.status();
    let reply: Value = response.json().await?;
    match reply["data"]["id"].as_str() {
        Some(id) => Ok(id.to_owned()),
        None => Err(format!("a discussion was not made: {status} {}", reply["error"]).into()),
    }
}

/// The session that an event brought to rest.
fn ended_session(frame: &str) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Event {
        session_id: String,
    }
    ENDS.contains(&frames::name(frame)?).then_some(())?;
    let event: Event = serde_json::from_str(frames::data(frame)?).ok()?;
    Some(event.session_id)
}

/// What is wrong with how a discussion stands, as its record tells.
async fn fault(api: &Api, id: &str) -> Outcome<Option<String>> {
    let url = format!("{}/api/discussions/{id}", api.url);
    let reply: Value = api.client.get(url).send().await?.error_for_status()?.json().await?;
    let (status, conclusion) = (&reply["data"]["status"], &reply["data"]["conclusion"]);
    let right = status == "concluded" && conclusion.to_string().contains(CONCLUSION);
    Ok((!right).then(|| format!("{status} with the conclusion {conclusion}")))
}
