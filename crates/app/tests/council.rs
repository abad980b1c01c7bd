//! Councils from the command line: whole stories as snapshots.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::process::Stdio;

use insta::assert_snapshot;
use plenary_scripted::{Fault, Gate, Reply, Script, Scripted, When};
use serde_json::Value;
use support::{Home, NOWHERE, SAFETY, interrupt};
use tokio::io::{AsyncBufReadExt, BufReader};

async fn start(script: Script) -> (Home, Scripted) {
    let scripted = Scripted::start(script.models(&["qwen3:8b"])).await.unwrap();
    (Home::new(&scripted.url()), scripted)
}

/// `writer` writes, `critic` has nothing to add, `broken` fails.
fn members() -> Script {
    Script::new(Reply::text("I would take **tea**.\x1b[2J"))
        .when(When::says("You are critic"), Reply::text("pass"))
        .when(When::says("You are broken"), Reply::fault(Fault::Unauthorized))
}

const OPEN: [&str; 10] = [
    "council",
    "open",
    "drinks",
    "Settle what we drink.",
    "--member",
    "writer=qwen3:8b",
    "--member",
    "critic=qwen3:8b",
    "--persona",
    "writer=You like warm drinks.",
];

#[tokio::test(flavor = "multi_thread")]
async fn help() {
    let home = Home::new(NOWHERE);
    assert_snapshot!("help", home.run(&["council", "--help"]).await.shown());
    for command in ["open", "list", "post", "read", "edit", "close", "token"] {
        let ran = home.run(&["council", command, "--help"]).await;
        assert_eq!(ran.code, Some(0));
        assert_snapshot!(format!("help_{command}"), ran.shown());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn from_open_to_close() {
    let (home, _scripted) = start(members()).await;
    let story = home
        .story(&[
            &["council", "list"],
            &OPEN,
            &["council", "read", "drinks"],
            &["council", "post", "drinks", "--as", "ann", "Coffee or tea?"],
            &["council", "post", "drinks", "@writer With milk?", "--reply-to", "2", "--wait"],
            &["council", "read", "drinks"],
            &["council", "read", "drinks", "--since", "3"],
            &["council", "edit", "drinks", "--charter", "Settle it.", "--remove", "critic"],
            &["council", "edit", "drinks", "--add", "chef=qwen3:8b", "--add", "bo"],
            &["council", "list"],
            &["sessions", "list", "--kind", "council"],
            &["sessions", "rename", "drinks", "What we drink"],
            &["sessions", "pin", "drinks"],
            &["sessions", "list", "what", "drink"],
            &["sessions", "rename", "drinks"],
            &["sessions", "pin", "drinks", "--off"],
            &["sessions", "show", "drinks"],
            &["sessions", "replay", "drinks"],
            &["sessions", "stop", "drinks"],
            &["sessions", "retry", "drinks", "1"],
            &["council", "close", "drinks", "--summary", "Tea."],
            &["council", "post", "drinks", "--as", "ann", "And cake?"],
            &["council", "read", "drinks", "--since", "3", "--follow"],
            &["sessions", "remove", "drinks", "--yes"],
            &["council", "read", "drinks"],
            &["council", "open", "drinks", "Again."],
        ])
        .await;
    assert!(!story.contains('\x1b'), "{story}");
    assert_snapshot!("story", story);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_says_what_is_wrong() {
    let (home, _scripted) = start(members()).await;
    let open = ["council", "open", "b", "Talk.", "--member", "broken=qwen3:8b"];
    let story = home
        .story(&[
            &open,
            &["council", "post", "b", "Hello"],
            &["council", "post", "b", "--as", "ann", "Hello"],
            &["council", "post", "b", "--as", "broken", "Hello"],
            &["council", "post", "b", "--as", "ann", "--token", "ann.00", "Hello"],
            &["council", "post", "nope", "--as", "ann", "Hello"],
            &["council", "post", "b", "--as", "no body", " "],
            &["council", "open", "b", "Again."],
            &["council", "open", "c", "Talk.", "--member", "x=zzz"],
            &["council", "open", "c", "Talk.", "--persona", "x=y"],
            &["council", "open", "Wrong Name", "Talk.", "--member", "no body"],
            &["council", "edit", "b"],
            &["council", "edit", "b", "--charter", " ", "--add", "x=zzz", "--remove", "nobody"],
            &["council", "read", "b", "--wait", "soon"],
        ])
        .await;
    assert_snapshot!("wrong", story);
}

#[tokio::test(flavor = "multi_thread")]
async fn json_is_all_that_is_printed() {
    let (home, _scripted) = start(members()).await;
    let json = async |command: &[&str]| -> Value {
        let ran = home.run(command).await;
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
        serde_json::from_str(&ran.out).unwrap()
    };
    let opened = json(&[&OPEN[..], &["--json"]].concat()).await;
    assert_eq!(opened["members"].as_array().unwrap().len(), 2);
    let posted =
        json(&["council", "post", "drinks", "--as", "ann", "@writer Tea?", "--json", "--wait"])
            .await;
    assert_eq!(
        (&posted["sequence"], &posted["answers"][0]["sender"]),
        (&1.into(), &"writer".into())
    );
    let read = json(&["council", "read", "drinks", "--json"]).await;
    assert_eq!(read["posts"][1], posted["answers"][0]);
    let closed = json(&["council", "close", "drinks", "--json"]).await;
    assert_eq!(closed["status"], "closed");
    let lines = home.run(&["council", "read", "drinks", "--follow", "--json"]).await;
    let lines: Vec<Value> =
        lines.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(Value::from(lines), read["posts"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_follows_while_others_post() {
    let (home, _scripted) = start(members()).await;
    home.run(&OPEN).await;
    let mut command = home.command(&["council", "read", "drinks", "--follow", "--json"]);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = async || -> Value {
        let line = tokio::time::timeout(SAFETY, lines.next_line()).await.unwrap().unwrap();
        serde_json::from_str(&line.expect("the reader has ended")).unwrap()
    };
    home.run(&["council", "post", "drinks", "--as", "ann", "@writer Tea?"]).await;
    assert_eq!(next().await["body"], "@writer Tea?");
    assert_eq!(next().await["sender"], "writer");
    interrupt(&child);
    let status = tokio::time::timeout(SAFETY, child.wait()).await.unwrap().unwrap();
    assert_eq!(status.code(), Some(130));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_stops_what_runs_here() {
    let gate = Gate::new();
    let waits = Reply::text("one two three four").gate(2, &gate);
    let (home, scripted) = start(Script::new(waits)).await;
    home.run(&OPEN).await;
    let post = ["council", "post", "drinks", "--as", "ann", "@writer Tea?"];
    let child = home.command(&post).spawn().unwrap();
    tokio::time::timeout(SAFETY, gate.reached(1)).await.unwrap();
    interrupt(&child);
    let output = tokio::time::timeout(SAFETY, child.wait_with_output()).await.unwrap().unwrap();
    let ran = home.ran(output);
    assert_eq!(ran.code, Some(130), "{} {}", ran.out, ran.err);
    assert!(ran.err.contains("Stopped; post again to ask again."), "{}", ran.err);
    assert!(scripted.wait_for_ended(1).await[0].dropped, "the request ended with the interrupt");
    let read = home.run(&["council", "read", "drinks"]).await;
    assert!(!read.err.contains("is answering"), "{}", read.err);
}

/// What somebody calls a session is in the store's index, and belongs there.
#[tokio::test(flavor = "multi_thread")]
async fn a_renamed_council_leaves_the_store_sound() {
    let (home, _scripted) = start(members()).await;
    home.run(&OPEN).await;
    let renamed = home.run(&["sessions", "rename", "drinks", "The kettle question"]).await;
    assert_eq!(renamed.out.trim(), "Renamed to \"The kettle question\".");
    let found = home.run(&["sessions", "list", "kettle"]).await;
    assert!(found.out.contains("drinks · The kettle question"), "{}", found.out);
    let checked = home.run(&["store", "check"]).await;
    assert_eq!(checked.code, Some(0), "{} {}", checked.out, checked.err);
}
