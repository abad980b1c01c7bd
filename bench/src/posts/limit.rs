//! The same events given to the store alone: one session, many writers, and
//! nobody who decides anything.

use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt as _;
use plenary_domain::whiteboard::{Content, Event, PostId, PostKind, Severity};
use plenary_domain::{AgentName, SessionId, Timestamp};
use plenary_engine::ports::{Append, Appended, Idempotency, NewEvent, Store as _};
use plenary_store::{Holder, SqliteStore};
use tempfile::TempDir;
use tokio::sync::Mutex;
use uuid::Uuid;

use super::agent::{BODY, FILE, LOCATION, TITLE};
use crate::Outcome;

pub struct Limit {
    store: Arc<SqliteStore>,
    _folder: TempDir,
}

pub async fn open() -> Outcome<Limit> {
    let folder = tempfile::tempdir()?;
    let holder = Holder { command: "bench".into(), since: Timestamp::UNIX_EPOCH };
    let store = Arc::new(plenary_store::open(&folder.path().join("home"), holder).await?);
    Ok(Limit { store, _folder: folder })
}

/// Events per second. Each writer waits for its own event to be durable before its
/// next; versions are handed out in the order in which appends reach the store.
pub async fn rate(limit: &Limit, writers: usize, each: usize) -> Outcome<f64> {
    let session = SessionId(Uuid::now_v7());
    limit.store.append(append(session, 0)?).await?;
    let next = Arc::new(Mutex::new(1));
    let start = Instant::now();
    let writers: Vec<_> = (0..writers)
        .map(|_| tokio::spawn(write(limit.store.clone(), session, next.clone(), each)))
        .collect();
    let mut count = 0;
    for writer in writers {
        count += writer.await??;
    }
    Ok(count as f64 / start.elapsed().as_secs_f64())
}

async fn write(
    store: Arc<SqliteStore>,
    session: SessionId,
    next: Arc<Mutex<u64>>,
    each: usize,
) -> Outcome<usize> {
    for _ in 0..each {
        let mut version = next.lock().await;
        let mut appending = store.append(append(session, *version)?);
        *version += 1;
        // Asked once, it stands in the store's line.
        let done = (&mut appending).now_or_never();
        drop(version);
        let appended = match done {
            Some(appended) => appended?,
            None => appending.await?,
        };
        if !matches!(appended, Appended::Written { .. }) {
            return Err(format!("an append was refused: {appended:?}").into());
        }
    }
    Ok(each)
}

/// What one post on a blind board is to the store.
fn append(session: SessionId, expected: u64) -> Outcome<Append> {
    let posted = Event::Posted {
        id: PostId(format!("agent-1/{expected}")),
        author: AgentName("agent-1".into()),
        content: Content {
            kind: PostKind::Concern,
            title: TITLE.into(),
            body: BODY.into(),
            target_file: Some(FILE.into()),
            target_location: Some(LOCATION.into()),
            severity: Some(Severity::High),
            finding_refs: vec![],
            cascade_targets: vec![],
        },
        at: Timestamp::UNIX_EPOCH,
    };
    Ok(Append {
        session,
        expected,
        epoch: None,
        kind: "whiteboard",
        name: None,
        project: None,
        title: "How fast?".into(),
        status: "blind",
        active: false,
        waits_for: vec![],
        imported: false,
        actor: "agent-1".into(),
        at: Timestamp::UNIX_EPOCH,
        events: vec![NewEvent {
            name: "posted",
            payload: serde_json::to_string(&posted)?,
            search: String::new(),
            listed: false,
        }],
        attempts: vec![],
        idempotency: Some(Idempotency {
            principal: "local as agent-1".into(),
            key: format!("{session}-{expected}"),
            request_hash: "0123456789abcdef".into(),
            lasting: false,
        }),
        driver: None,
        wake_at: None,
    })
}
