//! What whoever watches over a server gets to see: its log, and its traces.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::process::Stdio;

use plenary_scripted::{Reply, Script, Scripted};
use serde_json::{Value, json};
use support::{Home, SAFETY, Serving, interrupt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

async fn ended(mut serving: Serving) {
    interrupt(&serving.child);
    let ended = tokio::time::timeout(SAFETY, serving.child.wait()).await.unwrap();
    assert_eq!(ended.unwrap().code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_for_programs_is_one_object_per_line() {
    plenary_providers::install_tls();
    let scripted = Scripted::start(Script::new(Reply::canned())).await.unwrap();
    let home = Home::on_any_store(&scripted.url());
    let file = home.path().join("log");
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("PLENARY_LOG", "plenary=info").env("PLENARY_LOG_FORMAT", "json");
    // `serving` has a pipe for standard output only.
    let mut child = command.stderr(std::fs::File::create(&file).unwrap()).spawn().unwrap();
    let mut line = vec![];
    let mut out = child.stdout.take().unwrap();
    while !line.ends_with(b"\n") {
        assert!(out.read_buf(&mut line).await.unwrap() > 0, "it ended");
    }
    let url = String::from_utf8(line).unwrap();
    let url = url.trim().strip_prefix("Plenary listens on ").unwrap().to_owned();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let nodes: Value =
        http.get(format!("{url}/api/nodes")).send().await.unwrap().json().await.unwrap();
    ended(Serving { child, url: url.clone() }).await;

    let log = std::fs::read_to_string(file).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let node = &nodes["data"][0]["name"];
    let address = url.strip_prefix("http://").unwrap();
    let expected = [
        json!({ "level": "INFO", "target": "plenary::cli::serve", "message": "listening",
            "node": node, "address": address, "version": env!("CARGO_PKG_VERSION") }),
        json!({ "level": "INFO", "target": "plenary::cli::serve", "node": node,
            "message": "this node was told to end" }),
    ];
    assert_eq!(lines.len(), expected.len(), "{log}");
    for (mut line, expected) in lines.into_iter().zip(expected) {
        let time = line.as_object_mut().unwrap().remove("timestamp").unwrap();
        let time: Result<jiff::Timestamp, _> = time.as_str().unwrap().parse();
        assert!(time.is_ok(), "{log}");
        assert_eq!(line, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_are_listed() {
    let scripted = Scripted::start(Script::new(Reply::canned())).await.unwrap();
    let home = Home::on_any_store(&scripted.url());
    let none = home.run(&["nodes"]).await;
    assert_eq!((none.code, none.out.as_str()), (Some(0), ""), "{}", none.err);
    assert_eq!(none.err, "No nodes are running. Start one with `plenary serve`.\n");
    let serving = home.serve().await;
    let one = home.run(&["nodes"]).await;
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!("[id]  live      0 sessions     {version:<8}  since [time]\n");
    assert_eq!(support::plain(&one.out, home.path().to_str().unwrap()), expected, "{}", one.err);
    let listed: Value = serde_json::from_str(&home.run(&["nodes", "--json"]).await.out).unwrap();
    let name = listed[0]["name"].as_str().unwrap();
    assert_eq!((listed.as_array().unwrap().len(), &name[..8]), (1, &one.out[..8]), "{listed}");
    ended(serving).await;
    assert_eq!(home.run(&["nodes"]).await.out, "", "one that ends in order is not listed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_in_no_known_format_is_refused() {
    let home = Home::new(support::NOWHERE);
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("PLENARY_LOG_FORMAT", "xml");
    let ran = home.finish(command).await;
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.err.contains("PLENARY_LOG_FORMAT is \"xml\"; write `text` or `json`"),
        "{}",
        ran.err
    );
}

/// Takes one request, answers it, and returns its body.
async fn collected(listener: TcpListener) -> Value {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut bytes = vec![];
    let body = loop {
        stream.read_buf(&mut bytes).await.unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let body =
            text.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok());
        if let Some(body) = body {
            break body;
        }
    };
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    body
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_hands_its_traces_on_before_it_ends() {
    plenary_providers::install_tls();
    let script = Script::new(Reply::canned().usage(5, 7)).models(&["a", "b", "c"]);
    let scripted = Scripted::start(script).await.unwrap();
    let home = Home::on_any_store(&scripted.url());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let collector = format!("http://{}", listener.local_addr().unwrap());
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector).stdin(Stdio::null());
    let serving = home.serving(command).await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let collecting = tokio::spawn(collected(listener));
    let convene = http.post(format!("{}/api/boardrooms", serving.url));
    let board = convene.json(&json!({ "prompt": "Shall we?" })).send().await.unwrap();
    let board: Value = board.json().await.unwrap();
    let id = board["data"]["id"].as_str().unwrap().replace('-', "");
    ended(serving).await;
    let body = tokio::time::timeout(SAFETY, collecting).await.unwrap().unwrap();
    let spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    assert!(spans.iter().all(|span| span["traceId"] == id), "{body}");
    assert_eq!(spans[0]["name"], "boardroom", "{body}");
}
