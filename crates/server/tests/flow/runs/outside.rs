//! Requests and files of workflows, at a server that keeps what it is sent.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::extract::Request;
use axum::http::StatusCode;
use plenary_providers::{OutsideConfig, Secret, SecretConfig};
use plenary_server::Access;
use serde_json::{Value, json};

use plenary_scripted::{Reply, When};

use super::{Run, file, of};
use crate::mcp::Client;
use crate::support::{Setup, TestApp, answer, canned};

/// One request, as it came.
#[derive(Clone, Debug)]
struct Got {
    method: String,
    path: String,
    headers: BTreeMap<String, String>,
    body: Value,
}

/// A server that answers with these statuses, one after the other, and with 200 from then on.
struct Recorder {
    address: String,
    got: Arc<Mutex<Vec<Got>>>,
}

impl Recorder {
    async fn start(statuses: &'static [u16]) -> Recorder {
        let got: Arc<Mutex<Vec<Got>>> = Arc::default();
        let kept = got.clone();
        let router = axum::Router::new().fallback(move |request: Request| {
            let kept = kept.clone();
            async move {
                let (parts, body) = request.into_parts();
                let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
                let text = |value: &axum::http::HeaderValue| value.to_str().unwrap().to_owned();
                let headers = parts.headers.iter();
                let one = Got {
                    method: parts.method.to_string(),
                    path: parts.uri.to_string(),
                    headers: headers.map(|(name, value)| (name.to_string(), text(value))).collect(),
                    body: serde_json::from_slice(&body).unwrap_or_default(),
                };
                let mut all = kept.lock().unwrap();
                let status = statuses.get(all.len()).copied().unwrap_or(200);
                all.push(one);
                (StatusCode::from_u16(status).unwrap(), axum::Json(json!({ "got": all.len() })))
            }
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Recorder { address, got }
    }

    fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }
}

fn config(host: &str, folder: &std::path::Path) -> OutsideConfig {
    let value = Some(Secret::new("Sesame-4711"));
    let secret = SecretConfig { variable: "HOOK".into(), value };
    OutsideConfig {
        private_hosts: vec![host.parse().unwrap()],
        folders: vec![folder.to_owned()],
        secrets: BTreeMap::from([("HOOK".to_owned(), secret)]),
        ..OutsideConfig::default()
    }
}

fn delivers(address: &str) -> String {
    file(
        "delivers",
        &format!(
            "  send:\n    http: {{ post: 'http://{address}/decisions', json: {{ n: 7 }}, headers: {{ authorization: 'Bearer {{{{ secrets.HOOK }}}}' }} }}\n    retry: {{ times: 3, wait: 1s }}\n  keep: {{ write: {{ path: out/a.json, json: '{{{{ steps.send.json }}}}' }} }}"
        ),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_made_again_under_the_same_key() {
    let recorder = Recorder::start(&[503, 500]).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("out")).unwrap();
    let outside = Some(config(&recorder.address, folder.path()));
    let app = Setup { outside, ..Setup::default() }.start(canned()).await;
    let run = Run::begin(&app, &delivers(&recorder.address), json!({})).await;
    let view = run.ended().await;
    assert_eq!(view["status"], "done", "{view:#}");
    let got = recorder.got();
    assert_eq!(got.len(), 3);
    let key = &got[0].headers["idempotency-key"];
    for one in &got {
        assert_eq!((one.method.as_str(), one.path.as_str()), ("POST", "/decisions"));
        assert_eq!((&one.headers["idempotency-key"], &one.body), (key, &json!({ "n": 7 })));
        assert_eq!(one.headers["authorization"], "Bearer Sesame-4711");
    }
    assert_eq!(
        of(&view, "send")["output"],
        json!({ "status": 200, "json": { "got": 3 }, "body": "{\"got\":3}" })
    );
    // The secret is named in the record, and is not there.
    let input = of(&view, "send")["input"]["headers"]["authorization"].clone();
    assert_eq!(input, json!({ "secret": "HOOK", "before": "Bearer ", "after": "" }));
    let (_, all) = app.get(&run.at("/export")).await;
    assert!(!all.to_string().contains("Sesame-4711"));
    let written = std::fs::read_to_string(folder.path().join("out/a.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), json!({ "got": 3 }));
    let kept = of(&view, "keep")["output"].clone();
    assert_eq!(
        (kept["bytes"].as_u64(), kept["sha256"].as_str().map(str::len)),
        (Some(written.len() as u64), Some(64))
    );
    // Another run sends under a key of its own.
    let again = Run::begin(&app, &delivers(&recorder.address), json!({})).await;
    again.ended().await;
    assert_ne!(&recorder.got()[3].headers["idempotency-key"], key);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_goes_to_no_host_that_is_not_allowed() {
    let recorder = Recorder::start(&[]).await;
    let folder = tempfile::tempdir().unwrap();
    let outside = Some(config("127.0.0.1:1", folder.path()));
    let app = Setup { outside, ..Setup::default() }.start(canned()).await;
    let run = Run::begin(&app, &delivers(&recorder.address), json!({})).await;
    let view = run.ended().await;
    assert_eq!((&view["status"], recorder.got().len()), (&json!("failed"), 0), "{view:#}");
    let up = file("up", "  a: { write: { path: '{{ inputs.path }}', text: x } }")
        .replace("steps:", "inputs: { path: string }\nsteps:");
    let view = Run::begin(&app, &up, json!({ "path": "../a.txt" })).await.ended().await;
    assert_eq!(view["status"], "failed", "{view:#}");
}

/// Others reach what the operator allows by what the operator has stored, and not by files
/// of their own.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_somebody_elses_reaches_nothing_outside() {
    let recorder = Recorder::start(&[]).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("out")).unwrap();
    let outside = Some(config(&recorder.address, folder.path()));
    let tokens = ["one", "two"].map(str::to_owned).to_vec();
    let access = Access { tokens, ..Access::default() };
    let app = Setup { outside, access, ..Setup::default() }.start(canned()).await;
    let source = delivers(&recorder.address);
    let post = |access: &str, path: &str, body: Value| {
        let request = app.http.post(format!("{}{path}", app.url)).bearer_auth(access);
        answer(request.json(&body))
    };
    let (status, begun) = post("two", "/api/runs", json!({ "source": source })).await;
    assert_eq!(status, 201, "{begun}");
    let view = over(&app, &begun["data"]["id"]).await;
    assert_eq!((&view["status"], recorder.got().len()), (&json!("failed"), 0), "{view:#}");
    // Nor does an agent's file, also where the operator runs the agent.
    let (client, _) = Client::start(&app, Some("one")).await;
    let begun = client.good("workflow_run", json!({ "source": source })).await;
    let view = over(&app, &begun["id"]).await;
    assert_eq!((&view["status"], recorder.got().len()), (&json!("failed"), 0), "{view:#}");
    // The same file, once the operator has stored it; and a child of it.
    assert_eq!(post("one", "/api/workflows", json!({ "source": source })).await.0, 201);
    let (status, begun) = post("two", "/api/runs", json!({ "workflow": "delivers" })).await;
    assert_eq!(status, 201, "{begun}");
    let view = over(&app, &begun["data"]["id"]).await;
    assert_eq!((&view["status"], recorder.got().len()), (&json!("done"), 1), "{view:#}");
    let parent = file("parent", "  a: { workflow: { name: delivers } }");
    let (_, begun) = post("two", "/api/runs", json!({ "source": parent })).await;
    let view = over(&app, &begun["data"]["id"]).await;
    assert_eq!((&view["status"], recorder.got().len()), (&json!("done"), 2), "{view:#}");
    // A file that only bears its name is not it.
    let other = source.replace("n: 7", "n: 8");
    let (_, begun) = post("two", "/api/runs", json!({ "source": other })).await;
    let view = over(&app, &begun["data"]["id"]).await;
    assert_eq!((&view["status"], recorder.got().len()), (&json!("failed"), 2), "{view:#}");
}

/// A run after its end.
async fn over(app: &TestApp, id: &Value) -> Value {
    let id = id.as_str().unwrap();
    let wait = format!("{}/api/sessions/{id}/wait?seconds=50", app.url);
    let (status, told) = answer(app.http.get(wait).bearer_auth("one")).await;
    assert_eq!(status, 200, "{told}");
    let (status, told) =
        answer(app.http.get(format!("{}/api/runs/{id}", app.url)).bearer_auth("one")).await;
    assert_eq!(status, 200, "{told}");
    told["data"].clone()
}

/// The example, as it is: what two sides find in one place collides, and the file says so.
#[tokio::test(flavor = "multi_thread")]
async fn the_review_of_a_change_is_written_with_its_conflicts() {
    let finding = |title: &str, location: &str| {
        let finding = json!({
            "title": title, "body": "See there.", "file": "src/a.rs", "location": location,
            "severity": "high",
        });
        Reply::text(&json!({ "findings": [finding] }).to_string())
    };
    let script = canned()
        .when(When::says("for correctness only"), finding("Too much is loaded", "12-14"))
        .when(When::says("for security only"), finding("Anybody can load", "13"))
        .when(When::says("for readability only"), Reply::text(r#"{"findings": []}"#));
    let folder = tempfile::tempdir().unwrap();
    let outside = Some(config("127.0.0.1:1", folder.path()));
    let app = Setup { outside, ..Setup::default() }.start(script).await;
    let source = include_str!("../../../../../examples/review-a-diff.yaml");
    let run = Run::begin(&app, source, json!({ "diff": "+ let all = load()?;" })).await;
    let view = run.ended().await;
    assert_eq!(view["status"], "done", "{view:#}");
    assert_eq!(view["outputs"]["conflicts"], 1, "{view:#}");
    let post = of(&view, "reviews/1/findings/1/post")["output"].clone();
    assert_eq!(
        post,
        json!({
            "post": "correctness/1", "title": "Too much is loaded", "body": "See there.",
            "type": "concern", "target_file": "src/a.rs", "target_location": "12-14", "severity": "high",
        })
    );
    let report = std::fs::read_to_string(folder.path().join("review.md")).unwrap();
    assert!(report.contains("correctness/1 and security/1 meet in src/a.rs"), "{report}");
}

/// Nothing is asked and paid for that could only fail in the end.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_written_is_known_before() {
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("gone");
    let asks = "  ask: { ask: { prompt: Which?, model: ollama/a } }\n";
    let writes = |path: &str, more: &str| {
        file(
            "writes",
            &format!(
                "{asks}  note: {{ write: {{ path: '{path}', text: '{{{{ steps.ask.text }}}}' }}{more} }}"
            ),
        )
    };
    let begin = async |outside: Option<OutsideConfig>, source: String| {
        let app = Setup { outside, ..Setup::default() }.start(canned()).await;
        let (status, told) = app.post("/api/runs", &json!({ "source": source })).await;
        let (_, dry) = app.post("/api/workflows/estimate", &json!({ "source": source })).await;
        let notes = dry["data"]["notes"].to_string();
        (status, told["error"]["fields"][0].clone(), notes)
    };
    let to = |path: &std::path::Path| Some(config("127.0.0.1:1", path));
    for (outside, path, problem) in [
        (None, "a.md", "Requests and files are not allowed here"),
        (Some(OutsideConfig::default()), "{{ run.short }}.md", "Workflows may not write files."),
        (to(folder.path()), "/etc/passwd", "Workflows may only write files in"),
        (to(folder.path()), "../a.md", "must not contain `..`"),
        (to(&gone), "a.md", "does not exist."),
    ] {
        let (status, wrong, notes) = begin(outside, writes(path, "")).await;
        assert_eq!((status, &wrong["field"]), (422, &json!("steps.note.write.path")), "{path}");
        assert!(wrong["problem"].as_str().unwrap().contains(problem), "{wrong}");
        assert!(notes.contains("`note` would fail: ") && notes.contains(problem), "{notes}");
    }
    // One that may be passed over, or whose failure is somebody's matter, stops nothing.
    for more in [", on_failure: continue", ", when: '{{ 1 == 2 }}'"] {
        assert_eq!(begin(None, writes("a.md", more)).await.0, 201);
    }
    let (status, _, notes) = begin(to(folder.path()), writes("new/a.md", "")).await;
    assert_eq!((status, notes.contains("would fail")), (201, false), "{notes}");
    assert!(!folder.path().join("gone").exists());
}
