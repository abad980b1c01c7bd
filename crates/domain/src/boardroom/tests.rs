//! The rules by example: commands in; events, status and due calls out.
//!
//! Command number `n` of a story, from 1, is given at `at(n)` with the nonce
//! `nonce(n)`; the board was convened at `at(0)` with `nonce(0)`.

mod ballots;
mod contributions;
mod follow_ups;
mod golden;
mod papers;
mod prompts;
mod properties;
mod records;
mod reports;
mod sights;
mod spending;
mod stops;
mod times;
mod tries;
mod verdicts;

use super::Command as Own;
use super::*;
use crate::call::{FailureKind, Timing, Usage};
use crate::form::story::{self, Told, apply, ask, due};
use crate::prices::{Price, Quote, Source};
use crate::reject::Wrong;

/// Gives the commands of a story one by one. All of them must be accepted.
#[track_caller]
fn check(board: Convene, story: Vec<Command>, events: Vec<Event>, then: (&str, &[&str])) {
    let (state, log) = told(board, story);
    assert_eq!(log[1..], events);
    assert_eq!((state.status(), due_ids(&state)), (then.0, ids(then.1)));
}

/// The same, and then one command more, which must be refused.
#[track_caller]
fn check_refused(board: Convene, story: Vec<Command>, command: Command, reject: Reject) {
    let n = story.len() + 1;
    let (state, _) = told(board, story);
    assert_eq!(decide(Some(&state), command, at(n), nonce(n)), Err(reject));
}

#[track_caller]
fn told(board: Convene, story: Vec<Command>) -> (State, Vec<Event>) {
    let (mut state, mut log) = (None, vec![]);
    for (n, command) in [Command::Own(Own::Convene(board))].into_iter().chain(story).enumerate() {
        let told = format!("command {n}: {command:?}");
        let events = decide(state.as_ref(), command, at(n), nonce(n));
        let events = events.unwrap_or_else(|reject| panic!("{told} was refused: {reject:?}"));
        state = events.iter().fold(state, |state, event| State::apply(state, event, at(n)));
        log.extend(events);
    }
    (state.expect("a story begins with a board"), log)
}

fn due_ids(state: &State) -> Vec<CallId> {
    due(state).into_iter().map(|call| call.id).collect()
}

fn ids(ids: &[&str]) -> Vec<CallId> {
    ids.iter().map(|id| CallId((*id).to_owned())).collect()
}

type Command = Told<Own>;

fn decide(
    state: Option<&State>,
    command: Command,
    at: Timestamp,
    nonce: Nonce,
) -> Result<Vec<Event>, Reject> {
    story::decide(state, command, &Moment { at, nonce, actor: "operator".into() })
}

fn at(n: usize) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + n as i64).unwrap()
}

fn nonce(n: usize) -> Nonce {
    Nonce(format!("n{n}"))
}

// ---------------------------------------------------------------------------
// Boards

/// A seat per role, each with the model `m/1`, `m/2`, …; `m/s` synthesizes.
fn board(roles: &[Role]) -> Convene {
    let seat = |(place, role): (usize, &Role)| Seat {
        id: SeatId(place as u8 + 1),
        role: *role,
        sitter: Sitter::Model(ModelName(format!("m/{}", place + 1))),
        system_prompt: None,
        own: None,
        tries: 1,
        seated: Default::default(),
        budget: Allowance::default(),
    };
    Convene {
        prompt: "Should we?".into(),
        context: vec![],
        seats: roles.iter().enumerate().map(seat).collect(),
        synthesizers: vec![model("m/s")],
        quorum: None,
        ballot: false,
        prices: Noted::default(),
        budget: None,
        open_answers: false,
        terms: Default::default(),
        brief: Default::default(),
    }
}

/// What the operator has set for these models, with output for nothing.
fn noted(names: &[&str], input: f64) -> Noted {
    let price = Price { input, output: 0.0, cached: None };
    let quote = Quote { price, source: Source::Settings, said_at: None };
    let models = names.iter().map(|name| (model(name), quote)).collect();
    Noted { models, ..Noted::default() }
}

fn pair() -> Convene {
    board(&[Role::Advocate, Role::Critic])
}

fn four() -> Convene {
    board(&[Role::Advocate, Role::Critic, Role::Analyst, Role::Expert])
}

fn with_quorum(need: usize, board: Convene) -> Convene {
    Convene { quorum: Some(Quorum { need, grace_ms: 5_000 }), ..board }
}

fn with_synthesizers(names: &[&str], board: Convene) -> Convene {
    Convene { synthesizers: names.iter().copied().map(model).collect(), ..board }
}

/// A pair whose second seat is held by a person.
fn with_person(reply_by: Option<Timestamp>) -> Convene {
    let mut board = pair();
    board.seats[1].sitter = Sitter::Person { name: "Ada".into(), reply_by };
    board
}

fn model(name: &str) -> ModelName {
    ModelName(name.into())
}

// ---------------------------------------------------------------------------
// Commands

fn settle(call: &str, outcome: Outcome) -> Command {
    Command::Settle { call: CallId(call.into()), outcome }
}

fn answers(call: &str, text: &str) -> Command {
    settle(call, Outcome::Answered(answer(text)))
}

fn fails(call: &str, kind: FailureKind) -> Command {
    settle(call, Outcome::Failed { failure: failure(kind), partial: "Half a".into() })
}

fn hands_back(call: &str, partial: &str) -> Command {
    settle(call, Outcome::Stopped { partial: partial.into(), usage: crate::Usage::default() })
}

fn elapses(call: &str) -> Command {
    settle(call, Outcome::Elapsed)
}

fn synthesize() -> Command {
    Command::Own(Own::Synthesize { model: None, instruction: None, prices: Noted::default() })
}

fn resynthesize() -> Command {
    Command::Own(Own::Resynthesize { model: None, instruction: None, prices: Noted::default() })
}

fn stop_one(seat: u8) -> Command {
    Command::Own(Own::StopAdvisor { seat: SeatId(seat) })
}

fn retry(seat: u8) -> Command {
    Command::Own(Own::Retry { seat: SeatId(seat), model: None, prices: Noted::default() })
}

fn retry_with(seat: u8, name: &str) -> Command {
    Command::Own(Own::Retry {
        seat: SeatId(seat),
        model: Some(model(name)),
        prices: Noted::default(),
    })
}

fn reply(seat: u8, text: &str) -> Command {
    Command::Own(Own::Reply { seat: SeatId(seat), text: text.into() })
}

fn answer(text: &str) -> Answer {
    Answer {
        text: text.into(),
        reasoning: String::new(),
        cut: false,
        usage: Usage::default(),
        timing: Timing::default(),
        attempts: 1,
    }
}

fn failure(kind: FailureKind) -> Failure {
    Failure { kind, message: "It broke.".into(), attempts: 1, usage: crate::Usage::default() }
}

/// A synthesis that keeps to the form.
const FOUR: &str = "## Consensus\nA.\n\n## Points of Agreement\nB.\n\n## Points of Divergence\nC.\n\n## Recommendation\nD.";

/// The first two advisors answer, the synthesizer too.
fn to_closed() -> Vec<Command> {
    vec![
        answers("advisor/1#1", "Yes."),
        answers("advisor/2#1", "No."),
        answers("synthesis/1#1", FOUR),
    ]
}

// ---------------------------------------------------------------------------
// Events

fn answered(seat: u8, text: &str) -> Event {
    Event::AdvisorAnswered { seat: SeatId(seat), asked: None, answer: answer(text) }
}

fn failed(seat: u8, kind: FailureKind) -> Event {
    Event::AdvisorFailed {
        seat: SeatId(seat),
        asked: None,
        failure: failure(kind),
        partial: "Half a".into(),
    }
}

fn stopped(seat: u8, partial: &str) -> Event {
    Event::AdvisorStopped {
        seat: SeatId(seat),
        asked: None,
        partial: partial.into(),
        usage: crate::Usage::default(),
    }
}

fn halted(seat: u8) -> Event {
    Event::AdvisorHalted { seat: SeatId(seat) }
}

fn retried(seat: u8) -> Event {
    Event::AdvisorRetried { seat: SeatId(seat), model: None }
}

fn began(n: usize, number: u32, name: &str, basis: &[u8], absent: &[(u8, &str)]) -> Event {
    let absent =
        absent.iter().map(|(seat, why)| Absent { seat: SeatId(*seat), why: (*why).into() });
    Event::SynthesisBegan {
        number,
        model: model(name),
        instruction: None,
        basis: basis.iter().copied().map(SeatId).collect(),
        contributions: vec![],
        absent: absent.collect(),
        nonce: nonce(n),
    }
}

fn instructed(event: Event, text: &str) -> Event {
    match event {
        Event::SynthesisBegan { number, model, basis, contributions, absent, nonce, .. } => {
            Event::SynthesisBegan {
                number,
                model,
                instruction: Some(text.into()),
                basis,
                contributions,
                absent,
                nonce,
            }
        }
        other => panic!("{other:?} takes no instruction"),
    }
}

fn synthesized(number: u32) -> Event {
    let verdict = Verdict { text: FOUR.into(), headings: Headings::AsAsked };
    Event::Synthesized { number, verdict, answer: answer(FOUR) }
}

fn synthesis_failed(n: usize, number: u32, kind: FailureKind, next: Option<&str>) -> Event {
    Event::SynthesisFailed {
        number,
        failure: failure(kind),
        partial: "Half a".into(),
        next: next.map(model),
        nonce: nonce(n),
    }
}

fn closed_log() -> Vec<Event> {
    vec![answered(1, "Yes."), answered(2, "No."), began(2, 1, "m/s", &[1, 2], &[]), synthesized(1)]
}

/// The commands, and one more after them.
fn then<T>(mut story: Vec<T>, more: impl IntoIterator<Item = T>) -> Vec<T> {
    story.extend(more);
    story
}

fn not_now(state: &'static str, message: &str, allowed: &[&'static str]) -> Reject {
    Reject::NotNow { state, message: message.into(), allowed: allowed.to_vec() }
}

// ---------------------------------------------------------------------------
// From convened to closed

#[test]
fn a_board_is_convened_as_asked_and_everybody_is_asked_at_once() {
    let convene = with_quorum(2, four());
    let (state, log) = told(convene.clone(), vec![]);
    assert_eq!(
        log,
        [Event::Convened {
            prompt: "Should we?".into(),
            context: [].into(),
            seats: convene.seats,
            synthesizers: convene.synthesizers,
            quorum: convene.quorum,
            ballot: false,
            open_answers: false,
            terms: Default::default(),
            brief: Default::default(),
            nonce: nonce(0),
            at: at(0),
        }]
    );
    let due = due_ids(&state);
    assert_eq!(due, ids(&["advisor/1#1", "advisor/2#1", "advisor/3#1", "advisor/4#1"]));
    assert_eq!(state.allowed(), ["stop", "export"]);
}

#[test]
fn the_synthesis_follows_the_last_answer_and_closes_the_board() {
    check(pair(), to_closed(), closed_log(), ("closed", &[]));
    let half = to_closed().into_iter().take(1).collect();
    check(pair(), half, vec![answered(1, "Yes.")], ("answering", &["advisor/2#1"]));
    let all = to_closed().into_iter().take(2).collect();
    let log = closed_log().into_iter().take(3).collect();
    check(pair(), all, log, ("synthesizing", &["synthesis/1#1"]));
}

#[test]
fn a_synthesis_of_two_of_four_names_who_is_absent_and_why() {
    let story = vec![
        answers("advisor/4#1", "Perhaps."),
        fails("advisor/1#1", FailureKind::TimedOut),
        answers("advisor/2#1", "No."),
        fails("advisor/3#1", FailureKind::RateLimited),
    ];
    let events = vec![
        answered(4, "Perhaps."),
        failed(1, FailureKind::TimedOut),
        answered(2, "No."),
        failed(3, FailureKind::RateLimited),
        began(4, 1, "m/s", &[2, 4], &[(1, "timed out"), (3, "rate limited")]),
    ];
    check(four(), story, events, ("synthesizing", &["synthesis/1#1"]));
}

/// Thinking is no answer, and what reached a limit is one.
#[test]
fn an_advisors_answer_is_kept_without_its_thinking_and_also_when_it_was_cut() {
    let heard = |text: &str, cut: bool| {
        let call = CallId("advisor/1#1".into());
        let said = Answer { cut, ..answer(text) };
        let settle = Command::Settle { call, outcome: Outcome::Answered(said) };
        told(pair(), vec![settle]).1.remove(1)
    };
    let says = |text: &str, reasoning: &str, cut| Event::AdvisorAnswered {
        seat: SeatId(1),
        asked: None,
        answer: Answer { reasoning: reasoning.into(), cut, ..answer(text) },
    };
    let wordless = |message: &str| Event::AdvisorFailed {
        seat: SeatId(1),
        asked: None,
        failure: Failure { message: message.into(), ..failure(FailureKind::Empty) },
        partial: String::new(),
    };
    let ended = "The model returned an empty answer.";
    let limited = "The model reached its length limit before writing anything.";
    for (text, cut, event) in [
        ("Yes.", false, says("Yes.", "", false)),
        ("Yes, bec", true, says("Yes, bec", "", true)),
        ("<think>Hm.</think>\n\nYes.", false, says("Yes.", "Hm.", false)),
        ("Hm.\n</think>\nYes.", true, says("Yes.", "Hm.", true)),
        ("<think>Hm.</think>\n", false, wordless(ended)),
        ("<think>Hm, and", true, wordless(limited)),
    ] {
        assert_eq!(heard(text, cut), event, "{text:?}");
    }
}

#[test]
fn every_kind_of_failure_is_an_absence_with_its_own_words() {
    use FailureKind::*;
    let kinds = [
        (TimedOut, "timed out"),
        (Idle, "stopped responding"),
        (Refused, "refused"),
        (RateLimited, "rate limited"),
        (OutOfCredit, "out of credit"),
        (PromptTooLong, "prompt too long"),
        (TooLong, "too long"),
        (Empty, "empty answer"),
        (Misconfigured, "misconfigured"),
        (Unreachable, "unreachable"),
        (ProviderError, "provider error"),
        (Malformed, "in the wrong format"),
    ];
    for (kind, words) in kinds {
        let story = vec![answers("advisor/2#1", "No."), fails("advisor/1#1", kind)];
        let events =
            vec![answered(2, "No."), failed(1, kind), began(2, 1, "m/s", &[2], &[(1, words)])];
        check(pair(), story, events, ("synthesizing", &["synthesis/1#1"]));
    }
}

#[test]
fn a_board_that_nobody_answers_fails() {
    let story = vec![
        fails("advisor/1#1", FailureKind::Refused),
        fails("advisor/2#1", FailureKind::Unreachable),
    ];
    let events = vec![
        failed(1, FailureKind::Refused),
        failed(2, FailureKind::Unreachable),
        Event::Failed { reason: "No advisor answered.".into() },
    ];
    check(pair(), story.clone(), events, ("failed", &[]));
    let refusal = not_now("failed", "No advisor has answered yet.", &["resume", "retry", "export"]);
    check_refused(pair(), story.clone(), synthesize(), refusal.clone());
    check_refused(pair(), story, resynthesize(), refusal);
}

#[test]
fn an_empty_answer_is_a_failure() {
    let story = vec![answers("advisor/1#1", " \n"), answers("advisor/2#1", "No.")];
    let failure = Failure {
        kind: FailureKind::Empty,
        message: "The model returned an empty answer.".into(),
        attempts: 1,
        usage: crate::Usage::default(),
    };
    let events = vec![
        Event::AdvisorFailed {
            seat: SeatId(1),
            asked: None,
            failure: failure.clone(),
            partial: "".into(),
        },
        answered(2, "No."),
        began(2, 1, "m/s", &[2], &[(1, "empty answer")]),
    ];
    check(pair(), story.clone(), events.clone(), ("synthesizing", &["synthesis/1#1"]));

    let synthesis = Event::SynthesisFailed {
        number: 1,
        failure,
        partial: "".into(),
        next: None,
        nonce: nonce(3),
    };
    check(
        pair(),
        then(story, [answers("synthesis/1#1", "\n")]),
        then(events, [synthesis]),
        ("failed", &[]),
    );
}

// ---------------------------------------------------------------------------
// Stop, and what may follow it

#[test]
fn stop_while_answering_keeps_what_has_arrived_and_no_synthesis_follows() {
    let story =
        vec![answers("advisor/1#1", "Yes."), Command::Stop, hands_back("advisor/2#1", "I th")];
    let events = vec![answered(1, "Yes."), Event::Stopped, stopped(2, "I th")];
    check(pair(), story.clone(), events, ("stopped", &[]));

    let (state, _) = told(pair(), story.clone());
    let standings: Vec<Standing> = state.advisors.into_iter().map(|a| a.standing).collect();
    let partial = Some("I th".into());
    assert_eq!(
        standings,
        [
            Standing::Done(answer("Yes.")),
            Standing::Stopped { why: Stopping::ByHand, partial, usage: Usage::default() }
        ]
    );
    check_refused(pair(), story.clone(), hands_back("advisor/2#1", "I th"), Reject::Stale);
    check_refused(pair(), story, answers("advisor/2#1", "I think so."), Reject::Stale);
}

#[test]
fn an_outcome_that_crosses_the_stop_is_kept_as_what_had_been_said() {
    let story = vec![
        Command::Stop,
        answers("advisor/1#1", "Yes."),
        fails("advisor/2#1", FailureKind::Idle),
    ];
    let events = vec![Event::Stopped, stopped(1, "Yes."), stopped(2, "Half a")];
    check(pair(), story, events, ("stopped", &[]));
}

#[test]
fn stop_while_synthesizing_keeps_the_draft() {
    let mut story: Vec<Command> = to_closed().into_iter().take(2).collect();
    story.extend([Command::Stop, hands_back("synthesis/1#1", "## Cons")]);
    let mut events: Vec<Event> = closed_log().into_iter().take(3).collect();
    events.extend([
        Event::Stopped,
        Event::SynthesisStopped {
            number: 1,
            partial: "## Cons".into(),
            usage: crate::Usage::default(),
        },
    ]);
    check(pair(), story.clone(), events, ("stopped", &[]));
    check_refused(pair(), story, answers("synthesis/1#1", FOUR), Reject::Stale);
}

#[test]
fn a_draft_that_is_handed_back_after_the_next_synthesis_began_is_kept_with_its_own() {
    let mut story: Vec<Command> = to_closed().into_iter().take(2).collect();
    story.extend([Command::Stop, resynthesize(), hands_back("synthesis/1#1", "## Cons")]);
    let mut events: Vec<Event> = closed_log().into_iter().take(3).collect();
    events.extend([
        Event::Stopped,
        began(4, 2, "m/s", &[1, 2], &[]),
        Event::SynthesisStopped {
            number: 1,
            partial: "## Cons".into(),
            usage: crate::Usage::default(),
        },
    ]);
    check(pair(), story.clone(), events, ("synthesizing", &["synthesis/2#1"]));
    let (state, _) = told(pair(), story);
    let standings: Vec<SynthesisStanding> =
        state.syntheses.into_iter().map(|s| s.standing).collect();
    let partial = Some("## Cons".into());
    assert_eq!(
        standings,
        [
            SynthesisStanding::Stopped { why: Stopping::ByHand, partial, usage: Usage::default() },
            SynthesisStanding::Asked
        ]
    );
}

#[test]
fn stop_twice_is_stop_once() {
    let story = vec![Command::Stop, Command::Stop];
    check(pair(), story, vec![Event::Stopped], ("stopped", &[]));
}

#[test]
fn a_board_at_rest_cannot_be_stopped() {
    let allowed = ["resynthesize", "retry", "followUp", "openBallot", "export"];
    let refusal = not_now("closed", "Nothing is running.", &allowed);
    check_refused(pair(), to_closed(), Command::Stop, refusal);
}

#[test]
fn synthesize_now_goes_without_those_that_have_not_finished() {
    let story = vec![
        answers("advisor/1#1", "Yes."),
        synthesize(),
        hands_back("advisor/2#1", "I th"),
        answers("synthesis/1#1", FOUR),
    ];
    let events = vec![
        answered(1, "Yes."),
        began(2, 1, "m/s", &[1], &[(2, "had not finished")]),
        stopped(2, "I th"),
        synthesized(1),
    ];
    check(pair(), story, events, ("closed", &[]));
    let refusal = not_now("answering", "No advisor has answered yet.", &["stop", "export"]);
    check_refused(pair(), vec![], synthesize(), refusal);
}

#[test]
fn synthesize_can_be_asked_for_after_a_stop() {
    let story = vec![answers("advisor/1#1", "Yes."), Command::Stop, synthesize()];
    let events =
        vec![answered(1, "Yes."), Event::Stopped, began(3, 1, "m/s", &[1], &[(2, "stopped")])];
    check(pair(), story, events, ("synthesizing", &["synthesis/1#1"]));
}

#[test]
fn a_synthesis_under_way_is_waited_for_or_stopped() {
    let story: Vec<Command> = to_closed().into_iter().take(2).collect();
    let refusal = |message| not_now("synthesizing", message, &["stop", "export"]);
    let written = "A verdict is already being written.";
    check_refused(pair(), story.clone(), synthesize(), refusal(written));
    check_refused(pair(), story.clone(), resynthesize(), refusal(written));
    let retrying = "The verdict is being written; stop it or wait for it.";
    check_refused(pair(), story.clone(), retry(1), refusal(retrying));
    let resuming = "The board has not been stopped.";
    check_refused(pair(), story, Command::Own(Own::Resume), refusal(resuming));
}

#[test]
fn resume_asks_those_without_an_answer_again_and_goes_on() {
    let story = vec![
        answers("advisor/1#1", "Yes."),
        Command::Stop,
        hands_back("advisor/2#1", "I th"),
        Command::Own(Own::Resume),
    ];
    let events = vec![answered(1, "Yes."), Event::Stopped, stopped(2, "I th"), retried(2)];
    check(pair(), story.clone(), events.clone(), ("answering", &["advisor/2#2"]));
    check(
        pair(),
        then(story.clone(), [answers("advisor/2#2", "No.")]),
        then(events, [answered(2, "No."), began(5, 1, "m/s", &[1, 2], &[])]),
        ("synthesizing", &["synthesis/1#1"]),
    );
    check_refused(pair(), story, answers("advisor/2#1", "No."), Reject::Stale);
}

#[test]
fn resume_writes_the_synthesis_when_only_that_is_missing() {
    let mut story: Vec<Command> = to_closed().into_iter().take(2).collect();
    story.extend([Command::Stop, Command::Own(Own::Resume)]);
    let mut events: Vec<Event> = closed_log().into_iter().take(3).collect();
    events.extend([Event::Stopped, began(4, 2, "m/s", &[1, 2], &[])]);
    check(pair(), story, events, ("synthesizing", &["synthesis/2#1"]));
}

#[test]
fn a_board_that_was_not_stopped_cannot_be_resumed() {
    let refusal = |state, allowed: &[&'static str]| {
        not_now(state, "The board has not been stopped.", allowed)
    };
    check_refused(
        pair(),
        vec![],
        Command::Own(Own::Resume),
        refusal("answering", &["stop", "export"]),
    );
    let allowed = ["resynthesize", "retry", "followUp", "openBallot", "export"];
    check_refused(pair(), to_closed(), Command::Own(Own::Resume), refusal("closed", &allowed));
}

#[test]
fn resume_does_not_ask_more_often_than_an_advisor_may_be_asked() {
    let mut story = vec![answers("advisor/1#1", "Yes."), Command::Stop];
    for _ in 0..limits::RETRIES_BY_HAND {
        story.extend([Command::Own(Own::Resume), Command::Stop]);
    }
    let n = story.len() + 1;
    let (state, _) = told(pair(), story.clone());
    assert_eq!(
        decide(Some(&state), Command::Own(Own::Resume), at(n), nonce(n)),
        Ok(vec![began(n, 1, "m/s", &[1], &[(2, "stopped")])])
    );
    let refusal = not_now(
        "stopped",
        "This advisor has been asked the maximum number of times.",
        &["resume", "synthesize", "resynthesize", "retry", "followUp", "export"],
    );
    check_refused(pair(), story, retry(2), refusal);
}

// ---------------------------------------------------------------------------
// Further syntheses

#[test]
fn resynthesize_adds_a_numbered_synthesis_of_the_same_advisors() {
    let again = Command::Own(Own::Resynthesize {
        model: Some(model("m/other")),
        instruction: Some("In French.".into()),
        prices: Noted::default(),
    });
    let story = then(to_closed(), [again, answers("synthesis/2#1", FOUR), resynthesize()]);
    let events = then(
        closed_log(),
        [
            instructed(began(4, 2, "m/other", &[1, 2], &[]), "In French."),
            synthesized(2),
            began(6, 3, "m/s", &[1, 2], &[]),
        ],
    );
    check(pair(), story.clone(), events, ("synthesizing", &["synthesis/3#1"]));
    let (state, _) = told(pair(), story);
    let numbers: Vec<u32> = state.syntheses.iter().map(|s| s.number).collect();
    assert_eq!(numbers, [1, 2, 3]);
}

#[test]
fn an_instruction_of_blanks_is_none() {
    let (instruction, prices) = (Some("  ".into()), Noted::default());
    let again = Command::Own(Own::Resynthesize { model: None, instruction, prices });
    let events = then(closed_log(), [began(4, 2, "m/s", &[1, 2], &[])]);
    check(pair(), then(to_closed(), [again]), events, ("synthesizing", &["synthesis/2#1"]));
}

#[test]
fn another_synthesis_is_not_added_while_the_advisors_are_answering() {
    let refusal = not_now(
        "answering",
        "The advisors are still answering.",
        &["stop", "synthesize", "retry", "export"],
    );
    check_refused(pair(), vec![answers("advisor/1#1", "Yes.")], resynthesize(), refusal);
    let closed = not_now(
        "closed",
        "There is already a verdict; ask for another with `resynthesize`.",
        &["resynthesize", "retry", "followUp", "openBallot", "export"],
    );
    check_refused(pair(), to_closed(), synthesize(), closed);
}

#[test]
fn a_board_keeps_so_many_syntheses_and_no_more() {
    let mut story = to_closed();
    for number in 2..=limits::SYNTHESES {
        story.extend([resynthesize(), answers(&format!("synthesis/{number}#1"), FOUR)]);
    }
    let refusal = not_now(
        "closed",
        "This board has the maximum number of verdicts.",
        &["openBallot", "export"],
    );
    check_refused(pair(), story.clone(), resynthesize(), refusal.clone());
    check_refused(pair(), story, retry(1), refusal);
}

// ---------------------------------------------------------------------------
// Asking an advisor again

#[test]
fn a_failed_advisor_is_asked_again_while_the_others_answer() {
    let story = vec![fails("advisor/1#1", FailureKind::Unreachable), retry(1)];
    let events = vec![failed(1, FailureKind::Unreachable), retried(1)];
    check(pair(), story.clone(), events, ("answering", &["advisor/1#2", "advisor/2#1"]));
    check_refused(pair(), story.clone(), answers("advisor/1#1", "Late."), Reject::Stale);
    let refusal = not_now("answering", "This advisor is already being asked.", &["stop", "export"]);
    check_refused(pair(), story, retry(1), refusal);
}

#[test]
fn another_model_takes_over_from_one_that_is_being_asked() {
    let story = vec![retry_with(1, "m/other")];
    let events = vec![
        Event::AdvisorHalted { seat: SeatId(1) },
        Event::AdvisorRetried { seat: SeatId(1), model: Some(model("m/other")) },
    ];
    check(pair(), story.clone(), events, ("answering", &["advisor/1#2", "advisor/2#1"]));
    // Sent once more, it is refused, and so is asking the same model.
    let refusal = not_now("answering", "This advisor is already being asked.", &["stop", "export"]);
    check_refused(pair(), story, retry_with(1, "m/other"), refusal.clone());
    check_refused(pair(), vec![], retry(1), refusal);
}

#[test]
fn after_closing_a_retried_advisor_is_followed_by_a_new_synthesis() {
    let story = vec![
        fails("advisor/1#1", FailureKind::Idle),
        answers("advisor/2#1", "No."),
        answers("synthesis/1#1", FOUR),
        retry_with(1, "m/other"),
        answers("advisor/1#2", "Yes."),
        answers("synthesis/2#1", FOUR),
    ];
    let events = vec![
        failed(1, FailureKind::Idle),
        answered(2, "No."),
        began(2, 1, "m/s", &[2], &[(1, "stopped responding")]),
        synthesized(1),
        Event::AdvisorRetried { seat: SeatId(1), model: Some(model("m/other")) },
        answered(1, "Yes."),
        began(5, 2, "m/s", &[1, 2], &[]),
        synthesized(2),
    ];
    check(pair(), story.clone(), events, ("closed", &[]));

    let (state, _) = told(pair(), story.into_iter().take(4).collect());
    let asked = ask(&state, &CallId("advisor/1#2".into())).map(|ask| ask.model);
    assert_eq!((asked, due_ids(&state)), (Some(model("m/other")), ids(&["advisor/1#2"])));
}

#[test]
fn an_unknown_seat_is_said_to_be_unknown() {
    let unknown = "This board has no advisor 7; its advisors are numbered 1 to 2.";
    check_refused(pair(), vec![], retry(7), Reject::Unknown(unknown.into()));
    check_refused(pair(), vec![], reply(7, "Hi."), Reject::Unknown(unknown.into()));
}

// ---------------------------------------------------------------------------
// Quorum

fn reached(n: usize) -> Event {
    Event::QuorumReached { until: at(n + 5) }
}

#[test]
fn a_quorum_gives_the_others_a_grace_time_and_then_stops_them() {
    let story = vec![
        answers("advisor/1#1", "Yes."),
        fails("advisor/3#1", FailureKind::Refused),
        answers("advisor/2#1", "No."),
        elapses("grace"),
        hands_back("advisor/4#1", "We sh"),
    ];
    let events = vec![
        answered(1, "Yes."),
        failed(3, FailureKind::Refused),
        answered(2, "No."),
        reached(3),
        began(4, 1, "m/s", &[1, 2], &[(3, "refused"), (4, "had not finished")]),
        stopped(4, "We sh"),
    ];
    check(with_quorum(2, four()), story.clone(), events, ("synthesizing", &["synthesis/1#1"]));

    let (state, _) = told(with_quorum(2, four()), story.clone());
    let straggler = state.advisors.into_iter().last().map(|advisor| advisor.standing);
    let partial = Some("We sh".into());
    assert_eq!(
        straggler,
        Some(Standing::Stopped { why: Stopping::Late, partial, usage: Usage::default() })
    );

    let (state, _) = told(with_quorum(2, four()), story.into_iter().take(3).collect());
    assert_eq!(
        due(&state).into_iter().last(),
        Some(Call { id: CallId("grace".into()), work: Work::Sleep { until: at(8) } })
    );
}

#[test]
fn when_all_have_answered_the_grace_time_is_cut_short() {
    let story = vec![
        answers("advisor/1#1", "Yes."),
        answers("advisor/2#1", "No."),
        answers("advisor/3#1", "Perhaps."),
        fails("advisor/4#1", FailureKind::TooLong),
    ];
    let events = vec![
        answered(1, "Yes."),
        answered(2, "No."),
        reached(2),
        answered(3, "Perhaps."),
        failed(4, FailureKind::TooLong),
        began(4, 1, "m/s", &[1, 2, 3], &[(4, "too long")]),
    ];
    check(with_quorum(2, four()), story.clone(), events, ("synthesizing", &["synthesis/1#1"]));
    check_refused(with_quorum(2, four()), story, elapses("grace"), Reject::Stale);
}

#[test]
fn a_quorum_that_cannot_be_reached_waits_for_all_and_takes_what_there_is() {
    let story = vec![
        fails("advisor/1#1", FailureKind::Refused),
        fails("advisor/2#1", FailureKind::Refused),
        answers("advisor/3#1", "Perhaps."),
        answers("advisor/4#1", "So."),
    ];
    let events = vec![
        failed(1, FailureKind::Refused),
        failed(2, FailureKind::Refused),
        answered(3, "Perhaps."),
        answered(4, "So."),
        began(4, 1, "m/s", &[3, 4], &[(1, "refused"), (2, "refused")]),
    ];
    check(with_quorum(3, four()), story, events, ("synthesizing", &["synthesis/1#1"]));
}

#[test]
fn a_grace_time_that_was_cancelled_has_not_elapsed() {
    let story = vec![answers("advisor/1#1", "Yes.")];
    let board = || with_quorum(1, pair());
    check_refused(board(), story, hands_back("grace", ""), Reject::Stale);
    check_refused(board(), vec![], elapses("grace"), Reject::Stale);
}

/// Otherwise the grace time would end with nobody to synthesize.
#[test]
fn who_is_asked_again_in_the_grace_time_is_not_cut_by_it() {
    let story = vec![answers("advisor/1#1", "Yes."), retry(1)];
    let events = vec![answered(1, "Yes."), reached(1), retried(1)];
    let board = || with_quorum(1, pair());
    check(board(), story.clone(), events, ("answering", &["advisor/1#2", "advisor/2#1"]));
    check_refused(board(), story, elapses("grace"), Reject::Stale);
}

// ---------------------------------------------------------------------------
// A person's seat

#[test]
fn a_person_replies_like_any_advisor() {
    let story = vec![answers("advisor/1#1", "Yes."), reply(2, "I would.")];
    let events =
        vec![answered(1, "Yes."), answered(2, "I would."), began(2, 1, "m/s", &[1, 2], &[])];
    check(with_person(None), story.clone(), events, ("synthesizing", &["synthesis/1#1"]));

    let (state, _) = told(with_person(None), vec![answers("advisor/1#1", "Yes.")]);
    assert_eq!((state.status(), due_ids(&state)), ("answering", vec![]));
    assert_eq!(state.allowed(), ["stop", "synthesize", "retry", "reply", "export"]);
}

#[test]
fn a_reply_is_refused_where_none_is_awaited() {
    let replied = vec![reply(2, "I would.")];
    let allowed = ["stop", "synthesize", "retry", "export"];
    let twice = not_now("answering", "This seat has not been asked for a reply.", &allowed);
    check_refused(with_person(None), replied, reply(2, "And more."), twice);
    let allowed = ["stop", "reply", "export"];
    let wrong_seat = not_now("answering", "This seat is a model's, not a person's.", &allowed);
    check_refused(with_person(None), vec![], reply(1, "Me!"), wrong_seat);
    let allowed = ["resume", "retry", "export"];
    let after_stop = not_now("stopped", "This seat has not been asked for a reply.", &allowed);
    check_refused(with_person(None), vec![Command::Stop], reply(2, "Late."), after_stop);
    let empty = Reject::Invalid(vec![Wrong::new("text", "must not be empty")]);
    check_refused(with_person(None), vec![], reply(2, " "), empty);
}

#[test]
fn a_deadline_that_passes_is_a_failure_in_time() {
    let board = || with_person(Some(at(60)));
    let (state, _) = told(board(), vec![]);
    let deadline = Call { id: CallId("deadline/2#1".into()), work: Work::Sleep { until: at(60) } };
    assert_eq!(due(&state).into_iter().last(), Some(deadline));

    let story = vec![answers("advisor/1#1", "Yes."), elapses("deadline/2#1")];
    let failure = Failure {
        kind: FailureKind::TimedOut,
        message: "No reply arrived in time.".into(),
        attempts: 1,
        usage: crate::Usage::default(),
    };
    let events = vec![
        answered(1, "Yes."),
        Event::AdvisorFailed { seat: SeatId(2), asked: None, failure, partial: "".into() },
        began(2, 1, "m/s", &[1], &[(2, "timed out")]),
    ];
    check(board(), story, events, ("synthesizing", &["synthesis/1#1"]));
    check_refused(board(), vec![], hands_back("deadline/2#1", ""), Reject::Stale);
    check_refused(board(), vec![reply(2, "I.")], elapses("deadline/2#1"), Reject::Stale);
}

#[test]
fn a_person_who_is_passed_over_had_not_replied() {
    let story = vec![
        answers("advisor/1#1", "Yes."),
        synthesize(),
        answers("synthesis/1#1", FOUR),
        resynthesize(),
    ];
    let events = vec![
        answered(1, "Yes."),
        began(2, 1, "m/s", &[1], &[(2, "had not replied")]),
        synthesized(1),
        began(4, 2, "m/s", &[1], &[(2, "had not replied")]),
    ];
    check(with_person(None), story, events, ("synthesizing", &["synthesis/2#1"]));
}

#[test]
fn a_person_who_is_asked_again_has_no_deadline_and_a_model_may_take_the_seat() {
    let story = vec![elapses("deadline/2#1"), retry(2)];
    let (state, _) = told(with_person(Some(at(60))), story.clone());
    assert_eq!(due_ids(&state), ids(&["advisor/1#1"]));
    assert!(state.allowed().contains(&"reply"));

    let story = vec![elapses("deadline/2#1"), retry_with(2, "m/2")];
    let (state, _) = told(with_person(Some(at(60))), story);
    assert_eq!(due_ids(&state), ids(&["advisor/1#1", "advisor/2#2"]));
}

#[test]
fn a_person_s_seat_has_no_call_to_a_model() {
    let outcome = answers("advisor/2#1", "I am no person.");
    check_refused(with_person(None), vec![], outcome, Reject::Stale);
    check_refused(with_person(None), vec![], elapses("deadline/2#1"), Reject::Stale);
}

// ---------------------------------------------------------------------------
// Synthesizers that fail or miss the form

#[test]
fn when_the_synthesizer_fails_the_next_one_takes_over_and_the_record_shows_it() {
    let board = || with_synthesizers(&["m/s", "m/t"], pair());
    let mut story: Vec<Command> = to_closed().into_iter().take(2).collect();
    story.push(fails("synthesis/1#1", FailureKind::TimedOut));
    let mut events: Vec<Event> = closed_log().into_iter().take(3).collect();
    events.push(synthesis_failed(3, 1, FailureKind::TimedOut, Some("m/t")));
    check(board(), story.clone(), events.clone(), ("synthesizing", &["synthesis/1#2"]));
    check_refused(board(), story.clone(), answers("synthesis/1#1", FOUR), Reject::Stale);

    let (state, _) = told(board(), then(story.clone(), [answers("synthesis/1#2", FOUR)]));
    let synthesis = &state.syntheses[0];
    let failure = failure(FailureKind::TimedOut);
    let tried = FailedTry { model: model("m/s"), failure, text: "Half a".into() };
    assert_eq!((&synthesis.model, &synthesis.failed), (&model("m/t"), &vec![tried]));

    check(
        board(),
        then(story, [fails("synthesis/1#2", FailureKind::Refused)]),
        then(events, [synthesis_failed(4, 1, FailureKind::Refused, None)]),
        ("failed", &[]),
    );
}

#[test]
fn not_more_synthesizers_are_tried_than_the_limit_says() {
    let names: Vec<String> = (0..20).map(|n| format!("m/{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut story: Vec<Command> = to_closed().into_iter().take(2).collect();
    for tries in 1..=limits::SYNTHESIS_TRIES {
        story.push(fails(&format!("synthesis/1#{tries}"), FailureKind::Idle));
    }
    let (state, _) = told(with_synthesizers(&names, pair()), story);
    assert_eq!((state.status(), due_ids(&state)), ("failed", vec![]));
}

fn malformed(n: usize, next: &str) -> Event {
    Event::SynthesisFailed {
        number: 1,
        failure: Failure {
            kind: FailureKind::Malformed,
            message: "The verdict did not follow the four sections.".into(),
            attempts: 1,
            usage: crate::Usage::default(),
        },
        partial: "They agree.".into(),
        next: Some(model(next)),
        nonce: nonce(n),
    }
}

#[test]
fn a_malformed_synthesis_gets_a_second_chance_and_is_then_kept_as_it_is() {
    let mut story: Vec<Command> = to_closed().into_iter().take(2).collect();
    story.push(answers("synthesis/1#1", "They agree."));
    let mut events: Vec<Event> = closed_log().into_iter().take(3).collect();
    events.push(malformed(3, "m/s"));
    check(pair(), story.clone(), events.clone(), ("synthesizing", &["synthesis/1#2"]));

    let as_it_is = Event::Synthesized {
        number: 1,
        verdict: Verdict { text: "Still prose.".into(), headings: Headings::Missing },
        answer: answer("Still prose."),
    };
    check(
        pair(),
        then(story.clone(), [answers("synthesis/1#2", "Still prose.")]),
        then(events.clone(), [as_it_is]),
        ("closed", &[]),
    );
    check(
        pair(),
        then(story, [answers("synthesis/1#2", FOUR)]),
        then(events, [synthesized(1)]),
        ("closed", &[]),
    );
}

#[test]
fn the_chosen_model_is_kept_also_where_there_are_others() {
    let board = || with_synthesizers(&["m/s", "m/t"], pair());
    let mut story: Vec<Command> = to_closed().into_iter().take(2).collect();
    story.push(answers("synthesis/1#1", "They agree."));
    let mut events: Vec<Event> = closed_log().into_iter().take(3).collect();
    events.push(malformed(3, "m/s"));
    check(board(), story.clone(), events.clone(), ("synthesizing", &["synthesis/1#2"]));
    let (state, _) = told(board(), then(story, [answers("synthesis/1#2", "Still prose.")]));
    let synthesis = &state.syntheses[0];
    let tries: Vec<(&str, &str)> =
        synthesis.failed.iter().map(|one| (one.model.0.as_str(), one.text.as_str())).collect();
    assert_eq!((&synthesis.model, tries), (&model("m/s"), vec![("m/s", "They agree.")]));
}

/// It has written: what it cannot put in order any more stands as it came.
#[test]
fn the_words_of_the_chosen_model_stand_when_it_fails_to_put_them_in_order() {
    let board = with_synthesizers(&["m/s", "m/t"], pair());
    let mut story: Vec<Command> = to_closed().into_iter().take(2).collect();
    story.push(answers("synthesis/1#1", "They agree."));
    story.push(fails("synthesis/1#2", FailureKind::Idle));
    let mut events: Vec<Event> = closed_log().into_iter().take(3).collect();
    events.push(malformed(3, "m/s"));
    events.push(synthesis_failed(4, 1, FailureKind::Idle, Some("m/s")));
    events.push(Event::Synthesized {
        number: 1,
        verdict: Verdict { text: "They agree.".into(), headings: Headings::Missing },
        answer: Answer { attempts: 0, ..answer("They agree.") },
    });
    check(board, story, events, ("closed", &[]));
}

/// One that took over is asked for the shape like the first, and each failure has the next
/// one as its successor.
#[test]
fn another_model_takes_over_only_from_one_that_failed() {
    let board = with_synthesizers(&["m/s", "m/t", "m/u"], pair());
    let mut story: Vec<Command> = to_closed().into_iter().take(2).collect();
    story.push(fails("synthesis/1#1", FailureKind::Idle));
    story.push(answers("synthesis/1#2", "They agree."));
    let mut events: Vec<Event> = closed_log().into_iter().take(3).collect();
    events.push(synthesis_failed(3, 1, FailureKind::Idle, Some("m/t")));
    events.push(malformed(4, "m/t"));
    check(board, story, events, ("synthesizing", &["synthesis/1#3"]));
}

// ---------------------------------------------------------------------------
// Import

fn imported(events: Vec<Event>) -> Result<Vec<Event>, Reject> {
    decide(None, Command::Own(Own::Import { from: None, events }), at(99), nonce(99))
}

fn renewed(mut events: Vec<Event>) -> Vec<Event> {
    if let Some(Event::Convened { nonce: old, .. }) = events.first_mut() {
        *old = nonce(99);
    }
    events
}

const IMPORTED: fn() -> Event = || Event::Imported { from: None, at: at(99) };

#[test]
fn a_closed_board_is_taken_over_as_it_is_but_for_the_nonce() {
    let (_, log) = told(pair(), to_closed());
    assert_eq!(imported(log.clone()), Ok(then(renewed(log), [IMPORTED()])));
}

#[test]
fn a_running_board_is_stopped_when_it_is_taken_over() {
    let (_, log) = told(pair(), vec![answers("advisor/1#1", "Yes.")]);
    let events = then(renewed(log.clone()), [Event::Stopped, stopped(2, ""), IMPORTED()]);
    assert_eq!(imported(log), Ok(events.clone()));
    let state = events.iter().fold(None, apply::<State>).unwrap();
    assert_eq!((state.status(), due_ids(&state)), ("stopped", vec![]));

    let (_, log) = told(pair(), to_closed().into_iter().take(2).collect());
    let draft =
        Event::SynthesisStopped { number: 1, partial: "".into(), usage: crate::Usage::default() };
    let events = then(renewed(log.clone()), [Event::Stopped, draft, IMPORTED()]);
    assert_eq!(imported(log), Ok(events));
}

#[test]
fn what_was_never_handed_back_elsewhere_is_empty_here() {
    let (_, log) = told(with_person(None), vec![Command::Stop]);
    let events = then(renewed(log.clone()), [stopped(1, ""), IMPORTED()]);
    assert_eq!(imported(log), Ok(events));
}

#[test]
fn a_board_that_waits_for_a_person_is_stopped_when_it_is_taken_over() {
    let (_, log) = told(with_person(None), vec![answers("advisor/1#1", "Yes.")]);
    let events = then(renewed(log.clone()), [Event::Stopped, IMPORTED()]);
    assert_eq!(imported(log), Ok(events));
}

#[test]
fn a_bad_record_is_refused_with_the_place_where_it_goes_wrong() {
    let (_, log) = told(pair(), to_closed());
    let convened = || log[0].clone();
    let bad: Vec<(Vec<Event>, &str, &str)> = vec![
        (vec![], "events", "the first event of a board's record must be `convened`"),
        (vec![Event::Stopped], "events", "the first event of a board's record must be `convened`"),
        (vec![convened(), convened()], "events[1]", "a board can be convened only once"),
        (vec![convened(), answered(3, "Hi.")], "events[1]", "this advisor was not being asked"),
        (
            vec![convened(), answered(1, "Yes."), answered(1, "No.")],
            "events[2]",
            "this advisor was not being asked",
        ),
        (vec![convened(), answered(1, "")], "events[1]", "an answer must not be empty"),
        (vec![convened(), stopped(1, "x")], "events[1]", "this advisor had not been stopped"),
        (vec![convened(), retried(1)], "events[1]", "this advisor could not be asked again"),
        (vec![convened(), reached(1)], "events[1]", "there was no quorum to reach"),
        (
            vec![convened(), began(1, 1, "m/s", &[1], &[])],
            "events[1]",
            "a verdict must be made from advisors that have answered",
        ),
        (
            vec![convened(), answered(1, "Yes."), began(2, 1, "m/s", &[], &[])],
            "events[2]",
            "a verdict must be made from advisors that have answered",
        ),
        (
            vec![convened(), answered(1, "Yes."), began(2, 2, "m/s", &[1], &[])],
            "events[2]",
            "this verdict could not have been started",
        ),
        (
            vec![convened(), answered(1, "Yes."), began(2, 1, "", &[1], &[])],
            "events[2]",
            "a model must be named provider/model",
        ),
        (vec![convened(), synthesized(1)], "events[1]", "this verdict was not being written"),
        (
            vec![
                convened(),
                Event::SynthesisStopped {
                    number: 1,
                    partial: "".into(),
                    usage: crate::Usage::default(),
                },
            ],
            "events[1]",
            "this verdict had not been stopped",
        ),
        (vec![convened(), Event::Stopped, Event::Stopped], "events[2]", "nothing was running"),
        (
            vec![convened(), Event::Failed { reason: "So.".into() }],
            "events[1]",
            "a board can fail only if no one has answered",
        ),
    ];
    for (events, field, problem) in bad {
        let refusal = Err(Reject::Invalid(vec![Wrong::new(field, problem)]));
        assert_eq!(imported(events), refusal);
    }
}

#[test]
fn a_record_that_begins_as_no_board_of_ours_begins_is_refused() {
    let (_, mut log) = told(pair(), vec![]);
    if let Some(Event::Convened { prompt, synthesizers, .. }) = log.first_mut() {
        *prompt = "".into();
        synthesizers.clear();
    }
    let wrong = vec![
        Wrong::new("events[0].event.prompt", "must not be empty"),
        Wrong::new("events[0].event.synthesizers", "no model was named"),
    ];
    assert_eq!(imported(log), Err(Reject::Invalid(wrong)));
}

#[test]
fn a_record_from_the_end_of_time_is_no_reason_to_panic() {
    let (_, mut log) = told(with_person(None), vec![]);
    if let Some(Event::Convened { at, seats, .. }) = log.first_mut() {
        *at = Timestamp::MAX;
        seats[1].sitter = Sitter::Person { name: "Ada".into(), reply_by: Some(Timestamp::MAX) };
    }
    let problem = "must be within the next 30 days";
    let wrong = vec![Wrong::new("events[0].event.seats[1].replyBy", problem)];
    assert_eq!(imported(log), Err(Reject::Invalid(wrong)));
}

// ---------------------------------------------------------------------------
// Input

#[test]
fn every_wrong_field_is_named_at_once() {
    let mut board = four();
    board.prompt = " ".into();
    board.context = vec![ContextFile { name: "".into(), text: "".into() }];
    board.seats[0].id = SeatId(9);
    board.seats[1].sitter = Sitter::Model(model("nameless"));
    board.seats[2].sitter = Sitter::Person { name: "".into(), reply_by: Some(at(0)) };
    board.seats[3].system_prompt = Some("x".repeat(limits::INSTRUCTION_BYTES + 1));
    board.synthesizers = vec![model("/")];
    board.quorum = Some(Quorum { need: 5, grace_ms: limits::GRACE_MOST_MS + 1 });
    let wrong = vec![
        Wrong::new("prompt", "must not be empty"),
        Wrong::new("context[0].name", "must not be empty"),
        Wrong::new("context[0].text", "must not be empty"),
        Wrong::new("advisors[0].id", "seats are numbered 1, 2, 3, …"),
        Wrong::new("advisors[1].model", "a model is named provider/model"),
        Wrong::new("advisors[2].person", "must not be empty"),
        Wrong::new("advisors[2].replyBy", "must be within the next 30 days"),
        Wrong::new("advisors[3].systemPrompt", "is 8193 bytes long; at most 8192 are allowed"),
        Wrong::new("synthesizer", "a model is named provider/model"),
        Wrong::new("quorum.need", "must be from 1 to 4"),
        Wrong::new("quorum.graceSeconds", "must be at most 3600"),
    ];
    let refusal = decide(None, Command::Own(Own::Convene(board)), at(0), nonce(0));
    assert_eq!(refusal, Err(Reject::Invalid(wrong)));
}

#[test]
fn limits_of_numbers_and_sizes_hold() {
    let too_many = Convene {
        prompt: "x".repeat(limits::PROMPT_BYTES + 1),
        context: vec![
            ContextFile { name: "a".into(), text: "x".repeat(limits::CONTEXT_FILE_BYTES) };
            limits::CONTEXT_FILES + 1
        ],
        synthesizers: vec![ModelName::new("m", &"x".repeat(limits::MODEL_NAME_BYTES))],
        ..board(&[Role::Critic; limits::ADVISORS + 1])
    };
    let wrong = vec![
        Wrong::new("prompt", "is 65537 bytes long; at most 65536 are allowed"),
        Wrong::new("context", "at most 16 files can be attached"),
        Wrong::new(
            "context",
            "the files are too large: 8912896 bytes together; at most 1048576 are allowed",
        ),
        Wrong::new("advisors", "a board must have 1 to 16 advisors"),
        Wrong::new("synthesizer", "this name of a model is too long"),
    ];
    let refusal = decide(None, Command::Own(Own::Convene(too_many)), at(0), nonce(0));
    assert_eq!(refusal, Err(Reject::Invalid(wrong)));

    let none_needed =
        decide(None, Command::Own(Own::Convene(with_quorum(0, pair()))), at(0), nonce(0));
    let wrong = vec![Wrong::new("quorum.need", "must be from 1 to 2")];
    assert_eq!(none_needed, Err(Reject::Invalid(wrong)));

    let nobody = decide(None, Command::Own(Own::Convene(board(&[]))), at(0), nonce(0));
    let wrong = vec![Wrong::new("advisors", "a board must have 1 to 16 advisors")];
    assert_eq!(nobody, Err(Reject::Invalid(wrong)));
}

#[test]
fn both_wrong_fields_of_a_resynthesis_are_named() {
    let command = Command::Own(Own::Resynthesize {
        model: Some(model("nameless")),
        instruction: Some("x".repeat(limits::INSTRUCTION_BYTES + 1)),
        prices: Noted::default(),
    });
    let wrong = vec![
        Wrong::new("model", "a model is named provider/model"),
        Wrong::new("instruction", "is 8193 bytes long; at most 8192 are allowed"),
    ];
    check_refused(pair(), to_closed(), command, Reject::Invalid(wrong));
}

#[test]
fn a_custom_prompt_replaces_the_role_s_and_a_blank_one_does_not() {
    let mut board = pair();
    board.seats[0].system_prompt = Some("Be brief.".into());
    board.seats[1].system_prompt = Some("  \n".into());
    let (state, _) = told(board, vec![]);
    let system = |call: &str| ask(&state, &CallId(call.into())).map(|ask| ask.system);
    assert_eq!(system("advisor/1#1"), Some("Be brief.".into()));
    assert_eq!(system("advisor/2#1"), Some(Role::Critic.system_prompt().trim().into()));
}

#[test]
fn a_board_that_is_not_there_takes_only_convene_and_import() {
    let unknown = || Err(Reject::Unknown("There is no such board.".into()));
    let own = Command::Own(Own::Resume);
    for command in [synthesize(), resynthesize(), retry(1), own, reply(1, "Hi.")] {
        assert_eq!(decide(None, command, at(1), nonce(1)), unknown());
    }
    let nothing = Err(Reject::Unknown("There is no such session.".into()));
    assert_eq!(decide(None, Command::Stop, at(1), nonce(1)), nothing);
    let stale = decide(None, answers("advisor/1#1", "Yes."), at(1), nonce(1));
    assert_eq!(stale, Err(Reject::Stale));
    let refusal =
        not_now("answering", "This board has already been convened.", &["stop", "export"]);
    check_refused(pair(), vec![], Command::Own(Own::Convene(pair())), refusal);
}

#[test]
fn outcomes_of_calls_that_are_not_due_are_stale() {
    let calls = [
        "",
        "grace",
        "advisor",
        "advisor/1",
        "advisor/0#1",
        "advisor/9#1",
        "advisor/1#2",
        "advisor/+1#1",
        "advisor/1#01",
        "deadline/1#1",
        "synthesis/1#1",
        "ballot/1#1",
        "advisor/300#1",
        "advisor/1#99999999999",
    ];
    for call in calls {
        for outcome in [
            Outcome::Answered(answer("Yes.")),
            Outcome::Failed { failure: failure(FailureKind::Idle), partial: "".into() },
            Outcome::Stopped { partial: "".into(), usage: crate::Usage::default() },
            Outcome::Elapsed,
        ] {
            check_refused(pair(), vec![], settle(call, outcome), Reject::Stale);
        }
    }
    // A driver that goes down has not settled a call: it stays due.
    check_refused(pair(), vec![], hands_back("advisor/1#1", "Ye"), Reject::Stale);
    for story in (0..=3).map(|n| to_closed().into_iter().take(n).collect::<Vec<_>>()) {
        for again in story.clone() {
            check_refused(pair(), story.clone(), again, Reject::Stale);
        }
    }
}

#[test]
fn only_a_call_that_is_due_has_words() {
    let (state, _) = told(pair(), to_closed().into_iter().take(2).collect());
    let has_words = |call: &str| ask(&state, &CallId(call.into())).is_some();
    assert!(has_words("synthesis/1#1"));
    for call in ["synthesis/1#2", "synthesis/2#1", "advisor/1#1", "advisor/1#2", "grace", "x"] {
        assert!(!has_words(call), "{call}");
    }
}

#[test]
fn two_critics_are_numbered_and_one_analyst_is_not() {
    let (state, _) = told(board(&[Role::Critic, Role::Analyst, Role::Critic]), vec![]);
    let labels: Vec<String> = (1..=4).map(|seat| state.label(SeatId(seat))).collect();
    assert_eq!(labels, ["Critic 1", "Analyst", "Critic 2", ""]);
}

#[test]
fn the_title_is_the_first_line_that_says_something_shortened() {
    let long = "ä".repeat(limits::TITLE_CHARS + 1);
    let cases = [
        ("Should we?", "Should we?".to_owned()),
        ("\n \n  Should we?  \nYes or no.", "Should we?".to_owned()),
        ("Should we?\r\nYes.", "Should we?".to_owned()),
        (&long[2..], long[2..].to_owned()),
        (&long, format!("{}…", "ä".repeat(limits::TITLE_CHARS - 1))),
        (&format!("{} and so on", "a".repeat(78)), format!("{}…", "a".repeat(78))),
    ];
    for (prompt, title) in cases {
        let (state, _) = told(Convene { prompt: prompt.into(), ..pair() }, vec![]);
        assert_eq!(state.title, title);
    }
}

#[test]
fn presets_seat_models_in_turn_and_the_fourth_synthesizes() {
    let models: Vec<ModelName> = ["m/1", "m/2"].map(model).to_vec();
    let roles = preset::board("classic-triad").map(|board| board.roles).unwrap_or_default();
    let (first, second) = (&models[0], &models[1]);
    assert_eq!(
        preset::assign(roles, &models),
        [(Role::Advocate, first), (Role::Critic, second), (Role::Analyst, first)]
    );
    assert_eq!(preset::assign(roles, &[]), []);
    assert_eq!(preset::synthesizer(&models), Some(first));
    let models: Vec<ModelName> = ["m/1", "m/2", "m/3", "m/4"].map(model).to_vec();
    assert_eq!(preset::synthesizer(&models), Some(&models[3]));
    assert_eq!(preset::synthesizer(&[]), None);
}

#[test]
fn roles_are_read_as_people_write_them() {
    for role in Role::ALL {
        assert_eq!(Role::parse(role.id()), Some(role));
        assert_eq!(Role::parse(role.name()), Some(role));
        assert_eq!(serde_json::to_value(role).unwrap(), role.id());
    }
    assert_eq!(Role::parse("DEVILS ADVOCATE"), Some(Role::DevilsAdvocate));
    assert_eq!(Role::parse("judge"), None);
}
