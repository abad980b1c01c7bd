//! Characters that show nothing. With them two names look the same, or a line reads as it
//! is not written.

/// The first character of a line that a reader could not see.
pub struct Hidden {
    /// Counted from 1.
    pub place: usize,
    pub c: char,
    pub why: &'static str,
}

pub fn hidden(line: &str) -> Option<Hidden> {
    let chars: Vec<char> = line.chars().collect();
    let found = |(at, c): (usize, &char)| {
        let before = at.checked_sub(1).and_then(|at| chars.get(at)).copied();
        let why = why(before, *c, chars.get(at + 1).copied())?;
        Some(Hidden { place: at + 1, c: *c, why })
    };
    chars.iter().enumerate().find_map(found)
}

/// A text without what a terminal would take for a command: whole escape codes, and all
/// control characters but tabs and the ends of lines.
pub fn without_codes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        out.push_str(before);
        rest = &after[code_length(after)..];
    }
    out.push_str(rest);
    out.retain(|c| {
        matches!(c, '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}') || !c.is_control()
    });
    out
}

/// Bytes of an escape code after its first character. One that does not end is none, so
/// that it takes no words with it.
fn code_length(text: &str) -> usize {
    let end = match text.chars().next() {
        Some('[') => text[1..].find(|c| ('@'..='~').contains(&c)).map(|at| at + 2),
        Some(']' | 'P' | '^' | '_') => {
            let bell = text.find('\u{7}').map(|at| at + 1);
            let string = text.find("\u{1b}\\").map(|at| at + 2);
            bell.into_iter().chain(string).min()
        }
        Some(_) | None => None,
    };
    end.unwrap_or(0)
}

/// A text in one line, without what a reader could not see. What joins letters stays.
pub fn shown(text: &str) -> String {
    let text = without_codes(text);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let joins = |c: char| matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0f}');
    let line: String = line.chars().filter(|c| joins(*c) || !shows_nothing(*c)).collect();
    line.trim().to_owned()
}

/// Whether a character shows nothing by itself. Some of these join the letters beside them.
pub fn shows_nothing(c: char) -> bool {
    c.is_control() || is_format(c)
}

fn why(before: Option<char>, c: char, after: Option<char>) -> Option<&'static str> {
    match c {
        '\u{2028}' | '\u{2029}' | '\u{b}' | '\u{c}' | '\u{85}' | '\n' | '\r' => {
            Some("which ends a line")
        }
        '\u{200c}' | '\u{200d}' if joins(before, after) => None,
        '\u{fe0f}' if before.is_some_and(is_pictured) => None,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some("which reverses the direction of text")
        }
        _ if c.is_control() => Some("a control character"),
        _ if is_format(c) => Some("which is invisible"),
        _ => None,
    }
}

/// What Unicode lets a program leave out when it shows a text, and blanks that it counts
/// as letters.
fn is_format(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{70f}'
            | '\u{fff0}'..='\u{fffc}'
            | '\u{13430}'..='\u{1345f}'
            | '\u{16fe4}'
            | '\u{e000}'..='\u{f8ff}'
            | '\u{f0000}'..='\u{10ffff}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Persian and the scripts of India are written with joiners between letters, and emoji
/// are put together by them. Elsewhere they show nothing.
fn joins(before: Option<char>, after: Option<char>) -> bool {
    let (Some(before), Some(after)) = (before, after) else { return false };
    let is_joined = |c: char| matches!(c, '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}');
    is_joined(before) && is_joined(after)
        || (is_pictured(before) || before == '\u{fe0f}') && is_pictured(after)
}

fn is_pictured(c: char) -> bool {
    matches!(
        c,
        '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}'
            | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}'
    )
}
