//! HTML in what others wrote. Where a reader's program shows HTML, `</blockquote>` ends
//! our quotation and `<!--` hides what follows; so every tag is made plain text by a
//! backslash. Code shows a backslash as it is: what certainly is code is left alone, and
//! where that cannot be told, the backslash stands there too.

pub fn opens(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next() == Some('<')
        && chars.next().is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'))
}

/// A text of lines whose tags are words.
pub fn defused(text: &str) -> String {
    if !text.char_indices().any(|(at, _)| opens(&text[at..])) {
        return text.to_owned();
    }
    let fences = text.split('\n').all(|line| !has_fence(line) || is_fence(line));
    let mut out = String::with_capacity(text.len() + 16);
    let mut fence: Option<(char, usize)> = None;
    // Whether every span of code so far in this paragraph ended in its own line.
    let mut even = true;
    for (place, line) in text.split('\n').enumerate() {
        if place > 0 {
            out.push('\n');
        }
        if let Some(open) = fence {
            out.push_str(line);
            fence = Some(open).filter(|open| !closes(line, *open));
            even = true;
            continue;
        }
        fence = opened(line).filter(|_| fences);
        even = even && has_even_spans(line) || line.trim_matches([' ', '\t']).is_empty();
        plain(&mut out, line, even);
    }
    out
}

/// The line with a backslash before each tag, but in its spans of code if those are sure.
fn plain(out: &mut String, line: &str, knows_spans: bool) {
    let (mut in_span, mut escaped) = (false, false);
    for (at, c) in line.char_indices() {
        if c == '`' && knows_spans {
            in_span = !in_span;
        }
        if !in_span && !escaped && opens(&line[at..]) {
            out.push('\\');
        }
        out.push(c);
        escaped = c == '\\' && !escaped;
    }
}

/// Single backticks in pairs, and nothing that could part a pair.
fn has_even_spans(line: &str) -> bool {
    let ticks = line.matches('`').count();
    let apart = !line.contains("``") && !line.contains("\\`") && !line.contains('|');
    ticks == 0 || ticks.is_multiple_of(2) && apart
}

/// A fence that may stand inside a list or a quotation, where only a whole parser knows
/// how far it reaches.
fn has_fence(line: &str) -> bool {
    let marks = |c: char| " \t>-*+.)".contains(c) || c.is_ascii_digit();
    is_fence(line.trim_start_matches(marks))
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

fn opened(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|_| is_fence(line))?;
    let info = line.trim_start_matches(mark);
    (mark == '~' || !info.contains('`')).then_some((mark, line.len() - info.len()))
}

fn closes(line: &str, (mark, length): (char, usize)) -> bool {
    let line = line.trim_end_matches([' ', '\t']);
    line.len() >= length && line.chars().all(|c| c == mark)
}
