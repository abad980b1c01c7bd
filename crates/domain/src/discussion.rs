//! Turns led by a facilitator who picks the next speaker and concludes.

pub mod decision;
mod format;

pub use format::{Format, Role};
