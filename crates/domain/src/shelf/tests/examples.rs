//! The rules of stored workflows, by example.

use serde_json::{Value, json};

use super::story::{Shelf, at, failed, file, id, map, moment};
use crate::call::Outcome;
use crate::errand::Errand;
use crate::form::{Form, Report};
use crate::reject::{Reject, Wrong};
use crate::shelf::{Command, Event, How, KIND, Life};
use crate::{limits, room, signals};

const CRON: &str = "on: { cron: { at: '0 9 * * *', zone: Europe/Berlin } }";
const SIGNAL: &str = "inputs: { id: integer, tag: { type: string, default: none } }\n\
                      on: { signal: { name: built, ok: true } }";
const HOOK: &str = "inputs: { topic: string }\n\
                    one_per: '{{ inputs.topic }}'\non: { webhook: { secret: HOOK } }";
const NONE: &[&str] = &[];

fn cron(more: &str) -> String {
    file(&format!("on: {{ cron: {{ at: '0 9 * * *', {more} }} }}"))
}

fn signal(number: u64, sent_at: &str, fields: Value) -> Value {
    let mut signal = map(json!({ "signal": "built", "ok": true, "_by": "ci" }));
    signal.extend(map(fields));
    signal.extend(map(json!({ "_number": number, "_at": sent_at })));
    Value::Object(signal)
}

fn not_now(message: &str) -> Result<Vec<&'static str>, Reject> {
    let (state, message) = ("stored", message.to_owned());
    Err(Reject::NotNow { state, message, allowed: vec!["store", "remove"] })
}

#[test]
fn it_is_no_session() {
    let shelf = Shelf::of(&file(CRON));
    assert!(!room::is_session(KIND) && !room::is_session(signals::KIND));
    assert_eq!(shelf.state.called(), Some("tea"));
    assert!(!shelf.state.is_listed(&shelf.log[0]));
    assert_eq!(shelf.state.stop(&moment(shelf.at)), Err(room::no_session()));
}

// ---------------------------------------------------------------------------
// Versions

#[test]
fn what_is_stored_again_changes_nothing_and_what_is_new_is_a_version() {
    let mut shelf = Shelf::of(&file(CRON));
    let store = |source: String| Command::Store { source };
    assert_eq!(shelf.tell(store(file(CRON))), Ok(vec![]));
    assert_eq!(shelf.tell(store(file(""))), Ok(vec!["stored"]));
    let versions: Vec<(u32, &str)> =
        shelf.state.versions().map(|version| (version.number, version.by.as_str())).collect();
    assert_eq!(versions, [(2, "ann"), (1, "ann")]);
    assert_eq!(shelf.due(), NONE);
    let other = "name: coffee\nsteps: { a: { set: 1 } }".to_owned();
    let wrong = Wrong::new("name", "is not the name of this workflow, \"tea\"");
    assert_eq!(shelf.tell(store(other)), Err(Reject::Invalid(vec![wrong])));
    let broken = shelf.tell(store("name: tea\nstep: {}".into()));
    assert!(matches!(broken, Err(Reject::Invalid(wrong)) if wrong.len() == 2));
}

#[test]
fn removing_keeps_the_history_and_goes_on_with_the_numbers() {
    let mut shelf = Shelf::of(&file(CRON));
    assert_eq!(shelf.tell(Command::Remove), Ok(vec!["removed"]));
    assert_eq!((shelf.due().len(), shelf.state.next_at()), (0, None));
    let gone = Reject::Unknown("There is no such workflow.".into());
    assert_eq!(shelf.tell(Command::Remove), Err(gone.clone()));
    assert_eq!(shelf.deliver("1", json!({})), Err(gone));
    assert!(matches!(shelf.start(1, json!({})), Err(Reject::NotNow { state: "removed", .. })));
    // What was stored before the removal is a new version now.
    assert_eq!(shelf.tell(Command::Store { source: file(CRON) }), Ok(vec!["stored"]));
    assert_eq!((shelf.state.newest.number, shelf.due().len()), (2, 1));
}

#[test]
fn what_may_have_begun_is_seen_to_its_end_when_the_workflow_is_removed() {
    let mut shelf = Shelf::of(&cron("overlap: queue"));
    shelf.tick(0);
    shelf.tick(0);
    assert_eq!(shelf.tell(Command::Remove), Ok(vec!["removed", "dropped"]));
    assert_eq!(shelf.due(), ["open/1"]);
    shelf.opened(1);
    assert_eq!(shelf.due(), ["watch/1"]);
    shelf.ended(1, "done");
    assert_eq!(shelf.due(), NONE);
    assert_eq!(shelf.runs(), [(1, "done"), (2, "cancelled")]);
}

#[test]
fn a_run_can_be_of_an_earlier_version() {
    let mut shelf = Shelf::of(&file("description: one"));
    shelf.tell(Command::Store { source: file("description: two") }).unwrap();
    let start = |version: u32| {
        let (inputs, starter) = (map(json!({})), "ben".to_owned());
        Command::Start { run: id(5), inputs, starter, version: Some(version) }
    };
    let none = Reject::Unknown("There is no version 3; the newest is 2.".into());
    assert_eq!(shelf.tell(start(3)), Err(none));
    assert_eq!(shelf.tell(start(1)), Ok(vec!["triggered"]));
    let expected = Errand::Open {
        act: "workflow",
        with: map(json!({
            "name": "tea", "version": 1, "source": file("description: one"), "inputs": {},
            "starter": "ben", "run": id(5).to_string(), "opener": "ann",
        })),
        key: "c0de/shelf/tea/1/1".into(),
        at: shelf.at,
    };
    assert_eq!(shelf.errand("open/1"), Some(expected));
    for number in 3..=60 {
        shelf.tell(Command::Store { source: file(&format!("description: v{number}")) }).unwrap();
    }
    assert_eq!(shelf.state.versions().count(), limits::VERSIONS_KEPT);
    let gone = Reject::Unknown("Version 10 is no longer kept; the newest is 60.".into());
    let start = Command::Start {
        run: id(6),
        inputs: map(json!({})),
        starter: "b".into(),
        version: Some(10),
    };
    assert_eq!(shelf.tell(start), Err(gone));
    // A run that waits has its own.
    assert!(
        matches!(shelf.errand("open/1"), Some(Errand::Open { with, .. }) if with["version"] == 1)
    );
}

// ---------------------------------------------------------------------------
// Runs

#[test]
fn a_run_is_opened_watched_and_told_of() {
    let mut shelf = Shelf::of(&file(CRON));
    assert_eq!(shelf.tick(0), ["triggered"]);
    let open = Errand::Open {
        act: "workflow",
        with: map(json!({
            "name": "tea", "version": 1, "source": file(CRON), "inputs": {}, "starter": "the clock",
        })),
        key: "c0de/shelf/tea/1/1".into(),
        at: shelf.at,
    };
    assert_eq!(shelf.errand("open/1"), Some(open));
    shelf.opened(1);
    let watch = Errand::Watch { act: "workflow", session: id(1).to_string() };
    assert_eq!(shelf.errand("watch/1"), Some(watch));
    assert_eq!(shelf.settle("open/1", Outcome::Brought(json!({}))), Err(Reject::Stale));
    assert_eq!(shelf.state.success_rate(), None);
    shelf.ended(1, "done");
    assert_eq!(shelf.state.success_rate(), Some(1.0));
    shelf.tick(0);
    assert_eq!(shelf.settle("open/2", failed("No model is there.")), Ok(vec!["startFailed"]));
    shelf.tick(0);
    shelf.opened(3);
    assert_eq!(shelf.settle("watch/3", failed("It is gone.")), Ok(vec!["runEnded"]));
    let told: Vec<_> = shelf.state.last_runs().map(|run| (run.number, run.status())).collect();
    let expected =
        [(3, ("failed", "It is gone.")), (2, ("failed", "No model is there.")), (1, ("done", ""))];
    assert_eq!(told, expected);
    assert_eq!(shelf.state.success_rate(), Some(1.0 / 3.0));
}

#[test]
fn the_last_runs_are_kept_and_all_that_have_not_ended() {
    let mut shelf = Shelf::of(&file(""));
    for number in 1..=30 {
        shelf.start(number.into(), json!({})).unwrap();
        shelf.opened(number);
        if number != 2 {
            shelf.ended(number, "done");
        }
    }
    let numbers: Vec<u64> = shelf.runs().into_iter().map(|(number, _)| number).collect();
    assert_eq!(numbers, [vec![2], (11..=30).collect()].concat());
    assert_eq!(shelf.state.last_runs().count(), limits::RUNS_TOLD);
    assert_eq!(shelf.due(), ["watch/2"]);
}

#[test]
fn one_run_at_a_time_for_each_key() {
    let mut shelf = Shelf::of(&file(HOOK));
    assert_eq!(shelf.start(11, json!({ "topic": "tea" })), Ok(vec!["triggered"]));
    // The same once more, because the answer was lost.
    assert_eq!(shelf.start(11, json!({ "topic": "tea" })), Ok(vec![]));
    let refused = format!("Run {} for \"tea\" has not ended.", id(11));
    assert_eq!(shelf.start(12, json!({ "topic": "tea" })), not_now(&refused));
    assert_eq!(shelf.start(13, json!({ "topic": "milk" })), Ok(vec!["triggered"]));
    assert_eq!(shelf.deliver("1", json!({ "topic": "tea" })), Ok(vec!["skipped"]));
    assert_eq!(shelf.state.skipped.as_ref().map(|skipped| skipped.why.as_str()), Some(&*refused));
    assert_eq!(shelf.due(), ["open/1", "open/2"]);
    let run = json!({ "id": id(11).to_string() });
    shelf.bring("open/1", run);
    shelf.ended(1, "cancelled");
    assert_eq!(shelf.start(12, json!({ "topic": "tea" })), Ok(vec!["triggered"]));
    let wrong = Wrong::new("inputs.topic", "is required");
    assert_eq!(shelf.start(14, json!({})), Err(Reject::Invalid(vec![wrong])));
}

#[test]
fn there_is_a_limit_to_runs_at_once() {
    let mut shelf = Shelf::of(&file(CRON));
    let how = |number: u64| How::Person { run: id(number.into()), opener: "ann".into() };
    for number in 1..=limits::RUNS_AT_ONCE as u64 {
        let event = Event::Triggered {
            number,
            version: 1,
            how: how(number),
            inputs: map(json!({})),
            starter: "ben".into(),
            key: None,
            at: shelf.at,
        };
        shelf.state.take(&event, shelf.at);
        shelf.log.push(event);
    }
    let full = "2000 runs of this workflow are in progress, the maximum.";
    assert_eq!(shelf.start(0, json!({})), not_now(full));
    assert_eq!(shelf.tick(0), ["skipped"]);
}

// ---------------------------------------------------------------------------
// The clock

#[test]
fn a_time_is_slept_for_in_its_zone() {
    let mut shelf = Shelf::of(&file(CRON));
    let next = at("2026-01-01T08:00:00Z");
    assert_eq!(shelf.state.next_at(), Some(next));
    let call = format!("cron/1/{}", next.as_second());
    assert_eq!((shelf.due(), shelf.sleeps_until(&call)), (vec![call.clone()], Some(next)));
    shelf.tick(0);
    assert_eq!(shelf.state.next_at(), Some(at("2026-01-02T08:00:00Z")));
    // The same time does not come twice.
    assert_eq!(shelf.settle(&call, Outcome::Elapsed), Err(Reject::Stale));
    shelf.at = at("2026-04-01T00:00:00Z");
    assert_eq!(shelf.tick(0), ["missed"]);
    assert_eq!(shelf.state.next_at(), Some(at("2026-04-01T07:00:00Z")));
}

#[test]
fn what_was_missed_is_skipped_or_made_up_for_once() {
    let day = 24 * 3_600;
    let mut shelf = Shelf::of(&cron("missed: skip"));
    assert_eq!(shelf.tick(60), ["triggered"]);
    shelf.opened(1);
    shelf.ended(1, "done");
    assert_eq!(shelf.tick(61), ["missed"]);
    assert_eq!(shelf.tick(3 * day), ["missed", "triggered"]);
    assert_eq!(shelf.state.next_at(), Some(at("2026-01-07T09:00:00Z")));
    let mut shelf = Shelf::of(&cron("missed: latest"));
    assert_eq!(shelf.tick(10 * day + 3_600), ["missed", "triggered"]);
    let due_at = at("2026-01-11T09:00:00Z");
    assert_eq!(shelf.state.runs[&1].how, How::Cron { due_at });
    let from = at("2026-01-01T09:00:00Z");
    assert_eq!(shelf.log[1], Event::Missed { from, until: due_at, at: shelf.at });
    shelf.opened(1);
    shelf.ended(1, "done");
    assert_eq!(shelf.tick(3_600), ["triggered"]);
}

#[test]
fn a_run_that_overlaps_is_skipped_or_waits_or_takes_the_place() {
    let mut shelf = Shelf::of(&cron("overlap: skip"));
    assert_eq!((shelf.tick(0), shelf.tick(0)), (vec!["triggered"], vec!["skipped"]));

    let mut shelf = Shelf::of(&cron("overlap: queue"));
    assert_eq!((shelf.tick(0), shelf.tick(0)), (vec!["triggered"], vec!["triggered"]));
    shelf.opened(1);
    assert_eq!(shelf.due()[1..], ["watch/1"]);
    shelf.ended(1, "failed");
    assert_eq!(shelf.due()[1..], ["open/2"]);

    let mut shelf = Shelf::of(&cron("overlap: replace"));
    shelf.tick(0);
    shelf.opened(1);
    assert_eq!(shelf.tick(0), ["stopAsked", "triggered"]);
    assert_eq!(shelf.due()[1..], ["watch/1", "stop/1"]);
    assert_eq!(shelf.errand("stop/1"), Some(Errand::Stop { session: id(1).to_string() }));
    assert_eq!(shelf.tick(0), ["dropped", "triggered"]);
    assert_eq!(shelf.bring("stop/1", json!(null)), ["stopTried"]);
    assert_eq!(shelf.due()[1..], ["watch/1"]);
    shelf.ended(1, "cancelled");
    assert_eq!(shelf.due()[1..], ["open/3"]);
    // One that is being opened may have begun: it is opened, and then it ends.
    assert_eq!(shelf.tick(0), ["stopAsked", "triggered"]);
    assert_eq!(shelf.due()[1..], ["open/3"]);
    shelf.opened(3);
    assert_eq!(shelf.due()[1..], ["watch/3", "stop/3"]);
    let expected = [(1, "cancelled"), (2, "cancelled"), (3, "running"), (4, "waiting")];
    assert_eq!(shelf.runs(), expected);
}

#[test]
fn only_so_many_wait() {
    let mut shelf = Shelf::of(&cron("overlap: queue"));
    for _ in 0..=limits::RUNS_WAITING {
        assert_eq!(shelf.tick(0), ["triggered"]);
    }
    assert_eq!(shelf.tick(0), ["skipped"]);
}

#[test]
fn a_new_version_goes_on_with_the_time_that_has_come() {
    let mut shelf = Shelf::of(&file(CRON));
    let next = shelf.state.next_at();
    shelf.at = at("2026-01-01T08:00:01Z");
    let more = format!("description: new\n{CRON}");
    shelf.tell(Command::Store { source: file(&more) }).unwrap();
    assert_eq!(shelf.state.next_at(), next);
    shelf.tell(Command::Store { source: cron("zone: UTC") }).unwrap();
    assert_eq!(shelf.state.next_at(), Some(at("2026-01-01T09:00:00Z")));
}

// ---------------------------------------------------------------------------
// Signals and webhooks

#[test]
fn each_signal_starts_one_run() {
    let mut shelf = Shelf::of(&file(SIGNAL));
    let awaited = |since: &str| {
        let signals = vec![map(json!({ "signal": "built", "ok": true }))];
        Some(Errand::Await { all: false, signals, since: at(since), taken: vec![] })
    };
    assert_eq!(shelf.errand("await/1/0#1"), awaited("2026-01-01T00:00:00Z"));
    let (one, two) = ("2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z");
    let came = json!([
        signal(2, two, json!({ "id": "24", "tag": 7, "more": "x" })),
        signal(1, one, json!({ "id": 23 })),
        signal(3, two, json!({ "ok": false })),
        signal(9, "2025-12-31T00:00:00Z", json!({ "id": 1 })),
    ]);
    assert_eq!(shelf.bring("await/1/0#1", came.clone()), ["triggered", "triggered"]);
    assert_eq!(shelf.settle("await/1/0#1", Outcome::Brought(came.clone())), Err(Reject::Stale));
    let run = |number: u64| {
        let run = &shelf.state.runs[&number];
        let Life::Pending { inputs } = &run.life else { panic!("{run:?}") };
        (run.starter.as_str(), run.how.clone(), Value::Object((**inputs).clone()))
    };
    let how = |number, sent_at| How::Signal { number: Some(number), sent_at: Some(at(sent_at)) };
    assert_eq!(run(1), ("ci", how(1, one), json!({ "id": 23, "tag": "none" })));
    assert_eq!(run(2), ("ci", how(2, two), json!({ "id": 24, "tag": "7" })));
    assert_eq!(shelf.errand("await/1/2#1"), awaited("2026-01-01T00:00:02.000000001Z"));
    // What was taken is not taken again, and whoever brings it is not asked all the time.
    assert_eq!(shelf.bring("await/1/2#1", came), ["listenFailed"]);
    assert_eq!(shelf.sleeps_until("listen/1/2#2"), Some(at("2026-01-01T00:00:01Z")));
    assert_eq!(shelf.settle("listen/1/2#2", Outcome::Elapsed), Ok(vec!["listenAgain"]));
    assert_eq!(shelf.settle("await/1/2#2", failed("It went wrong.")), Ok(vec!["listenFailed"]));
    assert_eq!(shelf.sleeps_until("listen/1/2#3"), Some(at("2026-01-01T00:00:02Z")));
}

#[test]
fn a_signal_that_cannot_start_a_run_is_taken_too() {
    let mut shelf = Shelf::of(&file(SIGNAL));
    let came = json!([signal(1, "2026-01-01T00:00:01Z", json!({ "id": "many" }))]);
    assert_eq!(shelf.bring("await/1/0#1", came), ["skipped"]);
    let why = shelf.state.skipped.as_ref().map(|skipped| skipped.why.as_str());
    assert_eq!(why, Some("`inputs.id` must be of type integer."));
    assert_eq!(shelf.due(), ["await/1/1#1"]);
}

#[test]
fn what_is_so_from_then_on_starts_one_run() {
    let trigger = "on: { signal: { name: board-transitioned, board: b, phase: read } }";
    let mut shelf = Shelf::of(&file(trigger));
    let reached = json!({ "signal": "board-transitioned", "board": "b", "phase": "debate" });
    assert_eq!(shelf.bring("await/1/0#1", json!([reached, reached])), ["triggered"]);
    assert_eq!(shelf.due(), ["open/1"]);
}

#[test]
fn a_new_version_loses_no_signal() {
    let mut shelf = Shelf::of(&file(SIGNAL));
    shelf.at = at("2026-01-02T00:00:00Z");
    let more = format!("description: new\n{SIGNAL}");
    shelf.tell(Command::Store { source: file(&more) }).unwrap();
    let came = json!([signal(1, "2026-01-01T12:00:00Z", json!({ "id": 1 }))]);
    assert_eq!(shelf.bring("await/2/0#1", came), ["triggered"]);
    let other = SIGNAL.replace("built", "broken");
    shelf.tell(Command::Store { source: file(&other) }).unwrap();
    let since = match shelf.errand("await/3/0#1") {
        Some(Errand::Await { since, .. }) => since,
        other => panic!("{other:?}"),
    };
    assert_eq!(since, shelf.at);
}

#[test]
fn a_delivery_is_taken_once() {
    let mut shelf = Shelf::of(&file(HOOK));
    assert_eq!(shelf.deliver("msg_1", json!({ "topic": 5, "x": [] })), Ok(vec!["triggered"]));
    assert_eq!(shelf.deliver("msg_1", json!({ "topic": 5 })), Ok(vec![]));
    assert_eq!(shelf.deliver("msg_2", json!("no map")), Ok(vec!["skipped"]));
    assert_eq!(shelf.deliver("msg_2", json!({ "topic": "x" })), Ok(vec![]));
    assert_eq!(shelf.state.runs[&1].key.as_deref(), Some("5"));
    let empty = Wrong::new("id", "must not be empty");
    assert_eq!(shelf.deliver(" ", json!({})), Err(Reject::Invalid(vec![empty])));
    let mut shelf = Shelf::of(&file(CRON));
    let none = Reject::Unknown("This workflow has no webhook.".into());
    assert_eq!(shelf.deliver("msg_1", json!({})), Err(none));
}
