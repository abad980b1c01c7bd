//! Reading along: everything after a version, then live.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use futures::Stream;
use futures::stream;
use plenary_domain::{SessionId, limits};
use tokio::sync::broadcast::{self, error::RecvError, error::TryRecvError};

use crate::engine::{Engine, EngineError};
use crate::live::{Frame, Numbered};
use crate::ports::{StoreError, StoredEvent};
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
        self.store.session(id).await?.ok_or(EngineError::NotFound(id))?;
        let room = self.session(id);
        // Nobody has held it: what it remembers may not be the end of the log.
        if Arc::strong_count(&room) == 2 {
            room.live.forget_events_but(0);
        }
        let reader = Reader {
            frames: room.live.subscribe(),
            room,
            seat: Seat::take(self, id),
            version: after,
            // One more than any number: everything before the first sync is stale.
            joined_at: u64::MAX,
            ready: VecDeque::new(),
            over: false,
        };
        Ok(stream::unfold(reader, |mut reader| async move {
            let frame = reader.next().await?;
            Some((frame, reader))
        }))
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
        stream::unfold(reader, |mut reader| async move {
            let event = reader.next().await?;
            Some((event, reader))
        })
    }
}

/// Fields are dropped in this order: the room before the seat, which then finds
/// that nobody holds the room.
struct Reader {
    room: Arc<Room>,
    seat: Seat,
    frames: broadcast::Receiver<Numbered>,
    /// The last durable event that was handed out.
    version: u64,
    /// Frames up to this one are contained in what was handed out at the sync.
    joined_at: u64,
    ready: VecDeque<Frame>,
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
            match self.frames.recv().await {
                Ok(numbered) if numbered.sequence <= self.joined_at => {}
                Ok(numbered) => self.take(numbered.frame),
                Err(RecvError::Lagged(_)) => {
                    self.seat.engine.meter.resyncs.fetch_add(1, Relaxed);
                    self.joined_at = u64::MAX;
                }
                Err(RecvError::Closed) => return None,
            }
        }
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
        self.joined_at = joined.sequence;
        loop {
            match self.frames.try_recv() {
                Ok(Numbered { sequence, frame }) if sequence <= joined.sequence => {
                    // A delta up to here is part of the text so far, or of an answer.
                    if matches!(frame, Frame::Event(_) | Frame::Removed) {
                        self.take(frame);
                    }
                    if sequence == joined.sequence {
                        self.ready.extend(joined.so_far);
                        return;
                    }
                }
                // It was sent after the join, and nothing before it was missed.
                Ok(Numbered { frame, .. }) => {
                    self.ready.extend(joined.so_far);
                    self.take(frame);
                    return;
                }
                Err(TryRecvError::Lagged(_)) => {
                    self.joined_at = u64::MAX;
                    return;
                }
                Err(TryRecvError::Empty | TryRecvError::Closed) => {
                    self.ready.extend(joined.so_far);
                    return;
                }
            }
        }
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
    frames: broadcast::Receiver<Arc<StoredEvent>>,
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
                Ok(event) => match event.position {
                    Some(position) if position == self.position + 1 => self.take(event),
                    Some(position) if position <= self.position => {}
                    // Two sessions publish in an order of their own, after one commit.
                    Some(_) => self.synced = false,
                    None => {}
                },
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
