//! The words sent to models. Topic, format, role and persona are in every prompt;
//! whatever somebody said goes in as quoted material.

use std::sync::Arc;

use super::condense::{self, Piece};
use super::{
    Choice, Entry, Participant, Role, Said, Seat, SeatId, Sitter, Spoken, State, Step, What, Why,
    decision, estimate,
};
use crate::call::{Ask, Message, Patience, Shape, Speaker};
use crate::ids::Nonce;
use crate::limits;
use crate::quote::{files, filled, named, quoted};

const PARTICIPANT: &str = include_str!("prompts/participant.md");
const FACILITATOR: &str = include_str!("prompts/facilitator.md");
const DECIDE: &str = include_str!("prompts/decide.md");
const SYNTHESIS: &str = include_str!("prompts/synthesis.md");

pub struct Asked {
    pub ask: Ask,
    /// Pieces of the transcript that did not stand whole in it.
    pub condensed: u32,
}

/// `None` when a person is asked.
pub fn ask(state: &State, step: &Step) -> Option<Asked> {
    match &step.what {
        What::Opening => decide(state, step, 0),
        What::Evaluation { turn } => decide(state, step, *turn),
        What::Turn { turn, speaker, question } => {
            self::turn(state, &step.nonce, *turn, speaker, question)
        }
        What::Synthesis { by, why } => synthesis(state, &step.nonce, by, *why),
    }
}

fn turn(
    state: &State,
    nonce: &Nonce,
    turn: u32,
    speaker: &SeatId,
    question: &str,
) -> Option<Asked> {
    let seat = state.seat(speaker)?;
    let role = state.role(speaker)?;
    let words = words(seat).to_string();
    let (name, facilitator) = (&called(seat), &called(&state.facilitator));
    let values = [
        ("name", name.as_str()),
        ("facilitator", facilitator),
        ("persona", seat.persona.trim()),
        ("format", state.format.instruction()),
        ("role", role.instruction()),
        ("others", &others(state, speaker)),
        ("nonce", &nonce.0),
        ("words", &words),
    ];
    let system = filled(PARTICIPANT.trim(), &values);
    let request = format!(
        "This is round {turn} of at most {}. {facilitator} asks you, {name}:\n\n{}\n\
         Answer now, as {name}.\n",
        state.max_rounds,
        quoted("question", question, nonce)
    );
    asked(state, seat, limits::TURN_MS, system, request, Shape::Free, nonce)
}

fn decide(state: &State, step: &Step, turn: u32) -> Option<Asked> {
    let seat = &state.facilitator;
    let left = state.max_rounds.saturating_sub(turn);
    let (lead, end) = if turn == 0 {
        let lead = "Nobody has spoken yet. Choose who speaks first, and ask an opening question.";
        (lead.to_owned(), "")
    } else {
        let rounds =
            if left == 1 { "1 round remains".into() } else { format!("{left} rounds remain") };
        let lead = format!(
            "Round {turn} of at most {} is over; {rounds}. Decide: go on with `continue`, or end with \
             `synthesize` when enough has been said.",
            state.max_rounds
        );
        (lead, "With `synthesize`, `nextParticipantId` is \"none\" and `question` is \"\".")
    };
    let speakers = state.speakers();
    let ids: Vec<String> = speakers.iter().map(|p| format!("{:?}", p.seat.id.0)).collect();
    let decisions = match turn {
        0 => r#""continue""#.to_owned(),
        _ => format!("{:?} or {:?}", Choice::Continue.name(), Choice::Synthesize.name()),
    };
    let form = DECIDE.trim().replace("{decisions}", &decisions);
    let form = form.replace("{end}", end).replace("{ids}", &ids.join(" or "));
    let request = format!("Participants:\n{}\n{lead}\n\n{form}\n", roster(state));
    let schema = state.with_choices(turn, decision::schema);
    let system = facilitator(state, &step.nonce);
    let shape = Shape::Json(schema);
    let nonce = &step.nonce;
    asked(state, seat, limits::FACILITATOR_MS, system, request, shape, nonce)
}

fn synthesis(state: &State, nonce: &Nonce, by: &SeatId, why: Why) -> Option<Asked> {
    let seat = state.seat(by)?;
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
    let form = filled(SYNTHESIS.trim(), &[("absent", &absent)]);
    let request = format!("Who took part: {}.\n\n{why} {form}\n", heard(state));
    let system = facilitator(state, nonce);
    asked(state, seat, limits::FACILITATOR_MS, system, request, Shape::Free, nonce)
}

/// Speakers who said nothing, and why.
pub fn absent(state: &State) -> Vec<String> {
    let silent =
        state.participants.iter().filter(|p| p.role.speaks() && spoken(state, &p.seat.id) == 0);
    silent
        .map(|p| {
            format!(
                "{} ({})",
                called(&p.seat),
                silence(state, &p.seat.id).unwrap_or("was not asked")
            )
        })
        .collect()
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

/// Everybody, for the one who concludes.
fn heard(state: &State) -> String {
    let about = |p: &Participant| format!("{} ({})", called(&p.seat), role_words(p.role));
    state.participants.iter().map(about).collect::<Vec<_>>().join(", ")
}

fn facilitator(state: &State, nonce: &Nonce) -> String {
    let name = called(&state.facilitator);
    let values = [
        ("persona", state.facilitator.persona.trim()),
        ("name", name.as_str()),
        ("format", state.format.instruction()),
        ("nonce", nonce.0.as_str()),
    ];
    filled(FACILITATOR.trim(), &values)
}

fn others(state: &State, speaker: &SeatId) -> String {
    let about = |p: &Participant| format!("{} ({})", called(&p.seat), role_words(p.role));
    let others = state.participants.iter().filter(|p| p.seat.id != *speaker).map(about);
    let facilitator = format!("{} (leads)", called(&state.facilitator));
    [facilitator].into_iter().chain(others).collect::<Vec<_>>().join(", ")
}

pub fn role_words(role: Role) -> &'static str {
    match role {
        Role::Participant => "participant",
        Role::Observer => "observer",
        Role::DevilAdvocate => "devil's advocate",
    }
}

/// Everybody whom the facilitator leads, and how often each has spoken.
fn roster(state: &State) -> String {
    let line = |p: &Participant| {
        let id = &p.seat.id;
        let about = named(&p.seat.description);
        let about = if about.is_empty() { about } else { format!(": {about}") };
        let note = match (p.role.speaks(), state.affords(&p.seat), spoken(state, id)) {
            (false, _, _) => "listens only, cannot be chosen".to_owned(),
            (true, false, _) => "has no budget left, cannot be chosen".to_owned(),
            (true, true, 0) => match silence(state, id) {
                None => "has not spoken".to_owned(),
                Some(why) => format!("was asked and not heard: {why}"),
            },
            (true, true, 1) => "has spoken once".to_owned(),
            (true, true, many) => format!("has spoken {many} times"),
        };
        format!("- id {:?}, {}, {}{about} ({note})\n", id.0, called(&p.seat), role_words(p.role))
    };
    state.participants.iter().map(line).collect()
}

/// A seat's name, as it may stand among words of ours.
fn called(seat: &Seat) -> String {
    named(&seat.name)
}

fn words(seat: &Seat) -> u32 {
    let Sitter::Model { bounds, window_tokens, .. } = &seat.sitter else { return TURN_WORDS };
    // A hard limit cuts an answer off, and a cut answer counts for nothing.
    let most = bounds.output_tokens.map_or(TURN_WORDS, |tokens| tokens / 2);
    most.min(TURN_WORDS).min((window_tokens / 20).max(10))
}

const SO_FAR: &str = "The discussion so far:\n\n";

/// Words that a turn should not pass.
const TURN_WORDS: u32 = 250;

fn asked(
    state: &State,
    seat: &Seat,
    usual_ms: u64,
    system: String,
    request: String,
    shape: Shape,
    nonce: &Nonce,
) -> Option<Asked> {
    let Sitter::Model { model, window_tokens, bounds, workspace } = &seat.sitter else {
        return None;
    };
    let mut topic = quoted("topic", &state.topic, nonce);
    if !state.context.is_empty() {
        topic.push('\n');
        topic.push_str(files(&state.context, nonce).trim_start());
    }
    topic.push('\n');
    let answer_tokens = bounds.output_tokens.unwrap_or(limits::ANSWER_TOKENS);
    // At most a quarter of a small window is kept for the answer.
    let reserved = answer_tokens.min(window_tokens / 4).max(1);
    let bytes = u64::from(window_tokens.saturating_sub(reserved)) * estimate::DENSE_TOKEN_BYTES;
    let taken = system.len() + topic.len() + SO_FAR.len() + request.len();
    let room = usize::try_from(bytes).unwrap_or(usize::MAX).saturating_sub(taken);
    let fitted = condense::fit(pieces(state), room.max(limits::TRANSCRIPT_LEAST_BYTES));
    let mut text = topic;
    if !fitted.pieces.is_empty() {
        text.push_str(SO_FAR);
    }
    if let Some(left_out) = &fitted.left_out {
        text.push_str(&format!("[{left_out}]\n\n"));
    }
    for piece in &fitted.pieces {
        text.push_str(&quoted(&piece.label, &piece.words(), nonce));
        text.push('\n');
    }
    text.push_str(&request);
    let ask = Ask {
        model: model.clone(),
        system,
        messages: vec![Message { speaker: Speaker::User, text }],
        shape,
        patience: Patience {
            answer_ms: bounds.turn_ms.unwrap_or(usual_ms),
            answer_bytes: limits::TURN_BYTES,
            answer_tokens,
            ..Patience::default()
        },
        workspace: workspace.clone(),
    };
    Some(Asked { ask, condensed: fitted.condensed })
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
            Some(Piece {
                label: format!("turn {turn} by {name}, {role}"),
                asked: format!("Asked: {question}\n"),
                text: said,
            })
        }
        Said::Interjection { by, text } => Some(Piece {
            label: format!("said by {}, a person in the room", named(by)),
            asked: String::new(),
            text: text.clone(),
        }),
        Said::Decision(_) | Said::Cut { .. } | Said::SynthesisFailed { .. } => None,
    }
}
