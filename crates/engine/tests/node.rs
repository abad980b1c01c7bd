//! What an engine does by itself, on a store in memory.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, StreamExt};
use plenary_domain::boardroom::{self, Convene, Role, Seat, SeatId, Sitter};
use plenary_domain::{
    AgentName, Ask, Errand, Failure, FailureKind, ModelName, Report as _, SessionId, Timestamp,
    Usage, council, limits, room, whiteboard, workflow,
};
use plenary_engine::ports::{
    Append, Clock, Ending, ErrandError, Errands, Idempotency, ModelError, Models, NewEvent, Piece,
    ProviderReport, Store,
};
use plenary_engine::testkit::{ManualClock, MemoryStore};
use plenary_engine::{By, Engine, EngineError, Snapshot};

/// Models that never answer, and how often they were asked.
#[derive(Default)]
struct Silent(AtomicUsize);

impl Models for Silent {
    fn ask(&self, _: Ask, _: String) -> BoxStream<'static, Result<Piece, ModelError>> {
        self.0.fetch_add(1, SeqCst);
        stream::pending().boxed()
    }

    fn providers(&self) -> Vec<String> {
        vec!["silent".into()]
    }

    fn window_tokens(&self, _: &ModelName) -> u32 {
        8_192
    }

    fn catalog(&self) -> BoxFuture<'_, Vec<ProviderReport>> {
        Box::pin(async { vec![] })
    }
}

#[derive(Default)]
struct Table {
    store: Arc<MemoryStore>,
    models: Arc<Silent>,
    clock: Arc<ManualClock>,
}

impl Table {
    fn engine(&self) -> Arc<Engine> {
        Engine::new(self.store.clone(), self.models.clone(), self.clock.clone())
    }

    /// The time of some looks round, and whatever follows from them.
    async fn beats(&self, count: usize) {
        for _ in 0..count {
            settle().await;
            self.clock.advance(Duration::from_millis(limits::BEAT_MS));
        }
        settle().await;
    }

    fn asked(&self) -> usize {
        self.models.0.load(SeqCst)
    }
}

/// On one thread, everything that can go on has done so after this.
async fn settle() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

fn board() -> room::Command {
    let model = ModelName::new("silent", "m");
    let seat = Seat {
        id: SeatId(1),
        role: Role::Critic,
        sitter: Sitter::Model(model.clone()),
        system_prompt: None,
        own: None,
        tries: 1,
        seated: Default::default(),
        budget: Default::default(),
    };
    room::Command::Boardroom(boardroom::Command::Convene(Convene {
        prompt: "Which one?".into(),
        context: vec![],
        seats: vec![seat],
        synthesizers: vec![model],
        quorum: None,
        ballot: false,
        prices: Default::default(),
        budget: None,
        open_answers: false,
        terms: Default::default(),
        brief: Default::default(),
    }))
}

#[tokio::test]
async fn another_goes_on_with_what_was_shut_down_and_the_first_does_not() {
    let table = Table::default();
    let first = table.engine();
    first.resume_all().await.unwrap();
    first.open(By::actor("ada"), board()).await.unwrap();
    settle().await;
    assert_eq!(table.asked(), 1);
    first.shut_down().await;
    table.beats(4).await;
    assert_eq!(table.asked(), 1);
    let second = table.engine();
    assert_eq!(second.resume_all().await.unwrap(), 1);
    table.beats(4).await;
    assert_eq!(table.asked(), 2);
}

#[tokio::test]
async fn a_node_that_will_end_leaves_to_others_what_is_left_behind() {
    let table = Table::default();
    let [first, draining] = [table.engine(), table.engine()];
    for engine in [&first, &draining] {
        engine.resume_all().await.unwrap();
    }
    first.open(By::actor("ada"), board()).await.unwrap();
    settle().await;
    draining.drain().await;
    let told: Vec<bool> = table.store.lock().nodes().iter().map(|node| node.draining).collect();
    assert_eq!(told.into_iter().filter(|draining| *draining).count(), 1);
    first.shut_down().await;
    table.beats(4).await;
    assert_eq!(table.asked(), 1);
    let third = table.engine();
    assert_eq!(third.resume_all().await.unwrap(), 1);
    table.beats(1).await;
    assert_eq!((table.asked(), third.driving()), (2, 1));
    assert_eq!(third.meter.takeovers.load(SeqCst), 1);
    assert!(third.lease_left() > Duration::ZERO);
}

#[tokio::test]
async fn a_write_to_what_another_node_has_taken_is_counted() {
    let table = Table::default();
    let engine = table.engine();
    let id = engine.open(By::actor("ada"), board()).await.unwrap().id;
    settle().await;
    assert_eq!(engine.driving(), 1);
    table.store.renew(engine.node(), None, Duration::ZERO).await.unwrap();
    assert_eq!(table.store.claim("another", &[id]).await.unwrap().len(), 1);
    engine.submit(id, By::actor("ada"), room::Command::Stop).await.unwrap();
    assert_eq!((engine.meter.fenced.load(SeqCst), engine.driving()), (1, 0));
}

/// What only a later version can read.
fn unknown(id: SessionId, expected: u64) -> Append {
    let event = NewEvent {
        name: "invented",
        payload: "{\"type\":\"invented\"}".into(),
        search: String::new(),
        listed: true,
    };
    Append {
        session: id,
        expected,
        epoch: None,
        kind: "boardroom",
        name: None,
        project: None,
        imported: false,
        title: "From a later version".into(),
        status: "answering",
        active: true,
        waits_for: vec![],
        actor: "ada".into(),
        at: Timestamp::UNIX_EPOCH,
        events: vec![event],
        attempts: vec![],
        idempotency: None,
        driver: None,
        wake_at: None,
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_tried_once() {
    let table = Table::default();
    let id: SessionId = "01890000-0000-7000-8000-000000000000".parse().unwrap();
    table.store.append(unknown(id, 0)).await.unwrap();
    let engine = table.engine();
    assert_eq!(engine.resume_all().await.unwrap(), 1);
    table.beats(4).await;
    assert_eq!(table.store.lock().row(id).unwrap().epoch, 1);
    assert_eq!(table.store.lock().driver(id), None, "it is left to whoever can read it");
}

/// A node of a later version has written to what one of an earlier version drives.
#[tokio::test]
async fn a_driver_gives_back_what_it_cannot_read_any_more() {
    let table = Table::default();
    let engine = table.engine();
    engine.resume_all().await.unwrap();
    let id = engine.open(By::actor("ada"), board()).await.unwrap().id;
    settle().await;
    assert!(table.store.lock().driver(id).is_some());
    table.store.append(unknown(id, 1)).await.unwrap();
    table.beats(2).await;
    assert_eq!((table.store.lock().driver(id), engine.driving()), (None, 0));
    let later = table.store.claim("later", &[id]).await.unwrap();
    assert_eq!(later.len(), 1);
    table.beats(2).await;
    assert_eq!(table.asked(), 1, "nobody is asked for what another goes on with");
}

/// All of it at once, and each gets a share: not so many with every beat.
#[tokio::test]
async fn others_share_what_a_dead_node_drove_when_its_lease_ends() {
    let table = Table::default();
    let count = limits::WAITING as usize + 2 * limits::TAKEN_OVER;
    let dead = Arc::new(ManualClock::default());
    let first = Engine::new(table.store.clone(), table.models.clone(), dead);
    first.resume_all().await.unwrap();
    for _ in 0..count {
        first.open(By::actor("ada"), board()).await.unwrap();
    }
    settle().await;
    let others = [table.engine(), table.engine()];
    for other in &others {
        assert_eq!(other.resume_all().await.unwrap(), 0);
    }
    // Its clock stands still, so that it does not renew its lease. The last look before that
    // is over tells when it will be.
    let wait = async |ms: u64| {
        table.store.lock().now_ms += ms;
        table.clock.advance(Duration::from_millis(ms));
        for _ in 0..count {
            settle().await;
        }
    };
    for _ in 0..limits::LEASE_MS / limits::BEAT_MS {
        wait(limits::BEAT_MS).await;
    }
    assert_eq!(others.each_ref().map(|other| other.driving()), [0, 0]);
    wait(limits::LEASE_MS % limits::BEAT_MS).await;
    let [one, other] = others.each_ref().map(|other| other.driving());
    assert_eq!((one + other, table.asked()), (count, 2 * count));
    assert!(one.min(other) >= limits::TAKEN_OVER, "{one} and {other}");
}

/// Whoever looks first does not get all of it, and what the others do not take is not left.
#[tokio::test]
async fn what_is_handed_back_is_spread_over_the_others() {
    let table = Table::default();
    let [first, second, third] = [table.engine(), table.engine(), table.engine()];
    for engine in [&first, &second, &third] {
        engine.resume_all().await.unwrap();
    }
    let count = limits::TAKEN_OVER;
    for _ in 0..count {
        first.open(By::actor("ada"), board()).await.unwrap();
    }
    settle().await;
    first.shut_down().await;
    table.beats(1).await;
    let shares = [&second, &third].map(|other| other.driving());
    assert_eq!(shares.iter().sum::<usize>(), count);
    assert!(shares.iter().all(|share| *share >= count / 8), "{shares:?}");
    // One that lives, but takes nothing over.
    let idle = table.engine();
    idle.open(By::actor("bob"), board()).await.unwrap();
    second.shut_down().await;
    table.beats(2).await;
    assert_eq!((third.driving(), idle.driving()), (count, 1));
}

#[tokio::test]
async fn a_key_that_lasts_brings_the_first_answer_however_often_it_comes() {
    let table = Table::default();
    let engine = table.engine();
    let id = engine.open(By::actor("ada"), board()).await.unwrap().id;
    let idempotency = Some(Idempotency {
        principal: "run".into(),
        key: "run/stop".into(),
        request_hash: "stop".into(),
        lasting: true,
    });
    let stop = By { idempotency, ..By::actor("run") };
    let stopped = engine.submit(id, stop.clone(), room::Command::Stop).await.unwrap();
    let resume = room::Command::Boardroom(boardroom::Command::Resume);
    let resumed = engine.submit(id, By::actor("ada"), resume).await.unwrap();
    engine.shut_down().await;
    let again = table.engine().submit(id, stop, room::Command::Stop).await.unwrap();
    assert_eq!((again.version, again.written), (resumed.version, stopped.written));
    let told = |snapshot: &Snapshot| format!("{:?}", snapshot.recorded);
    assert_eq!(told(&again), told(&stopped));
}

fn post(number: usize) -> room::Command {
    room::Command::Council(council::Command::Post {
        sender: "ada".into(),
        proved: true,
        body: format!("Post {number}."),
        reply_to: None,
    })
}

fn council() -> room::Command {
    room::Command::Council(council::Command::Open(council::Open {
        name: "weekly".into(),
        charter: "Talk.".into(),
        members: vec![],
        project: None,
        by: None,
        prices: Default::default(),
        budget: None,
    }))
}

/// A later version has written at the end of a log of two pages.
#[tokio::test]
async fn of_what_cannot_be_read_to_its_end_nothing_shows() {
    let table = Table::default();
    let engine = table.engine();
    let id = engine.open(By::actor("ada"), council()).await.unwrap().id;
    for number in 0..limits::EVENTS_PAGE as usize {
        engine.submit(id, By::actor("ada"), post(number)).await.unwrap();
    }
    let version = engine.get(id).await.unwrap().version;
    table.store.append(unknown(id, version)).await.unwrap();
    let later = table.engine();
    for _ in 0..2 {
        assert!(matches!(later.get(id).await, Err(EngineError::Store(_))));
    }
    assert!(matches!(
        later.submit(id, By::actor("ada"), post(0)).await,
        Err(EngineError::Store(_))
    ));
}

/// Whoever repeats one of two posts that were written together gets that one.
#[tokio::test]
async fn a_repeated_request_brings_back_its_own_events_alone() {
    let table = Table::default();
    let engine = table.engine();
    let id = engine.open(By::actor("ada"), council()).await.unwrap().id;
    let by = |key: &str| By {
        idempotency: Some(Idempotency {
            principal: "ada".into(),
            key: key.into(),
            request_hash: key.into(),
            lasting: false,
        }),
        ..By::actor("ada")
    };
    let (first, second) =
        tokio::join!(engine.submit(id, by("one"), post(1)), engine.submit(id, by("two"), post(2)));
    assert_eq!(first.unwrap().recorded.len(), 1);
    let again = engine.submit(id, by("two"), post(2)).await.unwrap();
    let versions = |snapshot: &Snapshot| -> Vec<u64> {
        snapshot.recorded.iter().map(|one| one.version).collect()
    };
    assert_eq!(versions(&again), versions(&second.unwrap()));
}

/// A long event is told by its place, and read there.
#[tokio::test]
async fn long_events_come_to_readers_of_all_sessions_in_their_turn() {
    let table = Table::default();
    let engine = table.engine();
    let all = engine.watch_all(0);
    let id = engine.open(By::actor("ada"), council()).await.unwrap().id;
    for body in ["short", &"long ".repeat(limits::NEWS_BYTES), "short again"] {
        let command = room::Command::Council(council::Command::Post {
            sender: "ada".into(),
            proved: true,
            body: body.into(),
            reply_to: None,
        });
        engine.submit(id, By::actor("ada"), command).await.unwrap();
    }
    let told: Vec<u64> = all.take(4).map(|event| event.version).collect().await;
    assert_eq!(told, [1, 2, 3, 4]);
}

/// Neither what only waits nor what is only read counts against the limit of what runs.
#[tokio::test]
async fn sessions_that_wait_for_months_keep_nobody_from_opening_another() {
    let table = Table::default();
    let engine = table.engine();
    engine.resume_all().await.unwrap();
    let mut readers = vec![];
    for number in 0..=limits::SESSIONS {
        let id = engine.open(By::actor("ada"), waits(number)).await.unwrap().id;
        readers.push(engine.watch(id, 0).await.unwrap());
    }
    assert_eq!(engine.loaded(), readers.len());
    drop(readers);
    assert_eq!(engine.loaded(), 0);
}

fn waits(number: usize) -> room::Command {
    let after_ms = 80 * 24 * 3_600_000;
    room::Command::Whiteboard(whiteboard::Command::Open(whiteboard::Open {
        name: format!("board-{number}"),
        topic: "Which one?".into(),
        project: None,
        by: AgentName("ada".into()),
        principal: None,
        admission: whiteboard::Admission::Open,
        debate: whiteboard::Visibility::Full,
        deadlines: vec![whiteboard::Deadline { phase: whiteboard::Phase::Blind, after_ms }],
        seats: vec![],
        prices: Default::default(),
        budget: None,
    }))
}

/// A clock whose chance fails once, so many times from now, and with it the rule that asks
/// for it.
struct Brittle {
    clock: Arc<ManualClock>,
    breaks_in: AtomicUsize,
}

impl Clock for Brittle {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn ticks(&self) -> u64 {
        self.clock.ticks()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.clock.sleep(time)
    }

    fn sleep_until(&self, until: Timestamp) -> BoxFuture<'static, ()> {
        self.clock.sleep_until(until)
    }

    fn chance(&self) -> u128 {
        let left = self.breaks_in.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
        assert_ne!(left, Ok(1), "planned");
        self.clock.chance()
    }

    fn new_id(&self) -> SessionId {
        self.clock.new_id()
    }
}

/// Models that answer at once.
struct Ready;

impl Models for Ready {
    fn ask(&self, _: Ask, _: String) -> BoxStream<'static, Result<Piece, ModelError>> {
        stream::iter([Ok(Piece::Text("Yes.".into())), Ok(Piece::End(Ending::Whole))]).boxed()
    }

    fn providers(&self) -> Vec<String> {
        vec!["silent".into()]
    }

    fn window_tokens(&self, _: &ModelName) -> u32 {
        8_192
    }

    fn catalog(&self) -> BoxFuture<'_, Vec<ProviderReport>> {
        Box::pin(async { vec![] })
    }
}

#[tokio::test]
async fn an_outcome_on_which_a_rule_fails_is_a_failure_that_shows() {
    let table = Table::default();
    let clock = Arc::new(Brittle { clock: table.clock.clone(), breaks_in: 0.into() });
    let engine = Engine::new(table.store.clone(), Arc::new(Ready), clock.clone());
    // The first is for the opening, the second for the outcome.
    clock.breaks_in.store(2, SeqCst);
    let id = engine.open(By::actor("ada"), board()).await.unwrap().id;
    settle().await;
    let snapshot = engine.get(id).await.unwrap();
    let room::Room::Boardroom(board) = &*snapshot.room else { panic!("no board") };
    let boardroom::Standing::Failed { failure, .. } = &board.advisors[0].standing else {
        panic!("{:?}", board.advisors[0].standing)
    };
    assert_eq!(failure.kind, FailureKind::Internal);
}

/// Errands that bring at once, or never find what they need, and how often one was sent for.
#[derive(Default)]
struct Prompt {
    sent: AtomicUsize,
    lacks: bool,
}

impl Errands for Prompt {
    fn run(
        &self,
        _: SessionId,
        _: Errand,
    ) -> BoxFuture<'static, Result<serde_json::Value, ErrandError>> {
        self.sent.fetch_add(1, SeqCst);
        let lacks = self.lacks;
        Box::pin(async move {
            tokio::task::yield_now().await;
            if lacks {
                let (kind, message) = (FailureKind::Unreachable, "Nobody is there.".to_owned());
                let failure = Failure { kind, message, attempts: 1, usage: Usage::default() };
                return Err(ErrandError::Passing(failure));
            }
            Ok(serde_json::json!({ "model": "silent/m" }))
        })
    }
}

/// A run of one step that asks.
async fn asking(engine: &Arc<Engine>) -> SessionId {
    let id: SessionId = "01890000-0000-7000-8000-000000000001".parse().unwrap();
    let begin = workflow::Begin {
        run: id,
        source: "name: a\nsteps: { q: { ask: { prompt: Which one? } } }".into(),
        inputs: Default::default(),
        starter: None,
        parent: None,
        fork: None,
        most: Default::default(),
    };
    let begin = room::Command::Workflow(workflow::Command::Begin(Box::new(begin)));
    let opened = engine.open_as(id, By::actor("ada"), begin).await.unwrap();
    assert_eq!(opened.version, 2);
    id
}

#[tokio::test]
async fn nothing_is_sent_for_again_and_again_when_another_has_removed_the_session() {
    let table = Table::default();
    let (engine, errands) = (table.engine(), Arc::new(Prompt::default()));
    engine.send(errands.clone());
    let id = asking(&engine).await;
    // By another node: this one hears of it with what it writes next.
    assert!(table.store.remove(id).await.unwrap());
    settle().await;
    assert_eq!(errands.sent.load(SeqCst), 1);
    assert!(matches!(engine.get(id).await, Err(EngineError::NotFound(_))));
}

#[tokio::test]
async fn what_may_be_there_in_a_moment_is_looked_for_again_but_not_for_ever() {
    let table = Table::default();
    let engine = table.engine();
    let errands = Arc::new(Prompt { lacks: true, ..Prompt::default() });
    engine.send(errands.clone());
    let id = asking(&engine).await;
    table.beats(60).await;
    assert_eq!(errands.sent.load(SeqCst), 1 + limits::ERRAND_AGAIN as usize);
    let snapshot = engine.get(id).await.unwrap();
    let run = snapshot.room.workflow().unwrap();
    assert_eq!(run.status(), "failed", "{run:?}");
}
