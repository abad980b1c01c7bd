//! Another process: the test's own binary, started again for one test with the folder
//! in its environment.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use plenary_domain::Timestamp;
use plenary_store::Holder;

const FOLDER: &str = "PLENARY_STORE_TEST_FOLDER";

pub fn this_test() -> Holder {
    Holder { command: "plenary test".into(), since: Timestamp::UNIX_EPOCH }
}

pub fn folder_of_child() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// The test harness prints on the same pipe, without ending its line.
const MARK: &str = "child: ";

pub fn say(line: &str) {
    println!("\n{MARK}{line}");
}

/// This binary a second time, as another process.
pub struct Other {
    pub process: Child,
    output: BufReader<ChildStdout>,
}

impl Other {
    pub fn start(test: &str, folder: &Path) -> Other {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(FOLDER, folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Other { process, output }
    }

    /// The next thing that it says; `None` at its end. A line that the kill cut
    /// was not said.
    pub fn line(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            let whole = line.strip_suffix('\n')?;
            if let Some(said) = whole.strip_prefix(MARK) {
                return Some(said.to_owned());
            }
        }
    }

    pub fn go_on(&mut self) {
        use std::io::Write;
        let input = self.process.stdin.as_mut().unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    /// SIGKILL: it gets no chance to tidy up.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Other {
    /// A failed assertion must not leave a process behind.
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
