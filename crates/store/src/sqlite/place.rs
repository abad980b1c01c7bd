//! Whether the files that are open still stand where they were opened.
//!
//! A file that was removed or replaced can be written to without an error, and all of
//! it is gone with the process. So every group of writes looks first.

use std::ffi::OsString;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use plenary_domain::limits;

/// Files of a data folder, each as it was when the store was opened.
#[derive(Default)]
pub(super) struct Place {
    files: Vec<(PathBuf, Identity)>,
}

type Identity = (u64, u64);

impl Place {
    pub(super) fn of(files: impl IntoIterator<Item = PathBuf>) -> io::Result<Place> {
        let files = files.into_iter().map(|file| {
            let identity = identity(&std::fs::metadata(&file)?);
            Ok((file, identity))
        });
        Ok(Place { files: files.collect::<io::Result<_>>()? })
    }

    /// What is wrong, in words.
    pub(super) fn check(&self) -> Result<(), String> {
        self.files.iter().try_for_each(|(file, opened)| {
            let shown = file.display();
            match std::fs::metadata(file) {
                Ok(found) if identity(&found) == *opened => Ok(()),
                Ok(_) => Err(format!(
                    "{shown} was replaced while it was in use; start the program again"
                )),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    Err(format!("{shown} was removed while it was in use"))
                }
                Err(error) => Err(format!("{shown} cannot be reached: {error}")),
            }
        })
    }

    /// A disk that is almost full takes a last small write and then no other.
    pub(super) fn has_room(&self) -> Result<(), String> {
        let Some(folder) = self.files.first().and_then(|(file, _)| file.parent()) else {
            return Ok(());
        };
        let disk = rustix::fs::statvfs(folder)
            .map_err(|error| format!("{} cannot be reached: {error}", folder.display()))?;
        let left = disk.f_bavail.saturating_mul(disk.f_frsize);
        match left < limits::DISK_LEAST_BYTES {
            true => Err(format!("the disk is full: {left} bytes are left on it")),
            false => Ok(()),
        }
    }
}

#[cfg(unix)]
fn identity(file: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (file.dev(), file.ino())
}

/// Elsewhere nobody can remove a file that is open.
#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {
    (0, 0)
}

/// The file that SQLite keeps beside a database.
pub(super) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(database);
    name.push(suffix);
    PathBuf::from(name)
}
