//! A discussion as a document that people read.

use super::prompt::role_words;
use super::{Choice, Decided, Entry, How, Revision, Said, Seat, SeatId, Spoken, State, What};
use crate::form::Report;
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
    }
    out.heading(2, line!("Transcript"));
    state.transcript.iter().for_each(|entry| write_entry(&mut out, state, entry));
    if state.conclusion().is_none() {
        out.note(line!("{}", Saying(&state.standing_in_words())));
    }
    out.spending(state.ledger.total());
    out.text()
}

fn of(seat: &Seat) -> Line {
    match seat.model() {
        Some(model) => line!(" ({})", Words(&model.0)),
        None => line!(" (a person)"),
    }
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
                }
                Spoken::Failed { failure, partial } => {
                    out.note(line!("No answer: {}", Saying(&failure.message)));
                    out.quote(partial);
                }
            }
        }
        Said::Interjection { by, text } => {
            out.heading(3, line!("{} (interjection)", Words(by)));
            out.quote(text);
        }
        Said::Cut { what, partial, .. } => {
            let who = match what {
                What::Opening | What::Evaluation { .. } => Words(&state.facilitator.name),
                What::Turn { speaker, .. } => name(state, speaker),
                What::Synthesis { by, .. } => name(state, by),
            };
            out.note(line!("{} was stopped.", who));
            out.quote(partial.as_deref().unwrap_or_default());
        }
        Said::SynthesisFailed { by, failure, partial } => {
            let (who, message) = (name(state, by), Saying(&failure.message));
            out.note(line!("{} could not write the conclusion: {}", who, message));
            out.quote(partial);
        }
    }
}

fn write_decision(out: &mut Document, state: &State, decided: &Decided) {
    let choice = match (decided.decision, &decided.next) {
        (Choice::Continue, Some(next)) => line!("{} speaks next", name(state, next)),
        (Choice::Continue, None) => line!("goes on"),
        (Choice::Synthesize, _) => line!("time to conclude"),
    };
    let note = Saying(decided.note.as_deref().unwrap_or_default());
    let how = match decided.how {
        How::Parsed | How::Person => Line::default(),
        How::Repaired => line!(" (the answer had to be mended: {})", note),
        How::Fallback => line!(" (chosen in turn: {})", note),
        How::Rule => line!(" ({})", note),
    };
    out.note(line!("{}: {}.{}", Words(&state.facilitator.name), choice, how));
    out.quote(&decided.reasoning);
}
