//! The rules of every form, and nothing else.
//!
//! This crate must not know tokio, a database, a wire format of a provider, the
//! clock or randomness: times, ids and nonces arrive inside commands. A test
//! fails when its dependency tree gains one of them.

pub mod agent;
pub mod board;
pub mod boardroom;
pub mod boards;
pub mod budget;
pub mod call;
pub mod council;
pub mod discussion;
mod errand;
mod fits;
pub mod form;
#[cfg(test)]
mod golden;
pub mod ids;
mod image;
pub mod ledger;
pub mod library;
pub mod limits;
pub mod models;
pub mod names;
pub mod prices;
mod quote;
mod record;
pub mod reject;
pub mod room;
pub mod seated;
pub mod shelf;
pub mod signals;
mod spoken;
pub mod thinking;
pub mod view;
pub mod whiteboard;
pub mod workflow;
mod written;

pub use budget::{Allowance, Amount, Budget, Shortage, Taken, WhenSpent};
pub use call::{
    Answer, Ask, Call, Failed, Failure, FailureKind, Message, Outcome, Patience, Shape, Speaker,
    Timing, Usage, Work, Workspace,
};
pub use errand::Errand;
pub use form::{Form, Report};
pub use ids::{AgentName, CallId, ModelName, Nonce, SessionId};
pub use image::{Image, MediaType};
pub use jiff::Timestamp;
pub use ledger::{Ended, Ledger, Settled, Spent};
pub use prices::{Noted, Price, Quote, Source};
pub use quote::ContextFile;
pub use reject::{Reject, Wrong};
pub use room::{Command, Event, Input, Room, Summary};
pub use seated::Seated;
pub use view::Viewer;
