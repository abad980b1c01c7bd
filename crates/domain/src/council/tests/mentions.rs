//! Whom a text mentions.

use super::super::addressed::{ALL, mentions};

const KNOWN: [&str; 6] = ["ann", "ann.b", "bo.", "bo", "pr-reviewer@v1.0.0", ALL];

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(mentions(text, &KNOWN), expected, "{text:?}");
}

#[test]
fn a_mention_is_a_whole_word() {
    check("@ann", &["ann"]);
    check("Hello @ann and @bo!", &["ann", "bo"]);
    check("(@ann), **@bo** _@all_ \"@ann\"", &["ann", "bo", "all", "ann"]);
    check("@anna @an @ann-lee @ann_ @annä", &["ann"]);
    check("user@ann user@ann.org a@ann.b.", &[]);
    check("https://example.org/@ann @ann/repo", &[]);
    check("@ @@ann @. ann", &[]);
    check("Is it @ann's? No:@bo", &["ann", "bo"]);
}

#[test]
fn the_longest_name_wins_and_what_is_left_is_punctuation() {
    check("@ann. @ann, @ann... @ann; @ann", &["ann"; 5]);
    check("@ann.b @ann.b. @ann.c", &["ann.b", "ann.b"]);
    check("@bo. @bo.. @bo, @bo", &["bo.", "bo.", "bo", "bo"]);
    check("@pr-reviewer@v1.0.0. @pr-reviewer @v1.0.0", &["pr-reviewer@v1.0.0"]);
}

#[test]
fn case_does_not_matter() {
    check("@Ann @BO @All", &["ann", "bo", "all"]);
}

#[test]
fn code_mentions_nobody() {
    check("`@ann` @bo", &["bo"]);
    check("``a ` @ann`` @bo", &["bo"]);
    check("```\n@ann\n```\n@bo", &["bo"]);
    check("~~~ text\n@ann\n```\n@ann\n~~~\n@bo", &["bo"]);
    check("````\n```\n@ann\n````\n@bo", &["bo"]);
    check("   ```rust\n@ann", &[]);
    check("> ```\n> @ann\n> ```\n> @bo", &["bo"]);
    check("```@ann``` @bo", &["bo"]);
    check("a `span\nover @ann` two lines", &[]);
}

#[test]
fn a_lone_backtick_is_no_code() {
    check("It`s @ann", &["ann"]);
    check("a ` @ann `` @bo", &["ann", "bo"]);
    check("a `\n\n@ann\n\n`", &["ann"]);
}
