//! Windows, budgets, estimates and what it took.

use std::sync::Arc;
use std::time::Duration;

use plenary_domain::{ModelName, limits};
use plenary_engine::testkit::ManualClock;
use plenary_providers::{Kind, ProviderConfig};
use plenary_scripted::{Gate, Reply, Script, When};
use plenary_server::{Price, Prices};
use serde_json::{Value, json};

use super::{CONCLUDES, OPENS, Talk, agreeable, ann_and_bob, seat, with};
use crate::support::{Setup, TestApp};

#[tokio::test(flavor = "multi_thread")]
async fn a_long_transcript_is_condensed_for_a_small_window_and_kept_whole() {
    let small = |url: &str| {
        let mut small = ProviderConfig::new("small", Kind::Ollama).at(url);
        small.num_ctx = Some(1_500);
        vec![small]
    };
    let said = format!("First words. {} Last words.", "Tea is good. ".repeat(120));
    let script = Script::new(Reply::canned())
        .when(When::says(CONCLUDES), Reply::text("So be it."))
        .when(When::model("ann"), Reply::text(&said));
    let app = Setup { more: small, ..Setup::default() }.start(script).await;
    let body = with(
        ann_and_bob(),
        json!({ "facilitator": { "name": "Lead", "model": "small/lead" },
            "participants": [seat("Ann")], "maxRounds": 4 }),
    );
    let talk = Talk::create(&app, body).await;
    let view = talk.until_status("concluded").await;
    assert_eq!(view["moderator"]["windowTokens"], 1_500);
    let entries = talk.entries().await;
    let condensed = |kind: &str| -> Vec<Option<u64>> {
        let of_kind = entries.iter().filter(|entry| entry["kind"] == kind);
        of_kind.map(|entry| entry["condensed"].as_u64()).collect()
    };
    // The facilitator sees less of it, the later the less; the last is nobody's decision.
    let decisions = condensed("decision");
    assert_eq!((decisions.len(), decisions[0], decisions[4]), (5, None, None));
    assert!(decisions[2] < decisions[3] && decisions[2].is_some(), "{decisions:?}");
    assert_eq!(condensed("turn"), [None; 4]);
    let requests = app.scripted.requests();
    let by_lead = || requests.iter().filter(|request| request.model == "lead");
    let told: Vec<bool> = by_lead().map(|one| one.prompt.contains("left out")).collect();
    let expected: Vec<bool> = decisions[..4].iter().map(Option::is_some).collect();
    assert_eq!((&told[..4], told[4]), (&expected[..], true));
    for entry in entries.iter().filter(|entry| entry["kind"] == "turn") {
        assert_eq!(entry["content"], said);
    }
    for request in by_lead() {
        assert!(
            request.prompt.contains("Last words.") || request.prompt.contains("Nobody has spoken")
        );
        assert!(request.prompt.len() < 1_500 * 4, "{}", request.prompt.len());
        assert_eq!(request.body["options"]["num_ctx"], 1_500);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_concluded_when_the_budget_has_no_room() {
    let script = Script::new(Reply::text("Tea.").usage(400, 200));
    let app = TestApp::start(script).await;
    let talk =
        Talk::create(&app, with(ann_and_bob(), json!({ "budgetTokens": 2_800, "maxRounds": 9 })))
            .await;
    let view = talk.until_status("concluded").await;
    let entries = talk.entries().await;
    let last = &entries.last().unwrap()["decision"];
    assert_eq!(
        (&last["how"], &last["note"]),
        (&json!("rule"), &json!("The budget does not cover another turn."))
    );
    assert_eq!((&view["round"], &view["budgetTokens"]), (&json!(1), &json!(2_800)));
    let asked = app.scripted.requests().pop().unwrap();
    assert!(asked.prompt.contains("The budget is spent"), "{}", asked.prompt);
    assert_eq!(view["actual"]["inputTokens"], 1_200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_agents_bounds_hold() {
    let app = TestApp::start(agreeable()).await;
    let agent = json!({ "name": "Thrifty", "persona": "You save.", "model": "openai/ann",
        "outputTokens": 300, "turnSeconds": 30, "budgetTokens": 1_000 });
    assert_eq!(app.post("/api/agents", &agent).await.0, 201);
    let body =
        with(ann_and_bob(), json!({ "participants": [{ "agentId": "Thrifty" }, seat("Bob")] }));
    let talk = Talk::create(&app, body).await;
    let view = talk.until_status("concluded").await;
    let seat = &view["participants"][0];
    for (field, value) in [("turnSeconds", 30), ("outputTokens", 300), ("budgetTokens", 1_000)] {
        assert_eq!(seat[field], value, "{seat}");
    }
    assert_eq!((&seat["agentId"], &seat["model"]), (&json!("thrifty"), &json!("openai/ann")));
    let requests = app.scripted.requests();
    let asked = requests.iter().find(|one| one.model == "ann").unwrap();
    assert_eq!(asked.body["max_tokens"], 300, "{}", asked.body);
    assert!(asked.prompt.contains("You save."));
    // What the agent becomes later changes nothing here.
    assert_eq!(app.patch("/api/agents/thrifty", &json!({ "name": "Lavish" })).await.0, 200);
    assert_eq!(talk.view().await["participants"][0]["name"], "Thrifty");
}

fn ordered(range: &Value) -> bool {
    let (low, high) = (range["low"].as_f64(), range["high"].as_f64());
    low.is_some_and(|low| low > 0.0 && low <= high.unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_estimate_knows_what_has_been_measured_and_set() {
    let price = Price { input: 1.0, output: 10.0, cached: None };
    let models = ["lead", "ann", "bob"].map(|name| (ModelName::new("ollama", name), price));
    let prices = Prices { models: models.into(), ..Prices::default() };
    // The first answer of each takes two seconds; what takes none is not measured.
    let (opening, turn) = (Gate::new(), Gate::new());
    let said = |reply: Reply| reply.usage(100, 10);
    let script = Script::new(said(Reply::canned()))
        .when(When::says(OPENS), said(Reply::canned()).gate(0, &opening))
        .when(When::says(CONCLUDES), said(Reply::text("So be it.")))
        .when(When::model("ann"), said(Reply::text("Tea.")).gate(0, &turn));
    let clock = Arc::new(ManualClock::default());
    let app = Setup { prices, clock: clock.clone(), ..Setup::default() }.start(script).await;
    let draft = with(ann_and_bob(), json!({ "start": false, "maxRounds": 3 }));
    let talk = Talk::create(&app, draft.clone()).await;
    let estimate = app.get(&talk.at("estimate")).await.1["data"].clone();
    assert_eq!(estimate["calls"], json!({ "low": 4.0, "high": 7.0 }));
    for field in ["inputTokens", "outputTokens", "cost"] {
        assert!(ordered(&estimate[field]), "{field}: {estimate}");
    }
    assert_eq!(estimate["seconds"], Value::Null);
    assert_eq!(
        estimate["notes"],
        json!([
            "Time unknown: nothing has been measured here for ollama/ann, ollama/bob, ollama/lead."
        ])
    );
    let started = talk.command("start", json!({})).await;
    assert_eq!(started["estimate"], estimate);
    for gate in [opening, turn] {
        gate.reached(1).await;
        clock.advance(Duration::from_secs(2));
        gate.release();
    }
    let view = talk.until_status("concluded").await;
    let actual = &view["actual"];
    assert_eq!(
        (&actual["calls"], &actual["inputTokens"], &actual["outputTokens"]),
        (&json!(7), &json!(700), &json!(70))
    );
    assert_eq!(actual["cost"], (700.0 * 1.0 + 70.0 * 10.0) / 1e6);
    assert_eq!((&actual["modelSeconds"], &actual["elapsedSeconds"]), (&json!(4.0), &json!(4.0)));
    // What was thought then is kept, and the next one is thought of better.
    assert_eq!(view["estimate"], estimate);
    let only_ann = with(draft, json!({ "participants": [seat("Ann")] }));
    let talk = Talk::create(&app, only_ann).await;
    clock.advance(Duration::from_millis(limits::MEASURED_FRESH_MS));
    let estimate = app.get(&talk.at("estimate")).await.1["data"].clone();
    assert_eq!(estimate["seconds"], json!({ "low": 8.0, "high": 14.0 }), "{estimate}");
    assert_eq!(estimate["notes"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_prices_there_is_no_cost() {
    let app = TestApp::start(agreeable()).await;
    let talk = Talk::create(&app, ann_and_bob()).await;
    let view = talk.until_status("concluded").await;
    assert_eq!((&view["estimate"]["cost"], &view["actual"]["cost"]), (&Value::Null, &Value::Null));
    let notes = view["estimate"]["notes"].to_string();
    assert!(notes.contains("no price is set for ollama/ann, ollama/bob, ollama/lead"), "{notes}");
    let ada = json!([{ "person": "Ada" }]);
    let talk =
        Talk::create(&app, with(ann_and_bob(), json!({ "participants": ada, "start": false })))
            .await;
    let estimate = app.get(&talk.at("estimate")).await.1["data"].clone();
    assert!(estimate["notes"].to_string().contains("Time taken by people is not included."));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_created_yet_can_be_estimated() {
    let model = |name: &str| ModelName::new("ollama", name);
    let price = Price { input: 1.0, output: 2.0, cached: None };
    let models = ["lead", "ann", "bob"].map(|name| (model(name), price)).into();
    let prices = Prices { currency: "EUR".into(), models, free: vec![] };
    let app = Setup { prices, ..Setup::default() }.start(agreeable()).await;
    let draft = with(ann_and_bob(), json!({ "start": false, "maxRounds": 3 }));
    let (status, told) = app.post("/api/discussions/estimate", &draft).await;
    assert_eq!(status, 200, "{told}");
    let estimate = &told["data"];
    assert_eq!(estimate["calls"], json!({ "low": 4.0, "high": 7.0 }), "{estimate}");
    assert_eq!(estimate["currency"], "EUR", "{estimate}");
    // The draft itself is estimated in the same words.
    let talk = Talk::create(&app, draft.clone()).await;
    let (_, of_draft) = app.get(&talk.at("estimate")).await;
    assert_eq!(&of_draft["data"], estimate);
    assert_eq!(app.get("/api/sessions").await.1["meta"]["total"], 1);
    assert_eq!(app.scripted.requests().len(), 0);

    for wrong in [
        json!({}),
        json!({ "topic": " ", "maxRounds": 0, "colour": "red" }),
        with(draft.clone(), json!({ "participants": [{ "name": "Ann", "model": "nope" }] })),
        with(draft.clone(), json!({ "participants": [{ "name": "Ann", "role": "observer" }] })),
        with(
            draft.clone(),
            json!({ "start": true, "budgetTokens": 1_000, "topic": "tea ".repeat(4_000) }),
        ),
    ] {
        let estimated = app.post("/api/discussions/estimate", &wrong).await;
        assert_eq!(estimated.0, 422, "{wrong}");
        assert_eq!(estimated, app.post("/api/discussions", &wrong).await, "{wrong}");
    }
}
