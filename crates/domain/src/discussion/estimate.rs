//! What a discussion may take, before; what it took, after.

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Create, Seat, Sitter, State, Used};
use crate::call::Usage;
use crate::form::Moment;
use crate::ids::{ModelName, Nonce};
use crate::prices::{Noted, Price};
use crate::reject::Reject;

/// Bytes of a token of usual text.
pub const TOKEN_BYTES: u64 = 4;
/// Bytes of a token when a prompt must not pass a window.
pub const DENSE_TOKEN_BYTES: u64 = 3;
pub(crate) const PEOPLE: &str = "Time taken by people is not included.";
/// Tokens of the words that every prompt has.
pub(crate) const FRAME_TOKENS: u64 = 350;
/// Tokens of an answer when nothing has been measured: few and many.
pub(crate) const TURN_TOKENS: (u64, u64) = (80, 400);
pub(crate) const DECISION_TOKENS: (u64, u64) = (40, 150);
pub(crate) const SYNTHESIS_TOKENS: (u64, u64) = (200, 900);

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Range {
    pub low: f64,
    pub high: f64,
}

/// Low: the facilitator ends after the first turn, a person's if one takes part. High: all
/// rounds, and every turn a model's if one takes part.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    pub calls: Range,
    pub input_tokens: Range,
    pub output_tokens: Range,
    /// `None` until every model has been measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<Range>,
    /// `None` unless every price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Range>,
    /// What the numbers do not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Estimate {
    /// Says beside the cost who has said what the models cost.
    #[must_use]
    pub fn priced_by(mut self, prices: &Noted) -> Self {
        self.notes.extend(prices.sources().filter(|_| self.cost.is_some()));
        self
    }
}

/// How a model did lately.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measure {
    pub low_ms: u64,
    pub high_ms: u64,
}

/// What it took so far.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Actual {
    pub calls: u32,
    pub usage: Usage,
    /// The time that models took, all calls together.
    pub model_ms: u64,
    /// From the start to the end, or to what happened last.
    pub elapsed_ms: u64,
}

/// What a discussion would take that is yet to be created, or why it cannot be.
pub fn foresee(
    create: Create,
    at: Timestamp,
    measured: impl Fn(&ModelName) -> Option<Measure>,
    price: impl Fn(&ModelName) -> Option<Price>,
) -> Result<Estimate, Reject> {
    let moment = Moment { at, nonce: Nonce(String::new()), actor: String::new() };
    let events = super::check::create(create, &moment)?;
    // From before the start, if it starts at once.
    let draft = events.first().and_then(State::created).ok_or(Reject::Stale)?;
    Ok(draft.foresee(measured, price))
}

/// One call as it is foreseen.
struct Foreseen<'a> {
    seat: &'a Seat,
    input: u64,
    output: u64,
}

impl State {
    /// Tokens that the seat's next prompt has, about.
    pub(super) fn prompt_tokens(&self, seat: &Seat) -> u64 {
        let Sitter::Model { window_tokens, .. } = &seat.sitter else { return 0 };
        let said: usize = self.transcript.iter().map(|entry| entry.said.bytes()).sum();
        self.fitted(seat, *window_tokens, said as u64 / TOKEN_BYTES)
    }

    /// Only the transcript is fitted into the window.
    fn fitted(&self, seat: &Seat, window_tokens: u32, said: u64) -> u64 {
        let base = self.base_tokens(seat);
        base.saturating_add(said).min(base.max(u64::from(window_tokens)))
    }

    /// The part of it that is there from the start.
    fn base_tokens(&self, seat: &Seat) -> u64 {
        let files: usize = self.context.iter().map(|file| file.text.len()).sum();
        let bytes = self.topic.len() + files + seat.persona.len();
        FRAME_TOKENS + bytes as u64 / TOKEN_BYTES
    }

    pub fn actual(&self) -> Actual {
        let total = self.used.values().fold(Used::default(), |sum, used| Used {
            calls: sum.calls.saturating_add(used.calls),
            usage: sum.usage.plus(used.usage),
            latency_ms: sum.latency_ms.saturating_add(used.latency_ms),
        });
        let elapsed = self.started_at.map_or(0, |start| {
            self.changed_at.as_millisecond().saturating_sub(start.as_millisecond())
        });
        Actual {
            calls: total.calls,
            usage: total.usage,
            model_ms: total.latency_ms,
            elapsed_ms: u64::try_from(elapsed).unwrap_or(0),
        }
    }

    /// What the whole discussion may take, from its seats, topic and rounds.
    pub fn foresee(
        &self,
        measured: impl Fn(&ModelName) -> Option<Measure>,
        price: impl Fn(&ModelName) -> Option<Price>,
    ) -> Estimate {
        let low = self.foreseen(1, &self.likely(true), |few_many| few_many.0);
        let high = self.foreseen(self.max_rounds, &self.likely(false), |few_many| few_many.1);
        let sum = |calls: &[Foreseen], of: fn(&Foreseen) -> u64| -> f64 {
            calls.iter().map(of).sum::<u64>() as f64
        };
        let range = |of: fn(&Foreseen) -> u64| Range { low: sum(&low, of), high: sum(&high, of) };
        let seconds = |calls: &[Foreseen], of: fn(Measure) -> u64| -> Option<f64> {
            let ms = calls.iter().map(|call| measured(call.seat.model()?).map(of));
            ms.sum::<Option<u64>>().map(|ms| ms as f64 / 1000.0)
        };
        let money = |calls: &[Foreseen]| -> Option<f64> {
            let each =
                |call: &Foreseen| Some(cost(price(call.seat.model()?)?, call.input, call.output));
            calls.iter().map(each).sum()
        };
        let both = |low: Option<f64>, high: Option<f64>| Some(Range { low: low?, high: high? });
        // Whom the facilitator will choose is not known, so every model counts.
        let models = self.models();
        let is_timed = models.iter().all(|model| measured(model).is_some());
        let is_priced = models.iter().all(|model| price(model).is_some());
        Estimate {
            calls: Range { low: low.len() as f64, high: high.len() as f64 },
            input_tokens: range(|call| call.input),
            output_tokens: range(|call| call.output),
            seconds: both(seconds(&low, |m| m.low_ms), seconds(&high, |m| m.high_ms))
                .filter(|_| is_timed),
            cost: both(money(&low), money(&high)).filter(|_| is_priced),
            notes: self.unknown(&measured, &price),
        }
    }

    /// The models that may be asked, each once.
    fn models(&self) -> Vec<&ModelName> {
        let speakers = self.participants.iter().filter(|p| p.role.speaks()).map(|p| &p.seat);
        let seats = speakers.chain([&self.facilitator]);
        let mut models: Vec<&ModelName> = seats.filter_map(|seat| seat.model()).collect();
        models.sort();
        models.dedup();
        models
    }

    /// Who speaks, if the facilitator gives the floor to people, or to models, as long
    /// as there are any.
    fn likely(&self, people: bool) -> Vec<&Seat> {
        let all = self.speakers().into_iter().map(|participant| participant.seat.as_ref());
        let (wanted, others): (Vec<_>, Vec<_>) = all.partition(|seat| seat.is_person() == people);
        if wanted.is_empty() { others } else { wanted }
    }

    /// The model calls of a discussion with so many rounds: the opening, the turns,
    /// an evaluation between two turns, and the synthesis.
    fn foreseen<'a>(
        &'a self,
        rounds: u32,
        speakers: &[&'a Seat],
        of: fn((u64, u64)) -> u64,
    ) -> Vec<Foreseen<'a>> {
        let mut calls = vec![];
        let mut said = 0;
        let call = |seat: &Seat, said: u64, output: u64| -> Option<(u64, u64)> {
            let Sitter::Model { window_tokens, bounds, .. } = &seat.sitter else { return None };
            let input = self.fitted(seat, *window_tokens, said);
            let most = bounds.output_tokens.map_or(u64::MAX, u64::from);
            Some((input, output.min(most)))
        };
        let push = |calls: &mut Vec<_>, seat, said, output| {
            if let Some((input, output)) = call(seat, said, output) {
                calls.push(Foreseen { seat, input, output });
            }
        };
        let leader = self.facilitator.as_ref();
        for round in 0..rounds {
            push(&mut calls, leader, said, of(DECISION_TOKENS));
            if let Some(seat) = speakers.get(round as usize % speakers.len().max(1)) {
                push(&mut calls, seat, said, of(TURN_TOKENS));
            }
            said += of(TURN_TOKENS);
        }
        // When the facilitator ends early, it has decided to.
        if rounds < self.max_rounds {
            push(&mut calls, leader, said, of(DECISION_TOKENS));
        }
        push(&mut calls, leader, said, of(SYNTHESIS_TOKENS));
        calls
    }

    /// Whose model cannot take in the topic and its files. It fails, or its provider
    /// cuts them off without a word.
    fn too_small(&self) -> Option<String> {
        let speakers = self.participants.iter().filter(|p| p.role.speaks()).map(|p| &p.seat);
        let small = speakers.chain([&self.facilitator]).find_map(|seat| match &seat.sitter {
            Sitter::Model { model, window_tokens, .. } => {
                let base = self.base_tokens(seat);
                (base > u64::from(*window_tokens)).then_some((model, *window_tokens, base))
            }
            Sitter::Person { .. } => None,
        });
        small.map(|(model, window, base)| {
            format!(
                "The topic and its files have about {base} tokens; {model} takes {window}. Leave \
                 something out, or choose a model with a larger context window."
            )
        })
    }

    fn unknown(
        &self,
        measured: impl Fn(&ModelName) -> Option<Measure>,
        price: impl Fn(&ModelName) -> Option<Price>,
    ) -> Vec<String> {
        let [time, cost] = unknown(&self.models(), measured, price);
        let mut speakers = self.participants.iter().filter(|p| p.role.speaks());
        let people = self.facilitator.is_person() || speakers.any(|p| p.seat.is_person());
        [self.too_small(), time, cost, people.then(|| PEOPLE.to_owned())]
            .into_iter()
            .flatten()
            .collect()
    }
}

/// Which models keep the time and the cost from being known.
pub(crate) fn unknown(
    models: &[&ModelName],
    measured: impl Fn(&ModelName) -> Option<Measure>,
    price: impl Fn(&ModelName) -> Option<Price>,
) -> [Option<String>; 2] {
    let list = |which: &dyn Fn(&ModelName) -> bool| -> Option<String> {
        let names: Vec<&str> = models.iter().filter(|m| which(m)).map(|m| m.0.as_str()).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    let slow = list(&|model| measured(model).is_none());
    let dear = list(&|model| price(model).is_none());
    [
        slow.map(|names| format!("Time unknown: nothing has been measured here for {names}.")),
        dear.map(|names| format!("Cost unknown: no price is set for {names}.")),
    ]
}

pub(crate) fn cost(price: Price, input: u64, output: u64) -> f64 {
    (input as f64 * price.input + output as f64 * price.output) / 1e6
}

impl super::Said {
    fn bytes(&self) -> usize {
        match self {
            super::Said::Turn { question, spoken: super::Spoken::Words(answer), .. } => {
                question.len() + answer.text.len()
            }
            super::Said::Turn { question, spoken: super::Spoken::Failed { .. }, .. } => {
                question.len()
            }
            super::Said::Interjection { text, .. } => text.len(),
            super::Said::Decision(_)
            | super::Said::Cut { .. }
            | super::Said::SynthesisFailed { .. } => 0,
        }
    }
}
