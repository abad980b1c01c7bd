//! Pause, resume, stop, conclude and interject, in every state.

use plenary_scripted::{Fault, Gate, Reply, Script, When};
use serde_json::json;

use super::{CONCLUDES, EVALUATES, OPENS, Talk, ann_and_bob, next, step, with};
use crate::support::{TestApp, Texts};

const COMMANDS: [&str; 6] = ["start", "pause", "resume", "stop", "conclude", "interject"];

/// Brings as many discussions as there are commands into a state, and gives each of
/// them one. A line says what came of it: the status and the step that is due after,
/// or why it was refused.
async fn check(state: &str, expected: [&str; 6]) {
    let gate = Gate::new();
    let app = TestApp::start(script(state, &gate)).await;
    let mut found = vec![];
    let mut talks = vec![];
    for _ in COMMANDS {
        talks.push(
            Talk::create(&app, with(ann_and_bob(), json!({ "start": state != "draft" }))).await,
        );
    }
    bring(state, &gate, &talks).await;
    for (talk, command) in talks.iter().zip(COMMANDS) {
        let before = talk.view().await;
        let body = if command == "interject" { json!({ "text": "Wait." }) } else { json!({}) };
        let (status, told) = talk.try_to(command, body).await;
        let view = &told["data"];
        let line = match status {
            200 => format!("{} {}", view["status"].as_str().unwrap(), step(view)),
            _ => format!("{status} {}", told["error"]["code"].as_str().unwrap()),
        };
        // What is refused is not among what is allowed, and the other way round.
        let allowed = before["allowed"].as_array().unwrap().contains(&json!(command));
        assert_eq!(allowed, status == 200, "{state} {command}: {told}");
        if status != 200 {
            assert_eq!(told["error"]["state"], before["status"], "{told}");
            assert_eq!(told["error"]["allowed"], before["allowed"], "{told}");
            assert_eq!(talk.view().await["status"], before["status"]);
        }
        found.push(format!("{command}: {line}"));
    }
    gate.release();
    assert_eq!(found, expected, "{state}");
}

fn script(state: &str, gate: &Gate) -> Script {
    let held = |when: When| Script::new(Reply::canned()).when(when, Reply::canned().gate(0, gate));
    let rest = |script: Script| script.when(When::says(CONCLUDES), Reply::text("So be it."));
    match state {
        "opening" => rest(held(When::says(OPENS))),
        "turn" | "pausing" | "paused" | "stopped" => rest(held(When::model("ann"))),
        "evaluation" => rest(held(When::says(EVALUATES))),
        "synthesis" => held(When::says(CONCLUDES)),
        "failed" => rest(nobody_there()),
        _ => rest(Script::new(Reply::canned())),
    }
}

fn nobody_there() -> Script {
    let gone = Reply::fault(Fault::NoSuchModel);
    let script = Script::new(Reply::canned());
    script
        .when(When::says(EVALUATES), next("bob", "And you?"))
        .when(When::model("ann"), gone.clone())
        .when(When::model("bob"), gone)
}

async fn bring(state: &str, gate: &Gate, talks: &[Talk<'_>]) {
    match state {
        "draft" => {}
        "failed" | "concluded" => {
            for talk in talks {
                talk.until_status(state).await;
            }
        }
        "opening" | "turn" | "evaluation" | "synthesis" => gate.reached(talks.len()).await,
        _ => {
            gate.reached(talks.len()).await;
            for talk in talks {
                talk.command(if state == "stopped" { "stop" } else { "pause" }, json!({})).await;
            }
        }
    }
    if state == "paused" {
        gate.release();
        for talk in talks {
            talk.until_status("paused").await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_state_takes_what_it_should() {
    check(
        "draft",
        [
            "start: active opening#1",
            "pause: 409 not-now",
            "resume: 409 not-now",
            "stop: 409 not-now",
            "conclude: 409 not-now",
            "interject: 409 not-now",
        ],
    )
    .await;
    check(
        "opening",
        [
            "start: 409 not-now",
            "pause: pausing opening#1",
            "resume: 409 not-now",
            "stop: stopped opening#1",
            "conclude: active synthesis#1",
            "interject: active opening#1",
        ],
    )
    .await;
    check(
        "turn",
        [
            "start: 409 not-now",
            "pause: pausing turn/1#1",
            "resume: 409 not-now",
            "stop: stopped turn/1#1",
            "conclude: active synthesis#1",
            "interject: active turn/1#1",
        ],
    )
    .await;
    check(
        "evaluation",
        [
            "start: 409 not-now",
            "pause: pausing evaluation/1#1",
            "resume: 409 not-now",
            "stop: stopped evaluation/1#1",
            "conclude: active synthesis#1",
            "interject: active evaluation/1#1",
        ],
    )
    .await;
    check(
        "synthesis",
        [
            "start: 409 not-now",
            "pause: pausing synthesis#1",
            "resume: 409 not-now",
            "stop: stopped synthesis#1",
            "conclude: 409 not-now",
            "interject: 409 not-now",
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_state_of_rest_takes_what_it_should() {
    check(
        "pausing",
        [
            "start: 409 not-now",
            "pause: 409 not-now",
            "resume: active turn/1#1",
            "stop: stopped turn/1#1",
            "conclude: active synthesis#1",
            "interject: pausing turn/1#1",
        ],
    )
    .await;
    check(
        "paused",
        [
            "start: 409 not-now",
            "pause: 409 not-now",
            "resume: active evaluation/1#1",
            "stop: stopped evaluation/1#1",
            "conclude: active synthesis#1",
            "interject: paused evaluation/1#1",
        ],
    )
    .await;
    check(
        "stopped",
        [
            "start: 409 not-now",
            "pause: 409 not-now",
            "resume: active turn/1#2",
            "stop: 409 not-now",
            "conclude: active synthesis#1",
            "interject: stopped turn/1#1",
        ],
    )
    .await;
    check(
        "failed",
        [
            "start: 409 not-now",
            "pause: 409 not-now",
            "resume: active synthesis#1",
            "stop: 409 not-now",
            "conclude: active synthesis#1",
            "interject: failed synthesis#1",
        ],
    )
    .await;
    check("concluded", COMMANDS.map(refused).each_ref().map(String::as_str)).await;
}

fn refused(command: &str) -> String {
    format!("{command}: 409 not-now")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_drops_the_connection_and_keeps_what_was_said() {
    let gate = Gate::new();
    let script = bob_first(&gate);
    let app = TestApp::start(script).await;
    let talk = Talk::create(&app, ann_and_bob()).await;
    let mut events = talk.events().await;
    Texts::default().until_call(&mut events, "turn/1#1", "one two ").await;
    let running = talk.view().await;
    assert_eq!((step(&running), &running["step"]["text"]), ("turn/1#1", &json!("one two ")));
    let stopped = talk.command("stop", json!({})).await;
    assert_eq!((&stopped["status"], &stopped["entries"]), (&json!("stopped"), &json!(2)));
    // The answer to the stop has the words already, and so has the record.
    assert_eq!(
        talk.lines().await,
        ["1 decision done Lead: parsed continue bob", "2 turn stopped Bob: one two "]
    );
    let cut = events.until("cutOff").await;
    assert_eq!(cut.data["event"]["partial"], "one two ");
    let dropped = app.scripted.wait_until(|all| all.iter().any(|request| request.dropped)).await;
    let dropped: Vec<&str> =
        dropped.iter().filter(|one| one.dropped).map(|one| one.model.as_str()).collect();
    assert_eq!(dropped, ["bob"]);
    app.until_metric("plenary_calls_running", |calls| calls == 0).await;

    let resumed = talk.command("resume", json!({})).await;
    for field in ["kind", "participantId", "name", "question"] {
        assert_eq!(resumed["step"][field], running["step"][field], "{resumed}");
    }
    assert_eq!(step(&resumed), "turn/1#2");
    gate.release();
    talk.until_status("concluded").await;
    let requests = app.scripted.requests();
    let bobs: Vec<&str> = requests
        .iter()
        .filter(|request| request.model == "bob")
        .map(|request| request.prompt.as_str())
        .collect();
    // The same question, as if it were asked for the first time.
    assert_eq!((bobs.len(), bobs[0]), (2, bobs[1]));
    assert_eq!(
        talk.lines().await,
        [
            "1 decision done Lead: parsed continue bob",
            "2 turn stopped Bob: one two ",
            "3 turn done Bob: one two three",
            "4 decision done Lead: parsed continue ann",
            "5 turn done Ann: Tea.",
            "6 decision done Lead: rule synthesize -",
        ]
    );
}

fn bob_first(gate: &Gate) -> Script {
    Script::new(Reply::canned())
        .when(When::says(OPENS), next("bob", "How many?"))
        .when(When::model("bob"), Reply::text("one two three").gate(2, gate))
        .when(When::says(CONCLUDES), Reply::text("So be it."))
        .when(When::model("ann"), Reply::text("Tea."))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_rests_before_the_step_that_was_due_and_goes_on_with_it() {
    let gate = Gate::new();
    let answer = Gate::new();
    let script = Script::new(Reply::canned())
        .when(When::says(OPENS), next("bob", "How many?").gate(0, &gate))
        .when(When::says(CONCLUDES), Reply::text("So be it."))
        .when(When::model("bob"), Reply::text("Three.").gate(0, &answer));
    let app = TestApp::start(script).await;
    let talk = Talk::create(&app, ann_and_bob()).await;
    gate.reached(1).await;
    let pausing = talk.command("pause", json!({})).await;
    assert_eq!((&pausing["status"], step(&pausing)), (&json!("pausing"), "opening#1"));
    gate.release();
    let paused = talk.until_status("paused").await;
    let due = paused["step"].clone();
    assert_eq!(
        (&due["callId"], &due["participantId"], &due["question"]),
        (&json!("turn/1#1"), &json!("bob"), &json!("How many?"))
    );
    assert_eq!(app.scripted.requests().len(), 1);
    app.until_metric("plenary_calls_running", |calls| calls == 0).await;
    // Nothing comes of being looked at, and what is said meanwhile is heard.
    talk.command("interject", json!({ "text": "In cups, please.", "by": "Eve" })).await;
    let resumed = talk.command("resume", json!({})).await;
    assert_eq!(resumed["step"], due);
    answer.release();
    talk.until_status("concluded").await;
    let asked = &app.scripted.requests()[1];
    assert_eq!(asked.model, "bob");
    for part in ["How many?", "In cups, please.", "Eve"] {
        assert!(asked.prompt.contains(part), "{}", asked.prompt);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_during_a_turn_is_heard_after_it() {
    let gate = Gate::new();
    let script = bob_first(&gate);
    let app = TestApp::start(script).await;
    let talk = Talk::create(&app, ann_and_bob()).await;
    gate.reached(1).await;
    let told = talk.command("interject", json!({ "text": "And cocoa?" })).await;
    assert_eq!(told["status"], "active");
    gate.release();
    talk.until_status("concluded").await;
    assert_eq!(
        talk.lines().await,
        [
            "1 decision done Lead: parsed continue bob",
            "2 turn done Bob: one two three",
            "3 interjection done Organizer: And cocoa?",
            "4 decision done Lead: parsed continue ann",
            "5 turn done Ann: Tea.",
            "6 decision done Lead: rule synthesize -",
        ]
    );
    let heard: Vec<bool> =
        app.scripted.requests().iter().map(|one| one.prompt.contains("And cocoa?")).collect();
    assert_eq!(heard, [false, false, true, true, true]);
}

#[tokio::test(flavor = "multi_thread")]
async fn concluding_breaks_off_what_runs_and_says_that_it_was_asked_for() {
    let gate = Gate::new();
    let app = TestApp::start(bob_first(&gate)).await;
    let talk = Talk::create(&app, ann_and_bob()).await;
    let mut events = talk.events().await;
    Texts::default().until_call(&mut events, "turn/1#1", "one two ").await;
    talk.command("conclude", json!({})).await;
    let view = talk.until_status("concluded").await;
    assert_eq!(view["conclusion"], "So be it.");
    assert_eq!(view["degraded"], "Not heard: Ann (was not asked); Bob (was stopped).");
    assert_eq!(
        talk.lines().await,
        ["1 decision done Lead: parsed continue bob", "2 turn stopped Bob: one two "]
    );
    let asked = app.scripted.requests().pop().unwrap();
    assert!(asked.prompt.contains("You are asked to conclude now"), "{}", asked.prompt);
    // Half a sentence is nobody's word.
    assert!(!asked.prompt.contains("one two"), "{}", asked.prompt);
    gate.release();
}

#[tokio::test(flavor = "multi_thread")]
async fn more_rounds_are_played_when_they_are_given_in_time() {
    let gate = Gate::new();
    let script = Script::new(Reply::canned())
        .when(When::model("ann"), Reply::text("Tea.").gate(0, &gate))
        .when(When::says(CONCLUDES), Reply::text("So be it."));
    let app = TestApp::start(script).await;
    let talk = Talk::create(&app, with(ann_and_bob(), json!({ "maxRounds": 1 }))).await;
    gate.reached(1).await;
    let check = async |rounds: u32, status: u16| {
        let (found, told) = app.patch(&talk.path(), &json!({ "maxRounds": rounds })).await;
        assert_eq!(found, status, "{told}");
        told
    };
    check(0, 422).await;
    check(51, 422).await;
    assert_eq!(check(2, 200).await["data"]["maxRounds"], 2);
    gate.release();
    let view = talk.until_status("concluded").await;
    assert_eq!(view["round"], 2);
    assert_eq!(check(3, 409).await["error"]["state"], "concluded");
}
