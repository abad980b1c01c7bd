//! The ballot by example: points, votes, and what becomes of each paper.

use super::*;
use crate::boardroom::ballot::{Agreement, PaperStanding, points};
use crate::boardroom::verdict;
use serde_json::json;

// ---------------------------------------------------------------------------
// Points

#[track_caller]
fn check_points(synthesis: &str, expected: &[(Section, &str)], left_out: u32) {
    let (points, left) = points::read(&verdict::read(synthesis));
    let found: Vec<(u32, Section, &str)> =
        points.iter().map(|point| (point.number, point.section, point.text.as_str())).collect();
    let expected: Vec<(u32, Section, &str)> =
        expected.iter().zip(1..).map(|((section, text), n)| (n, *section, *text)).collect();
    assert_eq!((found, left), (expected, left_out));
}

fn synthesis(agreement: &str, divergence: &str, recommendation: &str) -> String {
    format!(
        "## Consensus\nAll of this.\n\n## Points of Agreement\n{agreement}\n\n\
         ## Points of Divergence\n{divergence}\n\n## Recommendation\n{recommendation}"
    )
}

use Section::{Agreement as Agreed, Divergence as Diverged, Recommendation as Advised};

#[test]
fn points_are_the_items_of_lists_in_three_sections() {
    let text = synthesis(
        "They share:\n- **Cost** is\n  known.\n\n- Risk is low\n  - now\n  - later\n\nSo they say.",
        "1. Speed.\n2) Scope | size.",
        "* Start.\n\n  Then look.\n* Stop when it hurts.",
    );
    let expected = [
        (Agreed, "**Cost** is known."),
        (Agreed, "Risk is low; now; later"),
        (Diverged, "Speed."),
        (Diverged, "Scope | size."),
        (Advised, "Start. Then look."),
        (Advised, "Stop when it hurts."),
    ];
    check_points(&text, &expected, 0);
}

#[test]
fn a_section_without_a_list_is_taken_by_its_sentences() {
    let text = synthesis(
        "It pays, e.g. in Q3. Dr. Lee and J. Doe see 3.5 percent! \"Enough?\" Yes.",
        "None.",
        "### First\nStart small.\nLook again in 2027. Then decide\n\n```\nno. Point.\n```\n| a | b |\n\nこれでよい。次へ。",
    );
    let expected = [
        (Agreed, "It pays, e.g. in Q3."),
        (Agreed, "Dr. Lee and J. Doe see 3.5 percent!"),
        (Agreed, "\"Enough?\""),
        (Agreed, "Yes."),
        (Advised, "Start small."),
        (Advised, "Look again in 2027."),
        (Advised, "Then decide"),
        (Advised, "これでよい。"),
        (Advised, "次へ。"),
    ];
    check_points(&text, &expected, 0);
}

#[test]
fn when_there_are_too_many_every_section_keeps_its_first() {
    let list = |name: &str, count: usize| -> String {
        (1..=count).map(|n| format!("- {name}{n}\n")).collect()
    };
    let text = synthesis(&list("a", 20), &list("b", 2), &list("c", 3));
    let expected = [
        (Agreed, "a1"),
        (Agreed, "a2"),
        (Agreed, "a3"),
        (Agreed, "a4"),
        (Agreed, "a5"),
        (Agreed, "a6"),
        (Agreed, "a7"),
        (Diverged, "b1"),
        (Diverged, "b2"),
        (Advised, "c1"),
        (Advised, "c2"),
        (Advised, "c3"),
    ];
    check_points(&text, &expected, 13);
    let (points, _) = points::read(&verdict::read(&synthesis(&"ü".repeat(900), "B.", "C.")));
    assert!(points[0].text.ends_with('…') && points[0].text.len() <= limits::POINT_BYTES);
    check_points("I would rather not.", &[], 0);
}

/// Long texts, which would take hours if each mark were looked
/// at together with all before it.
#[test]
fn a_text_without_end_is_read_in_one_go() {
    for piece in ["a.", "1.", "- ", "A. ", "é。", "```", "1", "**", "#\n", "  - a\n"] {
        let text = synthesis(&piece.repeat(128 * 1024 / piece.len()), "B.", "C.");
        let (points, _) = points::read(&verdict::read(&text));
        assert!(points.len() <= limits::BALLOT_POINTS);
    }
}

// ---------------------------------------------------------------------------
// Boards that vote

fn voting(board: Convene) -> Convene {
    Convene { ballot: true, ..board }
}

/// Votes on the points of `FOUR`, in the form that is asked for.
fn paper(votes: [&str; 3]) -> String {
    let vote = |vote: &str| json!({"vote": vote, "reason": format!("To {vote}.")});
    let [first, second, third] = votes.map(vote);
    json!({"point1": first, "point2": second, "point3": third}).to_string()
}

fn votes(votes: [&str; 3]) -> Vec<Vote> {
    let vote = |(word, point): (&str, u32)| {
        let choice = Choice::ALL.into_iter().find(|choice| choice.word() == word);
        Some(Vote { point, vote: choice?, reason: format!("To {word}.") })
    };
    votes.into_iter().zip(1..).filter_map(vote).collect()
}

fn ballot_began(n: usize, number: u32, seats: &[(u8, Option<Timestamp>)]) -> Event {
    let points = [(Agreed, "B."), (Diverged, "C."), (Advised, "D.")].into_iter().zip(1..);
    let point = |((section, text), number): ((Section, &str), u32)| Point {
        number,
        section,
        text: text.into(),
    };
    Event::BallotBegan {
        number,
        points: points.map(point).collect(),
        left_out: 0,
        voters: voters(seats),
        nonce: nonce(n),
    }
}

fn voters(seats: &[(u8, Option<Timestamp>)]) -> Vec<Voter> {
    seats.iter().map(|(seat, until)| Voter { seat: SeatId(*seat), until: *until }).collect()
}

fn resumed(n: usize, number: u32, seats: &[(u8, Option<Timestamp>)]) -> Event {
    Event::BallotResumed { number, voters: voters(seats), nonce: nonce(n) }
}

fn cast(number: u32, seat: u8, words: [&str; 3]) -> Event {
    let answer = Some(answer(&paper(words)));
    Event::BallotCast { number, seat: SeatId(seat), votes: votes(words), answer }
}

fn ballot_failed(number: u32, seat: u8, kind: FailureKind, message: &str, partial: &str) -> Event {
    let failure =
        Failure { kind, message: message.into(), attempts: 1, usage: crate::Usage::default() };
    Event::BallotFailed { number, seat: SeatId(seat), failure, partial: partial.into() }
}

fn handed_back(number: u32, seat: u8, partial: &str) -> Event {
    Event::BallotStopped {
        number,
        seat: SeatId(seat),
        partial: partial.into(),
        usage: crate::Usage::default(),
    }
}

fn votes_of(seat: u8, votes: Vec<Vote>) -> Command {
    Command::Own(Own::CastBallot { seat: SeatId(seat), votes })
}

fn ballot_log() -> Vec<Event> {
    then(closed_log(), [ballot_began(3, 1, &[(1, None), (2, None)])])
}

const ONE: [&str; 3] = ["accept", "reject", "defer"];
const TWO: [&str; 3] = ["accept", "accept", "defer"];

#[test]
fn the_advisors_vote_after_the_synthesis_and_the_last_vote_closes_the_board() {
    let board = || voting(pair());
    check(board(), to_closed(), ballot_log(), ("balloting", &["ballot/1/1#1", "ballot/1/2#1"]));
    let story = then(to_closed(), [answers("ballot/1/2#1", &paper(TWO))]);
    let log = then(ballot_log(), [cast(1, 2, TWO)]);
    check(board(), story.clone(), log.clone(), ("balloting", &["ballot/1/1#1"]));
    let story = then(story, [answers("ballot/1/1#1", &paper(ONE))]);
    check(board(), story.clone(), then(log, [cast(1, 1, ONE)]), ("closed", &[]));

    let (state, _) = told(board(), story);
    let held = state.syntheses[0].held().expect("a ballot");
    let counts: Vec<_> = held.counted().iter().map(|c| (c.accept, c.reject, c.defer)).collect();
    assert_eq!(counts, [(2, 0, 0), (1, 1, 0), (0, 0, 2)]);
    let pair = Agreement { a: SeatId(1), b: SeatId(2), same: 2, of: 3 };
    assert_eq!(held.agreement(), [pair]);
    assert_eq!(state.allowed(), ["resynthesize", "retry", "followUp", "export"]);
}

#[test]
fn a_board_without_the_ballot_closes_with_the_synthesis() {
    check(pair(), to_closed(), closed_log(), ("closed", &[]));
}

#[test]
fn only_advisors_that_answered_vote() {
    let story = vec![
        fails("advisor/1#1", FailureKind::Idle),
        answers("advisor/2#1", "No."),
        answers("synthesis/1#1", FOUR),
        answers("ballot/1/2#1", &paper(ONE)),
    ];
    let log = vec![
        failed(1, FailureKind::Idle),
        answered(2, "No."),
        began(2, 1, "m/s", &[2], &[(1, "stopped responding")]),
        synthesized(1),
        ballot_began(3, 1, &[(2, None)]),
        cast(1, 2, ONE),
    ];
    check(voting(pair()), story, log, ("closed", &[]));
}

#[test]
fn a_synthesis_without_points_has_no_ballot_and_says_so() {
    let skipped = |reason: &str| Event::BallotSkipped { number: 1, reason: reason.into() };
    let text = synthesis("None.", "N/A", "```\ncode\n```");
    let mut story = to_closed();
    story[2] = answers("synthesis/1#1", &text);
    let (state, log) = told(voting(pair()), story.clone());
    let reason = "The verdict has no points to vote on.";
    assert_eq!((log.last(), state.status()), (Some(&skipped(reason)), "closed"));

    story[2] = answers("synthesis/1#1", "Do it.");
    story.push(answers("synthesis/1#2", "Do it."));
    let (state, log) = told(voting(pair()), story);
    let reason = "The verdict does not have the four sections, so there are no points to vote on.";
    assert_eq!((log.last(), state.status()), (Some(&skipped(reason)), "closed"));
    assert!(state.report(false).contains(&format!("*No votes. {reason}*")));
}

#[test]
fn a_ballot_that_fails_or_cannot_be_read_is_told_and_the_board_closes() {
    let story = then(
        to_closed(),
        [answers("ballot/1/1#1", "I would say yes."), fails("ballot/1/2#1", FailureKind::Idle)],
    );
    let message = "The votes could not be read. It holds no votes.";
    let log = then(
        ballot_log(),
        [
            ballot_failed(1, 1, FailureKind::Malformed, message, "I would say yes."),
            ballot_failed(1, 2, FailureKind::Idle, "It broke.", "Half a"),
        ],
    );
    check(voting(pair()), story.clone(), log, ("closed", &[]));
    let (state, _) = told(voting(pair()), story);
    let held = state.syntheses[0].held().expect("a ballot");
    assert!(held.counted().iter().all(|counted| counted.votes.is_empty()));
    assert_eq!(held.agreement(), []);
}

#[test]
fn votes_on_unknown_points_are_dropped_and_missing_ones_stay_missing() {
    let text = r#"{"votes": [{"point": 3, "vote": "No", "reason": " So. "}, {"point": 9, "vote": "accept"}]}"#;
    let (state, log) = told(voting(pair()), then(to_closed(), [answers("ballot/1/1#1", text)]));
    let vote = Vote { point: 3, vote: Choice::Reject, reason: "So.".into() };
    let expected = Event::BallotCast {
        number: 1,
        seat: SeatId(1),
        votes: vec![vote],
        answer: Some(answer(text)),
    };
    assert_eq!(log.last(), Some(&expected));
    let held = state.syntheses[0].held().expect("a ballot");
    assert_eq!(held.not_voted(&held.papers[0]), [1, 2]);
    assert_eq!(held.not_voted(&held.papers[1]), [0; 0]);
}

#[test]
fn a_stop_ends_the_ballot_and_keeps_the_synthesis_and_the_votes() {
    let story = then(
        to_closed(),
        [answers("ballot/1/1#1", &paper(ONE)), Command::Stop, hands_back("ballot/1/2#1", "{\"poi")],
    );
    let log = then(ballot_log(), [cast(1, 1, ONE), Event::Stopped, handed_back(1, 2, "{\"poi")]);
    check(voting(pair()), story.clone(), log, ("stopped", &[]));
    let (state, _) = told(voting(pair()), story);
    assert!(matches!(state.syntheses[0].standing, SynthesisStanding::Done(_)));
    assert_eq!(
        state.allowed(),
        ["resume", "synthesize", "resynthesize", "retry", "followUp", "export"]
    );
}

#[test]
fn a_stopped_ballot_is_resumed_with_those_who_had_not_voted() {
    let story = then(
        to_closed(),
        [answers("ballot/1/1#1", &paper(ONE)), Command::Stop, Command::Own(Own::Resume)],
    );
    let log = then(ballot_log(), [cast(1, 1, ONE), Event::Stopped, resumed(6, 1, &[(2, None)])]);
    check(voting(pair()), story.clone(), log.clone(), ("balloting", &["ballot/1/2#2"]));
    // What the first try brings now comes too late to count; what it took is kept.
    let late = then(story.clone(), [answers("ballot/1/2#1", &paper(ONE))]);
    let (state, kept) = told(voting(pair()), late);
    assert!(matches!(kept.last(), Some(Event::Overtaken { .. })), "{kept:?}");
    assert_eq!(due_ids(&state), ids(&["ballot/1/2#2"]));
    let story = then(story, [answers("ballot/1/2#2", &paper(TWO))]);
    check(voting(pair()), story, then(log, [cast(1, 2, TWO)]), ("closed", &[]));
}

#[test]
fn once_an_advisor_was_asked_again_the_old_ballot_is_not_resumed() {
    let story =
        then(to_closed(), [Command::Stop, retry(1), Command::Stop, Command::Own(Own::Resume)]);
    let (state, log) = told(voting(pair()), story);
    assert_eq!(log.last(), Some(&retried(1)));
    assert_eq!((state.status(), due_ids(&state)), ("answering", ids(&["advisor/1#3"])));
}

#[test]
fn another_synthesis_is_voted_on_anew_and_the_old_votes_stay() {
    let story = then(
        to_closed(),
        [
            answers("ballot/1/1#1", &paper(ONE)),
            answers("ballot/1/2#1", &paper(ONE)),
            resynthesize(),
            answers("synthesis/2#1", FOUR),
            answers("ballot/2/2#1", &paper(TWO)),
        ],
    );
    let log = then(
        ballot_log(),
        [
            cast(1, 1, ONE),
            cast(1, 2, ONE),
            began(6, 2, "m/s", &[1, 2], &[]),
            synthesized(2),
            ballot_began(7, 2, &[(1, None), (2, None)]),
            cast(2, 2, TWO),
        ],
    );
    check(voting(pair()), story, log, ("balloting", &["ballot/2/1#1"]));
}

#[test]
fn while_the_advisors_vote_nothing_else_begins() {
    let not_now = |message: &str| not_now("balloting", message, &["stop", "export"]);
    let voting_now = "The advisors are voting on the verdict; stop the vote or wait for it.";
    for command in [synthesize(), resynthesize(), retry(1)] {
        check_refused(voting(pair()), to_closed(), command, not_now(voting_now));
    }
    let resume = not_now("The board has not been stopped.");
    check_refused(voting(pair()), to_closed(), Command::Own(Own::Resume), resume);
    let model = not_now("This seat is a model's, not a person's.");
    check_refused(voting(pair()), to_closed(), votes_of(1, votes(ONE)), model);
}

fn open_ballot() -> Command {
    Command::Own(Own::OpenBallot)
}

#[test]
fn a_board_that_was_closed_without_votes_is_put_to_the_vote_later() {
    let story = then(to_closed(), [open_ballot()]);
    let log = then(closed_log(), [ballot_began(4, 1, &[(1, None), (2, None)])]);
    check(pair(), story.clone(), log.clone(), ("balloting", &["ballot/1/1#1", "ballot/1/2#1"]));
    let votes = [answers("ballot/1/1#1", &paper(ONE)), answers("ballot/1/2#1", &paper(TWO))];
    let story = then(story, votes);
    let log = then(log, [cast(1, 1, ONE), cast(1, 2, TWO)]);
    check(pair(), story.clone(), log, ("closed", &[]));
    let (_, log) = told(pair(), story.clone());
    assert!(imported(log).is_ok());

    let allowed = ["resynthesize", "retry", "followUp", "export"];
    let once = not_now("closed", "The verdict has already been voted on.", &allowed);
    check_refused(pair(), story.clone(), open_ballot(), once);
    // A further synthesis has its own; the board goes on without votes by itself.
    let further = then(story, [resynthesize(), answers("synthesis/2#1", FOUR)]);
    let (state, _) = told(pair(), further);
    assert_eq!((state.status(), &state.syntheses[1].ballot), ("closed", &None));
    assert!(state.allowed().contains(&"openBallot"));
}

#[test]
fn there_is_no_later_ballot_before_the_end_nor_on_nothing() {
    let early = "The board can vote once it is done.";
    let refused = not_now("answering", early, &["stop", "export"]);
    check_refused(pair(), vec![], open_ballot(), refused);
    let refused = not_now("balloting", super::ballot::VOTING, &["stop", "export"]);
    check_refused(voting(pair()), to_closed(), open_ballot(), refused);
    let prose = [answers("synthesis/1#1", "Do it."), answers("synthesis/1#2", "Do it.")];
    let none = "The verdict does not have the four sections, so there are no points to vote on.";
    let refused = not_now("closed", none, &["resynthesize", "retry", "followUp", "export"]);
    check_refused(pair(), then(to_closed()[..2].to_vec(), prose), open_ballot(), refused);
}

/// Who was asked again since votes with the answer that the synthesis is made from.
#[test]
fn who_votes_later_has_its_own_answer_and_words_before_it() {
    let mut board = pair();
    board.seats[1].system_prompt = Some("You are a lawyer.".into());
    let (state, _) = told(board, then(to_closed(), [open_ballot()]));
    let ask = ask(&state, &CallId("ballot/1/2#1".into())).expect("it is due");
    let said: Vec<&str> = ask.messages.iter().map(|message| message.text.as_str()).collect();
    assert_eq!(
        (ask.system.as_str(), said[..2].to_vec()),
        ("You are a lawyer.", vec!["Should we?", "No."])
    );
    assert!(said[2].starts_with("Your name on this board of advisors is Critic,"), "{}", said[2]);
}

#[test]
fn one_who_does_not_vote_is_passed_over() {
    let halted = |seat| Event::BallotHalted { number: 1, seat: SeatId(seat) };
    let board = || voting(with_person(None));
    let story = then(to_persons_ballot(), [answers("ballot/1/1#1", &paper(ONE)), stop_one(2)]);
    let log = then(closed_log(), [ballot_began(3, 1, &[(1, None), (2, None)])]);
    check(board(), story.clone(), then(log, [cast(1, 1, ONE), halted(2)]), ("closed", &[]));
    let (state, log) = told(board(), story);
    let cell = "| accept | stopped | 1 | 0 | 0 |";
    assert!(state.report(false).contains(cell), "{}", state.report(false));
    assert!(imported(log).is_ok());

    // A model hands back what it had; the others go on.
    let story = then(to_closed(), [stop_one(1), hands_back("ballot/1/1#1", "{\"poi")]);
    let log = then(ballot_log(), [halted(1), handed_back(1, 1, "{\"poi")]);
    check(voting(pair()), story, log, ("balloting", &["ballot/1/2#1"]));
    let twice = not_now("balloting", "This advisor has already answered.", &["stop", "export"]);
    check_refused(voting(pair()), then(to_closed(), [stop_one(1)]), stop_one(1), twice);
}

// ---------------------------------------------------------------------------
// Persons

fn to_persons_ballot() -> Vec<Command> {
    vec![answers("advisor/1#1", "Yes."), reply(2, "No."), answers("synthesis/1#1", FOUR)]
}

#[test]
fn a_person_votes_and_has_as_long_as_for_the_answer() {
    let board = || voting(with_person(Some(at(60))));
    let due = ["ballot/1/1#1", "ballot-deadline/1/2#1"];
    let log = then(closed_log(), [ballot_began(3, 1, &[(1, None), (2, Some(at(63)))])]);
    check(board(), to_persons_ballot(), log.clone(), ("balloting", &due));
    let story = then(to_persons_ballot(), [votes_of(2, votes(TWO).into_iter().rev().collect())]);
    let by_hand = Event::BallotCast { number: 1, seat: SeatId(2), votes: votes(TWO), answer: None };
    check(board(), story, then(log.clone(), [by_hand]), ("balloting", &due[..1]));

    let story = then(to_persons_ballot(), [elapses(due[1]), answers(due[0], &paper(ONE))]);
    let late = ballot_failed(1, 2, FailureKind::TimedOut, "No votes arrived in time.", "");
    check(board(), story, then(log, [late, cast(1, 1, ONE)]), ("closed", &[]));
}

#[test]
fn without_a_deadline_the_board_waits_for_the_person() {
    let board = || voting(with_person(None));
    let story = then(to_persons_ballot(), [answers("ballot/1/1#1", &paper(ONE))]);
    let (state, _) = told(board(), story.clone());
    assert_eq!((state.status(), due_ids(&state)), ("balloting", vec![]));
    assert_eq!(state.allowed(), ["stop", "ballot", "export"]);
    let progress = state.progress();
    let words = "The verdict is ready; waiting for the votes of Critic (Ada, a person).";
    assert_eq!((progress.done, progress.total, progress.message.as_str()), (4, 5, words));
    // No call of a person's can be settled.
    check_refused(board(), story.clone(), answers("ballot/1/2#1", &paper(ONE)), Reject::Stale);
    check_refused(board(), story.clone(), elapses("ballot-deadline/1/2#1"), Reject::Stale);
    // A stop leaves nothing to be handed back.
    let (state, _) = told(board(), then(story, [Command::Stop]));
    let held = state.syntheses[0].held().expect("a ballot");
    let stopped = PaperStanding::Stopped {
        why: Stopping::ByHand,
        partial: Some(String::new()),
        usage: Usage::default(),
    };
    assert_eq!(held.papers[1].standing, stopped);
}

#[test]
fn a_persons_votes_are_checked_and_every_wrong_one_is_named() {
    let board = || voting(with_person(None));
    let vote = |point, reason: &str| Vote { point, vote: Choice::Defer, reason: reason.into() };
    let given = vec![vote(0, ""), vote(2, ""), vote(2, ""), vote(1, &"x".repeat(1_001))];
    let wrong = vec![
        Wrong::new("votes[0].point", "there is no such point; they are numbered 1 to 3"),
        Wrong::new("votes[2].point", "this point already has a vote"),
        Wrong::new("votes[3].reason", "must have at most 1000 bytes"),
    ];
    let refused = |votes, reject| check_refused(board(), to_persons_ballot(), votes, reject);
    refused(votes_of(2, given), Reject::Invalid(wrong));
    let none = vec![Wrong::new("votes", "give at least one vote")];
    refused(votes_of(2, vec![]), Reject::Invalid(none));
    let twice = then(to_persons_ballot(), [votes_of(2, votes(ONE))]);
    let again = not_now("balloting", "This seat has not been asked to vote.", &["stop", "export"]);
    check_refused(board(), twice, votes_of(2, votes(ONE)), again);
    let early =
        not_now("answering", "No vote is in progress on this board.", &["stop", "reply", "export"]);
    check_refused(board(), vec![], votes_of(2, votes(ONE)), early);
    let unknown =
        Reject::Unknown("This board has no advisor 7; its advisors are numbered 1 to 2.".into());
    refused(votes_of(7, votes(ONE)), unknown);
}

// ---------------------------------------------------------------------------
// Records

#[test]
fn a_record_with_votes_is_taken_over_and_one_that_does_not_follow_is_refused() {
    let story = then(
        to_closed(),
        [answers("ballot/1/1#1", &paper(ONE)), answers("ballot/1/2#1", &paper(TWO))],
    );
    let (_, log) = told(voting(pair()), story);
    assert_eq!(imported(log.clone()), Ok(then(renewed(log.clone()), [IMPORTED()])));
    // A ballot that was running there is stopped here.
    let half = log[..log.len() - 1].to_vec();
    let events = then(renewed(half.clone()), [Event::Stopped, handed_back(1, 2, ""), IMPORTED()]);
    assert_eq!(imported(half.clone()), Ok(events));

    let began = log.len() - 3;
    let refused = |events: Vec<Event>, place: usize, problem: &str| {
        let wrong = vec![Wrong::new(format!("events[{place}]"), problem)];
        assert_eq!(imported(events), Err(Reject::Invalid(wrong)));
    };
    let with = |event: Event| then(log[..began].to_vec(), [event]);
    refused(
        then(log.clone(), [cast(1, 1, ONE)]),
        log.len(),
        "this advisor was not being asked for votes",
    );
    refused(
        then(half.clone(), [cast(1, 1, TWO)]),
        half.len(),
        "this advisor was not being asked for votes",
    );
    refused(then(half.clone(), [retried(1)]), half.len(), "this advisor could not be asked again");
    let nobody = "only advisors the verdict is made from can vote, each once";
    refused(with(ballot_began(3, 1, &[])), began, nobody);
    refused(with(ballot_began(3, 1, &[(1, None), (1, None)])), began, nobody);
    refused(with(ballot_began(3, 1, &[(3, None)])), began, nobody);
    refused(with(ballot_began(3, 2, &[(1, None)])), began, "no vote could follow there");
    refused(with(resumed(3, 1, &[(1, None)])), began, "this vote could not be resumed");
    refused(with(handed_back(1, 1, "")), began, "this advisor's vote had not been stopped");
    let answering = log[..2].to_vec();
    refused(then(answering, [ballot_began(3, 1, &[(1, None)])]), 2, "no vote could follow there");
    let unknown = Event::BallotCast {
        number: 1,
        seat: SeatId(2),
        votes: vec![Vote { point: 4, vote: Choice::Accept, reason: String::new() }],
        answer: None,
    };
    refused(then(half.clone(), [unknown]), half.len(), "votes must be on the points, one each");
}

#[test]
fn the_record_shows_the_votes_as_tables() {
    let board = board(&[Role::Advocate, Role::Critic, Role::Critic, Role::Expert]);
    let story = vec![
        answers("advisor/1#1", "Yes."),
        answers("advisor/2#1", "No."),
        answers("advisor/3#1", "No."),
        answers("advisor/4#1", "Hm."),
        answers("synthesis/1#1", &synthesis("- A | b.", "- C.", "- D.")),
        answers("ballot/1/1#1", &paper(ONE)),
        answers("ballot/1/2#1", &paper(TWO)),
        fails("ballot/1/3#1", FailureKind::Idle),
        answers("ballot/1/4#1", r#"{"2": "reject"}"#),
    ];
    let (state, _) = told(voting(board), story);
    insta::assert_snapshot!(state.report(false));
    assert!(markdown(&state).contains("\n## Votes\n\n| # | Point | Advocate | Critic 1 |"));
    let words = "All 4 advisors have answered; the verdict is ready, and 3 of 4 have voted on it.";
    assert_eq!(state.progress().message, words);
    assert_eq!((state.progress().done, state.progress().total), (9, 9));
}

#[test]
fn the_tokens_of_ballots_are_counted() {
    let usage = Usage { input_tokens: Some(5), output_tokens: Some(7), ..Usage::default() };
    let counted = Answer { usage, ..answer(&paper(ONE)) };
    let story = then(to_closed(), [settle("ballot/1/1#1", Outcome::Answered(counted))]);
    let (state, _) = told(voting(pair()), story);
    assert_eq!(state.ledger.total(), usage);
}

// ---------------------------------------------------------------------------
// Votes as models write them

#[track_caller]
fn check_read(text: &str, expected: Result<&[(u32, Choice, &str)], &str>) {
    let story = then(to_closed(), [answers("ballot/1/1#1", text)]);
    let (_, log) = told(voting(pair()), story);
    let read = match log.last() {
        Some(Event::BallotCast { votes, .. }) => Ok(votes.clone()),
        Some(Event::BallotFailed { failure, .. }) => Err(failure.message.clone()),
        other => panic!("{other:?}"),
    };
    let vote = |(point, vote, reason): &(u32, Choice, &str)| Vote {
        point: *point,
        vote: *vote,
        reason: (*reason).into(),
    };
    let expected = match expected {
        Ok(votes) => Ok(votes.iter().map(vote).collect()),
        Err(why) => Err(format!("The votes could not be read. {why}")),
    };
    assert_eq!(read, expected, "{text}");
}

use Choice::{Accept, Defer, Reject as Rejected};

#[test]
fn votes_are_read_in_every_wrapping() {
    let all: &[(u32, Choice, &str)] = &[(1, Accept, "a."), (2, Rejected, "b."), (3, Defer, "c.")];
    let as_asked = r#"{"point1":{"vote":"accept","reason":"a."},"point2":{"vote":"reject","reason":"b."},"point3":{"vote":"defer","reason":"c."}}"#;
    let listed = r#"[{"point":1,"vote":"accept","reason":"a."},{"point":"2","vote":"reject","reason":"b."},{"point":"Point 3","vote":"defer","reason":"c."}]"#;
    check_read(as_asked, Ok(all));
    check_read(listed, Ok(all));
    check_read(&format!("```json\n{as_asked}\n```"), Ok(all));
    check_read(&format!("Here you are:\n{{\"ballot\": {{\"votes\": {listed}}}}}\nDone."), Ok(all));
    check_read(&format!("<think>{}</think>\n{listed}", paper(TWO)), Ok(all));
    check_read(&format!("<think>Let me see. {as_asked}"), Ok(all));
    check_read(&serde_json::to_string(as_asked).unwrap(), Ok(all));
    // A draft comes before what counts.
    check_read(&format!("First: {}\nBut no: {as_asked}", paper(TWO)), Ok(all));
    check_read(&listed[1..listed.len() - 1].replace("},{", "}\n{"), Ok(all));
    check_read(
        "{1: {vote: 'Accept', reason: 'a.'}, 2: {decision: 'against', why: 'b.',}, 3: {vote: 'Abstain', reason: 'c.'}",
        Ok(all),
    );
    check_read("1. **Accept** – a.\n- Point 2: reject, b.\n| 3 | defer | c. |", Ok(all));
    check_read(
        r#"{"1": "accept", "2": "no", "3": "undecided"}"#,
        Ok(&[(1, Accept, ""), (2, Rejected, ""), (3, Defer, "")]),
    );
}

#[test]
fn only_what_is_said_for_sure_is_a_vote() {
    // Another word, a word that goes on, and a point that is named twice.
    check_read(
        r#"{"point1": {"vote": "perhaps"}, "point2": {"vote": "accept"}, "point2": {"vote": "defer"}}"#,
        Ok(&[(2, Defer, "")]),
    );
    check_read("1. Accept the risk.\n2. accept: yes.", Ok(&[(2, Accept, "yes.")]));
    // Cut off in the middle of the third vote, and in the reason of the second.
    check_read(
        r#"{"point1": {"vote": "accept", "reason": "a."}, "point2": {"vote": "reject", "reason": "b"#,
        Ok(&[(1, Accept, "a."), (2, Rejected, "b…")]),
    );
    check_read(
        r#"{"point1": {"reason": "a.", "vote": "accept"}, "point2": {"reason": "b.", "vote": "rej"#,
        Ok(&[(1, Accept, "a.")]),
    );
    let long = format!(r#"{{"point1": {{"vote": "accept", "reason": "{}"}}}}"#, "ü".repeat(600));
    check_read(&long, Ok(&[(1, Accept, &format!("{}…", "ü".repeat(498)))]));
    check_read(r#"{"point7": {"vote": "accept"}}"#, Err("It votes on none of the points 1 to 3."));
    check_read("{}", Err("It holds no votes."));
    check_read("<think>Hm.</think>", Err("It holds nothing but thinking."));
    check_read(&format!("<think>{} or so", paper(ONE)), Err("It broke off while thinking."));
}

#[test]
fn the_schema_asks_for_every_point() {
    let (state, _) = told(voting(pair()), to_closed());
    let ask = ask(&state, &CallId("ballot/1/2#1".into())).expect("it is due");
    let vote = json!({
        "type": "object",
        "properties": {
            "vote": {"type": "string", "enum": ["accept", "reject", "defer"]},
            "reason": {"type": "string"},
        },
        "required": ["vote", "reason"],
        "additionalProperties": false,
    });
    let schema = json!({
        "type": "object",
        "properties": {"point1": vote, "point2": vote, "point3": vote},
        "required": ["point1", "point2", "point3"],
        "additionalProperties": false,
    });
    assert_eq!(ask.schema(), Some(&schema));
}
