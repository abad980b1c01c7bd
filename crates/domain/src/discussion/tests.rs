//! Whole discussions as lists of commands and what comes of them.

mod budgets;
mod drafts;
mod golden;
mod people;
mod prompts;
mod properties;
mod records;
mod reports;
mod steering;

pub use super::Command as Own;
use super::*;
use crate::budget::{Allowance, WhenSpent};
use crate::call::FailureKind;
use crate::form::story::{self, Told, apply, ask, due};
use crate::limits;
use crate::reject::Wrong;

pub type Command = Told<Own>;

pub fn decide(
    state: Option<&State>,
    command: Command,
    at: Timestamp,
    nonce: Nonce,
) -> Result<Vec<Event>, Reject> {
    story::decide(state, command, &Moment { at, nonce, actor: "operator".into() })
}

pub fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("a time")
}

pub fn nonce() -> Nonce {
    Nonce("4f2a".into())
}

pub fn seat(name: &str) -> Seat {
    Seat {
        id: SeatId(name.to_lowercase()),
        agent: None,
        name: name.to_owned(),
        description: String::new(),
        persona: Arc::from(format!("You are {name} of the tests.")),
        sitter: Sitter::Model {
            model: ModelName(format!("test/{}", name.to_lowercase())),
            window_tokens: 32_000,
            bounds: Bounds::default(),
            workspace: None,
        },
    }
}

pub fn person(name: &str, reply_within_ms: Option<u64>) -> Seat {
    Seat { sitter: Sitter::Person { reply_within_ms }, ..seat(name) }
}

pub fn takes_part(seat: Seat, role: Role) -> Participant {
    Participant { seat: Arc::new(seat), role }
}

/// A budget of so many tokens.
pub fn tokens(tokens: u64) -> Budget {
    let most = Allowance { tokens: Some(tokens), ..Allowance::default() };
    Budget { most, ..Budget::default() }
}

/// Chair leads Ann, Bob against everything, and Otto who listens.
pub fn draft() -> Create {
    Create {
        name: String::new(),
        topic: "Tea or coffee?".into(),
        format: Format::Deliberation,
        context: vec![],
        facilitator: seat("Chair"),
        participants: vec![
            takes_part(seat("Ann"), Role::Participant),
            takes_part(seat("Otto"), Role::Observer),
            takes_part(seat("Bob"), Role::DevilAdvocate),
        ],
        max_rounds: 3,
        budget: None,
        project: None,
        start: Some(Start::default()),
    }
}

/// A discussion that is told what to do, one second after the other.
pub struct Held {
    pub state: State,
    pub events: Vec<Event>,
    pub second: i64,
}

impl Held {
    pub fn new(create: Create) -> Held {
        let command = Command::Own(Own::Create(Box::new(create)));
        let events = decide(None, command, at(0), nonce()).expect("a discussion");
        let state = events.iter().fold(None, apply::<State>);
        Held { state: state.expect("a discussion"), events, second: 0 }
    }

    pub fn tell(&mut self, command: Command) -> Result<Vec<Event>, Reject> {
        self.second += 1;
        let events = decide(Some(&self.state), command, at(self.second), nonce())?;
        for event in &events {
            self.state = apply(Some(self.state.clone()), event).expect("a discussion");
        }
        self.events.extend(events.iter().cloned());
        Ok(events)
    }

    #[track_caller]
    pub fn told(mut self, command: Command) -> Held {
        self.tell(command).expect("a command that is allowed");
        self
    }

    /// The call that is due ends in this way.
    #[track_caller]
    pub fn settled(self, outcome: Outcome) -> Held {
        let call = due(&self.state).first().expect("a call that is due").id.clone();
        self.told(Command::Settle { call, outcome })
    }

    #[track_caller]
    /// The outcome of a call that is not due any more.
    pub fn settles(self, call: &str, outcome: Outcome) -> Held {
        self.told(Command::Settle { call: CallId(call.into()), outcome })
    }

    pub fn says(self, text: &str) -> Held {
        self.settled(answered(text))
    }

    #[track_caller]
    pub fn picks(self, next: &str) -> Held {
        let text = format!(
            r#"{{"decision":"continue","nextParticipantId":"{next}","question":"Well, {next}?","reasoning":"It is {next}'s turn."}}"#
        );
        self.says(&text)
    }

    #[track_caller]
    pub fn ends(self) -> Held {
        self.says(r#"{"decision":"synthesize","nextParticipantId":"","question":"","reasoning":"Enough."}"#)
    }

    #[track_caller]
    pub fn fails(self) -> Held {
        self.fails_by(FailureKind::TimedOut, "It took too long.")
    }

    /// Fails for a reason that does not pass.
    #[track_caller]
    pub fn breaks(self) -> Held {
        self.fails_by(FailureKind::Misconfigured, "The key is wrong.")
    }

    #[track_caller]
    fn fails_by(self, kind: FailureKind, message: &str) -> Held {
        let usage = crate::Usage::default();
        let failure = Failure { kind, message: message.into(), attempts: 1, usage };
        self.settled(Outcome::Failed { failure, partial: "Half".into() })
    }

    /// What is due, where the discussion stands, and its record in short.
    pub fn shown(&self) -> String {
        let due: Vec<String> = due(&self.state).iter().map(|call| call.id.0.clone()).collect();
        let line = |entry: &Arc<Entry>| format!("{} {}", entry.number, short(&entry.said));
        let record: Vec<String> = self.state.transcript.iter().map(line).collect();
        let conclusion = self.state.conclusion().map(|c| format!("\n= {}: {}", c.by, c.text()));
        format!(
            "{} {} [{}]\n{}{}",
            self.state.status(),
            self.state.round(),
            due.join(" "),
            record.join("\n"),
            conclusion.unwrap_or_default()
        )
    }
}

pub fn answered(text: &str) -> Outcome {
    Outcome::Answered(Answer {
        text: text.into(),
        reasoning: String::new(),
        cut: false,
        usage: Usage { input_tokens: Some(100), output_tokens: Some(10), ..Usage::default() },
        timing: Timing { first_text_ms: Some(5), latency_ms: 50 },
        attempts: 1,
    })
}

fn short(said: &Said) -> String {
    match said {
        Said::Decision(decided) => {
            let next = decided.next.as_ref().map(|next| format!(" {next}")).unwrap_or_default();
            let note = decided.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
            format!("{}{next} by {}{note}", decided.decision.name(), decided.how.name())
        }
        Said::Turn { turn, speaker, spoken: Spoken::Words(answer), .. } => {
            format!("turn {turn} {speaker}: {}", answer.text)
        }
        Said::Turn { turn, speaker, spoken: Spoken::Failed { failure, .. }, .. } => {
            format!("turn {turn} {speaker} failed: {}", failure.message)
        }
        Said::Interjection { by, text } => format!("{by} interjects: {text}"),
        Said::Cut { call, partial, .. } => format!("{call} cut off: {partial:?}"),
        Said::SynthesisFailed { by, failure, .. } => {
            format!("synthesis by {by} failed: {}", failure.message)
        }
    }
}

#[track_caller]
fn check(held: &Held, expect: &str) {
    assert_eq!(held.shown(), expect);
}

/// The command is not for now, is told so in these words, and changes nothing.
#[track_caller]
fn refused(held: &mut Held, command: Command, message: &str) {
    let before = held.state.clone();
    let (state, allowed) = (before.status(), before.allowed());
    let reject = Reject::NotNow { state, message: message.into(), allowed };
    assert_eq!(held.tell(command), Err(reject));
    assert_eq!(held.state, before);
}

#[test]
fn a_discussion_goes_from_opening_to_conclusion() {
    let held = Held::new(draft());
    check(&held, "active 1 [opening#1]\n");
    let held = held.picks("ann");
    check(&held, "active 1 [turn/1#1]\n1 continue ann by parsed");
    let held = held.says("Tea.").picks("bob").says("Coffee.");
    check(
        &held,
        "active 2 [evaluation/2#1]\n1 continue ann by parsed\n2 turn 1 ann: Tea.\n\
         3 continue bob by parsed\n4 turn 2 bob: Coffee.",
    );
    let held = held.ends().says("Both.");
    check(
        &held,
        "concluded 2 []\n1 continue ann by parsed\n2 turn 1 ann: Tea.\n\
         3 continue bob by parsed\n4 turn 2 bob: Coffee.\n5 synthesize by parsed\n= chair: Both.",
    );
}

#[test]
fn after_the_last_round_nothing_is_left_to_decide() {
    let create = Create { max_rounds: 1, ..draft() };
    let held = Held::new(create).picks("bob").says("Coffee.");
    check(
        &held,
        "active 1 [synthesis#1]\n1 continue bob by parsed\n2 turn 1 bob: Coffee.\n\
         3 synthesize by rule (The only round is over.)",
    );
}

#[test]
fn a_decision_that_cannot_be_read_falls_to_the_next_in_turn() {
    let held = Held::new(draft()).says("Let me think.").says("Tea.").picks("otto");
    assert_eq!(held.shown().lines().next(), Some("active 2 [turn/2#1]"), "{}", held.shown());
    let speaker = held.state.step().and_then(|step| held.state.seat_of(step));
    assert_eq!(speaker.map(|seat| seat.name.as_str()), Some("Bob"));
}

#[test]
fn a_stopped_turn_keeps_its_words_and_is_begun_again() {
    let mut held = Held::new(draft()).picks("ann").told(Command::Stop);
    let call = CallId("turn/1#1".into());
    let partial = Outcome::Stopped { partial: "Te".into(), usage: crate::Usage::default() };
    held.tell(Command::Settle { call: call.clone(), outcome: partial.clone() }).expect("the text");
    check(&held, "stopped 1 []\n1 continue ann by parsed\n2 turn/1#1 cut off: Some(\"Te\")");
    assert_eq!(held.tell(Command::Settle { call, outcome: partial }), Err(Reject::Stale));
    let held = held.told(Command::Own(Own::Resume));
    check(&held, "active 1 [turn/1#2]\n1 continue ann by parsed\n2 turn/1#1 cut off: Some(\"Te\")");
}

#[test]
fn a_pause_waits_for_the_turn_and_resumes_with_the_next_step() {
    let held = Held::new(draft()).picks("ann").told(Command::Own(Own::Pause));
    check(&held, "pausing 1 [turn/1#1]\n1 continue ann by parsed");
    let held = held.says("Tea.");
    check(&held, "paused 1 []\n1 continue ann by parsed\n2 turn 1 ann: Tea.");
    let held = held.told(Command::Own(Own::Resume));
    check(&held, "active 1 [evaluation/1#1]\n1 continue ann by parsed\n2 turn 1 ann: Tea.");
}

#[test]
fn a_conclusion_that_is_asked_for_breaks_the_turn_off() {
    let held = Held::new(draft()).picks("ann").told(Command::Own(Own::Conclude));
    check(&held, "active 0 [synthesis#1]\n1 continue ann by parsed\n2 turn/1#1 cut off: None");
    let held = held.says("Nothing was said.");
    assert_eq!(held.state.status(), "concluded");
}

#[test]
fn what_is_said_during_a_step_comes_after_it() {
    let interject =
        |text: &str| Command::Own(Own::Interject { by: "Eve".into(), text: text.into() });
    let held = Held::new(draft()).picks("ann").told(interject("Cocoa?"));
    check(&held, "active 1 [turn/1#1]\n1 continue ann by parsed");
    let held = held.told(Command::Own(Own::Pause)).says("Tea.").told(interject("Water?"));
    check(
        &held,
        "paused 1 []\n1 continue ann by parsed\n2 turn 1 ann: Tea.\n\
         3 Eve interjects: Cocoa?\n4 Eve interjects: Water?",
    );
}

#[test]
fn when_nobody_can_answer_the_discussion_has_failed_and_can_go_on() {
    let held = Held::new(draft()).picks("ann").breaks();
    assert_eq!(held.shown().lines().next(), Some("active 1 [evaluation/1#1]"));
    let held = held.picks("bob").breaks();
    check(
        &held,
        "failed 2 []\n1 continue ann by parsed\n2 turn 1 ann failed: The key is wrong.\n\
         3 continue bob by parsed\n4 turn 2 bob failed: The key is wrong.",
    );
    let held = held.told(Command::Own(Own::Resume)).picks("ann").says("Tea.").says("Tea it is.");
    assert_eq!(held.state.status(), "concluded");
}

#[test]
fn what_was_wrong_before_a_resume_may_be_mended() {
    let five = Create { max_rounds: 5, ..draft() };
    let held = Held::new(five).picks("ann").breaks().picks("bob").breaks();
    let held = held.told(Command::Own(Own::Resume)).picks("ann").breaks();
    assert_eq!(held.shown().lines().next(), Some("active 3 [evaluation/3#1]"));
    let held = held.picks("bob").breaks();
    assert_eq!(held.state.status(), "failed");
}

#[test]
fn turns_that_fail_for_a_time_end_nothing() {
    let held = Held::new(draft()).picks("ann").fails().picks("bob").fails().picks("ann").breaks();
    assert_eq!(held.shown().lines().next(), Some("active 3 [synthesis#1]"));
    let held = held.says("Nobody was heard.");
    assert_eq!(held.state.status(), "concluded");
    let absent = "Not heard: Ann (misconfigured); Bob (timed out).";
    assert_eq!(held.state.degraded().as_deref(), Some(absent));
}

#[test]
fn a_decision_that_brings_its_conclusion_is_the_last_call() {
    let enough = |synthesis: &str| {
        let decision = serde_json::json!({ "decision": "synthesize", "nextParticipantId": "none",
            "question": "", "reasoning": "Enough.", "synthesis": synthesis });
        decision.to_string()
    };
    let spoken = || Held::new(draft()).picks("ann").says("Tea.");
    let held = spoken().says(&enough(" Tea it is.\n"));
    check(
        &held,
        "concluded 1 []\n1 continue ann by parsed\n2 turn 1 ann: Tea.\n\
         3 synthesize by parsed\n= chair: Tea it is.",
    );
    // Its tokens are the decision's, and count once.
    let chair = held.state.used[&SeatId("chair".into())];
    assert_eq!((chair.calls, held.state.ledger.counted_of("chair").tokens), (2, 220));
    // A discussion that was to pause has nothing left to wait for.
    let held = spoken().told(Command::Own(Own::Pause)).says(&enough("Tea it is."));
    assert_eq!(held.state.status(), "concluded");
    for nothing in ["", "none", " N/A ", "…"] {
        let held = spoken().says(&enough(nothing));
        assert_eq!(held.shown().lines().next(), Some("active 1 [synthesis#1]"), "{nothing:?}");
    }
}

#[test]
fn whoever_leads_is_asked_without_tools() {
    let place = Workspace { folder: Some("/srv".into()), tools: vec!["Bash".into()] };
    let furnished = |name: &str| {
        let mut seat = seat(name);
        if let Sitter::Model { workspace, .. } = &mut seat.sitter {
            *workspace = Some(place.clone());
        }
        seat
    };
    let create = Create {
        facilitator: furnished("Chair"),
        participants: vec![takes_part(furnished("Ann"), Role::Participant)],
        ..draft()
    };
    let place_of = |held: &Held| {
        let call = due(&held.state).remove(0);
        ask(&held.state, &call.id).expect("an ask").workspace
    };
    let held = Held::new(create);
    assert_eq!(place_of(&held), None);
    let held = held.picks("ann");
    assert_eq!(place_of(&held).as_ref(), Some(&place));
    let held = held.says("Tea.");
    assert_eq!(place_of(&held), None);
    let held = held.ends();
    assert_eq!(place_of(&held), None);
    // Nor has another's model that concludes in its place.
    assert_eq!(place_of(&held.fails()), None);
}

#[test]
fn another_model_concludes_when_the_facilitators_fails() {
    let create = Create { max_rounds: 1, ..draft() };
    let held = Held::new(create).picks("ann").says("Tea.").fails();
    assert_eq!(held.shown().lines().next(), Some("active 1 [synthesis#2]"));
    let held = held.fails().fails();
    assert_eq!(held.state.status(), "failed", "{}", held.shown());
    let held = held.told(Command::Own(Own::Resume));
    assert_eq!(held.shown().lines().next(), Some("active 1 [synthesis#4]"));
}
