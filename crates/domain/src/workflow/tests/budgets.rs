//! What a run may spend, and the shares of what it opens.

use serde_json::{Value, json};

use super::runs::steps;
use super::story::{Run, answer};
use crate::budget::Allowance;
use crate::call::{Outcome, Usage};
use crate::errand::Errand;
use crate::form::Form;
use crate::ids::ModelName;
use crate::prices::Noted;
use crate::workflow::gives::Ended;
use crate::workflow::{Begin, Command, Took};

#[test]
fn a_budget_holds_for_questions_and_goes_along_to_sessions() {
    let text = steps(
        "  a: { ask: { prompt: x } }\n  b: { boardroom: { prompt: y }, needs: [a] }\n  c: { set: 1 }",
    ) + "\nbudget: { tokens: 2000, time: 1h }\n";
    let mut run = Run::begin(&text);
    run.look("a");
    run.settle("ask/a#1", answer("A"));
    // The question took 110 tokens.
    let open = run.errand("do/b#1");
    assert!(
        matches!(&open, Some(Errand::Open { with, .. }) if with["budget"]["tokens"] == 1890),
        "{open:?}"
    );
    run.bring("do/b#1", json!({ "id": "s1" }));
    let over = run.state.out_of_time(&crate::form::Moment {
        at: run.at,
        nonce: crate::ids::Nonce("c0de".into()),
        actor: "engine".into(),
    });
    run.take(over.unwrap());
    assert_eq!((run.ended(), run.status("b")), ("failed", "cancelled"));
    // The board ends with the run, and the clock has nothing more to say.
    assert_eq!(run.due(), ["stop/s1"]);
    assert_eq!(run.state.ledger.time(), None);
}

fn share(run: &Run, call: &str) -> Value {
    match run.errand(call) {
        Some(Errand::Open { with, .. } | Errand::Tell { with, .. }) => {
            with.get("budget").cloned().unwrap_or_default()
        }
        other => panic!("{call}: {other:?}; due: {:?}", run.due()),
    }
}

/// Takes this many tokens and ends.
fn spend(run: &mut Run, call: &str, tokens: u64) {
    let usage = Usage { input_tokens: Some(tokens), ..Usage::default() };
    let models = [(ModelName::new("m", "x"), usage)].into();
    let took = Some(Took { models, prices: Noted::default() });
    let ended = Ended { status: "done".into(), took, given: Ok(json!({})) };
    run.settle(call, Outcome::Brought(ended.told()));
}

#[test]
fn sessions_of_one_moment_share_what_is_left_and_give_back_what_they_do_not_need() {
    let text = steps(
        "  all: { foreach: { in: [1, 2, 3, 4], parallel: 3 }, steps: { x: { boardroom: { prompt: y } } } }\n  sub: { workflow: { name: w }, needs: [all] }",
    ) + "\nbudget: { tokens: 9000 }\n";
    let mut run = Run::begin(&text);
    for item in 1..=3 {
        assert_eq!(
            share(&run, &format!("do/all/{item}/x#1")),
            json!({ "tokens": 3000, "cost": null })
        );
        run.bring(&format!("do/all/{item}/x#1"), json!({ "id": format!("s{item}") }));
    }
    assert_eq!(run.state.ledger.promised().tokens, 9000);
    // The fourth has what the first has left.
    spend(&mut run, "watch/all/1/x#1", 1000);
    assert_eq!(share(&run, "do/all/4/x#1")["tokens"], 2000);
    run.bring("do/all/4/x#1", json!({ "id": "s4" }));
    for item in 2..=4 {
        spend(&mut run, &format!("watch/all/{item}/x#1"), 1500);
    }
    // A run of another workflow is held to the rest of it too.
    assert_eq!(share(&run, "do/sub#1")["tokens"], 3500);
    assert_eq!(run.state.ledger.promised().tokens, 3500);
    // One that was broken off keeps its share until it has ended.
    run.bring("do/sub#1", json!({ "id": "s5" }));
    run.cancel();
    assert_eq!(run.state.ledger.promised().tokens, 3500, "it has not ended");
    run.bring("stop/s5", json!(null));
    assert_eq!(run.state.ledger.promised().tokens, 0);
}

#[test]
fn a_session_waits_for_room_in_the_budget_and_fails_when_none_can_come() {
    let text = steps(
        "  a: { boardroom: { prompt: x } }\n  b: { boardroom: { prompt: y }, on_failure: continue }",
    ) + "\nbudget: { tokens: 1500 }\n";
    let mut run = Run::begin(&text);
    assert_eq!(
        (run.due(), share(&run, "do/a#1")["tokens"].clone()),
        (vec!["do/a#1".to_owned()], json!(1500))
    );
    run.bring("do/a#1", json!({ "id": "s1" }));
    assert_eq!(run.due(), ["watch/a#1"]);
    let mut other = Run { state: run.state.clone(), log: run.log.clone(), at: run.at };
    spend(&mut run, "watch/a#1", 300);
    assert_eq!(share(&run, "do/b#1")["tokens"], 1200);
    spend(&mut other, "watch/a#1", 1400);
    assert_eq!((other.status("b"), other.ended()), ("failed", "done"));
    assert_eq!(
        other.why("b"),
        "The budget does not cover another session: 100 tokens are left, and it needs 1,000 or \
         more."
    );
    // What only waited for room has opened nothing.
    let mut run = Run::begin(&text);
    run.cancel();
    assert_eq!(run.due(), ["do/a#1"]);
}

#[test]
fn a_council_has_half_of_a_share_for_good() {
    let text = steps(
        "  a: { council.open: { name: c, charter: t, members: [x=m/x] } }\n  b: { council.open: { name: d, charter: t } }\n  e: { boardroom: { prompt: y }, needs: [a, b] }",
    ) + "\nbudget: { tokens: 8000 }\n";
    let mut run = Run::begin(&text);
    assert_eq!(
        (share(&run, "do/a#1")["tokens"].clone(), share(&run, "do/b#1")),
        (json!(4000), Value::Null)
    );
    run.bring("do/a#1", json!({ "id": "s1" }));
    run.bring("do/b#1", json!({ "id": "s2" }));
    assert_eq!(share(&run, "do/e#1")["tokens"], 4000);
}

#[test]
fn a_run_of_a_run_keeps_to_the_narrower_budget() {
    let most = Allowance { tokens: Some(3000), cost: Some(0.5), time_ms: None };
    for (own, tokens) in [
        ("", 3000),
        ("\nbudget: { tokens: 2000, usd: 1 }\n", 2000),
        ("\nbudget: { tokens: 9000 }\n", 3000),
    ] {
        let text = steps("  a: { set: 1 }") + own;
        let run = Run::of(Command::Begin(Box::new(Begin { most, ..Run::beginning(&text) })));
        let budget = run.state.ledger.budget().unwrap().most;
        assert_eq!(budget, Allowance { tokens: Some(tokens), cost: Some(0.5), time_ms: None });
    }
}
