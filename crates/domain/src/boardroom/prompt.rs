//! The words sent to models. Whatever a model or a file says goes in as quoted
//! material.
//!
//! What is the same in several prompts comes first. All advisors are sent the same
//! message; who votes goes on from its own answer, with its own system prompt.

use super::ballot::{self, Held};
use super::verdict::HEADINGS;
use super::{Absent, Advisor, Sitter, Standing, State, Synthesis};
use crate::call::{Ask, Message, Patience, Shape, Speaker};
use crate::quote::{defused, files, quoted, quoting};

const SYNTHESIS: &str = include_str!("prompts/synthesis.md");
const BALLOT: &str = include_str!("prompts/ballot.md");

pub fn advisor(state: &State, advisor: &Advisor) -> Option<Ask> {
    let Sitter::Model(model) = &advisor.seat.sitter else { return None };
    let own = advisor.seat.system_prompt.as_deref();
    let system = own.unwrap_or_else(|| advisor.seat.role.system_prompt());
    Some(Ask {
        model: model.clone(),
        system: system.trim().to_owned(),
        messages: vec![question(state)],
        shape: Shape::Free,
        patience: Patience::default(),
        workspace: None,
    })
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
    for advisor in &state.advisors {
        // The basis was fixed when the synthesis began.
        if let (Standing::Done(answer), true) =
            (&advisor.standing, synthesis.basis.contains(&advisor.seat.id))
        {
            let label = format!("advisor {}", state.label(advisor.seat.id));
            text.push('\n');
            text.push_str(&quoted(&label, &answer.text, nonce));
        }
    }
    text.push('\n');
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
    Ask {
        model: synthesis.model.clone(),
        system: SYNTHESIS.trim().replace("{quoting}", &quoting(nonce)),
        messages: vec![Message::new(Speaker::User, text)],
        shape: Shape::Headings(&HEADINGS),
        patience: Patience::default(),
        workspace: None,
    }
}

pub fn ballot(state: &State, held: &Held, advisor: &Advisor) -> Option<Ask> {
    let Standing::Done(answer) = &advisor.standing else { return None };
    let mut ask = self::advisor(state, advisor)?;
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
