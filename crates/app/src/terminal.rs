//! The only place that prints. What models wrote is stripped of escape codes
//! before it gets here or on the way out.

use std::io::{IsTerminal, Write};

use plenary_domain::boardroom::Role;
use ratatui::style::Color;

/// Whether colours may be used on this stream.
pub fn colours(stream: &impl IsTerminal) -> bool {
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    stream.is_terminal() && !no_colour && !dumb
}

/// Writes to standard output. A reader that has gone away is no error.
pub fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.write_all(b"\n");
    let _ = out.flush();
}

/// Writes a document to standard output: as it is, but to a terminal without the
/// codes that a model may have put in.
pub fn say_document(text: &str) {
    match std::io::stdout().is_terminal() {
        true => say(&clean(text)),
        false => say(text),
    }
}

/// Writes a note for the person to standard error.
pub fn note(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(text.as_bytes());
    let _ = err.write_all(b"\n");
}

/// A part of the terminal's end that is drawn anew until what it shows is settled.
#[derive(Default)]
pub struct LiveBlock {
    rows: usize,
}

impl LiveBlock {
    /// Shows these lines below everything else. None is wider than the terminal.
    pub fn draw(&mut self, lines: &[String]) {
        let mut out = self.cleared();
        lines.iter().for_each(|line| out.extend([line.as_str(), "\n"]));
        self.rows = lines.len();
        write_err(&out);
    }

    /// Takes the block away; what is said next stands in its place.
    pub fn clear(&mut self) {
        let out = self.cleared();
        write_err(&out);
    }

    fn cleared(&mut self) -> String {
        match std::mem::take(&mut self.rows) {
            0 => String::new(),
            rows => format!("\r\x1b[{rows}A\x1b[J"),
        }
    }
}

fn write_err(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(text.as_bytes());
    let _ = err.flush();
}

/// A question to the person; the answer is typed behind it.
pub fn prompt(text: &str) {
    write_err(text);
}

pub fn complain(message: &str, hint: Option<&str>) {
    let red = colours(&std::io::stderr());
    let (start, end) = if red { ("\x1b[31m", "\x1b[0m") } else { ("", "") };
    note(&format!("{start}plenary:{end} {message}"));
    if let Some(hint) = hint {
        note(&format!("  → {hint}"));
    }
}

/// Styles for single lines, where the stream shows them.
#[derive(Clone, Copy)]
pub struct Ink {
    styled: bool,
}

impl Ink {
    pub fn of(stream: &impl IsTerminal) -> Ink {
        Ink { styled: colours(stream) }
    }

    pub fn none() -> Ink {
        Ink { styled: false }
    }

    pub fn is_styled(self) -> bool {
        self.styled
    }

    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    pub fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    pub fn cyan(self, text: &str) -> String {
        self.paint("36", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.styled { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// The first line, cut to so many characters: for lists and logs.
pub fn line(text: &str, most: usize) -> String {
    let text = clean(text);
    let text = text.trim();
    let first = text.lines().next().unwrap_or_default();
    let whole = first.chars().count() <= most && text.lines().nth(1).is_none();
    let short: String = first.chars().take(most).collect();
    if whole { short } else { format!("{}…", short.trim_end()) }
}

/// Rows of the terminal.
pub fn height() -> u16 {
    ratatui::crossterm::terminal::size().map_or(24, |(_, rows)| rows.max(8))
}

/// The width to wrap at.
pub fn width() -> u16 {
    ratatui::crossterm::terminal::size().map_or(80, |(columns, _)| columns.clamp(20, 100))
}

/// Text without control characters, so that no model can move the cursor or
/// change the title. Line breaks and tabs stay.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' => out.push('\n'),
            '\t' => out.push_str("    "),
            '\x1b' => skip_escape(&mut rest),
            // Invisible marks that turn the direction of text can hide words.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

fn skip_escape(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match rest.next() {
        // CSI: parameters up to a letter.
        Some('[') => while rest.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
        // OSC and the like: up to BEL or ESC \.
        Some(']' | 'P' | '^' | '_') => {
            while let Some(c) = rest.next() {
                if c == '\x07' || (c == '\x1b' && rest.next_if_eq(&'\\').is_some()) {
                    return;
                }
            }
        }
        _ => {}
    }
}

/// A role's colour; the nearest of 256 where the terminal has no more.
pub fn role_colour(role: &str) -> Color {
    let role = Role::parse(role).unwrap_or(Role::Generalist);
    let many = std::env::var("COLORTERM").is_ok_and(|term| term == "truecolor" || term == "24bit");
    if !many {
        return Color::Indexed(match role {
            Role::Advocate => 71,
            Role::Critic => 203,
            Role::Analyst => 33,
            Role::DevilsAdvocate => 208,
            Role::Expert => 127,
            Role::Generalist => 66,
        });
    }
    let hex = role.colour();
    let part = |from: usize| u8::from_str_radix(&hex[from..from + 2], 16).unwrap_or(0x88);
    Color::Rgb(part(1), part(3), part(5))
}

/// `3.2 s`, `2 min 5 s`.
pub fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::clean;

    fn check(text: &str, expected: &str) {
        assert_eq!(clean(text), expected, "{text:?}");
    }

    #[test]
    fn escape_codes_are_taken_out() {
        check("plain\ttext\n", "plain    text\n");
        check("\x1b[31mred\x1b[0m", "red");
        check("\x1b]0;title\x07after", "after");
        check("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link");
        check("\x1b[2J\x1b[Hgone?", "gone?");
        check("a\rb\x08c\u{9b}31m", "abc31m");
        check("pay \u{202e}evil\u{202c}", "pay evil");
        check("\x1b", "");
        check("grüße 漢字 🙂", "grüße 漢字 🙂");
    }
}
