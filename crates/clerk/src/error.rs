//! Why a request was not carried out, named by what the caller can do next. Which words
//! and which code that is depends on the way in.

use plenary_domain::{AgentName, Reject, Wrong};
use plenary_engine::EngineError;

use crate::models::NoModel;

#[derive(Debug)]
pub enum ClerkError {
    /// Fields are wrong, or it cannot be done now or by this caller: the refusal says.
    Refused(Reject),
    /// The same, about stored agents.
    Agents(Reject),
    /// The same, about saved boards.
    Boards(Reject),
    NoModel(NoModel),
    /// A token was shown, and it proves nothing in this session.
    WrongToken,
    /// Only an agent that has proven who it is may do this.
    NoAgent,
    /// The name is somebody else's; the caller has proven to be another one, or nobody.
    NotYourAgent {
        agent: AgentName,
        proven: Option<AgentName>,
    },
    /// For whoever opened the session, who has a token for that in some forms.
    NotYours {
        kind: &'static str,
        verb: &'static str,
        by_token: bool,
    },
    /// For whoever may speak for a person.
    NotYourSeat,
    /// The caller's own seat is another one.
    OtherSeat(String),
    NotOperator(&'static str),
    /// It could not be kept, and counts as never asked for.
    NotKept(String),
    /// It was carried out, and what came of it cannot be told.
    Unreadable(&'static str),
    Engine(EngineError),
}

impl ClerkError {
    /// One field is wrong.
    pub fn wrong(field: &str, problem: impl Into<String>) -> Self {
        ClerkError::Refused(Reject::Invalid(vec![Wrong::new(field, problem)]))
    }
}

impl From<Reject> for ClerkError {
    fn from(reject: Reject) -> Self {
        ClerkError::Refused(reject)
    }
}

impl From<NoModel> for ClerkError {
    fn from(none: NoModel) -> Self {
        ClerkError::NoModel(none)
    }
}

impl From<EngineError> for ClerkError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Rejected(reject) => ClerkError::Refused(reject),
            error => ClerkError::Engine(error),
        }
    }
}
