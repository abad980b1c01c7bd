//! Tags of views: whoever has a view is not sent it again.

use plenary_scripted::{Gate, Reply, Script};
use serde_json::{Value, json};

use crate::support::{TestApp, canned};

/// Status, tag and body of a view, for somebody with this token who has these tags.
async fn look(app: &TestApp, path: &str, token: &str, has: &str) -> (u16, String, String) {
    let mut request = app.http.get(format!("{}{path}", app.url));
    if !token.is_empty() {
        request = request.header("agent-token", token);
    }
    if !has.is_empty() {
        request = request.header("if-none-match", has);
    }
    let answer = request.send().await.unwrap();
    let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("cache-control"), "private, no-cache");
    let (status, tag) = (answer.status().as_u16(), header("etag"));
    (status, tag, answer.text().await.unwrap())
}

async fn opened(app: &TestApp, path: &str, body: Value) -> Value {
    let (status, told) = app.post(path, &body).await;
    assert!(status < 300, "{told}");
    told["data"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_has_a_view_of_a_session_is_not_sent_it_again() {
    let app = TestApp::start(canned()).await;
    let board = app.triad("Shall we?").await;
    app.until_status(&board, "closed").await;
    let opening = json!({ "boardId": "wall", "topic": "Which?", "openedBy": "fay" });
    opened(&app, "/api/whiteboards", opening).await;
    for path in [
        board.path(),
        format!("/api/sessions/{}", board.session()),
        "/api/whiteboards/wall".to_owned(),
        "/api/whiteboards/wall?detail=full&limit=1".to_owned(),
    ] {
        let (status, tag, body) = look(&app, &path, "", "").await;
        assert_eq!((status, body.is_empty()), (200, false), "{path}");
        for has in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
            let unchanged = (304, tag.clone(), String::new());
            assert_eq!(look(&app, &path, "", &has).await, unchanged, "{path} {has}");
        }
        let again = (200, tag.clone(), body);
        for has in ["", "\"x\"", tag.trim_matches('"'), "nonsense,,"] {
            assert_eq!(look(&app, &path, "", has).await, again, "{path} {has}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn words_under_way_and_what_is_recorded_change_the_tag() {
    let gate = Gate::new();
    let app = TestApp::start(Script::new(Reply::canned().gate(2, &gate))).await;
    let board = app.triad("Shall we?").await;
    let (_, first, early) = look(&app, &board.path(), "", "").await;
    gate.reached(3).await;
    let said =
        |view: &Value| view["advisors"][0]["text"].as_str().is_some_and(|text| !text.is_empty());
    app.until(&board, said).await;
    let (_, second, body) = look(&app, &board.path(), "", "").await;
    let (status, ..) = look(&app, &board.path(), "", &first).await;
    // On a slow machine the words are there as soon as anybody looks.
    assert_eq!(status, if early == body { 304 } else { 200 });
    assert!(said(&serde_json::from_str::<Value>(&body).unwrap()["data"]), "{body}");
    gate.release();
    app.until_status(&board, "closed").await;
    let (status, third, body) = look(&app, &board.path(), "", &format!("{first}, {second}")).await;
    assert_eq!(status, 200);
    assert!(third != first && third != second && body.contains("\"closed\""), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tag_tells_nobody_of_blind_posts() {
    let app = TestApp::start(canned()).await;
    let opening = json!({ "boardId": "wall", "topic": "Which?", "openedBy": "fay" });
    opened(&app, "/api/whiteboards", opening).await;
    let mut tokens = vec![];
    for agent in ["ann", "bob"] {
        let body = json!({ "agentName": agent, "role": "specialist" });
        let you = opened(&app, "/api/whiteboards/wall/agents", body).await;
        tokens.push(you["agentToken"].as_str().unwrap().to_owned());
    }
    let views = async || {
        let mut views = vec![];
        for path in ["/api/whiteboards/wall", "/api/whiteboards/wall?detail=full"] {
            for token in ["", tokens[0].as_str(), tokens[1].as_str()] {
                views.push(look(&app, path, token, "").await);
            }
        }
        views
    };
    let before = views().await;
    let post = json!({ "type": "claim", "title": "Mine", "body": "Only mine." });
    let (status, told) = app.post_as(&tokens[1], "/api/whiteboards/wall/posts", &post).await;
    assert_eq!(status, 200, "{told}");
    let after = views().await;
    for (place, (before, after)) in before.iter().zip(&after).enumerate() {
        // Bob sees his own.
        assert_eq!(before == after, place % 3 != 2, "{place}: {before:?} {after:?}");
    }
    // Who has everybody's view is told that it holds, whoever posts.
    let (status, ..) = look(&app, "/api/whiteboards/wall", "", &before[0].1).await;
    assert_eq!(status, 304);
}
