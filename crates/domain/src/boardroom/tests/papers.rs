//! Points and votes under any text: bounded, numbered, and never invented.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::Config;

use super::*;
use crate::boardroom::ballot::points;

fn quick(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

/// What an advisor's ballot brings that says this, on the three points of `FOUR`.
fn outcome(text: &str) -> Option<Event> {
    let board = Convene { ballot: true, ..pair() };
    let (_, log) = told(board, then(to_closed(), [answers("ballot/1/1#1", text)]));
    log.into_iter().next_back()
}

fn check(text: &str) {
    match outcome(text) {
        Some(Event::BallotCast { votes, answer: said, .. }) => {
            let numbers: Vec<u32> = votes.iter().map(|vote| vote.point).collect();
            assert!(!numbers.is_empty() && numbers.is_sorted_by(|a, b| a < b), "{text:?}");
            assert!(numbers.iter().all(|point| (1..=3).contains(point)), "{text:?}");
            let long = |vote: &Vote| vote.reason.len() > limits::VOTE_REASON_BYTES;
            assert!(!votes.iter().any(long), "{text:?}");
            assert_eq!(said, Some(answer(text)));
        }
        Some(Event::BallotFailed { failure, partial, .. }) => {
            let kinds = [FailureKind::Malformed, FailureKind::Empty];
            assert!(kinds.contains(&failure.kind) && !failure.message.is_empty());
            assert!(partial == text || text.trim().is_empty());
        }
        other => panic!("{text:?} brings {other:?}"),
    }
}

fn pieces() -> impl Strategy<Value = String> {
    let marks = [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "\n",
        "```json\n",
        "```",
        "<think>",
        "</think>",
        "|",
        "\\",
        "point",
        "point1",
        "point 2",
        "\"point3\"",
        "votes",
        "\"vote\"",
        "\"reason\"",
        "accept",
        "reject",
        "defer",
        "perhaps",
        "1",
        "2",
        "3",
        "4",
        "99999999999",
        " ",
        "- ",
        "1. ",
        "é",
        "'",
    ];
    prop_oneof![4 => select(marks.to_vec()).prop_map(str::to_owned), 1 => "\\PC{0,6}"]
}

proptest! {
    #![proptest_config(quick(512))]

    #[test]
    fn any_ballot_is_read_or_refused(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn any_pieces_of_a_ballot_are_read_or_refused(pieces in vec(pieces(), 0..40)) {
        check(&pieces.concat());
    }

    /// A ballot that is cut off anywhere says less, and never something else.
    #[test]
    fn a_cut_ballot_is_never_another(
        choices in vec(select(Choice::ALL.to_vec()), 3),
        cut in 0..400_usize,
    ) {
        let votes = choices.iter().zip(1..).map(|(choice, n)| {
            let word = choice.word();
            format!(r#""point{n}": {{"vote": "{word}", "reason": "It says, \"so\"."}}"#)
        });
        let text = format!("{{{}}}", votes.collect::<Vec<_>>().join(", "));
        let cut = &text[..cut.min(text.len())];
        check(cut);
        if let Some(Event::BallotCast { votes, .. }) = outcome(cut) {
            for vote in votes {
                prop_assert_eq!(vote.vote, choices[vote.point as usize - 1]);
            }
        }
    }

}

proptest! {
    #![proptest_config(quick(64))]

    #[test]
    fn points_are_few_short_and_numbered(
        bodies in vec(vec("(- |1\\. |  \\* |# |```|\\||None|\n|\n\n|[A-Z][a-z]{0,8}[.!?]? |\\PC){0,12}", 0..6), 3),
    ) {
        let body = |place: usize| bodies[place].concat();
        let text = format!(
            "## Consensus\nA.\n\n## Points of Agreement\n{}\n\n## Points of Divergence\n{}\n\n## Recommendation\n{}",
            body(0), body(1), body(2),
        );
        let verdict = verdict::read(&text);
        let (points, left_out) = points::read(&verdict);
        prop_assert!(points.len() <= limits::BALLOT_POINTS);
        prop_assert!(left_out == 0 || points.len() == limits::BALLOT_POINTS);
        for (point, number) in points.iter().zip(1..) {
            prop_assert_eq!(point.number, number);
            prop_assert!(!point.text.contains('\n') && !point.text.trim().is_empty());
            prop_assert!(point.text.len() <= limits::POINT_BYTES);
        }
        prop_assert!(points.is_sorted_by_key(|point| point.section));
        prop_assert!(verdict.headings != Headings::Missing || points.is_empty());
    }
}
