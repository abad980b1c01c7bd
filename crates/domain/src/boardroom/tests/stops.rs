//! One advisor is stopped by hand, and the board goes on.

use super::*;

#[test]
fn the_others_go_on_and_the_synthesis_does_without_the_stopped_one() {
    let story = vec![
        stop_one(2),
        hands_back("advisor/2#1", "I th"),
        answers("advisor/1#1", "Yes."),
        answers("synthesis/1#1", FOUR),
    ];
    let events = vec![
        halted(2),
        stopped(2, "I th"),
        answered(1, "Yes."),
        began(3, 1, "m/s", &[1], &[(2, "stopped")]),
        synthesized(1),
    ];
    check(pair(), story.clone(), events, ("closed", &[]));
    check(pair(), vec![stop_one(2)], vec![halted(2)], ("answering", &["advisor/1#1"]));
    let (state, _) = told(pair(), story);
    let kept = Standing::Stopped {
        why: Stopping::ByHand,
        partial: Some("I th".into()),
        usage: Usage::default(),
    };
    assert_eq!(state.advisors[1].standing, kept);
}

#[test]
fn the_last_one_that_is_awaited_begins_the_synthesis() {
    let story = vec![
        answers("advisor/1#1", "Yes."),
        stop_one(2),
        // Its answer was under way: what had been said is kept, and changes nothing else.
        answers("advisor/2#1", "No."),
    ];
    let events = vec![
        answered(1, "Yes."),
        halted(2),
        began(2, 1, "m/s", &[1], &[(2, "stopped")]),
        stopped(2, "No."),
    ];
    check(pair(), story, events, ("synthesizing", &["synthesis/1#1"]));
}

#[test]
fn a_board_with_nobody_left_fails_and_can_be_resumed() {
    let story = vec![fails("advisor/1#1", FailureKind::Idle), stop_one(2)];
    let nobody = Event::Failed { reason: "No advisor answered.".into() };
    let events = vec![failed(1, FailureKind::Idle), halted(2), nobody];
    check(pair(), story.clone(), events.clone(), ("failed", &[]));
    check(
        pair(),
        then(story, [hands_back("advisor/2#1", "I th"), Command::Own(Own::Resume)]),
        then(events, [stopped(2, "I th"), retried(1), retried(2)]),
        ("answering", &["advisor/1#2", "advisor/2#2"]),
    );
}

#[test]
fn a_quorum_counts_who_is_left() {
    let story = vec![stop_one(1), stop_one(2), answers("advisor/3#1", "Hm."), stop_one(4)];
    let absent = [(1, "stopped"), (2, "stopped"), (4, "stopped")];
    let events = vec![
        halted(1),
        halted(2),
        answered(3, "Hm."),
        halted(4),
        began(4, 1, "m/s", &[3], &absent),
    ];
    check(with_quorum(2, four()), story, events, ("synthesizing", &["synthesis/1#1"]));
    // In the grace time the last straggler need not be waited for.
    let story = vec![answers("advisor/1#1", "Yes."), stop_one(2)];
    let events = vec![
        answered(1, "Yes."),
        reached(1),
        halted(2),
        began(2, 1, "m/s", &[1], &[(2, "stopped")]),
    ];
    check(with_quorum(1, pair()), story, events, ("synthesizing", &["synthesis/1#1"]));
}

#[test]
fn a_person_who_is_not_waited_for_any_longer_has_said_nothing() {
    let board = with_person(Some(at(60)));
    let story = vec![stop_one(2)];
    check(board.clone(), story.clone(), vec![halted(2)], ("answering", &["advisor/1#1"]));
    let (state, _) = told(board.clone(), story.clone());
    let said = Standing::Stopped {
        why: Stopping::ByHand,
        partial: Some(String::new()),
        usage: Usage::default(),
    };
    assert_eq!(state.advisors[1].standing, said);
    let late = not_now(
        "answering",
        "This seat has not been asked for a reply.",
        &["stop", "retry", "export"],
    );
    check_refused(board, story, reply(2, "Wait."), late);
}

#[test]
fn a_stopped_one_can_be_asked_again_while_the_others_answer() {
    let story = vec![stop_one(2), hands_back("advisor/2#1", "I th"), retry(2)];
    let events = vec![halted(2), stopped(2, "I th"), retried(2)];
    check(pair(), story, events, ("answering", &["advisor/1#1", "advisor/2#2"]));
}

#[test]
fn who_is_not_being_asked_cannot_be_stopped() {
    let story = vec![answers("advisor/1#1", "Yes.")];
    let running = ["stop", "synthesize", "retry", "export"];
    let answered = not_now("answering", "This advisor has already answered.", &running);
    check_refused(pair(), story, stop_one(1), answered);
    let idle = |allowed| not_now("answering", "This advisor is not being asked.", allowed);
    check_refused(pair(), vec![stop_one(1)], stop_one(1), idle(&["stop", "retry", "export"]));
    let story = vec![fails("advisor/1#1", FailureKind::Idle)];
    check_refused(pair(), story, stop_one(1), idle(&["stop", "retry", "export"]));
    let closed = ["resynthesize", "retry", "followUp", "openBallot", "export"];
    let closed = not_now("closed", "This advisor has already answered.", &closed);
    check_refused(pair(), to_closed(), stop_one(1), closed);
    let unknown = "This board has no advisor 3; its advisors are numbered 1 to 2.";
    check_refused(pair(), vec![], stop_one(3), Reject::Unknown(unknown.into()));
}
