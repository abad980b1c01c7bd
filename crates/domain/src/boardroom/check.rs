//! What a board's input must be like. Every wrong field is named at once.

use std::sync::Arc;

use jiff::Timestamp;

use super::{Convene, Event, SeatId, Sitter, later};
use crate::form::{Moment, Ruling};
use crate::ids::ModelName;
use crate::ledger::Ledger;
use crate::limits;
use crate::names::check_model_name;
use crate::quote::check_files;
use crate::reject::{self, Reject, Wrong, settled, text};

/// Whether this board may be convened at this time.
pub fn board(convene: &Convene, at: Timestamp) -> Result<(), Reject> {
    let mut wrong = vec![];
    text(&mut wrong, "prompt", &convene.prompt, limits::PROMPT_BYTES);
    check_files(&mut wrong, &convene.context);
    seats(&mut wrong, convene, at);
    if convene.synthesizers.is_empty() {
        wrong.push(Wrong::new("synthesizer", "no model was named"));
    }
    for model in &convene.synthesizers {
        model_name(&mut wrong, "synthesizer", model);
    }
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
    let seats = convene
        .seats
        .into_iter()
        .map(|mut seat| {
            seat.system_prompt = seat.system_prompt.filter(|own| !own.trim().is_empty());
            seat
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
        wrong.push(Wrong::new("advisors", format!("a board has 1 to {most} advisors")));
    }
    for (place, seat) in convene.seats.iter().enumerate() {
        let field = |name: &str| format!("advisors[{place}].{name}");
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
                    let problem = "must lie between now and 30 days from now";
                    wrong.push(Wrong::new(field("replyBy"), problem));
                }
            }
        }
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
