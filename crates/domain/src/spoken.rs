//! What a model's answer says once everything around it is taken off.

#[cfg(test)]
mod tests;

use crate::call::{Answer, Failure, FailureKind, Outcome};
use crate::ids::Nonce;

/// Answers that say nothing, in small letters and without marks.
const NOTHING: &[&str] = &[
    "+1",
    "agree",
    "agreed",
    "fully agree",
    "fully agreed",
    "i agree",
    "i agree with",
    "i concur",
    "i fully agree",
    "i have no comment",
    "i have nothing to add",
    "i pass",
    "ive nothing to add",
    "no comment",
    "no comments",
    "no further comment",
    "no further comments",
    "nothing further",
    "nothing further to add",
    "nothing more to add",
    "nothing to add",
    "ok",
    "okay",
    "pass",
];

const THINKING: [(&str, &str); 3] =
    [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<reasoning>", "</reasoning>")];

/// The answer without thinking, without the lines around quotations that a small
/// model repeats, and without the member's own name before it.
fn read(member: &str, nonce: &Nonce, mut answer: Answer) -> Answer {
    let (thought, said) = without_thinking(&answer.text);
    if answer.reasoning.is_empty() {
        answer.reasoning = thought.trim().to_owned();
    }
    let delimiter = format!("<<<{}", nonce.0);
    let spoken = said.lines().filter(|line| !line.contains(&delimiter));
    let own = spoken.collect::<Vec<_>>().join("\n");
    answer.text = without_label(member, own.trim()).trim().to_owned();
    answer
}

/// What somebody says in so many bytes at most. Without a word, or with too many, it is
/// a failure, whatever the provider says, and so is a call that brought no answer.
pub fn heard(
    member: &str,
    nonce: &Nonce,
    most: usize,
    outcome: Outcome,
) -> Result<Answer, (Failure, String)> {
    let failed = |kind, message: String, attempts, partial| {
        Err((Failure { kind, message, attempts }, within(partial, most)))
    };
    match outcome {
        Outcome::Answered(answer) => {
            let answer = read(member, nonce, answer);
            let attempts = answer.attempts;
            if answer.text.is_empty() {
                let message = "The model ended without a word.".to_owned();
                failed(FailureKind::Empty, message, attempts, String::new())
            } else if answer.text.len() > most {
                let message = format!("The answer is longer than {most} bytes.");
                failed(FailureKind::TooLong, message, attempts, answer.text)
            } else {
                Ok(answer)
            }
        }
        Outcome::Failed { failure, partial } => Err((failure, within(partial, most))),
        Outcome::Stopped { partial } => {
            failed(FailureKind::Empty, "The answer was stopped.".to_owned(), 1, partial)
        }
        Outcome::Elapsed => {
            let message = "No reply came in time.".to_owned();
            failed(FailureKind::TimedOut, message, 1, String::new())
        }
    }
}

/// What a call had brought, however it ended.
pub fn text_of(outcome: Outcome) -> String {
    match outcome {
        Outcome::Answered(answer) => answer.text,
        Outcome::Failed { partial, .. } | Outcome::Stopped { partial } => partial,
        Outcome::Elapsed => String::new(),
    }
}

pub fn within(mut text: String, most: usize) -> String {
    text.truncate(text.floor_char_boundary(most));
    text
}

/// Nothing but mentions counts as nothing too.
pub fn says_nothing(text: &str) -> bool {
    let words = text.split_whitespace().filter(|word| !word.starts_with('@'));
    let words: Vec<String> = words.map(bare).filter(|word| !word.is_empty()).collect();
    words.is_empty() || NOTHING.contains(&words.join(" ").as_str())
}

fn bare(word: &str) -> String {
    let kept = word.chars().filter(|c| c.is_alphanumeric() || *c == '+');
    kept.flat_map(char::to_lowercase).collect()
}

/// Thinking that stands before the answer, and the answer. Thinking that never
/// ends is no answer.
fn without_thinking(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    for (open, close) in THINKING {
        if let Some(inside) = text.strip_prefix(open) {
            return inside.split_once(close).unwrap_or((inside, ""));
        }
        // Some servers put the opening tag into the prompt.
        let closing = format!("\n{close}\n");
        if let Some((thought, said)) = text.split_once(&closing).filter(|_| !text.contains(open)) {
            return (thought, said);
        }
    }
    ("", text)
}

/// `Ann: Yes.` and `**Ann:** Yes.` are `Yes.`, when Ann says it.
fn without_label<'a>(member: &str, text: &'a str) -> &'a str {
    let marks = |c: char| "*_@[]".contains(c);
    let label = || {
        let rest = text.trim_start_matches(marks);
        let (name, rest) = rest.split_at_checked(member.len())?;
        let said = rest.trim_start_matches(marks).strip_prefix(':')?;
        // Marks that the label opened close after the colon.
        let opened = text.starts_with('*') || text.starts_with('_');
        let said = if opened { said.trim_start_matches(['*', '_']) } else { said };
        name.eq_ignore_ascii_case(member).then_some(said)
    };
    label().unwrap_or(text)
}
