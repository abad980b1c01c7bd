//! What is spent is spent: nobody is asked whose budget has no room for the prompt.

use super::*;

/// A prompt of these tests has 359 to 361 tokens before anybody speaks; an answer
/// uses 110.
fn with_budget(name: &str, budget: u64) -> Seat {
    let mut seat = seat(name);
    if let Sitter::Model { bounds, .. } = &mut seat.sitter {
        bounds.budget_tokens = Some(budget);
    }
    seat
}

fn pair(ann: Seat, bob: Seat) -> Create {
    let participants = vec![takes_part(ann, Role::Participant), takes_part(bob, Role::Participant)];
    Create { participants, ..draft() }
}

#[test]
fn who_has_spent_its_budget_is_not_chosen() {
    // Once 110 are used, 359 more would pass 400.
    let held = Held::new(pair(with_budget("Ann", 400), seat("Bob"))).picks("ann").says("Tea.");
    let names: Vec<&str> = held.state.speakers().iter().map(|p| p.seat.name.as_str()).collect();
    assert_eq!(names, ["Bob"]);
    let held = held.picks("ann");
    let note = held.state.transcript.iter().rev().find_map(|entry| match &entry.said {
        Said::Decision(decided) => Some((decided.how, decided.next.clone())),
        _ => None,
    });
    assert!(
        matches!(&note, Some((How::Repaired | How::Fallback, Some(next))) if next.0 == "bob"),
        "{note:?}"
    );
}

#[test]
fn when_nobody_has_tokens_left_the_conclusion_follows() {
    let create = pair(with_budget("Ann", 400), with_budget("Bob", 400));
    let held = Held::new(create).picks("ann").says("Tea.").picks("bob").says("Coffee.");
    check(
        &held,
        "active 2 [synthesis#1]\n1 continue ann by parsed\n2 turn 1 ann: Tea.\n\
         3 continue bob by parsed\n4 turn 2 bob: Coffee.\n\
         5 synthesize by rule (The budget has no room for another turn.)",
    );
    let held = held.says("Both.");
    assert_eq!(held.state.conclusion().map(|c| c.why), Some(Why::Budget));
}

#[test]
fn a_facilitator_without_tokens_lets_them_speak_in_turn() {
    let create =
        Create { facilitator: with_budget("Chair", 400), ..pair(seat("Ann"), seat("Bob")) };
    let held = Held::new(create).picks("ann").says("Tea.").says("Coffee.").says("Cocoa.");
    let note = "(The facilitator's budget is spent: the next in turn speaks.)";
    check(
        &held,
        &format!(
            "active 3 [synthesis#1]\n1 continue ann by parsed\n2 turn 1 ann: Tea.\n\
             3 continue bob by rule {note}\n4 turn 2 bob: Coffee.\n\
             5 continue ann by rule {note}\n6 turn 3 ann: Cocoa.\n\
             7 synthesize by rule (All 3 rounds are over.)"
        ),
    );
}

#[test]
fn the_budget_of_the_discussion_is_everybodys() {
    let rule = "synthesize by rule (The budget has no room for another turn.)";
    let with = |budget| Create { budget_tokens: Some(budget), max_rounds: 9, ..draft() };
    // Each call uses 110. After 7 of them 360 more pass 1100: the turn after the
    // fourth decision is the last.
    let held = Held::new(with(1_100)).picks("ann").says("1").picks("bob").says("2").picks("ann");
    let held = held.says("3").picks("bob");
    let last = |held: &Held| held.shown().lines().last().map(str::to_owned);
    assert_eq!(last(&held).as_deref(), Some(format!("8 {rule}").as_str()), "{}", held.shown());
    assert_eq!(held.shown().lines().next(), Some("active 3 [synthesis#1]"));
}

#[test]
fn a_turn_that_was_stopped_too_often_is_not_begun_again() {
    // A stopped call has read its prompt of 359 tokens; a second one passes 700.
    let create = pair(with_budget("Ann", 700), seat("Bob"));
    let held = Held::new(create).picks("ann").told(Command::Stop).told(Command::Own(Own::Resume));
    assert_eq!(held.shown().lines().next(), Some("active 1 [opening#2]"), "{}", held.shown());
}

#[test]
fn a_budget_lies_within_its_limits() {
    let wrong = Wrong::new("budgetTokens", "must be 1000 to 1000000000000");
    for budget in [0, 999, 1_000_000_000_001, u64::MAX] {
        let create = Create { budget_tokens: Some(budget), ..draft() };
        let decided = decide(None, Command::Own(Own::Create(Box::new(create))), at(0), nonce());
        assert_eq!(decided, Err(Reject::Invalid(vec![wrong.clone()])), "{budget}");
    }
}

#[test]
fn a_budget_that_has_no_room_for_a_turn_does_not_start() {
    let context = vec![ContextFile { name: "long.md".into(), text: "x".repeat(8_000) }];
    let create = Create { budget_tokens: Some(2_000), context, ..draft() };
    let problem = "no participant's budget has room for one turn, which reads about 2359 tokens";
    let wrong = Err(Reject::Invalid(vec![Wrong::new("budgetTokens", problem)]));
    assert_eq!(decide(None, Command::Own(Own::Create(Box::new(create))), at(0), nonce()), wrong);
}

/// A provider may have read the prompt of a call that failed, and says nothing of it.
#[test]
fn failures_count_by_what_was_read_and_said() {
    let used = |held: &Held, id: &str| {
        let used = held.state.used[&SeatId(id.into())];
        (used.calls, used.tokens)
    };
    // "Half" is one token more.
    let held = Held::new(draft()).picks("ann").fails();
    assert_eq!(used(&held, "ann"), (1, 359 + 1));
    // The facilitator's first decision used 110; the question of turn 1 has 10 bytes.
    let held = held.fails();
    assert_eq!(used(&held, "chair"), (2, 110 + 360 + 10 / 4 + 1));
    let held = held.told(Command::Own(Own::Conclude)).fails();
    let (calls, tokens) = used(&held, "chair");
    assert_eq!((calls, tokens > 110 + 2 * 360), (3, true), "{tokens}");
}
