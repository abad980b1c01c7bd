//! A discussion as a document that people read.

use super::prompt::role_words;
use super::{Choice, Decided, Entry, How, Revision, Said, Seat, SeatId, Spoken, State, What};
use crate::form::Report;
use crate::ledger::Usage;
use crate::record::{Code, Document, Line, Saying, Words, line};

pub fn markdown(state: &State) -> String {
    let mut out = Document::default();
    out.heading(1, line!("{}", Words(&state.name)));
    let (format, status) = (state.format_told().name(), state.status());
    out.note(line!("Discussion ({}), {}, {}", format, state.created_at, status));
    out.heading(2, line!("Topic"));
    out.quote(state.topic_told());
    for file in state.context.iter() {
        out.item(line!("attached: {} ({} bytes)", Code(&file.name), file.text.len()));
    }
    out.heading(2, line!("Who took part"));
    let leader = &state.facilitator;
    out.item(line!("**{}**, facilitator{}", Words(&leader.name), of(leader)));
    for participant in state.participants.iter() {
        let (seat, role) = (&participant.seat, role_words(participant.role));
        out.item(line!("**{}**, {}{}", Words(&seat.name), role, of(seat)));
    }
    if let Some(conclusion) = state.conclusion() {
        out.heading(2, line!("Conclusion"));
        if let Some(note) = state.degraded() {
            out.note(line!("{}", Words(&note)));
        }
        if let Some(Revision { by, at, .. }) = &conclusion.revision {
            out.note(line!("Edited by {}, {}", Words(by), *at));
        }
        out.quote(conclusion.text());
        out.took(took(state, &conclusion.by, conclusion.answer.usage));
    }
    out.heading(2, line!("Transcript"));
    state.transcript.iter().for_each(|entry| write_entry(&mut out, state, entry));
    if state.conclusion().is_none() {
        out.note(line!("{}", Saying(&state.standing_in_words())));
    }
    out.spending(&state.ledger);
    out.text()
}

fn of(seat: &Seat) -> Line {
    match seat.model() {
        Some(model) => line!(" ({})", Words(&model.0)),
        None => line!(" (a person)"),
    }
}

/// What a call of this seat took. A person's words take nothing.
fn took(state: &State, id: &SeatId, used: Usage) -> Option<String> {
    state.ledger.call_in_words(state.seat(id)?.model()?, used)
}

fn name<'a>(state: &'a State, id: &'a SeatId) -> Words<'a> {
    Words(state.seat(id).map_or(id.0.as_str(), |seat| seat.name.as_str()))
}

fn write_entry(out: &mut Document, state: &State, entry: &Entry) {
    match &entry.said {
        Said::Decision(decided) => write_decision(out, state, decided),
        Said::Turn { turn, speaker, question, spoken, .. } => {
            out.heading(3, line!("Round {}: {}", *turn, name(state, speaker)));
            out.paragraph(line!("**Asked**"));
            out.quote(question);
            match spoken {
                Spoken::Words(answer) => {
                    out.paragraph(line!("**Answered**"));
                    out.answer(&answer.text, answer.cut);
                    out.took(took(state, speaker, answer.usage));
                }
                Spoken::Failed { failure, partial } => {
                    out.note(line!("No answer: {}", Saying(&failure.message)));
                    out.quote(partial);
                    out.took(took(state, speaker, failure.usage));
                }
            }
        }
        Said::Interjection { by, text } => {
            out.heading(3, line!("{} (interjection)", Words(by)));
            out.quote(text);
        }
        Said::Cut { what, partial, usage, .. } => {
            let by = match what {
                What::Opening | What::Evaluation { .. } => &state.facilitator.id,
                What::Turn { speaker, .. } => speaker,
                What::Synthesis { by, .. } => by,
            };
            out.note(line!("{} was stopped.", name(state, by)));
            out.quote(partial.as_deref().unwrap_or_default());
            out.took(took(state, by, *usage));
        }
        Said::SynthesisFailed { by, failure, partial } => {
            let (who, message) = (name(state, by), Saying(&failure.message));
            out.note(line!("{} could not write the conclusion: {}", who, message));
            out.quote(partial);
            out.took(took(state, by, failure.usage));
        }
    }
}

fn write_decision(out: &mut Document, state: &State, decided: &Decided) {
    let choice = match (decided.decision, &decided.next) {
        (Choice::Continue, Some(next)) => line!("{} speaks next", name(state, next)),
        (Choice::Continue, None) => line!("continues"),
        (Choice::Synthesize, _) => line!("time to conclude"),
    };
    let note = Saying(decided.note.as_deref().unwrap_or_default());
    let how = match decided.how {
        How::Parsed | How::Person => Line::default(),
        How::Repaired => line!(" (the reply was repaired: {})", note),
        How::Fallback => line!(" (chosen in turn: {})", note),
        How::Rule => line!(" ({})", note),
    };
    out.note(line!("{}: {}.{}", Words(&state.facilitator.name), choice, how));
    out.quote(&decided.reasoning);
    out.took(took(state, &state.facilitator.id, decided.usage));
}
