//! People who take part, and people who lead.

use std::time::Duration;

use plenary_scripted::{Reply, Script, When};
use serde_json::{Value, json};

use super::{CONCLUDES, OPENS, Talk, agreeable, ann_and_bob, next, seat, step, with};
use crate::support::{SAFETY, TestApp};

/// Ada, a person, speaks first.
fn ada_first() -> Script {
    Script::new(Reply::canned())
        .when(When::says(OPENS), next("ada", "What does a person drink?"))
        .when(When::says(CONCLUDES), Reply::text("So be it."))
        .when(When::model("ann"), Reply::text("Tea."))
}

fn with_ada(ada: Value) -> Value {
    with(ann_and_bob(), json!({ "participants": [seat("Ann"), ada] }))
}

fn refusal(told: &(u16, Value)) -> (u16, &str, &str) {
    let error = &told.1["error"];
    (told.0, error["code"].as_str().unwrap(), error["message"].as_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_waited_for_and_speaks_for_themselves() {
    let app = TestApp::start(ada_first()).await;
    let talk = Talk::create(&app, with_ada(json!({ "person": "Ada" }))).await;
    let view = talk.until(|view| view["step"]["waitsForPerson"] == true).await;
    let awaited = &view["step"];
    assert_eq!(
        (&awaited["kind"], &awaited["participantId"], &awaited["question"], &awaited["replyBy"]),
        (&json!("turn"), &json!("ada"), &json!("What does a person drink?"), &Value::Null)
    );
    assert_eq!(
        view["allowed"],
        json!(["pause", "stop", "conclude", "interject", "reply", "export"])
    );
    assert_eq!(view["next"][0], "Ada must reply.");
    let person = &view["participants"][1];
    assert_eq!((&person["person"], &person["model"]), (&json!(true), &Value::Null));
    let (_, session) = app.get(&format!("/api/sessions/{}", talk.id)).await;
    let message = "Round 1 of at most 2: waiting for Ada, a person, to speak.";
    assert_eq!(session["data"]["progress"]["message"], message);

    let reply = |body: Value| talk.try_to("reply", body);
    let told = reply(json!({ "text": "Me!", "participantId": "ann" })).await;
    assert_eq!(refusal(&told), (409, "not-now", "It is Ada's turn."));
    let told = reply(json!({ "text": "Me!", "participantId": "zoe" })).await;
    assert_eq!(refusal(&told), (404, "not-found", "No one here has the id \"zoe\"."));
    let told = reply(json!({ "text": " " })).await;
    assert_eq!((told.0, &told.1["error"]["fields"][0]["field"]), (422, &json!("text")));
    let told = talk.try_to("decide", json!({ "decision": "synthesize" })).await;
    let message = "A reply is needed, not a decision: use `reply`.";
    assert_eq!(refusal(&told), (409, "not-now", message));
    // What is said before a person speaks can be heard by that person.
    talk.command("interject", json!({ "text": "Take your time." })).await;
    talk.command("reply", json!({ "text": "Cocoa.", "participantId": "ada" })).await;
    let view = talk.until_status("concluded").await;
    assert_eq!(
        talk.lines().await,
        [
            "1 decision done Lead: parsed continue ada",
            "2 interjection done Organizer: Take your time.",
            "3 turn done Ada: Cocoa.",
            "4 decision done Lead: parsed continue ann",
            "5 turn done Ann: Tea.",
            "6 decision done Lead: rule synthesize -",
        ]
    );
    let said = &talk.entries().await[2];
    for field in ["model", "usage", "latencyMs"] {
        assert_eq!(said[field], Value::Null, "{said}");
    }
    assert_eq!(view["participants"][1]["calls"], 0);
    let told = reply(json!({ "text": "Late." })).await;
    let message = "The discussion is not waiting for a person now.";
    assert_eq!(refusal(&told), (409, "not-now", message));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_does_not_come_is_missed_and_it_goes_on() {
    let (app, clock) = TestApp::with_clock(ada_first()).await;
    let ada = json!({ "person": "Ada", "replyWithinSeconds": 60 });
    let talk = Talk::create(&app, with_ada(ada)).await;
    let view = talk.until(|view| view["step"]["waitsForPerson"] == true).await;
    let by = view["step"]["replyBy"].clone();
    let minute = Duration::from_secs(60);
    let asleep = async || {
        let asleep = clock.until_asleep(1, minute..=minute);
        tokio::time::timeout(SAFETY, asleep).await.unwrap();
    };
    asleep().await;
    // Half of the time goes by, then all rest; afterwards she has the whole time again.
    clock.advance(minute / 2);
    let paused = talk.command("pause", json!({})).await;
    assert_eq!((&paused["status"], step(&paused)), (&json!("paused"), "turn/1#1"));
    assert_eq!(talk.try_to("reply", json!({ "text": "Now?" })).await.0, 409);
    clock.advance(minute);
    let resumed = talk.command("resume", json!({})).await;
    assert_eq!(resumed["status"], "active");
    assert_ne!(resumed["step"]["replyBy"], by);
    asleep().await;
    clock.advance(minute);
    let view = talk.until_status("concluded").await;
    let lines = talk.lines().await;
    assert_eq!(
        lines[..3],
        [
            "1 decision done Lead: parsed continue ada",
            "2 turn failed Ada: timedOut, -",
            "3 decision done Lead: parsed continue ann",
        ]
    );
    assert_eq!(view["degraded"], "Not heard: Ada (timed out).");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_leads() {
    let app = TestApp::start(agreeable()).await;
    let eve = with(seat("Eve"), json!({ "role": "observer" }));
    let body = with(
        ann_and_bob(),
        json!({ "facilitator": { "person": "Max" }, "participants": [seat("Ann"), eve],
            "maxRounds": 3 }),
    );
    let talk = Talk::create(&app, body).await;
    let view = talk.view().await;
    assert_eq!((step(&view), &view["step"]["waitsForPerson"]), ("opening#1", &json!(true)));
    assert_eq!(
        (&view["moderatorId"], &view["next"][0]),
        (&json!("max"), &json!("Max must decide."))
    );
    let check = async |body: Value, expected: &[&str]| {
        let (status, told) = talk.try_to("decide", body).await;
        assert_eq!(status, 422, "{told}");
        let fields = told["error"]["fields"].as_array().unwrap();
        let fields: Vec<&str> = fields.iter().map(|one| one["field"].as_str().unwrap()).collect();
        assert_eq!(fields, expected, "{told}");
    };
    check(json!({ "decision": "synthesize" }), &["decision"]).await;
    check(json!({ "decision": "continue" }), &["nextParticipantId", "question"]).await;
    check(
        json!({ "decision": "continue", "nextParticipantId": "eve", "question": "You?" }),
        &["nextParticipantId"],
    )
    .await;
    check(json!({ "decision": "perhaps" }), &["decision"]).await;
    let told = talk.try_to("reply", json!({ "text": "Well." })).await;
    assert_eq!((told.0, &told.1["error"]["code"]), (409, &json!("not-now")));

    let chosen = json!({ "decision": "continue", "nextParticipantId": "ann", "question": "You?",
        "reasoning": "She is awake." });
    let view = talk.command("decide", chosen).await;
    assert_eq!((step(&view), &view["step"]["question"]), ("turn/1#1", &json!("You?")));
    let view = talk.until(|view| view["step"]["waitsForPerson"] == true).await;
    assert_eq!(step(&view), "evaluation/1#1");
    let view = talk.command("decide", json!({ "decision": "synthesize" })).await;
    assert_eq!((step(&view), &view["step"]["waitsForPerson"]), ("synthesis#1", &json!(true)));
    let told = talk.try_to("decide", json!({ "decision": "synthesize" })).await;
    assert_eq!(told.0, 409);
    let view = talk.command("reply", json!({ "text": "Tea it is." })).await;
    assert_eq!((&view["status"], &view["conclusion"]), (&json!("concluded"), &json!("Tea it is.")));
    assert_eq!(
        talk.lines().await,
        [
            "1 decision done Max: person continue ann",
            "2 turn done Ann: Tea.",
            "3 decision done Max: person synthesize -",
        ]
    );
    assert_eq!(app.scripted.requests().len(), 1);
    assert_eq!((&view["actual"]["calls"], &view["degraded"]), (&json!(1), &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_speaks_by_the_name_of_a_model() {
    let app = TestApp::start(agreeable()).await;
    // One of the agents that everybody has is called like a role that people have.
    let body = with(
        ann_and_bob(),
        json!({ "facilitator": { "person": "Max" },
        "participants": [seat("Ann"), { "agentId": "operator", "model": "ollama/bob" }] }),
    );
    let talk = Talk::create(&app, body).await;
    let check = async |by: &str, status: u16| {
        let (found, told) = talk.try_to("interject", json!({ "text": "I say.", "by": by })).await;
        assert_eq!(found, status, "{by}: {told}");
    };
    for (by, status) in [("ann", 422), ("Operator", 422), (" ", 422), ("Max", 200), ("Eve", 200)] {
        check(by, status).await;
    }
    // Whoever says no name has one that is free.
    talk.command("interject", json!({ "text": "I say." })).await;
    let names: Vec<Value> =
        talk.entries().await.iter().map(|entry| entry["agentName"].clone()).collect();
    assert_eq!(names, ["Max", "Eve", "Organizer"]);
}
