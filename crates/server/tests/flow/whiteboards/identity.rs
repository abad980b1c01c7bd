//! Who one is on a board, and requests that come twice.

use serde_json::{Value, json};

use super::{Whiteboard, annotation, text, vote};
use crate::support::{TestApp, answer, canned};

#[tokio::test(flavor = "multi_thread")]
async fn a_name_alone_is_nobody() {
    let app = TestApp::start(canned()).await;
    let board = Whiteboard::with(&app, "here", &["ann", "bob"], json!({})).await;
    let other = Whiteboard::with(&app, "there", &["ann"], json!({})).await;
    let before = (board.stored().await, other.stored().await);
    let writes = [
        ("posts", json!({ "type": "claim", "title": "t", "body": "b" })),
        ("annotations", annotation("ann/1", "challenge", "No.")),
        ("votes", vote("ann/1", "accept", "")),
        ("transition", json!({ "targetPhase": "read" })),
        ("archive", json!({})),
    ];
    let right = board.token("fay").to_owned();
    let wrong = [
        // Of the same name elsewhere, of nobody, cut short, and for another name.
        other.token("fay").to_owned(),
        "fay".to_owned(),
        format!("fay.{}", "0".repeat(40)),
        right[..right.len() - 1].to_owned(),
        right.replace("fay", "ann"),
        right.to_uppercase(),
    ];
    let not_yours = |status: u16, told: &Value| {
        assert_eq!((status, &told["error"]["code"]), (403, &json!("not-your-agent")), "{told}");
        assert!(told["error"]["message"].is_string());
    };
    for (what, body) in &writes {
        let (status, told) = app.post(&board.at(&format!("/{what}")), body).await;
        not_yours(status, &told);
        assert!(text(&told["error"]["hint"]).contains("Agent-Token"), "{told}");
        for token in &wrong {
            let (status, told) = app.post_as(token, &board.at(&format!("/{what}")), body).await;
            not_yours(status, &told);
        }
    }
    for path in ["", "/summary", "/conflicts", "/export", "/events"] {
        let (status, told) = app.get_as(&wrong[0], &board.at(path)).await;
        not_yours(status, &told);
    }
    // A name in the body is no field of these.
    let (status, told) =
        app.post(&board.at("/posts"), &json!({ "agentName": "ann", "type": "claim" })).await;
    assert_eq!(status, 422, "{told}");
    assert_eq!((board.stored().await, other.stored().await), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_kept_by_whoever_has_its_token() {
    let app = TestApp::start(canned()).await;
    let board = Whiteboard::with(&app, "names", &["ann", "bob"], json!({})).await;
    let before = board.stored().await;
    let ann = json!({ "agentName": "ann", "role": "specialist" });
    let (status, told) = app.post(&board.at("/agents"), &ann).await;
    assert_eq!((status, &told["error"]["code"]), (403, &json!("not-your-agent")), "{told}");
    let (status, told) = board.ask("bob", "agents", &ann).await;
    assert_eq!((status, &told["error"]["code"]), (403, &json!("not-your-agent")), "{told}");
    assert!(!told.to_string().contains(board.token("ann")));
    let (status, told) = board.ask("ann", "agents", &ann).await;
    assert_eq!((status, &told["data"]["agentToken"]), (200, &json!(board.token("ann"))), "{told}");
    let other = json!({ "agentName": "ann", "role": "operator" });
    let (status, told) = board.ask("ann", "agents", &other).await;
    assert_eq!((status, &told["error"]["code"]), (403, &json!("forbidden")), "{told}");
    // The opener is registered, and keeps the role.
    let opener = json!({ "agentName": "fay", "role": "facilitator" });
    assert_eq!(app.post(&board.at("/agents"), &opener).await.0, 403);
    assert_eq!(board.ask("fay", "agents", &opener).await.0, 200);
    assert_eq!(board.stored().await, before);
    // Many that want one name at the same moment: one gets it.
    let zoe = json!({ "agentName": "zoe", "role": "specialist" });
    let path = board.at("/agents");
    let answers = futures::future::join_all((0..8).map(|_| app.post(&path, &zoe))).await;
    let got: Vec<u16> = answers.iter().map(|(status, _)| *status).collect();
    assert_eq!(got.iter().filter(|status| **status == 200).count(), 1, "{answers:?}");
    assert_eq!(got.iter().filter(|status| **status == 403).count(), 7, "{answers:?}");
    for phase in ["read", "debate", "resolve"] {
        board.moves_to(phase).await;
    }
    let late = json!({ "agentName": "late", "role": "specialist" });
    let (status, told) = app.post(&board.at("/agents"), &late).await;
    assert_eq!((status, &told["error"]["state"]), (409, &json!("resolve")), "{told}");
}

/// What a repeated request must say again.
fn lasting(told: &Value) -> Vec<Value> {
    let keys = ["agentToken", "agentName", "sessionId", "boardId", "postId", "annotationId"];
    keys.map(|key| told["data"][key].clone()).to_vec()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_request_says_the_same_and_writes_nothing_twice() {
    let app = TestApp::start(canned()).await;
    let board = Whiteboard::with(&app, "twice", &["ann", "bob"], json!({})).await;
    let send = async |agent: &str, path: &str, body: &Value, key: &str| {
        let request = app.http.post(format!("{}{path}", app.url)).header("idempotency-key", key);
        let request = match agent {
            "" => request,
            agent => request.header("agent-token", board.token(agent)),
        };
        answer(request.json(body)).await
    };
    let post = json!({ "type": "claim", "title": "t", "body": "b" });
    let cyd = json!({ "agentName": "cyd", "role": "specialist", "domain": "all" });
    let open = json!({ "boardId": "new", "topic": "?", "openedBy": "eve" });
    let challenge = annotation("ann/1", "challenge", "No.");
    // In this order: agent, path, body, and the phase in which it can be done.
    let requests: Vec<(&str, String, Value, &str)> = vec![
        ("", "/api/whiteboards".into(), open, "blind"),
        ("", board.at("/agents"), cyd, "blind"),
        ("ann", board.at("/posts"), post.clone(), "blind"),
        ("bob", board.at("/posts"), post, "blind"),
        ("fay", board.at("/transition"), json!({ "targetPhase": "read" }), "blind"),
        ("fay", board.at("/transition"), json!({ "targetPhase": "debate" }), "read"),
        ("bob", board.at("/annotations"), challenge, "debate"),
        ("bob", board.at("/votes"), vote("ann/1", "reject", "No."), "debate"),
        ("fay", board.at("/transition"), json!({ "targetPhase": "resolve" }), "debate"),
        ("fay", board.at("/archive"), json!({ "note": "Done." }), "resolve"),
    ];
    let mut first = vec![];
    for (nth, (agent, path, body, phase)) in requests.iter().enumerate() {
        assert_eq!(board.seen("", "").await["phase"], *phase);
        // Ann and Bob choose the same key, and so may others.
        let key = if path.ends_with("/posts") { "same".to_owned() } else { format!("k{nth}") };
        let (status, told) = send(agent, path, body, &key).await;
        assert!(status < 300, "{path} {body}: {told}");
        let stored = board.stored().await;
        let (again, repeated) = send(agent, path, body, &key).await;
        assert_eq!((again, &repeated), (status, &told), "{path}");
        assert_eq!(board.stored().await, stored, "{path} was written twice");
        first.push((key, status, told));
    }
    assert_eq!(first[2].2["data"]["postId"], "ann/1");
    assert_eq!(first[3].2["data"]["postId"], "bob/1");
    // The state has moved on; what was done is still told.
    let stored = board.stored().await;
    for ((agent, path, body, _), (key, status, told)) in requests.iter().zip(&first) {
        let (again, repeated) = send(agent, path, body, key).await;
        assert_eq!((again, lasting(&repeated)), (*status, lasting(told)), "{path}: {repeated}");
    }
    // The same key for something else is a mistake.
    for (agent, path, body, key) in [
        ("ann", board.at("/posts"), json!({ "type": "claim", "title": "u", "body": "b" }), "same"),
        ("ann", board.at("/votes"), vote("bob/1", "accept", ""), "same"),
        ("", board.at("/agents"), json!({ "agentName": "cyd", "role": "operator" }), "k1"),
    ] {
        let (status, told) = send(agent, &path, &body, key).await;
        let code = json!("idempotency-key-reused");
        assert_eq!((status, &told["error"]["code"]), (422, &code), "{told}");
    }
    assert_eq!(board.stored().await, stored);
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_of_one_name_in_two_places_do_not_share_keys() {
    let app = TestApp::start(canned()).await;
    let here = Whiteboard::with(&app, "here", &["ann"], json!({})).await;
    let there = Whiteboard::with(&app, "there", &["ann"], json!({})).await;
    let post = json!({ "type": "claim", "title": "t", "body": "b" });
    for board in [&here, &there] {
        let request = app.http.post(format!("{}{}", app.url, board.at("/posts")));
        let request = request.header("agent-token", board.token("ann"));
        let (status, told) = answer(request.header("idempotency-key", "k").json(&post)).await;
        assert_eq!((status, &told["data"]["boardId"]), (200, &json!(board.name)), "{told}");
    }
    let body = json!({ "sender": "ann", "body": "Hello." });
    assert_eq!(app.post("/api/councils", &json!({ "name": "c", "charter": "?" })).await.0, 201);
    let (status, told) = app.post_with_key("/api/councils/c/posts", "k", &body).await;
    assert_eq!(status, 200, "{told}");
}
