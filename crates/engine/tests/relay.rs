//! Readers at one node of what is said at another, on a store in memory that both share.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures::FutureExt as _;
use futures::channel::mpsc::{UnboundedSender, unbounded};
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, StreamExt};
use plenary_domain::boardroom::{self, Convene, Role, Seat, SeatId, Sitter};
use plenary_domain::{Ask, ModelName, SessionId, limits, room};
use plenary_engine::ports::{
    Ending, ModelError, Models, Peers, Piece, ProviderReport, Said, Store,
};
use plenary_engine::testkit::{ManualClock, MemoryStore};
use plenary_engine::{By, Engine, Frame};

type Voice = UnboundedSender<Result<Piece, ModelError>>;

/// Models that say what a test lets them say.
#[derive(Default)]
struct Voices(Mutex<Vec<Voice>>);

impl Voices {
    fn say(&self, number: usize, text: &str) {
        let piece = Piece::Text(text.to_owned());
        self.0.lock().unwrap()[number].unbounded_send(Ok(piece)).unwrap();
    }

    fn end(&self, number: usize) {
        let ending = Piece::End(Ending::Whole);
        self.0.lock().unwrap()[number].unbounded_send(Ok(ending)).unwrap();
    }
}

impl Models for Voices {
    fn ask(&self, _: Ask, _: String) -> BoxStream<'static, Result<Piece, ModelError>> {
        let (voice, said) = unbounded();
        self.0.lock().unwrap().push(voice);
        said.boxed()
    }

    fn providers(&self) -> Vec<String> {
        vec!["voices".into()]
    }

    fn window_tokens(&self, _: &ModelName) -> u32 {
        8_192
    }

    fn catalog(&self) -> BoxFuture<'_, Vec<ProviderReport>> {
        Box::pin(async { vec![] })
    }
}

/// Every node's engine by its address, and how many ways there are to each. A way can be
/// cut.
#[derive(Default)]
struct Ways {
    nodes: Mutex<BTreeMap<String, Weak<Engine>>>,
    ways: Mutex<Vec<Arc<tokio::sync::Notify>>>,
}

impl Ways {
    fn count(&self) -> usize {
        self.ways.lock().unwrap().len()
    }

    fn cut(&self) {
        self.ways.lock().unwrap().iter().for_each(|way| way.notify_one());
    }
}

impl Peers for Ways {
    fn words(&self, address: &str, id: SessionId) -> BoxStream<'static, Said> {
        let node = self.nodes.lock().unwrap().get(address).and_then(Weak::upgrade);
        let cut: Arc<tokio::sync::Notify> = Arc::default();
        self.ways.lock().unwrap().push(cut.clone());
        let Some(node) = node else { return stream::empty().boxed() };
        let words = async move { node.words(id).await.unwrap().boxed() };
        stream::once(words).flatten().take_until(async move { cut.notified().await }).boxed()
    }
}

#[derive(Default)]
struct Table {
    store: Arc<MemoryStore>,
    voices: Arc<Voices>,
    clock: Arc<ManualClock>,
    ways: Arc<Ways>,
}

impl Table {
    async fn node(&self, address: &str) -> Arc<Engine> {
        self.node_by(self.clock.clone(), address).await
    }

    /// Whose clock stands still sleeps for good.
    async fn node_by(&self, clock: Arc<ManualClock>, address: &str) -> Arc<Engine> {
        let engine = Engine::new(self.store.clone(), self.voices.clone(), clock);
        self.ways.nodes.lock().unwrap().insert(address.to_owned(), Arc::downgrade(&engine));
        engine.join(self.ways.clone(), Some(address.to_owned()));
        engine.resume_all().await.unwrap();
        engine
    }

    async fn beats(&self, count: usize) {
        for _ in 0..count {
            settle().await;
            self.store.lock().now_ms += limits::BEAT_MS;
            self.clock.advance(Duration::from_millis(limits::BEAT_MS));
        }
        settle().await;
    }
}

/// On one thread, everything that can go on has done so after this.
async fn settle() {
    for _ in 0..400 {
        tokio::task::yield_now().await;
    }
}

fn board() -> room::Command {
    let model = ModelName::new("voices", "m");
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

/// What a reader was told, in short.
struct Reader {
    frames: BoxStream<'static, Frame>,
}

impl Reader {
    async fn at(node: &Arc<Engine>, id: SessionId) -> Reader {
        Reader { frames: node.watch(id, 0).await.unwrap().boxed() }
    }

    /// Everything that has come by now.
    async fn told(&mut self) -> Vec<String> {
        let mut told = vec![];
        for _ in 0..400 {
            let frame = self.frames.next().now_or_never().flatten();
            tokio::task::yield_now().await;
            told.extend(frame.map(|frame| match frame {
                Frame::Event(event) => event.name.clone(),
                Frame::Delta(delta) => {
                    format!("{}.{} {} {:?}", delta.call, delta.attempt, delta.offset, delta.text)
                }
                other => format!("{other:?}"),
            }));
        }
        told
    }
}

#[tokio::test]
async fn a_reader_elsewhere_hears_what_is_said_and_late_ones_share_the_way() {
    let table = Table::default();
    let (here, there) = (table.node("here").await, table.node("there").await);
    let id = there.open(By::actor("ada"), board()).await.unwrap().id;
    settle().await;
    table.voices.say(0, "one ");
    let mut reader = Reader::at(&here, id).await;
    assert_eq!(reader.told().await, ["convened", "advisor/1#1.1 0 \"one \""]);
    table.voices.say(0, "two");
    assert_eq!(reader.told().await, ["advisor/1#1.1 4 \"two\""]);
    let mut late = Reader::at(&here, id).await;
    assert_eq!(late.told().await, ["convened", "advisor/1#1.1 0 \"one two\""]);
    assert_eq!(table.ways.count(), 1);
    // What it said is in the log once it is done, and heard from there.
    table.voices.end(0);
    table.beats(1).await;
    assert_eq!(reader.told().await, ["advisorAnswered", "synthesisBegan"]);
    table.voices.say(1, "So ");
    assert_eq!(reader.told().await, ["synthesis/1#1.1 0 \"So \""]);
    assert_eq!(table.ways.count(), 1);
}

#[tokio::test]
async fn a_way_that_was_cut_is_found_again_and_nothing_comes_twice() {
    let table = Table::default();
    let (here, there) = (table.node("here").await, table.node("there").await);
    let id = there.open(By::actor("ada"), board()).await.unwrap().id;
    settle().await;
    let mut reader = Reader::at(&here, id).await;
    settle().await;
    table.voices.say(0, "one ");
    assert_eq!(reader.told().await, ["convened", "advisor/1#1.1 0 \"one \""]);
    table.ways.cut();
    settle().await;
    table.voices.say(0, "two");
    assert_eq!(reader.told().await, [""; 0]);
    table.clock.advance(Duration::from_millis(limits::RELAY_PAUSE_MS));
    assert_eq!(reader.told().await, ["advisor/1#1.1 4 \"two\""]);
    assert_eq!(table.ways.count(), 2);
}

#[tokio::test]
async fn readers_stay_when_the_driver_dies_and_hear_the_next_one() {
    let table = Table::default();
    let here = table.node("here").await;
    let there = table.node_by(Arc::default(), "there").await;
    let id = there.open(By::actor("ada"), board()).await.unwrap().id;
    settle().await;
    let third = table.node("third").await;
    let mut reader = Reader::at(&here, id).await;
    table.voices.say(0, "half");
    assert_eq!(reader.told().await, ["convened", "advisor/1#1.1 0 \"half\""]);
    table.beats(5).await;
    let driver = table.store.driver(id).await.unwrap().unwrap().address.unwrap();
    assert!(["here", "third"].contains(&driver.as_str()), "{driver}");
    table.voices.say(1, "anew");
    assert_eq!(reader.told().await, ["advisor/1#1.2 0 \"anew\""]);
    drop(third);
}

#[tokio::test]
async fn a_session_that_nobody_reads_any_more_has_no_way() {
    let table = Table::default();
    let (here, there) = (table.node("here").await, table.node("there").await);
    let id = there.open(By::actor("ada"), board()).await.unwrap().id;
    settle().await;
    let reader = Reader::at(&here, id).await;
    settle().await;
    assert_eq!(table.ways.count(), 1);
    let readers = || there.meter.readers.load(std::sync::atomic::Ordering::SeqCst);
    assert_eq!(readers(), 1);
    drop(reader);
    table.beats(2).await;
    assert_eq!(readers(), 0, "the way is closed");
}
