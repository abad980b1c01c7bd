//! Decisions that were not written as JSON: a line or a tag for each field.

use super::fields::{Fields, Key};
use super::find::text;

/// Characters of a line that may be its key.
const KEY_CHARS: usize = 40;
const MARKS: [char; 12] = ['*', '_', '`', '"', '\'', '-', '#', '>', '•', '“', '”', ' '];

/// `decision: continue`, also as a list, in bold or with quotation marks. A text
/// goes on until the next key or a blank line.
pub(super) fn lines(answer: &str) -> Option<Fields> {
    let mut fields = Fields::default();
    let mut current: Option<(&str, String)> = None;
    for line in answer.lines() {
        if let Some((key, value)) = entry(line) {
            add(&mut fields, current.replace((key, value.to_owned())));
            continue;
        }
        let line = line.trim();
        let is_fence = line.starts_with("```") || line.starts_with("~~~");
        match &mut current {
            Some((_, words)) if is_fence || (line.is_empty() && !words.is_empty()) => {
                add(&mut fields, current.take());
            }
            Some((_, words)) => {
                if !words.is_empty() {
                    words.push('\n');
                }
                words.push_str(line);
            }
            None => {}
        }
    }
    add(&mut fields, current);
    fields.mended.push("read it from lines".into());
    fields.is_decision().then_some(fields)
}

fn entry(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once([':', '：', '='])?;
    let key =
        key.trim_start_matches(|c: char| MARKS.contains(&c) || c.is_ascii_digit() || c == '.');
    let key = key.trim_matches(|c: char| MARKS.contains(&c) || c.is_whitespace());
    let fits = key.chars().count() <= KEY_CHARS && Key::of(key).is_some();
    fits.then_some((key, value))
}

/// A value without the marks that belong to the line, not to the words.
fn add(fields: &mut Fields, entry: Option<(&str, String)>) {
    let Some((key, value)) = entry else { return };
    let mut words = value.trim().trim_start_matches("**").trim();
    // YAML's mark of a text over several lines.
    words = [">\n", "|\n", ">-\n", "|-\n"]
        .iter()
        .find_map(|mark| words.strip_prefix(mark))
        .unwrap_or(words);
    words = words.strip_suffix(',').unwrap_or(words);
    words = words.strip_suffix("**").unwrap_or(words);
    for (open, close) in [('"', '"'), ('\'', '\''), ('“', '”'), ('`', '`')] {
        let inside = words.strip_prefix(open).and_then(|words| words.strip_suffix(close));
        words = inside.unwrap_or(words);
    }
    fields.add(key, &text(words));
}

/// `<decision>continue</decision>`, and `<parameter=decision>` or
/// `<parameter name="decision">` as some models write calls.
pub(super) fn tags(answer: &str) -> Option<Fields> {
    let mut fields = Fields::default();
    let mut rest = answer;
    // One search to the end of the text for each key that is never closed.
    let mut unclosed = vec![];
    while let Some((_, after)) = rest.split_once('<') {
        rest = after;
        let head = &after[..after.floor_char_boundary(KEY_CHARS)];
        let Some((tag, _)) = head.split_once('>') else { continue };
        let name = tag.split(['=', ' ']).next().unwrap_or(tag);
        let inside = &after[tag.len() + 1..];
        let key = match name == "parameter" {
            true => tag[name.len()..]
                .trim_start_matches([' ', '='])
                .trim_start_matches("name=")
                .trim_matches('"'),
            false => tag,
        };
        if Key::of(key).is_none() || unclosed.contains(&name) {
            continue;
        }
        match inside.split_once(&format!("</{name}>")) {
            Some((words, after)) => {
                fields.add(key, &text(words.trim()));
                rest = after;
            }
            None => unclosed.push(name),
        }
    }
    fields.mended.push("read it from tags".into());
    fields.is_decision().then_some(fields)
}
