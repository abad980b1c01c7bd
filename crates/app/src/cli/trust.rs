//! `plenary trust`

use std::path::{Path, PathBuf};

use clap::Args;
use plenary_domain::names;

use super::{agreed, exit, usage};
use crate::api::ApiError;
use crate::config;
use crate::config::layers::{self, Written};
use crate::terminal;
use crate::trust::{self, Standing, Trusted};

#[derive(Args)]
pub struct Trust {
    /// The file or its folder; the plenary.toml in this folder by default
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// Trust it without asking
    #[arg(long, conflicts_with_all = ["list", "remove"])]
    yes: bool,
    /// List the trusted files
    #[arg(long, conflicts_with_all = ["remove", "path"])]
    list: bool,
    /// Stop trusting it
    #[arg(long)]
    remove: bool,
}

impl Trust {
    /// Without the configuration: what is judged here must have no say in it.
    pub fn run(&self) -> Result<u8, ApiError> {
        let directories = config::directories();
        let folder = directories.as_ref().map(directories::ProjectDirs::data_dir);
        let folder = folder.ok_or_else(|| usage("no home folder found; set HOME"))?;
        let trusted = Trusted::read(Some(folder)).map_err(usage)?;
        match (self.list, self.remove) {
            (true, _) => list(&trusted),
            (false, true) => remove(folder, &trusted, &self.file()),
            (false, false) => self.trust(folder, &trusted),
        }
    }

    fn file(&self) -> PathBuf {
        match &self.path {
            None => layers::local().to_owned(),
            Some(path) if path.is_dir() => path.join(layers::local()),
            Some(path) => path.clone(),
        }
    }

    fn trust(&self, folder: &Path, trusted: &Trusted) -> Result<u8, ApiError> {
        let file = self.file();
        let wrong = |problem: String| usage(format!("{} {problem}", file.display()));
        let found = Written::read(&file).map_err(wrong)?;
        let written = found.ok_or_else(|| usage(format!("there is no {}", file.display())))?;
        let path = written.path.display().to_string();
        if file.file_name() != layers::local().file_name() {
            return Err(wrong("is not called plenary.toml, so it is never read".into()));
        }
        let hash = trust::hash(&written.text);
        let settings = written.parsed().map_err(wrong)?;
        let folder_of_it = written.path.parent().unwrap_or(Path::new("/"));
        let unsound = |problem| wrong(format!("is wrong: {problem}"));
        settings.clone().check().map_err(unsound)?;
        let effects = settings.effects(folder_of_it).map_err(unsound)?;
        match trusted.standing(&written.path, &hash) {
            Standing::Trusted => {
                terminal::say(&format!("{path} is already trusted."));
                return Ok(exit::DONE);
            }
            Standing::Changed => {
                terminal::note(&format!("{path} has changed. If you trust it, it"))
            }
            Standing::Unknown => terminal::note(&format!("If you trust {path}, it")),
        }
        // In one line each: what a stranger wrote must not look like a line of ours, or
        // push one out of sight.
        effects.iter().for_each(|effect| terminal::note(&format!("  {}", names::shown(effect))));
        if effects.is_empty() {
            terminal::note("  sets nothing");
        }
        let asked = || agreed("Trust it?", "trust the file", "Read it, then add --yes.");
        if !self.yes && !asked()? {
            terminal::note("Not trusted. Nothing was changed.");
            return Ok(exit::FAILED);
        }
        trust::trust(folder, &written.path, hash).map_err(usage)?;
        terminal::say(&format!("{path} is trusted until it changes."));
        Ok(exit::DONE)
    }
}

fn list(trusted: &Trusted) -> Result<u8, ApiError> {
    for entry in trusted.entries() {
        let state = match Written::read(&entry.path) {
            Ok(Some(written)) if trust::hash(&written.text) == entry.sha256 => "",
            Ok(Some(_)) => "  (changed, so no longer trusted)",
            Ok(None) => "  (missing)",
            Err(_) => "  (unreadable)",
        };
        terminal::say(&format!("{}{state}", entry.path.display()));
    }
    if trusted.entries().is_empty() {
        terminal::note("No files are trusted.");
    }
    Ok(exit::DONE)
}

/// Also one that is gone, by the path under which it is listed.
fn remove(folder: &Path, trusted: &Trusted, file: &Path) -> Result<u8, ApiError> {
    let whole = || std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let path = file.canonicalize().unwrap_or_else(|_| whole());
    if !trusted.entries().iter().any(|entry| entry.path == path) {
        let mut error = usage(format!("{} is not trusted", path.display()));
        error.hint = Some("List trusted files with `plenary trust --list`.".into());
        return Err(error);
    }
    trust::forget(folder, &path).map_err(usage)?;
    terminal::say(&format!("{} is no longer trusted.", path.display()));
    Ok(exit::DONE)
}
