//! What an engine does by itself, on a store in memory.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, StreamExt};
use plenary_domain::boardroom::{self, Convene, Role, Seat, SeatId, Sitter};
use plenary_domain::{Ask, ModelName, SessionId, Timestamp, limits, room};
use plenary_engine::ports::{Append, ModelError, Models, NewEvent, Piece, ProviderReport, Store};
use plenary_engine::testkit::{ManualClock, MemoryStore};
use plenary_engine::{By, Engine};

/// Models that never answer, and how often they were asked.
#[derive(Default)]
struct Silent(AtomicUsize);

impl Models for Silent {
    fn ask(&self, _: Ask, _: String) -> BoxStream<'static, Result<Piece, ModelError>> {
        self.0.fetch_add(1, SeqCst);
        stream::pending().boxed()
    }

    fn providers(&self) -> Vec<String> {
        vec!["silent".into()]
    }

    fn window_tokens(&self, _: &ModelName) -> u32 {
        8_192
    }

    fn catalog(&self) -> BoxFuture<'_, Vec<ProviderReport>> {
        Box::pin(async { vec![] })
    }
}

#[derive(Default)]
struct Table {
    store: Arc<MemoryStore>,
    models: Arc<Silent>,
    clock: Arc<ManualClock>,
}

impl Table {
    fn engine(&self) -> Arc<Engine> {
        Engine::new(self.store.clone(), self.models.clone(), self.clock.clone())
    }

    /// The time of some looks round, and whatever follows from them.
    async fn beats(&self, count: usize) {
        for _ in 0..count {
            settle().await;
            self.clock.advance(Duration::from_millis(limits::BEAT_MS));
        }
        settle().await;
    }

    fn asked(&self) -> usize {
        self.models.0.load(SeqCst)
    }
}

/// On one thread, everything that can go on has done so after this.
async fn settle() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

fn board() -> room::Command {
    let model = ModelName::new("silent", "m");
    let seat = Seat {
        id: SeatId(1),
        role: Role::Critic,
        sitter: Sitter::Model(model.clone()),
        system_prompt: None,
    };
    room::Command::Boardroom(boardroom::Command::Convene(Convene {
        prompt: "Which one?".into(),
        context: vec![],
        seats: vec![seat],
        synthesizers: vec![model],
        quorum: None,
        ballot: false,
    }))
}

#[tokio::test]
async fn another_goes_on_with_what_was_shut_down_and_the_first_does_not() {
    let table = Table::default();
    let first = table.engine();
    first.resume_all().await.unwrap();
    first.open(By::actor("ada"), board()).await.unwrap();
    settle().await;
    assert_eq!(table.asked(), 1);
    first.shut_down().await;
    table.beats(4).await;
    assert_eq!(table.asked(), 1);
    let second = table.engine();
    assert_eq!(second.resume_all().await.unwrap(), 1);
    table.beats(4).await;
    assert_eq!(table.asked(), 2);
}

#[tokio::test]
async fn what_cannot_be_read_is_tried_once() {
    let table = Table::default();
    let id: SessionId = "01890000-0000-7000-8000-000000000000".parse().unwrap();
    let unknown = NewEvent {
        name: "invented",
        payload: "{\"type\":\"invented\"}".into(),
        search: String::new(),
        listed: true,
    };
    let append = Append {
        session: id,
        expected: 0,
        epoch: None,
        kind: "boardroom",
        name: None,
        project: None,
        imported: false,
        title: "From a later version".into(),
        status: "answering",
        active: true,
        waits_for: vec![],
        actor: "ada".into(),
        at: Timestamp::UNIX_EPOCH,
        events: vec![unknown],
        attempts: vec![],
        idempotency: None,
        driver: None,
        wake_at: None,
    };
    table.store.append(append).await.unwrap();
    let engine = table.engine();
    assert_eq!(engine.resume_all().await.unwrap(), 1);
    table.beats(4).await;
    assert_eq!(table.store.lock().row(id).unwrap().epoch, 1);
}
