//! A discussion in a few words: how far it is, what came of it, what can be done now.

use super::prompt::absent;
use super::{Said, Seat, SeatId, Spoken, Stage, State, What, markdown};
use crate::call::Timing;
use crate::form::{Happened, Progress, Report};
use crate::ids::ModelName;
use crate::ledger::Ledger;
use crate::record::{CUT, Document, Saying, Words, line};
use crate::room::title;

impl Report for State {
    fn status(&self) -> &'static str {
        match self.stage {
            Stage::Draft => "draft",
            Stage::Active(_) => "active",
            Stage::Pausing(_) => "pausing",
            Stage::Paused(_) => "paused",
            Stage::Stopped(_) => "stopped",
            Stage::Failed { .. } => "failed",
            Stage::Concluded(_) => "concluded",
        }
    }

    fn title(&self) -> String {
        title(&self.name)
    }

    fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    /// The person whose reply or decision is awaited.
    fn waits_for(&self) -> Vec<String> {
        let seat = self.awaited().and_then(|step| self.seat_of(step));
        seat.map(|seat| seat.name.clone()).into_iter().collect()
    }

    /// Nothing more will happen unless somebody asks for it.
    fn is_over(&self) -> bool {
        match self.stage {
            Stage::Active(_) | Stage::Pausing(_) => false,
            Stage::Draft
            | Stage::Paused(_)
            | Stage::Stopped(_)
            | Stage::Failed { .. }
            | Stage::Concluded(_) => true,
        }
    }

    /// Every round is a step, and the conclusion is the last one.
    fn progress(&self) -> Progress {
        let concluded = self.conclusion().is_some();
        let total = if concluded { self.turns() } else { self.max_rounds } + 1;
        let done = self.turns() + u32::from(concluded);
        Progress { done, total, message: self.standing_in_words() }
    }

    fn ledger(&self) -> Option<&Ledger> {
        Some(&self.ledger)
    }

    fn seated(&self) -> Vec<ModelName> {
        let seats = self.participants.iter().map(|participant| &participant.seat);
        seats.chain([&self.facilitator]).filter_map(|seat| seat.model().cloned()).collect()
    }

    /// The conclusion; with `full` the whole record.
    fn report(&self, full: bool) -> String {
        if full {
            return markdown(self);
        }
        let mut out = Document::default();
        match self.conclusion() {
            None => out.note(line!("No conclusion yet. {}", Saying(&self.standing_in_words()))),
            Some(conclusion) => {
                if let Some(note) = self.degraded() {
                    out.note(line!("{}", Words(&note)));
                }
                out.quote(conclusion.text());
            }
        }
        out.brief()
    }

    fn next(&self) -> Vec<String> {
        let mut next = vec![];
        if let Some(seat) = self.awaited().and_then(|step| self.seat_of(step)) {
            let how = if self.allowed().contains(&"decide") { "decide" } else { "reply" };
            next.push(format!("{} must {how}.", seat.name));
        } else if !self.is_over() {
            next.push("Wait until it is over; it continues on its own.".to_owned());
        }
        let sentence = |name: &&str| match *name {
            "start" => Some("Start it."),
            "edit" => Some("Edit it, or change who takes part."),
            "pause" => Some("Pause it after the current step."),
            "resume" => Some("Resume it with exactly the step that was due."),
            "stop" => Some("Stop it at once; what has arrived is kept, and it can be resumed."),
            "conclude" => Some("Conclude it now, from what has been said."),
            "interject" => Some("Interject: add a remark between turns."),
            _ => None,
        };
        next.extend(self.allowed().iter().filter_map(sentence).map(str::to_owned));
        next.push("Get it with full detail to read every turn.".to_owned());
        next
    }

    /// How long each model took for its answers, decisions included.
    fn measured(&self) -> Vec<(&ModelName, u64)> {
        let timed = |id: &SeatId, timing: &Timing| {
            Some((self.seat(id)?.model()?, timing.latency_ms)).filter(|(_, ms)| *ms > 0)
        };
        let entries = self.transcript.iter().filter_map(|entry| match &entry.said {
            Said::Turn { speaker, spoken: Spoken::Words(answer), .. } => {
                timed(speaker, &answer.timing)
            }
            Said::Decision(decided) => timed(&self.facilitator.id, &decided.timing),
            Said::Turn { spoken: Spoken::Failed { .. }, .. }
            | Said::Interjection { .. }
            | Said::Cut { .. }
            | Said::SynthesisFailed { .. } => None,
        });
        let conclusion = self.conclusion().and_then(|c| timed(&c.by, &c.answer.timing));
        entries.chain(conclusion).collect()
    }

    fn happened(&self) -> Happened {
        let said = self.turns().into();
        Happened { status: self.status(), said, waits_for: self.waits_for() }
    }
}

impl State {
    pub fn standing_in_words(&self) -> String {
        let (turns, most) = (self.turns(), self.max_rounds);
        let rounds = match turns {
            1 => "1 round".to_owned(),
            many => format!("{many} rounds"),
        };
        match &self.stage {
            Stage::Draft => "The discussion is a draft.".to_owned(),
            Stage::Active(_) => self.under_way_in_words(),
            Stage::Pausing(_) => format!("{} Then it pauses.", self.under_way_in_words()),
            Stage::Paused(_) => format!("Paused after {turns} of at most {most} rounds."),
            Stage::Stopped(_) => format!("Stopped after {turns} of at most {most} rounds."),
            Stage::Failed { why, .. } => format!("Failed after {rounds}: {why}"),
            Stage::Concluded(_) => format!("Concluded after {rounds}."),
        }
    }

    fn under_way_in_words(&self) -> String {
        let Some(step) = self.step() else { return String::new() };
        let most = self.max_rounds;
        let who = |seat: &Seat| match (seat.is_person(), step.reply_by) {
            (false, _) => seat.name.clone(),
            (true, None) => format!("{}, a person,", seat.name),
            (true, Some(by)) => format!("{}, a person, until {by},", seat.name),
        };
        let name = self.seat_of(step).map(|seat| who(seat)).unwrap_or_default();
        let waits = self.awaited().is_some();
        match &step.what {
            What::Opening if waits => format!("Waiting for {name} to open the discussion."),
            What::Opening => format!("{name} is opening the discussion."),
            What::Turn { turn, .. } if waits => {
                format!("Round {turn} of at most {most}: waiting for {name} to speak.")
            }
            What::Turn { turn, .. } => {
                format!("Round {turn} of at most {most}: {name} is speaking.")
            }
            What::Evaluation { turn } if waits => format!(
                "Round {turn} of at most {most} is over: waiting for {name} to decide what comes \
                 next."
            ),
            What::Evaluation { turn } => {
                format!(
                    "Round {turn} of at most {most} is over: {name} is deciding what comes \
                         next."
                )
            }
            What::Synthesis { .. } if waits => format!("Waiting for {name} to conclude."),
            What::Synthesis { by, .. } if *by == self.facilitator.id => {
                format!("{name} is writing the conclusion.")
            }
            What::Synthesis { .. } => {
                format!("The model of {name} is writing the conclusion in the facilitator's place.")
            }
        }
    }

    /// What a conclusion does without, that another model wrote it, or that it was cut.
    pub fn degraded(&self) -> Option<String> {
        let conclusion = self.conclusion()?;
        let silent = absent(self);
        let silent = (!silent.is_empty()).then(|| format!("Not heard: {}.", silent.join("; ")));
        let other = (conclusion.by != self.facilitator.id)
            .then(|| self.seat(&conclusion.by))
            .flatten()
            .map(|seat| {
                format!("Written by the model of {}: the facilitator's failed.", seat.name)
            });
        let cut = conclusion.answer.cut.then(|| CUT.to_owned());
        let notes: Vec<String> = [silent, other, cut].into_iter().flatten().collect();
        (!notes.is_empty()).then(|| notes.join(" "))
    }
}
