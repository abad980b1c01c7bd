//! Agents as which this user may act: their tokens, kept from command to command.
//!
//! A token is what a board or council gave to whoever registered.

use std::path::PathBuf;

use plenary_providers::shown_address;
use serde::{Deserialize, Serialize};

use crate::api::ApiError;
use crate::config::Config;
use crate::private::{Private, Trouble};

const FILE: &str = "agents.json";
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
        let server = config.shown_elsewhere().unwrap_or_else(|| LOCAL.to_owned());
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
                "The change was made. Keep the token of {name} yourself, and pass it with --token: \
                 {token}"
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
        let server = shown_address(&agent.server);
        server == self.server && agent.kind == place.kind && agent.room == place.room
    }

    fn file(&self) -> Private {
        Private::new(&self.home, FILE)
    }

    fn read(&self) -> Result<Agents, ApiError> {
        self.file().read().map_err(|trouble| self.failed(&trouble))
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Agent>)) -> Result<(), ApiError> {
        let changed = self.file().change(|Agents { agents }: &mut Agents| {
            // Earlier versions wrote an address down with the password in it.
            for agent in agents.iter_mut() {
                agent.server = shown_address(&agent.server);
            }
            change(agents);
        });
        changed.map_err(|trouble| self.failed(&trouble))
    }

    fn failed(&self, trouble: &Trouble) -> ApiError {
        let message = format!("{} {trouble}", self.file().path().display());
        match trouble {
            Trouble::Broken(_) => {
                let mut broken = ApiError::new("usage", message);
                broken.hint = Some("It holds your agents' tokens; fix it or move it away.".into());
                broken
            }
            Trouble::Failed(..) => ApiError::new("agents", message),
        }
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
        let mode = std::fs::metadata(here.file().path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_password_that_an_earlier_version_wrote_down_goes_and_the_token_stays() {
        let home = tempfile::tempdir().unwrap();
        let server = "http://ann:swordfish@there";
        let there = at(home.path(), &shown_address(server));
        there.change(|agents| agents.push(agent(server, "ann"))).unwrap();
        let file = there.file().path().to_owned();
        let written = || std::fs::read_to_string(&file).unwrap();
        assert!(written().contains("swordfish"));
        assert_eq!(there.all(BOARD).unwrap(), [agent(server, "ann")]);
        there.keep(BOARD, "bob", "bob.1").unwrap();
        assert!(!written().contains("swordfish"), "{}", written());
        assert_eq!(
            there.all(BOARD).unwrap(),
            ["ann", "bob"].map(|name| agent(&there.server, name))
        );
    }

    fn agent(server: &str, name: &str) -> Agent {
        let [server, kind, room, name] = [server, BOARD.kind, BOARD.room, name].map(str::to_owned);
        Agent { server, kind, room, token: format!("{name}.1"), name }
    }

    #[test]
    fn a_token_that_cannot_be_kept_is_shown() {
        let home = tempfile::tempdir().unwrap();
        let kept = at(home.path(), LOCAL);
        kept.keep(BOARD, "ann", "ann.1").unwrap();
        std::fs::write(kept.file().path(), "{").unwrap();
        let told = kept.keep(BOARD, "bob", "bob.1").unwrap_err();
        assert!(told.message.contains("is broken"), "{}", told.message);
        let hint = told.hint.unwrap();
        assert!(hint.contains("was made") && hint.ends_with("--token: bob.1"), "{hint}");
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
