//! Runs of workflows by tools.

use serde_json::{Value, json};

use super::{ADR, deciding, file, of, store};
use crate::mcp::Client;
use crate::support::{TestApp, canned};

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_record_comes_out_of_tools() {
    let app = TestApp::start(deciding()).await;
    let (client, _) = Client::start(&app, None).await;
    let topic = json!({ "source": ADR, "inputs": { "topic": "Where do jobs wait?" } });
    let run = client.good("workflow_run", topic).await;
    assert_eq!(
        (&run["workflow"], &run["title"]),
        (&json!("adr"), &json!("ADR: Where do jobs wait?"))
    );
    let mut wait = json!({ "id": run["id"], "seconds": 50 });
    let waited = loop {
        let waited = client.good("session_wait", wait.clone()).await;
        if waited["over"] == true {
            break waited;
        }
        wait["seen"] = waited["seen"].clone();
    };
    assert_eq!(waited["status"], "done", "{waited}");
    let status = client.good("workflow_status", json!({ "id": run["id"] })).await;
    assert_eq!(status["outputs"]["decision"], "Use a queue\n\nIt is simple.", "{status:#}");
    assert_eq!(status["outputs"]["outcome"], "accepted", "{status:#}");
    let dissent = status["outputs"]["dissent"].as_array().unwrap();
    let is_challenge = |one: &&Value| one["kind"] == "challenge" && one["post"] == "operator/1";
    assert!(dissent.iter().any(|one| is_challenge(&one)), "{status:#}");
    assert_eq!(of(&status, "propose")["items"], json!({ "ended": 3, "total": 3 }));
    // Three posts, three checks, three challenges and three ballots, each asked once.
    assert_eq!(app.scripted.requests().len(), 12);
    let board = of(&status, "board")["output"]["board"].clone();
    let board = client.good("whiteboard_state", json!({ "board_id": board })).await;
    assert_eq!(board["phase"], "archived", "{board:#}");
    let result = client.good("session_get", json!({ "id": run["id"], "detail": "full" })).await;
    assert!(result.to_string().contains("Use a queue"), "{result}");
    store(&app, ADR).await;
    let again = json!({ "workflow": "adr", "inputs": { "topic": "And now?" } });
    let again = client.good("workflow_run", again).await;
    assert_eq!(again["title"], "ADR: And now?", "{again}");
    let error = client.bad("workflow_run", json!({ "workflow": "adrs" })).await;
    assert_eq!(error["code"], "not-found", "{error}");
    let error =
        client.bad("workflow_run", json!({ "source": "name: a\nsteps: { a: { sett: 1 } }" })).await;
    assert_eq!(error["code"], "invalid-input", "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_is_sent_and_a_person_decides_by_tools() {
    let app = TestApp::start(canned()).await;
    let (client, _) = Client::start(&app, None).await;
    let source = file(
        "waits",
        "  a: { wait: { any: [ { signal: built, id: 24 } ] } }\n  sign: { approve: { who: [ann, ben], show: 'Ship {{ steps.a.outcome }}?' } }",
    );
    let run = client.good("workflow_run", json!({ "source": source })).await;
    let id = run["id"].as_str().unwrap();
    let own = super::Run { app: &app, id: id.to_owned() };
    own.until_running("a").await;
    let sent =
        client.good("workflow_signal", json!({ "name": "built", "fields": { "id": 25 } })).await;
    assert_eq!(sent["nearly"], json!([{ "run": id, "step": "a", "differs": ["id"] }]), "{sent}");
    let sent =
        client.good("workflow_signal", json!({ "name": "built", "fields": { "id": "24" } })).await;
    assert_eq!(sent["matched"], json!([{ "run": id, "step": "a" }]), "{sent}");
    own.until_running("sign").await;
    let status = client.good("workflow_status", json!({ "id": id })).await;
    assert_eq!(status["waits_for"], json!(["ann", "ben"]), "{status:#}");
    assert_eq!(of(&status, "sign")["approval"]["show"], "Ship came?");
    let seats = app.post(&own.at("/seats"), &json!({})).await.1;
    let token = seats["data"]["seatTokens"][0]["seatToken"].clone();
    let decide = |decision: &str, reason: &str| json!({ "id": id, "step": "sign", "decision": decision, "reason": reason, "agent_token": token });
    let error = client.bad("workflow_approve", decide("rejected", "")).await;
    assert_eq!(error["code"], "invalid-input", "{error}");
    let told = client.good("workflow_approve", decide("rejected", "Not today.")).await;
    assert_eq!(told["status"], "failed", "{told}");
    let status = client.good("workflow_status", json!({ "id": id })).await;
    assert_eq!(of(&status, "sign")["reason"], "ann rejected it: Not today.");
}
