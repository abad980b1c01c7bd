//! The start of a program: what it is told, what it sees, and where it runs.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use plenary_domain::{Ask, FailureKind};
use plenary_engine::ports::ModelError;
use tokio::process::{Child, Command};

use crate::config::{CommandConfig, Output, ProviderConfig};
use crate::processes::{self, Family, Mark};
use crate::{Keeping, failure, keeper, private, prompt, workspace};

/// Variables that every program gets; `*` ends a prefix.
const HARMLESS: [&str; 7] = ["PATH", "HOME", "LANG", "LC_*", "TERM", "TMPDIR", "USER"];

/// A program that runs and has not been told its prompt yet.
pub(crate) struct Started {
    pub family: Family,
    pub child: Child,
    pub prompt: String,
    pub output: Output,
    /// How long it may take.
    pub limit: Duration,
}

/// Where a program is, whatever folder it will run in. A relative place on the PATH
/// means another folder wherever one stands, perhaps a stranger's: nothing is taken
/// from there.
pub fn find_program(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        // Why one that is there cannot be started is said when that is tried.
        return std::path::absolute(program).ok().filter(|path| path.is_file());
    }
    let runs = |path: &PathBuf| {
        path.metadata().is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0)
    };
    let path = std::env::var_os("PATH")?;
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    let mut candidates = folders.map(|folder| folder.join(program));
    candidates.find(runs)
}

pub(crate) fn start(
    config: &ProviderConfig,
    keeping: &Keeping,
    ask: &Ask,
) -> Result<Started, ModelError> {
    let wrong = |message: String| failure::last(FailureKind::Misconfigured, message);
    let Some(command) = &config.command else {
        return Err(wrong(format!("The provider `{}` names no program.", config.name)));
    };
    let chosen = workspace::folder(config, command, ask.workspace.as_ref())?;
    let tools = workspace::tools(config, command, ask.workspace.as_ref())?;
    let Some(program) = find_program(&command.program) else {
        return Err(cannot_start(config, command, &io::ErrorKind::NotFound.into()));
    };
    let mark = Mark::new();
    let made = match chosen.is_none() || told(command).any(|one| one.contains("{private}")) {
        true => Some(
            private::make(&keeping.places, &mark)
                .map_err(|problem| workspace::no_private_folder(config, &problem))?,
        ),
        false => None,
    };
    let prompt = prompt::flat(ask, !tells_role(command));
    let places = Places {
        model: Some(ask.model.parts().1).filter(|model| *model != "default"),
        names: tools.as_deref().map(workspace::without_rules).unwrap_or_default(),
        tools: tools.as_deref(),
        system: prompt::system_with_schema(ask),
        private: made.as_deref().map(Path::to_string_lossy).unwrap_or_default(),
        prompt: &prompt,
    };
    let reads = !command.args.iter().any(|one| one.contains("{prompt}"));
    let set = command.set.iter().map(|(name, value)| (name.into(), places.fill(value).into()));
    let start = Start {
        program,
        args: places.arguments(&command.args),
        folder: chosen.as_ref().or(made.as_ref()).cloned().unwrap_or_default(),
        env: environment(command).into_iter().chain(set).collect(),
        reads,
    };
    let written = match &made {
        Some(folder) => places.write(folder, &command.files),
        None => Ok(()),
    };
    let spawned = written.and_then(|()| start.spawn(keeping, mark, made.clone()));
    let (family, child) = spawned.map_err(|error| {
        let _ = made.map(std::fs::remove_dir_all);
        cannot_start(config, command, &error)
    })?;
    let limit = Duration::from_millis(command.limit_ms);
    Ok(Started { family, child, prompt, output: command.output, limit })
}

/// What the program is told by arguments and variables.
fn told(command: &CommandConfig) -> impl Iterator<Item = &String> {
    command.args.iter().chain(command.set.iter().map(|(_, value)| value))
}

/// Whether it is told its role apart from the prompt, by itself or by a file. A file
/// that no argument names any more, because the user has set others, tells nothing.
fn tells_role(command: &CommandConfig) -> bool {
    let by_file = |(name, content): &(String, String)| {
        let place = format!("{{private}}/{name}");
        content.contains("{system}") && told(command).any(|one| one.contains(&place))
    };
    told(command).any(|one| one.contains("{system}")) || command.files.iter().any(by_file)
}

/// What stands for the places in arguments, variables and files.
struct Places<'a> {
    model: Option<&'a str>,
    tools: Option<&'a str>,
    /// The tools without rules.
    names: String,
    system: String,
    private: Cow<'a, str>,
    prompt: &'a str,
}

impl Places<'_> {
    fn values(&self) -> [(&'static str, Option<&str>); 6] {
        [
            ("{model}", self.model),
            ("{tools}", self.tools),
            ("{tool-names}", Some(&self.names)),
            ("{system}", Some(self.system.as_str()).filter(|system| !system.is_empty())),
            ("{private}", Some(&self.private)),
            ("{prompt}", Some(self.prompt)),
        ]
    }

    /// In one pass, so that nothing in what is filled in is taken for a place.
    fn fill(&self, template: &str) -> String {
        let values = self.values();
        let mut filled = String::with_capacity(template.len());
        let mut rest = template;
        while let Some(at) = rest.find('{') {
            filled.push_str(&rest[..at]);
            rest = &rest[at..];
            let found = values.iter().find(|(place, _)| rest.starts_with(place));
            let (length, value) =
                found.map_or((1, "{"), |(place, value)| (place.len(), value.unwrap_or_default()));
            filled.push_str(value);
            rest = &rest[length..];
        }
        filled + rest
    }

    /// The arguments. One whose place stands for nothing is left out, and so is the
    /// flag before it if the argument is nothing else.
    fn arguments(&self, templates: &[String]) -> Vec<String> {
        let mut args: Vec<String> = Vec::with_capacity(templates.len());
        for template in templates {
            let values = self.values();
            let mut empty = values.iter().filter(|(_, value)| value.is_none());
            match empty.find(|(place, _)| template.contains(place)) {
                Some((place, _)) => {
                    if args.last().is_some_and(|flag| flag.starts_with('-')) && template == place {
                        args.pop();
                    }
                }
                None => args.push(self.fill(template)),
            }
        }
        args
    }

    fn write(&self, folder: &Path, files: &[(String, String)]) -> io::Result<()> {
        for (name, content) in files {
            let mut options = std::fs::OpenOptions::new();
            let mut file =
                options.write(true).create_new(true).mode(0o600).open(folder.join(name))?;
            file.write_all(self.fill(content).as_bytes())?;
        }
        Ok(())
    }
}

fn cannot_start(config: &ProviderConfig, command: &CommandConfig, error: &io::Error) -> ModelError {
    let (name, program) = (&config.name, &command.program);
    match error.kind() {
        io::ErrorKind::NotFound => failure::last(
            FailureKind::Misconfigured,
            format!(
                "There is no program `{program}` for {name}; install it, or set `program` in [providers.{name}]."
            ),
        ),
        io::ErrorKind::ArgumentListTooLong => failure::last(
            FailureKind::PromptTooLong,
            format!(
                "The prompt is too long to be an argument of `{program}`; leave out {{prompt}} and \
                 {{system}} to send it to standard input."
            ),
        ),
        _ => failure::last(
            FailureKind::Misconfigured,
            format!("The program `{program}` of {name} cannot be started: {error}."),
        ),
    }
}

/// A program that is about to be started.
struct Start {
    program: PathBuf,
    args: Vec<String>,
    folder: PathBuf,
    env: Vec<(OsString, OsString)>,
    /// Whether the prompt goes to its standard input.
    reads: bool,
}

impl Start {
    /// `made` is the folder to remove when all is over.
    fn spawn(
        self,
        keeping: &Keeping,
        mark: Mark,
        made: Option<PathBuf>,
    ) -> io::Result<(Family, Child)> {
        let mut command = match &keeping.keeper {
            Some(keeper) => {
                let order = keeper::Order {
                    mark: mark.word(),
                    folder: made.clone(),
                    reads: self.reads,
                    program: self.program.into_os_string(),
                    args: self.args.into_iter().map(OsString::from).collect(),
                };
                let mut command = Command::new(keeper);
                // As it shows in a list of processes.
                command.arg0("plenary").args(order.arguments()).env_clear().stdin(Stdio::piped());
                command
            }
            None => {
                let mut command = Command::new(self.program);
                let (name, value) = processes::variable(mark.word());
                command.args(self.args).env_clear().env(name, value);
                command.stdin(if self.reads { Stdio::piped() } else { Stdio::null() });
                // The family is killed by us; this makes the runtime reap what is dropped.
                command.kill_on_drop(true);
                command
            }
        };
        let child = command
            .current_dir(self.folder)
            .envs(self.env)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let family = match &keeping.keeper {
            Some(_) => Family::kept(mark, made),
            None => Family::group(child.id(), mark, made),
        };
        Ok((family, child))
    }
}

/// The variables that such a program gets to see.
pub(crate) fn environment(command: &CommandConfig) -> Vec<(OsString, OsString)> {
    let fits = |name: &str, pattern: &str| match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == pattern,
    };
    let allows = |name: &str| {
        HARMLESS.iter().any(|pattern| fits(name, pattern))
            || command.variables().any(|pattern| fits(name, pattern))
    };
    let all = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(allows));
    all.map(|(name, value)| if name == "PATH" { (name, absolute(&value)) } else { (name, value) })
        .collect()
}

/// A PATH without its relative places, which mean the folder that a program runs in.
fn absolute(path: &OsStr) -> OsString {
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    std::env::join_paths(folders).unwrap_or_default()
}
