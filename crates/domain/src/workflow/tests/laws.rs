//! Whatever happens in whatever order, a run is lawful and comes to its end.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::story::{Run, answer, failed, stopped};
use crate::call::{FailureKind, Outcome, Usage, Work};
use crate::errand::Errand;
use crate::form::{Form, Report};
use crate::ids::ModelName;
use crate::prices::Noted;
use crate::workflow::gives::Ended;
use crate::workflow::{
    Checked, Decision, End, Event, Kind, OnFailure, Place, Stage, Status, Step, Took, check,
};

/// A step of a generated workflow. Numbers are taken modulo what there is.
#[derive(Clone, Debug)]
struct Made {
    kind: u8,
    needs: Vec<u8>,
    any: bool,
    names: u8,
    when: u8,
    on_failure: u8,
}

fn made() -> impl Strategy<Value = Made> {
    let needs = prop::collection::vec(any::<u8>(), 0..3);
    (0u8..15, needs, any::<bool>(), any::<u8>(), 0u8..5, 0u8..4).prop_map(
        |(kind, needs, any, names, when, on_failure)| Made {
            kind,
            needs,
            any,
            names,
            when,
            on_failure,
        },
    )
}

/// A file that passes the check: steps need and name only what stands before them.
fn file(steps: &[Made], with_finally: bool, budget: Option<u16>) -> String {
    let mut text = "name: a\ninputs: { list: { type: array, default: [x, y, z] }, yes: { type: boolean, default: true } }\nsteps:\n".to_owned();
    for (number, step) in steps.iter().enumerate() {
        let earlier = |pick: u8| format!("s{}", pick as usize % number.max(1));
        let named = match number {
            0 => "nothing".to_owned(),
            _ => format!("{{{{ steps.{} | tojson }}}}", earlier(step.names)),
        };
        let kind = match step.kind {
            0 => format!("set: \"{named}\""),
            1 => format!("ask: {{ prompt: \"{named}\" }}\n    retry: {{ times: 1, wait: 5s }}"),
            2 => "sleep: 10m".to_owned(),
            3 => format!(
                "http: {{ post: 'https://x', json: \"{named}\" }}\n    retry: {{ times: 2 }}\n    timeout: 30s"
            ),
            4 => "approve: { who: [ann, ben, cem], need: 2, deadline: 1d }".to_owned(),
            5 if step.any => "wait: { any: [ { signal: built, id: 1 } ] }".to_owned(),
            5 => "wait: { all: [ { signal: built, id: 1 }, { signal: sent } ], timeout: 1h }"
                .to_owned(),
            6 => format!("boardroom: {{ prompt: \"{named}\" }}\n    deadline: 2h"),
            7 => format!(
                "foreach: {{ in: '{{{{ inputs.list }}}}', as: who{number}, parallel: 2, on_failure: {} }}\n    steps:\n      \
                 f{number}: {{ ask: {{ prompt: '{{{{ who{number} }}}} {{{{ index }}}}' }} }}\n      \
                 g{number}: {{ set: '{{{{ steps.f{number} }}}}', needs: {{ f{number}: any }} }}",
                if step.any { "continue" } else { "stop" }
            ),
            8 => format!(
                "repeat: {{ until: '{{{{ round.number >= 2 }}}}', max: 3 }}\n    steps:\n      \
                 h{number}: {{ council.post: {{ council: c, as: x, body: '{{{{ round.number }}}}' }} }}"
            ),
            9 => format!(
                "repeat: {{ until: \"{{{{ round.k{number}.decision == 'approved' }}}}\", max: 2, at_max: go_on }}\n    steps:\n      \
                 k{number}: {{ approve: {{ who: [ann], deadline: 1h }} }}"
            ),
            10 => "whiteboard.open: { board_id: b, topic: t }".to_owned(),
            12 => "council.open: { name: c, charter: t, members: [x] }".to_owned(),
            13 => "workflow: { name: w }\n    timeout: 1m\n    retry: { times: 1 }".to_owned(),
            14 => "foreach: { in: [1, 2, 3] }\n    steps:\n      q{number}: { discussion: { topic: t } }"
                .replace("{number}", &number.to_string()),
            _ => format!(
                "foreach: {{ in: [1, 2] }}\n    steps:\n      \
                 m{number}:\n        repeat: {{ until: '{{{{ round.n{number} }}}}', max: 2 }}\n        steps:\n          \
                 n{number}: {{ set: '{{{{ inputs.yes }}}}' }}"
            ),
        };
        text += &format!("  s{number}:\n    {kind}\n");
        let needs: BTreeSet<String> =
            step.needs.iter().filter(|_| number > 0).map(|need| earlier(*need)).collect();
        if !needs.is_empty() {
            let how = if step.any { "any" } else { "done" };
            let needs: Vec<String> =
                needs.into_iter().map(|need| format!("{need}: {how}")).collect();
            text += &format!("    needs: {{ {} }}\n", needs.join(", "));
        }
        match step.when {
            0 => text += "    when: '{{ not inputs.yes }}'\n",
            1 => text += "    when: '{{ inputs.yes }}'\n",
            _ => {}
        }
        match step.on_failure {
            0 => text += "    on_failure: continue\n",
            1 if number + 1 < steps.len() => text += &format!("    on_failure: s{}\n", number + 1),
            _ => {}
        }
    }
    if with_finally {
        text += "finally:\n  z: { http: { post: 'https://{{ run.status }}' }, timeout: 1m }\n";
    }
    if let Some(tokens) = budget {
        text += &format!("budget: {{ tokens: {} }}\n", 1000 + u32::from(tokens % 9000));
    }
    text + "outputs:\n  first: '{{ steps.s0 }}'\n"
}

fn took() -> Took {
    let usage = Usage { input_tokens: Some(7), ..Usage::default() };
    Took { models: [(ModelName::new("m", "x"), usage)].into(), prices: Noted::default() }
}

/// What whoever carries out an errand would bring.
fn brought(run: &Run, errand: &Errand) -> Value {
    match errand {
        Errand::Look { .. } => json!({ "model": "m/x", "posts": [] }),
        Errand::Open { .. } => json!({ "id": format!("s{}", run.log.len()) }),
        Errand::Tell { act: "whiteboard.open" | "council.open", .. } => {
            json!({ "id": format!("b{}", run.log.len()) })
        }
        Errand::Watch { .. } | Errand::Stop { .. } => {
            Ended { status: "done".into(), took: Some(took()), given: Ok(json!({ "status": 200 })) }
                .told()
        }
        Errand::Tell { .. } | Errand::Request { .. } | Errand::Write { .. } => {
            json!({ "status": 200 })
        }
        Errand::Await { signals, .. } => signals.iter().cloned().map(Value::Object).collect(),
    }
}

/// Something happens. What is not possible now is refused and changes nothing.
fn happen(run: &mut Run, what: u8, which: u8) {
    run.tick();
    let due = run.state.due();
    let pick = due.get(which as usize % due.len().max(1)).cloned();
    match (what % 12, pick) {
        (0, _) => {
            let place = Place(format!("s{}", which % 6).into());
            let _ = run.decide(
                &place.0,
                ["ann", "ben", "cem", "eve"][which as usize % 4],
                Decision::Approved,
                "",
                json!({}),
            );
        }
        (1, _) => {
            let places: Vec<Place> = run.state.steps.keys().cloned().collect();
            let place = places
                .get(which as usize % places.len().max(1))
                .map_or(String::new(), |place| place.to_string());
            let decision =
                [Decision::Approved, Decision::Rejected, Decision::Changes][which as usize % 3];
            let _ = run.decide(&place, "ann", decision, "because", json!({}));
        }
        (2, _) if which < 12 => {
            let _ = run.try_cancel();
        }
        (3, _) => {
            // Late outcomes of calls that are not due any more.
            for id in ["ask/s0#1", "do/s1#7", "finally", "nonsense"] {
                if !run.due().iter().any(|due| due == id) {
                    let _ = run.try_settle(id, stopped());
                }
            }
        }
        (4 | 5, Some(call)) => {
            let kind = if which.is_multiple_of(2) {
                FailureKind::Unreachable
            } else {
                FailureKind::Refused
            };
            let _ = run.try_settle(&call.id.0, failed(kind));
        }
        (_, Some(call)) => go(run, &call.id.0),
        (_, None) => {}
    }
}

/// A call comes to a good end.
fn go(run: &mut Run, call: &str) {
    let work = run.state.due().into_iter().find(|due| due.id.0 == call).map(|due| due.work);
    match work {
        Some(Work::Sleep { .. }) => run.elapse(call),
        Some(Work::Ask) => run.settle(call, answer("It is so.")),
        Some(Work::Errand) => {
            let errand = run.errand(call).expect("an errand that is due is known");
            let value = brought(run, &errand);
            run.settle(call, Outcome::Brought(value));
        }
        None => {}
    }
}

/// What holds in every state.
fn lawful(run: &Run) -> Result<(), TestCaseError> {
    let due = run.state.due();
    let is_over = matches!(run.state.stage, Stage::Ended { .. });
    prop_assert!(
        !due.is_empty() || !run.state.waits_for().is_empty() || is_over,
        "nothing will ever happen: {:#?}",
        run.state
    );
    // Sessions never have more to spend than the run.
    let ledger = &run.state.ledger;
    let most = ledger.budget().and_then(|budget| budget.most.tokens);
    prop_assert!(most.is_none_or(|most| ledger.promised().tokens <= most), "{ledger:?}");
    let ids: BTreeSet<&str> = due.iter().map(|call| call.id.0.as_str()).collect();
    prop_assert_eq!(ids.len(), due.len(), "calls have ids of their own");
    for call in &due {
        let is_known = match call.work {
            Work::Ask => run.state.ask(&call.id).is_some(),
            Work::Errand => run.state.errand(&call.id).is_some(),
            Work::Sleep { .. } => true,
        };
        prop_assert!(is_known, "{call:?}");
    }
    let is_main = |place: &Place| !place.0.starts_with('z');
    let (mut begun, mut ended, mut last, mut finally) =
        (BTreeSet::new(), BTreeSet::new(), false, false);
    for event in &run.log {
        match event {
            Event::StepBegan { place, .. } => {
                prop_assert!(begun.insert(place.clone()), "{place} begins twice");
                prop_assert!(!ended.contains(place), "{place} begins after its end");
                prop_assert!(!last && (!finally || !is_main(place)), "{place} begins too late");
                let step = run.state.definition.step(place.id()).expect("it is in the file");
                for need in &step.needs {
                    let other = match place.around() {
                        Some((outer, number)) => outer.inside(number, &need.step),
                        None => Place::top(&need.step),
                    };
                    prop_assert!(ended.contains(&other), "{place} begins before {other} has ended");
                    let blocks = matches!(
                        run.state.status_of(&other),
                        Some(Status::Failed { .. } | Status::Cancelled { .. })
                    );
                    prop_assert!(need.any || !blocks, "{place} begins though {other} blocks it");
                }
            }
            Event::StepDone { place, .. }
            | Event::StepSkipped { place, .. }
            | Event::StepFailed { place, .. }
            | Event::StepCancelled { place, .. } => {
                prop_assert!(ended.insert(place.clone()), "{place} ends twice");
                prop_assert!(!last, "{place} ends after the run");
            }
            Event::FinallyBegan { .. } => {
                prop_assert!(!finally && !last);
                finally = true;
            }
            Event::Ended { .. } => {
                prop_assert!(!last, "the run ends twice");
                last = true;
            }
            Event::Begun { .. }
            | Event::Granted { .. }
            | Event::SeatFound { .. }
            | Event::Answered { .. }
            | Event::Decided { .. }
            | Event::RoundEnded { .. }
            | Event::AttemptFailed { .. }
            | Event::AttemptBegan { .. }
            | Event::CancelAsked { .. } => prop_assert!(!last, "{event:?}"),
            Event::SessionOpened { .. }
            | Event::NotOpened { .. }
            | Event::CutOff { .. }
            | Event::SessionSpent { .. }
            | Event::SessionEnded { .. } => {}
        }
    }
    // What has ended leaves nothing behind.
    for (place, step) in &run.state.steps {
        let is_running = matches!(step.status, Status::Running(_));
        let may_run = match &run.state.stage {
            Stage::Running => is_main(place),
            Stage::Finally { .. } => !is_main(place),
            Stage::Ended { .. } => false,
        };
        prop_assert!(!is_running || may_run, "{place} is under way: {:?}", run.state.stage);
    }
    // A run is done only if every failure was somebody's matter.
    if let Stage::Ended { ending, .. } = &run.state.stage {
        let is_unhandled = |step: &&Step| {
            let failed =
                matches!(run.state.status_of(&Place::top(&step.id)), Some(Status::Failed { .. }));
            failed && step.on_failure == OnFailure::Stop
        };
        let all = run.state.definition.steps.iter().chain(&run.state.definition.finally);
        let unhandled = all.filter(is_unhandled).count();
        prop_assert!(unhandled == 0 || ending.status != End::Done, "{ending:?}");
    }
    // What the check has passed does not fail for what it could have seen.
    for (place, step) in &run.state.steps {
        if let Status::Failed { why, .. } = &step.status {
            prop_assert!(!why.starts_with("line "), "{place}: {why}");
        }
        let parallel = match run.state.definition.step(place.id()).map(|step| &step.kind) {
            Some(Kind::Foreach(foreach)) => foreach.parallel as usize,
            Some(_) | None => continue,
        };
        let prefix = format!("{place}/");
        let items = run.state.steps.iter().filter(|(inner, step)| {
            inner.0.starts_with(&prefix) && matches!(step.status, Status::Running(_))
        });
        let items: BTreeSet<&str> =
            items.filter_map(|(inner, _)| inner.0[prefix.len()..].split('/').next()).collect();
        prop_assert!(items.len() <= parallel, "{place} has {} items under way", items.len());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn any_order_of_events_is_lawful_and_comes_to_an_end(
        steps in prop::collection::vec(made(), 1..7),
        with_finally in any::<bool>(),
        budget in any::<Option<u16>>(),
        happens in prop::collection::vec((any::<u8>(), any::<u8>()), 0..40),
    ) {
        let text = file(&steps, with_finally, budget);
        let Checked { definition, problems } = check(&text);
        prop_assert!(definition.is_some(), "{problems:#?}\n{text}");
        let mut run = Run::begin(&text);
        lawful(&run)?;
        for (what, which) in happens {
            happen(&mut run, what, which);
            lawful(&run)?;
        }
        // From anywhere, good outcomes lead to the end.
        for _ in 0..500 {
            let due = run.state.due();
            let errand = due.iter().find(|call| !matches!(call.work, Work::Sleep { .. }));
            if let Some(call) = errand.map(|call| call.id.0.clone()) {
                go(&mut run, &call);
            } else if let Some(place) = run.state.steps.keys().find(|place| !run.state.asked(place).is_empty()).cloned() {
                let who = run.state.asked(&place)[0].clone();
                run.decide(&place.0, &who, Decision::Approved, "", json!({})).expect("who is asked may answer");
            } else if let Some(call) = due.first().map(|call| call.id.0.clone()) {
                go(&mut run, &call);
            } else {
                break;
            }
            lawful(&run)?;
        }
        prop_assert!(matches!(run.state.stage, Stage::Ended { .. }), "{:#?}\n{text}", run.state.stage);
        prop_assert!(run.state.due().is_empty() && run.state.is_over());
        prop_assert_eq!(run.state.ledger.promised().tokens, 0, "{}", text);
    }
}
