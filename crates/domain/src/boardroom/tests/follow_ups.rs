//! A board goes on: further questions to the same seats.

use super::*;

fn follow_up(prompt: &str) -> Command {
    Command::Own(Own::FollowUp { prompt: prompt.into(), seats: vec![], brief: Default::default() })
}

fn followed_up(n: usize, round: u32, prompt: &str, seats: &[u8]) -> Event {
    let addressed = |seat: &u8| Addressed { seat: SeatId(*seat), reply_by: None };
    let (prompt, asked) = (prompt.into(), seats.iter().map(addressed).collect());
    Event::FollowedUp { round, prompt, asked, brief: Default::default(), at: at(n) }
}

fn named(seat: u8, round: u32, asked: u32) -> ContributionId {
    ContributionId { seat: SeatId(seat), round, asked }
}

/// Closed, and the board has answered a second question.
fn to_second_round() -> Vec<Command> {
    let second = [
        follow_up("How soon?"),
        answers("advisor/1/2#1", "Now."),
        answers("advisor/2/2#1", "Never."),
        answers("synthesis/2#1", FOUR),
    ];
    then(to_closed(), second)
}

#[test]
fn a_further_question_is_a_round_with_a_synthesis_of_its_own() {
    let story = to_second_round();
    let log = then(
        closed_log(),
        [
            followed_up(4, 2, "How soon?", &[1, 2]),
            answered(1, "Now."),
            answered(2, "Never."),
            began(6, 2, "m/s", &[1, 2], &[]),
            synthesized(2),
        ],
    );
    check(
        pair(),
        story[..4].to_vec(),
        log[..5].to_vec(),
        ("answering", &["advisor/1/2#1", "advisor/2/2#1"]),
    );
    check(pair(), story.clone(), log.clone(), ("closed", &[]));
    let (state, whole) = told(pair(), story);
    let bases: Vec<(u32, &[ContributionId])> =
        state.syntheses.iter().map(|s| (s.round, s.basis.as_slice())).collect();
    let (first, second) = ([named(1, 1, 1), named(2, 1, 1)], [named(1, 2, 1), named(2, 2, 1)]);
    assert_eq!(bases, [(1, &first[..]), (2, &second[..])]);
    let said = |id| state.answer(id).map(|answer| answer.text.as_str());
    assert_eq!([said(first[1]), said(second[1])], [Some("No."), Some("Never.")]);
    assert_eq!(imported(whole.clone()), Ok(then(renewed(whole), [IMPORTED()])));
    let progress = state.progress();
    assert_eq!((progress.done, progress.total), (3, 3));
}

#[test]
fn a_question_that_begins_with_names_is_put_to_them_alone() {
    for (prompt, seats, question) in [
        ("@critic How sure?", vec![2], "How sure?"),
        ("  @Critic: How sure?", vec![2], "How sure?"),
        ("@advocate, @critic How sure?", vec![1, 2], "How sure?"),
        ("How sure is @critic?", vec![1, 2], "How sure is @critic?"),
        ("@ noon?", vec![1, 2], "@ noon?"),
    ] {
        let (_, log) = told(pair(), then(to_closed(), [follow_up(prompt)]));
        assert_eq!(log.last(), Some(&followed_up(4, 2, question, &seats)), "{prompt}");
    }
    let critics = board(&[Role::Critic, Role::Critic]);
    for (prompt, seats) in [("@critic-2 Why?", vec![2]), ("@critic Why?", vec![1, 2])] {
        let (_, log) = told(critics.clone(), then(to_closed(), [follow_up(prompt)]));
        assert_eq!(log.last(), Some(&followed_up(4, 2, "Why?", &seats)), "{prompt}");
    }
    let problem = "there is no advisor @jester here; available: @advocate, @critic";
    let wrong = Reject::Invalid(vec![Wrong::new("prompt", problem)]);
    check_refused(pair(), to_closed(), follow_up("@jester Why?"), wrong);
}

/// Who was not asked is neither heard nor missing, and may be asked as well.
#[test]
fn only_who_is_asked_is_waited_for() {
    let one = then(to_closed(), [follow_up("@critic Why?"), answers("advisor/2/2#1", "So.")]);
    let log = then(
        closed_log(),
        [followed_up(4, 2, "Why?", &[2]), answered(2, "So."), began(5, 2, "m/s", &[2], &[])],
    );
    check(pair(), one.clone(), log, ("synthesizing", &["synthesis/2#1"]));
    let (state, _) = told(pair(), then(one, [answers("synthesis/2#1", FOUR), retry(1)]));
    assert_eq!(due_ids(&state), ids(&["advisor/1/2#1"]));
    let asked: Vec<(u32, u32)> = state.advisors.iter().map(|a| (a.round, a.asked)).collect();
    assert_eq!(asked, [(2, 1), (2, 1)]);
}

#[test]
fn a_further_question_needs_a_board_at_rest_and_something_to_go_on_from() {
    let early = "The board is still working on its question; wait for it or stop it.";
    let refused = not_now("answering", early, &["stop", "export"]);
    check_refused(pair(), vec![], follow_up("Why?"), refused);
    let failed =
        vec![fails("advisor/1#1", FailureKind::Idle), fails("advisor/2#1", FailureKind::Idle)];
    let none = "No one has answered yet, so there is nothing to follow up on.";
    let refused = not_now("failed", none, &["resume", "retry", "export"]);
    check_refused(pair(), failed, follow_up("Why?"), refused);
    let blank = Reject::Invalid(vec![Wrong::new("prompt", "must not be empty")]);
    check_refused(pair(), to_closed(), follow_up("@critic "), blank);
    let mut story = to_closed();
    for round in 2..=limits::FOLLOW_UPS + 1 {
        story.push(follow_up("@critic And?"));
        story.push(answers(&format!("advisor/2/{round}#1"), "So."));
        story.push(answers(&format!("synthesis/{round}#1"), FOUR));
    }
    let full = "This board has the maximum number of questions or verdicts.";
    let allowed = ["resynthesize", "retry", "openBallot", "export"];
    check_refused(pair(), story, follow_up("And?"), not_now("closed", full, &allowed));
}

/// A person has as long as for the first question, and the others are hidden again.
#[test]
fn people_are_asked_like_all_others() {
    let board = || with_person(Some(at(60)));
    let story =
        vec![answers("advisor/1#1", "Yes."), reply(2, "No."), answers("synthesis/1#1", FOUR)];
    let story = then(story, [follow_up("Why?"), answers("advisor/1/2#1", "Hush.")]);
    let (state, log) = told(board(), story.clone());
    let asked = vec![
        Addressed { seat: SeatId(1), reply_by: None },
        Addressed { seat: SeatId(2), reply_by: Some(at(64)) },
    ];
    let put = Event::FollowedUp {
        round: 2,
        prompt: "Why?".into(),
        asked,
        brief: Default::default(),
        at: at(4),
    };
    assert_eq!(log[log.len() - 2], put);
    assert_eq!(due_ids(&state), ids(&["deadline/2/2#1"]));
    let seen = markdown(&state.seen_from(SeatId(2)));
    assert!(seen.contains("> Yes.") && !seen.contains("Hush."), "{seen}");
    let (state, _) = told(board(), then(story, [elapses("deadline/2/2#1")]));
    assert_eq!(state.status(), "synthesizing");
    assert_eq!(
        state.degraded(&state.syntheses[1]).as_deref(),
        Some("From 1 of 2 advisors. Missing: Critic (timed out).")
    );
}

/// Also when a round in between was not for them.
#[test]
fn a_person_has_as_long_for_every_question() {
    let story =
        vec![answers("advisor/1#1", "Yes."), reply(2, "No."), answers("synthesis/1#1", FOUR)];
    let between = [
        follow_up("@advocate Why?"),
        answers("advisor/1/2#1", "So."),
        answers("synthesis/2#1", FOUR),
        follow_up("@critic Why?"),
    ];
    let (_, log) = told(with_person(Some(at(60))), then(story, between));
    let asked = vec![Addressed { seat: SeatId(2), reply_by: Some(at(67)) }];
    let put = Event::FollowedUp {
        round: 3,
        prompt: "Why?".into(),
        asked,
        brief: Default::default(),
        at: at(7),
    };
    assert_eq!(log.last(), Some(&put));
}

#[test]
fn the_record_goes_round_by_round() {
    let (state, _) =
        told(pair(), then(to_second_round(), [retry(2), answers("advisor/2/2#2", "Soon.")]));
    let record = markdown(&state);
    let heads: Vec<&str> =
        record.lines().filter(|line| line.starts_with("# ") || line.starts_with("## E")).collect();
    let expected = [
        "# Should we?",
        "# Advocate (m/1)",
        "# Critic (m/2)",
        "# Verdict v1 (m/s)",
        "# Question 2",
        "# Advocate (m/1)",
        "# Critic (m/2)",
        "## Earlier answer 1 (m/2)",
        "# Verdict v2 (m/s)",
        "# Verdict v3 (m/s)",
    ];
    assert_eq!(heads, expected, "{record}");
}

/// What was stopped and asked anew in the next round still comes to its own place.
#[test]
fn what_a_stopped_one_had_said_stays_in_its_round() {
    let story = vec![
        answers("advisor/1#1", "Yes."),
        Command::Stop,
        follow_up("Why?"),
        hands_back("advisor/2#1", "I th"),
    ];
    let (state, _) = told(pair(), story);
    let partial = Some("I th".to_owned());
    assert!(
        matches!(&state.advisors[1].earlier[0].standing, Standing::Stopped { partial: had, .. } if *had == partial)
    );
    assert_eq!(due_ids(&state), ids(&["advisor/1/2#1", "advisor/2/2#1"]));
}
