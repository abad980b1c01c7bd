//! What discussions are foreseen to take, worked out by hand.

use proptest::prelude::*;

use super::super::tests::{
    Command, Held, Own, answered, at, decide, draft, nonce, person, seat, takes_part, tokens,
};
use super::super::{Role, Start};
use super::*;
use crate::call::Outcome;
use crate::form::Report;
use crate::prices::{Quote, Source};

/// The topic has 14 bytes and each persona 24 or 26, so that a prompt has 350 + 38/4
/// (Ann, Bob) or 350 + 40/4 tokens before anybody speaks: 359 and 360.
const ANN: f64 = 359.0;
const BOB: f64 = 359.0;
const CHAIR: f64 = 360.0;

fn none<T>(_: &ModelName) -> Option<T> {
    None
}

fn range(low: f64, high: f64) -> Range {
    Range { low, high }
}

#[test]
fn low_ends_after_one_round_and_high_uses_all() {
    let estimate = Held::new(draft()).state.foresee(none, none);
    // Low: opening, turn, evaluation, synthesis. High: 3 times decision and turn, and
    // the synthesis, because nothing is decided after the last round.
    assert_eq!(estimate.calls, range(4.0, 7.0));
    // Low: one turn of 80 tokens is read by evaluation and synthesis.
    let low = CHAIR + ANN + (CHAIR + 80.0) + (CHAIR + 80.0);
    // High: turns of 400 tokens; decision and turn of round n read n - 1 of them.
    let high = (CHAIR + ANN)
        + (CHAIR + BOB + 2.0 * 400.0)
        + (CHAIR + ANN + 2.0 * 800.0)
        + (CHAIR + 1_200.0);
    assert_eq!(estimate.input_tokens, range(low, high));
    // 40 + 80 + 40 + 200, and 3 × (150 + 400) + 900.
    assert_eq!(estimate.output_tokens, range(360.0, 2_550.0));
    assert_eq!((estimate.seconds, estimate.cost), (None, None));
    let models = "test/ann, test/bob, test/chair";
    assert_eq!(
        estimate.notes,
        [
            format!("Time unknown: nothing has been measured here for {models}."),
            format!("Cost unknown: no price is set for {models}."),
        ]
    );
}

#[test]
fn one_round_is_three_calls() {
    let create = Create { max_rounds: 1, ..draft() };
    let estimate = Held::new(create).state.foresee(none, none);
    assert_eq!(estimate.calls, range(3.0, 3.0));
}

#[test]
fn people_cost_nothing_and_take_their_time() {
    let create = Create {
        facilitator: person("Fay", None),
        participants: vec![
            takes_part(seat("Ann"), Role::Participant),
            takes_part(person("Gus", None), Role::Participant),
        ],
        ..draft()
    };
    let measure = |_: &ModelName| Some(Measure { low_ms: 1_000, high_ms: 2_500 });
    let estimate = Held::new(create).state.foresee(measure, none);
    // Gus may have the only turn, and Ann may have all three.
    assert_eq!(estimate.calls, range(0.0, 3.0));
    assert_eq!(estimate.seconds, Some(range(0.0, 7.5)));
    assert_eq!(
        estimate.notes,
        ["Cost unknown: no price is set for test/ann.", "Time taken by people is not included.",]
    );
}

#[test]
fn prices_are_per_million_tokens() {
    let create = Create { max_rounds: 1, ..draft() };
    let price = |_: &ModelName| Some(Price { input: 1.0, output: 1_000.0, cached: None });
    let estimate = Held::new(create).state.foresee(none, price);
    let tokens = |said| CHAIR + ANN + CHAIR + said;
    // 40 + 80 + 200 tokens are written at least, 150 + 400 + 900 at most.
    let low = (tokens(80.0) + 320.0 * 1_000.0) / 1e6;
    let high = (tokens(400.0) + 1_450.0 * 1_000.0) / 1e6;
    let cost = estimate.cost.expect("a cost");
    assert!((cost.low - low).abs() < 1e-9 && (cost.high - high).abs() < 1e-9, "{cost:?}");
}

/// Bob may be chosen though the rounds end before his turn comes.
#[test]
fn what_is_not_known_of_one_speaker_is_not_known() {
    let create = Create { max_rounds: 1, ..draft() };
    let known = |model: &ModelName| model.0 != "test/bob";
    let measure = |model: &ModelName| known(model).then_some(Measure { low_ms: 1, high_ms: 2 });
    let price =
        |model: &ModelName| known(model).then_some(Price { input: 1.0, output: 1.0, cached: None });
    let estimate = Held::new(create).state.foresee(measure, price);
    assert_eq!((estimate.seconds, estimate.cost), (None, None));
    assert_eq!(estimate.notes.len(), 2, "{:?}", estimate.notes);
}

#[test]
fn what_cannot_be_created_is_not_foreseen() {
    let check = |create: Create| {
        let refused =
            decide(None, Command::Own(Own::Create(Box::new(create.clone()))), at(0), nonce());
        assert_eq!(foresee(create, at(0), none, none), Err(refused.unwrap_err()));
    };
    check(Create { topic: " ".into(), ..draft() });
    // What only stands in the way of a start.
    let topic = "tea ".repeat(4_000);
    let narrow = Create { topic, budget: Some(tokens(1_000)), start: None, ..draft() };
    assert!(foresee(narrow.clone(), at(0), none, none).is_ok());
    check(Create { start: Some(Start::default()), ..narrow });
}

#[test]
fn what_it_took_is_counted() {
    let held = Held::new(draft()).picks("ann").says("Tea.").ends();
    let held = held.settled(answered("Tea it is."));
    let usage = Usage { input_tokens: Some(400), output_tokens: Some(40), ..Usage::default() };
    let actual = Actual { calls: 4, usage, model_ms: 200, elapsed_ms: 4_000 };
    assert_eq!(held.state.actual(), actual);
    let price = Price { input: 10.0, output: 100.0, cached: None };
    let quote = |_: &ModelName| Some(Quote { price, source: Source::Settings, said_at: None });
    // 400 × 10 + 40 × 100 for a million each.
    assert_eq!(held.state.ledger.cost(quote, true), Some(0.008));
    assert_eq!(held.state.ledger.cost(none, true), None);
    let measured: Vec<(String, u64)> =
        held.state.measured().into_iter().map(|(model, ms)| (model.0.clone(), ms)).collect();
    let chair = ("test/chair".to_owned(), 50);
    let ann = ("test/ann".to_owned(), 50);
    assert_eq!(measured, [chair.clone(), ann, chair.clone(), chair]);
}

/// A call that brought nothing back has read its prompt all the same.
#[test]
fn a_call_without_numbers_counts_by_its_length() {
    let stopped = Outcome::Stopped { partial: String::new(), usage: Usage::default() };
    let held = Held::new(draft()).picks("ann").told(Command::Stop).settles("turn/1#1", stopped);
    let used = held.state.used[&super::super::SeatId("ann".into())];
    assert_eq!((used.calls, held.state.ledger.counted_of("ann").tokens), (1, ANN as u64));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..Default::default() })]

    #[test]
    fn low_is_never_above_high(
        rounds in 1..50_u32,
        windows in proptest::collection::vec((0..3_000_u32, any::<bool>(), 1..600_u32), 2..6),
        low_ms in 0..1_000_u64,
        more_ms in 0..1_000_u64,
    ) {
        let sit = |(n, (window, is_person, most)): (usize, (u32, bool, u32))| {
            let name = format!("S{n}");
            let mut seat = if is_person { person(&name, None) } else { seat(&name) };
            if let Sitter::Model { window_tokens, bounds, .. } = &mut seat.sitter {
                *window_tokens = window;
                bounds.output_tokens = Some(most);
            }
            seat
        };
        let mut seats = windows.into_iter().enumerate().map(sit);
        let facilitator = seats.next().expect("a seat");
        let participants = seats.map(|seat| takes_part(seat, Role::Participant)).collect();
        let create = Create { max_rounds: rounds, facilitator, participants, ..draft() };
        let measure = |_: &ModelName| Some(Measure { low_ms, high_ms: low_ms + more_ms });
        let price = |_: &ModelName| Some(Price { input: 2.0, output: 8.0, cached: None });
        let estimate = foresee(create, at(0), measure, price).expect("an estimate");
        let ranges = [
            Some(estimate.calls), Some(estimate.input_tokens), Some(estimate.output_tokens),
            estimate.seconds, estimate.cost,
        ];
        for range in ranges {
            let range = range.expect("all is known");
            prop_assert!(0.0 <= range.low && range.low <= range.high, "{range:?}");
        }
    }
}
