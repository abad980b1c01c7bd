//! The hub's own cache, in its own layout, so that other tools find what is pulled here
//! and this finds what they have: `models--ORG--REPO/{blobs,refs,snapshots}`.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock, statvfs};

use super::wanted::Listed;

#[derive(Clone)]
pub(super) struct Repo {
    folder: PathBuf,
    locks: PathBuf,
}

impl Repo {
    pub fn of(cache: &Path, repo: &str) -> Repo {
        let name = format!("models--{}", repo.replace('/', "--"));
        Repo { folder: cache.join(&name), locks: cache.join(".locks").join(name) }
    }

    /// The contents of a file, by their hash.
    pub fn blob(&self, file: &Listed) -> PathBuf {
        self.folder.join("blobs").join(&file.sha256)
    }

    /// As much of it as has come. Other tools go on from it too.
    pub fn incomplete(&self, file: &Listed) -> PathBuf {
        self.folder.join("blobs").join(format!("{}.incomplete", file.sha256))
    }

    pub fn snapshot(&self, commit: &str, path: &str) -> PathBuf {
        self.folder.join("snapshots").join(commit).join(path)
    }

    /// The commit that a revision was when it was last looked up.
    pub fn commit(&self, revision: &str) -> Option<String> {
        if is_commit(revision) {
            return Some(revision.to_owned());
        }
        let commit = fs::read_to_string(self.folder.join("refs").join(revision)).ok()?;
        Some(commit.trim().to_owned()).filter(|commit| is_commit(commit))
    }

    /// Nothing is written that is there: a cache that many share may be read-only.
    pub fn keep_commit(&self, revision: &str, commit: &str) -> io::Result<()> {
        if self.commit(revision).as_deref() == Some(commit) {
            return Ok(());
        }
        let place = self.folder.join("refs").join(revision);
        fs::create_dir_all(place.parent().unwrap_or(&self.folder))?;
        fs::write(place, commit)
    }

    /// The files of a snapshot that are here.
    pub fn files(&self, commit: &str) -> Vec<String> {
        let root = self.folder.join("snapshots").join(commit);
        let (mut found, mut folders) = (vec![], vec![root.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if let Ok(inside) = path.strip_prefix(&root) {
                    found.push(inside.to_string_lossy().into_owned());
                }
            }
        }
        found
    }

    /// One at a time loads a file, of all processes that keep to the hub's locks. It waits
    /// for the others, and is given back with the file.
    pub fn lock(&self, file: &Listed) -> io::Result<File> {
        fs::create_dir_all(&self.locks)?;
        fs::create_dir_all(self.folder.join("blobs"))?;
        let lock = File::create(self.locks.join(format!("{}.lock", file.sha256)))?;
        flock(&lock, FlockOperation::LockExclusive)?;
        Ok(lock)
    }

    /// Shows a blob under its name in a snapshot.
    pub fn link(&self, commit: &str, file: &Listed) -> io::Result<PathBuf> {
        let place = self.snapshot(commit, &file.path);
        if place.exists() {
            return Ok(place);
        }
        fs::create_dir_all(place.parent().unwrap_or(&self.folder))?;
        let up = "../".repeat(file.path.matches('/').count() + 2);
        let target = format!("{up}blobs/{}", file.sha256);
        // One that leads nowhere, of an earlier try.
        let _ = fs::remove_file(&place);
        match symlink(target, &place) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(place),
            made => made.map(|()| place),
        }
    }

    /// Bytes that can still be written where the blobs are.
    pub fn free(&self) -> io::Result<u64> {
        fs::create_dir_all(self.folder.join("blobs"))?;
        free(&self.folder.join("blobs"))
    }
}

pub(super) fn free(folder: &Path) -> io::Result<u64> {
    let about = statvfs(folder)?;
    Ok(about.f_bavail.saturating_mul(about.f_frsize))
}

pub(super) fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
