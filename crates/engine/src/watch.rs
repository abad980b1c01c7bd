//! Reading along: everything after a version, then live.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use futures::{Stream, StreamExt as _, stream};
use plenary_domain::{SessionId, limits};
use tokio::sync::broadcast::{self, error::RecvError, error::TryRecvError};
use tokio::sync::watch;

use crate::engine::{Engine, EngineError, News};
use crate::live::{Frame, Numbered};
use crate::ports::{Said, StoreError, StoredEvent};
use crate::session::Session as Room;

impl Engine {
    /// Every durable event of a session after `after`, exactly once and in
    /// order, with the token deltas between them. Ends when the session is
    /// removed or the store fails.
    pub async fn watch(
        self: &Arc<Self>,
        id: SessionId,
        after: u64,
    ) -> Result<impl Stream<Item = Frame> + Send + use<>, EngineError> {
        let reader = self.reader(id, after);
        // Only now: one that is removed after this look tells its readers.
        self.store.session(id).await?.ok_or(EngineError::NotFound(id))?;
        self.relay(id, &reader.room);
        Ok(frames(reader))
    }

    /// What the calls of a session have said so far and say from now on, as long as they
    /// run here: for other nodes, whose readers hear it through this one.
    pub async fn words(
        self: &Arc<Self>,
        id: SessionId,
    ) -> Result<impl Stream<Item = Said> + Send + use<>, EngineError> {
        let mut reader = self.reader(id, 0);
        let row = self.store.session(id).await?.ok_or(EngineError::NotFound(id))?;
        // Whoever asks reads the log itself.
        reader.version = row.version;
        let engine = self.clone();
        let frames = frames(reader).take_while(move |frame| {
            let is_over = matches!(frame, Frame::Event(_)) && !engine.drives(id);
            std::future::ready(!is_over)
        });
        Ok(frames.filter_map(|frame| std::future::ready(said(frame))))
    }

    fn reader(self: &Arc<Self>, id: SessionId, after: u64) -> Reader {
        let room = self.session(id);
        // Nobody has held it: what it remembers may not be the end of the log.
        if Arc::strong_count(&room) == 2 {
            room.live.forget_events_but(0);
        }
        Reader {
            frames: room.live.subscribe(),
            room,
            seat: Seat::take(self, id),
            version: after,
            // One more than any number: everything before the first sync is stale.
            joined_at: u64::MAX,
            ready: VecDeque::new(),
            turn: None,
            over: false,
        }
    }

    /// Every change of a session from now on, for those who look at it again then and
    /// want no words.
    pub fn changes(self: &Arc<Self>, id: SessionId) -> Changes {
        let room = self.session(id);
        Changes { changed: room.live.changes(), _room: room, _seat: Seat::take(self, id) }
    }

    /// Sessions that come to be from now on, for those who wait for one.
    pub fn openings(self: &Arc<Self>) -> Openings {
        Openings { opened: self.opened.subscribe(), engine: self.clone() }
    }

    /// Every durable event of all sessions that is listed, after a position, in
    /// commit order.
    pub fn watch_all(
        self: &Arc<Self>,
        after: u64,
    ) -> impl Stream<Item = Arc<StoredEvent>> + Send + use<> {
        let reader = AllReader {
            frames: self.all.subscribe(),
            engine: self.clone(),
            position: after,
            ready: VecDeque::new(),
            synced: false,
        };
        self.follow_order();
        stream::unfold(reader, |mut reader| async move {
            let event = reader.next().await?;
            Some((event, reader))
        })
    }
}

fn frames(reader: Reader) -> impl Stream<Item = Frame> + Send {
    stream::unfold(reader, |mut reader| async move {
        let frame = reader.next().await?;
        Some((frame, reader))
    })
}

fn said(frame: Frame) -> Option<Said> {
    match frame {
        Frame::Delta(delta) => Some(Said::Delta((*delta).clone())),
        Frame::Retrying(retrying) => Some(Said::Retrying((*retrying).clone())),
        Frame::Waiting(waiting) => Some(Said::Waiting((*waiting).clone())),
        Frame::Event(_) | Frame::Removed => None,
    }
}

/// Fields are dropped in this order: the room before the seat, which then finds
/// that nobody holds the room.
pub struct Changes {
    _room: Arc<Room>,
    _seat: Seat,
    changed: watch::Receiver<()>,
}

impl Changes {
    /// Returns when the session is not as it was the last time: it has new events, or
    /// was removed.
    pub async fn next(&mut self) {
        // It cannot fail while this holds the room.
        let _ = self.changed.changed().await;
    }
}

pub struct Openings {
    opened: watch::Receiver<()>,
    engine: Arc<Engine>,
}

impl Openings {
    /// Returns when a session was opened, or may have been.
    pub async fn next(&mut self) {
        let engine = &self.engine;
        let elsewhere = async {
            match engine.store.is_shared() {
                true => engine.clock.sleep(Duration::from_millis(limits::BEAT_MS)).await,
                false => std::future::pending().await,
            }
        };
        tokio::select! {
            opened = self.opened.changed() => drop(opened),
            () = elsewhere => {}
        }
    }
}

/// Fields are dropped in the same order.
struct Reader {
    room: Arc<Room>,
    seat: Seat,
    frames: broadcast::Receiver<Numbered>,
    /// The last durable event that was handed out.
    version: u64,
    /// Frames up to this one are contained in what was handed out at the sync.
    joined_at: u64,
    ready: VecDeque<Frame>,
    /// When it may tell words again.
    turn: Option<u64>,
    over: bool,
}

/// Counts a reader, and lets go of the room when the last one leaves.
struct Seat {
    engine: Arc<Engine>,
    id: SessionId,
}

impl Seat {
    fn take(engine: &Arc<Engine>, id: SessionId) -> Self {
        engine.meter.readers.fetch_add(1, Relaxed);
        Seat { engine: engine.clone(), id }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.engine.meter.readers.fetch_sub(1, Relaxed);
        self.engine.forget_if_idle(self.id);
    }
}

impl Reader {
    async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Some(frame);
            }
            if self.over {
                return None;
            }
            if self.joined_at == u64::MAX {
                self.sync().await.ok()?;
                continue;
            }
            match self.frames.try_recv() {
                Ok(numbered) => self.receive(numbered),
                Err(TryRecvError::Lagged(_)) => self.resync(),
                Err(TryRecvError::Closed) => return None,
                Err(TryRecvError::Empty) => self.wait().await,
            }
        }
    }

    /// Waits for a frame, or for words: whoever comes first to those tells them to all.
    async fn wait(&mut self) {
        let Seat { engine, id } = &self.seat;
        let live = &self.room.live;
        let words = async {
            if let Some(turn) = self.turn {
                engine.turn(turn).await;
            }
            live.spoken().await;
        };
        let received = tokio::select! {
            biased;
            received = self.frames.recv() => received,
            () = words => {
                self.turn = engine.readers_turn(*id);
                return live.tell();
            }
        };
        match received {
            Ok(numbered) => self.receive(numbered),
            Err(RecvError::Lagged(_)) => self.resync(),
            Err(RecvError::Closed) => self.over = true,
        }
    }

    fn receive(&mut self, Numbered { sequence, frame }: Numbered) {
        if sequence <= self.joined_at {
            return;
        }
        if self.misses(&frame) {
            return self.resync();
        }
        if matches!(frame, Frame::Delta(_)) {
            self.seat.engine.meter.deltas.fetch_add(1, Relaxed);
        }
        self.take(frame);
    }

    fn resync(&mut self) {
        self.seat.engine.meter.resyncs.fetch_add(1, Relaxed);
        self.joined_at = u64::MAX;
    }

    /// Takes what has happened so far, then joins the live frames without a gap:
    /// what was published meanwhile comes from the channel, events before the text
    /// so far, because that text may belong to calls which those events began.
    async fn sync(&mut self) -> Result<(), StoreError> {
        match self.room.live.events_after(self.version) {
            Some(events) => events.into_iter().for_each(|event| self.take(Frame::Event(event))),
            None => {
                let Seat { engine, id } = &self.seat;
                let page = engine.store.events(*id, self.version, limits::READER_PAGE).await?;
                let last = page.len() < limits::READER_PAGE as usize;
                page.into_iter().for_each(|event| self.take(Frame::Event(Arc::new(event))));
                // The rest is read when this much has been handed out: a reader that
                // does not read holds a page, and not the log.
                if !last {
                    return Ok(());
                }
            }
        }
        self.join();
        Ok(())
    }

    fn join(&mut self) {
        let joined = self.room.live.join();
        loop {
            match self.frames.try_recv() {
                // A delta up to here is part of the text so far, or of an answer.
                Ok(Numbered { sequence, frame }) if sequence <= joined.sequence => {
                    if self.misses(&frame) {
                        return;
                    }
                    if matches!(frame, Frame::Event(_) | Frame::Removed) {
                        self.take(frame);
                    }
                    if sequence == joined.sequence {
                        break;
                    }
                }
                // It was sent after the join, and nothing before it was missed.
                Ok(numbered) => {
                    self.joined_at = joined.sequence;
                    self.ready.extend(joined.so_far);
                    return self.receive(numbered);
                }
                Err(TryRecvError::Lagged(_)) => return,
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        self.joined_at = joined.sequence;
        self.ready.extend(joined.so_far);
    }

    /// Whether somebody else wrote something before this that was not published here.
    fn misses(&self, frame: &Frame) -> bool {
        matches!(frame, Frame::Event(event) if event.version > self.version + 1)
    }

    fn take(&mut self, frame: Frame) {
        match &frame {
            Frame::Event(event) if event.version <= self.version => return,
            Frame::Event(event) => self.version = event.version,
            Frame::Removed => self.over = true,
            Frame::Delta(_) | Frame::Retrying(_) | Frame::Waiting(_) => {}
        }
        self.ready.push_back(frame);
    }
}

struct AllReader {
    engine: Arc<Engine>,
    frames: broadcast::Receiver<News>,
    position: u64,
    ready: VecDeque<Arc<StoredEvent>>,
    synced: bool,
}

impl AllReader {
    async fn next(&mut self) -> Option<Arc<StoredEvent>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if !self.synced {
                let page = self.engine.store.events_of_all(self.position, limits::READER_PAGE);
                let page = page.await.ok()?;
                self.synced = page.len() < limits::READER_PAGE as usize;
                page.into_iter().for_each(|event| self.take(Arc::new(event)));
                continue;
            }
            match self.frames.recv().await {
                Ok(news) if news.position() <= Some(self.position) => {}
                Ok(News::Event(event)) if event.position == Some(self.position + 1) => {
                    self.take(event);
                }
                // A long one is read; and two sessions publish in an order of their own,
                // after one commit.
                Ok(News::Event(_) | News::At(_)) => self.synced = false,
                Err(RecvError::Lagged(_)) => self.synced = false,
                Err(RecvError::Closed) => return None,
            }
        }
    }

    fn take(&mut self, event: Arc<StoredEvent>) {
        if let Some(position) = event.position.filter(|position| *position > self.position) {
            self.position = position;
            self.ready.push_back(event);
        }
    }
}
