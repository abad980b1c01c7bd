//! AutoGen and LangGraph from PyPI, in a virtual environment of their own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Outcome;

/// The programs and what they need.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers");
const REQUIREMENTS: &str = include_str!("../peers/requirements.txt");

#[derive(Clone, Copy)]
pub struct Peer {
    framework: Framework,
    /// Answers come token by token, as Plenary has them. Neither framework does so
    /// unless it is told to.
    stream: bool,
}

#[derive(Clone, Copy)]
enum Framework {
    AutoGen,
    LangGraph,
    /// Every step is on the disk before the next one begins.
    LangGraphSqlite,
}

impl Peer {
    pub fn all() -> Vec<Peer> {
        Peer::of(&[Framework::AutoGen, Framework::LangGraph, Framework::LangGraphSqlite])
    }

    /// Those that run a graph of steps.
    pub fn graphs() -> Vec<Peer> {
        Peer::of(&[Framework::LangGraph, Framework::LangGraphSqlite])
    }

    fn of(frameworks: &[Framework]) -> Vec<Peer> {
        let both = |framework: &Framework| {
            [true, false].map(|stream| Peer { framework: *framework, stream })
        };
        frameworks.iter().flat_map(both).collect()
    }

    pub fn name(self) -> String {
        let framework = match self.framework {
            Framework::AutoGen => "AutoGen, in memory",
            Framework::LangGraph => "LangGraph, in memory",
            Framework::LangGraphSqlite => "LangGraph, SQLite",
        };
        format!("{framework}{}", if self.stream { "" } else { ", whole answers" })
    }

    fn program(self, work: &str) -> String {
        match self.framework {
            Framework::AutoGen => format!("{work}_autogen.py"),
            Framework::LangGraph | Framework::LangGraphSqlite => format!("{work}_langgraph.py"),
        }
    }
}

/// The virtual environment.
pub struct Python(PathBuf);

impl Python {
    /// Beside what cargo builds, made anew only when the requirements have changed.
    pub fn ready() -> Outcome<Python> {
        let own = std::env::current_exe()?;
        let target = own.ancestors().nth(2).ok_or("this program lies in no folder")?;
        let folder = target.join("peers");
        let made_for = folder.join("requirements.txt");
        if std::fs::read_to_string(&made_for).is_ok_and(|made| made == REQUIREMENTS) {
            return Ok(Python(folder));
        }
        println!("installing AutoGen and LangGraph from PyPI, once");
        let mut venv = Command::new("python3");
        finish(venv.args(["-m", "venv", "--clear"]).arg(&folder))?;
        let mut pip = Command::new(folder.join("bin/pip"));
        pip.args(["install", "--quiet", "--disable-pip-version-check", "-r"]);
        finish(pip.arg(Path::new(SOURCES).join("requirements.txt")))?;
        // Last, so that an install that was cut short is done again.
        std::fs::write(made_for, REQUIREMENTS)?;
        Ok(Python(folder))
    }

    pub fn command(&self, peer: Peer, work: &Work<'_>) -> Command {
        let mut command = Command::new(self.0.join("bin/python"));
        command
            .arg(Path::new(SOURCES).join(peer.program(work.kind)))
            .args(["--url", work.url, "--conclusion", work.conclusion])
            .args(["--at-once", &work.at_once.to_string()])
            .args(["--seconds", &work.seconds.to_string()])
            .args(work.also)
            // Nothing is compiled into the source folder, and nothing told to others.
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("LANGSMITH_TRACING", "false");
        if peer.stream {
            command.arg("--stream");
        }
        match peer.framework {
            Framework::AutoGen | Framework::LangGraph => {}
            Framework::LangGraphSqlite => {
                command.arg("--checkpoints").arg(work.folder.join("checkpoints.db"));
            }
        }
        command
    }
}

/// What a peer is to do.
pub struct Work<'a> {
    /// The first part of its program's name.
    pub kind: &'a str,
    pub url: &'a str,
    /// Words of the right conclusion.
    pub conclusion: &'a str,
    pub at_once: usize,
    /// After which it gives up.
    pub seconds: u64,
    /// Where a peer that writes does so.
    pub folder: &'a Path,
    pub also: &'a [&'a str],
}

/// Without peers the rest is still worth measuring.
pub fn python() -> Option<Python> {
    match Python::ready() {
        Ok(python) => Some(python),
        Err(problem) => {
            println!(
                "AutoGen and LangGraph are left out, because they could not be installed. They \
                 need python3 with venv, and PyPI to be reached:\n{problem}\n"
            );
            None
        }
    }
}

fn finish(command: &mut Command) -> Outcome<()> {
    let ended = command.stdin(Stdio::null()).stdout(Stdio::null()).output()?;
    match ended.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&ended.stderr).trim().to_owned().into()),
    }
}
