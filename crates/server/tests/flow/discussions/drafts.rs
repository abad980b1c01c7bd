//! What can be written, and what is wrong with it.

use serde_json::{Value, json};

use super::{Talk, agreeable, ann_and_bob, seat, with};
use crate::support::{TestApp, pick};

fn draft() -> Value {
    with(ann_and_bob(), json!({ "start": false }))
}

/// The fields that an answer finds wrong.
fn wrong(told: &Value) -> Vec<&str> {
    let fields = told["error"]["fields"].as_array().into_iter().flatten();
    fields.map(|field| field["field"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_is_enough() {
    let app = TestApp::start(agreeable()).await;
    let (_, presets) = app.get("/api/discussions/presets").await;
    let formats = presets["data"]["formats"].as_array().unwrap();
    assert_eq!(
        pick(&presets["data"]["roles"], "id"),
        ["participant", "observer", "devil_advocate"]
    );
    for format in formats {
        let body = json!({ "topic": "Shall we?\nReally?", "format": format["id"] });
        let talk = Talk::create(&app, body).await;
        let view = talk.view().await;
        assert_eq!((&view["status"], &view["name"]), (&json!("draft"), &json!("Shall we?")));
        assert_eq!(view["moderatorId"], format["moderatorId"]);
        assert_eq!(pick(&view["participants"], "id"), pick(&format["participants"], "agentId"));
        assert_eq!(pick(&view["participants"], "role"), pick(&format["participants"], "role"));
        assert_eq!((&view["round"], &view["maxRounds"]), (&json!(0), &json!(5)));
        assert_eq!((&view["step"], &view["actual"]["calls"]), (&Value::Null, &json!(0)));
        assert_eq!(view["allowed"], json!(["start", "edit", "export"]));
    }
    assert_eq!(app.scripted.requests().len(), 0);
    let talk =
        Talk::create(&app, json!({ "topic": "Shall we?", "start": true, "maxRounds": 1 })).await;
    talk.until_status("concluded").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_edited_and_started() {
    let app = TestApp::start(agreeable()).await;
    let talk = Talk::create(&app, draft()).await;
    let changes = json!({ "name": " Drinks ", "topic": "Cocoa?", "format": "brainstorm",
        "maxRounds": 1 });
    let (status, told) = app.patch(&talk.path(), &changes).await;
    assert_eq!(status, 200, "{told}");
    let view = talk.view().await;
    for (field, value) in
        [("name", "Drinks"), ("topic", "Cocoa?"), ("format", "brainstorm"), ("status", "draft")]
    {
        assert_eq!((&view[field], &told["data"][field]), (&json!(value), &json!(value)));
    }
    let (status, told) =
        app.patch(&talk.at("moderator"), &json!({ "facilitator": { "person": "Max" } })).await;
    assert_eq!((status, &told["data"]["moderatorId"]), (200, &json!("max")), "{told}");
    let (status, told) =
        app.patch(&talk.at("moderator"), &json!({ "facilitator": seat("Lea") })).await;
    assert_eq!((status, &told["data"]["moderator"]["model"]), (200, &json!("ollama/lea")));
    let added = json!({ "person": "Eve", "role": "observer" });
    let view = talk.command("participants", added).await;
    assert_eq!(pick(&view["participants"], "id"), ["ann", "bob", "eve"]);
    for (gone, left) in [("bob", vec!["ann", "eve"]), ("ann", vec!["eve"])] {
        let (status, told) = app.delete(&talk.at(&format!("participants/{gone}"))).await;
        assert_eq!(
            (status, pick(&told["data"]["participants"], "id")),
            (200, left.iter().map(|id| json!(id)).collect())
        );
    }
    assert_eq!(app.delete(&talk.at("participants/zoe")).await.0, 404);
    // Those who only listen hold no discussion.
    let (status, told) = talk.try_to("start", json!({})).await;
    assert_eq!((status, wrong(&told)), (422, vec!["participants"]), "{told}");
    talk.command("participants", seat("Ann")).await;
    talk.command("start", json!({})).await;
    let view = talk.until_status("concluded").await;
    assert_eq!(view["conclusion"], "So be it.");
    // From then on those who sit there stay.
    for (status, told) in [
        app.patch(&talk.path(), &json!({ "maxRounds": 2 })).await,
        app.patch(&talk.at("moderator"), &json!({ "facilitator": seat("Zoe") })).await,
        talk.try_to("participants", seat("Zoe")).await,
        app.delete(&talk.at("participants/ann")).await,
    ] {
        assert_eq!((status, &told["error"]["code"]), (409, &json!("not-now")), "{told}");
    }
    assert!(app.scripted.requests()[0].prompt.contains("Cocoa?"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_changed_is_refused_by_name() {
    let app = TestApp::start(agreeable()).await;
    let talk = Talk::create(&app, draft()).await;
    let check = async |path: &str, body: Value, expected: &[&str]| {
        let (status, told) = app.patch(path, &body).await;
        assert_eq!((status, wrong(&told)), (422, expected.to_vec()), "{body}: {told}");
        assert_eq!(told["error"]["code"], "invalid-input");
    };
    let (path, moderator) = (talk.path(), talk.at("moderator"));
    for status in ["draft", "stopped", "failed", "pausing", "Active", "x"] {
        check(&path, json!({ "status": status }), &["status"]).await;
    }
    check(
        &path,
        json!({ "status": "x", "conclusion": 8, "topic": 7 }),
        &["conclusion", "status", "topic"],
    )
    .await;
    check(
        &path,
        json!({ "name": " ", "topic": "", "maxRounds": 0 }),
        &["name", "topic", "maxRounds"],
    )
    .await;
    check(&path, json!({ "maxRounds": 51 }), &["maxRounds"]).await;
    check(&path, json!({ "format": "quarrel" }), &["format"]).await;
    check(&moderator, json!({}), &["moderatorId"]).await;
    check(&moderator, json!({ "facilitator": seat("Ann") }), &["facilitator"]).await;
    check(&moderator, json!({ "moderatorId": "nobody" }), &["moderatorId"]).await;
    let (status, told) = talk.try_to("participants", seat("Ann")).await;
    assert_eq!((status, wrong(&told)), (422, vec!["participant"]), "{told}");
    assert_eq!(talk.names().await, ["created"]);
    let message = told["error"]["message"].as_str().unwrap();
    assert!(message.contains("Ann"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_wrong_field_of_a_new_one_is_named() {
    let app = TestApp::start(agreeable()).await;
    let check = async |changes: Value, expected: &[&str]| {
        let (status, told) = app.post("/api/discussions", &with(draft(), changes.clone())).await;
        let mut found = wrong(&told);
        found.sort_unstable();
        assert_eq!((status, found), (422, expected.to_vec()), "{changes}: {told}");
    };
    let long = |bytes: usize| "x".repeat(bytes + 1);
    check(json!({ "topic": " " }), &["topic"]).await;
    check(
        json!({ "topic": long(65536), "name": long(200), "maxRounds": 0, "budgetTokens": 999,
            "project": " ", "participants": [] }),
        &["budget.tokens", "maxRounds", "name", "participants", "project", "topic"],
    )
    .await;
    check(
        json!({ "participants": [with(seat("Eve"), json!({ "role": "observer" }))] }),
        &["participants"],
    )
    .await;
    let crowd: Vec<Value> = (0..17).map(|nth| seat(&format!("P{nth}"))).collect();
    check(json!({ "participants": crowd }), &["participants"]).await;
    check(json!({ "status": "active", "colour": 1 }), &["colour", "status"]).await;
    // Who leads does not take part, by whichever name.
    let facilitator =
        app.get("/api/discussions/presets").await.1["data"]["formats"][0]["moderatorId"].clone();
    let same = json!({ "facilitator": null, "moderatorId": facilitator,
        "participants": [{ "agentId": facilitator }, seat("Ann")] });
    let (status, told) = app.post("/api/discussions", &with(draft(), same)).await;
    assert_eq!(status, 422, "{told}");
    assert!(wrong(&told).contains(&"participants[0]"), "{told}");
    check(
        json!({ "participants": [{}, { "name": "A", "person": "B" }, { "person": "C", "model": "ollama/a" },
            { "name": "D", "model": "nowhere/d" }, { "name": "E", "replyWithinSeconds": 9 },
            { "agentId": "nobody" }, seat("Lead"), seat("Ann"), seat("Ann")] }),
        &[
            "participants[0]",
            "participants[0].name",
            "participants[1]",
            "participants[2].person",
            "participants[3].model",
            "participants[4].replyWithinSeconds",
            "participants[5].agentId",
            "participants[6]",
            "participants[8]",
        ],
    )
    .await;
    check(
        json!({ "moderatorId": "nobody", "facilitator": null, "model": "nowhere/x", "participants": [{ "person": "A", "replyWithinSeconds": 9_999_999 }] }),
        &["model", "moderatorId", "participants[0].replyWithinSeconds"],
    )
    .await;
    let (_, agents) = app.get("/api/agents").await;
    let known = agents["data"][0]["id"].as_str().unwrap();
    let near = &known[..known.len() - 1];
    let body = with(draft(), json!({ "participants": [{ "agentId": near }] }));
    let (_, told) = app.post("/api/discussions", &body).await;
    let problem = told["error"]["fields"][0]["problem"].as_str().unwrap();
    assert!(problem.contains(known) && problem.contains("did you mean"), "{problem}");
    assert_eq!(app.get("/api/discussions").await.1["meta"]["total"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_request_is_one() {
    let app = TestApp::start(agreeable()).await;
    let body = with(draft(), json!({ "participants": [{ "person": "Ada" }], "maxRounds": 1 }));
    let (status, first) = app.post_with_key("/api/discussions", "c", &body).await;
    assert_eq!(status, 201, "{first}");
    assert_eq!(app.post_with_key("/api/discussions", "c", &body).await, (201, first.clone()));
    let other = with(body, json!({ "topic": "Another?" }));
    let (status, told) = app.post_with_key("/api/discussions", "c", &other).await;
    assert_eq!((status, &told["error"]["code"]), (422, &json!("idempotency-key-reused")));
    assert_eq!(app.get("/api/discussions").await.1["meta"]["total"], 1);

    let talk = Talk { app: &app, id: first["data"]["id"].as_str().unwrap().to_owned() };
    let twice = async |command: &str, body: Value| {
        for _ in 0..2 {
            let (status, told) = app.post_with_key(&talk.at(command), command, &body).await;
            assert_eq!(status, 200, "{command}: {told}");
        }
    };
    twice("participants", json!({ "name": "Ann", "model": "ollama/ann", "role": "observer" }))
        .await;
    twice("start", json!({})).await;
    talk.until(|view| view["step"]["waitsForPerson"] == true).await;
    twice("interject", json!({ "text": "Once." })).await;
    twice("reply", json!({ "text": "Cocoa." })).await;
    talk.until_status("concluded").await;
    // Also when it is over, they are what they were.
    twice("start", json!({})).await;
    twice("reply", json!({ "text": "Cocoa." })).await;
    assert_eq!(
        talk.lines().await,
        [
            "1 decision done Lead: parsed continue ada",
            "2 interjection done Organizer: Once.",
            "3 turn done Ada: Cocoa.",
            "4 decision done Lead: rule synthesize -",
        ]
    );
}
