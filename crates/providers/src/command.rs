//! A command-line agent: a program that reads a prompt and prints an answer.

use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::stream::{self, Stream};
use plenary_domain::{Ask, FailureKind, limits};
use plenary_engine::ports::{Ending, ModelError, Piece, ProviderState};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use crate::Keeping;
use crate::agents::Agent;
use crate::config::{Output, ProviderConfig};
use crate::failure;
use crate::http::Out;
use crate::keeper;
use crate::lines::{Frames, Framing};
use crate::plain::{self, Plain};
use crate::processes::Family;
use crate::start::{self, Started, find_program};

/// What a program may print in all, however little of it is the answer.
const STDOUT_BYTES: usize = 64 * limits::ANSWER_BYTES;
/// Text that it may print: whoever asks makes an answer of it, and leaves the rest out.
const SAID_BYTES: usize = limits::ANSWER_BYTES + limits::THINKING_BYTES;
/// How long the last bytes may take after the program has ended.
const LAST_BYTES: Duration = Duration::from_millis(500);

/// Whether the program is there.
pub(crate) fn state(config: &ProviderConfig) -> ProviderState {
    let Some(command) = &config.command else {
        return ProviderState::Unusable {
            problem: format!("The provider `{}` names no program.", config.name),
            hint: format!("Set `program` or `preset` in [providers.{}].", config.name),
            passes: false,
        };
    };
    match find_program(&command.program) {
        Some(_) => ProviderState::Ready {
            models: config.models.clone().unwrap_or_else(|| vec!["default".to_owned()]),
        },
        None => ProviderState::Unusable {
            problem: format!("There is no program `{}` on the PATH.", command.program),
            hint: format!(
                "Install `{}`, or set `program` in [providers.{}] to its path.",
                command.program, config.name
            ),
            passes: false,
        },
    }
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
                Phase::Starting => {
                    start::start(&self.config, &self.keeping, &self.ask).map(|started| {
                        self.phase = Phase::Running(Box::new(Run::new(started)));
                    })
                }
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
                Ok(()) => {
                    if let Some(ending) = self.out.over.take() {
                        self.out.pieces.push_back(Piece::End(ending));
                        self.phase = Phase::Over;
                    }
                }
            }
        }
    }
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

    fn is_cut(&self) -> bool {
        match self {
            Reader::Text(_) => false,
            Reader::JsonLines { agent, .. } => agent.is_cut(),
        }
    }

    fn has_asked_again(&self) -> bool {
        match self {
            Reader::Text(_) => false,
            Reader::JsonLines { agent, .. } => agent.has_asked_again(),
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
    fn new(started: Started) -> Run {
        let Started { family, mut child, prompt, output, limit } = started;
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
            reader: Reader::new(output),
            read: 0,
            said: 0,
            complaints,
            listening,
            writing,
            deadline: Instant::now() + limit,
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
                Ok(count @ 1..) => self.take(config, count, out)?,
                Ok(0) | Err(_) => self.stdout = None,
            },
            status = self.child.wait(), if self.exit.is_none() => {
                let status = status.map_err(|error| {
                    let message = format!("Waiting for {} failed: {error}.", config.name);
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
        count: usize,
        out: &mut Out,
    ) -> Result<(), ModelError> {
        self.read += count;
        let before = out.pieces.len();
        self.reader.take(config, Some(&self.buffer[..count]), out)?;
        for piece in out.pieces.range_mut(before..) {
            match piece {
                Piece::Retrying { reason, .. } => *reason = failure::asks_again(config, reason),
                Piece::Text(text) => self.said += text.len(),
                Piece::Reasoning(_)
                | Piece::Usage(_)
                | Piece::Waiting { .. }
                | Piece::Busy
                | Piece::End(_) => {}
            }
        }
        if self.read > STDOUT_BYTES {
            let message =
                format!("{} printed more than {STDOUT_BYTES} bytes and was stopped.", config.name);
            return Err(failure::last(FailureKind::ProviderError, message));
        }
        // The program is not waited for once its answer is cut: it would go on.
        let is_cut = self.reader.is_cut() || self.said > SAID_BYTES;
        out.over = is_cut.then_some(Ending::Cut);
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
        let rest = self.reader.take(config, None, out);
        if self.reader.is_cut() {
            out.over = Some(Ending::Cut);
            return Ok(());
        }
        let result = self.judge(config, ask.model.parts().1, exit, rest).await;
        result.map_err(|error| match (error, self.reader.has_asked_again()) {
            (ModelError::Retry { kind, message, .. }, true) => failure::last(kind, message),
            (error, _) => error,
        })?;
        out.over = Some(Ending::Whole);
        Ok(())
    }

    /// Whether it ended well.
    async fn judge(
        &mut self,
        config: &ProviderConfig,
        model: &str,
        exit: ExitStatus,
        rest: Result<(), ModelError>,
    ) -> Result<(), ModelError> {
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
            format!("The program of {} was killed by a signal.", config.name),
        ),
    }
}
