//! Answers that go out packed.

use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use crate::support::{TestApp, canned};

async fn get(app: &TestApp, path: &str, takes: &str, has: &str) -> reqwest::Response {
    let request = app.http.get(format!("{}{path}", app.url)).header("accept-encoding", takes);
    let request = if has.is_empty() { request } else { request.header("if-none-match", has) };
    request.send().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_view_is_packed_for_whoever_takes_that() {
    let app = TestApp::start(canned()).await;
    let charter = "Talk about tea, and about nothing else. ".repeat(100);
    let council = json!({ "name": "tea", "charter": charter });
    let request = app.http.post(format!("{}/api/councils", app.url)).json(&council);
    let opened = request.header("accept-encoding", "gzip").send().await.unwrap();
    // Answers to writes may hold tokens, and are never packed.
    assert_eq!(opened.headers().get("content-encoding"), None);
    let opened: Value = opened.json().await.unwrap();

    let path = "/api/councils/tea";
    let plain = get(&app, path, "identity", "").await;
    assert_eq!(plain.headers().get("content-encoding"), None);
    assert_eq!(plain.headers()["vary"], "accept-encoding");
    let tag = plain.headers()["etag"].to_str().unwrap().to_owned();
    let plain = plain.bytes().await.unwrap();
    let packed = get(&app, path, "br, gzip;q=0.8", "").await;
    assert_eq!(packed.headers()["content-encoding"], "gzip");
    let weak = packed.headers()["etag"].to_str().unwrap().to_owned();
    assert_eq!(weak, format!("W/{tag}"));
    let packed = packed.bytes().await.unwrap();
    assert!(packed.len() * 4 < plain.len(), "{} of {}", packed.len(), plain.len());
    let mut again = String::new();
    GzDecoder::new(&*packed).read_to_string(&mut again).unwrap();
    assert_eq!(again.as_bytes(), &plain[..]);
    let view: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(view["data"]["sessionId"], opened["data"]["sessionId"]);
    // Whoever has it by its packed tag is not sent it again, packed or not.
    for takes in ["gzip", "identity"] {
        assert_eq!(get(&app, path, takes, &weak).await.status(), 304);
    }
    let record = get(&app, &format!("{path}/export?format=markdown"), "gzip", "").await;
    assert_eq!(record.headers()["content-encoding"], "gzip");
}

/// What is small, failed or goes on is sent as it is.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_small_or_live_is_not_packed() {
    let app = TestApp::start(canned()).await;
    let council = json!({ "name": "tea", "charter": "Talk." });
    assert_eq!(app.post("/api/councils", &council).await.0, 201);
    for (path, status) in [
        ("/api/councils/tea", 200),
        ("/api/councils/none", 404),
        ("/api/councils/tea/events", 200),
        ("/api/events", 200),
    ] {
        let answer = get(&app, path, "gzip", "").await;
        assert_eq!(answer.status(), status, "{path}");
        assert_eq!(answer.headers().get("content-encoding"), None, "{path}");
    }
    // The first event is there though no other follows.
    let mut events = app.events("/api/councils/tea/events", Some(0)).await;
    assert_eq!(events.next().await.unwrap().name, "opened");
}
