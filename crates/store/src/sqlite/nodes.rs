//! The nodes that live. One process holds the folder, so all of them are in it: whoever
//! else wrote a name into the database is gone.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[derive(Default)]
pub(super) struct Nodes(Mutex<HashMap<String, Instant>>);

impl Nodes {
    pub(super) fn renew(&self, node: &str, lease: Duration) {
        self.lock().insert(node.to_owned(), Instant::now() + lease);
    }

    pub(super) fn retire(&self, node: &str) {
        self.lock().remove(node);
    }

    /// Those that live, but for this one, as a JSON array.
    pub(super) fn others(&self, node: &str) -> String {
        let now = Instant::now();
        let nodes = self.lock();
        let living = nodes.iter().filter(|(name, until)| **until > now && *name != node);
        living.map(|(name, _)| name.as_str()).collect::<serde_json::Value>().to_string()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
