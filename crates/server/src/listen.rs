//! Connections: how many, how long their headers may be and may take, and which of them
//! give way where they are too many.

mod line;
mod peer;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use plenary_domain::limits;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tower::ServiceExt;

use crate::places::{Places, Standing};
use line::Line;
use peer::Ending;
pub use peer::{Answer, Peer};

/// Serves until `over` resolves, then lets answers that are under way end.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    connections: usize,
    over: impl Future<Output = ()>,
) -> std::io::Result<()> {
    let places = Places::new(connections);
    let (close, closing) = watch::channel(false);
    let mut over = std::pin::pin!(over);
    loop {
        let accepted = tokio::select! {
            () = &mut over => break,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, from)) = accepted else {
            // Out of file descriptors, most likely: somebody has to close, and gets time.
            places.free_one();
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let connection = Connection::new(&places, stream, from.ip(), closing.clone());
        if let Some(connection) = connection {
            tokio::spawn(connection.run(router.clone()));
        }
    }
    // Whoever comes now is refused at once, and goes elsewhere.
    drop(listener);
    drop(closing);
    let _ = close.send(true);
    let _ = tokio::time::timeout(Duration::from_secs(2), close.closed()).await;
    Ok(())
}

struct Connection {
    line: Line<TcpStream>,
    peer: Peer,
    closing: watch::Receiver<bool>,
    ended: watch::Receiver<bool>,
}

impl Connection {
    /// It begins as a stranger, for whom the oldest of them gives way.
    fn new(
        places: &Arc<Places<Ending>>,
        stream: TcpStream,
        address: IpAddr,
        closing: watch::Receiver<bool>,
    ) -> Option<Self> {
        // Tokens are small; waiting to fill a packet would be felt.
        let _ = stream.set_nodelay(true);
        let (end, ended) = watch::channel(false);
        let place = Arc::new(places.take(Standing::Stranger, Ending(end.clone())).ok()?);
        let peer = Peer::new(address, &place, end);
        let patience = Duration::from_millis(limits::STALL_MS);
        let line = Line::new(stream, place, [closing.clone(), ended.clone()], patience);
        Some(Connection { line, peer, closing, ended })
    }

    async fn run(self, router: Router) {
        let Connection { line, peer, closing, ended } = self;
        let course = line.course();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer.clone());
            let (router, peer, course) = (router.clone(), peer.clone(), course.clone());
            async move {
                let response = router.oneshot(request).await?;
                let goes_on = course.note(&response);
                let busy = (!goes_on).then(|| peer.busy());
                Ok::<_, std::convert::Infallible>(response.map(|body| Answer::new(body, busy)))
            }
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(Duration::from_millis(limits::HEADER_MS))
            .max_headers(limits::HEADERS)
            .max_buf_size(limits::HEADER_BYTES)
            .serve_connection(TokioIo::new(line), service)
            .with_upgrades();
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            _ = connection.as_mut() => {}
            () = line::is_true(ended) => {}
            () = line::is_true(closing) => {
                connection.as_mut().graceful_shutdown();
                let _ = tokio::time::timeout(Duration::from_secs(1), connection).await;
            }
        }
    }
}
