//! Runs that do everything a run can do to others, and what there must be of each once they
//! have come to their end.

use std::collections::{BTreeMap, BTreeSet};

use plenary_domain::SessionId;
use plenary_engine::ports::{AttemptState, ListQuery, SessionRow, Store};
use plenary_scripted::{Recorded, Reply, Script, When};
use serde_json::{Value, json};

use super::deliveries::Delivery;
use super::kills::answer;

const SOURCE: &str = include_str!("../killed.yaml");
const AGENTS: [&str; 3] = ["ann", "bo", "cy"];
const ROUNDS: [u64; 3] = [1, 2, 3];
/// Sessions that a run opens, and itself.
pub const SESSIONS: u64 = 5;

/// What there was, over all runs.
#[derive(Default, Debug)]
#[allow(dead_code, reason = "it is written out")]
pub struct Accounts {
    pub runs: u64,
    pub kills: u64,
    pub rooms: BTreeMap<String, usize>,
    pub effects: BTreeMap<String, usize>,
    pub requests: usize,
    pub requests_cut_by_kills: usize,
    pub deliveries: usize,
    pub deliveries_made_again: usize,
}

/// What models say to the questions of a run.
pub fn answers(script: Script) -> Script {
    let json = |value: Value| Reply::text(&value.to_string()).tokens_per_second(2_000).usage(9, 3);
    let vote = |post: &str, vote: &str| json!({ "post": post, "vote": vote });
    let votes = [vote("ann/1", "accept"), vote("bo/1", "reject"), vote("cy/1", "reject")];
    script
        .when(When::says("Propose one answer"), json(json!({ "title": "This", "body": "Simple." })))
        .when(When::says("Vote on every post"), json(json!({ "votes": votes })))
}

/// A council to which all runs tell what they came to.
pub fn guild(http: &reqwest::Client, url: &str) -> reqwest::RequestBuilder {
    let body = json!({ "name": "guild", "charter": "What all runs came to." });
    http.post(format!("{url}/api/councils")).header("idempotency-key", "guild").json(&body)
}

pub fn begin(http: &reqwest::Client, url: &str, hook: &str, nth: u64) -> reqwest::RequestBuilder {
    let body = json!({ "source": SOURCE, "inputs": { "number": nth, "hook": hook } });
    let key = format!("run-{nth}");
    http.post(format!("{url}/api/runs")).header("idempotency-key", key).json(&body)
}

pub async fn look(http: &reqwest::Client, url: &str, id: &str) -> Value {
    let run = http.get(format!("{url}/api/runs/{id}"));
    answer(run).await.expect("a server that lives answers")
}

pub async fn sessions(store: &dyn Store) -> Vec<SessionRow> {
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

async fn log(store: &dyn Store, id: SessionId) -> Vec<(String, Value)> {
    let events = store.events(id, 0, 100_000).await.unwrap();
    let read = |payload: &str| serde_json::from_str(payload).unwrap();
    events.iter().map(|event| (event.name.clone(), read(&event.payload))).collect()
}

/// `others` are sessions that no run has opened.
pub async fn examine_rooms(
    store: &dyn Store,
    count: u64,
    shown: &BTreeMap<String, Value>,
    others: &BTreeSet<String>,
    accounts: &mut Accounts,
) {
    let mut guild = BTreeSet::new();
    let all = sessions(store).await.into_iter();
    for row in all.filter(|row| !others.contains(&row.id.to_string())) {
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
            "discussion" => assert_eq!(found, ["concluded", "spoke 1", "spoke 2"], "{}", row.id),
            other => panic!("a {other} was opened"),
        }
    }
    let told = (0..count).flat_map(|nth| {
        ROUNDS.map(|round| format!("posted secretary-{nth} {nth} was accepted, round {round}"))
    });
    assert_eq!(guild, told.collect::<BTreeSet<_>>());
    let rooms = [
        ("boardroom", count),
        ("council", count + 1),
        ("discussion", count),
        ("whiteboard", count),
        ("workflow", count),
    ];
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
            "closed" | "concluded" | "advisorAnswered" | "synthesized" => name.clone(),
            "spoke" => format!("spoke {}", event["turn"]),
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
pub async fn examine_requests(store: &dyn Store, requests: &[Recorded], accounts: &mut Accounts) {
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
pub fn examine_deliveries(count: u64, came: &[Delivery], accounts: &mut Accounts) {
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
