//! What clients of other systems of this kind rely on: rows, messages, and what PATCH takes.

use plenary_scripted::{Fault, Gate, Reply, Script, When};
use serde_json::{Value, json};

use super::{CONCLUDES, EVALUATES, Talk, agreeable, ann_and_bob, next, seat, with};
use crate::support::{TestApp, pick};

async fn patch(app: &TestApp, talk: &Talk<'_>, body: Value) -> (u16, Value) {
    app.patch(&talk.path(), &body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_tells_what_a_list_shows() {
    let app = TestApp::start(agreeable()).await;
    let body = json!({ "name": "Drinks", "format": "review", "maxRounds": 1, "start": false });
    let talk = Talk::create(&app, with(ann_and_bob(), body)).await;
    let row = async || {
        let (status, told) = app.get("/api/discussions").await;
        assert_eq!((status, &told["meta"]["total"]), (200, &json!(1)), "{told}");
        let mut row = told["data"][0].clone();
        for time in ["createdAt", "updatedAt"] {
            row.as_object_mut().unwrap().remove(time).unwrap();
        }
        row
    };
    let expected = json!({
        "id": talk.id, "kind": "discussion", "name": "Drinks", "title": "Drinks",
        "topic": "Tea or coffee?", "format": "review", "status": "draft", "active": false,
        "round": 0, "maxRounds": 1, "moderatorId": "lead",
        "moderator": { "id": "lead", "name": "Lead" },
        "participants": [
            { "id": "ann", "name": "Ann", "role": "participant" },
            { "id": "bob", "name": "Bob", "role": "participant" },
        ],
    });
    assert_eq!(row().await, expected);
    talk.command("start", json!({})).await;
    talk.until_status("concluded").await;
    assert_eq!(row().await, with(expected, json!({ "status": "concluded", "round": 1 })));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_is_read_with_its_messages() {
    let script = Script::new(Reply::canned())
        .when(When::says(EVALUATES), next("bob-the-second", "And you, Bob?"))
        .when(When::says(CONCLUDES), Reply::text("So be it."))
        .when(When::model("ann"), Reply::text("Tea."))
        .when(When::model("bob"), Reply::fault(Fault::NoSuchModel));
    let app = TestApp::start(script).await;
    let bob = json!({ "name": "Bob [the second]", "model": "ollama/bob" });
    let body = json!({ "start": false, "participants": [seat("Ann"), bob] });
    let talk = Talk::create(&app, with(ann_and_bob(), body)).await;
    let read = async |path: String| app.get(&path).await.1["data"].clone();
    assert_eq!(read(talk.path()).await["sessions"], json!([]));
    let transcript = read(talk.at("transcript")).await;
    assert_eq!((&transcript["tableId"], &transcript["session"]), (&json!(talk.id), &Value::Null));
    assert_eq!((&transcript["status"], &transcript["conclusion"]), (&json!("draft"), &Value::Null));
    talk.command("start", json!({})).await;
    talk.until_status("concluded").await;

    let view = read(talk.path()).await;
    let session = &view["sessions"][0];
    assert_eq!((&session["id"], &session["tableId"]), (&json!(talk.id), &json!(talk.id)));
    assert_eq!(session["startedAt"], view["startedAt"]);
    assert!(session["endedAt"].is_string(), "{session}");
    let entries = talk.entries().await;
    let question = entries[0]["question"].as_str().unwrap();
    let reasoning = entries[0]["decision"]["reasoning"].as_str().unwrap();
    let contents = [
        format!("[MODERATOR] [OPENING] Decision: continue. Ann is next. {reasoning}"),
        format!("[Ann] Q: {question}\n\nA: Tea."),
        "[MODERATOR] [EVALUATION - Round 1] Decision: continue. Bob [the second] is next. \
         bob-the-second knows."
            .to_owned(),
        "[Bob (the second)] Q: And you, Bob?\n\nA: (misconfigured, no response)".to_owned(),
        "[MODERATOR] [EVALUATION - Round 2] Decision: synthesize.".to_owned(),
        "[MODERATOR] [SYNTHESIS]\nSo be it.".to_owned(),
    ];
    assert_eq!(pick(&session["messages"], "content"), contents);
    let messages = session["messages"].as_array().unwrap();
    for (number, message) in messages.iter().enumerate() {
        assert_eq!(message["id"], format!("{}-{}", talk.id, number + 1));
        assert_eq!(message["role"], "assistant");
        assert!(message["timestamp"].is_string() && message.get("tokenCount").is_some());
    }
    let transcript = read(talk.at("transcript")).await;
    assert_eq!(transcript["session"], *session);
    assert_eq!(
        (&transcript["topic"], &transcript["status"], &transcript["conclusion"]),
        (&json!("Tea or coffee?"), &json!("concluded"), &json!("So be it."))
    );
    // The conclusion is the last message, and on the last page only.
    let page = read(talk.at("transcript?since=1&limit=1")).await;
    assert_eq!(pick(&page["session"]["messages"], "content"), contents[1..2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_that_is_written_is_a_command() {
    let gate = Gate::new();
    let ann = Reply::text("Tea.").gate(0, &gate);
    let script = Script::new(Reply::canned())
        .when(When::says(CONCLUDES), Reply::text("So be it."))
        .when(When::model("ann"), ann);
    let app = TestApp::start(script).await;
    let talk = Talk::create(&app, with(ann_and_bob(), json!({ "start": false }))).await;
    let refused = async |status: &str, state: &str| {
        let (code, told) = patch(&app, &talk, json!({ "status": status })).await;
        assert_eq!((code, &told["error"]["state"]), (409, &json!(state)), "{told}");
    };
    let leads = async |status: &str, to: &str| {
        let (code, told) = patch(&app, &talk, json!({ "status": status })).await;
        assert_eq!((code, &told["data"]["status"]), (200, &json!(to)), "{told}");
    };
    refused("paused", "draft").await;
    refused("concluded", "draft").await;
    leads("active", "active").await;
    assert!(talk.view().await["estimate"].is_object());
    refused("active", "active").await;
    gate.reached(1).await;
    leads("paused", "pausing").await;
    leads("active", "active").await;
    leads("paused", "pausing").await;
    gate.release();
    talk.until_status("paused").await;
    leads("concluded", "active").await;
    talk.until_status("concluded").await;
    for status in ["active", "paused", "concluded"] {
        refused(status, "concluded").await;
    }
    assert_eq!(
        talk.names().await,
        [
            "created",
            "started",
            "began",
            "decided",
            "began",
            "pauseAsked",
            "resumed",
            "pauseAsked",
            "spoke",
            "paused",
            "concludeAsked",
            "began",
            "concluded",
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_people_read_is_put_right_at_any_time() {
    let app = TestApp::start(agreeable()).await;
    let talk = Talk::create(&app, with(ann_and_bob(), json!({ "maxRounds": 1 }))).await;
    let (status, told) = patch(&app, &talk, json!({ "conclusion": "Tea." })).await;
    if status == 409 {
        let message = "There is no conclusion to edit yet; conclude first.";
        assert_eq!(told["error"]["message"], message);
    }
    talk.until_status("concluded").await;
    let changes = json!({ "name": "Hot", "topic": "Cocoa?", "format": "review",
        "conclusion": "Cocoa it is." });
    let (status, told) = patch(&app, &talk, changes).await;
    assert_eq!(status, 200, "{told}");
    let view = talk.view().await;
    for (field, value) in [
        ("name", "Hot"),
        ("topic", "Cocoa?"),
        ("format", "review"),
        ("status", "concluded"),
        ("conclusion", "Cocoa it is."),
        ("conclusionEditedBy", "local"),
    ] {
        assert_eq!((&view[field], &told["data"][field]), (&json!(value), &json!(value)));
    }
    assert_eq!(talk.names().await.last().unwrap(), "conclusionEdited");
    let markdown = talk.export("markdown").await;
    assert!(markdown.contains("*Edited by local, "), "{markdown}");
    assert!(markdown.contains("> Cocoa it is.") && !markdown.contains("So be it."), "{markdown}");
    let (_, session) = app.get(&format!("/api/sessions/{}", talk.id)).await;
    assert_eq!(session["data"]["title"], "Hot");
    let (_, found) = app.get("/api/sessions?q=cocoa").await;
    assert_eq!(found["meta"]["total"], 1);
    let (status, told) = patch(&app, &talk, json!({ "conclusion": " " })).await;
    assert_eq!((status, &told["error"]["fields"][0]["field"]), (422, &json!("conclusion")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_may_bring_the_conclusion() {
    let enough = json!({ "decision": "synthesize", "nextParticipantId": "none", "question": "",
        "synthesis": "Tea, and no more talk.", "reasoning": "Ann is right." });
    let script = agreeable().when(When::says(EVALUATES), Reply::text(&enough.to_string()));
    let app = TestApp::start(script).await;
    let talk = Talk::create(&app, ann_and_bob()).await;
    let view = talk.until_status("concluded").await;
    assert_eq!(view["conclusion"], "Tea, and no more talk.");
    let models: Vec<String> = app.scripted.requests().into_iter().map(|one| one.model).collect();
    assert_eq!(models, ["lead", "ann", "lead"]);
    assert_eq!(view["actual"]["calls"], 3);
    let lines = talk.lines().await;
    assert_eq!(lines.last().unwrap(), "3 decision done Lead: parsed synthesize -");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_and_a_line_are_enough_to_lead() {
    let app = TestApp::start(agreeable()).await;
    let nora = json!({ "name": "Nora", "description": "Keeps it short", "isFacilitator": true,
        "model": "haiku" });
    let (status, told) = app.post("/api/agents", &nora).await;
    assert_eq!(status, 201, "{told}");
    // There is no model of that name, so it is the tier.
    assert_eq!((&told["data"]["tier"], &told["data"]["model"]), (&json!("fast"), &Value::Null));
    let persona = told["data"]["persona"].as_str().unwrap();
    assert!(persona.ends_with("What you are known for: Keeps it short"), "{persona}");
    let body = json!({ "moderatorId": "nora", "facilitator": null, "maxRounds": 1 });
    let talk = Talk::create(&app, with(ann_and_bob(), body)).await;
    talk.until_status("concluded").await;
    assert!(app.scripted.requests()[0].prompt.contains(persona.lines().next().unwrap()));
    // Whoever is not stored may have such a word for a model too.
    let ned = json!({ "name": "Ned", "model": "Opus" });
    let talk = Talk::create(&app, with(ann_and_bob(), json!({ "facilitator": ned }))).await;
    let leader = talk.view().await["moderator"].clone();
    assert!(leader["model"].as_str().unwrap().starts_with("ollama/"), "{leader}");
    // And leads as anybody does of whom nothing more is known.
    talk.until_status("concluded").await;
    let mut asked = app.scripted.requests();
    asked.retain(|one| one.prompt.contains("You are Ned, and you lead"));
    let usual = persona.lines().next().unwrap();
    assert!(!asked.is_empty() && asked.iter().all(|one| one.prompt.contains(usual)), "{asked:?}");
    let (status, told) = app.post("/api/agents", &json!({ "name": "Ida", "model": "gpt" })).await;
    assert_eq!((status, told["error"]["fields"].as_array().unwrap().len()), (422, 2), "{told}");
}
