//! Stored agents over REST: kept in the log, and no session anywhere.

use plenary_domain::library::{KIND, NAME};
use plenary_domain::limits;
use plenary_engine::ports::ListQuery;
use serde_json::{Value, json};

use crate::mcp::Client;
use crate::support::{TestApp, answer, canned, pick};

const PATH: &str = "/api/agents";

async fn add(app: &TestApp, body: Value) -> Value {
    let (status, told) = app.post(PATH, &body).await;
    assert_eq!(status, 201, "{told}");
    told["data"].clone()
}

fn tea() -> Value {
    json!({ "name": "Tea", "persona": "You love tea." })
}

/// Ids of the agents that a query finds.
async fn ids(app: &TestApp, query: &str) -> Vec<Value> {
    let (status, told) = app.get(&format!("{PATH}?{query}")).await;
    assert_eq!(status, 200, "{told}");
    pick(&told["data"], "id")
}

async fn events(app: &TestApp) -> Vec<String> {
    let id = app.store.named(KIND, NAME).await.unwrap().expect("the library is open");
    let events = app.store.events(id, 0, 1_000).await.unwrap();
    events.into_iter().map(|event| event.name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_added_read_edited_and_removed() {
    let app = TestApp::start(canned()).await;
    let body = json!({
        "name": " Tea ", "description": "Warm", "persona": "You love tea.", "model": "ollama/a",
        "isFacilitator": true, "formats": ["review", "brainstorm"], "turnSeconds": 90,
        "outputTokens": 500, "budgetTokens": 20_000,
        "workspace": { "folder": "~/tea", "tools": ["Read"] },
    });
    let request = app.http.post(format!("{}{PATH}", app.url)).json(&body);
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 201);
    assert_eq!(response.headers()["location"], "/api/agents/tea");
    let told: Value = response.json().await.unwrap();
    let mut expected = body;
    expected["name"] = json!("Tea");
    expected["id"] = json!("tea");
    expected["isBuiltIn"] = json!(false);
    expected["formats"] = json!(["brainstorm", "review"]);
    assert_eq!(told["data"], expected);
    for path in ["/api/agents/tea", "/api/agents/TEA", "/api/agents/%20tea"] {
        assert_eq!(app.get(path).await, (200, told.clone()), "{path}");
    }
    // What is given changes, null clears, and nothing else is touched.
    let changes = json!({
        "name": "Green Tea", "tier": "fast", "formats": null, "turnSeconds": null,
        "workspace": { "folder": null },
    });
    let (status, told) = app.patch("/api/agents/tea", &changes).await;
    assert_eq!(status, 200, "{told}");
    let fields = expected.as_object_mut().unwrap();
    fields.remove("model");
    fields.remove("turnSeconds");
    fields.insert("name".into(), json!("Green Tea"));
    fields.insert("tier".into(), json!("fast"));
    fields.insert("formats".into(), json!([]));
    fields.insert("workspace".into(), json!({ "tools": ["Read"] }));
    assert_eq!(told["data"], expected);
    let cleared = json!({ "tier": null, "description": null, "isFacilitator": null,
        "outputTokens": null, "budgetTokens": null, "workspace": null });
    let (_, told) = app.patch("/api/agents/green%20tea", &cleared).await;
    let plain = json!({ "id": "tea", "name": "Green Tea", "description": "",
        "persona": "You love tea.", "isFacilitator": false, "isBuiltIn": false, "formats": [] });
    assert_eq!(told["data"], plain);
    assert_eq!(app.patch("/api/agents/tea", &json!({})).await.1["data"], plain);
    assert_eq!(app.delete("/api/agents/tea").await, (200, json!({ "success": true, "data": {} })));
    assert_eq!(app.get("/api/agents/tea").await.0, 404);
    assert_eq!(add(&app, tea()).await["id"], "tea-2");
    let expected =
        ["agentAdded", "agentEdited", "agentEdited", "agentEdited", "agentRemoved", "agentAdded"];
    assert_eq!(events(&app).await, expected);
    assert_eq!(app.scripted.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_are_listed_filtered_and_paged() {
    let app = TestApp::start(canned()).await;
    let (_, all) = app.get(PATH).await;
    assert_eq!(all["meta"], json!({ "total": 14, "limit": 50 }));
    assert_eq!(all["data"][0]["persona"], Value::Null);
    assert!(all.to_string().len() < 6_000, "a list is short");
    for name in ["tea", "Äpfel", "Coffee"] {
        add(&app, json!({ "copyOf": "operator", "name": name, "description": "Likes drinks" }))
            .await;
    }
    let own = ["coffee", "tea", "pfel"];
    assert_eq!(ids(&app, "builtIn=false").await, own);
    assert_eq!(ids(&app, "facilitator=true").await.len(), 8);
    assert_eq!(ids(&app, "facilitator=false&builtIn=true").await.len(), 6);
    assert_eq!(ids(&app, "q=DRINKS+tea").await, ["tea"]);
    assert_eq!(ids(&app, "q=the+sPark").await, ["the-spark"]);
    assert_eq!(ids(&app, "q=zebra").await, Vec::<Value>::new());
    let (_, full) = app.get("/api/agents?q=tea&detail=full").await;
    let (_, operator) = app.get("/api/agents/operator").await;
    assert_eq!(full["data"][0]["persona"], operator["data"]["persona"]);
    // Each exactly once, also when the last one of a page is removed meanwhile.
    let (mut found, mut cursor) = (vec![], String::new());
    loop {
        let (_, page) = app.get(&format!("{PATH}?limit=3{cursor}")).await;
        found.extend(pick(&page["data"], "id"));
        let Some(next) = page["meta"]["next"].as_str() else { break };
        if next == "coffee" {
            app.delete("/api/agents/coffee").await;
        }
        let next: String = next.bytes().map(|byte| format!("%{byte:02x}")).collect();
        cursor = format!("&cursor={next}");
    }
    let expected: Vec<Value> =
        pick(&all["data"], "id").into_iter().chain(own.map(Value::from)).collect();
    assert_eq!(found, expected);
    for query in ["limit=0", "limit=201", "facilitator=maybe", "colour=red", "detail=most"] {
        assert_eq!(app.get(&format!("{PATH}?{query}")).await.0, 400, "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_named_all_at_once() {
    let app = TestApp::start(canned()).await;
    add(&app, tea()).await;
    let check = async |body: Value, expected: &[&str]| {
        let (status, told) = app.post(PATH, &body).await;
        assert_eq!((status, &told["error"]["code"]), (422, &json!("invalid-input")), "{told}");
        assert_eq!(pick(&told["error"]["fields"], "field"), expected, "{told}");
    };
    check(json!({}), &["name", "persona"]).await;
    check(json!({ "name": null, "persona": null }), &["name", "persona"]).await;
    check(json!({ "name": "TEA", "persona": "x", "model": "zzz" }), &["model", "name"]).await;
    let both = json!({ "name": "x", "persona": "x", "model": "zzz", "tier": "fast" });
    check(both, &["model", "tier"]).await;
    check(json!({ "name": 7, "tier": "cheap", "hat": 1 }), &["hat", "name", "tier"]).await;
    check(json!({ "copyOf": "zebra", "turnSeconds": 1 }), &["copyOf", "turnSeconds"]).await;
    let wide = json!({ "name": "x", "persona": "x".repeat(limits::STORED_PERSONA_BYTES + 1),
        "outputTokens": 15, "budgetTokens": 999, "workspace": { "folder": "x", "tools": [""] } });
    let fields =
        ["persona", "outputTokens", "budgetTokens", "workspace.folder", "workspace.tools[0]"];
    check(wide, &fields).await;
    for body in [json!({ "name": null }), json!({ "persona": null }), json!({ "copyOf": "tea" })] {
        assert_eq!(app.patch("/api/agents/tea", &body).await.0, 422, "{body}");
    }
    for (path, message) in [
        ("/api/agents/teapot", "There is no agent \"teapot\"."),
        ("/api/agents/sparc", "There is no agent \"sparc\"; did you mean the-spark?"),
    ] {
        for (status, told) in [
            app.get(path).await,
            app.patch(path, &json!({ "model": "zzz" })).await,
            app.patch(path, &json!({})).await,
            app.delete(path).await,
        ] {
            let error = json!({ "code": "not-found", "message": message,
                "hint": "List them with GET /api/agents." });
            assert_eq!((status, &told["error"]), (404, &error));
        }
    }
    assert_eq!(events(&app).await, ["agentAdded"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ships_with_plenary_is_copied_and_not_changed() {
    let app = TestApp::start(canned()).await;
    let path = "/api/agents/the-socratic";
    let changes = json!({ "persona": "Tell them." });
    for (status, told) in [app.patch(path, &changes).await, app.delete(path).await] {
        let error = json!({
            "code": "not-now", "state": "built in", "allowed": ["copy"],
            "message": "The Socratic is built in and cannot be changed or removed. Make a copy to edit.",
            "hint": "Copy it with POST /api/agents and its id as `copyOf`.",
        });
        assert_eq!((status, &told["error"]), (409, &error));
    }
    // A refusal opens nothing.
    assert_eq!(app.store.named(KIND, NAME).await.unwrap(), None);
    let (_, original) = app.get(path).await;
    let mut expected = original["data"].clone();
    expected["isBuiltIn"] = json!(false);
    for (id, name) in [
        ("the-socratic-copy", "The Socratic (copy)"),
        ("the-socratic-copy-2", "The Socratic (copy 2)"),
    ] {
        expected["id"] = json!(id);
        expected["name"] = json!(name);
        assert_eq!(add(&app, json!({ "copyOf": "the socratic" })).await, expected);
    }
    let (status, told) = app.patch("/api/agents/the-socratic-copy", &changes).await;
    assert_eq!((status, &told["data"]["persona"]), (200, &json!("Tell them.")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_makes_a_write_safe_to_repeat() {
    let app = TestApp::start(canned()).await;
    let with_key = async |method: &str, path: &str, key: &str, body: Value| {
        let request = app.http.request(method.parse().unwrap(), format!("{}{path}", app.url));
        answer(request.header("idempotency-key", key).json(&body)).await
    };
    let first = with_key("POST", PATH, "a", tea()).await;
    assert_eq!(first.0, 201, "{}", first.1);
    assert_eq!(with_key("POST", PATH, "a", tea()).await, first);
    let other = json!({ "name": "Coffee", "persona": "x" });
    assert_eq!(with_key("POST", PATH, "a", other).await.0, 422);
    let path = "/api/agents/tea";
    // An edit that changes nothing has been carried out, too.
    let same = json!({ "description": null });
    assert_eq!(with_key("PATCH", path, "e", same.clone()).await.0, 200);
    app.patch(path, &json!({ "description": "Warm" })).await;
    let again = with_key("PATCH", path, "e", same).await;
    assert_eq!((again.0, &again.1["data"]["description"]), (200, &json!("Warm")));
    for _ in 0..2 {
        assert_eq!(with_key("DELETE", path, "d", json!({})).await.0, 200);
    }
    assert_eq!(with_key("DELETE", path, "other", json!({})).await.0, 404);
    // Who repeats the first request learns what it did.
    assert_eq!(with_key("POST", PATH, "a", tea()).await.1["data"]["id"], "tea");
    assert_eq!(events(&app).await, ["agentAdded", "agentEdited", "agentEdited", "agentRemoved"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_first_agents_at_once_are_all_kept() {
    let app = TestApp::start(canned()).await;
    let bodies: Vec<Value> =
        (0..12).map(|nth| json!({ "name": format!("A{nth}"), "persona": "x" })).collect();
    let same = json!({ "name": "Same", "persona": "x" });
    let adding = bodies.iter().chain([&same, &same]).map(|body| app.post(PATH, body));
    let told = futures::future::join_all(adding).await;
    let mut statuses: Vec<u16> = told.iter().map(|(status, _)| *status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [vec![201; 13], vec![422]].concat());
    assert_eq!(ids(&app, "builtIn=false").await.len(), 13);
    let everything = ListQuery { limit: 100, ..ListQuery::default() };
    assert_eq!(app.store.list(everything).await.unwrap().total, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_library_is_no_session() {
    let app = TestApp::start(canned()).await;
    let board = app.triad("Who lists the agents?").await;
    app.until_status(&board, "closed").await;
    let metrics = ["plenary_sessions_opened_total", "plenary_events_total"];
    let before = [app.metric(metrics[0]).await, app.metric(metrics[1]).await];
    let position = app.store.position().await.unwrap();
    add(&app, json!({ "name": "Agents", "persona": "Who knows the word hydrodynamics?" })).await;
    let id = app.store.named(KIND, NAME).await.unwrap().unwrap();
    let lists = ["", "q=agents", "q=hydrodynamics", "q=open", "active=false"];
    for query in lists {
        let (_, told) = app.get(&format!("/api/sessions?{query}")).await;
        let found = pick(&told["data"], "kind");
        let total = told["meta"]["total"].as_u64().unwrap();
        assert!(!found.contains(&json!(KIND)), "{query}: {told}");
        assert_eq!(found.len() as u64, total, "{query}");
    }
    let (status, told) = app.get("/api/sessions?kind=library").await;
    assert_eq!((status, &told["error"]["code"]), (400, &json!("invalid-query")));
    let sessions = format!("/api/sessions/{id}");
    let boards = format!("/api/boardrooms/{id}");
    for (method, path) in [
        ("GET", sessions.clone()),
        ("GET", format!("{sessions}?detail=full")),
        ("GET", format!("{sessions}/wait?seconds=0")),
        ("POST", format!("{sessions}/stop")),
        ("DELETE", sessions),
        ("GET", boards.clone()),
        ("GET", format!("{boards}/events")),
        ("GET", format!("{boards}/export")),
        ("POST", format!("{boards}/stop")),
        ("POST", format!("{boards}/resume")),
        ("DELETE", boards),
        ("GET", "/api/councils/agents".into()),
        ("GET", "/api/whiteboards/agents".into()),
    ] {
        let request = app.http.request(method.parse().unwrap(), format!("{}{path}", app.url));
        let (status, told) = answer(request).await;
        assert_eq!((status, &told["error"]["code"]), (404, &json!("not-found")), "{method} {path}");
        assert!(!told.to_string().contains(KIND), "{method} {path}: {told}");
    }
    assert_eq!([app.metric(metrics[0]).await, app.metric(metrics[1]).await], before);
    assert_eq!(app.store.position().await.unwrap(), position);
    assert_eq!(ids(&app, "builtIn=false").await, ["agents"]);
    let (client, _) = Client::start(&app, None).await;
    for tool in ["session_get", "session_wait", "session_stop"] {
        let arguments = json!({ "name": tool, "arguments": { "id": id } });
        let told = client.ask("tools/call", arguments).await;
        assert_eq!(told["result"]["isError"], true, "{told}");
        assert!(told.to_string().contains("There is no session"), "{told}");
    }
    let told = client.ask("resources/list", json!({})).await;
    assert!(!told.to_string().contains(KIND), "{told}");
    let told = client.good("agents_list", json!({ "built_in": false })).await;
    assert_eq!((&told["total"], &told["agents"][0]["id"]), (&json!(1), &json!("agents")));
    assert_eq!(told["agents"][0]["is_facilitator"], false);
}
