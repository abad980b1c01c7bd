//! A whole discussion over each wire, and with a program as a participant.

use plenary_providers::{CommandConfig, Output, ProviderConfig};
use plenary_scripted::{Recorded, Reply, Script, When};
use serde_json::{Value, json};

use super::{CONCLUDES, Talk, ann_and_bob, enough, next, with};
use crate::support::{Setup, TestApp, WIRES};

/// Bob is asked, then Ann, and then it is enough.
fn script() -> Script {
    let turn = |text: &str| Reply::text(text).usage(100, 10);
    Script::new(Reply::canned())
        .when(When::model("lead").nth(1), next("bob", "What do you drink?").usage(100, 10))
        .when(When::model("lead").nth(2), next("ann", "And you?").usage(100, 10))
        .when(When::model("lead").nth(3), enough().usage(100, 10))
        .when(When::model("lead").nth(4), turn("They drink both."))
        .when(When::model("ann"), turn("Tea.").reasoning("Hm. Leaves."))
        .when(When::model("bob"), turn("Coffee."))
}

fn on(wire: &str) -> Value {
    let seat = |name: &str| {
        json!({ "name": name, "model": format!("{wire}/{}", name.to_lowercase()),
            "persona": format!("You are {name} through and through.") })
    };
    with(
        ann_and_bob(),
        json!({ "facilitator": seat("Lead"), "participants": [seat("Ann"), seat("Bob")],
            "maxRounds": 5, "context": [{ "name": "menu.txt", "text": "Both are there." }] }),
    )
}

/// An entry without what differs from run to run.
fn plain(mut entry: Value) -> Value {
    let fields = entry.as_object_mut().unwrap();
    assert!(fields.remove("at").unwrap().is_string());
    fields.remove("latencyMs");
    fields.remove("firstTextMs");
    entry
}

#[tokio::test(flavor = "multi_thread")]
async fn a_discussion_goes_over_every_wire() {
    for wire in WIRES {
        let app = TestApp::start(script()).await;
        let talk = Talk::create(&app, on(wire)).await;
        let view = talk.until_status("concluded").await;
        let usage = json!({ "inputTokens": 100, "outputTokens": 10 });
        let decision = |number: u32, round: u32, question: Value, decision: Value| {
            json!({ "number": number, "kind": "decision", "status": "done", "round": round,
                "participantId": "lead", "agentName": "Lead", "role": "moderator",
                "question": question, "decision": decision, "model": format!("{wire}/lead"),
                "usage": usage })
        };
        let turn = |number: u32, round: u32, id: &str, question: &str, said: &str| {
            let name = if id == "ann" { "Ann" } else { "Bob" };
            json!({ "number": number, "kind": "turn", "status": "done", "round": round,
                "participantId": id, "agentName": name, "role": "participant",
                "question": question, "content": said, "model": format!("{wire}/{id}"),
                "usage": usage })
        };
        let goes_on = |id: &str| {
            json!({ "decision": "continue", "nextParticipantId": id, "how": "parsed",
                "reasoning": format!("{id} knows.") })
        };
        let ends =
            json!({ "decision": "synthesize", "how": "parsed", "reasoning": "All is said." });
        let mut ended = decision(5, 2, Value::Null, ends);
        ended.as_object_mut().unwrap().remove("question");
        let expected = [
            decision(1, 0, json!("What do you drink?"), goes_on("bob")),
            turn(2, 1, "bob", "What do you drink?", "Coffee."),
            decision(3, 1, json!("And you?"), goes_on("ann")),
            with(turn(4, 2, "ann", "And you?", "Tea."), json!({ "thinking": "Hm. Leaves." })),
            ended,
        ];
        let found: Vec<Value> = talk.entries().await.into_iter().map(plain).collect();
        assert_eq!(found, expected, "{wire}");
        assert_eq!(
            (&view["conclusion"], &view["degraded"]),
            (&json!("They drink both."), &Value::Null)
        );
        let actual = &view["actual"];
        assert_eq!(
            (&actual["calls"], &actual["inputTokens"], &actual["outputTokens"]),
            (&json!(6), &json!(600), &json!(60)),
            "{wire}"
        );
        assert_eq!(
            (&view["moderator"]["calls"], &view["participants"][0]["calls"]),
            (&json!(4), &json!(1))
        );
        assert_requests(wire, &app.scripted.requests());
    }
}

/// Decisions are asked for by a schema, words are not; everybody is told what they need.
fn assert_requests(wire: &str, requests: &[Recorded]) {
    let models: Vec<&str> = requests.iter().map(|request| request.model.as_str()).collect();
    assert_eq!(models, ["lead", "bob", "lead", "ann", "lead", "lead"], "{wire}");
    let schemas: Vec<Option<&Value>> = requests.iter().map(|one| schema(wire, &one.body)).collect();
    let given: Vec<bool> = schemas.iter().map(Option::is_some).collect();
    assert_eq!(given, [true, false, true, false, true, false], "{wire}");
    let allowed =
        |nth: usize, field: &str| schemas[nth].unwrap()["properties"][field]["enum"].clone();
    assert_eq!(allowed(0, "decision"), json!(["continue"]), "{wire}");
    assert_eq!(allowed(0, "nextParticipantId"), json!(["ann", "bob"]), "{wire}");
    assert_eq!(allowed(2, "decision"), json!(["continue", "synthesize"]), "{wire}");
    assert_eq!(allowed(2, "nextParticipantId"), json!(["ann", "bob", "none"]), "{wire}");
    for request in requests {
        let name = match request.model.as_str() {
            "lead" => "Lead",
            "ann" => "Ann",
            _ => "Bob",
        };
        for part in ["Tea or coffee?", "Both are there.", &format!("You are {name} through")] {
            assert!(request.prompt.contains(part), "{wire}: {part} is not in {}", request.prompt);
        }
    }
    // What was said is heard by whoever comes later.
    for (nth, part, is_there) in [
        (1, "What do you drink?", true),
        (1, "And you?", false),
        (2, "Coffee.", true),
        (3, "Coffee.", true),
        (3, "Leaves", false),
        (4, "Leaves", false),
        (5, "Tea.", true),
        (5, CONCLUDES, true),
    ] {
        assert_eq!(requests[nth].prompt.contains(part), is_there, "{wire}: {nth} {part}");
    }
}

/// Where each wire wants it.
fn schema<'a>(wire: &str, body: &'a Value) -> Option<&'a Value> {
    body.pointer(match wire {
        "ollama" => "/format",
        "openai" => "/response_format/json_schema/schema",
        "anthropic" => "/output_config/format/schema",
        _ => "/generationConfig/responseJsonSchema",
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_takes_part_and_another_leads() {
    let setup = Setup {
        more: |_| {
            let shell = |name: &str, script: &str| {
                let command = CommandConfig::new("sh", &["-c", script], Output::Text);
                ProviderConfig::command(name, command)
            };
            vec![shell("speaks", SPEAKS), shell("leads", LEADS)]
        },
        ..Setup::default()
    };
    let app = setup.start(Script::new(Reply::canned())).await;
    let seat = |name: &str, model: &str| json!({ "name": name, "model": model });
    let body = with(
        ann_and_bob(),
        json!({ "facilitator": seat("Lead", "leads/default"), "maxRounds": 1,
            "participants": [seat("Shell", "speaks/default")] }),
    );
    let talk = Talk::create(&app, body).await;
    let view = talk
        .until(|view| ["concluded", "failed"].contains(&view["status"].as_str().unwrap()))
        .await;
    let expected = [
        "1 decision done Lead: repaired continue shell",
        "2 turn done Shell: It was asked.",
        "3 decision done Lead: rule synthesize -",
    ];
    assert_eq!(talk.lines().await, expected, "{view}");
    assert_eq!(view["conclusion"], "A shell concludes.");
    assert_eq!(app.scripted.requests().len(), 0);
}

/// Says whether the question has come to it.
const SPEAKS: &str = "grep -q 'Why a shell?' && echo 'It was asked.' || echo 'What?'";

/// Some agents cannot be held to a schema, and talk around it.
const LEADS: &str = r#"grep -q 'Write the conclusion' && echo 'A shell concludes.' ||
    echo 'I think: {"decision": "continue", "nextParticipantId": "shell", "question": "Why a shell?", "reasoning": "It is there."}'"#;
