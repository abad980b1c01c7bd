//! Fan-out of one session's events and token deltas to whoever reads along.
//!
//! The channel is bounded and shared: a reader that falls behind loses frames
//! and resyncs from the log; it never slows the writer. Text is gathered in one
//! place per running call, so that a late reader first gets the text so far.

use std::collections::BTreeMap;
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
    calls: BTreeMap<CallId, Running>,
}

#[derive(Default)]
struct Running {
    attempt: u32,
    text: Told,
    reasoning: Told,
    retrying: Option<Arc<Retrying>>,
}

/// A text, and how much of it readers have been told.
#[derive(Default)]
struct Told {
    text: String,
    told: usize,
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
        let so_far = inner.calls.iter().flat_map(|(call, running)| running.so_far(call)).collect();
        Joined { sequence: inner.sequence, so_far }
    }

    pub fn event(&self, event: Arc<StoredEvent>) {
        self.lock().send(&self.frames, Frame::Event(event));
    }

    pub fn removed(&self) {
        self.lock().send(&self.frames, Frame::Removed);
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
            if told.told == told.text.len() {
                continue;
            }
            let (offset, text) = (told.told, told.text[told.told..].to_owned());
            told.told = told.text.len();
            let delta = Delta { call: call.clone(), attempt, offset, text, reasoning };
            inner.send(&self.frames, Frame::Delta(Arc::new(delta)));
        }
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

    fn so_far(&self, call: &CallId) -> Vec<Frame> {
        let mut frames: Vec<Frame> = self.retrying.iter().cloned().map(Frame::Retrying).collect();
        for (told, reasoning) in [(&self.reasoning, true), (&self.text, false)] {
            if told.told > 0 {
                frames.push(Frame::Delta(Arc::new(Delta {
                    call: call.clone(),
                    attempt: self.attempt,
                    offset: 0,
                    text: told.text[..told.told].to_owned(),
                    reasoning,
                })));
            }
        }
        frames
    }
}
