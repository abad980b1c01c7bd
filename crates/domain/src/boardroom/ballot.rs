//! The ballot: each advisor that a synthesis is made from votes on each numbered point
//! of it. Points are read by code when the ballot begins and stand in the log, so that
//! a vote means the same words for ever; tally and agreement come from the votes and
//! from nothing else.

pub mod points;
pub(super) mod read;
mod rules;
mod table;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(super) use rules::VOTING;
pub(super) use table::write_ballot;

use super::SeatId;
use crate::call::{Answer, Life, Usage};

/// What became of the ballot on one synthesis.
#[derive(Clone, PartialEq, Debug)]
pub enum Ballot {
    /// Nothing could be voted on; the reason is in words for a person.
    Skipped(String),
    Held(Held),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Held {
    /// Numbered from 1.
    pub points: Vec<Point>,
    /// Points of the synthesis that are beyond the limit and are not voted on.
    pub left_out: u32,
    /// One for each advisor that votes.
    pub papers: Vec<Paper>,
    /// An advisor was asked again since: another synthesis follows, and this ballot
    /// does not go on.
    pub(super) superseded: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Point {
    pub number: u32,
    pub section: Section,
    pub text: String,
}

/// The part of the synthesis that a point stands in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Section {
    Agreement,
    Divergence,
    Recommendation,
}

/// Who votes; a person may have a time until which.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Voter {
    pub seat: SeatId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// One advisor's ballot.
#[derive(Clone, PartialEq, Debug)]
pub struct Paper {
    pub seat: SeatId,
    /// How often it was asked for, from 1.
    pub tries: u32,
    pub until: Option<Timestamp>,
    pub standing: PaperStanding,
    /// What earlier tries took.
    pub before: Usage,
}

pub type PaperStanding = Life<Cast>;

/// Votes; a model's answer stands beside those that were read from it.
#[derive(Clone, PartialEq, Debug)]
pub struct Cast {
    pub votes: Vec<Vote>,
    pub answer: Option<Answer>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Vote {
    pub point: u32,
    pub vote: Choice,
    /// A sentence; it may be empty.
    pub reason: String,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Choice {
    Accept,
    Reject,
    Defer,
}

/// A point with all votes on it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counted<'a> {
    pub point: &'a Point,
    pub votes: Vec<(SeatId, &'a Vote)>,
    pub accept: u32,
    pub reject: u32,
    pub defer: u32,
}

/// On how many points two advisors voted the same, of those on which both voted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Agreement {
    pub a: SeatId,
    pub b: SeatId,
    pub same: u32,
    pub of: u32,
}

impl Section {
    pub const ALL: [Section; 3] =
        [Section::Agreement, Section::Divergence, Section::Recommendation];

    pub fn heading(self) -> &'static str {
        match self {
            Section::Agreement => super::HEADINGS[1],
            Section::Divergence => super::HEADINGS[2],
            Section::Recommendation => super::HEADINGS[3],
        }
    }
}

impl Choice {
    pub const ALL: [Choice; 3] = [Choice::Accept, Choice::Reject, Choice::Defer];

    pub fn word(self) -> &'static str {
        match self {
            Choice::Accept => "accept",
            Choice::Reject => "reject",
            Choice::Defer => "defer",
        }
    }
}

impl Held {
    pub fn paper(&self, seat: SeatId) -> Option<&Paper> {
        self.papers.iter().find(|paper| paper.seat == seat)
    }

    pub fn is_awaited(&self) -> bool {
        self.papers.iter().any(|paper| paper.standing.is_asked())
    }

    pub fn counted(&self) -> Vec<Counted<'_>> {
        let count = |point| {
            let votes: Vec<(SeatId, &Vote)> = self
                .papers
                .iter()
                .filter_map(|paper| Some((paper.seat, paper.vote_on(point)?)))
                .collect();
            let of = |choice| votes.iter().filter(|(_, vote)| vote.vote == choice).count() as u32;
            let (accept, reject, defer) =
                (of(Choice::Accept), of(Choice::Reject), of(Choice::Defer));
            Counted { point, votes, accept, reject, defer }
        };
        self.points.iter().map(count).collect()
    }

    /// Every pair of advisors whose votes are there.
    pub fn agreement(&self) -> Vec<Agreement> {
        let cast: Vec<&Paper> =
            self.papers.iter().filter(|paper| paper.votes().is_some()).collect();
        let mut pairs = vec![];
        for (place, a) in cast.iter().enumerate() {
            for b in &cast[place + 1..] {
                let both = self
                    .points
                    .iter()
                    .filter_map(|point| Some(a.vote_on(point)?.vote == b.vote_on(point)?.vote));
                let both: Vec<bool> = both.collect();
                let same = both.iter().filter(|same| **same).count() as u32;
                pairs.push(Agreement { a: a.seat, b: b.seat, same, of: both.len() as u32 });
            }
        }
        pairs
    }

    /// Points on which an advisor whose ballot is there has not voted.
    pub fn not_voted(&self, paper: &Paper) -> Vec<u32> {
        if paper.votes().is_none() {
            return vec![];
        }
        let missing = self.points.iter().filter(|point| paper.vote_on(point).is_none());
        missing.map(|point| point.number).collect()
    }
}

impl Paper {
    /// What all tries at it took.
    pub fn usage(&self) -> Usage {
        let last = match &self.standing {
            Life::Asked => Usage::default(),
            Life::Done(cast) => cast.answer.as_ref().map(|answer| answer.usage).unwrap_or_default(),
            Life::Failed { failure, .. } => failure.usage,
            Life::Stopped { usage, .. } => *usage,
        };
        self.before.plus(last)
    }

    pub fn votes(&self) -> Option<&[Vote]> {
        self.standing.done().map(|cast| cast.votes.as_slice())
    }

    pub fn vote_on(&self, point: &Point) -> Option<&Vote> {
        self.votes()?.iter().find(|vote| vote.point == point.number)
    }
}

/// The schema of the ballot that is asked for: one field per point, each needed, so
/// that a model that is held to it leaves none out.
pub(super) fn schema(points: &[Point]) -> Value {
    let choices = Choice::ALL.map(Choice::word);
    let vote = json!({
        "type": "object",
        "properties": {
            "vote": {"type": "string", "enum": choices},
            "reason": {"type": "string"},
        },
        "required": ["vote", "reason"],
        "additionalProperties": false,
    });
    let fields: Vec<String> = points.iter().map(|point| field(point.number)).collect();
    let properties: Map<String, Value> =
        fields.iter().map(|field| (field.clone(), vote.clone())).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": fields,
        "additionalProperties": false,
    })
}

fn field(point: u32) -> String {
    format!("point{point}")
}
