//! What happens in discussions, in the words of Socket.IO.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use plenary_domain::limits;
use plenary_engine::Engine;
use plenary_engine::ports::StoredEvent;
use serde_json::Value;
use tokio::sync::OnceCell;

/// Names of events, with their payload.
pub type Told = Arc<[(&'static str, Value)]>;

/// The last events, put into words once for all clients.
#[derive(Default)]
pub struct News(Mutex<VecDeque<(u64, Arc<OnceCell<Told>>)>>);

impl News {
    /// Whether there may be something to tell.
    pub fn is_any(event: &StoredEvent) -> bool {
        event.kind == "discussion"
    }

    pub async fn of(&self, engine: &Arc<Engine>, event: &StoredEvent) -> Told {
        let cell = event.position.map(|position| self.cell(position)).unwrap_or_default();
        cell.get_or_init(|| told(engine, event)).await.clone()
    }

    fn cell(&self, position: u64) -> Arc<OnceCell<Told>> {
        let mut cells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, cell)) = cells.iter().rev().find(|(at, _)| *at == position) {
            return cell.clone();
        }
        let cell = Arc::new(OnceCell::new());
        cells.push_back((position, cell.clone()));
        if cells.len() > limits::SOCKET_NEWS {
            cells.pop_front();
        }
        cell
    }
}

async fn told(_engine: &Arc<Engine>, _event: &StoredEvent) -> Told {
    Arc::from([])
}
