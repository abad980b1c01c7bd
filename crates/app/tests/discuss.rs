//! Discussions from the command line: whole stories as snapshots.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use insta::assert_snapshot;
use plenary_scripted::{Fault, Gate, Reply, Script, Scripted, When};
use serde_json::{Value, json};
use support::{Home, NOWHERE, Ran, SAFETY, interrupt, plain};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

async fn start(script: Script) -> (Home, Scripted) {
    let script = script.models(&["chair", "ann", "bob"]);
    let scripted = Scripted::start(script).await.unwrap();
    (Home::new(&scripted.url()), scripted)
}

/// The chair's answers, one after the other; Ann and Bob say the same each time.
fn table(chair: &[&str]) -> Script {
    chair.iter().zip(1..).fold(Script::new(Reply::canned()), |script, (said, nth)| {
        script.when(When::model("chair").nth(nth), Reply::text(said))
    })
}

fn speakers(script: Script) -> Script {
    script
        .when(When::model("ann"), Reply::text("I would take **tea**.\x1b[2J"))
        .when(When::model("bob"), Reply::text("Coffee wakes one up."))
}

const ANN: &str = r#"{"decision": "continue", "nextParticipantId": "ann", "question": "What would you take?", "reasoning": "Ann knows both."}"#;
const BOB: &str = r#"{"decision": "continue", "nextParticipantId": "bob", "question": "What is wrong with tea?", "reasoning": "Nobody has doubted it."}"#;
const END: &str = r#"{"decision": "synthesize", "nextParticipantId": "none", "question": "", "reasoning": "All is said."}"#;
const CONCLUSION: &str = "## Tea\n\nAnn is for it, and nobody has shown why not.";

const DISCUSS: [&str; 8] = [
    "discuss",
    "Tea or coffee?",
    "--facilitator",
    "Chair=ollama/chair",
    "--with",
    "Ann=ollama/ann",
    "--with",
    "Bob=ollama/bob:devil-advocate",
];

async fn discuss(home: &Home, more: &[&str]) -> Ran {
    home.run(&[&DISCUSS[..], more].concat()).await
}

/// A discussion that runs, and what it says meanwhile.
struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStderr>>,
    told: String,
}

impl Running {
    fn start(home: &Home, more: &[&str]) -> Running {
        Running::of(home.command(&[&DISCUSS[..], more].concat()))
    }

    fn of(mut command: Command) -> Running {
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        Running { child, lines, told: String::new() }
    }

    /// Returns when a line with these words has been told.
    async fn until(&mut self, words: &str) {
        loop {
            let line = tokio::time::timeout(SAFETY, self.lines.next_line()).await;
            let line = line.unwrap_or_else(|_| panic!("{words:?} was not told: {}", self.told));
            let line = line.unwrap().unwrap_or_else(|| panic!("it has ended: {}", self.told));
            self.told.push_str(&format!("{line}\n"));
            if line.contains(words) {
                return;
            }
        }
    }

    async fn ran(mut self, home: &Home) -> Ran {
        while let Some(line) =
            tokio::time::timeout(SAFETY, self.lines.next_line()).await.unwrap().unwrap()
        {
            self.told.push_str(&format!("{line}\n"));
        }
        let mut stdout = vec![];
        self.child.stdout.take().unwrap().read_to_end(&mut stdout).await.unwrap();
        let status = tokio::time::timeout(SAFETY, self.child.wait()).await.unwrap().unwrap();
        home.ran(std::process::Output { status, stdout, stderr: self.told.into_bytes() })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn help() {
    let home = Home::new(NOWHERE);
    assert_snapshot!("help", home.run(&["discuss", "--help"]).await.shown());
    for command in ["start", "pause", "conclude", "interject", "decide"] {
        let ran = home.run(&["sessions", command, "--help"]).await;
        assert_eq!(ran.code, Some(0));
        assert_snapshot!(format!("help_{command}"), ran.shown());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn to_the_last_round() {
    let (home, _scripted) = start(speakers(table(&[ANN, BOB, CONCLUSION]))).await;
    let ran = discuss(&home, &["--rounds", "2"]).await;
    assert!(!ran.out.contains('\x1b') && !ran.err.contains('\x1b'), "{:?}", ran.err);
    assert_eq!(ran.out, format!("{CONCLUSION}\n"));
    assert_snapshot!("concluded", ran.shown());
    let story = home
        .story(&[
            &["sessions", "list"],
            &["sessions", "show", "last"],
            &["sessions", "replay", "last"],
            &["sessions", "export", "last", "--format", "markdown"],
            &["sessions", "resume", "last"],
            &["sessions", "pause", "last"],
            &["sessions", "stop", "last"],
            &["sessions", "conclude", "last"],
            &["sessions", "interject", "last", "One more thing."],
            &["sessions", "retry", "last", "1"],
            &["sessions", "synthesize", "last"],
        ])
        .await;
    assert_snapshot!("concluded_after", story);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_facilitator_ends_early() {
    let (home, scripted) = start(speakers(table(&[ANN, END, CONCLUSION]))).await;
    let ran = discuss(&home, &["--format", "review", "--markdown", "-o", "out.md"]).await;
    assert_snapshot!("early", ran.shown());
    assert_eq!(scripted.requests().len(), 4);
    let file = std::fs::read_to_string(home.path().join("out.md")).unwrap();
    assert!(file.starts_with("# Tea or coffee?\n"), "{file}");
}

#[tokio::test(flavor = "multi_thread")]
async fn decisions_that_cannot_be_read_are_told() {
    let mended = format!("Sure!\n```json\n{BOB}\n```");
    let (home, _scripted) = start(speakers(table(&["Hm, hm.", &mended, CONCLUSION]))).await;
    assert_snapshot!("garbage", discuss(&home, &["--rounds", "2"]).await.shown());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_fails_is_told() {
    let script =
        table(&[ANN, BOB, CONCLUSION]).when(When::model("bob"), Reply::fault(Fault::Unauthorized));
    let (home, _scripted) = start(speakers(script)).await;
    assert_snapshot!("participant_failed", discuss(&home, &["--rounds", "2"]).await.shown());

    let script = table(&[ANN, BOB, CONCLUSION])
        .when(When::model("ann"), Reply::fault(Fault::Unauthorized))
        .when(When::model("bob"), Reply::fault(Fault::Unauthorized));
    let (home, _scripted) = start(script).await;
    assert_snapshot!("failed", discuss(&home, &["--rounds", "2"]).await.shown());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_started_later() {
    let (home, scripted) = start(speakers(table(&[ANN, CONCLUSION]))).await;
    std::fs::write(home.path().join("leaves.md"), "Green leaves.\n").unwrap();
    let draft = ["--rounds", "1", "--draft", "--file", "leaves.md", "--name", "Drinks"];
    let draft = [&DISCUSS[..], &draft, &["--project", "kitchen", "--budget", "90ktok"]];
    let draft = draft.concat();
    let story = home
        .story(&[
            &draft,
            &["sessions", "resume", "last"],
            &["sessions", "conclude", "last"],
            &["sessions", "show", "last"],
            &["sessions", "start", "last"],
            &["sessions", "start", "last"],
            &["sessions", "list", "--kind", "discussion", "--project", "kitchen"],
        ])
        .await;
    assert_snapshot!("draft", story);
    assert!(scripted.requests()[0].prompt.contains("Green leaves."));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_pauses_and_the_next_process_goes_on_with_what_was_due() {
    let gate = Gate::new();
    let waits = Reply::text("I would take tea.").gate(1, &gate);
    let script = table(&[ANN, END, CONCLUSION]).when(When::model("ann"), waits);
    let (home, scripted) = start(script).await;
    let mut running = Running::start(&home, &[]);
    gate.reached(1).await;
    interrupt(&running.child);
    running.until("Pausing after this turn").await;
    gate.release();
    let paused = running.ran(&home).await;
    assert_snapshot!("paused", paused.shown());
    assert_eq!(scripted.requests().len(), 2);
    let story = home
        .story(&[
            &["sessions", "pause", "last"],
            &["sessions", "interject", "last", "Mind the cups.", "--as", "Zoe"],
            &["sessions", "interject", "last", "Mind me.", "--as", "Ann"],
            &["sessions", "show", "last"],
            &["sessions", "resume", "last"],
        ])
        .await;
    assert_snapshot!("resumed", story);
    let asked: Vec<String> = scripted.requests().into_iter().map(|request| request.model).collect();
    assert_eq!(asked, ["chair", "ann", "chair", "chair"]);
    assert!(scripted.requests()[2].prompt.contains("Mind the cups."));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_interrupt_stops_at_once() {
    let gate = Gate::new();
    let waits = Reply::text("one two three four").gate(2, &gate);
    let script = table(&[ANN, CONCLUSION]).when(When::model("ann"), waits);
    let (home, scripted) = start(script).await;
    let mut running = Running::start(&home, &[]);
    gate.reached(1).await;
    interrupt(&running.child);
    running.until("Pausing after this turn").await;
    interrupt(&running.child);
    let stopped = running.ran(&home).await;
    assert_eq!(stopped.code, Some(130), "{}", stopped.err);
    assert!(stopped.err.contains("Stopped; what has arrived is kept."), "{}", stopped.err);
    let id = stopped.err.trim_end().rsplit(' ').next().unwrap();
    assert!(stopped.err.contains(&format!("Resume: plenary sessions resume {id}")));
    assert!(scripted.wait_for_ended(2).await[1].dropped, "the request ended with the interrupt");

    // Concluded with what there is; Ann is not asked again.
    let concluded = home.run(&["sessions", "conclude", id]).await;
    let expected =
        format!("*Not heard: Ann (was stopped); Bob (was not asked).*\n\n{CONCLUSION}\n");
    assert_eq!((concluded.code, concluded.out), (Some(0), expected), "{}", concluded.err);
    assert_eq!(scripted.requests().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_was_cut_off_is_followed_again() {
    let gate = Gate::new();
    let waits = Reply::text("I would take tea.").gate(1, &gate);
    let script = table(&[ANN, END, CONCLUSION]).when(When::model("ann"), waits);
    let (home, scripted) = start(script).await;
    let mut running = Running::start(&home, &[]);
    gate.reached(1).await;
    running.child.start_kill().unwrap();
    running.child.wait().await.unwrap();
    gate.release();
    let resumed = home.run(&["sessions", "resume", "last"]).await;
    assert_eq!((resumed.code, resumed.out.lines().last()), (Some(0), CONCLUSION.lines().last()));
    assert!(resumed.err.contains("I would take tea."), "{}", resumed.err);
    let asked: Vec<String> = scripted.requests().into_iter().map(|request| request.model).collect();
    assert_eq!(asked, ["chair", "ann", "ann", "chair", "chair"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_takes_part_from_another_process() {
    let zoe = ANN.replace("\"ann\"", "\"zoe\"");
    let (home, _scripted) = start(speakers(table(&[&zoe, CONCLUSION]))).await;
    let mut running = Running::start(&home, &["--person", "Zoe", "--rounds", "1"]);
    running.until("plenary sessions reply").await;
    let story = home
        .story(&[
            &["sessions", "decide", "last", "--end"],
            &["sessions", "reply", "last", " "],
            &["sessions", "reply", "last", "--advisor", "1", "Milk."],
            &["sessions", "reply", "last", "Milk."],
        ])
        .await;
    let story = format!("{}\n{story}", running.ran(&home).await.shown());
    assert_snapshot!("person", story);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_leads() {
    let (home, _scripted) = start(speakers(Script::new(Reply::canned()))).await;
    let lead: Vec<&str> = DISCUSS.into_iter().filter(|word| !word.contains("hair")).collect();
    let lead: Vec<&str> = lead.into_iter().filter(|word| *word != "--facilitator").collect();
    let lead = [&lead[..], &["--lead-as", "Zoe"]].concat();
    let mut running = Running::of(home.command(&lead));
    running.until("plenary sessions decide").await;
    let wrong = home
        .story(&[
            &["sessions", "decide", "last", "--end"],
            &["sessions", "decide", "last", "--next", "chair", "--question", "Why?"],
            &["sessions", "decide", "last", "--next", "Ann"],
            &["sessions", "reply", "last", "Hello."],
        ])
        .await;
    assert_snapshot!("lead_wrong", wrong);
    let decided =
        home.run(&["sessions", "decide", "last", "--next", "Ann", "--question", "Tea?"]).await;
    assert_eq!(decided.code, Some(0), "{}", decided.err);
    running.until("--end").await;
    let ended = ["sessions", "decide", "last", "--end", "--reasoning", "Enough."];
    assert_eq!(home.run(&ended).await.code, Some(0));
    running.until("plenary sessions reply").await;
    assert_eq!(home.run(&["sessions", "reply", "last", "We take tea."]).await.code, Some(0));
    assert_snapshot!("lead", running.ran(&home).await.shown());
}

#[tokio::test(flavor = "multi_thread")]
async fn others_steer_it_through_a_server() {
    let gate = Gate::new();
    let waits = Reply::text("I would take tea.").gate(0, &gate);
    let script = table(&[ANN, CONCLUSION]).when(When::model("ann"), waits);
    let (home, _scripted) = start(script).await;
    let serving = home.serve().await;
    let running = Running::start(&home, &[]);
    gate.reached(1).await;
    let story = home
        .story(&[
            &["sessions", "interject", "last", "Mind the cups."],
            &["sessions", "pause", "last"],
            &["sessions", "conclude", "last"],
        ])
        .await;
    assert_snapshot!("steered", story);
    assert_snapshot!("steered_followed", running.ran(&home).await.shown());
    serving.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_goes_on_when_the_process_that_held_the_folder_ends() {
    let gate = Gate::new();
    let waits = Reply::text("I would take tea.").gate(0, &gate);
    let script = table(&[ANN, CONCLUSION]).when(When::model("ann"), waits);
    let (home, _scripted) = start(script).await;
    let lead = ["discuss", "Milk?", "--lead-as", "Zoe", "--with", "Bob=ollama/bob"];
    let mut first = Running::of(home.command(&lead));
    first.until("plenary sessions decide").await;
    let mut second = Running::start(&home, &["--rounds", "1"]);
    second.until("Chair → Ann").await;
    gate.reached(1).await;
    interrupt(&first.child);
    assert_eq!(first.ran(&home).await.code, Some(130));
    gate.release();
    let second = second.ran(&home).await;
    assert_eq!((second.code, second.out.contains(CONCLUSION)), (Some(0), true), "{}", second.err);
    assert_eq!(second.err.matches("=== Round 1 of 1 · Ann").count(), 1, "{}", second.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_says_what_is_wrong() {
    let (home, _scripted) = start(speakers(table(&[]))).await;
    home.run(&["ask", "Shall we?", "--advisor", "expert=ann", "--synthesizer", "bob"]).await;
    let story = home
        .story(&[
            &["discuss"],
            &["discuss", " "],
            &["discuss", "Tea?", "--with", "zebra"],
            &["discuss", "Tea?", "--with", "skeptic:jester"],
            &["discuss", "Tea?", "--with", "skeptic:observer"],
            &["discuss", "Tea?", "--with", "skeptic", "--with", "Ann=zzz", "--person", "Skeptic"],
            &["discuss", "Tea?", "--facilitator", "engineer"],
            &["discuss", "Tea?", "--facilitator", "zebra", "--rounds", "99"],
            &["discuss", "Tea?", "--format", "chat"],
            &["discuss", "Tea?", "--facilitator", "the-spark", "--lead-as", "Zoe"],
            &["discuss", "Tea?", "--file", "none.md"],
            &["sessions", "pause", "last"],
            &["sessions", "list", "--kind", "discussion"],
        ])
        .await;
    assert_snapshot!("wrong", story);
    let nobody = Home::new(NOWHERE);
    assert_eq!(nobody.run(&["discuss", "Tea?"]).await.code, Some(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn json_is_all_that_is_printed() {
    let (home, _scripted) = start(speakers(table(&[ANN, CONCLUSION]))).await;
    let ran = discuss(&home, &["--rounds", "1", "--json"]).await;
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    let mut printed: Value = serde_json::from_str(&ran.out).unwrap();
    let shown = home.run(&["sessions", "show", "last", "--json"]).await;
    assert_eq!(serde_json::from_str::<Value>(&shown.out).unwrap(), printed);
    without_times(&mut printed);
    let shown = serde_json::to_string_pretty(&printed).unwrap();
    assert_snapshot!("json", plain(&shown, home.path().to_str().unwrap()));
}

fn without_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for name in ["latencyMs", "firstTextMs", "modelSeconds", "elapsedSeconds"] {
                if let Some(time) = fields.get_mut(name) {
                    *time = json!("[took]");
                }
            }
            fields.values_mut().for_each(without_times);
        }
        Value::Array(values) => values.iter_mut().for_each(without_times),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_topic_alone_it_works() {
    let (home, scripted) = start(Script::new(Reply::canned())).await;
    let mut command = home.command(&["discuss", "-", "--rounds", "1", "--model", "chair"]);
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut stdin, b"Tea or coffee?\n").await.unwrap();
    drop(stdin);
    let output = tokio::time::timeout(SAFETY, child.wait_with_output()).await.unwrap().unwrap();
    assert_snapshot!("topic_alone", home.ran(output).shown());
    assert!(scripted.requests().iter().all(|request| request.model == "chair"));
}
