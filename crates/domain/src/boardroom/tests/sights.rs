//! What a person sees before and after the own answer.

use super::*;

/// An advocate, Ada as the critic, and an analyst; the advocate has answered.
fn three() -> Convene {
    let mut board = board(&[Role::Advocate, Role::Critic, Role::Analyst]);
    board.seats[1].sitter = Sitter::Person { name: "Ada".into(), reply_by: None };
    board
}

const SECRET: &str = "Raise the price.";

fn said() -> Vec<Command> {
    let fails = settle(
        "advisor/3#1",
        Outcome::Failed { failure: failure(FailureKind::Idle), partial: SECRET.into() },
    );
    vec![answers("advisor/1#1", SECRET), fails]
}

/// Whether any of it stands in the picture, the record or the report from this seat.
fn tells(state: &State, seat: u8) -> bool {
    let seen = state.seen_from(SeatId(seat));
    let shown = format!("{:?} {} {}", seen.advisors, markdown(&seen), seen.report(false));
    let syntheses = format!("{:?}", seen.syntheses);
    shown.contains(SECRET) || syntheses.contains(SECRET)
}

#[test]
fn a_person_does_not_see_what_the_others_say_before_the_own_answer() {
    let (state, _) = told(three(), said());
    assert!(!tells(&state, 2));
    let seen = state.seen_from(SeatId(2));
    assert_eq!(seen.progress(), state.progress(), "how far the others are is no secret");
    assert!(markdown(&seen).contains("*Hidden until you answer.*"));
    // The seat of a model, and one that is not there, are nobody's.
    for seat in [1, 3, 9] {
        assert_eq!(*state.seen_from(SeatId(seat)), state);
    }
    let (after, _) = told(three(), then(said(), [reply(2, "No.")]));
    assert_eq!(*after.seen_from(SeatId(2)), after);
    let (passed, _) = told(three(), then(said(), [stop_one(2)]));
    assert!(tells(&passed, 2), "nothing is awaited any more");
}

#[test]
fn a_board_may_say_that_answers_are_open() {
    let (state, _) = told(Convene { open_answers: true, ..three() }, said());
    assert!(tells(&state, 2));
}

/// Whoever is asked again answers anew: nor is what was made of the others' words shown.
#[test]
fn a_synthesis_is_hidden_with_what_it_is_made_from() {
    let text = FOUR.replace("A.", SECRET);
    let closed = [reply(2, "No."), answers("synthesis/1#1", &text)];
    let (state, _) = told(three(), then(then(said(), closed), [retry(1), retry(2)]));
    assert!(!tells(&state, 2));
    assert!(state.seen_from(SeatId(2)).advisors[1].earlier[0].standing.done().is_some());
}

#[test]
fn events_are_told_without_the_words_of_others() {
    let story =
        then(said(), [reply(2, SECRET), answers("synthesis/1#1", &FOUR.replace("A.", SECRET))]);
    let (_, log) = told(three(), story);
    let telling = |event: &Event| {
        serde_json::to_string(&event.clone().veiled_for(SeatId(2))).unwrap().contains(SECRET)
    };
    let names: Vec<&str> = log.iter().filter(|event| telling(event)).map(Event::name).collect();
    assert_eq!(names, ["advisorAnswered"], "only the own answer");
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 64, failure_persistence: None, ..Default::default() })]

    /// Two boards whose others said different things look the same from the seat.
    #[test]
    fn what_the_others_say_changes_nothing_for_the_seat(one in "[a-z]{1,20}", other in "[a-z]{1,20}") {
        let seen = |text: &str| {
            let (state, _) = told(three(), vec![answers("advisor/1#1", text)]);
            markdown(&state.seen_from(SeatId(2)))
        };
        proptest::prop_assert_eq!(seen(&one), seen(&other));
    }
}
