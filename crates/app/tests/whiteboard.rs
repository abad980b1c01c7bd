//! Whiteboards from the command line: whole stories as snapshots.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use insta::assert_snapshot;
use plenary_scripted::{Reply, Script, Scripted};
use serde_json::{Value, json};
use support::{Home, NOWHERE, SAFETY, interrupt};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

const TOPIC: &str = "Should we add mkdocs or mdbook?";

#[tokio::test(flavor = "multi_thread")]
async fn help() {
    let home = Home::new(NOWHERE);
    let commands = [
        "open",
        "register",
        "invite",
        "token",
        "seat",
        "stop",
        "post",
        "annotate",
        "vote",
        "transition",
        "conflicts",
        "state",
        "summarize",
        "archive",
        "list",
        "watch",
    ];
    assert_snapshot!("help", home.run(&["whiteboard", "--help"]).await.shown());
    for command in commands {
        let ran = home.run(&["whiteboard", command, "--help"]).await;
        assert_eq!(ran.code, Some(0));
        assert_snapshot!(format!("help_{command}"), ran.shown());
    }
}

/// Opened by `lead`, with `ann` and `bob`, who have posted.
async fn posted(home: &Home) -> String {
    let open = ["whiteboard", "open", "adr-docs", TOPIC, "--as", "lead", "--deadline", "blind=30m"];
    let ann = ["whiteboard", "register", "adr-docs", "--as", "ann", "--domain", "docs tooling"];
    let bob = ["whiteboard", "register", "adr-docs", "--as", "bob"];
    let post = |who, title, body, more: &[&'static str]| {
        let fixed = ["whiteboard", "post", "adr-docs", "--as", who, "--type", "proposal"];
        [&fixed[..], &["--title", title, body], more].concat()
    };
    let place = ["--file", "docs/index.md", "--at", "1-40"];
    let mkdocs = post("ann", "Adopt mkdocs-material", "Search and dark mode.", &place);
    let place = ["--file", "docs/index.md", "--at", "20-50", "--severity", "high"];
    let mdbook = post("bob", "Adopt mdbook", "One binary.", &place);
    home.story(&[&open, &ann, &bob, &mkdocs, &mdbook]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn from_open_to_archive() {
    let home = Home::new(NOWHERE);
    assert_snapshot!("story_1_blind", posted(&home).await);
    let on = |command: &'static str, who: &'static str, rest: &[&'static str]| {
        [&["whiteboard", command, "adr-docs"], rest, &["--as", who]].concat()
    };
    let seen = [
        on("state", "lead", &[]),
        on("state", "ann", &["--full"]),
        vec!["whiteboard", "state", "adr-docs"],
        on("transition", "lead", &["read", "--note", "Everybody has posted"]),
        on("conflicts", "lead", &[]),
        on("transition", "lead", &["validate"]),
        on(
            "annotate",
            "bob",
            &["ann/1", "--type", "validation", "--result", "confirmed", "It does."],
        ),
    ];
    let seen: Vec<&[&str]> = seen.iter().map(Vec::as_slice).collect();
    assert_snapshot!("story_2_seen", home.story(&seen).await);
    let debated = [
        on("transition", "lead", &["debate"]),
        on(
            "annotate",
            "ann",
            &["bob/1", "--type", "challenge", "\x1b[31mNo search?\x1b[0m\x1b]0;evil\x07"],
        ),
        on("annotate", "bob", &["bob/1", "--type", "rebuttal", "--challenge", "ann/a1", "It has."]),
        on("vote", "bob", &["ann/1", "accept", "--reason", "Less to write"]),
        on("vote", "lead", &["ann/1", "accept"]),
        on("vote", "ann", &["bob/1", "reject"]),
        on("state", "lead", &["--full"]),
        on("transition", "lead", &["resolve"]),
        on(
            "annotate",
            "lead",
            &["bob/1", "--type", "resolution", "--challenge", "ann/a1", "Both have."],
        ),
        on("summarize", "ann", &[]),
        on("archive", "lead", &["--note", "mkdocs it is"]),
    ];
    let debated: Vec<&[&str]> = debated.iter().map(Vec::as_slice).collect();
    let story = home.story(&debated).await;
    let printed: Vec<&str> = story.lines().filter(|line| !line.starts_with('$')).collect();
    let printed = printed.join("\n");
    assert!(!printed.contains('\x1b') && !printed.contains("evil"), "{printed}");
    assert_snapshot!("story_3_debated", story);
    let after = home
        .story(&[
            &["whiteboard", "list"],
            &["sessions", "list"],
            &["sessions", "show", "adr-docs"],
            &["sessions", "replay", "adr-docs"],
            &["sessions", "stop", "adr-docs"],
            &["sessions", "resume", "adr-docs"],
            &["whiteboard", "watch", "adr-docs", "--as", "ann"],
            &["sessions", "remove", "adr-docs", "--yes"],
            &["whiteboard", "state", "adr-docs"],
            &["whiteboard", "open", "adr-docs", "Again?", "--as", "lead"],
        ])
        .await;
    assert_snapshot!("story_4_after", after);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_says_what_is_wrong() {
    let home = Home::new(NOWHERE);
    posted(&home).await;
    let mut story = home
        .story(&[
            &["whiteboard", "state", "nope"],
            &["whiteboard", "post", "nope", "--as", "ann", "--type", "claim", "--title", "A", "B"],
            &["whiteboard", "open", "adr-docs", "Again?", "--as", "lead"],
            &["whiteboard", "open", "Wrong Name", " ", "--as", "no body"],
            &["whiteboard", "open", "b", "?", "--as", "a", "--deadline", "soon"],
            &["whiteboard", "open", "b", "?", "--as", "a", "--deadline", "blind=soon"],
            &["whiteboard", "open", "b", "?"],
            &["whiteboard", "register", "adr-docs", "--as", "ann", "--role", "operator"],
            &["whiteboard", "post", "adr-docs", "--type", "claim", "--title", "A", "B"],
            &[
                "whiteboard",
                "post",
                "adr-docs",
                "--as",
                "eve",
                "--type",
                "claim",
                "--title",
                "A",
                "B",
            ],
            &[
                "whiteboard",
                "post",
                "adr-docs",
                "--as",
                "ann",
                "--type",
                "claim",
                "--title",
                "",
                " ",
            ],
            &["whiteboard", "vote", "adr-docs", "ann/1", "accept", "--as", "bob"],
            &["whiteboard", "vote", "adr-docs", "ann/1", "perhaps", "--as", "bob"],
            &["whiteboard", "conflicts", "adr-docs", "--as", "bob"],
            &["whiteboard", "transition", "adr-docs", "read", "--as", "ann"],
            &["whiteboard", "transition", "adr-docs", "debate", "--as", "lead"],
            &["whiteboard", "state", "adr-docs", "--token", "ann.0000"],
            &["whiteboard", "state", "adr-docs", "--token", "ann.0000", "--as", "bob"],
            &["whiteboard", "transition", "adr-docs", "read", "--as", "lead"],
            &["whiteboard", "transition", "adr-docs", "debate", "--as", "lead"],
            &["whiteboard", "vote", "adr-docs", "ann/9", "accept", "--as", "bob"],
            &["whiteboard", "annotate", "adr-docs", "ann/1", "--as", "bob", "--type", "challenge"],
        ])
        .await;
    // Another user of the same server cannot be one of these agents.
    let other = Home::new(NOWHERE);
    let serving = home.serve().await;
    story.push('\n');
    story.push_str(
        &other
            .story(&[
                &["--server", &serving.url, "whiteboard", "register", "adr-docs", "--as", "ann"],
                &["--server", &serving.url, "whiteboard", "vote", "adr-docs", "bob/1", "accept"],
            ])
            .await,
    );
    serving.kill().await;
    assert_snapshot!("wrong", story);
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_kept_for_this_user_only_and_can_be_given() {
    let home = Home::new(NOWHERE);
    let open = home.run(&["whiteboard", "open", "b", "?", "--as", "lead", "--json"]).await;
    assert_eq!((open.code, open.err.as_str()), (Some(0), ""));
    let opened: Value = serde_json::from_str(&open.out).unwrap();
    let file = home.path().join("data/agents.json");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // The only one need not be named.
    let post = ["whiteboard", "post", "b", "--type", "claim", "--title", "T", "-", "--json"];
    let mut command = home.command(&post);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"from a pipe").await.unwrap();
    let ran = home.ran(child.wait_with_output().await.unwrap());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), "(as lead)\n"));
    let written: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(written["postId"], "lead/1");

    std::fs::remove_file(&file).unwrap();
    let mut command = home.command(&post[..8]);
    command.env("PLENARY_AGENT_TOKEN", opened["agentToken"].as_str().unwrap());
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"by its token").await.unwrap();
    let ran = home.ran(child.wait_with_output().await.unwrap());
    assert_eq!((ran.code, ran.out.trim_end()), (Some(0), "lead/2  claim  T"), "{}", ran.err);

    std::fs::write(&file, "{").unwrap();
    let broken = home.run(&["whiteboard", "state", "b"]).await;
    assert_eq!(broken.code, Some(2));
    assert!(broken.err.contains("agents.json is broken"), "{}", broken.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_commands_at_once_do_not_lose_each_others_tokens() {
    let home = Home::new(NOWHERE);
    home.run(&["whiteboard", "open", "b", "?", "--as", "lead"]).await;
    let names = ["a1", "a2", "a3", "a4"];
    let register = names.map(|name| ["whiteboard", "register", "b", "--as", name]);
    let ran = futures::future::join_all(register.iter().map(|command| home.run(command))).await;
    for ran in ran {
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
    for name in names {
        let post =
            ["whiteboard", "post", "b", "--as", name, "--type", "claim", "--title", "T", "B"];
        let ran = home.run(&post).await;
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.err);
    }
}

type Watching = (Child, Lines<BufReader<ChildStdout>>);

fn watch(home: &Home, who: &str) -> Watching {
    let mut command = home.command(&["whiteboard", "watch", "b", "--as", who]);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines)
}

async fn next(lines: &mut Lines<BufReader<ChildStdout>>) -> String {
    let line = tokio::time::timeout(SAFETY, lines.next_line()).await.unwrap().unwrap();
    let line = line.expect("the watch has ended");
    // Without the time.
    line[10..].to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_shows_everything_once_also_when_its_server_is_killed() {
    let home = Home::new(NOWHERE);
    home.run(&["whiteboard", "open", "b", "Tea?", "--as", "lead"]).await;
    let serving = home.serve().await;
    let (mut child, mut lines) = watch(&home, "lead");
    assert_eq!(next(&mut lines).await, "lead opened the board: Tea?");
    home.run(&["whiteboard", "register", "b", "--as", "ann"]).await;
    assert_eq!(next(&mut lines).await, "ann joined as specialist");
    let post =
        ["whiteboard", "post", "b", "--as", "ann", "--type", "proposal", "--title", "Tea", "."];
    home.run(&post).await;
    // Hidden posts send no event: who leads looks.
    assert_eq!(next(&mut lines).await, "ann has posted (hidden)");
    serving.kill().await;
    // The watch takes the folder over, and this goes through it, or the other way round.
    let moved = home.run(&["whiteboard", "transition", "b", "read", "--as", "lead"]).await;
    assert_eq!(moved.code, Some(0), "{}", moved.err);
    assert_eq!(next(&mut lines).await, "lead moved the board on to read");
    assert_eq!(next(&mut lines).await, "ann/1 proposal: Tea");
    for phase in ["debate", "resolve", "archived"] {
        home.run(&["whiteboard", "transition", "b", phase, "--as", "lead"]).await;
        assert_eq!(next(&mut lines).await, format!("lead moved the board on to {phase}"));
    }
    let status = tokio::time::timeout(SAFETY, child.wait()).await.unwrap().unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(lines.next_line().await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_ends_the_watch_and_not_the_board() {
    let home = Home::new(NOWHERE);
    home.run(&["whiteboard", "open", "b", "Tea?", "--as", "lead"]).await;
    let (mut child, mut lines) = watch(&home, "lead");
    assert_eq!(next(&mut lines).await, "lead opened the board: Tea?");
    // Nobody serves but the watch: others go through it.
    let ran = home.run(&["whiteboard", "register", "b", "--as", "ann"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(next(&mut lines).await, "ann joined as specialist");
    interrupt(&child);
    let status = tokio::time::timeout(SAFETY, child.wait()).await.unwrap().unwrap();
    assert_eq!(status.code(), Some(130));
    let ran = home.run(&["whiteboard", "register", "b", "--as", "bob"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

/// Whoever serves the folder asks the seats; a watch does.
#[tokio::test(flavor = "multi_thread")]
async fn models_take_part_while_somebody_watches() {
    let post = json!({ "posts": [{ "type": "proposal", "title": "Tea", "body": "Because." }] });
    let script = Script::new(Reply::text(&post.to_string())).models(&["a"]);
    let scripted = Scripted::start(script).await.unwrap();
    let home = Home::new(&scripted.url());
    let open = ["whiteboard", "open", "b", "Tea?", "--as", "lead", "--seat", "max=ollama/a"];
    let budget = ["--budget", "50ktok", "--budget", "max=20ktok"];
    let opened = home.run(&[&open[..], &budget].concat()).await;
    assert_eq!(opened.code, Some(0), "{}", opened.shown());
    assert!(
        opened.err.contains("Models take part only while `plenary serve`"),
        "{}",
        opened.shown()
    );
    // Whoever opened the board may have asked already, in the moment that it was there.
    let (mut child, mut lines) = watch(&home, "lead");
    for line in ["lead opened the board: Tea?", "lead seated max (ollama/a)"] {
        assert_eq!(next(&mut lines).await, line);
    }
    assert_eq!(next(&mut lines).await, "max has posted (hidden)");
    let seen = home.run(&["whiteboard", "state", "b", "--as", "lead"]).await;
    assert!(seen.out.contains("ollama/a  answered"), "{}", seen.shown());
    home.run(&["whiteboard", "transition", "b", "read", "--as", "lead"]).await;
    for line in [
        "lead moved the board on to read",
        "the budget was set",
        "max/1 proposal: Tea",
        "max answered (post)",
    ] {
        assert_eq!(next(&mut lines).await, line);
    }
    let seat =
        ["whiteboard", "seat", "b", "con=@the-contrarian", "--domain", "tea", "--as", "lead"];
    let seated = home.run(&seat).await;
    assert!(seated.out.contains("@the-contrarian, ollama/a"), "{}", seated.shown());
    assert_eq!(next(&mut lines).await, "lead seated con (ollama/a)");
    let stopped = home.run(&["whiteboard", "stop", "b", "--as", "lead"]).await;
    assert!(stopped.err.contains("Nothing is running on this whiteboard"), "{}", stopped.shown());
    // The commands of all sessions act as the agent whose token is kept here.
    let stopped = home.run(&["sessions", "stop", "b"]).await;
    assert!(stopped.err.contains("Nothing is running on this whiteboard"), "{}", stopped.shown());
    let allowed = home.run(&["sessions", "budget", "b", "60ktok"]).await;
    assert!(allowed.out.contains("of 60,000 tokens"), "{}", allowed.shown());
    interrupt(&child);
    tokio::time::timeout(SAFETY, child.wait()).await.unwrap().unwrap();
}
