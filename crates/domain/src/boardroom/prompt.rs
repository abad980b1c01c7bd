//! The words sent to models. Whatever a model or a file says goes in as quoted
//! material between delimiters that carry a nonce.

use super::ballot::{self, Held};
use super::verdict::HEADINGS;
use super::{Absent, Advisor, ContextFile, Sitter, Standing, State, Synthesis};
use crate::call::{Ask, Message, Patience, Shape, Speaker};
use crate::ids::Nonce;
use crate::quote::{files, quoted};

const SYNTHESIS: &str = include_str!("prompts/synthesis.md");
const BALLOT: &str = include_str!("prompts/ballot.md");

pub fn advisor(state: &State, advisor: &Advisor) -> Option<Ask> {
    let Sitter::Model(model) = &advisor.seat.sitter else { return None };
    let own = advisor.seat.system_prompt.as_deref();
    let system = own.unwrap_or_else(|| advisor.seat.role.system_prompt());
    Some(Ask {
        model: model.clone(),
        system: system.trim().to_owned(),
        messages: vec![Message {
            speaker: Speaker::User,
            text: question(&state.prompt, &state.context, &state.nonce),
        }],
        shape: Shape::Free,
        patience: Patience::default(),
        workspace: None,
    })
}

fn question(prompt: &str, context: &[ContextFile], nonce: &Nonce) -> String {
    format!("{prompt}{}", files(context, nonce))
}

pub fn synthesis(state: &State, synthesis: &Synthesis) -> Ask {
    let nonce = &synthesis.nonce;
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
            instruction.trim()
        ));
    }
    text.push_str("Write the synthesis of these answers now. Begin with `## Consensus`.\n");
    Ask {
        model: synthesis.model.clone(),
        system: SYNTHESIS.trim().replace("{nonce}", &nonce.0),
        messages: vec![Message { speaker: Speaker::User, text }],
        shape: Shape::Headings(&HEADINGS),
        patience: Patience::default(),
        workspace: None,
    }
}

pub fn ballot(state: &State, held: &Held, advisor: &Advisor) -> Option<Ask> {
    let (Sitter::Model(model), Standing::Done(answer)) = (&advisor.seat.sitter, &advisor.standing)
    else {
        return None;
    };
    let nonce = &held.nonce;
    let mut text = quoted("question", &state.prompt, nonce);
    text.push('\n');
    text.push_str(&quoted("your own answer", &answer.text, nonce));
    for point in &held.points {
        let label = format!("point {}, {}", point.number, point.section.heading());
        text.push('\n');
        text.push_str(&quoted(&label, &point.text, nonce));
    }
    let last = held.points.len();
    text.push_str(&format!("\nVote now on the points 1 to {last}, as one JSON object.\n"));
    let system = BALLOT.trim().replace("{nonce}", &nonce.0);
    Some(Ask {
        model: model.clone(),
        system: system.replace("{role}", advisor.seat.role.name()),
        messages: vec![Message { speaker: Speaker::User, text }],
        shape: Shape::Json(ballot::schema(&held.points)),
        patience: Patience::default(),
        workspace: None,
    })
}

fn missing(state: &State, absent: &[Absent]) -> String {
    let names: Vec<String> =
        absent.iter().map(|a| format!("{} ({})", state.label(a.seat), a.why)).collect();
    format!("Not heard: {}. Say in the consensus that their views are missing.\n", names.join(", "))
}
