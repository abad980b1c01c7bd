//! What clients were told of boards, against what the log holds and what models were asked.

use std::collections::{BTreeMap, BTreeSet};

use plenary_domain::SessionId;
use plenary_engine::ports::{AttemptState, Store};
use plenary_scripted::Scripted;
use serde_json::Value;

/// What a client knows that the server has taken on.
#[derive(Default)]
pub struct Acknowledged {
    /// Sessions by the key that they were convened under.
    pub sessions: BTreeMap<String, String>,
    /// The greatest version that was answered, by session.
    pub versions: BTreeMap<String, u64>,
}

impl Acknowledged {
    pub fn note(&mut self, key: Option<&str>, board: &Value) {
        let id = board["id"].as_str().unwrap().to_owned();
        let version = self.versions.entry(id.clone()).or_default();
        *version = (*version).max(board["version"].as_u64().unwrap());
        if let Some(key) = key {
            let first = self.sessions.entry(key.to_owned()).or_insert_with(|| id.clone());
            assert_eq!(*first, id, "one key, one session");
        }
    }

    /// Compares what callers were told, what the log holds, and what models were asked.
    /// There are so many other sessions that no caller has convened.
    pub async fn examine(&self, store: &dyn Store, scripted: &Scripted, others: u64) {
        let known = self;
        let mut recorded: BTreeMap<String, AttemptState> = BTreeMap::new();
        let sessions: BTreeSet<&String> = known.sessions.values().collect();
        assert_eq!(sessions.len(), known.sessions.len(), "no key opened two sessions");
        let all = super::runs::sessions(store).await;
        assert_eq!(all.len(), sessions.len() + others as usize);
        for row in &all {
            for attempt in store.attempts(row.id).await.unwrap() {
                let name = format!("{}/{}/{}", row.id, attempt.call, attempt.number);
                recorded.insert(name, attempt.state);
            }
        }
        for (id, version) in &known.versions {
            let session: SessionId = id.parse().unwrap();
            let row =
                store.session(session).await.unwrap().expect("an acknowledged session is there");
            assert_eq!((row.status.as_str(), row.active), ("closed", false), "{id}");
            let events = store.events(session, 0, 1_000).await.unwrap();
            let versions: Vec<u64> = events.iter().map(|event| event.version).collect();
            assert_eq!(versions, (1..=row.version).collect::<Vec<u64>>(), "{id}");
            assert!(row.version >= *version, "{id}: version {version} was acknowledged");
            let mut answered: Vec<u64> = events
                .iter()
                .filter(|event| event.name == "advisorAnswered")
                .map(|event| serde_json::from_str::<Value>(&event.payload).unwrap())
                .map(|event| event["seat"].as_u64().unwrap())
                .collect();
            answered.sort_unstable();
            let count = |name: &str| events.iter().filter(|event| event.name == name).count();
            let once = answered.is_sorted_by(|left, right| left < right);
            assert!(once, "{id}: an advisor has answered twice: {answered:?}");
            // A board that was stopped may have been synthesized from what was there.
            let whole = answered == [1, 2, 3] || count("stopped") > 0;
            assert!(whole, "{id}: only {answered:?} have answered");
            assert!(count("synthesized") >= 1, "{id}");
            assert!(count("synthesisBegan") <= count("synthesized") + count("stopped"), "{id}");
            assert_eq!(store.drafts(session).await.unwrap(), [], "{id}");
        }
        let requests = scripted.requests();
        let seen: Vec<String> =
            requests.into_iter().map(|request| request.request_id.unwrap()).collect();
        let once: BTreeSet<&String> = seen.iter().collect();
        assert_eq!(once.len(), seen.len(), "no request was made twice");
        for id in &seen {
            assert!(recorded.contains_key(id), "{id} was sent and is not recorded");
        }
        for (id, state) in &recorded {
            // What was cut by a kill or a stop may never have left the machine.
            let cut = matches!(state, AttemptState::Begun | AttemptState::Stopped);
            assert!(cut || once.contains(id), "{id} is {state:?} and was never sent");
        }
    }
}
