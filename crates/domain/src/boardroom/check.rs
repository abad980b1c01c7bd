//! What a board's input must be like. Every wrong field is named at once.

use std::sync::Arc;

use jiff::Timestamp;

use super::{Convene, Event, Seat, SeatId, Sitter, Terms, brief, later, own};
use crate::form::{Moment, Ruling};
use crate::ids::ModelName;
use crate::ledger::Ledger;
use crate::limits;
use crate::names::check_model_name;
use crate::quote::check_files;
use crate::reject::{self, Reject, Wrong, settled, size, text};

/// Whether this board may be convened at this time.
pub fn board(convene: &Convene, at: Timestamp) -> Result<(), Reject> {
    let mut wrong = vec![];
    text(&mut wrong, "prompt", &convene.prompt, limits::PROMPT_BYTES);
    check_files(&mut wrong, &convene.context);
    seats(&mut wrong, convene, at);
    brief::check(&mut wrong, convene);
    if convene.synthesizers.is_empty() {
        wrong.push(Wrong::new("synthesizer", "no model was named"));
    }
    for model in &convene.synthesizers {
        model_name(&mut wrong, "synthesizer", model);
    }
    terms(&mut wrong, &convene.terms);
    convene.budget.iter().for_each(|budget| budget.check(&mut wrong));
    if let Some(quorum) = convene.quorum {
        let seats = convene.seats.len();
        if quorum.need == 0 || quorum.need > seats {
            wrong.push(Wrong::new("quorum.need", format!("must be from 1 to {seats}")));
        }
        if quorum.grace_ms > limits::GRACE_MOST_MS {
            let most = limits::GRACE_MOST_MS / 1000;
            wrong.push(Wrong::new("quorum.graceSeconds", format!("must be at most {most}")));
        }
    }
    settled(wrong)
}

pub fn convene(convene: Convene, moment: &Moment) -> Ruling<Event> {
    board(&convene, moment.at)?;
    let roles: Vec<_> = convene.seats.iter().map(|seat| (seat.role, seat.own.clone())).collect();
    let seats = convene.seats.into_iter().zip(own::fill(&roles));
    let seats = seats
        .map(|(mut seat, own)| {
            seat.system_prompt = seat.system_prompt.filter(|own| !own.trim().is_empty());
            Seat { own, ..seat }
        })
        .collect();
    let convened = Event::Convened {
        prompt: Arc::from(convene.prompt),
        context: Arc::from(convene.context),
        seats,
        synthesizers: convene.synthesizers,
        quorum: convene.quorum,
        ballot: convene.ballot,
        open_answers: convene.open_answers,
        terms: convene.terms,
        brief: Arc::new(convene.brief),
        nonce: moment.nonce.clone(),
        at: moment.at,
    };
    let noted = Ledger::default().unnoted(convene.prices).map(Event::Priced);
    let budget = convene.budget.map(Event::Budgeted);
    Ok([convened].into_iter().chain(noted).chain(budget).collect())
}

fn seats(wrong: &mut Vec<Wrong>, convene: &Convene, at: Timestamp) {
    let most = limits::ADVISORS;
    if convene.seats.is_empty() || convene.seats.len() > most {
        wrong.push(Wrong::new("advisors", format!("a board must have 1 to {most} advisors")));
    }
    let parts: Vec<own::Part<'_>> = convene.seats.iter().map(Seat::part).collect();
    own::check(wrong, &parts, |place, name| format!("advisors[{place}].{name}"));
    for (place, seat) in convene.seats.iter().enumerate() {
        let field = |name: &str| format!("advisors[{place}].{name}");
        manner(wrong, seat, field);
        if seat.id != SeatId(u8::try_from(place + 1).unwrap_or(u8::MAX)) {
            wrong.push(Wrong::new(field("id"), "seats are numbered 1, 2, 3, …"));
        }
        if let Some(own) = seat.system_prompt.as_ref().filter(|own| !own.trim().is_empty()) {
            text(wrong, &field("systemPrompt"), own, limits::INSTRUCTION_BYTES);
        }
        let is_person = matches!(seat.sitter, Sitter::Person { .. });
        seat.budget.check_seat(wrong, &field("budget"), is_person);
        match &seat.sitter {
            Sitter::Model(model) => model_name(wrong, &field("model"), model),
            Sitter::Person { name, reply_by } => {
                reject::name(wrong, &field("person"), name, limits::MODEL_NAME_BYTES);
                let latest = later(at, limits::REPLY_MOST_MS);
                if reply_by.is_some_and(|by| by <= at || by > latest) {
                    let problem = "must be within the next 30 days";
                    wrong.push(Wrong::new(field("replyBy"), problem));
                }
            }
        }
    }
}

/// How a seat is asked. A person is not asked in any such way.
fn manner(wrong: &mut Vec<Wrong>, seat: &Seat, field: impl Fn(&str) -> String) {
    let most = limits::TRIES;
    if seat.tries == 0 || seat.tries > most {
        wrong.push(Wrong::new(field("tries"), format!("must be from 1 to {most}")));
    }
    let is_person = matches!(seat.sitter, Sitter::Person { .. });
    let said = [
        ("tries", seat.tries > 1),
        ("temperature", seat.seated.temperature.is_some()),
        ("outputTokens", seat.seated.output_tokens.is_some()),
    ];
    for (name, _) in said.into_iter().filter(|(_, said)| is_person && *said) {
        wrong.push(Wrong::new(field(name), "is only for a model's seat"));
    }
    seat.seated.check(wrong, &field);
    size(wrong, &field("agent"), &seat.seated.persona, limits::STORED_PERSONA_BYTES);
}

fn terms(wrong: &mut Vec<Wrong>, terms: &Terms) {
    language(wrong, terms.language.as_deref());
    let field = |name: &str| format!("synthesis.{name}");
    terms.synthesizer.check(wrong, field);
    size(wrong, &field("prompt"), &terms.synthesizer.persona, limits::STORED_PERSONA_BYTES);
}

pub fn language(wrong: &mut Vec<Wrong>, language: Option<&str>) {
    if let Some(language) = language {
        reject::name(wrong, "language", language, limits::LANGUAGE_BYTES);
    }
}

fn model_name(wrong: &mut Vec<Wrong>, field: &str, model: &ModelName) {
    if let Err(problem) = check_model_name(model) {
        wrong.push(Wrong::new(field, problem));
    }
}

pub fn model_field(model: Option<&ModelName>) -> Result<(), Reject> {
    let mut wrong = vec![];
    if let Some(model) = model {
        model_name(&mut wrong, "model", model);
    }
    settled(wrong)
}

pub fn synthesis(model: Option<&ModelName>, instruction: Option<&str>) -> Result<(), Reject> {
    let mut wrong = vec![];
    if let Some(model) = model {
        model_name(&mut wrong, "model", model);
    }
    if let Some(instruction) = instruction {
        text(&mut wrong, "instruction", instruction, limits::INSTRUCTION_BYTES);
    }
    settled(wrong)
}

pub fn reply(reply: &str) -> Result<(), Reject> {
    let mut wrong = vec![];
    text(&mut wrong, "text", reply, limits::REPLY_BYTES);
    settled(wrong)
}
