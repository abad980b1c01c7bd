//! What a model's answer says once everything around it is taken off.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::call::{Answer, Failed, Outcome};
use crate::ids::Nonce;
use crate::quote;

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

/// The answer without thinking, without the lines around quotations that a small
/// model repeats, and without the member's own name before it.
fn read(member: &str, nonce: &Nonce, answer: Answer) -> Answer {
    let mut answer = answer.without_thinking();
    let own = quote::without_delimiters(&answer.text, nonce);
    answer.text = without_label(member, own.trim()).trim().to_owned();
    answer
}

/// An answer without the lines around quotations. If there is nothing else, nothing is
/// left of it.
pub fn own(outcome: Outcome, nonce: &Nonce) -> Outcome {
    match outcome {
        Outcome::Answered(mut answer) => {
            if let Cow::Owned(own) = quote::without_delimiters(&answer.text, nonce) {
                answer.text = own;
            }
            Outcome::Answered(answer)
        }
        Outcome::Failed { .. }
        | Outcome::Stopped { .. }
        | Outcome::Elapsed
        | Outcome::Brought(_) => outcome,
    }
}

/// What somebody says, in so many bytes at most: what is beyond them is cut off. Without
/// a word it is a failure, whatever the provider says.
pub fn heard(
    member: &str,
    nonce: &Nonce,
    most: usize,
    ended: Result<Answer, Failed>,
) -> Result<Answer, Failed> {
    let cut = |failed: Failed| Failed { partial: within(failed.partial, most), ..failed };
    let mut answer = read(member, nonce, ended.map_err(cut)?).worded()?;
    answer.cut |= answer.text.len() > most;
    answer.text = within(answer.text, most);
    Ok(answer)
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
