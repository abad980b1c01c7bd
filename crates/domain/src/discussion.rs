//! Turns led by a facilitator who picks the next speaker and concludes.

mod format;

pub use format::{Format, Role};
