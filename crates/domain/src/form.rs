//! What every form of deliberation has in common.

use jiff::Timestamp;

use crate::ids::Nonce;

/// What the rules may not make themselves: when a command is decided, a few random
/// characters, and who gave it, which has been proved before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moment {
    pub at: Timestamp,
    pub nonce: Nonce,
    pub actor: String,
}
