//! Two nodes on one store, each on a port of its own.

use std::sync::Arc;

use plenary_engine::Engine;
use plenary_providers::Providers;
use plenary_scripted::{Gate, Reply, When};
use plenary_server::{Access, App, Clerk, Prices, Tiers};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::support::{SAFETY, Setup, TestApp, answer, canned, listen, providers};

/// A second node on the store of the first one.
struct Other {
    url: String,
    engine: Arc<Engine>,
    _over: oneshot::Sender<()>,
}

impl Other {
    async fn beside(app: &TestApp, access: Access) -> Other {
        let models = Arc::new(Providers::new(providers(&app.scripted.url())));
        let clock = Arc::new(plenary_engine::SystemClock::default());
        let engine = Engine::new(app.store.clone(), models, clock);
        let clerk = Clerk::new(engine.clone(), Tiers::default(), Prices::default());
        let (url, over) = listen(App::new(clerk), access).await;
        Other { url, engine, _over: over }
    }

    async fn get(&self, app: &TestApp, path: &str) -> (u16, Value) {
        answer(app.http.get(format!("{}{path}", self.url))).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_are_listed_with_what_they_drive() {
    let gate = Gate::new();
    let waits = Reply::canned().gate(1, &gate);
    let app = TestApp::start(canned().when(When::says("Who drives"), waits)).await;
    assert_eq!(app.get("/api/nodes").await.1["data"], json!([]), "nobody has had to drive");
    let board = app.triad("Who drives?").await;
    gate.reached(3).await;
    let other = Other::beside(&app, Access::default()).await;
    other.engine.resume_all().await.unwrap();

    let listed = async |nodes: Value| -> Vec<Value> {
        let nodes = nodes["data"].as_array().unwrap().clone();
        let fields = ["name", "here", "state", "sessions"];
        let short = |node: &Value| fields.iter().map(|field| node[*field].clone()).collect();
        nodes.iter().map(short).collect()
    };
    let nodes = app.get("/api/nodes").await.1;
    let expected =
        [json!([app.node, true, "live", 1]), json!([other.engine.node(), false, "live", 0])];
    assert_eq!(listed(nodes.clone()).await, expected);
    assert_eq!(nodes["data"][0]["version"], env!("CARGO_PKG_VERSION"));
    assert!(nodes["data"][0]["leaseLeftMs"].as_u64().unwrap() > 0, "{nodes}");

    other.engine.drain().await;
    gate.release();
    app.until_status(&board, "closed").await;
    app.until_metric("plenary_calls_running", |calls| calls == 0).await;
    app.engine.shut_down().await;
    let nodes = other.get(&app, "/api/nodes").await.1;
    assert_eq!(listed(nodes).await, [json!([other.engine.node(), true, "draining", 0])]);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_operator_is_told_of_nodes() {
    let tokens = ["operator-token-1", "another-token-2"].map(str::to_owned).to_vec();
    let access = Access { tokens, ..Access::default() };
    let app = Setup { access, ..Setup::default() }.start(canned()).await;
    let get = |token| app.http.get(format!("{}/api/nodes", app.url)).bearer_auth(token);
    assert_eq!(answer(get("operator-token-1")).await.0, 200);
    let (status, refused) = answer(get("another-token-2")).await;
    assert_eq!((status, &refused["error"]["code"]), (403, &json!("not-yours")), "{refused}");
    let agent = get("operator-token-1").header("plenary-through", "mcp");
    assert_eq!(answer(agent).await.0, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draining_node_is_not_ready_and_still_answers() {
    let app = TestApp::start(canned()).await;
    assert_eq!(app.get("/readyz").await.0, 200);
    app.engine.drain().await;
    let (status, body) = app.get("/readyz").await;
    let told = json!({ "code": "draining", "message": "This node is shutting down.",
        "hint": "Send requests to another node." });
    assert_eq!((status, &body["error"]), (503, &told), "{body}");
    assert_eq!(app.get("/healthz").await.0, 200);
    // What still comes is answered.
    let board = app.triad("Anybody?").await;
    app.until_status(&board, "closed").await;
    app.engine.shut_down().await;
    assert_eq!(app.get("/readyz").await.0, 503);
}

/// Whoever waits when a node ends gets an answer, and can ask another node.
#[tokio::test(flavor = "multi_thread")]
async fn requests_that_wait_are_answered_when_their_node_ends() {
    let gate = Gate::new();
    let waits = Reply::canned().gate(1, &gate);
    let app = TestApp::start(canned().when(When::says("Who waits"), waits)).await;
    let board = app.triad("Who waits?").await;
    gate.reached(3).await;
    let (opened, council) = app
        .post("/api/councils", &json!({ "name": "late", "charter": "Wait.", "members": [] }))
        .await;
    assert_eq!(opened, 201, "{council}");
    let wait = format!("/api/sessions/{}/wait?seconds=600", board.id);
    let posts = "/api/councils/late/posts?waitSeconds=600";
    let ends = async {
        app.until_metric("plenary_readers", |readers| readers == 2).await;
        app.engine.shut_down().await;
    };
    let (over, read, ()) = tokio::join!(app.get(&wait), app.get(posts), ends);
    assert_eq!((over.0, &over.1["data"]["over"]), (200, &json!(false)), "{}", over.1);
    assert_eq!((read.0, &read.1["data"]["posts"]), (200, &json!([])), "{}", read.1);
}

const BOTH: &str = "application/json, text/event-stream";

struct Told {
    status: u16,
    session: Option<String>,
    body: Value,
}

/// One message to the MCP endpoint of a node, in a session if there is one.
async fn speak(app: &TestApp, url: &str, session: Option<&str>, body: Value) -> Told {
    let mut request = app.http.post(format!("{url}/mcp")).header("accept", BOTH).json(&body);
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
        request = request.header("mcp-protocol-version", "2025-06-18");
    }
    let response = tokio::time::timeout(SAFETY, request.send()).await.unwrap().unwrap();
    let status = response.status().as_u16();
    let session = response.headers().get("mcp-session-id");
    let session = session.map(|session| session.to_str().unwrap().to_owned());
    let text = response.text().await.unwrap();
    let mut lines = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
    let body = lines.find_map(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    Told { status, session, body }
}

/// Begins a session at a node, and returns its id.
async fn begin(app: &TestApp, url: &str) -> String {
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } });
    let told = speak(app, url, None, hello).await;
    let session = told.session.unwrap();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(speak(app, url, Some(&session), ready).await.status, 202);
    session
}

fn call(tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_mcp_session_begins_again_at_another_node_with_the_same_token() {
    let app = TestApp::start(canned()).await;
    let other = Other::beside(&app, Access::default()).await;
    let session = begin(&app, &app.url).await;
    let open = json!({ "board_id": "adr", "topic": "Which?", "opened_by": "fay" });
    let opened = speak(&app, &app.url, Some(&session), call("whiteboard_open", open)).await;
    let opened = &opened.body["result"]["structuredContent"];
    let token = opened["agent_token"].as_str().unwrap_or_else(|| panic!("{opened}"));

    // By the protocol, 404 tells a client to begin a new session.
    let post = |title: &str, token: Option<&str>| {
        let mut given = json!({ "board_id": "adr", "agent_name": "fay", "type": "proposal",
            "title": title, "body": "So." });
        if let Some(token) = token {
            given["agent_token"] = token.into();
        }
        call("whiteboard_post", given)
    };
    let lost = speak(&app, &other.url, Some(&session), post("Lost", Some(token))).await;
    assert_eq!(lost.status, 404, "{}", lost.body);
    let listens = app.http.get(format!("{}/mcp", other.url)).header("accept", "text/event-stream");
    let listens = listens.header("mcp-session-id", &session);
    assert_eq!(listens.send().await.unwrap().status(), 404);

    let session = begin(&app, &other.url).await;
    let refused = speak(&app, &other.url, Some(&session), post("Whose?", None)).await;
    assert_eq!(refused.body["result"]["isError"], true, "{}", refused.body);
    let posted = speak(&app, &other.url, Some(&session), post("Kept", Some(token))).await;
    assert_eq!(posted.body["result"]["isError"], false, "{}", posted.body);
    let (_, board) = answer(
        app.http.get(format!("{}/api/whiteboards/adr", other.url)).header("agent-token", token),
    )
    .await;
    let titles: Vec<&Value> =
        board["data"]["posts"].as_array().unwrap().iter().map(|post| &post["title"]).collect();
    assert_eq!(titles, ["Kept"], "{board}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_io_client_that_polls_at_another_node_is_told_to_begin_again() {
    const OPENING: &str = "/socket.io/?EIO=4&transport=polling";
    let app = TestApp::start(canned()).await;
    let other = Other::beside(&app, Access::default()).await;
    let opened = app.http.get(format!("{}{OPENING}", app.url)).send().await.unwrap();
    let opened = opened.text().await.unwrap();
    let opened: Value = serde_json::from_str(&opened[1..]).unwrap();
    let sid = opened["sid"].as_str().unwrap();
    let connect = |url: &str| app.http.post(format!("{url}{OPENING}&sid={sid}")).body("40");
    // The client library takes this for the end of its connection, and makes a new one.
    let refused = connect(&other.url).send().await.unwrap();
    let (status, body) = (refused.status().as_u16(), refused.text().await.unwrap());
    assert_eq!((status, &*body), (400, r#"{"code":"1","message":"Session ID unknown"}"#));
    assert_eq!(connect(&app.url).send().await.unwrap().status(), 200);
}
