//! A board as a document that people read.

use std::fmt::Write;

use super::ballot::ballot_table;
use super::{Sitter, Standing, State, Synthesis, SynthesisStanding};

pub fn markdown(state: &State) -> String {
    let mut out = format!("# {}\n\n", state.title);
    let _ = writeln!(out, "*Boardroom, {}, {}*\n", state.convened_at, state.status());
    let _ = writeln!(out, "## Question\n\n{}\n", state.prompt.trim());
    for file in state.context.iter() {
        let _ = writeln!(out, "- attached: `{}` ({} bytes)", file.name, file.text.len());
    }
    for advisor in &state.advisors {
        let who = match &advisor.seat.sitter {
            Sitter::Model(model) => model.0.clone(),
            Sitter::Person { name, .. } => name.clone(),
        };
        let _ = writeln!(out, "\n---\n\n# {} ({who})\n", state.label(advisor.seat.id));
        let _ = match &advisor.standing {
            Standing::Asked => writeln!(out, "*No answer yet.*"),
            Standing::Done(answer) => writeln!(out, "{}", answer.text.trim()),
            Standing::Failed { failure, partial } => {
                writeln!(out, "*Failed: {}*\n\n{}", failure.message, partial.trim())
            }
            Standing::Stopped { partial, .. } => {
                let partial = partial.as_deref().unwrap_or_default();
                writeln!(out, "*Stopped.*\n\n{}", partial.trim())
            }
        };
    }
    for synthesis in &state.syntheses {
        write_synthesis(&mut out, state, synthesis);
    }
    out
}

fn write_synthesis(out: &mut String, state: &State, synthesis: &Synthesis) {
    let _ = writeln!(out, "\n---\n\n# Synthesis {} ({})\n", synthesis.number, synthesis.model);
    if let Some(instruction) = &synthesis.instruction {
        let _ = writeln!(out, "*Asked for: {}*\n", instruction.trim());
    }
    if let Some(note) = state.degraded(synthesis) {
        let _ = writeln!(out, "*{note}*\n");
    }
    for failed in &synthesis.failed {
        let _ = writeln!(out, "*{} was tried first: {}*\n", failed.model, failed.failure.message);
    }
    let _ = match &synthesis.standing {
        SynthesisStanding::Asked => writeln!(out, "*Being written.*"),
        SynthesisStanding::Done { verdict, .. } => writeln!(out, "{}", verdict.text.trim()),
        SynthesisStanding::Failed { failure, partial } => {
            writeln!(out, "*Failed: {}*\n\n{}", failure.message, partial.trim())
        }
        SynthesisStanding::Stopped { partial } => {
            let partial = partial.as_deref().unwrap_or_default();
            writeln!(out, "*Stopped.*\n\n{}", partial.trim())
        }
    };
    let votes = ballot_table(state, synthesis);
    if !votes.is_empty() {
        let _ = write!(out, "\n{votes}");
    }
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
}
