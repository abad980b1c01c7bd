//! Which files are read, and what counts of each. Relative paths in a file belong to
//! the folder in which the file is, wherever the program was started.

use std::collections::BTreeMap;
use std::fs::{File as Handle, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use plenary_domain::limits;

use super::{FILE, File, Models, Provider, TierModels, workflows};
use crate::serving;
use crate::trust::{self, Standing, Trusted};

/// What all files say together.
pub struct Layers {
    pub settings: File,
    /// Those that count, if only in part.
    pub files: Vec<PathBuf>,
    pub ignored: Option<Ignored>,
}

/// What the file in the working directory says and does not count.
pub struct Ignored {
    pub path: PathBuf,
    /// It was trusted once, with other contents.
    pub changed: bool,
    pub what: What,
}

pub enum What {
    /// By the names of the settings.
    Settings(Vec<String>),
    /// All of it: it cannot be read, for this reason.
    Everything(String),
}

impl Ignored {
    pub fn problem(&self) -> String {
        let path = self.path.display();
        let why = match self.changed {
            true => "has changed since you trusted it",
            false => "is not trusted",
        };
        match &self.what {
            What::Settings(names) => {
                format!(
                    "{path} {why}; ignored: {}",
                    plenary_domain::names::shown(&names.join(", "))
                )
            }
            What::Everything(problem) => format!("{path} is ignored: it {why}, and it {problem}"),
        }
    }

    pub fn hint(&self) -> &'static str {
        match self.what {
            What::Settings(_) => "Run `plenary trust` to see what it would do, and to trust it.",
            What::Everything(_) => "Fix it and trust it with `plenary trust`, or move it away.",
        }
    }
}

/// A file as it was read, once: what is trusted is what is used.
pub struct Written {
    pub path: PathBuf,
    pub text: String,
}

impl Written {
    /// `None` when there is no such file. The path is the true one. A problem is told
    /// without it: `is no file`.
    pub fn read(path: &Path) -> Result<Option<Written>, String> {
        let failed = |error| format!("cannot be read: {error}");
        let found = match path.canonicalize() {
            Ok(found) => found,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        // A pipe that nobody writes to must not be waited for.
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let file =
            OpenOptions::new().read(true).custom_flags(flags).open(&found).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err("is not a file".into());
        }
        let text = bounded(file).map_err(failed)?;
        match text {
            Some(text) => Ok(Some(Written { path: found, text })),
            None => {
                let most = limits::CONFIGURATION_BYTES;
                Err(format!("is too long; at most {most} bytes are allowed"))
            }
        }
    }

    /// Its settings, with whole paths.
    pub fn parsed(&self) -> Result<File, String> {
        let file: File = toml::from_str(&self.text).map_err(|error| {
            let problem = error.to_string();
            format!("is wrong: {}", problem.trim_end())
        })?;
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        Ok(file.resolved(folder))
    }
}

fn bounded(file: Handle) -> std::io::Result<Option<String>> {
    let mut text = String::new();
    let most = limits::CONFIGURATION_BYTES;
    file.take(most + 1).read_to_string(&mut text)?;
    Ok((text.len() as u64 <= most).then_some(text))
}

/// The user's own file, and the one in the working directory over it once that is
/// trusted. Until then it only fills in what is harmless and not set otherwise.
pub fn read(own: Option<&Path>, local: &Path, trusted: &Trusted) -> Result<Layers, String> {
    let mut layers = Layers { settings: File::default(), files: vec![], ignored: None };
    if let Some(path) = own {
        let wrong = |problem| format!("{} {problem}", path.display());
        if let Some(written) = Written::read(path).map_err(wrong)? {
            layers.settings = written.parsed().map_err(wrong)?;
            layers.files.push(written.path);
        }
    }
    let (path, changed, what) = match Written::read(local) {
        Ok(None) => return Ok(layers),
        // One stands in the folder of the user's own file.
        Ok(Some(written)) if layers.files.contains(&written.path) => return Ok(layers),
        Err(problem) => {
            let whole = std::path::absolute(local).unwrap_or_else(|_| local.to_owned());
            (whole, false, What::Everything(problem))
        }
        Ok(Some(written)) => {
            let path = written.path.clone();
            match trusted.standing(&path, &trust::hash(&written.text)) {
                Standing::Trusted => {
                    let wrong = |problem| format!("{} {problem}", path.display());
                    layers.settings = written.parsed().map_err(wrong)?.over(layers.settings);
                    layers.files.push(path);
                    return Ok(layers);
                }
                Standing::Changed => (path, true, layers.fill_in(&written)),
                Standing::Unknown => (path, false, layers.fill_in(&written)),
            }
        }
    };
    match what {
        What::Settings(names) if names.is_empty() => layers.files.push(path),
        what => layers.ignored = Some(Ignored { path, changed, what }),
    }
    Ok(layers)
}

impl Layers {
    /// Takes what is harmless from a file that nobody has vouched for, and tells what
    /// is left. Whatever is wrong in it must not keep the program from starting.
    fn fill_in(&mut self, written: &Written) -> What {
        let (harmless, names) = match written.parsed() {
            Ok(file) => file.harmless(),
            Err(problem) => return What::Everything(problem),
        };
        if let Err(problem) = harmless.clone().check() {
            return What::Everything(format!("is wrong: {problem}"));
        }
        self.settings = std::mem::take(&mut self.settings).over(harmless);
        What::Settings(names)
    }
}

/// Where the file of the working directory is.
pub fn local() -> &'static Path {
    Path::new(FILE)
}

impl File {
    /// What a stranger may say: nothing that could send a key somewhere, run something
    /// or move data. And the names of the rest.
    pub fn harmless(self) -> (File, Vec<String>) {
        let File {
            home,
            database_url,
            database_listen_url,
            listen,
            tokens,
            hosts,
            allowed_origins,
            server,
            embedded,
            web_folder,
            currency,
            providers,
            serve,
            workflows,
            tiers,
            prices,
        } = self;
        let single = [
            ("home", home.is_some()),
            ("database_url", database_url.is_some()),
            ("database_listen_url", database_listen_url.is_some()),
            ("listen", listen.is_some()),
            ("tokens", tokens.is_some()),
            ("hosts", hosts.is_some()),
            ("allowed_origins", allowed_origins.is_some()),
            ("server", server.is_some()),
            ("web_folder", web_folder.is_some()),
            ("serve", serve != serving::Written::default()),
            ("workflows", workflows != workflows::Written::default()),
        ];
        let names = single.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name.into());
        let names = names.chain(providers.keys().map(|name| format!("providers.{name}")));
        let names = names.collect();
        (File { embedded, currency, tiers, prices, ..File::default() }, names)
    }

    /// This file's settings, and the other's where this one says nothing. A provider
    /// is replaced as a whole: half of one and half of another fit nobody.
    pub fn over(self, under: File) -> File {
        let mut providers = under.providers;
        providers.extend(self.providers);
        let mut prices = under.prices;
        prices.extend(self.prices);
        File {
            home: self.home.or(under.home),
            database_url: self.database_url.or(under.database_url),
            database_listen_url: self.database_listen_url.or(under.database_listen_url),
            listen: self.listen.or(under.listen),
            tokens: self.tokens.or(under.tokens),
            hosts: self.hosts.or(under.hosts),
            allowed_origins: self.allowed_origins.or(under.allowed_origins),
            server: self.server.or(under.server),
            embedded: self.embedded.or(under.embedded),
            web_folder: self.web_folder.or(under.web_folder),
            currency: self.currency.or(under.currency),
            providers,
            serve: self.serve.over(under.serve),
            workflows: self.workflows.over(under.workflows),
            tiers: TierModels {
                fast: self.tiers.fast.or(under.tiers.fast),
                balanced: self.tiers.balanced.or(under.tiers.balanced),
                strong: self.tiers.strong.or(under.tiers.strong),
            },
            prices,
        }
    }

    fn resolved(mut self, folder: &Path) -> File {
        let whole = |path: &mut PathBuf| *path = resolve(folder, path);
        self.home.iter_mut().for_each(whole);
        self.web_folder.iter_mut().for_each(whole);
        self.workflows.folders.iter_mut().flatten().for_each(whole);
        self.providers.values_mut().for_each(|provider| provider.resolve(folder));
        self
    }
}

impl Provider {
    fn resolve(&mut self, folder: &Path) {
        let whole = |path: &mut PathBuf| *path = resolve(folder, path);
        self.folder.iter_mut().for_each(whole);
        self.folders.iter_mut().flatten().for_each(whole);
        let files: Option<&mut BTreeMap<String, PathBuf>> = match &mut self.models {
            Some(Models::Files(files)) => Some(files),
            Some(Models::Names(_)) | None => None,
        };
        files.into_iter().flat_map(BTreeMap::values_mut).for_each(whole);
        // A name without a slash is looked for on the PATH.
        if let Some(program) = self.program.as_mut().filter(|program| program.contains('/')) {
            *program = resolve(folder, Path::new(program)).to_string_lossy().into_owned();
        }
    }
}

/// `~/` stands for the home folder, as in a shell.
fn resolve(folder: &Path, path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::var_os("HOME")) {
        (Ok(rest), Some(home)) => Path::new(&home).join(rest),
        // `./` and the like tell nothing.
        (Ok(_) | Err(_), _) => folder.join(path).components().collect(),
    }
}

#[cfg(test)]
mod tests {
    use plenary_providers::OutsideConfig;

    use super::*;

    /// What workflows may reach by the user's own file and a stranger's.
    fn reached(folder: &Path, own: &str, local: &str) -> (OutsideConfig, Vec<String>) {
        let (own_path, local_path) = (folder.join("own.toml"), folder.join(FILE));
        std::fs::write(&own_path, own).unwrap();
        std::fs::write(&local_path, local).unwrap();
        let trusted = Trusted::read(Some(&folder.join("data"))).unwrap();
        let layers = read(Some(&own_path), &local_path, &trusted).unwrap();
        let names = match layers.ignored.map(|ignored| ignored.what) {
            Some(What::Settings(names)) => names,
            Some(What::Everything(problem)) => vec![problem],
            None => vec![],
        };
        let env = |name: &str| Some(format!("the value of {name}"));
        (layers.settings.workflows.settle(&env).unwrap(), names)
    }

    #[test]
    fn a_strangers_file_lets_workflows_reach_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let own = "[workflows]\nhosts = ['hooks.example']\nsecrets = { HOOK = 'HOOK_TOKEN' }\n";
        let (expected, _) = reached(&folder, own, "");
        for hostile in [
            "hosts = ['evil']",
            "private_hosts = ['127.0.0.1:9000']",
            "folders = ['.']",
            "secrets = { KEY = 'AWS_SECRET_ACCESS_KEY' }",
            "hosts = []",
            // What is wrong in it keeps nothing from starting either.
            "hosts = ['*']",
        ] {
            let local = format!("[workflows]\n{hostile}\n");
            let ignored = vec!["workflows".to_owned()];
            assert_eq!(reached(&folder, own, &local), (expected.clone(), ignored.clone()));
            let nothing = (OutsideConfig::default(), ignored);
            assert_eq!(reached(&folder, "", &local), nothing, "{hostile}");
        }
    }

    #[test]
    fn a_trusted_file_says_what_workflows_reach_and_its_folders_are_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let local = "[workflows]\nfolders = ['decisions', '/srv/x']\n";
        let (path, hash) = (folder.join(FILE), trust::hash(local));
        trust::trust(&folder.join("data"), &path, hash).unwrap();
        let own = "[workflows]\nhosts = ['hooks.example']\nfolders = ['own']\n";
        let expected = OutsideConfig {
            hosts: vec!["hooks.example".parse().unwrap()],
            folders: vec![folder.join("decisions"), "/srv/x".into()],
            ..OutsideConfig::default()
        };
        assert_eq!(reached(&folder, own, local), (expected, vec![]));
    }
}
