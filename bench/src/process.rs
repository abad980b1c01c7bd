//! Other processes: their start and end, their processor time and memory.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::signal::{Signal, kill};
use nix::sys::time::TimeValLike as _;
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

use crate::Outcome;

/// Names the program that is measured, such as an older one.
pub fn measure(program: PathBuf) {
    let _ = PROGRAM.set(program);
}

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// The program that is measured: the one that was built beside this, unless another
/// was named.
pub fn plenary() -> Outcome<PathBuf> {
    let path = match PROGRAM.get() {
        // It is started in folders of its own.
        Some(named) => std::path::absolute(named)?,
        None => std::env::current_exe()?.with_file_name("plenary"),
    };
    match path.is_file() {
        true => Ok(path),
        false => {
            Err(format!("{} is not there; cargo build --release -p plenary", path.display()).into())
        }
    }
}

/// A running child. It is killed when it is dropped.
pub struct Process {
    child: Child,
    /// Held so that the child can go on printing.
    _out: Option<BufReader<ChildStdout>>,
}

impl Process {
    pub fn start(command: &mut Command) -> Outcome<Process> {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
        Ok(Process { child, _out: None })
    }

    /// Starts a server, which prints its address as the last word of a line.
    pub fn start_server(command: &mut Command) -> Outcome<(Process, String)> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut out = BufReader::new(child.stdout.take().ok_or("no standard output")?);
        let mut line = String::new();
        out.read_line(&mut line)?;
        let process = Process { child, _out: Some(out) };
        match line.split_whitespace().last() {
            Some(url) => Ok((process, url.to_owned())),
            None => Err("a server ended before it said where it listens".into()),
        }
    }

    /// Processor time of all its threads since its start.
    pub fn cpu(&self) -> Outcome<Duration> {
        let clock = clock_getcpuclockid(Pid::from_raw(self.child.id() as i32))?;
        Ok(clock_gettime(clock)?.into())
    }

    pub fn memory(&self) -> Outcome<Memory> {
        memory_of(&self.child.id().to_string())
    }

    /// Asks it to end, and waits for that.
    pub fn stop(mut self) -> Outcome<()> {
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM)?;
        self.child.wait()?;
        Ok(())
    }

    /// `kill -9`, and waits until nothing of it is left.
    pub fn kill(mut self) -> Outcome<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Clone, Copy)]
pub struct Memory {
    pub now_kb: u64,
    pub peak_kb: u64,
}

/// Runs a child to its end: what it printed, and the processor time it took.
pub fn to_the_end(command: &mut Command) -> Outcome<(String, Duration)> {
    let before = cpu_of(UsageWho::RUSAGE_CHILDREN)?;
    let output = command.stdin(Stdio::null()).output()?;
    let cpu = cpu_of(UsageWho::RUSAGE_CHILDREN)?.saturating_sub(before);
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("a child ended with {}: {said}", output.status).into());
    }
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), cpu))
}

pub fn own_memory() -> Outcome<Memory> {
    memory_of("self")
}

fn memory_of(process: &str) -> Outcome<Memory> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let kilobytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        number.ok_or_else(|| format!("/proc does not tell {name}"))
    };
    Ok(Memory { now_kb: kilobytes("VmRSS:")?, peak_kb: kilobytes("VmHWM:")? })
}

/// Processor time of this process.
pub fn own_cpu() -> Outcome<Duration> {
    cpu_of(UsageWho::RUSAGE_SELF)
}

/// Processor time of everything on this machine since it started: others may use
/// it too, and a figure is worth little without knowing how much of it they took.
pub fn machine_cpu() -> Outcome<Duration> {
    let stat = std::fs::read_to_string("/proc/stat")?;
    let line = stat.lines().next().ok_or("/proc/stat is empty")?;
    let ticks: Vec<u64> = line.split_whitespace().skip(1).flat_map(str::parse).collect();
    let [user, nice, system, _idle, _io_wait, interrupts, soft, ..] = ticks.as_slice() else {
        return Err("/proc/stat is short".into());
    };
    // A tick is 10 ms on every Linux that a program can see.
    Ok(Duration::from_millis(10 * (user + nice + system + interrupts + soft)))
}

fn cpu_of(who: UsageWho) -> Outcome<Duration> {
    let usage: Usage = getrusage(who)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Duration::from_micros(micros as u64))
}
