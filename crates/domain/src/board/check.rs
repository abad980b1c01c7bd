//! What a saved board must be like. Every wrong field is named at once.

use std::sync::Arc;

use super::{Board, Seat};
use crate::agent::{Agent, ModelChoice};
use crate::boardroom::own;
use crate::library;
use crate::limits;
use crate::names::{check_line, check_model_name, check_room_name, look_alike};
use crate::reject::{Wrong, line, name, size};
use crate::seated;

/// What is wrong with a board, among all others that are kept.
pub fn check(wrong: &mut Vec<Wrong>, board: &Board, others: &[Arc<Board>]) {
    if let Err(problem) = check_room_name(&board.name) {
        wrong.push(Wrong::new("name", problem));
    }
    title(wrong, board, others);
    line(wrong, "description", &board.description);
    size(wrong, "description", &board.description, limits::DESCRIPTION_BYTES);
    let most = limits::ADVISORS;
    if board.seats.is_empty() || board.seats.len() > most {
        wrong.push(Wrong::new("seats", format!("a board must have 1 to {most} seats")));
    }
    let parts: Vec<own::Part<'_>> = board.seats.iter().map(Seat::part).collect();
    own::check(wrong, &parts, |place, name| format!("seats[{place}].{name}"));
    for (place, one) in board.seats.iter().enumerate().take(most + 1) {
        seat(wrong, one, |name| format!("seats[{place}].{name}"));
    }
    let synthesis = &board.synthesis;
    let field = |name: &str| format!("synthesis.{name}");
    model(wrong, &field("model"), &synthesis.model);
    prompt(wrong, &field("prompt"), synthesis.prompt.as_deref(), limits::INSTRUCTION_BYTES);
    seated::check_settings(wrong, field, synthesis.temperature, synthesis.output_tokens);
    terms(wrong, board);
    agents(wrong, board);
}

fn title(wrong: &mut Vec<Wrong>, board: &Board, others: &[Arc<Board>]) {
    let mut others = others.iter().filter(|other| other.name != board.name);
    let alike = |other: &&Arc<Board>| {
        let titled = !board.title.is_empty() && look_alike(&other.name, &board.title);
        let named = !other.title.is_empty() && look_alike(&other.title, &board.name);
        titled || named || look_alike(other.called(), board.called())
    };
    if let Some(other) = others.find(alike) {
        let field = if board.title.is_empty() { "name" } else { "title" };
        let problem = format!("looks like that of the board `{}`", other.name);
        wrong.push(Wrong::new(field, problem));
    }
    if board.title.is_empty() {
        return;
    }
    let (length, most) = (board.title.chars().count(), limits::BOARD_TITLE_CHARS);
    if length > most {
        let problem = format!("is {length} characters long; at most {most} are allowed");
        wrong.push(Wrong::new("title", problem));
    }
    name(wrong, "title", &board.title, usize::MAX);
}

fn seat(wrong: &mut Vec<Wrong>, seat: &Seat, field: impl Fn(&str) -> String) {
    model(wrong, &field("model"), &seat.model);
    prompt(wrong, &field("systemPrompt"), seat.prompt.as_deref(), limits::INSTRUCTION_BYTES);
    seated::check_settings(wrong, &field, seat.temperature, seat.output_tokens);
    let most = limits::TRIES;
    if seat.tries.is_some_and(|tries| tries == 0 || tries > most) {
        wrong.push(Wrong::new(field("tries"), format!("must be from 1 to {most}")));
    }
    if let Some(agent) = &seat.agent {
        name(wrong, &field("agent"), agent, limits::STORED_NAME_CHARS * 4);
    }
    let is_person = seat.person.is_some();
    seat.budget.check_seat(wrong, &field("budget"), is_person);
    let Some(person) = &seat.person else {
        if seat.reply_within_seconds.is_some() {
            wrong.push(Wrong::new(field("replyWithinSeconds"), "is only for a person's seat"));
        }
        return;
    };
    name(wrong, &field("person"), person, limits::MODEL_NAME_BYTES);
    let most = limits::REPLY_MOST_MS / 1000;
    if seat.reply_within_seconds.is_some_and(|s| s == 0 || u64::from(s) > most) {
        wrong.push(Wrong::new(field("replyWithinSeconds"), format!("must be from 1 to {most}")));
    }
    let said = [
        ("model", seat.model != ModelChoice::Any),
        ("agent", seat.agent.is_some()),
        ("temperature", seat.temperature.is_some()),
        ("outputTokens", seat.output_tokens.is_some()),
        ("tries", seat.tries.is_some()),
    ];
    for (name, _) in said.into_iter().filter(|(_, said)| *said) {
        wrong.push(Wrong::new(field(name), "is only for a model's seat; this one is a person's"));
    }
}

fn terms(wrong: &mut Vec<Wrong>, board: &Board) {
    if let Some(quorum) = board.quorum {
        let seats = board.seats.len();
        if quorum.need == 0 || quorum.need > seats {
            wrong.push(Wrong::new("quorum.need", format!("must be from 1 to {seats}")));
        }
        if quorum.grace_ms > limits::GRACE_MOST_MS {
            let most = limits::GRACE_MOST_MS / 1000;
            wrong.push(Wrong::new("quorum.graceSeconds", format!("must be at most {most}")));
        }
    }
    board.budget.iter().for_each(|budget| budget.check(wrong));
    if let Some(currency) = &board.currency {
        let is_one = currency.len() == 3 && currency.chars().all(|c| c.is_ascii_alphabetic());
        if !is_one {
            wrong.push(Wrong::new("budget.currency", "must be three letters, such as `EUR`"));
        }
    }
    crate::boardroom::check_language(wrong, board.language.as_deref());
}

/// What comes with a board is held to what agents are held to here, and may not say where
/// anything runs.
fn agents(wrong: &mut Vec<Wrong>, board: &Board) {
    if board.agents.len() > limits::ADVISORS {
        let most = limits::ADVISORS;
        wrong.push(Wrong::new("agents", format!("a board can include at most {most} agents")));
    }
    let seated: Vec<&str> = board.wants_agents().collect();
    for (place, agent) in board.agents.iter().enumerate().take(limits::ADVISORS + 1) {
        let field = |name: &str| format!("agents[{place}].{name}");
        let before = &board.agents[..place];
        let mut found = vec![];
        library::check_agent(&mut found, agent, before);
        wrong.extend(found.into_iter().map(|one| Wrong::new(field(&one.field), one.problem)));
        prompt(wrong, &field("persona"), Some(&agent.persona), usize::MAX);
        if agent.id.0.is_empty() || check_room_name(&agent.id.0).is_err() {
            wrong.push(Wrong::new(field("id"), "must be a short name such as `security-reviewer`"));
        } else if before.iter().any(|other| other.id == agent.id) {
            wrong.push(Wrong::new(field("id"), "is the id of another agent of this board"));
        } else if !seated.contains(&agent.id.0.as_str()) {
            wrong.push(Wrong::new(field("id"), "has no seat on this board"));
        }
        no_place(wrong, &field("workspace"), agent);
    }
}

fn no_place(wrong: &mut Vec<Wrong>, field: &str, agent: &Agent) {
    if agent.workspace.is_some() {
        let problem = "a board cannot give an agent a folder or tools; only the operator can";
        wrong.push(Wrong::new(field, problem));
    }
}

fn model(wrong: &mut Vec<Wrong>, field: &str, choice: &ModelChoice) {
    let ModelChoice::Model(model) = choice else { return };
    if model.0.contains("://") {
        wrong.push(Wrong::new(field, "must be a model's name, not an address"));
    } else if let Err(problem) = check_model_name(model) {
        wrong.push(Wrong::new(field, problem));
    }
}

/// A prompt shows all that it holds: whoever reviews a board must see what models are told.
fn prompt(wrong: &mut Vec<Wrong>, field: &str, text: Option<&str>, most: usize) {
    let Some(text) = text else { return };
    size(wrong, field, text, most);
    for (number, line) in (1..).zip(text.split('\n')) {
        let line = line.strip_suffix('\r').unwrap_or(line).replace('\t', " ");
        if let Err(problem) = check_line(&line) {
            wrong.push(Wrong::new(field, format!("{problem} of line {number}")));
            return;
        }
    }
}
