//! What a driver needs: claims, attempts, drafts, and being fenced.

use std::time::Duration;

use plenary_domain::Usage;
use plenary_engine::ports::{
    Append, Appended, AttemptRow, AttemptState, Driver, NodeRow, Store, StoreError, Waiting,
};

use crate::Fixture;
use crate::samples::{adding, at, call, end, id, opening, owned, write, written};

async fn epoch(store: &dyn Store, number: u128) -> u64 {
    store.session(id(number)).await.unwrap().unwrap().epoch
}

pub async fn claims_what_is_free(fixture: impl Fixture) {
    let store = fixture.store();
    write(&*store, opening(id(1))).await;
    write(&*store, owned(id(2))).await;
    assert_eq!(epoch(&*store, 1).await, 0);
    assert_eq!(epoch(&*store, 2).await, 1);
    // Nobody has heard of the driver, so it is gone.
    let claimed = store.claim("me", &[id(1), id(2), id(9)]).await.unwrap();
    assert_eq!(claimed, [(id(1), 1), (id(2), 2)]);
    // Once more, because somebody may have missed the answer.
    assert_eq!(store.claim("me", &[id(2)]).await.unwrap(), [(id(2), 3)]);
    assert_eq!(epoch(&*store, 2).await, 3);
}

pub async fn leaves_to_the_living_what_they_drive(fixture: impl Fixture) {
    let store = fixture.store();
    let long = Duration::from_secs(3_600);
    store.renew("driver", None, long).await.unwrap();
    write(&*store, owned(id(1))).await;
    assert_eq!(store.claim("me", &[id(1)]).await.unwrap(), []);
    let adding = Append { driver: Some("me".into()), ..adding(id(1), 1) };
    let added = store.append(adding).await.unwrap();
    assert_eq!(added, written(2, 2, 1), "it is written, and stays with its driver");
    // A lease that is over, and a node that gives back what it has.
    store.renew("driver", None, Duration::ZERO).await.unwrap();
    assert_eq!(store.claim("me", &[id(1)]).await.unwrap(), [(id(1), 2)]);
    store.renew("me", None, long).await.unwrap();
    assert_eq!(store.claim("another", &[id(1)]).await.unwrap(), []);
    store.retire("me").await.unwrap();
    assert_eq!(store.claim("another", &[id(1)]).await.unwrap(), [(id(1), 3)]);
}

pub async fn lets_go_of_what_its_driver_cannot_go_on_with(fixture: impl Fixture) {
    let store = fixture.store();
    for node in ["driver", "me", "another"] {
        store.renew(node, None, Duration::from_secs(3_600)).await.unwrap();
    }
    write(&*store, owned(id(1))).await;
    store.release(id(1), 2).await.unwrap();
    store.release(id(9), 1).await.unwrap();
    assert_eq!(store.claim("me", &[id(1)]).await.unwrap(), [], "another epoch, another driver");
    store.release(id(1), 1).await.unwrap();
    assert_eq!(store.driver(id(1)).await.unwrap(), None);
    assert_eq!(store.claim("me", &[id(1)]).await.unwrap(), [(id(1), 2)]);
    store.release(id(1), 1).await.unwrap();
    assert_eq!(store.claim("another", &[id(1)]).await.unwrap(), [], "it is the former one's");
}

pub async fn says_who_drives(fixture: impl Fixture) {
    let store = fixture.store();
    let (long, driver) = (Duration::from_secs(3_600), |address: Option<&str>| {
        Some(Driver { node: "driver".into(), address: address.map(str::to_owned) })
    });
    write(&*store, owned(id(1))).await;
    write(&*store, opening(id(2))).await;
    assert_eq!(store.driver(id(1)).await.unwrap(), None, "nobody has heard of its driver");
    store.renew("driver", None, long).await.unwrap();
    assert_eq!(store.driver(id(1)).await.unwrap(), driver(None));
    store.renew("driver", Some("http://10.0.0.5:7171"), long).await.unwrap();
    assert_eq!(store.driver(id(1)).await.unwrap(), driver(Some("http://10.0.0.5:7171")));
    assert_eq!(store.driver(id(2)).await.unwrap(), None);
    assert_eq!(store.driver(id(9)).await.unwrap(), None);
    store.renew("driver", None, Duration::ZERO).await.unwrap();
    assert_eq!(store.driver(id(1)).await.unwrap(), None, "its lease is over");
}

pub async fn gives_a_free_session_to_whoever_adds_to_it(fixture: impl Fixture) {
    let store = fixture.store();
    let long = Duration::from_secs(3_600);
    for node in ["me", "another"] {
        store.renew(node, None, long).await.unwrap();
    }
    let by = |node: Option<&str>, epoch, expected| Append {
        driver: node.map(str::to_owned),
        epoch,
        ..adding(id(1), expected)
    };
    let driven = async |append: Append| match store.append(append).await.unwrap() {
        Appended::Written { epoch, .. } => epoch,
        other => panic!("not written: {other:?}"),
    };
    write(&*store, opening(id(1))).await;
    assert_eq!(driven(by(Some("me"), None, 1)).await, Some(1));
    assert_eq!(driven(by(Some("another"), None, 2)).await, None);
    assert_eq!(driven(by(None, None, 3)).await, None);
    assert_eq!(driven(by(Some("me"), Some(1), 4)).await, Some(1));
    // Its driver sets it free, under the epoch that it had.
    assert_eq!(driven(by(None, Some(1), 5)).await, None);
    assert_eq!(epoch(&*store, 1).await, 1);
    assert_eq!(driven(by(Some("another"), None, 6)).await, Some(2));
}

pub async fn says_what_waits(fixture: impl Fixture) {
    let store = fixture.store();
    let long = Duration::from_secs(3_600);
    for node in ["me", "driver"] {
        store.renew(node, None, long).await.unwrap();
    }
    let rests = |number| Append { active: false, ..opening(id(number)) };
    let sleeps = |number, ms| Append { wake_at: Some(at(ms)), ..opening(id(number)) };
    let mine = |number| Append { driver: Some("me".into()), ..opening(id(number)) };
    for append in [mine(1), owned(id(2)), rests(3), sleeps(4, 50), sleeps(5, 90), opening(id(6))] {
        write(&*store, append).await;
    }
    // Stopped before what had been said was handed in.
    let half_said = Append { driver: Some("gone".into()), ..rests(7) };
    write(&*store, half_said).await;
    store.begin_attempt(id(7), 1, &call("a"), None).await.unwrap();
    store.save_draft(id(7), 1, &call("a"), "partial").await.unwrap();

    let waiting = |now, limit| store.waiting("me", at(now), None, limit);
    let expected = |sessions: &[u128], wake: Option<i64>| Waiting {
        sessions: sessions.iter().map(|number| id(*number)).collect(),
        wake_at: wake.map(at),
    };
    assert_eq!(waiting(0, 10).await.unwrap(), expected(&[1, 6, 7], Some(50)));
    assert_eq!(waiting(50, 10).await.unwrap(), expected(&[1, 4, 6, 7], Some(90)));
    assert_eq!(waiting(99, 2).await.unwrap(), expected(&[1, 4], None));
    let next = store.waiting("me", at(99), Some(id(4)), 2).await.unwrap();
    assert_eq!(next, expected(&[5, 6], None));
    let last = store.waiting("me", at(99), Some(id(6)), 2).await.unwrap();
    assert_eq!(last, expected(&[7], None));
    let ended = end("a", 1, AttemptState::Stopped, 0);
    store.end_attempt(id(7), 1, ended).await.unwrap();
    store.retire("driver").await.unwrap();
    assert_eq!(waiting(0, 10).await.unwrap(), expected(&[1, 2, 6], Some(50)));
    let known = store.versions(&[id(9), id(6)]).await.unwrap();
    assert_eq!(known, [(id(6), 1)]);
}

pub async fn tells_of_nodes(fixture: impl Fixture) {
    let store = fixture.store();
    assert_eq!(store.nodes().await.unwrap(), []);
    let long = Duration::from_secs(3_600);
    store.drain("nobody").await.unwrap();
    store.renew("driver", None, long).await.unwrap();
    store.renew("me", None, Duration::ZERO).await.unwrap();
    for number in [1, 2] {
        write(&*store, owned(id(number))).await;
    }
    write(&*store, opening(id(3))).await;
    store.drain("driver").await.unwrap();
    // What it has said of itself stays when its lease is renewed.
    store.renew("driver", None, long).await.unwrap();
    let told = async || {
        let mut nodes = store.nodes().await.unwrap();
        nodes.sort_by(|one, other| one.name.cmp(&other.name));
        let short =
            |node: NodeRow| (node.name, node.lease_left_ms > 0, node.driving, node.draining);
        nodes.into_iter().map(short).collect::<Vec<_>>()
    };
    let both = [("driver".into(), true, 2, true), ("me".into(), false, 0, false)];
    assert_eq!(told().await, both);
    store.claim("me", &[id(3)]).await.unwrap();
    store.retire("driver").await.unwrap();
    assert_eq!(told().await, [("me".into(), false, 1, false)]);
    let left = store.nodes().await.unwrap();
    assert!(left[0].lease_left_ms <= 3_600_000);
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
        usage: Usage { input_tokens: tokens, output_tokens: None, ..Usage::default() },
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
    store.claim("another", &[id(1)]).await.unwrap();
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
    store.claim("another", &[id(1)]).await.unwrap();
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
