//! The JSON of every event. See `golden.rs` of this crate.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::definitions::sound;
use crate::budget::Allowance;
use crate::call::{Answer, Failure, FailureKind, Usage};
use crate::golden::{self, samples};
use crate::ids::{CallId, ModelName, Nonce, SessionId};
use crate::prices::Noted;
use crate::workflow::{
    Act, AtDeadline, Copied, Decision, Doing, End, Ending, Event, Forked, MayNote, Place, Seat,
    Took,
};

const GOLDEN: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/workflow-events.json"));

/// A file with everything that a definition can hold.
const WHOLE: &str = include_str!("whole.yaml");

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn map(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn place(place: &str) -> Place {
    Place(place.into())
}

fn failure() -> Failure {
    let usage = Usage { output_tokens: Some(3), ..Usage::default() };
    Failure {
        kind: FailureKind::Unreachable,
        message: "Nobody is there.".into(),
        attempts: 2,
        usage,
    }
}

fn began(doing: Doing) -> Event {
    Event::StepBegan { place: place("a"), doing, at: at(2) }
}

fn seat(notes: Vec<MayNote>) -> Seat {
    Seat {
        model: ModelName("m/x".into()),
        system: "You are x.".into(),
        view: "p1".into(),
        posts: vec!["p1".into()],
        notes,
        prices: Noted::default(),
        seated: Default::default(),
    }
}

samples! {
    Begun => [
        Event::Begun {
            run: SessionId(Uuid::nil()),
            definition: Arc::new(sound(WHOLE)),
            source: "name: whole".into(),
            inputs: map(json!({ "topic": "tea" })),
            title: "Tea".into(),
            starter: "ann".into(),
            parent: Some(SessionId(Uuid::max())),
            forked: Some(Forked {
                run: SessionId(Uuid::max()),
                from: "b".into(),
                steps: vec![
                    Copied { place: place("a"), output: Some(json!(1)) },
                    Copied { place: place("s"), output: None },
                ],
            }),
            nonce: Nonce("c0de".into()),
            at: at(1),
        },
        Event::Begun {
            run: SessionId(Uuid::nil()),
            definition: Arc::new(sound("name: a\nsteps: { a: { set: 1 } }")),
            source: "name: a".into(),
            inputs: Map::new(),
            title: "a".into(),
            starter: "ann".into(),
            parent: None,
            forked: None,
            nonce: Nonce("c0de".into()),
            at: at(1),
        },
    ],
    StepBegan => [
        began(Doing::Act { act: Act::WhiteboardPost, with: map(json!({ "board": "b", "as": "x", "ask": "Propose." })) }),
        began(Doing::Act { act: Act::Http, with: map(json!({ "post": "https://x", "headers": { "authorization": { "secret": "HOOK", "before": "", "after": "" } } })) }),
        began(Doing::Sleep { until: at(3) }),
        began(Doing::Wait { all: false, signals: vec![map(json!({ "signal": "built", "id": 24 }))], until: Some(at(3)) }),
        began(Doing::Approve {
            who: vec!["ann".into()],
            need: 1,
            show: json!("Tea."),
            evidence: json!(["https://x"]),
            until: Some(at(3)),
            at_deadline: AtDeadline::Reject,
        }),
        began(Doing::Foreach { items: vec![json!("x"), json!(2)] }),
        began(Doing::Repeat {}),
    ],
    SessionOpened => [Event::SessionOpened { place: place("a"), session: "s1".into(), at: at(2) }],
    SeatFound => [
        Event::SeatFound { place: place("a/1/b"), seat: seat(vec![]), at: at(2) },
        Event::SeatFound {
            place: place("a/1/b"),
            seat: seat(vec![MayNote {
                kind: "rebuttal".into(),
                posts: vec!["p1".into()],
                challenges: vec!["a1".into()],
            }]),
            at: at(2),
        },
    ],
    Answered => [Event::Answered { place: place("a"), answer: Answer::by_person("Tea.".into()), at: at(2) }],
    Decided => [
        Event::Decided {
            place: place("a"),
            by: "ann".into(),
            decision: Decision::Changes,
            reason: "shorter".into(),
            fields: Map::new(),
            at: at(2),
        },
        Event::Decided {
            place: place("a"),
            by: "ann".into(),
            decision: Decision::Approved,
            reason: String::new(),
            fields: map(json!({ "note": "fine" })),
            at: at(2),
        },
    ],
    RoundEnded => [Event::RoundEnded { place: place("a"), round: 1, output: json!({ "number": 1 }), at: at(2) }],
    AttemptFailed => [Event::AttemptFailed { place: place("a"), failure: failure(), again_at: at(3), at: at(2) }],
    AttemptBegan => [Event::AttemptBegan { place: place("a"), at: at(2) }],
    StepDone => [Event::StepDone { place: place("a"), output: json!({ "text": "Tea." }), at: at(2) }],
    StepSkipped => [Event::StepSkipped { place: place("a"), why: "`when` is false".into(), at: at(2) }],
    StepFailed => [
        Event::StepFailed { place: place("a"), why: "It went wrong.".into(), output: Value::Null, failure: Some(failure()), at: at(2) },
        Event::StepFailed { place: place("a"), why: "an item failed".into(), output: json!([]), failure: None, at: at(2) },
    ],
    StepCancelled => [Event::StepCancelled { place: place("a"), why: "the run ended".into(), at: at(2) }],
    CancelAsked => [
        Event::CancelAsked { by: "ann".into(), reason: "enough".into(), at: at(2) },
        Event::CancelAsked { by: "ann".into(), reason: String::new(), at: at(2) },
    ],
    CutOff => [
        Event::CutOff { call: CallId("ask/a#1".into()), usage: Usage { output_tokens: Some(3), ..Usage::default() } },
        Event::CutOff { call: CallId("ask/a#1".into()), usage: Usage::default() },
    ],
    SessionSpent => [Event::SessionSpent {
        session: "s1".into(),
        took: Took {
            models: [(ModelName::new("m", "x"), Usage { input_tokens: Some(9), ..Usage::default() })].into(),
            prices: Noted { currency: "EUR".into(), models: Default::default() },
        },
    }],
    NotOpened => [Event::NotOpened { place: place("a"), at: at(2) }],
    Granted => [
        Event::Granted { place: place("a"), most: Allowance { tokens: Some(2_000), cost: None, time_ms: None }, at: at(2) },
        Event::Granted { place: place("a"), most: Allowance { tokens: None, cost: Some(0.5), time_ms: None }, at: at(2) },
    ],
    SessionEnded => [Event::SessionEnded { session: "s1".into(), at: at(2) }],
    FinallyBegan => [Event::FinallyBegan {
        ending: Ending { status: End::Failed, reason: "`a` failed: why".into(), outputs: Map::new() },
        until: at(3),
        at: at(2),
    }],
    Ended => [
        Event::Ended { ending: Ending { status: End::Done, reason: String::new(), outputs: map(json!({ "x": 1 })) }, at: at(2) },
        Event::Ended { ending: Ending { status: End::Cancelled, reason: "cancelled by ann".into(), outputs: Map::new() }, at: at(2) },
    ],
}

#[test]
fn every_event_is_written_and_read_as_the_golden_file_says() {
    golden::check(GOLDEN, &samples());
}

#[test]
fn the_name_of_an_event_is_its_tag() {
    golden::check_names(&samples(), variant, Event::name);
}
