//! The nodes that live. One process holds the folder, so all of them are in it: whoever
//! else wrote a name into the database is gone.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use plenary_engine::ports::Driver;

#[derive(Default)]
pub(super) struct Nodes(Mutex<HashMap<String, Living>>);

struct Living {
    until: Instant,
    address: Option<String>,
}

impl Nodes {
    pub(super) fn renew(&self, node: &str, address: Option<&str>, lease: Duration) {
        let living = Living { until: Instant::now() + lease, address: address.map(str::to_owned) };
        self.lock().insert(node.to_owned(), living);
    }

    pub(super) fn retire(&self, node: &str) {
        self.lock().remove(node);
    }

    pub(super) fn living(&self, node: String) -> Option<Driver> {
        let nodes = self.lock();
        let living = nodes.get(&node).filter(|living| living.until > Instant::now())?;
        Some(Driver { node, address: living.address.clone() })
    }

    /// Those that live, but for this one, as a JSON array.
    pub(super) fn others(&self, node: &str) -> String {
        let now = Instant::now();
        let nodes = self.lock();
        let living = nodes.iter().filter(|(name, one)| one.until > now && *name != node);
        living.map(|(name, _)| name.as_str()).collect::<serde_json::Value>().to_string()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Living>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
