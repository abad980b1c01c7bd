//! The embedded model for real: no other model, no key, no scripted server.
//!
//! `PLENARY_TEST_WEIGHTS` names a data folder into which `plenary models pull` has
//! fetched the weights; `make test` sets it. Without it nothing is tested here,
//! and that is said.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod support;

use futures::StreamExt;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;
use support::{Home, NOWHERE};

/// The model is small, the machine may be busy. No test depends on its length.
const PATIENCE: Duration = Duration::from_secs(600);

const HEADINGS: [&str; 4] =
    ["## Consensus", "## Points of Agreement", "## Points of Divergence", "## Recommendation"];

/// A home in which the embedded model is the only one; `None` without weights.
fn home() -> Option<Home> {
    let weights = std::env::var_os("PLENARY_TEST_WEIGHTS").map(PathBuf::from);
    let models = weights.map(|folder| folder.join("models")).filter(|models| models.is_dir());
    if !plenary_providers::has_local() || models.is_none() {
        println!("NOT TESTED: the embedded model (no engine in this build, or no weights)");
        return None;
    }
    let home = Home::new(NOWHERE);
    let data = home.path().join("data");
    std::fs::create_dir_all(&data).unwrap();
    std::os::unix::fs::symlink(models?, data.join("models")).unwrap();
    Some(home)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_is_stopped_resumed_and_closed_by_the_embedded_model() {
    let Some(home) = home() else { return };
    plenary_providers::install_tls();
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("PLENARY_EMBEDDED", "on");
    let serving = home.serving(command).await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let post = async |path: String, body: Value| -> Value {
        let sent = http.post(format!("{}{path}", serving.url)).json(&body).send();
        sent.await.unwrap().json().await.unwrap()
    };
    let board = post("/api/boardrooms".into(), json!({ "prompt": "Tea or coffee?" })).await;
    let id = board["data"]["id"].as_str().unwrap_or_else(|| panic!("{board}")).to_owned();
    assert_eq!(board["data"]["advisors"][0]["model"], "local/smollm2-135m");

    until(&http, &format!("{}/api/boardrooms/{id}/events", serving.url), "event: delta").await;
    let stopped = post(format!("/api/boardrooms/{id}/stop"), json!({})).await;
    assert_eq!(stopped["data"]["status"], "stopped", "{stopped}");
    let partial = |advisor: &Value| !advisor["text"].as_str().unwrap().is_empty();
    let advisors = stopped["data"]["advisors"].as_array().unwrap();
    assert!(advisors.iter().any(partial), "{stopped}");
    assert_eq!(stopped["data"]["syntheses"], json!([]));

    post(format!("/api/boardrooms/{id}/resume"), json!({})).await;
    until(&http, &format!("{}/api/boardrooms/{id}/events", serving.url), "event: synthesized")
        .await;
    let shown = http.get(format!("{}/api/boardrooms/{id}", serving.url)).send().await.unwrap();
    let shown: Value = shown.json().await.unwrap();
    let board = &shown["data"];
    assert_eq!(board["status"], "closed", "{board}");
    for advisor in board["advisors"].as_array().unwrap() {
        assert!(!advisor["text"].as_str().unwrap().trim().is_empty(), "{advisor}");
    }
    let synthesis = &board["syntheses"][0];
    assert_ne!(synthesis["headings"], "missing", "{synthesis}");
    let text = synthesis["text"].as_str().unwrap();
    let found: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(found, HEADINGS);
    serving.kill().await;
}

/// A tiny model decides nothing worth reading, but it is held to what a board takes: the
/// record comes out, with what was decided or that nothing was, and with its dissent.
#[tokio::test(flavor = "multi_thread")]
async fn a_decision_record_comes_out_of_the_embedded_model() {
    let Some(home) = home() else { return };
    let adr = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/adr.yaml");
    let topic = "topic=Which message queue should we use?";
    let two = "specialists=engineer,skeptic";
    let mut command =
        home.command(&["workflow", "run", adr, "--input", topic, "--input", two, "--json"]);
    command.env("PLENARY_EMBEDDED", "on").current_dir(home.path());
    let output = tokio::time::timeout(PATIENCE, command.output()).await.expect("in time").unwrap();
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&run["status"], output.status.code()), (&json!("done"), Some(0)), "{run:#}");
    let outputs = &run["outputs"];
    let outcome = outputs["outcome"].as_str().unwrap();
    assert!(["accepted", "rejected", "tied", "undecided"].contains(&outcome), "{outputs:#}");
    assert_eq!(outputs["decision"].is_string(), ["accepted", "tied"].contains(&outcome));
    assert!(outputs["dissent"].is_array(), "{outputs:#}");
    // No seat was offered what the board does not take at that time.
    let steps = run["steps"].as_array().unwrap();
    let of = |place: &str| &steps.iter().find(|step| step["place"] == place).unwrap()["output"];
    for item in 1..=2 {
        for step in ["verify/{}/facts", "argue/{}/challenge"] {
            let left_out = of(&step.replace("{}", &item.to_string()))["left_out"].to_string();
            assert!(!left_out.contains("phase"), "{left_out}");
        }
        let vote = of(&format!("argue/{item}/vote"));
        let count = |list: &str| vote[list].as_array().unwrap().len();
        assert_eq!(count("votes") + count("abstained") + count("left_out"), 1, "{vote:#}");
    }
    assert_eq!(of("archive")["posts"].as_array().map(Vec::len), Some(2));
}

/// Reads along until a line is there.
async fn until(http: &reqwest::Client, url: &str, wanted: &str) {
    let response = http.get(url).send().await.unwrap();
    let mut bytes = response.bytes_stream();
    let mut seen = String::new();
    let reading = async {
        while let Some(chunk) = bytes.next().await {
            seen.push_str(&String::from_utf8_lossy(&chunk.unwrap()));
            if seen.contains(wanted) {
                return;
            }
            assert!(!seen.contains("event: failed"), "{seen}");
        }
        panic!("the events ended: {seen}");
    };
    tokio::time::timeout(PATIENCE, reading).await.expect(wanted);
}
