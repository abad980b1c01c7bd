//! Reading back, removing, and starting again.

use plenary_engine::ports::{Append, Appended, AttemptState, ListQuery, Store};

use crate::Fixture;
use crate::samples::{
    ToldOfOne, adding, call, end, event, everything, id, key, opening, owned, told, write, written,
};

pub async fn reads_in_pieces(fixture: impl Fixture) {
    let store = fixture.store();
    for version in 0..3 {
        for number in [1, 2] {
            write(&*store, adding(id(number), version)).await;
        }
    }
    let versions = async |after, limit| {
        let events = store.events(id(1), after, limit).await.unwrap();
        events.iter().map(|event| event.version).collect::<Vec<_>>()
    };
    assert_eq!(versions(0, 2).await, [1, 2]);
    assert_eq!(versions(2, 2).await, [3]);
    assert_eq!(versions(3, 2).await, [0; 0]);
    assert_eq!(versions(1, 0).await, [0; 0]);
    assert_eq!(versions(u64::MAX, 5).await, [0; 0]);

    let positions = async |after, limit| {
        let events = store.events_of_all(after, limit).await.unwrap();
        events.iter().map(|event| event.position.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(positions(0, 4).await, [1, 2, 3, 4]);
    assert_eq!(positions(4, 4).await, [5, 6]);
    assert_eq!(positions(6, 4).await, [0; 0]);
    assert_eq!(store.position().await.unwrap(), 6);
}

pub async fn knows_nothing_of_strangers(fixture: impl Fixture) {
    let store = fixture.store();
    let nothing = ToldOfOne { row: None, events: vec![], attempts: vec![], drafts: vec![] };
    assert_eq!(told(&*store, &[id(1)]).await.sessions, [nothing]);
    assert_eq!(store.position().await.unwrap(), 0);
    assert!(!store.remove(id(1)).await.unwrap());
    // It was not there to be removed, so it may still come.
    assert_eq!(write(&*store, opening(id(1))).await, 1);
}

/// A session with something in every table.
async fn fill(store: &dyn Store, number: u128) {
    let open = Append {
        idempotency: key("ada", &format!("open {number}"), "hash"),
        events: vec![event("opened", "alpha"), event("said", "beta")],
        ..owned(id(number))
    };
    write(store, open).await;
    for name in ["a", "b"] {
        let begun = store.begin_attempt(id(number), 1, &call(name), None).await;
        begun.unwrap();
        let saved = store.save_draft(id(number), 1, &call(name), "partial").await;
        saved.unwrap();
    }
    let more = Append {
        epoch: Some(1),
        attempts: vec![end("a", 1, AttemptState::Done, 3)],
        ..adding(id(number), 2)
    };
    write(store, more).await;
}

pub async fn removes_everything(fixture: impl Fixture) {
    let store = fixture.store();
    fill(&*store, 1).await;
    let alone = told(&*store, &[id(1)]).await;
    fill(&*store, 2).await;
    assert!(store.remove(id(2)).await.unwrap());
    assert!(!store.remove(id(2)).await.unwrap());

    assert_eq!(told(&*store, &[id(1)]).await, alone);
    let gone = told(&*store, &[id(2)]).await.sessions;
    assert_eq!(gone, told(&*store, &[id(3)]).await.sessions);
    assert_eq!(store.idempotent("ada", "open 2").await.unwrap(), None);
    let words = ListQuery { words: Some("alpha beta".into()), ..everything() };
    assert_eq!(store.list(words).await.unwrap().total, 1);

    // A reader that has seen the removed events must still see the next one.
    let next = store.append(adding(id(1), 3)).await.unwrap();
    assert_eq!(next, written(4, 7, 1));
}

pub async fn keeps_everything_over_a_restart(fixture: impl Fixture) {
    let store = fixture.store();
    for number in 1..=3 {
        fill(&*store, number).await;
    }
    store.remove(id(3)).await.unwrap();
    store.claim("me", &[id(2)]).await.unwrap();
    let ids = [id(1), id(2), id(3)];
    let before = told(&*store, &ids).await;

    let fixture = fixture.reopened().await;
    let store = fixture.store();
    assert_eq!(told(&*store, &ids).await, before);
    assert!(store.idempotent("ada", "open 1").await.unwrap().is_some());
    assert_eq!(store.append(opening(id(3))).await.unwrap(), Appended::Gone);
    let words = ListQuery { words: Some("alpha".into()), ..everything() };
    assert_eq!(store.list(words).await.unwrap().total, 2);
    assert_eq!(store.append(adding(id(1), 3)).await.unwrap(), written(4, 10, 1));
}

pub async fn keeps_one_secret<F: Fixture>(fixture: F) {
    let secret = fixture.store().secret().await.unwrap();
    fill(&*fixture.store(), 1).await;
    assert_eq!(fixture.store().secret().await.unwrap(), secret);
    let fixture = fixture.reopened().await;
    assert_eq!(fixture.store().secret().await.unwrap(), secret);
    // Another log has another one.
    assert_ne!(F::fresh().await.store().secret().await.unwrap(), secret);
}

pub async fn is_well(fixture: impl Fixture) {
    let store = fixture.store();
    fill(&*store, 1).await;
    let before = told(&*store, &[id(1)]).await;
    store.check().await.unwrap();
    assert_eq!(told(&*store, &[id(1)]).await, before);
}
