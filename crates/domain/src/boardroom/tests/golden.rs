//! The JSON of every event. See `golden.rs` of this crate.

use super::*;
use crate::golden::{self, samples};

const GOLDEN: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/boardroom-events.json"));

samples! {
    Convened => [bare(), furnished(), voting(), open(), of_a_saved_board(), briefed()],
    Priced => [Event::Priced(golden::noted())],
    Budgeted => [Event::Budgeted(golden::budget())],
    TimeOver => [Event::TimeOver { at: at(1) }],
    AdvisorAnswered => [answered(1, "Yes."), measured(), cut(), counted()],
    AdvisorFailed => [
        broken(FailureKind::TimedOut),
        broken(FailureKind::Idle),
        broken(FailureKind::Refused),
        broken(FailureKind::RateLimited),
        broken(FailureKind::TooLong),
        broken(FailureKind::Empty),
        broken(FailureKind::Misconfigured),
        broken(FailureKind::Unreachable),
        broken(FailureKind::Malformed),
        broken(FailureKind::OutOfCredit),
        broken(FailureKind::PromptTooLong),
        broken(FailureKind::ProviderError),
        Event::AdvisorFailed {
            seat: SeatId(1), asked: None,
            failure: Failure { usage: spent(), ..failure(FailureKind::Idle) },
            partial: "Half a".into(),
        },
    ],
    AdvisorHalted => [halted(2)],
    AdvisorStopped => [
        stopped(2, "I th"),
        Event::AdvisorStopped { seat: SeatId(2), asked: None, partial: "I th".into(), usage: spent() },
    ],
    Overtaken => [
        Event::Overtaken {
            call: CallId("advisor/2#1".into()),
            partial: "I th".into(),
            usage: Usage::default(),
        },
        Event::Overtaken { call: CallId("advisor/2#1".into()), partial: "".into(), usage: spent() },
    ],
    AdvisorRetried => [
        retried(1),
        Event::AdvisorRetried { seat: SeatId(1), model: Some(model("m/other")) },
    ],
    AdvisorPicked => [Event::AdvisorPicked { seat: SeatId(2), asked: 3 }],
    FollowedUp => [
        Event::FollowedUp {
            round: 2,
            prompt: "How soon?".into(),
            asked: vec![
                Addressed { seat: SeatId(1), reply_by: None },
                Addressed { seat: SeatId(2), reply_by: Some(at(60)) },
            ],
            brief: Default::default(),
            at: at(9),
        },
        Event::FollowedUp {
            round: 2,
            prompt: "And in figures?".into(),
            asked: vec![Addressed { seat: SeatId(1), reply_by: None }],
            brief: Arc::new(Brief {
                answer_tokens: Some(200),
                files: vec![ContextFile { name: "notes.md".into(), text: "Notes.".into() }],
                ..Brief::default()
            }),
            at: at(9),
        },
    ],
    Threaded => [Event::Threaded { key: "v1/4711".into() }],
    QuorumReached => [reached(1)],
    SynthesisBegan => [
        began(2, 1, "m/s", &[1, 2], &[]),
        instructed(began(2, 2, "m/s", &[2], &[(1, "timed out")]), "In French."),
        from_tries(began(2, 1, "m/s", &[1, 2], &[])),
    ],
    SynthesisFailed => [
        synthesis_failed(3, 1, FailureKind::Idle, Some("m/t")),
        synthesis_failed(3, 1, FailureKind::Idle, None),
    ],
    SynthesisStopped => [Event::SynthesisStopped { number: 1, partial: "## Cons".into(), usage: Usage::default() }],
    Synthesized => [read_as(Headings::AsAsked), read_as(Headings::Repaired), read_as(Headings::Missing), read_as(Headings::NotAsked)],
    BallotBegan => [
        ballot_began(0, &[Section::Agreement], &[(1, None)]),
        ballot_began(
            2,
            &[Section::Agreement, Section::Divergence, Section::Recommendation],
            &[(1, None), (2, Some(at(60)))],
        ),
    ],
    BallotSkipped => [Event::BallotSkipped { number: 1, reason: "No points.".into() }],
    BallotCast => [
        ballot_cast(&[Choice::Accept, Choice::Reject, Choice::Defer], Some(answer("{}"))),
        ballot_cast(&[Choice::Accept], None),
    ],
    BallotFailed => [Event::BallotFailed {
        number: 1,
        seat: SeatId(2),
        failure: failure(FailureKind::Malformed),
        partial: "Half a".into(),
    }],
    BallotHalted => [Event::BallotHalted { number: 1, seat: SeatId(2) }],
    BallotStopped => [
        Event::BallotStopped {
            number: 1,
            seat: SeatId(2),
            partial: "{\"poi".into(),
            usage: Usage::default(),
        },
    ],
    BallotResumed => [Event::BallotResumed {
        number: 1,
        voters: vec![Voter { seat: SeatId(2), until: None }],
        nonce: nonce(4),
    }],
    Stopped => [Event::Stopped],
    Failed => [Event::Failed { reason: "No advisor answered.".into() }],
    Imported => [
        IMPORTED(),
        Event::Imported { from: "01890a5d-ac96-774b-bcce-b302099a8057".parse().ok(), at: at(1) },
    ],
}

fn bare() -> Event {
    told(board(&Role::ALL), vec![]).1.remove(0)
}

fn furnished() -> Event {
    let mut board = with_quorum(1, with_person(Some(at(60))));
    board.seats[0].system_prompt = Some("Be brief.".into());
    board.seats.push(Seat {
        id: SeatId(3),
        role: Role::Expert,
        sitter: Sitter::Person { name: "Bo".into(), reply_by: None },
        system_prompt: None,
        own: None,
        tries: 1,
        seated: Default::default(),
        budget: Allowance::default(),
    });
    board.context = vec![ContextFile { name: "notes.md".into(), text: "Notes.".into() }];
    told(board, vec![]).1.remove(0)
}

/// A role of one's own, a stored agent, settings and several tries, on the terms of a saved
/// board.
fn of_a_saved_board() -> Event {
    let mut board = pair();
    let agent = Seated::of(&crate::agent::built_in()[0]);
    board.seats[0].own = Some(OwnRole { name: "Compliance officer".into(), ..OwnRole::default() });
    board.seats[0].role = Role::Generalist;
    board.seats[0].tries = 3;
    board.seats[0].seated = Seated { persona: "You know the law.".into(), ..agent };
    board.seats[1].seated = Seated::default().with(Some(0.25), Some(500));
    board.terms = Terms {
        board: Some("security-board".into()),
        language: Some("German".into()),
        synthesizer: Seated { persona: "Be brief.".into(), ..Seated::default() },
    };
    told(board, vec![]).1.remove(0)
}

fn from_tries(event: Event) -> Event {
    let tried = |seat, asked| ContributionId { seat: SeatId(seat), round: 1, asked };
    match event {
        Event::SynthesisBegan { number, model, instruction, basis, absent, nonce, .. } => {
            let contributions = vec![tried(1, 1), tried(1, 2), tried(2, 1)];
            Event::SynthesisBegan {
                number,
                model,
                instruction,
                basis,
                contributions,
                absent,
                nonce,
            }
        }
        other => panic!("{other:?} is no synthesis"),
    }
}

fn voting() -> Event {
    told(Convene { ballot: true, ..pair() }, vec![]).1.remove(0)
}

fn open() -> Event {
    told(Convene { open_answers: true, ..pair() }, vec![]).1.remove(0)
}

fn briefed() -> Event {
    let mut board = pair();
    board.seats.pop();
    board.brief = Brief {
        instructions: Some("Answer in French.".into()),
        schema: Some(serde_json::json!({ "type": "object", "required": ["answer"] })),
        answer_tokens: Some(200),
        sole: true,
        files: vec![],
        images: vec![Arc::new(crate::Image {
            name: "plan.png".into(),
            media_type: crate::MediaType::Png,
            data: "iVBORw0KGgo=".into(),
        })],
    };
    told(board, vec![]).1.remove(0)
}

fn ballot_began(left_out: u32, sections: &[Section], voters: &[(u8, Option<Timestamp>)]) -> Event {
    let point = |(section, number): (&Section, u32)| Point {
        number,
        section: *section,
        text: "Start small.".into(),
    };
    let voter =
        |(seat, until): &(u8, Option<Timestamp>)| Voter { seat: SeatId(*seat), until: *until };
    Event::BallotBegan {
        number: 1,
        points: sections.iter().zip(1..).map(point).collect(),
        left_out,
        voters: voters.iter().map(voter).collect(),
        nonce: nonce(3),
    }
}

fn ballot_cast(choices: &[Choice], answer: Option<Answer>) -> Event {
    let vote = |(vote, point): (&Choice, u32)| Vote { point, vote: *vote, reason: "So.".into() };
    let votes = choices.iter().zip(1..).map(vote).collect();
    Event::BallotCast { number: 1, seat: SeatId(2), votes, answer }
}

fn measured() -> Event {
    let answer = Answer {
        reasoning: "Hm.".into(),
        usage: Usage { input_tokens: Some(12), output_tokens: Some(34), ..Usage::default() },
        timing: Timing { first_text_ms: Some(56), latency_ms: 78 },
        attempts: 2,
        ..answer("Yes.")
    };
    Event::AdvisorAnswered { seat: SeatId(1), asked: None, answer }
}

fn spent() -> Usage {
    Usage {
        input_tokens: Some(12),
        cached_tokens: Some(10),
        output_tokens: Some(34),
        reasoning_tokens: Some(20),
        cost_nano_usd: Some(1_420),
    }
}

fn counted() -> Event {
    Event::AdvisorAnswered {
        seat: SeatId(1),
        asked: None,
        answer: Answer { usage: spent(), ..answer("Yes.") },
    }
}

fn cut() -> Event {
    Event::AdvisorAnswered {
        seat: SeatId(1),
        asked: None,
        answer: Answer { cut: true, ..answer("Yes, bec") },
    }
}

fn broken(kind: FailureKind) -> Event {
    failed(1, kind)
}

fn read_as(headings: Headings) -> Event {
    let verdict = Verdict { text: "## Consensus\nA.".into(), headings };
    Event::Synthesized { number: 1, verdict, answer: answer("A.") }
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
    let line = r#"{"type":"advisorAnswered","seat":1,"answer":{"text":"Yes."}}"#;
    assert_eq!(serde_json::from_str::<Event>(line).ok(), Some(answered(1, "Yes.")));
    let line = r#"{"type":"advisorFailed","seat":1,"failure":{"kind":"idle","message":"It broke."},"partial":"Half a"}"#;
    let event = failed(1, FailureKind::Idle);
    assert_eq!(serde_json::from_str::<Event>(line).ok(), Some(event));
    assert!(crate::Event::decode("boardroom", r#"{"type":"adjourned"}"#).is_err());
    assert!(crate::Event::decode("seance", r#"{"type":"stopped"}"#).is_err());
}

/// A search finds the question, the answers, the synthesis and the reasons of votes, and nothing that
/// failed or was stopped.
#[test]
fn a_search_finds_what_was_asked_and_answered() {
    let found: Vec<(&str, String)> = samples()
        .into_iter()
        .map(|(variant, event)| (variant, event.searchable()))
        .filter(|(_, words)| !words.is_empty())
        .collect();
    let row = |variant, words: &str| (variant, words.to_owned());
    assert_eq!(
        found,
        [
            row("Convened", "Should we?"),
            row("Convened", "Should we?"),
            row("Convened", "Should we?"),
            row("Convened", "Should we?"),
            row("Convened", "Should we?"),
            row("Convened", "Should we?"),
            row("AdvisorAnswered", "Yes."),
            row("AdvisorAnswered", "Yes."),
            row("AdvisorAnswered", "Yes, bec"),
            row("AdvisorAnswered", "Yes."),
            row("FollowedUp", "How soon?"),
            row("FollowedUp", "And in figures?"),
            row("Synthesized", "## Consensus\nA."),
            row("Synthesized", "## Consensus\nA."),
            row("Synthesized", "## Consensus\nA."),
            row("Synthesized", "## Consensus\nA."),
            row("BallotCast", "So.\nSo.\nSo."),
            row("BallotCast", "So."),
        ]
    );
}
