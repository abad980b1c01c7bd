//! Fan-out of one session's events and token deltas to whoever reads along.
//!
//! The channel is bounded and shared: a reader that falls behind loses frames
//! and resyncs from the log; it never slows the writer. Text is gathered in one
//! place per running call. A reader that has nothing else to hand out takes what has
//! come since the last time and tells it to all: much is told together, little at
//! once, and what nobody reads costs nothing.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plenary_domain::{Amount, CallId, Usage, limits};
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, broadcast, watch};

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

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Delta {
    pub call: CallId,
    pub attempt: u32,
    /// Bytes of text before this piece.
    pub offset: usize,
    pub text: String,
    /// The model's thinking, not its answer.
    pub reasoning: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
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

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Waiting {
    pub call: CallId,
    pub attempt: u32,
    pub place: usize,
}

pub(crate) struct Live {
    inner: Mutex<Inner>,
    frames: broadcast::Sender<Numbered>,
    /// Counts what was said, and what else `underway` tells.
    said: AtomicU64,
    /// Somebody has spoken after all had been told.
    spoken: Notify,
    /// Marked with every event, for those who want no words.
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct Inner {
    sequence: u64,
    /// Some text has not been told.
    untold: bool,
    /// The last events without a gap between them, at most as many as a reader may
    /// fall behind. All readers share them: one that resyncs copies no answers.
    events: VecDeque<Arc<StoredEvent>>,
    calls: BTreeMap<CallId, Running>,
    reserved: Amount,
}

#[derive(Default)]
struct Running {
    attempt: u32,
    text: Told,
    reasoning: Told,
    retrying: Option<Arc<Retrying>>,
    spent: Spent,
    /// It runs at another node.
    is_elsewhere: bool,
    /// Readers are told nothing of it.
    is_secret: bool,
}

/// What a running call has taken so far, where its provider says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Spent {
    /// By attempts before this one.
    pub earlier: Usage,
    /// By the attempt under way.
    pub attempt: Usage,
}

impl Spent {
    pub fn all(&self) -> Usage {
        self.earlier.plus(self.attempt)
    }
}

/// A text, how much of it readers have been told, and the pieces in which late ones
/// get that. They are made when one comes, joined up to a size, and shared: many
/// late readers cost no copies of the text.
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
        let (changed, _) = watch::channel(());
        let said = AtomicU64::new(0);
        Live { inner: Mutex::default(), frames, said, spoken: Notify::new(), changed }
    }

    pub fn subscribe(&self) -> broadcast::Receiver<Numbered> {
        self.frames.subscribe()
    }

    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    pub fn join(&self) -> Joined {
        let mut inner = self.lock();
        inner.tell(&self.frames);
        let so_far = inner.calls.iter_mut().flat_map(|(call, one)| one.so_far(call)).collect();
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
        // Readers have all of a call's text before they are told how it ended.
        inner.tell(&self.frames);
        inner.send(&self.frames, Frame::Event(event));
        self.changed.send_replace(());
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
        self.changed.send_replace(());
    }

    /// A new attempt at a call: its text begins anew. Of a secret one readers are told
    /// nothing.
    pub fn begin(&self, call: &CallId, attempt: u32, is_secret: bool) {
        let running = Running { attempt, is_secret, ..Running::default() };
        self.lock().calls.insert(call.clone(), running);
        self.said.fetch_add(1, Release);
    }

    pub fn retrying(&self, retrying: Retrying) {
        let retrying = Arc::new(retrying);
        let mut inner = self.lock();
        inner.tell(&self.frames);
        if let Some(running) = inner.calls.get_mut(&retrying.call) {
            if running.is_secret {
                return;
            }
            running.retrying = Some(retrying.clone());
        }
        self.said.fetch_add(1, Release);
        inner.send(&self.frames, Frame::Retrying(retrying));
    }

    pub fn waiting(&self, waiting: Waiting) {
        let mut inner = self.lock();
        if !inner.calls.get(&waiting.call).is_some_and(|running| running.is_secret) {
            inner.send(&self.frames, Frame::Waiting(Arc::new(waiting)));
        }
    }

    /// Takes in a piece, for readers to tell. Much at a time is not left to them: one
    /// that does not keep up loses frames, and nobody holds more than those.
    pub fn push(&self, call: &CallId, piece: &str, reasoning: bool) {
        let mut inner = self.lock();
        let Some(running) = inner.calls.get_mut(call) else { return };
        running.retrying = None;
        let is_secret = running.is_secret;
        let told = running.told(reasoning);
        told.text.push_str(piece);
        if is_secret {
            return;
        }
        self.said.fetch_add(1, Release);
        let much = told.text.len() - told.bytes > limits::DELTA_BYTES;
        let first = !std::mem::replace(&mut inner.untold, true);
        if much {
            inner.tell(&self.frames);
        } else if first {
            drop(inner);
            self.spoken.notify_waiters();
        }
    }

    /// Takes in what a call says that runs at another node. False: something that was
    /// said before it is missing.
    pub fn hear(&self, delta: &Delta) -> bool {
        let Some(new) = self.lock().hear(delta) else { return false };
        if !new.is_empty() {
            self.push(&delta.call, &new, delta.reasoning);
        }
        true
    }

    /// Forgets calls that run at another node, but for those that are still due.
    pub fn forget_elsewhere(&self, is_due: impl Fn(&CallId) -> bool) {
        let mut inner = self.lock();
        inner.tell(&self.frames);
        inner.calls.retain(|call, running| !running.is_elsewhere || is_due(call));
        self.said.fetch_add(1, Release);
    }

    /// Whether this call is known to run at another node.
    pub fn hears(&self, call: &CallId) -> bool {
        self.lock().calls.get(call).is_some_and(|running| running.is_elsewhere)
    }

    pub fn is_read(&self) -> bool {
        self.frames.receiver_count() > 0
    }

    /// Tells all readers what has been said since the last time.
    pub fn tell(&self) {
        self.lock().tell(&self.frames);
    }

    /// Returns when there is something to tell.
    pub async fn spoken(&self) {
        loop {
            let spoken = self.spoken.notified();
            if self.lock().untold {
                return;
            }
            spoken.await;
        }
    }

    /// As long as this is the same, so is what `underway` tells of every call.
    pub fn said(&self) -> u64 {
        self.said.load(Acquire)
    }

    /// What is kept of the session's budget for calls that run here.
    pub fn reserved(&self) -> Amount {
        self.lock().reserved
    }

    pub fn reserve(&self, reserved: Amount) {
        if std::mem::replace(&mut self.lock().reserved, reserved) != reserved {
            self.said.fetch_add(1, Release);
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

    pub fn spend(&self, call: &CallId, spent: Spent) {
        if let Some(running) = self.lock().calls.get_mut(call) {
            running.spent = spent;
        }
    }

    /// Nothing for a call that never began.
    pub fn spent(&self, call: &CallId) -> Spent {
        self.lock().calls.get(call).map(|running| running.spent).unwrap_or_default()
    }

    /// Ends a call: its attempt, text and reasoning.
    pub fn end(&self, call: &CallId) -> Option<(u32, String, String)> {
        let mut inner = self.lock();
        inner.tell(&self.frames);
        let running = inner.calls.remove(call)?;
        self.said.fetch_add(1, Release);
        Some((running.attempt, running.text.text, running.reasoning.text))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// What is new of a piece that another node has sent; nothing, of a call that runs
    /// here or of an attempt that is over. `None`: something before it is missing.
    fn hear(&mut self, delta: &Delta) -> Option<String> {
        let begun = || Running { attempt: delta.attempt, is_elsewhere: true, ..Running::default() };
        let running = self.calls.entry(delta.call.clone()).or_insert_with(begun);
        if !running.is_elsewhere || running.attempt > delta.attempt {
            return Some(String::new());
        }
        if running.attempt < delta.attempt {
            *running = begun();
        }
        // One attempt says one text, so what is known of it is the same.
        let known = running.told(delta.reasoning).text.len().checked_sub(delta.offset)?;
        Some(delta.text.get(known..).unwrap_or_default().to_owned())
    }

    /// Numbers and sends under the lock, so that frames arrive in order.
    fn send(&mut self, frames: &broadcast::Sender<Numbered>, frame: Frame) {
        self.sequence += 1;
        // Nobody reading is no error.
        let _ = frames.send(Numbered { sequence: self.sequence, frame });
    }

    fn tell(&mut self, frames: &broadcast::Sender<Numbered>) {
        // Whoever joins later tells what is untold by then.
        if !self.untold || frames.receiver_count() == 0 {
            return;
        }
        self.untold = false;
        let news: Vec<Delta> = self
            .calls
            .iter_mut()
            .filter(|(_, one)| !one.is_secret)
            .flat_map(|(call, one)| one.news(call))
            .collect();
        for delta in news {
            self.send(frames, Frame::Delta(Arc::new(delta)));
        }
    }
}

impl Running {
    fn told(&mut self, reasoning: bool) -> &mut Told {
        if reasoning { &mut self.reasoning } else { &mut self.text }
    }

    /// What has not been told.
    fn news(&mut self, call: &CallId) -> impl Iterator<Item = Delta> {
        let attempt = self.attempt;
        let texts = [(true, &mut self.reasoning), (false, &mut self.text)];
        texts.into_iter().filter_map(move |(reasoning, told)| {
            let (offset, text) = (told.bytes, told.text[told.bytes..].to_owned());
            told.bytes = told.text.len();
            let delta = Delta { call: call.clone(), attempt, offset, text, reasoning };
            (!delta.text.is_empty()).then_some(delta)
        })
    }

    fn so_far(&mut self, call: &CallId) -> Vec<Frame> {
        let mut frames = vec![];
        for (reasoning, told) in [(true, &mut self.reasoning), (false, &mut self.text)] {
            told.share(call, self.attempt, reasoning);
            frames.extend(told.pieces.iter().cloned().map(Frame::Delta));
        }
        // The text of an attempt comes before the word that it is made again.
        frames.extend(self.retrying.iter().cloned().map(Frame::Retrying));
        frames
    }
}

impl Told {
    /// Brings the pieces up to what has been told.
    fn share(&mut self, call: &CallId, attempt: u32, reasoning: bool) {
        let mut offset = self.pieces.last().map_or(0, |last| last.offset + last.text.len());
        while offset < self.bytes {
            let end = self.text.floor_char_boundary(self.bytes.min(offset + limits::SO_FAR_BYTES));
            let text = self.text[offset..end].to_owned();
            self.keep(Arc::new(Delta { call: call.clone(), attempt, offset, text, reasoning }));
            offset = end;
        }
    }

    fn keep(&mut self, piece: Arc<Delta>) {
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

#[cfg(test)]
mod tests {
    use plenary_domain::{SessionId, Timestamp};

    use super::*;

    fn call() -> CallId {
        CallId("one#1".to_owned())
    }

    fn event(version: u64) -> Arc<StoredEvent> {
        Arc::new(StoredEvent {
            session: SessionId(uuid::Uuid::nil()),
            kind: "any".to_owned(),
            version,
            position: Some(version),
            name: "happened".to_owned(),
            actor: "engine".to_owned(),
            payload: "{}".to_owned(),
            at: Timestamp::UNIX_EPOCH,
        })
    }

    /// What has come, in short.
    fn told(frames: &mut broadcast::Receiver<Numbered>) -> Vec<String> {
        let mut told = vec![];
        while let Ok(Numbered { frame, .. }) = frames.try_recv() {
            told.push(match frame {
                Frame::Event(event) => format!("event {}", event.version),
                Frame::Delta(delta) => format!("{} {:?}", delta.offset, delta.text),
                other => format!("{other:?}"),
            });
        }
        told
    }

    #[test]
    fn words_are_gathered_until_a_reader_takes_them_or_something_happens() {
        let live = Live::new();
        let mut frames = live.subscribe();
        live.begin(&call(), 1, false);
        live.push(&call(), "one ", false);
        live.push(&call(), "two ", false);
        assert_eq!(told(&mut frames), [""; 0]);
        live.tell();
        live.tell();
        assert_eq!(told(&mut frames), ["0 \"one two \""]);
        live.push(&call(), "three", false);
        live.event(event(1));
        assert_eq!(told(&mut frames), ["8 \"three\"", "event 1"]);
        live.push(&call(), "!", false);
        assert_eq!(live.end(&call()), Some((1, "one two three!".to_owned(), String::new())));
        assert_eq!(told(&mut frames), ["13 \"!\""]);
    }

    #[test]
    fn much_is_told_whether_or_not_a_reader_asks() {
        let live = Live::new();
        let mut frames = live.subscribe();
        live.begin(&call(), 1, false);
        live.push(&call(), &"x".repeat(limits::DELTA_BYTES), true);
        assert_eq!(told(&mut frames), [""; 0]);
        live.push(&call(), "x", true);
        assert_eq!(told(&mut frames), [format!("0 {:?}", "x".repeat(limits::DELTA_BYTES + 1))]);
    }

    #[test]
    fn a_late_reader_gets_all_of_the_text_so_far_in_pieces_that_all_share() {
        let live = Live::new();
        live.begin(&call(), 1, false);
        let text = "é".repeat(limits::SO_FAR_BYTES);
        live.push(&call(), &format!("x{text}"), false);
        let _first = live.subscribe();
        let (first, second) = (live.join().so_far, live.join().so_far);
        let mut whole = String::new();
        for (one, other) in first.iter().zip(&second) {
            let (Frame::Delta(one), Frame::Delta(other)) = (one, other) else { panic!("{one:?}") };
            assert!(Arc::ptr_eq(one, other));
            assert_eq!(one.offset, whole.len());
            assert!(one.text.len() <= limits::SO_FAR_BYTES);
            whole += &one.text;
        }
        assert_eq!(whole, format!("x{text}"));
    }

    #[test]
    fn words_are_no_change() {
        let live = Live::new();
        let mut changes = live.changes();
        let _reader = live.subscribe();
        live.begin(&call(), 1, false);
        live.push(&call(), "one", false);
        live.tell();
        live.end(&call());
        assert!(!changes.has_changed().unwrap());
        live.event(event(1));
        assert!(changes.has_changed().unwrap());
        changes.mark_unchanged();
        live.removed();
        assert!(changes.has_changed().unwrap());
    }

    #[test]
    fn of_a_secret_call_readers_are_told_nothing() {
        let live = Live::new();
        let mut frames = live.subscribe();
        live.begin(&call(), 1, true);
        live.push(&call(), "Ssh.", false);
        live.waiting(Waiting { call: call(), attempt: 1, place: 2 });
        let message = "again".to_owned();
        live.retrying(Retrying { call: call(), attempt: 1, wait_ms: 5, message });
        live.tell();
        assert!(frames.try_recv().is_err());
        assert!(live.join().so_far.is_empty());
        let ended = Some((1, "Ssh.".to_owned(), String::new()));
        assert_eq!(live.end(&call()), ended, "it is kept for whoever asked");
        assert!(frames.try_recv().is_err());
    }
}
