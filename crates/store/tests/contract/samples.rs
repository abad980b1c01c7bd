//! Values that the suite writes, and everything that can be read back.

use plenary_domain::{CallId, SessionId, Timestamp, Usage};
use plenary_engine::ports::{
    Append, Appended, AttemptEnd, AttemptRow, AttemptState, Idempotency, ListPage, ListQuery,
    NewEvent, SessionRow, Store, StoredEvent,
};
use uuid::Uuid;

pub fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(1_750_000_000_000 + ms).unwrap()
}

/// Greater numbers are newer.
pub fn id(number: u128) -> SessionId {
    SessionId(Uuid::from_u128(number))
}

pub fn call(name: &str) -> CallId {
    CallId(name.into())
}

pub fn event(name: &'static str, search: &str) -> NewEvent {
    let payload = format!("{{\"text\":\"{search}\"}}");
    NewEvent { name, payload, search: search.into(), listed: true }
}

/// One that readers of all sessions do not see.
pub fn unlisted(name: &'static str, search: &str) -> NewEvent {
    NewEvent { listed: false, ..event(name, search) }
}

/// The answer to an append of listed events, the first with this position.
pub fn written(version: u64, first_position: u64, events: usize) -> Appended {
    let positions = (first_position..).map(Some).take(events).collect();
    Appended::Written { version, positions, epoch: None }
}

/// Opens a session with one event and nothing special about it.
pub fn opening(session: SessionId) -> Append {
    Append {
        session,
        expected: 0,
        epoch: None,
        kind: "boardroom",
        name: None,
        project: None,
        title: "a title".into(),
        status: "open",
        active: true,
        waits_for: vec![],
        imported: false,
        actor: "ada".into(),
        at: at(0),
        events: vec![event("opened", "")],
        attempts: vec![],
        idempotency: None,
        driver: None,
        wake_at: None,
    }
}

/// Adds one event.
pub fn adding(session: SessionId, expected: u64) -> Append {
    Append {
        expected,
        at: at(expected as i64),
        events: vec![event("added", "")],
        ..opening(session)
    }
}

/// Opens a session that somebody drives at epoch 1.
pub fn owned(session: SessionId) -> Append {
    Append { driver: Some("driver".into()), ..opening(session) }
}

pub fn key(principal: &str, key: &str, hash: &str) -> Option<Idempotency> {
    Some(Idempotency {
        principal: principal.into(),
        key: key.into(),
        request_hash: hash.into(),
        lasting: false,
    })
}

pub fn end(name: &str, number: u32, state: AttemptState, tokens: u64) -> AttemptEnd {
    AttemptEnd {
        call: call(name),
        number,
        state,
        usage: Usage { input_tokens: Some(tokens), output_tokens: None, ..Usage::default() },
    }
}

pub async fn write(store: &dyn Store, append: Append) -> u64 {
    match store.append(append).await.unwrap() {
        Appended::Written { version, .. } => version,
        other => panic!("not written: {other:?}"),
    }
}

pub fn everything() -> ListQuery {
    ListQuery { limit: 1_000, ..ListQuery::default() }
}

/// All that a store tells about some sessions.
#[derive(PartialEq, Debug)]
pub struct Told {
    pub list: ListPage,
    pub position: u64,
    pub events: Vec<StoredEvent>,
    pub sessions: Vec<ToldOfOne>,
}

#[derive(PartialEq, Debug)]
pub struct ToldOfOne {
    pub row: Option<SessionRow>,
    pub events: Vec<StoredEvent>,
    pub attempts: Vec<AttemptRow>,
    pub drafts: Vec<(CallId, String)>,
}

pub async fn told(store: &dyn Store, ids: &[SessionId]) -> Told {
    let mut sessions = Vec::new();
    for id in ids {
        sessions.push(ToldOfOne {
            row: store.session(*id).await.unwrap(),
            events: store.events(*id, 0, u32::MAX).await.unwrap(),
            attempts: store.attempts(*id).await.unwrap(),
            drafts: store.drafts(*id).await.unwrap(),
        });
    }
    Told {
        list: store.list(everything()).await.unwrap(),
        position: store.position().await.unwrap(),
        events: store.events_of_all(0, u32::MAX).await.unwrap(),
        sessions,
    }
}
