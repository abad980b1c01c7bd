//! Sessions over HTTP, of which there are so many at most: the one that has been idle for
//! longest gives way to a new one. Strangers hold none, because a token is wanted before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use crate::error::{Code, Problem};
use crate::listen::Answer;
use crate::places::{Holder, Place, Places, Standing};

pub struct Sessions {
    manager: Arc<LocalSessionManager>,
    places: Arc<Places<Session>>,
    /// One that has ended by itself stays here as idle, and so is the first to go.
    known: Arc<Mutex<Known>>,
}

type Known = HashMap<String, Arc<Use>>;

/// A session by its id.
struct Session {
    id: String,
    manager: Arc<LocalSessionManager>,
    known: Weak<Mutex<Known>>,
}

/// A session's place, and how many of its requests are under way.
struct Use {
    place: Place<Session>,
    running: Mutex<usize>,
}

impl Sessions {
    pub fn new(most: usize, manager: Arc<LocalSessionManager>) -> Arc<Self> {
        let places = Places::without_strangers(most);
        Arc::new(Sessions { manager, places, known: Arc::default() })
    }

    pub async fn receive(self: Arc<Self>, request: Request, next: Next) -> Response {
        let ends = request.method() == Method::DELETE;
        let Some(id) = id(request.headers()) else {
            let response = next.run(request).await;
            // Only what has begun has an id; other requests stand for themselves.
            return match id(response.headers()) {
                Some(id) => self.begin(id, response).await,
                None => response,
            };
        };
        let running = lock(&self.known).get(&id).cloned().map(Running::new);
        let response = next.run(request).await;
        if ends && response.status().is_success() {
            lock(&self.known).remove(&id);
        }
        response.map(|body| Body::new(Answer::new(body, running)))
    }

    async fn begin(&self, id: String, response: Response) -> Response {
        let (manager, known) = (self.manager.clone(), Arc::downgrade(&self.known));
        let session = Session { id: id.clone(), manager, known };
        let Ok(place) = self.places.take(Standing::Busy, session) else {
            let _ = self.manager.close_session(&id.into()).await;
            return Problem::new(Code::Busy, "Too many MCP sessions are open.")
                .hint("Close some, or ask for a higher `serve.mcp_sessions` in plenary.toml.")
                .into_response();
        };
        let used = Arc::new(Use { place, running: Mutex::new(0) });
        lock(&self.known).insert(id, used.clone());
        response.map(|body| Body::new(Answer::new(body, Running::new(used))))
    }
}

impl Holder for Session {
    fn give_way(self) {
        if let Some(known) = self.known.upgrade() {
            lock(&known).remove(&self.id);
        }
        tokio::spawn(async move {
            let _ = self.manager.close_session(&self.id.into()).await;
        });
    }
}

/// One request, until its answer has been sent.
struct Running(Arc<Use>);

impl Running {
    fn new(used: Arc<Use>) -> Self {
        let mut running = lock(&used.running);
        *running += 1;
        // A session that has given way meanwhile is not found by the library either.
        let _ = used.place.change(Standing::Busy);
        drop(running);
        Running(used)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut running = lock(&self.0.running);
        *running -= 1;
        if *running == 0 {
            self.0.place.rest();
        }
    }
}

fn id(headers: &HeaderMap) -> Option<String> {
    headers.get("mcp-session-id")?.to_str().ok().map(str::to_owned)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
