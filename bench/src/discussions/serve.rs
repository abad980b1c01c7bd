//! The same discussions in a running `plenary serve`, over REST.

use std::time::Duration;

use serde_json::{Value, json};

use super::talk::{CONCLUSION, FACILITATOR, PARTICIPANT, TURNS};
use crate::Outcome;
use crate::held::{self, Held};
use crate::plenary::{Api, PROMPT};

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

pub async fn hold(url: &str, at_once: usize, limit: Duration, table: Table) -> Outcome<Held> {
    let begin = |api: Api, nth: usize| begin(api, nth, table);
    held::serve(url, at_once, limit, &ENDS, begin, fault).await
}

/// Makes and starts a discussion, and returns its id.
async fn begin(api: Api, nth: usize, table: Table) -> Outcome<String> {
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

/// What is wrong with how a discussion stands, as its record tells.
async fn fault(api: Api, id: String) -> Outcome<Option<String>> {
    let url = format!("{}/api/discussions/{id}", api.url);
    let reply: Value = api.client.get(url).send().await?.error_for_status()?.json().await?;
    let (status, conclusion) = (&reply["data"]["status"], &reply["data"]["conclusion"]);
    let right = status == "concluded" && conclusion.to_string().contains(CONCLUSION);
    Ok((!right).then(|| format!("{status} with the conclusion {conclusion}")))
}
