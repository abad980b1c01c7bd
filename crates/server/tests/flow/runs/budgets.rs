//! What a run may spend.

use plenary_scripted::{Reply, When};
use serde_json::{Value, json};

use super::{Run, of};
use crate::support::{TestApp, canned};

const FILE: &str = "name: thrifty\n\
    steps:\n  \
      first: { ask: { prompt: 'What is first?', model: ollama/a } }\n  \
      board: { boardroom: { prompt: 'What is second?', model: ollama/a }, needs: [first], on_failure: continue }\n  \
      last: { ask: { prompt: 'What is last?', model: ollama/a }, needs: { board: any } }\n\
    budget: { tokens: 5000 }\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_run_asks_nobody_for_what_its_budget_has_no_room_for() {
    let greedy = Reply::text("It is the first.").usage(4_900, 95);
    let app = TestApp::start(canned().when(When::says("What is first?"), greedy)).await;
    let run = Run::begin(&app, FILE, json!({})).await;
    let view = run.ended().await;
    assert_eq!(view["status"], "failed", "{view:#}");
    let last = of(&view, "last");
    let reason = last["reason"].as_str().unwrap_or_default();
    assert!(reason.starts_with("The budget of 5,000 tokens does not cover"), "{view:#}");
    // The board was given what was left, which is less than any may have.
    assert_eq!(of(&view, "board")["status"], "failed", "{view:#}");
    assert_eq!(app.scripted.requests().len(), 1);
    assert_eq!(view["usage"]["inputTokens"], 4_900, "{view:#}");
}

const OWN: &str = "name: frugal\n\
    steps:\n  \
      one: { ask: { prompt: 'What is first?', model: ollama/a }, needs: [council], budget: { tokens: 1000 }, on_failure: continue }\n  \
      board: { boardroom: { prompt: 'What is second?', model: ollama/a }, budget: { tokens: 3000 }, needs: { one: any } }\n  \
      council: { council.open: { name: tea, charter: Talk., members: ['ann=ollama/a'] }, budget: { tokens: 1000 } }\n\
    budget: { tokens: 5000 }\n";

/// What a step may spend is its own, and never more than is left of the run's.
#[tokio::test(flavor = "multi_thread")]
async fn a_step_keeps_to_its_own_budget() {
    let greedy = Reply::text("It is the first.").usage(4_500, 20);
    let app = TestApp::start(canned().when(When::says("What is first?"), greedy)).await;
    let run = Run::begin(&app, OWN, json!({})).await;
    let view = run.ended().await;
    let asked: Vec<String> =
        app.scripted.requests().iter().map(|one| one.body.to_string()).collect();
    let first = asked.iter().find(|body| body.contains("What is first?")).expect("a question");
    assert!(first.contains("Keep your whole answer under"), "{first}");
    let (_, council) = app.get("/api/councils/tea").await;
    assert_eq!(council["data"]["budget"]["tokens"], 1_000, "{council:#}");
    // Less is left than the step's own 3,000, and too little.
    let reason = of(&view, "board")["reason"].as_str().unwrap_or_default().to_owned();
    assert!(reason.contains("tokens"), "{view:#}");
    let idle = "name: idle\nsteps:\n  nap: { sleep: 1s, budget: { tokens: 1000 } }\n";
    let (_, told) = app.post("/api/workflows/check", &json!({ "source": idle })).await;
    let problem = &told["data"]["problems"][0];
    assert_eq!(problem["path"], "steps.nap.budget", "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_of_a_run_keeps_to_what_is_left() {
    let modest = Reply::text("It is the first.").usage(200, 20);
    let app = TestApp::start(canned().when(When::says("What is first?"), modest)).await;
    let run = Run::begin(&app, FILE, json!({})).await;
    let view = run.until(|view| of(view, "board")["session"].is_string()).await;
    let session = of(&view, "board")["session"].as_str().unwrap().to_owned();
    let (_, board) = app.get(&format!("/api/boardrooms/{session}")).await;
    let budget: &Value = &board["data"]["budget"];
    assert_eq!(budget["tokens"], 4_780, "{board:#}");
    run.ended().await;
}

/// Boards that are opened at once share what is left, and a run of a run has a share too.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_opens_at_once_never_spends_more_than_the_run_may() {
    let dear = Reply::text("It is dear.").usage(1_900, 90);
    let app = TestApp::start(canned().when(When::says("Dear?"), dear)).await;
    super::store(
        &app,
        &super::file(
            "child",
            "  one: { ask: { prompt: 'Dear?', model: ollama/a } }\n  two: { ask: { prompt: 'Dear? Again.', model: ollama/a }, needs: [one] }\n  three: { ask: { prompt: 'Dear? Still.', model: ollama/a }, needs: [two] }",
        ),
    )
    .await;
    let source = "name: shares\nbudget: { tokens: 16000 }\nsteps:\n  boards:\n    foreach: { in: [1, 2, 3] }\n    steps:\n      panel: { boardroom: { prompt: Which?, advisors: [expert=ollama/a], synthesizer: ollama/a }, on_failure: continue }\n  child: { workflow: { name: child }, on_failure: continue }\n";
    let run = Run::begin(&app, source, json!({})).await;
    let view = run.ended().await;
    let mut shares = 0;
    for item in 1..=3 {
        let session = of(&view, &format!("boards/{item}/panel"))["session"].clone();
        let (_, board) = app.get(&format!("/api/boardrooms/{}", session.as_str().unwrap())).await;
        let tokens = board["data"]["budget"]["tokens"].as_u64().unwrap();
        assert_eq!(tokens, 4_000, "{board:#}");
        shares += tokens;
    }
    assert!(shares <= 12_000);
    // A fourth of it was the child's, in which a third question has no room.
    let child = Run { app: &app, id: of(&view, "child")["session"].as_str().unwrap().to_owned() };
    let child = child.view().await;
    assert_eq!(child["status"], "failed", "{child:#}");
    let reason = of(&child, "three")["reason"].as_str().unwrap_or_default().to_owned();
    assert!(reason.starts_with("The budget of 4,000 tokens does not cover"), "{child:#}");
    let asked = app.scripted.requests();
    assert_eq!(asked.iter().filter(|one| one.prompt.contains("Dear?")).count(), 2);
    // What it took is the run's.
    assert!(view["usage"]["inputTokens"].as_u64().unwrap() >= 3_800, "{view:#}");
}
