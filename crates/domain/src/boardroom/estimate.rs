//! What a board may take, before it is convened.

use jiff::Timestamp;

use super::{Convene, Seat, Sitter, Terms, check, prompt};
use crate::discussion::estimate::{PEOPLE, TOKEN_BYTES, cost, unknown};
use crate::discussion::{Estimate, Measure, Range};
use crate::ids::ModelName;
use crate::prices::Price;
use crate::reject::Reject;

/// Tokens of the words that a prompt of its kind has.
pub(crate) const SYNTHESIS_FRAME_TOKENS: u64 = 400;
pub(crate) const BALLOT_FRAME_TOKENS: u64 = 300;
/// Tokens of what is written, few and many.
pub(crate) const ANSWER_TOKENS: (u64, u64) = (150, 800);
pub(crate) const SYNTHESIS_TOKENS: (u64, u64) = (250, 900);
pub(crate) const BALLOT_TOKENS: (u64, u64) = (60, 400);

/// One call as it is foreseen.
struct Foreseen<'a> {
    model: &'a ModelName,
    input: u64,
    output: u64,
}

/// Calls that run at the same time.
type Step<'a> = Vec<Foreseen<'a>>;

/// What this board would take, or why it cannot be convened. Low: short answers. High:
/// long ones. What is asked again after a failure is not foreseen.
pub fn foresee(
    convene: &Convene,
    at: Timestamp,
    measured: impl Fn(&ModelName) -> Option<Measure>,
    price: impl Fn(&ModelName) -> Option<Price>,
) -> Result<Estimate, Reject> {
    check::board(convene, at)?;
    let few = steps(convene, |few_many| few_many.0);
    let many = steps(convene, |few_many| few_many.1);
    let sum = |steps: &[Step<'_>], of: fn(&Foreseen<'_>) -> u64| -> f64 {
        steps.iter().flatten().map(of).sum::<u64>() as f64
    };
    let range = |of: fn(&Foreseen<'_>) -> u64| Range { low: sum(&few, of), high: sum(&many, of) };
    // The slowest of those who are asked at once.
    let seconds = |steps: &[Step<'_>], of: fn(Measure) -> u64| -> Option<f64> {
        let slowest = |step: &Step<'_>| {
            let times: Option<Vec<u64>> =
                step.iter().map(|call| measured(call.model).map(of)).collect();
            times.map(|times| times.into_iter().max().unwrap_or(0))
        };
        steps.iter().map(slowest).sum::<Option<u64>>().map(|ms| ms as f64 / 1000.0)
    };
    let money = |steps: &[Step<'_>]| -> Option<f64> {
        let each = |call: &Foreseen<'_>| Some(cost(price(call.model)?, call.input, call.output));
        steps.iter().flatten().map(each).sum()
    };
    let both = |low: Option<f64>, high: Option<f64>| Some(Range { low: low?, high: high? });
    let mut models: Vec<&ModelName> = few.iter().flatten().map(|call| call.model).collect();
    models.sort();
    models.dedup();
    let people = convene.seats.iter().any(|seat| model(seat).is_none());
    let unknown = unknown(&models, &measured, &price).into_iter().flatten();
    Ok(Estimate {
        calls: range(|_| 1),
        input_tokens: range(|call| call.input),
        output_tokens: range(|call| call.output),
        seconds: both(seconds(&few, |m| m.low_ms), seconds(&many, |m| m.high_ms)),
        cost: both(money(&few), money(&many)),
        notes: unknown.chain(people.then(|| PEOPLE.to_owned())).collect(),
    })
}

/// The advisors, then the synthesis, then the ballot where there is one.
fn steps(convene: &Convene, of: fn((u64, u64)) -> u64) -> Vec<Step<'_>> {
    let tokens = |bytes: usize| bytes as u64 / TOKEN_BYTES;
    let (answer, synthesis) = (of(ANSWER_TOKENS), of(SYNTHESIS_TOKENS));
    let files: usize = convene.context.iter().map(|file| file.text.len()).sum();
    let question = tokens(convene.prompt.len());
    let advisor = |seat| {
        let input = tokens(system(seat).len() + convene.prompt.len() + files);
        Some(Foreseen { model: model(seat)?, input, output: answer })
    };
    // The votes are on the points of the synthesis, with one's own answer at hand.
    let input = BALLOT_FRAME_TOKENS + question + answer + synthesis;
    let voter = |seat| Some(Foreseen { model: model(seat)?, input, output: of(BALLOT_TOKENS) });
    let input = SYNTHESIS_FRAME_TOKENS + question + answer * convene.seats.len() as u64;
    let first = convene.synthesizers.first();
    let synthesis = first.map(|model| Foreseen { model, input, output: synthesis });
    vec![
        convene.seats.iter().filter_map(advisor).collect(),
        synthesis.into_iter().collect(),
        convene.seats.iter().filter(|_| convene.ballot).filter_map(voter).collect(),
    ]
}

fn model(seat: &Seat) -> Option<&ModelName> {
    match &seat.sitter {
        Sitter::Model(model) => Some(model),
        Sitter::Person { .. } => None,
    }
}

fn system(seat: &Seat) -> String {
    prompt::system(seat, &Terms::default())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::{ContextFile, Role, SeatId};
    use super::*;

    /// Two models and a person; each own prompt has 40 bytes, the question 20, the file 40.
    fn board() -> Convene {
        let sitters = [
            Sitter::Model(ModelName::new("test", "ann")),
            Sitter::Model(ModelName::new("test", "bob")),
            Sitter::Person { name: "Zoe".into(), reply_by: None },
        ];
        let seats = sitters.into_iter().zip(1..).map(|(sitter, id)| Seat {
            id: SeatId(id),
            role: Role::Critic,
            sitter,
            system_prompt: Some("x".repeat(40)),
            own: None,
            tries: 1,
            seated: Default::default(),
            budget: Default::default(),
        });
        Convene {
            prompt: "y".repeat(20),
            context: vec![ContextFile { name: "f".into(), text: "z".repeat(40) }],
            seats: seats.collect(),
            synthesizers: vec![ModelName::new("test", "bob"), ModelName::new("test", "ann")],
            quorum: None,
            ballot: false,
            prices: Default::default(),
            budget: None,
            open_answers: false,
            terms: Default::default(),
            brief: Default::default(),
        }
    }

    fn range(low: f64, high: f64) -> Range {
        Range { low, high }
    }

    fn measured(model: &ModelName) -> Option<Measure> {
        match model.parts().1 {
            "ann" => Some(Measure { low_ms: 3_000, high_ms: 9_000 }),
            _ => Some(Measure { low_ms: 1_000, high_ms: 2_000 }),
        }
    }

    #[test]
    fn advisors_answer_at_once_and_the_synthesis_reads_them_all() {
        let price = |_: &ModelName| Some(Price { input: 1e6, output: 2e6, cached: None });
        let estimate = foresee(&board(), Timestamp::UNIX_EPOCH, measured, price).unwrap();
        // Each advisor reads 100 bytes; the synthesis a question of 5 tokens and 3 answers.
        let read = [50.0 + 405.0 + 450.0, 50.0 + 405.0 + 2_400.0];
        let written = [2.0 * 150.0 + 250.0, 2.0 * 800.0 + 900.0];
        let expected = Estimate {
            calls: range(3.0, 3.0),
            input_tokens: range(read[0], read[1]),
            output_tokens: range(written[0], written[1]),
            // The slower advisor, and then Bob, who synthesizes.
            seconds: Some(range(4.0, 11.0)),
            cost: Some(range(read[0] + 2.0 * written[0], read[1] + 2.0 * written[1])),
            notes: vec![PEOPLE.to_owned()],
        };
        assert_eq!(estimate, expected);
    }

    #[test]
    fn a_ballot_is_one_call_more_for_each_model() {
        let board = Convene { ballot: true, ..board() };
        let estimate = foresee(&board, Timestamp::UNIX_EPOCH, measured, |_| None).unwrap();
        assert_eq!(estimate.calls, range(5.0, 5.0));
        assert_eq!(estimate.seconds, Some(range(7.0, 20.0)));
        let unpriced = "Cost unknown: no price is set for test/ann, test/bob.";
        assert_eq!((estimate.cost, estimate.notes[0].as_str()), (None, unpriced));
    }

    #[test]
    fn what_could_not_be_convened_is_not_foreseen() {
        let board = Convene { prompt: " ".into(), ..board() };
        let refused = foresee(&board, Timestamp::UNIX_EPOCH, measured, |_| None);
        assert!(matches!(refused, Err(Reject::Invalid(wrong)) if wrong[0].field == "prompt"));
    }
}
