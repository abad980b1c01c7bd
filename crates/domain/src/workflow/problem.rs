//! What is wrong with a definition, and where it stands.

use serde::{Deserialize, Serialize};

use crate::limits;
use crate::models::distance;

/// Near matches that a problem names.
const NEAR: usize = 3;

/// One thing that is wrong in a file. All of them are told at once.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    pub severity: Severity,
    /// From 1; the column counts characters.
    pub line: u32,
    pub column: u32,
    /// Where it is in the definition: `steps.propose.foreach.in`.
    pub path: String,
    pub message: String,
    /// What was perhaps meant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// It cannot run.
    Error,
    /// It can run, and will perhaps not do what was meant.
    Warning,
}

/// A place in the text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct At {
    pub line: u32,
    pub column: u32,
}

impl At {
    pub const START: At = At { line: 1, column: 1 };
}

/// Gathers problems while a definition is read.
#[derive(Default)]
pub(crate) struct Problems(Vec<Problem>);

impl Problems {
    pub fn error(&mut self, at: At, path: &str, message: impl Into<String>) {
        self.push(Severity::Error, at, path, message.into(), vec![]);
    }

    pub fn warning(&mut self, at: At, path: &str, message: impl Into<String>) {
        self.push(Severity::Warning, at, path, message.into(), vec![]);
    }

    /// `message` says that something is not known; names that look like it are added.
    pub fn unknown<'a>(
        &mut self,
        at: At,
        path: &str,
        message: String,
        written: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) {
        let near = near(written, known);
        let message = match near.as_slice() {
            [] => message,
            [one] => format!("{message}; did you mean `{one}`?"),
            [first, second] => format!("{message}; did you mean `{first}` or `{second}`?"),
            [first, rest @ ..] => {
                format!("{message}; did you mean `{first}`, `{}`?", rest.join("` or `"))
            }
        };
        self.push(Severity::Error, at, path, message, near);
    }

    fn push(&mut self, severity: Severity, at: At, path: &str, message: String, near: Vec<String>) {
        let At { line, column } = at;
        let path = path.to_owned();
        self.0.push(Problem { severity, line, column, path, message, near });
    }

    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|problem| problem.severity == Severity::Error)
    }

    /// In the order of the file. Of very many only the first are told.
    pub fn told(self) -> Vec<Problem> {
        let mut all = self.0;
        all.sort_by(|a, b| (a.line, a.column, &a.path).cmp(&(b.line, b.column, &b.path)));
        all.dedup();
        let more = all.len().saturating_sub(limits::WORKFLOW_PROBLEMS);
        all.truncate(limits::WORKFLOW_PROBLEMS);
        if let Some(last) = all.last().filter(|_| more > 0) {
            let message = format!("and {more} more problems, which are not named here");
            all.push(Problem { message, path: String::new(), near: vec![], ..last.clone() });
        }
        all
    }
}

/// Names that look like what was written, the nearest first.
pub(crate) fn near<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    if written.len() > limits::ROOM_NAME_BYTES {
        return vec![];
    }
    let wanted = written.to_lowercase();
    // Two letters that changed places are two changes.
    let most = (wanted.chars().count() / 3).max(if wanted.len() > 2 { 2 } else { 1 });
    let scored = known.into_iter().take(limits::NAMES_COMPARED).filter_map(|name| {
        let known = name.to_lowercase();
        let distance = distance(&wanted, &known);
        let part = wanted.len() > 2 && known.contains(&wanted);
        (distance <= most || part).then_some((distance, name))
    });
    let mut scored: Vec<(usize, &str)> = scored.collect();
    scored.sort();
    scored.dedup();
    scored.into_iter().take(NEAR).map(|(_, name)| name.to_owned()).collect()
}
