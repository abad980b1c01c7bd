//! What a discussion's input must be like. Every wrong field is named at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::{Choice, Create, Event, Participant, Said, Seat, SeatId, Sitter, State, plan};
use crate::ids::Nonce;
use crate::limits;
use crate::names::check_model_name;
use crate::quote::check_files;
use crate::reject::{Reject, Wrong, settled, size, text};
use crate::room::title;

pub fn create(create: Create, at: Timestamp, nonce: Nonce) -> Result<Vec<Event>, Reject> {
    let mut wrong = vec![];
    text(&mut wrong, "topic", &create.topic, limits::PROMPT_BYTES);
    check_files(&mut wrong, &create.context);
    size(&mut wrong, "name", &create.name, limits::DISCUSSION_NAME_BYTES);
    rounds(&mut wrong, create.max_rounds, 1);
    if create.budget_tokens.is_some_and(|budget| budget < limits::BUDGET_TOKENS_LEAST) {
        let least = limits::BUDGET_TOKENS_LEAST;
        wrong.push(Wrong::new("budgetTokens", format!("must be at least {least}")));
    }
    if let Some(project) = create.project.as_deref() {
        text(&mut wrong, "project", project, limits::PROJECT_BYTES);
    }
    check_seats(&mut wrong, &create.facilitator, &create.participants);
    settled(wrong)?;
    let name = create.name.trim();
    let name = if name.is_empty() { title(&create.topic) } else { name.to_owned() };
    let facilitator = Arc::new(create.facilitator);
    let created = Event::Created {
        name,
        topic: Arc::from(create.topic),
        format: create.format,
        context: Arc::from(create.context),
        facilitator: facilitator.clone(),
        participants: Arc::from(create.participants),
        max_rounds: create.max_rounds,
        budget_tokens: create.budget_tokens,
        project: create.project,
        at,
    };
    let started = create.start.map(|estimate| plan::opening(&facilitator, estimate, at, nonce));
    Ok([created].into_iter().chain(started.into_iter().flatten()).collect())
}

pub fn rounds(wrong: &mut Vec<Wrong>, rounds: u32, least: u32) {
    let most = limits::ROUNDS_MOST;
    if rounds < least || rounds > most {
        wrong.push(Wrong::new("maxRounds", format!("must be from {least} to {most}")));
    }
}

/// Whether these seats can hold a discussion.
pub fn seats(facilitator: &Seat, participants: &[Participant]) -> Result<(), Reject> {
    let mut wrong = vec![];
    check_seats(&mut wrong, facilitator, participants);
    settled(wrong)
}

fn check_seats(wrong: &mut Vec<Wrong>, facilitator: &Seat, participants: &[Participant]) {
    seat(wrong, "facilitator", facilitator);
    if !participants.iter().any(|participant| participant.role.speaks()) {
        let problem = "at least one participant who speaks is needed; observers only listen";
        wrong.push(Wrong::new("participants", problem));
    }
    let mut taken = BTreeSet::from([facilitator.name.to_lowercase()]);
    for (place, participant) in participants.iter().enumerate() {
        let field = format!("participants[{place}]");
        seat(wrong, &field, &participant.seat);
        other(wrong, &field, &participant.seat, facilitator, &participants[..place]);
        if !taken.insert(participant.seat.name.to_lowercase()) {
            let problem = format!("two seats are called {:?}", participant.seat.name);
            wrong.push(Wrong::new(format!("{field}.name"), problem));
        }
    }
    let most = limits::PARTICIPANTS;
    if participants.len() > most {
        wrong.push(Wrong::new("participants", format!("at most {most} can take part")));
    }
}

/// The seat is not the facilitator's, and nobody sits in it yet.
pub fn other(
    wrong: &mut Vec<Wrong>,
    field: &str,
    seat: &Seat,
    facilitator: &Seat,
    others: &[Participant],
) {
    let same =
        |other: &Seat| other.id == seat.id || other.agent.is_some() && other.agent == seat.agent;
    if same(facilitator) {
        let problem = format!("{} leads the discussion and cannot take part too", seat.name);
        wrong.push(Wrong::new(field, problem));
    }
    if others.iter().any(|participant| same(&participant.seat)) {
        wrong.push(Wrong::new(field, format!("{} takes part already", seat.name)));
    }
}

pub fn seat(wrong: &mut Vec<Wrong>, field: &str, seat: &Seat) {
    let name = format!("{field}.name");
    text(wrong, &name, &seat.name, limits::SEAT_NAME_BYTES);
    if seat.name.chars().any(char::is_control) {
        wrong.push(Wrong::new(name, "must not hold control characters"));
    }
    text(wrong, &format!("{field}.id"), &seat.id.0, limits::SEAT_NAME_BYTES);
    size(wrong, &format!("{field}.persona"), &seat.persona, limits::STORED_PERSONA_BYTES);
    match &seat.sitter {
        Sitter::Model { model, .. } => {
            if let Err(problem) = check_model_name(model) {
                wrong.push(Wrong::new(format!("{field}.model"), problem));
            }
        }
        Sitter::Person { reply_within_ms } => {
            let lawful = 1_000..=limits::REPLY_MOST_MS;
            if reply_within_ms.is_some_and(|ms| !lawful.contains(&ms)) {
                let problem = "must be from 1 second to 30 days";
                wrong.push(Wrong::new(format!("{field}.replyWithinSeconds"), problem));
            }
        }
    }
}

pub fn interjection(state: &State, by: &str, said: &str) -> Result<(), Reject> {
    let mut wrong = vec![];
    text(&mut wrong, "by", by, limits::SEAT_NAME_BYTES);
    if by.chars().any(char::is_control) {
        wrong.push(Wrong::new("by", "must not hold control characters"));
    }
    let same = |seat: &Seat| !seat.is_person() && seat.name.eq_ignore_ascii_case(by.trim());
    let seats = state.participants.iter().map(|p| &p.seat).chain([&state.facilitator]);
    if seats.into_iter().any(|seat| same(seat)) {
        wrong.push(Wrong::new("by", "a model here is called that; use your own name"));
    }
    text(&mut wrong, "text", said, limits::INTERJECTION_BYTES);
    settled(wrong)?;
    let is_one = |said: &Said| matches!(said, Said::Interjection { .. });
    let entries = state.transcript.iter().chain(&state.aside);
    if entries.filter(|entry| is_one(&entry.said)).count() >= limits::INTERJECTIONS {
        return Err(state.not_now("This discussion has as many interjections as it can keep."));
    }
    Ok(())
}

pub fn reply(said: &str) -> Result<(), Reject> {
    let mut wrong = vec![];
    text(&mut wrong, "text", said, limits::TURN_BYTES);
    settled(wrong)
}

/// A person's decision after this turn.
pub fn decision(
    state: &State,
    wrong: &mut Vec<Wrong>,
    turn: u32,
    decision: Choice,
    next: Option<&SeatId>,
    question: Option<&str>,
) {
    match decision {
        Choice::Synthesize if turn == 0 => {
            let problem = "nobody has spoken yet; choose who speaks first";
            wrong.push(Wrong::new("decision", problem));
        }
        Choice::Synthesize => {}
        Choice::Continue => {
            let speakers = state.speakers();
            let ids: Vec<&str> = speakers.iter().map(|p| p.seat.id.0.as_str()).collect();
            if !next.is_some_and(|next| ids.contains(&next.0.as_str())) {
                let problem = format!("must be who speaks next: {}", ids.join(", "));
                wrong.push(Wrong::new("nextParticipantId", problem));
            }
            text(wrong, "question", question.unwrap_or_default(), limits::QUESTION_BYTES);
        }
    }
}
