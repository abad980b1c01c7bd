//! How many threads the engine gets.
//!
//! Its threads wait for each other by spinning, some hundred times for each token. Where one has
//! lost its core to another program, all of them stand still and burn theirs: two threads on two
//! cores that others use are slower than one by far. So it gets as many as others leave free.

use std::fs;
use std::time::{Duration, Instant};

/// More do not make it faster: by then memory is what it waits for.
const MOST: usize = 16;
/// A shorter look says little: the system counts in hundredths of a second.
const LOOK: Duration = Duration::from_millis(250);
/// What was seen over a longer time says nothing of now.
const STALE: Duration = Duration::from_secs(2);
/// Others may use this much of a core that counts as free.
const SPARE: f64 = 0.4;

/// Looks at what the machine does beside this process.
pub struct Machine {
    cores: usize,
    set: Option<usize>,
    last: Option<(Instant, Ticks)>,
}

/// Hundredths of a second.
#[derive(Clone, Copy)]
struct Ticks {
    all: u64,
    own: u64,
}

impl Machine {
    pub fn new() -> Self {
        let set = std::env::var("PLENARY_LOCAL_THREADS").ok().and_then(|n| n.parse().ok());
        let set = set.filter(|threads| *threads > 0);
        Machine { cores: cores(), set, last: ticks().map(|ticks| (Instant::now(), ticks)) }
    }

    /// Threads that fit the machine now. Waits for a moment where nothing was seen just now.
    pub fn threads(&mut self) -> usize {
        if let Some(threads) = self.set {
            return threads;
        }
        if self.last.is_some_and(|(at, _)| at.elapsed() > STALE) {
            self.looked();
        }
        let waited = self.last.map(|(at, _)| at.elapsed());
        if let Some(rest) = waited.and_then(|waited| LOOK.checked_sub(waited)) {
            std::thread::sleep(rest);
        }
        self.looked().unwrap_or_else(|| (self.cores - 1).clamp(1, MOST))
    }

    /// Where others than these would fit. Waits only if it seems so.
    pub fn others_than(&mut self, threads: usize) -> Option<usize> {
        let is_late = self.last.is_some_and(|(at, _)| at.elapsed() >= STALE);
        if !is_late || self.set.is_some() || self.looked()? == threads {
            return None;
        }
        Some(self.threads()).filter(|now| *now != threads)
    }

    fn looked(&mut self) -> Option<usize> {
        let (now, new) = (Instant::now(), ticks()?);
        let (then, old) = self.last.replace((now, new))?;
        let all = new.all.saturating_sub(old.all);
        let others = all.saturating_sub(new.own.saturating_sub(old.own));
        let busy = others as f64 / 100.0 / (now - then).as_secs_f64();
        Some(fit(self.cores, busy))
    }
}

/// One for each core that others leave free, and at least one.
fn fit(cores: usize, busy: f64) -> usize {
    let free = (cores as f64 - busy + SPARE).floor();
    (free.max(1.0) as usize).clamp(1, cores.min(MOST))
}

/// Cores, not the threads that some of them run two of: the engine gains nothing by those.
fn cores() -> usize {
    let allowed = std::thread::available_parallelism().map_or(1, usize::from);
    let siblings = |n: usize| {
        let file = format!("/sys/devices/system/cpu/cpu{n}/topology/thread_siblings_list");
        fs::read_to_string(file).ok()
    };
    let mut found: Vec<String> = (0..allowed).filter_map(siblings).collect();
    found.sort();
    found.dedup();
    if found.is_empty() { allowed } else { found.len().min(allowed) }
}

/// Where the system tells: what all processes have used, and this one.
fn ticks() -> Option<Ticks> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let own = fs::read_to_string("/proc/self/stat").ok()?;
    read(&stat, &own)
}

fn read(stat: &str, own: &str) -> Option<Ticks> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let used: Vec<u64> = line.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    // User, nice, system, then idle and waiting, then interrupts and what a host has taken.
    let all = used.iter().take(3).chain(used.iter().skip(5).take(3)).sum();
    // A program's name stands in brackets and may hold anything.
    let fields: Vec<&str> = own.rsplit_once(')')?.1.split_whitespace().collect();
    let field = |n: usize| fields.get(n)?.parse::<u64>().ok();
    Some(Ticks { all, own: field(11)? + field(12)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_the_cores_that_others_leave() {
        for (cores, busy, threads) in [
            (2, 0.0, 2),
            (2, 0.3, 2),
            (2, 0.7, 1),
            (2, 4.0, 1),
            (1, 0.0, 1),
            (8, 0.1, 8),
            (8, 2.5, 5),
            (64, 0.0, 16),
        ] {
            assert_eq!(fit(cores, busy), threads, "{busy} of {cores} cores busy");
        }
    }

    #[test]
    fn what_processes_have_used_is_read() {
        let stat = "cpu  100 20 30 4000 500 6 7 8 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        let own = "17 (a b) c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14";
        let ticks = read(stat, own).unwrap();
        assert_eq!((ticks.all, ticks.own), (100 + 20 + 30 + 6 + 7 + 8, 11 + 12));
    }
}
