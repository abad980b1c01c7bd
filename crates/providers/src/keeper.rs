//! The keeper of one agent: a process between Plenary and the program, which ends
//! the program and all that it has started when Plenary goes, however it goes.
//!
//! Plenary is the only one that holds the other end of the keeper's standard input,
//! so that input ends when the call is dropped and when Plenary is killed. The
//! parent-death signal would not do: it comes when the *thread* that started the
//! keeper ends. As a subreaper the keeper becomes the parent of every descendant
//! whose own parent dies, so that none can leave it by `setsid`, a second fork or
//! an empty environment. It speaks to nobody: the program inherits its output.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, wait};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::process::{Child, ChildStdin, Command};
use tokio::signal::unix::{SignalKind, signal};

use crate::processes;

/// The first argument of a program that is to be a keeper.
pub const KEEPER: &str = "__agent";
/// The exit code of a keeper that could not start the program.
const CANNOT_START: u8 = 126;
/// A process that cannot be killed, such as one of another user, is waited for
/// no longer than this.
const LAST_RITES: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// What a keeper has to know; its arguments after the first.
pub(crate) struct Order {
    /// Marks the processes of the program, and not the keeper: who looks for
    /// orphans must not end it before it has done its work.
    pub mark: String,
    /// The folder to remove at the end.
    pub folder: Option<PathBuf>,
    /// Whether the program reads the prompt; it comes to the keeper with its length
    /// in front.
    pub reads: bool,
    pub program: OsString,
    pub args: Vec<OsString>,
}

impl Order {
    pub(crate) fn arguments(self) -> Vec<OsString> {
        let folder = self.folder.unwrap_or_default().into_os_string();
        let reads = if self.reads { "reads" } else { "" };
        let head = [KEEPER.into(), self.mark.into(), folder, reads.into(), self.program];
        head.into_iter().chain(self.args).collect()
    }

    fn read(mut arguments: impl Iterator<Item = OsString>) -> Option<Order> {
        let mark = arguments.next()?.into_string().ok()?;
        let folder = Some(PathBuf::from(arguments.next()?)).filter(|one| one.is_absolute());
        let reads = arguments.next()? == "reads";
        let program = arguments.next()?;
        Some(Order { mark, folder, reads, program, args: arguments.collect() })
    }
}

/// The prompt as it goes to a keeper. What follows it is the end of the call.
pub(crate) fn message(prompt: &str) -> Vec<u8> {
    let mut message = (prompt.len() as u64).to_be_bytes().to_vec();
    message.extend_from_slice(prompt.as_bytes());
    message
}

/// Runs as a keeper with these arguments, which follow [`KEEPER`], and returns the
/// exit code. A program that a signal has ended ends the keeper so too.
pub fn keep(arguments: impl Iterator<Item = OsString>) -> u8 {
    let Some(order) = Order::read(arguments) else {
        return complain("this is for Plenary itself: it starts agents by it");
    };
    let folder = order.folder.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let ended = runtime.and_then(|runtime| runtime.block_on(run(order)));
    if let Some(folder) = folder {
        let _ = std::fs::remove_dir_all(folder);
    }
    match ended {
        Ok(status) => match status.code() {
            Some(code) => u8::try_from(code).unwrap_or(1),
            None => {
                let this = Pid::from_raw(std::process::id().cast_signed());
                let _ = this.map(|this| kill_process(this, Signal::KILL));
                1
            }
        },
        Err(error) => complain(&format!("it cannot be started: {error}")),
    }
}

fn complain(words: &str) -> u8 {
    let _ = writeln!(io::stderr(), "{words}");
    CANNOT_START
}

async fn run(order: Order) -> io::Result<ExitStatus> {
    adopt()?;
    let (name, value) = processes::variable(order.mark);
    let mut child = Command::new(order.program)
        .args(order.args)
        .env(name, value)
        .stdin(if order.reads { Stdio::piped() } else { Stdio::null() })
        .process_group(0)
        .spawn()?;
    let leader = child.id();
    let status = watch(&mut child).await;
    end_all(leader);
    status
}

/// Makes this process the parent of every descendant that loses its own.
#[cfg(target_os = "linux")]
fn adopt() -> io::Result<()> {
    let this = Pid::from_raw(std::process::id().cast_signed());
    Ok(rustix::process::set_child_subreaper(this)?)
}

#[cfg(not(target_os = "linux"))]
fn adopt() -> io::Result<()> {
    Ok(())
}

/// Waits for the program, or for the end of the call.
async fn watch(child: &mut Child) -> io::Result<ExitStatus> {
    let told = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned()?;
    let told = pipe::Receiver::from_owned_fd(told)?;
    let stdin = child.stdin.take();
    let [mut terminate, mut hang_up, mut interrupt] = [
        signal(SignalKind::terminate())?,
        signal(SignalKind::hangup())?,
        signal(SignalKind::interrupt())?,
    ];
    let dropped = || Ok(ExitStatus::from_raw(Signal::KILL.as_raw()));
    tokio::select! {
        status = child.wait() => status,
        () = pass_on(told, stdin) => dropped(),
        _ = terminate.recv() => dropped(),
        _ = hang_up.recv() => dropped(),
        _ = interrupt.recv() => dropped(),
    }
}

/// Passes the prompt on, and returns when the call is over.
async fn pass_on(mut told: pipe::Receiver, stdin: Option<ChildStdin>) {
    let Ok(length) = told.read_u64().await else {
        return;
    };
    // All of it first: a program that does not read must not hold up the news that
    // the call is over.
    let mut prompt = Vec::new();
    let whole = (&mut told).take(length).read_to_end(&mut prompt).await;
    if !whole.is_ok_and(|read| read as u64 == length) {
        return;
    }
    let write = async {
        if let Some(mut stdin) = stdin {
            // One that does not read to the end is no failure by itself.
            let _ = stdin.write_all(&prompt).await;
            let _ = stdin.shutdown().await;
        }
        std::future::pending().await
    };
    let mut rest = [0; 1];
    tokio::select! {
        () = write => {}
        _ = told.read(&mut rest) => {}
    }
}

/// Kills until nothing is left. What is killed leaves its children to this
/// process, so that the next round finds them.
fn end_all(leader: Option<u32>) {
    let leader = leader.and_then(|id| Pid::from_raw(id.cast_signed()));
    // Where nobody can adopt, the group is all that can be found.
    if let Some(leader) = leader.filter(|_| !cfg!(target_os = "linux")) {
        let _ = kill_process_group(leader, Signal::KILL);
    }
    let began = Instant::now();
    let mut pause = Duration::from_millis(1);
    while began.elapsed() < LAST_RITES {
        for process in processes::descendants() {
            let _ = kill_process(process, Signal::KILL);
        }
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
