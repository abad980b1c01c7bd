//! A board in a few words: how far it is, what came of it, what can be done now.

use super::{Advisor, Sitter, Stage, Standing, State, SynthesisStanding, Wait, markdown};
use crate::room::Progress;

impl State {
    /// Nothing more will happen unless somebody asks for it.
    pub fn is_over(&self) -> bool {
        match self.stage {
            Stage::Answering(_) | Stage::Synthesizing => false,
            Stage::Closed | Stage::Stopped | Stage::Failed(_) => true,
        }
    }

    /// Every advisor is a step, and the synthesis is the last one.
    pub fn progress(&self) -> Progress {
        let settled = self.advisors.iter().filter(|a| a.standing != Standing::Asked).count();
        let closed = usize::from(self.stage == Stage::Closed);
        Progress {
            done: (settled + closed) as u32,
            total: self.advisors.len() as u32 + 1,
            message: self.standing_in_words(),
        }
    }

    fn standing_in_words(&self) -> String {
        let (answered, all) = (self.answered().len(), self.advisors.len());
        let heard = match (answered, all) {
            (1, 1) => "The advisor has answered".to_owned(),
            (some, all) if some == all => format!("All {all} advisors have answered"),
            (some, all) => format!("{some} of {all} advisors have answered"),
        };
        match &self.stage {
            Stage::Answering(wait) => {
                let waiting = self.names(|advisor| advisor.standing == Standing::Asked);
                let until = match wait {
                    Wait::Grace(until) => format!(" until {until} at the latest"),
                    Wait::All | Wait::Quorum(_) => String::new(),
                };
                format!("{heard}; waiting for {waiting}{until}.")
            }
            Stage::Synthesizing => match self.syntheses.last() {
                Some(synthesis) => format!("{heard}; {} writes the synthesis.", synthesis.model),
                None => format!("{heard}; the synthesis is being written."),
            },
            Stage::Closed => format!("{heard}; the synthesis is there."),
            Stage::Stopped => format!("{heard}; the board was stopped."),
            Stage::Failed(reason) => format!("{heard}; the board failed: {reason}"),
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

    /// What came of it, as Markdown: the newest synthesis that is there, or with
    /// `full` the whole record.
    pub fn report(&self, full: bool) -> String {
        if full {
            return markdown(self);
        }
        let there = self.syntheses.iter().rev().find_map(|synthesis| match &synthesis.standing {
            SynthesisStanding::Done { verdict, .. } => Some((synthesis, verdict.text.trim())),
            SynthesisStanding::Asked
            | SynthesisStanding::Failed { .. }
            | SynthesisStanding::Stopped { .. } => None,
        });
        let Some((synthesis, text)) = there else {
            return format!("*No synthesis yet. {}*", self.standing_in_words());
        };
        let newest = self.syntheses.last().is_some_and(|last| last.number == synthesis.number);
        let older = (!newest)
            .then(|| format!("This is synthesis {}; a newer one is not there.", synthesis.number));
        let notes = [self.degraded(synthesis), older].into_iter().flatten();
        let mut out: String = notes.map(|note| format!("*{note}*\n\n")).collect();
        out.push_str(text);
        out
    }

    /// What can be done now, as sentences.
    pub fn next(&self) -> Vec<String> {
        let sentence = |name: &str| match name {
            "stop" => Some("Stop it: what has arrived is kept, and no synthesis follows."),
            "synthesize" => {
                Some("Have the synthesis written now, with the answers that are there.")
            }
            "resynthesize" => Some("Have another synthesis written; earlier ones are kept."),
            "retry" => Some("Ask one advisor again; a new synthesis follows."),
            "resume" => Some("Resume it: whoever has no answer is asked again."),
            "reply" => Some("Give the answer of a person who sits on the board."),
            _ => None,
        };
        let wait = (!self.is_over()).then_some("Wait until it is over; it goes on by itself.");
        let possible = self.allowed();
        let read = "Get it with full detail to read every advisor's answer.";
        let all = wait.into_iter().chain(possible.into_iter().filter_map(sentence)).chain([read]);
        all.map(str::to_owned).collect()
    }
}
