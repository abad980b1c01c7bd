//! What people call sessions, and what they keep on top.

use plenary_server::Access;
use serde_json::{Value, json};

use crate::support::{TestApp, answer, canned, pick};

async fn open(app: &TestApp, name: &str) -> String {
    let body = json!({ "name": name, "charter": "Talk about tea." });
    let (status, told) = app.post("/api/councils", &body).await;
    assert_eq!(status, 201, "{told}");
    format!("/api/sessions/{}", told["data"]["sessionId"].as_str().unwrap())
}

async fn listed(app: &TestApp, query: &str) -> Vec<Value> {
    pick(&app.get(&format!("/api/sessions{query}")).await.1["data"], "title")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_called_as_somebody_calls_it_until_they_do_not() {
    let app = TestApp::start(canned()).await;
    let (one, _other) = (open(&app, "one").await, open(&app, "other").await);
    let (_, before) = app.get(&one).await;
    let label = json!({ "title": " The kettle question ", "pinned": true });
    let (status, told) = app.patch(&one, &label).await;
    assert_eq!((status, &told["data"]["title"]), (200, &json!("The kettle question")), "{told}");
    assert_eq!((&told["data"]["renamed"], &told["data"]["pinned"]), (&json!(true), &json!(true)));
    assert_eq!(listed(&app, "?pinned=true").await, ["The kettle question"]);
    assert_eq!(listed(&app, "?pinned=false").await, ["Talk about tea."]);
    assert_eq!(listed(&app, "?q=kettle").await, ["The kettle question"]);
    assert_eq!(listed(&app, "?q=tea").await.len(), 2);
    let export = format!("{}/api/councils/one/export?format=markdown", app.url);
    let response = app.http.get(&export).send().await.unwrap();
    let name = "attachment; filename=\"the-kettle-question.md\"";
    assert_eq!(response.headers()["content-disposition"], name);
    // Nothing has happened in it.
    let (_, after) = app.get(&one).await;
    assert_eq!(after["data"]["updatedAt"], before["data"]["updatedAt"]);
    assert_eq!(app.get("/api/councils/one").await.1["data"]["version"], 1);

    let (_, told) = app.patch(&one, &json!({ "title": " ", "pinned": false })).await;
    assert_eq!(told["data"]["title"], "Talk about tea.");
    assert_eq!(told["data"].get("renamed"), None);
    assert_eq!(listed(&app, "?pinned=true").await, [] as [Value; 0]);
    let response = app.http.get(&export).send().await.unwrap();
    assert_eq!(response.headers()["content-disposition"], "attachment; filename=\"one.md\"");
    // What no file can be called after is called by its kind and id.
    app.patch(&one, &json!({ "title": "茶" })).await;
    let response = app.http.get(&export).send().await.unwrap();
    let name = response.headers()["content-disposition"].to_str().unwrap();
    assert!(name.starts_with("attachment; filename=\"council-"), "{name}");
    for title in ["a\nb".to_owned(), "x".repeat(401)] {
        let (status, told) = app.patch(&one, &json!({ "title": title })).await;
        assert_eq!((status, &told["error"]["code"]), (422, &json!("invalid-input")), "{told}");
    }
    // Whoever sends nothing has forgotten something.
    let empty = answer(app.http.patch(format!("{}{one}", app.url))).await;
    for (status, told) in [empty, app.patch(&one, &json!({})).await] {
        assert_eq!((status, &told["error"]["code"]), (422, &json!("invalid-input")), "{told}");
    }
    let nobody = "/api/sessions/00000000-0000-7000-8000-000000000000";
    assert_eq!(app.patch(nobody, &json!({ "pinned": true })).await.0, 404);
}

/// It is called so for everybody, so whoever may delete it may say so, and nobody else.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_may_delete_a_session_may_label_it() {
    let tokens = ["one", "two", "three"].map(str::to_owned).to_vec();
    let app = TestApp::with_access(canned(), Access { tokens, ..Access::default() }).await;
    let body = json!({ "name": "talk", "charter": "Talk." });
    let request = app.http.post(format!("{}/api/councils", app.url)).bearer_auth("two");
    let (_, opened) = answer(request.json(&body)).await;
    let at = format!("{}/api/sessions/{}", app.url, opened["data"]["sessionId"].as_str().unwrap());
    let token = opened["data"]["agentToken"].as_str().unwrap();
    let label = async |access: &str, shows: &str| {
        let request = app.http.patch(&at).bearer_auth(access);
        let request = match shows {
            "" => request,
            token => request.header("agent-token", token),
        };
        let (status, told) = answer(request.json(&json!({ "title": "Ours" }))).await;
        (status, told["error"]["code"].clone())
    };
    assert_eq!(label("three", "").await, (403, json!("not-yours")));
    for (access, shows) in [("one", ""), ("two", ""), ("three", token)] {
        assert_eq!(label(access, shows).await.0, 200, "{access}");
    }
}
