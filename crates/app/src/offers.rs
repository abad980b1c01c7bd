//! Models that are worth pulling, and where pulled ones are found.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use plenary_providers::{LocalModel, Pulled, model_name};

/// A model that can be pulled by its name.
#[derive(PartialEq, Eq, Debug)]
pub struct Offer {
    pub name: &'static str,
    /// Where it is on the hub.
    pub from: &'static str,
    /// About how much there is to load. What it needs in memory is about a gigabyte more.
    pub megabytes: u32,
    pub licence: &'static str,
    pub good_for: &'static str,
}

impl Offer {
    pub fn bytes(&self) -> u64 {
        u64::from(self.megabytes) * 1_000_000
    }
}

/// From small to large. Instruct models whose files their makers or the makers of llama.cpp
/// publish, where there are any. Sizes and licences are as copies of the repositories' pages
/// and other projects tell them; of the smaller Qwen3 their makers publish Q8_0 alone.
pub const OFFERS: [Offer; 9] = [
    Offer {
        name: "smollm2-360m",
        from: "HuggingFaceTB/SmolLM2-360M-Instruct-GGUF:Q8_0",
        megabytes: 386,
        licence: "Apache-2.0",
        good_for: "a first try on a small machine; short answers in English",
    },
    Offer {
        name: "qwen3-0.6b",
        from: "Qwen/Qwen3-0.6B-GGUF:Q8_0",
        megabytes: 639,
        licence: "Apache-2.0",
        good_for: "coherent answers in many languages on any machine",
    },
    Offer {
        name: "gemma3-1b",
        from: "ggml-org/gemma-3-1b-it-GGUF:Q4_K_M",
        megabytes: 806,
        licence: "Gemma",
        good_for: "good prose for its size, in many languages",
    },
    Offer {
        name: "llama3.2-1b",
        from: "bartowski/Llama-3.2-1B-Instruct-GGUF:Q4_K_M",
        megabytes: 808,
        licence: "Llama 3.2",
        good_for: "summaries and verdicts in English",
    },
    Offer {
        name: "smollm2-1.7b",
        from: "HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF:Q4_K_M",
        megabytes: 1_056,
        licence: "Apache-2.0",
        good_for: "solid answers in English, fully open",
    },
    Offer {
        name: "qwen3-1.7b",
        from: "Qwen/Qwen3-1.7B-GGUF:Q8_0",
        megabytes: 1_834,
        licence: "Apache-2.0",
        good_for: "boards and discussions worth reading; 8 GB of memory",
    },
    Offer {
        name: "llama3.2-3b",
        from: "bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M",
        megabytes: 2_019,
        licence: "Llama 3.2",
        good_for: "longer answers in English; 8 GB of memory",
    },
    Offer {
        name: "qwen3-4b",
        from: "Qwen/Qwen3-4B-GGUF:Q4_K_M",
        megabytes: 2_497,
        licence: "Apache-2.0",
        good_for: "the best of these for most questions; 8 GB of memory and some patience",
    },
    Offer {
        name: "phi4-mini",
        from: "unsloth/Phi-4-mini-instruct-GGUF:Q4_K_M",
        megabytes: 2_491,
        licence: "MIT",
        good_for: "reasoning and maths; 8 GB of memory",
    },
];

const SUFFIX: &str = ".gguf";

pub fn folder(home: &Path) -> PathBuf {
    home.join("models")
}

/// What was pulled before, by name.
pub fn pulled(home: &Path) -> Vec<LocalModel> {
    let entries = fs::read_dir(folder(home)).into_iter().flatten().flatten();
    let model = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.strip_suffix(SUFFIX)?.to_owned();
        // The parts of a split model are found beside its first one, under its own name.
        let path = fs::read_link(&path).ok()?;
        Some(LocalModel { name, path, note: None })
    };
    let mut all: Vec<LocalModel> = entries.filter_map(|entry| model(entry.path())).collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

/// Gives a pulled model a name under which it can be asked.
pub fn keep(home: &Path, name: &str, pulled: &Pulled) -> io::Result<()> {
    let Some(first) = pulled.files.first() else { return Ok(()) };
    fs::create_dir_all(folder(home))?;
    let place = folder(home).join(format!("{name}{SUFFIX}"));
    // Beside it first: whoever reads the folder meanwhile finds the old one or the new one.
    let new = folder(home).join(format!(".{name}.new"));
    let _ = fs::remove_file(&new);
    symlink(std::path::absolute(first)?, &new)?;
    fs::rename(new, place)
}

/// Takes the name away. The file stays in the hub's cache, which others use too.
pub fn forget(home: &Path, name: &str) -> io::Result<()> {
    fs::remove_file(folder(home).join(format!("{name}{SUFFIX}")))
}

/// What a model is called that has no name here, by its file.
pub fn name_of(file: &Path) -> String {
    model_name(file.file_name().and_then(|name| name.to_str()).unwrap_or("model"))
}

#[cfg(test)]
mod tests {
    use plenary_providers::Wanted;

    use super::*;

    #[test]
    fn every_offer_has_a_place_and_a_name_of_its_own() {
        for offer in &OFFERS {
            assert!(offer.from.parse::<Wanted>().is_ok(), "{}", offer.from);
            assert_eq!(name_of(Path::new(&format!("{}.gguf", offer.name))), offer.name);
            assert_eq!(OFFERS.iter().filter(|other| other.name == offer.name).count(), 1);
        }
    }

    #[test]
    fn what_was_pulled_is_found_by_its_name_until_it_is_forgotten() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("m-00001-of-00002.gguf");
        fs::write(&file, "GGUF").unwrap();
        let files = vec![file.clone()];
        let new = Pulled { files, commit: String::new(), bytes: 4, loaded: 4 };
        keep(home.path(), "mine", &new).unwrap();
        keep(home.path(), "mine", &new).unwrap();
        // One that lies there itself is the embedded one, and is found elsewhere.
        fs::write(home.path().join("models/other.gguf"), "GGUF").unwrap();
        let found: Vec<_> = pulled(home.path()).into_iter().map(|m| (m.name, m.path)).collect();
        assert_eq!(found, [("mine".to_owned(), file)]);
        forget(home.path(), "mine").unwrap();
        assert!(pulled(home.path()).is_empty());
        assert!(forget(home.path(), "mine").is_err());
    }
}
