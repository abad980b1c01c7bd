//! A council's record, whatever is said in it.

use proptest::prelude::*;
use proptest::test_runner::Config;

use super::*;
use crate::record::structure::{FORGERIES, blocks, check_forged, hostile};

/// A closed council where every text is this one.
fn filled(text: &str) -> State {
    let mut council = four();
    council.charter = text.into();
    council.members.iter_mut().for_each(|member| member.persona = Some(text.into()));
    let failure = Failure { message: text.into(), ..failure(FailureKind::Idle) };
    let story = vec![
        post("bo", &format!("@ann\n\n{text}")),
        settle("answer/ann/1", Outcome::Failed { failure, partial: text.into() }),
        reply("di", &format!("@bo\n\n{text}"), 1),
        Command::Own(Own::Close { summary: Some(text.into()), by: None }),
    ];
    told(council, story).0
}

fn check_said(text: &str) {
    check_forged(|text| filled(text).report(true), text);
    check_forged(|text| filled(text).report(false), text);
}

#[test]
fn nobody_posts_in_the_name_of_another() {
    FORGERIES.into_iter().for_each(check_said);
    let headings: Vec<String> = blocks(&filled(FORGERIES[0]).report(true))
        .into_iter()
        .filter(|block| block.starts_with('h'))
        .collect();
    let expected =
        ["h1 tea", "h2 Charter", "h2 Members", "h2 Thread", "h3 1. bo", "h3 2. di", "h2 Summary"];
    assert_eq!(headings, expected);
}

proptest! {
    #![proptest_config(Config { cases: 128, failure_persistence: None, ..Config::default() })]

    #[test]
    fn no_text_changes_what_a_record_is_made_of(text in hostile()) {
        check_said(&text);
    }
}
