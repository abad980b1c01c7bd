//! Reading along: every durable event exactly once and in order, whatever
//! happens to the connection.

use std::collections::BTreeSet;

use plenary_engine::ports::{Append, Appended};
use plenary_scripted::{Gate, Reply, Script, When};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::support::{
    Board, Events, SAFETY, SseFrame, TestApp, Texts, canned, resident_kb, unreadable,
};

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % (most + 1)
    }
}

/// A client that goes by the documented rules and checks that they hold.
#[derive(Default)]
struct Client {
    last: Option<u64>,
    names: Vec<String>,
    texts: Texts,
    /// Calls of which this connection has brought text.
    heard: BTreeSet<String>,
    /// Answers that came before all of their text: only a reader that fell behind
    /// may see one, because it goes on from the log.
    ahead: usize,
}

impl Client {
    fn take(&mut self, frame: &SseFrame) {
        self.texts.take(frame);
        if frame.name == "delta" {
            self.heard.insert(frame.data["callId"].as_str().unwrap().to_owned());
        }
        let Some(id) = frame.id else { return };
        assert_eq!(id, self.last.unwrap_or(0) + 1, "{frame:?}");
        self.last = Some(id);
        self.names.push(frame.name.clone());
        let event = &frame.data["event"];
        let call = match frame.name.as_str() {
            "advisorAnswered" => format!("advisor/{}#1", event["seat"]),
            "synthesized" => format!("synthesis/{}#1", event["number"]),
            _ => return,
        };
        let (said, whole) = (self.texts.of(&call), event["answer"]["text"].as_str().unwrap());
        assert!(whole.starts_with(said), "{call}: {said:?}");
        self.ahead += usize::from(self.heard.contains(&call) && said != whole);
    }

    async fn assert_in_step(&self, app: &TestApp) {
        let behind = app.metric("plenary_resyncs_total").await;
        assert!(self.ahead == 0 || behind > 0, "{} answers came too early", self.ahead);
    }

    /// Reads to the end of the board and goes away again and again.
    async fn follow(&mut self, app: &TestApp, board: &Board, dice: &mut Dice) -> usize {
        let mut connections = 0;
        loop {
            let mut events = app.events(&board.at("events"), self.last).await;
            self.heard.clear();
            connections += 1;
            for _ in 0..=dice.roll(5) {
                let frame = events.next().await.unwrap();
                self.take(&frame);
                if frame.name == "synthesized" {
                    return connections;
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_comes_and_goes_misses_nothing_and_sees_nothing_twice() {
    let paced = |tokens| Reply::canned().tokens(tokens).tokens_per_second(600);
    let script = Script::new(paced(120))
        .when(When::model("b"), paced(200))
        .when(When::model("c"), Reply::text("Grüße, 漢字 und 🙂 am Stück. ").split(3))
        .when(When::says("## Consensus"), Reply::canned().tokens_per_second(600));
    let app = TestApp::start(script).await;
    let rounds = (1..=40).map(|seed| {
        let app = &app;
        async move {
            let board = app.triad(&format!("Round {seed}?")).await;
            let mut client = Client::default();
            let mut dice = Dice(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
            let connections = client.follow(app, &board, &mut dice).await;
            assert_eq!(client.names, app.names(&board).await);
            client.assert_in_step(app).await;
            let view = app.board(&board).await;
            for said in view["advisors"].as_array().unwrap() {
                let call = said["callId"].as_str().unwrap();
                let text = said["text"].as_str().unwrap();
                assert!(text.starts_with(client.texts.of(call)), "{call}");
            }
            connections
        }
    });
    let connections: usize = futures::future::join_all(rounds).await.into_iter().sum();
    assert!(connections > 80, "the readers came and went {connections} times");
    app.until_metric("plenary_readers", |readers| readers == 0).await;
    app.until_metric("plenary_sessions_loaded", |rooms| rooms == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_stays_has_exactly_the_stored_text() {
    let paced = Reply::canned().tokens(100).tokens_per_second(800);
    let app =
        TestApp::start(Script::new(paced).when(When::says("## Consensus"), Reply::canned())).await;
    let board = app.triad("Stay?").await;
    let mut events = app.events(&board.at("events"), None).await;
    let mut client = Client::default();
    loop {
        let frame = events.next().await.unwrap();
        client.take(&frame);
        if frame.name == "synthesized" {
            break;
        }
    }
    client.assert_in_step(&app).await;
    let view = app.board(&board).await;
    for said in view["advisors"].as_array().unwrap() {
        assert_eq!(client.texts.of(said["callId"].as_str().unwrap()), said["text"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_comes_in_the_middle_first_gets_the_text_so_far() {
    let gate = Gate::new();
    let script = canned()
        .when(When::says("## Consensus"), Reply::canned())
        .when(When::says("Middle"), Reply::text("one two three four").gate(2, &gate));
    let app = TestApp::start(script).await;
    let board = app.triad("Middle?").await;
    let mut early = app.events(&board.at("events"), None).await;
    Texts::default().until(&mut early, 3, "one two ").await;

    let mut late = app.events(&board.at("events"), Some(1)).await;
    let mut texts = Texts::default();
    while texts.0.values().filter(|(_, text)| text == "one two ").count() < 3 {
        let frame = late.next().await.unwrap();
        assert_eq!(frame.name, "delta", "{frame:?}");
        texts.take(&frame);
    }
    // The board's own view says the same.
    let view = app.board(&board).await;
    assert_eq!(view["advisors"][0]["text"], "one two ");
    assert_eq!(view["advisors"][0]["status"], "answering");
    gate.release();
    late.until("synthesized").await;
}

/// Connects, asks for the events, and does not read a byte of them.
async fn silent_client(app: &TestApp, board: &Board) -> TcpStream {
    let address = app.url.strip_prefix("http://").unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4 * 1024).unwrap();
    let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
    let path = board.at("events");
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_never_read_hold_nobody_up() {
    let gate = Gate::new();
    let word = format!("{} ", "x".repeat(2_000));
    let long = Reply::text(&word.repeat(400)).gate(1, &gate);
    let script = Script::new(long).when(When::says("## Consensus"), Reply::canned());
    let app = TestApp::start(script).await;
    let board = app.triad("Anybody there?").await;
    let mut silent = vec![];
    for _ in 0..200 {
        silent.push(silent_client(&app, &board).await);
    }
    app.until_metric("plenary_readers", |readers| readers == 200).await;
    let mut events = app.events(&board.at("events"), None).await;
    let before = resident_kb();
    gate.release();
    let mut client = Client::default();
    loop {
        let frame = events.next().await.unwrap();
        client.take(&frame);
        if frame.name == "synthesized" {
            break;
        }
    }
    assert_eq!(client.names, app.names(&board).await);
    client.assert_in_step(&app).await;
    assert_eq!(app.metric("plenary_readers").await, 201);
    // 200 copies of what was said would be 480 MB.
    if let (Some(before), Some(after)) = (before, resident_kb()) {
        assert!(after < before + 200_000, "{before} kB before, {after} kB after");
    }

    // One of them begins to read at last: it has missed frames, not events.
    let mut late = silent.pop().unwrap();
    let mut bytes = vec![];
    let reads = async {
        let mut piece = vec![0; 64 * 1024];
        while !String::from_utf8_lossy(tail(&bytes)).contains("event: synthesized") {
            let count = late.read(&mut piece).await.unwrap();
            assert_ne!(count, 0, "the server closed the stream");
            bytes.extend_from_slice(&piece[..count]);
        }
    };
    tokio::time::timeout(SAFETY, reads).await.unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let ids: Vec<u64> = text
        .lines()
        .filter_map(|line| line.strip_prefix("id: ").and_then(|id| id.parse().ok()))
        .collect();
    assert_eq!(ids, (1..=client.last.unwrap()).collect::<Vec<u64>>());
    assert!(app.metric("plenary_resyncs_total").await >= 1);
    drop((silent, late, events));
    app.until_metric("plenary_readers", |readers| readers == 0).await;
}

fn tail(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.len().saturating_sub(200 * 1024)..]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_of_all_sees_every_event_once_and_in_order() {
    let paced = Reply::canned().tokens(40).tokens_per_second(800);
    let script = Script::new(paced).when(When::says("## Consensus"), Reply::canned());
    let app = TestApp::start(script).await;
    // Without a place to go on from it begins with what comes next.
    let early = app.triad("Before?").await;
    app.until_status(&early, "closed").await;
    let mut fresh = app.events("/api/events", None).await;

    let boards = (0..30).map(|nth| {
        let app = &app;
        async move { app.triad(&format!("All {nth}?")).await }
    });
    let reading = read_all(&app, 31 * 6);
    let (boards, seen) = tokio::join!(futures::future::join_all(boards), reading);
    let stored = app.store.events_of_all(0, 10_000).await.unwrap();
    let expected: Vec<(u64, String, String)> = stored
        .iter()
        .map(|event| (event.position.unwrap(), event.session.to_string(), event.name.clone()))
        .collect();
    assert_eq!(seen, expected);
    assert_eq!(boards.len(), 30);
    let first = fresh.next().await.unwrap();
    assert_eq!((first.id, first.name.as_str()), (Some(7), "convened"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_of_all_passes_over_what_was_removed() {
    let app = TestApp::start(canned()).await;
    let boards = [app.triad("One?").await, app.triad("Two?").await, app.triad("Three?").await];
    for board in &boards {
        app.until_status(board, "closed").await;
    }
    assert_eq!(app.delete(&boards[1].path()).await.0, 200);
    let mut events = app.events("/api/events", Some(0)).await;
    let mut seen = vec![];
    for _ in 0..12 {
        let frame = events.next().await.unwrap();
        seen.push((frame.id.unwrap(), frame.data["sessionId"].clone()));
    }
    assert!(seen.is_sorted_by(|left, right| left.0 < right.0), "{seen:?}");
    assert!(seen.iter().all(|(_, id)| *id != boards[1].id.as_str()), "{seen:?}");
    // And goes on with what comes next.
    let fourth = app.triad("Four?").await;
    assert_eq!(events.next().await.unwrap().data["sessionId"], fourth.id.as_str());
}

/// Reads so many events of all sessions over many short connections.
async fn read_all(app: &TestApp, count: usize) -> Vec<(u64, String, String)> {
    let mut dice = Dice(4711);
    let mut seen: Vec<(u64, String, String)> = vec![];
    while seen.len() < count {
        let after = seen.last().map_or(0, |(position, _, _)| *position);
        let mut events: Events = app.events("/api/events", Some(after)).await;
        for _ in 0..=dice.roll(15) {
            if seen.len() == count {
                break;
            }
            let frame = events.next().await.unwrap();
            seen.push((
                frame.id.unwrap(),
                frame.data["sessionId"].as_str().unwrap().to_owned(),
                frame.name,
            ));
        }
    }
    seen
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_of_all_is_told_nothing_of_what_is_not_listed() {
    let app = TestApp::start(canned()).await;
    let board = app.triad("One?").await;
    app.until_status(&board, "closed").await;
    let before = app.get("/api/sessions").await;

    let mut append = Append { expected: 6, ..unreadable(board.session()) };
    (append.title, append.status, append.active) = ("One?".into(), "closed", false);
    append.events[0].listed = false;
    let positions = vec![None];
    let answer = app.store.append(append).await.unwrap();
    assert_eq!(answer, Appended::Written { version: 7, positions, epoch: None });
    assert_eq!(app.get("/api/sessions").await, before);

    let next = app.triad("Two?").await;
    app.until_status(&next, "closed").await;
    let mut all = app.events("/api/events", Some(0)).await;
    for position in 1..=12 {
        let frame = all.next().await.unwrap();
        let session = if position <= 6 { &board.id } else { &next.id };
        assert_eq!(frame.id, Some(position));
        assert_eq!(frame.data["sessionId"], session.as_str());
    }
    // A reader of the session gets the whole log, which nobody holds in memory now.
    app.until_metric("plenary_sessions_loaded", |loaded| loaded == 0).await;
    let mut own = app.events(&format!("{}/events", board.path()), Some(5)).await;
    let ids = [own.next().await.unwrap().id, own.next().await.unwrap().id];
    assert_eq!(ids, [Some(6), Some(7)]);
}
