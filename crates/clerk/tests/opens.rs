//! Requests that open sessions, without any way in.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, StreamExt};
use plenary_clerk::boardrooms::{self, NewBoardroom};
use plenary_clerk::councils::{self, NewCouncil, NewMember};
use plenary_clerk::discussions::{self, NewDiscussion, NewSeat};
use plenary_clerk::{Clerk, ClerkError, Price, Prices, Tiers};
use plenary_domain::{Ask, ModelName, Reject, SessionId, Usage};
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
    Clerk::new(engine, Tiers::default(), Prices::default())
}

fn board(models: &[&str]) -> NewBoardroom {
    NewBoardroom {
        prompt: "Which way?".into(),
        models: Some(models.iter().map(|&model| model.to_owned()).collect()),
        ..NewBoardroom::default()
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
        ..NewMember::default()
    };
    let new = NewCouncil {
        budget: None,
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

/// What the operator sets later is no concern of a session that is under way.
#[tokio::test]
async fn every_form_keeps_to_the_prices_that_it_opened_with() {
    let model = ModelName::new("lab", "a");
    let set = |currency: &str, input: f64| {
        let price = Price { input, output: 0.0, cached: Some(0.0) };
        let (currency, models) = (currency.to_owned(), [(model.clone(), price)].into());
        Prices { currency, models, free: vec![] }
    };
    let mut clerk = Clerk { prices: set("EUR", 1.0).into(), ..clerk() };
    let board = boardrooms::convene(&clerk, None, By::actor("ada"), board(&["lab/a"])).await;
    let member =
        NewMember { name: "ann".into(), model: Some("lab/a".into()), ..NewMember::default() };
    let council = NewCouncil {
        budget: None,
        name: "weekly".into(),
        charter: "Talk.".into(),
        members: vec![member],
        project: None,
    };
    let council = councils::open(&clerk, None, By::actor("ada"), council).await;
    let seat = |name: &str| NewSeat {
        name: Some(name.into()),
        model: Some("lab/a".into()),
        ..NewSeat::default()
    };
    let discussion = NewDiscussion {
        budget: None,
        name: None,
        topic: "Tea?".into(),
        format: None,
        moderator_id: None,
        facilitator: Some(seat("Lee")),
        participants: Some(vec![seat("Ann")]),
        model: None,
        max_rounds: None,
        budget_tokens: None,
        project: None,
        context: None,
        start: None,
    };
    let draft = discussions::create(&clerk, None, By::actor("ada"), discussion).await.unwrap();
    assert!(draft.room.ledger().unwrap().prices().models.is_empty(), "a draft is not open yet");
    let discussion = discussions::start(&clerk, draft.id, By::actor("ada")).await;
    clerk.prices = set("USD", 9.0).into();
    let (input, cached) = (Some(3_000_000), Some(1_000_000));
    let used = Usage {
        input_tokens: input,
        cached_tokens: cached,
        output_tokens: Some(0),
        ..Usage::default()
    };
    for opened in [board, council, discussion] {
        let room = opened.unwrap().room;
        let ledger = room.ledger().unwrap();
        let told = (clerk.cost(ledger, &model, used), clerk.currency(ledger));
        assert_eq!(told, (Some(2.0), "EUR".to_owned()), "{}", room.kind());
        // Nothing was noted of another model, and what it costs now is in other money.
        assert_eq!(clerk.cost(ledger, &ModelName::new("lab", "b"), used), None);
    }
    assert_eq!(clerk.cost(draft.room.ledger().unwrap(), &model, used), Some(18.0));
}
