//! How long the body of a request may take, and how large it may be before its sender
//! has shown a token. This stands in front of whatever reads bodies.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use futures::future::BoxFuture;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use plenary_domain::limits;
use plenary_engine::Engine;

use crate::auth::{Access, Principal};
use crate::error::{Code, Problem};
use crate::listen::Peer;

pub async fn keep(
    engine: Arc<Engine>,
    access: &Access,
    mut request: Request,
    next: Next,
) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let extensions = request.extensions();
    let known = extensions.get::<Principal>().is_some();
    let most = if known { limits::BODY_BYTES } else { limits::STRANGER_BODY_BYTES };
    // Whoever is known is read as far as the limit, so that most are through with writing
    // when they are refused: a connection that is closed on one who still writes may
    // lose the answer.
    if !known && request.body().size_hint().lower() > most as u64 {
        return too_large(most).into_response();
    }
    // Where nobody has a token, a whole request is all that there is to show.
    let proves = extensions.get::<Peer>().filter(|_| !access.wants_token()).cloned();
    let fault = Arc::new(OnceLock::new());
    let began_ms = engine.clock().ticks();
    let kept = |body| Kept {
        body,
        engine,
        began_ms,
        most,
        received: 0,
        late: None,
        proves,
        fault: fault.clone(),
    };
    request = request.map(|body| Body::new(kept(body)));
    let response = next.run(request).await;
    // Whatever a handler made of a body that broke off.
    match fault.get() {
        Some(problem) => problem.clone().into_response(),
        None => response,
    }
}

pub fn too_large(most: usize) -> Problem {
    let most = match most / (1 << 20) {
        0 => format!("{} kB", most / 1024),
        megabytes => format!("{megabytes} MB"),
    };
    Problem::new(Code::TooLarge, format!("The body is too large; at most {most} are allowed."))
}

struct Kept {
    body: Body,
    engine: Arc<Engine>,
    began_ms: u64,
    most: usize,
    received: usize,
    /// Runs while nothing comes.
    late: Option<BoxFuture<'static, ()>>,
    proves: Option<Peer>,
    fault: Arc<OnceLock<Problem>>,
}

impl Kept {
    /// What is left of the time for so much of a body.
    fn left_ms(&self) -> u64 {
        let paced_ms = self.received as u64 * 1_000 / limits::BODY_BYTES_PER_SECOND;
        let allowed_ms = (limits::BODY_FIRST_MS + paced_ms).min(limits::BODY_MS);
        allowed_ms.saturating_sub(self.engine.clock().ticks() - self.began_ms)
    }

    fn take(&mut self, frame: &Frame<Bytes>) -> Result<(), axum::Error> {
        self.late = None;
        self.received += frame.data_ref().map_or(0, Bytes::len);
        if self.received > self.most {
            return Err(self.fail(too_large(self.most)));
        }
        if self.body.is_end_stream() {
            self.end();
        }
        Ok(())
    }

    fn end(&mut self) {
        if let Some(peer) = self.proves.take() {
            // Without a place among the known it is served as a stranger.
            let _ = peer.prove();
        }
    }

    fn fail(&self, problem: Problem) -> axum::Error {
        let error = axum::Error::new(problem.to_string());
        let _ = self.fault.set(problem);
        error
    }
}

impl HttpBody for Kept {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => Poll::Ready(Some(self.take(&frame).map(|()| frame))),
            Poll::Ready(None) => {
                self.end();
                Poll::Ready(None)
            }
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(error))),
            Poll::Pending => {
                let left = Duration::from_millis(self.left_ms());
                let engine = self.engine.clone();
                let late = self.late.get_or_insert_with(|| engine.clock().sleep(left));
                ready!(late.poll_unpin(cx));
                let slow =
                    Problem::new(Code::TooSlow, "The body arrived too slowly.").hint(format!(
                        "Send it within {} seconds, and at least {} bytes a second.",
                        limits::BODY_MS / 1_000,
                        limits::BODY_BYTES_PER_SECOND
                    ));
                Poll::Ready(Some(Err(self.fail(slow))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
