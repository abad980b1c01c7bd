//! Workflows on the command line: what files say, and whole stories of runs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;
use std::process::Stdio;

use insta::assert_snapshot;
use plenary_scripted::{Fault, Reply, Script, Scripted, When};
use serde_json::{Value, json};
use support::{Home, NOWHERE, Ran, SAFETY, interrupt, plain};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Child;

const WRONG: &str = "\
name: adr
inputs:
  topic: { type: string }
steps:
  one:
    ask: { promt: \"{{ inputs.topik }}\" }
  two: { set: \"{{ steps.oen.text }}\", needs: [one] }
";

const TRIED: &str = "\
name: tried
inputs:
  topic: string
steps:
  panel: { boardroom: { prompt: \"{{ inputs.topic }}\" } }
  brief: { ask: { prompt: \"Sum up: {{ steps.panel.verdict }}\" } }
  sign: { approve: { who: [ann], deadline: 2d }, needs: [brief] }
outputs:
  brief: \"{{ steps.brief.text }}\"
cases:
  - name: it is signed
    inputs: { topic: Which? }
    answers: { panel: { verdict: This. }, brief: This one. }
    approvals: [{ step: sign, by: ann, decision: approved, at: 36h }]
    expect: { status: done, outputs: { brief: This one. } }
  - name: nobody signs
    inputs: { topic: Which? }
    answers: { panel: { verdict: This. }, brief: That one. }
    expect:
      status: done
      steps: { brief: { input: { prompt: { contains: That } } } }
  - name: nothing is said
    inputs: { topic: Which? }
    expect: { status: done }
";

/// Runs in a folder of its own.
async fn run(home: &Home, arguments: &[&str]) -> Ran {
    let mut command = home.command(arguments);
    command.current_dir(home.path());
    home.finish(command).await
}

#[tokio::test(flavor = "multi_thread")]
async fn all_problems_are_drawn_at_once() {
    let home = Home::new(NOWHERE);
    fs::write(home.path().join("adr.yaml"), WRONG).unwrap();
    assert_snapshot!(run(&home, &["workflow", "check", "adr.yaml"]).await.shown());
    assert_snapshot!(
        "all_problems_as_json",
        run(&home, &["workflow", "check", "adr.yaml", "--json"]).await.shown()
    );
    assert_eq!(run(&home, &["workflow", "graph", "adr.yaml"]).await.code, Some(1));
    assert_eq!(run(&home, &["workflow", "check", "missing.yaml"]).await.code, Some(2));
    fs::write(home.path().join("large.yaml"), "ä".repeat(5_000_000)).unwrap();
    let large = run(&home, &["workflow", "check", "large.yaml"]).await;
    assert_eq!(large.code, Some(1));
    assert!(large.err.contains("longer than 262144 bytes"), "{}", large.err);
    fs::write(home.path().join("other.yaml"), b"name: \xff\xfe").unwrap();
    assert_eq!(run(&home, &["workflow", "check", "other.yaml"]).await.code, Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_workflow_is_sound_and_can_be_drawn() {
    let home = Home::new(NOWHERE);
    assert_snapshot!("new_workflow", run(&home, &["workflow", "new", "weekly"]).await.shown());
    let again = run(&home, &["workflow", "new", "weekly"]).await;
    assert_eq!(again.code, Some(2), "{}", again.err);
    assert_eq!(run(&home, &["workflow", "new", "Not a name"]).await.code, Some(2));
    assert_snapshot!(
        "new_workflow_checked",
        run(&home, &["workflow", "check", "weekly.yaml"]).await.shown()
    );
    assert_eq!(run(&home, &["workflow", "test", "weekly.yaml"]).await.code, Some(0));
    assert_snapshot!(
        "new_workflow_drawn",
        run(&home, &["workflow", "graph", "weekly.yaml"]).await.shown()
    );
    let kept = fs::read_to_string(home.path().join("workflow.schema.json")).unwrap();
    let printed = run(&home, &["workflow", "schema"]).await.out;
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(read(&kept), read(&printed));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cases_of_every_example_hold() {
    let home = Home::new(NOWHERE);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut story = String::new();
    for name in ["adr", "review-a-diff", "panel-then-person", "weekly-council"] {
        let file = format!("{name}.yaml");
        fs::copy(format!("{folder}/{file}"), home.path().join(&file)).unwrap();
        story += &run(&home, &["workflow", "test", &file]).await.shown();
    }
    assert_snapshot!(story);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_hold_is_shown_where_it_stands() {
    let home = Home::new(NOWHERE);
    fs::write(home.path().join("tried.yaml"), TRIED).unwrap();
    assert_snapshot!(run(&home, &["workflow", "test", "tried.yaml"]).await.shown());
    assert_snapshot!(
        "what_does_not_hold_as_json",
        run(&home, &["workflow", "test", "tried.yaml", "--json"]).await.shown()
    );
    let wrong =
        TRIED.replace("panel: { verdict", "pannel: { verdict").replace("step: sign", "step: brief");
    fs::write(home.path().join("wrong.yaml"), wrong).unwrap();
    assert_snapshot!(
        "cases_that_are_wrong",
        run(&home, &["workflow", "test", "wrong.yaml"]).await.shown()
    );
    let (without, _) = TRIED.split_once("cases:").unwrap();
    fs::write(home.path().join("without.yaml"), without).unwrap();
    assert_snapshot!("no_cases", run(&home, &["workflow", "test", "without.yaml"]).await.shown());
    assert_eq!(run(&home, &["workflow", "test", "missing.yaml"]).await.code, Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_workflow_begins_from_an_example() {
    let home = Home::new(NOWHERE);
    for example in ["adr", "review-a-diff", "panel-then-person", "weekly-council"] {
        let name = format!("my-{example}");
        let new = run(&home, &["workflow", "new", &name, "--from", example]).await;
        assert_eq!(new.code, Some(0), "{}", new.shown());
        let tested = run(&home, &["workflow", "test", &format!("{name}.yaml")]).await;
        assert_eq!(tested.code, Some(0), "{}", tested.shown());
    }
    let wrong = run(&home, &["workflow", "new", "x", "--from", "nothing"]).await;
    assert_eq!(wrong.code, Some(2), "{}", wrong.shown());
}

/// Every example of the page stands for itself, or for the steps of a file.
#[test]
fn every_example_of_the_page_is_sound() {
    let page = include_str!("../../../docs/workflows.md");
    let mut blocks = 0;
    for block in page.split("```yaml\n").skip(1) {
        let (block, _) = block.split_once("```").unwrap();
        // Cases belong to the example from which they are taken.
        if block.starts_with("cases:") {
            continue;
        }
        let whole = match block.starts_with("name:") {
            true => block.to_owned(),
            false => {
                let steps: String = block.lines().map(|line| format!("  {line}\n")).collect();
                format!("name: page\ninputs: {{ topic: string, people: array }}\nsteps:\n{steps}")
            }
        };
        let checked = plenary_domain::workflow::check(&whole);
        assert!(checked.definition.is_some(), "{whole}\n{:#?}", checked.problems);
        blocks += 1;
    }
    assert!(blocks > 15, "{blocks}");
}

// ---------------------------------------------------------------------------
// Runs

async fn start(script: Script) -> (Home, Scripted) {
    let scripted = Scripted::start(script.models(&["qwen3:8b"])).await.unwrap();
    let home = Home::new(&scripted.url());
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    for name in ["adr", "review-a-diff", "panel-then-person", "weekly-council"] {
        let file = format!("{name}.yaml");
        fs::copy(format!("{folder}/{file}"), home.path().join(&file)).unwrap();
    }
    (home, scripted)
}

/// Specialists who agree on the engineer's proposal; one doubts another.
fn deciding() -> Script {
    let json = |value: Value| Reply::text(&value.to_string()).usage(100, 20);
    let vote = |post: &str, vote: &str| json!({ "post": post, "vote": vote, "reason": "So." });
    let votes = json!({ "votes": [
        vote("engineer/1", "accept"), vote("skeptic/1", "reject"), vote("operator/1", "reject"),
    ] });
    let post = json!({ "title": "Use a queue", "body": "It is simple.", "type": "proposal" });
    let doubt = json!({ "annotations": [
        { "post": "operator/1", "type": "challenge", "body": "Who runs it at night?" },
    ] });
    let finding = json!({ "findings": [{
        "title": "No end", "body": "It loads all.", "file": "a.rs", "location": "12",
        "severity": "high",
    }] });
    Script::new(Reply::canned())
        .when(When::says("Propose one answer"), json(post))
        .when(When::says("Check the facts"), json(json!({ "annotations": [] })))
        .when(When::says("Challenge what you"), json(doubt))
        .when(When::says("Vote on every post"), json(votes))
        .when(When::says("Review this change"), json(finding))
}

/// Steps that run at the same time end in an order that is no matter of ours.
fn sorted(home: &Home, ran: &Ran) -> String {
    let mut lines: Vec<&str> = ran.err.lines().collect();
    lines.sort_unstable();
    let err = plain(&lines.join("\n"), home.path().to_str().unwrap());
    let mut entries: Vec<&str> = ran.out.lines().filter(|line| line.starts_with("- ")).collect();
    entries.sort_unstable_by(|a, b| b.cmp(a));
    let line = |line: &str| match line.starts_with("- ") {
        true => format!("{}\n", entries.pop().unwrap()),
        false => format!("{line}\n"),
    };
    let out: String = ran.out.lines().map(line).collect();
    let out = plain(&out, home.path().to_str().unwrap());
    format!("exit: {:?}\n----- out\n{out}----- err, sorted\n{err}", ran.code)
}

fn read(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.shown()))
}

const ADR: [&str; 5] = ["workflow", "run", "adr.yaml", "--input", "topic=Where do jobs wait?"];

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_comes_out_with_its_dissent() {
    let (home, scripted) = start(deciding()).await;
    assert_snapshot!("dry", run(&home, &[&ADR[..], &["--dry"]].concat()).await.shown());
    assert_eq!(scripted.requests().len(), 0);
    let ran = run(&home, &ADR).await;
    assert_snapshot!("adr", sorted(&home, &ran));
    assert_eq!(scripted.requests().len(), 12);
    let json = run(&home, &[&ADR[..], &["--json"]].concat()).await;
    assert_eq!((json.code, json.err.as_str()), (Some(0), ""));
    let view = read(&json);
    assert_eq!(view["outputs"]["outcome"], "accepted", "{view:#}");
    let status = read(&run(&home, &["workflow", "status", "--json"]).await);
    assert_eq!(status, view);
    let id = view["id"].as_str().unwrap();
    let short = read(&run(&home, &["workflow", "status", &id[28..], "--json"]).await);
    assert_eq!(short["id"], id);
    let dry = read(&run(&home, &[&ADR[..], &["--dry", "--json"]].concat()).await);
    assert!(dry["calls"]["typical"].as_u64().unwrap() >= 12, "{dry:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_fails_ends_in_one() {
    let broken = Script::new(Reply::fault(Fault::Unauthorized));
    let (home, _scripted) = start(broken).await;
    let one = ["--input", "specialists=engineer"];
    assert_snapshot!("failed", run(&home, &[&ADR[..], &one].concat()).await.shown());
    assert_snapshot!("failed_status", run(&home, &["workflow", "status"]).await.shown());
    let json = run(&home, &[&ADR[..], &one, &["--json"]].concat()).await;
    assert_eq!((json.code, &read(&json)["status"]), (Some(1), &json!("failed")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_reviewed_with_a_folder_for_files_and_without() {
    let (home, _scripted) = start(deciding()).await;
    let review = async || {
        let with = ["--input", "diff=-", "--input", "sides=security"];
        let mut command =
            home.command(&[&["workflow", "run", "review-a-diff.yaml"], &with[..]].concat());
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"- old\n+ new\n").await.unwrap();
        let output = tokio::time::timeout(SAFETY, child.wait_with_output()).await.unwrap();
        home.ran(output.unwrap())
    };
    assert_snapshot!("review_without_a_folder", review().await.shown());
    fs::create_dir(home.path().join("reviews")).unwrap();
    let folder = home.path().join("reviews");
    home.configure(&format!("[workflows]\nfolders = [{folder:?}]\n"));
    let with = review().await;
    assert_eq!(with.code, Some(0), "{}", with.shown());
    let file = fs::read_to_string(folder.join("review.md")).unwrap();
    assert!(with.out.contains(&file.trim_end().replace('\u{a0}', " ")), "{file}\n{}", with.out);
}

/// The program in the background; its standard error is read line by line.
struct Following {
    child: Child,
    lines: tokio::io::Lines<BufReader<tokio::process::ChildStderr>>,
}

impl Following {
    fn begin(home: &Home, arguments: &[&str]) -> Following {
        let mut child = home.command(arguments).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        Following { child, lines }
    }

    async fn until(&mut self, wanted: &str) -> String {
        loop {
            let line = tokio::time::timeout(SAFETY, self.lines.next_line()).await.unwrap().unwrap();
            let line = line.unwrap_or_else(|| panic!("it ended without saying {wanted:?}"));
            if line.contains(wanted) {
                return line;
            }
        }
    }

    async fn ended(mut self) -> (Option<i32>, String) {
        while tokio::time::timeout(SAFETY, self.lines.next_line()).await.unwrap().unwrap().is_some()
        {
        }
        let output = tokio::time::timeout(SAFETY, self.child.wait_with_output()).await.unwrap();
        let output = output.unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_advises_and_a_person_decides() {
    let (home, _scripted) = start(Script::new(Reply::canned())).await;
    let mut following = Following::begin(
        &home,
        &[
            "workflow",
            "run",
            "panel-then-person.yaml",
            "--input",
            "question=Shall we move?",
            "--input",
            "people=ann,ben",
        ],
    );
    following.until("→ plenary workflow approve").await;
    let story = home
        .story(&[
            &["workflow", "status"],
            &["workflow", "seats", "last"],
            &["workflow", "approve", "last", "settle/1/sign"],
            &["workflow", "approve", "last", "settle/1/sign", "--as", "zoe"],
            &["workflow", "approve", "last", "tell", "--as", "ann"],
            &["workflow", "approve", "last", "settle/1/sign", "--as", "ann", "--field", "x=1"],
            &["workflow", "approve", "last", "settle/1/sign", "--as", "ann", "--token", "x.00"],
            &[
                "workflow",
                "approve",
                "last",
                "sign",
                "--as",
                "ann",
                "--decision",
                "changes",
                "--reason",
                "Not in winter.",
            ],
        ])
        .await;
    assert_snapshot!("person", story);
    following.until("settle/2/sign").await;
    let seats = read(&home.run(&["workflow", "seats", "last", "--json"]).await);
    let token = seats["seatTokens"][1]["seatToken"].as_str().unwrap();
    let approve = ["workflow", "approve", "last", "settle/2/sign", "--token", token];
    let approved = home.run(&[&approve[..], &["--field", "comment=24"]].concat()).await;
    assert_eq!(approved.code, Some(0), "{}", approved.shown());
    let (code, out) = following.ended().await;
    assert_eq!(code, Some(0), "{out}");
    assert!(out.starts_with("by:\n- ben\nverdict:\n"), "{out}");
}

const WAITS: &str = "\
name: waits
steps:
  built: { wait: { any: [{ signal: built, branch: main }], timeout: 1h } }
  done: { set: \"{{ steps.built.outcome }}\" }
outputs:
  how: \"{{ steps.done }}\"
";

#[tokio::test(flavor = "multi_thread")]
async fn a_run_waits_for_signals_and_can_be_cancelled_and_left() {
    let (home, _scripted) = start(Script::new(Reply::canned())).await;
    fs::write(home.path().join("waits.yaml"), WAITS).unwrap();
    let waits = ["workflow", "run", "waits.yaml"];
    let mut following = Following::begin(&home, &waits);
    following.until("waiting for built branch=main").await;
    let story = home
        .story(&[
            &["workflow", "signal", "built", "branch=dev"],
            &["workflow", "signal", "other"],
            &["workflow", "signal", "Not a name"],
            &["workflow", "signal", "built", "main"],
            &["workflow", "signal", "built", "branch=main"],
        ])
        .await;
    assert_snapshot!("signals", story);
    assert_eq!(following.ended().await, (Some(0), "how: came\n".into()));

    let mut following = Following::begin(&home, &waits);
    following.until("waiting for built").await;
    interrupt(&following.child);
    assert_eq!(following.ended().await.0, Some(130));
    let story = home
        .story(&[
            &["workflow", "status"],
            &["workflow", "cancel", "last", "--reason", "Too late."],
            &["workflow", "cancel", "last"],
            &["workflow", "status", "--follow"],
            &["sessions", "list", "--kind", "workflow"],
            &["sessions", "show", "last"],
            &["sessions", "show", "last", "--markdown"],
            &["sessions", "replay", "last"],
            &["sessions", "retry", "last", "1"],
            &["sessions", "stop", "last"],
            &["sessions", "remove", "last", "--yes"],
            &["workflow", "runs"],
        ])
        .await;
    assert_snapshot!("cancelled", story);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_asks_nothing_again_that_came_before() {
    let (home, scripted) = start(deciding()).await;
    run(&home, &ADR).await;
    let before = scripted.requests().len();
    let fork =
        run(&home, &["workflow", "fork", "last", "--from", "outcome", "--input", "topic=And now?"])
            .await;
    assert_snapshot!("fork", sorted(&home, &fork));
    assert_eq!(scripted.requests().len(), before);
    let wrong = ["workflow", "fork", "last", "--from", "outcom"];
    assert_snapshot!("fork_wrong", run(&home, &wrong).await.shown());
}

#[tokio::test(flavor = "multi_thread")]
async fn workflows_are_kept_on_a_shelf() {
    let (home, _scripted) = start(Script::new(Reply::canned())).await;
    let hello = "name: hello\ninputs: { who: string }\nsteps:\n  say: { set: \"Hi {{ inputs.who }}\" }\n\
                 outputs: { said: \"{{ steps.say }}\" }\n";
    fs::write(home.path().join("hello.yaml"), hello).unwrap();
    fs::write(home.path().join("wrong.yaml"), WRONG).unwrap();
    let first = home
        .story(&[
            &["workflow", "list"],
            &["workflow", "store", "hello.yaml"],
            &["workflow", "store", "wrong.yaml"],
            &["workflow", "store", "missing.yaml"],
            &["workflow", "show", "hello"],
            &["workflow", "run", "hello", "--input", "who=24"],
            &["workflow", "run", "hello"],
            &["workflow", "run", "hello", "--input", "whom=Ann"],
            &["workflow", "run", "hello", "--input", "who"],
            &["workflow", "run", "nobody"],
            &["workflow", "run", "hello", "--input", "who=Ann", "--dry"],
            &["workflow", "run", "hello", "--input", "who=Ann", "--version", "7"],
        ])
        .await;
    assert_snapshot!("shelf", first);
    fs::write(home.path().join("hello.yaml"), hello.replace("Hi ", "Hello ")).unwrap();
    let second = home
        .story(&[
            &["workflow", "store", "hello.yaml"],
            &["workflow", "run", "hello", "--input", "who=Ann", "--version", "1"],
            &["workflow", "show", "hello"],
            &["workflow", "show", "hello", "--source"],
            &["workflow", "list"],
            &["workflow", "remove", "hello"],
            &["workflow", "remove", "hello", "--yes"],
            &["workflow", "show", "hello"],
            &["workflow", "run", "hello", "--input", "who=Ann"],
        ])
        .await;
    assert_snapshot!("shelf_later", second);
    let stored = run(&home, &["workflow", "store", "weekly-council.yaml", "--json"]).await;
    assert!(read(&stored)["nextAt"].is_string(), "{}", stored.out);
    let listed = run(&home, &["workflow", "list"]).await.out;
    assert!(listed.contains("no runs yet") && listed.contains("next 20"), "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn help_of_runs() {
    let home = Home::new(NOWHERE);
    for command in [
        "new", "run", "status", "runs", "approve", "signal", "cancel", "fork", "seats", "store",
        "list", "show", "remove",
    ] {
        let ran = home.run(&["workflow", command, "--help"]).await;
        assert_eq!(ran.code, Some(0));
        assert_snapshot!(format!("help_{command}"), ran.shown());
    }
}
