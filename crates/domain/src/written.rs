//! JSON in whatever a model wrote: after its thinking, among prose, inside a fence, in
//! a string. What was asked for, only the caller knows: it says which values count and
//! which keys may have been cut off.

mod lenient;
mod marks;

pub(crate) use lenient::{Found, Value, read};
pub(crate) use marks::Begun;

use crate::thinking;

/// How many times over the text may be read, all attempts together. Text that is
/// made to be tangled is given up.
const PASSES: usize = 16;

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Thinking {
    None,
    Closed,
    /// Whatever stands in it may be a draft, unless it is the last thing said.
    LeftOpen,
}

/// What stands after the thinking. A tag inside an answer, which `is_answer` knows, ends none.
pub(crate) fn after_thinking(
    text: &str,
    is_answer: fn(&Value) -> bool,
    begun: Begun,
) -> (&str, Thinking) {
    let mut rest = text.trim();
    let mut found = Thinking::None;
    while let Some((inside, after)) = thinking::opening(rest, &thinking::TAGS) {
        let Some(after) = after else { return (inside, Thinking::LeftOpen) };
        (rest, found) = (after.trim(), Thinking::Closed);
    }
    // Some chat templates open the tag themselves, so that only its end is seen.
    if let Some(end) = unopened(rest, is_answer, begun) {
        (rest, found) = (rest[end..].trim(), Thinking::Closed);
    }
    (rest, found)
}

/// The end of thinking whose beginning is not shown. A tag inside an answer's own
/// words is none.
fn unopened(text: &str, is_answer: fn(&Value) -> bool, begun: Begun) -> Option<usize> {
    let ends = thinking::IN_JSON.iter().flat_map(|tag| {
        let tag = format!("</{tag}>");
        let ends = text.match_indices(&tag).map(|(at, tag)| at + tag.len());
        ends.collect::<Vec<_>>()
    });
    let ends: Vec<usize> = ends.collect();
    if ends.is_empty() || text.starts_with('"') {
        return None;
    }
    let mut answers = vec![];
    each(text, begun, |start, found| {
        if is_answer(&found.value) {
            answers.push(start..found.end);
        }
    });
    let is_outside = |end: &usize| {
        let before = answers.partition_point(|answer| answer.start < *end);
        before.checked_sub(1).is_none_or(|last| !answers[last].contains(end))
    };
    ends.into_iter().filter(is_outside).max()
}

/// Every object, and every list that begins with one, which is not inside another.
pub(crate) fn each(text: &str, begun: Begun, mut take: impl FnMut(usize, Found)) {
    let mut at = 0;
    let mut left = text.len().saturating_mul(PASSES);
    while let Some(step) = text[at..].find(['{', '[']) {
        let start = at + step;
        at = start + 1;
        if text[start..].starts_with('[') && !text[at..].trim_start().starts_with('{') {
            continue;
        }
        let end = match read(text, start, begun) {
            Ok(found) => {
                at = found.end.max(at);
                let end = found.end;
                take(start, found);
                end
            }
            Err(end) => end,
        };
        let Some(less) = left.checked_sub(end - start) else { return };
        left = less;
    }
}

/// Whether a code fence stands around an object, and what else does.
pub(crate) fn around<'a>(before: &'a str, after: &'a str) -> (bool, (&'a str, &'a str)) {
    let (before, after) = (before.trim(), after.trim());
    let (earlier, line) = before.rsplit_once('\n').unwrap_or(("", before));
    let line = line.trim_start();
    let opens = line.starts_with("```") || line.starts_with("~~~") || line == "`";
    let closes = after.starts_with(['`', '~']);
    let before = if opens { earlier.trim() } else { before };
    let after = if closes { after.trim_start_matches(['`', '~']).trim_start() } else { after };
    (opens || closes, (before, after))
}

/// JSON with the marks of a JSON string inside, but not quite a string.
pub(crate) fn unescaped(text: &str) -> Option<String> {
    if !text.contains("\\\"") {
        return None;
    }
    let mut inner = String::with_capacity(text.len());
    let mut marks = text.chars();
    while let Some(mark) = marks.next() {
        match (mark, mark == '\\') {
            (_, true) => match marks.next() {
                Some('n' | 'r' | 't') => inner.push(' '),
                Some(other) => inner.push(other),
                None => {}
            },
            (mark, false) => inner.push(mark),
        }
    }
    let inner = inner.trim();
    let inside = inner.strip_prefix('"').map(|inner| inner.strip_suffix('"').unwrap_or(inner));
    Some(inside.unwrap_or(inner).to_owned())
}

/// Letters and digits in lower case: what a word is compared by.
pub(crate) fn folded(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
