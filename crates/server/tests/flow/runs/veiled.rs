//! What a run knows of a blind board is for whoever owns the run.

use futures::StreamExt;
use plenary_scripted::{Reply, When};
use plenary_server::Access;
use serde_json::{Value, json};

use super::of;
use crate::mcp::Client;
use crate::support::{TestApp, answer, canned};

const POSTS: &str = "name: posts
steps:
  bob: { whiteboard.register: { board: b, agent: bob, role: specialist } }
  post: { whiteboard.post: { board: b, as: bob, ask: Propose one. }, needs: [bob] }
  told: { set: '{{ steps.post.body }}', needs: [post] }
  rest: { wait: { any: [ { signal: go } ] }, needs: [told] }
outputs: { told: '{{ steps.told }}' }
";

/// Whoever asks, by the access token; the first is the operator's.
async fn ask(app: &TestApp, access: &str, path: &str) -> (u16, String) {
    let request = app.http.get(format!("{}{path}", app.url)).bearer_auth(access);
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

async fn tell(app: &TestApp, access: &str, path: &str, body: &Value) -> Value {
    let request = app.http.post(format!("{}{path}", app.url)).bearer_auth(access);
    let (status, told) = answer(request.json(body)).await;
    assert!(status < 300, "{path}: {told}");
    told["data"].clone()
}

/// A run of the second token's that has posted on the operator's blind board and waits, the
/// run's id and the token of who leads the board.
async fn posted(body: &str) -> (TestApp, String, String) {
    let post = json!({ "title": "Mine", "body": body, "type": "proposal" }).to_string();
    let script = canned().when(When::says("Propose one."), Reply::text(&post).usage(10, 9));
    let tokens = ["one", "two", "three"].map(str::to_owned).to_vec();
    let app = TestApp::with_access(script, Access { tokens, ..Access::default() }).await;
    let board = json!({ "boardId": "b", "topic": "Which?", "openedBy": "lead" });
    let board = tell(&app, "one", "/api/whiteboards", &board).await;
    let run = tell(&app, "two", "/api/runs", &json!({ "source": POSTS })).await;
    let id = run["id"].as_str().unwrap().to_owned();
    loop {
        let (_, told) = ask(&app, "two", &format!("/api/runs/{id}")).await;
        let view: Value = serde_json::from_str(&told).unwrap();
        if of(&view["data"], "rest")["status"] == "running" {
            let token = board["agentToken"].as_str().unwrap().to_owned();
            return (app, id, token);
        }
        ask(&app, "two", &format!("/api/sessions/{id}/wait?seconds=1")).await;
    }
}

/// Everything by which a stranger looks at a run.
fn looks(id: &str) -> Vec<String> {
    let run = format!("/api/runs/{id}");
    let session = format!("/api/sessions/{id}");
    vec![
        run.clone(),
        format!("{run}/export?format=json"),
        format!("{run}/export?format=markdown"),
        format!("{session}?detail=full"),
        format!("{session}/wait?seconds=0"),
        "/api/runs?facts=true".into(),
        "/api/sessions?facts=true&kind=workflow".into(),
        "/api/sessions?q=elephant&facts=true".into(),
    ]
}

/// The same without ids and times.
fn without_chance(text: &str, id: &str) -> String {
    fn clear(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|name, _| !name.ends_with("At"));
                fields.values_mut().for_each(clear);
            }
            Value::Array(items) => items.iter_mut().for_each(clear),
            _ => {}
        }
    }
    let text = text.replace(id, "ID");
    let Ok(mut value) = serde_json::from_str(&text) else { return text };
    clear(&mut value);
    value.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_sees_the_same_whatever_a_seat_posts_on_a_blind_board() {
    let (first, one, lead) = posted("An elephant.").await;
    let (second, other, _) = posted("A mouse, and much more than that.").await;
    for (look, its) in looks(&one).iter().zip(looks(&other)) {
        let (status, seen) = ask(&first, "three", look).await;
        assert_eq!(status, 200, "{look}: {seen}");
        let also = ask(&second, "three", &its).await.1;
        assert_eq!(without_chance(&seen, &one), without_chance(&also, &other), "{look}");
        // Whoever has begun it, and the operator, see what it does.
        let is_view = look.starts_with("/api/runs/") && !look.contains("markdown");
        for owner in ["one", "two"].into_iter().filter(|_| is_view) {
            let told = ask(&first, owner, look).await.1;
            assert!(told.contains("An elephant"), "{owner} at {look}: {told}");
        }
    }
    // Whoever is told nothing of it now is told all when the board is opened.
    let events = format!("/api/runs/{one}/events");
    let all = format!("{}/api/events?after=0", first.url);
    let all = first.http.get(all).bearer_auth("three").send().await.unwrap();
    let request = first.http.get(format!("{}{events}", first.url)).bearer_auth("three");
    let stream = request.send().await.unwrap();
    let to = json!({ "targetPhase": "read" });
    let request = first.http.post(format!("{}/api/whiteboards/b/transition", first.url));
    let moved = request.bearer_auth("one").header("Agent-Token", lead).json(&to);
    assert_eq!(answer(moved).await.0, 200);
    tell(&first, "two", "/api/signals", &json!({ "name": "go" })).await;
    let ended: Vec<String> = stream
        .bytes_stream()
        .map(|piece| String::from_utf8_lossy(&piece.unwrap()).into())
        .collect()
        .await;
    assert!(!ended.concat().contains("event: "), "{ended:?}");
    let (_, told) = ask(&first, "three", &format!("/api/sessions/{one}/wait?seconds=20")).await;
    assert!(told.contains("An elephant"), "{told}");
    let mut seen = String::new();
    let mut pieces = all.bytes_stream();
    // The board's own event comes after all that the run did while the board was blind.
    while !seen.contains("event: transitioned") {
        seen += &String::from_utf8_lossy(&pieces.next().await.unwrap().unwrap());
    }
    assert!(!seen.contains("answered") && !seen.contains("stepDone"), "{seen}");
}

/// An agent is not the operator, whoever runs it.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_sees_nothing_of_a_run_that_a_person_began() {
    let (app, id, _) = posted("An elephant.").await;
    let (client, _) = Client::start(&app, Some("one")).await;
    let status = client.good("workflow_status", json!({ "id": id })).await;
    assert_eq!(
        (&status["status"], status.to_string().contains("elephant")),
        (&json!("running"), false)
    );
    let got = client.good("session_get", json!({ "id": id, "detail": "full" })).await;
    assert_eq!(
        got["progress"]["message"], "hidden while a whiteboard it posts to is blind",
        "{got}"
    );
}
