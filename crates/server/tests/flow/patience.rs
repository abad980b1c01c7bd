//! Models that are slow or fall silent, on a clock that is moved by hand.

use std::sync::Arc;
use std::time::Duration;

use plenary_domain::limits;
use plenary_engine::testkit::ManualClock;
use plenary_providers::{CommandConfig, Output, ProviderConfig};
use plenary_scripted::{Fault, Gate, Reply, Script, When};
use serde_json::{Value, json};

use crate::support::{Board, SAFETY, Setup, TestApp, Texts, canned};

async fn one_advisor(app: &TestApp) -> Board {
    let seats = json!([{ "role": "expert", "model": "ollama/a" }]);
    app.convene(&json!({ "prompt": "?", "advisors": seats })).await
}

/// Waits until somebody sleeps for about this long, and lets that time pass.
async fn pass(clock: &ManualClock, ms: u64) {
    let range = Duration::from_millis(ms - 1_000)..=Duration::from_millis(ms);
    let asleep = clock.until_asleep(1, range);
    tokio::time::timeout(SAFETY, asleep).await.unwrap_or_else(|_| panic!("nobody waits {ms} ms"));
    clock.advance(Duration::from_millis(ms));
}

async fn assert_failed(app: &TestApp, board: &Board, kind: &str, message: &str) -> Value {
    let view = app.until_status(board, "failed").await;
    let advisor = view["advisors"][0].clone();
    assert_eq!(advisor["error"], json!({ "kind": kind, "message": message }), "{view}");
    assert_eq!(advisor["attempts"], 1, "{view}");
    let gone = app.scripted.wait_until(|all| all.iter().all(|request| request.dropped)).await;
    assert!(gone.iter().all(|request| request.dropped), "the request was dropped");
    advisor
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_says_nothing_is_given_up() {
    let (app, clock) = TestApp::with_clock(Script::new(Reply::fault(Fault::Silent))).await;
    let board = one_advisor(&app).await;
    app.scripted.wait_for_requests(1).await;
    pass(&clock, limits::FIRST_PIECE_MS).await;
    assert_failed(&app, &board, "idle", "There was no response for 180 s.").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_falls_silent_is_given_up() {
    let stalls = Reply::text("one two three").with_fault(Fault::StallAfter { tokens: 1 });
    let (app, clock) = TestApp::with_clock(Script::new(stalls)).await;
    let board = one_advisor(&app).await;
    let mut events = app.events(&board.at("events"), None).await;
    Texts::default().until(&mut events, 1, "one ").await;
    pass(&clock, limits::IDLE_MS).await;
    let words = "The answer stopped, and nothing more arrived for 60 s.";
    let advisor = assert_failed(&app, &board, "idle", words).await;
    assert_eq!(advisor["text"], "one ");
}

/// As Claude Code prints it while its vendor is overloaded.
const ASKS_AGAIN: &str = r#"
echo '{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":30000,"error_status":529,"error":"overloaded"}'
sleep 600
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_asks_again_by_itself_says_so_and_is_waited_for() {
    let clock = Arc::new(ManualClock::default());
    let more = |_: &str| {
        let command = CommandConfig::new("sh", &["-c", ASKS_AGAIN], Output::JsonLines);
        vec![ProviderConfig::command("agent", command)]
    };
    let app = Setup { clock: clock.clone(), more, ..Setup::default() }.start(canned()).await;
    let seats = json!([{ "role": "expert", "model": "agent/default" }]);
    let board = app.convene(&json!({ "prompt": "?", "advisors": seats })).await;
    app.events(&board.at("events"), None).await.until("retrying").await;
    let view = app.board(&board).await;
    let message = "agent could not reach its model: overloaded.";
    let expected = json!({ "attempt": 1, "waitMs": 30_000, "message": message });
    assert_eq!(view["advisors"][0]["retrying"], expected, "{view}");
    // It has said that it would be silent for a while, which does not count. That may
    // have been heard before or after the engine began to wait.
    let usual = Duration::from_millis(limits::FIRST_PIECE_MS);
    let waits =
        clock.until_asleep(1, usual - Duration::from_secs(1)..=usual + Duration::from_secs(30));
    tokio::time::timeout(SAFETY, waits).await.expect("the answer is waited for");
    clock.advance(usual);
    pass(&clock, 30_000).await;
    assert_failed(&app, &board, "idle", "There was no response for 180 s.").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_never_ends_is_given_up() {
    let endless = Reply::canned().tokens(1_000_000).tokens_per_second(1_000);
    let (app, clock) = TestApp::with_clock(Script::new(endless)).await;
    let board = one_advisor(&app).await;
    let mut events = app.events(&board.at("events"), None).await;
    // Each piece comes in good time; only all of them together take too long.
    let step = limits::IDLE_MS / 3;
    for _ in 0..limits::ANSWER_MS / step {
        // One that came after the clock was moved: what waits to be read says nothing of that.
        let view = app.board(&board).await;
        let said = view["advisors"][0]["text"].as_str().unwrap_or_default().len() as u64;
        while events.until("delta").await.data["offset"].as_u64().unwrap() < said {}
        clock.advance(Duration::from_millis(step));
    }
    let advisor =
        assert_failed(&app, &board, "timedOut", "The answer was not finished after 600 s.").await;
    assert!(advisor["text"].as_str().unwrap().starts_with("One could say"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_kept_while_a_call_runs_and_no_longer() {
    let gate = Gate::new();
    let script = canned().when(When::model("a"), Reply::text("one two three").gate(2, &gate));
    let script = script.when(When::says("## Consensus"), Reply::canned());
    let (app, clock) = TestApp::with_clock(script).await;
    let board = one_advisor(&app).await;
    gate.reached(1).await;
    // Nothing more comes, and what has come is kept all the same.
    let heard = async { while app.board(&board).await["advisors"][0]["text"] != "one two " {} };
    tokio::time::timeout(SAFETY, heard).await.unwrap();
    clock.advance(Duration::from_millis(limits::DRAFT_MS));
    let saved = async {
        loop {
            let drafts = app.store.drafts(board.session()).await.unwrap();
            if let [(call, text)] = drafts.as_slice() {
                return (call.0.clone(), text.clone());
            }
        }
    };
    let saved = tokio::time::timeout(SAFETY, saved).await.unwrap();
    assert_eq!(saved, ("advisor/1#1".to_owned(), "one two ".to_owned()));
    gate.release();
    app.until_status(&board, "closed").await;
    assert_eq!(app.store.drafts(board.session()).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_draft_outlives_its_call() {
    for round in 0..20 {
        let gate = Gate::new();
        let slow = Reply::text("one two three four five six").gate(2, &gate);
        let script = canned().when(When::says("as the Expert"), slow);
        let (app, clock) = TestApp::with_clock(script).await;
        let board = one_advisor(&app).await;
        gate.reached(1).await;
        // The save is set off in the very moment in which the call ends.
        clock.advance(Duration::from_millis(limits::DRAFT_MS + 1_000));
        if round % 2 == 0 {
            gate.release();
            app.until_status(&board, "closed").await;
        } else {
            app.command(&board, "stop", json!({})).await;
        }
        // Whatever was on its way to the store has arrived after this.
        app.store.check().await.unwrap();
        assert_eq!(app.store.drafts(board.session()).await.unwrap(), [], "round {round}");
    }
}
