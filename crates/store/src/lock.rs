//! One process at a time works on a data folder, and others can read which one.
//!
//! The operating system's lock on a file is the truth: it goes when its process
//! dies, however that happens. The words in the file only tell who holds it.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use plenary_domain::Timestamp;
use plenary_engine::ports::StoreError;
use serde::{Deserialize, Serialize};

pub(crate) const LOCK_FILE: &str = "plenary.lock";

/// More than any holder writes; a longer file is not ours.
const HOLDER_BYTES: u64 = 64 * 1024;

/// What a process says about itself when it opens the folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holder {
    /// As a person would type it: `plenary serve`.
    pub command: String,
    pub since: Timestamp,
}

/// Who works on a data folder.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HolderInfo {
    pub pid: u32,
    pub command: String,
    /// Where it listens, once it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Lets another process of the same user speak to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    pub since: Timestamp,
}

/// The process that works on this folder now. A file that a dead process left
/// behind is no holder.
pub fn holder(folder: &Path) -> Option<HolderInfo> {
    let mut file = File::open(folder.join(LOCK_FILE)).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => read(&mut file),
        // Nobody holds it; closing the file gives our own lock back.
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

/// The lock of a data folder, given back when it is dropped.
pub(crate) struct Lock {
    file: File,
    info: Mutex<HolderInfo>,
}

impl Lock {
    pub(crate) fn take(folder: &Path, holder: &Holder) -> Result<Lock, StoreError> {
        let mut file = open_private(&folder.join(LOCK_FILE)).map_err(|error| {
            StoreError::Failed(format!(
                "cannot write to the data folder {}: {error}",
                folder.display()
            ))
        })?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(in_use(folder, read(&mut file))),
            Err(TryLockError::Error(error)) => return Err(cannot_lock(folder, &error)),
        }
        let info = HolderInfo {
            pid: std::process::id(),
            command: holder.command.clone(),
            url: None,
            token: None,
            since: holder.since,
        };
        write(&file, &info).map_err(|error| cannot_lock(folder, &error))?;
        Ok(Lock { file, info: Mutex::new(info) })
    }

    /// Tells other processes where this one listens.
    pub(crate) fn announce(&self, url: &str, token: &str) -> Result<(), StoreError> {
        let mut info = self.info.lock().unwrap_or_else(PoisonError::into_inner);
        info.url = Some(url.to_owned());
        info.token = Some(token.to_owned());
        write(&self.file, &info).map_err(|error| {
            StoreError::Failed(format!("the lock file cannot be written: {error}"))
        })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The token dies with its server. Should this fail, the words stay and
        // still name no holder, because nobody holds the lock.
        self.file.set_len(0).ok();
        // Not left to closing: a child between fork and exec has the file too.
        self.file.unlock().ok();
    }
}

/// Opens a file that only its user may read, making it when it is not there.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

fn write(mut file: &File, info: &HolderInfo) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    let text = serde_json::to_vec(info)?;
    // Emptied first: a reader between the two sees no holder's words rather than
    // those of one that is gone.
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&text)
}

fn read(file: &mut File) -> Option<HolderInfo> {
    let mut text = Vec::new();
    file.take(HOLDER_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

fn in_use(folder: &Path, info: Option<HolderInfo>) -> StoreError {
    let folder = folder.display();
    StoreError::InUse(match info {
        None => format!(
            "The data folder {folder} is in use by another process. Wait for it to end, or choose another folder."
        ),
        Some(HolderInfo { pid, command, url: None, .. }) => format!(
            "The data folder {folder} is in use by process {pid} ({command}). Wait for it to end or stop it, or choose another folder."
        ),
        Some(HolderInfo { pid, command, url: Some(url), .. }) => format!(
            "The data folder {folder} is in use by process {pid} ({command}), which serves at {url}. Use it there or stop it, or choose another folder."
        ),
    })
}

fn cannot_lock(folder: &Path, error: &io::Error) -> StoreError {
    StoreError::Failed(format!("the data folder {} cannot be locked: {error}", folder.display()))
}

impl fmt::Debug for HolderInfo {
    /// Leaves the token out, so that no log holds it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HolderInfo")
            .field("pid", &self.pid)
            .field("command", &self.command)
            .field("url", &self.url)
            .field("since", &self.since)
            .finish_non_exhaustive()
    }
}
