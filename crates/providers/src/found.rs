//! Models that other tools have brought onto this machine: files that can be used as they are.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::gguf::{self, Head};
use crate::hub::expanded;

/// How deep a folder of models is looked into, and at how many entries in all.
const DEPTH: usize = 6;
const ENTRIES: usize = 4_096;
/// Smaller files are vocabularies and the like.
const LEAST_BYTES: u64 = 16 << 20;

/// A file that a model can be run from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// What it would be called here.
    pub name: String,
    /// The first part.
    pub path: PathBuf,
    pub bytes: u64,
    /// Who has brought it: `LM Studio`.
    pub by: &'static str,
}

/// Where the tools of this machine keep models.
#[derive(Clone, Debug, Default)]
pub struct Places {
    pub hub: Option<PathBuf>,
    pub ollama: Vec<PathBuf>,
    /// Folders of GGUF files, and whose they are.
    pub folders: Vec<(&'static str, PathBuf)>,
}

impl Places {
    /// By the variables that these tools know, else where they usually are.
    pub fn from_env(env: &dyn Fn(&str) -> Option<String>) -> Places {
        let set = |name: &str| {
            let value = env(name).map(|value| value.trim().to_owned());
            let value = value.filter(|value| !value.is_empty())?;
            Some(expanded(&value, env("HOME").as_deref()))
        };
        let home = set("HOME");
        let under = |path: &str| home.as_ref().map(|home| home.join(path));
        let caches = set("XDG_CACHE_HOME").or_else(|| under(".cache"));
        let data = set("XDG_DATA_HOME").or_else(|| under(".local/share"));
        let in_caches = |path: &str| caches.as_ref().map(|caches| caches.join(path));
        let hub = set("HF_HUB_CACHE")
            .or_else(|| set("HF_HOME").map(|home| home.join("hub")))
            .or_else(|| in_caches("huggingface/hub"));
        let folders = [
            ("LM Studio", under(".lmstudio/models")),
            ("LM Studio", in_caches("lm-studio/models")),
            ("llama.cpp", set("LLAMA_CACHE").or_else(|| in_caches("llama.cpp"))),
            ("llama.cpp", under("Library/Caches/llama.cpp")),
            ("GPT4All", data.map(|data| data.join("nomic.ai/GPT4All"))),
            ("Jan", under("jan/models")),
        ];
        let ollama = match set("OLLAMA_MODELS") {
            Some(set) => vec![set],
            None => {
                let system = PathBuf::from("/usr/share/ollama/.ollama/models");
                under(".ollama/models").into_iter().chain([system]).collect()
            }
        };
        let folders = folders.into_iter().filter_map(|(by, folder)| Some((by, folder?)));
        Places { hub, ollama, folders: folders.collect() }
    }

    /// What is there, from small to large, each file once. It reads folders and the heads of
    /// files, nothing else.
    pub fn look(&self) -> Vec<Found> {
        let mut all = vec![];
        let hub = self.hub.iter().map(|folder| ("the hub's cache", folder));
        let folders = self.folders.iter().map(|(by, folder)| (*by, folder));
        for (by, folder) in hub.chain(folders) {
            let mut left = ENTRIES;
            let mut files = vec![];
            walk(folder, DEPTH, &mut left, &mut files);
            all.extend(files.into_iter().filter_map(|path| {
                let name = path.file_name()?.to_str()?.to_lowercase();
                found(name_of(&name), path, by)
            }));
        }
        for folder in &self.ollama {
            all.extend(
                ollama(folder)
                    .into_iter()
                    .filter_map(|(name, path)| found(name_of(&name), path, "Ollama")),
            );
        }
        all.sort_by(|one, other| {
            (one.bytes, &one.name, &one.path).cmp(&(other.bytes, &other.name, &other.path))
        });
        let mut seen = BTreeSet::new();
        all.retain(|one| seen.insert(fs::canonicalize(&one.path).unwrap_or(one.path.clone())));
        all
    }
}

fn found(name: String, path: PathBuf, by: &'static str) -> Option<Found> {
    let bytes = gguf::size(&path);
    let head = Head::read(&path).ok()?;
    (head.talks && bytes >= LEAST_BYTES).then_some(Found { name, path, bytes, by })
}

/// GGUF files, of split ones the first.
fn walk(folder: &Path, depth: usize, left: &mut usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if name.starts_with('.') || name == "blobs" || name == "refs" {
            continue;
        }
        // A link to a file is followed, one to a folder is not: it could lead in a circle.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let further = name.contains("-of-") && !name.contains("-00001-of-");
        if is_folder && depth > 0 {
            walk(&path, depth - 1, left, files);
        } else if name.ends_with(".gguf") && !name.contains("mmproj") && !further && path.is_file()
        {
            files.push(path);
        }
    }
}

/// Ollama keeps a list of layers for each model, of which one is its file.
fn ollama(folder: &Path) -> Vec<(String, PathBuf)> {
    #[derive(Deserialize)]
    struct Manifest {
        layers: Vec<Layer>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Layer {
        media_type: String,
        digest: String,
    }
    const MODEL: &str = "application/vnd.ollama.image.model";
    let names = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.take(ENTRIES).map(|entry| entry.path()).collect()
    };
    // host/namespace/model/tag
    let hosts = names(&folder.join("manifests"));
    let models = hosts.iter().flat_map(|host| names(host)).flat_map(|space| names(&space));
    let tags = models.flat_map(|model| names(&model)).take(ENTRIES);
    let file = |tag: PathBuf| {
        let manifest = fs::read(&tag).ok().filter(|bytes| bytes.len() < 1 << 20)?;
        let manifest: Manifest = serde_json::from_slice(&manifest).ok()?;
        let mut models = manifest.layers.into_iter().filter(|layer| layer.media_type == MODEL);
        let digest = models.next()?.digest;
        let hash = digest.strip_prefix("sha256:")?;
        let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let blob = folder.join("blobs").join(format!("sha256-{hash}"));
        let model = tag.parent()?.file_name()?.to_str()?.to_owned();
        let version = tag.file_name()?.to_str()?;
        let name = if version == "latest" { model } else { format!("{model}-{version}") };
        (is_hash && blob.is_file()).then_some((name, blob))
    };
    tags.filter_map(file).collect()
}

/// What a model is called that has no name here, by its file.
pub fn name_of(file: &str) -> String {
    let stem = file.to_lowercase();
    let stem = stem.strip_suffix(".gguf").unwrap_or(&stem);
    let stem = stem.split("-00001-of-").next().unwrap_or(stem);
    let plain = |letter: char| match letter {
        'a'..='z' | '0'..='9' | '.' | '-' | '_' => letter,
        _ => '-',
    };
    stem.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The head of a model, and zeros up to its size.
    fn model(path: &Path, talks: bool, megabytes: u64) {
        let mut file = b"GGUF\x03\0\0\0".to_vec();
        let text = |file: &mut Vec<u8>, text: &str| {
            file.extend((text.len() as u64).to_le_bytes());
            file.extend(text.as_bytes());
        };
        file.extend(0_u64.to_le_bytes());
        file.extend(if talks { 2_u64 } else { 1 }.to_le_bytes());
        for (key, value) in [("general.architecture", "llama"), ("tokenizer.chat_template", "{}")] {
            if key != "tokenizer.chat_template" || talks {
                text(&mut file, key);
                file.extend(8_u32.to_le_bytes());
                text(&mut file, value);
            }
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &file).unwrap();
        let file = fs::OpenOptions::new().write(true).open(path).unwrap();
        file.set_len(megabytes << 20).unwrap();
    }

    #[test]
    fn what_other_tools_have_brought_is_found_once_and_by_its_name() {
        let home = tempfile::tempdir().unwrap();
        let at = |path: &str| home.path().join(path);
        let blob = at("hf/hub/models--a--b/blobs/abc");
        model(&blob, true, 90);
        let snapshot = at("hf/hub/models--a--b/snapshots/c0ffee/Small-Q8_0.gguf");
        fs::create_dir_all(snapshot.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&blob, &snapshot).unwrap();
        model(&at(".lmstudio/models/maker/Big/Big-00001-of-00002.gguf"), true, 200);
        model(&at(".lmstudio/models/maker/Big/Big-00002-of-00002.gguf"), true, 100);
        model(&at(".lmstudio/models/maker/Big/mmproj-Big.gguf"), true, 100);
        model(&at(".lmstudio/models/maker/Embed/embed.gguf"), false, 100);
        fs::write(at(".lmstudio/models/notes.gguf"), "no model").unwrap();
        model(&at(".cache/llama.cpp/tiny vocab.gguf"), true, 1);
        model(&at(".cache/llama.cpp/Mid Model.gguf"), true, 120);
        let hash = "ab".repeat(32);
        let blob = format!(".ollama/models/blobs/sha256-{hash}");
        model(&at(&blob), true, 150);
        let tags = at(".ollama/models/manifests/registry.ollama.ai/library/llama3.2");
        fs::create_dir_all(&tags).unwrap();
        let manifest = format!(
            "{{\"layers\":[{{\"mediaType\":\"application/vnd.ollama.image.license\",\"digest\":\"x\"}},\
             {{\"mediaType\":\"application/vnd.ollama.image.model\",\"digest\":\"sha256:{hash}\"}}]}}"
        );
        fs::write(tags.join("latest"), &manifest).unwrap();
        // A second name of the same file, and one whose file is not there.
        fs::write(tags.join("1b"), &manifest).unwrap();
        fs::write(tags.join("gone"), manifest.replace("abab", "abac")).unwrap();
        let env = |name: &str| match name {
            "HOME" => Some(home.path().display().to_string()),
            "HF_HOME" => Some(at("hf").display().to_string()),
            _ => None,
        };
        let found = Places::from_env(&env).look();
        let told: Vec<_> =
            found.iter().map(|one| (one.name.as_str(), one.by, one.bytes >> 20)).collect();
        assert_eq!(
            told,
            [
                ("small-q8_0", "the hub's cache", 90),
                ("mid-model", "llama.cpp", 120),
                ("llama3.2", "Ollama", 150),
                ("big", "LM Studio", 300),
            ]
        );
        assert!(Places::default().look().is_empty());
    }

    #[test]
    fn a_model_is_called_after_its_file() {
        for (file, name) in [
            ("Qwen3-0.6B-Q8_0.gguf", "qwen3-0.6b-q8_0"),
            ("Big Model-00001-of-00003.gguf", "big-model"),
            ("llama3.2", "llama3.2"),
        ] {
            assert_eq!(name_of(file), name);
        }
    }
}
