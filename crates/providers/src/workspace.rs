//! Where a command-line agent may work, and by which names it is told its tools.

use std::path::{Path, PathBuf};

use plenary_domain::{FailureKind, Workspace};
use plenary_engine::ports::ModelError;

use crate::config::{CommandConfig, ProviderConfig};
use crate::failure;

/// The folder that a program is to run in. `None`: one is made for the call. One
/// that an agent names must lie in a folder that the configuration allows; its true
/// path is what is compared and what is used, so that neither a link nor `..` leads
/// out.
pub(crate) fn folder(
    config: &ProviderConfig,
    command: &CommandConfig,
    workspace: Option<&Workspace>,
) -> Result<Option<PathBuf>, ModelError> {
    let Some(wanted) = workspace.and_then(|one| one.folder.as_deref()) else {
        return match command.folder.as_deref().map(at_home) {
            Some(folder) if !folder.is_dir() => Err(not_there(config, &folder)),
            folder => Ok(folder),
        };
    };
    let wanted = at_home(Path::new(wanted));
    let Ok(folder) = wanted.canonicalize() else {
        return Err(not_there(config, &wanted));
    };
    if !folder.is_dir() {
        return Err(not_there(config, &wanted));
    }
    let started = std::env::current_dir().ok();
    let allowed = allowed(command.folders.as_deref(), started.as_deref());
    match allowed.iter().any(|root| folder.starts_with(root)) {
        true => Ok(Some(folder)),
        false => Err(not_allowed(config, command, &folder, started.as_deref())),
    }
}

/// The roots of what is allowed. A service that was started in `/` was not put
/// there on purpose, so this alone allows nothing.
fn allowed(folders: Option<&[PathBuf]>, started: Option<&Path>) -> Vec<PathBuf> {
    let roots: Vec<PathBuf> = match folders {
        Some(folders) => folders.iter().map(|folder| at_home(folder)).collect(),
        None => {
            started.filter(|one| one.parent().is_some()).map(Path::to_owned).into_iter().collect()
        }
    };
    roots.iter().filter_map(|root| root.canonicalize().ok()).collect()
}

/// `~/` stands for the home folder, as in a shell.
pub(crate) fn at_home(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::var_os("HOME")) {
        (Ok(rest), Some(home)) => Path::new(&home).join(rest),
        (Ok(_) | Err(_), _) => path.to_owned(),
    }
}

/// Nowhere can a folder be made that is safe from other users.
pub(crate) fn no_private_folder(config: &ProviderConfig, problem: &str) -> ModelError {
    let name = &config.name;
    wrong(format!(
        "There is no safe folder for {name} to run in ({problem}). Set XDG_RUNTIME_DIR or PLENARY_HOME to a folder that only you can write to, or `folder` in [providers.{name}]."
    ))
}

fn not_there(config: &ProviderConfig, folder: &Path) -> ModelError {
    let folder = folder.display();
    wrong(format!("The folder {folder} of the provider `{}` does not exist.", config.name))
}

fn not_allowed(
    config: &ProviderConfig,
    command: &CommandConfig,
    folder: &Path,
    started: Option<&Path>,
) -> ModelError {
    let (name, folder) = (&config.name, folder.display());
    let setting = format!("`folders` in [providers.{name}]");
    wrong(match &command.folders {
        Some(folders) => {
            let listed: Vec<String> = folders.iter().map(|one| one.display().to_string()).collect();
            let listed = if listed.is_empty() { "none".into() } else { listed.join(", ") };
            format!("{name} may not work in {folder}: {setting} does not allow it, only {listed}.")
        }
        None => match started.filter(|one| one.parent().is_some()) {
            Some(started) => format!(
                "{name} may not work in {folder}: it is outside {}, where Plenary was started. \
                 {setting} allows other folders.",
                started.display()
            ),
            None => format!("{name} may not work in {folder}: {setting} must allow it first."),
        },
    })
}

/// The tools as the program's arguments have them: all in one, with commas. `None`
/// means that none were named.
pub(crate) fn tools(
    config: &ProviderConfig,
    command: &CommandConfig,
    workspace: Option<&Workspace>,
) -> Result<Option<String>, ModelError> {
    let tools = workspace.map(|one| one.tools.as_slice()).unwrap_or_default();
    if tools.is_empty() {
        return Ok(None);
    }
    let name = &config.name;
    if !command.args.iter().any(|arg| arg.contains("{tools}")) {
        return Err(wrong(format!(
            "{name} cannot be told which tools to use; leave out `tools`. (To pass a list to a \
             program that takes one, put {{tools}} in `args` of [providers.{name}].)"
        )));
    }
    // A name must stay one name, and must not become a flag.
    let bad = |tool: &&String| {
        tool.trim().is_empty() || tool.starts_with('-') || tool.contains([',', '\n', '\r', '\0'])
    };
    if let Some(tool) = tools.iter().find(bad) {
        return Err(wrong(format!(
            "{tool:?} is not a valid tool name: names have no comma and do not start with `-`."
        )));
    }
    Ok(Some(tools.join(",")))
}

/// The names alone: `Bash(git log:*)` is the tool `Bash`, with a rule.
pub(crate) fn without_rules(tools: &str) -> String {
    let names = tools.split(',').map(|tool| tool.split('(').next().unwrap_or(tool).trim());
    names.collect::<Vec<_>>().join(",")
}

fn wrong(message: String) -> ModelError {
    failure::last(FailureKind::Misconfigured, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_it_was_started_counts_only_without_a_list_and_never_as_the_root() {
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        let above = here.parent().unwrap().to_owned();
        let check = |folders: Option<&[PathBuf]>, started: &Path, expected: &[&PathBuf]| {
            let expected: Vec<PathBuf> = expected.iter().map(|one| (*one).clone()).collect();
            assert_eq!(allowed(folders, Some(started)), expected);
        };
        check(None, &here, &[&here]);
        check(None, Path::new("/"), &[]);
        check(Some(&[]), &here, &[]);
        check(Some(&[here.join(".."), "/no/such/folder".into()]), &here, &[&above]);
    }

    #[test]
    fn a_tilde_is_the_home_folder() {
        let home = PathBuf::from(std::env::var_os("HOME").unwrap());
        for (path, expected) in [
            ("~/projects/x", home.join("projects/x")),
            ("~", home),
            ("~other/x", "~other/x".into()),
            ("/a/~/b", "/a/~/b".into()),
        ] {
            assert_eq!(at_home(Path::new(path)), expected, "{path}");
        }
    }
}
