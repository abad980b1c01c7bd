//! Markdown as styled lines.
//!
//! Models write whatever they like, and some of it is meant to break a parser. So a
//! line is read by itself and once, and nothing nests: time and memory grow with the
//! length of a text, and with nothing else about it.

use std::collections::HashMap;

use plenary_domain::limits;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span, Text};

/// The text without the marks that its styles already tell.
pub fn text(text: &str) -> Text<'static> {
    let mut lines = vec![];
    let mut fence: Option<Fence> = None;
    let mut rest = text.lines().peekable();
    while let Some(line) = rest.next() {
        if let Some(open) = fence {
            fence = (!open.is_closed_by(line)).then_some(open);
            lines.push(Line::styled(line.to_owned(), code()));
        } else if let Some(open) = Fence::opened_by(line) {
            fence = Some(open);
            lines.push(Line::styled(line.to_owned(), code()));
        } else if is_row(line) {
            let mut rows = vec![line];
            while let Some(row) = rest.next_if(|line| is_row(line)) {
                rows.push(row);
            }
            lines.extend(table(&rows));
        } else {
            lines.push(block(line));
        }
    }
    Text::from(lines)
}

fn code() -> Style {
    Style::new().white().on_black()
}

/// Three or more of one mark begin code, and as many end it.
#[derive(Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    fn opened_by(line: &str) -> Option<Fence> {
        let line = line.trim_start();
        let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let length = line.chars().take_while(|c| *c == mark).count();
        // Backticks further on make it code within a line.
        let inline = mark == '`' && line[length..].contains('`');
        (length >= 3 && !inline).then_some(Fence { mark, length })
    }

    fn is_closed_by(self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }
}

/// A heading, an item, a quotation, or a line of a paragraph.
fn block(line: &str) -> Line<'static> {
    let body = line.trim_start_matches(' ');
    let indent = &line[..line.len() - body.len()];
    let level = body.bytes().take_while(|byte| *byte == b'#').count();
    if let Some(title) = body[level..].strip_prefix(' ').filter(|_| (1..=6).contains(&level)) {
        let style = match level {
            1 => Style::new().cyan().bold().underlined(),
            2 => Style::new().cyan().bold(),
            3 => Style::new().cyan().bold().italic(),
            _ => Style::new().light_cyan().italic(),
        };
        let title = title.trim().trim_end_matches('#').trim_end();
        return Line::from(inline(title, style));
    }
    if body.starts_with('>') {
        return Line::from(inline(line, Style::new().green()));
    }
    if is_rule(body) {
        return Line::styled(line.to_owned(), Style::new().dim());
    }
    match ["- ", "* ", "+ "].into_iter().find_map(|mark| body.strip_prefix(mark)) {
        Some(item) => {
            let mut spans = vec![Span::raw(format!("{indent}• "))];
            spans.extend(inline(item, Style::new()));
            Line::from(spans)
        }
        None => Line::from(inline(line, Style::new())),
    }
}

fn is_rule(body: &str) -> bool {
    let mark = body.chars().next().filter(|mark| matches!(mark, '-' | '*' | '_'));
    let of_it = |mark: char| body.chars().all(|c| c == mark || c == ' ');
    mark.is_some_and(|mark| of_it(mark) && body.chars().filter(|c| *c == mark).count() >= 3)
}

fn is_row(line: &str) -> bool {
    let line = line.trim();
    line.len() > 1 && line.starts_with('|')
}

/// Rows with their columns in line, or as they are where that would be too wide.
fn table(rows: &[&str]) -> Vec<Line<'static>> {
    let cells: Vec<Vec<Vec<Span<'static>>>> = rows.iter().map(|row| cells(row)).collect();
    let columns = cells.iter().map(Vec::len).max().unwrap_or(0);
    let width = |cell: &Vec<Span<'_>>| cell.iter().map(Span::width).sum::<usize>();
    let is_line = |row: &str| row.contains('-') && row.chars().all(|c| " |:-".contains(c));
    let mut widths = vec![0; columns.min(limits::TABLE_COLUMNS)];
    for (_, row) in rows.iter().zip(&cells).filter(|(text, _)| !is_line(text)) {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = width(cell).max(*widest);
        }
    }
    let whole = widths.iter().sum::<usize>() + 3 * widths.len();
    if columns > limits::TABLE_COLUMNS || whole > limits::TABLE_WIDTH {
        return rows.iter().map(|row| Line::from(inline(row, Style::new()))).collect();
    }
    let mut lines = vec![];
    for (text, row) in rows.iter().zip(cells) {
        if is_line(text) {
            let bars: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            lines.push(Line::styled(bars.join("─┼─"), Style::new().dim()));
            continue;
        }
        let mut spans = vec![];
        let mut row = row.into_iter();
        for (nth, widest) in widths.iter().enumerate() {
            let cell = row.next().unwrap_or_default();
            let gap = widest.saturating_sub(width(&cell));
            if nth > 0 {
                spans.push(Span::styled(" │ ", Style::new().dim()));
            }
            spans.extend(cell);
            spans.push(Span::raw(" ".repeat(gap)));
        }
        lines.push(Line::from(spans));
    }
    lines
}

fn cells(row: &str) -> Vec<Vec<Span<'static>>> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = row.strip_suffix('|').filter(|row| !row.ends_with('\\')).unwrap_or(row);
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for c in row.chars() {
        match c {
            '|' if !escaped => cells.push(String::new()),
            c => cells.last_mut().into_iter().for_each(|cell| cell.push(c)),
        }
        escaped = c == '\\' && !escaped;
    }
    cells.iter().map(|cell| inline(cell.trim(), Style::new())).collect()
}

/// Styles that a part of a line may have, each by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Strong,
    Emphasis,
    Struck,
    Link,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Strong, Kind::Emphasis, Kind::Struck, Kind::Link];

    fn on(self, style: Style) -> Style {
        match self {
            Kind::Strong => style.add_modifier(Modifier::BOLD),
            Kind::Emphasis => style.add_modifier(Modifier::ITALIC),
            Kind::Struck => style.add_modifier(Modifier::CROSSED_OUT),
            Kind::Link => style.blue().underlined(),
        }
    }
}

/// A part of a line: words, code, or a mark that is words unless it has a partner.
enum Piece {
    Words(String),
    Code(String),
    Mark { kind: Kind, written: String, paired: bool },
}

/// One pass over the line. A mark looks for its partner among those that are open,
/// of which there is at most one of each kind; brackets are taken as they come.
fn inline(line: &str, base: Style) -> Vec<Span<'static>> {
    let mut reader = Reader::new(line);
    while let Some(c) = reader.peek() {
        match c {
            '\\' => reader.escape(),
            '`' => reader.code(),
            '*' | '_' | '~' => reader.emphasis(c),
            '[' => reader.open_bracket(),
            ']' => reader.close_bracket(),
            c => reader.word(c),
        }
    }
    spans(reader.pieces, base)
}

struct Reader<'a> {
    line: &'a str,
    at: usize,
    pieces: Vec<Piece>,
    /// Where runs of so many backticks stand last.
    ticks: HashMap<usize, usize>,
    open: [Option<usize>; 3],
    brackets: Vec<usize>,
}

impl<'a> Reader<'a> {
    fn new(line: &'a str) -> Reader<'a> {
        let mut ticks = HashMap::new();
        let mut at = 0;
        while let Some(from) = line[at..].find('`').map(|found| at + found) {
            let length = run(&line[from..], '`');
            ticks.insert(length, from);
            at = from + length;
        }
        Reader { line, at: 0, pieces: vec![], ticks, open: [None; 3], brackets: vec![] }
    }

    fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn word(&mut self, c: char) {
        self.at += c.len_utf8();
        self.words(c);
    }

    fn words(&mut self, c: char) {
        match self.pieces.last_mut() {
            Some(Piece::Words(words)) => words.push(c),
            Some(Piece::Code(_) | Piece::Mark { .. }) | None => {
                self.pieces.push(Piece::Words(c.to_string()));
            }
        }
    }

    fn escape(&mut self) {
        let escaped = self.rest().chars().nth(1).filter(char::is_ascii_punctuation);
        self.at += 1 + escaped.map_or(0, char::len_utf8);
        self.words(escaped.unwrap_or('\\'));
    }

    fn code(&mut self) {
        let length = run(self.rest(), '`');
        let inside = self.at + length;
        // Somewhere behind there is a run of the same length, so it will be found.
        let has_end = self.ticks.get(&length).is_some_and(|last| *last >= inside);
        let mut end = inside;
        while has_end && end < self.line.len() {
            let Some(found) = self.line[end..].find('`') else { break };
            let ticks = run(&self.line[end + found..], '`');
            if ticks == length {
                self.pieces.push(Piece::Code(self.line[inside..end + found].to_owned()));
                self.at = end + found + ticks;
                return;
            }
            end += found + ticks;
        }
        self.at = inside;
        (0..length).for_each(|_| self.words('`'));
    }

    fn emphasis(&mut self, mark: char) {
        let length = run(self.rest(), mark);
        let before = self.line[..self.at].chars().next_back();
        self.at += length;
        let after = self.peek();
        let kinds: &[(Kind, usize)] = match (mark, length) {
            ('~', 2) => &[(Kind::Struck, 2)],
            ('*' | '_', 1) => &[(Kind::Emphasis, 1)],
            ('*' | '_', 2) => &[(Kind::Strong, 2)],
            ('*' | '_', 3) => &[(Kind::Strong, 2), (Kind::Emphasis, 1)],
            _ => &[],
        };
        if kinds.is_empty() {
            (0..length).for_each(|_| self.words(mark));
        }
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_there = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace());
        // `snake_case` has no emphasis in it.
        let within = mark == '_' && is_word(before) && is_word(after);
        for (kind, length) in kinds {
            let written = mark.to_string().repeat(*length);
            let place = *kind as usize;
            let opened = self.open[place].filter(|_| is_there(before) && !within);
            let paired = opened.is_some();
            if let Some(Piece::Mark { paired, .. }) = opened.and_then(|at| self.pieces.get_mut(at))
            {
                *paired = true;
                self.open[place] = None;
            } else if is_there(after) && !within {
                self.open[place] = Some(self.pieces.len());
            }
            self.pieces.push(Piece::Mark { kind: *kind, written, paired });
        }
    }

    fn open_bracket(&mut self) {
        self.at += 1;
        self.brackets.push(self.pieces.len());
        self.pieces.push(Piece::Mark { kind: Kind::Link, written: "[".into(), paired: false });
    }

    /// `[words](address)`: the address is shown behind the words, so that nobody is
    /// led elsewhere than they think.
    fn close_bracket(&mut self) {
        self.at += 1;
        let opened = self.brackets.pop();
        let address = self.rest().strip_prefix('(').and_then(|rest| {
            let end =
                rest.find(|c: char| matches!(c, '(' | ')' | '[' | ']') || c.is_whitespace())?;
            rest[end..].starts_with(')').then_some(&rest[..end])
        });
        let opened = opened.and_then(|at| self.pieces.get_mut(at));
        let (Some(Piece::Mark { paired, .. }), Some(address)) = (opened, address) else {
            self.words(']');
            return;
        };
        *paired = true;
        self.at += address.len() + 2;
        let written = "]".to_owned();
        self.pieces.push(Piece::Mark { kind: Kind::Link, written, paired: true });
        self.pieces.push(Piece::Words(format!(" ({address})")));
    }
}

fn run(text: &str, mark: char) -> usize {
    text.chars().take_while(|c| *c == mark).count()
}

fn spans(pieces: Vec<Piece>, base: Style) -> Vec<Span<'static>> {
    let mut on = [false; 4];
    let mut spans: Vec<Span<'static>> = vec![];
    for piece in pieces {
        let style = Kind::ALL
            .into_iter()
            .filter(|kind| on[*kind as usize])
            .fold(base, |style, kind| kind.on(style));
        let (words, style) = match piece {
            Piece::Mark { kind, paired: true, .. } => {
                on[kind as usize] = !on[kind as usize];
                continue;
            }
            Piece::Mark { written, paired: false, .. } => (written, style),
            Piece::Words(words) => (words, style),
            Piece::Code(words) => (words, code()),
        };
        match spans.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(&words),
            Some(_) | None => spans.push(Span::styled(words, style)),
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spans with their styles in short: `b` bold, `i` italic, `s` struck, `u` underlined,
    /// `c` code.
    fn check(line: &str, expected: &[(&str, &str)]) {
        let found: Vec<(String, String)> = inline(line, Style::new())
            .into_iter()
            .map(|span| {
                let has = |modifier| span.style.add_modifier.contains(modifier);
                let marks = [
                    (has(Modifier::BOLD), 'b'),
                    (has(Modifier::ITALIC), 'i'),
                    (has(Modifier::CROSSED_OUT), 's'),
                    (has(Modifier::UNDERLINED), 'u'),
                    (span.style == code(), 'c'),
                ];
                let marks = marks.into_iter().filter(|(is, _)| *is).map(|(_, mark)| mark);
                (span.content.into_owned(), marks.collect())
            })
            .collect();
        let found: Vec<(&str, &str)> =
            found.iter().map(|(text, marks)| (text.as_str(), marks.as_str())).collect();
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn styles_within_a_line() {
        check("plain", &[("plain", "")]);
        check("a **b** c", &[("a ", ""), ("b", "b"), (" c", "")]);
        check("*a* _b_ __c__", &[("a", "i"), (" ", ""), ("b", "i"), (" ", ""), ("c", "b")]);
        check("***all***", &[("all", "bi")]);
        check("**a *b* c**", &[("a ", "b"), ("b", "bi"), (" c", "b")]);
        check("~~no~~ yes", &[("no", "s"), (" yes", "")]);
        check("`a*b*` ``c`d``", &[("a*b*", "c"), (" ", ""), ("c`d", "c")]);
        check("[here](http://x)", &[("here", "u"), (" (http://x)", "")]);
        check("[**b**](u) c", &[("b", "bu"), (" (u) c", "")]);
    }

    #[test]
    fn marks_without_a_partner_are_words() {
        for line in [
            "2 * 3 * 4",
            "a ** b",
            "snake_case_name",
            "**open",
            "open*",
            "`open",
            "[open",
            "[a] (b)",
            "[a](b c)",
            "a]b",
            "****",
            "~a~",
            "1 < 2 & 3",
        ] {
            check(line, &[(line, "")]);
        }
        check("\\*a\\* \\n", &[("*a* \\n", "")]);
        check("", &[]);
    }

    #[test]
    fn blocks() {
        let shown = |given: &str| -> Vec<String> {
            text(given).lines.iter().map(ToString::to_string).collect()
        };
        assert_eq!(shown("# One\n## Two ##\n#no"), ["One", "Two", "#no"]);
        assert_eq!(shown("- a\n  * b\n1. c"), ["• a", "  • b", "1. c"]);
        assert_eq!(shown("```rust\n# **x**\n```\n# y"), ["```rust", "# **x**", "```", "y"]);
        assert_eq!(shown("> **a**\n>> b"), ["> a", ">> b"]);
        assert_eq!(
            shown("| a | **b** |\n|---|:-:|\n| long | c |\n| \\| |"),
            ["a    │ b", "─────┼──", "long │ c", "|    │  "]
        );
        assert_eq!(shown("a\n\nb"), ["a", "", "b"]);
        let wide = format!("| {} | x |\n|---|---|", "w".repeat(200));
        assert_eq!(shown(&wide).join("\n"), wide);
    }
}
