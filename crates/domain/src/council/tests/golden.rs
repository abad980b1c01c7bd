//! The JSON of every event. See `golden.rs` of this crate.

use super::*;
use crate::golden::{self, samples};

const GOLDEN: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/council-events.json"));

samples! {
    Opened => [told(four(), vec![]).1.remove(0), furnished()],
    Priced => [Event::Priced(golden::noted())],
    Budgeted => [Event::Budgeted(golden::budget())],
    TimeOver => [Event::TimeOver { at: at(1) }],
    Posted => [
        posted(1, 1, "bo", "Which?", &["ann", "cy"]),
        told(seven(), vec![post("bo", "Hi."), reply("bo", "All?", 1)]).1.remove(3),
    ],
    Changed => [
        changed(2, Some("Choose a cup."), &[], &[]),
        changed(3, None, &council(&["eve"], &[]).members, &["ann"]),
    ],
    TurnBegan => [began(1, "ann", 1)],
    Answered => [
        answered(2, 2, ("ann", 1), "Green.", &[]),
        leaving_out(at_depth(measured(), 4, 3), &["di"]),
    ],
    Passed => [
        passed("ann", 1, "Agreed."),
        Event::Passed { member: "ann".into(), upto: 1, text: "ok".into(), usage: usage() },
    ],
    AnswerFailed => [failed("ann", 1, FailureKind::Idle)],
    AnswerStopped => [
        stopped("ann", 1, "Gr"),
        Event::AnswerStopped { member: "ann".into(), upto: 1, partial: "Gr".into(), usage: usage() },
    ],
    Stopped => [Event::Stopped],
    TokenRenewed => [token_renewed(1, "bo", 1)],
    Closed => [
        closed(3),
        Event::Closed { summary: Some("Green.".into()), by: Some("Bo".into()), at: at(3) },
    ],
}

fn furnished() -> Event {
    let mut council = four();
    council.members[0].persona = Some("A botanist.".into());
    council.project = Some("kitchen".into());
    council.by = Some("bo".into());
    told(council, vec![]).1.remove(0)
}

fn usage() -> Usage {
    Usage { input_tokens: Some(12), output_tokens: Some(34), ..Usage::default() }
}

fn measured() -> Event {
    let mut event = answered(5, 5, ("ann", 4), "@cy White.", &["cy"]);
    if let Event::Answered { answer, .. } = &mut event {
        answer.reasoning = "Hm.".into();
        answer.usage = usage();
        answer.timing = Timing { first_text_ms: Some(56), latency_ms: 78 };
        answer.attempts = 2;
    }
    event
}

#[test]
fn every_event_is_written_and_read_as_the_golden_file_says() {
    golden::check(GOLDEN, &samples());
}

#[test]
fn the_name_of_an_event_is_its_tag_and_each_sample_stands_under_its_variant() {
    golden::check_names(&samples(), variant, Event::name);
}

/// What the first release may have left out, it may leave out for ever.
#[test]
fn fields_with_a_default_may_be_absent() {
    let line = r#"{"type":"passed","member":"ann","upto":1,"text":"Agreed."}"#;
    assert_eq!(serde_json::from_str::<Event>(line).ok(), Some(passed("ann", 1, "Agreed.")));
    let line = r#"{"type":"closed","at":"2027-01-15T08:00:03Z"}"#;
    assert_eq!(serde_json::from_str::<Event>(line).ok(), Some(closed(3)));
    assert!(serde_json::from_str::<Event>(r#"{"type":"adjourned"}"#).is_err());
}

/// A search finds the charter, what was posted and the summary, and nothing that
/// failed, was stopped or says nothing.
#[test]
fn a_search_finds_what_was_said() {
    let found: Vec<(&str, String)> = samples()
        .into_iter()
        .map(|(variant, event)| (variant, event.searchable()))
        .filter(|(_, words)| !words.is_empty())
        .collect();
    let row = |variant, words: &str| (variant, words.to_owned());
    assert_eq!(
        found,
        [
            row("Opened", "tea\nChoose the tea."),
            row("Opened", "tea\nChoose the tea."),
            row("Posted", "Which?"),
            row("Posted", "All?"),
            row("Changed", "Choose a cup."),
            row("Answered", "Green."),
            row("Answered", "@cy White."),
            row("Closed", "Green."),
        ]
    );
}
