//! Reads a session's log from its beginning, to see whether it can be read.

use plenary_domain::room;

use crate::ports::StoredEvent;

/// A session as far as its log has been read.
#[derive(Default)]
pub struct Refold {
    state: Option<room::Room>,
    version: u64,
}

impl Refold {
    /// Takes the next event, and returns the words that search should find of it. An error
    /// says what is wrong with the event; whatever follows on it means nothing.
    pub fn add(&mut self, stored: &StoredEvent) -> Result<String, String> {
        let StoredEvent { kind, version, name, payload, at, .. } = stored;
        if *version != self.version + 1 {
            return Err(format!("version {version} follows on version {}", self.version));
        }
        let event = room::Event::decode(kind, payload)
            .map_err(|problem| format!("version {version}, {name}: {problem}"))?;
        if event.name() != name {
            return Err(format!("version {version} is called {name} and is {}", event.name()));
        }
        room::apply(&mut self.state, &event, *at);
        self.version = *version;
        match &self.state {
            Some(room) => Ok(room.searchable(&event)),
            None => Err(format!("version {version}, {name}: it opens no session")),
        }
    }

    pub fn version(&self) -> u64 {
        self.version
    }
}
