//! Tokens that were lost.

use std::time::Duration;

use serde_json::{Value, json};

use super::{caller, guarded, refused, text};
use crate::support::{SAFETY, TestApp, answer, canned};

const BOARD: &str = "/api/whiteboards/plan";

async fn opened(app: &TestApp, access: &str) -> String {
    let open = json!({ "boardId": "plan", "topic": "?", "openedBy": "fay" });
    text(&caller(app, access).does("/api/whiteboards", open).await["agentToken"])
}

async fn log(app: &TestApp, board: &Value) -> Vec<(String, String)> {
    let id = text(&board["sessionId"]).parse().unwrap();
    let events = app.store.events(id, 0, 1_000).await.unwrap();
    events.into_iter().map(|event| (event.name, event.actor)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_who_lost_the_token_gets_a_new_one_and_archives() {
    let app = guarded().await;
    let by = |access| caller(&app, access);
    let old = opened(&app, "two").await;
    for phase in ["read", "debate", "resolve"] {
        let moved = json!({ "targetPhase": phase });
        by("two").showing(&old).does(&format!("{BOARD}/transition"), moved).await;
    }
    // Nobody else comes in any more, and a name alone is nobody.
    let eve = json!({ "agentName": "eve", "role": "facilitator" });
    refused(&by("two").post(&format!("{BOARD}/agents"), eve).await, 409, "not-now");
    let told = by("two").post(&format!("{BOARD}/archive"), json!({})).await;
    refused(&told, 403, "not-your-agent");
    let hint = text(&told.1["error"]["hint"]);
    assert!(hint.contains("operator of this server can replace a lost one"), "{hint}");

    let renew = format!("{BOARD}/agents/fay/token");
    for other in [by("two"), by("three"), by("two").showing(&old), by("one").as_agent()] {
        refused(&other.post(&renew, json!({})).await, 403, "not-yours");
    }
    let nobody = format!("{BOARD}/agents/eve/token");
    refused(&by("one").post(&nobody, json!({})).await, 404, "not-found");

    let reading = events_as(&app, &old).await;
    let renewed = by("one").does(&renew, json!({})).await;
    let new = text(&renewed["agentToken"]);
    assert_ne!(new, old);
    assert_eq!((&renewed["agentName"], &renewed["role"]), (&json!("fay"), &json!("facilitator")));
    // Whoever reads along by the old one is cut off, after what had happened before.
    let rest = tokio::time::timeout(SAFETY, reading.text()).await.unwrap().unwrap();
    assert!(rest.contains("event: transitioned") && !rest.contains("tokenRenewed"), "{rest}");
    let told = by("two").showing(&old).post(&format!("{BOARD}/archive"), json!({})).await;
    refused(&told, 403, "not-your-agent");
    refused(&by("two").showing(&old).send("GET", BOARD, &json!({})).await, 403, "not-your-agent");
    let archived = by("two").showing(&new).does(&format!("{BOARD}/archive"), json!({})).await;
    assert!(text(&archived["record"]).contains("fay"));
    let log = log(&app, &renewed).await;
    let renewal = log.iter().find(|(name, _)| name == "tokenRenewed").unwrap();
    assert_eq!(renewal.1, "token-1");
    // There is nothing to act on any more.
    refused(&by("one").post(&renew, json!({})).await, 409, "not-now");
}

/// A stream that has told what had happened.
async fn events_as(app: &TestApp, token: &str) -> reqwest::Response {
    let request = app.http.get(format!("{}{BOARD}/events", app.url)).bearer_auth("two");
    let response = request.header("agent-token", token).send().await.unwrap();
    assert_eq!(response.status(), 200);
    response
}

#[tokio::test(flavor = "multi_thread")]
async fn who_reads_along_by_the_new_token_is_not_cut_off_by_its_making() {
    let app = TestApp::start(canned()).await;
    opened(&app, "").await;
    let renew = format!("{BOARD}/agents/fay/token");
    let new = text(&caller(&app, "").does(&renew, json!({})).await["agentToken"]);
    let mut events = app.events_as(&new, &format!("{BOARD}/events"), None).await;
    let renewed = events.until("tokenRenewed").await;
    assert_eq!(renewed.data["event"]["agent"], "fay");
    let moved = json!({ "targetPhase": "read" });
    caller(&app, "").showing(&new).does(&format!("{BOARD}/transition"), moved).await;
    let id = events.until("transitioned").await.id;
    let (_, board) = app.get_as(&new, BOARD).await;
    assert_eq!((id, &board["data"]["version"]), (Some(3), &json!(3)), "{board}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_that_the_clock_brought_to_resolve_is_archived_with_a_new_token() {
    let (app, clock) = TestApp::with_clock(canned()).await;
    let second = json!({ "blindSeconds": 1, "readSeconds": 1, "validateSeconds": 1,
        "debateSeconds": 1 });
    let open = json!({ "boardId": "plan", "topic": "?", "openedBy": "fay", "deadlines": second });
    caller(&app, "").does("/api/whiteboards", open).await;
    let mut events = app.events(&format!("{BOARD}/events"), None).await;
    for _ in 0..4 {
        let second = Duration::from_secs(1);
        let asleep = clock.until_asleep(1, second..=second);
        tokio::time::timeout(SAFETY, asleep).await.unwrap();
        clock.advance(second);
        events.until("transitioned").await;
    }
    assert_eq!(app.get(BOARD).await.1["data"]["phase"], "resolve");
    let renewed = caller(&app, "").does(&format!("{BOARD}/agents/fay/token"), json!({})).await;
    let new = text(&renewed["agentToken"]);
    let archived =
        caller(&app, "").showing(&new).does(&format!("{BOARD}/archive"), json!({})).await;
    assert_eq!(archived["summary"]["phase"], "archived");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_request_that_is_repeated_does_not_bring_the_new_token() {
    let app = TestApp::start(canned()).await;
    let keyed = async |path: &str, body: &Value| {
        let request = app.http.post(format!("{}{path}", app.url)).json(body);
        let (status, told) = answer(request.header("idempotency-key", "k")).await;
        assert!(status < 300, "{path}: {told}");
        text(&told["data"]["agentToken"])
    };
    let open = json!({ "boardId": "plan", "topic": "?", "openedBy": "fay" });
    let ann = json!({ "agentName": "ann", "role": "specialist" });
    let post = json!({ "sender": "ann", "body": "Hello." });
    caller(&app, "").does("/api/councils", json!({ "name": "talk", "charter": "Talk." })).await;
    for (path, body, renew) in [
        ("/api/whiteboards", &open, "/api/whiteboards/plan/agents/fay/token"),
        ("/api/whiteboards/plan/agents", &ann, "/api/whiteboards/plan/agents/ann/token"),
        ("/api/councils/talk/posts", &post, "/api/councils/talk/agents/ann/token"),
    ] {
        let old = keyed(path, body).await;
        let new = text(&caller(&app, "").does(renew, json!({})).await["agentToken"]);
        let repeated = keyed(path, body).await;
        assert_eq!((&repeated, repeated == new), (&old, false), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sender_of_a_council_gets_a_new_token_too() {
    let app = guarded().await;
    let by = |access| caller(&app, access);
    by("two").does("/api/councils", json!({ "name": "talk", "charter": "Talk." })).await;
    let post = |body: &str| json!({ "sender": "ann", "body": body });
    let posts = "/api/councils/talk/posts";
    let old = text(&by("two").does(posts, post("One.")).await["agentToken"]);
    let renew = "/api/councils/talk/agents/ann/token";
    refused(&by("two").post(renew, json!({})).await, 403, "not-yours");
    let told = by("one").post("/api/councils/talk/agents/bob/token", json!({})).await;
    refused(&told, 404, "not-found");
    let renewed = by("inner").does(renew, json!({})).await;
    let new = text(&renewed["agentToken"]);
    refused(&by("two").showing(&old).post(posts, post("Two.")).await, 403, "not-your-agent");
    let posted = by("two").showing(&new).does(posts, post("Two.")).await;
    assert_eq!((&posted["sequence"], text(&posted["agentToken"])), (&json!(2), new));
    by("one").does("/api/councils/talk/close", json!({})).await;
    refused(&by("one").post(renew, json!({})).await, 409, "not-now");
}
