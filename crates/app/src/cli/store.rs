//! `plenary store`
//!
//! The only commands that go to the database themselves: what they are for has to work
//! when nothing else does, and while a server has the folder.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use plenary_domain::{SessionId, limits};
use plenary_engine::Refold;
use plenary_engine::ports::StoreError;
use plenary_store::Inspection;
use serde_json::json;

use super::{exit, print_json, usage};
use crate::api::ApiError;
use crate::config::Config;
use crate::terminal::{self, clean};

#[derive(Args)]
pub struct Store {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Look through everything that is stored, and say what is damaged
    ///
    /// Changes nothing, and works while a server uses the store. The exit code is 1 when
    /// something is damaged.
    Check {
        /// Print JSON, and nothing else
        #[arg(long)]
        json: bool,
    },
    /// Copy everything that is stored into one new file
    ///
    /// Works while a server uses the store. The copy is as secret as the store: agents'
    /// tokens can be made from it.
    Backup {
        /// Where to; nothing is overwritten
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

impl Store {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        if let Some(server) = config.shown_server() {
            return Err(usage(format!(
                "`plenary store` works on a data folder of this machine, not through {server}. \
                 Run it where that server runs, without --server and PLENARY_SERVER."
            )));
        }
        match self.command {
            Command::Check { json } => check(&config.home, json).await,
            Command::Backup { file } => backup(&config.home, &file).await,
        }
    }
}

async fn check(home: &Path, json: bool) -> Result<u8, ApiError> {
    let found = match plenary_store::inspect(home).await {
        Ok(Some(mut inspection)) => look_through(&mut inspection).await,
        Ok(None) => return Err(no_store(home)),
        Err(error) => Found { problems: vec![error.to_string()], ..Found::default() },
    };
    let Found { sessions, events, problems, kept } = &found;
    if json {
        print_json(&json!({
            "folder": home, "sessions": sessions, "events": events,
            "problems": problems, "kept": kept,
        }));
    } else {
        for problem in problems {
            terminal::say(&format!("wrong {}", clean(problem)));
        }
        for file in kept {
            let file = clean(&file.display().to_string());
            terminal::say(&format!("note  {file}: kept when a damaged log was found"));
        }
        match problems.is_empty() {
            true => {
                let home = home.display();
                let found = format!("sessions: {sessions}, events: {events}");
                terminal::say(&format!("ok    {home}: {found}"));
            }
            false => terminal::say(
                "      → Keep a copy of the folder as it is, and restore a backup: see \
                 docs/store.md.",
            ),
        }
    }
    Ok(if problems.is_empty() { exit::DONE } else { exit::FAILED })
}

#[derive(Default)]
struct Found {
    sessions: usize,
    events: u64,
    problems: Vec<String>,
    kept: Vec<PathBuf>,
}

/// Reads every session as the program would.
async fn look_through(inspection: &mut Inspection) -> Found {
    let mut found = Found {
        problems: std::mem::take(&mut inspection.problems),
        kept: std::mem::take(&mut inspection.kept),
        ..Found::default()
    };
    let sessions = match inspection.sessions().await {
        Ok(sessions) => sessions,
        Err(error) => {
            found.problems.push(format!("sessions: {error}"));
            return found;
        }
    };
    for session in sessions {
        if found.problems.len() >= limits::DAMAGE_TOLD {
            found.problems.push("There may be more; the rest was not looked at.".into());
            break;
        }
        found.sessions += 1;
        match read(inspection, session).await {
            Ok((events, problems)) => {
                found.events += events;
                found.problems.extend(problems);
            }
            Err(error) => found.problems.push(format!("session {session}: {error}")),
        }
    }
    found
}

/// How many events a session has, and what is wrong with them.
async fn read(
    inspection: &mut Inspection,
    session: SessionId,
) -> Result<(u64, Vec<String>), StoreError> {
    let words = inspection.words(session).await?;
    let mut missing = vec![];
    if !words.title.is_empty() && !words.indexed.contains(&0) {
        missing.push("its title".to_owned());
    }
    let mut log = Refold::default();
    loop {
        let page = inspection.events(session, log.version()).await?;
        let last = page.len() < limits::EVENTS_PAGE as usize;
        for event in page {
            match log.add(&event) {
                Ok(true) if !words.indexed.contains(&event.version) => {
                    missing.push(format!("version {}", event.version));
                }
                Ok(_) => {}
                Err(problem) => {
                    return Ok((log.version(), vec![format!("session {session}: {problem}")]));
                }
            }
        }
        if last {
            break;
        }
    }
    let problem = (!missing.is_empty()).then(|| {
        let missing = missing.join(", ");
        format!("the search index: it has no words of {missing} of session {session}")
    });
    Ok((log.version(), problem.into_iter().collect()))
}

async fn backup(home: &Path, file: &Path) -> Result<u8, ApiError> {
    let made = plenary_store::backup(home, file).await.map_err(|error| match error {
        StoreError::Failed(problem) | StoreError::NotWritten(problem) => {
            ApiError::new("store-failed", format!("No backup was made: {problem}."))
        }
        error @ (StoreError::Damaged(_)
        | StoreError::Unreadable(_)
        | StoreError::InUse(_)
        | StoreError::Fenced) => ApiError::new("store-failed", error.to_string()),
    })?;
    let plenary_store::Backup { bytes, sessions } = made.ok_or_else(|| no_store(home))?;
    terminal::say(&format!("{}: sessions: {sessions}, bytes: {bytes}", file.display()));
    Ok(exit::DONE)
}

fn no_store(home: &Path) -> ApiError {
    usage(format!(
        "There is no store in {}. Set PLENARY_HOME to the folder that has yours.",
        home.display()
    ))
}
