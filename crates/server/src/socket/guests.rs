//! Clients from their first request on. All come as strangers, because most can prove
//! themselves in their first packet only.
//!
//! A stranger gives way to the next when there are too many, so that whoever has a token
//! can always begin. Which of a client's connections is its websocket shows here too:
//! it is out of the reach of strangers as soon as its client is.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use plenary_domain::limits;
use serde_json::Value;
use tower::ServiceExt;

use super::PATHS;
use crate::error::{Code, Problem};
use crate::listen::Peer;
use crate::places::{Holder, Place, Places, Standing};

pub struct Guests {
    places: Arc<Places<Arc<Ways>>>,
    /// The library itself, where a client can be ended by the id of its session.
    library: Router,
    by_session: Mutex<HashMap<String, Weak<Guest>>>,
}

/// One client, as long as the library keeps its first request.
pub struct Guest {
    guests: Arc<Guests>,
    place: Place<Arc<Ways>>,
    ways: Arc<Ways>,
}

/// The ways in which a client can be ended.
pub struct Ways {
    library: Router,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_known: bool,
    has_given_way: bool,
    websocket: Option<Peer>,
    session: Option<String>,
}

impl Guests {
    pub fn new(most: usize, library: Router) -> Arc<Self> {
        let by_session = Mutex::default();
        Arc::new(Guests { places: Places::new(most), library, by_session })
    }

    pub async fn receive(self: Arc<Self>, mut request: Request, next: Next) -> Response {
        let peer = request.extensions().get::<Peer>().cloned();
        let is_websocket = request.headers().contains_key(header::UPGRADE);
        if let Some(session) = session(&request) {
            if let (Some(guest), Some(peer)) = (self.known(session), peer) {
                guest.ways.come(peer, is_websocket);
            }
            return next.run(request).await;
        }
        let Ok(guest) = self.begin(peer.filter(|_| is_websocket)) else {
            return full().into_response();
        };
        request.extensions_mut().insert(guest.clone());
        let response = next.run(request).await;
        match response.status() {
            StatusCode::OK => self.remember(&guest, response).await,
            _ => response,
        }
    }

    fn begin(self: &Arc<Self>, websocket: Option<Peer>) -> Result<Arc<Guest>, Problem> {
        let state = Mutex::new(State { websocket, ..State::default() });
        let ways = Arc::new(Ways { library: self.library.clone(), state });
        let place = self.places.take(Standing::Stranger, ways.clone()).map_err(|_| full())?;
        Ok(Arc::new(Guest { guests: self.clone(), place, ways }))
    }

    fn known(&self, session: &str) -> Option<Arc<Guest>> {
        self.sessions().get(session)?.upgrade()
    }

    /// A client that polls is told the id of its session, by which it comes again.
    async fn remember(&self, guest: &Arc<Guest>, response: Response) -> Response {
        let (parts, body) = response.into_parts();
        let Ok(bytes) = to_bytes(body, limits::SOCKET_BYTES).await else {
            return Problem::new(Code::Internal, "The answer could not be read.").into_response();
        };
        let opened: Option<Value> = serde_json::from_slice(bytes.get(1..).unwrap_or_default()).ok();
        if let Some(session) = opened.as_ref().and_then(|opened| opened["sid"].as_str()) {
            self.sessions().insert(session.to_owned(), Arc::downgrade(guest));
            guest.ways.name(session);
        }
        Response::from_parts(parts, Body::from(bytes))
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Weak<Guest>>> {
        self.by_session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guest {
    /// It has shown who it is.
    pub fn prove(&self) -> Result<(), Problem> {
        self.place.change(Standing::Busy).map_err(|_| full())?;
        let mut state = self.ways.lock();
        state.is_known = true;
        if let Some(peer) = &state.websocket {
            peer.prove()?;
        }
        Ok(())
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        if let Some(session) = &self.ways.lock().session {
            self.guests.sessions().remove(session);
        }
    }
}

impl Ways {
    fn come(&self, peer: Peer, is_websocket: bool) {
        let mut state = self.lock();
        if state.is_known {
            // Without a place among the known it is served as a stranger.
            let _ = peer.prove();
        }
        if is_websocket {
            state.websocket = Some(peer);
        }
    }

    fn name(self: &Arc<Self>, session: &str) {
        let mut state = self.lock();
        state.session = Some(session.to_owned());
        let has_given_way = state.has_given_way;
        drop(state);
        if has_given_way {
            self.clone().give_way();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Holder for Arc<Ways> {
    fn give_way(self) {
        let mut state = self.lock();
        state.has_given_way = true;
        if let Some(peer) = &state.websocket {
            return peer.end();
        }
        let Some(session) = &state.session else { return };
        // As the client itself would say that it leaves.
        let address = format!("{}?EIO=4&transport=polling&sid={session}", PATHS[0]);
        let leaves = Request::builder().method(Method::POST).uri(address).body(Body::from("1"));
        if let Ok(leaves) = leaves {
            tokio::spawn(self.library.clone().oneshot(leaves));
        }
    }
}

fn session(request: &Request) -> Option<&str> {
    let query = request.uri().query().unwrap_or_default();
    query.split('&').find_map(|part| part.strip_prefix("sid="))
}

fn full() -> Problem {
    Problem::new(Code::Busy, "Too many Socket.IO clients are connected.")
        .hint("Close some, or ask for a higher `serve.socket_clients` in plenary.toml.")
}
