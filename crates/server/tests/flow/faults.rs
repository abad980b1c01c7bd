//! What goes wrong at a provider, and what the board says about it.

use std::time::Duration;

use futures::StreamExt as _;
use plenary_domain::limits;
use plenary_engine::ports::AttemptState;
use plenary_engine::testkit::ManualClock;
use plenary_scripted::{Fault, Gate, Reply, Script, When};
use serde_json::{Value, json};

use crate::support::{Board, Events, SAFETY, TestApp, Texts, states};

const TEXT: &str = "one two three four";

async fn one_advisor(app: &TestApp, model: &str) -> Board {
    let seats = json!([{ "role": "expert", "model": model }]);
    let synthesizer = "openai/synthesizer";
    let body = json!({ "prompt": "?", "advisors": seats, "synthesizer": synthesizer });
    app.convene(&body).await
}

/// Waits for the pause between two attempts, reads what users are told about it,
/// and lets the pause pass.
async fn pass_retry(clock: &ManualClock, events: &mut Events, attempt: u32) -> Value {
    let told = events.until("retrying").await.data;
    assert_eq!((&told["callId"], &told["attempt"]), (&json!("advisor/1#1"), &json!(attempt)));
    let wait = Duration::from_millis(told["waitMs"].as_u64().unwrap());
    let asleep = clock.until_asleep(1, wait..=wait);
    tokio::time::timeout(SAFETY, asleep).await.unwrap();
    clock.advance(wait);
    told
}

struct Case {
    model: &'static str,
    fault: Fault,
    kind: &'static str,
    words: &'static str,
    attempts: u32,
    /// What had arrived in the last attempt.
    partial: &'static str,
}

fn case(model: &'static str, fault: Fault, kind: &'static str, words: &'static str) -> Case {
    Case { model, fault, kind, words, attempts: 1, partial: "" }
}

impl Case {
    fn tried(self, attempts: u32) -> Case {
        Case { attempts, ..self }
    }

    fn after(self, partial: &'static str) -> Case {
        Case { partial, ..self }
    }

    async fn check(&self) {
        let shown = format!("{} {:?}", self.model, self.fault);
        let reply = Reply::text(TEXT).with_fault(self.fault.clone());
        let (app, clock) = TestApp::with_clock(Script::new(reply)).await;
        let board = one_advisor(&app, self.model).await;
        let mut events = app.events(&board.at("events"), None).await;
        for attempt in 1..self.attempts {
            pass_retry(&clock, &mut events, attempt).await;
        }
        let view = app.until_status(&board, "failed").await;
        let advisor = &view["advisors"][0];
        assert_eq!(advisor["status"], "failed", "{shown}: {view}");
        assert_eq!(advisor["error"]["kind"], self.kind, "{shown}: {view}");
        let message = advisor["error"]["message"].as_str().unwrap();
        assert!(message.contains(self.words), "{shown}: {message}");
        assert!(!view.to_string().contains("key-4711"), "{shown}: {view}");
        assert_eq!(advisor["attempts"], self.attempts, "{shown}: {view}");
        assert_eq!(advisor["text"], self.partial, "{shown}: {view}");
        assert_eq!(view["failure"], "No advisor answered.", "{shown}: {view}");
        let attempts = states(&app.attempts(&board).await);
        assert_eq!(attempts, vec![AttemptState::Failed; self.attempts as usize], "{shown}");
        if !self.model.starts_with("gone/") {
            app.assert_attempts_match_requests(&board).await;
        }
        let words = match self.kind {
            "rateLimited" => "rate limited",
            "promptTooLong" => "prompt too long",
            "outOfCredit" => "out of credit",
            "providerError" => "provider error",
            other => other,
        };
        if !words.contains(' ') && words != "empty" {
            let name = format!("plenary_failures_total{{kind=\"{words}\"}}");
            assert_eq!(app.metric(&name).await, 1, "{shown}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_named_and_told_in_words() {
    let many = limits::ATTEMPTS;
    let cases = [
        case("gone/m", Fault::Empty, "unreachable", "Could not connect to gone").tried(many),
        case("openai/m", Fault::Unauthorized, "misconfigured", "Check OPENAI_API_KEY"),
        case("ollama/m", Fault::NoSuchModel, "misconfigured", "`ollama pull m`"),
        case("gemini/m", Fault::ContextOverflow, "promptTooLong", "The prompt is too long for `m`"),
        case("openai/m", Fault::OutOfQuota, "outOfCredit", "out of credit"),
        case("openai/m", Fault::WebPage, "misconfigured", "check the URL"),
        case("openai/m", Fault::ServerError, "providerError", "returned an error").tried(many),
        case(
            "ollama/m",
            Fault::RateLimited { retry_after: None },
            "rateLimited",
            "too many requests",
        )
        .tried(many),
        case("anthropic/m", Fault::Overloaded, "rateLimited", "is overloaded").tried(many),
        // Longer than anybody wants to wait.
        case("ollama/m", Fault::RateLimited { retry_after: Some(61) }, "rateLimited", "too many"),
        case("anthropic/m", Fault::ErrorAfter { tokens: 2 }, "providerError", "returned an error")
            .tried(many)
            .after("one two "),
        case("ollama/m", Fault::CutAfter { tokens: 2 }, "unreachable", "broke off in the middle")
            .tried(many)
            .after("one two "),
        case("gemini/m", Fault::EndAfter { tokens: 2 }, "unreachable", "broke off in the middle")
            .tried(many)
            .after("one two "),
        case("openai/m", Fault::BadUtf8After { tokens: 2 }, "providerError", "not UTF-8")
            .after("one two "),
        case("ollama/m", Fault::Empty, "empty", "an empty answer"),
        case("ollama/m", Fault::HugeLineAfter { tokens: 2 }, "providerError", "a line that is too")
            .after("one two "),
        case("openai/m", Fault::Refusal, "refused", "declined to answer"),
        case("gemini/m", Fault::FilteredAfter { tokens: 2 }, "refused", "declined to answer")
            .after("one two "),
    ];
    // Each has a server and a database of its own: not all of them at once.
    let checks = futures::stream::iter(cases.iter().map(Case::check));
    checks.buffer_unordered(6).collect::<()>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_passes_is_tried_again_and_recovers() {
    let check = async |model: &str, fault: Fault, times: u32, waits: Option<u64>| {
        let shown = format!("{model} {fault:?}");
        let reply = Reply::text(TEXT).with_fault(fault).first(u64::from(times));
        let script = Script::new(Reply::canned()).when(When::says("as the Expert"), reply);
        let (app, clock) = TestApp::with_clock(script).await;
        let board = one_advisor(&app, model).await;
        let mut events = app.events(&board.at("events"), None).await;
        for attempt in 1..=times {
            let told = pass_retry(&clock, &mut events, attempt).await;
            let wait = told["waitMs"].as_u64().unwrap();
            if let Some(asked_for) = waits {
                assert!((asked_for..=asked_for + 1000).contains(&wait), "{shown}: {told}");
            }
            assert!(!told["message"].as_str().unwrap().is_empty());
        }
        let view = app.until_status(&board, "closed").await;
        let advisor = &view["advisors"][0];
        assert_eq!(advisor["text"], TEXT, "{shown}: the last attempt's text and no other");
        assert_eq!(advisor["attempts"], times + 1, "{shown}");
        let rows = app.attempts(&board).await;
        let advisors: Vec<_> =
            rows.iter().filter(|row| row.call.0 == "advisor/1#1").cloned().collect();
        let mut expected = vec![AttemptState::Failed; times as usize];
        expected.push(AttemptState::Done);
        assert_eq!(states(&advisors), expected, "{shown}");
        app.assert_attempts_match_requests(&board).await;
    };
    let limited = |seconds| Fault::RateLimited { retry_after: Some(seconds) };
    futures::join!(
        check("openai/m", limited(7), 1, Some(7_000)),
        check("ollama/m", limited(60), 1, Some(60_000)),
        check("anthropic/m", Fault::Overloaded, 2, None),
        check("gemini/m", Fault::ServerError, 3, None),
        check("ollama/m", Fault::OverloadedAfter { tokens: 3 }, 1, None),
        check("openai/m", Fault::CutAfter { tokens: 2 }, 1, None),
        check("anthropic/m", Fault::CutAfter { tokens: 3 }, 3, None),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_attempt_begins_the_text_anew() {
    let reply = Reply::text(TEXT).with_fault(Fault::CutAfter { tokens: 3 }).first(1);
    let (app, clock) = TestApp::with_clock(Script::new(reply)).await;
    let board = one_advisor(&app, "ollama/m").await;
    let mut events = app.events(&board.at("events"), None).await;
    let mut texts = Texts::default();
    texts.until(&mut events, 1, "one two three ").await;
    pass_retry(&clock, &mut events, 1).await;
    loop {
        let frame = events.next().await.unwrap();
        texts.take(&frame);
        if frame.name == "advisorAnswered" {
            break;
        }
    }
    assert_eq!(texts.0["advisor/1#1"], (2, TEXT.to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_is_recorded_before_it_is_sent() {
    let gate = Gate::new();
    let app = TestApp::start(Script::new(Reply::canned().gate(0, &gate))).await;
    let board = app.triad("Recorded?").await;
    gate.reached(3).await;
    assert_eq!(states(&app.attempts(&board).await), [AttemptState::Begun; 3]);
    app.assert_attempts_match_requests(&board).await;
    gate.release();
    app.until_status(&board, "closed").await;
    assert_eq!(states(&app.attempts(&board).await), [AttemptState::Done; 4]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_reaches_a_limit_is_kept_and_marked() {
    let whole = format!("{} ", "x".repeat(300_000)).repeat(5);
    let beyond = (Reply::text(&whole), &whole[..limits::ANSWER_BYTES]);
    let at_the_providers = (Reply::text(TEXT).with_fault(Fault::Length), TEXT);
    for (reply, kept) in [beyond, at_the_providers] {
        let script = Script::new(Reply::canned()).when(When::says("as the Expert"), reply);
        let app = TestApp::start(script).await;
        let board = one_advisor(&app, "ollama/m").await;
        let view = app.until_status(&board, "closed").await;
        let advisor = &view["advisors"][0];
        assert_eq!((&advisor["status"], &advisor["cut"]), (&json!("done"), &json!(true)));
        assert!(advisor["text"] == kept, "{} bytes", advisor["text"].to_string().len());
        let url = format!("{}{}", app.url, board.at("export?format=markdown"));
        let record = app.http.get(url).send().await.unwrap().text().await.unwrap();
        assert!(record.contains("*Cut off at the limit.*"));
    }
}

/// Thinking is no part of an answer, whether it comes apart from it or before it.
#[tokio::test(flavor = "multi_thread")]
async fn thinking_is_neither_answer_nor_size() {
    let thought = "hm ".repeat(limits::ANSWER_BYTES / 3 + 1);
    let apart = Reply::text("Yes.").reasoning(&thought);
    let aloud = Reply::text(&format!("<think>{thought}</think>\n\nYes."));
    for reply in [apart, aloud] {
        let script = Script::new(Reply::canned()).when(When::says("as the Expert"), reply);
        let app = TestApp::start(script).await;
        let board = one_advisor(&app, "ollama/m").await;
        let view = app.until_status(&board, "closed").await;
        let advisor = &view["advisors"][0];
        assert_eq!((&advisor["text"], &advisor["cut"]), (&json!("Yes."), &Value::Null));
        assert!(advisor["reasoning"].as_str().unwrap().len() <= limits::THINKING_BYTES);
    }
    let nothing = Reply::text("<think>one two three");
    let app = TestApp::start(Script::new(nothing)).await;
    let board = one_advisor(&app, "ollama/m").await;
    let view = app.until_status(&board, "failed").await;
    assert_eq!(view["advisors"][0]["error"]["kind"], "empty");
}
