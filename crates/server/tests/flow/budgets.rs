//! What a session may spend, and that it does not spend more, however many ask at once.

use std::time::Duration;

use plenary_clerk::{Price, Prices};
use plenary_domain::ModelName;
use plenary_scripted::{Gate, Reply, Script, When};
use serde_json::{Value, json};

use crate::support::{Setup, TestApp, canned, pick};

const FOUR: &str = "## Consensus\nYes.\n\n## Points of Agreement\n- It is cheap.\n\n\
                    ## Points of Divergence\n- None.\n\n## Recommendation\nGo.\n";

fn sixteen(budget: &Value) -> Value {
    let seats: Vec<Value> = (1..=16)
        .map(|nth| json!({ "role": "expert", "model": format!("openai/m{nth}") }))
        .collect();
    json!({ "prompt": "Shall we?", "advisors": seats, "synthesizer": "openai/s", "budget": budget })
}

/// Each advisor takes what it may at most; all of them are asked for at the same moment.
fn greedy(gate: &Gate) -> Script {
    let synthesis = Reply::text(FOUR).usage(900, 60);
    Script::new(Reply::text("Yes, because.").usage(190, 256).gate(0, gate))
        .when(When::model("s"), synthesis)
}

fn spent(view: &Value) -> u64 {
    let of = |field: &str| view["usage"][field].as_u64().unwrap_or_default();
    of("inputTokens") + of("outputTokens")
}

#[tokio::test(flavor = "multi_thread")]
async fn sixteen_at_once_on_a_budget_for_some_never_pass_it() {
    let gate = Gate::new();
    let app = TestApp::start(greedy(&gate)).await;
    let board = app.convene(&sixteen(&json!({ "tokens": 7_000 }))).await;
    gate.reached(5).await;
    // Nothing has come back yet, so all that counts is reserved.
    let view = app.board(&board).await;
    let reserved = view["budget"]["reservedTokens"].as_u64();
    assert!(reserved.is_some_and(|tokens| (1..=7_000).contains(&tokens)), "{view}");
    gate.release();
    let view = app.until_status(&board, "closed").await;
    assert_eq!(view["budget"].get("reservedTokens"), None, "{view}");
    assert!(app.scripted.in_flight_most() < 16, "{}", app.scripted.in_flight_most());
    let done = pick(&view["advisors"], "status").iter().filter(|s| **s == "done").count();
    assert!((5..16).contains(&done), "{view}");
    assert!(spent(&view) <= 7_000, "{view}");
    assert_eq!(view["budget"]["spentTokens"], spent(&view), "{view}");
    assert_eq!(app.scripted.requests().len(), done + 1, "who has no room is not asked");
    let last = &view["advisors"][15];
    assert_eq!(last["error"]["kind"], "outOfBudget", "{view}");
    let message = last["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("The budget of 7,000 tokens does not cover"), "{message}");
    let degraded = view["syntheses"][0]["degraded"].as_str().unwrap();
    assert!(degraded.contains("Expert 16 (out of budget)"), "{degraded}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_that_stopped_goes_on_with_a_larger_budget() {
    let gate = Gate::new();
    gate.release();
    let app = TestApp::start(greedy(&gate)).await;
    let small = json!({ "tokens": 7_000, "whenSpent": "stop" });
    let board = app.convene(&sixteen(&small)).await;
    let view = app.until_status(&board, "stopped").await;
    assert!(spent(&view) <= 7_000, "{view}");
    assert_eq!(view["syntheses"], json!([]), "{view}");
    let path = format!("/api/sessions/{}/budget", board.id);
    for (wrong, field) in [
        (json!({}), "budget"),
        (json!({ "tokens": 10 }), "budget.tokens"),
        (json!({ "cost": 1.0, "currency": "EUR" }), "budget.currency"),
    ] {
        let (status, told) = app.post(&path, &wrong).await;
        assert_eq!((status, &told["error"]["fields"][0]["field"]), (422, &json!(field)), "{told}");
    }
    let (status, told) = app.post(&path, &json!({ "tokens": 100_000 })).await;
    assert_eq!((status, &told["data"]["budget"]["tokens"]), (200, &json!(100_000)), "{told}");
    app.command(&board, "resume", json!({})).await;
    let view = app.until_status(&board, "closed").await;
    assert!(pick(&view["advisors"], "status").iter().all(|status| status == "done"), "{view}");
}

#[tokio::test(flavor = "multi_thread")]
async fn money_is_kept_to_where_prices_are_known() {
    let gate = Gate::new();
    gate.release();
    let app = TestApp::start(greedy(&gate)).await;
    let (status, told) = app.post("/api/boardrooms", &sixteen(&json!({ "cost": 0.5 }))).await;
    assert_eq!(status, 422, "{told}");
    let field = &told["error"]["fields"][0];
    assert_eq!(field["field"], "budget.cost", "{told}");
    assert!(field["problem"].as_str().unwrap().contains("openai/m1 is unknown"), "{told}");
    assert_eq!(app.scripted.requests().len(), 0);

    let names = (1..=16).map(|nth| format!("m{nth}")).chain(["s".to_owned()]);
    let price = Price { input: 1_000.0, output: 2_000.0, cached: None };
    let models = names.map(|name| (ModelName::new("openai", &name), price)).collect();
    let prices = Prices { models, ..Prices::default() };
    let app = Setup { prices, ..Setup::default() }.start(greedy(&gate)).await;
    let board = app.convene(&sixteen(&json!({ "cost": 8.0 }))).await;
    let view = app.until_status(&board, "closed").await;
    let cost = view["cost"].as_f64().unwrap();
    assert!(cost <= 8.0, "{view}");
    assert_eq!(view["budget"]["spentCost"], cost, "{view}");
    assert_eq!(view["advisors"][15]["error"]["kind"], "outOfBudget", "{view}");
}

#[tokio::test(flavor = "multi_thread")]
async fn at_the_end_of_its_time_a_board_makes_do_with_what_is_there() {
    let gate = Gate::new();
    let script = Script::new(Reply::text("Yes."))
        .when(When::model("slow"), Reply::text("Never.").gate(0, &gate))
        .when(When::model("s"), Reply::text(FOUR));
    let (app, clock) = TestApp::with_clock(script).await;
    let seats = ["a", "slow"].map(|m| json!({ "role": "expert", "model": format!("openai/{m}") }));
    let new = json!({ "prompt": "?", "advisors": seats, "synthesizer": "openai/s",
        "budget": { "seconds": 90 } });
    let board = app.convene(&new).await;
    app.until(&board, |view| view["advisors"][0]["status"] == "done").await;
    gate.reached(1).await;
    clock.advance(Duration::from_secs(90));
    let view = app.until_status(&board, "closed").await;
    assert_eq!(pick(&view["advisors"], "status"), ["done", "stopped"], "{view}");
    assert_eq!(view["budget"]["timeOver"], true, "{view}");
    assert!(app.names(&board).await.contains(&"timeOver".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn councils_and_discussions_have_budgets_too() {
    let app = TestApp::start(canned()).await;
    let member = json!({ "name": "ann", "model": "openai/a", "budget": { "tokens": 1_000 } });
    let new = json!({ "name": "weekly", "charter": "Talk.", "members": [member],
        "budget": { "tokens": 2_000 } });
    let (status, told) = app.post("/api/councils", &new).await;
    assert_eq!(status, 201, "{told}");
    assert_eq!(told["data"]["budget"]["tokens"], 2_000, "{told}");
    assert_eq!(told["data"]["members"][0]["budget"]["tokens"], 1_000, "{told}");
    let own = json!({ "tokens": 5_000, "seconds": 60 });
    let seats = json!([
        { "name": "Ann", "model": "openai/a", "budget": own },
        { "name": "Bob", "model": "openai/a" },
    ]);
    let talk = json!({ "topic": "Tea?", "participants": seats,
        "facilitator": { "name": "Chair", "model": "openai/a", "budget": { "seconds": 600 } },
        "budget": { "tokens": 90_000, "seconds": 900 } });
    let (status, told) = app.post("/api/discussions", &talk).await;
    assert_eq!(status, 201, "{told}");
    let talk = &told["data"];
    assert_eq!(talk["budget"]["seconds"], 900.0, "{told}");
    assert_eq!(talk["moderator"]["budget"], json!({ "seconds": 600.0 }), "{told}");
    let ann = json!({ "tokens": 5_000, "seconds": 60.0 });
    assert_eq!(talk["participants"][0]["budget"], ann, "{told}");
    assert_eq!(talk["participants"][1]["budget"], Value::Null, "{told}");
}

/// In boards, councils and discussions alike; a person's seat spends nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_budget_of_a_seat_is_named() {
    let app = TestApp::start(canned()).await;
    for (wrong, field) in [
        (json!({}), "budget"),
        (json!({ "tokens": 10 }), "budget.tokens"),
        (json!({ "seconds": 0 }), "budget.seconds"),
        (json!({ "cost": 1.0, "currency": "EUR" }), "budget.currency"),
    ] {
        let model = "openai/a";
        let talk = |seat: Value| json!({ "topic": "?", "participants": [seat] });
        for (path, at, new) in [
            (
                "boardrooms",
                "advisors[0]",
                json!({ "prompt": "?",
                "advisors": [{ "role": "expert", "model": model, "budget": wrong }] }),
            ),
            (
                "councils",
                "members[0]",
                json!({ "name": "tea", "charter": "Talk.",
                "members": [{ "name": "ann", "model": model, "budget": wrong }] }),
            ),
            (
                "discussions",
                "participants[0]",
                talk(json!({ "name": "Ann", "model": model, "budget": wrong })),
            ),
        ] {
            let (status, told) = app.post(&format!("/api/{path}"), &new).await;
            let expected = format!("{at}.{field}");
            let fields = pick(&told["error"]["fields"], "field");
            assert_eq!(status, 422, "{path} {told}");
            assert!(fields.contains(&json!(expected)), "{path} {told}");
        }
    }
    let person = json!({ "person": "Eve", "budget": { "seconds": 60 } });
    let other = json!({ "name": "Ann", "model": "openai/a" });
    let talk = json!({ "topic": "?", "participants": [person, other] });
    let (status, told) = app.post("/api/discussions", &talk).await;
    assert_eq!(
        (status, &told["error"]["fields"][0]["field"]),
        (422, &json!("participants[0].budget")),
        "{told}"
    );
    // A limit in money needs a price, whoever has it.
    let dear = json!({ "name": "Bob", "model": "openai/a", "budget": { "cost": 0.5 } });
    let talk = json!({ "topic": "?", "participants": [dear, other], "start": true });
    let (status, told) = app.post("/api/discussions", &talk).await;
    assert_eq!(
        (status, &told["error"]["fields"][0]["field"]),
        (422, &json!("budget.cost")),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seat_whose_time_is_over_is_not_waited_for() {
    let gate = Gate::new();
    let script = Script::new(Reply::text("Yes."))
        .when(When::model("slow"), Reply::text("I think so.").gate(1, &gate))
        .when(When::model("s"), Reply::text(FOUR));
    let (app, clock) = TestApp::with_clock(script).await;
    let seats = json!([
        { "role": "expert", "model": "openai/a" },
        { "role": "expert", "model": "openai/slow", "budget": { "seconds": 20 } },
    ]);
    let new = json!({ "prompt": "?", "advisors": seats, "synthesizer": "openai/s" });
    let board = app.convene(&new).await;
    app.until(&board, |view| view["advisors"][0]["status"] == "done").await;
    gate.reached(1).await;
    clock.advance(Duration::from_secs(20));
    let view = app.until_status(&board, "closed").await;
    let slow = &view["advisors"][1];
    assert_eq!(slow["error"]["kind"], "timedOut", "{view}");
    let message = slow["error"]["message"].as_str().unwrap();
    assert!(message.contains("This seat's time budget"), "{message}");
    assert_eq!(slow["budget"], json!({ "seconds": 20.0 }), "{view}");
}

#[tokio::test(flavor = "multi_thread")]
async fn at_the_end_of_its_time_a_council_waits_for_nobody() {
    let gate = Gate::new();
    let script = Script::new(Reply::text("Never.").gate(0, &gate));
    let (app, clock) = TestApp::with_clock(script).await;
    let members =
        json!([{ "name": "ann", "model": "openai/a" }, { "name": "cy", "model": "openai/a" }]);
    let new = json!({ "name": "weekly", "charter": "Talk.", "members": members,
        "budget": { "seconds": 90 } });
    let (status, told) = app.post("/api/councils", &new).await;
    assert_eq!((status, &told["data"]["budget"]["seconds"]), (201, &json!(90.0)), "{told}");
    let post = json!({ "sender": "bo", "body": "Which tea?" });
    let (status, told) = app.post("/api/councils/weekly/posts", &post).await;
    assert_eq!(status, 200, "{told}");
    gate.reached(1).await;
    clock.advance(Duration::from_secs(90));
    let council = loop {
        let (_, told) = app.get("/api/councils/weekly").await;
        if told["data"]["budget"]["timeOver"] == true {
            break told["data"].clone();
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(council["answering"], Value::Null, "{council}");
    assert_eq!(app.scripted.requests().len(), 1, "the second was not asked");
}
