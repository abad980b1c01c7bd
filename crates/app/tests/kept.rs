//! Command-line agents of the real program: however it ends, they end too, with
//! all that they have started and the folders that they ran in.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use support::mcp::Agent;
use support::{Home, NOWHERE, SAFETY};
use tokio::process::{Child, Command};

/// Advisors at once, each with five processes.
const AGENTS: usize = 12;

/// Starts others that leave the group, the session and the environment behind, one
/// of which loses its parent, and tells the number of each, and its folder.
const AGENT: &str = r#"
echo $$ >> "$HOME/started"
pwd -P >> "$HOME/folders"
sh -c 'echo $$ >> "$HOME/started"; exec sleep 600' &
setsid sh -c 'echo $$ >> "$HOME/started"; exec sleep 600' &
env -i HOME="$HOME" setsid sh -c 'echo $$ >> "$HOME/started"; exec sleep 600' &
(env -i HOME="$HOME" setsid sh -c 'echo $$ >> "$HOME/started"; exec sleep 600' &)
touch here
wait
"#;

fn home() -> Home {
    let home = Home::new(NOWHERE);
    let settings = home.path().join(".config/plenary");
    std::fs::create_dir_all(&settings).unwrap();
    let agent = format!("kind = 'command'\nprogram = 'sh'\nargs = ['-c', '''{AGENT}''']\n");
    std::fs::write(settings.join("plenary.toml"), format!("[providers.agent]\n{agent}")).unwrap();
    home
}

/// A place of one's own for folders of calls: what the tests put into the folder for
/// temporary files has a parent that others can write to.
fn place() -> tempfile::TempDir {
    let home = PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache");
    std::fs::create_dir_all(&home).unwrap();
    tempfile::tempdir_in(home).unwrap()
}

fn command(home: &Home, place: &Path, arguments: &[&str]) -> Command {
    let mut command = home.command(arguments);
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("XDG_RUNTIME_DIR", place);
    command
}

fn ask(home: &Home, place: &Path) -> Child {
    let advisors = (0..AGENTS).flat_map(|_| ["--advisor", "critic=agent/default"]);
    let arguments: Vec<&str> = ["ask", "Shall we?"].into_iter().chain(advisors).collect();
    command(home, place, &arguments).spawn().unwrap()
}

fn lines(home: &Home, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(home.path().join(file)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The processes of this many agents.
async fn started(home: &Home, agents: usize) -> Vec<String> {
    until(|| lines(home, "started").len() == agents * 5).await;
    let started = lines(home, "started");
    assert!(started.iter().all(|id| is_there(id)));
    started
}

fn is_there(id: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    // One whose new parent has not looked at it yet is as good as gone.
    !status.is_empty() && !status.contains("State:\tZ")
}

async fn until(holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(SAFETY, waiting).await.expect("it comes to hold");
}

fn send(child: &Child, signal: Signal) {
    let id = i32::try_from(child.id().unwrap()).unwrap();
    kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
}

async fn nothing_is_left(home: &Home, started: &[String]) {
    until(|| !started.iter().any(|id| is_there(id))).await;
    let folders = lines(home, "folders");
    assert!(!folders.is_empty());
    until(|| !folders.iter().any(|folder| Path::new(folder).exists())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_that_is_ended_by_any_signal_leaves_no_agent() {
    for (signal, code) in [
        (Signal::INT, Some(130)),
        (Signal::TERM, Some(130)),
        (Signal::HUP, Some(130)),
        (Signal::KILL, None),
    ] {
        let (home, place) = (home(), place());
        let mut asking = ask(&home, place.path());
        let started = started(&home, AGENTS).await;
        send(&asking, signal);
        let ended = tokio::time::timeout(SAFETY, asking.wait()).await.unwrap().unwrap();
        assert_eq!(ended.code(), code, "{signal:?}");
        nothing_is_left(&home, &started).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_ended_by_any_signal_leaves_no_agent() {
    plenary_providers::install_tls();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    for (signal, code) in [
        (Signal::INT, Some(0)),
        (Signal::TERM, Some(0)),
        (Signal::HUP, Some(0)),
        (Signal::KILL, None),
    ] {
        let (home, place) = (home(), place());
        let serve = ["serve", "--listen", "127.0.0.1:0"];
        let mut serving = home.serving(command(&home, place.path(), &serve)).await;
        let body = json!({ "prompt": "Shall we?", "models": ["agent/default"] });
        let convened = http.post(format!("{}/api/boardrooms", serving.url)).json(&body);
        assert!(convened.send().await.unwrap().status().is_success());
        let started = started(&home, 3).await;
        send(&serving.child, signal);
        let ended = tokio::time::timeout(SAFETY, serving.child.wait()).await.unwrap().unwrap();
        assert_eq!(ended.code(), code, "{signal:?}");
        nothing_is_left(&home, &started).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_mcp_process_that_is_ended_by_any_signal_leaves_no_agent() {
    for (signal, code) in [
        (Signal::INT, Some(0)),
        (Signal::TERM, Some(0)),
        (Signal::HUP, Some(0)),
        (Signal::KILL, None),
    ] {
        let (home, place) = (home(), place());
        let (mut mcp, _) = Agent::start(command(&home, place.path(), &["mcp"])).await;
        let board = json!({ "prompt": "Shall we?", "models": ["agent/default"] });
        let convened = mcp.call("boardroom_convene", board).await;
        assert_eq!(convened["status"], "answering", "{convened}");
        let started = started(&home, 3).await;
        mcp.signal(signal);
        let ended = tokio::time::timeout(SAFETY, mcp.child.wait()).await.unwrap().unwrap();
        assert_eq!(ended.code(), code, "{signal:?}");
        nothing_is_left(&home, &started).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_wants_it_to_outlive_the_terminal_gets_that() {
    let (home, place) = (home(), place());
    let plenary = command(&home, place.path(), &[]);
    let mut nohup = Command::new("nohup");
    let set = plenary.as_std().get_envs().filter_map(|(name, value)| Some((name, value?)));
    nohup.env_clear().envs(set).current_dir(home.path());
    nohup.arg(plenary.as_std().get_program()).args(["serve", "--listen", "127.0.0.1:0"]);
    nohup.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut serving = home.serving(nohup).await;
    send(&serving.child, Signal::HUP);
    let ran = home.run(&["sessions", "list", "--server", &serving.url]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    send(&serving.child, Signal::TERM);
    let ended = tokio::time::timeout(SAFETY, serving.child.wait()).await.unwrap().unwrap();
    assert_eq!(ended.code(), Some(0));
}

/// Whether every thread of it stands still.
fn is_stopped(child: &Child) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{}/task", child.id().unwrap())).unwrap();
    threads.flatten().all(|thread| {
        let status = std::fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        status.is_empty() || status.contains("State:\tT")
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_keeper_has_left_is_ended_with_the_next_start() {
    let (home, place) = (home(), place());
    let mut asking = ask(&home, place.path());
    let started = started(&home, AGENTS).await;
    // Every keeper first, then Plenary: nobody is left who could end the agents.
    let parent = |id: &str| {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("PPid:\t"));
        Pid::from_raw(line.unwrap().parse().unwrap()).unwrap()
    };
    send(&asking, Signal::STOP);
    // Until then it would see a keeper go, and end what that one kept.
    until(|| is_stopped(&asking)).await;
    // The agent itself is the first of its five, and its parent is the keeper.
    let mut keepers: Vec<Pid> = started.iter().map(|id| parent(id)).collect();
    keepers.retain(|id| {
        let command = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        command.split(|byte| *byte == 0).nth(1) == Some(plenary_providers::KEEPER.as_bytes())
    });
    for keeper in keepers {
        kill_process(keeper, Signal::KILL).unwrap();
    }
    send(&asking, Signal::KILL);
    asking.wait().await.unwrap();
    let marked = |id: &&String| {
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.windows(13).any(|bytes| bytes == b"PLENARY_CALL=")
    };
    let left: Vec<String> = started.iter().filter(marked).cloned().collect();
    assert_eq!(left.len(), AGENTS * 3, "all but those without an environment");
    let listed = home.finish(command(&home, place.path(), &["sessions", "list"])).await;
    assert_eq!(listed.code, Some(0), "{}", listed.err);
    nothing_is_left(&home, &left).await;
    for id in started.iter().filter(|id| is_there(id)) {
        kill_process(Pid::from_raw(id.parse().unwrap()).unwrap(), Signal::KILL).unwrap();
    }
}
