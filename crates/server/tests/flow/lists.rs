//! Finding sessions again.

use std::sync::Arc;

use plenary_domain::SessionId;
use plenary_engine::ports::Append;
use plenary_engine::{Engine, EngineError, SystemClock};
use plenary_providers::Providers;
use plenary_scripted::{Fault, Reply, Script, When};
use plenary_server::Tiers;
use serde_json::json;

use crate::support::{TestApp, canned, pick, providers, unreadable};

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_paged_filtered_and_searched() {
    let script = canned()
        .when(When::says("penguins"), Reply::text("They waddle because of hydrodynamics."))
        .when(When::says("broken"), Reply::fault(Fault::Unauthorized));
    let app = TestApp::start(script).await;
    let mut boards = vec![];
    for nth in 0..7 {
        boards.push(app.triad(&format!("Question number {nth}")).await);
    }
    let penguins = app.triad("Why do penguins walk like that?").await;
    let broken = app.triad("What is broken?").await;
    for board in boards.iter().chain([&penguins]) {
        app.until_status(board, "closed").await;
    }
    app.until_status(&broken, "failed").await;

    // Newest first, three at a time, each exactly once.
    let mut path = "/api/boardrooms?limit=3".to_owned();
    let (mut found, mut pages) = (vec![], 0);
    loop {
        let (status, page) = app.get(&path).await;
        assert_eq!(status, 200);
        assert_eq!((&page["meta"]["total"], &page["meta"]["limit"]), (&json!(9), &json!(3)));
        found.extend(pick(&page["data"], "id"));
        pages += 1;
        match page["meta"]["next"].as_str() {
            Some(next) => path = format!("/api/boardrooms?limit=3&cursor={next}"),
            None => break,
        }
    }
    let mut expected: Vec<String> = boards.iter().map(|board| board.id.clone()).collect();
    expected.extend([penguins.id.clone(), broken.id.clone()]);
    expected.reverse();
    assert_eq!((found, pages), (expected.into_iter().map(|id| json!(id)).collect(), 3));

    for (query, total) in [
        ("", 9),
        ("status=closed", 8),
        ("status=failed", 1),
        ("status=answering", 0),
        ("active=true", 0),
        ("active=false&kind=boardroom", 9),
        ("kind=council", 0),
        ("q=penguins", 1),
        ("q=hydrodynamics", 1),
        ("q=HYDRODYN", 1),
        ("q=number+question", 7),
        ("q=question+3", 1),
        ("q=walrus", 0),
        ("q=%22+OR+%2A+NEAR%28", 0),
        ("q=penguins&status=failed", 0),
    ] {
        let (status, page) = app.get(&format!("/api/sessions?{query}")).await;
        assert_eq!((status, &page["meta"]["total"]), (200, &json!(total)), "{query}: {page}");
        assert_eq!(page["data"].as_array().unwrap().len(), total);
    }
    // What nothing can be called is refused with what there is, not answered with nothing.
    let told = "there is no \"active\"; available: open, closed";
    for (path, field, problem) in [
        ("councils?status=active", "status", told),
        ("sessions?kind=council&status=active", "status", told),
        (
            "whiteboards?status=open",
            "status",
            "there is no \"open\"; available: blind, read, validate, debate, resolve, archived",
        ),
        (
            "sessions?kind=agents&status=x",
            "kind",
            "there is no \"agents\"; available: boardroom, whiteboard, council, discussion, \
             workflow",
        ),
    ] {
        let (status, told) = app.get(&format!("/api/{path}")).await;
        assert_eq!((status, &told["error"]["code"]), (400, &json!("invalid-query")), "{path}");
        let fields = json!([{ "field": field, "problem": problem }]);
        assert_eq!(told["error"]["fields"], fields, "{path}");
    }
    assert_eq!(app.get("/api/boardrooms?status=Closed").await.1["meta"]["total"], 8);
    let (_, row) = app.get(&format!("/api/sessions/{}", penguins.id)).await;
    assert_eq!(row["data"]["title"], "Why do penguins walk like that?");
    assert_eq!(row["data"]["status"], "closed");
    let (status, _) = app.delete(&penguins.path()).await;
    assert_eq!(status, 200);
    assert_eq!(app.get("/api/sessions?q=hydrodynamics").await.1["meta"]["total"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn models_and_providers_are_listed_with_what_is_wrong() {
    let app = TestApp::start(canned()).await;
    let (_, models) = app.get("/api/models").await;
    let names = pick(&models["data"], "name");
    assert_eq!(names.len(), 16);
    assert_eq!(names[..2], ["ollama/a", "ollama/b"]);
    let (_, providers) = app.get("/api/providers").await;
    let gone = &providers["data"][4];
    assert_eq!((&gone["name"], &gone["ready"]), (&json!("gone"), &json!(false)), "{gone}");
    assert!(gone["problem"].as_str().unwrap().contains("Could not connect"), "{gone}");
    assert!(!providers.to_string().contains("key-4711"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tier_means_the_model_that_was_set_or_one_whose_name_fits() {
    let script = || Script::new(Reply::canned()).models(&["opus", "haiku", "d"]);
    let means = |tier: &str, model: &str, configured: bool| json!({ "tier": tier, "model": model, "configured": configured });
    let app = TestApp::start(script()).await;
    let by_name = json!([
        means("fast", "ollama/haiku", false),
        means("balanced", "ollama/d", false),
        means("strong", "ollama/opus", false),
    ]);
    assert_eq!(app.get("/api/tiers").await.1["data"], by_name);
    let tiers = Tiers {
        fast: Some("openai/not-listed".into()),
        balanced: None,
        strong: Some("opuss".into()),
    };
    let app = TestApp::with_tiers(script(), tiers).await;
    let problem = "The tier `strong` cannot be used: there is no model \"opuss\"; did you mean \
                   anthropic/opus, gemini/opus, ollama/opus, openai/opus?";
    let hint = "Fix `strong` in [tiers], or PLENARY_TIERS__STRONG, or remove it: then a model is \
                chosen by name.";
    let set = json!([
        means("fast", "openai/not-listed", true),
        means("balanced", "ollama/d", false),
        { "tier": "strong", "configured": true, "problem": problem, "hint": hint },
    ]);
    assert_eq!(app.get("/api/tiers").await.1["data"], set);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_found_by_name_and_project() {
    let app = TestApp::start(canned()).await;
    app.triad("Without a name?").await;
    let id: SessionId = "01890000-0000-7000-8000-000000000000".parse().unwrap();
    let append = Append {
        name: Some("plan".into()),
        project: Some("roof".into()),
        active: false,
        ..unreadable(id)
    };
    app.store.append(append).await.unwrap();
    let (_, page) = app.get("/api/sessions?project=roof").await;
    assert_eq!(
        page["data"],
        json!([{
            "id": id, "kind": "boardroom", "name": "plan", "project": "roof", "title": "a title",
            "status": "answering", "active": false,
            "createdAt": "1970-01-01T00:00:00Z", "updatedAt": "1970-01-01T00:00:00Z",
        }])
    );
    assert_eq!(app.get("/api/sessions?project=cellar").await.1["meta"]["total"], 0);
    assert_eq!(app.get("/api/sessions").await.1["meta"]["total"], 2);

    let models = Arc::new(Providers::new(providers(&app.scripted.url())));
    let engine = Engine::new(app.store.clone(), models, Arc::new(SystemClock::default()));
    // Twice: the second time it is known already.
    for _ in 0..2 {
        assert_eq!(engine.named("boardroom", "plan").await.unwrap(), id);
    }
    engine.remove(id).await.unwrap();
    for (kind, name) in [("boardroom", "plan"), ("council", "plan"), ("boardroom", "other")] {
        match engine.named(kind, name).await {
            Err(EngineError::Unnamed { kind: asked, name: called }) => {
                assert_eq!((asked.as_str(), called.as_str()), (kind, name));
            }
            other => panic!("{other:?}"),
        }
    }
}
