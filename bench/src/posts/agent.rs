//! An agent with a connection of its own, over REST or over MCP.

use std::time::{Duration, Instant};

use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};

use crate::{Outcome, bare};

#[derive(Clone, Copy)]
pub enum Way {
    Rest,
    Mcp,
}

impl Way {
    pub fn name(self) -> &'static str {
        match self {
            Way::Rest => "REST",
            Way::Mcp => "MCP",
        }
    }
}

/// What every post says: about a paragraph, and where it belongs.
pub const TITLE: &str = "Retries are not bounded";
pub const BODY: &str = "The loop asks again as long as the answer is 429, and nothing counts how \
    often. A provider that is overloaded for an hour is asked thousands of times, and the caller \
    waits for all of them. Bound the number, add jitter, and say in the record how often it was.";
pub const FILE: &str = "src/attempt.rs";
pub const LOCATION: &str = "120-144";

pub struct Agent {
    client: Client,
    url: String,
    board: String,
    name: String,
    proof: Proof,
}

enum Proof {
    /// Over REST: the agent's token.
    Token(String),
    /// Over MCP: the session that registered it.
    Session(String),
}

impl Agent {
    pub async fn register(way: Way, url: &str, board: &str, nth: usize) -> Outcome<Agent> {
        let mut agent = Agent {
            client: bare::client()?,
            url: url.to_owned(),
            board: board.to_owned(),
            name: format!("agent-{nth}"),
            proof: Proof::Token(String::new()),
        };
        match way {
            Way::Rest => {
                let body = json!({ "agentName": agent.name, "role": "specialist" });
                let registered = good(agent.rest("agents").json(&body)).await?;
                let token = registered["data"]["agentToken"].as_str().unwrap_or_default();
                agent.proof = Proof::Token(token.to_owned());
            }
            Way::Mcp => {
                agent.proof = Proof::Session(agent.hello().await?);
                let role = json!({ "role": "specialist" });
                agent.tool("whiteboard_register", role).await?;
            }
        }
        Ok(agent)
    }

    /// Posts one after the other, and tells how long each took.
    pub async fn post(self, times: usize) -> Outcome<Vec<Duration>> {
        let mut waits = Vec::with_capacity(times);
        for nth in 0..times {
            waits.push(self.post_timed(nth).await?);
        }
        Ok(waits)
    }

    /// How long its post with this number took.
    pub async fn post_timed(&self, nth: usize) -> Outcome<Duration> {
        let start = Instant::now();
        self.post_once(&format!("{}-{}-{nth}", self.board, self.name)).await?;
        Ok(start.elapsed())
    }

    async fn post_once(&self, key: &str) -> Outcome<()> {
        match &self.proof {
            Proof::Token(token) => {
                let body = json!({
                    "type": "concern", "title": TITLE, "body": BODY,
                    "targetFile": FILE, "targetLocation": LOCATION, "severity": "high",
                });
                let request = self.rest("posts").header("agent-token", token);
                good(request.header("idempotency-key", key).json(&body)).await?;
            }
            Proof::Session(_) => {
                let arguments = json!({
                    "type": "concern", "title": TITLE, "body": BODY,
                    "target_file": FILE, "target_location": LOCATION, "severity": "high",
                    "idempotency_key": key,
                });
                self.tool("whiteboard_post", arguments).await?;
            }
        }
        Ok(())
    }

    fn rest(&self, what: &str) -> RequestBuilder {
        self.client.post(format!("{}/api/whiteboards/{}/{what}", self.url, self.board))
    }

    fn mcp(&self, message: &Value) -> RequestBuilder {
        let request = self.client.post(format!("{}/mcp", self.url)).json(message);
        let request = request.header("accept", "application/json, text/event-stream");
        match &self.proof {
            Proof::Session(session) if !session.is_empty() => {
                request.header("mcp-session-id", session)
            }
            Proof::Session(_) | Proof::Token(_) => request,
        }
    }

    /// Begins an MCP session and returns its id.
    async fn hello(&mut self) -> Outcome<String> {
        let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" } } });
        let response = self.mcp(&message).send().await?.error_for_status()?;
        let session = response.headers().get("mcp-session-id").ok_or("no MCP session began")?;
        let session = session.to_str()?.to_owned();
        response.text().await?;
        self.proof = Proof::Session(session.clone());
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.mcp(&ready).send().await?.error_for_status()?;
        Ok(session)
    }

    async fn tool(&self, name: &str, mut arguments: Value) -> Outcome<()> {
        arguments["board_id"] = json!(self.board);
        arguments["agent_name"] = json!(self.name);
        let params = json!({ "name": name, "arguments": arguments });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let text = self.mcp(&call).send().await?.error_for_status()?.text().await?;
        let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
        let told =
            data.filter_map(|line| serde_json::from_str::<Value>(line.trim()).ok()).next_back();
        match told.as_ref().map(|told| &told["result"]["isError"]) {
            Some(Value::Bool(false)) => Ok(()),
            _ => Err(format!("{name} was refused: {text}").into()),
        }
    }
}

async fn good(request: RequestBuilder) -> Outcome<Value> {
    let response = request.send().await?;
    let status = response.status();
    let reply: Value = response.json().await?;
    match status.is_success() {
        true => Ok(reply),
        false => Err(format!("a request was refused: {status} {}", reply["error"]).into()),
    }
}
