//! The pieces of a discussion in words: who leads, who speaks, what was decided.

use std::fmt::Write;

use ratatui::style::Color;

use super::table::{Decision, Discussion, Entry, EntryKind, EntryStatus, How, Seat, StepKind};
use crate::cli::board::CUT;
use crate::cli::estimate::Estimate;
use crate::cli::render::{self, Paper};
use crate::rounded::{self, duration};
use crate::terminal::{self, clean};

/// Colours of those who take part, in the order of their seats.
const COLOURS: [u8; 6] = [33, 71, 127, 66, 172, 37];
const DEVILS_COLOUR: u8 = 208;

impl Paper {
    pub fn footer(self, discussion: &Discussion) -> String {
        self.wrapped(&footer(discussion))
    }

    /// The topic, the format, and who is there.
    pub fn header(self, discussion: &Discussion) -> String {
        let leader = &discussion.moderator;
        let format = &discussion.format;
        let rounds = match discussion.max_rounds {
            1 => "1 round".to_owned(),
            many => format!("at most {many} rounds"),
        };
        let topic = self.wrapped(&self.under(clean(&discussion.topic).trim()));
        let mut out = format!("{}\n", self.ink.bold(&topic));
        let led =
            format!("{format} · led by {} ({}) · {rounds}", clean(&leader.name), leader.who());
        let _ = writeln!(out, "{}", self.ink.dim(&self.wrapped(&led)));
        for seat in &discussion.participants {
            let _ =
                writeln!(out, "{}", self.ink.dim(&format!("  {} · {}", seat.called(), seat.who())));
        }
        out
    }

    pub fn entry(self, discussion: &Discussion, entry: &Entry) -> String {
        let name = clean(&entry.agent_name);
        match (entry.kind, &entry.decision) {
            (EntryKind::Decision, Some(decision)) => self.decision(discussion, entry, decision),
            (EntryKind::Turn, _) => self.turn(discussion, entry),
            (EntryKind::Interjection, _) => {
                let text = entry.content.as_deref().unwrap_or_default();
                self.section(&format!("{name} interjects"), Color::Yellow, &clean(text))
            }
            (EntryKind::Synthesis, _) => {
                let said = match (&entry.error, entry.status) {
                    (Some(error), _) => {
                        format!(
                            "({name} could not write the conclusion: {})",
                            clean(&error.message)
                        )
                    }
                    (None, EntryStatus::Stopped) => {
                        format!("({name} was stopped while writing the conclusion.)")
                    }
                    (None, EntryStatus::Done | EntryStatus::Failed) => String::new(),
                };
                format!("{}\n", self.ink.yellow(&self.wrapped(&said)))
            }
            (EntryKind::Opening | EntryKind::Evaluation | EntryKind::Decision, _) => {
                format!("{}\n", self.ink.yellow(&format!("({name} was stopped.)")))
            }
        }
    }

    fn decision(self, discussion: &Discussion, entry: &Entry, decision: &Decision) -> String {
        let leader = clean(&entry.agent_name);
        let next = decision.next_participant_id.as_deref();
        let next = next.map(|id| discussion.seat(id).map_or_else(|| clean(id), Seat::called));
        let choice = match &next {
            Some(next) => {
                let question = entry.question.as_deref().unwrap_or_default();
                let question = clean(question);
                format!("{leader} → {next}: {}", self.under(question.trim()))
            }
            None => format!("{leader}: time to conclude."),
        };
        let mut out = format!("{}\n", self.ink.bold(&self.wrapped(&choice)));
        let reasoning = clean(&decision.reasoning);
        let reasoning = reasoning.split_whitespace().collect::<Vec<_>>().join(" ");
        if !reasoning.is_empty() {
            let _ = writeln!(out, "{}", self.ink.dim(&self.indented(&reasoning)));
        }
        let note = clean(decision.note.as_deref().unwrap_or_default());
        let note = match decision.how {
            How::Parsed | How::Person => String::new(),
            How::Repaired => format!("repaired: {note}"),
            How::Fallback => format!("chosen in turn: {note}"),
            How::Rule => note,
        };
        if !note.is_empty() {
            let _ = writeln!(out, "{}", self.ink.yellow(&self.indented(&format!("({note})"))));
        }
        if let Some(took) = entry.spent.in_words(discussion.actual.currency.as_deref()) {
            let _ = writeln!(out, "{}", self.ink.dim(&self.indented(&took)));
        }
        out.push_str(&self.condensed(entry));
        out
    }

    fn turn(self, discussion: &Discussion, entry: &Entry) -> String {
        let id = entry.participant_id.as_deref().unwrap_or_default();
        let seat = discussion.seat(id);
        let name = seat.map_or_else(|| clean(&entry.agent_name), Seat::called);
        let took = match (entry.status, entry.latency_ms) {
            (EntryStatus::Done, Some(ms)) => format!(" · {}", duration(ms)),
            (EntryStatus::Done, None) => String::new(),
            (EntryStatus::Failed, _) => " · failed".to_owned(),
            (EntryStatus::Stopped, _) => " · stopped".to_owned(),
        };
        let who = entry.model.as_deref().map_or_else(|| "a person".to_owned(), clean);
        let round = entry.round.unwrap_or_default();
        let head = format!("Round {round} of {} · {name} · {who}{took}", discussion.max_rounds);
        let head = entry.spent.after(&head, discussion.actual.currency.as_deref());
        let text = clean(entry.content.as_deref().unwrap_or_default().trim());
        let note = match (&entry.error, entry.status) {
            (Some(error), _) => format!("[failed: {}]", clean(&error.message)),
            (None, EntryStatus::Stopped) => "[stopped]".to_owned(),
            (None, EntryStatus::Done) if entry.cut => CUT.to_owned(),
            (None, EntryStatus::Done | EntryStatus::Failed) => String::new(),
        };
        let parts: Vec<String> = [text, note].into_iter().filter(|part| !part.is_empty()).collect();
        let mut out = self.section(&head, colour(discussion, id), &parts.join("\n\n"));
        out.push_str(&self.condensed(entry));
        out
    }

    /// To fit its model, a seat may have heard less than was said.
    fn condensed(self, entry: &Entry) -> String {
        let pieces = match entry.condensed {
            None | Some(0) => return String::new(),
            Some(1) => "1 earlier entry".to_owned(),
            Some(many) => format!("{many} earlier entries"),
        };
        format!("{}\n", self.ink.dim(&format!("  ({pieces} shortened to fit the model)")))
    }

    /// The conclusion, and what it does without; under a head, where other things are
    /// shown too.
    pub fn conclusion(self, discussion: &Discussion, headed: bool) -> String {
        let text = clean(discussion.conclusion.as_deref().unwrap_or_default().trim());
        let note = discussion.degraded.as_deref().map(clean);
        let body = note.map_or_else(|| text.clone(), |note| format!("*{note}*\n\n{text}"));
        if !headed {
            return body;
        }
        let head = format!("Conclusion · {}", clean(&discussion.moderator.name));
        let head = discussion.concluding().after(&head, discussion.actual.currency.as_deref());
        self.section(&head, Color::Green, &body)
    }

    fn indented(self, text: &str) -> String {
        if !self.wraps {
            return format!("  {text}");
        }
        let lines = render::wrapped(text, terminal::width().saturating_sub(2));
        lines.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
    }
}

fn colour(discussion: &Discussion, id: &str) -> Color {
    let place = discussion.participants.iter().position(|seat| seat.id == id).unwrap_or(0);
    let role = discussion.participants.get(place).and_then(|seat| seat.role.as_deref());
    match role {
        Some("devil_advocate") => Color::Indexed(DEVILS_COLOUR),
        _ => Color::Indexed(COLOURS[place % COLOURS.len()]),
    }
}

/// What is under way, or will be: `Engineer speaks`.
pub fn doing(discussion: &Discussion) -> String {
    let Some(step) = &discussion.step else { return String::new() };
    let name = clean(&step.name);
    match step.kind {
        StepKind::Opening => format!("{name} opens the discussion"),
        StepKind::Turn => format!("{name} answers"),
        StepKind::Evaluation => format!("{name} decides what comes next"),
        StepKind::Synthesis => format!("{name} writes the conclusion"),
    }
}

/// The step that is due, with its question, as a sentence.
pub fn due(discussion: &Discussion) -> String {
    let question = discussion.step.as_ref().and_then(|step| step.question.as_deref());
    let doing = doing(discussion);
    let said = match question {
        Some(question) => format!("{doing}: {}", clean(question).trim()),
        None => doing,
    };
    if said.ends_with(['.', '?', '!', '…']) { said } else { format!("{said}.") }
}

/// What it took, beside what was foreseen.
fn footer(discussion: &Discussion) -> String {
    let (actual, foreseen) = (&discussion.actual, discussion.estimate.as_ref());
    let beside = |range: Option<String>| {
        range.map(|range| format!(" (estimate: {range})")).unwrap_or_default()
    };
    let calls = if actual.calls == 1 { "call" } else { "calls" };
    let mut out = format!("{} {calls}{}", actual.calls, beside(foreseen.map(Estimate::calls)));
    if let Some(tokens) = actual.tokens.in_words() {
        let range = foreseen.map(|e| format!("{} and {}", e.input_tokens(), e.output_tokens()));
        let _ = write!(out, " · {tokens}{}", beside(range));
    }
    if actual.calls > 0 {
        let took = duration((actual.model_seconds * 1000.0) as u64);
        let _ = write!(out, " · {took}{}", beside(foreseen.and_then(Estimate::time)));
    }
    if let Some(cost) = actual.cost {
        let cost = rounded::money(cost, actual.currency.as_deref());
        let _ = write!(out, " · {cost}{}", beside(foreseen.and_then(Estimate::cost)));
    }
    if let Some(budget) = &discussion.budget {
        let _ = write!(out, " · {}", budget.in_words());
    }
    let _ = write!(out, " · session {}", discussion.id);
    out
}
