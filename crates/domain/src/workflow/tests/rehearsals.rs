//! Cases that are tried out, by example.

use proptest::prelude::*;

use super::definitions::EXAMPLES;
use crate::workflow::{Fault, Problem, Rehearsed, check, rehearse};

/// What is told of each case, a line for each.
fn told(text: &str) -> String {
    let fault = |fault: &Fault| {
        let Fault { line, column, path, message, add } = fault;
        let add: String = add.iter().map(|line| format!("    | {line}\n")).collect();
        format!("  {line}:{column} {path}: {message}\n{add}")
    };
    let case = |case: &Rehearsed| {
        let word = if case.faults.is_empty() { "holds" } else { "fails" };
        let faults: String = case.faults.iter().map(fault).collect();
        format!("{word}: {} ({} ms, {} steps)\n{faults}", case.name, case.clock_ms, case.steps)
    };
    match rehearse(text) {
        Ok(cases) => cases.iter().map(case).collect(),
        Err(problems) => wrong(&problems),
    }
}

fn wrong(problems: &[Problem]) -> String {
    let line = |problem: &Problem| {
        let Problem { line, column, path, message, .. } = problem;
        format!("{line}:{column} {path}: {message}\n")
    };
    problems.iter().map(line).collect()
}

#[track_caller]
fn holds(text: &str) {
    let told = told(text);
    assert!(!told.is_empty() && told.lines().all(|line| line.starts_with("holds: ")), "{told}");
}

const REVIEW: &str = include_str!("rehearsed.yaml");

#[test]
fn cases_drive_a_run_and_what_does_not_hold_is_told_where_it_stands() {
    insta::assert_snapshot!(told(REVIEW));
}

#[test]
fn the_cases_of_every_example_hold() {
    for (name, text) in EXAMPLES {
        holds(text);
        assert!(rehearse(text).is_ok_and(|cases| cases.len() >= 2), "{name}");
    }
}

#[test]
fn every_problem_of_the_cases_is_told_at_once() {
    insta::assert_snapshot!(wrong(&check(include_str!("wrong-cases.yaml")).problems));
}

#[test]
fn a_run_does_not_know_the_cases_of_its_file() {
    let with = "name: a\nsteps: { a: { set: 1 } }\ncases: [{ name: x, expect: { status: done } }]";
    let without = "name: a\nsteps: { a: { set: 1 } }";
    assert_eq!(check(with).definition, check(without).definition);
    assert_eq!(rehearse(without), Ok(vec![]));
}

#[test]
fn of_very_much_that_does_not_hold_the_first_is_told() {
    let list = |value: &str| vec![value; 500].join(", ");
    let text = format!(
        "name: a\nsteps: {{ a: {{ set: [{}] }} }}\noutputs: {{ a: '{{{{ steps.a }}}}' }}\n\
         cases: [{{ name: x, expect: {{ outputs: {{ a: [{}] }} }} }}]",
        list("1"),
        list("2"),
    );
    let told = told(&text);
    assert_eq!(told.lines().count(), 31, "{told}");
    assert!(told.ends_with("expected 2, found 1; and 470 more failed\n"), "{told}");
}

#[test]
fn a_list_has_one_answer_for_each_item_in_order() {
    holds(
        "name: a\nsteps:\n  all:\n    foreach: { in: [a, b, c, d, e, f, g, h, i, j, k], parallel: 3 }\n    \
         steps: { q: { ask: { prompt: '{{ item }}' } } }\n  last: { set: '{{ steps.all | map(attribute=\"output\") | map(attribute=\"q\") | map(attribute=\"text\") | join }}' }\n\
         outputs: { all: '{{ steps.last }}' }\n\
         cases:\n  - name: in order\n    answers: { q: ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11'], all/2/q: two }\n    \
         expect: { outputs: { all: 1two2345678910 } }\n",
    );
}

#[test]
fn an_attempt_that_fails_is_followed_by_the_next_answer() {
    holds(
        "name: a\nsteps:\n  q: { http: { get: 'https://x' }, retry: { times: 2, wait: 10s } }\n  r: { ask: { prompt: x }, timeout: 1m, on_failure: continue }\n\
         cases:\n  - name: at the third time\n    answers:\n      q: [{ fails: no, kind: unreachable }, { fails: no }, { status: 200, json: { ok: true } }]\n      r: { hangs: true }\n    \
         expect:\n      status: done\n      steps: { q: { status: done, output: { status: 200, body: '', json: { ok: true } } }, r: { status: failed, reason: The attempt took too long. } }\n  \
         - name: never\n    answers: { q: { fails: no }, r: x }\n    expect: { status: failed, reason: '`q` failed: no' }\n  \
         - name: it cannot help\n    answers: { q: [{ fails: no, kind: refused }], r: x }\n    expect: { status: failed }\n",
    );
}

#[test]
fn signals_and_people_come_when_the_case_says() {
    holds(
        "name: a\ninputs: { who: array }\nsteps:\n  \
         built: { wait: { all: [{ signal: built, id: 24 }, { signal: board-transitioned, board: b, phase: read }], timeout: 2h } }\n  \
         read: { whiteboard.transition: { board: b, to: validate } }\n  \
         sign: { approve: { who: '{{ inputs.who }}', need: 2, deadline: 1d, fields: { n: integer } }, needs: [built] }\n\
         outputs: { by: '{{ steps.sign.by }}', n: '{{ steps.sign.fields.n }}' }\n\
         cases:\n  \
         - &base\n    name: in time\n    inputs: { who: [ann, ben, zoe] }\n    signals: [{ signal: built, id: '24', at: 90m }]\n    \
         approvals:\n      - { step: sign, by: zoe, decision: approved, at: 3h, fields: { n: 1 } }\n      - { step: sign, by: ann, decision: approved, at: 2h, fields: { n: 2 } }\n    \
         expect: { status: done, outputs: { by: [ann, zoe], n: 1 } }\n  \
         - name: too late\n    inputs: { who: [ann, ben] }\n    signals: [{ signal: built, id: 24, at: 3h }]\n    \
         approvals: [{ step: sign, by: ann, decision: approved, fields: { n: 1 }, at: 2d }]\n    \
         expect: { status: failed, reason: { contains: Nobody decided in time }, steps: { built: { output: { outcome: timed_out, signals: [] } } } }\n  \
         - name: cancelled while it waits\n    inputs: { who: [ann, ben] }\n    cancel: { at: 10m, by: ann, reason: enough }\n    \
         expect: { status: cancelled, reason: 'cancelled by ann: enough', steps: { built: cancelled, sign: waiting, read: done } }\n",
    );
}

#[test]
fn a_run_that_waits_for_ever_is_running() {
    let text = |expect: &str| {
        format!(
            "name: a\nsteps:\n  sign: {{ approve: {{ who: [ann] }} }}\ncases:\n  - name: still\n    expect: {{ {expect} }}\n"
        )
    };
    holds(&text("status: running, steps: { sign: running }"));
    let fails = told(&text("status: done"));
    assert!(
        fails.contains("6:23 status: expected done, found running (`sign` is waiting for ann)"),
        "{fails}"
    );
}

#[test]
fn seats_on_a_board_say_what_they_are_scripted_to_and_the_rest_follows() {
    holds(
        "name: a\nsteps:\n  board: { whiteboard.open: { board_id: b, topic: x } }\n  \
         post: { whiteboard.post: { board: '{{ steps.board.id }}', as: ann, ask: Say it. } }\n  \
         note: { whiteboard.annotate: { board: b, as: ben, ask: Check it. }, needs: [post] }\n  \
         vote: { whiteboard.vote: { board: b, as: ben, ask: Vote. }, needs: [note] }\n\
         cases:\n  - name: all\n    answers:\n      post: { title: T, body: B, target_file: a.rs, severity: high }\n      \
         note: { annotations: [] }\n      \
         vote: 'I think: {\"votes\": [{ \"post\": \"ann/1\", \"vote\": \"accept\" }]}'\n    \
         expect:\n      status: done\n      steps:\n        post: { output: { contains: { post: ann/1, title: T, severity: high } } }\n        \
         vote: { output: { votes: [{ post: ann/1, vote: accept }], abstained: [] } }\n  \
         - name: one is left out\n    answers:\n      post: { title: T, body: B }\n      note: { annotations: [] }\n      \
         vote: { votes: [{ post: ann/1, vote: accept }], abstained: [zoe/1] }\n    \
         expect: { steps: { vote: { output: { votes: [{ post: ann/1, vote: accept }], abstained: [zoe/1] } } } }\n",
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever slip a file has, its cases come to an end.
    #[test]
    fn any_slip_is_tried_out(place in 0usize..8000, with in "[ -~\\n]") {
        for (_, text) in EXAMPLES {
            let mut letters: Vec<char> = text.chars().collect();
            let place = place % letters.len();
            letters[place] = with.chars().next().unwrap_or('x');
            let text: String = letters.into_iter().collect();
            let rehearsed = rehearse(&text);
            prop_assert!(!matches!(rehearsed, Err(problems) if problems.is_empty()));
        }
    }
}
