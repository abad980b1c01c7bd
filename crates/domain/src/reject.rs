//! Why a command was not accepted, in a form that every way in can show.

use crate::limits;

/// A refusal. Nothing was changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reject {
    /// The input is wrong; every wrong field is named.
    Invalid(Vec<Wrong>),
    /// The input is fine, but not in this state.
    NotNow {
        /// The state that the session is in.
        state: &'static str,
        message: String,
        /// What would be accepted now.
        allowed: Vec<&'static str>,
    },
    /// The session has no such part.
    Unknown(String),
    /// Others may do this, not the one who asked.
    Forbidden(String),
    /// It takes an invitation, and none that counts was shown.
    NotInvited(String),
    /// The outcome of a call that is not due any more. Its driver drops it.
    Stale,
}

/// One wrong field, by the name that it has in JSON.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wrong {
    pub field: String,
    pub problem: String,
}

impl Wrong {
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Wrong { field: field.into(), problem: problem.into() }
    }
}

/// A text that says something and is not too long.
pub(crate) fn text(wrong: &mut Vec<Wrong>, field: &str, value: &str, most: usize) {
    if value.trim().is_empty() {
        wrong.push(Wrong::new(field, "must not be empty"));
    }
    size(wrong, field, value, most);
}

pub(crate) fn size(wrong: &mut Vec<Wrong>, field: &str, value: &str, most: usize) {
    if value.len() > most {
        let len = value.len();
        wrong.push(Wrong::new(field, format!("is {len} bytes long; at most {most} are allowed")));
    }
}

/// Every wrong field is named at once.
pub(crate) fn settled(wrong: Vec<Wrong>) -> Result<(), Reject> {
    if wrong.is_empty() { Ok(()) } else { Err(Reject::Invalid(wrong)) }
}

/// What was made anew so many times is made anew once more.
pub(crate) fn renewed(times: u32) -> Result<u32, Reject> {
    if times >= limits::RENEWALS {
        let most = limits::RENEWALS;
        return Err(Reject::Forbidden(format!("It has been renewed {most} times.")));
    }
    Ok(times + 1)
}
