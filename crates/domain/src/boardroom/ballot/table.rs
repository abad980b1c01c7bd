//! The votes as tables that people read.

use std::fmt::Write;

use super::super::{SeatId, State, Synthesis};
use super::{Agreement, Ballot, Held, Paper, PaperStanding};

/// The ballot on a synthesis, as Markdown; empty where there is none.
pub fn ballot_table(state: &State, synthesis: &Synthesis) -> String {
    let held = match &synthesis.ballot {
        None => return String::new(),
        Some(Ballot::Skipped(reason)) => return format!("## Ballot\n\n*No ballot. {reason}*\n"),
        Some(Ballot::Held(held)) => held,
    };
    let mut out = "## Ballot\n\n".to_owned();
    write_votes(&mut out, state, held);
    write_notes(&mut out, state, held);
    write_reasons(&mut out, state, held);
    write_agreement(&mut out, state, held);
    out
}

fn write_votes(out: &mut String, state: &State, held: &Held) {
    let seats = held.papers.iter().map(|paper| paper.seat);
    let names: Vec<String> = seats.map(|seat| cell(&state.label(seat))).collect();
    let _ = writeln!(out, "| # | Point | {} | Accept | Reject | Defer |", names.join(" | "));
    let _ = writeln!(out, "|---|---|{}---|---|---|", "---|".repeat(names.len()));
    for counted in held.counted() {
        let (number, text) = (counted.point.number, cell(&counted.point.text));
        let vote = |paper: &Paper| match (&paper.standing, paper.vote_on(counted.point)) {
            (_, Some(vote)) => vote.vote.word(),
            (PaperStanding::Cast { .. }, None) => "not voted",
            (PaperStanding::Waiting, None) => "awaited",
            (PaperStanding::Failed { .. }, None) => "failed",
            (PaperStanding::Stopped { .. }, None) => "stopped",
        };
        let votes: Vec<&str> = held.papers.iter().map(vote).collect();
        let (accept, reject, defer) = (counted.accept, counted.reject, counted.defer);
        let votes = votes.join(" | ");
        let _ = writeln!(out, "| {number} | {text} | {votes} | {accept} | {reject} | {defer} |");
    }
}

fn write_notes(out: &mut String, state: &State, held: &Held) {
    if held.left_out > 0 {
        let more = held.left_out;
        let _ = writeln!(out, "\n*{more} further points of the synthesis were not voted on.*");
    }
    for paper in &held.papers {
        if let PaperStanding::Failed { failure, .. } = &paper.standing {
            let name = state.label(paper.seat);
            let _ = writeln!(out, "\n*{name} has no votes: {}*", failure.message);
        }
    }
}

fn write_reasons(out: &mut String, state: &State, held: &Held) {
    let mut lines = vec![];
    for counted in held.counted() {
        let said = counted.votes.iter().filter(|(_, vote)| !vote.reason.trim().is_empty());
        lines.extend(said.map(|(seat, vote)| {
            let (number, name) = (vote.point, state.label(*seat));
            format!("- {number}, {name}, {}: {}\n", vote.vote.word(), vote.reason.trim())
        }));
    }
    if !lines.is_empty() {
        let _ = write!(out, "\n{}", lines.concat());
    }
}

fn write_agreement(out: &mut String, state: &State, held: &Held) {
    let pairs = held.agreement();
    if pairs.is_empty() {
        return;
    }
    let cast = held.papers.iter().filter(|paper| paper.votes().is_some());
    let seats: Vec<SeatId> = cast.map(|paper| paper.seat).collect();
    let name = |seat: &SeatId| cell(&state.label(*seat));
    let names: Vec<String> = seats.iter().map(name).collect();
    let _ = writeln!(out, "\n| Same vote | {} |", names.join(" | "));
    let _ = writeln!(out, "|---|{}", "---|".repeat(names.len()));
    for row in &seats {
        let same = |column: &SeatId| {
            let is =
                |pair: &&Agreement| [(pair.a, pair.b), (pair.b, pair.a)].contains(&(*row, *column));
            let pair = pairs.iter().find(is);
            pair.map_or("–".to_owned(), |pair| format!("{} of {}", pair.same, pair.of))
        };
        let cells: Vec<String> = seats.iter().map(same).collect();
        let _ = writeln!(out, "| {} | {} |", name(row), cells.join(" | "));
    }
}

/// A text that stays inside its cell.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
