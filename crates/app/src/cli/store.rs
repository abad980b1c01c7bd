//! `plenary store`
//!
//! The only commands that go to the database themselves: what they are for has to work
//! when nothing else does, and while a server has the folder.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use plenary_domain::{SessionId, Timestamp, limits};
use plenary_engine::ports::{
    Clock, ListQuery, SessionRow, Store as LogStore, StoreError, StoredEvent,
};
use plenary_engine::{Refold, SystemClock};
use plenary_store::postgres::Address;
use plenary_store::{EventText, Holder, Inspection};
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
    /// Check everything that is stored, and report damage
    ///
    /// Changes nothing, and works while a server uses the store. The exit code is 1 if something is
    /// damaged.
    Check {
        /// Print only JSON
        #[arg(long)]
        json: bool,
    },
    /// Back up the store to one new file
    ///
    /// Works while a server uses the store. The copy is as secret as the store: agents' tokens can
    /// be derived from it.
    Backup {
        /// The new file; an existing one is not overwritten
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Copy everything to another store, and check the copy
    ///
    /// A store is sqlite:FOLDER or postgres://USER@HOST:PORT/DATABASE. The target must be empty, or
    /// an earlier copy of the same source: then only changes are copied. The source may be in use;
    /// copy again when it is not, before you use the copy.
    Copy {
        /// The store to copy from
        #[arg(long, value_name = "STORE")]
        from: String,
        /// The store to copy to
        #[arg(long, value_name = "STORE")]
        to: String,
    },
}

impl Store {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        if let Some(server) = config.shown_server() {
            return Err(usage(format!(
                "`plenary store` works on a data folder on this machine, not through {server}. Run \
                 it on that server's machine, without --server or PLENARY_SERVER."
            )));
        }
        if let Command::Copy { from, to } = &self.command {
            return copy(from, to).await;
        }
        if let Some(database) = &config.database {
            return self.on_database(database).await;
        }
        match self.command {
            Command::Copy { .. } => Ok(exit::DONE),
            Command::Check { json } => check(&config.home, json).await,
            Command::Backup { file } => backup(&config.home, &file).await,
        }
    }
}

impl Store {
    /// What PostgreSQL has its own programs for is left to them.
    async fn on_database(self, database: &Address) -> Result<u8, ApiError> {
        let shown = database.shown();
        match self.command {
            Command::Backup { file } => Err(usage(format!(
                "The store is the database {shown}. Back it up with pg_dump, also while it is in \
                 use: pg_dump --format=custom --file={} {shown}",
                file.display()
            ))),
            Command::Check { json } => check_database(database, json).await,
            Command::Copy { from, to } => copy(&from, &to).await,
        }
    }
}

/// Reads every session as the program would. Whether the files are whole is for
/// pg_amcheck to say.
async fn check_database(database: &Address, json: bool) -> Result<u8, ApiError> {
    let store = plenary_store::postgres::open(database).await.map_err(failed)?;
    let (mut sessions, mut events, mut problems) = (0_u64, 0_u64, vec![]);
    let mut before = None;
    loop {
        let query = ListQuery { limit: limits::EVENTS_PAGE, before, ..ListQuery::default() };
        let page = store.list(query).await.map_err(failed)?;
        for row in page.rows {
            sessions += 1;
            match refold(&store, &row).await {
                Ok(count) => events += count,
                Err(problem) => problems.push(format!("session {}: {problem}", row.id)),
            }
        }
        before = page.next;
        if before.is_none() || problems.len() >= limits::DAMAGE_TOLD {
            break;
        }
    }
    store.close().await;
    let shown = database.shown();
    if json {
        print_json(&json!({
            "database": shown, "sessions": sessions, "events": events, "problems": problems,
        }));
    } else {
        for problem in &problems {
            terminal::say(&format!("error {}", clean(problem)));
        }
        match problems.is_empty() {
            true => {
                terminal::say(&format!("ok    {shown}: sessions: {sessions}, events: {events}"))
            }
            false => terminal::say("      → Restore a backup: see docs/many-nodes.md."),
        }
    }
    Ok(if problems.is_empty() { exit::DONE } else { exit::FAILED })
}

/// How many events a session has; an error says what is wrong with them.
async fn refold(store: &dyn LogStore, row: &SessionRow) -> Result<u64, String> {
    let mut log = Refold::default();
    loop {
        let page = store.events(row.id, log.version(), limits::EVENTS_PAGE).await;
        let page = page.map_err(|error| error.to_string())?;
        let is_last = page.len() < limits::EVENTS_PAGE as usize;
        for event in page {
            log.add(&event)?;
        }
        if is_last {
            break;
        }
    }
    match log.version() < row.version {
        true => Err(format!(
            "it should be at version {}, and its events end at {}",
            row.version,
            log.version()
        )),
        false => Ok(log.version()),
    }
}

async fn copy(from: &str, to: &str) -> Result<u8, ApiError> {
    let place = |flag: &str, written: &str| {
        // Everybody on this machine can read the arguments of a process.
        let authority = written.split_once("://").map(|(_, rest)| rest);
        let user = authority.and_then(|rest| rest.split('/').next()?.rsplit_once('@'));
        let options = written.split_once('?').into_iter().flat_map(|(_, rest)| rest.split('&'));
        let is_option =
            options.map(|option| option.split('=').next()).any(|name| name == Some("password"));
        if is_option || user.is_some_and(|(user, _)| user.contains(':')) {
            return Err(usage(format!(
                "{flag} contains a password, which others on this machine can see in the process \
                 list. Leave it out, and use PGPASSWORD or a password file."
            )));
        }
        plenary_store::Place::of(written).map_err(|error| match error {
            StoreError::NotWritten(problem) => usage(format!("{flag}: {problem}")),
            error => failed(error),
        })
    };
    let (from, to) = (place("--from", from)?, place("--to", to)?);
    let holder =
        Holder { command: "plenary store copy".into(), since: SystemClock::default().now() };
    let mut log = Refold::default();
    let mut words = |event: &EventText<'_>| {
        if event.version == 1 {
            log = Refold::default();
        }
        let at = Timestamp::from_millisecond(event.at_ms).map_err(|error| error.to_string())?;
        log.add(&StoredEvent {
            session: event.session,
            kind: event.kind.to_owned(),
            version: event.version,
            position: None,
            name: event.name.to_owned(),
            actor: String::new(),
            payload: event.payload.to_owned(),
            at,
        })
    };
    let copied = plenary_store::copy(&from, &to, holder, &mut words).await.map_err(failed)?;
    terminal::say(&format!(
        "{}: sessions: {}, events: {}, written: {}",
        to.shown(),
        copied.sessions,
        copied.events,
        copied.written
    ));
    if copied.in_use {
        terminal::note(
            "The source is in use. Stop whatever uses it, and copy again before you use the copy; only changes \
             are copied then.",
        );
    }
    Ok(exit::DONE)
}

fn failed(error: StoreError) -> ApiError {
    ApiError::new("store-failed", error.to_string())
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
            terminal::say(&format!("error {}", clean(problem)));
        }
        for file in kept {
            let file = clean(&file.display().to_string());
            terminal::say(&format!("note  {file}: saved when a damaged log was found"));
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
            found.problems.push("There may be more problems; the rest was not checked.".into());
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
                Ok(found) if !found.is_empty() && !words.indexed.contains(&event.version) => {
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
        format!("the search index lacks {missing} of session {session}")
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
