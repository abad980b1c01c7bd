//! The command line as people and scripts see it: whole outputs as snapshots.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use insta::assert_snapshot;
use plenary_scripted::{Fault, Gate, Reply, Script, Scripted, When};
use plenary_store::Holder;
use serde_json::{Value, json};
use support::mcp::Agent;
use support::{Home, NOWHERE, Ran, SAFETY, interrupt, plain};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Child;

/// A home, and a model server that says something canned.
async fn canned() -> (Home, Scripted) {
    start(Script::new(Reply::canned())).await
}

async fn start(script: Script) -> (Home, Scripted) {
    let script = script.models(&["llama3.2:3b", "qwen3:8b", "gemma3:4b"]);
    let scripted = Scripted::start(script).await.unwrap();
    (Home::new(&scripted.url()), scripted)
}

/// One advisor, so that the order of answers is no matter of luck.
const ONE: [&str; 2] = ["--advisor", "expert=ollama/qwen3:8b"];

async fn ask(home: &Home, more: &[&str]) -> Ran {
    let mut arguments = vec!["ask", "Shall we?"];
    arguments.extend(ONE);
    arguments.extend(more);
    home.run(&arguments).await
}

#[tokio::test(flavor = "multi_thread")]
async fn help() {
    let home = Home::new(NOWHERE);
    let commands: &[&[&str]] = &[
        &[],
        &["ask"],
        &["models"],
        &["doctor"],
        &["trust"],
        &["serve"],
        &["workflow"],
        &["workflow", "check"],
        &["workflow", "test"],
        &["sessions"],
        &["sessions", "list"],
        &["sessions", "show"],
        &["sessions", "export"],
        &["sessions", "import"],
        &["sessions", "replay"],
        &["sessions", "resume"],
        &["sessions", "stop"],
        &["sessions", "synthesize"],
        &["sessions", "retry"],
        &["sessions", "reply"],
        &["sessions", "ballot"],
        &["sessions", "vote"],
        &["sessions", "remove"],
    ];
    for command in commands {
        let ran = home.run(&[command, &["--help"][..]].concat()).await;
        assert_eq!(ran.code, Some(0));
        let name = [&["help"], *command].concat().join("_");
        assert_snapshot!(name, ran.shown());
    }
    assert_eq!(home.run(&[]).await.code, Some(2));
    assert_eq!(home.run(&["dance"]).await.code, Some(2));
    assert_eq!(home.run(&["--version"]).await.out, "plenary 0.1.0\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn ask_in_a_pipe() {
    let (home, _scripted) = canned().await;
    assert_snapshot!(ask(&home, &[]).await.shown());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_is_estimated_and_nobody_asked() {
    let (home, scripted) = canned().await;
    home.configure("[prices.\"ollama/qwen3:8b\"]\ninput = 0.5\noutput = 2\n");
    let seats = ["--advisor", "critic=qwen3:8b", "--synthesizer", "ollama/qwen3:8b", "--ballot"];
    let estimate = [&["ask", "Shall we?", "--estimate"], &ONE[..], &seats].concat();
    assert_snapshot!("ask_estimate", home.run(&estimate).await.shown());
    let json = home.run(&[&estimate[..], &["--json"]].concat()).await;
    let told: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(told["calls"], serde_json::json!({ "low": 5.0, "high": 5.0 }), "{told}");
    let wrong = home.run(&["ask", " ", "--estimate"]).await;
    assert_eq!((wrong.code, wrong.err), (Some(2), "plenary: PROMPT: must not be empty\n".into()));
    assert_eq!(scripted.requests().len(), 0);
    assert!(home.run(&["sessions", "list"]).await.err.contains("No sessions yet."));
}

/// They are read when a server shows its own, which none does that is not encrypted.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_encrypted_needs_no_certificates() {
    let (home, _scripted) = canned().await;
    let check = async || {
        let mut command = home.command(&["models"]);
        command.env("SSL_CERT_FILE", "none.pem").env("SSL_CERT_DIR", "none");
        let ran = home.finish(command).await;
        assert!(ran.out.contains("ollama/qwen3:8b"), "{}", ran.shown());
    };
    check().await;
    // And through the server that holds the folder.
    let _serving = home.serve().await;
    check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ask_as_markdown() {
    let (home, _scripted) = canned().await;
    assert_snapshot!(ask(&home, &["--markdown"]).await.shown());
    let to_file = ask(&home, &["--markdown", "-o", "out.md"]).await;
    let told = format!("Written to {}\n", home.path().join("out.md").display());
    assert_eq!((to_file.code, to_file.err), (Some(0), told));
    let file = std::fs::read_to_string(home.path().join("out.md")).unwrap();
    assert!(file.starts_with("# Shall we?\n"), "{file}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ask_as_json_prints_nothing_else() {
    let (home, _scripted) = canned().await;
    let ran = home.run(&["ask", "Shall we?", "--json"]).await;
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let mut board: Value = serde_json::from_str(&ran.out).unwrap();
    board["advisors"].as_array_mut().unwrap().iter_mut().for_each(without_times);
    without_times(&mut board["syntheses"][0]);
    let shown = serde_json::to_string_pretty(&board).unwrap();
    assert_snapshot!(plain(&shown, home.path().to_str().unwrap()));
}

fn without_times(said: &mut Value) {
    let said = said.as_object_mut().unwrap();
    said.remove("latencyMs");
    said.remove("firstTextMs");
}

#[tokio::test(flavor = "multi_thread")]
async fn ask_says_what_is_wrong() {
    let (home, _scripted) = canned().await;
    std::fs::write(home.path().join("song.mp3"), b"ID3\0\xff").unwrap();
    let long = format!("critic={}", "x".repeat(9_000));
    let cases: &[(&str, &[&str])] = &[
        ("wrong_model", &["--model", "qwen8"]),
        ("unknown_model", &["--model", "zzz", "--synthesizer", "yyy"]),
        ("second_model", &["--model", "qwen3:8b", "--model=qwen8"]),
        ("unknown_advisor", &["--advisor", "critic", "--advisor", "expert=zzz"]),
        ("wrong_system", &["--system", &long]),
        ("wrong_grace_time", &["--quorum", "2", "--grace", "2h"]),
        ("wrong_role", &["--advisor", "crtic"]),
        ("wrong_board", &["--board", "round-table"]),
        ("missing_file", &["--file", "no-such-file.md"]),
        ("binary_file", &["--file", "song.mp3"]),
        ("wrong_grace", &["--quorum", "2", "--grace", "soon"]),
        ("wrong_quorum", &["--quorum", "9"]),
        ("system_without_seat", &["--system", "expert=You know."]),
    ];
    for (name, more) in cases {
        let ran = home.run(&[&["ask", "Shall we?"], *more].concat()).await;
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{name}: {}", ran.err);
        assert_snapshot!(format!("ask_{name}"), ran.shown());
    }
    let empty = home.run(&["ask", "  "]).await;
    assert_snapshot!("ask_empty", empty.shown());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_any_model_it_says_what_to_do() {
    let home = Home::new(NOWHERE);
    assert_snapshot!("no_model_ask", home.run(&["ask", "Shall we?"]).await.shown());
    assert_snapshot!("no_model_models", home.run(&["models"]).await.shown());
    assert_snapshot!("no_model_doctor", home.run(&["doctor"]).await.shown());
    let server = home.run(&["--server", NOWHERE, "models"]).await;
    assert_snapshot!("no_server", server.shown());
    let server = home.run(&["--server", "ftp://127.0.0.1", "models"]).await;
    assert_snapshot!("wrong_server", server.shown());
}

#[tokio::test(flavor = "multi_thread")]
async fn models_and_doctor() {
    let (home, _scripted) = canned().await;
    assert_snapshot!("models", home.run(&["models"]).await.shown());
    assert_snapshot!("doctor", home.run(&["doctor"]).await.shown());
    let json = home.run(&["models", "--json"]).await;
    let providers: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(providers[0]["models"].as_array().unwrap().len(), 3);
    let text = "[tiers]\nfast = \"gemma3\"\nstrong = \"qwen3:8b\"\n";
    home.configure(text);
    assert_snapshot!("models_tiers", home.run(&["models"]).await.shown());
    let mut command = home.command(&["models"]);
    command.env("PLENARY_TIERS__FAST", "ollama/gemma3:4b");
    let ran = home.finish(command).await;
    assert!(ran.out.contains("\n  fast      ollama/gemma3:4b  (set)\n"), "{}", ran.out);
    // One that is not running is no error where another has models.
    home.configure(&format!("[providers.away]\nkind = \"ollama\"\nurl = \"http://{NOWHERE}\"\n"));
    let ran = home.run(&["doctor"]).await;
    assert!(ran.out.contains("\nnote  provider away: "), "{}", ran.out);
}

#[tokio::test]
async fn models_are_pulled_by_name_or_from_any_repository() {
    let home = Home::new(NOWHERE);
    let wrong: &[&[&str]] = &[
        &["models", "pull", "--list"],
        &["models", "pull", "qwen"],
        &["models", "pull", "hf:nobody"],
        &["models", "pull", "https://huggingface.co/org/repo"],
        &["models", "pull", "qwen3-0.6b", "--name", "My model"],
        &["models", "remove", "local/qwen3-0.6b"],
    ];
    assert_snapshot!("models_pull", home.story(wrong).await);
    let pull = |model: &str, name: &str| {
        let mut command = home.command(&["models", "pull", model, "--name", name]);
        command.env("HF_HUB_OFFLINE", "1");
        command
    };
    assert_snapshot!("pull_offline", home.finish(pull("qwen3-0.6b", "q")).await.shown());
    let mut nowhere = home.command(&["models", "pull", "hf:org/repo"]);
    nowhere.env("HF_ENDPOINT", "x");
    let said = home.finish(nowhere).await.err;
    assert!(said.contains("HF_ENDPOINT"), "{said}");

    // What another tool has brought is taken as it is.
    let repo = home.path().join(".cache/huggingface/hub/models--org--repo");
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let snapshot = repo.join("snapshots").join(commit);
    std::fs::create_dir_all(&snapshot).unwrap();
    std::fs::create_dir_all(repo.join("refs")).unwrap();
    std::fs::write(repo.join("refs/main"), commit).unwrap();
    std::fs::write(snapshot.join("m-Q4_K_M.gguf"), "GGUF").unwrap();
    let pulled = home.finish(pull("hf:org/repo", "mine")).await;
    assert!(
        pulled.out.starts_with("local/mine was already on this machine."),
        "{}",
        pulled.shown()
    );
    let models = home.run(&["models", "--json"]).await.out;
    assert!(models.contains("\"local\""), "{models}");
    assert_eq!(home.run(&["models", "remove", "mine"]).await.code, Some(0));
    let models = home.run(&["models", "--json"]).await.out;
    assert!(!models.contains("\"local\""), "{models}");
}

#[tokio::test(flavor = "multi_thread")]
async fn prices_are_imported_and_said_with_their_source() {
    let (home, scripted) = canned().await;
    let provider =
        format!("[providers.work]\nkind = \"openai\"\nurl = \"{}/v1\"\n", scripted.url());
    home.configure(&format!("{provider}[prices.\"ollama/qwen3:8b\"]\ninput = 0\noutput = 0\n"));
    assert_snapshot!("prices_none", home.run(&["models", "prices"]).await.shown());
    let list = home.path().join("list.json");
    let text = r#"{
        "sample_spec": { "max_tokens": "the most" },
        "work/qwen3:8b": { "max_input_tokens": 40960, "input_cost_per_token": 1.5e-07,
            "output_cost_per_token": 6e-07, "cache_read_input_token_cost": 7.5e-08 },
        "work/gemma3:4b": { "max_input_tokens": 131072 },
        "work/nothing": {}, "whisper": { "mode": "audio_transcription" } }"#;
    std::fs::write(&list, text).unwrap();
    let written = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_794_900_000);
    std::fs::File::options().write(true).open(&list).unwrap().set_modified(written).unwrap();
    let list = list.to_str().unwrap();
    assert_snapshot!(
        "prices_import",
        home.run(&["models", "prices", "import", list]).await.shown()
    );
    assert_snapshot!("prices", home.run(&["models", "prices"]).await.shown());
    let models = home.run(&["models"]).await.out;
    assert!(
        models.contains("work/gemma3:4b  131,072 tokens of context (imported list"),
        "{models}"
    );
    let seats = ["--advisor", "critic=work/qwen3:8b", "--synthesizer", "work/qwen3:8b"];
    let estimate = home.run(&[&["ask", "Shall we?", "--estimate"], &seats[..]].concat()).await;
    assert!(estimate.out.contains("Prices: an imported list, "), "{}", estimate.shown());
    std::fs::write(list, "<html>").unwrap();
    let refused = home.run(&["models", "prices", "import", list]).await;
    assert_eq!(refused.code, Some(1), "{}", refused.shown());
    assert!(refused.err.contains("it is not a JSON object"), "{}", refused.err);
    assert_eq!(home.run(&["models", "prices", "clear"]).await.out, "Removed the imported list.\n");
    assert_eq!(home.run(&["models", "prices", "clear"]).await.out, "No list was imported.\n");
    assert_eq!(scripted.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_that_fails_ends_in_one() {
    let (home, _scripted) = start(Script::new(Reply::fault(Fault::Unauthorized))).await;
    assert_snapshot!(ask(&home, &[]).await.shown());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mistake_in_the_configuration_is_named_with_its_line() {
    let home = Home::new(NOWHERE);
    home.configure(
        "listen = \"127.0.0.1:7171\"\n\n[providers.mine]\nkind = \"ollama\"\nulr = \"http://x\"\n",
    );
    let ran = home.run(&["models"]).await;
    assert!(ran.err.contains("line 5"), "{}", ran.err);
    assert_snapshot!("config_unknown_key", ran.shown());
    assert_snapshot!("config_unknown_key_doctor", home.run(&["doctor"]).await.shown());
    home.configure("[providers.mine]\nkind = \"oracle\"\n");
    assert_snapshot!("config_unknown_kind", home.run(&["models"]).await.shown());
    home.configure("[prices.\"openai/gpt-5\"]\ninput = -1\noutput = 2\n");
    assert_snapshot!("config_wrong_price", home.run(&["models"]).await.shown());
}

#[tokio::test(flavor = "multi_thread")]
async fn serve_does_not_open_to_others_without_a_token() {
    let home = Home::new(NOWHERE);
    let ran = home.run(&["serve", "--listen", "0.0.0.0:7171"]).await;
    assert_snapshot!("serve_without_token", ran.shown());
    let ran = home.run(&["serve", "--listen", "somewhere"]).await;
    assert_snapshot!("serve_nowhere", ran.shown());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_and_a_port_have_one_server() {
    let (home, other) = (Home::new(NOWHERE), Home::new(NOWHERE));
    let serving = home.serve().await;
    let second = home.run(&["serve", "--listen", "127.0.0.1:0"]).await;
    assert_snapshot!("serve_second", second.shown());
    let address = serving.url.strip_prefix("http://").unwrap();
    let taken = other.run(&["serve", "--listen", address]).await;
    assert_snapshot!("serve_taken_port", taken.shown());

    // An address will do to name a server, as a flag and as a variable.
    let listed = other.run(&["--server", address, "sessions", "list"]).await;
    assert_eq!(listed.code, Some(0), "{}", listed.err);
    let mut command = other.command(&["sessions", "list"]);
    command.env("PLENARY_SERVER", address);
    assert_eq!(other.finish(command).await.code, Some(0));
    serving.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_escape_codes_reach_a_pipe() {
    let said = "\x1b[31mred\x1b[0m \x1b]0;title\x07and **bold**.";
    let script = Script::new(Reply::canned()).when(When::says("as the Expert"), Reply::text(said));
    let (home, _scripted) = start(script).await;
    let mut arguments = vec!["ask", "Colours?"];
    arguments.extend(ONE);
    for value in ["", "1"] {
        let mut command = home.command(&arguments);
        command.env("NO_COLOR", value).env("TERM", "xterm-256color");
        let ran = home.finish(command).await;
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(!ran.out.contains('\x1b') && !ran.err.contains('\x1b'), "{:?}", ran.out);
        assert!(ran.out.contains("red and **bold**."), "{}", ran.out);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_can_be_found_shown_exported_and_removed() {
    let (home, _scripted) = canned().await;
    assert_snapshot!("sessions_none", home.run(&["sessions", "list"]).await.shown());
    ask(&home, &["--json"]).await;
    let second = ["ask", "Shall they?", "--advisor", "critic=ollama/qwen3:8b", "--json"];
    home.run(&second).await;
    assert_snapshot!("sessions_list", home.run(&["sessions", "list"]).await.shown());
    let found = home.run(&["sessions", "list", "they"]).await;
    assert_snapshot!("sessions_list_words", found.shown());
    let found = home.run(&["sessions", "list", "--status", "failed"]).await;
    assert_snapshot!("sessions_list_status", found.shown());
    let listed: Value =
        serde_json::from_str(&home.run(&["sessions", "list", "--json"]).await.out).unwrap();
    let id = listed[1]["id"].as_str().unwrap();

    assert_snapshot!("sessions_show", home.run(&["sessions", "show", id]).await.shown());
    // The end of an id will do.
    let replayed = home.run(&["sessions", "replay", &id[24..]]).await;
    assert_snapshot!("sessions_replay", replayed.shown());
    let unknown = home.run(&["sessions", "show", "nothing"]).await;
    assert_snapshot!("sessions_show_unknown", unknown.shown());
    let gone = "01890000-0000-7000-8000-000000000000";
    assert_snapshot!("sessions_show_gone", home.run(&["sessions", "show", gone]).await.shown());

    let markdown = home.run(&["sessions", "export", id, "--format", "markdown"]).await;
    assert_snapshot!("sessions_export_markdown", markdown.shown());
    let exported = home.run(&["sessions", "export", id, "-o", "board.json"]).await;
    assert_eq!((exported.code, exported.out.as_str()), (Some(0), ""));
    let imported = home.run(&["sessions", "import", "board.json"]).await;
    assert_snapshot!("sessions_import", imported.shown());
    std::fs::write(home.path().join("wrong.json"), "{\"format\":").unwrap();
    let wrong = home.run(&["sessions", "import", "wrong.json"]).await;
    assert_snapshot!("sessions_import_wrong", wrong.shown());
    std::fs::write(
        home.path().join("other.json"),
        "{\"format\":\"x\",\"formatVersion\":3,\"events\":[]}",
    )
    .unwrap();
    let other = home.run(&["sessions", "import", "other.json"]).await;
    assert_snapshot!("sessions_import_other", other.shown());

    let unasked = home.run(&["sessions", "remove", id]).await;
    assert_snapshot!("sessions_remove_unasked", unasked.shown());
    assert_eq!(home.run(&["sessions", "show", id]).await.code, Some(0));
    let removed = home.run(&["sessions", "remove", id, "--yes"]).await;
    assert_snapshot!("sessions_remove", removed.shown());
    assert_eq!(home.run(&["sessions", "show", id]).await.code, Some(2));
}

/// A disk that is full must not look like a record without a word.
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_written_is_an_error() {
    let (home, _scripted) = canned().await;
    let asked = ask(&home, &["-o", "."]).await;
    assert_eq!(asked.code, Some(2));
    assert!(asked.err.contains(". is a folder; name a file in it"), "{}", asked.err);
    ask(&home, &[]).await;
    for list in [&["sessions", "list"][..], &["sessions", "export", "last"]] {
        let mut command = home.command(list);
        command.stdout(std::fs::File::options().write(true).open("/dev/full").unwrap());
        let ran = ended(&home, command.spawn().unwrap()).await;
        assert_eq!(ran.code, Some(1), "{list:?}");
        assert!(ran.err.contains("cannot write to standard output: No space left"), "{}", ran.err);
    }
}

/// As lists show them, although boards call some of them otherwise.
#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_found_by_the_status_that_is_shown() {
    let (home, _scripted) = canned().await;
    ask(&home, &[]).await;
    for kind in [&[][..], &["--kind", "boardroom"]] {
        let list = [&["sessions", "list", "--status", "done"], kind].concat();
        let listed = home.run(&list).await;
        assert!(listed.out.contains("  done  "), "{}", listed.shown());
    }
    let none = home.run(&["sessions", "list", "--status", "voting"]).await;
    assert_eq!((none.code, none.out.as_str()), (Some(0), ""), "{}", none.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_variable_that_nobody_reads_is_named() {
    let home = Home::new(NOWHERE);
    for (name, says) in [
        ("PLENARY_TIERS__FST", "there is no setting PLENARY_TIERS__FST"),
        ("PLENARY_LOG", "PLENARY_LOG is \"plenary=louder\"; write `info`"),
    ] {
        let mut command = home.command(&["serve"]);
        command.env(name, "plenary=louder");
        let ran = home.finish(command).await;
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains(says), "{}", ran.err);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_at_rest_can_be_asked_for_more() {
    let (home, scripted) = canned().await;
    ask(&home, &["--json"]).await;
    let again = ["sessions", "synthesize", "last", "--instruction", "in French"];
    assert_snapshot!("sessions_synthesize", home.run(&again).await.shown());
    assert_eq!(scripted.requests().len(), 3, "the advisor is not asked again");
    let retry = ["sessions", "retry", "last", "1", "--model", "gemma3:4b"];
    assert_snapshot!("sessions_retry", home.run(&retry).await.shown());
    let retry = ["sessions", "retry", "last", "7"];
    assert_snapshot!("sessions_retry_nobody", home.run(&retry).await.shown());
    assert_snapshot!(
        "sessions_stop_resting",
        home.run(&["sessions", "stop", "last"]).await.shown()
    );
    let resume = home.run(&["sessions", "resume", "last"]).await;
    assert_snapshot!("sessions_resume_resting", resume.shown());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_replies_from_the_command_line() {
    let (home, _scripted) = canned().await;
    let asked =
        ["ask", "And you?", "--advisor", "critic=person:Ada", "--advisor", "expert=qwen3:8b"];
    assert_snapshot!("ask_person", home.run(&asked).await.shown());
    let replied = home.run(&["sessions", "reply", "last", "I would wait a year."]).await;
    assert_snapshot!("sessions_reply", replied.shown());
    let late = home.run(&["sessions", "reply", "last", "And another thing."]).await;
    assert_snapshot!("sessions_reply_late", late.shown());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_advisors_vote_after_the_synthesis() {
    let (home, _scripted) = canned().await;
    let ballot = |model: &str, more: &[&str]| {
        let seats = [format!("critic={model}"), format!("analyst={model}")];
        let mut arguments = vec!["ask".to_owned(), "Shall we?".to_owned(), "--ballot".to_owned()];
        arguments.extend(seats.into_iter().flat_map(|seat| ["--advisor".to_owned(), seat]));
        arguments.extend(more.iter().map(|more| (*more).to_owned()));
        arguments
    };
    let run = async |arguments: Vec<String>| {
        home.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).await
    };
    // Who answers first is a matter of luck, and not told here.
    let plain = run(ballot("qwen3:8b", &[])).await;
    assert_eq!(plain.code, Some(0), "{}", plain.err);
    let (_, votes) = plain.out.split_once("=== Votes ===").unwrap();
    assert_snapshot!("ask_ballot", votes);
    let markdown = run(ballot("qwen3:8b", &["--markdown"])).await;
    let (_, votes) = markdown.out.split_once("## Votes").unwrap();
    assert_snapshot!("ask_ballot_markdown", votes);
    let json = run(ballot("qwen3:8b", &["--json"])).await;
    let board: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(board["ballot"], true);
    let synthesis = &board["syntheses"][0];
    assert_eq!(synthesis["points"][1]["votes"][0]["vote"], "defer", "{synthesis}");
    let agreement = json!([{ "a": 1, "b": 2, "same": 2, "of": 4 }]);
    assert_eq!(synthesis["agreement"], agreement, "{synthesis}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_is_asked_a_further_question_from_the_command_line() {
    let (home, _scripted) = canned().await;
    assert_eq!(ask(&home, &[]).await.code, Some(0));
    let further = |prompt| ["ask", "--follow-up", "last", prompt];
    assert_snapshot!("ask_follow_up", home.run(&further("How soon?")).await.shown());
    assert_snapshot!("ask_follow_up_nobody", home.run(&further("@jester Why?")).await.shown());
    let mixed = home.run(&["ask", "--follow-up", "last", "--ballot", "Why?"]).await;
    assert_eq!(mixed.code, Some(2), "{}", mixed.err);
    let shown = home.run(&["sessions", "show", "last"]).await;
    assert_snapshot!("sessions_show_follow_up", shown.shown());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_board_is_put_to_the_vote_from_the_command_line() {
    let (home, _scripted) = canned().await;
    assert_eq!(ask(&home, &[]).await.code, Some(0));
    assert_snapshot!("sessions_ballot", home.run(&["sessions", "ballot", "last"]).await.shown());
    let again = home.run(&["sessions", "ballot", "last"]).await;
    assert_snapshot!("sessions_ballot_again", again.shown());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_does_not_vote_is_passed_over_from_the_command_line() {
    let (home, _scripted) = canned().await;
    let asked = ["ask", "And you?", "--ballot", "--advisor", "critic=person:Ada"];
    assert_eq!(home.run(&asked).await.code, Some(0));
    assert_eq!(home.run(&["sessions", "reply", "last", "I would wait."]).await.code, Some(0));
    let passed = home.run(&["sessions", "stop", "last", "--advisor", "1"]).await;
    assert_snapshot!("sessions_stop_voter", passed.shown());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_votes_from_the_command_line() {
    let (home, _scripted) = canned().await;
    let asked = ["ask", "And you?", "--ballot", "--advisor", "critic=person:Ada"];
    assert_eq!(home.run(&asked).await.code, Some(0));
    let replied = home.run(&["sessions", "reply", "last", "I would wait a year."]).await;
    assert_snapshot!("sessions_reply_before_ballot", replied.shown());
    for (name, votes) in [("no_vote", "1"), ("no_choice", "1=perhaps"), ("no_point", "9=accept")] {
        let ran = home.run(&["sessions", "vote", "last", votes]).await;
        assert_snapshot!(format!("sessions_vote_{name}"), ran.shown());
    }
    let voted = ["sessions", "vote", "last", "1=accept", "3=Reject: far too fast"];
    assert_snapshot!("sessions_vote", home.run(&voted).await.shown());
    let late = home.run(&["sessions", "vote", "last", "1=accept"]).await;
    assert_snapshot!("sessions_vote_late", late.shown());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_stops_the_board_and_says_how_to_go_on() {
    let gate = Gate::new();
    let waits = Reply::text("one two three four").gate(2, &gate);
    let script = Script::new(Reply::canned()).when(When::says("as the Expert"), waits);
    let (home, scripted) = start(script).await;
    let mut arguments = vec!["ask", "Shall we?"];
    arguments.extend(ONE);
    let child = home.command(&arguments).spawn().unwrap();
    gate.reached(1).await;
    interrupt(&child);
    let output = tokio::time::timeout(SAFETY, child.wait_with_output()).await.unwrap().unwrap();
    let ran = home.ran(output);
    assert_eq!(ran.code, Some(130), "{} {}", ran.out, ran.err);
    let id = ran.err.trim_end().rsplit(' ').next().unwrap().to_owned();
    assert!(ran.err.contains(&format!("Resume: plenary sessions resume {id}")), "{}", ran.err);
    let requests = scripted.wait_for_ended(1).await;
    assert!(requests[0].dropped, "the request ended with the interrupt");

    let listed = home.run(&["sessions", "list", "--status", "stopped"]).await;
    assert_eq!(listed.out.lines().count(), 1, "{}", listed.out);
    let shown = home.run(&["sessions", "show", &id, "--json"]).await;
    let board: Value = serde_json::from_str(&shown.out).unwrap();
    let partial = board["advisors"][0]["text"].as_str().unwrap();
    assert!("one two ".starts_with(partial), "{partial:?}");
    assert_eq!(board["syntheses"], Value::Array(vec![]));

    gate.release();
    let resumed = home.run(&["sessions", "resume", &id]).await;
    assert_eq!(resumed.code, Some(0), "{}", resumed.err);
    assert!(resumed.out.contains("one two three four"), "{}", resumed.out);
    assert!(resumed.out.contains("## Recommendation"), "{}", resumed.out);
}

fn asking(home: &Home, advisor: &str) -> Child {
    home.command(&["ask", "Shall we?", "--advisor", advisor]).spawn().unwrap()
}

async fn ended(home: &Home, child: Child) -> Ran {
    let output = tokio::time::timeout(SAFETY, child.wait_with_output()).await.unwrap();
    home.ran(output.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn two_may_ask_at_once_and_one_outlives_the_other() {
    for is_killed in [false, true] {
        let (first, second) = (Gate::new(), Gate::new());
        let waits = |gate: &Gate| Reply::text("one two three four").gate(2, gate);
        let script = Script::new(Reply::canned())
            .when(When::says("as the Critic"), waits(&first))
            .when(When::says("as the Analyst"), waits(&second));
        let (home, _scripted) = start(script).await;
        let mut holder = asking(&home, "critic=llama3.2:3b");
        first.reached(1).await;
        let guest = asking(&home, "analyst=gemma3:4b");
        second.reached(1).await;
        // A third one is not kept out either.
        let third = ask(&home, &[]).await;
        assert_eq!(third.code, Some(0), "{}", third.err);
        if is_killed {
            holder.start_kill().unwrap();
        } else {
            first.release();
        }
        let holder = ended(&home, holder).await;
        assert_eq!(holder.code, (!is_killed).then_some(0), "{}", holder.err);
        // The guest has the folder now, and its advisor is asked again.
        second.reached(2).await;
        first.release();
        second.release();
        let guest = ended(&home, guest).await;
        assert_eq!(guest.code, Some(0), "{}", guest.err);
        assert!(guest.err.contains("(through the server at "), "{}", guest.err);
        assert_eq!(guest.out.matches("one two three four").count(), 1, "{}", guest.out);
        assert_eq!(guest.out.matches("## Recommendation").count(), 1, "{}", guest.out);
    }
}

/// The process that held the folder took the request, and ended before it answered.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_was_lost_with_its_server_is_made_again() {
    let (home, _scripted) = canned().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let holder = Holder { command: "plenary ask".into(), since: jiff::Timestamp::UNIX_EPOCH };
    let store = plenary_store::open(&home.path().join("data"), holder).await.unwrap();
    store.announce(&url, "token").unwrap();
    let losing = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut heard = vec![0; 4096];
        let length = stream.read(&mut heard).await.unwrap();
        store.close().await.unwrap();
        String::from_utf8_lossy(&heard[..length]).to_lowercase()
    });
    let asked = ask(&home, &[]).await;
    assert_eq!(asked.code, Some(0), "{}", asked.err);
    assert!(asked.out.contains("## Recommendation"), "{}", asked.out);
    let heard = losing.await.unwrap();
    assert!(heard.starts_with("post /api/boardrooms ") && heard.contains("\r\nidempotency-key: "));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_board_is_stopped_and_synthesized_through_its_server() {
    let gate = Gate::new();
    let waits = Reply::text("one two three four").gate(2, &gate);
    let script = Script::new(Reply::canned()).when(When::model("gemma3:4b"), waits);
    let (home, _scripted) = start(script).await;
    let serving = home.serve().await;
    let asked = [
        "ask",
        "Shall we?",
        "--advisor",
        "expert=qwen3:8b",
        "--advisor",
        "critic=gemma3:4b",
        "--json",
    ];
    let child = home.command(&asked).spawn().unwrap();
    gate.reached(1).await;
    let synthesized = async {
        loop {
            // Refused until the first advisor has answered.
            let ran = home.run(&["sessions", "synthesize", "last"]).await;
            if ran.code == Some(0) {
                return ran;
            }
            assert!(ran.err.contains("No advisor has answered yet"), "{}", ran.err);
        }
    };
    let ran = tokio::time::timeout(SAFETY, synthesized).await.unwrap();
    assert!(ran.out.contains("From 1 of 2 advisors. Missing: Critic (had not finished)."));
    let output = tokio::time::timeout(SAFETY, child.wait_with_output()).await.unwrap().unwrap();
    let board: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(board["status"], "closed");

    let only = ["ask", "Again?", "--advisor", "critic=gemma3:4b"];
    let child = home.command(&only).spawn().unwrap();
    gate.reached(2).await;
    let stopped = home.run(&["sessions", "stop", "last", "--advisor", "1"]).await;
    let told = "Stopped advisor 1; board status: failed.\n";
    assert_eq!((stopped.code, stopped.out.as_str()), (Some(0), told), "{}", stopped.err);
    let again = home.run(&["sessions", "stop", "last", "--advisor", "1"]).await;
    assert_snapshot!("sessions_stop_advisor", again.shown());
    let output = tokio::time::timeout(SAFETY, child.wait_with_output()).await.unwrap().unwrap();
    assert_eq!(home.ran(output).code, Some(1));

    let child = home.command(&only).spawn().unwrap();
    gate.reached(3).await;
    let stopped = home.run(&["sessions", "stop", "last"]).await;
    assert_eq!((stopped.code, stopped.out.as_str()), (Some(0), "Stopped.\n"), "{}", stopped.err);
    // Who followed it is told that somebody else stopped it.
    let output = tokio::time::timeout(SAFETY, child.wait_with_output()).await.unwrap().unwrap();
    let ran = home.ran(output);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("The board was stopped."), "{}", ran.err);
    serving.kill().await;
}

/// It is for the server: models read what MCP says, and files are copied about.
#[tokio::test(flavor = "multi_thread")]
async fn a_password_in_the_address_of_a_server_shows_nowhere() {
    let (there, home) = (Home::new(NOWHERE), Home::new(NOWHERE));
    let serving = there.serve().await;
    let server = serving.url.replace("http://", "http://ann:swordfish@");
    let nobody = format!("http://ann:swordfish@{NOWHERE}");
    for (command, server, shown) in [
        (&["doctor"][..], &server, "[hidden]@"),
        (&["store", "check"], &server, "[hidden]@"),
        (&["sessions", "list"], &nobody, "[hidden]@"),
        (&["whiteboard", "open", "adr", "Which?", "--as", "ann"], &server, "adr"),
        // The token is found again.
        (&["whiteboard", "state", "adr"], &server, "you are ann"),
    ] {
        let ran = home.run(&[command, &["--server", server]].concat()).await;
        let all = format!("{}{}", ran.out, ran.err);
        assert!(all.contains(shown), "{command:?}: {all}");
        assert!(!all.contains("swordfish"), "{command:?}: {all}");
    }
    let kept = std::fs::read_to_string(home.path().join("data/agents.json")).unwrap();
    assert!(kept.contains("[hidden]@") && !kept.contains("swordfish"), "{kept}");
    let (mut agent, welcome) = Agent::start(home.command(&["mcp", "--server", &server])).await;
    let missed = agent.call("whiteboard_state", json!({ "board_id": "none" })).await;
    for told in [welcome.to_string(), missed.to_string()] {
        assert!(told.contains("[hidden]@") && !told.contains("swordfish"), "{told}");
    }
    serving.kill().await;
}

/// A server may be anybody's.
#[tokio::test(flavor = "multi_thread")]
async fn no_escape_codes_of_a_server_reach_the_terminal() {
    const EVIL: &str = "\x1b]0;title\x07\x1b[2J\x1b[31mevil\u{9b}1m\u{202e}";
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut heard = vec![0; 8192];
            let length = stream.read(&mut heard).await.unwrap();
            let heard = String::from_utf8_lossy(&heard[..length]).into_owned();
            let error = json!({
                "success": false,
                "error": {
                    "code": EVIL, "message": EVIL, "hint": EVIL,
                    "fields": [{ "field": EVIL, "problem": EVIL }, { "field": EVIL, "problem": EVIL }],
                },
            });
            let provider = json!({
                "name": EVIL, "kind": EVIL, "place": EVIL, "problem": EVIL, "hint": EVIL,
                "note": EVIL, "ready": false, "models": [EVIL],
            });
            let tier = json!({ "tier": EVIL, "model": EVIL, "configured": true });
            let (status, body) = match heard.split(' ').nth(1).unwrap_or_default() {
                "/api/providers" => (200, json!({ "data": [provider] })),
                "/api/tiers" => (200, json!({ "data": [tier] })),
                _ => (503, error),
            };
            let body = body.to_string();
            let head = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nconnection: close\r\n\
                 content-length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        }
    });
    let home = Home::new(NOWHERE);
    for command in [
        &["doctor"][..],
        &["models"],
        &["sessions", "list"],
        &["ask", "Shall we?"],
        &["discuss", "Shall we?"],
        &["agents", "list"],
        &["whiteboard", "state", "x"],
        &["council", "read", "x"],
    ] {
        let ran = home.run(&[command, &["--server", &url]].concat()).await;
        let all = format!("{}{}", ran.out, ran.err);
        assert!(all.contains("evil"), "{command:?}: {all}");
        let codes = ['\x1b', '\x07', '\u{9b}', '\u{202e}'];
        assert!(!all.contains(codes), "{command:?}: {all:?}");
    }
}

/// A file is what its bytes say, and one that cannot be read is told with its place.
#[tokio::test(flavor = "multi_thread")]
async fn pdfs_and_images_are_attached() {
    let (home, scripted) = canned().await;
    let write = |name: &str, bytes: &[u8]| std::fs::write(home.path().join(name), bytes).unwrap();
    write("notes.pdf", &pdf(&["BT /F 12 Tf 20 200 Td (Ship small.) Tj ET"]));
    write("plan.png", b"\x89PNG\r\n\x1a\n");
    let ran = ask(&home, &["--file", "notes.pdf", "--file", "plan.png"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let asked = &scripted.requests()[0];
    assert!(asked.prompt.contains("Ship small."), "{}", asked.prompt);
    assert_eq!(asked.body["messages"][1]["images"], json!(["iVBORw0KGgo="]));
    // One that is cut off, one that is made to break its reader, one without text, one that
    // wants a password (`secret`), and one that says it is a PDF and is none.
    write("cut.pdf", &pdf(&["BT ET"])[..120]);
    write("deep.pdf", &pdf(&[&"[".repeat(2_000_000)]));
    write("blank.pdf", &pdf(&["BT ET"]));
    write("locked.pdf", include_bytes!("files/locked.pdf"));
    write("empty.pdf", b"%PDF-1.4\n");
    for (name, problem) in [
        ("cut.pdf", "this PDF is damaged"),
        ("deep.pdf", "this PDF is damaged"),
        ("blank.pdf", "this PDF contains no text; if its pages are scans, attach them as images"),
        ("locked.pdf", "this PDF is protected by a password; attach a copy without one"),
        ("empty.pdf", "this PDF is damaged"),
    ] {
        let ran = ask(&home, &["--file", name]).await;
        assert_eq!(ran.code, Some(2), "{}", ran.shown());
        assert!(ran.shown().contains(problem), "{name}: {}", ran.shown());
    }
}

/// Words of different pages do not run together, and a page that cannot be read takes no
/// other with it.
#[tokio::test(flavor = "multi_thread")]
async fn pages_of_a_pdf_stand_apart() {
    let (home, scripted) = canned().await;
    let said = |words: &str| format!("BT /F 12 Tf 20 200 Td ({words}) Tj ET");
    let file = pdf(&[&said("One."), "BT Tf ET", &said("Three.")]);
    std::fs::write(home.path().join("three.pdf"), file).unwrap();
    let ran = ask(&home, &["--file", "three.pdf"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let prompt = &scripted.requests()[0].prompt;
    assert!(prompt.contains("One.\n\n[page 2 could not be read]\n\nThree."), "{prompt}");
}

/// A manual of thousands of pages is refused, and not read to its end before that.
#[test]
fn a_pdf_is_read_no_further_than_files_may_go() {
    let page = format!("BT /F 12 Tf 20 200 Td ({}) Tj ET", "a".repeat(40_000));
    let file = pdf(&vec![page.as_str(); 60]);
    let mut reader = std::process::Command::new(env!("CARGO_BIN_EXE_plenary"))
        .arg("__pdf")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut reader.stdin.take().unwrap(), &file).unwrap();
    let text = reader.wait_with_output().unwrap().stdout;
    let (least, most) = (1024 * 1024, 1024 * 1024 + 50_000);
    assert!((least..most).contains(&text.len()), "{} bytes of 60 × 40,000", text.len());
}

/// A PDF of pages with these commands on them.
fn pdf(pages: &[&str]) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|page| format!("{} 0 R", 4 + 2 * page)).collect();
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        format!("<</Type/Pages/Kids[{}]/Count {}>>", kids.join(" "), pages.len()),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_owned(),
    ];
    for (page, number) in pages.iter().zip((4..).step_by(2)) {
        objects.push(format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents {} 0 R\
             /Resources<</Font<</F 3 0 R>>>>>>",
            number + 1
        ));
        objects.push(format!("<</Length {}>>stream\n{page}\nendstream", page.len()));
    }
    let (mut file, mut places) = ("%PDF-1.4\n".to_owned(), String::new());
    for (object, number) in objects.iter().zip(1..) {
        places.push_str(&format!("{:010} 00000 n \n", file.len()));
        file.push_str(&format!("{number} 0 obj\n{object}\nendobj\n"));
    }
    let (end, size) = (file.len(), objects.len() + 1);
    file.push_str(&format!("xref\n0 {size}\n0000000000 65535 f \n{places}"));
    file.push_str(&format!("trailer<</Root 1 0 R/Size {size}>>\nstartxref\n{end}\n%%EOF\n"));
    file.into_bytes()
}
