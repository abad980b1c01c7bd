//! The server is told what to say by another process, over HTTP.
#![allow(clippy::unwrap_used)]

use plenary_scripted::{Reply, Script, Scripted};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

struct Answer {
    status: u16,
    headers: String,
    body: String,
}

async fn post(server: &Scripted, path: &str, body: &Value) -> Answer {
    let body = body.to_string();
    let mut connection = TcpStream::connect(&server.url()["http://".len()..]).await.unwrap();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: scripted\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len(),
    );
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut said = String::new();
    connection.read_to_string(&mut said).await.unwrap();
    let (headers, body) = said.split_once("\r\n\r\n").unwrap();
    let status = headers.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, headers: headers.to_owned(), body: body.to_owned() }
}

/// What a model says, in one piece.
async fn ask(server: &Scripted, model: &str, prompt: &str) -> String {
    let messages = json!([
        {"role": "system", "content": "You advise."}, {"role": "user", "content": prompt},
    ]);
    let body = json!({"model": model, "stream": true, "messages": messages});
    let answer = post(server, "/api/chat", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let lines = answer.body.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter_map(|line| Some(line["message"]["content"].as_str()?.to_owned())).collect()
}

async fn told(rules: Value) -> Scripted {
    let server = Scripted::start(Script::new(Reply::text("otherwise"))).await.unwrap();
    let answer = post(&server, "/__script", &rules).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    server
}

#[tokio::test]
async fn the_first_rule_that_fits_wins() {
    let server = told(json!([
        {"when": {"model": "a", "contains": ["ship", "You advise"]}, "text": "of ships"},
        {"when": {"model": "a"}, "texts": ["first", "second"]},
    ]))
    .await;
    assert_eq!(ask(&server, "a", "a ship").await, "of ships");
    assert_eq!(ask(&server, "a", "a car").await, "first");
    assert_eq!(ask(&server, "a", "a car").await, "second");
    assert_eq!(ask(&server, "a", "a car").await, "second");
    assert_eq!(ask(&server, "b", "a ship").await, "otherwise");

    post(&server, "/__script", &json!([{"text": "told anew"}])).await;
    assert_eq!(ask(&server, "a", "a ship").await, "told anew");
}

#[tokio::test]
async fn a_held_answer_waits_until_it_is_released() {
    let rules = json!([{"text": "one two three", "hold": "middle", "holdAfter": 2}]);
    let server = told(rules.clone()).await;
    let name = json!({"name": "middle"});
    let acting = async {
        assert_eq!(post(&server, "/__reached", &name).await.status, 200);
        assert_eq!(server.in_flight(), 1);
        // Other rules of the same name hold at the same gate.
        post(&server, "/__script", &rules).await;
        assert_eq!(post(&server, "/__release", &name).await.status, 200);
    };
    let (said, ()) = tokio::join!(ask(&server, "a", "go"), acting);
    assert_eq!(said, "one two three");
    assert_eq!(ask(&server, "a", "later ones pass").await, "one two three");

    let unknown = post(&server, "/__release", &json!({"name": "end"})).await;
    let expected = json!({"error": "no rule holds \"end\"; there is middle"});
    assert_eq!((unknown.status, unknown.body), (404, expected.to_string()));
}

#[tokio::test]
async fn a_fault_can_be_for_the_first_requests_only() {
    let limited = json!({"rateLimited": {"retryAfter": 3}});
    let server = told(json!([{"text": "at last", "fault": limited, "faults": 1}])).await;
    let body = json!({"model": "a", "stream": true, "messages": []});
    let refused = post(&server, "/api/chat", &body).await;
    assert_eq!(refused.status, 429);
    assert!(refused.headers.contains("retry-after: 3"), "{}", refused.headers);
    assert_eq!(ask(&server, "a", "again").await, "at last");
}

#[tokio::test]
async fn a_bad_script_changes_nothing() {
    let server = told(json!([{"text": "as before"}])).await;
    let refused = post(&server, "/__script", &json!([{"text": "new"}, {"texts": []}])).await;
    let expected = json!({"error": "rule 2: `texts` is empty: give at least one text"});
    assert_eq!((refused.status, refused.body), (400, expected.to_string()));
    assert_eq!(ask(&server, "a", "?").await, "as before");
}
