//! Runs sessions: decides, appends, publishes, and keeps the calls that are due
//! under way.
//!
//! This crate must not know SQL, an HTTP server, a provider's wire, or any one
//! form of deliberation.

pub mod ports;
