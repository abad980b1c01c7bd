//! Listing and searching.

use plenary_domain::SessionId;
use plenary_engine::ports::{Append, Label, ListQuery, SessionRow, Store};

use crate::Fixture;
use crate::samples::{adding, event, everything, id, opening, write};

async fn found(store: &dyn Store, query: ListQuery) -> (Vec<SessionId>, u64, Option<SessionId>) {
    let page = store.list(query).await.unwrap();
    let ids = page.rows.iter().map(|row| row.id).collect();
    (ids, page.total, page.next)
}

pub async fn pages_from_the_newest(fixture: impl Fixture) {
    let store = fixture.store();
    assert_eq!(found(&*store, everything()).await, (vec![], 0, None));
    // Not in order of age: ids tell the age.
    for number in [3, 1, 5, 2, 4] {
        write(&*store, opening(id(number))).await;
    }
    let page = |limit, before: Option<u128>| ListQuery {
        limit,
        before: before.map(id),
        ..ListQuery::default()
    };
    let cases = [
        (page(2, None), vec![id(5), id(4)], Some(id(4))),
        (page(2, Some(4)), vec![id(3), id(2)], Some(id(2))),
        (page(2, Some(2)), vec![id(1)], None),
        (page(2, Some(3)), vec![id(2), id(1)], None),
        (page(2, Some(1)), vec![], None),
        (page(0, None), vec![], None),
        (page(5, None), [5, 4, 3, 2, 1].map(id).to_vec(), None),
    ];
    for (query, rows, next) in cases {
        assert_eq!(found(&*store, query.clone()).await, (rows, 5, next), "{query:?}");
    }
    let page = store.list(page(1, None)).await.unwrap();
    assert_eq!(page.rows, [store.session(id(5)).await.unwrap().unwrap()]);
}

pub async fn filters(fixture: impl Fixture) {
    let store = fixture.store();
    let sessions = [
        ("boardroom", None, "open", true),
        ("boardroom", Some("roof"), "closed", false),
        ("council", Some("roof"), "open", true),
        ("council", Some("cellar"), "paused", false),
    ];
    for (number, (kind, project, status, active)) in (1..).zip(sessions) {
        let append = Append {
            kind,
            project: project.map(str::to_owned),
            status,
            active,
            waits_for: (number % 2 == 0).then(|| "Ada".to_owned()).into_iter().collect(),
            title: format!("{kind} {status}"),
            ..opening(id(number))
        };
        write(&*store, append).await;
    }
    let query = |kind: &str, status: &str, active, words: &str| ListQuery {
        kind: Some(kind.to_owned()).filter(|kind| !kind.is_empty()),
        status: Some(status.to_owned()).filter(|status| !status.is_empty()),
        active,
        words: Some(words.to_owned()).filter(|words| !words.is_empty()),
        ..everything()
    };
    let of = |project: &str, query| ListQuery { project: Some(project.into()), ..query };
    let without = |kinds: &[&str], query| ListQuery {
        without: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
        ..query
    };
    let waiting = |is, query| ListQuery { waiting: Some(is), ..query };
    let cases = [
        (waiting(true, everything()), vec![4, 2]),
        (waiting(false, everything()), vec![3, 1]),
        (waiting(true, query("council", "", None, "")), vec![4]),
        (without(&["council"], everything()), vec![2, 1]),
        (without(&["council", "boardroom"], everything()), vec![]),
        (without(&["Council", "none"], everything()), vec![4, 3, 2, 1]),
        (without(&["council"], query("council", "", None, "")), vec![]),
        (without(&["council"], query("", "open", None, "open")), vec![1]),
        (of("roof", everything()), vec![3, 2]),
        (of("roof", query("council", "", None, "open")), vec![3]),
        (of("cellar", query("", "open", None, "")), vec![]),
        (of("", everything()), vec![]),
        (query("boardroom", "", None, ""), vec![2, 1]),
        (query("", "open", None, ""), vec![3, 1]),
        (query("", "", Some(true), ""), vec![3, 1]),
        (query("", "", Some(false), ""), vec![4, 2]),
        (query("council", "open", Some(true), ""), vec![3]),
        (query("council", "open", Some(true), "council"), vec![3]),
        (query("council", "open", Some(true), "boardroom"), vec![]),
        (query("Council", "", None, ""), vec![]),
    ];
    for (query, expected) in cases {
        let total = expected.len() as u64;
        let expected: Vec<SessionId> = expected.into_iter().map(id).collect();
        let answer = found(&*store, query.clone()).await;
        assert_eq!(answer, (expected, total, None), "{query:?}");
    }
}

async fn check_words(store: &dyn Store, words: &str, expected: &[u128]) {
    let query = ListQuery { words: Some(words.into()), ..everything() };
    let (found, total, _) = found(store, query).await;
    let expected: Vec<SessionId> = expected.iter().copied().map(id).collect();
    assert_eq!(found, expected, "{words:?}");
    assert_eq!(total, expected.len() as u64, "{words:?}");
}

pub async fn finds_words(fixture: impl Fixture) {
    let store = fixture.store();
    let one = Append {
        title: "Budget of the café".into(),
        events: vec![event("opened", "alpha beta"), event("said", "gamma")],
        ..opening(id(1))
    };
    let two = Append {
        title: "Ümläut".into(),
        events: vec![event("opened", "alpha foo-bar")],
        ..opening(id(2))
    };
    write(&*store, one).await;
    write(&*store, two).await;
    let later = Append {
        title: "Budget of the café".into(),
        events: vec![event("said", "delta Привет 東京")],
        ..adding(id(1), 2)
    };
    write(&*store, later).await;

    let cases: [(&str, &[u128]); 19] = [
        ("alpha", &[2, 1]),
        ("ALPHA", &[2, 1]),
        ("alpha beta", &[1]),
        // Words of one session need not stand in one event.
        ("gamma alpha", &[1]),
        ("delta budget gamma", &[1]),
        ("alpha nothing", &[]),
        // Only the last word is a prefix.
        ("alp", &[2, 1]),
        ("alp beta", &[]),
        ("beta alp", &[1]),
        ("lpha", &[]),
        ("cafe", &[1]),
        ("CAFÉ", &[1]),
        ("cafe\u{301}", &[1]),
        ("umlaut", &[2]),
        ("foo-bar", &[2]),
        ("bar foo", &[2]),
        ("привет", &[1]),
        ("東京", &[1]),
        ("alpha alpha alpha", &[2, 1]),
    ];
    for (words, expected) in cases {
        check_words(&*store, words, expected).await;
    }
}

pub async fn finds_words_of_the_present_title(fixture: impl Fixture) {
    let store = fixture.store();
    write(&*store, opening(id(1))).await;
    check_words(&*store, "title", &[1]).await;
    let renamed = Append { title: "renamed".into(), ..adding(id(1), 1) };
    write(&*store, renamed).await;
    check_words(&*store, "title", &[]).await;
    check_words(&*store, "renamed", &[1]).await;
}

pub async fn takes_any_text_for_words(fixture: impl Fixture) {
    let store = fixture.store();
    let append = Append { events: vec![event("said", "not and or near alpha")], ..opening(id(1)) };
    write(&*store, append).await;
    // Without a word in it, a text asks for nothing in particular.
    for words in ["", " ", "\"", "'", "*", "-", "^()+:{}", "\u{0}", "\u{301}", "🎉", "--; '"] {
        check_words(&*store, words, &[1]).await;
    }
    let lawful = [
        "alpha AND",
        "NOT",
        "OR alpha",
        "NEAR(alpha",
        "\"alpha",
        "alpha\"",
        "alpha*",
        "^alpha",
        "-alpha",
        "(alpha",
        "alpha)",
        "al\u{0}",
        "{alpha}: alpha",
        "alpha; --",
        "%alpha_",
    ];
    for words in lawful {
        check_words(&*store, words, &[1]).await;
    }
    for words in ["words:alpha", "alpha NEAR/2 beta", "Ⓐ", "\u{10FFFD}x", "ि"] {
        check_words(&*store, words, &[]).await;
    }
    check_words(&*store, &"many ".repeat(5_000), &[]).await;
    let different: String = (0..3_000).map(|number| format!("w{number} ")).collect();
    check_words(&*store, &different, &[]).await;
}

/// A title that was given stands in place of the session's own, which comes back; nothing
/// else of the session moves.
pub async fn labels(fixture: impl Fixture) {
    let store = fixture.store();
    for number in 1..=3 {
        write(&*store, opening(id(number))).await;
    }
    let before = store.session(id(2)).await.unwrap().unwrap();
    let title = |title: Option<&str>| Label { title: Some(title.map(str::to_owned)), pinned: None };
    let pin = |is| Label { title: None, pinned: Some(is) };
    assert!(store.label(id(2), title(Some("Quite anöther thing"))).await.unwrap());
    assert!(store.label(id(2), pin(true)).await.unwrap());
    assert!(!store.label(id(9), pin(true)).await.unwrap());
    let title_now = "Quite anöther thing".to_owned();
    let named = SessionRow { title: title_now, renamed: true, pinned: true, ..before.clone() };
    assert_eq!(store.session(id(2)).await.unwrap(), Some(named.clone()));
    let pinned = |is| ListQuery { pinned: Some(is), ..everything() };
    assert_eq!(found(&*store, pinned(true)).await, (vec![id(2)], 1, None));
    assert_eq!(found(&*store, pinned(false)).await, (vec![id(3), id(1)], 2, None));
    let words = |words: &str| ListQuery { words: Some(words.into()), ..everything() };
    assert_eq!(found(&*store, words("anöther")).await.0, [id(2)]);
    assert!(found(&*store, words(&before.title)).await.0.contains(&id(2)));
    // What is written later changes its own title only.
    write(&*store, Append { title: "later".into(), ..adding(id(2), 1) }).await;
    let fixture = fixture.reopened().await;
    let store = fixture.store();
    assert_eq!(store.session(id(2)).await.unwrap().unwrap().title, named.title);
    assert!(store.label(id(2), title(None)).await.unwrap());
    let after = store.session(id(2)).await.unwrap().unwrap();
    assert_eq!((after.title.as_str(), after.renamed, after.pinned), ("later", false, true));
    assert_eq!(found(&*store, words("anöther")).await.0, []);
    assert!(store.label(id(2), title(Some("gone soon"))).await.unwrap());
    assert!(store.remove(id(2)).await.unwrap());
    assert_eq!(found(&*store, words("gone soon")).await.0, []);
}
