//! Models and stored agents that sit at a board.

use serde_json::{Value, json};

use super::*;
use crate::budget::Allowance;
use crate::call::{Answer, Failure, FailureKind, Outcome, Timing, Usage};
use crate::form::story::{ask, pages};
use crate::ids::ModelName;
use crate::seated::Seated;
use crate::view::SeatSeen;

pub(super) fn seat(model: &str) -> Seat {
    Seat { model: ModelName(model.into()), seated: Seated::default(), budget: Allowance::default() }
}

pub(super) fn used() -> Usage {
    Usage { input_tokens: Some(100), output_tokens: Some(10), ..Usage::default() }
}

pub(super) fn answered(call: &str, task: Task, left_out: Vec<String>) -> Event {
    let (call, agent) = (CallId(call.into()), agent("max"));
    let (usage, attempts, bytes, at) = (used(), 1, 77, at(9));
    Event::Answered { call, agent, task, usage, attempts, bytes, left_out, at }
}

fn new(name: &str) -> NewSeat {
    NewSeat { name: agent(name), domain: None, seat: seat("m/1") }
}

fn seats(name: &str) -> Command {
    Command::Own(Own::Seat { agent: agent("fay"), new: new(name), prices: Noted::default() })
}

/// A board with max and mia, who are models, beside ada, ben and olga.
fn seated() -> Open {
    Open { seats: vec![new("max"), new("mia")], ..board() }
}

fn answer(text: impl ToString) -> Outcome {
    Outcome::Answered(Answer {
        text: text.to_string(),
        reasoning: String::new(),
        cut: false,
        usage: used(),
        timing: Timing::default(),
        attempts: 1,
    })
}

fn settles(call: &str, outcome: Outcome) -> Command {
    Command::Settle { call: CallId(call.into()), outcome }
}

fn says(call: &str, answered: Value) -> Command {
    settles(call, answer(answered))
}

fn one_post() -> Value {
    json!({ "posts": [{ "type": "proposal", "title": "Hugo", "body": "It is fast.",
        "target_file": null, "severity": null }] })
}

fn calls(state: &State) -> Vec<String> {
    due(state).into_iter().map(|call| call.id.0).collect()
}

fn names(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(Event::name).collect()
}

/// The board with both seats heard in the blind phase, at this phase.
fn heard(phase: Phase) -> Vec<Command> {
    let mut before = vec![says("post/max#1", one_post()), says("post/mia#1", one_post())];
    let mut rest = reached(phase);
    let moves = rest.split_off(5);
    rest.append(&mut before);
    rest.extend(moves);
    rest
}

fn at_phase(phase: Phase, story: Vec<Command>) -> (State, Vec<Event>) {
    told(seated(), heard(phase), story)
}

#[test]
fn a_seat_is_asked_in_its_phase_and_what_it_says_is_its_own() {
    let (state, log) = told(seated(), vec![], vec![says("post/max#1", one_post())]);
    assert_eq!(calls(&state), ["post/mia#1"], "mia has yet to post");
    assert_eq!(names(&log), ["posted", "answered"]);
    let Event::Posted { id, author, content, .. } = &log[0] else { panic!("{log:?}") };
    assert_eq!((id.0.as_str(), author.0.as_str()), ("max/1", "max"));
    assert_eq!(content.title, "Hugo");
    assert_eq!(state.ledger.total(), used());

    for (phase, due) in [
        (Phase::Read, &[][..]),
        (Phase::Validate, &["validate/max#1", "validate/mia#1"]),
        (Phase::Debate, &["debate/max#1", "debate/mia#1"]),
        (Phase::Resolve, &[]),
        (Phase::Archived, &[]),
    ] {
        assert_eq!(calls(&at_phase(phase, vec![]).0), due, "{phase:?}");
    }
}

#[test]
fn a_seat_validates_posts_of_others() {
    let notes = json!({ "annotations": [
        { "post": "ada/1", "type": "validation", "result": "refuted", "body": "It is not." },
        { "post": "max/1", "type": "validation", "result": "confirmed", "body": "My own." },
        { "post": "eve/1", "type": "validation", "result": "confirmed", "body": "Who?" },
        { "post": "ben/1", "type": "validation", "body": "No result." },
        { "post": "ben/1", "type": "challenge", "body": "Not now." },
    ] });
    let (state, log) = at_phase(Phase::Validate, vec![says("validate/max#1", notes)]);
    assert_eq!(names(&log), ["annotated", "answered"]);
    let Event::Answered { left_out, .. } = &log[1] else { panic!("{log:?}") };
    assert_eq!(left_out.len(), 4, "{left_out:?}");
    assert_eq!(calls(&state), ["validate/mia#1"]);
}

#[test]
fn seats_debate_then_answer_challenges_then_vote() {
    let nothing = || json!({ "annotations": [] });
    let challenge = json!({ "annotations": [
        { "post": "mia/1", "type": "challenge", "body": "It is slow." },
        { "post": "ada/1", "type": "corroboration", "body": "So it is." },
    ] });
    let debated = vec![says("debate/max#1", challenge)];
    let (state, _) = at_phase(Phase::Debate, debated.clone());
    assert_eq!(calls(&state), ["debate/mia#1", "rebut/mia/max/a1#1"]);

    let story = || [debated.clone(), vec![says("debate/mia#1", nothing())]].concat();
    assert_eq!(calls(&at_phase(Phase::Debate, story()).0), ["rebut/mia/max/a1#1"]);

    let rebutted =
        || [story(), vec![says("rebut/mia/max/a1#1", json!({ "body": "It is not." }))]].concat();
    let (state, log) = at_phase(Phase::Debate, rebutted());
    assert_eq!(names(&log)[4..], ["annotated", "answered"]);
    let Event::Annotated { post, note, .. } = &log[4] else { panic!("{log:?}") };
    let rebuttal = Note::Rebuttal { challenge: Some(note_id("max/a1")) };
    assert_eq!((post, note), (&post_id("mia/1"), &rebuttal));
    assert_eq!(calls(&state), ["vote/max#1", "vote/mia#1"]);

    // What others challenge now is answered beside that.
    let later = || [rebutted(), vec![challenges("ben", "max/1")]].concat();
    let (state, _) = at_phase(Phase::Debate, later());
    assert_eq!(calls(&state), ["rebut/max/ben/a1#1", "vote/max#1", "vote/mia#1"]);
    // Whoever comes now speaks first, and then all vote anew.
    let (state, _) = at_phase(Phase::Debate, [rebutted(), vec![seats("moe")]].concat());
    assert_eq!(calls(&state), ["debate/moe#1"]);
    let silent = says("debate/moe#1", nothing());
    let (state, _) = at_phase(Phase::Debate, [rebutted(), vec![seats("moe"), silent]].concat());
    assert_eq!(calls(&state), ["vote/max#2", "vote/mia#2", "vote/moe#1"]);
    let votes = json!({ "votes": [
        { "post": "ada/1", "vote": "accept", "reason": null },
        { "post": "max/1", "vote": "reject", "reason": "My own." },
        { "post": "mia/1", "vote": "defer", "reason": "Later." },
    ] });
    let voted = [later(), vec![says("vote/max#1", votes)]].concat();
    let (state, log) = at_phase(Phase::Debate, voted);
    assert_eq!(names(&log)[log.len() - 3..], ["voted", "voted", "answered"]);
    assert_eq!(calls(&state), ["rebut/max/ben/a1#1", "vote/mia#1"]);
}

#[test]
fn an_answer_that_cannot_be_read_has_failed_and_a_leader_may_have_it_asked_again() {
    for (text, message) in [
        ("I think so.", "there is no JSON in the answer"),
        (r#"{"posts":[{"type":"rant","title":"A","body":"B"}]}"#, "unknown variant"),
        (r#"{"posts":[{"type":"claim","title":" ","body":"B"}]}"#, "`title`: must not be empty"),
    ] {
        let failed = vec![settles("post/max#1", answer(text))];
        let (state, log) = told(seated(), vec![], failed.clone());
        let [Event::AnswerFailed { failure, partial, .. }] = log.as_slice() else {
            panic!("{log:?}")
        };
        assert_eq!(failure.kind, FailureKind::Malformed);
        assert!(failure.message.contains(message), "{}", failure.message);
        assert_eq!(partial, text);
        assert_eq!(state.ledger.total(), used(), "it was paid for");
        assert_eq!(calls(&state), ["post/mia#1"], "nobody asks by themselves again");
        let again = [failed, vec![seats("max")]].concat();
        assert_eq!(calls(&told(seated(), vec![], again).0), ["post/max#2", "post/mia#1"]);
    }
    let reject = decide(Some(&told(seated(), vec![], vec![]).0), seats("max"), at(9));
    assert!(matches!(reject, Err(Reject::NotNow { .. })), "{reject:?}");
}

#[test]
fn nothing_to_say_is_an_answer() {
    let silent = says("post/max#1", json!({ "posts": [] }));
    let (state, log) = told(seated(), vec![], vec![silent]);
    assert_eq!(names(&log), ["answered"]);
    assert_eq!(calls(&state), ["post/mia#1"]);
}

#[test]
fn more_than_may_be_is_left_out() {
    let many: Vec<Value> = (0..9).map(|_| one_post()["posts"][0].clone()).collect();
    let (_, log) = told(seated(), vec![], vec![says("post/max#1", json!({ "posts": many }))]);
    assert_eq!(log.len(), limits::SEAT_POSTS + 1);
}

#[test]
fn what_runs_when_the_board_goes_on_is_stopped_and_paid_for() {
    let partial = || Outcome::Stopped { partial: "{\"posts".into(), usage: used() };
    let moved = vec![moves("fay", Phase::Read)];
    let (state, _) = told(seated(), vec![], moved.clone());
    assert!(calls(&state).is_empty());
    let handed = [moved, vec![settles("post/max#1", partial())]].concat();
    let (state, log) = told(seated(), vec![], handed);
    assert_eq!(names(&log), ["transitioned", "answerStopped"]);
    assert_eq!(state.ledger.total(), used());
    // Once, and an answer that comes too late is no post.
    let again = decide(Some(&state), settles("post/max#1", partial()), at(9));
    assert_eq!(again, Err(Reject::Stale));
    let late = decide(Some(&state), says("post/mia#1", one_post()), at(9)).unwrap();
    assert_eq!(names(&late), ["answerStopped"]);
}

#[test]
fn a_stop_ends_what_is_asked_until_the_board_goes_on() {
    let (state, log) = at_phase(Phase::Debate, vec![Command::Stop]);
    assert_eq!(names(&log), ["stopped"]);
    assert!(calls(&state).is_empty(), "nobody votes either");
    let refused = decide(Some(&state), Command::Stop, at(9));
    assert!(matches!(refused, Err(Reject::NotNow { .. })), "{refused:?}");
    let (state, _) = at_phase(Phase::Debate, vec![Command::Stop, seats("max")]);
    assert_eq!(calls(&state)[0], "debate/max#2", "who is seated anew is asked again");
    let stopped = [vec![Command::Stop], vec![moves("fay", Phase::Read)]].concat();
    let on = [stopped, vec![moves("fay", Phase::Validate)]].concat();
    let before = [reached(Phase::Blind), on].concat();
    assert_eq!(calls(&told(seated(), before, vec![]).0), ["validate/max#1", "validate/mia#1"]);
}

#[test]
fn the_clock_moves_a_board_on_while_its_seats_are_asked() {
    let open = Open { deadlines: with_deadlines(&[(Phase::Blind, 60_000)]).deadlines, ..seated() };
    let (state, _) = told(open.clone(), vec![], vec![]);
    assert_eq!(calls(&state), ["post/max#1", "post/mia#1", "deadline/blind"]);
    let elapsed = settles("deadline/blind", Outcome::Elapsed);
    let (state, log) = told(open, vec![], vec![elapsed]);
    assert_eq!((names(&log), state.phase), (vec!["transitioned"], Phase::Read));
    assert!(calls(&state).is_empty());
}

#[test]
fn only_who_leads_seats_somebody_and_only_under_a_name_that_is_free() {
    let (state, _) = told(seated(), reached(Phase::Blind), vec![]);
    let by = |by: &str, name: &str| {
        let (agent, new, prices) = (agent(by), new(name), Noted::default());
        decide(Some(&state), Command::Own(Own::Seat { agent, new, prices }), at(9))
    };
    assert!(matches!(by("ada", "moe"), Err(Reject::Forbidden(_))));
    assert!(matches!(by("eve", "moe"), Err(Reject::Forbidden(_))));
    assert!(matches!(by("fay", "ada"), Err(Reject::Invalid(_) | Reject::Forbidden(_))));
    assert_eq!(names(&by("olga", "moe").unwrap()), ["seated"]);
    let token = Command::Own(Own::RenewToken { agent: agent("max") });
    assert!(matches!(decide(Some(&state), token, at(9)), Err(Reject::Forbidden(_))));
    let open = |seats: Vec<NewSeat>| {
        decide(None, Command::Own(Own::Open(Open { seats, ..board() })), at(0))
    };
    for seats in [vec![new("fay")], vec![new("max"), new("MAX")], vec![new("m x")]] {
        assert!(matches!(open(seats), Err(Reject::Invalid(_))));
    }
    let many = (0..=limits::BOARD_SEATS).map(|n| new(&format!("m{n}"))).collect();
    assert!(matches!(open(many), Err(Reject::Invalid(_))));
}

#[test]
fn what_a_seat_reads_is_what_it_may_see() {
    let asked = |state: &State, call: &str| ask(state, &CallId(call.into())).expect("words");
    let open = Open {
        seats: vec![NewSeat { domain: Some("docs".into()), ..new("max") }, new("mia")],
        ..board()
    };
    let (blind, _) = told(open, reached(Phase::Blind), vec![says("post/mia#1", one_post())]);
    let page = asked(&blind, "post/max#1");
    assert!(page.messages[0].text.contains("You see no posts."));
    let (validate, _) = at_phase(Phase::Validate, vec![]);
    let (debate, _) = at_phase(Phase::Debate, vec![challenges("ben", "max/1")]);
    let pages = pages(&[
        ("a seat posts", page),
        ("it validates", asked(&validate, "validate/max#1")),
        ("it debates", asked(&debate, "debate/max#1")),
        ("it answers a challenge", asked(&debate, "rebut/max/ben/a1#1")),
    ]);
    insta::assert_snapshot!(pages);
}

#[test]
fn in_the_blind_phase_a_leader_knows_who_was_heard_and_nobody_what_came_of_it() {
    let seen = |outcome: Outcome, who: &str| {
        let (state, _) =
            told(seated(), reached(Phase::Blind), vec![settles("post/max#1", outcome)]);
        let viewer = Viewer::Agent(agent(who));
        let board = view::board(&state, &viewer);
        assert!(board.accounts.is_none());
        let standing = |seat: &SeatSeen<'_>| format!("{:?}", seat.standing);
        let seats: Vec<String> = board.seats.iter().map(standing).collect();
        (seats, board.told, format!("{:?}", board.readiness))
    };
    let failure = Failure {
        kind: FailureKind::Idle,
        message: "It stopped responding after 812 words.".into(),
        attempts: 3,
        usage: used(),
    };
    let failed = || Outcome::Failed { failure: failure.clone(), partial: "A".into() };
    let (said, told, _) = seen(answer(one_post()), "fay");
    assert_eq!(said, ["Some(Done { left_out: [] })", "Some(Asked)"]);
    assert_eq!(seen(answer(one_post()), "ada").0, Vec::<String>::new());
    assert!(
        seen(failed(), "fay").0[0].contains("Idle") && !seen(failed(), "fay").0[0].contains("812")
    );
    assert_eq!(seen(failed(), "fay").1, told, "their streams tell as much");
    assert_eq!(seen(failed(), "ada"), seen(answer(one_post()), "ada"));
}

/// In a debate that hides things, so are the calls that answer them.
#[test]
fn a_debate_that_hides_things_hides_calls_too() {
    let open = Open { debate: Visibility::OwnAndRelated, ..seated() };
    let (before, _) = told(open.clone(), heard(Phase::Debate), vec![]);
    let silent = json!({ "annotations": [] });
    let story = vec![says("debate/max#1", silent.clone()), says("debate/mia#1", silent)];
    let (after, _) = told(open, heard(Phase::Debate), story);
    let counted = |state: &State, who: &str| {
        let viewer = Viewer::Agent(agent(who));
        let board = view::board(state, &viewer);
        (board.told, board.accounts.is_some())
    };
    assert_eq!(counted(&before, "ada"), counted(&after, "ada"));
    assert!(!counted(&after, "ada").1);
    let (fay, later) = (counted(&before, "fay"), counted(&after, "fay"));
    assert_eq!((fay.0 + 2, fay.1), later);
}
