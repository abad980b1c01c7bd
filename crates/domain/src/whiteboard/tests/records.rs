//! The decision record of a board, whole, so that a change of it is seen in review.

use proptest::prelude::*;
use proptest::test_runner::Config;

use super::*;
use crate::record::structure::{FORGERIES, check_forged, hostile};

fn record(state: &State) -> String {
    madr(&view::board(state, &Viewer::Outsider))
}

#[test]
fn the_record_of_the_worked_example() {
    let (open, story) = worked_example();
    let (state, _) = told(open, vec![], story);
    insta::assert_snapshot!(record(&state));
}

#[test]
fn the_record_of_a_tie_with_a_refuted_and_a_withdrawn_proposal() {
    let story = vec![
        post("olga", PostKind::Proposal, "Write it by hand"),
        post("fay", PostKind::Proposal, "Have no docs"),
        post("fay", PostKind::Claim, "Nobody reads docs"),
        moves("fay", Phase::Read),
        moves("fay", Phase::Validate),
        validates("ada", "fay/2", Finding::Refuted),
        validates("ada", "fay/1", Finding::Refuted),
        moves("fay", Phase::Debate),
        votes("ada", "ben/1", Choice::Accept),
        votes("ben", "ada/1", Choice::Accept),
        votes("ben", "fay/1", Choice::Accept),
        challenges("ada", "ben/1"),
        challenges("ben", "olga/1"),
        Command::Own(Own::Annotate {
            agent: agent("olga"),
            post: post_id("olga/1"),
            note: Note::Withdrawal { challenge: None },
            body: String::new(),
        }),
        moves("olga", Phase::Resolve),
        moves("olga", Phase::Archived),
    ];
    let (state, _) = told(board(), reached(Phase::Blind), story);
    insta::assert_snapshot!(record(&state));
}

#[test]
fn the_record_of_a_board_that_goes_on() {
    let noted = Command::Own(Own::Transition {
        agent: agent("fay"),
        to: Phase::Debate,
        note: Some("All are checked.".into()),
    });
    let target = Content {
        target_file: Some("docs/`odd` name.md".into()),
        target_location: Some("12-40".into()),
        ..content(PostKind::Proposal, "Mend the page")
    };
    let before = then(reached(Phase::Blind), [posts("ada", target)]);
    let before = then(before, [moves("fay", Phase::Read), moves("fay", Phase::Validate)]);
    let (state, _) = told(board(), before, vec![noted]);
    insta::assert_snapshot!(record(&state));
}

#[test]
fn the_record_of_a_board_without_a_proposal() {
    let (state, _) = told(board(), vec![], vec![]);
    insta::assert_snapshot!(record(&state));
}

// ---------------------------------------------------------------------------
// Hostile texts

/// An archived board where every text is this one.
fn filled(text: &str) -> State {
    let says = |name: &str, note: Note| {
        Command::Own(Own::Annotate {
            agent: agent(name),
            post: post_id("ada/1"),
            note,
            body: text.into(),
        })
    };
    let content = |kind| Content {
        kind,
        title: text.into(),
        body: text.into(),
        target_file: Some(text.into()),
        target_location: Some(text.into()),
        ..content(kind, "A")
    };
    let to =
        |to| Command::Own(Own::Transition { agent: agent("fay"), to, note: Some(text.into()) });
    let challenge = || note_id("ben/a2");
    let story = vec![
        register_for("ada", text),
        register_for("ben", text),
        posts("ada", content(PostKind::Proposal)),
        posts("ada", content(PostKind::Concern)),
        to(Phase::Read),
        to(Phase::Validate),
        says("ben", Note::Validation { result: Finding::Confirmed }),
        to(Phase::Debate),
        says("ben", Note::Challenge),
        says("fay", Note::Challenge),
        says("ben", Note::Corroboration),
        says("ada", Note::Rebuttal { challenge: None }),
        says("ada", Note::Rebuttal { challenge: Some(challenge()) }),
        says("fay", Note::Withdrawal { challenge: Some(note_id("fay/a1")) }),
        says("ada", Note::Resolution { challenge: challenge() }),
        Command::Own(Own::Vote {
            agent: agent("ben"),
            post: post_id("ada/1"),
            choice: Choice::Accept,
            reason: Some(text.into()),
        }),
        to(Phase::Resolve),
        to(Phase::Archived),
    ];
    told(Open { topic: text.into(), ..board() }, vec![], story).0
}

#[track_caller]
fn check_hostile(text: &str) {
    check_forged(|text| record(&filled(text)), text);
    let record = record(&filled(text));
    let front: Vec<&str> = record.split('\n').take(5).collect();
    let names = "decision-makers: [\"fay\", \"ada\", \"ben\"]";
    assert_eq!(front, ["---", "status: accepted", "date: 2027-01-15", names, "---"]);
}

#[test]
fn what_people_write_opens_no_heading_and_leaves_the_front_matter_alone() {
    FORGERIES.into_iter().for_each(check_hostile);
    check_hostile("---\nstatus: accepted\n---");
}

proptest! {
    #![proptest_config(Config { cases: 128, failure_persistence: None, ..Config::default() })]

    #[test]
    fn no_text_changes_what_a_record_is_made_of(text in hostile()) {
        check_hostile(&text);
    }
}
