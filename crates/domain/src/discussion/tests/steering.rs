//! Pause, resume, stop and conclude, in every state.

use super::*;

/// One discussion in each state, by the way that leads there.
fn in_every_state() -> Vec<(&'static str, Held)> {
    let start = || Held::new(draft());
    let silent = start().picks("ann").breaks().picks("bob").breaks();
    vec![
        ("draft", Held::new(Create { start: None, ..draft() })),
        ("active", start().picks("ann")),
        ("concluding", start().told(Command::Own(Own::Conclude))),
        ("pausing", start().picks("ann").told(Command::Own(Own::Pause))),
        (
            "pausing, concluding",
            start().told(Command::Own(Own::Conclude)).told(Command::Own(Own::Pause)),
        ),
        ("paused", start().picks("ann").told(Command::Own(Own::Pause)).says("Tea.")),
        ("stopped", start().picks("ann").told(Command::Stop)),
        ("failed", silent),
        ("concluded", start().told(Command::Own(Own::Conclude)).says("Nothing.")),
    ]
}

/// What becomes of each: the first line of what is shown, or the refusal.
#[track_caller]
fn check_everywhere(command: Command, expect: [(&str, &str); 9]) {
    let is: Vec<(&str, String)> = in_every_state()
        .into_iter()
        .map(|(name, mut held)| {
            let told = match held.tell(command.clone()) {
                Ok(_) => held.shown().lines().next().unwrap_or_default().to_owned(),
                Err(Reject::NotNow { message, .. }) => message,
                Err(other) => panic!("{other:?}"),
            };
            (name, told)
        })
        .collect();
    let is: Vec<(&str, &str)> = is.iter().map(|(name, told)| (*name, told.as_str())).collect();
    assert_eq!(is, expect);
}

#[test]
fn start_in_every_state() {
    check_everywhere(
        Command::Own(Own::Start(Start::default())),
        [
            ("draft", "active 1 [opening#1]"),
            ("active", "This discussion is running."),
            ("concluding", "This discussion is running."),
            ("pausing", "This discussion is running."),
            ("pausing, concluding", "This discussion is running."),
            ("paused", "This discussion has already started; resume it."),
            ("stopped", "This discussion has already started; resume it."),
            ("failed", "This discussion has already started; resume it."),
            ("concluded", "This discussion has concluded."),
        ],
    );
}

#[test]
fn pause_in_every_state() {
    check_everywhere(
        Command::Own(Own::Pause),
        [
            ("draft", "This discussion has not been started."),
            ("active", "pausing 1 [turn/1#1]"),
            ("concluding", "pausing 0 [synthesis#1]"),
            ("pausing", "This discussion is already paused."),
            ("pausing, concluding", "This discussion is already paused."),
            ("paused", "This discussion is already paused."),
            ("stopped", "There is nothing to pause."),
            ("failed", "There is nothing to pause."),
            ("concluded", "This discussion has concluded."),
        ],
    );
}

#[test]
fn resume_in_every_state() {
    check_everywhere(
        Command::Own(Own::Resume),
        [
            ("draft", "This discussion has not been started; start it."),
            ("active", "This discussion is running."),
            ("concluding", "This discussion is running."),
            ("pausing", "active 1 [turn/1#1]"),
            ("pausing, concluding", "active 0 [synthesis#1]"),
            ("paused", "active 1 [evaluation/1#1]"),
            ("stopped", "active 1 [turn/1#2]"),
            ("failed", "active 2 [evaluation/2#1]"),
            ("concluded", "This discussion has concluded."),
        ],
    );
}

#[test]
fn stop_in_every_state() {
    check_everywhere(
        Command::Stop,
        [
            ("draft", "This discussion has not been started."),
            ("active", "stopped 1 []"),
            ("concluding", "stopped 0 []"),
            ("pausing", "stopped 1 []"),
            ("pausing, concluding", "stopped 0 []"),
            ("paused", "stopped 1 []"),
            ("stopped", "This discussion is already stopped."),
            ("failed", "This discussion has failed; nothing is running."),
            ("concluded", "This discussion has concluded."),
        ],
    );
}

#[test]
fn conclude_in_every_state() {
    check_everywhere(
        Command::Own(Own::Conclude),
        [
            ("draft", "Nothing has been said yet; start it first."),
            ("active", "active 0 [synthesis#1]"),
            ("concluding", "The conclusion is being written."),
            ("pausing", "active 0 [synthesis#1]"),
            ("pausing, concluding", "active 0 [synthesis#1]"),
            ("paused", "active 1 [synthesis#1]"),
            ("stopped", "active 0 [synthesis#1]"),
            ("failed", "active 2 [synthesis#1]"),
            ("concluded", "This discussion has concluded."),
        ],
    );
}

fn status(status: Wanted) -> Command {
    Command::Own(Own::Edit(Edit { status: Some(status), ..Edit::default() }))
}

#[test]
fn a_status_that_is_written_is_the_command_that_leads_there() {
    check_everywhere(
        status(Wanted::Active(Start::default())),
        [
            ("draft", "active 1 [opening#1]"),
            ("active", "This discussion is running."),
            ("concluding", "This discussion is running."),
            ("pausing", "active 1 [turn/1#1]"),
            ("pausing, concluding", "active 0 [synthesis#1]"),
            ("paused", "active 1 [evaluation/1#1]"),
            ("stopped", "active 1 [turn/1#2]"),
            ("failed", "active 2 [evaluation/2#1]"),
            ("concluded", "This discussion has concluded."),
        ],
    );
    for (wanted, command) in [(Wanted::Paused, Own::Pause), (Wanted::Concluded, Own::Conclude)] {
        for (name, mut held) in in_every_state() {
            let mut other = Held { events: vec![], state: held.state.clone(), ..held };
            let (is, told) =
                (held.tell(status(wanted.clone())), other.tell(Command::Own(command.clone())));
            assert_eq!(is, told, "{name}");
        }
    }
}

#[test]
fn what_else_is_written_with_a_status_counts_before_it() {
    let edit = |max_rounds: u32| Edit {
        name: Some("Hot".into()),
        max_rounds: Some(max_rounds),
        status: Some(Wanted::Active(Start::default())),
        ..Edit::default()
    };
    let mut held = Held::new(Create { start: None, ..draft() });
    let wrong = vec![Wrong::new("maxRounds", "must be from 1 to 50")];
    assert_eq!(held.tell(Command::Own(Own::Edit(edit(0)))), Err(Reject::Invalid(wrong)));
    let mut held = held.told(Command::Own(Own::Edit(edit(1)))).picks("ann");
    assert_eq!((held.state.name.as_str(), held.state.max_rounds), ("Hot", 1));
    // If the one is refused, the other does not happen.
    refused(&mut held, Command::Own(Own::Edit(edit(2))), "This discussion is running.");
}

#[test]
fn interject_in_every_state() {
    check_everywhere(
        Command::Own(Own::Interject { by: "Eve".into(), text: "Milk?".into() }),
        [
            ("draft", "This discussion has not been started; edit its topic."),
            ("active", "active 1 [turn/1#1]"),
            ("concluding", "The conclusion is being written."),
            ("pausing", "pausing 1 [turn/1#1]"),
            ("pausing, concluding", "The conclusion is being written."),
            ("paused", "paused 1 []"),
            ("stopped", "stopped 1 []"),
            ("failed", "failed 2 []"),
            ("concluded", "This discussion has concluded."),
        ],
    );
}

#[test]
fn a_stopped_conclusion_is_written_when_it_is_asked_for_whatever_the_rounds_are() {
    let one = Create { max_rounds: 1, ..draft() };
    let more = Command::Own(Own::Edit(Edit { max_rounds: Some(2), ..Edit::default() }));
    let stopped = || Held::new(one.clone()).picks("ann").says("Tea.").told(Command::Stop);
    let held = stopped().told(more.clone()).told(Command::Own(Own::Conclude));
    assert_eq!(held.shown().lines().next(), Some("active 1 [synthesis#2]"));
    // Resumed it goes on, because a round remains now.
    let held = stopped().told(more).told(Command::Own(Own::Resume));
    assert_eq!(held.shown().lines().next(), Some("active 1 [evaluation/1#1]"));
    let held = held.picks("bob").says("Coffee.");
    assert_eq!(held.shown().lines().next(), Some("active 2 [synthesis#2]"));
}

#[test]
fn an_interjection_in_the_name_of_a_model_is_refused() {
    let mut held = Held::new(draft());
    let wrong = vec![
        Wrong::new("by", "a model here has this name; use your own"),
        Wrong::new("text", "must not be empty"),
    ];
    let command = Command::Own(Own::Interject { by: " ANN ".into(), text: " ".into() });
    assert_eq!(held.tell(command), Err(Reject::Invalid(wrong)));
}

#[test]
fn interjections_have_a_limit_that_is_said_beforehand() {
    let eve = |n: usize| Command::Own(Own::Interject { by: "Eve".into(), text: format!("{n}") });
    let mut held = Held::new(draft());
    for n in 0..limits::INTERJECTIONS {
        held = held.told(eve(n));
    }
    assert!(!held.state.allowed().contains(&"interject"));
    let message = "This discussion has the maximum number of interjections.";
    refused(&mut held, eve(0), message);
}

#[test]
fn after_a_resumed_failure_every_model_is_asked_for_the_conclusion_again() {
    let one = Create { max_rounds: 1, ..draft() };
    let held = Held::new(one).picks("ann").says("Tea.").fails().fails().fails();
    assert_eq!(held.state.status(), "failed");
    let held = held.told(Command::Own(Own::Resume)).fails().says("Tea it is.");
    assert_eq!(held.shown().lines().last(), Some("= ann: Tea it is."));
    let note = "Not heard: Bob (was not asked). Written by the model of Ann: the facilitator's \
                failed.";
    assert_eq!(held.state.degraded().as_deref(), Some(note));
}

#[test]
fn a_late_answer_of_a_step_that_was_cut_off_is_kept_and_decides_nothing() {
    let mut held = Held::new(draft()).told(Command::Stop).told(Command::Own(Own::Resume));
    let call = CallId("opening#1".into());
    let late = Command::Settle { call, outcome: answered("Bob first.") };
    held.tell(late.clone()).expect("the text");
    check(&held, "active 1 [opening#2]\n1 opening#1 cut off: Some(\"Bob first.\")");
    assert_eq!(held.tell(late), Err(Reject::Stale));
}
