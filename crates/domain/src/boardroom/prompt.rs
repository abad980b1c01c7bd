//! The words sent to models. Whatever a model or a file says goes in as quoted
//! material.
//!
//! What is the same in several prompts comes first. All advisors are sent the same
//! message; who votes goes on from its own answer, with its own system prompt.

use super::ballot;
use super::verdict::HEADINGS;
use super::{Absent, Advisor, FollowUp, Sitter, State, Synthesis};
use crate::call::{Ask, Message, Patience, Shape, Speaker};
use crate::quote::{defused, files, quoted, quoting};

const SYNTHESIS: &str = include_str!("prompts/synthesis.md");
const SHAPE: &str = include_str!("prompts/shape.md");
const VERDICT: &str = "The board's secretary has drawn this verdict from the answers so far.";
const BALLOT: &str = include_str!("prompts/ballot.md");

pub fn advisor(state: &State, advisor: &Advisor) -> Option<Ask> {
    asked(state, advisor, advisor.round)
}

/// The question of this round, after what the advisor has been asked and has said before.
fn asked(state: &State, advisor: &Advisor, round: u32) -> Option<Ask> {
    let Sitter::Model(model) = &advisor.seat.sitter else { return None };
    let own = advisor.seat.system_prompt.as_deref();
    let system = own.unwrap_or_else(|| advisor.seat.role.system_prompt());
    let mut messages = vec![question(state)];
    for follow_up in state.follow_ups.iter().take_while(|follow_up| follow_up.round <= round) {
        let said = advisor.answer_in(follow_up.round - 1);
        let said = said.map(|answer| defused(&answer.text, &state.nonce));
        messages.extend(said.map(|said| Message::new(Speaker::Assistant, said)));
        let further = further(state, follow_up);
        match messages.last_mut() {
            // Who has not answered is asked all that has come since at once.
            Some(last) if last.speaker == Speaker::User => {
                last.text.push_str("\n\n");
                last.text.push_str(&further);
            }
            Some(_) | None => messages.push(Message::new(Speaker::User, further)),
        }
    }
    Some(Ask {
        model: model.clone(),
        system: system.trim().to_owned(),
        messages,
        shape: Shape::Free,
        patience: Patience::default(),
        workspace: None,
    })
}

/// What all to whom it is put are told alike: the verdict before it, then the question.
fn further(state: &State, follow_up: &FollowUp) -> String {
    let mut text = String::new();
    if let Some(verdict) = state.verdict(follow_up.round - 1) {
        let quoting = quoting(&state.nonce);
        text = format!("{VERDICT} Its words {quoting}\n\n");
        text.push_str(&quoted("verdict", verdict, &state.nonce));
        text.push('\n');
    }
    text.push_str("The next question to the board:\n\n");
    text.push_str(&follow_up.prompt);
    text
}

fn question(state: &State) -> Message {
    let about = format!("\n\nThese files belong to the question. They {}", quoting(&state.nonce));
    let text = format!("{}{}", state.prompt, files(&about, &state.context, &state.nonce));
    let mut message = Message::new(Speaker::User, "");
    match state.ballot {
        true => message.keep(&text),
        // Keeping what nobody will ask for again costs more than it saves.
        false => message.text = text,
    }
    message
}

pub fn synthesis(state: &State, synthesis: &Synthesis) -> Ask {
    let nonce = &state.nonce;
    let mut text = quoted("question", &state.prompt, nonce);
    let follow_ups = state.follow_ups.iter();
    for follow_up in follow_ups.take_while(|follow_up| follow_up.round <= synthesis.round) {
        let round = follow_up.round;
        if let Some(verdict) = state.verdict(round - 1) {
            text.push('\n');
            text.push_str(&quoted("earlier verdict", verdict, nonce));
        }
        text.push('\n');
        text.push_str(&quoted(&format!("question {round}"), &follow_up.prompt, nonce));
    }
    for (id, answer) in synthesis.basis.iter().filter_map(|id| Some((id, state.answer(*id)?))) {
        let label = format!("advisor {}", state.label(id.seat));
        text.push('\n');
        text.push_str(&quoted(&label, &answer.text, nonce));
    }
    text.push('\n');
    if synthesis.round > 1 {
        text.push_str(&format!(
            "The answers are to question {}; what was asked before and the verdicts on it only say \
             what led there.\n",
            synthesis.round
        ));
    }
    if !synthesis.absent.is_empty() {
        text.push_str(&missing(state, &synthesis.absent));
    }
    if let Some(instruction) = &synthesis.instruction {
        text.push_str(&format!(
            "The reader asks of this synthesis: {}\nKeep the four headings as they are.\n",
            defused(instruction.trim(), nonce)
        ));
    }
    text.push_str("Write the synthesis of these answers now. Begin with `## Consensus`.\n");
    let mut messages = vec![Message::new(Speaker::User, text)];
    if let Some(unshaped) = synthesis.unshaped() {
        messages.push(Message::new(Speaker::Assistant, defused(&unshaped.text, nonce)));
        messages.push(Message::new(Speaker::User, SHAPE.trim()));
    }
    Ask {
        model: synthesis.model.clone(),
        system: SYNTHESIS.trim().replace("{quoting}", &quoting(nonce)),
        messages,
        shape: Shape::Headings(&HEADINGS),
        patience: Patience::default(),
        workspace: None,
    }
}

pub fn ballot(state: &State, synthesis: &Synthesis, advisor: &Advisor) -> Option<Ask> {
    let held = synthesis.held()?;
    let own = synthesis.basis.iter().find(|id| id.seat == advisor.seat.id)?;
    let answer = state.answer(*own)?;
    let mut ask = asked(state, advisor, own.round)?;
    let nonce = &state.nonce;
    let mut text = BALLOT.trim().replace("{quoting}", &quoting(nonce));
    text = text.replace("{name}", &state.label(advisor.seat.id)) + "\n";
    for point in &held.points {
        let label = format!("point {}, {}", point.number, point.section.heading());
        text.push('\n');
        text.push_str(&quoted(&label, &point.text, nonce));
    }
    let last = held.points.len();
    text.push_str(&format!("\nVote now on the points 1 to {last}, as one JSON object.\n"));
    ask.messages.push(Message::new(Speaker::Assistant, defused(&answer.text, nonce)));
    ask.messages.push(Message::new(Speaker::User, text));
    ask.shape = Shape::Json(ballot::schema(&held.points));
    Some(ask)
}

fn missing(state: &State, absent: &[Absent]) -> String {
    let names: Vec<String> =
        absent.iter().map(|a| format!("{} ({})", state.label(a.seat), a.why)).collect();
    format!("Not heard: {}. Say in the consensus that their views are missing.\n", names.join(", "))
}
