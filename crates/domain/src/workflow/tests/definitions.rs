//! What a file means, and everything that can be wrong with it.

use proptest::prelude::*;

use crate::workflow::{Checked, Definition, Problem, Severity, check, mermaid, nesting};

pub(crate) const EXAMPLES: [(&str, &str); 4] = [
    ("adr", include_str!("../../../../../examples/adr.yaml")),
    ("review-a-diff", include_str!("../../../../../examples/review-a-diff.yaml")),
    ("panel-then-person", include_str!("../../../../../examples/panel-then-person.yaml")),
    ("weekly-council", include_str!("../../../../../examples/weekly-council.yaml")),
];

pub(crate) fn sound(text: &str) -> Definition {
    let Checked { definition, problems } = check(text);
    definition.unwrap_or_else(|| panic!("{problems:#?}\n{text}"))
}

fn shown(problems: &[Problem]) -> String {
    let line = |problem: &Problem| {
        let Problem { severity, line, column, path, message, .. } = problem;
        let severity = if *severity == Severity::Error { "" } else { "warning: " };
        format!("{line}:{column} {path}: {severity}{message}\n")
    };
    problems.iter().map(line).collect()
}

/// A workflow with these steps; their lines begin at 4.
fn steps(steps: &str) -> String {
    format!("name: a\ninputs: {{ topic: string, list: array }}\nsteps:\n{steps}")
}

#[track_caller]
fn problem(text: &str, expected: &str) {
    let told = shown(&check(text).problems);
    assert!(told.contains(expected), "{text}\nexpected {expected:?} in:\n{told}");
}

#[test]
fn the_examples_are_sound() {
    for (name, text) in EXAMPLES {
        let Checked { definition, problems } = check(text);
        assert_eq!(shown(&problems), "", "{name}");
        assert_eq!(definition.map(|definition| definition.name).as_deref(), Some(name));
    }
}

#[test]
fn a_file_with_twenty_mistakes_gets_twenty_messages() {
    insta::assert_snapshot!(shown(&check(include_str!("twenty.yaml")).problems));
}

#[test]
fn json_is_read_too() {
    let text = "{\n\t\"name\": \"a\",\n\t\"steps\": {\n\t\t\"one\": { \"set\": [1, true, null, \"x\"] }\n\t}\n}";
    let definition = sound(text);
    assert_eq!((definition.name.as_str(), definition.steps[0].line), ("a", 4));
}

#[test]
fn naming_a_step_is_needing_it() {
    let text = steps(
        "  one: { set: 1 }\n  two: { set: '{{ steps.one + 1 }}' }\n  \
         all:\n    foreach: { in: '{{ inputs.list }}', as: x }\n    steps:\n      \
         in: { set: '{{ steps.two }}-{{ x }}' }\n      after: { set: '{{ steps.in }}' }\n",
    );
    let definition = sound(&text);
    let needs = |id: &str| {
        let step = definition.step(id).expect("it is there");
        step.needs.iter().map(|need| need.step.clone()).collect::<Vec<_>>()
    };
    assert_eq!(needs("two"), ["one"]);
    // The step inside cannot wait for one outside; the one around it does.
    assert_eq!((needs("all"), needs("in")), (vec!["two".to_owned()], vec![]));
    assert_eq!(needs("after"), ["in"]);
}

#[test]
fn names_are_looked_up_where_they_stand() {
    problem(
        &steps("  a: { set: '{{ inputs.topc }}' }"),
        "4:13 steps.a.set: there is no input `topc`; did you mean `topic`?",
    );
    problem(
        &steps("  one: { set: 1 }\n  a: { set: '{{ steps.oen }}' }"),
        "there is no step `oen`; did you mean `one`?",
    );
    problem(&steps("  a: { set: '{{ steps }}' }"), "say which step");
    problem(
        &steps("  a: { set: '{{ input.topic }}' }"),
        "`input` is not available here; did you mean `inputs`?",
    );
    problem(&steps("  a: { set: '{{ steps.a }}' }"), "`a` has no output yet");
    problem(
        &steps("  a: { sleep: 1s }\n  b: { set: '{{ steps.a.untl }}' }"),
        "`sleep` gives no `untl`; did you mean `until`?",
    );
    problem(
        &steps("  a: { ask: { prompt: x } }\n  b: { set: '{{ steps.a.json }}' }"),
        "only if it has a `schema`",
    );
    problem(
        &steps(
            "  a:\n    foreach: { in: [1] }\n    steps: { b: { set: 1 } }\n  c: { set: '{{ steps.b }}' }",
        ),
        "`b` is inside `a`",
    );
    problem(&steps("  a: { set: '{{ round.number }}' }"), "`round` exists only inside");
    problem(&steps("  a: { set: '{{ run.statsu }}' }"), "a run has no `statsu`");
    problem("name: a\ntitle: '{{ steps.a }}'\nsteps: { a: { set: 1 } }", "no step has run yet");
    problem(
        "name: a\nsteps: { a: { set: '{{ steps.b }}' } }\nfinally: { b: { set: 1 } }",
        "which runs after this",
    );
    problem(
        &steps(
            "  r:\n    repeat: { until: '{{ round.two == 1 }}', max: 2 }\n    steps: { one: { set: 1 } }",
        ),
        "a round has no `two`",
    );
}

#[test]
fn what_may_be_skipped_is_warned_of() {
    let text = |value: &str| {
        steps(&format!(
            "  a: {{ ask: {{ prompt: x }}, when: '{{{{ inputs.topic == \"x\" }}}}' }}\n  b: {{ set: \"{value}\" }}"
        ))
    };
    problem(&text("{{ steps.a.text }}"), "warning: `a` may be skipped");
    assert_eq!(check(&text("{{ steps.a.text | default('') }}")).problems, []);
    assert_eq!(check(&text("{{ steps.a }}")).problems, []);
    let handler = "  a: { ask: { prompt: x }, on_failure: b }\n  b: { set: '{{ steps.a.text }}' }";
    problem(&steps(handler), "warning: `a` may have failed, and then has no `text`");
    let any = "  a: { ask: { prompt: x } }\n  b: { set: '{{ steps.a.text }}', needs: { a: any } }";
    problem(&steps(any), "warning: `a` may have failed, and then has no `text`");
}

#[test]
fn secrets_stay_where_they_are_put_in_unseen() {
    let http = |header: &str, url: &str| {
        steps(&format!(
            "  a: {{ http: {{ post: \"{url}\", headers: {{ authorization: \"{header}\" }} }} }}"
        ))
    };
    assert_eq!(check(&http("Bearer {{ secrets.HOOK }}", "https://x")).problems, []);
    problem(
        &http("x", "https://{{ secrets.HOOK }}"),
        "secrets can only be used in the headers of `http`",
    );
    problem(
        &http("{{ inputs.topic }} {{ secrets.HOOK }}", "https://x"),
        "only be combined with plain words",
    );
    problem(&http("{{ secrets.HOOK | upper }}", "https://x"), "only be combined with plain words");
    problem(&steps("  a: { set: '{{ secrets.HOOK }}' }"), "secrets can only be used in");
    let vote = "  a: { whiteboard.vote: { board: b, as: x, token: '{{ secrets.X }}', post: p, vote: accept } }";
    assert_eq!(check(&steps(vote)).problems, []);
}

#[test]
fn what_waits_for_itself_is_told() {
    problem(
        &steps(
            "  a: { set: 1, needs: [b] }\n  b: { set: 1, needs: [c] }\n  c: { set: 1, needs: a }",
        ),
        "these wait for each other: a → b → c → a",
    );
    problem(&steps("  a: { set: 1, needs: [a] }"), "`a` cannot need itself");
    problem(
        &steps("  a: { set: 1, needs: [b], on_failure: b }\n  b: { set: 1 }"),
        "these wait for each other",
    );
    problem(
        &steps("  a: { set: 1, needs: [bb] }\n  b: { set: 1 }"),
        "there is no step `bb`; did you mean `b`?",
    );
    problem(&steps("  a: { set: 1, on_failure: contineu }"), "did you mean `continue`?");
}

#[test]
fn what_may_go_wrong_is_warned_of() {
    let two = "  a: { council.post: { council: g, as: x, body: y } }\n  b: { council.post: { council: g, as: x, body: y } ";
    problem(
        &steps(&format!("{two} }}")),
        "5:3 steps.b: warning: `a` and `b` both write to the same council (g)",
    );
    assert_eq!(check(&steps(&format!("{two}, needs: [a] }}"))).problems, []);
    let archive = "  a: { whiteboard.archive: { board: b } }\n";
    problem(&steps(archive), "warning: a tied vote is not handled");
    let follows =
        format!("{archive}  b: {{ set: 1, when: \"{{{{ steps.a.outcome == 'tied' }}}}\" }}");
    assert_eq!(check(&steps(&follows)).problems, []);
}

#[test]
fn every_limit_is_told_and_kept() {
    let many = (0..201).map(|n| format!("  s{n}: {{ set: 1 }}\n")).collect::<String>();
    problem(&steps(&many), "there are more than 200 steps");
    problem(&"#".repeat(300_000), "the file is longer than 262144 bytes");
    problem(&format!("name: a\nsteps: {}", "[".repeat(100)), "nested deeper than 32 levels");
    let items = (0..257).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    problem(
        &steps(&format!(
            "  a:\n    foreach: {{ in: [{items}] }}\n    steps: {{ b: {{ set: 1 }} }}"
        )),
        "there are 257 items; at most 256",
    );
    let rounds = "  a:\n    repeat: { until: '{{ true }}', max: 50 }\n    steps:\n      b:\n        repeat: { until: '{{ true }}', max: 50 }\n        steps: { c: { set: 1 } }";
    problem(&steps(rounds), "this makes 2551 steps; a run can have at most 2000");
    problem(
        &steps("  a:\n    repeat: { until: '{{ true }}', max: 51 }\n    steps: { b: { set: 1 } }"),
        "a whole number from 1 to 50",
    );
    problem(
        &steps("  a: { wait: { any: [ { signal: x } ], timeout: 91d } }"),
        "longer than 90 days",
    );
}

#[test]
fn an_alias_bomb_is_a_clear_error() {
    let mut text = "name: a\nbomb:\n  - &a0 [lol, lol]\n".to_owned();
    for level in 1..40 {
        let before = level - 1;
        text += &format!("  - &a{level} [*a{before}, *a{before}, *a{before}, *a{before}]\n");
    }
    problem(&text, "the file has more than 20000 values, aliases included");
    problem("name: &a [*a]", "this alias refers to itself");
    let mut deep = "name: a\nx:\n  - &a0 [lol]\n".to_owned();
    (1..80).for_each(|level| deep += &format!("  - &a{level} [*a{}]\n", level - 1));
    problem(&deep, "nested deeper than 32 levels");
    // Values count once, however deep they are.
    let many = (0..150).map(|n| {
        let fields = (0..12).map(|n| format!("f{n}: {{ type: string, enum: [a, b, c] }}"));
        let fields = fields.collect::<Vec<_>>().join(", ");
        format!("  s{n}: {{ ask: {{ prompt: x, schema: {{ type: object, properties: {{ {fields} }} }} }} }}\n")
    });
    assert_eq!(check(&steps(&many.collect::<String>())).problems, []);
    let few = steps("  a: &x { set: 1 }\n  b: *x\n");
    assert_eq!(check(&few).problems, []);
}

#[test]
fn workflows_that_run_each_other_are_told() {
    let calls = |name: &str, other: &str| {
        sound(&format!("name: {name}\nsteps: {{ call: {{ workflow: {{ name: {other} }} }} }}"))
    };
    let all = [calls("a", "b"), calls("b", "c"), calls("c", "a"), calls("d", "e")];
    let find = |name: &str| all.iter().find(|one| one.name == name);
    assert_eq!(
        shown(&nesting(&all[0], &find)),
        "2:1 steps.call: these run each other: a → b → c → a\n"
    );
    assert_eq!(shown(&nesting(&all[3], &find)), "");
    let deep: Vec<Definition> =
        (0..8).map(|n| calls(&format!("w{n}"), &format!("w{}", n + 1))).collect();
    let find = |name: &str| deep.iter().find(|one| one.name == name);
    assert!(shown(&nesting(&deep[0], &find)).contains("more than 5 levels"));
}

#[test]
fn a_workflow_is_drawn() {
    insta::assert_snapshot!(mermaid(&sound(EXAMPLES[0].1)));
}

#[test]
fn a_definition_is_kept_as_it_was_read() {
    for (_, text) in EXAMPLES {
        let definition = sound(text);
        let kept = serde_json::to_string(&definition).unwrap();
        assert_eq!(serde_json::from_str::<Definition>(&kept).unwrap(), definition);
    }
}

#[test]
fn inputs_are_filled_in_or_refused() {
    let definition = sound(
        "name: a\ninputs: { topic: string, n: { type: integer, default: 3 } }\nsteps: { a: { set: 1 } }",
    );
    let given = |value: serde_json::Value| definition.fill(value.as_object().unwrap());
    assert_eq!(
        serde_json::json!(given(serde_json::json!({"topic": "x"})).unwrap()),
        serde_json::json!({"topic": "x", "n": 3})
    );
    let wrong = given(serde_json::json!({"topc": "x", "n": "3"})).unwrap_err();
    let fields: Vec<&str> = wrong.iter().map(|wrong| wrong.field.as_str()).collect();
    assert_eq!(fields, ["inputs.topc", "inputs.topic", "inputs.n"]);
}

proptest! {
    /// Whatever stands in a file, there is an answer, and one that says why if it is no.
    #[test]
    fn any_text_is_answered(text in "[a-z:{}\\[\\]\\n \"'&*!|>%#-]{0,200}") {
        let Checked { definition, problems } = check(&text);
        prop_assert!(definition.is_some() || !problems.is_empty());
    }

    /// A sound file with one character changed is told right or wrong, never more.
    #[test]
    fn any_slip_is_answered(place in 0usize..3000, with in "[ -~\\n]") {
        for (_, text) in EXAMPLES {
            let mut letters: Vec<char> = text.chars().collect();
            let place = place % letters.len();
            letters[place] = with.chars().next().unwrap_or('x');
            let text: String = letters.into_iter().collect();
            let Checked { definition, problems } = check(&text);
            let lines = text.lines().count() as u32 + 1;
            prop_assert!(definition.is_some() || problems.iter().any(|p| p.severity == Severity::Error));
            prop_assert!(problems.iter().all(|p| (1..=lines).contains(&p.line)));
        }
    }
}

#[test]
fn what_nobody_could_send_is_not_waited_for() {
    let wait = |name: &str| steps(&format!("  a: {{ wait: {{ any: [ {{ signal: {name} }} ] }} }}"));
    problem(
        &wait("Board done"),
        "steps.a.wait.any[0].signal: the name of a signal must be 1 to 80",
    );
    for name in ["built", "24", "'{{ inputs.topic }}'"] {
        assert_eq!(shown(&check(&wait(name)).problems), "", "{name}");
    }
}

#[test]
fn triggers_are_checked_as_far_as_they_can_be() {
    let on = |on: &str| format!("name: a\non: {{ {on} }}\nsteps: {{ a: {{ set: 1 }} }}");
    problem(
        &on("cron: { at: '0 9 * * 1', zone: Europe/Berln }"),
        "on.cron.zone: there is no time zone `Europe/Berln`; did you mean `Europe/Berlin`",
    );
    problem(&on("cron: { at: '0 9 * * 1', zone: berlin }"), "did you mean `Europe/Berlin`?");
    problem(&on("cron: { at: '0 9 31 feb *' }"), "on.cron.at: \"0 9 31 feb *\" never happens");
    problem(&on("signal: { name: '{{ inputs.x }}' }"), "an expression is not allowed here");
    problem(&on("signal: { name: built, signal: x }"), "no signal has a field `signal`");
    problem(&on("signal: { name: boardroom-closed }"), "`boardroom-closed` needs `boardroom`");
    let needs = "name: a\ninputs: { topic: string }\non: { cron: { at: '0 9 * * 1' } }\n\
                 steps: { a: { set: 1 } }";
    problem(needs, "on.cron: warning: this cannot start a run: the input `topic` has no `default`");
    let early = "name: a\none_per: '{{ run.id }}'\nsteps: { a: { set: 1 } }";
    problem(early, "one_per: this is evaluated before the run starts");
}
