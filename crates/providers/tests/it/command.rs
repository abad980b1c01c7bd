//! Agents as real processes.

use std::path::Path;
use std::time::Duration;

use futures::StreamExt as _;
use plenary_domain::{FailureKind, Message, Shape, Speaker, Usage, Workspace};
use plenary_engine::ports::{Models as _, Piece};
use plenary_providers::{CommandConfig, Keeping, Output, PRESETS, ProviderConfig, Providers};

use crate::support::{Heard, ask, hear, sum};

/// A shell script in the place of an agent.
fn agent(script: &str, output: Output) -> CommandConfig {
    CommandConfig::new("sh", &["-c", script, "agent", "{model}"], output)
}

/// The agent in the care of a keeper, as the program has it.
fn kept(command: CommandConfig) -> Providers {
    let keeper = Some(env!("CARGO_BIN_EXE_plenary-keeper").into());
    loose(command).keeping(Keeping { keeper, ..Keeping::default() })
}

/// The agent without one.
fn loose(command: CommandConfig) -> Providers {
    Providers::new(vec![ProviderConfig::command("agent", command)])
}

async fn run(command: CommandConfig) -> Heard {
    let providers = kept(command);
    hear(&providers, ask("agent", "m1")).await
}

async fn said(script: &str, output: Output) -> Heard {
    run(agent(script, output)).await
}

fn usage(input: u64, output: u64) -> Usage {
    Usage { input_tokens: Some(input), output_tokens: Some(output), ..Usage::default() }
}

#[tokio::test]
async fn the_prompt_goes_in_and_the_text_comes_out() {
    let heard = said("cat; printf '\\033[31m red\\033[0m %s' \"$1\"", Output::Text).await;
    assert_eq!(heard.text, "You are an advisor.\n\n---\n\nShall we? red m1");
    assert_eq!(heard.end, Ok(()));
}

#[tokio::test]
async fn a_longer_talk_and_a_schema_are_told_in_words() {
    let mut asked = ask("agent", "m1");
    asked.messages.push(Message::new(Speaker::Assistant, "Perhaps."));
    asked.shape = Shape::Json(serde_json::json!({"type": "object"}));
    let command = agent("cat", Output::Text);
    let providers = kept(command);
    let heard = hear(&providers, asked).await;
    assert!(heard.text.contains("JSON schema, and with nothing else:\n{\"type\":\"object\"}"));
    assert!(heard.text.ends_with("User:\nShall we?\n\nYou, earlier:\nPerhaps.\n\n"), "{heard:?}");
}

#[tokio::test]
async fn the_prompt_may_be_an_argument() {
    let command = CommandConfig::new("printf", &["%s|%s", "{prompt}", "{model}"], Output::Text);
    let heard = run(command).await;
    assert_eq!(heard.text, "You are an advisor.\n\n---\n\nShall we?|m1");
}

#[tokio::test]
async fn the_default_model_is_not_named() {
    let command = CommandConfig::new("echo", &["-x", "--model", "{model}", "-"], Output::Text);
    let providers = kept(command);
    assert_eq!(hear(&providers, ask("agent", "default")).await.text, "-x -\n");
    assert_eq!(hear(&providers, ask("agent", "m1")).await.text, "-x --model m1 -\n");
}

#[tokio::test]
async fn a_prompt_larger_than_a_pipe_is_no_deadlock() {
    let mut asked = ask("agent", "m1");
    asked.messages[0].text = "word ".repeat(100_000);
    let command = agent("cat", Output::Text);
    let providers = kept(command);
    let heard = hear(&providers, asked).await;
    assert_eq!(heard.end, Ok(()));
    assert_eq!(heard.text.len(), 500_000 + "You are an advisor.\n\n---\n\n".len());
}

#[tokio::test]
async fn a_program_that_does_not_read_may_still_answer() {
    assert_eq!(said("exec <&-; echo yes", Output::Text).await.text, "yes\n");
}

#[tokio::test]
async fn the_lines_of_claude_are_understood() {
    let lines = r#"{"type":"system","subtype":"init","session_id":"s","tools":[],"model":"m"}
not json
{"type":"stream_event","event":{"type":"message_start","message":{"usage":{"input_tokens":3}}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hmm."}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Yes, "}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"go."}}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Yes, go."}],"usage":{"input_tokens":3}}}
{"type":"stream_event","event":{"type":"message_stop"}}
{"type":"result","subtype":"success","is_error":false,"result":"Yes, go.","usage":{"input_tokens":3,"cache_read_input_tokens":10,"output_tokens":5},"total_cost_usd":0.01}"#;
    let heard = said(&format!("cat <<'EOF'\n{lines}\nEOF"), Output::JsonLines).await;
    let expected = Heard {
        text: "Yes, go.".to_owned(),
        reasoning: "Hmm.".to_owned(),
        usage: Usage { cached_tokens: Some(10), cost_nano_usd: Some(10_000_000), ..usage(13, 5) },
        cut: false,
        end: Ok(()),
    };
    assert_eq!(heard, expected);
}

#[tokio::test]
async fn claude_without_deltas_says_the_same_once() {
    let lines = r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"Hmm."},{"type":"text","text":"Yes."}]}}
{"type":"result","is_error":false,"result":"Yes.","usage":{"input_tokens":3,"output_tokens":5}}"#;
    let heard = said(&format!("cat <<'EOF'\n{lines}\nEOF"), Output::JsonLines).await;
    assert_eq!((heard.text.as_str(), heard.reasoning.as_str()), ("Yes.", "Hmm."));
    let only = r#"{"type":"result","is_error":false,"result":"Yes."}"#;
    let heard = said(&format!("echo '{only}'"), Output::JsonLines).await;
    assert_eq!(heard.text, "Yes.");
}

#[tokio::test]
async fn an_error_of_claude_is_a_failure() {
    let line = r#"{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key · Please run /login"}"#;
    for exit in [0, 1] {
        let heard = said(&format!("echo '{line}'; exit {exit}"), Output::JsonLines).await;
        assert_eq!(heard.kind(), Some(("final", FailureKind::Misconfigured)), "{heard:?}");
        assert!(heard.message().contains("Please run /login"), "{heard:?}");
    }
}

#[tokio::test]
async fn the_lines_of_codex_are_understood() {
    let lines = r#"{"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}
{"type":"error","message":"Reconnecting... 1/5"}
{"type":"item.completed","item":{"id":"item_0","type":"reasoning","text":"**Thinking**"}}
{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"ls"}}
{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":"First."}}
{"type":"item.completed","item":{"id":"item_3","type":"agent_message","text":"Then."}}
{"type":"turn.completed","usage":{"input_tokens":24763,"cached_input_tokens":24448,"output_tokens":122}}"#;
    let heard = said(&format!("cat <<'EOF'\n{lines}\nEOF"), Output::JsonLines).await;
    let expected = Heard {
        text: "First.\n\nThen.".to_owned(),
        reasoning: "**Thinking**".to_owned(),
        usage: Usage { cached_tokens: Some(24448), ..usage(24763, 122) },
        cut: false,
        end: Ok(()),
    };
    assert_eq!(heard, expected);
}

#[tokio::test]
async fn an_error_of_codex_is_a_failure() {
    let lines = r#"{"type":"error","message":"You have hit your usage limit."}
{"type":"turn.failed","error":{"message":"You have hit your usage limit."}}"#;
    let heard = said(&format!("cat <<'EOF'\n{lines}\nEOF\nexit 1"), Output::JsonLines).await;
    assert_eq!(heard.kind(), Some(("final", FailureKind::OutOfCredit)), "{heard:?}");
    assert!(heard.message().contains("usage limit"), "{heard:?}");
}

#[tokio::test]
async fn plain_json_lines_are_understood() {
    let heard = said("echo '{\"text\":\"a \"}'; echo '{\"text\":\"b\"}'", Output::JsonLines).await;
    assert_eq!((heard.text.as_str(), &heard.end), ("a b", &Ok(())));
    let heard =
        said("echo '{\"text\":\"a\"}'; echo '{\"error\":\"no more\"}'", Output::JsonLines).await;
    assert_eq!(heard.text, "a");
    assert_eq!(heard.kind(), Some(("final", FailureKind::Refused)), "{heard:?}");
    assert!(heard.message().contains("no more"), "{heard:?}");
}

#[tokio::test]
async fn a_bad_exit_shows_the_end_of_the_complaints() {
    let script = "echo part; i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done; printf '\\033[31mno such flag\\033[0m\\n' >&2; exit 3";
    let heard = said(script, Output::Text).await;
    assert_eq!(heard.text, "part\n");
    assert_eq!(heard.kind(), Some(("final", FailureKind::Misconfigured)));
    assert_eq!(heard.message(), "agent failed: exit code 3, line 2998 line 2999 no such flag.");
}

#[tokio::test]
async fn a_program_that_is_killed_may_be_tried_again() {
    let heard = said("echo part; kill -9 $$", Output::Text).await;
    assert_eq!(heard.kind(), Some(("retry", FailureKind::Unreachable)), "{heard:?}");
}

#[tokio::test]
async fn a_missing_program_and_a_missing_folder_are_named() {
    let heard = run(CommandConfig::new("no-such-program-here", &[], Output::Text)).await;
    assert_eq!(heard.kind(), Some(("final", FailureKind::Misconfigured)));
    assert!(heard.message().contains("no program `no-such-program-here`"), "{heard:?}");
    let mut command = agent("echo", Output::Text);
    command.folder = Some("/no/such/folder".into());
    let heard = run(command).await;
    assert!(heard.message().contains("The folder /no/such/folder"), "{heard:?}");
}

#[tokio::test]
async fn it_works_in_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = agent("pwd", Output::Text);
    command.folder = Some(folder.path().canonicalize().unwrap());
    let heard = run(command).await;
    assert_eq!(Path::new(heard.text.trim()), folder.path().canonicalize().unwrap());
}

/// Asks for a workspace of a program that prints the folder that it runs in.
async fn worked_in(allowed: Option<&[&Path]>, folder: &str) -> Heard {
    let mut command = agent("pwd -P", Output::Text);
    command.folders = allowed.map(|all| all.iter().map(|one| one.to_path_buf()).collect());
    let providers = kept(command);
    let mut asked = ask("agent", "m1");
    asked.workspace = Some(Workspace { folder: Some(folder.to_owned()), tools: vec![] });
    hear(&providers, asked).await
}

#[tokio::test]
async fn an_agent_works_in_its_own_folder_where_that_is_allowed() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let inside = root.join("allowed/project");
    let outside = root.join("allowed-not");
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::create_dir_all(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, inside.join("way-out")).unwrap();
    std::os::unix::fs::symlink(&inside, outside.join("way-in")).unwrap();
    let allowed = root.join("allowed");
    for (folder, true_folder) in [
        (inside.clone(), &inside),
        (allowed.clone(), &allowed),
        (outside.join("way-in"), &inside),
        (outside.join("../allowed/project"), &inside),
    ] {
        let heard = worked_in(Some(&[&allowed]), folder.to_str().unwrap()).await;
        assert_eq!((Path::new(heard.text.trim()), &heard.end), (true_folder.as_path(), &Ok(())));
    }
    for folder in [
        outside.clone(),
        inside.join("way-out"),
        inside.join("../../allowed-not"),
        root.clone(),
        "/".into(),
    ] {
        let heard = worked_in(Some(&[&allowed]), folder.to_str().unwrap()).await;
        assert_eq!(heard.kind(), Some(("final", FailureKind::Misconfigured)), "{folder:?}");
        let expected = format!(
            "agent may not work in {}: `folders` in [providers.agent] does not allow it, only {}.",
            folder.canonicalize().unwrap().display(),
            allowed.display()
        );
        assert_eq!(heard.message(), expected);
    }
    let heard = worked_in(Some(&[&allowed]), inside.join("none").to_str().unwrap()).await;
    assert!(
        heard.message().ends_with("/none of the provider `agent` does not exist."),
        "{heard:?}"
    );
}

#[tokio::test]
async fn without_a_list_an_agent_works_where_plenary_was_started_and_below() {
    let here = std::env::current_dir().unwrap().canonicalize().unwrap();
    let heard = worked_in(None, "src").await;
    assert_eq!((Path::new(heard.text.trim()), &heard.end), (here.join("src").as_path(), &Ok(())));
    let heard = worked_in(None, "..").await;
    let expected = format!(
        "agent may not work in {}: it is outside {}, where Plenary was started. `folders` in \
         [providers.agent] allows other folders.",
        here.parent().unwrap().display(),
        here.display()
    );
    assert_eq!(heard.message(), expected);
}

/// Asks a program that prints its arguments, one per line.
async fn told(mut command: CommandConfig, tools: &[&str]) -> Heard {
    let script = "for one; do printf '%s\\n' \"$one\"; done";
    command.args = [&["-c", script, "agent"].map(String::from)[..], &command.args].concat();
    command.program = "sh".to_owned();
    command.output = Output::Text;
    let providers = kept(command);
    let mut asked = ask("agent", "default");
    let tools = tools.iter().map(|one| (*one).to_owned()).collect();
    asked.workspace = Some(Workspace { folder: None, tools });
    hear(&providers, asked).await
}

#[tokio::test]
async fn tools_are_told_by_the_place_that_the_arguments_have() {
    let args = ["-a", "--tools={tools}", "-b", "{tools}", "-c"];
    let command = || CommandConfig::new("any", &args, Output::Text);
    let some = told(command(), &["Read", "Bash(git log:*)"]).await;
    let list = "Read,Bash(git log:*)";
    assert_eq!(some.text, format!("-a\n--tools={list}\n-b\n{list}\n-c\n"));
    assert_eq!(told(command(), &[]).await.text, "-a\n-c\n");
}

#[tokio::test]
async fn claude_has_the_tools_that_an_agent_names_and_no_others() {
    let after = |heard: &Heard, flag: &str| {
        let mut lines = heard.text.lines().skip_while(|line| *line != flag).skip(1);
        lines.next().map(str::to_owned)
    };
    let claude = || CommandConfig::preset("claude", false).unwrap().0;
    let some = told(claude(), &["Read", "Bash(git log:*)"]).await;
    assert_eq!(after(&some, "--tools").as_deref(), Some("Read,Bash"));
    assert_eq!(after(&some, "--allowedTools").as_deref(), Some("Read,Bash(git log:*)"));
    let none = told(claude(), &[]).await;
    assert_eq!(after(&none, "--tools").as_deref(), Some(""));
    assert_eq!(after(&none, "--allowedTools"), None);
}

#[tokio::test]
async fn tools_that_cannot_be_told_are_an_error() {
    let codex = CommandConfig::preset("codex", false).unwrap().0;
    let heard = told(codex.clone(), &["Read"]).await;
    assert_eq!(heard.kind(), Some(("final", FailureKind::Misconfigured)));
    let words = "agent cannot be told which tools to use; leave out `tools`.";
    assert!(heard.message().starts_with(words), "{heard:?}");
    assert_eq!(told(codex, &[]).await.end, Ok(()));
    for tool in ["--dangerous", "Read,Bash", " ", "a\nb"] {
        let heard = told(CommandConfig::new("any", &["{tools}"], Output::Text), &[tool]).await;
        assert_eq!(heard.kind(), Some(("final", FailureKind::Misconfigured)), "{tool}");
        assert!(heard.message().contains("is not a valid tool name"), "{heard:?}");
    }
}

#[tokio::test]
async fn only_allowed_variables_reach_the_program() {
    // Cargo sets these for every test.
    let all = said("env", Output::Text).await;
    let names = |heard: &Heard| -> Vec<String> {
        let pairs = heard.text.lines().filter_map(|line| line.split_once('='));
        pairs.map(|(name, _)| name.to_owned()).collect()
    };
    let known = ["PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER", "PLENARY_CALL"];
    // The shell itself sets these.
    let own = ["PWD", "OLDPWD", "SHLVL", "_"];
    for name in names(&all) {
        let fine = known.contains(&name.as_str()) || own.contains(&name.as_str());
        assert!(fine || name.starts_with("LC_"), "{name}");
    }
    assert!(names(&all).contains(&"PATH".to_owned()));
    let mut command = agent("env", Output::Text);
    command.env = vec!["CARGO_PKG_*".to_owned(), "CARGO_MANIFEST_DIR".to_owned()];
    let more = names(&run(command).await);
    assert!(more.contains(&"CARGO_PKG_NAME".to_owned()), "{more:?}");
    assert!(more.contains(&"CARGO_MANIFEST_DIR".to_owned()), "{more:?}");
    assert!(!more.contains(&"CARGO".to_owned()), "{more:?}");
}

#[tokio::test]
async fn too_much_output_is_stopped() {
    for (script, output) in
        [("yes", Output::Text), ("yes '{\"text\":\"0123456789\"}'", Output::JsonLines)]
    {
        let heard = said(script, output).await;
        assert_eq!((heard.end, heard.cut), (Ok(()), true), "{script}");
    }
    let heard = said("yes | tr -d '\\n'", Output::JsonLines).await;
    assert_eq!(heard.kind(), Some(("final", FailureKind::ProviderError)));
}

#[tokio::test]
async fn too_much_time_is_stopped() {
    let mut command = agent("echo part; sleep 600", Output::Text);
    command.limit_ms = 300;
    let heard = run(command).await;
    assert_eq!(heard.text, "part\n");
    assert_eq!(heard.kind(), Some(("final", FailureKind::TimedOut)));
    assert!(heard.message().contains("within 0.3 s"), "{heard:?}");
}

#[tokio::test]
async fn a_child_that_stays_behind_does_not_hold_the_answer() {
    for providers in [kept, loose] {
        for script in ["sleep 600 & echo $!", "setsid sleep 600 & echo $!"] {
            let providers = providers(agent(script, Output::Text));
            let heard = hear(&providers, ask("agent", "m1")).await;
            assert_eq!(heard.end, Ok(()));
            gone(&heard.text).await;
        }
    }
}

/// Starts four processes and tells their numbers and its own.
const LEAVES: &str = "sh -c 'sleep 600 & echo $!; wait' & setsid sleep 600 & echo $!; env -i sleep 600 & echo $!; setsid sh -c 'sh -c \"sleep 600\" & echo $!' & echo $$;";
/// One more, which leaves the group, the session, its parent and the environment.
const FLEES: &str = "(env -i setsid sh -c 'echo $$; exec sleep 600' &);";

/// Drops the call when this many processes have been told, and waits for their end.
async fn dropped(providers: &Providers, processes: usize) {
    let mut stream = providers.ask(ask("agent", "m1"), "r".to_owned());
    let mut text = String::new();
    while text.lines().count() < processes {
        match stream.next().await {
            Some(Ok(Piece::Text(more))) => text += &more,
            other => panic!("{other:?}"),
        }
    }
    assert!(text.lines().all(|id| Path::new("/proc").join(id).exists()), "{text}");
    drop(stream);
    for id in text.lines() {
        gone(id).await;
    }
}

#[tokio::test]
async fn a_dropped_stream_kills_children_and_grandchildren() {
    let script = format!("{LEAVES} wait; sleep 600");
    dropped(&loose(agent(&script, Output::Text)), 5).await;
    let script = format!("{FLEES} {LEAVES} wait; sleep 600");
    dropped(&kept(agent(&script, Output::Text)), 6).await;
}

#[tokio::test]
async fn a_program_that_does_not_read_is_killed_with_its_call_too() {
    let mut asked = ask("agent", "m1");
    asked.messages[0].text = "word ".repeat(100_000);
    let providers = kept(agent("echo $$; sleep 600", Output::Text));
    let mut stream = providers.ask(asked, "r".to_owned());
    let Some(Ok(Piece::Text(id))) = stream.next().await else { panic!("it tells its number") };
    drop(stream);
    gone(&id).await;
}

#[tokio::test]
async fn each_call_has_a_folder_of_its_own_that_goes_with_it() {
    use std::os::unix::fs::MetadataExt as _;
    for providers in [kept, loose] {
        let script = "pwd -P; stat -c %a .; ls -A; mkdir -p a/b; touch a/b/c; cat";
        let providers = providers(agent(script, Output::Text));
        let heard = [
            hear(&providers, ask("agent", "m1")).await,
            hear(&providers, ask("agent", "m1")).await,
        ];
        let folders = heard.each_ref().map(|heard| heard.text.lines().next().unwrap());
        assert_ne!(folders[0], folders[1]);
        for (heard, folder) in heard.iter().zip(folders) {
            let rest = heard.text.strip_prefix(folder).unwrap();
            assert_eq!(rest, "\n700\nYou are an advisor.\n\n---\n\nShall we?");
            assert!(!Path::new(folder).exists(), "{folder}");
            // Whatever lies above it was put there by this user or the administrator.
            for above in Path::new(folder).ancestors().skip(1) {
                assert_eq!(above.metadata().unwrap().mode() & 0o002, 0, "{above:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_program_that_cannot_be_run_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("agent");
    std::fs::write(&program, "#!/no/such/interpreter\n").unwrap();
    let program = program.to_str().unwrap();
    for providers in [kept, loose] {
        let providers = providers(CommandConfig::new(program, &[], Output::Text));
        let heard = hear(&providers, ask("agent", "m1")).await;
        assert_eq!(heard.kind(), Some(("final", FailureKind::Misconfigured)), "{heard:?}");
        assert!(heard.message().contains("cannot be started"), "{heard:?}");
    }
}

/// Waits until the process is there no more, not even as a zombie.
async fn gone(id: &str) {
    let place = Path::new("/proc").join(id.trim());
    for _ in 0..1000 {
        if !place.exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let status = std::fs::read_to_string(place.join("status"));
    panic!("process {id} is still there: {status:?}");
}

/// What a program says that prints these lines, which a real one has printed.
async fn read(lines: &str, exit: u8) -> (Heard, Vec<Piece>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/lines");
    let script = format!("cat '{}'; exit {exit}", folder.join(lines).display());
    let mut command = agent(&script, Output::JsonLines);
    command.login = Some("Run `agent login`");
    let pieces: Vec<_> = kept(command).ask(ask("agent", "m1"), "r".to_owned()).collect().await;
    let good = pieces.iter().filter_map(|piece| piece.as_ref().ok()).cloned().collect();
    (sum(pieces), good)
}

fn detailed(input: u64, output: u64) -> Usage {
    Usage { cached_tokens: Some(0), reasoning_tokens: Some(0), ..usage(input, output) }
}

fn cost(input: u64, output: u64, nano_usd: u64) -> Usage {
    Usage { cost_nano_usd: Some(nano_usd), ..detailed(input, output) }
}

async fn answers(lines: &str, text: &str, usage: Usage) {
    let (heard, _) = read(lines, 0).await;
    let expected =
        Heard { text: text.to_owned(), reasoning: String::new(), usage, cut: false, end: Ok(()) };
    assert_eq!(heard, expected, "{lines}");
}

#[tokio::test]
async fn words_before_and_after_a_tool_stand_by_themselves() {
    answers("claude-with-a-tool.jsonl", "Let me look. \n\nYes, go. ", cost(20, 14, 360_000)).await;
    answers("opencode-with-a-tool.jsonl", "Let me look.\n\nYes, go.", detailed(22, 5)).await;
}

#[tokio::test]
async fn the_lines_of_gemini_are_understood() {
    answers("gemini-answers.jsonl", "Yes, go.", Usage { cached_tokens: Some(0), ..usage(9, 4) })
        .await;
}

#[tokio::test]
async fn a_program_that_asks_again_by_itself_says_so() {
    let (heard, pieces) = read("claude-retried.jsonl", 0).await;
    assert_eq!((heard.text.as_str(), &heard.end), ("Yes, go. ", &Ok(())));
    let retrying = |pieces: Vec<Piece>| -> Vec<(String, u128)> {
        let told = pieces.into_iter().filter_map(|piece| match piece {
            Piece::Retrying { reason, wait } => Some((reason, wait.as_millis())),
            _ => None,
        });
        told.collect()
    };
    let reason = "agent could not reach its model: overloaded.".to_owned();
    assert_eq!(retrying(pieces), [(reason.clone(), 583), (reason, 1189)]);
    let (_, pieces) = read("codex-not-signed-in.jsonl", 1).await;
    let told = retrying(pieces);
    assert_eq!(told.len(), 5);
    let words = "agent could not reach its model: unexpected status 401 Unauthorized";
    assert!(told[0].0.starts_with(words), "{told:?}");
}

#[tokio::test]
async fn the_words_of_an_error_are_no_answer() {
    for (lines, exit) in [
        ("claude-not-signed-in.jsonl", 1),
        ("codex-not-signed-in.jsonl", 1),
        ("gemini-not-signed-in.jsonl", 144),
        ("opencode-not-signed-in.jsonl", 1),
    ] {
        let (heard, _) = read(lines, exit).await;
        assert_eq!(heard.text, "", "{lines}");
        assert_eq!(heard.kind(), Some(("final", FailureKind::Misconfigured)), "{heard:?}");
        let message = heard.message();
        assert!(
            message.starts_with("agent is not signed in, or its key was rejected: "),
            "{message}"
        );
        assert!(message.ends_with(". Run `agent login`."), "{message}");
    }
    let (heard, _) = read("claude-too-long.jsonl", 1).await;
    let too_long = Some(("final", FailureKind::PromptTooLong));
    assert_eq!((heard.text.as_str(), heard.kind()), ("", too_long));
}

#[tokio::test]
async fn an_answer_at_the_output_limit_is_kept_once_and_called_cut() {
    for (lines, exit) in
        [("claude-cut.jsonl", 1), ("codex-cut.jsonl", 1), ("opencode-cut.jsonl", 0)]
    {
        let (heard, _) = read(lines, exit).await;
        assert_eq!(heard.text, "Some words that are said here now.", "{lines}");
        assert_eq!((heard.end, heard.cut), (Ok(()), true), "{lines}");
    }
    // It is not waited for, so what it has told by then counts.
    let (heard, _) = read("claude-cut.jsonl", 1).await;
    assert_eq!(heard.usage, usage(387, 7));
}

#[tokio::test]
async fn a_program_is_not_waited_for_when_its_answer_is_cut() {
    let line = r#"{"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"max_tokens"}},"parent_tool_use_id":ID}"#;
    let script = |id: &str| format!("echo '{}'", line.replace("ID", id));
    let heard = said(&format!("{}; sleep 600", script("null")), Output::JsonLines).await;
    assert_eq!((heard.end, heard.cut), (Ok(()), true));
    // What an agent of its own has said is not the answer.
    let heard = said(&script("\"toolu_1\""), Output::JsonLines).await;
    assert_eq!((heard.end, heard.cut), (Ok(()), false));
}

#[tokio::test]
async fn trouble_of_the_vendor_is_no_fault_of_the_settings() {
    // Codex and Gemini have asked several times by themselves.
    let returned = (FailureKind::ProviderError, "returned an error");
    let lost = (FailureKind::Unreachable, "lost its connection");
    for (lines, exit, again, (kind, what), words) in [
        ("claude-broken.jsonl", 1, "retry", returned, "exit code 1, API Error: API returned an"),
        ("codex-broken.jsonl", 1, "final", lost, "exit code 1, stream disconnected before"),
        ("gemini-broken.jsonl", 0, "final", returned, "Model stream ended without a finish"),
    ] {
        let (heard, _) = read(lines, exit).await;
        assert_eq!(heard.kind(), Some((again, kind)), "{lines}: {heard:?}");
        let words = format!("agent {what}: {words}");
        assert!(heard.message().starts_with(&words), "{lines}: {heard:?}");
    }
    for (status, kind) in [
        ("503 Service Unavailable", FailureKind::ProviderError),
        ("429 Too Many Requests", FailureKind::RateLimited),
    ] {
        let line =
            format!(r#"{{"type":"turn.failed","error":{{"message":"last status: {status}"}}}}"#);
        let heard = said(&format!("echo '{line}'; exit 1"), Output::JsonLines).await;
        assert_eq!(heard.kind(), Some(("retry", kind)), "{heard:?}");
    }
}

#[tokio::test]
async fn a_message_that_claude_asks_for_anew_is_whole_and_said_once() {
    answers("claude-began-anew.jsonl", "Some words that are said.", cost(20, 7, 160_000)).await;
    let delta = r#"{"type":"stream_event","event":{"delta":{"text":"Some words"}}}"#;
    let given_up = r#"{"type":"stream_event","event":{"type":"message_stop"},"abandoned_blocks":{"from_block_index":0}}"#;
    let whole = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Others."}]}}"#;
    let script = format!("printf '%s\\n' '{delta}' '{given_up}' '{whole}'");
    assert_eq!(said(&script, Output::JsonLines).await.text, "Some words\n\nOthers.");
    let script = format!("printf '%s\\n' '{delta}' '{given_up}' '{delta}' '{whole}'");
    assert_eq!(said(&script, Output::JsonLines).await.text, "Some words\n\nSome words");
}

#[tokio::test]
async fn a_warning_is_no_reason() {
    let (heard, _) = read("codex-silent.jsonl", 0).await;
    assert_eq!((heard.text.as_str(), &heard.end), ("", &Ok(())));
    let warning = r#"{"type":"item.completed","item":{"type":"error","message":"Some warning."}}"#;
    let script = format!("echo '{warning}'; echo 'The true reason.' >&2; exit 1");
    let heard = said(&script, Output::JsonLines).await;
    assert_eq!(heard.message(), "agent failed: exit code 1, The true reason.");
}

#[tokio::test]
async fn a_program_of_ones_own_is_told_to_sign_in_by_itself() {
    let heard = said("echo 'Not logged in' >&2; exit 1", Output::Text).await;
    let expected = "agent is not signed in, or its key was rejected: exit code 1, Not logged in. \
                    Sign in with `sh` itself, or name the variable of its key in `env` of \
                    [providers.agent].";
    assert_eq!(heard.message(), expected);
}

#[tokio::test]
async fn the_role_goes_where_the_program_wants_it() {
    let script = "printf '%s|' \"$1\" \"$ROLE\"; cat \"$2/role.md\"; printf '|'; cat";
    let args = ["-c", script, "agent", "--system={system}", "{private}"];
    let mut command = CommandConfig::new("sh", &args, Output::Text);
    command.set = vec![("ROLE".to_owned(), "{{system} {unknown}".to_owned())];
    command.files = vec![("role.md".to_owned(), "Role: {system}".to_owned())];
    let providers = kept(command);
    let mut asked = ask("agent", "m1");
    asked.system = "Be {prompt} {model}.".to_owned();
    let heard = hear(&providers, asked.clone()).await;
    let role = "Be {prompt} {model}.";
    let expected = format!("--system={role}|{{{role} {{unknown}}|Role: {role}|Shall we?");
    assert_eq!(heard.text, expected, "nothing in the role is taken for a place");
    // A file that is not named tells nothing, so the role stays with the prompt.
    let mut command = CommandConfig::new("cat", &[], Output::Text);
    command.files = vec![("role.md".to_owned(), "{system}".to_owned())];
    let heard = hear(&kept(command), asked.clone()).await;
    assert_eq!(heard.text, format!("{role}\n\n---\n\nShall we?"));
    // The folder of an agent's own is no place for such files.
    let folder = tempfile::tempdir().unwrap();
    asked.workspace =
        Some(Workspace { folder: Some(folder.path().to_str().unwrap().to_owned()), tools: vec![] });
    let mut command = CommandConfig::new("sh", &["-c", "ls; ls {private}"], Output::Text);
    command.files = vec![("role.md".to_owned(), "{system}".to_owned())];
    command.folders = Some(vec![folder.path().to_owned()]);
    assert_eq!(hear(&kept(command), asked).await.text, "role.md\n");
}

#[test]
fn presets_load_nothing_of_the_users_unless_that_is_wanted() {
    for name in PRESETS {
        let (alone, models) = CommandConfig::preset(name, false).unwrap();
        let (open, _) = CommandConfig::preset(name, true).unwrap();
        assert_eq!((alone.program.as_str(), alone.output), (name, Output::JsonLines));
        assert_eq!(models[0], "default");
        assert!(alone.args.len() > open.args.len(), "{name}");
        let all = alone.args.iter().chain(alone.set.iter().map(|(_, value)| value));
        let told = all.filter(|one| one.contains("{private}/system.md")).count();
        assert_eq!(told, 1, "{name} is told its role");
        // What a session tells its children is not passed on.
        let session = ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID"];
        let session = session.iter().chain(&["CODEX_THREAD_ID", "GEMINI_CLI", "OPENCODE"]);
        for variable in session {
            let fits = |pattern: &String| match pattern.strip_suffix('*') {
                Some(prefix) => variable.starts_with(prefix),
                None => variable == pattern,
            };
            assert!(!alone.usual.iter().any(fits), "{name}: {variable}");
        }
        for variable in ["HTTPS_PROXY", "NODE_EXTRA_CA_CERTS"] {
            assert!(alone.usual.iter().any(|one| one == variable), "{name}: {variable}");
        }
    }
    let (claude, _) = CommandConfig::preset("claude", false).unwrap();
    let flags =
        claude.args.windows(3).any(|some| some == ["--setting-sources", "", "--strict-mcp-config"]);
    assert!(flags, "{:?}", claude.args);
    assert!(claude.usual.contains(&"AWS_*".to_owned()));
    let (codex, _) = CommandConfig::preset("codex", false).unwrap();
    assert!(codex.args.contains(&"--ignore-user-config".to_owned()));
    for setting in [
        "features.plugins=false",
        "features.hooks=false",
        "skills.include_instructions=false",
        "analytics.enabled=false",
    ] {
        assert!(codex.args.windows(2).any(|some| some == ["-c", setting]), "{setting}");
    }
    assert!(CommandConfig::preset("other", false).is_none());
}

#[tokio::test]
async fn a_key_that_a_program_prints_shows_nowhere() {
    let key = "key-0815-very-secret-too";
    let mut config = ProviderConfig::command(
        "agent",
        agent(&format!("echo {key}; echo '{}' >&2; exit 3", &key[..key.len() - 1]), Output::Text),
    );
    config.key = Some(plenary_providers::Secret::new(key));
    let heard = hear(&Providers::new(vec![config]), ask("agent", "m1")).await;
    assert_eq!(heard.text, "[key]\n");
    assert_eq!(heard.message(), "agent failed: exit code 3, [key].");
}

#[tokio::test]
async fn what_a_variable_holds_that_is_listed_by_name_shows_nowhere() {
    // Cargo sets these for every test, and the first is as long as a key.
    let name = std::env::var("CARGO_PKG_NAME").unwrap();
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let script = "echo $CARGO_PKG_NAME in $CARGO_MANIFEST_DIR; echo $CARGO_PKG_NAME >&2; exit 3";
    for (listed, shown) in [("CARGO_PKG_NAME", "[key]"), ("CARGO_PKG_NAM*", name.as_str())] {
        let mut command = agent(script, Output::Text);
        command.env = vec![listed.to_owned(), "CARGO_MANIFEST_DIR".to_owned()];
        let heard = run(command).await;
        assert_eq!(heard.text, format!("{shown} in {folder}\n"));
        assert_eq!(heard.message(), format!("agent failed: exit code 3, {shown}."));
    }
}
