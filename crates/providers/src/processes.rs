//! The processes of one call, and the end of all of them.

use std::ffi::OsString;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// The variable that marks all processes of one call. A descendant inherits it
/// even when it leaves the process group with `setsid`.
const MARK: &str = "PLENARY_CALL";
/// Each round finds what the processes of the round before have started.
const ROUNDS: usize = 4;

/// A name for one call that no other call on this machine has.
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        Mark(format!("{}-{}-{count}", std::process::id(), now.as_nanos()))
    }

    pub(crate) fn variable(&self) -> (&'static str, OsString) {
        (MARK, self.0.clone().into())
    }
}

/// A process group with everything that it has started. All of it is killed when
/// this is dropped.
pub(crate) struct Family {
    leader: Option<Pid>,
    mark: Mark,
}

impl Family {
    pub(crate) fn new(leader: Option<u32>, mark: Mark) -> Self {
        let leader = leader.and_then(|id| Pid::from_raw(id.cast_signed()));
        Family { leader, mark }
    }

    /// Kills the group, and then the descendants that have left it, who are found
    /// by their mark. This takes a few milliseconds and is worth them: when it
    /// returns, also at the end of the program, nothing is left behind.
    pub(crate) fn kill(&mut self) {
        let Some(leader) = self.leader.take() else {
            return;
        };
        let _ = kill_process_group(leader, Signal::KILL);
        kill_marked(&self.mark);
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        self.kill();
    }
}

fn kill_marked(mark: &Mark) {
    for _ in 0..ROUNDS {
        let found = marked(mark);
        if found.is_empty() {
            return;
        }
        for process in found {
            let _ = kill_process(process, Signal::KILL);
        }
    }
}

/// Processes whose environment has the mark. Where there is no `/proc` nothing is
/// found, and only the process group is killed.
fn marked(mark: &Mark) -> Vec<Pid> {
    let wanted = format!("{MARK}={}", mark.0);
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let has_mark = |id: &i32| {
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes())
    };
    ids.filter(has_mark).filter_map(Pid::from_raw).collect()
}
