//! How runs go, by example.

use serde_json::{Value, json};

use super::story::{Run, answer, failed};
use crate::call::{FailureKind, Outcome, Usage};
use crate::errand::Errand;
use crate::form::Report;
use crate::ids::{ModelName, SessionId};
use crate::prices::Noted;
use crate::reject::Reject;
use crate::workflow::gives::Ended;
use crate::workflow::{Begin, Command, Decision, Forked, Place, Took};

pub fn steps(steps: &str) -> String {
    format!(
        "name: a\ninputs: {{ n: {{ type: integer, default: 2 }}, list: {{ type: array, default: [x, y, z] }} }}\nsteps:\n{steps}"
    )
}

#[test]
fn values_are_worked_out_once_and_keep_their_type() {
    let run = Run::begin(
        &(steps(
            "  a: { set: { n: '{{ inputs.n + 1 }}', list: '{{ inputs.list }}' } }\n  b: { set: 'n is {{ steps.a.n }}' }\n",
        ) + "outputs:\n  n: '{{ steps.a.n }}'\n  text: '{{ steps.b }}'\n"),
    );
    assert_eq!(run.ended(), "done");
    assert_eq!(run.outputs(), json!({ "n": 3, "text": "n is 3" }));
}

#[test]
fn steps_without_order_run_at_the_same_time() {
    let mut run = Run::begin(&steps(
        "  a: { ask: { prompt: x } }\n  b: { ask: { prompt: y } }\n  c: { set: '{{ steps.a.text }}{{ steps.b.text }}' }",
    ));
    assert_eq!(run.due(), ["look/a#1", "look/b#1"]);
    run.look("a");
    run.look("b");
    run.settle("ask/b#1", answer("B"));
    assert_eq!((run.status("b"), run.status("c")), ("done", "waiting"));
    run.settle("ask/a#1", answer("A"));
    assert_eq!(run.output("c"), json!("AB"));
}

#[test]
fn a_skipped_need_satisfies_and_a_failed_one_blocks() {
    let text = steps(
        "  a: { set: 1, when: '{{ inputs.n == 0 }}' }\n  b: { set: 1, needs: [a] }\n  \
         c: { http: { get: 'https://x' }, on_failure: continue }\n  d: { set: 1, needs: [c] }\n  \
         e: { set: 1, needs: [d] }\n  f: { set: 1, needs: { c: any } }",
    );
    let mut run = Run::begin(&text);
    run.settle("do/c#1", failed(FailureKind::Refused));
    let statuses = ["a", "b", "c", "d", "e", "f"].map(|id| run.status(id));
    // What is blocked is cancelled, so that it does not satisfy what comes after it.
    assert_eq!(statuses, ["skipped", "done", "failed", "cancelled", "cancelled", "done"]);
    assert_eq!(run.ended(), "done");
}

#[test]
fn a_condition_is_true_or_false_and_nothing_else() {
    let run = Run::begin(&steps("  a: { set: 1, when: '{{ \"false\" }}' }"));
    assert_eq!(run.ended(), "failed");
    assert_eq!(run.why("a"), "line 4: when: this must be true or false, not \"false\"");
}

#[test]
fn what_is_not_there_fails_with_its_line() {
    let run = Run::begin(&steps("  a: { set: 1 }\n  b:\n    set:\n      x: '{{ steps.a.b }}'"));
    assert!(run.why("b").starts_with("line 7: set.x: "), "{}", run.why("b"));
}

#[test]
fn items_are_fixed_and_told_in_order_with_their_failures() {
    let text = steps(
        "  a:\n    foreach: { in: '{{ inputs.list }}', as: x, parallel: 2, on_failure: continue }\n    steps:\n      \
         q: { ask: { prompt: '{{ x }}{{ index }}' } }\n      r: { set: '{{ steps.q.text }}!' }",
    );
    let mut run = Run::begin(&text);
    assert_eq!(run.due(), ["look/a/1/q#1", "look/a/2/q#1"]);
    run.look("a/2/q");
    run.settle("ask/a/2/q#1", failed(FailureKind::Refused));
    assert_eq!(run.due(), ["look/a/1/q#1", "look/a/3/q#1"]);
    for place in ["a/3/q", "a/1/q"] {
        run.look(place);
        run.settle(&format!("ask/{place}#1"), answer(place));
    }
    let output = run.output("a");
    let told = |number: usize| (output[number]["key"].clone(), output[number]["status"].clone());
    assert_eq!(told(0), (json!("x"), json!("done")));
    assert_eq!(told(1), (json!("y"), json!("failed")));
    assert_eq!(output[2]["output"]["r"], json!("a/3/q!"));
    assert_eq!(output[1]["error"], json!("`q` failed: It went wrong."));
    assert_eq!(run.ended(), "done");
}

#[test]
fn an_item_that_fails_stops_those_that_have_not_begun() {
    let text = steps(
        "  a:\n    foreach: { in: '{{ inputs.list }}', parallel: 1 }\n    steps: { q: { http: { get: 'https://{{ item }}' } } }",
    );
    let mut run = Run::begin(&text);
    run.settle("do/a/1/q#1", failed(FailureKind::Refused));
    assert_eq!((run.ended(), run.why("a")), ("failed", "an item failed".to_owned()));
    assert_eq!(run.state.steps.len(), 2);
}

#[test]
fn an_empty_list_is_done() {
    let run = Run::begin(&steps("  a:\n    foreach: { in: [] }\n    steps: { q: { set: 1 } }"));
    assert_eq!((run.ended(), run.output("a")), ("done", json!([])));
}

#[test]
fn rounds_go_on_until_they_have_come_to_it() {
    let text = |max: u32, at_max: &str| {
        steps(&format!(
            "  a:\n    repeat: {{ until: '{{{{ round.x >= 3 }}}}', max: {max}, at_max: {at_max} }}\n    steps: {{ x: {{ set: '{{{{ round.number }}}}' }} }}\n"
        ))
    };
    let run = Run::begin(&text(5, "fail"));
    assert_eq!(run.output("a")["round"], json!({ "number": 3, "x": 3 }));
    assert_eq!(run.output("a")["rounds"].as_array().map(Vec::len), Some(3));
    assert_eq!(Run::begin(&text(2, "go_on")).ended(), "done");
    let run = Run::begin(&text(2, "fail"));
    assert_eq!((run.ended(), run.why("a")), ("failed", "not finished in 2 rounds".to_owned()));
}

#[test]
fn an_attempt_is_made_again_only_where_that_can_help() {
    let text =
        steps("  a: { http: { post: 'https://x' }, retry: { times: 1, wait: 10s }, timeout: 5s }");
    let mut run = Run::begin(&text);
    let key = |run: &Run, call: &str| match run.errand(call) {
        Some(Errand::Request { key, .. }) => key,
        other => panic!("{other:?}"),
    };
    let first = key(&run, "do/a#1");
    run.elapse("timeout/a#1");
    assert_eq!(run.due(), ["again/a#1"]);
    run.elapse("again/a#1");
    // One that was given up may have been carried out: it is the same request.
    assert_eq!(key(&run, "do/a#2"), first);
    run.settle("do/a#2", failed(FailureKind::Unreachable));
    assert_eq!(run.ended(), "failed");
    let mut run = Run::begin(&text);
    run.settle("do/a#1", failed(FailureKind::Refused));
    assert_eq!(run.ended(), "failed");
}

#[test]
fn a_step_that_handles_a_failure_runs_only_then() {
    let text = steps(
        "  a: { http: { get: 'https://x' }, on_failure: b }\n  b: { set: mended }\n  c: { set: 1, needs: { a: any, b: any } }",
    );
    let mut run = Run::begin(&text);
    run.settle("do/a#1", failed(FailureKind::Refused));
    assert_eq!((run.status("b"), run.status("c"), run.ended()), ("done", "done", "done"));
    let mut run = Run::begin(&text);
    run.bring("do/a#1", json!({ "status": 200 }));
    assert_eq!((run.status("b"), run.status("c"), run.ended()), ("skipped", "done", "done"));
}

#[test]
fn a_wait_resumes_on_what_it_waits_for_and_on_nothing_else() {
    let text = steps(
        "  a: { wait: { any: [ { signal: built, id: 24 } ], timeout: 2h } }\n  b: { set: '{{ steps.a.outcome }}' }",
    );
    let mut run = Run::begin(&text);
    assert_eq!(run.due(), ["await/a#1", "over/a#1"]);
    assert_eq!(
        run.try_bring("await/a#1", json!([{ "signal": "built", "id": 25 }])),
        Err(Reject::Stale)
    );
    run.bring("await/a#1", json!([{ "signal": "built", "id": "24", "by": "ci" }]));
    assert_eq!((run.output("b"), run.ended()), (json!("came"), "done"));
    let mut run = Run::begin(&text);
    run.elapse("over/a#1");
    assert_eq!(run.output("b"), json!("timed_out"));
}

/// A signal that was sent, or a post, counts once for each wait, in whichever round.
#[test]
fn a_wait_in_a_round_does_not_take_what_an_earlier_one_took() {
    let text = steps(
        "  a:\n    repeat: { until: '{{ round.number == 2 }}', max: 2 }\n    steps:\n      w: { wait: { any: [ { signal: built }, { signal: tested } ] } }\n  b: { wait: { any: [ { signal: built } ] } }",
    );
    let sent = |name: &str, number: u32| json!({ "signal": name, "_number": number, "_at": format!("1970-01-01T00:00:0{number}Z") });
    let taken = |run: &Run, call: &str| match run.errand(call) {
        Some(Errand::Await { taken, .. }) => json!(taken),
        other => panic!("{other:?}"),
    };
    let mut run = Run::begin(&text);
    assert_eq!(taken(&run, "await/a/1/w#1"), json!([]));
    let all = json!([sent("built", 1), sent("tested", 4), sent("tested", 2)]);
    run.bring("await/a/1/w#1", all.clone());
    assert_eq!(taken(&run, "await/a/2/w#1"), json!([sent("built", 1), sent("tested", 4)]));
    let old = json!([sent("built", 1), sent("tested", 4)]);
    assert_eq!(run.try_bring("await/a/2/w#1", old), Err(Reject::Stale));
    // One that had come and was not taken is not lost.
    run.bring("await/a/2/w#1", all);
    assert_eq!(run.output("a/2/w")["signals"], json!([sent("tested", 2)]));
    assert_eq!(taken(&run, "await/b#1"), json!([]), "another wait takes it for itself");
    run.bring("await/b#1", json!([sent("built", 1)]));
    assert_eq!(run.ended(), "done");
}

#[test]
fn items_wait_each_for_themselves_and_levels_count_in_every_round() {
    let wait = "w: { wait: { any: [ { signal: built } ] } }";
    let mut run = Run::begin(&steps(&format!(
        "  a:\n    foreach: {{ in: [1, 2] }}\n    steps:\n      {wait}"
    )));
    let built = json!([{ "signal": "built", "_number": 1, "_at": "1970-01-01T00:00:01Z" }]);
    run.bring("await/a/1/w#1", built.clone());
    run.bring("await/a/2/w#1", built);
    assert_eq!(run.ended(), "done");
    let wait = "w: { wait: { any: [ { signal: board-transitioned, board: b, phase: read } ] } }";
    let mut run = Run::begin(&steps(&format!(
        "  a:\n    repeat: {{ until: '{{{{ round.number == 2 }}}}', max: 2 }}\n    steps:\n      {wait}"
    )));
    let read = json!([{ "signal": "board-transitioned", "board": "b", "phase": "read" }]);
    run.bring("await/a/1/w#1", read.clone());
    run.bring("await/a/2/w#1", read);
    assert_eq!(run.ended(), "done");
}

const SIGN: &str = "  a: { approve: { who: [ann, ben, 'the starter'], need: 2, deadline: 3d, fields: { note: string } } }";

#[test]
fn people_approve_and_who_started_does_not() {
    let mut run = Run::begin(&steps(SIGN));
    assert_eq!(run.waits_for(), ["ann", "ben"]);
    let approve = |run: &mut Run, who: &str, fields: Value| {
        run.decide("a", who, Decision::Approved, "", fields)
    };
    assert!(matches!(approve(&mut run, "the starter", json!({})), Err(Reject::Forbidden(_))));
    assert!(matches!(approve(&mut run, "eve", json!({})), Err(Reject::Forbidden(_))));
    assert!(matches!(approve(&mut run, "ann", json!({})), Err(Reject::Invalid(_))));
    approve(&mut run, "Ann", json!({ "note": "fine" })).unwrap();
    assert_eq!(run.waits_for(), ["ben"]);
    assert!(matches!(approve(&mut run, "ann", json!({ "note": "x" })), Err(Reject::NotNow { .. })));
    approve(&mut run, "ben", json!({ "note": "too" })).unwrap();
    assert_eq!((run.ended(), run.output("a")["by"].clone()), ("done", json!(["Ann", "ben"])));
}

#[test]
fn silence_rejects_unless_it_is_written_that_it_does_not() {
    let mut run = Run::begin(&steps(SIGN));
    run.elapse("over/a#1");
    assert_eq!(
        (run.ended(), run.why("a")),
        ("failed", "the clock rejected it: Nobody decided in time.".to_owned())
    );
    let written = "  a: { approve: { who: [ann], deadline: 3d, at_deadline: approve } }";
    let mut run = Run::begin(&steps(written));
    run.elapse("over/a#1");
    assert_eq!((run.ended(), run.output("a")["by"].clone()), ("done", json!(["the clock"])));
}

#[test]
fn changes_lead_back_where_a_round_asks_for_them() {
    let text = steps(
        "  a:\n    repeat: { until: \"{{ round.sign.decision == 'approved' }}\", max: 3 }\n    steps:\n      sign: { approve: { who: [ann] } }",
    );
    let mut run = Run::begin(&text);
    assert!(matches!(
        run.decide("a/1/sign", "ann", Decision::Changes, "", json!({})),
        Err(Reject::Invalid(_))
    ));
    run.decide("a/1/sign", "ann", Decision::Changes, "shorter", json!({})).unwrap();
    run.decide("a/2/sign", "ann", Decision::Approved, "", json!({})).unwrap();
    assert_eq!((run.ended(), run.output("a")["round"]["number"].clone()), ("done", json!(2)));
    let mut run = Run::begin(&steps("  a: { approve: { who: [ann] } }"));
    run.decide("a", "ann", Decision::Changes, "shorter", json!({})).unwrap();
    assert_eq!(
        (run.ended(), run.why("a")),
        ("failed", "ann asked for changes: shorter".to_owned())
    );
}

#[test]
fn who_decides_is_told_what_each_answer_leads_to() {
    let told = |text: &str, place: &str| {
        let run = Run::begin(&steps(text));
        let all = run.state.leads_to(&Place(place.into())).into_iter();
        all.map(|(_, leads)| leads).collect::<Vec<_>>()
    };
    let text = "  a: { approve: { who: [ann] } }\n  b: { set: 1, needs: [a] }\n  c: { set: 1 }";
    assert_eq!(told(text, "a"), ["`b` can start", "the run fails", "the run fails"]);
    let text = "  a: { approve: { who: [ann] }, on_failure: b }\n  b: { set: 1 }";
    assert_eq!(told(text, "a"), ["no other step depends on it", "`b` runs", "`b` runs"]);
    let text = "  a: { approve: { who: [ann] }, on_failure: continue }\n  b: { set: 1, needs: { a: any } }\n  c: { set: 1, needs: [a] }";
    assert_eq!(told(text, "a"), ["`b`, `c` can start", "`b` can start", "`b` can start"]);
    let text = "  a:\n    repeat: { until: \"{{ round.s.decision == 'approved' }}\", max: 3 }\n    steps: { s: { approve: { who: [ann] } } }";
    let expected = ["this round is done", "this round fails", "another round follows"];
    assert_eq!(told(text, "a/1/s"), expected);
}

#[test]
fn an_approval_that_nobody_could_give_fails_at_once() {
    let run = Run::begin(&steps("  a: { approve: { who: ['the starter'] } }"));
    assert!(run.why("a").contains("1 must approve, but only 0 can"), "{}", run.why("a"));
}

#[test]
fn a_session_is_opened_once_watched_and_ended_with_the_run() {
    let text = steps(
        "  a: { boardroom: { prompt: x } }\n  b: { boardroom: { prompt: y, keep: true } }\n  c: { whiteboard.open: { board_id: z, topic: t } }",
    );
    let mut run = Run::begin(&text);
    let opened = run.errand("do/a#1");
    assert!(matches!(opened, Some(Errand::Open { act: "boardroom", .. })), "{opened:?}");
    run.bring("do/a#1", json!({ "id": "s1" }));
    run.bring("do/b#1", json!({ "id": "s2" }));
    run.bring("do/c#1", json!({ "id": "s3", "board": "z", "phase": "blind" }));
    assert_eq!(run.due(), ["watch/a#1", "watch/b#1"]);
    run.cancel();
    assert_eq!(
        (run.due(), run.ended()),
        (vec!["stop/s1".to_owned(), "stop/s3".to_owned()], "cancelled")
    );
    run.bring("stop/s1", json!(null));
    run.settle("stop/s3", failed(FailureKind::Internal));
    assert_eq!(run.due(), [""; 0]);
}

/// Between the request that opens a session and the word that it is open.
#[test]
fn a_session_that_was_about_to_open_ends_with_the_run_too() {
    let text = steps(
        "  a: { boardroom: { prompt: x } }\n  b: { workflow: { name: y, keep: true } }\n  c: { discussion: { topic: z }, timeout: 1h, retry: { times: 1 } }",
    );
    let mut run = Run::begin(&text);
    let id = |run: &Run, call: &str| match run.errand(call) {
        Some(Errand::Open { key, at, .. }) => SessionId::derived(&key, at),
        other => panic!("{other:?}"),
    };
    let (a, c) = (id(&run, "do/a#1"), id(&run, "do/c#1"));
    // Whoever tries again comes to the same session, so it must not end in between.
    run.elapse("timeout/c#1");
    assert_eq!(run.due(), ["do/a#1", "do/b#1", "again/c#1"]);
    run.elapse("again/c#1");
    assert_eq!(id(&run, "do/c#2"), c);
    run.cancel();
    // Nobody knows yet what is there, so the openings are carried through.
    assert_eq!(
        (run.due(), run.ended()),
        (vec!["do/a#1".to_owned(), "do/c#2".to_owned()], "cancelled")
    );
    assert!(!run.state.is_over());
    assert_eq!((id(&run, "do/a#1"), id(&run, "do/c#2")), (a, c));
    run.bring("do/a#1", json!({ "id": a.to_string() }));
    assert_eq!(run.due(), [format!("stop/{a}"), "do/c#2".to_owned()]);
    run.settle("do/c#2", failed(FailureKind::Refused));
    run.bring(&format!("stop/{a}"), json!(null));
    assert_eq!((run.due(), run.state.is_over()), (vec![], true));
    // One that was given up may be there while its next attempt is waited for.
    let mut run = Run::begin(&text);
    run.elapse("timeout/c#1");
    run.cancel();
    assert!(run.due().contains(&"do/c#1".to_owned()), "{:?}", run.due());
    run.bring("do/c#1", json!({ "id": c.to_string() }));
    assert!(run.due().contains(&format!("stop/{c}")), "{:?}", run.due());
    // One that could not be opened is not there.
    let mut run = Run::begin(&text);
    run.settle("do/a#1", failed(FailureKind::Refused));
    assert!(!run.due().contains(&format!("stop/{a}")), "{:?}", run.due());
}

/// Rooms that are not waited for end with a cancel, and with nothing else.
#[test]
fn a_room_that_was_about_to_open_ends_if_the_run_is_cancelled() {
    let text = steps(
        "  a: { whiteboard.open: { board_id: a, topic: t } }\n  b: { council.open: { name: b, charter: c, keep: true } }\n  c: { http: { get: 'https://x' } }",
    );
    let mut run = Run::begin(&text);
    run.cancel();
    assert_eq!(run.due(), ["do/a#1"]);
    run.bring("do/a#1", json!({ "id": "s1" }));
    assert_eq!(run.due(), ["stop/s1"]);
    let mut run = Run::begin(&text);
    run.settle("do/c#1", failed(FailureKind::Refused));
    assert_eq!((run.ended(), run.due()), ("failed", vec!["do/a#1".to_owned()]));
    run.bring("do/a#1", json!({ "id": "s1" }));
    assert_eq!((run.due(), run.state.is_over()), (vec![], true));
    // The step failed the run, and a room that comes later is known.
    let text = steps(
        "  a: { foreach: { in: [1], on_failure: continue }, steps: { x: { whiteboard.open: { board_id: a, topic: t } }, y: { http: { get: 'https://x' } } } }\n  b: { sleep: 1h, needs: [a] }",
    );
    let mut run = Run::begin(&text);
    run.settle("do/a/1/y#1", failed(FailureKind::Refused));
    run.bring("do/a/1/x#1", json!({ "id": "s1" }));
    assert_eq!(run.due(), ["sleep/b#1"]);
    run.cancel();
    assert_eq!(run.due(), ["stop/s1"]);
}

/// How a session ended that came to nothing, and took so many tokens.
fn took(tokens: u64) -> Outcome {
    let usage = Usage { input_tokens: Some(tokens), ..Usage::default() };
    let models = [(ModelName::new("m", "x"), usage)].into();
    let took = Some(Took { models, prices: Noted::default() });
    let given = Err("it failed".to_owned());
    Outcome::Brought(Ended { status: "failed".into(), took, given }.told())
}

fn tokens(run: &Run) -> Option<u64> {
    run.state.ledger.total().input_tokens
}

#[test]
fn a_session_that_failed_is_paid_for_once() {
    let mut run = Run::begin(&steps(
        "  a: { boardroom: { prompt: x }, retry: { times: 1, wait: 5s }, on_failure: continue }",
    ));
    run.bring("do/a#1", json!({ "id": "s1" }));
    run.settle("watch/a#1", took(7));
    run.settle("stop/s1", took(7));
    assert_eq!(tokens(&run), Some(7));
    run.elapse("again/a#1");
    run.bring("do/a#2", json!({ "id": "s2" }));
    run.settle("watch/a#2", took(5));
    run.settle("stop/s2", took(5));
    assert_eq!(tokens(&run), Some(12));
}

#[test]
fn a_session_that_a_cancelled_step_had_opened_unknown_to_it_is_paid_for() {
    let mut run = Run::begin(&steps(
        "  a: { boardroom: { prompt: x } }\n  b: { council.open: { name: c, charter: y } }",
    ));
    run.bring("do/b#1", json!({ "id": "room" }));
    run.cancel();
    run.bring("do/a#1", json!({ "id": "s1" }));
    let stops = run.due();
    assert_eq!(stops, ["stop/room", "stop/s1"]);
    for stop in stops {
        run.settle(&stop, took(7));
    }
    // What was spent in a room is not the run's.
    assert_eq!(tokens(&run), Some(7));
}

#[test]
fn finally_runs_after_a_cancel_too_and_not_for_ever() {
    let text = steps("  a: { sleep: 1h }\n  b: { set: 1, needs: [a] }\n")
        + "finally:\n  z: { http: { post: 'https://{{ run.status }}' } }\n";
    let mut run = Run::begin(&text);
    run.cancel();
    assert_eq!(run.due(), ["finally", "do/z#1"]);
    let sent = run.errand("do/z#1");
    assert!(
        matches!(sent, Some(Errand::Request { ref with, .. }) if with["post"] == "https://cancelled"),
        "{sent:?}"
    );
    assert_eq!(run.state.status_of(&Place::top("b")), None);
    run.elapse("finally");
    assert_eq!((run.ended(), run.status("z")), ("cancelled", "cancelled"));
    let mut run = Run::begin(&text);
    run.elapse("sleep/a#1");
    run.bring("do/z#1", json!({ "status": 200 }));
    assert_eq!(run.ended(), "done");
}

#[test]
fn a_seat_that_has_not_voted_on_everything_is_asked_once_more() {
    let mut run = Run::begin(&steps("  a: { whiteboard.vote: { board: b, as: x, ask: Vote. } }"));
    run.bring(
        "look/a#1",
        json!({ "model": "m/x", "view": "p1: <<<code>>>", "posts": ["p1", "p2"] }),
    );
    run.settle(
        "ask/a#1",
        answer("```json\n{\"votes\": [{\"post\": \"p1\", \"vote\": \"accept\"}]}\n```"),
    );
    let asked = run.ask("askAgain/a#1").expect("it is asked");
    assert!(asked.messages[0].text.contains("still missing: p2."), "{asked:?}");
    run.settle("askAgain/a#1", answer("{\"votes\": []}"));
    match run.errand("do/a#1") {
        Some(Errand::Tell { with, .. }) => assert_eq!(
            with["answer"],
            json!({ "votes": [{ "post": "p1", "vote": "accept" }], "abstained": ["p2"] })
        ),
        other => panic!("{other:?}"),
    }
    run.bring("do/a#1", json!({ "votes": 1, "abstained": ["p2"] }));
    assert_eq!(run.ended(), "done");
}

#[test]
fn an_answer_that_does_not_follow_its_schema_is_a_failed_attempt() {
    let text = steps(
        "  a: { ask: { prompt: x, schema: { type: object, required: [yes] } }, retry: { times: 1 } }\n  b: { set: '{{ steps.a.json.yes }}' }",
    );
    let mut run = Run::begin(&text);
    run.look("a");
    run.settle("ask/a#1", answer("no"));
    run.elapse("again/a#1");
    run.look_again("a", 2);
    run.settle("ask/a#2", answer("Sure: {\"yes\": 7}"));
    assert_eq!(run.output("b"), json!(7));
    // Both attempts were paid for.
    assert_eq!(run.state.ledger.total().output_tokens, Some(20));
}

#[test]
fn a_question_that_is_broken_off_says_later_what_it_took() {
    let mut run = Run::begin(&steps("  a: { ask: { prompt: x } }"));
    run.look("a");
    run.cancel();
    assert_eq!(run.due(), [""; 0]);
    run.settle("ask/a#1", super::story::stopped());
    assert_eq!(run.state.ledger.total().output_tokens, Some(10));
    assert_eq!(run.try_settle("ask/a#1", super::story::stopped()), Err(Reject::Stale));
}

#[test]
fn a_secret_is_named_in_the_log_and_is_not_there() {
    let run = Run::begin(&steps(
        "  a: { http: { post: 'https://x', headers: { authorization: 'Bearer {{ secrets.HOOK }}' } } }",
    ));
    match run.errand("do/a#1") {
        Some(Errand::Request { with, .. }) => assert_eq!(
            with["headers"]["authorization"],
            json!({ "secret": "HOOK", "before": "Bearer ", "after": "" })
        ),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_output_has_a_size() {
    let mut run = Run::begin(&steps("  a: { http: { get: 'https://x' } }"));
    run.bring("do/a#1", json!({ "body": "x".repeat(10_000_000) }));
    assert!(run.why("a").contains("at most 262144 are allowed"), "{}", run.why("a"));
    // What a reader of the log could not read again must not get into it.
    let deep = (0..100).fold(json!(1), |value, _| json!([value]));
    let mut run = Run::begin(&steps("  a: { http: { get: 'https://x' } }"));
    run.bring("do/a#1", deep.clone());
    assert_eq!(run.why("a"), "this is nested deeper than 32 levels");
    let mut begin = Run::beginning(&steps("  a: { set: 1 }"));
    begin.inputs.insert("list".into(), deep);
    assert!(matches!(Run::try_of(Command::Begin(Box::new(begin))), Err(Reject::Invalid(_))));
}

#[test]
fn a_list_of_very_many_items_is_a_clear_error() {
    let run = Run::begin(&steps(
        "  a: { set: '{{ \"a,\" }}' }\n  b:\n    foreach: { in: \"{{ 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' | list }}\" }\n    steps: { c: { set: 1 } }",
    ));
    assert!(run.why("b").contains("items; at most 256 are allowed"), "{}", run.why("b"));
}

#[test]
fn a_fork_keeps_what_was_before_and_does_the_rest_anew() {
    let text = steps(
        "  a: { ask: { prompt: x } }\n  b: { whiteboard.open: { board_id: fixed, topic: '{{ steps.a.text }}' } }\n  c: { set: '{{ steps.b.id }}' }",
    );
    let mut run = Run::begin(&text);
    run.look("a");
    run.settle("ask/a#1", answer("tea"));
    run.bring("do/b#1", json!({ "id": "s1" }));
    assert_eq!(run.ended(), "done");
    let copied = run.state.before("b").unwrap();
    assert_eq!(copied.len(), 1);
    assert!(run.state.before("bb").is_err());
    let fork = Forked { run: run.state.run, from: "b".into(), steps: copied };
    let begin = Begin { fork: Some(fork), ..Run::beginning(&text) };
    let again = Run::of(Command::Begin(Box::new(begin)));
    assert_eq!((again.status("a"), again.status("b")), ("done", "running"));
    match again.errand("do/b#1") {
        Some(Errand::Tell { with, .. }) => {
            assert_eq!(with["topic"], "tea");
            assert_eq!(with["board_id"], "fixed-00000000");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_deadline_ends_a_step_with_all_that_is_in_it() {
    let mut run = Run::begin(&steps(
        "  a:\n    foreach: { in: [1, 2] }\n    steps: { b: { sleep: 2h } }\n    deadline: 1h\n    on_failure: continue",
    ));
    run.elapse("late/a#1");
    assert_eq!(
        (run.status("a"), run.status("a/1/b"), run.ended()),
        ("failed", "cancelled", "done")
    );
}

#[test]
fn what_is_wrong_with_a_file_or_its_inputs_begins_nothing() {
    let begin = |source: &str, inputs: Value| {
        let begin =
            Begin { inputs: inputs.as_object().cloned().unwrap(), ..Run::beginning(source) };
        Run::try_of(Command::Begin(Box::new(begin)))
    };
    assert!(matches!(begin("name: a\nsteps: {}", json!({})), Err(Reject::Invalid(_))));
    let needs = "name: a\ninputs: { topic: string }\nsteps: { a: { set: 1 } }";
    assert!(
        matches!(begin(needs, json!({})), Err(Reject::Invalid(wrong)) if wrong[0].field == "inputs.topic")
    );
    assert!(begin(needs, json!({ "topic": "x" })).is_ok());
}

/// The ten steps of an architecture decision record, from its first word to its last.
#[test]
fn the_example_of_a_decision_record_runs_to_its_end() {
    let mut begin = Run::beginning(super::definitions::EXAMPLES[0].1);
    begin.inputs.insert("topic".into(), json!("Tea or coffee?"));
    let mut run = Run::of(Command::Begin(Box::new(begin)));
    let mut acts = vec![];
    while let Some(call) = run.due().first().cloned() {
        let outcome = match run.errand(&call) {
            Some(Errand::Look { .. }) => json!({ "model": "m/x", "view": "…", "posts": ["p1"] }),
            Some(Errand::Tell { act, .. }) => {
                acts.push(act);
                match act {
                    "whiteboard.open" => json!({ "id": "b", "board": "adr", "phase": "blind" }),
                    "whiteboard.archive" => json!({
                        "board": "adr", "outcome": "tied", "decision": null, "tally": [], "dissent": [],
                    }),
                    _ => json!({}),
                }
            }
            Some(Errand::Open { act, .. }) => {
                acts.push(act);
                json!({ "id": "s" })
            }
            Some(Errand::Watch { .. }) => {
                json!({ "id": "s", "verdict": "Tea.", "degraded": false })
            }
            Some(other) => panic!("{other:?}"),
            None => {
                let text = match run.ask(&call).map(|ask| ask.messages[0].text.clone()) {
                    Some(text) if text.contains("\"votes\"") => {
                        r#"{"votes": [{"post": "p1", "vote": "accept"}]}"#
                    }
                    Some(text) if text.contains("\"annotations\"") => r#"{"annotations": []}"#,
                    Some(_) => r#"{"title": "Tea", "body": "It is tea."}"#,
                    None => panic!("{call}"),
                };
                run.settle(&call, answer(text));
                continue;
            }
        };
        run.bring(&call, outcome);
    }
    assert_eq!(run.ended(), "done");
    assert_eq!(run.outputs()["decision"], "Tea.");
    assert_eq!(run.state.title, "ADR: Tea or coffee?");
    let count = |wanted: &str| acts.iter().filter(|act| **act == wanted).count();
    let counts = [
        "whiteboard.register",
        "whiteboard.post",
        "whiteboard.annotate",
        "whiteboard.vote",
        "whiteboard.transition",
        "boardroom",
    ]
    .map(count);
    assert_eq!(counts, [3, 3, 6, 3, 4, 1]);
}

/// Whoever writes what an expression comes to must not choose which secret is sent.
#[test]
fn nothing_that_an_expression_comes_to_is_taken_for_a_secret() {
    let secret = "  s: { set: { secret: HOOK, before: '', after: '' } }\n";
    for step in [
        "  a: { http: { get: 'https://x', headers: { x: '{{ steps.s }}' } } }",
        "  a: { http: { get: 'https://x', headers: '{{ { \"x\": steps.s } }}' } }",
        "  a: { council.post: { council: c, as: x, body: y, token: '{{ steps.s }}' } }",
    ] {
        let run = Run::begin(&steps(&format!("{secret}{step}")));
        assert_eq!((run.ended(), run.status("a")), ("failed", "failed"), "{step}");
    }
}
