//! Advisors live, side by side, in their colours.

use std::io;

use plenary_domain::limits;
use ratatui::DefaultTerminal;
use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, BorderType, Paragraph, Wrap};
use tokio::sync::mpsc;

use super::board::{Board, Said};
use super::markdown;
use crate::terminal::{self, clean, role_colour};

/// Narrower columns are stacked.
const COLUMN: u16 = 34;
/// Stacked panes lower than this show only the one in focus.
const ROW: u16 = 5;

/// What the person wants.
pub enum Intent {
    Stop,
    Synthesize,
    Reply { advisor: u8, text: String },
}

pub struct Panes {
    terminal: DefaultTerminal,
    events: mpsc::Receiver<Event>,
    /// One pane over the whole screen.
    focus: Option<usize>,
    /// Lines scrolled up from the end, in focus.
    scrolled: u16,
    reply: String,
    said: Option<String>,
    /// How far the board was when it was drawn last.
    progress: (String, usize),
    colours: bool,
}

impl Panes {
    pub fn open() -> io::Result<Self> {
        let (send, events) = mpsc::channel(64);
        let terminal = ratatui::try_init()?;
        // Reading keys blocks, so it has a thread of its own, which ends with us.
        std::thread::spawn(move || {
            while let Ok(event) = event::read() {
                if send.blocking_send(event).is_err() {
                    return;
                }
            }
        });
        let colours = terminal::colours(&io::stdout());
        let (reply, said, progress) = (String::new(), None, Default::default());
        Ok(Panes { terminal, events, focus: None, scrolled: 0, reply, said, progress, colours })
    }

    pub async fn next_event(&mut self) -> Event {
        match self.events.recv().await {
            Some(event) => event,
            None => std::future::pending().await,
        }
    }

    /// A word to the person, below the panes.
    pub fn say(&mut self, message: &str) {
        self.said = Some(clean(message));
    }

    pub fn intend(&mut self, event: Event, board: &Board) -> Option<Intent> {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(key, board),
            Event::Paste(text) if board.waiting().is_some() => {
                self.reply.push_str(&clean(&text));
                None
            }
            _ => None,
        }
    }

    fn key(&mut self, key: KeyEvent, board: &Board) -> Option<Intent> {
        self.said = None;
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if control && matches!(key.code, KeyCode::Char('c' | 'd')) {
            return Some(Intent::Stop);
        }
        if let Some(advisor) = board.waiting() {
            return self.type_reply(key, advisor.id);
        }
        let panes = board.advisors.len() + usize::from(!board.syntheses.is_empty());
        match key.code {
            KeyCode::Char('s') => return Some(Intent::Synthesize),
            KeyCode::Char(digit @ '1'..='9') => {
                let place = digit as usize - '1' as usize;
                self.focus = (place < panes).then_some(place);
                self.scrolled = 0;
            }
            KeyCode::Tab => {
                let next = self.focus.map_or(0, |focus| focus + 1);
                self.focus = (next < panes).then_some(next);
                self.scrolled = 0;
            }
            KeyCode::Esc | KeyCode::Char('0') => (self.focus, self.scrolled) = (None, 0),
            KeyCode::Up | KeyCode::Char('k') => self.scrolled = self.scrolled.saturating_add(1),
            KeyCode::Down | KeyCode::Char('j') => self.scrolled = self.scrolled.saturating_sub(1),
            KeyCode::PageUp => self.scrolled = self.scrolled.saturating_add(10),
            KeyCode::PageDown => self.scrolled = self.scrolled.saturating_sub(10),
            _ => {}
        }
        None
    }

    fn type_reply(&mut self, key: KeyEvent, advisor: u8) -> Option<Intent> {
        let new_line = key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SHIFT);
        match key.code {
            KeyCode::Enter if new_line => self.reply.push('\n'),
            KeyCode::Enter if self.reply.trim().is_empty() => {}
            KeyCode::Enter => {
                let text = std::mem::take(&mut self.reply);
                return Some(Intent::Reply { advisor, text });
            }
            KeyCode::Backspace => drop(self.reply.pop()),
            KeyCode::Char(c) if !key.modifiers.contains(KeyModifiers::CONTROL) => {
                self.reply.push(c)
            }
            _ => {}
        }
        None
    }

    pub fn draw(&mut self, board: &Board) {
        let answered = board.advisors.iter().filter(|one| one.said.status == "done").count();
        let progress = (board.status.clone(), answered);
        if self.progress != progress {
            // What was said about the board may not be true any more.
            (self.said, self.progress) = (None, progress);
        }
        let look = Look {
            focus: self.focus,
            scrolled: self.scrolled,
            reply: &self.reply,
            said: self.said.as_deref(),
            colours: self.colours,
        };
        // A terminal that cannot be written to now may be writable next time.
        let _ = self.terminal.draw(|frame| draw(frame, board, &look));
    }
}

impl Drop for Panes {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

struct Look<'a> {
    focus: Option<usize>,
    scrolled: u16,
    reply: &'a str,
    said: Option<&'a str>,
    colours: bool,
}

/// What one pane shows.
struct Pane<'a> {
    name: String,
    who: String,
    colour: Color,
    said: &'a Said,
}

fn draw(frame: &mut Frame<'_>, board: &Board, look: &Look<'_>) {
    let reply_rows = if board.waiting().is_some() { 5 } else { 0 };
    let [head, body, reply, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(3),
        Constraint::Length(reply_rows),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let bold = Style::default().add_modifier(Modifier::BOLD);
    frame.render_widget(Line::styled(clean(&board.title), bold), head);
    let panes = panes(board);
    match look.focus.and_then(|focus| panes.get(focus)) {
        Some(pane) => draw_pane(frame, pane, body, look),
        None => draw_all(frame, &panes, board.advisors.len(), body, look),
    }
    if let Some(advisor) = board.waiting() {
        let title = format!(" Your answer as {} ", advisor.name);
        let block = Block::bordered().title(title).border_style(bold);
        let typed = Paragraph::new(format!("{}▏", look.reply)).wrap(Wrap { trim: false });
        frame.render_widget(typed.block(block), reply);
    }
    let hidden = match look.focus {
        Some(_) => 0,
        None => board.advisors.len().saturating_sub(places(body, board.advisors.len()).len()),
    };
    let foot_line = Line::from(footer(board, look, hidden));
    frame.render_widget(foot_line.style(Style::default().dim()), foot);
}

fn footer(board: &Board, look: &Look<'_>, hidden: usize) -> Vec<Span<'static>> {
    if let Some(said) = look.said {
        return vec![Span::raw(said.to_owned()).bold()];
    }
    if board.waiting().is_some() {
        return vec![Span::raw("Enter send · Alt+Enter new line · Ctrl-C stop")];
    }
    if let Some(last) = board.syntheses.last().filter(|_| board.status == "balloting") {
        let (voted, all) = last.votes.so_far();
        return vec![Span::raw(format!("{voted} of {all} have voted · Ctrl-C stop"))];
    }
    let done = board.advisors.iter().filter(|a| a.said.status == "done").count();
    let mut text = format!("{done} of {} finished · Ctrl-C stop", board.advisors.len());
    if board.allowed.iter().any(|allowed| allowed == "synthesize") {
        text.push_str(" · s synthesize now");
    }
    if hidden > 0 {
        text.push_str(&format!(" · {hidden} more"));
    }
    match look.focus {
        Some(_) => text.push_str(" · ↑↓ scroll · Esc all"),
        None => text.push_str(" · 1–9 or Tab: one pane"),
    }
    vec![Span::raw(text)]
}

fn panes(board: &Board) -> Vec<Pane<'_>> {
    let mut panes: Vec<Pane<'_>> = board
        .advisors
        .iter()
        .map(|advisor| Pane {
            name: advisor.name.clone(),
            who: advisor.who(),
            colour: role_colour(&advisor.role),
            said: &advisor.said,
        })
        .collect();
    panes.extend(board.syntheses.last().map(|synthesis| Pane {
        name: "Verdict".into(),
        who: clean(&synthesis.model),
        colour: Color::Green,
        said: &synthesis.said,
    }));
    panes
}

/// Columns where they are wide enough, else rows; the synthesis has the larger
/// part once it has begun.
fn draw_all(
    frame: &mut Frame<'_>,
    panes: &[Pane<'_>],
    advisors: usize,
    area: Rect,
    look: &Look<'_>,
) {
    let (advisors, synthesis) = panes.split_at(advisors.min(panes.len()));
    let (above, below) = if synthesis.is_empty() {
        (area, Rect::default())
    } else {
        let parts = [Constraint::Percentage(45), Constraint::Percentage(55)];
        let [above, below] = Layout::vertical(parts).areas(area);
        (above, below)
    };
    for (pane, place) in advisors.iter().zip(places(above, advisors.len())) {
        draw_pane(frame, pane, place, look);
    }
    for pane in synthesis {
        draw_pane(frame, pane, below, look);
    }
}

fn places(area: Rect, count: usize) -> Vec<Rect> {
    let count = count.max(1);
    let fit = usize::from((area.width / COLUMN).max(1));
    let columns = count.div_ceil(count.div_ceil(fit));
    let rows = count.div_ceil(columns);
    let shown_rows = rows.min(usize::from((area.height / ROW).max(1)));
    let rows_of = Layout::vertical(vec![Constraint::Fill(1); shown_rows]).split(area);
    let mut places = vec![];
    for row in rows_of.iter() {
        let left = count - places.len();
        let here = vec![Constraint::Fill(1); columns.min(left)];
        places.extend(Layout::horizontal(here).split(*row).iter().copied());
    }
    places
}

fn draw_pane(frame: &mut Frame<'_>, pane: &Pane<'_>, area: Rect, look: &Look<'_>) {
    let colour = if look.colours { pane.colour } else { Color::Reset };
    let ink = Style::default().fg(colour);
    let mark = match pane.said.status.as_str() {
        "answering" => "●",
        "done" => "✓",
        "failed" => "✕",
        "stopped" => "■",
        _ => "…",
    };
    let title = Line::from(vec![
        Span::styled(format!(" {mark} {} ", pane.name), ink.add_modifier(Modifier::BOLD)),
        Span::styled(format!("{} ", pane.who), Style::default().dim()),
    ]);
    let state = Line::from(Span::styled(format!(" {} ", pane.said.state()), ink)).right_aligned();
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(ink)
        .title(title)
        .title_bottom(state);
    let inner = block.inner(area);
    let shown = pane.said.shown();
    let shown = terminal::tail(&shown, limits::LIVE_BYTES);
    let text: Text<'_> = if look.colours { markdown::text(shown) } else { Text::from(shown) };
    let paragraph = Paragraph::new(text).wrap(Wrap { trim: false });
    let lines = u16::try_from(paragraph.line_count(inner.width)).unwrap_or(u16::MAX);
    // The end is what is new; scrolling goes up from there.
    let end = lines.saturating_sub(inner.height);
    let from = if look.focus.is_some() { end.saturating_sub(look.scrolled) } else { end };
    frame.render_widget(block, area);
    frame.render_widget(paragraph.scroll((from, 0)), inner);
}
