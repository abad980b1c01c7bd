//! Runs sessions: decides, appends, publishes, and keeps the calls that are due
//! under way.
//!
//! This crate must not know SQL, an HTTP server, a provider's wire, or any one
//! form of deliberation: a test fails when its source names one.

mod attempt;
mod clock;
mod drive;
mod engine;
mod gather;
mod line;
mod live;
mod measured;
pub mod meter;
mod names;
mod news;
mod node;
pub mod ports;
mod refold;
mod relay;
mod session;
mod submit;
#[cfg(any(test, feature = "testkit"))]
pub mod testkit;
mod trace;
mod watch;

pub use clock::SystemClock;
pub use engine::{Engine, EngineError, Snapshot};
pub use live::{Delta, Frame, Retrying, Underway, Waiting};
pub use measured::Latencies;
pub use refold::Refold;
pub use session::Recorded;
pub use submit::By;
pub use trace::{CallEnding, Span, Spanned, TraceCounts, Traces};
pub use watch::{Changes, Openings};
