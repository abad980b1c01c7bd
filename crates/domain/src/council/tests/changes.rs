//! Other members and another charter, while the council goes on.

use super::*;

fn models(names: &[&str]) -> Vec<Member> {
    council(names, &[]).members
}

fn people(names: &[&str]) -> Vec<Member> {
    council(&[], names).members
}

#[test]
fn a_new_member_answers_and_has_the_whole_thread_before_it() {
    let story = vec![
        post("bo", "@di Hi."),
        changes(Some("Choose a cup."), &models(&["eve"]), &["cy"]),
        post("bo", "@eve Which?"),
    ];
    let events = vec![
        posted(1, 1, "bo", "@di Hi.", &[]),
        changed(2, Some("Choose a cup."), &models(&["eve"]), &["cy"]),
        posted(3, 2, "bo", "@eve Which?", &["eve"]),
        began(3, "eve", 2),
    ];
    check(four(), story.clone(), events, ("open", &["answer/eve/2"]));
    let (state, _) = told(four(), story);
    let ask = ask(&state, &CallId("answer/eve/2".into())).expect("it is due");
    assert!(ask.system.contains("Choose a cup.") && !ask.system.contains("Choose the tea."));
    assert!(ask.system.contains("ann, bo (posts by themselves), di (posts by themselves), eve."));
    assert!(ask.messages[0].text.contains("Posts 1 to 2 are new to you."));
}

#[test]
fn whoever_is_removed_while_answering_is_cut_off_and_the_next_one_begins() {
    let used = Usage { input_tokens: Some(7), output_tokens: Some(5), ..Usage::default() };
    let back = Outcome::Stopped { partial: "Gr".into(), usage: used };
    let story = vec![
        post("bo", "Which?"),
        changes(None, &[], &["ann"]),
        settle("answer/ann/1", back),
        answers("answer/cy/1", "Ask @ann."),
    ];
    let partial =
        Event::AnswerStopped { member: "ann".into(), upto: 1, partial: "Gr".into(), usage: used };
    let events = vec![
        posted(1, 1, "bo", "Which?", &["ann", "cy"]),
        began(1, "ann", 1),
        changed(2, None, &[], &["ann"]),
        began(2, "cy", 1),
        partial,
        answered(4, 2, ("cy", 1), "Ask @ann.", &[]),
    ];
    check(four(), story.clone(), events, ("open", &[]));
    let (state, _) = told(four(), story);
    assert_eq!(state.ledger.total(), used);
    assert_eq!(state.silences[0].model, Some(ModelName::new("m", "ann")));
    check_refused(four(), vec![], settle("answer/ann/1", Outcome::Elapsed), Reject::Stale);
}

#[test]
fn whoever_stays_goes_on_and_owes_what_was_owed() {
    let story = vec![
        post("bo", "All?"),
        changes(None, &models(&["a8"]), &["a1", "a3"]),
        answers("answer/a2/1", "Yes."),
    ];
    let seven = council(&["a2", "a1", "a3", "a4"], &[]);
    let (state, _) = told(seven, story);
    assert_eq!(state.owing(), [("a4", 1)]);
    assert_eq!(due_ids(&state), ids(&["answer/a4/2"]));
}

/// Whoever comes back owes nothing, and is known by another call from then on.
#[test]
fn a_member_may_come_back_with_another_model() {
    let mut other = models(&["ann"]);
    other[0].model = Some(ModelName::new("m", "other"));
    let story = vec![
        post("bo", "@ann Which?"),
        changes(None, &other, &["ann"]),
        hands_back("answer/ann/1", "Gr"),
        post("bo", "@ann Well?"),
    ];
    let (state, _) = told(four(), story);
    assert_eq!(due_ids(&state), ids(&["answer/ann/2"]));
    let ask = ask(&state, &CallId("answer/ann/2".into())).expect("it is due");
    assert_eq!(ask.model, ModelName::new("m", "other"));
    assert_eq!((state.former, state.silences.len()), (vec![], 1));
}

#[test]
fn whoever_names_only_a_former_member_speaks_to_nobody() {
    let story = vec![changes(None, &[], &["ann"]), post("bo", "@ann?"), post("bo", "@nobody?")];
    let events = vec![
        changed(1, None, &[], &["ann"]),
        posted(2, 1, "bo", "@ann?", &[]),
        posted(3, 2, "bo", "@nobody?", &["cy"]),
        began(3, "cy", 2),
    ];
    check(four(), story, events, ("open", &["answer/cy/2"]));
}

#[test]
fn a_name_stays_whose_it_was() {
    let story = vec![post("eve", "@di Hi."), changes(None, &[], &["ann", "di"])];
    let forbidden = |why: &str| Reject::Forbidden(why.into());
    let model = "ann was a model here; post under your own name.";
    check_refused(four(), story.clone(), post("Ann", "Hi."), forbidden(model));
    let refused = |add: &[Member], problem: &str| {
        let wrong = invalid(&[("addMembers[0].name", problem)]);
        check_refused(four(), story.clone(), changes(None, add, &[]), wrong);
    };
    refused(&people(&["ann"]), "\"ann\" was a model here; a person needs another name");
    let taken = "\"eve\" has already posted here; give the member another name";
    refused(&models(&["eve"]), taken);
    refused(&people(&["Eve"]), taken);
    refused(&models(&["CY"]), "differs from the member \"cy\" only in case");
    refused(&models(&["all"]), "`all` means everyone; choose another name");
    // Whoever has posted may become a member, and whoever was one may come back.
    told(four(), then(story.clone(), [changes(None, &people(&["eve", "di"]), &[])]));
    told(four(), then(story, [changes(None, &models(&["ann"]), &[]), post("di", "Hi.")]));
}

#[test]
fn every_wrong_field_of_a_change_is_named() {
    let mut add = models(&["x/y"]);
    add[0].persona = Some("p".repeat(8193));
    let command = changes(Some(" "), &add, &["nobody", "ann", "ann"]);
    let wrong = invalid(&[
        ("charter", "must not be empty"),
        ("removeMembers[0]", "there is no member \"nobody\""),
        ("removeMembers[2]", "is named twice"),
        ("addMembers[0].name", AGENT_NAME),
        ("addMembers[0].persona", "is 8193 bytes long; at most 8192 are allowed"),
    ]);
    check_refused(four(), vec![], command, wrong);
    let many: Vec<String> = (0..13).map(|n| format!("b{n}")).collect();
    let many = models(&many.iter().map(String::as_str).collect::<Vec<_>>());
    let wrong = invalid(&[("addMembers", "a council can have at most 16 members")]);
    check_refused(four(), vec![], changes(None, &many, &[]), wrong);
    told(four(), vec![changes(None, &many, &["bo"])]);
}

#[test]
fn nothing_new_changes_nothing_and_a_closed_council_stays() {
    let same = changes(Some("Choose the tea."), &[], &[]);
    check(four(), vec![same.clone()], vec![], ("open", &[]));
    let closed = not_now("closed", "This council is closed.", &["export"]);
    check_refused(four(), vec![close()], same, closed);
}

#[test]
fn a_council_is_changed_so_often_and_keeps_so_many_names() {
    let charter = |n: usize| changes(Some(&format!("Cup {n}.")), &[], &[]);
    let story: Vec<Command> = (0..limits::COUNCIL_CHANGES).map(charter).collect();
    let often = "This council has been changed the maximum number of times.";
    check_refused(four(), story, charter(1), not_now("open", often, &["post", "close", "export"]));

    let name = |n: usize| format!("b{n}");
    let swap = |n: usize| {
        let before: &[&str] = if n == 0 { &[] } else { &[&name(n - 1)] };
        changes(None, &models(&[&name(n)]), before)
    };
    let story: Vec<Command> = (0..=limits::COUNCIL_FORMER).map(swap).collect();
    let many = "This council has had the maximum number of members.";
    let allowed = ["post", "change", "close", "export"];
    check_refused(four(), story, swap(limits::COUNCIL_FORMER + 1), not_now("open", many, &allowed));
}

#[test]
fn the_record_says_what_was_changed_and_where() {
    let story = vec![
        post("bo", "@di First."),
        changes(Some("Choose a cup."), &models(&["eve"]), &["ann"]),
        post("bo", "@di Second."),
        changes(None, &[], &["cy"]),
    ];
    let record = markdown(&told(four(), story).0);
    let notes = ["First.", "the charter was changed", "removed ann", "added eve", "Second."];
    let places: Vec<Option<usize>> = notes.iter().map(|note| record.find(note)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}: {record}");
    assert!(record.find("removed cy") > places[4], "{record}");
}
