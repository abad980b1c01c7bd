//! What a discussion's input must be like. Every wrong field is named at once.

use std::sync::Arc;

use super::{Choice, Create, Event, Participant, Seat, SeatId, Sitter, State};
use crate::budget::Shortage;
use crate::form::{Moment, Ruling};
use crate::limits;
use crate::names::{are_same, check_model_name};
use crate::quote::check_files;
use crate::reject::{Reject, Wrong, name, settled, size, text};
use crate::room::title;

pub fn create(create: Create, moment: &Moment) -> Ruling<Event> {
    let mut wrong = vec![];
    text(&mut wrong, "topic", &create.topic, limits::PROMPT_BYTES);
    check_files(&mut wrong, &create.context);
    if !create.name.trim().is_empty() {
        name(&mut wrong, "name", create.name.trim(), limits::DISCUSSION_NAME_BYTES);
    }
    rounds(&mut wrong, create.max_rounds, 1);
    create.budget.iter().for_each(|budget| budget.check(&mut wrong));
    if let Some(project) = create.project.as_deref() {
        name(&mut wrong, "project", project, limits::PROJECT_BYTES);
    }
    check_seats(&mut wrong, &create.facilitator, &create.participants);
    settled(wrong)?;
    let called = create.name.trim();
    let called = if called.is_empty() { title(&create.topic) } else { called.to_owned() };
    let created = Event::Created {
        name: called,
        topic: Arc::from(create.topic),
        format: create.format,
        context: Arc::from(create.context),
        facilitator: Arc::new(create.facilitator),
        participants: Arc::from(create.participants),
        max_rounds: create.max_rounds,
        budget_tokens: None,
        project: create.project,
        at: moment.at,
    };
    let Some(mut draft) = State::created(&created) else { return Ok(vec![]) };
    let budget = create.budget.map(Event::Budgeted);
    budget.iter().for_each(|event| draft.follow(event));
    let started = create.start.map(|start| draft.start(start, moment)).transpose()?;
    let started = started.into_iter().flatten();
    Ok([created].into_iter().chain(budget).chain(started).collect())
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

/// Whether somebody's budget has room for a first turn, and every limit in money can be
/// kept to.
pub fn budget(state: &State) -> Result<(), Reject> {
    let speakers = state.participants.iter().filter(|participant| participant.role.speaks());
    let seats = speakers.map(|participant| &participant.seat).chain([&state.facilitator]);
    let why: Vec<Shortage> = seats.filter_map(|seat| state.shortage(seat)).collect();
    if let Some(unpriced) = why.iter().find(|why| matches!(why, Shortage::Price(_))) {
        return Err(Reject::Invalid(vec![Wrong::new("budget.cost", unpriced.in_words())]));
    }
    if !state.speakers().is_empty() {
        return Ok(());
    }
    let why = why.first().map(Shortage::in_words);
    let why = why.unwrap_or_else(|| "there is no room for one turn".to_owned());
    Err(Reject::Invalid(vec![Wrong::new("budget", why)]))
}

fn check_seats(wrong: &mut Vec<Wrong>, facilitator: &Seat, participants: &[Participant]) {
    seat(wrong, "facilitator", facilitator);
    if !participants.iter().any(|participant| participant.role.speaks()) {
        let problem = "at least one participant must speak; observers only listen";
        wrong.push(Wrong::new("participants", problem));
    }
    for (place, participant) in participants.iter().enumerate().take(limits::WRONG_FIELDS) {
        let field = format!("participants[{place}]");
        seat(wrong, &field, &participant.seat);
        other(wrong, &field, &participant.seat, facilitator, &participants[..place]);
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
    if let Some(name) = same(seat, [facilitator]) {
        let problem = format!("{name} leads the discussion and cannot take part too");
        wrong.push(Wrong::new(field, problem));
    }
    if let Some(name) = same(seat, others.iter().map(|participant| &*participant.seat)) {
        wrong.push(Wrong::new(field, format!("{name} is already taking part")));
    }
}

/// The name of a seat that cannot be told from this one: by its id, its agent or its
/// name.
pub fn same<'a>(seat: &Seat, others: impl IntoIterator<Item = &'a Seat>) -> Option<&'a str> {
    let is_same = |other: &&Seat| {
        other.id == seat.id
            || other.agent.is_some() && other.agent == seat.agent
            || are_same(&other.name, &seat.name)
    };
    others.into_iter().find(is_same).map(|other| other.name.as_str())
}

pub fn seat(wrong: &mut Vec<Wrong>, field: &str, seat: &Seat) {
    name(wrong, &format!("{field}.name"), &seat.name, limits::SEAT_NAME_BYTES);
    text(wrong, &format!("{field}.id"), &seat.id.0, limits::SEAT_NAME_BYTES);
    size(wrong, &format!("{field}.description"), &seat.description, limits::DESCRIPTION_BYTES);
    size(wrong, &format!("{field}.persona"), &seat.persona, limits::STORED_PERSONA_BYTES);
    match &seat.sitter {
        Sitter::Model { model, .. } => {
            if let Err(problem) = check_model_name(model) {
                wrong.push(Wrong::new(format!("{field}.model"), problem));
            }
        }
        Sitter::Person { reply_within_ms } => {
            let lawful = limits::REPLY_LEAST_MS..=limits::REPLY_MOST_MS;
            if reply_within_ms.is_some_and(|ms| !lawful.contains(&ms)) {
                let problem = "must be from 1 second to 30 days";
                wrong.push(Wrong::new(format!("{field}.replyWithinSeconds"), problem));
            }
        }
    }
}

pub fn interjection(state: &State, by: &str, said: &str) -> Result<(), Reject> {
    let mut wrong = vec![];
    name(&mut wrong, "by", by, limits::SEAT_NAME_BYTES);
    let same = |seat: &Seat| !seat.is_person() && are_same(&seat.name, by);
    let seats = state.participants.iter().map(|p| &p.seat).chain([&state.facilitator]);
    if seats.into_iter().any(|seat| same(seat)) {
        wrong.push(Wrong::new("by", "a model here has this name; use your own"));
    }
    text(&mut wrong, "text", said, limits::INTERJECTION_BYTES);
    settled(wrong)
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
            let problem = "no one has spoken yet; choose who speaks first";
            wrong.push(Wrong::new("decision", problem));
        }
        Choice::Synthesize => {}
        Choice::Continue => {
            let speakers = state.speakers();
            let ids: Vec<&str> = speakers.iter().map(|p| p.seat.id.0.as_str()).collect();
            if !next.is_some_and(|next| ids.contains(&next.0.as_str())) {
                let problem = format!("must be one of the speakers: {}", ids.join(", "));
                wrong.push(Wrong::new("nextParticipantId", problem));
            }
            text(wrong, "question", question.unwrap_or_default(), limits::QUESTION_BYTES);
        }
    }
}
