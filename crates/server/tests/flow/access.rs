//! Who may come in.

use plenary_server::Access;
use serde_json::json;

use crate::support::{TestApp, answer, canned};

#[tokio::test(flavor = "multi_thread")]
async fn a_token_opens_the_door() {
    let tokens = vec!["one".to_owned(), "two".to_owned()];
    let local_token = Some("inner".to_owned());
    let access = Access { tokens, local_token, ..Access::default() };
    let app = TestApp::with_access(canned(), access).await;
    let get = |path: &str| app.http.get(format!("{}{path}", app.url));
    let sessions = "/api/sessions";
    for (request, expected) in [
        (get(sessions), 401),
        (get(sessions).bearer_auth("three"), 401),
        (get(sessions).header("authorization", "one"), 401),
        (get(sessions).bearer_auth("one"), 200),
        (get(sessions).bearer_auth("two"), 200),
        (get(sessions).bearer_auth("inner"), 200),
        (get("/api/openapi.json"), 401),
        (get("/api/nothing"), 401),
        (get("/healthz"), 200),
        (get("/readyz"), 200),
    ] {
        let (status, body) = answer(request).await;
        assert_eq!(status, expected, "{body}");
        if status == 401 {
            assert_eq!(body["error"]["code"], "unauthorized");
            assert!(body["error"]["hint"].as_str().unwrap().contains("PLENARY_TOKEN"));
        }
    }
    let response = get("/metrics").send().await.unwrap();
    assert_eq!(response.status(), 401);
    assert_eq!(response.headers()["www-authenticate"], "Bearer");
    // A key of one caller is not the key of another.
    let post = |token: &str| {
        let request = app.http.post(format!("{}/api/boardrooms", app.url)).bearer_auth(token);
        request
            .header("idempotency-key", "k")
            .json(&json!({ "prompt": "?", "models": ["ollama/a"] }))
    };
    let (_, first) = answer(post("one")).await;
    let (_, second) = answer(post("two")).await;
    let (_, third) = answer(post("one")).await;
    assert_ne!(first["data"]["id"], second["data"]["id"]);
    assert_eq!(first["data"]["id"], third["data"]["id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_from_elsewhere_gets_nothing() {
    let hosts = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    let app = TestApp::with_access(canned(), Access { hosts, ..Access::default() }).await;
    let own = app.url.strip_prefix("http://").unwrap();
    let get = |host: &str| app.http.get(format!("{}/api/sessions", app.url)).header("host", host);
    for (request, expected) in [
        (get("evil.example"), "forbidden-host"),
        (get("evil.example:7171"), "forbidden-host"),
        (get("localhost.evil.example"), "forbidden-host"),
        (get("[::2]:7171"), "forbidden-host"),
        (get(""), "forbidden-host"),
        (get(own).header("origin", "https://evil.example"), "forbidden-origin"),
        (get(own).header("origin", "http://localhost:1"), "forbidden-origin"),
        (get(own).header("origin", "null"), "forbidden-origin"),
        // The trick of a rebound name: both agree, and neither is ours.
        (get("evil.example").header("origin", "http://evil.example"), "forbidden-host"),
    ] {
        let shown = format!("{request:?}");
        let (status, body) = answer(request).await;
        assert_eq!((status, &body["error"]["code"]), (403, &json!(expected)), "{shown}");
    }
    for request in [
        get(own),
        get("LocalHost:7171"),
        get("[::1]:7171"),
        get(own).header("origin", format!("http://{own}")),
    ] {
        assert_eq!(answer(request).await.0, 200);
    }
}
