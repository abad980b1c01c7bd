//! The processes of one call, and the end of all of them.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, Signal, geteuid, kill_process, kill_process_group, test_kill_process};

/// The variable that marks all processes of one call. A descendant inherits it
/// even when it leaves the process group with `setsid`.
pub(crate) const MARK: &str = "PLENARY_CALL";
/// Each round finds what the processes of the round before have started.
const ROUNDS: usize = 4;

/// A name for one call that no other call on this machine has. It tells which
/// process owns the call, so that one whose owner has died can be recognised.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Mark {
    owner: Owner,
    count: u64,
}

/// A process, told from a later one with the same number by its start, and from
/// one in another container by its namespace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Owner {
    namespace: u64,
    id: u32,
    started: u64,
}

impl Mark {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        Mark { owner: Owner::this(), count: COUNT.fetch_add(1, Ordering::Relaxed) }
    }

    pub(crate) fn word(&self) -> String {
        let Owner { namespace, id, started } = self.owner;
        format!("{namespace}-{id}-{started}-{}", self.count)
    }

    pub(crate) fn read(word: &str) -> Option<Self> {
        let mut parts = word.split('-');
        let mut next = || parts.next()?.parse::<u64>().ok();
        let (namespace, id, started, count) = (next()?, next()?, next()?, next()?);
        let owner = Owner { namespace, id: u32::try_from(id).ok()?, started };
        parts.next().is_none().then_some(Mark { owner, count })
    }

    /// Whoever made this mark has died. False when that cannot be known.
    pub(crate) fn is_orphaned(&self) -> bool {
        self.owner.namespace == Owner::this().namespace && !self.owner.lives()
    }
}

impl Owner {
    fn this() -> Owner {
        static THIS: OnceLock<Owner> = OnceLock::new();
        *THIS.get_or_init(|| {
            let id = std::process::id();
            let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
            let digits = |letter: &char| letter.is_ascii_digit();
            let namespace: String = namespace.to_string_lossy().chars().filter(digits).collect();
            let started = Stat::of(id).map_or(0, |stat| stat.started);
            Owner { namespace: namespace.parse().unwrap_or(0), id, started }
        })
    }

    fn lives(self) -> bool {
        match (Stat::of(self.id), Stat::of(std::process::id())) {
            (Some(stat), _) => stat.started == self.started,
            (None, Some(_)) => false,
            // There is no `/proc` here.
            (None, None) => pid(self.id).is_some_and(|id| test_kill_process(id).is_ok()),
        }
    }
}

fn pid(id: u32) -> Option<Pid> {
    Pid::from_raw(id.cast_signed())
}

/// What `/proc` tells of a process.
struct Stat {
    parent: u32,
    started: u64,
}

impl Stat {
    fn of(id: u32) -> Option<Stat> {
        let line = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name before it may hold anything, brackets too.
        let mut fields = line[line.rfind(')')? + 1..].split_whitespace();
        let parent = fields.nth(1)?.parse().ok()?;
        let started = fields.nth(17)?.parse().ok()?;
        Some(Stat { parent, started })
    }
}

/// All processes that `/proc` shows; none where there is none.
fn all() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// All that this process has started and that what it started has started. As a
/// subreaper it is also the parent of those whose own parent has died.
pub(crate) fn descendants() -> Vec<Pid> {
    let parents: Vec<(u32, u32)> =
        all().filter_map(|id| Some((id, Stat::of(id)?.parent))).collect();
    let mut found = vec![std::process::id()];
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        at += 1;
        found.extend(parents.iter().filter(|(_, one)| *one == parent).map(|(id, _)| *id));
    }
    found.into_iter().skip(1).filter_map(pid).collect()
}

/// The processes of one call, ended with it.
pub(crate) struct Family {
    mark: Mark,
    kind: Kind,
    /// The folder that was made for the call.
    folder: Option<PathBuf>,
}

#[derive(Clone, Copy)]
enum Kind {
    /// A keeper has started the program, and ends all of it when its pipe closes.
    Kept,
    /// The program leads this group. `None`: it was ended.
    Group(Option<Pid>),
}

impl Family {
    pub(crate) fn kept(mark: Mark, folder: Option<PathBuf>) -> Self {
        Family { mark, kind: Kind::Kept, folder }
    }

    pub(crate) fn group(leader: Option<u32>, mark: Mark, folder: Option<PathBuf>) -> Self {
        Family { mark, kind: Kind::Group(leader.and_then(pid)), folder }
    }

    pub(crate) fn is_kept(&self) -> bool {
        match self.kind {
            Kind::Kept => true,
            Kind::Group(_) => false,
        }
    }

    /// The process that was started has ended; `well`, if not by a signal. A keeper
    /// that ended well has left nothing. Whatever else is left holds the output open
    /// and is not ours to keep.
    pub(crate) fn ended(&mut self, well: bool) {
        match self.kind {
            Kind::Kept if well => self.folder = None,
            Kind::Kept => {
                self.kill_marked();
                self.remove_folder();
            }
            Kind::Group(_) => self.kill(),
        }
    }

    /// Kills the group, and then the descendants that have left it, who are found
    /// by their mark.
    fn kill(&mut self) {
        let Kind::Group(leader) = &mut self.kind else {
            return;
        };
        let Some(leader) = leader.take() else {
            return;
        };
        let _ = kill_process_group(leader, Signal::KILL);
        self.kill_marked();
        self.remove_folder();
    }

    fn kill_marked(&self) {
        kill_those(|mark| *mark == self.mark);
    }

    /// What a process that is about to die writes meanwhile stays, and is removed
    /// with the next start.
    fn remove_folder(&mut self) {
        if let Some(folder) = self.folder.take() {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Kills what calls of processes that have died have left running.
pub(crate) fn end_orphans() {
    kill_those(Mark::is_orphaned);
}

fn kill_those(wanted: impl Fn(&Mark) -> bool) {
    let spared = ourselves();
    for _ in 0..ROUNDS {
        let found = marked(&wanted);
        let mut found = found.iter().filter(|id| !spared.contains(id)).peekable();
        if found.peek().is_none() {
            return;
        }
        for process in found.filter_map(|id| pid(*id)) {
            let _ = kill_process(process, Signal::KILL);
        }
    }
}

/// This process and those that it was started by, who may bear a mark too: an
/// agent may start Plenary.
fn ourselves() -> Vec<u32> {
    let this = std::process::id();
    std::iter::successors(Some(this), |id| Stat::of(*id).map(|stat| stat.parent)).collect()
}

/// Processes of this user whose environment has such a mark.
fn marked(wanted: impl Fn(&Mark) -> bool) -> Vec<u32> {
    let user = geteuid().as_raw();
    let has_mark = |id: &u32| {
        let place = PathBuf::from(format!("/proc/{id}"));
        if !std::fs::metadata(&place).is_ok_and(|found| found.uid() == user) {
            return false;
        }
        let environment = std::fs::read(place.join("environ")).unwrap_or_default();
        let mut words = environment
            .split(|byte| *byte == 0)
            .filter_map(|one| std::str::from_utf8(one).ok()?.strip_prefix(MARK)?.strip_prefix('='));
        words.next().and_then(Mark::read).is_some_and(|mark| wanted(&mark))
    };
    all().filter(has_mark).collect()
}

/// The mark as the environment of a program has it.
pub(crate) fn variable(word: impl Into<OsString>) -> (&'static str, OsString) {
    (MARK, word.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_as_it_was_written_and_nothing_else_is_one() {
        let mark = Mark::new();
        assert_eq!(Mark::read(&mark.word()), Some(mark));
        for word in ["", "1-2-3", "1-2-3-4-5", "1-2-3-x", "1--3-4", "1-99999999999-3-4"] {
            assert_eq!(Mark::read(word), None, "{word}");
        }
    }

    #[test]
    fn only_a_dead_owner_of_the_same_namespace_leaves_orphans() {
        let mark = Mark::new();
        assert!(!mark.is_orphaned());
        let with = |change: fn(&mut Owner)| {
            let mut mark = mark.clone();
            change(&mut mark.owner);
            mark.is_orphaned()
        };
        assert!(with(|owner| owner.started += 1), "another process with the same number");
        assert!(with(|owner| owner.id = u32::MAX >> 1));
        assert!(!with(|owner| (owner.started, owner.namespace) = (0, 1)), "another container");
    }
}
