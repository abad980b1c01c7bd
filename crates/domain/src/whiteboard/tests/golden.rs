//! The JSON of every event. See `golden.rs` of this crate.

use super::*;
use crate::golden::{self, samples};

const GOLDEN: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/whiteboard-events.json"));

samples! {
    Opened => [opened(board()), opened(furnished()), opened(guarded())],
    Registered => [
        registered(1, "ada", Role::Specialist, None),
        registered(2, "pr-reviewer@v1.0.0", Role::Facilitator, Some("docs")),
        registered(3, "olga", Role::Operator, None),
    ],
    InvitationRenewed => [
        Event::InvitationRenewed { generation: 1, by: agent("fay"), at: at(3) },
    ],
    Invited => [
        Event::Invited { agent: agent("eve"), role: Role::Operator, by: agent("fay"), at: at(3) },
    ],
    TokenRenewed => [Event::TokenRenewed { agent: agent("fay"), generation: 2, at: at(3) }],
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
    Seated => [
        Event::Seated {
            agent: agent("max"),
            domain: None,
            seat: seats::seat("m/1"),
            nonce: crate::Nonce("c0de".into()),
            by: agent("fay"),
            at: at(3),
        },
        Event::Seated {
            agent: agent("sec"),
            domain: Some("security".into()),
            seat: Seat {
                seated: crate::Seated::of(&crate::agent::built_in()[0]).with(Some(0.5), Some(900)),
                budget: golden::budget().most,
                ..seats::seat("m/2")
            },
            nonce: crate::Nonce("c0de".into()),
            by: agent("fay"),
            at: at(3),
        },
    ],
    Priced => [Event::Priced(golden::noted())],
    Budgeted => [Event::Budgeted(golden::budget())],
    TimeOver => [Event::TimeOver { at: at(9) }],
    Answered => [
        seats::answered("post/max#1", Task::Post, vec![]),
        seats::answered("validate/max#2", Task::Validate, vec![]),
        seats::answered("debate/max#1", Task::Debate, vec!["There is no post eve/1.".into()]),
        seats::answered(
            "rebut/max/ben/a1#1",
            Task::Rebut { challenge: note_id("ben/a1") },
            vec![],
        ),
        seats::answered("vote/max#1", Task::Vote, vec![]),
    ],
    AnswerFailed => [
        Event::AnswerFailed {
            call: CallId("post/max#1".into()),
            agent: agent("max"),
            task: Task::Post,
            failure: crate::call::Failure {
                kind: crate::call::FailureKind::Malformed,
                message: "There is no JSON.".into(),
                attempts: 2,
                usage: seats::used(),
            },
            partial: "Well".into(),
            at: at(9),
        },
    ],
    AnswerStopped => [
        Event::AnswerStopped {
            call: CallId("vote/max#1".into()),
            agent: agent("max"),
            partial: "{".into(),
            usage: seats::used(),
            at: at(9),
        },
        Event::AnswerStopped {
            call: CallId("vote/max#1".into()),
            agent: agent("max"),
            partial: String::new(),
            usage: Default::default(),
            at: at(9),
        },
    ],
    Stopped => [Event::Stopped { at: at(9) }],
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
    decide(None, Command::Own(Own::Open(open)), at(0)).unwrap().remove(0)
}

fn furnished() -> Open {
    let deadlines = Phase::ALL.into_iter().take(5).zip([1_000, 2_000, 3_000, 4_000, 5_000]);
    Open {
        project: Some("docs".into()),
        debate: Visibility::OwnAndRelated,
        ..with_deadlines(&deadlines.collect::<Vec<_>>())
    }
}

fn guarded() -> Open {
    Open { principal: Some("token-2".into()), admission: Admission::Invited, ..board() }
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
    golden::check(GOLDEN, &samples());
}

#[test]
fn the_name_of_an_event_is_its_tag_and_each_sample_stands_under_its_variant() {
    golden::check_names(&samples(), variant, Event::name);
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
