//! A file of JSON that is this user's only. It is read and written anew under a lock,
//! so that two commands at once do not lose what the other has put in.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub struct Private {
    path: PathBuf,
}

pub enum Trouble {
    Broken(serde_json::Error),
    /// What could not be done with it, and why.
    Failed(&'static str, io::Error),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Broken(error) => write!(f, "is broken: {error}"),
            Trouble::Failed(done, error) => write!(f, "cannot be {done}: {error}"),
        }
    }
}

impl Private {
    pub fn new(folder: &Path, name: &str) -> Private {
        Private { path: folder.join(name) }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// One that is not there says nothing.
    pub fn read<T: Default + DeserializeOwned>(&self) -> Result<T, Trouble> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(T::default()),
            Err(error) => return Err(Trouble::Failed("read", error)),
        };
        serde_json::from_str(&text).map_err(Trouble::Broken)
    }

    pub fn change<T: Default + Serialize + DeserializeOwned>(
        &self,
        change: impl FnOnce(&mut T),
    ) -> Result<(), Trouble> {
        let lock = self.lock().map_err(|error| Trouble::Failed("locked", error))?;
        let mut contents = self.read()?;
        change(&mut contents);
        self.write(&contents).map_err(|error| Trouble::Failed("written", error))?;
        drop(lock);
        Ok(())
    }

    /// Given back when it is closed.
    fn lock(&self) -> io::Result<File> {
        if let Some(folder) = self.path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(false).write(true).mode(0o600);
        let file = options.open(self.path.with_extension("lock"))?;
        file.lock()?;
        Ok(file)
    }

    /// A reader sees the old file or the new one, never a part.
    fn write(&self, contents: &impl Serialize) -> io::Result<()> {
        let new = self.path.with_extension("json.new");
        // One that was left behind may have other rights.
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&new)?;
        serde_json::to_writer_pretty(&mut file, contents)?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        fs::rename(&new, &self.path)
    }
}
