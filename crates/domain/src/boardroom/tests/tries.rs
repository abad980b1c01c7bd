//! Several answers of one seat, asked for at once, of which one can be picked; roles of one's
//! own; who sits there; on which terms.

use super::*;

fn named(seat: u8, asked: u32) -> ContributionId {
    ContributionId { seat: SeatId(seat), round: 1, asked }
}

/// A pair whose first seat is asked for three answers.
fn thrice() -> Convene {
    let mut board = pair();
    board.seats[0].tries = 3;
    board
}

fn pick(seat: u8, asked: u32) -> Command {
    Command::Own(Own::Pick { seat: SeatId(seat), asked })
}

fn to_three() -> Vec<Command> {
    vec![
        answers("advisor/1#2", "Two."),
        answers("advisor/1#3", "Three."),
        answers("advisor/2#1", "No."),
        answers("advisor/1#1", "One."),
    ]
}

#[test]
fn all_tries_are_asked_for_at_once_and_all_go_into_the_synthesis() {
    let (state, _) = told(thrice(), vec![]);
    let calls = ["advisor/1#1", "advisor/1#2", "advisor/1#3", "advisor/2#1"];
    assert_eq!(due_ids(&state), ids(&calls));
    let (state, log) = told(thrice(), to_three());
    assert_eq!(due_ids(&state), ids(&["synthesis/1#1"]));
    let basis = [named(1, 1), named(1, 2), named(1, 3), named(2, 1)];
    assert_eq!(state.syntheses[0].basis, basis);
    let text = ask(&state, &CallId("synthesis/1#1".into())).unwrap().messages[0].text.clone();
    for words in ["advisor Advocate, answer 1", "advisor Advocate, answer 3", "advisor Critic"] {
        assert!(text.contains(words), "{words:?} is missing in\n{text}");
    }
    // The log names a try only where it is not the last one.
    let tries: Vec<Option<u32>> = log
        .iter()
        .filter_map(|event| match event {
            Event::AdvisorAnswered { asked, .. } => Some(*asked),
            _ => None,
        })
        .collect();
    assert_eq!(tries, [Some(2), None, None, Some(1)]);
}

/// A second paper of one seat could never be handed in, and would be asked for for ever.
#[test]
fn whoever_answers_several_times_votes_once() {
    let board = Convene { ballot: true, ..thrice() };
    let (state, _) = told(board, then(to_three(), [answers("synthesis/1#1", FOUR)]));
    assert_eq!(due_ids(&state), ids(&["ballot/1/1#1", "ballot/1/2#1"]));
}

#[test]
fn one_can_be_picked_and_counts_alone_from_then_on() {
    let closed = then(to_three(), [answers("synthesis/1#1", FOUR)]);
    let story = then(closed.clone(), [pick(1, 2), resynthesize()]);
    let (state, log) = told(thrice(), story.clone());
    assert_eq!(state.syntheses[1].basis, [named(1, 2), named(2, 1)]);
    assert_eq!(state.syntheses[0].basis.len(), 4, "what is made stays as it was made");
    // A follow-up goes on from the one that was picked.
    let further = Own::FollowUp {
        prompt: "And then?".into(),
        seats: vec![SeatId(1)],
        brief: Default::default(),
    };
    let further = [answers("synthesis/2#1", FOUR), Command::Own(further)];
    let (later, _) = told(thrice(), then(story, further));
    let said = &ask(&later, &CallId("advisor/1/2#1".into())).unwrap().messages[1];
    assert_eq!((said.text.as_str(), due_ids(&later).len()), ("Two.", 3));
    // A record of it is taken over elsewhere.
    let imported = Command::Own(Own::Import { from: None, events: log });
    assert!(decide(None, imported, at(99), nonce(99)).is_ok());
    let wrong = |problem: &str| Reject::Invalid(vec![Wrong::new("try", problem)]);
    let none = wrong("there is no such answer; available: 1, 2, 3");
    check_refused(thrice(), closed.clone(), pick(1, 4), none);
    check_refused(thrice(), closed, pick(2, 1), wrong("there is only one answer"));
}

#[test]
fn a_try_that_fails_or_is_stopped_leaves_the_others() {
    let story = vec![
        answers("advisor/1#2", "Two."),
        fails("advisor/1#3", FailureKind::TimedOut),
        answers("advisor/2#1", "No."),
        stop_one(1),
        hands_back("advisor/1#1", "On"),
    ];
    let (state, _) = told(thrice(), story);
    assert_eq!(state.syntheses[0].basis, [named(1, 2), named(2, 1)]);
    assert_eq!(state.syntheses[0].absent, vec![]);
    let stopped = &state.advisors[0].earlier[0].standing;
    assert!(matches!(stopped, Standing::Stopped { partial: Some(text), .. } if text == "On"));
}

#[test]
fn a_seat_is_asked_again_as_it_was_asked() {
    let again = then(to_three(), [answers("synthesis/1#1", FOUR), pick(1, 1), retry(1)]);
    let (state, _) = told(thrice(), again);
    assert_eq!(due_ids(&state), ids(&["advisor/1#4", "advisor/1#5", "advisor/1#6"]));
    assert_eq!(state.advisors[0].picked, vec![]);
}

/// Who sits there comes first, then the part, then the language of the board.
#[test]
fn a_role_of_ones_own_an_agent_and_a_language_make_the_prompt() {
    let mut board = pair();
    board.seats[0].own = Some(OwnRole { name: "Compliance officer".into(), ..OwnRole::default() });
    board.seats[1].seated = Seated { persona: "You know the law.".into(), ..Seated::default() };
    board.seats[1].seated.temperature = Some(0.5);
    board.terms.language = Some("German".into());
    let (state, _) = told(board, vec![]);
    let asked = |call: &str| ask(&state, &CallId(call.into())).unwrap();
    let own = asked("advisor/1#1");
    assert!(own.system.starts_with("You sit on a board of advisors as the Compliance officer."));
    assert!(own.system.ends_with("Whatever the language of the question, answer in German."));
    let agent = asked("advisor/2#1");
    assert!(agent.system.starts_with("You know the law.\n\nYou sit on a board of advisors as the"));
    assert_eq!((agent.temperature, own.temperature), (Some(0.5), None));
    assert_eq!(state.label(SeatId(1)), "Compliance officer");
    let own = state.advisors[0].seat.own.clone().unwrap();
    assert_eq!((own.initials.as_str(), own.colour.as_str()), ("CO", "#00897b"));
}

#[test]
fn a_role_that_could_be_taken_for_another_is_refused() {
    for name in ["Crtic", "Сritic", "ＣＲＩＴＩＣ", "ехреrt"] {
        let mut board = pair();
        board.seats[0].own = Some(OwnRole { name: name.into(), ..OwnRole::default() });
        let refused = decide(None, Command::Own(Own::Convene(board)), at(0), nonce(0));
        let Err(Reject::Invalid(wrong)) = refused else { panic!("{name} was accepted") };
        assert_eq!(wrong[0].field, "advisors[0].role", "{name}");
    }
}
