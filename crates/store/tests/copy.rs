//! A store taken over into another one, and back.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::time::Duration;

use plenary_domain::{CallId, SessionId, Timestamp};
use plenary_engine::ports::{
    Append, Appended, Idempotency, Label, ListQuery, NewEvent, Store, StoreError, StoredEvent,
};
use plenary_store::testkit::Database;
use plenary_store::{Copied, EventText, Holder, Place, SqliteStore, copy, postgres};
use uuid::Uuid;

fn id(number: u128) -> SessionId {
    SessionId(Uuid::from_u128(number))
}

fn holder() -> Holder {
    Holder { command: "test".into(), since: Timestamp::UNIX_EPOCH }
}

async fn folder(path: &Path) -> SqliteStore {
    plenary_store::open(path, holder()).await.unwrap()
}

fn event(search: &str, listed: bool) -> NewEvent {
    NewEvent { name: "said", payload: search.into(), search: search.into(), listed }
}

fn adding(session: SessionId, expected: u64, events: Vec<NewEvent>) -> Append {
    Append {
        session,
        expected,
        epoch: None,
        kind: "council",
        name: (expected == 0).then(|| format!("room-{session}")),
        project: Some("roof".into()),
        imported: true,
        title: "The café".into(),
        status: "open",
        active: true,
        waits_for: vec!["Ada".into()],
        actor: "ada".into(),
        at: Timestamp::from_millisecond(1_750_000_000_000 + expected as i64).unwrap(),
        events,
        attempts: vec![],
        idempotency: Some(Idempotency {
            principal: "ada".into(),
            key: format!("{session}-{expected}"),
            request_hash: "hash".into(),
            lasting: expected == 0,
        }),
        driver: Some("driver".into()),
        wake_at: Some(Timestamp::from_millisecond(1_760_000_000_000).unwrap()),
    }
}

async fn write(store: &dyn Store, append: Append) {
    let written = store.append(append).await.unwrap();
    assert!(matches!(written, Appended::Written { .. }), "{written:?}");
}

/// All that can be read of a store.
async fn told(store: &dyn Store) -> impl PartialEq + std::fmt::Debug + use<> {
    let page = store.list(ListQuery { limit: 100, ..ListQuery::default() }).await.unwrap();
    let mut sessions = vec![];
    for row in &page.rows {
        sessions.push((
            store.events(row.id, 0, 100).await.unwrap(),
            store.attempts(row.id).await.unwrap(),
            store.drafts(row.id).await.unwrap(),
            store.idempotent("ada", &format!("{}-0", row.id)).await.unwrap(),
        ));
    }
    let words = ListQuery { words: Some("cafe alph".into()), limit: 9, ..ListQuery::default() };
    let found = store.list(words).await.unwrap().total;
    let called = ListQuery { words: Some("alphabet".into()), limit: 9, ..ListQuery::default() };
    let found = (found, store.list(called).await.unwrap().total);
    let all: Vec<StoredEvent> = store.events_of_all(0, 100).await.unwrap();
    let secret = store.secret().await.unwrap();
    (page.rows, sessions, found, all, secret)
}

async fn run(from: &Place, to: &Place) -> Result<Copied, StoreError> {
    let mut words = |event: &EventText<'_>| Ok(event.payload.to_owned());
    copy(from, to, holder(), &mut words).await
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_goes_over_and_comes_back() {
    let Some(database) = Database::fresh() else { return };
    let first = tempfile::tempdir().unwrap();
    let store = folder(first.path()).await;
    let texts = || vec![event("alpha", true), event("blind", false), event("beta", true)];
    for number in 1..=3 {
        write(&store, adding(id(number), 0, texts())).await;
    }
    let call = CallId("advisor/1#1".into());
    store.begin_attempt(id(1), 1, &call, None).await.unwrap();
    store.save_draft(id(1), 1, &call, "half").await.unwrap();
    store.remove(id(3)).await.unwrap();
    let label = Label { title: Some(Some("Our alphabet".into())), pinned: Some(true) };
    store.label(id(2), label).await.unwrap();
    let before = told(&store).await;

    let here = Place::Folder(first.path().to_owned());
    let there = Place::Database(Box::new(postgres::Address::of(&database.url()).unwrap()));
    // While it is in use.
    let copied = run(&here, &there).await.unwrap();
    assert_eq!(copied, Copied { sessions: 2, events: 6, written: 2, in_use: true });
    write(&store, adding(id(2), 3, vec![event("gamma", true)])).await;
    let after = told(&store).await;
    store.close().await.unwrap();
    let copied = run(&here, &there).await.unwrap();
    assert_eq!(copied, Copied { sessions: 2, events: 7, written: 1, in_use: false });

    let address = postgres::Address::of(&database.url()).unwrap();
    let nodes = postgres::open(&address).await.unwrap();
    assert_eq!(told(&nodes).await, after);
    // What was removed stays removed, with its name, and positions go on.
    let gone = nodes.append(adding(id(3), 0, texts())).await.unwrap();
    assert_eq!(gone, Appended::Gone);
    let named = Append { name: Some(format!("room-{}", id(3))), ..adding(id(9), 0, texts()) };
    assert_eq!(nodes.append(named).await.unwrap(), Appended::Taken);

    let second = tempfile::tempdir().unwrap();
    let back = Place::Folder(second.path().to_owned());
    let copied = run(&there, &back).await.unwrap();
    assert_eq!(copied, Copied { sessions: 2, events: 7, written: 2, in_use: false });
    let store = folder(second.path()).await;
    assert_eq!(told(&store).await, after);
    assert_ne!(before, after);
    store.close().await.unwrap();

    // Nothing newer is overwritten, nothing foreign is mixed in, nothing in use is touched.
    write(&nodes, adding(id(1), 3, vec![event("newer", true)])).await;
    let refused = run(&here, &there).await.unwrap_err().to_string();
    assert!(refused.contains("has changed since it was copied"), "{refused}");
    nodes.renew("node", None, Duration::from_secs(60)).await.unwrap();
    let refused = run(&here, &there).await.unwrap_err().to_string();
    assert!(refused.contains("nodes are using the target"), "{refused}");
    let foreign = tempfile::tempdir().unwrap();
    let store = folder(foreign.path()).await;
    write(&store, adding(id(7), 0, texts())).await;
    store.close().await.unwrap();
    let refused = run(&here, &Place::Folder(foreign.path().to_owned())).await.unwrap_err();
    assert!(refused.to_string().contains("not from the source"), "{refused}");
}
