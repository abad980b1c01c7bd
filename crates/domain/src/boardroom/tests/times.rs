//! When each part of a board began and ended.

use super::*;

/// The times of a story whose command number `n` was given at `at(n)`.
fn times(board: Convene, story: Vec<Command>) -> Vec<(String, usize, Option<usize>)> {
    let (state, _) = told(board, story);
    let second = |time: Timestamp| (time.as_second() - at(0).as_second()) as usize;
    let row = |(name, span): (String, Option<Span>)| {
        let span = span?;
        Some((name, second(span.started_at), span.ended_at.map(second)))
    };
    spans(&state).into_iter().filter_map(row).collect()
}

fn spans(state: &State) -> Vec<(String, Option<Span>)> {
    let advisors = state.advisors.iter().map(|a| (format!("advisor {}", a.seat.id.0), a.span));
    let syntheses = state.syntheses.iter().map(|s| (format!("synthesis {}", s.number), s.span));
    advisors.chain(syntheses).collect()
}

#[track_caller]
fn check_times(board: Convene, story: Vec<Command>, expected: &[(&str, usize, Option<usize>)]) {
    let found = times(board, story);
    let found: Vec<_> = found.iter().map(|(name, from, to)| (name.as_str(), *from, *to)).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_board_has_a_timeline() {
    check_times(
        pair(),
        to_closed(),
        &[("advisor 1", 0, Some(1)), ("advisor 2", 0, Some(2)), ("synthesis 1", 2, Some(3))],
    );
    check_times(pair(), vec![], &[("advisor 1", 0, None), ("advisor 2", 0, None)]);
}

#[test]
fn who_is_asked_again_begins_again() {
    let story = then(to_closed(), [retry(1), answers("advisor/1#2", "Yes.")]);
    check_times(
        pair(),
        story,
        &[
            ("advisor 1", 4, Some(5)),
            ("advisor 2", 0, Some(2)),
            ("synthesis 1", 2, Some(3)),
            ("synthesis 2", 5, None),
        ],
    );
}

#[test]
fn what_is_stopped_ends_then_and_not_when_its_text_comes() {
    let story = vec![stop_one(1), hands_back("advisor/1#1", "I th"), Command::Stop];
    let story = then(story, [hands_back("advisor/2#1", "No")]);
    check_times(pair(), story, &[("advisor 1", 0, Some(1)), ("advisor 2", 0, Some(3))]);
    let late = vec![answers("advisor/1#1", "Yes."), synthesize(), Command::Stop];
    check_times(
        pair(),
        late,
        &[("advisor 1", 0, Some(1)), ("advisor 2", 0, Some(2)), ("synthesis 1", 2, Some(3))],
    );
}

#[test]
fn a_synthesis_ends_when_nobody_takes_over() {
    let board = with_synthesizers(&["m/s", "m/t"], board(&[Role::Critic]));
    let story = vec![
        answers("advisor/1#1", "No."),
        fails("synthesis/1#1", FailureKind::Idle),
        fails("synthesis/1#2", FailureKind::Idle),
    ];
    check_times(board, story, &[("advisor 1", 0, Some(1)), ("synthesis 1", 1, Some(3))]);
}

#[test]
fn a_record_from_elsewhere_has_no_times() {
    let (_, log) = told(pair(), to_closed());
    let imported = Command::Own(Own::Import { from: None, events: log });
    let events = decide(None, imported, at(9), nonce(9)).expect("a good record");
    let state = events.iter().fold(None, apply::<State>).expect("a board");
    assert!(spans(&state).iter().all(|(_, span)| span.is_none()));
    // Who is asked again here has them.
    let asked = Event::AdvisorRetried { seat: SeatId(1), model: None };
    let state = State::apply(Some(state), &asked, at(10)).expect("a board");
    let span = Span { started_at: at(10), ended_at: None };
    assert_eq!(state.advisors[0].span, Some(span));
}
