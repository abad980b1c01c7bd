//! Models that fail, fall silent, or say something else than they were asked for.

use std::time::Duration;

use plenary_domain::limits;
use plenary_scripted::{Fault, Reply, Script, When};
use serde_json::{Value, json};

use super::{CONCLUDES, EVALUATES, OPENS, Talk, agreeable, ann_and_bob, line, next, seat, with};
use crate::support::{SAFETY, TestApp};

/// Ann, Bob, and Eve who only listens. One round.
fn with_eve() -> Value {
    let eve = with(seat("Eve"), json!({ "role": "observer" }));
    let participants = json!([seat("Ann"), seat("Bob"), eve]);
    with(ann_and_bob(), json!({ "participants": participants, "maxRounds": 1 }))
}

fn opened_by(reply: Reply) -> Script {
    Script::new(Reply::canned())
        .when(When::says(OPENS), reply)
        .when(When::says(CONCLUDES), Reply::text("So be it."))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_is_mended_or_falls_to_the_next_in_turn() {
    let check = async |reply: Reply, how: &str, next: &str, note: &str, raw: Option<&str>| {
        let app = TestApp::start(opened_by(reply)).await;
        let talk = Talk::create(&app, with_eve()).await;
        talk.until_status("concluded").await;
        let entries = talk.entries().await;
        let decision = &entries[0]["decision"];
        assert_eq!(
            (&decision["how"], &decision["nextParticipantId"], &decision["note"]),
            (&json!(how), &json!(next), &json!(note)),
            "{decision}"
        );
        assert_eq!(decision["raw"].as_str(), raw, "{decision}");
        assert_eq!(entries[1]["participantId"], next);
        // People who read the record are told as well.
        let markdown = talk.export("markdown").await;
        assert!(markdown.contains(note), "{note} is not in {markdown}");
    };
    let words = "I would rather not.";
    check(Reply::text(words), "fallback", "ann", "The reply contained no decision.", Some(words))
        .await;
    let eve = json!({ "decision": "continue", "nextParticipantId": "eve", "question": "?!a" });
    let eve = eve.to_string();
    check(
        Reply::text(&eve),
        "fallback",
        "ann",
        "It names “Eve”, who does not speak here.",
        Some(&eve),
    )
    .await;
    let bob = "```json\n{\"decision\": \"continue\", \"nextParticipantId\": \"Bob\", \
               \"question\": \"Why?\", \"reasoning\": \"So.\",}\n```";
    check(
        Reply::text(bob),
        "repaired",
        "bob",
        "removed a code fence; left out a trailing comma; took “Bob” for bob",
        Some(bob),
    )
    .await;
    let ends = json!({ "decision": "synthesize", "nextParticipantId": "none", "question": "",
        "reasoning": "" });
    let ends = ends.to_string();
    check(
        Reply::text(&ends),
        "fallback",
        "ann",
        "It wants to synthesize, but nobody has spoken yet.",
        Some(&ends),
    )
    .await;
    check(Reply::fault(Fault::NoSuchModel), "fallback", "ann", "The facilitator did not answer: ollama has no model `lead`. Get it with `ollama pull lead`.", None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_does_not_answer_is_missed_and_it_goes_on() {
    let script = Script::new(Reply::canned())
        .when(When::says(OPENS), next("bob", "Well?"))
        .when(When::says(CONCLUDES), Reply::text("So be it."))
        .when(When::model("ann"), Reply::text("Tea."))
        .when(
            When::model("bob"),
            Reply::text("one two three").with_fault(Fault::HugeLineAfter { tokens: 2 }),
        );
    let app = TestApp::start(script).await;
    let talk = Talk::create(&app, ann_and_bob()).await;
    let view = talk.until_status("concluded").await;
    assert_eq!(
        talk.lines().await,
        [
            "1 decision done Lead: parsed continue bob",
            "2 turn failed Bob: providerError, one two ",
            "3 decision done Lead: parsed continue ann",
            "4 turn done Ann: Tea.",
            "5 decision done Lead: rule synthesize -",
        ]
    );
    assert_eq!(view["degraded"], "Not heard: Bob (provider error).");
    let requests = app.scripted.requests();
    assert!(requests[2].prompt.contains("(no answer: "), "{}", requests[2].prompt);
    assert!(requests[4].prompt.contains("who was not heard: Bob"), "{}", requests[4].prompt);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_takes_too_long_is_missed_and_it_goes_on() {
    let script = Script::new(Reply::canned())
        .when(When::says(OPENS), next("bob", "Well?"))
        .when(When::says(CONCLUDES), Reply::text("So be it."))
        .when(When::model("bob"), Reply::fault(Fault::Silent))
        .when(When::model("ann"), Reply::text("Tea."));
    let (app, clock) = TestApp::with_clock(script).await;
    let talk = Talk::create(&app, ann_and_bob()).await;
    app.scripted.wait_for_requests(2).await;
    let time = Duration::from_millis(limits::TURN_MS);
    let asleep = clock.until_asleep(1, time..=time);
    tokio::time::timeout(SAFETY, asleep).await.unwrap();
    clock.advance(time);
    talk.until_status("concluded").await;
    let entries = talk.entries().await;
    assert_eq!(line(&entries[1]), "2 turn failed Bob: timedOut, -");
    assert_eq!(line(&entries[3]), "4 turn done Ann: Tea.");
    let gone = app.scripted.wait_until(|all| all.iter().any(|request| request.dropped)).await;
    assert!(gone.iter().all(|request| request.dropped == (request.model == "bob")));
}

#[tokio::test(flavor = "multi_thread")]
async fn when_nobody_can_answer_it_fails_and_can_go_on_later() {
    let once = |text: &str| Reply::text(text).with_fault(Fault::NoSuchModel).first(1);
    let script = Script::new(Reply::canned())
        .when(When::says(OPENS), next("ann", "Well?"))
        .when(When::says(EVALUATES), next("bob", "And you?"))
        .when(When::says(CONCLUDES), Reply::text("So be it."))
        .when(When::model("ann"), once("Tea."))
        .when(When::model("bob"), once("Coffee."));
    let app = TestApp::start(script).await;
    let talk = Talk::create(&app, with(ann_and_bob(), json!({ "maxRounds": 3 }))).await;
    let view = talk.until_status("failed").await;
    let problem = view["problem"].as_str().unwrap();
    assert!(problem.starts_with("No participant can answer. "), "{problem}");
    assert!(problem.contains("`ann`") && problem.contains("`bob`"), "{problem}");
    assert_eq!((&view["step"]["kind"], &view["round"]), (&json!("evaluation"), &json!(2)));
    let (_, session) = app.get(&format!("/api/sessions/{}", talk.id)).await;
    assert_eq!(
        (&session["data"]["over"], &session["data"]["active"]),
        (&json!(true), &json!(false))
    );
    talk.command("resume", json!({})).await;
    let view = talk.until_status("concluded").await;
    assert_eq!((&view["problem"], &view["conclusion"]), (&Value::Null, &json!("So be it.")));
    assert_eq!(
        talk.lines().await[4..],
        [
            "5 decision done Lead: parsed continue bob",
            "6 turn done Bob: Coffee.",
            "7 decision done Lead: rule synthesize -",
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_that_fail_for_a_time_end_nothing() {
    let script = Script::new(Reply::canned())
        .when(When::says(EVALUATES), next("bob", "And you?"))
        .when(When::says(CONCLUDES), Reply::text("Nobody was heard."))
        .when(When::model("ann"), Reply::fault(Fault::Empty))
        .when(When::model("bob"), Reply::fault(Fault::NoSuchModel));
    let app = TestApp::start(script).await;
    let talk = Talk::create(&app, with(ann_and_bob(), json!({ "maxRounds": 3 }))).await;
    let view = talk.until_status("concluded").await;
    assert_eq!(view["conclusion"], "Nobody was heard.");
    assert_eq!(view["degraded"], "Not heard: Ann (empty answer); Bob (misconfigured).");
    let lines = talk.lines().await;
    let turns: Vec<&String> = lines.iter().filter(|line| line.contains(" turn ")).collect();
    assert_eq!(
        turns,
        [
            "2 turn failed Ann: empty, -",
            "4 turn failed Bob: misconfigured, -",
            "6 turn failed Bob: misconfigured, -",
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn another_model_writes_when_the_facilitators_cannot() {
    let gone = |requests| Reply::text("So be it.").with_fault(Fault::NoSuchModel).first(requests);
    let script = |reply| Script::new(Reply::canned()).when(When::says(CONCLUDES), reply);
    let app = TestApp::start(script(gone(1))).await;
    let talk = Talk::create(&app, ann_and_bob()).await;
    let view = talk.until_status("concluded").await;
    let note = "Written by the model of Ann: the facilitator's failed.";
    let degraded = view["degraded"].as_str().unwrap();
    assert!(degraded.ends_with(note), "{degraded}");
    let entries = talk.entries().await;
    let last = entries.last().unwrap();
    assert_eq!(line(last), "6 synthesis failed Lead: misconfigured, -");
    let models: Vec<String> = app.scripted.requests().into_iter().map(|one| one.model).collect();
    assert_eq!(models, ["lead", "ann", "lead", "ann", "lead", "ann"]);

    // When none of them can, it fails; and goes on with the facilitator's.
    let app = TestApp::start(script(gone(3))).await;
    let talk = Talk::create(&app, ann_and_bob()).await;
    let view = talk.until_status("failed").await;
    let problem = view["problem"].as_str().unwrap();
    assert!(problem.starts_with("No model could write the conclusion. "), "{problem}");
    assert_eq!(view["step"]["callId"], "synthesis#4");
    talk.command("resume", json!({})).await;
    let view = talk.until_status("concluded").await;
    assert_eq!(view["conclusion"], "So be it.");
    let models: Vec<String> = app.scripted.requests().into_iter().map(|one| one.model).collect();
    assert_eq!(models[4..], ["lead", "ann", "bob", "lead"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_is_not_there_ends_nothing() {
    let app = TestApp::start(agreeable()).await;
    let bob = json!({ "name": "Bob", "model": "nowhere/bob" });
    let body = with(ann_and_bob(), json!({ "participants": [seat("Ann"), bob] }));
    let (status, told) = app.post("/api/discussions", &body).await;
    assert_eq!(status, 422, "{told}");
    assert_eq!(told["error"]["fields"][0]["field"], "participants[1].model");
}
