//! Runs of a workflow, and a server that is killed again and again: each goes on by itself
//! to its end, and whatever it does to others it does once.
//!
//! `PLENARY_CRASH_RUNS` and `PLENARY_CRASH_ROUNDS` set how many and how often;
//! `PLENARY_CRASH_ACCOUNTS` names a file for what there was.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use plenary_domain::{SessionId, Timestamp};
use plenary_engine::ports::{AttemptState, ListQuery, SessionRow, Store as _};
use plenary_scripted::{Recorded, Reply, Script, Scripted, When};
use plenary_store::{Holder, SqliteStore};
use serde_json::{Value, json};
use support::deliveries::{Deliveries, Delivery};
use support::kills::{Dice, answer, die_some_day, kill, until_all_rest};
use support::{Home, SAFETY, Serving};

const RUNS: u64 = 32;
const KILLS: u64 = 16;
const SOURCE: &str = include_str!("killed.yaml");
const AGENTS: [&str; 3] = ["ann", "bo", "cy"];
const ROUNDS: [u64; 3] = [1, 2, 3];

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |value| value.parse().unwrap())
}

fn script() -> Script {
    let json = |value: Value| Reply::text(&value.to_string()).tokens_per_second(2_000).usage(9, 3);
    let vote = |post: &str, vote: &str| json!({ "post": post, "vote": vote });
    let votes = [vote("ann/1", "accept"), vote("bo/1", "reject"), vote("cy/1", "reject")];
    Script::new(Reply::text("So it is.").tokens_per_second(2_000).usage(9, 3))
        .when(When::says("Propose one answer"), json(json!({ "title": "This", "body": "Simple." })))
        .when(When::says("Vote on every post"), json(json!({ "votes": votes })))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_effect_of_a_run_happens_once() {
    plenary_providers::install_tls();
    let count = setting("PLENARY_CRASH_RUNS", RUNS);
    let kills = setting("PLENARY_CRASH_ROUNDS", KILLS);
    let scripted = Scripted::start(script()).await.unwrap();
    let deliveries = Deliveries::start().await;
    let home = Home::new(&scripted.url());
    home.configure(&format!("[workflows]\nprivate_hosts = [\"{}\"]\n", deliveries.address));
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let hook = deliveries.url();
    let mut ids: BTreeMap<u64, String> = BTreeMap::new();
    for round in 0..kills {
        let serving = home.serve().await;
        let upto = count * (round + 1) / kills;
        let missing: Vec<u64> = (0..upto).filter(|nth| !ids.contains_key(nth)).collect();
        let creating = async {
            guild(&http, &serving.url).await;
            let begun = missing.into_iter().map(|nth| {
                let begun = begin(&http, &serving.url, &hook, nth);
                async move { (nth, begun.await) }
            });
            futures::future::join_all(begun).await
        };
        let dying = die(&serving, &http, &scripted, &deliveries);
        let (begun, ()) = tokio::join!(creating, dying);
        serving.kill().await;
        for (nth, begun) in begun {
            if let Some(id) = begun.and_then(|view| view["id"].as_str().map(str::to_owned)) {
                ids.insert(nth, id);
            }
        }
    }

    let serving = home.serve().await;
    guild(&http, &serving.url).await.expect("a server that lives answers");
    for nth in 0..count {
        let view = begin(&http, &serving.url, &hook, nth).await.expect("it lives");
        let id = view["id"].as_str().unwrap().to_owned();
        assert_eq!(*ids.entry(nth).or_insert_with(|| id.clone()), id, "one key, one run");
    }
    until_all_rest(&http, &serving.url).await;
    let mut shown = BTreeMap::new();
    for (nth, id) in &ids {
        let run = look(&http, &serving.url, id).await;
        assert_eq!(run["status"], "done", "{nth}: {run:#}");
        assert_eq!(run["outputs"], json!({ "outcome": "accepted" }), "{nth}: {run:#}");
        shown.insert(id.clone(), run);
    }
    serving.kill().await;

    let again = home.serve().await;
    for (id, before) in &shown {
        assert_eq!(look(&http, &again.url, id).await, *before, "{id} after a restart");
    }
    again.kill().await;
    let store = open(&home).await;
    let mut accounts = Accounts { runs: count, kills, ..Accounts::default() };
    examine_rooms(&store, count, &shown, &mut accounts).await;
    examine_requests(&store, &scripted.requests(), &mut accounts).await;
    examine_deliveries(count, &deliveries.all(), &mut accounts);
    store.close().await.unwrap();
    if let Ok(path) = std::env::var("PLENARY_CRASH_ACCOUNTS") {
        std::fs::write(path, format!("{accounts:#?}\n")).unwrap();
    }
}

/// What there was, over all runs.
#[derive(Default, Debug)]
#[allow(dead_code, reason = "it is written out")]
struct Accounts {
    runs: u64,
    kills: u64,
    rooms: BTreeMap<String, usize>,
    effects: BTreeMap<String, usize>,
    requests: usize,
    requests_cut_by_kills: usize,
    deliveries: usize,
    deliveries_made_again: usize,
}

async fn guild(http: &reqwest::Client, url: &str) -> Option<Value> {
    let body = json!({ "name": "guild", "charter": "What all runs came to." });
    let request = http.post(format!("{url}/api/councils"));
    answer(request.header("idempotency-key", "guild").json(&body)).await
}

async fn begin(http: &reqwest::Client, url: &str, hook: &str, nth: u64) -> Option<Value> {
    let body = json!({ "source": SOURCE, "inputs": { "number": nth, "hook": hook } });
    let request = http.post(format!("{url}/api/runs"));
    answer(request.header("idempotency-key", format!("run-{nth}")).json(&body)).await
}

async fn look(http: &reqwest::Client, url: &str, id: &str) -> Value {
    let run = http.get(format!("{url}/api/runs/{id}"));
    answer(run).await.expect("a server that lives answers")
}

/// At a moment that the dice choose: when something was delivered, or as others die.
async fn die(
    serving: &Serving,
    http: &reqwest::Client,
    scripted: &Scripted,
    deliveries: &Deliveries,
) {
    let mut dice = Dice::new();
    if dice.roll(3) > 0 {
        let seen = scripted.requests().len();
        return die_some_day(serving, http, scripted, seen, &mut dice).await;
    }
    let wanted = deliveries.all().len() + 1 + dice.roll(5);
    tokio::time::timeout(SAFETY, deliveries.wait_for(wanted)).await.expect("runs go on");
    kill(serving, &mut dice).await;
}

async fn open(home: &Home) -> SqliteStore {
    let holder = Holder { command: "test".into(), since: Timestamp::UNIX_EPOCH };
    plenary_store::open(&home.path().join("data"), holder).await.unwrap()
}

async fn sessions(store: &SqliteStore) -> Vec<SessionRow> {
    let (mut rows, mut before) = (vec![], None);
    loop {
        let page = ListQuery { limit: 100, before, ..ListQuery::default() };
        let page = store.list(page).await.unwrap();
        rows.extend(page.rows);
        before = page.next;
        if before.is_none() {
            return rows;
        }
    }
}

async fn log(store: &SqliteStore, id: SessionId) -> Vec<(String, Value)> {
    let events = store.events(id, 0, 100_000).await.unwrap();
    let read = |payload: &str| serde_json::from_str(payload).unwrap();
    events.iter().map(|event| (event.name.clone(), read(&event.payload))).collect()
}

async fn examine_rooms(
    store: &SqliteStore,
    count: u64,
    shown: &BTreeMap<String, Value>,
    accounts: &mut Accounts,
) {
    let mut guild = BTreeSet::new();
    for row in sessions(store).await {
        assert!(!row.active, "{} {} goes on", row.kind, row.id);
        assert_eq!(store.drafts(row.id).await.unwrap(), [], "{}", row.id);
        *accounts.rooms.entry(row.kind.clone()).or_default() += 1;
        let log = log(store, row.id).await;
        let mut found = effects(&log);
        let once: BTreeSet<&String> = found.iter().collect();
        assert_eq!(once.len(), found.len(), "{} {}: twice: {found:?}", row.kind, row.id);
        for effect in &found {
            let kind = effect.split(' ').next().unwrap();
            *accounts.effects.entry(format!("{} {kind}", row.kind)).or_default() += 1;
        }
        found.sort();
        let name = row.name.as_deref().unwrap_or_default();
        match row.kind.as_str() {
            "workflow" => {
                assert!(shown.contains_key(&row.id.to_string()), "{} is one too many", row.id)
            }
            "whiteboard" => assert_eq!(found, on_a_board(), "{name}"),
            "council" if name == "guild" => guild.extend(found),
            "council" => assert_eq!(found, in_a_council(), "{name}"),
            "boardroom" => assert_eq!(found, ["advisorAnswered", "synthesized"], "{}", row.id),
            other => panic!("a {other} was opened"),
        }
    }
    let told = (0..count).flat_map(|nth| {
        ROUNDS.map(|round| format!("posted secretary-{nth} {nth} was accepted, round {round}"))
    });
    assert_eq!(guild, told.collect::<BTreeSet<_>>());
    let rooms =
        [("boardroom", count), ("council", count + 1), ("whiteboard", count), ("workflow", count)];
    let rooms: BTreeMap<String, usize> =
        rooms.into_iter().map(|(kind, count)| (kind.to_owned(), count as usize)).collect();
    assert_eq!(accounts.rooms, rooms);
}

/// Everything of a log that must be there once.
fn effects(log: &[(String, Value)]) -> Vec<String> {
    let effect = |(name, event): &(String, Value)| {
        let text = |field: &str| event[field].as_str().unwrap_or_default().to_owned();
        Some(match name.as_str() {
            "registered" => format!("registered {}", text("agent")),
            "posted" if event.get("author").is_some() => format!("posted {}", text("author")),
            "posted" => format!("posted {} {}", text("sender"), text("body")),
            "voted" => format!("voted {} on {}", text("by"), text("post")),
            "transitioned" => format!("transitioned {}", text("to")),
            "closed" | "advisorAnswered" | "synthesized" => name.clone(),
            "stepDone" => format!("stepDone {}", text("place")),
            "stepFailed" | "attemptFailed" => panic!("{event}"),
            _ => return None,
        })
    };
    log.iter().filter_map(effect).collect()
}

fn on_a_board() -> Vec<String> {
    let mut all = vec![];
    for agent in AGENTS {
        all.extend([format!("registered {agent}"), format!("posted {agent}")]);
        let others = AGENTS.iter().filter(|other| **other != agent);
        all.extend(others.map(|other| format!("voted {agent} on {other}/1")));
    }
    all.extend(["read", "debate", "resolve", "archived"].map(|to| format!("transitioned {to}")));
    all.sort();
    all
}

fn in_a_council() -> Vec<String> {
    let said = AGENTS.map(|agent| format!("posted secretary {agent}/1"));
    let mut all: Vec<String> = said.into_iter().chain(["closed".to_owned()]).collect();
    all.sort();
    all
}

/// Every request was recorded before it was sent, and was sent once.
async fn examine_requests(store: &SqliteStore, requests: &[Recorded], accounts: &mut Accounts) {
    let mut attempts = BTreeMap::new();
    for row in sessions(store).await {
        for attempt in store.attempts(row.id).await.unwrap() {
            let id = format!("{}/{}/{}", row.id, attempt.call, attempt.number);
            attempts.insert(id, attempt.state);
        }
    }
    let mut seen = BTreeSet::new();
    for request in requests {
        let id = request.request_id.clone().unwrap();
        assert!(attempts.contains_key(&id), "{id} was sent and is not recorded");
        assert!(seen.insert(id.clone()), "{id} was sent twice");
    }
    let cut = attempts.values().filter(|state| **state == AttemptState::Begun).count();
    assert!(cut > 0, "no kill hit a call that was under way");
    for (id, state) in &attempts {
        assert!(*state == AttemptState::Begun || seen.contains(id), "{id} is {state:?}, not sent");
    }
    (accounts.requests, accounts.requests_cut_by_kills) = (requests.len(), cut);
}

/// What a kill has cut off is delivered again, under the same key and with the same words.
fn examine_deliveries(count: u64, came: &[Delivery], accounts: &mut Accounts) {
    let mut by_key: BTreeMap<&str, &Value> = BTreeMap::new();
    for Delivery { key, body } in came {
        let first = by_key.entry(key).or_insert(body);
        assert_eq!(*first, body, "{key} came with other words");
    }
    let mut what: Vec<String> = by_key.values().map(ToString::to_string).collect();
    let mut expected: Vec<String> = vec![];
    for nth in 0..count {
        let posts = AGENTS.map(|agent| format!("{agent}/1"));
        let rounds = ROUNDS.map(|round| format!("round {round}"));
        let all = posts.into_iter().chain(rounds);
        expected.extend(all.map(|what| json!({ "run": nth, "what": what }).to_string()));
    }
    what.sort();
    expected.sort();
    assert_eq!(what, expected);
    accounts.deliveries = by_key.len();
    accounts.deliveries_made_again = came.len() - by_key.len();
}
