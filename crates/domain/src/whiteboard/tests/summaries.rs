//! Where a board stands: counts, tallies, advice, and what the votes decide.

use super::*;
use crate::whiteboard::summary::Line;

fn summary(state: &State) -> Summary {
    summarize(&view::board(state, &Viewer::Outsider))
}

/// The outcome of a debate over ada's and ben's proposals.
#[track_caller]
fn check_outcome(story: Vec<Command>, outcome: Outcome) {
    let (state, _) = told(board(), reached(Phase::Debate), story);
    assert_eq!(summary(&state).outcome, outcome);
}

#[track_caller]
fn check_readiness(from: Phase, story: Vec<Command>, why_not: &[&str]) {
    let (state, _) = told(board(), reached(from), story);
    let why_not: Vec<String> = why_not.iter().map(|why| (*why).to_owned()).collect();
    let expected = Readiness { ready: why_not.is_empty(), why_not };
    assert_eq!(readiness(&state), expected);
    assert_eq!(view::board(&state, &Viewer::Agent(agent("fay"))).readiness, Some(expected));
}

fn accepted(id: &str) -> Outcome {
    Outcome::Accepted(post_id(id))
}

fn line(id: &str, title: &str, standing: Standing) -> Line {
    let author = id.split('/').next().unwrap();
    Line {
        id: post_id(id),
        author: agent(author),
        kind: PostKind::Proposal,
        title: title.into(),
        standing,
        tally: Tally::default(),
        confirmed: 0,
        refuted: 0,
        inconclusive: 0,
    }
}

#[test]
fn a_summary_counts_what_there_is() {
    let story = vec![
        validates("ben", "ada/1", Finding::Refuted),
        validates("olga", "ada/1", Finding::Confirmed),
        validates("fay", "ada/1", Finding::Inconclusive),
        moves("fay", Phase::Debate),
        post("ben", PostKind::Informational, "More"),
        challenges("olga", "ada/1"),
        challenges("ada", "ben/1"),
        challenges("fay", "ben/1"),
        challenges("olga", "ben/1"),
        withdraws("ada", "ben/1", Some("ada/a1")),
        resolves("ben", "ben/1", "fay/a2"),
        votes("ben", "ada/1", Choice::Accept),
        votes("ada", "ben/1", Choice::Accept),
        votes("fay", "ben/1", Choice::Reject),
        votes("olga", "ben/1", Choice::Defer),
        votes("olga", "ben/1", Choice::Accept),
        votes("fay", "ben/2", Choice::Defer),
    ];
    let (state, _) = told(board(), reached(Phase::Validate), story);
    let refuted = Line {
        tally: Tally { accept: 1, reject: 0, defer: 0 },
        confirmed: 1,
        refuted: 1,
        inconclusive: 1,
        ..line("ada/1", "Adopt mkdocs", Standing::Excluded)
    };
    let ahead = Line {
        tally: Tally { accept: 2, reject: 1, defer: 0 },
        ..line("ben/1", "Adopt mdbook", Standing::Surviving)
    };
    let more = Line {
        kind: PostKind::Informational,
        tally: Tally { accept: 0, reject: 0, defer: 1 },
        ..line("ben/2", "More", Standing::Surviving)
    };
    let open =
        |post: &str, challenge: &str, by: &str| (post_id(post), note_id(challenge), agent(by));
    assert_eq!(
        summary(&state),
        Summary {
            agents: 4,
            posts: 3,
            annotations: 9,
            votes: 5,
            lines: vec![refuted, ahead, more],
            unresolved: vec![open("ada/1", "olga/a2", "olga"), open("ben/1", "olga/a3", "olga")],
            unvalidated: vec![post_id("ben/1"), post_id("ben/2")],
            outcome: accepted("ben/1"),
        }
    );
}

#[test]
fn a_withdrawn_post_is_neither_excluded_nor_unvalidated_nor_open() {
    let story = vec![
        validates("ben", "ada/1", Finding::Refuted),
        moves("fay", Phase::Debate),
        challenges("olga", "ada/1"),
        challenges("olga", "ben/1"),
        withdraws("ada", "ada/1", None),
        withdraws("ben", "ben/1", None),
    ];
    let (state, _) = told(board(), reached(Phase::Validate), story);
    let gone = |id, title| line(id, title, Standing::Withdrawn);
    assert_eq!(
        summary(&state),
        Summary {
            agents: 4,
            posts: 2,
            annotations: 5,
            votes: 0,
            lines: vec![
                Line { refuted: 1, ..gone("ada/1", "Adopt mkdocs") },
                gone("ben/1", "Adopt mdbook"),
            ],
            unresolved: vec![],
            unvalidated: vec![],
            outcome: Outcome::Undecided,
        }
    );
}

/// Like a vote, a validation is what its validator says last.
#[test]
fn the_last_word_of_a_validator_counts() {
    let story = vec![
        validates("ben", "ada/1", Finding::Refuted),
        validates("ben", "ada/1", Finding::Confirmed),
        validates("ada", "ben/1", Finding::Confirmed),
        validates("ada", "ben/1", Finding::Refuted),
    ];
    let (state, _) = told(board(), reached(Phase::Validate), story);
    let confirmed = Line { confirmed: 1, ..line("ada/1", "Adopt mkdocs", Standing::Surviving) };
    let refuted = Line { refuted: 1, ..line("ben/1", "Adopt mdbook", Standing::Excluded) };
    assert_eq!(summary(&state).lines, [confirmed, refuted]);
}

#[test]
fn the_votes_decide_among_the_proposals_that_survive() {
    use Choice::*;
    check_outcome(vec![], Outcome::Undecided);
    check_outcome(vec![votes("ben", "ada/1", Accept)], accepted("ada/1"));
    check_outcome(vec![votes("ben", "ada/1", Defer)], Outcome::Undecided);
    let even = vec![votes("ben", "ada/1", Accept), votes("fay", "ada/1", Reject)];
    check_outcome(even, Outcome::Undecided);
    let tied = vec![votes("ben", "ada/1", Accept), votes("ada", "ben/1", Accept)];
    check_outcome(tied.clone(), Outcome::Tied(vec![post_id("ada/1"), post_id("ben/1")]));
    let ahead = then(tied, [votes("fay", "ben/1", Accept)]);
    check_outcome(ahead.clone(), accepted("ben/1"));
    let late = vec![
        register("cyd", Role::Specialist),
        votes("cyd", "ada/1", Accept),
        votes("fay", "ada/1", Accept),
        votes("olga", "ada/1", Reject),
    ];
    // Both lead by one; more have accepted ada's.
    check_outcome(
        then(vec![votes("ben", "ada/1", Defer), votes("ada", "ben/1", Accept)], late),
        accepted("ada/1"),
    );
    check_outcome(then(ahead, [withdraws("ben", "ben/1", None)]), accepted("ada/1"));
    let more = vec![post("ben", PostKind::Informational, "So"), votes("ada", "ben/2", Accept)];
    check_outcome(more, Outcome::Undecided);
}

#[test]
fn an_excluded_proposal_never_wins() {
    let story = vec![
        validates("fay", "ada/1", Finding::Refuted),
        moves("fay", Phase::Debate),
        votes("ben", "ada/1", Choice::Accept),
        votes("olga", "ada/1", Choice::Accept),
    ];
    let (state, _) = told(board(), reached(Phase::Validate), story.clone());
    assert_eq!(summary(&state).outcome, Outcome::Undecided);
    let story = then(story, [votes("ada", "ben/1", Choice::Accept)]);
    let (state, _) = told(board(), reached(Phase::Validate), story);
    assert_eq!(summary(&state).outcome, accepted("ben/1"));
}

#[test]
fn advice_says_why_a_phase_has_not_done_its_work() {
    check_readiness(Phase::Blind, vec![], &[]);
    let cyd = vec![register("cyd", Role::Specialist), register("oz", Role::Operator)];
    check_readiness(Phase::Blind, cyd, &["cyd has not posted yet"]);
    check_readiness(Phase::Read, vec![], &[]);
    check_readiness(
        Phase::Validate,
        vec![validates("ada", "ben/1", Finding::Inconclusive)],
        &["no one has validated ada/1"],
    );
    let both = vec![
        validates("ada", "ben/1", Finding::Inconclusive),
        validates("ben", "ada/1", Finding::Refuted),
    ];
    check_readiness(Phase::Validate, both, &[]);
    let debate = || vec![challenges("ben", "ada/1"), votes("ben", "ada/1", Choice::Defer)];
    check_readiness(
        Phase::Debate,
        debate(),
        &["challenge ben/a1 to ada/1 is not settled", "no one has voted on ben/1"],
    );
    let told =
        then(debate(), [resolves("ada", "ada/1", "ben/a1"), withdraws("ben", "ben/1", None)]);
    check_readiness(Phase::Debate, told, &[]);
    let on = then(debate(), [moves("fay", Phase::Resolve)]);
    check_readiness(Phase::Debate, on, &["challenge ben/a1 to ada/1 is not settled"]);
    check_readiness(Phase::Resolve, vec![], &[]);
    check_readiness(Phase::Archived, vec![], &["the board is archived"]);
}

#[test]
fn a_board_without_a_post_is_not_ready() {
    let (state, _) = told(board(), vec![register("ada", Role::Specialist)], vec![]);
    let why_not = vec!["ada has not posted yet".into(), "no one has posted yet".into()];
    assert_eq!(readiness(&state), Readiness { ready: false, why_not });
}
