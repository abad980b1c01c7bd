//! Answers are added and never replaced, and what was made from one names it for ever.

use super::*;

fn named(seat: u8, asked: u32) -> ContributionId {
    ContributionId { seat: SeatId(seat), round: 1, asked }
}

/// Closed, and the critic, on another model, has changed its mind since.
fn to_second() -> Vec<Command> {
    let again = [
        retry_with(2, "m/other"),
        answers("advisor/2#2", "Yes, after all."),
        answers("synthesis/2#1", FOUR),
    ];
    then(to_closed(), again)
}

#[test]
fn a_retry_adds_an_answer_and_the_old_synthesis_names_the_old_one() {
    let (state, _) = told(pair(), to_second());
    let bases: Vec<&[ContributionId]> =
        state.syntheses.iter().map(|synthesis| synthesis.basis.as_slice()).collect();
    assert_eq!(bases, [[named(1, 1), named(2, 1)], [named(1, 1), named(2, 2)]]);
    let said = |asked| state.answer(named(2, asked)).map(|answer| answer.text.as_str());
    assert_eq!([said(1), said(2), said(3)], [Some("No."), Some("Yes, after all."), None]);
    let sitters: Vec<&Sitter> =
        state.advisors[1].earlier.iter().map(|earlier| &earlier.sitter).collect();
    assert_eq!(sitters, [&Sitter::Model(model("m/2"))]);
    assert_eq!(state.advisors[1].earlier[0].span.and_then(|span| span.ended_at), Some(at(2)));
}

#[test]
fn the_record_has_every_answer_and_says_which_a_synthesis_is_made_from() {
    let (state, _) = told(pair(), to_second());
    let record = markdown(&state);
    for words in [
        "# Critic (m/other)\n\n> Yes, after all.\n\n## Earlier answer 1 (m/2)\n\n> No.\n",
        "Made from: Advocate, Critic (answer 1).",
        "Made from: Advocate, Critic (answer 2).",
    ] {
        assert!(record.contains(words), "{words:?} is missing in\n{record}");
    }
}

/// A stop and a retry that are decided together: what the stopped call had said comes
/// later, and belongs to the contribution that it was for.
#[test]
fn what_is_handed_back_late_is_the_text_of_the_earlier_one() {
    let story = vec![stop_one(1), retry(1), hands_back("advisor/1#1", "I th")];
    let (state, _) = told(pair(), story);
    let partial = Some("I th".into());
    let (why, usage) = (Stopping::ByHand, Usage::default());
    let expected = Standing::Stopped { why, partial, usage };
    assert_eq!(state.advisors[0].earlier[0].standing, expected);
    assert!(state.advisors[0].standing.is_asked());
}

/// One where another model took over from one that had only missed the headings.
#[test]
fn a_log_of_an_earlier_version_is_read_as_ever_and_names_its_answers() {
    let log = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/boardroom-retried.json");
    let log = std::fs::read_to_string(log).expect("a file");
    let events: Vec<Event> = serde_json::from_str(&log).expect("a log");
    let state = events.iter().fold(None, apply::<State>).expect("a board");
    let told: Vec<(&[ContributionId], &str, usize)> = state
        .syntheses
        .iter()
        .map(|s| (&s.basis[..], s.model.0.as_str(), s.failed.len()))
        .collect();
    let first = [named(1, 1), named(2, 1)];
    let second = [named(1, 1), named(2, 2)];
    assert_eq!(told, [(&first[..], "m/t", 1), (&second[..], "m/s", 0)]);
    assert_eq!(
        (state.status(), state.syntheses[0].failed[0].text.as_str()),
        ("closed", "They differ.")
    );
    assert!(imported(events).is_ok());
}
