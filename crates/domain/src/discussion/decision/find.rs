//! Where in an answer the decision stands: after the thinking, inside a fence,
//! among prose, in JSON, in lines or in tags.

use super::fields::Fields;
use super::lenient::{self, Found, Value};
use super::lines;

/// How many times over the text may be read, all attempts together. Text that is
/// made to be tangled is given up.
const PASSES: usize = 16;
/// Tags in which models think. The first three are also looked for in the middle:
/// no answer has fields of these names.
const THINKING: [&str; 7] =
    ["think", "thinking", "thought", "reasoning", "reflection", "analysis", "scratchpad"];

pub(super) fn fields(text: &str) -> Result<Fields, String> {
    // Inside a string the marks are escaped, so that it must be opened before
    // anything is looked for.
    match serde_json::from_str::<String>(text.trim()) {
        Ok(inner) => Ok(told(bare(&inner)?, "read it out of a string")),
        Err(_) => bare(text),
    }
}

fn bare(text: &str) -> Result<Fields, String> {
    let (answer, thinking) = after_thinking(text);
    if answer.trim().is_empty() {
        let why =
            if text.trim().is_empty() { "It is empty." } else { "It holds nothing but thinking." };
        return Err(why.into());
    }
    let fields = match (thinking, objects(answer, thinking)?) {
        (_, Some(fields)) => Some(fields),
        (Thinking::LeftOpen, None) => return Err("It broke off while thinking.".into()),
        (Thinking::None | Thinking::Closed, None) => match unescaped(answer) {
            Some(inner) => {
                objects(&inner, thinking)?.map(|fields| told(fields, "read it out of a string"))
            }
            None => lines::tags(answer).or_else(|| lines::lines(answer)),
        },
    };
    let fields = fields.ok_or("It holds no decision.")?;
    Ok(match thinking {
        Thinking::None => fields,
        Thinking::Closed | Thinking::LeftOpen => told(fields, "left out the thinking before it"),
    })
}

fn told(mut fields: Fields, what: &str) -> Fields {
    fields.mended.insert(0, what.to_owned());
    fields
}

#[derive(Clone, Copy, PartialEq)]
enum Thinking {
    None,
    Closed,
    /// Whatever stands in it may be a draft, unless it is the last thing said.
    LeftOpen,
}

fn after_thinking(text: &str) -> (&str, Thinking) {
    let mut rest = text.trim();
    let mut thinking = Thinking::None;
    while let Some((tag, inside)) = THINKING.iter().find_map(|tag| Some((tag, opened(rest, tag)?)))
    {
        match inside.split_once(&format!("</{tag}>")) {
            Some((_, after)) => (rest, thinking) = (after.trim(), Thinking::Closed),
            None => return (inside, Thinking::LeftOpen),
        }
    }
    // Some chat templates open the tag themselves, so that only its end is seen.
    if let Some(end) = unopened(rest) {
        (rest, thinking) = (rest[end..].trim(), Thinking::Closed);
    }
    (rest, thinking)
}

/// The end of thinking whose beginning is not shown. A tag inside an answer's own
/// words is none.
fn unopened(text: &str) -> Option<usize> {
    let ends = THINKING[..3].iter().flat_map(|tag| {
        let tag = format!("</{tag}>");
        let ends = text.match_indices(&tag).map(|(at, tag)| at + tag.len());
        ends.collect::<Vec<_>>()
    });
    let ends: Vec<usize> = ends.collect();
    if ends.is_empty() || text.starts_with('"') {
        return None;
    }
    let mut answers = vec![];
    each(text, |start, found| {
        if !matches!(Fields::of(&found.value), Ok(None)) {
            answers.push(start..found.end);
        }
    });
    let is_outside = |end: &usize| {
        let before = answers.partition_point(|answer| answer.start < *end);
        before.checked_sub(1).is_none_or(|last| !answers[last].contains(end))
    };
    ends.into_iter().filter(is_outside).max()
}

fn opened<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    text.strip_prefix('<')?.strip_prefix(tag)?.strip_prefix('>')
}

/// The fields of the last object that decides or names a speaker: what comes
/// before it is an example, a draft or what was thought better of. It is the last
/// also when it was cut off, and then cannot be read: to go back to an earlier one
/// would be to follow what may have been an example. Only an answer that repeats
/// itself until it is cut off is taken at its last whole word.
fn objects(text: &str, thinking: Thinking) -> Result<Option<Fields>, String> {
    let mut last: Option<(usize, Found, Result<Fields, String>)> = None;
    let mut count = 0;
    each(text, |start, found| {
        let fields = match Fields::of(&found.value) {
            Ok(None) => return,
            Ok(Some(fields)) => Ok(fields),
            Err(why) => Err(why),
        };
        if let Some((whole, earlier, _)) = &last {
            let cut = text[start..].trim_end();
            if found.cut && text[*whole..earlier.end].starts_with(cut) {
                return;
            }
        }
        count += 1;
        last = Some((start, found, fields));
    });
    let Some((start, found, fields)) = last else { return Ok(None) };
    let (fence, around) = around(&text[..start], &text[found.end..]);
    if thinking == Thinking::LeftOpen && (found.cut || !around.1.is_empty()) {
        return Ok(None);
    }
    let mut fields = fields?;
    let mut mended = vec![];
    if fence {
        mended.push("took off a code fence".to_owned());
    }
    if thinking != Thinking::LeftOpen && around != ("", "") {
        mended.push("left out what stands around it".to_owned());
    }
    if count > 1 {
        mended.push(format!("took the last of {count} decisions"));
    }
    mended.extend(found.mended.into_iter().map(str::to_owned));
    mended.append(&mut fields.mended);
    fields.mended = mended;
    Ok(Some(fields))
}

/// Every object, and every list that begins with one, which is not inside another.
fn each(text: &str, mut take: impl FnMut(usize, Found)) {
    let mut at = 0;
    let mut left = text.len().saturating_mul(PASSES);
    while let Some(step) = text[at..].find(['{', '[']) {
        let start = at + step;
        at = start + 1;
        if text[start..].starts_with('[') && !text[at..].trim_start().starts_with('{') {
            continue;
        }
        let end = match lenient::read(text, start) {
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
fn around<'a>(before: &'a str, after: &'a str) -> (bool, (&'a str, &'a str)) {
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
fn unescaped(text: &str) -> Option<String> {
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

/// A text that was not read from JSON and so cannot be cut off visibly.
pub(super) fn text(words: &str) -> Value {
    Value::Text { text: words.to_owned(), whole: true }
}
