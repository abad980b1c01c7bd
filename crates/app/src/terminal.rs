//! The only place that prints. No escape code gets out but our own styles, and those
//! only where a caller says that it has put them in: whatever a model, a server or a
//! file says, the cursor, the title and the clipboard are out of its reach.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

use plenary_domain::boardroom::Role;
use ratatui::style::Color;

/// Whether this stream is a terminal that can draw over what it shows.
pub fn redraws(stream: &impl IsTerminal) -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    stream.is_terminal() && !dumb
}

/// Whether colours may be used on this stream.
pub fn colours(stream: &impl IsTerminal) -> bool {
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    redraws(stream) && !no_colour
}

/// Why something did not get out.
static LOST: OnceLock<String> = OnceLock::new();

/// Why something that was written to standard output is lost, if it is. A reader that has
/// gone away is no error.
pub fn lost() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}

/// Writes plain text to standard output.
pub fn say(text: &str) {
    put(&clean(text));
}

/// Writes text that has styles of our own in it.
pub fn say_styled(text: &str) {
    put(&styles_only(text));
}

/// Writes a document to standard output: as it is, but to a terminal without the
/// codes that a model may have put in.
pub fn say_document(text: &str) {
    match io::stdout().is_terminal() {
        true => say(text),
        false => put(text),
    }
}

fn put(text: &str) {
    match write(io::stdout().lock(), text, "\n") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            LOST.get_or_init(|| error.to_string());
        }
        _ => {}
    }
}

/// Writes a note for the person to standard error.
pub fn note(text: &str) {
    tell(&clean(text), "\n");
}

pub fn note_styled(text: &str) {
    tell(&styles_only(text), "\n");
}

/// Where this cannot be told, nothing can.
fn tell(text: &str, end: &str) {
    let _ = write(io::stderr().lock(), text, end);
}

fn write(mut stream: impl Write, text: &str, end: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.write_all(end.as_bytes())?;
    stream.flush()
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
        lines.iter().for_each(|line| out.extend([styles_only(line).as_str(), "\n"]));
        self.rows = lines.len();
        tell(&out, "");
    }

    /// Takes the block away; what is said next stands in its place.
    pub fn clear(&mut self) {
        let out = self.cleared();
        tell(&out, "");
    }

    fn cleared(&mut self) -> String {
        match std::mem::take(&mut self.rows) {
            0 => String::new(),
            rows => format!("\r\x1b[{rows}A\x1b[J"),
        }
    }
}

/// A question to the person; the answer is typed behind it.
pub fn prompt(text: &str) {
    tell(&clean(text), "");
}

pub fn complain(message: &str, hint: Option<&str>) {
    let red = colours(&std::io::stderr());
    let (start, end) = if red { ("\x1b[31m", "\x1b[0m") } else { ("", "") };
    note_styled(&format!("{start}plenary:{end} {}", clean(message)));
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
    #[cfg(test)]
    pub const STYLED: Ink = Ink { styled: true };

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

/// The first line, cut between words to so many characters: for lists and logs.
pub fn line(text: &str, most: usize) -> String {
    let text = clean(text);
    let text = text.trim();
    let first = text.lines().next().unwrap_or_default();
    let mut short: String = first.chars().take(most).collect();
    let next = first.chars().nth(most);
    if next.is_none() && text.lines().nth(1).is_none() {
        return short;
    }
    if next.is_some_and(|next| !next.is_whitespace()) {
        let end = short.rfind(char::is_whitespace).unwrap_or(short.len());
        short.truncate(end);
    }
    format!("{}…", short.trim_end())
}

/// Rows of the terminal.
pub fn height() -> u16 {
    ratatui::crossterm::terminal::size().map_or(24, |(_, rows)| rows.max(8))
}

/// The width to wrap at.
pub fn width() -> u16 {
    ratatui::crossterm::terminal::size().map_or(80, |(columns, _)| columns.clamp(20, 100))
}

/// The end of a text, for a view that shows no more: what grows without bound is not
/// laid out anew with every piece. It begins with a line where there is one.
pub fn tail(text: &str, most: usize) -> &str {
    let Some(from) = text.len().checked_sub(most).filter(|from| *from > 0) else { return text };
    let from = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let tail = &text[from..];
    tail.split_once('\n').map_or(tail, |(_, lines)| lines)
}

/// Text without control characters, so that no model can move the cursor or
/// change the title. Line breaks and tabs stay.
pub fn clean(text: &str) -> String {
    filtered(text, false)
}

/// The same, but colours and weights stay.
fn styles_only(text: &str) -> String {
    filtered(text, true)
}

fn filtered(text: &str, styles: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' => out.push('\n'),
            '\t' => out.push_str("    "),
            '\x1b' => {
                let style = skip_escape(&mut rest).filter(|_| styles);
                style.iter().for_each(|numbers| out.extend(["\x1b[", numbers, "m"]));
            }
            // Invisible marks that turn the direction of text can hide words.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// Passes over a code, which ends with its line at the latest. Gives the numbers of a
/// style, if it is one.
fn skip_escape(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<String> {
    match rest.next_if(|c| *c != '\n')? {
        // CSI: parameters up to a letter.
        '[' => {
            let mut numbers = String::new();
            // A code within a code begins anew.
            while let Some(c) = rest.next_if(|c| !matches!(c, '\n' | '\x1b')) {
                match c {
                    'm' => return Some(numbers),
                    '0'..='9' | ';' => numbers.push(c),
                    '@'..='~' => return None,
                    // Another parameter: whatever follows, it is no style of ours.
                    _ => {
                        while rest.next_if(|c| *c != '\n' && !('@'..='~').contains(c)).is_some() {}
                        rest.next_if(|c| *c != '\n');
                        return None;
                    }
                }
            }
        }
        // OSC and the like: up to BEL or ESC \.
        ']' | 'P' | '^' | '_' | 'X' => {
            while let Some(c) = rest.next_if(|c| *c != '\n') {
                if c == '\x07' || (c == '\x1b' && rest.next_if_eq(&'\\').is_some()) {
                    break;
                }
            }
        }
        _ => {}
    }
    None
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

#[cfg(test)]
mod tests {
    use super::{clean, line, styles_only, tail};

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

    #[test]
    fn a_code_without_an_end_takes_no_further_line() {
        check("\x1b]0;never ended\nnext", "\nnext");
        check("\x1b[31\nnext", "\nnext");
        check("\x1b[?31\nnext", "\nnext");
        check("\x1b\nnext", "\nnext");
    }

    #[test]
    fn only_styles_stay_where_we_put_styles() {
        for (text, expected) in [
            ("\x1b[1;38;5;33mbold\x1b[0m", "\x1b[1;38;5;33mbold\x1b[0m"),
            ("\x1b[2J\x1b[3;4Hx\x1b[?25ly\x1b[>4;2mz\x1b[1 q.", "xyz."),
            ("\x1b]52;c;aGk=\x07\x1b]0;title\x1b\\\x1bPq\x1b\\\x1bc\u{9b}2J", "2J"),
            ("\x1b[\x1b[2Jx", "x"),
        ] {
            assert_eq!(styles_only(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_line_is_cut_between_words() {
        for (text, expected) in [
            ("one two", "one two"),
            ("one two\nthree", "one two…"),
            ("one two three", "one two…"),
            ("one twothree", "one…"),
            ("onetwothree", "onetwoth…"),
            (" one \n", "one"),
        ] {
            assert_eq!(line(text, 8), expected, "{text:?}");
        }
    }

    #[test]
    fn a_tail_is_whole_lines_where_there_are_any() {
        assert_eq!(tail("one\ntwo\nthree", 100), "one\ntwo\nthree");
        assert_eq!(tail("one\ntwo\nthree", 8), "three");
        assert_eq!(tail("üüüü", 3), "ü");
        assert_eq!(tail("", 0), "");
    }
}
