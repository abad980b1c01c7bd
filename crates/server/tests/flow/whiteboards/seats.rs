//! Models and stored agents that sit at a board.

use plenary_scripted::{Fault, Gate, Reply, Script, When};

use super::*;
use crate::mcp::Client;

/// By these words a model knows what it is asked for.
const POSTS: &str = "The board is in its blind phase";
const VALIDATES: &str = "Check the posts of others";
const DEBATES: &str = "Challenge posts of others";
const REBUTS: &str = "Answer that challenge";
const VOTES: &str = "Vote accept, reject or defer";

fn says(answer: Value) -> Reply {
    Reply::text(&answer.to_string()).usage(100, 10)
}

fn one_post(title: &str) -> Value {
    json!({ "posts": [{ "type": "proposal", "title": title, "body": "Because." }] })
}

/// Max (model a) proposes tea and challenges Ann; Sec (model b) proposes coffee.
fn script() -> Script {
    let note = |post: &str, kind: &str| json!({ "post": post, "type": kind, "result": "confirmed", "body": format!("On {post}.") });
    let notes = |notes: &[Value]| says(json!({ "annotations": notes }));
    let vote = |post: &str, vote: &str| json!({ "post": post, "vote": vote, "reason": "So." });
    let votes = |votes: &[Value]| says(json!({ "votes": votes }));
    canned()
        .when(When::model("a").and_says(POSTS), says(one_post("Tea")))
        .when(When::model("b").and_says(POSTS), says(one_post("Coffee")))
        .when(When::model("a").and_says(VALIDATES), notes(&[note("ann/1", "validation")]))
        .when(When::model("b").and_says(VALIDATES), notes(&[note("max/1", "validation")]))
        .when(When::model("a").and_says(DEBATES), notes(&[note("sec/1", "challenge")]))
        .when(When::model("b").and_says(DEBATES), notes(&[note("max/1", "corroboration")]))
        .when(When::says(REBUTS), says(json!({ "body": "It is not." })))
        .when(When::model("a").and_says(VOTES), votes(&[vote("sec/1", "reject")]))
        .when(
            When::model("b").and_says(VOTES),
            votes(&[vote("max/1", "accept"), vote("ann/1", "defer")]),
        )
}

fn two() -> Value {
    json!({ "seats": [
        { "name": "max", "model": "ollama/a", "domain": "tea" },
        { "name": "sec", "model": "ollama/b", "agent": "the-contrarian" },
    ] })
}

impl Whiteboard<'_> {
    /// Waits until so many events of this name are in the log, seen or not.
    async fn until(&self, name: &str, count: usize) {
        let come = async {
            loop {
                let events = self.app.store.events(self.session, 0, 10_000).await.unwrap();
                if events.iter().filter(|event| event.name == name).count() >= count {
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        let come = tokio::time::timeout(SAFETY, come).await;
        come.unwrap_or_else(|_| panic!("{count} × {name} did not come"));
    }

    async fn standing(&self, agent: &str) -> Vec<String> {
        let seen = self.seen(agent, "").await;
        let seats = seen["seats"].as_array().cloned().unwrap_or_default();
        seats.iter().map(|seat| seat["status"].as_str().unwrap_or("-").to_owned()).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn seats_post_validate_debate_and_vote_like_anybody() {
    let app = TestApp::start(script()).await;
    let board = Whiteboard::with(&app, "drinks", &["ann"], two()).await;
    board.posts("ann", "Water").await;
    board.until("answered", 2).await;
    // Blind means blind.
    let blind = board.seen("ann", "?detail=full").await;
    assert!(!blind.to_string().contains("max") && blind.get("seats").is_none(), "{blind}");
    let leader = board.seen("fay", "").await;
    assert_eq!(pick(&leader["seats"], "status"), [json!("done"), json!("done")]);
    assert_eq!(leader["hasPosted"], json!(["max", "sec", "ann"]));
    assert!(leader.get("usage").is_none() && !leader.to_string().contains("Tea"), "{leader}");
    let asked = app.scripted.requests();
    assert!(asked.iter().all(|asked| asked.prompt.contains("You see no posts.")));

    board.moves_to("read").await;
    let read = board.seen("", "").await;
    assert_eq!(pick(&read["posts"], "postId").len(), 3);
    assert_eq!(read["usage"]["inputTokens"], 200);
    assert_eq!(pick(&read["seats"], "model"), [json!("ollama/a"), json!("ollama/b")]);
    assert_eq!(read["seats"][1]["agent"], "the-contrarian");

    board.moves_to("validate").await;
    board.until("answered", 4).await;
    board.moves_to("debate").await;
    board.until("answered", 9).await;
    let seen = board.seen("fay", "").await;
    let post = |id: &str| {
        let posts = seen["posts"].as_array().unwrap();
        posts.iter().find(|post| post["postId"] == id).unwrap().clone()
    };
    let kinds = |id: &str| pick(&post(id)["annotations"], "type");
    assert_eq!(kinds("ann/1"), [json!("validation")]);
    assert_eq!(kinds("sec/1"), [json!("challenge"), json!("rebuttal")]);
    assert_eq!(kinds("max/1"), [json!("validation"), json!("corroboration")]);
    assert_eq!(post("max/1")["tally"]["accept"], 1);
    assert_eq!(post("sec/1")["tally"]["reject"], 1);
    assert_eq!(seen["usage"]["inputTokens"], 900);
    assert_eq!(board.standing("fay").await, ["done", "done"]);
    // The stored agent is who it is, and each was told what it knows about.
    let asked = app.scripted.requests();
    let of = |model: &str| asked.iter().find(|asked| asked.model == model).unwrap();
    assert!(of("a").prompt.contains("You know about tea."));
    assert!(of("b").prompt.len() > of("a").prompt.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_that_goes_on_breaks_off_what_runs_and_counts_it() {
    let gate = Gate::new();
    let held = says(one_post("Tea")).gate(4, &gate);
    let app = TestApp::start(canned().when(When::says(POSTS), held)).await;
    let seats = json!({ "seats": [{ "name": "max", "model": "ollama/a" }] });
    let board = Whiteboard::with(&app, "drinks", &["ann"], seats).await;
    assert_eq!(board.standing("fay").await, ["asked"]);
    let read = board.moves_to("read").await;
    assert_eq!(read["posts"], 0);
    board.until("answerStopped", 1).await;
    let seen = board.seen("", "").await;
    assert!(seen.get("usage").is_some(), "{seen}");
    gate.release();
    // What comes too late is no post.
    assert_eq!(board.seen("", "").await["postsTotal"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_leads_stops_seats_and_has_them_asked_again() {
    let gate = Gate::new();
    let script = canned()
        .when(When::model("a").and_says(POSTS), Reply::text("Never.").gate(0, &gate))
        .when(When::model("b").and_says(POSTS), says(one_post("Coffee")));
    let app = TestApp::start(script).await;
    let seats = json!({ "seats": [{ "name": "max", "model": "ollama/a" }] });
    let board = Whiteboard::with(&app, "drinks", &["ann"], seats).await;
    let stop = format!("/api/sessions/{}/stop", board.session);
    let (status, told) = app.post(&stop, &json!({})).await;
    assert_eq!(status, 403, "{told}");
    let (status, told) = app.post_as(board.token("ann"), &stop, &json!({})).await;
    assert_eq!(status, 403, "{told}");
    let (status, told) = app.post_as(board.token("fay"), &stop, &json!({})).await;
    assert_eq!(status, 200, "{told}");
    assert_eq!(board.standing("fay").await, ["stopped"]);
    let (status, told) = app.post_as(board.token("fay"), &stop, &json!({})).await;
    assert_eq!(status, 409, "{told}");

    let by_b = json!({ "name": "max", "model": "ollama/b" });
    let (status, told) = board.ask("ann", "seats", &by_b).await;
    assert_eq!(status, 403, "{told}");
    board.does("fay", "seats", by_b).await;
    board.until("answered", 1).await;
    assert_eq!(board.standing("fay").await, ["done"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_is_seen_and_what_cannot_sit_is_refused() {
    let script = canned()
        .when(When::model("a").and_says(POSTS), Reply::text("I would rather not."))
        .when(When::model("b").and_says(POSTS), Reply::fault(Fault::Unauthorized));
    let app = TestApp::start(script).await;
    let seats = json!({ "seats": [{ "name": "max", "model": "ollama/a" }, { "name": "mia", "model": "ollama/b" }] });
    let board = Whiteboard::with(&app, "drinks", &["ann"], seats).await;
    board.until("answerFailed", 2).await;
    assert_eq!(board.standing("fay").await, ["failed", "failed"]);
    board.moves_to("read").await;
    let (_, told) = app.get(&format!("/api/whiteboards/{}/export?format=json", board.name)).await;
    let told = told.to_string();
    assert!(told.contains("I would rather not.") && told.contains("not have the form asked for"));

    for (seat, field) in [
        (json!({ "name": "moe", "model": "nobody" }), "model"),
        (json!({ "name": "moe", "agent": "nobody" }), "agent"),
        (json!({ "name": "m o e", "model": "ollama/a" }), "agentName"),
        (json!({ "name": "moe", "model": "ollama/a", "temperature": 9 }), "temperature"),
    ] {
        let (status, told) = board.ask("fay", "seats", &seat).await;
        assert_eq!(status, 422, "{told}");
        assert_eq!(told["error"]["fields"][0]["field"], field, "{told}");
    }
    let wrong = json!({ "boardId": "b", "topic": "T", "openedBy": "fay", "seats": [
        { "name": "fay", "model": "ollama/a" }, { "name": "x", "model": "nobody" } ] });
    let (status, told) = app.post("/api/whiteboards", &wrong).await;
    assert_eq!(status, 422, "{told}");
    let fields = pick(&told["error"]["fields"], "field");
    assert!(fields.contains(&json!("seats[0].name")), "{told}");
    assert!(fields.contains(&json!("seats[1].model")), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn seats_keep_to_a_budget() {
    let app = TestApp::start(script()).await;
    let body = json!({ "boardId": "drinks", "topic": "Which one?", "openedBy": "fay",
        "seats": [{ "name": "max", "model": "ollama/a" }], "budget": { "tokens": 1000 } });
    let mut small = body.clone();
    small["topic"] = json!("Which one? ".repeat(300));
    let (status, told) = app.post("/api/whiteboards", &small).await;
    assert_eq!((status, &told["error"]["fields"][0]["field"]), (422, &json!("budget")), "{told}");
    let (status, told) = app.post("/api/whiteboards", &body).await;
    assert_eq!(status, 201, "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn seats_are_asked_again_after_a_restart() {
    let gate = Gate::new();
    let held = says(one_post("Tea")).gate(2, &gate);
    let app = TestApp::start(canned().when(When::says(POSTS), held)).await;
    let seats = json!({ "seats": [{ "name": "max", "model": "ollama/a" }] });
    let board = Whiteboard::open(&app, "drinks", seats).await;
    let (session, fay) = (board.session, board.token("fay").to_owned());
    drop(board);
    let app = app.restarted().await;
    app.engine.resume_all().await.unwrap();
    gate.release();
    let board =
        Whiteboard { app: &app, name: "drinks", session, tokens: vec![("fay".into(), fay)] };
    board.until("answered", 1).await;
    assert_eq!(board.standing("fay").await, ["done"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_seats_models_by_a_tool() {
    let app = TestApp::start(script()).await;
    let (client, _) = Client::start(&app, None).await;
    let opened = json!({ "board_id": "drinks", "topic": "Which one?", "opened_by": "fay",
        "seats": [{ "name": "max", "model": "ollama/a" }] });
    let you = client.good("whiteboard_open", opened).await;
    let (session, token) = (text(&you["session_id"]), text(&you["agent_token"]));
    let board = Whiteboard {
        app: &app,
        name: "drinks",
        session: session.parse().unwrap(),
        tokens: vec![("fay".into(), token.clone())],
    };
    board.until("answered", 1).await;
    let seen = json!({ "board_id": "drinks", "agent_name": "fay" });
    let seen = client.good("whiteboard_state", seen).await;
    assert_eq!(seen["seats"][0]["status"], "done", "{seen}");
    let refused = client.bad("session_stop", json!({ "id": session })).await;
    assert_eq!(refused["code"], "not-your-agent", "{refused}");
    let refused = client.bad("session_stop", json!({ "id": session, "agent_token": token })).await;
    assert_eq!(refused["code"], "not-now", "{refused}");
}
