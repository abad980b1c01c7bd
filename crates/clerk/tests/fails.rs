//! A run whose store fails once, wherever that is: what cannot be read is no answer, and the
//! step is done later.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, StreamExt};
use plenary_clerk::identity::Standing;
use plenary_clerk::runs::{self, NewRun};
use plenary_clerk::{Clerk, Messenger, Prices, Tiers};
use plenary_domain::{Ask, ModelName, SessionId};
use plenary_engine::ports::{Ending, ModelError, Models, Piece, ProviderReport, ProviderState};
use plenary_engine::testkit::{ManualClock, MemoryStore};
use plenary_engine::{By, Engine};

/// Does all that a run does as somebody whom it has brought.
const SOURCE: &str = r#"
name: rooms
steps:
  board: { whiteboard.open: { board_id: plan, topic: "Which one?" } }
  room: { council.open: { name: talk, charter: "The outcome." } }
  seat: { whiteboard.register: { board: "{{ steps.board.id }}", agent: ann, role: specialist } }
  ask:
    whiteboard.post: { board: "{{ steps.board.id }}", as: ann, ask: "Propose one answer." }
    needs: [seat]
  post:
    whiteboard.post: { board: plan, as: ann, type: proposal, title: This, body: Simple. }
    needs: [seat]
  say: { council.post: { council: "{{ steps.room.id }}", as: secretary, body: "{{ steps.post.post }}" } }
  more: { council.post: { council: talk, as: secretary, body: "More." }, needs: [say] }
  read: { whiteboard.transition: { board: "{{ steps.board.id }}", to: read }, needs: [ask, post] }
  panel: { boardroom: { prompt: "Was it right?", advisors: [critic] }, needs: [read] }
"#;

struct Ready;

impl Models for Ready {
    fn ask(&self, _: Ask, _: String) -> BoxStream<'static, Result<Piece, ModelError>> {
        let answer = r#"{ "title": "That", "body": "Better." }"#;
        stream::iter([Ok(Piece::Text(answer.into())), Ok(Piece::End(Ending::Whole))]).boxed()
    }

    fn providers(&self) -> Vec<String> {
        vec!["lab".into()]
    }

    fn window_tokens(&self, _: &ModelName) -> u32 {
        8192
    }

    fn catalog(&self) -> BoxFuture<'_, Vec<ProviderReport>> {
        let lab = ProviderReport {
            name: "lab".into(),
            kind: "openai",
            place: String::new(),
            state: ProviderState::Ready { models: vec!["a".into()] },
            note: None,
        };
        Box::pin(async { vec![lab] })
    }
}

struct Table {
    store: Arc<MemoryStore>,
    clock: Arc<ManualClock>,
    clerk: Arc<Clerk>,
}

impl Table {
    fn new() -> Table {
        let (store, clock) = (Arc::new(MemoryStore::default()), Arc::new(ManualClock::default()));
        let engine = Engine::new(store.clone(), Arc::new(Ready), clock.clone());
        let clerk = Arc::new(Clerk::new(engine, Tiers::default(), Prices::default()));
        clerk.engine.send(Messenger::of(&clerk));
        Table { store, clock, clerk }
    }

    /// `None`: that was what failed, and was told.
    async fn begin(&self) -> Option<SessionId> {
        let standing = Standing { principal: "ada".into(), is_agent: false };
        let new = NewRun {
            workflow: None,
            version: None,
            source: Some(SOURCE.into()),
            inputs: Default::default(),
            starter: None,
        };
        let begun = runs::begin(&self.clerk, (By::actor("ada"), &standing), new).await;
        begun.ok().map(|run| run.id)
    }

    /// How it stands when nothing goes on any more.
    async fn end(&self, run: SessionId) -> String {
        for _ in 0..60 {
            for _ in 0..200 {
                tokio::task::yield_now().await;
            }
            if !self.store.lock().row(run).unwrap().active {
                break;
            }
            self.clock.advance(Duration::from_secs(1));
        }
        self.store.lock().row(run).unwrap().status.clone()
    }
}

#[tokio::test]
async fn a_store_that_fails_once_costs_no_step() {
    for question in 1.. {
        let table = Table::new();
        table.store.fail_at(question);
        let run = match table.begin().await {
            Some(run) => run,
            None => table.begin().await.unwrap(),
        };
        assert_eq!(table.end(run).await, "done", "question {question}");
        if table.store.will_fail() {
            assert!(question > 30, "only {question} questions were asked");
            return;
        }
    }
}
