//! A finished board on paper: rendered Markdown on a terminal, plain elsewhere.

use std::fmt::Write;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Paragraph, Widget, Wrap};

use super::board::{Advisor, Board, Synthesis};
use crate::terminal::{self, clean, role_colour};

/// Tokens, times and the way back to the session.
pub fn footer(board: &Board) -> String {
    let mut out = format!("session {}", board.id);
    if let Some(at) = board.imported_at.as_deref() {
        let day = at.get(..10).unwrap_or(at);
        let _ = write!(out, " · imported on {}, held elsewhere", clean(day));
    }
    if let (Some(input), Some(output)) = (board.usage.input_tokens, board.usage.output_tokens) {
        let _ = write!(out, " · {input} tokens in, {output} out");
    }
    out
}

pub fn advisor(advisor: &Advisor, styled: bool) -> String {
    let head = format!("{} · {} · {}", advisor.name, advisor.who(), advisor.said.state());
    section(&head, role_colour(&advisor.role), &advisor.said.shown(), styled)
}

pub fn synthesis(synthesis: &Synthesis, styled: bool) -> String {
    let model = clean(&synthesis.model);
    let head = match synthesis.number {
        1 => format!("Synthesis · {model} · {}", synthesis.said.state()),
        n => format!("Synthesis {n} · {model} · {}", synthesis.said.state()),
    };
    let mut notes = vec![];
    notes.extend(synthesis.instruction.as_ref().map(|text| format!("Asked for: {}", clean(text))));
    notes.extend(synthesis.degraded.clone());
    for failed in &synthesis.failed_before {
        let (model, message) = (clean(&failed.model), clean(&failed.error.message));
        notes.push(format!("{model} was tried before: {message}"));
    }
    if synthesis.headings.as_deref() == Some("missing") {
        notes.push("The synthesizer did not keep to the four headings.".into());
    }
    let notes: String = notes.iter().map(|note| format!("_{note}_\n\n")).collect();
    section(&head, Color::Green, &format!("{notes}{}", synthesis.said.shown()), styled)
}

/// The votes on a synthesis, where there are any.
pub fn ballot(synthesis: &Synthesis, styled: bool) -> Option<String> {
    let body = synthesis.votes.shown()?;
    let head = match synthesis.number {
        1 => "Ballot".to_owned(),
        n => format!("Ballot on synthesis {n}"),
    };
    if !styled {
        return Some(section(&head, Color::Green, &body, false));
    }
    // A table keeps its spaces, which Markdown would not.
    let mut out = section(&head, Color::Green, "", true);
    out.push_str(&ansi(Text::from(body), terminal::width()));
    Some(out)
}

/// A head, and what it stands over.
pub fn section(head: &str, colour: Color, body: &str, styled: bool) -> String {
    let body = &under(body, styled);
    if !styled {
        return format!("=== {head} ===\n\n{body}\n");
    }
    let width = terminal::width();
    let rule = Style::default().fg(colour).add_modifier(Modifier::BOLD);
    let mut out = ansi(Text::from(Line::styled(format!("▌ {head}"), rule)), width);
    out.push('\n');
    out.push_str(&ansi(markdown(body), width));
    out
}

/// What somebody wrote, in which no line looks like a head of ours.
pub fn under(body: &str, styled: bool) -> String {
    if styled {
        return body.replace('▌', "|");
    }
    let line = |line: &str| match line.trim_start().starts_with("===") {
        true => format!("  {line}"),
        false => line.to_owned(),
    };
    body.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Markdown as styled text: without the marks that the styles already tell.
pub fn markdown(text: &str) -> Text<'_> {
    let mut text = tui_markdown::from_str(text);
    for line in &mut text.lines {
        let Some(first) = line.spans.first_mut() else { continue };
        let mark = first.content.trim();
        if !mark.is_empty() && mark.chars().all(|c| c == '#') {
            line.spans.remove(0);
        } else if mark == "-" {
            first.content = first.content.replace('-', "•").into();
        }
    }
    text
}

/// Lines of plain text, cut between words where they are too long.
pub fn wrapped(text: &str, width: u16) -> Vec<String> {
    let (buffer, area) = laid_out(Text::from(text), width);
    let line = |y: u16| -> String {
        let mut skip = 0;
        let mut line = String::new();
        for x in 0..area.width {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            skip = ratatui::text::Span::raw(symbol).width().saturating_sub(1);
        }
        line.trim_end().to_owned()
    };
    (0..area.height).map(line).collect()
}

fn laid_out(text: Text<'_>, width: u16) -> (Buffer, Rect) {
    let paragraph = Paragraph::new(text).wrap(Wrap { trim: false });
    let height = u16::try_from(paragraph.line_count(width)).unwrap_or(u16::MAX);
    let area = Rect::new(0, 0, width, height.max(1));
    let mut buffer = Buffer::empty(area);
    paragraph.render(area, &mut buffer);
    (buffer, area)
}

/// Wraps styled text and writes it with escape codes of our own.
fn ansi(text: Text<'_>, width: u16) -> String {
    let (buffer, area) = laid_out(text, width);
    let mut out = String::new();
    for y in 0..area.height {
        let mut style = Style::default();
        let mut line = String::new();
        let mut skip = 0;
        for x in 0..area.width {
            let cell = &buffer[(x, y)];
            if skip > 0 {
                skip -= 1;
                continue;
            }
            if cell.style() != style {
                style = cell.style();
                line.push_str(&codes(style));
            }
            line.push_str(cell.symbol());
            // A wide character covers the cell after it.
            skip = ratatui::text::Span::raw(cell.symbol()).width().saturating_sub(1);
        }
        out.push_str(line.trim_end());
        out.push_str("\x1b[0m\n");
    }
    out
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
pub fn whole(board: &Board, styled: bool) -> String {
    let mut parts: Vec<String> = board.advisors.iter().map(|one| advisor(one, styled)).collect();
    for one in &board.syntheses {
        parts.push(synthesis(one, styled));
        parts.extend(ballot(one, styled));
    }
    if let Some(failure) = &board.failure {
        parts.push(format!("{}\n", clean(failure)));
    }
    parts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_a_text_looks_like_a_head_of_ours() {
        let forged = "Yes.\n=== Synthesis · m/s · done ===\n\n ===\nNo = no.";
        let plain = section("Critic · m/1 · done", Color::Red, forged, false);
        let heads: Vec<&str> = plain.lines().filter(|line| line.starts_with("=")).collect();
        assert_eq!(heads, ["=== Critic · m/1 · done ==="]);
        assert!(plain.contains("\n  === Synthesis · m/s · done ===\n"), "{plain}");
        let styled = section("Critic", Color::Red, "▌ Synthesis", true);
        assert_eq!(styled.matches('▌').count(), 1, "{styled}");
    }
}
