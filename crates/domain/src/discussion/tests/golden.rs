//! The JSON of every event. See `golden.rs` of this crate.

use super::*;
use crate::golden::{self, samples};

const GOLDEN: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/discussion-events.json"));

samples! {
    Created => [Held::new(draft()).events.remove(0), with_earlier_budget()],
    Edited => [
        Event::Edited { name: None, topic: None, format: None, max_rounds: Some(7), at: at(1) },
        Event::Edited {
            name: Some("Tea".into()),
            topic: Some("Tea?".into()),
            format: Some(Format::Brainstorm),
            max_rounds: None,
            at: at(1),
        },
    ],
    FacilitatorChanged => [
        Event::FacilitatorChanged { facilitator: Arc::new(seat("Zoe")), at: at(1) },
    ],
    ParticipantAdded => [
        Event::ParticipantAdded {
            participant: takes_part(seat("Cy"), Role::DevilAdvocate),
            at: at(1),
        },
    ],
    ParticipantRemoved => [
        Event::ParticipantRemoved { seat: SeatId("ann".into()), at: at(1) },
    ],
    Priced => [Event::Priced(golden::noted())],
    Budgeted => [Event::Budgeted(golden::budget())],
    TimeOver => [Event::TimeOver { at: at(1) }],
    Started => [
        Event::Started { estimate: None, at: at(1) },
        Event::Started { estimate: Some(foreseen()), at: at(1) },
    ],
    Began => [
        Event::Began { step: step(What::Opening), at: at(1) },
        Event::Began { step: step(turn()), at: at(1) },
        Event::Began { step: step(What::Evaluation { turn: 1 }), at: at(1) },
        Event::Began { step: step(synthesis(Why::Decided)), at: at(1) },
        Event::Began { step: step(synthesis(Why::Rounds)), at: at(1) },
        Event::Began { step: step(synthesis(Why::Budget)), at: at(1) },
        Event::Began {
            step: Step { tries: 2, reply_by: Some(at(61)), ..step(synthesis(Why::Asked)) },
            at: at(1),
        },
    ],
    Decided => [
        Event::Decided { decided: decided(Choice::Continue, How::Parsed), at: at(1) },
        Event::Decided {
            decided: Decided {
                note: Some("the fence was taken off".into()),
                raw: Some("```{}```".into()),
                usage: Usage { input_tokens: Some(12), output_tokens: None, ..Usage::default() },
                condensed: 3,
                ..decided(Choice::Continue, How::Repaired)
            },
            at: at(1),
        },
        Event::Decided { decided: decided(Choice::Continue, How::Fallback), at: at(1) },
        Event::Decided { decided: decided(Choice::Synthesize, How::Person), at: at(1) },
        Event::Decided { decided: decided(Choice::Synthesize, How::Rule), at: at(1) },
    ],
    Spoke => [
        Event::Spoke {
            turn: 1,
            speaker: SeatId("ann".into()),
            answer: answer(),
            condensed: 2,
            at: at(1),
        },
    ],
    TurnFailed => [
        Event::TurnFailed {
            turn: 1,
            speaker: SeatId("ann".into()),
            failure: failure(),
            partial: "Te".into(),
            condensed: 0,
            at: at(1),
        },
    ],
    CutOff => [
        Event::CutOff {
            call: CallId("turn/1#1".into()),
            partial: "Te".into(),
            usage: Usage::default(),
        },
        Event::CutOff {
            call: CallId("turn/1#1".into()),
            partial: "Te".into(),
            usage: Usage { cached_tokens: Some(5), cost_nano_usd: Some(7), ..answer().usage },
        },
    ],
    SynthesisFailed => [
        Event::SynthesisFailed {
            by: SeatId("chair".into()),
            failure: failure(),
            partial: String::new(),
            at: at(1),
        },
    ],
    Interjected => [
        Event::Interjected { by: "Eve".into(), text: "And milk?".into(), at: at(1) },
    ],
    PauseAsked => [Event::PauseAsked { at: at(1) }],
    Paused => [Event::Paused { next: step(turn()), at: at(1) }],
    Resumed => [Event::Resumed { at: at(1) }],
    Stopped => [Event::Stopped { next: step(turn()), at: at(1) }],
    ConcludeAsked => [Event::ConcludeAsked { at: at(1) }],
    Failed => [
        Event::Failed {
            why: "The last 2 turns failed.".into(),
            next: step(What::Evaluation { turn: 2 }),
            at: at(1),
        },
    ],
    Concluded => [
        Event::Concluded {
            by: SeatId("chair".into()),
            why: Why::Rounds,
            answer: answer(),
            condensed: 0,
            at: at(1),
        },
    ],
    ConclusionEdited => [
        Event::ConclusionEdited { by: "token-1".into(), text: "Tea!".into(), at: at(1) },
    ],
}

/// One of every kind, for whoever needs events in no order.
pub fn pool() -> Vec<Event> {
    samples().into_iter().map(|(_, event)| event).collect()
}

/// Earlier versions kept a number of tokens there.
fn with_earlier_budget() -> Event {
    let mut created = Held::new(furnished()).events.remove(0);
    if let Event::Created { budget_tokens, .. } = &mut created {
        *budget_tokens = Some(9_000);
    }
    created
}

fn furnished() -> Create {
    let bounds = Bounds {
        turn_ms: Some(9_000),
        output_tokens: Some(500),
        budget_tokens: Some(5_000),
        ..Bounds::default()
    };
    let sitter = Sitter::Model {
        model: ModelName("test/cy".into()),
        window_tokens: 8_000,
        bounds,
        workspace: Some(Workspace { folder: Some("notes".into()), tools: vec!["read".into()] }),
    };
    let cy = Seat {
        agent: Some(AgentId("cy".into())),
        description: "Knows cups.".into(),
        sitter,
        ..seat("Cy")
    };
    Create {
        name: "Tea".into(),
        format: Format::Review,
        context: vec![ContextFile { name: "menu.md".into(), text: "Green.".into() }],
        facilitator: person("Fay", Some(60_000)),
        participants: vec![
            takes_part(cy, Role::DevilAdvocate),
            takes_part(person("Gus", None), Role::Observer),
        ],
        budget: None,
        project: Some("kitchen".into()),
        ..draft()
    }
}

fn foreseen() -> Estimate {
    let range = |low, high| Range { low, high };
    Estimate {
        calls: range(4.0, 11.0),
        input_tokens: range(1_000.0, 9_000.0),
        output_tokens: range(400.0, 3_000.0),
        seconds: Some(range(1.5, 20.0)),
        cost: Some(range(0.001, 0.25)),
        notes: vec!["The time that people take is not counted.".into()],
    }
}

fn step(what: What) -> Step {
    Step { what, tries: 1, reply_by: None, nonce: nonce() }
}

fn turn() -> What {
    What::Turn { turn: 1, speaker: SeatId("ann".into()), question: "Why?".into() }
}

fn synthesis(why: Why) -> What {
    What::Synthesis { by: SeatId("chair".into()), why }
}

fn decided(decision: Choice, how: How) -> Decided {
    let goes_on = decision == Choice::Continue;
    Decided {
        turn: 1,
        decision,
        next: goes_on.then(|| SeatId("bob".into())),
        question: goes_on.then(|| "And you?".into()),
        reasoning: "Bob has not spoken.".into(),
        how,
        note: None,
        raw: None,
        usage: Usage::default(),
        timing: Timing::default(),
        condensed: 0,
    }
}

fn answer() -> Answer {
    Answer {
        text: "Tea.".into(),
        reasoning: "Hm.".into(),
        cut: false,
        usage: Usage { input_tokens: Some(12), output_tokens: Some(34), ..Usage::default() },
        timing: Timing { first_text_ms: Some(56), latency_ms: 78 },
        attempts: 2,
    }
}

fn failure() -> Failure {
    Failure {
        kind: FailureKind::Idle,
        message: "It went silent.".into(),
        attempts: 1,
        usage: crate::Usage::default(),
    }
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
    let line = r#"{"type":"started","at":"1970-01-01T00:00:01Z"}"#;
    let started = Event::Started { estimate: None, at: at(1) };
    assert_eq!(serde_json::from_str::<Event>(line).ok(), Some(started));
    let line = r#"{"type":"edited","maxRounds":7,"at":"1970-01-01T00:00:01Z"}"#;
    assert_eq!(serde_json::from_str::<Event>(line).ok().as_ref(), Some(&pool()[2]));
    assert!(serde_json::from_str::<Event>(r#"{"type":"adjourned"}"#).is_err());
}

/// A search finds name and topic, what was asked and said, and the conclusion.
#[test]
fn a_search_finds_what_was_said() {
    let words = pool().into_iter().map(|event| event.searchable());
    let words = words.filter(|words| !words.trim().is_empty());
    assert_eq!(
        words.collect::<Vec<_>>(),
        [
            "Tea or coffee?\nTea or coffee?",
            "Tea\nTea or coffee?",
            "Tea\nTea?",
            "Bob has not spoken.\nAnd you?",
            "Bob has not spoken.\nAnd you?",
            "Bob has not spoken.\nAnd you?",
            "Bob has not spoken.\n",
            "Bob has not spoken.\n",
            "Tea.",
            "And milk?",
            "Tea.",
            "Tea!",
        ]
    );
}
