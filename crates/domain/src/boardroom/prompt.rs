//! The words sent to models. Whatever a model or a file says goes in as quoted
//! material.
//!
//! What is the same in several prompts comes first. All advisors are sent the same
//! message; who votes goes on from its own answer, with its own system prompt.

use super::ballot;
use super::verdict::HEADINGS;
use super::{Absent, Advisor, Brief, FollowUp, Seat, Sitter, State, Synthesis, Terms};
use crate::call::{Ask, Message, Patience, Shape, Speaker};
use crate::quote::{defused, files, named, quoted, quoting};

const SYNTHESIS: &str = include_str!("prompts/synthesis.md");
const ANSWER: &str = include_str!("prompts/answer.md");
const SHAPE: &str = include_str!("prompts/shape.md");
/// To the only model of a board, where whoever asks has given no instructions.
const SOLE: &str = "Answer the question as well as you can, in its language.";
const INSTRUCTIONS: &str = "Whoever asks has given these instructions for the answer:";
const VERDICT: &str = "The board's secretary has drawn this verdict from the answers so far.";
const OWN: &str = include_str!("prompts/own.md");
const AS: &str = "You sit on a board of advisors as the {name}. Answer the question as who you are, in the \
    language of the question, and in at most 400 words unless more is asked for.";
const BALLOT: &str = include_str!("prompts/ballot.md");

pub fn advisor(state: &State, advisor: &Advisor) -> Option<Ask> {
    asked(state, advisor, advisor.round)
}

/// The question of this round, after what the advisor has been asked and has said before.
fn asked(state: &State, advisor: &Advisor, round: u32) -> Option<Ask> {
    let Sitter::Model(model) = &advisor.seat.sitter else { return None };
    let brief = state.brief(round);
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
        if let Some(last) = messages.last_mut() {
            last.images.extend(follow_up.brief.images.iter().cloned());
        }
    }
    let wanted = if brief.sole { brief.clone() } else { Brief::default() };
    Some(advisor.seat.seated.asked(Ask {
        model: model.clone(),
        system: told(&advisor.seat, &state.terms, brief),
        messages,
        shape: wanted.schema.map_or(Shape::Free, Shape::Json),
        patience: patience(wanted.answer_tokens),
        temperature: None,
        workspace: None,
    }))
}

/// Who the advisor is, then its part, then what holds for all of the board.
pub fn system(seat: &Seat, terms: &Terms) -> String {
    let own = seat.system_prompt.as_deref().filter(|own| !own.trim().is_empty());
    let part = match (own, &seat.own) {
        (Some(own), _) => own.to_owned(),
        (None, Some(role)) if seat.seated.persona.trim().is_empty() => {
            OWN.replace("{name}", &named(&role.name))
        }
        // Whoever it is knows what to look at; the role is only what it is called here.
        (None, Some(role)) => AS.replace("{name}", &named(&role.name)),
        (None, None) => seat.role.system_prompt().to_owned(),
    };
    let system = seat.seated.system(&part);
    match &terms.language {
        Some(language) => format!("{system}\n\n{}", in_language(language)),
        None => system,
    }
}

fn in_language(language: &str) -> String {
    format!("Whatever the language of the question, answer in {}.", named(language))
}

/// The role's words, then those of whoever asks. The only model of a board has no role.
fn told(seat: &Seat, terms: &Terms, brief: &Brief) -> String {
    let given = brief.instructions.as_deref().map(str::trim);
    let mut told = match brief.sole {
        true => given.unwrap_or(SOLE).to_owned(),
        false => {
            let own = system(seat, terms);
            given.map(|given| format!("{own}\n\n{INSTRUCTIONS}\n\n{given}")).unwrap_or(own)
        }
    };
    if let Some(schema) = brief.schema.as_ref().filter(|_| brief.sole) {
        told.push_str(&format!("\n\n{}", in_shape(schema)));
    }
    told
}

fn in_shape(schema: &serde_json::Value) -> String {
    format!(
        "Answer with one JSON value that follows this JSON schema, and with nothing else:\n\n{schema}"
    )
}

fn patience(answer_tokens: Option<u32>) -> Patience {
    let usual = Patience::default();
    Patience { answer_tokens: answer_tokens.unwrap_or(usual.answer_tokens), ..usual }
}

/// What all to whom it is put are told alike: the verdict before it, then the question.
fn further(state: &State, follow_up: &FollowUp) -> String {
    let mut text = String::new();
    let verdict = state.verdict(follow_up.round - 1);
    let about = format!("\n\nThese files belong to it. They {}", quoting(&state.nonce));
    let files = files(&about, &follow_up.brief.files, &state.nonce);
    // Where nobody draws a verdict, the answer before it is the verdict.
    if follow_up.brief.sole {
        return format!("{}{files}", follow_up.prompt);
    }
    if let Some(verdict) = verdict {
        let quoting = quoting(&state.nonce);
        text = format!("{VERDICT} Its words {quoting}\n\n");
        text.push_str(&quoted("verdict", verdict, &state.nonce));
        text.push('\n');
    }
    text.push_str("The next question to the board:\n\n");
    text.push_str(&follow_up.prompt);
    text.push_str(&files);
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
    message.images.extend(state.brief(1).images.iter().cloned());
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
        let several = synthesis.basis.iter().filter(|other| other.seat == id.seat).count() > 1;
        let label = match several {
            true => format!("advisor {}, answer {}", state.label(id.seat), id.asked),
            false => format!("advisor {}", state.label(id.seat)),
        };
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
    if synthesis.seats().len() < synthesis.basis.len() {
        text.push_str(
            "Several answers of one advisor are tries at the same question: take them as one view, \
             and say where they differ.\n",
        );
    }
    if !synthesis.absent.is_empty() {
        text.push_str(&missing(state, &synthesis.absent));
    }
    let brief = state.brief(synthesis.round);
    text.push_str(&shown(brief));
    let wishes = [brief.instructions.as_deref(), synthesis.instruction.as_deref()];
    for instruction in wishes.into_iter().flatten() {
        let instruction = defused(instruction.trim(), nonce);
        text.push_str(&format!("The reader asks of this synthesis: {instruction}\n"));
        if brief.schema.is_none() {
            text.push_str("Keep the four headings as they are.\n");
        }
    }
    let (system, shape) = match &brief.schema {
        None => {
            text.push_str("Write the synthesis of these answers now. Begin with `## Consensus`.\n");
            (SYNTHESIS, Shape::Headings(&HEADINGS))
        }
        Some(schema) => {
            text.push_str(&format!("Write the board's answer now. {}\n", in_shape(schema)));
            (ANSWER, Shape::Json(schema.clone()))
        }
    };
    let mut messages = vec![Message::new(Speaker::User, text)];
    if let Some(unshaped) = synthesis.unshaped() {
        let again = match &brief.schema {
            None => SHAPE.trim().to_owned(),
            Some(_) => format!("{} Write it once more.", unshaped.failure.message),
        };
        messages.push(Message::new(Speaker::Assistant, defused(&unshaped.text, nonce)));
        messages.push(Message::new(Speaker::User, again));
    }
    let mut system =
        state.terms.synthesizer.system(&system.trim().replace("{quoting}", &quoting(nonce)));
    if let Some(language) = &state.terms.language {
        system = format!("{system} {}", in_language(language));
        if brief.schema.is_none() {
            system.push_str(" The four headings stay in English.");
        }
    }
    let ask = Ask {
        model: synthesis.model.clone(),
        system,
        messages,
        shape,
        patience: patience(brief.answer_tokens),
        temperature: None,
        workspace: None,
    };
    // It reads what others said, and touches nothing meanwhile.
    Ask { workspace: None, ..state.terms.synthesizer.asked(ask) }
}

/// Whoever writes the synthesis does not see what the advisors were shown.
fn shown(brief: &Brief) -> String {
    let names: Vec<String> = brief.images.iter().map(|image| named(&image.name)).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("The advisors were shown these images: {}.\n", names.join(", ")),
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
