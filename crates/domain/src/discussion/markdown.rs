//! A discussion as a document that people read.

use std::fmt::Write;

use super::prompt::role_words;
use super::{Choice, Decided, Entry, How, Said, Seat, SeatId, Spoken, State, What};

pub fn markdown(state: &State) -> String {
    let mut out = format!("# {}\n\n", state.name);
    let format = state.format.name();
    let _ = writeln!(out, "*Discussion ({format}), {}, {}*\n", state.created_at, state.status());
    let _ = writeln!(out, "## Topic\n\n{}\n", state.topic.trim());
    for file in state.context.iter() {
        let _ = writeln!(out, "*File: {}, {} bytes*\n", file.name, file.text.len());
    }
    let _ = writeln!(out, "## Who took part\n");
    let _ =
        writeln!(out, "- **{}**, facilitator{}", state.facilitator.name, of(&state.facilitator));
    for participant in state.participants.iter() {
        let role = role_words(participant.role);
        let _ = writeln!(out, "- **{}**, {role}{}", participant.seat.name, of(&participant.seat));
    }
    if let Some(conclusion) = state.conclusion() {
        let _ = writeln!(out, "\n## Conclusion\n");
        if let Some(note) = state.degraded() {
            let _ = writeln!(out, "*{note}*\n");
        }
        let _ = writeln!(out, "{}", conclusion.answer.text.trim());
    }
    let _ = writeln!(out, "\n## Transcript");
    state.transcript.iter().for_each(|entry| write_entry(&mut out, state, entry));
    if state.conclusion().is_none() {
        let _ = writeln!(out, "\n*{}*", state.standing_in_words());
    }
    out
}

fn of(seat: &Seat) -> String {
    match seat.model() {
        Some(model) => format!(" ({model})"),
        None => " (a person)".to_owned(),
    }
}

fn name<'a>(state: &'a State, id: &'a SeatId) -> &'a str {
    state.seat(id).map_or(id.0.as_str(), |seat| seat.name.as_str())
}

fn write_entry(out: &mut String, state: &State, entry: &Entry) {
    match &entry.said {
        Said::Decision(decided) => write_decision(out, state, decided),
        Said::Turn { turn, speaker, question, spoken, .. } => {
            let _ = writeln!(out, "\n### Round {turn}: {}\n", name(state, speaker));
            let _ = writeln!(out, "{}", quote(question));
            match spoken {
                Spoken::Words(answer) => {
                    let _ = writeln!(out, "{}", answer.text.trim());
                }
                Spoken::Failed { failure, partial } => {
                    let _ = writeln!(out, "*No answer: {}*", failure.message);
                    write_partial(out, partial);
                }
            }
        }
        Said::Interjection { by, text } => {
            let _ = writeln!(out, "\n### {by} (interjection)\n\n{}", text.trim());
        }
        Said::Cut { what, partial, .. } => {
            let who = match what {
                What::Opening | What::Evaluation { .. } => state.facilitator.name.as_str(),
                What::Turn { speaker, .. } => name(state, speaker),
                What::Synthesis { by, .. } => name(state, by),
            };
            let _ = writeln!(out, "\n*{who} was stopped.*");
            write_partial(out, partial.as_deref().unwrap_or_default());
        }
        Said::SynthesisFailed { by, failure, partial } => {
            let who = name(state, by);
            let message = &failure.message;
            let _ = writeln!(out, "\n*{who} could not write the conclusion: {message}*");
            write_partial(out, partial);
        }
    }
}

fn write_decision(out: &mut String, state: &State, decided: &Decided) {
    let leader = &state.facilitator.name;
    let choice = match (decided.decision, &decided.next) {
        (Choice::Continue, Some(next)) => format!("{} speaks next", name(state, next)),
        (Choice::Continue, None) => "goes on".to_owned(),
        (Choice::Synthesize, _) => "time to conclude".to_owned(),
    };
    let note = decided.note.as_deref().unwrap_or_default();
    let how = match decided.how {
        How::Parsed | How::Person => String::new(),
        How::Repaired => format!(" (the answer had to be mended: {note})"),
        How::Fallback => format!(" (chosen in turn: {note})"),
        How::Rule => format!(" ({note})"),
    };
    let _ = writeln!(out, "\n*{leader}: {choice}.{how}*");
    if !decided.reasoning.trim().is_empty() {
        let _ = writeln!(out, "\n*{}*", decided.reasoning.trim().replace('\n', " "));
    }
}

fn write_partial(out: &mut String, partial: &str) {
    if !partial.trim().is_empty() {
        let _ = write!(out, "\n{}", quote(partial));
    }
}

fn quote(text: &str) -> String {
    let lines = text.trim().lines().map(|line| format!("> {line}\n"));
    lines.collect()
}
