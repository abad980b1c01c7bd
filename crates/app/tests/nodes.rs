//! Three real nodes on one real PostgreSQL, under whatever happens to nodes: kills, sleeps
//! beyond the lease, a database that crashes, a network that swallows everything, and a node
//! that hears no notices. Clients give commands at all of them, under keys: they convene and
//! stop boards, and begin runs of a workflow that opens every form and does to it all that a
//! run can do. Somebody looks at boards that are blind meanwhile.
//!
//! `PLENARY_CHAOS_ROUNDS` sets how often something happens before accounts are made, and
//! `PLENARY_CHAOS_MINUTES` has all of it done again, on a database of its own, until so much
//! time is over.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use futures::future::join_all;
use plenary_engine::ports::{AttemptState, Store};
use plenary_scripted::{Reply, Script, Scripted};
use plenary_store::postgres::{self, Address};
use reqwest::{Client, RequestBuilder};
use rustix::process::Signal;
use serde_json::{Value, json};
use support::accounts::Acknowledged;
use support::cluster::{Nodes, Server, answer, answered, cable};
use support::deliveries::Deliveries;
use support::kills::Dice;
use support::{Home, SAFETY, runs};

const ROUNDS: u64 = 4;
/// Of each round.
const BOARDS: u64 = 4;
const RUNS: u64 = 2;
/// Longer than a lease.
const AWAY: Duration = Duration::from_secs(13);

fn has_postgres() -> bool {
    plenary_providers::install_tls();
    std::env::var("PLENARY_TEST_POSTGRES").is_ok_and(|url| !url.is_empty())
}

fn http() -> Client {
    Client::builder().no_proxy().build().unwrap()
}

fn convene(http: &Client, url: &str, key: &str) -> RequestBuilder {
    let body = json!({ "prompt": format!("Shall we, {key}?") });
    http.post(format!("{url}/api/boardrooms")).header("idempotency-key", key).json(&body)
}

fn boards_of(round: u64) -> impl Iterator<Item = (usize, String)> {
    (0..BOARDS).map(move |nth| (nth as usize, format!("board-{round}-{nth}")))
}

fn runs_of(round: u64) -> impl Iterator<Item = u64> + Clone {
    (0..RUNS).map(move |nth| round * RUNS + nth)
}

#[tokio::test(flavor = "multi_thread")]
async fn three_nodes_lose_nothing_whatever_happens_to_them() {
    if !has_postgres() {
        return;
    }
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let rounds = number("PLENARY_CHAOS_ROUNDS").unwrap_or(ROUNDS);
    let minutes = number("PLENARY_CHAOS_MINUTES").unwrap_or(0);
    let until = Instant::now() + Duration::from_secs(60 * minutes);
    let mut tally = Tally::default();
    loop {
        chaos(rounds, &mut tally).await;
        println!("{tally:?}");
        if Instant::now() >= until {
            return;
        }
    }
}

/// What there was, and was found in order.
#[derive(Default, Debug)]
#[allow(dead_code, reason = "it is written out")]
struct Tally {
    kills: u64,
    sleeps: u64,
    crashes_of_the_database: u64,
    cuts_of_the_network: u64,
    boards: usize,
    runs: u64,
    sessions: usize,
    events: usize,
    requests: usize,
    requests_cut: usize,
    deliveries: usize,
    deliveries_made_again: usize,
    looks_at_boards: u64,
    looks_while_blind: u64,
}

async fn chaos(rounds: u64, tally: &mut Tally) {
    let script = runs::answers(Script::new(Reply::canned().tokens_per_second(200)));
    let scripted = Scripted::start(script.models(&["a", "b", "c"])).await.unwrap();
    let deliveries = Deliveries::start().await;
    let server = Server::start().await;
    let (place, is_cut) = cable(server.place().to_owned()).await;
    let through = server.url.replace(server.place(), &place);
    let home = Home::new(&scripted.url());
    home.configure(&format!("[workflows]\nprivate_hosts = [\"{}\"]\n", deliveries.address));
    let mut nodes = Nodes::new(home, vec![server.url.clone(), server.url.clone(), through]);
    nodes.start_all().await;
    let (http, hook) = (http(), deliveries.url());
    let mut known = Acknowledged::default();
    let mut dice = Dice::new();
    let looks = Looks::default();
    answered(&nodes, |url| runs::guild(&http, url)).await;
    for round in 0..rounds {
        let convening = join_all(boards_of(round).map(|(nth, key)| {
            let asked = answer(convene(&http, &nodes.at(nth), &key));
            async move { (key, asked.await) }
        }));
        let beginning = join_all(runs_of(round).map(|nth| {
            let asked = answer(runs::begin(&http, &nodes.at(nth as usize), &hook, nth));
            async move { drop(asked.await) }
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
            let [kills, sleeps, crashes, cuts] =
                [0, 1, 2, 3].map(|what| (round % 4 == what) as u64);
            tally.kills += kills;
            tally.sleeps += sleeps;
            tally.crashes_of_the_database += crashes;
            tally.cuts_of_the_network += cuts;
            // A stop for one of them, at a node that may or may not drive it.
            let stopped = match known.sessions.values().last() {
                Some(id) => {
                    let stop = format!("{}/api/boardrooms/{id}/stop", nodes.at(0));
                    answer(http.post(stop).json(&json!({}))).await
                }
                None => None,
            };
            // Whoever asks a node that is away is not answered before it is back.
            if round % 2 == 1 {
                tokio::time::sleep(AWAY).await;
                is_cut.store(false, SeqCst);
                nodes.signal(1, Signal::CONT);
            }
            stopped
        };
        let all = async { tokio::join!(happens, convening, beginning) };
        let (stopped, convened, _) = tokio::select! {
            all = all => all,
            never = look_on(&http, &nodes, round, &looks) => match never {},
        };
        for (key, board) in convened {
            board.iter().for_each(|board| known.note(Some(&key), board));
        }
        stopped.iter().for_each(|board| known.note(None, board));
        if round % 4 == 0 {
            nodes.running[1].take().unwrap().kill().await;
            nodes.start(1).await;
        }
    }

    // Whoever was not answered asks again, wherever, and is answered once.
    for (_, key) in (0..rounds).flat_map(boards_of) {
        let board = answered(&nodes, |url| convene(&http, url, &key)).await;
        known.note(Some(&key), &board);
    }
    let mut begun = vec![];
    for nth in (0..rounds).flat_map(runs_of) {
        begun.push(answered(&nodes, |url| runs::begin(&http, url, &hook, nth)).await);
    }
    rest_and_resume(&http, &nodes).await;
    let mut shown = BTreeMap::new();
    for run in &begun {
        let id = run["id"].as_str().unwrap();
        let run = runs::look(&http, &nodes.at(shown.len()), id).await;
        assert_eq!(run["status"], "done", "{run:#}");
        assert_eq!(run["outputs"], json!({ "outcome": "accepted" }), "{run:#}");
        shown.insert(id.to_owned(), run);
    }
    let mut events = 0;
    for number in 0..nodes.running.len() {
        events = same_order_everywhere(&http, &nodes.at(0), &nodes.at(number)).await;
    }
    tally.events += events;
    for node in nodes.running.drain(..).flatten() {
        node.kill().await;
    }
    let store = postgres::open(&Address::of(&server.url).unwrap()).await.unwrap();
    let count = rounds * RUNS;
    known.examine(&store, &scripted, count * runs::SESSIONS + 1).await;
    assert_eq!(known.sessions.len() as u64, rounds * BOARDS);
    let boards: BTreeSet<String> = known.sessions.values().cloned().collect();
    let mut accounts = runs::Accounts::default();
    runs::examine_rooms(&store, count, &shown, &boards, &mut accounts).await;
    runs::examine_deliveries(count, &deliveries.all(), &mut accounts);
    tally.boards += boards.len();
    tally.runs += count;
    tally.sessions += nothing_was_told_too_early(&store).await;
    tally.requests += scripted.requests().len();
    tally.requests_cut += cut(&store).await;
    tally.deliveries += accounts.deliveries;
    tally.deliveries_made_again += accounts.deliveries_made_again;
    tally.looks_at_boards += looks.at_boards.load(SeqCst);
    tally.looks_while_blind += looks.while_blind.load(SeqCst);
    store.close().await;
    server.stop().await;
}

/// Until nothing goes on by itself any more, and what was stopped has been gone on with.
async fn rest_and_resume(http: &Client, nodes: &Nodes) {
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
                answer(http.post(resume).json(&json!({}))).await;
            }
        }
    };
    tokio::time::timeout(SAFETY * 2, rest).await.expect("every session goes on by itself");
}

#[derive(Default)]
struct Looks {
    at_boards: AtomicU64,
    while_blind: AtomicU64,
}

/// Somebody who is no agent looks at the boards of a round, now here, now there.
async fn look_on(http: &Client, nodes: &Nodes, round: u64, looks: &Looks) -> Infallible {
    for (number, nth) in (0..).zip(runs_of(round).cycle()) {
        // A node that was killed is not there until the round is over.
        let url = nodes.running[number % nodes.running.len()].as_ref().map(|node| &node.url);
        if let Some(url) = url {
            let board = http.get(format!("{url}/api/whiteboards/killed-{nth}"));
            let board = board.timeout(Duration::from_secs(3)).send().await;
            let text = match board {
                Ok(board) if board.status() == 200 => board.text().await.unwrap_or_default(),
                _ => String::new(),
            };
            let board: Value = serde_json::from_str(&text).unwrap_or_default();
            if let Some(phase) = board["data"]["phase"].as_str() {
                looks.at_boards.fetch_add(1, SeqCst);
                if phase == "blind" {
                    looks.while_blind.fetch_add(1, SeqCst);
                    assert!(!text.contains("Simple."), "{text}");
                }
            }
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    unreachable!("there is always another")
}

/// What is posted while a board is blind has no place in the order that everybody reads.
/// Returns how many sessions there are.
async fn nothing_was_told_too_early(store: &dyn Store) -> usize {
    let all = runs::sessions(store).await;
    for row in all.iter().filter(|row| row.kind == "whiteboard") {
        let events = store.events(row.id, 0, 1_000).await.unwrap();
        let blind = events.iter().take_while(|event| event.name != "transitioned");
        let posts: Vec<_> = blind.filter(|event| event.name == "posted").collect();
        assert_eq!(posts.len(), 3, "{}", row.id);
        assert!(posts.iter().all(|post| post.position.is_none()), "{posts:?}");
    }
    all.len()
}

/// Requests of which nobody knows how they ended.
async fn cut(store: &dyn Store) -> usize {
    let mut count = 0;
    for row in runs::sessions(store).await {
        let attempts = store.attempts(row.id).await.unwrap();
        count += attempts.iter().filter(|one| one.state == AttemptState::Begun).count();
    }
    count
}

/// Readers of all sessions see the same, in the same order, at every node. Returns how much.
async fn same_order_everywhere(http: &Client, one: &str, other: &str) -> usize {
    let mut orders = vec![];
    for url in [one, other] {
        let mut events = http.get(format!("{url}/api/events?after=0")).send().await.unwrap();
        let mut text = String::new();
        while let Ok(Ok(Some(chunk))) =
            tokio::time::timeout(Duration::from_secs(2), events.chunk()).await
        {
            text.push_str(&String::from_utf8_lossy(&chunk));
        }
        let lines = text.lines().filter(|line| !line.starts_with(':'));
        orders.push(lines.map(str::to_owned).collect::<Vec<String>>());
    }
    let ids = orders[0].iter().filter_map(|line| line.strip_prefix("id:"));
    let ids: Vec<u64> = ids.map(|id| id.trim().parse().unwrap()).collect();
    assert!(ids.is_sorted_by(|left, right| left < right), "{ids:?}");
    assert!(!ids.is_empty());
    assert_eq!(orders[0], orders[1]);
    ids.len()
}

/// A live reader, and what it was told so far.
struct Reader {
    events: reqwest::Response,
    carry: String,
    /// What each attempt at a call has said, without what models think.
    texts: BTreeMap<(String, u64), String>,
    names: Vec<String>,
}

impl Reader {
    async fn at(http: &Client, url: &str, id: &str) -> Reader {
        let events = http.get(format!("{url}/api/boardrooms/{id}/events")).send().await.unwrap();
        Reader { events, carry: String::new(), texts: BTreeMap::new(), names: vec![] }
    }

    /// Reads on, on the same connection, until it is so.
    async fn until(&mut self, is_so: impl Fn(&Reader) -> bool) {
        let reading = async {
            while !is_so(self) {
                let chunk = self.events.chunk().await.unwrap().expect("the stream goes on");
                self.carry.push_str(&String::from_utf8_lossy(&chunk));
                while let Some((frame, rest)) = self.carry.split_once("\n\n") {
                    let (frame, rest) = (frame.to_owned(), rest.to_owned());
                    self.carry = rest;
                    self.take(&frame);
                }
            }
        };
        tokio::time::timeout(SAFETY, reading).await.expect("a reader is told");
    }

    fn take(&mut self, frame: &str) {
        let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name));
        let Some(name) = field("event:").map(str::trim) else { return };
        let data: Value = serde_json::from_str(field("data:").unwrap_or("null")).unwrap();
        if name != "delta" {
            return self.names.push(name.to_owned());
        }
        if data["reasoning"] == true {
            return;
        }
        let call = data["callId"].as_str().unwrap().to_owned();
        let text = self.texts.entry((call, data["attempt"].as_u64().unwrap())).or_default();
        // Without a gap and without a double, whoever drives the session.
        assert_eq!(data["offset"].as_u64().unwrap() as usize, text.len(), "{data}");
        text.push_str(data["text"].as_str().unwrap());
    }

    fn hears(&self, attempt: u64) -> bool {
        self.texts.keys().any(|(call, number)| call.starts_with("advisor/") && *number == attempt)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_hears_what_is_said_elsewhere_and_stays_when_that_node_dies() {
    if !has_postgres() {
        return;
    }
    let script = Script::new(Reply::canned().tokens_per_second(20));
    let scripted = Scripted::start(script.models(&["a", "b", "c"])).await.unwrap();
    let server = Server::start().await;
    let mut nodes = Nodes::new(Home::new(&scripted.url()), vec![server.url.clone(); 3]);
    nodes.start_all().await;
    let http = http();
    let board = answer(convene(&http, &nodes.at(1), "words")).await.unwrap();
    let id = board["id"].as_str().unwrap();
    let mut reader = Reader::at(&http, &nodes.at(2), id).await;
    reader.until(|reader| reader.hears(1)).await;
    assert_eq!(reader.names, ["convened"], "the words come before the answers");
    nodes.running[1].take().unwrap().kill().await;
    reader.until(|reader| reader.hears(2)).await;
    reader.until(|reader| reader.names.iter().any(|name| name == "synthesized")).await;
    // Nobody who is no node may listen in.
    let words = format!("{}/node/words/{id}", nodes.at(0));
    assert_eq!(http.get(words).send().await.unwrap().status(), 401);
    for node in nodes.running.drain(..).flatten() {
        node.kill().await;
    }
    server.stop().await;
}
