//! Files of working directories that the user has trusted, by path and contents.
//!
//! A cloned repository may bring a `plenary.toml` that sends keys to strangers or runs
//! their programs. So such a file counts once the user has said so, and as it was then.
//! This is kept in the user's own data directory: not in the data folder, which the
//! file itself could name.

use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use crate::private::{Private, Trouble};

const FILE: &str = "trusted.json";

/// What the user thinks of a file with these contents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    Trusted,
    /// Trusted with other contents.
    Changed,
    Unknown,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Entry {
    pub path: PathBuf,
    pub sha256: String,
}

#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Trusted {
    files: Vec<Entry>,
}

impl Trusted {
    /// Nothing is trusted where nothing was kept.
    pub fn read(folder: Option<&Path>) -> Result<Trusted, String> {
        folder.map_or_else(
            || Ok(Trusted::default()),
            |folder| file(folder).read().map_err(|trouble| failed(folder, &trouble)),
        )
    }

    pub fn standing(&self, path: &Path, sha256: &str) -> Standing {
        match self.files.iter().find(|entry| entry.path == path) {
            Some(entry) if entry.sha256 == sha256 => Standing::Trusted,
            Some(_) => Standing::Changed,
            None => Standing::Unknown,
        }
    }

    pub fn entries(&self) -> &[Entry] {
        &self.files
    }
}

/// Trusts a file with these contents and no others.
pub fn trust(folder: &Path, path: &Path, sha256: String) -> Result<(), String> {
    // Another path could look the same once it is written down.
    if path.to_str().is_none() {
        return Err(format!("{} cannot be stored: it is not UTF-8", path.display()));
    }
    let entry = Entry { path: path.to_owned(), sha256 };
    change(folder, |files| {
        files.retain(|other| other.path != entry.path);
        files.push(entry);
    })
}

pub fn forget(folder: &Path, path: &Path) -> Result<(), String> {
    change(folder, |files| files.retain(|entry| entry.path != path))
}

pub fn hash(text: &str) -> String {
    let hash = digest(&SHA256, text.as_bytes());
    hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn change(folder: &Path, change: impl FnOnce(&mut Vec<Entry>)) -> Result<(), String> {
    let changed = file(folder).change(|trusted: &mut Trusted| change(&mut trusted.files));
    changed.map_err(|trouble| failed(folder, &trouble))
}

fn file(folder: &Path) -> Private {
    Private::new(folder, FILE)
}

fn failed(folder: &Path, trouble: &Trouble) -> String {
    format!("the list of files you trust, {}, {trouble}", file(folder).path().display())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_trusted_by_path_and_contents() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("data");
        let standing = |path: &str, text: &str| {
            Trusted::read(Some(&folder)).unwrap().standing(Path::new(path), &hash(text))
        };
        assert_eq!(standing("/a/plenary.toml", "x"), Standing::Unknown);
        trust(&folder, Path::new("/a/plenary.toml"), hash("x")).unwrap();
        trust(&folder, Path::new("/b/plenary.toml"), hash("x")).unwrap();
        assert_eq!(standing("/a/plenary.toml", "x"), Standing::Trusted);
        assert_eq!(standing("/a/plenary.toml", "y"), Standing::Changed);
        assert_eq!(standing("/c/plenary.toml", "x"), Standing::Unknown);
        trust(&folder, Path::new("/a/plenary.toml"), hash("y")).unwrap();
        assert_eq!(standing("/a/plenary.toml", "x"), Standing::Changed);
        forget(&folder, Path::new("/a/plenary.toml")).unwrap();
        assert_eq!(standing("/a/plenary.toml", "y"), Standing::Unknown);
        assert_eq!(standing("/b/plenary.toml", "x"), Standing::Trusted);
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&folder.join(FILE))), (0o700, 0o600));
    }
}
