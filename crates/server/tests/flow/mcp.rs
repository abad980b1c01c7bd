//! MCP over HTTP, spoken by hand. The official client speaks it in
//! `crates/app/tests/mcp`.

use std::time::Duration;

use plenary_domain::limits;
use plenary_scripted::{Gate, Reply, When};
use plenary_server::{Access, Capacity};
use serde_json::{Value, json};

use crate::discussions::{OPENS, agreeable, next, seat};
use crate::support::{SAFETY, Setup, TestApp, answer, canned};

/// One MCP session.
pub struct Client<'a> {
    app: &'a TestApp,
    session: String,
    token: Option<&'a str>,
}

const BOTH: &str = "application/json, text/event-stream";

fn post(app: &TestApp, body: &Value) -> reqwest::RequestBuilder {
    app.http.post(format!("{}/mcp", app.url)).header("accept", BOTH).json(body)
}

fn hello() -> Value {
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } })
}

/// Every message of an answer, whether it came as JSON or as a stream.
async fn messages(request: reqwest::RequestBuilder) -> Vec<Value> {
    let response = tokio::time::timeout(SAFETY, request.send()).await.unwrap().unwrap();
    let status = response.status();
    let text = tokio::time::timeout(SAFETY, response.text()).await.unwrap().unwrap();
    assert!(status.is_success(), "{status}: {text}");
    let lines = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

impl<'a> Client<'a> {
    pub async fn start(app: &'a TestApp, token: Option<&'a str>) -> (Client<'a>, Value) {
        let mut request = post(app, &hello());
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let text = response.text().await.unwrap();
        let lines = text.lines().filter_map(|line| line.strip_prefix("data:"));
        let told = lines.filter_map(|line| serde_json::from_str::<Value>(line.trim()).ok()).next();
        let client = Client { app, session, token };
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(client.request(&ready).send().await.unwrap().status(), 202);
        (client, told.unwrap()["result"].clone())
    }

    pub fn request(&self, body: &Value) -> reqwest::RequestBuilder {
        let request = post(self.app, body)
            .header("mcp-session-id", &self.session)
            .header("mcp-protocol-version", "2025-06-18");
        match self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    async fn all(&self, method: &str, params: Value) -> Vec<Value> {
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        messages(self.request(&body)).await
    }

    pub async fn ask(&self, method: &str, params: Value) -> Value {
        let mut all = self.all(method, params).await;
        let last = all.pop().unwrap();
        assert_eq!((all.len(), &last["id"]), (0, &json!(7)), "{last}");
        last
    }

    async fn call(&self, tool: &str, arguments: Value) -> Value {
        let told = self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        check_words(tool, &told["result"]);
        told["result"].clone()
    }

    /// The structured content of a call that must succeed. The text says the same.
    pub async fn good(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{result}");
        let text: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        text
    }

    pub async fn bad(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(result["structuredContent"], Value::Null);
        serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
    }
}

/// An agent knows tools and arguments. What it is told to do must not name a route, a
/// header, a command or a flag.
pub fn check_words(tool: &str, result: &Value) {
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    let answer: Value = serde_json::from_str(text).unwrap_or_default();
    let told = ["message", "hint", "fields", "next"].map(|part| answer[part].to_string()).join(" ");
    let foreign = ["/api", "GET ", "POST ", "DELETE ", "Authorization", "header", "Agent-Token"];
    for word in foreign.into_iter().chain(["Idempotency-Key", " --", "`plenary ", "query", "meta."])
    {
        assert!(!told.contains(word), "{tool} says {word}: {told}");
    }
}

/// One call of the protocol that has no sessions.
async fn alone(app: &TestApp, tool: &str, arguments: Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    });
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": tool, "arguments": arguments, "_meta": meta } });
    let request = post(app, &body)
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", tool);
    let told = messages(request).await.pop().unwrap();
    check_words(tool, &told["result"]);
    told["result"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn without_sessions_a_board_is_led_with_tokens() {
    let app = TestApp::start(canned()).await;
    let told = |result: &Value| -> Value {
        serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
    };
    let open = json!({ "board_id": "adr", "topic": "Which?", "opened_by": "fay" });
    let opened = told(&alone(&app, "whiteboard_open", open).await);
    let token = opened["agent_token"].as_str().unwrap();
    let next = opened["next"][0].as_str().unwrap();
    let keep =
        format!("Keep agent_token and send it with every call as fay: agent_token = {token:?}.");
    assert!(next.starts_with(&keep), "{next}");
    let post = json!({ "board_id": "adr", "agent_name": "fay", "type": "proposal",
        "title": "This", "body": "So." });
    let refused = alone(&app, "whiteboard_post", post.clone()).await;
    assert_eq!(refused["isError"], true);
    let error = told(&refused);
    assert_eq!(error["code"], "not-your-agent");
    assert!(error["message"].as_str().unwrap().contains("send it with every call"), "{error}");
    let hint = error["hint"].as_str().unwrap();
    assert!(
        hint.contains("agent_token that whiteboard_open or whiteboard_register returned"),
        "{hint}"
    );
    let acts = async |tool: &str, more: Value| {
        let mut given = json!({ "board_id": "adr", "agent_name": "fay", "agent_token": token });
        given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let result = alone(&app, tool, given).await;
        assert_eq!(result["isError"], false, "{result}");
        told(&result)
    };
    acts("whiteboard_post", post).await;
    for phase in ["read", "debate", "resolve"] {
        acts("whiteboard_transition", json!({ "target_phase": phase })).await;
    }
    acts("whiteboard_archive", json!({})).await;

    // A council's names too.
    let council = json!({ "name": "talk", "charter": "Be kind." });
    assert_eq!(alone(&app, "council_open", council).await["isError"], false);
    let says = json!({ "council": "talk", "sender": "ann", "body": "Hello." });
    let posted = told(&alone(&app, "council_post", says.clone()).await);
    assert!(posted["next"][0].as_str().unwrap().starts_with("Keep agent_token"), "{posted}");
    let error = told(&alone(&app, "council_post", says.clone()).await);
    assert_eq!(error["code"], "not-your-agent");
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("the first council_post returned for it, with every call"), "{hint}");
    let mut again = says;
    again["agent_token"] = posted["agent_token"].clone();
    let posted = told(&alone(&app, "council_post", again).await);
    assert_eq!(posted["sequence"], 2);
    assert!(!posted["next"].to_string().contains("Keep agent_token"), "{posted}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_ends_when_something_happens() {
    let app = TestApp::start(canned()).await;
    let (fay, _) = Client::start(&app, None).await;
    let (ann, _) = Client::start(&app, None).await;
    let open = json!({ "board_id": "adr", "topic": "Which?", "opened_by": "fay" });
    let id = fay.good("whiteboard_open", open).await["session_id"].clone();
    let go = async |phase: &str| {
        let given = json!({ "board_id": "adr", "agent_name": "fay", "target_phase": phase });
        fay.good("whiteboard_transition", given).await;
    };
    // It waits; a blind post is nothing that happened, the transition is.
    let waits = ann.good("session_wait", json!({ "id": id, "seconds": 600 }));
    let acts = async {
        app.until_metric("plenary_readers", |readers| readers == 1).await;
        let post = json!({ "board_id": "adr", "agent_name": "fay", "type": "proposal",
            "title": "This", "body": "So." });
        fay.good("whiteboard_post", post).await;
        go("read").await;
    };
    let (told, ()) = tokio::join!(waits, acts);
    assert_eq!((&told["over"], &told["status"]), (&json!(false), &json!("read")));
    assert!(told["next"].to_string().contains("session_wait with this id and this `seen`"));
    // What happens between two waits is told at once.
    go("debate").await;
    let given = json!({ "id": id, "seconds": 600, "seen": told["seen"] });
    let told = ann.good("session_wait", given).await;
    assert_eq!(told["status"], "debate");
    let waits = ann.good("session_wait", json!({ "id": id, "seconds": 600, "seen": told["seen"] }));
    let acts = async {
        app.until_metric("plenary_readers", |readers| readers == 1).await;
        let post = json!({ "board_id": "adr", "agent_name": "fay", "type": "informational",
            "title": "By the way", "body": "So." });
        fay.good("whiteboard_post", post).await;
    };
    let (again, ()) = tokio::join!(waits, acts);
    assert_eq!(again["status"], "debate");
    assert_ne!(again["seen"], told["seen"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_ends_with_a_post_in_a_council() {
    let gate = Gate::new();
    let app = TestApp::start(canned().when(When::model("a"), Reply::canned().gate(0, &gate))).await;
    let (fay, _) = Client::start(&app, None).await;
    let (ann, _) = Client::start(&app, None).await;
    let members = json!([{ "name": "a", "model": "ollama/a" }]);
    let open = json!({ "name": "talk", "charter": "Be kind.", "members": members });
    fay.good("council_open", open).await;
    let id = ann.good("sessions_list", json!({})).await["sessions"][0]["id"].clone();
    let says = async |body: &str| {
        let post = json!({ "council": "talk", "sender": "fay", "body": body });
        fay.good("council_post", post).await;
    };
    // A member is answering, and somebody posts meanwhile.
    says("Shall we?").await;
    gate.reached(1).await;
    let seen = ann.good("session_get", json!({ "id": id })).await["seen"].clone();
    let waits = ann.good("session_wait", json!({ "id": id, "seconds": 600, "seen": seen }));
    let acts = async {
        app.until_metric("plenary_readers", |readers| readers == 1).await;
        says("By Friday.").await;
    };
    let (told, ()) = tokio::join!(waits, acts);
    assert_eq!((&told["over"], &told["status"]), (&json!(false), &json!("open")));
    assert!(told["result"].as_str().unwrap().contains("By Friday."), "{told}");
    assert!(told["next"].to_string().contains("council_read"), "{told}");
    gate.release();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_ends_with_a_question_to_a_person() {
    let gate = Gate::new();
    let asks_ada = next("ada", "What does a person drink?").gate(0, &gate);
    let app = TestApp::start(agreeable().when(When::says(OPENS), asks_ada)).await;
    let (client, _) = Client::start(&app, None).await;
    let given = json!({ "topic": "Tea or coffee?", "facilitator": seat("Lead"),
        "participants": [seat("Ann"), { "person": "Ada" }] });
    let id = client.good("discussion_start", given).await["id"].clone();
    gate.reached(1).await;
    let seen = client.good("session_get", json!({ "id": id })).await["seen"].clone();
    let waits = client.good("session_wait", json!({ "id": id, "seconds": 600, "seen": seen }));
    let acts = async {
        app.until_metric("plenary_readers", |readers| readers == 1).await;
        gate.release();
    };
    let (told, ()) = tokio::join!(waits, acts);
    assert_eq!((&told["over"], &told["waits_for"]), (&json!(false), &json!(["Ada"])));
    assert_eq!(told["next"][0], "Ada must reply; that is for a person to do.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_record_is_linked_and_read_page_by_page() {
    let app = TestApp::start(canned()).await;
    let (fay, _) = Client::start(&app, None).await;
    let on = |more: Value| {
        let mut given = json!({ "board_id": "long", "agent_name": "fay" });
        given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        given
    };
    let open = json!({ "board_id": "long", "topic": "Which?", "opened_by": "fay" });
    fay.good("whiteboard_open", open).await;
    for nth in 0..20 {
        let body = format!("Reason ä {nth}.\n").repeat(500);
        let post = json!({ "type": "proposal", "title": format!("Way {nth}"), "body": body });
        fay.good("whiteboard_post", on(post)).await;
    }
    let blind = fay.good("whiteboard_summarize", on(json!({}))).await;
    assert_eq!(blind["posts"], 20);
    for phase in ["read", "debate", "resolve"] {
        fay.good("whiteboard_transition", on(json!({ "target_phase": phase }))).await;
    }
    let result = fay.call("whiteboard_archive", on(json!({}))).await;
    assert!(result.to_string().len() < 40_000, "{}", result.to_string().len());
    let archived = &result["structuredContent"];
    assert_eq!((&archived["record"], &archived["export"]), (&Value::Null, &Value::Null));
    assert_eq!(archived["summary"]["posts"], 20);
    let id = archived["session_id"].as_str().unwrap();
    let link = &result["content"][1];
    let uri = format!("plenary://whiteboard/{id}");
    assert_eq!((&link["type"], &link["uri"]), (&json!("resource_link"), &json!(uri)));
    let told = fay.ask("resources/read", json!({ "uri": uri })).await;
    let record = told["result"]["contents"][0]["text"].as_str().unwrap();
    let (mut read, mut from) = (String::new(), json!(0));
    while !from.is_null() {
        let page = json!({ "id": id, "detail": "full", "from": from });
        let page = fay.good("session_get", page).await;
        let part = page["result"].as_str().unwrap();
        assert!(part.len() <= limits::MCP_TEXT_BYTES && !part.is_empty());
        read.push_str(part);
        from = page["next_from"].clone();
    }
    assert_eq!(read, record);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_there_is_is_told_to_whoever_asks_for_what_is_not() {
    let app = TestApp::start(canned()).await;
    let (fay, _) = Client::start(&app, None).await;
    let on = |more: Value| {
        let mut given = json!({ "board_id": "adr", "agent_name": "fay" });
        given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        given
    };
    let open = json!({ "board_id": "adr", "topic": "Which?", "opened_by": "fay" });
    let opened = fay.good("whiteboard_open", open).await;
    let post = json!({ "type": "claim", "title": "This", "body": "So." });
    fay.good("whiteboard_post", on(post)).await;
    for phase in ["read", "debate"] {
        fay.good("whiteboard_transition", on(json!({ "target_phase": phase }))).await;
    }
    let vote = json!({ "post_id": "post-1", "vote": "accept" });
    let error = fay.bad("whiteboard_vote", on(vote)).await;
    assert_eq!(error["message"], "There is no post post-1 on this board; available: fay/1.");
    let note =
        json!({ "post_id": "fay/1", "type": "resolution", "challenge_id": "c", "body": "." });
    let error = fay.bad("whiteboard_annotate", on(note)).await;
    assert_eq!(error["message"], "There is no challenge c of fay/1; none exist yet.");
    let error = fay.bad("whiteboard_state", json!({ "board_id": "none" })).await;
    assert_eq!(error["hint"], "List them with whiteboard_list.");
    let error = fay.bad("session_get", json!({ "id": "none" })).await;
    assert_eq!(error["hint"], "List them with sessions_list.");
    let error = fay.bad("whiteboard_post", on(json!({ "type": "claim" }))).await;
    let wrong: Vec<&Value> =
        error["fields"].as_array().unwrap().iter().map(|wrong| &wrong["field"]).collect();
    assert_eq!(wrong, ["body", "title"], "{error}");
    let error = fay.bad("whiteboard_transition", on(json!({ "target_phase": "read" }))).await;
    assert!(error["hint"].as_str().unwrap().contains("whiteboard_vote"), "{error}");

    let listed =
        fay.good("sessions_list", json!({ "kind": "whiteboard", "status": "debate" })).await;
    assert_eq!(listed["sessions"][0]["id"], opened["session_id"]);
    assert_eq!(fay.good("sessions_list", json!({ "q": "Which" })).await["total"], 1);
    for (tool, given, problem) in [
        (
            "council_list",
            json!({ "status": "active" }),
            "`status`: there is no \"active\"; available: open, closed",
        ),
        (
            "sessions_list",
            json!({ "kind": "board" }),
            "`kind`: there is no \"board\"; available: boardroom, whiteboard, council, discussion, \
             workflow",
        ),
        ("sessions_list", json!({ "limit": 0 }), "`limit` must be from 1 to 200."),
        (
            "sessions_list",
            json!({ "cursor": "x" }),
            "`cursor` must be the `next_cursor` of an earlier page.",
        ),
        (
            "council_read",
            json!({ "council": "x", "wait_s": 601 }),
            "`wait_s` must be from 0 to 600.",
        ),
    ] {
        assert_eq!(fay.bad(tool, given).await["message"], problem, "{tool}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_listed_in_full() {
    let app = TestApp::start(canned()).await;
    let (client, told) = Client::start(&app, None).await;
    assert_eq!(told["serverInfo"]["name"], "plenary");
    assert_eq!(told["serverInfo"]["title"], "Plenary");
    assert_eq!(told["protocolVersion"], "2025-06-18");
    let instructions = told["instructions"].as_str().unwrap();
    for named in ["boardroom_", "discussion_", "whiteboard_", "council_", "session_wait"] {
        assert!(instructions.contains(named), "{named}");
    }
    let told = client.ask("tools/list", json!({})).await;
    let tools = told["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let expected = [
        "boardroom_convene",
        "boardroom_pick",
        "boardroom_follow_up",
        "whiteboard_open",
        "whiteboard_register",
        "whiteboard_invite",
        "whiteboard_post",
        "whiteboard_annotate",
        "whiteboard_vote",
        "whiteboard_transition",
        "whiteboard_conflicts",
        "whiteboard_state",
        "whiteboard_summarize",
        "whiteboard_archive",
        "whiteboard_list",
        "council_open",
        "council_list",
        "council_post",
        "council_read",
        "council_change",
        "council_close",
        "discussion_start",
        "workflow_run",
        "workflow_status",
        "workflow_approve",
        "workflow_signal",
        "sessions_list",
        "session_get",
        "session_wait",
        "session_stop",
        "agents_list",
        "boards_list",
        "models_list",
    ];
    assert_eq!(names, expected);
    for tool in tools {
        for text in ["title", "description"] {
            assert!(tool[text].as_str().is_some_and(|text| !text.is_empty()), "{tool}");
        }
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{tool}");
        }
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
        if let Some(output) = tool.get("outputSchema") {
            assert_eq!(output["type"], "object");
            assert!(output["properties"]["next"].is_object(), "{tool}");
        }
        let key = tool["inputSchema"]["properties"]["idempotency_key"].is_object();
        assert_eq!(key, tool["annotations"]["readOnlyHint"] == false);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_is_convened_waited_for_and_read() {
    let app = TestApp::start(canned()).await;
    let (client, _) = Client::start(&app, None).await;
    let models = client.good("models_list", json!({})).await;
    assert!(models["models"].as_array().unwrap().iter().any(|m| m["name"] == "ollama/a"));
    let given = json!({ "prompt": "Shall we?", "models": ["ollama/a", "ollama/b"],
        "quorum": { "need": 2, "grace_seconds": 5 } });
    let board = client.good("boardroom_convene", given).await;
    let fields: Vec<&String> = board.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["id", "next", "status", "title"]);
    let id = board["id"].clone();
    let path = format!("/api/boardrooms/{}", id.as_str().unwrap());
    assert_eq!(app.get(&path).await.1["data"]["quorum"]["graceSeconds"], 5.0);
    let over = client.good("session_wait", json!({ "id": id })).await;
    assert_eq!((&over["over"], &over["status"]), (&json!(true), &json!("closed")));
    assert!(over["result"].as_str().unwrap().starts_with("## Consensus"));
    assert!(over["created_at"].is_string(), "{over}");
    assert_eq!(client.good("session_get", json!({ "id": id })).await, over);
    let full = client.good("session_get", json!({ "id": id, "detail": "full" })).await;
    let record = full["result"].as_str().unwrap();
    assert!(record.contains("# Advocate (ollama/a)"), "{record}");

    let told = client.ask("resources/list", json!({})).await;
    let listed = &told["result"]["resources"][0];
    let uri = format!("plenary://boardroom/{}", id.as_str().unwrap());
    assert_eq!((&listed["uri"], &listed["title"]), (&json!(uri), &json!("Shall we?")));
    let told = client.ask("resources/read", json!({ "uri": uri })).await;
    let read = &told["result"]["contents"][0];
    assert_eq!((&read["text"], &read["mimeType"]), (&json!(record), &json!("text/markdown")));
    for uri in ["plenary://council/x", "file:///etc/passwd", &uri.replace("boardroom", "council")] {
        let told = client.ask("resources/read", json!({ "uri": uri })).await;
        assert_eq!(told["error"]["code"], -32002, "{told}");
    }
    let told = client.ask("resources/list", json!({ "cursor": "x" })).await;
    let expected = json!({ "code": -32602, "data": { "code": "invalid-query" },
        "message": "`cursor` must be the `nextCursor` of an earlier page." });
    assert_eq!(told["error"], expected);
    let told = client.ask("resources/templates/list", json!({})).await;
    assert_eq!(told["result"]["resourceTemplates"][0]["uriTemplate"], "plenary://{kind}/{id}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_a_tool_error_in_the_words_of_rest() {
    let app = TestApp::start(canned()).await;
    let (client, _) = Client::start(&app, None).await;
    let fields = |error: &Value| -> Vec<String> {
        let fields = error["fields"].as_array().into_iter().flatten();
        fields.map(|field| field["field"].as_str().unwrap().to_owned()).collect()
    };
    for (tool, given, code, wrong) in [
        ("boardroom_convene", json!({}), "invalid-input", vec!["prompt"]),
        ("boardroom_convene", json!({ "prompt": 7 }), "invalid-input", vec!["prompt"]),
        (
            "boardroom_convene",
            json!({ "prompt": "?", "quorum": { "need": 9, "grace_seconds": 99999 } }),
            "invalid-input",
            vec!["quorum.need", "quorum.grace_seconds"],
        ),
        ("boardroom_convene", json!({ "promt": "?" }), "invalid-input", vec!["promt", "prompt"]),
        ("session_get", json!({}), "invalid-input", vec!["id"]),
        ("session_get", json!({ "id": "none" }), "not-found", vec![]),
        ("session_get", json!({ "id": "none", "detail": "most" }), "invalid-query", vec!["detail"]),
        ("session_wait", json!({ "id": "none", "seconds": 601 }), "invalid-query", vec![]),
        (
            "session_wait",
            json!({ "id": "none", "seconds": "soon" }),
            "invalid-query",
            vec!["seconds"],
        ),
        ("session_wait", json!({ "id": "none" }), "not-found", vec![]),
    ] {
        let shown = format!("{tool} {given}");
        let error = client.bad(tool, given).await;
        assert_eq!(
            (&error["code"], fields(&error)),
            (&json!(code), wrong.into_iter().map(str::to_owned).collect()),
            "{shown}: {error}"
        );
        assert!(!error["message"].as_str().unwrap().is_empty());
    }
    let error = client.bad("boardroom_convene", json!({ "promt": "?" })).await;
    assert!(error["fields"].to_string().contains("did you mean `prompt`?"), "{error}");
    let told = client.ask("tools/call", json!({ "name": "board_convene", "arguments": {} })).await;
    assert_eq!(told["error"]["code"], -32602, "{told}");
    assert!(told["error"]["message"].as_str().unwrap().contains("boardroom_convene"));
    assert_eq!(app.get("/api/sessions").await.1["meta"]["total"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_tells_of_progress_and_ends_with_its_time() {
    let gate = Gate::new();
    let script = canned().when(When::model("c"), Reply::canned().gate(0, &gate));
    let (app, clock) = TestApp::with_clock(script).await;
    let (client, _) = Client::start(&app, None).await;
    let board = app.triad("How long?").await;
    app.until(&board, |view| view["advisors"].to_string().matches("\"done\"").count() == 2).await;
    let arguments = json!({ "id": board.id, "seconds": 25 });
    let params = json!({ "name": "session_wait", "arguments": arguments, "_meta": { "progressToken": "p" } });
    let passes = async {
        for seconds in [10, 10, 5] {
            let time = Duration::from_secs(seconds);
            tokio::time::timeout(SAFETY, clock.until_asleep(1, time..=time)).await.unwrap();
            clock.advance(time);
        }
    };
    let (mut told, ()) = tokio::join!(client.all("tools/call", params), passes);
    let result = told.pop().unwrap()["result"]["structuredContent"].clone();
    assert_eq!((&result["over"], &result["status"]), (&json!(false), &json!("answering")));
    assert!(result["next"][0].as_str().unwrap().contains("session_wait"), "{result}");
    let steps: Vec<f64> = told
        .iter()
        .map(|told| {
            assert_eq!(told["method"], "notifications/progress");
            assert_eq!(told["params"]["progressToken"], "p");
            assert_eq!(told["params"]["total"], 4.0);
            assert!(told["params"]["message"].as_str().unwrap().starts_with("2 of 3"));
            told["params"]["progress"].as_f64().unwrap()
        })
        .collect();
    assert_eq!(steps.len(), 4, "{told:?}");
    assert!(steps.is_sorted_by(|before, after| before < after), "{steps:?}");
    gate.release();
    let over = client.good("session_wait", json!({ "id": board.id })).await;
    assert_eq!(over["over"], true);
    let error = client.bad("session_stop", json!({ "id": board.id })).await;
    assert_eq!((&error["code"], &error["state"]), (&json!("not-now"), &json!("closed")));
}

#[tokio::test(flavor = "multi_thread")]
async fn giving_up_a_wait_ends_the_wait_only() {
    let gate = Gate::new();
    let app = TestApp::start(canned().when(When::model("c"), Reply::canned().gate(0, &gate))).await;
    let (client, _) = Client::start(&app, None).await;
    let board = app.triad("Give up?").await;
    let call = json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {
        "name": "session_wait", "arguments": { "id": board.id, "seconds": 600 } } });
    let response = client.request(&call).send().await.unwrap();
    app.until_metric("plenary_readers", |readers| readers == 1).await;
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": 9, "reason": "enough" } });
    assert_eq!(client.request(&cancel).send().await.unwrap().status(), 202);
    app.until_metric("plenary_readers", |readers| readers == 0).await;
    drop(response);
    gate.release();
    app.until_status(&board, "closed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_checks_stand_before_it() {
    let access = Access {
        tokens: vec!["one".into(), "two".into()],
        hosts: vec!["localhost".into(), "127.0.0.1".into(), "::1".into()],
        ..Access::default()
    };
    let app = TestApp::with_access(canned(), access).await;
    let own = app.url.strip_prefix("http://").unwrap();
    let ask = || post(&app, &hello()).bearer_auth("one");
    for (request, status, code) in [
        (post(&app, &hello()), 401, "unauthorized"),
        (post(&app, &hello()).bearer_auth("three"), 401, "unauthorized"),
        (ask().header("host", "evil.example"), 403, "forbidden-host"),
        (ask().header("origin", "https://evil.example"), 403, "forbidden-origin"),
        (ask().header("origin", "null"), 403, "forbidden-origin"),
    ] {
        let (found, body) = answer(request).await;
        assert_eq!((found, &body["error"]["code"]), (status, &json!(code)), "{body}");
    }
    for request in [
        ask().header("origin", format!("http://{own}")),
        ask().header("host", "[::1]:7171").header("origin", "http://[::1]:7171"),
        ask().header("host", "LocalHost").header("origin", "https://localhost"),
    ] {
        assert_eq!(request.send().await.unwrap().status(), 200);
    }
    let huge = json!({ "jsonrpc": "2.0", "id": 1, "method": "x".repeat(limits::BODY_BYTES) });
    let response = post(&app, &huge).bearer_auth("one").send().await.unwrap();
    assert_eq!(response.status(), 413);
    // The record knows who came in, and a key of one caller is not another's.
    let given = json!({ "prompt": "?", "models": ["ollama/a"], "idempotency_key": "k" });
    let (one, _) = Client::start(&app, Some("one")).await;
    let (two, _) = Client::start(&app, Some("two")).await;
    let first = one.good("boardroom_convene", given.clone()).await;
    let second = two.good("boardroom_convene", given.clone()).await;
    assert_ne!(first["id"], second["id"]);
    assert_eq!(one.good("boardroom_convene", given).await["id"], first["id"]);
    let board = crate::support::Board { id: second["id"].as_str().unwrap().to_owned() };
    assert_eq!(app.events_of(&board).await[0].actor, "token-2");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_when_its_client_says_so() {
    let app = TestApp::start(canned()).await;
    let (client, _) = Client::start(&app, None).await;
    let end = app.http.delete(format!("{}/mcp", app.url));
    let end = end.header("mcp-session-id", &client.session).send().await.unwrap();
    assert!(end.status().is_success(), "{}", end.status());
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    assert_eq!(client.request(&body).send().await.unwrap().status(), 404);
    let put = app.http.put(format!("{}/mcp", app.url)).send().await.unwrap();
    assert_eq!(put.status(), 405);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_too_many_sessions_the_one_that_was_idle_for_longest_goes() {
    let capacity = Capacity { mcp_sessions: 2, ..Capacity::default() };
    let app = Setup { capacity, ..Setup::default() }.start(canned()).await;
    let (one, _) = Client::start(&app, None).await;
    let (two, _) = Client::start(&app, None).await;
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    one.ask("tools/list", json!({})).await;
    let (three, _) = Client::start(&app, None).await;
    let gone = async { while two.request(&list).send().await.unwrap().status() != 404 {} };
    tokio::time::timeout(SAFETY, gone).await.expect("the second has given way");
    one.ask("tools/list", json!({})).await;
    // Whoever listens is not idle.
    let listen = async |client: &Client<'_>| {
        let request = app.http.get(format!("{}/mcp", app.url));
        let request = request.header("accept", "text/event-stream");
        let stream = request.header("mcp-session-id", &client.session).send().await.unwrap();
        assert_eq!(stream.status(), 200);
        stream
    };
    let (_first, third) = (listen(&one).await, listen(&three).await);
    let (status, body) = answer(post(&app, &hello())).await;
    assert_eq!((status, &body["error"]["code"]), (429, &json!("busy")), "{body}");
    drop(third);
    let begun = async { while post(&app, &hello()).send().await.unwrap().status() != 200 {} };
    tokio::time::timeout(SAFETY, begun).await.expect("the third is idle now");
    // The one that still listens is still there.
    one.ask("tools/list", json!({})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_for_each_board() {
    let app = TestApp::start(canned()).await;
    let (client, _) = Client::start(&app, None).await;
    let told = client.ask("prompts/list", json!({})).await;
    let names: Vec<&str> = told["result"]["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|prompt| prompt["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["classic-triad", "devils-court", "full-board", "peer-review"]);
    let params = json!({ "name": "devils-court", "arguments": { "question": "Why?" } });
    let told = client.ask("prompts/get", params).await;
    let text = told["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("\"devils-court\"") && text.ends_with("Why?"), "{text}");
    for params in [json!({ "name": "none" }), json!({ "name": "full-board", "arguments": {} })] {
        let told = client.ask("prompts/get", params).await;
        assert_eq!(told["error"]["code"], -32602, "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_council_is_opened_spoken_in_and_closed() {
    let app = TestApp::start(canned().when(When::model("a"), Reply::text("By all means."))).await;
    let (client, _) = Client::start(&app, None).await;
    let members = json!([{ "name": "a", "model": "ollama/a" }]);
    let open = json!({ "name": "talk", "charter": "Be kind.", "members": members });
    client.good("council_open", open).await;
    let post = json!({ "council": "talk", "sender": "ann", "body": "Shall we?" });
    let posted = client.good("council_post", post.clone()).await;
    assert_eq!((&posted["sequence"], &posted["addressed"]), (&json!(1), &json!(["a"])));
    let wait = json!({ "council": "talk", "since": 1, "wait_s": 50 });
    let read = client.good("council_read", wait).await;
    assert_eq!(read["posts"][0]["body"], "By all means.");
    // The session posts on under its name; another session cannot.
    let (other, _) = Client::start(&app, None).await;
    assert_eq!(other.bad("council_post", post.clone()).await["code"], "not-your-agent");
    let again = json!({ "council": "talk", "sender": "ann", "body": "@all?", "reply_to": 2 });
    assert_eq!(client.good("council_post", again).await["sequence"], 3);
    let listed = client.good("council_list", json!({ "status": "open" })).await;
    assert_eq!(listed["councils"][0]["name"], "talk");
    let close = json!({ "council": "talk", "summary": "We shall." });
    let closed = client.good("council_close", close).await;
    assert_eq!((&closed["status"], &closed["summary"]), (&json!("closed"), &json!("We shall.")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_is_led_from_blind_to_archived() {
    let app = TestApp::start(canned()).await;
    let (fay, _) = Client::start(&app, None).await;
    let (ann, _) = Client::start(&app, None).await;
    let on = |more: Value| {
        let mut given = more;
        given["board_id"] = json!("adr");
        given
    };
    fay.good("whiteboard_open", on(json!({ "topic": "Which?", "opened_by": "fay" }))).await;
    let register = on(json!({ "agent_name": "ann", "role": "specialist" }));
    let token = ann.good("whiteboard_register", register).await["agent_token"].clone();
    let post =
        on(json!({ "agent_name": "ann", "type": "proposal", "title": "This", "body": "So." }));
    assert_eq!(ann.good("whiteboard_post", post.clone()).await["post_id"], "ann/1");
    // Whoever has the token may act from another session, and nobody else.
    assert_eq!(fay.bad("whiteboard_post", post.clone()).await["code"], "not-your-agent");
    let mut with_token = post.clone();
    with_token["agent_token"] = token;
    assert_eq!(fay.good("whiteboard_post", with_token).await["post_id"], "ann/2");
    let state = |agent: &str| on(json!({ "agent_name": agent }));
    assert_eq!(fay.good("whiteboard_state", state("fay")).await["posts"], json!([]));
    assert_eq!(fay.good("whiteboard_state", state("fay")).await["has_posted"], json!(["ann"]));
    // Whoever leads knows that somebody has posted, and neither what nor how often.
    assert_eq!(fay.good("whiteboard_summarize", state("fay")).await["posts"], 1);
    assert_eq!(fay.bad("whiteboard_conflicts", state("fay")).await["state"], "blind");
    for phase in ["read", "debate"] {
        let given = on(json!({ "agent_name": "fay", "target_phase": phase }));
        fay.good("whiteboard_transition", given).await;
    }
    let vote = on(json!({ "agent_name": "fay", "post_id": "ann/1", "vote": "accept" }));
    fay.good("whiteboard_vote", vote).await;
    let note =
        json!({ "agent_name": "fay", "post_id": "ann/2", "type": "challenge", "body": "Why?" });
    let challenge = fay.good("whiteboard_annotate", on(note)).await["annotation_id"].clone();
    let back = json!({ "agent_name": "fay", "post_id": "ann/2", "type": "withdrawal",
        "challenge_id": challenge });
    fay.good("whiteboard_annotate", on(back)).await;
    fay.good(
        "whiteboard_transition",
        on(json!({ "agent_name": "fay", "target_phase": "resolve" })),
    )
    .await;
    let summary = ann.good("whiteboard_summarize", state("ann")).await;
    assert_eq!(summary["outcome"]["posts"], json!(["ann/1"]));
    let archive = on(json!({ "agent_name": "fay", "note": "This it is." }));
    let archived = fay.good("whiteboard_archive", archive).await;
    assert!(archived["record"].as_str().unwrap().contains("This it is."), "{archived}");
    let listed = ann.good("whiteboard_list", json!({ "status": "archived" })).await;
    assert_eq!(listed["whiteboards"][0]["name"], "adr");
}
