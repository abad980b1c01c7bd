//! Records as Markdown that people read.
//!
//! Their structure is ours alone. What others wrote gets in by three ways only, and none
//! of them can open a heading, a rule or a list of ours: as a block quotation, as plain
//! words within a line, or as what somebody said at the end of one. The types hold every
//! form to that: a [`Line`] takes no text of others that has not gone through here.

mod html;
#[cfg(test)]
pub mod structure;

use std::fmt::{self, Display, Write};

use jiff::Timestamp;

use crate::ledger::Ledger;
use crate::names::{shown, without_codes};

/// Said of an answer that reached a limit on its length.
pub const CUT: &str = "Cut off at the limit.";

/// A record while it is written: blocks with a blank line between them.
#[derive(Default)]
pub struct Document {
    text: String,
    /// An item stands right under the one before it.
    in_list: bool,
}

/// A line, or a part of one, in which all words of others are safe. Made by `line!`.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Line(pub(crate) String);

/// Somebody's words within a line, as plain text: a name, a title.
pub struct Words<'a>(pub &'a str);

/// What somebody or a provider said, at the end of a line, with emphasis and code of
/// its own.
pub struct Saying<'a>(pub &'a str);

/// A span of code within a line.
pub struct Code<'a>(pub &'a str);

/// What may stand in a line as it is. Text counts as ours only where it is written in
/// the program: `&str` of any other origin does not compile.
pub trait Safe: Display {}

impl Safe for &'static str {}
impl Safe for Line {}
impl Safe for Words<'_> {}
impl Safe for Saying<'_> {}
impl Safe for Code<'_> {}
impl Safe for Timestamp {}
impl Safe for u32 {}
impl Safe for u64 {}
impl Safe for usize {}

pub fn safe<T: Safe>(piece: T) -> T {
    piece
}

/// A line from a format of ours and pieces that are [`Safe`]. `concat!` keeps the format
/// from taking variables by name, which would go past that.
macro_rules! line {
    ($format:literal $(, $piece:expr)* $(,)?) => {
        $crate::record::Line(format!(concat!($format) $(, $crate::record::safe($piece))*))
    };
}
pub(crate) use line;

impl Document {
    pub fn text(self) -> String {
        self.text
    }

    /// What a model answered.
    pub fn answer(&mut self, text: &str, cut: bool) {
        self.quote(text);
        if cut {
            self.note(line!("{}", CUT));
        }
    }

    /// What a call took, where anything is known of it.
    pub fn took(&mut self, words: Option<String>) {
        if let Some(words) = words {
            self.note(line!("{}", Words(&words)));
        }
    }

    /// What was spent in all, where anything is known of it.
    pub fn spending(&mut self, ledger: &Ledger) {
        if let Some(words) = ledger.total_in_words() {
            self.rule();
            self.note(line!("Spent: {}", Words(&words)));
        }
    }

    /// As a part of something else, without the end of a file.
    pub fn brief(self) -> String {
        self.text.trim_end().to_owned()
    }

    /// Data about the record, before everything else.
    pub fn front(&mut self, fields: &[Line]) {
        let fields: String = fields.iter().map(|field| format!("{field}\n")).collect();
        self.block(&format!("---\n{fields}---"));
    }

    pub fn heading(&mut self, level: usize, line: Line) {
        self.block(&format!("{} {line}", "#".repeat(level)));
    }

    pub fn paragraph(&mut self, line: Line) {
        self.block(&line.0);
    }

    /// What the record itself says, apart from those who speak in it.
    pub fn note(&mut self, line: Line) {
        self.block(&format!("*{line}*"));
    }

    pub fn item(&mut self, line: Line) {
        if self.in_list {
            let _ = writeln!(self.text, "* {line}");
        } else {
            self.block(&format!("* {line}"));
            self.in_list = true;
        }
    }

    pub fn rule(&mut self) {
        self.block("---");
    }

    pub fn table(&mut self, head: &[Line], rows: &[Vec<Line>]) {
        let row = |cells: &[Line]| {
            let cells: Vec<&str> = cells.iter().map(|cell| cell.0.as_str()).collect();
            format!("| {} |", cells.join(" | "))
        };
        let under = format!("|{}", "---|".repeat(head.len()));
        let rows = rows.iter().map(|cells| row(cells));
        let lines: Vec<String> = [row(head), under].into_iter().chain(rows).collect();
        self.block(&lines.join("\n"));
    }

    /// As written, as a block that ends where it ends: a heading, a list or a fence in
    /// it is its own. Nothing is written for a text that says nothing.
    pub fn quote(&mut self, text: &str) {
        let text = without_codes(text).replace("\r\n", "\n").replace(ends_line, "\n");
        let text = html::defused(text.trim());
        if text.is_empty() {
            return;
        }
        let line = |line: &str| if line.is_empty() { ">".to_owned() } else { format!("> {line}") };
        self.block(&text.split('\n').map(line).collect::<Vec<_>>().join("\n"));
    }

    fn block(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
        self.text.push('\n');
        self.in_list = false;
    }
}

/// In Markdown or in anything that may show it.
fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Where a line begins with words, they begin no block of their own.
fn begun(line: &str) -> String {
    let digits = line.find(|c: char| !c.is_ascii_digit()).unwrap_or(line.len());
    let after = &line[digits..];
    let counts = digits > 0 && after.starts_with(['.', ')']);
    let stars = line.trim_start_matches('*');
    match line.chars().next() {
        Some('#' | '>' | '-' | '+' | '=' | '~' | '_') => format!("\\{line}"),
        Some('*') if stars.is_empty() || stars.starts_with(' ') => format!("\\{line}"),
        Some('`') if line.starts_with("```") => format!("\\{line}"),
        Some(_) if counts => format!("{}\\{after}", &line[..digits]),
        Some(_) | None => line.to_owned(),
    }
}

impl Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = shown(self.0);
        let mut plain = String::with_capacity(line.len());
        for (at, c) in line.char_indices() {
            let means_more = match c {
                '\\' | '`' | '*' | '[' | '|' => true,
                '<' => html::opens(&line[at..]),
                _ => false,
            };
            if means_more {
                plain.push('\\');
            }
            plain.push(c);
        }
        f.write_str(&begun(&plain))
    }
}

impl Display for Saying<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&begun(&html::defused(&shown(self.0))))
    }
}

impl Display for Code<'_> {
    /// Between more backticks than it has in a row.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = shown(self.0);
        let most = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
        let ticks = "`".repeat(most + 1);
        match most {
            0 => write!(f, "`{text}`"),
            _ => write!(f, "{ticks} {text} {ticks}"),
        }
    }
}

impl Line {
    /// Several lines as one, with a text of ours between them.
    pub fn joined(lines: &[Line], between: &'static str) -> Line {
        Line(lines.iter().map(|line| line.0.as_str()).collect::<Vec<_>>().join(between))
    }
}
