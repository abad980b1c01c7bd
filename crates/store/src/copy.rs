//! Everything of one store, taken over into another, whichever databases they are.
//!
//! Each session goes as a whole, in one transaction, and is read back from where it went and
//! compared. What is there already is left alone, so that it can be done again: first while
//! the source is in use, and once more when it is not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use plenary_domain::SessionId;
use plenary_engine::ports::StoreError;
use serde_json::Value;

use crate::lock::Holder;
use crate::postgres::{self, Address};
use crate::rows::{LABEL, unsigned};
use crate::sqlite;

/// A store, by its name on the command line.
pub enum Place {
    /// `sqlite:FOLDER`, the data folder or the database file in it.
    Folder(PathBuf),
    /// `postgres://…`
    Database(Box<Address>),
}

impl Place {
    pub fn of(written: &str) -> Result<Place, StoreError> {
        if Address::is_one(written) {
            return Address::of(written).map(|address| Place::Database(Box::new(address)));
        }
        let Some(path) = written.strip_prefix("sqlite:").filter(|path| !path.is_empty()) else {
            return Err(StoreError::NotWritten(
                "a store is named sqlite:FOLDER or postgres://USER@HOST:PORT/DATABASE".into(),
            ));
        };
        let path = Path::new(path);
        let is_file = path.extension().is_some_and(|end| end == "sqlite3");
        let folder = path.parent().filter(|_| is_file).unwrap_or(path);
        Ok(Place::Folder(match folder.as_os_str().is_empty() {
            true => PathBuf::from("."),
            false => folder.to_owned(),
        }))
    }

    pub fn shown(&self) -> String {
        match self {
            Place::Folder(folder) => format!("sqlite:{}", folder.display()),
            Place::Database(address) => address.shown(),
        }
    }
}

/// What was found and done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Copied {
    pub sessions: usize,
    pub events: u64,
    /// Of the sessions, those that were not there yet, or not as they are now.
    pub written: usize,
    /// Others use the source: what they write from now on is not in the copy.
    pub in_use: bool,
}

/// A session with all that belongs to it, as JSON that is the same for both databases.
/// `words` is for the search index, and is not read back.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Whole {
    pub(crate) row: Value,
    pub(crate) events: Value,
    pub(crate) attempts: Value,
    pub(crate) drafts: Value,
    pub(crate) keys: Value,
}

/// A session that was removed, with the name that nobody may have again.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Removed {
    pub(crate) id: SessionId,
    pub(crate) named: Option<(String, String)>,
}

#[async_trait]
pub(crate) trait Portable: Send {
    async fn secret(&mut self) -> Result<Vec<u8>, StoreError>;
    /// With their versions, oldest first.
    async fn sessions(&mut self) -> Result<Vec<(SessionId, u64)>, StoreError>;
    async fn removed(&mut self) -> Result<Vec<Removed>, StoreError>;
    async fn read(&mut self, id: SessionId) -> Result<Option<Whole>, StoreError>;
    /// The last position that was given.
    async fn last_position(&mut self) -> Result<i64, StoreError>;
    async fn is_in_use(&mut self) -> Result<bool, StoreError>;
    async fn set_secret(&mut self, secret: Vec<u8>) -> Result<(), StoreError>;
    /// In place of whatever is there. Words are of versions; 0 is the title.
    async fn replace(
        &mut self,
        id: SessionId,
        whole: &Whole,
        words: &[(u64, String)],
    ) -> Result<(), StoreError>;
    async fn remove(&mut self, removed: &Removed) -> Result<(), StoreError>;
    async fn set_last_position(&mut self, position: i64) -> Result<(), StoreError>;
    async fn close(self: Box<Self>);
}

/// The words of an event that search should find: of its kind, name, payload and time.
pub type WordsOf<'a> = &'a mut (dyn FnMut(&EventText<'_>) -> Result<String, String> + Send);

/// What tells the words of an event. The first of a session has version 1.
pub struct EventText<'a> {
    pub session: SessionId,
    pub kind: &'a str,
    pub version: u64,
    pub name: &'a str,
    pub payload: &'a str,
    pub at_ms: i64,
}

/// Copies a store into another one, which is empty or was copied from the same one before.
pub async fn copy(
    from: &Place,
    to: &Place,
    holder: Holder,
    words_of: WordsOf<'_>,
) -> Result<Copied, StoreError> {
    let mut source: Box<dyn Portable> = match from {
        Place::Folder(folder) => sqlite::portable::source(folder).await?,
        Place::Database(address) => postgres::portable::source(address).await?,
    };
    let mut target: Box<dyn Portable> = match to {
        Place::Folder(folder) => sqlite::portable::target(folder, holder).await?,
        Place::Database(address) => postgres::portable::target(address).await?,
    };
    let copied = carry(&mut *source, &mut *target, words_of).await;
    source.close().await;
    target.close().await;
    copied
}

async fn carry(
    source: &mut dyn Portable,
    target: &mut dyn Portable,
    words_of: WordsOf<'_>,
) -> Result<Copied, StoreError> {
    let mut copied = Copied { in_use: source.is_in_use().await?, ..Copied::default() };
    let there: BTreeMap<SessionId, u64> = target.sessions().await?.into_iter().collect();
    let sessions = source.sessions().await?;
    let removed = source.removed().await?;
    belongs_together(source, target, &sessions, &removed, &there).await?;
    for gone in &removed {
        target.remove(gone).await?;
    }
    for (id, _) in sessions {
        let Some(whole) = source.read(id).await? else { continue };
        copied.sessions += 1;
        copied.events += whole.events.as_array().map_or(0, |events| events.len() as u64);
        if there.contains_key(&id) && target.read(id).await?.as_ref() == Some(&whole) {
            continue;
        }
        let words = words(id, &whole, words_of)?;
        target.replace(id, &whole, &words).await?;
        if target.read(id).await?.as_ref() != Some(&whole) {
            return Err(StoreError::Failed(format!(
                "session {id} is not in the copy as it is in the source"
            )));
        }
        copied.written += 1;
    }
    target.set_last_position(source.last_position().await?).await?;
    Ok(copied)
}

/// Nothing is mixed into a store of others, and nothing newer is overwritten.
async fn belongs_together(
    source: &mut dyn Portable,
    target: &mut dyn Portable,
    sessions: &[(SessionId, u64)],
    removed: &[Removed],
    there: &BTreeMap<SessionId, u64>,
) -> Result<(), StoreError> {
    if target.is_in_use().await? {
        return Err(StoreError::InUse("nodes are using the target; stop them first".into()));
    }
    let secret = source.secret().await?;
    if target.secret().await? != secret {
        if !there.is_empty() || !target.removed().await?.is_empty() {
            return Err(StoreError::NotWritten(
                "the target contains sessions that are not from the source; a copy needs an empty \
                 store"
                    .into(),
            ));
        }
        target.set_secret(secret).await?;
    }
    let known: BTreeMap<SessionId, u64> = sessions.iter().copied().collect();
    let gone: BTreeSet<SessionId> = removed.iter().map(|removed| removed.id).collect();
    for (id, version) in there {
        let is_newer = match known.get(id) {
            Some(known) => version > known,
            None => !gone.contains(id),
        };
        if is_newer {
            return Err(StoreError::NotWritten(format!(
                "the target has changed since it was copied (session {id}); nothing was overwritten"
            )));
        }
    }
    Ok(())
}

fn words(
    id: SessionId,
    whole: &Whole,
    words_of: WordsOf<'_>,
) -> Result<Vec<(u64, String)>, StoreError> {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let kind = text(&whole.row, "kind");
    let mut all = vec![(0, text(&whole.row, "title"))];
    all.extend(whole.row["label"].as_str().map(|label| (unsigned(LABEL), label.to_owned())));
    for event in whole.events.as_array().into_iter().flatten() {
        let (name, payload) = (text(event, "type"), text(event, "payload"));
        let version = event["version"].as_u64().unwrap_or_default();
        let at_ms = event["at"].as_i64().unwrap_or_default();
        let event =
            EventText { session: id, kind: &kind, version, name: &name, payload: &payload, at_ms };
        let words = words_of(&event)
            .map_err(|problem| StoreError::Unreadable(format!("session {id}: {problem}")))?;
        all.push((version, words));
    }
    Ok(all)
}

pub(crate) fn json(text: &str) -> Result<Value, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Unreadable(error.to_string()))
}
