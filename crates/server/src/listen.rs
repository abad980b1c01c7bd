//! Connections: how many, how long their headers may be and may take.

mod line;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use plenary_domain::limits;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tower::ServiceExt;

use line::Line;

/// Serves until `over` resolves, then lets answers that are under way end.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    over: impl Future<Output = ()>,
) -> std::io::Result<()> {
    let places = Arc::new(Semaphore::new(limits::CONNECTIONS));
    let (close, closing) = watch::channel(false);
    let patience = Duration::from_millis(limits::SOCKET_STALL_MS);
    let mut over = std::pin::pin!(over);
    loop {
        let place = tokio::select! {
            () = &mut over => break,
            place = places.clone().acquire_owned() => place,
        };
        let accepted = tokio::select! {
            () = &mut over => break,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            // Out of file descriptors, most likely: give others time to close.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        // Tokens are small; waiting to fill a packet would be felt.
        let _ = stream.set_nodelay(true);
        let line = Line::new(stream, place.ok(), closing.clone(), patience);
        let service = ServiceExt::<Request<Incoming>>::map_response(router.clone(), line.notice());
        let service = TowerToHyperService::new(service);
        let closing = line::closing(closing.clone());
        tokio::spawn(async move {
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
                () = closing => {
                    connection.as_mut().graceful_shutdown();
                    let _ = tokio::time::timeout(Duration::from_secs(1), connection).await;
                }
            }
        });
    }
    let _ = close.send(true);
    let all = limits::CONNECTIONS as u32;
    let _ = tokio::time::timeout(Duration::from_secs(2), places.acquire_many(all)).await;
    Ok(())
}
