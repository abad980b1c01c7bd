//! What wakes a wait: every one, once, whenever it began.

use std::collections::BTreeMap;

use plenary_scripted::{Gate, Reply, When};
use serde_json::{Value, json};

use super::{Run, council, file, move_to, of, whiteboard};
use crate::discussions::{agreeable, ann_and_bob};
use crate::support::{TestApp, canned};

const PHASE: &str =
    "{ wait: { any: [ { signal: board-transitioned, board: adr, phase: read } ] } }";

fn phase() -> Value {
    json!([{ "signal": "board-transitioned", "board": "adr", "phase": "read" }])
}

/// Two waits that begin at once, and a third that begins when somebody says so.
fn three() -> String {
    let gate = "  go: { approve: { who: [ann] } }\n";
    file(
        "three",
        &format!(
            "  a: {PHASE}\n  b: {PHASE}\n{gate}  c:\n    wait: {{ any: [ {{ signal: board-transitioned, board: adr, phase: read }} ] }}\n    needs: [go]"
        ),
    )
}

async fn send(app: &TestApp, name: &str, fields: Value) -> Value {
    let (status, told) = app.post("/api/signals", &json!({ "name": name, "fields": fields })).await;
    assert_eq!(status, 200, "{told}");
    told["data"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn waits_before_and_after_a_transition_all_resume_each_once() {
    let app = TestApp::start(canned()).await;
    let fay = whiteboard(&app, "adr").await;
    let first = Run::begin(&app, &three(), json!({})).await;
    let second = Run::begin(&app, &file("one", &format!("  a: {PHASE}")), json!({})).await;
    for (run, place) in [(&first, "a"), (&first, "b"), (&second, "a")] {
        let view = run.until_running(place).await;
        assert_eq!(of(&view, place)["reason"], "waiting for a signal");
    }
    move_to(&app, &fay, "adr", "read").await;
    second.ended().await;
    first
        .until(|view| of(view, "a")["status"] == "done" && of(view, "b")["status"] == "done")
        .await;
    // One begins after it, when the board has even gone on; another run too.
    move_to(&app, &fay, "adr", "validate").await;
    first.approve("go", "ann").await;
    let third = Run::begin(&app, &file("one", &format!("  a: {PHASE}")), json!({})).await;
    for run in [&first, &second, &third] {
        let view = run.ended().await;
        assert_eq!(view["status"], "done", "{view:#}");
    }
    for (run, place) in [(&first, "a"), (&first, "b"), (&first, "c"), (&second, "a")] {
        assert_eq!(run.count("stepDone", place).await, 1, "{place}");
    }
    assert_eq!(first.step("a").await["output"], json!({ "outcome": "came", "signals": phase() }));
    assert_eq!(first.step("c").await["output"]["signals"][0]["phase"], "validate");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transition_while_nobody_drives_the_run_is_not_lost() {
    let app = TestApp::start(canned()).await;
    let fay = whiteboard(&app, "adr").await;
    let before = Run::begin(&app, &three(), json!({})).await;
    before.until_running("b").await;
    let id = before.id;
    let app = app.restarted().await;
    // The waits of the first server are gone, and those of this one have not begun.
    move_to(&app, &fay, "adr", "read").await;
    let after = Run::begin(&app, &file("one", &format!("  a: {PHASE}")), json!({})).await;
    assert_eq!(after.ended().await["status"], "done");
    let before = Run { app: &app, id };
    assert_eq!(before.step("a").await["status"], "running");
    app.engine.resume_all().await.unwrap();
    before
        .until(|view| of(view, "a")["status"] == "done" && of(view, "b")["status"] == "done")
        .await;
    before.approve("go", "ann").await;
    assert_eq!(before.ended().await["status"], "done");
    for place in ["a", "b", "c"] {
        assert_eq!(before.count("stepDone", place).await, 1, "{place}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_may_be_waited_for_before_there_is_one() {
    let app = TestApp::start(canned()).await;
    let run = Run::begin(&app, &file("early", &format!("  a: {PHASE}")), json!({})).await;
    run.until_running("a").await;
    let fay = whiteboard(&app, "adr").await;
    move_to(&app, &fay, "adr", "read").await;
    let view = run.ended().await;
    assert_eq!(of(&view, "a")["output"]["signals"], phase(), "{view:#}");
}

/// Somebody posts, and nobody who waits for the board can tell.
#[tokio::test(flavor = "multi_thread")]
async fn a_blind_board_wakes_nobody_by_what_it_hides() {
    let app = TestApp::start(canned()).await;
    let fay = whiteboard(&app, "adr").await;
    let steps = "  blind: { wait: { any: [ { signal: board-transitioned, board: adr, phase: blind } ] } }\n";
    let source = file("spy", &format!("{steps}  read: {PHASE}"));
    let run = Run::begin(&app, &source, json!({})).await;
    run.until(|view| of(view, "blind")["status"] == "done").await;
    let body = json!({ "agentName": "bob", "role": "specialist" });
    let (_, bob) = app.post("/api/whiteboards/adr/agents", &body).await;
    let bob = bob["data"]["agentToken"].as_str().unwrap();
    let post = json!({ "type": "proposal", "title": "zebra", "body": "zebra" });
    assert_eq!(app.post_as(bob, "/api/whiteboards/adr/posts", &post).await.0, 200);
    assert_eq!(run.step("read").await["status"], "running");
    move_to(&app, &fay, "adr", "read").await;
    let view = run.ended().await;
    assert_eq!(
        of(&view, "blind")["output"]["signals"],
        json!([{ "signal": "board-transitioned", "board": "adr", "phase": "blind" }])
    );
    assert_eq!(of(&view, "read")["output"]["signals"], phase());
    let events = app.store.events(run.id.parse().unwrap(), 0, 1000).await.unwrap();
    assert!(events.iter().all(|event| !event.payload.contains("zebra")));
    // No field of a post can be asked for.
    let asks = file(
        "asks",
        "  a: { wait: { any: [ { signal: board-transitioned, board: adr, post: zebra } ] } }",
    );
    assert_eq!(app.post("/api/runs", &json!({ "source": asks })).await.0, 422);
}

const BUILT: &str = "{ wait: { any: [ { signal: built, id: '24' } ] } }";

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_that_is_sent_wakes_all_that_it_matches_as_written() {
    let app = TestApp::start(canned()).await;
    let two = file(
        "two",
        &format!(
            "  a: {BUILT}\n  b: {BUILT}\n  go: {{ approve: {{ who: [ann] }} }}\n  c:\n    wait: {{ any: [ {{ signal: built, id: 24 }} ] }}\n    needs: [go]"
        ),
    );
    let first = Run::begin(&app, &two, json!({})).await;
    let other =
        file("other", "  x: { wait: { all: [ { signal: built, id: 25, branch: main } ] } }");
    let other = Run::begin(&app, &other, json!({})).await;
    first.until_running("b").await;
    other.until_running("x").await;
    let sent = send(&app, "built", json!({ "id": 24 })).await;
    assert_eq!((&sent["name"], &sent["number"]), (&json!("built"), &json!(1)));
    let waits = |of: &Value| {
        let one =
            |wait: &Value| (wait["run"].clone(), wait["step"].clone(), wait["differs"].clone());
        of.as_array().unwrap().iter().map(one).collect::<Vec<_>>()
    };
    let own = |step: &str| (json!(first.id), json!(step), Value::Null);
    assert_eq!(waits(&sent["matched"]), [own("a"), own("b")], "{sent:#}");
    let nearly = (json!(other.id), json!("x"), json!(["branch", "id"]));
    assert_eq!(waits(&sent["nearly"]), [nearly], "{sent:#}");
    first
        .until(|view| of(view, "a")["status"] == "done" && of(view, "b")["status"] == "done")
        .await;
    // A wait that begins later finds what has come since its run began.
    first.approve("go", "ann").await;
    let view = first.ended().await;
    assert_eq!(view["status"], "done", "{view:#}");
    for place in ["a", "b", "c"] {
        let signal = of(&view, place)["output"]["signals"][0].clone();
        assert_eq!((&signal["id"], &signal["_number"]), (&json!(24), &json!(1)), "{place}");
        assert_eq!(first.count("stepDone", place).await, 1, "{place}");
    }
    // One that begins later finds nothing of it.
    let later = Run::begin(&app, &file("one", &format!("  a: {BUILT}")), json!({})).await;
    later.until_running("a").await;
    let sent = send(&app, "built", json!({ "id": "24" })).await;
    assert_eq!(waits(&sent["matched"]), [(json!(later.id), json!("a"), Value::Null)]);
    let view = later.ended().await;
    assert_eq!(of(&view, "a")["output"]["signals"][0]["_number"], 2);
    assert_eq!(other.view().await["status"], "running");
}

/// A wait of several signals is one wait.
#[tokio::test(flavor = "multi_thread")]
async fn a_wait_is_told_of_once_however_many_signals_it_names() {
    let app = TestApp::start(canned()).await;
    let any = file(
        "any",
        "  a: { wait: { any: [ { signal: built, id: 1 }, { signal: built, id: 2 }, { signal: built } ] } }",
    );
    let run = Run::begin(&app, &any, json!({})).await;
    run.until_running("a").await;
    let sent = send(&app, "built", json!({ "id": 1 })).await;
    assert_eq!(sent["matched"], json!([{ "run": run.id, "step": "a" }]), "{sent:#}");
    assert_eq!(sent["nearly"], json!([]));
    run.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_while_nobody_drives_the_run_is_not_lost() {
    let app = TestApp::start(canned()).await;
    let run = Run::begin(&app, &file("one", &format!("  a: {BUILT}")), json!({})).await;
    run.until_running("a").await;
    let id = run.id;
    let app = app.restarted().await;
    let run = Run { app: &app, id };
    let sent = send(&app, "built", json!({ "id": 24 })).await;
    assert_eq!(sent["matched"].as_array().map(Vec::len), Some(1), "{sent:#}");
    app.engine.resume_all().await.unwrap();
    assert_eq!(run.ended().await["status"], "done");
    assert_eq!(run.count("stepDone", "a").await, 1);
}

async fn post(app: &TestApp, tokens: &mut BTreeMap<String, String>, sender: &str, body: &str) {
    let new = json!({ "sender": sender, "body": body });
    let (status, told) = match tokens.get(sender) {
        Some(token) => app.post_as(token, "/api/councils/guild/posts", &new).await,
        None => app.post("/api/councils/guild/posts", &new).await,
    };
    assert_eq!(status, 200, "{told}");
    if let Some(token) = told["data"]["agentToken"].as_str() {
        tokens.insert(sender.to_owned(), token.to_owned());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_to_a_council_wakes_who_waits_for_its_sender() {
    let app = TestApp::start(canned()).await;
    council(&app, "guild").await;
    let mut tokens = BTreeMap::new();
    post(&app, &mut tokens, "ann", "Before it began.").await;
    let source = file(
        "listens",
        "  a: { wait: { any: [ { signal: council-posted, council: guild, sender: ann } ] } }",
    );
    let run = Run::begin(&app, &source, json!({})).await;
    run.until_running("a").await;
    post(&app, &mut tokens, "bob", "Not me.").await;
    post(&app, &mut tokens, "ann", "Here I am.").await;
    let view = run.ended().await;
    let signal = of(&view, "a")["output"]["signals"][0].clone();
    assert_eq!((&signal["body"], &signal["sequence"]), (&json!("Here I am."), &json!(3)));
}

/// What was taken in one round is not taken again in the next.
#[tokio::test(flavor = "multi_thread")]
async fn a_wait_in_a_repeat_takes_each_signal_once() {
    let app = TestApp::start(canned()).await;
    council(&app, "guild").await;
    let wait = |signal: &str| {
        format!(
            "\n    repeat: {{ until: '{{{{ round.number == 3 }}}}', max: 3 }}\n    steps:\n      {}: {{ wait: {{ any: [ {{ {signal} }} ] }} }}",
            &signal[8..9]
        )
    };
    let source = file(
        "rounds",
        &format!(
            "  posts:{}\n  sent:{}",
            wait("signal: council-posted, council: guild"),
            wait("signal: built")
        ),
    );
    let run = Run::begin(&app, &source, json!({})).await;
    run.until_running("posts/1/c").await;
    let mut tokens = BTreeMap::new();
    for number in 1..=3 {
        post(&app, &mut tokens, "ann", &format!("Word {number}.")).await;
        send(&app, "built", json!({ "id": number })).await;
    }
    let view = run.ended().await;
    assert_eq!(view["status"], "done", "{view:#}");
    for number in 1..=3 {
        let heard = of(&view, &format!("posts/{number}/c"))["output"]["signals"][0].clone();
        assert_eq!(heard["sequence"], number, "{view:#}");
        let came = of(&view, &format!("sent/{number}/b"))["output"]["signals"][0].clone();
        assert_eq!(came["id"], number, "{view:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_for_all_resumes_when_every_room_has_ended() {
    let gate = Gate::new();
    let script = agreeable().when(When::says("Which lamp?"), Reply::canned().gate(1, &gate));
    let app = TestApp::start(script).await;
    let board = app.convene(&json!({ "prompt": "Which lamp?", "models": ["ollama/lead"] })).await;
    let (status, talk) = app.post("/api/discussions", &ann_and_bob()).await;
    assert_eq!(status, 201, "{talk}");
    let other =
        Run::begin(&app, &file("other", "  a: { wait: { any: [ { signal: go } ] } }"), json!({}))
            .await;
    let source = "name: all\ninputs: { board: string, talk: string, run: string }\nsteps:\n  a:\n    wait:\n      all:\n        - { signal: boardroom-closed, boardroom: '{{ inputs.board }}' }\n        - { signal: discussion-concluded, discussion: '{{ inputs.talk }}' }\n        - { signal: workflow-ended, run: '{{ inputs.run }}', status: done }\n";
    let inputs = json!({ "board": board.id, "talk": talk["data"]["id"], "run": other.id });
    let run = Run::begin(&app, source, inputs).await;
    run.until_running("a").await;
    gate.reached(1).await;
    assert_eq!(run.step("a").await["status"], "running");
    gate.release();
    app.until_status(&board, "closed").await;
    other.until_running("a").await;
    assert_eq!(run.step("a").await["status"], "running");
    send(&app, "go", json!({})).await;
    let view = run.ended().await;
    assert_eq!(view["status"], "done", "{view:#}");
    let signals = of(&view, "a")["output"]["signals"].clone();
    assert_eq!(signals.as_array().map(Vec::len), Some(3), "{signals:#}");
    assert_eq!(run.count("stepDone", "a").await, 1);
}
