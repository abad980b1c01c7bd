//! Three real nodes on one real PostgreSQL, under whatever happens to nodes: kills, sleeps
//! beyond the lease, a database that crashes, a network that swallows everything, and a node
//! that hears no notices. Clients give commands at all of them, under keys.
//!
//! `PLENARY_CHAOS_ROUNDS` sets how often something happens.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use futures::future::join_all;
use plenary_scripted::{Reply, Script, Scripted};
use plenary_store::postgres::{self, Address};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::accounts::Acknowledged;
use support::kills::Dice;
use support::{Home, SAFETY, Serving};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const ROUNDS: u64 = 4;
const BOARDS: u64 = 4;
const NODES: usize = 3;
/// Longer than a lease.
const AWAY: Duration = Duration::from_secs(13);

/// A server of its own, which may be crashed.
struct Server {
    folder: tempfile::TempDir,
    url: String,
}

fn script() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/postgres")
}

impl Server {
    async fn start() -> Server {
        let folder = tempfile::tempdir().unwrap();
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let url = run(&["start"], &folder.path().join("server")).await;
        Server { folder, url: url.trim().to_owned() }
    }

    async fn crash(&self) {
        run(&["restart"], &self.folder.path().join("server")).await;
    }

    async fn stop(&self) {
        run(&["stop"], &self.folder.path().join("server")).await;
    }

    fn place(&self) -> &str {
        self.url.rsplit('@').next().unwrap().split('/').next().unwrap()
    }
}

async fn run(arguments: &[&str], folder: &Path) -> String {
    let mut command = tokio::process::Command::new(script());
    let ran = command.args(arguments).arg(folder).stderr(std::process::Stdio::inherit());
    let output = ran.output().await.unwrap();
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A way to the database that can be cut: what is sent then waits, and nobody is told.
async fn cable(to: String) -> (String, Arc<AtomicBool>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = listener.local_addr().unwrap().to_string();
    let is_cut = Arc::new(AtomicBool::new(false));
    let cut = is_cut.clone();
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let (to, cut) = (to.clone(), cut.clone());
            tokio::spawn(async move {
                let Ok(far) = TcpStream::connect(to).await else { return };
                let (near_read, near_write) = near.into_split();
                let (far_read, far_write) = far.into_split();
                tokio::select! {
                    () = carry(near_read, far_write, &cut) => {}
                    () = carry(far_read, near_write, &cut) => {}
                }
            });
        }
    });
    (place, is_cut)
}

async fn carry(
    mut from: impl tokio::io::AsyncRead + Unpin,
    mut to: impl tokio::io::AsyncWrite + Unpin,
    cut: &AtomicBool,
) {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let Ok(count @ 1..) = from.read(&mut buffer).await else { return };
        while cut.load(SeqCst) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        if to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}

struct Nodes {
    home: Home,
    urls: [String; NODES],
    running: Vec<Option<Serving>>,
}

impl Nodes {
    async fn start(&mut self, number: usize) {
        let mut command = self.home.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.env("PLENARY_DATABASE_URL", &self.urls[number]);
        if number == 0 {
            // This one hears nothing, and goes by what it looks up.
            command.env("PLENARY_DATABASE_LISTEN_URL", "postgres://nobody@127.0.0.1:1/nothing");
        }
        self.running[number] = Some(self.home.serving(command).await);
    }

    fn at(&self, number: usize) -> String {
        self.running[number % NODES].as_ref().unwrap().url.clone()
    }

    fn signal(&self, number: usize, signal: Signal) {
        let pid = self.running[number].as_ref().unwrap().pid();
        kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
    }
}

/// What a node answered; `None` if it died, could not reach the store, or the state forbids
/// it.
async fn ask(http: &reqwest::Client, url: String, key: Option<&str>, body: Value) -> Option<Value> {
    let mut request = http.post(url).json(&body).timeout(SAFETY);
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    let response = request.send().await.ok()?;
    let status = response.status().as_u16();
    let mut body: Value = response.json().await.ok()?;
    match status {
        200 | 201 => Some(body["data"].take()),
        409 | 429 | 500..=599 => None,
        other => panic!("{other}: {body}"),
    }
}

async fn convene(http: &reqwest::Client, url: &str, key: &str) -> Option<Value> {
    let body = json!({ "prompt": format!("Shall we, {key}?") });
    ask(http, format!("{url}/api/boardrooms"), Some(key), body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn three_nodes_lose_nothing_whatever_happens_to_them() {
    if std::env::var("PLENARY_TEST_POSTGRES").is_ok_and(|url| !url.is_empty()) {
        plenary_providers::install_tls();
        let rounds = std::env::var("PLENARY_CHAOS_ROUNDS");
        chaos(rounds.map_or(ROUNDS, |rounds| rounds.parse().unwrap())).await;
    }
}

async fn chaos(rounds: u64) {
    let script = Script::new(Reply::canned().tokens_per_second(200));
    let scripted = Scripted::start(script.models(&["a", "b", "c"])).await.unwrap();
    let server = Server::start().await;
    let (place, is_cut) = cable(server.place().to_owned()).await;
    let through = server.url.replace(server.place(), &place);
    let mut nodes = Nodes {
        home: Home::new(&scripted.url()),
        urls: [server.url.clone(), server.url.clone(), through],
        running: vec![None, None, None],
    };
    for number in 0..NODES {
        nodes.start(number).await;
    }
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut known = Acknowledged::default();
    let mut dice = Dice::new();
    for round in 0..rounds {
        let keys: Vec<String> = (0..BOARDS).map(|nth| format!("board-{round}-{nth}")).collect();
        let convening = join_all(keys.iter().enumerate().map(|(nth, key)| {
            let (http, url) = (&http, nodes.at(nth));
            async move { (key, convene(http, &url, key).await) }
        }));
        let seen = scripted.requests().len();
        // In the middle of it.
        let happens = async {
            let wanted = scripted.wait_for_requests(seen + 1 + dice.roll(6));
            tokio::time::timeout(SAFETY, wanted).await.ok();
            match round % 4 {
                0 => nodes.signal(1, Signal::KILL),
                1 => nodes.signal(1, Signal::STOP),
                2 => server.crash().await,
                _ => is_cut.store(true, SeqCst),
            }
            // A stop for one of them, at a node that may or may not drive it.
            let id = known.sessions.values().last().cloned();
            if let Some(id) = id {
                let stop = format!("{}/api/boardrooms/{id}/stop", nodes.at(0));
                if let Some(board) = ask(&http, stop, None, json!({})).await {
                    return Some(board);
                }
            }
            None
        };
        if round % 4 == 1 || round % 4 == 3 {
            // Whoever asks a node that is away is not answered before it is back.
            let (stopped, convened) = {
                let back = async {
                    let stopped = happens.await;
                    tokio::time::sleep(AWAY).await;
                    stopped
                };
                let back = async {
                    let stopped = back.await;
                    is_cut.store(false, SeqCst);
                    if round % 4 == 1 {
                        nodes.signal(1, Signal::CONT);
                    }
                    stopped
                };
                tokio::join!(back, convening)
            };
            note(&mut known, stopped, convened);
        } else {
            let (stopped, convened) = tokio::join!(happens, convening);
            note(&mut known, stopped, convened);
        }
        if round % 4 == 0 {
            nodes.running[1].take().unwrap().kill().await;
            nodes.start(1).await;
        }
    }

    // Whoever was not answered asks again, wherever, and is answered once.
    for (nth, key) in
        (0..rounds).flat_map(|r| (0..BOARDS).map(move |nth| (nth, format!("board-{r}-{nth}"))))
    {
        let board = async {
            loop {
                if let Some(board) = convene(&http, &nodes.at(nth as usize + 1), &key).await {
                    return board;
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        let board = tokio::time::timeout(SAFETY, board).await.expect("a node that lives answers");
        known.note(Some(&key), &board);
    }
    rest_and_resume(&http, &nodes).await;
    for number in 0..NODES {
        same_order_everywhere(&http, &nodes.at(0), &nodes.at(number)).await;
    }
    for node in nodes.running.drain(..).flatten() {
        node.kill().await;
    }
    let store = postgres::open(&Address::of(&server.url).unwrap()).await.unwrap();
    known.examine(&store, &scripted).await;
    assert_eq!(known.sessions.len() as u64, rounds * BOARDS);
    store.close().await;
    server.stop().await;
}

fn note(known: &mut Acknowledged, stopped: Option<Value>, convened: Vec<(&String, Option<Value>)>) {
    for (key, board) in convened {
        if let Some(board) = board {
            known.note(Some(key), &board);
        }
    }
    stopped.iter().for_each(|board| known.note(None, board));
}

/// Until nothing goes on by itself any more, and what was stopped has been gone on with.
async fn rest_and_resume(http: &reqwest::Client, nodes: &Nodes) {
    let url = nodes.at(1);
    let list = async |query: &str| -> Value {
        let page = http.get(format!("{url}/api/sessions?{query}")).send().await.unwrap();
        page.json().await.unwrap()
    };
    let rest = async {
        loop {
            if list("active=true&limit=1").await["meta"]["total"] != 0 {
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
            let stopped = list("status=stopped").await;
            let stopped = stopped["data"].as_array().unwrap();
            if stopped.is_empty() {
                return;
            }
            for session in stopped {
                let id = session["id"].as_str().unwrap();
                let resume = format!("{}/api/boardrooms/{id}/resume", nodes.at(2));
                ask(http, resume, None, json!({})).await;
            }
        }
    };
    tokio::time::timeout(SAFETY * 2, rest).await.expect("every session goes on by itself");
}

/// Readers of all sessions see the same, in the same order, at every node.
async fn same_order_everywhere(http: &reqwest::Client, one: &str, other: &str) {
    let mut orders = vec![];
    for url in [one, other] {
        let mut events = http.get(format!("{url}/api/events?after=0")).send().await.unwrap();
        let mut text = String::new();
        while let Ok(Ok(Some(chunk))) =
            tokio::time::timeout(Duration::from_secs(2), events.chunk()).await
        {
            text.push_str(&String::from_utf8_lossy(&chunk));
        }
        let ids = text.lines().filter_map(|line| line.strip_prefix("id:"));
        orders.push(ids.map(|id| id.trim().parse().unwrap()).collect::<Vec<u64>>());
    }
    assert!(orders[0].is_sorted_by(|left, right| left < right), "{:?}", orders[0]);
    assert!(!orders[0].is_empty());
    assert_eq!(orders[0], orders[1]);
}
