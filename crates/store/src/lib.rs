//! Keeps the log of all sessions: every SQL statement of the product stands in
//! this crate.
//!
//! This crate must not know a form of deliberation, what an event means, the
//! clock, HTTP or a provider. To it an event is a name and a text; what may
//! follow on what is decided before it arrives here.

mod copy;
mod lock;
mod log;
pub mod postgres;
mod rows;
mod sqlite;
#[cfg(feature = "testkit")]
pub mod testkit;
mod words;

pub use copy::{Copied, EventText, Place, copy};
pub use lock::{Holder, HolderInfo, holder};
pub use log::Log;
pub use postgres::PostgresStore;
pub use sqlite::{Backup, Inspection, SqliteStore, Words, backup, inspect, open};
