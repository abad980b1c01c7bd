//! A model server that says what its script tells it to, over real HTTP, in the
//! words of the wires: Ollama, OpenAI-compatible (chat and responses), Anthropic and
//! Gemini.
//!
//! This crate must not know any other crate of Plenary, so that it cannot agree
//! with their mistakes: its frames are written from the vendors' documentation.

mod canned;
mod record;
mod rules;
mod script;
mod serve;
mod steps;
mod stream;
mod told;
mod wires;

pub use record::Recorded;
pub use rules::Rules;
pub use script::{Fault, Gate, Reply, Script, When};
pub use serve::Scripted;
pub use steps::Step;
