//! Who is at the other end of a connection, for whatever handles its requests.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::sync::watch;

use crate::error::{Code, Problem};
use crate::places::{Holder, Place, Standing};

/// Comes with each request. It does not hold the connection's place: some requests are
/// kept for longer than their connection lives.
#[derive(Clone)]
pub struct Peer {
    pub address: IpAddr,
    place: Weak<Place<Ending>>,
    end: watch::Sender<bool>,
}

impl Peer {
    pub fn new(address: IpAddr, place: &Arc<Place<Ending>>, end: watch::Sender<bool>) -> Self {
        Peer { address, place: Arc::downgrade(place), end }
    }

    /// One that no connection belongs to.
    #[cfg(test)]
    pub fn unplaced(address: IpAddr) -> Self {
        Peer { address, place: Weak::new(), end: watch::channel(false).0 }
    }

    /// It may come in, so the connection is not taken from it while it asks.
    pub fn prove(&self) -> Result<(), Problem> {
        let Some(place) = self.place.upgrade() else { return Ok(()) };
        place.change(Standing::Busy).map_err(|_| {
            Problem::new(Code::Busy, "All of this server's connections are in use.")
                .hint("Close some, or ask for a higher `serve.connections` in plenary.toml.")
        })
    }

    /// What it asks for now comes without a proof.
    pub fn doubt(&self) {
        if let Some(place) = self.place.upgrade() {
            // One that cannot be a stranger any more is about to end.
            let _ = place.change(Standing::Stranger);
        }
    }

    /// Ends the connection.
    pub fn end(&self) {
        self.end.send_replace(true);
    }

    /// Until this is dropped an answer is under way.
    pub fn busy(&self) -> Busy {
        Busy(self.place.clone())
    }
}

/// Ends a connection that gives way.
pub struct Ending(pub watch::Sender<bool>);

impl Holder for Ending {
    fn give_way(self) {
        self.0.send_replace(true);
    }
}

pub struct Busy(Weak<Place<Ending>>);

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some(place) = self.0.upgrade() {
            place.rest();
        }
    }
}

/// A body, and something that lasts as long as it is being sent.
pub struct Answer<G> {
    body: Body,
    _guard: G,
}

impl<G> Answer<G> {
    pub fn new(body: Body, guard: G) -> Self {
        Answer { body, _guard: guard }
    }
}

impl<G: Unpin> HttpBody for Answer<G> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
