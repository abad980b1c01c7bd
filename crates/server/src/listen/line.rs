//! One connection, with its place among those that there may be. A websocket keeps
//! the place, though hyper has let go of the connection by then; it ends with the
//! server, and when its client takes nothing for too long.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::Response;
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Sleep, sleep};

pub struct Line<S> {
    stream: S,
    upgraded: Arc<AtomicBool>,
    /// One for each direction, because each has a task of its own to wake.
    closing: [BoxFuture<'static, ()>; 2],
    /// How long a websocket's client may take nothing of what is sent to it.
    patience: Duration,
    /// Runs while nothing can be written.
    stalled: Option<Pin<Box<Sleep>>>,
    over: bool,
    _place: Option<OwnedSemaphorePermit>,
}

/// Resolves when the server closes, also when it is gone without a word.
pub async fn closing(mut closing: watch::Receiver<bool>) {
    let _ = closing.wait_for(|closing| *closing).await;
}

impl<S> Line<S> {
    pub fn new(
        stream: S,
        place: Option<OwnedSemaphorePermit>,
        closing: watch::Receiver<bool>,
        patience: Duration,
    ) -> Self {
        let closing = [closing.clone(), closing].map(|each| self::closing(each).boxed());
        let (upgraded, stalled, over) = (Arc::default(), None, false);
        Line { stream, upgraded, closing, patience, stalled, over, _place: place }
    }

    /// Sees in its answers when the connection becomes a websocket.
    pub fn notice(&self) -> impl Fn(Response) -> Response + Clone + use<S> {
        let upgraded = self.upgraded.clone();
        move |response| {
            if response.status() == StatusCode::SWITCHING_PROTOCOLS {
                upgraded.store(true, Relaxed);
            }
            response
        }
    }

    fn is_over(&mut self, direction: Direction, cx: &mut Context<'_>) -> bool {
        if !self.over && self.is_websocket() {
            self.over = self.closing[direction as usize].poll_unpin(cx).is_ready();
        }
        self.over
    }

    fn is_websocket(&self) -> bool {
        self.upgraded.load(Relaxed)
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
        // kept for them. For a websocket packets wait.
        if self.is_websocket() {
            let patience = self.patience;
            let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(patience)));
            ready!(stalled.poll_unpin(cx));
            self.over = true;
            return Poll::Ready(Err(ErrorKind::TimedOut.into()));
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use axum::http::StatusCode;
    use axum::response::{IntoResponse, Response};
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::sync::{Semaphore, watch};

    use super::Line;

    struct Case {
        line: Line<DuplexStream>,
        peer: DuplexStream,
        places: Arc<Semaphore>,
        close: watch::Sender<bool>,
    }

    fn case(status: StatusCode) -> Case {
        let (ours, peer) = duplex(16);
        let places = Arc::new(Semaphore::new(1));
        let place = places.clone().try_acquire_owned().ok();
        let (close, closing) = watch::channel(false);
        let line = Line::new(ours, place, closing, Duration::ZERO);
        let _: Response = line.notice()(status.into_response());
        Case { line, peer, places, close }
    }

    /// What a line still does: bytes read of "ping", and whether a pong can be sent.
    async fn check(mut case: Case, expected: (usize, bool)) {
        let _ = case.peer.write_all(b"ping").await;
        let mut buffer = [0; 16];
        let read = case.line.read(&mut buffer).await.unwrap();
        let written = case.line.write_all(b"pong").await.is_ok();
        assert_eq!((read, written), expected);
        assert_eq!(case.places.available_permits(), 0);
        drop(case.line);
        assert_eq!(case.places.available_permits(), 1);
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
    async fn a_websocket_whose_client_takes_nothing_is_given_up() {
        let mut stalled = case(StatusCode::SWITCHING_PROTOCOLS);
        let sent = stalled.line.write_all(&[0; 64]).await;
        assert_eq!(sent.unwrap_err().kind(), std::io::ErrorKind::TimedOut);
        check(stalled, (0, false)).await;
    }
}
