//! The votes on a synthesis as the terminal shows them, and votes that a person types.

use std::fmt::Write;

use serde::Deserialize;
use serde_json::{Value, json};

use super::board::{Board, Spent};
use super::usage;
use crate::api::ApiError;
use crate::terminal::clean;

/// The ballot of a synthesis; a server that knows none leaves all of it out.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Votes {
    points: Vec<Point>,
    points_left_out: u32,
    ballots: Vec<Paper>,
    agreement: Vec<Pair>,
    no_ballot: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Point {
    number: u32,
    text: String,
    votes: Vec<Vote>,
    accept: u32,
    reject: u32,
    defer: u32,
}

#[derive(Clone, Debug, Deserialize)]
struct Vote {
    advisor: u8,
    vote: String,
    reason: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Paper {
    advisor: u8,
    name: String,
    status: String,
    problem: Option<String>,
    call_id: String,
    #[serde(flatten)]
    spent: Spent,
}

#[derive(Clone, Debug, Deserialize)]
struct Pair {
    a: u8,
    b: u8,
    same: u32,
    of: u32,
}

impl Votes {
    /// Seats whose votes are awaited.
    pub fn waiting(&self) -> Vec<u8> {
        let waiting = self.ballots.iter().filter(|paper| paper.status == "waiting");
        waiting.map(|paper| paper.advisor).collect()
    }

    /// Names a ballot that will not change any more, as long as it is not resumed.
    pub fn settled(&self, synthesis: u32) -> Option<String> {
        if self.no_ballot.is_some() {
            return Some(format!("ballot/{synthesis}"));
        }
        let over = !self.ballots.is_empty() && self.waiting().is_empty();
        let calls: Vec<&str> = self.ballots.iter().map(|paper| paper.call_id.as_str()).collect();
        over.then(|| calls.join(" "))
    }

    /// How many have voted, of how many.
    pub fn so_far(&self) -> (usize, usize) {
        (self.ballots.len() - self.waiting().len(), self.ballots.len())
    }

    /// The tally as a table, then each point with its votes; nothing where there is no
    /// ballot.
    pub fn shown(&self, currency: Option<&str>) -> Option<String> {
        if let Some(reason) = &self.no_ballot {
            return Some(format!("No votes. {}", clean(reason)));
        }
        if self.ballots.is_empty() {
            return None;
        }
        let mut out = self.table();
        for point in &self.points {
            self.write_point(&mut out, point);
        }
        let failed = self.ballots.iter().filter_map(|paper| Some((paper, paper.problem.as_ref()?)));
        for (paper, problem) in failed {
            let _ = write!(out, "\n\n{} did not vote: {}", clean(&paper.name), clean(problem));
        }
        if self.points_left_out > 0 {
            let more = self.points_left_out;
            let _ = write!(out, "\n\n{more} further points were not voted on.");
        }
        if !self.agreement.is_empty() {
            let pairs: Vec<String> = self.agreement.iter().map(|pair| self.pair(pair)).collect();
            let _ = write!(out, "\n\nSame vote: {}", pairs.join("; "));
        }
        let spent = |paper: &Paper| {
            Some(format!("{} {}", clean(&paper.name), paper.spent.in_words(currency)?))
        };
        let spent: Vec<String> = self.ballots.iter().filter_map(spent).collect();
        if !spent.is_empty() {
            let _ = write!(out, "\n\nVoting took: {}", spent.join("; "));
        }
        Some(out)
    }

    fn write_point(&self, out: &mut String, point: &Point) {
        let _ = write!(out, "\n\n{}. {}", point.number, clean(&point.text));
        for vote in &point.votes {
            let (name, word) = (self.name(vote.advisor), clean(&vote.vote));
            let _ = write!(out, "\n   {name}: {word}. {}", clean(&vote.reason));
            out.truncate(out.trim_end().len());
        }
    }

    fn table(&self) -> String {
        let names = self.ballots.iter().map(|paper| clean(&paper.name));
        let counts = ["accept", "reject", "defer"].map(str::to_owned);
        let mut rows = vec![[String::new()].into_iter().chain(names).chain(counts).collect()];
        for point in &self.points {
            let vote = |paper: &Paper| {
                let vote = point.votes.iter().find(|vote| vote.advisor == paper.advisor);
                match (vote, paper.status.as_str()) {
                    (Some(vote), _) => clean(&vote.vote),
                    (None, "done") => "no vote".to_owned(),
                    (None, status) => status.to_owned(),
                }
            };
            let counts = [point.accept, point.reject, point.defer].map(|count| count.to_string());
            let number = [point.number.to_string()].into_iter();
            rows.push(number.chain(self.ballots.iter().map(vote)).chain(counts).collect());
        }
        in_columns(&rows)
    }

    fn pair(&self, pair: &Pair) -> String {
        let (a, b) = (self.name(pair.a), self.name(pair.b));
        format!("{a} and {b} {} of {}", pair.same, pair.of)
    }

    fn name(&self, seat: u8) -> String {
        let paper = self.ballots.iter().find(|paper| paper.advisor == seat);
        paper.map(|paper| clean(&paper.name)).unwrap_or_default()
    }
}

fn in_columns(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// How a person gives the votes that are awaited.
pub fn how_to_vote(board: &Board) -> Option<String> {
    let seats = board.waits_for_votes_of();
    let seat = seats.first()?;
    Some(format!(
        "The board is waiting for votes: plenary sessions vote {} --advisor {seat} 1=accept \
         \"2=reject: why\" 3=defer",
        board.id
    ))
}

/// `1=accept` or `2=reject: because of this`, as the server takes it.
pub fn typed(votes: &[String]) -> Result<Vec<Value>, ApiError> {
    let read = |written: &String| {
        let wrong = || {
            let form = "write POINT=VOTE or \"POINT=VOTE: REASON\", as in 2=reject";
            usage(format!("{written}: {form}"))
        };
        let (point, rest) = written.split_once('=').ok_or_else(wrong)?;
        let point: u32 = point.trim().parse().map_err(|_| wrong())?;
        let (vote, reason) = rest.split_once(':').unwrap_or((rest, ""));
        let vote = vote.trim().to_lowercase();
        if !["accept", "reject", "defer"].contains(&vote.as_str()) {
            let choices = "a vote is accept, reject or defer";
            return Err(usage(format!("{written}: {choices}")));
        }
        Ok(json!({ "point": point, "vote": vote, "reason": reason.trim() }))
    };
    votes.iter().map(read).collect()
}
