//! Agents as which this user may act: their tokens, kept from command to command.
//!
//! A token is what a board or council gave to whoever registered. The file is this
//! user's only. It is read and written anew under a lock, so that two commands at
//! once do not lose each other's tokens.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::api::ApiError;
use crate::config::Config;

const FILE: &str = "agents.json";
const LOCK: &str = "agents.lock";
/// Where a board is that no server was named for.
const LOCAL: &str = "local";

/// The tokens of one server, or of the data folder.
#[derive(Clone)]
pub struct Kept {
    home: PathBuf,
    server: String,
}

/// A board or a council, by its name.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub kind: &'a str,
    pub room: &'a str,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Agent {
    server: String,
    kind: String,
    room: String,
    #[serde(rename = "agent")]
    pub name: String,
    pub token: String,
}

#[derive(Default, Serialize, Deserialize)]
struct Agents {
    agents: Vec<Agent>,
}

impl Kept {
    pub fn new(config: &Config) -> Kept {
        let server = config.server.as_deref().unwrap_or(LOCAL);
        let server = server.trim_end_matches('/').to_owned();
        Kept { home: config.home.clone(), server }
    }

    /// Everybody whose token is kept for a place, in the order of their names.
    pub fn all(&self, place: Place<'_>) -> Result<Vec<Agent>, ApiError> {
        let mut agents = self.read()?.agents;
        agents.retain(|agent| self.is_at(agent, place));
        agents.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(agents)
    }

    /// What brought the token has been carried out by now, so one that cannot be kept is
    /// shown: nobody could ask for it again.
    pub fn keep(&self, place: Place<'_>, name: &str, token: &str) -> Result<(), ApiError> {
        self.keep_or_fail(place, name, token).map_err(|error| ApiError {
            hint: Some(format!(
                "It was carried out all the same. Keep the token of {name} yourself, and pass it \
                 with --token: {token}"
            )),
            ..error
        })
    }

    fn keep_or_fail(&self, place: Place<'_>, name: &str, token: &str) -> Result<(), ApiError> {
        let agent = Agent {
            server: self.server.clone(),
            kind: place.kind.to_owned(),
            room: place.room.to_owned(),
            name: name.to_owned(),
            token: token.to_owned(),
        };
        if self.read()?.agents.contains(&agent) {
            return Ok(());
        }
        self.change(|agents| {
            agents.retain(|other| !(self.is_at(other, place) && other.name == agent.name));
            agents.push(agent);
        })
    }

    /// For a place that is no more.
    pub fn forget(&self, place: Place<'_>) -> Result<(), ApiError> {
        if self.all(place)?.is_empty() {
            return Ok(());
        }
        self.change(|agents| agents.retain(|agent| !self.is_at(agent, place)))
    }

    fn is_at(&self, agent: &Agent, place: Place<'_>) -> bool {
        agent.server == self.server && agent.kind == place.kind && agent.room == place.room
    }

    fn path(&self) -> PathBuf {
        self.home.join(FILE)
    }

    fn read(&self) -> Result<Agents, ApiError> {
        let path = self.path();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Agents::default()),
            Err(error) => return Err(self.failed("read", &error)),
        };
        serde_json::from_str(&text).map_err(|error| {
            let mut broken =
                ApiError::new("usage", format!("{} is broken: {error}", path.display()));
            broken.hint =
                Some("It keeps the tokens of your agents; mend it or move it away.".into());
            broken
        })
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Agent>)) -> Result<(), ApiError> {
        let lock = self.lock().map_err(|error| self.failed("locked", &error))?;
        let mut agents = self.read()?;
        change(&mut agents.agents);
        self.write(&agents).map_err(|error| self.failed("written", &error))?;
        drop(lock);
        Ok(())
    }

    /// Given back when it is closed.
    fn lock(&self) -> io::Result<File> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.home)?;
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(false).write(true).mode(0o600);
        let file = options.open(self.home.join(LOCK))?;
        file.lock()?;
        Ok(file)
    }

    /// A reader sees the old file or the new one, never a part.
    fn write(&self, agents: &Agents) -> io::Result<()> {
        let new = self.home.join(format!("{FILE}.new"));
        // One that was left behind may have other rights.
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&new)?;
        serde_json::to_writer_pretty(&mut file, agents)?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        fs::rename(&new, self.path())
    }

    fn failed(&self, done: &str, error: &io::Error) -> ApiError {
        let path = self.path();
        ApiError::new("agents", format!("{} cannot be {done}: {error}", path.display()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn at(home: &std::path::Path, server: &str) -> Kept {
        Kept { home: home.join("data"), server: server.to_owned() }
    }

    const BOARD: Place<'_> = Place { kind: "whiteboard", room: "adr" };
    const COUNCIL: Place<'_> = Place { kind: "council", room: "adr" };

    #[test]
    fn tokens_are_kept_by_server_kind_room_and_agent() {
        let home = tempfile::tempdir().unwrap();
        let (here, there) = (at(home.path(), LOCAL), at(home.path(), "http://there"));
        for (kept, place, name) in [
            (&here, BOARD, "bob"),
            (&here, BOARD, "ann"),
            (&here, COUNCIL, "ann"),
            (&there, BOARD, "eve"),
        ] {
            kept.keep(place, name, &format!("{name}.1")).unwrap();
        }
        here.keep(BOARD, "ann", "ann.2").unwrap();
        let tokens = |kept: &Kept, place| -> Vec<String> {
            kept.all(place).unwrap().into_iter().map(|agent| agent.token).collect()
        };
        assert_eq!(tokens(&here, BOARD), ["ann.2", "bob.1"]);
        assert_eq!(tokens(&here, COUNCIL), ["ann.1"]);
        assert_eq!(tokens(&there, BOARD), ["eve.1"]);
        here.forget(BOARD).unwrap();
        assert_eq!((tokens(&here, BOARD).len(), tokens(&there, BOARD).len()), (0, 1));
        let mode = fs::metadata(here.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_token_that_cannot_be_kept_is_shown() {
        let home = tempfile::tempdir().unwrap();
        let kept = at(home.path(), LOCAL);
        kept.keep(BOARD, "ann", "ann.1").unwrap();
        fs::write(kept.path(), "{").unwrap();
        let told = kept.keep(BOARD, "bob", "bob.1").unwrap_err();
        assert!(told.message.contains("is broken"), "{}", told.message);
        let hint = told.hint.unwrap();
        assert!(hint.contains("carried out") && hint.ends_with("--token: bob.1"), "{hint}");
    }

    #[test]
    fn many_at_once_lose_nothing() {
        let home = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for nth in 0..16 {
                let kept = at(home.path(), LOCAL);
                scope.spawn(move || kept.keep(BOARD, &format!("a{nth}"), "t").unwrap());
            }
        });
        assert_eq!(at(home.path(), LOCAL).all(BOARD).unwrap().len(), 16);
    }
}
