//! The nodes that live. One process holds the folder, so all of them are in it: whoever
//! else wrote a name into the database is gone.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use plenary_domain::Timestamp;
use plenary_engine::ports::{Driver, NodeRow};

#[derive(Default)]
pub(super) struct Nodes(Mutex<HashMap<String, Node>>);

struct Node {
    since: Timestamp,
    until: Instant,
    draining: bool,
    address: Option<String>,
}

impl Nodes {
    pub(super) fn renew(&self, node: &str, address: Option<&str>, lease: Duration) {
        let until = Instant::now() + lease;
        let fresh = || Node { since: now(), until, draining: false, address: None };
        let mut nodes = self.lock();
        let node = nodes.entry(node.to_owned()).or_insert_with(fresh);
        (node.until, node.address) = (until, address.map(str::to_owned));
    }

    pub(super) fn drain(&self, node: &str) {
        if let Some(node) = self.lock().get_mut(node) {
            node.draining = true;
        }
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
        let living = nodes.iter().filter(|(name, other)| other.until > now && *name != node);
        living.map(|(name, _)| name.as_str()).collect::<serde_json::Value>().to_string()
    }

    /// All of them, given what each drives.
    pub(super) fn rows(&self, driving: &HashMap<String, u64>, schema: u64) -> Vec<NodeRow> {
        let now = Instant::now();
        let nodes = self.lock();
        let rows = nodes.iter().map(|(name, node)| NodeRow {
            name: name.clone(),
            since: node.since,
            lease_left_ms: node.until.saturating_duration_since(now).as_millis() as u64,
            driving: driving.get(name).copied().unwrap_or(0),
            draining: node.draining,
            schema,
            program: Some(env!("CARGO_PKG_VERSION").to_owned()),
            address: node.address.clone(),
        });
        let mut rows: Vec<NodeRow> = rows.collect();
        rows.sort_by(|one, other| (one.since, &one.name).cmp(&(other.since, &other.name)));
        rows
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Node>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millisecond(since.as_millis() as i64).unwrap_or_default()
}
