//! The JSON of every event, as logs in the field hold it. A line here is never
//! edited: a new variant or an optional field gets a new line at its place.

use serde_json::Value;

use super::*;

const GOLDEN: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/whiteboard-events.json"));

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
    Opened => [opened(board()), opened(furnished())],
    Registered => [
        registered(1, "ada", Role::Specialist, None),
        registered(2, "pr-reviewer@v1.0.0", Role::Facilitator, Some("docs")),
        registered(3, "olga", Role::Operator, None),
    ],
    Posted => [
        posted(4, "ada/1", content(PostKind::Proposal, "A")),
        posted(5, "ada/2", targeted(PostKind::Claim, Severity::Critical)),
        posted(6, "ada/3", targeted(PostKind::Concern, Severity::High)),
        posted(7, "ada/4", targeted(PostKind::Informational, Severity::Medium)),
        posted(8, "ada/5", targeted(PostKind::Proposal, Severity::Low)),
    ],
    Annotated => [
        noted(Note::Validation { result: Finding::Confirmed }),
        noted(Note::Validation { result: Finding::Refuted }),
        noted(Note::Validation { result: Finding::Inconclusive }),
        noted(Note::Challenge),
        noted(Note::Corroboration),
        noted(Note::Rebuttal { challenge: None }),
        noted(Note::Rebuttal { challenge: Some(note_id("cyd/a1")) }),
        noted(Note::Withdrawal { challenge: None }),
        noted(Note::Withdrawal { challenge: Some(note_id("ben/a1")) }),
        noted(Note::Resolution { challenge: note_id("cyd/a1") }),
    ],
    Voted => [
        voted(10, "ben", "ada/1", Choice::Accept),
        voted(10, "ben", "ada/1", Choice::Reject),
        Event::Voted {
            post: post_id("ada/1"),
            by: agent("ben"),
            choice: Choice::Defer,
            reason: Some("Later.".into()),
            at: at(10),
        },
    ],
    Transitioned => [
        moved(11, Some("fay"), Phase::Read),
        moved(11, Some("fay"), Phase::Validate),
        moved(11, None, Phase::Debate),
        moved(11, Some("fay"), Phase::Resolve),
        Event::Transitioned {
            to: Phase::Archived,
            by: Some(agent("fay")),
            note: Some("Done.".into()),
            at: at(11),
        },
    ],
}

fn opened(open: Open) -> Event {
    decide(None, Command::Open(open), at(0)).unwrap().remove(0)
}

fn furnished() -> Open {
    let deadlines = Phase::ALL.into_iter().take(5).zip([1_000, 2_000, 3_000, 4_000, 5_000]);
    Open {
        project: Some("docs".into()),
        debate: Visibility::OwnAndRelated,
        ..with_deadlines(&deadlines.collect::<Vec<_>>())
    }
}

fn targeted(kind: PostKind, severity: Severity) -> Content {
    Content {
        target_file: Some("src/a.rs".into()),
        target_location: Some("12-40".into()),
        severity: Some(severity),
        finding_refs: vec!["F-1".into()],
        cascade_targets: vec!["src/b.rs".into(), "src/c.rs".into()],
        ..content(kind, "A")
    }
}

fn noted(note: Note) -> Event {
    annotated(9, "ben/a2", "ada/1", note)
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
        assert_eq!(crate::Event::Whiteboard(event.clone()).name(), event.name());
    }
}

/// What the first release may have left out, it may leave out for ever.
#[test]
fn fields_with_a_default_may_be_absent() {
    let line = r#"{"type":"opened","name":"adr-1","topic":"Which tool builds the docs?","by":"fay","at":"2027-01-15T08:00:00Z"}"#;
    assert_eq!(serde_json::from_str::<Event>(line).ok(), Some(opened(board())));
    let line = r#"{"type":"annotated","id":"ben/a2","post":"ada/1","by":"ben","note":{"kind":"rebuttal"},"body":"ben on ada/1.","at":"2027-01-15T08:00:09Z"}"#;
    let event = noted(Note::Rebuttal { challenge: None });
    assert_eq!(serde_json::from_str::<Event>(line).ok(), Some(event));
    assert!(crate::Event::decode("whiteboard", r#"{"type":"closed"}"#).is_err());
}
