//! What a run may take, by example.

use serde_json::{Value, json};

use super::definitions::{EXAMPLES, sound};
use crate::workflow::{Asks, Counts, Foreseen, Span, Whom, foresee};

fn seen(text: &str, inputs: Value) -> Foreseen {
    let definition = sound(text);
    let inputs = definition.fill(inputs.as_object().unwrap()).unwrap();
    foresee(&definition, &inputs)
}

fn steps(steps: &str) -> String {
    format!(
        "name: a\ninputs: {{ n: {{ type: integer, default: 2 }}, list: {{ type: array, default: [x, y, z] }} }}\nsteps:\n{steps}"
    )
}

fn span(Span { typical, most }: Span) -> String {
    match typical == most {
        true => most.to_string(),
        false => format!("{typical}-{most}"),
    }
}

/// What happens at all, in a line.
fn counts(counts: Counts) -> String {
    let Counts { calls, rooms, requests, files, people, waits } = counts;
    let all = [
        ("calls", calls),
        ("rooms", rooms),
        ("requests", requests),
        ("files", files),
        ("people", people),
        ("waits", waits),
    ];
    let all = all.iter().filter(|(_, count)| count.most > 0);
    all.map(|(name, count)| format!("{name} {}", span(*count))).collect::<Vec<_>>().join(", ")
}

#[track_caller]
fn check(text: &str, expected: &str, notes: &[&str]) {
    let seen = seen(text, json!({}));
    assert_eq!(counts(seen.total), expected, "{seen:#?}");
    assert_eq!(seen.notes, notes);
}

fn shown(seen: &Foreseen) -> String {
    let asks = |asks: &Asks| {
        let whom = match &asks.whom {
            Some(Whom::Model(model)) => format!("model {model}"),
            Some(Whom::Tier(tier)) => format!("tier {tier}"),
            Some(Whom::Agent(agent)) => format!("agent {agent}"),
            None => "whoever is usual".to_owned(),
        };
        let Asks { calls, input_tokens, output_tokens, .. } = asks;
        let (calls, input, output) = (span(*calls), span(*input_tokens), span(*output_tokens));
        format!("    {calls} × {whom}: reads {input}, writes {output}\n")
    };
    let mut out = format!("all: {}\n", counts(seen.total));
    for step in &seen.steps {
        let (times, counts) = (span(step.times), counts(step.counts));
        out += &format!("{}:{} {} × {times}: {counts}\n", step.line, step.id, step.kind);
        step.asks.iter().for_each(|one| out += &asks(one));
    }
    seen.notes.iter().for_each(|note| out += &format!("note: {note}\n"));
    out
}

#[test]
fn the_examples_are_foreseen() {
    let inputs = [
        json!({ "topic": "Which queue?" }),
        json!({ "diff": "x".repeat(4_000) }),
        json!({ "question": "Shall we?", "people": ["ann", "ben"], "council": "guild" }),
        json!({}),
    ];
    let mut all = String::new();
    for ((name, text), inputs) in EXAMPLES.into_iter().zip(inputs) {
        all += &format!("# {name}\n{}\n", shown(&seen(text, inputs)));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn items_are_counted_where_the_inputs_say_how_many_there_are() {
    let each = |list: &str| {
        steps(&format!(
            "  q: {{ ask: {{ prompt: x }} }}\n  a:\n    foreach: {{ in: {list}, as: x }}\n    steps: {{ b: {{ ask: {{ prompt: '{{{{ x }}}}' }} }} }}"
        ))
    };
    check(&each("[1, 2]"), "calls 3", &[]);
    check(&each("'{{ inputs.list }}'"), "calls 4", &[]);
    check(&each("'{{ inputs.list | reverse | list }}'"), "calls 4", &[]);
    check(
        &each("'{{ steps.q.text | lines }}'"),
        "calls 5-257",
        &["The number of items in `a` is not known in advance: 4 are assumed as typical, 256 at \
             most."],
    );
}

#[test]
fn one_round_is_typical_and_all_of_them_with_all_attempts_are_the_most() {
    check(
        &steps(
            "  a:\n    repeat: { until: '{{ round.b.status == 200 }}', max: 5 }\n    steps: { b: { http: { get: 'https://x' }, retry: { times: 2 } }, c: { sleep: 1s } }\n  \
             d: { ask: { prompt: x }, retry: { times: 3 } }\n  e: { write: { path: a, text: b }, retry: { times: 3 } }",
        ),
        "calls 1-4, requests 1-15, files 1, waits 1-5",
        &[],
    );
}

#[test]
fn what_certainly_does_not_run_is_not_counted() {
    let text = steps(
        "  a: { ask: { prompt: x }, when: '{{ inputs.n > 5 }}' }\n  b: { ask: { prompt: x }, when: '{{ inputs.n == 2 }}', on_failure: c }\n  \
         c: { ask: { prompt: x } }\n  d: { ask: { prompt: x }, when: '{{ steps.b is not none }}' }",
    );
    check(&text, "calls 2-3", &[]);
}

#[test]
fn boards_and_discussions_are_counted_by_who_sits_there() {
    let board = |with: &str| steps(&format!("  a: {{ boardroom: {{ prompt: x, {with} }} }}"));
    check(&board("board: full-board"), "calls 7, rooms 1", &[]);
    check(&board("board: classic-triad, ballot: true"), "calls 7, rooms 1", &[]);
    check(&board("advisors: [critic, { person: ann }], ballot: true"), "calls 3, rooms 1", &[]);
    let unknown = "The number of advisors in `a` is not known in advance: 3 are assumed as typical, 16 at \
         most.";
    check(&board("board: ours"), "calls 4-17, rooms 1", &[unknown]);
    let talk = |with: &str| steps(&format!("  a: {{ discussion: {{ topic: x, {with} }} }}"));
    check(&talk("with: [ann, ben], rounds: 4"), "calls 6-9, rooms 1", &[]);
    check(&talk("with: [ann, ben], rounds: 1"), "calls 3, rooms 1", &[]);
}

#[test]
fn who_is_meant_is_told_as_far_as_it_is_known() {
    let text = steps(
        "  r: { whiteboard.register: { board: b, agent: '{{ inputs.list | first }}', model: m/x } }\n  \
         p: { whiteboard.post: { board: b, as: '{{ inputs.list | first }}', ask: x }, needs: [r] }\n  \
         v: { whiteboard.vote: { board: b, as: ben, ask: x }, needs: [p] }\n  \
         t: { ask: { prompt: x, tier: fast } }\n  u: { ask: { prompt: x, agent: '{{ steps.t.text }}' } }",
    );
    let seen = seen(&text, json!({}));
    let whom = seen.steps.iter().flat_map(|step| &step.asks).map(|asks| asks.whom.clone());
    assert_eq!(
        whom.collect::<Vec<_>>(),
        [
            Some(Whom::Model("m/x".into())),
            Some(Whom::Agent("ben".into())),
            Some(Whom::Tier("fast".into())),
            None
        ]
    );
    assert_eq!(seen.notes, ["Who answers `u` is not known in advance."]);
}

#[test]
fn what_cannot_be_counted_is_noted() {
    let text = steps(
        "  w: { workflow: { name: other } }\n  s: { approve: { who: '{{ steps.w.outputs }}' } }\n  \
         a:\n    foreach: { in: '{{ steps.w.outputs }}' }\n    steps:\n      b:\n        \
         foreach: { in: '{{ item }}', as: x }\n        steps: { c: { set: 1 } }",
    );
    let seen = seen(&text, json!({}));
    assert_eq!(counts(seen.total), "rooms 1, people 1-16");
    assert_eq!(seen.notes.len(), 5, "{:#?}", seen.notes);
    assert_eq!(seen.notes[0], "The cost of `other`, which `w` runs, is not included.");
    assert!(seen.notes[4].starts_with("A run can have at most 2000 steps"), "{:#?}", seen.notes);
}
