//! The program in a folder of its own, with a scripted model server to ask.

#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod accounts;
pub mod cluster;
pub mod deliveries;
pub mod kills;
pub mod mcp;
pub mod runs;

use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use std::sync::Arc;

use plenary_domain::Timestamp;
use plenary_store::testkit::Database;
use plenary_store::{Holder, Log, postgres};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// A wait that lasts this long has failed. No test depends on its length.
pub const SAFETY: Duration = Duration::from_secs(60);

/// An address of the loopback that nothing listens on.
pub const NOWHERE: &str = "127.0.0.1:1";

pub struct Home {
    pub folder: tempfile::TempDir,
    /// What `OLLAMA_HOST` says.
    ollama: String,
    /// Where the log is, if not in the folder.
    database: Option<Database>,
}

impl Home {
    pub fn new(ollama: &str) -> Home {
        Home { folder: tempfile::tempdir().unwrap(), ollama: ollama.to_owned(), database: None }
    }

    /// With `PLENARY_TEST_STORE=postgres` the log is in a database.
    pub fn on_any_store(ollama: &str) -> Home {
        let is_database = std::env::var("PLENARY_TEST_STORE").is_ok_and(|is| is == "postgres");
        let database = || Database::fresh().expect("PLENARY_TEST_POSTGRES names a server");
        Home { database: is_database.then(database), ..Home::new(ollama) }
    }

    /// The log, when nothing else has it.
    pub async fn log(&self) -> Log {
        match &self.database {
            Some(database) => {
                let address = postgres::Address::of(&database.url()).unwrap();
                Log::Database(Arc::new(postgres::open(&address).await.unwrap()))
            }
            None => {
                let holder = Holder { command: "test".into(), since: Timestamp::UNIX_EPOCH };
                let store = plenary_store::open(&self.path().join("data"), holder).await.unwrap();
                Log::Folder(Arc::new(store))
            }
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes the user's own file of settings.
    pub fn configure(&self, text: &str) {
        let folder = self.path().join(".config/plenary");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("plenary.toml"), text).unwrap();
    }

    /// The program with nothing of this machine's environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plenary"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.path())
            .env("PLENARY_HOME", self.path().join("data"))
            .env("OLLAMA_HOST", &self.ollama)
            .env("PLENARY_EMBEDDED", "off")
            .envs(self.database.iter().map(|database| ("PLENARY_DATABASE_URL", database.url())))
            .current_dir(self.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    pub async fn run(&self, arguments: &[&str]) -> Ran {
        self.finish(self.command(arguments)).await
    }

    pub async fn finish(&self, mut command: Command) -> Ran {
        let output = tokio::time::timeout(SAFETY, command.output());
        let output = output.await.unwrap_or_else(|_| panic!("{command:?} did not end"));
        self.ran(output.unwrap())
    }

    /// Several commands one after the other, with what each printed.
    pub async fn story(&self, commands: &[&[&str]]) -> String {
        let mut story = vec![];
        for command in commands {
            let shown: Vec<String> = command
                .iter()
                .map(|word| match word.contains([' ', '…']) || word.is_empty() {
                    true => format!("{word:?}"),
                    false => (*word).to_owned(),
                })
                .collect();
            let shown = plain(&shown.join(" "), self.path().to_str().unwrap());
            story.push(format!("$ plenary {shown}\n{}", self.run(command).await.shown()));
        }
        story.join("\n")
    }

    pub fn ran(&self, output: Output) -> Ran {
        Ran {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
            home: self.path().to_str().unwrap().to_owned(),
        }
    }

    /// Starts `plenary serve` on a free port and waits until it listens.
    pub async fn serve(&self) -> Serving {
        self.serving(self.command(&["serve", "--listen", "127.0.0.1:0"])).await
    }

    /// The same, with a command of one's own.
    pub async fn serving(&self, mut command: Command) -> Serving {
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = tokio::time::timeout(SAFETY, lines.next_line()).await.unwrap().unwrap();
        let line = line.expect("the server says where it listens");
        let url = line.strip_prefix("Plenary listens on ").expect(&line).to_owned();
        Serving { child, url }
    }
}

pub struct Serving {
    pub child: Child,
    pub url: String,
}

impl Serving {
    pub fn pid(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// As a power cut would end it.
    pub async fn kill(mut self) {
        self.child.start_kill().unwrap();
        self.child.wait().await.unwrap();
    }
}

pub fn interrupt(child: &Child) {
    let pid = i32::try_from(child.id().unwrap()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
}

/// What one run of the program printed.
pub struct Ran {
    /// `None`: a signal ended it.
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
    home: String,
}

impl Ran {
    /// All of it, without what differs from run to run and machine to machine.
    pub fn shown(&self) -> String {
        let code = self.code.map_or("a signal".to_owned(), |code| code.to_string());
        let parts = [("out", &self.out), ("err", &self.err)];
        let mut shown = format!("exit: {code}\n");
        for (name, text) in parts {
            if !text.is_empty() {
                shown.push_str(&format!("----- {name}\n{}\n", plain(text.trim_end(), &self.home)));
            }
        }
        shown
    }
}

/// Puts a word in brackets in place of ids, times, ports, processes and paths.
pub fn plain(text: &str, home: &str) -> String {
    let text = text.replace(home, "[home]");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    let mut at_word = true;
    'text: while let Some(letter) = rest.chars().next() {
        for (pattern, word) in PATTERNS {
            if at_word && let Some(length) = fits(pattern, rest) {
                // Columns are as wide as what stood in them.
                if *word == "[took]" {
                    out.truncate(out.trim_end_matches(' ').len());
                    if !out.is_empty() && !out.ends_with('\n') {
                        out.push(' ');
                    }
                }
                out.push_str(word);
                rest = &rest[length..];
                at_word = false;
                continue 'text;
            }
        }
        at_word = !letter.is_alphanumeric();
        out.push(letter);
        rest = &rest[letter.len_utf8()..];
    }
    out
}

/// `h` is a hex digit, `9` one digit, `+` one digit or more.
const PATTERNS: &[(&str, &str)] = &[
    ("hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh", "[id]"),
    ("hhhhhhhhhhhh", "[id]"),
    ("hhhhhhhh", "[id]"),
    ("hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh", "[token]"),
    ("9999-99-99T99:99:99.+Z", "[time]"),
    ("9999-99-99T99:99:99Z", "[time]"),
    ("9999-99-99 99:99", "[time]"),
    ("9999-99-99", "[date]"),
    ("99:99:99", "[time]"),
    ("+ min + s", "[left]"),
    ("+ min", "[left]"),
    // The usual address, and one that nothing listens on, are the same everywhere.
    ("127.0.0.1:7171", "127.0.0.1:7171"),
    (NOWHERE, NOWHERE),
    ("127.0.0.1:+", "127.0.0.1:[port]"),
    ("process +", "process [pid]"),
    ("+.9 s", "[took]"),
];

fn fits(pattern: &str, text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    for wanted in pattern.bytes() {
        let found = *bytes.get(at)?;
        let fits = match wanted {
            b'h' => found.is_ascii_hexdigit(),
            b'9' | b'+' => found.is_ascii_digit(),
            other => found == other,
        };
        if !fits {
            return None;
        }
        at += 1;
        while wanted == b'+' && bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
    }
    // A word is not cut in two.
    let ends = bytes.get(at).is_none_or(|next| !next.is_ascii_alphanumeric());
    ends.then_some(at)
}
