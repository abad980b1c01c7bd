use std::sync::atomic::AtomicBool;
use std::task::Wake;

use futures::FutureExt as _;
use futures::channel::mpsc::{UnboundedSender, unbounded};
use futures::future::BoxFuture;
use plenary_domain::{Ask, ModelName};
use uuid::Uuid;

use super::*;
use crate::ports::{Ending, Models, ProviderReport};
use crate::testkit::{ManualClock, MemoryStore};

struct Nobody;

impl Models for Nobody {
    fn ask(&self, _: Ask, _: String) -> BoxStream<'static, Result<Piece, ModelError>> {
        futures::stream::pending().boxed()
    }

    fn providers(&self) -> Vec<String> {
        vec![]
    }

    fn window_tokens(&self, _: &ModelName) -> u32 {
        0
    }

    fn catalog(&self) -> BoxFuture<'_, Vec<ProviderReport>> {
        Box::pin(async { vec![] })
    }
}

const TURN: Duration = Duration::from_millis(limits::GATHER_MOST_MS);
const STEP: Duration = Duration::from_millis(limits::GATHER_STEP_MS);

fn engine(calls: u64) -> (Arc<Engine>, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::default());
    let engine = Engine::new(Arc::<MemoryStore>::default(), Arc::new(Nobody), clock.clone());
    engine.meter.calls_running.store(calls, Relaxed);
    (engine, clock)
}

type Sender = UnboundedSender<Result<Piece, ModelError>>;

/// A session whose id is 0 has its turns at multiples of their length.
fn stream(engine: &Engine) -> (Sender, Gathered<'_>) {
    let (say, said) = unbounded();
    (say, Gathered::new(engine, SessionId(Uuid::nil()), said.boxed()))
}

fn say(to: &Sender, word: &str) {
    to.unbounded_send(Ok(Piece::Text(word.to_owned()))).unwrap();
}

/// All that can be taken now.
fn taken(stream: &mut Gathered) -> String {
    let mut taken = String::new();
    while let Some(Some(piece)) = stream.next().now_or_never() {
        match piece {
            Ok(Piece::Text(text)) => taken += &text,
            Ok(Piece::End(_)) => taken += "end",
            other => panic!("{other:?}"),
        }
    }
    taken
}

#[tokio::test]
async fn with_few_calls_nothing_waits() {
    let (engine, _clock) = engine(limits::GATHER_CALLS_PER_MS * limits::GATHER_STEP_MS - 1);
    let (to, mut stream) = stream(&engine);
    for word in ["one", "two", "three"] {
        say(&to, word);
        assert_eq!(taken(&mut stream), word);
    }
}

#[tokio::test]
async fn with_many_calls_what_follows_the_first_word_comes_with_the_next_turn() {
    let (engine, clock) = engine(5_000);
    let (to, mut stream) = stream(&engine);
    clock.advance(STEP);
    say(&to, "one");
    assert_eq!(taken(&mut stream), "one");
    say(&to, "two");
    say(&to, "three");
    assert_eq!(taken(&mut stream), "");
    clock.advance(TURN - STEP * 2);
    assert_eq!(taken(&mut stream), "");
    clock.advance(STEP);
    assert_eq!(taken(&mut stream), "twothree");
    to.unbounded_send(Ok(Piece::End(Ending::Whole))).unwrap();
    assert_eq!(taken(&mut stream), "");
    clock.advance(TURN);
    assert_eq!(taken(&mut stream), "end");
}

#[tokio::test]
async fn after_a_silence_of_a_turn_nothing_waits() {
    let (engine, clock) = engine(5_000);
    let (to, mut stream) = stream(&engine);
    for word in ["one", "two", "three"] {
        say(&to, word);
        assert_eq!(taken(&mut stream), word);
        clock.advance(TURN);
        assert_eq!(taken(&mut stream), "");
    }
}

#[tokio::test]
async fn whoever_waits_for_a_turn_is_woken_by_it_and_not_by_words() {
    let (engine, clock) = engine(5_000);
    let (to, mut stream) = stream(&engine);
    say(&to, "one");
    assert_eq!(taken(&mut stream), "one");
    let mut waiting = Watched::new(stream.next());
    assert!(waiting.poll().is_pending());
    say(&to, "two");
    assert!(!waiting.is_woken());
    // The clock of all turns goes in steps.
    for _ in 0..limits::GATHER_MOST_MS / limits::GATHER_STEP_MS {
        clock.until_asleep(1, Duration::ZERO..=STEP).await;
        clock.advance(STEP);
        tokio::task::yield_now().await;
    }
    assert!(waiting.is_woken());
    assert!(matches!(waiting.poll(), Poll::Ready(Some(Ok(Piece::Text(_))))));
}

/// A future of which it is known whether it was woken.
struct Watched<F> {
    future: Pin<Box<F>>,
    woken: Arc<Woken>,
}

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Relaxed);
    }
}

impl<F: Future> Watched<F> {
    fn new(future: F) -> Self {
        Watched { future: Box::pin(future), woken: Arc::default() }
    }

    fn poll(&mut self) -> Poll<F::Output> {
        self.woken.0.store(false, Relaxed);
        let waker = Waker::from(self.woken.clone());
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }

    fn is_woken(&self) -> bool {
        self.woken.0.load(Relaxed)
    }
}

#[test]
fn a_turn_is_as_long_as_calls_are_many() {
    for (calls, expected) in
        [(0, 0), (1, 0), (49, 0), (50, 1), (100, 2), (499, 9), (500, 10), (100_000, 10)]
    {
        assert_eq!(steps(calls), expected, "{calls}");
    }
}

#[test]
fn turns_follow_each_other_at_the_same_distance_and_readers_come_after_streams() {
    for id in 0..50 {
        let session = SessionId(Uuid::from_u128(id));
        for ticks in 1..=10 {
            let mut now = 1_000 + id as u64;
            let first = after(now, ticks, session, Part::Streams);
            assert!((1..=ticks).contains(&(first - now)));
            now = first;
            for _ in 0..3 {
                let turn = after(now, ticks, session, Part::Streams);
                assert_eq!(turn, now + ticks);
                assert_eq!(after(now, ticks, session, Part::Readers), now + 1);
                now = turn;
            }
        }
    }
}
