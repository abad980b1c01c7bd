//! A board in a few words: how far it is, what came of it, what can be done now.

use super::ballot::{Ballot, Paper, write_ballot};
use super::markdown::{write_import, write_verdict};
use super::{Advisor, SeatId, Sitter, Stage, Standing, State, Synthesis, Wait, markdown};
use crate::form::{Progress, Report};
use crate::ids::ModelName;
use crate::ledger::Ledger;
use crate::record::{Document, Saying, Words, line};

impl Report for State {
    fn status(&self) -> &'static str {
        match self.stage {
            Stage::Answering(_) => "answering",
            Stage::Synthesizing => "synthesizing",
            Stage::Balloting => "balloting",
            Stage::Closed => "closed",
            Stage::Stopped => "stopped",
            Stage::Failed(_) => "failed",
        }
    }

    fn title(&self) -> String {
        self.title.clone()
    }

    fn is_imported(&self) -> bool {
        self.imported.is_some()
    }

    /// Nothing more will happen unless somebody asks for it.
    fn is_over(&self) -> bool {
        match self.stage {
            Stage::Answering(_) | Stage::Synthesizing | Stage::Balloting => false,
            Stage::Closed | Stage::Stopped | Stage::Failed(_) => true,
        }
    }

    /// The people whose reply or votes are awaited.
    fn waits_for(&self) -> Vec<String> {
        let voters = self.awaited_voters();
        let is_awaited = |a: &&Advisor| a.is_asked() || voters.contains(&a.seat.id);
        let awaited = self.advisors.iter().filter(is_awaited);
        let name = |advisor: &Advisor| match &advisor.seat.sitter {
            Sitter::Model(_) => None,
            Sitter::Person { name, .. } => Some(name.clone()),
        };
        awaited.filter_map(name).collect()
    }

    /// Every advisor is a step, the synthesis is one, and so are the votes of each.
    fn progress(&self) -> Progress {
        let settled = self.asked_now().filter(|a| !a.is_asked()).count();
        let round = self.round();
        let is_written = |last: &Synthesis| last.round == round && last.standing.done().is_some();
        let is_over = !matches!(self.stage, Stage::Answering(_) | Stage::Synthesizing);
        let written = usize::from(is_over && self.syntheses.last().is_some_and(is_written));
        let (voted, voters) = self.voted();
        Progress {
            done: (settled + written + voted) as u32,
            total: (self.asked_now().count() + 1 + voters) as u32,
            message: self.standing_in_words(),
        }
    }

    /// How long each model took for its answer. Votes are short, and would make a model
    /// look faster than it answers; and what a record from elsewhere says was not measured.
    fn measured(&self) -> Vec<(&ModelName, u64)> {
        if self.imported.is_some() {
            return vec![];
        }
        let advisors = self.advisors.iter().filter_map(|a| match (&a.seat.sitter, &a.standing) {
            (Sitter::Model(model), Standing::Done(answer)) => {
                Some((model, answer.timing.latency_ms))
            }
            (Sitter::Model(_) | Sitter::Person { .. }, _) => None,
        });
        advisors.collect()
    }

    fn ledger(&self) -> Option<&Ledger> {
        Some(&self.ledger)
    }

    fn seated(&self) -> Vec<ModelName> {
        let advisors = self.advisors.iter().filter_map(|advisor| match &advisor.seat.sitter {
            Sitter::Model(model) => Some(model),
            Sitter::Person { .. } => None,
        });
        advisors.chain(&self.synthesizers).cloned().collect()
    }

    /// What came of it, as Markdown: the newest synthesis that is there, or with
    /// `full` the whole record.
    fn report(&self, full: bool) -> String {
        if full {
            return markdown(self);
        }
        let mut out = Document::default();
        write_import(&mut out, self);
        let there = self.syntheses.iter().rev().find_map(|s| Some((s, s.standing.done()?)));
        let Some((synthesis, written)) = there else {
            out.note(line!("No verdict yet. {}", Saying(&self.standing_in_words())));
            return out.brief();
        };
        if let Some(note) = self.degraded(synthesis) {
            out.note(line!("{}", Words(&note)));
        }
        let newest = self.syntheses.last().is_some_and(|last| last.number == synthesis.number);
        if !newest {
            let number = synthesis.number;
            out.note(line!("This is verdict v{}; there is no newer one.", number));
        }
        write_verdict(&mut out, written);
        write_ballot(&mut out, self, synthesis);
        out.brief()
    }

    /// What can be done now, as sentences. Reading, waiting and stopping are there
    /// for everybody who may see the board; the rest is its operator's.
    fn next(&self) -> Vec<String> {
        let (mut next, allowed) = (vec![], self.allowed());
        if !self.is_over() {
            next.push("Wait until it is over; it continues on its own.".to_owned());
        }
        if allowed.contains(&"stop") {
            next.push("Stop it: what has arrived is kept, and no verdict follows.".to_owned());
        }
        next.push("Get it with full detail to read every advisor's answer.".to_owned());
        let in_words = |name| match name {
            "stop" | "export" => None,
            "followUp" => Some("ask a follow-up"),
            "openBallot" => Some("let the advisors vote on the verdict"),
            other => Some(other),
        };
        let operator: Vec<&str> = allowed.into_iter().filter_map(in_words).collect();
        if !operator.is_empty() {
            next.push(format!("Its operator can also: {}.", operator.join(", ")));
        }
        next
    }
}

impl State {
    /// Advisors whose ballots are in, and all that vote as far as known.
    fn voted(&self) -> (usize, usize) {
        let there = matches!(self.stage, Stage::Balloting | Stage::Closed | Stage::Stopped);
        let of_round = |last: &&Synthesis| there && last.round == self.round();
        let ballot = self.syntheses.last().filter(of_round).map(|last| &last.ballot);
        match ballot {
            Some(Some(Ballot::Held(held))) => {
                let waits = |paper: &&Paper| paper.standing.is_asked();
                let waiting = held.papers.iter().filter(waits).count();
                (held.papers.len() - waiting, held.papers.len())
            }
            Some(Some(Ballot::Skipped(_))) => (0, 0),
            Some(None) | None if self.ballot && self.stage != Stage::Closed => {
                (0, self.asked_now().count())
            }
            Some(None) | None => (0, 0),
        }
    }

    fn standing_in_words(&self) -> String {
        let (answered, all) = (self.answered().len(), self.asked_now().count());
        let heard = match (answered, all) {
            (1, 1) => "The advisor has answered".to_owned(),
            (2, 2) => "Both advisors have answered".to_owned(),
            (some, all) if some == all => format!("All {all} advisors have answered"),
            (some, all) => format!("{some} of {all} advisors have answered"),
        };
        match &self.stage {
            Stage::Answering(wait) => {
                let waiting = self.names(Advisor::is_asked);
                let until = match wait {
                    Wait::Grace(until) => format!(" until {until} at the latest"),
                    Wait::All | Wait::Quorum(_) => String::new(),
                };
                format!("{heard}; waiting for {waiting}{until}.")
            }
            Stage::Synthesizing => match self.syntheses.last() {
                Some(synthesis) => format!("{heard}; {} is writing the verdict.", synthesis.model),
                None => format!("{heard}; the verdict is being written."),
            },
            Stage::Balloting => {
                let papers = self.balloting().map(|(_, held)| held.papers.as_slice());
                let waits = |paper: &&Paper| paper.standing.is_asked();
                let waiting: Vec<SeatId> =
                    papers.into_iter().flatten().filter(waits).map(|paper| paper.seat).collect();
                let waiting = self.names(|advisor| waiting.contains(&advisor.seat.id));
                format!("The verdict is ready; waiting for the votes of {waiting}.")
            }
            Stage::Closed => format!("{heard}; the verdict is ready{}.", self.votes_in_words()),
            Stage::Stopped => format!("{heard}; the board was stopped."),
            Stage::Failed(reason) => format!("{heard}; the board failed: {reason}"),
        }
    }

    fn votes_in_words(&self) -> String {
        let ballot = self.syntheses.last().and_then(|last| last.ballot.as_ref());
        match ballot {
            None => String::new(),
            Some(Ballot::Skipped(_)) => ", but has no points to vote on".to_owned(),
            Some(Ballot::Held(held)) => {
                let cast = held.papers.iter().filter(|paper| paper.votes().is_some()).count();
                format!(", and {cast} of {} have voted on it", held.papers.len())
            }
        }
    }

    fn names(&self, which: impl Fn(&Advisor) -> bool) -> String {
        let name = |advisor: &Advisor| {
            let label = self.label(advisor.seat.id);
            match &advisor.seat.sitter {
                Sitter::Model(model) => format!("{label} ({model})"),
                Sitter::Person { name, .. } => format!("{label} ({name}, a person)"),
            }
        };
        let names = self.advisors.iter().filter(|advisor| which(advisor)).map(name);
        names.collect::<Vec<_>>().join(", ")
    }
}
