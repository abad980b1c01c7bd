//! Events per second: one commit each, against commits that gather what waits.
//!
//! `cargo run --release -p plenary-store --example throughput [events] [folder]`

#![allow(clippy::print_stdout, clippy::expect_used)]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use plenary_domain::{SessionId, Timestamp};
use plenary_engine::ports::{Append, Appended, NewEvent, Store};
use plenary_store::{Holder, SqliteStore};
use uuid::Uuid;

/// Sessions that write at the same time.
const SESSIONS: [usize; 4] = [1, 16, 64, 512];

#[tokio::main]
async fn main() {
    let events: usize = argument(1).map_or(20_000, |text| text.parse().expect("a number"));
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = argument(2).map_or(scratch.path().to_owned(), PathBuf::from);
    let holder = Holder { command: "throughput".into(), since: Timestamp::UNIX_EPOCH };
    let store = plenary_store::open(&folder, holder).await.expect("a store");
    let store = Arc::new(store);
    for sessions in SESSIONS {
        // One writer waits for the disk each time: fewer events are enough.
        let each = if sessions == 1 { events / 20 } else { events / sessions };
        let start = Instant::now();
        let writers: Vec<_> =
            (0..sessions).map(|_| tokio::spawn(write(store.clone(), each))).collect();
        for writer in writers {
            writer.await.expect("a writer");
        }
        let rate = (sessions * each) as f64 / start.elapsed().as_secs_f64();
        println!("{sessions:>4} sessions at once: {rate:>8.0} events/s");
    }
    store.close().await.expect("a closed store");
}

fn argument(number: usize) -> Option<String> {
    std::env::args().nth(number)
}

async fn write(store: Arc<SqliteStore>, events: usize) {
    let session = SessionId(Uuid::now_v7());
    for expected in 0..events as u64 {
        let answer = store.append(append(session, expected)).await;
        assert!(matches!(answer, Ok(Appended::Written { .. })), "{answer:?}");
    }
}

/// An answer of a model, of about a paragraph.
fn append(session: SessionId, expected: u64) -> Append {
    let text = "Weigh the cost of waiting against the cost of being wrong. ".repeat(4);
    Append {
        session,
        expected,
        epoch: None,
        kind: "boardroom",
        title: "What should we do first?".into(),
        status: "open",
        active: true,
        actor: "bench".into(),
        at: Timestamp::UNIX_EPOCH,
        events: vec![NewEvent {
            name: "answered",
            payload: format!("{{\"text\":\"{text}\"}}"),
            search: text,
        }],
        attempts: vec![],
        idempotency: None,
        owner: None,
    }
}
