//! Gathering words, when much is said at once.
//!
//! A model's stream that has brought something is not looked at again before the next
//! turn of its session, and a live reader that has told something waits for the turn
//! after that. Meanwhile the system gathers what comes: one wake, one read and one write
//! then carry several tokens. How long a turn is depends on how many calls run. With few
//! there are no turns and nothing waits; and what comes after a silence longer than a turn
//! never does.
//!
//! All who wait share one clock, and sessions have their turns at different times, so that
//! not everybody wakes at once.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures::Stream;
use futures::stream::{BoxStream, StreamExt as _};
use plenary_domain::{SessionId, limits};

use crate::engine::Engine;
use crate::ports::{Clock, ModelError, Piece};

/// Where everybody waits for their turn. It ticks only while somebody does.
#[derive(Default)]
pub(crate) struct Turns {
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    /// By the tick that they wait for.
    by_tick: BTreeMap<u64, Vec<Waker>>,
    is_ticking: bool,
}

/// What has its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    /// The streams of models.
    Streams,
    /// Readers, one tick later: all streams of their session have been read by then.
    Readers,
}

impl Engine {
    /// When readers of a session who tell something now have their next turn; `None` if
    /// they need not wait.
    pub(crate) fn readers_turn(&self, session: SessionId) -> Option<u64> {
        self.next_turn(session, Part::Readers)
    }

    /// Returns when a turn has come.
    pub(crate) async fn turn(&self, tick: u64) {
        let mut waits = None;
        std::future::poll_fn(|cx| self.poll_turn(tick, &mut waits, cx)).await;
    }

    fn next_turn(&self, session: SessionId, part: Part) -> Option<u64> {
        let ticks = steps(self.meter.calls_running.load(Relaxed));
        let now = self.clock.ticks() / limits::GATHER_STEP_MS;
        (ticks > 0).then(|| after(now, ticks, session, part))
    }

    fn poll_turn(&self, tick: u64, waits: &mut Option<Waker>, cx: &Context<'_>) -> Poll<()> {
        if self.clock.ticks() / limits::GATHER_STEP_MS >= tick {
            return Poll::Ready(());
        }
        if waits.as_ref().is_none_or(|waker| !waker.will_wake(cx.waker())) {
            *waits = Some(cx.waker().clone());
            Turns::wait(&self.turns, &self.clock, tick, cx.waker().clone());
        }
        Poll::Pending
    }
}

/// Steps of a turn, by how many calls run.
fn steps(calls: u64) -> u64 {
    (calls / limits::GATHER_CALLS_PER_MS).min(limits::GATHER_MOST_MS) / limits::GATHER_STEP_MS
}

fn after(now: u64, ticks: u64, session: SessionId, part: Part) -> u64 {
    let place = (session.0.as_u128() % u128::from(ticks)) as u64;
    let place = match part {
        Part::Streams => place,
        Part::Readers => (place + 1) % ticks,
    };
    now + 1 + (place + ticks - (now + 1) % ticks) % ticks
}

impl Turns {
    fn wait(turns: &Arc<Turns>, clock: &Arc<dyn Clock>, tick: u64, waker: Waker) {
        let mut waiting = turns.lock();
        waiting.by_tick.entry(tick).or_default().push(waker);
        if !std::mem::replace(&mut waiting.is_ticking, true) {
            tokio::spawn(turns.clone().run(clock.clone()));
        }
    }

    async fn run(self: Arc<Self>, clock: Arc<dyn Clock>) {
        loop {
            let ticks = clock.ticks();
            let wait = limits::GATHER_STEP_MS - ticks % limits::GATHER_STEP_MS;
            clock.sleep(Duration::from_millis(wait)).await;
            let Some(over) = self.over(clock.ticks() / limits::GATHER_STEP_MS) else { return };
            over.into_values().flatten().for_each(Waker::wake);
        }
    }

    /// Who need not wait any more; `None` when nobody does.
    fn over(&self, now: u64) -> Option<BTreeMap<u64, Vec<Waker>>> {
        let mut waiting = self.lock();
        waiting.is_ticking = !waiting.by_tick.is_empty();
        let later = waiting.by_tick.split_off(&(now + 1));
        waiting.is_ticking.then(|| std::mem::replace(&mut waiting.by_tick, later))
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A model's stream, looked at in turns.
pub(crate) struct Gathered<'a> {
    engine: &'a Engine,
    session: SessionId,
    pieces: BoxStream<'static, Result<Piece, ModelError>>,
    /// It has begun: what comes first comes at once.
    has_begun: bool,
    /// It has brought something since its last turn.
    has_brought: bool,
    /// The tick of its next turn, and who is to be woken then.
    turn: Option<(u64, Option<Waker>)>,
}

impl<'a> Gathered<'a> {
    pub fn new(
        engine: &'a Engine,
        session: SessionId,
        pieces: BoxStream<'static, Result<Piece, ModelError>>,
    ) -> Self {
        let (has_begun, has_brought, turn) = (false, false, None);
        Gathered { engine, session, pieces, has_begun, has_brought, turn }
    }

    /// Looks at the stream; when it has nothing more, whoever looks is woken by what comes
    /// next, or comes again with its next turn.
    fn look(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Piece, ModelError>>> {
        let turn = self.engine.next_turn(self.session, Part::Streams).filter(|_| self.has_begun);
        let Some(tick) = turn else { return self.pieces.poll_next_unpin(cx) };
        let mut quiet = Context::from_waker(Waker::noop());
        let piece = self.pieces.poll_next_unpin(&mut quiet);
        if piece.is_ready() {
            return piece;
        }
        if !self.has_brought {
            return self.pieces.poll_next_unpin(cx);
        }
        self.has_brought = false;
        self.turn = Some((tick, None));
        self.poll_next_unpin(cx)
    }
}

impl Stream for Gathered<'_> {
    type Item = Result<Piece, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let engine = self.engine;
        if let Some((tick, waits)) = &mut self.turn {
            if engine.poll_turn(*tick, waits, cx).is_pending() {
                return Poll::Pending;
            }
            self.turn = None;
        }
        let piece = self.look(cx);
        if piece.is_ready() {
            (self.has_begun, self.has_brought) = (true, true);
        }
        piece
    }
}

#[cfg(test)]
mod tests;
