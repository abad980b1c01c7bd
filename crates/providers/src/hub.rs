//! Models from a hub, by the interface that its own client uses: a revision is looked up,
//! its files are listed with their hashes, and one model of them is brought into the cache
//! that other tools share.

mod cache;
mod fetch;
mod wanted;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::{Client, Url};
use serde::Deserialize;
use serde_json::Value;

use crate::config::Secret;
use cache::Repo;
use wanted::Listed;
pub use wanted::{Wanted, Which};

const ENDPOINT: &str = "https://huggingface.co";
/// How long nothing may come.
const SILENCE: Duration = Duration::from_secs(60);
/// How often it is looked how far another process is that loads the same file.
const LOOK: Duration = Duration::from_millis(300);
/// What is left free on the disk.
const SPARE_BYTES: u64 = 256 << 20;

/// A folder as the hub's own tools read it: a variable may still begin with `~/` where no shell
/// has set it.
pub(crate) fn expanded(text: &str, home: Option<&str>) -> PathBuf {
    match (text.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => Path::new(home).join(rest),
        (_, _) => PathBuf::from(text),
    }
}

/// Bytes that can still be written in a folder, which need not be there yet.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let there = folder.ancestors().find(|folder| folder.is_dir())?;
    cache::free(there).ok()
}

/// Where models come from, and where they are kept.
pub struct Hub {
    endpoint: Url,
    token: Option<Secret>,
    cache: PathBuf,
    offline: bool,
    client: Client,
    silence: Duration,
    pause: Duration,
}

/// A model that is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pulled {
    /// In the snapshot, the first part first.
    pub files: Vec<PathBuf>,
    pub commit: String,
    pub bytes: u64,
    /// Bytes that had to be brought.
    pub loaded: u64,
}

/// Named by what one can do about it.
#[derive(Debug)]
pub enum HubError {
    /// `HF_HUB_OFFLINE` is set, and the model is not in the cache.
    Offline,
    Unreachable(String),
    /// There is no such repository, or it is private.
    Missing,
    /// It has conditions that have to be accepted first.
    Gated,
    NoRevision,
    /// None of its files is meant; these are there.
    NoFile(Vec<String>),
    /// The token is not taken.
    Token,
    NoRoom {
        needed: u64,
        free: u64,
    },
    /// What came is not what was meant.
    Wrong(String),
    Refused(u16),
    Disk(io::Error),
    /// A setting cannot be understood.
    Setting(String),
}

impl From<io::Error> for HubError {
    fn from(error: io::Error) -> Self {
        HubError::Disk(error)
    }
}

/// Tells how far a download is.
pub struct Progress<'a> {
    tell: &'a mut (dyn FnMut(u64, u64) + Send),
    /// Of the files before.
    before: u64,
    all: u64,
}

impl Progress<'_> {
    fn at(&mut self, bytes: u64) {
        (self.tell)(self.before + bytes, self.all);
    }
}

impl Hub {
    /// By the variables that the hub's own tools know.
    pub fn from_env(env: &dyn Fn(&str) -> Option<String>) -> Result<Hub, HubError> {
        let set = |name: &str| env(name).map(|v| v.trim().to_owned()).filter(|v| !v.is_empty());
        let endpoint = set("HF_ENDPOINT").unwrap_or_else(|| ENDPOINT.to_owned());
        let wrong = || HubError::Setting(format!("HF_ENDPOINT: {endpoint:?} is not an address"));
        let url = Url::parse(&endpoint).map_err(|_| wrong())?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(wrong());
        }
        let place = |name: &str| Some(expanded(&set(name)?, set("HOME").as_deref()));
        let home = || {
            let caches = place("XDG_CACHE_HOME").or_else(|| Some(place("HOME")?.join(".cache")))?;
            Some(caches.join("huggingface"))
        };
        let home = place("HF_HOME").or_else(home);
        let cache = place("HF_HUB_CACHE");
        let cache = cache.or_else(|| Some(home.as_ref()?.join("hub")));
        let cache = cache.ok_or_else(|| {
            HubError::Setting("cannot tell where models are kept; set HF_HOME or HOME".into())
        })?;
        let file = place("HF_TOKEN_PATH");
        let file = file.or_else(|| Some(home?.join("token")));
        let kept = || std::fs::read_to_string(file?).ok();
        let token = set("HF_TOKEN").or_else(kept).map(|token| token.trim().to_owned());
        let offline = set("HF_HUB_OFFLINE").is_some_and(|value| {
            matches!(value.to_uppercase().as_str(), "1" | "ON" | "YES" | "TRUE")
        });
        Ok(Hub {
            endpoint: url,
            token: token.filter(|token| !token.is_empty()).map(|token| Secret::new(&token)),
            cache,
            offline,
            client: fetch::client()?,
            silence: SILENCE,
            pause: fetch::usual_pause(),
        })
    }

    /// With pauses as short as tests want them.
    pub fn hurried(self, pause: Duration, silence: Duration) -> Hub {
        Hub { pause, silence, ..self }
    }

    /// Requests are switched off.
    pub fn is_offline(&self) -> bool {
        self.offline
    }

    /// Bytes that can still be written where models are kept.
    pub fn free_bytes(&self) -> Option<u64> {
        free_bytes(&self.cache)
    }

    /// What of it is here already, without a request.
    pub fn cached(&self, wanted: &Wanted) -> Option<Pulled> {
        let repo = Repo::of(&self.cache, &wanted.repo);
        let commit = repo.commit(&wanted.revision)?;
        let listed = repo.files(&commit).into_iter().filter_map(|path| {
            let bytes = std::fs::metadata(repo.snapshot(&commit, &path)).ok()?.len();
            Some(Listed { path, bytes, sha256: String::new() })
        });
        let files = wanted::choose(&wanted.which, listed.collect()).ok()?;
        Some(Pulled {
            bytes: files.iter().map(|file| file.bytes).sum(),
            files: files.iter().map(|file| repo.snapshot(&commit, &file.path)).collect(),
            commit,
            loaded: 0,
        })
    }

    /// Brings a model into the cache, unless it is there.
    pub async fn pull(
        &self,
        wanted: &Wanted,
        tell: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<Pulled, HubError> {
        if self.offline {
            return self.cached(wanted).ok_or(HubError::Offline);
        }
        let commit = self.commit(wanted).await?;
        let files = wanted::choose(&wanted.which, self.list(wanted, &commit).await?)
            .map_err(HubError::NoFile)?;
        let repo = Repo::of(&self.cache, &wanted.repo);
        let all = files.iter().map(|file| file.bytes).sum();
        let mut progress = Progress { tell, before: 0, all };
        let (mut places, mut loaded) = (vec![], 0);
        for file in &files {
            loaded += self.bring(&repo, wanted, &commit, file, &mut progress).await?;
            places.push(repo.link(&commit, file)?);
            progress.before += file.bytes;
        }
        repo.keep_commit(&wanted.revision, &commit)?;
        Ok(Pulled { files: places, commit, bytes: all, loaded })
    }

    /// Bytes that had to be brought.
    async fn bring(
        &self,
        repo: &Repo,
        wanted: &Wanted,
        commit: &str,
        file: &Listed,
        progress: &mut Progress<'_>,
    ) -> Result<u64, HubError> {
        let is_there =
            |place: &Path| std::fs::metadata(place).is_ok_and(|found| found.len() == file.bytes);
        let blob = repo.blob(file);
        if is_there(&blob) {
            return Ok(0);
        }
        // Somebody else may be loading it, and takes as long as that takes.
        let (own, wanted_file) = (repo.clone(), file.clone());
        let mut lock = tokio::task::spawn_blocking(move || own.lock(&wanted_file));
        let place = repo.incomplete(file);
        let so_far = || std::fs::metadata(&place).map_or(0, |found| found.len()).min(file.bytes);
        let _lock = loop {
            match tokio::time::timeout(LOOK, &mut lock).await {
                Ok(locked) => break locked.map_err(io::Error::other)??,
                // How far the other one is, is how far this one is.
                Err(_) => progress.at(so_far()),
            }
        };
        if is_there(&blob) {
            return Ok(0);
        }
        let (needed, free) = (file.bytes - so_far(), repo.free()?);
        if needed + SPARE_BYTES > free {
            return Err(HubError::NoRoom { needed: needed + SPARE_BYTES, free });
        }
        let url = self.address(&[&wanted.repo, "resolve", commit, &file.path])?;
        let mut loaded = needed;
        match self.download(url.clone(), file, &place, progress).await {
            // What an earlier process has left may be damaged. It is gone by now.
            Err(HubError::Wrong(_)) if needed < file.bytes => {
                self.download(url, file, &place, progress).await?;
                loaded = file.bytes;
            }
            other => other?,
        }
        std::fs::rename(&place, &blob)?;
        Ok(loaded)
    }

    async fn commit(&self, wanted: &Wanted) -> Result<String, HubError> {
        #[derive(Deserialize)]
        struct About {
            sha: String,
        }
        if cache::is_commit(&wanted.revision) {
            return Ok(wanted.revision.clone());
        }
        let revision = wanted.revision.replace('/', "%2F");
        let url = self.address(&["api/models", &wanted.repo, "revision", &revision])?;
        let page = self.pages(url).await?.into_iter().next().unwrap_or_default();
        match serde_json::from_value(page) {
            Ok(About { sha }) if cache::is_commit(&sha) => Ok(sha),
            Ok(_) | Err(_) => Err(HubError::Wrong(format!("{} is not a model hub", self.endpoint))),
        }
    }

    /// All files that have a hash: what has none is small, and no model.
    async fn list(&self, wanted: &Wanted, commit: &str) -> Result<Vec<Listed>, HubError> {
        #[derive(Deserialize)]
        struct Entry {
            path: String,
            lfs: Option<Large>,
        }
        #[derive(Deserialize)]
        struct Large {
            oid: String,
            size: u64,
        }
        let mut url = self.address(&["api/models", &wanted.repo, "tree", commit])?;
        url.set_query(Some("recursive=true"));
        let pages = self.pages(url).await?;
        let entries = pages.into_iter().flat_map(|page| match page {
            Value::Array(entries) => entries,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_) => {
                vec![]
            }
        });
        let entries = entries.filter_map(|entry| serde_json::from_value::<Entry>(entry).ok());
        let listed = entries.filter_map(|Entry { path, lfs }| {
            let Large { oid, size } = lfs?;
            let is_hash = oid.len() == 64 && oid.bytes().all(|byte| byte.is_ascii_hexdigit());
            let is_sound = is_hash && wanted::is_path(&path);
            is_sound.then(|| Listed { path, bytes: size, sha256: oid.to_lowercase() })
        });
        Ok(listed.collect())
    }

    fn address(&self, parts: &[&str]) -> Result<Url, HubError> {
        let base = self.endpoint.as_str().trim_end_matches('/');
        let wrong = |_| HubError::Setting(format!("HF_ENDPOINT: {base:?} is not an address"));
        let mut url = Url::parse(base).map_err(wrong)?;
        // Whatever means something in an address is written out.
        let parts = parts.join("/").replace('%', "%25").replace('#', "%23").replace('?', "%3F");
        url.set_path(&format!("{}/{parts}", url.path().trim_end_matches('/')));
        Ok(url)
    }
}
