//! What a page needs: times, prices, what is under way, who is waited for, and the number
//! from which the live events go on.

use std::sync::Arc;
use std::time::Duration;

use plenary_domain::ModelName;
use plenary_engine::testkit::ManualClock;
use plenary_scripted::{Fault, Gate, Reply, Script, When};
use plenary_server::{Price, Prices};
use serde_json::{Value, json};

use crate::support::{Board, SAFETY, Setup, TestApp, canned, pick};

fn seconds_between(from: &Value, to: &Value) -> f64 {
    let time = |value: &Value| -> plenary_domain::Timestamp {
        value.as_str().unwrap_or_else(|| panic!("{value} is no time")).parse().unwrap()
    };
    time(to).duration_since(time(from)).as_secs_f64()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_tells_when_each_part_of_it_ran_and_what_it_cost() {
    let (slow, late) = (Gate::new(), Gate::new());
    let script = Script::new(Reply::canned().usage(1_000, 500))
        .when(When::says("## Consensus"), Reply::canned().usage(3_000, 1_000).gate(0, &late))
        .when(When::model("b"), Reply::canned().usage(1_000, 500).gate(0, &slow));
    let clock = Arc::new(ManualClock::default());
    let price = Price { input: 1.0, output: 2.0, cached: None };
    let models = ["a", "b"].map(|name| (ModelName::new("ollama", name), price)).into();
    let prices = Prices { currency: "EUR".into(), models, free: vec![] };
    let app = Setup { clock: clock.clone(), prices, ..Setup::default() }.start(script).await;
    let seats = json!([
        { "role": "critic", "model": "ollama/a" },
        { "role": "expert", "model": "ollama/b" },
    ]);
    let body = json!({ "prompt": "When?", "advisors": seats, "synthesizer": "ollama/a" });
    let board = app.convene(&body).await;
    slow.reached(1).await;
    let view = app.until(&board, |view| view["advisors"][0]["status"] == "done").await;
    assert_eq!(view["advisors"][1]["startedAt"], view["convenedAt"], "{view}");
    assert_eq!(view["advisors"][1]["endedAt"], Value::Null, "{view}");
    assert_eq!(view["advisors"][1]["attempts"], 1, "{view}");
    clock.advance(Duration::from_secs(3));
    slow.release();
    late.reached(1).await;
    clock.advance(Duration::from_secs(2));
    late.release();
    let view = app.until_status(&board, "closed").await;

    let spans = |list: &Value| -> Vec<(f64, f64)> {
        let began = &view["convenedAt"];
        let span = |part: &Value| {
            (seconds_between(began, &part["startedAt"]), seconds_between(began, &part["endedAt"]))
        };
        list.as_array().unwrap().iter().map(span).collect()
    };
    assert_eq!(spans(&view["advisors"]), [(0.0, 0.0), (0.0, 3.0)], "{view}");
    assert_eq!(spans(&view["syntheses"]), [(3.0, 5.0)], "{view}");
    assert_eq!(pick(&view["advisors"], "cost"), [0.002, 0.002], "{view}");
    assert_eq!(pick(&view["syntheses"], "cost"), [0.005], "{view}");
    let cost = view["cost"].as_f64().unwrap();
    assert!((cost - 0.009).abs() < 1e-9 && view["currency"] == "EUR", "{view}");
    let sections = view["syntheses"][0]["sections"].as_object().unwrap();
    let names: Vec<&String> = sections.keys().collect();
    assert_eq!(names, ["agreement", "consensus", "divergence", "recommendation"]);
    assert!(sections.values().all(|text| !text.as_str().unwrap().contains("## ")), "{view}");

    // A price that nobody has set is not made up.
    let other = json!({ "role": "critic", "model": "ollama/c" });
    let body = json!({ "prompt": "?", "advisors": [other], "synthesizer": "ollama/a" });
    let view = app.until_status(&app.convene(&body).await, "closed").await;
    assert_eq!((&view["cost"], &view["advisors"][0]["cost"]), (&Value::Null, &Value::Null));

    // A record that was taken over has the times of another clock, and so none.
    let (_, export) = app.get(&board.at("export")).await;
    let (status, taken) = app.post("/api/boardrooms/import", &export).await;
    assert_eq!(status, 201, "{taken}");
    assert_eq!(pick(&taken["data"]["advisors"], "startedAt"), [Value::Null, Value::Null]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_made_again_can_be_seen_by_who_comes_late() {
    let script = Script::new(Reply::canned())
        .when(When::model("a").nth(1), Reply::fault(Fault::ServerError));
    let (app, clock) = TestApp::with_clock(script).await;
    let seats = json!([{ "role": "expert", "model": "openai/a" }]);
    let body = json!({ "prompt": "?", "advisors": seats, "synthesizer": "openai/b" });
    let board = app.convene(&body).await;
    let told = app.events(&board.at("events"), None).await.until("retrying").await.data;
    let view = app.board(&board).await;
    let retrying = &view["advisors"][0]["retrying"];
    assert_eq!(
        *retrying,
        json!({ "attempt": told["attempt"], "waitMs": told["waitMs"], "message": told["message"] })
    );
    let wait = Duration::from_millis(told["waitMs"].as_u64().unwrap());
    tokio::time::timeout(SAFETY, clock.until_asleep(1, wait..=wait)).await.unwrap();
    clock.advance(wait);
    let view = app.until_status(&board, "closed").await;
    let advisor = &view["advisors"][0];
    assert_eq!((&advisor["attempts"], &advisor["retrying"]), (&json!(2), &Value::Null), "{view}");
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_say_who_is_waited_for() {
    let stalls = Reply::text("one two").with_fault(Fault::StallAfter { tokens: 1 });
    let app = TestApp::start(canned().when(When::says("Slowly"), stalls)).await;
    let seats = json!([
        { "role": "critic", "person": "Ada" },
        { "role": "expert", "model": "ollama/a" },
        { "role": "expert", "person": "Bo", "replyWithinSeconds": 3600 },
    ]);
    let board = app.convene(&json!({ "prompt": "And you?", "advisors": seats })).await;
    let talk = json!({ "topic": "Tea?", "start": true, "facilitator": { "person": "Cyd" },
        "participants": [{ "name": "Ann", "model": "ollama/a" }] });
    assert_eq!(app.post("/api/discussions", &talk).await.0, 201);
    let quiet = app.triad("Nobody?").await;
    app.until_status(&quiet, "closed").await;

    let rows = async |query: &str| {
        let (status, told) = app.get(&format!("/api/sessions?{query}")).await;
        assert_eq!(status, 200, "{told}");
        pick(&told["data"], "waitsFor")
    };
    let expected = [Value::Null, json!(["Cyd"]), json!(["Ada", "Bo"])];
    assert_eq!(rows("").await, expected);
    assert_eq!(rows("waiting=true").await, expected[1..]);
    assert_eq!(rows("waiting=false").await, expected[..1]);
    let (_, one) = app.get(&format!("/api/sessions/{}", board.id)).await;
    assert_eq!(one["data"]["waitsFor"], json!(["Ada", "Bo"]));
    let runs = app.triad("Slowly?").await;
    let (_, all) = app.get("/api/overview").await;
    let [waiting, running, recent] =
        ["waiting", "running", "recent"].map(|list| pick(&all["data"][list], "title"));
    assert_eq!(waiting, ["Tea?", "And you?"]);
    assert_eq!((running, recent), (vec![json!("Slowly?")], vec![json!("Nobody?")]));
    app.command(&runs, "stop", json!({})).await;
    app.command(&board, "reply", json!({ "advisor": 1, "text": "Yes." })).await;
    app.command(&board, "advisors/3/stop", json!({})).await;
    assert_eq!(rows("waiting=true").await, [json!(["Cyd"])]);
}

/// Whatever a view's `version` says, the live events go on from it: all that came before
/// is numbered up to it, and what comes next has the next number.
async fn check_version(app: &TestApp, token: &str, path: &str, next: impl AsyncFn()) {
    let view = match token {
        "" => app.get(path).await,
        token => app.get_as(token, path).await,
    };
    let version = view.1["data"]["version"].as_u64().unwrap_or_else(|| panic!("{path}: {view:?}"));
    let mut all = app.events_as(token, &format!("{path}/events"), None).await;
    for number in 1..=version {
        let frame = all.next().await.unwrap();
        assert_eq!(frame.id, Some(number), "{path}: {frame:?}");
    }
    let mut new = app.events_as(token, &format!("{path}/events?after={version}"), None).await;
    next().await;
    for events in [&mut all, &mut new] {
        let first = loop {
            let frame = events.next().await.unwrap();
            if frame.id.is_some() {
                break frame;
            }
        };
        assert_eq!(first.id, Some(version + 1), "{path}: {first:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_view_says_from_where_its_live_events_go_on() {
    let app = TestApp::start(canned()).await;
    let seats =
        json!([{ "role": "critic", "person": "Ada" }, { "role": "expert", "person": "Bo" }]);
    let board: Board =
        app.convene(&json!({ "prompt": "?", "advisors": seats, "synthesizer": "ollama/a" })).await;
    check_version(&app, "", &board.path(), async || {
        app.command(&board, "reply", json!({ "advisor": 1, "text": "Yes." })).await;
    })
    .await;

    let talk = json!({ "topic": "Tea?", "start": true, "facilitator": { "person": "Cyd" },
        "participants": [{ "name": "Ann", "model": "ollama/a" }] });
    let (_, talk) = app.post("/api/discussions", &talk).await;
    let talk = format!("/api/discussions/{}", talk["data"]["id"].as_str().unwrap());
    check_version(&app, "", &talk, async || {
        let said = json!({ "text": "Take your time." });
        assert_eq!(app.post(&format!("{talk}/interject"), &said).await.0, 200);
    })
    .await;

    let council = json!({ "name": "tea", "charter": "Talk about tea." });
    assert_eq!(app.post("/api/councils", &council).await.0, 201);
    check_version(&app, "", "/api/councils/tea", async || {
        let post = json!({ "sender": "ada", "body": "Hello." });
        assert_eq!(app.post("/api/councils/tea/posts", &post).await.0, 200);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whiteboards_version_counts_what_the_viewer_was_told() {
    let app = TestApp::start(canned()).await;
    let open = json!({ "boardId": "plan", "topic": "What?", "openedBy": "fay" });
    let (_, fay) = app.post("/api/whiteboards", &open).await;
    let fay = fay["data"]["agentToken"].as_str().unwrap().to_owned();
    let path = "/api/whiteboards/plan";
    let register = async |name: &str| {
        let body = json!({ "agentName": name, "role": "specialist" });
        let (status, told) = app.post(&format!("{path}/agents"), &body).await;
        assert_eq!(status, 200, "{told}");
        told["data"]["agentToken"].as_str().unwrap().to_owned()
    };
    let (ada, ben) = (register("ada").await, register("ben").await);
    let post = async |token: &str, title: &str| {
        let body = json!({ "type": "claim", "title": title, "body": "Because." });
        assert_eq!(app.post_as(token, &format!("{path}/posts"), &body).await.0, 200);
    };
    let to_read = async || {
        let body = json!({ "targetPhase": "read" });
        let (status, told) = app.post_as(&fay, &format!("{path}/transition"), &body).await;
        assert_eq!(status, 200, "{told}");
    };
    post(&ada, "One").await;
    post(&ben, "Two").await;
    // In the blind phase each counts what is theirs: what another posts is no next event.
    check_version(&app, &ada, path, async || post(&ada, "Three").await).await;
    check_version(&app, &ben, path, async || post(&ben, "Four").await).await;
    let version = async |token: &str| app.get_as(token, path).await.1["data"]["version"].clone();
    assert_eq!([version(&ada).await, version(&ben).await, version(&fay).await], [4, 4, 3]);
    check_version(&app, "", path, to_read).await;
    // From then on all count alike.
    assert_eq!([version(&ada).await, version(&ben).await, version(&fay).await], [8, 8, 8]);
}
