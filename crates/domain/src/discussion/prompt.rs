//! The words sent to models. Topic, format, role and persona are in every prompt;
//! whatever somebody said goes in as quoted material.
//!
//! What is the same in every prompt comes first: the system prompt, the topic, and the
//! transcript, which grows at its end. What is asked for this time comes last. To all who
//! take part the same is said up to the end of the transcript, and only then who each of
//! them is, so that those on one model have its cache in common. Whoever leads has words of
//! its own, and comes back to them every time.

use std::sync::Arc;

use super::condense::{self, Piece, Quotation};
use super::{
    Entry, Participant, Role, Said, Seat, SeatId, Sitter, Spoken, State, Step, What, Why, decision,
    estimate,
};
use crate::call::{Ask, Message, Patience, Shape, Speaker};
use crate::ids::Nonce;
use crate::limits;
use crate::quote::{files, filled, named, quoted, quoting};

const PARTICIPANT: &str = include_str!("prompts/participant.md");
const TURN: &str = include_str!("prompts/turn.md");
const FACILITATOR: &str = include_str!("prompts/facilitator.md");
const DECIDE: &str = include_str!("prompts/decide.md");
const SYNTHESIS: &str = include_str!("prompts/synthesis.md");

pub struct Asked {
    pub ask: Ask,
    /// Pieces of the transcript that did not stand whole in it.
    pub condensed: u32,
}

/// The words of a prompt beside the topic and the transcript.
struct Words {
    system: String,
    /// The question of a turn. It comes right after the transcript, where everybody will
    /// find it later.
    question: Option<Quotation>,
    request: String,
    shape: Shape,
}

/// `None` when a person is asked.
pub fn ask(state: &State, step: &Step) -> Option<Asked> {
    let nonce = &step.nonce;
    let (seat, usual_ms, words) = match &step.what {
        What::Opening => (&state.facilitator, limits::FACILITATOR_MS, decide(state, 0, nonce)),
        What::Evaluation { turn } => {
            (&state.facilitator, limits::FACILITATOR_MS, decide(state, *turn, nonce))
        }
        What::Turn { turn, speaker, question } => {
            let seat = state.seat(speaker)?;
            let words = self::turn(state, nonce, *turn, seat, question)?;
            (seat, limits::TURN_MS, words)
        }
        What::Synthesis { by, why } => {
            (state.seat(by)?, limits::FACILITATOR_MS, synthesis(state, *why, nonce))
        }
    };
    asked(state, seat, usual_ms, words, nonce)
}

fn turn(state: &State, nonce: &Nonce, turn: u32, seat: &Seat, question: &str) -> Option<Words> {
    let role = state.role(&seat.id)?;
    let name = called(seat);
    let (turn, rounds, words) =
        (turn.to_string(), state.max_rounds.to_string(), words(seat).to_string());
    let persona = seat.persona.trim();
    let values = [
        ("name", name.as_str()),
        ("persona", if persona.is_empty() { "" } else { &format!("{persona}\n\n") }),
        ("role", role.instruction()),
        ("turn", &turn),
        ("rounds", &rounds),
        ("words", &words),
    ];
    Some(Words {
        system: participant(state, nonce),
        question: Some(question_to(&name, question)),
        request: filled(TURN, &values),
        shape: Shape::Free,
    })
}

/// The same for everybody who takes part.
fn participant(state: &State, nonce: &Nonce) -> String {
    let values = [
        ("facilitator", called(&state.facilitator)),
        ("format", state.format.instruction().to_owned()),
        ("everybody", everybody(state)),
        ("quoting", quoting(nonce)),
    ];
    filled(PARTICIPANT.trim(), &values.each_ref().map(|(key, value)| (*key, value.as_str())))
}

fn question_to(name: &str, question: &str) -> Quotation {
    Quotation { label: format!("question to {name}"), text: question.to_owned() }
}

fn decide(state: &State, turn: u32, nonce: &Nonce) -> Words {
    let max = state.max_rounds;
    let lead = match (turn, max.saturating_sub(turn)) {
        (0, left) => format!(
            "Nobody has spoken yet. There {}, with one speaker in each.{} Choose who speaks first, \
             and ask an opening question: decide now, with `continue`.",
            if left == 1 { "is 1 round".into() } else { format!("are at most {left} rounds") },
            barred(state)
        ),
        (turn, left) => format!(
            "Round {turn} of at most {max} is over; {}. {}{} Decide: go on with \
             `continue`, or end with `synthesize`.",
            if left == 1 { "1 round remains".into() } else { format!("{left} rounds remain") },
            so_far(state),
            barred(state)
        ),
    };
    let request = format!("{lead} Answer with one JSON object.\n");
    let shape = Shape::Json(state.with_choices(turn, decision::schema));
    Words { system: facilitator(state, nonce), question: None, request, shape }
}

fn synthesis(state: &State, why: Why, nonce: &Nonce) -> Words {
    let why = match why {
        Why::Decided => "You found that enough has been said.",
        Why::Rounds => "No rounds remain: you must synthesize now.",
        Why::Budget => "The budget is spent: you must synthesize now.",
        Why::Asked => "You are asked to conclude now, with what has been said so far.",
    };
    let absent = absent(state);
    let absent = match absent.as_slice() {
        [] => String::new(),
        names => format!("Say as well who was not heard: {}.", names.join("; ")),
    };
    let request = filled(SYNTHESIS.trim(), &[("why", why), ("absent", &absent)]);
    let request = format!("{}\n", request.trim_end());
    Words { system: facilitator(state, nonce), question: None, request, shape: Shape::Free }
}

/// Speakers who said nothing, and why.
pub fn absent(state: &State) -> Vec<String> {
    let silent =
        state.participants.iter().filter(|p| p.role.speaks() && spoken(state, &p.seat.id) == 0);
    silent
        .map(|p| {
            let was_asked = p.seat.is_person() && has_the_floor(state, &p.seat.id);
            let unsaid = if was_asked { "did not answer" } else { "was not asked" };
            let why = silence(state, &p.seat.id).unwrap_or(unsaid);
            format!("{} ({why})", called(&p.seat))
        })
        .collect()
}

/// Whether somebody was given the floor. Of a person who was still thinking when it ended
/// nothing else stands in the transcript; a model's turn leaves its place there.
fn has_the_floor(state: &State, id: &SeatId) -> bool {
    state.transcript.iter().any(|entry| match &entry.said {
        Said::Decision(decided) => decided.next.as_ref() == Some(id),
        Said::Turn { .. }
        | Said::Interjection { .. }
        | Said::Cut { .. }
        | Said::SynthesisFailed { .. } => false,
    })
}

/// How often somebody has said something.
fn spoken(state: &State, id: &SeatId) -> usize {
    let spoke = |entry: &&Arc<Entry>| match &entry.said {
        Said::Turn { speaker, spoken: Spoken::Words(_), .. } => speaker == id,
        Said::Turn { spoken: Spoken::Failed { .. }, .. }
        | Said::Decision(_)
        | Said::Interjection { .. }
        | Said::Cut { .. }
        | Said::SynthesisFailed { .. } => false,
    };
    state.transcript.iter().filter(spoke).count()
}

/// Why the last that somebody was asked brought no words.
fn silence(state: &State, id: &SeatId) -> Option<&'static str> {
    state.transcript.iter().rev().find_map(|entry| match &entry.said {
        Said::Turn { speaker, spoken: Spoken::Failed { failure, .. }, .. } if speaker == id => {
            Some(failure.kind.words())
        }
        Said::Cut { what: What::Turn { speaker, .. }, .. } if speaker == id => Some("was stopped"),
        Said::Turn { .. }
        | Said::Decision(_)
        | Said::Interjection { .. }
        | Said::Cut { .. }
        | Said::SynthesisFailed { .. } => None,
    })
}

/// The same for every step of the one who leads, whoever's model takes it.
fn facilitator(state: &State, nonce: &Nonce) -> String {
    let name = called(&state.facilitator);
    let speaks = state.participants.iter().filter(|p| p.role.speaks());
    let ids: Vec<String> = speaks.map(|p| format!("{:?}", p.seat.id.0)).collect();
    let values = [
        ("persona", state.facilitator.persona.trim()),
        ("name", name.as_str()),
        ("format", state.format.purpose()),
        ("roster", &roster(state)),
        ("quoting", &quoting(nonce)),
        ("decide", &DECIDE.trim().replace("{ids}", &ids.join(" or "))),
    ];
    filled(FACILITATOR.trim(), &values)
}

fn everybody(state: &State) -> String {
    let about = |p: &Participant| format!("{} ({})", called(&p.seat), role_words(p.role));
    let facilitator = format!("{} (leads)", called(&state.facilitator));
    let all = [facilitator].into_iter().chain(state.participants.iter().map(about));
    all.collect::<Vec<_>>().join(", ")
}

pub fn role_words(role: Role) -> &'static str {
    match role {
        Role::Participant => "participant",
        Role::Observer => "observer",
        Role::DevilAdvocate => "devil's advocate",
    }
}

/// Everybody whom the facilitator leads.
fn roster(state: &State) -> String {
    let line = |p: &Participant| {
        let about = named(&p.seat.description);
        let about = if about.is_empty() { about } else { format!(": {about}") };
        let note = if p.role.speaks() { "" } else { " (listens only, cannot be chosen)" };
        let (id, name, role) = (&p.seat.id.0, called(&p.seat), role_words(p.role));
        format!("- id {id:?}, {name}, {role}{about}{note}\n")
    };
    state.participants.iter().map(line).collect()
}

/// How often each of those has spoken who may.
fn so_far(state: &State) -> String {
    let speaks = state.participants.iter().filter(|p| p.role.speaks());
    let each = speaks.map(|p| {
        let (id, name) = (&p.seat.id, called(&p.seat));
        match (spoken(state, id), silence(state, id)) {
            (0, None) => format!("{name} has not spoken"),
            (0, Some(why)) => format!("{name} was asked and not heard: {why}"),
            (1, _) => format!("{name} has spoken once"),
            (many, _) => format!("{name} has spoken {many} times"),
        }
    });
    format!("So far {}.", each.collect::<Vec<_>>().join("; "))
}

fn barred(state: &State) -> String {
    let is_barred = |p: &&Participant| p.role.speaks() && !state.affords(&p.seat);
    let names: Vec<String> =
        state.participants.iter().filter(is_barred).map(|p| called(&p.seat)).collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!(" Without budget, and not to be chosen: {}.", names.join(", ")),
    }
}

/// A seat's name, as it may stand among words of ours.
fn called(seat: &Seat) -> String {
    named(&seat.name)
}

/// How long a turn should be, as a person would say it.
fn words(seat: &Seat) -> u32 {
    let Sitter::Model { bounds, window_tokens, .. } = &seat.sitter else { return TURN_WORDS };
    // A hard limit cuts an answer off in mid-sentence.
    let most = bounds.output_tokens.map_or(TURN_WORDS, |tokens| tokens / 2);
    let most = most.min(TURN_WORDS).min(window_tokens / 20);
    let step = if most < 100 { 10 } else { 50 };
    (most / step * step).max(10)
}

const SO_FAR: &str = "The discussion so far:\n\n";

/// Words that a turn should not pass.
const TURN_WORDS: u32 = 250;

fn asked(state: &State, seat: &Seat, usual_ms: u64, words: Words, nonce: &Nonce) -> Option<Asked> {
    let Sitter::Model { model, window_tokens, bounds, workspace } = &seat.sitter else {
        return None;
    };
    let Words { system, question, request, shape } = words;
    let files = files("\nThese files belong to the topic.", &state.context, nonce);
    let topic = format!("{}{files}\n", quoted("topic", &state.topic, nonce));
    let set = |quotation: &Quotation| quoted(&quotation.label, &quotation.text, nonce) + "\n";
    let question = question.as_ref().map(set);
    let answer_tokens = bounds.output_tokens.unwrap_or(limits::ANSWER_TOKENS);
    // At most a quarter of a small window is kept for the answer.
    let reserved = answer_tokens.min(window_tokens / 4).max(1);
    let bytes = u64::from(window_tokens.saturating_sub(reserved)) * estimate::DENSE_TOKEN_BYTES;
    let end = request.len() + question.as_ref().map_or(0, String::len);
    let least = limits::REQUEST_BYTES + question.as_ref().map_or(0, |_| longest_persona(state));
    let taken = system.len() + topic.len() + SO_FAR.len() + end.max(least);
    let room = usize::try_from(bytes).unwrap_or(usize::MAX).saturating_sub(taken);
    let fitted = condense::fit(pieces(state), room.max(limits::TRANSCRIPT_LEAST_BYTES));
    let left_out = fitted.left_out.map(|line| format!("[{line}]\n\n")).unwrap_or_default();
    let mut message = Message::new(Speaker::User, "");
    message.keep(&format!("{topic}{SO_FAR}{left_out}"));
    let said = fitted.pieces.iter().flat_map(Piece::quotations).map(set);
    said.chain(question).for_each(|part| message.keep(&part));
    message.text.push_str(&request);
    let ask = Ask {
        model: model.clone(),
        system,
        messages: vec![message],
        shape,
        patience: Patience {
            answer_ms: bounds.turn_ms.unwrap_or(usual_ms),
            answer_bytes: limits::TURN_BYTES,
            answer_tokens,
            ..Patience::default()
        },
        temperature: bounds.temperature,
        workspace: workspace.clone(),
    };
    Some(Asked { ask, condensed: fitted.condensed })
}

/// Whoever takes part is given the same transcript, so the room of one with a long persona
/// is everybody's.
fn longest_persona(state: &State) -> usize {
    let speak = state.participants.iter().filter(|participant| participant.role.speaks());
    speak.map(|participant| participant.seat.persona.len()).max().unwrap_or_default()
}

/// What has been said, as everybody heard it. Partial texts are not passed on.
fn pieces(state: &State) -> Vec<Piece> {
    state.transcript.iter().filter_map(|entry| piece(state, entry)).collect()
}

fn piece(state: &State, entry: &Entry) -> Option<Piece> {
    match &entry.said {
        Said::Turn { turn, speaker, question, spoken, .. } => {
            let name = state.seat(speaker).map_or_else(|| named(&speaker.0), |seat| called(seat));
            let role = state.role(speaker).map_or("", role_words);
            let said = match spoken {
                Spoken::Words(answer) => answer.text.clone(),
                Spoken::Failed { failure, .. } => format!("(no answer: {})", failure.kind.words()),
            };
            let label = format!("turn {turn} by {name}, {role}");
            Some(Piece {
                asked: (!question.is_empty()).then(|| question_to(&name, question)),
                said: Quotation { label, text: said },
            })
        }
        Said::Interjection { by, text } => {
            let label = format!("said by {}, a person in the room", named(by));
            Some(Piece { asked: None, said: Quotation { label, text: text.clone() } })
        }
        Said::Decision(_) | Said::Cut { .. } | Said::SynthesisFailed { .. } => None,
    }
}
