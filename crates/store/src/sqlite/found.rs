//! What stands in a data folder before SQLite opens it.
//!
//! SQLite makes an empty database of a missing or an empty file, and drops what it
//! cannot read of a log. Neither may happen to a store without a word.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use plenary_domain::Timestamp;
use plenary_engine::ports::StoreError;
use sqlx::{ConnectOptions, Connection};

use super::failure::{failure, migration_failure};
use super::place::beside;
use super::wal::{self, Damage, Log};
use super::{DATABASE_FILE, migrations, reading, writing};
use crate::lock::open_private;

/// Made with the first database of a folder, so that a missing one is missed.
pub(super) const MADE_FILE: &str = "plenary.made";
const MADE: &str = "A store was made in this folder. If plenary.sqlite3 is missing, restore it \
                    from a backup. Remove this file only to start with an empty store.\n";

/// Files that were kept aside have this in their names.
const KEPT: &str = ".damaged-";

/// Whether there is a database. An error if there should be one.
pub(super) fn is_there(folder: &Path) -> Result<bool, StoreError> {
    let file = folder.join(DATABASE_FILE);
    match fs::metadata(&file) {
        Ok(found) if !found.is_file() => {
            Err(StoreError::Failed(format!("{} is not a file", file.display())))
        }
        Ok(found) if found.len() == 0 => Err(empty(folder, &file)),
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let log = beside(&file, "-wal");
            let left_over = fs::metadata(&log).is_ok_and(|log| log.len() > 0);
            match folder.join(MADE_FILE).exists() || left_over {
                true => Err(missing(folder, &file, left_over.then_some(log))),
                false => Ok(false),
            }
        }
        Err(error) => Err(cannot(&file, "be opened", &error)),
    }
}

/// Makes the database of a new folder, or looks at the one that is there. Returns what
/// its user has to be told.
pub(super) async fn prepare(folder: &Path, at: Timestamp) -> Result<Option<String>, StoreError> {
    let file = folder.join(DATABASE_FILE);
    let told = match is_there(folder)? {
        true => examine(&file, at).await?,
        false => {
            make(folder, &file).await?;
            None
        }
    };
    let made = folder.join(MADE_FILE);
    if !made.exists() {
        fs::write(&made, MADE).map_err(|error| cannot(&made, "be written", &error))?;
        private(&made).map_err(|error| cannot(&made, "be written", &error))?;
    }
    Ok(told)
}

/// Under another name first: a process that ends half-way leaves no database behind, so
/// an empty one is never ours.
async fn make(folder: &Path, file: &Path) -> Result<(), StoreError> {
    let new = beside(file, ".new");
    for suffix in ["", "-wal", "-shm", "-journal"] {
        match fs::remove_file(beside(&new, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(cannot(&new, "be written", &error));
            }
            Ok(()) | Err(_) => {}
        }
    }
    // SQLite makes its other files with the rights of this one.
    open_private(&new).map_err(|error| cannot(&new, "be written", &error))?;
    let mut connection = writing(&new).connect().await.map_err(failure)?;
    migrations().run_direct(None, &mut connection, false).await.map_err(migration_failure)?;
    connection.close().await.map_err(failure)?;
    let placed = sync(&new).and_then(|()| fs::rename(&new, file)).and_then(|()| sync(folder));
    placed.map_err(|error| cannot(file, "be made", &error))
}

/// Looks at the log of a process that did not end well, and keeps aside what SQLite
/// would drop.
async fn examine(file: &Path, at: Timestamp) -> Result<Option<String>, StoreError> {
    let path = beside(file, "-wal");
    let log = wal::read(&path).map_err(|error| cannot(&path, "be read", &error))?;
    let Some(words) = words(log) else { return Ok(None) };
    let kept = match log {
        Log::Whole | Log::Cut => keep(&path, at)?,
        Log::Damaged(_) => {
            holds_together(file, &words).await?;
            format!("{} and {}", keep(&path, at)?, keep(file, at)?)
        }
    };
    Ok(Some(format!("{words} What was found is kept as {kept}.")))
}

/// What is to be said of a log.
pub(super) fn words(log: Log) -> Option<String> {
    match log {
        Log::Whole => None,
        Log::Cut => Some(
            "The last transaction of the write-ahead log cannot be read. After a power cut or a \
             kill in the middle of a write this is normal, and it was never reported as done; \
             otherwise the log is damaged, and it is lost."
                .into(),
        ),
        Log::Damaged(Damage::Header) => Some(
            "The write-ahead log is damaged at its beginning: anything not yet in the database is \
             lost."
                .into(),
        ),
        Log::Damaged(Damage::Frames { from, transactions }) => Some(format!(
            "The write-ahead log is damaged from frame {from} on: the last {transactions} \
             transactions, which had been completed, are lost."
        )),
    }
}

/// A part of a damaged log may have gone into the database already. Where the rest does
/// not fit together, nothing is touched. A connection that only reads moves nothing.
async fn holds_together(file: &Path, words: &str) -> Result<(), StoreError> {
    let mut connection = reading(file).connect().await.map_err(failure)?;
    let found: Result<Vec<String>, _> =
        sqlx::query_scalar("pragma quick_check(1)").fetch_all(&mut connection).await;
    connection.close().await.map_err(failure)?;
    match found {
        Ok(found) if found == ["ok"] => Ok(()),
        Ok(_) | Err(_) => Err(StoreError::Damaged(format!(
            "{words} The database {} is not consistent without what was lost. Nothing was changed: \
             keep a copy of the folder, and restore a backup.",
            file.display()
        ))),
    }
}

/// A copy beside the file, as safe as the file itself. Returns its path.
fn keep(file: &Path, at: Timestamp) -> Result<String, StoreError> {
    let time = at.to_string().replace(':', "-");
    let mut copy = beside(file, &format!("{KEPT}{time}"));
    while copy.exists() {
        copy = beside(&copy, "-again");
    }
    let copied = fs::copy(file, &copy).and_then(|_| private(&copy)).and_then(|()| sync(&copy));
    copied.map_err(|error| cannot(&copy, "be written", &error))?;
    Ok(copy.display().to_string())
}

/// Files that were kept aside in a folder.
pub(super) fn kept(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut kept: Vec<PathBuf> = files
        .filter(|file| file.file_name().to_string_lossy().contains(KEPT))
        .map(|file| file.path())
        .collect();
    kept.sort();
    kept
}

fn missing(folder: &Path, file: &Path, log: Option<PathBuf>) -> StoreError {
    let made = folder.join(MADE_FILE);
    let signs = made.exists().then_some(made).into_iter().chain(log);
    let signs: Vec<String> = signs.map(|sign| sign.display().to_string()).collect();
    StoreError::Damaged(format!(
        "The database {} is missing, but there was a store in this folder. Restore it from a \
         backup. To start with an empty store instead, move {} away.",
        file.display(),
        signs.join(" and ")
    ))
}

fn empty(folder: &Path, file: &Path) -> StoreError {
    StoreError::Damaged(format!(
        "The database {} is empty (0 bytes); a store never is. Restore it from a backup. To start \
         with an empty store instead, move it and {} away.",
        file.display(),
        folder.join(MADE_FILE).display()
    ))
}

fn cannot(file: &Path, what: &str, error: &io::Error) -> StoreError {
    StoreError::Failed(format!("{} cannot {what}: {error}", file.display()))
}

/// Waits for the disk. A folder has to be synced too for a name in it to last.
pub(super) fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

fn private(file: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(file, fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}
