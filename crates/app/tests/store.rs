//! The store under the real program: what is said when it fails, what is found when it
//! is damaged, and what a backup is worth.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use insta::assert_snapshot;
use plenary_domain::{SessionId, Timestamp};
use plenary_engine::ports::{Append, NewEvent, Store as _};
use plenary_store::Holder;
use plenary_store::testkit::Database;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use serde_json::{Value, json};
use support::{Home, NOWHERE, SAFETY, Serving};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufStream};
use tokio::net::TcpStream;

const DATABASE: &str = "plenary.sqlite3";
const LOG: &str = "plenary.sqlite3-wal";

fn file(home: &Home, name: &str) -> PathBuf {
    home.path().join("data").join(name)
}

struct Client {
    http: reqwest::Client,
    url: String,
}

impl Client {
    async fn of(serving: &Serving) -> Client {
        plenary_providers::install_tls();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let client = Client { http, url: serving.url.clone() };
        assert_eq!(client.get("/healthz").await.0, 200);
        client
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        answer(self.http.get(format!("{}{path}", self.url))).await
    }

    async fn open(&self, board: &str) -> (u16, Value) {
        let body = json!({ "boardId": board, "topic": "Which one?", "openedBy": "lead" });
        let url = format!("{}/api/whiteboards", self.url);
        answer(self.http.post(url).header("idempotency-key", board).json(&body)).await
    }

    /// Asks until the answer is this.
    async fn until_ready(&self, status: u16) -> Value {
        let ready = async {
            loop {
                let (found, body) = self.get("/readyz").await;
                if found == status {
                    return body;
                }
            }
        };
        tokio::time::timeout(SAFETY, ready).await.expect("it shows")
    }
}

/// One connection, and never another: a pool opens a second one when the first has not
/// come back to it yet, and a server that may open nothing would not take it.
struct Line(BufStream<TcpStream>);

impl Line {
    async fn to(serving: &Serving) -> Line {
        let address = serving.url.strip_prefix("http://").unwrap();
        let mut line = Line(BufStream::new(TcpStream::connect(address).await.unwrap()));
        assert_eq!(line.ask("GET /healthz", "", None).await.0, 200);
        line
    }

    async fn ask(&mut self, what: &str, header: &str, body: Option<Value>) -> (u16, Value) {
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let length = body.len();
        let request = format!(
            "{what} HTTP/1.1\r\nhost: localhost\r\n{header}content-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        );
        let exchange = async {
            self.0.write_all(request.as_bytes()).await.unwrap();
            self.0.flush().await.unwrap();
            let (mut status, mut length) = (0, 0);
            loop {
                let mut line = String::new();
                assert_ne!(self.0.read_line(&mut line).await.unwrap(), 0, "it was closed");
                let line = line.trim().to_lowercase();
                if let Some(rest) = line.strip_prefix("http/1.1 ") {
                    status = rest[..3].parse().unwrap();
                } else if let Some(rest) = line.strip_prefix("content-length:") {
                    length = rest.trim().parse().unwrap();
                } else if line.is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            self.0.read_exact(&mut body).await.unwrap();
            (status, serde_json::from_slice(&body).unwrap())
        };
        tokio::time::timeout(SAFETY, exchange).await.expect("it answers")
    }
}

async fn answer(request: reqwest::RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

/// Sets what a running process may still use; `None` is as much as this one may.
fn limit(serving: &Serving, what: Resource, to: Option<u64>) {
    let pid = Pid::from_raw(i32::try_from(serving.pid()).unwrap());
    // Only the soft limit: anybody may raise that again.
    let maximum = getrlimit(what).maximum;
    prlimit(pid, what, Rlimit { current: to.or(maximum), maximum }).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_file_handle_to_spare_everything_is_carried_out_and_answered() {
    let home = Home::new(NOWHERE);
    let serving = home.serve().await;
    let mut line = Line::to(&serving).await;
    // No file can be opened from now on, nor a connection taken.
    limit(&serving, Resource::Nofile, Some(1));
    for board in ["one", "two", "three"] {
        let open = json!({ "boardId": board, "topic": "Which one?", "openedBy": "lead" });
        let (status, opened) = line.ask("POST /api/whiteboards", "", Some(open)).await;
        assert_eq!(status, 201, "{opened}");
        let token = format!("agent-token: {}\r\n", opened["data"]["agentToken"].as_str().unwrap());
        let post = json!({ "type": "proposal", "title": "This", "body": "Yes." });
        let what = format!("POST /api/whiteboards/{board}/posts");
        let (status, posted) = line.ask(&what, &token, Some(post)).await;
        assert_eq!(status, 200, "{posted}");
    }
    assert_eq!(line.ask("GET /readyz", "", None).await.0, 200);
    assert_eq!(line.ask("GET /api/whiteboards", "", None).await.1["meta"]["total"], 3);
    serving.kill().await;
    // Nor was any of it said only.
    let checked = home.run(&["store", "check"]).await;
    assert_eq!((checked.code, checked.err.as_str()), (Some(0), ""), "{}", checked.out);
    assert!(checked.out.contains("sessions: 3"), "{}", checked.out);
}

/// A disk that takes no more: a file that may not grow is the same to a program.
#[tokio::test(flavor = "multi_thread")]
async fn what_may_have_happened_is_said_so_and_a_repeat_brings_the_token() {
    let home = Home::new(NOWHERE);
    let plain = home.command(&[]);
    let mut command = tokio::process::Command::new("/bin/sh");
    command
        // The signal that comes with it would end the program; a full disk sends none.
        .args(["-c", "trap '' XFSZ; exec \"$0\" serve --listen 127.0.0.1:0"])
        .arg(plain.as_std().get_program())
        .env_clear()
        .envs(plain.as_std().get_envs().filter_map(|(name, value)| Some((name, value?))))
        .current_dir(home.path())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    let serving = home.serving(command).await;
    let client = Client::of(&serving).await;
    client.until_ready(200).await;
    let size = fs::metadata(file(&home, LOG)).unwrap().len();
    limit(&serving, Resource::Fsize, Some(size));
    let (status, told) = client.open("docs").await;
    assert_eq!((status, &told["error"]["code"]), (503, &json!("store-failed")));
    let hint = told["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("may have been made"), "{hint}");
    assert!(hint.contains("same Idempotency-Key") && !hint.contains("Nothing"), "{hint}");
    let told = client.until_ready(503).await;
    assert_eq!(told["error"]["hint"], "The server's log says why.");

    limit(&serving, Resource::Fsize, None);
    client.until_ready(200).await;
    let (status, opened) = client.open("docs").await;
    assert_eq!(status, 201, "{opened}");
    let token = opened["data"]["agentToken"].as_str().unwrap();
    // Once more, as whoever has lost the answer would.
    let (status, again) = client.open("docs").await;
    assert_eq!((status, again["data"]["agentToken"].as_str()), (201, Some(token)));
    assert_eq!(client.get("/api/whiteboards").await.1["meta"]["total"], 1);
    serving.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_was_removed_shows() {
    let home = Home::new(NOWHERE);
    let serving = home.serve().await;
    let client = Client::of(&serving).await;
    assert_eq!(client.open("docs").await.0, 201);
    client.until_ready(200).await;
    fs::remove_dir_all(home.path().join("data")).unwrap();
    client.until_ready(503).await;
    let (status, told) = client.open("more").await;
    assert_eq!(status, 503);
    let hint = told["error"]["hint"].as_str().unwrap();
    assert!(hint.starts_with("Nothing was changed."), "{hint}");
    serving.kill().await;
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_log_is_told_to_whoever_opens_the_store() {
    let home = Home::new(NOWHERE);
    let serving = home.serve().await;
    let client = Client::of(&serving).await;
    for board in ["one", "two", "three", "four"] {
        assert_eq!(client.open(board).await.0, 201);
    }
    serving.kill().await;
    let log = fs::read(file(&home, LOG)).unwrap();
    // The page of the frame in the middle.
    let frames = (log.len() - 32) / (24 + 4096);
    flip(&file(&home, LOG), 32 + frames / 2 * (24 + 4096) + 1_000);
    let checked = home.run(&["store", "check"]).await;
    assert_eq!(checked.code, Some(1));
    assert!(checked.out.contains("error The write-ahead log is damaged"), "{}", checked.out);
    let refused = home.run(&["store", "backup", "copy"]).await;
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("no backup was made"), "{}", refused.err);
    assert!(!home.path().join("copy").exists());

    let listed = home.run(&["whiteboard", "list"]).await;
    assert_eq!(listed.code, Some(0));
    assert!(listed.out.contains("one") && !listed.out.contains("four"), "{}", listed.out);
    assert!(listed.err.contains("transactions, which had been completed, are lost"));
    let kept = listed.err.split(" kept as ").nth(1).unwrap().split(" and ").next().unwrap();
    let found = fs::read(kept).unwrap();
    assert_eq!(found.len(), log.len());
    // Once: it is in the past, and its traces are named.
    assert_eq!(home.run(&["whiteboard", "list"]).await.err, "");
    let checked = home.run(&["store", "check"]).await;
    assert_eq!(checked.code, Some(0), "{}", checked.out);
    assert!(checked.out.contains(kept), "{}", checked.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn help_of_the_store() {
    let home = Home::new(NOWHERE);
    for command in [&[][..], &["check"], &["backup"]] {
        let ran = home.run(&[&["store"], command, &["--help"]].concat()).await;
        assert_snapshot!([&["help_store"], command].concat().join("_"), ran.shown());
    }
}

const OPEN: [&str; 6] = ["whiteboard", "open", "docs", "Which one?", "--as", "lead"];

/// Made while a server writes, restored by putting the file in its place.
#[tokio::test(flavor = "multi_thread")]
async fn a_backup_can_be_restored() {
    let home = Home::new(NOWHERE);
    let serving = home.serve().await;
    assert_eq!(home.run(&OPEN).await.code, Some(0));
    let checked = home.run(&["store", "check", "--json"]).await;
    let told: Value = serde_json::from_str(&checked.out).unwrap();
    assert_eq!((&told["sessions"], &told["problems"]), (&json!(1), &json!([])));
    let made = home.run(&["store", "backup", "copy"]).await;
    assert_eq!(made.code, Some(0), "{}", made.err);
    let again = home.run(&["store", "backup", "copy"]).await;
    assert_eq!(again.code, Some(1));
    assert!(again.err.contains("already exists"), "{}", again.err);
    let post = ["whiteboard", "post", "docs", "--as", "lead", "--type", "proposal"];
    let post = [&post[..], &["--title", "Too late", "Not in the backup."]].concat();
    assert_eq!(home.run(&post).await.code, Some(0));
    serving.kill().await;

    for name in [DATABASE, LOG, "plenary.sqlite3-shm"] {
        fs::remove_file(file(&home, name)).unwrap();
    }
    let missed = home.run(&["whiteboard", "list"]).await;
    assert_eq!(missed.code, Some(1));
    assert_snapshot!("missed", missed.shown());
    fs::copy(home.path().join("copy"), file(&home, DATABASE)).unwrap();
    let state = home.run(&["whiteboard", "state", "docs", "--as", "lead", "--json"]).await;
    assert_eq!(state.code, Some(0), "{}", state.err);
    assert!(!state.out.contains("Too late"));
    // The agent's token, kept on this side, still fits.
    assert_eq!(home.run(&post).await.code, Some(0));
}

/// From a folder to a database and to another folder: there everything goes on as it was.
#[tokio::test(flavor = "multi_thread")]
async fn a_store_moves_to_a_database_and_back() {
    let Some(database) = Database::fresh() else { return };
    let mut url = reqwest::Url::parse(&database.url()).unwrap();
    let password = url.password().unwrap_or_default().to_owned();
    let home = Home::new(NOWHERE);
    let [first, second] = ["data", "moved"].map(|name| home.path().join(name));
    let [first, second] = [&first, &second].map(|path| format!("sqlite:{}", path.display()));
    let copy = async |from: &str, to: &str| {
        let mut command = home.command(&["store", "copy", "--from", from, "--to", to]);
        command.env("PGPASSWORD", &password);
        home.finish(command).await
    };
    let on = async |variable: &str, place: &str, arguments: &[&str]| {
        let mut command = home.command(arguments);
        command.env(variable, place);
        let ran = home.finish(command).await;
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.err);
        ran.out
    };
    assert_eq!(home.run(&OPEN).await.code, Some(0));
    let kept = fs::read_to_string(home.path().join("data/agents.json")).unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    let token = kept["agents"][0]["token"].as_str().unwrap();
    let state = ["whiteboard", "state", "docs", "--token", token, "--json"];
    let before = home.run(&state).await.out;

    let refused = copy(&first, url.as_str()).await;
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("--to contains a password"), "{}", refused.err);
    let whole = url.to_string();
    url.set_password(None).unwrap();
    for written in ["written: 1", "written: 0"] {
        let copied = copy(&first, url.as_str()).await;
        assert_eq!(copied.code, Some(0), "{}", copied.err);
        assert!(copied.out.contains("sessions: 1,"), "{}", copied.out);
        assert!(copied.out.ends_with(&format!("{written}\n")), "{}", copied.out);
    }
    let name = "PLENARY_DATABASE_URL";
    assert_eq!(on(name, &whole, &state).await, before);
    let post = ["whiteboard", "post", "docs", "--token", token, "--type", "proposal"];
    let post = [&post[..], &["--title", "Here", "Posted in the database."]].concat();
    on(name, &whole, &post).await;
    on(name, &whole, &["store", "check"]).await;

    let back = copy(url.as_str(), &second).await;
    assert_eq!(back.code, Some(0), "{}", back.err);
    let folder = second.strip_prefix("sqlite:").unwrap();
    let moved = on("PLENARY_HOME", folder, &state).await;
    assert!(moved.contains("\"Here\""), "{moved}");
    // What has gone on elsewhere is not written over.
    let late = copy(&first, url.as_str()).await;
    assert_eq!(late.code, Some(1), "{}", late.out);
    assert_eq!(on(name, &whole, &state).await, moved);
}

/// What no statement can find: events that do not mean what they should, and words that
/// search does not find.
#[tokio::test(flavor = "multi_thread")]
async fn every_session_is_read_as_the_program_reads_it() {
    let home = Home::new(NOWHERE);
    assert_eq!(home.run(&OPEN).await.code, Some(0));
    let holder = Holder { command: "this test".into(), since: Timestamp::UNIX_EPOCH };
    let store = plenary_store::open(&home.path().join("data"), holder).await.unwrap();
    let opened = store.events_of_all(0, 9).await.unwrap().remove(0);
    for (number, name, payload) in [
        (1, "opened", opened.payload.as_str()),
        (2, "posted", opened.payload.as_str()),
        (3, "opened", "{}"),
    ] {
        let append = Append {
            session: SessionId(uuid::Uuid::from_u128(number)),
            expected: 0,
            epoch: None,
            kind: "whiteboard",
            name: None,
            project: None,
            title: "a title".into(),
            status: "blind",
            active: false,
            waits_for: vec![],
            imported: false,
            actor: "ada".into(),
            at: opened.at,
            events: vec![NewEvent {
                name,
                payload: payload.to_owned(),
                search: String::new(),
                listed: true,
            }],
            attempts: vec![],
            idempotency: None,
            driver: None,
            wake_at: None,
        };
        store.append(append).await.unwrap();
    }
    store.close().await.unwrap();
    assert_snapshot!("misread", home.run(&["store", "check"]).await.shown());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_store_is_said() {
    let home = Home::new(NOWHERE);
    let story: &[&[&str]] = &[
        &["store", "check"],
        &["store", "backup", "copy"],
        &OPEN,
        &["store", "check"],
        &["store", "check", "--server", "http://127.0.0.1:1"],
        &["store", "backup", "nowhere/copy"],
    ];
    assert_snapshot!("story", home.story(story).await);
    // A word inside an event.
    let database = file(&home, DATABASE);
    let mut bytes = fs::read(&database).unwrap();
    let at = bytes
        .windows(10)
        .position(|ten| ten == b"\"openedBy\"" || ten == b"{\"type\":\"o")
        .unwrap();
    bytes[at] = b'?';
    fs::write(&database, &bytes).unwrap();
    assert_snapshot!("damaged_event", home.run(&["store", "check"]).await.shown());
    fs::write(&database, "").unwrap();
    assert_snapshot!("empty", home.story(&[&["store", "check"], &["whiteboard", "list"]]).await);
}

/// Everybody on a machine can read the arguments of a process, and an error ends up anywhere.
#[tokio::test(flavor = "multi_thread")]
async fn a_password_of_a_database_is_taken_from_no_argument_and_shown_nowhere() {
    let home = Home::new(NOWHERE);
    for url in [
        "postgres://ada:geheim@127.0.0.1:1/plenary",
        "postgres://ada@127.0.0.1:1/plenary?sslmode=disable&password=geheim",
    ] {
        let ran = home.run(&["store", "copy", "--from", url, "--to", "sqlite:there"]).await;
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains("--from contains a password"), "{}", ran.err);
        assert!(!ran.err.contains("geheim"), "{}", ran.err);
        let mut command = home.command(&["sessions", "list"]);
        command.env("PLENARY_DATABASE_URL", url);
        let ran = home.finish(command).await;
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        assert!(ran.err.contains("postgres://ada@127.0.0.1:1/plenary"), "{}", ran.err);
        assert!(!ran.err.contains("geheim"), "{}", ran.err);
    }
}
