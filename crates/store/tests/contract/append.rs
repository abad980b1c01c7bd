//! Opening sessions and adding to them.

use futures::future::join_all;
use plenary_domain::{SessionId, Timestamp};
use plenary_engine::ports::{
    Append, Appended, IdempotentAnswer, NewEvent, SessionRow, Store, StoreError, StoredEvent,
};

use crate::Fixture;
use crate::samples::{
    adding, at, event, everything, id, key, opening, owned, told, unlisted, write, written,
};

pub async fn opens_and_adds(fixture: impl Fixture) {
    let store = fixture.store();
    let opened = store.append(Append { imported: true, ..owned(id(1)) }).await.unwrap();
    let added = store
        .append(Append {
            epoch: Some(1),
            title: "another title".into(),
            status: "closed",
            active: false,
            waits_for: vec!["Ada".into(), "O'\"Neil\", Bo".into()],
            actor: "bob".into(),
            events: vec![event("said", "one"), event("closed", "two")],
            at: at(7),
            ..adding(id(1), 1)
        })
        .await
        .unwrap();

    let driven = Appended::Written { version: 1, positions: vec![Some(1)], epoch: Some(1) };
    assert_eq!((opened, added), (driven, written(3, 2, 2)));
    assert_eq!(
        store.session(id(1)).await.unwrap(),
        Some(SessionRow {
            id: id(1),
            imported: true,
            pinned: false,
            kind: "boardroom".into(),
            name: None,
            project: None,
            title: "another title".into(),
            renamed: false,
            status: "closed".into(),
            active: false,
            waits_for: vec!["Ada".into(), "O'\"Neil\", Bo".into()],
            version: 3,
            epoch: 1,
            created_at: at(0),
            updated_at: at(7),
        })
    );
    let stored = |version, name: &str, actor: &str, text: &str, ms| StoredEvent {
        session: id(1),
        kind: "boardroom".into(),
        version,
        position: Some(version),
        name: name.into(),
        actor: actor.into(),
        payload: format!("{{\"text\":\"{text}\"}}"),
        at: at(ms),
    };
    assert_eq!(
        store.events(id(1), 0, 10).await.unwrap(),
        [
            stored(1, "opened", "ada", "", 0),
            stored(2, "said", "bob", "one", 7),
            stored(3, "closed", "bob", "two", 7),
        ]
    );
}

/// The store's answer, after making sure that nothing was written.
async fn refused(store: &dyn Store, append: Append) -> Appended {
    let ids = [id(1), id(2)];
    let before = told(store, &ids).await;
    let answer = store.append(append).await.unwrap();
    assert_eq!(told(store, &ids).await, before, "{answer:?}");
    answer
}

pub async fn refuses_a_wrong_version(fixture: impl Fixture) {
    let store = fixture.store();
    write(&*store, opening(id(1))).await;
    write(&*store, adding(id(1), 1)).await;
    for append in [opening(id(1)), adding(id(1), 1), adding(id(1), 3)] {
        let answer = refused(&*store, append).await;
        assert_eq!(answer, Appended::Conflict { version: 2 });
    }
}

pub async fn refuses_a_former_driver(fixture: impl Fixture) {
    let store = fixture.store();
    write(&*store, owned(id(1))).await;
    store.claim("another", &[id(1)]).await.unwrap();
    // Being fenced weighs more than being late.
    for expected in [1, 5] {
        let append = Append { epoch: Some(1), ..adding(id(1), expected) };
        assert_eq!(refused(&*store, append).await, Appended::Fenced);
    }
    let held = Append { epoch: Some(2), ..adding(id(1), 1) };
    assert_eq!(write(&*store, held).await, 2);
    // A person's command is not bound to a driver.
    assert_eq!(write(&*store, adding(id(1), 2)).await, 3);
}

pub async fn refuses_a_session_that_is_gone(fixture: impl Fixture) {
    let store = fixture.store();
    assert_eq!(refused(&*store, adding(id(1), 1)).await, Appended::Gone);
    write(&*store, opening(id(1))).await;
    assert!(store.remove(id(1)).await.unwrap());
    assert_eq!(refused(&*store, adding(id(1), 1)).await, Appended::Gone);
    // The id is never used again.
    assert_eq!(refused(&*store, opening(id(1))).await, Appended::Gone);
}

pub async fn gives_a_name_once(fixture: impl Fixture) {
    let store = fixture.store();
    let first = Append { project: Some("roof".into()), ..named(id(1), "plan") };
    write(&*store, first.clone()).await;
    assert_eq!(refused(&*store, named(id(2), "plan")).await, Appended::Taken);
    // Which session it is weighs more than what it is called.
    let conflict = Appended::Conflict { version: 1 };
    assert_eq!(refused(&*store, first).await, conflict);

    // Names tell case, and those of other kinds are free.
    write(&*store, named(id(2), "Plan")).await;
    write(&*store, Append { kind: "council", ..named(id(3), "plan") }).await;
    // None is no name.
    write(&*store, opening(id(4))).await;
    write(&*store, opening(id(5))).await;
    check_named(&*store, "boardroom", "plan", Some(1)).await;
    check_named(&*store, "boardroom", "Plan", Some(2)).await;
    check_named(&*store, "council", "plan", Some(3)).await;
    check_named(&*store, "council", "Plan", None).await;

    // What is added later gives no name and takes none away.
    let later = Append { project: Some("cellar".into()), ..named(id(1), "Plan") };
    write(&*store, Append { expected: 1, ..later }).await;
    write(&*store, Append { name: Some("late".into()), ..adding(id(4), 1) }).await;
    check_named(&*store, "boardroom", "late", None).await;
    let row = store.session(id(1)).await.unwrap().unwrap();
    assert_eq!((row.name, row.project), (Some("plan".into()), Some("roof".into())));
    let row = store.session(id(4)).await.unwrap().unwrap();
    assert_eq!((row.name, row.project), (None, None));
}

pub async fn keeps_the_name_of_a_removed_session(fixture: impl Fixture) {
    let store = fixture.store();
    write(&*store, named(id(1), "plan")).await;
    store.remove(id(1)).await.unwrap();
    check_named(&*store, "boardroom", "plan", None).await;
    assert_eq!(refused(&*store, named(id(2), "plan")).await, Appended::Taken);
    assert_eq!(refused(&*store, named(id(1), "plan")).await, Appended::Gone);

    let fixture = fixture.reopened().await;
    let store = fixture.store();
    assert_eq!(refused(&*store, named(id(2), "plan")).await, Appended::Taken);
    let other = Append { kind: "council", ..named(id(2), "plan") };
    write(&*store, other).await;
    check_named(&*store, "council", "plan", Some(2)).await;
}

pub async fn gives_a_name_to_one_of_many(fixture: impl Fixture) {
    let store = fixture.store();
    let answers = join_all((1..=50).map(|number| {
        let store = store.clone();
        tokio::spawn(async move {
            let answer = store.append(named(id(number), "plan")).await.unwrap();
            (id(number), answer)
        })
    }))
    .await;
    let answers: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
    let taken = answers.iter().filter(|(_, answer)| *answer == Appended::Taken);
    assert_eq!(taken.count(), 49, "{answers:?}");
    let written = answers.iter().find(|(_, answer)| *answer != Appended::Taken).unwrap();
    assert_eq!(store.named("boardroom", "plan").await.unwrap(), Some(written.0));
    assert_eq!(store.list(everything()).await.unwrap().total, 1);
}

fn named(session: SessionId, name: &str) -> Append {
    Append { name: Some(name.into()), ..opening(session) }
}

async fn check_named(store: &dyn Store, kind: &str, name: &str, expected: Option<u128>) {
    let found = store.named(kind, name).await.unwrap();
    assert_eq!(found, expected.map(id), "{kind} {name}");
}

/// To whoever made these versions of the first session.
fn answer(first: u64, version: u64) -> IdempotentAnswer {
    IdempotentAnswer { request_hash: "hash".into(), session: id(1), first, version }
}

pub async fn answers_a_repeated_request(fixture: impl Fixture) {
    let store = fixture.store();
    let first = Append {
        idempotency: key("ada", "k", "hash"),
        events: vec![event("opened", ""), event("asked", "")],
        ..opening(id(1))
    };
    write(&*store, first.clone()).await;
    let answer = answer(1, 2);
    let other_body = Append { idempotency: key("ada", "k", "other hash"), ..opening(id(2)) };
    for again in [first, other_body] {
        let repeated = refused(&*store, again).await;
        assert_eq!(repeated, Appended::Repeated(answer.clone()));
    }
    assert_eq!(store.idempotent("ada", "k").await.unwrap(), Some(answer));
    assert_eq!(store.idempotent("ada", "K").await.unwrap(), None);
    assert_eq!(store.idempotent("bob", "k").await.unwrap(), None);

    // A key belongs to one principal, and a refused request does not use it up.
    let late = Append { idempotency: key("bob", "k", "hash"), ..adding(id(1), 9) };
    let conflict = Appended::Conflict { version: 2 };
    assert_eq!(refused(&*store, late.clone()).await, conflict);
    let in_time = Append { expected: 2, ..late };
    assert_eq!(write(&*store, in_time).await, 3);
}

pub async fn carries_a_repeated_request_out_once(fixture: impl Fixture) {
    let store = fixture.store();
    let answers = join_all((1..=50).map(|number| {
        let store = store.clone();
        tokio::spawn(async move {
            let append = Append { idempotency: key("ada", "k", "hash"), ..opening(id(number)) };
            (id(number), store.append(append).await.unwrap())
        })
    }))
    .await;

    let mut written = Vec::new();
    let mut repeated = Vec::new();
    for answer in answers {
        match answer.unwrap() {
            (id, Appended::Written { version: 1, .. }) => written.push(id),
            (_, Appended::Repeated(answer)) => repeated.push(answer.session),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(written.len(), 1);
    assert_eq!(repeated, vec![written[0]; 49]);
    assert_eq!(store.list(everything()).await.unwrap().total, 1);
}

pub async fn lets_one_of_many_win(fixture: impl Fixture) {
    let store = fixture.store();
    write(&*store, opening(id(1))).await;
    let writers = join_all((0..8).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut won = Vec::new();
            let mut version = 1;
            while won.len() < 10 {
                match store.append(adding(id(1), version)).await.unwrap() {
                    Appended::Written { version: new, .. } => {
                        version = new;
                        won.push(new);
                    }
                    Appended::Conflict { version: new } => version = new,
                    other => panic!("{other:?}"),
                }
            }
            won
        })
    }))
    .await;

    let mut won: Vec<u64> = writers.into_iter().flat_map(Result::unwrap).collect();
    won.sort_unstable();
    let all: Vec<u64> = (2..=81).collect();
    assert_eq!(won, all);
    let events = store.events(id(1), 1, 1_000).await.unwrap();
    let versions: Vec<u64> = events.iter().map(|event| event.version).collect();
    assert_eq!(versions, all);
}

pub async fn takes_a_thousand_at_once(fixture: impl Fixture) {
    let store = fixture.store();
    let answers = join_all((1..=1_000).map(|number| {
        let store = store.clone();
        tokio::spawn(async move {
            let append = Append {
                events: vec![event("opened", ""), event("asked", "")],
                ..opening(id(number))
            };
            (id(number), store.append(append).await.unwrap())
        })
    }))
    .await;

    let events = store.events_of_all(0, 10_000).await.unwrap();
    let positions: Vec<Option<u64>> = events.iter().map(|event| event.position).collect();
    assert_eq!(positions, (1..=2_000).map(Some).collect::<Vec<_>>());
    assert_eq!(store.position().await.unwrap(), 2_000);
    for answer in answers {
        let (id, answer) = answer.unwrap();
        let of_this: Vec<(u64, u64)> = events
            .iter()
            .filter(|event| event.session == id)
            .map(|event| (event.version, event.position.unwrap()))
            .collect();
        // In order, with those of others in between where several write.
        let [(1, first), (2, second)] = of_this[..] else { panic!("{of_this:?}") };
        assert!(first < second, "{of_this:?}");
        let positions = vec![Some(first), Some(second)];
        assert_eq!(answer, Appended::Written { version: 2, positions, epoch: None });
    }
}

pub async fn keeps_many_events_in_order(fixture: impl Fixture) {
    let store = fixture.store();
    let texts: Vec<String> = (0..500).map(|number| format!("text{number}")).collect();
    let append =
        Append { events: texts.iter().map(|text| event("said", text)).collect(), ..opening(id(1)) };
    assert_eq!(store.append(append).await.unwrap(), written(500, 1, 500));
    let events = store.events(id(1), 0, 1_000).await.unwrap();
    let read: Vec<(u64, Option<u64>, String)> =
        events.into_iter().map(|event| (event.version, event.position, event.payload)).collect();
    let expected: Vec<(u64, Option<u64>, String)> = (1..)
        .zip(&texts)
        .map(|(n, text)| (n, Some(n), format!("{{\"text\":\"{text}\"}}")))
        .collect();
    assert_eq!(read, expected);
}

pub async fn hides_what_is_not_listed(fixture: impl Fixture) {
    let store = fixture.store();
    // The first ones ever, when no position has been given yet.
    let blind = Append { events: vec![unlisted("opened", "")], ..opening(id(1)) };
    let positions = vec![None];
    assert_eq!(
        store.append(blind).await.unwrap(),
        Appended::Written { version: 1, positions, epoch: None }
    );
    assert_eq!(seen_by_all(&*store).await, (vec![], 0, vec![at(0)]));

    let both = Append {
        at: at(5),
        events: vec![unlisted("posted", ""), event("asked", ""), unlisted("posted", "")],
        ..adding(id(1), 1)
    };
    let positions = vec![None, Some(1), None];
    assert_eq!(
        store.append(both).await.unwrap(),
        Appended::Written { version: 4, positions, epoch: None }
    );
    assert_eq!(store.append(opening(id(2))).await.unwrap(), written(1, 2, 1));
    let before = seen_by_all(&*store).await;
    assert_eq!(before, (vec![1, 2], 2, vec![at(0), at(5)]));

    // More than one statement inserts, and then a removal.
    let many = Append { events: vec![unlisted("posted", ""); 100], ..opening(id(3)) };
    write(&*store, many).await;
    store.remove(id(3)).await.unwrap();
    let more = Append { at: at(9), events: vec![unlisted("posted", "")], ..adding(id(1), 4) };
    write(&*store, more).await;
    assert_eq!(seen_by_all(&*store).await, before);

    let fixture = fixture.reopened().await;
    let store = fixture.store();
    let events = vec![unlisted("posted", ""), event("shown", "")];
    let last = Append { events, ..adding(id(1), 5) };
    let positions = vec![None, Some(3)];
    assert_eq!(
        store.append(last).await.unwrap(),
        Appended::Written { version: 7, positions, epoch: None }
    );
    let own = store.events(id(1), 0, 100).await.unwrap();
    let places: Vec<_> = own.into_iter().map(|event| (event.version, event.position)).collect();
    let listed = [None, None, Some(1), None, None, None, Some(3)];
    assert_eq!(places, (1..).zip(listed).collect::<Vec<_>>());
}

/// Positions, the newest one, and the times of change in the list.
async fn seen_by_all(store: &dyn Store) -> (Vec<u64>, u64, Vec<Timestamp>) {
    let all = store.events_of_all(0, 1_000).await.unwrap();
    let positions = all.iter().map(|event| event.position.unwrap()).collect();
    let list = store.list(everything()).await.unwrap();
    let times = list.rows.iter().map(|row| row.updated_at).collect();
    (positions, store.position().await.unwrap(), times)
}

pub async fn keeps_any_text(fixture: impl Fixture) {
    let store = fixture.store();
    let odd = "quote ' \" \\ % _ ; -- \u{0} null \u{1F3DB}\u{FE0F} \u{202E} e\u{301} \r\n end";
    let long = "word ".repeat(400_000);
    let append = Append {
        title: odd.into(),
        actor: odd.into(),
        events: vec![
            NewEvent { name: "odd", payload: odd.into(), search: odd.into(), listed: true },
            NewEvent { name: "long", payload: long.clone(), search: long.clone(), listed: true },
        ],
        ..opening(id(1))
    };
    write(&*store, append).await;
    let row = store.session(id(1)).await.unwrap().unwrap();
    let events = store.events(id(1), 0, 10).await.unwrap();
    assert_eq!(row.title, odd);
    assert_eq!(events[0].actor, odd);
    assert_eq!(events[0].payload, odd);
    assert!(events[1].payload == long);
}

pub async fn needs_an_event(fixture: impl Fixture) {
    let store = fixture.store();
    let nothing = Append { events: vec![], ..opening(id(1)) };
    let answer = store.append(nothing).await;
    assert!(matches!(answer, Err(StoreError::NotWritten(_))), "{answer:?}");
    assert_eq!(store.session(id(1)).await.unwrap(), None);
}

/// Appends that follow on each other are written as if each had come alone.
pub async fn appends_in_a_chain(fixture: impl Fixture) {
    let store = fixture.store();
    write(&*store, opening(id(1))).await;
    let says = |expected, actor: &str, word| Append {
        actor: actor.into(),
        events: vec![event("said", word)],
        idempotency: key(actor, "key", "hash"),
        ..adding(id(1), expected)
    };
    let two = vec![event("said", "two"), unlisted("said", "three")];
    let chain = vec![says(1, "ada", "one"), Append { events: two, ..says(2, "bob", "") }];
    let answers = store.append_all(chain).await.unwrap();
    let of_bob = Appended::Written { version: 4, positions: vec![Some(3), None], epoch: None };
    assert_eq!(answers, [written(2, 2, 1), of_bob]);

    let fixture = fixture.reopened().await;
    let store = fixture.store();
    let events = store.events(id(1), 1, 10).await.unwrap();
    let told = events.iter().map(|event| (event.version, event.actor.as_str()));
    assert_eq!(told.collect::<Vec<_>>(), [(2, "ada"), (3, "bob"), (4, "bob")]);
    assert_eq!(store.idempotent("ada", "key").await.unwrap(), Some(answer(2, 2)));
    assert_eq!(store.idempotent("bob", "key").await.unwrap(), Some(answer(3, 4)));
}

/// The first that is not written ends the chain; those before it stay.
pub async fn ends_a_chain_at_the_first_refusal(fixture: impl Fixture) {
    let store = fixture.store();
    write(&*store, opening(id(1))).await;
    let keyed =
        |expected| Append { idempotency: key("ada", "a", "hash"), ..adding(id(1), expected) };
    let earlier = answer(2, 2);
    // A key that comes twice within it.
    let answers = store.append_all(vec![keyed(1), keyed(2), adding(id(1), 2)]).await.unwrap();
    assert_eq!(answers, [written(2, 2, 1), Appended::Repeated(earlier)]);
    // A version that is not the one after the append before.
    let answers = store.append_all(vec![adding(id(1), 2), adding(id(1), 7), adding(id(1), 3)]);
    assert_eq!(answers.await.unwrap(), [written(3, 3, 1), Appended::Conflict { version: 3 }]);
    // A driver that has lost the session.
    let fenced = Append { epoch: Some(9), ..adding(id(1), 3) };
    let answers = store.append_all(vec![fenced, adding(id(1), 3)]).await.unwrap();
    assert_eq!(answers, [Appended::Fenced]);
    let versions: Vec<u64> =
        store.events(id(1), 0, 10).await.unwrap().iter().map(|event| event.version).collect();
    assert_eq!(versions, [1, 2, 3]);
    assert_eq!(store.append_all(vec![]).await.unwrap(), []);
}
