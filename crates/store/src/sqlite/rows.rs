//! From rows to what the engine knows, and the other way round.

use plenary_domain::{CallId, SessionId, Timestamp, Usage};
use plenary_engine::ports::{AttemptRow, AttemptState, SessionRow, StoreError, StoredEvent};
use uuid::Uuid;

/// SQLite has signed numbers only. None of ours comes near the end of them, and
/// one that does is kept as the greatest.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Columns that hold these numbers never go below zero.
pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// An event that is not listed has a number below zero and no position.
pub(super) fn position(number: i64) -> Option<u64> {
    u64::try_from(number).ok()
}

pub(super) fn state_name(state: AttemptState) -> &'static str {
    match state {
        AttemptState::Begun => "begun",
        AttemptState::Done => "done",
        AttemptState::Failed => "failed",
        AttemptState::Stopped => "stopped",
    }
}

fn state_named(name: &str) -> Option<AttemptState> {
    match name {
        "begun" => Some(AttemptState::Begun),
        "done" => Some(AttemptState::Done),
        "failed" => Some(AttemptState::Failed),
        "stopped" => Some(AttemptState::Stopped),
        _ => None,
    }
}

fn time(ms: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_millisecond(ms)
        .map_err(|_| StoreError::Unreadable(format!("{ms} is not a time")))
}

pub(super) const SESSION: &str =
    "select id, kind, name, project, title, status, active, waits_for, imported, version, epoch,
         created_at, updated_at
     from stream";

pub(super) type SessionTuple = (
    Uuid,
    String,
    Option<String>,
    Option<String>,
    String,
    String,
    bool,
    String,
    bool,
    i64,
    i64,
    i64,
    i64,
);

pub(super) fn session(row: SessionTuple) -> Result<SessionRow, StoreError> {
    let (
        id,
        kind,
        name,
        project,
        title,
        status,
        active,
        waits_for,
        imported,
        version,
        epoch,
        created_at,
        updated_at,
    ) = row;
    Ok(SessionRow {
        id: SessionId(id),
        kind,
        name,
        project,
        title,
        status,
        active,
        waits_for: serde_json::from_str(&waits_for)
            .map_err(|_| StoreError::Unreadable(format!("names that are {waits_for:?}")))?,
        imported,
        version: unsigned(version),
        epoch: unsigned(epoch),
        created_at: time(created_at)?,
        updated_at: time(updated_at)?,
    })
}

/// Of one session after a version, at most so many.
pub(super) const EVENTS: &str =
    "select stream_id, kind, event.version, position, type, actor, payload, at
     from event join stream on stream.id = stream_id
     where stream_id = ? and event.version > ? order by event.version limit ?";

pub(super) type EventTuple = (Uuid, String, i64, i64, String, String, String, i64);

pub(super) fn event(row: EventTuple) -> Result<StoredEvent, StoreError> {
    let (id, kind, version, number, name, actor, payload, at) = row;
    Ok(StoredEvent {
        session: SessionId(id),
        kind,
        version: unsigned(version),
        position: position(number),
        name,
        actor,
        payload,
        at: time(at)?,
    })
}

pub(super) type AttemptTuple =
    (String, u32, i64, String, Option<i64>, Option<i64>, Option<i64>, Option<i64>, Option<i64>);

pub(super) fn attempt(row: AttemptTuple) -> Result<AttemptRow, StoreError> {
    let (call, number, epoch, state, input, output, cached, reasoning, cost) = row;
    Ok(AttemptRow {
        call: CallId(call),
        number,
        epoch: unsigned(epoch),
        state: state_named(&state)
            .ok_or_else(|| StoreError::Unreadable(format!("an attempt that is {state:?}")))?,
        usage: Usage {
            input_tokens: input.map(unsigned),
            cached_tokens: cached.map(unsigned),
            output_tokens: output.map(unsigned),
            reasoning_tokens: reasoning.map(unsigned),
            cost_nano_usd: cost.map(unsigned),
        },
    })
}
