//! From rows to what the engine knows, and the other way round, for both databases.

use plenary_domain::{CallId, SessionId, Timestamp, Usage};
use plenary_engine::ports::{
    AttemptRow, AttemptState, ListPage, SessionRow, StoreError, StoredEvent,
};
use uuid::Uuid;

/// Databases have signed numbers only. None of ours comes near the end of them, and
/// one that does is kept as the greatest.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Columns that hold these numbers never go below zero.
pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// An event that is not listed has a number below zero and no position.
pub(crate) fn position(number: i64) -> Option<u64> {
    u64::try_from(number).ok()
}

pub(crate) fn state_name(state: AttemptState) -> &'static str {
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

/// The words of a given title stand in the search index as if it were an event of this
/// version, to which no session comes that is indexed.
pub(crate) const LABEL: i64 = (1 << 24) - 1;

pub(crate) const SESSION: &str =
    "select id, kind, name, project, coalesce(label, title), label is not null, status, active,
         waits_for, imported, pinned, version, epoch, created_at, updated_at
     from stream";

pub(crate) type SessionTuple = (
    Uuid,
    String,
    Option<String>,
    Option<String>,
    String,
    bool,
    String,
    bool,
    String,
    bool,
    bool,
    i64,
    i64,
    i64,
    i64,
);

pub(crate) fn session(row: SessionTuple) -> Result<SessionRow, StoreError> {
    let (
        id,
        kind,
        name,
        project,
        title,
        renamed,
        status,
        active,
        waits_for,
        imported,
        pinned,
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
        renamed,
        status,
        active,
        waits_for: serde_json::from_str(&waits_for)
            .map_err(|_| StoreError::Unreadable(format!("names that are {waits_for:?}")))?,
        imported,
        pinned,
        version: unsigned(version),
        epoch: unsigned(epoch),
        created_at: time(created_at)?,
        updated_at: time(updated_at)?,
    })
}

/// `$1` is the session, `$2` the version after which they come, `$3` how many at most. One
/// without a position has a number below zero.
pub(crate) const EVENTS: &str =
    "select stream_id, kind, event.version, coalesce(position, -1), type, actor, payload, at
     from event join stream on stream.id = stream_id
     where stream_id = $1 and event.version > $2 order by event.version limit $3";

pub(crate) type EventTuple = (Uuid, String, i64, i64, String, String, String, i64);

pub(crate) fn event(row: EventTuple) -> Result<StoredEvent, StoreError> {
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

/// `$1` is the session.
pub(crate) const ATTEMPTS: &str =
    "select call_id, number, epoch, state, input_tokens, output_tokens, cached_tokens,
         reasoning_tokens, cost_nano_usd
     from attempt where stream_id = $1 order by call_id, number";

pub(crate) type AttemptTuple =
    (String, i64, i64, String, Option<i64>, Option<i64>, Option<i64>, Option<i64>, Option<i64>);

pub(crate) fn attempt(row: AttemptTuple) -> Result<AttemptRow, StoreError> {
    let (call, number, epoch, state, input, output, cached, reasoning, cost) = row;
    Ok(AttemptRow {
        call: CallId(call),
        number: u32::try_from(number).unwrap_or(0),
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

/// A page of a list, from one row more than was asked for.
pub(crate) fn page(found: Vec<SessionRow>, limit: u32, total: i64) -> ListPage {
    let more = found.len() > limit as usize;
    let rows: Vec<SessionRow> = found.into_iter().take(limit as usize).collect();
    ListPage { total: unsigned(total), next: rows.last().filter(|_| more).map(|row| row.id), rows }
}

/// The people whose reply is awaited, as one text.
pub(crate) fn names(people: &[String]) -> String {
    serde_json::Value::from(people).to_string()
}

pub(crate) fn secret(bytes: Vec<u8>) -> Result<[u8; 32], StoreError> {
    <[u8; 32]>::try_from(bytes)
        .map_err(|_| StoreError::Unreadable("its secret is not 32 bytes long".into()))
}
