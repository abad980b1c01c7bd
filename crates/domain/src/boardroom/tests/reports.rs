//! A board in a few words.

use super::*;
use crate::room::Progress;

#[track_caller]
fn check(board: Convene, story: Vec<Command>, progress: (u32, u32, &str), report: &str) {
    let (state, _) = told(board, story);
    let (done, total, message) = progress;
    assert_eq!(state.progress(), Progress { done, total, message: message.into() });
    assert_eq!(state.report(false), report);
    let waits = state.next().iter().any(|sentence| sentence.starts_with("Wait"));
    assert_eq!(waits, !state.is_over());
    let stops = state.next().iter().any(|sentence| sentence.starts_with("Stop"));
    assert_eq!(stops, state.allowed().contains(&"stop"));
    assert!(state.report(true).starts_with("# "));
}

/// What `FOUR` says, under headings of ours.
const FOUR_QUOTED: &str = "## Consensus\n\n> A.\n\n## Points of Agreement\n\n> B.\n\n## Points of Divergence\n\n> C.\n\n## Recommendation\n\n> D.";

fn none_yet(message: &str) -> String {
    format!("*No verdict yet. {message}*")
}

#[test]
fn progress_is_told_step_by_step() {
    let words = "0 of 2 advisors have answered; waiting for Advocate (m/1), Critic (m/2).";
    check(pair(), vec![], (0, 3, words), &none_yet(words));
    let words = "1 of 2 advisors have answered; waiting for Critic (Ada, a person).";
    let first = vec![answers("advisor/1#1", "Yes.")];
    check(with_person(None), first.clone(), (1, 3, words), &none_yet(words));
    let words = "1 of 2 advisors have answered; waiting for Critic (m/2) until 2027-01-15T08:00:06Z at the latest.";
    check(with_quorum(1, pair()), first.clone(), (1, 3, words), &none_yet(words));
    let words = "Both advisors have answered; m/s is writing the verdict.";
    let both = then(first.clone(), [answers("advisor/2#1", "No.")]);
    check(pair(), both, (2, 3, words), &none_yet(words));
    let words = "Both advisors have answered; the verdict is ready.";
    check(pair(), to_closed(), (3, 3, words), FOUR_QUOTED);
    let words = "1 of 2 advisors have answered; the board was stopped.";
    check(pair(), then(first, [Command::Stop]), (2, 3, words), &none_yet(words));
}

#[test]
fn a_report_says_what_it_had_to_do_without() {
    let story = vec![
        answers("advisor/1#1", "Yes."),
        fails("advisor/2#1", FailureKind::RateLimited),
        answers("synthesis/1#1", FOUR),
    ];
    let words = "1 of 2 advisors have answered; the verdict is ready.";
    let missing = "*From 1 of 2 advisors. Missing: Critic (rate limited).*\n\n";
    check(pair(), story, (3, 3, words), &format!("{missing}{FOUR_QUOTED}"));
    let story = vec![
        fails("advisor/1#1", FailureKind::Empty),
        fails("advisor/2#1", FailureKind::RateLimited),
    ];
    let words = "0 of 2 advisors have answered; the board failed: No advisor answered.";
    check(pair(), story, (2, 3, words), &none_yet(words));
}

#[test]
fn while_a_new_synthesis_is_written_the_last_one_stands() {
    let words = "Both advisors have answered; m/s is writing the verdict.";
    let older = "*This is verdict v1; there is no newer one.*\n\n";
    check(
        pair(),
        then(to_closed(), [resynthesize()]),
        (2, 3, words),
        &format!("{older}{FOUR_QUOTED}"),
    );
}

#[test]
fn what_can_be_done_is_told_in_sentences() {
    let next = |story| told(pair(), story).0.next();
    let read = "Get it with full detail to read every advisor's answer.";
    assert_eq!(
        next(vec![]),
        [
            "Wait until it is over; it continues on its own.",
            "Stop it: what has arrived is kept, and no verdict follows.",
            read,
        ]
    );
    assert_eq!(
        next(to_closed()),
        [
            read,
            "Its operator can also: resynthesize, retry, ask a follow-up, let the advisors vote on \
             the verdict."
        ]
    );
}
