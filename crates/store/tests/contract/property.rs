//! Any run of operations leaves the store telling what the model tells.

use futures::future::join_all;
use plenary_domain::{CallId, SessionId};
use plenary_engine::ports::{
    Append, Appended, AttemptEnd, AttemptState, ListQuery, NewEvent, Store, StoreError,
};
use plenary_engine::testkit::{Memory, MemoryStore};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::Fixture;
use crate::samples::{adding, at, call, end, event, id, key, told};

const SESSIONS: u128 = 4;
const CALLS: [&str; 2] = ["a", "b"];
const KEYS: [&str; 3] = ["k", "l", "m"];
const KINDS: [&str; 2] = ["boardroom", "council"];
const NAMES: [&str; 2] = ["north", "south"];
const PROJECTS: [&str; 2] = ["roof", "cellar"];
const STATUSES: [&str; 2] = ["open", "closed"];
const WORDS: [&str; 6] = ["alpha", "alp", "beta", "be", "gamma", ""];

/// Versions and epochs are given as steps away from the right ones.
#[derive(Clone, Debug)]
enum Operation {
    Append {
        session: u128,
        late_by: u64,
        epoch_late_by: Option<u64>,
        name: Option<usize>,
        project: Option<usize>,
        title: usize,
        status: usize,
        active: bool,
        waits: bool,
        owned: bool,
        /// What each event says, and whether it is listed.
        events: Vec<(usize, bool)>,
        ended: Option<(usize, u32)>,
        key: Option<usize>,
    },
    Remove(u128),
    Claim(u128),
    Begin {
        session: u128,
        late_by: u64,
        call: usize,
        ended: Option<u32>,
    },
    Draft {
        session: u128,
        late_by: u64,
        call: usize,
        word: usize,
    },
    Reopen,
}

/// Mostly right, so that runs get somewhere.
fn late() -> impl Strategy<Value = u64> {
    prop_oneof![6 => Just(0), 1 => 1..3_u64]
}

fn operation() -> impl Strategy<Value = Operation> {
    let session = || 1..=SESSIONS;
    let append = (
        (session(), late(), proptest::option::of(late())),
        (proptest::option::of(0..NAMES.len()), proptest::option::of(0..PROJECTS.len())),
        (0..WORDS.len(), 0..STATUSES.len(), any::<bool>(), any::<bool>(), any::<bool>()),
        proptest::collection::vec((0..WORDS.len(), any::<bool>()), 1..4),
        proptest::option::of((0..CALLS.len(), 1..4_u32)),
        proptest::option::weighted(0.2, 0..KEYS.len()),
    )
        .prop_map(
            |((session, late_by, epoch_late_by), (name, project), row, events, ended, key)| {
                let (title, status, active, waits, owned) = row;
                Operation::Append {
                    session,
                    late_by,
                    epoch_late_by,
                    name,
                    project,
                    title,
                    status,
                    active,
                    waits,
                    owned,
                    events,
                    ended,
                    key,
                }
            },
        );
    let begin = (session(), late(), 0..CALLS.len(), proptest::option::of(1..4_u32));
    let draft = (session(), late(), 0..CALLS.len(), 0..WORDS.len());
    prop_oneof![
        10 => append,
        1 => session().prop_map(Operation::Remove),
        2 => session().prop_map(Operation::Claim),
        4 => begin.prop_map(|(session, late_by, call, ended)| Operation::Begin {
            session, late_by, call, ended
        }),
        4 => draft.prop_map(|(session, late_by, call, word)| Operation::Draft {
            session, late_by, call, word
        }),
        1 => Just(Operation::Reopen),
    ]
}

fn query() -> impl Strategy<Value = ListQuery> {
    (
        proptest::option::of(0..KINDS.len()),
        proptest::sample::subsequence(KINDS.to_vec(), 0..=1),
        proptest::option::of(0..PROJECTS.len()),
        proptest::option::of(0..STATUSES.len()),
        proptest::option::of(any::<bool>()),
        proptest::option::of(any::<bool>()),
        proptest::collection::vec(0..WORDS.len(), 0..3),
        0..5_u32,
        proptest::option::of(0..=SESSIONS + 1),
    )
        .prop_map(|(kind, without, project, status, active, waiting, words, limit, before)| {
            ListQuery {
                kind: kind.map(|kind| KINDS[kind].into()),
                without: without.into_iter().map(str::to_owned).collect(),
                project: project.map(|project| PROJECTS[project].into()),
                status: status.map(|status| STATUSES[status].into()),
                active,
                waiting,
                pinned: None,
                words: Some(
                    words.into_iter().map(|word| WORDS[word]).collect::<Vec<_>>().join(" "),
                ),
                limit,
                before: before.map(id),
            }
        })
}

/// One operation after the other.
pub fn agrees_with_the_model<F: Fixture>() {
    run::<F>(F::CASES, |operations| operations.into_iter().map(|one| vec![one]).collect());
}

/// Operations that are given at once and carried out in that order, as a store
/// with one writer does: one write must see what those gathered with it did.
pub fn agrees_with_the_model_when_gathered<F: Fixture>() {
    run::<F>(96, |operations| operations.chunks(10).map(<[_]>::to_vec).collect());
}

fn run<F: Fixture>(cases: u32, group: fn(Vec<Operation>) -> Vec<Vec<Operation>>) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let run = (
        proptest::collection::vec(operation(), 1..40).prop_map(group),
        proptest::collection::vec(query(), 8),
    );
    runner
        .run(&run, |(groups, queries)| {
            runtime.block_on(compare::<F>(groups, queries));
            Ok(())
        })
        .unwrap();
}

async fn compare<F: Fixture>(groups: Vec<Vec<Operation>>, queries: Vec<ListQuery>) {
    let mut fixture = F::fresh().await;
    let model = MemoryStore::default();
    let ids: Vec<_> = (1..=SESSIONS).map(id).collect();
    for (time, group) in (0..).zip(groups) {
        let reopen = group.iter().any(|one| matches!(one, Operation::Reopen));
        let mut requests = Vec::new();
        let mut expected = Vec::new();
        for operation in group {
            let mut model = model.lock();
            if let Some(request) = request(&model, operation, time) {
                expected.push(answer_of_model(&mut model, &request));
                requests.push(request);
            }
        }
        let store = fixture.store();
        let answers = join_all(requests.iter().map(|one| answer_of_store(&*store, one))).await;
        assert_eq!(answers, expected, "{requests:?}");
        assert_eq!(told(&*store, &ids).await, told(&model, &ids).await);
        for (kind, name) in KINDS.iter().flat_map(|kind| NAMES.map(|name| (kind, name))) {
            let found = store.named(kind, name).await.unwrap();
            assert_eq!(found, model.lock().named(kind, name), "{kind} {name}");
        }
        if reopen {
            fixture = fixture.reopened().await;
        }
    }
    let store = fixture.store();
    for query in queries {
        let page = store.list(query.clone()).await.unwrap();
        assert_eq!(page, model.lock().list(&query), "{query:?}");
    }
    for key in KEYS {
        let answer = store.idempotent("ada", key).await.unwrap();
        assert_eq!(answer, model.lock().idempotent("ada", key));
    }
}

/// An operation with its versions and epochs filled in.
#[derive(Debug)]
enum Request {
    Append(Box<Append>),
    Remove(SessionId),
    Claim(SessionId),
    Begin(SessionId, u64, CallId, Option<AttemptEnd>),
    Draft(SessionId, u64, CallId, &'static str),
}

#[derive(PartialEq, Debug)]
enum Answer {
    Appended(Appended),
    Removed(bool),
    Claimed(Vec<(SessionId, u64)>),
    Begun(u32),
    Saved,
    Fenced,
}

fn request(model: &Memory, operation: Operation, time: i64) -> Option<Request> {
    Some(match operation {
        Operation::Remove(session) => Request::Remove(id(session)),
        Operation::Claim(session) => Request::Claim(id(session)),
        Operation::Begin { session, late_by, call: name, ended } => Request::Begin(
            id(session),
            model.standing(id(session)).1 + late_by,
            call(CALLS[name]),
            ended.map(|number| end(CALLS[name], number, AttemptState::Failed, 1)),
        ),
        Operation::Draft { session, late_by, call: name, word } => Request::Draft(
            id(session),
            model.standing(id(session)).1 + late_by,
            call(CALLS[name]),
            WORDS[word],
        ),
        Operation::Reopen => return None,
        Operation::Append {
            session,
            late_by,
            epoch_late_by,
            name,
            project,
            title,
            status,
            active,
            waits,
            owned,
            events,
            ended,
            key: request,
        } => {
            let (version, epoch) = model.standing(id(session));
            Request::Append(Box::new(Append {
                expected: version + late_by,
                epoch: epoch_late_by.map(|late| epoch + late),
                kind: KINDS[session as usize % KINDS.len()],
                name: name.map(|name| NAMES[name].into()),
                project: project.map(|project| PROJECTS[project].into()),
                title: WORDS[title].into(),
                status: STATUSES[status],
                active,
                waits_for: waits.then(|| WORDS[title].to_owned()).into_iter().collect(),
                imported: !waits,
                at: at(time),
                events: events
                    .into_iter()
                    .map(|(word, listed)| NewEvent { listed, ..event("said", WORDS[word]) })
                    .collect(),
                attempts: ended
                    .map(|(name, number)| end(CALLS[name], number, AttemptState::Done, 2))
                    .into_iter()
                    .collect(),
                idempotency: request.and_then(|name| key("ada", KEYS[name], &time.to_string())),
                driver: owned.then(|| "me".into()),
                ..adding(id(session), 0)
            }))
        }
    })
}

fn answer_of_model(model: &mut Memory, request: &Request) -> Answer {
    match request {
        Request::Append(append) => Answer::Appended(model.append(append)),
        Request::Remove(id) => Answer::Removed(model.remove(*id)),
        Request::Claim(id) => Answer::Claimed(model.claim("me", &[*id])),
        Request::Begin(id, epoch, call, ended) => model
            .begin_attempt(*id, *epoch, call, ended.as_ref())
            .map_or(Answer::Fenced, Answer::Begun),
        Request::Draft(id, epoch, call, text) => {
            model.save_draft(*id, *epoch, call, text).map_or(Answer::Fenced, |()| Answer::Saved)
        }
    }
}

async fn answer_of_store(store: &dyn Store, request: &Request) -> Answer {
    let answer = match request {
        Request::Append(append) => store.append((**append).clone()).await.map(Answer::Appended),
        Request::Remove(id) => store.remove(*id).await.map(Answer::Removed),
        Request::Claim(id) => store.claim("me", &[*id]).await.map(Answer::Claimed),
        Request::Begin(id, epoch, call, ended) => {
            store.begin_attempt(*id, *epoch, call, ended.clone()).await.map(Answer::Begun)
        }
        Request::Draft(id, epoch, call, text) => {
            store.save_draft(*id, *epoch, call, text).await.map(|()| Answer::Saved)
        }
    };
    match answer {
        Ok(answer) => answer,
        Err(StoreError::Fenced) => Answer::Fenced,
        Err(error) => panic!("{error}"),
    }
}
