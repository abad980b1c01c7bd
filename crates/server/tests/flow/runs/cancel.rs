//! What ends with a run that is cancelled, and what does not.

use plenary_scripted::{Gate, Reply, When};
use serde_json::{Value, json};

use super::{Run, council, file, of, said, store};
use crate::support::{TestApp, canned};

const ASKS: &str =
    "boardroom: { prompt: Which lamp?, advisors: [expert=ollama/a], synthesizer: ollama/a";

async fn at_work(app: &TestApp, run: &Run<'_>, place: &str) -> String {
    let view = run.until(|view| has_session(view, place)).await;
    let session = of(&view, place)["session"].as_str().unwrap().to_owned();
    let (status, told) = app.get(&format!("/api/sessions/{session}")).await;
    assert_eq!(status, 200, "{told}");
    session
}

fn has_session(view: &Value, place: &str) -> bool {
    let steps = view["steps"].as_array().unwrap();
    steps.iter().any(|step| step["place"] == place && step["session"].is_string())
}

async fn session(app: &TestApp, id: &str) -> Value {
    let (status, told) = app.get(&format!("/api/sessions/{id}")).await;
    assert_eq!(status, 200, "{told}");
    told["data"].clone()
}

/// A board in the middle of an answer, opened by a child of a child.
#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_reaches_children_and_the_rooms_that_they_opened() {
    let gate = Gate::new();
    let waits = Reply::text("one two three").gate(1, &gate);
    let app = TestApp::start(canned().when(When::says("Which lamp?"), waits)).await;
    store(&app, &file("inner", &format!("  panel: {{ {ASKS} }} }}"))).await;
    store(&app, &file("middle", "  inner: { workflow: { name: inner } }")).await;
    let run =
        Run::begin(&app, &file("outer", "  middle: { workflow: { name: middle } }"), json!({}))
            .await;
    let middle = Run { app: &app, id: at_work(&app, &run, "middle").await };
    let inner = Run { app: &app, id: at_work(&app, &middle, "inner").await };
    let board = at_work(&app, &inner, "panel").await;
    gate.reached(1).await;
    assert_eq!(inner.view().await["parent"], json!(middle.id));
    let (status, told) = app.post(&run.at("/cancel"), &json!({ "reason": "Enough." })).await;
    assert_eq!(status, 200, "{told}");
    let view = run.ended().await;
    assert_eq!(view["status"], "cancelled");
    assert_eq!(view["reason"], "cancelled by local: Enough.", "{view:#}");
    for child in [&middle, &inner] {
        assert_eq!(child.ended().await["status"], "cancelled");
    }
    let gone = app.scripted.wait_until(|all| all.iter().all(|request| request.dropped)).await;
    assert_eq!(gone.len(), 1);
    let board = crate::support::Board { id: board };
    assert_eq!(app.until_status(&board, "stopped").await["status"], "stopped");
    assert_eq!(run.decide("middle", &json!({ "decision": "approved", "by": "ann" })).await.0, 409);
    assert_eq!(app.post(&run.at("/cancel"), &json!({})).await.0, 409);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_to_be_kept_goes_on() {
    let gate = Gate::new();
    let waits = Reply::canned().gate(1, &gate);
    let app = TestApp::start(canned().when(When::says("Which lamp?"), waits)).await;
    store(&app, &file("child", "  a: { wait: { any: [ { signal: go } ] } }")).await;
    let rooms = "  board: { whiteboard.open: { board_id: kept, topic: t, keep: true } }\n  talk: { council.open: { name: kept, charter: Talk., keep: true } }\n";
    let source = file(
        "keeps",
        &format!(
            "{rooms}  panel: {{ {ASKS}, keep: true }} }}\n  child: {{ workflow: {{ name: child, keep: true }} }}"
        ),
    );
    let run = Run::begin(&app, &source, json!({})).await;
    let board = at_work(&app, &run, "panel").await;
    let child = Run { app: &app, id: at_work(&app, &run, "child").await };
    run.until(|view| of(view, "board")["status"] == "done" && of(view, "talk")["status"] == "done")
        .await;
    gate.reached(1).await;
    run.cancel().await;
    assert_eq!(run.ended().await["status"], "cancelled");
    gate.release();
    app.until_status(&crate::support::Board { id: board }, "closed").await;
    child.until_running("a").await;
    let (status, _) = app.post("/api/signals", &json!({ "name": "go" })).await;
    assert_eq!(status, 200);
    assert_eq!(child.ended().await["status"], "done");
    let (_, kept) = app.get("/api/whiteboards/kept").await;
    assert_eq!(kept["data"]["phase"], "blind", "{kept:#}");
    let (_, kept) = app.get("/api/councils/kept").await;
    assert_eq!(kept["data"]["status"], "open", "{kept:#}");
}

/// Boards are archived, councils closed, discussions stopped; and `finally` is still done.
#[tokio::test(flavor = "multi_thread")]
async fn rooms_end_with_the_run_and_finally_runs() {
    let app = TestApp::start(canned()).await;
    council(&app, "guild").await;
    let source = file(
        "opens",
        "  board: { whiteboard.open: { board_id: gone, topic: t } }\n  talk: { council.open: { name: gone, charter: Talk. } }\n  sign: { approve: { who: [ann] }, needs: [board, talk] }\n  never: { council.post: { council: guild, as: secretary, body: Signed. }, needs: [sign] }",
    ) + "finally:\n  close: { council.close: { council: gone } }\n  tell: { council.post: { council: guild, as: secretary, body: 'It is {{ run.status }}.' } }\n";
    let run = Run::begin(&app, &source, json!({})).await;
    run.until_running("sign").await;
    run.cancel().await;
    let view = run.ended().await;
    assert_eq!(view["status"], "cancelled", "{view:#}");
    assert_eq!(of(&view, "sign")["status"], "cancelled");
    for step in ["close", "tell"] {
        assert_eq!(of(&view, step)["status"], "done", "{view:#}");
    }
    assert_eq!(of(&view, "never")["status"], "waiting");
    assert_eq!(said(&app, "guild").await, ["secretary: It is cancelled."]);
    // The run is over when all that it had opened has ended too.
    let over = format!("/api/sessions/{}/wait?seconds=50", run.id);
    let (status, told) = app.get(&over).await;
    assert_eq!(status, 200, "{told}");
    let (_, gone) = app.get("/api/whiteboards/gone").await;
    assert_eq!(gone["data"]["phase"], "archived", "{gone:#}");
    let (_, gone) = app.get("/api/councils/gone").await;
    assert_eq!(gone["data"]["status"], "closed", "{gone:#}");
    assert_eq!(session(&app, &run.id).await["over"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waits_can_be_cancelled() {
    let app = TestApp::start(canned()).await;
    for steps in [
        "  a: { wait: { any: [ { signal: never } ] } }",
        "  a: { sleep: 30d }",
        "  a: { approve: { who: [ann] } }",
    ] {
        let run = Run::begin(&app, &file("waits", steps), json!({})).await;
        run.until_running("a").await;
        run.cancel().await;
        let view = run.ended().await;
        assert_eq!(
            (&view["status"], &of(&view, "a")["status"]),
            (&json!("cancelled"), &json!("cancelled"))
        );
        assert_eq!(run.decide("a", &json!({ "decision": "approved", "by": "ann" })).await.0, 409);
    }
    // Nobody waits any more.
    let (_, sent) = app.post("/api/signals", &json!({ "name": "never" })).await;
    assert_eq!(sent["data"]["matched"], json!([]));
    app.until_metric("plenary_calls_running", |calls| calls == 0).await;
}

/// Cancelled at whatever moment: while rooms open, before, and after.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_cancelled_run_was_opening_stays_open() {
    let app = TestApp::start(canned()).await;
    store(&app, &file("child", "  a: { wait: { any: [ { signal: never } ] } }")).await;
    let steps = format!(
        "  board: {{ whiteboard.open: {{ board_id: 'b-{{{{ run.short }}}}', topic: t }} }}\n  talk: {{ council.open: {{ name: 'c-{{{{ run.short }}}}', charter: Talk. }} }}\n  panel: {{ {ASKS} }} }}\n  child: {{ workflow: {{ name: child }} }}\n  sign: {{ approve: {{ who: [ann] }} }}"
    );
    for turn in 0..24u32 {
        let run = Run::begin(&app, &file("opens", &steps), json!({})).await;
        // Each request lets a little more happen.
        for _ in 0..turn % 6 {
            run.view().await;
        }
        run.cancel().await;
        let mut told = session(&app, &run.id).await;
        while told["over"] != true {
            let at = format!("/api/sessions/{}/wait?seconds=50", run.id);
            assert_eq!(app.get(&at).await.0, 200);
            told = session(&app, &run.id).await;
        }
    }
    for kind in ["whiteboard", "council", "boardroom", "workflow"] {
        let (_, all) = app.get(&format!("/api/sessions?kind={kind}&limit=200")).await;
        for one in all["data"].as_array().unwrap() {
            let status = one["status"].as_str().unwrap();
            let ended = ["archived", "closed", "stopped", "failed", "cancelled"];
            assert!(ended.contains(&status), "{kind}: {one:#}");
        }
    }
}
