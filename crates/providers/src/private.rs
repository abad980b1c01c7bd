//! A folder of its own for each call of a command-line agent.
//!
//! Agents read instructions, settings and hooks from the folder that they run in
//! and from all above it. So nobody but this user and the system's administrator
//! may be able to write into any of these: a folder for temporary files that all
//! share will not do, however private what lies in it.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::processes::Mark;

/// The part of every place that is ours.
const NAME: &str = "plenary-agents";
const OWNER_ONLY: u32 = 0o700;

/// Where folders for calls may be made, best first. One below the home folder comes
/// late: what lies above it is the user's own, but meant for other work.
pub(crate) fn usual_places() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = variable("XDG_CACHE_HOME").or(variable("HOME").map(|home| home.join(".cache")));
    let runtime = Some(PathBuf::from(format!("/run/user/{}", geteuid().as_raw())));
    // The last is for a service of the administrator's.
    let places = [variable("XDG_RUNTIME_DIR"), runtime, cache, Some("/run".into())];
    places.into_iter().flatten().filter(|place| place.is_absolute()).collect()
}

/// Makes the folder of one call in the first place that is safe, or says why none is.
pub(crate) fn make(places: &[PathBuf], mark: &Mark) -> Result<PathBuf, String> {
    let mut problems = Vec::new();
    for place in places {
        let made = prepare(place).and_then(|base| {
            let folder = base.join(mark.word());
            let made = DirBuilder::new().mode(OWNER_ONLY).create(&folder);
            made.map(|()| folder.clone()).map_err(|error| cannot(&folder, &error))
        });
        match made {
            Ok(folder) => return Ok(folder),
            Err(problem) => problems.push(problem),
        }
    }
    Err(problems.join("; "))
}

/// Removes what calls of processes that have died have left in these places.
pub(crate) fn remove_orphans(places: &[PathBuf]) {
    for place in places {
        let Ok(entries) = std::fs::read_dir(place.join(NAME)) else {
            continue;
        };
        // A name in a place that others can write to is no proof of whose it is.
        if unsafe_above(&place.join(NAME)).is_some() {
            continue;
        }
        for entry in entries.flatten() {
            let mark = entry.file_name().to_str().and_then(Mark::read);
            if mark.is_some_and(|mark| mark.is_orphaned()) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// Our part of a place, by its true path.
fn prepare(place: &Path) -> Result<PathBuf, String> {
    let base = place.join(NAME);
    let made = DirBuilder::new().mode(OWNER_ONLY).recursive(true).create(&base);
    made.map_err(|error| cannot(&base, &error))?;
    let base = base.canonicalize().map_err(|error| cannot(&base, &error))?;
    if let Some(problem) = unsafe_above(&base) {
        return Err(problem);
    }
    let found = base.metadata().map_err(|error| cannot(&base, &error))?;
    if found.mode() & 0o077 != 0 {
        let own = std::fs::Permissions::from_mode(OWNER_ONLY);
        std::fs::set_permissions(&base, own).map_err(|error| cannot(&base, &error))?;
    }
    Ok(base)
}

fn cannot(folder: &Path, error: &io::Error) -> String {
    format!("cannot create {}: {error}", folder.display())
}

/// Who else could put something into this folder or one above it.
fn unsafe_above(folder: &Path) -> Option<String> {
    let user = geteuid().as_raw();
    folder.ancestors().find_map(|one| {
        let shown = one.display();
        let Ok(found) = one.metadata() else {
            return Some(format!("{shown} cannot be inspected"));
        };
        if found.uid() != user && found.uid() != 0 {
            return Some(format!("{shown} belongs to another user"));
        }
        // A group that has its user's number is that user's alone, where every user
        // has one; the first is the administrator's.
        let closed = [user, 0].contains(&found.gid());
        let open = if closed { 0o002 } else { 0o022 };
        (found.mode() & open != 0).then(|| format!("others can write into {shown}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(folder: &Path) -> u32 {
        folder.metadata().unwrap().mode() & 0o777
    }

    fn open_to(folder: &Path, mode: u32) {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    /// A folder that nobody else can reach from above.
    fn safe() -> tempfile::TempDir {
        let places = usual_places();
        let base = places.iter().find_map(|place| prepare(place).ok()).unwrap();
        tempfile::tempdir_in(base).unwrap()
    }

    #[test]
    fn a_folder_is_made_only_where_nobody_else_can_write_above_it() {
        let root = safe();
        let (shared, own) = (root.path().join("shared"), root.path().join("own"));
        let inside = shared.join("inside");
        std::fs::create_dir_all(&inside).unwrap();
        open_to(&shared, 0o1777);
        open_to(&inside, 0o700);
        let mark = Mark::new();
        let problem = make(std::slice::from_ref(&inside), &mark).unwrap_err();
        assert_eq!(problem, format!("others can write into {}", shared.display()));
        let made = make(&[inside.clone(), own.clone()], &mark).unwrap();
        assert_eq!(made, own.join(NAME).join(mark.word()));
        assert_eq!((mode(&made), mode(&own.join(NAME))), (0o700, 0o700));
        // A link does not hide where it leads.
        let link = root.path().join("link");
        std::os::unix::fs::symlink(&inside, &link).unwrap();
        assert!(make(&[link], &Mark::new()).is_err());
        // One that was left open is closed.
        open_to(&own.join(NAME), 0o755);
        make(std::slice::from_ref(&own), &Mark::new()).unwrap();
        assert_eq!(mode(&own.join(NAME)), 0o700);
    }

    #[test]
    fn what_a_dead_process_left_is_removed_and_nothing_else() {
        let root = safe();
        let place = root.path().to_path_buf();
        let ours = make(std::slice::from_ref(&place), &Mark::new()).unwrap();
        let mut parts: Vec<String> = Mark::new().word().split('-').map(str::to_owned).collect();
        parts[2] = "1".to_owned();
        let dead = place.join(NAME).join(parts.join("-"));
        let other = place.join(NAME).join("notes");
        for folder in [&dead, &other] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("file"), "").unwrap();
        }
        remove_orphans(&[place]);
        assert_eq!([dead, other, ours].map(|one| one.exists()), [false, true, true]);
    }
}
