//! The rules of every form, and nothing else.
//!
//! This crate must not know tokio, a database, a wire format of a provider, the
//! clock or randomness: times, ids and nonces arrive inside commands. A test
//! fails when its dependency tree gains one of them.

pub mod agent;
pub mod boardroom;
pub mod call;
pub mod council;
pub mod discussion;
pub mod form;
#[cfg(test)]
mod golden;
pub mod ids;
pub mod ledger;
pub mod library;
pub mod limits;
pub mod models;
pub mod names;
mod quote;
mod record;
pub mod reject;
pub mod room;
mod spoken;
pub mod thinking;
pub mod view;
pub mod whiteboard;
mod written;

pub use call::{
    Answer, Ask, Call, Failed, Failure, FailureKind, Message, Outcome, Patience, Shape, Speaker,
    Timing, Usage, Work, Workspace,
};
pub use form::{Form, Report};
pub use ids::{AgentName, CallId, ModelName, Nonce, SessionId};
pub use jiff::Timestamp;
pub use ledger::{Ledger, Spent};
pub use quote::ContextFile;
pub use reject::{Reject, Wrong};
pub use room::{Command, Event, Input, Room, Summary};
pub use view::Viewer;
