//! A board as a document that people read.

use super::ballot::write_ballot;
use super::{
    Advisor, ContributionId, HEADINGS, Sitter, Standing, State, Synthesis, SynthesisStanding,
    Written,
};
use crate::call::Failure;
use crate::form::Report;
use crate::ledger::Usage;
use crate::record::{Code, Document, Saying, Words, line};

const VEILED: &str = "Hidden until you answer.";

pub fn markdown(state: &State) -> String {
    let mut out = Document::default();
    out.heading(1, line!("{}", Words(&state.title)));
    // In the word that the page has.
    let status = match state.status() {
        "closed" => "done",
        other => other,
    };
    out.note(line!("Boardroom, {}, {}", state.convened_at, status));
    write_import(&mut out, state);
    out.heading(2, line!("Question"));
    out.quote(&state.prompt);
    for file in state.context.iter() {
        out.item(line!("attached: {} ({} bytes)", Code(&file.name), file.text.len()));
    }
    for round in 1..=state.round() {
        write_round(&mut out, state, round);
    }
    out.spending(&state.ledger);
    out.text()
}

/// The question, unless it is the first, then what was answered and made of it.
fn write_round(out: &mut Document, state: &State, round: u32) {
    if let Some(follow_up) = state.follow_ups.iter().find(|one| one.round == round) {
        out.rule();
        out.heading(1, line!("Question {}", round));
        out.quote(&follow_up.prompt);
    }
    for advisor in &state.advisors {
        write_advisor(out, state, advisor, round);
    }
    for synthesis in state.syntheses.iter().filter(|synthesis| synthesis.round == round) {
        write_synthesis(out, state, synthesis);
    }
}

/// The last answer in this round, then those before it.
fn write_advisor(out: &mut Document, state: &State, advisor: &Advisor, round: u32) {
    let earlier = advisor.earlier.iter().filter(|one| one.id.round == round);
    let mut said: Vec<(u32, &Sitter, &Standing)> =
        earlier.map(|one| (one.id.asked, &one.sitter, &one.standing)).collect();
    if advisor.round == round {
        said.push((advisor.asked, &advisor.seat.sitter, &advisor.standing));
    }
    let Some((_, sitter, standing)) = said.pop() else { return };
    let is_veiled = advisor.round == round && state.is_veiled(advisor.seat.id);
    out.rule();
    let label = state.label(advisor.seat.id);
    out.heading(1, line!("{} ({})", Words(&label), Words(who(sitter))));
    match is_veiled && !standing.is_asked() {
        true => out.note(line!("{}", VEILED)),
        false => write_standing(out, state, sitter, standing),
    }
    for (asked, sitter, standing) in said {
        let beside = advisor.round == round && asked > advisor.asked - advisor.batch;
        let when = if beside { "Other" } else { "Earlier" };
        out.heading(2, line!("{} answer {} ({})", when, asked, Words(who(sitter))));
        write_standing(out, state, sitter, standing);
    }
}

fn who(sitter: &Sitter) -> &str {
    match sitter {
        Sitter::Model(model) => &model.0,
        Sitter::Person { name, .. } => name,
    }
}

fn write_standing(out: &mut Document, state: &State, sitter: &Sitter, standing: &Standing) {
    let used = match standing {
        Standing::Asked => return out.note(line!("No answer yet.")),
        Standing::Done(answer) => {
            out.answer(&answer.text, answer.cut);
            answer.usage
        }
        Standing::Failed { failure, partial } => {
            write_failed(out, failure, partial);
            failure.usage
        }
        Standing::Stopped { partial, usage, .. } => {
            write_stopped(out, partial.as_deref());
            *usage
        }
    };
    out.took(match sitter {
        Sitter::Model(model) => state.ledger.call_in_words(model, used),
        Sitter::Person { .. } => None,
    });
}

fn write_synthesis(out: &mut Document, state: &State, synthesis: &Synthesis) {
    out.rule();
    out.heading(1, line!("Verdict v{} ({})", synthesis.number, Words(&synthesis.model.0)));
    if let Some(instruction) = &synthesis.instruction {
        out.note(line!("Instruction: {}", Saying(instruction)));
    }
    if let Some(note) = state.degraded(synthesis) {
        out.note(line!("{}", Words(&note)));
    }
    if let Some(note) = state.made_from(synthesis) {
        out.note(line!("{}", Words(&note)));
    }
    for failed in &synthesis.failed {
        let (model, message) = (Words(&failed.model.0), Saying(&failed.failure.message));
        out.note(line!("{} failed first: {}", model, message));
        out.quote(&failed.text);
        out.took(state.ledger.call_in_words(&failed.model, failed.failure.usage));
    }
    let used = match &synthesis.standing {
        SynthesisStanding::Asked => {
            out.note(line!("Being written."));
            Usage::default()
        }
        SynthesisStanding::Done(written) => {
            write_verdict(out, written);
            written.answer.usage
        }
        SynthesisStanding::Failed { failure, partial } => {
            write_failed(out, failure, partial);
            failure.usage
        }
        SynthesisStanding::Stopped { partial, usage, .. } => {
            write_stopped(out, partial.as_deref());
            *usage
        }
    };
    out.took(state.ledger.call_in_words(&synthesis.model, used));
    write_ballot(out, state, synthesis);
}

/// Where the four headings are there they are ours, and what stands under each is quoted.
pub fn write_verdict(out: &mut Document, Written { verdict, answer }: &Written) {
    let Some(sections) = verdict.sections() else {
        out.note(line!("The model did not follow the four sections. This is its text as written."));
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
        let heard = synthesis.seats().len();
        let all = heard + synthesis.absent.len();
        let missing: Vec<String> = synthesis
            .absent
            .iter()
            .map(|absent| format!("{} ({})", self.label(absent.seat), absent.why))
            .collect();
        Some(format!("From {heard} of {all} advisors. Missing: {}.", missing.join(", ")))
    }

    /// Which answers a synthesis is made from, where somebody has given several.
    fn made_from(&self, synthesis: &Synthesis) -> Option<String> {
        let has_several = |id: &ContributionId| {
            let of_round = |other: &ContributionId| other.round == id.round && other != id;
            let advisor = self.advisor(id.seat).into_iter();
            let mut names = advisor.flat_map(|advisor| {
                advisor.earlier.iter().map(|one| one.id).chain([advisor.contribution()])
            });
            names.any(|other| of_round(&other))
        };
        let name = |id: &ContributionId| match has_several(id) {
            true => format!("{} (answer {})", self.label(id.seat), id.asked),
            false => self.label(id.seat),
        };
        let names: Vec<String> = synthesis.basis.iter().map(name).collect();
        let several = synthesis.basis.iter().any(has_several);
        several.then(|| format!("Made from: {}.", names.join(", ")))
    }

    /// Whoever wrote an imported record could write what they liked.
    pub fn import_in_words(&self) -> Option<String> {
        let imported = self.imported.as_ref()?;
        let at = imported.at;
        let from = imported.from.map(|id| format!(" Its record says it is the board {id}."));
        let from = from.unwrap_or_default();
        Some(format!("Imported at {at}. Not verified by this server.{from}"))
    }
}
