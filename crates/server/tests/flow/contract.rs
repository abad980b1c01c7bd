//! What the interface promises: errors, idempotency, and a true document.

use std::time::Duration;

use plenary_domain::limits;
use plenary_scripted::Gate;
use plenary_scripted::{Reply, Script};
use serde_json::{Value, json};

use crate::support::{TestApp, answer, canned, pick};

fn fields(body: &Value) -> Vec<String> {
    let mut names: Vec<String> = body["error"]["fields"]
        .as_array()
        .unwrap_or_else(|| panic!("no fields in {body}"))
        .iter()
        .map(|field| field["field"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn every_wrong_field_is_named() {
    let app = TestApp::start(canned()).await;
    let check = async |body: Value, expected: &[&str]| {
        let (status, answer) = app.post("/api/boardrooms", &body).await;
        assert_eq!(status, 422, "{body}: {answer}");
        assert_eq!(answer["success"], false);
        assert_eq!(answer["error"]["code"], "invalid-input");
        assert_eq!(fields(&answer), expected, "{body}: {answer}");
        assert!(!answer["error"]["message"].as_str().unwrap().is_empty());
    };
    check(json!({}), &["prompt"]).await;
    check(json!({ "prompt": " " }), &["prompt"]).await;
    check(json!({ "prompt": 7 }), &["prompt"]).await;
    check(json!({ "prompt": "?", "promt": 1 }), &["promt"]).await;
    check(json!({ "prompt": "?", "board": "no-such" }), &["board"]).await;
    check(json!({ "prompt": "?", "board": "full-board", "advisors": [] }), &["advisors", "board"])
        .await;
    check(json!({ "prompt": "?", "advisors": [] }), &["advisors"]).await;
    let crowd: Vec<Value> =
        (0..17).map(|_| json!({"role": "critic", "model": "ollama/a"})).collect();
    check(json!({ "prompt": "?", "advisors": crowd }), &["advisors"]).await;
    check(json!({ "prompt": "?", "advisors": [{ "role": "crtic" }] }), &["advisors[0].role"]).await;
    check(
        json!({
            "prompt": "?",
            "advisors": [{ "role": "critic", "model": "ollama/a", "replyWithinSeconds": 9 }],
            "quorum": { "need": 1, "graceSeconds": -1 },
        }),
        &["advisors[0].replyWithinSeconds", "quorum.graceSeconds"],
    )
    .await;
    check(
        json!({ "prompt": "?", "models": ["nope", "ollama/a", "no/pe"] }),
        &["models[0]", "models[2]"],
    )
    .await;
    check(
        json!({
            "prompt": "x".repeat(limits::PROMPT_BYTES + 1),
            "advisors": [
                { "role": "critic", "model": "nope" },
                { "role": "critic", "model": "ollama/a", "person": "Ada" },
                { "role": "critic", "person": " " },
                { "role": "expert", "model": "ollama/a", "systemPrompt": "x".repeat(9000) },
            ],
            "synthesizer": "neither",
            "quorum": { "need": 5, "graceSeconds": 99999 },
            "context": [{ "name": "", "text": "" }],
        }),
        &[
            "advisors[0].model",
            "advisors[1].person",
            "advisors[2].person",
            "advisors[3].systemPrompt",
            "context[0].name",
            "context[0].text",
            "prompt",
            "quorum.graceSeconds",
            "quorum.need",
            "synthesizer",
        ],
    )
    .await;
    let types = json!({ "prompt": 7, "board": "none", "colour": 1, "quorum": { "need": "x" } });
    check(types, &["colour", "prompt", "quorum.need"]).await;
    let seats = json!([
        { "role": "critic", "model": 1, "hat": true },
        { "role": "critic", "person": [] },
    ]);
    let expected = ["advisors[0].hat", "advisors[0].model", "advisors[1].person"];
    check(json!({ "prompt": "?", "advisors": seats }), &expected).await;
    assert_eq!(app.get("/api/sessions").await.1["meta"]["total"], 0);
    assert_eq!(app.metric("plenary_sessions_opened_total").await, 0);
    assert_eq!(app.scripted.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_model_lists_near_ones() {
    let script = Script::new(Reply::canned()).models(&["llama3.2:3b", "qwen3"]);
    let app = TestApp::start(script).await;
    let seats = json!([{ "role": "critic", "model": "lama3.2" }]);
    let (status, body) =
        app.post("/api/boardrooms", &json!({ "prompt": "?", "advisors": seats })).await;
    assert_eq!(status, 422, "{body}");
    let problem = body["error"]["fields"][0]["problem"].as_str().unwrap();
    assert!(
        problem.contains("did you mean") && problem.contains("ollama/llama3.2:3b"),
        "{problem}"
    );
    let seats = json!([{ "role": "critic", "model": "qwen3" }]);
    let (status, body) =
        app.post("/api/boardrooms", &json!({ "prompt": "?", "advisors": seats })).await;
    assert_eq!(status, 422, "{body}");
    assert!(body["error"]["message"].as_str().unwrap().contains("several providers"), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_is_refused_in_our_own_words() {
    let app = TestApp::start(canned()).await;
    let board = app.triad("Here?").await;
    app.until_status(&board, "closed").await;
    let post = |path: &str| app.http.post(format!("{}{path}", app.url));
    let get = |path: &str| app.http.get(format!("{}{path}", app.url));
    let json_type = ("content-type", "application/json");
    let boards = "/api/boardrooms";
    let huge = format!("{{\"prompt\":\"{}\"}}", "x".repeat(limits::BODY_BYTES));
    let stream = board.at("events");
    let cases = [
        (post(boards).header(json_type.0, json_type.1).body("{\"prompt\":"), 400, "invalid-json"),
        (
            post(boards).header(json_type.0, json_type.1).body("{\"prompt\":\"a\"} b"),
            400,
            "invalid-json",
        ),
        (post(boards).body("{\"prompt\":\"a\"}"), 415, "unsupported-media-type"),
        (
            post(boards).header(json_type.0, "text/plain").body("{\"prompt\":\"a\"}"),
            415,
            "unsupported-media-type",
        ),
        (post(boards).header(json_type.0, json_type.1).body(huge), 413, "too-large"),
        (post(boards).header("idempotency-key", "x".repeat(201)), 400, "invalid-header"),
        (get("/api/nothing"), 404, "not-found"),
        (get("/api/boardrooms/no-id"), 404, "not-found"),
        (get("/api/boardrooms/%FF"), 404, "not-found"),
        (get("/api/boardrooms/01890000-0000-7000-8000-000000000000"), 404, "not-found"),
        (get("/api/sessions/01890000-0000-7000-8000-000000000000"), 404, "not-found"),
        (get("/api/sessions?limit=0"), 400, "invalid-query"),
        (get("/api/sessions?limit=201"), 400, "invalid-query"),
        (get("/api/sessions?limit=many"), 400, "invalid-query"),
        (get("/api/sessions?cursor=here"), 400, "invalid-query"),
        (get("/api/sessions?colour=red"), 400, "invalid-query"),
        (get("/api/events?after=soon"), 400, "invalid-query"),
        (get("/api/events").header("last-event-id", "soon"), 400, "invalid-header"),
        (get(&stream).header("last-event-id", "-1"), 400, "invalid-header"),
        (get(&board.at("export?format=pdf")), 400, "invalid-query"),
    ];
    for (request, status, code) in cases {
        let shown = format!("{request:?}");
        let (found, body) = answer(request).await;
        let shown: String = shown.chars().take(200).collect();
        assert_eq!((found, &body["error"]["code"]), (status, &json!(code)), "{shown}: {body}");
        assert_eq!(body["success"], false);
        assert!(!body["error"]["message"].as_str().unwrap().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_method_is_answered_with_those_that_there_are() {
    let app = TestApp::start(canned()).await;
    let id = "01890000-0000-7000-8000-000000000000";
    for (method, path, allow) in [
        ("PUT", "/api/boardrooms".to_owned(), "GET,HEAD,POST"),
        ("PATCH", format!("/api/boardrooms/{id}"), "DELETE,GET,HEAD"),
        ("GET", format!("/api/boardrooms/{id}/stop"), "POST"),
        ("GET", format!("/api/boardrooms/{id}/ballot"), "POST"),
        ("POST", "/api/sessions".to_owned(), "GET,HEAD"),
        ("DELETE", "/healthz".to_owned(), "GET,HEAD"),
    ] {
        let request = app.http.request(method.parse().unwrap(), format!("{}{path}", app.url));
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 405, "{method} {path}");
        let header = response.headers()["allow"].to_str().unwrap().to_owned();
        let mut found: Vec<&str> = header.split(',').map(str::trim).collect();
        found.sort_unstable();
        assert_eq!(found.join(","), allow, "{method} {path}");
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["error"]["code"], "method-not-allowed");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_makes_a_request_safe_to_repeat() {
    let app = TestApp::start(canned()).await;
    let body = json!({ "prompt": "Once?", "models": ["ollama/a", "ollama/b"] });
    let (status, first) = app.post_with_key("/api/boardrooms", "k1", &body).await;
    assert_eq!(status, 201, "{first}");
    let board = crate::support::Board { id: first["data"]["id"].as_str().unwrap().to_owned() };
    app.until_status(&board, "closed").await;
    let (status, second) = app.post_with_key("/api/boardrooms", "k1", &body).await;
    assert_eq!((status, &second["data"]["id"]), (201, &json!(board.id)));
    let other = json!({ "prompt": "Twice?", "models": ["ollama/a"] });
    let (status, reused) = app.post_with_key("/api/boardrooms", "k1", &other).await;
    assert_eq!((status, &reused["error"]["code"]), (422, &json!("idempotency-key-reused")));
    // The same key for another command is another request as well.
    let (status, _) = app.post_with_key(&board.at("resynthesize"), "k1", &json!({})).await;
    assert_eq!(status, 422);
    assert_eq!(app.scripted.requests().len(), 4);
    assert_eq!(app.metric("plenary_sessions_opened_total").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn repeats_at_the_same_moment_are_one_request() {
    let gate = Gate::new();
    let app = TestApp::start(Script::new(Reply::canned().gate(0, &gate))).await;
    let body = json!({ "prompt": "At once?", "models": ["ollama/a", "ollama/b", "ollama/c"] });
    let all = (0..16).map(|_| app.post_with_key("/api/boardrooms", "k", &body));
    let answers = futures::future::join_all(all).await;
    let id = answers[0].1["data"]["id"].clone();
    for (status, body) in &answers {
        assert_eq!((*status, &body["data"]["id"]), (201, &id), "{body}");
    }
    gate.reached(3).await;
    gate.release();
    let board = crate::support::Board { id: id.as_str().unwrap().to_owned() };
    app.until_status(&board, "closed").await;
    assert_eq!(app.scripted.requests().len(), 4);
    assert_eq!(app.get("/api/sessions").await.1["meta"]["total"], 1);

    // The same for a command to a board: all of them get the answer of the first.
    let again = json!({ "instruction": "shorter" });
    let path = board.at("resynthesize");
    let all = (0..16).map(|_| app.post_with_key(&path, "r", &again));
    for (status, body) in futures::future::join_all(all).await {
        assert_eq!(status, 200, "{body}");
    }
    let view = app.until_status(&board, "closed").await;
    assert_eq!(pick(&view["syntheses"], "number"), [1, 2]);
    assert_eq!(app.scripted.requests().len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_is_not_trusted() {
    let app = TestApp::start(canned()).await;
    let check = async |body: Value, expected: &[&str]| {
        let (status, answer) = app.post("/api/boardrooms/import", &body).await;
        assert_eq!(status, 422, "{answer}");
        assert_eq!(fields(&answer), expected, "{answer}");
    };
    let board = app.triad("Import?").await;
    app.until_status(&board, "closed").await;
    let (_, mut export) = app.get(&board.at("export")).await;
    export["formatVersion"] = json!(2);
    export["events"][1]["event"]["type"] = json!("invented");
    check(export.clone(), &["events[1].event", "formatVersion"]).await;
    // Of another form's record nothing else would fit, so nothing else is named.
    export["format"] = json!("plenary.discussion");
    check(export, &["format"]).await;
    let (_, mut export) = app.get(&board.at("export")).await;
    export["events"].as_array_mut().unwrap().remove(0);
    check(export, &["events"]).await;
    let (_, mut export) = app.get(&board.at("export")).await;
    export["events"].as_array_mut().unwrap().remove(4);
    check(export, &["events[4]"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_lists_every_route() {
    let app = TestApp::start(canned()).await;
    let (status, document) = app.get("/api/openapi.json").await;
    assert_eq!(status, 200);
    assert!(document["openapi"].as_str().unwrap().starts_with("3."));
    let paths = document["paths"].as_object().unwrap();
    let methods = ["get", "post", "put", "patch", "delete"];
    for (path, operations) in paths {
        let place = path.replace("{id}", "01890000-0000-7000-8000-000000000000");
        let place = place.replace("{advisor}", "1").replace("{participant}", "nobody");
        let place = place.replace("{board}", "none").replace("{council}", "none");
        for method in methods {
            let request = app
                .http
                .request(method.to_uppercase().parse().unwrap(), format!("{}{place}", app.url));
            let response = request.send().await.unwrap();
            let served = response.status() != 405;
            let documented = operations.get(method).is_some();
            assert_eq!(served, documented, "{method} {path}: {}", response.status());
            if !documented {
                continue;
            }
            let known = &operations[method]["responses"];
            let status = response.status().as_u16().to_string();
            assert!(known.get(&status).is_some(), "{method} {path} answers {status}");
        }
    }
    let operations = paths.values().flat_map(|item| item.as_object().unwrap().values());
    let mut ids: Vec<&str> =
        operations.map(|operation| operation["operationId"].as_str().unwrap()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "clients call operations by their ids");
    // Every reference in it leads somewhere.
    let text = document.to_string();
    for part in text.split("\"$ref\":\"#").skip(1) {
        let pointer = part.split('"').next().unwrap();
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
    // Whatever the sources route is in the document, but for these pages; MCP, which
    // describes itself: its answers are JSON-RPC and not in our envelope; and what only
    // nodes ask of each other.
    let pages = [
        "/docs",
        "/docs/",
        "/docs/style.css",
        "/docs/{*page}",
        "/api/openapi.json",
        "/mcp",
        "/node/words/{id}",
    ];
    let sources = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let routed = routed(&sources);
    assert!(!routed.is_empty());
    for route in routed {
        // The router has a sign of its own for a part that holds slashes.
        let documented = paths.contains_key(&route.replace("{*", "{"));
        assert!(documented || pages.contains(&route.as_str()), "{route}");
    }
}

/// Every address that the sources give to a router.
fn routed(folder: &std::path::Path) -> Vec<String> {
    let mut found = vec![];
    for text in texts(folder) {
        for (at, _) in text.match_indices("route(").chain(text.match_indices("path = \"")) {
            let rest = &text[at..];
            if let Some(address) = rest.split('"').nth(1).filter(|text| text.starts_with('/')) {
                found.push(address.to_owned());
            }
        }
    }
    found
}

fn texts(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: std::path::PathBuf| match path.is_dir() {
        true => texts(&path),
        false => vec![std::fs::read_to_string(&path).unwrap()],
    };
    entries.flat_map(read).collect()
}

#[test]
fn no_two_types_have_one_name_in_the_document() {
    let sources = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut names = vec![];
    for text in texts(&sources) {
        for derived in text.split("ToSchema").skip(1) {
            // Not where it is imported.
            let rest = derived.split_once(")]").filter(|(before, _)| !before.contains(';'));
            let Some((attributes, rest)) = rest.and_then(|(_, rest)| rest.split_once("pub "))
            else {
                continue;
            };
            let words: Vec<&str> = rest.split_whitespace().take(2).collect();
            let ["struct" | "enum", name] = words[..] else { continue };
            // What a macro makes has its name where the macro is used.
            if name.starts_with('$') {
                continue;
            }
            let name = attributes.split("schema(as = ").nth(1).unwrap_or(name);
            names.push(name.split(['<', ')', ',']).next().unwrap().to_owned());
        }
    }
    assert!(names.len() > 20, "{names:?}");
    names.sort();
    let twice: Vec<&String> =
        names.windows(2).filter(|two| two[0] == two[1]).map(|two| &two[0]).collect();
    assert_eq!(twice, Vec::<&String>::new(), "one would stand for the other");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_watches_over_the_server_sees_how_it_is() {
    let app = TestApp::start(canned()).await;
    assert_eq!(app.get("/healthz").await, (200, json!({ "success": true, "data": {} })));
    assert_eq!(app.get("/readyz").await, (200, json!({ "success": true, "data": {} })));
    let board = app.triad("Well?").await;
    app.until_status(&board, "closed").await;
    for (name, value) in [
        ("plenary_sessions_opened_total", 1),
        ("plenary_events_total", 6),
        ("plenary_attempts_total", 4),
        ("plenary_failures_total{kind=\"unreachable\"}", 0),
    ] {
        // The last part of a name may have words with spaces; these have not.
        assert_eq!(app.metric(name).await, value, "{name}");
    }
    app.until_metric("plenary_calls_running", |calls| calls == 0).await;
    app.until_metric("plenary_readers", |readers| readers == 0).await;
    app.until_metric("plenary_sessions_loaded", |rooms| rooms == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_cannot_be_written_shows() {
    let (app, clock) = TestApp::with_clock(canned()).await;
    assert_eq!(app.get("/readyz").await.0, 200);
    app.log.close().await.unwrap();
    // Whoever asks again at once is told the same, and it costs no write.
    assert_eq!(app.get("/readyz").await.0, 200);
    clock.advance(Duration::from_millis(limits::READY_FRESH_MS));
    for _ in 0..2 {
        let (status, body) = app.get("/readyz").await;
        assert_eq!((status, &body["error"]["code"]), (503, &json!("store-failed")));
    }
}
