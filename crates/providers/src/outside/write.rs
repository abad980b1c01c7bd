//! One file in a folder that is allowed, as a whole or not at all.
//!
//! From the allowed folder on, every folder is opened by its name inside the one before it,
//! and never through a link. What is open stays what it is, whatever somebody puts in its
//! place meanwhile: no path is looked at first and walked again later.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use plenary_domain::names::check_line;
use plenary_domain::{Failure, FailureKind, limits};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::failure;
use crate::failure::presentable;
use crate::workspace::at_home;

/// Of new folders and files, less what the user's own mask takes away.
const FOLDER_MODE: Mode = Mode::from_raw_mode(0o777);
const FILE_MODE: Mode = Mode::from_raw_mode(0o666);
/// How folders are opened.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Names for the unfinished file that are tried.
const NAMES: usize = 64;

/// Returns the whole path.
pub(super) fn write(folders: &[PathBuf], written: &str, bytes: &[u8]) -> Result<String, Failure> {
    if bytes.len() > limits::WRITTEN_BYTES {
        let most = limits::WRITTEN_BYTES / 1024;
        let message = format!("A workflow can write files of at most {most} KiB.");
        return Err(failure(FailureKind::TooLong, message));
    }
    let place = Place::find(folders, written)?;
    place.open()?.replace(bytes)?;
    Ok(place.whole().to_string_lossy().into_owned())
}

/// Whether a path is in a folder that is allowed and there. Nothing is made.
pub(super) fn may_write(folders: &[PathBuf], written: &str) -> Result<(), Failure> {
    Place::find(folders, written)?.root().map(|_| ())
}

/// Where a file is to be: its path from an allowed folder on.
#[derive(PartialEq, Eq, Debug)]
struct Place {
    root: PathBuf,
    above: Vec<String>,
    name: String,
}

/// The same, with its folder open.
struct Opened {
    folder: OwnedFd,
    name: String,
    /// For people.
    shown: String,
}

impl Place {
    fn find(folders: &[PathBuf], written: &str) -> Result<Place, Failure> {
        let shown = presentable(written);
        let Some(first) = folders.first() else {
            return Err(wrong(format!(
                "Workflows may not write files. To let them write {shown}, add its folder to \
                 `folders` under [workflows] in plenary.toml."
            )));
        };
        if written.len() > limits::WRITTEN_PATH_BYTES {
            let most = limits::WRITTEN_PATH_BYTES;
            return Err(wrong(format!("The path of a file can have at most {most} bytes.")));
        }
        check_line(written).map_err(|problem| wrong(format!("The path {shown} {problem}.")))?;
        let path = at_home(Path::new(written));
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(wrong(format!("The path {shown} must not contain `..`.")));
        }
        let (root, rest) = match path.is_absolute() {
            false => (first.clone(), path.clone()),
            true => below(folders, &path).ok_or_else(|| {
                let listed: Vec<String> =
                    folders.iter().map(|folder| folder.display().to_string()).collect();
                wrong(format!(
                    "Workflows may only write files in {}. To let them write {shown}, add its \
                     folder to `folders` under [workflows] in plenary.toml.",
                    listed.join(", ")
                ))
            })?,
        };
        let mut above: Vec<String> = rest
            .components()
            .filter(|part| *part != Component::CurDir)
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .collect();
        let names_a_folder = ["", "."].contains(&written.rsplit('/').next().unwrap_or_default());
        match above.pop().filter(|_| !names_a_folder) {
            None => Err(wrong(format!("The path {shown} names a folder; name a file in it."))),
            Some(_) if above.len() >= limits::WRITTEN_DEPTH => {
                let most = limits::WRITTEN_DEPTH;
                Err(wrong(format!("A file can be at most {most} folders deep.")))
            }
            Some(name) => Ok(Place { root, above, name }),
        }
    }

    fn whole(&self) -> PathBuf {
        let folder = self.above.iter().fold(self.root.clone(), |path, part| path.join(part));
        folder.join(&self.name)
    }

    fn root(&self) -> Result<OwnedFd, Failure> {
        rustix::fs::open(&self.root, FOLDER, Mode::empty()).map_err(|error| {
            let shown = self.root.display();
            match error {
                Errno::NOENT | Errno::NOTDIR => wrong(format!(
                    "The folder {shown}, named in `folders` under [workflows], does not exist."
                )),
                other => cannot(&self.root, "opened", other),
            }
        })
    }

    /// Opens the folder, and makes what is missing below the one that is allowed. That one
    /// may be a link itself: the operator has named it.
    fn open(&self) -> Result<Opened, Failure> {
        let mut path = self.root.clone();
        let mut folder = self.root()?;
        for part in &self.above {
            path.push(part);
            folder = enter(&folder, part).map_err(|error| match error {
                // Which of the two a link is called depends on the system.
                Errno::LOOP | Errno::NOTDIR => wrong(format!(
                    "{} is a link or a file, not a folder; files are not written through it.",
                    path.display()
                )),
                other => cannot(&path, "opened", other),
            })?;
        }
        let shown = self.whole().display().to_string();
        Ok(Opened { folder, name: self.name.clone(), shown })
    }
}

/// The allowed folder nearest to a file, and the way from there.
fn below(folders: &[PathBuf], path: &Path) -> Option<(PathBuf, PathBuf)> {
    let true_paths = folders.iter().filter_map(|folder| folder.canonicalize().ok());
    let roots = folders.iter().cloned().chain(true_paths);
    let found = roots.filter_map(|root| {
        let rest = path.strip_prefix(&root).ok()?.to_owned();
        Some((root, rest))
    });
    found.max_by_key(|(root, _)| root.components().count())
}

/// A folder inside another, made if it is missing.
fn enter(folder: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Err(Errno::NOENT) => {}
        other => return other,
    }
    match rustix::fs::mkdirat(folder, name, FOLDER_MODE) {
        Ok(()) => keep(folder)?,
        // Somebody else was first.
        Err(Errno::EXIST) => {}
        Err(error) => return Err(error),
    }
    rustix::fs::openat(folder, name, flags, Mode::empty())
}

impl Opened {
    /// Puts a file in place of the one that is there, if any.
    fn replace(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mode = self.mode_of_earlier()?;
        let (unfinished, file) = self.unfinished()?;
        let done = self.fill(&unfinished, file, mode, bytes);
        if done.is_err() {
            // It is nothing to anybody; a failure to remove it helps nobody either.
            let _ = rustix::fs::unlinkat(&self.folder, &unfinished, AtFlags::empty());
        }
        done.map_err(|error| match error {
            Errno::ISDIR => self.is_no_file(),
            other => cannot(Path::new(&self.shown), "written", other),
        })
    }

    /// The rights of the file that is there. A link is not followed, and what is neither
    /// does not give way.
    fn mode_of_earlier(&self) -> Result<Option<Mode>, Failure> {
        let found = rustix::fs::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        let found = match found {
            Ok(found) => found,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(cannot(Path::new(&self.shown), "looked at", error)),
        };
        match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => Ok(Some(Mode::from_raw_mode(found.st_mode & 0o777))),
            FileType::Symlink => {
                Err(wrong(format!("{} is a link; files are not written through it.", self.shown)))
            }
            FileType::Directory
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Err(self.is_no_file()),
        }
    }

    fn is_no_file(&self) -> Failure {
        wrong(format!("{} already exists and is not a file.", self.shown))
    }

    /// A new file beside the one that is to be, which nobody else writes to.
    fn unfinished(&self) -> Result<(String, File), Failure> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut last = Errno::EXIST;
        for _ in 0..NAMES {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!(".plenary-{}-{number}.new", std::process::id());
            match rustix::fs::openat(&self.folder, &name, flags, FILE_MODE) {
                Ok(file) => return Ok((name, File::from(file))),
                Err(Errno::EXIST) => {}
                Err(error) => {
                    last = error;
                    break;
                }
            }
        }
        Err(cannot(Path::new(&self.shown), "written", last))
    }

    fn fill(
        &self,
        unfinished: &str,
        mut file: File,
        mode: Option<Mode>,
        bytes: &[u8],
    ) -> Result<(), Errno> {
        let plain = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
        if let Some(mode) = mode {
            rustix::fs::fchmod(&file, mode)?;
        }
        file.write_all(bytes).map_err(plain)?;
        file.sync_all().map_err(plain)?;
        rustix::fs::renameat(&self.folder, unfinished, &self.folder, &self.name)?;
        keep(&self.folder)
    }
}

/// Waits until the names in a folder are on the disk, where the system can say so.
fn keep(folder: impl AsFd) -> Result<(), Errno> {
    match rustix::fs::fsync(folder) {
        Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        other => other,
    }
}

fn cannot(path: &Path, done: &str, error: Errno) -> Failure {
    let kind = match error {
        Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::NAMETOOLONG => {
            FailureKind::Misconfigured
        }
        // A full disk may have room later.
        _ => FailureKind::Internal,
    };
    let error = io::Error::from(error);
    failure(kind, format!("{} cannot be {done}: {error}.", path.display()))
}

fn wrong(message: String) -> Failure {
    failure(FailureKind::Misconfigured, message)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::sync::atomic::AtomicBool;

    use super::*;

    /// An allowed folder, and beside it one that is not, with a file that must stay.
    struct Ground {
        root: tempfile::TempDir,
        folders: Vec<PathBuf>,
    }

    impl Ground {
        fn new() -> Ground {
            let root = tempfile::tempdir().unwrap();
            for folder in ["allowed", "second", "elsewhere"] {
                fs::create_dir(root.path().join(folder)).unwrap();
            }
            fs::write(root.path().join("elsewhere/victim"), "untouched").unwrap();
            let folders = ["allowed", "second"].map(|one| root.path().join(one)).to_vec();
            Ground { root, folders }
        }

        fn at(&self, path: &str) -> PathBuf {
            self.root.path().join(path)
        }

        fn write(&self, path: &str) -> Result<String, Failure> {
            write(&self.folders, path, b"decided\n")
        }

        /// Refused with these words, and nothing was written anywhere.
        fn refuses(&self, path: &str, words: &str) {
            let before = self.all();
            let failure = self.write(path).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Misconfigured, "{path}: {failure:?}");
            assert!(failure.message.contains(words), "{path}: {}", failure.message);
            assert_eq!(self.all(), before, "{path}");
        }

        fn all(&self) -> Vec<(PathBuf, Option<String>)> {
            let (mut found, mut open) = (vec![], vec![self.root.path().to_owned()]);
            while let Some(folder) = open.pop() {
                for entry in fs::read_dir(folder).unwrap() {
                    let (path, kind) = entry.map(|e| (e.path(), e.file_type().unwrap())).unwrap();
                    if kind.is_dir() {
                        open.push(path.clone());
                    }
                    let text = kind.is_file().then(|| fs::read_to_string(&path).unwrap());
                    found.push((path, text));
                }
            }
            found.sort();
            found
        }

        fn unfinished(&self) -> usize {
            let is_left = |path: &PathBuf| path.to_str().unwrap().ends_with(".new");
            self.all().iter().filter(|(path, _)| is_left(path)).count()
        }

        fn is_untouched(&self) {
            let names: Vec<_> = fs::read_dir(self.at("elsewhere"))
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
                .collect();
            assert_eq!(names, ["victim"]);
            assert_eq!(fs::read_to_string(self.at("elsewhere/victim")).unwrap(), "untouched");
        }
    }

    #[test]
    fn a_file_is_written_as_a_whole_with_the_folders_above_it() {
        let ground = Ground::new();
        let whole = |path: &str| ground.at(path).to_str().unwrap().to_owned();
        for (path, expected) in [
            ("adr.md", "allowed/adr.md"),
            ("2026/autumn/adr.md", "allowed/2026/autumn/adr.md"),
            ("./a//b/./c.md", "allowed/a/b/c.md"),
            (&whole("allowed/d.md"), "allowed/d.md"),
            (&whole("second/new/e.md"), "second/new/e.md"),
        ] {
            assert_eq!(ground.write(path), Ok(whole(expected)), "{path}");
            assert_eq!(fs::read_to_string(ground.at(expected)).unwrap(), "decided\n", "{path}");
        }
        assert_eq!(ground.unfinished(), 0);
    }

    #[test]
    fn a_file_that_is_there_is_replaced_and_keeps_its_rights() {
        let ground = Ground::new();
        let path = ground.at("allowed/adr.md");
        fs::write(&path, "a longer text from before").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        // Another name of the same file keeps what it had.
        fs::hard_link(&path, ground.at("elsewhere/same")).unwrap();
        ground.write("adr.md").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "decided\n");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let same = fs::read_to_string(ground.at("elsewhere/same")).unwrap();
        assert_eq!(same, "a longer text from before");
    }

    #[test]
    fn no_path_leads_out() {
        let ground = Ground::new();
        let elsewhere = ground.at("elsewhere/new").to_str().unwrap().to_owned();
        let around = ground.at("allowed/../elsewhere/new").to_str().unwrap().to_owned();
        let beside = ground.at("allowed2/new").to_str().unwrap().to_owned();
        let folder = ground.at("allowed").to_str().unwrap().to_owned();
        let deep = "a/".repeat(limits::WRITTEN_DEPTH + 1) + "b";
        let long = "a".repeat(limits::WRITTEN_PATH_BYTES + 1);
        for (path, words) in [
            ("../elsewhere/victim", "must not contain `..`"),
            ("a/../../elsewhere/victim", "must not contain `..`"),
            ("..", "must not contain `..`"),
            (&around, "must not contain `..`"),
            (&elsewhere, "add its folder to `folders` under [workflows]"),
            (&beside, "add its folder to `folders` under [workflows]"),
            ("/etc/plenary-test", "add its folder to `folders` under [workflows]"),
            ("~/plenary-test/new", "add its folder to `folders` under [workflows]"),
            ("", "names a folder"),
            (".", "names a folder"),
            ("new/", "names a folder"),
            ("new/.", "names a folder"),
            (&folder, "names a folder"),
            ("new\0file", "must not contain U+0000"),
            ("new\nfile", "must not contain U+000A"),
            (&deep, "at most 32 folders deep"),
            (&long, "at most 4096 bytes"),
            (&"a".repeat(300), "cannot be"),
        ] {
            ground.refuses(path, words);
        }
        let nowhere = write(&[], "a", b"").unwrap_err();
        assert!(nowhere.message.starts_with("Workflows may not write files."), "{nowhere:?}");
        let gone = write(&[ground.at("gone")], "a", b"").unwrap_err();
        assert!(gone.message.ends_with("does not exist."), "{gone:?}");
        let large = vec![b'x'; limits::WRITTEN_BYTES + 1];
        let large = write(&ground.folders, "large", &large).unwrap_err();
        assert_eq!(large.kind, FailureKind::TooLong);
    }

    #[test]
    fn no_link_leads_out_and_nothing_else_gives_way() {
        let ground = Ground::new();
        symlink(ground.at("elsewhere"), ground.at("allowed/away")).unwrap();
        symlink("../elsewhere", ground.at("allowed/near")).unwrap();
        symlink(ground.at("elsewhere/victim"), ground.at("allowed/file")).unwrap();
        symlink(ground.at("elsewhere/unborn"), ground.at("allowed/dangling")).unwrap();
        // Also one that would stay inside: which it does is not looked at.
        fs::create_dir(ground.at("allowed/real")).unwrap();
        symlink("real", ground.at("allowed/inside")).unwrap();
        fs::write(ground.at("allowed/plain"), "").unwrap();
        let pipe = std::process::Command::new("mkfifo").arg(ground.at("allowed/pipe")).status();
        assert!(pipe.unwrap().success());
        for (path, words) in [
            ("away/victim", "files are not written through it"),
            ("away/new", "files are not written through it"),
            ("near/new", "files are not written through it"),
            ("inside/new", "files are not written through it"),
            ("plain/new", "files are not written through it"),
            ("file", "is a link"),
            ("dangling", "is a link"),
            ("real", "is not a file"),
            ("pipe", "is not a file"),
        ] {
            ground.refuses(path, words);
        }
        ground.is_untouched();
    }

    #[test]
    fn an_allowed_folder_may_be_a_link_and_goes_by_both_names() {
        let ground = Ground::new();
        symlink(ground.at("second"), ground.at("linked")).unwrap();
        let folders = [ground.at("linked")];
        for name in ["linked/a", "second/b"] {
            let path = ground.at(name).to_str().unwrap().to_owned();
            assert_eq!(write(&folders, &path, b"x"), Ok(path.clone()));
        }
    }

    #[test]
    fn a_link_that_is_swapped_in_after_the_folder_was_opened_changes_nothing() {
        let ground = Ground::new();
        let place = Place::find(&ground.folders, "sub/victim").unwrap();
        let opened = place.open().unwrap();
        fs::rename(ground.at("allowed/sub"), ground.at("allowed/moved")).unwrap();
        symlink(ground.at("elsewhere"), ground.at("allowed/sub")).unwrap();
        opened.replace(b"decided").unwrap();
        assert_eq!(fs::read_to_string(ground.at("allowed/moved/victim")).unwrap(), "decided");
        ground.is_untouched();
    }

    #[test]
    fn links_that_are_swapped_in_all_the_time_never_lead_out() {
        let ground = Ground::new();
        let (sub, kept) = (ground.at("allowed/sub"), ground.at("allowed/kept"));
        fs::create_dir(&sub).unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    // Now a folder, now a link to elsewhere; and so the file in it.
                    let _ = fs::rename(&sub, &kept);
                    let _ = symlink(ground.at("elsewhere"), &sub);
                    let _ = fs::remove_file(kept.join("victim"));
                    let _ = symlink(ground.at("elsewhere/victim"), kept.join("victim"));
                    let _ = fs::remove_file(&sub);
                    let _ = fs::rename(&kept, &sub);
                    // A folder where the file is to be.
                    let _ = fs::create_dir(ground.at("allowed/here"));
                    let _ = fs::remove_dir(ground.at("allowed/here"));
                    let _ = fs::remove_file(ground.at("allowed/here"));
                }
            });
            for _ in 0..500 {
                let _ = ground.write("sub/victim");
                let _ = ground.write("here");
            }
            over.store(true, Ordering::Relaxed);
        });
        ground.is_untouched();
        assert_eq!(ground.unfinished(), 0);
    }
}
