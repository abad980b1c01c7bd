//! A hundred discussions, and a server that is killed again and again: each goes on
//! at exactly the turn that was due, and what a reader saw is what is stored.
//!
//! `PLENARY_CRASH_DISCUSSIONS` and `PLENARY_CRASH_ROUNDS` set how many and how often.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use plenary_domain::{SessionId, Timestamp};
use plenary_engine::ports::{AttemptState, Store as _, StoredEvent};
use plenary_scripted::{Recorded, Reply, Script, Scripted, When};
use plenary_store::{Holder, SqliteStore};
use serde_json::{Value, json};
use support::kills::{Dice, answer, die_some_day, until_all_rest};
use support::{Home, SAFETY};
use tokio::sync::watch;

const DISCUSSIONS: u64 = 100;
const KILLS: u64 = 16;
/// Discussions with a reader who follows them over every kill.
const READERS: usize = 4;

/// Who speaks in which turn. The facilitator chooses Cy after the first turn and
/// cannot be understood otherwise, so that the next in turn speaks.
const SPEAKERS: [&str; 4] = ["ann", "cy", "ann", "bo"];

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |value| value.parse().unwrap())
}

fn script() -> Script {
    let chosen = r#"{"decision":"continue","nextParticipantId":"cy","question":"And Cy?","reasoning":"Cy has not spoken."}"#;
    let fast = |text: &str| Reply::text(text).tokens_per_second(2_000);
    Script::new(fast("So they spoke, and so it is."))
        .models(&["chair", "ann", "bo", "cy"])
        .when(When::says("Write the conclusion of this discussion"), fast("It is settled."))
        .when(When::model("chair").and_says("3 rounds remain"), fast(chosen))
        .when(When::model("chair"), fast("Let me think about that for a while."))
        .when(When::model("ann"), fast("Ann says that it depends on the weather."))
        .when(When::model("bo"), fast("Bo says no."))
        .when(When::model("cy"), fast("Cy says yes, and gives three reasons for it."))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_discussion_goes_on_at_the_turn_that_was_due() {
    plenary_providers::install_tls();
    let count = setting("PLENARY_CRASH_DISCUSSIONS", DISCUSSIONS);
    let kills = setting("PLENARY_CRASH_ROUNDS", KILLS);
    let scripted = Scripted::start(script()).await.unwrap();
    let home = Home::new(&scripted.url());
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut ids: BTreeMap<u64, String> = BTreeMap::new();
    let mut dice = Dice::new();
    let mut interjected = BTreeSet::new();
    let (address, _) = watch::channel(String::new());
    let mut readers = vec![];
    for round in 0..kills {
        let serving = home.serve().await;
        address.send_replace(serving.url.clone());
        let upto = count * (round + 1) / kills;
        let missing: Vec<u64> = (0..upto).filter(|nth| !ids.contains_key(nth)).collect();
        let creating = futures::future::join_all(missing.into_iter().map(|nth| {
            let created = create(&http, &serving.url, nth);
            async move { (nth, created.await) }
        }));
        let meddling = meddle(&http, &serving.url, &ids, round, &mut dice);
        let seen = scripted.requests().len();
        let mut fate = Dice::new();
        let dying = die_some_day(&serving, &http, &scripted, seen, &mut fate);
        let (created, said, ()) = tokio::join!(creating, meddling, dying);
        serving.kill().await;
        interjected.extend(said);
        for (nth, created) in created {
            if let Some(id) = created.and_then(|view| view["id"].as_str().map(str::to_owned)) {
                ids.insert(nth, id);
            }
        }
        for id in ids.values().skip(readers.len()).take(READERS - readers.len().min(READERS)) {
            readers.push(tokio::spawn(follow(http.clone(), address.subscribe(), id.clone())));
        }
    }

    let serving = home.serve().await;
    address.send_replace(serving.url.clone());
    for nth in 0..count {
        let view = create(&http, &serving.url, nth).await.expect("a server that lives answers");
        let id = view["id"].as_str().unwrap().to_owned();
        assert_eq!(*ids.entry(nth).or_insert_with(|| id.clone()), id, "one key, one discussion");
    }
    go_on(&http, &serving.url).await;
    let mut shown = BTreeMap::new();
    for id in ids.values() {
        shown.insert(id.clone(), transcript(&http, &serving.url, id).await);
    }
    let mut seen = BTreeMap::new();
    for reader in readers {
        let (id, events) = tokio::time::timeout(SAFETY, reader).await.unwrap().unwrap();
        seen.insert(id, events);
    }
    serving.kill().await;

    let again = home.serve().await;
    for (id, before) in &shown {
        assert_eq!(transcript(&http, &again.url, id).await, *before, "{id} after a restart");
    }
    again.kill().await;
    assert_eq!(ids.len() as u64, count);
    examine(&home, &scripted.requests(), &shown, &seen, &interjected).await;
}

async fn create(http: &reqwest::Client, url: &str, nth: u64) -> Option<Value> {
    let seat =
        |name: &str| json!({ "name": name, "model": format!("ollama/{}", name.to_lowercase()) });
    let body = json!({
        "topic": format!("Shall we, {nth}?"),
        "facilitator": seat("Chair"),
        "participants": [seat("Ann"), seat("Bo"), seat("Cy")],
        "maxRounds": 4,
        "start": true,
    });
    let request = http.post(format!("{url}/api/discussions"));
    answer(request.header("idempotency-key", format!("discussion-{nth}")).json(&body)).await
}

/// Some discussions are paused, stopped, resumed or spoken into while others go on.
/// Gives back the interjections that were acknowledged.
async fn meddle(
    http: &reqwest::Client,
    url: &str,
    ids: &BTreeMap<u64, String>,
    round: u64,
    dice: &mut Dice,
) -> Vec<(String, String)> {
    let mut said = vec![];
    for place in 0..12 {
        let Some(id) = ids.values().nth(dice.roll(ids.len().max(1))) else { break };
        let command = ["pause", "stop", "resume", "resume", "interject"][dice.roll(5)];
        let text = format!("A word in round {round}, place {place}.");
        let body = if command == "interject" { json!({ "text": text }) } else { json!({}) };
        let path = format!("{url}/api/discussions/{id}/{command}");
        // The same request again, when its answer was lost, must not count twice.
        let key = format!("{round}-{place}");
        let request = http.post(path).header("idempotency-key", key).json(&body);
        if answer(request).await.is_some() && command == "interject" {
            said.push((id.clone(), text));
        }
    }
    said
}

/// Resumes whatever somebody has brought to rest, until all are concluded.
async fn go_on(http: &reqwest::Client, url: &str) {
    loop {
        until_all_rest(http, url).await;
        let mut resting = vec![];
        for status in ["paused", "stopped", "failed"] {
            let page = http.get(format!("{url}/api/discussions?status={status}&limit=200"));
            let page: Value = page.send().await.unwrap().json().await.unwrap();
            resting.extend(page["data"].as_array().unwrap().iter().cloned());
        }
        if resting.is_empty() {
            return;
        }
        for session in resting {
            let id = session["id"].as_str().unwrap();
            let request = http.post(format!("{url}/api/discussions/{id}/resume"));
            answer(request.json(&json!({}))).await.expect("a discussion at rest can be resumed");
        }
    }
}

async fn transcript(http: &reqwest::Client, url: &str, id: &str) -> Value {
    let page = http.get(format!("{url}/api/discussions/{id}/transcript"));
    let page: Value = page.send().await.unwrap().json().await.unwrap();
    assert_eq!(page["data"]["more"], false, "{id}");
    page["data"]["entries"].clone()
}

/// Reads a discussion's events to its end, and comes back after each kill with the
/// last one that it knows.
async fn follow(
    http: reqwest::Client,
    mut address: watch::Receiver<String>,
    id: String,
) -> (String, Vec<(u64, Value)>) {
    let mut events: Vec<(u64, Value)> = vec![];
    loop {
        let url = address.borrow_and_update().clone();
        let last = events.last().map_or(0, |(version, _)| *version);
        let request = http.get(format!("{url}/api/discussions/{id}/events"));
        if let Ok(mut response) = request.header("last-event-id", last).send().await {
            let mut text = String::new();
            while let Ok(Some(chunk)) = response.chunk().await {
                text.push_str(&String::from_utf8_lossy(&chunk));
                while let Some(end) = text.find("\n\n") {
                    let frame: String = text.drain(..end + 2).collect();
                    events.extend(read(&frame));
                }
                if events.last().is_some_and(|(_, event)| event["type"] == "concluded") {
                    return (id, events);
                }
            }
        }
        // The server has died. The next one has another address.
        if address.changed().await.is_err() {
            return (id, events);
        }
    }
}

/// A frame with an id is an event of the log.
fn read(frame: &str) -> Option<(u64, Value)> {
    let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name));
    let version = field("id:")?.trim().parse().unwrap();
    let data: Value = serde_json::from_str(field("data:").unwrap()).unwrap();
    Some((version, data["event"].clone()))
}

async fn examine(
    home: &Home,
    requests: &[Recorded],
    shown: &BTreeMap<String, Value>,
    seen: &BTreeMap<String, Vec<(u64, Value)>>,
    interjected: &BTreeSet<(String, String)>,
) {
    let holder = Holder { command: "test".into(), since: Timestamp::UNIX_EPOCH };
    let store = plenary_store::open(&home.path().join("data"), holder).await.unwrap();
    let mut attempts = BTreeMap::new();
    for (id, transcript) in shown {
        let session: SessionId = id.parse().unwrap();
        let row = store.session(session).await.unwrap().expect("it was acknowledged");
        assert_eq!((row.status.as_str(), row.active), ("concluded", false), "{id}");
        let events = store.events(session, 0, 1_000).await.unwrap();
        let versions: Vec<u64> = events.iter().map(|event| event.version).collect();
        assert_eq!(versions, (1..=row.version).collect::<Vec<u64>>(), "{id}");
        examine_record(id, &events, transcript);
        if let Some(seen) = seen.get(id) {
            let stored: Vec<(u64, Value)> =
                events.iter().map(|e| (e.version, payload(e))).collect();
            assert_eq!(*seen, stored, "{id}: a reader saw something else");
        }
        examine_interjections(id, transcript, interjected);
        collect_attempts(&store, session, &mut attempts).await;
        assert_eq!(store.drafts(session).await.unwrap(), [], "{id}");
    }
    examine_requests(requests, &attempts);
    store.close().await.unwrap();
}

fn payload(event: &StoredEvent) -> Value {
    serde_json::from_str(&event.payload).unwrap()
}

/// Four turns, each once and by the one whose turn it was; one conclusion.
fn examine_record(id: &str, events: &[StoredEvent], transcript: &Value) {
    let of = |name: &str| -> Vec<Value> {
        events.iter().filter(|event| event.name == name).map(payload).collect()
    };
    let turn = |event: &Value| {
        (event["turn"].as_u64().unwrap(), event["speaker"].as_str().unwrap().to_owned())
    };
    let due: Vec<(u64, String)> =
        (1..).zip(SPEAKERS).map(|(turn, speaker)| (turn, speaker.to_owned())).collect();
    assert_eq!(of("spoke").iter().map(turn).collect::<Vec<_>>(), due, "{id}");
    assert_eq!(of("concluded").len(), 1, "{id}");
    assert_eq!(of("turnFailed").len() + of("synthesisFailed").len(), 0, "{id}");
    // A turn that was begun again is the same turn, with the same question.
    let mut asked: BTreeMap<u64, Value> = BTreeMap::new();
    for began in of("began").iter().filter(|began| began["what"]["step"] == "turn") {
        let what = &began["what"];
        let first = asked.entry(what["turn"].as_u64().unwrap()).or_insert_with(|| what.clone());
        assert_eq!(first, what, "{id}: a turn was given to somebody else");
    }
    let shown: Vec<(u64, String)> = transcript
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["kind"] == "turn" && entry["status"] == "done")
        .map(|entry| {
            let speaker = entry["participantId"].as_str().unwrap();
            (entry["round"].as_u64().unwrap(), speaker.to_owned())
        })
        .collect();
    assert_eq!(shown, due, "{id}");
}

fn examine_interjections(id: &str, transcript: &Value, acknowledged: &BTreeSet<(String, String)>) {
    let entries = transcript.as_array().unwrap().iter();
    let texts: Vec<&str> = entries
        .filter(|entry| entry["kind"] == "interjection")
        .map(|entry| entry["content"].as_str().unwrap())
        .collect();
    let once: BTreeSet<&str> = texts.iter().copied().collect();
    assert_eq!(once.len(), texts.len(), "{id}: an interjection came twice");
    for (_, text) in acknowledged.iter().filter(|(session, _)| session == id) {
        assert!(once.contains(text.as_str()), "{id}: {text:?} was acknowledged and is lost");
    }
}

async fn collect_attempts(
    store: &SqliteStore,
    session: SessionId,
    attempts: &mut BTreeMap<String, AttemptState>,
) {
    for attempt in store.attempts(session).await.unwrap() {
        attempts.insert(format!("{session}/{}/{}", attempt.call, attempt.number), attempt.state);
    }
}

/// Every request was recorded before it was sent, and went to the model of the one
/// whose turn it was.
fn examine_requests(requests: &[Recorded], attempts: &BTreeMap<String, AttemptState>) {
    let mut seen = BTreeSet::new();
    for request in requests {
        let id = request.request_id.clone().unwrap();
        assert!(attempts.contains_key(&id), "{id} was sent and is not recorded");
        let (_, call) = id.split_once('/').unwrap();
        let model = match call.split_once(['/', '#']).unwrap() {
            ("turn", rest) => {
                let turn: usize = rest.split('#').next().unwrap().parse().unwrap();
                SPEAKERS[turn - 1]
            }
            _ => "chair",
        };
        assert_eq!(request.model, model, "{id} was asked of another speaker");
        assert!(seen.insert(id.clone()), "{id} was sent twice");
    }
    let cut = attempts.values().filter(|state| **state == AttemptState::Begun).count();
    assert!(cut > 0, "no kill hit a call that was under way");
    for (id, state) in attempts {
        // What was cut by a kill or a stop may never have left the machine.
        let cut = matches!(state, AttemptState::Begun | AttemptState::Stopped);
        assert!(cut || seen.contains(id), "{id} is {state:?} and was never sent");
    }
}
