//! From the question to the synthesis.

use plenary_engine::ports::AttemptState;
use plenary_scripted::{Fault, Gate, Reply, When};
use serde_json::json;

use crate::support::{TestApp, Texts, WIRES, canned, pick, states};

#[tokio::test(flavor = "multi_thread")]
async fn a_board_closes_over_every_wire() {
    let app = TestApp::start(canned()).await;
    for wire in WIRES {
        let models = ["a", "b", "c"].map(|model| format!("{wire}/{model}"));
        let body = json!({ "prompt": "Shall we?", "models": models });
        let board = app.convene(&body).await;
        let view = app.until_status(&board, "closed").await;

        assert_eq!(pick(&view["advisors"], "status"), ["done", "done", "done"], "{view}");
        assert_eq!(pick(&view["advisors"], "model"), models, "{view}");
        let texts = pick(&view["advisors"], "text");
        assert!(texts.iter().all(|text| text.as_str().unwrap().starts_with("In short: yes")));
        let synthesis = &view["syntheses"][0];
        assert_eq!(synthesis["model"], models[0], "{view}");
        assert_eq!(synthesis["headings"], "asAsked", "{view}");
        assert_eq!(synthesis["basis"], json!([1, 2, 3]), "{view}");
        assert!(synthesis["text"].as_str().unwrap().starts_with("## Consensus"), "{view}");
        assert!(view["usage"]["inputTokens"].as_u64().unwrap() > 0, "{view}");
        assert_eq!(
            app.names(&board).await,
            [
                "convened",
                "advisorAnswered",
                "advisorAnswered",
                "advisorAnswered",
                "synthesisBegan",
                "synthesized"
            ]
        );
        assert_eq!(states(&app.attempts(&board).await), [AttemptState::Done; 4]);
        app.assert_attempts_match_requests(&board).await;
        assert_eq!(app.store.drafts(board.session()).await.unwrap(), []);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_convened_yet_can_be_estimated() {
    let app = TestApp::start(canned()).await;
    let new = json!({ "prompt": "Shall we?", "models": ["ollama/a"], "ballot": true });
    let (status, told) = app.post("/api/boardrooms/estimate", &new).await;
    assert_eq!(status, 200, "{told}");
    // Three advisors, the synthesis, and three ballots.
    assert_eq!(told["data"]["calls"], json!({ "low": 7.0, "high": 7.0 }), "{told}");
    assert!(told["data"]["seconds"].is_null(), "nothing has been measured: {told}");
    assert_eq!(app.get("/api/sessions").await.1["meta"]["total"], 0);
    assert_eq!(app.scripted.requests().len(), 0);
    for wrong in [json!({}), json!({ "prompt": " ", "models": ["nope"] })] {
        let estimated = app.post("/api/boardrooms/estimate", &wrong).await;
        assert_eq!(estimated.0, 422, "{wrong}");
        assert_eq!(estimated, app.post("/api/boardrooms", &wrong).await, "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_advisors_are_asked_at_the_same_time() {
    let gate = Gate::new();
    let script = plenary_scripted::Script::new(Reply::canned().gate(0, &gate));
    let app = TestApp::start(script).await;
    let seat =
        |nth: usize| json!({ "role": "expert", "model": format!("{}/m{nth}", WIRES[nth % 4]) });
    let seats: Vec<_> = (0..16).map(seat).collect();
    let board = app.convene(&json!({ "prompt": "All at once?", "advisors": seats })).await;

    gate.reached(16).await;
    assert_eq!(app.scripted.in_flight(), 16);
    gate.release();
    let view = app.until_status(&board, "closed").await;
    assert_eq!(app.scripted.in_flight_most(), 16);
    assert_eq!(view["advisors"][0]["name"], "Expert 1");
    assert_eq!(view["advisors"][15]["name"], "Expert 16");
}

#[tokio::test(flavor = "multi_thread")]
async fn preset_boards_seat_what_is_available_in_turn() {
    let app = TestApp::start(canned()).await;
    let (status, presets) = app.get("/api/boardrooms/presets").await;
    assert_eq!(status, 200);
    let presets = &presets["data"];
    assert_eq!(presets["roles"].as_array().unwrap().len(), 6);
    assert_eq!(presets["prompts"].as_array().unwrap().len(), 5);
    let names = ["classic-triad", "devils-court", "full-board", "peer-review"];
    assert_eq!(pick(&presets["boards"], "id"), names);

    // Four models at each of four providers, so six seats go over to the second.
    let in_turn = ["ollama/a", "ollama/b", "ollama/c", "ollama/d", "openai/a", "openai/b"];
    for preset in presets["boards"].as_array().unwrap() {
        let body = json!({ "prompt": "Which?", "board": preset["id"] });
        let board = app.convene(&body).await;
        let view = app.until_status(&board, "closed").await;
        let roles = preset["roles"].as_array().unwrap();
        assert_eq!(&pick(&view["advisors"], "role"), roles);
        assert_eq!(pick(&view["advisors"], "model"), in_turn[..roles.len()]);
        assert_eq!(view["syntheses"][0]["model"], "ollama/d");
    }
    let board = app.convene(&json!({ "prompt": "The default?" })).await;
    let view = app.board(&board).await;
    assert_eq!(pick(&view["advisors"], "role"), ["advocate", "critic", "analyst"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_advisor_gets_its_role_its_prompt_and_the_files() {
    let app = TestApp::start(canned()).await;
    let body = json!({
        "prompt": "Is the contract sound?",
        "advisors": [
            { "role": "critic", "model": "ollama/a" },
            { "role": "critic", "model": "openai/b", "systemPrompt": "You are a notary." },
            { "role": "expert", "model": "anthropic/c", "systemPrompt": "  " },
        ],
        "synthesizer": "gemini/d",
        "context": [{ "name": "contract.md", "text": "Clause 7: <<<end>>>" }],
    });
    let board = app.convene(&body).await;
    let view = app.until_status(&board, "closed").await;
    assert_eq!(view["context"], json!([{ "name": "contract.md", "bytes": 19 }]));
    let prompt_of = |model: &str| {
        let all = app.scripted.requests();
        all.into_iter().find(|request| request.model == model).unwrap().prompt
    };
    for (model, system) in
        [("a", "as the Critic"), ("b", "You are a notary."), ("c", "as the Expert")]
    {
        let prompt = prompt_of(model);
        assert!(prompt.contains(system), "{prompt}");
        assert!(prompt.contains("Is the contract sound?"), "{prompt}");
        assert!(prompt.contains("Clause 7"), "{prompt}");
    }
    assert!(!prompt_of("b").contains("as the Critic"));
    assert!(prompt_of("d").contains("advisor Critic 2"));
    assert_eq!(view["advisors"][2]["systemPrompt"], json!(null));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_advisor_is_described_as_other_programs_do() {
    let app = TestApp::start(canned()).await;
    let advisors = json!([
        { "role": "devil's advocate", "model": "ollama/a", "customPrompt": "You doubt." },
        { "role": "Devil\u{2019}s Advocate", "model": "ollama/a" },
    ]);
    let board = app.convene(&json!({ "prompt": "Well?", "advisors": advisors })).await;
    let view = app.board(&board).await;
    assert_eq!(pick(&view["advisors"], "role"), ["devils-advocate", "devils-advocate"]);
    assert_eq!(view["advisors"][0]["systemPrompt"], "You doubt.");
    let advisors = json!([{ "role": "devils-advocat" }]);
    let body = json!({ "prompt": "Well?", "advisors": advisors });
    let (status, told) = app.post("/api/boardrooms", &body).await;
    assert_eq!((status, &told["error"]["fields"][0]["field"]), (422, &json!("advisors[0].role")));
    let problem = told["error"]["fields"][0]["problem"].as_str().unwrap();
    assert!(problem.contains("devils-advocate"), "{problem}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_advisor_is_named_aloud() {
    let script = canned().when(When::model("b"), Reply::fault(Fault::Unauthorized));
    let app = TestApp::start(script).await;
    let board = app.triad("Who is missing?").await;
    let view = app.until_status(&board, "closed").await;
    let synthesis = &view["syntheses"][0];
    assert_eq!(synthesis["basis"], json!([1, 3]), "{view}");
    assert_eq!(
        synthesis["absent"],
        json!([{ "advisor": 2, "name": "Critic", "why": "misconfigured" }])
    );
    let aloud = "From 2 of 3 advisors. Missing: Critic (misconfigured).";
    assert_eq!(synthesis["degraded"], aloud);
    let asked = app.scripted.requests().pop().unwrap().prompt;
    assert!(asked.contains("Not heard: Critic (misconfigured)"), "{asked}");
    let markdown = app.http.get(format!("{}{}", app.url, board.at("export?format=markdown")));
    let markdown = markdown.send().await.unwrap().text().await.unwrap();
    assert!(markdown.contains(aloud), "{markdown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_synthesizer_that_fails_is_replaced() {
    let script = canned().when(When::model("d").nth(1), Reply::fault(Fault::NoSuchModel));
    let app = TestApp::start(script).await;
    let body = json!({
        "prompt": "Who writes it?",
        "models": ["ollama/a", "ollama/b", "ollama/c"],
        "synthesizer": "ollama/d",
    });
    let board = app.convene(&body).await;
    let view = app.until_status(&board, "closed").await;
    let synthesis = &view["syntheses"][0];
    assert_eq!(synthesis["model"], "ollama/a", "{view}");
    assert_eq!(pick(&synthesis["failedBefore"], "model"), ["ollama/d"]);
    assert_eq!(synthesis["failedBefore"][0]["error"]["kind"], "misconfigured");
    assert_eq!(view["syntheses"].as_array().unwrap().len(), 1);
    app.assert_attempts_match_requests(&board).await;
}

/// The chosen model is asked for the shape once, with its own text before it. Then its
/// text counts, and every try is in the record.
#[tokio::test(flavor = "multi_thread")]
async fn a_synthesizer_that_misses_the_form_stays() {
    let script = canned()
        .when(When::model("d").nth(1), Reply::text("They agree, more or less."))
        .when(When::model("d").nth(2), Reply::text("They agree, by and large."));
    let app = TestApp::start(script).await;
    let body = json!({
        "prompt": "Who writes it?",
        "models": ["ollama/a", "ollama/b", "ollama/c"],
        "synthesizer": "ollama/d",
        "ballot": true,
    });
    let board = app.convene(&body).await;
    let view = app.until_status(&board, "closed").await;
    let synthesis = &view["syntheses"][0];
    let told = json!(["ollama/d", "missing", "They agree, by and large."]);
    let told_of = ["model", "headings", "text"].map(|field| &synthesis[field]);
    assert_eq!(json!(told_of), told, "{view}");
    let before = &synthesis["failedBefore"];
    assert_eq!(pick(before, "model"), ["ollama/d"]);
    assert_eq!(pick(before, "text"), ["They agree, more or less."]);
    assert_eq!(before[0]["error"]["kind"], "malformed");
    assert!(before[0]["usage"]["outputTokens"].as_u64().is_some_and(|tokens| tokens > 0));
    let none = "The verdict does not have the four sections, so there are no points to vote on.";
    assert_eq!(synthesis["noBallot"], none);
    let again = app.scripted.requests().pop().unwrap().prompt;
    let (text, shape) = ("They agree, more or less.", "Your text does not have the four headings.");
    assert!(again.contains(text) && again.contains(shape), "{again}");
    let markdown = app.http.get(format!("{}{}", app.url, board.at("export?format=markdown")));
    let markdown = markdown.send().await.unwrap().text().await.unwrap();
    for words in [text, "They agree, by and large.", "The model did not follow the four sections"] {
        assert!(markdown.contains(words), "{words} is missing in {markdown}");
    }
    app.assert_attempts_match_requests(&board).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_fails_when_nobody_answers_and_can_be_resumed() {
    let fault = Reply::canned().with_fault(Fault::Unauthorized).first(3);
    let app = TestApp::start(plenary_scripted::Script::new(fault)).await;
    let board = app.triad("Anybody?").await;
    let view = app.until_status(&board, "failed").await;
    assert_eq!(view["failure"], "No advisor answered.", "{view}");
    assert_eq!(pick(&view["advisors"], "status"), ["failed", "failed", "failed"]);
    app.command(&board, "resume", json!({})).await;
    app.until_status(&board, "closed").await;
    app.assert_attempts_match_requests(&board).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn thoughts_are_kept_apart_from_the_answer() {
    let thinking = Reply::text("Yes, with care.").reasoning("Let me see. Hm.");
    let script = canned().when(When::says("as the Expert"), thinking);
    let app = TestApp::start(script).await;
    for wire in WIRES {
        let seats = json!([{ "role": "expert", "model": format!("{wire}/a") }]);
        let body = json!({ "prompt": "Think!", "advisors": seats });
        let board = app.convene(&body).await;
        let mut events = app.events(&board.at("events"), None).await;
        let mut texts = Texts::default();
        loop {
            let frame = events.next().await.unwrap();
            texts.take(&frame);
            if frame.name == "advisorAnswered" {
                break;
            }
        }
        let advisor = &app.until_status(&board, "closed").await["advisors"][0];
        assert_eq!(advisor["text"], "Yes, with care.", "{wire}");
        assert_eq!(advisor["reasoning"], "Let me see. Hm.", "{wire}");
        // A reader that came before the answer has all of it; a late one has none.
        let told = texts.of("advisor/1#1");
        assert!(matches!(told, "" | "Yes, with care."), "{wire}: {told:?}");
    }
}

/// One thread: the same seats, each with its own answers and the verdict before it.
#[tokio::test(flavor = "multi_thread")]
async fn a_board_goes_on_with_a_further_question() {
    let app = TestApp::start(canned()).await;
    let board = app.triad("Shall we?").await;
    let first = app.until_status(&board, "closed").await;
    let view = app.command(&board, "follow-up", json!({ "prompt": "@critic How soon?" })).await;
    assert_eq!(view["status"], "answering", "{view}");
    assert_eq!(pick(&view["advisors"], "round"), [1, 2, 1]);
    let view = app.until_status(&board, "closed").await;
    assert_eq!(pick(&view["rounds"], "prompt"), ["Shall we?", "How soon?"]);
    assert_eq!(pick(&view["rounds"], "advisors"), [json!([1, 2, 3]), json!([2])]);
    assert_eq!(pick(&view["syntheses"], "round"), [1, 2]);
    assert_eq!(view["syntheses"][0], first["syntheses"][0]);
    assert_eq!(view["advisors"][0], first["advisors"][0]);
    let critic = &view["advisors"][1];
    assert_eq!(critic["earlier"][0]["text"], first["advisors"][1]["text"], "{critic}");
    assert_eq!(critic["callId"], "advisor/2/2#1");

    let asked = &app.scripted.requests()[4].prompt;
    let said = first["advisors"][1]["text"].as_str().unwrap();
    let verdict = first["syntheses"][0]["text"].as_str().unwrap();
    let places = ["Shall we?", said, verdict, "How soon?"].map(|words| asked.find(words));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} in {asked}");
    let others = first["advisors"][0]["text"].as_str().unwrap();
    assert!(said == others || !asked.contains(others), "{asked}");

    let (status, told) =
        app.post(&board.at("follow-up"), &json!({ "prompt": "@jester Why?" })).await;
    assert_eq!((status, &told["error"]["fields"][0]["field"]), (422, &json!("prompt")), "{told}");
    let again = json!({ "prompt": "And all of you?", "advisors": [1, 3] });
    app.command(&board, "follow-up", again).await;
    let view = app.until_status(&board, "closed").await;
    assert_eq!(pick(&view["advisors"], "round"), [3, 2, 3]);
    let (_, found) = app.get("/api/sessions?q=soon").await;
    assert_eq!(found["meta"]["total"], 1, "{found}");
    let (_, exported) = app.get(&board.at("export")).await;
    let (status, taken) = app.post("/api/boardrooms/import", &exported).await;
    assert_eq!((status, &taken["data"]["rounds"]), (201, &view["rounds"]), "{taken}");
    app.assert_attempts_match_requests(&board).await;
}
