//! `plenary completions` and the manual pages, for whatever is installed: see `packaging/`.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use super::{ApiError, exit};
use crate::terminal;

#[derive(Args)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

#[derive(Args)]
pub struct Manual {
    /// Where the pages are written
    folder: PathBuf,
}

impl Completions {
    pub fn run(&self) -> u8 {
        let mut script = vec![];
        clap_complete::generate(self.shell, &mut crate::command(), "plenary", &mut script);
        terminal::say_document(String::from_utf8_lossy(&script).trim_end());
        exit::DONE
    }
}

impl Manual {
    pub fn run(&self) -> Result<u8, ApiError> {
        let mut command = crate::command();
        command.build();
        let written = write(&command, "plenary", &self.folder);
        written.map_err(|error| {
            ApiError::new("usage", format!("{}: {error}", self.folder.display()))
        })?;
        Ok(exit::DONE)
    }
}

/// One page for each command: `plenary-sessions-list.1`.
fn write(command: &Command, name: &str, folder: &Path) -> io::Result<()> {
    // The pages are called as the commands are, with hyphens.
    let named = command.clone().display_name(name.to_owned());
    let mut page = vec![];
    Man::new(named).render(&mut page)?;
    std::fs::write(folder.join(format!("{name}.1")), page)?;
    for sub in command.get_subcommands() {
        if sub.get_name() != "help" && !sub.is_hide_set() {
            write(sub, &format!("{name}-{}", sub.get_name()), folder)?;
        }
    }
    Ok(())
}
