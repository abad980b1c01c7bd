//! What is written, in the shape that `plenary_write_1` takes, and what it answers.

use std::borrow::Cow;

use plenary_domain::{CallId, SessionId};
use plenary_engine::ports::{Append, Appended, AttemptEnd, IdempotentAnswer, StoreError};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::text::kept;
use crate::rows::{names, state_name};
use crate::words;

/// What one caller wants done to one session, up to the first that is refused.
#[derive(Serialize)]
pub(super) struct Job<'a> {
    pub(super) session: Uuid,
    pub(super) ops: Vec<Op<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub(super) enum Op<'a> {
    Append(Box<Appending<'a>>),
    Begin { epoch: u64, call: Cow<'a, str>, ended: Option<Ended<'a>>, owes: bool },
    Draft { epoch: u64, call: Cow<'a, str>, text: Cow<'a, str> },
    End { epoch: u64, ended: Ended<'a> },
    Remove,
}

#[derive(Serialize)]
pub(super) struct Appending<'a> {
    expected: u64,
    epoch: Option<u64>,
    kind: &'a str,
    name: Option<Cow<'a, str>>,
    project: Option<Cow<'a, str>>,
    imported: bool,
    title: Cow<'a, str>,
    status: &'a str,
    active: bool,
    waits_for: String,
    actor: Cow<'a, str>,
    at: i64,
    wake_at: Option<i64>,
    driver: Option<&'a str>,
    /// Whether readers of all may know that something changed.
    seen: bool,
    events: Vec<Event<'a>>,
    words: Vec<Words>,
    attempts: Vec<Ended<'a>>,
    #[serde(flatten)]
    key: Option<Key<'a>>,
}

#[derive(Serialize)]
struct Event<'a> {
    name: &'a str,
    payload: Cow<'a, str>,
    listed: bool,
}

/// Of the event at a version, or at 0 of the title.
#[derive(Serialize)]
struct Words {
    version: u64,
    part: usize,
    words: String,
}

#[derive(Serialize)]
pub(super) struct Ended<'a> {
    call: Cow<'a, str>,
    number: u32,
    state: &'static str,
    input: Option<u64>,
    output: Option<u64>,
    cached: Option<u64>,
    reasoning: Option<u64>,
    cost: Option<u64>,
}

#[derive(Serialize)]
struct Key<'a> {
    principal: Cow<'a, str>,
    key: Cow<'a, str>,
    request_hash: Cow<'a, str>,
    lasting: bool,
}

impl<'a> Op<'a> {
    pub(super) fn append(append: &'a Append) -> Op<'a> {
        let versions = append.expected + 1..;
        let texts = versions.zip(&append.events).map(|(version, event)| (version, &*event.search));
        let words =
            std::iter::once((0, &*append.title)).chain(texts).flat_map(|(version, text)| {
                let parts = words::for_tsvectors(text).into_iter().enumerate();
                parts.map(move |(part, words)| Words { version, part, words })
            });
        Op::Append(Box::new(Appending {
            expected: append.expected,
            epoch: append.epoch,
            kind: append.kind,
            name: append.name.as_deref().map(kept),
            project: append.project.as_deref().map(kept),
            imported: append.imported,
            title: kept(&append.title),
            status: append.status,
            active: append.active,
            waits_for: names(&append.waits_for),
            actor: kept(&append.actor),
            at: append.at.as_millisecond(),
            wake_at: append.wake_at.map(|at| at.as_millisecond()),
            driver: append.driver.as_deref(),
            seen: append.events.iter().any(|event| event.listed),
            events: append
                .events
                .iter()
                .map(|event| Event {
                    name: event.name,
                    payload: kept(&event.payload),
                    listed: event.listed,
                })
                .collect(),
            words: words.collect(),
            attempts: append.attempts.iter().map(ended).collect(),
            key: append.idempotency.as_ref().map(|given| Key {
                principal: kept(&given.principal),
                key: kept(&given.key),
                request_hash: kept(&given.request_hash),
                lasting: given.lasting,
            }),
        }))
    }

    pub(super) fn begin(epoch: u64, call: &'a CallId, end: Option<&'a AttemptEnd>) -> Op<'a> {
        let owes = end.is_some_and(|end| !end.usage.is_unknown());
        Op::Begin { epoch, call: kept(&call.0), ended: end.map(ended), owes }
    }

    pub(super) fn draft(epoch: u64, call: &'a CallId, text: &'a str) -> Op<'a> {
        Op::Draft { epoch, call: kept(&call.0), text: kept(text) }
    }

    pub(super) fn end(epoch: u64, end: &'a AttemptEnd) -> Op<'a> {
        Op::End { epoch, ended: ended(end) }
    }
}

fn ended(end: &AttemptEnd) -> Ended<'_> {
    Ended {
        call: kept(&end.call.0),
        number: end.number,
        state: state_name(end.state),
        input: end.usage.input_tokens,
        output: end.usage.output_tokens,
        cached: end.usage.cached_tokens,
        reasoning: end.usage.reasoning_tokens,
        cost: end.usage.cost_nano_usd,
    }
}

#[derive(Deserialize, Debug)]
#[serde(tag = "is", rename_all = "lowercase")]
pub(super) enum Answer {
    Written { version: u64, positions: Vec<Option<u64>>, epoch: Option<u64> },
    Conflict { version: u64 },
    Fenced,
    Repeated { request_hash: String, session: Uuid, first: u64, version: u64 },
    Gone,
    Taken,
    Begun { number: u32 },
    Done,
}

impl Answer {
    pub(super) fn appended(self) -> Result<Appended, StoreError> {
        Ok(match self {
            Answer::Written { version, positions, epoch } => {
                Appended::Written { version, positions, epoch }
            }
            Answer::Conflict { version } => Appended::Conflict { version },
            Answer::Fenced => Appended::Fenced,
            Answer::Gone => Appended::Gone,
            Answer::Taken => Appended::Taken,
            Answer::Repeated { request_hash, session, first, version } => {
                Appended::Repeated(IdempotentAnswer {
                    request_hash: super::text::given(request_hash),
                    session: SessionId(session),
                    first,
                    version,
                })
            }
            other @ (Answer::Begun { .. } | Answer::Done) => return Err(other.is_odd()),
        })
    }

    /// To somebody who only wanted something done as the session's driver.
    pub(super) fn held(self) -> Result<(), StoreError> {
        match self {
            Answer::Done => Ok(()),
            Answer::Fenced => Err(StoreError::Fenced),
            other => Err(other.is_odd()),
        }
    }

    pub(super) fn is_odd(&self) -> StoreError {
        StoreError::Unreadable(format!("an answer that is {self:?}"))
    }
}
