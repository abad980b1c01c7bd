//! A board as a document that people read.

use super::ballot::write_ballot;
use super::{HEADINGS, Sitter, Standing, State, Synthesis, SynthesisStanding, Written};
use crate::call::Failure;
use crate::form::Report;
use crate::record::{Code, Document, Saying, Words, line};

pub fn markdown(state: &State) -> String {
    let mut out = Document::default();
    out.heading(1, line!("{}", Words(&state.title)));
    out.note(line!("Boardroom, {}, {}", state.convened_at, state.status()));
    write_import(&mut out, state);
    out.heading(2, line!("Question"));
    out.quote(&state.prompt);
    for file in state.context.iter() {
        out.item(line!("attached: {} ({} bytes)", Code(&file.name), file.text.len()));
    }
    for advisor in &state.advisors {
        let who = match &advisor.seat.sitter {
            Sitter::Model(model) => &model.0,
            Sitter::Person { name, .. } => name,
        };
        out.rule();
        out.heading(1, line!("{} ({})", Words(&state.label(advisor.seat.id)), Words(who)));
        match &advisor.standing {
            Standing::Asked => out.note(line!("No answer yet.")),
            Standing::Done(answer) => out.answer(&answer.text, answer.cut),
            Standing::Failed { failure, partial } => write_failed(&mut out, failure, partial),
            Standing::Stopped { partial, .. } => write_stopped(&mut out, partial.as_deref()),
        }
    }
    for synthesis in &state.syntheses {
        write_synthesis(&mut out, state, synthesis);
    }
    out.spending(state.ledger.total());
    out.text()
}

fn write_synthesis(out: &mut Document, state: &State, synthesis: &Synthesis) {
    out.rule();
    out.heading(1, line!("Synthesis {} ({})", synthesis.number, Words(&synthesis.model.0)));
    if let Some(instruction) = &synthesis.instruction {
        out.note(line!("Asked for: {}", Saying(instruction)));
    }
    if let Some(note) = state.degraded(synthesis) {
        out.note(line!("{}", Words(&note)));
    }
    for failed in &synthesis.failed {
        let (model, message) = (Words(&failed.model.0), Saying(&failed.failure.message));
        out.note(line!("{} was tried first: {}", model, message));
    }
    match &synthesis.standing {
        SynthesisStanding::Asked => out.note(line!("Being written.")),
        SynthesisStanding::Done(written) => write_verdict(out, written),
        SynthesisStanding::Failed { failure, partial } => write_failed(out, failure, partial),
        SynthesisStanding::Stopped { partial, .. } => write_stopped(out, partial.as_deref()),
    }
    write_ballot(out, state, synthesis);
}

/// Where the four headings are there they are ours, and what stands under each is quoted.
pub fn write_verdict(out: &mut Document, Written { verdict, answer }: &Written) {
    let Some(sections) = verdict.sections() else {
        return out.answer(&verdict.text, answer.cut);
    };
    for (heading, section) in HEADINGS.into_iter().zip(&sections) {
        out.heading(2, line!("{}", heading));
        out.quote(section);
    }
    out.answer("", answer.cut);
}

/// Says aloud that nobody here saw it happen.
pub fn write_import(out: &mut Document, state: &State) {
    if let Some(note) = state.import_in_words() {
        out.note(line!("{}", Words(&note)));
    }
}

fn write_failed(out: &mut Document, failure: &Failure, partial: &str) {
    out.note(line!("Failed: {}", Saying(&failure.message)));
    out.quote(partial);
}

fn write_stopped(out: &mut Document, partial: Option<&str>) {
    out.note(line!("Stopped."));
    out.quote(partial.unwrap_or_default());
}

impl State {
    /// Says aloud whose view a synthesis had to do without.
    pub fn degraded(&self, synthesis: &Synthesis) -> Option<String> {
        if synthesis.absent.is_empty() {
            return None;
        }
        let (heard, all) = (synthesis.basis.len(), self.advisors.len());
        let missing: Vec<String> = synthesis
            .absent
            .iter()
            .map(|absent| format!("{} ({})", self.label(absent.seat), absent.why))
            .collect();
        Some(format!("From {heard} of {all} advisors. Missing: {}.", missing.join(", ")))
    }

    /// Whoever wrote an imported record could write what they liked.
    pub fn import_in_words(&self) -> Option<String> {
        let imported = self.imported.as_ref()?;
        let at = imported.at;
        let from = imported.from.map(|id| format!(" It says that it is the board {id}."));
        let from = from.unwrap_or_default();
        Some(format!("Imported at {at}. Nobody has verified that it was held as written.{from}"))
    }
}
