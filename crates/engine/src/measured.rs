//! How long models took lately, from the record itself: it outlives restarts, and
//! there is nothing to keep beside the log.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use plenary_domain::{ModelName, limits};

use crate::engine::Engine;
use crate::ports::ListQuery;

/// The times of each model's answers in milliseconds, sorted.
pub type Latencies = BTreeMap<ModelName, Vec<u64>>;

#[derive(Default)]
pub(crate) struct Measured(Mutex<Option<(u64, Arc<Latencies>)>>);

impl Engine {
    /// From the sessions that were changed last. What cannot be read counts for
    /// nothing: an estimate must not keep anybody from starting.
    pub async fn latencies(self: &Arc<Self>) -> Arc<Latencies> {
        let now = self.clock.ticks();
        let known = self.measured.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((at, known)) = known
            && now.saturating_sub(at) < limits::MEASURED_FRESH_MS
        {
            return known;
        }
        let latencies = Arc::new(self.measure().await);
        let fresh = Some((now, latencies.clone()));
        *self.measured.0.lock().unwrap_or_else(PoisonError::into_inner) = fresh;
        latencies
    }

    async fn measure(self: &Arc<Self>) -> Latencies {
        let query = ListQuery { limit: limits::MEASURED_SESSIONS, ..ListQuery::default() };
        let mut latencies = Latencies::new();
        for row in self.store.list(query).await.map(|page| page.rows).unwrap_or_default() {
            let Ok(snapshot) = self.get(row.id).await else { continue };
            for (model, ms) in snapshot.room.measured() {
                latencies.entry(model.clone()).or_default().push(ms);
            }
        }
        latencies.values_mut().for_each(|times| times.sort_unstable());
        latencies
    }
}
