//! Requests that open sessions, without any way in.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, StreamExt};
use plenary_clerk::boardrooms::{self, NewBoardroom};
use plenary_clerk::councils::{self, NewCouncil, NewMember};
use plenary_clerk::{Clerk, ClerkError, Prices, Tiers};
use plenary_domain::{Ask, ModelName, Reject, SessionId};
use plenary_engine::ports::{ModelError, Models, Piece, ProviderReport};
use plenary_engine::testkit::{ManualClock, MemoryStore};
use plenary_engine::{By, Engine};

/// One provider, which lists nothing and never answers.
struct Silent;

impl Models for Silent {
    fn ask(&self, _: Ask, _: String) -> BoxStream<'static, Result<Piece, ModelError>> {
        stream::pending().boxed()
    }

    fn providers(&self) -> Vec<String> {
        vec!["lab".into()]
    }

    fn window_tokens(&self, _: &ModelName) -> u32 {
        8192
    }

    fn catalog(&self) -> BoxFuture<'_, Vec<ProviderReport>> {
        Box::pin(async { vec![] })
    }
}

fn clerk() -> Clerk {
    let (store, clock) = (Arc::new(MemoryStore::default()), Arc::new(ManualClock::default()));
    let engine = Engine::new(store, Arc::new(Silent), clock);
    Clerk { engine, tiers: Tiers::default(), prices: Prices::default() }
}

fn board(models: &[&str]) -> NewBoardroom {
    NewBoardroom {
        prompt: "Which way?".into(),
        board: None,
        advisors: None,
        models: Some(models.iter().map(|&model| model.to_owned()).collect()),
        synthesizer: None,
        quorum: None,
        ballot: None,
        context: None,
    }
}

#[tokio::test]
async fn a_derived_id_opens_one_session_however_often_it_is_asked_for() {
    let clerk = clerk();
    let id: SessionId = "01890000-0000-7000-8000-000000000000".parse().unwrap();
    let by = || By::actor("workflow");
    let first = boardrooms::convene(&clerk, Some(id), by(), board(&["lab/a"])).await.unwrap();
    assert_eq!((first.id, first.recorded.is_empty()), (id, false));
    // What it names need not be there any more.
    let again = boardrooms::convene(&clerk, Some(id), by(), board(&["gone"])).await.unwrap();
    assert_eq!((again.id, again.version, again.recorded.len()), (id, first.version, 0));
    let other = boardrooms::convene(&clerk, None, by(), board(&["lab/a"])).await.unwrap();
    assert_ne!(other.id, id);
}

#[tokio::test]
async fn whatever_is_wrong_is_told_at_once() {
    let member = |name: &str, model: &str| NewMember {
        name: name.into(),
        model: Some(model.into()),
        persona: None,
    };
    let new = NewCouncil {
        name: "no name".into(),
        charter: "Talk.".into(),
        members: vec![member("ann", "lab/a"), member("bob", "gone")],
        project: None,
    };
    let refused = councils::open(&clerk(), None, By::actor("ann"), new).await;
    let Err(ClerkError::Refused(Reject::Invalid(wrong))) = refused else {
        unreachable!("{refused:?}")
    };
    let fields: Vec<&str> = wrong.iter().map(|wrong| wrong.field.as_str()).collect();
    assert_eq!(fields, ["members[1].model", "name"]);
}

#[tokio::test]
async fn without_a_model_nobody_is_seated() {
    let new = NewBoardroom { models: None, ..board(&[]) };
    let refused = boardrooms::convene(&clerk(), None, By::actor("ann"), new).await;
    assert!(matches!(refused, Err(ClerkError::NoModel(_))), "{refused:?}");
}
