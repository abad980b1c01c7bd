//! Commands that come to one session at the same time are written together, and it
//! must not show: each is answered as if it had come alone.
//!
//! These tests run on one thread. A command then stands in the line before whoever
//! gave it yields, so who waits for the held write is certain, and in which order.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use plenary_domain::whiteboard::{self, Choice, Content, Phase, PostId, PostKind, Role};
use plenary_domain::{AgentName, CallId, Reject, SessionId, Timestamp, room};
use plenary_engine::ports::{
    Append, Appended, AttemptEnd, AttemptRow, Driver, Idempotency, IdempotentAnswer, Label,
    ListPage, ListQuery, NewEvent, NodeRow, SessionRow, Store, StoreError, StoreFigures,
    StoredEvent, Waiting,
};
use plenary_engine::testkit::ManualClock;
use plenary_engine::{By, Engine, EngineError, Snapshot};
use plenary_providers::Providers;
use plenary_store::{Holder, SqliteStore};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;

/// A store whose writes can be held back and counted, and made to fail.
struct Held {
    store: SqliteStore,
    gate: Semaphore,
    at_gate: Notify,
    /// How many appends each write carried.
    writes: std::sync::Mutex<Vec<usize>>,
    failing: AtomicUsize,
    /// Whose answers are lost after they were written.
    losing: AtomicUsize,
}

impl Held {
    async fn pass(&self, appends: usize) -> Result<(), StoreError> {
        self.at_gate.notify_one();
        self.gate.acquire().await.unwrap().forget();
        self.writes.lock().unwrap().push(appends);
        if self.failing.load(SeqCst) > 0 {
            self.failing.fetch_sub(1, SeqCst);
            return Err(StoreError::Failed("on purpose".into()));
        }
        Ok(())
    }
}

#[async_trait]
impl Store for Held {
    async fn append(&self, append: Append) -> Result<Appended, StoreError> {
        self.pass(1).await?;
        let answer = self.store.append(append).await;
        if self.losing.load(SeqCst) > 0 {
            self.losing.fetch_sub(1, SeqCst);
            return Err(StoreError::Failed("on purpose".into()));
        }
        answer
    }
    async fn append_all(&self, appends: Vec<Append>) -> Result<Vec<Appended>, StoreError> {
        self.pass(appends.len()).await?;
        self.store.append_all(appends).await
    }
    async fn named(&self, kind: &str, name: &str) -> Result<Option<SessionId>, StoreError> {
        self.store.named(kind, name).await
    }
    async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
        self.store.session(id).await
    }
    async fn events(
        &self,
        id: SessionId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        self.store.events(id, after, limit).await
    }
    async fn events_of_all(&self, after: u64, limit: u32) -> Result<Vec<StoredEvent>, StoreError> {
        self.store.events_of_all(after, limit).await
    }
    async fn position(&self) -> Result<u64, StoreError> {
        self.store.position().await
    }
    async fn list(&self, query: ListQuery) -> Result<ListPage, StoreError> {
        self.store.list(query).await
    }
    async fn label(&self, id: SessionId, label: Label) -> Result<bool, StoreError> {
        self.store.label(id, label).await
    }
    async fn remove(&self, id: SessionId) -> Result<bool, StoreError> {
        self.store.remove(id).await
    }
    fn is_shared(&self) -> bool {
        self.store.is_shared()
    }
    fn changes(&self) -> BoxStream<'static, SessionId> {
        self.store.changes()
    }
    async fn versions(&self, ids: &[SessionId]) -> Result<Vec<(SessionId, u64)>, StoreError> {
        self.store.versions(ids).await
    }
    async fn renew(
        &self,
        node: &str,
        address: Option<&str>,
        lease: Duration,
    ) -> Result<(), StoreError> {
        self.store.renew(node, address, lease).await
    }
    async fn driver(&self, id: SessionId) -> Result<Option<Driver>, StoreError> {
        self.store.driver(id).await
    }
    async fn drain(&self, node: &str) -> Result<(), StoreError> {
        self.store.drain(node).await
    }
    async fn retire(&self, node: &str) -> Result<(), StoreError> {
        self.store.retire(node).await
    }
    fn figures(&self) -> StoreFigures {
        self.store.figures()
    }
    async fn nodes(&self) -> Result<Vec<NodeRow>, StoreError> {
        self.store.nodes().await
    }
    async fn waiting(
        &self,
        node: &str,
        now: Timestamp,
        after: Option<SessionId>,
        limit: u32,
    ) -> Result<Waiting, StoreError> {
        self.store.waiting(node, now, after, limit).await
    }
    async fn release(&self, id: SessionId, epoch: u64) -> Result<(), StoreError> {
        self.store.release(id, epoch).await
    }
    async fn claim(
        &self,
        node: &str,
        ids: &[SessionId],
    ) -> Result<Vec<(SessionId, u64)>, StoreError> {
        self.store.claim(node, ids).await
    }
    async fn end_attempt(
        &self,
        id: SessionId,
        epoch: u64,
        end: AttemptEnd,
    ) -> Result<(), StoreError> {
        self.store.end_attempt(id, epoch, end).await
    }
    async fn begin_attempt(
        &self,
        id: SessionId,
        epoch: u64,
        call: &CallId,
        ended: Option<AttemptEnd>,
    ) -> Result<u32, StoreError> {
        self.store.begin_attempt(id, epoch, call, ended).await
    }
    async fn attempts(&self, id: SessionId) -> Result<Vec<AttemptRow>, StoreError> {
        self.store.attempts(id).await
    }
    async fn save_draft(
        &self,
        id: SessionId,
        epoch: u64,
        call: &CallId,
        text: &str,
    ) -> Result<(), StoreError> {
        self.store.save_draft(id, epoch, call, text).await
    }
    async fn drafts(&self, id: SessionId) -> Result<Vec<(CallId, String)>, StoreError> {
        self.store.drafts(id).await
    }
    async fn idempotent(
        &self,
        principal: &str,
        key: &str,
    ) -> Result<Option<IdempotentAnswer>, StoreError> {
        self.store.idempotent(principal, key).await
    }
    async fn secret(&self) -> Result<[u8; 32], StoreError> {
        self.store.secret().await
    }
    async fn check(&self) -> Result<(), StoreError> {
        self.store.check().await
    }
}

/// A board with agents a to f; `a` leads it.
struct Table {
    engine: Arc<Engine>,
    store: Arc<Held>,
    board: SessionId,
    _folder: tempfile::TempDir,
}

/// Whose command it is, under which key, and the command.
type Given = (&'static str, Option<(&'static str, &'static str)>, whiteboard::Command);

/// What became of a command: the version that it wrote, or why nothing was written.
type Outcome = Result<Option<u64>, String>;

impl Table {
    async fn new() -> Table {
        let folder = tempfile::tempdir().unwrap();
        let holder = Holder { command: "test".into(), since: Timestamp::UNIX_EPOCH };
        let store = plenary_store::open(folder.path(), holder).await.unwrap();
        let store = Arc::new(Held {
            store,
            gate: Semaphore::new(1_000),
            at_gate: Notify::new(),
            writes: Default::default(),
            failing: AtomicUsize::new(0),
            losing: AtomicUsize::new(0),
        });
        let models = Arc::new(Providers::new(vec![]));
        let engine = Engine::new(store.clone(), models, Arc::new(ManualClock::default()));
        let open = whiteboard::Command::Open(whiteboard::Open {
            name: "board".into(),
            topic: "?".into(),
            project: None,
            by: AgentName("a".into()),
            principal: None,
            admission: Default::default(),
            debate: Default::default(),
            deadlines: vec![],
            seats: vec![],
            prices: Default::default(),
            budget: None,
        });
        let opened = engine.open(By::actor("a"), room::Command::Whiteboard(open)).await.unwrap();
        let table = Table { engine, store, board: opened.id, _folder: folder };
        for agent in ["b", "c", "d", "e", "f"] {
            table.one((agent, None, register(agent))).await.unwrap();
        }
        table
    }

    /// Gives a command, and has it stand in the line.
    async fn give(
        &self,
        (agent, key, command): Given,
    ) -> JoinHandle<Result<Snapshot, EngineError>> {
        let idempotency = key.map(|(key, hash)| Idempotency {
            principal: agent.into(),
            key: key.into(),
            request_hash: hash.into(),
            lasting: false,
        });
        let by = By { actor: agent.into(), idempotency };
        let (engine, board) = (self.engine.clone(), self.board);
        let command = room::Command::Whiteboard(command);
        let given = tokio::spawn(async move { engine.submit(board, by, command).await });
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        given
    }

    async fn one(&self, given: Given) -> Outcome {
        told(self.give(given).await.await.unwrap())
    }

    /// Gives all while a write is held back, so that they wait together.
    async fn at_once(&self, all: Vec<Given>) -> Vec<Outcome> {
        let waiting = self.hold(all).await;
        self.let_go(waiting).await
    }

    async fn hold(&self, all: Vec<Given>) -> Vec<JoinHandle<Result<Snapshot, EngineError>>> {
        self.store.gate.forget_permits(usize::MAX);
        // What came before has left its mark here.
        let _ =
            tokio::time::timeout(std::time::Duration::ZERO, self.store.at_gate.notified()).await;
        let first = self.give(("f", None, post("f", "held"))).await;
        self.store.at_gate.notified().await;
        let mut waiting = vec![first];
        for given in all {
            waiting.push(self.give(given).await);
        }
        self.store.writes.lock().unwrap().clear();
        waiting
    }

    async fn let_go(
        &self,
        waiting: Vec<JoinHandle<Result<Snapshot, EngineError>>>,
    ) -> Vec<Outcome> {
        self.store.gate.add_permits(1_000);
        let mut outcomes = vec![];
        for one in waiting {
            outcomes.push(told(one.await.unwrap()));
        }
        assert!(outcomes.remove(0).is_ok());
        outcomes
    }

    /// Each event by who made it and what it is, after those that set the table.
    async fn log(&self) -> Vec<(String, String)> {
        let events = self.store.store.events(self.board, 6, 1_000).await.unwrap();
        let versions: Vec<u64> = events.iter().map(|event| event.version).collect();
        assert_eq!(versions, (7..7 + events.len() as u64).collect::<Vec<_>>());
        let fold = |event: &StoredEvent| (event.actor.clone(), event.payload.clone());
        events.iter().map(fold).collect()
    }

    /// What the engine holds in memory is what the log folds to.
    async fn check_state(&self) {
        let events = self.store.store.events(self.board, 0, 1_000).await.unwrap();
        let mut folded = None;
        for event in &events {
            let decoded = room::Event::decode(&event.kind, &event.payload).unwrap();
            room::apply(&mut folded, &decoded, event.at);
        }
        let held = self.engine.get(self.board).await.unwrap();
        assert_eq!((Some(&*held.room), held.version), (folded.as_ref(), events.len() as u64));
    }

    fn writes(&self) -> Vec<usize> {
        self.store.writes.lock().unwrap().clone()
    }
}

fn told(outcome: Result<Snapshot, EngineError>) -> Outcome {
    match outcome {
        Ok(snapshot) => Ok(snapshot.written),
        Err(EngineError::Rejected(Reject::NotNow { state, .. })) => Err(format!("not in {state}")),
        Err(error) => Err(error.to_string()),
    }
}

const REFUSED: &str = "the command was refused";

fn register(agent: &str) -> whiteboard::Command {
    let agent = AgentName(agent.into());
    let shown = whiteboard::Shown::Nothing;
    whiteboard::Command::Register { agent, role: Role::Specialist, domain: None, shown }
}

fn post(agent: &str, title: &str) -> whiteboard::Command {
    let content = Content {
        kind: PostKind::Claim,
        title: title.into(),
        body: title.into(),
        target_file: None,
        target_location: None,
        severity: None,
        finding_refs: vec![],
        cascade_targets: vec![],
    };
    whiteboard::Command::Post { agent: AgentName(agent.into()), content }
}

fn to(phase: Phase) -> whiteboard::Command {
    whiteboard::Command::Transition { agent: AgentName("a".into()), to: phase, note: None }
}

fn vote(agent: &str, post: &str) -> whiteboard::Command {
    let (agent, post) = (AgentName(agent.into()), PostId(post.into()));
    whiteboard::Command::Vote { agent, post, choice: Choice::Accept, reason: None }
}

#[tokio::test]
async fn they_share_one_write_and_keep_their_order() {
    let table = Table::new().await;
    let posts = ["a", "b", "c", "b", "d"].map(|agent| (agent, None, post(agent, "one")));
    let outcomes = table.at_once(posts.to_vec()).await;
    assert_eq!(outcomes, [8, 9, 10, 11, 12].map(|version| Ok(Some(version))));
    assert_eq!(table.writes(), [1, 5]);
    let actors: Vec<String> = table.log().await.into_iter().map(|(actor, _)| actor).collect();
    assert_eq!(actors, ["f", "a", "b", "c", "b", "d"]);
    table.check_state().await;
}

#[tokio::test]
async fn each_is_decided_on_what_those_before_it_did() {
    let table = Table::new().await;
    let outcomes = table
        .at_once(vec![
            ("b", None, post("b", "in time")),
            ("nobody", None, post("nobody", "who?")),
            ("a", None, to(Phase::Read)),
            ("c", None, post("c", "late")),
            ("a", None, to(Phase::Read)),
            ("c", None, register("c")),
            ("a", None, to(Phase::Debate)),
            ("c", None, vote("c", "b/1")),
        ])
        .await;
    let late = || Err("not in read".to_owned());
    let written = |version| Ok(Some(version));
    let expected = [
        written(8),
        Err(REFUSED.to_owned()),
        written(9),
        late(),
        late(),
        Ok(None),
        written(10),
        written(11),
    ];
    assert_eq!(outcomes, expected);
    assert_eq!(table.writes(), [1, 4]);
    table.check_state().await;
}

#[tokio::test]
async fn a_key_that_comes_twice_is_carried_out_once() {
    let table = Table::new().await;
    let key = Some(("key", "hash"));
    let outcomes = table
        .at_once(vec![
            ("b", key, post("b", "one")),
            ("c", None, post("c", "one")),
            ("b", key, post("b", "one")),
            ("b", Some(("key", "another")), post("b", "two")),
            // The same key of another agent is another key.
            ("d", key, post("d", "one")),
            ("a", Some(("move", "hash")), to(Phase::Read)),
            ("a", Some(("move", "hash")), to(Phase::Read)),
            ("b", key, post("b", "one")),
        ])
        .await;
    let reused = Err("this idempotency key was used for another request".to_owned());
    let written = |version| Ok(Some(version));
    let expected = [
        written(8),
        written(9),
        written(8),
        reused,
        written(10),
        written(11),
        written(11),
        written(8),
    ];
    assert_eq!(outcomes, expected);
    assert_eq!(table.log().await.len(), 5);
    table.check_state().await;
}

#[tokio::test]
async fn another_writer_in_between_makes_them_decide_again() {
    let table = Table::new().await;
    let posts = ["b", "c", "d"].map(|agent| (agent, None, post(agent, "one")));
    let waiting = table.hold(posts.to_vec()).await;
    // As another process would.
    let moved = whiteboard::Event::Transitioned {
        to: Phase::Read,
        by: None,
        note: None,
        at: Timestamp::UNIX_EPOCH,
    };
    let row = table.store.session(table.board).await.unwrap().unwrap();
    let foreign = Append {
        session: table.board,
        expected: row.version,
        epoch: None,
        kind: "whiteboard",
        name: row.name,
        project: None,
        title: row.title,
        status: "read",
        active: false,
        waits_for: vec![],
        imported: false,
        actor: "another".into(),
        at: Timestamp::UNIX_EPOCH,
        events: vec![NewEvent {
            name: moved.name(),
            payload: serde_json::to_string(&moved).unwrap(),
            search: String::new(),
            listed: true,
        }],
        attempts: vec![],
        idempotency: None,
        driver: None,
        wake_at: None,
    };
    table.store.store.append(foreign).await.unwrap();
    table.store.gate.add_permits(1_000);
    for one in waiting {
        assert_eq!(told(one.await.unwrap()), Err("not in read".to_owned()));
    }
    let actors: Vec<String> = table.log().await.into_iter().map(|(actor, _)| actor).collect();
    assert_eq!(actors, ["another"]);
    table.check_state().await;
}

#[tokio::test]
async fn a_store_that_fails_is_told_to_all_and_nothing_is_left_of_them() {
    let table = Table::new().await;
    let posts = ["b", "c", "d"].map(|agent| (agent, None, post(agent, "one")));
    let waiting = table.hold(posts.to_vec()).await;
    table.store.failing.store(2, SeqCst);
    table.store.gate.add_permits(1_000);
    for one in waiting {
        assert_eq!(told(one.await.unwrap()), Err("the store failed: on purpose".to_owned()));
    }
    assert_eq!(table.log().await, []);
    table.check_state().await;
    assert_eq!(table.one(("b", None, post("b", "two"))).await, Ok(Some(7)));
    table.check_state().await;
}

/// Random commands with random keys, given at once and given one by one, are the
/// same to everybody.
#[tokio::test]
async fn given_at_once_is_given_one_by_one() {
    const CASES: u64 = 40;
    for seed in 1..=CASES {
        let all = commands(seed);
        let (at_once, one_by_one) = (Table::new().await, Table::new().await);
        let outcomes = at_once.at_once(all.clone()).await;
        one_by_one.one(("f", None, post("f", "held"))).await.unwrap();
        let mut expected = vec![];
        for given in all {
            expected.push(one_by_one.one(given).await);
        }
        assert_eq!(outcomes, expected, "seed {seed}");
        assert_eq!(at_once.log().await, one_by_one.log().await, "seed {seed}");
        at_once.check_state().await;
    }
}

fn commands(seed: u64) -> Vec<Given> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut roll = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let mut one = || {
        let agent = ["a", "b", "c", "stranger"][roll(4) as usize];
        let key = [None, Some(("one", "1")), Some(("one", "2")), Some(("two", "1"))];
        let key = key[roll(4) as usize];
        match roll(12) {
            0 => ("a", key, to(Phase::Read)),
            1 => ("a", key, to(Phase::Debate)),
            2 => (agent, key, vote(agent, "f/1")),
            3 => (agent, key, register(agent)),
            _ => (agent, key, post(agent, "one")),
        }
    };
    (0..12).map(|_| one()).collect()
}

#[tokio::test]
async fn what_was_written_shows_also_when_its_answer_was_lost() {
    let table = Table::new().await;
    table.store.losing.store(1, SeqCst);
    let lost = table.one(("b", None, post("b", "lost"))).await;
    assert!(lost.is_err());
    table.check_state().await;
}
