//! Two nodes on one store, each on a port of its own.

use std::sync::Arc;

use plenary_engine::Engine;
use plenary_providers::Providers;
use plenary_scripted::{Gate, Reply, When};
use plenary_server::{Access, App, Clerk, Prices, Tiers};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::support::{Setup, TestApp, answer, canned, listen, providers};

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
