//! The JSON of every event. See `golden.rs` of this crate.

use super::*;
use crate::golden::{self, samples};

const GOLDEN: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/signals-events.json"));

samples! {
    Sent => [
        Event::Sent {
            name: "built".into(),
            number: 7,
            fields: map(json!({ "id": 24, "ok": true, "tag": "v1" })),
            by: "ci".into(),
            at: Timestamp::new(5, 1).unwrap(),
        },
        Event::Sent { name: "built".into(), number: 8, fields: Map::new(), by: "ci".into(), at: at(6) },
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
