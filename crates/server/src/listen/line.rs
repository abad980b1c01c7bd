//! One connection, with its place among those that there may be. A websocket keeps
//! the place, though hyper has let go of the connection by then; it ends with the
//! server, or when it has to give way. Whoever takes nothing for too long is given up.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::http::{StatusCode, header};
use axum::response::Response;
use futures::FutureExt;
use futures::future::{BoxFuture, select};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;
use tokio::time::{Sleep, sleep};

use super::peer::Ending;
use crate::places::Place;

pub struct Line<S> {
    stream: S,
    course: Arc<Course>,
    /// The server closes, and this one has to give way.
    ends: [watch::Receiver<bool>; 2],
    /// One for each direction of a websocket, because each has a task of its own to wake.
    ending: [Option<BoxFuture<'static, ()>>; 2],
    /// How long a client may take nothing of what is sent to it.
    patience: Duration,
    /// Runs while nothing can be written.
    stalled: Option<Pin<Box<Sleep>>>,
    over: bool,
    _place: Arc<Place<Ending>>,
}

/// What a connection has become, as its answers show.
#[derive(Default)]
pub struct Course {
    is_websocket: AtomicBool,
    is_event_stream: AtomicBool,
}

impl Course {
    /// Whether the connection goes on after this answer as something else.
    pub fn note(&self, response: &Response) -> bool {
        let kind = response.headers().get(header::CONTENT_TYPE);
        let is_event_stream = kind.is_some_and(|kind| kind == "text/event-stream");
        self.is_event_stream.store(is_event_stream, Relaxed);
        let is_websocket = response.status() == StatusCode::SWITCHING_PROTOCOLS;
        self.is_websocket.fetch_or(is_websocket, Relaxed);
        is_websocket
    }
}

/// Resolves when this becomes true, also when whoever could say so is gone.
pub async fn is_true(mut told: watch::Receiver<bool>) {
    let _ = told.wait_for(|told| *told).await;
}

impl<S> Line<S> {
    pub fn new(
        stream: S,
        place: Arc<Place<Ending>>,
        ends: [watch::Receiver<bool>; 2],
        patience: Duration,
    ) -> Self {
        let (course, ending, stalled, over) = (Arc::default(), [None, None], None, false);
        Line { stream, course, ends, ending, patience, stalled, over, _place: place }
    }

    pub fn course(&self) -> Arc<Course> {
        self.course.clone()
    }

    fn is_over(&mut self, direction: Direction, cx: &mut Context<'_>) -> bool {
        if !self.over && self.course.is_websocket.load(Relaxed) {
            let ends = &self.ends;
            let ending = self.ending[direction as usize].get_or_insert_with(|| {
                let [closing, ended] = ends.clone().map(|told| is_true(told).boxed());
                select(closing, ended).map(drop).boxed()
            });
            self.over = ending.poll_unpin(cx).is_ready();
        }
        self.over
    }
}

#[derive(Clone, Copy)]
enum Direction {
    In,
    Out,
}

impl<S: AsyncRead + Unpin> AsyncRead for Line<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_over(Direction::In, cx) {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Line<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.send(cx, |stream, cx| stream.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.send(cx, |stream, cx| stream.poll_write_vectored(cx, bytes))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl<S: AsyncWrite + Unpin> Line<S> {
    fn send(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if self.is_over(Direction::Out, cx) {
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        }
        if let Poll::Ready(written) = write(Pin::new(&mut self.stream), cx) {
            self.stalled = None;
            return Poll::Ready(written);
        }
        // Readers of event streams may pause for as long as they like: nothing is
        // kept for them. For others packets or an answer wait.
        if self.course.is_event_stream.load(Relaxed) {
            return Poll::Pending;
        }
        let patience = self.patience;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(stalled.poll_unpin(cx));
        self.over = true;
        Poll::Ready(Err(ErrorKind::TimedOut.into()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use axum::http::{StatusCode, header};
    use axum::response::IntoResponse;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::sync::watch;

    use super::super::peer::Ending;
    use super::Line;
    use crate::places::{Places, Standing};

    struct Case {
        line: Line<DuplexStream>,
        peer: DuplexStream,
        places: Arc<Places<Ending>>,
        close: watch::Sender<bool>,
    }

    /// A line in the only place for those who are known, after such an answer.
    fn case(answer: impl IntoResponse) -> Case {
        let (ours, peer) = duplex(16);
        let places = Places::without_strangers(1);
        let (end, ended) = watch::channel(false);
        let place = places.take(Standing::Busy, Ending(end)).unwrap();
        let (close, closing) = watch::channel(false);
        let line = Line::new(ours, Arc::new(place), [closing, ended], Duration::ZERO);
        line.course().note(&answer.into_response());
        Case { line, peer, places, close }
    }

    fn is_free(places: &Arc<Places<Ending>>) -> bool {
        places.take(Standing::Busy, Ending(watch::channel(false).0)).is_ok()
    }

    /// What a line still does: bytes read of "ping", and whether a pong can be sent.
    async fn check(mut case: Case, expected: (usize, bool)) {
        let _ = case.peer.write_all(b"ping").await;
        let mut buffer = [0; 16];
        let read = case.line.read(&mut buffer).await.unwrap();
        let written = case.line.write_all(b"pong").await.is_ok();
        assert_eq!((read, written), expected);
        assert!(!is_free(&case.places));
        drop(case.line);
        assert!(is_free(&case.places));
    }

    #[tokio::test]
    async fn a_websocket_ends_with_the_server_and_keeps_its_place_till_then() {
        check(case(StatusCode::SWITCHING_PROTOCOLS), (4, true)).await;
        let closed = case(StatusCode::SWITCHING_PROTOCOLS);
        closed.close.send(true).unwrap();
        check(closed, (0, false)).await;
        // Others are asked to end, and end what they are at.
        let closed = case(StatusCode::OK);
        closed.close.send(true).unwrap();
        check(closed, (4, true)).await;
    }

    #[tokio::test]
    async fn a_websocket_gives_way() {
        let mut case = case(StatusCode::SWITCHING_PROTOCOLS);
        case.line._place.rest();
        assert!(is_free(&case.places), "the idle one goes");
        assert_eq!(case.line.read(&mut [0; 16]).await.unwrap(), 0);
        assert!(case.line.write_all(b"pong").await.is_err());
    }

    #[tokio::test]
    async fn whoever_takes_nothing_is_given_up() {
        for status in [StatusCode::SWITCHING_PROTOCOLS, StatusCode::OK] {
            let mut stalled = case(status);
            let sent = stalled.line.write_all(&[0; 64]).await;
            assert_eq!(sent.unwrap_err().kind(), std::io::ErrorKind::TimedOut);
        }
    }

    #[tokio::test]
    async fn a_reader_of_events_may_pause() {
        let mut case = case([(header::CONTENT_TYPE, "text/event-stream")]);
        let (line, peer) = (&mut case.line, &mut case.peer);
        let mut read = [0; 64];
        // The first poll of what is written finds no room, and no limit of time.
        let (sent, taken) = tokio::join!(line.write_all(&[7; 64]), peer.read_exact(&mut read));
        assert_eq!((sent.is_ok(), taken.unwrap(), read), (true, 64, [7; 64]));
    }
}
