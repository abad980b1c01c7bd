//! A discussion in a few words, and as a document.

use super::*;
use crate::room::Progress;

#[track_caller]
fn check(held: &Held, progress: (u32, u32, &str), next: &[&str]) {
    let (done, total, message) = progress;
    assert_eq!(held.state.progress(), Progress { done, total, message: message.into() });
    let read = "Get it with full detail to read every turn.";
    let told = held.state.next();
    assert_eq!(told, next.iter().copied().chain([read]).collect::<Vec<_>>());
}

const WAIT: &str = "Wait until it is over; it continues on its own.";
const PAUSE: &str = "Pause it after the current step.";
const STOP: &str = "Stop it at once; what has arrived is kept, and it can be resumed.";
const RESUME: &str = "Resume it with exactly the step that was due.";
const CONCLUDE: &str = "Conclude it now, from what has been said.";
const INTERJECT: &str = "Interject: add a remark between turns.";

#[test]
fn how_far_it_is_and_what_can_be_done() {
    let held = Held::new(Create { start: None, ..draft() });
    let edit = "Edit it, or change who takes part.";
    check(&held, (0, 4, "The discussion is a draft."), &["Start it.", edit]);
    let held = held.told(Command::Own(Own::Start(Start::default())));
    let runs = [WAIT, PAUSE, STOP, CONCLUDE, INTERJECT];
    check(&held, (0, 4, "Chair is opening the discussion."), &runs);
    let held = held.picks("ann");
    check(&held, (0, 4, "Round 1 of at most 3: Ann is speaking."), &runs);
    let held = held.says("Tea.");
    let words = "Round 1 of at most 3 is over: Chair is deciding what comes next.";
    check(&held, (1, 4, words), &runs);
    let held = held.told(Command::Own(Own::Pause));
    let words = format!("{words} Then it pauses.");
    check(&held, (1, 4, &words), &[WAIT, RESUME, STOP, CONCLUDE, INTERJECT]);
    let held = held.picks("bob");
    let words = "Paused after 1 of at most 3 rounds.";
    check(&held, (1, 4, words), &[RESUME, STOP, CONCLUDE, INTERJECT]);
    let held = held.told(Command::Stop);
    let words = "Stopped after 1 of at most 3 rounds.";
    check(&held, (1, 4, words), &[RESUME, CONCLUDE, INTERJECT]);
    let held = held.told(Command::Own(Own::Conclude));
    check(&held, (1, 4, "Chair is writing the conclusion."), &[WAIT, PAUSE, STOP]);
    let held = held.fails();
    let words = "The model of Ann is writing the conclusion in the facilitator's place.";
    check(&held, (1, 4, words), &[WAIT, PAUSE, STOP]);
    let held = held.says("Tea it is.");
    check(&held, (2, 2, "Concluded after 1 round."), &[]);
    let note = "*Not heard: Bob (was not asked). Written by the model of Ann: the facilitator's \
                failed.*";
    assert_eq!(held.state.report(false), format!("{note}\n\n> Tea it is."));
}

#[test]
fn who_is_awaited_is_named() {
    let fay = Create { facilitator: person("Fay", Some(60_000)), ..draft() };
    let held = Held::new(fay);
    let words = "Waiting for Fay, a person, until 1970-01-01T00:01:00Z, to open the discussion.";
    check(&held, (0, 4, words), &["Fay must decide.", PAUSE, STOP, CONCLUDE, INTERJECT]);
    let held = held.told(Command::Own(Own::Conclude));
    let words = "Waiting for Fay, a person, until 1970-01-01T00:01:01Z, to conclude.";
    check(&held, (0, 4, words), &["Fay must reply.", PAUSE, STOP]);
    assert_eq!(held.state.report(false), format!("*No conclusion yet. {words}*"));
}

#[test]
fn a_failure_says_why() {
    let held = Held::new(draft()).picks("ann").breaks().picks("bob").breaks();
    let words = "Failed after 2 rounds: No participant can answer. The key is wrong.";
    check(&held, (2, 4, words), &[RESUME, CONCLUDE, INTERJECT]);
}

#[test]
fn the_document_of_a_discussion_that_was_steered() {
    let eve = Command::Own(Own::Interject { by: "Eve".into(), text: "And milk?".into() });
    let held = Held::new(draft()).says("Let me think.").told(eve).says("Tea.\n\nGreen.");
    let held = held.picks("bob").told(Command::Stop);
    let call = CallId("turn/2#1".into());
    let outcome = Outcome::Stopped { partial: "Cof\nfe".into(), usage: crate::Usage::default() };
    let held = held.told(Command::Settle { call, outcome }).told(Command::Own(Own::Resume)).fails();
    let held = held.picks("ann").says("Black.").fails().says("Tea it is.");
    insta::assert_snapshot!(held.state.report(true));
}

#[test]
fn the_document_of_a_discussion_that_goes_on() {
    let context = vec![ContextFile { name: "menu.md".into(), text: "Green.".into() }];
    let gus = takes_part(person("Gus", None), Role::Participant);
    let create = Create { context, participants: vec![gus], ..draft() };
    insta::assert_snapshot!(markdown(&Held::new(create).picks("gus").state));
}
