//! Names of things. All of them are made elsewhere and arrive in commands.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// One deliberation of any form. A UUIDv7, so that ids sort by age.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub Uuid);

impl SessionId {
    /// An id that follows from a key and a time, for whoever may ask for the same session
    /// twice. It sorts like one that was made then.
    pub fn derived(key: &str, at: Timestamp) -> SessionId {
        // FNV-1a. Keys begin with an id that nobody chooses, so nobody can aim at another's.
        let hash =
            key.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, |hash, byte| {
                (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
            });
        let ms = (at.as_millisecond().max(0) as u128) << 80;
        let mut bytes = (ms | (hash >> 48)).to_be_bytes();
        bytes[6] = (bytes[6] & 0x0f) | 0x70;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        SessionId(Uuid::from_bytes(bytes))
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for SessionId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(SessionId)
    }
}

/// A call that a session wants under way, such as `advisor/3#1`. It is derived
/// from the state, so the same state always names the same call.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub String);

impl CallId {
    /// What the call is for, then whose it is and which try: `CallId::new("ballot").of(1)
    /// .of(3).nth(2)` is `ballot/1/3#2`. Ids stand in logs, so they never look otherwise.
    pub fn new(what: &str) -> Self {
        CallId(what.to_owned())
    }

    pub fn of(self, whose: impl fmt::Display) -> Self {
        CallId(format!("{self}/{whose}"))
    }

    pub fn nth(self, tries: u32) -> Self {
        CallId(format!("{self}#{tries}"))
    }

    /// What the call is for, and whose it is. Which try it was, only the whole id says.
    pub fn read(&self) -> (&str, Vec<&str>) {
        let (name, _) = self.0.split_once('#').unwrap_or((&self.0, ""));
        let mut parts = name.split('/');
        (parts.next().unwrap_or_default(), parts.collect())
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `provider/model`, always in full: `ollama/llama3.2`. The model's own name
/// may contain further slashes and colons.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModelName(pub String);

impl ModelName {
    pub fn new(provider: &str, model: &str) -> Self {
        ModelName(format!("{provider}/{model}"))
    }

    /// The provider's name, and the model's name as that provider knows it.
    pub fn parts(&self) -> (&str, &str) {
        self.0.split_once('/').unwrap_or(("", &self.0))
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Somebody who acts under a name: an agent, or a person.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentName(pub String);

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A few random characters, the same for a whole session: the code that stands in the
/// delimiters around quoted material.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nonce(pub String);
