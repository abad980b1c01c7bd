//! A process that holds the data folder and is suspended must not hold up everybody
//! else without a word.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::{Home, NOWHERE, SAFETY};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

/// An agent's `plenary mcp`.
struct Agent {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    asked: u64,
}

impl Agent {
    async fn start(home: &Home) -> (Agent, Value) {
        let mut child = home.command(&["mcp"]).stdin(Stdio::piped()).spawn().unwrap();
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

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        let text = answer["content"][0]["text"].as_str().unwrap_or_default();
        serde_json::from_str(text).expect(text)
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id().unwrap()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspended_holder_is_named() {
    let home = Home::new(NOWHERE);
    let (mut holder, _) = Agent::start(&home).await;
    holder.call("models_list", json!({})).await;
    let pid = holder.child.id().unwrap();
    let (mut other, _) = Agent::start(&home).await;
    holder.signal(Signal::STOP);

    let who = format!("rocess {pid} (plenary mcp)");
    let how = format!("`kill -CONT {pid}`");
    let check = |said: &str| {
        assert!(said.contains(&who) && said.contains(&how), "{said}");
        assert!(said.contains("suspended"), "{said}");
    };
    let listed = home.command(&["sessions", "list"]);
    let told = other.call("whiteboard_list", json!({}));
    let (listed, told) = tokio::join!(home.finish(listed), told);
    assert_eq!(listed.code, Some(1), "{}", listed.err);
    check(&listed.err);
    assert_eq!(told["code"], "not-answering", "{told}");
    check(&told.to_string());

    holder.signal(Signal::CONT);
    let listed = home.run(&["sessions", "list"]).await;
    assert_eq!(listed.code, Some(0), "{}", listed.err);

    // A server waits for it to hand the folder over, and not for ever.
    holder.signal(Signal::STOP);
    check(&home.run(&["serve", "--listen", "127.0.0.1:0"]).await.err);
    holder.signal(Signal::KILL);
    holder.child.wait().await.unwrap();
    let listed = home.run(&["sessions", "list"]).await;
    assert_eq!(listed.code, Some(0), "{}", listed.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_told_which_folder_it_is_in() {
    let home = Home::new(NOWHERE);
    let (mut agent, welcome) = Agent::start(&home).await;
    let folder = home.path().join("data").display().to_string();
    let instructions = welcome["instructions"].as_str().unwrap();
    assert!(instructions.contains(&format!("the data folder {folder}.")), "{instructions}");
    let missed = agent.call("whiteboard_state", json!({ "board_id": "not-here" })).await;
    let hint = missed["hint"].as_str().unwrap_or_default();
    assert!(hint.ends_with(&format!("This is the data folder {folder}.")), "{missed}");
}
