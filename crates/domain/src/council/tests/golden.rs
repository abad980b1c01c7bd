//! The JSON of every event, as logs in the field hold it. A line here is never
//! edited: a new variant or an optional field gets a new line at its place.

use serde_json::Value;

use super::*;

const GOLDEN: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/council-events.json"));

/// Writes `samples`, and a match without `_` arm over the variants they are
/// listed under: a variant without samples does not compile.
macro_rules! samples {
    ($($variant:ident => [$($event:expr),+ $(,)?]),+ $(,)?) => {
        fn samples() -> Vec<(&'static str, Event)> {
            vec![$($((stringify!($variant), $event)),+),+]
        }

        fn variant(event: &Event) -> &'static str {
            match event {
                $(Event::$variant { .. } => stringify!($variant)),+
            }
        }
    };
}

samples! {
    Opened => [told(four(), vec![]).1.remove(0), furnished()],
    Posted => [
        posted(1, 1, "bo", "Which?", &["ann", "cy"]),
        told(seven(), vec![post("bo", "Hi."), reply("bo", "All?", 1)]).1.remove(3),
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
    AnswerStopped => [stopped("ann", 1, "Gr")],
    Stopped => [Event::Stopped],
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
    Usage { input_tokens: Some(12), output_tokens: Some(34) }
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
    let golden: Vec<Value> = serde_json::from_str(GOLDEN).expect("the golden file is JSON");
    let samples = samples();
    let written: Vec<Value> =
        samples.iter().map(|(_, event)| serde_json::to_value(event).unwrap()).collect();
    for (written, golden) in written.iter().zip(&golden) {
        assert_eq!(written, golden);
    }
    let unlisted = written.iter().skip(golden.len()).map(Value::to_string).collect::<Vec<_>>();
    assert!(unlisted.is_empty(), "add to the golden file:\n{}", unlisted.join(",\n"));
    assert_eq!(golden.len(), samples.len(), "the golden file has lines without a sample");
    for (line, (_, event)) in golden.into_iter().zip(&samples) {
        assert_eq!(serde_json::from_value::<Event>(line).as_ref().ok(), Some(event));
    }
}

#[test]
fn the_name_of_an_event_is_its_tag_and_each_sample_stands_under_its_variant() {
    for (listed, event) in samples() {
        assert_eq!(variant(&event), listed);
        let tag = serde_json::to_value(&event).unwrap()["type"].clone();
        assert_eq!(tag, event.name());
    }
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
            row("Answered", "Green."),
            row("Answered", "@cy White."),
            row("Closed", "Green."),
        ]
    );
}
