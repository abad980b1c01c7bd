//! The schema for editors, against the examples and against what is wrong.

use serde_json::Value;

use super::definitions::EXAMPLES;
use crate::fits::misfit;
use crate::workflow::problem::Problems;
use crate::workflow::{schema, yaml};

fn value(text: &str) -> Value {
    yaml::read(text, &mut Problems::default()).expect("it is YAML").json()
}

#[test]
fn the_schema_takes_every_example() {
    for (name, text) in EXAMPLES {
        assert_eq!(misfit(&value(text), &schema()), None, "{name}");
    }
}

#[test]
fn the_schema_sees_what_an_editor_should_underline() {
    let check = |text: &str, expected: &str| {
        let found = misfit(&value(text), &schema()).unwrap_or_default();
        assert_eq!(found, expected, "{text}");
    };
    check("steps: {a: {set: 1}}", "`name` is missing");
    check("name: a\nsteps: {}", "steps is too small");
    check("name: a\nsteps: {a: {}}", "steps.a is not one of what it may be");
    check("name: a\nsteps: {a: {set: 1, sleep: 1s}}", "steps.a is not one of what it may be");
    check("name: a\nsteps: {a: {ask: {promt: x}}}", "`steps.a.ask.prompt` is missing");
    check("name: a\nsteps: {a: {sett: 1, set: 1}}", "`steps.a.sett` was not asked for");
    check("name: a\nstep: {a: {set: 1}}\nsteps: {a: {set: 1}}", "`step` was not asked for");
    check(
        "name: a\nsteps: {a: {repeat: {until: true, max: 51}, steps: {b: {set: 1}}}}",
        "steps.a.repeat.max is too large",
    );
    let case = |case: &str| format!("name: a\nsteps: {{a: {{set: 1}}}}\ncases: [{{{case}}}]");
    check(&case("name: x"), "`cases[0].expect` is missing");
    check(
        &case("name: x, expect: {status: finished}"),
        "cases[0].expect.status is none of running, done, failed, cancelled",
    );
    check(
        &case("name: x, expect: {status: done}, approvals: [{step: a, by: b, decision: yes}]"),
        "cases[0].approvals[0].decision is none of approved, rejected, changes",
    );
}
