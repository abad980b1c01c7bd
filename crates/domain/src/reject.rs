//! Why a command was not accepted, in a form that every way in can show.

use crate::limits;
use crate::names::{check_line, check_name};

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
    /// Something else has this name.
    Taken(String),
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

/// A line that shows all that it holds.
pub(crate) fn line(wrong: &mut Vec<Wrong>, field: &str, value: &str) {
    wrong.extend(check_line(value).err().map(|problem| Wrong::new(field, problem)));
}

/// What somebody or something is called, in any script.
pub(crate) fn name(wrong: &mut Vec<Wrong>, field: &str, value: &str, most: usize) {
    text(wrong, field, value, most);
    wrong.extend(check_name(value).err().map(|problem| Wrong::new(field, problem)));
}

pub(crate) fn size(wrong: &mut Vec<Wrong>, field: &str, value: &str, most: usize) {
    if value.len() > most {
        let len = value.len();
        wrong.push(Wrong::new(field, format!("is {len} bytes long; at most {most} are allowed")));
    }
}

/// What is wrong in a sentence, and the fields: of very many only the first are named,
/// because an answer must not be larger than what it answers.
pub fn told(wrong: impl IntoIterator<Item = Wrong>) -> (String, Vec<Wrong>) {
    let mut wrong = wrong.into_iter();
    let named: Vec<Wrong> = wrong.by_ref().take(limits::WRONG_FIELDS).map(shortened).collect();
    let (first, more) = (named.len(), wrong.count());
    let message = match (named.as_slice(), more) {
        ([one], 0) => format!("`{}`: {}", one.field, one.problem),
        (_, 0) => format!("{first} fields are wrong."),
        (_, more) => {
            let all = first + more;
            format!("{all} fields are wrong: {first} are named here, and {more} more are not.")
        }
    };
    (message, named)
}

fn shortened(wrong: Wrong) -> Wrong {
    let short = |text: String, most: usize| match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    };
    let field = short(wrong.field, limits::WRONG_FIELD_CHARS);
    Wrong { field, problem: short(wrong.problem, limits::WRONG_PROBLEM_CHARS) }
}

/// Every wrong field is named at once.
pub(crate) fn settled(wrong: Vec<Wrong>) -> Result<(), Reject> {
    if wrong.is_empty() { Ok(()) } else { Err(Reject::Invalid(wrong)) }
}

/// What was made anew so many times is made anew once more.
pub(crate) fn renewed(times: u32) -> Result<u32, Reject> {
    if times >= limits::RENEWALS {
        let most = limits::RENEWALS;
        return Err(Reject::Forbidden(format!("It has been renewed {most} times, the maximum.")));
    }
    Ok(times + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(count: usize, message: &str, named: usize) {
        let wrong = (0..count).map(|n| Wrong::new(format!("events[{n}]"), "is wrong"));
        let (told, wrong) = told(wrong);
        assert_eq!((told.as_str(), wrong.len()), (message, named));
    }

    #[test]
    fn of_very_many_wrong_fields_the_first_are_named() {
        check(1, "`events[0]`: is wrong", 1);
        check(32, "32 fields are wrong.", 32);
        let many = "300000 fields are wrong: 32 are named here, and 299968 more are not.";
        check(300_000, many, limits::WRONG_FIELDS);
    }

    #[test]
    fn what_is_wrong_is_told_in_short() {
        let long = "ä".repeat(3_000_000);
        let (message, wrong) = told([Wrong::new(long.as_str(), long.as_str())]);
        let chars = limits::WRONG_FIELD_CHARS + limits::WRONG_PROBLEM_CHARS + 2;
        assert_eq!(wrong[0].field.chars().count() + wrong[0].problem.chars().count(), chars);
        assert!(message.chars().count() < chars + 8);
    }
}
