//! What a driver needs: claims, attempts, drafts, and being fenced.

use plenary_domain::Usage;
use plenary_engine::ports::{Append, AttemptRow, AttemptState, Store, StoreError};

use crate::Fixture;
use crate::samples::{adding, call, end, id, opening, owned, write};

async fn epoch(store: &dyn Store, number: u128) -> u64 {
    store.session(id(number)).await.unwrap().unwrap().epoch
}

pub async fn claims_one_or_all_active(fixture: impl Fixture) {
    let store = fixture.store();
    let idle = |number| Append { active: false, ..opening(id(number)) };
    write(&*store, opening(id(1))).await;
    write(&*store, owned(id(2))).await;
    write(&*store, idle(3)).await;
    assert_eq!(epoch(&*store, 1).await, 0);
    assert_eq!(epoch(&*store, 2).await, 1);

    let all = store.claim("me", None).await.unwrap();
    assert_eq!(all, [(id(1), 1), (id(2), 2)]);
    let one = store.claim("me", Some(id(2))).await.unwrap();
    assert_eq!(one, [(id(2), 3)]);
    let idle = store.claim("me", Some(id(3))).await.unwrap();
    assert_eq!(idle, [(id(3), 1)]);
    let nobody = store.claim("me", Some(id(9))).await.unwrap();
    assert_eq!(nobody, []);
    assert_eq!(epoch(&*store, 2).await, 3);

    // A session that has come to rest is not taken with the rest.
    let rest = Append { active: false, ..adding(id(1), 1) };
    write(&*store, rest).await;
    assert_eq!(store.claim("me", None).await.unwrap(), [(id(2), 4)]);
}

fn row(
    name: &str,
    number: u32,
    epoch: u64,
    state: AttemptState,
    tokens: Option<u64>,
) -> AttemptRow {
    AttemptRow {
        call: call(name),
        number,
        epoch,
        state,
        usage: Usage { input_tokens: tokens, output_tokens: None },
    }
}

pub async fn numbers_attempts(fixture: impl Fixture) {
    let store = fixture.store();
    write(&*store, owned(id(1))).await;
    write(&*store, owned(id(2))).await;
    let (a, b) = (call("advisor/1#1"), call("synthesis/1"));
    let failed = end("advisor/1#1", 1, AttemptState::Failed, 5);
    assert_eq!(store.begin_attempt(id(1), 1, &a, None).await.unwrap(), 1);
    assert_eq!(store.begin_attempt(id(1), 1, &b, None).await.unwrap(), 1);
    assert_eq!(store.begin_attempt(id(2), 1, &a, None).await.unwrap(), 1);
    let second = store.begin_attempt(id(1), 1, &a, Some(failed)).await;
    assert_eq!(second.unwrap(), 2);

    let fixture = fixture.reopened().await;
    let store = fixture.store();
    store.claim("another", Some(id(1))).await.unwrap();
    assert_eq!(store.begin_attempt(id(1), 2, &a, None).await.unwrap(), 3);
    assert_eq!(
        store.attempts(id(1)).await.unwrap(),
        [
            row("advisor/1#1", 1, 1, AttemptState::Failed, Some(5)),
            row("advisor/1#1", 2, 1, AttemptState::Begun, None),
            row("advisor/1#1", 3, 2, AttemptState::Begun, None),
            row("synthesis/1", 1, 1, AttemptState::Begun, None),
        ]
    );
}

pub async fn ends_attempts(fixture: impl Fixture) {
    let store = fixture.store();
    write(&*store, owned(id(1))).await;
    for name in ["a", "b", "c"] {
        let begun = store.begin_attempt(id(1), 1, &call(name), None).await;
        assert_eq!(begun.unwrap(), 1);
    }
    let append = Append {
        epoch: Some(1),
        attempts: vec![
            end("a", 1, AttemptState::Done, 10),
            end("b", 1, AttemptState::Stopped, 20),
            end("never begun", 1, AttemptState::Done, 30),
        ],
        ..adding(id(1), 1)
    };
    write(&*store, append).await;
    assert_eq!(
        store.attempts(id(1)).await.unwrap(),
        [
            row("a", 1, 1, AttemptState::Done, Some(10)),
            row("b", 1, 1, AttemptState::Stopped, Some(20)),
            row("c", 1, 1, AttemptState::Begun, None),
        ]
    );
}

pub async fn keeps_drafts_until_the_attempt_ends(fixture: impl Fixture) {
    let store = fixture.store();
    write(&*store, owned(id(1))).await;
    let (a, b) = (call("a"), call("b"));
    store.begin_attempt(id(1), 1, &a, None).await.unwrap();
    store.begin_attempt(id(1), 1, &b, None).await.unwrap();
    store.save_draft(id(1), 1, &b, "other").await.unwrap();
    store.save_draft(id(1), 1, &a, "par").await.unwrap();
    store.save_draft(id(1), 1, &a, "partial").await.unwrap();
    let both = [(a.clone(), "partial".into()), (b.clone(), "other".into())];
    assert_eq!(store.drafts(id(1)).await.unwrap(), both);

    // Another attempt at the same call is no append: the text stays.
    let ended = end("a", 1, AttemptState::Failed, 1);
    store.begin_attempt(id(1), 1, &a, Some(ended)).await.unwrap();
    assert_eq!(store.drafts(id(1)).await.unwrap(), both);

    let append = Append {
        epoch: Some(1),
        attempts: vec![end("a", 2, AttemptState::Done, 1)],
        ..adding(id(1), 1)
    };
    write(&*store, append).await;
    assert_eq!(store.drafts(id(1)).await.unwrap(), [(b, "other".into())]);
}

pub async fn fences_a_former_driver(fixture: impl Fixture) {
    let store = fixture.store();
    write(&*store, owned(id(1))).await;
    write(&*store, owned(id(2))).await;
    let a = call("a");
    store.begin_attempt(id(1), 1, &a, None).await.unwrap();
    store.save_draft(id(1), 1, &a, "kept").await.unwrap();
    store.claim("another", Some(id(1))).await.unwrap();
    store.remove(id(2)).await.unwrap();

    // Taken over, removed, and never there.
    for number in [1, 2, 3] {
        let ended = end("a", 1, AttemptState::Failed, 1);
        let begun = store.begin_attempt(id(number), 1, &a, Some(ended)).await;
        assert!(matches!(begun, Err(StoreError::Fenced)), "{begun:?}");
        let saved = store.save_draft(id(number), 1, &a, "late").await;
        assert!(matches!(saved, Err(StoreError::Fenced)), "{saved:?}");
    }
    let begun = row("a", 1, 1, AttemptState::Begun, None);
    assert_eq!(store.attempts(id(1)).await.unwrap(), [begun]);
    assert_eq!(store.drafts(id(1)).await.unwrap(), [(a, "kept".into())]);
    assert_eq!(store.drafts(id(2)).await.unwrap(), []);
}
