//! What a session wants done outside, other than asking a model and waiting for a time.
//!
//! Plain data: whoever carries an errand out knows what it means, and no form.

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::workflow::Signal;

#[derive(Clone, PartialEq, Debug)]
pub enum Errand {
    /// Who is to answer, and what that seat may see. Brings `{ model, system, view, posts }`.
    Look { act: &'static str, with: Map<String, Value> },
    /// Opens a session of another form, under an id that is derived from the key and this
    /// time, or under the one that `with` has as `run`: given twice, it opens one. Brings
    /// `{ id }`. It fails only where nothing was opened.
    Open { act: &'static str, with: Map<String, Value>, key: String, at: Timestamp },
    /// Gives a room a command, or reads from it. Given twice under one key, a room takes it
    /// once. Brings what the step gives.
    Tell { act: &'static str, with: Map<String, Value>, key: String },
    /// Waits until a session is over. Brings how it ended (`workflow::gives::Ended`). It
    /// fails only where there is no such session.
    Watch { act: &'static str, session: String },
    /// Reads what has happened since then, and on, until a wait resumes (`resumes` says
    /// when). Brings the list of all signals that match, the oldest first; those of one
    /// moment are brought together, since whoever asks again asks for later ones. Those that
    /// were taken before count no more (`workflow::is_among`).
    Await { all: bool, signals: Vec<Signal>, since: Timestamp, taken: Vec<Signal> },
    /// Sends a request. The key goes with it.
    Request { with: Map<String, Value>, key: String },
    /// Writes a file as a whole.
    Write { with: Map<String, Value>, key: String },
    /// Ends a session that the run has opened. Brings how it ended, or nothing.
    Stop { session: String },
}
