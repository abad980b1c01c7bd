//! Agents of two processes share a whiteboard while its server is killed again and
//! again: what was acknowledged is there once, what was refused is not, and the board
//! goes through its phases without a skip and without a repeat.
//!
//! `PLENARY_CRASH_ROUNDS` sets how many boards there are, `PLENARY_CRASH_SEED` when
//! the server is killed, counted in answers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod support;

use std::collections::{BTreeMap, HashMap};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use futures::future::join_all;
use plenary_domain::{Form, SessionId, Timestamp, Viewer, view, whiteboard};
use plenary_engine::ports::Store as _;
use plenary_store::Holder;
use serde_json::{Value, json};
use support::{Home, NOWHERE, SAFETY, Serving};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::{oneshot, watch};

const BOARDS: u64 = 2;
/// The first of each process leads, the others are specialists.
const AGENTS: [[&str; 3]; 2] = [["ada", "ben", "cyd"], ["dan", "eve", "fay"]];
const LEADERS: [&str; 2] = ["ada", "dan"];
const PHASES: [&str; 6] = ["blind", "read", "validate", "debate", "resolve", "archived"];
/// Posts, validations and votes of each agent.
const EACH: usize = 4;
/// The server is killed after so many answers, at least and at most.
const LIFE: (usize, usize) = (4, 40);

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_share_a_board_through_kills() {
    plenary_providers::install_tls();
    let boards = set("PLENARY_CRASH_ROUNDS").unwrap_or(BOARDS);
    let seed = set("PLENARY_CRASH_SEED").unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0);
    println!("PLENARY_CRASH_SEED={seed}");
    let home = Arc::new(Home::new(NOWHERE));
    let listen = free_address();
    let url = format!("http://{listen}");
    let serving = serve(&home, &listen).await;
    let (answered, answers) = watch::channel(0);
    let answered = Arc::new(answered);
    let clients = [
        Client::start(&home, &url, answered.clone()).await,
        Client::start(&home, &url, answered).await,
    ];

    let (over, ended) = oneshot::channel();
    let killing =
        tokio::spawn(kill_again_and_again(home.clone(), listen, serving, answers, seed, ended));
    let mut known = vec![];
    for nth in 0..boards {
        let deliberation = deliberate(&clients, format!("board-{nth}"));
        known.push(tokio::time::timeout(SAFETY * 2, deliberation).await.expect("it goes on"));
    }
    over.send(()).unwrap();
    let (serving, kills) = killing.await.unwrap();
    println!("killed {kills} times on {boards} boards");
    assert!(kills >= boards, "the server was killed {kills} times only");

    let mut seen = vec![];
    for board in &known {
        seen.push(Seen::read(&url, &board.board).await);
    }
    serving.kill().await;
    let holder = Holder { command: "test".into(), since: Timestamp::UNIX_EPOCH };
    let store = plenary_store::open(&home.path().join("data"), holder).await.unwrap();
    for (known, seen) in known.iter().zip(&seen) {
        examine(&store, known, seen).await;
    }
    store.close().await.unwrap();
}

fn set(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|value| value.parse().unwrap())
}

fn free_address() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

async fn serve(home: &Home, listen: &str) -> Serving {
    home.serving(home.command(&["serve", "--listen", listen])).await
}

/// Lets a server live for a number of answers that the dice choose, and a little
/// more, so that it dies in the middle of others. Returns the one that lives.
async fn kill_again_and_again(
    home: Arc<Home>,
    listen: String,
    mut serving: Serving,
    mut answers: watch::Receiver<usize>,
    seed: u64,
    mut over: oneshot::Receiver<()>,
) -> (Serving, u64) {
    let mut dice = Dice(seed | 1);
    let mut kills = 0;
    loop {
        let last = *answers.borrow() + LIFE.0 + dice.roll(LIFE.1 - LIFE.0);
        tokio::select! {
            _ = answers.wait_for(|count| *count >= last) => {}
            _ = &mut over => return (serving, kills),
        }
        for _ in 0..dice.roll(3_000) {
            tokio::task::yield_now().await;
        }
        serving.kill().await;
        kills += 1;
        serving = serve(&home, &listen).await;
    }
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }
}

// ---------------------------------------------------------------------------
// Clients

/// A `plenary mcp` that several agents speak through.
struct Client {
    input: tokio::sync::Mutex<ChildStdin>,
    waiting: Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>,
    last: AtomicU64,
    answered: Arc<watch::Sender<usize>>,
    _child: Child,
}

impl Client {
    async fn start(home: &Home, url: &str, answered: Arc<watch::Sender<usize>>) -> Client {
        let mut command = home.command(&["mcp"]);
        command.env("PLENARY_SERVER", url).stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let waiting = Arc::default();
        tokio::spawn(hear(child.stdout.take().unwrap(), Arc::clone(&waiting)));
        let input = tokio::sync::Mutex::new(child.stdin.take().unwrap());
        let client = Client { input, waiting, last: AtomicU64::new(0), answered, _child: child };
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" } });
        client.ask("initialize", hello).await;
        client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        client
    }

    async fn say(&self, message: &Value) {
        let line = format!("{message}\n");
        self.input.lock().await.write_all(line.as_bytes()).await.unwrap();
    }

    async fn ask(&self, method: &str, params: Value) -> Value {
        let id = self.last.fetch_add(1, SeqCst);
        let (reply, answer) = oneshot::channel();
        self.waiting.lock().unwrap().insert(id, reply);
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        let told = tokio::time::timeout(SAFETY, answer).await.expect("an answer").unwrap();
        told["result"].clone()
    }

    /// Calls a tool until there is an answer to it: what was done, or why not.
    async fn call(&self, tool: &str, arguments: Value) -> Result<Value, String> {
        loop {
            let params = json!({ "name": tool, "arguments": arguments });
            let result = self.ask("tools/call", params).await;
            let text = result["content"][0]["text"].as_str().expect("an answer has a text");
            let told: Value = serde_json::from_str(text).unwrap();
            if result["isError"] == json!(false) {
                self.answered.send_modify(|count| *count += 1);
                return Ok(told);
            }
            match told["code"].as_str().unwrap() {
                "unreachable" => {}
                "not-now" => {
                    self.answered.send_modify(|count| *count += 1);
                    return Err(told["code"].to_string());
                }
                other => panic!("{tool}: {other}: {told}"),
            }
        }
    }
}

async fn hear(output: ChildStdout, waiting: Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>) {
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        if let Some(id) = message["id"].as_u64() {
            let reply = waiting.lock().unwrap().remove(&id).expect("an answer was asked for");
            // A test that has failed does not listen any more.
            let _ = reply.send(message);
        }
    }
}

// ---------------------------------------------------------------------------
// One board

/// What agents know of a board. Every text on it is another one, so texts are names.
struct Known {
    board: String,
    /// By what they say: who said it, and the id that the answer gave it.
    said: Mutex<BTreeMap<String, Option<Said>>>,
}

#[derive(Clone, PartialEq, Debug)]
struct Said {
    by: String,
    /// `author/2`: the post itself, or the one that this is about.
    post: String,
    annotation: Option<String>,
}

/// One agent in its process.
#[derive(Clone, Copy)]
struct Agent<'a> {
    client: &'a Client,
    known: &'a Known,
    name: &'static str,
}

async fn deliberate(clients: &[Client; 2], board: String) -> Known {
    let known = Known { board, said: Mutex::default() };
    let agents: Vec<Agent<'_>> = clients
        .iter()
        .zip(AGENTS)
        .flat_map(|(client, names)| names.map(|name| Agent { client, known: &known, name }))
        .collect();
    let opening = json!({ "topic": "Does it hold?", "opened_by": "ada", "board_id": known.board,
        "idempotency_key": format!("{} open", known.board).replace(' ', "-") });
    clients[0].call("whiteboard_open", opening).await.unwrap();
    join_all(agents.iter().skip(1).map(|agent| agent.register())).await;
    for (phase, next) in PHASES.into_iter().zip(&PHASES[1..]) {
        join_all(agents.iter().map(|agent| agent.act(phase))).await;
        // Both want the board to move, while others still have something to say.
        let moving = agents.iter().filter(|agent| agent.leads()).map(|agent| agent.lead(next));
        let late = agents.iter().filter(|agent| !agent.leads()).map(|agent| agent.be_late(phase));
        let (moved, _) = tokio::join!(join_all(moving), join_all(late));
        let moves = moved.iter().filter(|moved| **moved).count();
        assert_eq!(moves, 1, "{}: one of two moved the board to {next}", known.board);
    }
    drop(agents);
    known
}

impl Agent<'_> {
    fn leads(&self) -> bool {
        LEADERS.contains(&self.name)
    }

    /// One call under a key of its own.
    async fn call(&self, tool: &str, key: &str, mut arguments: Value) -> Result<Value, String> {
        arguments["board_id"] = json!(self.known.board);
        arguments["agent_name"] = json!(self.name);
        let key = format!("{} {} {key}", self.known.board, self.name).replace(' ', "-");
        arguments["idempotency_key"] = json!(key);
        self.client.call(tool, arguments).await
    }

    async fn register(&self) {
        let role = if self.leads() { "operator" } else { "specialist" };
        self.call("whiteboard_register", "register", json!({ "role": role })).await.unwrap();
    }

    async fn act(&self, phase: &str) {
        match phase {
            "blind" => {
                for nth in 0..EACH {
                    self.post(&format!("post {nth}"), "claim").await;
                }
            }
            "validate" => {
                for post in self.others(EACH) {
                    let result = json!({ "type": "validation", "result": "confirmed" });
                    self.annotate(&format!("validation of {post}"), &post, result).await;
                }
            }
            "debate" => {
                for post in self.others(EACH) {
                    // The second one replaces the first; the log keeps both.
                    self.vote(&format!("first thought on {post}"), &post, "reject").await;
                    self.vote(&format!("second thought on {post}"), &post, "accept").await;
                }
                if !self.leads() {
                    let post = &self.others(1)[0];
                    let challenge = json!({ "type": "challenge" });
                    self.annotate(&format!("challenge of {post}"), post, challenge).await;
                }
            }
            "resolve" if self.name == LEADERS[1] => {
                for (text, challenge) in self.challenges() {
                    let id = challenge.annotation.unwrap();
                    let note = json!({ "type": "resolution", "challenge_id": id });
                    self.annotate(&format!("resolution of {text}"), &challenge.post, note).await;
                }
            }
            _ => {}
        }
    }

    /// Says one thing more, which may come before or after the board has moved.
    async fn be_late(&self, phase: &str) {
        match phase {
            "blind" => self.post("a late post", "claim").await,
            "debate" => self.post("a late note", "informational").await,
            "validate" => {
                let result = json!({ "type": "validation", "result": "inconclusive" });
                let post = &self.others(1)[0];
                self.annotate("a late validation", post, result).await;
            }
            _ => {}
        }
    }

    /// Whether it was this one that moved the board.
    async fn lead(&self, next: &str) -> bool {
        let key = format!("to {next}");
        let moved = match (next, self.name == LEADERS[0]) {
            ("archived", true) => self.call("whiteboard_archive", &key, json!({})).await,
            (next, _) => {
                let to = json!({ "target_phase": next });
                self.call("whiteboard_transition", &key, to).await
            }
        };
        moved.is_ok()
    }

    async fn post(&self, text: &str, kind: &str) {
        let title = format!("{}: {text}", self.name);
        let body = json!({ "type": kind, "title": title, "body": title });
        let told = self.call("whiteboard_post", text, body).await;
        self.note(title, told);
    }

    async fn annotate(&self, text: &str, post: &str, mut note: Value) {
        let body = format!("{}: {text}", self.name);
        note["post_id"] = json!(post);
        note["body"] = json!(body);
        let told = self.call("whiteboard_annotate", text, note).await;
        self.note(body, told);
    }

    async fn vote(&self, text: &str, post: &str, vote: &str) {
        let reason = format!("{}: {text}", self.name);
        let body = json!({ "post_id": post, "vote": vote, "reason": reason });
        let told = self.call("whiteboard_vote", text, body).await;
        self.note(reason, told);
    }

    fn note(&self, text: String, told: Result<Value, String>) {
        let said = told.ok().map(|told| Said {
            by: self.name.to_owned(),
            post: told["post_id"].as_str().unwrap().to_owned(),
            annotation: told["annotation_id"].as_str().map(str::to_owned),
        });
        let before = self.known.said.lock().unwrap().insert(text, said);
        assert!(before.is_none(), "texts are names");
    }

    /// Some posts of others, not the same ones for everybody.
    fn others(&self, count: usize) -> Vec<String> {
        let said = self.known.said.lock().unwrap();
        let posts = said.iter().filter(|(text, _)| text.contains(": post "));
        let posts = posts.filter_map(|(_, said)| said.clone()).filter(|said| said.by != self.name);
        let start = usize::from(self.name.as_bytes()[0]) % EACH;
        posts.map(|said| said.post).skip(start).step_by(2).take(count).collect()
    }

    fn challenges(&self) -> Vec<(String, Said)> {
        let said = self.known.said.lock().unwrap();
        let challenges = said.iter().filter(|(text, _)| text.contains(": challenge of "));
        challenges.filter_map(|(text, said)| Some((text.clone(), said.clone()?))).collect()
    }
}

// ---------------------------------------------------------------------------
// What is left

/// A board as a reader sees it.
struct Seen {
    state: Value,
    export: Value,
}

impl Seen {
    async fn read(url: &str, board: &str) -> Seen {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let get = async |path: &str| {
            let request = http.get(format!("{url}/api/whiteboards/{board}{path}"));
            request.send().await.unwrap().json::<Value>().await.unwrap()
        };
        let mut state = get("?detail=full&limit=200").await;
        Seen { state: state["data"].take(), export: get("/export").await }
    }
}

async fn examine(store: &plenary_store::SqliteStore, known: &Known, seen: &Seen) {
    let board = &known.board;
    let id: SessionId = seen.state["sessionId"].as_str().unwrap().parse().unwrap();
    let row = store.session(id).await.unwrap().expect("the board is there");
    let stored = store.events(id, 0, 10_000).await.unwrap();
    let versions: Vec<u64> = stored.iter().map(|event| event.version).collect();
    assert_eq!(versions, (1..=row.version).collect::<Vec<u64>>(), "{board}");

    // Once the board is archived, everybody's record is the whole log, in the order
    // in which it could be seen.
    let payloads: Vec<Value> =
        stored.iter().map(|event| serde_json::from_str(&event.payload).unwrap()).collect();
    let exported = seen.export["events"].as_array().unwrap();
    let exported: Vec<Value> = exported.iter().map(|event| event["event"].clone()).collect();
    assert_eq!(sorted(&exported), sorted(&payloads), "{board}");

    let events: Vec<whiteboard::Event> =
        payloads.into_iter().map(|event| serde_json::from_value(event).unwrap()).collect();
    assert_eq!(moves(&events), &PHASES[1..], "{board}");
    let acknowledged: BTreeMap<String, Said> = known
        .said
        .lock()
        .unwrap()
        .iter()
        .filter_map(|(text, said)| Some((text.clone(), said.clone()?)))
        .collect();
    let mut logged = BTreeMap::new();
    for (text, said) in said(&events) {
        assert!(logged.insert(text.clone(), said).is_none(), "{board}: twice: {text}");
    }
    assert_eq!(logged, acknowledged, "{board}");

    let folded = exported.into_iter().fold(None, |state, event| {
        let event = serde_json::from_value(event).unwrap();
        whiteboard::State::apply(state, &event, Timestamp::UNIX_EPOCH)
    });
    assert_eq!(shown(&seen.state), shown_from(&folded.unwrap()), "{board}");
}

fn sorted(events: &[Value]) -> Vec<String> {
    let mut texts: Vec<String> = events.iter().map(Value::to_string).collect();
    texts.sort_unstable();
    texts
}

fn moves(events: &[whiteboard::Event]) -> Vec<&'static str> {
    let to = |event: &whiteboard::Event| match event {
        whiteboard::Event::Transitioned { to, .. } => Some(to.name()),
        _ => None,
    };
    events.iter().filter_map(to).collect()
}

fn said(events: &[whiteboard::Event]) -> Vec<(String, Said)> {
    use whiteboard::Event;
    let said = |event: &Event| match event {
        Event::Posted { id, author, content, .. } => {
            let said = Said { by: author.0.clone(), post: id.0.clone(), annotation: None };
            Some((content.title.clone(), said))
        }
        Event::Annotated { id, post, by, body, .. } => {
            let annotation = Some(id.0.clone());
            Some((body.clone(), Said { by: by.0.clone(), post: post.0.clone(), annotation }))
        }
        Event::Voted { post, by, reason, .. } => {
            let said = Said { by: by.0.clone(), post: post.0.clone(), annotation: None };
            Some((reason.clone().unwrap(), said))
        }
        Event::Opened { .. }
        | Event::Registered { .. }
        | Event::InvitationRenewed { .. }
        | Event::Invited { .. }
        | Event::TokenRenewed { .. }
        | Event::Seated { .. }
        | Event::Priced(_)
        | Event::Budgeted(_)
        | Event::TimeOver { .. }
        | Event::Answered { .. }
        | Event::AnswerFailed { .. }
        | Event::AnswerStopped { .. }
        | Event::Stopped { .. }
        | Event::Transitioned { .. } => None,
    };
    events.iter().filter_map(said).collect()
}

/// What matters of a board as REST shows it.
fn shown(state: &Value) -> Value {
    let list = |value: &Value| value.as_array().unwrap().clone();
    let posts = list(&state["posts"]).into_iter().map(|post| {
        let annotations = list(&post["annotations"]).into_iter();
        let votes = list(&post["votes"]).into_iter();
        json!({
            "post": [post["postId"], post["author"], post["title"], post["body"]],
            "annotations": annotations
                .map(|a| json!([a["annotationId"], a["by"], a["type"], a["body"]]))
                .collect::<Vec<_>>(),
            "votes": votes.map(|v| json!([v["by"], v["vote"], v["reason"]])).collect::<Vec<_>>(),
        })
    });
    let agents = list(&state["agents"]);
    json!({
        "phase": state["phase"],
        "agents": agents.iter().map(|a| json!([a["agentName"], a["role"]])).collect::<Vec<_>>(),
        "posts": posts.collect::<Vec<_>>(),
    })
}

/// The same of a board that was folded from its log.
fn shown_from(state: &whiteboard::State) -> Value {
    let board = view::board(state, &Viewer::Outsider);
    let posts = board.posts.iter().map(|seen| {
        let content = &seen.post.content;
        let annotations = seen.annotations.iter();
        json!({
            "post": [seen.post.id, seen.post.author, content.title, content.body],
            "annotations": annotations
                .map(|a| json!([a.id, a.by, json!(a.note)["kind"], a.body]))
                .collect::<Vec<_>>(),
            "votes": seen.votes.iter().map(|v| json!([v.by, v.choice, v.reason])).collect::<Vec<_>>(),
        })
    });
    json!({
        "phase": board.phase.name(),
        "agents": board.members.iter().map(|m| json!([m.name, m.role])).collect::<Vec<_>>(),
        "posts": posts.collect::<Vec<_>>(),
    })
}
