//! How much a server holds at once, and whom it believes about addresses.

use std::net::IpAddr;
use std::time::Duration;

use plenary_domain::limits;
use plenary_server::Capacity;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::Deserialize;

/// The table `[serve]` of `plenary.toml`.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    connections: Option<i64>,
    socket_clients: Option<i64>,
    mcp_sessions: Option<i64>,
    drain_seconds: Option<i64>,
    proxies: Option<Vec<String>>,
    address: Option<String>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Serving {
    capacity: Capacity,
    /// Who may say in `X-Forwarded-For` where a request comes from.
    pub proxies: Vec<IpAddr>,
    /// Where other nodes of the same database reach this one, if somebody has said.
    pub address: Option<String>,
    /// How long a server that was told to end still answers, while it says that it is not
    /// ready.
    pub drain: Duration,
    /// Somebody has set the connections.
    connections_are_set: bool,
}

impl Written {
    /// These settings, and the other's where these say nothing.
    pub fn over(self, under: Written) -> Written {
        Written {
            connections: self.connections.or(under.connections),
            socket_clients: self.socket_clients.or(under.socket_clients),
            mcp_sessions: self.mcp_sessions.or(under.mcp_sessions),
            drain_seconds: self.drain_seconds.or(under.drain_seconds),
            proxies: self.proxies.or(under.proxies),
            address: self.address.or(under.address),
        }
    }

    pub fn settle(self, set: &dyn Fn(&str) -> Option<String>) -> Result<Serving, String> {
        let places = |name, written, least| number(set, name, written, least, limits::PLACES_MOST);
        let connections = places("connections", self.connections, limits::CONNECTIONS_LEAST)?;
        let socket_clients = places("socket_clients", self.socket_clients, 1)?;
        let mcp_sessions = places("mcp_sessions", self.mcp_sessions, 1)?;
        let most = limits::DRAIN_MOST_SECONDS;
        let drain_seconds = number(set, "drain_seconds", self.drain_seconds, 0, most)?;
        let proxies = match set(&variable("proxies")) {
            Some(listed) => listed.split(',').map(|part| part.trim().to_owned()).collect(),
            None => self.proxies.unwrap_or_default(),
        };
        let proxies = proxies.iter().map(|one| proxy(one)).collect::<Result<_, _>>()?;
        let usual = Capacity::default();
        let capacity = Capacity {
            connections: connections.unwrap_or(usual.connections),
            socket_clients: socket_clients.unwrap_or(usual.socket_clients),
            mcp_sessions: mcp_sessions.unwrap_or(usual.mcp_sessions),
        };
        let address = set(&variable("address")).or(self.address);
        let address = address.map(|address| crate::config::server(&address)).transpose()?;
        let drain = Duration::from_secs(drain_seconds.unwrap_or(0) as u64);
        let connections_are_set = connections.is_some();
        Ok(Serving { capacity, proxies, address, drain, connections_are_set })
    }
}

impl Serving {
    /// What can be held with the files that this process may open.
    pub fn capacity(&self) -> Capacity {
        let connections = self.capacity.connections.min(connections(files()));
        Capacity { connections, ..self.capacity }
    }

    /// What to tell whoever set more connections than there can be.
    pub fn shortage(&self) -> Option<String> {
        let (asked, possible) = (self.capacity.connections, self.capacity().connections);
        (self.connections_are_set && possible < asked).then(|| {
            format!(
                "{asked} connections are set, but this process can open {} files, which is enough \
                 for {possible}. Raise the limit (`ulimit -n`, or LimitNOFILE of a service), or \
                 lower `serve.connections`.",
                files()
            )
        })
    }
}

/// Lets this process open as many files as the system lets it ask for.
pub fn raise_files() {
    let limit = getrlimit(Resource::Nofile);
    // Where that is refused, what is allowed already has to do.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

fn files() -> usize {
    let current = getrlimit(Resource::Nofile).current;
    current.and_then(|files| files.try_into().ok()).unwrap_or(usize::MAX)
}

/// Some files are kept for the store, for providers and for agents.
fn connections(files: usize) -> usize {
    files - limits::FILES_KEPT.min(files / limits::FILES_KEPT_PART)
}

fn variable(name: &str) -> String {
    format!("PLENARY_SERVE__{}", name.to_uppercase())
}

fn number(
    set: &dyn Fn(&str) -> Option<String>,
    name: &str,
    written: Option<i64>,
    least: usize,
    most: usize,
) -> Result<Option<usize>, String> {
    let given = match set(&variable(name)) {
        Some(text) => Some(text.trim().to_owned()),
        None => written.map(|number| number.to_string()),
    };
    let Some(given) = given else { return Ok(None) };
    let number = given.parse().ok().filter(|number| (least..=most).contains(number));
    number.map(Some).ok_or_else(|| {
        let variable = variable(name);
        format!("`serve.{name}` ({variable}) is {given}; write a number from {least} to {most}")
    })
}

fn proxy(given: &str) -> Result<IpAddr, String> {
    given.parse().map_err(|_| {
        let variable = variable("proxies");
        format!(
            "`serve.proxies` ({variable}) has {given:?}; write the address of each proxy, \
             such as 10.0.0.2"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(text: &str, variable: (&str, &str)) -> Result<Serving, String> {
        let set = |name: &str| (name == variable.0).then(|| variable.1.to_owned());
        let written: Written = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        written.settle(&set)
    }

    #[test]
    fn places_and_proxies_are_read() {
        assert_eq!(settled("", ("", "")), Ok(Serving::default()));
        let text = "connections = 20000\nsocket_clients = 7\nproxies = [\"10.0.0.2\", \"::1\"]";
        let expected = Serving {
            capacity: Capacity { connections: 32, socket_clients: 7, ..Capacity::default() },
            proxies: vec!["10.0.0.2".parse().unwrap(), "::1".parse().unwrap()],
            connections_are_set: true,
            ..Serving::default()
        };
        assert_eq!(settled(text, ("PLENARY_SERVE__CONNECTIONS", "32")), Ok(expected));
        let drains = settled("drain_seconds = 5", ("PLENARY_SERVE__DRAIN_SECONDS", "30")).unwrap();
        assert_eq!(drains.drain, Duration::from_secs(30));
        let one = settled(text, ("PLENARY_SERVE__PROXIES", "192.0.2.1")).unwrap();
        assert_eq!(one.proxies, ["192.0.2.1".parse::<IpAddr>().unwrap()]);
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_bounds() {
        let most = limits::PLACES_MOST;
        for (text, variable, expected) in [
            (
                "connections = 15",
                ("", ""),
                format!(
                    "`serve.connections` (PLENARY_SERVE__CONNECTIONS) is 15; \
                     write a number from 16 to {most}"
                ),
            ),
            (
                "mcp_sessions = -1",
                ("", ""),
                format!(
                    "`serve.mcp_sessions` (PLENARY_SERVE__MCP_SESSIONS) is -1; \
                     write a number from 1 to {most}"
                ),
            ),
            (
                "",
                ("PLENARY_SERVE__SOCKET_CLIENTS", "many"),
                format!(
                    "`serve.socket_clients` (PLENARY_SERVE__SOCKET_CLIENTS) is many; \
                     write a number from 1 to {most}"
                ),
            ),
            (
                "drain_seconds = 9999",
                ("", ""),
                "`serve.drain_seconds` (PLENARY_SERVE__DRAIN_SECONDS) is 9999; \
                 write a number from 0 to 3600"
                    .to_owned(),
            ),
            (
                "proxies = [\"proxy.example\"]",
                ("", ""),
                "`serve.proxies` (PLENARY_SERVE__PROXIES) has \"proxy.example\"; \
                 write the address of each proxy, such as 10.0.0.2"
                    .to_owned(),
            ),
        ] {
            assert_eq!(settled(text, variable), Err(expected));
        }
    }

    #[test]
    fn some_files_are_left_for_other_things() {
        for (files, expected) in [(20_000, 19_488), (1_024, 768), (100, 75), (0, 0)] {
            assert_eq!(connections(files), expected, "{files}");
        }
        let asks = |connections, connections_are_set| Serving {
            capacity: Capacity { connections, ..Capacity::default() },
            connections_are_set,
            ..Serving::default()
        };
        assert_eq!(asks(16, true).shortage(), None);
        assert_eq!(asks(usize::MAX, false).shortage(), None);
        if files() < usize::MAX {
            assert!(asks(usize::MAX, true).shortage().is_some());
            assert_eq!(asks(usize::MAX, true).capacity().connections, connections(files()));
        }
    }
}
