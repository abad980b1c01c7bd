//! Votes on the wire.

use plenary_clerk::boardrooms::BallotChoice;
use plenary_clerk::mirror;
use plenary_domain::Timestamp;
use plenary_domain::boardroom::ballot::{Counted, Held, Paper, PaperStanding};
use plenary_domain::boardroom::{self, Ballot, Section, Sitter, Synthesis};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Beside, UsageView, usage};

/// The ballot on a synthesis. All lists are empty where there is none.
#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BallotView {
    /// The points that are voted on, with the votes on each.
    points: Vec<PointView>,
    /// Points of the synthesis beyond the most that are voted on.
    points_left_out: u32,
    /// How it stands with the votes of each advisor.
    ballots: Vec<PaperView>,
    /// How often two advisors voted the same, for each pair whose votes are there.
    agreement: Vec<AgreementView>,
    /// Why there is no ballot although the board has it on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    no_ballot: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct PointView {
    /// From 1.
    number: u32,
    section: SectionName,
    text: String,
    /// Of those who voted on it, in the order of their seats.
    votes: Vec<BallotVoteView>,
    accept: u32,
    reject: u32,
    defer: u32,
}

mirror! {
    /// The section of the synthesis that a point stands in.
    #[serde(rename_all = "camelCase")]
    SectionName = Section { Agreement, Divergence, Recommendation }
}

#[derive(Serialize, ToSchema)]
pub struct BallotVoteView {
    /// The seat's number.
    advisor: u8,
    vote: BallotChoice,
    /// A sentence; it may be empty.
    reason: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaperView {
    /// The seat's number.
    advisor: u8,
    /// The name on this board.
    name: String,
    /// The answer of this advisor that the synthesis is made from: its round …
    round: u32,
    /// … and which try in it.
    r#try: u32,
    status: PaperStatus,
    /// Why it failed, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    problem: Option<String>,
    /// Points on which a ballot that is done has no vote.
    not_voted: Vec<u32>,
    /// Until when a person can vote.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    vote_by: Option<Timestamp>,
    /// The call that brings, or brought, a model's votes.
    call_id: String,
    usage: UsageView,
    /// By the price that the session has noted, or as the provider says; absent where
    /// neither is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cost: Option<f64>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum PaperStatus {
    Waiting,
    Done,
    Failed,
    Stopped,
}

#[derive(Serialize, ToSchema)]
pub struct AgreementView {
    /// The seats' numbers.
    a: u8,
    b: u8,
    /// Points on which both voted the same, …
    same: u32,
    /// … of those on which both voted.
    of: u32,
}

pub fn view(state: &boardroom::State, synthesis: &Synthesis, beside: &Beside<'_>) -> BallotView {
    let held = match &synthesis.ballot {
        None => return BallotView::default(),
        Some(Ballot::Skipped(reason)) => {
            return BallotView { no_ballot: Some(reason.clone()), ..BallotView::default() };
        }
        Some(Ballot::Held(held)) => held,
    };
    let agreement = held.agreement().into_iter();
    let paper = |one| paper(state, (synthesis, held), one, beside);
    BallotView {
        points: held.counted().into_iter().map(point).collect(),
        points_left_out: held.left_out,
        ballots: held.papers.iter().map(paper).collect(),
        agreement: agreement
            .map(|pair| AgreementView { a: pair.a.0, b: pair.b.0, same: pair.same, of: pair.of })
            .collect(),
        no_ballot: None,
    }
}

fn point(counted: Counted<'_>) -> PointView {
    let votes = counted.votes.into_iter();
    PointView {
        number: counted.point.number,
        section: counted.point.section.into(),
        text: counted.point.text.clone(),
        votes: votes
            .map(|(seat, vote)| BallotVoteView {
                advisor: seat.0,
                vote: vote.vote.into(),
                reason: vote.reason.clone(),
            })
            .collect(),
        accept: counted.accept,
        reject: counted.reject,
        defer: counted.defer,
    }
}

fn paper(
    state: &boardroom::State,
    (synthesis, held): (&Synthesis, &Held),
    paper: &Paper,
    beside: &Beside<'_>,
) -> PaperView {
    let (status, problem) = match &paper.standing {
        PaperStanding::Asked => (PaperStatus::Waiting, None),
        PaperStanding::Done(_) => (PaperStatus::Done, None),
        PaperStanding::Failed { failure, .. } => {
            (PaperStatus::Failed, Some(failure.message.clone()))
        }
        PaperStanding::Stopped { .. } => (PaperStatus::Stopped, None),
    };
    let model = state.advisor(paper.seat).and_then(|advisor| match &advisor.seat.sitter {
        Sitter::Model(model) => Some(model),
        Sitter::Person { .. } => None,
    });
    let own = synthesis.basis.iter().find(|id| id.seat == paper.seat);
    PaperView {
        advisor: paper.seat.0,
        name: state.label(paper.seat),
        round: own.map_or(1, |id| id.round),
        r#try: own.map_or(1, |id| id.asked),
        status,
        problem,
        not_voted: held.not_voted(paper),
        vote_by: paper.until,
        call_id: paper.call_id(synthesis.number).0,
        usage: usage(paper.usage()),
        cost: model.and_then(|model| beside.cost(model, paper.usage())),
    }
}
