//! The rules of signals, by example and in any order.

mod golden;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::ids::Nonce;
use crate::workflow::{matches, resumes};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn map(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn decide(
    state: Option<&State>,
    name: &str,
    fields: Value,
    at: Timestamp,
) -> Result<Vec<Event>, Reject> {
    let moment = Moment { at, nonce: Nonce(String::new()), actor: "ann".into() };
    State::decide(state, Command::Send { name: name.into(), fields: map(fields) }, &moment)
}

/// The room after signals of these fields that were sent at these seconds.
fn sent(all: &[(i64, Value)]) -> State {
    let mut state: Option<State> = None;
    for (second, fields) in all {
        let events = decide(state.as_ref(), "built", fields.clone(), at(*second)).unwrap();
        state = events.iter().fold(state, |state, event| State::apply(state, event, at(*second)));
    }
    state.unwrap()
}

#[track_caller]
fn check_wrong(name: &str, fields: Value, expected: &[(&str, &str)]) {
    let wrong = match decide(None, name, fields, at(1)) {
        Err(Reject::Invalid(wrong)) => wrong,
        other => panic!("{other:?}"),
    };
    let wrong: Vec<(&str, &str)> =
        wrong.iter().map(|wrong| (wrong.field.as_str(), wrong.problem.as_str())).collect();
    assert_eq!(wrong, expected);
}

#[test]
fn what_was_sent_is_found_by_who_waits_for_it() {
    let state = sent(&[(1, json!({ "id": 24 })), (5, json!({})), (9, json!({ "ok": true }))]);
    assert_eq!(state.called(), Some("built"));
    let came = state.came(at(5));
    let expected = [
        json!({ "signal": "built", "_number": 2, "_at": "1970-01-01T00:00:05Z", "_by": "ann" }),
        json!({ "signal": "built", "ok": true, "_number": 3, "_at": "1970-01-01T00:00:09Z", "_by": "ann" }),
    ];
    assert_eq!(came, expected.map(map));
    let wanted = map(json!({ "signal": "built", "ok": "true" }));
    assert_eq!(resumes(true, std::slice::from_ref(&wanted), &came), Some(vec![came[1].clone()]));
    assert!(matches(&map(json!({ "signal": "built", "id": "24" })), &state.came(at(0))[0]));
}

#[test]
fn signals_of_one_moment_have_moments_of_their_own() {
    let state = sent(&[(5, json!({})), (5, json!({})), (3, json!({}))]);
    let times: Vec<Timestamp> = state.sent().map(|sent| sent.at).collect();
    let nanos = |nanos: i32| Timestamp::new(5, nanos).unwrap();
    assert_eq!(times, [nanos(0), nanos(1), nanos(2)]);
    assert_eq!(state.came(nanos(2)).len(), 1);
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    check_wrong(
        "Built",
        json!({ "signal": "x", "_at": 1, "list": [], "none": null, "": 1, "fine": 1 }),
        &[
            ("name", crate::names::ROOM_NAME),
            ("fields.", "has no name"),
            ("fields._at", "starts with `_`, which is reserved"),
            ("fields.list", "must be a string, a number, true or false"),
            ("fields.none", "must be a string, a number, true or false"),
            ("fields.signal", "is the name of the signal, and cannot be one of its fields"),
        ],
    );
    let told = "`board-transitioned` is sent by sessions themselves; it cannot be sent by hand";
    check_wrong("board-transitioned", json!({}), &[("name", told)]);
    let long = json!({ "x": "x".repeat(limits::SIGNAL_BYTES) });
    check_wrong("built", long, &[("fields", "are 16392 bytes; at most 16384 are allowed")]);
    let many = (0..65).map(|n| (format!("k{n}"), json!(n))).collect::<Map<_, _>>();
    check_wrong("built", Value::Object(many), &[("fields", "are 65; at most 64 are allowed")]);
}

#[test]
fn a_room_takes_signals_of_its_own_name_only() {
    let state = sent(&[(1, json!({}))]);
    let wrong = Wrong::new("name", "is not the signal of this room, \"built\"");
    let refused = Err(Reject::Invalid(vec![wrong]));
    assert_eq!(decide(Some(&state), "broken", json!({}), at(2)), refused);
}

#[test]
fn what_nobody_can_wait_for_any_more_is_forgotten() {
    let day = 24 * 3_600;
    let state = sent(&[(0, json!({})), (day, json!({})), (91 * day, json!({}))]);
    assert_eq!(state.sent().map(|sent| sent.number).collect::<Vec<_>>(), [2, 3]);
    let many: Vec<(i64, Value)> = (0..1_005).map(|second| (second, json!({}))).collect();
    let numbers: Vec<u64> = sent(&many).sent().map(|sent| sent.number).collect();
    assert_eq!(numbers, (6..=1_005).collect::<Vec<u64>>());
}

proptest! {
    /// Who goes on after the last one that was taken gets each once, in order, however the
    /// clock goes.
    #[test]
    fn nobody_misses_a_signal_or_gets_one_twice(
        seconds in prop::collection::vec(-5i64..5, 1..60),
        looks in prop::collection::vec(any::<bool>(), 60),
    ) {
        let mut state: Option<State> = None;
        let (mut since, mut taken) = (at(0), vec![]);
        let mut now = 100;
        for (step, look) in seconds.iter().zip(looks) {
            now += step;
            let events = decide(state.as_ref(), "built", json!({}), at(now)).unwrap();
            state = events.iter().fold(state, |state, event| State::apply(state, event, at(now)));
            if look {
                for signal in state.as_ref().unwrap().came(since) {
                    taken.push(signal["_number"].as_u64().unwrap());
                    since = after(signal["_at"].as_str().unwrap().parse().unwrap());
                }
            }
        }
        let last = taken.len() as u64;
        prop_assert_eq!(taken, (1..=last).collect::<Vec<u64>>());
        let left = state.iter().flat_map(|state| state.came(since)).count();
        prop_assert_eq!(last as usize + left, seconds.len());
    }
}
