//! The ballot, from the synthesis to the last vote.

use plenary_scripted::{Fault, Gate, Reply, When};
use serde_json::{Value, json};

use crate::support::{Board, TestApp, Texts, WIRES, canned, pick};

/// Only the words that ask for votes hold this.
const ASKS_FOR_VOTES: &str = "Vote now on the points";

async fn voting(app: &TestApp, advisors: Value) -> Board {
    app.convene(&json!({ "prompt": "Shall we?", "advisors": advisors, "ballot": true })).await
}

fn models(wire: &str) -> Value {
    json!([
        { "role": "advocate", "model": format!("{wire}/a") },
        { "role": "critic", "model": format!("{wire}/b") },
    ])
}

fn with_person() -> Value {
    json!([{ "role": "critic", "person": "Ada" }, { "role": "expert", "model": "ollama/b" }])
}

#[tokio::test(flavor = "multi_thread")]
async fn the_advisors_vote_over_every_wire() {
    let app = TestApp::start(canned()).await;
    for wire in WIRES {
        let board = voting(&app, models(wire)).await;
        let view = app.until_status(&board, "closed").await;
        assert_eq!(view["ballot"], true);
        let synthesis = &view["syntheses"][0];
        let vote = |advisor: u8, vote: &str, reason: &str| json!({ "advisor": advisor, "vote": vote, "reason": reason });
        let held = "It says what I hold, and it can be undone.";
        let costs = "It leaves out what it would cost us to be wrong.";
        let trial = "Nobody has measured this yet, and a trial would tell.";
        let expected = json!([
            { "number": 1, "section": "agreement", "text": "The goal is worth the effort.",
              "votes": [vote(1, "accept", held), vote(2, "accept", held)],
              "accept": 2, "reject": 0, "defer": 0 },
            { "number": 2, "section": "agreement",
              "text": "The first step should be cheap and measured.",
              "votes": [vote(1, "reject", costs), vote(2, "defer", trial)],
              "accept": 0, "reject": 1, "defer": 1 },
            { "number": 3, "section": "divergence",
              "text": "How fast to go: some would start now, some after a trial.",
              "votes": [vote(1, "reject", costs), vote(2, "accept", held)],
              "accept": 1, "reject": 1, "defer": 0 },
            { "number": 4, "section": "recommendation",
              "text": "Start with a trial of two weeks, name one person who decides, and look \
                       at the numbers before the next step.",
              "votes": [vote(1, "defer", trial), vote(2, "defer", trial)],
              "accept": 0, "reject": 0, "defer": 2 },
        ]);
        assert_eq!(synthesis["points"], expected, "{wire}: {synthesis:#}");
        let paper = |advisor: u8, name: &str| {
            json!({ "advisor": advisor, "name": name, "round": 1, "try": 1, "status": "done",
                    "notVoted": [], "callId": format!("ballot/1/{advisor}#1") })
        };
        let papers = json!([paper(1, "Advocate"), paper(2, "Critic")]);
        let mut ballots = synthesis["ballots"].clone();
        for ballot in ballots.as_array_mut().unwrap() {
            let usage = ballot.as_object_mut().unwrap().remove("usage").unwrap();
            assert!(usage["inputTokens"].as_u64() > Some(0), "{wire}: {usage}");
        }
        assert_eq!(ballots, papers, "{wire}");
        assert_eq!(synthesis["agreement"], json!([{ "a": 1, "b": 2, "same": 2, "of": 4 }]));
        let names = app.names(&board).await;
        assert_eq!(names[5..], ["ballotBegan", "ballotCast", "ballotCast"], "{names:?}");
        app.assert_attempts_match_requests(&board).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_without_the_ballot_has_no_votes() {
    let app = TestApp::start(canned()).await;
    let board = app.triad("No votes?").await;
    let view = app.until_status(&board, "closed").await;
    assert_eq!(view["ballot"], false);
    let synthesis = &view["syntheses"][0];
    for list in ["points", "ballots", "agreement"] {
        assert_eq!(synthesis[list], json!([]), "{synthesis}");
    }
    assert!(app.scripted.requests().iter().all(|asked| !asked.prompt.contains(ASKS_FOR_VOTES)));
}

#[tokio::test(flavor = "multi_thread")]
async fn ballots_that_fail_are_told_and_the_board_closes() {
    let fault = Reply::fault(Fault::Unauthorized);
    let script = canned()
        .when(When::model("a").and_says(ASKS_FOR_VOTES), fault)
        .when(When::model("b").and_says(ASKS_FOR_VOTES), Reply::text("Ask me tomorrow."));
    let app = TestApp::start(script).await;
    let board = voting(&app, models("openai")).await;
    let view = app.until_status(&board, "closed").await;
    let synthesis = &view["syntheses"][0];
    assert_eq!(pick(&synthesis["ballots"], "status"), ["failed", "failed"], "{synthesis}");
    let unread = "The votes could not be read. It holds no votes.";
    assert_eq!(synthesis["ballots"][1]["problem"], unread);
    assert!(synthesis["ballots"][0]["problem"].as_str().unwrap().contains("key"), "{synthesis}");
    assert_eq!(pick(&synthesis["points"], "votes"), vec![json!([]); 4]);
    assert_eq!(synthesis["agreement"], json!([]));
    let (_, report) = app.get(&format!("/api/sessions/{}", board.session())).await;
    let message = report["data"]["progress"]["message"].as_str().unwrap();
    assert!(message.ends_with("the verdict is ready, and 0 of 2 have voted on it."), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_synthesis_without_points_says_that_there_is_no_ballot() {
    let script = canned().when(When::says("## Consensus"), Reply::text("Just do it."));
    let app = TestApp::start(script).await;
    let board = voting(&app, models("ollama")).await;
    let view = app.until_status(&board, "closed").await;
    let reason = "The verdict does not have the four sections, so there are no points to vote on.";
    assert_eq!(view["syntheses"][0]["noBallot"], reason, "{view}");
    assert_eq!(app.names(&board).await.last().map(String::as_str), Some("ballotSkipped"));
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_ends_the_ballot_keeps_the_synthesis_and_resume_goes_on_with_it() {
    let gate = Gate::new();
    let script =
        canned().when(When::model("b").and_says(ASKS_FOR_VOTES), Reply::canned().gate(2, &gate));
    let app = TestApp::start(script).await;
    let board = voting(&app, models("ollama")).await;
    let mut events = app.events(&board.at("events"), None).await;
    let mut texts = Texts::default();
    while texts.of("ballot/1/2#1").is_empty() {
        texts.take(&events.next().await.unwrap());
    }
    let status = |view: &Value| view["syntheses"][0]["ballots"][0]["status"].clone();
    let view = app.until(&board, |view| status(view) == "done").await;
    assert_eq!(view["status"], "balloting", "{view}");
    assert_eq!(view["allowed"], json!(["stop", "export"]));
    let (_, listed) = app.get("/api/sessions?status=balloting").await;
    assert_eq!(listed["meta"]["total"], 1, "{listed}");
    let (status, refused) = app.post(&board.at("resynthesize"), &json!({})).await;
    assert_eq!((status, &refused["error"]["code"]), (409, &json!("not-now")), "{refused}");

    let view = app.command(&board, "stop", json!({})).await;
    assert_eq!(view["status"], "stopped", "{view}");
    let synthesis = &view["syntheses"][0];
    assert_eq!(synthesis["status"], "done");
    assert_eq!(pick(&synthesis["ballots"], "status"), ["done", "stopped"], "{synthesis}");
    gate.release();
    let view = app.command(&board, "resume", json!({})).await;
    assert_eq!(view["syntheses"][0]["ballots"][1]["callId"], "ballot/1/2#2", "{view}");
    let view = app.until_status(&board, "closed").await;
    assert_eq!(view["syntheses"].as_array().unwrap().len(), 1, "{view}");
    assert_eq!(view["syntheses"][0]["agreement"][0]["of"], 4);
    let names = app.names(&board).await;
    let last = ["stopped", "ballotStopped", "ballotResumed", "ballotCast"];
    assert_eq!(names[names.len() - 4..], last, "{names:?}");
    app.assert_attempts_match_requests(&board).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_synthesis_is_voted_on_anew() {
    let app = TestApp::start(canned()).await;
    let board = voting(&app, models("gemini")).await;
    let first = app.until_status(&board, "closed").await;
    app.command(&board, "resynthesize", json!({})).await;
    let view = app.until_status(&board, "closed").await;
    assert_eq!(view["syntheses"][0], first["syntheses"][0]);
    assert_eq!(pick(&view["syntheses"][1]["ballots"], "status"), ["done", "done"]);
    assert_eq!(view["syntheses"][1]["points"], first["syntheses"][0]["points"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_votes_by_hand() {
    let app = TestApp::start(canned()).await;
    let board = voting(&app, with_person()).await;
    let vote = |votes: Value| json!({ "votes": votes });
    let one = || vote(json!([{ "point": 1, "vote": "defer", "reason": "Let me see." }]));
    let (status, early) = app.post(&board.at("ballot"), &one()).await;
    assert_eq!(status, 409, "{early}");
    assert_eq!(early["error"]["message"], "This board is not waiting for votes.");
    app.command(&board, "reply", json!({ "text": "I would wait." })).await;
    let status =
        |view: &Value, place: usize| view["syntheses"][0]["ballots"][place]["status"].clone();
    let view = app.until(&board, |view| status(view, 1) == "done").await;
    assert_eq!((&view["status"], status(&view, 0)), (&json!("balloting"), json!("waiting")));
    assert_eq!(view["allowed"], json!(["stop", "ballot", "export"]));

    for (body, field) in [
        (vote(json!([])), "votes"),
        (vote(json!([{ "point": 5, "vote": "accept" }])), "votes[0].point"),
        (
            vote(json!([{ "point": 1, "vote": "accept", "reason": "x".repeat(1001) }])),
            "votes[0].reason",
        ),
    ] {
        let (status, refused) = app.post(&board.at("ballot"), &body).await;
        assert_eq!(status, 422, "{refused}");
        assert_eq!(refused["error"]["fields"][0]["field"], field, "{refused}");
    }
    let path = board.at("ballot");
    let (status, voted) = app.post_with_key(&path, "k", &one()).await;
    assert_eq!((status, &voted["data"]["status"]), (200, &json!("closed")), "{voted}");
    let synthesis = &voted["data"]["syntheses"][0];
    assert_eq!(synthesis["ballots"][0]["notVoted"], json!([2, 3, 4]), "{synthesis}");
    let by_hand = json!({ "advisor": 1, "vote": "defer", "reason": "Let me see." });
    assert_eq!(synthesis["points"][0]["votes"][0], by_hand, "{synthesis}");
    assert_eq!(synthesis["agreement"], json!([{ "a": 1, "b": 2, "same": 0, "of": 1 }]));
    let (status, again) = app.post_with_key(&path, "k", &one()).await;
    assert_eq!((status, &again["data"]["version"]), (200, &voted["data"]["version"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_does_not_vote_in_time_is_left_out() {
    let (app, clock) = TestApp::with_clock(canned()).await;
    let mut seats = with_person();
    seats[0]["replyWithinSeconds"] = json!(60);
    let board = voting(&app, seats).await;
    app.command(&board, "reply", json!({ "text": "I would wait." })).await;
    let voted = |view: &Value| view["syntheses"][0]["ballots"][1]["status"] == "done";
    let view = app.until(&board, voted).await;
    assert!(view["syntheses"][0]["ballots"][0]["voteBy"].is_string(), "{view}");
    clock.advance(std::time::Duration::from_secs(61));
    let view = app.until_status(&board, "closed").await;
    assert_eq!(
        view["syntheses"][0]["ballots"][0]["problem"], "No votes arrived in time.",
        "{view}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_does_not_vote_is_passed_over() {
    let app = TestApp::start(canned()).await;
    let board = voting(&app, with_person()).await;
    app.command(&board, "reply", json!({ "text": "I would wait." })).await;
    let voted = |view: &Value| view["syntheses"][0]["ballots"][1]["status"] == "done";
    app.until(&board, voted).await;
    let view = app.command(&board, "advisors/1/stop", json!({})).await;
    assert_eq!(view["status"], "closed", "{view}");
    assert_eq!(pick(&view["syntheses"][0]["ballots"], "status"), ["stopped", "done"]);
    let (_, report) = app.get(&format!("/api/sessions/{}", board.session())).await;
    let message = report["data"]["progress"]["message"].as_str().unwrap();
    assert!(message.ends_with("and 1 of 2 have voted on it."), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_board_is_put_to_the_vote_later() {
    let app = TestApp::start(canned()).await;
    let board = app.triad("Votes after all?").await;
    app.until_status(&board, "closed").await;
    let view = app.command(&board, "ballot/open", json!({})).await;
    assert_eq!(view["status"], "balloting", "{view}");
    let view = app.until_status(&board, "closed").await;
    assert_eq!(pick(&view["syntheses"][0]["ballots"], "status"), ["done", "done", "done"]);
    assert_eq!(view["ballot"], false, "what is convened without votes stays so");
    let (status, again) = app.post(&board.at("ballot/open"), &json!({})).await;
    assert_eq!((status, &again["error"]["code"]), (409, &json!("not-now")), "{again}");
    app.assert_attempts_match_requests(&board).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn votes_go_out_and_in_again() {
    let app = TestApp::start(canned()).await;
    let board = voting(&app, models("anthropic")).await;
    let view = app.until_status(&board, "closed").await;
    let (_, exported) = app.get(&board.at("export")).await;
    let (status, taken) = app.post("/api/boardrooms/import", &exported).await;
    assert_eq!(status, 201, "{taken}");
    assert_eq!(taken["data"]["ballot"], true);
    // A record that comes from elsewhere has no times.
    let votes = |view: &Value| {
        ["points", "ballots", "agreement"].map(|part| view["syntheses"][0][part].clone())
    };
    assert_eq!(votes(&taken["data"]), votes(&view));
    let markdown = app.http.get(format!("{}{}", app.url, board.at("export?format=markdown")));
    let markdown = markdown.send().await.unwrap().text().await.unwrap();
    let row = "| 1 | The goal is worth the effort. | accept | accept | 2 | 0 | 0 |";
    assert!(markdown.contains(row), "{markdown}");
}
