//! People decide: who may, how many have to, and until when.

use std::time::Duration;

use plenary_server::Access;
use serde_json::{Value, json};

use super::{Run, file, of, said};
use crate::mcp::Client;
use crate::support::{SAFETY, TestApp, answer, canned};

fn approved(by: &str) -> Value {
    json!({ "decision": "approved", "by": by })
}

#[track_caller]
fn refused(told: &(u16, Value), status: u16, code: &str) {
    assert_eq!((told.0, &told.1["error"]["code"]), (status, &json!(code)), "{}", told.1);
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_until_the_deadline_rejects() {
    let (app, clock) = TestApp::with_clock(canned()).await;
    let source = file(
        "sign",
        "  sign: { approve: { who: [ann], deadline: 1h } }\n  after: { set: 1, needs: [sign] }",
    );
    let run = Run::begin(&app, &source, json!({})).await;
    let view = run.until_running("sign").await;
    assert_eq!(
        (&view["waitsFor"], &of(&view, "sign")["reason"]),
        (&json!(["ann"]), &json!("waiting for a person"))
    );
    let hour = Duration::from_secs(3600);
    let asleep = clock.until_asleep(1, hour..=hour);
    tokio::time::timeout(SAFETY, asleep).await.unwrap();
    clock.advance(hour);
    let view = run.ended().await;
    assert_eq!(view["status"], "failed", "{view:#}");
    let sign = of(&view, "sign");
    assert_eq!(sign["reason"], "the clock rejected it: Nobody decided in time.");
    assert_eq!(sign["output"]["by"], json!(["the clock"]), "{sign:#}");
    assert_eq!(of(&view, "after")["status"], "waiting");
    refused(&run.decide("sign", &approved("ann")).await, 409, "not-now");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_of_three_approve_and_the_starter_is_none_of_them() {
    let app = TestApp::start(canned()).await;
    let source = file(
        "sign",
        "  sign: { approve: { who: [ann, ben, cyd, dan], need: 2, show: Ship it?, fields: { note: { type: string, default: '' } } } }",
    );
    let new = json!({ "source": source, "starter": "Ann" });
    let (status, begun) = app.post("/api/runs", &new).await;
    assert_eq!(status, 201, "{begun}");
    let run = Run { app: &app, id: begun["data"]["id"].as_str().unwrap().to_owned() };
    let view = run.until_running("sign").await;
    assert_eq!(view["waitsFor"], json!(["ben", "cyd", "dan"]), "{view:#}");
    assert_eq!(of(&view, "sign")["approval"]["show"], "Ship it?");
    refused(&run.decide("sign", &approved("ann")).await, 403, "forbidden");
    refused(&run.decide("sign", &approved("eve")).await, 403, "forbidden");
    refused(&run.decide("sign", &json!({ "decision": "approved" })).await, 422, "invalid-input");
    refused(
        &run.decide("sign", &json!({ "decision": "rejected", "by": "ben" })).await,
        422,
        "invalid-input",
    );
    refused(&run.decide("nothing", &approved("ben")).await, 404, "not-found");
    let view = run.approve("sign", "ben").await;
    let decided = of(&view, "sign")["approval"]["decided"][0].clone();
    assert_eq!((&decided["by"], &view["waitsFor"]), (&json!("ben"), &json!(["cyd", "dan"])));
    refused(&run.decide("sign", &approved("BEN")).await, 409, "not-now");
    run.approve("sign", "dan").await;
    let view = run.ended().await;
    assert_eq!(view["status"], "done", "{view:#}");
    assert_eq!(of(&view, "sign")["output"]["by"], json!(["ben", "dan"]));
    assert_eq!(view["waitsFor"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_item_of_a_foreach_is_approved_by_itself() {
    let app = TestApp::start(canned()).await;
    super::council(&app, "guild").await;
    let source = file(
        "each",
        "  each:\n    foreach: { in: [tea, cake], as: what, on_failure: continue }\n    steps:\n      sign: { approve: { who: [ann, ben], show: '{{ what }}' } }\n      tell: { council.post: { council: guild, as: secretary, body: 'Yes to {{ what }}.' }, needs: [sign] }",
    );
    let run = Run::begin(&app, &source, json!({})).await;
    let view = run.until_running("each/2/sign").await;
    assert_eq!(of(&view, "each/2/sign")["approval"]["show"], "cake");
    let reject = json!({ "decision": "rejected", "by": "ben", "reason": "Too sweet." });
    let (status, body) = run.decide("each/2/sign", &reject).await;
    assert_eq!(status, 200, "{body}");
    run.approve("each/1/sign", "ann").await;
    let view = run.ended().await;
    assert_eq!(view["status"], "done", "{view:#}");
    let items = of(&view, "each")["output"].clone();
    assert_eq!((&items[0]["status"], &items[1]["status"]), (&json!("done"), &json!("failed")));
    assert_eq!(items[1]["error"], "`sign` failed: ben rejected it: Too sweet.");
    assert_eq!(said(&app, "guild").await, ["secretary: Yes to tea."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_approved_before_a_restart_counts_after_it() {
    let app = TestApp::start(canned()).await;
    let source = file(
        "sign",
        "  sign: { approve: { who: [ann, ben], need: 2 } }\n  after: { set: '{{ steps.sign.by }}' }",
    );
    let run = Run::begin(&app, &source, json!({})).await;
    run.until_running("sign").await;
    run.approve("sign", "ann").await;
    let (_, seats) = app.post(&run.at("/seats"), &json!({})).await;
    let id = run.id;
    let app = app.restarted().await;
    app.engine.resume_all().await.unwrap();
    let run = Run { app: &app, id };
    assert_eq!(run.view().await["waitsFor"], json!(["ben"]));
    refused(&run.decide("sign", &approved("ann")).await, 409, "not-now");
    // The token that was handed out before is as good as ever.
    let ben = token(&seats, "ben");
    let (status, told) =
        app.post_as(&ben, &run.decision("sign"), &json!({ "decision": "approved" })).await;
    assert_eq!(status, 200, "{told}");
    let view = run.ended().await;
    assert_eq!(of(&view, "after")["output"], json!(["ann", "ben"]), "{view:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn decided_at_the_same_moment_from_two_places_counts_once() {
    let app = TestApp::start(canned()).await;
    super::council(&app, "guild").await;
    let source = file(
        "sign",
        "  sign: { approve: { who: [ann, ben] } }\n  tell: { council.post: { council: guild, as: secretary, body: Decided. }, needs: [sign] }",
    );
    let run = Run::begin(&app, &source, json!({})).await;
    run.until_running("sign").await;
    let decide = |by: &'static str| {
        let (at, app) = (run.decision("sign"), &app);
        async move { app.post(&at, &approved(by)).await }
    };
    let told = tokio::join!(decide("ann"), decide("ann"), decide("ben"), decide("ben"));
    let mut statuses = [told.0.0, told.1.0, told.2.0, told.3.0];
    statuses.sort();
    assert_eq!(statuses, [200, 409, 409, 409]);
    assert_eq!(run.ended().await["status"], "done");
    assert_eq!((run.count("decided", "sign").await, run.count("stepDone", "sign").await), (1, 1));
    assert_eq!(said(&app, "guild").await, ["secretary: Decided."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_is_repeated_under_its_key() {
    let app = TestApp::start(canned()).await;
    let source = file("sign", "  sign: { approve: { who: [ann, ben], need: 2 } }");
    let run = Run::begin(&app, &source, json!({})).await;
    run.until_running("sign").await;
    for _ in 0..2 {
        let (status, told) = app.post_with_key(&run.decision("sign"), "k", &approved("ann")).await;
        assert_eq!(status, 200, "{told}");
    }
    assert_eq!(run.count("decided", "sign").await, 1);
}

fn token(seats: &Value, person: &str) -> String {
    let all = seats["data"]["seatTokens"].as_array().unwrap_or_else(|| panic!("{seats}"));
    let own = all.iter().find(|seat| seat["person"] == person);
    own.unwrap_or_else(|| panic!("{seats}"))["seatToken"].as_str().unwrap().to_owned()
}

/// A request of whoever comes in with this, and perhaps shows an agent's or a person's token.
async fn asks(
    app: &TestApp,
    (access, shows): (&str, &str),
    path: &str,
    body: Value,
) -> (u16, Value) {
    let mut request = app.http.post(format!("{}{path}", app.url)).bearer_auth(access);
    if !shows.is_empty() {
        request = request.header("agent-token", shows);
    }
    answer(request.json(&body)).await
}

async fn guarded() -> TestApp {
    let tokens = ["one", "two", "three"].map(str::to_owned).to_vec();
    TestApp::with_access(canned(), Access { tokens, ..Access::default() }).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_decides_cancels_and_forks_nothing_of_anothers_run() {
    let app = guarded().await;
    let source = file(
        "sign",
        "  before: { set: 1 }\n  sign: { approve: { who: [ann, ben] }, needs: [before] }",
    );
    let begun = asks(&app, ("two", ""), "/api/runs", json!({ "source": source })).await;
    assert_eq!(begun.0, 201, "{}", begun.1);
    let id = begun.1["data"]["id"].as_str().unwrap().to_owned();
    let at = |rest: &str| format!("/api/runs/{id}{rest}");
    let (decision, stop) = (at("/steps/sign/approve"), format!("/api/sessions/{id}/stop"));
    let yes = || json!({ "decision": "approved" });
    for access in ["two", "three"] {
        // Nobody decides under a name that they only say, whoever started the run.
        refused(&asks(&app, (access, ""), &decision, approved("ann")).await, 403, "not-yours");
        refused(&asks(&app, (access, ""), &at("/seats"), json!({})).await, 403, "not-yours");
        refused(&asks(&app, (access, "approver.0"), &decision, yes()).await, 403, "not-your-agent");
    }
    refused(&asks(&app, ("three", ""), &at("/cancel"), json!({})).await, 403, "not-yours");
    refused(&asks(&app, ("three", ""), &stop, json!({})).await, 403, "not-yours");
    refused(
        &asks(&app, ("three", ""), &at("/fork"), json!({ "from": "sign" })).await,
        403,
        "not-yours",
    );
    // The operator hands tokens out, and each is for one person and for deciding only.
    let seats = asks(&app, ("one", ""), &at("/seats"), json!({})).await.1;
    let (ann, ben) = (token(&seats, "ann"), token(&seats, "ben"));
    assert_ne!(ann, ben);
    refused(&asks(&app, ("three", &ann), &decision, approved("ben")).await, 403, "not-yours");
    refused(&asks(&app, ("three", &ann), &at("/cancel"), json!({})).await, 403, "not-yours");
    let told = asks(&app, ("three", &ann), &decision, yes()).await;
    assert_eq!(told.0, 200, "{}", told.1);
    let output = told.1["data"]["steps"][1]["output"].clone();
    assert_eq!((&output["by"], &output["decision"]), (&json!(["ann"]), &json!("approved")));
    // A token of one run is nothing in another.
    let other = asks(&app, ("two", ""), "/api/runs", json!({ "source": source })).await.1;
    let other = other["data"]["id"].as_str().unwrap();
    let there = format!("/api/runs/{other}/steps/sign/approve");
    refused(&asks(&app, ("three", &ben), &there, yes()).await, 403, "not-your-agent");
    // Whoever started it may cancel it, by either way.
    let told = asks(&app, ("two", ""), &format!("/api/runs/{other}/cancel"), json!({})).await;
    assert_eq!(told.0, 200, "{}", told.1);
    let forked = asks(&app, ("two", ""), &at("/fork"), json!({ "from": "sign" })).await;
    assert_eq!(forked.0, 201, "{}", forked.1);
    let forked = forked.1["data"]["id"].as_str().unwrap();
    let told = asks(&app, ("two", ""), &format!("/api/sessions/{forked}/stop"), json!({})).await;
    assert_eq!(told.0, 200, "{}", told.1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_decides_nothing_without_a_persons_token() {
    let app = guarded().await;
    let source = file("sign", "  sign: { approve: { who: [ann, ben] } }");
    for access in ["one", "two"] {
        let (client, _) = Client::start(&app, Some(access)).await;
        let run = client.good("workflow_run", json!({ "source": source })).await;
        let id = run["id"].clone();
        let decide = json!({ "id": id, "step": "sign", "decision": "approved" });
        let error = client.bad("workflow_approve", decide.clone()).await;
        assert_eq!(error["code"], "not-yours", "{error}");
        let seats = asks(
            &app,
            ("one", ""),
            &format!("/api/runs/{}/seats", id.as_str().unwrap()),
            json!({}),
        )
        .await
        .1;
        let mut with_token = decide.clone();
        with_token["agent_token"] = json!(token(&seats, "ben"));
        let told = client.good("workflow_approve", with_token).await;
        assert_eq!(told["status"], "done", "{told}");
        // What an agent has begun, it may end.
        let run = client.good("workflow_run", json!({ "source": source })).await;
        let told = client.good("session_stop", json!({ "id": run["id"] })).await;
        assert_eq!(told["status"], "cancelled", "{told}");
    }
    // The operator's own runs are not an agent's because the operator runs it.
    let begun = asks(&app, ("one", ""), "/api/runs", json!({ "source": source })).await.1;
    let (client, _) = Client::start(&app, Some("one")).await;
    let error = client.bad("session_stop", json!({ "id": begun["data"]["id"] })).await;
    assert_eq!(error["code"], "not-yours", "{error}");
}
