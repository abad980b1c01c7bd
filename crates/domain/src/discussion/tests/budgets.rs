//! What is spent is spent: nobody is asked whose budget has no room for the prompt.

use super::*;

/// A prompt of these tests has 359 to 361 tokens before anybody speaks, for which at most
/// 481 are reserved, with 256 for the answer; a call uses 110.
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
    // Once 110 are used, 737 more would pass 800.
    let held = Held::new(pair(with_budget("Ann", 800), seat("Bob"))).picks("ann").says("Tea.");
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
    let create = pair(with_budget("Ann", 800), with_budget("Bob", 800));
    let held = Held::new(create).picks("ann").says("Tea.").picks("bob").says("Coffee.");
    check(
        &held,
        "active 2 [synthesis#1]\n1 continue ann by parsed\n2 turn 1 ann: Tea.\n3 continue bob by \
         parsed\n4 turn 2 bob: Coffee.\n5 synthesize by rule (The budget does not cover another \
         turn.)",
    );
    let held = held.says("Both.");
    assert_eq!(held.state.conclusion().map(|c| c.why), Some(Why::Budget));
}

#[test]
fn a_facilitator_without_tokens_lets_them_speak_in_turn() {
    let create =
        Create { facilitator: with_budget("Chair", 800), ..pair(seat("Ann"), seat("Bob")) };
    let held = Held::new(create).picks("ann").says("Tea.").says("Coffee.").says("Cocoa.");
    let note = "(The facilitator's budget is spent, so the next in turn speaks.)";
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
    let rule = "synthesize by rule (The budget does not cover another turn.)";
    let with = |budget| Create { budget: Some(tokens(budget)), max_rounds: 9, ..draft() };
    // Each call uses 110. A turn needs 737, and the conclusion after it as much and 384 to
    // read the turn: after 7 calls that passes 2,610.
    let held = Held::new(with(2_610)).picks("ann").says("1").picks("bob").says("2").picks("ann");
    let held = held.says("3").picks("bob");
    let last = |held: &Held| held.shown().lines().last().map(str::to_owned);
    assert_eq!(last(&held).as_deref(), Some(format!("8 {rule}").as_str()), "{}", held.shown());
    assert_eq!(held.shown().lines().next(), Some("active 3 [synthesis#1]"));
}

#[test]
fn a_turn_that_was_stopped_too_often_is_not_begun_again() {
    // A stopped call has read its prompt of 359 tokens; a second one passes 1,000.
    let create = pair(with_budget("Ann", 1_000), seat("Bob"));
    let stopped = Outcome::Stopped { partial: String::new(), usage: Usage::default() };
    let held = Held::new(create).picks("ann").told(Command::Stop).settles("turn/1#1", stopped);
    let held = held.told(Command::Own(Own::Resume));
    assert_eq!(held.shown().lines().next(), Some("active 1 [opening#2]"), "{}", held.shown());
}

#[test]
fn a_budget_lies_within_its_limits() {
    let wrong = Wrong::new("budget.tokens", "must be 1,000 to 1,000,000,000,000 tokens");
    for budget in [0, 999, 1_000_000_000_001, u64::MAX] {
        let create = Create { budget: Some(tokens(budget)), ..draft() };
        let decided = decide(None, Command::Own(Own::Create(Box::new(create))), at(0), nonce());
        assert_eq!(decided, Err(Reject::Invalid(vec![wrong.clone()])), "{budget}");
    }
}

#[test]
fn a_budget_that_has_no_room_for_a_turn_does_not_start() {
    let context = vec![ContextFile { name: "long.md".into(), text: "x".repeat(8_000) }];
    let create = Create { budget: Some(tokens(2_000)), context, ..draft() };
    let problem = "The budget of 2,000 tokens does not cover this call: 0 spent or reserved, 7,187 \
                   needed.";
    let wrong = Err(Reject::Invalid(vec![Wrong::new("budget", problem)]));
    assert_eq!(decide(None, Command::Own(Own::Create(Box::new(create))), at(0), nonce()), wrong);
}

/// A provider may have read the prompt of a call that failed, and says nothing of it.
#[test]
fn failures_count_by_what_was_read_and_said() {
    let used = |held: &Held, id: &str| {
        let used = held.state.used[&SeatId(id.into())];
        (used.calls, held.state.ledger.counted_of(id).tokens)
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

/// What is left of a small budget is said to who writes, and held to.
#[test]
fn an_answer_is_held_to_what_is_left() {
    let ask = |budget| {
        let held = Held::new(Create { budget, ..draft() }).picks("ann");
        let room = crate::room::Room::Discussion(Box::new(held.state));
        let call = room.due().remove(0).id;
        let ask = room.ask(&call).expect("words");
        let told = ask.messages.last().is_some_and(|last| last.text.contains("answer under"));
        (ask.patience.answer_tokens, told)
    };
    assert_eq!(ask(None), (limits::ANSWER_TOKENS, false));
    assert_eq!(ask(Some(tokens(1_000_000))), (limits::ANSWER_TOKENS, false));
    let (share, told) = ask(Some(tokens(3_000)));
    assert!((256..1_000).contains(&share) && told, "{share}");
}

#[test]
fn at_the_end_of_its_time_it_is_concluded() {
    let timed = |when_spent| {
        let most = Allowance { time_ms: Some(60_000), ..Allowance::default() };
        let budget = Budget { most, when_spent };
        Held::new(Create { budget: Some(budget), ..draft() }).picks("ann").says("Tea.").picks("bob")
    };
    let over = |held: &Held| {
        let room = crate::room::Room::Discussion(Box::new(held.state.clone()));
        let sleep = room.due().into_iter().find(|call| call.id == crate::budget::time_call());
        assert_eq!(sleep.map(|call| call.work), Some(Work::Sleep { until: at(60) }));
        let input = crate::room::Input {
            at: at(60),
            nonce: nonce(),
            actor: "engine".into(),
            command: crate::room::Command::Settle {
                call: crate::budget::time_call(),
                outcome: Outcome::Elapsed,
            },
        };
        let events = crate::room::decide(Some(&room), input).expect("events");
        events.iter().map(crate::room::Event::name).collect::<Vec<_>>()
    };
    assert_eq!(over(&timed(WhenSpent::Conclude)), ["timeOver", "concludeAsked", "began"]);
    assert_eq!(over(&timed(WhenSpent::Stop)), ["timeOver", "stopped"]);
}

#[test]
fn a_budget_in_money_starts_with_the_prices_that_come_with_the_start() {
    let most = Allowance { cost: Some(5.0), ..Allowance::default() };
    let budget = Some(Budget { most, ..Budget::default() });
    let price = crate::prices::Price { input: 1.0, output: 5.0, cached: None };
    let quote =
        crate::prices::Quote { price, source: crate::prices::Source::Settings, said_at: None };
    let names = ["test/chair", "test/ann", "test/bob"];
    let models = names.map(|name| (ModelName(name.into()), quote)).into();
    let prices = crate::prices::Noted { models, ..Default::default() };
    let start = Some(Start { prices, ..Start::default() });
    let held = Held::new(Create { budget, start, ..draft() });
    assert_eq!(held.shown().lines().next(), Some("active 1 [opening#1]"));
    let create = Create { budget, ..draft() };
    let refused = decide(None, Command::Own(Own::Create(Box::new(create))), at(0), nonce());
    assert!(matches!(refused, Err(Reject::Invalid(wrong)) if wrong[0].field == "budget.cost"));
}
