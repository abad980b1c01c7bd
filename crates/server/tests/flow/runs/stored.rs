//! Workflows on the shelf: their versions, and what starts runs of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use plenary_domain::limits;
use plenary_engine::testkit::ManualClock;
use plenary_providers::{OutsideConfig, Secret, SecretConfig};
use plenary_server::Access;
use serde_json::{Value, json};

use super::{Run, file, of, store};
use crate::support::{SAFETY, Setup, TestApp, answer, canned, pick};

/// Looks for each beat.
const LOOKS: u64 = 25;

async fn stored(app: &TestApp, name: &str) -> Value {
    let (status, body) = app.get(&format!("/api/workflows/{name}")).await;
    assert_eq!(status, 200, "{body}");
    body["data"].clone()
}

/// Looks until the workflow is as wanted.
async fn until(app: &TestApp, name: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    ticking(None, app, name, wanted).await
}

/// The same while the clock goes on, a beat now and then: where a leap has ended the lease,
/// a node goes on at its next beat.
async fn ticking(
    clock: Option<&ManualClock>,
    app: &TestApp,
    name: &str,
    wanted: impl Fn(&Value) -> bool,
) -> Value {
    let looks = async {
        for count in 1_u64.. {
            let view = stored(app, name).await;
            if wanted(&view) {
                return view;
            }
            if let Some(clock) = clock.filter(|_| count.is_multiple_of(LOOKS)) {
                clock.advance(Duration::from_millis(limits::BEAT_MS));
            }
        }
        Value::Null
    };
    match tokio::time::timeout(SAFETY, looks).await {
        Ok(view) => view,
        Err(_) => panic!("{:#}", stored(app, name).await),
    }
}

fn runs(view: &Value) -> usize {
    view["runs"].as_array().map_or(0, Vec::len)
}

async fn start<'a>(app: &'a TestApp, name: &str, body: Value) -> Run<'a> {
    let (status, told) = app.post(&format!("/api/workflows/{name}/runs"), &body).await;
    assert_eq!(status, 201, "{told}");
    Run { app, id: told["data"]["id"].as_str().unwrap().to_owned() }
}

fn version(number: u32) -> String {
    format!(
        "name: tea\ndescription: Version {number}.\ninputs: {{ topic: {{ type: string, default: tea }} }}\nsteps:\n  a: {{ set: {number} }}\noutputs: {{ a: '{{{{ steps.a }}}}' }}\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workflow_has_versions_and_a_run_keeps_its_own() {
    let app = TestApp::start(canned()).await;
    assert_eq!(store(&app, &version(1)).await["version"], 1);
    // The same file again is no new version.
    assert_eq!(store(&app, &version(1)).await["version"], 1);
    let put = |source: String| json!({ "source": source });
    let (status, told) = app.put("/api/workflows/tea", &put(version(2))).await;
    assert_eq!((status, &told["data"]["version"]), (200, &json!(2)), "{told}");
    let (status, told) = app.put("/api/workflows/coffee", &put(version(3))).await;
    assert_eq!((status, &told["error"]["code"]), (422, &json!("invalid-input")), "{told}");
    assert_eq!(app.get("/api/workflows/coffee").await.0, 404);
    let wrong =
        json!({ "source": "name: tea\nsteps:\n  a: { sett: 1 }\n  b: { set: '{{ steps.x }}' }\n" });
    let (status, told) = app.put("/api/workflows/tea", &wrong).await;
    assert_eq!(status, 422);
    assert!(told["error"]["fields"].as_array().is_some_and(|all| all.len() >= 2), "{told}");
    assert_eq!(start(&app, "tea", json!({})).await.ended().await["outputs"]["a"], 2);
    let old = start(&app, "tea", json!({ "version": 1 })).await;
    assert_eq!(old.ended().await["outputs"]["a"], 1);
    let (status, told) =
        app.post("/api/runs", &json!({ "workflow": "tea", "inputs": { "topic": "x" } })).await;
    assert_eq!((status, &told["data"]["inputs"]), (201, &json!({ "topic": "x" })), "{told}");
    assert_eq!(app.post("/api/workflows/tea/runs", &json!({ "version": 9 })).await.0, 404);
    let both = json!({ "workflow": "tea", "source": version(1) });
    assert_eq!(app.post("/api/runs", &both).await.0, 422);
    let view = until(&app, "tea", |view| view["successRate"] == 1.0 && runs(view) == 3).await;
    assert_eq!(pick(&view["versions"], "number"), [json!(2), json!(1)]);
    assert_eq!(view["runs"][1]["run"], json!(old.id), "{view:#}");
    let (_, all) = app.get("/api/workflows").await;
    assert_eq!(pick(&all["data"], "name"), [json!("tea")]);
    assert_eq!(app.delete("/api/workflows/tea").await.0, 200);
    assert_eq!(app.get("/api/workflows/tea").await.0, 404);
    assert_eq!(app.post("/api/workflows/tea/runs", &json!({})).await.0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_run_for_the_same_key_is_refused_with_the_first() {
    let app = TestApp::start(canned()).await;
    let source = "name: one\none_per: '{{ inputs.topic }}'\ninputs: { topic: string }\nsteps:\n  a: { approve: { who: [ann] } }\n";
    store(&app, source).await;
    let tea = || json!({ "inputs": { "topic": "tea" } });
    let first = start(&app, "one", tea()).await;
    let (status, told) = app.post("/api/workflows/one/runs", &tea()).await;
    assert_eq!((status, &told["error"]["code"]), (409, &json!("not-now")), "{told}");
    assert!(told["error"]["message"].as_str().unwrap().contains(&first.id), "{told}");
    let other = start(&app, "one", json!({ "inputs": { "topic": "cake" } })).await;
    other.until_running("a").await;
    // A request that is repeated under its key is the same run.
    first.until_running("a").await;
    first.cancel().await;
    first.ended().await;
    until(&app, "one", |view| {
        view["runs"].as_array().unwrap().iter().any(|run| run["status"] == "cancelled")
    })
    .await;
    let at = "/api/workflows/one/runs";
    let again = app.post_with_key(at, "k", &tea()).await;
    let repeated = app.post_with_key(at, "k", &tea()).await;
    assert_eq!((again.0, repeated.0), (201, 201), "{} {}", again.1, repeated.1);
    assert_eq!(again.1["data"]["id"], repeated.1["data"]["id"]);
}

/// Whoever starts a run of a stored workflow owns it, whether their request opens it or the
/// shelf is faster.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_a_stored_workflow_is_its_starters() {
    let tokens = ["one", "two", "three"].map(str::to_owned).to_vec();
    let app = TestApp::with_access(canned(), Access { tokens, ..Access::default() }).await;
    let by = |access: &str, path: &str, body: Value| {
        let request = app.http.post(format!("{}{path}", app.url)).bearer_auth(access);
        answer(request.json(&body))
    };
    let source = file("waits", "  a: { approve: { who: [ann, token-2] } }");
    assert_eq!(by("two", "/api/workflows", json!({ "source": source })).await.0, 403);
    assert_eq!(by("one", "/api/workflows", json!({ "source": source })).await.0, 201);
    for _ in 0..8 {
        let (status, told) = by("two", "/api/workflows/waits/runs", json!({})).await;
        assert_eq!(status, 201, "{told}");
        assert_eq!(told["data"]["starter"], "token-2");
        let at = format!("/api/runs/{}/cancel", told["data"]["id"].as_str().unwrap());
        let (status, told) = by("three", &at, json!({})).await;
        assert_eq!(status, 403, "{told}");
        let (status, told) = by("two", &at, json!({})).await;
        assert_eq!(status, 200, "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_clock_starts_a_run_and_skips_one_while_it_lasts() {
    let (app, clock) = TestApp::with_clock(canned()).await;
    let source = "name: daily\non: { cron: { at: '0 9 * * *', overlap: skip } }\nsteps:\n  a: { approve: { who: [ann] } }\n";
    let view = store(&app, source).await;
    assert_eq!((&view["nextAt"], runs(&view)), (&json!("2027-01-15T09:00:00Z"), 0));
    let (hour, day) = (Duration::from_secs(3600), Duration::from_secs(86_400));
    let asleep = async |longest: Duration| {
        let asleep = clock.until_asleep(1, longest - hour..=longest);
        tokio::time::timeout(SAFETY, asleep).await.unwrap();
    };
    asleep(hour).await;
    clock.advance(hour);
    let view =
        ticking(Some(&*clock), &app, "daily", |view| view["runs"][0]["status"] == "running").await;
    assert_eq!(
        (&view["runs"][0]["startedBy"], &view["runs"][0]["starter"]),
        (&json!("cron"), &json!("the clock"))
    );
    let first = Run { app: &app, id: view["runs"][0]["run"].as_str().unwrap().to_owned() };
    first.until_running("a").await;
    assert_eq!(view["nextAt"], "2027-01-16T09:00:00Z");
    asleep(day).await;
    clock.advance(day);
    let view =
        ticking(Some(&*clock), &app, "daily", |view| view["nextAt"] == "2027-01-17T09:00:00Z")
            .await;
    assert_eq!(runs(&view), 1, "{view:#}");
    first.approve("a", "ann").await;
    ticking(Some(&*clock), &app, "daily", |view| view["runs"][0]["status"] == "done").await;
    asleep(day).await;
    clock.advance(day);
    let view = ticking(Some(&*clock), &app, "daily", |view| {
        runs(view) == 2 && view["runs"][0]["run"].is_string()
    })
    .await;
    assert_ne!(view["runs"][0]["run"], json!(first.id));
}

/// A stored workflow that the clock starts each day at nine, and a run of which waits for
/// a person.
async fn daily(overlap: &str) -> (TestApp, Arc<ManualClock>) {
    let (app, clock) = TestApp::with_clock(canned()).await;
    let source = format!(
        "name: daily\non: {{ cron: {{ at: '0 9 * * *', {overlap} }} }}\nsteps:\n  a: {{ approve: {{ who: [ann] }} }}\n"
    );
    store(&app, &source).await;
    (app, clock)
}

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

/// Moves the clock on when the shelf sleeps until its next time, which is that far away.
async fn advance(clock: &ManualClock, time: Duration) {
    let asleep = clock.until_asleep(1, time - HOUR..=time);
    tokio::time::timeout(SAFETY, asleep).await.unwrap();
    clock.advance(time);
}

fn of_run<'a>(app: &'a TestApp, view: &Value, place: usize) -> Run<'a> {
    Run { app, id: view["runs"][place]["run"].as_str().unwrap().to_owned() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_overlaps_waits_for_the_one_before() {
    let (app, clock) = daily("overlap: queue").await;
    advance(&clock, HOUR).await;
    let view =
        ticking(Some(&*clock), &app, "daily", |view| view["runs"][0]["status"] == "running").await;
    let first = of_run(&app, &view, 0);
    first.until_running("a").await;
    advance(&clock, DAY).await;
    let view = ticking(Some(&*clock), &app, "daily", |view| runs(view) == 2).await;
    assert_eq!(view["runs"][0]["status"], "waiting", "{view:#}");
    first.approve("a", "ann").await;
    let view =
        ticking(Some(&*clock), &app, "daily", |view| view["runs"][0]["status"] == "running").await;
    assert_eq!(view["runs"][1]["status"], "done", "{view:#}");
    of_run(&app, &view, 0).until_running("a").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_overlaps_takes_the_place_of_the_one_before() {
    let (app, clock) = daily("overlap: replace").await;
    advance(&clock, HOUR).await;
    let view =
        ticking(Some(&*clock), &app, "daily", |view| view["runs"][0]["status"] == "running").await;
    let first = of_run(&app, &view, 0);
    first.until_running("a").await;
    advance(&clock, DAY).await;
    let is_next = |view: &Value| runs(view) == 2 && view["runs"][0]["status"] == "running";
    let view = ticking(Some(&*clock), &app, "daily", is_next).await;
    assert_eq!(view["runs"][1]["status"], "cancelled", "{view:#}");
    assert_eq!(first.ended().await["status"], "cancelled");
}

/// The server was down for ten days.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_missed_is_made_up_for_once_or_not_at_all() {
    for (missed, made_up) in [("latest", 1), ("skip", 0)] {
        let (app, clock) = daily(&format!("missed: {missed}")).await;
        app.engine.shut_down().await;
        clock.advance(10 * DAY);
        let app = app.restarted().await;
        app.engine.resume_all().await.unwrap();
        let view = until(&app, "daily", |view| view["nextAt"] == "2027-01-25T09:00:00Z").await;
        assert_eq!(runs(&view), made_up, "{missed}: {view:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_signal_starts_one_run() {
    let app = TestApp::start(canned()).await;
    let source = "name: builds\non: { signal: { name: built, ok: true } }\ninputs: { id: integer }\nsteps:\n  a: { set: '{{ inputs.id }}' }\noutputs: { id: '{{ steps.a }}' }\n";
    store(&app, source).await;
    for (id, ok) in
        [("1", json!(true)), ("2", json!("true")), ("3", json!(false)), ("4", json!(true))]
    {
        let signal = json!({ "name": "built", "fields": { "id": id, "ok": ok } });
        let (status, told) = app.post("/api/signals", &signal).await;
        assert_eq!(status, 200, "{told}");
    }
    let done = |view: &Value| {
        let all = view["runs"].as_array().unwrap();
        all.len() == 3 && all.iter().all(|run| run["status"] == "done")
    };
    let view = until(&app, "builds", done).await;
    let mut ids = vec![];
    for run in view["runs"].as_array().unwrap() {
        assert_eq!((&run["startedBy"], &run["starter"]), (&json!("signal"), &json!("local")));
        let run = Run { app: &app, id: run["run"].as_str().unwrap().to_owned() };
        ids.push(run.view().await["outputs"]["id"].clone());
    }
    assert_eq!(ids, [json!(4), json!(2), json!(1)]);
}

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

struct Delivery<'a> {
    id: &'a str,
    body: &'a str,
    secret: &'a str,
    /// By how many seconds it is late.
    age: i64,
}

async fn deliver(app: &TestApp, name: &str, delivery: Delivery<'_>) -> (u16, Value) {
    let Delivery { id, body, secret, age } = delivery;
    let base64 = base64::engine::general_purpose::STANDARD;
    let at = (app.engine.clock().now().as_second() - age).to_string();
    let key = base64.decode(secret.trim_start_matches("whsec_")).unwrap();
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &key);
    let signature = ring::hmac::sign(&key, format!("{id}.{at}.{body}").as_bytes());
    let request = app
        .http
        .post(format!("{}/hooks/{name}", app.url))
        .header("content-type", "application/json")
        .header("webhook-id", id)
        .header("webhook-timestamp", at)
        .header("webhook-signature", format!("v1,{}", base64.encode(signature)));
    answer(request.body(body.to_owned())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_starts_a_run_if_its_signature_is_right() {
    let value = Some(Secret::new(SECRET));
    let secret = SecretConfig { variable: "HOOK".into(), value };
    let secrets = BTreeMap::from([("HOOK".to_owned(), secret)]);
    let outside = Some(OutsideConfig { secrets, ..OutsideConfig::default() });
    let access = Access { tokens: vec!["one".into()], ..Access::default() };
    let app = Setup { outside, access, ..Setup::default() }.start(canned()).await;
    let source = "name: hook\non: { webhook: { secret: HOOK } }\ninputs: { topic: string }\nsteps:\n  a: { set: '{{ inputs.topic }}' }\n";
    let request = app.http.post(format!("{}/api/workflows", app.url)).bearer_auth("one");
    assert_eq!(answer(request.json(&json!({ "source": source }))).await.0, 201);
    let other = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let right = || Delivery { id: "msg_1", body: r#"{"topic":"tea"}"#, secret: SECRET, age: 0 };
    let old = limits::HOOK_AGE_MS as i64 / 1000 + 10;
    for (name, delivery) in [
        ("hook", Delivery { secret: other, ..right() }),
        ("hook", Delivery { age: old, ..right() }),
        ("hook", Delivery { age: -old, ..right() }),
        ("nothing", right()),
    ] {
        let (status, told) = deliver(&app, name, delivery).await;
        assert_eq!((status, &told["error"]["code"]), (401, &json!("unauthorized")), "{told}");
        assert_eq!(told["error"]["message"], "The signature is wrong.");
    }
    for _ in 0..2 {
        let (status, told) = deliver(&app, "hook", right()).await;
        assert_eq!(status, 200, "{told}");
    }
    assert_eq!(deliver(&app, "hook", Delivery { id: "msg_2", body: "no", ..right() }).await.0, 400);
    assert_eq!(deliver(&app, "hook", Delivery { id: "msg_3", ..right() }).await.0, 200);
    let looks = async {
        loop {
            let request =
                app.http.get(format!("{}/api/workflows/hook", app.url)).bearer_auth("one");
            let (_, view) = answer(request).await;
            let done = view["data"]["runs"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|run| run["status"] == "done");
            if done.count() == 2 {
                return view["data"].clone();
            }
        }
    };
    let view = tokio::time::timeout(SAFETY, looks).await.unwrap();
    assert_eq!(pick(&view["runs"], "startedBy"), [json!("webhook"), json!("webhook")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_is_a_run_of_its_own_and_gives_its_outputs() {
    let app = TestApp::start(canned()).await;
    store(&app, "name: child\ninputs: { n: integer }\nsteps:\n  a: { ask: { prompt: 'Count {{ inputs.n }}', model: ollama/a } }\noutputs: { n: '{{ inputs.n + 1 }}' }\n").await;
    let source = "name: parent\nsteps:\n  a: { workflow: { name: child, inputs: { n: 1 } } }\n  b: { workflow: { name: child, inputs: { n: '{{ steps.a.outputs.n }}' } } }\noutputs: { n: '{{ steps.b.outputs.n }}' }\n";
    let run = Run::begin(&app, source, json!({})).await;
    let view = run.ended().await;
    assert_eq!((&view["status"], &view["outputs"]["n"]), (&json!("done"), &json!(3)), "{view:#}");
    let child = Run { app: &app, id: of(&view, "a")["session"].as_str().unwrap().to_owned() };
    let child = child.view().await;
    assert_eq!((&child["parent"], &child["workflow"]), (&json!(run.id), &json!("child")));
    assert_eq!(child["starter"], view["starter"]);
    // What children took, their parent has taken.
    let tokens =
        |view: &Value| view["usage"]["outputTokens"].as_u64().unwrap_or_else(|| panic!("{view:#}"));
    assert_eq!(tokens(&view), 2 * tokens(&child), "{view:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_fails_fails_its_step() {
    let app = TestApp::start(canned()).await;
    store(&app, &file("bad", "  a: { set: '{{ 1 / 0 }}' }")).await;
    let steps = "  a: { workflow: { name: bad }, on_failure: b }\n  b: { set: mended }\n  c: { workflow: { name: nobody }, on_failure: continue }\n  d: { workflow: { name: bad, inputs: { x: 1 } }, on_failure: continue }";
    let view = Run::begin(&app, &file("parent", steps), json!({})).await.ended().await;
    assert_eq!(view["status"], "done", "{view:#}");
    let reason = |step: &str| of(&view, step)["reason"].as_str().unwrap().to_owned();
    assert!(reason("a").starts_with("the run has failed: `a` failed: line 3"), "{}", reason("a"));
    assert_eq!(of(&view, "b")["output"], "mended");
    assert_eq!(reason("c"), "There is no workflow called \"nobody\".");
    assert_eq!(reason("d"), "`inputs.x` is not an input of this workflow.");
}

/// A name that is worked out can be the workflow's own.
#[tokio::test(flavor = "multi_thread")]
async fn workflows_that_run_each_other_come_to_an_end() {
    let app = TestApp::start(canned()).await;
    let itself = "name: deep\nsteps:\n  a: { workflow: { name: \"{{ 'deep' }}\" } }\n";
    store(&app, itself).await;
    let view = start(&app, "deep", json!({})).await.ended().await;
    assert_eq!(view["status"], "failed", "{view:#}");
    let most = limits::WORKFLOW_NESTING;
    let deep = format!("more than {most} levels deep");
    assert!(view["reason"].as_str().unwrap().contains(&deep), "{view:#}");
    let (_, all) = app.get("/api/runs?limit=100").await;
    assert_eq!(all["data"].as_array().map(Vec::len), Some(most), "{all:#}");
    // A name that is written out is seen before.
    let check = json!({ "source": "name: deep\nsteps:\n  a: { workflow: { name: deep } }\n" });
    let (_, checked) = app.post("/api/workflows/check", &check).await;
    assert_eq!(checked["data"]["sound"], false, "{checked:#}");
}
