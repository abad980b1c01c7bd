use super::*;

#[track_caller]
fn check<E>(rule: fn(&str) -> Result<(), E>, right: &[&str], wrong: &[&str]) {
    let refused =
        |names: &[&str]| -> Vec<bool> { names.iter().map(|name| rule(name).is_err()).collect() };
    assert_eq!(refused(right), vec![false; right.len()], "{right:?}");
    assert_eq!(refused(wrong), vec![true; wrong.len()], "{wrong:?}");
}

#[test]
fn a_room_is_named_in_small_letters() {
    let long = "a".repeat(80);
    let right = ["a", "7", "api-redesign", "v1.2_final", &long];
    let longer = "a".repeat(81);
    let wrong = ["", "-a", ".a", "_a", "A", "aB", "a b", "a/b", "a@b", "ä", "a\n", &longer];
    check(check_room_name, &right, &wrong);
}

#[test]
fn an_agent_is_named_as_people_name_agents() {
    let long = "A".repeat(80);
    let right = ["a", "Z", "7", "pr-reviewer@v1.0.0", "ann.", "Ann_B", &long];
    let longer = "a".repeat(81);
    let wrong = ["", "@ann", ".a", "-a", "_a", "a b", "a/b", "ännchen", "a:b", "a\n", &longer];
    check(check_agent_name, &right, &wrong);
}

#[test]
fn a_model_is_named_with_its_provider() {
    let rule = |name: &str| check_model_name(&ModelName(name.into()));
    let longest = format!("m/{}", "a".repeat(limits::MODEL_NAME_BYTES - 2));
    let longer = format!("{longest}a");
    check(rule, &["m/1", "o/a/b:c", &longest], &["", "m", "m/", "m/ ", "/m", &longer]);
}

#[test]
fn a_refusal_says_what_would_be_right() {
    let example = |sentence: &'static str| sentence.split('`').nth(1).unwrap_or_default();
    assert_eq!(check_room_name(example(ROOM_NAME)), Ok(()));
    assert_eq!(check_agent_name(example(AGENT_NAME)), Ok(()));
}

#[test]
fn a_name_may_be_in_any_script() {
    let right = [
        "Ann",
        "Ännchen O'Neil",
        "Дарья",
        "王小明",
        "علی\u{200c}رضا",
        "क्\u{200d}ष",
        "👩\u{200d}🔬 Dr. Ada",
        "❤\u{fe0f}",
        "The Socratic (copy 2)",
        "Q&A: \"why?\"",
        "é",
        "e\u{301}",
    ];
    let wrong = [
        "A\u{200b}nn",
        "Ann\u{200d}",
        "A\u{200c}nn",
        "Ann\u{fe0f}",
        "A\u{ad}nn",
        "Ann\u{2028}x",
        "Ann\n",
        "Ann\u{202e}",
        "\u{2066}Ann",
        "Ann\u{3164}",
        "Ann\u{2800}",
        "Ann\u{e0041}",
        "Ann\u{1b}[31m",
        "Ann>>>",
        "<b>",
        "Ann\tB",
        "\u{feff}Ann",
        "A\u{34f}nn",
        "An\u{115f}n",
    ];
    check(check_name, &right, &wrong);
    check(check_line, &["notes <draft>.md"], &["notes\u{2028}.md", "a\u{202e}dm.exe"]);
}

#[test]
fn a_refusal_names_the_character_and_its_place() {
    let check = |name: &str, problem: &str| assert_eq!(check_name(name), Err(problem.to_owned()));
    check("A\u{200b}nn", "must not contain U+200B, which is invisible; it is character 2");
    check("Ann>>>\u{2028}", "must not contain U+2028, which ends a line; it is character 7");
    check(
        "\u{202e}Ann",
        "must not contain U+202E, which reverses the direction of text; it is character 1",
    );
    check("Ann\u{1b}", "must not contain U+001B, a control character; it is character 4");
    check("Ann>>>", "must not contain `<` or `>`; there is one at 4");
}

#[test]
fn names_are_the_same_whatever_their_case_and_how_they_are_put_together() {
    let same = [
        ("Ann", "ANN"),
        ("Ann", "A\u{200b}nn"),
        ("Ann", "Ａｎｎ"),
        ("Zoé", "ZOE\u{301}"),
        ("Straße", "STRASSE"),
        ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
        (" Ann  Lee", "ann\u{a0}lee"),
        ("علی\u{200c}رضا", "علیرضا"),
        ("ﬁn", "FIN"),
    ];
    for (left, right) in same {
        assert!(are_same(left, right), "{left:?} and {right:?}");
    }
    for (left, right) in [("Ann", "Anne"), ("Zoe", "Zoé"), ("Ann", "Аnn"), ("A nn", "Ann")] {
        assert!(!are_same(left, right), "{left:?} and {right:?}");
    }
}

#[test]
fn what_there_is_is_told_in_bounds_and_the_nearest_first() {
    assert_eq!(told("x", [].into_iter()), "; none exist yet");
    assert_eq!(told("anne/1", ["bob/1", "ann/1"].into_iter()), "; available: ann/1, bob/1");
    let many: Vec<String> = (1..100).map(|number| format!("ann/{number}")).collect();
    let told = told("post-1", many.iter().map(String::as_str));
    assert_eq!(told.matches("ann/").count(), limits::NAMES_TOLD);
    assert!(told.ends_with(" and more"), "{told}");
}
