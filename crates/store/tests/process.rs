//! Two processes and one data folder: who gets it, and what a killed one leaves.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod other;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use other::{Other, folder_of_child, say, this_test};
use plenary_domain::{SessionId, Timestamp};
use plenary_engine::ports::{Append, Appended, NewEvent, Store, StoreError};
use plenary_store::{SqliteStore, holder, open};
use uuid::Uuid;

const WRITERS: u128 = 6;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_writes_survive_a_kill() {
    if let Some(folder) = folder_of_child() {
        return write_until_killed(&folder).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = BTreeMap::new();
    for acks in [1, 5, 30, 90, 250, 700] {
        let mut child = Other::start("acknowledged_writes_survive_a_kill", folder.path());
        for _ in 0..acks {
            note(&mut acknowledged, &child.line().expect("another write"));
        }
        child.kill();
        // What it said between our last look and its death counts as well.
        while let Some(line) = child.line() {
            note(&mut acknowledged, &line);
        }
        check_log(folder.path(), &acknowledged).await;
    }
}

fn note(acknowledged: &mut BTreeMap<SessionId, u64>, line: &str) {
    let (session, version) = line.split_once(' ').unwrap();
    acknowledged.insert(session.parse().unwrap(), version.parse().unwrap());
}

async fn write_until_killed(folder: &Path) {
    let store = Arc::new(open(folder, this_test()).await.unwrap());
    let writers: Vec<_> = (1..=WRITERS)
        .map(|number| tokio::spawn(write(store.clone(), SessionId(Uuid::from_u128(number)))))
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
}

async fn write(store: Arc<SqliteStore>, session: SessionId) {
    let row = store.session(session).await.unwrap();
    let mut version = row.map_or(0, |row| row.version);
    loop {
        let events = 1 + version % 3;
        let append = append(session, version, events);
        let answer = store.append(append).await.unwrap();
        version += events;
        assert!(matches!(answer, Appended::Written { version: new, .. } if new == version));
        say(&format!("{session} {version}"));
    }
}

/// Each event says which one it is.
fn append(session: SessionId, expected: u64, events: u64) -> Append {
    Append {
        session,
        expected,
        epoch: None,
        kind: "boardroom",
        name: None,
        project: None,
        title: "crash".into(),
        status: "open",
        active: true,
        waits_for: vec![],
        imported: false,
        actor: "child".into(),
        at: Timestamp::UNIX_EPOCH,
        events: (expected + 1..=expected + events)
            .map(|version| NewEvent {
                name: "said",
                payload: format!("{session} {version}"),
                search: format!("word{version}"),
                listed: true,
            })
            .collect(),
        attempts: vec![],
        idempotency: None,
        driver: None,
        wake_at: None,
    }
}

async fn check_log(folder: &Path, acknowledged: &BTreeMap<SessionId, u64>) {
    let store = open(folder, this_test()).await.unwrap();
    // A kill is not taken for damage. One that hits the middle of a write may show.
    let lost = store.told().filter(|told| told.contains("had been completed"));
    assert_eq!(lost, None);
    for (session, version) in acknowledged {
        let row = store.session(*session).await.unwrap().unwrap();
        assert!(row.version >= *version, "{row:?} lost {version}");
        let events = store.events(*session, 0, u32::MAX).await.unwrap();
        let payloads: Vec<&str> = events.iter().map(|event| &*event.payload).collect();
        let whole: Vec<String> =
            (1..=row.version).map(|version| format!("{session} {version}")).collect();
        assert_eq!(payloads, whole);
    }
    let all = store.events_of_all(0, u32::MAX).await.unwrap();
    let positions: Vec<Option<u64>> = all.iter().map(|event| event.position).collect();
    assert_eq!(positions, (1..=all.len() as u64).map(Some).collect::<Vec<_>>());
    store.close().await.unwrap();
}

#[tokio::test]
async fn one_process_at_a_time_has_the_folder() {
    if let Some(folder) = folder_of_child() {
        return hold(&folder).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut child = Other::start("one_process_at_a_time_has_the_folder", folder.path());
    let pid = child.process.id();
    assert_eq!(child.line().unwrap(), "held");
    let sentence = refused(folder.path()).await;
    assert!(sentence.contains(&format!("process {pid} (plenary test)")), "{sentence}");
    let info = holder(folder.path()).unwrap();
    assert_eq!((info.pid, info.command.as_str()), (pid, "plenary test"));
    assert_eq!((info.url, info.token), (None, None));

    child.go_on();
    assert_eq!(child.line().unwrap(), "announced");
    let sentence = refused(folder.path()).await;
    assert!(sentence.contains("which serves at http://127.0.0.1:1"), "{sentence}");
    assert!(!sentence.contains("secret"), "{sentence}");
    let info = holder(folder.path()).unwrap();
    assert_eq!(info.url.as_deref(), Some("http://127.0.0.1:1"));
    assert_eq!(info.token.as_deref(), Some("secret"));
    assert!(!format!("{info:?}").contains("secret"));

    child.kill();
    // Its words are still in the file, and nobody stands behind them.
    assert_eq!(holder(folder.path()), None);
    let store = open(folder.path(), this_test()).await.unwrap();
    let pid = holder(folder.path()).map(|info| info.pid);
    assert_eq!(pid, Some(std::process::id()));
    store.close().await.unwrap();
    assert_eq!(holder(folder.path()), None);
}

async fn refused(folder: &Path) -> String {
    match open(folder, this_test()).await {
        Err(StoreError::InUse(sentence)) => sentence,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("two processes have the folder"),
    }
}

async fn hold(folder: &Path) {
    let store = open(folder, this_test()).await.unwrap();
    say("held");
    let mut byte = [0];
    std::io::stdin().read_exact(&mut byte).unwrap();
    store.announce("http://127.0.0.1:1", "secret").unwrap();
    say("announced");
    // Until it is killed.
    std::io::stdin().read_exact(&mut byte).ok();
}
