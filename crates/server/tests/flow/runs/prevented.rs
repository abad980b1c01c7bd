//! What users of other systems suffer from. Approvals, signals, cancelling and forks have
//! files of their own; what a run decides by itself is tested with its rules.

use std::sync::Arc;

use plenary_clerk::Messenger;
use plenary_domain::Errand;
use plenary_engine::ports::Errands as _;
use plenary_scripted::{Fault, Gate, Reply, When};
use plenary_server::{Clerk, Prices, Tiers};
use serde_json::{Value, json};

use super::{Run, council, file, of, said, store};
use crate::support::{TestApp, canned};

/// actions/runner#491, #2205.
#[tokio::test(flavor = "multi_thread")]
async fn a_skipped_step_does_not_swallow_what_follows() {
    let app = TestApp::start(canned()).await;
    let source = file(
        "skips",
        "  a: { set: 1, when: '{{ 1 == 2 }}' }\n  b: { set: 2, needs: [a] }\n  c: { set: '{{ steps.a is none }}', needs: [b] }",
    );
    let view = Run::begin(&app, &source, json!({})).await.ended().await;
    let statuses = ["a", "b", "c"].map(|id| of(&view, id)["status"].clone());
    assert_eq!(statuses, [json!("skipped"), json!("done"), json!("done")], "{view:#}");
    assert_eq!(of(&view, "c")["output"], true);
}

/// actions/runner#1835, argo-workflows#11221.
#[tokio::test(flavor = "multi_thread")]
async fn a_foreach_keeps_every_output_and_every_failure() {
    let script = canned()
        .when(When::says("two?"), Reply::fault(Fault::NoSuchModel))
        .when(When::says("one?"), Reply::text("1"))
        .when(When::says("three?"), Reply::text("3"));
    let app = TestApp::start(script).await;
    let source = file(
        "all",
        "  all:\n    foreach: { in: [one, two, three], on_failure: continue }\n    steps: { q: { ask: { prompt: '{{ item }}?', model: ollama/a } } }",
    );
    let view = Run::begin(&app, &source, json!({})).await.ended().await;
    let output = of(&view, "all")["output"].clone();
    let told = |number: usize| {
        (
            output[number]["key"].clone(),
            output[number]["status"].clone(),
            output[number]["output"]["q"]["text"].clone(),
        )
    };
    assert_eq!(told(0), (json!("one"), json!("done"), json!("1")), "{view:#}");
    assert_eq!(told(1), (json!("two"), json!("failed"), Value::Null), "{view:#}");
    assert_eq!(told(2), (json!("three"), json!("done"), json!("3")), "{view:#}");
}

/// argo-workflows#14498.
#[tokio::test(flavor = "multi_thread")]
async fn an_expression_that_comes_to_nothing_does_not_stay_text() {
    let app = TestApp::start(canned()).await;
    let unknown = json!({ "source": file("a", "  a: { set: '{{ steps.b.text }}' }\n  c: { ask: { prompt: '{{ input.x }}' } }") });
    let (status, told) = app.post("/api/runs", &unknown).await;
    assert_eq!(status, 422);
    assert_eq!(told["error"]["fields"].as_array().map(Vec::len), Some(2), "{told}");
    let late = "name: a\ninputs: { o: object }\nsteps:\n  b:\n    set: '{{ inputs.o.y }}'\n";
    let view = Run::begin(&app, late, json!({ "o": { "x": 1 } })).await.ended().await;
    assert_eq!(view["status"], "failed");
    assert!(of(&view, "b")["reason"].as_str().unwrap().starts_with("line 5: set"), "{view:#}");
}

/// langgraph#6208, n8n#13168.
#[tokio::test(flavor = "multi_thread")]
async fn resuming_runs_no_step_a_second_time() {
    let gate = Gate::new();
    let script = canned().when(When::says("Which lamp?"), Reply::canned().gate(1, &gate));
    let app = TestApp::start(script).await;
    council(&app, "guild").await;
    let source = file(
        "resumes",
        "  facts: { ask: { prompt: Facts?, model: ollama/a } }\n  tell: { council.post: { council: guild, as: secretary, body: Facts are in. }, needs: [facts] }\n  panel: { boardroom: { prompt: Which lamp?, advisors: [expert=ollama/b], synthesizer: ollama/c }, needs: [tell] }\n  sign: { approve: { who: [ann] }, needs: [panel] }\n  after: { council.post: { council: guild, as: secretary, body: Signed. }, needs: [sign] }",
    );
    let run = Run::begin(&app, &source, json!({})).await;
    // In the middle of the board's answer, and then while a person is waited for.
    gate.reached(1).await;
    let id = run.id;
    let app = app.restarted().await;
    app.engine.resume_all().await.unwrap();
    gate.reached(2).await;
    gate.release();
    let run = Run { app: &app, id };
    run.until_running("sign").await;
    let id = run.id;
    let app = app.restarted().await;
    app.engine.resume_all().await.unwrap();
    let run = Run { app: &app, id };
    run.approve("sign", "ann").await;
    let view = run.ended().await;
    assert_eq!(view["status"], "done", "{view:#}");
    assert_eq!(said(&app, "guild").await, ["secretary: Facts are in.", "secretary: Signed."]);
    let facts = app.scripted.requests().iter().filter(|one| one.prompt.contains("Facts?")).count();
    assert_eq!(facts, 1);
    let (_, boards) = app.get("/api/boardrooms").await;
    assert_eq!(boards["data"].as_array().map(Vec::len), Some(1), "{boards:#}");
    for place in ["facts", "tell", "panel", "sign", "after"] {
        assert_eq!(run.count("stepDone", place).await, 1, "{place}");
    }
}

/// Found by an hour of chaos: the server was too busy to list its models.
#[tokio::test(flavor = "multi_thread")]
async fn a_step_looks_again_for_models_that_were_not_listed() {
    // One for each provider.
    let app = TestApp::start(canned().first_listings(4, Fault::Overloaded)).await;
    let source = file("again", "  q: { boardroom: { prompt: Which?, board: classic-triad } }");
    let view = Run::begin(&app, &source, json!({})).await.ended().await;
    assert_eq!(view["status"], "done", "{view:#}");
}

/// crewAI#5802. An attempt was given up after the room had taken what it said; another one
/// had no answer that could be read.
#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_is_tried_again_has_its_effect_once() {
    let post = json!({ "title": "Tea", "body": "It is warm.", "type": "proposal" }).to_string();
    let script = canned()
        .when(When::says("Propose").nth(1), Reply::text("I would rather not say."))
        .when(When::says("Propose"), Reply::text(&post));
    let app = TestApp::start(script).await;
    council(&app, "guild").await;
    let source = file(
        "retries",
        "  board: { whiteboard.open: { board_id: b, topic: t } }\n  seat: { whiteboard.register: { board: b, agent: ann, model: ollama/a }, needs: [board] }\n  post: { whiteboard.post: { board: b, as: ann, ask: Propose. }, needs: [seat], retry: { times: 2 } }\n  read: { whiteboard.transition: { board: b, to: read }, needs: [post] }\n  sign: { approve: { who: [ann] }, needs: [read] }\n  tell: { council.post: { council: guild, as: secretary, body: Signed. }, needs: [sign], retry: { times: 2 } }",
    );
    let run = Run::begin(&app, &source, json!({})).await;
    let view = run.until_running("sign").await;
    assert_eq!(run.count("attemptFailed", "post").await, 1, "{view:#}");
    let (_, board) = app.get("/api/whiteboards/b").await;
    assert_eq!(board["data"]["posts"].as_array().map(Vec::len), Some(1), "{board:#}");
    // The first attempt at `tell`, of which the run never hears.
    let clerk = Arc::new(Clerk::new(app.engine.clone(), Tiers::default(), Prices::default()));
    let with = json!({ "council": "guild", "as": "secretary", "body": "Signed." });
    let errand = Errand::Tell {
        act: "council.post",
        with: with.as_object().cloned().unwrap(),
        key: format!("{}/tell", run.id),
    };
    let given_up = Messenger::of(&clerk).run(run.id.parse().unwrap(), errand).await;
    assert!(given_up.is_ok());
    run.approve("sign", "ann").await;
    assert_eq!(run.ended().await["status"], "done");
    assert_eq!(said(&app, "guild").await, ["secretary: Signed."]);
}

/// Two steps bring the same agent to a board in the same moment.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_two_steps_register_at_once_is_registered() {
    let app = TestApp::start(canned()).await;
    for turn in 0..12 {
        let seats: String = (0..4)
            .map(|seat| format!("  s{seat}: {{ whiteboard.register: {{ board: b{turn}, agent: ann }}, needs: [board] }}\n"))
            .collect();
        let open =
            format!("  board: {{ whiteboard.open: {{ board_id: b{turn}, topic: t }} }}\n{seats}");
        let view = Run::begin(&app, &file("seats", &open), json!({})).await.ended().await;
        assert_eq!(view["status"], "done", "{view:#}");
    }
}

/// posthog#71077.
#[tokio::test(flavor = "multi_thread")]
async fn a_new_version_breaks_no_run_that_is_under_way() {
    let app = TestApp::start(canned()).await;
    store(
        &app,
        &file("w", "  sign: { approve: { who: [ann] } }\n  after: { set: old, needs: [sign] }"),
    )
    .await;
    let (_, begun) = app.post("/api/workflows/w/runs", &json!({})).await;
    let run = Run { app: &app, id: begun["data"]["id"].as_str().unwrap().to_owned() };
    let view = run.until_running("sign").await;
    assert_eq!(view.get("newerVersion"), None, "{view:#}");
    store(&app, &file("w", "  other: { set: new }")).await;
    assert_eq!(run.view().await["newerVersion"], 2);
    let id = run.id;
    let app = app.restarted().await;
    app.engine.resume_all().await.unwrap();
    let run = Run { app: &app, id };
    run.approve("sign", "ann").await;
    let view = run.ended().await;
    assert_eq!((&view["status"], &of(&view, "after")["output"]), (&json!("done"), &json!("old")));
    assert_eq!(app.delete("/api/workflows/w").await.0, 200);
    assert_eq!(run.view().await["status"], "done");
}

/// argo-workflows#9445.
#[tokio::test(flavor = "multi_thread")]
async fn who_approved_is_known_for_ever() {
    let app = TestApp::start(canned()).await;
    let source = file("sign", "  sign: { approve: { who: [ann, ben] } }");
    let run = Run::begin(&app, &source, json!({})).await;
    run.until_running("sign").await;
    let yes = json!({ "decision": "approved", "by": "ben", "reason": "It is time." });
    assert_eq!(run.decide("sign", &yes).await.0, 200);
    run.ended().await;
    let (_, record) = app.get(&run.at("/export?format=json")).await;
    let output = of(&record["run"], "sign")["output"].clone();
    assert_eq!((&output["by"], &output["reason"]), (&json!(["ben"]), &json!("It is time.")));
    let markdown = app.http.get(format!("{}{}", app.url, run.at("/export?format=markdown")));
    let markdown = markdown.send().await.unwrap().text().await.unwrap();
    assert!(markdown.contains("approved by ben: It is time"), "{markdown}");
}

/// dify#32555.
#[tokio::test(flavor = "multi_thread")]
async fn a_person_can_send_a_round_back() {
    let app = TestApp::start(canned()).await;
    let source = file(
        "loops",
        "  settle:\n    repeat: { until: \"{{ round.sign.decision == 'approved' }}\", max: 3 }\n    steps:\n      draft: { ask: { prompt: \"Draft {{ round.number }}{% for one in rounds %} not {{ one.sign.reason }}{% endfor %}\", model: ollama/a } }\n      sign: { approve: { who: [ann], show: '{{ steps.draft.text }}' } }",
    );
    let run = Run::begin(&app, &source, json!({})).await;
    let view = run.until_running("settle/1/sign").await;
    let leads = of(&view, "settle/1/sign")["approval"]["leadsTo"].clone();
    assert_eq!(leads["changes"], "another round follows", "{view:#}");
    let back = json!({ "decision": "changes", "by": "ann", "reason": "so long" });
    let (status, told) = run.decide("settle/1/sign", &back).await;
    assert_eq!(status, 200, "{told}");
    run.until_running("settle/2/sign").await;
    let asked = app.scripted.requests();
    assert!(asked[1].prompt.contains("not so long"), "{}", asked[1].prompt);
    run.approve("settle/2/sign", "ann").await;
    let view = run.ended().await;
    assert_eq!(
        (&view["status"], &of(&view, "settle")["output"]["round"]["number"]),
        (&json!("done"), &json!(2))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_in_no_file_does_not_cost_a_post() {
    let slip = r#"{ "title": "Tea", "body": "It is cheap.", "target_file": null,
        "target_location": "12", "severity": null }"#;
    let app = TestApp::start(canned().when(When::says("Propose one."), Reply::text(slip))).await;
    let source = file(
        "slips",
        "  board: { whiteboard.open: { board_id: slips, topic: t } }\n  \
         seat: { whiteboard.register: { board: '{{ steps.board.id }}', agent: engineer } }\n  \
         post: { whiteboard.post: { board: '{{ steps.board.id }}', as: engineer, ask: Propose one. }, needs: [seat] }",
    );
    let view = Run::begin(&app, &source, json!({})).await.ended().await;
    let post = &of(&view, "post")["output"];
    assert_eq!(
        (&post["title"], &post["target_location"]),
        (&json!("Tea"), &Value::Null),
        "{view:#}"
    );
}
