//! The JSON of every event. See `golden.rs` of this crate.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, json};

use super::story::{id, map};
use crate::golden::{self, samples};
use crate::ids::Nonce;
use crate::shelf::{Event, How};
use crate::workflow::{End, sound};

const GOLDEN: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/shelf-events.json"));

const SOURCE: &str = "name: tea\non: { cron: { at: '0 9 * * 1' } }\nsteps: { a: { set: 1 } }";

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn triggered(how: How, inputs: Map<String, serde_json::Value>, key: Option<&str>) -> Event {
    let (number, version, starter) = (7, 2, "ann".to_owned());
    Event::Triggered {
        number,
        version,
        how,
        inputs,
        starter,
        key: key.map(str::to_owned),
        at: at(2),
    }
}

samples! {
    Stored => [Event::Stored {
        version: 1,
        source: SOURCE.into(),
        definition: Arc::new(sound(SOURCE).unwrap()),
        nonce: Nonce("c0de".into()),
        by: "ann".into(),
        at: at(1),
    }],
    Removed => [Event::Removed { by: "ann".into(), at: at(2) }],
    Triggered => [
        triggered(How::Cron { due_at: at(1) }, Map::new(), None),
        triggered(How::Signal { number: Some(3), sent_at: Some(at(1)) }, map(json!({ "topic": "tea" })), Some("tea")),
        triggered(How::Signal { number: None, sent_at: None }, Map::new(), None),
        triggered(How::Webhook { id: "msg_1".into() }, Map::new(), None),
        triggered(How::Person { run: id(9), opener: String::new() }, Map::new(), None),
        triggered(How::Person { run: id(9), opener: "token-2".into() }, Map::new(), None),
    ],
    Skipped => [Event::Skipped { how: How::Cron { due_at: at(1) }, why: "Run 5 has not ended.".into(), at: at(2) }],
    Missed => [Event::Missed { from: at(1), until: at(2), at: at(3) }],
    Opened => [Event::Opened { number: 7, run: id(9), at: at(2) }],
    StartFailed => [Event::StartFailed { number: 7, why: "Nobody is there.".into(), at: at(2) }],
    Dropped => [Event::Dropped { number: 7, why: "another took its place".into(), at: at(2) }],
    StopAsked => [Event::StopAsked { number: 7, at: at(2) }],
    StopTried => [Event::StopTried { number: 7, at: at(2) }],
    RunEnded => [
        Event::RunEnded { number: 7, run: id(9), status: End::Done, reason: String::new(), at: at(2) },
        Event::RunEnded { number: 7, run: id(9), status: End::Failed, reason: "It is gone.".into(), at: at(2) },
    ],
    ListenFailed => [Event::ListenFailed { why: "It went wrong.".into(), again_at: at(3), at: at(2) }],
    ListenAgain => [Event::ListenAgain { at: at(3) }],
}

#[test]
fn every_event_is_written_and_read_as_the_golden_file_says() {
    golden::check(GOLDEN, &samples());
}

#[test]
fn the_name_of_an_event_is_its_tag() {
    golden::check_names(&samples(), variant, Event::name);
}
