//! What can be changed when, and what is wrong with it.

use super::*;

fn rounds(rounds: u32) -> Command {
    Command::Own(Own::Edit(Edit { max_rounds: Some(rounds), ..Edit::default() }))
}

fn invalid(wrong: &[(&str, &str)]) -> Result<Vec<Event>, Reject> {
    let wrong = wrong.iter().map(|(field, problem)| Wrong::new(*field, *problem));
    Err(Reject::Invalid(wrong.collect()))
}

fn sitting() -> Held {
    Held::new(Create { start: None, ..draft() })
}

#[test]
fn a_draft_can_be_changed_wholly() {
    let edit = Edit {
        name: Some(" Hot ".into()),
        topic: Some("Tea?".into()),
        format: Some(Format::Review),
        max_rounds: Some(9),
        ..Edit::default()
    };
    let dan = takes_part(seat("Dan"), Role::Participant);
    let held = sitting()
        .told(Command::Own(Own::Edit(edit)))
        .told(Command::Own(Own::ChangeFacilitator(Box::new(seat("Zoe")))))
        .told(Command::Own(Own::AddParticipant(Box::new(dan))))
        .told(Command::Own(Own::RemoveParticipant(SeatId("ann".into()))));
    let state = &held.state;
    assert_eq!((state.name.as_str(), &*state.topic, state.max_rounds), ("Hot", "Tea?", 9));
    assert_eq!((state.format, state.facilitator.name.as_str()), (Format::Review, "Zoe"));
    let names: Vec<&str> = state.participants.iter().map(|p| p.seat.name.as_str()).collect();
    assert_eq!(names, ["Otto", "Bob", "Dan"]);
    assert_eq!(state.changed_at, at(4));
}

#[test]
fn what_is_not_given_stays() {
    let held = sitting().told(Command::Own(Own::Edit(Edit::default())));
    let before = sitting().state;
    assert_eq!(held.state, State { changed_at: at(1), ..before });
}

#[test]
fn topic_and_format_are_corrected_for_readers_once_it_has_started() {
    let edit = Edit {
        name: Some("Hot".into()),
        topic: Some("Tea?".into()),
        format: Some(Format::Review),
        ..Edit::default()
    };
    let asked = |held: &Held| {
        let call = due(&held.state).remove(0);
        ask(&held.state, &call.id).expect("an ask")
    };
    let held = Held::new(draft());
    let before = asked(&held);
    let held = held.told(Command::Own(Own::Edit(edit.clone())));
    assert_eq!(asked(&held), before);
    let told = |held: &Held| {
        let state = &held.state;
        let topic = state.topic_told().to_owned();
        (state.name.clone(), topic, state.format_told())
    };
    assert_eq!(told(&held), ("Hot".into(), "Tea?".into(), Format::Review));
    assert!(markdown(&held.state).contains("> Tea?"));
    // Also when all is over.
    let held = held.told(Command::Own(Own::Conclude)).says("Nothing.");
    let again = Edit { topic: Some("Cocoa?".into()), ..Edit::default() };
    let held = held.told(Command::Own(Own::Edit(again)));
    assert_eq!(told(&held), ("Hot".into(), "Cocoa?".into(), Format::Review));
}

#[test]
fn a_conclusion_is_edited_by_somebody_and_the_record_says_who() {
    let revise = |text: &str| {
        let conclusion = Some(text.to_owned());
        Command::Own(Own::Edit(Edit { conclusion, ..Edit::default() }))
    };
    let mut held = Held::new(draft());
    let message = "There is no conclusion to edit yet; conclude first.";
    refused(&mut held, revise("Tea."), message);
    let mut held = held.told(Command::Own(Own::Conclude)).says("Nothing.");
    assert_eq!(held.tell(revise(" ")), invalid(&[("conclusion", "must not be empty")]));
    let held = held.told(revise("Tea.")).told(revise("Tea, then."));
    let conclusion = held.state.conclusion().expect("a conclusion");
    assert_eq!((conclusion.text(), conclusion.answer.text.as_str()), ("Tea, then.", "Nothing."));
    let revision = conclusion.revision.as_ref().map(|revision| (revision.by.as_str(), revision.at));
    assert_eq!(revision, Some(("operator", at(held.second))));
    assert!(held.events.iter().all(|event| event.name() != "edited"));
    let document = markdown(&held.state);
    let note = format!("*Edited by operator, {}*", at(held.second));
    assert!(document.contains(&note), "{document}");
    assert!(document.contains("> Tea, then."), "{document}");
}

#[test]
fn who_sits_there_stays_once_it_has_started() {
    let mut held = Held::new(draft()).told(rounds(9));
    assert_eq!(held.state.max_rounds, 9);
    let message = "The facilitator can only be changed in a draft.";
    refused(&mut held, Command::Own(Own::ChangeFacilitator(Box::new(seat("Zoe")))), message);
    let message = "Who takes part can only be changed in a draft.";
    refused(&mut held, Command::Own(Own::RemoveParticipant(SeatId("ann".into()))), message);
    let mut held = held.told(Command::Own(Own::Conclude)).says("Nothing.");
    refused(&mut held, rounds(9), "This discussion has concluded; there are no more rounds.");
}

#[test]
fn rounds_cannot_be_fewer_than_began() {
    // The first round is being decided on.
    let mut held = Held::new(draft());
    assert_eq!(held.tell(rounds(0)), invalid(&[("maxRounds", "must be from 1 to 50")]));
    assert_eq!(held.tell(rounds(51)), invalid(&[("maxRounds", "must be from 1 to 50")]));
    let mut held = held.picks("ann").says("Tea.");
    // The second is being decided on.
    assert_eq!(held.tell(rounds(1)), invalid(&[("maxRounds", "must be from 2 to 50")]));
    let mut held = held.picks("bob");
    assert_eq!(held.tell(rounds(1)), invalid(&[("maxRounds", "must be from 2 to 50")]));
    let held = held.told(rounds(2)).says("Coffee.");
    assert_eq!(held.shown().lines().next(), Some("active 2 [synthesis#1]"));
}

#[test]
fn a_resting_discussion_with_no_rounds_left_goes_to_its_conclusion() {
    let held = Held::new(draft()).picks("ann").told(Command::Own(Own::Pause)).says("Tea.");
    let held = held.told(rounds(1)).told(Command::Own(Own::Resume));
    check(
        &held,
        "active 1 [synthesis#1]\n1 continue ann by parsed\n2 turn 1 ann: Tea.\n\
         3 synthesize by rule (The only round is over.)",
    );
}

#[test]
fn more_rounds_take_a_failed_discussion_on() {
    let one = Create { max_rounds: 1, ..draft() };
    let one = Create { participants: vec![takes_part(seat("Ann"), Role::Participant)], ..one };
    let held = Held::new(one).picks("ann").breaks();
    check(&held, "failed 1 []\n1 continue ann by parsed\n2 turn 1 ann failed: The key is wrong.");
    let held = held.told(rounds(2)).told(Command::Own(Own::Resume));
    assert_eq!(held.shown().lines().next(), Some("active 1 [evaluation/1#1]"));
}

#[test]
fn nobody_sits_twice() {
    let agent = |name: &str, id: &str| Seat { agent: Some(AgentId(id.into())), ..seat(name) };
    let mut held = sitting();
    let add = |seat: Seat| {
        Command::Own(Own::AddParticipant(Box::new(takes_part(seat, Role::Participant))))
    };
    let leads = "Chair leads the discussion and cannot take part too";
    assert_eq!(held.tell(add(seat("CHAIR"))), invalid(&[("participant", leads)]));
    assert_eq!(
        held.tell(add(seat("Ann"))),
        invalid(&[("participant", "Ann is already taking part")])
    );
    let mut held = held.told(add(agent("Dan", "critic")));
    let twin = agent("Eli", "critic");
    assert_eq!(
        held.tell(add(twin.clone())),
        invalid(&[("participant", "Dan is already taking part")])
    );
    let problem = "Dan takes part and cannot lead the discussion too";
    let lead = |seat: Seat| Command::Own(Own::ChangeFacilitator(Box::new(seat)));
    assert_eq!(held.tell(lead(twin)), invalid(&[("facilitator", problem)]));
    let same_name = Seat { id: SeatId("other".into()), ..seat("bob") };
    let problem = "Bob takes part and cannot lead the discussion too";
    assert_eq!(held.tell(lead(same_name)), invalid(&[("facilitator", problem)]));
    let unknown = Reject::Unknown("No one with the id \"eve\" takes part.".into());
    assert_eq!(held.tell(Command::Own(Own::RemoveParticipant(SeatId("eve".into())))), Err(unknown));
}

#[test]
fn a_draft_that_only_observers_are_left_in_does_not_start() {
    let gone = |id: &str| Command::Own(Own::RemoveParticipant(SeatId(id.into())));
    let mut held = sitting().told(gone("ann")).told(gone("bob"));
    let problem = "at least one participant must speak; observers only listen";
    let start = Command::Own(Own::Start(Start::default()));
    assert_eq!(held.tell(start), invalid(&[("participants", problem)]));
}

#[test]
fn all_that_is_wrong_is_named_at_once() {
    let slow = Seat { name: "A\nB".into(), ..person("Slow", Some(5)) };
    let mut odd = seat("Chair");
    if let Sitter::Model { model, .. } = &mut odd.sitter {
        *model = ModelName("nameless".into());
    }
    odd.description = "d".repeat(limits::DESCRIPTION_BYTES + 1);
    let create = Create {
        name: "n".repeat(limits::DISCUSSION_NAME_BYTES + 1),
        topic: " ".into(),
        max_rounds: 0,
        budget: Some(tokens(1)),
        project: Some(String::new()),
        context: vec![ContextFile { name: String::new(), text: "x".into() }],
        facilitator: odd,
        participants: vec![
            takes_part(slow, Role::Observer),
            takes_part(seat("Chair"), Role::Observer),
        ],
        ..draft()
    };
    let Err(Reject::Invalid(wrong)) =
        decide(None, Command::Own(Own::Create(Box::new(create))), at(0), nonce())
    else {
        panic!("it was taken");
    };
    let fields: Vec<&str> = wrong.iter().map(|wrong| wrong.field.as_str()).collect();
    assert_eq!(
        fields,
        [
            "topic",
            "context[0].name",
            "name",
            "maxRounds",
            "budget.tokens",
            "project",
            "facilitator.description",
            "facilitator.model",
            "participants",
            "participants[0].name",
            "participants[0].replyWithinSeconds",
            "participants[1]",
        ]
    );
}

#[test]
fn what_was_never_created_is_not_known() {
    let missing = Err(Reject::Unknown("There is no such discussion.".into()));
    assert_eq!(decide(None, Command::Own(Own::Pause), at(0), nonce()), missing);
    let nothing = Err(Reject::Unknown("There is no such session.".into()));
    assert_eq!(decide(None, Command::Stop, at(0), nonce()), nothing);
    let settle = Command::Settle { call: CallId("opening#1".into()), outcome: Outcome::Elapsed };
    assert_eq!(decide(None, settle, at(0), nonce()), Err(Reject::Stale));
    let mut held = sitting();
    let again = Command::Own(Own::Create(Box::new(draft())));
    refused(&mut held, again, "This discussion has already been created.");
}

#[test]
fn a_discussion_without_a_name_is_called_by_its_topic() {
    assert_eq!(sitting().state.name, "Tea or coffee?");
    assert_eq!(Held::new(Create { name: " Hot ".into(), ..draft() }).state.name, "Hot");
}
