//! A run that goes on from a step of another one.

use plenary_scripted::{Reply, When};
use serde_json::{Value, json};

use super::{ADR, Run, deciding, of};
use crate::support::{TestApp, canned};

fn synthesis(says: &str) -> Reply {
    let heads = ["Consensus", "Points of Agreement", "Points of Divergence", "Recommendation"];
    Reply::text(&heads.map(|head| format!("## {head}\n\n{says}\n")).join("\n"))
}

async fn fork<'a>(app: &'a TestApp, run: &Run<'_>, body: Value) -> Run<'a> {
    let (status, told) = app.post(&run.at("/fork"), &body).await;
    assert_eq!(status, 201, "{told}");
    Run { app, id: told["data"]["id"].as_str().unwrap().to_owned() }
}

const PANEL: &str = "name: panel
inputs: { question: string, board: { type: array, default: [expert=ollama/a] } }
steps:
  facts: { ask: { prompt: 'Facts on {{ inputs.question }}', model: ollama/d } }
  open: { council.open: { name: fixed, charter: Talk. } }
  panel:
    boardroom: { prompt: 'Decide: {{ steps.facts.text }}', advisors: '{{ inputs.board }}', synthesizer: ollama/c }
    needs: [open]
outputs:
  verdict: '{{ steps.panel.verdict }}'
  council: '{{ steps.open.council }}'
";

#[tokio::test(flavor = "multi_thread")]
async fn what_was_before_is_not_asked_again_and_another_panel_decides() {
    let script = canned()
        .when(When::says("Facts on"), Reply::text("Lamps burn."))
        .when(When::model("c").and_says("first panel"), synthesis("Oil."))
        .when(When::model("c"), synthesis("Gas."))
        .when(When::model("a"), Reply::text("The first panel says oil."))
        .when(When::model("b"), Reply::text("The other panel says gas."));
    let script_says = |text: &str, view: &Value| {
        assert!(view["outputs"]["verdict"].as_str().unwrap().contains(text), "{view:#}");
    };
    let app = TestApp::start(script).await;
    let run = Run::begin(&app, PANEL, json!({ "question": "lamps" })).await;
    let first = run.ended().await;
    assert_eq!(first["status"], "done", "{first:#}");
    let asked = app.scripted.requests().len();
    assert_eq!(asked, 3, "the facts, an advisor and the synthesis");
    let board = json!(["expert=ollama/b"]);
    let other = fork(&app, &run, json!({ "from": "panel", "inputs": { "board": board } })).await;
    let second = other.ended().await;
    assert_eq!(second["status"], "done", "{second:#}");
    let again: Vec<_> = app.scripted.requests().into_iter().skip(asked).collect();
    assert_eq!(again.len(), 2, "an advisor and the synthesis");
    assert!(again.iter().all(|request| !request.prompt.contains("Facts on")));
    script_says("Oil.", &first);
    script_says("Gas.", &second);
    assert_eq!(second["forkedFrom"], json!({ "run": run.id, "step": "panel" }));
    // What was opened before is the same room, and nothing opened it again.
    assert_eq!(
        (&first["outputs"]["council"], &second["outputs"]["council"]),
        (&json!("fixed"), &json!("fixed"))
    );
    assert_ne!(of(&first, "panel")["session"], of(&second, "panel")["session"]);
    // What the new run took is only its own.
    assert_eq!(of(&second, "facts").get("usage"), None, "{second:#}");
    // From before the room was opened, it is another one.
    let third = fork(&app, &run, json!({ "from": "open" })).await;
    let third = third.ended().await;
    let council = third["outputs"]["council"].as_str().unwrap();
    assert!(council.starts_with("fixed-"), "{council}");
    // Where there is no such step, a near one is named.
    let (status, told) = app.post(&run.at("/fork"), &json!({ "from": "pannel" })).await;
    assert_eq!(status, 404);
    assert!(
        told["error"]["message"].as_str().unwrap().contains("Did you mean \"panel\"?"),
        "{told}"
    );
}

/// The record of a decision is archived; from there on it can be tried with another board.
#[tokio::test(flavor = "multi_thread")]
async fn a_decision_is_tried_again_from_its_vote_by_another_file() {
    let app = TestApp::start(deciding()).await;
    let run = Run::begin(&app, ADR, json!({ "topic": "Where do jobs wait?" })).await;
    let first = run.ended().await;
    assert_eq!(first["outputs"]["outcome"], "accepted", "{first:#}");
    let asked = app.scripted.requests().len();
    let always = ADR.replace("    when: \"{{ steps.archive.outcome == 'tied' }}\"\n", "");
    assert_ne!(always, ADR);
    let body = json!({ "from": "panel", "source": always });
    let second = fork(&app, &run, body).await.ended().await;
    assert_eq!(second["status"], "done", "{second:#}");
    assert_eq!(of(&second, "archive")["output"], of(&first, "archive")["output"]);
    assert_eq!(
        (of(&first, "panel")["status"].clone(), of(&second, "panel")["status"].clone()),
        (json!("skipped"), json!("done"))
    );
    let again: Vec<_> = app.scripted.requests().into_iter().skip(asked).collect();
    assert_eq!(again.len(), 4, "three advisors and a synthesis");
    assert!(again.iter().all(|request| !request.prompt.contains("Propose one answer")));
}

/// What the first run had registered, the second speaks for.
#[tokio::test(flavor = "multi_thread")]
async fn a_fork_acts_in_the_rooms_that_the_first_run_opened() {
    let script = canned().when(
        When::says("Propose"),
        Reply::text(&json!({ "title": "Tea", "body": "Tea.", "type": "proposal" }).to_string()),
    );
    let app = TestApp::start(script).await;
    let source = "name: adr
inputs: { word: { type: string, default: one } }
steps:
  board: { whiteboard.open: { board_id: adr, topic: t } }
  talk: { council.open: { name: guild, charter: Talk. } }
  seat: { whiteboard.register: { board: adr, agent: ann, model: ollama/d }, needs: [board] }
  post: { whiteboard.post: { board: adr, as: ann, ask: 'Propose {{ inputs.word }}.' }, needs: [seat] }
  close: { council.close: { council: guild, summary: '{{ inputs.word }}' }, needs: [post, talk], when: \"{{ inputs.word == 'two' }}\" }
";
    let run = Run::begin(&app, source, json!({})).await;
    assert_eq!(run.ended().await["status"], "done");
    let body = json!({ "from": "post", "inputs": { "word": "two" } });
    let second = fork(&app, &run, body).await.ended().await;
    assert_eq!(second["status"], "done", "{second:#}");
    assert_eq!(of(&second, "post")["output"]["post"], "ann/2", "{second:#}");
    // She speaks by the model that she was registered with.
    let models: Vec<String> = app.scripted.requests().into_iter().map(|one| one.model).collect();
    assert_eq!(models, ["d", "d"]);
    let (_, told) = app.get("/api/councils/guild").await;
    assert_eq!(told["data"]["status"], "closed", "{told:#}");
}

/// A board goes on from where it is: what it does not take any more is known before.
#[tokio::test(flavor = "multi_thread")]
async fn a_fork_that_would_rewind_a_room_is_refused_at_once() {
    let app = TestApp::start(deciding()).await;
    let run = Run::begin(&app, ADR, json!({ "topic": "Where do jobs wait?" })).await;
    assert_eq!(run.ended().await["status"], "done");
    let asked = app.scripted.requests().len();
    for (from, step) in [("archive", "archive"), ("argue", "argue"), ("read", "read")] {
        let (status, told) = app.post(&run.at("/fork"), &json!({ "from": from })).await;
        assert_eq!(status, 422, "{told}");
        let problem = told["error"]["fields"][0]["problem"].as_str().unwrap().to_owned();
        assert!(
            problem.starts_with(&format!("`{step}` cannot be done again: the whiteboard")),
            "{problem}"
        );
        assert!(problem.ends_with("fork from `board`, which opens another"), "{problem}");
    }
    assert_eq!(app.scripted.requests().len(), asked);
    // From where the board is opened it is another one.
    let second = fork(&app, &run, json!({ "from": "board" })).await.ended().await;
    assert_eq!(second["outputs"]["outcome"], "accepted", "{second:#}");
}
