//! Stored agents from the command line: whole stories as snapshots.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use insta::assert_snapshot;
use plenary_scripted::{Reply, Script, Scripted};
use serde_json::Value;
use support::{Home, NOWHERE};

async fn start() -> (Home, Scripted) {
    let script = Script::new(Reply::canned()).models(&["qwen3:8b"]);
    let scripted = Scripted::start(script).await.unwrap();
    (Home::new(&scripted.url()), scripted)
}

const ADD: [&str; 26] = [
    "agents",
    "add",
    "Tea Lover",
    "--persona",
    "You love tea.\nSay so.",
    "--description",
    "Warm \x1b[2Jdrinks",
    "--model",
    "qwen3:8b",
    "--facilitator",
    "--format",
    "review",
    "--format",
    "brainstorm",
    "--turn",
    "1.5m",
    "--output-tokens",
    "500",
    "--budget-tokens",
    "20000",
    "--folder",
    "~/tea",
    "--tool",
    "Read",
    "--tool",
    "Bash(git log:*)",
];

#[tokio::test(flavor = "multi_thread")]
async fn help() {
    let home = Home::new(NOWHERE);
    assert_snapshot!("help", home.run(&["agents", "--help"]).await.shown());
    for command in ["list", "show", "add", "edit", "copy", "remove"] {
        let ran = home.run(&["agents", command, "--help"]).await;
        assert_eq!(ran.code, Some(0));
        assert_snapshot!(format!("help_{command}"), ran.shown());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn from_add_to_remove() {
    let (home, _scripted) = start().await;
    std::fs::write(home.path().join("persona.md"), "You prefer coffee.\n").unwrap();
    let plain = ["agents", "edit", "tea lover", "--name", "Coffee Lover", "--persona-file"];
    let cleared = ["description", "formats", "turn", "output-tokens", "budget-tokens", "tools"];
    let clear: Vec<&str> = cleared.iter().flat_map(|what| ["--clear", *what]).collect();
    let clear =
        [&["agents", "edit", "tea-lover", "--tier", "fast", "--no-facilitator"][..], &clear]
            .concat();
    let story = home
        .story(&[
            &["agents", "list"],
            &["agents", "list", "--facilitators"],
            &ADD,
            &["agents", "show", "tea-lover"],
            &[&plain[..], &["persona.md"]].concat(),
            &clear,
            &["agents", "show", "Coffee Lover"],
            &["agents", "copy", "the-closer"],
            &["agents", "copy", "The Closer", "--name", "Mine", "--turn", "10s"],
            &["agents", "show", "mine"],
            &["agents", "list"],
            &["agents", "remove", "the-closer-copy"],
            &["agents", "remove", "mine"],
            &["agents", "add", "Mine", "--persona", "Again."],
            &["sessions", "list"],
        ])
        .await;
    assert!(!story.contains('\x1b'), "{story}");
    assert_snapshot!("story", story);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_says_what_is_wrong() {
    let (home, _scripted) = start().await;
    let wrong = [
        "agents",
        "add",
        "the spark",
        "--model",
        "zzz",
        "--turn",
        "1s",
        "--output-tokens",
        "1",
        "--budget-tokens",
        "1",
        "--folder",
        "here",
        "--tool",
        " ",
        "--description",
        "a\nb",
    ];
    let story = home
        .story(&[
            &["agents", "add", "Tea"],
            &wrong,
            &["agents", "add", "Tea", "--persona", "x", "--model", "m", "--tier", "fast"],
            &["agents", "add", "Tea", "--persona", "x", "--tier", "cheap"],
            &["agents", "add", "Tea", "--persona", "x", "--turn", "soon"],
            &["agents", "add", "Tea", "--persona-file", "none.md"],
            &["agents", "show", "socrates"],
            &["agents", "show", "zebra"],
            &["agents", "edit", "the-socratic", "--persona", "Tell them."],
            &["agents", "remove", "The Socratic"],
            &["agents", "remove", "zebra"],
            &["agents", "edit", "zebra", "--name", "Horse"],
            &["agents", "copy", "socratic"],
        ])
        .await;
    assert_snapshot!("wrong", story);
}

#[tokio::test(flavor = "multi_thread")]
async fn json_is_all_that_is_printed_also_through_a_server() {
    let (home, _scripted) = start().await;
    let serving = home.serve().await;
    let json = async |command: &[&str]| -> Value {
        let command = [command, &["--json", "--server", &serving.url]].concat();
        let ran = home.run(&command).await;
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
        serde_json::from_str(&ran.out).unwrap()
    };
    let added = json(&ADD).await;
    assert_eq!(json(&["agents", "show", "tea-lover"]).await, added);
    let edited = json(&["agents", "edit", "tea-lover"]).await;
    assert_eq!(edited, added);
    let copied = json(&["agents", "copy", "tea-lover"]).await;
    assert_eq!(copied["name"], "Tea Lover (copy)");
    let listed = json(&["agents", "list"]).await;
    assert_eq!(listed.as_array().unwrap().len(), 16);
    assert_eq!(json(&["agents", "remove", "tea-lover"]).await, serde_json::json!({}));
    serving.kill().await;
    // What the server kept is there without it.
    let shown = home.run(&["agents", "show", "tea-lover-copy", "--json"]).await;
    assert_eq!(serde_json::from_str::<Value>(&shown.out).unwrap(), copied);
}
