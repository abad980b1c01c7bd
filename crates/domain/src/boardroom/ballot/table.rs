//! The votes as tables that people read.

use super::super::{SeatId, State, Synthesis};
use super::{Agreement, Ballot, Held, Paper, PaperStanding};
use crate::record::{Document, Line, Saying, Words, line};

/// The ballot on a synthesis; nothing where there is none.
pub fn write_ballot(out: &mut Document, state: &State, synthesis: &Synthesis) {
    let Some(ballot) = &synthesis.ballot else { return };
    out.heading(2, line!("Votes"));
    match ballot {
        Ballot::Skipped(reason) => out.note(line!("No votes. {}", Saying(reason))),
        Ballot::Held(held) => {
            write_votes(out, state, held);
            write_notes(out, state, held);
            write_reasons(out, state, held);
            write_agreement(out, state, held);
        }
    }
}

fn name(state: &State, seat: SeatId) -> Line {
    line!("{}", Words(&state.label(seat)))
}

fn write_votes(out: &mut Document, state: &State, held: &Held) {
    let names = held.papers.iter().map(|paper| name(state, paper.seat));
    let counts = [line!("Accept"), line!("Reject"), line!("Defer")];
    let head: Vec<Line> =
        [line!("#"), line!("Point")].into_iter().chain(names).chain(counts).collect();
    let row = |counted: super::Counted<'_>| {
        let vote = |paper: &Paper| match (&paper.standing, paper.vote_on(counted.point)) {
            (_, Some(vote)) => vote.vote.word(),
            (PaperStanding::Done(_), None) => "no vote",
            (PaperStanding::Asked, None) => "waiting",
            (PaperStanding::Failed { .. }, None) => "failed",
            (PaperStanding::Stopped { .. }, None) => "stopped",
        };
        let votes = held.papers.iter().map(|paper| line!("{}", vote(paper)));
        let point = [line!("{}", counted.point.number), line!("{}", Words(&counted.point.text))];
        let counts = [counted.accept, counted.reject, counted.defer].map(|n| line!("{}", n));
        point.into_iter().chain(votes).chain(counts).collect()
    };
    let rows: Vec<Vec<Line>> = held.counted().into_iter().map(row).collect();
    out.table(&head, &rows);
}

fn write_notes(out: &mut Document, state: &State, held: &Held) {
    if held.left_out > 0 {
        out.note(line!("{} further points of the verdict were not voted on.", held.left_out));
    }
    for paper in &held.papers {
        if let PaperStanding::Failed { failure, .. } = &paper.standing {
            let name = name(state, paper.seat);
            out.note(line!("{} did not vote: {}", name, Saying(&failure.message)));
        }
    }
    for paper in &held.papers {
        let model = state.model_of(paper.seat);
        let took = model.and_then(|model| state.ledger.call_in_words(&model, paper.usage()));
        if let Some(took) = took {
            out.note(line!("{}: {}", name(state, paper.seat), Words(&took)));
        }
    }
}

fn write_reasons(out: &mut Document, state: &State, held: &Held) {
    for counted in held.counted() {
        for (seat, vote) in counted.votes {
            if !vote.reason.trim().is_empty() {
                let (name, word) = (name(state, seat), vote.vote.word());
                out.item(line!("{}, {}, {}: {}", vote.point, name, word, Saying(&vote.reason)));
            }
        }
    }
}

fn write_agreement(out: &mut Document, state: &State, held: &Held) {
    let pairs = held.agreement();
    if pairs.is_empty() {
        return;
    }
    let cast = held.papers.iter().filter(|paper| paper.votes().is_some());
    let seats: Vec<SeatId> = cast.map(|paper| paper.seat).collect();
    let names = seats.iter().map(|seat| name(state, *seat));
    let head: Vec<Line> = [line!("Same vote")].into_iter().chain(names).collect();
    let row = |row: &SeatId| {
        let same = |column: &SeatId| {
            let is =
                |pair: &&Agreement| [(pair.a, pair.b), (pair.b, pair.a)].contains(&(*row, *column));
            let pair = pairs.iter().find(is);
            pair.map_or(line!("–"), |pair| line!("{} of {}", pair.same, pair.of))
        };
        [name(state, *row)].into_iter().chain(seats.iter().map(same)).collect()
    };
    let rows: Vec<Vec<Line>> = seats.iter().map(row).collect();
    out.table(&head, &rows);
}
