//! What the operator sets while the program runs, and models that are pulled, over REST and by
//! the command line beside it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use futures::stream::{self, StreamExt as _};

use plenary_scripted::{Reply, Script, Scripted};
use reqwest::Method;
use serde_json::{Value, json};
use support::{Home, NOWHERE, Serving};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const HALF: usize = 150_000;

/// A hub with one model, which stands still after half of it until it is let go on.
#[derive(Clone)]
struct Hub {
    file: Arc<Vec<u8>>,
    goes_on: Arc<AtomicBool>,
}

impl Hub {
    async fn start() -> (Hub, String) {
        let file = b"GGUF".iter().copied().chain((4..2 * HALF).map(|nth| (nth % 251) as u8));
        let hub = Hub { file: Arc::new(file.collect()), goes_on: Arc::default() };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state(hub.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        (hub, address)
    }
}

async fn answer(State(hub): State<Hub>, uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path();
    if path.contains("/revision/") {
        return axum::Json(json!({ "sha": COMMIT })).into_response();
    }
    if path.contains("/tree/") {
        let hash = ring::digest::digest(&ring::digest::SHA256, &hub.file);
        let hash: String = hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        let size = hub.file.len();
        let file = json!({ "path": "m.gguf", "lfs": { "oid": hash, "size": size } });
        return axum::Json(json!([file])).into_response();
    }
    let range = headers.get(header::RANGE).and_then(|range| range.to_str().ok());
    let from = range.and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-'));
    let from: usize = from.map_or(0, |from| from.parse().unwrap());
    let (all, goes_on) = (hub.file.len(), hub.goes_on.load(Ordering::SeqCst));
    let end = if goes_on { all } else { HALF };
    let part: Result<Vec<u8>, std::io::Error> = Ok(hub.file[from..end].to_vec());
    let begun = stream::iter([part]);
    let body = match goes_on {
        true => Body::from_stream(begun),
        false => Body::from_stream(begun.chain(stream::pending())),
    };
    let range = format!("bytes {from}-{}/{all}", all - 1);
    let length = (all - from).to_string();
    let headers = [(header::CONTENT_RANGE, range), (header::CONTENT_LENGTH, length)];
    let status = if from > 0 { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK };
    (status, headers, body).into_response()
}

struct Client<'a> {
    serving: &'a Serving,
    http: reqwest::Client,
}

impl<'a> Client<'a> {
    fn of(serving: &'a Serving) -> Client<'a> {
        plenary_providers::install_tls();
        Client { serving, http: reqwest::Client::builder().no_proxy().build().unwrap() }
    }

    async fn send(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let mut request = self.http.request(method, format!("{}{path}", self.serving.url));
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    async fn get(&self, path: &str) -> Value {
        let (status, body) = self.send(Method::GET, path, None).await;
        assert_eq!(status, 200, "{body}");
        body["data"].clone()
    }

    async fn put(&self, path: &str, body: Value) -> (u16, Value) {
        self.send(Method::PUT, path, Some(body)).await
    }

    async fn models(&self) -> Vec<String> {
        let models = self.get("/api/models").await;
        let names = models.as_array().unwrap().iter();
        names.map(|model| model["name"].as_str().unwrap().to_owned()).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_counts_at_once_and_is_never_shown() {
    let script = Script::new(Reply::canned()).models(&["m"]).key("sk-right-key-1234");
    let scripted = Scripted::start(script).await.unwrap();
    let home = Home::new(NOWHERE);
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("OPENAI_BASE_URL", format!("{}/v1", scripted.url()));
    let serving = home.serving(command).await;
    let client = Client::of(&serving);
    assert_eq!(client.models().await, Vec::<String>::new());
    let settings = client.get("/api/settings").await;
    let key = json!({ "provider": "openai", "variable": "OPENAI_API_KEY" });
    assert!(settings["keys"].as_array().unwrap().contains(&key), "{settings}");

    let (status, set) =
        client.put("/api/settings/keys/openai", json!({ "key": "sk-right-key-1234" })).await;
    assert_eq!(status, 200, "{set}");
    assert!(!set.to_string().contains("right-key"), "{set}");
    let key = json!({ "provider": "openai", "variable": "OPENAI_API_KEY", "from": "settings" });
    assert!(set["data"]["keys"].as_array().unwrap().contains(&key), "{set}");
    assert_eq!(client.models().await, ["openai/m"]);
    // It lies in the data folder, for its owner alone, and in no other file there.
    let file = home.path().join("data/settings.json");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    for entry in std::fs::read_dir(home.path().join("data")).unwrap().flatten() {
        let bytes = std::fs::read(entry.path()).unwrap_or_default();
        let has_key = bytes.windows(9).any(|part| part == b"right-key");
        assert_eq!(has_key, entry.path() == file, "{:?}", entry.path());
    }

    // What is wrong is said without repeating it, and changes nothing.
    for (path, body, status, said) in [
        ("openai", json!({ "key": "two words" }), 422, "copy it again"),
        ("openai", json!({ "key": "" }), 422, "empty"),
        ("nobody", json!({ "key": "k" }), 404, "available: openai"),
    ] {
        let (found, answer) = client.put(&format!("/api/settings/keys/{path}"), body).await;
        assert_eq!(found, status, "{answer}");
        assert!(answer.to_string().contains(said), "{answer}");
        assert!(!answer.to_string().contains("two words"), "{answer}");
    }
    assert_eq!(client.models().await, ["openai/m"]);
    // Another process knows it too, and it can be taken away again.
    let (status, _) = client.send(Method::DELETE, "/api/settings/keys/openai", None).await;
    assert_eq!(status, 200);
    assert_eq!(client.models().await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn tiers_and_prices_are_set_and_kept() {
    let scripted = Scripted::start(Script::new(Reply::canned()).models(&["a", "b"])).await.unwrap();
    let home = Home::new(&scripted.url());
    home.configure("[tiers]\nstrong = \"ollama/b\"\n");
    let serving = home.serve().await;
    let client = Client::of(&serving);
    let tier = async |name: &str| {
        let tiers = client.get("/api/tiers").await;
        let mut all = tiers.as_array().unwrap().iter();
        all.find(|tier| tier["tier"] == name).unwrap()["model"].clone()
    };
    for wrong in [json!({ "fast": "m".repeat(301) }), json!({ "fast": null })] {
        assert_eq!(client.put("/api/settings/tiers", wrong).await.0, 422);
    }
    let (status, set) = client.put("/api/settings/tiers", json!({ "fast": "ollama/b" })).await;
    assert_eq!(status, 200, "{set}");
    assert_eq!(tier("fast").await, "ollama/b");
    // The operator's own file goes before, and that is said.
    let (status, refused) =
        client.put("/api/settings/tiers", json!({ "strong": "ollama/a" })).await;
    assert_eq!(status, 422, "{refused}");
    assert_eq!((tier("strong").await, tier("fast").await), (json!("ollama/b"), json!("ollama/b")));
    let prices = json!({ "prices": { "ollama/a": { "input": 1.5, "output": 2.0 } } });
    let (status, set) = client.put("/api/settings/prices", prices).await;
    assert_eq!(status, 200, "{set}");
    let price = async |client: &Client<'_>| {
        let models = client.get("/api/models").await;
        let mut all = models.as_array().unwrap().iter();
        all.find(|model| model["name"] == "ollama/a").unwrap()["price"]["input"].clone()
    };
    assert_eq!(price(&client).await, 1.5);
    let wrong = json!({ "prices": { "a": { "input": 1, "output": 2 } } });
    assert_eq!(client.put("/api/settings/prices", wrong).await.0, 422);
    // The next server begins with them.
    serving.kill().await;
    let serving = home.serve().await;
    let client = Client::of(&serving);
    assert_eq!(price(&client).await, 1.5);
    assert_eq!(client.get("/api/settings").await["tiers"]["fast"], "ollama/b");
}

/// A model in the hub's cache, as another tool has left it there.
fn cached(home: &Home) {
    let repo = home.path().join(".cache/huggingface/hub/models--org--repo");
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let snapshot = repo.join("snapshots").join(commit);
    std::fs::create_dir_all(&snapshot).unwrap();
    std::fs::create_dir_all(repo.join("refs")).unwrap();
    std::fs::write(repo.join("refs/main"), commit).unwrap();
    std::fs::write(snapshot.join("m-Q4_K_M.gguf"), "GGUF").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_pulled_with_progress_and_used_at_once() {
    let home = Home::new(NOWHERE);
    cached(&home);
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("HF_HUB_OFFLINE", "1");
    let serving = home.serving(command).await;
    let client = Client::of(&serving);
    let offers = client.get("/api/offers").await;
    let names = offers["downloads"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"qwen3-0.6b") && names.contains(&"smollm2-135m"), "{offers}");
    let expected = if plenary_providers::has_local() { "small" } else { "connect" };
    assert_eq!(offers["suggestion"]["kind"], expected, "{offers}");

    let pull = async |model: &str| {
        let body = Some(json!({ "model": model }));
        let (status, begun) = client.send(Method::POST, "/api/pulls", body).await;
        assert_eq!(status, 202, "{begun}");
        let path = format!("/api/pulls/{}", begun["data"]["id"].as_str().unwrap());
        loop {
            let pull = client.get(&path).await;
            if pull["state"] != "running" {
                return pull;
            }
            tokio::task::yield_now().await;
        }
    };
    let done = pull("hf:org/repo").await;
    assert_eq!((&done["state"], &done["name"]), (&json!("done"), &json!("local/m-q4_k_m")));
    let providers = client.get("/api/providers").await;
    assert!(providers.to_string().contains("m-q4_k_m"), "{providers}");
    let failed = pull("qwen3-0.6b").await;
    assert_eq!(failed["state"], "failed", "{failed}");
    assert!(failed["problem"].as_str().unwrap().contains("HF_HUB_OFFLINE"), "{failed}");
    assert_eq!(client.get("/api/pulls").await.as_array().unwrap().len(), 2);
    let wrong = Some(json!({ "model": "nothing" }));
    let (status, wrong) = client.send(Method::POST, "/api/pulls", wrong).await;
    assert_eq!(status, 422, "{wrong}");
    assert_eq!(client.send(Method::DELETE, "/api/pulls/none", None).await.0, 404);

    // What the command line does beside it, the server knows with the next list.
    assert_eq!(home.run(&["models", "remove", "m-q4_k_m"]).await.code, Some(0));
    let providers = client.get("/api/providers").await;
    assert!(!providers.to_string().contains("m-q4_k_m"), "{providers}");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_the_operators() {
    let home = Home::new(NOWHERE);
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("PLENARY_TOKEN", "operators-token-123,guests-token-456");
    let serving = home.serving(command).await;
    let client = Client::of(&serving);
    let ask = async |method: Method, path: &str, token: &str| {
        let request = client.http.request(method, format!("{}{path}", serving.url));
        let answer = request.bearer_auth(token).json(&json!({ "key": "k" })).send();
        answer.await.unwrap().status().as_u16()
    };
    for path in ["/api/settings", "/api/offers", "/api/pulls"] {
        assert_eq!(ask(Method::GET, path, "guests-token-456").await, 403, "{path}");
        assert_eq!(ask(Method::GET, path, "operators-token-123").await, 200, "{path}");
    }
    let key = "/api/settings/keys/openai";
    assert_eq!(ask(Method::PUT, key, "guests-token-456").await, 403);
    assert_eq!(ask(Method::PUT, key, "nobodys").await, 401);
    assert!(!home.path().join("data/settings.json").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_that_was_killed_or_stopped_goes_on_where_it_was() {
    let (hub, address) = Hub::start().await;
    let home = Home::new(NOWHERE);
    let pull = || {
        let mut command = home.command(&["models", "pull", "hf:org/repo", "--name", "mine"]);
        command.env("HF_ENDPOINT", &address);
        command
    };
    let blobs = home.path().join(".cache/huggingface/hub/models--org--repo/blobs");
    let so_far = || {
        let files = std::fs::read_dir(&blobs).into_iter().flatten().flatten();
        files.map(|file| file.metadata().unwrap().len()).sum::<u64>()
    };
    let mut child = pull().spawn().unwrap();
    while so_far() < HALF as u64 {
        tokio::task::yield_now().await;
    }
    // SIGKILL: nothing of it is told beforehand.
    child.kill().await.unwrap();
    assert!(!home.path().join("data/models/mine.gguf").exists());

    // The server shows the same half, and stops when it is told to.
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("HF_ENDPOINT", &address);
    let serving = home.serving(command).await;
    let client = Client::of(&serving);
    let body = Some(json!({ "model": "hf:org/repo" }));
    let (_, begun) = client.send(Method::POST, "/api/pulls", body.clone()).await;
    let id = begun["data"]["id"].as_str().unwrap().to_owned();
    let (_, same) = client.send(Method::POST, "/api/pulls", body).await;
    assert_eq!(same["data"]["id"], id.as_str(), "one is enough");
    let path = format!("/api/pulls/{id}");
    while client.get(&path).await["totalBytes"] != json!(2 * HALF) {
        tokio::task::yield_now().await;
    }
    let shown = client.get(&path).await;
    assert_eq!((&shown["state"], &shown["bytes"]), (&json!("running"), &json!(HALF)), "{shown}");
    let (_, stopped) = client.send(Method::DELETE, &path, None).await;
    assert_eq!(stopped["data"]["state"], "stopped");

    hub.goes_on.store(true, Ordering::SeqCst);
    let pulled = home.finish(pull()).await;
    assert!(
        pulled.out.starts_with("local/mine is ready (150 KB downloaded)."),
        "{}",
        pulled.shown()
    );
    assert!(client.get("/api/providers").await.to_string().contains("mine"));
}
