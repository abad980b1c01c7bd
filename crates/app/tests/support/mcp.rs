//! An agent that speaks to the program by MCP, on standard input and output.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::SAFETY;

/// An agent's `plenary mcp`.
pub struct Agent {
    pub child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    asked: u64,
}

impl Agent {
    /// Gives also what it said in welcome.
    pub async fn start(mut command: Command) -> (Agent, Value) {
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut agent = Agent { child, input, output, asked: 0 };
        let client = json!({ "name": "test", "version": "1" });
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client
        });
        let welcome = agent.ask("initialize", hello).await;
        agent.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        (agent, welcome)
    }

    async fn write(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.write(&message).await;
        loop {
            let line = tokio::time::timeout(SAFETY, self.output.next_line()).await.unwrap();
            let message: Value = serde_json::from_str(&line.unwrap().unwrap()).unwrap();
            if message["id"] == id {
                return message["result"].clone();
            }
        }
    }

    /// What it offers, as a client loads it.
    pub async fn tools(&mut self) -> Vec<Value> {
        let answer = self.ask("tools/list", json!({})).await;
        answer["tools"].as_array().cloned().unwrap_or_default()
    }

    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        let text = answer["content"][0]["text"].as_str().unwrap_or_default();
        serde_json::from_str(text).expect(text)
    }

    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id().unwrap()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    }
}
