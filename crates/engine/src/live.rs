//! Fan-out of one session's events and token deltas to whoever reads along.
//!
//! The channel is bounded and shared: a reader that falls behind loses frames
//! and resyncs from the log; it never slows the writer. Text is gathered in one
//! place per running call, so that a late reader first gets the text so far.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plenary_domain::{CallId, limits};
use tokio::sync::broadcast;

use crate::ports::StoredEvent;

/// What a reader of one session gets.
#[derive(Clone, Debug)]
pub enum Frame {
    /// Durable, in order, exactly once.
    Event(Arc<StoredEvent>),
    /// A piece of a running answer. Offset 0 begins the text anew.
    Delta(Arc<Delta>),
    /// A request failed in a way that may pass, and is made again.
    Retrying(Arc<Retrying>),
    /// A model is busy with others; the call has this place in its line.
    Waiting(Arc<Waiting>),
    /// The session was removed; nothing follows.
    Removed,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delta {
    pub call: CallId,
    pub attempt: u32,
    /// Bytes of text before this piece.
    pub offset: usize,
    pub text: String,
    /// The model's thinking, not its answer.
    pub reasoning: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Retrying {
    pub call: CallId,
    pub attempt: u32,
    pub wait_ms: u64,
    pub message: String,
}

/// What a call that is under way has brought so far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Underway {
    pub attempt: u32,
    pub text: String,
    pub reasoning: String,
    /// The attempt has failed, and another one follows.
    pub retrying: Option<Arc<Retrying>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waiting {
    pub call: CallId,
    pub attempt: u32,
    pub place: usize,
}

pub(crate) struct Live {
    inner: Mutex<Inner>,
    frames: broadcast::Sender<Numbered>,
}

#[derive(Default)]
struct Inner {
    sequence: u64,
    /// The last events without a gap between them, at most as many as a reader may
    /// fall behind. All readers share them: one that resyncs copies no answers.
    events: VecDeque<Arc<StoredEvent>>,
    calls: BTreeMap<CallId, Running>,
}

#[derive(Default)]
struct Running {
    attempt: u32,
    text: Told,
    reasoning: Told,
    retrying: Option<Arc<Retrying>>,
}

/// A text, and what readers have been told of it. The pieces that were told are
/// joined up to a size and shared: many late readers cost no copies of the text.
#[derive(Default)]
struct Told {
    text: String,
    bytes: usize,
    pieces: Vec<Arc<Delta>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Numbered {
    pub sequence: u64,
    pub frame: Frame,
}

/// What a reader that joins now must be told first. Frames up to `sequence` are
/// contained in it.
pub(crate) struct Joined {
    pub sequence: u64,
    pub so_far: Vec<Frame>,
}

impl Live {
    pub fn new() -> Self {
        let (frames, _) = broadcast::channel(limits::LIVE_FRAMES);
        Live { inner: Mutex::default(), frames }
    }

    pub fn subscribe(&self) -> broadcast::Receiver<Numbered> {
        self.frames.subscribe()
    }

    pub fn join(&self) -> Joined {
        let inner = self.lock();
        let so_far = inner.calls.values().flat_map(Running::so_far).collect();
        Joined { sequence: inner.sequence, so_far }
    }

    pub fn event(&self, event: Arc<StoredEvent>) {
        let mut inner = self.lock();
        if inner.events.back().is_some_and(|last| last.version + 1 != event.version) {
            inner.events.clear();
        }
        if inner.events.len() == limits::LIVE_FRAMES {
            inner.events.pop_front();
        }
        inner.events.push_back(event.clone());
        inner.send(&self.frames, Frame::Event(event));
    }

    /// All events that were published after a version, if none of them is missing.
    pub fn events_after(&self, version: u64) -> Option<Vec<Arc<StoredEvent>>> {
        let inner = self.lock();
        let first = inner.events.front()?.version;
        let after = inner.events.iter().filter(|event| event.version > version);
        (first <= version + 1).then(|| after.cloned().collect())
    }

    /// The event at a version, if it is one of the last.
    pub fn event_at(&self, version: u64) -> Option<Arc<StoredEvent>> {
        let inner = self.lock();
        let first = inner.events.front()?.version;
        let place = usize::try_from(version.checked_sub(first)?).ok()?;
        inner.events.get(place).cloned()
    }

    /// Lets go of all but so many of the last events.
    pub fn forget_events_but(&self, count: usize) {
        let mut inner = self.lock();
        let over = inner.events.len().saturating_sub(count);
        inner.events.drain(..over);
    }

    pub fn removed(&self) {
        let mut inner = self.lock();
        inner.events.clear();
        inner.send(&self.frames, Frame::Removed);
    }

    /// A new attempt at a call: its text begins anew.
    pub fn begin(&self, call: &CallId, attempt: u32) {
        let running = Running { attempt, ..Running::default() };
        self.lock().calls.insert(call.clone(), running);
    }

    pub fn retrying(&self, retrying: Retrying) {
        let retrying = Arc::new(retrying);
        let mut inner = self.lock();
        if let Some(running) = inner.calls.get_mut(&retrying.call) {
            running.retrying = Some(retrying.clone());
        }
        inner.send(&self.frames, Frame::Retrying(retrying));
    }

    pub fn waiting(&self, waiting: Waiting) {
        self.lock().send(&self.frames, Frame::Waiting(Arc::new(waiting)));
    }

    /// Takes in a piece; `flush` tells it to readers.
    pub fn push(&self, call: &CallId, piece: &str, reasoning: bool) {
        if let Some(running) = self.lock().calls.get_mut(call) {
            running.retrying = None;
            running.told(reasoning).text.push_str(piece);
        }
    }

    pub fn flush(&self, call: &CallId) {
        let mut inner = self.lock();
        let Some(running) = inner.calls.get_mut(call) else { return };
        let attempt = running.attempt;
        for reasoning in [true, false] {
            let Some(running) = inner.calls.get_mut(call) else { return };
            let told = running.told(reasoning);
            if told.bytes == told.text.len() {
                continue;
            }
            let (offset, text) = (told.bytes, told.text[told.bytes..].to_owned());
            let delta = Arc::new(Delta { call: call.clone(), attempt, offset, text, reasoning });
            told.keep(delta.clone());
            inner.send(&self.frames, Frame::Delta(delta));
        }
    }

    /// A running call so far, told or not.
    pub fn underway(&self, call: &CallId) -> Option<Underway> {
        let inner = self.lock();
        let running = inner.calls.get(call)?;
        Some(Underway {
            attempt: running.attempt,
            text: running.text.text.clone(),
            reasoning: running.reasoning.text.clone(),
            retrying: running.retrying.clone(),
        })
    }

    /// The text of a running call so far, told or not.
    pub fn text(&self, call: &CallId) -> String {
        self.lock().calls.get(call).map(|running| running.text.text.clone()).unwrap_or_default()
    }

    pub fn reasoning(&self, call: &CallId) -> String {
        let inner = self.lock();
        inner.calls.get(call).map(|running| running.reasoning.text.clone()).unwrap_or_default()
    }

    /// Ends a call: its attempt, text and reasoning.
    pub fn end(&self, call: &CallId) -> Option<(u32, String, String)> {
        let running = self.lock().calls.remove(call)?;
        Some((running.attempt, running.text.text, running.reasoning.text))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Numbers and sends under the lock, so that frames arrive in order.
    fn send(&mut self, frames: &broadcast::Sender<Numbered>, frame: Frame) {
        self.sequence += 1;
        // Nobody reading is no error.
        let _ = frames.send(Numbered { sequence: self.sequence, frame });
    }
}

impl Running {
    fn told(&mut self, reasoning: bool) -> &mut Told {
        if reasoning { &mut self.reasoning } else { &mut self.text }
    }

    fn so_far(&self) -> impl Iterator<Item = Frame> {
        let pieces = self.reasoning.pieces.iter().chain(&self.text.pieces);
        let retrying = self.retrying.iter().cloned().map(Frame::Retrying);
        // The text of an attempt comes before the word that it is made again.
        pieces.cloned().map(Frame::Delta).chain(retrying)
    }
}

impl Told {
    fn keep(&mut self, piece: Arc<Delta>) {
        self.bytes += piece.text.len();
        self.pieces.push(piece);
        // Joined with one of about its own size, each byte is copied a few times.
        while let [.., left, right] = self.pieces.as_slice()
            && left.text.len() <= 2 * right.text.len()
            && left.text.len() + right.text.len() <= limits::SO_FAR_BYTES
        {
            let text = format!("{}{}", left.text, right.text);
            let joined = Delta { text, ..(**left).clone() };
            self.pieces.truncate(self.pieces.len() - 2);
            self.pieces.push(Arc::new(joined));
        }
    }
}
