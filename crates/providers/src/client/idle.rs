//! Connections that wait for the next request to the same server.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::Uri;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::Line;

/// Idle connections that are kept to one server: a whole house of streams.
const CONNECTIONS: usize = 2_048;
/// How long one is kept.
const TIME: Duration = Duration::from_secs(90);

/// A scheme, a host and a port.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Place(String, String);

impl Place {
    pub(super) fn of(uri: &Uri) -> Option<Self> {
        Some(Place(uri.scheme_str()?.to_owned(), uri.authority()?.as_str().to_owned()))
    }
}

#[derive(Clone, Default)]
pub(super) struct Idle(Arc<Mutex<HashMap<Place, Vec<Kept>>>>);

/// Somebody has to see when the server closes it: a task until it is wanted.
struct Kept {
    wanted: oneshot::Sender<()>,
    line: JoinHandle<Option<Line>>,
}

impl Idle {
    pub(super) fn keep(&self, place: Place, mut line: Line) {
        let (wanted, want) = oneshot::channel();
        let line = tokio::spawn(async move {
            tokio::select! {
                biased;
                () = poll_fn(|cx| line.drive.poll(cx)) => None,
                want = want => want.ok().map(|()| line),
                () = tokio::time::sleep(TIME) => None,
            }
        });
        let mut places = self.lock();
        let kept = places.entry(place).or_default();
        kept.retain(|one| !one.line.is_finished());
        if kept.len() < CONNECTIONS {
            kept.push(Kept { wanted, line });
        }
    }

    /// The one that was used last, because it most likely still is open.
    pub(super) async fn take(&self, place: &Place) -> Option<Line> {
        loop {
            let kept = self.lock().get_mut(place)?.pop()?;
            if kept.wanted.send(()).is_ok()
                && let Ok(Some(line)) = kept.line.await
                && line.send.is_ready()
            {
                return Some(line);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Place, Vec<Kept>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
