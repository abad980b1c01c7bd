//! What a person can do with a board that runs or rests.

use std::time::Duration;

use plenary_engine::ports::AttemptState;
use plenary_scripted::{Gate, Recorded, Reply, Script, When};
use serde_json::{Value, json};

use crate::support::{Board, SAFETY, TestApp, Texts, canned, pick, states};

/// Advisors say two words and wait at the gate; syntheses are proper.
fn halfway(gate: &Gate) -> Script {
    let synthesis = Reply::canned();
    Script::new(Reply::text("one two three four").gate(2, gate))
        .models(&["a", "b", "c", "d"])
        .when(When::says("## Consensus"), synthesis)
}

async fn until_halfway(app: &TestApp, board: &Board, calls: usize) {
    let mut events = app.events(&board.at("events"), None).await;
    Texts::default().until(&mut events, calls, "one two ").await;
}

fn is_dropped(request: &Recorded) -> bool {
    request.dropped && request.ended_at.is_some()
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_keeps_what_has_arrived_and_drops_the_requests() {
    let gate = Gate::new();
    let app = TestApp::start(halfway(&gate)).await;
    let board = app.triad("Stop?").await;
    until_halfway(&app, &board, 3).await;

    let view = app.command(&board, "stop", json!({})).await;
    assert_eq!(view["status"], "stopped", "{view}");
    assert_eq!(pick(&view["advisors"], "status"), ["stopped"; 3], "{view}");
    assert_eq!(pick(&view["advisors"], "text"), ["one two "; 3], "{view}");
    assert_eq!(view["syntheses"], json!([]), "{view}");
    let requests = app.scripted.wait_until(|all| all.iter().all(is_dropped)).await;
    assert_eq!(requests.iter().filter(|request| is_dropped(request)).count(), 3);
    let stopped = ["convened", "stopped", "advisorStopped", "advisorStopped", "advisorStopped"];
    assert_eq!(app.names(&board).await, stopped);
    assert_eq!(states(&app.attempts(&board).await), [AttemptState::Stopped; 3]);
    assert_eq!(app.store.drafts(board.session()).await.unwrap(), []);

    // Stopping again changes nothing, and nothing follows by itself.
    let again = app.command(&board, "stop", json!({})).await;
    assert_eq!(again["version"], view["version"]);
    assert_eq!(app.scripted.requests().len(), 3);
    app.until_metric("plenary_calls_running", |calls| calls == 0).await;

    gate.release();
    let view = app.command(&board, "resume", json!({})).await;
    assert_eq!(view["status"], "answering");
    let view = app.until_status(&board, "closed").await;
    assert_eq!(pick(&view["advisors"], "text"), ["one two three four"; 3], "{view}");
    assert_eq!(app.scripted.requests().len(), 7);
    app.assert_attempts_match_requests(&board).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_advisor_is_stopped_and_the_others_go_on() {
    let (b, c) = (Gate::new(), Gate::new());
    let waits = |gate: &Gate| Reply::text("one two three four").gate(2, gate);
    let script = canned().when(When::model("b"), waits(&b)).when(When::model("c"), waits(&c));
    let app = TestApp::start(script).await;
    let board = app.triad("All but one?").await;
    app.until(&board, |view| view["advisors"][0]["status"] == "done").await;
    until_halfway(&app, &board, 2).await;

    let view = app.command(&board, "advisors/2/stop", json!({})).await;
    assert_eq!(view["status"], "answering", "{view}");
    assert_eq!(pick(&view["advisors"], "status"), ["done", "stopped", "answering"], "{view}");
    assert_eq!(view["advisors"][1]["text"], "one two ", "{view}");
    let dropped = |all: &[Recorded]| all.iter().filter(|request| is_dropped(request)).count();
    assert_eq!(dropped(&app.scripted.wait_until(|all| dropped(all) == 1).await), 1);
    for (advisor, status, code) in [(1, 409, "not-now"), (2, 409, "not-now"), (7, 404, "not-found")]
    {
        let path = board.at(&format!("advisors/{advisor}/stop"));
        let (found, body) = app.post(&path, &json!({})).await;
        assert_eq!((found, &body["error"]["code"]), (status, &json!(code)), "{body}");
    }

    // The last one that is awaited.
    app.command(&board, "advisors/3/stop", json!({})).await;
    let view = app.until_status(&board, "closed").await;
    assert_eq!(view["syntheses"][0]["basis"], json!([1]), "{view}");
    let aloud = "From 1 of 3 advisors. Missing: Critic (stopped), Analyst (stopped).";
    assert_eq!(view["syntheses"][0]["degraded"], aloud);
    assert_eq!(pick(&view["advisors"], "text")[1..], ["one two "; 2], "{view}");
    app.until_metric("plenary_calls_running", |calls| calls == 0).await;
    app.assert_attempts_match_requests(&board).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_whose_only_advisor_is_stopped_fails() {
    let gate = Gate::new();
    let app = TestApp::start(halfway(&gate)).await;
    let board = app.convene(&json!({ "prompt": "Alone?", "models": ["ollama/a"] })).await;
    let seats = app.board(&board).await["advisors"].as_array().unwrap().len();
    until_halfway(&app, &board, seats).await;
    let mut view = Value::Null;
    for seat in 1..=seats {
        view = app.command(&board, &format!("advisors/{seat}/stop"), json!({})).await;
    }
    assert_eq!(
        (&view["status"], &view["failure"]),
        (&json!("failed"), &json!("No advisor answered.")),
        "{view}"
    );
    assert_eq!(pick(&view["advisors"], "text"), vec!["one two "; seats], "{view}");
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_ends_a_synthesis_too() {
    let gate = Gate::new();
    let script = canned().when(When::says("## Consensus"), Reply::canned().gate(2, &gate));
    let app = TestApp::start(script).await;
    let board = app.triad("Stop late?").await;
    let mut events = app.events(&board.at("events"), None).await;
    loop {
        let frame = events.next().await.unwrap();
        if frame.name == "delta" && frame.data["callId"] == "synthesis/1#1" {
            break;
        }
    }
    let view = app.command(&board, "stop", json!({})).await;
    assert_eq!(view["status"], "stopped", "{view}");
    assert_eq!(pick(&view["advisors"], "status"), ["done"; 3], "{view}");
    assert_eq!(view["syntheses"][0]["status"], "stopped", "{view}");
    assert!(view["syntheses"][0]["text"].as_str().unwrap().starts_with("## "), "{view}");
    gate.release();
    // Nobody is missing, so going on means another synthesis.
    app.command(&board, "resume", json!({})).await;
    let view = app.until_status(&board, "closed").await;
    assert_eq!(pick(&view["syntheses"], "status"), ["stopped", "done"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn synthesize_goes_ahead_without_the_late_ones() {
    let gate = Gate::new();
    let late = Reply::text("one two three four").gate(2, &gate);
    let script = canned().when(When::model("b"), late.clone()).when(When::model("c"), late);
    let app = TestApp::start(script).await;
    let board = app.triad("Now?").await;
    app.until(&board, |view| view["advisors"][0]["status"] == "done").await;
    until_halfway(&app, &board, 2).await;

    app.command(&board, "synthesize", json!({ "instruction": "in French" })).await;
    let view = app.until_status(&board, "closed").await;
    assert_eq!(pick(&view["advisors"], "status"), ["done", "stopped", "stopped"], "{view}");
    assert_eq!(view["advisors"][1]["text"], "one two ", "{view}");
    let synthesis = &view["syntheses"][0];
    assert_eq!(synthesis["instruction"], "in French");
    let aloud = "From 1 of 3 advisors. Missing: Critic (had not finished), \
                 Analyst (had not finished).";
    assert_eq!(synthesis["degraded"], aloud);
    let late = |all: &[Recorded]| all.iter().filter(|request| is_dropped(request)).count();
    assert_eq!(late(&app.scripted.wait_until(|all| late(all) == 2).await), 2);
    let asked = app.scripted.requests().pop().unwrap().prompt;
    assert!(asked.contains("in French") && !asked.contains("one two"), "{asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn resynthesize_adds_a_numbered_synthesis_and_asks_no_advisor() {
    let app = TestApp::start(canned()).await;
    let board = app.triad("Again?").await;
    let first = app.until_status(&board, "closed").await;
    let asked = app.scripted.requests().len();

    let body = json!({ "instruction": "for a board of directors", "model": "anthropic/z" });
    app.command(&board, "resynthesize", body).await;
    let view = app.until_status(&board, "closed").await;
    assert_eq!(pick(&view["syntheses"], "number"), [1, 2]);
    assert_eq!(view["syntheses"][0], first["syntheses"][0]);
    assert_eq!(view["advisors"], first["advisors"]);
    assert_eq!(view["syntheses"][1]["model"], "anthropic/z");
    assert_eq!(view["syntheses"][1]["instruction"], "for a board of directors");
    let requests = app.scripted.requests();
    assert_eq!(requests.len(), asked + 1);
    assert!(requests[asked].prompt.contains("for a board of directors"));
    app.assert_attempts_match_requests(&board).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_asks_one_advisor_again_and_a_synthesis_follows() {
    let app = TestApp::start(canned()).await;
    let board = app.triad("Once more?").await;
    app.until_status(&board, "closed").await;
    let view = app.command(&board, "advisors/2/retry", json!({ "model": "openai/d" })).await;
    assert_eq!(pick(&view["advisors"], "status"), ["done", "answering", "done"], "{view}");
    let view = app.until_status(&board, "closed").await;
    assert_eq!(view["advisors"][1]["model"], "openai/d");
    assert_eq!(view["advisors"][1]["callId"], "advisor/2#2");
    assert_eq!(pick(&view["syntheses"], "number"), [1, 2]);
    assert_eq!(app.scripted.requests().len(), 4 + 2);
    // What was said before stays, and the first synthesis still names it.
    let earlier = &view["advisors"][1]["earlier"];
    assert_eq!(pick(earlier, "callId"), ["advisor/2#1"]);
    assert_eq!(pick(earlier, "model"), ["ollama/b"]);
    assert!(earlier[0]["text"].as_str().is_some_and(|text| !text.is_empty()), "{view}");
    assert_eq!(view["advisors"][0].get("earlier"), None);
    for (number, tries) in [(0, [1, 1, 1]), (1, [1, 2, 1])] {
        assert_eq!(pick(&view["syntheses"][number]["contributions"], "try"), tries);
    }

    let (status, body) = app.post(&board.at("advisors/9/retry"), &json!({})).await;
    assert_eq!((status, &body["error"]["code"]), (404, &json!("not-found")));
    let (status, _) = app.post(&board.at("advisors/first/retry"), &json!({})).await;
    assert_eq!(status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_model_takes_over_from_one_that_is_being_asked() {
    let gate = Gate::new();
    let app = TestApp::start(halfway(&gate)).await;
    let board = app.triad("Instead?").await;
    until_halfway(&app, &board, 3).await;
    let other = json!({ "model": "ollama/d" });
    let view = app.command(&board, "advisors/2/retry", other.clone()).await;
    assert_eq!(pick(&view["advisors"], "status"), ["answering"; 3], "{view}");
    let (status, told) = app.post(&board.at("advisors/2/retry"), &other).await;
    assert_eq!((status, &told["error"]["code"]), (409, &json!("not-now")), "{told}");
    gate.release();
    let view = app.until_status(&board, "closed").await;
    assert_eq!(view["advisors"][1]["model"], "ollama/d");
    let earlier = &view["advisors"][1]["earlier"][0];
    assert_eq!((&earlier["status"], &earlier["text"]), (&json!("stopped"), &json!("one two ")));
    assert_eq!(app.scripted.requests().iter().filter(|one| is_dropped(one)).count(), 1);
    app.assert_attempts_match_requests(&board).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn resume_on_a_running_board_leaves_its_calls_alone() {
    let gate = Gate::new();
    let app = TestApp::start(halfway(&gate)).await;
    let board = app.triad("Going?").await;
    until_halfway(&app, &board, 3).await;
    for _ in 0..3 {
        let view = app.command(&board, "resume", json!({})).await;
        assert_eq!(view["status"], "answering");
    }
    gate.release();
    app.until_status(&board, "closed").await;
    assert_eq!(app.scripted.requests().len(), 4);
    app.assert_attempts_match_requests(&board).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn resume_between_two_attempts_does_not_lose_the_call() {
    let failing = Reply::canned().with_fault(plenary_scripted::Fault::ServerError).first(1);
    let (app, clock) = TestApp::with_clock(Script::new(failing)).await;
    let seats = json!([{ "role": "expert", "model": "ollama/a" }]);
    let board = app.convene(&json!({ "prompt": "Again?", "advisors": seats })).await;
    let pause = Duration::from_millis(1)..=Duration::from_secs(1);
    clock.until_asleep(1, pause).await;
    app.command(&board, "resume", json!({})).await;
    clock.advance(Duration::from_secs(1));
    app.until_status(&board, "closed").await;
    app.assert_attempts_match_requests(&board).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_replies_as_an_advisor() {
    let app = TestApp::start(canned()).await;
    let body = json!({
        "prompt": "And you?",
        "advisors": [
            { "role": "critic", "person": "Ada" },
            { "role": "analyst", "model": "ollama/a" },
        ],
    });
    let board = app.convene(&body).await;
    let view = app.until(&board, |view| view["advisors"][1]["status"] == "done").await;
    assert_eq!(view["status"], "answering", "{view}");
    assert_eq!(view["advisors"][0]["status"], "waiting", "{view}");
    assert_eq!(view["advisors"][0]["person"], "Ada", "{view}");

    let (status, body) = app.post(&board.at("reply"), &json!({ "text": "  " })).await;
    assert_eq!((status, &body["error"]["fields"][0]["field"]), (422, &json!("text")));
    let reply = json!({ "text": "I would wait a year." });
    let (status, first) = app.post_with_key(&board.at("reply"), "reply-1", &reply).await;
    assert_eq!(status, 200, "{first}");
    let view = app.until_status(&board, "closed").await;
    assert_eq!(view["advisors"][0]["text"], "I would wait a year.", "{view}");
    assert!(app.scripted.requests()[1].prompt.contains("I would wait a year."));

    // The same request again is the same reply; another one comes too late.
    let (status, again) = app.post_with_key(&board.at("reply"), "reply-1", &reply).await;
    assert_eq!(status, 200, "{again}");
    let (status, late) = app.post(&board.at("reply"), &reply).await;
    assert_eq!(status, 409, "{late}");
    assert_eq!(late["error"]["state"], "closed", "{late}");
    assert!(late["error"]["allowed"].as_array().unwrap().contains(&json!("resynthesize")));
    let (status, late) = app.post(&board.at("reply"), &json!({"advisor": 1, "text": "x"})).await;
    assert_eq!((status, &late["error"]["state"]), (409, &json!("closed")), "{late}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_persons_say_which_seat_they_mean_and_a_deadline_passes() {
    let (app, clock) = TestApp::with_clock(canned()).await;
    let body = json!({
        "prompt": "Both of you?",
        "advisors": [
            { "role": "critic", "person": "Ada" },
            { "role": "analyst", "person": "Ben", "replyWithinSeconds": 90 },
        ],
        "synthesizer": "ollama/a",
    });
    let board = app.convene(&body).await;
    let (status, body) = app.post(&board.at("reply"), &json!({ "text": "Yes." })).await;
    assert_eq!(status, 422, "{body}");
    assert_eq!(body["error"]["fields"][0]["field"], "advisor");
    app.command(&board, "reply", json!({ "text": "Yes.", "advisor": 1 })).await;
    clock.until_asleep(1, Duration::from_secs(89)..=Duration::from_secs(90)).await;
    clock.advance(Duration::from_secs(90));
    let view = app.until_status(&board, "closed").await;
    assert_eq!(view["advisors"][1]["error"]["kind"], "timedOut", "{view}");
    assert_eq!(view["syntheses"][0]["absent"][0]["why"], "timed out", "{view}");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_quorum_and_the_grace_time_a_straggler_is_stopped() {
    let gate = Gate::new();
    let late = Reply::text("one two three four").gate(2, &gate);
    let (app, clock) = TestApp::with_clock(canned().when(When::model("c"), late)).await;
    let body = json!({
        "prompt": "Who waits?",
        "models": ["ollama/a", "ollama/b", "ollama/c"],
        "quorum": { "need": 2, "graceSeconds": 20 },
    });
    let board = app.convene(&body).await;
    let view = app.until(&board, |view| view["quorum"]["until"].is_string()).await;
    assert_eq!(view["status"], "answering", "{view}");
    assert_eq!(view["quorum"]["graceSeconds"], 20.0);
    gate.reached(1).await;
    let grace = Duration::from_secs(19)..=Duration::from_secs(20);
    tokio::time::timeout(SAFETY, clock.until_asleep(1, grace)).await.unwrap();
    clock.advance(Duration::from_secs(19));
    assert_eq!(app.board(&board).await["status"], "answering");
    clock.advance(Duration::from_secs(1));
    let view = app.until_status(&board, "closed").await;
    assert_eq!(pick(&view["advisors"], "status"), ["done", "done", "stopped"], "{view}");
    let aloud = "From 2 of 3 advisors. Missing: Analyst (had not finished).";
    assert_eq!(view["syntheses"][0]["degraded"], aloud);
    let dropped = |all: &[Recorded]| all.iter().any(is_dropped);
    assert!(dropped(&app.scripted.wait_until(dropped).await));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_in_the_wrong_state_names_the_state_and_what_is_allowed() {
    let gate = Gate::new();
    let app = TestApp::start(halfway(&gate)).await;
    let board = app.triad("When?").await;
    until_halfway(&app, &board, 3).await;
    let check = async |command: &str, state: &str, allowed: Value| {
        let (status, body) = app.post(&board.at(command), &json!({})).await;
        let error = &body["error"];
        assert_eq!(status, 409, "{command}: {body}");
        assert_eq!(error["code"], "not-now", "{command}: {body}");
        assert_eq!(error["state"], state, "{command}: {body}");
        assert_eq!(error["allowed"], allowed, "{command}: {body}");
        assert!(!error["hint"].as_str().unwrap().is_empty());
        assert_eq!(app.board(&board).await["allowed"], allowed);
    };
    let running = json!(["stop", "export"]);
    check("synthesize", "answering", running.clone()).await;
    check("resynthesize", "answering", running.clone()).await;
    check("advisors/1/retry", "answering", running).await;
    gate.release();
    app.until_status(&board, "closed").await;
    let closed = json!(["resynthesize", "retry", "followUp", "openBallot", "export"]);
    check("stop", "closed", closed.clone()).await;
    check("resume", "closed", closed.clone()).await;
    check("synthesize", "closed", closed).await;
    let (_, body) = app.post(&board.at("synthesize"), &json!({})).await;
    assert!(body["error"]["message"].as_str().unwrap().contains("resynthesize"), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn removing_a_running_board_drops_its_calls_and_tells_readers() {
    let gate = Gate::new();
    let app = TestApp::start(halfway(&gate)).await;
    let board = app.triad("Remove?").await;
    until_halfway(&app, &board, 3).await;
    let mut events = app.events(&board.at("events"), None).await;
    events.until("convened").await;
    let (status, _) = app.delete(&board.path()).await;
    assert_eq!(status, 200);
    events.until("removed").await;
    assert!(events.next().await.is_none());
    let all_dropped = |all: &[Recorded]| all.iter().all(is_dropped);
    assert!(all_dropped(&app.scripted.wait_until(all_dropped).await));
    for path in ["", "/export", "/events"] {
        let (status, body) = app.get(&format!("{}{path}", board.path())).await;
        assert_eq!((status, &body["error"]["code"]), (404, &json!("not-found")), "{path}");
    }
    assert_eq!(app.delete(&board.path()).await.0, 404);
    assert_eq!(app.post(&board.at("stop"), &json!({})).await.0, 404);
    assert_eq!(app.get("/api/sessions").await.1["meta"]["total"], 0);
    app.until_metric("plenary_sessions_loaded", |rooms| rooms == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exported_board_can_be_imported_and_exports_the_same() {
    let gate = Gate::new();
    let late = Reply::text("one two three four").gate(2, &gate);
    let app = TestApp::start(canned().when(When::model("c"), late)).await;
    let board = app.triad("Export?").await;
    until_halfway(&app, &board, 1).await;
    app.until(&board, |view| pick(&view["advisors"], "status")[..2] == ["done", "done"]).await;
    app.command(&board, "synthesize", json!({})).await;
    app.until_status(&board, "closed").await;

    let (status, first) = app.get(&board.at("export?format=json")).await;
    assert_eq!(status, 200);
    let (status, imported) = app.post("/api/boardrooms/import", &first).await;
    assert_eq!(status, 201, "{imported}");
    assert_eq!(imported["data"]["importedFrom"], json!(board.id));
    let copy = Board { id: imported["data"]["id"].as_str().unwrap().to_owned() };
    assert_ne!(copy.id, board.id);
    let (_, second) = app.get(&copy.at("export")).await;
    assert_eq!(bare(second), bare(first));
    assert_eq!(app.scripted.requests().len(), 4, "an import asks nobody");

    // The copy is a board like any other.
    app.command(&copy, "resynthesize", json!({})).await;
    app.until_status(&copy, "closed").await;
}

#[tokio::test]
async fn an_imported_board_is_marked_wherever_it_shows() {
    let app = TestApp::start(canned()).await;
    let board = app.triad("Should we?").await;
    app.until_status(&board, "closed").await;
    let (_, mut record) = app.get(&board.at("export?format=json")).await;
    assert_eq!(record["boardroom"]["imported"], json!(null));
    // Whoever edits a record can leave out where it is from.
    record.as_object_mut().unwrap().remove("boardroom");
    let (status, imported) = app.post("/api/boardrooms/import", &record).await;
    assert_eq!(status, 201, "{imported}");
    let view = &imported["data"];
    assert_eq!((&view["imported"], &view["importedFrom"]), (&json!(true), &json!(null)));
    let id = view["id"].as_str().unwrap();

    let (_, listed) = app.get("/api/sessions").await;
    assert_eq!(pick(&listed["data"], "imported"), [json!(true), json!(null)]);
    for detail in ["brief", "full"] {
        let (_, report) = app.get(&format!("/api/sessions/{id}?detail={detail}")).await;
        assert_eq!(report["data"]["imported"], true, "{report}");
        let result = report["data"]["result"].as_str().unwrap();
        let at = view["importedAt"].as_str().unwrap();
        let note = format!("*Imported at {at}. Not verified");
        assert!(result.contains(&note), "{result}");
    }
    let (_, again) = app.get(&format!("/api/boardrooms/{id}/export?format=json")).await;
    assert_eq!(again["boardroom"]["imported"], true);
}

#[tokio::test]
async fn a_forged_record_is_refused_by_its_place_and_in_few_words() {
    let app = TestApp::start(canned()).await;
    let board = app.triad("Should we?").await;
    app.until_status(&board, "closed").await;
    let (_, record) = app.get(&board.at("export?format=json")).await;
    let refused = async |change: &dyn Fn(&mut Value)| {
        let mut record = record.clone();
        record["events"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .for_each(|one| change(&mut one["event"]));
        let (status, answer) = app.post("/api/boardrooms/import", &record).await;
        assert_eq!(status, 422, "{answer}");
        answer["error"].clone()
    };
    let answered = |event: &Value| event["type"] == "advisorAnswered" && event["seat"] == 1;
    let error = refused(&|event| {
        if answered(event) {
            event["answer"]["text"] = "a".repeat(3_000_000).into();
        }
    })
    .await;
    let field = error["fields"][0]["field"].as_str().unwrap().to_owned();
    assert!(field.starts_with("events[") && field.ends_with("].event.answer.text"), "{field}");
    let error = refused(&|event| {
        if event["type"] == "synthesized" {
            event["verdict"]["text"] = "## Consensus\nBribe them.".into();
        }
    })
    .await;
    let problem = "the verdict does not match its answer";
    assert_eq!(error["fields"][0]["problem"], problem);
    let name = "x".repeat(1_500);
    let error = refused(&|event| event["type"] = name.clone().into()).await;
    assert!(error.to_string().len() < 32 * 1_500, "{error}");
}

#[tokio::test]
async fn an_error_names_a_few_of_very_many_wrong_fields() {
    let app = TestApp::start(canned()).await;
    let events = vec![json!({"event": {"type": "nothing"}}); 2_000];
    let record = json!({"format": "plenary.boardroom", "formatVersion": 1, "events": events});
    let (status, answer) = app.post("/api/boardrooms/import", &record).await;
    let message = "2000 fields are wrong: 32 are named here, and 1968 more are not.";
    assert_eq!((status, &answer["error"]["message"]), (422, &json!(message)));
    assert_eq!(answer["error"]["fields"].as_array().map(Vec::len), Some(32));

    let many = json!({"topic": "Tea?", "participants": vec![json!({"model": "no/such"}); 100_000]});
    let (status, answer) = app.post("/api/discussions", &many).await;
    assert_eq!((status, answer.to_string().len() < 16 * 1024), (422, true), "{answer}");
    let members = vec![json!({"name": " "}); 100_000];
    let many = json!({"name": "tea", "charter": "Tea?", "members": members});
    let (status, answer) = app.post("/api/councils", &many).await;
    assert_eq!((status, answer.to_string().len() < 16 * 1024), (422, true), "{answer}");
    let many = json!({"prompt": "Tea?", "advisors": vec![json!({"role": "critic"}); 100_000]});
    let (status, answer) = app.post("/api/boardrooms", &many).await;
    assert_eq!((status, answer.to_string().len() < 16 * 1024), (422, true), "{answer}");
}

/// An export without ids, times, actors and the mark of the import.
fn bare(mut export: Value) -> Value {
    export["exportedAt"].take();
    for key in ["id", "version", "imported", "importedAt", "importedFrom"] {
        export["boardroom"].as_object_mut().unwrap().remove(key);
    }
    for list in ["advisors", "syntheses"] {
        for part in export["boardroom"][list].as_array_mut().unwrap() {
            let part = part.as_object_mut().unwrap();
            part.retain(|key, _| key != "startedAt" && key != "endedAt");
        }
    }
    let events = export["events"].as_array_mut().unwrap();
    events.retain(|event| event["event"]["type"] != "imported");
    for event in events {
        event["at"].take();
        event["actor"].take();
        if event["event"]["type"] == "convened" {
            event["event"]["nonce"].take();
        }
    }
    export
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_exports_as_markdown() {
    let app = TestApp::start(canned()).await;
    let board = app.triad("To read?").await;
    app.until_status(&board, "closed").await;
    let url = format!("{}{}", app.url, board.at("export?format=markdown"));
    let response = app.http.get(url).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/markdown; charset=utf-8");
    let name = "attachment; filename=\"to-read.md\"";
    assert_eq!(response.headers()["content-disposition"], name);
    let text = response.text().await.unwrap();
    for part in ["# To read?", "## Question", "# Critic (ollama/b)", "# Verdict v1 (ollama/a)"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}
