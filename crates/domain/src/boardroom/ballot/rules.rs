//! When a ballot begins, who votes until when, what becomes of each paper, and when it
//! is over.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::super::{Advisor, Event, SeatId, Sitter, Stage, State, Stopping, Synthesis, later};
use super::{Ballot, Held, Paper, PaperStanding, Point, Vote, Voter, points, read};
use crate::boardroom::verdict::{Headings, Verdict};
use crate::call::{Call, Failed, FailureKind, Heard, Outcome, Usage, Work};
use crate::form::{Moment, Ruling};
use crate::ids::CallId;
use crate::limits;
use crate::reject::{Reject, Wrong, settled};
use crate::spoken;

pub const VOTING: &str = "The advisors are voting on the verdict; stop the vote or wait for it.";

impl Paper {
    /// The call that brings this advisor's votes.
    pub fn call_id(&self, synthesis: u32) -> CallId {
        self.call_of(synthesis, self.tries)
    }

    fn call_of(&self, synthesis: u32, tries: u32) -> CallId {
        CallId::new("ballot").of(synthesis).of(self.seat.0).nth(tries)
    }

    fn deadline_call(&self, synthesis: u32) -> CallId {
        CallId::new("ballot-deadline").of(synthesis).of(self.seat.0).nth(self.tries)
    }

    fn can_be_asked_again(&self) -> bool {
        matches!(self.standing, PaperStanding::Stopped { .. })
            && self.tries <= limits::RETRIES_BY_HAND
    }
}

impl Synthesis {
    pub fn held(&self) -> Option<&Held> {
        match &self.ballot {
            Some(Ballot::Held(held)) => Some(held),
            Some(Ballot::Skipped(_)) | None => None,
        }
    }

    fn held_mut(&mut self) -> Option<&mut Held> {
        match &mut self.ballot {
            Some(Ballot::Held(held)) => Some(held),
            Some(Ballot::Skipped(_)) | None => None,
        }
    }
}

// ---------------------------------------------------------------------------
// The rules

impl State {
    /// The ballot that is being held, with its synthesis.
    pub fn balloting(&self) -> Option<(&Synthesis, &Held)> {
        let last = self.syntheses.last().filter(|_| self.stage == Stage::Balloting)?;
        Some((last, last.held()?))
    }

    /// Whose votes are awaited from a person.
    pub fn awaited_voters(&self) -> Vec<SeatId> {
        let papers = self.balloting().map(|(_, held)| held.papers.as_slice()).unwrap_or_default();
        let is_awaited = |paper: &&Paper| paper.standing.is_asked() && self.is_person(paper.seat);
        papers.iter().filter(is_awaited).map(|paper| paper.seat).collect()
    }

    /// What follows a synthesis that is there, where the board votes.
    pub(in crate::boardroom) fn after_synthesis(
        &self,
        synthesis: &Synthesis,
        verdict: &Verdict,
        moment: &Moment,
    ) -> Option<Event> {
        if !self.ballot {
            return None;
        }
        let number = synthesis.number;
        if self.ledger.is_time_over() {
            let reason = "The board's time ran out.".to_owned();
            return Some(Event::BallotSkipped { number, reason });
        }
        Some(match votable(verdict) {
            Ok(points) => self.begin_ballot(synthesis, points, moment),
            Err(reason) => Event::BallotSkipped { number, reason: reason.into() },
        })
    }

    fn begin_ballot(
        &self,
        synthesis: &Synthesis,
        (points, left_out): (Vec<Point>, u32),
        moment: &Moment,
    ) -> Event {
        let voters = self.voters(synthesis.seats(), moment.at);
        let (number, nonce) = (synthesis.number, moment.nonce.clone());
        Event::BallotBegan { number, points, left_out, voters, nonce }
    }

    /// The last synthesis is put to the vote, on a board that was closed without votes.
    pub(in crate::boardroom) fn open_ballot(&self, moment: &Moment) -> Ruling<Event> {
        let votable = self.points_to_vote_on();
        let (synthesis, points) = votable.map_err(|why| self.not_now(why))?;
        Ok(vec![self.begin_ballot(synthesis, points, moment)])
    }

    /// What a ballot that is opened now would be about, or why there can be none.
    pub(in crate::boardroom) fn points_to_vote_on(
        &self,
    ) -> Result<(&Synthesis, (Vec<Point>, u32)), &'static str> {
        let early = "The board can vote once it is done.";
        let last = self.syntheses.last().filter(|_| self.stage == Stage::Closed);
        let last = last.ok_or(if self.stage == Stage::Balloting { VOTING } else { early })?;
        if last.held().is_some() {
            return Err("The verdict has already been voted on.");
        }
        let written = last.standing.done().ok_or(early)?;
        Ok((last, votable(&written.verdict)?))
    }

    /// Whose votes are awaited is not waited for any longer.
    pub(in crate::boardroom) fn pass_over(&self, seat: SeatId) -> Option<Event> {
        let (synthesis, held) = self.balloting()?;
        held.paper(seat).filter(|paper| paper.standing.is_asked())?;
        Some(Event::BallotHalted { number: synthesis.number, seat })
    }

    /// A person has as long for the votes as was given for the answer. Who has answered
    /// several times votes once.
    fn voters(&self, seats: BTreeSet<SeatId>, at: Timestamp) -> Vec<Voter> {
        let until = |seat| Some(later(at, self.given(self.advisor(seat)?)?));
        seats.into_iter().map(|seat| Voter { seat, until: until(seat) }).collect()
    }

    /// The papers of a ballot that was stopped, if that is where the board was stopped.
    pub(in crate::boardroom) fn resumed_ballot(&self, moment: &Moment) -> Option<Event> {
        let (number, voters) = self.stopped_voters(moment.at)?;
        Some(Event::BallotResumed { number, voters, nonce: moment.nonce.clone() })
    }

    fn stopped_voters(&self, at: Timestamp) -> Option<(u32, Vec<Voter>)> {
        let last = self.syntheses.last().filter(|_| self.stage == Stage::Stopped)?;
        let held = last.held().filter(|held| !held.superseded)?;
        let again = held.papers.iter().filter(|paper| paper.can_be_asked_again());
        let voters = self.voters(again.map(|paper| paper.seat).collect(), at);
        (!voters.is_empty()).then_some((last.number, voters))
    }

    pub(in crate::boardroom) fn can_resume_ballot(&self) -> bool {
        self.stopped_voters(self.convened_at).is_some()
    }

    /// A person's own votes.
    pub(in crate::boardroom) fn cast(&self, seat: SeatId, votes: Vec<Vote>) -> Ruling<Event> {
        let advisor = self.known(seat)?;
        if let Sitter::Model(_) = advisor.seat.sitter {
            return Err(self.not_now("This seat is a model's, not a person's."));
        }
        let Some((synthesis, held)) = self.balloting() else {
            return Err(self.not_now("No vote is in progress on this board."));
        };
        if !self.awaited_voters().contains(&seat) {
            return Err(self.not_now("This seat has not been asked to vote."));
        }
        settled(wrong_votes(held, &votes))?;
        let votes = in_order(votes);
        Ok(vec![Event::BallotCast { number: synthesis.number, seat, votes, answer: None }])
    }

    pub(in crate::boardroom) fn settle_ballot(
        &self,
        call: &CallId,
        (number, seat): (u32, SeatId),
        outcome: Outcome,
    ) -> Ruling<Event> {
        let held = self.synthesis(number).and_then(Synthesis::held).ok_or(Reject::Stale)?;
        let paper = held.paper(seat).filter(|paper| paper.call_id(number) == *call);
        let paper = paper.filter(|_| !self.is_person(seat)).ok_or(Reject::Stale)?;
        let failed = match paper.standing.hear(spoken::own(outcome, &self.nonce))? {
            Heard::Answered(answer) => match read::read(&answer.text, &held.points) {
                Ok(votes) => {
                    let answer = Some(answer);
                    return Ok(vec![Event::BallotCast { number, seat, votes, answer }]);
                }
                Err(why) => {
                    let message = format!("The votes could not be read. {why}");
                    Failed::of(answer, FailureKind::Malformed, message)
                }
            },
            Heard::Failed(failed) => failed,
            Heard::HandedBack(partial, usage) => {
                return Ok(vec![Event::BallotStopped { number, seat, partial, usage }]);
            }
        };
        Ok(vec![State::ballot_failed(number, seat, failed)])
    }

    pub(in crate::boardroom) fn ballot_failed(number: u32, seat: SeatId, failed: Failed) -> Event {
        let Failed { failure, partial } = failed;
        Event::BallotFailed { number, seat, failure, partial }
    }

    fn is_person(&self, seat: SeatId) -> bool {
        self.advisor(seat).is_some_and(Advisor::is_person)
    }

    pub(in crate::boardroom) fn ballots_due(&self) -> Vec<Call> {
        let Some((synthesis, held)) = self.balloting() else { return vec![] };
        let number = synthesis.number;
        let waiting = held.papers.iter().filter(|p| p.standing.is_asked());
        let due = waiting.filter_map(|paper| match (self.is_person(paper.seat), paper.until) {
            (false, _) => Some(Call { id: paper.call_id(number), work: Work::Ask }),
            (true, Some(until)) => {
                Some(Call { id: paper.deadline_call(number), work: Work::Sleep { until } })
            }
            (true, None) => None,
        });
        due.collect()
    }
}

/// The points that can be voted on and how many there are beyond them, or why there are
/// none.
fn votable(verdict: &Verdict) -> Result<(Vec<Point>, u32), &'static str> {
    let (points, left_out) = points::read(verdict);
    match (points.is_empty(), verdict.headings) {
        (false, _) => Ok((points, left_out)),
        (true, Headings::Missing | Headings::NotAsked) => {
            Err("The verdict does not have the four sections, so there are no points to vote on.")
        }
        (true, Headings::AsAsked | Headings::Repaired) => {
            Err("The verdict has no points to vote on.")
        }
    }
}

fn wrong_votes(held: &Held, votes: &[Vote]) -> Vec<Wrong> {
    let mut wrong = vec![];
    if votes.is_empty() {
        wrong.push(Wrong::new("votes", "give at least one vote"));
    }
    let last = held.points.len();
    for (place, vote) in votes.iter().take(limits::WRONG_FIELDS).enumerate() {
        let field = |name: &str| format!("votes[{place}].{name}");
        if !held.points.iter().any(|point| point.number == vote.point) {
            let problem = format!("there is no such point; they are numbered 1 to {last}");
            wrong.push(Wrong::new(field("point"), problem));
        } else if votes[..place].iter().any(|earlier| earlier.point == vote.point) {
            wrong.push(Wrong::new(field("point"), "this point already has a vote"));
        }
        if vote.reason.len() > limits::VOTE_REASON_BYTES {
            let most = limits::VOTE_REASON_BYTES;
            wrong.push(Wrong::new(field("reason"), format!("must have at most {most} bytes")));
        }
    }
    if votes.len() > limits::BALLOT_POINTS {
        let problem = format!("there are at most {} points", limits::BALLOT_POINTS);
        wrong.push(Wrong::new("votes", problem));
    }
    wrong
}

fn in_order(mut votes: Vec<Vote>) -> Vec<Vote> {
    votes.sort_by_key(|vote| vote.point);
    votes
}

// ---------------------------------------------------------------------------
// What the events do

impl State {
    fn held_mut(&mut self, number: u32) -> Option<&mut Held> {
        self.syntheses.iter_mut().find(|s| s.number == number)?.held_mut()
    }

    pub(in crate::boardroom) fn ballot_began(
        &mut self,
        number: u32,
        (points, left_out): (&[Point], u32),
        voters: &[Voter],
    ) {
        let Some(synthesis) = self.syntheses.iter_mut().find(|s| s.number == number) else {
            return;
        };
        let paper = |voter: &Voter| Paper {
            seat: voter.seat,
            tries: 1,
            until: voter.until,
            standing: PaperStanding::Asked,
            before: Usage::default(),
        };
        synthesis.ballot = Some(Ballot::Held(Held {
            points: points.to_vec(),
            left_out,
            papers: voters.iter().map(paper).collect(),
            superseded: false,
        }));
        self.stage = Stage::Balloting;
    }

    pub(in crate::boardroom) fn ballot_skipped(&mut self, number: u32, reason: &str) {
        if let Some(synthesis) = self.syntheses.iter_mut().find(|s| s.number == number) {
            synthesis.ballot = Some(Ballot::Skipped(reason.to_owned()));
        }
    }

    pub(in crate::boardroom) fn ballot_resumed(&mut self, number: u32, voters: &[Voter]) {
        let unheard: Vec<(CallId, SeatId)> = self
            .synthesis(number)
            .and_then(Synthesis::held)
            .into_iter()
            .flat_map(|held| &held.papers)
            .filter(|paper| paper.standing.is_unheard())
            .filter(|paper| voters.iter().any(|voter| voter.seat == paper.seat))
            .map(|paper| (paper.call_id(number), paper.seat))
            .collect();
        for (call, seat) in unheard {
            self.overtake(call, seat);
        }
        let Some(held) = self.held_mut(number) else { return };
        for paper in &mut held.papers {
            if let Some(voter) = voters.iter().find(|voter| voter.seat == paper.seat) {
                paper.before = paper.usage();
                paper.tries += 1;
                paper.until = voter.until;
                paper.standing = PaperStanding::Asked;
            }
        }
        self.stage = Stage::Balloting;
    }

    /// The board closes with the last paper.
    pub(in crate::boardroom) fn paper_stands(
        &mut self,
        number: u32,
        seat: SeatId,
        standing: PaperStanding,
    ) {
        let Some(held) = self.held_mut(number) else { return };
        if let Some(paper) = held.papers.iter_mut().find(|paper| paper.seat == seat) {
            paper.standing = standing;
        }
        self.close_ballot(number);
    }

    pub(in crate::boardroom) fn paper_halted(&mut self, number: u32, seat: SeatId) {
        let is_person = self.is_person(seat);
        let Some(held) = self.held_mut(number) else { return };
        if let Some(paper) = held.papers.iter_mut().find(|paper| paper.seat == seat) {
            paper.standing.stop(Stopping::ByHand, is_person);
        }
        self.close_ballot(number);
    }

    /// Once nobody's votes are awaited any more.
    fn close_ballot(&mut self, number: u32) {
        let is_awaited = self.held_mut(number).is_some_and(|held| held.is_awaited());
        if !is_awaited && self.stage == Stage::Balloting {
            self.stage = Stage::Closed;
        }
    }

    pub(in crate::boardroom) fn paper_handed_back(
        &mut self,
        number: u32,
        seat: SeatId,
        (text, usage): (&str, Usage),
    ) {
        let papers = self.held_mut(number).map(|held| &mut held.papers);
        let mut papers = papers.into_iter().flatten();
        if let Some(paper) = papers.find(|paper| paper.seat == seat) {
            paper.standing.hand_back(text, usage);
        }
    }

    /// A try that was stopped hands back what it took after the next one has begun.
    pub(in crate::boardroom) fn paper_overtaken(&mut self, call: &CallId, usage: Usage) {
        for synthesis in &mut self.syntheses {
            let number = synthesis.number;
            let is_earlier = |paper: &&mut Paper| {
                (1..paper.tries).any(|tries| paper.call_of(number, tries) == *call)
            };
            let held = synthesis.held_mut().into_iter();
            if let Some(paper) = held.flat_map(|held| &mut held.papers).find(is_earlier) {
                paper.before = paper.before.plus(usage);
            }
        }
    }

    pub(in crate::boardroom) fn stop_ballot(&mut self) {
        let persons: Vec<SeatId> = self.awaited_voters();
        let held = self.syntheses.last_mut().and_then(Synthesis::held_mut);
        for paper in held.into_iter().flat_map(|held| &mut held.papers) {
            paper.standing.stop(Stopping::ByHand, persons.contains(&paper.seat));
        }
    }

    pub(in crate::boardroom) fn supersede_ballot(&mut self) {
        if let Some(held) = self.syntheses.last_mut().and_then(Synthesis::held_mut) {
            held.superseded = true;
        }
    }
}

// ---------------------------------------------------------------------------
// Records from elsewhere

impl State {
    /// Whether a ballot on this synthesis, or the word that there is none, could follow.
    pub(in crate::boardroom) fn could_ballot(&self, number: u32) -> Result<(), &'static str> {
        let fresh = self.syntheses.last().is_some_and(|last| {
            last.number == number && last.ballot.is_none() && last.standing.done().is_some()
        });
        let is_so = self.stage == Stage::Closed && fresh;
        if is_so { Ok(()) } else { Err("no vote could follow there") }
    }

    pub(in crate::boardroom) fn could_begin_ballot(
        &self,
        number: u32,
        points: &[Point],
        voters: &[Voter],
    ) -> Result<(), &'static str> {
        self.could_ballot(number)?;
        let numbered = points.iter().zip(1..).all(|(point, number)| point.number == number);
        let said = |point: &Point| {
            !point.text.trim().is_empty() && point.text.len() <= limits::POINT_BYTES
        };
        if !(1..=limits::BALLOT_POINTS).contains(&points.len())
            || !numbered
            || !points.iter().all(said)
        {
            return Err("the points must be numbered 1, 2, 3, …");
        }
        let basis = self.synthesis(number).map(|s| s.basis.as_slice()).unwrap_or_default();
        let votes = |seat| basis.iter().any(|id| id.seat == seat && self.answer(*id).is_some());
        let all_may = voters.iter().all(|voter| votes(voter.seat));
        if voters.is_empty() || !all_may || !are_different(voters) {
            return Err("only advisors the verdict is made from can vote, each once");
        }
        Ok(())
    }

    pub(in crate::boardroom) fn could_resume_ballot(
        &self,
        number: u32,
        voters: &[Voter],
    ) -> Result<(), &'static str> {
        let last = self.syntheses.last().filter(|last| last.number == number);
        let held = last.and_then(Synthesis::held).filter(|held| !held.superseded);
        let stopped = |voter: &Voter| {
            let paper = held.and_then(|held| held.paper(voter.seat));
            paper.is_some_and(Paper::can_be_asked_again)
        };
        let is_so = self.stage == Stage::Stopped
            && !voters.is_empty()
            && voters.iter().all(stopped)
            && are_different(voters);
        if is_so { Ok(()) } else { Err("this vote could not be resumed") }
    }

    pub(in crate::boardroom) fn could_vote(
        &self,
        number: u32,
        seat: SeatId,
        votes: Option<&[Vote]>,
    ) -> Result<(), &'static str> {
        let held = self.balloting().filter(|(synthesis, _)| synthesis.number == number);
        let paper = held.and_then(|(_, held)| Some((held, held.paper(seat)?)));
        match paper.filter(|(_, paper)| paper.standing.is_asked()) {
            None => Err("this advisor was not being asked for votes"),
            Some((held, _)) if votes.is_some_and(|votes| !wrong_votes(held, votes).is_empty()) => {
                Err("votes must be on the points, one each")
            }
            Some(_) => Ok(()),
        }
    }

    pub(in crate::boardroom) fn could_hand_paper_back(
        &self,
        number: u32,
        seat: SeatId,
    ) -> Result<(), &'static str> {
        let paper = self.synthesis(number).and_then(Synthesis::held).and_then(|h| h.paper(seat));
        let is_so = paper.is_some_and(|paper| paper.standing.is_unheard());
        if is_so { Ok(()) } else { Err("this advisor's vote had not been stopped") }
    }

    /// Ballots whose calls ran elsewhere and hand nothing back here.
    pub(in crate::boardroom) fn unheard_papers(&self) -> Vec<Event> {
        let mut events = vec![];
        for synthesis in &self.syntheses {
            let number = synthesis.number;
            let papers = synthesis.held().map(|held| held.papers.as_slice()).unwrap_or_default();
            let unheard = papers.iter().filter(|paper| paper.standing.is_unheard());
            events.extend(unheard.map(|paper| Event::BallotStopped {
                number,
                seat: paper.seat,
                partial: String::new(),
                usage: Usage::default(),
            }));
        }
        events
    }
}

fn are_different(voters: &[Voter]) -> bool {
    let mut seats: Vec<SeatId> = voters.iter().map(|voter| voter.seat).collect();
    seats.sort();
    seats.windows(2).all(|pair| pair[0] != pair[1])
}
