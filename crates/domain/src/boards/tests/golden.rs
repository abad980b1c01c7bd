//! The JSON of every event. See `golden.rs` of this crate.

use super::*;
use crate::golden::{self, samples};

const GOLDEN: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/boards-events.json"));

samples! {
    BoardAdded => [Event::BoardAdded { board: board(told(vec![add("mine", seats())]).as_ref(), "mine") }],
    BoardEdited => [Event::BoardEdited { board: Arc::new(board::tests::furnished()) }],
    BoardRemoved => [Event::BoardRemoved { name: "mine".into() }],
}

#[test]
fn events_are_written_as_they_always_were() {
    for (listed, event) in samples() {
        assert_eq!(variant(&event), listed);
    }
    golden::check(GOLDEN, &samples());
}
