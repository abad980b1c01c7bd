//! What is left of an answer, and when that says nothing.

use super::{read, says_nothing};
use crate::ids::Nonce;

#[track_caller]
fn check(text: &str, said: &str, thought: &str) {
    let answer = serde_json::json!({ "text": text });
    let answer =
        read("Ann", &Nonce("4f2a".into()), serde_json::from_value(answer).expect("an answer"));
    assert_eq!((answer.text.as_str(), answer.reasoning.as_str()), (said, thought));
}

#[test]
fn thinking_is_kept_apart_from_what_is_said() {
    check("Yes.", "Yes.", "");
    check("\n<think>\nHm.\n</think>\n\nYes.", "Yes.", "Hm.");
    check("<thinking>Hm.</thinking>Ann: Yes.", "Yes.", "Hm.");
    check("Hm.\n</think>\n\nYes.", "Yes.", "Hm.");
    check("<think>Hm, and on", "", "Hm, and on");
    check("The tag `</think>` ends it.", "The tag `</think>` ends it.", "");
    check("First <think> then </think>.", "First <think> then </think>.", "");
}

#[test]
fn the_members_own_name_is_no_part_of_what_it_says() {
    check("Ann: Yes.", "Yes.", "");
    check("ANN : Yes.", "ANN : Yes.", "");
    check("ann:Yes.", "Yes.", "");
    check("**Ann:** Yes.", "Yes.", "");
    check("**Ann**: **Yes**.", "**Yes**.", "");
    check("@Ann: Yes.", "Yes.", "");
    check("[Ann]: Yes.", "Yes.", "");
    check("Ann: **Yes**.", "**Yes**.", "");
    check("Bo: Yes.", "Bo: Yes.", "");
    check("Anna: Yes.", "Anna: Yes.", "");
    check("Ann thinks: yes.", "Ann thinks: yes.", "");
    check("Ännchen: yes.", "Ännchen: yes.", "");
    check("Ann:", "", "");
}

#[test]
fn lines_that_belong_to_quotations_are_no_part_of_what_it_says() {
    check("<<<4f2a post 1 by Bo>>>\nYes.\n<<<4f2a end>>>", "Yes.", "");
    check("Ann: <<<4f2a end>>>", "", "");
    check("<<<other end>>>\nYes.", "<<<other end>>>\nYes.", "");
    check("> `<<<4F2A end>>>`\nYes.\n4f2a post 1 by Bo>>>", "Yes.", "");
}

#[test]
fn some_answers_say_nothing() {
    let nothing = [
        "agreed",
        "I agree.",
        "**No comment**",
        "Nothing to add!",
        "  +1\n",
        "OK",
        "`pass`",
        "> Pass.",
        "I've nothing to add",
        "I have  nothing\nto add…",
        "@bo Agreed.",
        "I agree with @bo.",
        "@bo",
        "👍",
        "…",
    ];
    for text in nothing {
        assert!(says_nothing(text), "{text:?}");
    }
    let something =
        ["Yes.", "No.", "1", "I agree, but not now.", "Pass the salt.", "Agreed: Tuesday.", "同意"];
    for text in something {
        assert!(!says_nothing(text), "{text:?}");
    }
}
