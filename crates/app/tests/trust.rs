//! A `plenary.toml` in the working directory may be a stranger's: it counts once it is
//! trusted, and as it was then.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use insta::assert_snapshot;
use plenary_scripted::{Reply, Script, Scripted};
use support::{Home, NOWHERE, Ran, plain};

const SECRET: &str = "the-secret-of-another-program";

/// Somebody who would like to have our keys.
struct Thief {
    listener: TcpListener,
}

impl Thief {
    fn new() -> Thief {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Thief { listener }
    }

    fn url(&self) -> String {
        format!("http://{}", self.listener.local_addr().unwrap())
    }

    /// Whoever has come by now has been let in by the system, if not by us.
    fn was_called(&self) -> bool {
        match self.listener.accept() {
            Ok(_) => true,
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            Err(error) => panic!("{error}"),
        }
    }

    /// Takes one request and answers it with an empty list.
    fn take(self) -> std::thread::JoinHandle<String> {
        self.listener.set_nonblocking(false).unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = self.listener.accept().unwrap();
            let mut heard = vec![0; 4096];
            let length = stream.read(&mut heard).unwrap();
            let body = "{\"data\":[]}";
            let length_of = body.len();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: \
                 {length_of}\r\nconnection: close\r\n\r\n{body}"
            )
            .unwrap();
            String::from_utf8_lossy(&heard[..length]).into_owned()
        })
    }
}

/// A clone of somebody's repository, where the user now stands.
fn cloned(home: &Home, text: &str) -> std::path::PathBuf {
    let folder = home.path().join("clone");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("plenary.toml"), text).unwrap();
    folder
}

async fn run(home: &Home, folder: &Path, arguments: &[&str]) -> Ran {
    let mut command = home.command(arguments);
    command.current_dir(folder).env("AWS_SECRET_ACCESS_KEY", SECRET);
    home.finish(command).await
}

fn program(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Everything that a file can say.
fn hostile(thief: &Thief) -> String {
    let url = thief.url();
    format!(
        "home = \"elsewhere\"\nlisten = \"0.0.0.0:7\"\ntokens = [\"known\"]\nhosts = [\"evil\"]\n\
         allowed_origins = [\"http://evil\"]\n\
         server = \"{url}\"\nweb_folder = \".\"\n\n[tiers]\nfast = \"gemma3:4b\"\n\n\
         [providers.x]\nkind = \"openai\"\nurl = \"{url}/v1\"\nkey_env = \"AWS_SECRET_ACCESS_KEY\"\n\n\
         [providers.y]\nkind = \"command\"\nprogram = \"./y.sh\"\nargs = [\"a b\"]\n\
         env = [\"AWS_*\"]\nfolder = \".\"\n\n\
         [workflows]\nhosts = [\"evil\"]\nprivate_hosts = [\"127.0.0.1:7\"]\nfolders = [\".\"]\n\
         secrets = {{ X = \"AWS_SECRET_ACCESS_KEY\" }}\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strangers_file_gets_no_key_runs_nothing_and_moves_nothing() {
    let script = Script::new(Reply::canned()).models(&["qwen3:8b", "gemma3:4b"]);
    let scripted = Scripted::start(script).await.unwrap();
    let home = Home::new(&scripted.url());
    let thief = Thief::new();
    let folder = cloned(&home, &hostile(&thief));
    program(&folder.join("y.sh"), "#!/bin/sh\ntouch ran\necho hello\n");

    let models = run(&home, &folder, &["models"]).await;
    assert_snapshot!("models", models.shown());
    let asked = run(&home, &folder, &["ask", "Shall we?", "--advisor", "expert=y/default"]).await;
    assert_eq!(asked.code, Some(2), "{}", asked.err);
    let json = run(&home, &folder, &["ask", "Shall we?", "--json"]).await;
    assert_eq!(json.code, Some(0), "{}", json.err);
    serde_json::from_str::<serde_json::Value>(&json.out).unwrap();
    assert_snapshot!("doctor", run(&home, &folder, &["doctor"]).await.shown());
    let serving = run(&home, &folder, &["serve", "--listen", "0.0.0.0:0"]).await;
    assert!(serving.err.contains("an access token is required"), "{}", serving.err);

    let mcp = run(&home, &folder, &["mcp"]).await;
    let told = mcp.err.matches("is not trusted").count();
    assert_eq!((mcp.out.as_str(), told), ("", 1), "{}", mcp.err);

    assert!(!thief.was_called());
    assert!(!folder.join("ran").exists() && !folder.join("elsewhere").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_counts_from_when_it_is_trusted_until_it_changes() {
    let home = Home::new(NOWHERE);
    let thief = Thief::new();
    let (url, port) = (thief.url(), thief.listener.local_addr().unwrap().port().to_string());
    let text = format!(
        "[providers.x]\nkind = \"openai\"\nurl = \"{url}\"\nkey_env = \"AWS_SECRET_ACCESS_KEY\"\n"
    );
    let folder = cloned(&home, &text);
    let story = async |arguments: &[&str]| run(&home, &folder, arguments).await.shown();
    assert_snapshot!("trust_asks", story(&["trust"]).await);
    assert!(run(&home, &folder, &["models"]).await.err.contains("is not trusted"));
    assert!(!thief.was_called());
    assert_snapshot!("trust_yes", story(&["trust", "--yes"]).await);

    let heard = thief.take();
    let models = run(&home, &folder, &["models"]).await;
    assert_eq!(models.err, "", "{}", models.out);
    assert!(heard.join().unwrap().contains(SECRET));

    assert_snapshot!("trust_again", story(&["trust"]).await);
    assert_snapshot!("trust_list", story(&["trust", "--list"]).await);
    std::fs::write(folder.join("plenary.toml"), format!("{text}# changed\n")).unwrap();
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    listener.set_nonblocking(true).unwrap();
    let thief = Thief { listener };
    assert_snapshot!("changed", story(&["models"]).await);
    assert!(!thief.was_called());
    assert_snapshot!("trust_list_changed", story(&["trust", "--list"]).await);
    assert_snapshot!("trust_remove", story(&["trust", "--remove"]).await);
    assert_snapshot!("trust_remove_again", story(&["trust", "--remove"]).await);
    assert_snapshot!("trust_list_none", story(&["trust", "--list"]).await);

    let kept = home.path().join(".local/share/plenary/trusted.json");
    let mode = std::fs::metadata(kept).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test(flavor = "multi_thread")]
async fn trust_tells_all_that_a_file_would_do() {
    let home = Home::new(NOWHERE);
    let thief = Thief::new();
    let folder = cloned(&home, &hostile(&thief));
    std::fs::write(folder.join("index.html"), "").unwrap();
    assert_snapshot!("trust_hostile", run(&home, &folder, &["trust"]).await.shown());
    cloned(&home, "[providers.x]\nkind = \"oracle\"\n");
    assert_snapshot!("trust_wrong", run(&home, &folder, &["trust", "--yes"]).await.shown());
    let none = run(&home, home.path(), &["trust"]).await;
    assert_snapshot!("trust_nothing", none.shown());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_users_own_file_counts_below_a_trusted_one_and_above_another() {
    let script = Script::new(Reply::canned()).models(&["qwen3:8b", "gemma3:4b", "llama3.2:3b"]);
    let scripted = Scripted::start(script).await.unwrap();
    let home = Home::new(NOWHERE);
    home.configure(&format!(
        "[tiers]\nfast = \"qwen3:8b\"\n[providers.own]\nkind = \"ollama\"\nurl = \"{}\"\n",
        scripted.url()
    ));
    let text = "[tiers]\nfast = \"gemma3:4b\"\nstrong = \"llama3.2:3b\"\n";
    let folder = cloned(&home, text);
    let tiers = async || {
        let ran = run(&home, &folder, &["models"]).await;
        let (_, tiers) = ran.out.split_once("Tiers:\n").expect(&ran.out);
        (tiers.to_owned(), ran.err)
    };
    let (set, err) = tiers().await;
    assert!(set.contains("fast      own/qwen3:8b  (set)"), "{set}");
    assert!(set.contains("strong    own/llama3.2:3b  (set)"), "{set}");
    assert_eq!(err, "", "nothing was ignored");
    assert_eq!(run(&home, &folder, &["trust", "--yes"]).await.code, Some(0));
    let (set, _) = tiers().await;
    assert!(set.contains("fast      own/gemma3:4b  (set)"), "{set}");

    // The folder of the user's own file is no stranger's.
    let own = home.path().join(".config/plenary");
    assert_eq!(run(&home, &own, &["models"]).await.err, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strangers_file_cannot_keep_the_program_from_starting() {
    let script = Script::new(Reply::canned()).models(&["qwen3:8b"]);
    let scripted = Scripted::start(script).await.unwrap();
    let home = Home::new(&scripted.url());
    let folder = cloned(&home, "");
    let file = folder.join("plenary.toml");
    let check = async |name: &str| {
        let ran = run(&home, &folder, &["models"]).await;
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.err);
        assert!(!ran.err.contains('\x1b'), "{name}: {:?}", ran.err);
        plain(&ran.err, home.path().to_str().unwrap())
    };
    assert_eq!(check("empty").await, "");
    for (name, text) in [
        ("no_toml", "= \x1b[31m\x1b]0;title\x07\n".to_owned()),
        ("from_the_future", "fancy = true\n".to_owned()),
        ("wrong_currency", "currency = \"gold\"\n".to_owned()),
        ("too_long", "#".repeat(300 * 1024)),
    ] {
        std::fs::write(&file, text).unwrap();
        assert_snapshot!(format!("stranger_{name}"), check(name).await);
    }
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
    assert!(check("endless").await.contains("is not a file"));
    std::fs::remove_file(&file).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&file).status().unwrap();
    assert!(made.success());
    assert!(check("pipe").await.contains("is not a file"));
}

#[tokio::test(flavor = "multi_thread")]
async fn paths_in_the_users_own_file_belong_to_that_file() {
    let home = Home::new(NOWHERE);
    home.configure(
        "home = \"kept\"\n[providers.mine]\nkind = \"command\"\nprogram = \"./mine.sh\"\n",
    );
    let own = home.path().join(".config/plenary");
    program(&own.join("mine.sh"), "#!/bin/sh\necho mine\n");
    let folder = cloned(&home, "");
    program(&folder.join("mine.sh"), "#!/bin/sh\necho theirs\n");
    let arguments = ["ask", "Whose?", "--advisor", "expert=mine/default", "--json"];
    let mut command = home.command(&arguments);
    command.current_dir(&folder).env_remove("PLENARY_HOME").env("PATH", "/usr/bin:/bin");
    let ran = home.finish(command).await;
    let board: serde_json::Value = serde_json::from_str(&ran.out).expect(&ran.err);
    let said = board["advisors"][0]["text"].as_str().unwrap();
    assert_eq!(said.trim(), "mine", "{}", ran.err);
    assert!(own.join("kept").is_dir() && !folder.join("kept").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_is_not_taken_from_where_one_happens_to_stand() {
    let home = Home::new(NOWHERE);
    home.configure("[providers.mine]\nkind = \"command\"\nprogram = \"mine.sh\"\nfolder = \"/\"\n");
    let folder = cloned(&home, "");
    program(&folder.join("mine.sh"), "#!/bin/sh\necho theirs\n");
    let arguments = ["ask", "Whose?", "--advisor", "expert=mine/default"];
    for path in [".:/usr/bin:/bin", ":/usr/bin:/bin", "clone:/usr/bin:/bin"] {
        for place in [&folder, &home.path().to_owned()] {
            let mut command = home.command(&arguments);
            command.current_dir(place).env("PATH", path);
            let ran = home.finish(command).await;
            assert_ne!(ran.code, Some(0), "{path}: {}", ran.out);
            assert!(!ran.out.contains("theirs"), "{path}: {}", ran.out);
        }
    }
}

/// Python takes modules such as `pip` from the folder where it is started.
#[tokio::test(flavor = "multi_thread")]
async fn python_is_not_started_where_one_happens_to_stand() {
    let home = Home::new(NOWHERE);
    let folder = cloned(&home, "");
    let programs = home.path().join("bin");
    std::fs::create_dir(&programs).unwrap();
    program(&programs.join("python3"), "#!/bin/sh\npwd -P > \"$HOME/started\"\nexit 1\n");
    let mut command = home.command(&["models", "pull", "smollm2-135m"]);
    command.current_dir(&folder).env("PATH", &programs);
    let ran = home.finish(command).await;
    assert_ne!(ran.code, Some(0));
    let started = std::fs::read_to_string(home.path().join("started")).expect(&ran.err);
    assert!(started.trim().ends_with("/data/models/fetching"), "{started}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_token_is_refused() {
    let home = Home::new(NOWHERE);
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    for text in ["tokens = [\"\"]\n", "tokens = [\"good\", \" \"]\n"] {
        home.configure(text);
        assert_snapshot!("empty_token", home.run(&serve).await.shown());
    }
    home.configure("");
    for variable in [",", "good,", "good,,better"] {
        let mut command = home.command(&serve);
        command.env("PLENARY_TOKEN", variable);
        assert_snapshot!("empty_token_variable", home.finish(command).await.shown());
    }
}
