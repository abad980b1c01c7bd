//! A finished board on paper: rendered Markdown on a terminal, plain elsewhere.

use std::fmt::Write;
use std::io::IsTerminal;

use plenary_domain::{limits, names};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Paragraph, Widget, Wrap};

use super::board::{Advisor, Board, Contribution, Synthesis};
use super::budget::Budget;
use super::markdown;
use crate::rounded;
use crate::terminal::{self, Ink, clean, role_colour};

/// What is written on: with styles or without, wrapped between words or as it is.
#[derive(Clone, Copy)]
pub struct Paper {
    pub ink: Ink,
    /// Wrapped to the terminal's width. A terminal itself cuts words in two.
    pub wraps: bool,
}

impl Paper {
    pub fn plain() -> Paper {
        Paper { ink: Ink::none(), wraps: false }
    }

    pub fn of(stream: &impl IsTerminal) -> Paper {
        Paper { ink: Ink::of(stream), wraps: stream.is_terminal() }
    }

    /// A head, and what it stands over.
    pub fn section(self, head: &str, colour: Color, body: &str) -> String {
        if !self.ink.is_styled() {
            let head = self.wrapped(&format!("=== {head} ==="));
            return format!("{head}\n\n{}\n", self.under(&self.wrapped(body)));
        }
        let width = terminal::width();
        let rule = Style::default().fg(colour).add_modifier(Modifier::BOLD);
        let mut out = ansi(Text::from(Line::styled(format!("▌ {head}"), rule)), width);
        out.push('\n');
        out.push_str(&ansi(markdown::text(&self.under(body)), width));
        out
    }

    /// What somebody wrote, in which no line looks like a head of ours.
    pub fn under(self, body: &str) -> String {
        if self.ink.is_styled() {
            return body.replace('▌', "|");
        }
        let line = |line: &str| match names::shown(line).starts_with("===") {
            true => format!("  {line}"),
            false => line.to_owned(),
        };
        body.split('\n').map(line).collect::<Vec<_>>().join("\n")
    }

    pub fn wrapped(self, text: &str) -> String {
        match self.wraps {
            true => wrapped(text, terminal::width()).join("\n"),
            false => text.to_owned(),
        }
    }
}

/// Tokens, times and the way back to the session.
pub fn footer(board: &Board) -> String {
    let mut out = format!("session {}", board.id);
    if let Some(at) = board.imported_at.as_deref() {
        let day = at.get(..10).unwrap_or(at);
        let _ = write!(out, " · imported on {}", clean(day));
    }
    let cost = board.cost.map(|cost| rounded::money(cost, board.currency.as_deref()));
    let budget = board.budget.as_ref().map(Budget::in_words);
    for part in [board.usage.in_words(), cost, budget].into_iter().flatten() {
        let _ = write!(out, " · {part}");
    }
    out
}

pub fn advisor(board: &Board, advisor: &Advisor, paper: Paper) -> String {
    // By its number it can be picked.
    let several = advisor.earlier.iter().any(|one| one.round == advisor.round);
    let which = if several { format!(", answer {}", advisor.r#try) } else { String::new() };
    let picked = picked(advisor, advisor.r#try);
    let head =
        format!("{}{which}{picked} · {} · {}", advisor.name, advisor.who(), advisor.said.state());
    let head = advisor.said.spent.after(&head, board.currency.as_deref());
    paper.section(&head, role_colour(&advisor.role), &advisor.said.shown())
}

fn picked(advisor: &Advisor, number: u32) -> &'static str {
    if advisor.picked == Some(number) { " (picked)" } else { "" }
}

/// What an advisor said before it was asked again, or another of its answers.
pub fn contribution(board: &Board, advisor: &Advisor, one: &Contribution, paper: Paper) -> String {
    let which = match one.round == advisor.round {
        true => format!("answer {}{}", one.r#try, picked(advisor, one.r#try)),
        false => format!("question {}, answer {}", one.round, one.r#try),
    };
    let head = format!("{}, {which} · {} · {}", advisor.name, one.who(), one.said.state());
    let head = one.said.spent.after(&head, board.currency.as_deref());
    paper.section(&head, role_colour(&advisor.role), &one.said.shown())
}

pub fn synthesis(board: &Board, synthesis: &Synthesis, paper: Paper) -> String {
    let currency = board.currency.as_deref();
    let model = clean(&synthesis.model);
    let head = match synthesis.number {
        1 => format!("Verdict · {model} · {}", synthesis.said.state()),
        n => format!("Verdict v{n} · {model} · {}", synthesis.said.state()),
    };
    let head = synthesis.said.spent.after(&head, currency);
    let mut notes = vec![];
    notes
        .extend(synthesis.instruction.as_ref().map(|text| format!("Instruction: {}", clean(text))));
    notes.extend(synthesis.degraded.clone());
    for failed in &synthesis.failed_before {
        let (model, message) = (clean(&failed.model), clean(&failed.error.message));
        let took = failed.spent.in_words(currency);
        let took = took.map(|took| format!(" ({took})")).unwrap_or_default();
        notes.push(format!("{model} failed first: {message}{took}"));
    }
    if synthesis.headings.as_deref() == Some("missing") {
        let note = "The model did not follow the four sections. This is its text as written.";
        notes.push(note.into());
    }
    let notes: String = notes.iter().map(|note| format!("_{note}_\n\n")).collect();
    paper.section(&head, Color::Green, &format!("{notes}{}", synthesis.said.shown()))
}

/// The votes on a synthesis, where there are any.
pub fn ballot(board: &Board, synthesis: &Synthesis, paper: Paper) -> Option<String> {
    let body = synthesis.votes.shown(board.currency.as_deref())?;
    let head = match synthesis.number {
        1 => "Votes".to_owned(),
        n => format!("Votes on verdict v{n}"),
    };
    if !paper.ink.is_styled() {
        return Some(paper.section(&head, Color::Green, &body));
    }
    // A table keeps its spaces, which Markdown would not.
    let mut out = paper.section(&head, Color::Green, "");
    out.push_str(&ansi(Text::from(body), terminal::width()));
    Some(out)
}

/// Lines of plain text, cut between words where they are too long.
pub fn wrapped(text: &str, width: u16) -> Vec<String> {
    let row = |row: &Row<'_>| row.cells().map(Cell::symbol).collect::<String>();
    rows(Text::from(text), width, |one| row(one).trim_end().to_owned())
}

/// Wraps styled text and writes it with escape codes of our own.
fn ansi(text: Text<'_>, width: u16) -> String {
    let row = |row: &Row<'_>| {
        let mut style = Style::default();
        let mut line = String::new();
        for cell in row.cells() {
            if cell.style() != style {
                style = cell.style();
                line.push_str(&codes(style));
            }
            line.push_str(cell.symbol());
        }
        format!("{}\x1b[0m\n", line.trim_end())
    };
    rows(text, width, row).concat()
}

/// A row of the terminal.
struct Row<'a> {
    buffer: &'a Buffer,
    y: u16,
}

impl Row<'_> {
    /// A wide character covers the cells after it.
    fn cells(&self) -> impl Iterator<Item = &Cell> {
        let mut covered = 0;
        (0..self.buffer.area.width).map(|x| &self.buffer[(x, self.y)]).filter(move |cell| {
            if covered > 0 {
                covered -= 1;
                return false;
            }
            covered = Span::raw(cell.symbol()).width().saturating_sub(1);
            true
        })
    }
}

/// Lays out one line at a time, and a long one in parts: what this takes grows with the
/// text, not with how it is spread over lines.
fn rows<T>(text: Text<'_>, width: u16, shown: impl Fn(&Row<'_>) -> T) -> Vec<T> {
    let mut rows = vec![];
    for line in text.lines.into_iter().flat_map(parts) {
        let paragraph = Paragraph::new(line).wrap(Wrap { trim: false });
        let height = u16::try_from(paragraph.line_count(width)).unwrap_or(u16::MAX);
        let area = Rect::new(0, 0, width, height.max(1));
        let mut buffer = Buffer::empty(area);
        paragraph.render(area, &mut buffer);
        rows.extend((0..area.height).map(|y| shown(&Row { buffer: &buffer, y })));
    }
    // Nothing at all is one empty row.
    if rows.is_empty() {
        let buffer = Buffer::empty(Rect::new(0, 0, width, 1));
        rows.push(shown(&Row { buffer: &buffer, y: 0 }));
    }
    rows
}

fn parts(line: Line<'_>) -> Vec<Line<'_>> {
    let style = line.style;
    let mut parts = vec![vec![]];
    let mut room = limits::LAID_OUT_CHARS;
    for span in line.spans {
        let mut rest = span.content.as_ref();
        while let Some((most, _)) = rest.char_indices().nth(room) {
            // Between words, where there are any.
            let cut = rest[..most].rfind(' ').map_or(most, |space| space + 1);
            let (part, further) = rest.split_at(cut);
            parts.last_mut().into_iter().for_each(|last| last.push(own(part, span.style)));
            parts.push(vec![]);
            (rest, room) = (further, limits::LAID_OUT_CHARS);
        }
        room -= rest.chars().count();
        parts.last_mut().into_iter().for_each(|last| last.push(own(rest, span.style)));
    }
    parts.into_iter().map(|spans| Line::from(spans).style(style)).collect()
}

fn own(text: &str, style: Style) -> Span<'static> {
    Span::styled(text.to_owned(), style)
}

fn codes(style: Style) -> String {
    let mut out = String::from("\x1b[0");
    for (modifier, code) in [
        (Modifier::BOLD, 1),
        (Modifier::DIM, 2),
        (Modifier::ITALIC, 3),
        (Modifier::UNDERLINED, 4),
        (Modifier::CROSSED_OUT, 9),
    ] {
        if style.add_modifier.contains(modifier) {
            let _ = write!(out, ";{code}");
        }
    }
    let colour = |colour: Option<Color>, base: u8| match colour {
        Some(Color::Rgb(r, g, b)) => format!(";{};2;{r};{g};{b}", base + 8),
        Some(Color::Indexed(n)) => format!(";{};5;{n}", base + 8),
        Some(named) => named_code(named).map_or_else(String::new, |n| format!(";{}", base + n)),
        None => String::new(),
    };
    out.push_str(&colour(style.fg, 30));
    out.push_str(&colour(style.bg, 40));
    out.push('m');
    out
}

fn named_code(colour: Color) -> Option<u8> {
    let plain = [
        Color::Black,
        Color::Red,
        Color::Green,
        Color::Yellow,
        Color::Blue,
        Color::Magenta,
        Color::Cyan,
        Color::Gray,
    ];
    let bright = [
        Color::DarkGray,
        Color::LightRed,
        Color::LightGreen,
        Color::LightYellow,
        Color::LightBlue,
        Color::LightMagenta,
        Color::LightCyan,
        Color::White,
    ];
    let place = |colours: [Color; 8]| colours.iter().position(|known| *known == colour);
    let found = place(plain).or_else(|| place(bright).map(|n| n + 60));
    found.and_then(|n| u8::try_from(n).ok())
}

/// The whole board, one section after the other.
pub fn whole(board: &Board, paper: Paper) -> String {
    let mut parts = vec![];
    for one in &board.advisors {
        let said = [advisor(board, one, paper)].into_iter();
        let others = one.earlier.iter().map(|other| contribution(board, one, other, paper));
        parts.extend(said.chain(others));
    }
    for one in &board.syntheses {
        parts.push(synthesis(board, one, paper));
        parts.extend(ballot(board, one, paper));
    }
    if let Some(failure) = &board.failure {
        parts.push(format!("{}\n", paper.wrapped(&clean(failure))));
    }
    parts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLED: Paper = Paper { ink: Ink::STYLED, wraps: true };

    /// What models could write to break a terminal.
    fn hostile() -> Vec<String> {
        let size = 24 * 1024;
        let filled = |unit: &str| unit.repeat(size / unit.len());
        let mut texts: Vec<String> = [
            "1. ",
            "> 1. - ",
            "> ",
            "- ",
            "* ",
            "+ ",
            "#",
            "# ",
            "\n",
            "\n\n",
            " ",
            "    ",
            "a",
            "a ",
            "*",
            "**",
            "***a",
            "*a **b ",
            "_",
            "__a_",
            "~~",
            "~~a",
            "`",
            "` ",
            "`` ` ",
            "```\n",
            "~~~\n",
            "[",
            "]",
            "[](",
            "[a](",
            "[a](b)",
            "](",
            "![a](b",
            "[[a]",
            "|",
            "| a ",
            "|-",
            "| a | b |\n",
            "|a|\n|-|\n",
            "<",
            "<a>",
            "&amp;",
            "\\",
            "\\*",
            "1.\n ",
            "- a\n\n  ",
            "\u{301}",
            "e\u{301}\u{302}",
            "漢",
            "漢 ",
            "👩‍👩‍👧‍👦",
            "👍🏽",
            "🇩🇪",
            "\u{200d}",
            "\u{200b}",
            "ﷺ",
            "\u{fe0f}",
            "\u{ad}",
            "abcdefghijk ",
            "a-b",
            "http://a.b/",
            "\r\n",
            "\t",
        ]
        .map(filled)
        .into();
        // Depth on one line and many lines after it.
        let deep = |unit: &str, line: &str| {
            let half = size / 2;
            unit.repeat(half / unit.len()) + "x\n" + &line.repeat(half / line.len())
        };
        texts.extend([deep("1. ", "\n"), deep("> ", "> "), deep("- ", "a\n"), deep("[", "]")]);
        // Backticks in runs of every length.
        let runs = (1..1_400).map(|length| "`".repeat(length) + " ");
        texts.push(runs.collect());
        texts
    }

    #[test]
    fn whatever_a_model_writes_is_shown_whole() {
        for text in hostile() {
            let cleaned = clean(&text);
            let shown = STYLED.section("head", Color::Green, &cleaned);
            let name: String = text.chars().take(12).collect();
            // Nothing is repeated for each level of something.
            assert!(shown.len() < 32 * text.len(), "{name:?}: {} bytes", shown.len());
            // Letters are neither lost nor made: no row was cut off.
            let letters = |text: &str| text.matches(['a', 'b', '漢', '🇩']).count();
            let plain = clean(&shown);
            let expected = letters(&cleaned) + letters("head");
            assert_eq!(letters(&plain), expected, "{name:?}");
            let width = usize::from(terminal::width());
            let widest =
                wrapped(&cleaned, width as u16).iter().map(|row| Span::raw(row).width()).max();
            assert!(widest <= Some(width), "{name:?}: {widest:?}");
        }
    }

    #[test]
    fn long_lines_and_many_lines_are_whole() {
        let words = "abcdefghijk ".repeat(10_000);
        let rows = wrapped(&words, 20);
        assert_eq!(rows.concat().replace(' ', ""), words.replace(' ', ""));
        assert!(rows.iter().all(|row| row == "abcdefghijk"), "a word is cut in two");
        let lines = "x\n".repeat(70_000);
        assert_eq!(wrapped(&lines, 20).len(), 70_000);
        assert_eq!(wrapped("", 20), [""]);
        assert_eq!(wrapped("漢字 ab\n\nc", 6), ["漢字", "ab", "", "c"]);
    }

    #[test]
    fn styles_are_written_as_codes() {
        let shown = ansi(markdown::text("## T\n**b** `c`"), 20);
        assert_eq!(
            shown,
            "\x1b[0;1;36mT\x1b[0m\x1b[0m\n\x1b[0;1mb\x1b[0m \x1b[0;97;40mc\x1b[0m\x1b[0m\n"
        );
    }

    #[test]
    fn no_line_of_a_text_looks_like_a_head_of_ours() {
        let forged = "Yes.\n=== Synthesis · m/s · done ===\n\n ===\n\u{200b}=== Ann ===\nNo = no.";
        let plain = Paper::plain().section("Critic · m/1 · done", Color::Red, forged);
        let heads: Vec<&str> = plain.lines().filter(|line| line.starts_with("=")).collect();
        assert_eq!(heads, ["=== Critic · m/1 · done ==="]);
        assert!(plain.contains("\n  === Synthesis · m/s · done ===\n"), "{plain}");
        let styled = STYLED.section("Critic", Color::Red, "▌ Synthesis");
        assert_eq!(styled.matches('▌').count(), 1, "{styled}");
    }

    #[test]
    fn a_terminal_without_colours_gets_whole_words() {
        let forged = format!("{} === Synthesis · m/s · done ===", "word ".repeat(300).trim_end());
        let wrapped =
            Paper { ink: Ink::none(), wraps: true }.section("Critic", Color::Red, &forged);
        let (head, body) = wrapped.split_once("\n\n").unwrap_or_default();
        assert_eq!(head, "=== Critic ===");
        let width = usize::from(terminal::width());
        assert!(body.lines().all(|line| line.len() <= width + 4 && !line.starts_with("===")));
        assert_eq!(body.matches("word").count(), 300, "{body}");
        let piped = Paper::plain().section("Critic", Color::Red, &forged);
        assert!(piped.contains(&forged), "what goes into a pipe is not wrapped");
    }
}
