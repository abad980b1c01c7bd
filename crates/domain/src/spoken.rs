//! What a model's answer says once everything around it is taken off.

#[cfg(test)]
mod tests;

use crate::call::Answer;
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
pub fn read(member: &str, nonce: &Nonce, mut answer: Answer) -> Answer {
    let (thought, said) = without_thinking(&answer.text);
    if answer.reasoning.is_empty() {
        answer.reasoning = thought.trim().to_owned();
    }
    let delimiter = format!("<<<{}", nonce.0);
    let spoken = said.lines().filter(|line| !line.trim_start().starts_with(&delimiter));
    let own = spoken.collect::<Vec<_>>().join("\n");
    answer.text = without_label(member, own.trim()).trim().to_owned();
    answer
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
