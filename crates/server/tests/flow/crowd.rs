//! Callers who hold on to what they get: a real attack in small, over real sockets.

use std::sync::Arc;
use std::time::Duration;

use plenary_domain::limits;
use plenary_engine::testkit::ManualClock;
use plenary_server::{Access, Capacity};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::support::{SAFETY, Setup, TestApp, answer, canned};

const FEW: Capacity = Capacity { connections: 32, socket_clients: 16, mcp_sessions: 2 };

fn guarded() -> Access {
    Access { tokens: vec!["one".into()], ..Access::default() }
}

async fn small(access: Access) -> TestApp {
    Setup { access, capacity: FEW, ..Setup::default() }.start(canned()).await
}

/// A connection on which just this has been said.
async fn say(app: &TestApp, words: &str) -> TcpStream {
    let mut stream = TcpStream::connect(app.url.trim_start_matches("http://")).await.unwrap();
    stream.write_all(words.as_bytes()).await.unwrap();
    stream
}

/// The head of a request whose body has yet to come.
fn head(path: &str, more: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\naccept: application/json, \
         text/event-stream\r\ncontent-type: application/json\r\n{more}\
         content-length: {length}\r\n\r\n"
    )
}

async fn trickle(app: &TestApp, many: usize) -> Vec<TcpStream> {
    let words = head("/api/access", "", 100) + "{";
    let mut all = vec![];
    for _ in 0..many {
        all.push(say(app, &words).await);
    }
    all
}

/// What is answered until the connection ends, as status and error code.
async fn last_words(stream: &mut TcpStream) -> (u16, String) {
    let mut text = String::new();
    timeout(SAFETY, stream.read_to_string(&mut text)).await.expect("it should end").unwrap();
    let status = text.split(' ').nth(1).unwrap_or_else(|| panic!("no answer: {text:?}"));
    let body = text.split("\r\n\r\n").nth(1).unwrap_or_default();
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    (status.parse().unwrap(), body["error"]["code"].as_str().unwrap_or_default().to_owned())
}

/// The server hangs up, whatever it has said before.
async fn ends(stream: &mut TcpStream) {
    let reads = async { while stream.read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {} };
    timeout(SAFETY, reads).await.expect("it should end");
}

fn get(app: &TestApp, path: &str) -> reqwest::RequestBuilder {
    // A connection of its own for each: the pool would hide what is tested.
    let client = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap();
    client.get(format!("{}{path}", app.url))
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_trickle_keep_nobody_out() {
    let app = small(guarded()).await;
    // One who has shown a token reads along from before.
    let mut reader = get(&app, "/api/events").bearer_auth("one").send().await.unwrap();
    let mut attack = trickle(&app, 4 * FEW.connections).await;
    for path in ["/healthz", "/readyz"] {
        assert_eq!(answer(get(&app, path)).await.0, 200, "{path}");
    }
    assert_eq!(answer(get(&app, "/api/sessions").bearer_auth("one")).await.0, 200);
    ends(&mut attack[0]).await;
    let convene = app.http.post(format!("{}/api/boardrooms", app.url)).bearer_auth("one");
    let convene = convene.json(&json!({ "prompt": "?", "models": ["ollama/a"] }));
    assert_eq!(answer(convene).await.0, 201);
    let mut heard = Vec::new();
    while !String::from_utf8_lossy(&heard).contains("event: ") {
        let piece = timeout(SAFETY, reader.chunk()).await.unwrap().unwrap();
        heard.extend_from_slice(&piece.expect("the reader is still connected"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_no_token_is_wanted_they_keep_nobody_out_either() {
    let app = small(Access::default()).await;
    let mut attack = trickle(&app, 4 * FEW.connections).await;
    // Others send whole requests first, and go on with a body that does not come.
    for _ in 0..FEW.connections {
        let words = "GET /api/sessions HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned()
            + &head("/api/boardrooms", "", 100);
        let mut stream = say(&app, &words).await;
        // Answered or sent away: whoever is still on the way in could take a place later.
        let _ = timeout(SAFETY, stream.read(&mut [0; 4096])).await.unwrap();
        attack.push(stream);
    }
    for path in ["/healthz", "/readyz", "/api/sessions"] {
        assert_eq!(answer(get(&app, path)).await.0, 200, "{path}");
    }
    ends(&mut attack[0]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_leave_room_for_whoever_watches_over_the_server() {
    let app = small(guarded()).await;
    let most = FEW.connections - FEW.connections / limits::NEWCOMERS_PART;
    let mut readers = vec![];
    for _ in 0..most {
        let reader = get(&app, "/api/events").bearer_auth("one").send().await.unwrap();
        assert_eq!(reader.status(), 200);
        readers.push(reader);
    }
    let (status, body) = answer(get(&app, "/api/sessions").bearer_auth("one")).await;
    assert_eq!((status, &body["error"]["code"]), (429, &json!("busy")), "{body}");
    assert_eq!(answer(get(&app, "/healthz")).await.0, 200);
    readers.pop();
    let again =
        async { while answer(get(&app, "/api/sessions").bearer_auth("one")).await.0 != 200 {} };
    timeout(SAFETY, again).await.expect("one that leaves makes room");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_on_which_nothing_is_asked_gives_way() {
    let app = small(guarded()).await;
    let words =
        "GET /api/sessions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer one\r\n\r\n";
    let mut all = vec![];
    for _ in 0..FEW.connections {
        let mut stream = say(&app, words).await;
        let mut buffer = [0; 4096];
        let read = timeout(SAFETY, stream.read(&mut buffer)).await.unwrap().unwrap();
        assert!(buffer[..read].starts_with(b"HTTP/1.1 200"));
        all.push(stream);
    }
    ends(&mut all[0]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_no_token_is_refused_before_a_body_comes() {
    let app = small(guarded()).await;
    for (words, expected) in [
        (head("/api/boardrooms", "", 1_000), (401, "unauthorized")),
        (head("/mcp", "authorization: Bearer two\r\n", 1_000), (401, "unauthorized")),
        (head("/api/access", "", limits::STRANGER_BODY_BYTES + 1), (413, "too-large")),
    ] {
        let (status, code) = last_words(&mut say(&app, &words).await).await;
        assert_eq!((status, code.as_str()), expected, "{words}");
    }
    // Nor is more of one read that does not say how long it is.
    let mut words = head("/api/access", "transfer-encoding: chunked\r\n", 0);
    words = words.replace("content-length: 0\r\n", "");
    let chunk = "x".repeat(limits::STRANGER_BODY_BYTES + 1);
    words += &format!("{:x}\r\n{chunk}\r\n", chunk.len());
    let (status, code) = last_words(&mut say(&app, &words).await).await;
    assert_eq!((status, code.as_str()), (413, "too-large"));
}

/// Waits until somebody waits for this long, and lets that time pass.
async fn pass(clock: &ManualClock, ms: u64) {
    asleep(clock, ms).await;
    clock.advance(Duration::from_millis(ms));
}

async fn asleep(clock: &ManualClock, ms: u64) {
    let time = Duration::from_millis(ms);
    let asleep = clock.until_asleep(1, time..=time);
    timeout(SAFETY, asleep).await.unwrap_or_else(|_| panic!("nobody waits {ms} ms"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_does_not_come_is_given_up() {
    let clock = Arc::new(ManualClock::default());
    let setup = Setup { access: guarded(), clock: clock.clone(), ..Setup::default() };
    let app = setup.start(canned()).await;
    let session = begin(&app).await;
    let token = "authorization: Bearer one\r\n";
    for (path, more) in
        [("/api/access", ""), ("/api/boardrooms", token), ("/mcp", token), (session.as_str(), "")]
    {
        let mut stream = say(&app, &(head(path, more, 100) + "{")).await;
        pass(&clock, limits::BODY_FIRST_MS).await;
        assert_eq!(last_words(&mut stream).await, (408, "too-slow".to_owned()), "{path}");
    }
}

async fn answer_text(app: &TestApp, path: &str) -> String {
    timeout(SAFETY, get(app, path).send()).await.unwrap().unwrap().text().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_may_take_its_time_if_it_keeps_coming() {
    let clock = Arc::new(ManualClock::default());
    let app = Setup { clock: clock.clone(), ..Setup::default() }.start(canned()).await;
    let second = limits::BODY_BYTES_PER_SECOND as usize;
    let body = json!({ "prompt": "?".repeat(5 * second), "models": ["ollama/a"] }).to_string();
    let mut stream = say(&app, &head("/api/boardrooms", "connection: close\r\n", body.len())).await;
    // Each piece brings the time that it may take.
    let mut pieces = body.as_bytes().chunks(second);
    for piece in pieces.by_ref().take(5) {
        asleep(&clock, limits::BODY_FIRST_MS).await;
        stream.write_all(piece).await.unwrap();
        asleep(&clock, limits::BODY_FIRST_MS + 1_000).await;
        clock.advance(Duration::from_secs(1));
    }
    for piece in pieces {
        stream.write_all(piece).await.unwrap();
    }
    assert_eq!(last_words(&mut stream).await, (201, String::new()));
    // At a slower pace the time runs out.
    let mut stream = say(&app, &head("/api/boardrooms", "", body.len())).await;
    asleep(&clock, limits::BODY_FIRST_MS).await;
    clock.advance(Duration::from_millis(limits::BODY_FIRST_MS - 1_000));
    stream.write_all(&body.as_bytes()[..second / 2]).await.unwrap();
    pass(&clock, 1_500).await;
    assert_eq!(last_words(&mut stream).await, (408, "too-slow".to_owned()));
}

const SOCKET: &str = "/socket.io/?EIO=4&transport=polling";

/// Begins a session of Socket.IO, and says nothing in it yet.
async fn begin(app: &TestApp) -> String {
    let opened = answer_text(app, SOCKET).await;
    let opened: Value = serde_json::from_str(&opened[1..]).unwrap_or_else(|_| panic!("{opened}"));
    format!("{SOCKET}&sid={}", opened["sid"].as_str().unwrap())
}

async fn send(app: &TestApp, session: &str, packet: &str) -> String {
    let request = app.http.post(format!("{}{session}", app.url)).body(packet.to_owned());
    timeout(SAFETY, request.send()).await.unwrap().unwrap().text().await.unwrap()
}

/// Polls until this has come, among whatever else.
async fn poll(app: &TestApp, session: &str, words: &str) {
    let comes = async { while !answer_text(app, session).await.contains(words) {} };
    timeout(SAFETY, comes).await.unwrap_or_else(|_| panic!("{words} did not come"));
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_sockets_that_do_not_say_who_they_are_keep_nobody_out() {
    let app = small(guarded()).await;
    let strange = begin(&app).await;
    // One who knows no token stays a stranger.
    assert_eq!(send(&app, &strange, "40{\"token\":\"two\"}").await, "ok");
    poll(&app, &strange, "That is not this server's access token.").await;
    for _ in 0..2 * FEW.socket_clients {
        begin(&app).await;
    }
    let known = begin(&app).await;
    assert_eq!(send(&app, &known, "40{\"token\":\"one\"}").await, "ok");
    poll(&app, &known, "40{\"sid\":").await;
    poll(&app, &strange, "Session ID unknown").await;
    // Whoever has shown a token stays.
    for _ in 0..2 * FEW.socket_clients {
        begin(&app).await;
    }
    assert_eq!(send(&app, &known, "421[\"discussion:stop\",{}]").await, "ok");
    poll(&app, &known, "431[").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_websocket_of_a_stranger_gives_way_and_one_of_a_client_does_not() {
    let app = small(guarded()).await;
    let upgrade = |more: &str| {
        format!(
            "GET /socket.io/?EIO=4&transport=websocket{more} HTTP/1.1\r\nhost: localhost\r\n\
             connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
             sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
    };
    // Its session began by polling, so the websocket is a second connection of it.
    let known = begin(&app).await;
    assert_eq!(send(&app, &known, "40{\"token\":\"one\"}").await, "ok");
    poll(&app, &known, "40{\"sid\":").await;
    let session = known.rsplit_once("&sid=").unwrap().1;
    let mut known = say(&app, &upgrade(&format!("&sid={session}"))).await;
    hear(&mut known, "101 Switching Protocols").await;
    frame(&mut known, "2probe").await;
    hear(&mut known, "3probe").await;
    frame(&mut known, "5").await;
    let mut strange = say(&app, &upgrade("")).await;
    hear(&mut strange, "\"sid\"").await;
    let _attack = trickle(&app, 4 * FEW.connections).await;
    ends(&mut strange).await;
    frame(&mut known, "421[\"discussion:stop\",{}]").await;
    hear(&mut known, "431[").await;
}

/// Reads until this has come.
async fn hear(stream: &mut TcpStream, words: &str) {
    let mut heard = vec![];
    while !String::from_utf8_lossy(&heard).contains(words) {
        let read = timeout(SAFETY, stream.read_buf(&mut heard)).await.expect(words).unwrap();
        assert!(read > 0, "{words} did not come after {}", String::from_utf8_lossy(&heard));
    }
}

/// Sends a text as clients must: masked, here with zeros.
async fn frame(stream: &mut TcpStream, text: &str) {
    let head = [0x81, 0x80 | u8::try_from(text.len()).unwrap(), 0, 0, 0, 0];
    stream.write_all(&[&head, text.as_bytes()].concat()).await.unwrap();
}
