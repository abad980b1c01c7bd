//! People who speak, who lead, and who do not come.

use super::*;

/// Gus, a person, speaks beside Ann.
fn with_gus(reply_within_ms: Option<u64>) -> Create {
    let gus = takes_part(person("Gus", reply_within_ms), Role::Participant);
    Create { participants: vec![takes_part(seat("Ann"), Role::Participant), gus], ..draft() }
}

fn led_by_fay(reply_within_ms: Option<u64>) -> Create {
    Create { facilitator: person("Fay", reply_within_ms), ..draft() }
}

fn reply(seat: Option<&str>, text: &str) -> Command {
    Command::Own(Own::Reply { seat: seat.map(|id| SeatId(id.into())), text: text.into() })
}

fn chooses(next: &str) -> Command {
    Command::Own(Own::Decide {
        decision: Choice::Continue,
        next: Some(SeatId(next.into())),
        question: Some(format!("Well, {next}?")),
        reasoning: None,
    })
}

fn synthesizes() -> Command {
    Command::Own(Own::Decide {
        decision: Choice::Synthesize,
        next: None,
        question: None,
        reasoning: Some("Enough.".into()),
    })
}

#[test]
fn a_person_speaks_in_turn() {
    let held = Held::new(with_gus(None)).picks("gus");
    check(&held, "active 1 []\n1 continue gus by parsed");
    assert_eq!(
        held.state.awaited().map(|step| step.call_id().0.as_str().to_owned()),
        Some("turn/1#1".into())
    );
    let held = held.told(reply(Some("gus"), "Water."));
    check(&held, "active 1 [evaluation/1#1]\n1 continue gus by parsed\n2 turn 1 gus: Water.");
    assert_eq!(held.state.used.get(&SeatId("gus".into())), None);
}

#[test]
fn only_whose_turn_it_is_can_reply() {
    let mut held = Held::new(with_gus(None)).picks("gus");
    refused(&mut held, reply(Some("ann"), "Tea."), "It is Gus's turn.");
    let unknown = Reject::Unknown("No one here has the id \"eve\".".into());
    assert_eq!(held.tell(reply(Some("eve"), "Hi.")), Err(unknown));
    refused(&mut held, chooses("ann"), "A reply is needed, not a decision: use `reply`.");
    let empty = Reject::Invalid(vec![Wrong::new("text", "must not be empty")]);
    assert_eq!(held.tell(reply(None, " \n")), Err(empty));
    let mut held = held.told(reply(None, "Water."));
    refused(&mut held, reply(None, "And ice."), "The discussion is not waiting for a person now.");
}

#[test]
fn a_person_who_does_not_come_is_passed_over() {
    let held = Held::new(with_gus(Some(60_000))).picks("gus");
    let until = at(61);
    let call = CallId("turn/1#1".into());
    assert_eq!(due(&held.state), [Call { id: call, work: Work::Sleep { until } }]);
    let held = held.settled(Outcome::Elapsed);
    check(
        &held,
        "active 1 [evaluation/1#1]\n1 continue gus by parsed\n2 turn 1 gus failed: No reply \
         arrived in time.",
    );
}

#[test]
fn a_discussion_rests_at_once_while_a_person_is_awaited() {
    let held = Held::new(with_gus(Some(60_000))).picks("gus").told(Command::Own(Own::Pause));
    check(&held, "paused 1 []\n1 continue gus by parsed");
    let mut held = held.told(Command::Own(Own::Resume));
    check(&held, "active 1 [turn/1#2]\n1 continue gus by parsed");
    // The whole time is given anew, and the end of the old wait means nothing.
    let until = at(63);
    assert_eq!(due(&held.state)[0].work, Work::Sleep { until });
    let call = CallId("turn/1#1".into());
    assert_eq!(held.tell(Command::Settle { call, outcome: Outcome::Elapsed }), Err(Reject::Stale));
    let held = held.told(Command::Stop).told(Command::Own(Own::Resume));
    check(&held, "active 1 [turn/1#3]\n1 continue gus by parsed");
}

#[test]
fn a_person_who_was_still_thinking_at_the_end_was_asked_all_the_same() {
    let held = Held::new(with_gus(None)).picks("gus").told(Command::Own(Own::Conclude));
    let degraded = held.says("Tea it is.").state.degraded().unwrap_or_default();
    assert!(degraded.contains("Gus (did not answer)"), "{degraded}");
}

#[test]
fn what_is_said_while_a_person_is_awaited_is_heard_at_once() {
    let eve = Command::Own(Own::Interject { by: " Eve ".into(), text: "Milk?".into() });
    let held = Held::new(with_gus(None)).picks("gus").told(eve);
    check(&held, "active 1 []\n1 continue gus by parsed\n2 Eve interjects: Milk?");
}

#[test]
fn a_person_leads() {
    let held = Held::new(led_by_fay(None));
    check(&held, "active 1 []\n");
    let held = held.told(chooses("bob")).says("Coffee.").told(synthesizes());
    check(
        &held,
        "active 1 []\n1 continue bob by person\n2 turn 1 bob: Coffee.\n3 synthesize by person",
    );
    let mut held = held;
    refused(&mut held, chooses("ann"), "A reply is needed, not a decision: use `reply`.");
    let held = held.told(reply(Some("fay"), "Coffee, then."));
    assert_eq!(held.shown().lines().last(), Some("= fay: Coffee, then."));
    assert_eq!(held.state.conclusion().map(|c| c.why), Some(Why::Decided));
}

#[test]
fn a_person_who_leads_is_told_what_is_wrong() {
    let mut held = Held::new(led_by_fay(None));
    let message = "The facilitator must decide who speaks next: use `decide`, not `reply`.";
    refused(&mut held, reply(None, "Ann, please."), message);
    let early = Wrong::new("decision", "no one has spoken yet; choose who speaks first");
    assert_eq!(held.tell(synthesizes()), Err(Reject::Invalid(vec![early])));
    let blank = Command::Own(Own::Decide {
        decision: Choice::Continue,
        next: Some(SeatId("otto".into())),
        question: None,
        reasoning: Some("x".repeat(limits::REASONING_BYTES + 1)),
    });
    let wrong = vec![
        Wrong::new("nextParticipantId", "must be one of the speakers: ann, bob"),
        Wrong::new("question", "must not be empty"),
        Wrong::new("reasoning", "is 8193 bytes long; at most 8192 are allowed"),
    ];
    assert_eq!(held.tell(blank), Err(Reject::Invalid(wrong)));
    check(&held, "active 1 []\n");
}

#[test]
fn when_who_leads_does_not_come_the_next_in_turn_speaks() {
    let held = Held::new(led_by_fay(Some(5_000))).settled(Outcome::Elapsed).says("Tea.");
    let note = "The facilitator did not answer: No reply arrived in time.";
    check(
        &held,
        &format!(
            "active 1 [evaluation/1#1]\n1 continue ann by fallback ({note})\n2 turn 1 ann: Tea."
        ),
    );
    let held = held.told(synthesizes()).settled(Outcome::Elapsed);
    // A model takes the conclusion over.
    assert_eq!(held.shown().lines().next(), Some("active 1 [synthesis#2]"));
    assert!(ask(&held.state, &CallId("synthesis#2".into())).is_some());
}
