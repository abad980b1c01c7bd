//! A server on a free port, and clients for it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use plenary_domain::{SessionId, Timestamp};
use plenary_engine::ports::{Append, AttemptRow, AttemptState, Clock, NewEvent, Outside, Store};
use plenary_engine::testkit::ManualClock;
use plenary_engine::{Engine, SystemClock};
use plenary_providers::{Gateway, Kind, OutsideConfig, ProviderConfig, Providers, Secret};
use plenary_scripted::{Reply, Script, Scripted};
use plenary_server::{Access, App, Capacity, Clerk, Prices, Tiers};
use plenary_store::testkit::Database;
use plenary_store::{Holder, Log, postgres};
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// A wait that lasts this long has failed. No test depends on its length.
pub const SAFETY: Duration = Duration::from_secs(60);

pub const WIRES: [&str; 4] = ["ollama", "openai", "anthropic", "gemini"];

pub struct TestApp {
    pub scripted: Scripted,
    pub url: String,
    pub http: reqwest::Client,
    pub store: Arc<dyn Store>,
    pub log: Log,
    pub engine: Arc<Engine>,
    /// The name under which it drives sessions.
    pub node: String,
    kept: Kept,
    place: Place,
    over: oneshot::Sender<()>,
}

/// Where the log is: a folder, or with `PLENARY_TEST_STORE=postgres` a database on the
/// server that `scripts/postgres` has started.
#[allow(clippy::large_enum_variant)]
enum Place {
    Folder { _folder: tempfile::TempDir },
    Database { _database: Database },
}

impl Place {
    async fn fresh(now: Timestamp) -> (Place, Log) {
        if std::env::var("PLENARY_TEST_STORE").is_ok_and(|store| store == "postgres") {
            // Beside what the test does: the server waits for connections that it is making.
            let database = tokio::task::spawn_blocking(Database::fresh).await.unwrap();
            let database = database.expect("PLENARY_TEST_POSTGRES names a server");
            let address = postgres::Address::of(&database.url()).unwrap();
            let mut store = postgres::open(&address).await.unwrap();
            let apart = SystemClock::default().now().duration_since(now).abs();
            let is_by_hand = apart.as_secs() > 60;
            if is_by_hand {
                store = store.alone();
            }
            return (Place::Database { _database: database }, Log::Database(Arc::new(store)));
        }
        let folder = tempfile::tempdir().unwrap();
        let holder = Holder { command: "test".into(), since: now };
        let store = plenary_store::open(folder.path(), holder).await.unwrap();
        (Place::Folder { _folder: folder }, Log::Folder(Arc::new(store)))
    }
}

/// What a server has again when it is started again.
#[derive(Clone)]
struct Kept {
    access: Access,
    clock: Arc<dyn Clock>,
    outside: Option<Arc<dyn Outside>>,
}

/// Advice from advisors, a proper synthesis from the synthesizer.
pub fn canned() -> Script {
    Script::new(Reply::canned()).models(&["a", "b", "c", "d"])
}

/// Opens a session with an event that no form knows.
pub fn unreadable(id: SessionId) -> Append {
    Append {
        session: id,
        expected: 0,
        epoch: None,
        kind: "boardroom",
        name: None,
        project: None,
        title: "a title".into(),
        status: "answering",
        active: true,
        waits_for: vec![],
        imported: false,
        actor: "test".into(),
        at: Timestamp::UNIX_EPOCH,
        events: vec![NewEvent {
            name: "invented",
            payload: "{\"type\":\"invented\"}".into(),
            search: String::new(),
            listed: true,
        }],
        attempts: vec![],
        idempotency: None,
        driver: None,
        wake_at: None,
    }
}

/// What differs from the usual server.
pub struct Setup {
    pub access: Access,
    pub clock: Arc<dyn Clock>,
    pub tiers: Tiers,
    pub prices: Prices,
    pub web_folder: Option<Arc<Path>>,
    pub capacity: Capacity,
    /// What workflows may reach.
    pub outside: Option<OutsideConfig>,
    /// Providers besides the usual ones, given where the models are.
    pub more: fn(&str) -> Vec<ProviderConfig>,
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            access: Access::default(),
            clock: Arc::new(SystemClock::default()),
            tiers: Tiers::default(),
            prices: Prices::default(),
            web_folder: None,
            capacity: Capacity::default(),
            outside: None,
            more: |_| vec![],
        }
    }
}

impl Setup {
    pub async fn start(self, script: Script) -> TestApp {
        TestApp::build(script, self).await
    }
}

impl TestApp {
    pub async fn start(script: Script) -> TestApp {
        Setup::default().start(script).await
    }

    pub async fn with_tiers(script: Script, tiers: Tiers) -> TestApp {
        Setup { tiers, ..Setup::default() }.start(script).await
    }

    pub async fn with_clock(script: Script) -> (TestApp, Arc<ManualClock>) {
        let clock = Arc::new(ManualClock::default());
        // The first piece of an answer then goes out at once, as it does in life.
        clock.advance(Duration::from_secs(1));
        (Setup { clock: clock.clone(), ..Setup::default() }.start(script).await, clock)
    }

    pub async fn with_access(script: Script, access: Access) -> TestApp {
        Setup { access, ..Setup::default() }.start(script).await
    }

    async fn build(script: Script, setup: Setup) -> TestApp {
        let Setup { access, clock, tiers, prices, web_folder, capacity, outside, more } = setup;
        plenary_providers::install_tls();
        let scripted = Scripted::start(script).await.unwrap();
        let (place, log) = Place::fresh(clock.now()).await;
        let store = log.store();
        let mut all = providers(&scripted.url());
        all.extend(more(&scripted.url()));
        let engine = Engine::new(store.clone(), Arc::new(Providers::new(all)), clock.clone());
        let outside = outside.map(|config| Arc::new(Gateway::new(config)) as Arc<dyn Outside>);
        let clerk = Clerk { outside: outside.clone(), ..Clerk::new(engine.clone(), tiers, prices) };
        let mut app = App::new(clerk);
        (app.web_folder, app.capacity) = (web_folder, capacity);
        let kept = Kept { access, clock, outside };
        let (url, over) = listen(app, kept.access.clone()).await;
        let node = engine.node().to_owned();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        TestApp { scripted, url, http, store, log, engine, node, kept, place, over }
    }

    /// The same after it has ended and was started again, on the same store and the same
    /// models. What was under way waits until `engine.resume_all`.
    pub async fn restarted(self) -> TestApp {
        let TestApp { scripted, http, store, log, engine, kept, place, over, .. } = self;
        drop(over);
        engine.shut_down().await;
        let models = Arc::new(Providers::new(providers(&scripted.url())));
        let engine = Engine::new(store.clone(), models, kept.clock.clone());
        let clerk = Clerk::new(engine.clone(), Tiers::default(), Prices::default());
        let app = App::new(Clerk { outside: kept.outside.clone(), ..clerk });
        let (url, over) = listen(app, kept.access.clone()).await;
        let node = engine.node().to_owned();
        TestApp { scripted, url, http, store, log, engine, node, kept, place, over }
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        answer(self.http.get(format!("{}{path}", self.url))).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        answer(self.http.post(format!("{}{path}", self.url)).json(body)).await
    }

    pub async fn post_with_key(&self, path: &str, key: &str, body: &Value) -> (u16, Value) {
        let request = self.http.post(format!("{}{path}", self.url));
        answer(request.header("idempotency-key", key).json(body)).await
    }

    /// As the agent whose token this is.
    pub async fn get_as(&self, token: &str, path: &str) -> (u16, Value) {
        answer(self.http.get(format!("{}{path}", self.url)).header("agent-token", token)).await
    }

    pub async fn post_as(&self, token: &str, path: &str, body: &Value) -> (u16, Value) {
        let request = self.http.post(format!("{}{path}", self.url));
        answer(request.header("agent-token", token).json(body)).await
    }

    pub async fn put(&self, path: &str, body: &Value) -> (u16, Value) {
        answer(self.http.put(format!("{}{path}", self.url)).json(body)).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> (u16, Value) {
        answer(self.http.patch(format!("{}{path}", self.url)).json(body)).await
    }

    pub async fn delete(&self, path: &str) -> (u16, Value) {
        answer(self.http.delete(format!("{}{path}", self.url))).await
    }

    /// Convenes a board that must be accepted.
    pub async fn convene(&self, body: &Value) -> Board {
        let (status, body) = self.post("/api/boardrooms", body).await;
        assert_eq!(status, 201, "{body}");
        Board { id: body["data"]["id"].as_str().unwrap().to_owned() }
    }

    /// Three advisors on one wire, and one of their models as synthesizer.
    pub async fn triad(&self, prompt: &str) -> Board {
        let models = ["ollama/a", "ollama/b", "ollama/c"];
        self.convene(&json!({ "prompt": prompt, "models": models })).await
    }

    pub async fn board(&self, board: &Board) -> Value {
        let (status, body) = self.get(&board.path()).await;
        assert_eq!(status, 200, "{body}");
        body["data"].clone()
    }

    /// Gives a command that must be accepted, and returns the board after it.
    pub async fn command(&self, board: &Board, command: &str, body: Value) -> Value {
        let (status, body) = self.post(&board.at(command), &body).await;
        assert_eq!(status, 200, "{command}: {body}");
        body["data"].clone()
    }

    /// Follows a board until it is as wanted.
    pub async fn until(&self, board: &Board, wanted: impl Fn(&Value) -> bool) -> Value {
        let mut events = self.events(&board.at("events"), None).await;
        loop {
            let view = self.board(board).await;
            if wanted(&view) {
                return view;
            }
            loop {
                let frame = events.next().await;
                let frame = frame.unwrap_or_else(|| panic!("the events ended at {view}"));
                if frame.id.is_some() {
                    break;
                }
            }
        }
    }

    pub async fn until_status(&self, board: &Board, status: &str) -> Value {
        self.until(board, |view| view["status"] == status).await
    }

    pub async fn events(&self, path: &str, after: Option<u64>) -> Events {
        self.events_as("", path, after).await
    }

    pub async fn events_as(&self, token: &str, path: &str, after: Option<u64>) -> Events {
        let mut request = self.http.get(format!("{}{path}", self.url));
        if let Some(after) = after {
            request = request.header("last-event-id", after);
        }
        if !token.is_empty() {
            request = request.header("agent-token", token);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Events { response, buffer: Vec::new() }
    }

    pub async fn names(&self, board: &Board) -> Vec<String> {
        self.events_of(board).await.into_iter().map(|event| event.name).collect()
    }

    pub async fn events_of(&self, board: &Board) -> Vec<plenary_engine::ports::StoredEvent> {
        self.store.events(board.session(), 0, 10_000).await.unwrap()
    }

    pub async fn attempts(&self, board: &Board) -> Vec<AttemptRow> {
        self.store.attempts(board.session()).await.unwrap()
    }

    /// Every attempt that is recorded was seen under its id, and no other.
    pub async fn assert_attempts_match_requests(&self, board: &Board) {
        let mut recorded: Vec<String> = self
            .attempts(board)
            .await
            .iter()
            .map(|row| format!("{}/{}/{}", board.id, row.call, row.number))
            .collect();
        let mut seen: Vec<String> = self
            .scripted
            .requests()
            .into_iter()
            .filter_map(|request| request.request_id)
            .filter(|id| id.starts_with(&board.id))
            .collect();
        recorded.sort();
        seen.sort();
        assert_eq!(recorded, seen);
    }

    pub async fn metric(&self, name: &str) -> u64 {
        let text = self.http.get(format!("{}/metrics", self.url)).send().await.unwrap();
        let text = text.text().await.unwrap();
        let line = text.lines().find(|line| line.split(' ').next() == Some(name));
        let value = line.unwrap_or_else(|| panic!("no {name} in {text}"));
        value.rsplit(' ').next().unwrap().parse().unwrap()
    }

    /// Waits for a number that changes after what a test can observe.
    pub async fn until_metric(&self, name: &str, wanted: impl Fn(u64) -> bool) {
        let arrives = async { while !wanted(self.metric(name).await) {} };
        tokio::time::timeout(SAFETY, arrives).await.unwrap_or_else(|_| panic!("{name}"));
    }
}

/// Serves on a free port, until what comes back is dropped.
pub async fn listen(app: App, access: Access) -> (String, oneshot::Sender<()>) {
    let capacity = app.capacity;
    let router = plenary_server::router(app, access);
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    // Small, so that a client which does not read is soon felt by the server.
    socket.set_send_buffer_size(64 * 1024).unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1024).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (over, ended) = oneshot::channel::<()>();
    tokio::spawn(plenary_server::serve(listener, router, capacity.connections, async {
        let _ = ended.await;
    }));
    (url, over)
}

pub fn states(attempts: &[AttemptRow]) -> Vec<AttemptState> {
    attempts.iter().map(|row| row.state).collect()
}

pub fn providers(url: &str) -> Vec<ProviderConfig> {
    let at = |kind: Kind, base: String| {
        let variable = format!("{}_API_KEY", kind.word().to_uppercase());
        let key = Secret::new("key-4711");
        ProviderConfig::new(kind.word(), kind).at(&base).with_key(key, &variable)
    };
    vec![
        at(Kind::Ollama, url.to_owned()),
        at(Kind::OpenAi, format!("{url}/v1")),
        at(Kind::Anthropic, url.to_owned()),
        at(Kind::Gemini, url.to_owned()),
        // A port that nothing listens on: 1 is reserved and needs rights to bind.
        ProviderConfig::new("gone", Kind::Ollama).at("http://127.0.0.1:1"),
    ]
}

pub async fn answer(request: reqwest::RequestBuilder) -> (u16, Value) {
    let response = tokio::time::timeout(SAFETY, request.send()).await.unwrap().unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    let body = serde_json::from_str(&text);
    (status, body.unwrap_or_else(|_| panic!("{status} is no JSON: {text}")))
}

#[derive(Clone, Debug)]
pub struct Board {
    pub id: String,
}

impl Board {
    pub fn path(&self) -> String {
        format!("/api/boardrooms/{}", self.id)
    }

    pub fn at(&self, rest: &str) -> String {
        format!("/api/boardrooms/{}/{rest}", self.id)
    }

    pub fn session(&self) -> SessionId {
        self.id.parse().unwrap()
    }
}

/// One server-sent event.
#[derive(Clone, Debug)]
pub struct SseFrame {
    pub id: Option<u64>,
    pub name: String,
    pub data: Value,
}

/// A reader of server-sent events. Dropping it drops the connection.
pub struct Events {
    response: reqwest::Response,
    buffer: Vec<u8>,
}

impl Events {
    /// The next event, or `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<SseFrame> {
        tokio::time::timeout(SAFETY, self.read()).await.expect("an event should have come")
    }

    async fn read(&mut self) -> Option<SseFrame> {
        loop {
            while let Some(end) = self.buffer.windows(2).position(|two| two == b"\n\n") {
                let block: Vec<u8> = self.buffer.drain(..end + 2).collect();
                if let Some(frame) = frame(std::str::from_utf8(&block).unwrap()) {
                    return Some(frame);
                }
            }
            let chunk = self.response.chunk().await.unwrap()?;
            self.buffer.extend_from_slice(&chunk);
        }
    }

    pub async fn until(&mut self, name: &str) -> SseFrame {
        loop {
            let frame = self.next().await.unwrap_or_else(|| panic!("no {name} came"));
            if frame.name == name {
                return frame;
            }
        }
    }
}

fn frame(block: &str) -> Option<SseFrame> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
    Some(SseFrame {
        id: field("id: ").map(|id| id.parse().unwrap()),
        name: field("event: ")?.to_owned(),
        data: serde_json::from_str(field("data: ")?).unwrap(),
    })
}

/// The values found under a key in every object of a list.
pub fn pick(list: &Value, key: &str) -> Vec<Value> {
    list.as_array().unwrap().iter().map(|item| item[key].clone()).collect()
}

/// Texts of calls, built from `delta` frames by the documented rule: `offset` is
/// in bytes, and offset 0 begins the text of that call and attempt anew.
#[derive(Default, Debug)]
pub struct Texts(pub std::collections::BTreeMap<String, (u64, String)>);

impl Texts {
    pub fn take(&mut self, frame: &SseFrame) {
        if frame.name != "delta" {
            return;
        }
        let data = &frame.data;
        let offset = data["offset"].as_u64().unwrap() as usize;
        let attempt = data["attempt"].as_u64().unwrap();
        let text = self.0.entry(data["callId"].as_str().unwrap().to_owned()).or_default();
        if offset == 0 {
            *text = (attempt, String::new());
        }
        assert_eq!((attempt, offset), (text.0, text.1.len()), "{frame:?} does not follow");
        text.1.push_str(data["text"].as_str().unwrap());
    }

    pub fn of(&self, call: &str) -> &str {
        self.0.get(call).map_or("", |(_, text)| text)
    }

    /// Reads on until this call has said exactly this.
    pub async fn until_call(&mut self, events: &mut Events, call: &str, text: &str) {
        while self.of(call) != text {
            let frame = events.next().await.expect("more text");
            self.take(&frame);
        }
    }

    /// Reads on until so many calls have said exactly this.
    pub async fn until(&mut self, events: &mut Events, calls: usize, text: &str) {
        while self.0.values().filter(|(_, said)| said == text).count() < calls {
            let frame = events.next().await.expect("more text");
            self.take(&frame);
        }
    }
}

/// What this process holds in memory, where the system says so.
pub fn resident_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
