//! A run whose store fails once, wherever that is, or whose models are not listed at once:
//! what cannot be read is no answer, and the step is done later.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
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

/// So often its models are not listed at first, and whether that passes.
#[derive(Default)]
struct Lab {
    silent: AtomicUsize,
    passes: bool,
}

impl Models for Lab {
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
        let is_silent =
            self.silent.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok();
        let unusable = || ProviderState::Unusable {
            problem: "It did not list its models.".into(),
            hint: String::new(),
            passes: self.passes,
        };
        let ready = || ProviderState::Ready { models: vec!["a".into()] };
        let lab = ProviderReport {
            name: "lab".into(),
            kind: "openai",
            place: String::new(),
            state: if is_silent { unusable() } else { ready() },
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
    fn new(lab: Lab) -> Table {
        let (store, clock) = (Arc::new(MemoryStore::default()), Arc::new(ManualClock::default()));
        let engine = Engine::new(store.clone(), Arc::new(lab), clock.clone());
        let clerk = Arc::new(Clerk::new(engine, Tiers::default(), Prices::default()));
        clerk.engine.send(Messenger::of(&clerk));
        Table { store, clock, clerk }
    }

    /// `None`: that was what failed, and was told.
    async fn begin(&self, source: &str) -> Option<SessionId> {
        let standing = Standing { principal: "ada".into(), is_agent: false };
        let new = NewRun {
            workflow: None,
            version: None,
            source: Some(source.into()),
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
        let table = Table::new(Lab::default());
        table.store.fail_at(question);
        let run = match table.begin(SOURCE).await {
            Some(run) => run,
            None => table.begin(SOURCE).await.unwrap(),
        };
        assert_eq!(table.end(run).await, "done", "question {question}");
        if table.store.will_fail() {
            assert!(question > 30, "only {question} questions were asked");
            return;
        }
    }
}

/// Found by an hour of chaos: a model server was too busy to list its models.
#[tokio::test]
async fn a_step_looks_again_for_models_that_were_not_listed() {
    for step in [
        "ask: { prompt: Which one? }",
        "ask: { prompt: Which one?, model: a }",
        "boardroom: { prompt: Which one?, advisors: [critic] }",
        "boardroom: { prompt: Which one?, advisors: [critic=a] }",
        "discussion: { topic: Which one?, rounds: 1 }",
    ] {
        for (passes, expected) in [(true, "done"), (false, "failed")] {
            let table = Table::new(Lab { silent: 4.into(), passes });
            let source = format!("name: asks\nsteps: {{ q: {{ {step} }} }}");
            let run = table.begin(&source).await.unwrap();
            assert_eq!(table.end(run).await, expected, "{step}");
        }
    }
}
