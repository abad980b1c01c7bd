//! What sessions do, as traces: a session is a trace, and each call in it a span.

use std::sync::Arc;

use plenary_domain::{CallId, FailureKind, ModelName, Outcome, SessionId, Timestamp, Usage};

use crate::engine::Engine;
use crate::session::Recorded;

/// Whoever keeps traces.
pub trait Traces: Send + Sync {
    /// Never waits: what cannot be kept is dropped, and counted.
    fn note(&self, span: Span);

    fn counts(&self) -> TraceCounts;
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TraceCounts {
    pub exported: u64,
    pub dropped: u64,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Span {
    pub session: SessionId,
    pub began: Timestamp,
    pub ended: Timestamp,
    pub what: Spanned,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Spanned {
    /// The session was opened, which is told once, whichever nodes drive it later. All
    /// else in it hangs on this.
    Opened { kind: &'static str },
    Call {
        call: CallId,
        model: ModelName,
        /// Of all requests.
        usage: Usage,
        requests: u32,
        ending: CallEnding,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallEnding {
    Answered,
    Failed(FailureKind),
    /// It was stopped, or left to another node.
    Dropped,
}

impl Engine {
    /// Who keeps traces. What is said after the first time is not heard.
    pub fn trace(&self, traces: Arc<dyn Traces>) {
        let _ = self.traces.set(traces);
    }

    pub fn trace_counts(&self) -> TraceCounts {
        self.traces.get().map(|traces| traces.counts()).unwrap_or_default()
    }

    pub(crate) fn trace_opening(
        &self,
        session: SessionId,
        kind: &'static str,
        recorded: &[Recorded],
    ) {
        if let (Some(traces), Some(first)) = (self.traces.get(), recorded.first()) {
            let at = first.at;
            traces.note(Span { session, began: at, ended: at, what: Spanned::Opened { kind } });
        }
    }
}

/// A call that is under way. It is told of when this is dropped, however the call ends.
pub(crate) struct Traced<'a> {
    engine: &'a Engine,
    session: SessionId,
    call: CallId,
    model: ModelName,
    began: Timestamp,
    usage: Usage,
    requests: u32,
    ending: CallEnding,
}

impl<'a> Traced<'a> {
    /// `None` where nobody keeps traces.
    pub fn begin(
        engine: &'a Engine,
        session: SessionId,
        call: &CallId,
        model: &ModelName,
    ) -> Option<Self> {
        engine.traces.get()?;
        Some(Traced {
            engine,
            session,
            call: call.clone(),
            model: model.clone(),
            began: engine.clock.now(),
            usage: Usage::default(),
            requests: 0,
            ending: CallEnding::Dropped,
        })
    }

    pub fn end(mut self, outcome: &Outcome) {
        (self.ending, self.usage, self.requests) = match outcome {
            Outcome::Answered(answer) => (CallEnding::Answered, answer.usage, answer.attempts),
            Outcome::Failed { failure, .. } => {
                (CallEnding::Failed(failure.kind), failure.usage, failure.attempts)
            }
            Outcome::Stopped { usage, .. } => (CallEnding::Dropped, *usage, 0),
            Outcome::Elapsed | Outcome::Brought(_) => return,
        };
    }
}

impl Drop for Traced<'_> {
    fn drop(&mut self) {
        let Some(traces) = self.engine.traces.get() else { return };
        let what = Spanned::Call {
            call: self.call.clone(),
            model: self.model.clone(),
            usage: self.usage,
            requests: self.requests,
            ending: self.ending,
        };
        let (session, began, ended) = (self.session, self.began, self.engine.clock.now());
        traces.note(Span { session, began, ended, what });
    }
}
