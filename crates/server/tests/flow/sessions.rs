//! Sessions of any form: how far they are, waiting for them, stopping them.

use std::time::Duration;

use plenary_scripted::{Gate, Reply, Script, When};
use serde_json::{Value, json};

use crate::support::{Board, SAFETY, TestApp, canned};

fn at(board: &Board, rest: &str) -> String {
    format!("/api/sessions/{}{rest}", board.id)
}

async fn session(app: &TestApp, path: &str) -> Value {
    let (status, body) = app.get(path).await;
    assert_eq!(status, 200, "{path}: {body}");
    body["data"].clone()
}

/// Advisor `ollama/c` waits at a gate; the others answer at once.
fn one_waits(gate: &Gate) -> Script {
    canned().when(When::model("c"), Reply::canned().gate(0, gate))
}

async fn until_two_answered(app: &TestApp, board: &Board) {
    let done = |view: &Value| view["advisors"].to_string().matches("\"done\"").count();
    app.until(board, |view| done(view) == 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_tells_how_far_it_is_and_what_came_of_it() {
    let app = TestApp::start(canned()).await;
    let board = app.triad("How far?").await;
    app.until_status(&board, "closed").await;
    let brief = session(&app, &at(&board, "")).await;
    assert_eq!((&brief["kind"], &brief["status"]), (&json!("boardroom"), &json!("closed")));
    assert_eq!((&brief["over"], &brief["active"]), (&json!(true), &json!(false)));
    let words = "All 3 advisors have answered; the verdict is ready.";
    assert_eq!(brief["progress"], json!({ "done": 4, "total": 4, "message": words }));
    assert!(brief["result"].as_str().unwrap().starts_with("## Consensus"), "{brief}");
    assert!(brief["next"].as_array().unwrap().len() > 1, "{brief}");
    assert_eq!(session(&app, &at(&board, "?detail=brief")).await, brief);
    let full = session(&app, &at(&board, "?detail=full")).await;
    let export = app.http.get(format!("{}{}", app.url, board.at("export?format=markdown")));
    let export = export.send().await.unwrap().text().await.unwrap();
    assert_eq!(full["result"], json!(export));
    assert_eq!(app.get(&at(&board, "?detail=most")).await.0, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_ends_with_the_session() {
    let gate = Gate::new();
    let app = TestApp::start(one_waits(&gate)).await;
    let board = app.triad("Worth the wait?").await;
    gate.reached(1).await;
    let (waits, releases) = (at(&board, "/wait?seconds=600"), async { gate.release() });
    let (over, ()) = tokio::join!(session(&app, &waits), releases);
    assert_eq!((&over["over"], &over["status"]), (&json!(true), &json!("closed")));
    // One that is over is not waited for.
    assert_eq!(session(&app, &waits).await, over);
    app.until_metric("plenary_readers", |readers| readers == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_ends_with_any_progress_since_it_was_seen() {
    let gate = Gate::new();
    let app = TestApp::start(one_waits(&gate)).await;
    let board = app.triad("Any news?").await;
    until_two_answered(&app, &board).await;
    let before = session(&app, &at(&board, "")).await;
    let words = "2 of 3 advisors have answered; waiting for Analyst (ollama/c).";
    assert_eq!(before["progress"], json!({ "done": 2, "total": 4, "message": words }));
    let seen = before["seen"].as_str().unwrap();
    let path = at(&board, &format!("/wait?seconds=600&seen={seen}"));
    let (after, ()) = tokio::join!(session(&app, &path), async { gate.release() });
    assert_ne!(after["seen"], before["seen"]);
    assert!(after["progress"]["done"].as_u64() > Some(2), "{after}");
    // What somebody else has seen is news as well.
    session(&app, &at(&board, "/wait?seconds=600&seen=something")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_ends_with_its_time() {
    let gate = Gate::new();
    let (app, clock) = TestApp::with_clock(one_waits(&gate)).await;
    let board = app.triad("How long?").await;
    gate.reached(1).await;
    until_two_answered(&app, &board).await;
    let path = at(&board, "/wait?seconds=45");
    let passes = async {
        let time = Duration::from_secs(45);
        tokio::time::timeout(SAFETY, clock.until_asleep(1, time..=time)).await.unwrap();
        clock.advance(time);
    };
    let (view, ()) = tokio::join!(session(&app, &path), passes);
    assert_eq!((&view["over"], &view["status"]), (&json!(false), &json!("answering")));
    let at_once = session(&app, &at(&board, "/wait?seconds=0")).await;
    assert_eq!(at_once["seen"], view["seen"]);
    for wrong in ["seconds=601", "seconds=-1", "seconds=soon", "second=1"] {
        let (status, body) = app.get(&at(&board, &format!("/wait?{wrong}"))).await;
        assert_eq!((status, &body["error"]["code"]), (400, &json!("invalid-query")), "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_ends_when_its_session_is_removed() {
    let gate = Gate::new();
    let app = TestApp::start(one_waits(&gate)).await;
    let board = app.triad("Gone?").await;
    let path = at(&board, "/wait?seconds=600");
    let remove = async {
        app.until_metric("plenary_readers", |readers| readers == 1).await;
        app.delete(&board.path()).await
    };
    let ((status, body), removed) = tokio::join!(app.get(&path), remove);
    assert_eq!(removed.0, 200, "{}", removed.1);
    assert_eq!((status, &body["error"]["code"]), (404, &json!("not-found")), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn any_session_can_be_stopped() {
    let gate = Gate::new();
    let app = TestApp::start(one_waits(&gate)).await;
    let board = app.triad("Enough?").await;
    until_two_answered(&app, &board).await;
    let (status, body) = app.post_with_key(&at(&board, "/stop"), "k", &json!({})).await;
    assert_eq!(status, 200, "{body}");
    assert_eq!((&body["data"]["over"], &body["data"]["status"]), (&json!(true), &json!("stopped")));
    assert_eq!(app.post_with_key(&at(&board, "/stop"), "k", &json!({})).await.0, 200);
    app.command(&board, "synthesize", json!({})).await;
    app.until_status(&board, "closed").await;
    let (status, body) = app.post(&at(&board, "/stop"), &json!({})).await;
    assert_eq!((status, &body["error"]["code"]), (409, &json!("not-now")), "{body}");
    let nobody = "/api/sessions/01890000-0000-7000-8000-000000000000";
    assert_eq!(app.post(&format!("{nobody}/stop"), &json!({})).await.0, 404);
    assert_eq!(app.get(&format!("{nobody}/wait")).await.0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn any_session_can_be_removed_and_its_name_stays_taken() {
    let gate = Gate::new();
    let app = TestApp::start(one_waits(&gate)).await;
    let board = app.triad("Gone for good?").await;
    gate.reached(1).await;
    let council = json!({ "name": "the-plan", "charter": "Plan." });
    let whiteboard = json!({ "boardId": "the-plan", "topic": "Which?", "openedBy": "ann" });
    let mut paths = vec![at(&board, "")];
    for (route, body) in [("/api/councils", &council), ("/api/whiteboards", &whiteboard)] {
        let (status, opened) = app.post(route, body).await;
        assert_eq!(status, 201, "{opened}");
        paths.push(format!("/api/sessions/{}", opened["data"]["sessionId"].as_str().unwrap()));
    }
    for path in paths {
        let (status, body) = app.delete(&path).await;
        assert_eq!((status, &body["data"]), (200, &json!({})), "{body}");
        assert_eq!(app.get(&path).await.0, 404);
        assert_eq!(app.delete(&path).await.0, 404);
    }
    let requests = app.scripted.wait_for_ended(3).await;
    assert!(requests.iter().any(|request| request.dropped), "what ran was ended");
    for (route, body) in [("/api/councils", &council), ("/api/whiteboards", &whiteboard)] {
        assert_eq!(app.get(&format!("{route}/the-plan")).await.0, 404);
        let (status, body) = app.post(route, body).await;
        assert_eq!((status, &body["error"]["code"]), (409, &json!("taken")), "{body}");
    }
}
