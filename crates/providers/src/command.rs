//! A command-line agent: a program that reads a prompt and prints an answer.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::stream::{self, Stream};
use plenary_domain::{Ask, FailureKind, limits};
use plenary_engine::ports::{ModelError, Piece, ProviderState};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use crate::Keeping;
use crate::agents::Agent;
use crate::config::{CommandConfig, Output, ProviderConfig};
use crate::failure;
use crate::http::Out;
use crate::lines::{Frames, Framing};
use crate::plain::{self, Plain};
use crate::processes::{self, Family, Mark};
use crate::{keeper, private, prompt, workspace};

/// Variables that every program gets; `*` ends a prefix.
const HARMLESS: [&str; 7] = ["PATH", "HOME", "LANG", "LC_*", "TERM", "TMPDIR", "USER"];
/// What a program may print in all, however little of it is the answer.
const STDOUT_BYTES: usize = 64 * limits::ANSWER_BYTES;
/// How long the last bytes may take after the program has ended.
const LAST_BYTES: Duration = Duration::from_millis(500);

/// Whether the program is there.
pub(crate) fn state(config: &ProviderConfig) -> ProviderState {
    let Some(command) = &config.command else {
        return ProviderState::Unusable {
            problem: format!("The provider `{}` names no program.", config.name),
            hint: format!("Set `program` or `preset` in [providers.{}].", config.name),
        };
    };
    match find_program(&command.program) {
        Some(_) => ProviderState::Ready {
            models: config.models.clone().unwrap_or_else(|| vec!["default".to_owned()]),
        },
        None => ProviderState::Unusable {
            problem: format!("There is no program `{}` on the PATH.", command.program),
            hint: format!(
                "Install `{}`, or set `program` in [providers.{}] to where it is.",
                command.program, config.name
            ),
        },
    }
}

/// Where a program is, whatever folder it will run in. A relative place on the PATH
/// means another folder wherever one stands, perhaps a stranger's: nothing is taken
/// from there.
pub fn find_program(program: &str) -> Option<PathBuf> {
    let runs = |path: &PathBuf| {
        path.metadata().is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return std::path::absolute(program).ok().filter(runs);
    }
    let path = std::env::var_os("PATH")?;
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    let mut candidates = folders.map(|folder| folder.join(program));
    candidates.find(runs)
}

/// Runs the program; it and all that it has started are killed with the stream.
pub(crate) fn ask(
    config: Arc<ProviderConfig>,
    keeping: Arc<Keeping>,
    ask: Ask,
) -> impl Stream<Item = Result<Piece, ModelError>> + Send + 'static {
    let call = Box::new(Call { config, keeping, ask, out: Out::default(), phase: Phase::Starting });
    stream::unfold(call, |mut call| async move {
        let item = call.next().await?;
        Some((item, call))
    })
}

struct Call {
    config: Arc<ProviderConfig>,
    keeping: Arc<Keeping>,
    ask: Ask,
    out: Out,
    phase: Phase,
}

enum Phase {
    Starting,
    Running(Box<Run>),
    Failed(ModelError),
    Over,
}

impl Call {
    async fn next(&mut self) -> Option<Result<Piece, ModelError>> {
        loop {
            if let Some(piece) = self.out.pieces.pop_front() {
                return Some(Ok(piece));
            }
            let result = match &mut self.phase {
                Phase::Starting => start(&self.config, &self.keeping, &self.ask).map(|run| {
                    self.phase = Phase::Running(Box::new(run));
                }),
                Phase::Running(run) => run.step(&self.config, &self.ask, &mut self.out).await,
                Phase::Failed(_) => {
                    let Phase::Failed(error) = std::mem::replace(&mut self.phase, Phase::Over)
                    else {
                        return None;
                    };
                    return Some(Err(error));
                }
                Phase::Over => return None,
            };
            match result {
                Err(error) => self.phase = Phase::Failed(error),
                Ok(()) if self.out.over => {
                    self.out.over = false;
                    self.out.pieces.push_back(Piece::End);
                    self.phase = Phase::Over;
                }
                Ok(()) => {}
            }
        }
    }
}

fn start(config: &ProviderConfig, keeping: &Keeping, ask: &Ask) -> Result<Run, ModelError> {
    let wrong = |message: String| failure::last(FailureKind::Misconfigured, message);
    let Some(command) = &config.command else {
        return Err(wrong(format!("The provider `{}` names no program.", config.name)));
    };
    let chosen = workspace::folder(config, command, ask.workspace.as_ref())?;
    let tools = workspace::tools(config, command, ask.workspace.as_ref())?;
    let Some(program) = find_program(&command.program) else {
        return Err(cannot_start(config, command, &io::ErrorKind::NotFound.into()));
    };
    let prompt = prompt::flat(ask);
    let model = Some(ask.model.parts().1).filter(|model| *model != "default");
    let (args, reads) = arguments(&command.args, model, tools.as_deref(), &prompt);
    let mark = Mark::new();
    let made = match &chosen {
        Some(_) => None,
        None => Some(
            private::make(&keeping.places, &mark)
                .map_err(|problem| workspace::no_private_folder(config, &problem))?,
        ),
    };
    let folder = chosen.or_else(|| made.clone()).unwrap_or_default();
    let start = Start { program, args, folder, env: environment(&command.env), reads };
    let (family, child) =
        start.spawn(keeping, mark, made).map_err(|error| cannot_start(config, command, &error))?;
    Ok(Run::new(command, family, child, prompt))
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
            FailureKind::TooLong,
            format!(
                "The prompt is too long to be an argument of `{program}`; leave out {{prompt}}, and it goes to its standard input."
            ),
        ),
        _ => failure::last(
            FailureKind::Misconfigured,
            format!("The program `{program}` of {name} cannot be started: {error}."),
        ),
    }
}

/// The arguments with their places filled, and whether the prompt goes to the
/// standard input.
fn arguments(
    templates: &[String],
    model: Option<&str>,
    tools: Option<&str>,
    prompt: &str,
) -> (Vec<String>, bool) {
    let mut args: Vec<String> = Vec::with_capacity(templates.len());
    let names = tools.map(workspace::without_rules).unwrap_or_default();
    for template in templates {
        let empty = [("{model}", model), ("{tools}", tools)]
            .into_iter()
            .find(|(place, value)| value.is_none() && template.contains(place));
        if let Some((place, _)) = empty {
            if args.last().is_some_and(|flag| flag.starts_with('-')) && template == place {
                args.pop();
            }
            continue;
        }
        // The prompt goes in last, so that nothing in it is taken for a place.
        let filled = template
            .replace("{model}", model.unwrap_or_default())
            .replace("{tool-names}", &names)
            .replace("{tools}", tools.unwrap_or_default())
            .replace("{prompt}", prompt);
        args.push(filled);
    }
    (args, !templates.iter().any(|one| one.contains("{prompt}")))
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
                command.args(order.arguments()).env_clear().stdin(Stdio::piped());
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
            .spawn()
            .inspect_err(|_| {
                let _ = made.as_deref().map(std::fs::remove_dir_all);
            })?;
        let family = match &keeping.keeper {
            Some(_) => Family::kept(mark, made),
            None => Family::group(child.id(), mark, made),
        };
        Ok((family, child))
    }
}

fn environment(allowed: &[String]) -> Vec<(OsString, OsString)> {
    let fits = |name: &str, pattern: &str| match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == pattern,
    };
    let allows = |name: &str| {
        HARMLESS.iter().any(|pattern| fits(name, pattern))
            || allowed.iter().any(|pattern| fits(name, pattern))
    };
    let all = std::env::vars_os();
    all.filter(|(name, _)| name.to_str().is_some_and(allows)).collect()
}

/// A program that does not read its input to the end is no failure by itself.
async fn write(mut stdin: ChildStdin, prompt: String, kept: bool) {
    if kept {
        let _ = stdin.write_all(&keeper::message(&prompt)).await;
        // The keeper takes the end of its input for the end of the call.
        return std::future::pending().await;
    }
    let _ = stdin.write_all(prompt.as_bytes()).await;
    let _ = stdin.shutdown().await;
}

/// The end of what a program prints to its standard error.
type Complaints = Arc<Mutex<Vec<u8>>>;

async fn listen(mut stderr: ChildStderr, complaints: Complaints) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        let mut kept = complaints.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&buffer[..count]);
        let surplus = kept.len().saturating_sub(limits::COMMAND_STDERR_BYTES);
        kept.drain(..surplus);
    }
}

enum Reader {
    Text(Plain),
    JsonLines { frames: Box<Frames>, agent: Box<Agent> },
}

impl Reader {
    fn new(output: Output) -> Self {
        match output {
            Output::Text => Reader::Text(Plain::default()),
            Output::JsonLines => Reader::JsonLines {
                frames: Box::new(Frames::new(Framing::Lines)),
                agent: Box::default(),
            },
        }
    }

    /// Takes what was printed, or with `None` its end.
    fn take(
        &mut self,
        config: &ProviderConfig,
        bytes: Option<&[u8]>,
        out: &mut Out,
    ) -> Result<(), ModelError> {
        match self {
            Reader::Text(plain) => {
                let text = match bytes {
                    Some(bytes) => plain.push(bytes).map(Some),
                    None => plain.finish().map(|()| None),
                };
                out.text(text.map_err(|_| failure::not_text(config))?);
                Ok(())
            }
            Reader::JsonLines { frames, agent } => {
                let mut take = |line: &[u8]| {
                    agent.line(line, out);
                    Ok::<(), ()>(())
                };
                let result = match bytes {
                    Some(bytes) => frames.push(bytes, &mut take),
                    None => frames.finish(&mut take),
                };
                result.map_err(|_| failure::frame_too_long(config))
            }
        }
    }
}

/// A program that runs. The family is the first field, so that it is killed
/// before the child is dropped.
struct Run {
    family: Family,
    child: Child,
    stdout: Option<ChildStdout>,
    exit: Option<ExitStatus>,
    reader: Reader,
    read: usize,
    said: usize,
    complaints: Complaints,
    listening: Option<JoinHandle<()>>,
    writing: Option<JoinHandle<()>>,
    deadline: Instant,
    buffer: Vec<u8>,
}

impl Drop for Run {
    fn drop(&mut self) {
        let tasks = [self.listening.take(), self.writing.take()];
        tasks.iter().flatten().for_each(JoinHandle::abort);
    }
}

impl Run {
    fn new(command: &CommandConfig, family: Family, mut child: Child, prompt: String) -> Run {
        let kept = family.is_kept();
        let writing = child.stdin.take().map(|stdin| tokio::spawn(write(stdin, prompt, kept)));
        let complaints = Complaints::default();
        let listening =
            child.stderr.take().map(|stderr| tokio::spawn(listen(stderr, complaints.clone())));
        Run {
            family,
            stdout: child.stdout.take(),
            child,
            exit: None,
            reader: Reader::new(command.output),
            read: 0,
            said: 0,
            complaints,
            listening,
            writing,
            deadline: Instant::now() + Duration::from_millis(command.limit_ms),
            buffer: vec![0; 16 * 1024],
        }
    }

    /// Waits for the next thing to happen: output, the end, or too much time.
    async fn step(
        &mut self,
        config: &ProviderConfig,
        ask: &Ask,
        out: &mut Out,
    ) -> Result<(), ModelError> {
        let output = async {
            match &mut self.stdout {
                Some(stdout) => stdout.read(&mut self.buffer).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            count = output => match count {
                Ok(count @ 1..) => self.take(config, ask, count, out)?,
                Ok(0) | Err(_) => self.stdout = None,
            },
            status = self.child.wait(), if self.exit.is_none() => {
                let status = status.map_err(|error| {
                    let message = format!("{} cannot be waited for: {error}.", config.name);
                    failure::retry(FailureKind::Unreachable, message)
                })?;
                self.exit = Some(status);
                self.family.ended(status.code().is_some());
                self.deadline = Instant::now() + LAST_BYTES;
            }
            () = sleep_until(self.deadline) => match self.exit {
                Some(_) => self.stdout = None,
                None => return Err(self.out_of_time(config)),
            },
        }
        match (self.exit, &self.stdout) {
            (Some(exit), None) => self.conclude(config, ask, exit, out).await,
            (Some(_), Some(_)) | (None, _) => Ok(()),
        }
    }

    fn take(
        &mut self,
        config: &ProviderConfig,
        ask: &Ask,
        count: usize,
        out: &mut Out,
    ) -> Result<(), ModelError> {
        self.read += count;
        let before = out.pieces.len();
        self.reader.take(config, Some(&self.buffer[..count]), out)?;
        for piece in out.pieces.range(before..) {
            if let Piece::Text(text) | Piece::Reasoning(text) = piece {
                self.said += text.len();
            }
        }
        let limit = ask.patience.answer_bytes.min(limits::ANSWER_BYTES);
        if self.said > limit || self.read > STDOUT_BYTES {
            let message =
                format!("{} printed more than {limit} bytes and was stopped.", config.name);
            return Err(failure::last(FailureKind::TooLong, message));
        }
        Ok(())
    }

    fn out_of_time(&self, config: &ProviderConfig) -> ModelError {
        let limit = config.command.as_ref().map_or(0, |command| command.limit_ms);
        let limit = Duration::from_millis(limit).as_secs_f64();
        let message = format!("{} did not finish within {limit} s and was stopped.", config.name);
        failure::last(FailureKind::TimedOut, message)
    }

    async fn conclude(
        &mut self,
        config: &ProviderConfig,
        ask: &Ask,
        exit: ExitStatus,
        out: &mut Out,
    ) -> Result<(), ModelError> {
        let model = ask.model.parts().1;
        let rest = self.reader.take(config, None, out);
        if !exit.success() {
            let words = self.last_words().await;
            return Err(ended_badly(config, model, exit, &words));
        }
        rest?;
        if let Reader::JsonLines { agent, .. } = &mut self.reader
            && let Some(words) = agent.failure()
        {
            return Err(failure::told(config, model, &words, FailureKind::Refused));
        }
        out.over = true;
        Ok(())
    }

    /// Why it failed, in its own words.
    async fn last_words(&mut self) -> String {
        if let Reader::JsonLines { agent, .. } = &mut self.reader
            && let Some(words) = agent.last_words()
        {
            return words;
        }
        if let Some(listening) = &mut self.listening {
            let _ = timeout(LAST_BYTES, listening).await;
            self.listening = None;
        }
        let complaints = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        let text = plain::lossy(&complaints);
        // The reason tends to stand in the last lines.
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        lines[lines.len().saturating_sub(3)..].join(" ")
    }
}

fn ended_badly(config: &ProviderConfig, model: &str, exit: ExitStatus, words: &str) -> ModelError {
    match exit.code() {
        Some(code) => {
            let words = match words.is_empty() {
                true => format!("exit code {code}"),
                false => format!("exit code {code}, {words}"),
            };
            failure::told(config, model, &words, FailureKind::Misconfigured)
        }
        None => failure::retry(
            FailureKind::Unreachable,
            format!("The program of {} was ended by a signal.", config.name),
        ),
    }
}
